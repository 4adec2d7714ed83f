"""Typed results in hooks: a subagent of a harness hands back `data` that fits the schema of its file or settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.hook_session import Refused, Stage, make_workspace

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = {"type": "object", "required": ["place"], "properties": {"place": {"format": "file-line"}}}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    made = Stage(make_workspace(tmp_path / "project"), quick=True)
    (made.root / "schemas").mkdir()
    (made.root / "schemas/notes.json").write_text(json.dumps(SCHEMA))
    (made.root / "remit.toml").write_text('[agents.writer]\nschema = "schemas/notes.json"\n')
    return made


def add_data(message: str, data: Any) -> str:  # noqa: ANN401 - JSON
    """A return with `data`, and without what Remit fills in."""
    payload = json.loads(message)
    payload["metadata"] = {"session_id": payload["metadata"]["session_id"]}
    return json.dumps(payload | {"data": data})


def test_data_that_breaks_the_schema_goes_back_and_the_caller_gets_the_next(stage: Stage) -> None:
    child = stage.call("writer")
    child.start()
    assert '"format":"file-line"' in child.told
    child.write("notes.md")
    blocked = child.stop(child.report("notes.md"))
    assert blocked["decision"] == "block"
    assert "RET110" in blocked["reason"]
    assert "RET111" in child.stop(add_data(child.report("notes.md"), {"place": "notes.md:99"}))["reason"]
    good = add_data(child.report("notes.md"), {"place": "notes.md:1"})
    assert child.stop(good) == {}
    result = child.hand_over(good)
    assert result["data"] == {"place": "notes.md:1"}
    assert result["remit"]["status"] == "completed"


@pytest.mark.parametrize("written", [None, '{"type": "nope"}'])
def test_an_agent_with_a_broken_schema_is_not_started(stage: Stage, written: str | None) -> None:
    file = stage.root / "schemas/notes.json"
    file.unlink() if written is None else file.write_text(written)
    with pytest.raises(Refused, match="its schema of data"):
        stage.call("writer")

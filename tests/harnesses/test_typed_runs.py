"""Typed results with real harnesses: data that breaks its schema goes back into the same session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from remit.testing import ScriptedModel, call
from tests.support.harness_workspace import HARNESSES, give, make_stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.harness_workspace import Stage

pytestmark = pytest.mark.slow

AGENT = """\
---
name: scribe
version: 1.0.0
description: "Does its part"
mode: subagent
agent_type: implementation
temperature: 0.2
data_schema: schemas/report.json
tools:
  read: true
  write: true
  bash: true
---

# scribe

Write the report.
"""
SCHEMA = {
    "type": "object",
    "required": ["report", "lines"],
    "properties": {"report": {"type": "string", "format": "remit-path"}, "lines": {"type": "integer", "minimum": 1}},
}
GOOD = {"report": "report.md", "lines": 1}
WORK = call("bash", command="echo complete > report.md")
SCRIPTS = {
    "honest": [WORK, give(data=GOOD)],
    "fixes": [WORK, give(data={"report": "reports.md", "lines": "one"}), give(data=GOOD)],
    "forgets": [WORK, give(), give(), give()],
}


@pytest.fixture(name="stage", params=HARNESSES)
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with ScriptedModel(SCRIPTS) as model:
        stage = make_stage(request.param, tmp_path, model, monkeypatch)
        stage.write_agent(".opencode/agent/scribe.md", AGENT)
        (stage.root / "schemas").mkdir()
        (stage.root / "schemas/report.json").write_text(json.dumps(SCHEMA))
        yield stage
        assert stage.list_living() == []


@pytest.mark.thorough("opencode")
def test_data_that_fits_comes_back(stage: Stage) -> None:
    result = stage.delegate("honest")
    assert (result.status, result.attempts, result.data) == ("completed", 1, GOOD), result.diagnostics


@pytest.mark.thorough("opencode")
def test_data_that_breaks_the_schema_is_corrected_in_the_same_session(stage: Stage) -> None:
    result = stage.delegate("fixes")
    assert (result.status, result.attempts, result.data) == ("completed", 2, GOOD), result.diagnostics
    said = "".join(str(each) for each in stage.model.requests)
    assert "RET111: data/lines breaks its schema" in said
    assert "RET111: data/report breaks its schema" in said


@pytest.mark.parametrize("stage", ["claude"], indirect=True)
def test_a_return_without_data_is_never_completed(stage: Stage) -> None:
    result = stage.delegate("forgets")
    assert (result.status, result.verdict, result.data) == ("failed", "invalid", None)

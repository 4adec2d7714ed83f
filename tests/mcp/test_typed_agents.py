"""The output schema of `delegate`: the schema of `data` of each agent, and answers that fit it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from remit.mcp import catalog
from remit.mcp.typed_agents import load_schemas
from remit.testing.agent import ScriptedAgent
from tests.support.mcp_peer import Peer, make_workspace

if TYPE_CHECKING:
    from pathlib import Path

AGENT = "---\nname: {name}\ndescription: Reviews a change.\n{more}\n---\nReview it.\n"
TREE = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["place"],
    "properties": {"place": {"$ref": "#/$defs/place"}, "inner": {"$ref": "#"}},
    "$defs": {"place": {"type": "string"}},
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "agents"
    good = ScriptedAgent(folder, "good").obeys({}).returns(changes={"data": {"place": "a", "inner": {"place": "b"}}})
    made = make_workspace(tmp_path / "root", monkeypatch, good=good.command)
    (made / "tree.json").write_text(json.dumps(TREE))
    (made / ".claude/agents").mkdir(parents=True)
    for name, more in {
        "reviewer": "data_schema: tree.json",
        "other": "",
        "broken": "data_schema: nowhere.json",
        "named": f"data_schema: {json.dumps({'$id': 'urn:x'})}",
    }.items():
        (made / f".claude/agents/{name}.md").write_text(AGENT.format(name=name, more=more))
    monkeypatch.chdir(made)
    return made


def get_output_schema() -> dict[str, Any]:
    (schema,) = [tool["outputSchema"] for tool in catalog.list_tools() if tool["name"] == "delegate"]
    Draft202012Validator.check_schema(schema)
    return dict(schema)


def is_valid(schema: dict[str, Any], agent: str, data: object) -> bool:
    return Draft202012Validator(schema).is_valid(
        {"session_id": "s", "finished": True, "agent": agent, "result": {"remit": make_verified(), "data": data}}
    )


def make_verified() -> dict[str, Any]:
    return {"status": "completed", "verdict": "accepted", "stop_reason": "exited", "session_id": "s", "grades": []}


def test_each_agent_with_a_schema_is_in_the_output_schema(root: Path) -> None:
    del root
    assert [*load_schemas()] == ["reviewer"]
    schema = get_output_schema()
    assert is_valid(schema, "reviewer", {"place": "a", "inner": {"place": "b"}})
    assert not is_valid(schema, "reviewer", {"place": "a", "inner": {"place": 1}})
    assert not is_valid(schema, "reviewer", 1)
    assert is_valid(schema, "other", 1)


def test_the_settings_name_a_schema_too(root: Path) -> None:
    (root / "remit.toml").write_text('[agents.other]\nschema = "tree.json"\n')
    assert [*load_schemas()] == ["other", "reviewer"]


def test_without_typed_agents_the_tools_are_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert catalog.list_tools() == [tool.describe() for tool in catalog.TOOLS]


@pytest.mark.slow
def test_delegate_returns_data_that_fits(root: Path) -> None:
    with Peer(root) as peer:
        told = peer.call("delegate", agent="reviewer", prompt="Review it.", runner="good")
        assert told["result"]["data"] == {"place": "a", "inner": {"place": "b"}}
        assert Draft202012Validator(get_output_schema()).is_valid(told)
        own = {"type": "object", "properties": {"place": {"type": "integer"}}}
        refused = peer.call("delegate", agent="reviewer", prompt="Review it.", runner="good", schema=own)
        assert "data" not in refused["result"]
        assert refused["result"]["remit"]["verdict"] == "invalid"
        assert Draft202012Validator(get_output_schema()).is_valid(refused)

"""Typed results: where the schema of `data` comes from, what an agent has to hand back, and what its caller gets."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import pytest
from pydantic import BaseModel, field_validator

from remit.errors import InputError, RefusedError, RemitError, UsageError
from remit.ledger.home import Home
from remit.ledger.runs import load_run
from remit.ledger.texts import load_text
from remit.runs.request import Request, read_request, render_request
from remit.runs.results.full_result import load_report
from remit.runs.resume_retry import make_retry
from remit.runs.workspace import Workspace
from remit.testing.agent import ScriptedAgent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.result import Result

SCHEMA = {
    "type": "object",
    "required": ["verdict", "places"],
    "properties": {
        "verdict": {"enum": ["approve", "changes"]},
        "places": {"type": "array", "items": {"type": "string", "format": "file-line"}},
    },
}
GOOD = {"verdict": "changes", "places": ["src/a.py:2"]}
AGENT = """---
name: reviewer
description: "Reviews a change."
version: 1.0.0
mode: subagent
agent_type: review
{more}
---
Review it.
"""


class Review(BaseModel):
    """What a reviewer hands back, as a Pydantic model."""

    verdict: str
    places: list[str] = []


@dataclass
class ReviewRecord:
    """The same as a dataclass."""

    verdict: str
    places: list[str]


class ReviewTable(TypedDict):
    """The same as a TypedDict."""

    verdict: str
    places: list[str]


class Strict(BaseModel):
    """A model that checks more than its schema says."""

    verdict: str

    @field_validator("verdict")
    @classmethod
    def refuse(cls, value: str) -> str:
        """Refuse every value."""
        raise ValueError(f"{value} isn't good enough")


@pytest.fixture
def project(root: Path) -> Path:
    (root / "src").mkdir()
    (root / "src/a.py").write_text("a = 1\nb = 2\n")
    (root / "schemas").mkdir()
    (root / "schemas/review.json").write_text(json.dumps(SCHEMA))
    return root


@pytest.fixture
def scripted(tmp_path_factory: pytest.TempPathFactory) -> ScriptedAgent:
    return ScriptedAgent(tmp_path_factory.mktemp("agents"))


def write_agent(root: Path, more: str) -> None:
    (root / ".claude/agents").mkdir(parents=True, exist_ok=True)
    (root / ".claude/agents/reviewer.md").write_text(AGENT.format(more=more))


def run(root: Path, request: Request) -> Result:
    async def wait() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.run(request._replace(finishes=False))

    return asyncio.run(wait())


def answer(data: object, **changes: Any) -> Callable[[str], str]:  # noqa: ANN401 - JSON
    """A function that returns `data`, and writes no more metadata than it has to."""

    def work(prompt: str) -> str:
        session = prompt.partition("Session ")[2].partition(",")[0]
        payload = {
            "status": "completed", "summary": "Reviewed the change. One place has to change.", "artifacts": [],
            "data": data, "metadata": {"session_id": session}, "errors": [], **changes,
        }  # fmt: skip
        return f"```json\n{json.dumps(payload)}\n```"

    return work


def ask(data: object, **fields: Any) -> Request:  # noqa: ANN401 - of a request
    fields = {"schema": SCHEMA, "kind": "utility"} | fields
    return Request(fields.pop("agent", None), "Review it.", function=answer(data), **fields)


# --- where the schema comes from ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["request", "file", "inline", "settings"])
def test_data_that_fits_is_in_the_result_and_typed(project: Path, place: str) -> None:
    more = {"file": "data_schema: schemas/review.json", "inline": f"data_schema: {json.dumps(SCHEMA)}"}.get(place, "")
    write_agent(project, more)
    if place == "settings":
        (project / "remit.toml").write_text('[agents.reviewer]\nschema = "schemas/review.json"\n')
    schema = SCHEMA if place == "request" else None
    result = run(project, ask(GOOD, agent="reviewer", schema=schema))
    assert (result.status, result.data) == ("completed", GOOD), result.errors
    assert result.to_dict()["data"] == GOOD
    bad = run(project, ask({"verdict": "fine", "places": ["src/a.py:99"]}, agent="reviewer", schema=schema))
    assert (bad.status, bad.verdict, bad.data) == ("failed", "invalid", None)
    assert [each.code for each in bad.diagnostics if each.severity == "error"] == ["RET111", "RET111"]
    assert "data" not in bad.to_dict()


def test_the_schema_is_fixed_at_admission_and_shown_to_the_agent(project: Path) -> None:
    write_agent(project, "data_schema: schemas/review.json")
    result = run(project, ask(GOOD, agent="reviewer", schema=None))
    home = Home(str(project))
    try:
        row = load_run(home.ledger, result.session_id)
        assert row is not None
        assert row.details["data_schema"] == "schemas/review.json"
        assert json.loads(load_text(home, result.session_id, "schema") or b"") == SCHEMA
        prompt = (load_text(home, result.session_id, "prompt") or b"").decode()
        assert load_report(home, result.session_id)[0].data == GOOD
    finally:
        home.close()
    contract = prompt.partition("# What to send back")[2]
    assert '"data": "<a value' in contract
    assert '"format":"file-line"' in contract
    assert '"metadata": {"session_id"' in contract
    assert "delegation_path" not in contract


@pytest.mark.parametrize(
    ("written", "what"),
    [
        (None, "doesn't exist"),
        ('{"type": "nope"}', "isn't a JSON Schema"),
        ("{", "isn't valid JSON"),
        ('{"$ref": "https://example.com/x.json"}', "isn't a JSON Schema"),
        ("[1]", "isn't a JSON object"),
    ],
)
def test_a_schema_that_is_missing_or_invalid_is_refused_at_admission(
    project: Path, written: str | None, what: str
) -> None:
    write_agent(project, "data_schema: schemas/other.json")
    if written is not None:
        (project / "schemas/other.json").write_text(written)
    with pytest.raises(RefusedError, match=what) as caught:
        run(project, ask(GOOD, agent="reviewer", schema=None))
    assert "its schema of data" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("path", ["../outside.json", "/etc/hosts", "schemas/link.json", ".git/config"])
def test_a_schema_outside_of_the_workspace_is_refused(project: Path, path: str) -> None:
    (project.parent / "outside.json").write_text("{}")
    (project / "schemas/link.json").symlink_to(project.parent / "outside.json")
    write_agent(project, f"data_schema: {path}")
    with pytest.raises(RefusedError, match="isn't below the workspace's root"):
        run(project, ask(GOOD, agent="reviewer", schema=None))


@pytest.mark.parametrize("fields", [{"return_format": "manifest"}, {"format": "manifest"}])
def test_a_manifest_entry_has_no_data(project: Path, fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="a manifest entry has no data"):
        run(project, ask(GOOD, **fields))


def test_a_built_in_agent_has_no_data(project: Path) -> None:
    with pytest.raises(UsageError, match="built into Remit"):
        run(project, Request("status-sync-manager", "", schema=SCHEMA))


# --- a program as the agent -------------------------------------------------------------------------------------------


def write_retry(root: Path) -> None:
    (root / "remit.toml").write_text('[agents.agent]\nretry = "safe"\n')


def test_a_program_hands_back_data(project: Path, scripted: ScriptedAgent) -> None:
    agent = scripted.writes("report.md", "# Report").returns("report.md", changes={"data": GOOD})
    result = run(project, Request("agent", "Review it.", command=agent.command, schema=SCHEMA))
    assert (result.status, result.verdict, result.data) == ("completed", "accepted", GOOD)


def test_a_program_that_hands_back_no_data_is_refused(project: Path, scripted: ScriptedAgent) -> None:
    agent = scripted.obeys()
    result = run(project, Request("agent", "Review it.", command=agent.command, schema=SCHEMA))
    assert (result.status, result.verdict) == ("failed", "invalid")
    assert "RET110" in [each.code for each in result.diagnostics]


def test_wrong_data_is_sent_back_and_the_second_return_counts(project: Path, scripted: ScriptedAgent) -> None:
    write_retry(project)
    agent = scripted.writes("report.md", "# Report").returns("report.md", changes={"data": {"verdict": "fine"}})
    agent = agent.then().returns("report.md", changes={"data": GOOD})
    result = run(project, Request("agent", "Review it.", command=agent.command, schema=SCHEMA))
    assert (result.status, result.attempts, result.data) == ("completed", 2, GOOD), result.diagnostics


def test_a_return_of_hyper_has_data(project: Path, scripted: ScriptedAgent) -> None:
    agent = scripted.speaks("hyper").writes("report.md", "# Report")
    agent = agent.returns("report.md", changes={"data": GOOD, "meta.agent_name": None, "meta.execution_time_ms": None})
    request = Request("agent", "Review it.", command=agent.command, schema=SCHEMA, return_format="hyper")
    result = run(project, request)
    assert (result.status, result.data) == ("completed", GOOD), result.diagnostics
    shown = result.to_dict()
    assert shown["data"] == GOOD
    assert shown["meta"]["agent_name"] == "agent"
    assert shown["meta"]["execution_time_ms"] >= 0
    (project / "report.md").unlink()
    turned = run(project, request._replace(format="standard"))
    assert turned.to_dict()["data"] == GOOD


# --- Python types -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "value"),
    [
        (Review, Review(verdict="approve", places=["x"])),
        (ReviewRecord, ReviewRecord("approve", ["x"])),
        (ReviewTable, {"verdict": "approve", "places": ["x"]}),
        (list[ReviewRecord], [ReviewRecord("approve", ["x"])]),
    ],
)
def test_data_is_an_instance_of_the_type(project: Path, model: Any, value: object) -> None:  # noqa: ANN401 - a type
    data: Any = {"verdict": "approve", "places": ["x"]}
    data = [data] if isinstance(value, list) else data
    result = run(project, ask(data, schema=None, returns=model))
    assert result.status == "completed", result.diagnostics
    assert result.data == value
    assert type(result.data) is type(value)
    assert result.to_dict()["data"] == data
    wrong = run(project, ask({"verdict": 3}, schema=None, returns=model))
    assert (wrong.status, wrong.data) == ("failed", None)


def test_a_type_without_a_schema_is_refused(project: Path) -> None:
    with pytest.raises(UsageError, match="has no JSON Schema"):
        run(project, ask(GOOD, schema=None, returns=ScriptedAgent))


def test_data_that_the_type_itself_refuses_is_an_error_and_not_lost(project: Path) -> None:
    with pytest.raises(InputError, match="isn't good enough") as caught:
        run(project, ask({"verdict": "x"}, schema=None, returns=Strict))
    kept = caught.value.data["result"]
    assert getattr(kept, "data", None) == {"verdict": "x"}

    async def both() -> list[Result]:
        async with Workspace.open(project) as ws:
            requests = [ask({"verdict": "x"}, schema=None, returns=each, finishes=False) for each in (Strict, Review)]
            return await ws.delegate_all(requests)

    refused, good = asyncio.run(both())
    assert (refused.status, good.status) == ("failed", "completed")
    assert isinstance(good.data, Review)


def test_a_retry_has_the_schema_of_a_type(project: Path, scripted: ScriptedAgent) -> None:
    agent = scripted.obeys()
    asked = Request("agent", "Review it.", command=agent.command, returns=Review)
    first = run(project, asked)
    assert first.status == "failed"
    again, _ = read_request(render_request(asked))
    assert again.schema == Review.model_json_schema()

    async def retry() -> Request:
        async with Workspace.open(project) as ws:
            return make_retry(ws, first.session_id, {})

    assert asyncio.run(retry()).schema == Review.model_json_schema()


# --- hand in by ticket, and the token budget --------------------------------------------------------------------------


def test_a_return_that_is_handed_in_needs_no_metadata(project: Path, scripted: ScriptedAgent) -> None:
    payload = {"status": "completed", "summary": "Reviewed it. It is fine.", "artifacts": [], "data": GOOD}
    (project / "return.json").write_text(json.dumps(payload))
    script = 'cp return.json "$REMIT_RETURN_FILE"; echo Done.'
    result = run(project, Request(None, "Review it.", command=f"sh -c '{script}'", schema=SCHEMA, kind="utility"))
    assert (result.status, result.data) == ("completed", GOOD), result.diagnostics
    assert result.to_dict()["metadata"]["session_id"] == result.session_id
    del scripted


def test_a_users_program_gets_all_data(project: Path) -> None:
    large = {"verdict": "changes", "places": ["src/a.py:1"] * 2_000}
    result = run(project, ask(large))
    assert result.data == large
    assert result.to_dict()["data"] == large
    assert result.left_out == ()


def test_an_agent_gets_data_only_if_it_fits(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = {"verdict": "changes", "places": ["src/a.py:1"] * 2_000}

    async def wait(data: object) -> Result:
        async with Workspace.open(project) as ws:
            ws.keeps_data = False
            return await ws.run(ask(data, finishes=False))

    small = asyncio.run(wait(GOOD))
    assert small.to_dict()["data"] == GOOD
    assert small.left_out == ()
    result = asyncio.run(wait(large))
    shown = result.to_dict()
    assert "data" not in shown
    assert shown["remit"]["left_out"] == [f"data; all of it: remit show {result.session_id} --full"]
    assert shown["remit"]["tokens"] <= 400
    assert result.data == large
    del monkeypatch


def test_secrets_in_data_are_redacted_and_that_is_said(project: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    result = run(project, ask({"token": secret}, schema={"type": "object"}))
    assert secret not in json.dumps(result.to_dict())
    assert result.to_dict()["remit"]["left_out"] == ["secrets in data"]


@pytest.mark.parametrize("schema", [{"$ref": "https://example.com/x"}, {"type": 3}, {"x": object()}])
def test_a_hostile_schema_of_a_request_is_refused(project: Path, schema: dict[str, Any]) -> None:
    with pytest.raises(RemitError):
        run(project, ask(GOOD, schema=schema))

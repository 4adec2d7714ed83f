"""What the caller's model receives from Claude Code's subagents: the real program, a liar and an honest agent.

Every way in which an answer reaches a caller is a row. Of a liar, each request of a caller's model that contains any of
the lie contains Remit's verdict, too. An honest agent is accepted at once, and its tokens are counted once.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from remit.testing import SESSION_ID, call
from tests.support.caller_effects_claude import ROWS, WAIT, Row
from tests.support.harness_hooks import ask, converse, get_report, list_runs, set_up, write_native
from tests.support.harness_workspace import give, make_return

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.ledger.runs import Run
    from remit.testing import ScriptedTurn
    from tests.support.harness_workspace import Stage

pytestmark = pytest.mark.slow

LIE = "The manuscript is finished, and two readers have confirmed every figure in it."
LEFT = {"type": "timeout", "message": "The scribe is still at work", "recoverable": True, "recommendation": "Wait"}
AGENT = r"You are ([\w-]+), session"
LOOK = call("bash", command="true")
NOTES = call("write", path="notes.md", content="# Notes\n")
MORE = call("write", path="more.md", content="# More\n")
READY = call("bash", command="touch ready")


def make_child(row: Row, *, is_liar: bool) -> list[ScriptedTurn]:
    """The turns of the agent; a liar says the same until nobody asks any more."""
    if row.runs == 2:
        return [
            NOTES,
            hand(row, "notes.md"),
            *([LOOK, hand(row, "never.md", LIE)] if is_liar else [MORE, hand(row, "more.md")]),
        ]
    if is_liar:
        lie = hand(row, "never.md", LIE)
        return [LOOK, lie, lie, READY, lie]
    return [NOTES, READY, hand(row, "notes.md")]


def hand(row: Row, path: str, summary: str = "The notes are written and say what was asked for.") -> ScriptedTurn:
    """A turn that returns in the way of the row."""
    artifacts = [{"type": "report", "path": path, "summary": "What was asked for"}]
    returned = make_return(artifacts=artifacts, summary=summary)
    if row.by == "message":
        return give(artifacts=artifacts, summary=summary).grab(agent=AGENT)
    given = returned if row.by == "StructuredOutput" else {"message": json.dumps(returned)}
    return call(row.by, **given).grab(id=SESSION_ID, agent=AGENT)


@pytest.fixture(name="played", params=ROWS)
def play(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Row, Stage]]:
    """A session that has played a row to its end."""
    row, is_liar = ROWS[request.param], "liar" in request.node.name
    own = give(path="").grab(agent=AGENT)
    scripts = {
        "main": row.main,
        "child": make_child(row, is_liar=is_liar),
        "mother": [ask("child", run_in_background=True), call("bash", command=WAIT), own],
        "brief": [ask("child", run_in_background=True), give("partial", "", errors=[LEFT]).grab(agent=AGENT)],
    }
    with set_up("claude", scripts, tmp_path, monkeypatch) as stage:
        write_native(stage, "scribe", row.file)
        write_native(stage, "mother")
        session = converse(stage, "main", *row.args, environ=stage.environ | dict(row.environ))
        assert session.exit_code == 0, session.errors
        yield row, stage


def list_scribe_runs(stage: Stage) -> list[Run]:
    return [run for run in list_runs(stage) if run.agent == "scribe"]


def list_requests(stage: Stage, row: Row) -> list[str]:
    """What the models of the callers were given, each time that they were asked."""
    return [json.dumps(one.body) for one in stage.model.requests if one.script in row.callers and one.tools]


@pytest.mark.thorough("background by the call", "in the middle", "its caller is over", "workflow", "hand-back")
def test_no_caller_of_a_liar_gets_its_lie_without_the_verdict(played: tuple[Row, Stage]) -> None:
    row, stage = played
    *_, run = list_scribe_runs(stage)
    assert (run.status, run.verdict, get_report(stage, run).attempts) == ("failed", "fabricated", 3)
    verdict = f"the return of scribe ({run.session_id}) was not accepted: failed, fabricated"
    requests = list_requests(stage, row)
    assert any(verdict in request for request in requests)
    assert [request for request in requests if LIE in request and verdict not in request] == []
    assert any(LIE in request for request in requests) is not row.is_replaced


@pytest.mark.thorough(
    "by the call", "in the middle", "nested", "hand-back", "SendMessage", "schema", "background in the file"
)
def test_an_honest_agent_is_accepted_at_once_and_counted_once(played: tuple[Row, Stage]) -> None:
    row, stage = played
    runs = list_scribe_runs(stage)
    assert [(run.status, run.verdict) for run in runs] == [("completed", "accepted")] * row.runs
    requests = list_requests(stage, row)
    largest = max(len(json.dumps(one.body)) for one in stage.model.requests if one.script == "child") // 4
    for run in runs:
        report = get_report(stage, run)
        assert (report.attempts, [each.grade for each in report.artifacts]) == (1, ["attributed"])
        assert not any(f"({run.session_id}) was not accepted" in request for request in requests)
        assert (run.tokens is not None) is row.is_reported
        assert (run.tokens or 0) <= 1.5 * largest  # the harness counts the last request of an agent
    told = f"Remit checked the return of scribe ({runs[-1].session_id}): completed, accepted."
    assert any(told in request for request in requests) is row.is_reported

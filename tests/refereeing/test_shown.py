"""What the command line says of agents that a harness has started: shown, waited for, cancelled, read, asked again."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from remit.workspace.ledger.refereed import GRACE_MS
from tests.doors.conftest import STEERING, Ended, Inside
from tests.refereeing.stage import Child, Stage

HARNESSES = ("claude", "codex", "opencode")


@pytest.fixture
def stage(root: Path) -> Stage:
    return Stage(root, quick=True)


@pytest.fixture
def child(stage: Stage) -> Child:
    child = stage.call("planner")
    child.start()
    return child


@pytest.fixture
def remit(root: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Inside:
    monkeypatch.chdir(root)
    for name in (*STEERING, "REMIT_TICKET", "REMIT_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    return Inside(root, capsysbinary)


def load(ended: Ended) -> Any:  # noqa: ANN401 - any JSON value
    assert ended.err == b"", ended.err
    return json.loads(ended.out)


def make_late(stage: Stage) -> None:
    """Let all of them be lost: longer past their deadline than any harness takes to tell."""
    past_ms = int(time.time() * 1000) - GRACE_MS - 1000
    stage.change("UPDATE delegations SET deadline_ms = ?", past_ms)


# --- shown -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("harness", HARNESSES)
def test_who_works_in_a_harness_is_shown_as_at_work_there(root: Path, remit: Inside, harness: str) -> None:
    stage = Stage(root, harness, quick=True)
    stage.call("planner")
    (row,) = load(remit("ps", "--json"))
    assert (row["standing"], row["driven"], row["harness"], row["driver_pid"]) == ("running", True, harness, None)
    shown = remit("ps").text
    assert shown.splitlines()[1].endswith(f"  {harness}")
    for text in (shown, remit("tree").text, remit("status").text, remit("show").text, remit("doctor").text):
        assert "abandoned" not in text
        assert "nobody" not in text
        assert "remit wait" not in text


def test_it_was_heard_of_when_it_last_used_a_tool(child: Child, remit: Inside) -> None:
    assert load(remit("ps", "--json"))[0]["heard_ms"] is None
    child.write("plan.md")
    (row,) = load(remit("ps", "--json"))
    assert time.time() * 1000 - row["heard_ms"] < 60_000
    assert row["said"] == "Write plan.md"
    assert "Write plan.md" in remit("tree").text


def test_one_of_which_nothing_is_heard_long_after_its_deadline_is_lost(child: Child, remit: Inside) -> None:
    make_late(child.stage)
    (row,) = load(remit("ps", "--json"))
    assert (row["standing"], row["driven"], row["harness"]) == ("abandoned", False, None)
    assert f"remit wait {child.session_id} settles it" in remit("ps").text
    assert "claude has told nothing of the end of planner" in remit("doctor").text
    assert remit("wait", child.session_id).code == 1
    assert (child.row.state, child.row.ending) == ("settled", "orphaned")


def test_one_that_is_late_is_ended_where_it_runs(child: Child, remit: Inside) -> None:
    child.stage.change("UPDATE delegations SET deadline_ms = ?", int(time.time() * 1000) - 60_000)
    told = remit("doctor").text
    assert "is past its time by" in told
    assert "end it in claude, where it runs" in told

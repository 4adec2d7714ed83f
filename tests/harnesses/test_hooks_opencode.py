"""opencode starts its own subagents, with Remit's plugin in it: the real program, and a scripted model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from remit.testing import call, fail, say
from tests.support.harness_hooks import (
    ask,
    converse,
    find_results,
    get_report,
    hand,
    list_results,
    list_runs,
    register,
    set_up,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.ledger.runs import Run
    from tests.support.harness_workspace import Stage

pytestmark = pytest.mark.slow

REPORT = call("write", path="${root}/report.md", content="# Report\n")
KILLED = ("sh", "-c", "cat > /dev/null; kill -9 $$")


SCRIPTS = {
    "main": [ask("work"), ask("lie"), ask("reach"), say("All is done.")],
    "work": [REPORT, say("It is all done."), hand()],
    "lie": [call("bash", command="true"), hand("never.md")],
    "reach": [
        call("bash", command="touch reached"),
        call("bash", command="x=touch; $x reached"),
        call("write", path="${root}/private/key", content="x"),
        call("write", path="${root}/remit.toml", content="x"),
        call("bash", command="echo fine > allowed"),
        hand("allowed"),
    ],
    "both": [
        ask("left").also("task", agent="scribe", prompt="[[play right root=${root}]] Write the other."),
        say("All is done."),
    ],
    "left": [
        call("bash", command="sleep 1"),
        call("write", path="${root}/left.md", content="# Left\n"),
        hand("left.md"),
    ],
    "right": [call("write", path="${root}/right.md", content="# Right\n"), hand("right.md")],
    "own": [call("bash", command="touch mine"), say("No return is owed.")],
    "usual": [ask("chat", "general"), say("All is done.")],
    "chat": [say("Just an answer.")],
    "again": [
        ask("more"),
        call("task", agent="scribe", prompt="Write the other, too.", task_id="${child}").grab(
            child=r'<task id="(\w+)"'
        ),
        say("All is done."),
    ],
    "more": [
        call("write", path="${root}/left.md", content="# Left\n"),
        hand("left.md"),
        call("write", path="${root}/right.md", content="# Right\n"),
        hand("right.md"),
    ],
    "broken": [ask("dies"), say("All is done.")],
    "dies": [REPORT, fail(400, "no such thing", kind="invalid_request_error")],
}


@pytest.fixture(name="stage")
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with set_up("opencode", SCRIPTS, tmp_path, monkeypatch) as stage:
        yield stage


@pytest.mark.thorough
def test_each_of_a_session_is_held_to_its_own(stage: Stage) -> None:
    """One session with three subagents, since each session takes its time."""
    settings = (stage.root / "remit.toml").read_text()
    assert converse(stage, "main").exit_code == 0
    work, lie, reach = list_runs(stage)
    check_corrected(stage, work)
    check_rejected(stage, lie)
    assert (stage.root / "remit.toml").read_text() == settings
    check_denied(stage, reach)


def check_corrected(stage: Stage, row: Run) -> None:
    """The contract goes in, a bad return goes back and is corrected, and the result comes out."""
    assert (row.agent, row.depth, row.path, row.runner) == ("scribe", 1, ("orchestrator", "scribe"), "opencode")
    (first,) = stage.asked("work", 0)
    assert row.session_id in first
    assert "What to send back" in first
    (third,) = stage.asked("work", 2)
    assert "Send only the whole return now" in third
    assert "It is all done." in third  # it is the same session that goes on
    assert (row.state, row.status, row.verdict) == ("finished", "completed", "accepted")
    (result,) = find_results(stage, "main", 1)
    assert (result["status"], result["remit"]["session_id"], result["remit"]["attempts"]) == (
        "completed",
        row.session_id,
        2,
    )
    (told,) = stage.asked("main", 1)
    assert "What to send back" not in told
    assert "The report is written" not in list_results(stage, "main", 1)[0].replace(result["summary"], "")
    assert [(each.path, each.grade) for each in get_report(stage, row).artifacts] == [("report.md", "attributed")]


def check_rejected(stage: Stage, row: Run) -> None:
    """A liar is sent back twice, and then rejected."""
    assert (row.status, row.verdict) == ("failed", "fabricated")
    assert [len(stage.asked("lie", step)) for step in (1, 2, 3, 4)] == [1, 1, 1, 0]
    (result,) = find_results(stage, "main", 2)
    assert result["status"] == "failed"
    assert [error["code"] for error in result["errors"]] == ["FABRICATED", "FILE_NOT_FOUND"]


def check_denied(stage: Stage, row: Run) -> None:
    """What is denied does not run."""
    assert not (stage.root / "reached").exists()
    assert not (stage.root / "private").exists()
    assert (stage.root / "allowed").read_text() == "fine\n"  # the fault is not that nothing runs
    assert ["Remit" in list_results(stage, "reach", step)[0] for step in range(1, 6)] == [True] * 4 + [False]
    assert row.status == "completed"


@pytest.mark.thorough
def test_two_of_one_kind_at_once_are_told_apart(stage: Stage) -> None:
    converse(stage, "both")
    rows = list_runs(stage)
    assert [row.status for row in rows] == ["completed", "completed"]
    for row in rows:
        (artifact,) = get_report(stage, row).artifacts
        (first,) = stage.asked(artifact.path.removesuffix(".md"), 0)
        assert row.session_id in first


@pytest.mark.thorough
def test_one_that_goes_on_later_is_another_delegation(stage: Stage) -> None:
    converse(stage, "again")
    rows = list_runs(stage)
    assert [row.status for row in rows] == ["completed", "completed"]
    assert [get_report(stage, row).artifacts[0].path for row in rows] == ["left.md", "right.md"]
    (result,) = find_results(stage, "again", 2)
    assert result["remit"]["session_id"] == rows[1].session_id
    (third,) = stage.asked("more", 2)
    assert "# Left" in third  # it is the same session that goes on


@pytest.mark.thorough
def test_a_persons_own_session_is_in_nobodys_way(stage: Stage) -> None:
    session = converse(stage, "own")
    assert (stage.root / "mine").exists()
    assert "No return is owed." in session.output
    assert stage.asked("own", 2) == []
    assert list_runs(stage) == []


@pytest.mark.thorough
def test_the_harnesss_own_agents_are_only_looked_on(stage: Stage) -> None:
    converse(stage, "usual")
    assert "Just an answer." in list_results(stage, "usual", 1)[0]
    (first,) = stage.asked("chat", 0)
    assert "What to send back" not in first


@pytest.mark.thorough
def test_one_whose_model_fails_is_not_left_open(stage: Stage) -> None:
    converse(stage, "broken")
    (row,) = list_runs(stage)
    assert row.state == "finished"
    assert row.status != "completed"
    assert "no such thing" in json.dumps(list_results(stage, "broken", 1))


@pytest.mark.thorough
@pytest.mark.parametrize("words", [KILLED, ("sh", "-c", "cat > /dev/null; echo nonsense"), ("/nowhere/remit",)])
def test_a_hook_that_fails_refuses_a_subagent_and_lets_a_person_work(stage: Stage, words: tuple[str, ...]) -> None:
    register(stage, words)
    converse(stage, "main")
    assert stage.asked("work", 0) == []
    assert "Remit could not decide" in list_results(stage, "main", 1)[0]
    converse(stage, "own")
    assert (stage.root / "mine").exists()

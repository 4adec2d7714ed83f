"""Claude Code starts its own subagents, with Remit in its hooks: the real program, and a scripted model."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from remit.confine import find_level
from tests.support.claude_scripts import PLAN, SCRIPTS
from tests.support.harness_hooks import (
    STANDARD,
    compile_agents,
    converse,
    find_results,
    get_report,
    list_results,
    list_runs,
    register,
    run_remit,
    set_up,
    write_native,
)
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.ledger.runs import Run
    from tests.support.harness_workspace import Stage

pytestmark = pytest.mark.slow


@pytest.fixture(name="stage")
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with set_up("claude", SCRIPTS, tmp_path, monkeypatch) as stage:
        yield stage


@pytest.mark.thorough
def test_each_of_a_session_is_held_to_its_own(stage: Stage) -> None:
    """One session, since each takes its time: the person's own call, and four subagents."""
    compile_agents(stage, keeper="nobody")
    settings = (stage.root / "remit.toml").read_text()
    session = converse(stage, "main", "--permission-mode=bypassPermissions")
    assert session.exit_code == 0
    work, lie, reach, chat = list_runs(stage)
    check_corrected(stage, work)
    check_rejected(stage, lie)
    assert (stage.root / "remit.toml").read_text() == settings
    check_denied(stage, reach)
    check_looked_on(stage, chat)
    assert (stage.root / "mine").exists()  # what the agents are denied, a person is not
    assert stage.asked("main", 6) == []
    assert '"result":"No return is owed."' in session.output


def check_corrected(stage: Stage, row: Run) -> None:
    """A bad return is blocked, and corrected."""
    assert (row.agent, row.depth, row.path) == ("scribe", 1, ("orchestrator", "scribe"))
    assert (row.state, row.status, row.verdict, row.runner) == ("finished", "completed", "accepted", "claude")
    (first,) = stage.asked("work", 0)
    assert row.session_id in first
    assert "These are the instructions of scribe." in first
    (third,) = stage.asked("work", 2)
    assert "Stop hook feedback" in third
    (result,) = find_results(stage, "main", 2)
    assert (result["status"], result["remit"]["session_id"], result["remit"]["attempts"]) == (
        "completed",
        row.session_id,
        2,
    )
    (told,) = stage.asked("main", 2)
    assert "What to send back" not in told  # the contract is in the subagent's context alone
    assert [(each.path, each.grade) for each in get_report(stage, row).artifacts] == [("notes.md", "attributed")]


def check_rejected(stage: Stage, row: Run) -> None:
    """A liar is sent back twice, and then rejected."""
    assert (row.status, row.verdict) == ("failed", "fabricated")
    assert [len(stage.asked("lie", step)) for step in (1, 2, 3, 4)] == [1, 1, 1, 0]
    (result,) = find_results(stage, "main", 3)
    assert result["status"] == "failed"
    assert [error["code"] for error in result["errors"]] == ["FABRICATED", "FILE_NOT_FOUND"]
    assert "completed" not in json.dumps(list_results(stage, "main", 3))


def check_denied(stage: Stage, row: Run) -> None:
    """What is denied does not run, though the harness permits everything."""
    assert not (stage.root / "reached").exists()
    assert not (stage.root / "private").exists()
    assert not (stage.root / ".claude" / "agents" / "other.md").exists()
    assert (stage.root / "allowed").read_text() == "fine\n"  # the fault is not that nothing runs
    for step in range(1, 7):
        (result,) = list_results(stage, "reach", step)
        # a plain write to protected settings runs, and the kernel refuses it
        refuser = "read-only file system" if step == 6 and find_level().has_files else "Remit"
        assert refuser in result, step
    assert (row.agent, row.status) == ("keeper", "completed")


@pytest.mark.thorough
def test_without_a_user_the_model_reads_what_to_do_instead(stage: Stage) -> None:
    compile_agents(stage, keeper="nobody")
    converse(stage, "unsure")
    (told,) = list_results(stage, "doubt", 1)
    assert told.endswith("Allow it?")
    (asked,) = stage.asked("doubt", 1)
    assert "If this call is refused: " in asked


def check_looked_on(stage: Stage, row: Run) -> None:
    """The harness's own agents are held to nothing."""
    lines = [line.strip() for line in "\n".join(list_results(stage, "main", 5)).splitlines()]
    assert "Just an answer." in lines
    assert not any("session_id" in line or "Remit" in line for line in lines)
    (first,) = stage.asked("chat", 0)
    assert "What to send back" not in first
    assert (row.agent, row.verdict) == ("general-purpose", None)


def test_a_fourth_level_an_ancestor_and_a_stranger_are_refused(stage: Stage) -> None:
    compile_agents(stage, first="second", second="third", third="fourth, first", fourth="fifth", stranger="fifth")
    converse(stage, "deep", environ=stage.environ | {"CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH": "9"})
    rows = [(row.agent, row.depth) for row in list_runs(stage)]
    assert rows == [("first", 1), ("second", 2), ("third", 3)]
    assert [stage.asked(script, 0) for script in ("four", "five", "six")] == [[], [], []]
    told = [list_results(stage, "three", step)[0] for step in (1, 2, 3)]
    assert "depth" in told[0]
    assert "first" in told[1]
    assert "stranger" in told[2]


@pytest.mark.thorough
def test_two_of_one_kind_at_once_are_told_apart(stage: Stage) -> None:
    converse(stage, "both")
    rows = list_runs(stage)
    assert [row.status for row in rows] == ["completed", "completed"]
    for row in rows:
        (artifact,) = get_report(stage, row).artifacts
        (first,) = stage.asked(artifact.path.removesuffix(".md"), 0)
        assert row.session_id in first
    assert {result["remit"]["session_id"] for result in find_results(stage, "both", 1)} == {
        row.session_id for row in rows
    }


@pytest.mark.thorough
def test_one_that_goes_on_later_is_another_delegation(stage: Stage) -> None:
    converse(stage, "again")
    rows = list_runs(stage)
    assert [row.status for row in rows] == ["completed", "completed"]
    assert [get_report(stage, row).artifacts[0].path for row in rows] == ["left.md", "right.md"]
    (third,) = stage.asked("more", 2)
    assert rows[1].session_id in third


@pytest.mark.thorough
def test_a_session_that_is_an_agents_as_a_whole_is_held_to_its_return(stage: Stage) -> None:
    session = converse(stage, "work", "--agent=scribe")
    (row,) = list_runs(stage)
    assert (row.agent, row.status, row.verdict) == ("scribe", "completed", "accepted")
    (third,) = stage.asked("work", 2)
    assert "Stop hook feedback" in third
    assert row.session_id in session.output


@pytest.mark.thorough
def test_all_are_held_where_the_workspace_wants_it_and_a_call_that_starts_nobody_leaves_nothing_open(
    stage: Stage,
) -> None:
    stage.configure('[hooks]\nenforce = "all"\n')
    converse(stage, "all")
    (result,) = find_results(stage, "all", 1)
    assert result["status"] == "failed"
    row = list_runs(stage)[0]
    assert (row.agent, row.status, row.verdict) == ("general-purpose", "failed", "missing")
    assert len(stage.asked("all", 2)) == 1
    assert stage.asked("work", 0) == []
    assert [row.state for row in list_runs(stage) if row.state != "finished"] == []


@pytest.mark.thorough
def test_an_end_without_a_stop_is_judged_when_the_answer_comes(stage: Stage) -> None:
    """One whose model fails, and one that is out of turns."""
    write_native(stage, "short", "maxTurns: 2\n")
    converse(stage, "cut")
    rows = list_runs(stage)
    assert [(row.agent, row.state, row.status) for row in rows] == [
        ("scribe", "finished", "failed"),
        ("short", "finished", "failed"),
    ]
    for step, left in ((1, "notes.md"), (2, "more.md")):
        (result,) = find_results(stage, "cut", step)
        assert result["status"] == "failed"
        assert left in json.dumps(result)  # what it left is told


@pytest.mark.thorough
def test_one_in_the_background_is_judged_when_it_stops(stage: Stage) -> None:
    converse(stage, "behind")
    (row,) = list_runs(stage)
    assert (row.status, row.verdict) == ("completed", "accepted")


@pytest.mark.thorough
def test_what_follows_from_a_return_is_done_as_after_remit_run(stage: Stage) -> None:
    run_remit(stage, "task", "new", "A button")
    compile_agents(stage, STANDARD.replace("implementation", "planning"), planner="nobody")
    converse(stage, "task")
    (row,) = list_runs(stage)
    assert (row.status, row.task_number) == ("completed", 1)
    state = json.loads((stage.root / "specs" / "state.json").read_text())
    assert state["active_projects"][0]["status"] == "planned"
    (result,) = find_results(stage, "task", 1)
    assert result["status"] == "completed"
    log = subprocess.run(["git", "log", "--format=%s", "--name-only"], cwd=stage.root, capture_output=True, check=True)
    assert log.stdout.decode().count("task 1: ") == 1
    assert PLAN in log.stdout.decode()


@pytest.mark.thorough
def test_the_plugin_does_the_same(stage: Stage) -> None:
    run_remit(stage, "hooks", "uninstall", "claude")
    assert not (stage.root / ".claude" / "settings.local.json").exists()
    converse(stage, "alone", "--plugin-dir", str(ROOT))
    (row,) = list_runs(stage)
    assert (row.status, row.verdict) == ("completed", "accepted")
    (result,) = find_results(stage, "alone", 1)
    assert (result["status"], result["remit"]["attempts"]) == ("completed", 2)


@pytest.mark.thorough
def test_a_killed_hook_blocks_by_its_command_line(stage: Stage) -> None:
    register(stage, ("sh", "-c", "kill -9 $$"))
    converse(stage, "own")
    assert not (stage.root / "mine").exists()
    assert "Killed" in list_results(stage, "own", 1)[0]

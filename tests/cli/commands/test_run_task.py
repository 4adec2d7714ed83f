"""`remit run --task`: what becomes of a task that an agent works on without a command, and that it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from remit.ledger.home import Home
from remit.runs.tasks.task_commands import find_working
from remit.tasks.store import TaskStore
from remit.testing.agent import ScriptedAgent
from tests.support.commands import load, put
from tests.support.program_runs import list_rows
from tests.support.screen_text import smooth
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.commands import Inside, Remit

AGENT = "---\nname: {kind}er\ndescription: Does it.\nagent_type: {kind}\nversion: 1.0.0\n---\n# Do it\n"


@pytest.fixture
def remit(inside: Inside) -> Inside:
    """Nothing here is about how a process begins or ends."""
    return inside


@pytest.fixture
def agent(tmp_path_factory: pytest.TempPathFactory) -> ScriptedAgent:
    """A program whose log is outside the workspace."""
    return ScriptedAgent(tmp_path_factory.mktemp("agents")).obeys()


@pytest.fixture
def other(tmp_path_factory: pytest.TempPathFactory) -> ScriptedAgent:
    """One that does not do its work."""
    return ScriptedAgent(tmp_path_factory.mktemp("others"))


@pytest.fixture(autouse=True)
def _workspace(remit: Remit) -> None:
    for kind in ("research", "implementation", "utility"):
        put(remit, f".opencode/agent/subagents/{kind}er.md", AGENT.format(kind=kind))
    remit("task", "new", "Cache the uploads")


def run(remit: Remit, agent: ScriptedAgent, kind: str, *options: str) -> Any:  # noqa: ANN401 - any JSON value
    return load(remit("run", f"{kind}er", "Do it.", "--task", "1", "--command", agent.command, "--json", *options))


def get_marker(folder: Path) -> str | None:
    home = Home(str(folder))
    try:
        return TaskStore(home, ".opencode/specs").get(1).marker
    finally:
        home.close()


def move(remit: Remit, marker: str) -> None:
    ended = remit("task", "set-status", "1", marker)
    assert ended.code == 0, ended.err


@pytest.mark.parametrize(("kind", "marker"), [("research", "RESEARCHED"), ("implementation", "COMPLETED")])
def test_the_task_is_moved_by_the_agents_kind(remit: Remit, agent: ScriptedAgent, kind: str, marker: str) -> None:
    """R1.30."""
    told = run(remit, agent, kind)
    assert told["status"] == "completed"
    assert get_marker(remit.folder) == marker
    assert f"status: task 1 was NOT STARTED and is {marker}" in told["remit"]["notes"]


def test_of_what_moves_no_task_it_is_told(remit: Remit, agent: ScriptedAgent) -> None:
    told = run(remit, agent, "utility")
    assert get_marker(remit.folder) == "NOT STARTED"
    stays = "task 1 stays NOT STARTED"
    assert (
        f"status: {stays}: this run changes no task; remit task research, plan or implement 1 does"
        in told["remit"]["notes"]
    )
    shown = remit("show").text
    assert stays in shown
    assert "task 1 is NOT STARTED" not in shown


def test_who_does_not_complete_leaves_it_where_it_can_be_taken_up(remit: Remit, other: ScriptedAgent) -> None:
    told = run(remit, other.lies(), "research")
    assert told["status"] == "failed"
    assert get_marker(remit.folder) == "RESEARCHING"
    assert "status: task 1 was NOT STARTED and is RESEARCHING" in told["remit"]["notes"]


def test_a_move_that_may_not_be_refuses_no_work(remit: Remit, agent: ScriptedAgent) -> None:
    move(remit, "researching")
    move(remit, "researched")
    move(remit, "planning")
    told = run(remit, agent, "research")
    assert told["status"] == "completed"
    assert get_marker(remit.folder) == "PLANNING"
    assert any(note.startswith("status: task 1 stays PLANNING") for note in told["remit"]["notes"])


def test_open_phases_are_not_passed_over(remit: Remit, agent: ScriptedAgent) -> None:
    put(
        remit,
        ".opencode/specs/1_cache_the_uploads/plans/implementation-001.md",
        "# Plan\n\n## Implementation Phases\n\n### Phase 1: One [NOT STARTED]\n",
    )
    told = run(remit, agent, "implementation")
    assert told["status"] == "completed"
    assert get_marker(remit.folder) == "IMPLEMENTING"


@pytest.mark.slow
def test_a_task_that_somebody_works_on_stays_theirs(remit: Remit, agent: ScriptedAgent, other: ScriptedAgent) -> None:
    """Two without a command may work on one task; only the first moves it, and a command waits for both."""
    slow = other.hangs()
    started = ("run", "researcher", "Do it.", "--task", "1", "--command", slow.command, "--timeout", "20", "--detach")
    first = remit(*started).text.strip()
    wait_until(lambda: get_marker(remit.folder) == "RESEARCHING", "the task is taken up")
    told = run(remit, agent, "implementation")
    assert (told["status"], told["remit"]["verdict"]) == ("partial", "unproven")  # another run is active in this folder
    assert get_marker(remit.folder) == "RESEARCHING"
    assert smooth(remit("task", "research", "1", "--command", agent.command).complaint) == snapshot(
        "researcher works on task 1 already (<session>); wait for it: remit wait <session>, or end it: remit cancel <session>"
    )
    assert remit("cancel", first).code == 0
    remit("wait", first)


def test_the_agent_is_told_the_marker_that_the_task_has_then(remit: Remit, agent: ScriptedAgent) -> None:
    run(remit, agent, "research")
    text = remit("show", list_rows(remit.folder)[0].session_id, "--full").text
    assert "status: RESEARCHING" in text
    assert "[NOT STARTED]" not in text.partition("# Work")[2]


@pytest.mark.parametrize(
    ("kind", "format", "marker", "working"),
    [
        ("research", "standard", "NOT STARTED", "RESEARCHING"),
        ("research", "manifest", "NOT STARTED", "IN PROGRESS"),
        ("", "manifest", "RESEARCHING", "IN PROGRESS"),
        ("research", "manifest", "RESEARCHED", ""),
        ("review", "manifest", "NOT STARTED", ""),
        ("review", "standard", "NOT STARTED", ""),
        ("implementation", "standard", "IN PROGRESS", "IN PROGRESS"),
        ("implementation", "hyper", "PLANNED", "IMPLEMENTING"),
        ("planning", "standard", "RESEARCHED", "PLANNING"),
        ("", "standard", "NOT STARTED", ""),
        ("research", "standard", "odd", ""),
    ],
)
def test_the_marker_meanwhile(kind: str, format: str, marker: str, working: str) -> None:
    """S3, R1.30, R4.8."""
    assert find_working(kind, format, marker) == working

"""What is left of a plan after work on it: an agent that writes there closes no phase but its own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from remit.runs.tasks.task_status import open_store
from remit.runs.workspace import Workspace
from remit.tasks.store import TaskStore
from tests.support.task_runs import FOLDER, PLAN, as_person, make_worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.runs.tasks.task_runs import FinishedTaskRun


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A workspace with a task and a plan of three phases."""
    (tmp_path / ".git").mkdir()
    with_tasks = Workspace(str(tmp_path), environ={})
    TaskStore(with_tasks.home, "specs").add("Cache the uploads")
    with_tasks.home.close()
    put_plan(str(tmp_path), PLAN.format("NOT STARTED"))
    monkeypatch.chdir(tmp_path)
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    return str(tmp_path)


def put_plan(root: str, text: str, version: int = 1) -> None:
    file = Path(root, f"{FOLDER}/implementation-{version:03d}.md")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def read_plan(root: str) -> str:
    return Path(root, f"{FOLDER}/implementation-001.md").read_text("utf-8")


def implement(
    root: str, act: Callable[[], None], *, status: str = "completed"
) -> tuple[list[FinishedTaskRun], str | None]:
    """Have an agent implement the task that does something besides at its first phase; the parts, and the marker."""

    async def main() -> tuple[list[FinishedTaskRun], str | None]:
        async with Workspace.open(root, environ={}) as ws:
            done: list[int] = []

            def agent(prompt: str) -> dict[str, Any]:
                if not done:
                    act()
                done.append(1)
                return make_worker(root, status=status)(prompt)

            parts = await ws.work("implement", 1, function=agent)
            store = open_store(ws.home, ws.settings)
            assert store is not None
            assert store.check() == []
            return parts, store.get(1).marker

    return asyncio.run(main())


def test_phases_that_the_agent_of_another_closed_are_done_after_it(root: str) -> None:
    """Whoever does a phase says nothing of the others that is believed."""

    def tick() -> None:
        put_plan(root, read_plan(root).replace("Two [NOT STARTED]", "Two [COMPLETED]"))

    parts, marker = implement(root, tick)
    assert [part.ready.request.phase for part in parts] == ["1", "2", "3"]
    told = "phases: phase 2 became COMPLETED in the plan while implement worked on phase 1; it is NOT STARTED again"
    assert told in parts[0].result.notes
    assert (parts[-1].result.status, marker) == ("completed", "COMPLETED")


def test_what_a_failed_agent_ticked_off_is_open_again(root: str) -> None:
    def tick() -> None:
        put_plan(root, read_plan(root).replace("[NOT STARTED]", "[ABANDONED]"))

    parts, marker = implement(root, tick, status="nonsense")
    assert (parts[-1].result.status, marker) == ("failed", "PARTIAL")
    assert "Two [NOT STARTED]" in read_plan(root)
    assert "Three [NOT STARTED]" in read_plan(root)


@pytest.mark.parametrize("version", [1, 2])
def test_phases_that_are_gone_are_not_done(root: str, version: int) -> None:
    """Taken out of the plan, or left out of a new one: the work ends, and a person looks."""

    def shorten() -> None:
        put_plan(root, "# Plan\n\n### Phase 1: One [COMPLETED]\n\n### Phase 3: Three [NOT STARTED]\n", version)

    parts, marker = implement(root, shorten)
    told = "the plan of task 1 has no phase 2 any more"
    assert [(part.status, part.result.status, part.left) for part in parts] == [("completed", "partial", (told,))]
    assert marker == "PARTIAL"
    assert [(each.step, each.message) for each in parts[0].result.failed_steps] == [("phase", told)]


def test_a_plan_that_is_gone_leaves_nothing_completed(root: str) -> None:
    parts, marker = implement(root, Path(root, FOLDER, "implementation-001.md").unlink)
    assert parts[-1].left == ("the plan of task 1 is gone, so what is left of it is unknown",)
    assert (len(parts), parts[-1].result.status, marker) == (1, "partial", "PARTIAL")


def test_phases_that_an_agent_adds_are_done_too(root: str) -> None:
    def add() -> None:
        put_plan(root, read_plan(root) + "\n### Phase 4: Four [NOT STARTED]\n\nA note.\n")

    parts, marker = implement(root, add)
    assert [part.ready.request.phase for part in parts] == ["1", "2", "3", "4"]
    assert (parts[-1].result.status, parts[-1].left, marker) == ("completed", (), "COMPLETED")


def test_a_phase_that_a_person_drops_meanwhile_is_over(root: str) -> None:
    """Who asks Remit for it, in another terminal, is not overruled."""

    def drop() -> None:
        as_person(lambda tasks: tasks.move(1, "abandoned", phase="2"))

    parts, marker = implement(root, drop)
    assert [part.ready.request.phase for part in parts] == ["1", "3"]
    assert (parts[-1].result.status, marker) == ("completed", "COMPLETED")


def test_who_does_the_whole_task_does_not_leave_phases_open(root: str) -> None:
    """Nothing was open when the work began; what the agent plans to do later is not done."""
    put_plan(root, "# Plan\n\n### Phase 1: One [COMPLETED]\n")

    def plan_more() -> None:
        put_plan(root, "# Plan\n\n### Phase 1: One [COMPLETED]\n\n### Phase 2: Two [NOT STARTED]\n")

    parts, marker = implement(root, plan_more)
    assert parts[-1].ready.phase is None
    assert (parts[-1].result.status, parts[-1].left, marker) == ("partial", ("phase 2 is NOT STARTED",), "PARTIAL")


def test_a_task_that_a_person_sets_aside_meanwhile_is_not_gone_on_with(root: str) -> None:
    def hold() -> None:
        as_person(lambda tasks: tasks.move(1, "on hold"))

    parts, marker = implement(root, hold)
    assert (len(parts), parts[-1].result.status, marker) == (1, "partial", "ON HOLD")
    assert parts[-1].left == ("phase 2 is NOT STARTED", "phase 3 is NOT STARTED")

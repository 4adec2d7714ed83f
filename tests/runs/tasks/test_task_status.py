"""Markers of tasks around a delegation: entered once, and given back where nobody began, whoever drives."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from remit.errors import RefusedError, UsageError
from remit.ledger.events import add_event, load_events
from remit.ledger.runs import load_run
from remit.runs.tasks.task_runs import TaskRequest, prepare_task_run, start_task_run
from remit.runs.tasks.task_status import PREFLIGHT, open_store, start_task
from remit.runs.workspace import Workspace
from remit.tasks.store import TaskStore
from tests.support.task_runs import make_worker

PLAN = """# Plan

## Implementation Phases

### Phase 1: One [NOT STARTED]

### Phase 2.5: Two [NOT STARTED]
"""


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A workspace with a task."""
    (tmp_path / ".git").mkdir()
    with_tasks = Workspace(str(tmp_path), environ={})
    TaskStore(with_tasks.home, "specs").add("Cache the uploads")
    with_tasks.home.close()
    return str(tmp_path)


def get_marker(ws: Workspace) -> str | None:
    store = open_store(ws.home, ws.settings)
    assert store is not None
    assert store.check() == []
    return store.get(1).marker


def put_plan(ws: Workspace) -> Path:
    file = Path(ws.root, "specs/1_cache_the_uploads/plans/implementation-001.md")
    file.parent.mkdir(parents=True)
    file.write_text(PLAN, "utf-8")
    return file


def test_a_program_works_on_a_task(root: str) -> None:
    async def main() -> None:
        async with Workspace.open(root, environ={}) as ws:
            put_plan(ws)
            parts = await ws.work("implement", 1, function=make_worker(root))
            assert [part.ready.request.phase for part in parts] == ["1", "2.5"]
            assert [part.result.status for part in parts] == ["completed", "completed"]
            assert [part.ready.left for part in parts] == [2, 1]
            assert get_marker(ws) == "COMPLETED"
            with pytest.raises(RefusedError, match="COMPLETED can't become IMPLEMENTING"):
                await ws.work("implement", 1, function=make_worker(root))
            with pytest.raises(UsageError, match="no option colour"):
                await ws.work("implement", 1, colour="red")  # type: ignore[call-arg]
            with pytest.raises(UsageError, match="there is no task command 'paint'"):
                await ws.work("paint", 1)

    asyncio.run(main())


def admit_and_go(root: str, command: str = "research") -> str:
    """Admit work as a process does that is killed before it begins it."""
    ws = Workspace(root, environ={})
    program = Path(root).parent / "worker.py"
    program.write_text(
        "import json, os, re, sys\n"
        "prompt = sys.stdin.read()\n"
        "path = re.search(r'Write your artifact to (\\S+)\\.\\n', prompt)[1]\n"
        "os.makedirs(os.path.dirname(path), exist_ok=True)\n"
        "open(path, 'w').write('# A file')\n"
        "print(json.dumps({'status': 'completed', 'summary': 'It was done. All of it.', 'artifacts': [{'type': "
        "'report', 'path': path, 'summary': 'It.'}], 'metadata': {'session_id': os.environ['REMIT_SESSION_ID'], "
        "'duration_seconds': 1, 'agent_type': 'x', 'delegation_depth': 1, 'delegation_path': ['x']}, 'errors': []}))\n",
        "utf-8",
    )
    fields = {"command": f"python3 {program}", "commits": False}
    prepared = start_task_run(ws, prepare_task_run(ws, TaskRequest(command, 1, fields=fields)))
    ws.supervisor.end()
    ws.home.close()
    return prepared.row.session_id


def recover(root: str, session_id: str) -> Any:  # noqa: ANN401 - a result
    async def main() -> Any:  # noqa: ANN401
        async with Workspace.open(root, environ={**os.environ}) as ws:
            return await ws.wait(session_id)

    return asyncio.run(main())


def test_whoever_takes_over_does_the_preflight_too(root: str) -> None:
    """Killed between the row and the move: the task is moved all the same, and then moved on."""
    session_id = admit_and_go(root)
    ws = Workspace(root, environ={})
    assert get_marker(ws) == "NOT STARTED"
    assert recover(root, session_id).status == "completed"
    assert get_marker(ws) == "RESEARCHED"
    assert sum(event.kind == PREFLIGHT for event in load_events(ws.home.ledger, session_id=session_id)) == 1
    ws.home.close()


def test_what_was_noted_and_not_done_is_done(root: str) -> None:
    """Killed between the note and the move."""
    session_id = admit_and_go(root)
    ws = Workspace(root, environ={})
    with ws.home.ledger.transaction() as db:
        add_event(db, PREFLIGHT, {"task": "NOT STARTED", "phase": None}, session_id=session_id)
    assert recover(root, session_id).status == "completed"
    assert get_marker(ws) == "RESEARCHED"
    ws.home.close()


def test_who_moved_the_task_meanwhile_is_not_overruled(root: str) -> None:
    """A supervisor that takes over finds a task that a person has moved: it stays there."""
    session_id = admit_and_go(root)
    ws = Workspace(root, environ={})
    row = load_run(ws.home.ledger, session_id)
    assert row is not None
    start_task(ws.home, ws.settings, row)
    assert get_marker(ws) == "RESEARCHING"
    TaskStore(ws.home, "specs").move(1, "ABANDONED", reason="Nobody wants it.")
    start_task(ws.home, ws.settings, row)
    assert get_marker(ws) == "ABANDONED"
    assert recover(root, session_id).status == "completed"
    assert get_marker(ws) == "ABANDONED"
    ws.home.close()


def test_a_task_that_was_moved_before_it_began_is_not_worked_on(root: str) -> None:
    """Admitted while it might, and moved to its end before its turn came: nobody begins."""
    session_id = admit_and_go(root)
    ws = Workspace(root, environ={})
    store = TaskStore(ws.home, "specs")
    store.move(1, "IMPLEMENTING")
    store.move(1, "COMPLETED")
    result = recover(root, session_id)
    assert (result.status, result.stop_reason) == ("failed", "rejected")
    assert "COMPLETED can't become RESEARCHING" in result.summary
    assert get_marker(ws) == "COMPLETED"
    assert not Path(root, "specs/1_cache_the_uploads").exists()
    ws.home.close()


def test_a_phase_is_entered_once(root: str) -> None:
    ws = Workspace(root, environ={})
    plan = put_plan(ws)
    session_id = admit_and_go(root, "implement")
    row = load_run(ws.home.ledger, session_id)
    assert row is not None
    for _ in range(2):
        start_task(ws.home, ws.settings, row)
        assert plan.read_text("utf-8") == PLAN.replace("One [NOT STARTED]", "One [IN PROGRESS]")
        assert get_marker(ws) == "IMPLEMENTING"
    ws.home.close()


@pytest.mark.parametrize("marker", ["RESEARCHED", "NOT STARTED"])
def test_a_task_that_nobody_began_keeps_its_dates(root: str, marker: str) -> None:
    """The day of a research that was done long ago is not today because a program was missing."""
    file, own = Path(root, "specs/state.json"), Workspace(root, environ={})
    store = TaskStore(own.home, "specs")
    if marker == "RESEARCHED":
        store.move(1, "RESEARCHING")
        store.move(1, marker)
    own.home.close()
    before = re.sub(r"20\d\d-\d\d-\d\dT", "2020-02-02T", file.read_text("utf-8"))
    file.write_text(before, "utf-8")

    async def play() -> None:
        async with Workspace.open(root, environ={}) as ws:
            [part] = await ws.work("plan", 1, command="no-such-program")
            assert part.result is not None
            assert part.result.stop_reason == "rejected"

    asyncio.run(play())
    assert file.read_text("utf-8") == before


def test_no_two_take_up_one_task(root: str) -> None:
    session_id = admit_and_go(root)
    ws = Workspace(root, environ={})
    with pytest.raises(RefusedError, match=f"works on task 1 already \\({session_id}\\)"):
        start_task_run(ws, prepare_task_run(ws, TaskRequest("research", 1, fields={"command": "true"})))
    second = ws.prepare(
        prepare_task_run(ws, TaskRequest("research", 1, fields={"command": "true"})).request
    )  # as a retry comes
    with pytest.raises(RefusedError, match=f"works on task 1 already \\({session_id}\\)"):
        start_task(ws.home, ws.settings, second.row)
    assert get_marker(ws) == "NOT STARTED"
    review = start_task_run(ws, prepare_task_run(ws, TaskRequest("review", 1, fields={"command": "true"})))
    assert review.row.task_number == 1
    ws.supervisor.end()
    ws.home.close()


def test_an_unproven_return_completes_no_task_and_commits_no_file(root: str) -> None:
    """Another run is active in the folder, and nothing shows which of the two wrote the report."""
    for args in (["init", "-q"], ["config", "user.name", "x"], ["config", "user.email", "x@x"], ["add", "-A"]):
        subprocess.run(["git", *args], cwd=root, check=True)
    subprocess.run(["git", "commit", "-qm", "x"], cwd=root, check=True)

    began, released = threading.Event(), threading.Event()

    def sibling(_: str) -> str:
        began.set()
        assert released.wait(60)
        return "nothing"

    async def main() -> tuple[Any, str | None]:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            other = asyncio.ensure_future(ws.delegate(None, "Wait.", function=sibling, reasks=0, timeout_s=90))
            assert await asyncio.to_thread(began.wait, 60)
            (part,) = await ws.work("research", 1, function=make_worker(root), commits=True)
            released.set()
            await other
            return part.result, get_marker(ws)

    told, marker = asyncio.run(main())
    assert (told.status, told.verdict, told.errors[0].code) == ("partial", "unproven", "UNPROVEN")
    assert marker == "RESEARCHING"
    (path,) = (each.path for each in told.artifacts)
    listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout
    assert path not in listed.splitlines()
    assert path not in Path(root, "specs/state.json").read_text()

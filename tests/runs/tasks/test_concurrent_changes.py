"""Changes of a task while an agent works on it: by the user, and by the agent as far as its return confirms them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from remit.errors import RefusedError
from remit.mcp.tools import Call
from remit.mcp.workspace_tools import task_move
from remit.runs.admission.tickets import CARRIED
from remit.runs.hosted_runs import HostedRuns
from remit.runs.tasks.task_status import open_store
from remit.runs.tasks.workspace_tasks import Tasks
from remit.runs.workspace import Workspace
from remit.tasks.store import TaskStore
from tests.support.task_runs import as_person, ask, make_worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.result import Result


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A workspace with two tasks."""
    (tmp_path / ".git").mkdir()
    with_tasks = Workspace(str(tmp_path), environ={})
    for title in ("Cache the uploads", "Another"):
        TaskStore(with_tasks.home, "specs").add(title)
    with_tasks.home.close()
    monkeypatch.chdir(tmp_path)
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    return str(tmp_path)


def work(
    root: str, act: Callable[[], object], *, status: str = "failed", command: str = "implement"
) -> tuple[Result, str | None]:
    """Have an agent work on task 1 that does something besides; what came of it, and the task's marker."""

    def agent(prompt: str) -> dict[str, Any]:
        act()
        told = make_worker(root, status=status)(prompt)
        fault = {"type": "execution", "message": "No.", "code": "TOOL_UNAVAILABLE", "recoverable": True,
                 "recommendation": "Do it."}  # fmt: skip
        return told | {"errors": [fault] if status == "failed" else []}

    async def main() -> tuple[Result, str | None]:
        async with Workspace.open(root, environ={}) as ws:
            parts = await ws.work(command, 1, function=agent)
            store = open_store(ws.home, ws.settings)
            assert store is not None
            assert store.check() == []
            return parts[-1].result, store.get(1).marker

    return asyncio.run(main())


def edit(root: str, name: str, old: str, new: str) -> None:
    file = Path(root, "specs", name)
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")


@pytest.mark.parametrize("numbers", [(1,), ()])
def test_an_agent_does_not_archive_the_task_that_it_works_on(root: str, numbers: tuple[int, ...]) -> None:
    refused: list[str] = []

    def cheat() -> None:
        ask(lambda tasks: tasks.move(1, "COMPLETED"))
        with pytest.raises(RefusedError) as caught:
            ask(lambda tasks: tasks.archive(numbers))
        refused.append(caught.value.message)

    result, marker = work(root, cheat)
    assert refused == ["an agent can't archive task 1 while it works on it"]
    assert (result.status, marker) == ("failed", "PARTIAL")


def test_a_failed_return_undoes_done_that_the_agent_said_through_its_server(root: str) -> None:
    """MCP: the server has the ticket of the agent that started it."""
    moved: list[str] = []

    def serve(environ: dict[str, str]) -> None:
        task_move(Call({"number": 1, "marker": "COMPLETED"}, HostedRuns(environ)))
        moved.append("COMPLETED")

    def cheat() -> None:
        thread = Thread(target=serve, args=({**CARRIED.get()},))
        thread.start()
        thread.join()

    assert work(root, cheat)[1] == "PARTIAL"
    assert moved == ["COMPLETED"]


@pytest.mark.parametrize("owner", ["agent", "remit"])
@pytest.mark.parametrize(("status", "marker"), [("failed", "PARTIAL"), ("completed", "COMPLETED")])
def test_an_agent_that_moves_its_task_is_believed_as_far_as_its_return(
    root: str, status: str, marker: str, owner: str
) -> None:
    """C19, D1: an agent may move its own task; `owner` only changes its instructions."""
    file = Path(root, ".opencode/agent/maker.md")
    file.parent.mkdir(parents=True)
    text = "---\nname: maker\ndescription: Makes.\nmode: subagent\nagent_type: implementation\nversion: 1.0.0\n"
    file.write_text(f"{text}owner: {owner}\n---\n# Make it\n", "utf-8")
    result, after = work(root, lambda: ask(lambda tasks: tasks.move(1, "COMPLETED")), status=status)
    assert (result.agent, result.status, after) == ("maker", status, marker)
    assert "SET001" not in {finding.code for finding in result.diagnostics} or status == "failed"


def test_an_agent_moves_other_tasks(root: str) -> None:
    _, marker = work(root, lambda: ask(lambda tasks: tasks.move(2, "IN PROGRESS")), status="completed")
    assert marker == "COMPLETED"
    tasks = Tasks()
    assert tasks.store.get(2).marker == "IN PROGRESS"
    tasks.home.close()


def test_a_person_is_not_overruled(root: str) -> None:
    result, marker = work(root, lambda: as_person(lambda tasks: tasks.move(1, "COMPLETED")))
    assert (result.status, marker) == ("failed", "COMPLETED")


@pytest.mark.parametrize("name", ["TODO.md", "state.json"])
def test_a_file_that_calls_the_task_done_is_no_return(root: str, name: str) -> None:
    """The agent can write there: what its return says counts."""
    old, new = ("[IMPLEMENTING]", "[COMPLETED]") if name == "TODO.md" else ('"implementing"', '"completed"')
    result, marker = work(root, lambda: edit(root, name, old, new))
    told = "while implement was at work, but its return doesn't say so"
    assert f"status: the files called task 1 COMPLETED {told}" in result.notes
    assert (result.status, marker) == ("failed", "PARTIAL")


def test_what_was_taken_in_meanwhile_is_no_return_either(root: str) -> None:
    """Whatever else is done with tasks takes the edit in."""

    def cheat() -> None:
        edit(root, "TODO.md", "[IMPLEMENTING]", "[COMPLETED]")
        ask(lambda tasks: tasks.sync("absorb"))

    assert work(root, cheat)[1] == "PARTIAL"


def test_a_report_that_failed_is_not_there_because_a_file_says_so(root: str) -> None:
    edits = ("TODO.md", "[RESEARCHING]", "[RESEARCHED]")
    assert work(root, lambda: edit(root, *edits), command="research")[1] == "RESEARCHING"
    assert work(root, lambda: edit(root, *edits), command="research", status="completed")[1] == "RESEARCHED"


def test_what_is_set_aside_in_a_file_stays_so(root: str) -> None:
    """Only what says more than was done is not believed."""
    result, marker = work(root, lambda: edit(root, "TODO.md", "[IMPLEMENTING]", "[ON HOLD]"))
    assert (result.notes, marker) == ((), "ON HOLD")


def test_phases_that_are_open_keep_open_what_a_file_calls_done(root: str) -> None:
    plan = Path(root, "specs/1_cache_the_uploads/plans/implementation-001.md")
    plan.parent.mkdir(parents=True)
    plan.write_text("# Plan\n\n### Phase 1: One [NOT STARTED]\n\n### Phase 2: Two [BLOCKED]\n", "utf-8")
    result, marker = work(root, lambda: edit(root, "TODO.md", "[IMPLEMENTING]", "[COMPLETED]"), status="completed")
    assert (result.status, marker) == ("partial", "PARTIAL")

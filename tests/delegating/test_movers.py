"""Who may move a task while an agent is at work on it: a person, and of agents none but by its return."""

from __future__ import annotations

import asyncio
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from remit.app.delegating.markers import open_store
from remit.app.delegating.workspace import Workspace
from remit.app.serving import Serving
from remit.app.tasks import Tasks
from remit.delegate.admission.ticket import CARRIED
from remit.doors.mcp.keeping import task_move
from remit.doors.mcp.tools import Call
from remit.errors import RefusedError
from remit.workspace.tasks.store import TaskStore
from tests.delegating.test_markers import make_worker
from tests.delegating.test_phases import as_person, ask

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.delegate.reporting.envelope import Envelope

REFUSED = "implement is at work on task 1, and Remit moves the task by its return"


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
) -> tuple[Envelope, str | None]:
    """Have an agent work on task 1 that does something besides; what came of it, and the task's marker."""

    def agent(prompt: str) -> dict[str, Any]:
        act()
        told = make_worker(root, status=status)(prompt)
        fault = {"type": "execution", "message": "No.", "code": "TOOL_UNAVAILABLE", "recoverable": True,
                 "recommendation": "Do it."}  # fmt: skip
        return told | {"errors": [fault] if status == "failed" else []}

    async def main() -> tuple[Envelope, str | None]:
        async with Workspace.open(root, environ={}) as ws:
            parts = await ws.work(command, 1, function=agent)
            store = open_store(ws.home, ws.settings)
            assert store is not None
            assert store.check() == []
            return parts[-1].envelope, store.get(1).marker

    return asyncio.run(main())


def edit(root: str, name: str, old: str, new: str) -> None:
    file = Path(root, "specs", name)
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")


@pytest.mark.parametrize(
    "act",
    [
        lambda tasks: tasks.move(1, "COMPLETED"),
        lambda tasks: tasks.move(1, "ABANDONED", reason="No."),
        lambda tasks: tasks.move(1, "COMPLETED", phase="1"),
        lambda tasks: tasks.archive((1,)),
        lambda tasks: tasks.archive(()),
    ],
)
def test_an_agent_does_not_move_the_task_that_it_works_on(root: str, act: Callable[[Tasks], object]) -> None:
    refused: list[str] = []

    def cheat() -> None:
        with pytest.raises(RefusedError) as caught:
            ask(act)
        refused.append(caught.value.message)

    envelope, marker = work(root, cheat)
    assert refused == [REFUSED]
    assert (envelope.status, marker) == ("failed", "PARTIAL")


def test_an_agent_does_not_move_it_through_its_server_either(root: str) -> None:
    """MCP: the server has the ticket of the agent that started it."""
    refused: list[str] = []

    def serve(environ: dict[str, str]) -> None:
        with pytest.raises(RefusedError) as caught:
            task_move(Call({"number": 1, "marker": "COMPLETED"}, Serving(environ)))
        refused.append(caught.value.message)

    def cheat() -> None:
        thread = Thread(target=serve, args=({**CARRIED.get()},))
        thread.start()
        thread.join()

    assert work(root, cheat)[1] == "PARTIAL"
    assert refused == [REFUSED]


@pytest.mark.parametrize(("status", "marker"), [("failed", "PARTIAL"), ("completed", "COMPLETED")])
def test_who_settles_itself_is_believed_as_far_as_its_return(root: str, status: str, marker: str) -> None:
    """C19: with `owner: agent` it moves its task, and only what was done stays."""
    file = Path(root, ".opencode/agent/maker.md")
    file.parent.mkdir(parents=True)
    text = "---\nname: maker\ndescription: Makes.\nmode: subagent\nagent_type: implementation\nversion: 1.0.0\n"
    file.write_text(f"{text}owner: agent\n---\n# Make it\n", "utf-8")
    envelope, after = work(root, lambda: ask(lambda tasks: tasks.move(1, "COMPLETED")), status=status)
    assert (envelope.agent, envelope.status, after) == ("maker", status, marker)
    assert "SET001" not in {finding.code for finding in envelope.findings} or status == "failed"


def test_an_agent_moves_other_tasks(root: str) -> None:
    _, marker = work(root, lambda: ask(lambda tasks: tasks.move(2, "IN PROGRESS")), status="completed")
    assert marker == "COMPLETED"
    tasks = Tasks()
    assert tasks.store.get(2).marker == "IN PROGRESS"
    tasks.home.close()


def test_a_person_is_not_overruled(root: str) -> None:
    envelope, marker = work(root, lambda: as_person(lambda tasks: tasks.move(1, "COMPLETED")))
    assert (envelope.status, marker) == ("failed", "COMPLETED")


@pytest.mark.parametrize("name", ["TODO.md", "state.json"])
def test_a_file_that_calls_the_task_done_is_no_return(root: str, name: str) -> None:
    """The agent can write there: what its return says counts."""
    old, new = ("[IMPLEMENTING]", "[COMPLETED]") if name == "TODO.md" else ('"implementing"', '"completed"')
    envelope, marker = work(root, lambda: edit(root, name, old, new))
    told = "while implement was at work, and what it returned does not say so"
    assert f"status: the files called task 1 COMPLETED {told}" in envelope.notes
    assert (envelope.status, marker) == ("failed", "PARTIAL")


def test_what_was_taken_in_meanwhile_is_no_return_either(root: str) -> None:
    """Whatever else is done with tasks takes the edit in."""

    def cheat() -> None:
        edit(root, "TODO.md", "[IMPLEMENTING]", "[COMPLETED]")
        ask(lambda tasks: tasks.sync("take in"))

    assert work(root, cheat)[1] == "PARTIAL"


def test_a_report_that_failed_is_not_there_because_a_file_says_so(root: str) -> None:
    edits = ("TODO.md", "[RESEARCHING]", "[RESEARCHED]")
    assert work(root, lambda: edit(root, *edits), command="research")[1] == "RESEARCHING"
    assert work(root, lambda: edit(root, *edits), command="research", status="completed")[1] == "RESEARCHED"


def test_what_is_set_aside_in_a_file_stays_so(root: str) -> None:
    """Only what says more than was done is not believed."""
    envelope, marker = work(root, lambda: edit(root, "TODO.md", "[IMPLEMENTING]", "[ON HOLD]"))
    assert (envelope.notes, marker) == ((), "ON HOLD")


def test_phases_that_are_open_keep_open_what_a_file_calls_done(root: str) -> None:
    plan = Path(root, "specs/1_cache_the_uploads/plans/implementation-001.md")
    plan.parent.mkdir(parents=True)
    plan.write_text("# Plan\n\n### Phase 1: One [NOT STARTED]\n\n### Phase 2: Two [BLOCKED]\n", "utf-8")
    envelope, marker = work(root, lambda: edit(root, "TODO.md", "[IMPLEMENTING]", "[COMPLETED]"), status="completed")
    assert (envelope.status, marker) == ("partial", "PARTIAL")

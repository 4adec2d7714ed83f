"""Tasks with a plan, and agents that work on them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

from threading import Thread
from typing import TYPE_CHECKING

from remit.runs.tasks.workspace_tasks import Tasks

if TYPE_CHECKING:
    from collections.abc import Callable


def make_worker(root: str, *, status: str = "completed") -> Callable[[str], dict[str, Any]]:
    """An agent in this process: it writes its artifact and returns it."""

    def work(prompt: str) -> dict[str, Any]:
        path = re.search(r"Write your artifact to (\S+)\.\n", prompt)
        session = re.search(r"Session (\S+),", prompt)
        assert path is not None
        assert session is not None
        file = Path(root, path[1])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# A file\n\nMade in {session[1]}.\n", "utf-8")
        return {
            "status": status,
            "summary": "The work was done as asked. The file says what there is to say.",
            "artifacts": [{"type": "summary", "path": path[1], "summary": "What was asked for."}],
            "metadata": {"session_id": session[1], "duration_seconds": 1, "agent_type": "x", "delegation_depth": 1,
                         "delegation_path": ["orchestrator", "x"]},
            "errors": [],
        }  # fmt: skip

    return work


FOLDER = "specs/1_cache_the_uploads/plans"
PLAN = """# Plan

## Implementation Phases

### Phase 1: One [NOT STARTED]

### Phase 2: Two [{}]

### Phase 3: Three [NOT STARTED]
"""


def ask(act: Callable[[Tasks], object]) -> None:
    """Ask for something that becomes of tasks."""
    tasks = Tasks()
    try:
        act(tasks)
    finally:
        tasks.home.close()


def as_person(act: Callable[[Tasks], object]) -> None:
    """The same, as in another terminal: what a function of an agent carries is its own."""
    thread = Thread(target=ask, args=(act,))
    thread.start()
    thread.join()

"""A status move in a workspace of 1,000 tasks, beside the cost of the syncs that it cannot do without.

Run as `python bench/all.py workspace_tasks`. The floor writes the same bytes to two files, syncs each, renames them,
syncs the folders they wait in and go to, and commits one row durably: what has to happen before a move can be called
done. Both are measured in turn, round after round, in one process.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.rows import choose, finish, make_row
from remit.ledger.home import Home
from remit.tasks.store import TaskStore

if TYPE_CHECKING:
    from bench.rows import Row

TASKS = 1000
ROUNDS = choose(20, 60)
GOAL = 5.0
FLOOR = "its syncs alone"


def make_workspace(folder: Path, *, tasks: int) -> TaskStore:
    """A workspace with tasks as real ones have them: about 300 bytes each in either file."""
    specs = folder / "specs"
    specs.mkdir(parents=True)
    projects = [
        {
            "project_number": number,
            "project_name": f"improve_the_part_number_{number}",
            "status": "not_started",
            "language": "python",
            "priority": "medium",
            "created": "2026-01-17T16:22:24Z",
            "last_updated": "2026-01-17T16:22:24Z",
            "description": f"Improve part {number} so that it holds what its neighbours expect of it.",
        }
        for number in range(1, tasks + 1)
    ]
    state = {"next_project_number": tasks + 1, "active_projects": projects, "completed_projects": []}
    (specs / "state.json").write_text(json.dumps(state, indent=2) + "\n")
    header = f"---\nnext_project_number: {tasks + 1}\n---\n\n# TODO\n\n## Medium Priority\n"
    sections = [
        f"### {task['project_number']}. Improve the part number {task['project_number']}\n"
        "- **Effort**: 2 hours\n- **Status**: [NOT STARTED]\n- **Priority**: Medium\n- **Language**: python\n\n"
        f"**Description**: {task['description']}\n\n---\n"
        for task in projects
    ]
    (specs / "TODO.md").write_text("\n".join([header, *sections]))
    return TaskStore(Home(str(folder)), "specs")


def measure() -> list[Row]:
    """Move a task and pay the floor, in turn."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        store = make_workspace(Path(folder), tasks=TASKS)
        store.move(TASKS // 2, "IN PROGRESS")
        moves, floors = [], []
        for round_ in range(ROUNDS):
            marker, reason = ("BLOCKED", "waiting") if round_ % 2 == 0 else ("IN PROGRESS", "")
            began = time.perf_counter()
            store.move(TASKS // 2, marker, reason=reason)
            moves.append((time.perf_counter() - began) * 1e3)
            floors.append(pay_floor(store) * 1e3)
        store.home.close()
    what = f"a status move among {TASKS:,} tasks"
    return [make_row("tasks", what, "ms", moves, floors={FLOOR: floors}, goals={FLOOR: GOAL})]


def pay_floor(store: TaskStore) -> float:
    """Write and sync the same bytes as a move, and nothing else."""
    specs = f"{store.home.root}/specs"
    contents = [Path(f"{specs}/{name}").read_bytes() for name in ("state.json", "TODO.md")]
    began = time.perf_counter()
    for place, data in enumerate(contents):
        handle = os.open(f"{specs}/floor", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(handle, data)
        os.fsync(handle)
        os.close(handle)
        os.replace(f"{specs}/floor", f"{specs}/floor{place}")  # noqa: PTH105 - as bare as it gets
    for folder in (store.home.folder, specs):  # where the contents wait, and where they go
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
    with store.home.ledger.transaction(durable=True) as db:
        db.execute("INSERT OR REPLACE INTO notes (name, value) VALUES ('floor', ?)", (str(began),))
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(finish(measure()))

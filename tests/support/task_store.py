"""Stores of tasks, and what their files hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.ledger.home import Home
from remit.tasks.state import parse_state
from remit.tasks.store import TaskStore
from remit.tasks.todo import parse_todo

if TYPE_CHECKING:
    from pathlib import Path


PLAN = """# Plan

- **Task**: 1
- **Status**: [NOT STARTED]

## Implementation Phases

### Phase 1: Ground [COMPLETED]
Text.

### Phase 2: Walls [NOT STARTED]
Text.
"""


def make(folder: Path, *titles: str) -> TaskStore:
    store = TaskStore(Home(str(folder)), "specs")
    for title in titles:
        store.add(title)
    return store


def load_state(folder: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((folder / "specs" / "state.json").read_text())
    return value


def read_markers(folder: Path) -> tuple[dict[int, str | None], dict[int, str | None]]:
    state = parse_state((folder / "specs" / "state.json").read_text())
    todo = parse_todo((folder / "specs" / "TODO.md").read_text())
    return {task.number: task.marker for task in state.tasks}, {task.number: task.marker for task in todo.tasks}


def give_plan(folder: Path, number: int = 1) -> Path:
    plan = folder / "specs" / "001_x" / "plans" / "implementation-001.md"
    plan.parent.mkdir(parents=True)
    plan.write_text(PLAN)
    value = load_state(folder)
    task = next(each for each in value["active_projects"] if each["project_number"] == number)
    task["plan_path"] = "specs/001_x/plans/implementation-001.md"
    (folder / "specs" / "state.json").write_text(json.dumps(value, indent=2))
    return plan

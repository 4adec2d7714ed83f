"""Tasks: whether state.json and TODO.md say the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.app.settings import find_root
from remit.errors import InputError

if TYPE_CHECKING:
    from remit.model import Finding

SPEC_ROOTS = (".opencode/specs", ".claude/specs", "specs")
STATE, TODO = "state.json", "TODO.md"
_MAX_BYTES = 32 * 1024 * 1024


class CheckedTasks(NamedTuple):
    """What there is to say about the two files, each with its text."""

    folder: str
    tasks: int
    findings: dict[str, tuple[Finding, ...]]
    """By file."""
    texts: dict[str, bytes]

    @property
    def agrees(self) -> bool:
        """Whether the two files say the same."""
        return not any(each.severity == "error" for found in self.findings.values() for each in found)


def check_sync() -> CheckedTasks | None:
    """Compare state.json with TODO.md, and change neither; None where the workspace keeps no tasks."""
    from remit.workspace.tasks.drift import check_drift  # noqa: PLC0415 - only for this
    from remit.workspace.tasks.state import parse_state  # noqa: PLC0415
    from remit.workspace.tasks.todo import parse_todo  # noqa: PLC0415

    folder = _find_specs()
    if folder is None:
        return None
    state_file, todo_file = f"{folder}/{STATE}", f"{folder}/{TODO}"
    state_data, todo_data = _load(state_file), _load(todo_file)
    state = None if state_data is None else parse_state(state_data.decode("utf-8", "replace"))
    todo = None if todo_data is None else parse_todo(todo_data.decode("utf-8", "replace"))
    drift = check_drift(state, todo)
    numbers = {task.number for each in (state, todo) if each is not None for task in each.tasks}
    texts = {state_file: state_data or b"", todo_file: todo_data or b""}
    return CheckedTasks(folder, len(numbers), {state_file: drift.in_state, todo_file: drift.in_todo}, texts)


def _find_specs() -> str | None:
    """The folder with the tasks: the first of the places that has one of the two files."""
    root = find_root()
    folders = (f"{root}/{place}" for place in SPEC_ROOTS)
    return next((each for each in folders if any(os.path.lexists(f"{each}/{name}") for name in (STATE, TODO))), None)


def _load(file: str) -> bytes | None:
    from remit.workspace.files import load_bytes  # noqa: PLC0415 - only with tasks

    if not os.path.lexists(file):
        return None
    data = load_bytes(file, max_bytes=_MAX_BYTES)
    if len(data) > _MAX_BYTES:
        raise InputError(f"'{file}' has more than {_MAX_BYTES:,} bytes", hint="archive old tasks")
    return data

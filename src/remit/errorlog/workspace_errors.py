"""The error log of the current workspace: list errors, show a group, set its status."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from remit.errors import UsageError
from remit.light_namedtuple import NamedTuple
from remit.storage.settings import check_open, find_workspace, load_settings

if TYPE_CHECKING:
    from remit.errorlog.causes import ErrorChoice, ErrorGroup
    from remit.errorlog.log import MarkResult
    from remit.errorlog.records import ErrorRecord, FixStatus
    from remit.model import Diagnostic


class ErrorSelection(NamedTuple):
    """The selected errors, newest first, and the diagnostics of the file."""

    file: str
    records: tuple[ErrorRecord, ...]
    groups: tuple[ErrorGroup, ...]
    total: int
    """The number of all errors."""
    diagnostics: tuple[Diagnostic, ...]
    data: bytes


class ShownErrors(NamedTuple):
    """The errors that a user asked to see."""

    file: str
    chosen: ErrorChoice
    archived: bool


def find_error_log(root: str) -> str:
    """Return the path of errors.json: next to the tasks, else an existing file, else in the folder for tasks."""
    from remit.errorlog import FILE  # noqa: PLC0415 - only with errors
    from remit.storage.spec_root import FOLDERS, find_folder, find_spec_root  # noqa: PLC0415

    configured = load_settings(root).tasks.folder
    folder = configured or find_folder(root)
    if folder is None:
        folder = next((each for each in FOLDERS if os.path.lexists(f"{root}/{each}/{FILE}")), None)
        folder = folder or find_spec_root(root)
    check_open(f"{root}/{folder}/{FILE}")
    return f"{root}/{folder}/{FILE}"


def load_errors(
    *, task: str | None = None, session_id: str | None = None, code: str | None = None, only_open: bool = False
) -> ErrorSelection:
    """Return the errors of the workspace: all, or those with a task, a session or a code."""
    from remit.errorlog.causes import group_errors  # noqa: PLC0415 - only with errors
    from remit.errorlog.log import load_log  # noqa: PLC0415

    def is_meant(record: ErrorRecord) -> bool:
        return (
            task in {None, str(record.task_number)}
            and session_id in {None, record.session_id}
            and (code is None or code.upper() == record.code.upper())
        )

    root = find_workspace()
    log = load_log(find_error_log(root), root=root)
    groups = group_errors(log.errors)
    chosen = tuple(group for group in groups if group.is_open or not only_open)
    chosen = tuple(group for group in chosen if any(map(is_meant, group.records)))
    records = sorted(
        (
            record
            for group in chosen
            for record in group.records
            if is_meant(record) and (record.is_open or not only_open)
        ),
        key=lambda record: (record.time, record.id),
        reverse=True,
    )
    return ErrorSelection(log.file, tuple(records), chosen, len(log.errors), log.diagnostics, log.data)


def show_errors(word: str) -> ShownErrors:
    """Return the error or group with an id or key, also from the archive."""
    from remit.errorlog.causes import ErrorChoice, choose, group_errors  # noqa: PLC0415 - only with errors
    from remit.errorlog.log import find_archived, load_log  # noqa: PLC0415

    root = find_workspace()
    log = load_log(find_error_log(root), root=root)
    try:
        return ShownErrors(log.file, choose(log.errors, word), archived=False)
    except UsageError:
        old = find_archived(log.file, word)
        if old is None:
            raise
        return ShownErrors(log.file, ErrorChoice(group_errors([old])[0], (old,), whole=False), archived=True)


def mark_errors(word: str, status: FixStatus, *, note: str | None = None) -> MarkResult:
    """Set the status of an error, or of all errors of a cause."""
    from remit.errorlog import log  # noqa: PLC0415 - only with errors
    from remit.ledger.home import Home  # noqa: PLC0415

    root = find_workspace()
    now_ms = time.time_ns() // 1_000_000
    return log.mark_errors(Home(root), find_error_log(root), word, status, note=note, now_ms=now_ms)

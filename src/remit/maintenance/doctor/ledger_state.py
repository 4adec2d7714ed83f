"""The state of Remit's own files: the ledger, its locks, and leftovers of crashes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.maintenance.doctor.report import HealthCheck
from remit.storage.settings import SIGNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.maintenance.doctor.report import DoctorContext

_LEDGER_SECONDS = 10.0
_MAX_LOCKS = 200


def _check_workspace(patient: DoctorContext) -> Iterator[HealthCheck]:
    signs = [sign for sign in SIGNS if os.path.lexists(f"{patient.root}/{sign}")]
    if not signs or signs == [".git"]:
        yield HealthCheck("workspace", "warning", f"{patient.root} is not set up", "run: remit init")
    else:
        yield HealthCheck("workspace", "ok", f"{patient.root}, with {' and '.join(signs)}")
    if not os.access(patient.root, os.W_OK | os.X_OK):
        yield HealthCheck(
            "workspace", "problem", f"{patient.root} can't be written to", "check the folder's permissions"
        )


def _check_ledger(patient: DoctorContext) -> Iterator[HealthCheck]:
    from remit.ledger.home import Home
    from remit.ledger.integrity_check import examine, list_set_aside

    file = Home(patient.root).ledger_file
    found = examine(file, seconds=_LEDGER_SECONDS)
    if found is None:
        yield HealthCheck("ledger", "ok", "none yet; it is made when there is something to keep")
    elif found.fault:
        hint = "move it away: tasks and manifest are not in it, only the record of past delegations is lost"
        yield HealthCheck("ledger", "problem", f"'{file}' can't be used: {found.fault}", hint)
    elif found.is_newer:
        yield HealthCheck("ledger", "problem", f"'{file}' was written by a newer Remit", "update Remit")
    elif found.is_older:
        hint = "nothing to do: the next command keeps it as another file, and begins a new one"
        yield HealthCheck("ledger", "warning", f"'{file}' was written by an older Remit", hint)
        yield from _check_unfinished(patient, found.unfinished)
    else:
        part = "" if found.is_checked else f", not looked through within {_LEDGER_SECONDS:.0f} s"
        yield HealthCheck("ledger", "ok", f"whole, {found.size_bytes / 1024 / 1024:.1f} MB{part}")
        yield from _check_unfinished(patient, found.unfinished)
    for kept in list_set_aside(file):
        hint = "nothing reads it; remove it when you no longer need its record of past runs"
        yield HealthCheck("ledger", "ok", f"an older one is kept as '{kept}'", hint)


def _check_unfinished(patient: DoctorContext, unfinished: int) -> Iterator[HealthCheck]:
    from remit.ledger.home import TASKS
    from remit.storage.locks import find_lock_holder

    if unfinished and find_lock_holder(f"{patient.root}/.remit/locks/{TASKS}.lock") is None:
        told = f"{unfinished} {'change' if unfinished == 1 else 'changes'} of tasks stopped half-way"
        yield HealthCheck("unfinished", "warning", told, "nothing to do: the next task command finishes it")


def _check_locks(patient: DoctorContext) -> Iterator[HealthCheck]:
    """Who holds what now. A lock ends with its process, so one that stays is a process that hangs."""
    from remit.storage.locks import find_lock_holder
    from remit.storage.machine import is_alive

    folder = f"{patient.root}/.remit"
    names = sorted(os.listdir(f"{folder}/locks"))[:_MAX_LOCKS] if os.path.isdir(f"{folder}/locks") else []
    files = [f"{folder}/locks/{name}" for name in names]
    held = 0
    for file in (*files, f"{folder}/ledger.db.lock", f"{folder}/ledger.db.checkpoint"):
        pid = find_lock_holder(file)
        if pid is None:
            continue
        held += 1
        name = os.path.basename(file)
        if pid and not is_alive(pid):
            told = f"{name} is held by a process that {pid} has started and left behind"
            yield HealthCheck("locks", "warning", told, "find it with: fuser " + file)
        else:
            who = f"process {pid}" if pid else "a process that did not say which"
            yield HealthCheck("locks", "ok", f"{name} is held by {who} now", "")
    if not held:
        yield HealthCheck("locks", "ok", "none is held")


def _check_leftovers(patient: DoctorContext) -> Iterator[HealthCheck]:
    from remit.maintenance.gc import find_half_written

    failures: list[str] = []
    left = find_half_written(patient.root, patient.settings, failures)
    for failure in failures:
        told, _, hint = failure.rpartition("; ")
        yield HealthCheck("leftovers", "warning", told, hint)
    if left:
        told = f"{len(left)} {'file' if len(left) == 1 else 'files'} that a killed process has left"
        yield HealthCheck("leftovers", "warning", told, "run: remit gc")


LOOKS = (
    ("workspace", _check_workspace),
    ("ledger", _check_ledger),
    ("locks", _check_locks),
    ("leftovers", _check_leftovers),
)

"""Checks of Remit's own files in the workspace, and of git: the ledger, locks, leftovers of crashes, the repository."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.maintenance.doctor import HealthCheck
from remit.manifest.manifest_file import place_manifest
from remit.storage.settings import SIGNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.maintenance.doctor import DoctorContext

_LEDGER_SECONDS = 10.0
_MAX_LOCKS = 200
_OLD_LOCK_SECONDS = 600


def _check_workspace(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report whether the workspace is set up and writable."""
    signs = [sign for sign in SIGNS if os.path.lexists(f"{context.root}/{sign}")]
    if not signs or signs == [".git"]:
        yield HealthCheck("workspace", "warning", f"{context.root} is not set up", "run: remit init")
    else:
        yield HealthCheck("workspace", "ok", f"{context.root}, with {' and '.join(signs)}")
    if not os.access(context.root, os.W_OK | os.X_OK):
        hint = "check the folder's permissions"
        yield HealthCheck("workspace", "problem", f"{context.root} can't be written to", hint)


def _check_ledger(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report the integrity and version of the ledger, and an interrupted change of tasks."""
    from remit.ledger.home import TASKS, Home
    from remit.ledger.integrity_check import examine, list_set_aside
    from remit.storage.locks import find_lock_holder

    file = Home(context.root).ledger_file
    found = examine(file, seconds=_LEDGER_SECONDS)
    if found is None:
        yield HealthCheck("ledger", "ok", "none yet; the first run creates it")
    elif found.fault:
        hint = "move it away: this loses only the record of past runs; tasks and manifest are other files"
        yield HealthCheck("ledger", "problem", f"'{file}' can't be used: {found.fault}", hint)
    elif found.is_newer:
        yield HealthCheck("ledger", "problem", f"'{file}' was written by a newer Remit", "update Remit")
    elif found.is_older:
        hint = "nothing to do: the next command keeps it as another file and creates a new ledger"
        yield HealthCheck("ledger", "warning", f"'{file}' was written by an older Remit", hint)
    else:
        part = "" if found.is_checked else f", only partly checked within {_LEDGER_SECONDS:.0f} s"
        yield HealthCheck("ledger", "ok", f"intact, {found.size_bytes / 1024 / 1024:.1f} MB{part}")
    is_readable = found is not None and not found.fault and not found.is_newer
    unfinished = found.unfinished if found is not None and is_readable else 0
    if unfinished and find_lock_holder(f"{context.root}/.remit/locks/{TASKS}.lock") is None:
        message = f"{unfinished} {'change' if unfinished == 1 else 'changes'} of tasks interrupted"
        yield HealthCheck("unfinished", "warning", message, "nothing to do: the next task command finishes it")
    for kept in list_set_aside(file):
        hint = "nothing reads it; remove it when you no longer need its record of past runs"
        yield HealthCheck("ledger", "ok", f"an older one is kept as '{kept}'", hint)


def _check_locks(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report which process holds which lock. Locks end with their process, so a stale lock is a hang."""
    from remit.storage.locks import find_lock_holder
    from remit.storage.machine import is_alive

    folder = f"{context.root}/.remit"
    names = sorted(os.listdir(f"{folder}/locks"))[:_MAX_LOCKS] if os.path.isdir(f"{folder}/locks") else []
    files = [
        *(f"{folder}/locks/{name}" for name in names),
        f"{folder}/ledger.db.lock",
        f"{folder}/ledger.db.checkpoint",
    ]
    holders = {file: pid for file in files if (pid := find_lock_holder(file)) is not None}
    for file, pid in holders.items():
        name = os.path.basename(file)
        if pid and not is_alive(pid):
            message = f"{name} is locked by a child of process {pid}, which has ended"
            yield HealthCheck("locks", "warning", message, f"find the child with: fuser {file}")
        else:
            yield HealthCheck("locks", "ok", f"{name} is locked by {f'process {pid}' if pid else 'an unknown process'}")
    if not holders:
        yield HealthCheck("locks", "ok", "none")


def _check_leftovers(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report files that killed processes left half-written."""
    from remit.maintenance.gc import find_half_written

    failures: list[str] = []
    found = find_half_written(context.root, context.settings, failures)
    for failure in failures:
        message, _, hint = failure.rpartition("; ")
        yield HealthCheck("leftovers", "warning", message, hint)
    if found:
        message = f"{len(found)} {'file' if len(found) == 1 else 'files'} left by a killed process"
        yield HealthCheck("leftovers", "warning", message, "run: remit gc")


def _check_git(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report the version and branch, a lock that git left behind, and how git merges the manifest."""
    from remit.git.attributes import UNION, UNSPECIFIED, find_merge
    from remit.git.git_errors import GitRefused
    from remit.git.head import find_branch
    from remit.git.process import run
    from remit.git.repository import find_repository

    try:
        version = run("/", "--version").out.decode("utf-8", "replace").strip().removeprefix("git version ")
        repository = find_repository(context.root)
    except GitRefused as refused:
        hint = refused.diagnostic.hint
        yield HealthCheck("git", "warning", refused.diagnostic.message, f"{hint[:1].lower()}{hint[1:].rstrip('.')}")
        return
    yield HealthCheck("git", "ok", f"{version}, on {find_branch(context.root) or 'no branch'}")

    lock = f"{repository.own}/index.lock"
    try:
        age_seconds = time.time() - os.lstat(lock).st_mtime
    except OSError:
        age_seconds = 0.0
    if age_seconds > _OLD_LOCK_SECONDS:
        message = f"'{lock}' is {age_seconds / 60:.0f} minutes old and blocks every commit"
        yield HealthCheck("git lock", "problem", message, "if no git is running, remove it")

    manifest = place_manifest(context.root, context.settings)
    try:
        merge = find_merge(context.root, manifest)
    except RemitError as error:
        message = f"git can't say how it merges {manifest}: {error.message}"
        yield HealthCheck("merging", "warning", message, error.hint)
        return
    if merge == UNION:
        yield HealthCheck("merging", "ok", f"git keeps both sides of {manifest}")
    elif merge in (UNSPECIFIED, None):
        message = f"git isn't set to keep both sides of {manifest}, so two branches with new entries conflict"
        yield HealthCheck("merging", "warning", message, "run remit init, which adds merge=union to .gitattributes")
    else:
        message = f"git merges {manifest} as '{merge}', so two branches with new entries may conflict or lose one"
        yield HealthCheck("merging", "warning", message, "set merge=union for it in .gitattributes")


CHECKS = (
    ("workspace", _check_workspace),
    ("ledger", _check_ledger),
    ("locks", _check_locks),
    ("leftovers", _check_leftovers),
    ("git", _check_git),
)

"""The repository: git, locks that it left, and how the manifest is merged."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.maintenance.doctor.report import HealthCheck
from remit.manifest.places import place_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.maintenance.doctor.report import DoctorContext

_OLD_SECONDS = 600


def _check_git(patient: DoctorContext) -> Iterator[HealthCheck]:
    from remit.git.git_errors import GitRefused
    from remit.git.process import run
    from remit.git.repository import find_repository

    try:
        version = run("/", "--version").out.decode("utf-8", "replace").strip().removeprefix("git version ")
        repository = find_repository(patient.root)
    except GitRefused as refused:
        finding = refused.diagnostic
        yield HealthCheck(
            "git", "warning", finding.message, f"{finding.hint[:1].lower()}{finding.hint[1:].rstrip('.')}"
        )
        return
    from remit.git.head import find_branch

    yield HealthCheck("git", "ok", f"{version}, on {find_branch(patient.root) or 'no branch'}")
    yield from _check_lock(f"{repository.own}/index.lock")
    yield from _check_merging(patient)


def _check_lock(file: str) -> Iterator[HealthCheck]:
    """A lock that git has left behind stops every commit."""
    try:
        age_seconds = time.time() - os.lstat(file).st_mtime
    except OSError:
        return
    if age_seconds > _OLD_SECONDS:
        told = f"'{file}' is {age_seconds / 60:.0f} minutes old: git will not commit"
        yield HealthCheck("git lock", "problem", told, "if no git is running, remove it")


def _check_merging(patient: DoctorContext) -> Iterator[HealthCheck]:
    from remit.git.attributes import UNION, UNSPECIFIED, find_merge

    manifest = place_manifest(patient.root, patient.settings)
    try:
        merge = find_merge(patient.root, manifest)
    except RemitError as error:
        told = f"git does not say how it merges {manifest}: {error.message}"
        yield HealthCheck("merging", "warning", told, error.hint)
        return
    if merge == UNION:
        yield HealthCheck("merging", "ok", f"git keeps both sides of {manifest}")
    elif merge in (UNSPECIFIED, None):
        told = f"git is not told to keep both sides of {manifest}, so two branches with new entries conflict"
        yield HealthCheck("merging", "warning", told, "remit init adds merge=union to .gitattributes")
    else:
        told = f"git merges {manifest} as '{merge}', so two branches with new entries may conflict or lose one"
        yield HealthCheck("merging", "warning", told, "say merge=union for it in .gitattributes")


LOOKS = (("git", _check_git),)

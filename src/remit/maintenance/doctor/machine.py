"""The machine: Python, SQLite, the disk, confinement and the harnesses."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from remit.harnesses import opencode
from remit.hooks.tried_versions import TRIED, UNPROTECTED_HINT, describe_unprotected, read_version
from remit.maintenance.doctor.report import HealthCheck
from remit.storage.machine import find_mount, find_program, measure_free_space, run_program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from remit.maintenance.doctor.report import DoctorContext

HARNESSES = ("claude", "opencode", "codex", "gemini")
NO_HARNESS = HealthCheck(
    "harness", "warning", f"none of {', '.join(HARNESSES)} is on the path", "install one, to have work done by it"
)
_PROOFS = {"gemini": 'remit run "Say hello" --runner gemini'}
"""What shows that a release works, if Remit has no hooks in it to check."""
_PROGRAM_SECONDS = 6.0
_OLDEST_PYTHON = (3, 11)
_SOUND_SQLITE = (3, 51, 3)
_MB = 1024 * 1024
_LITTLE_BYTES, _TOO_LITTLE_BYTES = 500 * _MB, 20 * _MB
_LITTLE_FILES = 1000
_MAX_VERSION_CHARS = 60


def _check_python(patient: DoctorContext) -> Iterator[HealthCheck]:
    del patient
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        yield HealthCheck("python", "problem", f"{version} is too old", "use Python 3.11 or newer")
    else:
        yield HealthCheck("python", "ok", version)


def _check_sqlite(patient: DoctorContext) -> Iterator[HealthCheck]:
    from remit.ledger.integrity_check import has_full_text, read_version

    del patient
    numbers = read_version()
    version = ".".join(map(str, numbers))
    if not has_full_text():
        hint = "use a Python whose SQLite has FTS5"
        yield HealthCheck("sqlite", "problem", f"{version} cannot search in texts: FTS5 is missing", hint)
    if numbers < _SOUND_SQLITE:
        # One process at a time makes checkpoints, so that the two of them that it takes do not meet.
        told = f"{version} can, very rarely, spoil a file that several write to; Remit avoids the usual cause"
        yield HealthCheck("sqlite", "warning", told, "use a Python with SQLite 3.51.3 or newer, when you can")
    else:
        yield HealthCheck("sqlite", "ok", f"{version}, with full-text search")


def _check_disk(patient: DoctorContext) -> Iterator[HealthCheck]:
    mount, room = find_mount(patient.root), measure_free_space(patient.root)
    free = f"{_show_bytes(room.free_bytes)} free"
    kind = mount.kind if mount else "file system not known"
    if mount is not None and mount.is_network:
        told = f"{kind} is a network file system: locks and the ledger do not hold there when two machines work at once"
        yield HealthCheck("disk", "warning", told, "keep the workspace on a disk of this machine")
    elif mount is not None and mount.is_fleeting:
        yield HealthCheck("disk", "warning", f"{kind} is gone when the machine stops", "keep the workspace on a disk")
    if room.free_bytes < _TOO_LITTLE_BYTES:
        yield HealthCheck("disk", "problem", f"{kind}, only {free}", "make room, before something can't be written")
    elif room.free_bytes < _LITTLE_BYTES or (room.free_files is not None and room.free_files < _LITTLE_FILES):
        files = "" if room.free_files is None else f" for {room.free_files:,} files"
        yield HealthCheck("disk", "warning", f"{kind}, only {free}{files}", "make room")
    else:
        yield HealthCheck("disk", "ok", f"{kind}, {free}")


def _show_bytes(size: int) -> str:
    return f"{size / 1024 / _MB:.1f} GB" if size >= 1024 * _MB else f"{size / _MB:.1f} MB"


def _check_namespaces(patient: DoctorContext) -> Iterator[HealthCheck]:
    yield _try_out(
        "namespaces", "unshare", ("-Ur", "true"), patient,
        fine="a user may make namespaces of their own",
        missing="an agent's descendants are found by walking the tree of processes, not ended by their namespace",
        hint="install util-linux, or allow user namespaces on this machine",
    )  # fmt: skip


def _try_out(
    name: str, program: str, arguments: tuple[str, ...], patient: DoctorContext, *, fine: str, missing: str, hint: str
) -> HealthCheck:
    found = find_program(program, root=patient.root)
    if found is None or found.is_foreign:
        return HealthCheck(name, "warning", f"{program} is not installed: {missing}", hint)
    told = run_program([found.file, *arguments], seconds=_PROGRAM_SECONDS)
    if told.code == 0:
        return HealthCheck(name, "ok", fine)
    why = "gives no answer" if told.code is None else f"says: {_cut(told.text)}" if told.text.strip() else "fails"
    return HealthCheck(name, "warning", f"{program} {why}; {missing}", hint)


def make_harness_look(name: str) -> Callable[[DoctorContext], Iterable[HealthCheck]]:
    """The look at one harness: where it is, and which version. None is missed that is not there."""

    def look(patient: DoctorContext) -> Iterator[HealthCheck]:
        """Ask the program for its version."""
        found = find_program(name, root=patient.root)
        if found is None:
            return
        if found.is_foreign:
            told = f"{name} at {found.file} lies in the workspace, and was not asked for its version"
            yield HealthCheck("harness", "warning", told, "install it elsewhere")
            return
        answer = run_program([found.file, "--version"], seconds=_PROGRAM_SECONDS)
        if answer.code == 0:
            version = read_version(answer.text)
            where = f"{name} {version or '(version unknown)'} at {found.file}"
            if name == "opencode" and opencode.loads_plugin(version) is False:
                yield HealthCheck(
                    "harness", "warning", f"{describe_unprotected(version)} ({found.file})", UNPROTECTED_HINT
                )
            elif version in TRIED[name]:
                yield HealthCheck("harness", "ok", where)
            else:
                hint = f"run: {_PROOFS.get(name, f'remit hooks check {name}')}"
                untried = f"{where}: not tried with this Remit (tried: {', '.join(TRIED[name])})"
                yield HealthCheck("harness", "warning", untried, hint)
        else:
            why = f"no answer in {_PROGRAM_SECONDS:.0f} s" if answer.code is None else f"it ends with {answer.code}"
            yield HealthCheck(
                "harness", "warning", f"{name} at {found.file}: {why}", f"try it by hand: {name} --version"
            )

    return look


def _cut(text: str) -> str:
    """The first line that says something, and is no warning: Codex tells its version after one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = next((line for line in lines if not line.startswith("WARNING")), "".join(lines[:1]))
    return line if len(line) <= _MAX_VERSION_CHARS else f"{line[:_MAX_VERSION_CHARS]}…"


LOOKS = (
    ("python", _check_python),
    ("sqlite", _check_sqlite),
    ("disk", _check_disk),
    ("namespaces", _check_namespaces),
)

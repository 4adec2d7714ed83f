"""Checks of the machine: Python, SQLite, the disk, namespaces, and what the kernel can confine."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from remit.confine import find_level
from remit.confine.level import FULL
from remit.maintenance.doctor import HealthCheck
from remit.storage.machine import find_mount, find_program, measure_free_space, run_program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.maintenance.doctor import DoctorContext

PROGRAM_SECONDS = 6.0
"""How long a program may take to answer."""
_OLDEST_PYTHON = (3, 11)
_SOUND_SQLITE = (3, 51, 3)
_MB = 1024 * 1024
_LOW_BYTES, _TOO_LOW_BYTES = 500 * _MB, 20 * _MB
_LOW_FILES = 1000
_MODES = {
    "off": "only runs with --confine are confined",
    "auto": "agents whose file has permissions are confined",
    "require": "all agents are confined, and none runs unconfined",
}
_UNABLE = {
    "off": "remit run --confine is refused",
    "auto": "agents whose file has permissions run unconfined, and their results say so",
    "require": "no agent runs",
}
_AGENT_SECONDS = 5.0
"""Each pattern of a permission is compared with many files; after this time the remaining agents aren't checked."""
_MAX_SENTENCES = 5


def _check_python(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report the version of Python."""
    del context
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        yield HealthCheck("python", "problem", f"{version} is too old", "use Python 3.11 or newer")
    else:
        yield HealthCheck("python", "ok", version)


def _check_sqlite(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report the version of SQLite, a known bug of old versions, and whether it has full-text search."""
    from remit.ledger.integrity_check import has_full_text, read_version

    del context
    numbers = read_version()
    version = ".".join(map(str, numbers))
    if not has_full_text():
        hint = "use a Python whose SQLite has FTS5"
        yield HealthCheck("sqlite", "problem", f"{version} has no full-text search: FTS5 is missing", hint)
    if numbers < _SOUND_SQLITE:
        # The bug needs two checkpoints at once. In Remit only one process at a time makes a checkpoint.
        message = f"{version} can, very rarely, corrupt a file with several writers; Remit avoids the usual cause"
        yield HealthCheck("sqlite", "warning", message, "use a Python with SQLite 3.51.3 or newer")
    else:
        yield HealthCheck("sqlite", "ok", f"{version}, with full-text search")


def _check_disk(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report the file system of the workspace and its free space."""
    mount, space = find_mount(context.root), measure_free_space(context.root)
    size_mb = space.free_bytes / _MB
    free = f"{size_mb / 1024:.1f} GB free" if size_mb >= 1024 else f"{size_mb:.1f} MB free"  # noqa: PLR2004 - a GB
    kind = mount.kind if mount else "unknown file system"
    if mount is not None and mount.is_network:
        message = f"{kind} is a network file system: locks and the ledger aren't safe there with two machines"
        yield HealthCheck("disk", "warning", message, "keep the workspace on a disk of this machine")
    elif mount is not None and mount.is_fleeting:
        message = f"{kind} is lost when the machine stops"
        yield HealthCheck("disk", "warning", message, "keep the workspace on a disk")
    if space.free_bytes < _TOO_LOW_BYTES:
        yield HealthCheck("disk", "problem", f"{kind}, only {free}", "free some space before a write fails")
    elif space.free_bytes < _LOW_BYTES or (space.free_files is not None and space.free_files < _LOW_FILES):
        files = "" if space.free_files is None else f" for {space.free_files:,} files"
        yield HealthCheck("disk", "warning", f"{kind}, only {free}{files}", "free some space")
    else:
        yield HealthCheck("disk", "ok", f"{kind}, {free}")


def _check_namespaces(context: DoctorContext) -> Iterator[HealthCheck]:
    """Try whether the user may create a namespace, with which the kernel ends all descendants of an agent."""
    missing = "Remit finds an agent's descendants by walking the process tree instead of ending their namespace"
    hint = "install util-linux, or allow user namespaces on this machine"
    found = find_program("unshare", root=context.root)
    if found is None or found.is_foreign:
        yield HealthCheck("namespaces", "warning", f"unshare is not installed: {missing}", hint)
        return
    answer = run_program([found.file, "-Ur", "true"], seconds=PROGRAM_SECONDS)
    if answer.code == 0:
        yield HealthCheck("namespaces", "ok", "users may create namespaces")
        return
    line = next((line.strip() for line in answer.text.splitlines() if line.strip()), "")
    reason = "doesn't answer" if answer.code is None else f"says: {line[:60]}" if line else "fails"
    yield HealthCheck("namespaces", "warning", f"unshare {reason}; {missing}", hint)


def _check_confinement(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report what the kernel can enforce and can't stop, and what `[confine]` means on this machine."""
    level, settings = find_level(), context.settings.confine
    message, reasons = (
        f"level {level.name}, which doesn't stop: {'; '.join(level.list_open())}",
        "; ".join(level.reasons),
    )
    if level.name == FULL:
        yield HealthCheck("confine", "ok", message)
    elif level.has_files:
        hint = "use Linux 6.12 or newer, with Landlock, to limit signals and ports too"
        yield HealthCheck("confine", "warning", f"{message} ({reasons})", hint)
    else:
        yield HealthCheck("confine", "warning", f"{message} ({reasons})", "allow user namespaces on this machine")
    message = f"mode {settings.mode}: {_MODES[settings.mode]}"
    if not level.has_files:
        message = f"mode {settings.mode}: this machine can't confine agents, so {_UNABLE[settings.mode]}"
        if settings.mode == "require":
            hint = 'allow user namespaces on this machine, or set [confine] mode = "auto"'
            yield HealthCheck("confine", "problem", message, hint)
        else:
            yield HealthCheck("confine", "ok", message)
    elif not {"none": level.has_no_network, "model": level.has_ports}.get(settings.network, True):
        message = f"network {settings.network}: this machine can't limit it, so no confined agent runs"
        yield HealthCheck("confine", "problem", message, 'set [confine] network = "all"')
    else:
        judge = "off" if not settings.judge else "on" if level.has_judge else "not available on this machine"
        yield HealthCheck("confine", "ok", f"{message}; network {settings.network}; judge {judge}")


def _check_permissions(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report which permissions of each agent the kernel enforces differently."""
    from remit.policy import PathContext, Permissions
    from remit.policy.confinement_profile import make_profile
    from remit.runs.agent_lookup import describe_permissions, list_agents

    if not find_level().has_files:
        return
    found = list_agents(context.root, exclude=context.settings.lint.exclude)
    definitions = [agent.definition for agent in found if agent.definition is not None]
    agents = [each for each in definitions if each.allow or each.deny]
    paths = PathContext(context.root, context.root, os.environ.get("HOME", ""), os.path.realpath)
    deadline = time.monotonic() + _AGENT_SECONDS
    for number, agent in enumerate(agents):
        if time.monotonic() > deadline:
            rest = len(agents) - number
            message = f"{rest} more agents with permissions weren't checked: their patterns match many files"
            yield HealthCheck("permissions", "ok", message)
            return
        layer = Permissions(**describe_permissions(agent))
        _, sentences = make_profile((layer,), paths, write=context.settings.confine.write)
        if sentences:
            more = f"; and {len(sentences) - _MAX_SENTENCES} more" if len(sentences) > _MAX_SENTENCES else ""
            message = f"{agent.name}, enforced differently by the kernel: {'; '.join(sentences[:_MAX_SENTENCES])}{more}"
            yield HealthCheck("permissions", "ok", message)


CHECKS = (
    ("python", _check_python),
    ("sqlite", _check_sqlite),
    ("disk", _check_disk),
    ("namespaces", _check_namespaces),
    ("confine", _check_confinement),
    ("permissions", _check_permissions),
)

"""Confinement: what the kernel of this machine enforces, what `[confine]` asks for, and what permissions become."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from remit.confine import find_level
from remit.confine.level import FULL
from remit.maintenance.doctor.report import HealthCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.config import ConfineSettings
    from remit.confine import Level
    from remit.maintenance.doctor.report import DoctorContext

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
"""A permission's pattern is compared with many files; after this time the agents that are left aren't checked."""
_MAX_SENTENCES = 5


def _check_confinement(patient: DoctorContext) -> Iterator[HealthCheck]:
    """Report what the kernel can enforce, what that doesn't stop, and what the settings make of it."""
    level, settings = find_level(), patient.settings.confine
    said = f"level {level.name}, which doesn't stop: {'; '.join(level.list_open())}"
    why = "; ".join(level.reasons)
    if level.name == FULL:
        yield HealthCheck("confine", "ok", said)
    elif level.has_files:
        hint = "use Linux 6.12 or newer, with Landlock, to limit signals and ports too"
        yield HealthCheck("confine", "warning", f"{said} ({why})", hint)
    else:
        yield HealthCheck("confine", "warning", f"{said} ({why})", "allow user namespaces on this machine")
    yield _check_settings(settings, level)


def _check_settings(settings: ConfineSettings, level: Level) -> HealthCheck:
    """Report what `[confine]` means on this machine; it's a problem if it keeps agents from running."""
    said = f"mode {settings.mode}: {_MODES[settings.mode]}"
    if not level.has_files:
        is_required = settings.mode == "require"
        said = f"mode {settings.mode}: this machine can't confine agents, so {_UNABLE[settings.mode]}"
        hint = 'allow user namespaces on this machine, or set [confine] mode = "auto"'
        return HealthCheck("confine", "problem" if is_required else "ok", said, hint if is_required else "")
    if not {"none": level.has_no_network, "model": level.has_ports}.get(settings.network, True):
        said = f"network {settings.network}: this machine can't limit it, so no confined agent runs"
        return HealthCheck("confine", "problem", said, 'set [confine] network = "all"')
    judge = "off" if not settings.judge else "on" if level.has_judge else "not available on this machine"
    return HealthCheck("confine", "ok", f"{said}; network {settings.network}; judge {judge}")


def _check_permissions(patient: DoctorContext) -> Iterator[HealthCheck]:
    """Report which permissions of each agent the kernel enforces differently."""
    from remit.policy import PathContext, Permissions
    from remit.policy.confinement_profile import make_profile
    from remit.runs.agent_lookup import describe_permissions, list_agents

    if not find_level().has_files:
        return
    found = list_agents(patient.root, exclude=patient.settings.lint.exclude)
    definitions = [agent.definition for agent in found if agent.definition is not None]
    agents = [each for each in definitions if each.allow or each.deny]
    ground = PathContext(patient.root, patient.root, os.environ.get("HOME", ""), os.path.realpath)
    last = time.monotonic() + _AGENT_SECONDS
    for number, agent in enumerate(agents):
        if time.monotonic() > last:
            told = (
                f"{len(agents) - number} more agents with permissions weren't checked: their patterns match many files"
            )
            yield HealthCheck("permissions", "ok", told)
            return
        layer = Permissions(**describe_permissions(agent))
        _, sentences = make_profile((layer,), ground, write=patient.settings.confine.write)
        if sentences:
            more = f"; and {len(sentences) - _MAX_SENTENCES} more" if len(sentences) > _MAX_SENTENCES else ""
            told = f"{agent.name}, enforced differently by the kernel: {'; '.join(sentences[:_MAX_SENTENCES])}{more}"
            yield HealthCheck("permissions", "ok", told)


LOOKS = (("confine", _check_confinement), ("permissions", _check_permissions))

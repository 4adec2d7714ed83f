"""Settings that name a command, an agent or a runner that does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.commands import get_command
from remit.errors import ConfigError
from remit.maintenance.doctor.report import HealthCheck
from remit.spelling import did_you_mean, find_similar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.config.runs import RunSettings
    from remit.maintenance.doctor.report import DoctorContext


def check_settings(patient: DoctorContext) -> Iterator[HealthCheck]:
    """Check the settings for commands, runners and agents that don't exist."""
    found = [
        *_check_commands(patient.settings.runs),
        *_check_runners(patient.settings.runs),
        *_check_agents(patient),
    ]
    yield from found or [HealthCheck("settings", "ok", "can be followed")]


def _check_commands(settings: RunSettings) -> Iterator[HealthCheck]:
    from remit.runs.tasks.task_commands import COMMANDS, make_command

    for name, given in settings.task.items():
        if name not in COMMANDS and get_command(f"task {name}") is not None:
            told = f"[task.{name}] is never used: 'remit task {name}' is another command"
            yield HealthCheck("settings", "problem", told, "give it another name")
            continue
        try:
            make_command(name, given)
        except ConfigError as error:
            yield HealthCheck("settings", "problem", error.message, error.hint)
    known = (*COMMANDS, *(name for name in settings.task if name not in COMMANDS))
    for name in settings.route:
        if name not in known:
            yield HealthCheck(
                "settings", "problem", f"[route.{name}] is the route of no command", did_you_mean(name, known)
            )


def _check_runners(settings: RunSettings) -> Iterator[HealthCheck]:
    from remit.runners.registry import RUNNERS

    own = {name: table for name, table in settings.runners.items() if name not in RUNNERS}
    for name, table in own.items():
        if table.command is None and table.entry is None:
            hint = "say one, or use the name of a harness"
            yield HealthCheck("settings", "problem", f"[runners.{name}] says neither command nor entry", hint)
    named = {"delegate.runner": settings.delegate.runner}
    named |= {f"agents.{name}.runner": table.runner for name, table in settings.agents.items()}
    for place, runner in named.items():
        if runner is not None and runner not in RUNNERS and runner not in own:
            hint = did_you_mean(runner, (*RUNNERS, *own))
            yield HealthCheck("settings", "problem", f"{place} is '{runner}', and there is no such runner", hint)


def _check_agents(patient: DoctorContext) -> Iterator[HealthCheck]:
    from remit.runs.agent_lookup import list_agents

    settings = patient.settings.runs
    if not (settings.route or settings.agents):
        return
    known = sorted(agent.name for agent in list_agents(patient.root, exclude=patient.settings.lint.exclude))
    for command, route in settings.route.items():
        for language, name in route.items():
            if name not in known:
                told = f"[route.{command}] names the agent '{name}' as {language}, and no file defines it"
                yield HealthCheck("settings", "problem", told, _suggest_name(name, known))
    for name in settings.agents:
        if name not in known:  # a function or a command can go by that name
            told = f"[agents.{name}] is about an agent that no file defines"
            yield HealthCheck("settings", "warning", told, _suggest_name(name, known))


def _suggest_name(name: str, known: list[str]) -> str:
    meant = find_similar(name, known)
    return "make one with remit agent new, or take the name out" if meant is None else f"did you mean '{meant}'?"

"""The check of settings that name a command, an agent or a runner that doesn't exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.commands import get_command
from remit.errors import ConfigError
from remit.maintenance.doctor import HealthCheck
from remit.spelling import did_you_mean, find_similar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.config.runs import RunSettings
    from remit.maintenance.doctor import DoctorContext


def check_settings(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report commands, runners and agents of the settings that don't exist."""
    settings = context.settings.runs
    found = [*_check_commands(settings), *_check_runners(settings), *_check_agents(context)]
    yield from found or [HealthCheck("settings", "ok", "valid")]


def _check_commands(settings: RunSettings) -> Iterator[HealthCheck]:
    from remit.runs.tasks.task_commands import COMMANDS, make_command

    for name, table in settings.task.items():
        if name not in COMMANDS and get_command(f"task {name}") is not None:
            message = f"[task.{name}] is never used: 'remit task {name}' is another command"
            yield HealthCheck("settings", "problem", message, "rename it")
            continue
        try:
            make_command(name, table)
        except ConfigError as error:
            yield HealthCheck("settings", "problem", error.message, error.hint)
    known = (*COMMANDS, *(name for name in settings.task if name not in COMMANDS))
    for name in settings.route:
        if name not in known:
            message = f"[route.{name}] is for a command that doesn't exist"
            yield HealthCheck("settings", "problem", message, did_you_mean(name, known))


def _check_runners(settings: RunSettings) -> Iterator[HealthCheck]:
    from remit.runners.registry import RUNNERS

    own = {name: table for name, table in settings.runners.items() if name not in RUNNERS}
    for name, table in own.items():
        if table.command is None and table.entry is None:
            hint = "set one of them, or use the name of a harness"
            yield HealthCheck("settings", "problem", f"[runners.{name}] has neither command nor entry", hint)
    named = {"delegate.runner": settings.delegate.runner}
    named |= {f"agents.{name}.runner": table.runner for name, table in settings.agents.items()}
    for place, runner in named.items():
        if runner is not None and runner not in RUNNERS and runner not in own:
            hint = did_you_mean(runner, (*RUNNERS, *own))
            yield HealthCheck("settings", "problem", f"{place} is '{runner}', which is not a runner", hint)


def _check_agents(context: DoctorContext) -> Iterator[HealthCheck]:
    from remit.runs.agent_lookup import list_agents

    settings = context.settings.runs
    if not (settings.route or settings.agents):
        return
    known = sorted(agent.name for agent in list_agents(context.root, exclude=context.settings.lint.exclude))
    for command, route in settings.route.items():
        for language, name in route.items():
            if name not in known:
                message = f"[route.{command}] names the agent '{name}' for {language}, which no file defines"
                yield HealthCheck("settings", "problem", message, _suggest_agent(name, known))
    for name in settings.agents:
        if name not in known:  # only a warning: a function or a command can have this name
            message = f"[agents.{name}] is for an agent that no file defines"
            yield HealthCheck("settings", "warning", message, _suggest_agent(name, known))


def _suggest_agent(name: str, known: list[str]) -> str:
    similar = find_similar(name, known)
    return "create it with remit agent new, or remove the name" if similar is None else f"did you mean '{similar}'?"

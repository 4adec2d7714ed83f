"""The check of settings that name something that doesn't exist: a command, an agent, a runner, an acceptance check."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from remit.commands import get_command
from remit.errors import ConfigError
from remit.maintenance.doctor import HealthCheck
from remit.spelling import did_you_mean, find_similar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.config.runs import RunSettings
    from remit.maintenance.doctor import DoctorContext

_SHELL_SECONDS = 5


def check_settings(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report commands, runners and agents of the settings that don't exist."""
    settings = context.settings.runs
    found = [*_check_commands(settings), *_check_runners(settings), *_check_agents(context)]
    yield from found or [HealthCheck("settings", "ok", "valid")]
    yield from _check_acceptance(context)


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


def _check_acceptance(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report acceptance checks that can't run, and names of checks that don't exist. Another row is about trust."""
    checks, runs = context.settings.checks, context.settings.runs
    named = {f"[task.{name}]": table.checks or () for name, table in runs.task.items()}
    named |= {f"[agents.{name}]": table.checks or () for name, table in runs.agents.items()}
    found = [
        HealthCheck("checks", "problem", f"{place} names the check '{each}', which doesn't exist",
                    did_you_mean(each, tuple(checks)) if checks else f"add [checks.{each}], or remove the name")
        for place, names in named.items()
        for each in names
        if each not in checks
    ]  # fmt: skip
    for name, check in checks.items():
        folder = os.path.join(context.root, check.cwd or "")
        program = _find_program(check.run)
        if not os.path.isdir(folder):
            message = f"the check '{name}' runs in the folder '{check.cwd}', which doesn't exist"
            found.append(HealthCheck("checks", "problem", message, "create it, or correct cwd"))
        elif program and not _is_there(program, folder):
            message = f"the check '{name}' needs the program '{program}', which isn't installed"
            hint = "install it; until then, the result of every run with this check is partial"
            found.append(HealthCheck("checks", "problem", message, hint))
    if checks:
        yield from found or [HealthCheck("checks", "ok", ", ".join(checks))]
    else:
        yield from found


def _find_program(command: str) -> str:
    """Return the first word of a command if it is the plain name of a program; otherwise, only a shell can tell."""
    word = command.split(maxsplit=1)[0] if command.split() else ""
    return word if word and all(char.isalnum() or char in "._+-/" for char in word) else ""


def _is_there(program: str, folder: str) -> bool:
    """Return whether the shell of checks finds a program, or knows the word itself."""
    asked = ("/bin/sh", "-c", 'command -v -- "$1"', "sh", program)
    try:
        done = subprocess.run(asked, cwd=folder, capture_output=True, check=False, timeout=_SHELL_SECONDS)  # noqa: S603 - a word
    except (OSError, subprocess.SubprocessError):
        return True  # not known
    return done.returncode == 0


def _suggest_agent(name: str, known: list[str]) -> str:
    similar = find_similar(name, known)
    return "create it with remit agent new, or remove the name" if similar is None else f"did you mean '{similar}'?"

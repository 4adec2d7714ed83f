"""Hooks: what remit hooks install has put into a harness's settings, and whether it still leads to this Remit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.harnesses import claude
from remit.hooks.install import (
    CODEX,
    LOCAL,
    PLUGIN,
    SHARED,
    find_plugin,
    find_plugin_words,
    find_unprotected,
    list_own_hooks,
    load_hooks,
    render_command,
    render_plugin,
    render_trust,
)
from remit.hooks.tried_versions import UNPROTECTED_HINT, describe_unprotected
from remit.maintenance.doctor.report import HealthCheck
from remit.storage.machine import find_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.hooks.settings_files import Hook
    from remit.ledger.home import Home
    from remit.maintenance.doctor.report import DoctorContext

_NAME, _COMMANDS = "hooks", "commands"


def _check_hooks(patient: DoctorContext) -> Iterator[HealthCheck]:
    """A row for each file with Remit's hooks; none if nothing was installed."""
    from remit.ledger.home import Home

    home = Home(patient.root)
    yield from _check_settings(home, "claude", LOCAL)
    yield from _check_settings(home, "claude", SHARED)
    yield from _check_twice(home)
    yield from _check_settings(home, "codex", CODEX)
    yield from _check_trust(home)
    yield from _check_opencode(home)
    yield from _check_commands(home)


def _check_commands(home: Home) -> Iterator[HealthCheck]:
    """Whether Codex and opencode find the shell by which the kernel limits the commands of their subagents."""
    from remit.hooks.command_shell import find_outdated
    from remit.hooks.settings_files import is_remembered

    with_hooks = {"codex": bool(list_own_hooks(home, CODEX)), "opencode": is_remembered(home, PLUGIN)}
    names = [name for name, has_hooks in with_hooks.items() if has_hooks]
    outdated = find_outdated(home.root, os.environ) if names else ""
    if outdated:
        told = f"'{outdated}' isn't what this Remit installs, so the kernel may not limit the commands of subagents"
        yield HealthCheck(_NAME, "warning", told, f"run remit hooks install {names[0]} again")


def _check_settings(home: Home, harness: str, path: str) -> Iterator[HealthCheck]:
    from remit.hooks.settings_files import split_command

    found = list_own_hooks(home, path)
    if not found:
        yield from _check_unreadable(home, harness, path)
        return
    lines = {tuple(words) for hook in found if (words := split_command(hook.command)) is not None}
    troubles = [trouble for words in sorted(lines) for trouble in _check_words(home, harness, path, words)]
    yield from troubles
    if not troubles:
        yield from _compare(harness, path, found, shared=("remit", "hook", harness) in lines)


def _check_unreadable(home: Home, harness: str, path: str) -> Iterator[HealthCheck]:
    """A row for a file with Remit's hooks that can't be read: the harness can't read it, either."""
    from remit.hooks.settings_files import find_variable, is_own_shell, is_remembered, load_values

    if not is_remembered(home, path):
        return
    hint = f"run remit hooks install {harness}, or remit hooks uninstall {harness}"
    try:
        values = load_values(home.root, path)
        if is_own_shell(claude.SHELL_VARIABLE, find_variable(values, claude.SHELL_VARIABLE)):
            return  # with --shared, the hooks are in the other file
        yield HealthCheck(_NAME, "warning", f"{path} has none of the hooks that were installed", hint)
    except RemitError as error:
        yield HealthCheck(_NAME, "problem", error.message, error.hint)


def _check_words(home: Home, harness: str, path: str, words: Sequence[str]) -> Iterator[HealthCheck]:
    """Whether a command line leads to a program, and to the one of this Remit."""
    again = f"run remit hooks install {harness} again"
    if tuple(words[:-1]) == ("remit", "hook"):
        program = find_program("remit", root=home.root)
        if program is None or program.is_foreign:
            told = f"{path} calls remit, which isn't on the PATH: the tools of agents are refused"
            yield HealthCheck(_NAME, "problem", told, "add remit to the PATH, or install the hooks without --shared")
        return
    gone = [word for word in (words[0], words[-2]) if not os.path.isfile(word)]
    if gone:
        yield HealthCheck(
            _NAME, "problem", f"{path} calls '{gone[0]}', which doesn't exist: the tools of agents are refused", again
        )
    elif words[-2] != render_command(harness, shared=False)[-2]:
        yield HealthCheck(_NAME, "warning", f"{path} calls another Remit, at '{words[-2]}'", again)
    elif words[-1] != harness:
        yield HealthCheck(_NAME, "problem", f"{path} calls Remit as {words[-1]}, and is read by {harness}", again)


def _compare(harness: str, path: str, found: Sequence[Hook], *, shared: bool) -> Iterator[HealthCheck]:
    """Whether the hooks are those that this version installs."""
    wanted = {(hook.event, hook.matcher) for hook in load_hooks(harness, shared=shared)}
    there = [(hook.event, hook.matcher) for hook in found]
    missing = ", ".join(sorted(event for event, _ in wanted.difference(there)))
    if {*there} != wanted or len(there) != len(wanted):
        told = f"{path} has other hooks than this Remit installs{f', without {missing}' if missing else ''}"
        yield HealthCheck(_NAME, "warning", told, f"run remit hooks install {harness} again")
    else:
        yield HealthCheck(_NAME, "ok", f"{harness}: {len(there)} events in {path}")


def _check_twice(home: Home) -> Iterator[HealthCheck]:
    places = [path for path in (LOCAL, SHARED) if list_own_hooks(home, path)]
    if not places:
        return
    plugin = find_plugin(home)
    if plugin:
        told = f"Claude Code has Remit's hooks twice: in {places[0]}, and by the plugin that '{plugin}' enables"
        yield HealthCheck(_NAME, "warning", told, "disable the plugin, or run remit hooks uninstall claude")
    if len(places) > 1:
        told = f"Claude Code has Remit's hooks twice: in {LOCAL} and in {SHARED}"
        yield HealthCheck(_NAME, "warning", told, "run remit hooks install claude, which keeps those in the second")


def _check_trust(home: Home) -> Iterator[HealthCheck]:
    found = list_own_hooks(home, CODEX)
    if not found:
        return
    from remit.hooks.codex_trust import load_trust

    trust = load_trust(home.root)
    missing = [hook.event for hook in found if not trust.covers(hook.event, home.root)]
    if not trust.folders:
        yield HealthCheck(
            _NAME, "warning", "Codex skips the hooks: it doesn't trust this folder", render_trust(home.root)
        )
    elif missing:
        told = f"Codex skips hooks that you haven't trusted: {', '.join(missing)}"
        yield HealthCheck(_NAME, "warning", told, render_trust(home.root))


def _check_opencode(home: Home) -> Iterator[HealthCheck]:
    from remit.hooks.settings_files import is_stamped, load_file, stamp

    data = load_file(home.root, PLUGIN)
    words = find_plugin_words(data or b"")
    if data is None or not words:
        return
    troubles = [*_check_words(home, "opencode", PLUGIN, words)]
    version = find_unprotected(home.root)
    if version:
        troubles.append(HealthCheck(_NAME, "problem", describe_unprotected(version), UNPROTECTED_HINT))
    yield from troubles
    shared = words == ("remit", "hook", "opencode")
    if not is_stamped(data):
        yield HealthCheck(
            _NAME,
            "warning",
            f"{PLUGIN} was changed since it was installed",
            "move it away, then run remit hooks install opencode",
        )
    elif not troubles and data != stamp(render_plugin(shared=shared)):
        told = f"{PLUGIN} is from another version of Remit"
        yield HealthCheck(_NAME, "warning", told, "run remit hooks install opencode again")
    elif not troubles:
        yield HealthCheck(_NAME, "ok", f"opencode: the plugin at {PLUGIN}")


def _check_shell(patient: DoctorContext) -> Iterator[HealthCheck]:
    """Whether Claude Code starts Remit's shell for commands, so that the kernel can limit those of subagents."""
    from remit.hooks.command_shell import find_outdated
    from remit.hooks.settings_files import find_variable, is_own_shell, load_values
    from remit.ledger.home import Home

    home = Home(patient.root)
    plugin = find_plugin(home)
    if not plugin and not any(list_own_hooks(home, path) for path in (LOCAL, SHARED)):
        return
    again = "run remit hooks install claude"
    unlimited = "so the kernel doesn't limit the commands of its subagents"
    try:
        named = find_variable(load_values(home.root, LOCAL), claude.SHELL_VARIABLE)
    except RemitError:  # the look at the hooks says so
        return
    if not named:
        where = f"{LOCAL} doesn't name Remit's shell" if not plugin else "a plugin can't name Remit's shell"
        yield HealthCheck(_COMMANDS, "warning", f"Claude Code: {where}, {unlimited}", again)
    elif not is_own_shell(claude.SHELL_VARIABLE, named):
        told = f"Claude Code: {LOCAL} sets {claude.SHELL_VARIABLE} to '{named}', {unlimited}"
        yield HealthCheck(_COMMANDS, "warning", told, f"remove it, then {again}")
    elif outdated := find_outdated(home.root, os.environ):
        told = f"Claude Code: '{outdated}' isn't the shell that this Remit installs"
        yield HealthCheck(_COMMANDS, "warning", told, f"{again} again")
    else:
        yield HealthCheck(_COMMANDS, "ok", "Claude Code: Remit's shell limits the commands of agents with permissions")


LOOKS = ((_NAME, _check_hooks), (_COMMANDS, _check_shell))

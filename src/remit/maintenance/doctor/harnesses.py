"""Checks of harnesses: programs, versions, and the hooks that `remit hooks install` wrote into settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.harnesses import HOOKED, claude, opencode
from remit.hooks.install import (
    CODEX,
    LOCAL,
    PLUGIN,
    SHARED,
    TRIED,
    UNPROTECTED_HINT,
    describe_check_time,
    describe_unprotected,
    find_plugin,
    find_plugin_seconds,
    find_plugin_words,
    find_unprotected,
    list_own_hooks,
    load_hooks,
    read_version,
    render_command,
    render_plugin,
    render_trust,
)
from remit.maintenance.doctor import HealthCheck
from remit.maintenance.doctor.machine import PROGRAM_SECONDS
from remit.storage.machine import find_program, run_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.ledger.home import Home
    from remit.maintenance.doctor import CheckFunction, DoctorContext

HARNESSES = ("claude", "opencode", "codex", "gemini")
NO_HARNESS = HealthCheck(
    "harness", "warning", f"none of {', '.join(HARNESSES)} is in PATH", "install one, so that it can run agents"
)
_TRIALS = {"gemini": 'remit run "Say hello" --runner gemini'}
"""The command that shows whether a release works, for a harness in which Remit has no hooks to check."""
_NAME, _COMMANDS = "hooks", "commands"


def make_program_check(name: str) -> CheckFunction:
    """Return the check of one harness: its path and version. A harness that isn't installed gets no row."""

    def check(context: DoctorContext) -> Iterator[HealthCheck]:
        found = find_program(name, root=context.root)
        if found is None:
            return
        if found.is_foreign:
            message = f"{name} at {found.file} is inside the workspace, so Remit didn't ask for its version"
            yield HealthCheck("harness", "warning", message, "install it elsewhere")
            return
        answer = run_program([found.file, "--version"], seconds=PROGRAM_SECONDS)
        if answer.code != 0:
            reason = f"no answer in {PROGRAM_SECONDS:.0f} s" if answer.code is None else f"exit code {answer.code}"
            message = f"{name} at {found.file}: {reason}"
            yield HealthCheck("harness", "warning", message, f"run it yourself: {name} --version")
            return
        version = read_version(answer.text)
        message = f"{name} {version or '(version unknown)'} at {found.file}"
        if name == "opencode" and opencode.loads_plugin(version) is False:
            unprotected = f"{describe_unprotected(version)} ({found.file})"
            yield HealthCheck("harness", "warning", unprotected, UNPROTECTED_HINT)
        elif version in TRIED[name]:
            yield HealthCheck("harness", "ok", message)
        else:
            untried = f"{message}: not tried with this Remit (tried: {', '.join(TRIED[name])})"
            hint = f"run: {_TRIALS.get(name, f'remit hooks check {name}')}"
            yield HealthCheck("harness", "warning", untried, hint)

    return check


def _check_hooks(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report each file with Remit's hooks; yield nothing if no hooks were installed."""
    from remit.ledger.home import Home

    home = Home(context.root)
    yield from _check_settings_file(home, "claude", LOCAL)
    yield from _check_settings_file(home, "claude", SHARED)
    yield from _check_duplicates(home)
    yield from _check_settings_file(home, "codex", CODEX)
    yield from _check_codex_trust(home)
    yield from _check_opencode_plugin(home)
    yield from _check_command_shell(home)
    for harness in HOOKED:
        late, hint = describe_check_time(home, harness)
        if late:
            yield HealthCheck(_NAME, "warning", late, hint)


def _check_settings_file(home: Home, harness: str, path: str) -> Iterator[HealthCheck]:
    """Report whether the hooks of a settings file call this Remit, and are those that this version installs."""
    from remit.hooks.settings_files import split_command

    found = list_own_hooks(home, path)
    if not found:
        yield from _check_missing_hooks(home, harness, path)
        return
    lines = {tuple(words) for hook in found if (words := split_command(hook.command)) is not None}
    problems = [problem for words in sorted(lines) for problem in _check_command(home, harness, path, words)]
    yield from problems
    if problems:
        return
    expected = {(hook.event, hook.matcher) for hook in load_hooks(harness, shared=("remit", "hook", harness) in lines)}
    installed = [(hook.event, hook.matcher) for hook in found]
    missing = ", ".join(sorted(event for event, _ in expected.difference(installed)))
    if {*installed} != expected or len(installed) != len(expected):
        message = f"{path} has other hooks than this Remit installs{f', without {missing}' if missing else ''}"
        yield HealthCheck(_NAME, "warning", message, f"run remit hooks install {harness} again")
    else:
        yield HealthCheck(_NAME, "ok", f"{harness}: {len(installed)} events in {path}")


def _check_missing_hooks(home: Home, harness: str, path: str) -> Iterator[HealthCheck]:
    """Report a settings file that had Remit's hooks and has none now, or can't be read by Remit or the harness."""
    from remit.hooks.settings_files import find_variable, has_record, is_own_shell, load_values

    if not has_record(home, path):
        return
    hint = f"run remit hooks install {harness}, or remit hooks uninstall {harness}"
    try:
        values = load_values(home.root, path)
        if is_own_shell(claude.SHELL_VARIABLE, find_variable(values, claude.SHELL_VARIABLE)):
            return  # with --shared, the hooks are in the other file
        yield HealthCheck(_NAME, "warning", f"{path} has none of the hooks that were installed", hint)
    except RemitError as error:
        yield HealthCheck(_NAME, "problem", error.message, error.hint)


def _check_command(home: Home, harness: str, path: str, words: Sequence[str]) -> Iterator[HealthCheck]:
    """Report a hook's command line that doesn't start a program, or starts another Remit."""
    again = f"run remit hooks install {harness} again"
    if tuple(words[:-1]) == ("remit", "hook"):
        program = find_program("remit", root=home.root)
        if program is None or program.is_foreign:
            message = f"{path} calls remit, which isn't in PATH: the tools of agents are denied"
            hint = "add remit to PATH, or install the hooks without --shared"
            yield HealthCheck(_NAME, "problem", message, hint)
        return
    missing = [word for word in (words[0], words[-2]) if not os.path.isfile(word)]
    if missing:
        message = f"{path} calls '{missing[0]}', which doesn't exist: the tools of agents are denied"
        yield HealthCheck(_NAME, "problem", message, again)
    elif words[-2] != render_command(harness, shared=False)[-2]:
        yield HealthCheck(_NAME, "warning", f"{path} calls another Remit, at '{words[-2]}'", again)
    elif words[-1] != harness:
        message = f"{path} calls Remit for {words[-1]}, but {harness} reads this file"
        yield HealthCheck(_NAME, "problem", message, again)


def _check_duplicates(home: Home) -> Iterator[HealthCheck]:
    """Report hooks that Claude Code would call twice."""
    places = [path for path in (LOCAL, SHARED) if list_own_hooks(home, path)]
    if not places:
        return
    plugin = find_plugin(home)
    if plugin:
        message = f"Claude Code has Remit's hooks twice: in {places[0]}, and from the plugin that '{plugin}' enables"
        yield HealthCheck(_NAME, "warning", message, "disable the plugin, or run remit hooks uninstall claude")
    if len(places) > 1:
        message = f"Claude Code has Remit's hooks twice: in {LOCAL} and in {SHARED}"
        hint = f"run remit hooks install claude, which keeps those in {SHARED}"
        yield HealthCheck(_NAME, "warning", message, hint)


def _check_codex_trust(home: Home) -> Iterator[HealthCheck]:
    """Report hooks that Codex skips because the user hasn't trusted them."""
    from remit.hooks.codex_trust import load_trust

    found = list_own_hooks(home, CODEX)
    if not found:
        return
    trust = load_trust(home.root)
    missing = [hook.event for hook in found if not trust.covers(hook.event, home.root)]
    if not trust.folders:
        message = "Codex skips the hooks: it doesn't trust this folder"
        yield HealthCheck(_NAME, "warning", message, render_trust(home.root))
    elif missing:
        message = f"Codex skips hooks that you haven't trusted: {', '.join(missing)}"
        yield HealthCheck(_NAME, "warning", message, render_trust(home.root))


def _check_opencode_plugin(home: Home) -> Iterator[HealthCheck]:
    """Report whether the installed plugin calls this Remit, is unchanged, and is the one of this version."""
    from remit.hooks.settings_files import is_stamped, load_file, stamp

    data = load_file(home.root, PLUGIN)
    words = find_plugin_words(data or b"")
    if data is None or not words:
        return
    problems = [*_check_command(home, "opencode", PLUGIN, words)]
    version = find_unprotected(home.root)
    if version:
        problems.append(HealthCheck(_NAME, "problem", describe_unprotected(version), UNPROTECTED_HINT))
    yield from problems
    shared = words == ("remit", "hook", "opencode")
    if not is_stamped(data):
        message = f"{PLUGIN} was changed since it was installed"
        yield HealthCheck(_NAME, "warning", message, "move it away, then run remit hooks install opencode")
    elif not problems and data != stamp(render_plugin(shared=shared, check_seconds=find_plugin_seconds(data))):
        message = f"{PLUGIN} is from another version of Remit"
        yield HealthCheck(_NAME, "warning", message, "run remit hooks install opencode again")
    elif not problems:
        yield HealthCheck(_NAME, "ok", f"opencode: the plugin at {PLUGIN}")


def _check_command_shell(home: Home) -> Iterator[HealthCheck]:
    """Report an outdated shell, by which Codex and opencode have the kernel limit the commands of their subagents."""
    from remit.hooks.command_shell import find_outdated
    from remit.hooks.settings_files import has_record

    has_hooks = {"codex": bool(list_own_hooks(home, CODEX)), "opencode": has_record(home, PLUGIN)}
    names = [name for name, is_installed in has_hooks.items() if is_installed]
    outdated = find_outdated(home.root, os.environ) if names else ""
    if outdated:
        message = f"'{outdated}' isn't what this Remit installs, so the kernel may not limit the commands of subagents"
        yield HealthCheck(_NAME, "warning", message, f"run remit hooks install {names[0]} again")


def _check_claude_shell(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report whether Claude Code starts Remit's shell, by which the kernel limits the commands of subagents."""
    from remit.hooks.command_shell import find_outdated
    from remit.hooks.settings_files import find_variable, is_own_shell, load_values
    from remit.ledger.home import Home

    home = Home(context.root)
    plugin = find_plugin(home)
    if not plugin and not any(list_own_hooks(home, path) for path in (LOCAL, SHARED)):
        return
    again = "run remit hooks install claude"
    unlimited = "so the kernel doesn't limit the commands of its subagents"
    try:
        shell = find_variable(load_values(home.root, LOCAL), claude.SHELL_VARIABLE)
    except RemitError:  # the check of the hooks reports it
        return
    if not shell:
        missing = f"{LOCAL} doesn't name Remit's shell" if not plugin else "a plugin can't name Remit's shell"
        yield HealthCheck(_COMMANDS, "warning", f"Claude Code: {missing}, {unlimited}", again)
    elif not is_own_shell(claude.SHELL_VARIABLE, shell):
        message = f"Claude Code: {LOCAL} sets {claude.SHELL_VARIABLE} to '{shell}', {unlimited}"
        yield HealthCheck(_COMMANDS, "warning", message, f"remove it, then {again}")
    elif outdated := find_outdated(home.root, os.environ):
        message = f"Claude Code: '{outdated}' isn't the shell that this Remit installs"
        yield HealthCheck(_COMMANDS, "warning", message, f"{again} again")
    else:
        message = "Claude Code: Remit's shell limits the commands of agents with permissions"
        yield HealthCheck(_COMMANDS, "ok", message)


CHECKS = ((_NAME, _check_hooks), (_COMMANDS, _check_claude_shell))

"""Probes: whether the hooks of a harness are really called, found out by running it.

Owns the run: the harness itself, in the folder where the person stands and with its settings, but with a home that is
thrown away, a model that only plays a part, and a workspace of its own in whose ledger the hooks note that they were
called. Where the harness is not installed, the command lines are tried by themselves, which proves the half of it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.app.harnesses import (
    CODEX,
    LOCAL,
    PLUGIN,
    PLUGIN_EVENTS,
    SHARED,
    find_plugin,
    find_plugin_words,
    find_standing,
    list_own_hooks,
    render_trust,
    tell_standing,
)
from remit.app.settings import find_workspace
from remit.errors import RemitError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.workspace.home import Home
    from remit.workspace.ledger.probes import Called

LIVE_SECONDS = {"claude": 60.0, "codex": 60.0, "opencode": 180.0}
"""opencode may try to fetch what it wants for plugins, and gives up after more than a minute."""
_LINE_SECONDS = 60.0
_TRUST_SECONDS = 20.0
_VERSION_SECONDS = 15.0
_MANAGED = "/etc/claude-code/managed-settings.json"
_MAX_WHY = 200


class ProbedEvent(NamedTuple):
    """An event: whether its hook `fires`, `does not`, or whether that was `not proved`; and why."""

    name: str
    state: str
    why: str = ""


class Probed(NamedTuple):
    """What a probe has shown of a harness."""

    name: str
    is_live: bool
    """Whether the harness itself was run."""
    version: str
    events: tuple[ProbedEvent, ...]
    notes: tuple[str, ...] = ()


class _Line(NamedTuple):
    """A command line that is registered for an event: for a shell, or as words."""

    event: str
    command: tuple[str, ...]


def probe_harness(name: str) -> Probed:
    """Find out whether a harness calls Remit's hooks in this workspace."""
    from remit.workspace.home import Home  # noqa: PLC0415 - only for this
    from remit.workspace.machine import ask_program, find_program  # noqa: PLC0415

    home = Home(find_workspace())
    lines = _list_lines(home, name)
    if not lines:
        told = f"nothing is installed for {name}: remit init --harness {name}"
        return Probed(name, is_live=False, version="", events=(), notes=(told,))
    program = find_program(name, root=home.root)
    if program is None or program.is_foreign:
        where = (
            "is not on the path" if program is None else f"lies in the workspace ({program.file}) and is not started"
        )
        return _try_lines(home, name, lines, f"{name} {where}, so nobody has seen it call them")
    asked = ask_program([program.file, "--version"], seconds=_VERSION_SECONDS)
    answer = asked.text.split("\n") if asked.code == 0 else []
    version = next((line.strip()[:60] for line in answer if line.strip() and "WARNING" not in line), "")
    return _run_live(home, name, program.file, lines)._replace(version=version)


def _list_lines(home: Home, name: str) -> list[_Line]:
    """The command lines of Remit's that are registered here."""
    from remit.workspace.harness_settings import load_file  # noqa: PLC0415 - only for this

    if name == "opencode":
        words = find_plugin_words(load_file(home.root, PLUGIN) or b"")
        return [_Line(event, words) for event in PLUGIN_EVENTS] if words else []
    places = (LOCAL, SHARED) if name == "claude" else (CODEX,)
    found = [hook for path in places for hook in list_own_hooks(home, path)]
    return [_Line(hook.event, ("/bin/sh", "-c", hook.command)) for hook in found]


# --- the command lines by themselves ---------------------------------------------------------------------------------


def _try_lines(home: Home, name: str, lines: Sequence[_Line], why: str) -> Probed:
    """Give each command line an event, as the harness would, and look at what comes back."""
    from remit.workspace.home import Home as OtherHome  # noqa: PLC0415 - only for this
    from remit.workspace.probing import make_stage  # noqa: PLC0415

    with make_stage() as stage:
        other = OtherHome(stage)
        other.make_folder()
        events = [_try_line(home, other, line) for line in lines]
        other.close()
    return Probed(name, is_live=False, version="", events=tuple(events), notes=(why, *tell_standing(home.root, name)))


def _try_line(home: Home, other: Home, line: _Line) -> ProbedEvent:
    from remit.workspace.ledger.probes import list_calls  # noqa: PLC0415 - only for this
    from remit.workspace.probing import run_apart  # noqa: PLC0415

    word = _make_word()
    payload = {"hook_event_name": line.event, "session_id": word, "cwd": home.root,
               "tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": word}  # fmt: skip
    ran = run_apart(line.command, folder=home.root, environ={**os.environ, **_mark(other, word)},
                    given=json.dumps(payload), seconds=_LINE_SECONDS)  # fmt: skip
    if ran.code != 0:
        how = "gives no answer" if ran.code is None else f"ends with {ran.code}"
        return ProbedEvent(line.event, "does not", f"its command line {how}{_quote_last(ran.err)}")
    if not any(called.event == line.event for called in list_calls(other, word)):
        return ProbedEvent(line.event, "does not", "its command line ends well, but no hook of Remit's was reached")
    return ProbedEvent(line.event, "not proved", "its command line answers as it should")


def _make_word() -> str:
    return f"probe-{os.urandom(12).hex()}"


def _mark(other: Home, word: str) -> dict[str, str]:
    """What has the hooks note that they were called, and work for a workspace that is thrown away."""
    from remit.workspace.ledger.probes import VARIABLE  # noqa: PLC0415 - only for this

    return {VARIABLE: word, "REMIT_ROOT": other.root}


def _quote_last(text: str) -> str:
    lines = text.strip().split("\n")
    return f": {lines[-1].strip()[:_MAX_WHY]}" if lines[-1].strip() else ""


# --- the harness itself ----------------------------------------------------------------------------------------------


class Played(NamedTuple):
    """What a run has brought."""

    calls: Sequence[Called]
    trouble: str
    """Why it did not end well."""
    trust: Mapping[str, str]
    """Why Codex passes over hooks, by event."""


def _run_live(home: Home, name: str, program: str, lines: Sequence[_Line]) -> Probed:
    played = _play(home, name, program, lines)
    off = find_switched_off(home.root) if name == "claude" else ""
    events = [judge_event(event, played, off) for event in dict.fromkeys(line.event for line in lines)]
    notes = _tell_live(home, name, played.calls)
    if any(event.state != "fires" for event in events):
        notes += tell_standing(home.root, name)
    if any(played.trust.values()):
        notes.append(f"to have Codex call them, {render_trust(home.root)}")
    return Probed(name, is_live=True, version="", events=tuple(events), notes=tuple(notes))


def _play(home: Home, name: str, program: str, lines: Sequence[_Line]) -> Played:
    """Run the harness in the person's folder, with everything else thrown away afterwards."""
    from remit.workspace.home import Home as OtherHome  # noqa: PLC0415 - only for this
    from remit.workspace.ledger.probes import list_calls  # noqa: PLC0415
    from remit.workspace.probing import leave_absent, make_stage, play_model, run_apart  # noqa: PLC0415

    word, seconds, here = _make_word(), LIVE_SECONDS[name], find_standing(home.root)
    with make_stage() as stage:
        other = OtherHome(f"{stage}/root")
        other.make_folder()
        with play_model([sys.executable, "-P", "-m", "remit.testing.probe", name, f"{stage}/home"]) as told:
            environ = {**told["environ"], **_mark(other, word)}
            trust = _prepare_codex(home, program, environ) if name == "codex" else {}
            if name == "opencode":
                _prepare_opencode(environ)
            with leave_absent(f"{home.root}/{PLUGIN.partition('/')[0]}/.gitignore"):  # opencode leaves one behind
                runs = [
                    run_apart(_render_run(name, program), folder=here, environ=environ, given=prompt, seconds=seconds)
                    for prompt in (told["prompts"][script] for script in _list_scripts(lines))
                ]
        calls = list_calls(other, word)
        other.close()
    first = runs[0]
    how = f"ended with {first.code}{_quote_last(first.err)}" if first.code else ""
    how = f"was not done within {seconds:.0f} s" if first.code is None else how
    return Played(calls, f"{name} {how}" if how else "", trust)


def _list_scripts(lines: Sequence[_Line]) -> list[str]:
    """What the model plays. One event comes only when the model fails."""
    return ["probe", *["broken"] * any(line.event == "StopFailure" for line in lines)]


def _render_run(name: str, program: str) -> list[str]:
    """The command line of one turn that reads its prompt from standard input; what it runs is harmless."""
    return {
        "claude": [program, "-p", "--output-format=stream-json", "--verbose", "--max-turns=8",
                   "--allowedTools=Bash,Agent,Task"],
        "codex": [program, "exec", "--json", "--skip-git-repo-check", "-"],
        "opencode": [program, "run", "--format", "json"],
    }[name]  # fmt: skip


def judge_event(event: str, played: Played, off: str) -> ProbedEvent:
    """Whether a hook fires, by what a run has brought and why hooks may be off."""
    if off:  # which a run with another home has not seen
        return ProbedEvent(event, "does not", off)
    if any(called.event == event for called in played.calls):
        return ProbedEvent(event, "fires")
    why = played.trust.get(event, "") or played.trust.get("", "")
    if played.trouble and not why:
        return ProbedEvent(event, "not proved", played.trouble)
    if event == "ConfigChange" and not why:  # it sees that by the system, which tells not everywhere and not at once
        return ProbedEvent(event, "not proved", "a change of its settings was not noticed in time")
    return ProbedEvent(event, "does not", why or "the run ended well, and its hook was not called")


def _tell_live(home: Home, name: str, calls: Sequence[Called]) -> list[str]:
    notes = []
    begun = [called for called in calls if called.event == "SessionStart"]
    runs = 2 if name == "claude" else 1
    if len(begun) > runs:
        notes.append("hooks are called more than once for each event: they are installed in more than one place")
    plugin = find_plugin(home) if name == "claude" else ""
    if plugin:
        notes.append(f"'{plugin}' switches Remit's plugin on as well: in your own sessions both are called")
    return notes


def find_switched_off(root: str) -> str:
    """Which settings file has Claude Code call no hooks, and what to do; empty where none does."""
    from remit.workspace.harness_settings import load_file  # noqa: PLC0415 - only for this
    from remit.workspace.settings_text import scan  # noqa: PLC0415

    own = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")  # noqa: PTH111 - pathlib costs 8 ms
    for file in (f"{root}/{LOCAL}", f"{root}/{SHARED}", f"{own}/settings.json", _MANAGED):
        folder, _, path = file.rpartition("/")
        try:
            told = scan((load_file(folder, path) or b"{}").decode("utf-8", "replace")).value
        except (RemitError, OSError):
            continue
        if told.get("disableAllHooks") is True:
            return f"'{file}' switches hooks off: take disableAllHooks out of it"
        if told.get("allowManagedHooksOnly") is True:
            return f"'{file}' has allowManagedHooksOnly: whoever looks after this machine has to allow others"
    return ""


def _prepare_opencode(environ: Mapping[str, str]) -> None:
    """Spare opencode a package that it would fetch for plugins into its home, and wait for in vain."""
    from remit.workspace.files import make_private_folder, write_text  # noqa: PLC0415 - only for this

    folder = f"{environ['XDG_CONFIG_HOME']}/opencode"
    make_private_folder(f"{folder}/node_modules")
    lock = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    write_text(f"{folder}/package-lock.json", json.dumps(lock))


# --- Codex's trust ---------------------------------------------------------------------------------------------------


def _prepare_codex(home: Home, program: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Give the throw-away home what the person has trusted here, and ask Codex which hooks it would pass over."""
    from remit.app.codex_trust import load_trust, render_trusted  # noqa: PLC0415 - only for this
    from remit.workspace.probing import append_text, converse  # noqa: PLC0415

    append_text(f"{environ['CODEX_HOME']}/config.toml", render_trusted(load_trust(home.root)))
    opening = {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "remit", "version": "1"}}}
    asking = {"id": 2, "method": "hooks/list", "params": {"cwds": [find_standing(home.root)]}}
    lines = [json.dumps({"jsonrpc": "2.0", **each}) for each in (opening, {"method": "initialized"}, asking)]
    answer = converse([program, "app-server"], environ=environ, lines=lines, until='"id":2', seconds=_TRUST_SECONDS)
    return _read_trust(answer)


def _read_trust(answer: str) -> dict[str, str]:
    """Why Codex passes over hooks, by event; under "" why it passes over all."""
    from remit.workspace.harness_settings import is_own_command  # noqa: PLC0415 - only for this

    try:
        hooks: list[dict[str, Any]] = [hook for each in json.loads(answer)["result"]["data"] for hook in each["hooks"]]
        own = [hook for hook in hooks if is_own_command(hook["command"]) and hook["source"] == "project"]
        reasons = {_name_event(hook["eventName"]): _tell_trust(hook) for hook in own}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return reasons if own else {"": "Codex does not trust this folder"}


def _name_event(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}"


def _tell_trust(hook: Mapping[str, Any]) -> str:
    if hook.get("trustStatus") == "untrusted":
        return "you have not trusted it in Codex"
    if hook.get("trustStatus") == "modified":
        return "it has changed since you trusted it in Codex"
    return "" if hook.get("enabled") is not False else "it is switched off in Codex: see /hooks"

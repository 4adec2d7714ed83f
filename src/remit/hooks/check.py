"""Hook check: runs the installed harness with a scripted model, and checks which promises of the hooks it keeps.

The harness runs in a temporary folder, with the hooks that are installed in the workspace and a home of its own. Its
caller has one honest subagent and one that returns a file that it never wrote. The promises are checked by the requests
to the model, the files in the folder and the ledger.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import InputError, RemitError, RunnerError
from remit.harnesses import claude, codex, opencode
from remit.hooks.install import (
    CODEX,
    LOCAL,
    PLUGIN,
    SHARED,
    ask_version,
    describe_check_time,
    describe_start_folder,
    describe_untried,
    find_plugin,
    find_plugin_words,
    list_own_hooks,
    render_trust,
)
from remit.model import ACCEPTABLE
from remit.storage.settings import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.storage.probe import ProbeOutput

NAMES = {"claude": "Claude Code", "codex": "Codex", "opencode": "opencode"}
SECONDS = {"claude": 90.0, "codex": 90.0, "opencode": 150.0}
"""The time limit of one session. An idle machine needs a tenth of it."""
UNKNOWN = "scripted"
"""The name of a model that no harness knows."""
_AGENT = "remit-check"
_MODELS_SECONDS = 20.0
_MAX_WHY = 200
_STANDARD = f"""\
---
name: {_AGENT}
version: 1.0.0
description: "Writes a note"
mode: subagent
agent_type: implementation
temperature: 0.2
tools:
  read: true
  write: true
  bash: true
permissions:
  deny:
    - bash: ["touch"]
---

# {_AGENT}

Write the note.
"""
_NATIVE = {
    "claude": (
        f"{claude.AGENT_FOLDERS[0]}/{_AGENT}.md",
        f"---\nname: {_AGENT}\ndescription: Writes a note\n---\nWrite the note.\n",
    ),
    "codex": (
        f"{codex.AGENT_FOLDERS[0]}/{_AGENT}.toml",
        f'name = "{_AGENT}"\ndescription = "Writes a note"\n{codex.INSTRUCTIONS_KEY} = "Write the note."\n',
    ),
    "opencode": (
        f"{opencode.AGENT_FOLDERS[0]}/{_AGENT}.md",
        "---\ndescription: Writes a note\nmode: all\n---\nWrite the note.\n",
    ),
}
"""The same agent for the harness, without rules, so that only Remit can deny a command."""


_ESCAPED = "script-escaped.txt"
"""The file that shows that the write succeeded, even if a hook restored the protected file afterwards."""
_SCRIPT = f"""\
echo ran > "$1"
echo '# no' >> agents/{_AGENT}.md && echo yes > {_ESCAPED}
"""
"""A script that writes a protected file. No hook sees its content, because it existed before the subagent."""


class Promise(NamedTuple):
    """A promise of the hooks, its state (`holds`, `broken` or `unproven`), the reason, and a hint."""

    name: str
    statement: str
    state: str
    why: str = ""
    hint: str = ""


class HookCheck(NamedTuple):
    """The result of checking one harness."""

    harness: str
    version: str
    promises: tuple[Promise, ...]
    notes: tuple[str, ...] = ()


class PlayedRequest(NamedTuple):
    """A request to the scripted model: its script and step, its whole text, and the tokens of the answer."""

    script: str
    step: int
    text: str
    has_tools: bool
    tokens: int


class CheckRecord(NamedTuple):
    """The observations of the check: requests, runs, files and problems."""

    callers: Sequence[str]
    """The scripts of the callers; each caller has a subagent that makes a false return."""
    requests: Sequence[PlayedRequest]
    rows: Sequence[Run]
    """The runs of the harness's own subagents, from the ledger."""
    made: frozenset[str]
    """The files of the scripts that exist."""
    words: Mapping[str, str]
    """The texts and files of the scripts: lie, honest, denied, written."""
    trouble: str = ""
    """Why a session of the harness failed; empty if none did."""
    counted: int | None = None
    """The tokens that `remit run` reports for the script `run`."""
    run_trouble: str = ""
    escaped: bool = False
    """Whether the script of the subagent has changed the protected file."""
    unconfined: str = ""
    """Why the kernel can't limit the commands of subagents here; empty if it can."""


def check_harness(name: str, report: Callable[[str], None]) -> HookCheck:
    """Run a harness with Remit's hooks, and check each promise. `report` gets a line for each step.

    Raise `RemitError` if the check can't run.
    """
    from remit.ledger.home import Home
    from remit.storage.machine import find_program

    home = Home(find_workspace())
    files = _load_installed(home, name)
    if not files:
        raise InputError(f"Remit's hooks aren't installed for {NAMES[name]}", hint=f"remit hooks install {name}")
    program = find_program(name, root=home.root)
    if program is None:
        raise RunnerError(f"{name} isn't on the PATH", hint=f"install {NAMES[name]}, then check again")
    if program.is_foreign:
        raise RunnerError(f"{program.file} is in the workspace, so Remit doesn't start it", hint="install it elsewhere")
    version = ask_version(program.file)
    notes = [*describe_start_folder(home.root, name), *describe_untried(name, version)]
    late, hint = describe_check_time(home, name)
    notes += [f"{late}; {hint}"] if late else []
    if name == "claude" and (plugin := find_plugin(home)):
        notes.append(f"'{plugin}' enables Remit's plugin as well: your own sessions call both")
    off = find_switched_off(home.root) if name == "claude" else ("", "")
    if off[0]:
        return HookCheck(name, version, _break_promises(*off), tuple(notes))
    promises, more = _run_harness(home.root, name, program.file, files, report)
    return HookCheck(name, version, promises, (*notes, *more))


def _load_installed(home: Home, name: str) -> dict[str, str]:
    """Return the settings files of the workspace with nothing but Remit's hooks."""
    from remit.hooks.settings_files import load_file, shape_hooks

    if name == "opencode":
        plugin = load_file(home.root, PLUGIN) or b""
        return {PLUGIN: plugin.decode("utf-8", "replace")} if find_plugin_words(plugin) else {}
    hooks = {path: list_own_hooks(home, path) for path in ((LOCAL, SHARED) if name == "claude" else (CODEX,))}
    return {path: json.dumps(shape_hooks(found)) for path, found in hooks.items() if found}


def find_switched_off(root: str) -> tuple[str, str]:
    """Return the settings file that disables hooks in Claude Code, and a hint; empty if none does."""
    from remit.hooks.settings_files import load_values

    own = os.environ.get(claude.FOLDER_VARIABLE) or os.path.expanduser(claude.HOME)
    for file in (f"{root}/{LOCAL}", f"{root}/{SHARED}", f"{own}/{claude.HOME_SETTINGS}", claude.MANAGED_SETTINGS):
        folder, _, path = file.rpartition("/")
        try:
            values = load_values(folder, path)
        except (RemitError, OSError):
            continue
        if values.get(claude.NO_HOOKS_KEY) is True:
            return f"'{file}' disables hooks", f"remove {claude.NO_HOOKS_KEY} from it"
        if values.get(claude.MANAGED_HOOKS_KEY) is True:
            hint = "ask the administrator of this machine to allow other hooks"
            return f"'{file}' has {claude.MANAGED_HOOKS_KEY}", hint
    return "", ""


# --- the run ---------------------------------------------------------------------------------------------------------


def _run_harness(
    root: str, name: str, program: str, files: Mapping[str, str], report: Callable[[str], None]
) -> tuple[tuple[Promise, ...], list[str]]:
    """Run the harness in a temporary folder, and return the promises and notes for the user."""
    from remit.hooks.codex_trust import copy_trust
    from remit.ledger.home import Home
    from remit.ledger.runs import list_runs
    from remit.storage.files import load_bytes, write_text
    from remit.storage.probe import make_stage, play_model, run_apart

    notes: list[str] = []
    with make_stage() as stage:
        folder, requests = f"{stage}/root", f"{stage}/requests.json"
        other = Home(folder)
        other.make_folder()
        files, unconfined = _add_shell(root, name, files, other)
        own = ((f"agents/{_AGENT}.md", _STANDARD), ("remit-check.sh", _SCRIPT), _NATIVE[name])
        for path, text in (*files.items(), *own):
            write_text(f"{folder}/{path}", text, make_folders=True)
        model = find_model(program) if name == "codex" else UNKNOWN
        words = [sys.executable, "-P", "-m", "remit.testing.liar", name, f"{stage}/home", requests, model]
        with play_model(words) as play:
            environ: dict[str, str] = play["environ"]
            if name == "codex":
                skipped = copy_trust(root, folder, program, environ)
                notes = [f"Codex skips the hook for {event}: {why}" for event, why in skipped.items() if why]
                if len(notes) == len(skipped):
                    why = next(iter(skipped.values()), "Codex does not trust this folder")
                    return _break_promises(why, render_trust(root)), []
            if name == "opencode":
                _provide_package(folder, environ)
            troubles = []
            for script in play["sessions"]:
                report(f"{NAMES[name]}: runs a session with a scripted model ({script}), at most {SECONDS[name]:.0f} s")
                ran = run_apart(_render_session(name, program, script), folder=folder, environ=environ,
                                given=play["prompts"][script], seconds=SECONDS[name])  # fmt: skip
                troubles.append(_describe_trouble(name, ran, SECONDS[name]))
            rows = list_runs(other.ledger)
            report(f"{NAMES[name]}: remit run counts tokens, at most {SECONDS[name]:.0f} s")
            words = [sys.executable, "-P", "-m", "remit", "run", _AGENT, play["prompts"]["run"], "--json",
                     f"--runner={name}", f"--timeout={SECONDS[name]:.0f}"]  # fmt: skip
            ran = run_apart(words, folder=folder, environ=environ, seconds=SECONDS[name] + 30)
        played = [PlayedRequest(**each) for each in json.loads(load_bytes(requests))]
        is_changed = load_bytes(f"{folder}/agents/{_AGENT}.md").decode() != _STANDARD
        escaped = is_changed or os.path.lexists(f"{folder}/{_ESCAPED}")
        made = frozenset(name for name in play["words"].values() if os.path.lexists(f"{folder}/{name}"))
        other.close()
    record = CheckRecord(play["sessions"], played, rows, made, play["words"], "; ".join(filter(None, troubles)),
                  _read_tokens(ran), _describe_trouble("remit run", ran, SECONDS[name] + 30),
                  escaped, unconfined)  # fmt: skip
    if notes:
        notes.append(f"to have Codex call them: {render_trust(root)}")
    if name == "codex" and model == UNKNOWN:
        notes.append("this Codex lists no model with multi-agent v2, so only v1 was checked")
    return judge_promises(record, name), notes


def _add_shell(root: str, name: str, files: Mapping[str, str], other: Home) -> tuple[dict[str, str], str]:
    """Add Remit's shell to the settings files if the workspace uses it, and return why the kernel can't limit it."""
    from remit.confine import find_level
    from remit.hooks.command_shell import choose_shell, install_shells
    from remit.hooks.command_tickets import FOLDER, STARTER
    from remit.hooks.settings_files import find_variable, is_own_shell, load_values

    level = find_level()
    if not level.has_files:
        return dict(files), f"this machine's kernel can't: {'; '.join(level.reasons)}"
    named = find_variable(load_values(root, LOCAL), claude.SHELL_VARIABLE)
    file = f"{root}/{FOLDER}/{STARTER}"
    is_used = is_own_shell(claude.SHELL_VARIABLE, named) if name == "claude" else os.path.lexists(file)
    if not is_used:
        return dict(files), ""
    install_shells(other, os.environ)
    if name != "claude":
        return dict(files), ""
    settings = json.loads(files.get(LOCAL, "{}"))
    settings[claude.ENVIRONMENT_KEY] = {claude.SHELL_VARIABLE: choose_shell(other.root, os.environ)}
    return {**files, LOCAL: json.dumps(settings)}, ""


def _render_session(name: str, program: str, script: str) -> list[str]:
    """Return the command line of a session that reads its prompt from standard input and permits the tools it uses."""
    allowed = ",".join((claude.NAMES["bash"], *claude.DELEGATING))
    unknown = [f"{codex.MODEL_OPTION}={UNKNOWN}"] if script.startswith("v1") else []
    return {
        "claude": [program, *claude.STREAM_OPTIONS, f"{claude.TURNS_OPTION}=12", f"{claude.ALLOWED_OPTION}={allowed}"],
        "codex": [program, *codex.STREAM_OPTIONS, *unknown, "-"],
        "opencode": [program, *opencode.STREAM_OPTIONS],
    }[name]


def find_model(program: str) -> str:
    """Return the first model with multi-agent v2 that Codex lists to users; an unknown one if it lists none."""
    from remit.storage.probe import run_apart

    ran = run_apart([program, *codex.MODELS_COMMAND], folder="/", environ=os.environ, seconds=_MODELS_SECONDS)
    try:
        listed = [model for model in json.loads(ran.out)["models"] if model["visibility"] == "list"]
        current = [model for model in listed if model.get("multi_agent_version") == "v2"]
        return str(min(current, key=lambda model: model["priority"])["slug"])
    except (ValueError, KeyError, TypeError):
        return UNKNOWN


def _describe_trouble(name: str, ran: ProbeOutput, seconds: float) -> str:
    """Return why a program failed; empty if it didn't."""
    if ran.code is None:
        return f"{name} didn't end within {seconds:.0f} s"
    last = (ran.err.strip() or ran.out.strip()).rpartition("\n")[2].strip()[:_MAX_WHY]
    return f"{name} ended with {ran.code}{f': {last}' if last else ''}" if ran.code else ""


def _read_tokens(ran: ProbeOutput) -> int | None:
    """Return the tokens in the result that `remit run --json` prints."""
    try:
        tokens = json.loads(ran.out)["remit"]["usage"]["tokens"]
    except (ValueError, KeyError, TypeError):
        return None
    return tokens if isinstance(tokens, int) else None


def _provide_package(folder: str, environ: Mapping[str, str]) -> None:
    """Provide the package that opencode would fetch for plugins, because without a network it waits a minute."""
    from remit.storage.files import make_private_folder, write_text

    lock = {"packages": {"": {"dependencies": {opencode.PLUGIN_PACKAGE: "*"}}}}
    for place in (f"{folder}/{opencode.FOLDER}", f"{environ['XDG_CONFIG_HOME']}/opencode"):
        make_private_folder(f"{place}/node_modules")
        write_text(f"{place}/package-lock.json", json.dumps(lock))


# --- the promises ----------------------------------------------------------------------------------------------------


def judge_promises(record: CheckRecord, name: str) -> tuple[Promise, ...]:
    """Return the state of each promise, by the observations."""
    checks = {
        "instructions": _check_instructions,
        "sent-back": _check_sent_back,
        "verdict": _check_verdict,
        "honest": _check_honest,
        "denied": _check_denied,
        "confined": _check_confined,
        "tokens": _check_tokens,
    }
    found = []
    for key, check in checks.items():
        state, why = check(record)
        cause = state if state == "unproven" else "tokens" if key == "tokens" else "hooks"
        hint = "" if state == "holds" else _HINTS[cause].format(name=name)
        found.append(Promise(key, STATEMENTS[key], state, why, hint))
    return tuple(found)


STATEMENTS = {
    "instructions": "The instructions reached the subagent's model",
    "sent-back": "A false return was sent back to the subagent",
    "verdict": "The caller's model received the verdict, and never the false return without it",
    "honest": "An honest return was accepted, and the caller's model received the result",
    "denied": "A denied command did not run",
    "confined": "The kernel kept a subagent's script from writing a protected file",
    "tokens": "Tokens were counted once",
}
_HINTS = {
    "hooks": "run remit hooks install {name}, then check again; if this stays, this release changed its hooks: "
    "use remit run --runner {name} instead",
    "unproven": "see the reason, then check again",
    "tokens": "don't rely on --max-tokens and --max-usd with this release; limit the time with --timeout",
}
_PromiseState = tuple[str, str]


def _break_promises(why: str, hint: str) -> tuple[Promise, ...]:
    """Return the promises for a harness that calls no hook. Tokens don't depend on hooks."""
    return tuple(Promise(key, text, "broken", why, hint) for key, text in STATEMENTS.items() if key != "tokens")


def _fail(record: CheckRecord, why: str) -> _PromiseState:
    """Return the state if an expected event is missing: unproven if a session failed, otherwise broken."""
    return ("unproven", record.trouble) if record.trouble else ("broken", why)


def _find_unstarted(record: CheckRecord, scripts: Collection[str]) -> _PromiseState | None:
    """Return the state if the model of a subagent got no request; None if all got one.

    If Remit admitted subagents, the harness started them, but their prompts didn't arrive unchanged.
    """
    unstarted = [script for script in scripts if not any(one.script == script for one in record.requests)]
    if not unstarted:
        return None
    which = ", ".join(unstarted)
    if not record.rows:
        return "unproven", record.trouble or f"the harness didn't start the subagent ({which})"
    return _fail(record, f"the prompt didn't reach the subagent's model ({which})")


def _list_liars(record: CheckRecord) -> list[str]:
    return [caller.replace("caller", "liar") for caller in record.callers]


def _check_instructions(record: CheckRecord) -> _PromiseState:
    """Check that the first request of each subagent contains the session id that Remit issued.

    For a false return, the id has to be that of a rejected run: Codex may give a subagent the caller's history, which
    contains the id of the honest run.
    """
    ids = {"honest": [row.session_id for row in record.rows]}
    rejected = [row.session_id for row in record.rows if row.verdict not in ACCEPTABLE]
    ids |= dict.fromkeys(_list_liars(record), rejected)
    first = {one.script: one.text for one in record.requests if one.step == 0 and one.script in ids}
    bare = [script for script, text in first.items() if not any(each in text for each in ids[script])]
    if bare:
        return _fail(record, f"the first request of the subagent ({', '.join(bare)}) doesn't contain them")
    return _find_unstarted(record, ids) or ("holds", "")


def _check_sent_back(record: CheckRecord) -> _PromiseState:
    """Check that the subagent got a second request, which only Remit can have caused: its script has one step."""
    liars = _list_liars(record)
    again = {one.script for one in record.requests if one.step}
    once = [liar for liar in liars if liar not in again and any(one.script == liar for one in record.requests)]
    if once:
        return _fail(record, f"the first return of the subagent ({', '.join(once)}) was also its last")
    return _find_unstarted(record, liars) or ("holds", "")


def _check_verdict(record: CheckRecord) -> _PromiseState:
    """Check that each request with a false return contains a verdict, and that each caller got a verdict."""
    verdicts = [(row.session_id, row.verdict) for row in record.rows if row.verdict and row.verdict not in ACCEPTABLE]

    def has_verdict(text: str) -> bool:
        return any(session_id in text and verdict in text for session_id, verdict in verdicts)

    callers = {caller: [one.text for one in record.requests if one.script == caller] for caller in record.callers}
    for caller, texts in callers.items():
        if any(record.words["lie"] in text and not has_verdict(text) for text in texts):
            return "broken", f"the caller's model ({caller}) received the false return without a verdict"
    unstarted = _find_unstarted(record, _list_liars(record))
    if unstarted is not None:
        return unstarted
    late = [caller for caller, texts in callers.items() if not any(map(has_verdict, texts))]
    return _fail(record, f"no request of the caller ({', '.join(late)}) has the verdict") if late else ("holds", "")


def _check_honest(record: CheckRecord) -> _PromiseState:
    unstarted = _find_unstarted(record, ["honest"])
    if unstarted is not None:
        return unstarted
    good = [row for row in record.rows if row.verdict in ACCEPTABLE and row.status == "completed"]
    if not good:
        ends = "; ".join(f"{row.status}, {row.verdict}" for row in record.rows) or "Remit recorded none"
        return _fail(record, f"no run was completed: {ends}")
    texts = [one.text for one in record.requests if one.script in record.callers]
    got = any(row.session_id in text for row in good for text in texts)
    return ("holds", "") if got else _fail(record, "no request of the caller has it")


def _check_denied(record: CheckRecord) -> _PromiseState:
    if record.words["denied"] in record.made:
        return "broken", "the agent's file denies touch, and the agent ran it"
    unstarted = _find_unstarted(record, ["honest"])
    if unstarted is not None:
        return "unproven", unstarted[1]
    if record.words["written"] not in record.made:  # no command ran, so nothing is proved
        return "unproven", record.trouble or "the subagent could run no command at all"
    return "holds", ""


def _check_confined(record: CheckRecord) -> _PromiseState:
    if record.unconfined:
        return "unproven", record.unconfined
    if record.escaped:
        return "broken", "a script that the agent started wrote to its agent file"
    unstarted = _find_unstarted(record, ["honest"])
    if unstarted is not None:
        return "unproven", unstarted[1]
    return ("holds", "") if record.words["ran"] in record.made else _fail(record, "the agent's script didn't run")


def _check_tokens(record: CheckRecord) -> _PromiseState:
    """Check that `remit run` with one rejected return counts the tokens that the model reported.

    A request without tools is for a title, whose tokens opencode doesn't report.
    """
    requests = [one for one in record.requests if one.script == "run" and one.has_tools]
    used = sum(one.tokens for one in requests)
    if record.run_trouble or record.counted is None or not any(one.step for one in requests):
        return "unproven", record.run_trouble or "remit run reported no tokens"
    why = f"{record.counted:,} counted, {used:,} used"
    return ("holds" if record.counted == used else "broken"), why

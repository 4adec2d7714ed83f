"""Installation: adds Remit's hooks to the settings of Claude Code, Codex and opencode, and removes them again.

`harness_files` has the events, tools and time limits of the hooks, one copy for plugins and for installations.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import InputError, RemitError
from remit.harnesses import HOOKED, claude, codex, gemini, opencode
from remit.hooks.check_time import CHECKING, choose_seconds, count_needed, describe_shortage, find_installed
from remit.runs.admission.tickets import check_user
from remit.storage.machine import run_program
from remit.storage.settings import find_root, find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.hooks.settings_files import Hook, SettingsEdit
    from remit.ledger.home import Home

HARNESSES = HOOKED
LOCAL, SHARED, CODEX, PLUGIN = (
    claude.LOCAL_SETTINGS,
    claude.SHARED_SETTINGS,
    codex.HOOKS_FILE,
    opencode.PLUGIN_FILE,
)
TRIED = {"claude": claude.TRIED, "codex": codex.TRIED, "opencode": opencode.TRIED, "gemini": gemini.TRIED}
UNPROTECTED_HINT = "use opencode 1, or have Remit start the agents: remit run --runner opencode"
_ASK_SECONDS = 15.0
_NUMBER = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_WORDS = 'const COMMAND = ["remit", "hook", "opencode"]'
"""The line with the command in the plugin."""
_SECONDS = "const CHECK_SECONDS = "
"""The line with the seconds for acceptance checks."""
_VERSION_SECONDS = 6.0
_REFUSAL = "an agent can't change what its harness calls"


class HarnessPlan(NamedTuple):
    """The changes to the files of a harness, and notes for the user."""

    name: str
    edits: tuple[SettingsEdit, ...]
    events: tuple[str, ...] = ()
    """The events with hooks."""
    notes: tuple[str, ...] = ()
    undone: tuple[RemitError, ...] = ()
    """Why parts can't be planned. The other parts don't depend on them."""

    @property
    def changes(self) -> tuple[SettingsEdit, ...]:
        """The files that change."""
        return tuple(edit for edit in self.edits if edit.is_change)


class InstallationPlan(NamedTuple):
    """The changes in a workspace, harness by harness."""

    root: str
    harnesses: tuple[HarnessPlan, ...]

    @property
    def changes(self) -> tuple[SettingsEdit, ...]:
        """The files that change."""
        return tuple(edit for each in self.harnesses for edit in each.changes)

    @property
    def undone(self) -> tuple[RemitError, ...]:
        """The errors of parts that can't be planned."""
        return tuple(error for each in self.harnesses for error in each.undone)


# --- installing ------------------------------------------------------------------------------------------------------
def plan_installation(names: Sequence[str], *, shared: bool = False, with_server: bool = False) -> InstallationPlan:
    """Return the file changes that make these harnesses call Remit, without making them."""
    from remit.ledger.home import Home

    home = Home(find_workspace())
    check_user(home, _REFUSAL)
    plans = {"claude": _plan_claude, "codex": _plan_codex, "opencode": _plan_opencode}
    found = [plans[name](home, shared=shared, with_server=with_server) for name in dict.fromkeys(names)]
    more = _check_package() if with_server else []
    seconds = choose_seconds(home)
    late = list(filter(None, describe_shortage("", count_needed(home), seconds))) if seconds else []
    more += [f"{late[0]}; {late[1]}"] if late else []
    plans_with_notes = [
        each._replace(notes=(*each.notes, *more, *describe_start_folder(home.root, each.name))) for each in found
    ]
    return InstallationPlan(home.root, tuple(plans_with_notes))


def write_installation(plan: InstallationPlan) -> None:
    """Write a plan, unless a file has changed since."""
    from remit.hooks import command_tickets
    from remit.hooks.command_shell import install_shells
    from remit.hooks.settings_files import has_record, write_edits
    from remit.ledger.home import Home

    home = Home(plan.root)
    if any(each.events and each.edits for each in plan.harnesses):
        install_shells(home, os.environ)
    edits = [edit for each in plan.harnesses for edit in each.edits]
    wanted = [edit for edit in edits if edit.is_change or (edit.after is None and has_record(home, edit.path))]
    if wanted:
        write_edits(home, wanted)
    if not (any(list_own_hooks(home, path) for path in (LOCAL, SHARED, CODEX)) or _has_plugin(home)):
        command_tickets.stop(home.root)


def _has_plugin(home: Home) -> bool:
    """Return whether the plugin for opencode is installed."""
    from remit.hooks.settings_files import load_file

    try:
        return bool(find_plugin_words(load_file(home.root, PLUGIN) or b""))
    except RemitError:
        return False


def list_written(plan: InstallationPlan) -> list[SettingsEdit]:
    """Return the planned files that are written; unreadable files don't count."""
    from contextlib import suppress

    from remit.hooks.settings_files import load_file

    found = []
    for edit in plan.changes:
        with suppress(RemitError):
            if load_file(plan.root, edit.path) == edit.after:
                found.append(edit)
    return found


def render_command(harness: str, *, shared: bool) -> list[str]:
    """Return the words of the hook's command line: its name, or the fastest way to start it on this machine."""
    start = ["remit", "hook"] if shared else [sys.executable, "-I", "-S", f"{_PACKAGE}/hooks/entry.py"]
    return [*start, harness]


def load_hooks(harness: str, *, shared: bool, check_seconds: int = 0) -> list[Hook]:
    """Return the hooks to install for a harness with hooks in JSON.

    `check_seconds`: how much longer the harness waits for acceptance checks where they may run.

    Python exits with 2 if its file is missing, which harnesses treat as a refusal. So the command line exits with 127,
    as for a missing program, if Remit's package is gone.
    """
    import shlex

    from remit.hooks.settings_files import COMMAND, list_hooks

    words = render_command(harness, shared=shared)
    line, is_there = shlex.join(words), "" if shared else f"{{ [ -e {shlex.quote(words[3])} ] || (exit 127); }} && "
    hooks = []
    for hook in list_hooks(json.loads(_load_packaged(f"{harness}/hooks.json"))):
        is_checking = bool(check_seconds) and hook.event in CHECKING[harness]
        program = f"{line} {check_seconds}" if is_checking else line
        command = is_there + hook.command.replace(f"{COMMAND} {harness}", program)
        timeout_s = (hook.timeout_s or 0) + check_seconds if is_checking else hook.timeout_s
        hooks.append(hook._replace(command=command, timeout_s=timeout_s))
    return hooks


def render_plugin(*, shared: bool, check_seconds: int = 0) -> str:
    """Return the plugin to install for opencode."""
    text = _load_packaged("opencode/remit.js").decode()
    if text.count(_WORDS) != 1 or text.count(f"{_SECONDS}0") != 1:
        raise InputError("the plugin in Remit's package is damaged", hint="install Remit again")
    words = json.dumps(render_command("opencode", shared=shared))
    text = text.replace(f"{_SECONDS}0", f"{_SECONDS}{check_seconds}")
    return text.replace(_WORDS, f"const COMMAND = {words}")


def _load_packaged(name: str) -> bytes:
    from remit.storage.files import load_bytes

    try:
        return load_bytes(f"{_PACKAGE}/harness_files/{name}")
    except InputError as error:
        raise InputError(
            f"a file of Remit's package is missing: {error.message}", hint="install Remit again"
        ) from error


def _plan_claude(home: Home, *, shared: bool, with_server: bool) -> HarnessPlan:
    from remit.hooks.settings_files import plan_entries, plan_removal, shape_hooks

    hooks = load_hooks("claude", shared=shared, check_seconds=choose_seconds(home))
    shell, shell_notes = _choose_shell_setting(home)
    edits, notes = [], [*_warn_of_plugin(home), *shell_notes]
    if not shared and list_own_hooks(home, SHARED):
        notes.append(f"{SHARED} already has Remit's hooks, so {LOCAL} gets none: Claude Code would call both")
        edits.append(plan_entries(home, LOCAL, shell) if shell else plan_removal(home, LOCAL))
    elif shared:  # the shell's path is of this machine
        edits.append(plan_entries(home, SHARED, shape_hooks(hooks)))
        edits.append(plan_entries(home, LOCAL, shell) if shell else plan_removal(home, LOCAL))
        notes.append("everyone who uses this checkout needs remit on the PATH")
    else:
        edits.append(plan_entries(home, LOCAL, {**shape_hooks(hooks), **shell}))
    notes += _warn_if_not_ignored(home, LOCAL) if shell or not shared else []
    notes += _list_other_hooks(home, (LOCAL, SHARED))
    if with_server:
        words = _render_server(shared=shared)
        server = {"command": words[0], "args": words[1:]}
        edits.append(plan_entries(home, claude.SERVERS_FILE, {claude.SERVERS_KEY: {"remit": server}}))
        notes += _warn_if_not_ignored(home, claude.SERVERS_FILE) if not shared else []
        notes.append("Claude Code asks once for permission to start the server")
    return HarnessPlan("claude", tuple(edits), tuple(hook.event for hook in hooks), tuple(notes))


def _choose_shell_setting(home: Home) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return the setting with which Claude Code starts commands in Remit's shell, or a note why there is none."""
    from remit.hooks.command_shell import choose_shell
    from remit.hooks.settings_files import find_variable, is_own_shell, load_values

    shell = choose_shell(home.root, os.environ)
    if not shell:
        return {}, ["neither bash nor zsh is installed, so the kernel doesn't limit the commands of subagents"]
    for path in (LOCAL, SHARED):
        named = find_variable(load_values(home.root, path), claude.SHELL_VARIABLE)
        if named and not is_own_shell(claude.SHELL_VARIABLE, named):
            note = f"{path} sets {claude.SHELL_VARIABLE} to '{named}', so the kernel doesn't limit subagents' commands"
            return {}, [note]
    return {claude.ENVIRONMENT_KEY: {claude.SHELL_VARIABLE: shell}}, []


def _plan_codex(home: Home, *, shared: bool, with_server: bool) -> HarnessPlan:
    from remit.hooks.settings_files import plan_entries, shape_hooks

    hooks = load_hooks("codex", shared=shared, check_seconds=choose_seconds(home))
    edit = plan_entries(home, CODEX, shape_hooks(hooks))
    notes = [
        f"Codex silently skips hooks until you trust them: {render_trust(home.root)}",
        *([] if shared else _warn_if_not_ignored(home, CODEX)),
        *_list_other_hooks(home, (CODEX,)),
    ]
    if with_server:
        import shlex

        line = shlex.join(["codex", "mcp", "add", "remit", "--", *_render_server(shared=shared)])
        notes.append(f"Codex keeps MCP servers in your user settings; to add Remit's, run: {line}")
    return HarnessPlan("codex", (edit,), tuple(hook.event for hook in hooks), tuple(notes))


def render_trust(root: str) -> str:
    """Return the steps of the user before Codex calls the hooks."""
    return (
        f"start codex in {root}, agree to trust the folder (or run `codex exec {codex.TRUST_OPTION}` there once), "
        f"then trust the hooks of {CODEX} with /hooks"
    )


def _plan_opencode(home: Home, *, shared: bool, with_server: bool) -> HarnessPlan:
    from remit.hooks.settings_files import plan_entries, plan_file

    version = find_unprotected(home.root)
    if version:
        error = InputError(describe_unprotected(version), hint=UNPROTECTED_HINT)
        return HarnessPlan("opencode", (), undone=(error,))
    edits = [plan_file(home, PLUGIN, render_plugin(shared=shared, check_seconds=choose_seconds(home)))]
    notes = [] if shared else _warn_if_not_ignored(home, PLUGIN)
    if with_server:
        path = _find_opencode(home)
        server = {"type": "local", "command": _render_server(shared=shared), "enabled": True}
        edits.append(plan_entries(home, path, {"mcp": {"remit": server}}, comments=True))
    return HarnessPlan("opencode", tuple(edits), opencode.EVENTS, tuple(notes))


def find_unprotected(root: str) -> str:
    """Return the version of opencode on the PATH if it doesn't load Remit's plugin; otherwise an empty text."""
    from remit.storage.machine import find_program

    program = find_program("opencode", root=root)
    version = "" if program is None or program.is_foreign else ask_version(program.file, seconds=_VERSION_SECONDS)
    return version if opencode.loads_plugin(version) is False else ""


def _render_server(*, shared: bool) -> list[str]:
    # A harness starts it in the workspace, which may have a folder `remit`: -P keeps Python from importing that.
    return ["remit", "mcp"] if shared else [sys.executable, "-P", "-m", "remit", "mcp"]


def _find_opencode(home: Home) -> str:
    """Return the settings file of opencode in the workspace; the name of a new file if there is none."""
    there = [name for name in opencode.SETTINGS_FILES if os.path.lexists(f"{home.root}/{name}")]
    return there[0] if there else opencode.SETTINGS_FILE


# --- versions of harnesses --------------------------------------------------------------------------------------------


def ask_version(program: str, *, seconds: float = _ASK_SECONDS) -> str:
    """Return the version that a harness prints; empty if it prints none within the time limit."""
    answer = run_program([program, "--version"], seconds=seconds)
    return read_version(answer.text) if answer.code == 0 else ""


def read_version(text: str) -> str:
    """Return the first version number in the output of a harness, after the warnings that Codex may print."""
    lines = [line for line in text.splitlines() if not line.startswith("WARNING")]
    found = _NUMBER.search("\n".join(lines))
    return found[0] if found else ""


def describe_untried(name: str, version: str) -> list[str]:
    """Return a sentence if Remit's tests didn't run with a release; nothing if they did or the version is unknown."""
    if not version or version in TRIED[name]:
        return []
    if name == "opencode" and opencode.loads_plugin(version) is False:
        return [describe_unprotected(version)]
    return [f"{name} {version} was not tried with this Remit (tried: {', '.join(TRIED[name])})"]


def describe_unprotected(version: str) -> str:
    """Return a sentence for a release of opencode that doesn't load Remit's plugin."""
    return f"opencode {version} does not load Remit's plugin: its subagents are not checked"


# --- notes -----------------------------------------------------------------------------------------------------------
def _check_package() -> list[str]:
    from importlib.util import find_spec

    if find_spec("mcp") is not None:
        return []
    return ["the server can't start yet: the package mcp isn't installed (pip install '.[mcp]', as Remit was)"]


def find_start_folder(root: str) -> str:
    """Return the user's current folder, if it is in the workspace or a linked worktree; else the workspace's root."""
    if os.environ.get("REMIT_ROOT"):
        return root
    here = os.path.realpath(os.getcwd())
    own = os.path.realpath(find_root())
    return here if here == own or here.startswith(f"{own.rstrip('/')}/") else root


def is_in_worktree(root: str) -> bool:
    """Return whether the current folder is in a linked worktree of the workspace."""
    return not os.environ.get("REMIT_ROOT") and os.path.realpath(find_root()) != os.path.realpath(root)


def describe_start_folder(root: str, name: str) -> list[str]:
    """Return a note if a harness started in the current folder wouldn't read the hooks in the root."""
    if is_in_worktree(root):
        carried = "hooks installed with --shared work here, too, once they are committed and merged"
        return [f"this is a linked worktree, and the hooks are in '{root}': start {name} there; {carried}"]
    if name == "claude" and find_start_folder(root) != os.path.realpath(root):
        return [f"Claude Code reads the settings of the folder that you start it in: start claude in '{root}'"]
    return []


def _load_hooks(home: Home, path: str) -> list[Hook]:
    """Return the hooks in a settings file; none if it is missing or unreadable."""
    from remit.hooks.settings_files import list_hooks, load_values

    try:
        return list_hooks(load_values(home.root, path))
    except RemitError:
        return []


def list_own_hooks(home: Home, path: str) -> list[Hook]:
    """Return the hooks in a settings file that are Remit's."""
    from remit.hooks.settings_files import is_own_command

    return [hook for hook in _load_hooks(home, path) if is_own_command(hook.command)]


def find_plugin_words(data: bytes) -> tuple[str, ...]:
    """Return the command in an installed plugin; empty if the plugin isn't Remit's."""
    for line in data.decode("utf-8", "replace").split("\n"):
        if line.startswith("const COMMAND = ["):
            try:
                words, _ = json.JSONDecoder().raw_decode(line, line.index("["))
            except (ValueError, RecursionError):
                return ()
            return tuple(map(str, words))
    return ()


def find_plugin_seconds(data: bytes) -> int:
    """Return the seconds for acceptance checks in an installed plugin; 0 if it has none."""
    found = re.search(rf"^{_SECONDS}(\d{{1,6}})\b", data.decode("utf-8", "replace"), re.MULTILINE)
    return int(found[1]) if found else 0


def describe_check_time(home: Home, name: str) -> tuple[str, str]:
    """Return a sentence and a hint if the installed hooks of a harness don't wait long enough for the checks."""
    from remit.hooks.settings_files import load_file

    paths = {"claude": (LOCAL, SHARED), "codex": (CODEX,)}.get(name, ())
    plugin = (load_file(home.root, PLUGIN) or b"") if name == "opencode" else b""
    installed = find_installed(name, [hook for path in paths for hook in list_own_hooks(home, path)], plugin)
    return describe_shortage(name, 0 if installed is None else count_needed(home), installed)


def _list_other_hooks(home: Home, paths: Sequence[str]) -> Iterator[str]:
    from remit.hooks.settings_files import mentions_remit

    for path in paths:
        events = [hook.event for hook in _load_hooks(home, path) if mentions_remit(hook.command)]
        if events:
            names = ", ".join(dict.fromkeys(events))
            yield f"{path} has a command of your own that calls Remit, too ({names}): it stays, so both run"


def _warn_of_plugin(home: Home) -> Iterator[str]:
    if find_plugin(home):
        yield "Remit's plugin for Claude Code is enabled as well: both would run, so keep one of them"


def find_plugin(home: Home) -> str:
    """Return the settings file that enables Remit's plugin for Claude Code; empty if none does."""
    from remit.hooks.settings_files import load_values

    folder = os.environ.get(claude.FOLDER_VARIABLE) or os.path.expanduser(claude.HOME)
    for root, path in ((home.root, LOCAL), (home.root, SHARED), (folder, claude.HOME_SETTINGS)):
        try:
            plugins: Any = load_values(root, path).get(claude.PLUGINS_KEY)
        except RemitError:
            continue
        if isinstance(plugins, dict) and any(
            name.partition("@")[0] == "remit" and plugins[name] is True for name in plugins
        ):
            return f"{root}/{path}"
    return ""


def _warn_if_not_ignored(home: Home, path: str) -> list[str]:
    from remit.hooks.settings_files import is_ignored

    if is_ignored(home.root, path) is not False:
        return []
    return [f"{path} has paths of this machine, and git doesn't ignore it: don't commit it, or use --shared"]


# --- uninstalling ----------------------------------------------------------------------------------------------------
def plan_uninstallation(names: Sequence[str] = ()) -> InstallationPlan:
    """Return the file changes that remove Remit from these harnesses, or from all, without making them."""
    from remit.ledger.home import Home

    home = Home(find_workspace())
    check_user(home, _REFUSAL)
    return InstallationPlan(home.root, tuple(_plan_removals(home, name) for name in dict.fromkeys(names or HARNESSES)))


def _plan_removals(home: Home, name: str) -> HarnessPlan:
    from remit.hooks.settings_files import plan_file_removal, plan_removal

    paths = {
        "claude": (LOCAL, SHARED, claude.SERVERS_FILE),
        "codex": (CODEX,),
        "opencode": (PLUGIN, *opencode.SETTINGS_FILES),
    }[name]
    edits, undone = [], []
    for path in paths:
        try:
            if path == PLUGIN:
                edits.append(plan_file_removal(home, path))
            else:
                edits.append(plan_removal(home, path, comments=path in opencode.SETTINGS_FILES))
        except RemitError as error:
            if _may_concern(home, path):
                undone.append(error)
    notes = [
        f"Remit has no record of {edit.path} before the installation: an empty list or object in it may have been yours"
        for edit in edits if edit.is_guess
    ]  # fmt: skip
    if is_in_worktree(home.root) and any(edit.is_change for edit in edits):
        notes.append(f"this is a linked worktree: Remit removes the hooks in the main checkout, '{home.root}'")
    if name == "codex" and any(edit.is_change for edit in edits):
        notes.append("the trust entry for these hooks stays in your Codex settings; it trusts nothing else")
    return HarnessPlan(name, tuple(edits), notes=tuple(notes), undone=tuple(undone))


def _may_concern(home: Home, path: str) -> bool:
    """Return whether an unreadable file may contain anything of Remit's."""
    from remit.hooks.settings_files import MAX_BYTES, has_record
    from remit.storage.files import load_bytes

    try:
        return has_record(home, path) or b"remit" in load_bytes(f"{home.root}/{path}", max_bytes=MAX_BYTES)
    except RemitError:
        return False

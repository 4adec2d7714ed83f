"""Shell limits: the limits that the kernel enforces on the shell commands of agents, by their rules and `[confine]`.

The hook gives each command a one-time ticket. The shell that the harness starts takes the ticket and becomes the real
shell, free or confined (`harness_files/confine/shell`). The user's commands also get tickets: an agent may start
between the hook and the shell, and from then on the shell runs no command without a ticket.
"""

from __future__ import annotations

import os

from remit.errors import RemitError
from remit.harnesses import claude, opencode
from remit.hooks import command_tickets as tickets
from remit.hooks import replies
from remit.light_json import parse_json

TYPE_CHECKING = False  # importing typing costs 6 ms
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from remit.confine import Profile
    from remit.hooks.events import HookEvent
    from remit.hooks.roster import Roster, RosterEntry
    from remit.ledger.home import Home
    from remit.ledger.hook_runs import HookRun
    from remit.ledger.store import Connection
    from remit.policy import Permissions

_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - every build needs them
_TEMPORARY_VARIABLES = ("TMPDIR", "CLAUDE_CODE_TMPDIR")
_TICKETS = f"{tickets.FOLDER}/tickets"
_HINT = "use the harness's tools for files, or return `partial` and say what is missing"


def has_shell(event: HookEvent, root: str, environ: Mapping[str, str]) -> bool:
    """Return whether the harness starts Remit's shell for commands."""
    if event.harness == "codex":
        return os.path.exists(f"{root}/{tickets.FOLDER}/{tickets.STARTER}")
    shell = environ.get(opencode.SHELL_VARIABLE if event.harness == "opencode" else claude.SHELL_VARIABLE, "")
    folder = os.path.realpath(os.path.dirname(shell))
    return folder == os.path.realpath(f"{root}/{tickets.FOLDER}") and os.access(shell, os.X_OK)


def free_command(event: HookEvent, root: str, environ: Mapping[str, str]) -> replies.Answer:
    """Give a command of the user's own session a ticket, if commands in this workspace get tickets.

    In Codex, only commands that have to be confined start Remit's shell.
    """
    if event.harness == "codex" or not (tickets.has_rules(root) and has_shell(event, root, environ)):
        return {}
    return _attach(event, tickets.give_ticket(root), root)


def confine_command(
    event: HookEvent, own: HookRun | None, layers: Sequence[Permissions], root: str, environ: Mapping[str, str]
) -> tuple[replies.Answer, str]:
    """Return the addition to the answer for an agent's command, and its ticket; or the refusal, without a ticket."""
    rules = _load_rules(root)
    if not rules or (own is None and tickets.is_read_only(root)):
        return {}, ""  # `remit run` has confined the whole harness by the agent's permissions
    is_run = bool(environ.get("REMIT_TICKET")) and not event.agent_id  # the whole harness is confined, or nothing
    is_enforced = not is_run and needs_profile(layers, rules)
    refused = _find_obstacle(event, rules, root, environ) if is_enforced else ""
    if refused:
        return replies.deny(f"{refused}; {_HINT}"), ""
    if not has_shell(event, root, environ):  # with the mode `auto`, as on a machine that can't confine commands
        return {}, ""
    if not is_enforced and event.harness == "codex":
        return {}, ""
    try:
        profile = _ensure_profile(own, layers, rules, root, environ) if is_enforced else ""
    except RemitError as error:
        return replies.deny(f"{error.message}; {_HINT}"), ""
    ticket = tickets.give_ticket(root, profile)
    return _attach(event, ticket, root), ticket


def find_limits(layers: Sequence[Permissions], root: str) -> tuple[bool, bool]:
    """Return whether the kernel limits the commands of an agent with these permissions, and whether it judges programs.

    This is the answer for a session of a harness that starts Remit's shell.
    """
    rules = _load_rules(root)
    is_limited = bool(rules) and not rules.get("reason") and needs_profile(layers, rules)
    return is_limited, is_limited and bool(rules.get("judge"))


def judges_programs(event: HookEvent, layers: Sequence[Permissions], root: str, environ: Mapping[str, str]) -> bool:
    """Return whether every program that an agent's command starts is judged at exec."""
    is_run = bool(environ.get("REMIT_TICKET")) and not event.agent_id  # the whole harness is confined, or nothing
    return not is_run and find_limits(layers, root)[1] and has_shell(event, root, environ)


def find_launcher(
    event: HookEvent, own: HookRun | None, root: str, environ: Mapping[str, str]
) -> tuple[tuple[str, ...], str]:  # fmt: skip
    """Return the words that start a command with the limits of an agent's commands, and why none may run.

    Without words, the agent's commands have no limits.
    """
    rules = _load_rules(root)
    layers = [] if own is None else _read_layers(own)
    if not rules or not needs_profile(layers, rules):
        return (), ""
    why = rules.get("reason") or tickets.find_break(root, event.session)
    if not why and not has_shell(event, root, environ):
        if rules["mode"] != "require":
            return (), ""
        why = "this session doesn't use Remit's shell"
    if why:
        return (), f"the kernel can't limit it as it limits the agent's commands: {why}"
    try:
        profile = _ensure_profile(own, layers, rules, root, environ)
    except RemitError as error:
        return (), error.message
    from remit.confine.command import make_command

    return tuple(make_command(f"{root}/{tickets.FOLDER}/profiles/{profile}", ())), ""


def needs_profile(layers: Sequence[Permissions], rules: Mapping[str, Any]) -> bool:
    """Return whether the commands of an agent with these permissions are confined."""
    return rules.get("mode") == "require" or any(layer.allow or layer.deny or layer.unread for layer in layers)


def _find_obstacle(event: HookEvent, rules: Mapping[str, Any], root: str, environ: Mapping[str, str]) -> str:
    """Return why an agent that has to be confined gets no command; "" if it does."""
    broken = tickets.find_break(root, event.session)
    if broken:
        return broken
    if rules.get("reason"):
        return f"[confine] requires that the kernel limits commands, and this machine can't: {rules['reason']}"
    if not has_shell(event, root, environ):
        problem = "[confine] requires that the kernel limits commands, and this session doesn't use Remit's shell"
        return problem if rules["mode"] == "require" else ""
    if not isinstance(event.tool_input.get(claude.COMMAND_KEY), str):
        return f"the kernel can't limit what {event.tool} runs; use Bash"
    return ""


def _attach(event: HookEvent, ticket: str, root: str) -> replies.Answer:
    """Put a ticket before the command. The harness applies its own rules to the command as if there were no ticket."""
    command = event.tool_input.get(claude.COMMAND_KEY)
    if not isinstance(command, str):
        return {}
    if event.harness == "opencode":
        return replies.give_ticket(ticket)
    if event.harness == "codex":
        # Without `allow`, Codex ignores the changed command. Its sandbox and rules still apply to that command.
        return replies.rewrite({**event.tool_input, claude.COMMAND_KEY: tickets.start(command, ticket, root)})
    return replies.change_input({**event.tool_input, claude.COMMAND_KEY: tickets.sign(command, ticket)})


def end_command(event: HookEvent, ticket: str, root: str) -> None:
    """Remove the ticket of an agent's command that has ended; if no shell took it, allow no more commands.

    `ticket`: the ticket from the hook before the command. If the harness ignored it, or another hook replaced the
    command, nothing may have limited the command.
    """
    has_run = event.kind == claude.AFTER_TOOL or event.error.startswith(claude.EXIT_SIGN)
    found = _find_ticket(event)
    if event.harness == "codex":  # it reports the command that ran; in its sandbox, taking a ticket may leave no trace
        was_taken = tickets.is_given(root, found)
        tickets.remove_ticket(root, found)
        tickets.remove_ticket(root, ticket)
    elif found and found != ticket and tickets.remove_ticket(root, found):  # a second hook, such as that of a plugin
        tickets.remove_ticket(root, ticket)
        return
    else:
        was_taken = tickets.remove_ticket(root, ticket, wait_s=tickets.LATE_S if has_run else 0.0)
    if was_taken or not has_run:
        return
    reason = (
        "no shell took the ticket that Remit gave to a command of this session, so the kernel may not have limited "
        "it, and agents with permissions get no more shell commands here"
    )
    tickets.break_session(root, event.session, reason)


def end_free_command(event: HookEvent, root: str) -> None:
    """Remove the ticket of a user's command, unless a shell may still take it, as for a command in the backcontext."""
    ticket = _find_ticket(event)
    if ticket and tickets.was_taken(root, ticket):
        tickets.remove_ticket(root, ticket)


def _find_ticket(event: HookEvent) -> str:
    """Return the ticket of the command that a harness has run."""
    if event.harness == "opencode":
        return tickets.parse_ticket(event.payload.get(opencode.TICKET_KEY))
    command = event.tool_input.get(claude.COMMAND_KEY)
    if not isinstance(command, str):
        return ""
    return tickets.find_start(command) if event.harness == "codex" else tickets.split(command)[0]


# --- sessions with agents that have to be confined -------------------------------------------------------------------
def open_if_enforced(root: str, own: HookRun, environ: Mapping[str, str]) -> None:
    """Require tickets in the session of an agent that is about to start, if the agent has to be confined."""
    rules = _load_rules(root)
    if rules and needs_profile(_read_layers(own), rules):
        tickets.open_session(root, own.harness_session, environ.get(claude.SHELL_SESSION, ""))


def close_if_idle(db: Connection, root: str, session_id: str) -> None:
    """Let commands run without a ticket again, if no agent of the session has to be confined.

    Called in the transaction that finishes a run, so that no other agent is admitted in between.
    """
    from remit.ledger.hook_runs import find_by_session, list_open

    own = find_by_session(db, session_id)
    if own is None or not tickets.is_open(root, own.harness_session):
        return
    rules = _load_rules(root)
    if not any(needs_profile(_read_layers(each), rules) for each in list_open(db, own.harness_session)):
        tickets.close_session(root, own.harness_session)


def _load_rules(root: str) -> Mapping[str, Any]:
    kept = tickets.load_rules(root)
    return parse_json(kept) if kept else {}


def _read_layers(own: HookRun) -> list[Permissions]:
    from remit.policy.decision import Permissions

    layers = parse_json(own.layers)
    return [
        Permissions(each.get("tools"), each.get("allow", {}), each.get("deny", {}), each.get("unread", ""))
        for each in layers
    ]


# --- an agent's profile ----------------------------------------------------------------------------------------------
def _ensure_profile(
    own: HookRun | None, layers: Sequence[Permissions], rules: Mapping[str, Any], root: str,
    environ: Mapping[str, str],
) -> str:  # fmt: skip
    """Return the name of the profile of an agent's commands, and create the profile before the first command."""
    from remit.light_hash import take_sha256

    rules_of_layers = [[each.tools and [*each.tools], each.allow, each.deny, each.unread] for each in layers]
    facts = repr((own.session_id if own is not None else "", rules_of_layers, sorted(rules.items())))
    name = take_sha256(facts.encode("utf-8", "surrogatepass"))
    if not tickets.has_profile(root, name):
        profile, later, sentences = make_command_profile(layers, root, environ, rules)
        tickets.keep_profile(root, name, profile.render(), later)
        if own is not None and own.session_id:
            _keep_sentences(root, own.session_id, sentences)
    return name


def _keep_sentences(root: str, session_id: str, sentences: Sequence[str]) -> None:
    """Store the sentences on rules that the kernel enforces differently, for the result."""
    from remit.ledger.home import Home
    from remit.ledger.texts import store_texts
    from remit.runs.supervisor.launch import CONFINED

    home = Home(root)
    try:
        store_texts(home, session_id, {CONFINED: "\n".join(sentences).encode()}, durable=False)
    finally:
        home.close()


def make_command_profile(
    layers: Sequence[Permissions], root: str, environ: Mapping[str, str], rules: Mapping[str, Any]
) -> tuple[Profile, tuple[str, ...], list[str]]:
    """Return the profile of an agent's commands, files to add once they exist, and sentences on deviations.

    A command may write what all layers allow, temporary folders, what `[confine] write` says and, if the agent may
    write at all, git's folders. Raise `RunnerError` if a protected place can't be protected.
    """
    from remit.attempts.confine import ReadOnlyPath, find_common_folder, list_own_code, list_protected, list_services
    from remit.attempts.folders import CONTROL
    from remit.confine import Profile, find_level
    from remit.policy import PathContext
    from remit.policy.confinement_profile import WRITING, judge_commands, list_caches, list_new_files, make_profile
    from remit.policy.paths import is_below
    from remit.policy.protected_paths import GIT_PLACES, HARNESSES, list_places

    level = find_level()
    root = os.path.realpath(root)
    home = os.path.realpath(environ.get("HOME", "") or os.path.expanduser("~"))
    may_write = all(layer.tools is None or {*WRITING} & {*layer.tools} for layer in layers)
    common = find_common_folder(root)
    context = PathContext(root, root, home, os.path.realpath)
    permitted, sentences = make_profile(
        layers, context, write=(*rules["write"], *((common,) if may_write and os.path.isdir(common) else ()))
    )
    permitted = judge_commands(permitted, sentences, is_judged=rules.get("judge", True) and level.has_judge)
    later = tuple(sorted(list_new_files(layers, context).intersection(permitted.write)))
    sentences = [each for each in sentences if "the file is made empty before" not in each]
    sentences += [f"'{path}' doesn't exist: a command can't create it, other tools can" for path in later]
    write = [path for path in permitted.write if path not in later]
    tickets.make_folders(write)
    closed = (*permitted.protect, *permitted.hide)
    temporary = _list_temporary(root, home, environ)
    write += [path for path in temporary if not any(is_below(path, each) for each in (*write, *closed))]
    places = [place for harness in HARNESSES for place in list_places(root, home, harness, environ)[0]]
    enclosed = [
        path for path in dict.fromkeys((root, home, *list_own_code(root)))
        if path not in write and any(is_below(path, each) for each in temporary if each in write)
    ]  # fmt: skip
    fixed = [ReadOnlyPath(*place) for place in dict.fromkeys(places)]
    git = [ReadOnlyPath(*place) for place in GIT_PLACES]
    protected = list_protected(root, fixed, git, writable=write, enclosed=enclosed)
    control = f"{root}/.remit/{CONTROL}"  # only what exists can be hidden
    tickets.make_folders([control])
    profile = Profile(
        write=tuple(path for path in write if not any(is_below(path, each) for each in protected)),
        protect=tuple(dict.fromkeys((*protected, *permitted.protect))),
        enclose=tuple(enclosed),
        hide=tuple(dict.fromkeys((*permitted.hide, f"{root}/{_TICKETS}", control, *list_services(environ)))),
        private=tuple(list_caches(home, environ, write)),
        network="all" if rules["network"] == "all" else "none",
        keeps_inside=level.has_scopes,
        deny=permitted.deny,
        allow=permitted.allow,
    )
    return profile, later, sentences


def _list_temporary(root: str, home: str, environ: Mapping[str, str]) -> list[str]:
    """Return the existing folders for temporary files that the user may write to.

    The settings of a repository can set the variables, so these open neither the workspace nor the home folder.
    """
    from remit.policy.paths import is_below

    named = [os.path.realpath(each) for name in _TEMPORARY_VARIABLES if (each := environ.get(name, "")).startswith("/")]
    named = [each for each in named if not any(is_below(path, each) for path in (root, home))]
    real = [*map(os.path.realpath, _TEMPORARY), *named]
    return [each for each in dict.fromkeys(real) if os.path.isdir(each) and os.access(each, os.W_OK) and each != "/"]


# --- the rules of `[confine]` ----------------------------------------------------------------------------------------


def keep_confine_rules(home: Home, roster: Roster) -> None:
    """Store the rules of `[confine]` that hooks need, or that commands get no tickets.

    A running agent keeps its limits if the last agent file with permissions is removed.
    """
    rules = _render_rules(home, roster)
    if rules:
        tickets.keep_rules(home.root, rules)
    elif rules is None or not tickets.has_open(home.root):
        tickets.stop(home.root)


def _render_rules(home: Home, roster: Roster) -> str | None:
    """Return the rules as JSON; "" if no agent needs them; None if `[confine]` is off."""
    confine = dict(roster.confine)
    if (confine["mode"] == "off" or confine["write"] or not confine["judge"]) and not _is_trusted(home):
        confine |= {"mode": "auto" if confine["mode"] == "off" else confine["mode"], "write": [], "judge": True}
    if confine["mode"] == "off":
        return None
    entries = [entry for agents in roster.agents.values() for entry in agents.values()]
    if confine["mode"] != "require" and not any(map(_has_permissions, entries)):
        return ""
    import json

    from remit.confine import find_level

    level = find_level()
    has_network = level.has_no_network or confine["network"] == "all"
    reason = "" if level.has_files and has_network else "; ".join(level.reasons)
    if reason and confine["mode"] == "auto":
        return ""
    rules = {name: confine[name] for name in ("mode", "write", "network")} | {"reason": reason}
    rules["judge"] = confine["judge"] and level.has_judge
    return json.dumps(rules, separators=(",", ":"))


def _has_permissions(entry: RosterEntry) -> bool:
    return any(layer.get("allow") or layer.get("deny") or layer.get("unread") for layer in entry.layers)


def _is_trusted(home: Home) -> bool:
    from remit.runs.workspace_trust import check_trust
    from remit.storage.settings import load_settings

    try:
        check_trust(home.root, load_settings(home.root))
    except RemitError:
        return False
    return True

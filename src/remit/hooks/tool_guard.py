"""Tool guard: decides whether an agent may make a tool call.

The permissions of the agent and all its ancestors apply, as they were when the agent was admitted. A cancelled agent,
or an agent past its deadline, gets no more tools.
"""

from __future__ import annotations

import os
import time

from remit.commands import is_open_to_agents
from remit.harnesses import claude, codex
from remit.harnesses.tool_names import KNOWN, get_operation
from remit.hooks import replies
from remit.hooks.command_tickets import load_limits
from remit.hooks.protected_changes import note_before
from remit.hooks.session_lookup import MAIN, find_agent_path, find_recipient
from remit.hooks.shell_limits import confine_command, judges_programs
from remit.hooks.tool_calls import WRITING, list_patched, list_values, make_call
from remit.lazy_regex import lazy
from remit.ledger.hook_runs import begin_command, find_by_agent, list_layers, note_use
from remit.light_json import parse_json
from remit.policy import Decision, PathContext, Permissions, ToolCall, judge
from remit.policy.decision import ALLOWED, ask_user, deny, shorten
from remit.storage.protected_files import make_path_context

TYPE_CHECKING = False  # importing typing costs 6 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from remit.hooks.events import HookEvent
    from remit.ledger.hook_runs import HookRun
    from remit.ledger.store import Connection

_PACKAGES = frozenset({
    "agent_files", "agents", "attempts", "cli", "cluster", "config", "confine", "errorlog", "evidence", "git",
    "harness_files", "harnesses", "hooks", "ledger", "maintenance", "manifest", "mcp", "policy", "returns",
    "runners", "runs", "server", "storage", "tasks", "telemetry", "testing", "views", "__main__",
})  # fmt: skip
"""The packages of Remit's own code."""
_HARNESSES = ("claude", "codex", "opencode", "gemini")
_HARMLESS_ARGUMENTS = ("--version", "-v", "-V", "--help", "-h", "help")
_NAMES = ("remit", *_HARNESSES)
_QUOTES = str.maketrans("", "", "\"'\\")
_IMPORTING = lazy(rf"(?:import|from)[^\n;]*\bremit\b|\bremit\.(?:{'|'.join(sorted(_PACKAGES))})\b")
"""Python code that names Remit's own modules."""
_NO_TICKET = (
    "Remit can't identify the agent behind this command; start subagents with the harness's own tool, and leave the "
    "settings of harnesses to the user"
)
_CALLER_TOOLS = (
    "remit__delegate", "remit__cancel", "remit__check_return", "remit__submit_return", "remit_delegate", "remit_cancel",
    "remit_submit_return",
)  # fmt: skip
"""The tools of Remit's own server that need to know their caller."""
_OWN_TOOLS = frozenset(
    f"{name}{tool}"
    for name in ("remit__", "remit_")
    for tool in (
        "delegate", "result", "cancel", "check_return", "submit_return", "find_findings", "add_finding", "task_show",
        "task_move", "lint", "status", "checks",
    )
)  # fmt: skip
"""The tools of Remit's own server, which Remit itself checks."""
_SENDING = claude.SENDING
"""Tools that give a running or ended agent more work."""
_GIT_WORDS = ("clean", "stash")
_SIGNS = str.maketrans("<>|&;()=\"'", " " * 10)
MAX_WORDS = 500
"""How many words of a command for an unknown tool are compared with the names of files."""
MAX_NAME = 4096
"""A longer text can't be the name of a file."""
_TICKETED = "SELECT session_id FROM runs WHERE ticket = ?"
_CONFINED = "SELECT json_extract(details, '$.confine') FROM runs WHERE session_id = ?"
_STATE = """
    SELECT state, EXISTS (SELECT 1 FROM events WHERE events.session_id = runs.session_id AND kind = 'cancel')
    FROM runs WHERE session_id = ?
"""


def guard_tool(
    event: HookEvent, own: HookRun | None, db: Connection, root: str, environ: Mapping[str, str]
) -> replies.Answer:
    """Return a denial of an agent's tool call, a question to the user, or nothing."""
    refused = "" if own is None else _find_end(db, own) or _find_wrong_recipient(db, event, own)
    if refused:
        return replies.deny(refused)
    if own is None and _writes_return(event, environ):
        return {}
    layers, context = _list_layers(db, own, environ), _make_context(event, root, environ)
    operation, ticket = get_operation(event.tool), ""
    confined: replies.Answer = {}
    if operation == "run":
        decision, confined, ticket = _guard_command(db, event, own, layers, context, root=root, environ=environ)
        if confined and not ticket:
            return confined
        if decision.answer != "deny" and own is not None and own.enforced and event.tool_use_id:
            is_limited = _is_limited(root, ticket)
            note_before(
                db, own.session_id, event.tool_use_id, root, harness=event.harness, is_limited=is_limited
            )  # fmt: skip
    else:
        decision = judge_event(event, own, layers, context)
    if decision.answer == "allow":
        if own is not None and own.session_id and event.harness == "codex":
            # Codex doesn't report the end of every use, but only the end shows which files it wrote.
            note_use(db, own, event.tool, [], operation=operation, failed=False)
        is_reported = ticket or event.harness != "codex"
        if own is not None and own.session_id and event.tool_use_id and operation == "run" and is_reported:
            begin_command(db, own.session_id, event.tool_use_id, ticket)
        return confined
    # Codex makes a call that it should ask about, and opencode's plugins can't ask.
    can_ask = event.harness == "claude" and _load_ask(db) == "ask"
    return replies.join(replies.answer(decision, can_ask=can_ask), confined)


def _guard_command(
    db: Connection, event: HookEvent, own: HookRun | None, layers: list[Permissions], context: PathContext, *,
    root: str, environ: Mapping[str, str],
) -> tuple[Decision, replies.Answer, str]:  # fmt: skip
    """Return the decision about a command, the answer that has the kernel limit the command, and its ticket."""
    is_judged = judges_programs(event, layers, root, environ)
    decision = judge_event(event, own, layers, context._replace(is_judged=is_judged))
    may_run = decision.answer == "allow" or (decision.answer == "ask" and event.harness == "claude")
    if not may_run:
        return decision, {}, ""
    confined, ticket = confine_command(event, own, layers, root, environ)
    is_limited = _is_limited(root, ticket) or _is_in_confined_run(db, own)
    if not is_limited:
        decision = judge_event(event, own, layers, context._replace(is_limited=False))
    return decision, confined, ticket


def _is_limited(root: str, ticket: str) -> bool:
    return bool(ticket and load_limits(root, ticket)[1])


def _is_in_confined_run(db: Connection, own: HookRun | None) -> bool:
    """Return whether Remit started the agent's harness confined."""
    found = None if own is None else db.execute(_CONFINED, (own.session_id,)).fetchone()
    return found is not None and bool(found[0])


def _writes_return(event: HookEvent, environ: Mapping[str, str]) -> bool:
    """Return whether an agent that Remit started writes its return file, which it may do in `.remit`."""
    file = environ.get("REMIT_RETURN_FILE", "")
    call = make_call(event) if file else None
    return call is not None and call.tool in WRITING and call.paths == (file,) and not os.path.islink(file)


def judge_event(event: HookEvent, own: HookRun | None, layers: list[Permissions], context: PathContext) -> Decision:
    """Return the decision about a tool call, also for `remit agent can`."""
    trouble = "" if own is None else _find_missing_ticket(event, own, context)
    return Decision("deny", trouble, "") if trouble else _judge(event, layers, context)


def _find_missing_ticket(event: HookEvent, own: HookRun, context: PathContext) -> str:
    """Return why an agent without a ticket may not call Remit like this, or start a harness; empty if it may.

    This reads only plain words, to explain the refusal before anything runs. If an agent hides the words, Remit finds
    it by its parent processes.
    """
    call = make_call(event)
    plain = call.command.translate(_QUOTES)
    if any(name in plain for name in _NAMES) and _needs_ticket(call.command, context):
        return _NO_TICKET
    if any(word in plain for word in _GIT_WORDS) and any(
        map(_removes_remit_folder, _list_commands(call.command, context)[0])
    ):
        return "git would remove '.remit', which contains this run; use git clean -fdx -e .remit, or git stash -u"
    if call.tool == "bash" and not call.command.strip():
        return f"{event.tool} doesn't contain its command as text; pass the command as one string"
    if event.tool.endswith(_CALLER_TOOLS) and own.session_id and event.tool_input.get("caller") != own.session_id:
        return f'Remit doesn\'t know which agent calls; call it again with "caller": "{own.session_id}"'
    return ""


def _find_wrong_recipient(db: Connection, event: HookEvent, own: HookRun) -> str:
    """Return why an agent may not message another agent that it didn't call; empty if it may."""
    if event.collaboration:
        return _find_wrong_codex_recipient(db, event, own)
    if event.tool not in _SENDING:
        return ""
    keys = claude.RECIPIENT_KEYS
    named = next((event.tool_input[key] for key in keys if isinstance(event.tool_input.get(key), str)), "")
    target = find_by_agent(db, event.session, named) if named else None
    if named == claude.MAIN_RECIPIENT or (target is not None and target.parent_id == own.session_id):
        return ""
    if target is None and not own.enforced:  # another session, or a name that only the harness knows
        return ""
    name = named if target is None else target.agent
    return f"you didn't call '{name}'; message only agents that you called, or return `partial`"


def _find_wrong_codex_recipient(db: Connection, event: HookEvent, own: HookRun) -> str:
    """Return the same in Codex, whose agents know each other by path; an agent may report to its caller."""
    if event.collaboration not in (*codex.GIVING, *codex.TELLING):
        return ""
    target, path = find_recipient(db, event)
    if target is not None and target.parent_id == own.session_id:
        return ""
    caller = find_agent_path(event).rpartition("/")[0]
    if event.collaboration in codex.TELLING and path and path == caller:
        return ""
    name = target.agent if target is not None else path or "the recipient"
    return f"you didn't call '{name}'; message only agents that you called, or return `partial`"


def _needs_ticket(command: str, context: PathContext) -> bool:
    """Return whether a command starts a harness, or a command of Remit's that isn't open to agents."""
    runs, codes = _list_commands(command, context)
    for words in runs:
        if any(map(_names_own_code, words)):
            return True
        program, first = words[0].rpartition("/")[2], next(iter(words[1:]), "")
        if program == "remit" and not is_open_to_agents(words[1:]):
            return True
        if program in _HARNESSES and first not in _HARMLESS_ARGUMENTS:
            return True
    return any(_IMPORTING.search(code) for code in codes)


def _list_commands(command: str, context: PathContext) -> tuple[list[list[str]], list[str]]:
    """Return the words of the programs that a command plainly starts, and its code in other languages."""
    from remit.policy.bash.simple_commands import ScriptReader
    from remit.policy.bash.words import Invocation

    reader = ScriptReader(context)
    reader.read(command)
    return [[word.text for word in act.words] for act in reader.acts if isinstance(act, Invocation)], reader.codes


def _removes_remit_folder(words: list[str]) -> bool:
    """Return whether git would remove or stash ignored files, and with them `.remit`."""
    at = next((at for at, word in enumerate(words) if at and word in _GIT_WORDS), 0)
    if not at or words[0].rpartition("/")[2] != "git":
        return False
    rest = words[at + 1 :]
    letters = {letter for word in rest if word[:1] == "-" and word[1:2] != "-" for letter in word[1:]}
    if words[at] == "clean":
        is_tried = "n" in letters or "--dry-run" in rest
        names = [word for word in rest if word[:1] != "-" and word.strip("./")]
        return bool({"x", "X"} & letters) and not is_tried and not names
    kind = rest[0] if rest and rest[0][:1] != "-" else "push"
    return kind in ("push", "save") and ("a" in letters or "--all" in rest) and "--" not in rest


def _names_own_code(word: str) -> bool:
    """Return whether a word names a module or a file of Remit's own code."""
    parts = word.replace("/", ".").removesuffix(".py").split(".")
    at = len(parts) - parts[::-1].index("remit") if "remit" in parts else len(parts)
    return parts[at : at + 1] != [] and parts[at] in _PACKAGES


def _judge(event: HookEvent, layers: list[Permissions], context: PathContext) -> Decision:
    """Return the policy's decision about a call. Codex passes patches to a command that no shell knows."""
    call = make_call(event)
    if call.tool in WRITING and not call.paths:
        return deny(f"{event.tool} doesn't name the file to write", "", instead="name the file, then try again")
    decision = judge(call, layers, context)
    if event.tool not in KNOWN and decision.answer != "deny":
        unknown = _judge_unknown_tool(event, layers, context)
        decision = unknown if unknown.answer != "allow" else decision
    patched = list_patched(call.command) if codex.PATCH_START in call.command else ()
    if patched and decision.answer != "deny":
        written = judge(ToolCall("edit", tuple(patched)), layers, context)
        decision = written if written.answer != "allow" else decision
    return decision


def _judge_unknown_tool(event: HookEvent, layers: list[Permissions], context: PathContext) -> Decision:
    """Return the decision about an unknown tool, such as that of an MCP server, by the values in its input.

    Remit doesn't know whether such a tool reads or writes, and its server isn't confined. So the user decides about a
    value, or a word of a command, that names a protected or denied file. The programs of a command are judged as those
    of a shell command.
    """
    if event.tool.removeprefix("mcp__").removeprefix("plugin_remit_") in _OWN_TOOLS:
        return ALLOWED
    values = list_values(event.tool_input)
    if not values.is_whole:
        return deny(f"{event.tool} got more values than Remit checks", "values", instead="split the call")
    question = ALLOWED
    for script in values.scripts:
        found = judge(ToolCall("bash", command=script), layers, context._replace(is_judged=False))
        if found.answer == "deny":
            return found
        question = found if found.answer == "ask" else question
    if values.codes and any("bash" in (*layer.allow, *layer.deny) or layer.tools is not None for layer in layers):
        question = ask_user(
            f"{event.tool} runs code that Remit can't compare with this agent's rules for bash",
            "code",
            instead="use bash instead, or return `partial` and say what is missing",
            question=f"The agent wants to run code with {event.tool}. Its rules limit what it may run, and Remit can't "
            "compare them with this code.",
        )
    denials = [Permissions(deny=layer.deny) for layer in layers]
    words = [word for script in values.scripts for word in script.translate(_SIGNS).split()[:MAX_WORDS]]
    for text in (*values.texts, *words):
        named = text.removeprefix("file://")
        if len(named) > MAX_NAME or any(char < " " for char in named):
            continue
        for tool in ("write", "read"):
            found = judge(ToolCall(tool, (named,)), denials, context)
            if found.answer != "allow":
                path, rule = shorten(named), found.rule
                return ask_user(
                    f"{event.tool} names '{path}', which {rule} keeps from this agent, and Remit doesn't know what "
                    f"{event.tool} does with it",
                    rule,
                    instead="use the harness's own tools for files, or return `partial` and say what is missing",
                    question=f"The agent wants to use {event.tool} on '{path}'. The rule {rule} keeps agents from this "
                    f"file, and Remit doesn't know whether {event.tool} reads or writes it.",
                )
    return question


def _find_end(db: Connection, own: HookRun) -> str:
    """Return why an agent gets no more tools; empty if it gets them."""
    state, is_cancelled = db.execute(_STATE, (own.session_id,)).fetchone() or ("", 0)
    if is_cancelled:
        return "this run was cancelled; stop now, and return what you have as `partial`"
    if state == "finished" and own.enforced and own.agent_id != MAIN:  # it continues without having been admitted again
        return "this run has ended; use no more tools, and say what is left to do"
    if 0 < own.deadline_ms < time.time_ns() // 1_000_000:
        return "your time is up; use no more tools, and return what you have as `partial`"
    return ""


def _list_layers(db: Connection, own: HookRun | None, environ: Mapping[str, str]) -> list[Permissions]:
    """Return the permissions of an agent and of its ancestors."""
    if own is not None:
        return [_read_permissions(each) for each in parse_json(own.layers)]
    session_id = find_ticketed(db, environ)
    if not session_id:
        return []
    return [_read_permissions(parse_json(each)) for each in list_layers(db, session_id)]


def find_ticketed(db: Connection, environ: Mapping[str, str]) -> str:
    """Return the session for which Remit started this harness; empty if Remit didn't start it."""
    token = environ.get("REMIT_TICKET", "")
    if not token:
        return ""
    from hashlib import sha256

    row = db.execute(_TICKETED, (sha256(token.encode()).hexdigest(),)).fetchone()
    return "" if row is None else str(row[0])


def _read_permissions(layer: dict[str, Any]) -> Permissions:
    return Permissions(layer.get("tools"), layer.get("allow", {}), layer.get("deny", {}), layer.get("unread", ""))


def _make_context(event: HookEvent, root: str, environ: Mapping[str, str]) -> PathContext:
    """Return the folders of a call. Some harnesses let a command run in another folder than the session's."""
    home = environ.get("HOME", "") or os.path.expanduser("~")
    cwd, folder = event.cwd or root, event.tool_input.get(codex.WORKDIR_KEY)
    if isinstance(folder, str) and folder and "\0" not in folder:
        cwd = os.path.join(cwd, folder)
    return make_path_context(root, cwd, home, environ)


def _load_ask(db: Connection) -> str:
    """Return what the settings say about a call that Remit can't decide: `ask` or `deny`, from the stored roster."""
    row = db.execute("SELECT value FROM notes WHERE name = 'roster'").fetchone()
    try:
        kept = parse_json(row[0].partition("\n")[2]) if row else {}
    except ValueError:
        kept = {}
    return str(kept.get("hooks", {}).get("ask", "ask"))

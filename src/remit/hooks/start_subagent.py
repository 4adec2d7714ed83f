"""Subagent start: admits the subagents that a harness starts, or refuses them with a reason.

An admitted subagent gets a run in the ledger, with the same limits as a run that Remit starts, and instructions. The
caller's prompt stays as it is; the instructions follow it, and the caller's own context never contains them.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from remit.agents.profiles import GIT_WORKFLOW, STATUS_SYNC, UTILITY_AGENTS
from remit.errors import RefusedError, RemitError
from remit.harnesses import claude, codex
from remit.hooks import replies
from remit.hooks.roster import DEFAULT_AGENTS, RosterEntry, load_roster
from remit.hooks.session_lookup import MAIN, find_agent_path, find_own, find_recipient
from remit.hooks.shell_limits import keep_confine_rules, open_if_enforced
from remit.hooks.user_session import load_command
from remit.lazy_regex import lazy
from remit.ledger.events import add_event, read_clock_ms
from remit.ledger.hook_runs import (
    HOOKS_OWNER,
    HookRun,
    add_hook_run,
    find_by_agent,
    find_by_call,
    find_by_path,
    find_by_session,
    is_over,
    leave_instructions,
    list_open,
    list_unbound,
)
from remit.ledger.runs import Run, add_run
from remit.ledger.slots import Slots, take_slot
from remit.ledger.texts import SCHEMA, load_text, store_texts
from remit.light_namedtuple import NamedTuple
from remit.model import MAX_DEPTH
from remit.runs.admission.guard import admit, make_session_id
from remit.runs.admission.limits import Budget, find_timeout
from remit.runs.admission.run_config import GIVEN, RunConfig, name_work
from remit.runs.admission.tickets import describe_session, find_caller
from remit.runs.admission.trace_context import find_incoming
from remit.runs.instructions import (
    ALONE,
    InstructionFacts,
    name_targets,
    name_utility,
    render_contract,
    render_duration,
    show,
)
from remit.storage.process_ancestry import find_harness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.hooks.events import HookEvent
    from remit.hooks.roster import Roster
    from remit.ledger.home import Home
    from remit.ledger.store import Connection
    from remit.result import Result
    from remit.runs.admission.guard import Admission, Caller


MARK = "<remit-delegation>"
"""Marks the beginning of the instructions in a prompt."""


def render_instructions(work: InstructionFacts) -> str:
    """Return the instructions of a subagent: its session, its limits and its return format."""
    above = " → ".join(show(name) for name in work.path[:-1])
    return (
        f"{MARK}\n"
        f"# Delegation\nYou are {show(work.agent)}, session {show(work.session_id)}, depth {work.depth} of "
        f"{work.max_depth}{f', called by {above}' if above else ''}.\n"
        f"You have {render_duration(work.timeout_s)}. After that your tools are refused: write files early, and "
        f"return `partial` before the deadline instead of missing it.\n{_describe_targets(work)}\n\n"
        f"# What to send back\n{render_contract(work).strip()}\n"
        f"</{MARK[1:]}\n"
    )


def _describe_targets(work: InstructionFacts) -> str:
    whom = name_targets(work)
    if not whom:
        return ALONE
    named = name_utility(work)
    utility = (
        f" Give {named} their inputs as JSON. If your call of one is refused because it is built into Remit, the "
        "refusal contains its return."
    )
    text = f"You may delegate to {whom}. Read the status of each return before you rely on it."
    return text + (utility if named else "")


_MAX_TASK_CHARS = 20_000
"""How much of a prompt is searched for a task number."""
_TASK = lazy(r"\btask_number[\"'*`]{0,3}[ \t]{0,4}[:=][ \t]{0,4}[\"'`]{0,1}(\d{1,9})\b")


class _SubagentStart(NamedTuple):
    """The subagent that a harness is about to start."""

    event: HookEvent
    agent: str
    prompt: str
    entry: RosterEntry
    enforced: bool
    agent_id: str | None = None
    resume_of: str = ""
    process: str = ""
    """The process of the harness."""
    task_path: str = ""
    """The path of the agent in Codex, if its prompt is encrypted."""
    is_late: bool = False
    """Whether the agent started before Remit saw it."""


def admit_call(event: HookEvent, home: Home, environ: Mapping[str, str]) -> replies.Answer:
    """Admit a subagent and append its instructions to its prompt, or refuse it with the reason."""
    if not event.prompt_key:  # Codex also accepts a list of items, to which Remit can't append instructions
        return replies.deny("a subagent's prompt has to be one string; pass it as `prompt`, in Codex as `message`")
    task_path = ""
    if event.harness == "codex":
        trouble = codex.find_trouble(event.tool, event.tool_input)
        if event.is_sealed and not trouble:
            task_path = codex.resolve_path(event.tool_input[codex.TASK_KEY], find_agent_path(event))
            trouble = _find_existing(home, event, task_path)
        if trouble:
            return replies.deny(trouble)
    roster = load_roster(home)
    agent = roster.resolve(event.target or DEFAULT_AGENTS[event.harness])
    entry = roster.find_or_describe(agent, event.harness)
    if agent in UTILITY_AGENTS and roster.find(agent, event.harness) is None:
        return _run_built_in(_SubagentStart(event, agent, "", entry, enforced=False), home, environ)
    enforced = roster.is_enforced(agent, event.harness)
    by_file = entry.isolation
    if enforced and (by_file or _is_elsewhere(event, home.root)):
        how = f"remove `isolation: {by_file}` from its file" if by_file else "call it without isolation, in this folder"
        return replies.deny(
            f"'{agent}' has to work in this folder, where Remit checks its files: {how}, or run "
            f"`remit run {agent} --worktree`"
        )
    prompt = "" if task_path else event.tool_input[event.prompt_key]
    start = _SubagentStart(event, agent, prompt, entry, enforced, task_path=task_path)
    try:
        admission = _admit(start, roster, home, environ)
    except RefusedError as error:
        _note_refusal(home, error, start)
        return replies.deny(str(error))
    if admission is None:  # another hook has admitted the call: a plugin and settings may both call Remit
        with home.ledger.reading() as db:
            known = find_by_call(db, event.session, event.tool_use_id)
        session_id = "" if known is None else known.session_id
    else:
        session_id = admission[0].session_id
    extended = load_text(home, session_id, "prompt") if session_id else None
    if extended is None or task_path:  # an encrypted prompt stays as it is: the agent gets instructions when it starts
        return {}
    tool_input = {**event.tool_input, event.prompt_key: extended.decode("utf-8", "surrogatepass")}
    if event.harness == "claude":  # Remit can replace an answer only if the caller waits for it
        tool_input.setdefault(claude.BACKGROUND_KEY, False)
    return replies.rewrite(tool_input)


_UNSEALED = {
    STATUS_SYNC: "run `remit task set-status NUMBER STATUS` in the shell instead",
    GIT_WORKFLOW: "run `git commit` with the named files in the shell instead",
}
"""What to do instead of calling a utility agent if Codex has encrypted its inputs."""


def _run_built_in(start: _SubagentStart, home: Home, environ: Mapping[str, str]) -> replies.Answer:
    """Run a utility agent that has no file (D1). No harness can start such an agent, so the refusal has its return."""
    import asyncio

    from remit.runs.request import Request
    from remit.runs.workspace import Workspace

    event = start.event
    instead = _UNSEALED.get(start.agent) if event.is_sealed else None
    if instead is not None:
        return replies.deny(
            f"{start.agent} is built into Remit, and Codex has encrypted the prompt with its inputs: {instead}"
        )
    _adopt_caller(start, home, environ)
    start = start._replace(process=find_harness())
    workspace = Workspace(home.root, environ=environ)
    try:
        with workspace.home.ledger.transaction(durable=True) as db:
            known = find_by_call(db, event.session, event.tool_use_id)
            if known is None:
                row = workspace.prepare(
                    Request(start.agent, "" if event.is_sealed else event.tool_input[event.prompt_key]),
                    find_caller=lambda now_ms: _find_caller(start, workspace.home, environ, now_ms),
                ).row
                noted = (row.session_id, event.harness, event.session, start.agent, event.tool_use_id)
                add_hook_run(db, HookRun(*noted, waited=0))
        session_id = row.session_id if known is None else known.session_id

        async def work() -> Result:
            if known is None:
                await workspace.supervisor.run_to_end(session_id)
            return await workspace.wait(session_id)

        result = asyncio.run(work()).to_dict()
    except RefusedError as error:
        _note_refusal(home, error, start)
        return replies.deny(str(error))
    finally:
        workspace.supervisor.end()
        workspace.home.close()
    return replies.deny(
        f"{start.agent} is built into Remit, so no subagent was started: Remit did the work itself. Take this as its "
        f"return, and don't call it again for the same work:\n{json.dumps(result, ensure_ascii=False)}"
    )


def _find_existing(home: Home, event: HookEvent, path: str) -> str:
    """Return why Codex won't start an agent at a path: the path is in use; empty if it isn't."""
    with home.ledger.reading() as db:
        known = find_by_path(db, event.session, path, is_bound=True)
    if known is None:
        return ""
    return f"an agent already exists at {path}; give it more work with {codex.FOLLOW_UP}, or choose another task name"


def _is_elsewhere(event: HookEvent, root: str) -> bool:
    """Return whether the call lets an agent work in another tree or on another machine."""
    folder = event.tool_input.get(claude.CWD_KEY)
    if isinstance(folder, str) and folder:
        whole = folder if folder.startswith("/") else f"{event.cwd}/{folder}"
        if os.path.realpath(whole) != os.path.realpath(root):
            return True
    return event.tool_input.get(claude.WORKTREE_KEY) not in (None, "")


def admit_main(event: HookEvent, home: Home, environ: Mapping[str, str]) -> replies.Answer:
    """Admit a session that belongs to an agent as a whole, and give it its instructions."""
    roster = load_roster(home)
    if not roster.is_enforced(event.agent, event.harness):
        return {}
    with home.ledger.reading() as db:
        own = find_own(db, event)
        is_new = own is None or (is_over(db, own.session_id) and event.payload.get(claude.SOURCE_KEY) == claude.RESUMED)
    if not is_new:
        return {}
    entry = roster.find_or_describe(event.agent, event.harness)
    earlier = "" if own is None else own.session_id  # the session resumes, and has to return again
    start = _SubagentStart(event, event.agent, "", entry, enforced=True, agent_id=MAIN, resume_of=earlier)
    admission = _admit(start, roster, home, environ)
    return {} if admission is None else replies.add_context(event.kind, render_instructions(admission[1]))


def adopt(event: HookEvent, home: Home, environ: Mapping[str, str]) -> HookRun | None:
    """Admit an agent whose start Remit didn't see: the hooks are new, or the harness started it in another way.

    Return None for a session in which the user talks to an agent. If the agent may be one of several called agents, it
    isn't admitted a second time, and the permissions of all of them apply to it.
    """
    if not event.agent_id and has_user_or_supervisor(environ):
        return None
    roster = load_roster(home)
    entry = roster.find_or_describe(event.agent, event.harness)
    enforced = roster.is_enforced(event.agent, event.harness)
    with home.ledger.reading() as db:
        waiting = list_unbound(db, event.session, event.agent) if event.agent_id else []
    if waiting:
        layers = [layer for each in waiting for layer in json.loads(each.layers)]
        return HookRun("", event.harness, event.session, event.agent, layers=json.dumps(layers))
    start = _SubagentStart(event, event.agent or "agent", "", entry, enforced, event.agent_id or MAIN, is_late=True)
    _admit(start, roster, home, environ)
    return find_own(home.ledger.db, event)


def admit_start(event: HookEvent, home: Home, environ: Mapping[str, str]) -> replies.Answer:
    """Admit a subagent whose call Remit didn't see, and give it its instructions now."""
    roster = load_roster(home)
    with home.ledger.reading() as db:
        if list_unbound(db, event.session, event.agent):
            return {}  # it is one of these; its first tool call shows which
    entry = roster.find_or_describe(event.agent, event.harness)
    enforced = roster.is_enforced(event.agent, event.harness)
    admission = _admit(_SubagentStart(event, event.agent, "", entry, enforced, event.agent_id), roster, home, environ)
    return (
        {} if admission is None or not enforced else replies.add_context(event.kind, render_instructions(admission[1]))
    )


def has_user_or_supervisor(environ: Mapping[str, str]) -> bool:
    """Return whether the session of an agent has a supervisor, or a user who talks to the agent in a terminal."""
    return bool(environ.get("REMIT_TICKET")) or claude.is_terminal(environ)


def admit_resumed(event: HookEvent, earlier: HookRun, home: Home, environ: Mapping[str, str]) -> replies.Answer:
    """Start a new run of an agent that was over and gets another message from its caller."""
    admission = _admit_resumed(event, earlier, home, environ)
    return (
        {}
        if admission is None or not earlier.enforced
        else replies.add_context(event.kind, render_instructions(admission[1]))
    )


def _admit_resumed(
    event: HookEvent, earlier: HookRun, home: Home, environ: Mapping[str, str], *, task_path: str = ""
) -> tuple[Run, InstructionFacts] | None:
    roster = load_roster(home)
    entry = roster.find_or_describe(earlier.agent, event.harness)
    start = _SubagentStart(
        event, earlier.agent, "", entry, earlier.enforced, earlier.agent_id, earlier.session_id, task_path=task_path
    )
    return _admit(start, roster, home, environ)


def admit_follow_up(event: HookEvent, home: Home, environ: Mapping[str, str]) -> replies.Answer:
    """Admit an agent that was over before Codex gives it another task: no event of the agent reports that task.

    The agent gets its instructions with its first tool, or when its return is sent back.
    """
    with home.ledger.reading() as db:
        earlier, path = find_recipient(db, event)
        if earlier is None or not is_over(db, earlier.session_id):  # another task of a running agent is part of its run
            return {}
    try:
        admission = _admit_resumed(event, earlier, home, environ, task_path=path)
    except RefusedError as error:
        return replies.deny(str(error))
    if admission is not None and earlier.enforced:
        row, facts = admission
        with home.ledger.transaction() as db:
            leave_instructions(db, row.session_id, render_instructions(facts))
    return {}


def give_instructions(event: HookEvent, own: HookRun, home: Home) -> replies.Answer:
    """Return the instructions of an agent that starts with an encrypted prompt."""
    text = load_text(home, own.session_id, "prompt") if own.enforced else None
    return {} if text is None else replies.add_context(event.kind, text.decode("utf-8", "surrogatepass").strip())


def _note_refusal(home: Home, error: RefusedError, start: _SubagentStart) -> None:
    """Record a refusal, so that repeated refusals show that the caller is in a loop."""
    caller = error.data.get("caller")
    if isinstance(caller, str):
        with suppress(RemitError), home.ledger.transaction() as db:
            add_event(db, "refused", {"agent": start.agent, "code": error.code}, session_id=caller)


def _admit(
    start: _SubagentStart, roster: Roster, home: Home, environ: Mapping[str, str]
) -> tuple[Run, InstructionFacts] | None:  # fmt: skip
    """Admit and record an agent in one transaction, so that no sibling takes its limits; then save the tree.

    Return None if another hook has admitted or bound the agent meanwhile: harnesses run hooks concurrently.
    """
    entry = start.entry
    usual_s = roster.delegate["timeout"] or find_timeout(entry.kind or None)
    command = load_command(home, start.event.session) if start.event.is_own and not start.agent_id else ""
    budget = Budget(**roster.budget)
    session_id = make_session_id(read_clock_ms(), os.urandom(6))
    task = _find_task(start, home)
    schema_name, schema = _load_schema(start, home.root)
    _adopt_caller(start, home, environ)
    start = start._replace(process=find_harness())
    keep_confine_rules(home, roster)
    with home.ledger.transaction(durable=True) as db:
        if _is_admitted(start, db):
            return None
        now_ms = read_clock_ms()
        caller = _find_caller(start, home, environ, now_ms)
        try:
            admitted = admit(
                start.agent, caller, session_id=session_id, now_ms=now_ms, timeout_s=entry.timeout_s,
                default_timeout_s=usual_s, budget=budget, command=command,
            )  # fmt: skip
            trace = find_incoming(environ) if caller is None else ""
            made = _make_run(
                start, roster, admitted, home.root, task=task, environ=environ, trace=trace, schema_name=schema_name
            )
            row = add_run(home.ledger, made)
            slots = Slots() if start.agent_id else Slots(**roster.limits)  # a running agent takes no slot
            _require_slot(take_slot(db, row, slots, deadline_ms=admitted.deadline_ms))
        except RefusedError as error:
            error.data["caller"] = None if caller is None else caller.session_id
            raise
        hook_run = _make_hook_run(start, admitted, caller, home)
        add_hook_run(db, hook_run)
        open_if_enforced(home.root, hook_run, environ)
        facts = InstructionFacts(
            start.prompt, session_id, start.agent, admitted.depth, MAX_DEPTH, admitted.path, admitted.timeout_s,
            admitted.deadline_ms, roster.list_targets(entry), entry.format or "standard",
            date=time.strftime("%Y-%m-%d"), owner=entry.owner, schema=schema,
            schema_name="" if schema_name == GIVEN else schema_name,
        )  # fmt: skip
        if schema is not None:
            store_texts(home, session_id, {SCHEMA: json.dumps(schema, ensure_ascii=False).encode()}, db=db)
        if start.enforced and not start.agent_id:  # in this transaction: a second hook of the same call finds both
            text = f"{start.prompt.rstrip()}\n\n{render_instructions(facts)}"
            store_texts(home, session_id, {"prompt": text.encode("utf-8", "surrogatepass")}, db=db)
    if start.enforced:
        _save_tree_before(start, row, home)
        _start_task(row, home)
    return row, facts


def _is_admitted(start: _SubagentStart, db: Connection) -> bool:
    """Return whether the ledger already has an open run for the agent, or for the call that starts it."""
    event = start.event
    find, key = (find_by_agent, start.agent_id) if start.agent_id else (find_by_call, event.tool_use_id)
    known = find(db, event.session, key)
    return known is not None and known.agent == start.agent and not is_over(db, known.session_id)


def _adopt_caller(start: _SubagentStart, home: Home, environ: Mapping[str, str]) -> None:
    """Admit a calling agent that Remit doesn't know yet, outside the transaction, because this scans the tree."""
    event = start.event
    if start.agent_id or event.is_own or (not event.agent_id and has_user_or_supervisor(environ)):
        return
    with home.ledger.reading() as db:
        own = find_own(db, event)
    if own is None:
        adopt(event, home, environ)


def _require_slot(full: str | None) -> None:
    """Raise RefusedError if no slot is free, because a harness doesn't wait for one."""
    if full is not None:
        hint = "wait until a running agent ends, or do the work yourself"
        raise RefusedError(f"too many agents are running: the limit for {full} is reached", hint=hint)


def _find_caller(start: _SubagentStart, home: Home, environ: Mapping[str, str], now_ms: int) -> Caller | None:
    """Return the caller: an agent of the harness, the agent for which Remit started the harness; None for the user."""
    event = start.event
    if start.resume_of:
        earlier = find_by_session(home.ledger.db, start.resume_of)
        above = None if earlier is None else earlier.parent_id
        return None if above is None else describe_session(home, above, now_ms=now_ms)
    if start.agent_id == MAIN or event.is_own or (not event.agent_id and has_user_or_supervisor(environ)):
        return find_caller(home, environ, now_ms=now_ms, harness=start.process)
    if start.agent_id:  # its caller isn't known, so it is at least one level below the session
        main = find_by_agent(home.ledger.db, event.session, MAIN)
        if main is not None:
            return describe_session(home, main.session_id, now_ms=now_ms)
        return find_caller(home, environ, now_ms=now_ms, harness=start.process)
    own = find_own(home.ledger.db, event)
    if own is None:
        raise RefusedError(
            f"Remit can't identify which '{event.agent}' calls", hint="do the work yourself, or return `partial`"
        )
    return describe_session(home, own.session_id, now_ms=now_ms)


def _make_run(
    start: _SubagentStart, roster: Roster, admitted: Admission, root: str, *, task: tuple[int | None, str],
    environ: Mapping[str, str], trace: str, schema_name: str,
) -> Run:  # fmt: skip
    from remit.git.head import find_commit
    from remit.storage.checkouts import mark_checkout

    entry, delegate = start.entry, roster.delegate
    number, working = task
    limits = {name: limit for name, limit in admitted.budget._asdict().items() if limit is not None}
    config = RunConfig(
        work=name_work(start.prompt or start.task_path),
        format=entry.format or "standard",
        any_format=not entry.format,
        kind=entry.kind,
        timeout_s=admitted.timeout_s,
        reasks=roster.hooks["blocks"],
        budget=limits,
        may_call=entry.may_call,
        max_depth=entry.max_depth,
        timeout_default_s=entry.timeout_default_s,
        timeout_max_s=entry.timeout_max_s,
        description=entry.description,
        permissions=entry.permissions,
        also=tuple(map(dict, filter(None, entry.also))),
        root=root,
        evidence=start.enforced,
        is_late=start.is_late,
        finishes=start.enforced,
        commits=number is not None if delegate["commit"] is None else delegate["commit"],
        checkout=mark_checkout(root) if start.enforced else "",
        commit=find_commit(root) if start.enforced else "",
        owner=entry.owner,
        working=working,
        result_tokens=delegate["result_tokens"] if roster.hooks["result"] else 0,
        words=delegate["words"],
        resume_of=start.resume_of,
        task_path=start.task_path,
        is_harness_run=True,
        trace=trace,
        data_schema=schema_name,
        **_choose_checks(start, roster, root, environ),
    )
    return Run(
        admitted.session_id, admitted.agent, admitted.depth, admitted.path, parent_id=admitted.parent_id,
        root_id=admitted.root_id, task_number=number, deadline_ms=admitted.deadline_ms,
        owner=HOOKS_OWNER, awaited=not start.event.is_background and admitted.parent_id is not None,
        runner=start.event.harness, details=_add_places(config, root, environ).as_details(),
    )  # fmt: skip


def _load_schema(start: _SubagentStart, root: str) -> tuple[str, dict[str, Any] | None]:
    """Return the name and the schema of `data` in the agent's returns; raise RefusedError if it can't be checked."""
    entry = start.entry
    if entry.data_schema is None or not start.enforced:
        return "", None
    if entry.format == "manifest":
        hint = "remove the schema, or let the agent return in another format"
        raise RefusedError(f"{start.agent} returns a manifest entry, which has no data", hint=hint)
    from remit.storage.schema_files import load_agent_schema

    return load_agent_schema(root, start.agent, entry.data_schema)


def _choose_checks(start: _SubagentStart, roster: Roster, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the acceptance checks of a run and the seal of their environment, as fields of its configuration."""
    if not (start.enforced and start.entry.checks):
        return {}
    from remit.hooks.acceptance_checks import choose_checks

    return choose_checks(start.entry.checks, roster.checks, root, environ, origin=f"the agent {start.agent}")


def _add_places(config: RunConfig, root: str, environ: Mapping[str, str]) -> RunConfig:
    """Add where the agent's files and its manifest line are expected, for formats that define these places."""
    if config.may_be_hyper and config.evidence:
        from remit.evidence.workspace_root import find_workspace_root

        config = config._replace(workspace_root=find_workspace_root(root, environ))
    if config.format != "manifest" and not config.any_format:
        return config
    from remit.manifest.manifest_file import place_manifest, read_prefix
    from remit.storage.settings import load_settings

    manifest = f"{root}/{place_manifest(root, load_settings(root))}"
    size, digest = read_prefix(manifest)
    return config._replace(manifest=manifest, manifest_bytes=size, manifest_sha256=digest)


def _make_hook_run(start: _SubagentStart, admitted: Admission, caller: Caller | None, home: Home) -> HookRun:
    event = start.event
    own: list[Any] = start.entry.layers
    # The caller of such an agent isn't known, so the permissions of every open run apply.
    if start.agent_id and start.agent_id != MAIN and not start.resume_of:
        own = [*own, *(layer for each in list_open(home.ledger.db, event.session) for layer in json.loads(each.layers))]
    return HookRun(
        admitted.session_id, event.harness, event.session, start.agent,
        "" if start.agent_id else event.tool_use_id, start.agent_id, admitted.parent_id, int(start.enforced),
        int(not start.agent_id and not event.is_background), 0, admitted.deadline_ms,
        json.dumps([*own, *_list_layers(home, caller)], separators=(",", ":")), start.process,
    )  # fmt: skip


def _list_layers(home: Home, caller: Caller | None) -> list[Any]:
    """Return the permissions of the caller and its ancestors, because a nested run never gets more than its parent."""
    if caller is None:
        return []
    hook_run = find_by_session(home.ledger.db, caller.session_id)
    if hook_run is not None:
        layers: list[Any] = json.loads(hook_run.layers)
        return layers
    from remit.runs.admission.run_tree import load_tree

    tree = load_tree(home, session_id=caller.session_id)
    config = () if tree is None else tree.config.values()
    return [dict(layer) for each in config for layer in (each.get("permissions"), *each.get("also", ())) if layer]


def _save_tree_before(start: _SubagentStart, row: Run, home: Home) -> None:
    """Store the working tree before the run. If git fails, claims are `unproven`."""
    from remit.evidence.tree import BEFORE, list_expected, take_before
    from remit.runs.admission.run_config import read_run_config

    config = read_run_config(row.details)
    if not config.evidence:
        return
    expected = list_expected(home.root, manifest=config.manifest, workspace_root=config.workspace_root)
    before = take_before(home, home.root, expected=expected)
    if start.resume_of and before.tree is not None:
        from remit.hooks.resume_subagent import find_tree

        before = before._replace(tree=find_tree(home, start.resume_of, before.tree) or before.tree)
    with home.ledger.transaction() as db:
        store_texts(home, row.session_id, {BEFORE: before.as_text().encode()}, db=db)


def _find_task(start: _SubagentStart, home: Home) -> tuple[int | None, str]:
    """Return the task that the prompt names as its input (R1.10), and its status while the run is open."""
    named = _TASK.search(start.prompt[:_MAX_TASK_CHARS]) if start.enforced else None
    if named is None:
        return None, ""
    from remit.runs.tasks.task_commands import find_working
    from remit.runs.tasks.task_facts import load_task_facts
    from remit.storage.settings import load_settings

    number = int(named[1])
    with suppress(RemitError):  # without such an open task, it is only a number
        facts = load_task_facts(home, load_settings(home.root), number)
        return number, find_working(start.entry.kind, start.entry.format or "standard", facts.marker)
    return None, ""


def _start_task(row: Run, home: Home) -> None:
    """Set the status of the run's task, if the run may set it and no other run works on the task."""
    if row.task_number is None:
        return
    from remit.runs.tasks.task_status import start_task
    from remit.storage.settings import load_settings

    with suppress(RemitError):  # the finish steps report the problem
        start_task(home, load_settings(home.root), row)

"""Prepare a run: turn a request into an admitted row of the ledger before anything is started."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.agents.context import ContextPath, ContextPlan, plan_context
from remit.agents.definition import ANYONE
from remit.agents.inputs import Inputs, read_inputs
from remit.attempts.results import load_boot_id
from remit.config import NETWORKS
from remit.config.runs import RunnerSettings, find_agent_settings
from remit.errors import RefusedError, UsageError
from remit.evidence.workspace_root import find_workspace_root
from remit.git.head import find_commit
from remit.ledger.events import add_event, read_clock_ms
from remit.ledger.runs import Run, add_run, load_run
from remit.ledger.texts import store_texts
from remit.manifest.places import place_manifest
from remit.manifest.prefix_check import read_prefix
from remit.model import NOTHING
from remit.result import MIN_TOKENS
from remit.returns.formats import MANIFEST, get_format
from remit.runners.command import command_missing
from remit.runners.registry import get_runner
from remit.runs.admission.guard import AdmissionRequest, admit, check_named, make_session_id
from remit.runs.admission.inputs import check_inputs, check_tokens, fill_inputs, list_blanks, list_given
from remit.runs.admission.limits import Budget, check_held, clamp, find_timeout
from remit.runs.admission.run_config import BUILT_IN, RunConfig, hide_values, name_work, read_run_config
from remit.runs.admission.run_tree import load_tree
from remit.runs.admission.tickets import CARRIED, TICKET, find_caller, hash_ticket
from remit.runs.admission.trace_context import find_incoming
from remit.runs.agent_lookup import (
    ChosenAgent,
    choose_runner,
    describe_permissions,
    drop_missing,
    find_agent,
    get_label,
    list_targets,
    no_agent_file,
)
from remit.runs.declared_format import find_format
from remit.runs.instructions import InstructionFacts, Submit, fill_tokens, list_tokens, render_briefing
from remit.runs.request import render_request
from remit.runs.supervisor.usage import read_callers_usage
from remit.runs.workspace_trust import check_trust
from remit.storage.checkouts import mark_checkout
from remit.storage.context_files import LoadedContext, load_context, render_context

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from remit.config import Settings
    from remit.config.runs import AgentSettings
    from remit.ledger.home import Home
    from remit.model import Diagnostic
    from remit.runners import Usage
    from remit.runs.admission.guard import Admitted, Caller
    from remit.runs.request import Request

_MAX_PROMPT_BYTES = 4 * 1024 * 1024
_COMPLETE = "{{TASK_COMPLETE_CMD}}"


class AdmissionContext(NamedTuple):
    """Where a request is prepared: a workspace, what it has set, and the environment of whoever asks."""

    home: Home
    settings: Settings
    own_runners: Mapping[str, str]
    environ: Mapping[str, str]
    owner: str
    """The supervisor that will drive it."""
    afar: bool = False
    """Whether work is done by other machines."""
    find_caller: Callable[[int], Caller | None] | None = None
    """Finds the caller at a time, if a harness names it; otherwise the environment does."""


class AdmittedRun(NamedTuple):
    """A delegation that is in the ledger, and what there is to say of the request."""

    row: Run
    findings: tuple[Diagnostic, ...]


class _RequestFacts(NamedTuple):
    """A request, and who will do it."""

    request: Request
    agent: ChosenAgent
    runner: str
    inputs: Inputs
    context: LoadedContext
    targets: tuple[str, ...] = ()
    """The agents that it may call and that exist; none if it has no file."""
    tokens: Mapping[str, str] = NOTHING
    """Values for tokens of the manifest protocol that whoever asks and the workspace have given."""

    @property
    def task_number(self) -> int | None:
        return self.request.task.number or None if self.request.task is not None else None

    @property
    def answers(self) -> dict[str, str]:
        """What the task and the command answer of the agent's inputs (D15)."""
        request = self.request
        return {**(NOTHING if request.task is None else request.task.answers), **request.answers}


class Draft(NamedTuple):
    """A request that could be admitted: all that there is to read for it was read."""

    work: _RequestFacts
    asked: AdmissionRequest
    config: RunConfig
    findings: tuple[Diagnostic, ...]
    heard: Mapping[str, Usage] = NOTHING
    """What the caller and those above it have used by now."""
    session_id: str = ""
    worktree: str = ""
    """The folder to work in that was checked out for it, and the session that this is named after."""


def draft(request: Request, setting: AdmissionContext) -> Draft:
    """Read what there is to read for a request. Raises where it cannot be done; nothing is written."""
    settings = setting.settings
    own = find_agent_settings(settings.runs.agents, request.agent or "")
    agent, known, told = _find_agent(request, setting.home.root, settings, own)
    is_built_in = agent.is_built_in and request.function is None and request.command is None
    _check_prompt(request.prompt, request.result_tokens, may_be_empty=is_built_in)
    if is_built_in:
        return _draft_built_in(request, agent, setting)
    if request.agent is not None and known is not None:
        check_named(request.agent, known)
    runner = choose_runner(request, agent, settings, own, root=setting.home.root)
    if request.function is not None and request.confine:
        hint = "leave out confine, or make a program of it: command, or a runner"
        raise UsageError("a function can't be confined: it runs in the process that called it", hint=hint)
    if request.function is None:
        get_runner(runner, setting.own_runners)  # refuses what nobody knows
        _check_runs(request, runner, setting)
    agent = agent if agent.definition is not None else ChosenAgent(get_label(request, runner, settings))
    request, denied = _check_place(request, agent, setting)
    inputs = Inputs() if agent.document is None else read_inputs(agent.document)
    work = _RequestFacts(request, agent, runner, inputs, LoadedContext())
    findings = check_inputs(inputs, request.inputs, answers=work.answers)
    _refuse_errors(findings, agent.name)
    if agent.document is not None:
        context = load_context(setting.home.root, plan_context(agent.document), forbidden=inputs.forbidden)
        work = work._replace(context=context)
    if request.handed:
        work = work._replace(context=_load_context(work, setting.home.root))
    budget = clamp(request.budget, Budget(*settings.runs.budget))
    asked = _find_asked(request, agent, own, settings)._replace(budget=budget, known=known)
    config = _make_config(work, own, setting)
    if agent.document is not None:
        targets = drop_missing(setting.home.root, config.may_call, exclude=settings.lint.exclude)
        work = work._replace(targets=targets)
    if config.format == MANIFEST.name:
        work = work._replace(tokens=list_given(request, setting.home.root, settings))
        config = config._replace(topic=list_tokens(_assign(work, config)).get("TOPIC_SLUG", ""))
        body = _read_body(agent)
        findings = check_tokens(_assign(work, config), body, findings)
        _refuse_errors(findings, agent.name)
    heard = read_callers_usage(setting.home, {**setting.environ, **CARRIED.get()}, setting.own_runners)
    return Draft(work, asked, config, (*told, *denied, *findings, *work.context.findings), heard)


def _check_place(
    request: Request, agent: ChosenAgent, setting: AdmissionContext
) -> tuple[Request, tuple[Diagnostic, ...]]:
    """The request without a place for its artifact that the agent's own permissions deny (D9)."""
    if agent.definition is None or not request.artifact_path:
        return request, ()
    from remit.policy import Permissions  # noqa: PLC0415
    from remit.policy.judge_call import judge_path  # noqa: PLC0415
    from remit.runs.tasks.task_artifacts import place_denied  # noqa: PLC0415 - only for the work on a task
    from remit.storage.protected_files import make_path_context  # noqa: PLC0415

    root, told = setting.home.root, describe_permissions(agent.definition)
    own = Permissions(None, told.get("allow", {}), told.get("deny", {}))
    ground = make_path_context(root, root, os.path.expanduser("~"), setting.environ)
    decision = judge_path(request.artifact_path, "write", [own], ground)
    if decision.answer != "deny":
        return request, ()
    return request._replace(artifact_path=""), (place_denied(agent.name, request.artifact_path, decision.rule),)


def _draft_built_in(request: Request, agent: ChosenAgent, setting: AdmissionContext) -> Draft:
    """A call of a utility agent that Remit answers itself. Its inputs say what to do; the task is one of them."""
    delegate = setting.settings.runs.delegate
    if request.task is not None:
        request = request._replace(task=None, inputs={"task_number": request.task.label, **request.inputs})
    timeout_s = find_timeout("utility") if request.timeout_s is None else request.timeout_s
    config = RunConfig(
        work=name_work(request.prompt or ", ".join(f"{name}: {text}" for name, text in request.inputs.items())),
        kind="utility",
        boot_id=load_boot_id(),
        evidence=False,
        commits=False,
        result_tokens=request.result_tokens or delegate.result_tokens,
        retry_of=request.retry_of,
        batch=request.batch,
    )
    work = _RequestFacts(request._replace(worktree=False), agent, BUILT_IN, Inputs(), LoadedContext())
    budget = clamp(request.budget, Budget(*setting.settings.runs.budget))
    return Draft(work, AdmissionRequest(agent.name, timeout_s, budget), config, ())


def _read_body(agent: ChosenAgent) -> str:
    """What its file tells the agent; nothing where there is none."""
    if agent.document is None:
        return ""
    from remit.agents.document import read_body  # noqa: PLC0415 - only where there is a file

    return read_body(agent.document)


def check_out(draft: Draft, root: str) -> Draft:
    """Make the worktree that a draft asks for. Git takes its time: the ledger is not held meanwhile, nor asked."""
    request = draft.work.request
    if not request.worktree or request.resume_of:
        return draft
    session_id = make_session_id(read_clock_ms(), os.urandom(6))
    from remit.git.worktrees import add_worktree  # noqa: PLC0415 - only for one

    return draft._replace(session_id=session_id, worktree=add_worktree(root, session_id))


def drop(draft: Draft, root: str) -> None:
    """Remove the worktree of a draft that was not admitted."""
    if draft.worktree:
        from remit.git.worktrees import remove_worktree  # noqa: PLC0415 - only for one

        remove_worktree(root, draft.session_id)


def enter(draft: Draft, setting: AdmissionContext) -> AdmittedRun:
    """Admit a draft that is checked out and write it down, in the transaction that there is or one of its own.

    Raises where it may not be, and then nothing is written.
    """
    row = _admit(draft, setting)
    if row.runner == BUILT_IN:
        return AdmittedRun(row, draft.findings)
    budget = Budget(**row.details.get("budget", {}))
    runner = get_runner(row.runner, setting.own_runners)
    held = check_held(budget, runner, name=row.runner, hands_on=bool(draft.config.may_call))
    return AdmittedRun(row, (*draft.findings, *held))


def _load_context(work: _RequestFacts, root: str) -> LoadedContext:
    """The files that are handed on with the work, before those that the agent's own file names."""
    first, *others = work.request.handed
    wanted = (ContextPath(first, "required", (first,)), *(ContextPath(each, "optional", (each,)) for each in others))
    handed = load_context(root, ContextPlan(files=wanted), forbidden=work.inputs.forbidden)
    known = {each.path for each in handed.loaded} | {each.path for each in handed.named}
    own = work.context
    return LoadedContext(
        (*handed.loaded, *(each for each in own.loaded if each.path not in known)),
        (*handed.named, *(each for each in own.named if each.path not in known)),
        (*handed.findings, *own.findings),
    )


def _admit(draft: Draft, setting: AdmissionContext) -> Run:
    """Decide and write in one transaction, so that no sibling comes in between."""
    work, asked = draft.work, draft.asked
    session_id = draft.session_id or make_session_id(read_clock_ms(), os.urandom(6))
    config = _place(draft, setting)
    caller: Caller | None = None
    try:
        with setting.home.ledger.transaction(durable=True):
            now_ms = read_clock_ms()
            environ = {**setting.environ, **CARRIED.get()}
            if setting.find_caller is not None:
                caller = setting.find_caller(now_ms)
            else:
                caller = find_caller(setting.home, environ, now_ms=now_ms, heard=draft.heard)
            asked = _identify_caller(asked, caller, work.request)
            admitted = admit(asked, caller, session_id=session_id, now_ms=now_ms)
            limits = {name: limit for name, limit in admitted.budget._asdict().items() if limit is not None}
            trace = find_incoming(environ) if caller is None else ""
            config = config._replace(timeout_s=admitted.timeout_s, budget=limits, trace=trace)
            row = _write(setting, work, admitted, config)
            store_texts(setting.home, row.session_id, _brief(work, admitted, config))
    except RefusedError as error:
        if caller is not None:
            error.data.update(caller=caller.session_id, asked=asked.agent)
        raise
    return row


def _identify_caller(asked: AdmissionRequest, caller: Caller | None, request: Request) -> AdmissionRequest:
    """Work without an agent file is named after who runs it; below another of that name it is not the same agent."""
    if request.agent is not None or caller is None or asked.agent not in caller.path:
        return asked
    return asked._replace(agent=f"{asked.agent}-{caller.depth + 1}")


def note_refusal(home: Home, refusal: RefusedError) -> None:
    """Remember that an agent was refused: who asks again and again runs in a circle. Nothing else of it is written."""
    caller = refusal.data.get("caller")
    if isinstance(caller, str):
        with home.ledger.transaction() as db:
            add_event(db, "refused", {"agent": refusal.data.get("asked"), "code": refusal.code}, session_id=caller)


def _check_prompt(prompt: str, result_tokens: int | None, *, may_be_empty: bool) -> None:
    """Refuse early what would be refused once the agent has been paid for."""
    if result_tokens is not None and result_tokens < MIN_TOKENS:
        hint = f"give at least {MIN_TOKENS}: status, session and the first error must fit"
        raise UsageError(f"no result fits into {result_tokens} tokens", hint=hint)
    if not prompt.strip() and not may_be_empty:
        raise UsageError("there is nothing to do: the prompt is empty", hint="say what the agent shall do")
    try:
        size = len(prompt.encode())
    except UnicodeEncodeError:
        raise UsageError("the prompt is not a text in UTF-8", hint="write it in UTF-8") from None
    if size > _MAX_PROMPT_BYTES:
        hint = "put it into a file of the workspace, and name that"
        raise UsageError(f"the prompt has more than {_MAX_PROMPT_BYTES:,} bytes", hint=hint)


def _find_agent(
    request: Request, root: str, settings: Settings, own: AgentSettings
) -> tuple[ChosenAgent, frozenset[str] | None, tuple[Diagnostic, ...]]:
    """The agent, and the names that there are; none are asked for where the work is done without a file."""
    if request.agent is None:
        return ChosenAgent(""), None, ()
    if request.agent == "-":
        raise UsageError("'-' isn't the name of an agent", hint="to run without an agent file, leave the agent out")
    prefer = request.runner or own.runner or settings.runs.delegate.runner
    found = find_agent(root, request.agent, prefer=prefer, exclude=settings.lint.exclude)
    if found.agent is None and (request.function is not None or request.command is not None):
        is_meant = request.function is not None or request.agent == request.lifecycle
        if not is_meant and ":" in request.agent:
            from remit.runs.declared_format import load_plugins  # noqa: PLC0415 - only for an agent of a plugin

            is_meant = request.agent in load_plugins(root)
        return ChosenAgent(request.agent), None, () if is_meant else (no_agent_file(request.agent, found.known),)
    return found.agent or ChosenAgent(request.agent), found.known, ()


def _check_runs(request: Request, runner: str, setting: AdmissionContext) -> None:
    """What the workspace's own settings would run needs the user's consent; what was typed just now does not."""
    table = setting.settings.runs.runners.get(runner)
    if table is not None and table.executes and request.command is None:
        check_trust(setting.home.root, setting.settings)
    if runner == "command" and request.command is None and (table is None or not table.command):
        raise command_missing()


def _refuse_errors(findings: Sequence[Diagnostic], agent: str) -> None:
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        told = "; ".join(finding.message for finding in errors[:5])
        hint = errors[0].hint[:1].lower() + errors[0].hint[1:].rstrip(".")
        raise RefusedError(f"{agent} was not started: {told}", code="VALIDATION_FAILED", hint=hint)


def _find_asked(request: Request, agent: ChosenAgent, own: AgentSettings, settings: Settings) -> AdmissionRequest:
    """The agent with its time: as was asked, as is set for the command or the agent, or as its own file says."""
    definition, command = agent.definition, settings.runs.task.get(request.lifecycle)
    kind = request.kind or (definition.kind if definition is not None else None)
    told = (
        request.timeout_s,
        None if command is None else command.timeout,
        own.timeout,
        None if definition is None else definition.timeout_s,
    )
    chosen = next((each for each in told if each is not None), None)
    usual = settings.runs.delegate.timeout or find_timeout(kind)
    return AdmissionRequest(agent.name, chosen, usual_s=usual, command=request.lifecycle)


def _make_config(work: _RequestFacts, own: AgentSettings, setting: AdmissionContext) -> RunConfig:
    """What holds from now on, as far as it does not depend on who asks."""
    request, agent, runner = work.request, work.agent, work.runner
    delegate = setting.settings.runs.delegate
    said = _read_file(work)
    table = setting.settings.runs.runners.get(runner, RunnerSettings())
    for word in (request.return_format, agent.get_word("return")):
        get_format(word or "standard")  # refuses what isn't a format
    root = setting.home.root
    declared = request.return_format or find_format(agent.name, agent, setting.settings, root=root).format
    format = declared or "standard"
    kind = request.kind or said.kind
    given: dict[str, Any] = {key: value for key, value in table._asdict().items() if value}
    given |= {"command": request.command} if request.command is not None else {}
    given |= {"in_process": True} if request.function is not None else {}
    confine = setting.settings.confine
    caller = _load_confined_caller(setting)
    if caller is not None:
        _check_below(request, runner, caller)
    is_confined, unconfined = (True, "") if caller is not None else _choose_confinement(work, setting)
    places, networks = confine.write, [confine.network]
    if caller is not None:
        places = tuple(each for each in places if each in caller.build_places)
        networks.append(caller.network)
    return said._replace(
        work=name_work(request.prompt),
        format=format,
        any_format=not declared,
        is_named=request.agent is not None,
        kind=kind,
        reasks=delegate.reasks if request.reasks is None else request.reasks,
        retry=own.retry or agent.get_word("retry") or table.retry or "never",
        may_call=() if is_confined and setting.afar else said.may_call,  # its calls don't lead to another machine
        model=table.model or agent.get_word("model") or None,
        temperature=agent.get_number("temperature"),
        max_output_tokens=None if (most := agent.get_number("max_tokens")) is None else int(most),
        settings=hide_values(given, os.urandom(16).hex()),
        base=setting.own_runners.get(runner, ""),
        confine=is_confined,
        unconfined=unconfined,
        build_places=places if is_confined else (),
        network=min(networks, key=NETWORKS.index) if is_confined else "all",
        judges=confine.judge or (caller is not None and caller.judges),
        remote=setting.afar and request.function is None,
        boot_id=load_boot_id(),
        evidence=request.evidence,
        finishes=request.finishes,
        commits=_choose_commits(request, setting=delegate.commit),
        checkout=mark_checkout(setting.home.root),
        commit=find_commit(setting.home.root),
        must_commit=bool(request.commits),
        owner=agent.find_owner(own),
        command=request.lifecycle,
        artifact_path=request.artifact_path,
        phase=request.phase,
        working=_choose_working(request, kind, format),
        outside=request.outside,
        result_tokens=request.result_tokens or delegate.result_tokens,
        result_format="" if request.format is None else get_format(request.format).name,
        words=dict(setting.settings.returns.status_words),
        topic=request.topic,
        resume_of=request.resume_of,
        harness_id=request.harness_id,
        retry_of=request.retry_of,
        batch=request.batch,
    )


def _load_confined_caller(setting: AdmissionContext) -> RunConfig | None:
    """The terms of the agent that asks, if it is confined. At admission its ticket is checked once more."""
    token = {**setting.environ, **CARRIED.get()}.get(TICKET, "")
    tree = load_tree(setting.home, ticket=hash_ticket(token)) if token else None
    config = None if tree is None else read_run_config(tree.config[tree.own.session_id])
    return config if config is not None and config.confine else None


def _check_below(request: Request, runner: str, caller: RunConfig) -> None:
    """Refuse a nested run that would reach what its confined caller can't."""
    if request.function is not None or runner == "python":
        raise RefusedError("a confined agent can't call a function", hint="call an agent with another runner")
    if request.command is not None:
        told = "a confined agent can't choose the program of a nested run"
        raise RefusedError(told, hint="leave --command out: call an agent, or name a runner")
    if caller.worktree and not request.worktree:
        told = "a confined agent in a worktree can't have work done in the checkout that it came from"
        raise RefusedError(told, hint="give the nested run a worktree of its own: --worktree")


def _choose_confinement(work: _RequestFacts, setting: AdmissionContext) -> tuple[bool, str]:
    """Return whether the kernel limits the agent, and why it doesn't if the agent's file has permissions."""
    request, definition, confine = work.request, work.agent.definition, setting.settings.confine
    has_rules = definition is not None and bool(definition.allow or definition.deny)
    if request.function is not None:
        if confine.mode == "require":
            hint = 'make a program of it: command, or a runner; or set [confine] mode = "auto"'
            raise UsageError("a function can't be confined, and [confine] requires it", hint=hint)
        return False, ""
    is_asked = request.confine or confine.mode == "require"
    if (is_asked or has_rules) and (confine.mode == "off" or confine.write or not confine.judge):
        check_trust(setting.home.root, setting.settings)
    if is_asked:
        return True, ""
    if confine.mode == "off" or not has_rules:
        return False, ""
    from remit.confine import find_level  # noqa: PLC0415 - only for agents with permissions

    level = find_level()
    return level.has_files, "" if level.has_files else "; ".join(level.reasons)


def _read_file(work: _RequestFacts) -> RunConfig:
    """What the agent's own file says of it."""
    definition = work.agent.definition
    if definition is None:  # nobody has said whom it may call: depth and budget are what holds it
        return RunConfig(may_call=(ANYONE,))
    return RunConfig(
        kind=definition.kind or "",
        may_call=list_targets(definition),
        max_depth=definition.max_depth,
        timeout_default_s=definition.timeout_default_s,
        timeout_max_s=definition.timeout_max_s,
        is_native=definition.profile == work.runner,
        description=definition.description,
        tools=definition.tools,
        permissions=describe_permissions(definition),
    )


def _choose_working(request: Request, kind: str, format: str) -> str:
    """The marker that the task has meanwhile: the command's, or that of the agent's kind."""
    if request.lifecycle or request.task is None or not request.finishes:
        return request.working
    from remit.runs.tasks.task_commands import find_working  # noqa: PLC0415 - only for the work on a task

    return find_working(kind, format, request.task.marker)


def _choose_commits(request: Request, *, setting: bool | None) -> bool:
    """Work on a task is committed (S6); what somebody asked for just so is theirs to look at first."""
    told = [each for each in (request.commits, setting) if each is not None]
    return told[0] if told else request.task is not None


def _place(draft: Draft, setting: AdmissionContext) -> RunConfig:
    """Where the work is done, and what lies there already."""
    config, request = draft.config, draft.work.request
    worktree, root = draft.session_id, draft.worktree or setting.home.root
    if request.resume_of and request.worktree:
        worktree, root = _find_worktree(request.resume_of, setting)
    config = config._replace(root=root, worktree=worktree)
    if config.may_be_hyper:
        runner = draft.work.runner
        own = setting.settings.runs.runners.get(runner, RunnerSettings()).env
        base = config.base or runner
        config = config._replace(workspace_root=find_workspace_root(root, {**setting.environ, **own}, runner=base))
    if config.format != "manifest" and not config.any_format:
        return config
    manifest = f"{root}/{place_manifest(setting.home.root, setting.settings)}"
    size, digest = read_prefix(manifest)
    return config._replace(manifest=manifest, manifest_bytes=size, manifest_sha256=digest)


def _find_worktree(session_id: str, setting: AdmissionContext) -> tuple[str, str]:
    """The worktree of a delegation that is taken up again: its harness knows the session only there."""
    row = load_run(setting.home.ledger, session_id)
    details: Mapping[str, Any] = {} if row is None else row.details
    worktree, root = str(details.get("worktree", "")), str(details.get("root", ""))
    if not worktree or not os.path.isdir(root):
        raise UsageError(f"the worktree of {session_id} is gone", hint=f"start it anew: remit retry {session_id}")
    return worktree, root


def _brief(work: _RequestFacts, admitted: Admitted, config: RunConfig) -> dict[str, bytes]:
    """The texts that go to the agent."""
    request, agent = work.request, work.agent
    if work.runner == BUILT_IN:
        return {"request": render_request(request).encode("utf-8", "surrogatepass")}
    filled = fill_inputs(
        work.inputs, request.inputs, session_id=admitted.session_id, depth=admitted.depth, path=admitted.path,
        timeout_s=admitted.timeout_s, answers=work.answers,
    )  # fmt: skip
    assignment = _assign(work, config)._replace(
        session_id=admitted.session_id, depth=admitted.depth, path=admitted.path, timeout_s=admitted.timeout_s,
        agent=admitted.agent, inputs=filled,
    )  # fmt: skip
    texts = {"request": render_request(request)}
    if agent.document is not None:  # also for a harness that knows the file: some take it only so
        body = _read_body(agent)
        texts["instructions"] = fill_tokens(body, assignment).text
        if config.is_native:  # a harness that reads the file itself reads the blanks, too
            assignment = assignment._replace(blanks=list_blanks(body, assignment))
    texts["prompt"] = render_briefing(assignment)
    if work.context.loaded or work.context.named:
        texts["context"] = render_context(work.context)
    return {kind: text.encode("utf-8", "surrogatepass") for kind, text in texts.items()}


def _assign(work: _RequestFacts, config: RunConfig) -> InstructionFacts:
    """What an agent is told, as far as it does not depend on who asks."""
    request = work.request
    completes_task = config.format == MANIFEST.name and _COMPLETE in _read_body(work.agent)
    return InstructionFacts(
        prompt=request.prompt,
        session_id="",
        agent=work.agent.name,
        may_call=work.targets,
        format=config.format,
        context=work.context,
        task=None if request.task is None else request.task._replace(marker=config.working or request.task.marker),
        artifact_path=request.artifact_path,
        owner="agent" if completes_task else config.owner,  # Remit does what the agent left undone, either way
        topic=config.topic,
        date=time.strftime("%Y-%m-%d"),
        output_dir=os.path.dirname(os.path.relpath(config.manifest, config.root)) if config.manifest else "",
        tokens=work.tokens,
        submit=_offer_submit(work, config),
    )


def _offer_submit(work: _RequestFacts, config: RunConfig) -> Submit:
    """How an agent without a return format of its own is offered to hand its return in."""
    if work.agent.has_format or work.request.function is not None or config.format == MANIFEST.name:
        return ""
    return "file" if work.request.confine else "command"  # the ledger is read-only to a confined agent


def _write(setting: AdmissionContext, work: _RequestFacts, admitted: Admitted, config: RunConfig) -> Run:
    row = Run(
        admitted.session_id,
        admitted.agent,
        admitted.depth,
        admitted.path,
        parent_id=admitted.parent_id,
        root_id=admitted.root_id,
        task_number=work.task_number,
        deadline_ms=admitted.deadline_ms,
        owner=setting.owner,
        awaited=work.request.awaited,
        runner=work.runner,
        details=config.as_details(),
    )
    return add_run(setting.home.ledger, row)

"""A draft: everything about a request that Remit reads before admission. Making a draft writes nothing."""

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
from remit.errors import RefusedError, RemitError, UsageError
from remit.git.head import find_commit
from remit.model import NOTHING
from remit.result import MIN_TOKENS
from remit.returns.formats import MANIFEST, get_format
from remit.runners.command import missing_command_error
from remit.runners.registry import get_runner
from remit.runs.admission.guard import check_named
from remit.runs.admission.inputs import check_inputs, check_tokens, list_token_values
from remit.runs.admission.limits import Budget, clamp, find_timeout
from remit.runs.admission.run_config import BUILT_IN, GIVEN, RunConfig, hide_values, name_work, read_run_config
from remit.runs.admission.run_tree import load_tree
from remit.runs.admission.tickets import CARRIED, TICKET, hash_ticket
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
from remit.runs.declared_format import find_format, load_plugins
from remit.runs.instructions import InstructionFacts, Submit, list_tokens
from remit.runs.supervisor.usage import read_callers_usage
from remit.runs.workspace_trust import check_trust
from remit.storage.checkouts import mark_checkout
from remit.storage.context_files import LoadedContext, load_context

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from remit.config import Settings
    from remit.config.runs import AgentSettings
    from remit.ledger.home import Home
    from remit.model import Diagnostic
    from remit.runners import Usage
    from remit.runs.admission.guard import Caller
    from remit.runs.request import Request

_MAX_PROMPT_BYTES = 4 * 1024 * 1024
_COMPLETE = "{{TASK_COMPLETE_CMD}}"


class AdmissionContext(NamedTuple):
    """The workspace in which a request is admitted, its settings, and the environment of the caller."""

    home: Home
    settings: Settings
    own_runners: Mapping[str, str]
    environ: Mapping[str, str]
    owner: str
    """The supervisor that will carry out the run."""
    remote: bool = False
    """Whether other machines execute the runs."""
    find_caller: Callable[[int], Caller | None] | None = None
    """Finds the caller at a time, if a harness names it. Default: the environment identifies the caller."""

    @property
    def caller_environ(self) -> dict[str, str]:
        """The environment of the caller, with the ticket of a function that runs in this process."""
        return {**self.environ, **CARRIED.get()}


class Draft(NamedTuple):
    """A request with all that Remit has read for it: agent, inputs, context, limits and configuration."""

    request: Request
    agent: ChosenAgent
    runner: str
    inputs: Inputs = Inputs()
    context: LoadedContext = LoadedContext()
    targets: tuple[str, ...] = ()
    """The existing agents that the agent may call; empty if it has no file."""
    tokens: Mapping[str, str] = NOTHING
    """Values of the manifest protocol's tokens that the caller and the workspace give."""
    timeout_s: float | None = None
    """The time limit by the request, the settings or the agent's file; None if none of them has one."""
    default_timeout_s: float = 0
    """The time limit if neither `timeout_s` nor the caller's file has one."""
    budget: Budget = Budget()
    known: frozenset[str] | None = None
    """The names of all agents; None if the run needs no agent file."""
    config: RunConfig = RunConfig()
    schema: Mapping[str, Any] | None = None
    """The schema of the return's `data`."""
    diagnostics: tuple[Diagnostic, ...] = ()
    usage: Mapping[str, Usage] = NOTHING
    """The usage of the caller and its ancestors so far, by session."""
    session_id: str = ""
    worktree: str = ""
    """The worktree that was checked out for the run, and the session id that names it."""

    @property
    def answers(self) -> dict[str, str]:
        """Values for the agent's inputs that follow from the task and the task command (D15)."""
        request = self.request
        return {**(NOTHING if request.task is None else request.task.answers), **request.answers}


def make_draft(request: Request, ctx: AdmissionContext) -> Draft:
    """Read all that a request needs, and refuse it if it can't be carried out."""
    settings, root = ctx.settings, ctx.home.root
    own = find_agent_settings(settings.runs.agents, request.agent or "")
    agent, known, notes = _find_agent(request, root, settings, own)
    is_built_in = agent.is_built_in and request.function is None and request.command is None
    if is_built_in and (request.schema is not None or request.returns is not None):
        raise UsageError(f"{agent.name} is built into Remit and returns no data", hint="leave the schema out")
    _check_prompt(request.prompt, request.result_tokens, may_be_empty=is_built_in)
    if is_built_in:
        return _draft_built_in(request, agent, ctx)
    if request.agent is not None and known is not None:
        check_named(request.agent, known)
    runner = choose_runner(request, agent, settings, own, root=root)
    if request.function is not None and request.confine:
        hint = "leave confine out, or run the function as a program: command, or a runner"
        raise UsageError("a function can't be confined: it runs in the process that called it", hint=hint)
    if request.function is None:
        get_runner(runner, ctx.own_runners)  # refuses an unknown runner
        _check_runner_commands(request, runner, ctx)
    agent = agent if agent.definition is not None else ChosenAgent(get_label(request, runner, settings))
    request, denied = _drop_denied_place(request, agent, ctx)

    inputs = Inputs() if agent.document is None else read_inputs(agent.document)
    draft = Draft(request, agent, runner, inputs, known=known)
    diagnostics = check_inputs(inputs, request.inputs, answers=draft.answers)
    _refuse_errors(diagnostics, agent.name)
    draft = draft._replace(context=_load_context(draft, root))
    timeout_s, default_timeout_s = _choose_timeout(request, agent, own, settings)
    schema_name, schema = _choose_schema(draft, own, root)
    config = _make_config(draft, own, ctx)._replace(data_schema=schema_name)
    if schema_name:
        _check_schema_formats(config)
    targets: tuple[str, ...] = ()
    if agent.document is not None:
        targets = drop_missing(root, config.may_call, exclude=settings.lint.exclude)
    draft = draft._replace(
        targets=targets,
        timeout_s=timeout_s,
        default_timeout_s=default_timeout_s,
        budget=clamp(request.budget, Budget(*settings.runs.budget)),
        config=config,
        schema=schema,
    )
    if config.format == MANIFEST.name:
        draft = draft._replace(tokens=list_token_values(request, root, settings))
        topic = list_tokens(make_instruction_facts(draft, config)).get("TOPIC_SLUG", "")
        draft = draft._replace(config=config._replace(topic=topic))
        facts = make_instruction_facts(draft, draft.config)
        diagnostics = check_tokens(facts, read_agent_body(agent), diagnostics)
        _refuse_errors(diagnostics, agent.name)
    return draft._replace(
        diagnostics=(*notes, *denied, *diagnostics, *draft.context.diagnostics),
        usage=read_callers_usage(ctx.home, ctx.caller_environ, ctx.own_runners),
    )


def _draft_built_in(request: Request, agent: ChosenAgent, ctx: AdmissionContext) -> Draft:
    """Return the draft for a utility agent that Remit answers itself. Its inputs name the task, if there is one."""
    delegate = ctx.settings.runs.delegate
    if request.task is not None:
        request = request._replace(task=None, inputs={"task_number": request.task.label, **request.inputs})
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
    return Draft(
        request._replace(worktree=False),
        agent,
        BUILT_IN,
        timeout_s=find_timeout("utility") if request.timeout_s is None else request.timeout_s,
        budget=clamp(request.budget, Budget(*ctx.settings.runs.budget)),
        config=config,
    )


# --- agent, prompt and context ----------------------------------------------------------------------------------------


def _find_agent(
    request: Request, root: str, settings: Settings, own: AgentSettings
) -> tuple[ChosenAgent, frozenset[str] | None, tuple[Diagnostic, ...]]:
    """Return the agent, the names of all agents (None if the run needs no agent file), and diagnostics."""
    if request.agent is None:
        return ChosenAgent(""), None, ()
    if request.agent == "-":
        raise UsageError("'-' isn't the name of an agent", hint="to run without an agent file, leave the agent out")
    prefer = request.runner or own.runner or settings.runs.delegate.runner
    found = find_agent(root, request.agent, prefer=prefer, exclude=settings.lint.exclude)
    if found.agent is None and (request.function is not None or request.command is not None):
        is_meant = request.function is not None or request.agent == request.lifecycle
        is_meant = is_meant or (":" in request.agent and request.agent in load_plugins(root))
        return ChosenAgent(request.agent), None, () if is_meant else (no_agent_file(request.agent, found.known),)
    return found.agent or ChosenAgent(request.agent), found.known, ()


def _check_prompt(prompt: str, result_tokens: int | None, *, may_be_empty: bool) -> None:
    """Refuse a prompt or a result budget that would make the run fail after the agent has been paid for."""
    if result_tokens is not None and result_tokens < MIN_TOKENS:
        hint = f"give at least {MIN_TOKENS}: status, session and the first error must fit"
        raise UsageError(f"no result fits into {result_tokens} tokens", hint=hint)
    if not prompt.strip() and not may_be_empty:
        raise UsageError("there is nothing to do: the prompt is empty", hint="say what the agent should do")
    try:
        size = len(prompt.encode())
    except UnicodeEncodeError:
        raise UsageError("the prompt isn't valid UTF-8", hint="write it in UTF-8") from None
    if size > _MAX_PROMPT_BYTES:
        hint = "write it to a file of the workspace, and name the file in the prompt"
        raise UsageError(f"the prompt has more than {_MAX_PROMPT_BYTES:,} bytes", hint=hint)


def _check_runner_commands(request: Request, runner: str, ctx: AdmissionContext) -> None:
    """Refuse commands in the workspace's settings that the user doesn't trust. A command in the request is trusted."""
    table = ctx.settings.runs.runners.get(runner)
    if table is not None and table.executes and request.command is None:
        check_trust(ctx.home.root, ctx.settings)
    if runner == "command" and request.command is None and (table is None or not table.command):
        raise missing_command_error()


def _drop_denied_place(
    request: Request, agent: ChosenAgent, ctx: AdmissionContext
) -> tuple[Request, tuple[Diagnostic, ...]]:
    """Return the request without a path for its artifact that the agent's own permissions deny (D9)."""
    if agent.definition is None or not request.artifact_path:
        return request, ()
    from remit.policy import Permissions  # noqa: PLC0415 - only for a run on a task
    from remit.policy.judge_call import judge_path  # noqa: PLC0415
    from remit.runs.tasks.task_artifacts import place_denied  # noqa: PLC0415
    from remit.storage.protected_files import make_path_context  # noqa: PLC0415

    root, permissions = ctx.home.root, describe_permissions(agent.definition)
    own = Permissions(None, permissions.get("allow", {}), permissions.get("deny", {}))
    paths = make_path_context(root, root, os.path.expanduser("~"), ctx.environ)
    decision = judge_path(request.artifact_path, "write", [own], paths)
    if decision.answer != "deny":
        return request, ()
    return request._replace(artifact_path=""), (place_denied(agent.name, request.artifact_path, decision.rule),)


def _refuse_errors(diagnostics: Sequence[Diagnostic], agent: str) -> None:
    errors = [each for each in diagnostics if each.severity == "error"]
    if errors:
        reasons = "; ".join(each.message for each in errors[:5])
        hint = errors[0].hint[:1].lower() + errors[0].hint[1:].rstrip(".")
        raise RefusedError(f"{agent} was not started: {reasons}", code="VALIDATION_FAILED", hint=hint)


def _load_context(draft: Draft, root: str) -> LoadedContext:
    """Load the files that the request hands to the agent, then those that the agent's file names."""
    document, paths = draft.agent.document, draft.request.handed
    own = LoadedContext()
    if document is not None:
        own = load_context(root, plan_context(document), forbidden=draft.inputs.forbidden)
    if not paths:
        return own
    first, *others = paths
    wanted = (ContextPath(first, "required", (first,)), *(ContextPath(each, "optional", (each,)) for each in others))
    handed = load_context(root, ContextPlan(files=wanted), forbidden=draft.inputs.forbidden)
    known = {each.path for each in handed.loaded} | {each.path for each in handed.named}
    return LoadedContext(
        (*handed.loaded, *(each for each in own.loaded if each.path not in known)),
        (*handed.named, *(each for each in own.named if each.path not in known)),
        (*handed.diagnostics, *own.diagnostics),
    )


def _choose_timeout(
    request: Request, agent: ChosenAgent, own: AgentSettings, settings: Settings
) -> tuple[float | None, float]:
    """Return the time limit by the request, the command, the agent's settings or its file; and the default."""
    definition, command = agent.definition, settings.runs.task.get(request.lifecycle)
    kind = request.kind or (definition.kind if definition is not None else None)
    limits = (
        request.timeout_s,
        None if command is None else command.timeout,
        own.timeout,
        None if definition is None else definition.timeout_s,
    )
    default = settings.runs.delegate.timeout or find_timeout(kind)
    return next((each for each in limits if each is not None), None), default


# --- the configuration ------------------------------------------------------------------------------------------------


def _make_config(draft: Draft, own: AgentSettings, ctx: AdmissionContext) -> RunConfig:
    """Return the configuration of the run, as far as it doesn't depend on the caller."""
    request, agent, runner = draft.request, draft.agent, draft.runner
    delegate = ctx.settings.runs.delegate
    base = _read_definition(draft)
    table = ctx.settings.runs.runners.get(runner, RunnerSettings())
    for word in (request.return_format, agent.get_word("return")):
        get_format(word or "standard")  # refuses an unknown format
    root = ctx.home.root
    declared = request.return_format or find_format(agent.name, agent, ctx.settings, root=root).format
    format = declared or "standard"
    kind = request.kind or base.kind
    runner_settings: dict[str, Any] = {key: value for key, value in table._asdict().items() if value}
    if request.command is not None:
        runner_settings["command"] = request.command
    if request.function is not None:
        runner_settings["in_process"] = True
    confine = ctx.settings.confine
    caller = _load_confined_caller(ctx)
    if caller is not None:
        _check_nested_run(request, runner, caller)
    is_confined, unconfined = (True, "") if caller is not None else _choose_confinement(draft, ctx)
    places, networks = confine.write, [confine.network]
    if caller is not None:
        places = tuple(each for each in places if each in caller.build_places)
        networks.append(caller.network)
    commits = next((each for each in (request.commits, delegate.commit) if each is not None), request.task is not None)
    most_output = agent.get_number("max_tokens")
    return base._replace(
        work=name_work(request.prompt),
        format=format,
        any_format=not declared,
        is_named=request.agent is not None,
        kind=kind,
        reasks=delegate.reasks if request.reasks is None else request.reasks,
        retry=own.retry or agent.get_word("retry") or table.retry or "never",
        may_call=() if is_confined and ctx.remote else base.may_call,  # its calls don't reach another machine
        model=table.model or agent.get_word("model") or None,
        temperature=agent.get_number("temperature"),
        max_output_tokens=None if most_output is None else int(most_output),
        settings=hide_values(runner_settings, os.urandom(16).hex()),
        base=ctx.own_runners.get(runner, ""),
        confine=is_confined,
        unconfined=unconfined,
        build_places=places if is_confined else (),
        network=min(networks, key=NETWORKS.index) if is_confined else "all",
        judges=confine.judge or (caller is not None and caller.judges),
        remote=ctx.remote and request.function is None,
        boot_id=load_boot_id(),
        evidence=request.evidence,
        finishes=request.finishes,
        commits=commits,
        checkout=mark_checkout(ctx.home.root),
        commit=find_commit(ctx.home.root),
        must_commit=bool(request.commits),
        owner=agent.find_owner(own),
        command=request.lifecycle,
        artifact_path=request.artifact_path,
        phase=request.phase,
        working=_choose_working(request, kind, format),
        outside=request.outside,
        result_tokens=request.result_tokens or delegate.result_tokens,
        result_format="" if request.format is None else get_format(request.format).name,
        words=dict(ctx.settings.returns.status_words),
        **_choose_checks(draft, own, ctx),
        topic=request.topic,
        resume_of=request.resume_of,
        harness_id=request.harness_id,
        retry_of=request.retry_of,
        batch=request.batch,
    )


def _read_definition(draft: Draft) -> RunConfig:
    """Return the part of the configuration that the agent's own file defines."""
    definition = draft.agent.definition
    if definition is None:  # without a list of agents it may call, only depth and budget limit it
        return RunConfig(may_call=(ANYONE,))
    return RunConfig(
        kind=definition.kind or "",
        may_call=list_targets(definition),
        max_depth=definition.max_depth,
        timeout_default_s=definition.timeout_default_s,
        timeout_max_s=definition.timeout_max_s,
        is_native=definition.profile == draft.runner,
        description=definition.description,
        tools=definition.tools,
        permissions=describe_permissions(definition),
    )


def _list_passed(home: Home, session_id: str) -> frozenset[str]:
    """Return the checks that passed, or weren't needed, in a run; none if its result is gone."""
    from remit.runs.results.full_result import load_report  # noqa: PLC0415 - only for retries with checks

    try:
        report, _ = load_report(home, session_id)
    except RemitError:
        return frozenset()
    return frozenset(each.name for each in report.checks if each.answer == "passed" or not each.is_needed)


def _choose_checks(draft: Draft, own: AgentSettings, ctx: AdmissionContext) -> dict[str, Any]:
    """Return the acceptance checks of a run and the seal of their environment, as fields of its configuration.

    The request, the agent's file, its settings and those of the task command name checks; all of them have to pass.
    """
    request, settings = draft.request, ctx.settings
    command = settings.runs.task.get(request.lifecycle)
    named = [
        (request.checks, "", True),
        (draft.agent.list_words("checks"), f"the agent {draft.agent.name}", False),
        (own.checks or (), f"[agents.{draft.agent.name}]", False),
        (() if command is None else command.checks, f"[task.{request.lifecycle}]", False),
    ]
    if not any(names for names, _, _ in named):
        return {}
    from remit.runs.checks.definition import SALT_LETTERS, choose_checks, seal_environment  # noqa: PLC0415

    chosen = {
        check.name: check
        for names, origin, is_typed in named
        for check in choose_checks(names, settings.checks, may_be_commands=is_typed, origin=origin)
    }
    if request.retry_of and not request.worktree:  # the tree has the changes of that run, which this one doesn't name
        unneeded = _list_passed(ctx.home, request.retry_of)
        chosen = {name: each if name in unneeded else each._replace(when=()) for name, each in chosen.items()}
    if not chosen.keys().isdisjoint(settings.checks):
        check_trust(ctx.home.root, settings)
    is_remote = ctx.remote and request.function is None
    seal = "" if is_remote else seal_environment(ctx.environ, os.urandom(SALT_LETTERS // 2).hex())
    return {"checks": tuple(check.as_details() for check in chosen.values()), "check_seal": seal}


def _choose_schema(draft: Draft, own: AgentSettings, root: str) -> tuple[str, Mapping[str, Any] | None]:
    """Return the name and the schema of the return's `data`: by the request, the agent's settings or its file."""
    request, agent = draft.request, draft.agent
    given = request.schema
    if given is None and request.returns is not None:
        from remit.runs.data_models import render_schema  # noqa: PLC0415 - only for a Python program

        given = render_schema(request.returns)
    by_file = None if agent.document is None else agent.document.get("data_schema")
    chosen = by_file if own.schema is None else own.schema
    if given is None and chosen is None:
        return "", None
    if given is not None:
        from remit.data_schema import check_schema  # noqa: PLC0415 - only with a schema

        return GIVEN, check_schema(given)
    from remit.storage.schema_files import load_agent_schema  # noqa: PLC0415

    return load_agent_schema(root, agent.name, chosen)


def _check_schema_formats(config: RunConfig) -> None:
    """Refuse a schema for a return or a result that has no place for `data`."""
    if MANIFEST.name in (config.format, config.result_format):
        hint = "use the format standard or hyper, or leave the schema out"
        raise UsageError("a manifest entry has no data, so it can't have a schema", hint=hint)


def _load_confined_caller(ctx: AdmissionContext) -> RunConfig | None:
    """Return the configuration of the calling agent if it is confined. Admission checks its ticket once more."""
    token = ctx.caller_environ.get(TICKET, "")
    tree = load_tree(ctx.home, ticket=hash_ticket(token)) if token else None
    config = None if tree is None else read_run_config(tree.config[tree.own.session_id])
    return config if config is not None and config.confine else None


def _check_nested_run(request: Request, runner: str, caller: RunConfig) -> None:
    """Refuse a nested run that could reach more than its confined caller."""
    if request.function is not None or runner == "python":
        raise RefusedError("a confined agent can't call a function", hint="call an agent with another runner")
    if request.command is not None:
        message = "a confined agent can't choose the program of a nested run"
        raise RefusedError(message, hint="leave --command out: call an agent, or name a runner")
    if caller.worktree and not request.worktree:
        message = "a confined agent in a worktree can't start a run in the checkout that the worktree belongs to"
        raise RefusedError(message, hint="give the nested run a worktree of its own: --worktree")


def _choose_confinement(draft: Draft, ctx: AdmissionContext) -> tuple[bool, str]:
    """Return whether the kernel limits the agent; if the agent has permissions and it doesn't, also the reason."""
    request, definition, confine = draft.request, draft.agent.definition, ctx.settings.confine
    has_rules = definition is not None and bool(definition.allow or definition.deny)
    if request.function is not None:
        if confine.mode == "require":
            hint = 'run the function as a program: command, or a runner; or set [confine] mode = "auto"'
            raise UsageError("a function can't be confined, and [confine] requires it", hint=hint)
        return False, ""
    is_asked = request.confine or confine.mode == "require"
    if (is_asked or has_rules) and (confine.mode == "off" or confine.write or not confine.judge):
        check_trust(ctx.home.root, ctx.settings)
    if is_asked:
        return True, ""
    if confine.mode == "off" or not has_rules:
        return False, ""
    from remit.confine import find_level  # noqa: PLC0415 - only for agents with permissions

    level = find_level()
    return level.has_files, "" if level.has_files else "; ".join(level.reasons)


def _choose_working(request: Request, kind: str, format: str) -> str:
    """Return the marker of the task during the run: the command's, or the one that fits the agent's kind."""
    if request.lifecycle or request.task is None or not request.finishes:
        return request.working
    from remit.runs.tasks.task_commands import find_working  # noqa: PLC0415 - only for a run on a task

    return find_working(kind, format, request.task.marker)


# --- instructions -----------------------------------------------------------------------------------------------------


def read_agent_body(agent: ChosenAgent) -> str:
    """Return the instructions in the agent's file; empty if it has no file."""
    if agent.document is None:
        return ""
    from remit.agents.document import read_body  # noqa: PLC0415 - only with an agent file

    return read_body(agent.document)


def make_instruction_facts(draft: Draft, config: RunConfig) -> InstructionFacts:
    """Return what the instructions of the agent say, as far as it doesn't depend on the caller."""
    request, agent = draft.request, draft.agent
    completes_task = config.format == MANIFEST.name and _COMPLETE in read_agent_body(agent)
    submit: Submit = ""
    if not agent.has_format and request.function is None and config.format != MANIFEST.name:
        submit = "file" if request.confine else "command"  # a confined agent can't write to the ledger
    return InstructionFacts(
        prompt=request.prompt,
        session_id="",
        agent=agent.name,
        may_call=draft.targets,
        format=config.format,
        context=draft.context,
        task=None if request.task is None else request.task._replace(marker=config.working or request.task.marker),
        artifact_path=request.artifact_path,
        owner="agent" if completes_task else config.owner,  # Remit does what the agent omits, in both cases
        topic=config.topic,
        date=time.strftime("%Y-%m-%d"),
        output_dir=os.path.dirname(os.path.relpath(config.manifest, config.root)) if config.manifest else "",
        tokens=draft.tokens,
        submit=submit,
        schema=draft.schema,
        schema_name="" if config.data_schema == GIVEN else config.data_schema,
    )

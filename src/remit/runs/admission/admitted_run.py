"""An admitted run: the decision on a draft and the run's row in the ledger, in one transaction."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.config.runs import RunnerSettings
from remit.errors import RefusedError, UsageError
from remit.evidence.workspace_root import find_workspace_root
from remit.ledger.events import add_event, read_clock_ms
from remit.ledger.runs import Run, add_run, load_run
from remit.ledger.texts import SCHEMA, store_texts
from remit.manifest.manifest_file import place_manifest, read_prefix
from remit.runners.registry import get_runner
from remit.runs.admission.draft import make_instruction_facts, read_agent_body
from remit.runs.admission.guard import admit, make_session_id
from remit.runs.admission.inputs import fill_inputs, list_blanks
from remit.runs.admission.limits import check_limits
from remit.runs.admission.run_config import BUILT_IN
from remit.runs.admission.tickets import find_caller
from remit.runs.admission.trace_context import find_incoming
from remit.runs.instructions import fill_tokens, render_prompt
from remit.runs.request import render_request
from remit.storage.context_files import render_context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.ledger.home import Home
    from remit.model import Diagnostic
    from remit.runs.admission.draft import AdmissionContext, Draft
    from remit.runs.admission.guard import Admission
    from remit.runs.admission.run_config import RunConfig


class AdmittedRun(NamedTuple):
    """A run that is in the ledger, and the diagnostics on its request."""

    row: Run
    diagnostics: tuple[Diagnostic, ...]


def check_out_worktree(draft: Draft, root: str) -> Draft:
    """Make the worktree that a draft asks for. Git is slow, so this happens outside of any transaction."""
    if not draft.request.worktree or draft.request.resume_of:
        return draft
    from remit.git.worktrees import add_worktree  # noqa: PLC0415 - only for a worktree

    session_id = make_session_id(read_clock_ms(), os.urandom(6))
    return draft._replace(session_id=session_id, worktree=add_worktree(root, session_id))


def discard_draft(draft: Draft, root: str) -> None:
    """Remove the worktree of a draft that was not admitted."""
    if draft.worktree:
        from remit.git.worktrees import remove_worktree  # noqa: PLC0415 - only for a worktree

        remove_worktree(root, draft.session_id)


def admit_draft(draft: Draft, ctx: AdmissionContext) -> AdmittedRun:
    """Admit a draft and write the run's row, in the current transaction or in one of its own.

    Decision and row are in one transaction, so that no sibling is admitted in between. If the draft is refused, nothing
    is written.
    """
    session_id = draft.session_id or make_session_id(read_clock_ms(), os.urandom(6))
    config = _place(draft, ctx)
    name, caller = draft.agent.name, None
    try:
        with ctx.home.ledger.transaction(durable=True):
            now_ms = read_clock_ms()
            if ctx.find_caller is not None:
                caller = ctx.find_caller(now_ms)
            else:
                caller = find_caller(ctx.home, ctx.caller_environ, now_ms=now_ms, usage=draft.usage)
            if draft.request.agent is None and caller is not None and name in caller.path:
                name = f"{name}-{caller.depth + 1}"  # named after its program, which isn't the same agent again
            admission = admit(
                name,
                caller,
                session_id=session_id,
                now_ms=now_ms,
                timeout_s=draft.timeout_s,
                default_timeout_s=draft.default_timeout_s,
                budget=draft.budget,
                known=draft.known,
                command="" if draft.runner == BUILT_IN else draft.request.lifecycle,
            )
            config = config._replace(
                timeout_s=admission.timeout_s,
                budget={limit: value for limit, value in admission.budget._asdict().items() if value is not None},
                trace=find_incoming(ctx.caller_environ) if caller is None else "",
            )
            row = add_run(ctx.home.ledger, _make_row(draft, admission, config, ctx.owner))
            store_texts(ctx.home, row.session_id, _render_texts(draft, admission, config))
    except RefusedError as error:
        if caller is not None:
            error.data.update(caller=caller.session_id, asked=name)
        raise
    if row.runner == BUILT_IN:
        return AdmittedRun(row, draft.diagnostics)
    runner = get_runner(row.runner, ctx.own_runners)
    unenforced = check_limits(admission.budget, runner, name=row.runner, may_call=bool(config.may_call))
    return AdmittedRun(row, (*draft.diagnostics, *unenforced))


def record_refusal(home: Home, refusal: RefusedError) -> None:
    """Record that an agent's call was refused: an agent that repeats refused calls is in a loop."""
    caller = refusal.data.get("caller")
    if isinstance(caller, str):
        with home.ledger.transaction() as db:
            add_event(db, "refused", {"agent": refusal.data.get("asked"), "code": refusal.code}, session_id=caller)


def _place(draft: Draft, ctx: AdmissionContext) -> RunConfig:
    """Return the configuration with the folder of the run, and the manifest as it is there before the run."""
    config, request = draft.config, draft.request
    worktree, root = draft.session_id, draft.worktree or ctx.home.root
    if request.resume_of and request.worktree:
        worktree, root = _find_worktree(request.resume_of, ctx)
    config = config._replace(root=root, worktree=worktree)
    if config.may_be_hyper:
        own = ctx.settings.runs.runners.get(draft.runner, RunnerSettings()).env
        base = config.base or draft.runner
        config = config._replace(workspace_root=find_workspace_root(root, {**ctx.environ, **own}, runner=base))
    if config.format != "manifest" and not config.any_format:
        return config
    manifest = f"{root}/{place_manifest(ctx.home.root, ctx.settings)}"
    size, digest = read_prefix(manifest)
    return config._replace(manifest=manifest, manifest_bytes=size, manifest_sha256=digest)


def _find_worktree(session_id: str, ctx: AdmissionContext) -> tuple[str, str]:
    """Return name and folder of the worktree of a run that is resumed: its harness knows the session only there."""
    row = load_run(ctx.home.ledger, session_id)
    details: Mapping[str, Any] = {} if row is None else row.details
    worktree, root = str(details.get("worktree", "")), str(details.get("root", ""))
    if not worktree or not os.path.isdir(root):
        raise UsageError(f"the worktree of {session_id} is gone", hint=f"start it again: remit retry {session_id}")
    return worktree, root


def _make_row(draft: Draft, admission: Admission, config: RunConfig, owner: str) -> Run:
    task = draft.request.task
    return Run(
        admission.session_id,
        admission.agent,
        admission.depth,
        admission.path,
        parent_id=admission.parent_id,
        root_id=admission.root_id,
        task_number=task.number or None if task is not None else None,
        deadline_ms=admission.deadline_ms,
        owner=owner,
        awaited=draft.request.awaited,
        runner=draft.runner,
        details=config.as_details(),
    )


def _render_texts(draft: Draft, admission: Admission, config: RunConfig) -> dict[str, bytes]:
    """Return the texts of a run that the ledger keeps: the request, the prompt, the instructions and the context."""
    request, agent = draft.request, draft.agent
    texts = {"request": render_request(request)}
    if draft.schema is not None:
        texts[SCHEMA] = json.dumps(draft.schema, ensure_ascii=False)
    if draft.runner != BUILT_IN:
        facts = make_instruction_facts(draft, config)._replace(
            session_id=admission.session_id,
            depth=admission.depth,
            path=admission.path,
            timeout_s=admission.timeout_s,
            agent=admission.agent,
            inputs=fill_inputs(
                draft.inputs,
                request.inputs,
                session_id=admission.session_id,
                depth=admission.depth,
                path=admission.path,
                timeout_s=admission.timeout_s,
                answers=draft.answers,
            ),
        )
        if agent.document is not None:  # also if the harness knows the file: some accept instructions only as a text
            body = read_agent_body(agent)
            texts["instructions"] = fill_tokens(body, facts).text
            if config.is_native:  # a harness that reads the file itself also reads its unfilled tokens
                facts = facts._replace(blanks=list_blanks(body, facts))
        texts["prompt"] = render_prompt(facts)
        if draft.context.loaded or draft.context.named:
            texts["context"] = render_context(draft.context)
    return {kind: text.encode("utf-8", "surrogatepass") for kind, text in texts.items()}

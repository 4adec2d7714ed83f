"""Finish a run: derive the finish steps for tasks, manifest, errors and git from its conclusion, and record its result.

Tasks and git are loaded only if there is something to do: the harness waits for a hook that finishes a run.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from remit.errorlog.workspace_errors import find_error_log
from remit.errors import RemitError
from remit.evidence.artifacts import inspect_artifacts
from remit.ledger.home import Home
from remit.ledger.runs import advance, load_run
from remit.ledger.texts import load_text, store_texts
from remit.manifest.manifest_file import place_manifest
from remit.model import ERROR_CODES, AgentError, Diagnostic
from remit.runs.admission.run_config import read_run_config
from remit.runs.finish.finish_steps import (
    FinishInput,
    FinishStep,
    FinishStores,
    fail,
    log_failures,
    report_activity,
    run_finish_steps,
)
from remit.runs.results.full_result import add_steps, load_report, render_report
from remit.runs.tasks.outside_tasks import finish_outside
from remit.runs.tasks.task_artifacts import DIAGNOSTICS as ARTIFACT_DIAGNOSTICS
from remit.runs.tasks.task_artifacts import check_artifacts
from remit.runs.tasks.task_status import finish_task, open_store, report_marker
from remit.storage.checkouts import mark_checkout
from remit.storage.context_files import NOT_THERE
from remit.storage.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from remit.config import Settings
    from remit.git.commits import Committed
    from remit.ledger.runs import Run
    from remit.model import Artifact, ArtifactFacts, Severity
    from remit.result import Result
    from remit.runs.admission.run_config import RunConfig
    from remit.runs.judging.conclusion import Conclusion

_USABLE = ("completed", "partial")
_COUNTS = ("phase_count", "estimated_hours", "findings_count")
_PLAN_COUNTS = {"phases": "phase_count", "total_effort_hours": "estimated_hours"}
"""The names that planners use in `plan_metadata`, and the field of state.json for each."""


def finish_run(root: str, row: Run, settings: Settings | None = None) -> Result:
    """Run the finish steps of a concluded run, write its result to the ledger, and return it.

    Supervisors and hooks call this function. If it was interrupted, the next call repeats it: every step is idempotent.
    It opens the ledger for itself, so it can run in any thread. `settings`: those of the workspace. Default: loaded.
    """
    home = Home(root)
    try:
        report, conclusion = load_report(home, row.session_id)
        config = read_run_config(row.details)
        try:
            steps = _run_steps(home, settings or load_settings(root), row, conclusion) if config.finishes else ()
        except RemitError as error:  # it is part of the result, and no reason to have no result
            steps = (fail("finish", error),)
        if config.is_harness_run:  # the harness reports usage after the agent has stopped
            latest = load_run(home.ledger, row.session_id) or row
            report = report._replace(usage=report.usage._replace(tokens=latest.tokens, turns=latest.turns))
        report = add_steps(report, steps, root=config.root)
        with home.ledger.transaction(durable=True) as db:
            now = load_run(home.ledger, row.session_id)
            if now is not None and now.state != "finished":
                store_texts(home, row.session_id, {"report": render_report(report, conclusion)}, db=db)
                advance(db, row.session_id, "finished")
        return report
    finally:
        home.close()


def _run_steps(home: Home, settings: Settings, row: Run, conclusion: Conclusion) -> tuple[FinishStep, ...]:
    given = make_finish_input(row, conclusion, read_run_config(row.details))
    given = given._replace(errors=(*given.errors, *_name_missing_context(home, row)))
    try:
        steps = _finish(home, settings, row, conclusion, given)
    except Exception as error:  # noqa: BLE001 - the agent has ended: its result is reported, whatever fails now
        steps = (fail("finish", error),)
    return (*steps, *log_failures(home, given, find_error_log(home.root), steps))


def _finish(
    home: Home, settings: Settings, row: Run, conclusion: Conclusion, given: FinishInput
) -> tuple[FinishStep, ...]:
    config = read_run_config(row.details)
    first = _keep_worktree(home, row, conclusion, config) if config.worktree else ()
    left = finish_task(home, settings, row, conclusion)
    given = given._replace(stays=left.stays, files=left.files)
    given, foreign = _refuse_foreign(home.root, given, config)
    steps = _report_failed_commit(config, run_finish_steps(home, given, find_stores(home, settings)))
    steps = (*(step for step in steps if not foreign or step.name != "git"), *foreign)
    outside = finish_outside(home, settings, row, conclusion)
    marked = () if left.steps else report_marker(home, settings, row)
    made = check_artifacts(home, settings, row, conclusion)
    failed = {step.message for step in steps if step.state == "failed"}
    before = (step for step in left.steps if step.message not in failed)  # one cause is reported once
    return (*first, *before, *_report_missing_steps(config, steps), *outside, *marked, *made)


def _name_missing_context(home: Home, row: Run) -> list[AgentError]:
    """The missing context files that the agent requires, for errors.json: the agent started without them.

    The result has them as diagnostics: they aren't errors of the agent.
    """
    context = json.loads(load_text(home, row.session_id, "context") or b"[]")
    missing = [each["name"] for each in context if each["part"] == "required" and each.get("reason") == NOT_THERE]
    return [
        AgentError(
            "file_not_found", f"the required context file '{name}' is missing", ERROR_CODES["file_not_found"],
            recoverable=True, recommendation="Correct the path in the agent's file, or write the file",
        )
        for name in missing
    ]  # fmt: skip


def _refuse_foreign(root: str, given: FinishInput, config: RunConfig) -> tuple[FinishInput, tuple[FinishStep, ...]]:
    """Make no commit if another repository was put into the place of the one at admission."""
    if not given.commits or mark_checkout(root) == config.checkout:
        return given, ()
    message = "the repository was replaced during the run, so nothing was committed"
    return given._replace(commits=False), (FinishStep("git", "failed", message),)


def make_finish_input(row: Run, conclusion: Conclusion, config: RunConfig) -> FinishInput:
    """The input of the finish steps. Unusable work is neither linked nor committed, but its errors are logged."""
    usable = conclusion.status in _USABLE
    in_worktree = bool(config.worktree)
    reasons = (*(agent_error.message for agent_error in conclusion.errors), *conclusion.next_steps)
    blocked = next((each for each in reasons if each.strip()), "") if conclusion.status == "blocked" else ""
    format: Any = conclusion.format or config.format
    return FinishInput(
        session_id=row.session_id,
        status=conclusion.task_status,
        format=format,
        kind=config.kind,
        task_number=row.task_number,
        phase=config.phase,
        summary=conclusion.summary,
        reason=blocked,
        artifacts=_choose_artifacts(conclusion, config) if usable and not in_worktree else (),
        counts=read_counts(conclusion.metadata) if usable and not in_worktree else {},
        errors=conclusion.errors,
        path=row.path,
        depth=row.depth,
        command=config.command or "run",
        entry=conclusion.entry if not in_worktree else None,
        commits=config.commits and usable and not in_worktree,
        owner=config.owner,
        working=config.working,
        outside=config.outside,
    )


def read_counts(given: Mapping[str, Any]) -> dict[str, int | float]:
    """The numbers that describe a plan or a report, among the metadata of a return or the inputs of a call (R0.8)."""
    plan = given.get("plan_metadata")
    planned: Mapping[str, Any] = plan if isinstance(plan, dict) else {}
    renamed: Mapping[str, Any] = {name: planned.get(other) for other, name in _PLAN_COUNTS.items()}
    sources = (renamed, planned, given)
    found: dict[str, int | float] = {}
    for source in sources:  # the last one with a number wins
        found |= {name: source[name] for name in _COUNTS if type(source.get(name)) in (int, float)}
    return found


def _choose_artifacts(conclusion: Conclusion, config: RunConfig) -> tuple[Artifact, ...]:
    """The artifacts that are attributed to the agent; a file that only changed during the run may be the user's.

    In an interrupted run, the file at the artifact path from the agent's instructions is the agent's (D17), but not a
    claim that couldn't be verified.
    """
    is_cut_short = conclusion.stop_reason != "exited" and conclusion.verdict != "unproven"
    return tuple(
        each
        for each in conclusion.artifacts
        if each.path not in conclusion.unsure or (is_cut_short and _is_own_place(each.path, config))
    )


def _is_own_place(path: str, config: RunConfig) -> bool:
    """Whether a path is the artifact path of the instructions; a findings file is beside the manifest (R4.1)."""
    if config.format != "manifest":
        return path == config.artifact_path
    folder, _, name = os.path.join(config.root, path).rpartition("/")
    return folder == os.path.dirname(config.manifest) and bool(config.topic) and name.endswith(f"_{config.topic}.md")


def find_stores(home: Home, settings: Settings) -> FinishStores:
    """The stores of a workspace that finish steps change."""
    manifest = f"{home.root}/{place_manifest(home.root, settings)}"
    base = manifest.rpartition("/")[0]

    def inspect(path: str) -> ArtifactFacts | None:
        return inspect_artifacts((path,), root=home.root, bases=(base, home.root))[path]

    return FinishStores(
        tasks=open_store(home, settings),
        manifest=manifest,
        error_log=find_error_log(home.root),
        inspect=inspect,
        words=settings.returns.status_words,
        keep_days=settings.retention.days,
        keep_megabytes=settings.retention.megabytes,
    )


def _keep_worktree(home: Home, row: Run, conclusion: Conclusion, config: RunConfig) -> tuple[FinishStep, ...]:
    """Commit the work in a worktree, and name a branch for it.

    The agent's own commits are on no branch, or on one that the user doesn't know.
    """
    if conclusion.status not in _USABLE:
        return ()
    from remit.git.commits import commit_paths  # noqa: PLC0415 - as above
    from remit.git.worktrees import find_head, is_merged, name_branch  # noqa: PLC0415

    root = home.root
    stays, branch = f"the changes stay in {config.root}", f"remit/{row.session_id}"
    try:
        if find_head(root, config.worktree) is None:  # the commit would be one of the repository around it
            return (FinishStep("worktree", "failed", f"{stays}, which isn't a worktree any more"),)
        edited = report_activity(home, row.session_id).files  # before the commit, so that it is in it
        committed = commit_paths(
            config.root, _list_paths(conclusion, config), conclusion.summary[:200] or row.session_id
        )
        diagnostics = _report_uncommitted(committed, [artifact.path for artifact in conclusion.artifacts])
        head = find_head(root, config.worktree)
        if head is None or is_merged(root, head):
            return (FinishStep("worktree", "failed", stays, diagnostics),) if diagnostics else ()
        name_branch(config.root, branch, head)
    except RemitError as error:
        return (FinishStep("worktree", "failed", f"{stays}: {error}"),)
    if any(diagnostic.code != "GIT006" for diagnostic in diagnostics):
        message = f"{stays}; git merge {branch} merges the commits of the agent"
        return (FinishStep("worktree", "failed", message, diagnostics),)
    message = f"to merge the work: git merge {branch}"
    message = f"{message}; ignored files stay in {config.root}" if diagnostics else message
    return (FinishStep("worktree", "done", message, diagnostics, edited),)


def _list_paths(conclusion: Conclusion, config: RunConfig) -> tuple[str, ...]:
    """The files of a worktree to commit: all that the agent made there, claimed or not.

    Git lists them, too: the conclusion has a limited number of unclaimed files, and none without a tree before the run.
    """
    from remit.git.worktrees import list_changes  # noqa: PLC0415 - as above

    paths = [artifact.path for artifact in conclusion.artifacts if not artifact.path.startswith("/")]
    paths += [change.path for change in conclusion.unclaimed if not change.path.startswith("/")]
    own = {*paths}
    paths += [each for each in list_changes(config.root).paths if each in own or each not in conclusion.made_by_checks]
    if conclusion.entry is not None and config.manifest:
        paths.append(os.path.relpath(config.manifest, config.root))
    return tuple(dict.fromkeys(paths))


def _report_uncommitted(committed: Committed, claimed: Sequence[str]) -> tuple[Diagnostic, ...]:
    """The diagnostics on files of a worktree that aren't in a commit. An ignored file that is claimed is a warning.

    It isn't committed, because it may be a secret, and merging the branch would put it into the history. Ignored files
    without a claim are caches and similar files.
    """
    from remit.git.git_errors import path_ignored  # noqa: PLC0415 - as above

    refused = (diagnostic for diagnostic in committed.diagnostics if diagnostic.code != "GIT006")
    left = (path_ignored(path)._replace(severity="warning") for path in committed.ignored if path in claimed)
    return (*refused, *left)


def _report_failed_commit(config: RunConfig, steps: tuple[FinishStep, ...]) -> tuple[FinishStep, ...]:
    """Raise a note on a missing repository to a warning if a commit was requested explicitly."""
    if not config.must_commit:
        return steps
    return tuple(
        step._replace(diagnostics=tuple(each._replace(severity="warning") for each in step.diagnostics))
        if step.name == "git" and step.state == "nothing"
        else step
        for step in steps
    )


def _report_missing_steps(config: RunConfig, steps: tuple[FinishStep, ...]) -> tuple[FinishStep, ...]:
    """Report the steps that Remit did for an agent that should do them itself (C19)."""
    if config.owner != "agent":
        return steps
    return tuple(
        step._replace(diagnostics=(*step.diagnostics, left_undone(step.name))) if step.owed else step for step in steps
    )


def left_undone(step: str) -> Diagnostic:
    """An agent whose file says that it does the finish steps itself left a step to Remit.

    Why: if each side assumes that the other one does a step, no one does it. Remit checks what is there and does what
    is missing.

    Bad: `owner: agent`, and the task was never moved.

    Good: the agent does its postflight, or its file leaves it to Remit (`owner: remit`, the default).
    """
    return Diagnostic(
        "SET001", "warning", f"the agent left the step '{step}' undone, and Remit did it",
        "Let the agent do it, or set owner: remit.",
    )  # fmt: skip


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "SET001": (left_undone, "warning"),
    **ARTIFACT_DIAGNOSTICS,
}

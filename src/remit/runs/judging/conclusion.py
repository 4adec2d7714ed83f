"""The conclusion of a run: status, errors and next steps, however its agent stopped.

A valid return is passed on unchanged. Otherwise Remit makes the conclusion, with a status and a code for the stop
reason. Changed files of an interrupted run are saved into a `partial`; nothing becomes `completed` here. Functions are
pure. A hook that only hands over a result loads this module, too, so it imports little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.light_namedtuple import NamedTuple
from remit.model import (
    ACCEPTABLE,
    AGENT_FAILED,
    AGENT_KILLED,
    ERROR_CODES,
    MODEL_API_FAILED,
    NO_ANSWER,
    NOTHING,
    AgentError,
    Artifact,
    ArtifactFacts,
)
from remit.runs.admission.run_config import read_run_config

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from remit.evidence.artifact_grades import ArtifactGrade
    from remit.evidence.tree import Comparison, TreeChange
    from remit.ledger.runs import Run
    from remit.model import Diagnostic, Status
    from remit.result import CheckResult
    from remit.runners import Usage
    from remit.runs.checks.accept import CheckedTree
    from remit.runs.judging.attempt import Attempt
    from remit.runs.judging.judge import AttemptVerdict

MAX_SALVAGED = 20
_TOGETHER = ("EVD003", "EVD010")
"""The diagnostics on claims that can't be verified because several agents worked in one folder."""
_MOST_KEPT = 2_000
"""How many changed files of a run are stored."""
_WEAKENING = ("CHK004", "CHK005", "CHK006", "CHK007")
"""The diagnostics on checks that prove less than before."""
_PROSE = (".md", ".mdx", ".txt", ".rst")
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127
"""The exit codes of a shell, and of `env`, for a program that it can't execute or find."""
_REFUSALS = {ERROR_CODES[kind]: kind for kind in ("tool_unavailable", "status_sync", "file_not_found")}
"""The types of errors that keep an agent from starting and aren't refusals of Remit, by their codes."""
_MAX_SUMMARY = 400
_BEGINS = 3
"""How many diagnostics a sentence names."""
_HOW = "Let its final message be what `remit return prompt --format {}` shows; `remit check` checks it"


class WrittenFiles(NamedTuple):
    """What the tree and the tool records show about the files of one run."""

    changed: Mapping[str, str | None] | None = None
    """The files that differed from the tree before the run when it ended, with their hashes; None: unknown."""
    seen: frozenset[str] = frozenset()
    """The files that changed while one of its commands ran."""
    is_recorded: bool = False
    """Whether the records name every file that it can have written."""


class Conclusion(NamedTuple):
    """How a run ended, before its finish steps."""

    stop_reason: str
    """exited, timeout, cancelled, crashed, rejected, orphaned or budget."""
    verdict: str
    status: Status
    summary: str
    artifacts: tuple[Artifact, ...] = ()
    grades: Mapping[str, ArtifactGrade] = {}
    unclaimed: tuple[TreeChange, ...] = ()
    errors: tuple[AgentError, ...] = ()
    next_steps: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    entry: Mapping[str, Any] | None = None
    """The line of the manifest that the agent appended."""
    unsure: tuple[str, ...] = ()
    """Files that Remit cannot attribute to the agent: reported, and neither linked nor committed."""
    made: tuple[tuple[str, str], ...] = ()
    """The files that are attributed to the agent, each with its git id. Its callers need not name them."""
    writes: WrittenFiles | None = None
    """Which files it wrote, for the runs that are judged later; None: unknown."""
    extra: Mapping[str, Any] = NOTHING
    """The keys of the return that its format doesn't define."""
    format: str = ""
    """The format that the agent used, else the one it was asked for; empty if neither is known."""
    metadata: Mapping[str, Any] = NOTHING
    """The agent's own keys in the metadata of its return."""
    lowered: bool = False
    """Whether Remit lowered the status."""
    checks: tuple[CheckResult, ...] = ()
    """The answers of the acceptance checks."""
    made_by_checks: tuple[str, ...] = ()
    """The files that changed while the checks ran: they aren't the agent's."""

    @property
    def task_status(self) -> str:
        """The status that moves a task: `timeout` if the time was up or Remit lowered the status to partial.

        Partial work that an agent reports itself completes a task in some formats; lowered work never does (C9, D4).
        """
        is_lowered = self.status == "partial" and self.lowered
        return "timeout" if self.stop_reason == "timeout" or is_lowered else self.status


class RunEvidence(NamedTuple):
    """What the tree and the records of tools show about a run, compared with its last return."""

    comparison: Comparison | None = None
    """The tree before the run and at its end; None: unknown."""
    unclaimed: tuple[TreeChange, ...] = ()
    written: frozenset[str] | None = None
    """The files that the agent's own tools wrote; None if the harness doesn't report them."""
    seen: frozenset[str] = frozenset()
    """The files that changed while one of its commands ran."""
    is_recorded: bool = False
    """Whether the records of its tools name every file that it can have written."""
    is_shared: bool = False
    """Whether other runs wrote in the same folder at the same time."""
    nested: frozenset[str] = frozenset()
    """The files that nested runs made and that were accepted."""

    @property
    def changes(self) -> tuple[TreeChange, ...]:
        """The files that were created or changed during the run."""
        return () if self.comparison is None else (*self.comparison.created, *self.comparison.changed)


_NO_EVIDENCE = RunEvidence()


def conclude(
    run: Run, attempts: Sequence[Attempt], evidence: RunEvidence = _NO_EVIDENCE, *, can_resume: bool = False
) -> Conclusion:
    """Return the conclusion of a run, by its last attempt and by what was compared.

    `can_resume`: whether the agent's session can be continued in its harness.
    """
    from remit.runs.judging.attempt import HANDBACK  # noqa: PLC0415 - a hook that only hands over a result loads less

    attempt = attempts[-1]
    if attempt.stop_reason == HANDBACK:
        attempt = attempt._replace(stop_reason="timeout")
    was_handed_back = any(earlier.stop_reason == HANDBACK for earlier in attempts[:-1])
    concluded = _conclude(run, attempt, evidence, can_resume=can_resume, was_handed_back=was_handed_back)
    concluded = concluded._replace(format=_find_format(run, attempt))
    if evidence.comparison is not None:
        concluded = concluded._replace(writes=_gather_writes(attempt, evidence, evidence.comparison))
    return concluded._replace(made=tuple(_list_made(concluded))) if concluded.verdict in ACCEPTABLE else concluded


def _find_format(run: Run, attempt: Attempt) -> str:
    """The format by which the agent's return was judged, else the format that the agent was asked for."""
    message = None if attempt.verdict is None else attempt.verdict.verdict
    if message is not None and message.returned is not None:
        return message.returned.format
    return (message.format if message is not None else None) or read_run_config(run.details).format


def _gather_writes(attempt: Attempt, evidence: RunEvidence, comparison: Comparison) -> WrittenFiles:
    """The files that differ from the tree before the run, claimed or not, and what the records of tools show."""
    changed = {change.path: change.blob or None for change in (*evidence.changes, *comparison.doubtful)}
    for grade in () if attempt.verdict is None else attempt.verdict.grades.values():
        changed |= {place: grade.content for place in grade.places if grade.grade not in ("missing", "unchanged")}
    is_known = len(changed) <= _MOST_KEPT and not comparison.unclear
    return WrittenFiles(changed if is_known else None, evidence.seen, evidence.is_recorded)


def _list_made(concluded: Conclusion) -> Iterator[tuple[str, str]]:
    """The files that the tree attributes to the agent, each with its git id."""
    from remit.evidence.artifact_grades import PROVED  # noqa: PLC0415 - loaded already if a return was judged

    for artifact in concluded.artifacts:
        graded = concluded.grades.get(artifact.path)
        if graded is not None and graded.grade in PROVED and graded.content and artifact.path not in concluded.unsure:
            yield from ((place, graded.content) for place in graded.places or (artifact.path,))


def _conclude(
    run: Run, attempt: Attempt, evidence: RunEvidence, *, can_resume: bool, was_handed_back: bool
) -> Conclusion:
    verdict, cause = attempt.verdict, attempt.output.cause
    if attempt.stop_reason in _SAVED:
        return _save_partial(run, attempt, evidence, can_resume=can_resume)
    if verdict is not None and verdict.returned is not None and attempt.stop_reason != "rejected":
        handback_advice = _advise(run, "timeout", "partial", can_resume=can_resume) if was_handed_back else ""
        return _accept(run, attempt, evidence, handback_advice, can_resume=can_resume)
    if cause in ("turns", "budget"):
        exhausted = attempt._replace(stop_reason="budget", reason=attempt.output.trouble)
        return _save_partial(run, exhausted, evidence, can_resume=can_resume)
    if attempt.stop_reason == "rejected" or cause == "refused":
        trouble = _describe_trouble(attempt, "the agent could not be started")
        kind = "tool_unavailable" if _lacks_tool(attempt) else _REFUSALS.get(attempt.code, "refused")
        return _fail(
            run,
            attempt,
            evidence,
            stop_reason="rejected", kind=kind, message=trouble,
                     advice=_find_hint(attempt, trouble))  # fmt: skip
    if _has_crashed(attempt):
        kind, code = ("tool_unavailable", "") if _lacks_tool(attempt) else ("execution", _find_crash_code(attempt))
        return _fail(
            run, attempt, evidence, stop_reason="crashed", kind=kind, message=_describe_exit(attempt),
                     code=code)  # fmt: skip
    return _reject(run, attempt, evidence)


def _lacks_tool(attempt: Attempt) -> bool:
    """Whether a shell or `env` reports that a program is missing or isn't executable."""
    return attempt.exit_code in (_NOT_EXECUTABLE, _NOT_FOUND)


def _has_crashed(attempt: Attempt) -> bool:
    """Whether the agent's program failed rather than its return: by a signal, without output, or without a return."""
    has_text = bool((attempt.output.text or "").strip())
    if attempt.stop_reason == "crashed" or (attempt.output.cause in ("crash", "api", "no_answer") and not has_text):
        return True
    return bool(attempt.exit_code) and (attempt.verdict is None or attempt.verdict.name == "missing")


def _find_crash_code(attempt: Attempt) -> str:
    """The code of the error for a program that failed."""
    if attempt.output.cause == "api":
        return MODEL_API_FAILED
    if attempt.stop_reason == "crashed":
        return AGENT_KILLED
    return NO_ANSWER if attempt.output.cause == "no_answer" else AGENT_FAILED


def _accept(
    run: Run, attempt: Attempt, evidence: RunEvidence, handback_advice: str, *, can_resume: bool
) -> Conclusion:  # fmt: skip
    """A return that goes to the caller. If it was handed back because the time was up, it says so."""
    assert attempt.verdict is not None  # noqa: S101 - checked by the caller
    assert attempt.verdict.returned is not None  # noqa: S101 - checked by the caller
    verdict, returned = attempt.verdict, attempt.verdict.returned
    claimed_status = returned.status if verdict.claimed is None else verdict.claimed.status
    if claimed_status == "completed" and (attempt.output.cause or attempt.exit_code not in (0, None)):
        return _doubt_exit(run, attempt, evidence)
    stop_reason, errors, next_steps = "exited", returned.errors, returned.next_steps
    if handback_advice and claimed_status == "partial":
        kind, sentence, _ = _SAVED["timeout"]
        stop_reason, errors = "timeout", (_make_error(kind, sentence, handback_advice, recoverable=True), *errors)
    entry = verdict.verdict.payload if verdict.verdict and returned.format == "manifest" else None
    status, diagnostics, checked = returned.status, verdict.diagnostics, attempt.checks
    if checked is not None:
        diagnostics = (*diagnostics, *checked.diagnostics)
        errors = (*_name_unmet_checks(run, checked, can_resume=can_resume), *errors)
        if not checked.is_passed:
            status, entry = "partial", None
            next_steps = (errors[0].recommendation, *next_steps)
    if verdict.name == "unproven":
        agent_error = _name_unproven(run, verdict)
        errors, next_steps, entry = (agent_error, *errors), (agent_error.recommendation, *next_steps), None
    if returned.status != "completed":
        errors = (*errors, *_name_missing(verdict))
    return Conclusion(
        stop_reason, verdict.name, status, returned.summary, returned.artifacts, verdict.grades,
        evidence.unclaimed, errors, next_steps, diagnostics, attempt.output.notes, entry, verdict.unproven,
        metadata=returned.metadata, extra=returned.extra, lowered=claimed_status != status,
        checks=() if checked is None else checked.results,
        made_by_checks=() if checked is None else tuple(sorted(checked.made)),
    )  # fmt: skip


def _name_unmet_checks(run: Run, checked: CheckedTree, *, can_resume: bool) -> tuple[AgentError, ...]:
    """The checks that keep a result from being `completed`, each with the command that comes next."""
    errors = []
    # `remit checks` knows the checks of the workspace; one that the user typed has its command as its name.
    commands = [each.command for each in checked.results if each.name == each.command]
    rerun = commands[0] if len(commands) == len(checked.results) > 0 else "remit checks"
    if checked.failed:
        names = ", ".join(each.name for each in checked.failed)
        message = f"{names}: {checked.failed[0].reason}" if len(checked.failed) == 1 else names
        is_old = all(each.before == "failed" for each in checked.failed)
        how = "Fix what failed before the run, too" if is_old else "Fix it"
        session_id = run.session_id
        what = f"run the agent again: remit retry {session_id}"
        if _is_called_elsewhere(run):
            what = "call the agent again"
        elif can_resume:
            what = f'let the agent continue: remit resume {session_id} "Fix the failing check"'
        errors.append(_make_error("check_failed", f"acceptance checks failed: {message}",
                                  f"{how}, then run {rerun}; or {what}",
                                  recoverable=True))  # fmt: skip
    if checked.not_run:
        reasons = "; ".join(f"{each.name}: {each.reason}" for each in checked.not_run[:_BEGINS])
        errors.append(_make_error("check_not_run", f"acceptance checks were not run: {reasons}",
                                  f"Run them: {rerun}", recoverable=True))  # fmt: skip
    if checked.is_weakened:
        messages = [each for each in checked.diagnostics if each.code in _WEAKENING]
        errors.append(_make_error("check_weakened", f"the checks prove less than before: {_join_messages(messages)}",
                                  f"Review the change: remit show {run.session_id}; then run {rerun}",
                                  recoverable=True))  # fmt: skip
    return tuple(errors)


def _is_called_elsewhere(run: Run) -> bool:
    """Whether only its program or its harness can call the agent again."""
    config = read_run_config(run.details)
    return bool(config.settings.get("in_process") or config.is_harness_run)


def _name_unproven(run: Run, verdict: AttemptVerdict) -> AgentError:
    """What could not be verified, and what the caller can do about it."""
    shown = ", ".join(verdict.unproven[:_BEGINS])
    more = f" and {len(verdict.unproven) - _BEGINS} more" if len(verdict.unproven) > _BEGINS else ""
    advice = f"Check {shown}{more} before you use {'it' if len(verdict.unproven) == 1 else 'them'}"
    if not verdict.unproven:
        advice = "Check what the agent did before you use it"
    advice = f"{advice}: remit show {run.session_id}"
    if any(diagnostic.code in _TOGETHER for diagnostic in verdict.doubts):
        advice = f"{advice}; to have it verified, run each agent in its own worktree: --worktree"
    return _make_error("unproven", _join_messages(verdict.doubts), advice, recoverable=True)


def _describe_trouble(attempt: Attempt, otherwise: str) -> str:
    return attempt.output.trouble or attempt.reason or otherwise


def _find_hint(attempt: Attempt, trouble: str) -> str:
    """The hint of a refusal: the part of its reason after the sentence."""
    hint = attempt.reason.removeprefix(f"{trouble}; ")
    return f"{hint[:1].upper()}{hint[1:]}" if hint != attempt.reason else ""


def _describe_exit(attempt: Attempt) -> str:
    how = f"with exit code {attempt.exit_code}" if attempt.exit_code else "without an answer"
    return _describe_trouble(attempt, f"its program ended {how}")


# --- rejected returns ------------------------------------------------------------------------------------------------


def _reject(run: Run, attempt: Attempt, evidence: RunEvidence) -> Conclusion:
    """A final message that isn't an acceptable return: failed, with its diagnostics (R0.13, R2.13)."""
    name = "missing" if attempt.verdict is None else attempt.verdict.name
    diagnostics = () if attempt.verdict is None else attempt.verdict.diagnostics
    kind = "fabricated" if name == "fabricated" else "validation"
    advice = f"Fix {run.agent or 'the'} subagent return format"
    if kind == "fabricated":
        advice = "Check the working tree, then try again"
    message = _join_diagnostics(diagnostics) or "the final message has no return"
    if attempt.exit_code:
        message = f"{message}; and {_describe_exit(attempt)}"
    failed = _fail(run, attempt, evidence, stop_reason="exited", kind=kind, message=message, advice=advice)
    failed = failed._replace(
        verdict=name, diagnostics=diagnostics, errors=(*failed.errors, *_name_missing(attempt.verdict))
    )
    if kind == "fabricated":
        return failed
    how = _HOW.format(_find_format(run, attempt) or "standard")  # the wording of R0.13 doesn't explain how
    return failed._replace(next_steps=(how,))


def _name_missing(verdict: AttemptVerdict | None) -> tuple[AgentError, ...]:
    """The missing files that a return names, as an error that callers know from the standard (R2.16)."""
    grades = {} if verdict is None else verdict.grades
    missing = sorted(path for path, grade in grades.items() if grade.grade == "missing")
    if not missing:
        return ()
    more = f" and {len(missing) - _BEGINS} more" if len(missing) > _BEGINS else ""
    message = f"the return names files that aren't there: {', '.join(missing[:_BEGINS])}{more}"
    advice = "Check what the agent wrote, then try again"
    return (_make_error("file_not_found", message, advice, recoverable=True),)


def _doubt_exit(run: Run, attempt: Attempt, evidence: RunEvidence) -> Conclusion:
    """A `completed` that doesn't count, because the program then failed or its output was cut off."""
    if attempt.output.cause == "cut":
        message = f"the agent said completed, but {attempt.output.trouble}"
        advice = "Let it print less, or write its log to a file, then try again"
        failed = _fail(run, attempt, evidence, stop_reason="exited", kind="validation", message=message, advice=advice)
        return failed._replace(verdict="ambiguous")
    message = f"the agent said completed, and then {_describe_exit(attempt)}"
    failed = _fail(
        run, attempt, evidence, stop_reason="crashed", kind="execution", message=message,
                   code=_find_crash_code(attempt))  # fmt: skip
    return failed._replace(
        verdict="ambiguous", diagnostics=() if attempt.verdict is None else attempt.verdict.diagnostics
    )


def _fail(
    run: Run, attempt: Attempt, evidence: RunEvidence, *, stop_reason: str, kind: str, message: str,
    advice: str = "", code: str = "",
) -> Conclusion:  # fmt: skip
    """Return a conclusion with one error. `code`: its code, if the type of the error doesn't decide it."""
    advice = advice or _ADVICE.get(kind) or _refer_to_log(run, attempt)
    agent_error = _make_error(kind, message, advice, recoverable=kind not in ("refused", "tool_unavailable"))
    agent_error = agent_error._replace(code=code or agent_error.code)
    if attempt.trace and stop_reason in ("crashed", "rejected"):
        agent_error = agent_error._replace(details=attempt.trace)
    verdict = attempt.verdict
    name = "missing" if verdict is None or verdict.name in ACCEPTABLE else verdict.name
    claimed = None if verdict is None else verdict.claimed
    summary = f"The work of {run.agent or 'the agent'} can't be used: {message}."
    if len(summary) > _MAX_SUMMARY:
        summary = f"{summary[: _MAX_SUMMARY - 1]}…"
    return Conclusion(
        stop_reason, name, "failed", summary, () if claimed is None else claimed.artifacts,
        {} if verdict is None else verdict.grades, evidence.unclaimed, (agent_error,), (agent_error.recommendation,),
        () if verdict is None else verdict.diagnostics, attempt.output.notes,
    )  # fmt: skip


def _refer_to_log(run: Run, attempt: Attempt) -> str:
    has_log = attempt.number and not read_run_config(run.details).is_harness_run
    where = f"with remit logs {run.session_id}" if has_log else "in the log"
    return f"See {where} what went wrong, then try again"


def _join_diagnostics(diagnostics: Sequence[Diagnostic]) -> str:
    return _join_messages([diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"])


def _join_messages(diagnostics: Sequence[Diagnostic]) -> str:
    more = f" and {len(diagnostics) - _BEGINS} more" if len(diagnostics) > _BEGINS else ""
    return "; ".join(diagnostic.message for diagnostic in diagnostics[:_BEGINS]) + more


# --- interrupted runs ------------------------------------------------------------------------------------------------

_SAVED = {
    "timeout": ("timeout", "Its time was up", " with more time (--timeout)"),
    "cancelled": ("cancelled", "It was cancelled", ""),
    "budget": ("budget", "Its budget was used up", " with a larger budget"),
    "orphaned": ("orphaned", "It was lost with its process or machine", ""),
}
"""For each stop reason: the type of the error, its sentence, and what to change in the next try."""
_ADVICE = {
    "refused": "Correct what was refused, then try again",
    "tool_unavailable": "Install the program, or correct its name, then try again",
    "status_sync": "Repair the task files with remit task sync --repair, then try again",
}
"""What to do about an error if it has no hint of its own, by its type."""


def _save_partial(run: Run, attempt: Attempt, evidence: RunEvidence, *, can_resume: bool) -> Conclusion:
    """An interrupted run: partial, with the changed files (R2.7); a cancelled run without changed files has failed."""
    kind, sentence, _ = _SAVED[attempt.stop_reason]
    verdict = attempt.verdict
    own = verdict.returned if verdict is not None else None
    artifacts = _salvage(attempt, evidence)
    reason = attempt.reason or (attempt.output.trouble if attempt.output.cause == "api" else "")
    message = f"{sentence[:1].lower()}{sentence[1:]}" + (f": {reason}" if reason else "")
    status: Status = "failed" if attempt.stop_reason == "cancelled" and not artifacts else "partial"
    advice = _advise(run, attempt.stop_reason, status, can_resume=can_resume)
    agent_error = _make_error(kind, message, advice, recoverable=True)
    left = (
        f"{len(artifacts)} changed file{'s' * (len(artifacts) != 1)} left on disk" if artifacts else "nothing is left"
    )
    summary = f"{sentence} before the work was done; {left}."
    claimed = verdict.claimed if verdict is not None else None
    if own is not None and (claimed or own).status != "completed":
        summary = own.summary
    return Conclusion(
        attempt.stop_reason, "missing" if verdict is None else verdict.name, status, summary, artifacts,
        _grade_salvaged(attempt, evidence, artifacts),
        tuple(change for change in evidence.unclaimed if change.path not in {artifact.path for artifact in artifacts}),
        (agent_error, *(own.errors if own is not None else ())),
        (advice, *(own.next_steps if own is not None else ())),
        () if verdict is None else verdict.diagnostics, attempt.output.notes,
        unsure=tuple(artifact.path for artifact in artifacts if artifact.path not in (evidence.written or ())),
        lowered=True,
    )  # fmt: skip


def _advise(run: Run, stop_reason: str, status: Status, *, can_resume: bool) -> str:
    """What the caller can do now (R0.14): resume partial work if the harness can do it, otherwise retry the run."""
    change = _SAVED[stop_reason][2]
    if status == "partial" and can_resume:
        what = f"resume it{change}: remit resume {run.session_id}"
    elif _is_called_elsewhere(run):
        what = f"let its program ask again{change}; to see what is there: remit show {run.session_id}"
    else:
        what = f"retry it{change}: remit retry {run.session_id}"
    if stop_reason == "orphaned":
        return f"Check what the run has changed, then {what}"
    return f"{what[:1].upper()}{what[1:]}"


def _salvage(attempt: Attempt, evidence: RunEvidence) -> tuple[Artifact, ...]:
    """The files that changed during the run, claimed ones first; in a shared folder, only the agent's own."""
    changed = {change.path: change for change in evidence.changes if change.blob}
    if evidence.is_shared:
        changed = {path: change for path, change in changed.items() if path in (evidence.written or ())}
    claimed = attempt.verdict.claimed if attempt.verdict is not None else None
    first = {artifact.path: artifact for artifact in (claimed.artifacts if claimed is not None else ())}
    named = [artifact for path, artifact in first.items() if path in changed]
    rest = [_name_change(path) for path in sorted(changed) if path not in first]
    return (*named, *rest)[:MAX_SALVAGED]


def _grade_salvaged(
    attempt: Attempt, evidence: RunEvidence, artifacts: tuple[Artifact, ...]
) -> dict[str, ArtifactGrade]:  # fmt: skip
    """The grades of salvaged files: changed, with the writer if it is known."""
    from remit.evidence.artifact_grades import ArtifactGrade  # noqa: PLC0415 - loaded already if a return was judged

    known = {} if attempt.verdict is None else dict(attempt.verdict.grades)
    saved = {artifact.path for artifact in artifacts}
    found = {
        change.path: ArtifactGrade(
            ArtifactFacts(change.path, "file", change.size_bytes),
            "changed",
            _describe_writer(evidence, change.path),
            blob=change.blob,
        )
        for change in evidence.changes
        if change.path in saved
    }
    return {**found, **known}


def _describe_writer(evidence: RunEvidence, path: str) -> str:
    """Why a change isn't attributed to the agent; empty if its own tools made it."""
    if path in (evidence.written or ()):
        return ""
    return "an agent below it made it" if path in evidence.nested else "who changed it is not known"


def _name_change(path: str) -> Artifact:
    """A changed file as an artifact, of the kind that its folder stands for (R1.20)."""
    from remit.tasks.links import find_kind  # noqa: PLC0415 - only for interrupted runs

    kind = find_kind(path) or ("documentation" if path.lower().endswith(_PROSE) else "implementation")
    word = "report" if kind == "research" else kind
    return Artifact(kind, path, "Left on disk when the work was cut short.", word=word)


def _make_error(kind: str, message: str, advice: str, *, recoverable: bool) -> AgentError:
    return AgentError(kind, message, ERROR_CODES[kind], recoverable, advice)


def add_usage(one: Usage, other: Usage) -> Usage:
    """The sum of two usages; a number that neither has stays unknown."""
    return one._replace(
        **{
            name: (getattr(one, name) or 0) + (getattr(other, name) or 0)
            for name in one._fields
            if getattr(one, name) is not None or getattr(other, name) is not None
        }
    )

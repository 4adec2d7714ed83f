"""The conclusion of a run: status, errors and next steps, however its agent stopped.

Owns the conclusion. A return that holds is passed on as it is; everything else becomes one of Remit's own, whose status
and code say which of the endings it was. What was left on disk is saved into a `partial`; nothing is ever made
`completed` here. Pure. A hook that only hands over what was concluded loads this, too, so it imports little.
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

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from remit.evidence.artifact_grades import ArtifactGrade
    from remit.evidence.tree import Comparison, TreeChange
    from remit.model import Diagnostic, Return, Status
    from remit.runners import RunOutput, Usage
    from remit.runs.judging.judge import AttemptVerdict

MAX_SALVAGED = 20
_TOGETHER = ("EVD003", "EVD010")
"""What can't be verified because several agents worked in one folder."""
_MOST_KEPT = 2_000
"""How many changed files are kept of a run."""
_PROSE = (".md", ".mdx", ".txt", ".rst")
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127
"""The exit codes of a shell, and of `env`, for a program that it can't execute or find."""
_REFUSALS = {ERROR_CODES[kind]: kind for kind in ("tool_unavailable", "status_sync", "file_not_found")}
"""The types of the errors that keep an agent from beginning and are no refusal of Remit's, by their codes."""
_MAX_SUMMARY = 400
_BEGINS = 3
"""How many findings a sentence names."""
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
    """What became of a delegation."""

    stop_reason: str
    """exited, timeout, cancelled, crashed, rejected, orphaned or budget."""
    verdict: str
    status: Status
    summary: str
    artifacts: tuple[Artifact, ...] = ()
    grades: Mapping[str, ArtifactGrade] = {}
    unclaimed: tuple[TreeChange, ...] = ()
    faults: tuple[AgentError, ...] = ()
    next_steps: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    entry: Mapping[str, Any] | None = None
    """The line of the manifest that the agent appended."""
    unsure: tuple[str, ...] = ()
    """Files that Remit cannot attribute to the agent: reported, and neither linked nor committed."""
    made: tuple[tuple[str, str], ...] = ()
    """What is the agent's for sure: places below the root, each with its git id. Its callers need not name them."""
    writes: WrittenFiles | None = None
    """What shows which files it wrote, for the runs that are judged later; None: unknown."""
    extra: Mapping[str, Any] = NOTHING
    """The keys of the return that its format doesn't define."""
    format: str = ""
    """The format that the agent used, else the one it was asked for; empty if neither is known."""
    metadata: Mapping[str, Any] = NOTHING
    """The agent's own keys in the metadata of its return."""
    lowered: bool = False
    """Whether Remit lowered the status."""

    @property
    def task_status(self) -> str:
        """The status that moves a task: `timeout` if the time was up or Remit lowered the status to partial.

        Partial work that an agent reports itself completes a task in some formats; lowered work never does (C9, D4).
        """
        is_lowered = self.status == "partial" and self.lowered
        return "timeout" if self.stop_reason == "timeout" or is_lowered else self.status


class AttemptEnd(NamedTuple):
    """How the last attempt ended, and all that is known then."""

    stop_reason: str
    """exited, crashed (a signal ended it), timeout, cancelled, budget, orphaned or rejected: not what it said."""
    agent: str
    heard: RunOutput | None = None
    judgement: AttemptVerdict | None = None
    comparison: Comparison | None = None
    unclaimed: tuple[TreeChange, ...] = ()
    exit_code: int | None = None
    reason: str = ""
    written: frozenset[str] | None = None
    """The files that its own tools wrote; None where nobody can tell."""
    shared: bool = False
    handed_back: bool = False
    """Whether it was asked to hand back what it had, because the time was nearly up."""
    resume: str = ""
    """The command that goes on with it in the session of its harness; empty where that cannot be."""
    retry: str = ""
    """The command that asks for the same anew; empty where only its own program can."""
    below: frozenset[str] = frozenset()
    """The files that agents below it made and that were accepted of them."""
    session_id: str = ""
    """Where its log is; empty where there is none."""
    seen: frozenset[str] = frozenset()
    """The files that changed while one of its commands ran."""
    is_recorded: bool = False
    """Whether the records of its tools name every file that it can have written."""
    code: str = ""
    """Of the error that kept it from beginning."""
    trace: str = ""
    """The end of its stack trace, or of what its program printed on standard error before it failed."""
    format: str = ""
    """The format that the agent was asked for."""


def conclude(ended: AttemptEnd) -> Conclusion:
    """What is told the caller, and kept for the runs that are judged later."""
    told = _conclude(ended)._replace(format=_find_format(ended))
    if ended.comparison is not None:
        told = told._replace(writes=_gather_writes(ended, ended.comparison))
    return told._replace(made=tuple(_list_made(told))) if told.verdict in ACCEPTABLE else told


def _find_format(ended: AttemptEnd) -> str:
    """The format by which the agent's return was judged, else the one it was asked for; empty if neither is known."""
    verdict = None if ended.judgement is None else ended.judgement.verdict
    if verdict is not None and verdict.returned is not None:
        return verdict.returned.format
    return (verdict.format if verdict is not None else None) or ended.format or ""


def _gather_writes(ended: AttemptEnd, comparison: Comparison) -> WrittenFiles:
    """The files that are not what they were before, claimed or not, and what the records of tools show."""
    changes = (*comparison.created, *comparison.changed, *comparison.doubtful)
    changed = {change.path: change.blob or None for change in changes}
    for grade in () if ended.judgement is None else ended.judgement.grades.values():
        changed |= {place: grade.content for place in grade.places if grade.grade not in ("missing", "unchanged")}
    is_known = len(changed) <= _MOST_KEPT and not comparison.unclear
    return WrittenFiles(changed if is_known else None, ended.seen, ended.is_recorded)


def _list_made(told: Conclusion) -> Iterator[tuple[str, str]]:
    """The places of all that the tree credits to the agent."""
    from remit.evidence.artifact_grades import PROVED  # noqa: PLC0415 - whoever has judged has it already

    for artifact in told.artifacts:
        graded = told.grades.get(artifact.path)
        if graded is not None and graded.grade in PROVED and graded.content and artifact.path not in told.unsure:
            yield from ((place, graded.content) for place in graded.places or (artifact.path,))


def _conclude(ended: AttemptEnd) -> Conclusion:
    returned = None if ended.judgement is None else ended.judgement.returned
    if ended.stop_reason in _SAVED:
        return _save_partial(ended)
    cause = ended.heard.cause if ended.heard is not None else ""
    if ended.judgement is not None and returned is not None and ended.stop_reason != "rejected":
        return _accept(ended, ended.judgement, returned)
    if cause in ("turns", "budget"):
        return _save_partial(ended._replace(stop_reason="budget", reason=ended.heard.trouble if ended.heard else ""))
    if ended.stop_reason == "rejected" or cause == "refused":
        trouble = _describe_trouble(ended, "the agent could not be started")
        kind = "tool_unavailable" if _lacks_tool(ended) else _REFUSALS.get(ended.code, "refused")
        return _fail(ended, "rejected", kind, trouble, advice=_find_hint(ended, trouble))
    if _has_crashed(ended, cause):
        kind, code = ("tool_unavailable", "") if _lacks_tool(ended) else ("execution", _find_crash_code(ended, cause))
        return _fail(ended, "crashed", kind, _describe_exit(ended), code=code)
    return _reject(ended)


def _lacks_tool(ended: AttemptEnd) -> bool:
    """Whether a shell or `env` says that a program isn't there, or may not be executed."""
    return ended.exit_code in (_NOT_EXECUTABLE, _NOT_FOUND)


def _has_crashed(ended: AttemptEnd, cause: str) -> bool:
    """Whether its program failed, rather than what it says: by a signal, without a word, or without a return."""
    if ended.stop_reason == "crashed" or (cause in ("crash", "api", "no_answer") and not _has_words(ended)):
        return True
    return bool(ended.exit_code) and (ended.judgement is None or ended.judgement.name == "missing")


def _find_crash_code(ended: AttemptEnd, cause: str) -> str:
    """Return the code of the error for a program that failed, by what is known of its end."""
    if cause == "api":
        return MODEL_API_FAILED
    if ended.stop_reason == "crashed":
        return AGENT_KILLED
    return NO_ANSWER if cause == "no_answer" else AGENT_FAILED


def _accept(ended: AttemptEnd, judgement: AttemptVerdict, returned: Return) -> Conclusion:
    """A return that goes to the caller. What was handed back because the time was up says so."""
    cause = ended.heard.cause if ended.heard is not None else ""
    said = returned.status if judgement.claimed is None else judgement.claimed.status
    if said == "completed" and (cause or ended.exit_code not in (0, None)):
        return _doubt_exit(ended)
    stop_reason, faults, next_steps = "exited", returned.faults, returned.next_steps
    if ended.handed_back and said == "partial":
        kind, sentence, _ = _SAVED["timeout"]
        advice = _advise(ended._replace(stop_reason="timeout"), said)
        stop_reason, faults = "timeout", (_make_error(kind, sentence, advice, recoverable=True), *faults)
    entry = judgement.verdict.payload if judgement.verdict and returned.format == "manifest" else None
    if judgement.name == "unproven":
        fault = _name_unproven(judgement)
        faults, next_steps, entry = (fault, *faults), (fault.recommendation, *next_steps), None
    if returned.status != "completed":
        faults = (*faults, *_name_missing(ended))
    return Conclusion(
        stop_reason, judgement.name, returned.status, returned.summary, returned.artifacts, judgement.grades,
        ended.unclaimed, faults, next_steps, judgement.findings, _get_notes(ended), entry, judgement.unproven,
        metadata=returned.metadata, extra=returned.extra, lowered=said != returned.status,
    )  # fmt: skip


def _name_unproven(judgement: AttemptVerdict) -> AgentError:
    """What could not be verified, and what the caller can do about it."""
    shown = ", ".join(judgement.unproven[:_BEGINS])
    more = f" and {len(judgement.unproven) - _BEGINS} more" if len(judgement.unproven) > _BEGINS else ""
    advice = f"Check {shown}{more} before you use {'it' if len(judgement.unproven) == 1 else 'them'}"
    if not judgement.unproven:
        advice = "Check what the agent did before you use it"
    if any(finding.code in _TOGETHER for finding in judgement.doubts):
        advice = f"{advice}; to have it verified, run each agent in its own worktree: --worktree"
    return _make_error("unproven", _join_messages(judgement.doubts), advice, recoverable=True)


def _has_words(ended: AttemptEnd) -> bool:
    return ended.heard is not None and bool((ended.heard.text or "").strip())


def _describe_trouble(ended: AttemptEnd, otherwise: str) -> str:
    return (ended.heard.trouble if ended.heard is not None else "") or ended.reason or otherwise


def _find_hint(ended: AttemptEnd, trouble: str) -> str:
    """What to do about a refusal, as it stands behind the sentence."""
    hint = ended.reason.removeprefix(f"{trouble}; ")
    return f"{hint[:1].upper()}{hint[1:]}" if hint != ended.reason else ""


def _describe_exit(ended: AttemptEnd) -> str:
    how = f"with exit code {ended.exit_code}" if ended.exit_code else "without an answer"
    return _describe_trouble(ended, f"its program ended {how}")


def _get_notes(ended: AttemptEnd) -> tuple[str, ...]:
    return () if ended.heard is None else ended.heard.notes


# --- a return that does not hold -------------------------------------------------------------------------------------


def _reject(ended: AttemptEnd) -> Conclusion:
    """An answer that is no acceptable return: failed, with what is wrong with it (R0.13, R2.13)."""
    judgement = ended.judgement
    verdict = judgement.name if judgement is not None else "missing"
    findings = judgement.findings if judgement is not None else ()
    kind = "fabricated" if verdict == "fabricated" else "validation"
    advice = f"Fix {ended.agent or 'the'} subagent return format"
    if kind == "fabricated":
        advice = "Check the working tree, then try again"
    message = _join_diagnostics(findings) or "the final message has no return"
    if ended.exit_code:
        message = f"{message}; and {_describe_exit(ended)}"
    told = _fail(ended, "exited", kind, message, advice=advice)._replace(verdict=verdict, findings=findings)
    told = told._replace(faults=(*told.faults, *_name_missing(ended)))
    if kind == "fabricated":
        return told
    return told._replace(next_steps=(_HOW.format(_find_format(ended) or "standard"),))  # R0.13's words do not say how


def _name_missing(ended: AttemptEnd) -> tuple[AgentError, ...]:
    """The files that a return names and that aren't there, as an error that callers know from the standard (R2.16)."""
    grades = {} if ended.judgement is None else ended.judgement.grades
    missing = sorted(path for path, grade in grades.items() if grade.grade == "missing")
    if not missing:
        return ()
    more = f" and {len(missing) - _BEGINS} more" if len(missing) > _BEGINS else ""
    message = f"the return names files that aren't there: {', '.join(missing[:_BEGINS])}{more}"
    advice = "Check what the agent wrote, then try again"
    return (_make_error("file_not_found", message, advice, recoverable=True),)


def _doubt_exit(ended: AttemptEnd) -> Conclusion:
    """An agent that says `completed` is not believed where its program then fails, or said more than was read."""
    if ended.heard is not None and ended.heard.cause == "cut":
        message = f"the agent said completed, but {ended.heard.trouble}"
        advice = "Let it print less, or write its log to a file, then try again"
        return _fail(ended, "exited", "validation", message, advice=advice)._replace(verdict="ambiguous")
    cause = ended.heard.cause if ended.heard is not None else ""
    message = f"the agent said completed, and then {_describe_exit(ended)}"
    told = _fail(ended, "crashed", "execution", message, code=_find_crash_code(ended, cause))
    return told._replace(verdict="ambiguous", findings=() if ended.judgement is None else ended.judgement.findings)


def _fail(
    ended: AttemptEnd, stop_reason: str, kind: str, message: str, *, advice: str = "", code: str = ""
) -> Conclusion:
    """Return a conclusion with one error. `code`: its code, if the type of the error doesn't say it."""
    advice = advice or _ADVICE.get(kind) or _see_log(ended)
    fault = _make_error(kind, message, advice, recoverable=kind not in ("refused", "tool_unavailable"))
    fault = fault._replace(code=code or fault.code)
    if ended.trace and stop_reason in ("crashed", "rejected"):
        fault = fault._replace(details=ended.trace)
    verdict = ended.judgement.name if ended.judgement is not None else "missing"
    verdict = "missing" if verdict in ACCEPTABLE else verdict
    grades = {} if ended.judgement is None else ended.judgement.grades
    claimed = None if ended.judgement is None else ended.judgement.claimed
    summary = f"The work of {ended.agent or 'the agent'} can't be used: {message}."
    if len(summary) > _MAX_SUMMARY:
        summary = f"{summary[: _MAX_SUMMARY - 1]}…"
    return Conclusion(
        stop_reason, verdict, "failed", summary, () if claimed is None else claimed.artifacts, grades,
        ended.unclaimed, (fault,), (fault.recommendation,),
        () if ended.judgement is None else ended.judgement.findings, _get_notes(ended),
    )  # fmt: skip


def _see_log(ended: AttemptEnd) -> str:
    where = f"with remit logs {ended.session_id}" if ended.session_id else "in the log"
    return f"See {where} what went wrong, then try again"


def _join_diagnostics(findings: Sequence[Diagnostic]) -> str:
    return _join_messages([finding for finding in findings if finding.severity == "error"])


def _join_messages(findings: Sequence[Diagnostic]) -> str:
    more = f" and {len(findings) - _BEGINS} more" if len(findings) > _BEGINS else ""
    return "; ".join(finding.message for finding in findings[:_BEGINS]) + more


# --- work that was cut short -----------------------------------------------------------------------------------------

_SAVED = {
    "timeout": ("timeout", "Its time was up", " with more time (--timeout)"),
    "cancelled": ("cancelled", "It was cancelled", ""),
    "budget": ("budget", "Its budget was used up", " with a larger budget"),
    "orphaned": ("orphaned", "It was lost with its process or machine", ""),
}
"""The type of the error, what is told of it, and what is to be changed when it is done again."""
_ADVICE = {
    "refused": "Correct what was refused, then try again",
    "tool_unavailable": "Install the program, or correct its name, then try again",
    "status_sync": "Repair the task files with remit task sync --repair, then try again",
}
"""What to do about an error if it has no hint of its own, by its type."""


def _save_partial(ended: AttemptEnd) -> Conclusion:
    """What was cut short: partial, with what is on disk (R2.7). Cancelled with nothing on disk, there is no part."""
    kind, sentence, _ = _SAVED[ended.stop_reason]
    judgement = ended.judgement
    own = judgement.returned if judgement is not None else None
    artifacts = _salvage(ended)
    reason = ended.reason or (ended.heard.trouble if ended.heard is not None and ended.heard.cause == "api" else "")
    message = f"{sentence[:1].lower()}{sentence[1:]}" + (f": {reason}" if reason else "")
    status: Status = "failed" if ended.stop_reason == "cancelled" and not artifacts else "partial"
    advice = _advise(ended, status)
    fault = _make_error(kind, message, advice, recoverable=True)
    left = (
        f"{len(artifacts)} changed file{'s' * (len(artifacts) != 1)} left on disk" if artifacts else "nothing is left"
    )
    summary = f"{sentence} before the work was done; {left}."
    claimed = judgement.claimed if judgement is not None else None
    if own is not None and (claimed or own).status != "completed":
        summary = own.summary
    return Conclusion(
        ended.stop_reason, "missing" if judgement is None else judgement.name, status, summary, artifacts,
        _grade_salvaged(ended, artifacts),
        tuple(change for change in ended.unclaimed if change.path not in {artifact.path for artifact in artifacts}),
        (fault, *(own.faults if own is not None else ())),
        (advice, *(own.next_steps if own is not None else ())),
        () if judgement is None else judgement.findings, _get_notes(ended),
        unsure=tuple(artifact.path for artifact in artifacts if artifact.path not in (ended.written or ())),
        lowered=True,
    )  # fmt: skip


def _advise(ended: AttemptEnd, status: Status) -> str:
    """What can be done now (R0.14): what is partial goes on where its harness can; what failed is begun anew."""
    change = _SAVED[ended.stop_reason][2]
    if status == "partial" and ended.resume:
        what = f"resume it{change}: {ended.resume}"
    else:
        what = f"retry it{change}: {ended.retry}" if ended.retry else f"let its program ask again{change}"
    if ended.stop_reason == "orphaned":
        return f"Look at what is there, then {what}"
    return f"{what[:1].upper()}{what[1:]}"


def _salvage(ended: AttemptEnd) -> tuple[Artifact, ...]:
    """The files that were made or changed meanwhile: those claimed first; where others worked too, only its own."""
    changes = () if ended.comparison is None else (*ended.comparison.created, *ended.comparison.changed)
    changed = {change.path: change for change in changes if change.blob}
    if ended.shared:
        changed = {path: change for path, change in changed.items() if path in (ended.written or ())}
    claimed = ended.judgement.claimed if ended.judgement is not None else None
    first = {artifact.path: artifact for artifact in (claimed.artifacts if claimed is not None else ())}
    named = [artifact for path, artifact in first.items() if path in changed]
    rest = [_name_change(path) for path in sorted(changed) if path not in first]
    return (*named, *rest)[:MAX_SALVAGED]


def _grade_salvaged(ended: AttemptEnd, artifacts: tuple[Artifact, ...]) -> dict[str, ArtifactGrade]:
    """What the tree says of them: they changed, and by whom, where that is known."""
    from remit.evidence.artifact_grades import ArtifactGrade  # noqa: PLC0415 - whoever has judged has it already

    known = {} if ended.judgement is None else dict(ended.judgement.grades)
    changes = () if ended.comparison is None else (*ended.comparison.created, *ended.comparison.changed)
    saved = {artifact.path for artifact in artifacts}
    found = {
        change.path: ArtifactGrade(
            ArtifactFacts(change.path, "file", change.size_bytes),
            "changed",
            _describe_maker(ended, change.path),
            blob=change.blob,
        )
        for change in changes
        if change.path in saved
    }
    return {**found, **known}


def _describe_maker(ended: AttemptEnd, path: str) -> str:
    """Why a change is not called the agent's; nothing where its own tools made it."""
    if path in (ended.written or ()):
        return ""
    return "an agent below it made it" if path in ended.below else "who changed it is not known"


def _name_change(path: str) -> Artifact:
    """A file that was left, of the kind that its place says (R1.20)."""
    from remit.tasks.links import find_kind  # noqa: PLC0415 - only for work that was cut short

    kind = find_kind(path) or ("documentation" if path.lower().endswith(_PROSE) else "implementation")
    word = "report" if kind == "research" else kind
    return Artifact(kind, path, "Left on disk when the work was cut short.", word=word)


def _make_error(kind: str, message: str, advice: str, *, recoverable: bool) -> AgentError:
    return AgentError(kind, message, ERROR_CODES[kind], recoverable, advice)


def add_usage(one: Usage, other: Usage) -> Usage:
    """Both together; what neither tells stays unknown."""
    return one._replace(
        **{
            name: (getattr(one, name) or 0) + (getattr(other, name) or 0)
            for name in one._fields
            if getattr(one, name) is not None or getattr(other, name) is not None
        }
    )

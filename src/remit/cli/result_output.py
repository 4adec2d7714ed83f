"""Results: what became of a delegation, shown to people and to programs.

Owns how a result looks as text, and with which exit code a command ends that brings one back. An agent's words are
in it, so all of it is escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.cli.output import get_paint, say
from remit.sentences import format_duration
from remit.terminal import escape, quote
from remit.views.render import ACCEPTED, COULD_NOT_RUN, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.result import Result, ResultArtifact, ResultUsage
    from remit.terminal import Paint

_STYLES = {"completed": "good", "partial": "warning", "blocked": "warning", "failed": "error"}
_MAX_PATHS = 5
_MAX_ARTIFACTS = 20


def get_result_code(result: Result) -> int:
    """How a command ends: 0 completed, 1 partial, failed or blocked, 2 where the agent was never at work."""
    if result.status == "completed":
        return ACCEPTED
    return COULD_NOT_RUN if result.stop_reason == "rejected" else NOT_ACCEPTED


def say_result(result: Result, *more: str) -> None:
    """Print a result for people. Callers of the `manifest` format read the sentence on standard output."""
    from remit.runs.results.manifest_sentence import render_sentence

    sentence = render_sentence(result)
    if sentence:
        say("\n".join(quote(line) for line in sentence.split("\n")))
    say("\n".join((render_result(result, paint=get_paint()), *more)), stderr=bool(sentence))


def render_result(result: Result, *, paint: Paint) -> str:
    """A result as a few lines."""
    return "\n".join((render_result_line(result, paint=paint), *_render_parts(result, paint)))


def render_result_line(result: Result, *, paint: Paint) -> str:
    """How a run ended, in one line: `✓ researcher: completed · 12 s · 3,400 tokens`."""
    style = _STYLES.get(result.status, "error")
    mark = paint(style, "✓" if result.status == "completed" else "✗")
    word = paint(style, escape(result.status))
    attempts = count(result.attempts, "attempt") if result.attempts > 1 else ""
    facts = (word, _tell_why(result), attempts, *render_spending(result.usage))
    return f"{mark} {paint('strong', escape(result.agent))}: {' · '.join(fact for fact in facts if fact)}"


def _tell_why(result: Result) -> str:
    """The outcome or the ending, where the status does not say it already."""
    if result.stop_reason not in ("", "exited"):
        return escape(result.stop_reason)
    return "" if result.verdict == "accepted" else escape(result.verdict)


def render_spending(usage: ResultUsage) -> Iterator[str]:
    """What it has cost, each as far as it is known."""
    if usage.seconds is not None:
        yield format_duration(usage.seconds)
    if usage.tokens is not None:
        yield f"{usage.tokens:,} tokens"
    if usage.cost_usd is not None:
        yield f"${usage.cost_usd:.2f}"


def _render_parts(result: Result, paint: Paint) -> Iterator[str]:
    if result.summary:
        yield f"  {quote(result.summary)}"
    for artifact in result.artifacts[:_MAX_ARTIFACTS]:
        yield f"  {_render_artifact(artifact, paint)}"
    if len(result.artifacts) > _MAX_ARTIFACTS:
        yield f"  and {count(len(result.artifacts) - _MAX_ARTIFACTS, 'more file')}"
    if result.unclaimed_count:
        yield f"  {paint('warning', 'not named')}: {_render_unclaimed(result)}"
    for fault in result.errors:
        yield f"  {paint('error', f'error[{quote(fault.code)}]')}: {quote(fault.message)}"
    yield from (f"  {line}" for line in render_remarks(result, paint))
    advice = result.next_steps or tuple(fault.recommendation for fault in result.errors)  # where steps gave way
    steps = dict.fromkeys(filter(None, (_tell_user(result), *advice)))
    yield from (f"  {paint('strong', 'next')}: {quote(each)}" for each in steps)
    if result.session_id:
        yield f"  see: {escape(result.show)}"


def render_remarks(result: Result, paint: Paint) -> Iterator[str]:
    """The findings that no error repeats, the finish steps that failed, and the notes, a line each."""
    told = " ".join((*(fault.message for fault in result.errors), *(step.message for step in result.failed_steps)))
    for finding in (each for each in result.diagnostics if each.message not in told):
        yield f"{paint(finding.severity, f'{finding.severity}[{finding.code}]')}: {quote(finding.message)}"
    errors = {fault.message for fault in result.errors}
    for step in (each for each in result.failed_steps if each.message not in errors):
        code = f"[{quote(step.code)}]" if step.code else ""
        yield f"{paint('error', f'error{code}')}: finish step {escape(step.step)}: {quote(step.message)}"
        if step.recommendation:
            yield f"{paint('strong', 'hint')}: {quote(step.recommendation)}"
    yield from (f"{paint('note', 'note')}: {quote(each)}" for each in result.notes)


def _tell_user(result: Result) -> str:
    """What comes first for whoever reads this: the first advice, or that it takes a person (R2.18).

    The error itself stands above already.
    """
    if not result.errors:
        return ""
    from remit.errorlog.records import summarize_for_user  # only where something went wrong

    first, *others = result.errors
    told = summarize_for_user((first._replace(recoverable=first.recoverable and not result.needs_user), *others))
    return told.removeprefix(f"{first.message.rstrip(' .')}. ")


def _render_artifact(artifact: ResultArtifact, paint: Paint) -> str:
    """A file with its grade; only what is seen to have changed is beyond doubt."""
    is_proved = artifact.grade in ("changed", "attributed")
    mark = paint("good", "✓") if is_proved else paint("warning", "·")
    reason = f" ({quote(artifact.reason)})" if artifact.reason and not is_proved else ""
    told = ", ".join(quote(each) for each in (artifact.type, artifact.grade) if each)
    return f"{mark} {paint('strong', quote(artifact.path))}{f'  {told}' if told else ''}{reason}"


def _render_unclaimed(result: Result) -> str:
    shown = [quote(path) for path in result.unclaimed[:_MAX_PATHS]]
    more = result.unclaimed_count - len(shown)
    listed = ", ".join((*shown, *([f"{more} more"] if more else [])))
    return f"{count(result.unclaimed_count, 'file')} changed: {listed}"

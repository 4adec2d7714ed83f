"""Envelopes: what became of a delegation, shown to people and to programs.

Owns how an envelope looks as text, and with which exit code a command ends that brings one back. An agent's words are
in it, so all of it is escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.doors.render import ACCEPTED, COULD_NOT_RUN, NOT_ACCEPTED, count
from remit.doors.terminal import escape, quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.delegate.reporting.envelope import Envelope, EnvelopeArtifact, Spending
    from remit.doors.terminal import Paint
    from remit.model import Finding

_STYLES = {"completed": "good", "partial": "warning", "blocked": "warning", "failed": "error"}
_MAX_PATHS = 5
_MINUTE_S, _HOUR_S = 60, 3600


def get_envelope_code(envelope: Envelope) -> int:
    """How a command ends: 0 completed, 1 partial, failed or blocked, 2 where the agent was never at work."""
    if envelope.status == "completed":
        return ACCEPTED
    return COULD_NOT_RUN if envelope.ending == "refused" else NOT_ACCEPTED


def shape_envelope(envelope: Envelope, asides: Sequence[Finding] = ()) -> dict[str, Any]:
    """An envelope as JSON, with what there was to say of the request itself and is not in it."""
    from remit.delegate.reporting.envelope import render_envelope_json

    shaped = render_envelope_json(envelope)
    if not envelope.session_id:  # it was refused: there is nothing to be shown
        del shaped["show"]
    rest = [each for each in shape_asides(asides) if each not in shaped["findings"]]
    return shaped | ({"request_findings": rest} if rest else {})


def shape_asides(asides: Sequence[Finding]) -> list[dict[str, Any]]:
    """What there is to say of a request, as JSON."""
    return [{"code": each.code, "severity": each.severity, "message": each.message} for each in asides]


def render_envelope(envelope: Envelope, *, paint: Paint) -> str:
    """An envelope as a few lines."""
    return "\n".join((render_envelope_line(envelope, paint=paint), *_render_parts(envelope, paint)))


def render_envelope_line(envelope: Envelope, *, paint: Paint) -> str:
    """What became of it, in one line: `✓ researcher: completed · 12 s · 3,400 tokens`."""
    style = _STYLES.get(envelope.status, "error")
    mark = paint(style, "✓" if envelope.status == "completed" else "✗")
    word = paint(style, escape(envelope.status))
    attempts = count(envelope.attempts, "attempt") if envelope.attempts > 1 else ""
    facts = (word, _tell_why(envelope), attempts, *render_spending(envelope.usage))
    return f"{mark} {paint('strong', escape(envelope.agent))}: {' · '.join(fact for fact in facts if fact)}"


def _tell_why(envelope: Envelope) -> str:
    """The outcome or the ending, where the status does not say it already."""
    if envelope.ending not in ("", "exited"):
        return escape(envelope.ending)
    return "" if envelope.outcome == "accepted" else escape(envelope.outcome)


def render_spending(usage: Spending) -> Iterator[str]:
    """What it has cost, each as far as it is known."""
    if usage.seconds is not None:
        yield render_duration(usage.seconds)
    if usage.tokens is not None:
        yield f"{usage.tokens:,} tokens"
    if usage.cost_usd is not None:
        yield f"${usage.cost_usd:.2f}"


def render_duration(seconds: float) -> str:
    """A duration as people say it: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < _MINUTE_S:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"  # noqa: PLR2004 - a tenth matters below that
    whole = round(seconds)
    if whole < _HOUR_S:
        minutes, rest = divmod(whole, _MINUTE_S)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(whole // _MINUTE_S, _MINUTE_S)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def _render_parts(envelope: Envelope, paint: Paint) -> Iterator[str]:
    if envelope.summary:
        yield f"  {quote(envelope.summary)}"
    for artifact in envelope.artifacts:
        yield f"  {_render_artifact(artifact, paint)}"
    if envelope.unclaimed_count:
        yield f"  {paint('warning', 'not named')}: {_render_unclaimed(envelope)}"
    for fault in envelope.errors:
        yield f"  {paint('error', f'error[{quote(fault.code)}]')}: {quote(fault.message)}"
    yield from (f"  {line}" for line in render_remarks(envelope, paint))
    advice = envelope.next_steps or tuple(fault.recommendation for fault in envelope.errors)  # where steps gave way
    steps = dict.fromkeys(filter(None, (_tell_user(envelope), *advice)))
    yield from (f"  {paint('strong', 'next')}: {quote(each)}" for each in steps)
    if envelope.left_out:
        yield f"  left out: {quote(', '.join(envelope.left_out))}"
    if envelope.session_id:
        yield f"  see: {escape(envelope.show)}"


def render_remarks(envelope: Envelope, paint: Paint) -> Iterator[str]:
    """The findings that no error repeats, the finish steps that failed, and the notes, a line each."""
    told = " ".join(fault.message for fault in envelope.errors)
    for finding in (each for each in envelope.findings if each.message not in told):
        yield f"{paint(finding.severity, f'{finding.severity}[{finding.code}]')}: {quote(finding.message)}"
    for step in envelope.unsettled:
        yield f"{paint('error', 'not settled')}: {escape(step.step)}: {quote(step.message)}"
    yield from (f"{paint('note', 'note')}: {quote(each)}" for each in envelope.notes)


def _tell_user(envelope: Envelope) -> str:
    """What comes first for whoever reads this: the first advice, or that it takes a person (R2.18).

    The error itself stands above already.
    """
    if not envelope.errors:
        return ""
    from remit.workspace.error_log.records import summarise_for_user  # only where something went wrong

    first, *others = envelope.errors
    told = summarise_for_user((first._replace(recoverable=first.recoverable and not envelope.person_needed), *others))
    return told.removeprefix(f"{first.message.rstrip(' .')}. ")


def _render_artifact(artifact: EnvelopeArtifact, paint: Paint) -> str:
    """A file with its grade; only what is seen to have changed is beyond doubt."""
    is_proved = artifact.grade in ("changed", "attributed")
    mark = paint("good", "✓") if is_proved else paint("warning", "·")
    reason = f" ({quote(artifact.reason)})" if artifact.reason and not is_proved else ""
    told = ", ".join(quote(each) for each in (artifact.kind, artifact.grade) if each)
    return f"{mark} {paint('strong', quote(artifact.path))}{f'  {told}' if told else ''}{reason}"


def _render_unclaimed(envelope: Envelope) -> str:
    shown = [quote(path) for path in envelope.unclaimed[:_MAX_PATHS]]
    more = envelope.unclaimed_count - len(shown)
    listed = ", ".join((*shown, *([f"{more} more"] if more else [])))
    return f"{count(envelope.unclaimed_count, 'file')} changed: {listed}"

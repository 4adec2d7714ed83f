"""Results of runs as text, and the exit code for a result. All text of agents is escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.cli.output import get_paint, print_lines
from remit.model import DATA
from remit.sentences import format_duration
from remit.storage.secrets import redact_all
from remit.terminal import escape, quote
from remit.views.checks import COVERED, describe_answer
from remit.views.render import ACCEPTED, COULD_NOT_RUN, NOT_ACCEPTED, count, render_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.result import CheckResult, Result, ResultArtifact, ResultUsage
    from remit.terminal import Paint

_STYLES = {"completed": "good", "partial": "warning", "blocked": "warning", "failed": "error"}
_MARKS = {"passed": ("✓", "good"), "failed": ("✗", "error"), "not run": ("!", "warning")}
_MAX_PATHS = 5
_MAX_OUTPUT_LINES = 10
"""Of the output of a check, below its line in a result."""
_MAX_DATA_LINES = 40
_MAX_ARTIFACTS = 20


def get_result_code(result: Result) -> int:
    """Return the exit code: 0 if completed, 1 if partial, failed or blocked, 2 if the agent never started."""
    if result.status == "completed":
        return ACCEPTED
    return COULD_NOT_RUN if result.stop_reason == "rejected" else NOT_ACCEPTED


def print_result(result: Result, *more: str) -> None:
    """Print a result for people. Callers of the `manifest` format read the sentence on standard output."""
    from remit.runs.results.full_result import render_sentence

    sentence = render_sentence(result)
    if sentence:
        print_lines("\n".join(quote(line) for line in sentence.split("\n")))
    print_lines("\n".join((render_result(result, paint=get_paint()), *more)), stderr=bool(sentence))


def render_result(result: Result, *, paint: Paint) -> str:
    """Render a result as a few lines."""
    return "\n".join((render_result_line(result, paint=paint), *_render_parts(result, paint)))


def render_result_line(result: Result, *, paint: Paint) -> str:
    """Render how a run ended on one line: `✓ researcher: completed · 12 s · 3,400 tokens`."""
    style = _STYLES.get(result.status, "error")
    mark = paint(style, "✓" if result.status == "completed" else "✗")
    word = paint(style, escape(result.status))
    attempts = count(result.attempts, "attempt") if result.attempts > 1 else ""
    facts = (word, _render_reason(result), attempts, *render_spending(result.usage))
    return f"{mark} {paint('strong', escape(result.agent))}: {' · '.join(fact for fact in facts if fact)}"


def _render_reason(result: Result) -> str:
    """Return the stop reason or the verdict, unless the status already implies it."""
    if result.stop_reason not in ("", "exited"):
        return escape(result.stop_reason)
    return "" if result.verdict == "accepted" else escape(result.verdict)


def render_spending(usage: ResultUsage) -> Iterator[str]:
    """Render time, tokens and cost, as far as they are known."""
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
    if result.has_schema and DATA in result.returned:
        lines = render_json(redact_all(result.returned[DATA]), indent=2).splitlines()
        more = [f"... {len(lines) - _MAX_DATA_LINES} more lines: add --json"] if len(lines) > _MAX_DATA_LINES else []
        yield f"  {paint('strong', 'data')}:"
        yield from (f"    {quote(line)}" for line in (*lines[:_MAX_DATA_LINES], *more))
    for check in result.checks:
        yield from (f"  {line}" for line in render_check(check, paint, most_lines=_MAX_OUTPUT_LINES))
    for error in result.errors:
        yield f"  {paint('error', f'error[{quote(error.code)}]')}: {quote(error.message)}"
    yield from (f"  {line}" for line in render_remarks(result, paint))
    advice = result.next_steps or tuple(
        error.recommendation for error in result.errors
    )  # if the budget left no room for next steps
    steps = dict.fromkeys(filter(None, (_summarize_for_user(result), *advice)))
    yield from (f"  {paint('strong', 'next')}: {quote(each)}" for each in steps)
    if result.session_id:
        yield f"  see: {escape(result.show)}"


def render_check(
    result: CheckResult, paint: Paint, *, width: int = 0, most_lines: int | None = None, in_full: bool = False
) -> Iterator[str]:
    """Render the answer of a check on one line, and below it the end of its output if it didn't pass."""
    mark, style = _MARKS[result.answer] if result.is_needed else ("·", "note")
    yield f"{paint(style, mark)} {escape(result.name):<{width}} {quote(describe_answer(result, in_full=in_full))}"
    if result.answer != "passed" or in_full:
        lines = result.output.splitlines()
        yield from (f"    {quote(line)}".rstrip() for line in (lines if most_lines is None else lines[-most_lines:]))


def render_remarks(result: Result, paint: Paint) -> Iterator[str]:
    """Render the diagnostics that nothing else says, the failed finish steps, and the notes, one line each."""
    covered = COVERED if result.checks else ()
    text = " ".join((*(error.message for error in result.errors), *(step.message for step in result.failed_steps)))
    for diagnostic in (each for each in result.diagnostics if each.message not in text and each.code not in covered):
        yield f"{paint(diagnostic.severity, f'{diagnostic.severity}[{diagnostic.code}]')}: {quote(diagnostic.message)}"
    errors = {error.message for error in result.errors}
    for step in (each for each in result.failed_steps if each.message not in errors):
        code = f"[{quote(step.code)}]" if step.code else ""
        yield f"{paint('error', f'error{code}')}: finish step {escape(step.step)}: {quote(step.message)}"
        if step.recommendation:
            yield f"{paint('strong', 'hint')}: {quote(step.recommendation)}"
    yield from (f"{paint('note', 'note')}: {quote(each)}" for each in result.notes)


def _summarize_for_user(result: Result) -> str:
    """Return the first recommendation, or that the user has to act (R2.18). The error itself is already shown."""
    if not result.errors:
        return ""
    from remit.errorlog.records import summarize_for_user  # only where something went wrong

    first, *others = result.errors
    text = summarize_for_user((first._replace(recoverable=first.recoverable and not result.needs_user), *others))
    return text.removeprefix(f"{first.message.rstrip(' .')}. ")


def _render_artifact(artifact: ResultArtifact, paint: Paint) -> str:
    """Render a reported file with its grade. Only a file that Remit saw change gets a check mark."""
    is_proved = artifact.grade in ("changed", "attributed")
    mark = paint("good", "✓") if is_proved else paint("warning", "·")
    reason = f" ({quote(artifact.reason)})" if artifact.reason and not is_proved else ""
    text = ", ".join(quote(each) for each in (artifact.type, artifact.grade) if each)
    return f"{mark} {paint('strong', quote(artifact.path))}{f'  {text}' if text else ''}{reason}"


def _render_unclaimed(result: Result) -> str:
    shown = [quote(path) for path in result.unclaimed[:_MAX_PATHS]]
    more = result.unclaimed_count - len(shown)
    listed = ", ".join((*shown, *([f"{more} more"] if more else [])))
    return f"{count(result.unclaimed_count, 'file')} changed: {listed}"

"""Render diagnostics, verdicts and errors as JSON, GitHub annotations and text, and their exit codes.

The tables map errors to exit codes and to HTTP statuses. `excerpt` renders a diagnostic with its line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.errors import (
    BusyError,
    ClusterError,
    ConfigError,
    EditedError,
    InputError,
    RefusedError,
    RemitError,
    RunnerError,
    StateError,
    StorageError,
    UsageError,
)
from remit.model import ACCEPTABLE
from remit.terminal import escape, is_visible, quote, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.model import Diagnostic, Severity, Verdict, VerdictName
    from remit.terminal import Paint

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
ACCEPTED, NOT_ACCEPTED, COULD_NOT_RUN, INTERRUPTED = 0, 1, 2, 130

EXIT_CODES: Mapping[type[BaseException], int] = {
    UsageError: COULD_NOT_RUN,
    InputError: COULD_NOT_RUN,
    ConfigError: COULD_NOT_RUN,
    StateError: NOT_ACCEPTED,  # the workspace answered, and the answer is no
    RemitError: COULD_NOT_RUN,
    KeyboardInterrupt: INTERRUPTED,
    BaseException: COULD_NOT_RUN,  # a bug
}


def get_exit_code(error: BaseException) -> int:
    """How a process ends that an error stopped: the row of the nearest class in the table."""
    return next(EXIT_CODES[each] for each in type(error).__mro__ if each in EXIT_CODES)


HTTP_STATUSES: Mapping[type[BaseException], int] = {
    UsageError: 400,
    InputError: 422,
    ConfigError: 409,  # the request is well, the workspace is not
    StorageError: 503,
    BusyError: 503,
    EditedError: 503,
    StateError: 409,
    RefusedError: 403,
    RunnerError: 422,
    ClusterError: 503,
    RemitError: 409,
    BaseException: 500,  # a bug
}


def get_http_status(error: BaseException) -> int:
    """What HTTP answers to a request that an error stopped: the row of the nearest class in the table.

    A run that isn't admitted because of its request can be requested again with a corrected request: 422, not 403.
    """
    if isinstance(error, RefusedError) and error.code == "VALIDATION_FAILED":
        return HTTP_STATUSES[InputError]
    return next(HTTP_STATUSES[each] for each in type(error).__mro__ if each in HTTP_STATUSES)


# JSON


def render_json(value: object, *, indent: int | None = None) -> str:
    """Any value of ours as JSON that every reader takes: a number that JSON does not have becomes null.

    On one line it has no spaces: what an agent is given costs a seventh less of its context.
    """
    import json

    between = (",", ":") if indent is None else None
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=between)
    except ValueError:
        text = json.dumps(_make_finite(value), ensure_ascii=False, indent=indent, separators=between)
    return escape_json(text)


def escape_json(text: str) -> str:
    """JSON that says the same and is safe on a screen.

    Other scripts stay as they are, what is invisible or steers a terminal is escaped, and half a surrogate pair, which
    no encoding has, becomes U+FFFD.
    """
    import json

    unsafe = {char for char in set(text) if char != "\n" and not is_visible(char)}
    halves = {ord(char): "\ufffd" for char in unsafe if "\ud800" <= char <= "\udfff"}
    others = {ord(char): json.dumps(char)[1:-1] for char in unsafe}
    return text.translate(others | halves) if unsafe else text


def _make_finite(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A copy without NaN and the infinities. How deep it goes was bounded when the text was parsed."""
    if isinstance(value, dict):
        return {key: _make_finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_make_finite(inner) for inner in value]
    if isinstance(value, float):
        return value if value - value == 0 else None
    return value


# One line each


def render_github(diagnostic: Diagnostic, filename: str | None) -> str:
    """A finding as a workflow command, which GitHub shows beside the line; without a file, on the run itself."""
    properties = []
    place = diagnostic.place
    if filename is not None:
        properties.append(f"file={_escape_property(filename)}")
    if filename is not None and place is not None:
        properties += [f"line={place.line}", f"col={place.column}", f"endLine={place.end_line}"]
    properties.append(f"title={_escape_property(diagnostic.code)}")
    command = {"error": "error", "warning": "warning", "note": "notice"}[diagnostic.severity]
    at = f" (at {diagnostic.pointer})" if place is None and diagnostic.pointer else ""
    message = f"{shorten(diagnostic.message)}{shorten(at)}\n{shorten(diagnostic.hint)}"
    return f"::{command} {','.join(properties)}::{_escape_data(message)}"


def _escape_data(text: str) -> str:
    text = escape(text, keep="\r\n")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


def render_line(diagnostic: Diagnostic, filename: str) -> str:
    """A diagnostic on one line, in the format that editors parse."""
    place = diagnostic.place
    where = f"{filename}:{place.line}:{place.column}" if place else filename
    at = f" (at {quote(diagnostic.pointer)})" if place is None and diagnostic.pointer else ""
    return f"{escape(where)}: {diagnostic.code} {diagnostic.severity} {quote(diagnostic.message)}{at}"


def render_title(diagnostic: Diagnostic, *, paint: Paint) -> str:
    """What a finding says, as compilers put it: `error[RET011]: …`."""
    label = paint(diagnostic.severity, f"{diagnostic.severity}[{diagnostic.code}]")
    return f"{label}{paint('strong', f': {quote(diagnostic.message)}')}"


def render_losses(diagnostics: Sequence[Diagnostic], *, paint: Paint) -> list[str]:
    """Findings without a place, one line each; advice that several share is given once, after the last of them."""
    lines = []
    for hint in dict.fromkeys(diagnostic.hint for diagnostic in diagnostics):
        lines += [render_title(diagnostic, paint=paint) for diagnostic in diagnostics if diagnostic.hint == hint]
        lines.append(f"  {paint('frame', '=')} {paint('strong', 'help')}: {quote(hint)}")
    return lines


def render_headline(verdict: Verdict, filename: str, *, paint: Paint) -> str:
    """What became of a message, in one line."""
    mark = paint("good", "✓") if verdict.accepted else paint("error", "✗")
    name = paint("good" if verdict.accepted else "error", verdict.name)
    status = verdict.returned.status if verdict.returned else None
    facts = [fact for fact in (name, verdict.format, status, count_diagnostics(verdict.diagnostics)) if fact]
    return f"{mark} {paint('strong', escape(filename))}: {' · '.join(facts)}"


def render_repairs(verdict: Verdict) -> list[str]:
    """What had to be repaired before an accepted return could be read."""
    return [
        f"  = repaired: {quote(repair.message)}{f' (line {repair.place.line})' if repair.place else ''}"
        for repair in (verdict.repairs if verdict.accepted else ())
    ]


def render_summary(verdicts: Sequence[VerdictName | None]) -> str:
    """What became of several messages: how many, and which way; None is one that could not be read."""
    total = count(len(verdicts), "message")
    good = [_count_verdict(verdicts, each) for each in ACCEPTABLE if each in verdicts]
    bad = [verdict for verdict in verdicts if verdict is not None and verdict not in ACCEPTABLE]
    if bad:
        which = ", ".join(_count_verdict(bad, each) for each in dict.fromkeys(bad))
        good.append(f"{len(bad)} not accepted ({which})")
    if None in verdicts:
        good.append(f"{verdicts.count(None)} could not be read")
    return f"{total}: {', '.join(good)}"


def _count_verdict(verdicts: Sequence[VerdictName | None], verdict: VerdictName) -> str:
    return f"{verdicts.count(verdict)} {verdict}"


def render_error(error: BaseException) -> tuple[str, str]:
    """The message of an error and its hint, both escaped; the hint may be empty."""
    known = name_bug(error)
    return quote(known.message), quote(known.hint)


def name_bug(error: BaseException) -> RemitError:
    """An error of ours as it is; whatever else it is, it is a bug."""
    if isinstance(error, RemitError):
        return error
    return RemitError(f"this is a bug: {type(error).__name__}: {error}", hint="set REMIT_DEBUG=1 for the traceback")


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 error`, `3 errors`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def count_diagnostics(diagnostics: Sequence[Diagnostic]) -> str:
    """How many findings there are of each severity: `2 errors, 1 warning`."""
    totals = [(sum(each.severity == severity for each in diagnostics), severity) for severity in SEVERITIES]
    return ", ".join(count(total, severity) for total, severity in totals if total)

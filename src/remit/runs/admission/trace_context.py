"""The W3C trace context of a run, and how its nested runs receive it.

The ids are deterministic: a span's id comes from its session, a trace's id from the caller's trace context or from the
tree's first session. Every report on a run has the same ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.lazy_regex import lazy
from remit.light_hash import take_sha256
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.ledger.home import Home
    from remit.ledger.runs import Run

TRACEPARENT, TRACESTATE = "TRACEPARENT", "TRACESTATE"
ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
)
"""The variables with the telemetry endpoint. A repository can't set it, so it can't choose who gets the data."""
_FORM = lazy(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_MOST = 200
_NONE = "ff"
"""The version that the W3C specification forbids."""


class TraceContext(NamedTuple):
    """A position in a trace."""

    trace_id: str
    span_id: str
    """Empty if the trace starts here."""
    is_sampled: bool = True


def is_on(environ: Mapping[str, str]) -> bool:
    """Whether telemetry is sent."""
    disabled = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not disabled and any(environ.get(name) for name in ENDPOINTS)


def parse_traceparent(text: str) -> TraceContext | None:
    """Parse a `traceparent` value; None if it isn't valid."""
    found = _FORM.fullmatch(text.strip()) if len(text) <= _MOST else None
    if found is None:
        return None
    version, trace_id, span_id, flags, more = found.groups()
    if version == _NONE or (version == "00" and more) or not trace_id.strip("0") or not span_id.strip("0"):
        return None
    return TraceContext(trace_id, span_id, bool(int(flags, 16) & 1))


def find_incoming(environ: Mapping[str, str]) -> str:
    """Return the caller's trace context as text, for the configuration of a tree's first run; empty if it has none."""
    text = environ.get(TRACEPARENT, "").strip()
    return "" if parse_traceparent(text) is None else text


def find_context(root_id: str, trace: str) -> TraceContext:
    """Return the trace context of a tree. `trace` is the one at the admission of its first run."""
    return parse_traceparent(trace) or TraceContext(take_sha256(root_id.encode())[:32], "")


def make_span_id(name: str) -> str:
    """Return the id of a span, by the session of a run, or by the session and the name of a part."""
    return take_sha256(name.encode())[:16]


def load_trace(home: Home, row: Run) -> str:
    """Return the trace context at the admission of a tree's first run."""
    from remit.ledger.runs import load_run  # noqa: PLC0415 - not for the ids

    first = row if row.session_id == row.root_id else load_run(home.ledger, row.root_id)
    return "" if first is None else str(first.details.get("trace", ""))


def make_trace_environment(environ: Mapping[str, str], row: Run, trace: str) -> dict[str, str]:
    """Return the variables of the trace in the environment of a run's agent; empty without telemetry."""
    if not trace and not is_on(environ):
        return {}
    context = find_context(row.root_id, trace)
    flags = "01" if context.is_sampled else "00"
    carried = {TRACEPARENT: f"00-{context.trace_id}-{make_span_id(row.session_id)}-{flags}"}
    own = parse_traceparent(environ.get(TRACEPARENT, ""))
    if TRACESTATE in environ and (own is None or own.trace_id != context.trace_id):
        carried[TRACESTATE] = ""  # it belongs to the process that took over the run
    return carried

"""The trace that a run belongs to, and how its nested runs receive it.

Owns the ids: a span's comes from its session, a trace's from whoever began the tree, else from the tree's first
session. So whoever tells of a delegation, and however often, says the same ids. W3C names the form.
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
"""Where telemetry goes. Only the environment says so: no repository is to choose who hears of its agents."""
_FORM = lazy(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_MOST = 200
_NONE = "ff"
"""The version that W3C forbids."""


class TraceContext(NamedTuple):
    """A place in a trace."""

    trace_id: str
    span_id: str
    """Empty where the trace begins here."""
    is_sampled: bool = True


def is_on(environ: Mapping[str, str]) -> bool:
    """Whether telemetry is to be sent anywhere."""
    disabled = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not disabled and any(environ.get(name) for name in ENDPOINTS)


def parse_traceparent(text: str) -> TraceContext | None:
    """A context as it is handed on; None where it is none."""
    found = _FORM.fullmatch(text.strip()) if len(text) <= _MOST else None
    if found is None:
        return None
    version, trace_id, span_id, flags, more = found.groups()
    if version == _NONE or (version == "00" and more) or not trace_id.strip("0") or not span_id.strip("0"):
        return None
    return TraceContext(trace_id, span_id, bool(int(flags, 16) & 1))


def find_incoming(environ: Mapping[str, str]) -> str:
    """The context that whoever asks is in, as the terms of a tree's first delegation keep it; empty where in none."""
    text = environ.get(TRACEPARENT, "").strip()
    return "" if parse_traceparent(text) is None else text


def find_context(root_id: str, trace: str) -> TraceContext:
    """The context that a tree hangs in. `trace`: what came in when its first delegation was admitted."""
    return parse_traceparent(trace) or TraceContext(take_sha256(root_id.encode())[:32], "")


def make_span_id(name: str) -> str:
    """The id of a span: of a delegation by its session, of a part of one by its session and what it is."""
    return take_sha256(name.encode())[:16]


def load_trace(home: Home, row: Run) -> str:
    """What came in when the first delegation of a tree was admitted."""
    from remit.ledger.runs import load_run  # noqa: PLC0415 - not for the ids alone

    first = row if row.session_id == row.root_id else load_run(home.ledger, row.root_id)
    return "" if first is None else str(first.details.get("trace", ""))


def make_trace_environment(environ: Mapping[str, str], row: Run, trace: str) -> dict[str, str]:
    """What the environment of a delegation's agent has of the trace; nothing where there is none to be in."""
    if not trace and not is_on(environ):
        return {}
    context = find_context(row.root_id, trace)
    flags = "01" if context.is_sampled else "00"
    carried = {TRACEPARENT: f"00-{context.trace_id}-{make_span_id(row.session_id)}-{flags}"}
    own = parse_traceparent(environ.get(TRACEPARENT, ""))
    if TRACESTATE in environ and (own is None or own.trace_id != context.trace_id):
        carried[TRACESTATE] = ""  # it is that of whoever took the work over
    return carried

"""OTLP: converts spans and metrics for OpenTelemetry receivers, and sends them once.

Only this module imports opentelemetry, and `export` imports this module only if there is something to send. The SDK
reads endpoint, headers, certificates and compression from its environment variables. Nothing is retried here: data that
the receiver didn't accept stays in the ledger.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import requests
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from remit import __version__
from remit.light_hash import take_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from remit.telemetry.metrics import Measure, Point
    from remit.telemetry.spans import Span

_NS = 1_000_000
_SUCCESS = 2
_REJECTED = frozenset({400, 413, 422})
"""The status codes with which a receiver rejects the data itself, so that a retry would fail, too."""
_KINDS = {"client": SpanKind.CLIENT, "internal": SpanKind.INTERNAL}
_SCOPE = InstrumentationScope("remit", __version__)

for _name in ("opentelemetry", "urllib3"):  # `export` reports a failure in one line
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class SendResult(NamedTuple):
    """The answer of a receiver."""

    is_accepted: bool
    problem: str = ""
    """Why it didn't accept the data, as a predicate after its name."""
    is_final: bool = False
    """Whether it will never accept the data."""


class _RequestEndedError(requests.RequestException):
    """Ends the request. Otherwise the SDK would retry after some errors, and count a redirect as success."""


class _SingleRequestSession(requests.Session):
    """A session that stores the result of its only request."""

    answer = SendResult(is_accepted=False, problem="cannot be sent what there is")

    def request(self, *args: Any, **options: Any) -> requests.Response:  # noqa: ANN401 - as it is
        """Send a request and store its result."""
        try:  # stream: only the status is read, however long the answer is
            response = super().request(*args, **{**options, "stream": True})
        except requests.RequestException as error:
            self.answer = SendResult(is_accepted=False, problem=_describe_error(error))
            raise _RequestEndedError from error
        response.close()
        status = response.status_code
        self.answer = SendResult(status // 100 == _SUCCESS, f"answered {status}", status in _REJECTED)
        if not self.answer.is_accepted:
            raise _RequestEndedError
        return response


def send_spans(spans: Sequence[Span], *, place: str, seconds: float) -> SendResult:
    """Send spans. `place`: the workspace, of which only a hash is sent."""
    if not spans:
        return SendResult(is_accepted=True)
    resource = _describe_origin(place)
    with _SingleRequestSession() as session:
        exporter = OTLPSpanExporter(timeout=seconds, session=session)
        exporter.export([_make_span(span, resource) for span in spans])
        return session.answer


def send_points(points: Sequence[Point], *, place: str, seconds: float, begin_ms: int, end_ms: int) -> SendResult:
    """Send metrics, as the increase between two moments."""
    if not points:
        return SendResult(is_accepted=True)
    by_measure: dict[Measure, list[Point]] = {}
    for point in points:
        by_measure.setdefault(point.measure, []).append(point)
    metrics = [_make_metric(each, own, begin_ms * _NS, end_ms * _NS) for each, own in by_measure.items()]
    resource_metrics = ResourceMetrics(_describe_origin(place), [ScopeMetrics(_SCOPE, metrics, "")], "")
    with _SingleRequestSession() as session:
        OTLPMetricExporter(timeout=seconds, session=session).export(MetricsData([resource_metrics]))
        return session.answer


def _describe_error(error: requests.RequestException) -> str:
    if isinstance(error, requests.exceptions.SSLError):
        return "has no certificate that is trusted"
    if isinstance(error, requests.Timeout):
        return "did not answer in time"
    if isinstance(error, requests.ConnectionError):
        return "can't be reached"
    return f"can't be sent to ({type(error).__name__})"


def _describe_origin(place: str) -> Resource:
    """Return the resource that sends, with a stable id per workspace. Values from the environment take precedence."""
    from socket import gethostname
    from uuid import UUID

    number = UUID(take_sha256(f"{gethostname()}:{place}".encode("utf-8", "surrogateescape"))[:32])
    own = {"service.name": "remit", "service.version": __version__, "service.instance.id": str(number)}
    attributes = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    named = {each.partition("=")[0].strip() for each in attributes.split(",")}
    named |= {"service.name"} if os.environ.get("OTEL_SERVICE_NAME") else set()
    return Resource.create({name: value for name, value in own.items() if name not in named})


def _make_span(span: Span, resource: Resource) -> ReadableSpan:
    context = _make_context(span.trace_id, span.span_id)
    parent = _make_context(span.trace_id, span.parent_id) if span.parent_id else None
    return ReadableSpan(
        span.name,
        context,
        parent,
        resource,
        dict(span.attributes),
        kind=_KINDS[span.kind],
        status=Status(StatusCode.ERROR, span.error) if span.error else Status(),
        start_time=span.begin_ms * _NS,
        end_time=span.end_ms * _NS,
        instrumentation_scope=_SCOPE,
    )


def _make_context(trace_id: str, span_id: str) -> SpanContext:
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(1))


def _make_metric(measure: Measure, points: Iterable[Point], begin_ns: int, end_ns: int) -> Metric:
    delta = AggregationTemporality.DELTA
    if not measure.bounds:
        sums = [NumberDataPoint(dict(each.attributes), begin_ns, end_ns, sum(each.values)) for each in points]
        return Metric(measure.name, measure.description, measure.unit, Sum(sums, delta, is_monotonic=True))
    found = [
        HistogramDataPoint(
            dict(each.attributes), begin_ns, end_ns, len(each.values), sum(each.values), each.buckets,
            measure.bounds, min(each.values), max(each.values),
        )
        for each in points
    ]  # fmt: skip
    return Metric(measure.name, measure.description, measure.unit, Histogram(found, delta))

"""An OTLP receiver on loopback: it takes messages over HTTP, reads the protobuf, and can be told to misbehave."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

_ANSWERS: dict[str, Any] = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest}


class Got(NamedTuple):
    """A message that was sent."""

    path: str
    headers: Mapping[str, str]
    data: bytes


class Seen(NamedTuple):
    """A span, as a receiver shows it."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: int
    begin_ns: int
    end_ns: int
    attributes: dict[str, Any]
    status: int
    message: str


class Receiver:
    """A receiver. `status` is what it answers; `hangs`, `drips` and `babbles` are how it takes its time over that."""

    def __init__(self) -> None:
        self.status = 200
        self.hangs = self.drips = self.babbles = False
        self.over = threading.Event()
        self.got: list[Got] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(self))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        """Listen."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Go, and let those go that were kept waiting."""
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def environ(self) -> dict[str, str]:
        """What sends everything here."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url}

    def list_messages(self, path: str) -> list[bytes]:
        """What was sent to a place, as it came."""
        return [each.data for each in self.got if each.path == path]

    @property
    def spans(self) -> list[Seen]:
        """All spans, as they came."""
        found = []
        for data in self.list_messages("/v1/traces"):
            for resource in ExportTraceServiceRequest.FromString(data).resource_spans:
                for scope in resource.scope_spans:
                    found += [_read_span(span) for span in scope.spans]
        return found

    @property
    def resources(self) -> list[dict[str, Any]]:
        """Who sent, for each message."""
        messages = [ExportTraceServiceRequest.FromString(data) for data in self.list_messages("/v1/traces")]
        return [_read_attributes(each.resource.attributes) for message in messages for each in message.resource_spans]

    @property
    def metrics(self) -> list[Any]:
        """All metrics, as they came."""
        found = []
        for data in self.list_messages("/v1/metrics"):
            for resource in ExportMetricsServiceRequest.FromString(data).resource_metrics:
                for scope in resource.scope_metrics:
                    found += list(scope.metrics)
        return found

    def list_points(self, name: str) -> list[tuple[dict[str, Any], Any]]:
        """The points of a metric, each with its attributes."""
        points = []
        for metric in self.metrics:
            if metric.name == name:
                points += list(metric.sum.data_points if metric.HasField("sum") else metric.histogram.data_points)
        return [(_read_attributes(point.attributes), point) for point in points]


def _make_handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                data = gzip.decompress(data)
            receiver.got.append(Got(self.path, dict(self.headers.items()), data))
            if receiver.hangs:
                receiver.over.wait(30)
                return
            _ANSWERS[self.path].FromString(data)  # or the answer never comes
            while receiver.drips and not receiver.over.wait(0.1):
                self.wfile.write(b"H")  # it never becomes a status
            self.send_response(receiver.status)
            self.send_header("Location", "/login")
            self.send_header("Content-Length", "10000000000" if receiver.babbles else "0")
            self.end_headers()
            while receiver.babbles and not receiver.over.is_set():
                self.wfile.write(b"\0" * 1_000_000)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


def _read_span(span: Any) -> Seen:  # noqa: ANN401 - protobuf's own
    return Seen(
        span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex(), span.name, span.kind,
        span.start_time_unix_nano, span.end_time_unix_nano, _read_attributes(span.attributes), span.status.code,
        span.status.message,
    )  # fmt: skip


def _read_attributes(attributes: Any) -> dict[str, Any]:  # noqa: ANN401
    return {each.key: _read_value(each.value) for each in attributes}


def _read_value(value: Any) -> Any:  # noqa: ANN401
    kind = value.WhichOneof("value")
    return [_read_value(each) for each in value.array_value.values] if kind == "array_value" else getattr(value, kind)

"""Trace context: what came in is kept, what goes on is right, and whoever asks again is told the same ids."""

import pytest

from remit.ledger.runs import Run
from remit.runs.admission.trace_context import (
    find_context,
    find_incoming,
    is_on,
    make_span_id,
    make_trace_environment,
    parse_traceparent,
)

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GIVEN = f"00-{TRACE}-{SPAN}-01"
ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
ROOT = Run("sess_1_aaaaaa", "parent", 1, ("orchestrator", "parent"), root_id="sess_1_aaaaaa")
CHILD = Run("sess_2_bbbbbb", "child", 2, ("orchestrator", "parent", "child"), ROOT.session_id, root_id=ROOT.session_id)


def test_a_context_is_read() -> None:
    assert parse_traceparent(GIVEN) == (TRACE, SPAN, True)
    assert parse_traceparent(f"00-{TRACE}-{SPAN}-00") == (TRACE, SPAN, False)
    assert parse_traceparent(f"cc-{TRACE}-{SPAN}-01-what-the-future-will-bring") == (TRACE, SPAN, True)


@pytest.mark.parametrize(
    "text",
    [
        "", "00", TRACE, f"00-{TRACE}-{SPAN}", f"00-{TRACE.upper()}-{SPAN}-01", f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01", f"ff-{TRACE}-{SPAN}-01", f"{GIVEN}-more", f"00-{TRACE[1:]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-0g", f"cc-{TRACE}-{SPAN}-01-{'x' * 100_000}", f"{GIVEN}\n{GIVEN}", "\u0660" * 55,
    ],
)  # fmt: skip
def test_what_is_no_context_counts_as_none(text: str) -> None:
    assert parse_traceparent(text) is None
    assert find_incoming({"TRACEPARENT": text}) == ""
    assert find_context("sess_1_aaaaaa", text) == find_context("sess_1_aaaaaa", "")


def test_who_has_no_trace_begins_one_that_is_always_the_same() -> None:
    first, second = find_context(ROOT.session_id, ""), find_context("sess_9_zzzzzz", "")
    assert first == find_context(ROOT.session_id, "")
    assert first.trace_id != second.trace_id
    assert (len(first.trace_id), len(make_span_id("x")), first.span_id) == (32, 16, "")


def test_nobody_is_told_of_a_trace_that_there_is_not() -> None:
    assert make_trace_environment({}, ROOT, "") == {}
    assert make_trace_environment(ENDPOINT | {"OTEL_SDK_DISABLED": "true"}, ROOT, "") == {}


def test_a_tree_is_one_trace() -> None:
    for trace, environ in ((GIVEN, {"TRACEPARENT": GIVEN}), ("", ENDPOINT)):
        told = [parse_traceparent(make_trace_environment(environ, row, trace)["TRACEPARENT"]) for row in (ROOT, CHILD)]
        expected = find_context(ROOT.session_id, trace).trace_id
        assert told == [(expected, make_span_id(row.session_id), True) for row in (ROOT, CHILD)]


def test_who_is_not_sampled_samples_nobody() -> None:
    assert make_trace_environment({}, CHILD, f"00-{TRACE}-{SPAN}-00")["TRACEPARENT"].endswith("-00")


def test_the_state_of_another_trace_is_not_handed_on() -> None:
    """Whoever takes work over may itself be in a trace."""
    same = make_trace_environment({"TRACEPARENT": GIVEN, "TRACESTATE": "a=b"}, ROOT, GIVEN)
    assert "TRACESTATE" not in same  # it is in the environment already
    other = make_trace_environment({"TRACEPARENT": f"00-{'7' * 32}-{SPAN}-01", "TRACESTATE": "a=b"}, ROOT, GIVEN)
    assert other["TRACESTATE"] == ""


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:1"}, True),
        (ENDPOINT | {"OTEL_SDK_DISABLED": " TRUE "}, False),
        (ENDPOINT | {"OTEL_SDK_DISABLED": "false"}, True),
    ],
)
def test_only_an_endpoint_switches_it_on(environ: dict[str, str], expected: bool) -> None:  # noqa: FBT001 - a table
    assert is_on(environ) is expected

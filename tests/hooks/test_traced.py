"""A harness's own agents are in telemetry like those that Remit starts: sent by the next command, in one trace."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from remit.runs.admission.trace_context import make_span_id
from remit.telemetry import export
from tests.support.otlp_receiver import Receiver

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.hook_session import Stage

GIVEN = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.mark.parametrize("given", ["", GIVEN])
def test_agents_of_a_harness_are_one_trace(
    stage: Stage, root: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    begun_ms = time.time_ns() // 1_000_000
    parent = stage.call("planner", "Plan it.", env={"TRACEPARENT": given})
    parent.start()
    child = stage.call("writer", "Write it.", by=parent)
    child.start()
    child.write("page.md", "# Page\n")
    for each, answer in ((child, child.report("page.md")), (parent, "All is well, and everything is done.")):
        each.stop(answer)
        while each.row.state == "running":  # what does not hold is sent back a few times
            each.stop(answer)
        each.hand_over(answer)

    monkeypatch.setenv("REMIT_ROOT", str(root))
    monkeypatch.setattr(export, "SEND_SECONDS", 60.0)
    with Receiver() as receiver:
        for name, value in receiver.environ.items():
            monkeypatch.setenv(name, value)
        assert export.send(begun_ms) == ""
        spans = {span.span_id: span for span in receiver.spans}
    outer, inner = (spans[make_span_id(each.session_id)] for each in (parent.row, child.row))
    run = spans[outer.parent_id]
    assert len({span.trace_id for span in spans.values()}) == 1
    assert (run.trace_id, run.parent_id) == (tuple(given.split("-")[1:3]) if given else (run.trace_id, ""))
    assert (inner.parent_id, inner.kind, inner.name) == (outer.span_id, 1, "invoke_agent writer")
    assert inner.attributes["gen_ai.provider.name"] == "anthropic"
    assert inner.attributes["remit.harness_run"] is True
    assert "error.type" not in inner.attributes
    assert outer.attributes["error.type"] == outer.message == "missing"
    tried = [span for span in spans.values() if span.parent_id == outer.span_id and span.name.startswith("attempt")]
    assert len(tried) == outer.attributes["remit.attempts"] > 1
    ordered = sorted(tried, key=lambda span: span.name)
    assert [span.begin_ns for span in ordered] == [outer.begin_ns, *(span.end_ns for span in ordered[:-1])]

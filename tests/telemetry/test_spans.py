"""Spans and metrics of runs in the ledger."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.ledger.followers import FinishedEvent
from remit.ledger.home import Home
from remit.ledger.runs import AttemptRow, Run, add_run, record_attempt
from remit.runs.admission.run_config import RunConfig
from remit.telemetry.metrics import DURATION, TOKENS, Point, sum_metrics
from remit.telemetry.spans import RunTelemetry, Span, list_spans, load_run_telemetry

OWN = "sess_1_aaaaaa"
DONE: dict[str, Any] = {"stop_reason": "exited", "verdict": "accepted", "status": "completed"}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(str(tmp_path))
    yield made
    made.close()


def tell(
    home: Home, *attempts: AttemptRow, config: RunConfig | None = None, runner: str = "claude", **columns: Any,  # noqa: ANN401 - of any kind
) -> RunTelemetry:  # fmt: skip
    """A delegation that was settled at 10 s after the epoch."""
    row = Run(
        OWN, "scout", 1, ("orchestrator", "scout"), state="finished", created_ms=1000, started_ms=2000, runner=runner,
        details=(config or RunConfig()).as_details(),
    )._replace(**columns)  # fmt: skip
    add_run(home.ledger, row)
    with home.ledger.transaction() as db:
        for attempt in attempts:
            record_attempt(db, row.session_id, attempt)
    told = load_run_telemetry(home, FinishedEvent(1, 10_000, row.session_id))
    assert told is not None
    return told


def find(spans: list[Span], name: str) -> Span:
    return next(span for span in spans if span.name.startswith(name))


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        (DONE, ""),
        (DONE | {"status": "partial"}, ""),
        (DONE | {"status": "blocked"}, ""),
        (DONE | {"verdict": "repaired"}, ""),
        (DONE | {"status": "failed"}, "failed"),
        (DONE | {"verdict": "fabricated", "status": "failed"}, "fabricated"),
        (DONE | {"stop_reason": "timeout", "status": "partial"}, "timeout"),
        ({"stop_reason": "cancelled", "verdict": "missing", "status": "failed"}, "cancelled"),
        ({"stop_reason": "orphaned"}, "orphaned"),
        ({"stop_reason": "exited"}, ""),
    ],
)
def test_what_counts_as_an_error(home: Home, columns: dict[str, Any], error: str) -> None:
    """An agent that was only looked on is not judged."""
    told = tell(home, **columns)
    assert told.error == error
    span = find(list_spans(home, told), "invoke_agent")
    assert (span.error, span.attributes.get("error.type", "")) == (error, error)


def test_one_alone_is_no_run(home: Home) -> None:
    assert [span.name for span in list_spans(home, tell(home, **DONE))] == ["invoke_agent scout"]


def test_a_row_that_is_gone_is_nothing_to_tell_of(home: Home) -> None:
    assert home.ledger.file
    assert load_run_telemetry(home, FinishedEvent(1, 1, "sess_1_gone00")) is None


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (RunConfig(), "client"),
        (RunConfig(is_harness_run=True), "internal"),
        (RunConfig(settings={"in_process": True}), "internal"),
    ],
)
def test_who_runs_in_another_process_is_called_there(home: Home, config: RunConfig, kind: str) -> None:
    assert find(list_spans(home, tell(home, config=config, **DONE)), "invoke_agent").kind == kind


@pytest.mark.parametrize(
    ("runner", "config", "name"),
    [
        ("claude", RunConfig(), "anthropic"),
        ("codex", RunConfig(model="o"), "openai"),
        ("gemini", RunConfig(), "gcp.gemini"),
        ("mine", RunConfig(base="claude"), "anthropic"),
        ("opencode", RunConfig(), "opencode"),
        ("opencode", RunConfig(model="anthropic/some"), "anthropic"),
        ("opencode", RunConfig(model="google/some"), "gcp.gemini"),
        ("command", RunConfig(), "command"),
        ("", RunConfig(), "remit"),
    ],
)
def test_whose_model_it_is(home: Home, runner: str, config: RunConfig, name: str) -> None:
    assert tell(home, runner=runner, config=config, **DONE).common["gen_ai.provider.name"] == name


@pytest.mark.parametrize(("runner", "expected"), [("claude", (300, 30)), ("codex", (200, 20)), ("gone", (300, 30))])
def test_what_attempts_used_is_added_up(home: Home, runner: str, expected: tuple[int, int]) -> None:
    """Codex counts from the beginning of its thread."""
    tried = [
        AttemptRow(number, 2000, 3000, "exited", "invalid", usage={"input_tokens": many, "output_tokens": many // 10})
        for number, many in ((1, 100), (2, 200))
    ]
    told = tell(home, *tried, runner=runner, **DONE)
    assert (told.usage.input_tokens, told.usage.output_tokens) == expected
    counts = {
        point.attributes["gen_ai.token.type"]: point.values for point in sum_metrics([told]) if point.measure == TOKENS
    }
    assert counts == {"input": (expected[0],), "output": (expected[1],)}


def test_a_sum_is_not_told_as_one_of_its_parts(home: Home) -> None:
    """Of its own agents a harness tells what they used in all."""
    tried = AttemptRow(1, 2000, 3000, "exited", "accepted", usage={"output_tokens": 500})
    told = tell(home, tried, config=RunConfig(is_harness_run=True), tokens=500, **DONE)
    attributes = find(list_spans(home, told), "invoke_agent").attributes
    assert attributes["remit.tokens"] == 500
    assert "gen_ai.usage.output_tokens" not in attributes


def test_attempts_are_spans_below_it(home: Home) -> None:
    tried = (
        AttemptRow(1, 2000, 4000, "exited", "invalid", diagnostics=[{"code": "RET002"}, {"code": "RET004"}, "odd"]),
        AttemptRow(2, 4500, 6000, "crashed"),
        AttemptRow(3, 0, None, "exited", "accepted"),
    )
    own, *attempts = list_spans(home, tell(home, *tried, **DONE))
    assert {span.parent_id for span in attempts} == {own.span_id}
    assert len({own.span_id, *(span.span_id for span in attempts)}) == 4
    assert [(span.begin_ms, span.end_ms) for span in attempts] == [(2000, 4000), (4500, 6000), (1000, 10_000)]
    assert [span.error for span in attempts] == ["invalid", "crashed", ""]
    assert attempts[0].attributes["remit.diagnostics"] == ["RET002", "RET004"]


def test_a_run_lasts_until_the_last_of_it(home: Home) -> None:
    told = tell(home, ended_ms=5000, **DONE)
    child = Run("sess_2_bbbbbb", "child", 2, ("orchestrator", "scout", "child"), OWN, OWN, state="finished")
    add_run(home.ledger, child._replace(created_ms=3000, ended_ms=7000))
    run = find(list_spans(home, told), "invoke_workflow")
    assert (run.begin_ms, run.end_ms, run.attributes["remit.runs"]) == (1000, 7000, 2)
    below = load_run_telemetry(home, FinishedEvent(2, 7000, child.session_id))
    assert below is not None
    (span,) = list_spans(home, below)
    assert (span.trace_id, span.parent_id) == (run.trace_id, find(list_spans(home, told), "invoke_agent").span_id)


def test_a_value_that_is_a_bound_is_below_it() -> None:
    point = Point(DURATION, {}, (0.0, 1.0, 1.5, 7200.0, 9000.0))
    assert (point.buckets[0], point.buckets[1], point.buckets[-2:]) == (2, 1, [1, 1])
    assert sum(point.buckets) == 5


def test_numbers_of_the_same_kind_are_one(home: Home) -> None:
    told = tell(home, ended_ms=3000, cost_usd=0.5, **DONE)
    points = {point.measure.name: point.values for point in sum_metrics([told, told])}
    assert points == {"remit.runs": (1, 1), "remit.duration": (2.0, 2.0), "remit.cost": (0.5, 0.5)}

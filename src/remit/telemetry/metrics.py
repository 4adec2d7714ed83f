"""Metrics: finished runs as metrics with attributes.

Each value is the increase between two moments (delta temporality), because a process lives for one command and can't
store a sum.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.telemetry.spans import RunTelemetry, Value

_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0)
_TOKENS = tuple(float(4**power) for power in range(14))
"""The bounds in the conventions."""


class Measure(NamedTuple):
    """A counter, or a histogram with bounds."""

    name: str
    unit: str
    description: str
    bounds: tuple[float, ...] = ()
    """The upper bounds of the buckets; empty for a counter."""


RUNS = Measure("remit.runs", "{run}", "Finished runs.")
VERDICTS = Measure("remit.verdicts", "{verdict}", "Verdicts, one for each attempt.")
DURATION = Measure("remit.duration", "s", "Time from request to end of runs.", _SECONDS)
TOKENS = Measure("gen_ai.client.token.usage", "{token}", "Tokens that a run used in one direction.", _TOKENS)
COST = Measure("remit.cost", "{USD}", "Cost of runs, as reported by harnesses.")


class Point(NamedTuple):
    """The values of one measure with the same attributes."""

    measure: Measure
    attributes: Mapping[str, Value]
    values: tuple[float, ...]

    @property
    def buckets(self) -> list[int]:
        """The number of values in each bucket. A bucket includes its upper bound."""
        counts = [0] * (len(self.measure.bounds) + 1)
        for value in self.values:
            counts[bisect_left(self.measure.bounds, value)] += 1
        return counts


def sum_metrics(runs: Iterable[RunTelemetry]) -> list[Point]:
    """Return the metrics of finished runs, grouped by measure and attributes."""
    found: dict[tuple[Measure, tuple[tuple[str, Value], ...]], list[float]] = {}
    for run in runs:
        for measure, attributes, value in _measure(run):
            key = measure, tuple(sorted(attributes.items()))
            found.setdefault(key, []).append(value)
    return [Point(measure, dict(attributes), tuple(values)) for (measure, attributes), values in found.items()]


def _measure(run: RunTelemetry) -> Iterator[tuple[Measure, dict[str, Value], float]]:
    row, agent = run.row, {"gen_ai.agent.name": run.common["gen_ai.agent.name"]}
    verdict = {"remit.verdict": row.verdict or "none", "remit.status": row.status or "none"}
    failed: dict[str, Value] = {"error.type": run.error} if run.error else {}
    yield RUNS, agent | verdict | failed, 1
    yield DURATION, agent | verdict | failed, max(run.ended_ms - row.created_ms, 0) / 1000
    for attempt in run.attempts:
        yield VERDICTS, agent | {"remit.verdict": attempt.verdict or "none"}, 1
    for direction, count in (("input", run.usage.input_tokens), ("output", run.usage.output_tokens)):
        if count is not None:
            yield TOKENS, {**run.common, "gen_ai.token.type": direction}, count
    if row.cost_usd is not None:
        yield COST, agent | {"gen_ai.provider.name": run.common["gen_ai.provider.name"]}, row.cost_usd

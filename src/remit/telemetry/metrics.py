"""Metrics: finished runs as numbers, by attributes.

Each number is the increase between two moments, so that no process has to store a sum: a process lives for one command.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.telemetry.spans import RunTelemetry, Value

_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0)
_TOKENS = tuple(float(4**power) for power in range(14))
"""The bounds that the conventions name."""


class Measure(NamedTuple):
    """Something that is counted, or measured and sorted into buckets."""

    name: str
    unit: str
    description: str
    bounds: tuple[float, ...] = ()
    """The upper bounds of the buckets; none where it is only added up."""


DELEGATIONS = Measure("remit.delegations", "{delegation}", "Delegations that were settled.")
VERDICTS = Measure("remit.verdicts", "{verdict}", "What was said of the answers, one for each attempt.")
DURATION = Measure("remit.duration", "s", "How long delegations took, from being asked for to their end.", _SECONDS)
TOKENS = Measure("gen_ai.client.token.usage", "{token}", "Tokens that a delegation used in one direction.", _TOKENS)
COST = Measure("remit.cost", "{USD}", "Cost of runs, as reported by harnesses.")


class Point(NamedTuple):
    """The values of one measure that have the same attributes, added up."""

    measure: Measure
    attributes: Mapping[str, Value]
    values: tuple[float, ...]

    @property
    def buckets(self) -> list[int]:
        """How many values are in each bucket; a value that is a bound is below it."""
        counts = [0] * (len(self.measure.bounds) + 1)
        for value in self.values:
            counts[bisect_left(self.measure.bounds, value)] += 1
        return counts


def add_up(every: Iterable[RunTelemetry]) -> list[Point]:
    """Return the numbers of delegations that were settled, by what they are and what they are split up by."""
    found: dict[tuple[Measure, tuple[tuple[str, Value], ...]], list[float]] = {}
    for told in every:
        for measure, attributes, value in _measure(told):
            key = measure, tuple(sorted(attributes.items()))
            found.setdefault(key, []).append(value)
    return [Point(measure, dict(attributes), tuple(values)) for (measure, attributes), values in found.items()]


def _measure(told: RunTelemetry) -> Iterator[tuple[Measure, dict[str, Value], float]]:
    row, agent = told.row, {"gen_ai.agent.name": told.common["gen_ai.agent.name"]}
    verdict = {"remit.verdict": row.verdict or "none", "remit.status": row.status or "none"}
    failed: dict[str, Value] = {"error.type": told.error} if told.error else {}
    yield DELEGATIONS, agent | verdict | failed, 1
    yield DURATION, agent | verdict | failed, max(told.ended_ms - row.created_ms, 0) / 1000
    for attempt in told.attempts:
        yield VERDICTS, agent | {"remit.verdict": attempt.verdict or "none"}, 1
    for direction, count in (("input", told.usage.input_tokens), ("output", told.usage.output_tokens)):
        if count is not None:
            yield TOKENS, {**told.common, "gen_ai.token.type": direction}, count
    if row.cost_usd is not None:
        yield COST, agent | {"gen_ai.provider.name": told.common["gen_ai.provider.name"]}, row.cost_usd

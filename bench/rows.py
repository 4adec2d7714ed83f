"""What a benchmark hands over: a row for each thing measured, with Remit, its peers and the floor beside each other.

A script calls `finish` with its rows, which prints them. `bench/all.py` names a file in `BENCH_ROWS`, and then the rows
are also appended to that, a line of JSON each. With `BENCH_QUICK` set, `choose` takes the smaller of two amounts.
"""

from __future__ import annotations

import json
import math
import os
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

IS_QUICK: Final = bool(os.environ.get("BENCH_QUICK"))
Amount = TypeVar("Amount")


def choose(quick: Amount, whole: Amount) -> Amount:
    """An amount for a quick look, or the one for figures that are kept."""
    return quick if IS_QUICK else whole


class Figure(NamedTuple):
    """The median of some rounds, and the lowest and the highest of them."""

    median: float
    low: float
    high: float
    rounds: int


class Other(NamedTuple):
    """Who is measured beside Remit: a peer, or the floor, which is the least that anybody has to do."""

    name: str
    figure: Figure | None
    """None where it cannot do this at all."""
    ratio: Figure | None
    """Remit's figure divided by this one, round by round."""
    is_floor: bool = False


class Goal(NamedTuple):
    """How far Remit's figure may go, or its ratio to `than`."""

    limit: float
    than: str = ""


class Row(NamedTuple):
    """One thing that was measured."""

    area: str
    what: str
    unit: str
    remit: Figure | None
    """None where it could not be measured; the note says why."""
    others: tuple[Other, ...] = ()
    goals: tuple[Goal, ...] = ()
    is_more_better: bool = False
    note: str = ""

    def reaches(self, goal: Goal) -> bool:
        """Whether a goal is reached; one whose other could not be measured is not."""
        figure = self.remit
        if goal.than:
            figure = next((other.ratio for other in self.others if other.name == goal.than), None)
        if figure is None:
            return False
        return figure.median >= goal.limit if self.is_more_better else figure.median <= goal.limit

    @property
    def reached(self) -> bool | None:
        """Whether all goals are reached; None where there is none."""
        return all(self.reaches(goal) for goal in self.goals) if self.goals else None

    def list_ahead(self) -> list[str]:
        """The peers that do better than Remit; the floor is no peer."""
        found = []
        for other in self.others:
            if other.figure is None or self.remit is None or other.is_floor:
                continue
            # Of what was measured in the same rounds the ratio says more than two medians.
            own, theirs = (other.ratio.median, 1.0) if other.ratio else (self.remit.median, other.figure.median)
            if own < theirs if self.is_more_better else own > theirs:
                found.append(other.name)
        return found


def summarize(values: Sequence[float]) -> Figure | None:
    """The figure of some rounds; None when there were none."""
    return Figure(statistics.median(values), min(values), max(values), len(values)) if values else None


def make_row(
    area: str,
    what: str,
    unit: str,
    taken: Sequence[float],
    *,
    peers: Mapping[str, Sequence[float]] | None = None,
    floors: Mapping[str, Sequence[float]] | None = None,
    goal: float | None = None,
    goals: Mapping[str, float] | None = None,
    is_more_better: bool = False,
    note: str = "",
) -> Row:
    """A row from what each round took.

    The rounds of the others stand in the same order as Remit's; no rounds say that somebody cannot do this. `goal` is
    the limit of Remit's own figure, `goals` are those of its ratios, by the other's name.
    """
    others = [_set_beside(name, taken, theirs) for name, theirs in (peers or {}).items()]
    others += [_set_beside(name, taken, theirs)._replace(is_floor=True) for name, theirs in (floors or {}).items()]
    limits = [Goal(goal)] if goal is not None else []
    limits += [Goal(limit, name) for name, limit in (goals or {}).items()]
    return Row(area, what, unit, summarize(taken), tuple(others), tuple(limits), is_more_better, note)


def _set_beside(name: str, taken: Sequence[float], theirs: Sequence[float]) -> Other:
    # Somebody slow may have played fewer rounds.
    ratios = [own / other for own, other in zip(taken, theirs, strict=False) if other]
    return Other(name, summarize(theirs), summarize(ratios))


# --- handing over ----------------------------------------------------------------------------------------------------


def finish(rows: Iterable[Row]) -> int:
    """Print rows, hand them over when somebody asked for them, and say 1 when a goal is missed."""
    missed = 0
    for row in rows:
        print(render_row(row), flush=True)
        hand_over(row)
        missed |= row.reached is False
    return int(missed)


def hand_over(row: Row) -> None:
    """Append a row to the file that `BENCH_ROWS` names, if it names one."""
    place = os.environ.get("BENCH_ROWS")
    if place:
        with Path(place).open("a", encoding="utf-8") as out:
            out.write(f"{json.dumps(to_json(row), ensure_ascii=False)}\n")


def to_json(row: Row) -> dict[str, Any]:
    """A row as JSON has it."""
    told: dict[str, Any] = {"area": row.area, "what": row.what, "unit": row.unit, "remit": _name(row.remit)}
    for kind, is_floor in (("peers", False), ("floor", True)):
        told[kind] = {
            other.name: {"figure": _name(other.figure), "ratio": _name(other.ratio)}
            for other in row.others
            if other.is_floor is is_floor
        }
    goals = [{**goal._asdict(), "reached": row.reaches(goal)} for goal in row.goals]
    return {**told, "goals": goals, "reached": row.reached, "is_more_better": row.is_more_better, "note": row.note}


def _name(figure: Figure | None) -> dict[str, float] | None:
    # Four digits are more than any of these figures is worth, and keep the file readable.
    if figure is None:
        return None
    return {name: value if name == "rounds" else float(f"{value:.4g}") for name, value in figure._asdict().items()}


def from_json(told: Mapping[str, Any]) -> Row:
    """A row that was handed over."""
    others = [
        Other(name, _read(each["figure"]), _read(each["ratio"]), is_floor=kind == "floor")
        for kind in ("peers", "floor")
        for name, each in told[kind].items()
    ]
    goals = tuple(Goal(each["limit"], each["than"]) for each in told["goals"])
    return Row(told["area"], told["what"], told["unit"], _read(told["remit"]), tuple(others), goals,
               told["is_more_better"], told["note"])  # fmt: skip


def _read(told: Mapping[str, Any] | None) -> Figure | None:
    return None if told is None else Figure(**told)


# --- words -----------------------------------------------------------------------------------------------------------


def render_row(row: Row) -> str:
    """A row for somebody who looks on: a line, and one for each other."""
    lines = [f"{row.what:<62} {render_figure(row.remit, row.unit):<34} {_render_goal(row, '')}".rstrip()]
    for other in row.others:
        ratio = f"{render_ratio(other.ratio)} times" if other.ratio else ""
        name = f"  {other.name}{' (floor)' * other.is_floor}"
        line = f"{name:<62} {render_figure(other.figure, row.unit):<34} {ratio:<28} {_render_goal(row, other.name)}"
        lines.append(line.rstrip())
    return "\n".join([*lines, *([f"  {row.note}"] if row.note else [])])


def _render_goal(row: Row, than: str) -> str:
    goal = next((goal for goal in row.goals if goal.than == than), None)
    return "" if goal is None else f"goal {render_limit(row, goal)}{'' if row.reaches(goal) else ' MISSED'}"


def render_limit(row: Row, goal: Goal) -> str:
    """The limit of a goal with its sign."""
    unit = "" if goal.than or not row.unit else f" {row.unit}"
    return f"{'≥' if row.is_more_better else '≤'} {goal.limit:g}{unit}"


def render_figure(figure: Figure | None, unit: str) -> str:
    """A median with its unit, and in brackets the lowest and highest round."""
    if figure is None:
        return "—"
    return f"{render_number(figure.median)}{f' {unit}' if unit else ''}{_render_spread(figure)}"


def render_ratio(ratio: Figure | None) -> str:
    """A ratio, and in brackets that of the lowest and highest round."""
    return "—" if ratio is None else f"{render_number(ratio.median)}{_render_spread(ratio)}"


def _render_spread(figure: Figure) -> str:
    low, high = render_number(figure.low), render_number(figure.high)
    return "" if low == high else f" ({low} to {high})"


def render_number(value: float) -> str:
    """A number with as many digits as it is worth: about three."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 0.1:
        return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return f"{value:.{1 - math.floor(math.log10(abs(value)))}f}"

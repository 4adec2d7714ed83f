"""The timeline of a report: when each run was active, as a static drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.sentences import format_duration
from remit.views.report.content import describe, format_span
from remit.views.report.markup import Markup, element

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST_BARS = 200
_WIDTH, _NAMES, _ROW, _TOP = 1000, 210, 22, 26
_TICKS = 8
_TICK_ROOM = 60
_MOST_NAME = 30
_STEPS_S = (
    0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800,
    604_800, 2_592_000,
)  # fmt: skip
_THINNEST = 2.0


def draw_timeline(report: Mapping[str, Any]) -> Markup | None:
    """A bar for each run from its start to its end, in the order of the tree; None if no run has started."""
    rows = [row for row in report["tree"] if row["started_ms"] is not None][:MOST_BARS]
    if not rows:
        return None
    first = min(row["created_ms"] for row in rows)
    last = max(first + 1, *(_find_end(row, report) for row in rows))
    height = _TOP + len(rows) * _ROW + 4
    label = f"Timeline: {len(rows)} runs over {format_duration((last - first) / 1000)}"
    return element(
        "svg",
        [*_draw_axis(last - first, height)],
        [_draw_row(row, number, report, first, last) for number, row in enumerate(rows)],
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_label=label,
    )


def _find_end(row: Mapping[str, Any], report: Mapping[str, Any]) -> int:
    end: int = report["made_ms"] if row["ended_ms"] is None else row["ended_ms"]
    begun: int = row["started_ms"]
    return max(end, begun)


def _draw_axis(span_ms: int, height: int) -> Iterator[Markup]:
    step_s = next((step for step in _STEPS_S if span_ms / 1000 <= step * _TICKS), _STEPS_S[-1])
    if span_ms / 1000 > step_s * _TICKS * 2:  # longer than any calendar of ours: few lines, wherever they fall
        step_s = round(span_ms / 1000 / _TICKS)
    for number in range(int(span_ms / 1000 / step_s) + 1):
        x = _place(number * step_s * 1000, span_ms)
        yield element("line", class_="axis", x1=x, x2=x, y1=_TOP - 6, y2=height)
        if x < _WIDTH - _TICK_ROOM:
            yield element("text", "0" if number == 0 else _name_tick(number * step_s), x=x + 3, y=14)


def _name_tick(seconds: float) -> str:
    return f"{seconds:g} s" if seconds < 60 else format_duration(seconds)  # noqa: PLR2004 - a minute


def _place(offset_ms: float, span_ms: int) -> float:
    return round(_NAMES + (_WIDTH - _NAMES - 8) * min(1.0, max(0.0, offset_ms / span_ms)), 1)


def _draw_row(row: Mapping[str, Any], number: int, report: Mapping[str, Any], first: int, last: int) -> Markup:
    """The name, how long it waited, how long it worked, and its deadline."""
    look, span, y = describe(row), last - first, _TOP + number * _ROW
    created, begun, end = (
        _place(at - first, span) for at in (row["created_ms"], row["started_ms"], _find_end(row, report))
    )
    deadline = row["deadline_ms"]
    due = None if deadline is None or not first <= deadline <= last else _place(deadline - first, span)
    indent = min(row["level"], 6) * 10
    return element(
        "g",
        element("title", f"{row['agent']}: {look.word}, {format_span(row['started_ms'], _find_end(row, report))}"),
        element("text", _shorten(str(row["agent"])), class_="name", x=indent, y=y + 14),
        element("rect", class_="queue", x=created, y=y + 7, width=round(max(0.0, begun - created), 1), height=6),
        element(
            "rect", class_=look.tone, x=begun, y=y + 4, rx=2, width=round(max(_THINNEST, end - begun), 1), height=12
        ),
        None if due is None else element("line", class_="due", x1=due, x2=due, y1=y + 1, y2=y + 19),
    )


def _shorten(name: str) -> str:
    return name if len(name) <= _MOST_NAME else f"{name[: _MOST_NAME - 1]}…"


def count_left_out(report: Mapping[str, Any]) -> int:
    """How many that began have no bar."""
    begun: Sequence[Any] = [row for row in report["tree"] if row["started_ms"] is not None]
    return max(0, len(begun) - MOST_BARS)

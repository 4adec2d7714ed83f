"""Excerpts: a diagnostic with the line of the text that it is about, and carets below the part.

A line may be a megabyte long and contain anything: only the part near the position is processed, and it is escaped
before its width is measured.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from remit.light_namedtuple import NamedTuple
from remit.terminal import TAB, count_columns, escape, escape_char, measure, quote
from remit.views.render import render_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.model import Diagnostic, Severity, TextSpan
    from remit.terminal import Paint

MAX_DIAGNOSTICS = 50
"""Diagnostics of one message that are shown with excerpts; a broken list of 10,000 artifacts has as many."""


class SourceText:
    """A message in lines; taken apart when the first excerpt of it is wanted."""

    def __init__(self, message: bytes) -> None:
        self._message = message

    @cached_property
    def lines(self) -> list[str]:
        """The lines as places count them: a line feed ends one, nothing else does."""
        return self._message.decode("utf-8", "replace").split("\n")

    def get_line(self, number: int) -> str:
        """A line by its number, counted from 1."""
        return self.lines[number - 1]

    def has(self, place: TextSpan) -> bool:
        """Whether a place is in this text."""
        return 1 <= place.line <= place.end_line <= len(self.lines)


class ExcerptSpan(SourceText):
    """Some lines of a file that is too large for memory, addressed by their line numbers in that file."""

    def __init__(self, text: str, first_line: int) -> None:
        super().__init__(text.encode("utf-8", "replace"))
        self._first_line = first_line

    def get_line(self, number: int) -> str:
        """A line by its number."""
        return super().get_line(number - self._first_line + 1)

    def has(self, place: TextSpan) -> bool:
        """Whether a place is in these lines."""
        above = self._first_line - 1
        return super().has(place._replace(line=place.line - above, end_line=place.end_line - above))


def render_diagnostics(diagnostics: Sequence[Diagnostic], filename: str, message: bytes, *, paint: Paint) -> str:
    """The findings about one message, an empty line between them."""
    text, columns = SourceText(message), count_columns()
    shown = [
        render_diagnostic(each, filename, text, paint=paint, columns=columns) for each in diagnostics[:MAX_DIAGNOSTICS]
    ]
    more = len(diagnostics) - MAX_DIAGNOSTICS
    if more > 0:
        shown.append(f"… and {more} more; --output-format concise shows them all")
    return "\n\n".join(shown)


def render_diagnostic(diagnostic: Diagnostic, filename: str, text: SourceText, *, paint: Paint, columns: int) -> str:
    """A finding as compilers show it: what is wrong, where, the line itself, what to do, where to read on."""
    place = diagnostic.place if diagnostic.place is not None and text.has(diagnostic.place) else None
    shown = [render_title(diagnostic, paint=paint)]
    if place is not None:
        gutter = " " * len(str(_find_end(text, place)[0]))
        shown.append(f"{gutter}{paint('frame', '-->')} {escape(filename)}:{place.line}:{place.column}")
        shown += render_excerpt(text, place, severity=diagnostic.severity, paint=paint, columns=columns)
    else:
        gutter = " "
        at = f" at {quote(diagnostic.pointer)}" if diagnostic.pointer else ""
        shown.append(f"{gutter}{paint('frame', '-->')} {escape(filename)}{at}")
    sign = f"{gutter} {paint('frame', '=')} "
    if diagnostic.hint:
        shown.append(f"{sign}{paint('strong', 'help')}: {quote(diagnostic.hint)}")
    shown.append(f"{sign}{paint('strong', 'see')}: remit explain {diagnostic.code}")
    return "\n".join(shown)


class ExcerptRow(NamedTuple):
    """One line as it is shown: its text, and where under it the carets stand, in columns."""

    text: str
    indent: int
    carets: int


def render_excerpt(text: SourceText, place: TextSpan, *, severity: Severity, paint: Paint, columns: int) -> list[str]:
    """The line of a place with its carets; of a place over several lines, the first and the last."""
    last_line, last_column = _find_end(text, place)
    gutter = len(str(last_line))
    bar = paint("frame", "|")
    empty = f"{' ' * gutter} {bar}"
    room = columns - gutter - 3
    spans: list[tuple[int, int | None, int | None]] = [
        (place.line, place.column - 1, last_column if last_line == place.line else None)
    ]
    if last_line > place.line:
        spans.append((last_line, None, last_column))

    shown = [empty]
    for number, start, end in spans:
        if number > place.line + 1 and len(shown) > 1:
            shown.append(paint("frame", "..."))
        row = _make_row(text.get_line(number).removesuffix("\r"), start, end, room)
        carets = paint(severity, "^" * row.carets)
        shown.append(f"{paint('frame', f'{number:>{gutter}}')} {bar}{' ' if row.text else ''}{row.text}")
        shown.append(f"{empty} {' ' * row.indent}{carets}")
    return [*shown, empty]


def _find_end(text: SourceText, place: TextSpan) -> tuple[int, int]:
    """The last line of a span and the offset at which the span ends; a line without characters of it doesn't count."""
    if place.end_line > place.line and place.end_column == 1:
        return place.end_line - 1, len(text.get_line(place.end_line - 1))
    return place.end_line, place.end_column - 1


def _make_row(line: str, start: int | None, end: int | None, room: int) -> ExcerptRow:
    """Show the part of a line around a span that fits; None means the first or the last visible character."""
    first = len(line) - len(line.lstrip()) if start is None else min(start, len(line))
    behind = max(first, len(line.rstrip()) if end is None else min(end, len(line)))
    near = max(0, first - room)
    cells = [TAB if char == "\t" else escape_char(char) for char in line[near : first + room]]
    widths = measure(cells)
    first, behind = first - near, min(behind - near, len(cells))
    low, high = _choose_window(widths, first, behind, room, whole=len(cells) == len(line))
    left = "…" if near + low > 0 else ""
    right = "…" if near + high < len(line) else ""
    indent = len(left) + sum(widths[low:first])
    carets = max(1, sum(widths[first : min(behind, high)]))
    return ExcerptRow(f"{left}{''.join(cells[low:high])}{right}", indent, carets)


def _choose_window(widths: list[int], first: int, behind: int, room: int, *, whole: bool) -> tuple[int, int]:
    """Which cells to show: the span, then what stands around it on both sides alike; of a long span, the beginning."""
    if whole and sum(widths) <= room:
        return 0, len(widths)
    room -= 2  # for the two marks that say that there is more
    around = room // 4  # kept free for what stands around, which says what the span is
    high, spare = _reach(widths[:behind], first, 1, room - around)
    before = (around + spare) // 2
    low, left = _reach(widths, first, -1, before)
    high, left = _reach(widths, high, 1, around + spare - before + left)
    low, _ = _reach(widths, low, -1, left)
    return low, high


def _reach(widths: list[int], index: int, step: int, room: int) -> tuple[int, int]:
    """How far the room reaches from an edge between cells, and what is left of the room."""
    while 0 <= (cell := index if step > 0 else index - 1) < len(widths) and widths[cell] <= room:
        room -= widths[cell]
        index += step
    return index, room

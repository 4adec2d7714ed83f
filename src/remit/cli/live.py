"""Progress of runs: a tree that is redrawn on a terminal, or a few lines in a log.

All of it goes to standard error, so that standard output has only the result.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Protocol

from remit.cli.output import get_paint, is_quiet, print_lines
from remit.terminal import cut, escape, quote, write

if TYPE_CHECKING:
    from remit.runs.progress import ProgressReader, RunProgress

REPORT_INTERVAL_S = 30.0
_DRAW_INTERVAL_S = 0.25
_SPINNER = "|/-\\"
_DEFAULT_SIZE = (100, 24)
_HOUR_S = 3600
_STYLES = {"completed": "good", "partial": "warning", "blocked": "warning"}


class ProgressDisplay(Protocol):
    """Shows the progress of a run."""

    interval_s: float

    def begin(self, sentence: str) -> None:
        """Show that the run has started."""
        ...

    def update(self) -> None:
        """Show the current state."""
        ...

    def report(self, sentence: str) -> None:
        """Show a message."""
        ...

    def end(self) -> None:
        """Show that the run has ended."""
        ...


class Silent:
    """Shows nothing, for programs that read the result."""

    interval_s = 1.0

    def begin(self, sentence: str) -> None:
        """Do nothing."""

    def update(self) -> None:
        """Do nothing."""

    def report(self, sentence: str) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


class Screen:
    """The last lines of a terminal, which are redrawn in place."""

    def __init__(self) -> None:
        self._shown = 0

    @staticmethod
    def is_available() -> bool:
        """Return whether standard error is a terminal whose lines can be redrawn."""
        return not is_quiet() and sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    @staticmethod
    def get_size() -> tuple[int, int]:
        """Return the columns and lines of the terminal."""
        try:
            found = os.get_terminal_size(sys.stderr.fileno())
        except (OSError, ValueError):
            return _DEFAULT_SIZE
        return found.columns or _DEFAULT_SIZE[0], found.lines or _DEFAULT_SIZE[1]

    def draw(self, lines: list[str]) -> None:
        """Replace the lines drawn last. No line may be wider than the terminal."""
        back = f"\x1b[{self._shown}A\r\x1b[J" if self._shown else ""
        self._shown = len(lines)
        write(back + "".join(f"{line}\n" for line in lines), stream=sys.stderr)

    def keep(self) -> None:
        """Keep the drawn lines; later output goes below them."""
        self._shown = 0


class Tree:
    """Draws a run and its nested runs on a terminal."""

    interval_s = _DRAW_INTERVAL_S

    def __init__(self, reader: ProgressReader) -> None:
        self.reader = reader
        self.screen = Screen()
        self._message = ""
        self._frame = 0

    def begin(self, sentence: str) -> None:
        """Draw the tree, which shows the same as the sentence."""
        del sentence
        self.update()

    def update(self) -> None:
        """Draw the tree."""
        self._frame += 1
        seen = self.reader.read()
        columns, height = self.screen.get_size()
        room = max(1, height - 3)
        lines = [self._render(each, columns) for each in seen[:room]]
        if len(seen) > room:
            lines.append(f"  … and {len(seen) - room} more: remit ps --tree")
        if self._message:
            lines.append(cut(self._message, columns - 1))
        self.screen.draw(lines)

    def report(self, sentence: str) -> None:
        """Show a message below the tree until it is removed."""
        self._message = escape(sentence)
        self.update()

    def end(self) -> None:
        """Keep a tree of several runs on the screen; remove that of a single run, whose result follows."""
        self._message = ""
        self.update()
        if len(self.reader.read()) > 1:
            self.screen.keep()
        else:
            self.screen.draw([])

    def _render(self, seen: RunProgress, columns: int) -> str:
        """`| researcher  0:12 of 5:00  3,400 tokens  $0.02  Reading the tests`."""
        paint, indent = get_paint(stderr=True), "  " * seen.level
        mark, style = self._find_mark(seen)
        text = f"{escape(seen.row.agent)}  {render_state(seen)}"
        shown = cut(text, max(10, columns - len(indent) - 3))
        return f"{indent}{paint(style, mark)} {shown}"

    def _find_mark(self, seen: RunProgress) -> tuple[str, str]:
        row = seen.row
        if row.ended_ms is not None:
            return "✓" if row.status == "completed" else "✗", _STYLES.get(row.status or "", "error")
        if row.state == "admitted":
            return "·", "note"
        return _SPINNER[self._frame % len(_SPINNER)], "warning" if seen.idle_s else "note"


class Lines:
    """Prints a line at the start and one at intervals, for a log."""

    interval_s = 1.0

    def __init__(self, reader: ProgressReader) -> None:
        self.reader = reader
        self._reported_s = time.monotonic()
        self._may_be_queued = True

    def begin(self, sentence: str) -> None:
        """Print the sentence."""
        self.report(sentence)

    def update(self) -> None:
        """Print the state at intervals, and at once why a run is queued."""
        if self._may_be_queued:
            self._report_queued()
        if time.monotonic() - self._reported_s < REPORT_INTERVAL_S:
            return
        self._reported_s = time.monotonic()
        open_ones = [each for each in self.reader.read() if each.row.ended_ms is None]
        if open_ones:
            last = open_ones[-1]  # the run that was called last is active, and its callers wait for it
            self.report(f"{last.row.session_id}: {last.row.agent}  {render_state(last)}")

    def _report_queued(self) -> None:
        """Print once why the run has not started, such as that no worker is available."""
        own = next(iter(self.reader.read()), None)
        if own is None or own.row.state != "admitted":
            self._may_be_queued = False
        elif own.activity:
            self._may_be_queued = False
            self.report(f"{own.row.session_id}: {own.row.agent} is queued; {own.activity}")

    def report(self, sentence: str) -> None:
        """Print the sentence."""
        print_lines(quote(sentence), stderr=True)

    def end(self) -> None:
        """Do nothing: the result follows."""


def make_display(reader: ProgressReader, *, output_format: str) -> ProgressDisplay:
    """Return the progress display for the output format: a tree on a terminal, lines in a log, or none for JSON."""
    if output_format == "json":
        return Silent()
    return Tree(reader) if Screen.is_available() else Lines(reader)


def render_state(seen: RunProgress) -> str:
    """Render the state of a run on one line, escaped."""
    row = seen.row
    facts = [*_render_time(seen)]
    if seen.worker:
        facts.append(f"at {escape(seen.worker)}")
    if seen.tokens is not None:
        facts.append(f"{seen.tokens:,} tokens")
    if seen.cost_usd is not None:
        facts.append(f"${seen.cost_usd:.2f}")
    if seen.idle_s and row.ended_ms is None:
        facts.append(f"no output for {render_clock(seen.idle_s)}")
    if seen.check is not None and row.ended_ms is None:
        facts.append(" ".join(escape(seen.check.describe(round(time.time() * 1000))).split()))
    elif seen.activity and row.ended_ms is None:
        facts.append(" ".join(escape(seen.activity).split()))
    return "  ".join(facts)


def _render_time(seen: RunProgress) -> list[str]:
    """Render the state, and the elapsed time with the time limit."""
    row, now_s = seen.row, time.time()
    if row.started_ms is None or row.state == "admitted":
        waits = "waiting for a slot" if seen.is_queued else "starting"
        word = row.status or row.stop_reason if row.ended_ms is not None else waits
        return [escape(word or row.state)]
    begun_s = row.started_ms / 1000
    if row.ended_ms is not None:
        word = row.status or row.stop_reason or row.state
        return [escape(word), render_clock(row.ended_ms / 1000 - begun_s)]
    of = "" if row.deadline_ms is None else f" of {render_clock(round(row.deadline_ms / 1000 - begun_s))}"
    return ["running", f"{render_clock(now_s - begun_s)}{of}"]


def render_clock(seconds: float) -> str:
    """Render a duration like a clock: `0:12`, `1:02:03`."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole % _HOUR_S, 60)
    return f"{whole // _HOUR_S}:{minutes:02}:{rest:02}" if whole >= _HOUR_S else f"{minutes}:{rest:02}"

"""Live: what is shown of delegations while they run.

Owns the part of a terminal that is drawn over and over, and the few lines where there is no terminal. All of it goes to
standard error, so that standard output has the result alone.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Protocol

from remit.cli.output import get_paint, is_quiet, say
from remit.terminal import cut, escape, quote, write

if TYPE_CHECKING:
    from remit.runs.progress import ProgressReader, RunProgress

TELL_EVERY_S = 30.0
_DRAW_EVERY_S = 0.25
_SPINNER = "|/-\\"
_DEFAULT_SIZE = (100, 24)
_HOUR_S = 3600
_STYLES = {"completed": "good", "partial": "warning", "blocked": "warning"}


class Watch(Protocol):
    """Somebody who is shown how it goes."""

    every_s: float

    def begin(self, sentence: str) -> None:
        """It has begun."""
        ...

    def look(self) -> None:
        """Show how it stands."""
        ...

    def tell(self, sentence: str) -> None:
        """Say something besides."""
        ...

    def end(self) -> None:
        """It is over."""
        ...


class Silent:
    """Nobody watches: a program reads the result."""

    every_s = 1.0

    def begin(self, sentence: str) -> None:
        """Nothing."""

    def look(self) -> None:
        """Nothing."""

    def tell(self, sentence: str) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""


class Screen:
    """The last lines of a terminal, which are drawn over."""

    def __init__(self) -> None:
        self._shown = 0

    @staticmethod
    def is_there() -> bool:
        """Whether standard error is a terminal on which something can be drawn over."""
        return not is_quiet() and sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    @staticmethod
    def get_size() -> tuple[int, int]:
        """Columns and lines."""
        try:
            found = os.get_terminal_size(sys.stderr.fileno())
        except (OSError, ValueError):
            return _DEFAULT_SIZE
        return found.columns or _DEFAULT_SIZE[0], found.lines or _DEFAULT_SIZE[1]

    def draw(self, lines: list[str]) -> None:
        """Put lines where the last ones are. None of them is wider than the terminal."""
        back = f"\x1b[{self._shown}A\r\x1b[J" if self._shown else ""
        self._shown = len(lines)
        write(back + "".join(f"{line}\n" for line in lines), stream=sys.stderr)

    def keep(self) -> None:
        """Leave what is drawn; what follows goes below."""
        self._shown = 0


class Tree:
    """A delegation and all below it on a terminal."""

    every_s = _DRAW_EVERY_S

    def __init__(self, following: ProgressReader) -> None:
        self.following = following
        self.screen = Screen()
        self._said = ""
        self._turn = 0

    def begin(self, sentence: str) -> None:
        """Draw the tree, which says it."""
        del sentence
        self.look()

    def look(self) -> None:
        """Draw the tree."""
        self._turn += 1
        seen = self.following.look()
        columns, height = self.screen.get_size()
        room = max(1, height - 3)
        lines = [self._render(each, columns) for each in seen[:room]]
        if len(seen) > room:
            lines.append(f"  … and {len(seen) - room} more: remit ps --tree")
        if self._said:
            lines.append(cut(self._said, columns - 1))
        self.screen.draw(lines)

    def tell(self, sentence: str) -> None:
        """Say something below the tree, as long as it is there."""
        self._said = escape(sentence)
        self.look()

    def end(self) -> None:
        """A tree stays on the screen; a single agent makes room for its result."""
        self._said = ""
        self.look()
        if len(self.following.look()) > 1:
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
        return _SPINNER[self._turn % len(_SPINNER)], "warning" if seen.idle_s else "note"


class Lines:
    """A line at the beginning, and one now and then: for a log."""

    every_s = 1.0

    def __init__(self, following: ProgressReader) -> None:
        self.following = following
        self._told_s = time.monotonic()
        self._may_be_held = True

    def begin(self, sentence: str) -> None:
        """Say it."""
        self.tell(sentence)

    def look(self) -> None:
        """Tell how it stands, if that was not told for long, and at once why it does not begin."""
        if self._may_be_held:
            self._tell_held()
        if time.monotonic() - self._told_s < TELL_EVERY_S:
            return
        self._told_s = time.monotonic()
        open_ones = [each for each in self.following.look() if each.row.ended_ms is None]
        if open_ones:
            last = open_ones[-1]  # whoever was called last is at work, and those above it wait
            self.tell(f"{last.row.session_id}: {last.row.agent}  {render_state(last)}")

    def _tell_held(self) -> None:
        """Say what is said of one that has not begun, such as that no worker is there: once, it may be so for long."""
        own = next(iter(self.following.look()), None)
        if own is None or own.row.state != "admitted":
            self._may_be_held = False
        elif own.said:
            self._may_be_held = False
            self.tell(f"{own.row.session_id}: {own.row.agent} is queued; {own.said}")

    def tell(self, sentence: str) -> None:
        """Say it."""
        say(quote(sentence), stderr=True)

    def end(self) -> None:
        """Nothing: the result follows."""


def make_watch(following: ProgressReader, *, output_format: str) -> Watch:
    """How a delegation is shown while it runs: drawn on a terminal, told in a log, or not at all."""
    if output_format == "json":
        return Silent()
    return Tree(following) if Screen.is_there() else Lines(following)


def render_state(seen: RunProgress) -> str:
    """How a delegation stands, on one line, escaped."""
    row = seen.row
    facts = [*_tell_time(seen)]
    if seen.worker:
        facts.append(f"at {escape(seen.worker)}")
    if seen.tokens is not None:
        facts.append(f"{seen.tokens:,} tokens")
    if seen.cost_usd is not None:
        facts.append(f"${seen.cost_usd:.2f}")
    if seen.idle_s and row.ended_ms is None:
        facts.append(f"nothing heard for {render_clock(seen.idle_s)}")
    if seen.said and row.ended_ms is None:
        facts.append(" ".join(escape(seen.said).split()))
    return "  ".join(facts)


def _tell_time(seen: RunProgress) -> list[str]:
    """Its state, and its time against its deadline."""
    row, now_s = seen.row, time.time()
    if row.started_ms is None or row.state == "admitted":
        waits = "waits for a slot" if seen.is_held else "starting"
        word = row.status or row.stop_reason if row.ended_ms is not None else waits
        return [escape(word or row.state)]
    begun_s = row.started_ms / 1000
    if row.ended_ms is not None:
        word = row.status or row.stop_reason or row.state
        return [escape(word), render_clock(row.ended_ms / 1000 - begun_s)]
    of = "" if row.deadline_ms is None else f" of {render_clock(round(row.deadline_ms / 1000 - begun_s))}"
    return ["running", f"{render_clock(now_s - begun_s)}{of}"]


def render_clock(seconds: float) -> str:
    """A duration as a clock shows it: `0:12`, `1:02:03`."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole % _HOUR_S, 60)
    return f"{whole // _HOUR_S}:{minutes:02}:{rest:02}" if whole >= _HOUR_S else f"{minutes}:{rest:02}"

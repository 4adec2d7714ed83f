"""Logs: the output of an agent, read while it is written.

If Remit can parse the stream of the harness, the lines are the agent's text, its tools and its final message. For other
programs, they are the program's output. For an agent that a harness has started itself, they are the tools and answers
that the hooks recorded. Secrets are redacted, except in raw output.
"""

from __future__ import annotations

import codecs
from itertools import islice
from os import strerror
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.attempts.folders import find_folder, has_session, is_alive
from remit.attempts.output import OutputTail, load_tail, read_out
from remit.attempts.results import load_result
from remit.cluster.workers_status import is_remote
from remit.errors import RunnerError, UsageError
from remit.ledger.events import load_events, read_clock_ms
from remit.ledger.hook_runs import HOOKS_OWNER, list_later_uses
from remit.ledger.runs import count_attempts, list_attempts, load_run
from remit.ledger.texts import list_texts, load_text
from remit.model import ACCEPTABLE
from remit.runners import AttemptOrder
from remit.runners.registry import get_runner
from remit.runs.admission.run_config import read_run_config
from remit.runs.agent_lookup import list_own_runners, load_settings_or_usual
from remit.runs.progress import is_in_harness, name_use
from remit.storage.secrets import MARK, redact
from remit.storage.supervisor_presence import is_present
from remit.views.checks import describe_event
from remit.views.json_builders import build_log_line
from remit.views.remote_output import RemoteOutput
from remit.views.run_snapshots import load_row, open_home

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.attempts.results import ShimResult
    from remit.config import Settings
    from remit.errors import RemitError
    from remit.ledger.events import LedgerEvent
    from remit.ledger.home import Home
    from remit.ledger.runs import AttemptRow, Run
    from remit.runners import Listener, Runner, RunOutput
    from remit.schemas import LogLineObject, LogObject

Stream = Literal["out", "err"]
_PIECE_BYTES = 256 * 1024
_MAX_CODES = 8
_MAX_LINE = 64 * 1024
"""A longer line is shown in parts."""


class LogLine(NamedTuple):
    """A line of an agent's output."""

    attempt: int
    kind: Literal["activity", "text", "final", "trouble", "check"]
    """Activity: a short line on a text or tool. Text: a line of plain output. Final: a line of the final message.
    Trouble: an error. Check: the start or end of an acceptance check."""
    text: str


class RunLog:
    """The output of a run's attempts; each call of `read` returns the lines since the previous call."""

    def __init__(
        self, home: Home, settings: Settings, session_id: str, *, attempt: int | None = None, stream: Stream = "out"
    ) -> None:
        self.home = home
        self.session_id = session_id
        self.stream = stream
        self._row = self._load_row()
        self._runner = _find_runner(self._row, settings)
        self._only = attempt
        self._number = attempt or 1
        self._reading: _Reading | None = None
        self._hooks = _Hooks(home, session_id) if read_run_config(self._row.details).is_harness_run else None
        self._check_events: list[LedgerEvent] = []
        self._check_event = 0
        self._fetched = RemoteOutput(home, session_id)
        self._fetched.fetch(self._row)
        last = self._count_kept()
        if attempt is not None and not 1 <= attempt <= last:
            hint = f"the run has {last}" if last else "no output of this run is stored"
            raise UsageError(f"there is no attempt {attempt} of {session_id}", hint=hint)

    def move(self, home: Home) -> None:
        """Continue with another connection to the same workspace, because a connection belongs to one thread."""
        self.home = self._fetched.home = home
        if self._hooks is not None:
            self._hooks.home = home

    def _load_row(self) -> Run:
        row = load_run(self.home.ledger, self.session_id)
        if row is None:
            raise UsageError(f"no run has the id {self.session_id}", hint="list all runs: remit ps --all")
        return row

    @property
    def is_over(self) -> bool:
        """Whether no output follows. Check it before the last call of `read`."""
        if self._only is not None and self._hooks is None:
            return not self._is_alive(self._only)
        return self._load_row().ended_ms is not None or self._fetched.is_done

    @property
    def trouble(self) -> RemitError | None:
        """Why the output could not be fetched from another machine."""
        return self._fetched.trouble

    def _is_alive(self, number: int) -> bool:
        """Whether an attempt may print more. An attempt on another machine has no process here."""
        row = self._load_row()
        if not is_remote(row):
            return is_alive(self._find_folder(number))
        return row.ended_ms is None and not self._fetched.is_done and number >= self._count_kept()

    @property
    def is_abandoned(self) -> bool:
        """Whether its supervisor and its agent have ended, so no output follows until a process takes over."""
        row = self._load_row()
        if row.owner == HOOKS_OWNER:
            return row.ended_ms is None and not is_in_harness(row, read_clock_ms())
        if is_remote(row):
            return self.trouble is not None and not self.trouble.recoverable
        folder = self._find_folder(max(1, self._count_kept()))
        if row.ended_ms is not None or is_present(self.home, row.owner) or is_alive(folder):
            return False
        now = self._load_row()  # the supervisor may have handed the run over or finished it since the first check
        return now.owner == row.owner and now.ended_ms is None

    def read(self) -> Iterator[LogLine]:
        """Yield the lines since the previous call."""
        if self._hooks is not None:
            yield from self._hooks.read(self._only) if self.stream == "out" else ()
            yield from self._read_checks(self._only)
            return
        self._fetched.fetch(self._load_row())
        if not self._count_kept():
            yield from self._read_answers()
            yield from self._read_checks(self._only)
            return
        while True:
            folder = self._find_folder(self._number)
            reading = self._reading = self._reading or _Reading(self._number, self._make_listener(folder))
            is_alive = self._is_alive(self._number)  # checked before reading, so that the last read gets everything
            while data := read_out(folder, reading.offset, _PIECE_BYTES, stream=self.stream):
                yield from reading.take(data)
            is_last = self._only is not None or self._number >= self._count_kept()
            if not is_alive and not reading.is_finished:
                yield from self._finish(reading, folder)
            if not is_alive:
                yield from self._read_checks(self._number)
            if is_alive or is_last:
                return
            self._number, self._reading = self._number + 1, None

    def _read_checks(self, attempt: int | None) -> Iterator[LogLine]:
        """What the acceptance checks after an attempt do, or those after every attempt, as far as it is new."""
        if self.stream == "err":
            return
        ledger, session_id = self.home.ledger, self.session_id
        while events := load_events(ledger, after=self._check_event, session_id=session_id, kind="check"):
            self._check_event = events[-1].number
            self._check_events += events
        due = [each for each in self._check_events if attempt is None or each.details.get("attempt", 1) <= attempt]
        self._check_events = [each for each in self._check_events if each not in due]
        for each in due:
            number = each.details.get("attempt", 1)
            if self._only in (None, number):
                yield LogLine(number, "check", redact(describe_event(each.details)))

    def read_raw(self) -> Iterator[bytes]:
        """Yield the output since the previous call, unchanged."""
        if self._hooks is not None:
            yield from self._hooks.read_raw(self._only) if self.stream == "out" else ()
            return
        self._fetched.fetch(self._load_row())
        while True:
            folder = self._find_folder(self._number)
            reading = self._reading = self._reading or _Reading(self._number, None)
            is_alive = self._is_alive(self._number)
            while data := read_out(folder, reading.offset, _PIECE_BYTES, stream=self.stream):
                reading.offset += len(data)
                yield data
            is_last = self._only is not None or self._number >= self._count_kept()
            if is_alive or is_last:
                return
            self._number, self._reading = self._number + 1, None

    def _count_kept(self) -> int:
        """Count the attempts whose output is stored: a function has none, and old sessions are removed."""
        if self._hooks is not None:
            return count_attempts(self.home.ledger, self.session_id)
        is_function = bool(self._row.details.get("settings", {}).get("in_process"))
        has_any = not is_function and has_session(self.home, self.session_id)
        return count_attempts(self.home.ledger, self.session_id) if has_any else 0

    def _find_folder(self, number: int) -> str:
        return find_folder(self.home, self.session_id, number)

    def _make_listener(self, folder: str) -> Listener | None:
        """The parser of the runner's output stream; None for plain text."""
        runner: Runner = self._runner
        if self.stream == "err" or not runner.reports_tools:
            return None
        return runner.listen(AttemptOrder(self.session_id, self._row.agent, "", self.home.root, folder))

    def _finish(self, reading: _Reading, folder: str) -> Iterator[LogLine]:
        """Yield the end of an attempt: the last lines, its final message, and its error."""
        result = load_result(folder)
        tail = None if result is None else load_tail(folder, result, stream=self.stream)
        errors = read_out(folder, 0, _PIECE_BYTES, stream="err") if reading.listener is not None else b""
        if result is not None and reading.listener is not None and _has_crashed(result):
            yield from _read_errors(reading.number, folder, result)  # the listener reports how the program ended
        yield from reading.finish(tail, errors=errors, exit_code=None if result is None else result.exit_code)
        if result is not None and reading.listener is None and self.stream == "out":
            yield from _read_crash(reading.number, folder, result)

    def _read_answers(self) -> Iterator[LogLine]:
        """Yield the answers of a function and the traceback of its exception: it has no other output."""
        if self._reading is not None:
            return
        kinds = list_texts(self.home, self.session_id)
        answers = sorted(each for each in kinds if each.startswith("answer-")) if self.stream == "out" else []
        for kind in (*answers, *(each for each in kinds if each == "trace")):
            self._reading = _Reading(1, None)
            text = (load_text(self.home, self.session_id, kind) or b"").decode("utf-8", "replace")
            shown: Literal["trouble", "final"] = "trouble" if kind == "trace" else "final"
            yield from (LogLine(1, shown, line) for line in redact(text).rstrip("\n").split("\n"))


class _Hooks:
    """Reads the tool calls and answers that the hooks of a harness recorded, each once."""

    def __init__(self, home: Home, session_id: str) -> None:
        self.home = home
        self.session_id = session_id
        self._answered = 0
        self._used = 0

    def read(self, only: int | None) -> Iterator[LogLine]:
        """Yield the tools and answers since the previous call, in chronological order."""
        with self.home.ledger.reading() as db:
            uses = list_later_uses(db, self.session_id, self._used)
        for attempt in self._list_answered():
            before = [use for use in uses if use[4] <= (attempt.ended_ms or 0)]
            uses = uses[len(before) :]
            for line in (*self._render_uses(before, attempt.number), *self._render_answer(attempt)):
                if only in (None, attempt.number):
                    yield line
        yield from (line for line in self._render_uses(uses, self._answered + 1) if only in (None, line.attempt))

    def read_raw(self, only: int | None) -> Iterator[bytes]:
        """Yield the answers since the previous call, unchanged."""
        for attempt in self._list_answered():
            if only in (None, attempt.number):
                yield self._load_answer(attempt) + b"\n"

    def _list_answered(self) -> list[AttemptRow]:
        found = list_attempts(self.home.ledger, self.session_id)
        new = [each for each in found if each.number > self._answered and each.ended_ms is not None]
        self._answered = max((each.number for each in new), default=self._answered)
        return new

    def _render_uses(self, uses: Sequence[tuple[int, str, str | None, bool, int]], number: int) -> list[LogLine]:
        self._used = max((use[0] for use in uses), default=self._used)
        return [LogLine(number, "activity", name_use(use[1], use[2]) + (" (failed)" if use[3] else "")) for use in uses]

    def _render_answer(self, attempt: AttemptRow) -> Iterator[LogLine]:
        """Yield the lines of an answer, and its verdict if it isn't acceptable."""
        text = redact(self._load_answer(attempt).decode("utf-8", "replace")).rstrip("\n")
        yield from (LogLine(attempt.number, "final", line) for line in (text.split("\n") if text else ()))
        if attempt.verdict not in ACCEPTABLE:
            codes = dict.fromkeys(str(each.get("code", "")) for each in attempt.diagnostics if isinstance(each, dict))
            reasons = f": {', '.join([*codes][:_MAX_CODES])}" if codes else ""
            yield LogLine(attempt.number, "trouble", redact(f"{attempt.verdict or 'no answer'}{reasons}"))

    def _load_answer(self, attempt: AttemptRow) -> bytes:
        return load_text(self.home, self.session_id, f"answer-{attempt.number}") or b""


def _read_crash(number: int, folder: str, result: ShimResult) -> Iterator[LogLine]:
    """Yield the standard error of a program and how it ended; nothing if its exit code is 0."""
    if result.exit_code == 0:
        return
    yield from _read_errors(number, folder, result)
    if result.signal is not None:
        from signal import Signals

        name = Signals(result.signal).name if result.signal in {*Signals} else f"signal {result.signal}"
        yield LogLine(number, "trouble", f"the program was ended by {name}")
    elif result.exit_code is not None:
        yield LogLine(number, "trouble", f"the program ended with exit code {result.exit_code}")
    elif result.errno is not None:
        yield LogLine(number, "trouble", f"the program could not be started: {strerror(result.errno).lower()}")


def _has_crashed(result: ShimResult) -> bool:
    """Whether a program failed by itself, not by a cancellation or a timeout."""
    return result.stop_reason == "crashed" or (result.stop_reason == "exited" and result.exit_code != 0)


def _read_errors(number: int, folder: str, result: ShimResult) -> Iterator[LogLine]:
    """Yield the lines of standard error."""
    errors = _Reading(number, None)
    while data := read_out(folder, errors.offset, _PIECE_BYTES, stream="err"):
        yield from errors.take(data)
    yield from errors.finish(load_tail(folder, result, stream="err"), errors=b"", exit_code=None)


def _find_runner(row: Run, settings: Settings) -> Runner:
    """The runner whose output is parsed; the plain `command` runner if the run's own runner no longer exists."""
    own, base = list_own_runners(settings), row.details.get("base")
    try:
        return get_runner(row.runner, own | {row.runner: str(base)} if base else own)
    except RunnerError:
        return get_runner("command")


class _Reading:
    """One attempt, as far as it was read."""

    def __init__(self, number: int, listener: Listener | None) -> None:
        self.number = number
        self.listener = listener
        self.offset = 0
        self.is_finished = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._activity = ""
        self._is_in_key = False

    def take(self, data: bytes) -> Iterator[LogLine]:
        """What was printed since, as lines."""
        self.offset += len(data)
        yield from self._digest(data)

    def _digest(self, data: bytes) -> Iterator[LogLine]:
        if self.listener is None:
            yield from self._split(self._decoder.decode(data))
            return
        for line in data.splitlines(keepends=True):
            self.listener.feed(line)
            if line.endswith(b"\n"):
                yield from self._render_activity(self.listener.report())

    def _render_activity(self, output: RunOutput) -> Iterator[LogLine]:
        if output.activity and output.activity != self._activity:
            self._activity = output.activity
            yield LogLine(self.number, "activity", redact(output.activity))

    def _split(self, text: str) -> Iterator[LogLine]:
        *whole, self._text = f"{self._text}{text}".split("\n")
        for line in whole:
            yield LogLine(self.number, "text", self._clean(line.removesuffix("\r")))
        while len(self._text) > _MAX_LINE:
            yield LogLine(self.number, "text", self._clean(self._text[:_MAX_LINE]))
            self._text = self._text[_MAX_LINE:]

    def _clean(self, line: str) -> str:
        """A line without its secrets; a private key has many lines, of which only the first and the last look so."""
        if self._is_in_key:
            self._is_in_key = "-----END " not in line
            return f"{MARK} private key]"
        self._is_in_key = "-----BEGIN " in line and "PRIVATE KEY" in line and "-----END " not in line
        return redact(line)

    def finish(self, tail: OutputTail | None, *, errors: bytes, exit_code: int | None) -> Iterator[LogLine]:
        """The end: no more comes."""
        self.is_finished = True
        if tail is not None:
            yield LogLine(self.number, "trouble", f"{tail.skipped_bytes:,} bytes were not kept here")
            yield from self._digest(b"\n" + tail.data)
        if self.listener is None:
            if self._text:
                yield from self._split("\n")
            return
        output = self.listener.finish(errors=errors, exit_code=exit_code)
        yield from self._render_activity(output)
        if output.text:
            yield from (LogLine(self.number, "final", line) for line in redact(output.text).split("\n"))
        if output.trouble:
            yield LogLine(self.number, "trouble", redact(output.trouble))


# --- numbered lines --------------------------------------------------------------------------------------------------

MOST_LINES = 500
_MOST_LINE = 4_000


class LogTail:
    """Follows what an agent prints; each reading gives what is new, from whichever thread it is asked.

    The lines are numbered from 1 on. To begin after a number, all before it are read and passed over.
    """

    def __init__(self, word: str, *, after: int = 0, attempt: int | None = None) -> None:
        home = open_home()
        try:
            self.session_id = load_row(home, word).session_id
            settings, _ = load_settings_or_usual(home.root)
            self._log = RunLog(home, settings, self.session_id, attempt=attempt)
        finally:
            home.close()
        self._new: Iterator[LogLine] = iter(())
        self._number = 0
        self._after = after

    def read(self, limit: int = MOST_LINES) -> LogObject:
        """The lines that are new, so many at most."""
        home = open_home()
        try:
            self._log.move(home)
            is_over = self._log.is_over or self._log.is_abandoned  # before the reading: nothing comes after the last
            shown: list[LogLineObject] = []
            is_all = False
            while len(shown) < limit and not is_all:
                found = [*islice(self._new, limit - len(shown))]
                is_all = not found
                if is_all:
                    self._new = self._log.read()
                    found = [*islice(self._new, limit - len(shown))]
                    is_all = not found
                shown += [*self._number_lines(found)]
        finally:
            home.close()
        return {"items": shown, "finished": is_over and is_all, "next": self._number}

    def _number_lines(self, found: list[LogLine]) -> Iterator[LogLineObject]:
        for line in found:
            self._number += 1
            if self._number > self._after:
                yield build_log_line(line._replace(text=line.text[:_MOST_LINE]), self._number)


def load_log(word: str, *, after: int = 0, attempt: int | None = None, limit: int = MOST_LINES) -> LogObject:
    """The lines of a log after a number."""
    return LogTail(word, after=after, attempt=attempt).read(limit)

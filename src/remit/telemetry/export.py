"""Telemetry export: sends finished runs to an OpenTelemetry receiver.

It follows the ledger and sends nothing while agents work. A command about runs sends, at its end, every run that was
finished since the last time, by any process; a server does so every few seconds. What the receiver didn't accept stays
for the next command. A failure here never changes how a command ends.
"""

from __future__ import annotations

import os
import time
from threading import Event, Thread
from typing import TYPE_CHECKING

from remit.commands import find_command, skip_root_options
from remit.errors import BusyError, RemitError, how_to_install
from remit.runs.admission.tickets import TICKET
from remit.runs.admission.trace_context import is_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.ledger.followers import FinishedBatch
    from remit.ledger.home import Home
    from remit.telemetry.otlp import SendResult

TAKES_S = 2.0
"""So much longer a command may take, whatever the receiver does."""
_EVERY_S, _RARELY_S = 5.0, 60.0
"""How often a server sends, and how often it tries while that fails."""
_SIGNALS = ("traces", "metrics")
_SPOKEN = "http/protobuf"
_DAY_MS = 24 * 60 * 60 * 1000
_LATER = "unsent data stays for the next command"


def carry_out(args: list[str], run: Callable[[list[str]], int], say: Callable[[str], None]) -> int:
    """Run a command line, and send what was settled until its end; the command's exit code.

    An agent sends nothing: whoever started it does. Where to is not to be its choice, nor that of the settings that a
    repository has for its runner.
    """
    if not (is_on(os.environ) and TICKET not in os.environ and _touches_runs(args)):
        return run(args)
    begun_ms = time.time_ns() // 1_000_000
    entry = find_command(args)
    following = _Following(begun_ms, say) if entry is not None and entry.is_server else None
    try:
        return run(args)
    finally:
        if following is not None:
            following.end()
        trouble = send(begun_ms)
        if trouble:
            say(trouble)


def _touches_runs(args: list[str]) -> bool:
    """Return whether a command line asks for one of Remit's commands that run agents, or for one of the workspace's own."""
    words = skip_root_options(args)
    entry = find_command(words)
    if entry is None:
        return len(words) > 1 and words[0] == "task" and not words[1].startswith("-")
    return entry.runs_agents or entry.is_server


class _Following:
    """Sends every few seconds, beside what a server does."""

    def __init__(self, begun_ms: int, say: Callable[[str], None]) -> None:
        self._over = Event()
        Thread(target=self._go_on, args=(begun_ms, say), name="remit-telemetry", daemon=True).start()

    def _go_on(self, begun_ms: int, say: Callable[[str], None]) -> None:
        pause_s, last = _EVERY_S, ""
        while not self._over.wait(pause_s):
            trouble = _send_safely(begun_ms, time.monotonic() + TAKES_S)
            if trouble and trouble != last:
                say(trouble)
            last = trouble
            pause_s = min(2 * pause_s, _RARELY_S) if trouble else _EVERY_S

    def end(self) -> None:
        """Send no more."""
        self._over.set()


def send(begun_ms: int) -> str:
    """Send what was settled and is not sent yet; what went wrong, in a sentence, or nothing.

    `begun_ms`: who sends for the first time begins with what was settled from then on. It is done in a thread of its
    own: a receiver that answers drop by drop can keep a connection open for as long as it likes.
    """
    deadline = time.monotonic() + TAKES_S
    said: list[str] = []
    thread = Thread(target=lambda: said.append(_send_safely(begun_ms, deadline)), name="remit-send", daemon=True)
    thread.start()
    try:
        thread.join(TAKES_S)
    except KeyboardInterrupt:  # nobody wants to wait for this
        return ""
    return said[0] if said else _describe_failure("traces", f"didn't accept it within {TAKES_S:.0f} s")


def _send_safely(begun_ms: int, deadline: float) -> str:
    try:
        return _send(begun_ms, deadline)
    except RemitError as error:
        return f"telemetry: {error.message}; {_LATER}"
    except Exception as error:  # noqa: BLE001 - a door's outermost line: no command fails for this
        return f"telemetry: not sent because of {type(error).__name__}; {_LATER}"


def _send(begun_ms: int, deadline: float) -> str:
    from remit.ledger.home import Home
    from remit.storage.locks import hold_lock
    from remit.storage.settings import find_workspace

    try:
        home = Home(find_workspace())
    except RemitError:  # the command has told
        return ""
    if not os.path.lexists(home.ledger_file):
        return ""
    try:
        with hold_lock(f"{home.make_folder('locks')}/telemetry.lock", seconds=TAKES_S / 2):
            told = [_send_all(home, signal, begun_ms, deadline) for signal in _SIGNALS if _is_wanted(signal)]
            return next(filter(None, told), "")
    except BusyError:  # another is at it
        return ""
    finally:
        home.close()


def _is_wanted(signal: str) -> bool:
    """Return whether spans, or numbers, are to be sent anywhere: each has a cursor, since who takes one may not the other."""
    given = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get(_name_variable(signal, "ENDPOINT"))
    return bool(given) and os.environ.get(f"OTEL_{signal.upper()}_EXPORTER", "otlp").strip().lower() != "none"


def _name_variable(signal: str, what: str) -> str:
    return f"OTEL_EXPORTER_OTLP_{signal.upper()}_{what}"


def _send_all(home: Home, signal: str, begun_ms: int, deadline: float) -> str:
    """Send page after page, as long as there is time; what went wrong."""
    from remit.ledger.followers import finish_batch, take_batch

    told = ""
    while time.monotonic() < deadline:
        batch = take_batch(home.ledger, signal, since_ms=begun_ms)
        if batch is None:
            break
        unable = _find_unable(signal)
        if unable:
            return _report_once_a_day(home, unable)
        answer = _send_batch(home, batch, deadline)
        if not answer.is_taken:
            told = _describe_failure(signal, answer.told, is_final=answer.is_final)
        if not (answer.is_taken or answer.is_final):
            break
        finish_batch(home.ledger, batch)
    return told


def _find_unable(signal: str) -> str:
    """Return why nothing can be sent from here, whoever the receiver is."""
    name = _name_variable(signal, "PROTOCOL")
    name = name if os.environ.get(name) else "OTEL_EXPORTER_OTLP_PROTOCOL"
    spoken = os.environ.get(name) or _SPOKEN
    if spoken.strip().lower() != _SPOKEN:
        return f"telemetry: {name} names another protocol than {_SPOKEN}, the only one that Remit supports"
    try:
        import remit.telemetry.otlp  # noqa: F401 - only whether it can be
    except ImportError:
        return f"telemetry: an endpoint is set, but opentelemetry isn't installed; {how_to_install('otel')}"
    return ""


def _send_batch(home: Home, batch: FinishedBatch, deadline: float) -> SendResult:
    from remit.telemetry.metrics import add_up
    from remit.telemetry.otlp import send_points, send_spans
    from remit.telemetry.spans import list_spans, load_run_telemetry

    every = [told for told in (load_run_telemetry(home, each) for each in batch.finished) if told is not None]
    seconds = max(deadline - time.monotonic(), 0.1)
    if batch.follower == "traces":
        spans = [span for told in every for span in list_spans(home, told)]
        return send_spans(spans, place=home.folder, seconds=seconds)
    points, begin_ms = add_up(every), batch.cursor.at_ms
    return send_points(points, place=home.folder, seconds=seconds, begin_ms=begin_ms, end_ms=batch.until_ms)


def _describe_failure(signal: str, what: str, *, is_final: bool = False) -> str:
    """One sentence, with no more of the receiver's address than who it is: the rest may be secret."""
    from urllib.parse import urlsplit

    from remit.storage.secrets import redact

    given = os.environ.get(_name_variable(signal, "ENDPOINT")) or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    try:
        parts = urlsplit(given)
        name = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.netloc else "the receiver"
    except ValueError:
        name = "the receiver"
    then = "it will never accept this data, so Remit skips it" if is_final else _LATER
    return f"telemetry: {redact(name)} {what}; {then}"


def _report_once_a_day(home: Home, told: str) -> str:
    from remit.ledger.events import read_clock_ms

    note, now_ms = "telemetry reported", read_clock_ms()
    last = home.ledger.get_note(note) or ""
    if last.isdigit() and 0 <= now_ms - int(last) < _DAY_MS:
        return ""
    home.ledger.set_note(note, str(now_ms))
    return told

"""Telemetry export: sends finished runs to an OpenTelemetry receiver.

It follows the ledger and sends nothing while agents run. At its end, a command about runs sends all runs that any
process has finished since the last time; a server does that every few seconds. Data that the receiver didn't accept
stays for the next command. A failure here never changes the exit code of a command.
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

SEND_SECONDS = 2.0
"""How long sending may delay the end of a command."""
_INTERVAL_S, _MAX_INTERVAL_S = 5.0, 60.0
"""The interval in which a server sends, and its maximum while sending fails."""
_SIGNALS = ("traces", "metrics")
_PROTOCOL = "http/protobuf"
_DAY_MS = 24 * 60 * 60 * 1000
_LATER = "unsent data stays for the next command"


def run_and_send(args: list[str], run: Callable[[list[str]], int], warn: Callable[[str], None]) -> int:
    """Run a command line, send the runs that are finished by its end, and return the command's exit code.

    A command of an agent sends nothing, because the agent's caller does. Neither the agent nor the settings of a
    repository may choose the receiver.
    """
    if not (is_on(os.environ) and TICKET not in os.environ and _touches_runs(args)):
        return run(args)
    begun_ms = time.time_ns() // 1_000_000
    entry = find_command(args)
    sender = _PeriodicSender(begun_ms, warn) if entry is not None and entry.is_server else None
    try:
        return run(args)
    finally:
        if sender is not None:
            sender.end()
        trouble = send(begun_ms)
        if trouble:
            warn(trouble)


def _touches_runs(args: list[str]) -> bool:
    """Return whether a command line is a command that runs agents or serves, or a task command of the workspace."""
    words = skip_root_options(args)
    entry = find_command(words)
    if entry is None:
        return len(words) > 1 and words[0] == "task" and not words[1].startswith("-")
    return entry.runs_agents or entry.is_server


class _PeriodicSender:
    """A thread that sends every few seconds while a server runs."""

    def __init__(self, begun_ms: int, warn: Callable[[str], None]) -> None:
        self._over = Event()
        Thread(target=self._run, args=(begun_ms, warn), name="remit-telemetry", daemon=True).start()

    def _run(self, begun_ms: int, warn: Callable[[str], None]) -> None:
        pause_s, last = _INTERVAL_S, ""
        while not self._over.wait(pause_s):
            trouble = _send_safely(begun_ms, time.monotonic() + SEND_SECONDS)
            if trouble and trouble != last:
                warn(trouble)
            last = trouble
            pause_s = min(2 * pause_s, _MAX_INTERVAL_S) if trouble else _INTERVAL_S

    def end(self) -> None:
        """Stop sending."""
        self._over.set()


def send(begun_ms: int) -> str:
    """Send the finished runs that weren't sent yet; return the problem in a sentence, or an empty text.

    `begun_ms`: the first time, only runs that finished after this moment are sent. A thread sends them, because a slow
    receiver could keep the connection open for any time.
    """
    deadline = time.monotonic() + SEND_SECONDS
    problems: list[str] = []
    thread = Thread(target=lambda: problems.append(_send_safely(begun_ms, deadline)), name="remit-send", daemon=True)
    thread.start()
    try:
        thread.join(SEND_SECONDS)
    except KeyboardInterrupt:  # the user doesn't want to wait
        return ""
    return problems[0] if problems else _describe_failure("traces", f"didn't accept it within {SEND_SECONDS:.0f} s")


def _send_safely(begun_ms: int, deadline: float) -> str:
    try:
        return _send(begun_ms, deadline)
    except RemitError as error:
        return f"telemetry: {error.message}; {_LATER}"
    except Exception as error:  # noqa: BLE001 - no command may fail because of telemetry
        return f"telemetry: not sent because of {type(error).__name__}; {_LATER}"


def _send(begun_ms: int, deadline: float) -> str:
    from remit.ledger.home import Home
    from remit.storage.locks import hold_lock
    from remit.storage.settings import find_workspace

    try:
        home = Home(find_workspace())
    except RemitError:  # the command has reported it
        return ""
    if not os.path.lexists(home.ledger_file):
        return ""
    try:
        with hold_lock(f"{home.make_folder('locks')}/telemetry.lock", seconds=SEND_SECONDS / 2):
            problems = [_send_all(home, signal, begun_ms, deadline) for signal in _SIGNALS if _is_wanted(signal)]
            return next(filter(None, problems), "")
    except BusyError:  # another process is sending
        return ""
    finally:
        home.close()


def _is_wanted(signal: str) -> bool:
    """Return whether a receiver for a signal is set. Each signal has a cursor, because a receiver may take only one."""
    given = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get(_name_variable(signal, "ENDPOINT"))
    return bool(given) and os.environ.get(f"OTEL_{signal.upper()}_EXPORTER", "otlp").strip().lower() != "none"


def _name_variable(signal: str, what: str) -> str:
    return f"OTEL_EXPORTER_OTLP_{signal.upper()}_{what}"


def _send_all(home: Home, signal: str, begun_ms: int, deadline: float) -> str:
    """Send batch after batch until the deadline; return the problem, or an empty text."""
    from remit.ledger.followers import finish_batch, take_batch

    problem = ""
    while time.monotonic() < deadline:
        batch = take_batch(home.ledger, signal, since_ms=begun_ms)
        if batch is None:
            break
        obstacle = _find_obstacle(signal)
        if obstacle:
            return _report_once_a_day(home, obstacle)
        answer = _send_batch(home, batch, deadline)
        if not answer.is_accepted:
            problem = _describe_failure(signal, answer.problem, is_final=answer.is_final)
        if not (answer.is_accepted or answer.is_final):
            break
        finish_batch(home.ledger, batch)
    return problem


def _find_obstacle(signal: str) -> str:
    """Return why nothing can be sent to any receiver; empty if it can."""
    name = _name_variable(signal, "PROTOCOL")
    name = name if os.environ.get(name) else "OTEL_EXPORTER_OTLP_PROTOCOL"
    protocol = os.environ.get(name) or _PROTOCOL
    if protocol.strip().lower() != _PROTOCOL:
        return f"telemetry: {name} names another protocol than {_PROTOCOL}, the only one that Remit supports"
    try:
        import remit.telemetry.otlp  # noqa: F401 - to see whether the import works
    except ImportError:
        return f"telemetry: an endpoint is set, but opentelemetry isn't installed; {how_to_install('otel')}"
    return ""


def _send_batch(home: Home, batch: FinishedBatch, deadline: float) -> SendResult:
    from remit.telemetry.metrics import sum_metrics
    from remit.telemetry.otlp import send_points, send_spans
    from remit.telemetry.spans import list_spans, load_run_telemetry

    runs = [run for run in (load_run_telemetry(home, each) for each in batch.finished) if run is not None]
    seconds = max(deadline - time.monotonic(), 0.1)
    if batch.follower == "traces":
        spans = [span for run in runs for span in list_spans(home, run)]
        return send_spans(spans, place=home.folder, seconds=seconds)
    points, begin_ms = sum_metrics(runs), batch.cursor.at_ms
    return send_points(points, place=home.folder, seconds=seconds, begin_ms=begin_ms, end_ms=batch.until_ms)


def _describe_failure(signal: str, what: str, *, is_final: bool = False) -> str:
    """Return one sentence with only the host of the receiver's address, because the rest may be secret."""
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


def _report_once_a_day(home: Home, problem: str) -> str:
    from remit.ledger.events import read_clock_ms

    note, now_ms = "telemetry reported", read_clock_ms()
    last = home.ledger.get_note(note) or ""
    if last.isdigit() and 0 <= now_ms - int(last) < _DAY_MS:
        return ""
    home.ledger.set_note(note, str(now_ms))
    return problem

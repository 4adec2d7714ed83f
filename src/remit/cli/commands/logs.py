"""`remit logs`: the output of a run, also while the run continues."""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.output import get_paint, print_json, print_lines, warn_about_settings
from remit.errors import UsageError
from remit.terminal import escape, quote, write_bytes
from remit.views.render import ACCEPTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from remit.views.logs import LogLine, RunLog

_LOOK_S = 0.2


@click.command(cls=options.Command)
@click.argument("session", metavar="[ID]", required=False, shell_complete=completion.complete_sessions)
@click.option("--follow", "-f", is_flag=True, help="Continue until the run ends.")
@click.option("-n", "--lines", type=options.parse_number, metavar="N", help="Only the last N lines.")
@click.option("--attempt", type=options.parse_number, metavar="N", help="Only this attempt.")
@click.option("--err", is_flag=True, help="Standard error instead of standard output.")
@click.option("--raw", is_flag=True, help="Raw bytes, including secrets.")
@options.output_format("full", "json")
def logs(
    session: str | None,
    *,
    follow: bool,
    lines: int | None,
    attempt: int | None,
    err: bool,
    raw: bool,
    output_format: str,
) -> int:
    """Show what an agent said and which tools it used, or what its program printed, with the final message last.

    If the program failed, its standard error and how it ended follow. ID can be cut short at either end; without one,
    or with -, it is the last run. Output can't control the terminal, and secrets are removed. --json prints a line of
    JSON for each line.

    Exit code 0: shown, 2: could not run.
    """
    if raw and lines is not None:
        raise UsageError("can't combine --raw with -n", hint="leave out -n, or use: remit logs --raw | tail -n N")
    from remit.runs.agent_lookup import load_settings_or_usual
    from remit.views.logs import RunLog
    from remit.views.run_snapshots import find_session, open_home

    home = open_home()
    try:
        wanted = find_session(home, session)
        settings, trouble = load_settings_or_usual(home.root)
        warn_about_settings(trouble)
        log = RunLog(home, settings, wanted, attempt=attempt, stream="err" if err else "out")
        show = _show_raw if raw else _make_show(output_format, last=lines)
        is_empty = not _read(log, show, follow=follow)
    finally:
        home.close()
    if is_empty and not raw and output_format == "full":
        print_lines(f"nothing was printed{' on standard error' if err else ''}", stderr=True)
    return ACCEPTED


def _read(log: RunLog, show: Callable[[RunLog], int], *, follow: bool) -> int:
    """Print the log, with `follow` until the run ends, and return the number of printed lines or chunks."""
    warning, shown = "", 0
    while True:
        is_over = not follow or log.is_over
        shown += show(log)
        if log.trouble is not None and str(log.trouble) != warning:
            warning = str(log.trouble)
            print_lines(f"{get_paint(stderr=True)('warning', '!')} {quote(warning)}", stderr=True)
        if is_over:
            return shown
        if log.is_abandoned:
            shown += show(log)
            if log.trouble is not None:
                return shown
            session = escape(log.session_id)
            print_lines(
                f"no process supervises the run, and its agent has ended; to recover it, run: remit wait {session}",
                stderr=True,
            )
            return shown
        time.sleep(_LOOK_S)


def _show_raw(log: RunLog) -> int:
    """Print raw bytes; on a terminal, print them as escaped text."""
    is_terminal, shown = sys.stdout is not None and sys.stdout.isatty(), 0
    for data in log.read_raw():
        shown += 1
        if is_terminal:
            write_bytes(escape(data.decode("utf-8", "replace"), keep="\n\t").encode(), stream=sys.stdout)
        else:
            write_bytes(data, stream=sys.stdout)
    return shown


def _make_show(output_format: str, *, last: int | None) -> Callable[[RunLog], int]:
    """Return a function that prints new lines, with a heading per attempt; the first call prints only the last N."""
    attempt, kind, number, is_first = 1, "", 0, True

    def show(log: RunLog) -> int:
        nonlocal attempt, kind, number, is_first
        lines: Iterable[tuple[int, LogLine]] = enumerate(log.read(), number + 1)
        if is_first and last is not None:
            lines = deque(lines, maxlen=last)
        is_first, shown = False, 0
        for number, line in lines:
            shown += 1
            if output_format == "json":
                from remit.views.json_builders import build_log_line

                print_json(build_log_line(line, number), pretty=False)
                continue
            if line.attempt != attempt:
                print_lines(get_paint()("strong", f"attempt {line.attempt}"))
            elif line.kind == "final" and kind == "activity":
                print_lines("")
            attempt, kind = line.attempt, line.kind
            print_lines(_render(line))
        return shown

    return show


def _render(line: LogLine) -> str:
    text = escape(line.text, keep="\t")
    if line.kind in ("activity", "check"):
        return f"{get_paint()('note', '·')} {text}"
    return f"{get_paint()('warning', '!')} {text}" if line.kind == "trouble" else text

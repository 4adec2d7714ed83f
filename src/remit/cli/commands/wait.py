"""`remit wait` and `remit cancel`: wait for runs that were already started, or cancel them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.output import get_paint, print_json, print_lines, report_error, warn_about_settings
from remit.cli.result_output import get_result_code, print_result
from remit.cli.run_options import parse_duration
from remit.terminal import escape
from remit.views.json_builders import build_error, build_list, build_result
from remit.views.render import ACCEPTED, NOT_ACCEPTED, get_exit_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.runs.run_control import WaitResult
    from remit.runs.workspace import Workspace
    from remit.schemas import ResultObject, UnfinishedRunObject

_MAX_REASON = 200


@click.command(cls=options.Command)
@click.argument("sessions", metavar="[ID…]", nargs=-1, shell_complete=completion.complete_sessions)
@click.option(
    "--timeout", type=parse_duration, metavar="TIME", help="Time limit for waiting: 90, 90s, 15m or 2h. Default: none."
)
@options.output_format("full", "json")
def wait(sessions: tuple[str, ...], *, timeout: float | None, output_format: str) -> int:
    """Wait until runs end, and show their results; without ID, wait for the last run.

    If a run's process has died, remit wait takes over. Ctrl-C ends only the waiting. --json prints a result, or a list
    of results for several IDs. Exit code 0: all completed, 1: one is partial, failed, blocked or not over, 2: refused
    or could not run.
    """
    import asyncio

    from remit.ledger.runs import load_run
    from remit.runs.workspace import Workspace
    from remit.views.run_snapshots import find_session

    ws = Workspace.open(lenient=True)
    warn_about_settings(ws.trouble)
    wanted = [*dict.fromkeys(find_session(ws.home, each) for each in sessions or (None,))]
    for each in wanted:
        row = load_run(ws.home.ledger, each)
        if output_format != "json" and row is not None and row.state == "finished":
            print_lines(f"{escape(each)} had already finished", stderr=True)
    waited = asyncio.run(_wait(ws, wanted, timeout, output_format))
    if len(waited) == 1 and waited[0].error is not None:
        raise waited[0].error
    return _print_results(waited, output_format=output_format, as_list=len(wanted) > 1)


async def _wait(ws: Workspace, wanted: Sequence[str], timeout_s: float | None, output_format: str) -> list[WaitResult]:
    """Wait for runs, and show the progress of a single run on a terminal."""
    import asyncio

    from remit.cli.live import Screen, Silent, Tree
    from remit.runs.progress import ProgressReader
    from remit.runs.run_control import wait_for

    is_shown = output_format != "json" and len(wanted) == 1 and Screen.is_available()
    display = Tree(ProgressReader(ws.home, wanted[0])) if is_shown else Silent()
    try:
        waiting = asyncio.ensure_future(wait_for(ws, wanted, timeout_s=timeout_s))
        while not (await asyncio.wait({waiting}, timeout=display.interval_s))[0]:
            display.update()
        if is_shown:
            display.end()
        return waiting.result()
    finally:
        await ws.close()


def _print_results(waited: Sequence[WaitResult], *, output_format: str, as_list: bool) -> int:
    from remit.runs.run_control import describe_open

    if output_format == "json":
        built = [_build_waited(each) for each in waited]
        print_json(build_list(built) if as_list else built[0])
    else:
        for each in waited:
            if each.result is not None:
                print_result(each.result)
            elif each.error is not None:
                report_error(each.error)
            else:
                more = "" if each.harness else "; see: remit ps"
                print_lines(f"{get_paint()('warning', '·')} {escape(describe_open(each))}{more}")
    return max(map(_get_code, waited), default=ACCEPTED)


def _get_code(waited: WaitResult) -> int:
    if waited.error is not None:
        return get_exit_code(waited.error)
    return NOT_ACCEPTED if waited.result is None else get_result_code(waited.result)


def _build_waited(waited: WaitResult) -> ResultObject | UnfinishedRunObject:
    from remit.runs.run_control import describe_open

    if waited.result is not None:
        return build_result(waited.result)
    built: UnfinishedRunObject = {"session_id": waited.session_id, "status": None, "finished": False}
    if waited.harness:
        built["harness"], built["message"] = waited.harness, describe_open(waited)
    if waited.error is not None:
        built["error"] = build_error(waited.error)
    return built


@click.command(cls=options.Command)
@click.argument("session", metavar="ID", shell_complete=completion.complete_sessions)
@click.option("--reason", metavar="TEXT", help="Reason, which the result shows.")
@options.output_format("full", "json")
def cancel(session: str, *, reason: str | None, output_format: str) -> int:
    """Cancel a run and its nested runs. Every process that Remit started for them has ended afterwards.

    A subagent that a harness started gets no more tools, and is cancelled when it stops. The result names the files
    that changed. ID can be cut short at either end; - is the last run. Exit code 0: cancelled or already over, 1: not
    stopped yet, or its finish steps are not done, 2: refused or could not run.
    """
    import asyncio

    from remit.runs.run_control import list_open
    from remit.runs.workspace import Workspace
    from remit.views.run_snapshots import find_session

    ws = Workspace.open(lenient=True)
    warn_about_settings(ws.trouble)
    wanted = find_session(ws.home, session)
    is_over = not list_open(ws.home, wanted)
    waited = asyncio.run(_cancel(ws, wanted, " ".join((reason or "").split())[:_MAX_REASON]))
    if is_over:
        print_lines(f"nothing was cancelled: {escape(wanted)} had already finished", stderr=True)
    _print_results([waited], output_format=output_format, as_list=False)
    return ACCEPTED if waited.result is not None else NOT_ACCEPTED


async def _cancel(ws: Workspace, session_id: str, reason: str) -> WaitResult:
    from remit.runs.run_control import cancel as end

    try:
        return await end(ws, session_id, reason=reason)
    finally:
        await ws.close()

"""`remit resume` and `remit retry`: continue a run in its harness session, or run the same request again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options, run_options
from remit.cli.commands import completion
from remit.cli.commands.run import carry_out, read_prompt, report_detached

if TYPE_CHECKING:
    from remit.runs.request import Request
    from remit.runs.workspace import Workspace

_detach = click.option("--detach", is_flag=True, help="Start in the background and print the run ID.")


@click.command(cls=options.Command)
@click.argument("session", metavar="ID", shell_complete=completion.complete_sessions)
@click.argument("prompt", metavar="[PROMPT…]", nargs=-1)
@run_options.with_limit_options
@_detach
@options.output_format("full", "json")
def resume(session: str, prompt: tuple[str, ...], *, detach: bool, output_format: str, **given: Any) -> int:  # noqa: ANN401 - options
    """Continue a run that is partial or blocked, in the session that its harness kept.

    PROMPT is the next message to the agent. Default: to finish its work. This is a new run with the same request, and
    files that the earlier run changed count as its own. To repeat a failed run from the beginning, use remit retry. ID
    can be cut short at either end; - is the last run. Exit code as of remit run.
    """
    from remit.runs.resume_retry import make_resume
    from remit.runs.workspace import Workspace
    from remit.views.run_snapshots import find_session

    ws = Workspace.open()
    wanted = find_session(ws.home, session)
    request = make_resume(ws, wanted, read_prompt(prompt), run_options.gather_limits(given))
    return _carry_out(ws, request, detach=detach, output_format=output_format)


@click.command(cls=options.Command)
@click.argument("session", metavar="ID", shell_complete=completion.complete_sessions)
@run_options.with_limit_options
@_detach
@options.output_format("full", "json")
def retry(session: str, *, detach: bool, output_format: str, **given: Any) -> int:  # noqa: ANN401 - options
    """Run the same request again from the beginning: the same agent, prompt, inputs and options.

    The agent's file, the settings and the task are read again. To repeat remit task research, plan or implement, use
    that command, which also moves the task. ID can be cut short at either end; - is the last run. Exit code as of remit
    run.
    """
    from remit.runs.resume_retry import make_retry
    from remit.runs.workspace import Workspace
    from remit.views.run_snapshots import find_session

    ws = Workspace.open()
    request = make_retry(ws, find_session(ws.home, session), run_options.gather_limits(given))
    return _carry_out(ws, request, detach=detach, output_format=output_format)


def _carry_out(ws: Workspace, request: Request, *, detach: bool, output_format: str) -> int:
    if not detach:
        return carry_out(ws, request, output_format=output_format)
    from remit.runs.run_control import detach as detach_run

    prepared = detach_run(ws, request)
    ws.home.close()
    return report_detached(prepared, output_format)

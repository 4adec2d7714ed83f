"""Hidden commands that other programs start: `remit hook` for harnesses, `remit drive` for detached runs.

`remit.cli.main` answers `remit hook HARNESS` itself; this module is loaded only if the command line has options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.output import print_json
from remit.cli.result_output import get_result_code
from remit.errors import UsageError
from remit.harnesses import HOOKED
from remit.views.json_builders import build_result

if TYPE_CHECKING:
    from remit.result import Result


@click.command(cls=options.Command)
@click.argument("harness", type=click.Choice(HOOKED))
@click.argument("check_seconds", metavar="[SECONDS]", required=False)
def hook(harness: str, check_seconds: str | None) -> int:
    """Read one event of HARNESS as JSON from standard input, and print the decision.

    A harness starts this: remit hooks install claude sets it up. SECONDS: how much longer the harness waits for
    acceptance checks. Without a decision it prints nothing. Exit code 0: the output counts; 2: the event could not be
    read, and the action is refused.
    """
    from remit.hooks.main import main

    main([harness] if check_seconds is None else [harness, check_seconds])
    return 0


def _parse_handle(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < options.MAX_DIGITS and int(value) > 2):  # noqa: PLR2004 - standard error
        raise UsageError(f"'{value}' is not an open file", hint="start it with: remit run --detach")
    return int(value)


@click.command(cls=options.Command, hidden=True)
@click.argument("session_id", metavar="SESSION")
@click.option(
    "--held", type=_parse_handle, metavar="FD", help="Open file with the lock that the starting process passes on."
)
def drive(session_id: str, *, held: int | None) -> int:
    """Supervise a detached run until it ends, and print its result as JSON to the log."""
    import asyncio

    from remit.runs.run_control import drive_detached
    from remit.runs.workspace import Workspace

    async def drive_one() -> Result:
        ws = Workspace.open()
        try:
            return await drive_detached(ws, session_id, held=held)
        finally:
            await ws.close()

    result = asyncio.run(drive_one())
    print_json(build_result(result))
    return get_result_code(result)

"""`remit drive`: what `remit run --detach` starts. Nobody types it, and no help shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.doors.cli import options
from remit.doors.cli.envelopes import get_envelope_code, shape_envelope
from remit.doors.cli.output import say_json
from remit.errors import UsageError

if TYPE_CHECKING:
    from remit.delegate.reporting.envelope import Envelope


def _parse_handle(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < options.MAX_DIGITS and int(value) > 2):  # noqa: PLR2004 - standard error
        raise UsageError(f"'{value}' is not an open file", hint="start it with: remit run --detach")
    return int(value)


@click.command(cls=options.Command, hidden=True)
@click.argument("session_id", metavar="SESSION")
@click.option("--held", type=_parse_handle, metavar="FD", help="The open file of the broker that has it until now.")
def drive(session_id: str, *, held: int | None) -> int:
    """Drive a delegation that was detached, to its end. Its envelope goes to the log as JSON."""
    import asyncio

    from remit.app.delegating import detaching
    from remit.app.delegating.workspace import Workspace

    async def drive_one() -> Envelope:
        ws = Workspace.open()
        try:
            return await detaching.drive(ws, session_id, held=held)
        finally:
            await ws.close()

    envelope = asyncio.run(drive_one())
    say_json(shape_envelope(envelope))
    return get_envelope_code(envelope)

"""The output of an agent on another machine, fetched from the database.

The output is stored where agents of this machine have their output, so readers of logs need not know where an agent
runs. Only new output is fetched.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

from remit.attempts.folders import AttemptFolder, find_folder, make_attempt
from remit.attempts.output import add_copy, measure_copy
from remit.cluster.workers_status import find_address, is_remote, run_with_timeout
from remit.errors import ClusterError, RemitError
from remit.ledger.runs import REMOTE_OWNER, begin_attempt, count_attempts
from remit.storage.supervisor_presence import is_present

if TYPE_CHECKING:
    from remit.cluster.database.session_rows import SessionRow
    from remit.ledger.home import Home
    from remit.ledger.runs import Run

_EVERY_S, _QUIET_S = 1.0, 5.0
"""The interval of fetches, and the pause after a database did not answer."""
_SECONDS = 10.0
"""The timeout of a fetch; output can be large."""
_MOST_ATTEMPTS = 100
_STREAMS: tuple[Literal["out", "err"], ...] = ("out", "err")


class RemoteOutput:
    """The output of a run that another machine executes."""

    def __init__(self, home: Home, session_id: str) -> None:
        self.home = home
        self.session_id = session_id
        self.trouble: RemitError | None = None
        """Why the last fetch failed."""
        self.is_done = False
        """Whether its worker has reported the result, so no output follows."""
        self._next_s = 0.0

    def fetch(self, row: Run) -> None:
        """Fetch new output, unless a process of this machine does or the last fetch was too recent."""
        is_here = row.owner != REMOTE_OWNER and (row.ended_ms is not None or is_present(self.home, row.owner))
        if not is_remote(row) or is_here or self.is_done or time.monotonic() < self._next_s:
            return
        try:
            self._fetch()
            self.trouble = None
        except RemitError as error:
            self.trouble = error
        self._next_s = time.monotonic() + (_EVERY_S if self.trouble is None else _QUIET_S)

    def _fetch(self) -> None:
        url = find_address(self.home.root)
        if not url:
            hint = "set `backend`, or REMIT_BACKEND, to the database that it was sent through"
            raise ClusterError(f"{self.session_id} is done by another machine, and no backend is set", hint=hint)
        places = {
            (number, stream): measure_copy(self._get_attempt(number), stream)
            for number in range(1, count_attempts(self.home.ledger, self.session_id) + 1)
            for stream in _STREAMS
        }
        from remit.cluster.database.driver import render_url

        row, pieces = run_with_timeout(lambda: _load(url, self.session_id, places), render_url(url), _SECONDS)
        for (number, stream), data in pieces.items():
            begin_attempt(self.home.ledger, self.session_id, number)
            attempt = make_attempt(self.home, self.session_id, number)
            add_copy(attempt, stream, places.get((number, stream), 0), data)
        self.is_done = row is not None and row.state == "done"

    def _get_attempt(self, number: int) -> AttemptFolder:
        return AttemptFolder(self.session_id, number, find_folder(self.home, self.session_id, number))


async def _load(
    url: str, session_id: str, places: dict[tuple[int, Literal["out", "err"]], int]
) -> tuple[SessionRow | None, dict[tuple[int, Literal["out", "err"]], bytes]]:
    """How a session stands, and what it has printed since, by attempt and stream."""
    from remit.cluster.database import output, session_rows
    from remit.cluster.database.store import Database

    db = Database(url, name="remit logs")
    try:
        row = await session_rows.load_row(db, session_id)  # before the output, so that nothing comes after the last
        extents = {(each.attempt, each.stream): each.end for each in await output.list_attempts(db, session_id)}
        found: dict[tuple[int, Literal["out", "err"]], bytes] = {}
        for number in sorted({number for number, _ in extents if 1 <= number <= _MOST_ATTEMPTS}):
            for stream in _STREAMS:
                at, data = places.get((number, stream), 0), bytearray()
                while at + len(data) < extents.get((number, stream), 0):
                    piece = await output.load_output(db, session_id, number, stream, at + len(data))
                    if not piece:
                        break
                    data += piece
                found[number, stream] = bytes(data)
        return row, found
    finally:
        await db.close()

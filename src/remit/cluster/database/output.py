"""The output of agents on workers, in pieces, so that their callers can follow it.

A piece is identified by its offset in its stream, so adding it is idempotent. The database keeps the first 4 MiB of
each stream; the rest stays on the worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from remit.cluster.database.store import Database

MAX_STREAM = 4 * 1024 * 1024
MAX_PIECE = 256 * 1024
MARKER = b"\n[the rest of this output stayed on the worker]\n"
_PIECES = 4096
"""The most pieces that one query reads."""


class Extent(NamedTuple):
    """A stream of an attempt, and the end of the stored part."""

    attempt: int
    stream: str
    end: int


_ADD = """
    WITH put AS (
        INSERT INTO remit.output (session_id, attempt, stream, at, data)
        SELECT session_id, %(attempt)s, %(stream)s, at, data
        FROM remit.sessions, unnest(%(places)s::bigint[], %(pieces)s::bytea[]) AS piece (at, data)
        WHERE session_id = %(session_id)s AND (%(fence)s::bigint IS NULL OR fence = %(fence)s::bigint)
        ON CONFLICT DO NOTHING
        RETURNING at
    ) SELECT at, set_config('synchronous_commit', 'off', true) FROM put
"""


async def add_output(  # noqa: PLR0917 - these values are the key of a piece
    db: Database, session_id: str, attempt: int, stream: str, at: int, data: bytes, *, fence: int | None = None
) -> None:
    """Add output from an offset on; with a fencing token, only if the session still has the same token."""
    kept = data[: max(MAX_STREAM - at, 0)]
    if at <= MAX_STREAM < at + len(data):  # only one piece crosses the limit, so the marker is added once
        kept += MARKER
    if not kept:
        return
    starts = range(0, len(kept), MAX_PIECE)
    given = {"session_id": session_id, "attempt": attempt, "stream": stream, "fence": fence}
    places = {"places": [at + start for start in starts], "pieces": [kept[i : i + MAX_PIECE] for i in starts]}
    await db.execute(_ADD, {**given, **places})


async def load_output(db: Database, session_id: str, attempt: int, stream: str, at: int) -> bytes:
    """Return output from an offset on, up to the first gap and at most `MAX_PIECE` bytes."""
    rows = await db.execute(
        "SELECT at, data FROM remit.output"
        " WHERE session_id = %s AND attempt = %s AND stream = %s AND at > %s AND at < %s ORDER BY at LIMIT %s",
        (session_id, attempt, stream, at - MAX_PIECE, at + MAX_PIECE, _PIECES),
        binary=True,
    )
    found, here = bytearray(), at
    for start, data in rows:
        if start > here:
            break
        found += data[here - start :] if here - start < len(data) else b""
        here = at + len(found)
    return bytes(found[:MAX_PIECE])


async def measure_output(db: Database, session_id: str, attempt: int, stream: str) -> int:
    """Return the end of a stream's stored part without gaps, where the next piece is added."""
    rows = await db.execute(
        "SELECT at, length(data) FROM remit.output WHERE session_id = %s AND attempt = %s AND stream = %s ORDER BY at",
        (session_id, attempt, stream),
    )
    end = 0
    for start, length in rows:
        if start > end:
            break
        end = max(end, start + length)
    return min(end, MAX_STREAM + 1)  # the marker follows the stored part and isn't output


async def list_attempts(db: Database, session_id: str) -> list[Extent]:
    """Return the stored streams of a session and their ends."""
    rows = await db.execute(
        "SELECT attempt, stream, max(at + length(data)) FROM remit.output WHERE session_id = %s"
        " GROUP BY attempt, stream ORDER BY attempt, stream",
        (session_id,),
    )
    return [Extent(*row) for row in rows]

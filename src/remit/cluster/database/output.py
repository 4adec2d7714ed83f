"""Output: what an agent on another machine prints, piece by piece, so that its caller can follow it.

Owns the table of output. A piece stands at the place in its stream where it was read: to add it twice is to add it
once. Of each stream so much is kept as somebody would read; the rest stays where it was printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from remit.cluster.database.store import Database

MAX_STREAM = 4 * 1024 * 1024
MAX_PIECE = 256 * 1024
MARKER = b"\n[the rest of this output stayed on the machine that it was printed on]\n"
_PIECES = 4096
"""How many pieces are looked at for one answer."""


class Extent(NamedTuple):
    """A stream of an attempt, and up to where it is here."""

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


async def add_output(  # noqa: PLR0917 - the place of a piece is its name
    db: Database, session_id: str, attempt: int, stream: str, at: int, data: bytes, *, fence: int | None = None
) -> None:
    """Add what was printed from a place on; under a fence only as long as it is the session's."""
    kept = data[: max(MAX_STREAM - at, 0)]
    if at <= MAX_STREAM < at + len(data):  # only one piece reaches over the end, so this is said once
        kept += MARKER
    if not kept:
        return
    starts = range(0, len(kept), MAX_PIECE)
    given = {"session_id": session_id, "attempt": attempt, "stream": stream, "fence": fence}
    places = {"places": [at + start for start in starts], "pieces": [kept[i : i + MAX_PIECE] for i in starts]}
    await db.execute(_ADD, {**given, **places})


async def load_output(db: Database, session_id: str, attempt: int, stream: str, at: int) -> bytes:
    """What was printed from a place on, without a gap, as much as one answer holds."""
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
    """Up to where a stream is here without a gap: whoever adds goes on from there."""
    rows = await db.execute(
        "SELECT at, length(data) FROM remit.output WHERE session_id = %s AND attempt = %s AND stream = %s ORDER BY at",
        (session_id, attempt, stream),
    )
    end = 0
    for start, length in rows:
        if start > end:
            break
        end = max(end, start + length)
    return min(end, MAX_STREAM + 1)  # behind what is kept there is the marker, which nobody printed


async def list_attempts(db: Database, session_id: str) -> list[Extent]:
    """What there is of a session, and up to where."""
    rows = await db.execute(
        "SELECT attempt, stream, max(at + length(data)) FROM remit.output WHERE session_id = %s"
        " GROUP BY attempt, stream ORDER BY attempt, stream",
        (session_id,),
    )
    return [Extent(*row) for row in rows]

"""Parcels: bundles of git that travel through the database where machines share no other place.

Owns the table of parcels. A name stands for its content: what is there is never changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.cluster.database.driver import STATEMENT_TIMEOUT_S

if TYPE_CHECKING:
    from remit.cluster.database.store import Database

SLICE_BYTES = 4 * 1024 * 1024
"""How much is fetched at once: the server counts the time that a slow network takes."""
MIN_BYTES_PER_S = 500_000
"""How many bytes in a second are slow, but no reason to give up."""

# One that is wanted again is as if it were new: it is not thrown away under whoever was told that it is there.
_PUT = """
    INSERT INTO remit.parcels AS p (name, data, size) VALUES (%(name)s, %(data)s, %(size)s)
    ON CONFLICT (name) DO UPDATE SET made_at = clock_timestamp() RETURNING p.xmax = 0
"""
_HAS = """
    WITH touched AS (
        UPDATE remit.parcels SET made_at = clock_timestamp()
        WHERE name = %(name)s AND made_at < clock_timestamp() - interval '1 hour'
    ) SELECT size FROM remit.parcels WHERE name = %(name)s
"""


async def put(db: Database, name: str, data: bytes) -> bool:
    """Keep a parcel; False where it was there already."""
    given = {"name": name, "data": data, "size": len(data)}
    rows = await db.execute(_PUT, given, timeout_s=STATEMENT_TIMEOUT_S + len(data) / MIN_BYTES_PER_S)
    return bool(rows[0][0])


async def get(db: Database, name: str) -> bytes | None:
    """A parcel, slice by slice."""
    found = bytearray()
    while True:
        rows = await db.execute(
            "SELECT size, substring(data FROM %s FOR %s) FROM remit.parcels WHERE name = %s",
            (len(found) + 1, SLICE_BYTES, name),
            binary=True,
        )
        if not rows:
            return None
        size, piece = rows[0]
        found += piece
        if len(found) >= size or not piece:
            return bytes(found)


async def has(db: Database, name: str) -> bool:
    """Whether a parcel is there; one that is stays for a while."""
    return bool(await db.execute(_HAS, {"name": name}))

"""Git bundles in the table `remit.parcels`, for clusters whose machines share no git remote.

A name identifies the content of a bundle, so stored bundles never change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.cluster.database.driver import STATEMENT_TIMEOUT_S

if TYPE_CHECKING:
    from remit.cluster.database.store import Database

SLICE_BYTES = 4 * 1024 * 1024
"""Bytes that one statement fetches. The time that a slow network takes counts toward the statement's timeout."""
MIN_BYTES_PER_S = 500_000
"""The slowest accepted transfer: an insert gets a longer timeout in proportion to its size."""

# A bundle that is needed again counts as new, so `retention` doesn't delete it before its order is posted.
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
    """Store a bundle; return False if it was stored already."""
    given = {"name": name, "data": data, "size": len(data)}
    rows = await db.execute(_PUT, given, timeout_s=STATEMENT_TIMEOUT_S + len(data) / MIN_BYTES_PER_S)
    return bool(rows[0][0])


async def get(db: Database, name: str) -> bytes | None:
    """Return a bundle, fetched slice by slice; None if the database doesn't have it."""
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
    """Return whether a bundle is stored, and extend its retention if it is."""
    return bool(await db.execute(_HAS, {"name": name}))

"""What is known of a cluster as a whole, under a few names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remit.cluster.database.store import Database


async def load_meta(db: Database, key: str) -> str | None:
    """What stands under a name; None where nothing does."""
    found = await db.execute("SELECT value FROM remit.meta WHERE key = %s", (key,))
    return str(found[0][0]) if found else None


async def set_meta_once(db: Database, key: str, value: str) -> str:
    """Write something under a name, unless there is something already; what stands there then."""
    await db.execute("INSERT INTO remit.meta VALUES (%s, %s) ON CONFLICT (key) DO NOTHING", (key, value))
    return await load_meta(db, key) or value

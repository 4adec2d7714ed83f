"""Deletes old sessions, bundles and workers from the database, in batches that don't block other statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remit.cluster.database.store import Database

_BATCH = 500
_TIMEOUT_S = 60.0

# All sessions of a tree with an open session stay: their usage counts toward the limits of the tree.
_SESSIONS = """
    WITH old AS (
        SELECT session_id FROM remit.sessions AS s
        WHERE s.state = 'done' AND s.done_at < clock_timestamp() - make_interval(secs => %(age_s)s)
        AND NOT EXISTS (
            SELECT 1 FROM remit.sessions AS other WHERE other.root_id = s.root_id AND other.state <> 'done'
        )
        ORDER BY s.done_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    ), printed AS (
        DELETE FROM remit.output USING old WHERE output.session_id = old.session_id
    )
    DELETE FROM remit.sessions AS s USING old WHERE s.session_id = old.session_id RETURNING s.session_id
"""
# A caller that announced a session and never posted it has died: otherwise it would have finished the session.
_ADMITTED = """
    DELETE FROM remit.sessions
    WHERE state = 'admitted' AND posted_at < clock_timestamp() - make_interval(secs => %(age_s)s) RETURNING session_id
"""
# An open session may need a bundle that was stored shortly before the session was posted.
_PARCELS = """
    DELETE FROM remit.parcels WHERE name IN (
        SELECT name FROM remit.parcels
        WHERE made_at < clock_timestamp() - make_interval(secs => %(age_s)s) AND made_at < coalesce(
            (SELECT min(posted_at) - interval '2 hours' FROM remit.sessions WHERE state <> 'done'), 'infinity'
        )
        ORDER BY made_at LIMIT %(limit)s
    ) RETURNING name
"""
_WORKERS = """
    DELETE FROM remit.workers AS w WHERE beat_at < clock_timestamp() - make_interval(secs => %(age_s)s)
    AND NOT EXISTS (SELECT 1 FROM remit.sessions AS s WHERE s.worker_id = w.worker_id AND s.state = 'running')
    RETURNING worker_id
"""


async def prune(db: Database, *, days: float) -> int:
    """Delete sessions that ended this many days ago, with their data, and return their number."""
    age = {"age_s": days * 86400.0}
    count = len(await db.execute(_ADMITTED, age, timeout_s=_TIMEOUT_S))
    while removed := len(await db.execute(_SESSIONS, {**age, "limit": _BATCH}, timeout_s=_TIMEOUT_S)):
        count += removed
    while await db.execute(_PARCELS, {**age, "limit": _BATCH}, timeout_s=_TIMEOUT_S):
        pass
    await db.execute(_WORKERS, age, timeout_s=_TIMEOUT_S)
    return count

"""The table of workers: registration, heartbeat age, draining; and the length of the queues."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from remit.cluster.database.store import Database, Transaction


class RegisteredWorker(NamedTuple):
    """The values that a worker registers itself with."""

    worker_id: str
    host: str
    pid: int
    version: str
    protocol: int
    concurrency: int
    agents: tuple[str, ...]
    """The agents that it executes; empty for all."""
    lease_s: float


class WorkerRow(NamedTuple):
    """A worker in the table."""

    worker_id: str
    host: str
    pid: int
    version: str
    protocol: int
    concurrency: int
    agents: tuple[str, ...]
    lease_s: float
    state: str
    started_ms: int
    beat_ago_s: float
    is_live: bool
    """Whether its last heartbeat is within its lease, and it hasn't deregistered."""
    running: int


class QueueRow(NamedTuple):
    """A queue: the number of waiting and running sessions, and the age of the oldest waiting session."""

    queue: str
    """Empty for sessions that no worker has dispatched yet."""
    waiting: int
    running: int
    oldest_s: float | None


async def register(db: Database, worker: RegisteredWorker) -> None:
    """Register a worker, or update it after a restart."""
    await db.execute(
        "INSERT INTO remit.workers (worker_id, host, pid, version, protocol, concurrency, agents, lease_s, state)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s::jsonb, %s, 'active')"
        " ON CONFLICT (worker_id) DO UPDATE SET host = excluded.host, pid = excluded.pid, version = excluded.version,"
        " protocol = excluded.protocol, concurrency = excluded.concurrency, agents = excluded.agents,"
        " lease_s = excluded.lease_s, state = 'active', started_at = clock_timestamp(), beat_at = clock_timestamp()",
        worker._replace(agents=json.dumps(worker.agents), lease_s=float(worker.lease_s)),  # type: ignore[arg-type]
    )


async def deregister(db: Database, worker_id: str) -> None:
    """Mark a worker as gone."""
    await db.execute("UPDATE remit.workers SET state = 'gone' WHERE worker_id = %s", (worker_id,))


_LIVE = "state <> 'gone' AND beat_at > clock_timestamp() - make_interval(secs => least(lease_s, 86400))"
_WORKERS = f"""
    SELECT worker_id, host, pid, version, protocol, concurrency, agents, lease_s, state,
        floor(extract(epoch FROM started_at) * 1000)::bigint,
        extract(epoch FROM clock_timestamp() - beat_at)::float8,
        {_LIVE},
        (SELECT count(*) FROM remit.sessions AS s WHERE s.state = 'running' AND s.worker_id = workers.worker_id)
    FROM remit.workers
"""  # noqa: S608 - a constant, used twice


async def list_workers(db: Database | Transaction, *, only_live: bool = False) -> list[WorkerRow]:
    """Return the workers, ordered by id."""
    rows = await db.execute(f"{_WORKERS} {f'WHERE {_LIVE}' if only_live else ''} ORDER BY worker_id")
    return [WorkerRow(*row)._replace(agents=_read_agents(row[6])) for row in rows]


def _read_agents(value: object) -> tuple[str, ...]:
    """Return the agents of a worker; other clients of the database can write any JSON there."""
    return tuple(map(str, value)) if isinstance(value, list) else ()


async def set_draining(db: Database, worker_id: str | None, *, draining: bool = True) -> list[str]:
    """Ask one worker, or all, to stop or continue taking runs; return the workers that were asked."""
    rows = await db.execute(
        "WITH told AS (UPDATE remit.workers SET state = %s"
        " WHERE state <> 'gone' AND (%s::text IS NULL OR worker_id = %s)"
        " RETURNING worker_id) SELECT worker_id, pg_notify('remit_drain', worker_id) FROM told ORDER BY worker_id",
        ("draining" if draining else "active", worker_id, worker_id),
    )
    return [row[0] for row in rows]


async def list_queues(db: Database | Transaction) -> list[QueueRow]:
    """Return the queues that aren't empty."""
    rows = await db.execute(
        "SELECT queue, count(*) FILTER (WHERE state <> 'running'), count(*) FILTER (WHERE state = 'running'),"
        " extract(epoch FROM clock_timestamp() - min(posted_at) FILTER (WHERE state <> 'running'))::float8"
        " FROM remit.sessions WHERE state <> 'done' AND state <> 'admitted' GROUP BY queue ORDER BY queue"
    )
    return [QueueRow(*row) for row in rows]

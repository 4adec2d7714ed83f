"""Queries on the table of sessions: one row per run that was submitted to the cluster.

`submissions` writes the rows for callers, `leases` for workers. The state only moves forward: admitted, posted, queued,
running, done. Each transition is one statement, which also notifies listeners. All times are the database's.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.lazy_regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.cluster.database.store import Database, Transaction

_NUL = lazy(r"(?<!\\)((?:\\\\)*)\\u0000")


class SessionRow(NamedTuple):
    """A session without its large columns. Times are the database's, in milliseconds since the epoch."""

    session_id: str
    root_id: str
    parent_id: str | None
    agent: str
    depth: int
    path: tuple[str, ...]
    runner: str
    state: str
    queue: str
    fence: int
    worker_id: str | None
    host: str | None
    lease_left_s: float | None
    """Negative if the lease has expired; None if there is no lease."""
    waited_s: float
    """Time from posting until a worker acquired the lease."""
    posted_ms: int
    taken_ms: int | None
    done_ms: int | None
    deadline_left_ms: int | None
    cancel_reason: str | None
    tokens: int | None
    cost_usd: float | None
    turns: int | None
    status: str | None
    stop_reason: str | None
    live: dict[str, Any]
    terms: dict[str, Any]
    version: int


_COLUMNS = """
    s.session_id, s.root_id, s.parent_id, s.agent, s.depth, s.path, s.runner, s.state, s.queue, s.fence, s.worker_id,
    w.host,
    extract(epoch FROM s.leased_until - clock_timestamp())::float8,
    extract(epoch FROM coalesce(s.taken_at, s.done_at, clock_timestamp()) - s.posted_at)::float8,
    floor(extract(epoch FROM s.posted_at) * 1000)::bigint,
    floor(extract(epoch FROM s.taken_at) * 1000)::bigint,
    floor(extract(epoch FROM s.done_at) * 1000)::bigint,
    floor(extract(epoch FROM s.deadline_at - clock_timestamp()) * 1000)::bigint,
    s.cancel_reason, s.tokens, s.cost_usd, s.turns, s.status, s.ending, s.live, s.terms, s.version
    FROM remit.sessions AS s LEFT JOIN remit.workers AS w USING (worker_id)
"""


async def load_row(db: Database, session_id: str) -> SessionRow | None:
    """Return a session; None if the database doesn't have it."""
    return next(iter(await select(db, "WHERE s.session_id = %s", (session_id,))), None)


async def list_rows(
    db: Database | Transaction,
    *,
    roots: Sequence[str] | None = None,
    sessions: Sequence[str] | None = None,
    only_open: bool = False,
    limit: int = 1000,
) -> list[SessionRow]:
    """Return sessions by tree or id, oldest first; the newest `limit` if there are more."""
    wanted = {"s.root_id = ANY(%s)": roots, "s.session_id = ANY(%s)": sessions}
    given = {rule: list(names) for rule, names in wanted.items() if names is not None}
    rules = [*given, *(["s.state <> 'done'"] if only_open else [])]
    where = f"WHERE {' AND '.join(rules)}" if rules else ""
    found = await select(db, f"{where} ORDER BY s.posted_at DESC LIMIT %s", (*given.values(), limit))
    return found[::-1]


async def load_order(db: Database, session_id: str) -> bytes | None:
    """Return the sealed order of a session."""
    return await _load_bytes(db, "SELECT order_body FROM remit.sessions WHERE session_id = %s", session_id)


async def load_result(db: Database, session_id: str) -> bytes | None:
    """Return the sealed result of a session."""
    return await _load_bytes(db, "SELECT outcome FROM remit.sessions WHERE session_id = %s", session_id)


async def load_checkpoint(db: Database, session_id: str) -> bytes | None:
    """Return the sealed checkpoint that the last worker of a session has stored."""
    return await _load_bytes(db, "SELECT saved FROM remit.sessions WHERE session_id = %s", session_id)


async def _load_bytes(db: Database, query: str, session_id: str) -> bytes | None:
    rows = await db.execute(query, (session_id,), binary=True)
    return bytes(rows[0][0]) if rows and rows[0][0] is not None else None


async def select(db: Database | Transaction, rest: str, params: tuple[object, ...]) -> list[SessionRow]:
    """Return the sessions that the rest of a query selects."""
    return [_read_row(row) for row in await db.execute(f"SELECT {_COLUMNS} {rest}", params)]


def _read_row(values: tuple[Any, ...]) -> SessionRow:
    """Convert a row. Other clients of the database can write any JSON: a bad row must not break queries for others."""
    path, (live, terms) = values[5], values[24:26]
    return SessionRow(*values)._replace(
        path=tuple(map(str, path)) if isinstance(path, list) else (),
        live=live if isinstance(live, dict) else {},
        terms=terms if isinstance(terms, dict) else {},
    )


# Texts that PostgreSQL accepts


def as_json(value: object) -> str:
    """Return a value as JSON that PostgreSQL accepts: without NUL characters and lone surrogates."""
    plain = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
    return clean(_NUL.sub(r"\1�", plain))


def clean(text: str) -> str:
    """Return a text without NUL characters and lone surrogates, which PostgreSQL rejects."""
    return text.replace("\0", "�").encode("utf-8", "replace").decode()

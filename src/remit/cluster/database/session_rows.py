"""Sessions that machines share: how each stands, as the table has it.

Owns the table of sessions, and what is read from it; `posting` writes to it for callers, `leases` for workers. A row
goes one way: admitted, posted, queued, running, done. What happens once is one statement, which tells those who listen
as well. Time is the database's alone.
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
    """A session as it stands, without what is large. Times are the database's, in milliseconds of the epoch."""

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
    """Below zero once it has run out; None where nobody holds it."""
    waited_s: float
    """From when it was sent until somebody took it."""
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
    """A session as it stands."""
    return next(iter(await select(db, "WHERE s.session_id = %s", (session_id,))), None)


async def list_rows(
    db: Database | Transaction,
    *,
    roots: Sequence[str] | None = None,
    sessions: Sequence[str] | None = None,
    only_open: bool = False,
    limit: int = 1000,
) -> list[SessionRow]:
    """Sessions by their trees or names, the first first; of too many the newest."""
    wanted = {"s.root_id = ANY(%s)": roots, "s.session_id = ANY(%s)": sessions}
    given = {rule: list(names) for rule, names in wanted.items() if names is not None}
    rules = [*given, *(["s.state <> 'done'"] if only_open else [])]
    where = f"WHERE {' AND '.join(rules)}" if rules else ""
    found = await select(db, f"{where} ORDER BY s.posted_at DESC LIMIT %s", (*given.values(), limit))
    return found[::-1]


async def load_order(db: Database, session_id: str) -> bytes | None:
    """What was sent, word for word."""
    return await _load_bytes(db, "SELECT order_body FROM remit.sessions WHERE session_id = %s", session_id)


async def load_result(db: Database, session_id: str) -> bytes | None:
    """What came back, word for word."""
    return await _load_bytes(db, "SELECT outcome FROM remit.sessions WHERE session_id = %s", session_id)


async def load_checkpoint(db: Database, session_id: str) -> bytes | None:
    """What whoever works on it has saved for the one who might have to go on."""
    return await _load_bytes(db, "SELECT saved FROM remit.sessions WHERE session_id = %s", session_id)


async def _load_bytes(db: Database, query: str, session_id: str) -> bytes | None:
    rows = await db.execute(query, (session_id,), binary=True)
    return bytes(rows[0][0]) if rows and rows[0][0] is not None else None


async def select(db: Database | Transaction, rest: str, params: tuple[object, ...]) -> list[SessionRow]:
    """The sessions that the rest of a query names."""
    return [_read_row(row) for row in await db.execute(f"SELECT {_COLUMNS} {rest}", params)]


def _read_row(values: tuple[Any, ...]) -> SessionRow:
    """A row as it is used. Whoever may write to the table can write anything: that holds up nobody else's."""
    path, (live, terms) = values[5], values[24:26]
    return SessionRow(*values)._replace(
        path=tuple(map(str, path)) if isinstance(path, list) else (),
        live=live if isinstance(live, dict) else {},
        terms=terms if isinstance(terms, dict) else {},
    )


# What texts PostgreSQL takes


def as_json(value: object) -> str:
    """A value as JSON that PostgreSQL takes: it keeps no NUL and no half of a character."""
    plain = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
    return clean(_NUL.sub(r"\1�", plain))


def clean(text: str) -> str:
    """A text that PostgreSQL takes."""
    return text.replace("\0", "�").encode("utf-8", "replace").decode()

"""What a long history costs: the same before and after 100,000 delegations that are over.

Run as `python bench/all.py scale_history`. A few are really done; their rows, in our tables and in those of DBOS, are
then copied under other names until there are so many. Measured is what each delegation waits for: the statements by
themselves, and how long one takes from posted to taken with two idle workers. Parcels are not copied: the same tree is
there once.
"""

# ruff: noqa: S608 - statements are made of names of tables, and of what the server said itself

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.rows import choose, finish, make_row
from bench.scale_parts import make_workspace, serve, start_workers
from bench.scale_throughput import Place, run_remit, weigh
from remit.cluster.database import leases, session_rows, submissions, workers
from remit.cluster.database.store import Database

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

HISTORY = choose(10_000, 100_000)
DONE, ALONE, TURNS = 3, choose(6, 20), choose(20, 60)
GOAL = 1.5
"""So many times as long may a delegation wait for its worker, with the history behind it."""
_TABLES = {"remit": "session_id", "dbos": "workflow_uuid"}


def grow(place: Place) -> None:
    """Copy what is there until there is a long history."""
    ask, url = place.server.ask, place.url
    for schema, key in _TABLES.items():
        found = ask(
            "SELECT c.table_name FROM information_schema.columns AS c JOIN pg_tables AS t"
            " ON t.schemaname = c.table_schema AND t.tablename = c.table_name"
            f" WHERE c.table_schema = '{schema}' AND c.column_name = '{key}'"
            f" ORDER BY (c.table_name NOT IN ('sessions', 'workflow_status')), 1",
            url,
        )
        for (table,) in found:
            ask(_COPY.format(schema=schema, table=table, columns=_list_columns(place, schema, str(table), key), key=key,
                             many=HISTORY // DONE), url)  # fmt: skip
    ask("VACUUM ANALYZE", url)


_COPY = """
    INSERT INTO "{schema}"."{table}" SELECT {columns}
    FROM "{schema}"."{table}" AS old, generate_series(1, {many}) AS n
    WHERE old."{key}" IN (SELECT session_id FROM remit.sessions WHERE session_id NOT LIKE '%-old-%' LIMIT 1000)
"""


def _list_columns(place: Place, schema: str, table: str, key: str) -> str:
    """The columns of a table in their order; those that name a session name another."""
    found = place.server.ask(
        "SELECT column_name, is_identity, column_default FROM information_schema.columns"
        f" WHERE table_schema = '{schema}' AND table_name = '{table}' ORDER BY ordinal_position",
        place.url,
    )
    chosen = []
    for name, _, default in found:
        if name in (key, "root_id"):
            chosen.append(f"old.\"{name}\" || '-old-' || n")
        elif "nextval" in str(default or ""):
            chosen.append(str(default))
        else:
            chosen.append(f'old."{name}"')
    return ", ".join(chosen)


async def time_statements(url: str) -> dict[str, list[float]]:
    """What the statements take that a delegation and a worker's rounds are made of, in milliseconds."""
    db = Database(url)
    await db.open()
    taken: dict[str, list[float]] = {}

    async def clock(name: str, work: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - whatever it gives
        began = time.perf_counter()
        found = await work()
        taken.setdefault(name, []).append((time.perf_counter() - began) * 1e3)
        return found

    async def enqueue(_row: session_rows.SessionRow, _queue: str) -> None:
        pass

    for number in range(TURNS):
        name = f"probe-{os.urandom(4).hex()}-{number}"
        posted = submissions.Posted(name, name, None, "noop", 1, ("noop",), "command", {}, b"order" * 500)
        await clock("post", lambda posted=posted: submissions.post(db, posted))  # type: ignore[misc] # the very one
        await clock("dispatch", lambda: submissions.dispatch(db, enqueue, lambda *_: "remit.1"))
        lease = await clock("take", lambda name=name: leases.acquire(db, name, "w", lease_s=60, timeout_s=60))  # type: ignore[misc]
        await clock("beat", lambda name=name: leases.renew(db, "w", {name: 1}, lease_s=60))  # type: ignore[misc]
        await clock("look for what ran out", lambda: leases.list_expired(db))
        await clock("look at workers", lambda: workers.list_workers(db))
        await clock("look at queues", lambda: workers.list_queues(db))
        await clock(
            "publish",
            lambda name=name, fence=lease.fence: leases.publish(  # type: ignore[misc]
                db,
                name,
                fence,
                outcome=b"x" * 3000,
                status="completed",
                stop_reason="",
                tokens=1,
                cost_usd=None,
                turns=1,
            ),
        )
    await db.close()
    return taken


def wait_alone(place: Place, name: str) -> list[float]:
    """How long delegations wait, one after the other, with two idle workers; in milliseconds."""
    crowd = start_workers(place.folder / name, place.url, 2, 2)
    try:
        crowd.wait_ready()
        run_remit(place, crowd, 1, 0)
        since = place.server.ask("SELECT clock_timestamp()::text", place.url)[0][0]
        for _ in range(ALONE):
            run_remit(place, crowd, 1, 0)
    finally:
        crowd.end()
    found = place.server.ask(
        "SELECT extract(epoch FROM taken_at - posted_at)::float8 * 1000 FROM remit.sessions"
        f" WHERE posted_at > '{since}'",
        place.url,
    )
    return [float(str(row[0])) for row in found]


class Measured(NamedTuple):
    """What statements took, and how long delegations waited, in milliseconds."""

    statements: dict[str, list[float]]
    waits: list[float]


def measure(place: Place) -> tuple[Measured, Measured, float]:
    """With a long history and without, and the MB of the history."""
    size = weigh(place)
    grow(place)
    grown = weigh(place)
    # The long one first and the short one in a database of its own would differ in more than the history: so both are
    # measured here, the short one after all copies were removed again.
    late = Measured(asyncio.run(time_statements(place.url)), wait_alone(place, "late"))
    place.server.ask("DELETE FROM remit.sessions WHERE session_id LIKE '%-old-%'", place.url)
    place.server.ask("DELETE FROM dbos.workflow_status WHERE workflow_uuid LIKE '%-old-%'", place.url)
    place.server.ask("VACUUM FULL ANALYZE", place.url)
    early = Measured(asyncio.run(time_statements(place.url)), wait_alone(place, "early"))
    return late, early, (grown["bytes"] - size["bytes"]) / 1e6


def main() -> int:
    """Print what was measured; 1 when the goal is missed."""
    with ExitStack() as stack:
        server = stack.enter_context(serve())
        url = stack.enter_context(server.database())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=Path.cwd())))
        place = Place(server, url, "", make_workspace(folder), "", folder)
        crowd = start_workers(folder / "first", url, 1, 2)
        try:
            crowd.wait_ready()
            for _ in range(DONE):
                run_remit(place, crowd, 1, 0)
        finally:
            crowd.end()
        late, early, size = measure(place)
    past, floor = f"{HISTORY:,} delegations that are over", "without them"
    session_rows = [make_row("cluster", f"{past}: size in the database", "MB", [size])]
    session_rows += [
        make_row("cluster", f"with {past}: {name}", "ms", taken, floors={floor: early.statements[name]})
        for name, taken in late.statements.items()
    ]
    what = f"with {past}: from posted to taken"
    return finish(
        [*session_rows, make_row("cluster", what, "ms", late.waits, floors={floor: early.waits}, goals={floor: GOAL})]
    )


if __name__ == "__main__":
    sys.exit(main())

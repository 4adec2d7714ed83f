"""The schema of the shared database, as a list of migrations, and the key-value table `remit.meta`.

A released migration never changes. Later migrations only add, so workers of the previous version keep working beside
new ones. If a migration can't be compatible, it names the oldest version that can use the new tables.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.cluster.database.driver import load_psycopg, make_permanent_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Execute = Callable[..., Awaitable[list[tuple[Any, ...]]]]
    from remit.cluster.database.store import Database


class Migration(NamedTuple):
    """A migration: its name, its statements, and the oldest version that can use the new tables."""

    name: str
    statements: tuple[str, ...]
    oldest: int


_FIRST = Migration(
    "sessions",
    (
        # Each lease renewal writes the row: large values are stored out of line, and no index has a column that a
        # renewal changes.
        """
        CREATE TABLE remit.sessions (
            session_id text PRIMARY KEY,
            root_id text NOT NULL,
            parent_id text,
            agent text NOT NULL,
            depth integer NOT NULL,
            path jsonb NOT NULL,
            runner text NOT NULL,
            state text NOT NULL CHECK (state IN ('admitted', 'posted', 'queued', 'running', 'done')),
            queue text NOT NULL DEFAULT '',
            order_body bytea,
            terms jsonb NOT NULL,
            posted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            queued_at timestamptz,
            taken_at timestamptz,
            done_at timestamptz,
            deadline_at timestamptz,
            fence bigint NOT NULL DEFAULT 0,
            worker_id text,
            leased_until timestamptz,
            resumed_at timestamptz,
            cancel_reason text,
            cancelled_at timestamptz,
            tokens bigint,
            cost_usd double precision,
            turns bigint,
            status text,
            ending text,
            live jsonb NOT NULL DEFAULT '{}',
            saved bytea,
            outcome bytea,
            version bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 70, toast_tuple_target = 256, autovacuum_vacuum_scale_factor = 0.05)
        """,
        "CREATE INDEX sessions_by_root ON remit.sessions (root_id)",
        "CREATE INDEX sessions_by_parent ON remit.sessions (parent_id) WHERE parent_id IS NOT NULL",
        "CREATE INDEX sessions_by_time ON remit.sessions (posted_at)",
        "CREATE INDEX sessions_open ON remit.sessions (state, posted_at) WHERE state <> 'done'",
        "CREATE INDEX sessions_done ON remit.sessions (done_at) WHERE state = 'done'",
        """
        CREATE TABLE remit.workers (
            worker_id text PRIMARY KEY,
            host text NOT NULL,
            pid bigint NOT NULL,
            version text NOT NULL,
            protocol integer NOT NULL,
            concurrency integer NOT NULL,
            agents jsonb NOT NULL,
            state text NOT NULL CHECK (state IN ('active', 'draining', 'gone')),
            started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            beat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            lease_s double precision NOT NULL
        ) WITH (fillfactor = 50)
        """,
        """
        CREATE TABLE remit.output (
            session_id text NOT NULL,
            attempt integer NOT NULL,
            stream text NOT NULL,
            at bigint NOT NULL,
            data bytea NOT NULL,
            PRIMARY KEY (session_id, attempt, stream, at)
        )
        """,
        """
        CREATE TABLE remit.parcels (
            name text PRIMARY KEY,
            data bytea NOT NULL,
            size bigint NOT NULL,
            made_at timestamptz NOT NULL DEFAULT clock_timestamp()
        )
        """,
        # git has compressed the bundle already, and PostgreSQL reads slices only of uncompressed values
        "ALTER TABLE remit.parcels ALTER COLUMN data SET STORAGE EXTERNAL",
        "CREATE INDEX parcels_by_time ON remit.parcels (made_at)",
    ),
    oldest=1,
)

MIGRATIONS = (_FIRST,)
_LOCK_KEY = 0x72656D6974  # an arbitrary number, the same in all versions
_STEP_TIMEOUT_S = 60
"""Time limit of a migration, and of waiting for another process that migrates."""
_MISSING_CODES = {"42P01", "3F000"}
"""SQLSTATE codes of a missing table and a missing schema."""


async def prepare(run: Execute, display: str, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Migrate the tables to this version; raise an error if a newer Remit made them incompatible with it."""
    schema, oldest = await _read_versions(run)
    if schema < len(migrations):
        await run(f"BEGIN; SET LOCAL statement_timeout = {_STEP_TIMEOUT_S * 1000}")
        schema, oldest = await _migrate(partial(run, timeout_s=_STEP_TIMEOUT_S), migrations)
        await run("COMMIT")
    check_version(len(migrations), schema=schema, oldest=oldest, display=display)


def check_version(ours: int, *, schema: int, oldest: int, display: str) -> None:
    """Raise an error if the tables are too new for this version."""
    if oldest > ours:
        raise make_permanent_error(
            f"the tables in {display} need a newer Remit: they have version {schema} and need at least {oldest}; "
            f"this Remit has version {ours}",
            hint="update Remit on this machine",
        )


async def _read_versions(run: Execute) -> tuple[int, int]:
    """Return the version of the tables and the oldest compatible version; zeros if there are no tables."""
    try:
        rows = await run("SELECT key, value FROM remit.meta WHERE key IN ('schema', 'oldest')")
    except load_psycopg().errors.Error as error:
        if error.sqlstate not in _MISSING_CODES:
            raise
        return 0, 0
    kept = {key: int(value) for key, value in rows}
    return kept.get("schema", 0), kept.get("oldest", 0)


async def _migrate(run: Execute, migrations: tuple[Migration, ...]) -> tuple[int, int]:
    """Run the missing migrations under a lock that excludes other processes."""
    await run("SELECT pg_advisory_xact_lock(%s)", (_LOCK_KEY,))
    if not (await run("SELECT to_regnamespace('remit') IS NOT NULL"))[0][0]:  # IF NOT EXISTS needs CREATE rights, too
        await run("CREATE SCHEMA remit")
    await run("CREATE TABLE IF NOT EXISTS remit.meta (key text PRIMARY KEY, value text NOT NULL)")
    schema, oldest = await _read_versions(run)
    for number, migration in enumerate(migrations[schema:], schema + 1):
        for statement in migration.statements:
            await run(statement)
        schema, oldest = number, migration.oldest
    kept = {"schema": str(schema), "oldest": str(oldest)}
    for key, value in kept.items():
        await run(
            "INSERT INTO remit.meta VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )
    return schema, oldest


async def load_meta(db: Database, key: str) -> str | None:
    """Return the value of a key in `remit.meta`; None if there is none."""
    found = await db.execute("SELECT value FROM remit.meta WHERE key = %s", (key,))
    return str(found[0][0]) if found else None


async def set_meta_once(db: Database, key: str, value: str) -> str:
    """Set a key in `remit.meta` if it has no value yet, and return its value."""
    await db.execute("INSERT INTO remit.meta VALUES (%s, %s) ON CONFLICT (key) DO NOTHING", (key, value))
    return await load_meta(db, key) or value

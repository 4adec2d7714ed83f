"""The tables that machines share, as the steps that made them.

Owns the schema. A step that was released is never changed. A later one only adds, so that a worker of the version
before goes on beside those of the new one; where that cannot be, the step says which version is the oldest that may.
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
    """One step: its name, what it does, and the oldest version that still works with what it made."""

    name: str
    statements: tuple[str, ...]
    oldest: int


_FIRST = Migration(
    "sessions",
    (
        # A row is written every few seconds as long as its lease is kept: what is large in it stands elsewhere, and
        # no index has a column that a beat changes.
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
        # git has packed it already; and a slice of what is not packed can be read by itself
        "ALTER TABLE remit.parcels ALTER COLUMN data SET STORAGE EXTERNAL",
        "CREATE INDEX parcels_by_time ON remit.parcels (made_at)",
    ),
    oldest=1,
)

MIGRATIONS = (_FIRST,)
_LOCK_KEY = 0x72656D6974  # any number that all agree on
_STEP_TIMEOUT_S = 60
"""How long a step may take, and the wait for another that takes it."""
_MISSING_CODES = {"42P01", "3F000"}
"""The codes of a table and of a schema that are not there."""


async def prepare(run: Execute, display: str, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Bring the tables up to date; refuse those that a newer Remit has made unfit for this one."""
    schema, oldest = await _read_versions(run)
    if schema < len(migrations):
        await run(f"BEGIN; SET LOCAL statement_timeout = {_STEP_TIMEOUT_S * 1000}")
        schema, oldest = await _migrate(partial(run, timeout_s=_STEP_TIMEOUT_S), migrations)
        await run("COMMIT")
    check_version(len(migrations), schema=schema, oldest=oldest, display=display)


def check_version(ours: int, *, schema: int, oldest: int, display: str) -> None:
    """Refuse tables that are too new for this version."""
    if oldest > ours:
        raise make_permanent_error(
            f"the tables in {display} are those of a newer Remit (version {schema}, for {oldest} and newer; "
            f"this one is for {ours})",
            hint="update Remit on this machine",
        )


async def _read_versions(run: Execute) -> tuple[int, int]:
    """The version of the tables and the oldest that fits them; zeros where there are none."""
    try:
        rows = await run("SELECT key, value FROM remit.meta WHERE key IN ('schema', 'oldest')")
    except load_psycopg().errors.Error as error:
        if error.sqlstate not in _MISSING_CODES:
            raise
        return 0, 0
    kept = {key: int(value) for key, value in rows}
    return kept.get("schema", 0), kept.get("oldest", 0)


async def _migrate(run: Execute, migrations: tuple[Migration, ...]) -> tuple[int, int]:
    """Take the steps that are missing, as soon as nobody else can."""
    await run("SELECT pg_advisory_xact_lock(%s)", (_LOCK_KEY,))
    if not (await run("SELECT to_regnamespace('remit') IS NOT NULL"))[0][0]:  # else it would need the right to make one
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
    """What stands under a name; None where nothing does."""
    found = await db.execute("SELECT value FROM remit.meta WHERE key = %s", (key,))
    return str(found[0][0]) if found else None


async def set_meta_once(db: Database, key: str, value: str) -> str:
    """Write something under a name, unless there is something already; what stands there then."""
    await db.execute("INSERT INTO remit.meta VALUES (%s, %s) ON CONFLICT (key) DO NOTHING", (key, value))
    return await load_meta(db, key) or value

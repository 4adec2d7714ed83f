"""The tables: made once however many come at once, and refused only where they are too new."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING

import psycopg
import pytest

from remit.cluster.database import leases, schema, session_rows, submissions
from remit.cluster.database.schema import MIGRATIONS, Migration
from remit.cluster.database.store import Database
from remit.errors import ClusterError
from tests.support.cluster_rows import make, meet, publish

if TYPE_CHECKING:
    from tests.support.postgres import Server

OPEN = """
import asyncio, sys
from remit.cluster.database.store import Database
db = Database(sys.argv[1])
sys.stdin.readline()
asyncio.run(db.open())
print("open")
"""


async def open_once(url: str) -> None:
    db = Database(url)
    try:
        await db.open()
    finally:
        await db.close()


def read_meta(postgres: Server, url: str) -> dict[object, object]:
    return dict(postgres.ask("SELECT key, value FROM remit.meta", url))  # type: ignore[arg-type]


def set_meta(postgres: Server, url: str, *, schema: int, oldest: int) -> None:
    pairs = f"('schema', {schema:d}), ('oldest', {oldest:d})"
    postgres.ask("DELETE FROM remit.meta", url)
    postgres.ask(f"INSERT INTO remit.meta VALUES {pairs}", url)  # noqa: S608 - two numbers


def test_an_empty_database_is_made_ready_and_left_alone_afterwards(postgres: Server, url: str) -> None:
    asyncio.run(open_once(url))
    assert read_meta(postgres, url) == {"schema": str(len(MIGRATIONS)), "oldest": str(MIGRATIONS[-1].oldest)}
    tables = "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    names = {"meta", "sessions", "workers", "output", "parcels"}
    assert set(postgres.ask(tables, url)) == {("remit", name) for name in names}
    written = "SELECT xmin FROM remit.meta ORDER BY key"
    before = postgres.ask(written, url)
    asyncio.run(open_once(url))
    assert postgres.ask(written, url) == before, "nothing was written"


@pytest.mark.thorough
def test_four_processes_at_once_make_it_ready_once(postgres: Server, url: str) -> None:
    def start() -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, "-c", OPEN, url], stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    started = [start() for _ in range(4)]
    ended = [one.communicate("go\n", timeout=60) for one in started]
    assert [told for told, _ in ended] == ["open\n"] * 4, ended
    assert read_meta(postgres, url)["schema"] == str(len(MIGRATIONS))


def test_who_comes_while_another_makes_it_ready_waits(url: str) -> None:
    async def scene() -> None:
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("SELECT pg_advisory_lock(%s)", (schema._LOCK_KEY,))  # noqa: SLF001 - as one who migrates has it
            opening = asyncio.create_task(open_once(url))
            waiting = (
                "SELECT 1 FROM pg_locks JOIN pg_database ON oid = database"
                " WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted"
            )
            async with asyncio.timeout(30):
                while not other.execute(waiting).fetchall():  # noqa: ASYNC110 - it is another process that waits
                    await asyncio.sleep(0.01)
            assert other.execute("SELECT to_regnamespace('remit')").fetchall() == [(None,)]
            other.execute("SELECT pg_advisory_unlock_all()")
            await opening

    asyncio.run(scene())


def test_a_newer_schema_that_still_fits_is_used(postgres: Server, url: str) -> None:
    async def scene() -> None:
        await open_once(url)
        postgres.ask("ALTER TABLE remit.sessions ADD COLUMN later text NOT NULL DEFAULT 'new'", url)
        set_meta(postgres, url, schema=len(MIGRATIONS) + 5, oldest=1)
        db = Database(url)
        await db.open()
        await meet(db)
        await submissions.post(db, make("one"))
        await leases.acquire(db, "one", "w1", lease_s=15, timeout_s=60)
        assert await publish(db, "one", 1)
        assert (await session_rows.list_rows(db))[0].status == "completed"
        await db.close()
        assert read_meta(postgres, url)["schema"] == str(len(MIGRATIONS) + 5), "it stays as the newer one left it"

    asyncio.run(scene())


def test_a_schema_that_is_too_new_is_refused_also_while_at_work(postgres: Server, url: str) -> None:
    async def scene() -> None:
        db = Database(url)
        await db.open()
        await meet(db)
        assert await leases.renew(db, "w1", {}, lease_s=15) == ({}, set(), False)
        set_meta(postgres, url, schema=len(MIGRATIONS) + 2, oldest=len(MIGRATIONS) + 1)
        with pytest.raises(ClusterError, match="newer Remit") as working:
            await leases.renew(db, "w1", {}, lease_s=15)
        assert not working.value.recoverable
        await db.close()
        with pytest.raises(ClusterError, match=r"newer Remit.*update Remit") as opening:
            await open_once(url)
        assert not opening.value.recoverable
        assert "secret-of-tests" not in str(opening.value)

    asyncio.run(scene())


def test_an_old_and_a_new_version_work_side_by_side(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that only adds, taken while a worker of the version before holds a lease."""
    added = Migration("more", ("ALTER TABLE remit.sessions ADD COLUMN more integer NOT NULL DEFAULT 0",), oldest=1)

    async def scene() -> None:
        old = Database(url)
        await old.open()
        await meet(old)
        await submissions.post(old, make("one"))
        await leases.acquire(old, "one", "w1", lease_s=15, timeout_s=60)
        with monkeypatch.context() as newer:
            newer.setattr(schema.prepare, "__defaults__", ((*MIGRATIONS, added),))
            new = Database(url)
            await new.open()
        assert await new.execute("SELECT more FROM remit.sessions") == [(0,)]
        assert set((await leases.renew(old, "w1", {"one": 1}, lease_s=15)).kept) == {"one"}
        assert await submissions.post(old, make("two"))
        assert await publish(old, "one", 1)
        await old.close()
        await new.close()
        await open_once(url)

    asyncio.run(scene())


def test_a_step_that_fails_leaves_nothing_behind(postgres: Server, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Migration("broken", ("CREATE TABLE remit.half (x int)", "SELECT pg_sleep('x')"), oldest=1)

    async def scene() -> None:
        with monkeypatch.context() as newer:
            newer.setattr(schema.prepare, "__defaults__", ((*MIGRATIONS, broken),))
            with pytest.raises(Exception, match="invalid input syntax"):
                await open_once(url)
        assert postgres.ask("SELECT to_regnamespace('remit')", url) == [(None,)]
        await open_once(url)

    asyncio.run(scene())


def test_who_may_not_make_tables_is_told_so(postgres: Server, url: str) -> None:
    postgres.ask("DROP ROLE IF EXISTS guest_of_tests")
    postgres.ask("CREATE ROLE guest_of_tests LOGIN")
    guest = url.replace("postgres:secret-of-tests@", "guest_of_tests@")
    with pytest.raises(ClusterError, match=r"does not allow it.*grant") as told:
        asyncio.run(open_once(guest))
    assert not told.value.recoverable
    asyncio.run(open_once(url))
    postgres.ask("GRANT USAGE ON SCHEMA remit TO guest_of_tests", url)
    postgres.ask("GRANT ALL ON ALL TABLES IN SCHEMA remit TO guest_of_tests", url)
    asyncio.run(open_once(guest))
    postgres.ask("DROP OWNED BY guest_of_tests", url)
    postgres.ask("DROP ROLE guest_of_tests")

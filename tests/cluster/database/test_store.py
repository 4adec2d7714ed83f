"""The connection: what is lost is told within seconds and made anew; no password is ever shown."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from remit.cluster.database import leases, session_rows, store, submissions
from remit.cluster.database.driver import read_url, render_url
from remit.cluster.database.store import Database
from remit.cluster.database.submissions import lock_tree
from remit.errors import ClusterError
from tests.support.cluster_rows import make, meet, opened, publish
from tests.support.postgres import Missing, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.support.postgres import Server


@pytest.fixture(scope="module")
def own() -> Iterator[Server]:
    """A server that these tests may stop and freeze."""
    try:
        with running() as server:
            yield server
    except Missing as error:
        pytest.skip(f"NO POSTGRESQL, nothing of the cluster is tested: {error}")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:pass@host:5433/db?sslmode=require&password=pass", "postgresql://me@host:5433/db"),
        ("postgres://host/db", "postgresql://host/db"),
        ("postgresql://me:pa%40ss@/db?host=/run/postgres", "postgresql://me@/run/postgres/db"),
        ("postgresql://a:pass@h1:1,h2:2/db", "postgresql://a@h1:1,h2:2/db"),
        ("postgresql://[pass/db", "PostgreSQL"),
        ("host=here password=pass", "PostgreSQL"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert render_url(url) == shown
    assert "pass" not in Database(url).display


@pytest.mark.parametrize("url", ["postgresql//me:hidden@host/db", "postgresql://me:hidden@h:x:y/db", "hidden"])
def test_an_address_that_cannot_be_read_is_not_repeated(url: str) -> None:
    with pytest.raises(ClusterError) as told:
        asyncio.run(Database(url).open())
    assert "hidden" not in str(told.value)
    assert told.value.__suppress_context__, "what psycopg says of it has the whole address"


def test_what_the_url_says_counts_and_the_rest_is_set() -> None:
    told = read_url("postgresql://h/db?connect_timeout=2&options=-c%20work_mem%3D1MB")
    assert told["connect_timeout"] == "2"
    assert told["options"].endswith(" -c work_mem=1MB")
    assert "statement_timeout=5000" in told["options"]
    assert told["tcp_user_timeout"] == 10_000


def test_without_psycopg_the_extra_is_named() -> None:
    program = (
        "import sys, asyncio; sys.modules['psycopg'] = None\n"
        "from remit.cluster.database.store import Database\n"
        "try: asyncio.run(Database('postgresql://h/db').open())\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("ClusterError ")
    assert "[postgres]" in done.stdout


def test_nobody_there_is_told_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"postgresql://me:hidden@127.0.0.1:{free.getsockname()[1]}/db"
        with pytest.raises(ClusterError, match=r"does not answer.*check that PostgreSQL runs") as told:
            asyncio.run(Database(url).open())
    assert "hidden" not in str(told.value)
    assert told.value.recoverable


@pytest.mark.slow
def test_who_accepts_and_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"postgresql://me:hidden@127.0.0.1:{mute.getsockname()[1]}/db"
        began = time.monotonic()
        with pytest.raises(ClusterError, match="does not answer"):
            asyncio.run(Database(url).open())
        assert time.monotonic() - began < 12, "5 s, and a slow machine"


def test_a_database_that_does_not_exist_is_named(postgres: Server) -> None:
    with pytest.raises(ClusterError, match=r'refuses.*database "nowhere" does not exist') as told:
        asyncio.run(Database(postgres.url("nowhere")).open())
    assert not told.value.recoverable


def test_what_the_url_says_reaches_the_server(url: str) -> None:
    async def scene() -> None:
        async with opened(f"{url}?application_name=mine") as db:
            assert await db.execute("SHOW application_name") == [("mine",)]
            for name, value in (("tcp_keepalives_idle", "5"), ("tcp_user_timeout", "10000")):
                assert await db.execute(f"SHOW {name}") == [(value,)]
        async with opened(url) as db:
            assert await db.execute("SHOW application_name") == [("remit",)]

    asyncio.run(scene())


def test_a_database_that_is_closed_under_one_who_waits_can_be_used_again(url: str) -> None:
    async def scene() -> None:
        async with opened(url) as db:
            waiting = asyncio.create_task(db.execute("SELECT pg_sleep(4)"))
            await asyncio.sleep(0.2)
            await db.close()
            with pytest.raises(ClusterError, match="does not answer"):
                await waiting
            assert await db.execute("SELECT 1") == [(1,)]

    asyncio.run(scene())


def test_a_bug_is_not_told_as_trouble_of_the_database(url: str) -> None:
    async def scene() -> None:
        async with opened(url) as db:
            with pytest.raises(Exception, match="syntax error") as told:
                await db.execute("SELEKT 1")
            assert not isinstance(told.value, ClusterError)
            assert await db.execute("SELECT 1") == [(1,)]

    asyncio.run(scene())


def test_a_transaction_counts_as_a_whole(url: str) -> None:
    async def scene() -> None:
        async with opened(url) as db:
            with pytest.raises(KeyError):
                await _write_and_fail(db)
            assert await db.execute("SELECT 1 FROM remit.meta WHERE key = 'half'") == []
            async with db.transaction() as work:
                await work.execute("INSERT INTO remit.meta VALUES ('whole', '1')")
            assert await db.execute("SELECT 1 FROM remit.meta WHERE key = 'whole'") == [(1,)]

    asyncio.run(scene())


async def _write_and_fail(db: Database) -> None:
    async with db.transaction() as work:
        await work.execute("INSERT INTO remit.meta VALUES ('half', '1')")
        raise KeyError


def test_a_connection_that_ends_in_a_transaction_takes_it_along(postgres: Server, url: str) -> None:
    """What comes after the loss is not sent over another connection, where it would count by itself."""

    async def write_around_the_end(db: Database) -> None:
        async with db.transaction() as work:
            await work.execute("INSERT INTO remit.meta VALUES ('first', '1')")
            ((pid,),) = await work.execute("SELECT pg_backend_pid()")
            assert postgres.ask(f"SELECT pg_terminate_backend({pid:d}, 5000)") == [(True,)]
            with pytest.raises(Exception, match=r"terminat|closed"):
                await work.execute("SELECT 1")
            await work.execute("INSERT INTO remit.meta VALUES ('second', '1')")

    async def scene() -> None:
        async with opened(url) as db:
            with pytest.raises(ClusterError, match="does not answer"):
                await write_around_the_end(db)
            assert await db.execute("SELECT 1 FROM remit.meta WHERE key IN ('first', 'second')") == []

    asyncio.run(scene())


def test_who_is_cancelled_leaves_a_connection_that_works(url: str) -> None:
    async def scene() -> None:
        async with opened(url) as db:
            for work in (db.execute("SELECT pg_sleep(4)"), _sleep_in_transaction(db)):
                task = asyncio.create_task(work)
                await asyncio.sleep(0.2)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert await db.execute("SELECT key FROM remit.meta WHERE key = 'half'") == []

    asyncio.run(scene())


async def _sleep_in_transaction(db: Database) -> None:
    async with db.transaction() as work:
        await work.execute("INSERT INTO remit.meta VALUES ('half', '1')")
        await work.execute("SELECT pg_sleep(4)")


def test_a_statement_that_takes_too_long_is_ended(url: str) -> None:
    async def scene() -> None:
        async with opened(url) as db:
            with pytest.raises(ClusterError, match="took too long"):
                await db.execute("SELECT pg_sleep(30)", timeout_s=0.2)
            assert await db.execute("SHOW statement_timeout") == [("5s",)]
            assert await db.execute("SHOW statement_timeout", timeout_s=20) == [("20s",)]
            assert await db.execute("SHOW idle_in_transaction_session_timeout") == [("30s",)]

    asyncio.run(scene())


@pytest.mark.parametrize("mode", ["fast", "immediate"])
@pytest.mark.slow
@pytest.mark.thorough
def test_a_restart_is_told_and_survived(own: Server, mode: str) -> None:
    """The same Database goes on; what was committed is there; who listens is told to look again."""

    async def scene(url: str) -> None:
        async with opened(url) as db:
            heard: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
            listening = asyncio.create_task(_listen(db, heard))
            assert await asyncio.wait_for(heard.get(), 20) == ("", "")
            await meet(db)
            await submissions.post(db, make("one"))
            await leases.acquire(db, "one", "w1", lease_s=60, timeout_s=60)
            while (await asyncio.wait_for(heard.get(), 20)) != ("remit_changed", "one"):
                pass
            await asyncio.to_thread(own.stop, mode)
            with pytest.raises(ClusterError, match="does not answer"):
                await session_rows.load_row(db, "one")
            with pytest.raises(ClusterError, match="does not answer"):
                await publish(db, "one", 1)
            await asyncio.to_thread(own.start)
            assert await asyncio.wait_for(heard.get(), 20) == ("", "")
            assert await publish(db, "one", 1)
            assert await asyncio.wait_for(heard.get(), 20) == ("remit_changed", "one")
            listening.cancel()

    with own.database() as url:
        asyncio.run(scene(url))


async def _listen(db: Database, heard: asyncio.Queue[tuple[str, str]]) -> None:
    async for told in db.listen(["remit_changed", "remit_posted"]):
        heard.put_nowait(told)


def test_nothing_is_missed_between_two_looks(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PING_S", 0.0)

    async def scene() -> None:
        async with opened(url) as db:
            heard = db.listen(["remit_changed"])
            assert await anext(heard) == ("", "")
            wanted = [str(number) for number in range(200)]
            telling = asyncio.create_task(_tell_all(db, wanted))
            async with asyncio.timeout(30):
                assert [(await anext(heard))[1] for _ in wanted] == wanted
            await telling
            await heard.aclose()  # type: ignore[attr-defined]

    asyncio.run(scene())


async def _tell_all(db: Database, names: list[str]) -> None:
    for name in names:
        await db.execute("SELECT pg_notify('remit_changed', %s)", (name,))


@pytest.mark.slow
@pytest.mark.thorough
def test_a_frozen_server_is_noticed(own: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps its connections and answers none: who asks is told, who is cancelled or listens does not wait for it."""
    monkeypatch.setattr(store, "PING_S", 0.1)

    async def ask(db: Database) -> None:
        with pytest.raises(ClusterError, match="does not answer"):
            await db.execute("SELECT 1")
        assert await db.execute("SELECT 1") == [(1,)], "by another connection"

    async def give_up(db: Database) -> None:
        task = asyncio.create_task(db.execute("SELECT 1"))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await db.execute("SELECT 1") == [(1,)], "by another connection"

    async def hear(heard: AsyncIterator[tuple[str, str]]) -> None:
        assert await anext(heard) == ("", ""), "it has been made anew"

    async def scene(url: str) -> None:
        async with opened(url) as one, opened(url) as two:
            frozen = [(await db.execute("SELECT pg_backend_pid()"))[0][0] for db in (one, two)]
            heard = one.listen(["remit_changed"])
            await hear(heard)
            frozen += [row[0] for row in own.ask("SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")]
            assert len(frozen) == 3
            for pid in frozen:
                os.kill(pid, signal.SIGSTOP)
            began = time.monotonic()
            try:
                await asyncio.gather(ask(one), give_up(two), hear(heard))
            finally:
                for pid in frozen:
                    os.kill(pid, signal.SIGCONT)
            assert 4 < time.monotonic() - began < 20
            await heard.aclose()  # type: ignore[attr-defined]

    with own.database() as url:
        asyncio.run(scene(url))


def test_a_tree_is_locked_for_all_others_until_the_block_ends(url: str) -> None:
    async def scene() -> None:
        async with opened(url) as first, opened(url) as second:
            order: list[str] = []

            async def admit(db: Database, name: str) -> None:
                async with lock_tree(db, "root"):
                    order.append(f"{name} in")
                    await asyncio.sleep(0.05)
                    assert await db.execute("SELECT 1") == [(1,)], "the tables can be used meanwhile"
                    order.append(f"{name} out")

            await asyncio.gather(*(admit(db, f"{n}") for n, db in enumerate([first, second, first, second])))
            assert [word.split()[1] for word in order] == ["in", "out"] * 4
            assert sorted({word.split()[0] for word in order}) == ["0", "1", "2", "3"]
            async with lock_tree(first, "root"), asyncio.timeout(5), lock_tree(second, "other root"):
                pass
            with pytest.raises(KeyError):
                async with lock_tree(first, "root"):
                    raise KeyError
            async with asyncio.timeout(5), lock_tree(second, "root"):
                pass

    asyncio.run(scene())


def test_a_lock_ends_with_whoever_held_it(postgres: Server, url: str) -> None:
    async def lose(first: Database, second: Database) -> None:
        async with lock_tree(first, "root"):
            ((pid,),) = await second.execute(
                "SELECT pid FROM pg_locks JOIN pg_database ON oid = database"
                " WHERE datname = current_database() AND locktype = 'advisory' AND granted"
            )
            assert postgres.ask(f"SELECT pg_terminate_backend({pid:d}, 5000)") == [(True,)]
            async with asyncio.timeout(5), lock_tree(second, "root"):
                pass

    async def scene() -> None:
        async with opened(url) as first, opened(url) as second:
            with pytest.raises(ClusterError, match="does not answer"):
                await lose(first, second)
            async with asyncio.timeout(5), lock_tree(first, "root"):
                pass

    asyncio.run(scene())

"""Leases on sessions: acquired by one worker, renewed by heartbeats, published under the newest fence only."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from remit.cluster.database import leases, session_rows, submissions
from remit.cluster.database.workers import list_queues, list_workers
from tests.support.cluster_rows import NOTHING_USED, make, meet, opened, publish
from tests.support.sample_sizes import choose

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from remit.cluster.database.store import Database, Transaction

    Play = Callable[[Callable[[Database], Awaitable[Any]]], Any]


def test_from_post_to_outcome(play: Play) -> None:
    async def scene(db: Database) -> None:
        await meet(db)
        assert await submissions.post(db, make("one"))
        assert not await submissions.post(db, make("one")), "it was sent already"
        posted = await session_rows.load_row(db, "one")
        assert posted is not None
        assert (posted.state, posted.fence, posted.host, posted.path) == ("posted", 0, None, ("orchestrator", "worker"))
        assert posted.terms == {"timeout_s": 60}
        assert await session_rows.load_order(db, "one") == b"do it"

        lease = await leases.acquire(db, "one", "w1", lease_s=15, timeout_s=60)
        assert lease is not None
        assert (lease.fence, lease.is_first, lease.earlier_worker, lease.cancel_reason) == (1, True, None, None)
        assert 59_000 < lease.deadline_left_ms <= 60_000
        assert await leases.report_progress(
            db, "one", 1, live={"activity": "nul \0 and half \ud800"}, tokens=10**30, cost_usd=0.1, turns=1
        )
        assert await leases.save_checkpoint(db, "one", 1, b"so far")
        assert await session_rows.load_checkpoint(db, "one") == b"so far"
        running = await session_rows.load_row(db, "one")
        assert running is not None
        assert (running.state, running.host, running.tokens, running.turns) == ("running", "host-of-w1", 2**63 - 1, 1)
        assert running.live == {"activity": "nul � and half ?"}
        assert 14 < (running.lease_left_s or 0) <= 15
        assert running.version > posted.version

        assert await publish(db, "one", 1)
        done = await session_rows.load_row(db, "one")
        assert done is not None
        assert (done.state, done.status, done.stop_reason, done.tokens) == ("done", "completed", "exited", 7)
        assert done.lease_left_s is None
        assert await session_rows.load_result(db, "one") == b"done"
        assert await leases.acquire(db, "one", "w1", lease_s=15, timeout_s=60, again=True) is None
        assert await session_rows.load_row(db, "two") is None

    play(scene)


def test_what_is_announced_counts_and_is_taken_by_nobody_before_it_is_sent(play: Play) -> None:
    async def scene(db: Database) -> None:
        assert await submissions.announce(db, make("one"))
        assert not await submissions.announce(db, make("one"))
        (row,) = await session_rows.list_rows(db, roots=["one"], only_open=True)
        assert row.state == "admitted"
        assert await session_rows.load_order(db, "one") is None
        assert await leases.acquire(db, "one", "w1", lease_s=15, timeout_s=60) is None
        assert await submissions.post(db, make("one"))
        assert await session_rows.load_order(db, "one") == b"do it"
        assert await leases.acquire(db, "one", "w1", lease_s=15, timeout_s=60) is not None
        assert not await submissions.announce(db, make("one"))
        assert not await submissions.post(db, make("one")), "what runs is not sent again"

    play(scene)


def test_who_was_frozen_does_not_win_over_its_successor(play: Play) -> None:
    async def scene(db: Database) -> None:
        await meet(db, "old")
        await meet(db, "new")
        await submissions.post(db, make("one"))
        assert await leases.acquire(db, "one", "old", lease_s=0.05, timeout_s=60)
        assert await leases.acquire(db, "one", "new", lease_s=15, timeout_s=60) is None, "it is held"
        await asyncio.sleep(0.1)
        assert [row.session_id for row in await leases.list_expired(db)] == ["one"]
        lease = await leases.acquire(db, "one", "new", lease_s=15, timeout_s=60)
        assert lease is not None
        assert (lease.fence, lease.is_first, lease.earlier_worker) == (2, False, "old")
        before = await session_rows.load_row(db, "one")

        assert not await leases.report_progress(db, "one", 1, live={"activity": "still here"}, **NOTHING_USED)
        assert not await leases.save_checkpoint(db, "one", 1, b"of the old one")
        assert not await publish(db, "one", 1, b"of the old one")
        assert (await leases.renew(db, "old", {"one": 1}, lease_s=15)).lost == {"one"}
        after = await session_rows.load_row(db, "one")
        assert before is not None
        assert after is not None
        assert after.version == before.version, "an old fence changes nothing"
        assert await session_rows.load_result(db, "one") is None

        assert await publish(db, "one", 2, b"of the new one")
        assert await publish(db, "one", 2, b"said again"), "whoever did not hear it may say it again"
        assert not await publish(db, "one", 1, b"of the old one")
        assert await session_rows.load_result(db, "one") == b"of the new one"

    play(scene)


def test_a_heartbeat_renews_leases_and_reports_lost_and_cancelled_sessions(play: Play) -> None:
    async def scene(db: Database) -> None:
        await meet(db)
        for name in ("one", "two", "three"):
            await submissions.post(db, make(name))
            await leases.acquire(db, name, "w1", lease_s=1, timeout_s=60)
        await submissions.cancel(db, "two", "enough")
        await publish(db, "three", 1)
        told = await leases.renew(db, "w1", {"one": 1, "two": 1, "three": 1, "never": 1}, lease_s=30)
        assert told.kept == {"one": None, "two": "enough"}
        assert told.lost == {"three", "never"}
        assert not told.drains
        row = await session_rows.load_row(db, "one")
        assert row is not None
        assert 29 < (row.lease_left_s or 0) <= 30
        assert (await leases.renew(db, "w1", {}, lease_s=30)) == ({}, set(), False)
        assert await leases.extend(db, "w1", 100) == 2
        row = await session_rows.load_row(db, "one")
        assert row is not None
        assert 99 < (row.lease_left_s or 0) <= 100

    play(scene)


def test_one_of_many_takers_gets_it(url: str) -> None:
    """Connections of their own, all at once: posted, and again each time that the lease has run out."""

    async def scene() -> None:
        async with AsyncExitStack() as stack:
            takers = [await stack.enter_async_context(opened(url)) for _ in range(8)]
            await submissions.post(takers[0], make("one"))
            for fence in range(1, choose(10, 100)):
                tries = (leases.acquire(db, "one", f"w{n}", lease_s=0.001, timeout_s=60) for n, db in enumerate(takers))
                if fence > 1:
                    await asyncio.sleep(0.002)
                got = [lease for lease in await asyncio.gather(*tries) if lease]
                fences = [lease.fence for lease in got]
                assert fences, "somebody gets it"
                assert len(set(fences)) == len(fences), "nobody gets the same"
            last = max(fences)
            longer = await leases.acquire(takers[0], "one", "last", lease_s=60, timeout_s=60)
            while longer is None:
                longer = await leases.acquire(takers[0], "one", "last", lease_s=60, timeout_s=60)
            assert longer.fence == last + 1
            tries = (leases.acquire(db, "one", f"w{n}", lease_s=60, timeout_s=60) for n, db in enumerate(takers))
            assert await asyncio.gather(*tries) == [None] * 8

    asyncio.run(scene())


def test_however_many_are_done_only_open_ones_are_looked_at(play: Play) -> None:
    async def scene(db: Database) -> None:
        await db.execute(
            "INSERT INTO remit.sessions (session_id, root_id, agent, depth, path, runner, state, terms, done_at)"
            " SELECT 's' || n, 's' || n, 'a', 1, '[]', 'echo', 'done', '{}', now() FROM generate_series(1, 5000) AS n"
        )
        await db.execute("VACUUM ANALYZE remit.sessions")
        for looks in (leases.list_expired, list_queues, list_workers, _list_open):
            await db.execute("SELECT pg_stat_force_next_flush()")
            before = await _count_read(db)
            await looks(db)
            await db.execute("SELECT pg_stat_force_next_flush()")
            assert await _count_read(db) == before, looks

    play(scene)


async def _count_read(db: Database) -> int:
    """How many rows were read one after the other, without an index."""
    query = "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'sessions'"
    return int((await db.execute(query))[0][0])


async def _list_open(db: Database) -> None:
    assert await session_rows.list_rows(db, only_open=True) == []


def test_of_a_fresh_one_exactly_one_gets_it(url: str) -> None:
    async def scene() -> None:
        async with AsyncExitStack() as stack:
            takers = [await stack.enter_async_context(opened(url)) for _ in range(6)]
            for number in range(choose(15, 200)):
                name = f"s{number}"
                await submissions.post(takers[0], make(name))
                tries = (leases.acquire(db, name, f"w{n}", lease_s=60, timeout_s=60) for n, db in enumerate(takers))
                (lease,) = [each for each in await asyncio.gather(*tries) if each]
                assert lease.fence == 1

    asyncio.run(scene())


def test_a_deadline_is_set_once_and_by_the_shorter_limit(play: Play) -> None:
    async def scene(db: Database) -> None:
        await submissions.post(db, make("one"))
        lease = await leases.acquire(db, "one", "w1", lease_s=0.01, timeout_s=60, limit_left_ms=5000)
        assert lease is not None
        assert 4000 < lease.deadline_left_ms <= 5000
        await asyncio.sleep(0.05)
        again = await leases.acquire(db, "one", "w2", lease_s=15, timeout_s=60)
        assert again is not None
        assert again.deadline_left_ms < lease.deadline_left_ms
        assert await leases.acquire(db, "one", "w2", lease_s=15, timeout_s=60) is None
        own = await leases.acquire(db, "one", "w2", lease_s=15, timeout_s=60, again=True)
        assert own is not None
        assert (own.fence, own.earlier_worker, own.is_first) == (3, "w2", False)
        assert await leases.acquire(db, "one", "w1", lease_s=15, timeout_s=60, again=True) is None, "it is another's"
        assert (await leases.renew(db, "w2", {"one": 2}, lease_s=15)).lost == {"one"}, "what this worker was before"
        assert (await leases.renew(db, "w2", {"one": 3}, lease_s=15)).lost == set()

    play(scene)


def test_what_has_expired_is_resumed_by_one(play: Play) -> None:
    async def scene(db: Database) -> None:
        for name in ("one", "two"):
            await submissions.post(db, make(name))
        await leases.acquire(db, "one", "w1", lease_s=0.01, timeout_s=60)
        await leases.acquire(db, "two", "w1", lease_s=60, timeout_s=60)
        await asyncio.sleep(0.05)
        assert [row.session_id for row in await leases.list_expired(db)] == ["one"]
        assert await leases.claim_expired(db, "one")
        assert not await leases.claim_expired(db, "one"), "another has it resumed"
        assert not await leases.claim_expired(db, "two"), "it is held"
        assert await leases.list_expired(db) == []
        await db.execute("UPDATE remit.sessions SET resumed_at = resumed_at - interval '3 s'")
        assert [row.session_id for row in await leases.list_expired(db)] == ["one"], "nobody took it"
        assert await leases.acquire(db, "one", "w2", lease_s=60, timeout_s=60)
        assert await leases.list_expired(db) == []

    play(scene)


def test_cancel_reaches_all_below_and_the_first_reason_stays(play: Play) -> None:
    async def scene(db: Database) -> None:
        await submissions.post(db, make("root"))
        await submissions.post(db, make("child", parent="root", depth=2))
        await submissions.announce(db, make("grandchild", parent="child", root="root", depth=3))
        await submissions.post(db, make("over", parent="root", depth=2))
        await submissions.finish_unstarted(db, "over", b"x", "failed", "cancelled")
        await submissions.post(db, make("stranger"))
        heard = db.listen(["remit_cancel"])
        assert await anext(heard) == ("", "")
        assert sorted(await submissions.cancel(db, "child", "by \0 hand")) == ["child", "grandchild"]
        assert {(await asyncio.wait_for(anext(heard), 10))[1] for _ in range(2)} == {"child", "grandchild"}
        assert sorted(await submissions.cancel(db, "root", "all")) == ["child", "grandchild", "root"]
        await heard.aclose()  # type: ignore[attr-defined]
        reasons = {row.session_id: row.cancel_reason for row in await session_rows.list_rows(db)}
        kept = {"child": "by � hand", "grandchild": "by � hand"}
        assert reasons == {"root": "all", **kept, "over": None, "stranger": None}
        assert await submissions.post(db, make("late", parent="child", root="root", depth=3))
        late = await leases.acquire(db, "late", "w1", lease_s=15, timeout_s=60)
        assert late is not None
        assert late.cancel_reason == "by � hand", "what comes after its parent was cancelled is cancelled, too"
        assert await submissions.cancel(db, "nobody", "x") == []

    play(scene)


def test_no_child_slips_through_a_cancel(url: str) -> None:
    """Handed on and cancelled at the same moment: the one waits for the other, whichever was first."""

    async def scene() -> None:
        async with opened(url) as one, opened(url) as two:
            await submissions.post(one, make("root"))
            async with one.transaction() as work:  # posts, and has not finished
                row = submissions._as_params(make("first", parent="root", depth=2), "posted")  # noqa: SLF001 - half of it
                await work.execute(submissions._PUT, row)  # noqa: SLF001 - half of it
                cancelling = asyncio.create_task(submissions.cancel(two, "root", "stop"))
                await _wait_for_lock(work)
            assert await cancelling == ["root", "first"]

            await submissions.post(one, make("other"))
            async with one.transaction() as work:  # cancels, and has not finished
                given = {"session_id": "other", "reason": "stop", "again": True}
                assert len(await work.execute(submissions._CANCEL, given)) == 1  # noqa: SLF001 - half of it
                second = asyncio.create_task(submissions.post(two, make("second", parent="other", depth=2)))
                await _wait_for_lock(work)
            assert await second
            reasons = {row.session_id: row.cancel_reason for row in await session_rows.list_rows(one)}
            assert reasons == dict.fromkeys(("root", "first", "other", "second"), "stop")

    asyncio.run(scene())


async def _wait_for_lock(work: Transaction) -> None:
    """Until somebody waits for what this transaction holds."""
    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    async with asyncio.timeout(20):
        while not await work.execute(waiting):  # noqa: ASYNC110 - it is another process that waits
            await asyncio.sleep(0.01)


def test_concurrent_heartbeats_and_cancels_do_not_deadlock(url: str) -> None:
    async def scene() -> None:
        async with AsyncExitStack() as stack:
            dbs = [await stack.enter_async_context(opened(url)) for _ in range(4)]
            await meet(dbs[0])
            await submissions.post(dbs[0], make("root"))
            names = [f"n{number}" for number in range(30)]
            for name in names:
                await submissions.post(dbs[0], make(name, parent="root", depth=2))
                await leases.acquire(dbs[0], name, "w1", lease_s=15, timeout_s=60)
            held = dict.fromkeys(names, 1)
            backwards = dict.fromkeys(reversed(names), 1)
            for number in range(choose(15, 200)):
                told = await asyncio.gather(
                    leases.renew(dbs[0], "w1", held, lease_s=15),
                    leases.renew(dbs[1], "w1", backwards, lease_s=15),
                    submissions.cancel(dbs[2], "root", "stop"),
                    submissions.post(dbs[3], make(f"new{number}", parent="root", depth=2)),
                )
                assert told[0].lost == told[1].lost == set()

    asyncio.run(scene())


def test_who_was_not_taken_is_ended_once(play: Play) -> None:
    async def scene(db: Database) -> None:
        for name in ("one", "two"):
            await submissions.post(db, make(name))
        await leases.acquire(db, "two", "w1", lease_s=15, timeout_s=60)
        assert await submissions.finish_unstarted(db, "one", b"ended", "failed", "cancelled")
        assert not await submissions.finish_unstarted(db, "one", b"again", "failed", "cancelled")
        assert not await submissions.finish_unstarted(db, "two", b"ended", "failed", "cancelled")
        assert await session_rows.load_result(db, "one") == b"ended"
        assert await leases.acquire(db, "one", "w1", lease_s=15, timeout_s=60) is None
        assert not await publish(db, "one", 0), "no fence is nobody's"

    play(scene)


def test_rows_are_listed_by_tree_and_name_the_newest_where_there_are_too_many(play: Play) -> None:
    async def scene(db: Database) -> None:
        for name, root in (("a", "a"), ("b", "a"), ("c", "c"), ("d", "d")):
            await submissions.post(db, make(name, root=root))
        await submissions.finish_unstarted(db, "a", b"", "failed", "cancelled")

        async def names(**given: Any) -> str:  # noqa: ANN401 - as the function takes them
            return "".join(row.session_id for row in await session_rows.list_rows(db, **given))

        assert await names() == "abcd"
        assert await names(limit=2) == "cd"
        assert await names(roots=["a", "d"]) == "abd"
        assert await names(roots=["a"], only_open=True) == "b"
        assert await names(sessions=["c", "a", "x"]) == "ac"
        assert await names(sessions=[]) == ""

    play(scene)


# Dispatching


def test_one_that_cannot_be_enqueued_keeps_no_other_from_it(play: Play) -> None:
    async def scene(db: Database) -> None:
        async def enqueue(row: session_rows.SessionRow, queue: str) -> None:
            assert await session_rows.load_row(db, row.session_id) is not None, "the tables can be used meanwhile"
            assert queue == "remit.2 workers"
            if row.session_id == "bad":
                raise KeyError(row.session_id)

        await meet(db, "w1")
        await meet(db, "w2")
        await meet(db, "silent", lease_s=0)
        for name in ("one", "bad", "two"):
            await submissions.post(db, make(name))
        with pytest.raises(KeyError, match="bad"):
            await submissions.dispatch(db, enqueue, lambda _, workers: f"remit.{len(workers)} workers")
        states = {row.session_id: (row.state, row.queue) for row in await session_rows.list_rows(db)}
        queued = ("queued", "remit.2 workers")
        assert states == {"one": queued, "two": queued, "bad": ("posted", "")}

    play(scene)


def test_a_dispatcher_does_not_wait_for_another(play: Play) -> None:
    async def scene(db: Database) -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def stall(_row: session_rows.SessionRow, _queue: str) -> None:
            begun.set()
            await go_on.wait()

        async def enqueue(row: session_rows.SessionRow, _queue: str) -> None:
            assert row.session_id == "two"

        for name in ("one", "two"):
            await submissions.post(db, make(name))
        stalled = asyncio.create_task(submissions.dispatch(db, stall, lambda *_: "q", limit=1))
        await begun.wait()
        assert await submissions.dispatch(db, enqueue, lambda *_: "q") == 1
        go_on.set()
        assert await stalled == 1

    play(scene)


@pytest.mark.slow
@pytest.mark.thorough
def test_four_dispatchers_at_once_lose_nothing_though_one_dies(url: str, tmp_path: Path) -> None:
    """Each session is enqueued once, but for those of the one that dies before it could mark them."""
    names = {f"s{number}" for number in range(choose(60, 400))}

    async def fill() -> None:
        async with opened(url) as db:
            for name in names:
                await submissions.post(db, make(name))

    async def look() -> list[session_rows.SessionRow]:
        async with opened(url) as db:
            return await session_rows.list_rows(db)

    asyncio.run(fill())
    notes = [tmp_path / name for name in ("dies", "one", "two", "three")]
    started = [start_dispatcher(url, file, dies_after=0 if number else 3) for number, file in enumerate(notes)]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        process.communicate(timeout=60)
    assert [process.returncode for process in started] == [9, 0, 0, 0]
    of_the_dead, *others = ([line.split()[0] for line in file.read_text().splitlines()] for file in notes)
    assert len(of_the_dead) == 3
    living = [name for each in others for name in each]
    assert len(living) == len(set(living)), "nobody else's is enqueued twice"
    left = {row.session_id for row in asyncio.run(look()) if row.state == "posted"}
    assert set(living) | left == names
    last = start_dispatcher(url, tmp_path / "last", dies_after=0)
    last.communicate("go\n", timeout=60)
    assert {line.split()[0] for line in (tmp_path / "last").read_text().splitlines()} == left
    assert {row.state for row in asyncio.run(look())} == {"queued"}


def start_dispatcher(url: str, notes: Path, *, dies_after: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.support.cluster_dispatcher", url, str(notes), str(dies_after)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

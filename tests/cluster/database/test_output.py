"""Output by offsets, bundles by names, and the removal of old rows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from remit.cluster.database import bundles, leases, output, session_rows, submissions
from remit.cluster.database.output import MARKER, MAX_PIECE, MAX_STREAM, add_output, load_output, measure_output
from remit.cluster.database.retention import prune
from remit.cluster.database.workers import list_workers
from tests.support.cluster_rows import make, meet, publish

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from remit.cluster.database.store import Database
    from tests.support.postgres import Server

    Play = Callable[[Callable[[Database], Awaitable[Any]]], Any]


def test_output_is_read_without_gaps_whatever_its_pieces(play: Play) -> None:
    async def scene(db: Database) -> None:
        await submissions.post(db, make("one"))
        for at, data in ((0, b"abc"), (3, b"def"), (3, b"XYZ"), (2, b"cd"), (10, b"later")):
            await add_output(db, "one", 1, "out", at, data)
        assert await load_output(db, "one", 1, "out", 0) == b"abcdef", "the first at a place stays"
        assert await load_output(db, "one", 1, "out", 4) == b"ef"
        assert await load_output(db, "one", 1, "out", 6) == b""
        assert await load_output(db, "one", 1, "err", 0) == b""
        assert await measure_output(db, "one", 1, "out") == 6
        await add_output(db, "one", 1, "out", 6, b"....")
        assert await load_output(db, "one", 1, "out", 5) == b"f....later"
        assert await output.list_attempts(db, "one") == [(1, "out", 15)]
        await add_output(db, "none", 1, "out", 0, b"nobody's")
        assert await load_output(db, "none", 1, "out", 0) == b""

    play(scene)


def test_output_under_an_old_fence_is_not_kept(play: Play) -> None:
    async def scene(db: Database) -> None:
        await submissions.post(db, make("one"))
        await leases.acquire(db, "one", "w1", lease_s=15, timeout_s=60)
        await leases.acquire(db, "one", "w1", lease_s=15, timeout_s=60, again=True)
        await add_output(db, "one", 1, "out", 0, b"old", fence=1)
        assert await load_output(db, "one", 1, "out", 0) == b""
        await add_output(db, "one", 1, "out", 0, b"new", fence=2)
        assert await load_output(db, "one", 1, "out", 0) == b"new"

    play(scene)


def test_output_ends_with_one_marker_where_it_is_too_much(play: Play) -> None:
    async def scene(db: Database) -> None:
        await submissions.post(db, make("one"))
        await add_output(db, "one", 1, "out", 0, b"a" * (MAX_STREAM - 1))
        await add_output(db, "one", 1, "out", MAX_STREAM - 1, b"bcd")
        await add_output(db, "one", 1, "out", MAX_STREAM + 2, b"efg")
        await add_output(db, "one", 1, "exact", 0, b"a" * MAX_STREAM)
        assert await load_output(db, "one", 1, "exact", MAX_STREAM) == b""
        await add_output(db, "one", 1, "exact", MAX_STREAM, b"b")
        assert await load_output(db, "one", 1, "exact", MAX_STREAM) == MARKER
        found = b""
        while piece := await load_output(db, "one", 1, "out", len(found)):
            assert len(piece) <= MAX_PIECE
            found += piece
        assert found == b"a" * (MAX_STREAM - 1) + b"b" + MARKER
        assert await measure_output(db, "one", 1, "out") == MAX_STREAM + 1

    play(scene)


def test_a_stored_bundle_never_changes(play: Play) -> None:
    async def scene(db: Database) -> None:
        data = bytes(range(256)) * (bundles.SLICE_BYTES // 256) + b"and more"
        assert not await bundles.has(db, "p")
        assert await bundles.get(db, "p") is None
        assert await bundles.put(db, "p", data)
        assert not await bundles.put(db, "p", b"other")
        assert await bundles.has(db, "p")
        assert await bundles.get(db, "p") == data
        assert await bundles.put(db, "empty", b"")
        assert await bundles.get(db, "empty") == b""

    play(scene)


def test_what_is_old_is_removed_and_what_is_open_keeps_its_tree(play: Play, postgres: Server, url: str) -> None:
    async def scene(db: Database) -> None:
        await meet(db, "w1")
        await meet(db, "w2")
        for name, parent in (("done", None), ("root", None), ("child", "root")):
            await submissions.post(db, make(name, parent=parent))
            await leases.acquire(db, name, "w1", lease_s=15, timeout_s=60)
            await add_output(db, name, 1, "out", 0, b"text")
        await submissions.announce(db, make("never-sent"))
        for name in ("done", "child"):
            assert await publish(db, name, 1)
        await bundles.put(db, "old", b"x")
        assert await prune(db, days=1) == 0

        for change in (
            "sessions SET posted_at = posted_at - interval '2 days', done_at = done_at - interval '2 days'",
            "parcels SET made_at = made_at - interval '2 days'",
            "workers SET beat_at = beat_at - interval '2 days'",
        ):
            postgres.ask(f"UPDATE remit.{change}", url)
        await bundles.put(db, "new", b"x")
        assert await prune(db, days=1) == 2, "the one that is done, and the one that was never sent"
        left = await session_rows.list_rows(db)
        assert {row.session_id for row in left} == {"root", "child"}, "somebody still works in that tree"
        assert await load_output(db, "done", 1, "out", 0) == b""
        assert await load_output(db, "child", 1, "out", 0) == b"text"
        assert await bundles.has(db, "old"), "it may be the open one's"
        assert [worker.worker_id for worker in await list_workers(db)] == ["w1"]

        assert await publish(db, "root", 1)
        postgres.ask("UPDATE remit.sessions SET done_at = done_at - interval '2 days'", url)
        postgres.ask("UPDATE remit.parcels SET made_at = made_at - interval '2 days' WHERE name = 'old'", url)
        assert await prune(db, days=1) == 2
        assert not await bundles.has(db, "old")
        assert await bundles.has(db, "new")

    play(scene)


def test_two_who_prune_at_once_remove_all_once(play: Play, postgres: Server, url: str) -> None:
    async def scene(db: Database) -> None:
        for number in range(40):
            await submissions.post(db, make(f"s{number}"))
            await submissions.finish_unstarted(db, f"s{number}", b"", "failed", "cancelled")
        postgres.ask("UPDATE remit.sessions SET done_at = done_at - interval '2 days'", url)
        other = type(db)(url)
        await other.open()
        counts = await asyncio.gather(prune(db, days=1), prune(other, days=1))
        await other.close()
        assert sum(counts) == 40
        assert await session_rows.list_rows(db) == []

    play(scene)

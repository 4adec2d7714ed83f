"""Delegations through the database with 1, 2, 4 and 8 workers, beside plain DBOS with as many.

Run as `python bench/all.py scale_throughput`. Both have the same PostgreSQL (a database each), the same polls and as
many at once, the same commit of 300 files and 3 MB, and the same program as the agent, which sleeps, writes a file and
says so. What plain DBOS does in its one step is what anybody has to do: see `bench/scale_plain.py`. Remit also takes
the tree as it is, holds the deadline in a namespace, judges the return, compares the tree before and after, and brings
the file back and checks it. They are measured in turn, round after round, and the ratio of a round counts; while one is
measured the other's workers are stopped. Workers are started before, callers are one process each.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.clock import find_share
from bench.rows import choose, finish, make_row
from bench.scale_parts import (
    KEY,
    Crowd,
    make_workspace,
    measure_busy_s,
    serve,
    start_plain,
    start_workers,
)
from bench.scale_plain import QUEUE, VERSION, WORKFLOW
from remit.git.tree_snapshot import snapshot_tree
from remit.runs.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.rows import Row
    from tests.support.postgres import Server

SECONDS = choose({1: (1,), 2: (1, 0)}, {1: (5, 1, 0), 2: (5, 1), 4: (5, 1, 0), 8: (5,)})
"""For each number of workers how long agents take. Real ones take minutes."""
ROUNDS = choose(2, 3)
ON_ONE = 2
AWAKE_S = 3.0
"""Until whoever was stopped has its connections again."""
EACH = 4
"""How many delegations for each worker in a round."""
ALONE = choose(8, 30)
GOAL, PLAIN = 1.3, "plain DBOS"


class Run(NamedTuple):
    """What one round of one contender took."""

    wall_s: float
    busy_s: float
    """Of workers and caller together."""


class Place(NamedTuple):
    """Where both are measured."""

    server: Server
    url: str
    plain_url: str
    root: Path
    commit: str
    folder: Path


def run_remit(place: Place, crowd: Crowd, count: int, seconds: float) -> Run:
    """So many delegations, handed over at once."""
    os.environ.update({"REMIT_BACKEND": place.url, "REMIT_CLUSTER_KEY": KEY})
    busy = crowd.measure_busy_s() + measure_busy_s(os.getpid())

    async def run() -> float:
        async with Workspace.open(place.root) as ws:
            began = time.perf_counter()

            async def delegate() -> None:
                command = f"/bin/sh agent-{seconds:g}.sh"
                result = await ws.delegate("noop", "Do nothing.", command=command, finishes=False, timeout_s=300)
                assert result.status == "completed", result

            await asyncio.gather(*(delegate() for _ in range(count)))
            return time.perf_counter() - began

    wall = asyncio.run(run())
    return Run(wall, crowd.measure_busy_s() + measure_busy_s(os.getpid()) - busy)


def run_plain(place: Place, crowd: Crowd, count: int, seconds: float) -> Run:
    """So many workflows, enqueued at once."""
    from dbos import DBOSClient, EnqueueOptions  # noqa: PLC0415 - half a second, which is nobody's

    client = DBOSClient(system_database_url=place.plain_url)
    busy = crowd.measure_busy_s() + measure_busy_s(os.getpid())
    options: EnqueueOptions = {"workflow_name": WORKFLOW, "queue_name": QUEUE, "app_version": VERSION}

    def work(_: int) -> None:
        session_id = f"sess_{os.urandom(6).hex()}"
        handle: Any = client.enqueue(
            {**options, "workflow_id": session_id}, session_id, place.commit, f"/bin/sh agent-{seconds:g}.sh"
        )
        assert session_id in handle.get_result(polling_interval_sec=0.05)

    began = time.perf_counter()
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, range(count)))
    wall = time.perf_counter() - began
    told = Run(wall, crowd.measure_busy_s() + measure_busy_s(os.getpid()) - busy)
    client.destroy()
    return told


def measure(place: Place, workers: int) -> Iterator[Row]:
    """One number of workers, both contenders in turn, with agents that take a while and with such that do not."""
    remit = start_workers(place.folder / f"r{workers}", place.url, workers, ON_ONE)
    plain = start_plain(place.folder / f"p{workers}", place.plain_url, workers, ON_ONE, place.root)
    try:
        for crowd in (remit, plain):
            crowd.wait_ready()
        race(place, remit, plain, workers, 0)  # to warm up
        for seconds in SECONDS[workers]:
            runs = [race(place, remit, plain, EACH * workers, seconds) for _ in range(ROUNDS)]
            yield tell(workers, seconds, runs)
    finally:
        remit.end()
        plain.end()


def race(place: Place, remit: Crowd, plain: Crowd, count: int, seconds: float) -> tuple[Run, Run]:
    """A round of each, while the other does nothing at all."""
    remit.thaw()
    plain.freeze()
    time.sleep(AWAKE_S)
    ours = run_remit(place, remit, count, seconds)
    remit.freeze()
    plain.thaw()
    time.sleep(AWAKE_S)
    return ours, run_plain(place, plain, count, seconds)


def tell(workers: int, seconds: float, runs: list[tuple[Run, Run]]) -> Row:
    """What came out of the rounds."""
    count = EACH * workers
    ours, theirs = zip(*runs, strict=True)
    busy = [statistics.median(run.busy_s / count * 1e3 for run in each) for each in (ours, theirs)]
    return make_row(
        "cluster", f"{count} delegations on {workers} worker{'s' * (workers > 1)}, agents of {seconds:g} s", "s",
        [run.wall_s for run in ours], peers={PLAIN: [run.wall_s for run in theirs]},
        goals={PLAIN: GOAL} if seconds >= 1 else {},
        note=f"Processor for each: {busy[0]:.0f} ms, {PLAIN} {busy[1]:.0f} ms.",
    )  # fmt: skip


def measure_waiting(place: Place) -> list[Row]:
    """One delegation after the other, with two idle workers: how long each waits, and what it leaves behind."""
    crowd = start_workers(place.folder / "alone", place.url, 2, ON_ONE)
    try:
        crowd.wait_ready()
        run_remit(place, crowd, 2, 0)
        since = place.server.ask("SELECT clock_timestamp()::text", place.url)[0][0]
        before = weigh(place)
        walls = [run_remit(place, crowd, 1, 0).wall_s for _ in range(ALONE)]
        after = weigh(place)
    finally:
        crowd.end()
    waits = [
        float(str(row[0])) * 1e3
        for row in place.server.ask(
            f"SELECT extract(epoch FROM taken_at - posted_at)::float8 FROM remit.sessions WHERE posted_at > '{since}'",  # noqa: S608 - what the server said itself
            place.url,
        )
    ]
    grown = {name: (after[name] - before[name]) / ALONE for name in after}
    who = "one delegation after the other"
    return [
        make_row("cluster", f"{who}: from asked to back", "ms", [wall * 1e3 for wall in walls]),
        make_row("cluster", f"{who}: from posted to taken", "ms", waits),
        make_row("cluster", f"{who}: from posted to taken, 99 of 100", "ms", [find_share(waits, 0.99)]),
        make_row("cluster", "left by one: rows in the database", "", [grown["rows"]]),
        make_row("cluster", "left by one: size of these rows", "kB", [grown["bytes"] / 1e3]),
        make_row("cluster", "left by one: trees and results", "kB", [grown["trees"] / 1e3]),
        make_row("cluster", "left by one: written ahead", "kB", [grown["wal"] / 1e3]),
    ]


def weigh(place: Place) -> dict[str, float]:
    """What the tables of both schemas have and weigh."""
    ask = place.server.ask
    names = [
        f'"{schema}"."{table}"'
        for schema, table in ask(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('remit', 'dbos')", place.url
        )
    ]
    count = " + ".join(f"(SELECT count(*) FROM {name})" for name in names)  # noqa: S608 - names of tables
    size = " + ".join(f"pg_total_relation_size('{name}')" for name in names)
    trees = "pg_total_relation_size('remit.parcels')"
    told = ask(f"SELECT {count}, {size} - {trees}, {trees}, pg_current_wal_lsn() - '0/0'::pg_lsn", place.url)[0]
    return dict(zip(("rows", "bytes", "trees", "wal"), (float(str(value)) for value in told), strict=True))


def measure_all() -> Iterator[Row]:
    """One after the other, then each number of workers."""
    with ExitStack() as stack:
        server = stack.enter_context(serve())
        url, plain_url = (stack.enter_context(server.database()) for _ in range(2))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=Path.cwd())))
        root = make_workspace(folder)
        place = Place(server, url, plain_url, root, snapshot_tree(str(root), with_history=True).commit, folder)
        yield from measure_waiting(place)
        for workers in SECONDS:
            yield from measure(place, workers)


if __name__ == "__main__":
    sys.exit(finish(measure_all()))

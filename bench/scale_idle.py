"""What a worker costs that does nothing: statements, connections, memory and processor, here and at the server.

Run as `python bench/all.py scale_idle`. All statements are logged and counted for a while, with the usual settings and
with `poll = 1`. Then what one word about an agent costs while others listen to something else.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.rows import choose, finish, make_row
from bench.scale_parts import measure_busy_s, serve, start_workers
from remit.cluster.database import leases, submissions
from remit.cluster.database.store import Database
from tests.support import postgres

if TYPE_CHECKING:
    from bench.rows import Row
    from tests.support.postgres import Server

SETTLE_S, COUNTED_S = 5.0, choose(8.0, 20.0)
LISTENERS = (0, 10, 50, 100, 200)
WORDS, ROUNDS = 100, choose(2, 7)
_STATEMENT = re.compile(r"(?:statement|execute [^:]*): *(\w*|;)")


def measure_idle(server: Server, folder: Path, poll_s: float) -> list[Row]:
    """Count what a worker says to the server while nothing is to be done."""
    (folder / "remit-0").mkdir(parents=True)
    (folder / "remit-0" / "remit.toml").write_text(f"[cluster]\npoll = {poll_s:g}\n")
    with server.database() as url:
        crowd = start_workers(folder, url, 1, 8)
        try:
            crowd.wait_ready()
            time.sleep(SETTLE_S)
            pid = crowd.machines[0].process.pid
            backends = [int(str(row[0])) for row in server.ask(_BACKENDS, url)]
            with (server.folder / "log").open("rb") as log:
                log.seek(0, os.SEEK_END)
                busy, served = measure_busy_s(pid), _measure_all(backends)
                time.sleep(COUNTED_S)
                busy, served = measure_busy_s(pid) - busy, _measure_all(backends) - served
                said = Counter(_STATEMENT.findall(log.read().decode(errors="replace")))
            status = Path(f"/proc/{pid}/status").read_text()
        finally:
            crowd.end()
    memory = int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024
    who = f"an idle worker, poll = {poll_s:g}"
    return [
        make_row("cluster", f"{who}: transactions a second", "", [said["COMMIT"] / COUNTED_S]),
        make_row("cluster", f"{who}: messages a second, with BEGIN, COMMIT and pings", "", [said.total() / COUNTED_S]),
        make_row("cluster", f"{who}: its share of a core", "%", [busy / COUNTED_S * 100]),
        make_row("cluster", f"{who}: the server's share of a core for it", "%", [served / COUNTED_S * 100]),
        make_row("cluster", f"{who}: connections", "", [len(backends)]),
        make_row("cluster", f"{who}: memory", "MB", [memory]),
    ]


_BACKENDS = """
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


def _measure_all(pids: list[int]) -> float:
    return sum(measure_busy_s(pid) for pid in pids if Path(f"/proc/{pid}").exists())


async def measure_listeners(url: str) -> list[Row]:
    """What one word about an agent costs."""
    from psycopg import AsyncConnection  # noqa: PLC0415 - an extra

    db = Database(url)
    await db.open()
    await submissions.post(db, submissions.Posted("s", "s", None, "noop", 1, ("noop",), "command", {}, b"order"))
    lease = await leases.acquire(db, "s", "w", lease_s=3600, timeout_s=3600)
    assert lease is not None
    listening: list[AsyncConnection[Any]] = []
    found = []
    for count in LISTENERS:
        while len(listening) < count:
            listening.append(await AsyncConnection.connect(url, autocommit=True))
            await listening[-1].execute("LISTEN remit_posted")
        taken = []
        for turn in range(ROUNDS):
            began = time.perf_counter()
            for number in range(WORDS):
                live = {"activity": f"{count} {turn} {number}"}
                await leases.report_progress(db, "s", lease.fence, live=live, tokens=number, cost_usd=None, turns=None)
            taken.append((time.perf_counter() - began) / WORDS * 1e3)
        found.append(make_row("cluster", f"a word about an agent, {count} others listen", "ms", taken))
    for each in listening:
        await each.close()
    await db.close()
    return found


def main() -> int:
    """Print what was measured."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        with serve() as server, server.database() as url:
            found += asyncio.run(measure_listeners(url))
        postgres.SETTINGS["log_statement"] = "all"
        with serve() as server:
            for poll_s in (0.2, 1.0):
                found += measure_idle(server, Path(name) / f"{poll_s:g}", poll_s)
    return finish(found)


if __name__ == "__main__":
    sys.exit(main())

"""Many who follow one run: part of `bench/web.py`.

Every client has a connection of its own and reads as quickly as it can, all of them in this process. What one of them
got is compared with what was written down: it must be all of it, in order.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.clock import find_share
from bench.rows import make_row
from remit.ledger.events import add_event

if TYPE_CHECKING:
    from bench.rows import Row
    from remit.ledger.home import Home
    from tests.support.dashboard import Server

CLIENTS, EVENTS, PAUSE_S = 200, 100, 0.05
_AREA, _AT_ONCE = "dashboard", 20
_SETTLE_S = 2.0


class Client:
    """One who follows: the numbers that came, and when."""

    def __init__(self) -> None:
        self.came: dict[int, float] = {}
        self.order: list[int] = []
        self.is_open = asyncio.Event()

    async def follow(self, server: Server, token: str, session: str) -> None:
        """Read the stream of a run until it is cut off."""
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        lines = (f"GET /api/v1/events?session={session} HTTP/1.1", f"Host: 127.0.0.1:{server.port}",
                 f"Authorization: Bearer {token}", "Accept: text/event-stream", "", "")  # fmt: skip
        writer.write("\r\n".join(lines).encode())
        try:
            assert b" 200 " in await reader.readline()
            kind = ""
            while line := await reader.readline():
                if line.startswith(b"event: "):
                    kind = line[7:].decode().strip()
                    if kind == "hello":
                        self.is_open.set()
                elif line.startswith(b"id: "):
                    number = int(line[4:])
                elif line.startswith(b"data: ") and kind == "change":
                    self.came[number] = time.monotonic()
                    self.order.append(number)
        finally:
            writer.close()


def find_used(pid: int) -> tuple[float, float]:
    """The seconds of processor that a process has used, and its memory in MB."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGESIZE") / 1e6


async def _play(server: Server, token: str, session: str, home: Home) -> tuple[list[Client], dict[int, float]]:
    clients = [Client() for _ in range(CLIENTS)]
    tasks = []
    for at in range(0, CLIENTS, _AT_ONCE):  # the server takes some fifty requests a second from one who asks
        group = clients[at : at + _AT_ONCE]
        tasks += [asyncio.create_task(each.follow(server, token, session)) for each in group]
        await asyncio.gather(*(each.is_open.wait() for each in group))
        await asyncio.sleep(0.3)
    written: dict[int, float] = {}

    def write(at: int) -> None:
        with home.ledger.transaction() as db:
            number = add_event(db, "said", {"note": f"number {at}"}, session_id=session)
        written[number] = time.monotonic()

    for at in range(EVENTS):
        write(at)
        await asyncio.sleep(PAUSE_S)
    await asyncio.sleep(_SETTLE_S)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return clients, written


def measure_clients(server: Server, token: str, session: str, home: Home) -> list[Row]:
    """Have them follow; how late each heard of each event, and what that cost the server."""
    assert server.process is not None
    pid = server.process.pid
    _, before_mb = find_used(pid)
    began_s, began = find_used(pid)[0], time.monotonic()
    clients, written = asyncio.run(_play(server, token, session, home))
    used_s, after_mb = find_used(pid)
    share = (used_s - began_s) / (time.monotonic() - began) * 100
    complete = [each for each in clients if each.order == sorted(written)]
    lags = [(each.came[number] - at) * 1e3 for each in complete for number, at in written.items()]
    assert lags, "nobody got all of it"
    missed, note = CLIENTS - len(complete), f"95 of 100 take no more than {find_share(lags, 0.95):.0f} ms."
    return [
        make_row(_AREA, f"of {CLIENTS} who follow a run: not told all {EVENTS} events in order", "", [missed], goal=0),
        make_row(_AREA, "an event, until one of them has it", "ms", lags, note=note),
        make_row(_AREA, "the server's share of a core meanwhile", "%", [share]),
        make_row(_AREA, "its memory with them", "MB", [after_mb], note=f"{before_mb:.0f} MB before."),
    ]

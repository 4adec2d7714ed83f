"""The dashboard: how soon the list of ten thousand is there, a change is on the screen, and many who follow are told.

Run as `python bench/all.py web`, on a machine with chromium; without it, what is seen in a browser is left out, and its
row says so. Everything is real: `remit serve` as a process of its own, a ledger of 10,000 delegations, a browser that
shows it.
"""

from __future__ import annotations

import gzip
import http.client
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.clock import SOURCE, find_share
from bench.rows import choose, finish, make_row
from bench.web_clients import measure_clients
from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run, advance
from tests.support.dashboard import Server, find_chromium, list_flags, make_workspace, open_page
from tests.support.ledger_rows import Kept, insert, name, opened
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from bench.rows import Row
    from tests.support.dashboard import Seen

RUNS: Final = 10_000
AREA: Final = "dashboard"
ROUNDS: Final = choose(20, 60)
CHANGES: Final = choose(10, 40)
MOST_LIST_MS, MOST_SCREEN_MS, MOST_KB = 100.0, 200.0, 150.0
_SCREEN: Final = "a change, until its row says so on the screen"
_LIST: Final = "/api/v1/runs?roots=true&limit=200"
_BARE: Final = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
body = open(sys.argv[1], "rb").read()
async def answer(request):
    return Response(body, media_type="application/json")
app = Starlette(routes=[Route("/", answer)])
uvicorn.run(app, port=int(sys.argv[2]), log_level="critical", access_log=False)
"""
"""An answer of as many bytes, by the same library, of nothing that had to be looked up."""
WATCH: Final = """() => {
  globalThis.shown = {};
  new MutationObserver(() => {
    for (const row of document.querySelectorAll("a.run-row")) {
      const told = `${row.getAttribute("href").split("/").pop()} ${row.querySelector(".badge-word")?.textContent}`;
      if (told in globalThis.shown) continue;
      globalThis.shown[told] = 0;
      requestAnimationFrame(() => setTimeout(() => { globalThis.shown[told] = Date.now(); }));
    }
  }).observe(document.querySelector("main"), { subtree: true, childList: true, characterData: true });
}"""
"""Notes when a row first says something, once that was drawn."""


# --- the list --------------------------------------------------------------------------------------------------------


class Asker:
    """A program that asks over one connection."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.headers = headers

    def ask(self, path: str) -> tuple[float, bytes]:
        """How many milliseconds an answer took, to its last byte, and the answer."""
        began = time.perf_counter()
        self.connection.request("GET", path, headers=self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        took = (time.perf_counter() - began) * 1e3
        assert answer.status == 200, body[:300]
        return took, body


def measure_list(server: Server, token: str, folder: Path) -> list[Row]:
    """The first page of the list, in turn with a bare answer of as many bytes."""
    ours = Asker(server.port, {"Authorization": f"Bearer {token}"})
    _, body = ours.ask(_LIST)
    told = json.loads(body)
    assert (told["total"], len(told["items"])) == (RUNS, 200), told["total"]
    file, port = folder / "body.json", server.port + 1
    file.write_bytes(body)
    with subprocess.Popen([sys.executable, "-c", _BARE, str(file), str(port)]) as process:  # noqa: S603 - itself
        try:
            bare = wait_until(lambda: _connect(port), "the bare server")
            pairs = [_pause((ours.ask(_LIST)[0], bare.ask("/")[0])) for _ in range(ROUNDS)]
            found = [ours.ask(f"{_LIST}&q=number+4242")[0] for _ in range(ROUNDS // 2)]
        finally:
            process.terminate()
    times, floor = ([each[at] for each in pairs] for at in (0, 1))
    note = f"{len(body) / 1e3:.0f} kB; 95 of 100 take no more than {find_share(times, 0.95):.0f} ms."
    return [
        make_row(AREA, f"the first 200 of {RUNS:,} runs", "ms", times, goal=MOST_LIST_MS,
                 floors={"a bare Starlette answer of the same bytes": floor}, note=note),
        make_row(AREA, f"a search through all {RUNS:,}", "ms", found),
    ]  # fmt: skip


def _pause(times: tuple[float, float]) -> tuple[float, float]:
    """Wait a little: the server takes some fifty requests a second from one who asks."""
    time.sleep(0.05)
    return times


def _connect(port: int) -> Asker | None:
    asker = Asker(port, {})
    try:
        asker.ask("/")
    except OSError:
        return None
    return asker


# --- the page --------------------------------------------------------------------------------------------------------


def measure_weight(server: Server, token: str) -> list[Row]:
    """All files of the page as they are sent: compressed."""
    asker = Asker(server.port, {"Authorization": f"Bearer {token}", "Accept-Encoding": "gzip"})
    names = sorted(each.name for each in (SOURCE / "remit" / "server" / "web").iterdir() if each.is_file())
    sizes = {}
    for each in names:
        _, body = asker.ask("/" if each == "index.html" else f"/web/{each}")
        sizes[each] = len(body)
        assert len(gzip.decompress(body)) > len(body), f"{each} is not compressed"
    total = sum(sizes.values()) / 1e3
    largest = max(sizes, key=lambda each: sizes[each])
    note = f"{len(sizes)} files, the largest {largest} with {sizes[largest] / 1e3:.0f} kB."
    return [make_row(AREA, "the whole page, compressed", "kB", [total], goal=MOST_KB, note=note)]


def measure_screen(server: Server, home: Home) -> list[Row]:
    """From a change that is written down to a row that says so, in a browser."""
    chromium = find_chromium()
    if chromium is None:
        return [make_row(AREA, _SCREEN, "ms", [], goal=MOST_SCREEN_MS, note="Not measured: there is no chromium here.")]
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where there is a browser

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list_flags())
        seen = open_page(browser, server)
        began = time.monotonic()
        seen.open("/runs", wait="a.run-row")
        first = (time.monotonic() - began) * 1e3
        seen.wait_for('document.querySelector(".link-dot").dataset.link === "live"', "the stream is open")
        seen.evaluate(WATCH)
        lags = [_change(seen, home, at) for at in range(CHANGES)]
        seen.check()
        browser.close()
    note = f"95 of 100 take no more than {find_share(lags, 0.95):.0f} ms."
    return [
        make_row(AREA, _SCREEN, "ms", lags, goal=MOST_SCREEN_MS, note=note),
        make_row(AREA, "the page opened, until its first rows are there", "ms", [first]),
    ]


def _change(seen: Seen, home: Home, at: int) -> float:
    """Let something happen to a run that is in sight; the milliseconds until that is seen."""
    now_ms = int(time.time() * 1e3)
    session = f"sess_{now_ms // 1000}_b{at:05}"
    row = Run(session, "planner", 1, ("orchestrator", "planner"), created_ms=now_ms, runner="command",
                     details={"work": f"Change {at}."})  # fmt: skip
    add_run(home.ledger, row)
    with home.ledger.transaction() as db:
        advance(db, session, "running", started_ms=now_ms)
    wait_until(lambda: _find(seen, session, is_over=False), "the row is there")
    time.sleep(0.4 + at % 7 * 0.05)  # not in step with anything of the page's
    with home.ledger.transaction() as db:
        advance(db, session, "finished", ended_ms=int(time.time() * 1e3), stop_reason="exited", verdict="accepted",
                status="completed")  # fmt: skip
    written_ms = time.time() * 1e3
    shown_ms: float = wait_until(lambda: _find(seen, session, is_over=True), "the row says so")
    time.sleep(0.1)
    return shown_ms - written_ms


def _find(seen: Seen, session: str, *, is_over: bool) -> float:
    """When a row was first drawn as it is, or 0."""
    shown = seen.evaluate("() => globalThis.shown")
    found = {told.split(" ")[1]: at for told, at in shown.items() if told.startswith(session)}
    return float(max((at for word, at in found.items() if (word == "completed") is is_over), default=0))


# --- all of it -------------------------------------------------------------------------------------------------------


def main() -> int:
    """Print what was measured; 1 when a goal is missed."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        place = Path(folder)
        root = make_workspace(place / "root", {}, {}, place / "config")
        now = int(time.time() * 1000) - RUNS * 1000
        with opened(root) as home:
            insert(home, *(Kept(at, created_ms=now + at * 1000, work=f"Work number {at}.") for at in range(RUNS)))
        server = Server(root, place / "config")
        server.start()
        home = Home(str(root))
        try:
            token = str(json.loads((root / ".remit/server.json").read_text())["token"])
            rows = [*measure_list(server, token, place), *measure_weight(server, token), *measure_screen(server, home)]
            return finish([*rows, *measure_clients(server, token, name(RUNS - 1), home)])
        finally:
            home.close()
            server.end()


if __name__ == "__main__":
    sys.exit(main())

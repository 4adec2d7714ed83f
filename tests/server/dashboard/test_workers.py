"""Workers in a real browser: who is there, what waits, who holds what; names that are hostile stay text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from remit.cluster.database import leases, submissions
from remit.cluster.database.store import Database
from remit.cluster.database.submissions import Posted
from remit.cluster.database.workers import RegisteredWorker, deregister, register
from remit.cluster.workers_status import run_with_timeout
from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run
from tests.support.dashboard import Seen, Server, make_workspace, open_page
from tests.support.postgres import Missing, running

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)>\u202e"
OWN = "sess_1700000001_aaaaaa"


def play(url: str, scene: Callable[[Database], Awaitable[Any]]) -> None:
    """Run a scene with the database, in a thread of its own: the browser's loop runs in this one."""

    async def whole() -> None:
        db = Database(url)
        await db.open()
        try:
            await scene(db)
        finally:
            await db.close()

    run_with_timeout(whole, "the database", 30)


@pytest.fixture(scope="module")
def place(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Seen, str]]:
    folder = tmp_path_factory.mktemp("workers")
    root = make_workspace(folder / "root", {}, {}, folder / "config")
    home = Home(str(root))
    add_run(home.ledger, Run(OWN, "planner", 1, ("o", "planner"), owner="1-gone", details={"remote": True}))
    home.close()
    try:
        with running() as postgres, postgres.database() as url:
            server = Server(root, folder / "config")
            server.env["REMIT_BACKEND"] = url
            server.start()
            seen = open_page(browser, server)
            yield seen, url
            seen.check()
            seen.page.context.close()
            server.end()
    except Missing as error:
        pytest.skip(f"NO POSTGRESQL, the page of workers was not seen: {error}")


@pytest.mark.thorough
def test_workers_queues_and_leases_come_and_go_by_themselves(place: tuple[Seen, str]) -> None:
    seen, url = place
    seen.open("/workers", wait="main h1")
    assert "No worker is there" in seen.see_text("main", "No worker is there")
    assert seen.see("#bar nav a[href='/workers']").inner_text() == "Workers"

    async def begin(db: Database) -> None:
        for name in ("alpha", HOSTILE):
            await register(db, RegisteredWorker(name, f"host of {name}", 7, "1.0", 1, 4, ("planner",), 15.0))
        for name in (OWN, "sess_1700000002_bbbbbb", "sess_1700000003_cccccc"):
            posted = Posted(name, name, None, HOSTILE, 1, ("o", "planner"), "command", {"timeout_s": 60}, b"order")
            await submissions.post(db, posted)
        await leases.acquire(db, OWN, "alpha", lease_s=60, timeout_s=60)
        await leases.acquire(db, "sess_1700000002_bbbbbb", HOSTILE, lease_s=0.01, timeout_s=60)

    play(url, begin)
    told = seen.see_text("main", "2 workers")
    assert "1 of 4" in told
    assert "<img src=x onerror=alert(1)><U+202E>" in told
    assert "over" in told
    assert seen.page.locator("main img").count() == 0
    assert seen.page.locator("main table a").count() == 1, "the other session is of another workspace"
    seen.shoot("workers")

    async def end(db: Database) -> None:
        await deregister(db, HOSTILE)

    play(url, end)
    seen.see_text("main", "1 worker at")
    seen.open("/runs", wait="a.run-row")
    assert "alpha" in seen.see_text("a.run-row", "alpha")
    seen.open(f"/runs/{OWN}", wait=".tree-row")
    assert "alpha" in seen.see_text(".tree-row", "alpha")
    seen.see_text(".node-body", "alpha, on host of alpha, fence 1")

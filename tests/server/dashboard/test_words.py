"""What the dashboard says of delegations of which little is kept, and how many pages can be open at once."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pytest

from remit.ledger.events import add_event
from tests.support.dashboard import Seen, Server, make_workspace, open_page
from tests.support.ledger_rows import Kept, insert, name, opened
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.thorough]
MANY = 8
"""More pages than a browser has connections for."""


class Place(NamedTuple):
    """A workspace of which only the ledger is kept, and a page that looks at it."""

    seen: Seen
    server: Server


@pytest.fixture(scope="module")
def place(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("words")
    server = Server(make_workspace(folder / "root", {"mine": "cat"}, {}, folder / "config"), folder / "config")
    with opened(server.root) as home:
        insert(home, Kept(0), Kept(1, state="running"), Kept(2, verdict="malformed", attempts=("malformed",)),
               Kept(3, verdict="fabricated", attempts=("fabricated",)), Kept(4, attempts=("accepted",)),
               Kept(5, verdict="invalid", status="failed", attempts=("invalid",)))  # fmt: skip
        told = [{"code": "RET050", "severity": "error", "message": "'/etc/passwd' leads out of the project"}]
        with home.ledger.transaction() as db:
            db.execute("UPDATE attempts SET diagnostics = ? WHERE session_id = ?", (json.dumps(told), name(5)))
    server.start()
    try:
        seen = open_page(browser, server)
        yield Place(seen, server)
        seen.page.context.close()
    finally:
        server.end()


def test_where_nothing_is_kept_of_an_answer_that_is_said(place: Place) -> None:
    place.seen.open(f"/runs/{name(0)}")
    assert "drives" not in place.seen.see_text(".node-body", "Nothing is kept of what it sent back.")
    place.seen.open(f"/runs/{name(1)}")
    place.seen.see_text(".node-body", "No process supervises this run any more.")
    place.seen.check()


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "No answer could be read that names a file."),
        (1, "It has not answered yet."),
        (2, "No answer could be read that names a file."),
        (3, "Which files it named is not kept."),
        (4, "It names no file."),
        (5, "'/etc/passwd' leads out of the project"),
    ],
)
def test_that_no_file_is_known_is_told_from_that_none_was_named(place: Place, number: int, words: str) -> None:
    place.seen.open(f"/runs/{name(number)}?tab=evidence")
    place.seen.see_text(".node-body", words)
    place.seen.check()


def test_who_can_run_an_agent_can_be_chosen(place: Place) -> None:
    place.seen.open("/runs")
    place.seen.see(".badge")
    place.seen.page.keyboard.press("n")
    place.seen.see("dialog[open] select[name=runner]")
    place.seen.wait_for("document.querySelector('select[name=runner] option[value=mine]') !== null", "the runner")
    place.seen.shoot("new-run")
    place.seen.page.keyboard.press("Escape")
    place.seen.check()


def test_what_is_forgotten_leaves_the_list(place: Place) -> None:
    with opened(place.server.root) as home:
        insert(home, Kept(60, agent="oldster"))
        place.seen.open("/runs")
        place.seen.page.locator(".run-row", has_text="oldster").wait_for()
        with home.ledger.transaction() as db:
            db.execute("DELETE FROM runs WHERE session_id = ?", (name(60),))
            add_event(db, "forgotten", {"runs": 1})
    place.seen.page.locator(".run-row", has_text="oldster").wait_for(state="detached")
    place.seen.check()


def test_what_is_open_is_looked_at_again_without_an_event(place: Place) -> None:
    page = place.seen.page
    page.clock.install()

    def list_asked(part: str) -> list[str]:
        return [each for each in place.seen.asked if part in each]

    for path, asked in ((f"/runs/{name(1)}", "/tree"), ("/runs", "limit=60")):
        place.seen.open(path)
        place.seen.see(".badge")
        place.seen.asked.clear()
        page.clock.run_for(20_000)
        wait_until(partial(list_asked, asked), f"another look at {path}")
    place.seen.check()


def test_more_pages_than_connections_are_all_told_of_what_happens(place: Place) -> None:
    context = place.seen.page.context
    place.seen.open("/runs")
    pages: list[Page] = [context.new_page() for _ in range(MANY)]
    polled: list[str] = []
    for page in pages:
        page.on("request", lambda request: polled.append(request.url) if "limit=500" in request.url else None)
        page.goto(f"{place.server.url}/runs")
        page.wait_for_selector(".run-row .badge")
    with opened(place.server.root) as home:
        insert(home, Kept(50, agent="latecomer", state="running"))
        with home.ledger.transaction() as db:
            add_event(db, "something", {}, session_id=name(50))
    for page in pages:
        page.locator(".run-row", has_text="latecomer").first.wait_for()
    assert [each for each in polled if "/events" in each], "the last of them had no connection left for a stream"
    for page in pages:
        page.close()
    place.seen.check()

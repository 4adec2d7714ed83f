"""A connection that breaks: the page says so, comes back by itself, and then shows what happened meanwhile."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from remit.testing.agent import ScriptedAgent
from tests.support.dashboard import Seen, Server, make_workspace, open_page
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
EXPECTED = "net::ERR_", "Failed to load resource"
"""What a browser says of a server that is not there."""


@pytest.fixture
def seen(browser: Browser, tmp_path: Path) -> Iterator[Seen]:
    agent = ScriptedAgent(tmp_path / "agents", "worker").obeys()
    config = tmp_path / "config"
    server = Server(make_workspace(tmp_path / "root", {"worker": agent.command}, {}, config), config)
    server.start()
    try:
        seen = open_page(browser, server)
        yield seen
        seen.page.context.close()
    finally:
        server.end()


@pytest.mark.thorough
def test_a_page_comes_back_after_its_server_was_killed(seen: Seen) -> None:
    server, page = seen.server, seen.page
    server.remit("run", "worker", "Before it broke.", "--json")
    seen.open("/runs", wait="a.run-row")
    seen.wait_for('document.querySelector(".link-dot").dataset.link === "live"', "the stream is open")
    seen.evaluate("() => { globalThis.notReloaded = true; }")
    seen.check()
    port = server.port
    server.end(signal.SIGKILL)
    seen.see_text("#banner", "connection to the server is lost")
    assert "Before it broke." in page.locator("a.run-row").inner_text(), "what was there is still shown"
    seen.shoot("lost")
    server.remit("run", "worker", "While it was away.", "--json")
    server.start(port=port)
    seen.see_text('a.run-row:has-text("While it was away.") .badge', "completed")
    assert page.locator("a.run-row").count() == 2
    wait_until(lambda: not page.locator("#banner").inner_text(), "the banner is gone")
    server.remit("run", "worker", "And after it.", "--json")
    seen.see_text('a.run-row:has-text("And after it.") .badge', "completed")
    assert seen.evaluate("() => globalThis.notReloaded"), "it was loaded anew"
    seen.forgiven.extend(EXPECTED)
    seen.check()


def test_who_is_logged_out_is_told_how_to_come_back(seen: Seen) -> None:
    server, page = seen.server, seen.page
    seen.open("/runs", wait=".empty")
    seen.evaluate("() => fetch('/api/v1/session', { method: 'DELETE' }).then((answer) => answer.status)")
    page.keyboard.press("g")
    page.keyboard.press("t")
    seen.see_text(".empty", "remit serve --open")
    seen.shoot("signed-out")
    seen.forgiven.extend(EXPECTED)
    page.goto(server.make_login())
    seen.see_text(".empty", "There are no runs yet")
    seen.check()

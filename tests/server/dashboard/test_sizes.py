"""Many: ten thousand runs in the list and a thousand delegations in a tree, and the page does not stall."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.dashboard import Seen, Server, make_workspace, open_page
from tests.support.ledger_rows import Kept, insert, name, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

RUNS, NODES = 10_000, 1_000
STALL_MS = 100
SCROLL = """async (step) => {
  const list = document.querySelector(".list-scroller");
  list.scrollTop = 0;
  let frames = 0;
  for (let top = -1; list.scrollTop !== top; frames += 1) {
    top = list.scrollTop;
    list.scrollTop += step;
    await new Promise(requestAnimationFrame);
  }
  return frames;
}"""
"""Scrolls to the end of a list, one frame after the other."""


def make_rows() -> list[Kept]:
    """As many runs as are wanted, and one of them with a tree below it."""
    now = int(time.time() * 1000) - 2 * RUNS * 1000
    kinds = (("accepted", "completed", "exited"), ("fabricated", "failed", "exited"), (None, "partial", "timeout"))
    rows = [
        Kept(
            at,
            created_ms=now + at * 1000,
            verdict=verdict,
            status=status,
            stop_reason=stop_reason,
            work=f"Work number {at}.",
        )
        for at in range(RUNS)
        for verdict, status, stop_reason in [kinds[at % 3]]
    ]
    above = RUNS - 1
    tree = [
        Kept(RUNS + at, parent=above if at < 10 else RUNS + at // 10, root=above, agent=f"agent-{at % 7}",
             created_ms=now + RUNS * 1000 + at * 50)
        for at in range(NODES - 1)
    ]  # fmt: skip
    return [*rows, *tree]


@pytest.fixture(scope="module")
def seen(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    folder = tmp_path_factory.mktemp("sizes")
    config = folder / "config"
    root = make_workspace(folder / "root", {}, {}, config)
    fill(root)
    server = Server(root, config)
    server.start()
    try:
        seen = open_page(browser, server)
        yield seen
        seen.page.context.close()
    finally:
        server.end()


def fill(root: Path) -> None:
    with opened(root) as home:
        insert(home, *make_rows())


def measure_longest_ms(seen: Seen, browser: Browser, step: int) -> float:
    """Scroll to the end; the longest that the page was at work at a time.

    That is the processor's time, by the browser's own trace: on a busy machine everybody waits.
    """
    browser.start_tracing(page=seen.page, categories=["toplevel"])
    frames = seen.evaluate(SCROLL, step)
    traced = json.loads(browser.stop_tracing())["traceEvents"]
    tasks = [each["tdur"] / 1000 for each in traced if "RunTask" in each["name"] and "tdur" in each]
    assert frames > 20, frames
    assert len(tasks) > frames, "nothing was traced"
    return float(max(tasks))


def test_without_agents_it_is_said_how_one_is_made(seen: Seen) -> None:
    seen.open("/agents")
    assert "remit agent new" in seen.see_text(".empty", "no agents")
    seen.check()


def test_ten_thousand_runs(seen: Seen, browser: Browser) -> None:
    page = seen.page
    seen.open("/runs", wait="a.run-row")
    assert "10,000 runs" in seen.see_text(".runs-note", "runs")
    assert measure_longest_ms(seen, browser, 4800) < STALL_MS  # while rows are fetched
    seen.wait_for("!document.querySelector('.is-loading')", "the last rows")
    assert measure_longest_ms(seen, browser, 9600) < STALL_MS
    assert "Work number 0." in page.locator("a.run-row").last.inner_text()
    assert page.locator("a.run-row").count() < 100, "only those in sight are in the page"
    page.locator(".list").focus()
    page.keyboard.press("Home")
    assert f"Work number {RUNS - 1}." in seen.see_text("a.run-row[aria-selected=true]", "Work")
    page.get_by_label("Search runs").fill("number 4242.")
    seen.wait_for("document.querySelectorAll('a.run-row').length === 1", "one is found")
    seen.check()


def test_a_thousand_delegations_in_a_tree_and_on_the_timeline(seen: Seen, browser: Browser) -> None:
    page = seen.page
    seen.open(f"/runs/{name(RUNS - 1)}", wait=".tree-row")
    assert "1,000 runs" in seen.see_text(".run-tools", "runs")
    assert measure_longest_ms(seen, browser, 900) < STALL_MS
    page.keyboard.press("ArrowLeft")
    seen.wait_for("document.querySelectorAll('.tree-row').length === 1", "it is folded")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("v")
    seen.see(".time-row .bar")
    assert measure_longest_ms(seen, browser, 900) < STALL_MS
    seen.shoot("timeline-1000")
    for key in "++j-0":
        page.keyboard.press(key)
    seen.check()

"""Agents, tasks, findings, errors and compliance in a real browser: what is shown, found, sorted and moved."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.dashboard import Seen, Server, make_workspace, open_page, write_agent
from tests.support.ledger_rows import Kept, insert, name, opened
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

CALLS = {"lead": ("planner", "tester"), "planner": ("reader", "ghost"), "reader": ("deep",), "deep": (), "alone": (),
         "tester": ("fixer",), "fixer": ("tester",)}  # fmt: skip
KINDS = {"accepted": "completed", "repaired": "completed", "fabricated": "failed", "invalid": "failed"}


def make_files() -> dict[str, str]:
    entries = [
        {"id": f"entry-{at}-2026-11-16", "file": f"entry-{at}.md", "title": f"What the {word} does",
         "date": "2026-11-16", "status": "complete", "topics": [word, "cache"],
         "key_findings": [f"The {word} is read twice."],
         "actionable": True, "needs_followup": [], "linked_tasks": ["1"]}
        for at, word in enumerate(["walrus", "index", "lock"])
    ]  # fmt: skip
    errors = [
        {"id": f"err_{at}", "timestamp": f"2026-11-1{at}T10:00:00.000Z", "type": "timeout", "severity": "medium",
         "message": "its time was up", "code": "TIMEOUT", "context": {"session_id": name(0), "task_number": 1},
         "fix_status": "unfixed"}
        for at in range(3)
    ]  # fmt: skip
    return {
        "claudedocs/agent-outputs/MANIFEST.jsonl": "".join(f"{json.dumps(each)}\n" for each in entries),
        "specs/errors.json": json.dumps({"_schema_version": "2.0.0", "errors": errors}),
        **{f".claude/agents/{agent}.md": write_agent(agent, *calls) for agent, calls in CALLS.items()},
    }


@pytest.fixture(scope="module")
def seen(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    folder = tmp_path_factory.mktemp("pages")
    root = make_workspace(folder / "root", {}, make_files(), folder / "config")
    now_ms = time.time_ns() // 1_000_000
    with opened(root) as home:
        insert(home, *(
            Kept(at, agent=["lead", "planner"][at % 3 == 0], verdict=kind, status=KINDS[kind], attempts=(kind,),
                 task_number=1, created_ms=now_ms - 60_000)
            for at, kind in enumerate([*KINDS] * 5)
        ))  # fmt: skip
    server = Server(root, folder / "config")
    server.remit("task", "new", "Warm the cache")
    server.remit("task", "new", "Say which port is taken")
    server.start()
    try:
        opened_page = open_page(browser, server)
        yield opened_page
        opened_page.page.context.close()
    finally:
        server.end()


@pytest.fixture(autouse=True)
def _clean(seen: Seen) -> Iterator[None]:
    """Whatever is done, the page does nothing that it may not."""
    yield
    seen.check()


def get_focus(seen: Seen) -> str | None:
    found: str | None = seen.evaluate("() => document.activeElement.dataset.name ?? document.activeElement.dataset.key")
    return found


# --- agents ----------------------------------------------------------------------------------------------------------


def test_agents_have_their_findings_and_are_found_by_them(seen: Seen) -> None:
    page = seen.open("/agents", wait=".agent")
    assert "the agent ghost doesn't exist" in (page.locator(".cards").text_content() or "")
    page.keyboard.press("/")
    page.keyboard.type("ghost")
    wait_until(lambda: page.locator(".agent").count() == 1, "one file is left")
    assert page.locator(".agent h2").inner_text() == "planner"
    assert get_focus(seen) == "search"


def test_the_graph_marks_what_is_wrong_and_is_walked_by_keys(seen: Seen) -> None:
    page = seen.open("/agents?view=graph", wait=".vertex")
    marked = {kind: {each.get_attribute("data-name") for each in page.locator(f".vertex.is-{kind}").all()}
              for kind in ("round", "unknown", "deep")}  # fmt: skip
    assert marked == {"round": {"tester", "fixer"}, "unknown": {"ghost"}, "deep": {"deep"}}
    assert page.locator(".call.is-round").count() == 2
    assert "alone" in page.locator(".graph-main .chips").inner_text()
    page.locator('.vertex[data-name="lead"]').click()
    assert "depth 1" in seen.see_text(".graph-side", "lead")
    assert page.locator(".level").all_text_contents()[-1] == "Depth 4, beyond the limit"
    page.keyboard.press("ArrowRight")
    first = get_focus(seen)
    assert first in CALLS["lead"]
    page.keyboard.press("ArrowLeft")
    assert get_focus(seen) == "lead"
    assert page.url.endswith("agent=lead")
    seen.shoot("graph")


# --- tasks -----------------------------------------------------------------------------------------------------------


def test_a_task_is_moved_on_the_board_and_in_its_files(seen: Seen) -> None:
    page = seen.open("/tasks", wait=".task-card")
    assert page.locator(".column h2").all_inner_texts() == ["Not started\n2"]
    page.locator(".task-title", has_text="Say which port").click()
    page.locator('[data-key="move-BLOCKED"]').click()
    page.locator("dialog [name=reason]").fill("The key is missing.")
    page.locator("dialog [type=submit]").click()
    seen.see_text(".column[aria-label=blocked]", "The key is missing.")
    assert "[BLOCKED]" in (seen.server.root / "specs/TODO.md").read_text()
    page.keyboard.press("Escape")
    wait_until(lambda: page.url.endswith("/tasks"), "the task is closed")
    assert page.locator('a[href="/runs?task=1"]').inner_text() == "20 runs"


def test_drift_is_on_top_with_what_to_do(seen: Seen) -> None:
    todo = seen.server.root / "specs/TODO.md"
    before = todo.read_text()
    assert "[NOT STARTED]" in before
    try:
        todo.write_text(before.replace("[NOT STARTED]", "[PLANNED]", 1))
        seen.open("/tasks", wait=".drift")
        told = seen.see_text(".drift", "remit task sync")
        assert "disagree in 1 place" in told
        assert "specs/TODO.md:" in told
    finally:
        todo.write_text(before)
    seen.page.evaluate("() => dispatchEvent(new Event('focus'))")  # who comes back sees what is on disk now
    wait_until(lambda: seen.page.locator(".drift").count() == 0, "it is over")


# --- findings and errors ---------------------------------------------------------------------------------------------


def test_findings_are_searched_as_one_types_and_by_topic(seen: Seen) -> None:
    page = seen.open("/findings", wait=".card")
    assert page.locator(".cards > li").count() == 3
    page.keyboard.press("/")
    page.keyboard.type("walrus")
    wait_until(lambda: page.locator(".cards > li").count() == 1, "one is left")
    page.locator(".entry summary").click()
    assert "The walrus is read twice." in seen.see_text(".entry-body", "walrus")
    page.keyboard.press("Escape")
    wait_until(lambda: page.locator(".cards > li").count() == 3, "all are back")
    page.locator('[data-key="topic-lock"]').click()
    wait_until(lambda: page.locator(".cards > li").count() == 1, "that of the topic")
    assert page.url.endswith("topic=lock")
    assert get_focus(seen) == "topic-lock"
    page.locator(".entry-foot a").click()
    seen.see_text(".task-side", "Warm the cache")


def test_errors_are_grouped_by_cause_and_lead_to_runs(seen: Seen) -> None:
    page = seen.open("/errors", wait=".entry")
    assert page.locator(".entry").count() == 1
    assert "3 \u00d7" in page.locator(".entry summary").inner_text()
    page.locator(".entry summary").click()
    page.locator(".records a").first.click()
    wait_until(lambda: f"/runs/{name(0)}" in page.url, "the run")


# --- compliance ------------------------------------------------------------------------------------------------------


def test_compliance_is_sorted_and_told_by_day(seen: Seen) -> None:
    page = seen.open("/compliance", wait=".plot-day")
    assert "25 %" in page.locator(".tile").first.inner_text()
    agents = page.locator(".by-agent tbody th")
    assert agents.all_inner_texts() == ["lead", "planner"]
    page.locator('[data-key="sort-total"]').click()
    wait_until(lambda: agents.all_inner_texts() == ["planner", "lead"], "the other way round")
    assert get_focus(seen) == "sort-total"
    assert page.locator(".plot-day").count() == 30
    page.locator('.plot-day[tabindex="0"]').focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".legend-day b").inner_text() == "0"
    page.keyboard.press("ArrowRight")
    assert page.locator(".legend-day b").inner_text() == "20"
    assert "5 false claim" in (page.locator(".plot-day").last.get_attribute("aria-label") or "")
    page.locator(".as-table summary").click()
    assert page.locator(".as-table tbody tr").count() == 1
    seen.shoot("compliance")

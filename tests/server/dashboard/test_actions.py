"""The dashboard in a browser: runs are started, watched, ended and inspected."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from remit.testing.agent import ScriptedAgent
from tests.support.dashboard import Seen, Server, make_workspace, open_page, write_agent
from tests.support.ledger_rows import Kept, insert, opened
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

BEFORE = "# Notes\n\nThe cache is cold.\nNobody knows why.\n"
AFTER = "# Notes\n\nThe cache is warm.\nNobody knows why.\n"


class Place(NamedTuple):
    """A workspace with agents of every kind, its server, and a page that looks at it."""

    seen: Seen
    server: Server
    agents: dict[str, ScriptedAgent]
    go: Path
    """Where a file lets agents go on that wait."""

    def begin(self, agent: str, prompt: str, *words: str) -> str:
        """Have an agent work that nobody waits for; its session."""
        return self.server.remit("run", agent, prompt, "--detach", *words).split()[0]

    def finish(self, agent: str, prompt: str, *words: str) -> str:
        """Have an agent work to its end; its session."""
        self.server.remit("run", agent, prompt, "--json", *words)
        return self.server.list_sessions()[0]


def make_agents(folder: Path, go: Path) -> dict[str, ScriptedAgent]:
    child = ScriptedAgent(folder, "child").obeys({"child.md": "# A part\n"})
    return {
        "worker": ScriptedAgent(folder, "worker").says("I look around.\n").waits_for(str(go / "one"))
        .says("I have seen the first half.\n").waits_for(str(go / "two")).obeys({"worker.md": "# Worker\n\nDone.\n"}),
        "liar": ScriptedAgent(folder, "liar").lies("proof.md"),
        "hanger": ScriptedAgent(folder, "hanger").forks("double fork").hangs(),
        "editor": ScriptedAgent(folder, "editor").writes("notes.md", AFTER)
        .returns("notes.md", changes={"status": "finished", "summary": "Short."}),
        "parent": ScriptedAgent(folder, "parent").recurses("child", "Do my part.", command=child.command)
        .obeys({"parent.md": "# All\n"}),
        "child": child,
    }  # fmt: skip


@pytest.fixture(scope="module")
def place(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("working")
    go, config = folder / "go", folder / "config"
    go.mkdir()
    agents = make_agents(folder / "agents", go)
    commands = {name: agent.command for name, agent in agents.items()}
    files = {"notes.md": BEFORE, ".claude/agents/parent.md": write_agent("parent", "child")}
    server = Server(make_workspace(folder / "root", commands, files, config), config)
    server.start()
    try:
        seen = open_page(browser, server)
        yield Place(seen, server, agents, go)
        seen.page.context.close()
    finally:
        server.end()


@pytest.fixture(autouse=True)
def _clean(place: Place) -> Iterator[None]:
    """Whatever is done, the page does nothing that it may not."""
    yield
    place.seen.check()


def test_where_there_is_nothing_it_is_said_what_to_do(place: Place) -> None:
    commands = {"tasks": "remit task new", "findings": "remit run", "errors": "", "compliance": "remit run"}
    for name, command in commands.items():
        place.seen.open(f"/{name}")
        assert command in place.seen.see_text(".empty", command)
    place.seen.check()
    place.seen.forgiven.append("404 (Not Found)")
    place.seen.open("/runs/sess_none")
    place.seen.see_text(".empty", "remit ps")


def test_a_run_is_started_from_the_page_and_watched_until_it_is_over(place: Place) -> None:
    seen, page = place.seen, place.seen.page
    seen.open("/", wait=".empty")
    assert "remit run" in seen.see_text(".empty", "There are no runs")
    seen.shoot("empty")
    page.keyboard.press("n")
    seen.see("dialog[open] [name=agent]").fill("worker")
    page.locator("[name=prompt]").fill("Look at the cache.\nTell me <b>all</b> of it.")
    page.locator("dialog [type=submit]").click()
    wait_until(lambda: place.agents["worker"].did("printed"), "the agent began")
    seen.see_text(".run-title .badge", "running")
    session = re.sub(r".*/runs/", "", page.url)
    seen.evaluate("() => { globalThis.notReloaded = true; }")
    page.locator("#tab-log").click()
    seen.see_text(".log", "I look around.")
    (place.go / "one").touch()
    seen.see_text(".log", "I have seen the first half.")
    seen.shoot("log")
    (place.go / "two").touch()
    seen.see_text(".run-title .badge", "completed")
    seen.see_text(".log-state", "over")
    page.locator("#tab-prompt").click()
    assert "Tell me <b>all</b> of it." in seen.see_text(".node-body", "Look at the cache.")
    page.locator("#tab-overview").click()
    assert "worker.md" in seen.see_text(".node-body", "worker.md")
    assert seen.evaluate("() => globalThis.notReloaded"), "it was loaded anew"
    assert session == place.server.list_sessions()[0]
    seen.shoot("completed")


def test_a_list_changes_by_itself(place: Place) -> None:
    seen, page = place.seen, place.seen.page
    seen.open("/runs", wait=".runs")
    seen.wait_for('document.querySelector(".link-dot").dataset.link === "live"', "the stream is open")
    seen.evaluate("() => { globalThis.notReloaded = true; }")
    place.finish("child", "Come up by yourself.")
    seen.see_text('a.run-row:has-text("Come up by yourself.") .badge', "completed")
    assert seen.evaluate("() => globalThis.notReloaded")
    assert page.locator("a.run-row").count() == len(place.server.list_sessions())


def test_a_run_is_cancelled_by_its_button_and_its_processes_are_gone(place: Place) -> None:
    seen, page, hanger = place.seen, place.seen.page, place.agents["hanger"]
    session = place.begin("hanger", "Hang.")
    wait_until(lambda: hanger.did("hung"), "the agent hangs")
    assert hanger.list_living()
    seen.open(f"/runs/{session}")
    seen.see_text(".run-title .badge", "running")
    page.get_by_role("button", name="Cancel", exact=True).click()
    seen.see("dialog[open] [name=reason]").fill("it hangs")
    seen.shoot("cancel")
    page.get_by_role("button", name="Cancel it").click()
    seen.see_text(".run-title .badge", "cancelled")
    wait_until(lambda: not hanger.list_living(), "nothing of the agent is alive")
    seen.see('button[aria-disabled=true]:text-is("Cancel")')
    page.locator("dialog[open]").wait_for(state="detached")


def test_a_liars_evidence_is_told_in_words(place: Place) -> None:
    seen, page = place.seen, place.seen.page
    session = place.finish("liar", "Prove it.")
    seen.open(f"/runs/{session}?tab=evidence", wait="table.claims")
    seen.see_text(".run-title .badge", "false claim")
    row = seen.see_text("table.claims tbody tr", "proof.md")
    assert "reported, missing" in row
    assert not (place.server.root / "proof.md").exists()
    seen.shoot("liar")
    seen.open("/runs?show=false_claim", wait="a.run-row")
    assert [each.split("\n")[0] for each in page.locator("a.run-row").all_inner_texts()] == ["false claim"]


def test_the_lines_of_findings_are_marked_and_the_diff_is_shown(place: Place) -> None:
    seen, page = place.seen, place.seen.page
    session = place.finish("editor", "Warm the cache.")
    node = place.server.get(f"/runs/{session}")
    placed = [each for each in node["attempts"][0]["diagnostics"] if each["location"]]
    assert placed, node["attempts"][0]["diagnostics"]
    seen.open(f"/runs/{session}?tab=answer", wait=".lines .line")
    marked = seen.see(".line.is-marked")
    assert marked.get_attribute("data-number") == str(placed[0]["location"]["row"])
    assert "finished" in marked.inner_text()
    assert placed[0]["code"] in seen.see(".line-note").inner_text()
    seen.shoot("answer")
    page.locator("#tab-evidence").click()
    page.get_by_role("button", name="Diff").first.click()
    seen.see(".diff-line.is-added")
    lines = page.locator(".diff-line").evaluate_all("(all) => all.map((each) => each.dataset.kind + each.innerText)")
    assert "-The cache is cold." in lines
    assert "+The cache is warm." in lines
    seen.shoot("diff")


@pytest.mark.thorough
def test_a_tree_and_its_timeline(place: Place) -> None:
    seen, page = place.seen, place.seen.page
    place.finish("parent", "Hand it on.")
    rows = place.server.get("/runs?roots=true&agent=parent")["items"]
    seen.open(f"/runs/{rows[0]['session_id']}", wait=".tree-row")
    assert [each.strip() for each in page.locator(".tree-agent").all_inner_texts()] == ["parent", "child"]
    page.keyboard.press("j")
    seen.see_text(".node-head h2", "child")
    assert "node=" in page.url
    page.keyboard.press("v")
    seen.see(".time-row .bar")
    assert page.locator(".time-row .bar").count() == 2
    seen.shoot("timeline")
    page.keyboard.press("Escape")
    seen.see("a.run-row")


@pytest.mark.thorough
def test_search_filters_and_keys(place: Place) -> None:
    seen, page = place.seen, place.seen.page
    now = int(time.time() * 1000) - 5000
    with opened(place.server.root) as home:
        insert(home, *(Kept(at, agent=f"finder-{at % 2}", created_ms=now + at, work=f"Find walrus {at}.",
                            status="blocked" if at == 2 else "completed") for at in range(5)))  # fmt: skip
    seen.open("/runs", wait="a.run-row")
    everything = page.locator("a.run-row").count()
    assert everything >= 5
    page.keyboard.press("/")
    page.keyboard.type("walrus 3")
    seen.wait_for("document.querySelectorAll('a.run-row').length === 1", "one is found")
    assert "Find walrus 3." in page.locator("a.run-row").inner_text()
    page.keyboard.press("Escape")  # out of the field
    page.keyboard.press("Escape")  # and of the search
    seen.wait_for(f"document.querySelectorAll('a.run-row').length === {everything}", "all are there")
    page.get_by_role("button", name="Blocked").click()
    seen.wait_for("document.querySelectorAll('a.run-row').length === 1", "one was blocked")
    page.get_by_label("Search runs").fill("no such words")
    seen.see_text(".empty", "Nothing matches")
    page.get_by_role("button", name="Clear the filters").click()
    seen.wait_for(f"document.querySelectorAll('a.run-row').length === {everything}", "all are there again")
    page.get_by_label("Agent").select_option("finder-1")
    seen.wait_for("document.querySelectorAll('a.run-row').length === 2", "those of an agent")
    seen.open("/runs", wait="a.run-row")
    for _ in range(2):
        page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")
    second = seen.see("a.run-row[aria-selected=true]").get_attribute("href")
    assert second == f"/runs/{place.server.list_sessions()[1]}"
    page.keyboard.press("Enter")
    seen.see(".run-title")
    assert page.url.endswith(second)
    page.keyboard.press("?")
    assert "Search" not in seen.see_text("dialog[open]", "Tree or timeline")
    page.keyboard.press("Escape")
    for key, path in {"a": "agents", "t": "tasks", "f": "findings", "e": "errors", "c": "compliance"}.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        seen.wait_for(f"location.pathname === '/{path}'", f"g {key}")
        seen.see(f"main.page-{path} h1, main.page-{path} h2")

"""The appearance of the dashboard: dark and light, narrow screens, keyboard use and screen readers."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pytest

from remit.testing.agent import ScriptedAgent
from tests.support.dashboard import Seen, Server, make_workspace, open_page, write_agent
from tests.support.ledger_rows import Kept, insert, opened
from tests.support.sample_sizes import IS_WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, ViewportSize

pytestmark = pytest.mark.slow

LEAST_CONTRAST = 4.5
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
KEPT = (
    "light-runs", "dark-runs", "narrow-runs", "light-run-overview", "dark-run-answer", "narrow-run-evidence",
    "light-graph", "dark-tasks", "light-findings", "narrow-errors", "light-compliance", "dark-compliance",
)  # fmt: skip
"""Pictures that are kept every day; `make test-all` keeps all."""
WALKED = ("runs", "graph", "task")
ALSO_WALKED = ("agents", "findings", "run-evidence", "errors", "compliance") if IS_WHOLE else ()
MARKERS = "NOT STARTED", "RESEARCHING", "PLANNED", "BLOCKED", "COMPLETED"
NARROW: ViewportSize = {"width": 390, "height": 844}
WIDE: ViewportSize = {"width": 1280, "height": 800}
CONTRAST = r"""(least) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const read = (color) => {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(color, { rgb: [red, green, blue], alpha: alpha / 255 });
    }
    return known.get(color);
  };
  const over = (top, alpha, below) => top.map((each, at) => each * alpha + below[at] * (1 - alpha));
  const grounds = new Map([[null, { ground: [255, 255, 255], opacity: 1 }]]);
  const find = (element) => {
    if (!grounds.has(element)) {
      const { ground, opacity } = find(element.parentElement);
      const style = getComputedStyle(element);
      const { rgb, alpha } = read(style.backgroundColor);
      grounds.set(element, { ground: over(rgb, alpha, ground), opacity: opacity * Number(style.opacity) });
    }
    return grounds.get(element);
  };
  const light = (rgb) => {
    const [red, green, blue] = rgb.map((each) => each / 255)
      .map((each) => (each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let many = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (!walker.currentNode.data.trim() || box.width < 2 || box.height < 2 || style.visibility !== "visible") continue;
    if (element.closest("[aria-disabled=true], :disabled, noscript, svg, option, .only-read")) continue;
    const { ground, opacity } = find(element);
    const { rgb, alpha } = read(style.color);
    const [one, other] = [light(over(rgb, alpha * opacity, ground)), light(ground)];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    many += 1;
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : least)) {
      const told = walker.currentNode.data.slice(0, 30);
      poor.push(`${ratio.toFixed(2)} ${element.localName}.${element.className}: ${told}`);
    }
  }
  return { many, poor: [...new Set(poor)] };
}"""
"""Texts that stand out less from what is behind them than people with weak eyes need."""
SPILL = """() => {
  const wide = document.documentElement.clientWidth;
  const scrolls = (element) => {
    for (let at = element.parentElement; at; at = at.parentElement) {
      if (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(at).overflowX) && at.localName !== "main") {
        return true;
      }
    }
    return false;
  };
  const over = [...document.querySelectorAll("body *")].filter((each) => {
    const box = each.getBoundingClientRect();
    return box.width > 1 && box.right > wide + 1 && !scrolls(each) && getComputedStyle(each).position !== "fixed";
  });
  const main = document.querySelector("main");
  return { page: document.documentElement.scrollWidth - wide, main: main.scrollWidth - main.clientWidth,
    over: over.map((each) => `${each.localName}.${each.className}`).slice(0, 5) };
}"""
"""What does not fit beside the edge of the screen."""
GO = """(path) => {
  for (const each of ["/nowhere", path]) {
    history.pushState(null, "", each);
    dispatchEvent(new PopStateEvent("popstate"));
    if (each !== path) document.querySelector("main").firstElementChild.dataset.old = "";
  }
}"""
"""What a click on a link does, from a page that is none: all is drawn anew."""
FOCUS = """() => {
  const own = document.activeElement;
  if (!own || own === document.body) return null;
  const names = ["outlineStyle", "outlineWidth", "outlineColor", "boxShadow", "borderColor", "backgroundColor",
    "stroke", "strokeWidth", "textDecorationLine"];
  const near = [own.parentElement, own, ...own.querySelectorAll("*")];
  const draw = () => near.map((each) => names.map((name) => getComputedStyle(each)[name]).join()).join();
  const focused = draw();
  own.blur();
  const blurred = draw();
  own.focus({ preventScroll: true });
  const before = globalThis.lastFocus;
  globalThis.lastFocus = own;
  const box = own.getBoundingClientRect();
  return { name: `${own.localName}.${own.getAttribute("class")} ${own.textContent.slice(0, 20)}`,
    isSeen: focused !== blurred, isThere: box.width > 0 && box.height > 0,
    isAfter: !before || Boolean(before.compareDocumentPosition(own) & Node.DOCUMENT_POSITION_FOLLOWING) };
}"""
"""Where the keyboard is."""


class Place(NamedTuple):
    """A workspace in which there is something to see on every page."""

    seen: Seen
    pages: dict[str, str]
    """What each page is called, and its path."""


def make_files() -> dict[str, str]:
    """Tasks, findings and errors, a few of each."""
    entries = [
        {"id": f"cache-{at}", "title": f"How the cache works, part {at}", "file": f"cache-{at}.md",
         "date": "2026-11-16", "status": status, "topics": ["cache", f"part-{at}"],
         "key_findings": ["It is cold.", "Nobody knows why."], "actionable": True, "needs_followup": ["Measure it"],
         "linked_tasks": ["1"]}
        for at, status in enumerate(("complete", "partial", "blocked"))
    ]  # fmt: skip
    errors = [
        {"id": f"err_{at}", "timestamp": "2026-11-16T10:00:00.000Z", "type": "timeout", "severity": "medium",
         "message": "its time was up", "code": "TIMEOUT", "fix_status": "unfixed",
         "context": {"session_id": "sess_1794826473_3tdkqr", "command": "implement", "task_number": 1, "phase": "1"},
         "trajectory": {"delegation_path": ["orchestrator", "implement"], "failed_at_depth": 1},
         "recovery": {"suggested_action": "Give it more time", "auto_recoverable": True}}
        for at in range(3)
    ]  # fmt: skip
    tasks = [
        {"project_number": at, "project_name": f"task_{at}", "title": f"Warm the cache, part {at}", "status": status,
         "priority": "high", "created": "2026-11-16T10:00:00Z", "last_updated": "2026-11-16T10:00:00Z"}
        for at, status in enumerate((each.lower().replace(" ", "_") for each in MARKERS), 1)
    ]  # fmt: skip
    lines = [
        f"### {each['project_number']}. {each['title']}\n- **Status**: [{MARKERS[at]}]\n"
        for at, each in enumerate(tasks[:-1])
    ]
    state = {"next_project_number": 6, "active_projects": tasks, "completed_projects": []}
    return {
        "claudedocs/agent-outputs/MANIFEST.jsonl": "".join(f"{json.dumps(each)}\n" for each in entries),
        "specs/errors.json": json.dumps({"_schema_version": "2.0.0", "errors": errors}),
        "specs/state.json": json.dumps(state),
        "specs/TODO.md": "---\nnext_project_number: 6\n---\n\n# TODO\n\n## High Priority\n\n" + "\n".join(lines),
        ".claude/agents/planner.md": write_agent("planner", "editor", "nobody"),
        "notes.md": "# Notes\n\nThe cache is cold.\n",
    }


def make_rows() -> list[Kept]:
    """Runs of every kind."""
    now = int(time.time() * 1000) - 60_000
    kinds = [
        {"verdict": "accepted"}, {"verdict": "repaired"}, {"verdict": "fabricated", "status": "failed"},
        {"verdict": None, "status": "partial", "stop_reason": "timeout"},
        {"verdict": None, "status": "failed", "stop_reason": "crashed"},
        {"verdict": None, "status": "failed", "stop_reason": "cancelled"}, {"verdict": "accepted", "status": "blocked"},
        {"state": "admitted"}, {"state": "running"}, {"verdict": "invalid", "status": "failed", "task_number": 1},
    ]  # fmt: skip
    return [
        Kept(at, created_ms=now + at * 1000, agent=f"agent-{at % 4}", attempts=("invalid", "accepted"), **kind)  # type: ignore[arg-type]
        for at, kind in enumerate(kinds * 3)
    ]


@pytest.fixture(scope="module")
def place(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("looks")
    config = folder / "config"
    changes = {"status": "finished", "summary": "Short."}
    agents = {
        "editor": ScriptedAgent(folder / "agents", "editor").says("I look around.\n")
        .writes("notes.md", "# Notes\n\nIt is warm.\n").returns("notes.md", "gone.md", changes=changes),
        "planner": ScriptedAgent(folder / "agents", "planner"),
    }  # fmt: skip
    commands = {name: agent.command for name, agent in agents.items()}
    server = Server(make_workspace(folder / "root", commands, make_files(), config), config)
    server.remit("run", "editor", "Warm the cache, and say how.", "--json")
    server.start()
    try:
        session = server.list_sessions()[0]
        with opened(server.root) as home:
            insert(home, *make_rows())
        seen = open_page(browser, server, color_scheme="light")
        yield Place(seen, list_pages(session))
        seen.page.context.close()
    finally:
        server.end()


def list_pages(session: str) -> dict[str, str]:
    """What is looked at."""
    tabs = [f"run-{each}" for each in ("overview", "evidence", "answer", "log", "prompt", "steps")]
    pages = {name: f"/runs/{session}?tab={name.removeprefix('run-')}" for name in tabs}
    pages |= {name: f"/{name}" for name in ("runs", "agents", "tasks", "findings", "errors", "compliance")}
    pages |= {"run-timeline": f"/runs/{session}?view=timeline", "graph": "/agents?view=graph"}
    pages |= {"task": "/tasks?task=1", "finding": "/findings?entry=cache-1"}
    names = ["runs", "run-overview", "agents", "run-evidence", "tasks", "run-answer", "findings", "run-log", "graph",
             "errors", "run-timeline", "compliance", "task"]  # fmt: skip
    return {name: pages[name] for name in (*names, *(("run-prompt", "finding", "run-steps") if IS_WHOLE else ()))}


def look(seen: Seen, path: str) -> None:
    """Go to a page as a link in the page does."""
    seen.evaluate(GO, path)
    settle(seen)


def settle(seen: Seen) -> None:
    """Wait until a page is drawn."""
    seen.see("main:not(:has([data-old])) :is(h1, h2)")
    seen.wait_for("!document.querySelector('main [aria-busy=true]')", "it is drawn")
    last = ""
    while (now := seen.evaluate("() => document.querySelector('main').innerText")) != last or len(now) < 20:
        last = now
        seen.page.wait_for_timeout(60)


def test_every_page_can_be_read_by_everybody(place: Place) -> None:
    """In the dark and in the light, on a narrow screen, and by who does not see it."""
    seen, page = place.seen, place.seen.page
    found: dict[str, Any] = {}
    for name, path in place.pages.items():
        look(seen, path)
        grounds = []
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            grounds.append(seen.evaluate("() => getComputedStyle(document.body).backgroundColor"))
            told = seen.evaluate(CONTRAST, LEAST_CONTRAST)
            assert told["many"] > 10, (name, told)
            found[f"{name}, {scheme}"] = told["poor"]
            shoot(seen, f"{scheme}-{name}")
        assert grounds[0] != grounds[1]
        found[f"{name}, read aloud"] = list_nameless(seen)
        page.set_viewport_size(NARROW)
        found[f"{name}, narrow"] = list_spilled(seen)
        shoot(seen, f"narrow-{name}")
        page.set_viewport_size(WIDE)
    seen.check()
    assert {name: each for name, each in found.items() if each} == {}


def shoot(seen: Seen, name: str) -> None:
    """Keep a picture, of which there would be too many."""
    if IS_WHOLE or name in KEPT:
        seen.shoot(name)


def list_spilled(seen: Seen) -> list[str]:
    """What goes over the edge, once the page had the time to draw itself anew."""
    told: dict[str, Any] = {}
    for _ in range(20):
        seen.page.wait_for_timeout(60)
        told = seen.evaluate(SPILL)
        if told == {"page": 0, "main": 0, "over": []}:
            return []
    return [f"the page by {told['page']}, its main part by {told['main']} pixels", *told["over"]]


def list_nameless(seen: Seen) -> list[str]:
    """What a screen reader could not tell."""
    told = seen.page.locator("body").aria_snapshot()
    kinds = r"button|link|textbox|searchbox|combobox|checkbox|tab|tree|grid|dialog|spinbutton|img"
    found = [line.strip() for line in told.splitlines() if re.fullmatch(rf"\s*- ({kinds})(?: \[[^]]*\])*:?", line)]
    if seen.page.locator("[tabindex]:not([tabindex='0']):not([tabindex='-1'])").count():
        found.append("a tab order of its own")
    if seen.page.locator("h1").count() != 1 or seen.page.locator("main").count() != 1:
        found.append("not one heading, or not one main part")
    return found if "Remit" in seen.page.title() else [*found, "no title"]


def test_a_theme_is_chosen_and_kept(place: Place) -> None:
    seen, page = place.seen, place.seen.page
    page.emulate_media(color_scheme="light")
    seen.open("/runs", wait="a.run-row")
    grounds = [seen.evaluate("() => getComputedStyle(document.body).backgroundColor")]
    for _ in range(2):
        page.keyboard.press("t")
        grounds.append(seen.evaluate("() => getComputedStyle(document.body).backgroundColor"))
    assert grounds[0] == grounds[1] != grounds[2]  # as the system has it, light, dark
    page.reload()
    seen.see("a.run-row")
    assert seen.evaluate("() => getComputedStyle(document.body).backgroundColor") == grounds[2]
    page.locator("#theme").click()
    assert seen.evaluate("() => document.documentElement.dataset.theme") == "system"
    seen.check()


def test_the_keyboard_gets_everywhere_and_is_seen(place: Place) -> None:
    wrong = {name: walk(place.seen, place.pages[name]) for name in (*WALKED, *ALSO_WALKED)}
    assert {name: each for name, each in wrong.items() if each} == {}
    place.seen.check()


def walk(seen: Seen, path: str) -> list[str]:
    """Press Tab until the end of a page; where one does not see what has the focus, or it does not go on."""
    seen.open(path)
    settle(seen)
    seen.evaluate("() => { globalThis.lastFocus = null; document.activeElement?.blur(); }")
    wrong: list[str] = []
    for many in range(120):
        seen.page.keyboard.press("Tab")
        told = seen.evaluate(FOCUS)
        if told is None or not told["isAfter"]:  # it is at the end, or has begun anew
            return wrong if many > 8 else [*wrong, f"only {many} can be reached"]
        if not (told["isSeen"] and told["isThere"]):
            wrong.append(told["name"])
    return [*wrong, "it does not come to an end"]

"""Everything that an agent or a repository wrote is shown as text: programs in every field, and none of them runs."""

from __future__ import annotations

import json
import time
import unicodedata
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from remit.testing.agent import ScriptedAgent
from tests.support.dashboard import Seen, Server, make_workspace, open_page
from tests.support.ledger_rows import Kept, insert, name, opened
from tests.support.markup_payloads import PAYLOADS, PLAIN
from tests.support.sample_sizes import IS_WHOLE
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

INSPECT = r"""() => {
  const known = new Set(`html head meta title link script body noscript a header nav div main span h1 h2 h3 h4 p pre
    code button form label input textarea select option datalist dialog footer section article aside ul ol li dl dt dd
    table thead tbody tfoot tr th td caption svg path g rect line circle text tspan defs marker polygon polyline i b
    mark kbd strong em details summary figure figcaption small`.split(/\s+/));
  const wrong = [];
  for (const each of document.querySelectorAll("*")) {
    const tag = each.localName;
    if (!known.has(tag)) wrong.push(`an element: ${tag}`);
    if (tag === "script" && !each.src.startsWith(`${location.origin}/web/`)) wrong.push("a script");
    for (const { name, value } of each.attributes) {
      if (name.startsWith("on")) wrong.push(`a handler: ${name}`);
      const leads = ["href", "src", "action", "formaction", "xlink:href", "srcdoc", "data", "poster", "background",
        "ping", "srcset"].includes(name);
      if (leads && !/^(\/(?![\/\\])|#|\?)/.test(value)) wrong.push(`a way out: ${name}=${value}`);
      if (leads && /[\t\n\r\\]/.test(value)) wrong.push(`a way out, folded: ${name}=${value}`);
    }
  }
  if ("x6" in globalThis || document.querySelector("#x6, x6")) wrong.push("a mark was left");
  if (document.cookie.includes("x6") || document.baseURI !== location.href) wrong.push("the document was turned");
  return wrong;
}"""
"""What is in the page that does not belong there."""


def escape(text: str) -> str:
    """A text as it is to be shown: characters that nobody can see are named."""
    return "".join(
        f"<U+{ord(each):04X}>" if unicodedata.category(each) in HIDDEN and each not in "\n\t" else each for each in text
    )


HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
SHOWN = tuple(map(escape, PAYLOADS))


class Place(NamedTuple):
    """A workspace that is hostile in every way, and a page that looks at it."""

    seen: Seen
    session: str
    """The run that has all of it in every field."""


# --- what is hostile -------------------------------------------------------------------------------------------------


def make_files() -> dict[str, str]:
    """The files of a repository: agents, tasks, findings and errors."""
    entries = [
        {"id": f"entry-{at}{each}", "title": each, "file": each, "date": "2026-11-16", "status": "complete",
         "topics": [each], "key_findings": [each], "actionable": True, "needs_followup": [each], "linked_tasks": [each]}
        for at, each in enumerate(PAYLOADS)
    ]  # fmt: skip
    errors = [
        {"id": f"err_{at}", "timestamp": "2026-11-16T10:00:00.000Z", "type": each, "severity": each, "message": each,
         "code": each, "context": {"session_id": each, "command": each, "task_number": at, "phase": each},
         "trajectory": {"delegation_path": [each], "failed_at_depth": 1},
         "recovery": {"suggested_action": each, "auto_recoverable": True}, "fix_status": "unfixed"}
        for at, each in enumerate(PAYLOADS)
    ]  # fmt: skip
    tasks = [
        {"project_number": at, "project_name": f"task_{at}", "title": each, "status": "blocked", "priority": "medium",
         "blocked_reason": each, "created": "2026-11-16T10:00:00Z", "last_updated": "2026-11-16T10:00:00Z"}
        for at, each in enumerate(PLAIN, 1)
    ]  # fmt: skip
    lines = [f"### {at}. {each}\n- **Status**: [BLOCKED]\n- **Priority**: Medium\n" for at, each in enumerate(PLAIN, 1)]
    state = {"next_project_number": len(tasks) + 1, "active_projects": tasks, "completed_projects": []}
    return {
        "claudedocs/agent-outputs/MANIFEST.jsonl": "".join(f"{json.dumps(each)}\n" for each in entries),
        "specs/errors.json": json.dumps({"_schema_version": "2.0.0", "errors": errors}),
        "specs/state.json": json.dumps(state),
        "specs/TODO.md": f"---\nnext_project_number: {len(tasks) + 1}\n---\n\n# TODO\n\n" + "\n".join(lines),
        **{f".claude/agents/{_name_file(at, each)}.md": _write_agent(each) for at, each in enumerate(PAYLOADS)},
    }


def _name_file(at: int, payload: str) -> str:
    """A name that a file can have."""
    return f"{at:03} {payload}".replace("/", "|").replace("\0", "")[:60]


def _write_agent(payload: str) -> str:
    values = {"name": payload, "description": payload, "agent_type": payload, "version": payload, "tools": [payload],
              "delegation": {"can_delegate_to": [payload, f"{payload} too"]}}  # fmt: skip
    return f"---\n{json.dumps(values)}\n---\n{payload}\n"


def plant(root: Path, session: str) -> None:
    """Put programs into all that the ledger keeps of a delegation, and of as many runs as there are programs."""
    now = int(time.time() * 1000) - 3_600_000
    with opened(root) as home:
        rows = [
            Kept(at, agent=each, work=each, created_ms=now + at, verdict="fabricated", status="failed")
            for at, each in enumerate(PAYLOADS)
        ]
        parent = len(rows)
        tree = [
            Kept(parent + at, parent=parent, root=parent, agent=each, work=each, created_ms=now + 1000 + at)
            for at, each in enumerate(PAYLOADS, 1)
        ]
        insert(home, *rows, Kept(parent, agent="root", created_ms=now + 1000), *tree)
        with home.ledger.transaction() as db:
            _plant_attempt(db, session)
            _plant_report(db, session)
            db.execute(
                "UPDATE finish_steps SET result = ? WHERE session_id = ?",
                (json.dumps(["failed", "\n".join(PAYLOADS)]), session),
            )


def _plant_attempt(db: Any, session: str) -> None:  # noqa: ANN401 - a connection of the ledger
    findings = [
        {
            "code": each,
            "severity": "error",
            "message": each,
            "hint": each,
            "location": {"row": at, "column": 1},
            "end_location": {"row": at, "column": 9},
        }
        for at, each in enumerate(PAYLOADS, 1)
    ]
    findings += [{"code": each, "severity": each, "message": each, "pointer": each} for each in PAYLOADS]
    repairs = [
        {"kind": each, "message": each, "location": {"row": 1, "column": 1}, "end_location": {"row": 1, "column": 2}}
        for each in PAYLOADS
    ]
    claims = [{"path": each, "state": each, "grade": each, "reason": each, "sha256": each} for each in PAYLOADS]
    values = (*(json.dumps(each) for each in (findings, repairs, claims)), session)
    db.execute("UPDATE attempts SET diagnostics = ?, repairs = ?, claims = ? WHERE session_id = ?", values)
    assert db.execute("SELECT changes()").fetchone()[0] == 1


def _plant_report(db: Any, session: str) -> None:  # noqa: ANN401 - a connection of the ledger
    where = (session,)
    (data,) = db.execute("SELECT content FROM texts WHERE session_id = ? AND kind = 'report'", where).fetchone()
    report = json.loads(data)
    report["result"] |= {
        "summary": "\n".join(PAYLOADS),
        "artifacts": [
            {"path": each, "type": each, "summary": each, "grade": each, "key_points": [each], "extra": {}}
            for each in PAYLOADS
        ],
        "errors": [[each, each, each, True, each, None, [], {}] for each in PAYLOADS],
        "diagnostics": [[each, "error", each, each, each, each] for each in PAYLOADS],
        "next_steps": [*PAYLOADS],
        "notes": [*PAYLOADS],
        "left_out": [*PAYLOADS],
    }
    report["unclaimed"] = [[each, each] for each in PAYLOADS]
    changed = (json.dumps(report).encode(), session)
    db.execute("UPDATE texts SET content = ? WHERE session_id = ? AND kind = 'report'", changed)


@pytest.fixture(scope="module")
def place(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("hostile")
    text = "\n".join(PAYLOADS).replace("\0", "\ufffd")
    agent = ScriptedAgent(folder / "agents", "speaker").says(f"{text}\n").lies("<img src=x onerror=x6=1>.md")
    config = folder / "config"
    root = make_workspace(folder / "root", {"speaker": agent.command}, make_files(), config)
    server = Server(root, config)
    server.remit("run", "speaker", text, "--input", f"name={PLAIN[0]}", "--json")
    server.start()
    try:
        session = server.list_sessions()[0]
        plant(root, session)
        seen = open_page(browser, server)
        yield Place(seen, session)
        seen.page.context.close()
    finally:
        server.end()


# --- what is seen of it ----------------------------------------------------------------------------------------------


def check_text(seen: Seen, texts: Sequence[str], where: str = "main") -> None:
    """All of it is there, as text, and nothing was made of it."""

    def list_missing() -> list[str]:
        told = seen.evaluate("(where) => document.querySelector(where)?.textContent ?? ''", where)
        return [each for each in texts if each not in told]

    try:
        wait_until(lambda: not list_missing(), "all of it", patience_s=8)
    except AssertionError:
        missing = list_missing()
        raise AssertionError(f"{len(missing)} of {len(texts)} are not shown in {where}: {missing[:3]}") from None
    check_clean(seen)


def check_clean(seen: Seen) -> None:
    assert seen.evaluate(INSPECT) == []
    seen.check()


SCROLL = f"""async (texts) => {{
  const inspect = {INSPECT};
  const list = document.querySelector(".list-scroller");
  const left = new Set(texts);
  const wrong = [];
  for (let top = -1; left.size && list.scrollTop !== top && !wrong.length;) {{
    for (const each of left) if (list.textContent.includes(each)) left.delete(each);
    wrong.push(...inspect());
    top = list.scrollTop;
    list.scrollTop += list.clientHeight;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }}
  return {{ left: [...left], wrong }};
}}"""


def scroll(seen: Seen, texts: Sequence[str]) -> None:
    """The same for a list of which only a part is in the page at a time."""
    assert seen.evaluate(SCROLL, [*texts]) == {"left": [], "wrong": []}
    seen.check()


def load_all(seen: Seen) -> None:
    """Ask for more until there is no more."""
    seen.see(".card")
    more = "() => { document.querySelector('.more button')?.click(); return !document.querySelector('.more button'); }"
    wait_until(lambda: seen.evaluate(more), "the last of them")


def test_what_is_looked_for_would_be_found(place: Place) -> None:
    """Else the tests below would prove nothing: markup that got into the page is seen, and so is what it does."""
    seen = place.seen
    seen.open("/runs", wait="a.run-row")
    seen.evaluate("""() => {
      const image = document.createElement("img");
      image.src = "//192.0.2.1/x6";
      image.id = "x6";
      document.body.append(image);
      globalThis.x6 = 1;
    }""")
    assert seen.evaluate(INSPECT) == ["an element: img", "a way out: src=//192.0.2.1/x6", "a mark was left"]
    with pytest.raises(AssertionError, match="img-src"):
        seen.check()
    refused = "(() => { try { document.body.innerHTML = '<b>'; } catch (error) { return error.name; } })()"
    assert seen.evaluate(f"() => {refused}") == "TypeError", "the policy lets text become markup"
    seen.open("/runs", wait="a.run-row")
    seen.wrongs.clear()
    seen.asked.clear()


def test_runs_and_trees(place: Place) -> None:
    seen = place.seen
    seen.open("/runs", wait="a.run-row")
    scroll(seen, SHOWN)
    check_text(seen, SHOWN[:100], "select[aria-label=Agent]")
    seen.page.keyboard.press("n")
    seen.see("dialog[open]")
    seen.wait_for("document.querySelectorAll('datalist option').length > 100", "agents to choose from")
    check_clean(seen)
    seen.open(f"/runs/{name(len(PAYLOADS))}", wait=".tree-row")
    scroll(seen, SHOWN)
    seen.page.keyboard.press("v")
    seen.see(".time-row .bar")
    scroll(seen, SHOWN)
    for at in (3, 40, 110) if IS_WHOLE else (40,):
        seen.open(f"/runs/{name(at)}", wait=".run-title")
        check_text(seen, [SHOWN[at]], ".run-header h1")
        check_text(seen, [SHOWN[at]], ".run-work")
        seen.page.locator(".acts button").nth(1).dispatch_event("click")  # it cannot be done, and says why
        seen.see("dialog[open], .notice")
        check_clean(seen)
    for query in ("?q=", "?agent=", "?show=", "?task=", "/") if IS_WHOLE else ("?agent=", "/"):
        seen.open(f"/runs{query}%22%3E%3Cimg%20src=x%20onerror=x6=1%3E", wait="main *")
        check_clean(seen)
        seen.forgiven.append("Failed to load resource")  # there is no such run


def test_a_delegation(place: Place) -> None:
    place.seen.open(f"/runs/{place.session}", wait=".node-body *")
    for tab in ("overview", "evidence", "answer", "prompt", "log", "steps"):
        check_tab(place, tab)


def check_tab(place: Place, tab: str) -> None:
    place.seen.page.locator(f"#tab-{tab}").click()
    shown = [each.replace("<U+0000>", "\ufffd") for each in SHOWN] if tab in ("prompt", "log", "answer") else SHOWN
    if tab == "log":
        shown = [each for each in shown if "U+2028" not in each and "\n" not in each]  # which end a line
    check_text(place.seen, shown, ".node-body")


@pytest.mark.thorough
def test_other_pages(place: Place) -> None:
    for path in ("/agents", "/tasks", "/findings", "/errors", "/compliance"):
        check_page(place.seen, path)


def check_page(seen: Seen, path: str) -> None:
    seen.open(path, wait="main h1")
    if path == "/tasks":
        seen.page.get_by_role("button", name="Show all").click()
        check_text(seen, [*map(escape, PLAIN)])
        return
    if path == "/findings":
        load_all(seen)
    if path == "/agents":
        texts = [each for each in SHOWN if "U+0000" not in each]  # a file with a NUL in it is no text, and so no agent
        check_text(seen, texts)
        seen.page.keyboard.press("v")
        seen.see("main svg g")
        check_text(seen, texts)
        return
    check_text(seen, SHOWN)

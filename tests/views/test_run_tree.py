"""Nodes: the tree of a run, and one delegation in full."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from remit.errors import UsageError
from remit.ledger.events import add_event
from remit.views import run_tree
from remit.views.run_details import PAGE_CHARS, load_answer_page, load_prompt_page, load_run_details
from remit.views.run_tree import load_tree
from tests.support.ledger_rows import Kept, answer, insert, make_repository, name, opened, run, run_agent

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path, **{"there.md": "old\n"})


# --- the tree --------------------------------------------------------------------------------------------------------


def test_the_whole_run_is_shown_from_whichever_of_it(root: Path) -> None:
    with opened(root) as home:
        insert(
            home,
            Kept(0),
            Kept(1, parent=0, root=0),
            Kept(2, parent=0, root=0),
            Kept(3, parent=1, root=0),
            Kept(4),
        )
        for number in range(4):
            tree = load_tree(home, name(number))
            assert tree["root_id"] == name(0)
            shown = [(item["session_id"], item["level"]) for item in tree["items"]]
            assert shown == [(name(0), 0), (name(1), 1), (name(3), 2), (name(2), 1)]
            assert not tree["truncated"]


def test_one_whose_caller_is_forgotten_is_shown_all_the_same(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(1, parent=0, root=0), Kept(2, parent=1, root=0))
        tree = load_tree(home, name(2))
        assert [(item["session_id"], item["level"]) for item in tree["items"]] == [(name(1), 0), (name(2), 1)]


def test_a_tree_that_is_too_large_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remit.views.run_tree.MOST_NODES", 5)
    with opened(root) as home:
        insert(home, Kept(0), *(Kept(number, parent=0, root=0) for number in range(1, 9)))
        tree = load_tree(home, name(0))
        assert tree["truncated"]
        assert [item["session_id"] for item in tree["items"]] == [name(number) for number in range(5)]


def test_a_tree_of_a_thousand_open_nodes_is_asked_for_at_once(root: Path) -> None:
    """What was heard of each is found in a few statements, not in some for each."""
    with opened(root) as home:
        insert(
            home, Kept(0, state="running"), *(Kept(each, parent=0, root=0, state="running") for each in range(1, 1000))
        )
        with home.ledger.transaction() as db:
            for number in range(1000):
                add_event(db, "progress", {"activity": f"first {number}"}, session_id=name(number))
                add_event(db, "progress", {"activity": f"last {number}", "tokens": number}, session_id=name(number))
        asked: list[str] = []
        home.ledger.db.set_trace_callback(asked.append)
        begun = time.process_time()
        tree = load_tree(home, name(0))
        took = time.process_time() - begun
        home.ledger.db.set_trace_callback(None)
    assert len(tree["items"]) == 1000
    assert {item["activity"] for item in tree["items"]} == {f"last {number}" for number in range(1000)}
    assert len(asked) < 20
    assert took < 1.0  # a busy machine; alone it is a twentieth


def test_who_waits_for_whom_is_told(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0, state="running"), Kept(1, parent=0, root=0, state="running", agent="planner"))
        with home.ledger.transaction() as db:
            db.execute("UPDATE runs SET awaited = 1 WHERE session_id = ?", (name(1),))
        items = load_tree(home, name(0))["items"]
        assert [item["waits_for"] for item in items] == [["planner"], []]


# --- one of them -----------------------------------------------------------------------------------------------------


def test_a_node_tells_what_was_asked_claimed_and_done(root: Path) -> None:
    script = f"echo new > made.md; echo stray > stray.md; {answer('made.md', 'there.md', 'nowhere.md')}"
    result = run(root, script, prompt=f"Look at it with {SECRET}.", reasks=0)
    with opened(root) as home:
        node = load_run_details(home, result.session_id)
    assert node["run"]["verdict"] == "fabricated"
    assert node["asked"]["words"].startswith("Look at it with [redacted")
    assert "# What to send back" in node["asked"]["prompt"]
    (attempt,) = node["attempts"]
    assert {claim["path"]: claim["grade"] for claim in attempt["claims"]} == {
        "made.md": "changed",
        "there.md": "unchanged",
        "nowhere.md": "missing",
    }
    assert attempt["answer"] is not None
    assert attempt["answer"]["lines"] > 5
    assert any(finding["location"] for finding in attempt["diagnostics"])
    assert "stray.md" in [change["path"] for change in node["unclaimed"]]
    assert node["result"] is not None
    assert node["result"]["remit"]["status"] == "failed"
    assert node["config"]["commit"]
    assert node["can"]["cancel"] is False
    assert node["can"]["retry"] is True
    assert "can't be resumed" in node["can"]["why"]["resume"]
    assert SECRET not in str(node)


def test_a_node_is_found_by_a_part_of_its_id(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(12, state="running"), Kept(13))
        assert load_run_details(home, "1700000012")["run"]["session_id"] == name(12)
        with pytest.raises(UsageError, match="could be"):
            load_run_details(home, "sess_1700")
        with pytest.raises(UsageError, match="no run matches"):
            load_run_details(home, "sess_9")


def test_to_look_for_one_makes_no_ledger(root: Path) -> None:
    (root / ".remit").mkdir()
    with opened(root) as home, pytest.raises(UsageError, match="has no runs yet"):
        load_run_details(home, "sess_1")
    assert [*(root / ".remit").iterdir()] == []


def test_one_that_is_open_can_be_cancelled_and_nothing_else(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0, state="running"), Kept(1, parent=0, root=0))
        node = load_run_details(home, name(0))
    assert node["can"] == {
        "cancel": True,
        "retry": False,
        "resume": False,
        "why": {"retry": "It hasn't finished.", "resume": "It hasn't finished."},
    }
    assert node["children"] == [name(1)]
    assert node["result"] is None


def test_the_context_that_an_agent_began_with_is_named(root: Path) -> None:
    agents = root / ".claude" / "agents"
    agents.mkdir(parents=True)
    (root / "notes.md").write_text("one two three\n")
    text = (
        "---\nname: reader\ndescription: Reads.\ncontext_loading:\n  strategy: eager\n  required:\n    - notes.md\n"
        "  optional:\n    - absent.md\n---\n\nRead.\n"
    )
    (agents / "reader.md").write_text(text)
    session_id = run_agent(root, "reader", answer())
    with opened(root) as home:
        context = load_run_details(home, session_id)["asked"]["context"]
    assert [(each["name"], each["chars"]) for each in context][:1] == [("notes.md", 14)]


def test_a_long_answer_comes_by_the_page_without_its_secrets(root: Path) -> None:
    script = f"head -c {PAGE_CHARS} /dev/zero | tr '\\0' x; printf ' %s %s' {SECRET} end"
    result = run(root, script, reasks=0)
    with opened(root) as home:
        pages = [load_answer_page(home, result.session_id, 1, page=number) for number in (1, 2)]
        assert [page["pages"] for page in pages] == [2, 2]
        whole = "".join(page["text"] for page in pages)
        assert whole == "x" * PAGE_CHARS + " [redacted github] end"
        with pytest.raises(UsageError, match="no page 3"):
            load_answer_page(home, result.session_id, 1, page=3)
        with pytest.raises(UsageError, match="no answer 2"):
            load_answer_page(home, result.session_id, 2)
        assert load_prompt_page(home, result.session_id)["pages"] == 1


def test_views_show_the_same_as_the_tree(root: Path) -> None:
    """`remit ps --tree` and the page read one and the same."""
    with opened(root) as home:
        insert(home, Kept(0, state="running"), Kept(1, parent=0, root=0))
        seen = run_tree.list_subtree(home, name(0))
        assert [each.state for each in seen] == [item["state"] for item in load_tree(home, name(0))["items"]]

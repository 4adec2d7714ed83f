"""Sync: what was edited is taken in by what was agreed before, what is broken is recovered, and plans follow."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from remit.errors import StateError
from remit.ledger.home import Home
from remit.tasks.store import TaskStore
from remit.tasks.sync import absorb_edits, repair
from remit.tasks.transaction import finish_if_interrupted, load_agreed, load_agreed_markers
from tests.support.git_command import git
from tests.support.kill_points import run_and_die
from tests.support.task_store import give_plan, load_state, make, read_markers

if TYPE_CHECKING:
    from pathlib import Path

    from remit.tasks.sync import SyncResult

NOW = "set task 1 to PLANNING in state.json, as in TODO.md (it was not_started)"
EDITING = """
import sys
from remit.ledger.home import Home
from remit.tasks.store import TaskStore
from remit.tasks.sync import repair
store = TaskStore(Home(sys.argv[1]), "specs")
for number in range(5):
    store.add(f"Task {number}") if sys.argv[2] == "add" else repair(store)
"""


def edit(folder: Path, name: str, old: str, new: str, times: int = 1) -> None:
    file = folder / "specs" / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, times))


def list_codes(synced: SyncResult) -> list[tuple[str, str]]:
    return [(file, each.code) for file, found in synced.diagnostics.items() for each in found]


# What was edited


def test_an_edit_is_taken_in_by_whatever_comes_next(tmp_path: Path) -> None:
    store = make(tmp_path, "One", "Two")
    edit(tmp_path, "TODO.md", "[NOT STARTED]", "[PLANNING]")
    assert store.add("Three").absorbed == (NOW,)
    assert read_markers(tmp_path)[0] == {1: "PLANNING", 2: "NOT STARTED", 3: "NOT STARTED"}
    assert store.add("Four").absorbed == ()
    edit(tmp_path, "state.json", '"planning"', '"planned"')
    assert store.move(1, "REVISING").absorbed == (
        "set task 1 to [PLANNED] in TODO.md, as in state.json (it was [PLANNING])",
    )
    assert store.check() == []


def test_what_was_agreed_outlives_the_process_and_other_edits(tmp_path: Path) -> None:
    make(tmp_path, "One", "Two").home.close()
    edit(tmp_path, "TODO.md", "[NOT STARTED]", "[COMPLETED]", 2)
    store = make(tmp_path)
    assert load_agreed_markers(store.home, "specs") == {1: "NOT STARTED", 2: "NOT STARTED"}
    assert list_codes(absorb_edits(store)) == [("specs/TODO.md", "SYN018")] * 2
    assert load_agreed(store.home, "specs") == b""
    edit(tmp_path, "TODO.md", "[COMPLETED]", "[PLANNING]")
    synced = absorb_edits(store)
    assert synced.done == (NOW,)
    assert list_codes(synced) == [("specs/TODO.md", "SYN018")]
    assert load_agreed_markers(store.home, "specs") == {1: "PLANNING", 2: "NOT STARTED"}


def test_without_anything_agreed_nothing_is_guessed(tmp_path: Path) -> None:
    make(tmp_path, "One").home.close()
    edit(tmp_path, "TODO.md", "[NOT STARTED]", "[PLANNING]")
    for file in (tmp_path / ".remit").glob("ledger.db*"):
        file.unlink()
    synced = absorb_edits(make(tmp_path))
    assert (synced.done, list_codes(synced)) == ((), [("specs/TODO.md", "SYN004")])
    assert repair(make(tmp_path)).done == (
        "set task 1 to [NOT STARTED] in TODO.md, as in state.json (it was [PLANNING])",
    )


def test_a_reason_by_hand_is_a_reason(tmp_path: Path) -> None:
    store = make(tmp_path, "One", "Two")
    edit(tmp_path, "TODO.md", "[NOT STARTED]", "[BLOCKED]", 2)
    edit(tmp_path, "TODO.md", "[BLOCKED]\n", "[BLOCKED]\n- **Blocked Reason**: no key\n")
    synced = absorb_edits(store)
    assert synced.done == ("set task 1 to BLOCKED in state.json, as in TODO.md (it was not_started)",)
    assert list_codes(synced) == [("specs/TODO.md", "SYN018")]


def test_a_change_that_puts_the_rest_right_is_the_end_of_it(tmp_path: Path) -> None:
    store = make(tmp_path, "One")
    edit(tmp_path, "state.json", '"next_project_number": 2', '"next_project_number": 1')
    assert [code for _, code in list_codes(absorb_edits(store))] == ["SYN006", "SYN009"]
    moved = store.add("Two")
    assert (moved.number, moved.diagnostics, moved.diagnostic_files) == (2, (), ())
    assert load_agreed(store.home, "specs") not in {None, b""}


def test_what_is_told_after_a_change_stands_where_it_says(tmp_path: Path) -> None:
    store = make(tmp_path, "One", "Two")
    edit(tmp_path, "TODO.md", "### 2. Two\n- **Status**: [NOT STARTED]", "### 2. Two\n- **Status**: [COMPLETED]")
    (told,) = store.move(1, "BLOCKED", reason="waits").diagnostics  # which adds a line above it
    assert told.place is not None
    lines = (tmp_path / "specs" / "TODO.md").read_text().split("\n")
    assert lines[told.place.line - 1] == snapshot("- **Status**: [COMPLETED]")


def test_an_edit_by_hand_is_not_moved_over(tmp_path: Path) -> None:
    store = make(tmp_path, "One")
    edit(tmp_path, "TODO.md", "[NOT STARTED]", "[PARTIAL]")
    with pytest.raises(StateError, match=r"task 1 was set to \[PARTIAL\] in TODO.md by hand"):
        store.move(1, "IMPLEMENTING")
    edit(tmp_path, "state.json", '"not_started"', '"implementing"')
    with pytest.raises(StateError, match=r"task 1 was NOT STARTED, but is \[PARTIAL\] in TODO.md and implementing"):
        store.move(1, "COMPLETED")
    assert read_markers(tmp_path) == ({1: "IMPLEMENTING"}, {1: "PARTIAL"})


# Repairs


def test_a_repair_is_written_once_and_for_all(tmp_path: Path) -> None:
    store = make(tmp_path, "One", "Two")
    edit(tmp_path, "state.json", '"project_number": 2', '"project_number": 1')
    first = repair(store)
    assert first.agree
    assert set(first.files) == {"specs/state.json", "specs/TODO.md"}
    assert read_markers(tmp_path)[0].keys() == read_markers(tmp_path)[1].keys()
    second = repair(store)
    assert (second.done, second.files, second.agree) == ((), (), True)


@pytest.mark.parametrize("prefer", ["state", "todo"])
def test_one_side_can_be_followed(tmp_path: Path, prefer: str) -> None:
    store = make(tmp_path, "One")
    edit(tmp_path, "TODO.md", "[NOT STARTED]", "[COMPLETED]")
    edit(tmp_path, "state.json", '"not_started"', '"blocked"')
    assert repair(store, "state" if prefer == "state" else "todo").agree
    wanted = "BLOCKED" if prefer == "state" else "COMPLETED"
    assert read_markers(tmp_path) == ({1: wanted}, {1: wanted})
    assert load_agreed_markers(store.home, "specs") == {1: wanted}


def test_plans_follow_in_the_same_change(tmp_path: Path) -> None:
    store = make(tmp_path, "One")
    plan = give_plan(tmp_path)
    edit(tmp_path, "state.json", '"not_started"', '"completed"')
    synced = repair(store)
    assert "set the plan of task 1 to [COMPLETED], as in state.json" in synced.done
    assert "- **Status**: [COMPLETED]" in plan.read_text()
    assert synced.files == ("specs/TODO.md", "specs/001_x/plans/implementation-001.md")


def test_a_priority_by_hand_is_told_until_somebody_says_which_holds(tmp_path: Path) -> None:
    """Nothing tells which of the two was edited, so neither is taken for the other."""
    store = make(tmp_path, "One")
    edit(tmp_path, "TODO.md", "**Priority**: Medium", "**Priority**: High")
    for synced in (absorb_edits(store), repair(store)):
        assert (synced.done, synced.files, synced.agree) == ((), (), False)
        assert list_codes(synced) == [("specs/TODO.md", "SYN022")]
    followed = repair(store, "todo")
    assert followed.agree
    assert (list_codes(followed), load_state(tmp_path)["active_projects"][0]["priority"]) == ([], "high")
    assert list_codes(absorb_edits(store)) == []


# What can't be read


def test_a_broken_state_is_kept_before_it_is_written_anew(tmp_path: Path) -> None:
    store = make(tmp_path, "One")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "specs")
    git(tmp_path, "commit", "-qm", "one")
    store.add("Two")
    state = tmp_path / "specs" / "state.json"
    broken = state.read_bytes()[:-40] + b"\xff"
    state.write_bytes(broken)
    with pytest.raises(StateError):
        absorb_edits(store)
    synced = repair(store)
    (kept,) = synced.recovered
    assert (tmp_path / kept).read_bytes() == broken
    assert synced.agree
    assert [each["project_number"] for each in load_state(tmp_path)["active_projects"]] == [1, 2]


@pytest.mark.slow
@pytest.mark.thorough
def test_wherever_a_recovery_is_killed_nothing_is_lost(tmp_path: Path) -> None:
    """At every step the broken file is still there, or it is kept and the new one is whole."""
    ends = set()
    for step in range(1, 300):
        folder = tmp_path / str(step)
        make(folder, "One").home.close()
        git(folder, "init", "-q")
        git(folder, "add", "specs")
        git(folder, "commit", "-qm", "one")
        state = folder / "specs" / "state.json"
        broken = state.read_bytes()[:-30]
        state.write_bytes(broken)
        killed = run_and_die(partial(repair, make(folder)), at=step)
        home = Home(str(folder))
        finish_if_interrupted(home)
        now = state.read_bytes()
        if now != broken:
            assert [file.read_bytes() for file in (folder / ".remit" / "recovered").iterdir()] == [broken]
            assert json.loads(now)["active_projects"][0]["title"] == "One"
        ends.add(now == broken)
        assert repair(TaskStore(home, "specs")).agree
        home.close()
        if not killed:
            break
    assert step > 10
    assert ends == {True, False}


# Beside others


@pytest.mark.slow
def test_repairs_and_changes_at_once_lose_nothing(tmp_path: Path) -> None:
    make(tmp_path, "One").home.close()
    edit(tmp_path, "TODO.md", "[NOT STARTED]", "[COMPLETED]")
    words = ("add", "repair", "add", "repair")
    processes = [subprocess.Popen([sys.executable, "-c", EDITING, str(tmp_path), word]) for word in words]
    assert [process.wait() for process in processes] == [0] * 4
    state, todo = read_markers(tmp_path)
    assert sorted(state) == sorted(todo) == list(range(1, 12))
    assert (state[1], todo[1]) == ("NOT STARTED", "COMPLETED")


def test_branches_that_each_made_tasks_are_merged(tmp_path: Path) -> None:
    store = make(tmp_path, "One")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    for name in ("left", "right"):
        git(tmp_path, "checkout", "-q", "-b", name, "main")
        store.add(f"First of {name}", description=f"What {name} wants.")
        store.add(f"Second of {name}", priority="high")
        git(tmp_path, "commit", "-qam", name)
    assert "CONFLICT" in git(tmp_path, "merge", "left", check=False)
    with pytest.raises(StateError, match="markers of an unfinished merge"):
        store.add("More")
    synced = repair(store)
    assert synced.agree
    assert len(synced.recovered) == 2
    titles = {task.number: task.title for task in store.list_tasks()}
    assert sorted(titles.values()) == ["First of left", "First of right", "One", "Second of left", "Second of right"]
    assert sorted(titles) == [1, 2, 3, 4, 5]
    todo = (tmp_path / "specs" / "TODO.md").read_text()
    assert all(f"### {number}. {title}\n" in todo for number, title in titles.items())
    assert all(f"What {name} wants." in todo for name in ("left", "right"))
    assert store.add("More").number == 6

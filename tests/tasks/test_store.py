"""The store of tasks: state.json, TODO.md and the plan change together, or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from remit.errors import EditedError, RemitError, StateError, UsageError
from remit.ledger import journal
from remit.ledger.home import Home
from remit.storage.spec_root import find_folder, find_spec_root
from remit.tasks.todo import parse_todo
from remit.tasks.transaction import finish_if_interrupted
from tests.support.kill_points import run_and_die
from tests.support.paths import ROOT
from tests.support.sample_sizes import choose
from tests.support.task_store import PLAN, give_plan, load_state, make, read_markers

if TYPE_CHECKING:
    from pathlib import Path

MOVING = """
import sys
from remit.ledger.home import Home
from remit.tasks.store import TaskStore
root, number = sys.argv[1:]
store = TaskStore(Home(root), "specs")
for _ in range(5):
    store.move(int(number), "IN PROGRESS")
    store.move(int(number), "BLOCKED", reason="waiting")
"""
ADDING = """
import sys
from remit.ledger.home import Home
from remit.tasks.store import TaskStore
root, name = sys.argv[1:]
store = TaskStore(Home(root), "specs")
for number in range(5):
    store.add(f"Task {number} of {name}")
"""


def test_the_first_task_makes_both_files(tmp_path: Path) -> None:
    store = make(tmp_path)
    assert find_folder(str(tmp_path)) is None
    moved = store.add("Export  button", priority="high", language="python", description="Adds a button.")
    assert (moved.number, moved.after, moved.files) == (1, "NOT STARTED", ("specs/state.json", "specs/TODO.md"))
    assert find_folder(str(tmp_path)) == "specs"
    value = load_state(tmp_path)
    assert value["next_project_number"] == 2
    task = value["active_projects"][0]
    assert (task["project_number"], task["project_name"], task["status"]) == (1, "export_button", "not_started")
    todo = (tmp_path / "specs" / "TODO.md").read_text()
    assert "### 1. Export button\n- **Status**: [NOT STARTED]\n- **Priority**: High\n- **Language**: python\n" in todo
    assert "**Description**: Adds a button." in todo
    assert "next_project_number: 2" in todo
    assert store.check() == []


def test_a_move_changes_both_files_and_the_plan(tmp_path: Path) -> None:
    store = make(tmp_path, "One", "Two")
    plan = give_plan(tmp_path)
    moved = store.move(1, "implementing")
    assert (moved.before, moved.after) == ("NOT STARTED", "IMPLEMENTING")
    assert read_markers(tmp_path) == ({2: "NOT STARTED", 1: "IMPLEMENTING"}, {1: "IMPLEMENTING", 2: "NOT STARTED"})
    assert "- **Status**: [IMPLEMENTING]" in plan.read_text()
    assert moved.files[:2] == ("specs/state.json", "specs/TODO.md")
    facts = store.load_plan(1)
    assert facts is not None
    assert facts.resume is not None
    assert facts.resume.number == "2"
    store.move_phase(1, "2", "in_progress")
    assert "### Phase 2: Walls [IN PROGRESS]" in plan.read_text()


def test_an_illegal_move_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    store = make(tmp_path, "One")
    before = {file.name: file.read_bytes() for file in (tmp_path / "specs").iterdir()}
    with pytest.raises(StateError, match="task 1: a task that is NOT STARTED can't become COMPLETED") as caught:
        store.move(1, "COMPLETED")
    assert "RESEARCHING" in caught.value.hint
    with pytest.raises(StateError, match="BLOCKED needs a reason"):
        store.move(1, "blocked")
    with pytest.raises(UsageError, match="there is no task 7"):
        store.move(7, "BLOCKED", reason="x")
    assert {file.name: file.read_bytes() for file in (tmp_path / "specs").iterdir()} == before


def test_a_reason_stands_in_both_files(tmp_path: Path) -> None:
    store = make(tmp_path, "One")
    store.move(1, "blocked", reason="The  key is\nmissing")
    assert load_state(tmp_path)["active_projects"][0]["blocked_reason"] == "The key is missing"
    assert "The key is missing" in (tmp_path / "specs" / "TODO.md").read_text()


def test_a_hostile_title_stays_a_title(tmp_path: Path) -> None:
    store = make(tmp_path, "One\n### 99. Other\n- **Status**: [COMPLETED]", "```\nfence", "Two")
    assert store.check() == []
    assert sorted(task.number for task in parse_todo((tmp_path / "specs" / "TODO.md").read_text()).tasks) == [1, 2, 3]


def test_numbers_are_above_all_that_are_taken(tmp_path: Path) -> None:
    store = make(tmp_path, "One")
    (tmp_path / "specs" / "archive").mkdir()
    archived = {"completed_projects": [{"project_number": 41, "project_name": "old", "status": "completed"}]}
    (tmp_path / "specs" / "archive" / "state.json").write_text(json.dumps(archived))
    assert store.add("Two").number == 42
    assert store.get(41).closed


def test_numbers_start_again_where_the_policy_says_so(tmp_path: Path) -> None:
    """C13: what is open, put away or has a folder keeps its number; what is archived does not."""
    store = make(tmp_path, "Zero", "One")
    value = load_state(tmp_path) | {"project_numbering": {"policy": "increment_modulo_1000"}}
    value |= {"next_project_number": 999, "completed_projects": [{"project_number": 3, "project_name": "three"}]}
    specs = tmp_path / "specs"
    (specs / "state.json").write_text(json.dumps(value))
    (specs / "TODO.md").write_text((specs / "TODO.md").read_text().replace("project_number: 3", "project_number: 999"))
    (specs / "archive").mkdir()
    (specs / "archive" / "state.json").write_text('{"completed_projects": [{"project_number": 4}]}')
    (specs / "005_old" / "plans").mkdir(parents=True)
    (specs / "6_notes.md").write_text("no folder")
    assert [store.add(title).number for title in ("a", "b", "c", "d")] == [999, 0, 4, 6]
    assert load_state(tmp_path)["next_project_number"] == 7
    assert "next_project_number: 7\n" in (specs / "TODO.md").read_text()
    assert store.check() == []
    assert store.move(0, "IN PROGRESS").after == "IN PROGRESS"


def test_links_are_kept_once(tmp_path: Path) -> None:
    store = make(tmp_path, "One")
    assert store.link(1, "auth-2026-01-19").files == ("specs/state.json",)
    assert store.link(1, "auth-2026-01-19").files == ()
    assert store.get(1).links == ("auth-2026-01-19",)


def test_what_is_over_is_put_away(tmp_path: Path) -> None:
    store = make(tmp_path, "One", "Two", "Three")
    store.move(1, "IN PROGRESS")
    store.move(1, "COMPLETED")
    with pytest.raises(StateError, match="task 2 hasn't ended: its status is NOT STARTED"):
        store.archive((2,))
    assert [each.number for each in store.archive()[0]] == [1]
    assert "### 1." not in (tmp_path / "specs" / "TODO.md").read_text()
    assert "### 1. One" in (tmp_path / "specs" / "archive" / "TODO.md").read_text()
    assert [each["project_number"] for each in load_state(tmp_path)["completed_projects"]] == [1]
    assert store.get(1).closed
    assert store.check() == []
    with pytest.raises(StateError, match="has ended"):
        store.move(1, "IN PROGRESS")
    assert store.archive()[0] == []


def test_where_there_is_an_archive_they_go_there(tmp_path: Path) -> None:
    store = make(tmp_path, "One")
    store.move(1, "IN PROGRESS")
    store.move(1, "COMPLETED")
    (tmp_path / "specs" / "archive").mkdir()
    (tmp_path / "specs" / "archive" / "state.json").write_text('{"completed_projects": []}\n')
    store.archive((1,))
    archived = json.loads((tmp_path / "specs" / "archive" / "state.json").read_text())
    assert [each["project_number"] for each in archived["completed_projects"]] == [1]
    assert load_state(tmp_path)["active_projects"] == []


@pytest.mark.parametrize("archive", [None, '{"completed_projects": [{"project_number": 0}]}'])
def test_many_are_put_away_in_one_pass(tmp_path: Path, archive: str | None) -> None:
    store = make(tmp_path, *(f"Task {number}" for number in range(1, 8)))
    specs = tmp_path / "specs"
    if archive is not None:
        (specs / "archive").mkdir()
        (specs / "archive" / "state.json").write_text(archive)
    for number in (2, 3, 5, 7):
        store.move(number, "IN PROGRESS")
        store.move(number, "COMPLETED")
    assert [each.number for each in store.archive((7, 2))[0]] == [7, 2]
    assert [each.number for each in store.archive()[0]] == [3, 5]
    assert sorted(read_markers(tmp_path)[1]) == [1, 4, 6]
    home = specs / "state.json" if archive is None else specs / "archive" / "state.json"
    put_away = [each["project_number"] for each in json.loads(home.read_text())["completed_projects"]]
    assert put_away == ([2, 7, 3, 5] if archive is None else [0, 2, 7, 3, 5])
    assert [task.number for task in parse_todo((specs / "archive" / "TODO.md").read_text()).tasks] == [2, 7, 3, 5]
    assert store.check() == []
    assert [store.get(number).marker for number in (2, 3, 5, 7)] == ["COMPLETED"] * 4


@pytest.mark.parametrize("name", ["state.json", "TODO.md"])
def test_a_number_given_twice_is_not_put_away(tmp_path: Path, name: str) -> None:
    store = make(tmp_path, "One", "Two")
    store.move(1, "IN PROGRESS")
    store.move(1, "COMPLETED")
    file = tmp_path / "specs" / name
    text = file.read_text()
    twice = text.replace('"project_number": 2', '"project_number": 1').replace("### 2. ", "### 1. ")
    assert twice != text
    file.write_text(twice.replace('"not_started"', '"completed"'))
    before = file.read_text()
    with pytest.raises(UsageError, match=f"2 tasks in {name} have the number 1"):
        store.archive((1,))
    assert file.read_text() == before


def test_a_plan_outside_the_workspace_is_not_touched(tmp_path: Path) -> None:
    root = tmp_path / "root"
    store = make(root, "One")
    outside = tmp_path / "plan.md"
    outside.write_text(PLAN)
    value = load_state(root)
    value["active_projects"][0]["plan_path"] = "../plan.md"
    (root / "specs" / "state.json").write_text(json.dumps(value))
    store.move(1, "IMPLEMENTING")
    assert outside.read_text() == PLAN
    assert store.load_plan(1) is None


def test_a_broken_state_is_not_written_over(tmp_path: Path) -> None:
    store = make(tmp_path, "One")
    state = tmp_path / "specs" / "state.json"
    broken = state.read_bytes()[:-20]
    state.write_bytes(broken)
    with pytest.raises(StateError, match="truncated") as caught:
        store.move(1, "IN PROGRESS")
    assert "remit task sync --repair" in caught.value.hint
    with pytest.raises(StateError, match="truncated"):
        store.list_tasks()
    assert state.read_bytes() == broken


@pytest.mark.parametrize("missing", ["state.json", "TODO.md"])
def test_one_file_without_the_other_is_told(tmp_path: Path, missing: str) -> None:
    store = make(tmp_path, "One")
    (tmp_path / "specs" / missing).unlink()
    with pytest.raises(StateError, match=f"{missing} is missing"):
        store.add("Two")


def test_without_tasks_nothing_can_be_moved(tmp_path: Path) -> None:
    store = make(tmp_path)
    assert store.list_tasks() == []
    with pytest.raises(UsageError, match="has no tasks"):
        store.move(1, "IN PROGRESS")
    with pytest.raises(UsageError, match="there is no task 1"):
        store.get(1)


@pytest.mark.slow
def test_wherever_a_move_is_killed_the_files_agree_again(tmp_path: Path) -> None:
    """Killed at every file that is opened, replaced or removed; the next look finishes it, or it never happened."""
    ends = set()
    for step in range(1, 300, choose(3, 1)):
        folder = tmp_path / str(step)
        make(folder, "One").home.close()
        plan = give_plan(folder)
        killed = run_and_die(partial(make(folder).move, 1, "IMPLEMENTING"), at=step)
        home = Home(str(folder))
        finish_if_interrupted(home)
        state, todo = read_markers(folder)
        assert state == todo
        assert f"- **Status**: [{state[1]}]" in plan.read_text()
        ends.add(state[1])
        home.close()
        if not killed:
            break
    assert step > 10
    assert ends == {"NOT STARTED", "IMPLEMENTING"}


@pytest.mark.slow
@pytest.mark.thorough
def test_many_move_at_once_and_the_files_agree(tmp_path: Path) -> None:
    make(tmp_path, *"abcd").home.close()
    commands = [[sys.executable, "-c", MOVING, str(tmp_path), str(number)] for number in range(1, 5)]
    commands += [[sys.executable, "-c", ADDING, str(tmp_path), name] for name in "xy"]
    processes = [subprocess.Popen(command) for command in commands]
    assert [process.wait() for process in processes] == [0] * 6
    state, todo = read_markers(tmp_path)
    assert state == todo
    assert sorted(state) == list(range(1, 15))
    assert {state[number] for number in range(1, 5)} == {"BLOCKED"}
    assert make(tmp_path).check() == []


def test_a_plan_where_plans_are_kept_is_found_without_being_named(tmp_path: Path) -> None:
    store = make(tmp_path, "One", "Two")
    plans = tmp_path / "specs" / "002_two" / "plans"
    plans.mkdir(parents=True)
    (plans / "implementation-001.md").write_text("# Old\n")
    (plans / "implementation-002.md").write_text(PLAN)
    facts = store.load_plan(2)
    assert facts is not None
    assert facts.path == "specs/002_two/plans/implementation-002.md"
    assert store.load_plan(1) is None
    store.move(2, "IMPLEMENTING")
    assert "- **Status**: [IMPLEMENTING]" in (plans / "implementation-002.md").read_text()


@pytest.mark.parametrize(
    "named", ["specs/TODO.md", "specs/archive/TODO.md", "p\ud83d.md", "specs/state.json", "\0", "x"]
)
def test_what_cannot_be_a_plan_is_none(tmp_path: Path, named: str) -> None:
    store = make(tmp_path, "One", "Two")
    value = load_state(tmp_path)
    value["active_projects"][1]["plan_path"] = named
    (tmp_path / "specs" / "state.json").write_text(json.dumps(value, indent=2))
    store.move(2, "RESEARCHING")
    assert not any(each.severity == "error" for each in store.check())
    assert store.load_plan(2) is None


def test_an_edit_that_is_taken_in_is_told_also_where_nothing_is_put_away(tmp_path: Path) -> None:
    store = make(tmp_path, "One")
    todo = tmp_path / "specs" / "TODO.md"
    todo.write_text(todo.read_text().replace("NOT STARTED", "RESEARCHING"))
    done, aside = store.archive()
    assert done == []
    assert len(aside.absorbed) == 1
    assert aside.files == ("specs/state.json",)


def add_note(folder: Path, note: str, *, in_place: bool) -> None:
    """What an editor does: read TODO.md, add a line, and save it in place or by a rename."""
    todo = folder / "specs" / "TODO.md"
    text = todo.read_text().replace("# TODO\n", f"# TODO\n\n{note}\n", 1)
    assert note in text
    target = todo if in_place else todo.with_name(".TODO.md.swp")
    target.write_text(text)
    if not in_place:
        target.rename(todo)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("step", ["_stage", "_write_intent", "move_if_unchanged"])
def test_a_note_that_is_written_during_a_move_survives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, *, in_place: bool
) -> None:
    store = make(tmp_path, "One", "Two")
    done = getattr(journal, step)
    fired: list[str] = []

    def edit(*given: object) -> object:
        told = done(*given)
        if not fired:
            fired.append(step)
            add_note(tmp_path, "A note of a user.", in_place=in_place)
        return told

    monkeypatch.setattr(journal, step, edit)
    moved = store.move(2, "RESEARCHING")
    assert fired
    assert (moved.before, moved.after, moved.diagnostics) == ("NOT STARTED", "RESEARCHING", ())
    assert "A note of a user." in (tmp_path / "specs" / "TODO.md").read_text()
    assert read_markers(tmp_path) == ({1: "NOT STARTED", 2: "RESEARCHING"},) * 2


def test_a_file_that_is_edited_all_the_time_is_reported_and_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make(tmp_path, "One")
    done = journal._write_intent  # noqa: SLF001 - between reading and renaming
    notes: list[str] = []

    def edit(*given: Any) -> int:  # noqa: ANN401 - whatever the step takes
        told = done(*given)
        notes.append(f"Note {len(notes)}.")
        add_note(tmp_path, notes[-1], in_place=False)
        return told

    monkeypatch.setattr(journal, "_write_intent", edit)
    with pytest.raises(EditedError, match=r"'specs/TODO.md' was edited while Remit was writing it"):
        store.move(1, "RESEARCHING")
    assert len(notes) > 5
    text = (tmp_path / "specs" / "TODO.md").read_text()
    assert all(note in text for note in notes)
    assert read_markers(tmp_path) == ({1: "NOT STARTED"},) * 2


EDITING = """
import random, sys, time
from pathlib import Path
from tests.tasks.test_store import add_note
folder, in_place, count = Path(sys.argv[1]), sys.argv[2] == "True", int(sys.argv[3])
chance = random.Random(1)
print("editing", flush=True)
for number in range(count):
    add_note(folder, f"Note {number} of a user.", in_place=in_place)
    time.sleep(chance.random() * 0.2)
"""


@pytest.mark.slow
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.thorough("False")
def test_an_editor_loses_no_note_to_moves(tmp_path: Path, *, in_place: bool) -> None:
    """In between, an editor that had read TODO.md before a move may save it: then the move is in state.json only."""
    store, count = make(tmp_path, *(f"Task {number}" for number in range(1, 101))), 60
    command = [sys.executable, "-c", EDITING, str(tmp_path), str(in_place), str(count)]
    moves = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as editor:
        assert editor.stdout is not None
        assert editor.stdout.readline() == "editing\n"
        for number in range(1, 101):
            with suppress(RemitError):  # it is edited all the time, or half written when it is read
                store.move(number, "RESEARCHING")
                moves += 1
            if editor.poll() is not None:
                break
        assert editor.wait(30) == 0
    text = (tmp_path / "specs" / "TODO.md").read_text()
    assert [number for number in range(count) if f"Note {number} of a user." not in text] == []
    assert moves > 0


def test_why_a_task_was_blocked_is_dropped_when_it_moves_on(tmp_path: Path) -> None:
    """002, stage 5: what is said of a task is true of it now; put back, it is blocked for the same reason."""
    store = make(tmp_path, "One")
    store.move(1, "BLOCKED", reason="no access")
    before, todo = store.get(1), (tmp_path / "specs/TODO.md").read_text()
    assert "- **Blocked Reason**: no access" in todo
    store.move(1, "IN PROGRESS")
    assert "Reason" not in (tmp_path / "specs/TODO.md").read_text()
    assert "blocked_reason" not in store.get(1).fields
    store.restore_status(1, "BLOCKED", before.dates)
    assert store.get(1).fields["blocked_reason"] == "no access"
    assert (tmp_path / "specs/TODO.md").read_text() == todo


AGENT = "---\nname: planner\nversion: 1.0.0\nagent_type: planning\n---\n# Planner\n"


@pytest.mark.conforms("001-38")
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "specs"),
        ({".opencode/agent/subagents/planner.md": AGENT}, ".opencode/specs"),
        ({".claude/agents/planner.md": AGENT}, ".claude/specs"),
        ({".claude/agents/planner.md": "---\nname: planner\n---\nPlan.\n"}, "specs"),
        ({".opencode/agent/planner.md": AGENT + "Write `specs/1_x/plans/`.\n"}, "specs"),
        ({".opencode/agent/planner.md": AGENT + "Write `.opencode/specs/1_x/plans/`.\n"}, ".opencode/specs"),
        ({".opencode/agent/planner.md": AGENT, ".claude/specs/README.md": ""}, ".claude/specs"),
        ({".opencode/agent/planner.md": AGENT, "specs/TODO.md": "# TODO\n"}, "specs"),
    ],
)
def test_the_spec_root_follows_the_project(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    """D9: where tasks are, else where the project's own agents of the standard write."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert find_spec_root(str(tmp_path)) == expected
    assert find_spec_root(str(tmp_path), "docs/tasks") == "docs/tasks"

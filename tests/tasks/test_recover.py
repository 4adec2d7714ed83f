"""A state.json that isn't JSON: the last version in git that is comes back, and without one nothing changes."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from remit.errors import StateError
from remit.ledger.home import Home
from remit.tasks.store import TaskStore
from remit.tasks.sync import SyncResult, find_named, repair
from tests.support.task_files import PROJECTS, STATE, TODO, make_state

if TYPE_CHECKING:
    from pathlib import Path

BROKEN: dict[str, str | bytes] = {
    "cut off": STATE[: len(STATE) // 2],
    "two objects": STATE + STATE,
    "a trailing comma": STATE.replace('"low"', '"low",'),
    "no object": "[1, 2]",
    "empty": "",
    "zeros": "\0" * 512,
    "another encoding": STATE.encode("utf-16"),
    "one side of a merge is broken": "<<<<<<< a\n" + STATE + "=======\n{\n>>>>>>> b\n",
    "nested": "[" * 200_000,
}


def write(folder: Path, state: str | bytes, todo: str | None = TODO) -> None:
    """Put both files into a workspace."""
    (folder / "specs").mkdir(exist_ok=True)
    (folder / "specs" / "state.json").write_bytes(state if isinstance(state, bytes) else state.encode())
    (folder / "specs" / "TODO.md").unlink(missing_ok=True)
    if todo is not None:
        (folder / "specs" / "TODO.md").write_text(todo)


def commit(folder: Path, *paths: str) -> None:
    """Commit some files."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", *(paths or ("specs",))], [*identity, "commit", "-qm", "tasks"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def run(folder: Path, todo: str | None = TODO, state: str | bytes = BROKEN["cut off"]) -> SyncResult:
    """Break state.json, repair it, and make sure that the broken one is kept."""
    write(folder, state, todo)
    data = (folder / "specs" / "state.json").read_bytes()
    synced = repair(TaskStore(Home(str(folder)), "specs"))
    (kept,) = synced.recovered
    assert (folder / kept).read_bytes() == data
    return synced


def load(folder: Path) -> str:
    return (folder / "specs" / "state.json").read_text()


@pytest.mark.parametrize("broken", BROKEN)
def test_the_last_version_comes_back_word_for_word(broken: str, tmp_path: Path) -> None:
    write(tmp_path, STATE.replace("export_button", "older"))
    commit(tmp_path)
    odd = STATE.replace('"project_number": 12,', '"project_number":   12 ,\n\n').replace('"low"', '"l\\u006fw"')
    write(tmp_path, odd)
    commit(tmp_path)
    synced = run(tmp_path, state=BROKEN[broken])
    assert synced.agree
    assert "restored it from commit " in synced.done[0]
    assert load(tmp_path) == odd


@pytest.mark.parametrize("broken", BROKEN)
def test_without_a_version_it_is_reported_and_nothing_changes(broken: str, tmp_path: Path) -> None:
    write(tmp_path, BROKEN[broken])
    before = (tmp_path / "specs" / "state.json").read_bytes()
    store = TaskStore(Home(str(tmp_path)), "specs")
    for has_git in (False, True) if broken == "cut off" else (False,):
        if has_git:
            commit(tmp_path)
        with pytest.raises(StateError, match="and git has no version that is valid JSON") as raised:
            repair(store)
        assert raised.value.hint is not None
        assert "remit task sync --repair" in raised.value.hint
        assert (tmp_path / "specs" / "state.json").read_bytes() == before
        assert (tmp_path / "specs" / "TODO.md").read_text() == TODO
        assert not (tmp_path / ".remit" / "recovered").exists()
    (tmp_path / "specs" / "state.json").rename(tmp_path / "away")  # as the hint says
    assert repair(store).agree
    assert [task.number for task in store.list_tasks()] == [12, 13]


def test_versions_that_are_broken_too_are_passed_over(tmp_path: Path) -> None:
    for state in (STATE, STATE[:-5], STATE[:-9]):
        write(tmp_path, state)
        commit(tmp_path)
    assert run(tmp_path).agree
    assert load(tmp_path) == STATE


def test_tasks_and_statuses_come_from_todo(tmp_path: Path) -> None:
    """Those that it has got since the commit; where it was behind already, state.json is followed as ever."""
    write(tmp_path, STATE.replace('"planned"', '"implementing"'))
    commit(tmp_path)
    later = TODO.replace("[NOT STARTED]", "[COMPLETED]") + "\n### 14. Dark mode\n- **Status**: [RESEARCHED]\n"
    synced = run(tmp_path, later)
    assert synced.agree
    found = {task["project_number"]: task["status"] for task in json.loads(load(tmp_path))["active_projects"]}
    assert found == {12: "implementing", 13: "completed", 14: "researched"}
    assert json.loads(load(tmp_path))["next_project_number"] == 15


def test_without_todo_in_git_its_statuses_count(tmp_path: Path) -> None:
    write(tmp_path, STATE)
    commit(tmp_path, "specs/state.json")
    run(tmp_path, TODO.replace("[PLANNED]", "[BLOCKED]"))
    assert json.loads(load(tmp_path))["active_projects"][0]["status"] == "blocked"


def test_a_task_that_only_the_broken_file_names_is_reported_at_its_place(tmp_path: Path) -> None:
    write(tmp_path, STATE)
    commit(tmp_path)
    more = make_state(active_projects=[*PROJECTS, {"project_number": 30, "status": "planned"}])
    synced = run(tmp_path, state=more[:-20])
    assert synced.agree
    ((finding,),) = synced.diagnostics.values()
    assert (finding.code, list(synced.diagnostics)) == ("SYN013", list(synced.recovered))
    assert finding.place is not None
    line = more.split("\n")[finding.place.line - 1]
    assert line[finding.place.column - 1 : finding.place.end_column - 1] == "30"
    assert json.loads(load(tmp_path))["next_project_number"] == 31


def test_a_workspace_may_lie_below_the_top_of_its_repository_and_its_folder_behind_a_link(tmp_path: Path) -> None:
    below = tmp_path / "project"
    (below / "real").mkdir(parents=True)
    (below / "specs").symlink_to("real")
    write(below, STATE)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit(tmp_path, "project")
    assert run(below).agree
    assert load(below) == STATE


def test_numbers_are_found_once_each() -> None:
    text = '{"project_number": 3, "x": {"project_number":\n"7"}, "project_number": 3, "project_number": 12345678901'
    assert find_named(text) == {3: (19, 20), 7: (47, 48)}
    assert find_named("") == {}

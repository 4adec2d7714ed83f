"""`remit status`: one screen, whatever is there and whatever is broken."""

import json
import os
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from remit.ledger.events import add_event, read_clock_ms
from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run, advance
from remit.storage.supervisor_presence import Presence
from remit.terminal import cut, measure
from tests.support.commands import Inside, load, put
from tests.support.git_command import git
from tests.support.initialized_workspace import MANIFEST
from tests.support.screen_text import smooth
from tests.support.task_files import STATE, TODO

LONG = "日本語の長い題名" * 20


@pytest.fixture
def workspace(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """A repository, and a screen of the usual size."""
    git(inside.folder, "init", "-q", "-b", "main")
    monkeypatch.setenv("COLUMNS", "80")
    return inside


def delegate(inside: Inside, number: int, *, ended: bool, agent: str = "planner", owner: str | None = None) -> None:
    home = Home(str(inside.folder))
    name, now = f"sess_{number}", read_clock_ms()
    path = ("orchestrator", agent)
    add_run(
        home.ledger,
        Run(name, agent, 1, path, task_number=number, created_ms=now - 3_700_000 + number, owner=owner),
    )
    with home.ledger.transaction() as db:
        advance(db, name, "running", started_ms=now - 90_000)
        if ended:
            cut_short = {"verdict": "missing", "status": "partial", "stop_reason": "timeout"} if number == 5 else {}
            told = {"verdict": "accepted", "status": "completed", "stop_reason": "exited"} | cut_short
            advance(db, name, "finished", ended_ms=now - 60_000, **told)
    home.close()


def make_tasks(*markers: str, title: str = "Something") -> str:
    tasks = [
        {"project_number": number, "project_name": f"{title} {number}", "status": marker}
        for number, marker in enumerate(markers, 1)
    ]
    return json.dumps({"next_project_number": len(tasks) + 1, "active_projects": tasks})


def test_an_empty_folder_says_what_to_do_next_and_stays_empty(inside: Inside) -> None:
    ended = inside("status")
    assert (ended.code, ended.err) == (0, b"")
    assert smooth(ended.text) == snapshot("""\
workspace  <folder>
tasks      none yet; to create one, run: remit task new TITLE
runs       none yet
manifest   none yet; to create it, run: remit findings add --title TEXT --finding TEXT --write-file
errors     none open
ledger     none yet; the first run creates it
""")
    assert list(inside.folder.iterdir()) == []


def test_tasks_by_their_markers_and_those_that_are_worked_on(workspace: Inside) -> None:
    for title in ("Export as CSV", "Login fails", "Third"):
        assert workspace("task", "new", title).code == 0
    workspace("task", "start", "2")
    workspace("task", "set-status", "1", "blocked", "--reason", "no access")
    text = workspace("status").text
    assert "\ntasks      3 in specs: 1 in progress, 1 blocked, 1 not started\n" in text
    assert (
        "\n           >    2  IN PROGRESS   Login fails\n                1  BLOCKED       Export as CSV\n"
        "drift      none: state.json and TODO.md agree\n"
    ) in text
    found = load(workspace("status", "--json"))["tasks"]
    assert found["counts"] == {"IN PROGRESS": 1, "BLOCKED": 1, "NOT STARTED": 1}
    assert (found["focus"], [each["number"] for each in found["working"]]) == (2, [2])


def test_the_size_of_the_ledger_is_that_of_its_file_as_doctor_says(workspace: Inside) -> None:
    delegate(workspace, 1, ended=True)
    size = Path(Home(str(workspace.folder)).ledger_file).stat().st_size
    assert load(workspace("status", "--json"))["ledger_bytes"] == size
    shown = f"{size / 1024 / 1024:.1f} MB"
    assert f"ledger     {shown}\n" in workspace("status").text
    assert f"intact, {shown}\n" in workspace("doctor").text


def test_drift_is_one_line(workspace: Inside) -> None:
    put(workspace, "specs/state.json", STATE)
    put(workspace, "specs/TODO.md", TODO.replace("[PLANNED]", "[COMPLETED]"))
    ended = workspace("status")
    assert (ended.code, "\ndrift      1 difference; see: remit task sync --check\n" in ended.text) == (0, True)


def test_delegations_that_are_open_and_the_last_that_were_settled(workspace: Inside) -> None:
    home = Home(str(workspace.folder))
    supervisor = Presence(home)
    for number in range(1, 8):
        delegate(workspace, number, ended=True)
    delegate(workspace, 8, ended=False)
    delegate(workspace, 9, ended=False, owner=supervisor.id)
    with home.ledger.transaction() as db:
        add_event(db, "progress", {"activity": "x", "tokens": 1200, "cost_usd": 0.25}, session_id="sess_9")
    lines = workspace("status").text.split("\n")
    found = load(workspace("status", "--json"))["runs"]
    supervisor.end()
    home.close()
    start = lines.index("runs       2 open")
    assert lines[start + 1] == snapshot(
        "             planner                   task 9     running 1 min, 1,200 tokens, …"
    )
    assert lines[start + 2] == snapshot(
        "             planner                   task 8     abandoned 1 min; see remit ps"
    )
    assert lines[start + 3] == snapshot(
        "finished     planner                   task 7     completed accepted, 1 min ago"
    )
    assert [line.split()[2] for line in lines[start + 4 : start + 8]] == ["6", "5", "4", "3"]
    assert lines[start + 5].endswith("task 5     partial timeout, 1 min ago")
    told = [(each["session_id"], each["state"], each["supervised"]) for each in found["open"]]
    assert told == [("sess_9", "running", True), ("sess_8", "abandoned", False)]
    assert (found["open"][0]["tokens"], found["open"][0]["cost_usd"]) == (1200, 0.25)
    assert [each["task_number"] for each in found["finished"]] == [7, 6, 5, 4, 3]


@pytest.mark.parametrize("with_ledger", [True, False])
def test_the_manifest_in_numbers(workspace: Inside, with_ledger: bool) -> None:  # noqa: FBT001 - a table
    if with_ledger:
        delegate(workspace, 1, ended=True)
    done = {"status": "complete", "actionable": False, "needs_followup": []}
    put(workspace, MANIFEST, "".join(f"{json.dumps(done | {'id': name})}\n" for name in "abc"))
    assert "\nmanifest   3 entries, 0 pending\n" in workspace("status").text
    with (workspace.folder / MANIFEST).open("a") as file:
        file.write(
            json.dumps(done | {"id": "d", "status": "blocked", "needs_followup": ["BLOCKED:x"]}) + "\nnonsense\n"
        )
    assert "\nmanifest   4 entries, 1 pending, 1 bad line\n" in workspace("status").text


def test_a_manifest_that_is_not_indexed_yet_is_not_waited_for(
    workspace: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remit.views.status._MANIFEST_BYTES", 1000)
    put(workspace, MANIFEST, '{"id":"a"}\n' * 1000)
    assert "manifest   90 entries at its beginning; index it with: remit findings reindex\n" in workspace("status").text
    assert load(workspace("status", "--json"))["manifest"]["is_whole"] is False


def test_open_errors_are_counted(workspace: Inside) -> None:
    entry = {"timestamp": "2026-01-19T00:00:00Z", "type": "timeout", "message": "it took too long"}
    put(
        workspace, "specs/errors.json", json.dumps({"errors": [entry | {"id": f"err_{number}"} for number in range(3)]})
    )
    assert "\nerrors     3 open, 1 cause; see: remit errors list\n" in workspace("status").text


def test_it_fits_the_screen_whatever_is_there(workspace: Inside) -> None:
    markers = (
        "implementing", "in_progress", "planning", "researching", "revising", "partial", "blocked", "blocked",
        "not_started", "planned", "researched", "revised", "expanded", "on_hold", "completed", "abandoned",
    )  # fmt: skip
    put(workspace, "specs/state.json", make_tasks(*markers, title=LONG))
    put(workspace, "specs/TODO.md", "# TODO\n")
    put(workspace, MANIFEST, '{"id":"a"}\nnonsense\n')
    for number in range(20):
        delegate(workspace, number, ended=number < 10, agent=f"agent\x1b[2J-{LONG}")
    text = workspace("status").text
    lines = text.removesuffix("\n").split("\n")
    assert len(lines) <= 23, "the last line is the shell's"
    assert max(sum(measure(line)) for line in lines) <= 80
    assert "\x1b" not in text
    assert {line.split()[0] for line in lines} >= {
        "workspace",
        "tasks",
        "drift",
        "runs",
        "finished",
        "manifest",
        "errors",
        "ledger",
    }


def test_what_is_broken_does_not_hide_the_rest(workspace: Inside) -> None:
    put(workspace, ".remit/ledger.db", b"nonsense" * 1000)
    put(workspace, "specs/TODO.md", TODO)
    os.mkfifo(workspace.folder / "specs/state.json")
    (workspace.folder / MANIFEST).parent.mkdir(parents=True)
    os.mkfifo(workspace.folder / MANIFEST)
    put(workspace, "specs/errors.json", "x" * (9 * 1024 * 1024))
    ended = workspace("status")
    assert (ended.code, ended.err) == (1, b"")
    assert len(ended.text.split("\n")) <= 24
    first, *lines = ended.text.split("\n")
    assert max(map(len, (first, *lines))) <= 80
    assert "…" not in "".join(lines), "what to do stands at the end"
    unreadable = {each["part"] for each in load(workspace("status", "--json"))["unreadable"]}
    assert unreadable == {"tasks", "runs", "manifest", "errors"}


def test_an_outside_system_is_told(workspace: Inside) -> None:
    workspace.write("remit.toml", '[tasks]\nshow = "tool {id}"\n')
    assert "\ntasks      managed by an outside system; " in workspace("status").text
    assert load(workspace("status", "--json"))["outside"] == ["tool {id}"]


def test_settings_that_cannot_be_followed_stop_it(workspace: Inside) -> None:
    workspace.write("remit.toml", "[retention]\ndays = 0\n")
    ended = workspace("status")
    assert (ended.code, "isn't a whole number from 1" in ended.complaint) == (2, True)


def test_on_a_narrow_screen_the_gaps_go_before_what_is_told(workspace: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    put(workspace, "specs/state.json", make_tasks("blocked", title="Find it"))
    delegate(workspace, 1, ended=True)
    delegate(workspace, 2, ended=False, agent="a-researcher-of-a-long-name")
    assert "planner                   task 1     completed accepted" in workspace("status").text
    monkeypatch.setenv("COLUMNS", "40")
    lines = workspace("status").text.splitlines()
    assert all(sum(measure(line)) <= 40 for line in lines), lines
    assert "             a-researche…  task 2  aban…" in lines
    assert "finished     planner  task 1  completed…" in lines
    assert "             1  BLOCKED  Find it 1" in lines


CUT = [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…")]


@pytest.mark.parametrize(("text", "columns", "shown"), CUT)
def test_a_text_is_cut_by_the_columns_that_it_takes(text: str, columns: int, shown: str) -> None:
    assert cut(text, columns) == shown

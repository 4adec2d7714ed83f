"""`remit task`, as its users meet it: each command with good, bad, empty, huge and hostile input, on real files."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from remit.tasks.task import MARKERS
from tests.support.commands import Ended, Inside, Remit, put
from tests.support.file_trees import list_files
from tests.support.git_command import git
from tests.support.screen_text import smooth
from tests.support.task_store import PLAN

LONG = "x" * 1_000_000
FULL_DISK = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); from remit.cli import main; main()"
CHANGES: tuple[tuple[str, ...], ...] = (
    ("new", "Three"),
    ("set-status", "1", "PLANNING"),
    ("start", "1"),
    ("done", "1"),
    ("block", "1", "--reason", "x"),
    ("archive",),
)
VIEWS: tuple[tuple[str, ...], ...] = (("list",), ("show", "1"), ("phases", "1"), ("start",))
TOOL = """#!/bin/sh
case "$1" in
  show) printf 'task %s\\n\\033[31mred\\n' "$2" ;;
  focus) printf '%s ' "$@" > seen ;;
  complete) echo "no task $2" >&2; exit 3 ;;
  link) printf '%s ' "$@" > seen; echo linked ;;
esac
"""


@pytest.fixture
def repository(inside: Inside) -> Inside:
    """A folder that git knows, without tasks."""
    git(inside.folder, "init", "-q", "-b", "main")
    return inside


@pytest.fixture(scope="module")
def two_tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `remit task new` makes of an empty folder, twice."""
    folder = tmp_path_factory.mktemp("two_tasks")
    remit = Remit(folder)
    put(remit, "remit.toml", "")
    assert remit("task", "new", "Export", "button", "--priority", "HIGH").code == 0
    assert remit("task", "new", "Login page").code == 0
    return folder


@pytest.fixture
def workspace(inside: Inside, two_tasks: Path) -> Inside:
    """A folder with two tasks."""
    shutil.copytree(two_tasks, inside.folder, dirs_exist_ok=True)
    return inside


def load(ended: Ended) -> Any:  # noqa: ANN401 - any JSON value
    assert ended.out.count(b"\n") == 1
    return json.loads(ended.out)


def load_state(remit: Remit) -> Any:  # noqa: ANN401
    return json.loads((remit.folder / "specs/state.json").read_text())


def read_todo(remit: Remit) -> str:
    return (remit.folder / "specs/TODO.md").read_text()


def give_plan(remit: Remit, path: str = "specs/001_export/plan.md") -> Path:
    """Give task 1 a plan."""
    put(remit, "specs/001_export/plan.md", PLAN)
    state = load_state(remit)
    state["active_projects"][0]["plan_path"] = path
    put(remit, "specs/state.json", json.dumps(state, indent=2))
    return remit.folder / "specs/001_export/plan.md"


# Made, moved, shown


def test_alone_it_says_what_there_is(inside: Inside) -> None:
    ended = inside("task")
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text.startswith("Usage: remit task ")
    names = ("new", "list", "show", "set-status", "start", "done", "block", "link", "archive", "phases")
    assert all(f"\n  {name} " in ended.text for name in names)
    for name in names:
        told = inside("task", name, "--help")
        assert (told.code, told.err) == (0, b"")
        assert told.text.startswith(f"Usage: remit task {name} [OPTIONS]")
        assert "--json" in told.text


def test_the_first_task_makes_both_files(repository: Inside) -> None:
    ended = repository("task", "new", "Export", "button", "--language", "python", "--description", "It is missing.")
    assert (ended.code, ended.text, ended.err) == (0, snapshot("✓ task 1 created: Export button\n"), b"")
    assert "### 1. Export button\n- **Status**: [NOT STARTED]\n" in read_todo(repository)
    assert load_state(repository)["active_projects"][0]["description"] == "It is missing."
    assert git(repository.folder, "status", "--porcelain").split() == ["??", "specs/"]


def test_a_task_goes_its_way(workspace: Inside) -> None:
    assert workspace("task", "start", "1").text == snapshot(
        "✓ task 1: NOT STARTED → IN PROGRESS, now the current task\n"
    )
    assert workspace("task", "start").text == "task 1 is the current task\n"
    assert workspace("task", "start", "#1").text == "✓ task 1 is now the current task\n"
    assert workspace("task", "block", "2", "--reason", "No  key\n yet").text == snapshot(
        "✓ task 2: NOT STARTED → BLOCKED\n"
    )
    assert load_state(workspace)["active_projects"][1]["blocked_reason"] == "No key yet"
    assert workspace("task", "list").text == snapshot(
        "*    1  [IN PROGRESS]    Export button\n     2  [BLOCKED]        Login page\n2 tasks\n"
    )
    assert workspace("task", "done", "1").text == snapshot("✓ task 1: IN PROGRESS → COMPLETED\n")
    assert workspace("task", "start").text == snapshot("no current task; to start one, run: remit task start N\n")
    assert workspace("task", "archive").text == "✓ task 1 archived\n"
    assert workspace("task", "archive").text == snapshot("no finished tasks to archive\n")
    assert workspace("task", "list").text == snapshot("     2  [BLOCKED]        Login page\n1 task\n")
    assert workspace("task", "list", "--all").text.endswith("     1  [COMPLETED]      Export button\n2 tasks\n")
    shown = workspace("task", "show", "1").text
    assert shown.startswith("1. Export button  [COMPLETED]\n- **Status**: [COMPLETED]\n")
    assert shown.endswith("It is archived and can't change.\n")
    assert workspace("task", "start", "1").complaint == snapshot(
        "task 1 is closed; list the open tasks: remit task list"
    )
    assert workspace("task", "sync", "--check").code == 0


def test_a_task_is_shown_with_all_that_belongs_to_it(workspace: Inside) -> None:
    give_plan(workspace)
    workspace("task", "start", "1")
    assert smooth(workspace("task", "show", "1").text) == snapshot("""\
1. Export button  [IN PROGRESS]
- **Status**: [IN PROGRESS]
- **Priority**: High
- **Created**: <date>
It is the current task.
Plan: specs/001_export/plan.md: continues at phase 2, Walls
Can become: COMPLETED, BLOCKED, ABANDONED, EXPANDED, ON HOLD
""")
    assert workspace("task", "phases", "1").text == snapshot(
        "     1  [COMPLETED]      Ground\n→    2  [NOT STARTED]    Walls\n"
    )


def test_a_phase_moves_in_the_plan(workspace: Inside) -> None:
    plan = give_plan(workspace)
    ended = workspace("task", "set-status", "1", "--phase", "2", "completed")
    assert (ended.code, ended.text) == (0, snapshot("✓ task 1, phase 2: COMPLETED\n"))
    assert "### Phase 2: Walls [COMPLETED]" in plan.read_text()
    assert workspace("task", "phases", "1").text.endswith("all phases are finished\n")
    assert smooth(workspace("task", "set-status", "1", "--phase", "9", "completed").complaint) == snapshot(
        "the plan has no phase 9; check the plan: each phase needs a heading such as ### Phase 1: Name [NOT STARTED]"
    )
    assert smooth(workspace("task", "set-status", "2", "--phase", "1", "completed").complaint) == snapshot(
        "task 2 has no plan; set plan_path in state.json"
    )
    assert smooth(workspace("task", "phases", "2").complaint) == snapshot(
        "task 2 has no plan; create one with: remit task plan 2; or set plan_path in state.json"
    )


@pytest.mark.conforms("004-20")
def test_a_link_is_seen_from_both_ends(workspace: Inside) -> None:
    put(
        workspace,
        "claudedocs/agent-outputs/MANIFEST.jsonl",
        '{"id": "auth-2026-01-19", "title": "Auth", "topics": []}\n',
    )
    assert workspace("task", "link", "1", "auth-2026-01-19").text == snapshot("✓ task 1 is linked to auth-2026-01-19\n")
    assert workspace("task", "link", "1", "auth-2026-01-19").text == snapshot(
        "✓ task 1 was already linked to auth-2026-01-19\n"
    )
    assert "linkedResearch: auth-2026-01-19\n" in workspace("task", "show", "1").text
    assert load(workspace("task", "show", "1", "--json"))["linkedResearch"] == ["auth-2026-01-19"]
    assert workspace("task", "link", "1", "other").code == 2
    assert workspace("task", "link", "9", "auth-2026-01-19").code == 2
    assert load_state(workspace)["active_projects"][0]["linkedResearch"] == ["auth-2026-01-19"]


def test_a_list_can_be_narrowed(workspace: Inside) -> None:
    assert workspace("task", "list", "--status", "not-started", "--priority", "High").text == snapshot(
        "     1  [NOT STARTED]    Export button\n1 of 2 tasks\n"
    )
    assert workspace("task", "list", "--status", "[blocked]").text == "0 of 2 tasks\n"
    assert workspace("task", "list", "--status", "blockd").complaint == snapshot(
        "'blockd' isn't a marker; did you mean 'BLOCKED'?"
    )
    workspace("task", "archive")
    for number in "12":
        workspace("task", "start", number)
        workspace("task", "done", number)
    workspace("task", "archive", "1", "1", "2")
    assert workspace("task", "list").text == snapshot("no open tasks, 2 archived; to include them, use: --all\n")


@pytest.mark.parametrize(
    "marker",
    ["IN PROGRESS", "in progress", "in_progress", "In-Progress", "[IN PROGRESS]", " in  progress ", "IN_progress"],
)
def test_a_marker_is_taken_in_every_spelling(workspace: Inside, marker: str) -> None:
    ended = workspace("task", "set-status", "1", marker)
    assert (ended.code, ended.text) == (0, snapshot("✓ task 1: NOT STARTED → IN PROGRESS\n"))
    assert load_state(workspace)["active_projects"][0]["status"] == "in_progress"
    assert "### 1. Export button\n- **Status**: [IN PROGRESS]\n" in read_todo(workspace)


def test_words_of_a_marker_need_no_quotes(workspace: Inside) -> None:
    assert workspace("task", "set-status", "1", "in", "progress").code == 0
    assert workspace("task", "set-status", "1", "on", "hold").text == snapshot("✓ task 1: IN PROGRESS → ON HOLD\n")


# Refused


@pytest.mark.parametrize("marker", sorted(set(MARKERS) - {"RESEARCHING", "PLANNING", "IMPLEMENTING", "IN PROGRESS"}))
def test_a_move_that_is_not_legal_is_refused_with_those_that_are(workspace: Inside, marker: str) -> None:
    if marker in {"EXPANDED", "ON HOLD"}:
        assert workspace("task", "set-status", "1", marker).code == 0
        return
    before = list_files(workspace.folder / "specs")
    ended = workspace("task", "set-status", "1", marker)
    assert ended.code == 1
    assert ended.complaint.startswith("task 1: ")
    assert ("IMPLEMENTING" in ended.complaint) is (marker != "BLOCKED")
    assert list_files(workspace.folder / "specs") == before


@pytest.mark.parametrize("word", ["", " ", "BLA", "[]", "\x1b[31m", "\u202e", LONG, "COMPLETED COMPLETED"])
def test_what_is_no_marker_is_refused(workspace: Inside, word: str) -> None:
    for phase in ((), ("--phase", "1")):
        give_plan(workspace)
        ended = workspace("task", "set-status", "1", *phase, "--", word)
        assert ended.code in {1, 2}
        assert "isn't a marker" in ended.complaint
        assert len(ended.complaint) < 1000
        assert "\x1b" not in ended.complaint


@pytest.mark.parametrize("name", ["show", "set-status", "start", "done", "block", "archive", "phases", "link"])
@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("0", "there is no "),
        ("#12", "there is no "),
        ("00000012", "there is no "),
        ("999999999", "there is no "),
        ("99999999999", "'99999999999' isn't the number of a task"),
        ("-1", "'-1' isn't the number of a task"),
        ("١٢", "'١٢' isn't the number of a task"),
        ("1.0", "'1.0' isn't"),
        ("1e1", "'1e1' isn't"),
        ("+1", "'+1' isn't"),
        (" 1", "' 1' isn't"),
        ("#", "'#' isn't"),
        ("##1", "'##1' isn't"),
        ("", "'' isn't"),
        ("1\n2", "'1<U+000A>2' isn't"),
        ("\x1b[2J", "'<U+001B>[2J' isn't"),
        (LONG, "'xxx"),
    ],
)
def test_what_is_no_task_is_told(workspace: Inside, name: str, number: str, said: str) -> None:
    put(workspace, "claudedocs/agent-outputs/MANIFEST.jsonl", '{"id": "a"}\n')
    before = list_files(workspace.folder / "specs")
    rest = {"set-status": ["PLANNING"], "block": ["--reason", "x"], "link": ["a"]}.get(name, [])
    ended = workspace(
        "task", name, *(rest if name == "block" else []), "--", number, *(rest if name != "block" else [])
    )
    assert ended.code == 2
    assert ended.complaint.startswith(said)
    assert len(ended.complaint) < 1000
    assert list_files(workspace.folder / "specs") == before


@pytest.mark.parametrize(
    "args", [("set-status",), ("set-status", "1"), ("show",), ("done",), ("block", "1"), ("link", "1"), ("new",)]
)
def test_what_is_missing_is_named(workspace: Inside, args: tuple[str, ...]) -> None:
    ended = workspace("task", *args)
    assert ended.code == 2
    assert ended.complaint.endswith(f" is missing; see 'remit task {args[0]} --help'")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("nwe",), "there is no command 'task nwe'; did you mean 'remit task new'?"),
        (("new", "x", "--priority", "urgent"), "'urgent' isn't a priority; available: high, medium, low"),
        (("new", "x", "--priority", ""), "--priority is empty; leave it out, or give a value"),
        (("block", "1", "--reason", " "), "--reason is empty; leave it out, or give a value"),
        (("list", "--status", ""), "--status is empty; leave it out, or give a value"),
        (("archive", "1"), "task 1 hasn't ended: its status is NOT STARTED; complete or abandon it first"),
        (("archive", "9"), "there is no active task 9; list the tasks with: remit task list"),
    ],
)
def test_a_slip_is_answered(workspace: Inside, args: tuple[str, ...], said: str) -> None:
    ended = workspace("task", *args)
    assert ended.code in {1, 2}
    assert ended.complaint == said


def test_without_tasks_only_new_can_begin(repository: Inside) -> None:
    for args in (*CHANGES[1:], *VIEWS[:3], ("link", "1", "a")):
        ended = repository("task", *args)
        assert ended.code == 2
        assert ended.complaint == snapshot(
            "this workspace has no tasks; create the first one with: remit task new TITLE"
        )
    assert repository("task", "start").code == 0
    assert [path.name for path in repository.folder.iterdir()] == [".git"]


# Titles


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("Two\nlines", "Two lines"),
        ("One\n### 99. Other\n- **Status**: [COMPLETED]", "One ### 99. Other - **Status**: [COMPLETED]"),
        ("\x1b[31mred\x1b[0m", "[31mred [0m"),
        ("abc\u202edef", "abc def"),
        ("bad \udcff byte", "bad byte"),
        ("```", None),
        ("---", None),
        ("", None),
        (" \t\n", None),
        ("\u200b\u202e", None),
        ("--help me", "help me"),
        ("[BLOCKED]", "[BLOCKED]"),
        ("日本語", "日本語"),
        ("x" * 100_000, "x" * 200),
        ("</script><!--", "</script><!--"),
        ('"},{"project_number": 7', '"},{"project_number": 7'),
    ],
)
def test_a_title_is_one_line_whatever_it_holds(workspace: Inside, title: str, kept: str | None) -> None:
    ended = workspace("task", "new", "--", title)
    if kept is None:
        assert ended.code == 2
        assert ended.complaint == snapshot("the title is empty; describe the task in a few words")
        return
    assert (ended.code, ended.text) == (0, f"✓ task 3 created: {kept}\n")
    assert f"\n### 3. {kept}\n" in read_todo(workspace)
    assert [each["project_number"] for each in load_state(workspace)["active_projects"]] == [1, 2, 3]
    assert load_state(workspace)["active_projects"][2]["title"] == kept
    assert workspace("task", "sync", "--check").text == snapshot("✓ specs: 3 tasks · state.json and TODO.md agree\n")
    assert workspace("task", "set-status", "3", "PLANNING").code == 0


def test_what_else_is_said_of_a_task_makes_no_other(workspace: Inside) -> None:
    hostile = "a\n\n### 50. Other\n- **Status**: [COMPLETED]\n```\n"
    assert workspace("task", "new", "x", "--description", hostile, "--language", hostile).code == 0
    assert workspace("task", "block", "3", "--reason", hostile).code == 0
    assert [line for line in read_todo(workspace).split("\n") if line.startswith("### ")] == [
        "### 1. Export button", "### 2. Login page", "### 3. x"
    ]  # fmt: skip
    assert workspace("task", "sync", "--check").code == 0


def test_a_list_has_rows_that_fit_the_screen(workspace: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    workspace("task", "new", "日本語" * 30)
    workspace("task", "new", "x" * 34)
    rows = workspace("task", "list").text.split("\n")[2:4]
    assert rows[0] == f"     3  [NOT STARTED]    {'日本語' * 5}日…"
    assert rows[1] == f"     4  [NOT STARTED]    {'x' * 34}"


# Files as they are found


def spoil_with_fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def spoil_with_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def spoil_with_nothing(file: Path) -> None:
    file.unlink()
    file.symlink_to("nothing")


def spoil_with_itself(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.name)


def spoil_with_way_out(file: Path) -> None:
    outside = file.parents[2] / "outside.txt"
    outside.write_text("keep me\n")
    file.unlink()
    file.symlink_to(outside)


def spoil_with_git(file: Path) -> None:
    file.unlink()
    file.symlink_to("../.git/config")


def spoil_with_size(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(1 << 40)


@pytest.mark.parametrize("name", ["state.json", "TODO.md"])
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoil_with_fifo, "isn't a file"),
        (spoil_with_folder, "isn't a file"),
        (spoil_with_nothing, "can't be read: no such file"),
        (spoil_with_itself, "can't be read: too many levels"),
        (spoil_with_way_out, "leads out of the workspace through a link"),
        (spoil_with_git, "leads out of the workspace through a link"),
        (spoil_with_size, "has more than 33,554,432 bytes"),
    ],
)
def test_what_is_no_file_of_tasks_is_neither_read_nor_written(
    inside: Inside, name: str, spoil: Callable[[Path], None], said: str
) -> None:
    root = inside.folder / "root"
    root.mkdir()
    os.chdir(root)
    git(root, "init", "-q")
    inside("task", "new", "One")
    spoil(root / "specs" / name)
    config = (root / ".git/config").read_bytes()
    for args in (*CHANGES, ("list",)):
        ended = inside("task", *args)
        assert ended.code in {1, 2}
        assert said in ended.complaint
    for args in ((), ("--check",), ("--repair",), ("--from", "todo"), ("--from", "state")):
        ended = inside("task", "sync", *args)
        assert ended.code in {1, 2}
        assert said in ended.complaint
    assert not (inside.folder / "outside.txt").exists() or (inside.folder / "outside.txt").read_text() == "keep me\n"
    assert (root / ".git/config").read_bytes() == config


@pytest.mark.parametrize("command", ["list", "show 1", "phases 1"])
def test_tasks_that_cannot_be_read_could_not_be_looked_at(workspace: Inside, command: str) -> None:
    workspace.write("specs/state.json", '{"active_projects": [')
    ended = workspace("task", *command.split(), "--json")
    assert (ended.code, ended.out) == (2, b"")
    assert ended.error["code"] == "INPUT_UNREADABLE"
    assert "remit task sync --repair" in ended.error["hint"]


def test_a_folder_that_leads_out_gets_nothing(inside: Inside) -> None:
    (inside.folder / "root").mkdir()
    (inside.folder / "away").mkdir()
    os.chdir(inside.folder / "root")
    (inside.folder / "root/specs").symlink_to("../away")
    (inside.folder / "root/remit.toml").touch()
    assert smooth(inside("task", "new", "One").complaint) == snapshot(
        "'specs/state.json' leads out of the workspace through a link; replace the link with the file"
    )
    (inside.folder / "root/specs").unlink()
    assert inside("task", "new", "One").code == 0
    (inside.folder / "root/specs/archive").symlink_to("../../away")
    inside("task", "start", "1")
    inside("task", "done", "1")
    assert smooth(inside("task", "archive").complaint) == snapshot(
        "'specs/archive/state.json' leads out of the workspace through a link; replace the link with the file"
    )
    assert list((inside.folder / "away").iterdir()) == []


@pytest.mark.parametrize(
    "path", ["../outside.md", "/etc/hostname", ".git/config", "specs/../../outside.md", "specs", "\0", "way"]
)
def test_a_plan_elsewhere_is_no_plan(workspace: Inside, path: str) -> None:
    outside = workspace.folder.parent / "outside.md"
    outside.write_text(PLAN)
    (workspace.folder / "way").symlink_to(outside)
    put(workspace, ".git/config", PLAN)
    give_plan(workspace, path)
    assert workspace("task", "phases", "1").code == 2
    assert workspace("task", "set-status", "1", "IMPLEMENTING").code == 0
    assert outside.read_text() == PLAN
    assert (workspace.folder / ".git/config").read_text() == PLAN


def test_a_plan_is_found_where_the_folder_is_a_link_of_another_depth(workspace: Inside) -> None:
    (workspace.folder / "a/b").mkdir(parents=True)
    (workspace.folder / "specs").rename(workspace.folder / "a/b/specs")
    (workspace.folder / "specs").symlink_to("a/b/specs")
    put(workspace, "plan.md", "- **Status**: [PLANNED]\n")
    put(workspace, "a/plan.md", "- **Status**: [PLANNED]\n")
    state = load_state(workspace)
    state["active_projects"][0]["plan_path"] = "plan.md"
    put(workspace, "specs/state.json", json.dumps(state))
    assert workspace("task", "set-status", "1", "IMPLEMENTING").code == 0
    assert (workspace.folder / "plan.md").read_text() == "- **Status**: [IMPLEMENTING]\n"
    assert (workspace.folder / "a/plan.md").read_text() == "- **Status**: [PLANNED]\n"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "7", "null", '"x"', "{", "[" * 200_000, '{"a":' * 100_000, "\0" * 1000, '{"active_projects": 7}',
     '{"active_projects": [1, null, "x", {}, []]}', '{"active_projects": [{"project_number": true}]}',
     '{"active_projects": [{"project_number": 1, "status": ["x"], "title": {"a": 1}, "priority": 7, "artifacts": 7}]}',
     '{"active_projects": [{"project_number": 1, "project_name": "\\ud800", "status": "planned"}]}',
     '{"active_projects": [{"project_number": 99999999999999999999, "status": "planned"}]}',
     '{"active_projects": [{"project_number": 1, "status": NaN}], "next_project_number": 1e999}',
     '{"next_project_number": -5, "next_project_number": 7, "active_projects": [], "active_projects": []}'],
)  # fmt: skip
def test_any_state_is_met_without_a_bug(workspace: Inside, text: str) -> None:
    put(workspace, "specs/state.json", text)
    words = {*read_todo(workspace).partition("# TODO")[2].split()} - {"[NOT", "STARTED]"}
    for args in (
        ("task", "list"),
        ("task", "show", "1"),
        ("task", "sync", "--check"),
        ("task", "start", "1"),
        ("task", "sync"),
    ):
        ended = workspace(*args)
        assert ended.code in {0, 1, 2}
        assert b"this is a bug" not in ended.err
        assert ended.code == 0 or ended.out or ended.complaint
    ended = workspace("task", "sync", "--repair")
    assert b"this is a bug" not in ended.err
    assert workspace("task", "sync", "--check").code == ended.code or ended.code == 2
    assert words <= {*read_todo(workspace).split()}


def test_line_ends_and_a_byte_order_mark_stay(workspace: Inside) -> None:
    for name in ("state.json", "TODO.md"):
        file = workspace.folder / "specs" / name
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    put(workspace, "specs/TODO.md", b"\xef\xbb\xbf" + (workspace.folder / "specs/TODO.md").read_bytes())
    for args in (("new", "Three"), ("start", "1"), ("done", "1"), ("block", "2", "--reason", "x"), ("archive",)):
        assert workspace("task", *args).code == 0
    for name in ("state.json", "TODO.md"):
        data = (workspace.folder / "specs" / name).read_bytes()
        assert data.count(b"\n") == data.count(b"\r\n") > 5
    assert (workspace.folder / "specs/TODO.md").read_bytes().startswith(b"\xef\xbb\xbf---\r\n")
    assert workspace("task", "sync", "--check").code == 0


def test_what_no_command_knows_stays(workspace: Inside) -> None:
    state = load_state(workspace)
    state["repository_health"] = {"score": 7.50, "ünicode": "✓"}
    state["active_projects"][0]["custom"] = [1, {"a": None}]
    put(workspace, "specs/state.json", json.dumps(state, indent=4, ensure_ascii=False))
    put(workspace, "specs/TODO.md", read_todo(workspace) + "\n## Notes\n\nKeep *this*.\n")
    assert workspace("task", "start", "1").code == 0
    after = load_state(workspace)
    assert after["repository_health"] == state["repository_health"]
    assert after["active_projects"][0]["custom"] == [1, {"a": None}]
    assert read_todo(workspace).endswith("\n## Notes\n\nKeep *this*.\n")


def test_a_list_of_many_megabytes_is_no_matter(workspace: Inside) -> None:
    put(workspace, "specs/TODO.md", read_todo(workspace) + f"\n## Notes\n\n{'word ' * 1_000_000}\n")
    assert workspace("task", "start", "1").code == 0
    assert workspace("task", "new", "Three").code == 0
    assert workspace("task", "list").code == 0
    assert workspace("task", "sync", "--check").code == 0
    assert len(read_todo(workspace)) > 5_000_000


def test_a_full_disk_is_told_and_changes_nothing(workspace: Inside) -> None:
    assert workspace("task", "start", "2").code == 0  # the ledger is in use, so that there is room for it
    before = list_files(workspace.folder / "specs")
    for args in (("new", "Three"), ("start", "1")):
        ended = Remit(workspace.folder)("task", *args, prelude=("-c", FULL_DISK))
        assert ended.code == 2
        assert "file too large" in ended.complaint
    assert list_files(workspace.folder / "specs") == before
    assert workspace("task", "start", "1").code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_told(workspace: Inside) -> None:
    specs = workspace.folder / "specs"
    specs.chmod(0o500)
    try:
        ended = workspace("task", "new", "Three")
    finally:
        specs.chmod(0o700)
    assert ended.code == 2
    assert "permission denied" in ended.complaint
    assert workspace("task", "sync", "--check").code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told(workspace: Inside) -> None:
    (workspace.folder / "specs/state.json").chmod(0)
    for args in (("list",), ("new", "x"), ("show", "1")):
        assert "permission denied" in workspace("task", *args).complaint


# Where


def test_it_works_from_a_folder_below(workspace: Inside) -> None:
    (workspace.folder / "src/deep").mkdir(parents=True)
    os.chdir(workspace.folder / "src/deep")
    moved = load(workspace("task", "start", "1", "--json"))
    assert moved["files"] == ["specs/state.json", "specs/TODO.md"]
    os.chdir(workspace.folder / "specs")
    assert load(workspace("task", "done", "1", "--json"))["files"] == ["specs/state.json", "specs/TODO.md"]
    assert (
        workspace("task", "sync", "--check").text
        == f"✓ {workspace.folder}/specs: 2 tasks · state.json and TODO.md agree\n"
    )


def test_from_a_worktree_the_tasks_of_the_main_checkout_move(workspace: Inside) -> None:
    git(workspace.folder, "init", "-q", "-b", "main")
    git(workspace.folder, "add", "-A")
    git(workspace.folder, "commit", "-qm", "one")
    git(workspace.folder, "worktree", "add", "-q", "../linked", "-b", "side")
    os.chdir(workspace.folder.parent / "linked")
    assert workspace("task", "start", "1").code == 0
    assert git(workspace.folder, "status", "--porcelain") == " M specs/TODO.md\n M specs/state.json\n"
    assert git(workspace.folder.parent / "linked", "status", "--porcelain") == ""
    assert workspace("task", "start").text == "task 1 is the current task\n"


def test_the_root_can_be_named(workspace: Inside, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REMIT_ROOT", str(workspace.folder))
    os.chdir("/")
    assert workspace("task", "start", "1").code == 0
    assert load_state(workspace)["active_projects"][0]["status"] == "in_progress"
    monkeypatch.setenv("REMIT_ROOT", str(tmp_path / "none"))
    assert "REMIT_ROOT" in workspace("task", "list").complaint


def test_the_folder_can_be_set(repository: Inside) -> None:
    put(repository, "remit.toml", '[tasks]\nfolder = "docs/work"\n')
    assert repository("task", "new", "One").code == 0
    assert sorted(path.name for path in (repository.folder / "docs/work").iterdir()) == ["TODO.md", "state.json"]
    assert repository("task", "sync", "--check").text == snapshot(
        "✓ docs/work: 1 task · state.json and TODO.md agree\n"
    )


# For programs


def test_every_command_gives_one_json_value(workspace: Inside) -> None:
    give_plan(workspace)
    put(workspace, "claudedocs/agent-outputs/MANIFEST.jsonl", '{"id": "a"}\n')
    assert load(workspace("task", "new", "Three", "--json"))["number"] == 3
    assert [each["number"] for each in load(workspace("task", "list", "--json"))["items"]] == [1, 2, 3]
    assert load(workspace("task", "list", "--status", "blocked", "--json"))["items"] == []
    plan = load(workspace("task", "show", "1", "--json"))["plan"]
    assert (plan["path"], plan["resume"]) == ("specs/001_export/plan.md", "2")
    assert load(workspace("task", "phases", "1", "--json"))["resume"] == "2"
    assert load(workspace("task", "start", "--json")) == {"focus": None}
    moved = load(workspace("task", "start", "1", "--json"))
    assert (moved["before"], moved["after"]) == ("NOT STARTED", "IN PROGRESS")
    assert moved["files"] == ["specs/state.json", "specs/TODO.md", "specs/001_export/plan.md"]
    assert load(workspace("task", "start", "1", "--json")) == {"focus": 1}
    assert load(workspace("task", "set-status", "1", "--phase", "2", "completed", "--json"))["after"] == "COMPLETED"
    assert load(workspace("task", "block", "2", "--reason", "x", "--json"))["after"] == "BLOCKED"
    assert load(workspace("task", "link", "1", "a", "--json"))["files"] == ["specs/state.json"]
    assert load(workspace("task", "done", "1", "--json"))["after"] == "COMPLETED"
    assert [each["number"] for each in load(workspace("task", "archive", "--json"))["items"]] == [1]
    assert load(workspace("task", "archive", "--json"))["items"] == []
    assert load(workspace("task", "sync", "--json")) == {
        "agree": True, "done": [], "diagnostics": [], "files": [], "recovered": [], "interrupted": []
    }  # fmt: skip
    failed = workspace("task", "set-status", "2", "COMPLETED", "--json")
    assert (failed.code, failed.out) == (1, b"")
    assert failed.error["code"] == "STATE_CONFLICT"
    assert failed.error["message"].startswith("task 2: ")


# Beside others


def test_an_edit_by_hand_is_taken_in_and_told(workspace: Inside) -> None:
    put(workspace, "specs/TODO.md", read_todo(workspace).replace("[NOT STARTED]", "[PLANNING]", 1))
    listed = workspace("task", "list")
    assert listed.err == b"note: state.json and TODO.md differ in 1 place; see: remit task sync --check\n"
    ended = workspace("task", "new", "Three")
    assert (ended.code, ended.text) == (0, snapshot("✓ task 3 created: Three\n"))
    assert ended.err.decode() == snapshot(
        "note: set task 1 to PLANNING in state.json, as in TODO.md (it was not_started)\n"
    )
    assert load_state(workspace)["active_projects"][0]["status"] == "planning"
    assert workspace("task", "list").err == b""


def test_many_edits_by_hand_are_told_in_few_lines(workspace: Inside) -> None:
    for number in range(3, 9):
        workspace("task", "new", f"Task {number}")
    put(workspace, "specs/TODO.md", read_todo(workspace).replace("[NOT STARTED]", "[PLANNING]"))
    ended = workspace("task", "new", "More")
    assert ended.err.count(b"\n") == 4
    assert ended.err.endswith(b"note: 5 more edits were picked up\n")
    put(workspace, "specs/TODO.md", read_todo(workspace).replace("[PLANNING]", "[COMPLETED]"))
    told = load(workspace("task", "new", "More", "--json"))["diagnostics"]
    assert [(each["code"], each["filename"]) for each in told] == [("SYN018", "specs/TODO.md")] * 8
    ended = workspace("task", "new", "More")
    assert ended.err.count(b"\n") == 4
    assert ended.err.endswith(b"note: state.json and TODO.md differ in 8 places; see: remit task sync --check\n")


def test_an_edit_by_hand_that_is_not_legal_is_not_written_over(workspace: Inside) -> None:
    put(workspace, "specs/TODO.md", read_todo(workspace).replace("[NOT STARTED]", "[COMPLETED]", 1))
    before = list_files(workspace.folder / "specs")
    ended = workspace("task", "set-status", "1", "PLANNING")
    assert ended.code == 1
    assert ended.complaint == snapshot(
        "task 1 was set to [COMPLETED] in TODO.md by hand, but is not_started in state.json: a task that is NOT STARTED can't become COMPLETED; if [COMPLETED] is right: remit task sync --from todo. If not: remit task sync --from state"
    )
    assert list_files(workspace.folder / "specs") == before
    other = workspace("task", "set-status", "2", "PLANNING")
    assert other.code == 0
    assert b"TODO.md:10:15: SYN018 error task 1 was set to [COMPLETED] here" in other.err
    assert workspace("task", "sync", "--from", "state").code == 0
    assert workspace("task", "set-status", "1", "PLANNING").err == b""


def test_many_processes_give_each_task_its_number(workspace: Inside) -> None:
    remit = Remit(workspace.folder)
    running = [remit.start("task", "new", f"Task {number}", "--json") for number in range(4)]
    numbers = [json.loads(process.communicate(timeout=30)[0])["number"] for process in running]
    assert sorted(numbers) == [3, 4, 5, 6]
    assert workspace("task", "sync", "--check").text.startswith("✓ specs: 6 tasks")


# An outside system


@pytest.fixture
def outside(repository: Inside, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Inside:
    """A workspace whose tasks are kept by a program of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path.parent / f"{tmp_path.name}-config"))
    put(repository, "tool", TOOL)
    (repository.folder / "tool").chmod(0o755)
    words = {
        "show": "show {id}",
        "focus": "focus set {id}",
        "complete": "complete {id}",
        "link": "link {id} {research}",
    }
    lines = [f'{name} = "./tool {rest}"' for name, rest in words.items()]
    put(repository, "remit.toml", "\n".join(["[tasks]", *lines]))
    return repository


def test_an_outside_system_waits_for_trust(outside: Inside) -> None:
    ended = outside("task", "start", "T1")
    assert ended.code == 2
    assert smooth(ended.complaint) == snapshot(
        "the settings of '<folder>' name programs or loosen confinement, and you have not trusted them; read them, then run remit config trust"
    )
    assert not (outside.folder / "seen").exists()
    assert outside("config", "trust", "--yes").code == 0
    assert outside("task", "start", "T1").text == snapshot("✓ ./tool focus set T1\n")
    assert (outside.folder / "seen").read_text() == "focus set T1 "
    put(outside, "remit.toml", (outside.folder / "remit.toml").read_text().replace("focus set", "focus  take"))
    assert smooth(outside("task", "start", "T1").complaint) == snapshot(
        "the settings of '<folder>' name other programs than when you trusted them; read what has changed, then run remit config trust again"
    )


def test_an_outside_system_does_the_four_things(outside: Inside) -> None:
    outside("config", "trust", "--yes")
    assert outside("task", "show", "T-7").text == snapshot("task T-7\n<U+001B>[31mred\n")
    assert load(outside("task", "show", "7", "--json")) == {
        "command": "./tool show 7", "output": "task 7\n\x1b[31mred\n", "cut": False
    }  # fmt: skip
    assert outside("task", "link", "7", "auth-2026-01-19").text == "linked\n"
    assert (outside.folder / "seen").read_text() == "link 7 auth-2026-01-19 "
    ended = outside("task", "done", "7")
    assert (ended.code, ended.complaint) == (
        2, snapshot("`./tool complete 7` failed with exit code 3: no task 7; run it by hand to see the whole output")
    )  # fmt: skip
    assert smooth(outside("task", "done", "--", "-7").complaint) == snapshot(
        "'-7' isn't a valid task id; use only letters, digits and . : / # @ + - _"
    )
    assert smooth(outside("task", "show", "7; touch x").complaint) == snapshot(
        "'7; touch x' isn't a valid task id; use only letters, digits and . : / # @ + - _"
    )
    (outside.folder / "tool").unlink()
    assert smooth(outside("task", "show", "7").complaint) == snapshot(
        "can't run `./tool show 7`: no such file or directory; install the program, or change tasks.show in remit.toml"
    )
    assert not (outside.folder / "x").exists()


def test_an_outside_system_keeps_its_tasks_to_itself(outside: Inside) -> None:
    for args in (("new", "x"), ("list",), ("set-status", "1", "PLANNING"), ("archive",), ("phases", "1")):
        assert outside("task", *args).complaint == snapshot(
            "the tasks of this workspace are in `./tool`; Remit passes only show, focus, complete, link on to it; use it directly for the rest"
        )
    assert not (outside.folder / "specs").exists()


def test_the_folder_of_cleo_is_enough(repository: Inside, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """C24."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path.parent / f"{tmp_path.name}-config"))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    (repository.folder / ".cleo").mkdir()
    put(repository, "bin/cleo", f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:])\n")
    (repository.folder / "bin/cleo").chmod(0o755)
    assert smooth(repository("task", "show", "T1").complaint) == snapshot(
        "the settings of '<folder>' name programs or loosen confinement, and you have not trusted them; read them, then run remit config trust"
    )
    repository("config", "trust", "--yes")
    assert repository("task", "show", "T1").text == "['show', 'T1']\n"
    assert repository("task", "link", "T1", "auth").text == snapshot("['research', 'link', 'T1', 'auth']\n")


@pytest.mark.conforms("004-23")
def test_an_id_of_an_outside_system_works_in_every_command(outside: Inside) -> None:
    """D16: `run --task` shows and focuses the task; a number gets a hint where the system doesn't know it."""
    outside("config", "trust", "--yes")
    put(outside, "tool", '#!/bin/sh\necho "$*" >> seen\n[ $1 != show ] || [ $2 = T1234 ] || exit 4\necho Uploads\n')
    (outside.folder / "tool").chmod(0o755)
    ended = outside("run", "Look.", "--task", "T1234", "--command", "tee prompt")
    assert ended.code == 1
    assert "Task T1234 is what this work is for." in (outside.folder / "prompt").read_text()
    assert (outside.folder / "seen").read_text() == "show T1234\nfocus set T1234\n"
    refused = outside("run", "Look.", "--task", "1234", "--command", "cat")
    assert refused.code == 2
    assert "./tool keeps the tasks of this workspace: use its ids, such as T1234" in refused.complaint
    put(outside, "lines", '{"prompt": "Look.", "task": "T1234"}\n')
    assert outside("run", "--each", "lines", "--command", "tee prompt").code == 1
    assert (outside.folder / "seen").read_text().count("focus set T1234\n") == 2
    for args in (("set-status", "T1234", "PLANNING"), ("block", "T1234", "--reason", "x"), ("phases", "T1234")):
        assert outside("task", *args).complaint.startswith(
            "the tasks of this workspace are in `./tool`; Remit passes only show"
        )


def test_what_is_no_number_is_no_task_of_the_workspace(workspace: Inside) -> None:
    for args in (("run", "x", "--task", "T1", "--command", "cat"), ("task", "set-status", "T1", "PLANNING")):
        assert workspace(*args).complaint == "'T1' isn't the number of a task; remit task list shows them"

"""`remit sync --check`, as its users meet it."""

import json
from pathlib import Path

import pytest

from remit.workspace.tasks.drift import TOLD
from tests.doors.conftest import Inside
from tests.workspace.tasks.samples import STATE, TODO


@pytest.fixture
def workspace(inside: Inside, tmp_path: Path) -> Inside:
    """A folder with tasks."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "specs").mkdir()
    inside.write("specs/state.json", STATE)
    inside.write("specs/TODO.md", TODO)
    return inside


def test_files_that_agree_are_one_line_and_stay_as_they_are(workspace: Inside) -> None:
    before = sorted((path.name, path.stat().st_mtime_ns) for path in workspace.folder.rglob("*"))
    ended = workspace("sync", "--check")
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text == "✓ specs: 3 tasks · state.json and TODO.md agree\n"
    assert sorted((path.name, path.stat().st_mtime_ns) for path in workspace.folder.rglob("*")) == before


def test_a_difference_is_shown_with_both_values(workspace: Inside) -> None:
    workspace.write("specs/TODO.md", TODO.replace("[PLANNED]", "[COMPLETED]"))
    ended = workspace("sync", "--check")
    assert ended.code == 1
    assert ended.text == (
        "error[SYN004]: task 12 is [COMPLETED] here and planned in state.json (line 7)\n"
        "  --> specs/TODO.md:11:15\n"
        "   |\n"
        "11 | - **Status**: [COMPLETED]\n"
        "   |               ^^^^^^^^^^^\n"
        "   |\n"
        "   = help: Find out which is true, and say it in both.\n"
        "   = see: remit explain SYN004 (S2 S5 S9)\n"
        "\n"
        "✗ specs: 3 tasks · state.json and TODO.md do not agree · 1 error\n"
    )


def test_every_format_says_the_same(workspace: Inside) -> None:
    workspace.write("specs/state.json", STATE + STATE)
    (listed,) = json.loads(workspace("sync", "--check", "--json").text)
    assert (listed["code"], listed["filename"]) == ("SYN001", "specs/state.json")
    assert workspace("sync", "--check", "--output-format", "github").text.startswith("::error file=specs/state.json,")
    assert workspace("sync", "--check", "--output-format", "concise").text.startswith("specs/state.json:25:1: SYN001 ")


@pytest.mark.parametrize("place", [".opencode/specs", ".claude/specs", "specs"])
def test_tasks_are_looked_for_where_they_are_kept(place: str, inside: Inside) -> None:
    (inside.folder / place).mkdir(parents=True)
    assert inside("sync", "--check").text.startswith("no tasks found")
    inside.write(f"{place}/TODO.md", TODO)
    ended = inside("sync", "--check", "--output-format", "concise")
    assert ended.code == 1
    assert ended.text.startswith(f"{place}/state.json: SYN008 ")


def test_a_workspace_without_tasks_is_fine(inside: Inside) -> None:
    ended = inside("sync", "--check")
    assert (ended.code, ended.text) == (
        0,
        "no tasks found in .opencode/specs, .claude/specs or specs: nothing to compare\n",
    )
    assert json.loads(inside("sync", "--check", "--json").text) == []


def test_a_file_that_cannot_be_read_is_told(workspace: Inside) -> None:
    (workspace.folder / "specs/TODO.md").unlink()
    (workspace.folder / "specs/TODO.md").mkdir()
    ended = workspace("sync", "--check")
    assert ended.code == 2
    assert "is not a file" in ended.complaint


def test_more_than_comparing_is_not_there_yet(workspace: Inside) -> None:
    ended = workspace("sync")
    assert ended.code == 2
    assert ended.complaint.endswith("say so with --check")


@pytest.mark.parametrize("code", TOLD)
def test_every_code_is_explained(code: str, inside: Inside) -> None:
    text = inside("explain", code).text
    assert all(f"\n{word}: " in text for word in ("Why", "Bad", "Good"))

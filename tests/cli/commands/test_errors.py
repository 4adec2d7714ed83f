"""`remit errors list`, as its users meet it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from remit.errorlog.document import DIAGNOSTICS
from tests.support.commands import Inside, Remit
from tests.support.error_samples import make_entry

LOST = [
    make_entry(
        number,
        type="timeout",
        message=f"no answer from planner for task {number}",
        context={"session_id": f"sess_{number}", "task": number},
    )
    for number in (17, 18)
]
BUILD = make_entry(3, type="build_error", message="cannot open src/a.py", fix_status="resolved")
LOG = json.dumps({"errors": [BUILD, *LOST]}, indent=2) + "\n"


@pytest.fixture
def workspace(inside: Inside, tmp_path: Path) -> Inside:
    """A folder with errors."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "specs").mkdir()
    inside.write("specs/errors.json", LOG)
    return inside


def read(workspace: Inside, *args: str) -> dict[str, Any]:
    ended = workspace("errors", *args, "--json")
    assert (ended.code, ended.err) == (0, b"")
    told: dict[str, Any] = json.loads(ended.text)
    return told


# Listing


def test_errors_are_listed_by_cause_the_newest_first_and_nothing_is_written(workspace: Inside) -> None:
    before = sorted(path.name for path in workspace.folder.rglob("*"))
    ended = workspace("errors", "list")
    assert (ended.code, ended.err) == (0, b"")
    lines = ended.text.splitlines()
    assert lines[0].endswith("  open            2x  TIMEOUT: no answer from planner for task 18")
    assert lines[1] == snapshot("          last 2026-01-19 00:00:00 · tasks 17, 18")
    assert lines[2].endswith("  fixed           1x  BUILD_ERROR: cannot open src/a.py")
    assert lines[-1] == snapshot("specs/errors.json: 3 errors of 2 causes · 2 open")
    assert workspace("errors", "list") == ended
    assert sorted(path.name for path in workspace.folder.rglob("*")) == before


def test_open_are_errors_and_not_causes_as_everywhere(workspace: Inside) -> None:
    """What came after its cause was ignored is not open."""
    late = {**BUILD, "id": "err_5", "timestamp": "2026-03-01T00:00:00Z", "fix_status": "unfixed"}
    ignored = {**BUILD, "id": "err_4", "fix_status": "ignored"}
    fails = [{**late, "id": f"err_{number}", "type": "timeout"} for number in range(6, 9)]
    workspace.write("specs/errors.json", json.dumps({"errors": [ignored, late, *fails]}))
    for options in ((), ("--all",)):
        assert workspace("errors", "list", *options).text.endswith(": 5 errors of 2 causes · 3 open\n")
    assert workspace("errors", "list", "--open").text.endswith(": 3 errors of 1 cause · 3 open · 2 not listed\n")
    assert "\nerrors     3 open, 1 cause; see: remit errors list\n" in workspace("status").text


def test_what_came_back_after_a_fix_is_marked(workspace: Inside) -> None:
    again = {**BUILD, "id": "err_4", "timestamp": "2026-02-01T00:00:00Z", "fix_status": "unfixed"}
    workspace.write("specs/errors.json", json.dumps({"errors": [BUILD, again]}))
    ended = workspace("errors", "list")
    assert "recurred after a fix (1x)" in ended.text.splitlines()[1]
    assert ended.text.endswith("2 errors of 1 cause · 1 open · 1 recurred after a fix\n")


def test_every_error_is_listed_by_itself(workspace: Inside) -> None:
    lines = workspace("errors", "list", "--all").text.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["err_18", "err_17", "err_3"]
    assert "TIMEOUT: task 18: no answer" in lines[0]


@pytest.mark.parametrize(
    ("args", "ids"),
    [
        (["--task", "17"], ["err_17"]),
        (["--session", "sess_18"], ["err_18"]),
        (["--code", "build_error"], ["err_3"]),
        (["--open"], ["err_18", "err_17"]),
        (["--open", "--code", "BUILD_ERROR"], []),
    ],
)
def test_a_part_of_them_can_be_asked_for(args: list[str], ids: list[str], workspace: Inside) -> None:
    told = read(workspace, "list", "--all", *args)
    assert [each["id"] for each in told["items"]] == ids
    assert (told["total"], told["errors"]) == (len(ids), 3)
    groups = read(workspace, "list", *args)["items"]
    assert len(groups) == (1 if ids else 0)


def test_programs_get_groups_with_all_that_is_known(workspace: Inside) -> None:
    told = read(workspace, "list")
    assert (told["file"], told["diagnostics"]) == ("specs/errors.json", [])
    group = told["items"][0]
    assert group["records"][0]["id"] == "err_18"
    assert {key: group[key] for key in ("cause", "count", "first", "fix_status", "recurred", "tasks", "sessions")} == {
        "cause": "no answer from planner for task <n>",
        "count": 2,
        "first": "2026-01-18T00:00:00Z",
        "fix_status": "open",
        "recurred": False,
        "tasks": ["17", "18"],
        "sessions": ["sess_17", "sess_18"],
    }


def test_a_workspace_without_errors_is_fine(inside: Inside) -> None:
    ended = inside("errors", "list")
    assert (ended.code, ended.text) == (0, snapshot("no errors in specs/errors.json\n"))
    assert json.loads(inside("errors", "list", "--json").text)["items"] == []


@pytest.mark.parametrize("place", [".opencode/specs", ".claude/specs", "specs", "plans"])
def test_errors_are_looked_for_beside_the_tasks(place: str, inside: Inside) -> None:
    (inside.folder / place).mkdir(parents=True)
    inside.write(f"{place}/errors.json", LOG)
    if place == "plans":
        inside.write("remit.toml", '[tasks]\nfolder = "plans"\n')
    assert inside("errors", "list").text.splitlines()[-1].startswith(f"{place}/errors.json: 3 errors")


def test_a_broken_file_is_told_and_read_as_far_as_it_goes(workspace: Inside) -> None:
    workspace.write("specs/errors.json", LOG[:-60])
    ended = workspace("errors", "list")
    assert ended.code == 1
    assert ended.text.startswith("error[ERR001]: errors.json is truncated\n  --> specs/errors.json:")
    assert ended.text.endswith("2 errors of 2 causes · 1 open\n")
    assert (workspace.folder / "specs/errors.json").read_text() == LOG[:-60]
    told = workspace("errors", "list", "--json")
    assert (told.code, json.loads(told.text)["diagnostics"][0]["code"]) == (1, "ERR001")


def test_a_file_that_cannot_be_read_is_told(workspace: Inside) -> None:
    (workspace.folder / "specs/errors.json").unlink()
    os.mkfifo(workspace.folder / "specs/errors.json")
    for args in (["errors", "list"], ["errors", "show", "x"], ["errors", "resolve", "x", "--fixed"]):
        ended = workspace(*args)
        assert ended.code == 2
        assert "isn't a file" in ended.complaint


def test_what_an_agent_wrote_cannot_steer_a_terminal(workspace: Inside) -> None:
    nasty = make_entry(1, id="\x1b[2J", code="\x1b]0;x", message="\x1b[31m\u202eevil\n\r", context={"task": "\x1b"})
    workspace.write("specs/errors.json", json.dumps([nasty]))
    for args in (
        ["list"],
        ["list", "--all"],
        ["show", "\x1b[2J"],
        ["resolve", "\x1b[2J", "--fixed"],
        ["list", "--json"],
    ):
        ended = workspace("errors", *args)
        assert ended.code == 0
        assert b"\x1b" not in ended.out
        assert "\u202e" not in ended.text


# Showing


def test_an_error_is_shown_with_its_cause(workspace: Inside) -> None:
    text = workspace("errors", "show", "err_17").text
    assert "  cause: no answer from planner for task <n>\n" in text
    assert "\nerr_17\n  timestamp: 2026-01-18T00:00:00Z\n" in text
    assert "  task_number: 17\n" in text
    assert "err_18" not in text


def test_a_cause_is_shown_with_its_errors(workspace: Inside) -> None:
    key = read(workspace, "list")["items"][0]["id"]
    told = read(workspace, "show", key[:5])
    assert [each["id"] for each in told["records"]] == ["err_17", "err_18"]
    assert "\nerr_18\n" in workspace("errors", "show", key).text


def test_an_error_that_went_into_the_archive_is_found(workspace: Inside) -> None:
    workspace.write("specs/errors-archive.jsonl", json.dumps(make_entry(99)) + "\n{torn")
    assert "it was moved from errors.json to the archive" in workspace("errors", "show", "err_99").text
    assert read(workspace, "show", "err_99")["archived"] is True


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["show", "err_77"], "there is no error 'err_77'; did you mean 'err_17'?"),
        (["show", "err_1"], "'err_1' is ambiguous: 2 ids start with it (err_17, err_18); give more of the id"),
        (["show"], "ID is missing; see 'remit errors show --help'"),
        (["resolve", "err_17"], "a status is missing; add --fixed, --ignored or --open"),
        (["lost"], "there is no command 'errors lost'; did you mean 'remit errors list'?"),
        (["list", "--opne"], "there is no option --opne; did you mean --open?"),
    ],
)
def test_a_line_that_does_not_fit_is_told(args: list[str], complaint: str, workspace: Inside) -> None:
    ended = workspace("errors", *args)
    assert (ended.code, ended.complaint) == (2, complaint)
    assert (workspace.folder / "specs/errors.json").read_text() == LOG


# Marking


def test_a_cause_is_marked(workspace: Inside) -> None:
    key = read(workspace, "list")["items"][0]["id"]
    ended = workspace("errors", "resolve", key, "--fixed", "--note", "more time")
    assert (ended.code, ended.text) == (0, snapshot("✓ 2 errors marked fixed: no answer from planner for task 18\n"))
    errors = json.loads((workspace.folder / "specs/errors.json").read_text())["errors"]
    assert [each["fix_status"] for each in errors] == ["resolved", "fixed", "fixed"]
    assert errors[1]["fix_note"] == "more time"
    assert workspace("errors", "list", "--open").text.startswith("specs/errors.json: 0 errors")
    again = workspace("errors", "resolve", key, "--fixed")
    assert again.text.endswith("\n  nothing to change\n")
    assert read(workspace, "resolve", key, "--open")["changed"] == 2


def test_one_error_is_marked(workspace: Inside) -> None:
    told = read(workspace, "resolve", "err_17", "--ignored")
    assert told == {
        "filename": "specs/errors.json", "records": ["err_17"], "fix_status": "ignored", "changed": 1, "original": None,
    }  # fmt: skip
    assert [each["fix_status"] for each in read(workspace, "list", "--all")["items"]] == ["open", "ignored", "fixed"]


def test_to_mark_mends_a_broken_file_and_keeps_what_it_was(workspace: Inside) -> None:
    workspace.write("specs/errors.json", LOG[:-60])
    ended = workspace("errors", "resolve", "err_17", "--fixed")
    kept = ended.text.splitlines()[-1].rpartition(" ")[2]
    assert (workspace.folder / kept).read_text() == LOG[:-60]
    assert kept.startswith(".remit/recovered/errors.json.")
    assert workspace("errors", "list").code == 0


# Around it


@pytest.mark.parametrize("command", ["list", "show", "resolve"])
def test_each_command_has_help_and_json(command: str, inside: Inside) -> None:
    text = inside("errors", command, "--help").text
    assert text.startswith(f"Usage: remit errors {command} ")
    assert "--json" in text


def test_the_group_has_help(inside: Inside) -> None:
    text = inside("errors", "--help").text
    assert all(f"\n  {command} " in text for command in ("list", "show", "resolve"))


@pytest.mark.parametrize("code", DIAGNOSTICS)
def test_every_code_is_explained(code: str, inside: Inside) -> None:
    text = inside("explain", code).text
    assert all(f"\n{word}: " in text for word in ("Why", "Bad", "Good"))


def test_it_works_as_a_process(remit: Remit) -> None:
    (remit.folder / "specs").mkdir()
    remit.write("specs/errors.json", LOG)
    ended = remit("errors", "list", "--open")
    assert (ended.code, ended.err) == (0, b"")
    assert "2x  TIMEOUT" in ended.text

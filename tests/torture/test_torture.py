"""The torture's short form: some kills, errors and writers of each kind. `make torture` runs the whole."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.sample_sizes import IS_WHOLE, choose
from torture.commands import COMMANDS, find_command
from torture.script import Result, count, render_result, render_row, render_total
from torture.stage import Call, spread
from torture.tracing import list_calls

NO_TRACING = 2
"""How a torture ends that strace is missing for, or may not be used here."""


def torture(script: str, *options: str) -> Any:  # noqa: ANN401 - what the script says, as JSON
    command = [sys.executable, str(ROOT / "torture" / script), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == NO_TRACING and not done.stderr:
        pytest.skip(done.stdout.strip())
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def list_options(*commands: str) -> list[str]:
    return [word for command in commands for word in ("--command", command)]


def check_kills(told: Any, *, at_least: int) -> None:  # noqa: ANN401
    assert told["bad"] == []
    assert [row["command"] for row in told["rows"] if row["fired"] != row["points"] and row["is_certain"]] == []
    assert sum(row["fired"] for row in told["rows"]) >= at_least


@pytest.mark.slow
@pytest.mark.thorough
def test_who_writes_one_file_after_the_other_is_found_out() -> None:
    """If it were not, the other tests would prove nothing."""
    for script in ("kill_points.py", "io_errors.py"):
        (row,) = torture(script, *list_options("naive"))["rows"]
        assert row["fired"] == row["points"] > 8
        assert row["bad"] > 4


@pytest.mark.slow
@pytest.mark.thorough
def test_a_move_that_is_killed_happened_or_did_not_and_so_did_its_recovery() -> None:
    syscalls = [word for name in ("rename", "renameat", "renameat2", "fsync") for word in ("--syscall", name)]
    told = torture("kill_points.py", *list_options("task set-status"), *syscalls, "--most", str(choose(5, 12)))
    check_kills(told, at_least=choose(16, 40))
    names = [row["command"] for row in told["rows"]]
    assert len([name for name in names if name.startswith("recovery of")]) >= 3
    assert sum(row["fired"] for row in told["rows"] if row["command"].startswith("two ")) >= choose(1, 5)


@pytest.mark.slow
@pytest.mark.thorough("commands0", "commands1", "commands3")
@pytest.mark.parametrize(
    "commands",
    [
        ("task new", "task link", "task archive", "sync --repair, cut off"),
        ("findings add", "findings add to a torn line", "findings add --write-file", "errors resolve"),
        ("settle", "settle with git's processes", "first ledger", "forget", "gc"),
        ("task set-status, as a program", "findings add, as a program"),
    ],
)
def test_a_command_that_is_killed_happened_or_did_not(commands: tuple[str, ...]) -> None:
    most = choose(2, 10)
    told = torture("kill_points.py", *list_options(*commands), "--most", str(most))
    assert {row["command"] for row in told["rows"]} == set(commands)
    check_kills(told, at_least=most * len(commands))


@pytest.mark.slow
@pytest.mark.thorough("task new", "findings add", "task archive", "init")
@pytest.mark.parametrize("command", ["task set-status", "task new", "findings add", "task archive", "init"])
def test_an_error_of_the_disk_is_told_and_harms_nothing(command: str) -> None:
    most = choose(4, 12)
    told = torture("io_errors.py", *list_options(command), "--most", str(most))
    assert told["bad"] == []
    (row,) = told["rows"]
    assert row["fired"] == row["points"] >= most
    assert row["traits"]["told"] > most // 3
    assert "silent successes" not in row["traits"]


@pytest.mark.slow
@pytest.mark.thorough
def test_a_change_that_the_disk_failed_under_is_whole_or_not_there() -> None:
    """SQLite finds in its log what it could not promise to have written."""
    told = torture("io_errors.py", *list_options("task set-status"), "--syscall", "fdatasync", "--syscall", "fsync")
    assert told["bad"] == []
    (row,) = told["rows"]
    assert row["fired"] == row["points"] >= 8
    assert row["traits"]["EIO"] >= 4


@pytest.mark.slow
@pytest.mark.thorough
def test_what_gc_cannot_remove_is_told() -> None:
    told = torture(
        "io_errors.py", *list_options("gc"), "--syscall", "unlink", "--syscall", "unlinkat", "--syscall", "rmdir"
    )
    assert told["bad"] == []
    (row,) = told["rows"]
    assert row["fired"] == row["points"] >= 8
    assert row["traits"]["told"] >= 6


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("command", ["trust", "trust --revoke"])
def test_a_list_of_consents_that_cannot_be_read_is_left_as_it_is(command: str) -> None:
    told = torture("io_errors.py", *list_options(command))
    assert told["bad"] == []
    (row,) = told["rows"]
    assert row["fired"] == row["points"] > 40
    assert row["traits"]["told"] > 20


@pytest.mark.slow
def test_many_writers_lose_nothing_and_tear_nothing() -> None:
    reports = torture("writers.py", "--writers", "8", "--each", "20")
    assert [report["what"] for report in reports] == ["manifest", "tasks", "ledger"]
    for report in reports:
        assert report["complaints"] == []
        assert report["found"] == report["wanted"] >= 160
        assert report["lost"] == report["torn"] == 0


@pytest.mark.slow
def test_a_hostile_repository_is_only_looked_at() -> None:
    """What its git, its programs and its modules would run is not run; git, called as anybody would, runs it."""
    told = torture("hostile.py", *([] if IS_WHOLE else ["--only", "lint --"]))
    assert told["found_out"]
    assert len(told["seen"]) >= choose(3, 15)
    assert [seen for seen in told["seen"] if seen["complaints"]] == []


def test_calls_are_numbered_by_name_and_by_process() -> None:
    trace = ["10 openat(A) = 3", "10 write(3) = 1", "11 write(3) = 1", "10 write(3) = 1", "10 brk(0) = 1", "+++ killed"]
    assert list_calls(trace) == [("openat", 1, "A) = 3"), ("write", 1, "3) = 1"), ("write", 2, "3) = 1")]
    assert list_calls(["write(1) = 1", "write(/here) = 1"], after="/here") == [("write", 2, "/here) = 1")]


def test_a_sample_is_spread_over_the_whole() -> None:
    calls = [Call("write", number, "") for number in range(100)]
    assert [call.number for call in spread(calls, 4)] == [0, 25, 50, 75]
    assert spread(calls, 0) == calls


def test_a_command_is_found_by_its_name_and_none_has_the_name_of_another() -> None:
    assert [find_command(each.name) for each in COMMANDS] == list(COMMANDS)


def test_what_did_not_happen_is_counted_apart_and_told() -> None:
    results = [
        Result("x:write:1", traits=("told",)),
        Result("x:write:2", complaints=("torn",)),
        Result("x:write:3", fired=False),
    ]
    row = count(find_command("task set-status"), results)
    assert (row.points, row.fired, row.bad) == (3, 2, 1)
    assert render_row(row, "errors").split()[2:] == ["2", "of", "3", "errors,", "1", "bad", "·", "1", "told"]
    assert render_total([row], "errors", seconds=1).startswith("2 errors, 1 did not happen, 1 bad, 1 s")
    assert render_result(results[2]) == "x:write:3: did not happen"
    assert render_result(results[1]) == "x:write:2\n  torn"


def test_a_control_that_was_not_found_out_is_told() -> None:
    row = count(find_command("naive"), [Result("naive:write:1")])
    assert render_total([row], "kills", seconds=1).endswith("naive was not found out: nothing is proved")

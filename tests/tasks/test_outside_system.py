"""An outside task system, by a real program: what it gets, what it may do, and what is said when it fails."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from remit.errors import ConfigError, UsageError
from remit.tasks.outside_system import CLEO, CommandOutput, OutsideError, fill, run_outside

TOOL = r"""
import json, os, subprocess, sys, time
name, *rest = sys.argv[1:]
if name == "echo":
    print(json.dumps({"words": rest, "folder": os.getcwd(), "input": sys.stdin.read()}))
elif name == "fail":
    print("on the way")
    sys.exit(f"no such\n  task {rest}")
elif name == "mute":
    sys.exit(3)
elif name == "die":
    os.kill(os.getpid(), 9)
elif name == "bytes":
    sys.stdout.buffer.write(b"caf\xe9 \xff\n")
elif name == "much":
    sys.stdout.write("x" * 10_000_000)
    sys.stderr.write("y" * 10_000_000)
elif name == "talk":
    while True:
        sys.stdout.write("x" * 65536)
elif name == "close":
    os.close(1), os.close(2)
    time.sleep(60)
elif name == "leave":
    subprocess.Popen(["sleep", "30"], start_new_session=True)
    print("done")
"""


@pytest.fixture
def tool(tmp_path: Path) -> str:
    """The program, as a command begins with it."""
    file = tmp_path / "a tool.py"
    file.write_text(TOOL)
    return f"'{sys.executable}' '{file}'"


def run(command: str, folder: Path, task_id: str = "T1", *, research: str = "", seconds: float = 20.0) -> CommandOutput:
    return run_outside(
        {"show": command}, "show", task_id=task_id, research=research, folder=str(folder), seconds=seconds
    )


def test_the_program_gets_the_ids_as_words_and_runs_in_the_workspace(tmp_path: Path, tool: str) -> None:
    answer = run(
        f"{tool} echo --task={{id}} '{{research}} of {{id}}' {{other}}", tmp_path, "T-12", research="auth-2026-01-19"
    )
    assert answer.output == (
        '{"words": ["--task=T-12", "auth-2026-01-19 of T-12", "{other}"], '
        f'"folder": "{os.path.realpath(tmp_path)}", "input": ""}}\n'
    )
    assert not answer.cut


@pytest.mark.parametrize(
    "task_id",
    ["", " ", "-1", "--all", "1; rm -rf x", "$(touch x)", "`touch x`", "a b", "a\nb", "a\0b", "'", '"', "*", "~",
     "\udcff", "\u202e1", "1|2", "1>x", "#1", "x" * 201],
)  # fmt: skip
def test_what_is_no_id_is_never_run(tmp_path: Path, tool: str, task_id: str) -> None:
    with pytest.raises(UsageError, match="isn't a valid task id"):
        run(f"{tool} echo {{id}}", tmp_path, task_id)
    if task_id:
        with pytest.raises(UsageError, match="isn't a valid finding id"):
            run(f"{tool} echo {{id}} {{research}}", tmp_path, "1", research=task_id)


@pytest.mark.parametrize("task_id", ["1", "T123", "PROJ-12", "owner/repo#12", "a.b:c@d+e", "aufgabe_ü"])
def test_ids_of_all_kinds_of_systems_are_ids(task_id: str) -> None:
    assert fill(CLEO["show"], "show", task_id=task_id) == ["cleo", "show", task_id]
    assert fill(CLEO["link"], "link", task_id=task_id, research="x") == ["cleo", "research", "link", task_id, "x"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("tool 'show {id}", "into words"),
        ("{id}", "has no program"),
        ("./{id}.sh", "has no program"),
        ("", "has no program"),
        ("tool\0 {id}", "has no program"),
    ],
)
def test_a_command_that_cannot_be_run_is_told(tmp_path: Path, command: str, said: str) -> None:
    with pytest.raises(ConfigError, match=f"tasks.show.* {said}"):
        run(command, tmp_path)


def test_a_command_that_is_not_set_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no command to link"):
        run_outside({"show": "x {id}"}, "link", task_id="1", folder=str(tmp_path))


def test_a_failure_is_one_sentence_with_what_was_said(tmp_path: Path, tool: str) -> None:
    with pytest.raises(OutsideError) as caught:
        run(f"{tool} fail {{id}}", tmp_path)
    assert caught.value.message.endswith("fail T1` failed with exit code 1: no such task ['T1']")
    with pytest.raises(OutsideError, match="failed with exit code 3: no output"):
        run(f"{tool} mute {{id}}", tmp_path)
    with pytest.raises(OutsideError, match="was killed by signal 9: no output"):
        run(f"{tool} die {{id}}", tmp_path)


@pytest.mark.parametrize(
    ("program", "reason"),
    [("no-such-program-here", "no such file"), (".", "permission denied"), ("./text", "permission denied")],
)
def test_a_program_that_is_not_there_is_told(tmp_path: Path, program: str, reason: str) -> None:
    (tmp_path / "text").write_text("text")
    with pytest.raises(OutsideError, match=f"can't run .*: {reason}") as caught:
        run(f"{program} {{id}}", tmp_path)
    assert caught.value.hint == snapshot("install the program, or change tasks.show in remit.toml")


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path, tool: str) -> None:
    assert run(f"{tool} bytes {{id}}", tmp_path).output == "caf\ufffd \ufffd\n"


def test_much_output_is_cut(tmp_path: Path, tool: str) -> None:
    answer = run(f"{tool} much {{id}}", tmp_path)
    assert (len(answer.output), answer.cut) == (1024 * 1024, True)


def list_living(group: str) -> list[str]:
    """The processes of a group that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            state, _, own = stat.read_text().rpartition(")")[2].split()[:3]
            found += [stat.parent.name] if own == group and state != "Z" else []
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_a_program_that_hangs_ends_with_its_children(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(OutsideError, match="timed out after 2 s"):
        run("sh -c 'sleep 60 & echo $$ > pid; sleep 60' {id}", tmp_path, seconds=2)
    assert time.monotonic() - began < 20
    group = (tmp_path / "pid").read_text().strip()
    while list_living(group):
        assert time.monotonic() - began < 30
        time.sleep(0.01)
    assert list_living(str(os.getpgrp()))


@pytest.mark.parametrize("name", ["talk", "close"])
def test_a_program_that_only_talks_or_says_nothing_ends_in_time(tmp_path: Path, tool: str, name: str) -> None:
    with pytest.raises(OutsideError, match=r"timed out after 0\.5 s"):
        run(f"{tool} {name} {{id}}", tmp_path, seconds=0.5)


@pytest.mark.slow
def test_nobody_waits_for_what_a_program_leaves_behind(tmp_path: Path, tool: str) -> None:
    began = time.monotonic()
    assert run(f"{tool} leave {{id}}", tmp_path).output == "done\n"
    assert time.monotonic() - began < 10

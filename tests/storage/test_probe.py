"""Probing: programs that are run once end in time, with whatever they started, and say what they said."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from remit.errors import RunnerError
from remit.storage import probe
from remit.storage.machine import is_alive
from remit.storage.probe import converse, make_stage, play_model, run_apart

ENVIRON = {"PATH": os.environ["PATH"]}


def run(script: str, *, folder: Path, given: str = "", seconds: float = 10) -> probe.ProbeOutput:
    return run_apart(["/bin/sh", "-c", script], folder=str(folder), environ=ENVIRON, given=given, seconds=seconds)


def test_a_program_gets_what_it_reads_and_says_what_it_says(tmp_path: Path) -> None:
    given = "x" * 300_000
    ran = run("cat; echo why >&2; exit 3", folder=tmp_path, given=given)
    assert ran == (3, given, "why\n")
    assert run("pwd", folder=tmp_path).out == f"{tmp_path}\n"


def test_a_program_that_reads_nothing_is_no_trouble(tmp_path: Path) -> None:
    assert run("exec true", folder=tmp_path, given="x" * 300_000).code == 0


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    ran = run_apart([str(tmp_path / "no")], folder=str(tmp_path), environ=ENVIRON, seconds=1)
    assert ran == (127, "", "no such file or directory")


def test_a_program_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    start = time.monotonic()
    ran = run("echo early; sleep 60 & echo $! > pid; wait", folder=tmp_path, seconds=2)
    assert (ran.code, ran.out) == (None, "early\n")
    assert time.monotonic() - start < 20
    pid = int((tmp_path / "pid").read_text())
    end = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_alive(pid)


def test_a_program_that_floods_costs_no_memory(tmp_path: Path) -> None:
    ran = run("head -c 20000000 /dev/zero; echo end >&2", folder=tmp_path)
    assert (ran.code, len(ran.out), ran.err) == (0, 4 * 1024 * 1024, "end\n")


def test_a_stage_is_gone_afterwards() -> None:
    with make_stage() as folder:
        Path(folder, "x").write_text("x")
    assert not Path(folder).exists()


def test_a_model_says_where_it_is_and_writes_its_requests_at_the_end(tmp_path: Path) -> None:
    file = tmp_path / "requests.json"
    command = [
        sys.executable,
        "-P",
        "-m",
        "remit.testing.liar",
        "claude",
        str(tmp_path / "home"),
        str(file),
        "scripted",
    ]
    with play_model(command) as told:
        assert told["environ"]["ANTHROPIC_BASE_URL"].startswith("http://127.0.0.1:")
        assert told["environ"]["HOME"] == str(tmp_path / "home")
        assert {*told["prompts"]} == {"caller", "background-caller", "run"}
        assert not file.exists()
    assert file.read_text() == "[]"


@pytest.mark.parametrize("script", ["exit 1", "echo no; sleep 60", "printf no; sleep 60", "cat"])
def test_a_model_that_does_not_start_is_one_sentence(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_MODEL_SECONDS", 0.5)
    monkeypatch.setattr(probe, "_GRACE_SECONDS", 0.2)
    with pytest.raises(RunnerError, match="doesn't start"), play_model(["/bin/sh", "-c", script]):
        pass


@pytest.mark.parametrize(
    ("script", "heard"),
    [
        ('read a; read b; echo one; echo "two $b"; sleep 60', "two B"),
        ("echo nothing", ""),
        ("sleep 60", ""),
        ("exec 0<&-; sleep 0.2; echo 'a two'", "a two"),
    ],
)
def test_an_answer_is_heard_among_others(script: str, heard: str) -> None:
    start = time.monotonic()
    assert converse(["/bin/sh", "-c", script], environ=ENVIRON, lines=["A", "B"], until="two", seconds=3) == heard
    assert time.monotonic() - start < 20

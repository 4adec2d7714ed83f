"""One runner of subprocesses: input, output, limits, and the end of a process group."""

from __future__ import annotations

import os
import select
import selectors
import sys
import time
from typing import TYPE_CHECKING

import pytest

from remit.storage.subprocesses import end, finish, run_bounded, start

if TYPE_CHECKING:
    from pathlib import Path

    from remit.storage.subprocesses import CompletedRun

ENVIRON = {"PATH": os.environ["PATH"]}


def run(script: str, folder: Path, *, given: bytes = b"", seconds: float = 20, cap: int = 1 << 20) -> CompletedRun:
    return run_bounded(["/bin/sh", "-c", script], cwd=str(folder), env=ENVIRON, given=given, seconds=seconds, cap=cap)


def test_input_output_environment_and_folder(tmp_path: Path) -> None:
    given = b"x" * 300_000
    assert run("cat; echo why >&2; exit 3", tmp_path, given=given) == (3, given, b"why\n", False)
    assert run("pwd; echo $HOME.", tmp_path) == (0, f"{tmp_path}\n.\n".encode(), b"", False)
    assert run("cat", tmp_path) == (0, b"", b"", False)


def test_a_program_that_does_not_read_its_input(tmp_path: Path) -> None:
    assert run("exec true", tmp_path, given=b"x" * 300_000) == (0, b"", b"", False)
    assert run("exec 0<&-; sleep 0.1; echo done", tmp_path, given=b"x" * 300_000) == (0, b"done\n", b"", False)


def test_a_signal_is_a_negative_code(tmp_path: Path) -> None:
    assert run("kill -TERM $$", tmp_path).code == -15


def test_a_program_that_cannot_be_started_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run_bounded([str(tmp_path / "none")], cwd="/", seconds=1, cap=10)


def test_it_has_no_terminal(tmp_path: Path) -> None:
    assert run("( : < /dev/tty ) 2>/dev/null; echo $?", tmp_path).out != b"0\n"


@pytest.mark.parametrize(
    "script",
    ["sleep 60", "sleep 60 & wait", "trap '' TERM; sleep 60 & wait; sleep 60", "yes", "exec 1>&- 2>&-; sleep 60"],
)
def test_the_deadline_ends_the_whole_group(tmp_path: Path, script: str) -> None:
    os.mkfifo(tmp_path / "alive")
    reader = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    began = time.monotonic()
    ran = run(f"exec 3>alive; echo begun >&3; echo early; {script}", tmp_path, seconds=1, cap=6)
    assert (ran.code, ran.out) == (None, b"early\n")
    assert 1 <= time.monotonic() - began < 20
    assert os.read(reader, 100) == b"begun\n"
    os.set_blocking(reader, True)
    ended, _, _ = select.select([reader], [], [], 10)  # a process that was killed closes its files a moment later
    assert ended, "one of them still has the pipe open"
    assert os.read(reader, 100) == b""
    os.close(reader)


def test_a_program_may_clean_up_after_the_deadline(tmp_path: Path) -> None:
    script = "trap 'rm lock; exit' TERM; : > lock; echo >&2; while :; do sleep 0.05; done"
    assert run(script, tmp_path, seconds=1) == (None, b"", b"\n", False)
    assert not (tmp_path / "lock").exists()


def test_output_above_the_cap_is_discarded(tmp_path: Path) -> None:
    ran = run("head -c 3000000 /dev/zero; echo end >&2", tmp_path, cap=1000)
    assert ran == (0, bytes(1000), b"end\n", True)
    assert run("head -c 1000 /dev/zero", tmp_path, cap=1000) == (0, bytes(1000), b"", False)


def test_output_above_the_cap_can_end_it(tmp_path: Path) -> None:
    began = time.monotonic()
    process = start(["/bin/sh", "-c", "yes & yes"], cwd=str(tmp_path))
    ran = finish(process, b"", 60, 1000, stop_at_cap=True)
    assert (ran.code, len(ran.out), ran.is_cut) == (None, 1000, True)
    assert time.monotonic() - began < 20


def test_a_helper_that_stays_is_not_waited_for_and_lives_on(tmp_path: Path) -> None:
    began = time.monotonic()
    ran = run("sleep 60 & echo $!", tmp_path, seconds=60)
    assert ran.code == 0
    assert time.monotonic() - began < 20
    helper = int(ran.out)
    os.kill(helper, 9)


def test_all_output_counts_if_the_reader_is_late(tmp_path: Path) -> None:
    """The program has ended long before its output is read, and a helper keeps the pipe open."""
    process = start(["/bin/sh", "-c", "sleep 60 & echo $!; head -c 60000 /dev/zero"], cwd=str(tmp_path))
    process.wait()
    ran = finish(process, b"", 20, 1 << 20)
    helper, _, rest = ran.out.partition(b"\n")
    os.kill(int(helper), 9)
    assert (ran.code, len(rest)) == (0, 60_000)


@pytest.mark.parametrize(
    ("script", "out"),
    [
        ('read a; read b; echo one; echo "two $b"; sleep 60', b"one\ntwo B\n"),
        ("printf two; sleep 0.3; echo; sleep 60", b"two\n"),
        ("echo nothing", b"nothing\n"),
        ("exec 0<&-; sleep 0.2; echo 'a two'; sleep 60", b"a two\n"),
    ],
)
def test_it_can_end_at_a_line(script: str, out: bytes) -> None:
    began = time.monotonic()
    ran = run_bounded(["/bin/sh", "-c", script], cwd="/", given=b"A\nB\n", until=b"two", seconds=40, cap=1 << 20)
    assert ran.out == out
    assert time.monotonic() - began < 20


def test_a_failing_pipe_ends_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = []

    def fail() -> None:
        failed.append(True)
        raise OSError

    monkeypatch.setattr(selectors, "DefaultSelector", fail)
    process = start(["/bin/sh", "-c", "sleep 60"], cwd=str(tmp_path))
    with pytest.raises(OSError):  # noqa: PT011 - any
        finish(process, b"", 20, 10)
    assert failed
    assert process.returncode == -15


def test_a_program_that_has_ended_can_be_ended() -> None:
    process = start([sys.executable, "-c", ""], cwd="/")
    assert finish(process, b"", 20, 10).code == 0
    end(process)
    assert process.returncode == 0

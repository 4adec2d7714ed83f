"""A test that hangs fails by itself, with a message, and the tests after it still run."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.hook_session import keep_timer
from tests.support.paths import ROOT

HANGING = """
import subprocess, threading

def test_waits_for_a_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()

def test_waits_for_a_process():
    subprocess.run(["sleep", "100"])

def test_reads_a_stream_that_is_closed(tmp_path):
    (tmp_path / "empty").touch()
    with (tmp_path / "empty").open() as stream:
        while not stream.readline().startswith(":"):
            pass

def test_that_runs_afterwards():
    pass
"""
SEVERAL_HANG = """
import threading

def test_each_hangs(subtests):
    for number in range(3):
        with subtests.test(number=number):
            threading.Event().wait()

def test_that_runs_afterwards():
    pass
"""
TIMEOUT = "from pytest-timeout"
"""How the message of a timeout ends."""


def run_pytest(folder: Path, text: str, *options: str) -> str:
    """Run a test file with the project's configuration and a timeout of a second; what pytest prints."""
    (folder / "test_hanging.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    command += ["--rootdir", str(folder), "-o", "timeout=1", *options, str(folder)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd=ROOT, timeout=100)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "in a worker"])
@pytest.mark.thorough("in a worker")
def test_a_test_that_hangs_fails_and_the_next_one_runs(options: tuple[str, ...], tmp_path: Path) -> None:
    printed = run_pytest(tmp_path, HANGING, *options)
    assert "3 failed, 1 passed" in printed
    assert printed.count(f"Failed: Timeout (>1.0s) {TIMEOUT}.") >= 3
    assert "crashed" not in printed


@pytest.mark.slow
def test_each_subtest_that_hangs_fails(tmp_path: Path) -> None:
    printed = run_pytest(tmp_path, SEVERAL_HANG, "-p", "tests.support.timeouts")
    assert "4 failed, 1 passed" in printed  # three subtests, and the test that has them


def test_every_test_has_a_timeout(request: pytest.FixtureRequest) -> None:
    assert float(request.config.getini("timeout")) == 300
    assert signal.getitimer(signal.ITIMER_REAL)[0] > 0


def test_an_event_that_is_answered_in_this_process_leaves_the_timeout_as_it_was() -> None:
    handler, (seconds, _) = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    with keep_timer():
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 5)
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert signal.getsignal(signal.SIGALRM) == handler
    assert seconds - 30 < signal.getitimer(signal.ITIMER_REAL)[0] <= seconds

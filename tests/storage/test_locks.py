"""Locks: one process at a time, and none left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from threading import Event, Thread
from threading import enumerate as enumerate_threads
from typing import TYPE_CHECKING

import pytest

from remit.errors import BusyError, StorageError
from remit.storage import locks
from remit.storage.locks import find_lock_holder, hold_lock, try_lock
from tests.support.locked_process import end, start_holder

if TYPE_CHECKING:
    from pathlib import Path

COUNTING = """
import sys
from remit.storage.locks import hold_lock
lock, counter = sys.argv[1:]
for _ in range(50):
    with hold_lock(lock):
        number = int(open(counter).read())
        with open(counter, "w") as file:
            file.write(str(number + 1))
"""
GREEDY = """
import sys, time
from remit.storage.locks import hold_lock
while True:
    with hold_lock(sys.argv[1]):
        print("held", flush=True)
        time.sleep(0.02)
    time.sleep(0.0005)
"""


def start_greedy(lock: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", GREEDY, str(lock)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_lock_that_is_held_is_waited_for_and_then_given_up(tmp_path: Path) -> None:
    process = start_holder(tmp_path / "a.lock")
    try:
        assert find_lock_holder(str(tmp_path / "a.lock")) == process.pid
        began = time.monotonic()
        with pytest.raises(BusyError) as caught, hold_lock(str(tmp_path / "a.lock"), seconds=0.2):
            pass
        assert time.monotonic() - began >= 0.2
        assert f"by process {process.pid}" in caught.value.message
        assert caught.value.message.startswith("a.lock is still locked after")
        with try_lock(str(tmp_path / "a.lock")) as held:
            assert not held
    finally:
        end(process)


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    end(start_holder(tmp_path / "a.lock"))
    assert find_lock_holder(str(tmp_path / "a.lock")) is None
    with try_lock(str(tmp_path / "a.lock")) as held:
        assert held
        assert find_lock_holder(str(tmp_path / "a.lock")) == os.getpid()


def test_a_lock_that_was_never_taken_has_no_holder(tmp_path: Path) -> None:
    assert find_lock_holder(str(tmp_path / "none.lock")) is None


def test_a_lock_is_not_taken_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError), hold_lock(str(tmp_path / "a.lock")):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_who_gave_up_waiting_does_not_get_the_lock_later(tmp_path: Path) -> None:
    lock = str(tmp_path / "a.lock")
    with hold_lock(lock):
        with pytest.raises(BusyError), hold_lock(lock, seconds=0.05):
            pass
        waiting = [each for each in enumerate_threads() if each.daemon]
        assert waiting, "nobody was left waiting"
    for each in waiting:
        each.join(10)
    assert find_lock_holder(lock) is None
    with try_lock(lock) as held:
        assert held


@pytest.mark.slow
def test_everybody_gets_a_turn(tmp_path: Path) -> None:
    """Others that take the lock again as soon as they have let it go keep nobody out."""
    processes = [start_greedy(tmp_path / "a.lock") for _ in range(4)]
    try:
        for _ in range(5):
            with hold_lock(str(tmp_path / "a.lock")):
                pass
    finally:
        for process in processes:
            end(process)


def test_a_full_disk_keeps_nobody_from_a_lock() -> None:
    """Who holds it cannot be noted then; that it is held can."""
    full = "/dev/full"
    if not os.path.exists(full):  # noqa: PTH110 - a device
        pytest.skip("there is no /dev/full here")
    handle = os.open(full, os.O_RDWR)
    with pytest.raises(OSError, match="No space left"):
        os.pwrite(handle, b"1", 0)
    os.close(handle)
    with hold_lock(full), try_lock(full) as held:
        assert not held


@pytest.mark.slow
def test_what_is_done_under_a_lock_is_done_by_one_at_a_time(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    command = [sys.executable, "-c", COUNTING, str(tmp_path / "a.lock"), str(counter)]
    processes = [subprocess.Popen(command) for _ in range(6)]
    assert [process.wait() for process in processes] == [0] * 6
    assert counter.read_text() == "300"


def test_a_lock_whose_file_is_removed_meanwhile_is_taken_where_others_look_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.lock"
    waits, is_held, ends = Event(), Event(), Event()
    queue_up = locks._queue_up  # noqa: SLF001 - the moment when it waits

    def watch(handle: int) -> None:
        waits.set()
        queue_up(handle)

    def take() -> None:
        with hold_lock(str(file)):
            is_held.set()
            ends.wait(30)

    monkeypatch.setattr(locks, "_queue_up", watch)
    thread = Thread(target=take)
    with hold_lock(str(file)):
        thread.start()
        assert waits.wait(30)
        file.unlink()
    assert is_held.wait(30)
    with try_lock(str(file)) as is_free:
        assert not is_free
    ends.set()
    thread.join()

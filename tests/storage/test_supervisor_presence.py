"""Supervisors: present as long as a process has their file, and never cleared away alive."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run
from remit.runs.supervisor.supervisor import Supervisor
from remit.storage.supervisor_presence import Presence, clear_departed, is_present
from tests.support.file_limit import few_files


def test_present_until_its_end(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    presence = Presence(home)
    assert is_present(home, presence.id)
    presence.end()
    assert not is_present(home, presence.id)
    assert list(Path(home.folder, "supervisors").iterdir()) == []


def test_handed_over_it_lives_as_long_as_the_other_process(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    presence = Presence(home)
    command = [sys.executable, "-I", "-S", "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(presence.handle,)) as heir:
        presence.hand_over()
        clear_departed(home)
        assert is_present(home, presence.id)
        heir.communicate(b"\n")
    assert not is_present(home, presence.id)
    clear_departed(home)
    assert list(Path(home.folder, "supervisors").iterdir()) == []


def test_who_clears_up_never_takes_one_that_has_just_come(tmp_path: Path) -> None:
    """Between the making of a file and its lock another may clear up: then it is made again."""
    home = Home(str(tmp_path))
    over = threading.Event()
    cleared = 0

    def clear() -> None:
        nonlocal cleared
        while not over.is_set():
            clear_departed(home)
            cleared += 1

    clearer = threading.Thread(target=clear)
    clearer.start()
    try:
        for _ in range(300):
            presence = Presence(home)
            assert is_present(home, presence.id)
            presence.end()
    finally:
        over.set()
        clearer.join()
    assert cleared


def test_a_process_without_free_descriptors_does_not_take_a_living_supervisor_for_gone(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    presence = Presence(home)
    with few_files(0):
        with pytest.raises(OSError, match="Too many open files"):
            os.open(os.devnull, os.O_RDONLY)
        assert is_present(home, presence.id)
    presence.end()
    assert not is_present(home, presence.id)


def test_runs_are_claimed_only_if_their_supervisor_is_known_to_be_gone(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    presence, supervisor = Presence(home), Supervisor(home, environ={})
    row = Run("sess_1_aaaaaa", "worker", 1, ("orchestrator", "worker"), owner=presence.id)
    add_run(home.ledger, row)
    file = Path(home.folder, "supervisors", f"{presence.id}.lock")
    file.unlink()
    file.symlink_to("elsewhere.lock")  # a lock that can't be opened: ELOOP
    try:
        assert supervisor.claim_abandoned() == []
        assert not supervisor.is_abandoned(row)
        file.unlink()
        assert supervisor.claim_abandoned() == [row.session_id]
    finally:
        supervisor.end()
        presence.end()


def test_nested_runs_are_cancelled_whatever_the_clock_said(tmp_path: Path) -> None:
    """A clock that was set back gives a nested run an earlier time than its caller's."""
    home = Home(str(tmp_path))
    supervisor = Supervisor(home, environ={})
    try:
        above: str | None = None
        for name, created_ms in (("parent", 3000), ("childx", 2000), ("grandx", 1000), ("otherx", 500)):
            parent = None if name == "otherx" else above
            row = Run(name, name, 1, (name,), parent_id=parent, root_id="parent" if parent else name,
                             created_ms=created_ms, owner=supervisor.id)  # fmt: skip
            above = add_run(home.ledger, row).session_id
        assert supervisor.cancel("childx") == ["childx", "grandx"]
        assert supervisor.cancel("parent") == ["parent", "childx", "grandx"]
        assert not supervisor.is_cancelled("otherx")
    finally:
        supervisor.end()

"""Brokers: present as long as a process has their file, and never cleared away alive."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from remit.workspace.brokers import Presence, clear_departed, is_present
from remit.workspace.home import Home


def test_present_until_its_end(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    presence = Presence(home)
    assert is_present(home, presence.id)
    presence.end()
    assert not is_present(home, presence.id)
    assert list(Path(home.folder, "brokers").iterdir()) == []


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
    assert list(Path(home.folder, "brokers").iterdir()) == []


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

"""Servers: one serves a workspace, and a process that only checks for one doesn't keep the next from starting."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from remit.errors import UsageError
from remit.ledger.home import Home
from remit.storage.servers import Announcement

if TYPE_CHECKING:
    from pathlib import Path

CHECKING = """
import sys
from remit.ledger.home import Home
from remit.storage.servers import load_server
home = Home(sys.argv[1])
print("checking", flush=True)
while True:
    load_server(home)
"""


def test_a_second_server_is_refused(tmp_path: Path) -> None:
    first = Announcement(Home(str(tmp_path)))
    first.write("http://127.0.0.1:1", "secret")
    with pytest.raises(UsageError, match=r"already has a server at http://127.0.0.1:1, by process"):
        Announcement(Home(str(tmp_path)))
    first.end()
    Announcement(Home(str(tmp_path))).end()


def test_a_process_that_checks_for_a_server_keeps_none_from_starting(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    Announcement(home).end()
    with subprocess.Popen([sys.executable, "-c", CHECKING, home.root], stdout=subprocess.PIPE, text=True) as checker:
        try:
            assert checker.stdout is not None
            assert checker.stdout.readline() == "checking\n"
            for _ in range(300):
                Announcement(home).end()
            assert checker.poll() is None, "nothing checked meanwhile"
        finally:
            checker.kill()

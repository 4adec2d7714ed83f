"""Runs of harnesses in the ledger, as a process sees them that lives for a moment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from remit.ledger import VERSION
from remit.ledger.home import Home
from remit.ledger.hook_runs import HookRun, list_tool_uses, note_use, open_quickly
from remit.storage.locks import hold_lock

OWN = HookRun("sess_1_aaaaaa", "claude", "4f6e", "builder")
WRITING = """
import os, sys
from remit.ledger.hook_runs import HookRun, note_use, open_quickly
db = open_quickly(sys.argv[1])
for number in range(int(sys.argv[2])):
    note_use(db, HookRun("sess_1_aaaaaa", "claude", "4f6e", "builder"), "Write", [f"{number}.md"], operation="write",
             failed=False)
os._exit(0)
"""


def write_uses(file: str, count: int) -> None:
    """Note uses as hooks do, in a process that ends without closing anything."""
    subprocess.run([sys.executable, "-c", WRITING, file, str(count)], check=True)


def make_ledger(root: Path) -> str:
    home = Home(str(root))
    file = home.ledger.file
    home.close()
    return file


def get_log_bytes(file: str) -> int:
    return Path(f"{file}-wal").stat().st_size


def test_a_ledger_that_has_to_be_made_first_is_not_opened(tmp_path: Path) -> None:
    assert open_quickly(str(tmp_path / "ledger.db")) is None
    assert not (tmp_path / "ledger.db").exists()
    file = make_ledger(tmp_path)
    old = open_quickly(file)
    assert old is not None
    old.execute(f"PRAGMA user_version = {VERSION - 1}")
    assert open_quickly(file) is None


def test_a_log_that_has_grown_is_moved_into_the_file(tmp_path: Path) -> None:
    """Whoever opens the ledger alone reads the whole log first, so a hook must not leave a long one."""
    file = make_ledger(tmp_path)
    longest = 0
    for _ in range(8):
        write_uses(file, 25)
        longest = max(longest, get_log_bytes(file))
    assert 300_000 < longest < 2_000_000
    db = open_quickly(file)
    assert db is not None
    assert len(list_tool_uses(db, OWN.session_id)) == 200
    assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_the_log_stays_while_another_process_moves_it(tmp_path: Path) -> None:
    """Two checkpoints at once could corrupt the file in SQLite before 3.51.3."""
    file = make_ledger(tmp_path)
    with hold_lock(f"{file}.checkpoint"):
        write_uses(file, 150)
        assert get_log_bytes(file) > 2_000_000, "it was to be long enough"
    db = open_quickly(file)
    assert db is not None
    note_use(db, OWN, "Write", ["last.md"], operation="write", failed=False)
    assert get_log_bytes(file) == 0
    assert len(list_tool_uses(db, OWN.session_id)) == 151

"""The ledger's condition: whole, damaged, unfinished, or no ledger at all."""

from __future__ import annotations

import os
import sqlite3
import time
from typing import TYPE_CHECKING

import pytest

from remit.ledger import Ledger
from remit.ledger.integrity_check import examine, has_full_text

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    Ledger(str(tmp_path / "ledger.db")).close()
    return tmp_path / "ledger.db"


def test_a_ledger_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert examine(str(tmp_path / "ledger.db"), seconds=5) is None
    assert list(tmp_path.iterdir()) == []


def test_a_whole_one_is_well_and_not_changed(file: Path) -> None:
    before = file.read_bytes()
    found = examine(str(file), seconds=5)
    assert found == ("", True, 0, False, False, len(before))
    assert file.read_bytes() == before


def test_what_is_unfinished_is_counted_also_while_another_writes(file: Path) -> None:
    ledger = Ledger(str(file))
    with ledger.transaction() as db:
        db.execute("INSERT INTO intents (kind, created_ms) VALUES ('move', 1)")
    with ledger.transaction() as db:
        db.execute("INSERT INTO intents (kind, created_ms) VALUES ('move', 2)")
        found = examine(str(file), seconds=5)
    ledger.close()
    assert found is not None
    assert (found.fault, found.unfinished) == ("", 1)


def test_damage_is_told(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096 : len(data)] = b"\xa5" * (len(data) - 4096)
    file.write_bytes(bytes(data))
    found = examine(str(file), seconds=5)
    assert found is not None
    assert found.fault


@pytest.mark.parametrize("content", [b"nonsense" * 1000, b"SQLite format 3\0" + b"\xff" * 4080])
def test_something_else_is_told(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    found = examine(str(file), seconds=5)
    assert found is not None
    assert found.fault


def test_a_pipe_and_a_folder_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        found = examine(str(tmp_path / name), seconds=5)
        assert found is not None
        assert found.fault == "it isn't a file"


def test_a_newer_one_is_told(file: Path) -> None:
    db = sqlite3.connect(file)
    db.execute("PRAGMA user_version = 999")
    db.close()
    found = examine(str(file), seconds=5)
    assert found is not None
    assert found.is_newer


def test_an_older_one_is_told_whatever_tables_it_has(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "ledger.db")
    db.execute("CREATE TABLE runs (session_id TEXT)")
    db.execute("PRAGMA user_version = 1")
    db.close()
    found = examine(str(tmp_path / "ledger.db"), seconds=5)
    assert found is not None
    assert (found.fault, found.is_older, found.unfinished) == ("", True, 0)


def test_a_long_look_is_ended(file: Path) -> None:
    db = sqlite3.connect(file)
    db.execute("CREATE TABLE long (number INTEGER PRIMARY KEY, text TEXT)")
    db.executemany("INSERT INTO long (text) VALUES (?)", ((f"{number:x}",) for number in range(60_000)))
    db.commit()
    db.close()
    began = time.monotonic()
    found = examine(str(file), seconds=0.0)
    assert found is not None
    assert (found.fault, found.is_checked) == ("", False)
    assert time.monotonic() - began < 5
    whole = examine(str(file), seconds=30)
    assert whole is not None
    assert whole.is_checked


def test_this_sqlite_searches_in_texts() -> None:
    assert has_full_text()

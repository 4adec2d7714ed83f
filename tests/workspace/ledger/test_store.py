"""The ledger's file: many processes, short transactions, errors in a sentence."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest

from remit.errors import StorageError
from remit.workspace.home import Home
from remit.workspace.ledger import Ledger, store
from remit.workspace.ledger.events import add_event, follow_events, load_events
from remit.workspace.ledger.migrations import MIGRATIONS
from tests.workspace.dying import run_and_die

if TYPE_CHECKING:
    from pathlib import Path

WRITING = """
import sys
from remit.workspace.home import Home
from remit.workspace.ledger.events import add_event
root, name, count = sys.argv[1:]
ledger = Home(root).ledger
for number in range(int(count)):
    with ledger.transaction() as db:
        add_event(db, "test", {"writer": name, "number": number})
"""


def open_ledger(root: Path) -> Ledger:
    return Home(str(root)).ledger


def write_with_processes(root: Path, *, writers: int, count: int) -> None:
    commands = [[sys.executable, "-c", WRITING, str(root), str(name), str(count)] for name in range(writers)]
    processes = [subprocess.Popen(command) for command in commands]
    assert [process.wait() for process in processes] == [0] * writers


def test_a_new_ledger_has_its_tables_and_says_which_steps_made_them(tmp_path: Path) -> None:
    ledger = Home(str(tmp_path)).ledger
    assert [row[0] for row in ledger.db.execute("SELECT name FROM migrations ORDER BY rowid")] == [
        migration.name for migration in MIGRATIONS
    ]
    assert ledger.db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert (tmp_path / ".remit" / ".gitignore").read_text() == "*\n"


def test_processes_that_make_it_at_once_make_one(tmp_path: Path) -> None:
    write_with_processes(tmp_path, writers=6, count=20)
    home = Home(str(tmp_path))
    events = list(follow_events(home.ledger))
    assert len(events) == 120
    assert [event.number for event in events] == list(range(1, 121))
    for name in range(6):
        assert [each.details["number"] for each in events if each.details["writer"] == str(name)] == list(range(20))


@pytest.mark.slow
@pytest.mark.thorough
def test_many_writers_lose_nothing_and_the_log_stays_short(tmp_path: Path) -> None:
    write_with_processes(tmp_path, writers=16, count=200)
    home = Home(str(tmp_path))
    assert len(list(follow_events(home.ledger))) == 3200
    assert home.ledger.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_an_older_ledger_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(store, "MIGRATIONS", MIGRATIONS[:1])
        home = Home(str(tmp_path))
        with home.ledger.transaction() as db:
            add_event(db, "kept", {})
        home.close()
    ledger = Home(str(tmp_path)).ledger
    assert [event.kind for event in load_events(ledger)] == ["kept"]
    assert ledger.db.execute("SELECT count(*) FROM intents").fetchone() == (0,)


def test_a_ledger_of_a_newer_version_is_not_touched(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    home.ledger.db.execute("PRAGMA user_version = 9999")
    home.close()
    with pytest.raises(StorageError, match="written by a newer Remit"):
        open_ledger(tmp_path)


def test_a_file_that_is_no_ledger_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / ".remit").mkdir()
    (tmp_path / ".remit" / "ledger.db").write_bytes(b"hello, I am no database" * 100)
    with pytest.raises(StorageError, match="is damaged") as caught:
        open_ledger(tmp_path)
    assert "move it away" in caught.value.hint
    assert (tmp_path / ".remit" / "ledger.db").read_bytes().startswith(b"hello")


def test_a_ledger_that_cannot_be_opened_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / ".remit" / "ledger.db").mkdir(parents=True)
    with pytest.raises(StorageError, match="cannot be used"):
        open_ledger(tmp_path)


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    ledger = Home(str(tmp_path)).ledger
    with pytest.raises(TypeError), ledger.transaction() as db:
        add_event(db, "lost", {"number": add_event(db, "lost", {}), "no JSON": object()})
    assert load_events(ledger) == []
    with ledger.transaction() as db, ledger.transaction() as inner:
        add_event(inner, "kept", {})
        assert db is inner
    assert [event.kind for event in load_events(ledger)] == ["kept"]


def test_a_bug_in_a_query_stays_a_bug(tmp_path: Path) -> None:
    ledger = Home(str(tmp_path)).ledger
    with pytest.raises(sqlite3.IntegrityError), ledger.transaction() as db:
        db.execute("INSERT INTO events (at_ms, kind) VALUES (1, NULL)")


def test_a_long_log_is_moved_into_the_file(tmp_path: Path) -> None:
    ledger = Home(str(tmp_path)).ledger
    log = tmp_path / ".remit" / "ledger.db-wal"
    for _ in range(5):
        with ledger.transaction() as db:
            add_event(db, "long", {"text": "x" * 1_000_000})
    assert log.stat().st_size < store.MAX_LOG_BYTES
    assert len(load_events(ledger)) == 5


def test_a_log_that_cannot_be_moved_harms_nothing(tmp_path: Path) -> None:
    ledger = Home(str(tmp_path)).ledger
    (tmp_path / ".remit" / "ledger.db.checkpoint").mkdir()
    with pytest.raises(StorageError):
        ledger.checkpoint()
    for _ in range(5):
        with ledger.transaction() as db:
            add_event(db, "long", {"text": "x" * 1_000_000})
    assert (tmp_path / ".remit" / "ledger.db-wal").stat().st_size > store.MAX_LOG_BYTES
    ledger.close()
    assert len(load_events(open_ledger(tmp_path))) == 5


def test_wherever_the_making_is_killed_the_next_one_makes_it(tmp_path: Path) -> None:
    fired = 0
    for step in range(1, 60):
        folder = tmp_path / str(step)
        folder.mkdir()
        killed = run_and_die(partial(open_ledger, folder), at=step)
        fired += killed
        assert load_events(open_ledger(folder)) == []
        if not killed:
            break
    assert fired >= 4


def test_events_are_followed_by_their_numbers(tmp_path: Path) -> None:
    ledger = Ledger(f"{Home(str(tmp_path)).make_folder()}/ledger.db")
    with ledger.transaction() as db:
        numbers = [add_event(db, "n", {"i": i}, session_id="a" if i % 2 else None) for i in range(10)]
    assert [event.number for event in load_events(ledger, after=numbers[6])] == numbers[7:]
    assert [event.details["i"] for event in load_events(ledger, session_id="a", limit=2)] == [1, 3]
    ledger.db.execute("DELETE FROM events")
    with ledger.transaction() as db:
        assert add_event(db, "n", {}) == numbers[-1] + 1


def test_a_durable_transaction_is_refused_inside_one_that_is_not(tmp_path: Path) -> None:
    """The outer one decides whether it is on disk: the inner one would report what isn't so."""
    ledger = open_ledger(tmp_path)
    with ledger.transaction(durable=True), ledger.transaction(durable=True), ledger.transaction():
        pass
    with pytest.raises(RuntimeError, match="durable"), ledger.transaction(), ledger.transaction(durable=True):
        pass
    with ledger.transaction(), ledger.transaction():
        pass

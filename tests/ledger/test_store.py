"""The ledger's file: many processes, short transactions, errors in a sentence."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest

from remit.errors import StorageError
from remit.ledger import VERSION, Ledger, store
from remit.ledger.events import add_event, follow_events, load_events
from remit.ledger.home import Home
from remit.ledger.journal import FileChange, finish_interrupted, write_together
from tests.support.kill_points import run_and_die

if TYPE_CHECKING:
    from pathlib import Path

WRITING = """
import sys
from remit.ledger.home import Home
from remit.ledger.events import add_event
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


def test_a_new_ledger_has_its_tables_and_its_version(tmp_path: Path) -> None:
    ledger = Home(str(tmp_path)).ledger
    assert ledger.db.execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert ledger.db.execute("SELECT count(*) FROM runs").fetchone() == (0,)
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


OLDER = """
    CREATE TABLE migrations (name TEXT PRIMARY KEY) STRICT;
    CREATE TABLE runs (session_id TEXT PRIMARY KEY, state TEXT NOT NULL, extra TEXT) STRICT, WITHOUT ROWID;
    CREATE TRIGGER first AFTER INSERT ON runs BEGIN INSERT INTO migrations VALUES (new.session_id); END;
    CREATE VIRTUAL TABLE manifest_words USING fts5 (id, content = '');
    INSERT INTO runs VALUES ('sess_1_aaaaaa', 'finished', ''), ('sess_2_aaaaaa', 'running', '');
"""


def make_older(root: Path, *, version: int) -> None:
    """A ledger with other tables than today's."""
    (root / ".remit").mkdir()
    db = sqlite3.connect(root / ".remit" / "ledger.db")
    db.executescript(f"PRAGMA journal_mode = WAL; {OLDER} PRAGMA user_version = {version}")
    db.close()


@pytest.mark.parametrize("version", [0, 1, VERSION - 1])
def test_an_older_ledger_is_kept_and_a_new_one_begun(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[store.OlderLedger] = []
    monkeypatch.setattr(store, "SET_ASIDE", told)
    make_older(tmp_path, version=version)
    ledger = open_ledger(tmp_path)
    assert ledger.db.execute("SELECT count(*), max(root_id) FROM runs").fetchone() == (0, None)
    assert ledger.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert [(event.kind, event.details["open"]) for event in load_events(ledger)] == [("set_aside", 1)]
    kept = tmp_path / ".remit" / f"ledger.version-{version}.db"
    assert told == [(str(kept), version, 1)]
    older = sqlite3.connect(kept)
    assert older.execute("SELECT count(*) FROM runs").fetchone() == (2,)
    assert older.execute("PRAGMA user_version").fetchone() == (version,)
    older.close()
    assert load_events(open_ledger(tmp_path)) == load_events(ledger)  # which has not begun another one


def test_each_older_ledger_is_kept_under_a_name_of_its_own(tmp_path: Path) -> None:
    make_older(tmp_path, version=VERSION - 1)
    other = tmp_path / ".remit" / f"ledger.version-{VERSION - 1}.db"
    other.write_bytes(b"kept before")
    open_ledger(tmp_path)
    assert other.read_bytes() == b"kept before"
    assert len(list((tmp_path / ".remit").glob("ledger.version-*"))) == 2


def test_an_unfinished_change_of_files_outlives_an_older_ledger(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    (tmp_path / "one.md").write_text("one\n")
    (tmp_path / "two.md").write_text("two\n")

    def change() -> None:
        changes = [
            FileChange(name, before, before.upper()) for name, before in (("one.md", b"one\n"), ("two.md", b"two\n"))
        ]
        write_together(Home(str(tmp_path)), changes, kind="upper")

    def is_half_done() -> bool:
        return {(tmp_path / name).read_text().isupper() for name in ("one.md", "two.md")} == {True, False}

    home.close()
    assert any(run_and_die(change, at=step) and is_half_done() for step in range(1, 60))
    db = sqlite3.connect(tmp_path / ".remit" / "ledger.db")
    db.execute("DROP TABLE notes")
    db.execute(f"PRAGMA user_version = {VERSION - 1}")
    db.close()
    finished = finish_interrupted(Home(str(tmp_path)))
    assert finished
    assert all(each.finished for each in finished)
    assert ((tmp_path / "one.md").read_text(), (tmp_path / "two.md").read_text()) == ("ONE\n", "TWO\n")


def test_wherever_keeping_an_older_ledger_is_killed_nothing_of_it_is_lost(tmp_path: Path) -> None:
    fired = 0
    for step in range(1, 90):
        folder = tmp_path / str(step)
        folder.mkdir()
        make_older(folder, version=VERSION - 1)
        killed = run_and_die(partial(open_ledger, folder), at=step)
        fired += killed
        assert [event.kind for event in load_events(open_ledger(folder))] == ["set_aside"]
        for kept in (folder / ".remit").glob("ledger.version-*.db"):
            older = sqlite3.connect(kept)
            assert older.execute("SELECT count(*) FROM runs").fetchone() == (2,)
            older.close()
        assert len(list((folder / ".remit").glob("ledger.version-*.db"))) == 1
        if not killed:
            break
    assert fired >= 8


def test_processes_that_meet_an_older_ledger_at_once_keep_it_once(tmp_path: Path) -> None:
    make_older(tmp_path, version=VERSION - 1)
    write_with_processes(tmp_path, writers=6, count=10)
    assert len(list(follow_events(open_ledger(tmp_path)))) == 61
    assert len(list((tmp_path / ".remit").glob("ledger.version-*"))) == 1


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
    with pytest.raises(StorageError, match="can't be used"):
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

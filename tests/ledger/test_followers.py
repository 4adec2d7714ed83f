"""Followers get each finished run, in batches that stay the same until they are finished."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.ledger import Ledger
from remit.ledger.events import add_event, read_clock_ms
from remit.ledger.followers import PAGE, FinishedBatch, finish_batch, take_batch
from remit.ledger.home import Home
from remit.ledger.retention import delete_old_runs
from remit.ledger.runs import Run, add_run, advance


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(str(tmp_path))
    yield made
    made.close()


def finish(home: Home, *names: str) -> list[str]:
    made = []
    for name in names:
        row = Run(f"sess_1_{name:0>6}", "scout", 1, ("orchestrator", "scout"))
        add_run(home.ledger, row)
        with home.ledger.transaction() as db:
            advance(db, row.session_id, "finished", ended_ms=read_clock_ms(), stop_reason="exited")
        made.append(row.session_id)
    return made


def take(ledger: Ledger, follower: str = "one") -> FinishedBatch | None:
    return take_batch(ledger, follower, since_ms=0)


def list_sessions(batch: FinishedBatch | None) -> list[str]:
    return [] if batch is None else [each.session_id for each in batch.finished]


def test_what_is_finished_is_reported_once(home: Home) -> None:
    made = finish(home, "a", "b")
    batch = take(home.ledger)
    assert batch is not None
    assert list_sessions(batch) == made
    finish_batch(home.ledger, batch)
    assert take(home.ledger) is None
    later = finish(home, "c")
    assert list_sessions(take(home.ledger)) == later


def test_what_is_not_done_with_is_told_again_and_nothing_else(home: Home) -> None:
    finish(home, "a")
    first = take(home.ledger)
    finish(home, "b")
    again = take(home.ledger)
    assert again == first
    assert again is not None
    finish_batch(home.ledger, again)
    after = take(home.ledger)
    assert after is not None
    assert list_sessions(after) == ["sess_1_00000b"]
    assert after.cursor.at_ms == again.until_ms < after.until_ms


def test_each_follower_has_a_cursor(home: Home) -> None:
    finish(home, "a")
    batch = take(home.ledger, "one")
    assert batch is not None
    finish_batch(home.ledger, batch)
    assert take(home.ledger, "one") is None
    assert take(home.ledger, "other") is not None


def test_who_is_new_begins_with_what_comes(home: Home) -> None:
    finish(home, "a")
    assert take_batch(home.ledger, "one", since_ms=read_clock_ms() + 1) is None
    assert take_batch(home.ledger, "one", since_ms=0) is None  # where it began stays where it began
    with home.ledger.transaction() as db:
        add_event(db, "finished", {}, session_id="sess_1_00000b")
    assert list_sessions(take(home.ledger)) == ["sess_1_00000b"]


def test_many_come_in_pages(home: Home) -> None:
    made = finish(home, *map(str, range(PAGE + 7)))
    told = []
    while (batch := take(home.ledger)) is not None:
        assert len(batch.finished) <= PAGE
        told += list_sessions(batch)
        finish_batch(home.ledger, batch)
    assert told == made


def test_what_others_say_is_not_read_again_and_again(home: Home) -> None:
    assert take(home.ledger) is None
    before = home.ledger.get_note("follower one")
    with home.ledger.transaction() as db:
        for _ in range(1200):
            add_event(db, "progress", {}, session_id="sess_1_00000a")
    assert take(home.ledger) is None
    assert home.ledger.get_note("follower one") != before
    assert list_sessions(take(home.ledger)) == []
    made = finish(home, "a")
    assert list_sessions(take(home.ledger)) == made


def test_what_was_forgotten_meanwhile_stops_nobody(home: Home) -> None:
    finish(home, "a")
    assert take(home.ledger) is not None
    with home.ledger.transaction() as db:
        db.execute("UPDATE runs SET created_ms = 1")
    assert delete_old_runs(home, days=1, megabytes=1000).runs == 1
    made = finish(home, "b")
    assert list_sessions(take(home.ledger)) == made


@pytest.mark.parametrize("note", ["", "12", "a b c", "1 2 -3", "1 2 3 4", "\u0661 2 3"])
def test_a_note_that_is_none_begins_anew(home: Home, note: str) -> None:
    made = finish(home, "a")
    home.ledger.set_note("follower one", note)
    assert list_sessions(take(home.ledger)) == made


def test_a_clock_that_is_set_back_makes_no_time_negative(home: Home) -> None:
    finish(home, "a")
    batch = take_batch(home.ledger, "one", since_ms=0)
    assert batch is not None
    ahead = batch._replace(cursor=batch.cursor._replace(at_ms=read_clock_ms() + 3_600_000))
    assert ahead.until_ms == ahead.cursor.at_ms + 1

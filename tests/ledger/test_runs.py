"""Runs, attempts and spills, and how old ones are deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from remit.errors import InputError, StateError, StorageError
from remit.ledger import retention
from remit.ledger.events import add_event, list_acts, load_events, read_clock_ms
from remit.ledger.home import Home
from remit.ledger.hook_runs import HookRun, add_act, add_hook_run
from remit.ledger.retention import DeletedRuns, delete_if_due, delete_old_runs, measure_bytes
from remit.ledger.runs import (
    AttemptRow,
    Run,
    add_run,
    advance,
    list_attempts,
    list_runs,
    load_run,
    record_attempt,
    set_usage,
)
from remit.ledger.texts import find_spill, load_spill, write_spill

if TYPE_CHECKING:
    from pathlib import Path

DAY_MS = 86_400_000


def make(home: Home, name: str, *, parent: str | None = None, root: str = "", days_ago: float = 0) -> Run:
    created = read_clock_ms() - int(days_ago * DAY_MS)
    path = ("orchestrator", "planner")
    return add_run(home.ledger, Run(name, "planner", 1, path, parent_id=parent, root_id=root, created_ms=created))


def finish(home: Home, name: str) -> None:
    with home.ledger.transaction() as db:
        advance(db, name, "finished", verdict="accepted", status="completed")


def test_a_run_is_written_and_found_again(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    row = add_run(
        home.ledger,
        Run("sess_1_abc", "planner", 2, ("a", "b", "planner"), task_number=7, details={"prompt": "Plän"}),
    )
    assert row.root_id == "sess_1_abc"
    assert load_run(home.ledger, "sess_1_abc") == row
    assert load_run(home.ledger, "other") is None
    assert [event.kind for event in load_events(home.ledger)] == ["admitted"]


def test_a_run_goes_one_way_only(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    make(home, "s1")
    with home.ledger.transaction() as db:
        advance(db, "s1", "running", started_ms=5)
    finish(home, "s1")
    found = load_run(home.ledger, "s1")
    assert found is not None
    assert (found.state, found.started_ms, found.status) == ("finished", 5, "completed")
    with pytest.raises(StateError, match="s1 is already finished"):
        finish(home, "s1")
    with pytest.raises(StateError, match=r"isn.t in the ledger"):
        finish(home, "nobody")
    make(home, "s2")
    with pytest.raises(TypeError), home.ledger.transaction() as db:
        advance(db, "s2", "running", agent="other")


def test_what_one_that_runs_has_used_only_grows(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    make(home, "s1")

    def use(tokens: int | None, cost_usd: float | None, turns: int | None) -> tuple[object, ...]:
        with home.ledger.transaction() as db:
            set_usage(db, "s1", tokens=tokens, cost_usd=cost_usd, turns=turns)
        row = load_run(home.ledger, "s1")
        assert row is not None
        return row.tokens, row.cost_usd, row.turns

    assert use(1, 0.5, 1) == (None, None, None)  # it has not begun
    with home.ledger.transaction() as db:
        advance(db, "s1", "running")
    assert use(100, None, 2) == (100, None, 2)
    assert use(None, 0.5, 3) == (100, 0.5, 3)
    assert use(90, 0.25, None) == (100, 0.5, 3)
    with home.ledger.transaction() as db:
        advance(db, "s1", "finished", tokens=80, cost_usd=0.25, turns=2)
    assert use(500, 5.0, 50) == (80, 0.25, 2)


def test_attempts_are_kept_in_their_order(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    make(home, "s1")
    with home.ledger.transaction() as db:
        record_attempt(db, "s1", AttemptRow(2, 20))
        record_attempt(db, "s1", AttemptRow(1, 10, 15, "exited", "invalid", None, [{"code": "RET001"}], {"tokens": 5}))
    assert [each.number for each in list_attempts(home.ledger, "s1")] == [1, 2]
    assert list_attempts(home.ledger, "s1")[0].diagnostics == [{"code": "RET001"}]


def test_lists_are_narrowed_and_paged(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    for number in range(5):
        make(home, f"s{number}", days_ago=5 - number, root="tree" if number % 2 else "")
    finish(home, "s4")
    assert [each.session_id for each in list_runs(home.ledger)] == ["s4", "s3", "s2", "s1", "s0"]
    assert [each.session_id for each in list_runs(home.ledger, only_open=True, limit=2)] == ["s3", "s2"]
    assert [each.session_id for each in list_runs(home.ledger, root_id="tree")] == ["s3", "s1"]


def test_a_spill_is_kept_once_and_read_back_whole(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    name = write_spill(home, b"a long answer", session_id="s1", kind="answer")
    assert write_spill(home, b"a long answer", session_id="s2", kind="answer") == name
    assert load_spill(home, name) == b"a long answer"
    (tmp_path / ".remit" / "spills" / name[:2] / name).write_bytes(b"a long anzwer")
    with pytest.raises(StorageError, match="is damaged"):
        load_spill(home, name)
    with pytest.raises(InputError, match="isn't the name of a spill"):
        load_spill(home, "../../etc/passwd")


def test_what_is_old_and_finished_is_deleted(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    make(home, "old", days_ago=100)
    make(home, "open", days_ago=100)
    make(home, "young", days_ago=1)
    make(home, "parent", days_ago=100)
    make(home, "child", days_ago=99, parent="parent", root="parent")
    for name in ("old", "young", "parent"):
        finish(home, name)
    gone = write_spill(home, b"old", session_id="old", kind="answer")
    shared = write_spill(home, b"shared", session_id="old", kind="answer")
    write_spill(home, b"shared", session_id="young", kind="answer")
    planned = delete_old_runs(home, days=90, megabytes=1000, dry_run=True)
    assert planned.runs == 1
    assert len(list_runs(home.ledger)) == 5
    assert delete_old_runs(home, days=90, megabytes=1000)[:3] == (1, 2, 1)
    assert {each.session_id for each in list_runs(home.ledger)} == {"open", "young", "parent", "child"}
    assert load_spill(home, shared) == b"shared"
    with pytest.raises(InputError):
        load_spill(home, gone)
    finish(home, "child")
    assert delete_old_runs(home, days=90, megabytes=1000).runs == 2
    assert delete_old_runs(home, days=90, megabytes=1000) == DeletedRuns()


def test_who_is_stopped_after_forgetting_has_told_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is gone and told to nobody would be shown by who follows the ledger."""
    home = Home(str(tmp_path))
    make(home, "old", days_ago=100)
    finish(home, "old")
    monkeypatch.setattr(retention, "_delete_loose", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        delete_old_runs(home, days=90, megabytes=1000)
    assert list_runs(home.ledger) == []
    rows = home.ledger.db.execute("SELECT details FROM events WHERE kind = 'forgotten'").fetchall()
    assert [each[0] for each in rows] == ['{"runs":1}']


def test_while_it_is_too_large_the_oldest_are_forgotten(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    for number in range(400):
        make(home, f"s{number:03}", days_ago=10 - number / 100)
        finish(home, f"s{number:03}")
        if number in {0, 399}:
            write_spill(home, b"%d" % number * 1_000_000, session_id=f"s{number:03}", kind="answer")
    make(home, "open", days_ago=50)
    before = measure_bytes(home)
    limit = 3 * 1024 * 1024
    planned = delete_old_runs(home, days=90, megabytes=3, dry_run=True)
    assert measure_bytes(home) == before > limit
    result = delete_old_runs(home, days=90, megabytes=3)
    assert result == planned
    assert result.freed_bytes == before - measure_bytes(home)
    assert limit - 2000 < measure_bytes(home) <= limit, "no more than it takes"
    kept = {each.session_id for each in list_runs(home.ledger, limit=1000)}
    assert kept == {"open", *(f"s{number:03}" for number in range(result.runs, 400))}
    assert len(list((tmp_path / ".remit" / "spills").rglob("?" * 64))) == 1
    assert find_spill(home, "ab" * 32).endswith(f"spills/ab/{'ab' * 32}")


def test_what_belongs_to_no_run_is_deleted_when_it_is_old(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    make(home, "open", days_ago=100)
    for session in (None, "nobody", "open"):
        with home.ledger.transaction() as db:
            add_event(db, "test", {}, session_id=session)
            add_act(db, session_id=session or "x", path="a.md", operation="write")
            db.execute("UPDATE events SET at_ms = at_ms - ?", (100 * DAY_MS,))
            db.execute("UPDATE activity SET at_ms = at_ms - ?", (100 * DAY_MS,))
    lost = write_spill(home, b"lost", session_id="nobody", kind="answer")
    with home.ledger.transaction() as db:
        db.execute("UPDATE spills SET created_ms = created_ms - ?", (100 * DAY_MS,))
    assert delete_old_runs(home, days=90, megabytes=1, dry_run=True)[:3] == (0, 2, 1)
    assert delete_old_runs(home, days=90, megabytes=1)[:3] == (0, 2, 1)
    assert {event.session_id for event in load_events(home.ledger)} == {"open"}
    assert list_acts(home.ledger, "nobody") == []
    assert len(list_acts(home.ledger, "open")) == 1
    with pytest.raises(InputError):
        load_spill(home, lost)


def test_notes_of_hooks_go_with_the_runs_and_sessions_that_they_are_about(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    for name, days_ago in (("old", 100), ("young", 1)):
        make(home, name, days_ago=days_ago)
        with home.ledger.transaction() as db:
            add_hook_run(db, HookRun(name, "claude", f"harness-{name}", "worker"))
        finish(home, name)
    of_runs = ("command {} call", "instructions {}", "kept {} call", "names {}", "names {} call")
    of_sessions = ("doing harness-{} ", "doing harness-{} {}", "message harness-{}  {}", "user harness-{}")
    others = {"kept ", "roster", "follower otlp", "focus"}
    for note in (*(form.format(name, name) for form in (*of_runs, *of_sessions) for name in ("old", "young")), *others):
        home.ledger.set_note(note, "1")
    assert delete_old_runs(home, days=90, megabytes=1000, dry_run=True).runs == 1
    assert home.ledger.db.execute("SELECT count(*) FROM notes").fetchone() == (22,)
    assert delete_old_runs(home, days=90, megabytes=1000).runs == 1
    left = {name for (name,) in home.ledger.db.execute("SELECT name FROM notes")}
    assert left == {form.format("young", "young") for form in (*of_runs, *of_sessions)} | others | {"last gc"}


def test_events_of_nobody_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "MAX_LOOSE_EVENTS", 10)
    home = Home(str(tmp_path))
    with home.ledger.transaction() as db:
        for _ in range(25):
            add_event(db, "test", {})
    assert delete_old_runs(home, days=90, megabytes=1).events == 15
    assert [event.number for event in load_events(home.ledger)] == list(range(16, 26))


def test_it_is_done_by_itself_once_a_day(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    make(home, "old", days_ago=100)
    finish(home, "old")
    assert delete_if_due(home, days=90, megabytes=1).runs == 1
    make(home, "older", days_ago=100)
    finish(home, "older")
    assert delete_if_due(home, days=90, megabytes=1).runs == 0
    home.ledger.set_note("last gc", str(read_clock_ms() - 2 * DAY_MS))
    assert delete_if_due(home, days=90, megabytes=1).runs == 1

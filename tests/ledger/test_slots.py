"""Slots are counted among the unfinished runs, whatever the number of finished ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from remit.ledger import slots
from remit.ledger.events import add_event
from remit.ledger.home import Home
from remit.ledger.runs import REMOTE_OWNER, Run, add_run, advance, list_runs
from remit.ledger.slots import Slots, list_cancelled, list_waiting_elsewhere, take_slot

if TYPE_CHECKING:
    from pathlib import Path


def admit(home: Home, name: str, *, parent: str | None = None, awaited: bool = False) -> Run:
    row = Run(name, "worker", 1, ("orchestrator", "worker"), parent_id=parent, root_id=parent or "", awaited=awaited)
    return add_run(home.ledger, row)


@pytest.mark.parametrize("query", [slots._HOLDERS, slots._CANCELLED])  # noqa: SLF001 - how they are worded decides
def test_only_open_ones_are_looked_at(tmp_path: Path, query: str) -> None:
    home = Home(str(tmp_path))
    plan = home.ledger.db.execute(f"EXPLAIN QUERY PLAN {query}", {"agent": "worker", "root": "one"}).fetchall()
    assert "runs_open" in plan[0][3]
    assert not any(step[3].startswith("SCAN") for step in plan)


def test_the_limit_that_is_reached_is_named(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    rows = [admit(home, "one"), admit(home, "two")]
    with home.ledger.transaction() as db:
        assert take_slot(db, rows[0], Slots(1, 1, 1), deadline_ms=1) is None
        assert take_slot(db, rows[1], Slots(running=1), deadline_ms=1) == "running"
        assert take_slot(db, rows[1], Slots(per_agent=1), deadline_ms=1) == "agent worker"
        assert take_slot(db, rows[1], Slots(per_tree=1), deadline_ms=1) is None


def test_who_waits_for_a_child_holds_no_slot(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    parent = admit(home, "one")
    with home.ledger.transaction() as db:
        assert take_slot(db, parent, Slots(1), deadline_ms=1) is None
    child = admit(home, "two", parent="one", awaited=True)
    with home.ledger.transaction() as db:
        assert take_slot(db, child, Slots(1), deadline_ms=1) is None
        assert take_slot(db, child._replace(session_id="three"), Slots(1), deadline_ms=1) == "running"
        advance(db, "two", "finished")
        assert take_slot(db, child._replace(session_id="three"), Slots(1), deadline_ms=1) == "running"


def test_only_who_has_not_begun_is_unwanted(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    rows = [admit(home, name) for name in ("one", "two", "three")]
    with home.ledger.transaction() as db:
        take_slot(db, rows[0], Slots(), deadline_ms=1)
        for row in rows[:2]:
            add_event(db, "cancel", {}, session_id=row.session_id)
        assert list_cancelled(db) == {"two"}


def test_open_ones_come_newest_first_and_without_a_look_at_the_others(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    for place, name in enumerate(("old", "middle", "new")):
        row = Run(name, "worker", 1, ("orchestrator", "worker"), created_ms=1000 + place)
        add_run(home.ledger, row)
    with home.ledger.transaction() as db:
        advance(db, "middle", "finished")
    said: list[str] = []
    home.ledger.db.set_trace_callback(said.append)
    assert [row.session_id for row in list_runs(home.ledger, only_open=True)] == ["new", "old"]
    home.ledger.db.set_trace_callback(None)
    plan = home.ledger.db.execute(f"EXPLAIN QUERY PLAN {said[-1]}").fetchall()
    assert "runs_open" in plan[0][3]


def test_runs_of_other_machines_are_not_ahead_in_this_machines_line(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    for name, owner in (("one", "own"), ("two", "neighbor"), ("three", REMOTE_OWNER)):
        row = Run(name, "worker", 1, ("orchestrator", "worker"), created_ms=len(name), owner=owner)
        add_run(home.ledger, row)
    with home.ledger.reading() as db:
        assert list_waiting_elsewhere(db, "own") == [3]

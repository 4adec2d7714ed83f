"""Lineage: what is used anywhere below counts, and limits hold for a whole tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from remit.errors import RefusedError
from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run, advance
from remit.runners import Usage
from remit.runs.admission.limits import Budget
from remit.runs.admission.run_tree import RunTree, load_tree

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path))


def add(home: Home, session_id: str, parent: Run | None = None, **given: Any) -> Run:  # noqa: ANN401
    """A session that runs, below another or on its own."""
    row = Run(
        session_id,
        session_id.upper(),
        parent.depth + 1 if parent else 1,
        (*(parent.path if parent else ("orchestrator",)), session_id),
        parent_id=parent.session_id if parent else None,
        root_id=parent.root_id if parent else session_id,
        details={"budget": given.pop("budget", {})},
    )
    row = add_run(home.ledger, row._replace(**given))
    with home.ledger.transaction() as db:
        advance(db, session_id, "running", started_ms=1)
    return row


def look(home: Home, session_id: str) -> RunTree:
    tree = load_tree(home, session_id=session_id)
    assert tree is not None
    return tree


def test_what_a_sibling_uses_is_missing_at_the_root(home: Home) -> None:
    """Two that were each given all that was left stop when both together have used it."""
    root = add(home, "a", budget={"max_tokens": 1000}, tokens=100)
    add(home, "b", root, budget={"max_tokens": 900}, tokens=500)
    assert look(home, "b").find_left() == Budget(max_tokens=400)
    add(home, "c", root, budget={"max_tokens": 900}, tokens=400)
    assert look(home, "b").find_left() == Budget(max_tokens=0)
    assert look(home, "b").describe_exhausted() == snapshot(
        "max_tokens of A is 1,000, and it and its nested runs used 1,000"
    )


def test_what_was_heard_since_counts_and_nothing_becomes_less(home: Home) -> None:
    add(home, "a", budget={"max_tokens": 1000, "max_usd": 1.0, "max_turns": 9}, tokens=300, cost_usd=0.5, turns=3)
    tree = look(home, "a")
    assert tree.find_left({"a": Usage(500, 100, 2, 0.25)}) == Budget(max_tokens=400, max_usd=0.5, max_turns=6)
    assert tree.find_left({"a": Usage(), "x": Usage(999, 0)}) == tree.find_left() == Budget(None, 6, 700, 0.5)


@pytest.mark.parametrize(
    ("budget", "used", "told"),
    [
        ({"max_tokens": 1000}, {"tokens": 1400}, "max_tokens of A is 1,000, and it used 1,400"),
        ({"max_turns": 3}, {"turns": 3}, "max_turns of A is 3, and it used 3"),
        ({"max_usd": 0.5}, {"cost_usd": 0.75, "tokens": 7}, "max_usd of A is 0.5, and it used 0.75"),
        ({"max_usd": 0.5, "max_delegations": 0}, {"cost_usd": 0.25}, ""),
        ({}, {"tokens": 10**9}, ""),
    ],
)
def test_it_is_told_whose_limit_is_used_up(home: Home, budget: Any, used: Any, told: str) -> None:  # noqa: ANN401 - a few of them
    add(home, "a", budget=budget, **used)
    assert look(home, "a").describe_exhausted() == told


def test_a_turn_can_be_spared_for_whoever_is_at_it(home: Home) -> None:
    root = add(home, "a", budget={"max_turns": 5}, turns=3)
    add(home, "b", root, budget={"max_turns": 2}, turns=2)
    assert look(home, "b").find_left().max_turns == 0
    assert look(home, "b").find_left(spare_turns=1).max_turns == 1


def test_somebody_below_is_open_until_it_is_settled(home: Home) -> None:
    root = add(home, "a")
    assert not look(home, "a").has_open_below()
    add(home, "b", root)
    assert look(home, "a").has_open_below()
    assert not look(home, "b").has_open_below()
    with home.ledger.transaction() as db:
        advance(db, "b", "finished")
    assert not look(home, "a").has_open_below()


def test_only_a_limit_that_work_uses_up_is_one_to_look_for(home: Home) -> None:
    root = add(home, "a", budget={"max_seconds": 60, "max_delegations": 3})
    assert not look(home, "a").is_limited()
    child = add(home, "b", root, budget={"max_usd": 1.0})
    add(home, "c", child)
    assert look(home, "c").is_limited()


def test_nobody_and_a_line_with_a_gap(home: Home) -> None:
    assert load_tree(home, session_id="a") is None
    add(home, "a")
    assert load_tree(home, session_id="b") is None
    assert load_tree(home, ticket="a") is None
    with home.ledger.transaction() as db:
        db.execute("UPDATE runs SET parent_id = 'x' WHERE session_id = 'a'")
    with pytest.raises(RefusedError, match="an ancestor of a"):
        load_tree(home, session_id="a")

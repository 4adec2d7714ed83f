"""Compliance: every settled delegation is in exactly one class."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import pytest

from remit.errors import UsageError
from remit.schemas import ComplianceCountsObject
from remit.validation import list_fields
from remit.views.compliance import load_compliance
from tests.support.ledger_rows import Kept, answer, insert, make_repository, opened, run

if TYPE_CHECKING:
    from pathlib import Path

DAY_MS = 24 * 60 * 60 * 1000
OUTCOMES = (
    None, "accepted", "repaired", "missing", "malformed", "invalid", "ambiguous", "degenerate", "fabricated",
    "unproven",
)  # fmt: skip
ENDINGS = (None, "exited", "timeout", "cancelled", "crashed", "refused", "orphaned", "budget")

CLASSES = {*list_fields(ComplianceCountsObject)} - {"total"}


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def count(root: Path, **asked: Any) -> dict[str, int]:  # noqa: ANN401 - days and agent
    """The classes that have any, over all agents."""
    with opened(root) as home:
        total = load_compliance(home, **asked)["total"]
    return {name: number for name, number in total.items() if name in CLASSES and isinstance(number, int) and number}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (Kept(0, attempts=("accepted",)), "at_once"),
        (Kept(0, verdict="repaired", attempts=("repaired",)), "repaired"),
        (Kept(0, attempts=("invalid", "accepted")), "reasked"),
        (Kept(0, verdict="repaired", attempts=("missing", "repaired")), "reasked"),
        (Kept(0, verdict="invalid", status="failed", attempts=("invalid", "invalid")), "rejected"),
        (Kept(0, verdict="missing", status="failed", attempts=("missing",)), "rejected"),
        (Kept(0, verdict="fabricated", status="failed", attempts=("fabricated",)), "false_claim"),
        (Kept(0, attempts=("fabricated", "accepted")), "false_claim"),
        (Kept(0, stop_reason="timeout", verdict="fabricated", attempts=("fabricated",)), "false_claim"),
        (Kept(0, verdict="unproven", status="partial", attempts=("unproven",)), "unproven"),
        (Kept(0, verdict="unproven", status="partial", attempts=("invalid", "unproven")), "unproven"),
        (Kept(0, stop_reason="timeout", verdict="unproven", status="partial", attempts=("unproven",)), "timed_out"),
        (Kept(0, stop_reason="timeout", verdict=None, status="partial", attempts=(None,)), "timed_out"),
        (Kept(0, stop_reason="timeout", status="partial", attempts=("accepted",)), "timed_out"),
        (Kept(0, stop_reason="cancelled", verdict=None, attempts=(None,)), "cancelled"),
        (Kept(0, stop_reason="crashed", verdict="missing", attempts=("missing",)), "other"),
        (Kept(0, stop_reason="budget", verdict=None), "other"),
        (Kept(0, stop_reason="exited", verdict=None), "other"),
    ],
)
def test_a_delegation_is_in_its_class(root: Path, kept: Kept, expected: str) -> None:
    with opened(root) as home:
        insert(home, kept._replace(created_ms=now_ms() - 1000))
    assert count(root) == {expected: 1}


def test_each_is_in_exactly_one_class_however_it_ended(root: Path) -> None:
    made = [
        Kept(number, verdict=verdict, stop_reason=stop_reason, attempts=attempts, created_ms=now_ms() - 1000)
        for number, (verdict, stop_reason, attempts) in enumerate(
            itertools.product(OUTCOMES, ENDINGS, [(), (None,), ("accepted",), ("invalid", "accepted")])
        )
    ]
    with opened(root) as home:
        insert(home, *made)
        found = load_compliance(home)
    assert found["total"]["total"] == len(made)
    assert sum(number for name, number in found["total"].items() if name in CLASSES and isinstance(number, int)) == len(
        made
    )
    assert sum(day["total"] for day in found["days"]) == len(made)


def test_what_is_open_is_in_no_class(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0, state="running", created_ms=now_ms()))
    assert count(root) == {}


def test_it_is_counted_by_agent_and_by_day(root: Path) -> None:
    now = now_ms()
    with opened(root) as home:
        insert(
            home,
            Kept(0, agent="a", created_ms=now - 1000),
            Kept(1, agent="a", created_ms=now - 3 * DAY_MS, verdict="repaired"),
            Kept(2, agent="b", created_ms=now - 3 * DAY_MS, attempts=("fabricated",)),
            Kept(3, agent="b", created_ms=now - 40 * DAY_MS),
        )
        found = load_compliance(home)
        assert [
            (row["agent"], row["total"], row["at_once"], row["repaired"], row["false_claim"]) for row in found["agents"]
        ] == [
            ("a", 2, 1, 1, 0),
            ("b", 1, 0, 0, 1),
        ]
        assert len(found["days"]) == 30
        assert [day["total"] for day in found["days"]][-4:] == [2, 0, 0, 1]
        assert found["days"][-1]["day"] == time.strftime("%Y-%m-%d")
        assert load_compliance(home, days=60)["total"]["total"] == 4
        assert [row["agent"] for row in load_compliance(home, agent="b")["agents"]] == ["b"]
        assert load_compliance(home, days=1)["total"]["total"] == 1
    row = found["agents"][0]
    assert (row["median_ms"], row["tokens"], row["cost_usd"]) == (100, 200, 1.0)


@pytest.mark.parametrize("days", [0, 367, -1])
def test_days_have_bounds(root: Path, days: int) -> None:
    with opened(root) as home, pytest.raises(UsageError, match="days"):
        load_compliance(home, days=days)


def test_where_nothing_was_delegated_all_is_zero(root: Path) -> None:
    assert count(root) == {}


@pytest.mark.slow
def test_agents_that_really_ran_are_counted(root: Path) -> None:
    make_repository(root, **{"there.md": "old\n"})
    run(root, f"echo 1 > made.md; {answer('made.md')}")
    run(root, f"echo 2 > made.md; {answer('made.md', end=',}')}")
    run(root, answer("nowhere.md"), reasks=0)
    run(root, "echo no return", reasks=0)
    run(root, "sleep 30", timeout_s=1)
    assert count(root) == {"at_once": 1, "repaired": 1, "false_claim": 1, "rejected": 1, "timed_out": 1}


def test_what_a_caller_did_not_have_to_read_is_estimated(root: Path) -> None:
    make_repository(root)
    run(root, f"seq 1 10000; echo x > made.md; {answer('made.md')}")
    with opened(root) as home:
        found = load_compliance(home)
    kept_out = found["total"]["kept_out_tokens"]
    assert found["kept_out_estimated"] is True
    assert 48_894 // 4 - 400 <= kept_out <= 60_000 // 4  # what `seq` prints, without the result

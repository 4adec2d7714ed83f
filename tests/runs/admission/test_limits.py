"""Limits: budgets get smaller on the way down, and nothing runs without a timeout."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import UsageError
from remit.runners.registry import get_runner
from remit.runs.admission.limits import (
    Budget,
    SpentBudget,
    check_budget,
    check_limits,
    check_timeout,
    clamp,
    find_exhausted,
    find_timeout,
    left,
    read_budget,
)

HUGE = 10**5000
"""More digits than Python prints."""
COUNTS = st.none() | st.integers(0, 50)
AMOUNTS = st.none() | st.floats(0, 50)
BUDGETS = st.builds(Budget, AMOUNTS, COUNTS, COUNTS, AMOUNTS, COUNTS)
SPENT = st.builds(SpentBudget, st.integers(0, 80), st.floats(0, 80), st.integers(0, 80), st.integers(0, 80))


def spell(value: object) -> str:
    return "huge" if value == HUGE else str(value)


def is_within(small: Budget, large: Budget) -> bool:
    """Whether no limit of one is wider than that of another."""
    pairs = zip(small, large, strict=True)
    return all(most is None or (limit is not None and limit <= most) for limit, most in pairs)


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        ("research", 3600),
        ("planning", 1800),
        ("implementation", 7200),
        ("utility", 300),
        ("simple", 300),
        ("review", 3600),
        ("gardening", 3600),
        ("", 3600),
        (None, 3600),
    ],
)
def test_each_kind_has_its_time(kind: str | None, seconds: int) -> None:
    """R2.6."""
    assert find_timeout(kind) == seconds
    assert check_timeout(find_timeout(kind)) == seconds


@pytest.mark.parametrize(
    "seconds",
    [0, -1, -0.0, float("nan"), float("inf"), float("-inf"), 10**10, HUGE, True, "60", None],
    ids=spell,
)
def test_no_time_is_unlimited(seconds: object) -> None:
    """R2.6."""
    with pytest.raises(UsageError, match="the timeout cannot be") as caught:
        check_timeout(seconds)
    assert "more than 0" in caught.value.hint
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("seconds", [0.01, 1, 300, 10**9])
def test_a_time_that_ends_is_taken(seconds: float) -> None:
    assert check_timeout(seconds) == seconds


@pytest.mark.parametrize(
    ("budget", "name"),
    [
        (Budget(max_seconds=0), "max_seconds"),
        (Budget(max_seconds=float("nan")), "max_seconds"),
        (Budget(max_turns=0), "max_turns"),
        (Budget(max_turns=-3), "max_turns"),
        (Budget(max_turns=True), "max_turns"),
        (Budget(max_tokens=1.5), "max_tokens"),  # type: ignore[arg-type]
        (Budget(max_tokens=HUGE), "max_tokens"),
        (Budget(max_usd=0), "max_usd"),
        (Budget(max_usd=float("nan")), "max_usd"),
        (Budget(max_usd=float("inf")), "max_usd"),
        (Budget(max_usd=True), "max_usd"),
        (Budget(max_usd="1"), "max_usd"),  # type: ignore[arg-type]
        (Budget(max_delegations=-1), "max_delegations"),
    ],
)
def test_a_limit_that_cannot_be_counted_is_told(budget: Budget, name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} cannot be") as caught:
        check_budget(budget)
    assert caught.value.hint


def test_a_budget_is_kept_and_read_again() -> None:
    budget = Budget(60, 5, 10_000, 0.25, 0)
    kept = json.loads(json.dumps(budget._asdict() | {"max_smiles": 3}))
    assert read_budget(kept) == budget
    assert read_budget({}) == Budget()
    with pytest.raises(UsageError):
        read_budget({"max_tokens": float("nan")})


def test_the_smaller_of_each_limit_holds() -> None:
    one, other = Budget(60, None, 100, 0.5, 3), Budget(90, 4, 50, None, 3)
    assert clamp(one, other) == clamp(other, one) == Budget(60, 4, 50, 0.5, 3)
    assert clamp(one, other, Budget(max_usd=0.1)) == Budget(60, 4, 50, 0.1, 3)
    assert clamp(one) == one
    assert clamp(Budget(), Budget()) == Budget()


@given(budgets=st.lists(BUDGETS, min_size=1, max_size=4))
def test_a_clamped_budget_is_within_each(budgets: list[Budget]) -> None:
    clamped = clamp(*budgets)
    assert all(is_within(clamped, budget) for budget in budgets)
    assert all(limit in column for limit, *column in zip(clamped, *budgets, strict=True))
    assert clamp(clamped, *budgets) == clamped


@given(budget=BUDGETS, spent=SPENT)
def test_what_is_left_is_within_the_budget_and_never_negative(budget: Budget, spent: SpentBudget) -> None:
    rest = left(budget, spent)
    assert is_within(rest, budget)
    assert all(limit is None or limit >= 0 for limit in rest)
    assert left(budget, SpentBudget()) == budget


def test_what_was_spent_is_taken_from_its_own_limit() -> None:
    budget = Budget(60, 10, 100, 1.0, 5)
    assert left(budget, SpentBudget(tokens=30, usd=0.25, turns=4, runs=2)) == Budget(60, 6, 70, 0.75, 3)
    assert left(budget, SpentBudget(10**9, 1e9, 10**9, 10**9)) == Budget(60, 0, 0, 0.0, 0)
    assert left(Budget(), SpentBudget(5, 5.0, 5, 5)) == Budget()


def test_cents_that_only_binary_has_left_are_none() -> None:
    spent = sum([0.1] * 10)
    assert spent < 1.0
    assert left(Budget(max_usd=1.0), SpentBudget(usd=spent)).max_usd == 0
    assert left(Budget(max_usd=1.0), SpentBudget(usd=0.99)).max_usd == pytest.approx(0.01)


@pytest.mark.parametrize("name", Budget._fields)
def test_the_limit_that_is_used_up_is_named(name: str) -> None:
    none_left: dict[str, Any] = {name: 0}
    told = find_exhausted(Budget(1, 1, 1, 0.01, 1)._replace(**none_left))
    assert told is not None
    assert name in told
    assert not [other for other in Budget._fields if other != name and other in told]


def test_nothing_is_used_up_where_there_is_something_left() -> None:
    assert find_exhausted(Budget()) is None
    assert find_exhausted(Budget(0.1, 1, 1, 0.001, 1)) is None


@given(budget=BUDGETS, steps=st.lists(SPENT, max_size=6))
def test_a_budget_only_shrinks(budget: Budget, steps: list[SpentBudget]) -> None:
    line = [budget]
    for spent in steps:
        line.append(left(line[-1], spent))
    assert all(is_within(after, before) for before, after in pairwise(line))


# --- limits that cannot be held --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("runner", "hands_on", "told"),
    [
        ("command", False, {"max_turns": "BUD001", "max_tokens": "BUD001", "max_usd": "BUD001"}),
        ("python", True, {"max_turns": "BUD001", "max_tokens": "BUD001", "max_usd": "BUD001"}),
        ("gemini", False, {"max_turns": "BUD001", "max_tokens": "BUD002", "max_usd": "BUD001"}),
        ("codex", True, {"max_tokens": "BUD002", "max_usd": "BUD001"}),
        ("claude", False, {}),
        ("claude", True, {"max_usd": "BUD003"}),
        ("opencode", True, {}),
    ],
)
def test_limits_that_a_runner_gives_no_means_to_hold_are_told(
    runner: str, told: dict[str, str], *, hands_on: bool
) -> None:
    def check(budget: Budget) -> dict[str, str]:
        found = check_limits(budget, get_runner(runner), name=runner, may_call=hands_on)
        assert all(finding.severity == "warning" and f"'{runner}'" in finding.message for finding in found)
        return {finding.message.partition(" ")[0]: finding.code for finding in found}

    assert check(Budget(60, 5, 1000, 1.0, 3)) == told
    assert check(Budget(max_seconds=60, max_delegations=3)) == {}
    for name, code in told.items():
        assert check(Budget(**{name: 1})) == {name: code}

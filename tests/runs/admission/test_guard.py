"""The guard: every graph of few agents, very many of more, and each refusal with what to do next."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from remit.errors import RefusedError, UsageError
from remit.runs.admission.guard import Admission, Caller, admit, fold, make_session_id
from remit.runs.admission.limits import Budget
from tests.support.run_graphs import (
    NOW_MS,
    Edges,
    become_caller,
    check_graph,
    make_chance,
    walk,
    walk_at_random,
)
from tests.support.sample_sizes import choose

if TYPE_CHECKING:
    from collections.abc import Iterator

HOUR_MS = 3_600_000
WIDE = "".join(chr(ord(letter) + 0xFEE0) for letter in "planner")
"""The same letters, as East Asian screens space them."""


def make_caller(*path: str, may_call: tuple[str, ...] = ("*",), **changes: object) -> Caller:
    """An agent at the end of a path below the orchestrator."""
    agents = path or ("a",)
    caller = Caller("s1", "s0", agents[-1], len(agents), ("orchestrator", *agents), NOW_MS + HOUR_MS, may_call)
    return caller._replace(**changes)  # type: ignore[arg-type]


def ask(agent: str, caller: Caller | None = None, *, max_depth: int = 3, **changes: object) -> Admission:
    limits = {"timeout_s": 600.0} | changes
    return admit(agent, caller, session_id="s2", now_ms=NOW_MS, max_depth=max_depth, **limits)  # type: ignore[arg-type]


def get_refusal(agent: str, caller: Caller | None = None, *, max_depth: int = 3, **changes: object) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        ask(agent, caller, max_depth=max_depth, **changes)
    assert caught.value.hint
    return caught.value


# --- all graphs ------------------------------------------------------------------------------------------------------


def enumerate_graphs(agents: str) -> Iterator[Edges]:
    """Every way in which agents may call each other; itself each may always call, as far as its file goes."""
    pairs = [*permutations(agents, 2)]
    selves = {(agent, agent) for agent in agents}
    for chosen in product((False, True), repeat=len(pairs)):
        yield frozenset(selves.union(pair for pair, is_edge in zip(pairs, chosen, strict=True) if is_edge))


def test_every_graph_of_up_to_three_agents() -> None:
    """R2.3, R2.5, C7, C8."""
    counts = {
        agents: [check_graph(agents, edges) for edges in enumerate_graphs(agents)] for agents in ("a", "ab", "abc")
    }
    assert [len(each) for each in counts.values()] == [1, 4, 64]
    assert (sum(counts["ab"]), max(counts["abc"])) == (0, 6)


@pytest.mark.slow
@pytest.mark.thorough
def test_every_graph_of_four_agents() -> None:
    """R2.3, R2.5, C7, C8."""
    counts = [check_graph("abcd", edges) for edges in enumerate_graphs("abcd")]
    assert (len(counts), max(counts)) == (4096, 24)


def test_in_a_complete_graph_the_fourth_is_always_refused() -> None:
    """C7: depth 3 is allowed, depth 4 is not, whoever asks for whom."""
    agents = "abcde"
    admitted, refused = walk(agents, frozenset(product(agents, agents)))
    assert {len(path) for path in admitted} == {1, 2, 3}
    fourths = {path: code for path, code in refused.items() if len(path) == 4}
    assert len(fourths) == 5 * 4 * 3 * 5
    assert set(fourths.values()) == {"MAX_DEPTH_EXCEEDED"}


# --- many random ones ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [3_000, pytest.param(choose(10_000, 100_000), marks=pytest.mark.slow)])
@pytest.mark.thorough
def test_random_walks_on_up_to_eight_agents(count: int) -> None:
    """R2.3, R2.5, C7, C8; budgets never grow on the way down, and no deadline is later than the parent's."""
    chance, tally = make_chance(count), dict[str, int]()
    for _ in range(count):
        walk_at_random(chance, tally)
    refusals = {"REFUSED", "CYCLE_DETECTED", "MAX_DEPTH_EXCEEDED", "BUDGET_EXCEEDED", "TIMEOUT"}
    assert tally.keys() == refusals | {"depth 1", "depth 2", "depth 3"}
    assert min(tally.values()) >= count // 100
    assert sum(tally.values()) == 5 * count


# --- who is admitted -------------------------------------------------------------------------------------------------


def test_a_persons_own_run_is_the_first_of_its_tree() -> None:
    found = ask("planner", known=frozenset({"planner"}), budget=Budget(max_usd=1.0))
    assert found == Admission(
        "s2", None, "s2", "planner", 1, ("orchestrator", "planner"), 600.0, NOW_MS + 600_000, Budget(max_usd=1.0)
    )


def test_a_child_has_a_session_of_its_own_with_the_parents_beside_it() -> None:
    """C20, R1.26."""
    found = ask("b", make_caller("a"))
    assert (found.session_id, found.parent_id, found.root_id) == ("s2", "s1", "s0")
    assert (found.depth, found.path) == (2, ("orchestrator", "a", "b"))


def test_without_an_agent_file_any_name_will_do() -> None:
    assert ask("command").agent == "command"
    assert get_refusal("command", known=frozenset({"a"})).code == "REFUSED"


# --- depth -----------------------------------------------------------------------------------------------------------


def test_depth_three_is_allowed_and_four_is_refused() -> None:
    """C7."""
    assert ask("c", make_caller("a", "b")).depth == 3
    refusal = get_refusal("d", make_caller("a", "b", "c"))
    assert refusal.code == "MAX_DEPTH_EXCEEDED"
    assert refusal.message == snapshot("orchestrator → a → b → c → d would be depth 4, and 3 is the limit")
    assert refusal.data == {"depth": 4, "max_depth": 3}


@pytest.mark.parametrize("own", [3, 4, 100])
def test_no_file_and_no_setting_allows_more_than_three(own: int) -> None:
    """R1.28."""
    assert get_refusal("d", make_caller("a", "b", "c", max_depth=own), max_depth=own).code == "MAX_DEPTH_EXCEEDED"


@pytest.mark.parametrize(("own", "setting"), [(1, 3), (3, 1), (0, 3), (-5, 3)])
def test_a_smaller_depth_narrows(own: int, setting: int) -> None:
    refusal = get_refusal("b", make_caller("a", max_depth=own), max_depth=setting)
    assert refusal.code == "MAX_DEPTH_EXCEEDED"
    assert refusal.message.endswith("1 is the limit" if setting == 1 else f"an agent on the way allows {max(own, 0)}")
    assert ask("b", make_caller("a", max_depth=2), max_depth=2).depth == 2


# --- cycles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "agent", "circle"),
    [
        (("a",), "a", "a → a"),
        (("a", "b"), "a", "a → b → a"),
        (("x", "a"), "a", "a → a"),
        (("planner",), "Planner", "planner → Planner"),
        (("planner",), " planner ", "planner →  planner "),
        (("planner",), WIDE, f"planner → {WIDE}"),
        (("Straße",), "STRASSE", "Straße → STRASSE"),
        (("é",), "e\u0301", "é → e\u0301"),
        (("ﬁnder",), "Finder", "ﬁnder → Finder"),
    ],
)
def test_an_ancestor_is_not_called_again_however_it_is_spelled(path: tuple[str, ...], agent: str, circle: str) -> None:
    """R2.5, R1.27."""
    refusal = get_refusal(agent, make_caller(*path), known=frozenset({*path, agent}))
    assert (refusal.code, refusal.message) == ("CYCLE_DETECTED", f"{circle} is a cycle")
    assert refusal.data == {"path": ["orchestrator", *path, agent]}


@pytest.mark.parametrize("caller", [None, make_caller("a")])
def test_nobody_calls_the_orchestrator(caller: Caller | None) -> None:
    refusal = get_refusal("Orchestrator", caller)
    assert refusal.code == "CYCLE_DETECTED"
    assert "rename the agent" in refusal.hint


def test_a_name_is_like_itself_only() -> None:
    assert fold("planner-2") != fold("planner")
    assert fold("plan ner") != fold("planner")
    assert fold(fold("ﬁnder İ")) == fold("ﬁnder İ")


# --- who exists, and who may be called -------------------------------------------------------------------------------


def test_an_unknown_agent_is_refused_with_the_one_that_was_meant() -> None:
    refusal = get_refusal("resercher", known=frozenset({"researcher", "planner"}))
    assert (refusal.code, str(refusal)) == (
        "REFUSED",
        "there is no agent 'resercher'; did you mean 'researcher'?",
    )


def test_names_are_told_apart_by_case() -> None:
    assert get_refusal("Planner", known=frozenset({"planner"})).hint == snapshot("did you mean 'planner'?")
    assert get_refusal("Planner", make_caller(may_call=("planner",))).code == "REFUSED"


def test_of_many_agents_some_are_listed() -> None:
    hint = get_refusal("zzzzzzz", known=frozenset(f"agent-{number:02}" for number in range(40))).hint
    assert hint.startswith("available: agent-00, agent-01, ")
    assert hint.endswith("agent-11 and 28 more")
    assert "remit agent new" in get_refusal("zzzzzzz", known=frozenset()).hint


def test_an_agent_calls_only_those_it_may() -> None:
    caller = make_caller("a", may_call=("b", "helper-*", "status-sync-manager"))
    assert ask("b", caller).agent == "b"
    assert ask("helper-1", caller).agent == "helper-1"
    refusal = get_refusal("c", caller)
    assert (refusal.code, refusal.message) == ("REFUSED", snapshot("'a' may not call 'c'"))
    assert "b, helper-*, status-sync-manager;" in refusal.hint
    assert "no agent" in get_refusal("c", make_caller("a", may_call=())).hint


@pytest.mark.parametrize(
    ("pattern", "fitting", "other"),
    [
        ("*", ["b", "x y"], []),
        ("a-*", ["a-", "a-b", "a-b-c"], ["b-a-", "a", "A-b"]),
        ("*-a", ["-a", "b-a"], ["a", "b-a-b"]),
        ("a*a", ["aa", "aba"], ["a", "ab"]),
        ("x*b*c*y", ["xbcy", "x1b2c3y"], ["xcby", "xby", "xbc"]),
        ("x*b*b*y", ["xbby", "xb-by"], ["xby"]),
        ("**b", ["b", "ab"], ["a"]),
        ("a.c", ["a.c"], ["abc"]),
        ("a?c", ["a?c"], ["abc"]),
    ],
)
def test_a_star_stands_for_any_letters(pattern: str, fitting: list[str], other: list[str]) -> None:
    caller = make_caller("caller", may_call=(pattern,))
    assert [ask(name, caller).agent for name in fitting] == fitting
    assert [get_refusal(name, caller).code for name in other] == ["REFUSED"] * len(other)


@pytest.mark.parametrize("agent", ["", "  ", "a\nb", "a\x1b[31m", "a\u200b", "\ud800", "x" * 201])
def test_what_cannot_be_a_name_is_none(agent: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask(agent, known=frozenset({agent}))
    assert str(caught.value).isprintable()
    assert caught.value.hint


# --- time ------------------------------------------------------------------------------------------------------------


def test_no_child_outlives_its_parent() -> None:
    soon = make_caller("a", deadline_ms=NOW_MS + 5_000)
    found = ask("b", soon, timeout_s=600.0)
    assert (found.timeout_s, found.deadline_ms) == (5.0, soon.deadline_ms)
    early = ask("b", soon, timeout_s=2.5)
    assert (early.timeout_s, early.deadline_ms) == (2.5, NOW_MS + 2_500)


@pytest.mark.parametrize(
    ("left_ms", "said"), [(999, "has 999 ms left"), (1, "has 1 ms left"), (0, "past"), (-5, "past")]
)
def test_with_no_time_left_nothing_is_begun(left_ms: int, said: str) -> None:
    refusal = get_refusal("b", make_caller("a", deadline_ms=NOW_MS + left_ms))
    assert refusal.code == "TIMEOUT"
    assert said in refusal.message
    assert ask("b", make_caller("a", deadline_ms=NOW_MS + 1000)).timeout_s == 1.0


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan"), float("inf"), 10**12, True])
@pytest.mark.parametrize("caller", [None, make_caller("a")])
def test_no_time_is_unlimited(timeout_s: float, caller: Caller | None) -> None:
    """R2.6."""
    with pytest.raises(UsageError, match="timeout"):
        ask("b", caller, timeout_s=timeout_s)


def test_the_shortest_time_is_still_after_now() -> None:
    assert ask("b", timeout_s=1e-9).deadline_ms == NOW_MS + 1


def test_the_seconds_of_a_budget_are_a_timeout() -> None:
    assert ask("b", budget=Budget(max_seconds=30)).timeout_s == 30.0
    assert ask("b", make_caller("a", left=Budget(max_seconds=20))).timeout_s == 20.0
    assert ask("b", timeout_s=10.0, budget=Budget(max_seconds=30)).timeout_s == 10.0


# --- budget ----------------------------------------------------------------------------------------------------------


def test_a_child_gets_the_least_of_what_was_asked_and_is_left() -> None:
    caller = make_caller("a", left=Budget(100, 5, 1000, 0.5, 3))
    found = ask("b", caller, budget=Budget(200, 9, 10, None, None))
    assert found.budget == Budget(100, 5, 10, 0.5, 2)


@pytest.mark.parametrize("name", ["max_turns", "max_tokens", "max_usd", "max_delegations"])
def test_what_is_used_up_refuses_the_next(name: str) -> None:
    caller = make_caller("a", left=Budget(60, 1, 1, 0.01, 1)._replace(**{name: 0}))
    refusal = get_refusal("b", caller)
    assert refusal.code == "BUDGET_EXCEEDED"
    assert name in refusal.message
    assert refusal.data == {"left": caller.left._asdict()}


def test_the_last_delegation_works_alone() -> None:
    last = ask("b", make_caller("a", left=Budget(max_delegations=1)))
    assert last.budget.max_delegations == 0
    assert get_refusal("c", become_caller(last, ("*",))).code == "BUDGET_EXCEEDED"


def test_a_person_may_have_an_agent_work_alone() -> None:
    alone = ask("a", budget=Budget(max_delegations=0))
    assert get_refusal("b", become_caller(alone, ("*",))).code == "BUDGET_EXCEEDED"


def test_a_budget_that_cannot_be_counted_is_told() -> None:
    with pytest.raises(UsageError, match="max_tokens cannot be"):
        ask("b", budget=Budget(max_tokens=0))


# --- ids -------------------------------------------------------------------------------------------------------------


def test_a_session_id_has_the_standards_form() -> None:
    """R2.2."""
    assert make_session_id(1735460684_987, bytes([0, 27, 1, 28, 2, 29])) == "sess_1735460684_a1b2c3"
    every = {make_session_id(0, bytes([byte] * 6))[-6:] for byte in range(256)}
    assert "".join(sorted({six[0] for six in every})) == "0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize("count", [0, 5, 7])
def test_a_session_id_is_made_of_six(count: int) -> None:
    with pytest.raises(ValueError, match="6 random bytes"):
        make_session_id(1, bytes(count))


# --- what a command and a caller's file say --------------------------------------------------------------------------


def test_the_command_is_in_the_path_and_no_ancestor() -> None:
    """D14: orchestrator, command, agent; the agent is at depth 1 (R2.3)."""
    found = ask("researcher", command="research")
    assert (found.path, found.depth) == (("orchestrator", "research", "researcher"), 1)
    caller = become_caller(found, ("*",))
    below = ask("research", caller)  # an agent may be called like the command
    assert (below.path, below.depth) == (("orchestrator", "research", "researcher", "research"), 2)
    assert get_refusal("researcher", become_caller(below, ("*",))).code == "CYCLE_DETECTED"
    assert get_refusal("research", become_caller(below, ("*",))).code == "CYCLE_DETECTED"
    assert ask("research", command="research").path == ("orchestrator", "research")  # work without an agent of its own


@pytest.mark.conforms("001-17", "001-18")
@pytest.mark.parametrize(
    ("said", "default", "most", "expected"),
    [
        (None, None, None, 1800),
        (None, 60, None, 60),
        (None, 60, 30, 30),
        (None, None, 30, 30),
        (600, 60, None, 600),
        (600, 60, 300, 300),
        (20, 60, 300, 20),
    ],
)
def test_the_callers_file_says_how_long_a_nested_run_may_take(
    said: float | None, default: float | None, most: float | None, expected: float
) -> None:
    """D10: timeout_default where nothing else is said, timeout_max at most."""
    caller = make_caller("a", timeout_default_s=default, timeout_max_s=most)
    assert ask("b", caller, timeout_s=said, default_timeout_s=1800).timeout_s == expected

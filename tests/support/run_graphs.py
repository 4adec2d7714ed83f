"""Graphs of agents that call each other."""

from __future__ import annotations

from itertools import pairwise, permutations
from random import Random
from typing import NamedTuple

from remit.errors import RefusedError
from remit.runs.admission.guard import Admission, Caller, admit
from remit.runs.admission.limits import Budget

NOW_MS = 1_700_000_000_000
Edges = frozenset[tuple[str, str]]


def become_caller(admitted: Admission, may_call: tuple[str, ...]) -> Caller:
    """The agent that was admitted, as it calls others."""
    return Caller(
        admitted.session_id,
        admitted.root_id,
        admitted.agent,
        admitted.depth,
        admitted.path,
        admitted.deadline_ms,
        may_call,
        left=admitted.budget,
    )


def walk(agents: str, edges: Edges) -> tuple[set[tuple[str, ...]], dict[tuple[str, ...], str]]:
    """Try every call from everywhere that can be reached: the paths that are admitted, and the codes of the others."""
    known = frozenset(agents)
    admitted: set[tuple[str, ...]] = set()
    refused: dict[tuple[str, ...], str] = {}
    callers: list[Caller | None] = [None]
    while callers:
        caller = callers.pop()
        for target in agents:
            path = (*(caller.path if caller else ("orchestrator",)), target)[1:]
            try:
                found = admit(target, caller, session_id="-".join(path), now_ms=NOW_MS, timeout_s=600.0, known=known)
            except RefusedError as error:
                refused[path] = error.code
                continue
            assert (found.depth, found.path) == (len(path), ("orchestrator", *path))
            admitted.add(path)
            callers.append(become_caller(found, tuple(to for start, to in edges if start == target)))
    return admitted, refused


def list_right_paths(agents: str, edges: Edges) -> set[tuple[str, ...]]:
    """What should be admitted: whoever calls whom it may, none twice, up to three."""
    return {
        path
        for length in (1, 2, 3)
        for path in permutations(agents, length)
        if all(step in edges for step in pairwise(path))
    }


def check_graph(agents: str, edges: Edges) -> int:
    admitted, refused = walk(agents, edges)
    assert admitted == list_right_paths(agents, edges)
    for path, code in refused.items():
        if len(path) > 3:
            assert code == "MAX_DEPTH_EXCEEDED"
        elif path[-1] in path[:-1]:
            assert code == "CYCLE_DETECTED"
        else:
            assert (path[-2:] in edges, code) == (False, "REFUSED")
    return sum(len(path) == 3 for path in admitted)


def draw_budget(random: Random) -> Budget:
    return Budget(
        random.choice((None, random.randint(1, 9))),
        random.choice((None, random.randint(1, 9))),
        random.choice((None, random.randint(1, 9))),
        random.choice((None, random.uniform(0.01, 2))),
        random.choice((None, random.randint(0, 4))),
    )


def check_step(caller: Caller, found: Admission, timeout_s: float, budget: Budget) -> None:
    """Nothing that a child is given is more than its parent has."""
    for limit, own, most in zip(found.budget, budget, caller.left, strict=True):
        assert most is None or (limit is not None and limit <= most)
        assert own is None or (limit is not None and limit <= own)
    assert NOW_MS < found.deadline_ms <= caller.deadline_ms
    left_s = (caller.deadline_ms - NOW_MS) / 1000
    assert found.timeout_s <= min(timeout_s, left_s)
    assert (found.parent_id, found.root_id) == (caller.session_id, caller.root_id)
    assert found.agent not in caller.path


class Chance(NamedTuple):
    """What walks are made of; drawn beforehand, which is quicker."""

    random: Random
    budgets: list[Budget]
    timeouts_s: list[float]


def make_chance(seed: int) -> Chance:
    random = Random(seed)  # noqa: S311 - the same walks each time
    budgets = [draw_budget(random) for _ in range(500)]
    return Chance(random, budgets, [0.5 * 10 ** random.uniform(0, 4) for _ in range(500)])


def walk_at_random(chance: Chance, tally: dict[str, int]) -> None:
    """Have agents call each other at random, five times, in a graph of their own."""
    random = chance.random.random
    agents = "abcdefgh"[: int(random() * 8) + 1]
    share = random()
    calls = {agent: tuple(other for other in agents if random() < share) for agent in agents}
    caller: Caller | None = None
    for number in range(5):
        target = agents[int(random() * len(agents))]
        timeout_s, budget = chance.timeouts_s[int(random() * 500)], chance.budgets[int(random() * 500)]
        try:
            found = admit(
                target, caller, session_id=f"s{number}", now_ms=NOW_MS, timeout_s=timeout_s, budget=budget,
                known=frozenset(agents),
            )  # fmt: skip
        except RefusedError as error:
            tally[error.code] = tally.get(error.code, 0) + 1
            continue
        assert found.depth == len(found.path) - 1 <= 3
        assert len(set(found.path)) == len(found.path)
        if caller is not None:
            assert target in calls[caller.agent]
            check_step(caller, found, timeout_s, budget)
        tally[f"depth {found.depth}"] = tally.get(f"depth {found.depth}", 0) + 1
        caller = become_caller(found, calls[target])

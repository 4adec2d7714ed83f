"""Let agents call each other in every graph there is of few of them, and at random in larger ones.

Run as `python torture/graphs.py`; `--help` lists the options. Graphs that differ only in the agents' names are one, and
each is walked from everywhere: a chain of three is admitted where every call of it is, a fourth and a circle never are.
The guard that forgets the circle must be found out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from remit.runs.admission import guard
from tests.support.run_graphs import check_graph, make_chance, walk_at_random
from torture.tally import tell

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = {1: 1, 2: 3, 3: 16, 4: 218, 5: 9_608}
"""How many graphs of so many agents differ in more than the names: known since long, and counted here again."""
REACHED = ("depth 3", "CYCLE_DETECTED", "MAX_DEPTH_EXCEEDED", "BUDGET_EXCEEDED")


class Report(NamedTuple):
    """What was walked."""

    kinds: dict[int, int]
    """Graphs by the number of agents, those that differ only in names counted once."""
    graphs: int
    """The same, each name by itself."""
    walks: int
    found_out: bool
    complaints: tuple[str, ...]


def list_kinds(size: int) -> Iterator[tuple[int, int]]:
    """Each graph of so many agents, as bits, and how many graphs are the same but for the names."""
    pairs = [*permutations(range(size), 2)]
    places = {pair: at for at, pair in enumerate(pairs)}
    tables = [[places[names[one], names[other]] for one, other in pairs] for names in permutations(range(size))]
    seen = bytearray(1 << len(pairs))
    for bits in range(1 << len(pairs)):
        if seen[bits]:
            continue
        edges = [at for at in range(len(pairs)) if bits >> at & 1]
        same = {sum(1 << table[at] for at in edges) for table in tables}
        for each in same:
            seen[each] = 1
        yield bits, len(same)


def name_edges(bits: int, agents: str) -> frozenset[tuple[str, str]]:
    """The calls that a graph allows; itself each agent may always call, as far as its file goes."""
    pairs = [*permutations(agents, 2)]
    return frozenset({pair for at, pair in enumerate(pairs) if bits >> at & 1} | {(each, each) for each in agents})


def walk_graphs(most: int) -> tuple[dict[int, int], int, list[str]]:
    """Walk every graph of up to so many agents."""
    kinds: dict[int, int] = {}
    graphs, complaints = 0, []
    for size in range(1, most + 1):
        agents = "abcde"[:size]
        kinds[size] = 0
        for bits, count in list_kinds(size):
            kinds[size] += 1
            graphs += count
            try:
                check_graph(agents, name_edges(bits, agents))
            except AssertionError as error:
                complaints.append(f"graph {bits} of {size} agents: {error}")
        if kinds[size] != KINDS[size]:
            complaints.append(f"{kinds[size]} graphs of {size} agents are not all: there are {KINDS[size]}")
    return kinds, graphs, complaints


def walk_randomly(count: int, seed: int) -> list[str]:
    """Walk at random, on graphs of up to eight agents, with budgets."""
    chance, tally, complaints = make_chance(seed), dict[str, int](), []
    for number in range(count):
        try:
            walk_at_random(chance, tally)
        except AssertionError as error:
            complaints.append(f"walk {number} of seed {seed}: {error}")
    seldom = [reached for reached in REACHED if tally.get(reached, 0) < count // 100]
    return complaints + [f"too few walks came to {reached} to prove anything" for reached in seldom]


def is_found_out() -> bool:
    """Whether a guard that forgets the circle is noticed."""
    kept, guard._check_cycle = guard._check_cycle, lambda *_: None  # noqa: SLF001 - the rule that is taken away
    try:
        return bool(walk_graphs(3)[2])
    finally:
        guard._check_cycle = kept  # noqa: SLF001


def main() -> int:
    """Walk all of them, and print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--agents", type=int, default=5, choices=range(1, 6), help="graphs of up to so many (5)")
    parser.add_argument("--walks", type=int, default=100_000, help="so many random walks (100,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    options = parser.parse_args()
    began = time.perf_counter()
    kinds, graphs, complaints = walk_graphs(options.agents)
    complaints += walk_randomly(options.walks, options.seed)
    report = Report(kinds, graphs, options.walks, is_found_out(), tuple(complaints))
    tell(graphs + options.walks, len(complaints) + (not report.found_out))
    if options.json:
        print(json.dumps(report._asdict()))
    else:
        print("".join(f"{each}\n" for each in complaints[:50]), end="")
        told = ", ".join(f"{count:,} of {size}" for size, count in kinds.items())
        print(f"every graph of up to {options.agents} agents: {graphs:,}, which are {told} but for the names")
        print(
            f"{options.walks:,} random walks, {len(complaints)} bad, {time.perf_counter() - began:.0f} s"
            f"{'' if report.found_out else '; a guard without circles was not found out: nothing is proved'}"
        )
    return 1 if complaints or not report.found_out else 0


if __name__ == "__main__":
    sys.exit(main())

"""Remit against its peers: how often they are right, what they let through, how fast they are, what breaks them.

Run as `python bench/contract.py`. Prints a Markdown table, every message that Remit misreads, and one line per goal;
ends with 1 when Remit misses a goal. `--show NAME` prints one message and what Remit makes of it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

# Run by path, the folder that holds `bench` is not on the import path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import accuracy, isolation, messages, speed
from bench.peers import FLOOR, PEERS, REMIT, Peer, Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

_RIGHT_GOAL: Final = 0.98
_RATIO_GOALS: Final = {"2 KB clean": 4.0, "20 KB clean": 6.0, "2 KB broken": 60.0}
_LARGE_GOAL_MS: Final = 500.0
_NOTE: Final = (
    "CPU time: the median of the rounds, in brackets the multiple of the floor with its lowest and highest round. "
    "Remit's time includes its validation, the peers' does not. *lost*: the reader gets nothing out of that message. "
    f"A large message that takes more than {isolation.LIMIT_SECONDS:g} s, ends the process or overflows its stack "
    "is not right."
)


@dataclass(frozen=True, slots=True)
class Row:
    """Everything measured about one reader; None where it was not measured."""

    peer: Peer
    score: accuracy.Score | None
    timings: dict[str, speed.Timing] | None
    reads: frozenset[str]
    ordeals: list[isolation.Ordeal] | None


@dataclass(frozen=True, slots=True)
class Goal:
    """One promise and whether it was kept."""

    name: str
    kept: bool
    told: str


def main() -> int:
    """The command line."""
    options = _parse_options()
    if options.worker:
        isolation.serve(options.worker)
        return 0
    if options.show:
        return show(options.show)
    readers, missing = load_readers(with_peers=not options.no_peers)
    rows = measure(readers, rounds=options.rounds, accuracy_only=options.accuracy_only)
    print(render_table(rows, missing))
    own = next((row for row in rows if row.peer is REMIT), None)
    goals = judge(own) if own is not None else [Goal("Remit", kept=False, told=missing[REMIT.name])]
    print(render_misses(own))
    print("\n".join(f"{'kept  ' if goal.kept else 'MISSED'}  {goal.name}: {goal.told}" for goal in goals))
    if options.json:
        write_json(options.json, rows, missing, goals)
    return 0 if all(goal.kept for goal in goals) else 1


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure Remit against other readers of agents' final messages.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything measured to FILE")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="rounds of the speed measurement (7)")
    parser.add_argument("--no-peers", action="store_true", help="measure Remit and the floor only")
    parser.add_argument("--accuracy-only", action="store_true", help="leave out speed and large messages")
    parser.add_argument("--show", metavar="NAME", help="print one message and what Remit makes of it")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def load_readers(*, with_peers: bool) -> tuple[dict[Peer, Reader], dict[str, str]]:
    """The readers that can be imported, and why the others cannot."""
    readers: dict[Peer, Reader] = {}
    missing: dict[str, str] = {}
    for peer in (REMIT, FLOOR, *(PEERS if with_peers else ())):
        try:
            readers[peer] = peer.load()
        except (ImportError, AttributeError) as error:
            missing[peer.name] = f"not installed ({error})"
    return readers, missing


def measure(readers: dict[Peer, Reader], *, rounds: int, accuracy_only: bool) -> list[Row]:
    """All figures: speed first, while the process is young, then accuracy, then the large messages."""
    timings: dict[Peer, dict[str, speed.Timing]] = {}
    if not accuracy_only and FLOOR in readers:
        timings = speed.measure(readers, rounds=rounds)
    rows = {}
    for peer, read in readers.items():
        scored = None if peer is FLOOR else accuracy.score(peer, read, messages.cases())
        rows[peer] = Row(peer, scored, timings.get(peer), _kinds_read(peer, read), None)
    if not accuracy_only:
        for peer, ordeals in _run_large([peer for peer in rows if peer is not FLOOR]):
            rows[peer] = replace(rows[peer], ordeals=ordeals)
    return list(rows.values())


def _run_large(peers: list[Peer]) -> Iterator[tuple[Peer, list[isolation.Ordeal]]]:
    """Remit by itself, the peers two at a time: most of their time is waiting for limits."""
    run = isolation.run_large
    yield from ((peer, run(peer)) for peer in peers if peer is REMIT)
    others = [peer for peer in peers if peer is not REMIT]
    with ThreadPoolExecutor(max_workers=2) as pool:
        yield from zip(others, pool.map(run, others), strict=True)


def _kinds_read(peer: Peer, read: Reader) -> frozenset[str]:
    """The kinds of speed messages that the reader gets anything valid out of."""
    kinds = set()
    for kind, variants in speed.make_messages().items():
        text, session_id = variants[0]
        case = messages.Case(kind, "speed", text, "standard", session_id, messages.EITHER)
        if accuracy.accepted(peer, read, case) is not None:
            kinds.add(kind)
    return frozenset(kinds)


def render_table(rows: list[Row], missing: dict[str, str]) -> str:
    """The Markdown table, with a line below that says how to read it."""
    total = sum(case.expected is not None and not case.may_refuse for case in messages.cases())
    refused = sum(case.expected is None for case in messages.cases())
    heads = [
        "reader",
        f"right /{total}",
        "wrong but valid",
        f"false accepts /{refused}",
        f"large right /{len(messages.LARGE_NAMES)}",
        "slowest ms",
        *(f"{kind}, µs (times floor)" for kind in speed.KINDS),
    ]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    lines += [f"| {' | '.join(_cells(row))} |" for row in rows]
    lines += [f"| {name} | {reason}{' |' * (len(heads) - 1)}" for name, reason in missing.items()]
    return "\n".join([*lines, "", _NOTE, ""])


def _cells(row: Row) -> list[str]:
    cells = [row.peer.name]
    if row.score is None:
        cells += ["", "", ""]
    else:
        score = row.score
        cells += [str(score.right), str(len(score.wrong)), str(len(score.false_accepts))]
    if row.ordeals is None:
        cells += ["", ""]
    else:
        cells += [str(sum(ordeal.right for ordeal in row.ordeals)), _slowest(row.ordeals)]
    for kind in speed.KINDS:
        timing = row.timings[kind] if row.timings else None
        if timing is None:
            cells.append("")
        elif kind not in row.reads:
            cells.append("*lost*")
        else:
            cells.append(f"{timing.micros:,.1f} ({timing.ratio:,.1f}, {timing.low:,.1f} to {timing.high:,.1f})")
    return cells


def _slowest(ordeals: list[isolation.Ordeal]) -> str:
    broken = [ordeal for ordeal in ordeals if ordeal.outcome not in {"accepted", "refused"}]
    slowest = max((ordeal.spent_ms for ordeal in ordeals if ordeal not in broken), default=0.0)
    counts = {name: sum(ordeal.outcome == name for ordeal in broken) for name in sorted({o.outcome for o in broken})}
    return ", ".join([f"{slowest:,.0f}", *(f"{count} {name}" for name, count in counts.items())])


def render_misses(row: Row | None) -> str:
    """The names of all messages that Remit misread, to be looked at with `--show`."""
    if row is None or row.score is None:
        return ""
    groups = {"missed": row.score.missed, "wrong": row.score.wrong, "false accept": row.score.false_accepts}
    lines = [f"{kind}: {name}" for kind, names in groups.items() for name in names]
    lines += [
        f"large: large/{ordeal.name} {ordeal.outcome} {ordeal.spent_ms:,.0f} ms"
        for ordeal in row.ordeals or ()
        if not ordeal.right or ordeal.spent_ms > _LARGE_GOAL_MS
    ]
    return "\n".join([*lines, ""])


def judge(row: Row) -> list[Goal]:
    """Remit's goals, those that could be measured."""
    goals = []
    if row.score is not None:
        total = row.score.right + len(row.score.missed) + len(row.score.wrong)
        share, accepts = row.score.right / total, len(row.score.false_accepts)
        goals.append(Goal("right", share >= _RIGHT_GOAL, f"{share:.2%} of {total}, goal {_RIGHT_GOAL:.0%}"))
        goals.append(Goal("false accepts", accepts == 0, f"{accepts}, goal 0"))
    for kind, limit in _RATIO_GOALS.items():
        if row.timings:
            ratio = row.timings[kind].ratio
            goals.append(Goal(kind, ratio <= limit, f"{ratio:.1f} times the floor, goal {limit:g}"))
    if row.ordeals is not None:
        right, slowest = sum(one.right for one in row.ordeals), max(one.spent_ms for one in row.ordeals)
        goals.append(Goal("large right", right == len(row.ordeals), f"{right} of {len(row.ordeals)}"))
        goals.append(Goal("large slowest", slowest < _LARGE_GOAL_MS, f"{slowest:.0f} ms, goal {_LARGE_GOAL_MS:g}"))
    return goals


def write_json(path: Path, rows: list[Row], missing: dict[str, str], goals: list[Goal]) -> None:
    """Everything measured, for other programs."""
    told = {
        "readers": [
            {
                "name": row.peer.name,
                "score": asdict(row.score) if row.score else None,
                "timings": {kind: asdict(timing) for kind, timing in (row.timings or {}).items()},
                "reads": sorted(row.reads),
                "large": [asdict(ordeal) for ordeal in row.ordeals or ()],
            }
            for row in rows
        ],
        "missing": missing,
        "goals": [asdict(goal) for goal in goals],
    }
    path.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def show(name: str) -> int:
    """One message, what is right, and what Remit makes of it."""
    case = messages.find_case(name)
    limit = 20_000
    print(case.text if len(case.text) <= limit else f"{case.text[:limit]}\n[{len(case.text)} characters in all]")
    print(f"\n--- session_id {case.session_id}, dialect {case.dialect}\n--- expected: {_brief(case.expected)}")
    for other in case.also:
        print(f"--- or: {_brief(other)}")
    try:
        remit = importlib.import_module("remit")
    except ImportError as error:
        print(f"--- Remit cannot be imported: {error}")
        return 1
    verdict = remit.check(case.text, session_id=case.session_id)
    right = case.is_right(verdict.payload if verdict.accepted else None)
    print(f"--- Remit ({'right' if right else 'NOT RIGHT'}): {verdict}\n--- payload: {_brief(verdict.payload)}")
    return 0 if right else 1


def _brief(value: object) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return text if len(text) <= 5_000 else f"{text[:5_000]} [{len(text)} characters]"


if __name__ == "__main__":
    sys.exit(main())

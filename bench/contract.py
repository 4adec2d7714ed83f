"""Remit against its peers: how often they are right, what they let through, how fast they are, what breaks them.

Run as `python bench/contract.py`. Prints every message that Remit misreads, and a row for each thing measured; ends
with 1 when Remit misses a goal. `--show NAME` prints one message and what Remit makes of it. Times are those of the
processor. Remit's time includes its validation, the peers' does not.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

# Run by path, the folder that holds `bench` is not on the import path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import accuracy, isolation, messages, speed
from bench.peers import FLOOR, PEERS, REMIT, Peer, Reader
from bench.rows import choose, finish, make_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.rows import Row

_AREA: Final = "contract"
_RIGHT_GOAL: Final = 98.0
_MICROS_GOALS: Final = {"2 KB clean": 2000.0, "2 KB broken": 2000.0}
_LARGE_GOAL_MS: Final = 500.0
_ROUNDS: Final = choose(3, 11)
_STRIDE: Final = choose(6, 1)
"""From one message to the next that is read."""


class Measured(NamedTuple):
    """Everything measured, by reader; empty where it was left out."""

    scores: dict[Peer, accuracy.Score]
    micros: dict[str, dict[Peer, list[float]]]
    ordeals: dict[Peer, list[isolation.Ordeal]]


def main() -> int:
    """The command line."""
    options = _parse_options()
    if options.worker:
        isolation.serve(options.worker)
        return 0
    if options.show:
        return show(options.show)
    readers, missing = load_readers(with_peers=not options.no_peers)
    measured = measure(readers, accuracy_only=options.accuracy_only)
    print(render_misses(measured))
    return finish(make_rows(measured, missing))


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure Remit against other readers of agents' final messages.")
    parser.add_argument("--no-peers", action="store_true", help="measure Remit and the floor only")
    parser.add_argument("--accuracy-only", action="store_true", help="leave out speed and large messages")
    parser.add_argument("--show", metavar="NAME", help="print one message and what Remit makes of it")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def load_readers(*, with_peers: bool) -> tuple[dict[Peer, Reader], list[str]]:
    """The readers that can be imported, and the names of the others; Remit and the floor have to be there."""
    readers = {peer: peer.load() for peer in (REMIT, FLOOR)}
    missing = []
    for peer in PEERS if with_peers else ():
        try:
            readers[peer] = peer.load()
        except (ImportError, AttributeError) as error:
            print(f"{peer.name} cannot be measured: {error}", file=sys.stderr)
            missing.append(peer.name)
    return readers, missing


def measure(readers: dict[Peer, Reader], *, accuracy_only: bool) -> Measured:
    """All figures: speed first, while the process is young, then accuracy, then the large messages."""
    micros = {} if accuracy_only else speed.measure(readers, rounds=_ROUNDS)
    for kind, taken in micros.items():
        taken.update({peer: [] for peer, read in readers.items() if peer is not FLOOR and not _reads(peer, read, kind)})
    known = [peer for peer in readers if peer is not FLOOR]
    scores = {peer: accuracy.score(peer, readers[peer], messages.cases()[::_STRIDE]) for peer in known}
    return Measured(scores, micros, {} if accuracy_only else dict(_run_large(known)))


def _run_large(peers: list[Peer]) -> Iterator[tuple[Peer, list[isolation.Ordeal]]]:
    """Remit by itself, the peers two at a time: most of their time is waiting for limits."""
    names = messages.LARGE_NAMES[::_STRIDE]

    def run(peer: Peer) -> list[isolation.Ordeal]:
        return isolation.run_large(peer, names)

    yield from ((peer, run(peer)) for peer in peers if peer is REMIT)
    others = [peer for peer in peers if peer is not REMIT]
    with ThreadPoolExecutor(max_workers=2) as pool:
        yield from zip(others, pool.map(run, others), strict=True)


def _reads(peer: Peer, read: Reader, kind: str) -> bool:
    """Whether the reader gets anything valid out of this kind of speed message."""
    text, session_id = speed.make_messages()[kind][0]
    case = messages.Case(kind, "speed", text, "standard", session_id, messages.EITHER)
    return accuracy.accepted(peer, read, case) is not None


def make_rows(measured: Measured, missing: list[str]) -> list[Row]:
    """A row for each thing measured."""
    cases = messages.cases()[::_STRIDE]
    total = sum(case.expected is not None and not case.may_refuse for case in cases)
    refused = sum(case.expected is None for case in cases)
    note = f"Not installed: {', '.join(missing)}." if missing else ""

    def count(what: str, unit: str, find: Callable[[accuracy.Score], float], *, goal: float | None = None) -> Row:
        found = {peer: [find(score)] for peer, score in measured.scores.items()}
        return _make_row(what, unit, found, goal=goal, is_more_better=unit == "%")

    rows = [
        count(f"read right, of {total:,} messages", "%", lambda score: score.right / total * 100, goal=_RIGHT_GOAL),
        count("read wrong, but valid", "", lambda score: len(score.wrong)),
        count(f"accepted, of {refused:,} in which nothing may be", "", lambda score: len(score.false_accepts), goal=0),
    ]
    rows[0] = rows[0]._replace(note=note)
    for kind, taken in measured.micros.items():
        floor = measured.micros[speed.FLOOR_KIND.get(kind, kind)][FLOOR]
        rows.append(_make_row(f"a message of {kind}", "µs", taken, floor=floor, goal=_MICROS_GOALS.get(kind)))
    return [*rows, *_make_large_rows(measured.ordeals)]


def _make_large_rows(ordeals: dict[Peer, list[isolation.Ordeal]]) -> list[Row]:
    if not ordeals:
        return []
    total = len(ordeals[REMIT])
    right = {peer: [float(sum(one.right for one in each))] for peer, each in ordeals.items()}
    slowest = {peer: [max(one.spent_ms for one in each)] for peer, each in ordeals.items()}
    broken = {
        peer.name: sum(one.verdict not in {"accepted", "refused"} for one in each) for peer, each in ordeals.items()
    }
    told = ", ".join(f"{name} {count}" for name, count in broken.items() if count)
    note = (
        f"Readers are stopped after {isolation.LIMIT_SECONDS:g} s. Stopped, out of stack or dead: {told or 'nobody'}."
    )
    return [
        _make_row(f"large and hostile ones right, of {total}", "", right, goal=total, is_more_better=True),
        _make_row("the slowest of these", "ms", slowest, goal=_LARGE_GOAL_MS)._replace(note=note),
    ]


def _make_row(
    what: str, unit: str, found: dict[Peer, list[float]], *,
    floor: list[float] | None = None, goal: float | None = None, is_more_better: bool = False,
) -> Row:  # fmt: skip
    peers = {peer.name: taken for peer, taken in found.items() if peer not in (REMIT, FLOOR)}
    floors = {FLOOR.name: floor} if floor else {}
    return make_row(_AREA, what, unit, found[REMIT], peers=peers, floors=floors, goal=goal,
                    is_more_better=is_more_better)  # fmt: skip


def render_misses(measured: Measured) -> str:
    """The names of all messages that Remit misread, to be looked at with `--show`."""
    score = measured.scores[REMIT]
    groups = {"missed": score.missed, "wrong": score.wrong, "false accept": score.false_accepts}
    lines = [f"{kind}: {name}" for kind, names in groups.items() for name in names]
    lines += [
        f"large: large/{ordeal.name} {ordeal.verdict} {ordeal.spent_ms:,.0f} ms"
        for ordeal in measured.ordeals.get(REMIT, ())
        if not ordeal.right or ordeal.spent_ms > _LARGE_GOAL_MS
    ]
    return "\n".join([*lines, ""])


def show(name: str) -> int:
    """One message, what is right, and what Remit makes of it."""
    case = messages.find_case(name)
    limit = 20_000
    print(case.text if len(case.text) <= limit else f"{case.text[:limit]}\n[{len(case.text)} characters in all]")
    print(
        f"\n--- session_id {case.session_id}, return_format {case.return_format}\n--- expected: {_brief(case.expected)}"
    )
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

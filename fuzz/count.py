"""Try a target with a counted number of cases, at its own speed: nothing raises, nothing is slow.

Run as `python fuzz/count.py NAME`; `--help` lists the options. Cases are the target's seeds, and what earlier runs of
`fuzz/watch.py` kept, changed by chance; the number of a case and the seed decide how. One that breaks a law is written
to a file, and `python fuzz/count.py NAME --replay FILE` tries it again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
WORKSHOP = ROOT / ".fuzz"
sys.path.insert(0, str(ROOT))  # run by path

from fuzz.target import MAX_SECONDS, TARGETS, SlowError, draw_case, end_hangs, list_words, load_target, try_case  # noqa: E402
from torture.tally import tell  # noqa: E402

if TYPE_CHECKING:
    from concurrent.futures import Future

    from fuzz.target import Target

MAX_BAD = 20
"""After so many a process gives up: they are the same again and again."""
STEP = 2_000


class Count(NamedTuple):
    """What came of some cases."""

    cases: int
    raised: int
    slow: int
    slowest_ms: float
    """Of the cases that were within the limit."""
    bad: tuple[str, ...]
    """Files that hold what broke a law, with what it broke."""


class Share(NamedTuple):
    """What one process tries."""

    name: str
    numbers: range
    seed: int
    folder: Path


@cache
def prepare(name: str) -> tuple[Target, list[bytes], list[bytes]]:
    """A target, its seeds with what earlier runs kept, and its words; worked out before there are processes."""
    target = load_target(name)
    kept = (file.read_bytes() for file in sorted((WORKSHOP / name).glob("*")))
    return target, sorted({seed[: target.max_bytes] for seed in (*target.seeds(), *kept)}), list_words(target)


def count_share(share: Share) -> Count:
    """Try some cases, one after the other."""
    end_hangs()
    target, seeds, words = prepare(share.name)
    cases = raised = slow = 0
    slowest = 0.0
    bad: list[str] = []
    with target.open() as check:
        for number in share.numbers:
            data = draw_case(target, seeds, words, random.Random(f"{share.seed}:{number}"))  # noqa: S311 - replayable
            cases += 1
            began = time.process_time()
            try:
                try_case(check, data, max_seconds=MAX_SECONDS * target.asks)
            except SlowError as error:
                slow += 1
                bad.append(_keep(share, number, data, error))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
                raised += 1
                bad.append(_keep(share, number, data, error))
            else:
                slowest = max(slowest, time.process_time() - began)
            if len(bad) >= MAX_BAD:
                break
    return Count(cases, raised, slow, round(slowest * 1000, 1), tuple(bad))


def _keep(share: Share, number: int, data: bytes, error: Exception) -> str:
    file = share.folder / f"{share.name}-{share.seed}-{number}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return f"{file}: {type(error).__name__}: {str(error)[:300]}"


def count_all(name: str, cases: int, seed: int, jobs: int, folder: Path) -> Count:
    """Share cases out between processes, and put together what came of them."""
    size = max(1, min(STEP, -(-cases // jobs)))
    shares = [Share(name, range(first, min(first + size, cases)), seed, folder) for first in range(0, cases, size)]
    prepare(name)
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        waiting = [pool.submit(count_share, share) for share in shares]
        counts = [_collect(share, each) for share, each in zip(shares, waiting, strict=True)]
    return Count(
        sum(count.cases for count in counts),
        sum(count.raised for count in counts),
        sum(count.slow for count in counts),
        max(count.slowest_ms for count in counts),
        tuple(bad for count in counts for bad in count.bad),
    )


def _collect(share: Share, waiting: Future[Count]) -> Count:
    """What a process found; one that ended by itself was ended by one of its cases."""
    try:
        return waiting.result()
    except BrokenProcessPool as error:
        return Count(0, 1, 0, 0.0, (f"{share.name}, one of the cases {share.numbers}: {error}",))


def replay(name: str, file: Path) -> int:
    """Try one case again, and show what it breaks."""
    end_hangs()
    target = load_target(name)
    with target.open() as check:
        try:
            try_case(check, file.read_bytes(), max_seconds=MAX_SECONDS * target.asks)
        except Exception:  # noqa: BLE001 - it is what is looked for
            traceback.print_exc()
            return 1
    print("no law breaks")
    return 0


def main() -> int:
    """Try targets, and print their counts; 1 if any law broke."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(TARGETS)}; all without any")
    parser.add_argument("--cases", type=int, default=1_000_000, metavar="N", help="so many each (1,000,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="so many processes")
    parser.add_argument("--folder", type=Path, default=WORKSHOP / "bad", help="where cases go that break a law")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="try one case again")
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in TARGETS]:
        parser.error(f"there is no target '{unknown[0]}'; available: {', '.join(TARGETS)}")
    if options.replay:
        return replay(options.names[0], options.replay)
    counts = {}
    for name in options.names or TARGETS:
        began = time.perf_counter()
        count = counts[name] = count_all(name, options.cases, options.seed, options.jobs, options.folder)
        if not options.json:
            print(
                f"{name:<12} {count.cases:,} cases: {count.raised} raised, {count.slow} over 250 ms, the slowest other "
                f"{count.slowest_ms:.0f} ms, {time.perf_counter() - began:.0f} s"
            )
            for bad in count.bad[:MAX_BAD]:
                print(f"  {bad}\n  again: python fuzz/count.py {name} --replay {bad.partition(': ')[0]}")
            sys.stdout.flush()
    tell(sum(count.cases for count in counts.values()), sum(count.raised + count.slow for count in counts.values()))
    if options.json:
        print(json.dumps({name: count._asdict() for name, count in counts.items()}))
    return 1 if any(count.bad for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

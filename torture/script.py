"""Scripts: what the two tortures by strace have in common, from their options to their exit code.

Owns their command line, their workers, what is counted and what is printed. What is done at a point, and how it is
judged, is theirs.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections import Counter
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

from torture.stage import clean_environment, make_folder
from torture.tally import tell
from torture.tracing import find_obstacle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from torture.commands import Command


class Result(NamedTuple):
    """One point: whether the fault happened there, and what was wrong afterwards."""

    point: str
    fired: bool = True
    complaints: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()
    """What it is counted among."""
    way: tuple[str, ...] = ()
    """How far it had come, where it left something for others to finish."""
    said: str = ""
    """What the command said last."""


class Row(NamedTuple):
    """A command's points, counted."""

    command: str
    points: int
    fired: int
    bad: int
    traits: dict[str, int]
    is_control: bool = False
    is_certain: bool = True
    """Whether every point must be reached: beside a second process some are not."""


class Options(NamedTuple):
    """How much of it is wanted."""

    jobs: int
    most: int = 0
    """At most so many calls of a command; 0 for all of them."""
    syscalls: tuple[str, ...] = ()
    """Only calls of these names; empty for all of them."""


class Script(NamedTuple):
    """A torture: what it does, to what, and how a point of it is spelled."""

    doc: str
    what: str
    point: str
    commands: tuple[Command, ...]
    torture: Callable[[Sequence[Command], Path, Options], Iterator[tuple[Row, list[Result]]]]
    replay: Callable[[str, Path], Result]


_WAITING: list[Callable[[], Result]] = []
"""What the workers share: they are forked once it is complete."""


def try_all(points: Sequence[Callable[[], Result]], jobs: int) -> list[Result]:
    """Try each point, so many at a time."""
    _WAITING[:] = points
    with get_context("fork").Pool(jobs) as pool:
        return pool.map(_try, range(len(points)), chunksize=4)


def _try(place: int) -> Result:
    return _WAITING[place]()


def count(command: Command, results: Sequence[Result], *, is_certain: bool = True) -> Row:
    """The points of a command, counted."""
    found = [result for result in results if result.fired]
    return Row(
        command.name,
        len(results),
        len(found),
        sum(bool(result.complaints) for result in found),
        dict(Counter(trait for result in found for trait in result.traits)),
        command.is_control,
        is_certain,
    )


def run_script(script: Script) -> int:
    """Torture, print a row for each command and every point that was bad; 1 if there was one."""
    options = _read_options(script)
    clean_environment()
    obstacle = find_obstacle()
    if obstacle:
        print(f"no {script.what}: {obstacle}")
        return 2
    folder = make_folder()
    began, rows, bad = time.perf_counter(), [], []
    try:
        if options.only:
            result = script.replay(options.only, folder)
            return _tell_one(result)
        wanted = [each for each in script.commands if not options.command or each.name in options.command]
        limits = Options(options.jobs, options.most, tuple(options.syscall or ()))
        for row, results in script.torture(wanted, folder, limits):
            rows.append(row)
            bad += [] if row.is_control else [each for each in results if _is_bad(each, row)]
            if not options.json:
                print(render_row(row, script.what), flush=True)
    finally:
        shutil.rmtree(folder)
    _tell_all(rows, bad)
    if options.json:
        print(json.dumps({"rows": [row._asdict() for row in rows], "bad": [each._asdict() for each in bad]}))
    else:
        print("".join(f"\n{render_result(each)}" for each in bad))
        print(render_total(rows, script.what, seconds=time.perf_counter() - began))
    return 1 if bad or _list_blind(rows) else 0


def _read_options(script: Script) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=script.doc.partition("\n")[0])
    parser.add_argument("--command", action="append", help="only this command; may be given again",
                        choices=[each.name for each in script.commands], metavar="COMMAND")  # fmt: skip
    parser.add_argument("--most", type=int, default=0, metavar="N", help="at most N calls a command, evenly spread")
    parser.add_argument("--only", metavar=script.point, help="one point, again")
    parser.add_argument("--syscall", action="append", help="only calls of this name; may be given again")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    return parser.parse_args()


def _tell_all(rows: Sequence[Row], bad: Sequence[Result]) -> None:
    counted = [row for row in rows if not row.is_control]
    recoveries = sum(row.fired for row in counted if row.command.startswith(("recovery of", "two ")))
    tell(sum(row.fired for row in counted), len(bad) + len(_list_blind(rows)), recoveries=recoveries)


def _is_bad(result: Result, row: Row) -> bool:
    """What did not happen proves nothing, and may not pass for good."""
    return bool(result.complaints) if result.fired else row.is_certain


def _tell_one(result: Result) -> int:
    print(render_result(result))
    return 1 if result.complaints or not result.fired else 0


def _list_blind(rows: Sequence[Row]) -> list[str]:
    return [row.command for row in rows if row.is_control and not row.bad]


def render_row(row: Row, what: str) -> str:
    """A command's counts on a line."""
    told = "must be found out" if row.is_control else _render_traits(row.traits)
    return f"{row.command:<44} {row.fired:>5} of {row.points:>4} {what}, {row.bad:>3} bad · {told}"


def render_result(result: Result) -> str:
    """A point with all that is wrong with it."""
    head = f"{result.point}{'' if result.fired else ': did not happen'} {result.said}".rstrip()
    return "\n".join([head, *(f"  {complaint}" for complaint in result.complaints)])


def render_total(rows: Sequence[Row], what: str, *, seconds: float) -> str:
    """All that was counted, and which command that had to be found out was not."""
    counted = [row for row in rows if not row.is_control]
    fired, bad = sum(row.fired for row in counted), sum(row.bad for row in counted)
    missed = sum(row.points - row.fired for row in counted if row.is_certain)
    traits: Counter[str] = sum((Counter(row.traits) for row in counted), Counter())
    total = f"{fired} {what}, {missed} did not happen, {bad} bad, {seconds:.0f} s · {_render_traits(traits)}"
    return "\n".join([total, *(f"{name} was not found out: nothing is proved" for name in _list_blind(rows))])


def _render_traits(traits: dict[str, int]) -> str:
    return ", ".join(f"{number} {trait}" for trait, number in sorted(traits.items()))

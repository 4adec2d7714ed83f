"""Kill every command at every syscall, let the next command come, and look.

Run as `python torture/kill_points.py`; `--help` lists the options. A point is `COMMAND:SYSCALL:N`: the process is
killed with SIGKILL when it is about to make its N-th call of that name. After the next command the workspace must look
as if the killed one had never run, or had run whole. Then what was left unfinished is recovered, and the recovering
command is killed at each of its own syscalls, alone and with a second one beside it. A command that writes naively is
killed as well: it must be found out.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import sys
import time
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from torture.commands import COMMANDS, recovering
from torture.stage import (
    Call,
    Stage,
    clean_environment,
    clear_away,
    judge,
    list_leavings,
    make_folder,
    prepare,
    spread,
    take_workplace,
)
from torture.tracing import Fault, HungError, find_obstacle, run_traced
from torture.workspaces import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torture.commands import Command

MOST_AS_PROGRAM = 150
"""A program's start costs a fifth of a second, and most of its syscalls are imports: so many of them, evenly spread."""
MOST_WITH_RIVAL = 150
"""Most points are met only now and then while a second process does the same, and are tried several times."""
TRIES = 4
"""How often a point is tried that was not reached: a rival may have made it needless."""


class Result(NamedTuple):
    """One point: whether the kill happened, and what was wrong afterwards."""

    point: str
    fired: bool = True
    took_effect: bool = False
    complaints: tuple[str, ...] = ()
    leavings: tuple[str, ...] = ()
    way: tuple[str, ...] = ()
    """How far it had come, where it left something for others to finish."""


class Row(NamedTuple):
    """A command's points, counted."""

    command: str
    syscalls: int
    points: int
    fired: int
    took_effect: int | None
    """None where what follows does the same again, so that it cannot be told."""
    bad: int
    left_behind: int
    """How many points left a file behind that the next command did not remove."""
    is_control: bool


def kill_at(stage: Stage, call: Call, *, rivals: int = 0) -> Result:
    """Kill a command at one of its syscalls, and judge what is left."""
    place = take_workplace(stage)
    point = f"{stage.command.name}:{call.syscall}:{call.number}"
    fault = Fault(call.syscall, call.number, "signal=SIGKILL")

    def act() -> int:
        return stage.command.act(place)

    for _ in range(TRIES):
        copy_workspace(stage.sample, place)
        try:
            in_children = stage.command.is_followed
            ending = run_traced(act, scratch=stage.folder, fault=fault, beside=[act] * rivals, in_children=in_children)
            if not ending.was_killed:
                continue
            way = find_way(stage, place)
            complaints, took_effect = judge(stage, place)
            leavings = list_leavings(stage, place)
            complaints += clear_away(stage, place) if leavings else []
        except (HungError, AssertionError) as error:
            return Result(point, complaints=(str(error),))
        return Result(point, True, took_effect, tuple(complaints), tuple(leavings), way)  # noqa: FBT003
    return Result(point, fired=False)


def find_way(stage: Stage, place: Path) -> tuple[str, ...]:
    """How far a change had come that others have to finish; empty where there is none."""
    copy = stage.folder / f"{place.name}-seen"  # to look is to write: SQLite tidies up after the dead
    if not (place / ".remit/ledger.db").exists():
        return ()
    copy_workspace(place / ".remit", copy)
    db = sqlite3.connect(copy / "ledger.db")
    try:
        has_intents = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'intents'").fetchone()
        if not has_intents or not db.execute("SELECT 1 FROM intents").fetchone():
            return ()
    finally:
        db.close()
    files = [file for file in sorted(place.rglob("*")) if file.is_file() and ".git" not in file.parts]
    changed = [file for file in files if not _is_as_before(file, place, stage.sample)]
    return ("unfinished", *(str(file.relative_to(place)) for file in changed if ".remit" not in file.parts))


def _is_as_before(file: Path, place: Path, sample: Path) -> bool:
    before = sample / file.relative_to(place)
    return before.exists() and before.read_bytes() == file.read_bytes()


_STAGES: dict[str, Stage] = {}
"""What the workers share: they are forked once it is complete."""


def _work(job: tuple[str, Call, int]) -> Result:
    name, call, rivals = job
    return kill_at(_STAGES[name], call, rivals=rivals)


def kill_at_all(stage: Stage, *, most: int, jobs: int, rivals: int = 0) -> list[Result]:
    """Kill a command at every syscall, or at so many."""
    _STAGES[stage.command.name] = stage
    points = [(stage.command.name, call, rivals) for call in spread(stage.calls, most)]
    with get_context("fork").Pool(jobs) as pool:
        return pool.map(_work, points, chunksize=4)


def count(stage: Stage, results: Iterable[Result]) -> Row:
    """The points of a command, counted."""
    found = [result for result in results if result.fired]
    return Row(
        stage.command.name,
        len(stage.calls),
        len(list(results)),
        len(found),
        None if stage.without == stage.after else sum(result.took_effect for result in found),
        sum(bool(result.complaints) for result in found),
        sum(bool(result.leavings) for result in found),
        stage.command.is_control,
    )


def make_unfinished(stage: Stage, results: Iterable[Result]) -> Iterator[Path]:
    """A workspace for each way in which the kills left something unfinished."""
    ways = {result.way: result.point for result in results if result.way}
    for number, point in enumerate(ways.values(), 1):
        place = take_workplace(stage)
        _, syscall, occurrence = point.rsplit(":", 2)
        fault = Fault(syscall, int(occurrence), "signal=SIGKILL")
        ending = run_traced(partial(stage.command.act, place), scratch=stage.folder, fault=fault)
        assert ending.was_killed, point
        target = stage.folder / f"unfinished-{number}"
        copy_workspace(place, target)
        yield target


def torture(
    commands: Iterable[Command], folder: Path, *, most: int, jobs: int, only: Sequence[str] = ()
) -> Iterator[tuple[Row, list[Result]]]:
    """Kill each command, then those that recover what the first kind of change left unfinished."""
    for command in commands:
        stage = prepare(command, folder / command.name, only=only)
        wanted = min(most or MOST_AS_PROGRAM, MOST_AS_PROGRAM) if command.is_program else most
        results = kill_at_all(stage, most=wanted, jobs=jobs)
        yield count(stage, results), results
        if command.is_recovered:
            for place in make_unfinished(stage, results):
                yield from torture_recovery(place, folder / f"{command.name} {place.name}", most=most, jobs=jobs)


def torture_recovery(sample: Path, folder: Path, *, most: int, jobs: int) -> Iterator[tuple[Row, list[Result]]]:
    """Kill the recovering command, alone and with another beside it."""
    for rivals, name in ((0, f"recovery of {folder.name}"), (1, f"two recoveries of {folder.name}")):
        stage = prepare(recovering(name), folder / f"{rivals}", sample=sample)
        wanted = min(most or MOST_WITH_RIVAL, MOST_WITH_RIVAL) if rivals else most
        results = kill_at_all(stage, most=wanted, jobs=jobs, rivals=rivals)
        yield count(stage, results), results


def replay(point: str, folder: Path) -> list[Result]:
    """One point again."""
    name, syscall, number = point.rsplit(":", 2)
    command = next(each for each in COMMANDS if each.name == name)
    stage = prepare(command, folder / name)
    return [kill_at(stage, Call(syscall, int(number), ""))]


def main() -> int:
    """Torture, print a row for each command and every point that was bad; 1 if there was one."""
    options = _read_options()
    clean_environment()
    obstacle = find_obstacle()
    if obstacle:
        print(f"nothing was killed: {obstacle}")
        return 2
    folder = make_folder()
    began, rows, bad = time.perf_counter(), [], []
    try:
        if options.only:
            bad = replay(options.only, folder)
        wanted = (
            [] if options.only else [each for each in COMMANDS if not options.command or each.name in options.command]
        )
        for row, results in torture(wanted, folder, most=options.most, jobs=options.jobs, only=options.syscall or ()):
            rows.append(row)
            bad += [each for each in results if each.complaints and not row.is_control]
            if not options.json:
                print(render_row(row), flush=True)
    finally:
        shutil.rmtree(folder)
    return _tell(rows, bad, seconds=time.perf_counter() - began, as_json=options.json)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--command", action="append", help="only this command; may be given again")
    parser.add_argument("--most", type=int, default=0, metavar="N", help="at most N points a command, evenly spread")
    parser.add_argument("--only", metavar="COMMAND:SYSCALL:N", help="one point, again")
    parser.add_argument("--syscall", action="append", help="only calls of this name; may be given again")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    return parser.parse_args()


def render_row(row: Row) -> str:
    """A command's counts on a line."""
    told = "must be found out" if row.is_control else f"{row.left_behind} left a file behind"
    effect = "" if row.took_effect is None else f", {row.took_effect} took effect"
    return f"{row.command:<44} {row.fired:>5} of {row.points:>4} points fired, {row.bad:>3} bad · {told}{effect}"


def _tell(rows: list[Row], bad: list[Result], *, seconds: float, as_json: bool) -> int:
    blind = [row.command for row in rows if row.is_control and not row.bad]
    counted = [row for row in rows if not row.is_control]
    unfired = sum(row.points - row.fired for row in counted if not row.command.startswith("two "))
    total = sum(row.fired for row in counted)
    if as_json:
        print(json.dumps({"rows": [row._asdict() for row in rows], "bad": [each._asdict() for each in bad]}))
    else:
        for each in bad:
            print(f"\n{each.point}{'' if each.fired else ': the kill did not happen'}")
            print("".join(f"  {complaint}\n" for complaint in each.complaints), end="")
        print(f"\n{total} points, {unfired} not fired, {len(bad)} bad, {seconds:.0f} s")
        print("".join(f"{name} was not found out: nothing is proved\n" for name in blind), end="")
    return 1 if bad or blind or unfired else 0


if __name__ == "__main__":
    sys.exit(main())

"""Kill every command at every syscall, let the next command come, and look.

Run as `python torture/kill_points.py`; `--help` lists the options. A point is `COMMAND:SYSCALL:N`: the process is
killed with SIGKILL when it is about to make its N-th call of that name. After the next command the workspace must look
as if the killed one had never run, or had run whole. Then what was left unfinished is recovered, and the recovering
command is killed at each of its own syscalls, alone and with a second one beside it. A command that writes naively is
killed as well: it must be found out.
"""

from __future__ import annotations

import sqlite3
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from torture.commands import COMMANDS, find_command, recovering
from torture.script import Result, Script, count, run_script, try_all
from torture.stage import Call, Stage, clear_away, judge, list_leavings, prepare, spread, take_workplace
from torture.tracing import Fault, HungError, run_traced
from torture.workspaces import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torture.commands import Command
    from torture.script import Options, Row

MOST_AS_PROGRAM = 150
"""A program's start costs a fifth of a second, and most of its syscalls are imports: so many of them, evenly spread."""
MOST_WITH_RIVAL = 150
"""Most points are met only now and then while a second process does the same, and are tried several times."""
TRIES = 4
"""How often a point is tried that was not reached: a rival may have made it needless."""


def kill_at(stage: Stage, call: Call, *, rivals: int = 0) -> Result:
    """Kill a command at one of its syscalls, and judge what is left."""
    point = f"{stage.command.name}:{call.syscall}:{call.number}"
    fault = Fault(call.syscall, call.number, "signal=SIGKILL")
    for _ in range(TRIES):
        place = take_workplace(stage)
        act = partial(stage.command.act, place)
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
        can_tell = stage.without != stage.after  # else what follows does the same again
        traits = ["took effect"] * (took_effect and can_tell) + ["left a file behind"] * bool(leavings)
        return Result(point, complaints=tuple(complaints), traits=tuple(traits), way=way)
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


def kill_at_all(stage: Stage, *, most: int, jobs: int, rivals: int = 0) -> list[Result]:
    """Kill a command at every syscall, or at so many."""
    return try_all([partial(kill_at, stage, call, rivals=rivals) for call in spread(stage.calls, most)], jobs)


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


def torture(commands: Sequence[Command], folder: Path, options: Options) -> Iterator[tuple[Row, list[Result]]]:
    """Kill each command, then those that recover what the first kind of change left unfinished."""
    for command in commands:
        stage = prepare(command, folder / command.name, only=options.syscalls)
        most = min(options.most or MOST_AS_PROGRAM, MOST_AS_PROGRAM) if command.is_program else options.most
        results = kill_at_all(stage, most=most, jobs=options.jobs)
        yield count(command, results), results
        if command.is_recovered:
            for place in make_unfinished(stage, results):
                yield from torture_recovery(place, folder / f"{command.name} {place.name}", options)


def torture_recovery(sample: Path, folder: Path, options: Options) -> Iterator[tuple[Row, list[Result]]]:
    """Kill the recovering command, alone and with another beside it."""
    for rivals, name in ((0, f"recovery of {folder.name}"), (1, f"two recoveries of {folder.name}")):
        stage = prepare(recovering(name), folder / f"{rivals}", sample=sample)
        most = min(options.most or MOST_WITH_RIVAL, MOST_WITH_RIVAL) if rivals else options.most
        results = kill_at_all(stage, most=most, jobs=options.jobs, rivals=rivals)
        yield count(stage.command, results, is_certain=not rivals), results


def replay(point: str, folder: Path) -> Result:
    """One point again."""
    name, syscall, number = point.rsplit(":", 2)
    return kill_at(prepare(find_command(name), folder / name), Call(syscall, int(number), ""))


if __name__ == "__main__":
    sys.exit(run_script(Script(__doc__ or "", "kills", "COMMAND:SYSCALL:N", COMMANDS, torture, replay)))

"""Let every call site of every command fail, as a full or broken disk would make it, and listen.

Run as `python torture/io_errors.py`; `--help` lists the options. A point is `COMMAND:SYSCALL:N:ERROR`; with a `+` every
later call of that name fails too, as on a disk that stays full. A command that ends with 0 must have done its work.
One that does not must say why in one sentence, and the next command must find everything as if it had never run, or had
run whole. The injection itself is looked for in strace's record.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections import Counter
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from torture.commands import COMMANDS
from torture.stage import clean_environment, judge, make_folder, prepare, spread, take_workplace
from torture.tracing import Fault, HungError, find_obstacle, run_traced
from torture.workspaces import COMMITS, copy_workspace, look_at, tell_difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torture.commands import Command
    from torture.stage import Stage
    from torture.tracing import Ending

ERRORS = {
    "close": ("EIO",),
    "epoll_create1": ("EMFILE",),
    "fchmod": ("EPERM",),
    "fcntl": ("ENOLCK",),
    "fdatasync": ("EIO", "ENOSPC"),
    "flock": ("ENOLCK",),
    "fsync": ("EIO", "ENOSPC"),
    "ftruncate": ("EIO",),
    "getdents64": ("EIO",),
    "link": ("EROFS", "ENOSPC"),
    "linkat": ("EROFS", "ENOSPC"),
    "mkdir": ("ENOSPC", "EROFS"),
    "mkdirat": ("ENOSPC", "EROFS"),
    "openat": ("EMFILE", "EACCES", "EROFS"),
    "pipe2": ("EMFILE",),
    "pread64": ("EIO",),
    "pwrite64": ("ENOSPC", "EIO", "ENOSPC+"),
    "read": ("EIO",),
    "rename": ("EIO", "EROFS", "ENOSPC"),
    "renameat2": ("EIO", "EROFS", "ENOSPC"),
    "renameat": ("EIO", "EROFS", "ENOSPC"),
    "unlink": ("EROFS", "EIO"),
    "unlinkat": ("EROFS", "EIO"),
    "write": ("ENOSPC", "EIO", "ENOSPC+"),
}


TRIES = 4
"""How often a point is tried that was not reached."""


class Result(NamedTuple):
    """One point: whether the error was given, how the command ended, and what was wrong."""

    point: str
    fired: bool = True
    code: int = 0
    said: str = ""
    complaints: tuple[str, ...] = ()


class Row(NamedTuple):
    """A command's points, counted."""

    command: str
    points: int
    fired: int
    refused: int
    """Ended with an error that was told."""
    unharmed: int
    """Ended well, with everything there."""
    bad: int
    errors: dict[str, int]
    is_control: bool


def list_faults(stage: Stage, most: int) -> list[Fault]:
    """Every error at every call that can have it."""
    wanted = [call for call in stage.calls if call.syscall in ERRORS]
    return [
        Fault(call.syscall, call.number, f"error={error.rstrip('+')}", onwards=error.endswith("+"))
        for call in spread(wanted, most)
        for error in ERRORS[call.syscall]
    ]


def fail_at(stage: Stage, fault: Fault) -> Result:
    """Let one call of a command fail, and judge what it says and what is left."""
    place = take_workplace(stage)
    error = f"{fault.what.partition('=')[2]}{'+' * fault.onwards}"
    point = f"{stage.command.name}:{fault.syscall}:{fault.number}:{error}"
    try:
        for _ in range(TRIES):
            copy_workspace(stage.sample, place)
            ending = run_traced(lambda: stage.command.act(place), scratch=stage.folder, fault=fault)
            if ending.was_injected:
                break
        complaints = list_complaints(stage, place, ending)
    except (HungError, AssertionError) as hung:
        return Result(point, complaints=(str(hung),))
    said = ending.stderr.strip().rpartition("\n")[2]
    return Result(point, ending.was_injected, ending.code, said, tuple(complaints))


def list_complaints(stage: Stage, place: Path, ending: Ending) -> list[str]:
    """What is wrong with how a command ended, and with what it left."""
    complaints = []
    if ending.code == 0:
        seen = look_at(place)
        complaints += [f"silent success: {each}" for each in tell_difference(seen, stage.done)]
    elif ending.code < 0:
        complaints.append(f"ended by signal {-ending.code}")
    elif not _is_mute(ending):
        complaints += [f"said: {ending.stderr}"] if not _is_sentence(ending.stderr) else []
    # A settlement goes on after a step that failed and commits what it has; the next one commits the rest.
    return complaints + judge(stage, place, ignoring=COMMITS)[0]


def _is_sentence(said: str) -> bool:
    """One line that says why, and what to do next."""
    lines = said.strip().splitlines()
    errors = [each for each in lines if each.startswith("remit: error: ")]
    return len(errors) == 1 and "Traceback" not in said and "this is a bug" not in said and "; " in errors[0]


def _is_mute(ending: Ending) -> bool:
    """Whether the error was on the very line that would have told it."""
    return any(each.startswith("write(2,") and "(INJECTED)" in each for each in ending.trace)


_STAGES: dict[str, Stage] = {}
"""What the workers share: they are forked once it is complete."""


def _work(job: tuple[str, Fault]) -> Result:
    return fail_at(_STAGES[job[0]], job[1])


def torture(
    commands: Iterable[Command], folder: Path, *, most: int, jobs: int, only: Sequence[str] = ()
) -> Iterator[tuple[Row, list[Result]]]:
    """Let each command fail at each of its calls."""
    for command in commands:
        stage = _STAGES[command.name] = prepare(command, folder / command.name, only=only)
        faults = list_faults(stage, most)
        with get_context("fork").Pool(jobs) as pool:
            results = pool.map(_work, [(command.name, fault) for fault in faults], chunksize=4)
        yield count(command, results), results


def count(command: Command, results: list[Result]) -> Row:
    """The points of a command, counted."""
    found = [result for result in results if result.fired]
    return Row(
        command.name,
        len(results),
        len(found),
        sum(result.code != 0 for result in found),
        sum(result.code == 0 for result in found),
        sum(bool(result.complaints) for result in found),
        dict(Counter(result.point.rpartition(":")[2] for result in found)),
        command.is_control,
    )


def replay(point: str, folder: Path) -> list[Result]:
    """One point again."""
    name, syscall, number, error = point.rsplit(":", 3)
    command = next(each for each in COMMANDS if each.name == name)
    fault = Fault(syscall, int(number), f"error={error.rstrip('+')}", onwards=error.endswith("+"))
    return [fail_at(prepare(command, folder / name), fault)]


def main() -> int:
    """Torture, print a row for each command and every point that was bad; 1 if there was one."""
    options = _read_options()
    clean_environment()
    obstacle = find_obstacle()
    if obstacle:
        print(f"nothing failed: {obstacle}")
        return 2
    folder = make_folder()
    began, rows, bad = time.perf_counter(), [], []
    try:
        if options.only:
            bad = replay(options.only, folder)
        commands = [] if options.only else [each for each in COMMANDS if not (each.is_program or each.is_followed)]
        listed = [each for each in commands if not options.command or each.name in options.command]
        for row, results in torture(listed, folder, most=options.most, jobs=options.jobs, only=options.syscall or ()):
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
    parser.add_argument("--most", type=int, default=0, metavar="N", help="at most N calls a command, evenly spread")
    parser.add_argument("--only", metavar="COMMAND:SYSCALL:N:ERROR", help="one point, again")
    parser.add_argument("--syscall", action="append", help="only calls of this name; may be given again")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    return parser.parse_args()


def render_row(row: Row) -> str:
    """A command's counts on a line."""
    told = "must be found out" if row.is_control else f"{row.refused} told, {row.unharmed} unharmed"
    return f"{row.command:<30} {row.fired:>5} of {row.points:>4} errors given, {row.bad:>3} bad · {told}"


def _tell(rows: list[Row], bad: list[Result], *, seconds: float, as_json: bool) -> int:
    blind = [row.command for row in rows if row.is_control and not row.bad]
    counted = [row for row in rows if not row.is_control]
    unfired = sum(row.points - row.fired for row in counted)
    if as_json:
        print(json.dumps({"rows": [row._asdict() for row in rows], "bad": [each._asdict() for each in bad]}))
    else:
        for each in bad:
            print(f"\n{each.point}{'' if each.fired else ': the error was not given'} ({each.code}) {each.said}")
            print("".join(f"  {complaint}\n" for complaint in each.complaints), end="")
        silent = sum(any("silent success" in told for told in each.complaints) for each in bad)
        total = sum(row.fired for row in counted)
        print(f"\n{total} errors, {unfired} not given, {silent} silent successes, {len(bad)} bad, {seconds:.0f} s")
        print("".join(f"{name} was not found out: nothing is proved\n" for name in blind), end="")
    return 1 if bad or blind or unfired else 0


if __name__ == "__main__":
    sys.exit(main())

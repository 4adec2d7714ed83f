"""Let every call site of every command fail, as a full or broken disk would make it, and listen.

Run as `python torture/io_errors.py`; `--help` lists the options. A point is `COMMAND:SYSCALL:N:ERROR`; with a `+` every
later call of that name fails too, as on a disk that stays full. A command that ends with 0 must have done its work.
One that does not must say why in one sentence, and the next command must find everything as if it had never run, or had
run whole. The injection itself is looked for in strace's record.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from remit.views.render import COULD_NOT_RUN, NOT_ACCEPTED
from torture.commands import COMMANDS, find_command
from torture.script import Result, Script, count, run_script, try_all
from torture.stage import clear_away, judge, list_leavings, prepare, spread, take_workplace
from torture.tracing import Fault, HungError, run_traced
from torture.workspaces import COMMITS, look_at, tell_difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torture.commands import Command
    from torture.script import Options, Row
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
    "rmdir": ("EROFS", "EIO"),
    "unlink": ("EROFS", "EIO"),
    "unlinkat": ("EROFS", "EIO"),
    "write": ("ENOSPC", "EIO", "ENOSPC+"),
}
TRIES = 4
"""How often a point is tried that was not reached."""
SILENT = "silent success: "


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
    error = f"{fault.what.partition('=')[2]}{'+' * fault.onwards}"
    point = f"{stage.command.name}:{fault.syscall}:{fault.number}:{error}"
    try:
        for _ in range(TRIES):
            place = take_workplace(stage)
            ending = run_traced(partial(stage.command.act, place), scratch=stage.folder, fault=fault)
            if ending.was_injected:
                break
        else:
            return Result(point, fired=False)
        complaints = list_complaints(stage, place, ending)
    except (HungError, AssertionError) as hung:
        return Result(point, complaints=(str(hung),))
    silent = any(each.startswith(SILENT) for each in complaints)
    traits = [error.rstrip("+"), "told" if ending.code else "unharmed", *(["silent successes"] if silent else [])]
    said = f"({ending.code}) {ending.stderr.strip().rpartition(chr(10))[2]}"
    return Result(point, complaints=tuple(complaints), traits=tuple(traits), said=said)


def list_complaints(stage: Stage, place: Path, ending: Ending) -> list[str]:
    """What is wrong with how a command ended, and with what it left."""
    complaints = []
    if ending.code == 0:
        complaints += [f"{SILENT}{each}" for each in tell_difference(look_at(place), stage.done)]
        complaints += [f"{SILENT}{each} is still there" for each in list_leavings(stage, place) if stage.command.clears]
    elif not _is_told(ending):
        complaints.append(f"ended with {ending.code} and said: {ending.stderr or ending.stdout}")
    # A settlement goes on after a step that failed and commits what it has; the next one commits the rest.
    complaints += judge(stage, place, ignoring=COMMITS)[0]
    return complaints + (clear_away(stage, place) if list_leavings(stage, place) else [])


def _is_told(ending: Ending) -> bool:
    """Whether it ended as one that could not run; or as one that did what it could, and says what it could not."""
    if ending.code == NOT_ACCEPTED and not ending.stderr:
        return any(each.startswith("✗ ") and "; " in each for each in ending.stdout.splitlines())
    return ending.code in {COULD_NOT_RUN, NOT_ACCEPTED} and (_is_mute(ending) or _is_sentence(ending.stderr))


def _is_sentence(said: str) -> bool:
    """One line that says why, and one below it that says what to do next."""
    lines = said.strip().splitlines()
    errors = [at for at, each in enumerate(lines) if each.startswith("error: ")]
    if len(errors) != 1 or "Traceback" in said or "this is a bug" in said:
        return False
    return any(each.startswith("hint: ") for each in lines[errors[0] + 1 :])


def _is_mute(ending: Ending) -> bool:
    """Whether the error was on the very line that would have told it."""
    return any(each.startswith("write(2,") and "(INJECTED)" in each for each in ending.trace)


def torture(commands: Sequence[Command], folder: Path, options: Options) -> Iterator[tuple[Row, list[Result]]]:
    """Let each command fail at each of its calls."""
    for command in commands:
        stage = prepare(command, folder / command.name, only=options.syscalls)
        faults = list_faults(stage, options.most)
        results = try_all([partial(fail_at, stage, fault) for fault in faults], options.jobs)
        yield count(command, results), results


def replay(point: str, folder: Path) -> Result:
    """One point again."""
    name, syscall, number, error = point.rsplit(":", 3)
    fault = Fault(syscall, int(number), f"error={error.rstrip('+')}", onwards=error.endswith("+"))
    return fail_at(prepare(find_command(name), folder / name), fault)


_COMMANDS = tuple(each for each in COMMANDS if not each.is_program and not each.is_followed)
"""As a program, a command makes the same calls and those of its imports; what git's processes say is git's."""

if __name__ == "__main__":
    sys.exit(run_script(Script(__doc__ or "", "errors", "COMMAND:SYSCALL:N:ERROR", _COMMANDS, torture, replay)))

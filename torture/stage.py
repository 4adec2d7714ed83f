"""The stage: a command's workspace before, the two ways in which it may look in the end, and every syscall between.

Owns the judgement of one point. It knows nothing of the fault that was injected there.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from torture.commands import clear_up
from torture.tracing import list_calls, run_plainly, run_traced
from torture.workspaces import copy_workspace, find_damage, list_litter, look_at, make_workspace, tell_difference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torture.commands import Command
    from torture.tracing import Ending

MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
T = TypeVar("T")


class Call(NamedTuple):
    """A syscall of a command: its name, and its number among those of the same name."""

    syscall: str
    number: int
    arguments: str


class Stage(NamedTuple):
    """A command with all that is needed to run it again and again."""

    command: Command
    folder: Path
    calls: tuple[Call, ...]
    done: dict[str, bytes]
    """How the workspace looks right after the command."""
    without: dict[str, bytes]
    """How the workspace looks if the command never ran, and the one that follows did."""
    after: dict[str, bytes]
    """How it looks if both ran."""
    litter: frozenset[str]
    """What an undisturbed run leaves of its own."""

    @property
    def sample(self) -> Path:
        """The workspace before the command."""
        return self.folder / "sample"


def make_folder() -> Path:
    """A folder to torture in: in memory where there is one, for nothing here is about the loss of power."""
    home = MEMORY if os.access(MEMORY, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="torture-", dir=home))


def clean_environment() -> None:
    """Whoever runs this may have settings of their own."""
    for name in list(os.environ):
        if name.startswith(("REMIT_", "GIT_", "XDG_")) or name in {"FORCE_COLOR", "CLICOLOR_FORCE"}:
            del os.environ[name]
    os.environ |= {
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }


def prepare(command: Command, folder: Path, *, sample: Path | None = None, only: Sequence[str] = ()) -> Stage:
    """Run a command undisturbed: what it does to the workspace, and by which syscalls, or by those of some names."""
    folder.mkdir(parents=True)
    stage = Stage(command, folder, (), {}, {}, {}, frozenset())
    if sample is None:
        make_workspace(stage.sample)
        _load_modules(command, stage)
        must_end_well(run_plainly(lambda: command.begin(stage.sample), scratch=folder), f"what precedes {command.name}")
    else:
        copy_workspace(sample, stage.sample)
    without, both = (take_workplace(stage) for _ in range(2))
    must_end_well(run_plainly(lambda: command.follow(without), scratch=folder), f"what follows {command.name}")
    seen_without = look_at(without)
    calls = _trace(stage, both)
    done, litter = look_at(both), list_litter(both)
    must_end_well(run_plainly(lambda: command.follow(both), scratch=folder), f"what follows {command.name}")
    return stage._replace(
        calls=tuple(call for call in calls if not only or call.syscall in only),
        done=done,
        without=seen_without,
        after=look_at(both),
        litter=frozenset([*litter, *list_litter(both)]),
    )


def _trace(stage: Stage, place: Path) -> list[Call]:
    """The calls that a command makes each time: how often it reads from a process of its own is a matter of chance."""
    traces = []
    for _ in range(2):
        copy_workspace(stage.sample, place)
        command = stage.command
        ending = run_traced(
            lambda: stage.command.act(place), scratch=stage.folder, fault=None, in_children=command.is_followed
        )
        must_end_well(ending, command.name)
        traces.append(list_calls(ending.trace, after=str(place) if command.is_program else ""))
    common = {(name, number) for name, number, _ in traces[0]}
    return [Call(*call) for call in traces[1] if call[:2] in common]


def must_end_well(ending: Ending, what: str) -> None:
    """An undisturbed run that fails would make everything after it worthless."""
    if ending.code != 0:
        raise AssertionError(f"{what} failed by itself with {ending.code}: {ending.stderr or ending.stdout}")


def take_workplace(stage: Stage) -> Path:
    """A fresh copy of the sample; always the same place for one process, so that paths have one length."""
    place = stage.folder / f"work-{os.getpid()}"
    copy_workspace(stage.sample, place)
    return place


def judge(stage: Stage, place: Path, *, ignoring: str = "") -> tuple[list[str], bool]:
    """Let the next command come, and say what is wrong then; and whether the command took effect.

    One part of the look can be left out.
    """
    ending = run_plainly(lambda: stage.command.follow(place), scratch=stage.folder)
    complaints = find_damage(place)
    if ending.code != 0:
        complaints.append(f"the next command ended with {ending.code}: {ending.stderr or ending.stdout}")
    seen = look_at(place)
    for look in (stage.without, stage.after):
        if ignoring in look and ignoring in seen:
            seen[ignoring] = look[ignoring]
        if seen == look:
            break
    else:
        nearest = min((tell_difference(seen, each) for each in (stage.without, stage.after)), key=len)
        complaints += [f"neither before nor after: {each}" for each in nearest]
    return complaints, seen == stage.after


def list_leavings(stage: Stage, place: Path) -> list[str]:
    """What was left behind that an undisturbed run does not leave."""
    return [name for name in list_litter(place) if name not in stage.litter]


def clear_away(stage: Stage, place: Path) -> list[str]:
    """Let an hour pass and `remit gc` come; what it does not remove would grow with every crash."""
    ending = run_plainly(lambda: clear_up(place), scratch=stage.folder)
    kept = list_leavings(stage, place)
    told = [f"remit gc ended with {ending.code}: {ending.stderr}"] if ending.code != 0 else []
    return told + [f"remit gc leaves {name}" for name in kept]


def spread(calls: Sequence[T], most: int) -> list[T]:
    """At most so many of them, evenly over the whole."""
    if most <= 0 or len(calls) <= most:
        return list(calls)
    return [calls[place * len(calls) // most] for place in range(most)]


def _load_modules(command: Command, stage: Stage) -> None:
    """Load here what the command loads, so that its children need not: in a child, which tells us its list."""
    place, told = stage.folder / "modules", stage.folder / "modules.txt"
    copy_workspace(stage.sample, place)

    def run_and_list() -> int:
        steps: tuple[Callable[[Path], int], ...] = (command.begin, command.act, command.follow)
        code = max(step(place) for step in steps)
        told.write_text("\n".join(name for name in sys.modules if not name.startswith("__")), encoding="utf-8")
        return code

    run_plainly(run_and_list, scratch=stage.folder)
    if told.exists():
        for name in told.read_text(encoding="utf-8").split("\n"):
            with suppress(ImportError):
                importlib.import_module(name)

"""What is tortured: each command that changes something, and what comes after it.

Owns the table. A command line is run as `remit` runs it, from the parsing of its words to its exit code. After it, a
second command is run that recovers what there is to recover and then changes something itself: what is left at the end
must be what it would be had the first command never run, or run undisturbed.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from remit.doors.cli import run
from remit.doors.cli.output import complain
from remit.doors.render import get_exit_code
from remit.errors import RemitError, StateError
from remit.workspace.home import Home
from remit.workspace.ledger.delegations import Attempt, Delegation, add_delegation, advance, record_attempt
from remit.workspace.ledger.retention import forget_old
from remit.workspace.ledger.spills import load_spill, write_spill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SESSION = "sess_1735460684_a1b2c3"


class Command(NamedTuple):
    """Something that changes a workspace."""

    name: str
    act: Callable[[Path], int]
    follow: Callable[[Path], int]
    begin: Callable[[Path], int] = lambda _: 0
    """What was done in the workspace before."""
    is_program: bool = False
    """Whether it is run as a program of its own."""
    is_recovered: bool = False
    """Whether what its kills leave unfinished is to be recovered under torture, too."""
    is_control: bool = False
    """Whether it is one that must be found out: if it is not, nothing is proved."""


def run_remit(root: Path, *words: str) -> int:
    """Run a command line in this process; the exit code."""
    os.chdir(root)
    return run(list(words))


def run_program(root: Path, *words: str) -> int:
    """Run a command line as a program of its own: the interpreter's start and every import belong to it."""
    os.chdir(root)
    script = "from remit.doors.cli import main; main()"
    os.execv(sys.executable, [sys.executable, "-c", script, *words])  # noqa: S606 - it is ours


def line(*words: str) -> Callable[[Path], int]:
    """A command line, to be run."""
    return lambda root: run_remit(root, *words)


def program(*words: str) -> Callable[[Path], int]:
    """A command line, to be run as a program."""
    return lambda root: run_program(root, *words)


def in_turn(*steps: Callable[[Path], int]) -> Callable[[Path], int]:
    """One after the other; the first code that is not 0."""

    def run_all(root: Path) -> int:
        return next((code for step in steps if (code := step(root))), 0)

    return run_all


def as_door(function: Callable[[Path], None]) -> Callable[[Path], int]:
    """A function that no command has yet, with its errors told as a command would tell them."""

    def act(root: Path) -> int:
        try:
            function(root)
        except RemitError as error:
            complain(error)
            return get_exit_code(error)
        return 0

    return act


def write_naively(root: Path) -> int:
    """Two files, one after the other, as most programs do."""
    (root / "specs/state.json").write_text("{}", encoding="utf-8")
    (root / "specs/TODO.md").write_text("# TODO\n", encoding="utf-8")
    return 0


@as_door
def admit(root: Path) -> None:
    """Write a delegation down."""
    home = Home(str(root))
    add_delegation(home.ledger, Delegation(SESSION, "researcher", 1, ("orchestrator", "researcher")))
    home.close()


@as_door
def end(root: Path) -> None:
    """Write down what became of a delegation, and keep its answer word for word."""
    home = Home(str(root))
    answer = write_spill(home, b"an answer " * 1000, session_id=SESSION, kind="answer")
    load_spill(home, answer)
    try:
        with home.ledger.transaction(durable=True) as db:
            advance(db, SESSION, "settled", ended_ms=1, ending="exited", outcome="accepted", status="completed")
            record_attempt(db, SESSION, Attempt(1, 1, 1, "exited", "accepted", answer))
    except StateError as error:
        if "settled already" not in error.message:
            raise
    home.close()


@as_door
def forget(root: Path) -> None:
    """Forget every delegation that is settled."""
    home = Home(str(root))
    forget_old(home, days=-1, megabytes=1)
    home.close()


@as_door
def make_ledger(root: Path) -> None:
    """Make what a workspace keeps for itself."""
    home = Home(str(root))
    home.ledger.checkpoint()
    home.close()


_KNOWN = line("sync")
"""Remit has been in the workspace before."""
_AND_NEW = in_turn(line("sync", "--check"), line("task", "new", "What comes next"))
"""The two files agree, and the next number is right."""
_MOVE = ("task", "move", "12", "implementing")
_NEW = ("task", "new", "Another", "one", "--priority", "high", "--description", "To be done.")

COMMANDS: tuple[Command, ...] = (
    Command("naive", write_naively, make_ledger, is_control=True),
    Command("first ledger", make_ledger, admit),
    Command("admit", admit, make_ledger, begin=make_ledger),
    Command("end", end, end, begin=admit),
    Command("forget", forget, forget, begin=in_turn(admit, end)),
    Command("task move", line(*_MOVE), _AND_NEW, begin=_KNOWN, is_recovered=True),
    Command("task move, first of all", line(*_MOVE), _AND_NEW),
    Command("task move of a phase", line("task", "move", "12", "in progress", "--phase", "2"), _AND_NEW, begin=_KNOWN),
    Command("task new", line(*_NEW), _AND_NEW, begin=_KNOWN, is_recovered=True),
    Command("task block", line("task", "block", "13", "--reason", "No key"), _AND_NEW, begin=_KNOWN),
    Command("task focus", line("task", "focus", "13"), line("task", "focus", "13"), begin=_KNOWN),
    Command("task archive", line("task", "archive"), _AND_NEW, begin=_KNOWN),
    Command("task move, as a program", program(*_MOVE), _AND_NEW, begin=_KNOWN, is_program=True),
    Command("task new, as a program", program(*_NEW), _AND_NEW, begin=_KNOWN, is_program=True),
)


def recovering(name: str) -> Command:
    """What recovers a change that was left unfinished."""
    return Command(name, line("sync", "--check"), _AND_NEW)

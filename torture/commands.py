"""What is tortured: each command that changes something, and what comes after it.

Owns the table. A command line is run as `remit` runs it, from the parsing of its words to its exit code. After it, a
second command is run that recovers what there is to recover and then changes something itself: what is left at the end
must be what it would be had the first command never run, or run undisturbed.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from remit.cli import run
from remit.cli.output import report_error
from remit.errors import RemitError, StateError, StorageError
from remit.git.repository import SCRATCH
from remit.ledger.home import Home
from remit.ledger.hook_runs import add_act
from remit.ledger.integrity_check import list_set_aside
from remit.ledger.retention import delete_old_runs
from remit.ledger.runs import AttemptRow, Run, add_run, advance, list_runs, record_attempt
from remit.ledger.texts import load_spill, write_spill
from remit.maintenance import leftovers
from remit.model import AgentError, Artifact, ArtifactFacts
from remit.runs.finish.finish_steps import FinishInput, FinishStores, run_finish_steps
from remit.tasks.store import TaskStore
from remit.views.render import get_exit_code
from torture.workspaces import MANIFEST, STATE, TODO, make_entry

if TYPE_CHECKING:
    from collections.abc import Callable

SESSION = "sess_1735460684_a1b2c3"
HALF_WRITTEN = (
    "specs/.remit-4194305-00000000-TODO.md",
    ".remit/.remit-4194305-00000000-x",
    "specs/.remit-000000000000",
)
"""Of a process that cannot be, for its number is too high, and of the journal."""
SCRATCH_FOLDER = f"tmp/{SCRATCH}4194305-00000000"
FINDINGS_FILE = "claudedocs/agent-outputs/2026-01-05_topic-7.md"


class Command(NamedTuple):
    """Something that changes a workspace."""

    name: str
    act: Callable[[Path], int]
    follow: Callable[[Path], int]
    begin: Callable[[Path], int] = lambda _: 0
    """What was done in the workspace before."""
    is_program: bool = False
    """Whether it is run as a program of its own."""
    is_followed: bool = False
    """Whether the processes that it starts are killed, too, each at its N-th call."""
    is_recovered: bool = False
    """Whether what its kills leave unfinished is to be recovered under torture, too."""
    clears: bool = False
    """Whether it is there to remove what others have left, so that nothing may be left by it."""
    is_control: bool = False
    """Whether it is one that must be found out: if it is not, nothing is proved."""


def run_remit(root: Path, *words: str) -> int:
    """Run a command line in this process; the exit code."""
    os.chdir(root)
    return run(list(words))


def run_program(root: Path, *words: str) -> int:
    """Run a command line as a program of its own: the interpreter's start and every import belong to it."""
    os.chdir(root)
    script = "from remit.cli import main; main()"
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
            report_error(error)
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
    add_run(home.ledger, Run(SESSION, "researcher", 1, ("orchestrator", "researcher")))
    home.close()


@as_door
def end(root: Path) -> None:
    """Write down what became of a delegation, and keep its answer word for word."""
    home = Home(str(root))
    answer = write_spill(home, b"an answer " * 1000, session_id=SESSION, kind="answer")
    load_spill(home, answer)
    try:
        with home.ledger.transaction(durable=True) as db:
            advance(db, SESSION, "finished", ended_ms=1, stop_reason="exited", verdict="accepted", status="completed")
            record_attempt(db, SESSION, AttemptRow(1, 1, 1, "exited", "accepted", answer))
    except StateError as error:
        if "finished already" not in error.message:
            raise
    home.close()


@as_door
def forget(root: Path) -> None:
    """Forget every delegation that is settled."""
    home = Home(str(root))
    delete_old_runs(home, days=-1, megabytes=1)
    home.close()


@as_door
def make_ledger(root: Path) -> None:
    """Make what a workspace keeps for itself."""
    home = Home(str(root))
    home.ledger.checkpoint()
    home.close()


def research(root: Path) -> int:
    """What an agent leaves: its findings, and what Remit wrote down while it worked."""
    (root / FINDINGS_FILE).write_text("---\ntitle: Auth\n---\n\n# Auth\n\n## Summary\n\nIt works.\n", encoding="utf-8")
    home = Home(str(root))
    with home.ledger.transaction() as db:
        add_act(db, session_id=SESSION, path=FINDINGS_FILE, operation="write")
    home.close()
    return run_remit(root, "task", "set-status", "13", "researching")


@as_door
def settle_all(root: Path) -> None:
    """Settle a delegation: manifest, task, errors, activity and a commit."""
    os.chdir(root)
    home = Home(str(root))
    fault = AgentError(
        "execution", "one test is flaky", "UNKNOWN_ERROR", recoverable=True, recommendation="Run it again."
    )
    finish_steps = FinishInput(
        SESSION,
        "completed",
        kind="research",
        task_number=13,
        summary="Found out how users sign in.",
        artifacts=(Artifact("research", FINDINGS_FILE, "How users sign in"),),
        errors=(fault,),
        entry=make_entry(7, file=Path(FINDINGS_FILE).name, linked_tasks=["13"]),
    )
    places = FinishStores(TaskStore(home, "specs"), f"{root}/{MANIFEST}", f"{root}/specs/errors.json", _look)
    steps = run_finish_steps(home, finish_steps, places)
    home.close()
    failed = [step for step in steps if step.state == "failed"]
    if failed:
        told = [each.message for step in failed for each in step.diagnostics] or [step.message for step in failed]
        raise StorageError(f"{failed[0].name} failed: {told[0]}", hint="see what is in the way, and settle again")


def settle_by_fork(root: Path) -> int:
    """The same, without vfork: strace loses sight of one now and then."""
    subprocess._USE_VFORK = False  # type: ignore[misc]  # noqa: SLF001 - in a child of our own
    return settle_all(root)


def _look(path: str) -> ArtifactFacts:
    return ArtifactFacts(path, "file", 10)


def edit_by_hand(root: Path) -> int:
    """Somebody takes a task up in TODO.md."""
    file = root / TODO
    file.write_text(file.read_text(encoding="utf-8").replace("[NOT STARTED]", "[IN PROGRESS]", 1), encoding="utf-8")
    return 0


def add_by_hand(root: Path) -> int:
    """Somebody writes a task into TODO.md."""
    with (root / TODO).open("a", encoding="utf-8") as file:
        file.write("\n---\n\n### 14. By hand\n- **Status**: [NOT STARTED]\n")
    return 0


def cut_off(root: Path) -> int:
    """state.json ends in the middle."""
    file = root / STATE
    file.write_bytes(file.read_bytes()[:-120])
    return 0


def tear(root: Path) -> int:
    """Somebody died while the manifest's last line was written."""
    file = root / MANIFEST
    file.write_bytes(file.read_bytes()[:-40])
    return 0


@as_door
def age_ledger(root: Path) -> None:
    """The ledger is one of an older version."""
    home = Home(str(root))
    home.ledger.db.execute("DROP TABLE notes")
    home.ledger.db.execute("PRAGMA user_version = 1")
    home.close()


@as_door
def find_kept(root: Path) -> None:
    """The older ledger is kept as a file of its own with all that is in it, and the new one is empty."""
    home = Home(str(root))
    if list_runs(home.ledger):
        raise StateError("the new ledger has runs")
    home.close()
    kept = list_set_aside(home.ledger_file)
    for file in kept:
        with closing(sqlite3.connect(file)) as db:
            if db.execute("SELECT session_id FROM runs").fetchall() != [(SESSION,)]:
                raise StateError(f"'{file}' isn't the older ledger")
    if not kept:
        raise StateError("no older ledger is kept")


def unset(root: Path) -> int:
    """Nobody has set the workspace up."""
    (root / "remit.toml").unlink()
    return 0


def grow_old(root: Path) -> int:
    """A delegation was settled long ago, and others have died while they wrote files or made a commit."""
    home = Home(str(root))
    with home.ledger.transaction() as db:
        for table, column in (("runs", "created_ms"), ("runs", "ended_ms"), ("spills", "created_ms")):
            db.execute(f"UPDATE {table} SET {column} = 1")  # noqa: S608 - names from this line
    home.close()
    (root / SCRATCH_FOLDER).mkdir(parents=True, mode=0o700)
    for name in (*HALF_WRITTEN, f"{SCRATCH_FOLDER}/index"):
        (root / name).write_text("half of", encoding="utf-8")
    return 0


def clear_up(root: Path) -> int:
    """`remit gc`, a day later, for a user who has nothing but this workspace."""
    os.environ["XDG_CONFIG_HOME"] = f"{root}/home"
    tempfile.tempdir = f"{root}/tmp"  # noqa: S108 - in the workspace
    leftovers.QUIET_SECONDS = leftovers.SCRATCH_SECONDS = -1.0  # no file can be given an older ctime
    return run_remit(root, "gc")


def make_projects(root: Path) -> int:
    """Workspaces with settings that run a program, of which one is agreed to."""
    for name in ("one", "two", "three"):
        project = _find_project(root, name)
        project.mkdir(parents=True, exist_ok=True)
        (project / "remit.toml").write_text('[tasks]\nshow = "tool show {id}"\n', encoding="utf-8")
    return trust("one", "--yes")(root)


def _find_project(root: Path, name: str) -> Path:
    """One path for the sample and all its copies: it is what is agreed to."""
    return root.parent / "projects" / name


def trust(project: str, *words: str) -> Callable[[Path], int]:
    """`remit config trust` in one of the projects, by a user whose own folder is in the workspace that is looked at."""

    def act(root: Path) -> int:
        os.environ["XDG_CONFIG_HOME"] = f"{root}/home"
        return run_remit(_find_project(root, project), "config", "trust", *words)

    return act


def _add(number: int, *more: str) -> tuple[str, ...]:
    findings = ("Use one button.", "Keep the menu short.", "Name files by their date.")
    words = [word for finding in findings for word in ("--finding", finding)]
    return ("findings", "add", "--title", f"Added {number}", "--topic", "export", "--date", "2026-01-06", *words, *more)


_KNOWN = line("task", "sync")
"""Remit has been in the workspace before."""
_AND_NEW = in_turn(line("task", "sync", "--check"), line("task", "new", "What comes next"))
"""The two files agree, and the next number is right."""
_REPAIR = in_turn(line("task", "sync", "--repair"), line("task", "new", "What comes next"))
_MOVE = ("task", "set-status", "12", "implementing")
_NEW = ("task", "new", "Another", "one", "--priority", "high", "--description", "To be done.")
_LINK = ("task", "link", "13", "topic-1-2026-01-05")
_MARK = ("errors", "resolve", "err_1", "--fixed")
_FILE = ("--write-file", "--summary", "It works. It is small.", "--recommendation", "Do it.", "--source", "A book.")
_AND_ADD = in_turn(line("findings", "list"), line(*_add(2)), line("findings", "show", "added-2-2026-01-06"))
"""Every earlier line is there, and one more can be added and found."""

COMMANDS: tuple[Command, ...] = (
    Command("naive", write_naively, make_ledger, is_control=True),
    Command("first ledger", make_ledger, admit),
    Command("older ledger", make_ledger, find_kept, begin=in_turn(admit, age_ledger)),
    Command("admit", admit, make_ledger, begin=make_ledger),
    Command("end", end, end, begin=admit),
    Command("forget", forget, forget, begin=in_turn(admit, end)),
    Command("task set-status", line(*_MOVE), _AND_NEW, begin=_KNOWN, is_recovered=True),
    Command("task set-status, first of all", line(*_MOVE), _AND_NEW),
    Command(
        "task set-status of a phase",
        line("task", "set-status", "12", "in progress", "--phase", "2"),
        _AND_NEW,
        begin=_KNOWN,
    ),
    Command("task new", line(*_NEW), _AND_NEW, begin=_KNOWN),
    Command("task block", line("task", "block", "13", "--reason", "No key"), _AND_NEW, begin=_KNOWN),
    Command("task done", line("task", "done", "12"), _AND_NEW, begin=in_turn(_KNOWN, line(*_MOVE))),
    Command("task start", line("task", "start", "13"), line("task", "start", "13"), begin=_KNOWN),
    Command("task archive", line("task", "archive"), _AND_NEW, begin=_KNOWN),
    Command("task link", line(*_LINK), _AND_NEW, begin=_KNOWN),
    Command("sync", line("task", "sync"), _REPAIR, begin=in_turn(_KNOWN, edit_by_hand)),
    Command("sync --repair", line("task", "sync", "--repair"), _REPAIR, begin=in_turn(_KNOWN, add_by_hand)),
    Command("sync --repair, cut off", line("task", "sync", "--repair"), _REPAIR, begin=in_turn(_KNOWN, cut_off)),
    Command("sync --from todo", line("task", "sync", "--from", "todo"), _REPAIR, begin=in_turn(_KNOWN, edit_by_hand)),
    Command("sync --from state", line("task", "sync", "--from", "state"), _REPAIR, begin=in_turn(_KNOWN, edit_by_hand)),
    Command("findings add", line(*_add(1)), _AND_ADD, begin=line("findings", "list")),
    Command("findings add, first of all", line(*_add(1)), _AND_ADD),
    Command("findings add to a torn line", line(*_add(1)), _AND_ADD, begin=in_turn(line("findings", "list"), tear)),
    Command("findings add --write-file", line(*_add(3, *_FILE)), line(*_add(3, *_FILE))),
    Command("findings link", line("findings", "link", "12", "topic-0-2026-01-05"), _AND_NEW, begin=_KNOWN),
    Command("findings reindex", line("findings", "reindex"), _AND_ADD, begin=line("findings", "list")),
    Command("findings export", line("findings", "export", "-o", "all.csv"), _AND_ADD, begin=line("findings", "list")),
    Command("errors resolve", line(*_MARK), line(*_MARK)),
    Command("init", line("init", "--yes"), line("init", "--yes"), begin=unset),
    Command("gc", clear_up, clear_up, begin=in_turn(admit, end, grow_old), clears=True),
    Command("trust", trust("two", "--yes"), trust("three", "--yes"), begin=in_turn(_KNOWN, make_projects)),
    Command("trust --revoke", trust("one", "--revoke"), trust("three", "--yes"), begin=in_turn(_KNOWN, make_projects)),
    Command("settle", settle_all, settle_all, begin=research),
    Command("settle with git's processes", settle_by_fork, settle_all, begin=research, is_followed=True),
    Command("task set-status, as a program", program(*_MOVE), _AND_NEW, begin=_KNOWN, is_program=True),
    Command("task new, as a program", program(*_NEW), _AND_NEW, begin=_KNOWN, is_program=True),
    Command("task link, as a program", program(*_LINK), _AND_NEW, is_program=True),
    Command("findings add, as a program", program(*_add(1)), _AND_ADD, is_program=True),
)


def find_command(name: str) -> Command:
    """A row of the table."""
    return next(each for each in COMMANDS if each.name == name)


def recovering(name: str) -> Command:
    """What recovers a change that was left unfinished."""
    return Command(name, line("task", "sync", "--check"), _AND_NEW)

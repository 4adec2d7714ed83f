"""ScriptedAgent: an agent that follows a script, for tests of programs that run agents.

It is a real program in one file that needs only the standard library. It can obey, lie, hang, flood, fork and replay.
Its log records what it really did.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from remit.storage import files
from remit.testing import player

if TYPE_CHECKING:
    from collections.abc import Mapping

How = Literal["child", "setsid", "double fork", "nohup"]
"""How a process is left behind: as a child, in a separate session, as a daemon, or as a program that ignores SIGHUP."""
HOWS: tuple[How, ...] = ("child", "setsid", "double fork", "nohup")
FLOOD_BYTES = 100_000_000
_REPORT = "report.md"
_TEXT = "# Report\n\nAs the script says, in the session ${session}.\n"
_PROSE = "I looked into it and everything is fine. The report is written and all tests pass.\n"


class Act(NamedTuple):
    """One recorded act of a scripted agent."""

    act: str
    """began, wrote, printed, slept, waited, hung, ignored, flooded, forked, ran, returned, crashed, ended."""
    session: str
    run: int
    """Which run of its session, from 1."""
    pid: int
    """In the PID namespace of the agent; `list_living` returns the ids outside."""
    at: float
    details: Mapping[str, Any]


class ScriptedAgent:
    """A program that plays a script.

        agent = ScriptedAgent(tmp_path / "agents").obeys({"report.md": "# Report"})
        result = await ws.delegate(None, "Write a report.", command=agent.command)
        assert agent.did("wrote")

    Methods add acts in the order of the calls: `agent.sleeps(1).lies()` is slow and then lies. `then()`
    starts the script of the next run of the same session; without it, every run is the same. Paths are relative to the
    agent's working directory. Texts can have `${session}`, `${agent}`, `${depth}`, `${path}`, `${run}` and `${root}`.
    Keep the folder outside the workspace, or its log is an unclaimed change.
    """

    def __init__(self, folder: str | os.PathLike[str], name: str = "agent", *, format: str = "standard") -> None:
        self.name = name
        self.format = format
        base = Path(folder).absolute()
        self.program = str(base / f"{name}.py")
        self.log = str(base / f"{name}.log")
        self._scripts: list[list[list[Any]]] = [[]]

    # --- use ----------------------------------------------------------------------------------------------------------

    @property
    def command(self) -> str:
        """Write the program with the acts so far, and return its command line for `--command`."""
        source = Path(player.__file__).read_text("utf-8")
        script = json.dumps(self._scripts)
        call = f"Player({self.log!r}, {self.program!r}, {sys.executable!r}).play(json.loads({script!r}))"
        files.write_text(self.program, f'{source}\n\nif __name__ == "__main__":\n    {call}\n', make_folders=True)
        return shlex.join((sys.executable, "-I", "-S", "-B", self.program))

    @property
    def acts(self) -> tuple[Act, ...]:
        """Return all acts so far, of all runs."""
        try:
            lines = Path(self.log).read_text("utf-8").splitlines()
        except FileNotFoundError:
            return ()
        return tuple(_read_act(json.loads(line)) for line in lines)

    def did(self, act: str, *, session: str | None = None) -> tuple[Act, ...]:
        """Return the acts of one kind, such as `wrote`."""
        return tuple(each for each in self.acts if each.act == act and session in (None, each.session))

    def list_living(self) -> list[int]:
        """Return its living processes, including those left behind, in any PID namespace."""
        if not Path("/proc/self/stat").exists():
            return sorted({each.pid for each in self.acts if _is_there(each.pid)})
        own = self.program.encode()
        found = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and _is_of(entry, own)]
        return sorted(found)

    # --- honest acts --------------------------------------------------------------------------------------------------

    def obeys(self, files: Mapping[str, str] | None = None, *, status: str = "completed") -> Self:
        """Write the files and return them; by default, a report. Their types follow from their folders."""
        wanted = {_REPORT: _TEXT} if files is None else files
        for path, text in wanted.items():
            self.writes(path, text)
        return self.returns(*wanted, status=status)

    def speaks(self, format: str) -> Self:
        """Return in another format from here on."""
        self.format = format
        return self

    def sleeps(self, seconds: float) -> Self:
        """Sleep."""
        return self._add("sleep", seconds=seconds)

    def waits_for(self, path: str) -> Self:
        """Wait until a file exists, which a test creates."""
        return self._add("wait_for", path=path)

    def writes(self, path: str, text: str) -> Self:
        """Write a file, also outside the root."""
        return self._add("write", path=path, text=text)

    def says(self, text: str) -> Self:
        """Print a text."""
        return self._add("print", text=text)

    def returns(
        self, *paths: str, status: str = "completed", changes: Mapping[str, Any] | None = None, keep: float = 1.0
    ) -> Self:
        """Print a return that claims files, without writing them.

        `changes` sets other values by their names on the wire (`metadata.session_id`; None takes one out), and `keep`
        says which share of the text is printed.
        """
        return self._add(
            "return", status=status, files=paths, format=self.format, changes=dict(changes or {}), keep=keep
        )

    def recurses(
        self, agent: str | None, prompt: str = "Do it for me.", *, command: str | None = None, ticket: bool = True,
        options: tuple[str, ...] = (),
    ) -> Self:  # fmt: skip
        """Start a nested run with `remit run`: of this program or another command.

        Without the ticket, it pretends to be a user.
        """
        own = shlex.join((sys.executable, "-I", "-S", "-B", self.program))
        return self._add("run", agent=agent, prompt=prompt, command=command or own, ticket=ticket, options=options)

    def then(self) -> Self:
        """Start the script for the next run of its session."""
        self._scripts.append([])
        return self

    # --- dishonest acts -----------------------------------------------------------------------------------------------

    def lies(self, *paths: str) -> Self:
        """Claim files that it didn't write: missing ones, or ones that existed before."""
        return self.returns(*(paths or (_REPORT,)))

    def hangs(self) -> Self:
        """Never end, and ignore SIGTERM."""
        return self._add("hang")

    def floods(self, size: int = FLOOD_BYTES, *, stream: Literal["out", "err"] = "out") -> Self:
        """Print a number of bytes."""
        return self._add("flood", size=size, stream=stream)

    def forks(self, how: How = "double fork", *, holds: bool = False) -> Self:
        """Leave a process behind that ignores SIGTERM; with `holds`, it keeps the agent's output open."""
        return self._add("fork", how=how, acts=[], holds=holds)

    def edits_later(self, path: str = _REPORT, text: str = "changed afterwards\n", *, after_s: float = 0.0) -> Self:
        """Leave a daemon behind that changes a file once the agent has ended."""
        acts = [["wait_for_parent", {"seconds": after_s}], ["write", {"path": path, "text": text}]]
        return self._add("fork", how="setsid", acts=acts, holds=False)

    def truncates(self, *paths: str, keep: float = 0.6) -> Self:
        """Print only the beginning of a return."""
        return self.returns(*(paths or (_REPORT,)), keep=keep)

    def rambles(self, text: str = _PROSE) -> Self:
        """Return prose."""
        return self.says(text)

    def replays(self, answer: str) -> Self:
        """Print an earlier answer word for word; `load_answer` has those of a scripted agent."""
        return self._add("print", text=answer, filled=False)

    def escapes(self, path: str, text: str = "outside\n") -> Self:
        """Write outside the root, and claim it."""
        return self.writes(path, text).returns(path)

    def crashes(self, exit_code: int = 1, *, signal: int = 0) -> Self:
        """End at once, with an exit code or by a signal."""
        return self._add("crash", exit_code=exit_code, number=signal)

    def load_answer(self, session: str) -> str:
        """Return its output in the last run of a session, without floods."""
        ended = [each for each in self.acts if each.act in ("ended", "crashed") and each.session == session]
        return str(ended[-1].details["printed"])

    def _add(self, act: str, **given: Any) -> Self:  # noqa: ANN401 - what the player's act takes
        self._scripts[-1].append([act, given])
        return self


def _read_act(entry: dict[str, Any]) -> Act:
    own = {name: entry.pop(name) for name in Act._fields[:-1]}
    return Act(**own, details=entry)


def _is_of(entry: Path, program: bytes) -> bool:
    """Return whether a process runs the program, or descends from it and runs another."""
    try:
        is_own = program in (entry / "cmdline").read_bytes().split(b"\0")
        mark = f"{player.MARK}=".encode() + program
        return (is_own or mark in (entry / "environ").read_bytes().split(b"\0")) and _is_running(entry)
    except OSError:  # it has just ended, or belongs to another user
        return False


def _is_running(entry: Path) -> bool:
    return (entry / "stat").read_bytes().rpartition(b")")[2].split()[0] not in b"ZX"


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

"""A project for the tests of conformance: a git repository, its commands in this process, and agents as programs."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import remit
from tests.support.paths import SOURCE
from tests.support.return_samples import fenced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.model import Verdict
    from tests.support.commands import Ended, Inside

ISSUED = "sess_1763200000_k3x9qz"
PRELUDE = f"""\
import json, os, re, subprocess, sys, time
prompt = sys.stdin.read()
with open(__file__ + ".log", "a") as log:
    log.write(json.dumps(prompt) + "\\n")
session = os.environ.get("REMIT_SESSION_ID", "")
name = (re.search(r"You are (\\S+)\\. Session", prompt) or ["", "command"])[1]
artifact = (re.search(r"Write your artifact to (\\S+)\\.\\n", prompt) or ["", "report.md"])[1]

def write(path, text="# Report\\n\\nThe cache is in cache.py.\\n", mode="w"):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, mode) as file:
        file.write(text)
    return path

def remit(*args):
    env = dict(os.environ, PYTHONPATH={str(SOURCE)!r})
    done = subprocess.run([sys.executable, "-m", "remit", *args], capture_output=True, text=True, env=env)
    with open(__file__ + ".calls", "a") as calls:
        calls.write(json.dumps([args, done.returncode, done.stdout, done.stderr]) + "\\n")
    return done

def answer(*paths, status="completed", **changes):
    kinds = {{"plans": "plan", "reports": "report", "summaries": "summary"}}
    kind = lambda path: next((kinds[part] for part in path.split("/") if part in kinds), "documentation")
    error = {{"type": "execution", "message": "The key is missing.", "code": "TOOL_UNAVAILABLE", "recoverable": True,
             "recommendation": "Set the key."}}
    value = {{
        "status": status, "summary": "Did the work as asked. The files say the rest.",
        "artifacts": [{{"type": kind(path), "path": path, "summary": "What was asked for."}} for path in paths],
        "metadata": {{"session_id": session, "duration_seconds": 1, "agent_type": name, "delegation_depth": 1,
                     "delegation_path": ["orchestrator", name]}},
        "errors": [] if status == "completed" else [error],
    }}
    value["metadata"].update(changes.pop("metadata", {{}}))
    value.update(changes)
    print("```json\\n" + json.dumps(value) + "\\n```")

"""
"""What every agent program begins with: its prompt, its session, and how it writes, calls Remit and returns."""

AGENT = """\
---
name: {name}
version: 1.0.0
description: "{name} does its part of the work."
mode: subagent
agent_type: {kind}
{more}---
# {name}
"""


def judge(value: dict[str, Any] | str, **known: Any) -> Verdict:  # noqa: ANN401 - what remit.check takes
    """The verdict on a return, or on a whole message."""
    return remit.check(value if isinstance(value, str) else fenced(value), **known)


def codes(verdict: Verdict, severity: str | None = None) -> set[str]:
    """The codes of the diagnostics."""
    return {each.code for each in verdict.diagnostics if severity in (None, each.severity)}


def errors(verdict: Verdict) -> list[str]:
    """Where the errors are, as JSON Pointers."""
    return [str(each.pointer) for each in verdict.diagnostics if each.severity == "error"]


class Program:
    """An agent: what it was given, and what it called."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @property
    def command(self) -> str:
        """Its command line."""
        return shlex.join((sys.executable, str(self.file)))

    @property
    def prompts(self) -> list[str]:
        """What it was given, one for each start."""
        return [*map(json.loads, self._load(".log"))]

    @property
    def calls(self) -> list[tuple[list[str], int, str, str]]:
        """Its calls of Remit: arguments, exit code, standard output, standard error."""
        return [(args, code, out, err) for args, code, out, err in map(json.loads, self._load(".calls"))]

    def _load(self, stop_reason: str) -> list[str]:
        log = Path(f"{self.file}{stop_reason}")
        return log.read_text("utf-8").splitlines() if log.exists() else []


class Project:
    """A git repository with commands and agents."""

    def __init__(self, root: Path, inside: Inside, programs: Path) -> None:
        self.root, self.inside, self.programs = root, inside, programs
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "T")
        self.git("config", "user.email", "t@example.com")

    def git(self, *args: str) -> str:
        """Run git; what it prints."""
        return subprocess.run(["git", *args], cwd=self.root, check=True, capture_output=True, text=True).stdout

    def put(self, path: str, text: str = "") -> Path:
        """Write a file of the project."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    def load(self, path: str) -> Any:  # noqa: ANN401 - any JSON value
        """A JSON file of the project."""
        return json.loads((self.root / path).read_text("utf-8"))

    def add_agent(self, name: str, kind: str = "research", more: str = "", folder: str = "agents") -> None:
        """Write an agent file."""
        self.put(f"{folder}/{name}.md", AGENT.format(name=name, kind=kind, more=more))

    def program(self, body: str) -> Program:
        """An agent that runs a piece of Python; its program is outside the project."""
        file = self.programs / f"agent{len([*self.programs.iterdir()])}.py"
        file.write_text(PRELUDE + body, "utf-8")
        return Program(file)

    def __call__(self, *args: str) -> Ended:
        """Run a command of Remit in this process."""
        return self.inside(*args)

    def json(self, *args: str) -> Any:  # noqa: ANN401 - any JSON value
        """The JSON that a command prints."""
        ended = self.inside(*args, "--json")
        assert ended.out, ended.err.decode()
        return json.loads(ended.out)

    def run(self, program: Program, *args: str, agent: str | None = None) -> dict[str, Any]:
        """Give an agent work; the result."""
        words = ("run", *((agent,) if agent else ()), "Do the work.", "--command", program.command, *args)
        result: dict[str, Any] = self.json(*words)
        return result

    def work(self, command: str, task: str, program: Program, *args: str) -> dict[str, Any]:
        """Have a task worked on, by `remit task research` and its like; the last result."""
        printed = self.json(command, task, "--command", program.command, *args)
        result: dict[str, Any] = printed[-1] if isinstance(printed, list) else printed
        return result

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Have another run at work in the same folder: it may have written any file that changes meanwhile."""
        program = self.program('open(__file__ + ".began", "w").close()\ntime.sleep(60)\n')
        began = Path(f"{program.file}.began")
        started = self("run", "Wait.", "--command", program.command, "--detach", "--json")
        assert started.code == 0, started.err
        deadline = time.monotonic() + 30
        while not began.exists():
            assert time.monotonic() < deadline, "the other agent didn't begin"
            time.sleep(0.05)
        try:
            yield
        finally:
            assert self("cancel", json.loads(started.out)["session_id"]).code == 0

    def add_task(self, title: str = "Cache the uploads") -> None:
        """Add a task."""
        ended = self.inside("task", "new", title)
        assert ended.code == 0, ended.err

    def get_task(self, number: int = 1, folder: str = "specs") -> dict[str, Any]:
        """A task, as state.json has it."""
        state = self.load(f"{folder}/state.json")
        found: dict[str, Any] = next(each for each in state["active_projects"] if each["project_number"] == number)
        return found

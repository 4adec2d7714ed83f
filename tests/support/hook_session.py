"""A workspace and a session of a harness in it, as the hook program sees them.

Every event goes through the program as harnesses start it, in the shapes that the payloads beside the tests of hooks
have. Every answer is held against what the strictest harness reads: a field that Codex does not know makes it drop the
whole answer, and the call happens.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from remit.hooks.main import respond
from remit.hooks.tool_calls import list_patched
from remit.ledger.home import Home
from remit.ledger.runs import Run, list_runs
from tests.support.git_command import git
from tests.support.paths import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = (sys.executable, "-I", "-S", str(SOURCE / "remit" / "hooks" / "entry.py"), "claude")
PATIENCE_S = 90
also_by_program = pytest.mark.parametrize(
    "quick", ["inside", pytest.param("program", marks=pytest.mark.slow)], indirect=True
)
"""Marks a test whose events the program answers, too, whenever it runs."""
_STEERING = ("REMIT_", "CLAUDE", "CODEX")
_KNOWN = {"systemMessage", "decision", "reason", "hookSpecificOutput"}
_KNOWN_INSIDE = {
    "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext",
}  # fmt: skip

LEAD = """---
name: {name}
description: "{name} does its part of the work and hands on the rest."
agent_type: {kind}
version: 1.0.0
delegation:
  max_depth: 3
  can_delegate_to: [{targets}]
---
Do the work.
"""
STANDARD = ".opencode/agent/subagents"

TEMPORARY = tempfile.gettempdir()
"""Not that of a test, which looks at what is in its own."""


class Refused(Exception):  # noqa: N818 - it is what happened, and no fault of the test's
    """An agent was not let in; why."""


class Ended(NamedTuple):
    """How the program ended."""

    code: int
    out: str
    err: str


def make_workspace(root: Path, settings: str = "") -> Path:
    """A repository with a few agents."""
    shutil.copytree(_make_template(), root, symlinks=True, dirs_exist_ok=True)
    (root / "remit.toml").write_text(settings)
    return root


@cache
def _make_template() -> Path:
    """The repository that others are copies of: to copy is ten times as quick as to commit."""
    folder = Path(tempfile.mkdtemp(prefix="remit-template-", dir=TEMPORARY))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = folder / "project"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "config", "user.name", "T")
    git(root, "config", "user.email", "t@localhost")
    (root / "remit.toml").write_text("")
    (root / ".gitignore").write_text(".remit/\n")
    add_agent(root, "planner", "reviewer", "writer")
    add_agent(root, "reviewer", "writer", "planner")
    add_agent(root, "writer", "tester")
    add_agent(root, "tester")
    (root / "old.md").write_text("# Old\n")
    (root / "specs").mkdir()  # tasks are kept there, and not in .opencode/specs
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "begin")
    return root


def add_agent(root: Path, name: str, *targets: str, kind: str = "utility", more: str = "") -> None:
    """Write an agent's file of the standard's form."""
    file = root / STANDARD / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = LEAD.format(name=name, kind=kind, targets=", ".join(targets))
    file.write_text(text.replace("version:", f"{more}version:", 1) if more else text)


@contextmanager
def keep_timer() -> Iterator[None]:
    """Restore the alarm of the test's own timeout: an event that is answered in this process sets another."""
    began, handler = time.monotonic(), signal.getsignal(signal.SIGALRM)
    seconds, interval = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, handler)
        if seconds:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, seconds - (time.monotonic() - began)), interval)


def check_shape(answer: dict[str, Any], event: str) -> None:
    """Whether every harness would read an answer."""
    assert answer.keys() <= _KNOWN, answer
    inside = answer.get("hookSpecificOutput", {})
    if "updatedToolOutput" in inside:
        assert event == "PostToolUse"
        assert inside.keys() - {"additionalContext"} == {"hookEventName", "updatedToolOutput"}
        return
    assert inside.keys() <= _KNOWN_INSIDE, inside
    assert not inside or inside["hookEventName"] == event
    if answer.get("decision"):
        assert event in ("SubagentStop", "Stop", "PostToolUse", "ConfigChange")
        assert answer["decision"] == "block"
        assert answer["reason"]


class Stage:
    """One session of a harness in a workspace."""

    def __init__(self, root: Path, harness: str = "claude", *, session: str = "", quick: bool = False) -> None:
        self.root = root
        self.harness = harness
        self.session = session or "00000000-0000-4000-8000-000000000001"
        self.quick = quick
        """Whether events are answered in this process: by the same code, without the time that a process takes."""
        self.home = root.parent / "home"
        self.folder = self.home / ".claude" / "projects" / "-workspace"
        self.transcript = self.folder / f"{self.session}.jsonl"
        if harness == "codex":
            self.folder = self.home / ".codex" / "sessions"
            self.transcript = self.folder / f"rollout-{self.session}.jsonl"
        self.folder.mkdir(parents=True, exist_ok=True)
        clean = {key: value for key, value in os.environ.items() if not key.startswith(_STEERING)}
        self.env = {**clean, "HOME": str(self.home)}
        if harness == "claude":
            self.env |= {"CLAUDE_PROJECT_DIR": str(root), "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}
        self.calls = 0

    # --- events -------------------------------------------------------------------------------------------------------

    def event(self, kind: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """An event of this session in the harness's shape."""
        payload: dict[str, Any] = {
            "session_id": self.session, "transcript_path": str(self.transcript), "cwd": str(self.root),
            "hook_event_name": kind, "permission_mode": "bypassPermissions",
        }  # fmt: skip
        if self.harness == "codex":
            payload |= {"turn_id": "t1", "model": "scripted"}
        elif self.harness == "claude":
            payload |= {"prompt_id": "p1", "effort": {"level": "high"}}
        return {**payload, **more}

    def run(
        self, data: bytes, env: dict[str, str] | None = None, check_seconds: int | None = None, **more: Any,  # noqa: ANN401 - of run()
    ) -> Ended:  # fmt: skip
        """Give bytes to the program; how it ended."""
        environ = {**self.env, **(env or {})}
        if self.quick and not more:
            with keep_timer():
                return Ended(*respond(BytesIO(data), environ, self.harness, None, check_seconds))
        done = subprocess.run(
            (*PROGRAM[:-1], self.harness, *(() if check_seconds is None else (str(check_seconds),))),
            input=data,
            capture_output=True,
            check=False,
            env=environ,
            cwd=self.root,
            timeout=PATIENCE_S,
            **more,
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    def send(self, payload: dict[str, Any], env: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:  # noqa: ANN401
        """Send an event; the answer, which is always one, in a shape that every harness reads."""
        ended = self.run(json.dumps(payload).encode(), env, **more)
        assert ended.code == 0, ended
        assert ended.err == "", ended
        answer: dict[str, Any] = json.loads(ended.out) if ended.out else {}
        check_shape(answer, payload["hook_event_name"])
        return answer

    # --- subagents ----------------------------------------------------------------------------------------------------

    def call(
        self, agent: str, prompt: str = "Make the plan.", *, by: Child | None = None, env: dict[str, str] | None = None,
        **more: Any,  # noqa: ANN401 - any JSON value
    ) -> Child:  # fmt: skip
        """Let an agent be started by this session, or by one of its agents. Raises Refused."""
        self.calls += 1
        child = Child(self, agent, f"toolu_{self.calls:04d}", f"a{self.calls:016d}", prompt, by, more)
        child.answer = self.send(child.make_call("PreToolUse"), env)
        said = child.answer.get("hookSpecificOutput", {})
        if said.get("permissionDecision") == "deny":
            raise Refused(said["permissionDecisionReason"])
        child.told = said.get("updatedInput", {}).get(child.key, prompt)
        return child

    # --- the ledger ---------------------------------------------------------------------------------------------------

    def rows(self) -> list[Run]:
        """All delegations, the first first."""
        home = Home(str(self.root))
        try:
            return list_runs(home.ledger)[::-1]
        finally:
            home.close()

    def row(self, session_id: str) -> Run:
        """A delegation."""
        return next(row for row in self.rows() if row.session_id == session_id)

    def kinds(self, session_id: str) -> list[str]:
        """What the ledger says happened to a delegation, in its order."""
        return [row[0] for row in self.ask("SELECT kind FROM events WHERE session_id = ? ORDER BY number", session_id)]

    def ask(self, query: str, *values: object) -> list[Any]:
        """Rows of the ledger, by SQL."""
        home = Home(str(self.root))
        try:
            return home.ledger.db.execute(query, values).fetchall()
        finally:
            home.close()

    def change(self, statement: str, *values: object) -> None:
        """Change the ledger behind everybody's back."""
        home = Home(str(self.root))
        try:
            with home.ledger.transaction() as db:
                assert db.execute(statement, values).rowcount > 0
        finally:
            home.close()


class Child:
    """A subagent, and what its harness tells of it."""

    answer: dict[str, Any]
    told: str

    def __init__(  # noqa: PLR0917 - what a call has
        self, stage: Stage, agent: str, call: str, agent_id: str, prompt: str, by: Child | None, more: dict[str, Any]
    ) -> None:  # fmt: skip
        self.stage = stage
        self.agent = agent
        self.call_id = call
        self.agent_id = agent_id
        self.prompt = prompt
        self.by = by
        self.more = more
        self.stops = 0
        self.key = "message" if stage.harness == "codex" else "prompt"

    @property
    def session_id(self) -> str:
        """The session that its prompt tells it."""
        return "sess_" + self.told.partition("session sess_")[2].partition(",")[0]

    @property
    def row(self) -> Run:
        """Its delegation, as the ledger has it."""
        found = self.stage.ask(
            "SELECT session_id FROM hook_runs WHERE harness_session = ? AND tool_use_id = ?",
            self.stage.session, self.call_id,
        )  # fmt: skip
        assert len(found) == 1, found
        return self.stage.row(found[0][0])

    def describe(self) -> dict[str, Any]:
        """How its harness calls it."""
        return {"agent_id": self.agent_id, "agent_type": self.agent}

    def make_call(self, kind: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """The event of the tool call that starts it."""
        names = {"claude": ("Agent", "subagent_type"), "codex": ("spawn_agent", "agent_type")}
        tool, key = names.get(self.stage.harness, ("task", "subagent_type"))
        given = {key: self.agent, self.key: self.prompt if kind == "PreToolUse" else self.told, **self.more}
        caller = {} if self.by is None else self.by.describe()
        return self.stage.event(kind, tool_name=tool, tool_input=given, tool_use_id=self.call_id, **{**caller, **more})

    def event(self, kind: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """An event that comes from it."""
        return self.stage.event(kind, **{**self.describe(), **more})

    @property
    def transcript(self) -> Path:
        """Where the harness writes down what it says."""
        if self.stage.harness == "codex":
            return self.stage.folder / f"rollout-{self.agent_id}.jsonl"
        return self.stage.folder / self.stage.session / "subagents" / f"agent-{self.agent_id}.jsonl"

    def keep_note(self, call: str = "") -> None:
        """Write the note that Claude Code keeps of an agent's call."""
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        note = {"agentType": self.agent, "description": "x", "toolUseId": call or self.call_id, "spawnDepth": 1}
        self.transcript.with_suffix(".meta.json").write_text(json.dumps(note))

    def keep_transcript(self, *more: dict[str, Any]) -> None:
        """Write the beginning of its transcript, in which its first prompt stands."""
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        first = {"type": "user", "agentId": self.agent_id, "message": {"role": "user", "content": self.told}}
        self.transcript.write_text("".join(f"{json.dumps(line)}\n" for line in (first, *more)))

    def start(self) -> dict[str, Any]:
        """It begins; in Codex and opencode its first prompt is told, too."""
        answer = self.stage.send(self.event("SubagentStart"))
        if self.stage.harness == "claude":
            self.keep_note()
        else:
            assert self.stage.send(self.event("UserPromptSubmit", prompt=self.told)) == {}
        return answer

    def use(
        self, tool: str, *, failed: bool = False, changed: list[str] | None = None, **given: Any  # noqa: ANN401 - any JSON value
    ) -> dict[str, Any]:  # fmt: skip
        """It uses a tool: what is said before; where nothing is, it happens, and that is told.

        `changed`: the files that Claude Code reports to have changed while a command ran.
        """
        diff = {"files": [], "moreFiles": 0, "changedFiles": [f"{self.stage.root}/{path}" for path in changed or ()]}
        response = {"type": "text"} if changed is None else {"stdout": "", "stderr": "", "bashEditDiff": diff}
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": "toolu_x"}
        answer = self.stage.send(self.event("PreToolUse", **call))
        if answer:
            return answer
        if tool == "Write":
            Path(given["file_path"]).write_text(given["content"])
        if tool == "apply_patch":
            for path in list_patched(given.get("input", "")):
                (self.stage.root / path).write_text("# New\n")
        if failed:
            assert self.stage.send(self.event("PostToolUseFailure", **call, error="Exit code 1")) == {}
        else:
            assert self.stage.send(self.event("PostToolUse", **call, tool_response=response)) == {}
        return {}

    def write(self, name: str, content: str = "# New\n") -> None:
        """It writes a file."""
        assert self.use("Write", file_path=str(self.stage.root / name), content=content) == {}

    def stop(self, message: str | None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """It says its last word."""
        event = self.event(
            "SubagentStop", last_assistant_message=message, stop_hook_active=self.stops > 0,
            agent_transcript_path=str(self.transcript), **more,
        )  # fmt: skip
        self.stops += 1
        return self.stage.send(event)

    def respond(self, text: str | None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """The harness is about to give its answer to the caller; what Remit says to that."""
        content = [] if text is None else [{"type": "text", "text": text}]
        response = {
            "status": "completed", "prompt": self.told, "agentId": self.agent_id, "agentType": self.agent,
            "content": content, "totalDurationMs": 88, "totalTokens": 1200, "totalToolUseCount": 1, **more,
        }  # fmt: skip
        return self.stage.send(self.make_call("PostToolUse", tool_response=response))

    def respond_text(self, text: str) -> dict[str, Any]:
        """The harness tells what became of the call in a text, as Codex does."""
        return self.stage.send(self.make_call("PostToolUse", tool_response=text))

    def hand_over(self, text: str | None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """The result that the caller gets instead of the answer."""
        answer = self.respond(text, **more)
        output = answer["hookSpecificOutput"]["updatedToolOutput"]
        assert output["agentId"] == self.agent_id  # the whole answer of the tool: less than it is ignored
        result: dict[str, Any] = json.loads(output["content"][0]["text"])
        return result

    def report(self, *paths: str, status: str = "completed", **more: Any) -> str:  # noqa: ANN401 - any JSON value
        """A return as the contract wants it."""
        row = self.row
        artifacts = [{"type": "report", "path": path, "summary": "What was found."} for path in paths]
        errors = [] if status == "completed" else [
            {"type": "execution", "message": "It did not go.", "recoverable": True, "recommendation": "Go on."}
        ]  # fmt: skip
        identity = {
            "session_id": row.session_id, "agent_type": self.agent, "delegation_depth": row.depth,
            "delegation_path": list(row.path), "duration_seconds": 1,
        }  # fmt: skip
        value = {
            "status": status, "summary": "Looked at it. Wrote it down.", "artifacts": artifacts,
            "metadata": identity, "errors": errors, **more,
        }  # fmt: skip
        return json.dumps(value)

"""The hook against a bare Python, and beside a hook in Node that does nothing.

Run as `python bench/all.py hook`. A harness starts the hook on every tool call, so what counts is the whole process:
event in, answer out. Each round plays one subagent in a project of 300 files, from its admission to the result.
Before each event a bare Python is started, and the ratio of the two counts, since a busy machine slows both; the
processor's time is told beside it. The same rounds are then played with a ledger that has a million events.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bench.clock import BARE, SOURCE, compile_source, find_share
from bench.delegate_parts import write_project
from bench.rows import choose, finish, make_row

if TYPE_CHECKING:
    from bench.rows import Row

_ROUNDS, _LARGE_ROUNDS = choose(8, 40), choose(20, 100)
_HOOK: Final = (sys.executable, "-I", "-S", str(SOURCE / "remit" / "hooks" / "entry.py"), "claude")
_NOTHING: Final = (sys.executable, "-I", "-S", "-c", "pass")
_PAST: Final = {"events": 1_000_000, "tool_uses": 100_000, "delegations": 10_000}
_P99_MS: Final = 150.0
_NODE: Final = "an empty hook in Node"
_GOALS: Final = {
    "a tool of a person's own session": 5.0,
    "a tool that a subagent has used": 5.0,
    "a command of a subagent": 7.0,
    "a command that is refused": 7.0,
    "a return that is sent back": 10.0,
    "a return that is accepted": 10.0,
    "a subagent is admitted": None,
    "the caller is given the result": None,
}
"""What is measured, and how many times the bare process it may take."""
_AGENT: Final = """\
---
name: builder
version: "1.0.0"
description: "Builds what the plan says, and reports on it."
mode: subagent
agent_type: implementation
timeout: 1200
tools:
  read: true
  write: true
  edit: true
  bash: true
permissions:
  allow:
    - read: ["**/*"]
    - write: ["src/**/*", "reports/**/*"]
    - bash: ["git status *", "git diff *", "grep *", "wc *", "head *", "ls *", "python -m pytest *"]
  deny:
    - bash: ["rm *", "sudo *", "git push *"]
    - write: [".git/**/*"]
---

# Builder

Build it.
"""
_HARMLESS: Final = "cd src && grep -rn value_1 part00 | wc -l; git status --short && ls part0*/*.py | head -n 3"
_HARMFUL: Final = 'for f in src/*; do sudo rm -rf "$f"; done'


class Taken(NamedTuple):
    """What a process took, and what a bare one took just before; in milliseconds."""

    wall: float
    cpu: float
    bare_wall: float = 0.0
    bare_cpu: float = 0.0


class Stage(NamedTuple):
    """A project, and what a harness says of itself in it."""

    root: Path
    session: str = "4f6e0000-0000-4000-8000-000000000001"

    def ask(self, kind: str, **more: Any) -> tuple[Taken, dict[str, Any]]:  # noqa: ANN401 - a payload
        """Give the hook an event; what it took, and its answer."""
        payload = {
            "session_id": self.session,
            "transcript_path": f"{self.root}/.transcripts/{self.session}.jsonl",
            "cwd": str(self.root),
            "permission_mode": "bypassPermissions",
            "hook_event_name": kind,
            **more,
        }
        took, out = self.run(_HOOK, json.dumps(payload).encode())
        return took, json.loads(out) if out else {}

    def run(self, command: tuple[str, ...], given: bytes) -> tuple[Taken, bytes]:
        """Run a bare Python and then a program; what they took, and what the program printed."""
        bare, _ = _run(_NOTHING, b"", self.root)
        took, out = _run(command, given, self.root)
        return took._replace(bare_wall=bare.wall, bare_cpu=bare.cpu), out


def _run(command: tuple[str, ...], given: bytes, folder: Path) -> tuple[Taken, bytes]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "CLAUDE_PROJECT_DIR": str(folder)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, input=given, capture_output=True, check=False, cwd=folder, env=environ)  # noqa: S603
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert done.returncode == 0, done
    assert not done.stderr, done
    return Taken(wall * 1e3, cpu * 1e3), done.stdout


def make_stage(root: Path) -> Stage:
    """A project in git with an agent's file, where Remit is at home."""
    agents = root / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "builder.md").write_text(_AGENT)
    (root / "remit.toml").write_text("")
    (root / ".gitignore").write_text(".remit/\n.transcripts/\nnode.js\n")
    (root / "node.js").write_text("")
    write_project(root)
    return Stage(root)


# --- a subagent's life -----------------------------------------------------------------------------------------------


def play(stage: Stage, number: int) -> dict[str, Taken]:
    """One subagent from its admission to the result; what each event took."""
    took: dict[str, Taken] = {}
    agent = {"agent_id": f"a{number:016x}", "agent_type": "builder"}
    call = {"tool_use_id": f"toolu_{number}", "tool_name": "Agent"}
    call_input = {"description": "Build", "prompt": f"Build part {number}.", "subagent_type": "builder"}
    took["a subagent is admitted"], told = stage.ask("PreToolUse", **call, tool_input=call_input)
    session_id = _find_session(told)
    path = f"reports/part-{number}.md"
    took |= _work(stage, agent, path)
    said = _render_return(session_id, path)
    took["a return that is sent back"], told = stage.ask("SubagentStop", **agent, last_assistant_message="It is built.")
    assert told.get("decision") == "block", told
    took["a return that is accepted"], told = stage.ask("SubagentStop", **agent, last_assistant_message=said)
    assert not told, told
    response = {"status": "completed", "agentId": agent["agent_id"], "content": [{"type": "text", "text": said}]}
    given = {**call, "tool_input": call_input, "tool_response": response}
    took["the caller is given the result"], told = stage.ask("PostToolUse", **given)
    text = told["hookSpecificOutput"]["updatedToolOutput"]["content"][0]["text"]
    assert json.loads(text)["status"] == "completed", text
    return took


def _work(stage: Stage, agent: dict[str, str], path: str) -> dict[str, Taken]:
    """The tools of a subagent, and one of the person's meanwhile."""
    took: dict[str, Taken] = {}
    own = {"tool_name": "Write", "tool_input": {"file_path": f"{stage.root}/notes.md", "content": "Notes.\n"}}
    took["a tool of a person's own session"], told = stage.ask("PreToolUse", **own)
    assert not told, told
    read = {"tool_name": "Read", "tool_input": {"file_path": f"{stage.root}/src/part00/module0.py"}}
    stage.ask("PostToolUse", **agent, **read)  # by it the agent is bound to its call: once in its life
    file = stage.root / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"# {path}\n\nIt is built.\n")
    written = {"tool_name": "Write", "tool_input": {"file_path": str(file), "content": file.read_text()}}
    took["a tool that a subagent has used"], told = stage.ask(
        "PostToolUse", **agent, **written, tool_response={"type": "create"}
    )
    assert not told, told
    took["a command of a subagent"], told = stage.ask("PreToolUse", **agent, **_bash(_HARMLESS))
    assert not told, told
    took["a command that is refused"], told = stage.ask("PreToolUse", **agent, **_bash(_HARMFUL))
    assert told["hookSpecificOutput"]["permissionDecision"] == "deny", told
    assert "couldn't be checked" not in told["hookSpecificOutput"]["permissionDecisionReason"], told
    return took


def _bash(command: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command, "description": "Look"}}


def _find_session(told: dict[str, Any]) -> str:
    prompt = told["hookSpecificOutput"]["updatedInput"]["prompt"]
    found = re.search(r"session (sess_\d+_[a-z0-9]{6})", prompt)
    assert found is not None, prompt
    return found[1]


def _render_return(session_id: str, path: str) -> str:
    """A return as the standard has it."""
    metadata = {
        "session_id": session_id,
        "duration_seconds": 12,
        "agent_type": "builder",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "builder"],
    }
    told = {
        "status": "completed",
        "summary": "The part was built as the plan says, and a report on it was written.",
        "artifacts": [{"type": "report", "path": path, "summary": "What was built."}],
        "metadata": metadata,
        "errors": [],
    }
    return f"```json\n{json.dumps(told, indent=2)}\n```\n"


# --- a ledger that has seen much -------------------------------------------------------------------------------------

_COUNTING: Final = """
    CREATE TEMP TABLE past AS
    WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < :events)
    SELECT n, 1600000000000 + n AS at_ms,
           printf('sess_%d_%06d', 1600000000 + n % :runs, n % :runs) AS name
    FROM counted
"""
_FILLING: Final = (
    """
    INSERT INTO runs (
        session_id, root_id, agent, depth, path, state, created_ms, started_ms, ended_ms, stop_reason, verdict, status,
        runner, owner, details
    )
    SELECT name, name, 'builder', 1, '["orchestrator","builder"]', 'finished', at_ms, at_ms, at_ms, 'exited',
           'accepted', 'completed', 'claude', 'hooks', '{"is_harness_run":true}'
    FROM past WHERE n <= :runs
    """,
    """
    INSERT INTO hook_runs
        (session_id, harness, harness_session, agent, tool_use_id, agent_id, enforced, waited, deadline_ms)
    SELECT name, 'claude', printf('past-%d', n / 20), 'builder', printf('old_%d', n), printf('a%d', n), 1, 1, 0
    FROM past WHERE n <= :runs
    """,
    """
    INSERT INTO tool_uses (session_id, tool, path, failed, at_ms)
    SELECT name, 'Write', printf('src/part%d.py', n % 100), 0, at_ms FROM past WHERE n <= :tool_uses
    """,
    """
    INSERT INTO events (session_id, kind, at_ms, details)
    SELECT name, 'sent_back', at_ms, '{"number":1}' FROM past WHERE n <= :events
    """,
)


def fill_ledger(file: Path) -> None:
    """Write a past into a ledger: delegations that are over, what they used, and what happened."""
    with sqlite3.connect(file) as db:
        db.execute(_COUNTING, _PAST)
        for statement in _FILLING:
            db.execute(statement, _PAST)
        for table, size in _PAST.items():
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] >= size  # noqa: S608 - fixed names


# --- what came out ---------------------------------------------------------------------------------------------------


def measure(stage: Stage, rounds: int, *, start: int) -> dict[str, list[Taken]]:
    """What everything took, round by round; the first round only warms the disk."""
    taken: dict[str, list[Taken]] = {}
    node = shutil.which("node")
    for number in range(start, start + rounds + 1):
        row = play(stage, number)
        if node is not None:
            row[_NODE] = stage.run((node, str(stage.root / "node.js")), b"{}")[0]
        if number > start:
            for name, took in row.items():
                taken.setdefault(name, []).append(took)
    return taken


def tell(taken: dict[str, list[Taken]], where: str) -> list[Row]:
    """Each event beside a bare Python, and beside a hook in Node that does nothing."""
    rows = []
    for name, goal in _GOALS.items():
        times = taken[name]
        floors = {BARE: [each.bare_wall for each in times]}
        if _NODE in taken:
            floors[_NODE] = [each.wall for each in taken[_NODE]]
        share = statistics.median(each.cpu / each.bare_cpu for each in times if each.bare_cpu)
        rows.append(make_row(
            "hook", f"{name}{where}", "ms", [each.wall for each in times], floors=floors,
            goals={BARE: goal} if goal else {}, note=f"Processor: {share:.1f} times {BARE}.",
        ))  # fmt: skip
    return rows


def tell_slowest(taken: dict[str, list[Taken]], where: str) -> list[Row]:
    """What 99 of a hundred of each event do not exceed."""
    return [
        make_row("hook", f"{name}{where}, 99 of 100", "ms", [find_share([each.wall for each in taken[name]], 0.99)],
                 goal=_P99_MS if goal else None)
        for name, goal in _GOALS.items()
    ]  # fmt: skip


def main() -> int:
    """Print what was measured; 1 when a goal is missed."""
    compile_source()
    with tempfile.TemporaryDirectory() as folder:
        stage = make_stage(Path(folder))
        missed = finish(tell(measure(stage, _ROUNDS, start=1), ""))
        fill_ledger(stage.root / ".remit" / "ledger.db")
        where = f", {_PAST['events']:,} events before"
        taken = measure(stage, _LARGE_ROUNDS, start=10_000)
        return missed | finish([*tell(taken, where), *tell_slowest(taken, where)])


if __name__ == "__main__":
    sys.exit(main())

"""The program of a scripted agent.

`ScriptedAgent` copies this file beside its log and appends the script; the copy needs only the standard library. Each
act is logged after it has happened, so that a test can distinguish a survived failure from one that never happened.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from typing import Any

MARK = "REMIT_SCRIPTED_AGENT"
"""The variable that identifies processes of the agent that run another program."""
_FOREVER_S = 3600.0
_PIECE_BYTES = 1 << 16
_TOLD = re.compile(r"You are ([^\n]{1,200})\. Session (\S+), depth (\d+) of \d+ \(([^\n)]{1,800})\)\.")
_MANIFEST = re.compile(r"Append one line, [^\n]* to (\S+):\n")
_SLOT = re.compile(r"\$\{(\w+)\}")
_SENTENCES = {
    "completed": "Research complete. See MANIFEST.jsonl for summary.",
    "partial": "Research partial. See MANIFEST.jsonl for details.",
    "blocked": "Research blocked. See MANIFEST.jsonl for blocker details.",
}


class Player:
    """One run of the program."""

    def __init__(self, log: str, program: str, python: str) -> None:
        self.log, self.program, self.python = log, program, python
        self.prompt = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
        text = _TOLD.findall(self.prompt)
        name, session, depth, path = text[-1] if text else ("command", "", "1", "orchestrator → command")
        self.agent, self.depth, self.path = name, int(depth), path.split(" → ")
        self.session = os.environ.get("REMIT_SESSION_ID", session)
        self.run = 0
        self.printed: list[str] = []

    # --- what it did --------------------------------------------------------------------------------------------------

    def record(self, act: str, **details: object) -> None:
        """Append an act to the log in one write: other processes write, too."""
        entry = {"act": act, "run": self.run, "session": self.session, "pid": os.getpid(), "at": time.time()} | details
        handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.write(handle, json.dumps(entry).encode() + b"\n")
        os.close(handle)

    def count(self) -> int:
        """Which run of its session this is, from 1; no two runs get the same."""
        number = 1
        while True:
            try:
                os.close(os.open(f"{self.log}.{self.session}.{number}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            except FileExistsError:
                number += 1
            else:
                return number

    def play(self, scripts: list[list[list[Any]]]) -> None:
        """Play the script of this run; after the last one it is the last."""
        self.run = self.count()
        self.record("began", argv=sys.argv, cwd=os.getcwd(), prompt=self.prompt[:_PIECE_BYTES])
        self.perform(scripts[min(self.run, len(scripts)) - 1])
        sys.stdout.flush()
        self.record("ended", printed="".join(self.printed)[:_PIECE_BYTES])

    def perform(self, acts: list[list[Any]]) -> None:
        """One act after the other."""
        for name, given in acts:
            getattr(self, f"do_{name}")(**given)

    def fill(self, text: str) -> str:
        """Put what this run knows where `${session}`, `${agent}`, `${depth}`, `${run}` and `${root}` stand."""
        known = {"session": self.session, "agent": self.agent, "depth": str(self.depth), "run": str(self.run),
                 "root": os.environ.get("REMIT_ROOT", os.getcwd()), "path": " → ".join(self.path)}  # fmt: skip
        return _SLOT.sub(lambda found: known.get(found[1], found[0]), text)

    def say(self, text: str) -> None:
        """Print, at once."""
        self.printed.append(text)
        sys.stdout.write(text)
        sys.stdout.flush()

    # --- acts ---------------------------------------------------------------------------------------------------------

    def do_write(self, path: str, text: str, *, append: bool = False) -> None:
        """Write a file, with its folders."""
        path = self.fill(path)
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a" if append else "w", encoding="utf-8") as file:
            file.write(self.fill(text))
        self.record("wrote", path=os.path.realpath(path))

    def do_print(self, text: str, *, filled: bool = True) -> None:
        """Print a text."""
        self.say(self.fill(text) if filled else text)
        self.record("printed", count=len(text))

    def do_sleep(self, seconds: float) -> None:
        """Do nothing."""
        self.record("slept", seconds=seconds)
        time.sleep(seconds)

    def do_wait_for(self, path: str) -> None:
        """Do nothing until a file is there."""
        path = self.fill(path)
        self.record("waited", path=path)
        while not os.path.exists(path):
            time.sleep(0.05)

    def do_hang(self) -> None:
        """Never end, and ignore all requests to end."""
        numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        for number in numbers:
            signal.signal(number, lambda number, _: self.record("ignored", signal=number))
        self.record("hung")
        last = time.monotonic() + _FOREVER_S
        while time.monotonic() < last:
            time.sleep(_FOREVER_S)

    def do_flood(self, size: int, stream: str) -> None:
        """Print far too much."""
        handle = 2 if stream == "err" else 1
        piece = (b"x" * 99 + b"\n") * (_PIECE_BYTES // 100)
        sys.stdout.flush()
        left = size
        while left > 0:
            left -= os.write(handle, piece[:left])
        self.record("flooded", count=size, stream=stream)

    def do_fork(self, how: str, acts: list[list[Any]], *, holds: bool) -> None:
        """Leave a process behind: a child, one of its own session, a daemon, or another program."""
        if how == "nohup":
            self._spawn_nohup()
            return
        hear, text = os.pipe()
        child = os.fork()
        if child == 0:
            self._descend(how, text, acts, holds=holds)
        os.close(text)
        if how == "double fork":
            os.waitpid(child, 0)
        os.read(hear, 1)  # not before it stands on its own
        os.close(hear)

    def _descend(self, how: str, text: int, acts: list[list[Any]], *, holds: bool) -> None:
        """What the process does that was left behind; it does not come back."""
        try:
            if how != "child":
                os.setsid()
            if how == "double fork" and os.fork():
                os._exit(0)
            if not holds:  # else it keeps the agent's output open
                nothing = os.open(os.devnull, os.O_RDWR)
                for stream in (0, 1, 2):
                    os.dup2(nothing, stream)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            self.record("forked", how=how)
            os.write(text, b"x")
            os.close(text)
            self.perform(acts)
            time.sleep(_FOREVER_S)
        finally:
            os._exit(0)

    def _spawn_nohup(self) -> None:
        import subprocess  # noqa: PLC0415 - few scripts start programs, and every run would pay for it

        command = ["nohup", "sh", "-c", f"trap '' TERM; sleep {_FOREVER_S:.0f} & wait"]
        environ = os.environ | {MARK: self.program}
        quiet = subprocess.DEVNULL
        child = subprocess.Popen(  # noqa: S603 - a fixed line
            command, env=environ, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
        self.record("forked", how="nohup", pid=child.pid)

    def do_wait_for_parent(self, seconds: float) -> None:
        """Wait until the agent itself has ended, and a little longer."""
        above = os.getppid()
        while os.getppid() == above:
            time.sleep(0.001)
        time.sleep(seconds)

    def do_run(self, agent: str | None, prompt: str, command: str | None, *, ticket: bool, options: list[str]) -> None:
        """Hand work on: `remit run`, with the ticket or without."""
        import subprocess  # noqa: PLC0415 - as above

        environ = {name: value for name, value in os.environ.items() if ticket or not name.startswith("REMIT_")}
        environ |= {MARK: self.program}
        line = [self.python, "-m", "remit", "run", *([] if agent is None else [agent])]
        line += [self.fill(prompt), "--json", *options]
        line += [] if command is None else ["--command", command]
        done = subprocess.run(  # noqa: S603 - what the script says
            line, env=environ, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        self.record("ran", agent=agent, exit_code=done.returncode, out=done.stdout[-20_000:], err=done.stderr[-4000:])

    def do_return(self, status: str, files: list[str], format: str, changes: dict[str, Any], keep: float) -> None:
        """Print a return, whole or the first part of it."""
        text = getattr(self, f"_render_{format}")(status, [self.fill(path) for path in files], changes)
        text = text if keep >= 1 else text[: int(len(text) * keep)]
        self.say(text)
        self.record("returned", status=status, files=files, format=format, whole=keep >= 1)

    def do_crash(self, exit_code: int, number: int) -> None:
        """End at once."""
        sys.stdout.flush()
        self.record("crashed", exit_code=exit_code, signal=number, printed="".join(self.printed)[:_PIECE_BYTES])
        if number:
            os.kill(os.getpid(), number)
        os._exit(exit_code)

    # --- returns ------------------------------------------------------------------------------------------------------

    def _render_standard(self, status: str, files: list[str], changes: dict[str, Any]) -> str:
        fault = {"type": "execution", "message": "It could not be done.", "recoverable": True,
                 "recommendation": "Try again"}  # fmt: skip
        payload: dict[str, Any] = {
            "status": status,
            "summary": "The work was done as the script says. There is nothing else to report.",
            "artifacts": [{"type": _name_kind(path), "path": path, "summary": "What was asked for."} for path in files],
            "metadata": {"session_id": self.session, "duration_seconds": 1, "agent_type": self.agent,
                         "delegation_depth": self.depth, "delegation_path": self.path},
            "errors": [] if status == "completed" else [fault],
            "next_steps": "Read it.",
        }  # fmt: skip
        return f"Done.\n\n```json\n{json.dumps(_change(payload, changes), indent=2)}\n```\n"

    def _render_hyper(self, status: str, files: list[str], changes: dict[str, Any]) -> str:
        word = {"completed": "complete", "failed": "error", "blocked": "error"}.get(status, status)
        points = ["The script was played.", "Every act was written down.", "Nothing else was done."]
        payload: dict[str, Any] = {
            "meta": {"agent_name": self.agent, "status": word, "execution_time_ms": 1000},
            "artifacts": [{"type": "document", "path": path, "summary": "What was asked for.", "key_points": points}
                          for path in files],
            "next_steps": ["Read it."],
        }  # fmt: skip
        if word == "error":
            payload["error"] = {"code": "EXECUTION_FAILED", "message": "It could not be done."}
        block = f"```json\n{json.dumps(_change(payload, changes), indent=2)}\n```"
        return f"Done.\n\n<!-- AGENT_OUTPUT_START -->\n{block}\n<!-- AGENT_OUTPUT_END -->\n"

    def _render_manifest(self, status: str, files: list[str], changes: dict[str, Any]) -> str:
        """Write the findings and the manifest's line; the reply is a fixed sentence."""
        found = _MANIFEST.findall(self.prompt)
        manifest = found[-1] if found else "claudedocs/agent-outputs/MANIFEST.jsonl"
        date = time.strftime("%Y-%m-%d")
        topic = os.path.basename(files[0]).rpartition(".")[0].rpartition("_")[2] if files else "scripted"
        findings = ["The script was played.", "Every act was written down.", "Nothing else was done."]
        payload: dict[str, Any] = {
            "id": f"{topic}-{date}", "file": f"{date}_{topic}.md", "title": "Scripted", "date": date,
            "status": "complete" if status == "completed" else status, "topics": ["script"], "key_findings": findings,
            "actionable": False, "needs_followup": [] if status == "completed" else ["BLOCKED: the script says so"],
            "linked_tasks": [],
        }  # fmt: skip
        sections = "".join(f"\n## {name}\n- {findings[0]}\n" for name in
                           ("Summary", "Findings", "Recommendations", "Sources", "Linked Tasks"))  # fmt: skip
        if files:
            self.do_write(f"{os.path.dirname(manifest)}/{payload['file']}", f"# Scripted\n{sections}")
        self.do_write(manifest, json.dumps(_change(payload, changes), separators=(",", ":")) + "\n", append=True)
        return _SENTENCES.get(status, _SENTENCES["blocked"])


def _name_kind(path: str) -> str:
    """Return the type of a file by its folder."""
    folder, _, name = path.rpartition("/")
    kinds = {"plans": "plan", "reports": "report", "summaries": "summary"}
    usual = "implementation" if name.endswith(".py") else "report"
    return kinds.get(folder.rpartition("/")[2], usual)


def _change(payload: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The object with other values at `key` or `key.key`; None takes it out."""
    for dotted, value in changes.items():
        *above, last = dotted.split(".")
        place = payload
        for key in above:
            place = place[key]
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    return payload

"""A scripted model with a lying subagent for `remit hooks check NAME`, as a separate program.

    python -m remit.testing.liar HARNESS HOME FILE MODEL

Owns what the caller and its subagents do in that check: an honest subagent that also tries a denied command, and one
that returns a file it never wrote. Prints one line with the environment and the prompts, plays until its standard
input ends, then writes every request to FILE. MODEL is what Codex calls it.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, cast

from remit.harnesses import claude, codex
from remit.storage.files import write_text
from remit.testing.clis import SCRIPTED
from remit.testing.model import ScriptedModel
from remit.testing.model_protocols import collect_texts
from remit.testing.script import SESSION_ID, call, say

if TYPE_CHECKING:
    from remit.testing.clis import CliName
    from remit.testing.script import ScriptedTurn

AGENT = "remit-check"
LIE = "remit-check-lie: the report is finished and contains everything that you asked for."
"""The summary of the false return: if the caller's model receives it, its request contains this text."""
HONEST = "remit-check-honest: the note is written."
DENIED, WRITTEN, CLAIMED = "denied.txt", "note.md", "never-written.md"
SCRIPT, RAN = "remit-check.sh", "script-ran.txt"
"""A script that is there before the subagent and tries to write a protected file, and what shows that it ran."""
SESSIONS = {"claude": ("caller", "background-caller"), "codex": ("caller", "v1-caller"), "opencode": ("caller",)}
"""Claude Code also runs subagents in the background, and gives their answer to the caller in another way. Codex has
other tools for subagents if it doesn't know the model."""


def make_scripts(cli: CliName, model: str) -> dict[str, list[ScriptedTurn]]:
    """The callers' scripts, their subagents' and that of an agent under `remit run`."""
    waiting: list[ScriptedTurn] = []
    old = call(codex.WAIT, targets=["${id}"], timeout_ms=60_000).grab(id=r'"agent_id\\*":\s*\\*"([^"\\]+)')
    if cli == "codex":
        waiting = [old if model == SCRIPTED else call(codex.WAIT, timeout_ms=60_000)]
    return {
        "caller": [_start("honest"), *waiting, _start("liar"), *waiting, say("Done.")],
        "background-caller": [_start("background-liar", **{claude.BACKGROUND_KEY: True}), say("Done.")],
        "v1-caller": [_start("v1-liar"), old, say("Done.")],
        "honest": [
            call("bash", command=f"touch {DENIED}"),
            call("bash", command=f"echo '# Note' > {WRITTEN}"),
            call("bash", command=f"sh {SCRIPT} {RAN}"),
            _give(HONEST, WRITTEN),
        ],
        **{name: [_give(LIE, CLAIMED)] for name in ("liar", "background-liar", "v1-liar")},
        "run": [say("The work is done."), _give("Nothing had to be changed.", "")],
    }


def _start(script: str, **more: object) -> ScriptedTurn:
    """Return a turn that starts a subagent; only Codex's multi-agent v2 requires a task name."""
    name = script.replace("-", "_")
    return call("task", agent=AGENT, prompt=f"[[play {script}]] Write the report.", **{codex.TASK_KEY: name}, **more)


def _give(summary: str, path: str) -> ScriptedTurn:
    """Return a turn with a return that has its session's id, and no artifacts if the path is empty."""
    returned = {
        "status": "completed",
        "summary": summary,
        "artifacts": [{"type": "report", "path": path, "summary": "The report"}] if path else [],
        "metadata": {
            "session_id": "${id}",
            "agent_type": AGENT,
            "delegation_depth": 1,
            "delegation_path": ["orchestrator", AGENT],
            "duration_seconds": 1,
        },
        "errors": [],
        "next_steps": [],
    }
    return say(f"Done.\n\n```json\n{json.dumps(returned)}\n```").grab(id=SESSION_ID)


def main() -> None:
    """Play until standard input ends."""
    name, home, file, called = sys.argv[1:]
    cli = cast("CliName", name)
    with ScriptedModel(make_scripts(cli, called)) as model:
        text = {
            "environ": model.environ(cli, home, called),
            "sessions": SESSIONS[name],
            "prompts": {script: f"{model.mark(script)} Do it." for script in (*SESSIONS[name], "run")},
            "words": {"lie": LIE, "honest": HONEST, "denied": DENIED, "written": WRITTEN, "ran": RAN},
        }
        sys.stdout.write(f"{json.dumps(text)}\n")
        sys.stdout.flush()
        sys.stdin.read()
        requests = [
            {
                "script": one.script or "",
                "step": one.step,
                "text": "\n".join(collect_texts(one.body)),
                "has_tools": bool(one.tools),
                "tokens": one.tokens,
            }
            for one in model.requests
        ]
    write_text(file, json.dumps(requests))


if __name__ == "__main__":
    main()

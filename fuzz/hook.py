"""Fuzz the hook: any bytes, and events with any values; each gets a decision, and no law breaks.

Run as `python fuzz/hook.py -max_total_time=20`; other options are libFuzzer's. Half of the inputs are taken as they
are, half are put into events that a harness could send, in a workspace of their own that is thrown away.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[1]
WORKSHOP = ROOT / ".fuzz" / "hook"
MAX_SECONDS = 2.5
"""Ten times what is allowed: every branch is watched, and the first call of each kind imports."""
KINDS = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop", "Stop", "UserPromptSubmit",
    "SessionStart", "SessionEnd", "Nothing",
)  # fmt: skip
TOOLS = ("Bash", "Write", "Edit", "Read", "Agent", "Task", "mcp__x__y", "apply_patch", "spawn_agent", "")
FAILED = ("could not be decided", "could not be checked", "was not looked at", "could not check")
AGENT = """---
name: planner
description: Plans.
permissions:
  allow:
    - write: ["plans/**"]
  deny:
    - bash: ["rm -rf", "sudo"]
---
Plan it.
"""

# Much of it is imported when it is first needed, which would be too late to be watched.
with atheris.instrument_imports(include=["remit"]):
    import remit.app.refereeing.admitting
    import remit.app.refereeing.returning
    import remit.app.refereeing.sessions
    import remit.delegate.referee.guarding  # noqa: F401
    from remit.doors import answering


def make_event(data: bytes, root: str) -> bytes:
    """An event with the bytes in it: the first four say of which kind, by whom, and where they stand."""
    kind, tool, who, where = data[:4].ljust(4, b"\0")
    text = data[4:].decode("utf-8", "replace")
    given = {"command": text, "file_path": text, "prompt": text, "subagent_type": "planner", "input": text}
    payload: dict[str, object] = {
        "session_id": f"s{who >> 4}",
        "transcript_path": f"{root}/none.jsonl",
        "cwd": root,
        "hook_event_name": KINDS[kind % len(KINDS)],
        "tool_name": TOOLS[tool % len(TOOLS)],
        "tool_use_id": f"t{who & 3}",
        "tool_input": given if where & 1 else {"command": text},
        "tool_response": {"content": [{"type": "text", "text": text}]} if where & 2 else text,
        "last_assistant_message": text,
    }
    payload |= {"agent_id": f"a{who & 3}", "agent_type": "planner"} if who & 4 else {}
    payload |= {"turn_id": "1"} if who & 8 else {}
    return json.dumps(payload).encode()


def check_laws(data: bytes, environ: dict[str, str]) -> None:
    """An exit code of 0 or 2; with 0 nothing or one JSON object on standard output, with 2 a sentence beside it.

    A decision because something failed inside is safe, and still a fault.
    """
    began = time.monotonic()
    code, out, err = answering.respond(io.BytesIO(data), environ)
    seconds = time.monotonic() - began
    assert code in (0, 2), code
    assert not out or isinstance(json.loads(out), dict)
    assert code == 0 or (err and not out)
    assert not any(sign in out for sign in FAILED), out[:600]
    assert seconds < MAX_SECONDS, f"{seconds:.1f} s"


def main() -> None:
    """Run libFuzzer in a workspace that is thrown away."""
    WORKSHOP.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        agents = Path(folder, ".claude", "agents")
        agents.mkdir(parents=True)
        (agents / "planner.md").write_text(AGENT, encoding="utf-8")
        Path(folder, "remit.toml").touch()
        environ = {"REMIT_ROOT": folder, "HOME": folder}

        def test_one_input(data: bytes) -> None:
            check_laws(data[1:] if data[:1] < b"\x80" else make_event(data[1:], folder), environ)

        atheris.Setup([*sys.argv, "-max_len=4096", "-timeout=10", str(WORKSHOP)], test_one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()

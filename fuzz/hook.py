"""The hook as a target: any bytes, and events with any values; each gets a decision, and no law breaks.

Half of the cases are taken as they are, half are put into events that a harness could send, in a workspace of their own
that is thrown away.
"""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import remit.hooks.tool_guard  # noqa: F401 - else the first case of each kind would pay for it
from fuzz import bash_policy
from fuzz.laws import FRAGMENTS
from fuzz.target import Target
from remit.harnesses import HOOKED
from remit.hooks import main, stop_subagent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KINDS: Final = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop", "Stop", "UserPromptSubmit",
    "SessionStart", "SessionEnd", "Nothing",
)  # fmt: skip
TOOLS: Final = ("Bash", "Write", "Edit", "Read", "Agent", "Task", "mcp__x__y", "apply_patch", "spawn_agent", "")
FAILED: Final = ("couldn't be checked", "couldn't check", "isn't checked", "wasn't checked")
AGENT: Final = """---
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
    return json.dumps(payload).encode()


def check_laws(data: bytes, environ: dict[str, str]) -> None:
    """An exit code of 0 or 2; with 0 nothing or one JSON object on standard output, with 2 a sentence beside it.

    A decision because something failed inside is safe, and still a fault.
    """
    code, out, err = main.respond(io.BytesIO(data), environ, HOOKED[len(data) % len(HOOKED)])
    assert code in (0, 2), code
    assert not out or isinstance(json.loads(out), dict)
    assert code == 0 or (err and not out)
    assert not any(sign in out for sign in FAILED), out[:600]


@contextmanager
def open_target() -> Iterator[Callable[[bytes], None]]:
    """A workspace with one agent, in memory where there is some: it is about answers here, not about disks."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    with tempfile.TemporaryDirectory(prefix="remit-fuzz-", dir=memory if memory.is_dir() else None) as folder:
        agents = Path(folder, ".claude", "agents")
        agents.mkdir(parents=True)
        (agents / "planner.md").write_text(AGENT, encoding="utf-8")
        Path(folder, "remit.toml").touch()
        environ = {"REMIT_ROOT": folder, "HOME": folder}
        stop_subagent.DELAY_SECONDS = 0.0  # no caller gets the verdicts on these agents, however long one waits

        def check(data: bytes) -> None:
            check_laws(data[1:] if data[:1] < b"\x80" else make_event(data[1:], folder), environ)

        yield check


def list_seeds() -> Iterator[bytes]:
    """An event of each kind with each tool, of a person and of an agent; and events as they are."""
    for kind in range(len(KINDS)):
        for tool in range(len(TOOLS)):
            for who in (0, 4, 9, 13):
                text = bash_policy.WORDS[(kind * 7 + tool * 3 + who) % len(bash_policy.WORDS)]
                data = bytes([kind, tool, who, tool & 3]) + text.encode("utf-8", "surrogatepass")
                yield b"\x80" + data
                yield b"\x00" + make_event(data, "/")


TARGET = Target(
    "hook", ("remit.hooks", "remit.policy"), (*bash_policy.WORDS, *FRAGMENTS),
    list_seeds, open_target, slower=10,
)  # fmt: skip

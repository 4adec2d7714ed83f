"""Remit's own runners keep to the protocol."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.runners import Usage
from remit.runners.registry import RUNNERS, get_runner
from remit.testing.runners import RunnerSuite, Sample

if TYPE_CHECKING:
    from pathlib import Path

    from remit.runners import AttemptOrder, Runner


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


class TestCommand(RunnerSuite):
    """Any program."""

    samples = (Sample(b"Done.\n", text="Done.\n"), Sample(b"\xc3\xa4 done", b"a warning\n", 3, text="ä done"))

    def make_runner(self) -> Runner:
        """The runner `command`."""
        return get_runner("command")

    def make_order(self, folder: Path) -> AttemptOrder:
        """With a command."""
        return super().make_order(folder)._replace(settings={"command": "prog --json"})


class TestPython(RunnerSuite):
    """A function in a process of its own."""

    samples = (Sample(b"Done.", text="Done."),)

    def make_runner(self) -> Runner:
        """The runner `python`."""
        return get_runner("python")

    def make_order(self, folder: Path) -> AttemptOrder:
        """With an entry point."""
        return super().make_order(folder)._replace(settings={"entry": "package.module:function"})


class TestClaude(RunnerSuite):
    """Claude Code."""

    program = "claude"
    _USE = {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "a.md"}}  # noqa: RUF012 - a constant
    samples = (
        Sample(
            lines(
                {"type": "system", "subtype": "init", "session_id": "s"},
                {"type": "assistant", "message": {"id": "m", "content": [_USE], "usage": {"input_tokens": 9}}},
                {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1"}]}},
                {
                    "type": "result",
                    "subtype": "success",
                    "is_error": False,
                    "num_turns": 1,
                    "result": "Done: ü.",
                    "usage": {"input_tokens": 9, "output_tokens": 2},
                    "total_cost_usd": 0.5,
                },
            ),
            text="Done: ü.",
            tools=("Write",),
            usage=Usage(9, 2, 1, 0.5),
        ),
    )

    def make_runner(self) -> Runner:
        """The runner `claude`."""
        return get_runner("claude")


class TestCodex(RunnerSuite):
    """Codex."""

    program = "codex"
    samples = (
        Sample(
            lines(
                {"type": "thread.started", "thread_id": "t-1"},
                {"type": "turn.started"},
                {"type": "item.completed", "item": {"id": "i1", "type": "agent_message", "text": "Done: ü."}},
                {"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": 5}},
            ),
            text="Done: ü.",
            usage=Usage(100, 5, 1),
        ),
    )

    def make_runner(self) -> Runner:
        """The runner `codex`."""
        return get_runner("codex")


class TestOpencode(RunnerSuite):
    """opencode."""

    program = "opencode"
    samples = (
        Sample(
            lines(
                {"type": "step_start", "sessionID": "ses_1", "part": {}},
                {"type": "step_finish", "part": {"reason": "tool-calls", "cost": 0.25, "tokens": {"input": 9}}},
                {"type": "step_start", "sessionID": "ses_1", "part": {}},
                {"type": "text", "sessionID": "ses_1", "part": {"text": "Done: ü.", "time": {"end": 1}}},
                {"type": "step_finish", "sessionID": "ses_1", "part": {"reason": "stop", "cost": 0.5, "tokens": {}}},
            ),
            text="Done: ü.",
            tools=(),
            usage=Usage(9, 0, 2, 0.75),
        ),
    )

    def make_runner(self) -> Runner:
        """The runner `opencode`."""
        return get_runner("opencode")


class TestGemini(RunnerSuite):
    """Gemini CLI."""

    program = "gemini"
    samples = (
        Sample(
            lines(
                {"type": "init", "session_id": "an-id"},
                {"type": "message", "role": "assistant", "content": "Done: ü.", "delta": True},
                {"type": "result", "status": "success", "stats": {"input_tokens": 9, "output_tokens": 2}},
            ),
            text="Done: ü.",
            tools=(),
            usage=Usage(9, 2),
        ),
    )

    def make_runner(self) -> Runner:
        """The runner `gemini`."""
        return get_runner("gemini")


def test_no_runner_is_left_out() -> None:
    tested = {suite().make_runner().name for suite in RunnerSuite.__subclasses__() if suite.__module__ == __name__}
    assert tested == set(RUNNERS)

"""Gemini CLI's runner: reading its stream, and output that isn't an answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from remit.runners.gemini import GeminiRunner
from remit.runners.protocol import AttemptOrder, ToolUse, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from remit.runners.protocol import RunOutput

ORDER = AttemptOrder("sess_1_abcdef", "", "go", "/w", "/w/1")
INIT = {"type": "init", "session_id": "an-id"}
USE = {"type": "tool_use", "tool_name": "write_file", "tool_id": "t1", "parameters": {"file_path": "a"}}
GAVE = {"type": "tool_result", "tool_id": "t1", "status": "success"}
RESULT = {"type": "result", "status": "success", "stats": {"input_tokens": 9, "output_tokens": 2}}


def say(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": words, "delta": True}


def hear(*records: dict[str, Any], exit_code: int | None = 0, errors: bytes = b"") -> RunOutput:
    listener = GeminiRunner().listen(ORDER)
    listener.feed("".join(json.dumps(record) + "\n" for record in records).encode())
    return listener.finish(errors=errors, exit_code=exit_code)


def test_the_pieces_after_the_last_tool_are_the_final_message() -> None:
    heard = hear(INIT, say("I begin."), USE, GAVE, say("All "), say("done."), RESULT)
    assert (heard.text, heard.cause, heard.harness_id) == ("All done.", "", "an-id")
    assert heard.usage == Usage(9, 2)
    assert heard.tools == (ToolUse("write_file", "write", "a"),)
    heard = hear(INIT, say("I begin."), USE, GAVE, RESULT)
    assert (heard.text, heard.cause) == (None, "no_answer")


@pytest.mark.parametrize("exit_code", [0, 1, None])
def test_without_a_result_there_is_no_final_message(exit_code: int | None) -> None:
    heard = hear(INIT, USE, say("Done."), exit_code=exit_code)
    assert (heard.text, heard.cause) == (None, "crash" if exit_code else "no_answer")
    assert heard.tools == (ToolUse("write_file", "write", "a", failed=True),)
    assert hear(INIT, say("Done."), RESULT, exit_code=None).text == "Done."
    assert hear(INIT, say("Done."), RESULT, exit_code=1).cause == "crash"


def test_errors_are_told_by_their_kind() -> None:
    failed = {"type": "result", "status": "error", "error": {"message": "busy"}}
    assert hear(INIT, failed, exit_code=144).trouble == "Gemini CLI got no answer from its model: busy"
    empty = {"type": "error", "message": "The model returned an empty response."}
    heard = hear(INIT, say("x"), empty, {"type": "result", "status": "error"})
    assert (heard.text, heard.cause, heard.trouble.endswith("an empty response.")) == (None, "api", True)
    heard = hear(exit_code=42, errors=b"Warning: x\nError resuming session: no\n  Use --list\n")
    assert (heard.cause, heard.trouble) == ("refused", "Gemini CLI didn't start: Error resuming session: no")


def test_each_attempt_that_begins_anew_has_an_id_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "gemini").touch(mode=0o755)
    order = ORDER._replace(environ={"PATH": str(tmp_path)}, instructions="first this")
    first, second = (GeminiRunner().start(order._replace(folder=folder)) for folder in ("/w/1", "/w/2"))
    assert first.argv != second.argv
    assert first.stdin == b"first this\n\n---\n\ngo"
    assert "--approval-mode=auto_edit" in first.argv
    assert "--approval-mode=yolo" in GeminiRunner().start(order._replace(tools=("bash",))).argv

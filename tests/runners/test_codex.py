"""Codex's runner: its command line, and every way in which its stream and its exit code mislead."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from remit.errors import RunnerError
from remit.runners.codex import CodexRunner
from remit.runners.protocol import AttemptOrder, ToolUse, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from remit.runners.protocol import Launch, RunOutput

ORDER = AttemptOrder("sess_1_abcdef", "planner", "go", "/w", "/w/1")
BEGUN: tuple[dict[str, Any], ...] = ({"type": "thread.started", "thread_id": "t-1"}, {"type": "turn.started"})
ENDED = {"type": "turn.completed", "usage": {"input_tokens": 100, "cached_input_tokens": 90, "output_tokens": 5}}


def item(kind: str, event: str = "completed", key: str = "i1", **fields: object) -> dict[str, Any]:
    return {"type": f"item.{event}", "item": {"id": key, "type": kind} | fields}


def hear(*records: dict[str, Any], exit_code: int | None = 0, errors: bytes = b"") -> RunOutput:
    listener = CodexRunner().listen(ORDER)
    listener.feed("".join(json.dumps(record) + "\n" for record in records).encode())
    return listener.finish(errors=errors, exit_code=exit_code)


def launch(tmp_path: Path, **fields: Any) -> Launch:  # noqa: ANN401 - of an order
    (tmp_path / "codex").touch(mode=0o755)
    return CodexRunner().start(ORDER._replace(environ={"PATH": str(tmp_path)}, **fields))


# The command line


@pytest.mark.parametrize("text", ["plain", 'a "quoted" \\ text', "lines\r\n\tand\x00\x1f\x7f", "ünï 🙂", "'''\"\"\""])
def test_instructions_arrive_as_they_are(tmp_path: Path, text: str) -> None:
    argv = launch(tmp_path, instructions=text).argv
    assert tomllib.loads(argv[argv.index("-c") + 1])["developer_instructions"] == text


@pytest.mark.parametrize("text", ["i" * 200_000, "\n" * 60_000, "🙂" * 30_000])
def test_instructions_that_are_too_long_for_an_argument_stand_before_the_prompt(tmp_path: Path, text: str) -> None:
    started = launch(tmp_path, instructions=f"BEGIN {text} END")
    assert "-c" not in started.argv
    assert started.stdin.decode().startswith(f"BEGIN {text} END\n\n---\n\ngo")
    assert max(len(word.encode()) for word in started.argv) < 128 * 1024
    resumed = CodexRunner().resume(
        ORDER._replace(environ={"PATH": str(tmp_path)}, instructions=f"BEGIN {text} END"), "t-1", "go on"
    )
    assert resumed.stdin == b"go on"  # the thread has them


def test_a_thread_is_resumed_by_its_id_and_options_come_before_it(tmp_path: Path) -> None:
    launch(tmp_path)
    order = ORDER._replace(environ={"PATH": str(tmp_path)}, settings={"args": ["--more"]})
    argv = CodexRunner().resume(order, "t-1", "go on").argv
    assert argv[-4:] == ("--more", "resume", "t-1", "-")


@pytest.mark.parametrize(
    ("tools", "args", "sandbox"),
    [
        (None, [], "--sandbox=workspace-write"),
        (("read", "bash"), [], "--sandbox=workspace-write"),
        (("read", "grep"), [], "--sandbox=read-only"),
        (None, ["-s", "danger-full-access"], None),
        (None, ["--sandbox=danger-full-access"], "--sandbox=danger-full-access"),
    ],
)
def test_the_sandbox_fits_the_tools_unless_the_workspace_decides(
    tmp_path: Path, tools: tuple[str, ...] | None, args: list[str], sandbox: str | None
) -> None:
    argv = launch(tmp_path, tools=tools, settings={"args": args}).argv
    assert [word for word in argv if word.startswith("--sandbox")] == ([sandbox] if sandbox else [])


def test_an_agent_of_its_files_cannot_be_begun_with(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match="can't start as its agent 'planner'"):
        launch(tmp_path, is_native=True)
    assert "-c" in launch(tmp_path, is_native=True, instructions="text").argv


# The stream


def test_the_last_message_of_a_completed_turn_is_the_final_one() -> None:
    records = item("agent_message", text="I begin."), item("command_execution", key="i2", status="completed"), ENDED
    heard = hear(*BEGUN, *records[:2], item("agent_message", key="i3", text="Done."), ENDED)
    assert (heard.text, heard.cause, heard.trouble, heard.harness_id) == ("Done.", "", "", "t-1")
    assert heard.usage == Usage(100, 5, 3)
    heard = hear(*BEGUN, *records)  # what it said before it went on to work was not its answer
    assert (heard.text, heard.cause) == (None, "no_answer")


def test_an_item_of_type_error_is_no_failure() -> None:
    heard = hear(*BEGUN, item("error", message="Model metadata not found."), item("agent_message", text="Done."), ENDED)
    assert (heard.text, heard.cause) == ("Done.", "")
    assert "Model metadata not found." in heard.notes


def test_an_error_that_is_tried_again_is_no_failure_and_a_failed_turn_is() -> None:
    again = {"type": "error", "message": "Reconnecting... 1/5"}
    assert hear(*BEGUN, again, item("agent_message", text="Done."), ENDED).text == "Done."
    listener = CodexRunner().listen(ORDER)
    listener.feed(json.dumps(again).encode() + b"\n")
    assert listener.report().trouble == "the model's server didn't answer: Reconnecting... 1/5"
    assert hear(*BEGUN, again, exit_code=None).cause == "api"
    inner = json.dumps({"error": {"message": "no such model"}})
    heard = hear(
        *BEGUN, item("agent_message", text="x"), {"type": "turn.failed", "error": {"message": inner}}, exit_code=1
    )
    assert (heard.text, heard.cause) == (None, "api")
    assert heard.trouble == "Codex got no answer from its model: no such model"


@pytest.mark.parametrize("exit_code", [0, 1, None])
def test_without_a_completed_turn_there_is_no_final_message(exit_code: int | None) -> None:
    records = item("command_execution", "started", command="sleep 9"), item("agent_message", key="i2", text="Done.")
    heard = hear(*BEGUN, *records, exit_code=exit_code)
    assert heard.text is None
    assert heard.cause == ("crash" if exit_code else "no_answer")
    assert heard.tools == (ToolUse("command_execution", "run", None, failed=True),)
    assert hear(*BEGUN, *records, ENDED, exit_code=None).text == "Done."


def test_tools_are_told_with_what_they_did() -> None:
    changes = [{"path": "/w/a", "kind": "add"}, {"path": "/w/b", "kind": "update"}]
    heard = hear(
        *BEGUN,
        item("file_change", "started", changes=changes),
        item("file_change", changes=changes, status="completed"),
        item("command_execution", key="i2", status="failed", exit_code=3),
        item("command_execution", key="i3", status="declined"),
        item("mcp_tool_call", key="i4", server="remit", tool="check", status="completed"),
        item("collab_tool_call", key="i5", tool="spawn_agent", status="completed"),
        item("todo_list", key="i6"),
        item("agent_message", key="i7", text="Done."),
        ENDED,
    )
    assert heard.tools == (
        ToolUse("file_change", "write", "/w/a"),
        ToolUse("file_change", "write", "/w/b"),
        ToolUse("command_execution", "run", failed=True, ran=True),
        ToolUse("command_execution", "run", failed=True),
        ToolUse("remit.check", "other"),
        ToolUse("spawn_agent", "delegate"),
    )
    assert heard.usage.turns == 6


@pytest.mark.parametrize(
    ("args", "tools"),
    [
        ([], None),
        (["-s", "workspace-write"], None),
        (["-s", "danger-full-access"], ()),
        (["--sandbox=danger-full-access"], ()),
        (["-c", 'sandbox_mode="danger-full-access"'], ()),
        (["--dangerously-bypass-approvals-and-sandbox"], ()),
    ],
)
def test_in_its_sandbox_no_tool_heard_is_not_no_tool_used(args: list[str], tools: tuple[ToolUse, ...] | None) -> None:
    listener = CodexRunner().listen(ORDER._replace(settings={"args": args}))
    for record in (*BEGUN, item("agent_message", text="Done."), ENDED):
        listener.feed(json.dumps(record).encode() + b"\n")
    assert listener.finish(errors=b"", exit_code=0).tools == tools


def test_usage_is_unknown_until_a_turn_is_completed() -> None:
    heard = hear(*BEGUN, exit_code=None)
    assert heard.usage == Usage()
    assert heard.usage.tokens is None


def test_a_thread_that_is_not_there_is_a_refusal() -> None:
    heard = hear(exit_code=1, errors=b"WARNING: x\nError: thread/resume failed: no rollout found\n")
    assert (heard.cause, heard.trouble) == (
        "refused", "Codex didn't start: Error: thread/resume failed: no rollout found",
    )  # fmt: skip


def test_a_folder_that_codex_does_not_trust_is_a_note() -> None:
    said = b"Untrusted project-local configuration is disabled until this project is trusted.\n"
    heard = hear(
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": {}},
        errors=said,
    )
    assert heard.text == "Done."
    assert any("does not trust this folder" in note and "--trust" in note for note in heard.notes)

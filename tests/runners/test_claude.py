"""Claude Code's runner: its command line, and every way in which its stream and its exit code mislead."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from remit.runners.claude import ClaudeRunner, make_session_uuid
from remit.runners.protocol import AttemptOrder, ToolUse, Usage
from remit.runs.supervisor.usage import sum_usage

if TYPE_CHECKING:
    from pathlib import Path

    from remit.runners.protocol import Launch, RunOutput

ID = "0f0e0d0c-0000-4000-8000-000000000000"
USAGE = {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5, "output_tokens": 1}
RESULT: dict[str, Any] = {
    "type": "result", "subtype": "success", "is_error": False, "num_turns": 2, "result": "Done.", "session_id": ID,
    "total_cost_usd": 0.5, "usage": USAGE | {"output_tokens": 7}, "permission_denials": [],
}  # fmt: skip


def use(key: str, name: str, parent: str | None = None, message: str = "m1", **given: object) -> dict[str, Any]:
    block = {"type": "tool_use", "id": key, "name": name, "input": given}
    told = {"id": message, "model": "opus", "content": [block], "usage": USAGE}
    return {"type": "assistant", "message": told, "parent_tool_use_id": parent, "session_id": ID}


def gave(key: str, *, is_error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": key, "content": "x", "is_error": is_error}
    return {"type": "user", "message": {"content": [block]}, "session_id": ID}


def hear(*records: dict[str, Any], exit_code: int | None = 0, errors: bytes = b"") -> RunOutput:
    listener = ClaudeRunner().listen(ORDER)
    listener.feed("".join(json.dumps(record) + "\n" for record in records).encode())
    return listener.finish(errors=errors, exit_code=exit_code)


ORDER = AttemptOrder("sess_1_abcdef", "", "go", "/w", "/w/.remit/sessions/sess_1_abcdef/1")


@pytest.mark.conforms("001-08")
def test_the_output_limit_is_passed_on_unless_the_user_has_set_one(tmp_path: Path) -> None:
    """R1.1: `max_tokens` of an agent file. Claude Code has no option for the temperature."""
    variable = "CLAUDE_CODE_MAX_OUTPUT_TOKENS"
    assert launch(tmp_path, max_output_tokens=4000).environ[variable] == "4000"
    assert variable not in launch(tmp_path, {variable: "9"}, max_output_tokens=4000).environ
    assert variable not in launch(tmp_path).environ


def launch(tmp_path: Path, environ: dict[str, str] | None = None, **fields: Any) -> Launch:  # noqa: ANN401 - of an order
    (tmp_path / "claude").touch(mode=0o755)
    return ClaudeRunner().start(ORDER._replace(environ={"PATH": str(tmp_path)} | (environ or {}), **fields))


# The command line


def test_the_session_has_an_id_of_ours_and_each_new_attempt_another(tmp_path: Path) -> None:
    argv = launch(tmp_path).argv
    assert argv[argv.index("--session-id") + 1] == make_session_uuid(ORDER)
    again = make_session_uuid(ORDER._replace(folder="/w/.remit/sessions/sess_1_abcdef/2"))
    other = make_session_uuid(ORDER._replace(session_id="sess_2_abcdef"))
    assert len({make_session_uuid(ORDER), again, other}) == 3
    assert uuid.UUID(again).version == 5


def test_a_prompt_that_begins_with_a_slash_is_no_command(tmp_path: Path) -> None:
    assert launch(tmp_path, prompt="/clear all").stdin == b"\n/clear all"
    assert launch(tmp_path, prompt="clear /all").stdin == b"clear /all"
    assert launch(tmp_path, prompt="half \ud800 character").stdin == b"half ? character"


def test_an_agent_goes_in_by_its_name_or_by_its_text(tmp_path: Path) -> None:
    native = launch(tmp_path, agent="planner", is_native=True, instructions="text")
    assert "--agent=planner" in native.argv
    assert native.files == {}
    foreign = launch(tmp_path, agent="planner", instructions="text" * 50_000)
    assert f"--append-system-prompt-file={ORDER.folder}/instructions.md" in foreign.argv
    assert foreign.files == {"instructions.md": b"text" * 50_000}
    assert not any("--agent" in word for word in foreign.argv)


def test_limits_and_tools_are_passed_on(tmp_path: Path) -> None:
    argv = launch(tmp_path, max_turns=3, max_usd=0.00001, tools=("read", "bash", "unknown")).argv
    assert {"--max-turns=3", "--max-budget-usd=0.000010", "--tools=Read,Bash", "--allowedTools=Bash"} <= {*argv}
    argv = launch(tmp_path, tools=("write",)).argv
    assert "--tools=Write" in argv
    assert not any(word.startswith("--allowedTools") for word in argv)


@pytest.mark.parametrize("args", [["--permission-mode", "plan"], ["--permission-mode=plan"], []])
def test_the_workspace_decides_on_the_permission_mode(tmp_path: Path, args: list[str]) -> None:
    argv = launch(tmp_path, settings={"args": args}).argv
    assert ("--permission-mode=acceptEdits" in argv) is (not args)


def test_a_server_that_refuses_is_not_asked_for_minutes(tmp_path: Path) -> None:
    name = "CLAUDE_CODE_MAX_RETRIES"
    assert launch(tmp_path).environ[name] == "5"
    assert name not in launch(tmp_path, environ={name: "2"}).environ  # the caller's own holds
    assert launch(tmp_path, settings={"env": {name: "3"}}).environ[name] == "3"


# The stream


def test_the_result_is_the_final_message() -> None:
    heard = hear(use("t1", "Write", file_path="a.md"), gave("t1"), RESULT)
    assert (heard.text, heard.cause, heard.trouble, heard.harness_id) == ("Done.", "", "", ID)
    assert heard.tools == (ToolUse("Write", "write", "a.md"),)
    assert heard.usage == (115, 7, 2, 0.5)
    assert heard.activity == "Write a.md"


def test_usage_counts_subagents_and_holds_when_the_budget_is_used_up() -> None:
    models = {
        "a": {"inputTokens": 1, "cacheReadInputTokens": 2, "cacheCreationInputTokens": 3, "outputTokens": 4},
        "b": {"inputTokens": 10, "outputTokens": 20},
    }
    heard = hear(RESULT | {"subtype": "error_max_budget_usd", "is_error": True, "usage": {}, "modelUsage": models})
    assert heard.usage == (16, 24, 2, 0.5)
    assert (heard.text, heard.cause) == (None, "budget")


def test_several_results_of_one_run_are_added_up_by_what_each_has_used() -> None:
    """`modelUsage` counts the whole session, also what earlier runs of it have used."""
    since = {"a": {"inputTokens": 10, "outputTokens": 2, "costUSD": 0.25}}
    whole = {"a": {"inputTokens": 900, "outputTokens": 90}}
    first = RESULT | {"modelUsage": whole, "model_usage_since_last_result": since, "total_cost_usd": 9.0}
    heard = hear(first, first | {"num_turns": 1, "result": "Noted."})
    assert (heard.usage, heard.counts_session) == ((20, 4, 3, 0.5), False)


@pytest.mark.parametrize(("version", "counts"), [("2.1.274", False), ("2.1.275", True), ("2.1.310", True), ("", False)])
def test_releases_that_count_the_whole_session_are_known_by_their_version(version: str, *, counts: bool) -> None:
    init = {"type": "system", "subtype": "init", "claude_code_version": version, "session_id": ID}
    heard = hear(init, RESULT | {"modelUsage": {"a": {"inputTokens": 10, "outputTokens": 2}}})
    assert (heard.usage, heard.counts_session) == ((10, 2, 2, 0.5), counts)
    runs = [heard, heard._replace(usage=Usage(30, 6, 1, 0.75))]
    assert sum_usage(runs, counts_thread=False) == ((30, 6, 3, 0.75) if counts else (40, 8, 3, 1.25))


def test_a_usage_in_an_unknown_form_is_noted_and_counted_by_the_messages() -> None:
    heard = hear(use("t1", "Read"), RESULT | {"usage": {"tokens_used": 7}})
    assert heard.usage == (115, 1, 2, 0.5)
    assert "reports its usage in an unknown form" in heard.notes[0]


def test_the_result_that_names_the_session_is_the_final_message() -> None:
    answered = RESULT | {"result": f'{{"session_id": "{ORDER.session_id}"}}'}
    stopped = RESULT | {"result": "The server was stopped."}
    assert hear(answered, stopped).text == answered["result"]
    assert hear(answered, stopped | {"is_error": True}, exit_code=1).text == answered["result"]
    assert hear(RESULT, stopped).text == "The server was stopped."
    assert hear(stopped, answered).text == answered["result"]


def test_a_program_that_only_waits_for_commands_in_the_background_is_known() -> None:
    init = {"type": "system", "subtype": "init", "session_id": ID}
    listener = ClaudeRunner().listen(ORDER)

    def tell(*records: dict[str, Any]) -> bool:
        listener.feed("".join(json.dumps(record) + "\n" for record in records).encode())
        return listener.report().is_waiting

    assert not tell(init, make_tasks("local_bash"))  # it has not answered yet
    assert tell(RESULT)
    assert not tell(make_tasks("local_bash", "local_agent"))  # an agent is still at work
    assert not tell(make_tasks())  # nothing is left: it ends by itself
    assert tell(make_tasks("local_bash"))
    assert not tell(init)  # it answers a notification


def make_tasks(*kinds: str) -> dict[str, Any]:
    tasks = [{"task_id": kind, "task_type": kind} for kind in kinds]
    return {"type": "system", "subtype": "background_tasks_changed", "tasks": tasks, "session_id": ID}


def test_a_message_in_several_pieces_is_counted_once_while_it_runs() -> None:
    listener = ClaudeRunner().listen(ORDER)
    records = [use("t1", "Read"), use("t2", "Read"), use("t3", "Agent", message="m2"), use("t4", "Read", "t3", "m3")]
    for record in records:
        listener.feed(json.dumps(record).encode() + b"\n")
    heard = listener.report()
    assert heard.usage == (345, 3, 2, None)  # three messages, two of them by the agent itself
    assert [tool.operation for tool in heard.tools or ()] == ["read", "read", "delegate", "read"]
    assert not any(tool.failed for tool in heard.tools or ())


def test_an_api_error_has_the_subtype_success() -> None:
    heard = hear(RESULT | {"is_error": True, "result": "API Error: 529 busy"}, exit_code=1)
    assert (heard.text, heard.cause) == (None, "api")
    assert heard.trouble == "Claude Code got no answer from its model: API Error: 529 busy"
    assert hear(RESULT | {"is_error": True}, exit_code=0).cause == "api"


def test_a_limit_that_was_reached_has_no_result() -> None:
    heard = hear(RESULT | {"subtype": "error_max_turns", "is_error": True, "result": None}, exit_code=1)
    assert (heard.text, heard.cause, heard.usage.turns) == (None, "turns", 2)


@pytest.mark.parametrize("exit_code", [0, 143, None])
def test_ended_from_outside_there_is_no_result_whatever_the_exit_code(exit_code: int | None) -> None:
    text = {
        "type": "assistant",
        "message": {"id": "m", "content": [{"type": "text", "text": "Done."}]},
        "session_id": ID,
    }
    heard = hear(use("t1", "Bash", command="sleep 9"), text, exit_code=exit_code)
    assert heard.text is None
    assert heard.cause == ("crash" if exit_code else "no_answer")
    assert heard.tools == (ToolUse("Bash", "run", None, failed=True),)  # it never came to its end
    assert heard.harness_id == ID


def test_a_result_counts_also_when_the_program_was_ended_after_it_but_not_when_it_crashed() -> None:
    assert hear(RESULT, exit_code=None).text == "Done."
    heard = hear(RESULT, exit_code=1, errors=b"a\nboom\n")
    assert (heard.text, heard.cause) == (None, "crash")
    assert heard.trouble == "Claude Code ended with exit code 1: boom"


def test_denied_tools_are_told_though_everything_looks_well() -> None:
    denied = [{"tool_name": "Write", "tool_use_id": "t1"}, {"tool_name": "Write", "tool_use_id": "t2"}]
    records = use("t1", "Write", file_path="a"), use("t2", "Write", file_path="b"), gave("t2", is_error=True)
    heard = hear(*records, RESULT | {"permission_denials": denied})
    assert heard.text == "Done."
    assert heard.trouble == "Claude Code denied it Write"
    assert [tool.failed for tool in heard.tools or ()] == [True, True]
    silent = hear(*records, RESULT | {"permission_denials": denied, "result": ""})
    assert (silent.cause, silent.trouble.endswith("denied it Write")) == ("no_answer", True)


def test_a_server_that_does_not_answer_is_told_while_it_is_tried_again() -> None:
    retry = {"type": "system", "subtype": "api_retry", "attempt": 3, "max_retries": 10, "error_status": 401,
             "error": "authentication_failed", "session_id": ID}  # fmt: skip
    listener = ClaudeRunner().listen(ORDER)
    listener.feed(json.dumps(retry).encode() + b"\n")
    assert listener.report().trouble == "the model's server didn't answer: 401 authentication_failed, try 3 of 10"
    heard = listener.finish(errors=b"", exit_code=None)
    assert (heard.cause, "401" in heard.trouble) == ("api", True)
    assert hear(retry, use("t1", "Read"), exit_code=None).cause == "no_answer"


def test_what_it_rejects_before_it_begins_is_a_refusal() -> None:
    heard = hear(exit_code=1, errors=b"--agent 'x' not found. Available agents: y\n")
    assert (heard.cause, heard.trouble) == (
        "refused", "Claude Code didn't start: --agent 'x' not found. Available agents: y",
    )  # fmt: skip
    unknown = {"type": "result", "subtype": "error_during_execution", "is_error": True, "session_id": ID,
               "errors": ["No conversation found with session ID: x"]}  # fmt: skip
    assert hear(unknown, exit_code=1).cause == "refused"
    assert hear(unknown | {"errors": ["boom"]}, exit_code=1).trouble == "Claude Code failed: boom"

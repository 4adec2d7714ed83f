"""opencode's runner: its command line, and every way in which its stream and its exit code mislead."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from remit.errors import RunnerError
from remit.runners.opencode import OpencodeRunner
from remit.runners.protocol import AttemptOrder, ToolUse, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from remit.runners.protocol import Launch, RunOutput

ORDER = AttemptOrder("sess_1_abcdef", "planner", "go", "/w", "/w/1", description="plans")
CONTENT = "OPENCODE_CONFIG_CONTENT"
START = {"type": "step_start", "sessionID": "ses_1", "part": {}}


def end(reason: str) -> dict[str, Any]:
    tokens = {"input": 10, "output": 2, "reasoning": 3, "cache": {"read": 100, "write": 5}}
    return {"type": "step_finish", "sessionID": "ses_1", "part": {"reason": reason, "tokens": tokens, "cost": 0.25}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "sessionID": "ses_1", "part": {"text": words}}


def tool(name: str, key: str = "c1", status: str = "completed", **state: object) -> dict[str, Any]:
    part = {"tool": name, "callID": key, "state": {"status": status} | state}
    return {"type": "tool_use", "sessionID": "ses_1", "part": part}


def hear(*records: dict[str, Any], exit_code: int | None = 0, errors: bytes = b"") -> RunOutput:
    listener = OpencodeRunner().listen(ORDER)
    listener.feed("".join(json.dumps(record) + "\n" for record in records).encode())
    return listener.finish(errors=errors, exit_code=exit_code)


def launch(tmp_path: Path, environ: dict[str, str] | None = None, **fields: Any) -> Launch:  # noqa: ANN401 - of an order
    (tmp_path / "opencode").touch(mode=0o755)
    return OpencodeRunner().start(ORDER._replace(environ={"PATH": str(tmp_path)} | (environ or {}), **fields))


# The command line


@pytest.mark.conforms("001-07", "001-08")
def test_temperature_and_output_limit_are_passed_on(tmp_path: Path) -> None:
    """R1.1: opencode takes the temperature with the agent and the limit of an answer by a variable."""
    variable = "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX"
    started = launch(tmp_path, instructions="Plan.", temperature=0.2, max_output_tokens=4000)
    assert json.loads(started.environ[CONTENT])["agent"]["remit-planner"]["temperature"] == 0.2
    assert started.environ[variable] == "4000"
    own = launch(tmp_path, {variable: "9"}, instructions="Plan.", max_output_tokens=4000)
    assert variable not in own.environ
    assert "temperature" not in own.environ[CONTENT]


def test_an_agent_is_laid_over_the_configuration_that_is_there(tmp_path: Path) -> None:
    given = json.dumps({"model": "p/m", "agent": {"other": {"mode": "all"}, "remit-planner": {"color": "red"}}})
    started = launch(tmp_path, {CONTENT: given}, instructions="{env:HOME}", tools=("read", "edit", "x"), max_turns=4)
    config = json.loads(started.environ[CONTENT])
    assert config["model"] == "p/m"
    assert config["agent"]["other"] == {"mode": "all"}
    assert config["agent"]["remit-planner"] == {
        "color": "red", "mode": "all", "prompt": "{file:/w/1/instructions.md}", "description": "plans",
        "permission": {"*": "deny", "read": "allow", "edit": "allow"}, "steps": 4,
    }  # fmt: skip
    assert next(iter(config["agent"]["remit-planner"]["permission"])) == "*"  # the last rule that matches counts
    assert started.files == {"instructions.md": b"{env:HOME}"}
    assert "{env:HOME}" not in started.environ[CONTENT]
    assert "--agent=remit-planner" in started.argv


def test_the_settings_of_the_workspace_come_before_the_environment(tmp_path: Path) -> None:
    settings = {"env": {CONTENT: '{"model": "ours"}'}}
    started = launch(tmp_path, {CONTENT: '{"model": "theirs"}'}, instructions="x", settings=settings)
    assert json.loads(started.environ[CONTENT])["model"] == "ours"


def test_an_agent_of_its_own_keeps_what_its_file_says(tmp_path: Path) -> None:
    started = launch(tmp_path, is_native=True, instructions="frozen", tools=("read",))
    assert json.loads(started.environ[CONTENT])["agent"] == {
        "planner": {"mode": "all", "prompt": "{file:/w/1/instructions.md}"}
    }
    started = launch(tmp_path, is_native=True)  # nothing is laid over it: an unknown one must not come into being
    assert "--agent=planner" in started.argv
    assert CONTENT not in started.environ


@pytest.mark.parametrize("content", ["// no\n{}", "[]", "x", '{"agent": '])
def test_a_configuration_that_cannot_be_added_to_is_an_error(tmp_path: Path, content: str) -> None:
    with pytest.raises(RunnerError, match=CONTENT):
        launch(tmp_path, {CONTENT: content}, instructions="x")


def test_without_an_agent_it_works_as_it_is(tmp_path: Path) -> None:
    started = launch(tmp_path, agent="")
    assert not any("--agent" in word for word in started.argv)
    assert started.stdin == b"go"


# The stream


def test_the_text_of_the_last_step_is_the_final_message() -> None:
    heard = hear(START, text("I begin."), tool("write"), end("tool-calls"), START, text("Done."), end("stop"))
    assert (heard.text, heard.cause, heard.trouble, heard.harness_id) == ("Done.", "", "", "ses_1")
    assert heard.usage == Usage(230, 10, 2, 0.5)


@pytest.mark.parametrize(
    "warning",
    [
        b'\x1b[93m\x1b[1m! \x1b[0m agent "planner" not found. Falling back to default agent\n',
        b'\x1b[93m! \x1b[0m agent "planner" is a subagent, not a primary agent. Falling back to default agent\n',
    ],
)
def test_the_answer_of_another_agent_is_a_refusal(warning: bytes) -> None:
    heard = hear(START, tool("write", input={"filePath": "a"}), text("Done."), end("stop"), errors=warning + b"more\n")
    assert (heard.text, heard.cause) == (None, "refused")
    assert heard.trouble.startswith('opencode did not run the agent: agent "planner"')
    assert heard.tools == (ToolUse("write", "write", "a"),)  # what the other one did is told all the same


def test_what_would_have_to_be_asked_ends_the_run_without_a_word() -> None:
    warning = b"\x1b[93m! \x1b[0mpermission requested: edit (out/a.md); auto-rejecting\n"
    heard = hear(START, tool("write", status="error", error="rejected"), end("tool-calls"), errors=warning)
    assert (heard.text, heard.cause) == (None, "no_answer")
    assert heard.trouble == (
        "opencode rejected what it could not ask for: edit (out/a.md). Allow it or deny it in opencode's configuration"
    )
    assert [use.failed for use in heard.tools or ()] == [True]


@pytest.mark.parametrize("exit_code", [0, 1, 143, None])
@pytest.mark.parametrize("last", [(), (end("tool-calls"),), (end("unknown"),)], ids=["cut", "works on", "broken off"])
def test_a_step_that_did_not_end_of_itself_has_no_final_message(last: Any, exit_code: int | None) -> None:  # noqa: ANN401 - records
    heard = hear(START, text("Done."), *last, exit_code=exit_code)
    assert heard.text is None
    assert heard.cause
    if exit_code is None and last == (end("unknown"),):
        assert heard.cause == "api"


def test_a_step_that_ended_counts_also_when_the_program_was_ended_after_it() -> None:
    assert hear(START, text("Done."), end("stop"), exit_code=None).text == "Done."
    assert hear(START, text("Done."), end("stop"), exit_code=1).cause == "crash"
    assert hear(START, text(" "), end("stop")).cause == "no_answer"


def test_errors_are_told_by_their_kind() -> None:
    error = {"type": "error", "sessionID": "ses_1", "error": {"name": "APIError", "data": {"message": "no key"}}}
    heard = hear(error, exit_code=1)
    assert (heard.cause, heard.trouble) == ("api", "opencode got no answer from its model: no key")
    error["error"] = {"name": "UnknownError", "data": {"message": "see the logs"}}
    assert hear(error, exit_code=1).trouble == "opencode failed: see the logs"
    heard = hear(exit_code=1, errors=b"\x1b[91mError: \x1b[0mSession not found\n")
    assert (heard.cause, heard.trouble) == ("refused", "opencode didn't start: Error: Session not found")


def test_a_server_that_does_not_answer_is_told_from_the_log(tmp_path: Path) -> None:
    """It tries again for a minute and longer, and says so nowhere else."""
    line = 'timestamp=T level=ERROR run=1 message="stream error" small=false error.error="AI_APICallError: busy"\n'
    heard = hear(exit_code=None, errors=line.encode() * 3)
    told = "opencode was ended while its model's server didn't answer: AI_APICallError: busy"
    assert (heard.cause, heard.trouble) == ("api", told)
    assert hear(START, text("done"), end("stop"), errors=line.encode()).text == "done"  # it did answer then
    environ = launch(tmp_path).environ
    assert (environ["OPENCODE_PRINT_LOGS"], environ["OPENCODE_LOG_LEVEL"]) == ("1", "ERROR")


def test_a_step_counts_from_its_beginning() -> None:
    """So that a limit is held before the step that exceeds it is paid for."""
    assert hear(START, end("tool-calls"), START, exit_code=None).usage.turns == 2


def test_tools_are_told_with_what_they_did() -> None:
    heard = hear(
        START,
        tool("bash", "c1", metadata={"exit": 3}, input={"command": "false"}),
        tool("invalid", "c2", input={"tool": "webfetch", "error": "unavailable"}),
        tool("read", "c3", status="error", input={"filePath": "a"}),
        tool("task", "c4", input={"subagent_type": "general"}),
        tool("remit_check", "c5"),
    )
    assert heard.tools == (
        ToolUse("bash", "run", failed=True, ran=True),
        ToolUse("webfetch", "read", failed=True),
        ToolUse("read", "read", "a", failed=True),
        ToolUse("task", "delegate"),
        ToolUse("remit_check", "other"),
    )
    assert heard.notes == ("opencode doesn't report what its subagents did and used",)

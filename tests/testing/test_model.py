"""ScriptedModel: every wire, whole and as a stream; scripts chosen by their marker, steps by what was answered."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from remit.errors import UsageError
from remit.testing import SESSION_ID, ScriptedModel, ScriptedTurn, call, drop, fail, find_cli, hang, say

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCRIPTS = {
    "plan": [call("write", path="${place}/plan.md", content="# Plan"), say("Done with ${place}.")],
    "id": [say("I am ${id}.").grab(id=SESSION_ID)],
    "two": [call("read", path="a").also("bash", command="ls")],
    "error": [fail(529, "too much", kind="overloaded_error")],
    "slow": [say("late").after(0.3)],
    "bash": [call("bash", command="ls")],
    "patch": [call("apply_patch", input="***")],
    "spawn": [call("spawn_agent", task_name="t", message="[[play slow]] Go.")],
    "hang": [hang()],
    "drop": [drop()],
}
ANTHROPIC_TOOLS = [
    {"name": name, "input_schema": {"properties": {key: {"type": "string"} for key in keys}}}
    for name, keys in {
        "Write": ["file_path", "content"],
        "Read": ["file_path"],
        "Bash": ["command", "description"],
    }.items()
]


@pytest.fixture(name="model")
def listen() -> Iterator[ScriptedModel]:
    with ScriptedModel(SCRIPTS) as model:
        yield model


def post(model: ScriptedModel, path: str, body: object, *, timeout: float = 10) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=timeout)
    try:
        connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def ask_anthropic(model: ScriptedModel, *said: tuple[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    messages = [{"role": role, "content": content} for role, content in said]
    status, data = post(
        model, "/v1/messages?beta=true", {"model": "m", "tools": ANTHROPIC_TOOLS, "messages": messages} | more
    )
    assert status == 200
    found: dict[str, Any] = json.loads(data)
    return found


def read_events(data: bytes) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in data.decode().splitlines() if line.startswith("data: ")]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


# Which turn is due


def test_a_script_goes_on_with_every_answer_and_its_last_turn_is_repeated(model: ScriptedModel) -> None:
    mark = model.mark("plan", place="a b/ü")
    first = ask_anthropic(model, ("user", f"{mark} go"))
    assert first["content"][0]["name"] == "Write"
    assert first["content"][0]["input"] == {"file_path": "a b/ü/plan.md", "content": "# Plan"}
    assert first["stop_reason"] == "tool_use"
    result = [{"type": "tool_result", "tool_use_id": "x", "content": model.mark("id")}]
    conversation = [("user", f"{mark} go"), ("assistant", first["content"]), ("user", result)]
    for _ in range(3):
        last = ask_anthropic(model, *conversation)
        assert last["content"] == [{"type": "text", "text": "Done with a b/ü."}]
        conversation += [("assistant", last["content"]), ("user", "again, without a marker")]
    assert [request.step for request in model.requests] == [0, 1, 2, 3]
    assert {request.script for request in model.requests} == {"plan"}


def test_a_marker_in_a_later_message_begins_anew(model: ScriptedModel) -> None:
    said = [
        ("user", model.mark("id")),
        ("assistant", "x"),
        ("user", f"sess_1_abcdef, sess_2_abcdef {model.mark('id')}"),
    ]
    assert ask_anthropic(model, *said)["content"][0]["text"] == "I am sess_2_abcdef."
    assert model.requests[-1].step == 0


def test_what_the_conversation_does_not_have_stays_as_it_is(model: ScriptedModel) -> None:
    assert ask_anthropic(model, ("user", model.mark("id")))["content"][0]["text"] == "I am ${id}."


def test_without_a_marker_or_with_one_of_no_script_the_model_says_so(model: ScriptedModel) -> None:
    assert "No script" in ask_anthropic(model, ("user", "hello"))["content"][0]["text"]
    assert "did you mean 'plan'" in ask_anthropic(model, ("user", "[[play plam]]"))["content"][0]["text"]


def test_a_title_is_given_beside_the_script(model: ScriptedModel) -> None:
    told = f"Generate a title for this: {model.mark('plan')}"
    assert ask_anthropic(model, ("user", told), tools=[])["content"][0]["text"] == "Scripted title"
    assert ask_anthropic(model, ("user", told))["content"][0]["name"] == "Write"
    assert ask_anthropic(model, ("user", model.mark("slow")), tools=[])["content"][0]["text"] == "late"


def test_a_title_is_given_where_tools_are_offered_for_it(model: ScriptedModel) -> None:
    """Codex's terminal asks for one as for any work."""
    asked = f"Generate a concise, single-line task title for: {model.mark('bash')}"
    _, answer = ask_codex(model, {"role": "user", "content": asked})
    assert answer["output"][0]["content"][0]["text"] == "Scripted title"
    assert model.requests[-1].script is None


def test_several_calls_stand_in_one_turn(model: ScriptedModel) -> None:
    content = ask_anthropic(model, ("user", model.mark("two")))["content"]
    assert [block["name"] for block in content] == ["Read", "Bash"]
    assert content[1]["input"] == {"command": "ls", "description": "scripted"}
    assert content[0]["id"] != content[1]["id"]


def test_a_tool_that_is_not_offered_is_called_all_the_same(model: ScriptedModel) -> None:
    assert ask_anthropic(model, ("user", model.mark("two")), tools=ANTHROPIC_TOOLS[:1])["content"][0]["name"] == "read"


# The wires


@pytest.mark.parametrize("stream", [False, True])
def test_anthropic(model: ScriptedModel, *, stream: bool) -> None:
    body = {"model": "m", "stream": stream, "tools": ANTHROPIC_TOOLS}
    body["messages"] = [{"role": "user", "content": [{"type": "text", "text": model.mark("plan", place="p")}]}]
    _, data = post(model, "/v1/messages", body)
    if not stream:
        assert json.loads(data)["usage"]["input_tokens"] > 0
        return
    events = read_events(data)
    assert [event["type"] for event in events] == [
        "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
        "message_stop",
    ]  # fmt: skip
    assert json.loads(events[2]["delta"]["partial_json"]) == {"file_path": "p/plan.md", "content": "# Plan"}


@pytest.mark.parametrize("stream", [False, True])
def test_chat(model: ScriptedModel, *, stream: bool) -> None:
    tool = {"name": "write", "parameters": {"properties": {"filePath": {}, "content": {}}}}
    tools = [{"type": "function", "function": tool}]
    body = {
        "model": "m",
        "stream": stream,
        "tools": tools,
        "messages": [{"role": "user", "content": model.mark("plan")}],
    }
    _, data = post(model, "/v1/chat/completions", body)
    if stream:
        events = read_events(data)
        assert events[-1] == "[DONE]"
        made = events[1]["choices"][0]["delta"]["tool_calls"][0]
        assert events[-2]["usage"]["total_tokens"] > 0
    else:
        made = json.loads(data)["choices"][0]["message"]["tool_calls"][0]
    assert made["function"]["name"] == "write"
    assert json.loads(made["function"]["arguments"])["filePath"] == "${place}/plan.md"


@pytest.mark.parametrize("stream", [False, True])
def test_responses(model: ScriptedModel, *, stream: bool) -> None:
    """A shell is all that it offers; a row of what the model gave is one turn of it."""
    tools = [{"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {"type": "string"}}}}]
    asked = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": model.mark("plan", place="it's")}],
    }
    body = {"model": "m", "stream": stream, "tools": tools, "input": [asked]}
    _, data = post(model, "/v1/responses", body)
    whole = read_events(data)[-1]["response"] if stream else json.loads(data)
    item = whole["output"][0]
    assert item["name"] == "exec_command"
    assert "# Plan" in json.loads(item["arguments"])["cmd"]
    body["input"] = [asked, {"type": "reasoning"}, item, {"type": "function_call_output", "output": "ok"}]
    _, data = post(model, "/v1/responses", body)
    whole = read_events(data)[-1]["response"] if stream else json.loads(data)
    assert whole["output"][0]["content"][0]["text"] == "Done with it's."
    assert model.requests[-1].step == 1


def test_responses_name_the_namespace_of_a_tool(model: ScriptedModel) -> None:
    inner = {"name": "read", "parameters": {"properties": {"path": {}}}}
    body = {"tools": [{"type": "namespace", "name": "space", "tools": [inner]}], "input": model.mark("two")}
    item = json.loads(post(model, "/v1/responses", body)[1])["output"][0]
    assert (item["name"], item["namespace"], json.loads(item["arguments"])) == ("read", "space", {"path": "a"})


CODE = """Runs JavaScript.
```ts
declare const tools: { exec_command(args: {
  // Shell command.
  cmd: string;
  workdir?: string;
}): Promise<unknown>; };
declare const tools: { apply_patch(input: string): Promise<unknown>; };
```
"""
SPAWN = {"properties": {"message": {"type": "string", "encrypted": True}, "task_name": {"type": "string"}}}
GIVEN = [
    {
        "type": "additional_tools",
        "tools": [
            {"type": "namespace", "name": "functions",
             "tools": [{"type": "custom", "name": "exec", "description": CODE}]},
            {"type": "namespace", "name": "collaboration",
             "tools": [{"type": "function", "name": "spawn_agent", "parameters": SPAWN}]},
        ],
    }
]  # fmt: skip


def ask_codex(model: ScriptedModel, *items: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Ask as Codex does with a model that it knows."""
    status, data = post(model, "/v1/responses", {"model": "m", "input": [*GIVEN, *items]})
    answer: dict[str, Any] = json.loads(data)
    return status, answer


def send_as_agent(text: str) -> dict[str, Any]:
    parts = [{"type": "input_text", "text": "Payload:"}, {"type": "encrypted_content", "encrypted_content": text}]
    return {"type": "agent_message", "author": "/root", "recipient": "/root/t", "content": parts}


@pytest.mark.parametrize(
    ("script", "code"),
    [("bash", 'text(await tools.exec_command({"cmd": "ls"}))'), ("patch", 'text(await tools.apply_patch("***"))')],
)
def test_responses_call_nested_tools_by_code(model: ScriptedModel, script: str, code: str) -> None:
    _, answer = ask_codex(model, {"role": "user", "content": model.mark(script)})
    (item,) = answer["output"]
    assert (item["type"], item["name"], item["namespace"], item["input"]) == (
        "custom_tool_call", "exec", "functions", code,
    )  # fmt: skip


def test_responses_encrypt_what_agents_send_each_other_and_refuse_what_was_changed(model: ScriptedModel) -> None:
    _, answer = ask_codex(model, {"role": "user", "content": model.mark("spawn")})
    (item,) = answer["output"]
    args = json.loads(item["arguments"])
    assert (item["name"], item["namespace"], args["task_name"]) == ("spawn_agent", "collaboration", "t")
    assert args["message"].startswith("gAAAA")
    assert "play" not in args["message"]
    status, answer = ask_codex(model, send_as_agent(args["message"]))
    assert (status, answer["output"][0]["content"][0]["text"]) == (200, "late")
    for changed in (f"{args['message']}\n\nMore.", args["message"][:-5], "plain"):
        status, answer = ask_codex(model, send_as_agent(changed))
        assert (status, answer["error"]["type"]) == (400, "invalid_request_error")
        assert "could not be decrypted" in answer["error"]["message"]


@pytest.mark.parametrize("method", ["generateContent", "streamGenerateContent?alt=sse"])
def test_gemini(model: ScriptedModel, method: str) -> None:
    declared = {"name": "write_file", "parametersJsonSchema": {"properties": {"file_path": {}, "content": {}}}}
    body = {
        "contents": [{"role": "user", "parts": [{"text": model.mark("plan", place="g")}]}],
        "tools": [{"functionDeclarations": [declared]}],
    }
    _, data = post(model, f"/v1beta/models/gem:{method}", body)
    whole = read_events(data)[-1] if "stream" in method else json.loads(data)
    made = whole["candidates"][0]["content"]["parts"][-1]["functionCall"]
    assert (made["name"], made["args"]["file_path"]) == ("write_file", "g/plan.md")
    assert whole["modelVersion"] == "gem"


@pytest.mark.parametrize(
    "wire", ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1beta/models/m:generateContent"]
)
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"[" * 100_000, b'{"messages": 1, "tools": [2], "input": [3], "contents": {}}']
)
def test_a_request_that_is_none_gets_an_answer(model: ScriptedModel, wire: str, body: bytes) -> None:
    assert post(model, wire, body)[0] in {200, 400}


# What goes wrong on purpose


def test_an_error_has_its_status_and_kind(model: ScriptedModel) -> None:
    body = {"tools": ANTHROPIC_TOOLS, "messages": [{"role": "user", "content": model.mark("error")}]}
    status, data = post(model, "/v1/messages", body)
    assert status == 529
    assert json.loads(data)["error"]["type"] == "overloaded_error"
    assert json.loads(data)["error"]["message"] == "too much"


@pytest.mark.parametrize("stream", [False, True])
def test_a_hanging_answer_does_not_end_and_does_not_hold_up_the_end(*, stream: bool) -> None:
    with ScriptedModel(SCRIPTS) as model:
        body = {
            "stream": stream,
            "tools": ANTHROPIC_TOOLS,
            "messages": [{"role": "user", "content": model.mark("hang")}],
        }
        gone: list[float] = []

        def wait() -> None:
            with suppress(OSError, http.client.HTTPException):
                post(model, "/v1/messages", body)
            gone.append(time.monotonic())

        waiting = threading.Thread(target=wait)
        waiting.start()
        assert model.wait("hang").script == "hang"
        time.sleep(0.2)
        assert not gone
        left = time.monotonic()
    waiting.join(30)
    assert gone[0] - left < 10


def test_a_dropped_answer_ends_in_the_middle(model: ScriptedModel) -> None:
    body = {"stream": True, "tools": ANTHROPIC_TOOLS, "messages": [{"role": "user", "content": model.mark("drop")}]}
    assert [event["type"] for event in read_events(post(model, "/v1/messages", body)[1])] == ["message_start"]


def test_a_slow_answer_takes_its_time(model: ScriptedModel) -> None:
    before = time.monotonic()
    ask_anthropic(model, ("user", model.mark("slow")))
    assert time.monotonic() - before >= 0.3


def test_waiting_for_a_turn_that_nobody_asks_for_ends(model: ScriptedModel) -> None:
    with pytest.raises(TimeoutError, match="turn 3 of the script plan"):
        model.wait("plan", 3, timeout_s=0.01)


@pytest.mark.parametrize(("scripts", "match"), [({"a b": [say("x")]}, "cannot be called"), ({"a": []}, "no turn")])
def test_a_script_that_cannot_be_played_is_refused(scripts: dict[str, list[ScriptedTurn]], match: str) -> None:
    with pytest.raises(UsageError, match=match):
        ScriptedModel(scripts)


def test_a_marker_of_no_script_is_refused(model: ScriptedModel) -> None:
    with pytest.raises(UsageError, match="did you mean 'plan'"):
        model.mark("plans")


def test_it_listens_only_inside_its_block() -> None:
    model = ScriptedModel(SCRIPTS)
    with pytest.raises(RuntimeError, match="with"):
        _ = model.url


# The harnesses


@pytest.mark.parametrize("cli", ["claude", "opencode", "codex", "gemini"])
def test_an_environment_leads_to_the_model_and_nowhere_else(
    model: ScriptedModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cli: Any,  # noqa: ANN401 - a literal
) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "real")
    monkeypatch.setenv("OPENAI_API_KEY", "real")
    environ = model.environ(cli, tmp_path / "home")
    assert "real" not in environ.values()
    assert environ["HOME"] == str(tmp_path / "home")
    assert environ["TMPDIR"] == str(tmp_path / "home" / "tmp")  # Codex works in no home below it
    assert (tmp_path / "home" / "tmp").is_dir()
    assert {environ["HTTPS_PROXY"], environ["https_proxy"]} == {"http://127.0.0.1:9"}
    written = [file.read_text() for file in tmp_path.rglob("*") if file.is_file()]
    assert any(model.url in text for text in [*environ.values(), *written])


def test_a_program_is_found_where_it_was_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REMIT_AGENTS", raising=False)
    monkeypatch.setattr("remit.testing.clis._SYSTEM", "any")
    inside = tmp_path / "project" / "deep"
    program = tmp_path / "project/.agents/codex/node_modules/@openai/codex-any/vendor/x/bin/codex"
    program.parent.mkdir(parents=True)
    inside.mkdir()
    program.touch()
    monkeypatch.chdir(inside)
    assert find_cli("codex") is None
    program.chmod(0o755)
    assert find_cli("codex") == str(program)
    monkeypatch.setenv("REMIT_AGENTS", str(tmp_path))
    assert find_cli("codex") is None
    assert find_cli("codex", str(tmp_path / "project" / ".agents")) == str(program)

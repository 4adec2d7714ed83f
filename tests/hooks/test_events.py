"""Recorded events of real harnesses: read in one form, and all of them are answered."""

import json
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from remit.hooks.events import HookEvent
from remit.hooks.main import respond
from tests.support.hook_session import check_shape, make_workspace

PAYLOADS = Path(__file__).parent / "payloads"
NATIVE = [
    pytest.param(harness, file, id=f"{harness}-{file.stem}")
    for harness in ("claude", "codex")
    for file in sorted((PAYLOADS / harness).glob("*.json"))
    if file.stem not in ("note", "transcript_first_line")
]


def load(harness: str, name: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads((PAYLOADS / harness / f"{name}.json").read_text())
    return payload


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_workspace(tmp_path_factory.mktemp("events") / "project")


@pytest.mark.parametrize(("harness", "file"), NATIVE)
def test_every_payload_is_read(harness: str, file: Path) -> None:
    event = HookEvent(json.loads(file.read_text()), harness)
    assert event.harness == harness
    assert event.kind == file.stem.partition("_")[0]
    assert event.session
    assert event.is_own == (not event.agent_id and not event.agent)
    assert bool(event.agent_id) == ("agent_id" in event.payload)


@pytest.mark.parametrize(("harness", "file"), NATIVE)
def test_every_payload_is_answered(root: Path, harness: str, file: Path) -> None:
    """Nothing goes wrong on the way, whatever came before it or did not."""
    payload = {**json.loads(file.read_text()), "cwd": str(root)}
    environ = {"HOME": str(root.parent), "PATH": "/usr/bin:/bin"}
    code, out, err = respond(BytesIO(json.dumps(payload).encode()), environ, harness)
    assert (code, err) == (0, ""), harness
    assert "could not be" not in out
    assert "isn't checked" not in out
    check_shape(json.loads(out) if out else {}, payload["hook_event_name"])


@pytest.mark.parametrize(
    ("harness", "name", "target", "key"),
    [
        ("claude", "PreToolUse_Agent", "planner", "prompt"),
        ("claude", "PreToolUse_Agent_child", "planner", "prompt"),
        ("codex", "PreToolUse_spawn_agent", "planner", "message"),
    ],
)
def test_a_call_of_a_subagent_is_known(harness: str, name: str, target: str, key: str) -> None:
    event = HookEvent(load(harness, name), harness)
    assert event.is_delegating
    assert (event.target, event.prompt_key) == (target, key)
    assert event.is_background == (harness == "codex")


def test_one_in_the_background_is_known() -> None:
    assert HookEvent(load("claude", "PreToolUse_Agent_background"), "claude").is_background


@pytest.mark.parametrize("name", ["PreToolUse_Bash", "PostToolUse_Write", "Stop", "SessionStart", "UserPromptSubmit"])
def test_a_persons_own_session_is_known(name: str) -> None:
    assert HookEvent(load("claude", name), "claude").is_own


@pytest.mark.parametrize("name", ["PreToolUse_Bash_agent", "Stop_agent", "SessionStart_agent"])
def test_a_session_that_is_an_agents_is_known(name: str) -> None:
    event = HookEvent(load("claude", name), "claude")
    assert (event.is_own, event.agent_id, event.agent) == (False, "", "planner")


@pytest.mark.parametrize(
    "tool", ["mcp__lab__spawn_agent", "TaskOutput", "TaskStop", "agent", "SendMessage", "wait_agent"]
)
def test_what_starts_nobody_is_known(tool: str) -> None:
    assert not HookEvent({"hook_event_name": "PreToolUse", "tool_name": tool}, "codex").is_delegating


def test_whatever_stands_there_is_read(subtests: pytest.Subtests) -> None:
    keys = [
        "session_id", "agent_id", "agent_type", "tool_name", "tool_input", "tool_use_id", "cwd", "transcript_path",
        "hook_event_name", "stop_hook_active", "error",
    ]  # fmt: skip
    values: list[object] = [None, 7, [], {}, True, "x" * 10_000]
    for key, value in product(keys, values):
        with subtests.test(key=key, value=value):
            event = HookEvent({"hook_event_name": "PreToolUse", key: value}, "codex")
            assert len(event.session) <= 300
            assert len(event.agent_id) <= 300
            assert len(event.agent) <= 200
            assert isinstance(event.target, str)

"""Each reader gets its own text: the user is asked a question, the model is told what to do instead."""

import json
from pathlib import Path
from typing import Any

import pytest

from remit.policy import Permissions, ToolCall, judge
from tests.support.hook_session import Child, Stage, add_agent
from tests.support.policy_questions import make_ground

RULES = (
    "permissions:\n  deny:\n    - bash: ['rm *', 'git push']\n    - write: ['secrets/**']\n    - read: ['keys/**']\n"
)
UNKNOWN_TO_REMIT = [
    {"tool": "mcp__files__write", "path": "remit.toml"},
    {"tool": "mcp__files__read", "uri": "keys/x"},
    {"tool": "mcp__python__run", "code": "print(1)"},
]
IN_DOUBT = [
    {"tool": "Bash", "command": "$x -r y"},
    {"tool": "Bash", "command": "eval $x"},
    {"tool": "Bash", "command": "git $x --force"},
    {"tool": "Bash", "command": "LD_PRELOAD=./x.so ls"},
    {"tool": "Bash", "command": "ssh host 'rm -rf x'"},
    {"tool": "Write", "file_path": "SECRETS/a", "content": "x"},
    {"tool": "Write", "file_path": "a\u0001b", "content": "x"},
]


def begin(root: Path, harness: str, *, quick: bool) -> Child:
    add_agent(root, "careful", more=RULES)
    child = Stage(root, harness, quick=quick).call("careful")
    child.start()
    return child


def use(child: Child, given: dict[str, Any]) -> tuple[str, str]:
    said = answer(child, given)
    return said["permissionDecision"], said["permissionDecisionReason"]


def answer(child: Child, given: dict[str, Any]) -> dict[str, Any]:
    own = {name: value for name, value in given.items() if name != "tool"}
    said: dict[str, Any] = child.use(given["tool"], **own)["hookSpecificOutput"]
    return said


def is_for_user(text: str) -> bool:
    return text.endswith("Allow it?") and "partial" not in text and "you" not in text.split()


def is_for_model(text: str) -> bool:
    return "Allow it?" not in text and ("`partial`" in text or "use the exact name" in text)


@pytest.mark.parametrize("given", [*UNKNOWN_TO_REMIT, *IN_DOUBT], ids=json.dumps)
def test_claude_code_asks_the_user_in_the_users_words(root: Path, given: dict[str, Any], *, quick: bool) -> None:
    said = answer(begin(root, "claude", quick=quick), given)
    assert said["permissionDecision"] == "ask"
    assert is_for_user(said["permissionDecisionReason"]), said
    # The model of a session without a user reads this, too.
    assert said["additionalContext"].startswith("If this call is refused: ")
    assert is_for_model(said["additionalContext"]), said


@pytest.mark.parametrize("given", [*UNKNOWN_TO_REMIT, *IN_DOUBT], ids=json.dumps)
def test_claude_code_says_to_the_model_what_to_do_if_the_settings_deny(
    root: Path, given: dict[str, Any], *, quick: bool
) -> None:
    (root / "remit.toml").write_text('[hooks]\nask = "deny"\n')
    decision, text = use(begin(root, "claude", quick=quick), given)
    assert decision == "deny"
    assert is_for_model(text), text


@pytest.mark.parametrize("harness", ["codex", "opencode"])
@pytest.mark.parametrize("given", UNKNOWN_TO_REMIT, ids=json.dumps)
def test_a_harness_that_cannot_ask_gets_the_text_for_the_model(
    root: Path, harness: str, given: dict[str, Any], *, quick: bool
) -> None:
    decision, text = use(begin(root, harness, quick=quick), given)
    assert decision == "deny"
    assert is_for_model(text), text


@pytest.mark.parametrize("harness", ["codex", "opencode"])
def test_the_same_is_true_of_their_shell_commands(root: Path, harness: str, *, quick: bool) -> None:
    child = begin(root, harness, quick=quick)
    for command in ("$x -r y", "eval $x", "LD_PRELOAD=./x.so ls"):
        decision, text = use(child, {"tool": "Bash" if harness == "codex" else "bash", "command": command})
        assert decision == "deny"
        assert is_for_model(text), text


@pytest.mark.parametrize("harness", ["claude", "codex", "opencode"])
def test_a_denial_says_what_to_do_instead_in_every_harness(root: Path, harness: str, *, quick: bool) -> None:
    tool = "bash" if harness == "opencode" else "Bash"
    decision, text = use(begin(root, harness, quick=quick), {"tool": tool, "command": "rm x"})
    assert decision == "deny"
    assert is_for_model(text), text


def test_every_decision_of_the_user_has_both_texts(tmp_path: Path) -> None:
    layers = [Permissions(deny={"bash": ["rm *", "git push"], "write": ["SRC/**"], "read": ["KEYS"]})]
    calls = [ToolCall("bash", command=each["command"]) for each in IN_DOUBT if "command" in each]
    calls += [ToolCall("write", ("src/a",)), ToolCall("read", ("keys",)), ToolCall("read", ("a" * 5000,))]
    found = [judge(call, layers, make_ground(tmp_path, protected=())) for call in calls]
    assert [each.answer for each in found] == ["ask"] * len(calls)
    for decision in found:
        assert is_for_user(decision.question), decision
        assert not is_for_user(decision.reason), decision
        assert ";" in decision.reason, decision

"""A subagent that calls Remit itself: it has no ticket, and Remit doesn't treat it as the user."""

from typing import Any

import pytest

from tests.support.hook_session import Child, Refused, Stage


def say(answer: dict[str, Any]) -> str:
    word: str = answer.get("hookSpecificOutput", {}).get("permissionDecision", "")
    return word


@pytest.mark.parametrize(
    "command",
    ["remit run planner 'Do it.'", "cd docs && remit   uninstall", "/usr/bin/env remit config trust --yes",
     "python3 -m remit task implement 3", "x=$(remit retry sess_1_abcdef)", 're""mit run x', "rem\\it run x",
     "remit task audit 3", "remit $word", "claude -p 'Do it.'", "codex exec x", "npm test; opencode run x"],
)  # fmt: skip
def test_it_does_not_delegate_or_change_settings_by_a_command(child: Child, command: str) -> None:
    answer = child.use("Bash", command=command)
    assert say(answer) == "deny"
    assert "can't identify the agent" in answer["hookSpecificOutput"]["permissionDecisionReason"]


@pytest.mark.parametrize(
    "command",
    [
        "remit check answer.md",
        "remit task show 3",
        "grep -rn 'remit run' docs",
        "claude --version",
        "remit ps",
        "remit task set-status 3 completed",
    ],
)
def test_it_may_look_things_up(child: Child, command: str) -> None:
    assert child.use("Bash", command=command) == {}


@pytest.mark.parametrize("key", ["cmd", "script"])
def test_a_command_under_another_key_is_one_too(child: Child, key: str) -> None:
    given: dict[str, Any] = {key: "remit run planner x"}
    assert say(child.use("exec_command", **given)) == "deny"


def test_through_the_server_it_says_who_it_is(child: Child) -> None:
    answer = child.use("mcp__remit__delegate", agent="planner", prompt="Do it.")
    assert say(answer) == "deny"
    reason = answer["hookSpecificOutput"]["permissionDecisionReason"]
    assert f'"caller": "{child.session_id}"' in reason
    assert child.use("mcp__remit__delegate", agent="planner", prompt="Do it.", caller=child.session_id) == {}
    assert say(child.use("mcp__plugin_remit_remit__cancel", session_id="sess_1_abcdef")) == "deny"


@pytest.mark.parametrize("path", ["agents/x.md", "lib/.claude/agents/x.md", "agents/deep/y.md", "remit.toml"])
def test_no_agent_writes_what_decides_over_agents(child: Child, path: str) -> None:
    assert say(child.use("Write", file_path=str(child.stage.root / path), content="x")) == "deny"


def test_a_project_file_cannot_change_how_an_agent_is_judged(child: Child, stage: Stage) -> None:
    """The next agent is refused, with the reason, instead of being judged by settings that an agent wrote."""
    (stage.root / "remit.toml").unlink()
    file = stage.root / "pyproject.toml"
    assert child.use("Write", file_path=str(file), content="[tool.remit.delegate]\nreasks = 0\n") == {}
    with pytest.raises(Refused, match=r"tool\.remit\.delegate isn't a setting of this file"):
        stage.call("writer")


@pytest.mark.parametrize(
    ("command", "word"),
    [("git clean -fdx", "deny"), ("git clean -fdX .", "deny"), ("git stash -a -q; sleep 3", "deny"),
     ("git -C . stash push --all", "deny"), ("git stash -u", ""), ("git stash", ""), ("git clean -ndx", ""),
     ("timeout 9 git clean -ffxd", "deny"), ("git clean -fdx -e .remit", ""), ("git clean -fdx build", ""),
     ("git clean -fd build", ""), ("git commit -am x", ""), ("git stash list", ""), ("git stash -m all -- src", "")],
)  # fmt: skip
def test_git_does_not_take_away_what_holds_agents(child: Child, command: str, word: str) -> None:
    assert say(child.use("Bash", command=command)) == word


def test_it_gives_work_only_to_whom_it_has_called(stage: Stage, child: Child) -> None:
    other = stage.call("writer")
    other.start()
    assert other.use("Bash", command="true") == {}
    assert say(child.use("SendMessage", to=other.agent_id, message="Go on.")) == "deny"
    below = stage.call("writer", by=child)
    below.start()
    assert below.use("Bash", command="true") == {}
    assert child.use("SendMessage", to=below.agent_id, message="Go on.") == {}
    assert child.use("SendMessage", to="main", message="Half of it is done.") == {}
    for stranger in ("another-session", "researcher", "a9999999999999999", ""):  # which Remit knows nothing of
        assert say(child.use("SendMessage", to=stranger, message="Go on.")) == "deny", stranger
    assert say(child.use("SendMessage", message="Go on.")) == "deny"

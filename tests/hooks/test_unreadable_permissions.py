"""Unreadable permissions: the agent gets no tools that they may concern, and the denial says why."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from remit.errors import InputError, UsageError
from remit.hooks.explain_permission import explain_call
from tests.support.hook_session import Stage, add_agent

UNREAD = ["deny: 5", "deny: [{bsh: [git push]}]", "deny: [{bash: [3]}]", "denny: [{bash: [git push]}]"]
READ = ["deny: [{Bash: [git push]}]", 'deny: ["Bash(git push:*)"]']


@pytest.mark.parametrize("permissions", UNREAD)
def test_what_cannot_be_read_denies(stage: Stage, root: Path, permissions: str) -> None:
    add_agent(root, "careful", more=f"permissions: {{{permissions}}}\n")
    child = stage.call("careful")
    child.start()
    answers = [child.use("Bash", command="git push"), child.use("Write", file_path=f"{root}/a", content="x")]
    for told in (answer["hookSpecificOutput"] for answer in answers):
        assert told["permissionDecision"] == "deny"
        assert "remit lint .opencode/agent/subagents/careful.md" in told["permissionDecisionReason"]


@pytest.mark.parametrize("permissions", [*UNREAD, *READ])
def test_what_may_says_is_what_the_hook_says(root: Path, monkeypatch: pytest.MonkeyPatch, permissions: str) -> None:
    add_agent(root, "careful", more=f"permissions: {{{permissions}}}\n")
    monkeypatch.chdir(root)
    assert explain_call("careful", "bash", "git push").decision.answer == "deny"
    assert explain_call("careful", "Bash", "git push").decision.answer == "deny"
    others = explain_call("careful", "bash", "ls").decision.answer
    assert others == ("allow" if permissions in READ else "deny")


def test_a_tool_that_is_not_there_is_no_question(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_agent(root, "careful")
    monkeypatch.chdir(root)
    with pytest.raises(InputError, match="there is no tool 'bsh'") as caught:
        explain_call("careful", "bsh", "git push")
    assert caught.value.hint == snapshot("did you mean 'bash'?")
    assert explain_call("careful", "mcp__github__push", "").decision.answer == "allow"


@pytest.mark.parametrize("subject", ["", " "])
@pytest.mark.parametrize(
    ("tool", "wanted"), [("bash", "command"), ("Bash", "command"), ("write", "file"), ("grep", "file")]
)
def test_nothing_is_allowed_on_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, tool: str, wanted: str, subject: str
) -> None:
    add_agent(root, "careful")
    monkeypatch.chdir(root)
    with pytest.raises(UsageError, match=f"depends on the {wanted}, and none is given") as told:
        explain_call("careful", tool, subject)
    assert told.value.hint.startswith("name it: remit agent can careful ")

"""Ways around the hooks that were found with the real Claude Code, each closed."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from remit.testing import call, say
from tests.support.harness_hooks import PACKAGE, ask, converse, get_report, hand, list_results, list_runs, set_up
from tests.support.harness_workspace import FREE, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

SETTINGS = ".claude/settings.local.json"


STANDARD = """\
---
name: scribe
version: 1.0.0
description: "Does its part"
mode: subagent
agent_type: implementation
permissions:
  deny:
    - bash: ["touch"]
---

# Scribe
"""
SKILL = """\
---
name: helper
description: Helps with what has to be done
context: fork
agent: general-purpose
---

[[play forked]] Do it.
"""
WAIT = call("bash", command="sleep 4")
SCRIPTS = {
    "again": [
        ask("once"),
        call("SendMessage", to="${child}", summary="more", message="Is it all done?").grab(child=r"agentId: (\w+)"),
        WAIT,
        say("All is done."),
    ],
    "once": [call("write", path="left.md", content="# Left\n"), hand("left.md"), hand("left.md")],
    "switching": [ask("switch"), WAIT, call("bash", command="true"), ask("reach"), say("All is done.")],
    "switch": [call("bash", command="git checkout -q open"), call("write", path="a.md", content="x"), hand("a.md")],
    "reach": [call("bash", command="echo x >> remit.toml"), hand("")],
    "skilled": [ask("skill"), say("All is done.")],
    "skill": [call("Skill", skill="helper"), call("write", path="a.md", content="x"), hand("a.md")],
    "forked": [
        call("bash", command="touch reached"),
        call("bash", command="echo x >> remit.toml"),
        call("bash", command="echo x > fine"),
        say("It is done."),
    ],
    "alone": [call("bash", command="touch mine"), ask("touch"), say("Done.")],
    "touch": [call("bash", command="touch reached"), say("It is done."), say("It is done."), say("Never.")],
    "person": [call("bash", command="git checkout -q open"), WAIT, call("bash", command="true"), say("Done.")],
}  # fmt: skip


@pytest.fixture(name="stage")
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with set_up("claude", SCRIPTS, tmp_path, monkeypatch) as stage:
        yield stage


def keep_open_branch(stage: Stage) -> None:
    """Commit the settings, and make a branch that has others, without any hook."""
    for words in (
        "add -f .claude remit.toml", "commit -qm held", "checkout -qb open",
    ):  # fmt: skip
        subprocess.run(["git", *words.split()], cwd=stage.root, check=True)
    (stage.root / SETTINGS).write_text("{}")
    for words in ("commit -qam open", "checkout -q -"):
        subprocess.run(["git", *words.split()], cwd=stage.root, check=True)
    assert "PreToolUse" in (stage.root / SETTINGS).read_text()


@pytest.mark.thorough
def test_what_was_made_before_a_message_is_not_credited_again(stage: Stage) -> None:
    converse(stage, "again")
    rows = list_runs(stage)
    assert [(row.status, row.verdict) for row in rows] == [("completed", "accepted"), ("failed", "fabricated")]
    assert [each.path for each in get_report(stage, rows[0]).artifacts] == ["left.md"]


@pytest.mark.thorough
def test_settings_that_an_agent_changes_by_git_are_not_taken_over(stage: Stage) -> None:
    keep_open_branch(stage)
    before = (stage.root / "remit.toml").read_text()
    converse(stage, "switching")
    assert json.loads((stage.root / SETTINGS).read_text()) == {}  # the agent did change them
    rows = list_runs(stage)
    assert len(rows) == 2  # and the next one is still held
    assert (stage.root / "remit.toml").read_text() == before
    (told,) = list_results(stage, "reach", 1)
    assert "Remit" in told


@pytest.mark.thorough
def test_a_skill_that_an_agent_forks_gets_no_more_than_the_agent(stage: Stage) -> None:
    stage.write_agent("agents/scribe.md", STANDARD)
    stage.write_agent(".claude/skills/helper/SKILL.md", SKILL)
    converse(stage, "skilled")
    (told,) = list_results(stage, "forked", 1)
    assert "Remit" in told  # the skill was run by an agent of its own
    (told,) = list_results(stage, "forked", 2)
    assert "Remit" in told
    assert not (stage.root / "reached").exists()
    assert (stage.root / "remit.toml").read_text() == FREE
    assert (stage.root / "fine").exists()
    rows = list_runs(stage)
    assert [(row.agent, row.status) for row in rows] == [("scribe", "completed"), ("general-purpose", None)]
    assert rows[1].depth >= 1
    assert {row.state for row in rows} == {"finished"}


def test_without_the_program_an_agent_can_do_nothing_and_a_person_all(stage: Stage) -> None:
    text = (PACKAGE / "harness_files" / "claude" / "hooks.json").read_text()
    (stage.root / SETTINGS).write_text(text.replace('"remit hook', '"no-such-remit hook'))
    session = converse(stage, "alone")
    assert session.exit_code == 0
    assert (stage.root / "mine").exists()
    assert not (stage.root / "reached").exists()
    (told,) = list_results(stage, "touch", 1)
    assert "Remit is gone" in told
    assert stage.asked("touch", 3) == []  # it is sent back once, and not for ever


@pytest.mark.thorough
def test_settings_that_a_person_changes_are(stage: Stage) -> None:
    keep_open_branch(stage)
    session = converse(stage, "person", "--include-hook-events")
    assert json.loads((stage.root / SETTINGS).read_text()) == {}
    calls: list[int] = []
    for event in map(json.loads, session.output.splitlines()):
        if event.get("type") == "assistant" and event["message"]["content"][0]["type"] == "tool_use":
            calls.append(0)
        elif event.get("subtype") == "hook_started" and event["hook_event"] == "PreToolUse":
            calls[-1] += 1
    # The harness watches its settings with a delay that may end before the second call, which only waits, or during it.
    assert (len(calls), calls[0], calls[2]) == (3, 1, 0)

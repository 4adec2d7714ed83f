"""The real programs read the agents that Remit compiles for them, with the tools and instructions of the source."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from remit.agents.scaffold import scaffold
from remit.testing import ScriptedModel, call, find_cli, say
from tests.support.harness_hooks import converse, run_remit
from tests.support.harness_workspace import Stage, make_stage

if TYPE_CHECKING:
    from pathlib import Path

    from remit.testing.clis import CliName

pytestmark = pytest.mark.slow

WAIT = call("wait_agent", targets=["${child}"], timeout_ms=60_000).grab(child=r'"agent_id":\s*"([^"]+)"')
SCRIPTS = {
    "claude": [call("task", agent="writer", prompt="[[play work root=${root}]] Write it."), say("All is done.")],
    "reader": [call("spawn_agent", agent_type="reader", message="[[play work]] Read it."), WAIT, say("All is done.")],
    "writer": [call("spawn_agent", agent_type="writer", message="[[play work]] Write it."), WAIT, say("All is done.")],
    "work": [say("It is done.")],
}
WRITER = scaffold("planning", "writer", place="agents")[0].text
READER = WRITER.replace(": true\n", ": false\n").replace("  write: false\n", "  write: true\n")
"""An agent that has no tool but the one that writes."""


def prepare(cli: CliName, model: ScriptedModel, folder: Path, patch: pytest.MonkeyPatch) -> Stage:
    """A stage with two compiled agents, and no hooks."""
    stage = make_stage(cli, folder, model, patch)
    stage.write_agent("agents/writer.md", WRITER)
    stage.write_agent("agents/reader.md", READER.replace('"writer"', '"reader"'))
    run_remit(stage, "agent", "build", "--to", cli)
    return stage


def list_tools(model: ScriptedModel) -> set[str]:
    """The names of the tools that the agent had."""
    [body] = [each.body for each in model.requests if (each.script, each.step) == ("work", 0) and each.tools]
    return {str(tool.get("name") or tool.get("type")) for tool in body["tools"]}


def test_claude_code_gives_an_agent_its_tools_and_instructions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.2."""
    with ScriptedModel(SCRIPTS) as model:
        stage = prepare("claude", model, tmp_path, monkeypatch)
        session = converse(stage, "claude")
        opening = json.loads(session.output.split("\n", 1)[0])
        assert {"writer", "reader"} <= set(opening["agents"])
        tools = list_tools(model) - {"Grep", "Glob"}  # with Bash, newer releases offer neither of them
        assert tools == {"Read", "Write", "Bash", "Agent"}
        (asked,) = stage.asked("work", 0)
        assert "You turn a task and its research into a plan" in asked


@pytest.mark.parametrize(("agent", "has_shell"), [("writer", True), ("reader", False)])
def test_codex_gives_an_agent_its_instructions_and_takes_the_shell(
    agent: str,
    has_shell: bool,  # noqa: FBT001 - a parameter
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R1.2."""
    with ScriptedModel(SCRIPTS) as model:
        stage = prepare("codex", model, tmp_path, monkeypatch)
        converse(stage, agent)
        assert ("exec_command" in list_tools(model)) is has_shell
        (asked,) = stage.asked("work", 0)
        assert "You turn a task and its research into a plan" in asked


def test_opencode_reads_every_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.2, R1.3: the rules of the file are the last ones, in its order."""
    with ScriptedModel(SCRIPTS) as model:
        stage = prepare("opencode", model, tmp_path, monkeypatch)
        program = find_cli("opencode")
        assert program is not None
        words = [program, "debug", "agent", "writer"]
        ran = subprocess.run(words, cwd=stage.root, env=stage.environ, capture_output=True, check=True, timeout=120)
        found = json.loads(ran.stdout)
        assert (found["name"], found["mode"], found["temperature"]) == ("writer", "subagent", 0.2)
        rules = [(rule["permission"], rule["pattern"], rule["action"]) for rule in found["permission"]]
        edits = [rule for rule in rules if rule[0] == "edit"]
        assert edits[-3:] == [("edit", "*", "deny"), ("edit", "specs/*", "allow"), ("edit", ".git/*", "deny")]
        bash = [rule[1:] for rule in rules if rule[0] == "bash"]
        assert bash[bash.index(("*", "deny")) :] == [
            ("*", "deny"), ("grep *", "allow"), ("ls *", "allow"), ("wc *", "allow"), ("date *", "allow"),
            ("rm *", "deny"), ("sudo *", "deny"), ("git push *", "deny"),
        ]  # fmt: skip

"""Claude Code with Remit's server: its tools are there in time, and what they do is held to its limits."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from remit.testing import ScriptedModel, call, find_cli, say
from tests.support.harness_hooks import Session, converse, list_results, list_runs, write_native
from tests.support.harness_workspace import WAIT_S, Stage, give, make_stage
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.testing import ScriptedTurn

pytestmark = pytest.mark.slow

WAITING = {"MCP_CONNECTION_NONBLOCKING": "0", "MCP_CONNECT_TIMEOUT_MS": "60000"}
"""A model that plays a script answers sooner than any server starts on a busy machine; a real one does not."""
NOTES = call("write", path="${root}/notes.md", content="# Notes\n")


def delegate(script: str, agent: str, **more: Any) -> ScriptedTurn:  # noqa: ANN401 - of the tool
    """A call of the server's tool that has an agent play a script."""
    prompt = f"[[play {script} root=${{root}}]] Do it."
    return call("mcp__remit__delegate", agent=agent, prompt=prompt, runner="claude", **more)


SCRIPTS = {
    "main": [
        call("bash", command="sleep 3"),
        delegate("work", "scribe"),
        delegate("lie", "scribe"),
        say("All is done."),
    ],
    "work": [
        call("mcp__remit__check_return", message="It is all done, and everything works."),
        NOTES,
        give(path="notes.md"),
    ],
    "lie": [call("bash", command="true"), give(path="never.md")],
    "deep": [delegate("one", "first"), say("All is done.")],
    "one": [delegate("two", "second"), give(path="")],
    "two": [delegate("three", "third"), give(path="")],
    "three": [delegate("four", "fourth"), delegate("four", "first"), give(path="")],
    "four": [say("This was never to be said.")],
    "long": [delegate("slow", "scribe"), say("All is done.")],
    "slow": [call("bash", command="touch ${root}/begun; sleep 5"), NOTES, give(path="notes.md")],
}


@pytest.fixture(name="stage")
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with ScriptedModel(SCRIPTS) as model:
        stage = make_stage("claude", tmp_path, model, monkeypatch)
        for name in ("scribe", "first", "second", "third", "fourth"):
            write_native(stage, name)
        server = {"command": str(stage.programs / "remit"), "args": ["mcp"]}
        stage.write_agent(".mcp.json", json.dumps({"mcpServers": {"remit": server}}))
        stage.write_agent(".claude/settings.json", json.dumps({"enableAllProjectMcpServers": True}))
        stage.configure('[runners.claude]\nargs = ["--allowedTools=mcp__remit"]\n')
        yield stage
        assert stage.list_living() == []


def play(stage: Stage, script: str) -> Session:
    """Let Claude Code play a script, with the server's tools from its first turn on."""
    return converse(stage, script, environ=stage.environ | WAITING)


def load_result(stage: Stage, script: str, step: int = 1, *, at: int = 0) -> dict[str, Any]:
    """What the server gave a model for a call of its turn before."""
    told: dict[str, Any] = json.loads(list_results(stage, script, step)[at])
    return told


@pytest.mark.thorough
def test_work_is_delegated_through_the_server(stage: Stage) -> None:
    """Nothing makes Claude Code wait for servers: it goes on without one that is slow, and this one is there."""
    session = converse(stage, "main")
    told = load_result(stage, "main", 2)
    assert (told["finished"], told["result"]["status"], told["result"]["remit"]["verdict"]) == (
        True,
        "completed",
        "accepted",
    )
    assert [each["path"] for each in told["result"]["artifacts"]] == ["notes.md"]
    work, lie = list_runs(stage)
    assert (work.agent, work.depth, work.status) == ("scribe", 1, "completed")
    assert session.exit_code == 0
    checked = load_result(stage, "work")  # R2.15: an agent checks its own return
    assert (checked["accepted"], checked["verdict"], checked["session_id"]) == (False, "missing", work.session_id)
    result = load_result(stage, "main", 3)["result"]
    assert (result["status"], result["remit"]["verdict"]) == ("failed", "fabricated")
    assert lie.status == "failed"


@pytest.mark.thorough
def test_depth_4_and_a_circle_are_refused(stage: Stage) -> None:
    play(stage, "deep")
    assert [(row.agent, row.depth) for row in list_runs(stage)] == [("first", 1), ("second", 2), ("third", 3)]
    refused = [list_results(stage, "three", step)[0] for step in (1, 2)]
    assert "MAX_DEPTH_EXCEEDED" in refused[0]
    assert "MAX_DEPTH_EXCEEDED" in refused[1] or "CYCLE_DETECTED" in refused[1]
    assert not stage.asked("four", 0)


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_work_goes_on_when_claude_code_ends(stage: Stage, number: signal.Signals) -> None:
    program = find_cli("claude")
    assert program is not None
    words = (program, "-p", f"{stage.mark('long')} Do it.", "--permission-mode=bypassPermissions")
    environ = stage.environ | WAITING | {"IS_SANDBOX": "1"}
    with subprocess.Popen(
        words, cwd=stage.root, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as process:
        wait_until((stage.root / "begun").exists, "the agent began")
        process.send_signal(number)
        process.wait(WAIT_S)
    assert list_runs(stage)[0].state == "running"
    wait_until(lambda: list_runs(stage)[0].state == "finished", "somebody drove it to its end")
    (row,) = list_runs(stage)
    assert (row.status, row.stop_reason) == ("completed", "exited")
    wait_until(lambda: stage.list_living() == [], "nobody is left")

"""Codex and opencode with Remit's server: work is delegated through it, and an agent's ticket reaches it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from remit.testing import ScriptedModel, call, say
from tests.support.harness_hooks import converse, list_results, list_runs
from tests.support.harness_workspace import Stage, give, make_stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.testing import ScriptedTurn
    from remit.testing.clis import CliName

pytestmark = pytest.mark.slow

PASSED_ON = ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT", "CODEX_HOME", "SCRIPTED_API_KEY", "XDG_CONFIG_HOME")
"""Codex gives a server few variables but those that are named: its ticket, and what agents need that it starts."""


def make_scripts(cli: CliName) -> dict[str, list[ScriptedTurn]]:
    def delegate(script: str) -> ScriptedTurn:
        return call("delegate", prompt=f"[[play {script} root=${{root}}]] Do it.", runner=cli)

    return {
        "main": [delegate("work"), say("All is done.")],
        "work": [
            call("check_return", message="It is all done, and everything works."),
            call("write", path="${root}/notes.md", content="# Notes\n"),
            give(path="notes.md"),
        ],
        "deep": [delegate("one"), say("All is done.")],
        "one": [delegate("two"), give(path="")],
        "two": [delegate("three"), give(path="")],
        "three": [delegate("four"), give(path="")],
        "four": [say("This was never to be said.")],
    }


@pytest.fixture(name="stage", params=["codex", "opencode"])
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with ScriptedModel(make_scripts(request.param)) as model:
        stage = make_stage(request.param, tmp_path, model, monkeypatch)
        server = {"type": "local", "command": [str(stage.programs / "remit"), "mcp"], "enabled": True}
        stage.write_agent("opencode.json", json.dumps({"mcp": {"remit": server}}))
        args = ["--sandbox=danger-full-access", *list_args(stage)]
        stage.configure(f"[runners.codex]\nargs = {json.dumps(args)}\n")
        yield stage
        assert stage.list_living() == []


def list_args(stage: Stage) -> list[str]:
    """What tells Codex of the server."""
    settings = {
        "command": str(stage.programs / "remit"),
        "args": ["mcp"],
        "required": True,
        "tool_timeout_sec": 120,
        "env_vars": [*PASSED_ON],
    }
    return [f"--config=mcp_servers.remit.{name}={json.dumps(value)}" for name, value in settings.items()]


def play(stage: Stage, script: str) -> None:
    args = list_args(stage) if stage.cli == "codex" else []
    session = converse(stage, script, *args)
    assert session.exit_code == 0, session


def load_result(stage: Stage, script: str) -> dict[str, Any]:
    """What the server gave a model for its first call."""
    text = list_results(stage, script, 1)[0]
    told: dict[str, Any] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return told


@pytest.mark.thorough
def test_work_is_delegated_through_the_server(stage: Stage) -> None:
    play(stage, "main")
    result = load_result(stage, "main")["result"]
    assert (result["status"], result["remit"]["verdict"]) == ("completed", "accepted")
    (row,) = list_runs(stage)
    assert (row.agent, row.depth, row.status) == (stage.cli, 1, "completed")
    checked = load_result(stage, "work")
    assert (checked["accepted"], checked["session_id"]) == (False, row.session_id)


@pytest.mark.thorough
@pytest.mark.parametrize("stage", ["codex"], indirect=True)  # a start of opencode takes ten times as long
def test_depth_4_is_refused(stage: Stage) -> None:
    play(stage, "deep")
    assert [row.depth for row in list_runs(stage)] == [1, 2, 3]
    assert "MAX_DEPTH_EXCEEDED" in list_results(stage, "three", 1)[0]
    assert not stage.asked("four", 0)

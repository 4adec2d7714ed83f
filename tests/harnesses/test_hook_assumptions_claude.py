"""What the hooks count on in Claude Code itself: how it takes names, and how it says that a person sits there."""

import sys
from pathlib import Path

import pytest

from remit.testing import ScriptedModel, say
from tests.support.claude_scripts import SCRIPTS
from tests.support.harness_hooks import ask, converse, find_results, install, list_runs, register, write_native
from tests.support.harness_workspace import make_stage

pytestmark = pytest.mark.slow

NOTE = """
import json, os, sys
event = json.load(sys.stdin)
with open({log!r}, "a") as log:
    log.write(event["hook_event_name"] + " " + os.environ.get("CLAUDE_CODE_ENTRYPOINT", "") + chr(10))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Scribe", "scr_ibe", "SCR IBE"])
def test_an_agent_is_held_however_its_name_is_spelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with ScriptedModel(SCRIPTS | {"spelled": [ask("work", name), say("All is done.")]}) as model:
        stage = make_stage("claude", tmp_path, model, monkeypatch)
        write_native(stage, "scribe")
        install(stage)
        assert converse(stage, "spelled").exit_code == 0
        (row,) = list_runs(stage)
        assert (row.agent, row.state, row.status) == ("scribe", "finished", "completed")
        assert find_results(stage, "spelled", 1) != []


@pytest.mark.parametrize("inherited", ["", "cli"])
def test_a_session_without_a_person_says_so_wherever_it_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inherited: str
) -> None:
    """From a person's terminal, too: what is inherited of there does not count."""
    with ScriptedModel({"main": [say("All is done.")]}) as model:
        stage = make_stage("claude", tmp_path, model, monkeypatch)
        log, program = tmp_path / "log", tmp_path / "note.py"
        program.write_text(NOTE.format(log=str(log)))
        register(stage, (sys.executable, str(program)))
        environ = dict(stage.environ) | ({"CLAUDE_CODE_ENTRYPOINT": inherited} if inherited else {})
        assert converse(stage, "main", environ=environ).exit_code == 0
        events = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
        assert log.read_text().splitlines() == [f"{event} sdk-cli" for event in events]

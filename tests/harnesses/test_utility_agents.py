"""D1 in real harnesses: the caller's model gets the return of a utility agent that no harness has a file for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from remit.testing import call, say
from tests.support.harness_hooks import TRUSTING, converse, list_runs, run_remit, set_up

if TYPE_CHECKING:
    from pathlib import Path

    from remit.testing import ScriptedTurn
    from remit.testing.clis import CliName

pytestmark = pytest.mark.slow

AGENT, INPUTS = "status-sync-manager", "operation: update_status\ntask_number: 1\nnew_status: planning"
START: dict[CliName, ScriptedTurn] = {
    "claude": call("task", agent=AGENT, prompt=INPUTS),
    "codex": call("spawn_agent", agent_type=AGENT, message=INPUTS),
    "opencode": call("task", agent=AGENT, prompt=INPUTS),
}


@pytest.mark.thorough("opencode")
@pytest.mark.parametrize("cli", ["claude", "codex", "opencode"])
def test_the_callers_model_gets_the_return(cli: CliName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D1: the harness asks the hook before it looks for the agent, and passes the reason on."""
    with set_up(cli, {"main": [START[cli], say("It is planned.")]}, tmp_path, monkeypatch) as stage:
        run_remit(stage, "task", "new", "Cache the uploads")
        ended = converse(stage, "main", *((TRUSTING,) if cli == "codex" else ()))
        assert ended.exit_code == 0, ended
        [row] = list_runs(stage)
        assert (row.agent, row.status, row.runner) == (AGENT, "completed", "built-in")
        last = [json.dumps(one.body) for one in stage.model.requests if one.script == "main" and one.tools][-1]
        assert "Task 1 moved from [NOT STARTED] to [PLANNING]" in last
        assert "files_updated" in last
        assert '"status": "planning"' in (stage.root / "specs/state.json").read_text()

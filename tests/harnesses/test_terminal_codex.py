"""Codex in a terminal, with a model that gets multi-agent v2: the interactive program in a pseudo-terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from remit.testing import call, find_cli, say
from tests.support.harness_hooks import TRUSTING, hand, list_runs, set_up
from tests.support.harness_terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.harness_workspace import Stage

pytestmark = pytest.mark.slow

SPAWN = call("spawn_agent", agent_type="scribe", task_name="report", message="[[play lie]] Write the report.")
SCRIPTS = {
    "main": [SPAWN, say("The scribe works.")],
    "next": [call("bash", command="sleep 2"), call("bash", command="true"), say("All is done.")],
    "lie": [call("bash", command="sleep 3"), hand("never.md")],
}
VERDICT = "was not accepted: failed, fabricated"


def list_requests(stage: Stage, script: str) -> list[str]:
    return [json.dumps(one.body) for one in stage.model.requests if one.script == script and one.tools]


@pytest.mark.thorough
def test_in_a_terminal_a_lie_that_comes_after_the_callers_turn_comes_with_its_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller's turn is over when its agent ends; the user's next prompt brings the answer and the verdict."""
    program = find_cli("codex")
    with set_up("codex", SCRIPTS, tmp_path, monkeypatch, codex_model="gpt-6.1-sol") as stage:
        assert program is not None
        with Terminal(stage, (program, TRUSTING, f"{stage.mark('main')} Do it.")) as terminal:
            terminal.wait(lambda: [row for row in list_runs(stage) if row.state == "finished"])
            assert len(list_requests(stage, "main")) == 2, "the agent was waited for"
            terminal.type(f"{stage.mark('next')} Go on.")
            terminal.wait(lambda: len(list_requests(stage, "next")) == 3)
        (lie,) = list_runs(stage)
        assert (lie.status, lie.verdict) == ("failed", "fabricated")
        requests = [*list_requests(stage, "main"), *list_requests(stage, "next")]
        assert [request for request in requests if "never.md" in request and VERDICT not in request] == []
        assert [VERDICT in request for request in requests] == [False, False, True, True, True]
        assert "never.md" in requests[-1]  # the lie did come

"""opencode in a terminal: the interactive program in a pseudo-terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from remit.testing import call, find_cli, say
from tests.support.harness_hooks import ask, find_results, hand, list_runs, set_up
from tests.support.harness_terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

SCRIPTS = {
    "main": [ask("lie"), say("All is done.")],
    "lie": [call("bash", command="true"), hand("never.md")],
}


@pytest.mark.thorough
def test_in_a_terminal_the_caller_gets_the_verdict_instead_of_the_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = find_cli("opencode")
    with set_up("opencode", SCRIPTS, tmp_path, monkeypatch) as stage:
        assert program is not None
        with Terminal(stage, (program, "--prompt", f"{stage.mark('main')} Do it.")) as terminal:
            terminal.wait(lambda: stage.asked("main", 1))
        (lie,) = list_runs(stage)
        assert (lie.status, lie.verdict) == ("failed", "fabricated")
        (result,) = find_results(stage, "main", 1)
        assert (result["remit"]["session_id"], result["status"]) == (lie.session_id, "failed")
        asked = [json.dumps(one.body) for one in stage.model.requests if one.script == "main" and one.tools]
        assert [request for request in asked if "never.md" in request and "FABRICATED" not in request] == []

"""What the caller's model receives from opencode's subagents, honest and lying, in each of the caller's requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from remit.testing import call, say
from tests.support.harness_hooks import ask, converse, find_results, get_report, hand, list_runs, set_up

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.harness_workspace import Stage

pytestmark = pytest.mark.slow

REPORT = call("write", path="${root}/report.md", content="# Report\n")
LIE = "never.md"
"""What only the lie names."""
FOLLOWING = call("task", agent="scribe", prompt="[[play liar root=${root}]] Go on.", task_id="${child}").grab(
    child=r'<task id="(\w+)"'
)
SCRIPTS = {
    "main": [ask("honest"), FOLLOWING, ask("liar"), say("All is done.")],
    "honest": [REPORT, hand()],
    "liar": [call("bash", command="true"), hand(LIE)],
}


@pytest.fixture(name="stage")
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with set_up("opencode", SCRIPTS, tmp_path, monkeypatch) as stage:
        yield stage


def test_no_request_of_the_caller_has_a_lie_without_its_verdict(stage: Stage) -> None:
    """One session with an honest agent, a lying follow-up of it and a liar, since each session takes its time."""
    assert converse(stage, "main").exit_code == 0
    honest, again, liar = list_runs(stage)
    assert (honest.status, honest.verdict) == ("completed", "accepted")
    assert [artifact.path for artifact in get_report(stage, honest).artifacts] == ["report.md"]
    assert [(each.status, each.verdict) for each in (again, liar)] == [("failed", "fabricated")] * 2
    steps = [find_results(stage, "main", step) for step in (1, 2, 3)]
    told = [[(each["remit"]["session_id"], each["status"]) for each in step] for step in steps]
    assert told == [[(honest.session_id, "completed")], [(again.session_id, "failed")], [(liar.session_id, "failed")]]
    asked = [json.dumps(one.body) for one in stage.model.requests if one.script == "main" and one.tools]
    for request in asked:
        lies = request.count(LIE)
        verdicts = request.count("FABRICATED")
        assert verdicts >= (lies > 0), "the lie came without a verdict"
    assert [request.count("FABRICATED") > 0 for request in asked] == [False, False, True, True]

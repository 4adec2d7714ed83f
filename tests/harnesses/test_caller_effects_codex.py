"""What the caller's model receives from Codex's subagents, honest and lying, in each of the caller's requests.

Rows: multi-agent v1 and v2, follow-ups, callers that wait, work on, end or call from below.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from remit.testing import call, say
from tests.support.caller_effects_codex import HONEST, LIARS, V1, V2, Row
from tests.support.harness_hooks import TRUSTING, compile_agents, converse, get_report, hand, list_runs, set_up

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.testing import ScriptedTurn
    from tests.support.harness_workspace import Stage

pytestmark = pytest.mark.slow

REPORT = call("bash", command="echo '# Report' > report.md")
MORE = call("bash", command="echo '# More' > more.md")
LIE = "never.md"
"""What only the lie names."""
BYTES_PER_TOKEN = 4
VERDICT = "was not accepted"
CHILD = r'"agent_id":\s*"([^"]+)"'
WAITS = {
    V1: call("wait_agent", targets=["${child}"], timeout_ms=60_000).grab(child=CHILD),
    V2: call("wait_agent", timeout_ms=60_000),
}
END = say("All is done.")


def start(script: str, agent: str = "scribe", task: str = "report") -> ScriptedTurn:
    """Start a subagent that plays a script: v1 knows no task name, and drops it."""
    return call("spawn_agent", agent_type=agent, task_name=task, message=f"[[play {script}]] Write the report.")


def follow_up(script: str) -> ScriptedTurn:
    return call("followup_task", target="report", message=f"[[play {script}]] Go on.")


def send_input(script: str) -> ScriptedTurn:
    return call("send_input", target="${child}", message=f"[[play {script}]] Go on.").grab(child=CHILD)


def make_scripts(model: str) -> dict[str, list[ScriptedTurn]]:
    wait = WAITS[model]
    return {
        "waits-honest": [start("honest"), wait, END],
        "waits-liar": [start("liar"), wait, END],
        "works-liar": [start("liar"), *[call("bash", command="sleep 2")] * 6, END, say("Now it is done.")],
        "ends-liar": [start("liar"), say("I wait for no one.").after(6), say("I have read the verdict.")],
        "again-honest": [start("honest"), wait, follow_up("more"), wait, END],
        "again-liar": [start("honest"), wait, follow_up("liar"), wait, END],
        "input-honest": [start("honest"), wait, send_input("more"), wait, END],
        "input-liar": [start("honest"), wait, send_input("liar"), wait, END],
        "nested": [start("lead", "lead", "lead"), wait, END],
        "lead": [start("liar"), wait, REPORT, hand()],
        "honest": [REPORT, hand()],
        "more": [MORE, hand("more.md")],
        "liar": [call("bash", command="true"), hand(LIE)],
    }


@pytest.fixture(name="play")
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Stage]:
    row: Row = request.param
    with set_up("codex", make_scripts(row.model), tmp_path, monkeypatch, codex_model=row.model) as stage:
        if row.caller:
            compile_agents(stage, lead="scribe", scribe="nobody")
        yield stage


def list_requests(stage: Stage, script: str) -> list[str]:
    """Everything that the model which plays a script was asked, in its order."""
    return [json.dumps(one.body) for one in stage.model.requests if one.script == script and one.tools]


@pytest.mark.thorough("v1 caller", "more input", "works on", "caller that ends", "follow-up")
@pytest.mark.parametrize("play", LIARS.values(), ids=LIARS, indirect=True)
def test_no_request_of_the_caller_has_the_lie_without_the_verdict(play: Stage, request: pytest.FixtureRequest) -> None:
    row: Row = request.node.callspec.params["play"]
    assert converse(play, row.script, TRUSTING).exit_code == 0
    *_, liar = list_runs(play)
    assert (liar.state, liar.status, liar.verdict) == ("finished", "failed", "fabricated")
    assert [len(play.asked("liar", step)) for step in (1, 2, 3, 4)] == [1, 1, 1, 0]  # it was sent back twice
    asked = list_requests(play, row.caller or row.script)
    told = [VERDICT in each for each in asked]
    assert [LIE in each and not verdict for each, verdict in zip(asked, told, strict=True)] == [False] * len(asked)
    assert told[-1]  # it isn't enough that the lie never came
    if row.script.startswith(("again", "input")):
        first = list_runs(play)[0]
        assert (first.status, first.verdict) == ("completed", "accepted")  # what came later does not overrule it


@pytest.mark.thorough("more input", "follow-up")
@pytest.mark.parametrize(
    ("play", "files"), [(row, files) for row, files in HONEST.values()], ids=HONEST, indirect=["play"]
)
def test_an_honest_return_is_accepted_and_arrives(
    play: Stage, files: list[str], request: pytest.FixtureRequest
) -> None:  # fmt: skip
    row: Row = request.node.callspec.params["play"]
    assert converse(play, row.script, TRUSTING).exit_code == 0
    rows = list_runs(play)
    assert [(each.state, each.status, each.verdict) for each in rows] == [("finished", "completed", "accepted")] * len(
        files
    )
    assert [[artifact.path for artifact in get_report(play, each).artifacts] for each in rows] == [
        [file] for file in files
    ]
    for each, script in zip(rows, ("honest", "more"), strict=False):
        sizes = [len(request) for request in list_requests(play, script)]
        used = sum(sizes) / BYTES_PER_TOKEN  # the model counts so, and an answer is hardly more than nothing
        assert 0.7 * used < (each.tokens or 0) < 1.3 * used, (each.tokens, used)
    last = list_requests(play, row.script)[-1]
    assert all(each.session_id in last for each in rows)
    assert VERDICT not in last

"""opencode itself, as it is installed by `make agents`: everything that its runner takes for granted."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from remit.runners.opencode import OpencodeRunner
from remit.testing import ScriptedModel, call, fail, say
from tests.support.real_runners import TELL_SESSION, Place, find_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

SCRIPTS = {
    "work": [call("write", path="${root}/out/plan.md", content="# Plan"), say("All done."), say("Corrected.")],
    "late": [call("write", path="${root}/half.md", content="half"), say("never").after(60)],
    "wrong": [
        call("bash", command=TELL_SESSION),
        call("bash", command="exit 3"),
        call("webfetch", url="x"),
        say("It failed."),
    ],
    "api": [fail(400, "no such thing", kind="invalid_request_error")],
    "silent": [say("")],
}


@pytest.fixture(name="place")
def make_place(tmp_path: Path) -> Iterator[Place]:
    with ScriptedModel(SCRIPTS) as model:
        yield find_place(OpencodeRunner(), tmp_path, model)


def test_a_session_is_begun_resumed_and_told(place: Place) -> None:
    prompt = f"{'p' * 300_000} {place.model.mark('work', root=place.root)}"
    instructions = f"MARKED {{env:HOME}} {'i' * 200_000}"
    fields = {"agent": "plan", "instructions": instructions, "tools": ("read", "write")}
    first = place.start(prompt, **fields)
    assert first.exit_code == 0
    heard = first.heard
    assert (heard.text, heard.cause, heard.trouble) == ("All done.", "", "")
    assert (place.root / "out" / "plan.md").read_text() == "# Plan"
    assert [(use.name, use.operation, use.path, use.failed) for use in heard.tools or ()] == [
        ("write", "write", str(place.root / "out" / "plan.md"), False)
    ]
    assert heard.usage.turns == 2
    assert (heard.usage.input_tokens or 0) > 200_000
    assert (heard.usage.cost_usd or 0) > 0
    asked = place.model.wait("work")
    assert set(asked.tools) == {"read", "write", "edit"}
    assert asked.body["messages"][0]["content"].startswith(instructions)
    assert any("p" * 300_000 in message["content"] for message in asked.body["messages"])

    titles = [request for request in place.model.requests if not request.tools]
    assert len(titles) == 1  # asked for once in a session, and no turn of the agent

    second = place.resume(heard.harness_id, "not yet", **fields)
    assert [request for request in place.model.requests if not request.tools] == titles
    assert second.heard.text == "Corrected."
    assert second.heard.harness_id == heard.harness_id
    assert second.heard.usage.turns == 1
    assert instructions in place.model.requests[-1].body["messages"][0]["content"]


@pytest.mark.thorough
def test_a_session_goes_on_after_it_was_killed(place: Place) -> None:
    def wait() -> None:
        place.model.wait("late", 1, timeout_s=90)
        time.sleep(1)  # what it prints comes a little later than what it asks

    killed = place.start(place.model.mark("late", root=place.root), kill=wait)
    assert killed.exit_code is None
    assert (killed.heard.text, killed.heard.cause) == (None, "no_answer")
    again = place.resume(killed.heard.harness_id, place.model.mark("work", root=place.root))
    assert again.heard.text == "All done."


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["subagent", None])
def test_another_agent_than_the_one_that_was_named_is_a_refusal(place: Place, mode: str | None) -> None:
    """An agent that is not there, and one that may not be begun with: opencode goes on with its default agent."""
    if mode:
        agents = place.root / ".opencode" / "agent"
        agents.mkdir(parents=True)
        (agents / "planner.md").write_text(f"---\ndescription: plans\nmode: {mode}\n---\nNATIVE\n")
    ran = place.start(place.model.mark("work", root=place.root), agent="planner", is_native=True)
    assert ran.exit_code == 0
    assert (place.root / "out" / "plan.md").exists()  # the default agent has done it all
    assert (ran.heard.text, ran.heard.cause) == (None, "refused")
    assert 'agent "planner"' in ran.heard.trouble


@pytest.mark.thorough
def test_an_agent_of_its_own_is_begun_with_whatever_its_mode(place: Place) -> None:
    agents = place.root / ".opencode" / "agent"
    agents.mkdir(parents=True)
    (agents / "planner.md").write_text("---\ndescription: plans\nmode: subagent\npermission:\n  bash: deny\n---\nX\n")
    ran = place.start(place.model.mark("work", root=place.root), agent="planner", is_native=True, instructions="FROZEN")
    assert ran.heard.text == "All done."
    asked = place.model.wait("work")
    assert asked.body["messages"][0]["content"].startswith("FROZEN")
    assert "bash" not in asked.tools  # what its file says of permissions still holds


@pytest.mark.thorough
def test_what_it_would_have_to_ask_for_is_told(place: Place) -> None:
    config = json.loads(place.model.environ("opencode", place.home)["OPENCODE_CONFIG_CONTENT"])
    content = json.dumps(config | {"permission": {"edit": "ask"}})
    ran = place.start(place.model.mark("work", root=place.root), settings={"env": {"OPENCODE_CONFIG_CONTENT": content}})
    assert ran.exit_code == 0
    assert (ran.heard.text, ran.heard.cause) == (None, "no_answer")
    assert "rejected what it could not ask for: edit" in ran.heard.trouble
    assert [use.failed for use in ran.heard.tools or ()] == [True]


@pytest.mark.thorough
def test_failed_and_forbidden_tools_are_told_and_one_runs_in_a_session_of_its_own(place: Place) -> None:
    """Whoever kills the process group of the program leaves a tool running."""
    ran = place.start(place.model.mark("wrong"), agent="a", instructions="x", tools=("bash",))
    assert ran.heard.text == "It failed."
    told = [(use.name, use.operation, use.failed) for use in ran.heard.tools or ()]
    assert told == [("bash", "run", False), ("bash", "run", True), ("webfetch", "read", True)]
    assert int((place.root / "session").read_text()) != ran.pid


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("script", "cause", "trouble"),
    [("api", "api", "got no answer from its model: no such thing"), ("silent", "no_answer", "without a final message")],
)
def test_what_goes_wrong_is_told_by_its_cause(place: Place, script: str, cause: str, trouble: str) -> None:
    ran = place.start(place.model.mark(script))
    assert (ran.heard.text, ran.heard.cause) == (None, cause)
    assert trouble in ran.heard.trouble


@pytest.mark.thorough
def test_a_session_that_is_not_there_is_refused(place: Place) -> None:
    ran = place.resume("ses_e1d53f917ffe0ih3h4xVMpkWbo", "go on")
    assert (ran.heard.text, ran.heard.cause) == (None, "refused")
    assert "Session not found" in ran.heard.trouble

"""Claude Code itself, as it is installed by `make agents`: everything that its runner takes for granted."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from remit.runners.claude import ClaudeRunner, make_session_uuid
from remit.testing import ScriptedModel, call, drop, fail, say
from tests.support.real_runners import TELL_SESSION, Place, find_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

SCRIPTS = {
    "work": [call("write", path="out/plan.md", content="# Plan"), say("All done."), say("Corrected.")],
    "late": [call("write", path="half.md", content="half"), say("never").after(60)],
    "outside": [call("write", path="/etc/remit-test", content="x"), say("Written.")],
    "task": [call("task", agent="general-purpose", prompt="[[play child]] go"), say("Parent done.")],
    "child": [call("write", path="c.md", content="c"), say("Child done.")],
    "loop": [call("bash", command="true")],
    "wrong": [call("bash", command="exit 3"), say("It failed.")],
    "api": [fail(400, "no such thing", kind="invalid_request_error")],
    "busy": [fail(529, "busy", kind="overloaded_error")],
    "drop": [drop()],
    "silent": [say("")],
    "prose": [say("Only words.")],
    "session": [call("bash", command=TELL_SESSION), say("Told.")],
}


@pytest.fixture(name="place")
def make_place(tmp_path: Path) -> Iterator[Place]:
    with ScriptedModel(SCRIPTS) as model:
        yield find_place(ClaudeRunner(), tmp_path, model)


def test_a_session_is_begun_resumed_and_told(place: Place) -> None:
    first = place.start(place.model.mark("work"))
    assert first.exit_code == 0
    heard = first.heard
    assert (heard.text, heard.cause, heard.trouble) == ("All done.", "", "")
    assert (place.root / "out" / "plan.md").read_text() == "# Plan"
    assert [(use.name, use.operation, use.path, use.failed) for use in heard.tools or ()] == [
        ("Write", "write", "out/plan.md", False)
    ]
    assert heard.usage.turns == 2
    assert (heard.usage.input_tokens or 0) > 1000
    assert (heard.usage.output_tokens or 0) > 2
    assert (heard.usage.cost_usd or 0) > 0
    assert heard.harness_id == make_session_uuid(place.order("x"))

    second = place.resume(heard.harness_id, "/wrong: this is no command but a message")
    assert second.heard.text == "Corrected."
    assert second.heard.harness_id == heard.harness_id
    assert second.heard.usage.turns == 1
    assert (second.heard.usage.input_tokens or 0) < (heard.usage.input_tokens or 0)
    assert place.model.requests[-1].step == 2


@pytest.mark.thorough
def test_a_session_goes_on_after_it_was_killed(place: Place) -> None:
    killed = place.start(place.model.mark("late"), kill=lambda: place.wait_until_kept("late", 1, "half.md"))
    assert killed.exit_code is None
    assert (killed.heard.text, killed.heard.cause) == (None, "no_answer")
    assert [use.path for use in killed.heard.tools or ()] == ["half.md"]
    assert (killed.heard.usage.input_tokens or 0) > 1000
    assert place.resume(killed.heard.harness_id, place.model.mark("work")).heard.text == "All done."


@pytest.mark.thorough
def test_a_session_is_known_in_its_own_folder_only(place: Place, tmp_path: Path) -> None:
    """So an attempt is resumed where it began, and nowhere else."""
    first = place.start(place.model.mark("work"))
    other = tmp_path / "other"
    other.mkdir()
    lost = place._replace(root=other).resume(first.heard.harness_id, "not yet")
    assert (lost.heard.text, lost.heard.cause) == (None, "refused")
    assert "No conversation found" in lost.heard.trouble
    assert place.resume(first.heard.harness_id, "not yet").heard.text == "Corrected."


@pytest.mark.thorough("2")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_that_is_told_to_end_has_not_answered_whatever_its_exit_code(place: Place, number: int) -> None:
    """It may exit with 0, as if all were well: who ended it has to remember that."""
    ran = place.start(place.model.mark("late"), kill=lambda: place.wait_until_kept("late", 1, "half.md"), signal=number)
    assert (ran.heard.text, ran.heard.cause) == (None, "crash" if ran.exit_code else "no_answer")


@pytest.mark.thorough
def test_a_tool_runs_in_a_session_of_its_own(place: Place) -> None:
    """Whoever kills the process group of the program leaves it running."""
    ran = place.start(place.model.mark("session"), tools=("bash",))
    assert ran.heard.text == "Told."
    assert int((place.root / "session").read_text()) != ran.pid


@pytest.mark.thorough
def test_a_schema_is_not_enforced(place: Place) -> None:
    """An answer that is only text ends with 0: whether it is a return is ours to judge."""
    schema = '--json-schema={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}'
    ran = place.start(place.model.mark("prose"), settings={"args": [schema]})
    assert "StructuredOutput" in place.model.requests[0].tools  # the schema was taken
    assert (ran.exit_code, ran.heard.text) == (0, "Only words.")


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
def test_root_may_not_skip_permissions_and_is_told_so(place: Place) -> None:
    skip = {"args": ["--permission-mode=bypassPermissions"]}
    ran = place.start(place.model.mark("work"), settings=skip)
    assert (ran.heard.text, ran.heard.cause) == (None, "refused")
    assert "root" in ran.heard.trouble
    free = place.start(place.model.mark("work"), number=2, settings=skip | {"env": {"IS_SANDBOX": "1"}})
    assert free.heard.text == "All done."


@pytest.mark.thorough
def test_a_prompt_and_instructions_of_any_length_arrive(place: Place) -> None:
    prompt = f"{'p' * 300_000} {place.model.mark('work')}"
    instructions = f"MARKED {'i' * 200_000}"
    ran = place.start(prompt, agent="planner", instructions=instructions)
    assert ran.heard.text == "All done."
    body = str(place.model.requests[0].body)
    assert prompt in body
    assert instructions in body
    assert "Assist with authorized security testing" in body  # Claude Code's own prompt is still there


@pytest.mark.thorough
def test_an_agent_of_its_own_is_begun_with_and_one_that_it_does_not_know_refused(place: Place) -> None:
    agents = place.root / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "planner.md").write_text("---\nname: planner\ndescription: plans\n---\nNATIVE\n")
    assert place.start(place.model.mark("work"), agent="planner", is_native=True).heard.text == "All done."
    assert "NATIVE" in str(place.model.requests[0].body["system"])
    ran = place.start(place.model.mark("work"), agent="nobody", is_native=True, number=2)
    assert (ran.heard.text, ran.heard.cause) == (None, "refused")
    assert "'nobody' not found" in ran.heard.trouble


@pytest.mark.thorough
def test_tools_are_those_that_the_agent_may_use(place: Place) -> None:
    ran = place.start(place.model.mark("wrong"), tools=("read", "bash", "grep"))
    placeholder = {"DeferredToolPlaceholder"}  # since 2.1.326 or a little before; it does nothing
    assert {*place.model.requests[0].tools} - placeholder == {"Read", "Bash", "Grep"}
    assert [(use.operation, use.failed) for use in ran.heard.tools or ()] == [("run", True)]
    none = place.start(place.model.mark("work"), tools=(), number=2)
    assert none.heard.text
    assert place.model.requests[-1].tools == ()


@pytest.mark.thorough("None")
@pytest.mark.parametrize("tools", [None, ("write",)])
def test_a_denied_tool_is_told_and_changed_nothing(place: Place, tools: tuple[str, ...] | None) -> None:
    ran = place.start(place.model.mark("outside"), tools=tools)
    assert ran.exit_code == 0
    assert ran.heard.text == "Written."
    assert [use.failed for use in ran.heard.tools or ()] == [True]
    assert ran.heard.trouble == "Claude Code denied it Write"


def test_what_a_subagent_did_and_used_counts(place: Place) -> None:
    ran = place.start(place.model.mark("task"), settings={"args": ["--allowedTools=Agent"]})
    assert ran.heard.text == "Parent done."
    assert [use.operation for use in ran.heard.tools or ()] == ["delegate", "write"]
    sent = sum(len(str(request.body)) // 4 for request in place.model.requests)
    assert (ran.heard.usage.input_tokens or 0) > 0.7 * sent


@pytest.mark.thorough("busy", "drop", "budget")
@pytest.mark.parametrize(
    ("script", "fields", "cause", "trouble"),
    [
        ("loop", {"max_turns": 2, "tools": ("bash",)}, "turns", "reached the limit of its turns"),
        ("loop", {"max_usd": 0.0001, "tools": ("bash",)}, "budget", "reached the limit of its budget"),
        ("api", {}, "api", "API Error: 400 no such thing"),
        ("busy", {}, "api", "529 busy"),
        ("drop", {}, "api", "got no answer from its model"),
        ("silent", {}, "no_answer", "without a final message"),
    ],
)
def test_what_goes_wrong_is_told_by_its_cause(
    place: Place, script: str, fields: dict[str, object], cause: str, trouble: str
) -> None:
    ran = place.start(place.model.mark(script), **fields)
    assert ran.exit_code == (0 if script == "silent" else 1)
    assert (ran.heard.text, ran.heard.cause) == (None, cause)
    assert trouble in ran.heard.trouble


def test_a_session_that_is_not_there_is_refused(place: Place) -> None:
    ran = place.resume("aa550d55-2332-4e14-85f4-c2322f31ce14", "go on")
    assert (ran.heard.text, ran.heard.cause) == (None, "refused")
    assert "No conversation found" in ran.heard.trouble

"""Gemini CLI itself, as it is installed by `make agents`: everything that its runner takes for granted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from remit.errors import RunnerError
from remit.runners.gemini import GeminiRunner
from remit.testing import ScriptedModel, call, fail, say
from tests.support.real_runners import Place, find_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

SCRIPTS = {
    "work": [call("write", path="out/plan.md", content="# Plan"), say("All done."), say("Corrected.")],
    "shell": [call("bash", command="echo x > made"), call("write", path="/etc/remit-test", content="x"), say("Done.")],
    "api": [fail(400, "no such thing", kind="invalid_request_error")],
}


@pytest.fixture(name="place")
def make_place(tmp_path: Path) -> Iterator[Place]:
    with ScriptedModel(SCRIPTS) as model:
        yield find_place(GeminiRunner(), tmp_path, model)


def test_a_session_is_begun_resumed_and_told(place: Place) -> None:
    prompt = f"{'p' * 300_000} {place.model.mark('work')}"
    first = place.start(prompt, agent="planner", instructions=f"MARKED {'i' * 200_000}")
    assert first.exit_code == 0
    heard = first.heard
    assert (heard.text, heard.cause, heard.trouble) == ("All done.", "", "")
    assert (place.root / "out" / "plan.md").read_text() == "# Plan"
    assert [(use.name, use.operation, use.path, use.failed) for use in heard.tools or ()] == [
        ("write_file", "write", "out/plan.md", False)
    ]
    assert (heard.usage.input_tokens or 0) > 200_000
    assert (heard.usage.turns, heard.usage.cost_usd) == (None, None)
    assert "MARKED" in str(place.model.requests[0].body["contents"])

    second = place.resume(heard.harness_id, "not yet", agent="planner", instructions="MARKED")
    assert second.heard.text == "Corrected."
    assert second.heard.harness_id == heard.harness_id
    assert (second.heard.usage.input_tokens or 0) < (heard.usage.input_tokens or 0)


@pytest.mark.thorough
def test_a_shell_is_there_where_the_agent_has_one_and_nothing_is_written_outside(place: Place) -> None:
    ran = place.start(place.model.mark("shell"), tools=("bash", "write"))
    assert ran.heard.text == "Done."
    assert (place.root / "made").read_text() == "x\n"
    assert [(use.operation, use.failed) for use in ran.heard.tools or ()] == [("run", False), ("write", True)]


@pytest.mark.thorough
def test_what_goes_wrong_is_told_by_its_cause(place: Place) -> None:
    ran = place.start(place.model.mark("api"))
    assert (ran.heard.text, ran.heard.cause) == (None, "api")
    assert "no such thing" in ran.heard.trouble
    ran = place.resume("aa550d55-2332-4e14-85f4-c2322f31ce14", "go on")
    assert (ran.heard.text, ran.heard.cause) == (None, "refused")
    assert "Error resuming session" in ran.heard.trouble
    with pytest.raises(RunnerError, match="can't start as its agent"):
        place.start("x", agent="planner", is_native=True)

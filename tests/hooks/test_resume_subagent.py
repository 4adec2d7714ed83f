"""Agents that were over and get another message: a change that was credited isn't credited again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from remit.ledger.home import Home
from remit.runs.results.full_result import load_report

if TYPE_CHECKING:
    from pathlib import Path

    from remit.ledger.runs import Run
    from tests.support.hook_session import Child, Stage


@pytest.fixture
def child(stage: Stage) -> Child:
    found = stage.call("writer")
    found.start()
    return found


def finish(child: Child, *paths: str) -> None:
    """It gives a return that holds."""
    assert child.stop(child.report(*paths)) == {}
    child.hand_over(child.report(*paths))


def take_up(child: Child) -> Run:
    """Its caller gives it another message; the delegation that this is."""
    child.start()
    child.stops = 0
    return child.stage.rows()[-1]


def say(child: Child, row: Run, *paths: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """It gives a return of the later session."""
    return child.stop(child.report(*paths, **more).replace(child.row.session_id, row.session_id))


def list_outcomes(stage: Stage) -> list[tuple[str | None, str | None]]:
    return [(row.status, row.verdict) for row in stage.rows()]


def test_what_was_made_before_the_message_is_not_credited_again(stage: Stage, child: Child) -> None:
    child.write("one.md")
    finish(child, "one.md")
    again = take_up(child)
    child.keep_transcript({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Write"}]}})
    assert "one.md" in say(child, again, "one.md")["reason"]
    say(child, again, "one.md")
    say(child, again, "one.md")
    assert list_outcomes(stage) == [("completed", "accepted"), ("failed", "fabricated")]


def test_nor_with_a_tool_that_did_something_else(stage: Stage, child: Child) -> None:
    child.write("one.md")
    finish(child, "one.md")
    again = take_up(child)
    child.use("Bash", command="true")
    child.write("two.md")
    assert "one.md" in say(child, again, "one.md", "two.md")["reason"]
    assert say(child, again, "two.md") == {}
    assert list_outcomes(stage) == [("completed", "accepted")] * 2


def test_nor_is_what_somebody_else_changes_meanwhile(stage: Stage, child: Child, root: Path) -> None:
    child.write("one.md")
    finish(child, "one.md")
    again = take_up(child)
    (root / "one.md").write_text("# By a person\n")
    assert say(child, again, "one.md")["decision"] == "block"
    assert list_outcomes(stage)[0] == ("completed", "accepted")


def test_what_is_changed_after_the_message_is(stage: Stage, child: Child) -> None:
    child.write("one.md")
    finish(child, "one.md")
    again = take_up(child)
    child.write("one.md", "# Newer\n")
    assert say(child, again, "one.md") == {}
    assert list_outcomes(stage) == [("completed", "accepted")] * 2


def test_a_question_is_answered_by_a_return_without_files(stage: Stage, child: Child) -> None:
    child.write("one.md")
    finish(child, "one.md")
    again = take_up(child)
    assert child.stop("It is in one.md.")["decision"] == "block"
    assert say(child, again) == {}
    assert [status for status, _ in list_outcomes(stage)] == ["completed", "completed"]
    home = Home(str(stage.root))
    assert [len(load_report(home, row.session_id)[0].artifacts) for row in stage.rows()] == [1, 0]
    home.close()


def test_who_only_talks_may_end_and_is_not_completed(stage: Stage, child: Child) -> None:
    child.write("one.md")
    finish(child, "one.md")
    take_up(child)
    assert [bool(child.stop("It is in one.md.")) for _ in range(3)] == [True, True, False]
    assert list_outcomes(stage) == [("completed", "accepted"), ("failed", "missing")]


def test_what_an_agent_made_until_its_model_failed_is_its_own(stage: Stage, child: Child) -> None:
    child.write("one.md")
    child.hand_over("API Error: 400 bad")
    assert list_outcomes(stage) == [("failed", "missing")]
    again = take_up(child)
    child.write("two.md")
    assert say(child, again, "one.md", "two.md") == {}
    assert list_outcomes(stage)[1] == ("completed", "accepted")


def test_but_not_what_was_touched_in_between(child: Child, root: Path) -> None:
    child.use("Bash", command="true")
    child.hand_over("API Error: 400 bad")
    (root / "one.md").write_text("# By a person\n")
    again = take_up(child)
    child.use("Bash", command="true")
    assert "one.md" in say(child, again, "one.md")["reason"]

"""Acceptance checks with real harnesses: a failed check goes back into the same session, with its output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from remit.testing import ScriptedModel, call
from tests.support.harness_workspace import HARNESSES, give, make_stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.harness_workspace import Stage

pytestmark = pytest.mark.slow

AGENT = """\
---
name: scribe
version: 1.0.0
description: "Does its part"
mode: subagent
agent_type: implementation
temperature: 0.2
checks: [tests]
tools:
  read: true
  write: true
  bash: true
---

# scribe

Write the report.
"""
CHECK = "echo checking the report; grep -q complete report.md"
SCRIPTS = {
    "honest": [call("bash", command="echo complete > report.md"), give()],
    "fixes": [
        call("bash", command="echo half > report.md"),
        give(),
        call("bash", command="echo complete > report.md"),
        give(),
    ],
    "insists": [call("bash", command="echo half > report.md"), give(), give(), give()],
}


@pytest.fixture(name="stage", params=HARNESSES)
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with ScriptedModel(SCRIPTS) as model:
        stage = make_stage(request.param, tmp_path, model, monkeypatch)
        stage.write_agent(".opencode/agent/scribe.md", AGENT)
        stage.configure((stage.root / "remit.toml").read_text() + f'[checks.tests]\nrun = "{CHECK}"\n')
        yield stage
        assert stage.list_living() == []


def list_answers(stage: Stage, script: str) -> tuple[str, int, list[tuple[str, str]]]:
    """The status of a run, its attempts, and the answers of its checks."""
    result = stage.delegate(script)
    return result.status, result.attempts, [(each.name, each.answer) for each in result.checks]


@pytest.mark.thorough("codex", "opencode")
def test_an_honest_agent_is_completed(stage: Stage) -> None:
    assert list_answers(stage, "honest") == ("completed", 1, [("tests", "passed")])


def test_a_failed_check_goes_back_into_the_session_and_is_fixed(stage: Stage) -> None:
    assert list_answers(stage, "fixes") == ("completed", 2, [("tests", "passed")])
    (asked,) = stage.asked("fixes", 2)
    assert "acceptance checks failed" in asked
    assert "checking the report" in asked  # the end of its output
    assert "Write the report." in asked  # it is the same session that continues


@pytest.mark.thorough("codex", "opencode")
def test_an_agent_that_insists_is_partial(stage: Stage) -> None:
    assert list_answers(stage, "insists") == ("partial", 3, [("tests", "failed")])

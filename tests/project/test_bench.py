"""The page of benchmarks belongs to its figures, every script is in the run, and no goal is lost on the way."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.all import FIGURES, PAGE, SCRIPTS, Script, find_failure, render_figures, run_limited, run_script
from bench.page import render_page
from bench.reasons import REASONS
from bench.rows import Row, from_json, make_row, to_json
from tests.support.paths import ROOT

BENCH = ROOT / "bench"
HELPERS = {"all", "delegate_contenders", "scale_plain"}
"""What starts scripts, and what is started by them."""
GOALS = (
    ("contract", "read right", 98),
    ("contract", "in which nothing may be", 0),
    ("contract", "2 KB clean", 2000),
    ("contract", "2 KB broken", 2000),
    ("contract", "the slowest", 500),
    ("lint", "500 agent files, cold", 1),
    ("lint", "500 agent files, warm", 0.3),
    ("lint", "10 agent files", 8),
    ("hook", "a tool of a person's own session", 5),
    ("hook", "a tool that a subagent has used", 5),
    ("hook", "a command of a subagent", 7),
    ("hook", "a command that is refused", 7),
    ("hook", "a return that is sent back", 10),
    ("hook", "a return that is accepted", 10),
    ("hook", "99 of 100", 150),
    ("confine", "a shell command confined, minus bare, as root", 15),
    ("confine", "a shell command confined, minus bare, without privileges", 15),
    ("mcp", "initialize", 300),
    ("mcp", "tools/list", 15),
    ("confine", "a program that no rule means is started, judged minus not", 1),
    ("confine", "a program is started that a rule may mean, judged minus not", 1),
    ("confine", "a shell command confined, with rules for programs minus without", 10),
    ("run", "a program that does nothing", 4),
    ("functions", "durably", 2),
    ("crowd", "resident", 300),
    ("crowd", "cancelled", 0.3),
    ("crowd", "past its deadline", 0.3),
    ("evidence", "as a share", 10),
    ("evidence", "a snapshot", 3),
    ("tasks", "a status move", 5),
    ("manifest", "by its id", 5),
    ("manifest", "a search", 100),
    ("manifest", "made anew", 1.5),
    ("manifest", "appended", 1.5),
    ("dashboard", "the first 200", 100),
    ("dashboard", "on the screen", 200),
    ("dashboard", "compressed", 150),
    ("dashboard", "who follow", 0),
    ("cluster", "agents of 1 s", 1.3),
    ("cluster", "from posted to taken", 1.5),
)
"""Every promise that was ever made: its area, words of its row, and its limit."""


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def rows(told: dict[str, Any]) -> list[Row]:
    return [from_json(row) for run in told["runs"].values() for row in run["rows"]]


def test_the_page_is_made_of_the_figures_and_of_nothing_else(told: dict[str, Any]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert render_page(told) == page, "python bench/all.py --page"
    assert json.loads(render_figures(told)) == told
    assert not re.search(r"/(?:root|home|work|tmp|Users)/", page)


def test_every_script_is_in_the_run_and_has_figures(told: dict[str, Any]) -> None:
    scripts = {file.stem for file in BENCH.glob("*.py") if '__name__ == "__main__"' in file.read_text(encoding="utf-8")}
    assert scripts - HELPERS == {script.name for script in SCRIPTS} == told["runs"].keys()


@pytest.mark.parametrize(("area", "words", "limit"), GOALS)
def test_no_goal_is_lost(rows: list[Row], area: str, words: str, limit: float) -> None:
    found = [row for row in rows if row.area == area and words in row.what]
    assert any(goal.limit == limit for row in found for goal in row.goals), found


def test_every_reason_is_for_something_that_is_measured(rows: list[Row]) -> None:
    for reason in REASONS:
        found = [row for row in rows if row.area == reason.area and reason.words in row.what]
        assert any(row.goals or row.others for row in found), reason
        assert not reason.than or any(other.name == reason.than for row in found for other in row.others), reason


def test_a_row_survives_the_way_to_the_page() -> None:
    row = make_row("x", "y", "ms", [2, 4, 6], peers={"p": [1, 1, 3], "q": []}, floors={"f": [1, 2, 3]}, goal=4,
                   goals={"p": 2, "q": 9}, note="A note.")  # fmt: skip
    assert from_json(json.loads(json.dumps(to_json(row)))) == row
    assert [row.reaches(goal) for goal in row.goals] == [True, True, False], "nobody can compare with what is not there"
    assert row.list_ahead() == ["p"]


def test_more_may_be_better_and_nothing_can_be_equalled() -> None:
    rate = make_row("x", "y", "/s", [10, 30], peers={"p": [20, 20]}, goals={"p": 1}, is_more_better=True)
    assert rate.reached
    assert rate.list_ahead() == []
    none = make_row("x", "y", "", [0], peers={"p": [0], "q": [1]}, goal=0)
    assert none.reached
    assert none.list_ahead() == []
    assert make_row("x", "y", "", [1], peers={"p": [0]}).list_ahead() == ["p"]
    assert make_row("x", "y", "", [1]).reached is None


def test_a_script_that_fails_is_told_and_stops_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_script(Script("that_is_not_there", sys.prefix, 1, 1), is_quick=True)
    assert run["rows"] == []
    assert "No module named bench.that_is_not_there" in run["failure"]
    row = to_json(make_row("x", "y", "", [1], goal=0))
    assert find_failure(1, "", [row]) == "", "a goal was missed, and that is all"
    assert "ended with 1: ValueError: no" in find_failure(
        1, "Traceback (most recent call last):\nValueError: no", [row]
    )
    assert find_failure(0, "", []) == "It ended with 0: It said nothing."
    assert find_failure(None, "", [row]) == "It took too long and was ended."
    capsys.readouterr()


def test_a_script_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "import time; time.sleep(600)"]
    assert run_limited(words, {}, tmp_path / "errors", str(tmp_path), limit_s=0.1) is None
    assert run_limited([*words[:2], "pass"], {}, tmp_path / "errors", str(tmp_path), limit_s=600) == 0

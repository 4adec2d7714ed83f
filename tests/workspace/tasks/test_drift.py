"""Drift between state.json and TODO.md."""

import pytest

from remit.model import Finding
from remit.workspace.tasks.drift import TOLD, check_drift
from remit.workspace.tasks.state import parse_state
from remit.workspace.tasks.todo import parse_todo
from tests.workspace.tasks.samples import COMPLETED, PROJECTS, STATE, TODO, make_state


def check(state: str | None = STATE, todo: str | None = TODO) -> tuple[list[Finding], list[Finding]]:
    """What is told of each file."""
    drift = check_drift(None if state is None else parse_state(state), None if todo is None else parse_todo(todo))
    return list(drift.in_state), list(drift.in_todo)


def codes(state: str | None = STATE, todo: str | None = TODO) -> list[str]:
    return [finding.code for found in check(state, todo) for finding in found]


def test_a_healthy_pair_says_nothing() -> None:
    assert codes() == []
    assert codes(todo=TODO.replace("[NOT STARTED]", "not_started")) == []
    assert codes(todo=TODO.partition("# TODO")[2]) == []
    assert codes(make_state(active_projects=[]), "# TODO\n") == []
    assert codes(None, None) == []


BAD: dict[str, tuple[str | None, str | None]] = {
    "SYN001": (STATE + STATE, TODO),
    "SYN002": (STATE, TODO.partition("### 13.")[0]),
    "SYN003": (make_state(active_projects=PROJECTS[:1]), TODO),
    "SYN004": (STATE, TODO.replace("[PLANNED]", "[IMPLEMENTING]")),
    "SYN005": (make_state(active_projects=[*PROJECTS, {**PROJECTS[0], "project_name": "other"}]), TODO),
    "SYN006": (make_state(next_project_number=13), TODO.partition("# TODO")[2]),
    "SYN007": (make_state(active_projects=[PROJECTS[0], {**PROJECTS[1], "status": "not stared"}]),
               TODO.replace("[NOT STARTED]", "[NOT STARED]")),
    "SYN008": (STATE, None),
    "SYN009": (make_state(next_project_number=15), TODO),
    "SYN010": (make_state(completed_projects=[{"project_name": "x"}]), TODO),
}  # fmt: skip


@pytest.mark.parametrize("code", TOLD)
def test_each_code_has_a_bad_pair(code: str) -> None:
    assert set(codes(*BAD[code])) == {code}


def test_both_values_are_told() -> None:
    """S9."""
    _, (finding,) = check(*BAD["SYN004"])
    assert "[IMPLEMENTING]" in finding.message
    assert "planned in state.json (line 7)" in finding.message


def test_the_next_number_is_above_the_numbers_of_both_files() -> None:
    """C13."""
    more = TODO + "\n### 20. Another\n- **Status**: [PLANNED]\n"
    in_state, in_todo = check(STATE, more)
    assert [finding.code for finding in in_state + in_todo] == ["SYN006", "SYN003"]
    assert in_state[0].hint == "Make it 21."


def test_numbers_that_start_again_need_only_be_free() -> None:
    wraps = {"policy": "increment_modulo_1000"}
    todo = TODO.partition("# TODO")[2]
    assert codes(make_state(next_project_number=3, project_numbering=wraps), todo) == []
    assert codes(make_state(next_project_number=7, project_numbering=wraps), todo) == ["SYN006"]


def test_a_completed_task_may_stay_in_the_list_of_things_to_do() -> None:
    done = "\n### 7. Parser\n- **Status**: [{}]\n"
    assert codes(todo=TODO + done.format("COMPLETED")) == []
    assert codes(todo=TODO + done.format("PLANNED")) == ["SYN004"]
    abandoned = make_state(completed_projects=[{**COMPLETED[0], "status": "abandoned"}])
    assert codes(abandoned, TODO + done.format("COMPLETED")) == ["SYN004"]


def test_a_number_taken_twice_is_told_once() -> None:
    """S9."""
    twice = TODO + "\n### 12. Search box\n- **Status**: [PLANNED]\n"
    _, (finding,) = check(todo=twice)
    assert finding.code == "SYN005"
    assert "'Export button' and 'Search box'" in finding.message


def test_a_broken_state_hides_nothing_of_the_other_file() -> None:
    twice = TODO + "\n### 12. Search box\n- **Status**: [DONE]\n"
    assert codes("{", twice) == ["SYN001", "SYN005", "SYN007"]


def test_a_bare_heading_is_a_task_only_where_the_state_knows_it() -> None:
    assert codes(todo=TODO + "\n### 1. Notes\nText.\n") == []
    assert codes(todo=TODO.replace("- **Status**: [NOT STARTED]\n", "")) == ["SYN007"]

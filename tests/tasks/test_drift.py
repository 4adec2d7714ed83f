"""Drift between state.json and TODO.md."""

from collections.abc import Callable, Iterable
from itertools import islice

import pytest
from inline_snapshot import snapshot

from remit.model import Diagnostic, TextSpan
from remit.tasks.drift import DIAGNOSTICS, check_drift, check_plans, task_lost
from remit.tasks.merge_sides import check_merged
from remit.tasks.repair import plan_repair
from remit.tasks.state import find_next_number, list_taken, parse_archive, parse_state, walk_free_numbers
from remit.tasks.todo import parse_todo
from tests.support.task_files import COMPLETED, PROJECTS, STATE, TODO, make_state


def check(state: str | None = STATE, todo: str | None = TODO) -> tuple[list[Diagnostic], list[Diagnostic]]:
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
    "SYN020": (make_state(active_projects=[{**PROJECTS[0], "project_name": "delete_backups"}, PROJECTS[1]]), TODO),
    "SYN021": (make_state(active_projects=[{**PROJECTS[0], "title": "Export buttons"}, PROJECTS[1]]), TODO),
    "SYN022": (STATE, TODO.replace("[PLANNED]", "[PLANNED]\n- **Priority**: Low")),
    "SYN024": (make_state(active_projects=[{**PROJECTS[0], "plan_path": "specs/12_x/plans/a.md"}, PROJECTS[1]]), TODO),
    "SYN023": (STATE.replace('"status": "planned"', '"status": "blocked", "status": "planned"'), TODO),
}  # fmt: skip


@pytest.mark.parametrize("code", BAD)
def test_each_code_has_a_bad_pair(code: str) -> None:
    assert set(codes(*BAD[code])) == {code}


ARCHIVE = '{"archived_projects": [{"project_number": 12, "project_name": "export_button"}], "n": 1}'
CHANGED = TODO.replace("[PLANNED]", "[BLOCKED]")
OTHERS: dict[str, Callable[[], Iterable[Diagnostic]]] = {
    "SYN011": lambda: check_drift(parse_state(STATE), parse_todo(TODO), parse_archive(ARCHIVE)).in_state,
    "SYN012": lambda: check_plans(parse_state(STATE), {12: "COMPLETED"}),
    "SYN013": lambda: [task_lost(14, TextSpan(1, 1, 1, 2))],
    "SYN017": lambda: plan_repair(STATE, CHANGED, baseline={12: "RESEARCHED"}).left,
    "SYN018": lambda: plan_repair(STATE, CHANGED, baseline={12: "PLANNED"}).left,
    "SYN019": lambda: filter(None, [check_merged(f"{TODO}<<<<<<< HEAD\n=======\n>>>>>>> left\n")]),
}


@pytest.mark.parametrize("code", OTHERS)
def test_each_other_code_is_told_as_well(code: str) -> None:
    found = [finding for finding in OTHERS[code]() if finding.code == code]
    assert found
    assert all(finding.severity == DIAGNOSTICS[code][1] for finding in found)


def test_no_code_goes_without_a_bad_example() -> None:
    assert sorted({*BAD, *OTHERS}) == sorted(DIAGNOSTICS)


@pytest.mark.parametrize("code", [code for code in BAD if code not in {"SYN007", "SYN010", "SYN023"}])
def test_each_hint_gives_the_command_that_repairs(code: str) -> None:
    findings = [finding for found in check(*BAD[code]) for finding in found]
    assert all("remit task sync --" in finding.hint for finding in findings)


def test_archived_numbers_are_taken() -> None:
    """C13."""
    archive = parse_archive(ARCHIVE.replace("12", "40"))
    in_state = check_drift(parse_state(STATE), parse_todo(TODO), archive).in_state
    assert [(each.code, each.hint) for each in in_state] == [("SYN006", "Set it to 41 with: remit task sync --repair.")]
    assert list_taken(parse_state(STATE), parse_todo(TODO), archive) == {7, 12, 13, 40}
    assert list_taken(None, None) == set()
    wraps = parse_state(make_state(project_numbering={"policy": "increment_modulo_1000"}))
    assert not check_drift(wraps, parse_todo(TODO), archive).in_state


@pytest.mark.parametrize("text", [None, "", "{", "[" * 100_000, "7", '{"a": {"project_number": 3}, "b": [1, {}]}'])
def test_an_archive_that_holds_no_task_takes_no_number(text: str | None) -> None:
    assert not parse_archive(text)


def test_a_task_of_the_list_that_is_archived_is_told() -> None:
    archive = parse_archive('[{"project_number": 5, "title": "x"}]')
    (found,) = check_drift(
        parse_state(STATE), parse_todo(TODO + "\n### 5. X\n- **Status**: [DONE]\n"), archive
    ).in_todo[:1]
    assert (found.code, "[DONE]" in found.message) == ("SYN011", True)


def test_a_plan_may_wait_while_its_task_is_prepared() -> None:
    """S5."""
    for marker in ("NOT STARTED", "PLANNED", None, "DONE"):
        assert not list(check_plans(parse_state(STATE), {12: marker}))
    (finding,) = check_plans(parse_state(STATE), {12: "IMPLEMENTING", 99: "COMPLETED"})
    assert "planned here, but its plan is [IMPLEMENTING]" in finding.message


def test_both_values_are_told() -> None:
    """S9."""
    _, (finding,) = check(*BAD["SYN004"])
    assert "[IMPLEMENTING]" in finding.message
    assert "planned in state.json (line 7)" in finding.message
    assert finding.hint == snapshot(
        "If planned is right: remit task sync --from state. If [IMPLEMENTING] is right: remit task sync --from todo."
    )


@pytest.mark.parametrize("before", ["", "- **Status**: [PLANNED]\n"])
def test_both_priorities_are_told_where_the_list_has_its_own(before: str) -> None:
    """S9."""
    todo = TODO.replace("- **Effort**: 2 hours\n", f"{before}- **Priority**: Low\n- **Priority**: High\n")
    _, (finding,) = check(todo=todo)
    assert finding.message == snapshot("task 12 has the priority 'low' here and 'high' in state.json (line 5)")
    assert finding.place is not None
    assert todo.split("\n")[finding.place.line - 1][finding.place.column - 1 : finding.place.end_column - 1] == "Low"


@pytest.mark.parametrize("value", ["HIGH", "high  ", ""])
def test_a_priority_that_is_the_same_or_none_is_no_drift(value: str) -> None:
    todo = TODO.replace("- **Effort**: 2 hours\n", f"- **Priority**: {value}\n")
    assert parse_todo(todo).tasks[0].priority == value.strip().lower()
    assert codes(todo=todo) == []
    closed = TODO + "\n### 7. Parser\n- **Status**: [COMPLETED]\n- **Priority**: Low\n"
    assert codes(make_state(completed_projects=[{**COMPLETED[0], "priority": "high"}]), closed) == []
    assert codes(make_state(active_projects=[{**PROJECTS[0], "priority": 1}, PROJECTS[1]]), todo) == []


def test_a_status_that_is_no_marker_is_told_with_the_one_that_is_meant() -> None:
    todo = TODO.replace("[PLANNED]", "[DONE]")
    _, (differs, unknown) = check(todo=todo)
    correct = "isn't a marker (did you mean 'COMPLETED'?): replace it with one by hand, then run: remit task sync --"
    assert unknown.hint == snapshot("Did you mean 'COMPLETED'?")
    assert differs.hint == f"If planned is right: remit task sync --from state. [DONE] {correct}from todo."
    state = make_state(active_projects=[{**PROJECTS[0], "status": "finished"}, PROJECTS[1]])
    assert (
        check(state)[1][0].hint == f"If [PLANNED] is right: remit task sync --from todo. finished {correct}from state."
    )
    assert check(state, todo)[1][0].hint == snapshot("Neither is a marker: write one into both files by hand.")
    lone = check(make_state(active_projects=PROJECTS[1:]), todo)[1][0]
    assert (lone.code, lone.hint) == ("SYN003", f"[DONE] {correct}repair; or remove it from TODO.md.")


def test_the_next_number_is_above_the_numbers_of_both_files() -> None:
    """C13."""
    more = TODO + "\n### 20. Another\n- **Status**: [PLANNED]\n"
    in_state, in_todo = check(STATE, more)
    assert [finding.code for finding in in_state + in_todo] == ["SYN006", "SYN003"]
    assert in_state[0].hint == snapshot("Set it to 21 with: remit task sync --repair.")


def test_numbers_that_start_again_need_only_be_free() -> None:
    wraps = {"policy": "increment_modulo_1000"}
    todo = TODO.partition("# TODO")[2]
    assert codes(make_state(next_project_number=3, project_numbering=wraps), todo) == []
    (taken,), _ = check(make_state(next_project_number=7, project_numbering=wraps), todo)
    assert (taken.code, taken.message) == ("SYN006", snapshot("the next number is 7, but 7 is already used"))
    assert taken.hint == snapshot("Set it to 8 with: remit task sync --repair.")
    _, (differs,) = check(make_state(next_project_number=3, project_numbering=wraps))
    assert (differs.code, differs.hint) == (
        "SYN009",
        snapshot("Set it to 3 in both files with: remit task sync --repair."),
    )


@pytest.mark.parametrize(
    ("numbering", "numbers"),
    [
        ({"min": 0, "max": 999, "policy": "increment_modulo_1000"}, range(1000)),
        ({"min": 1, "policy": "increment_modulo_100"}, range(1, 100)),
        ({"min": 500, "policy": "modulo 50"}, range(50)),
        ({"max": 20, "policy": "modulo"}, range(21)),
        ({"min": "x", "max": [], "policy": "increment_modulo"}, range(10**9)),
        ({"policy": "modulo_99999999999"}, range(10**9)),
        ({"policy": "modulo_0"}, range(0)),
        ({"policy": "increment", "max": 999}, range(0)),
        ({"policy": None}, range(0)),
        ("modulo_1000", range(0)),
    ],
)
def test_a_policy_says_which_numbers_start_again(numbering: object, numbers: range) -> None:
    assert parse_state(make_state(project_numbering=numbering)).wraps == numbers


@pytest.mark.parametrize(
    ("counters", "taken", "number"),
    [
        ([999], set(), 999),
        ([999], {999}, 0),
        ([1000], {0, 1, 3, 999}, 2),
        ([1000], {0, 1, 998}, 2),
        ([5, 999], {5, 6}, 7),
        ([], {998}, 999),
        ([], set(), 1),
        ([10**9, 999], {0, 999}, 1),
        ([4], set(range(1000)), 1000),
        ([4], {*range(1000), 1007}, 1008),
    ],
)
def test_after_the_last_number_comes_the_lowest_that_is_free(counters: list[int], taken: set[int], number: int) -> None:
    assert find_next_number(counters, taken, wraps=range(1000)) == number


def test_free_numbers_go_round_once() -> None:
    walk = walk_free_numbers([8], {1, 9}, wraps=range(10))
    assert list(islice(walk, 10)) == [8, 0, 2, 3, 4, 5, 6, 7, 10, 11]
    assert list(islice(walk_free_numbers([8], {1, 9}), 3)) == [10, 11, 12]


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

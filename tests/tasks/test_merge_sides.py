"""A TODO.md or state.json that a merge left unfinished: its marks are found, and its two sides become one text."""

import json
import time

import pytest

from remit.errors import StateError
from remit.tasks.merge_sides import check_merged, join_sides, join_states
from remit.tasks.repair import plan_repair
from remit.tasks.todo import parse_todo
from tests.support.task_files import PROJECTS, STATE, TODO

CONFLICT = """\
<<<<<<< HEAD
### 14. Ours
=======
### 14. Theirs
>>>>>>> left
- **Status**: [NOT STARTED]

<<<<<<< HEAD
Our words.
||||||| base
Old words.
=======
Their words.
>>>>>>> left
"""
UNMERGED = TODO + "\n" + CONFLICT


def list_tasks(text: str) -> list[tuple[int, str, str | None]]:
    return [(task.number, task.title, task.marker) for task in parse_todo(text).tasks]


def test_a_task_of_each_side_is_whole_although_git_has_cut_them() -> None:
    joined = join_sides(UNMERGED)
    assert check_merged(joined.text) is None
    assert list_tasks(joined.text)[2:] == [(14, "Ours", "NOT STARTED"), (14, "Theirs", "NOT STARTED")]
    assert "### 14. Theirs\n- **Status**: [NOT STARTED]\n\nTheir words.\n" in joined.text
    assert "Old words" not in joined.text
    assert joined.text.startswith(TODO)


def test_the_first_mark_is_told_with_its_place() -> None:
    told = check_merged(UNMERGED)
    assert told is not None
    assert told.place is not None
    assert UNMERGED.split("\n")[told.place.line - 1] == "<<<<<<< HEAD"
    assert "remit task sync --repair" in told.hint


def test_line_ends_of_windows_are_kept() -> None:
    text = UNMERGED.replace("\n", "\r\n")
    assert check_merged(text) is not None
    joined = join_sides(text).text
    assert joined.replace("\r\n", "\n") == join_sides(UNMERGED).text
    assert joined.count("\n") == joined.count("\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        TODO,
        f"```\n{CONFLICT}```\n",
        "A title\n=======\n",
        "<<<<<<< HEAD\nno end\n",
        "<<<<<<< HEAD\n=======\n",
        ">>>>>>> left\n=======\n<<<<<<< HEAD\n",
        CONFLICT.replace("<<<<<<<", "    <<<<<<<"),
        CONFLICT.replace("<<<<<<<", "<<<<<<<<"),
    ],
)
def test_what_is_no_conflict_is_left_alone(text: str) -> None:
    assert check_merged(text) is None
    assert join_sides(text).text == text


def test_a_conflict_that_a_fence_only_touches_is_one() -> None:
    text = "<<<<<<< HEAD\n```\nx\n```\n=======\n```\ny\n```\n>>>>>>> left\n"
    assert check_merged(text) is not None
    assert join_sides(text).text == "```\nx\n```\n"


def test_a_task_that_is_on_both_sides_is_there_once() -> None:
    text = TODO.replace("**Description**: A button.", "<<<<<<< a\nOne more.\n=======\n>>>>>>> b\n")
    joined = join_sides(text).text
    assert [task[0] for task in list_tasks(joined)] == [12, 12, 13]
    same = TODO.replace(
        "- **Effort**: 2 hours\n", "<<<<<<< a\n- **Effort**: 2 hours\n=======\n- **Effort**:  2 hours \n>>>>>>> b\n"
    )
    assert join_sides(same).text == TODO


def test_a_task_goes_where_the_other_side_has_it() -> None:
    new = "### 20. New\n- **Status**: [PLANNED]\n"
    text = TODO.replace("---\n\n## Low", f"<<<<<<< a\n=======\n{new}\n>>>>>>> b\n---\n\n## Low")
    joined = join_sides(text).text
    assert joined.index("## High") < joined.index("### 20.") < joined.index("## Low")
    assert [task[0] for task in list_tasks(joined)] == [12, 20, 13]


def test_what_is_left_out_beside_tasks_is_counted() -> None:
    text = TODO.replace("# TODO\n", "<<<<<<< a\n# TODO\n=======\n# Our tasks\n\nRead me.\n>>>>>>> b\n")
    assert join_sides(text).done[-1].startswith("left out 2 lines")
    counter = TODO.replace(
        "next_project_number: 14\n",
        "<<<<<<< a\nnext_project_number: 15\n=======\nnext_project_number: 16\n>>>>>>> b\n",
    )
    assert len(join_sides(counter).done) == 1


def test_sides_that_have_little_in_common_are_for_a_person() -> None:
    tasks = "".join(f"### {number}. Task\n- **Status**: [PLANNED]\n\n" for number in range(300))
    with pytest.raises(StateError, match="differ in 300 tasks"):
        join_sides(f"<<<<<<< a\n=======\n{tasks}>>>>>>> b\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "<<<<<<< a\n" * 50_000,
        "=======\n" * 50_000,
        "<<<<<<< a\n=======\n>>>>>>> b\n" * 20_000,
        "```\n" * 40_000 + CONFLICT,
        "<" * 2_000_000,
        "### 1. x\n" * 20_000 + CONFLICT,
        "```\n<<<<<<< a\n=======\n>>>>>>> b\n```\n" * 20_000,
    ],
    ids=["open", "middle", "whole", "fences", "one line", "headings", "examples"],
)
@pytest.mark.thorough
def test_any_text_takes_time_in_step_with_its_length(text: str) -> None:
    began = time.process_time()
    check_merged(text)
    try:
        join_sides(text)
    except StateError:
        assert "differ" in text or "###" in text
    assert time.process_time() - began < 2


# state.json


def conflict(old: str, ours: str, theirs: str, *, base: str | None = None) -> str:
    """A state.json in which the sides differ in one place."""
    assert old in STATE
    middle = "" if base is None else f"||||||| base\n{base}\n"
    return STATE.replace(old, f"<<<<<<< HEAD\n{ours}\n{middle}=======\n{theirs}\n>>>>>>> left", 1)


def make_task(number: int, name: str) -> str:
    return json.dumps({"project_number": number, "project_name": name, "status": "planned"})


@pytest.mark.parametrize("base", [None, '      "status": "researched",'])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_newer_version_of_a_task_is_kept(base: str | None, end: str) -> None:
    new = '      "status": "implementing",\n      "last_updated": "2026-02-01",'
    text = conflict('      "status": "planned",', '      "status": "planned",', new, base=base).replace("\n", end)
    joined = join_states(text)
    assert joined is not None
    done = plan_repair(joined.text, TODO, prefer="state")
    assert not done.left
    (task, other) = json.loads(done.state)["active_projects"]
    assert task == {**PROJECTS[0], "status": "implementing", "last_updated": "2026-02-01"}
    assert other == PROJECTS[1]


def test_tasks_of_both_sides_are_there_and_one_number_stays_with_each() -> None:
    ours, theirs = (f"    {make_task(14, name)},\n    {{" for name in ("dark_mode", "light_mode"))
    text = conflict("    {", ours, theirs).replace('"next_project_number": 14', '"next_project_number": 15')
    joined = join_states(text)
    assert joined is not None
    assert "took task 14 of state.json from the merged branch" in joined.done
    done = plan_repair(joined.text, TODO)
    assert not done.left
    found = {task["project_number"]: task["project_name"] for task in json.loads(done.state)["active_projects"]}
    assert found == {12: "export_button", 13: "login_page", 14: "dark_mode", 15: "light_mode"}


def test_the_rest_of_state_json_is_ours_with_what_only_the_other_side_has() -> None:
    text = conflict('  "next_project_number": 14,', '  "next_project_number": 14,\n  "a": 1,',
                    '  "next_project_number": 20,\n  "a": 2,\n  "b": [3],')  # fmt: skip
    joined = join_states(text)
    assert joined is not None
    assert json.loads(joined.text) == {**json.loads(STATE), "next_project_number": 20, "a": 1, "b": [3]}
    assert joined.done[-1] == "left out a of the merged branch, which differed in state.json"


@pytest.mark.parametrize("text", [STATE, STATE[:-5], conflict('"planned"', "", "1"), "<<<<<<< a\n=======\n>>>>>>> b\n"])
def test_what_is_not_two_whole_states_is_not_joined(text: str) -> None:
    assert join_states(text) is None

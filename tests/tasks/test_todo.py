"""TODO.md read as tasks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.tasks.task import MARKERS, read_marker
from remit.tasks.todo import parse_todo
from tests.support.task_files import TODO


def test_tasks_are_read_with_their_places() -> None:
    """S1."""
    todo = parse_todo(TODO)
    assert [(task.number, task.title, task.marker) for task in todo.tasks] == [
        (12, "Export button", "PLANNED"),
        (13, "Login page", "NOT STARTED"),
    ]
    lines = TODO.split("\n")
    for task in todo.tasks:
        assert lines[task.place.line - 1][task.place.column - 1 : task.place.end_column - 1] == str(task.number)
    marker = todo.tasks[0].marker_place
    assert marker is not None
    assert lines[marker.line - 1][marker.column - 1 : marker.end_column - 1] == "[PLANNED]"
    assert todo.next_number is not None
    assert todo.next_number.number == 14
    assert lines[1][todo.next_number.place.column - 1 : todo.next_number.place.end_column - 1] == "14"


@pytest.mark.parametrize(
    "line",
    [
        "- **Status**: [IN PROGRESS]",
        " **Status**: [IN PROGRESS]",
        "**Status:** [in_progress]",
        "* **status** : In Progress (phase 2)",
        "- **Status**: [IN-PROGRESS] ✅",
        "- **Status**: [IN PROGRESS]\r",
    ],
)
def test_a_status_is_read_however_it_is_spelt(line: str) -> None:
    """S2."""
    (task,) = parse_todo(f"### 5. ✅ Task\r\n{line}\n- **Status**: [BLOCKED]\n").tasks
    assert task.marker == "IN PROGRESS"


@pytest.mark.parametrize("heading", ["### 5. Title", "### Task 5: Title", "### #5. Title", "###  5) Title"])
def test_a_heading_is_read_however_it_is_spelt(heading: str) -> None:
    assert [(task.number, task.title) for task in parse_todo(heading).tasks] == [(5, "Title")]


def test_what_is_no_task_is_not_taken_for_one() -> None:
    text = (
        "# TODO\n\n### Automation\n\n```markdown\n### 4. An example\n- **Status**: [PLANNED]\n```\n\n"
        "### 5. Real\n- **Effort**: 2 hours\n\n#### 6. A part of it\n- **Status**: [PLANNED]\n\n"
        "## Notes\n- **Status**: [BLOCKED]\n\n### 7. A heading\nText.\n"
    )
    tasks = parse_todo(text).tasks
    assert [(task.number, task.marker, task.bare) for task in tasks] == [(5, "PLANNED", False), (7, None, True)]


def test_a_fence_that_is_never_closed_hides_nothing() -> None:
    assert [task.number for task in parse_todo("### 4. A\n```\nx\n### 5. B\n- **Status**: [PLANNED]\n").tasks] == [4, 5]


def test_a_header_that_never_ends_is_none() -> None:
    todo = parse_todo("---\nnext_project_number: 4\n### 4. A\n")
    assert (todo.next_number, [task.number for task in todo.tasks]) == (None, [4])


@pytest.mark.parametrize("marker", MARKERS)
def test_every_marker_is_read_in_every_spelling(marker: str) -> None:
    """S2."""
    assert {read_marker(word) for word in (marker, marker.lower(), marker.replace(" ", "_"), f" {marker} ")} == {marker}


@given(st.text(alphabet="#- *:[]`~0123\nStatus\r\t", max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    for task in parse_todo(text).tasks:
        assert task.place.line <= text.count("\n") + 1

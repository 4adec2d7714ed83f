"""state.json read as tasks."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.tasks.state import parse_state
from tests.support.task_files import STATE, make_state


def test_tasks_are_read_with_their_places() -> None:
    """S1."""
    state = parse_state(STATE)
    assert [(task.number, task.marker, task.closed) for task in state.tasks] == [
        (12, "PLANNED", False), (13, "NOT STARTED", False), (7, None, True),
    ]  # fmt: skip
    assert state.next_number is not None
    assert state.next_number.number == 14
    lines = STATE.split("\n")
    for task, word in zip(state.tasks, ("12", "13", "7"), strict=True):
        assert lines[task.place.line - 1][task.place.column - 1 : task.place.end_column - 1] == word
    marker = state.tasks[0].marker_place
    assert marker is not None
    assert lines[marker.line - 1][marker.column - 1 : marker.end_column - 1] == '"planned"'


def test_older_files_keep_tasks_elsewhere_and_numbers_as_texts() -> None:
    pending = [{"project_number": "20", "title": "Later", "status": "IN_PROGRESS"}]
    state = parse_state("\ufeff" + make_state(pending_tasks=pending, active_projects=[], completed_projects=None))
    assert [(task.number, task.title, task.marker) for task in state.tasks] == [(20, "Later", "IN PROGRESS")]
    assert not state.flaws


@pytest.mark.parametrize(
    ("text", "part", "line"),
    [
        (STATE + STATE, "more than one object", STATE.count("\n") + 1),
        (STATE[:-40], "truncated", STATE[:-40].rstrip().count("\n") + 1),
        (STATE[: STATE.index("port_button")], "truncated", 6),
        (STATE.replace("{", "<<<<<<< HEAD\n{", 1), "unfinished merge", 1),
        (STATE.replace('"planned",', '"planned"'), "valid JSON", 8),
        ("", "empty", None),
        (" \n", "empty", None),
        ("[1]", "isn't a JSON object", 1),
        ("nothing", "valid JSON", 1),
        ("[" * 100_000, "nested too deeply|truncated", None),
    ],
)
def test_what_is_no_json_is_told_with_its_place(text: str, part: str, line: int | None) -> None:
    """S9."""
    broken = parse_state(text).broken
    assert broken is not None
    assert any(word in broken.message for word in part.split("|")), broken.message
    if line is not None:
        assert broken.place is not None
        assert broken.place.line == line


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (make_state(active_projects=[{"project_name": "x"}]), "no project_number"),
        (make_state(active_projects=[{"project_number": True}]), "no project_number"),
        (make_state(active_projects=[7, None]), "no project_number"),
        (make_state(active_projects={"12": {}}), "isn't a list"),
        (make_state(next_project_number="many"), "isn't a number"),
        (make_state().replace('"completed_projects"', '"active_projects"'), "duplicate key"),
    ],
)
def test_what_is_no_task_is_a_flaw_with_a_place(text: str, part: str) -> None:
    flaws = parse_state(text).flaws
    assert flaws
    assert all(part in flaw.message and flaw.place is not None for flaw in flaws)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@pytest.mark.slow
@given(
    st.dictionaries(st.sampled_from(["active_projects", "pending_tasks", "next_project_number", "project_numbering"]),
                    JSON | st.lists(st.fixed_dictionaries({"project_number": JSON, "status": JSON, "title": JSON}))),
    st.sampled_from([None, 0, 3]),
)  # fmt: skip
def test_no_value_breaks_it(value: dict[str, object], indent: int | None) -> None:
    state = parse_state(json.dumps(value, indent=indent))
    assert state.broken is None


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            '"planned"',
            '"planned",\n "status":  "blocked"',
            """task 12 has 'status' twice: "planned" and "blocked\"""",
        ),
        (
            '"planned"',
            '"planned", "\\u0073tatus": "planned"',
            """task 12 has 'status' twice: "planned" and "planned\"""",
        ),
        ('"high"', '"high", "plan": [{"a": 1, "a": 2, "a": 3}]', "task 12 has 'a' twice within 'plan'"),
        ('"high"', '"high", "n": 1, "n": {"a": 1}', """task 12 has 'n' twice: 1 and {"a": 1}"""),
    ],
)
def test_a_key_that_a_task_gives_twice_is_told_at_the_second(old: str, new: str, told: str) -> None:
    text = STATE.replace(old, new)
    assert text != STATE
    for each in (text, "\ufeff" + text, text.replace("parser", "\\ud800")):
        state = parse_state(each)
        assert (state.broken, state.flaws) == (None, ())
        (flaw,) = state.repeated
        assert flaw.message == told
        assert flaw.place is not None
        assert each.split("\n")[flaw.place.line - 1][flaw.place.column - 1] == '"'


def test_what_is_given_twice_elsewhere_or_very_often_fills_no_screen() -> None:
    assert parse_state(STATE.replace('"next', '"own": {"a": 1, "a": 2}, "own": 1, "next')).repeated == ()
    assert parse_state(STATE).repeated == ()
    many = ", ".join(f'"k{each // 2}": 1' for each in range(2_000))
    assert len(parse_state(STATE.replace('"planned"', f'"planned", {many}')).repeated) == 5

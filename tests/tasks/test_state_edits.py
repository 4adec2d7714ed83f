"""state.json edited: exactly the intended difference, and no other byte."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import InputError, UsageError
from remit.storage.json_edit import REMOVE
from remit.tasks.state import parse_state
from remit.tasks.state_edits import (
    StateEdits,
    add_task,
    add_tasks,
    append_to_list,
    find_task,
    find_tasks,
    insert_tasks,
    list_tasks,
    move_tasks,
    remove_tasks,
    render_empty_state,
    set_fields,
    set_next_number,
    set_status,
)
from tests.support.task_files import STATE, make_state

NOW = "2026-03-04T05:06:07Z"
ODD = """\
{
\t"_last_updated" : "2026-01-02",
\t"x": "\\"project_number\\": 12, \\u00e9 \\\\",
\t"active_projects": [
\t\t{ "name": "first", "x": {"project_number": 12}, "project_number": 5 },
\t\t{
\t\t\t"note": "a", "note": "b",   "project_number": "12",
\t\t\t"status": "IN PROGRESS", "dependencies": [1,2],
\t\t\t"last_updated": "2026-01-02"  }
\t],
\t"project_number": 12,
\t"next_project_number": "13"
}"""


def move_to_completed(text: str, number: int) -> tuple[str, str]:
    """The text once a task is put away, and the task's own text."""
    entry = find_task(text, number)
    return move_tasks(text, [entry]), text[entry.start : entry.end]


LAYOUTS: dict[str, Callable[[Any], str]] = {
    "two": lambda value: json.dumps(value, indent=2) + "\n",
    "crlf": lambda value: (json.dumps(value, indent=4, ensure_ascii=False) + "\n").replace("\n", "\r\n"),
    "tab": lambda value: json.dumps(value, indent="\t", ensure_ascii=False),
    "line": lambda value: "\ufeff" + json.dumps(value),
    "tight": lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n\n",
    "wide": lambda value: json.dumps(value, indent=1, separators=(" ,", " : ")),
    "inline": lambda value: re.sub(r"\n {6,}| *\n {4}(?=\})", " ", json.dumps(value, indent=2)),
}


def _load(text: str) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(text.removeprefix("\ufeff"))


def test_only_the_value_changes() -> None:
    assert set_fields(STATE, 12, {"status": "blocked"}) == STATE.replace('"planned"', '"blocked"')
    changed = ODD.replace('"IN PROGRESS"', '"ON HOLD"').replace("[1,2]", "null")
    assert set_fields(ODD, 12, {"dependencies": None, "status": "ON HOLD"}) == changed


def test_a_new_field_is_the_last_one_and_looks_like_the_others() -> None:
    text = set_fields(STATE, 12, {"reason": "é", "artifacts": [{"path": "a"}]})
    assert text == STATE.replace(
        '"priority": "high"\n',
        '"priority": "high",\n      "reason": "é",\n'
        '      "artifacts": [\n        {\n          "path": "a"\n        }\n      ]\n',
    )
    assert set_fields(ODD, 5, {"reason": "x"}) == ODD.replace(": 5 }", ': 5, "reason": "x" }')


def test_setting_what_is_there_changes_nothing() -> None:
    for text in (STATE, ODD):
        entry = find_task(text, 12)
        assert set_fields(text, 12, {**entry.value, "none": REMOVE}, now=NOW) == text
    assert set_status(STATE, 13, "NOT STARTED", now=NOW) == STATE
    assert set_next_number(STATE, 14, now=NOW) == STATE
    assert set_fields(ODD, 12, {"project_number": 12}, now=NOW) == ODD
    assert append_to_list(ODD, 12, "dependencies", 2, now=NOW) == ODD


def test_true_is_not_one() -> None:
    text = set_fields(STATE, 12, {"done": 1})
    assert set_fields(text, 12, {"done": True}) == text.replace('"done": 1', '"done": true')


def test_a_field_is_taken_away_with_its_comma() -> None:
    assert set_fields(STATE, 12, {"priority": REMOVE}) == STATE.replace(',\n      "priority": "high"', "")
    assert set_fields(ODD, 12, {"note": REMOVE}) == ODD.replace('"note": "a", "note": "b",   ', "")
    both = set_fields(ODD, 12, {"note": REMOVE, "last_updated": REMOVE, "new": 1})
    assert find_task(both, 12).value == {
        "project_number": "12", "status": "IN PROGRESS", "dependencies": [1, 2], "new": 1,
    }  # fmt: skip


def test_of_two_keys_the_last_is_set_as_every_reader_takes_it() -> None:
    assert set_fields(ODD, 12, {"note": "c"}) == ODD.replace('"b"', '"c"')


def test_times_follow_in_their_form() -> None:
    text = set_fields(ODD, 12, {"status": "BLOCKED"}, now=NOW)
    assert text == ODD.replace("IN PROGRESS", "BLOCKED").replace('"2026-01-02"', '"2026-03-04"')
    offset = make_state(last_updated="2026-01-02T00:00:00+00:00")
    assert _load(set_next_number(offset, 99, now=NOW))["last_updated"] == "2026-03-04T05:06:07+00:00"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["planned", "not_started"], "in_progress"),
        (["PLANNED", "NOT STARTED"], "IN PROGRESS"),
        (["Planned", "Not-Started"], "In-Progress"),
        (["planned"], "in_progress"),
    ],
)
def test_a_status_is_spelt_as_the_file_spells_them(words: list[str], wanted: str) -> None:
    """S2."""
    tasks = [{"project_number": number, "status": word} for number, word in enumerate(words)]
    text = set_status(make_state(active_projects=tasks), 0, "IN PROGRESS", {"started": "today"})
    assert _load(text)["active_projects"][0] == {"project_number": 0, "status": wanted, "started": "today"}


def test_numbers_keep_their_spelling() -> None:
    assert set_fields(ODD, 12, {"project_number": 40}) == ODD.replace(
        '"project_number": "12"', '"project_number": "40"'
    )
    assert set_next_number(ODD, 41) == ODD.replace('"13"', '"41"')
    assert _load(set_next_number("{}", 41)) == {"next_project_number": 41}


def test_a_list_grows_at_its_end() -> None:
    assert append_to_list(ODD, 12, "dependencies", 3) == ODD.replace("[1,2]", "[1,2,3]")
    text = append_to_list(STATE, 12, "artifacts", {"path": "a"}, now=NOW)
    twice = append_to_list(text, 12, "artifacts", {"path": "b"})
    assert find_task(twice, 12).value["artifacts"] == [{"path": "a"}, {"path": "b"}]
    assert twice.startswith(text[: text.index('"path": "a"') + len('"path": "a"')])
    assert find_task(append_to_list(set_fields(STATE, 12, {"a": []}), 12, "a", 1), 12).value["a"] == [1]
    with pytest.raises(InputError, match="priority of task 12"):
        append_to_list(STATE, 12, "priority", "x")


def test_tasks_are_added_first_or_last_as_the_file_has_them() -> None:
    fields = {"project_number": 14, "project_name": "new", "status": "not_started"}
    last = _load(add_task(STATE, fields, next_number=15, now=NOW))
    assert last["active_projects"][-1] == {**fields, "created": NOW, "last_updated": NOW}
    assert last["next_project_number"] == 15
    turned = make_state(active_projects=_load(STATE)["active_projects"][::-1])
    assert _load(add_task(turned, fields))["active_projects"][0] == fields


@pytest.mark.parametrize("text", ["{}", "{ }", '{"a": 1}', render_empty_state(), '{\n\t"active_projects": null\n}\n'])
def test_a_list_is_made_where_there_is_none(text: str) -> None:
    added = add_task(text, {"project_number": 1, "status": "planned"}, next_number=2)
    assert _load(added)["active_projects"] == [{"project_number": 1, "status": "planned"}]
    assert _load(added)["next_project_number"] == 2
    closed, _ = move_to_completed(added, 1)
    assert _load(closed)["completed_projects"] == [{"project_number": 1, "status": "planned"}]
    assert not _load(closed)["active_projects"]


def test_a_task_moves_word_for_word() -> None:
    text, removed = move_to_completed(ODD.replace("\t]", '\t], "completed_projects": [{"project_number": 1}]'), 12)
    assert removed in text
    assert [entry.closed for entry in find_tasks(text, 12)] == [True]
    assert find_task(text, 12).value == find_task(ODD, 12).value
    rest, taken = remove_tasks(text, find_tasks(text, 12))
    assert (taken, find_tasks(rest, 12)) == ([removed], ())
    assert find_task(insert_tasks(rest, taken), 12).value == find_task(ODD, 12).value


def test_a_task_keeps_its_words_in_a_list_that_was_empty() -> None:
    odd = '{ "project_number": 12 , "a": 1, "a": 1.50, "b": [NaN,\\t"\\\\u00e9"] }'.replace("\\t", "\t")
    text = f'{{"active_projects": [\n  {odd}\n], "completed_projects": []}}'
    assert move_to_completed(text, 12) == (f'{{"active_projects": [], "completed_projects": [{odd}]}}', odd)


def test_many_tasks_are_added_in_one_pass_as_one_by_one() -> None:
    new = [{"project_number": number, "status": "planned", "note": ["é"]} for number in (20, 21, 22)]
    tasks: list[Any] = _load(STATE)["active_projects"]
    for layout in LAYOUTS.values():
        for listed in (tasks, tasks[::-1], []):
            text = layout({**_load(STATE), "active_projects": listed})
            one_by_one = text
            for fields in new:
                one_by_one = add_task(one_by_one, fields)
            assert add_tasks(text, new) == one_by_one
    assert add_tasks(STATE, []) == STATE


def test_a_number_that_is_given_twice_is_not_guessed() -> None:
    """S9."""
    twice = STATE.replace(": 13,", ": 12,")
    with pytest.raises(UsageError, match=r"2 tasks in state.json have"):
        set_fields(twice, 12, {"status": "x"})
    first, second = find_tasks(twice, 12)
    assert set_fields(twice, second, {"project_number": 13}) == STATE
    assert set_fields(twice, first, {"project_number": 13}) == STATE.replace(": 13,", ": 0,").replace(
        ": 12,", ": 13,"
    ).replace(": 0,", ": 12,")
    closed = STATE.replace(": 7,", ": 12,")
    assert set_fields(closed, 12, {"status": "x"}) == closed.replace('"planned"', '"x"')


@pytest.mark.parametrize("text", ["", "[]", STATE[:-20], STATE + STATE, "[" * 100_000])
def test_a_broken_file_is_not_touched(text: str) -> None:
    with pytest.raises(InputError) as caught:
        set_fields(text, 12, {"status": "x"})
    assert caught.value.hint


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(UsageError, match="no task 99"):
        find_task(STATE, 99)
    with pytest.raises(InputError, match=r"active_projects in .* isn't a list"):
        add_task('{"active_projects": {}}', {"project_number": 1})


@pytest.mark.parametrize(
    "text",
    [
        STATE.replace('"project_number": 12', r'"project_numbe\u0072": 12, "x": {"project_number": 12}'),
        STATE.replace('"project_number": 12', '"x": {"project_number": 12}, "project_number": 12'),
        STATE.replace('"planned"', r'"\ud800", "nan": NaN'),
        STATE.replace(
            '"active_projects"', '"active_projects": [{"project_number": 12, "status": "old"}], "active_projects"'
        ),
    ],
)
def test_what_hides_a_task_is_seen_through(text: str) -> None:
    entry = find_tasks(text, 12)[-1]
    changed = set_fields(text, entry, {"status": "x"})
    assert (
        changed == text[: entry.start] + changed[entry.start : len(changed) - len(text) + entry.end] + text[entry.end :]
    )
    assert _load(changed)["active_projects"][0]["status"] == "x"


SCALARS = (
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('aé"\\\n{}[],:\u2028\ud800', max_size=8) | st.just(0.5)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner), max_leaves=5
)
FIELDS = st.dictionaries(st.sampled_from(["status", "x", "y", "é", "last_updated"]), VALUES, max_size=4)


@st.composite
def states(draw: st.DrawFn) -> dict[str, Any]:
    numbers = draw(st.lists(st.integers(0, 30), unique=True, min_size=1, max_size=5))
    tasks = [{**draw(FIELDS), "project_number": number, **draw(FIELDS)} for number in numbers]
    cut = draw(st.integers(0, len(tasks)))
    value = {"active_projects": tasks[:cut], "completed_projects": tasks[cut:], "next_project_number": 31}
    return {**draw(FIELDS), **value, **draw(FIELDS)}


def _wanted(old: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in {**old, **fields}.items() if value is not REMOVE}


@pytest.mark.slow
@given(states(), st.sampled_from(sorted(LAYOUTS)), st.data())
def test_an_edit_makes_exactly_the_intended_difference(value: dict[str, Any], layout: str, data: st.DataObject) -> None:
    text = LAYOUTS[layout](value)
    home = data.draw(st.sampled_from([key for key in ("active_projects", "completed_projects") if value[key]]))
    index = data.draw(st.integers(0, len(value[home]) - 1))
    number = value[home][index]["project_number"]
    fields = data.draw(
        st.dictionaries(st.sampled_from(["status", "x", "é", "z"]), VALUES | st.just(REMOVE), max_size=4)
    )

    entry = find_task(text, number)
    changed = set_fields(text, number, fields)
    wanted = _load(text)
    wanted[home][index] = _wanted(
        wanted[home][index],
        json.loads(json.dumps(fields, default=lambda _: "gone"))
        | {key: REMOVE for key, each in fields.items() if each is REMOVE},
    )
    assert json.dumps(_load(changed)) == json.dumps(wanted)
    assert changed.startswith(text[: entry.start])
    assert changed.endswith(text[entry.end :])
    assert set_fields(changed, number, fields) == changed
    changed.encode(errors="surrogatepass" if "\ud800" in text else "strict")

    added = add_task(text, {"project_number": 40, "status": "planned"}, next_number=41)
    assert _load(added)["next_project_number"] == 41
    back = set_next_number(remove_tasks(added, find_tasks(added, 40))[0], 31)
    assert _load(back) == _load(text)
    if value["active_projects"]:
        assert back == text

    moved, removed = move_to_completed(text, number)
    assert json.loads(removed) == value[home][index]
    assert sorted(task.number for task in parse_state(moved).tasks) == sorted(
        task.number for task in parse_state(text).tasks
    )
    assert find_task(moved, number).closed


@pytest.mark.slow
@given(states(), st.sampled_from(sorted(LAYOUTS)), st.data())
@pytest.mark.thorough
def test_many_edits_at_once_are_each_of_them(value: dict[str, Any], layout: str, data: st.DataObject) -> None:
    text = LAYOUTS[layout](value)
    entries = list_tasks(text)
    assert [entry for entry in entries if entry.number == entries[0].number] == list(
        find_tasks(text, entries[0].number)
    )
    what = st.sampled_from(["keep", "go", "set"])
    chosen = [(entry, data.draw(what), data.draw(FIELDS)) for entry in entries]
    edits, one_by_one = StateEdits(text), text
    for entry, kind, fields in chosen:
        if kind == "go":
            edits.remove(entry)
            one_by_one, _ = remove_tasks(one_by_one, [find_task(one_by_one, entry.number)])
        elif kind == "set":
            one_by_one = set_fields(one_by_one, entry.number, fields)
            assert edits.set_fields(entry, fields) == (set_fields(text, entry, fields) != text)
    assert json.dumps(_load(edits.apply())) == json.dumps(_load(one_by_one))
    if not any(fields for _, kind, fields in chosen if kind == "set"):
        assert edits.apply() == one_by_one
    moved = move_tasks(text, [entry for entry, kind, _ in chosen if kind == "go" and not entry.closed])
    assert sorted(task.number for task in parse_state(moved).tasks) == sorted(entry.number for entry in entries)
    for entry, kind, _ in chosen:
        assert find_task(moved, entry.number).value == entry.value
        assert find_task(moved, entry.number).closed == (kind == "go" or entry.closed)

"""JSON edited as text: a change of one value changes only its lines, in every layout."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.workspace.json_edit import (
    REMOVE,
    Source,
    add_items,
    apply,
    remove_parts,
    set_list,
    set_members,
    walk_items,
    walk_members,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.workspace.json_edit import Member

STATE: dict[str, Any] = {
    "next_project_number": 15,
    "_last_updated": "2026-01-02T03:04:05Z",
    "active_projects": [
        {
            "project_number": number,
            "project_name": f"task_{number}",
            "status": "researched",
            "artifacts": [{"path": f"specs/{number}_x/reports/research-001.md", "summary": "Über alles."}],
            "dependencies": [1, 2],
            "plan_metadata": {},
        }
        for number in (12, 13, 14)
    ],
    "completed_projects": [],
}
ERRORS: dict[str, Any] = {
    "_schema_version": "2.0.0",
    "errors": [
        {
            "id": f"err_{number}",
            "message": 'it "failed" über',
            "context": {"task_number": number},
            "fix_status": "unfixed",
        }
        for number in range(4)
    ],
    "aggregations": {"by_type": {"execution": 4}},
}
LAYOUTS: dict[str, Callable[[Any], str]] = {
    "two": lambda value: json.dumps(value, indent=2) + "\n",
    "four": lambda value: json.dumps(value, indent=4, ensure_ascii=False) + "\n",
    "tab": lambda value: json.dumps(value, indent="\t", ensure_ascii=False),
    "crlf": lambda value: json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\r\n"),
    "line": lambda value: json.dumps(value, ensure_ascii=False),
    "compact": lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
}
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-999, 999)
    | st.text(max_size=9)
    | st.lists(st.text(max_size=5), max_size=3)
    | st.dictionaries(st.text(max_size=5), st.integers(0, 9), max_size=3)
)


def find_entry(text: str, place: int) -> Member:
    """An entry of the list of tasks or errors."""
    listed = next(each for each in walk_members(text, 0) if each.key in {"active_projects", "errors"})
    return [*walk_items(text, listed.start)][place]


@given(st.sampled_from([STATE, ERRORS]), st.sampled_from([*LAYOUTS]), st.integers(0, 2), VALUES, st.data())
def test_a_new_value_changes_only_its_lines(
    whole: dict[str, Any], layout: str, place: int, value: object, data: st.DataObject
) -> None:
    text = LAYOUTS[layout](whole)
    entry = find_entry(text, place)
    member = data.draw(st.sampled_from([*walk_members(text, entry.start)]))
    after = apply(text, set_members(text, entry.start, {member.key: value}))
    wanted = json.loads(text)
    (wanted.get("active_projects") or wanted["errors"])[place][member.key] = value
    assert json.loads(after) == wanted
    if value == member.value and type(value) is type(member.value):
        assert after == text
    assert after.startswith(text[: member.start])
    assert after.endswith(text[member.end :])
    assert after == LAYOUTS[layout](wanted)


@given(st.sampled_from([STATE, ERRORS]), st.sampled_from([*LAYOUTS]), st.integers(0, 2), VALUES)
def test_a_new_member_looks_like_the_others_and_removing_it_gives_the_text_from_before(
    whole: dict[str, Any], layout: str, place: int, value: object
) -> None:
    text = LAYOUTS[layout](whole)
    start = find_entry(text, place).start
    after = apply(text, set_members(text, start, {"new": value}))
    wanted = json.loads(text)
    (wanted.get("active_projects") or wanted["errors"])[place]["new"] = value
    assert json.loads(after) == wanted
    assert after == LAYOUTS[layout](wanted)
    assert apply(after, set_members(after, start, {"new": REMOVE})) == text


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("first", [True, False])
def test_items_are_added_and_removed_in_the_layout_of_the_file(layout: str, first: bool) -> None:  # noqa: FBT001 - a table
    text = LAYOUTS[layout](ERRORS)
    listed = next(each for each in walk_members(text, 0) if each.key == "errors")
    items = [*walk_items(text, listed.start)]
    new = [{"id": "a", "message": "ß", "context": {"x": [1]}}, {"id": "b"}]
    after = apply(text, [add_items(text, listed.start, items, new, first=first)])
    known = ERRORS["errors"]
    wanted = {**ERRORS, "errors": [*reversed(new), *known] if first else [*known, *new]}
    assert after == LAYOUTS[layout](wanted)
    added = [*walk_items(after, listed.start)]
    gone = [0, 1] if first else [4, 5]
    assert apply(after, remove_parts(added, gone)) == text


def test_sources_are_put_in_word_for_word() -> None:
    odd = Source('{ "a":1,\t"b" : 1.50 }')
    text = '{\n  "errors": null\n}\n'
    (member,) = walk_members(text, 0)
    listed = apply(text, [set_list(text, (member.start, member.end), [odd, odd])])
    assert listed == f'{{\n  "errors": [\n    {odd},\n    {odd}\n  ]\n}}\n'
    assert apply("{}", set_members("{}", 0, {"errors": [odd]})) == f'{{"errors": [{odd}]}}'
    assert apply("[1]", [add_items("[1]", 0, [*walk_items("[1]", 0)], [odd])]) == f"[1, {odd}]"

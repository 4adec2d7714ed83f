"""JSON edited as text: a change of one field changes only its lines, in every layout, with comments or without."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.storage.json_edit import (
    REMOVE,
    RawJson,
    add_items,
    apply,
    blank_comments,
    explain_breakage,
    measure_depth,
    remove_parts,
    same,
    set_members,
    set_value,
    walk_items,
    walk_members,
)
from tests.support.json_texts import Layout, list_comments, render_object

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from remit.storage.json_edit import Member

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
def test_a_new_value_is_laid_out_as_the_program_that_wrote_the_file_would(
    whole: dict[str, Any], layout: str, place: int, value: object, data: st.DataObject
) -> None:
    text = LAYOUTS[layout](whole)
    entry = find_entry(text, place)
    member = data.draw(st.sampled_from([*walk_members(text, entry.start)]))
    after = apply(text, set_members(text, entry.start, {member.key: value}))
    wanted = json.loads(text)
    (wanted.get("active_projects") or wanted["errors"])[place][member.key] = value
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
    assert apply(after, remove_parts(after, added, gone)) == text


def test_sources_are_put_in_word_for_word() -> None:
    odd = RawJson('{ "a":1,\t"b" : 1.50 }')
    text = '{\n  "errors": []\n}\n'
    (member,) = walk_members(text, 0)
    listed = apply(text, [add_items(text, member.start, [], [odd, odd])])
    assert listed == f'{{\n  "errors": [\n    {odd},\n    {odd}\n  ]\n}}\n'
    assert apply('{"a": 1}', set_members('{"a": 1}', 0, {"errors": [odd]})) == f'{{"a": 1, "errors": [{odd}]}}'
    assert apply("[1]", [add_items("[1]", 0, [*walk_items("[1]", 0)], [odd])]) == f"[1, {odd}]"


# Any layout


@given(st.randoms(use_true_random=False), st.sampled_from([*Layout]))
def test_without_comments_and_trailing_commas_a_text_is_json_with_the_same_offsets(
    random_: random.Random, layout: Layout
) -> None:
    text, value = render_object(random_, layout)
    plain = blank_comments(text)
    assert len(plain) == len(text)
    assert same(json.loads(plain), value)
    if layout is not Layout.COMMENTS:
        assert plain == text


@given(st.randoms(use_true_random=False), st.sampled_from([*Layout]))
def test_an_edit_changes_only_the_lines_of_its_field(random_: random.Random, layout: Layout) -> None:
    text, _ = render_object(random_, layout)
    for _ in range(3):
        text = edit_once(random_, text)


def edit_once(random_: random.Random, text: str) -> str:
    """Set, add or remove one field anywhere in a text, and compare the result with the same edit of its value."""
    plain = blank_comments(text)
    whole = json.loads(plain)
    start, end, holder = choose_holder(random_, plain, whole)
    is_object = isinstance(holder, dict)
    parts = [*(walk_members if is_object else walk_items)(plain, start)]
    value: Any = random_.choice([None, True, 7, "new é\n", [], [1, {"a": "b"}], {"x": {"y": []}}])
    kind = random_.choice(["add", "set", "remove"]) if parts else "add"
    index = random_.randrange(len(parts)) if parts else 0
    new = max((part.key for part in parts), default="") + "+"  # none of them
    key: Any = parts[index].key if parts and is_object else index
    meant = [part for part in parts if part.key == key] if is_object else parts[index : index + 1]
    if kind == "remove":
        del holder[key]
        places = [parts.index(part) for part in meant]
        changes = remove_parts(text, parts, places)
        first = parts[places[0] - 1].end if places[0] else start + 1
        last = parts[places[-1] + 1].key_start if places[-1] + 1 < len(parts) else end - 1
    elif kind == "set":
        holder[key] = value
        changes = set_members(text, start, {key: value}, plain=plain) if is_object else set_value(text, meant[0], value)
        first, last = meant[-1].start, meant[-1].end
    else:
        holder.update({new: value}) if is_object else holder.append(value)
        changes = set_members(text, start, {new: value}, plain=plain) if is_object else []
        changes = changes or [add_items(text, start, parts, [value])]
        first, last = parts[-1].end if parts else start + 1, end - 1
    after = apply(text, changes)
    assert same(json.loads(blank_comments(after)), whole)
    assert after.startswith(text[:first])
    assert after.endswith(text[last:])
    gone = [(part.key_start if kind == "remove" else part.start, part.end) for part in meant if kind != "add"]
    kept = [span for span in list_comments(text) if not any(low <= span[0] < high for low, high in gone)]
    assert all(text[slice(*span)].rstrip() in after for span in kept)
    if kind == "add":  # nothing is taken away
        chars = iter(after)
        assert all(char in chars for char in text)
    return after


def choose_holder(random_: random.Random, plain: str, whole: Any) -> tuple[int, int, Any]:  # noqa: ANN401 - any JSON value
    """An object or a list somewhere in a text: where it begins and ends, and its value in the whole."""
    start, end, holder = plain.index("{"), len(plain.rstrip()), whole
    while random_.random() < 0.7:
        parts = [*(walk_members if isinstance(holder, dict) else walk_items)(plain, start)]
        last = {part.key: part for part in parts} if isinstance(holder, dict) else dict(enumerate(parts))
        inner = [(part, holder[key]) for key, part in last.items() if isinstance(part.value, (dict, list))]
        if not inner:
            break
        part, holder = random_.choice(inner)
        start, end = part.start, part.end
    return start, end, holder


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}'),
        ("{\n}\n", '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n'),
        ('{"x": 1}', '{"x": 1, "a": {"b": [1]}}'),
        ('{\n\t"x": 1\n}', '{\n\t"x": 1,\n\t"a": {\n\t\t"b": [\n\t\t\t1\n\t\t]\n\t}\n}'),
        ('{\r\n "x": 1\r\n}', '{\r\n "x": 1,\r\n "a": {\r\n  "b": [\r\n   1\r\n  ]\r\n }\r\n}'),
        ('{\n  "x": 1, // one\n}', '{\n  "x": 1, // one\n  "a": {\n    "b": [\n      1\n    ]\n  },\n}'),
        ('{\n  "x": 1 /* one */ // two\n}',
         '{\n  "x": 1, /* one */ // two\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}'),
        ('{"x": 1, // one\n}', '{"x": 1, "a": {"b": [1]}, // one\n}'),
        ("{\n  // none\n}", '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n  // none\n}'),
    ],
)  # fmt: skip
def test_a_new_member_is_laid_out_as_the_file_is(before: str, after: str) -> None:
    plain = blank_comments(before)
    assert apply(before, set_members(before, 0, {"a": {"b": [1]}}, plain=plain)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "x": 1, // one\n  "a": 2, // two\n  "b": 3\n}', '{\n  "x": 1, // one\n   // two\n  "b": 3\n}'),
        ('{\n  "x": 1, // one\n  "a": 2\n}', '{\n  "x": 1 // one\n}'),
        ('{\n  "a": 2, // two\n}', "{ // two\n}"),
        ('{\n  // mine\n  "a": 2\n}', "{\n  // mine\n  \n}"),
        ('{"x": 1, "a": 2,}', '{"x": 1,}'),
        ('{"a": 2, "x": 1}', '{"x": 1}'),
    ],
)
def test_a_member_goes_and_comments_stay(before: str, after: str) -> None:
    assert apply(before, set_members(before, 0, {"a": REMOVE}, plain=blank_comments(before))) == after


# Limits


@pytest.mark.parametrize("text", ["[,]", "{,}", "[1,,]", '{"a": 1 /* x }', '{"a": 1 /}', "[1,] /", "/**"])
def test_what_is_no_json_with_comments_does_not_become_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|Extra|delimiter"):
        json.loads(blank_comments(text))


@given(st.text(alphabet='{}[]":,/*\\ \n01eE+-.atrufalsn\ufeff', max_size=40))
def test_any_text_has_a_depth_and_the_same_length_without_comments(text: str) -> None:
    assert len(blank_comments(text)) == len(text)
    assert measure_depth(text) <= text.count("{") + text.count("[")


BOMBS = {
    "quotes": '{"a":[' + '"' * 300_001,
    "comments": "{" + "/*" * 200_000,
    "stars": "{" + "/**" * 200_000,
    "brackets": '{"a":' + "[" * 300_000,
    "backslashes": '{"a":"' + "\\" * 300_001,
    "space": '{"a":' + " " * 300_000,
    "commas": "{" + "," * 300_000,
    "lines": "{" + "//\n" * 200_000,
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_read_in_linear_time(text: str) -> None:
    start = time.process_time()
    assert measure_depth(blank_comments(text)) <= 300_001
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1,}', "isn't valid JSON: an extra comma"),
        ('{"a": [1, ]}', "isn't valid JSON: an extra comma"),
        ('{"a": 1, // b\n}', "isn't valid JSON: a comment"),
        ('{"a" 1}', "isn't valid JSON: expecting ':' delimiter"),
        ('{"a": 1', "is truncated"),
        (" \n", "is empty"),
        ('{"a": 1} {}', "more than one object"),
        ('{"a": 1,\n=======\n}', "unfinished merge"),
        ('{"a": 1,\n||||||| base\n}', "unfinished merge"),
    ],
)
def test_what_is_no_json_is_explained(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        json.loads(text)
    assert message in explain_breakage(raised.value, text, "it").message

"""errors.json as text: read in every format, told where it is wrong, and edited without a change to the rest."""

import inspect
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from remit.errorlog.document import (
    DIAGNOSTICS,
    add_entries,
    mark_entry,
    parse_document,
    remove_entries,
    render_new,
    set_date,
)
from remit.storage.json_edit import apply
from tests.support.error_samples import FOREIGN, NOW, make_entry

NEW = {"id": "err_9", "message": "ä \u2028 new", "context": {"task_number": 9}}


def add(text: str, *entries: dict[str, Any]) -> str:
    return apply(text, add_entries(parse_document(text), entries))


# Reading


def test_entries_are_found_with_their_places() -> None:
    document = parse_document(FOREIGN)
    (item,) = document.items
    assert item.value["id"] == "err_1736969700000"
    assert FOREIGN[item.start] == "{"
    assert FOREIGN[item.end - 1] == "}"
    assert document.start is not None
    assert FOREIGN[document.start] == "["
    dated = apply(FOREIGN, set_date(document, NOW))
    assert dated == FOREIGN.replace('"2026-01-15T18:35:00Z",\n  "_comment', f'"{NOW}",\n  "_comment')
    assert set_date(parse_document("[]"), NOW) == set_date(parse_document('{"errors": []}'), NOW) == []
    assert (document.diagnostics, document.broken) == ((), False)


@pytest.mark.parametrize(
    ("text", "count"),
    [("[]", 0), ('[{"id": "a"}, {"id": "b"}]', 2), ("{}", 0), ('{"errors": null}', 0), ('\ufeff{"errors": [{}]}', 1),
     ('{"$schema": "x", "properties": {"errors": {"type": "array"}}}', 0), (' \n{"errors" : [ ] }\n', 0)],
)  # fmt: skip
def test_every_dialect_is_read(text: str, count: int) -> None:
    document = parse_document(text)
    assert (len(document.items), document.diagnostics, document.broken) == (count, (), False)


@pytest.mark.parametrize(
    ("text", "code", "message", "line"),
    [
        ("", "ERR001", "is empty", None),
        (" \n", "ERR001", "is empty", None),
        (FOREIGN[:200], "ERR001", "is truncated", 8),
        (FOREIGN[:-6], "ERR001", "is truncated", 15),
        (FOREIGN + FOREIGN, "ERR001", "more than one object", 17),
        (FOREIGN.replace('"type"', "'type'"), "ERR001", "isn't valid JSON", 9),
        (FOREIGN.replace("  ],", "<<<<<<< HEAD\n  ],\n=======\n  ],\n>>>>>>> other"), "ERR001", "unfinished merge", 14),
        ("[" * 100_000, "ERR001", "nested too deeply", None),
        ('"text"', "ERR002", "neither an object nor a list", 1),
        ("17", "ERR002", "neither an object nor a list", 1),
        ('{\n"errors": {"err_1": {"message": "x"}}}', "ERR002", "errors isn't a list", 2),
        ('{"errors": [],\n"errors": []}', "ERR004", "duplicate key", 2),
    ],
)
def test_a_broken_file_is_told_with_its_place(text: str, code: str, message: str, line: int | None) -> None:
    document = parse_document(text)
    (finding,) = document.diagnostics
    assert (finding.code, document.broken) == (code, True)
    assert message in finding.message
    assert finding.hint
    assert (finding.place.line if finding.place else None) == line


def test_an_entry_that_is_no_object_is_told_and_left_where_it_is() -> None:
    text = '{"errors": [\n"odd",\n{"id": "a"}]}'
    document = parse_document(text)
    assert [(finding.code, finding.place.line if finding.place else 0) for finding in document.diagnostics] == [
        ("ERR003", 2)
    ]
    assert not document.broken
    assert '"odd"' in add(text, NEW)


def test_a_number_that_python_does_not_read_spoils_nothing() -> None:
    document = parse_document(f'{{"errors": [{{"id": "a", "n": {"9" * 5000}}}]}}')
    assert (len(document.items), document.diagnostics) == (1, ())


@pytest.mark.parametrize("code", DIAGNOSTICS)
def test_every_finding_is_explained(code: str) -> None:
    text = inspect.getdoc(DIAGNOSTICS[code][0]) or ""
    assert all(f"\n{word}: " in text for word in ("Why", "Bad", "Good"))


# Adding


def test_an_entry_is_added_in_the_manner_of_the_file_and_nothing_else_changes() -> None:
    text = add(FOREIGN, NEW)
    (old,) = parse_document(FOREIGN).items
    assert text.startswith(FOREIGN[: old.end])
    assert text.endswith(FOREIGN[old.end :])
    assert text[old.end : len(text) - len(FOREIGN) + old.end] == snapshot(
        ",\n    {\n"
        '      "id": "err_9",\n'
        '      "message": "ä \u2028 new",\n'
        '      "context": {\n'
        '        "task_number": 9\n'
        "      }\n"
        "    }"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[]", '[\n  {\n    "id": "x"\n  }\n]'),
        ('[ {"id": "a"} ]', '[ {"id": "a"}, {"id": "x"} ]'),
        ('[{"id":"a"}]\n', '[{"id":"a"}, {"id": "x"}]\n'),
        ("{}", '{\n  "errors": [\n    {\n      "id": "x"\n    }\n  ]\n}'),
        ('{"a":1}', '{"a":1, "errors":[{"id": "x"}]}'),
        ('{"errors":[]}', '{"errors":[{"id": "x"}]}'),
        ('{"errors":null,"b":2}', '{"errors":[{"id":"x"}],"b":2}'),
        ('{\n\t"errors": []\n}\n', '{\n\t"errors": [\n\t\t{\n\t\t\t"id": "x"\n\t\t}\n\t]\n}\n'),
        ('{\r\n "a": 1\r\n}', '{\r\n "a": 1,\r\n "errors": [\r\n  {\r\n   "id": "x"\r\n  }\r\n ]\r\n}'),
        ('{\n "errors": [\n  {"id": "a"}\n ]\n}', '{\n "errors": [\n  {"id": "a"},\n  {"id": "x"}\n ]\n}'),
        ('{\n  "errors": [{"id": "a"}]\n}', '{\n  "errors": [{"id": "a"}, {"id": "x"}]\n}'),
        ("{\n}", '{\n  "errors": [\n    {\n      "id": "x"\n    }\n  ]\n}'),
    ],
)  # fmt: skip
def test_every_layout_is_kept(before: str, after: str) -> None:
    assert add(before, {"id": "x"}) == after


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(
    st.dictionaries(st.text(max_size=3), JSON, max_size=3),
    st.none() | st.lists(JSON, max_size=4),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.lists(st.dictionaries(st.text(max_size=3), JSON, max_size=3), min_size=1, max_size=3),
)
def test_to_add_is_to_append_and_nothing_else(
    rest: dict[str, Any], errors: list[Any] | None, indent: int | str | None, entries: list[dict[str, Any]]
) -> None:
    """Read after an edit, the file says what it said before and the new entries."""
    value = rest | ({} if errors is None else {"errors": errors})
    if not isinstance(value.get("errors", []), list):
        value["errors"] = []
    text = add(json.dumps(value, indent=indent), *entries)
    assert json.loads(text) == value | {"errors": [*value.get("errors", []), *entries]}


def test_a_new_file_is_one() -> None:
    assert json.loads(render_new(NOW)) == {"_schema_version": "2.0.0", "_last_updated": NOW, "errors": []}
    assert json.loads(add(render_new(NOW), NEW))["errors"] == [NEW]
    entries = [{"id": "a"}, {"id": "\ud800"}]
    assert json.loads(render_new(NOW, {"b": 1}, entries).encode()) == {"b": 1, "errors": entries}


# Marking and removing


def test_a_member_is_set_where_it_stands_or_added_behind_the_last() -> None:
    (item,) = parse_document(FOREIGN).items
    text = apply(FOREIGN, mark_entry(FOREIGN, item, {"fix_status": "fixed", "fixed_date": NOW, "never": None}))
    before, after = FOREIGN.split('"unfixed"')
    assert text == f'{before}"fixed",\n      "fixed_date": "{NOW}"{after}'
    (again,) = parse_document(text).items
    assert mark_entry(text, again, {"fix_status": "fixed", "fixed_date": NOW, "never": None}) == []
    assert apply(text, mark_entry(text, again, {"fixed_date": None})) == text.replace(f'"{NOW}"', "null")


@given(st.sets(st.integers(0, 5)), st.sampled_from([None, 2]))
def test_entries_are_removed_and_the_last_stays(places: set[int], indent: int | None) -> None:
    entries = [make_entry(number) for number in range(6)]
    text = json.dumps({"errors": entries, "b": 1}, indent=indent)
    left = json.loads(apply(text, remove_entries(parse_document(text), places)))
    assert left == {"errors": [each for place, each in enumerate(entries) if place not in places or place == 5], "b": 1}

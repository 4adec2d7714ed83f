"""Schemas of `data`: what is a schema, and which places of a value break it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from remit.data_schema import MAX_BYTES, DataSchema, parse_schema
from remit.errors import InputError

REVIEW = {
    "type": "object",
    "required": ["verdict", "places"],
    "additionalProperties": False,
    "properties": {
        "verdict": {"enum": ["good", "bad"]},
        "places": {"type": "array", "items": {"type": "string", "format": "file-line"}},
        "a/b~c": {"type": "integer"},
    },
}


def list_problems(data: Any, schema: dict[str, Any] = REVIEW) -> list[tuple[str, str]]:  # noqa: ANN401 - JSON
    formats = {"file-line": lambda text: text == "src/a.py:1"}
    return [(each.pointer, each.message) for each in DataSchema(schema, formats=formats).find_problems(data)]


def test_valid_data_has_no_problem() -> None:
    assert list_problems({"verdict": "good", "places": ["src/a.py:1"]}) == []


def test_each_problem_has_its_json_pointer() -> None:
    found = list_problems({"verdict": "fine", "places": ["src/a.py:1", "src/a.py:99"], "a/b~c": "x"})
    assert sorted(pointer for pointer, _ in found) == ["/data/a~1b~0c", "/data/places/1", "/data/verdict"]


def test_the_number_and_length_of_problems_are_limited() -> None:
    found = list_problems({"verdict": "good", "places": list(range(1000)), "x" * 5000: 1})
    assert len(found) == 20
    assert all(len(message) <= 310 for _, message in found)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "isn't a JSON object"),
        ("{", "isn't valid JSON"),
        ('{"$schema": "http://json-schema.org/draft-07/schema#"}', "another draft"),
        ('{"$schema": 7}', "another draft"),
        (json.dumps({"description": "x" * MAX_BYTES}), "larger than"),
        ("[" * 100_000, "isn't valid JSON"),
    ],
)
def test_what_is_no_schema_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_schema(text)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nope"},
        {"pattern": "(a+"},
        {"$ref": "https://example.com/other.json"},
        {"$ref": "file:///etc/passwd"},
        {"properties": {"a": 1}},
    ],
)
def test_an_invalid_schema_is_refused_with_its_reason(schema: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="isn't a JSON Schema"):
        DataSchema(schema)


def test_a_schema_that_is_nested_too_deep_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(200):
        schema = {"not": schema}
    with pytest.raises(InputError, match="nested deeper"):
        DataSchema(schema)


def test_a_pattern_of_a_hostile_schema_takes_linear_time() -> None:
    assert list_problems("a" * 100_000 + "!", {"type": "string", "pattern": "^(a+)+$"})


def test_a_schema_whose_references_unfold_exponentially_is_refused() -> None:
    twice = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)}
    with pytest.raises(InputError, match="unfold"):
        DataSchema({"$ref": "#/$defs/a0", "$defs": {**twice, "a40": {"type": "integer"}}})
    chain = {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(2000)}
    with pytest.raises(InputError, match="unfold"):
        DataSchema({"$ref": "#/$defs/a0", "$defs": {**chain, "a2000": {"type": "integer"}}})


def test_a_schema_may_refer_to_itself() -> None:
    tree = {"type": "object", "properties": {"inner": {"$ref": "#"}, "name": {"type": "string"}}}
    assert list_problems({"inner": {"inner": {"name": "x"}}}, tree) == []
    assert [pointer for pointer, _ in list_problems({"inner": {"inner": {"name": 1}}}, tree)] == [
        "/data/inner/inner/name"
    ]
    assert list_problems({"n": {"n": 1}}, {"$dynamicAnchor": "t", "additionalProperties": {"$dynamicRef": "#t"}}) == []


def test_text_that_is_no_unicode_is_a_problem_and_no_crash() -> None:
    [(pointer, message)] = list_problems({"a": "\ud800"}, {"properties": {"a": {"type": "string", "pattern": "^x$"}}})
    assert pointer == "/data"
    assert "Unicode" in message


def test_data_with_very_many_problems_is_refused_at_once() -> None:
    schema = {"type": "array", "items": {"type": "string"}}
    began = time.perf_counter()
    assert [pointer for pointer, _ in list_problems(list(range(300_000)), schema)] == ["/data/0"]
    assert time.perf_counter() - began < 2


def test_ten_kilobytes_are_checked_within_a_millisecond() -> None:
    item = {"path": "src/cache.py", "line": 12, "text": "The lock is released before the write has ended."}
    data = {"items": [item] * 110}
    assert len(json.dumps(data)) > 10_000
    parts = {
        "path": {"type": "string", "pattern": "^[a-z/.]+$"},
        "line": {"type": "integer"},
        "text": {"maxLength": 99},
    }
    schema = DataSchema({"properties": {"items": {"items": {"properties": parts, "required": ["path", "line"]}}}})
    times = []
    for _ in range(20):
        began = time.perf_counter()
        assert list(schema.find_problems(data)) == []
        times.append(time.perf_counter() - began)
    assert min(times) < 0.001

"""Shapes: the diagnostics and the JSON Schema agree on every value."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from remit.returns.formats import FORMATS, HYPER, STANDARD, render_schema
from remit.returns.parsed_message import ParsedMessage
from remit.returns.rules import run_return_rules
from remit.returns.shapes import (
    AnyShape,
    FlagShape,
    ListShape,
    NumberShape,
    ObjectShape,
    PathShape,
    Shape,
    TextListShape,
    TextShape,
    WordShape,
    find_escape,
    name_field,
    name_type,
)
from tests.support.return_samples import DROP, FORM_RULES, ISSUED, Changes, entry, hyper, standard, stopped

ANY_TYPE: list[Any] = [None, True, 3, 0.5, "text", [], {}]
SHAPES: dict[str, tuple[Shape, list[Any], list[Any]]] = {
    "text": (TextShape(), ["a", " a", "x" * 999], [None, 1, "", " \n", ["a"]]),
    "short text": (TextShape(max_chars=3), ["abc", "äöü"], ["abcd", ""]),
    "path": (
        PathShape(),
        ["a.md", "docs/a b.md", "..a/b..c", "a/...", "\u00fc.md", "C/d", "a~b", ".hidden"],
        ["/etc/passwd", "../a", "a/../b", "a/..", "..", "~/a", "~", "C:\\a", "C:a", "file:///a", "\\a", "a\\..\\b",
         "a\x00b", "a\nb", "a\n", "a\x7fb", "a\u202eb", "a\u2066", " ", "", None, 3],
    ),
    "word": (WordShape(("one", "two")), ["one", "two"], ["One", "one ", "", "three", None, 1, True]),
    "flag": (FlagShape(), [True, False], [0, 1, "true", None]),
    "number": (NumberShape(), [0, 1, 0.5, 1e300, 10**30], [-1, -0.1, True, "1", None]),
    "whole number": (NumberShape(whole=True), [0, 7, 10**30], [-1, 0.5, False, "1", None]),
    "anything": (AnyShape(), ANY_TYPE, []),
    "list": (ListShape(TextShape()), [[], ["a"], ["a", "b"]], [None, "a", {}, [""], ["a", 1]]),
    "text or list": (TextListShape(), ["", "a", None, [], ["a", ""]], [1, {}, [1], ["a", None], True]),
    "record": (
        ObjectShape(required={"a": TextShape()}, expected={"b": FlagShape()}, optional={"c": NumberShape()}),
        [{"a": "x"}, {"a": "x", "b": True, "c": 1}, {"a": "x", "d": None}],
        [None, [], {}, {"a": ""}, {"a": "x", "b": 1}, {"a": "x", "c": "1"}, {"a": None}],
    ),
}  # fmt: skip
GOOD = [pytest.param(name, value, id=f"{name} {value!r:.20}") for name in SHAPES for value in SHAPES[name][1]]
BAD = [pytest.param(name, value, id=f"{name} {value!r:.20}") for name in SHAPES for value in SHAPES[name][2]]


def has_errors(shape: Shape, value: object) -> bool:
    return any(problem.kind != "expected" for problem in shape.problems(value, ""))


@pytest.mark.parametrize(("name", "value"), GOOD)
def test_a_good_value_fits_by_reason_and_schema(name: str, value: object) -> None:
    shape = SHAPES[name][0]
    assert not has_errors(shape, value)
    assert Draft202012Validator(shape.to_json_schema()).is_valid(value)


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_bad_value_fits_neither(name: str, value: object) -> None:
    """C16: no coercion; true is not 1 and "1" is not 1."""
    shape = SHAPES[name][0]
    assert has_errors(shape, value)
    assert not Draft202012Validator(shape.to_json_schema()).is_valid(value)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), float("-inf"), 10**400, -(10**400)],
    ids=["nan", "inf", "-inf", "huge", "-huge"],
)
def test_a_number_of_any_size_gets_an_answer(value: float) -> None:
    """R0.1: what is not finite is refused; a large integer is a number like any other."""
    expected = not (isinstance(value, int) and value > 0)
    assert has_errors(NumberShape(), value) is expected


@pytest.mark.parametrize(
    ("path", "how"),
    [
        ("/etc/passwd", "absolute"),
        ("\\\\server\\share", "absolute"),
        ("~root/a", "home folder"),
        ("c:\\a", "drive letter or a URL scheme"),
        ("https://a/b", "drive letter or a URL scheme"),
        ("a/b/../c", "leaves the project"),
        ("a\\..\\c", "leaves the project"),
        ("a\tb", "control characters"),
        ("a\u202eb", "control characters"),
    ],
)
def test_every_way_out_of_the_project_is_named(path: str, how: str) -> None:
    """R0.6 R3.3: relative to the root, and inside it whatever it is resolved against."""
    told = find_escape(path)
    assert told is not None
    assert how in told


def test_problems_are_told_in_words() -> None:
    assert name_type(True) == "true or false"  # noqa: FBT003 - the value is on trial
    assert name_type(()) == "tuple"
    assert name_field("/artifacts/0") == "artifacts[0]"
    assert name_field("/metadata/agent_type") == "agent_type"
    assert name_field("") == "the return"


def test_problems_carry_the_pointer_of_the_value() -> None:
    shape = ObjectShape(required={"rows": ListShape(ObjectShape(required={"n": NumberShape()}))})
    problems = list(shape.problems({"rows": [{"n": 1}, {"n": "2"}, {}]}, ""))
    assert [(problem.kind, problem.pointer) for problem in problems] == [
        ("type", "/rows/1/n"),
        ("missing", "/rows/2/n"),
    ]


# The published schemas


@pytest.mark.parametrize("name", FORMATS)
def test_a_schema_is_valid_named_and_versioned(name: str) -> None:
    schema = render_schema(FORMATS[name])
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:remit:schema:{name}:1"
    assert schema["title"]
    assert schema["required"] == list(FORMATS[name].shape.required)


def test_a_clean_return_fits_its_schema() -> None:
    for name, payload in (("standard", standard()), ("hyper", hyper()), ("manifest", entry())):
        Draft202012Validator(render_schema(FORMATS[name])).validate(payload)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"/session_id": ISSUED, "/metadata/session_id": DROP},
        {"/metadata/session_id": DROP},
        {"/errors": DROP},
        {"/errors": None},
        {"/status": "failed"},
        {"/status": "failed", "/errors": stopped()["errors"]},
        {"/errors": stopped()["errors"]},
        {"/summary": "x" * 501},
        {"/metadata/phase_count": "three"},
        {"/next_steps": None},
        {"/artifacts/0/path": "a\u202eb"},
        {"/error": "It broke"},
        {"/error": None},
    ],
)
def test_the_standard_schema_agrees_with_the_rules(changes: Changes) -> None:
    """R0.9 R2.8 C2: other programs come to the same verdict on the form."""
    _compare("standard", standard(changes))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"/meta/status": "error"},
        {"/meta/status": "error", "/error": {"code": "E", "message": "m"}},
        {"/meta/status": "partial", "/error": {"code": "E", "message": "m"}},
        {"/error": {"code": "E", "message": "m"}},
        {"/meta/status": "partial"},
        {"/meta/status": "partial", "/next_steps": []},
        {"/next_steps": []},
        {"/error": None},
        {"/next_steps": "Run it"},
    ],
)
def test_the_hyper_schema_agrees_with_the_rules(changes: Changes) -> None:
    """R3.5: an error where the status says so; a partial may have one."""
    _compare("hyper", hyper(changes))


def _compare(name: str, payload: dict[str, Any]) -> None:
    return_format = {"standard": STANDARD, "hyper": HYPER}[name]
    findings = run_return_rules(ParsedMessage("", return_format, payload), places=False)
    errors = [finding for finding in findings if finding.severity == "error" and finding.code in FORM_RULES]
    assert Draft202012Validator(render_schema(return_format)).is_valid(payload) is not bool(errors), errors

"""Laws that hold for every return, however it is spelled, damaged or cut."""

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from bench.messages import same
from remit import check
from remit.returns import check as check_values
from remit.returns.formats import FORMATS, HYPER, MANIFEST, STANDARD, Format, render_schema
from remit.returns.formats.manifest import SENTENCES
from remit.returns.parsed_message import ParsedMessage
from remit.returns.placeholders import find_placeholders
from remit.returns.rules import run_return_rules
from remit.returns.tolerant_json import UnreadableError, parse_object
from tests.support.return_samples import FORM_RULES, ISSUED, Payload, fenced, hyper, pretty, standard, stopped
from tests.support.return_strategies import (
    damaged,
    entries,
    fragments,
    hypers,
    json_objects,
    mutants,
    renderings,
    standards,
)
from tests.support.sample_sizes import choose

LAW = settings(
    max_examples=min(60, settings().max_examples),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
"""Every run draws the same examples, `make test-all` more of them; `make fuzz` looks for new ones."""

RIGHT: dict[str, st.SearchStrategy[Payload]] = {"standard": standards(), "hyper": hypers(), "manifest": entries()}
MESSAGES = {name: RIGHT[name] for name in ("standard", "hyper")}
BY_DIALECT = pytest.mark.parametrize("name", RIGHT)
BY_MESSAGE = pytest.mark.parametrize("name", MESSAGES)


# Reading and writing


@BY_DIALECT
@LAW
@given(data=st.data())
def test_reading_and_writing_is_identity(name: str, data: st.DataObject) -> None:
    """C2 C3 C6: within a format nothing is lost, not even a spelling that means nothing."""
    payload = data.draw(RIGHT[name])
    before = json.dumps(payload)
    written = FORMATS[name].write(FORMATS[name].read(payload))
    assert same(written, payload)
    assert json.dumps(payload) == before


@BY_MESSAGE
@LAW
@given(data=st.data())
def test_a_right_return_is_accepted_as_it_is(name: str, data: st.DataObject) -> None:
    """R0 R3: bare or fenced, in any spelling of JSON, the payload comes back untouched."""
    payload = data.draw(MESSAGES[name])
    text = data.draw(renderings)(payload)
    for message in (text, fenced(text), text.encode()):
        verdict = check(message, format=name, session_id=ISSUED)
        assert verdict.name == "accepted", verdict.diagnostics
        assert same(verdict.payload, payload)
        assert verdict.returned is not None


# Repair


@LAW
@given(value=json_objects, render=renderings)
def test_repair_never_touches_what_parses(value: Payload, render: Any) -> None:  # noqa: ANN401 - a function of json
    """R0.1: text that is JSON is an alias of JSON reads it."""
    text = render(value)
    parsed = parse_object(text, 0)
    assert same(parsed.value, json.loads(text))
    assert (parsed.repairs, parsed.flaws, parsed.end) == ({}, [], len(text))


@LAW
@given(value=json_objects, data=st.data())
def test_repair_is_idempotent(value: Payload, data: st.DataObject) -> None:
    """R0.1: what was repaired once needs no repair again."""
    text = data.draw(damaged(data.draw(renderings)(value)))
    assume(text.startswith("{"))
    try:
        parsed = parse_object(text, 0)
    except UnreadableError:
        return
    assume(not parsed.flaws)
    again = parse_object(json.dumps(parsed.value), 0)
    assert same(again.value, parsed.value)
    assert (again.repairs, again.flaws) == ({}, [])


def _required(name: str) -> st.SearchStrategy[str]:
    return st.sampled_from(list(FORMATS[name].shape.required))


@BY_MESSAGE
@LAW
@given(data=st.data())
def test_repair_never_invents_a_required_field(name: str, data: st.DataObject) -> None:
    """R0.2: without one of them, no damage makes a return of it."""
    payload = data.draw(MESSAGES[name])
    missing = data.draw(_required(name))
    del payload[missing]
    assume(f'"{missing}"' not in json.dumps(payload))
    text = data.draw(damaged(data.draw(renderings)(payload)))
    assert not check(text, format=name).accepted


@BY_MESSAGE
@LAW
@given(data=st.data())
def test_every_text_of_an_accepted_return_stands_in_the_message(name: str, data: st.DataObject) -> None:
    """R0.1: a repairer that guesses turns prose into data; this one only reads."""
    text = data.draw(damaged(data.draw(renderings)(data.draw(MESSAGES[name]))))
    verdict = check(text, format=name)
    if verdict.accepted and not any(repair.kind in ("json_string", "escaped", "html") for repair in verdict.repairs):
        plain = _plain(re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _unescape, text, flags=re.DOTALL))
        assert all(_plain(each) in plain for each in _texts(verdict.payload))


@LAW
@given(value=json_objects, data=st.data())
def test_every_number_and_literal_of_a_repaired_object_stands_in_the_text(value: Payload, data: st.DataObject) -> None:
    """A repair reads what is written; it adds no value."""
    text = data.draw(damaged(json.dumps(value)))
    try:
        parsed = parse_object(text, text.index("{")) if "{" in text else None
    except UnreadableError:
        return
    written = text.lower().replace("_", "")
    for number in _scalars(parsed.value if parsed else {}):
        if isinstance(number, bool) or number is None:
            assert str(number).lower() in written or "null" in written or "undefined" in written or "..." in written
        elif number == number:  # noqa: PLR0124 - NaN is a flaw
            assert re.sub(r"\D", "", repr(abs(number)).partition("e")[0])[:6].strip("0") in re.sub(
                r"[^0-9a-f]", "", written
            )


def _scalars(value: object) -> list[Any]:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [scalar for each in inner for scalar in _scalars(each)]
    return [] if isinstance(value, str) else [value]


@pytest.mark.parametrize(
    "path", [r"docs\notes\read.md", r"src\util\x.py", "a b/c.md", r"src\bin\file.rs", "ü/ß.md", r"d\q\z.md"]
)
@pytest.mark.parametrize("escaped", [False, True])
def test_a_repaired_path_is_the_path_that_was_written(path: str, *, escaped: bool) -> None:
    """A backslash that starts no escape of JSON is kept; one that does can't be told from an escape."""
    written = path.replace("\\", "\\\\") if escaped else path
    parsed = parse_object('{"path": "' + written + '",}', 0)
    read = parsed.value["path"]
    control = {"\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
    assert "".join(control.get(char, char) for char in read) == path


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(text for inner in value.values() for text in _texts(inner))]
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    return [value] if isinstance(value, str) else []


def _plain(text: str) -> str:
    """The plain letters and digits of a text: what no escape, quote, joint or replaced surrogate can change."""
    return re.sub(r"[^A-Za-z0-9]", "", text)


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else "" if code in "bfnrt" else code


# The schema


VALIDATORS = {name: Draft202012Validator(render_schema(return_format)) for name, return_format in FORMATS.items()}


@BY_DIALECT
@LAW
@given(data=st.data())
def test_schema_and_rules_agree_on_the_form(name: str, data: st.DataObject) -> None:
    """R0 R3.1 R4.7: other programs can check with the schema alone, the session id at either place."""
    payload = data.draw(RIGHT[name] | mutants(RIGHT[name]))
    assume(not _has_whole_float(payload, FORMATS[name]))
    findings = run_return_rules(ParsedMessage("", FORMATS[name], payload), places=False)
    errors = [finding for finding in findings if finding.severity == "error" and finding.code in FORM_RULES]
    problems = [error.message for error in VALIDATORS[name].iter_errors(payload)]
    assert bool(errors) is bool(problems), (errors, problems)


def _has_whole_float(payload: Payload, return_format: Format) -> bool:
    """1.0 is an integer to JSON Schema and none to Remit, which does not coerce; no schema can say that."""
    metadata = payload.get("metadata") if return_format is STANDARD else None
    depth = metadata.get("delegation_depth") if isinstance(metadata, dict) else None
    return isinstance(depth, float) and depth.is_integer()


# Truncation


@pytest.mark.parametrize(
    "payload",
    [standard({"/next_steps": "Run it"}), stopped("partial"), hyper({"/meta/status": "partial"})],
    ids=["completed", "partial", "hyper"],
)
@pytest.mark.parametrize("form", ["{}", "Done.\n\n```json\n{}\n```\n"], ids=["bare", "fenced"])
def test_no_prefix_is_accepted_unless_all_that_decides_was_said(payload: Payload, form: str) -> None:
    """R0.2: a message that was cut off is never taken for less than it was."""
    text = form.replace("{}", pretty(payload))
    _check_prefixes(text, payload, range(len(text)))


@pytest.mark.slow
@settings(LAW, max_examples=choose(10, 25))
@BY_MESSAGE
@given(data=st.data())
@pytest.mark.thorough
def test_no_prefix_of_any_return_is_accepted_for_less(name: str, data: st.DataObject) -> None:
    """R0.2: the same for every return that can be drawn, with its keys in any order."""
    payload = data.draw(MESSAGES[name])
    text = data.draw(renderings)(payload)
    step = max(1, len(text) // 150)
    _check_prefixes(text, payload, range(data.draw(st.integers(0, step - 1)), len(text), step))


def _check_prefixes(text: str, payload: Payload, ends: range) -> None:
    return_format = HYPER if "meta" in payload else STANDARD
    decides = [key for key in return_format.essential if key in payload and key != "session_id"]
    for end in ends:
        verdict = check(text[:end])
        if verdict.accepted:
            assert verdict.payload is not None
            left = [key for key in decides if not same(verdict.payload.get(key), payload[key])]
            # An empty list of errors that was never reached says no more than a completed status does.
            assert not [key for key in left if not (key == "errors" and payload[key] == [])], text[:end]


# Anything at all


def _ask_everything(message: str | bytes, session_id: str | None = None) -> None:
    for name in (None, *FORMATS):
        verdict = check(message, format=name, session_id=session_id)
        assert verdict.accepted is (verdict.returned is not None)
        assert verdict.accepted is not any(finding.severity == "error" for finding in verdict.diagnostics)
        assert isinstance(verdict.repairs, tuple)
        assert repr(verdict)


@LAW
@given(text=st.text())
def test_no_text_raises(text: str) -> None:
    """C16: a bad message is a finding, never an exception."""
    _ask_everything(text)


@LAW
@given(message=st.binary())
def test_no_bytes_raise(message: bytes) -> None:
    """C16: nor does what is no text at all."""
    _ask_everything(message)


@settings(LAW, max_examples=choose(40, 200))
@given(text=fragments)
def test_no_heap_of_fragments_raises(text: str) -> None:
    """C16: nor does anything made of what returns are made of."""
    _ask_everything(text, ISSUED)


@BY_MESSAGE
@LAW
@given(data=st.data())
def test_no_damaged_return_raises(name: str, data: st.DataObject) -> None:
    """C16: nor does a return in which characters went missing."""
    text = data.draw(renderings)(data.draw(MESSAGES[name] | mutants(MESSAGES[name])))
    _ask_everything(data.draw(damaged(text)), ISSUED)


@pytest.mark.slow
@settings(LAW, max_examples=choose(800, 3_000))
@given(text=fragments)
@pytest.mark.thorough
def test_no_heap_of_fragments_raises_for_long(text: str) -> None:
    """C16: the same, for longer."""
    _ask_everything(text, ISSUED)


@LAW
@given(payload=mutants(entries()))
def test_an_accepted_manifest_entry_can_be_read(payload: Payload) -> None:
    """R4.7: whatever stands in the last line."""
    for text in SENTENCES.values():
        verdict = check_values(text, manifest_tail=json.dumps(payload))
        assert verdict.accepted is (verdict.returned is not None)
        if verdict.accepted:
            assert list(find_placeholders(payload, MANIFEST.shape)) == []

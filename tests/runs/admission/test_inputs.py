"""Inputs: what is missing, forbidden, unknown or of another type is told before anything is started (R1.10, R1.11)."""

from __future__ import annotations

import time

import pytest
from inline_snapshot import snapshot

from remit.agents.inputs import Inputs, Parameter
from remit.runs.admission.inputs import DIAGNOSTICS, MAX_BYTES, MAX_GIVEN, check_inputs, fill_inputs

USUAL = Inputs(
    (
        Parameter("task_number", "integer"),
        Parameter("session_id", "string"),
        Parameter("delegation_depth", "integer"),
        Parameter("delegation_path", "array"),
        Parameter("language", "string", optional=True),
        Parameter("timeout", "integer", optional=True),
    ),
    ("conversation_history", "full_system_state"),
)


def codes(inputs: Inputs, given: dict[str, str], *, task_number: int | None = None) -> list[str]:
    answers = {} if task_number is None else {"task_number": str(task_number)}
    return [finding.code for finding in check_inputs(inputs, given, answers=answers)]


def take(kind: str) -> Inputs:
    return Inputs((Parameter("x", kind),))


def test_what_is_required_has_to_be_given() -> None:
    """R1.10: Remit fills in what it knows itself, and what the task says."""
    (finding,) = check_inputs(USUAL, {})
    assert (finding.code, finding.severity, finding.pointer) == ("INP001", "error", "/inputs/task_number")
    assert "--task N; remit task new makes one" in finding.hint
    assert "remit task research N" in finding.hint
    assert codes(USUAL, {"task_number": "12"}) == []
    assert codes(USUAL, {}, task_number=12) == []


@pytest.mark.parametrize("name", ["conversation_history", "Conversation-History", "conversation history"])
def test_a_forbidden_input_is_refused_in_any_spelling(name: str) -> None:
    """R1.11."""
    (finding,) = check_inputs(USUAL, {"task_number": "1", name: "all of it"})
    assert (finding.code, finding.severity) == ("INP002", "error")
    assert "all of it" not in finding.message


def test_an_unknown_name_is_told_with_the_one_that_was_meant() -> None:
    finding = next(each for each in check_inputs(USUAL, {"task_nummber": "1"}) if each.code == "INP003")
    assert finding.severity == "warning"
    assert finding.hint == snapshot("Did you mean 'task_number'?")
    (other,) = check_inputs(USUAL, {"task_number": "1", "zzz": "1"})
    assert other.hint == snapshot("Available: task_number, language.")


def test_a_file_that_names_no_inputs_takes_any() -> None:
    assert codes(Inputs(), {"anything": "goes"}) == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [("integer", "12"), ("integer", "-3"), ("integer", " 7 "), ("number", "1.5"), ("number", "2e3"), ("number", "7"),
     ("boolean", "true"), ("boolean", "False"), ("array", '["a", 1]'), ("array", "[]"), ("object", '{"a": [1]}'),
     ("string", "12"), ("string", "any\ntext"), ("", "{")],
)  # fmt: skip
def test_a_value_that_fits_is_taken(kind: str, value: str) -> None:
    assert codes(take(kind), {"x": value}) == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [("integer", "twelve"), ("integer", "1.5"), ("integer", "12\n13"), ("integer", "١٢"), ("integer", ""),
     ("number", "NaN"), ("number", "inf"), ("number", "1,5"), ("boolean", "yes"), ("boolean", "1"), ("array", "a, b"),
     ("array", '{"a": 1}'), ("array", "[NaN]"), ("array", "[" * 100_000), ("array", "[1"), ("object", "[1]"),
     ("object", '{"a": 1, "a": 2}'), ("string", ""), ("string", "  "), ("array", "[" * 70 + "]" * 70)],
)  # fmt: skip
def test_a_value_of_another_type_is_refused(kind: str, value: str) -> None:
    (finding,) = check_inputs(take(kind), {"x": value})
    assert (finding.code, finding.severity) == ("INP004", "error")
    assert len(finding.message) < 300
    assert finding.message.isprintable()


def test_an_optional_input_may_be_empty_text() -> None:
    assert codes(Inputs((Parameter("x", "string", optional=True),)), {"x": ""}) == []


@pytest.mark.parametrize("name", ["session_id", "delegation_depth", "delegation_path", "timeout"])
def test_nobody_gives_what_the_ledger_knows(name: str) -> None:
    """R1.26, R2.1: lineage is looked up, never taken from a caller."""
    assert codes(USUAL, {"task_number": "1", name: "0"}) == ["INP005"]
    assert codes(Inputs(), {name: "0"}) == ["INP005"]


def test_the_task_that_is_worked_on_is_not_contradicted() -> None:
    assert codes(USUAL, {"task_number": "13"}, task_number=12) == ["INP005"]
    assert codes(USUAL, {"task_number": " 12 "}, task_number=12) == []
    assert codes(Inputs((Parameter("topic", "string"),)), {"topic": "a", "task_number": "12"}, task_number=12) == []


def test_what_is_too_large_or_too_many_is_refused() -> None:
    assert codes(take("string"), {"x": "é" * (MAX_BYTES // 2)}) == []
    assert codes(take("string"), {"x": "é" * (MAX_BYTES // 2 + 1)}) == ["INP006"]
    assert codes(Inputs(), {f"x{at}": "1" for at in range(MAX_GIVEN + 1)}) == ["INP007"]


def test_errors_come_first() -> None:
    found = check_inputs(USUAL, {"zzz": "1", "conversation_history": "…"}, answers={"task_number": "1"})
    assert [finding.severity for finding in found] == ["error", "warning"]


def test_a_hostile_name_does_no_harm() -> None:
    names = {"\x1b[2J" + "a" * 10_000: "1", "a/b~c": "2", "\ud800": "3"}
    for finding in check_inputs(Inputs((Parameter("\u202etopic", "string", optional=True),)), names):
        assert finding.message.isprintable()
        assert finding.hint.isprintable()


def test_the_time_is_linear() -> None:
    started = time.process_time()
    check_inputs(take("array"), {"x": "[" * MAX_BYTES})
    check_inputs(take("number"), {"x": "1" * MAX_BYTES})
    assert time.process_time() - started < 2


def test_the_agent_gets_what_was_given_and_what_its_file_names_of_the_rest() -> None:
    filled = fill_inputs(
        USUAL, {"task_number": "12", "topic": "x"}, session_id="sess_1_abcdef", depth=2, path=("a", "b"), timeout_s=3600
    )
    assert filled == {
        "task_number": "12",
        "topic": "x",
        "session_id": "sess_1_abcdef",
        "delegation_depth": "2",
        "delegation_path": '["a", "b"]',
        "timeout": "3600",
    }
    known = {"session_id": "s", "depth": 1, "path": ("a",), "timeout_s": 10_000_000.0}
    assert fill_inputs(Inputs(), {}, **known) == {}  # type: ignore[arg-type]
    with_task = fill_inputs(USUAL, {}, answers={"task_number": "7", "language": "lean", "topic": "x"}, **known)  # type: ignore[arg-type]
    assert (with_task["task_number"], with_task["language"], with_task["timeout"]) == ("7", "lean", "10000000")


def test_what_the_task_answers_need_not_be_given() -> None:
    """D15: an answer is used where the file names the input and the value fits its type; what is given wins."""
    inputs = Inputs((
        Parameter("research_topic", "string"), Parameter("plan_path", "string"), Parameter("criteria", "array"),
        Parameter("plan_version", "integer"), Parameter("registries", "object"),
    ))  # fmt: skip
    answers = {
        "research_topic": "Caching",
        "plan_path": "",
        "criteria": "One\nTwo",
        "plan_version": "two",
        "other": "x",
    }
    assert [each.pointer for each in check_inputs(inputs, {}, answers=answers)] == [
        "/inputs/plan_path", "/inputs/plan_version", "/inputs/registries",
    ]  # fmt: skip
    known = {"session_id": "s", "depth": 1, "path": ("a",), "timeout_s": 1.0}
    given = {"research_topic": "Uploads"}
    filled = fill_inputs(inputs, given, answers=answers, **known)  # type: ignore[arg-type]
    assert filled == {"research_topic": "Uploads", "criteria": '["One", "Two"]'}


def test_every_code_has_its_documentation() -> None:
    assert list(DIAGNOSTICS) == sorted(DIAGNOSTICS)
    for code, (make, severity) in DIAGNOSTICS.items():
        assert code.startswith("INP")
        assert severity in ("error", "warning")
        assert all(part in (make.__doc__ or "") for part in ("Why:", "Bad:", "Good:"))

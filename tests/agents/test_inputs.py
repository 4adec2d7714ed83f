"""What an agent's file says of its inputs, read into values (R1.10, R1.11)."""

from __future__ import annotations

import pytest

from remit.agents.document import parse_document
from remit.agents.inputs import MAX_INPUTS, Inputs, Parameter, normalize_input_name, read_inputs


def read(required: str = "", forbidden: str = "") -> Inputs:
    text = (
        "---\nname: planner\nversion: 1.0.0\nagent_type: planning\n---\n# Planner\n\n<role>\nPlans.\n</role>\n\n"
        f"<inputs_required>\n{required}\n</inputs_required>\n\n<inputs_forbidden>\n{forbidden}\n</inputs_forbidden>\n"
    )
    return read_inputs(parse_document(".opencode/agent/planner.md", text))


def test_required_and_optional_inputs_are_read_with_their_types() -> None:
    """R1.10."""
    found = read(
        '<parameter name="task_number" type="integer">\n  The task.\n</parameter>\n'
        '<parameter name="language" type="string" optional="true">Its language.</parameter>\n'
        '<parameter name="paths" type="array<string>" optional="yes">Files.</parameter>'
    )
    assert found.parameters == (
        Parameter("task_number", "integer", text="The task."),
        Parameter("language", "string", optional=True, text="Its language."),
        Parameter("paths", "array", optional=True, text="Files."),
    )


@pytest.mark.parametrize(
    ("written", "read_as"),
    [("int", "integer"), ("String", "string"), ("string[]", "array"), ("list of strings", "array"), ("bool", "boolean"),
     ("string|integer", ""), ("any", ""), ("enum", ""), ("", ""), ("dict", "object"), ("float", "number")],
)  # fmt: skip
def test_types_of_other_languages_are_understood_and_unknown_ones_bind_nobody(written: str, read_as: str) -> None:
    assert read(f'<parameter name="x" type="{written}">X.</parameter>').parameters == (
        Parameter("x", read_as, text="X."),
    )


@pytest.mark.parametrize(
    ("attributes", "optional"),
    [('optional="true"', True), ("optional", True), ('optional="false"', False), ('required="false"', True),
     ('required="true"', False), ("", False)],
)  # fmt: skip
def test_what_is_optional_may_be_said_in_several_ways(attributes: str, optional: bool) -> None:  # noqa: FBT001 - a case
    (found,) = read(f'<parameter name="x" type="string" {attributes}>X.</parameter>').parameters
    assert found.optional is optional


def test_forbidden_names_are_read_from_text_and_attributes() -> None:
    """R1.11."""
    found = read(forbidden='<forbidden>conversation_history</forbidden>\n<forbidden name="state">All</forbidden>\n'
                 "<forbidden>loose_text: whatever it is</forbidden>\n<forbidden>state</forbidden>")  # fmt: skip
    assert found.forbidden == ("conversation_history", "state", "loose_text")


def test_a_file_without_them_takes_anything() -> None:
    document = parse_document(".claude/agents/a.md", "---\nname: a\ndescription: b\n---\nDo it.\n")
    assert read_inputs(document) == Inputs()


def test_an_input_counts_once_and_thousands_are_not_read() -> None:
    twice = '<parameter name="x" type="integer">A.</parameter>\n<parameter name="x" type="string">B.</parameter>'
    assert [each.type for each in read(twice).parameters] == ["integer"]
    many = "\n".join(f'<parameter name="x{at}" type="string">A.</parameter>' for at in range(2_000))
    assert len(read(many).parameters) == MAX_INPUTS


@pytest.mark.parametrize("name", ["Conversation-History", "conversation history", "\uff23onversation_history"])
def test_a_name_is_the_same_in_other_spellings(name: str) -> None:
    assert normalize_input_name(name) == normalize_input_name("conversation_history")

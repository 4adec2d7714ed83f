"""Arguments of tools are checked against the schemas that the tools publish."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.errors import UsageError
from remit.mcp.catalog import BY_NAME, TOOLS
from remit.validation import build_input_schema, check_fields
from tests.support.sample_sizes import choose

VALUES = (
    st.none() | st.booleans() | st.integers(-5, 5000) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "standard", "complete", "note", "x" * 201, "answer"]) | st.text(max_size=5)
    | st.lists(st.text(max_size=3) | st.integers(), max_size=3)
    | st.dictionaries(st.sampled_from(["max_turns", "max_usd", "x"]), st.integers(-1, 3) | st.just("x"), max_size=2)
)  # fmt: skip


@pytest.mark.parametrize("tool", [tool.name for tool in TOOLS])
def test_the_schemas_are_schemas(tool: str) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - takes long, and many only collect the tests

    described = BY_NAME[tool].describe()
    Draft202012Validator.check_schema(described["inputSchema"])
    Draft202012Validator.check_schema(described["outputSchema"])
    assert "$ref" not in str(described)


@pytest.mark.slow
@settings(max_examples=choose(60, 300))
@given(data=st.data())
def test_arguments_fit_if_json_schema_says_so(data: st.DataObject) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - as above

    tool = data.draw(st.sampled_from(TOOLS))
    schema = build_input_schema(tool.arguments)
    names = [*schema["properties"], "unknown"]
    asked: dict[str, Any] = data.draw(st.dictionaries(st.sampled_from(names), VALUES, max_size=4))
    for name in schema["required"]:
        if data.draw(st.booleans()):
            asked.setdefault(name, "word")
    without_null = {name: value for name, value in asked.items() if value is not None}
    fits = Draft202012Validator(schema).is_valid(without_null) and "unknown" not in asked
    # JSON Schema takes 2.0 for an integer; Python tells them apart, and so does Remit.
    if any(isinstance(value, float) and value.is_integer() for value in without_null.values()):
        return
    try:
        assert check_fields(asked, tool.arguments) == without_null
        passed = True
    except UsageError:
        passed = False
    assert passed == fits, without_null


@pytest.mark.parametrize(
    ("tool", "given", "message", "hint"),
    [
        ("delegate", {"agent": "x"}, "Object missing required field `prompt`", ""),
        ("delegate", {"prompt": ""}, "Expected `str` of length >= 1 - at `$.prompt`", "What the agent is to do."),
        ("delegate", {"prompt": "y", "detach": "yes"}, "Expected `bool`, got `str` - at `$.detach`",
         "Return at once; the run continues."),
        ("delegate", {"prompt": "y", "inputs": {"a": 1}}, "Expected `str`, got `int` - at `$.inputs[...]`",
         "Inputs that the agent's file asks for, by name."),
        ("delegate", {"prompt": "y", "max_turns": 0}, "Expected `int` >= 1 - at `$.max_turns`",
         "Limit on model turns, nested runs included."),
        ("result", {"session_id": "s", "part": "anser"}, "Invalid enum value 'anser' - at `$.part`",
         "did you mean 'answer'?"),
        ("result", {"session_id": "s", "wait_seconds": 9999}, "Expected `float` <= 3600.0 - at `$.wait_seconds`",
         "Time to wait for the end of the run. Default: don't wait."),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_named_with_what_it_may_be(
    tool: str, given: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as refused:
        check_fields(given, BY_NAME[tool].arguments)
    assert (refused.value.message, refused.value.hint) == (f"invalid request: {message}", hint)


def test_an_unknown_argument_is_named_with_the_one_that_was_meant() -> None:
    with pytest.raises(UsageError) as refused:
        check_fields({"prompt": "y", "max_turn": 3}, BY_NAME["delegate"].arguments)
    assert (refused.value.message, refused.value.hint) == ("unknown field 'max_turn'", "did you mean 'max_turns'?")


def test_an_argument_that_is_null_is_not_given() -> None:
    assert check_fields({"session_id": None, "all": True}, BY_NAME["status"].arguments) == {"all": True}
    assert check_fields(None, BY_NAME["status"].arguments) == {}


def test_no_tool_runs_a_command_of_the_caller() -> None:
    """An agent that may call a tool, and may not use a shell, gets none this way."""
    fields = build_input_schema(BY_NAME["delegate"].arguments)["properties"]
    assert not {"command", "program", "env", "manifest", "root"} & {*fields}

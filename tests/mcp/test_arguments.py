"""Arguments are held against the tools' own schemas, as any validator of JSON Schema would."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.errors import UsageError
from remit.mcp.arguments import check_arguments
from remit.mcp.catalog import BY_NAME, TOOLS
from tests.support.amounts import choose

VALUES = (
    st.none() | st.booleans() | st.integers(-5, 5000) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "standard", "complete", "note", "x" * 201, "answer"]) | st.text(max_size=5)
    | st.lists(st.text(max_size=3) | st.integers(), max_size=3)
    | st.dictionaries(st.sampled_from(["max_turns", "max_usd", "x"]), st.integers(-1, 3) | st.just("x"), max_size=2)
)  # fmt: skip


@pytest.mark.parametrize("tool", [tool.name for tool in TOOLS])
def test_the_schemas_are_schemas(tool: str) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - takes long, and many only collect the tests

    Draft202012Validator.check_schema(BY_NAME[tool].takes)
    Draft202012Validator.check_schema(BY_NAME[tool].gives)


@pytest.mark.slow
@settings(max_examples=choose(60, 300))
@given(data=st.data())
def test_what_fits_is_what_json_schema_says_fits(data: st.DataObject) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - as above

    tool = data.draw(st.sampled_from(TOOLS))
    names = [*tool.takes["properties"], "unknown"]
    asked: dict[str, Any] = data.draw(st.dictionaries(st.sampled_from(names), VALUES, max_size=4))
    for name in tool.takes["required"]:
        if data.draw(st.booleans()):
            asked.setdefault(name, "word")
    without_null = {name: value for name, value in asked.items() if value is not None}
    fits = Draft202012Validator(tool.takes).is_valid(without_null)
    # A whole number with a fraction of nothing is one for JSON Schema; Python tells them apart, and so do we.
    if any(isinstance(value, float) and value.is_integer() for value in without_null.values()):
        return
    try:
        assert check_arguments(asked, tool.takes) == without_null
        passed = True
    except UsageError:
        passed = False
    assert passed == fits, without_null


@pytest.mark.parametrize(
    ("tool", "given", "sentence"),
    [
        ("delegate", {"agent": "x"}, "prompt is missing; it is a text"),
        ("delegate", {"agent": "x", "prompt": ""}, "prompt is empty; say what it is"),
        ("delegate", {"agent": "x", "prompt": "y", "caller": ""}, "caller is empty; leave it out, or say what it is"),
        ("delegate", {"agent": "x", "prompt": "y", "detach": "yes"}, "detach cannot be 'yes'; give true or false"),
        ("delegate", {"agent": 3, "prompt": "y"}, "agent cannot be 3; give a text"),
        ("delegate", {"agent": "x", "prompt": "y", "command": "rm"},
         f"there is no argument 'command'; known are: {', '.join(BY_NAME['delegate'].takes['properties'])}"),
        ("delegate", {"agent": "x", "prompt": "y", "inputs": {"a": 1}}, "inputs.a cannot be 1; give a text"),
        ("delegate", {"agent": "x", "prompt": "y", "budget": {"max_turns": 0}},
         "budget.max_turns cannot be 0; give at least 1"),
        ("delegate", {"agent": "x", "prompt": "y", "budget": {"max_turn": 3}},
         "there is no argument 'budget.max_turn'; did you mean 'max_turns'?"),
        ("result", {"session_id": "s", "part": "anser"}, "part cannot be 'anser'; did you mean 'answer'?"),
        ("result", {"session_id": "s", "wait_seconds": 9999}, "wait_seconds cannot be 9999; give at most 3600"),
        ("find_findings", {"words": ["a", 1]}, "words[1] cannot be 1; give a text"),
        ("find_findings", {"words": ["a"] * 51}, "words has 51; give at most 50"),
        ("status", {"session_id": "x" * 201}, "session_id has 201 characters; give at most 200"),
    ],
)  # fmt: skip
def test_who_calls_a_tool_wrongly_is_told_how_to(tool: str, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_arguments(given, BY_NAME[tool].takes)
    assert str(refused.value) == sentence


def test_what_is_null_is_left_out() -> None:
    assert check_arguments({"session_id": None, "all": True}, BY_NAME["status"].takes) == {"all": True}
    assert check_arguments(None, BY_NAME["status"].takes) == {}


def test_no_tool_runs_a_command_of_the_caller() -> None:
    """An agent that may call a tool, and may not use a shell, gets none this way."""
    assert not {"command", "program", "env", "manifest", "root"} & {*BY_NAME["delegate"].takes["properties"]}

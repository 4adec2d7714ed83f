"""JSON without the module for it: the same values in, the same text out, and nothing that is no JSON."""

import json
import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.light_json import parse_json, render_json
from tests.support.paths import SOURCE

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_it_is_what_json_has(value: object) -> None:
    text = render_json(value)
    assert text.isascii()
    assert json.loads(text) == value
    assert parse_json(text) == value
    assert parse_json(f" \r\n\t{json.dumps(value, ensure_ascii=False, indent=1)}\n") == value


@given(st.text())
def test_it_refuses_what_json_refuses(text: str) -> None:
    try:
        known = json.loads(text, parse_constant=float)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            parse_json(text)
    else:
        if not isinstance(known, float) or math.isfinite(known):
            assert parse_json(text) == known


@pytest.mark.parametrize(
    "text", ["", " ", "{", "[1,]", "{'a':1}", "1 2", "{}{}", "NaN", "[Infinity]", '{"a":-Infinity}', '"\n"', "\ufeff{}"]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 5000 + "]" * 5000])
def test_what_is_nested_too_deeply_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_what_can_be_read_can_be_written() -> None:
    """As deep as it goes: whoever gets an answer of a tool has to give it back."""
    deepest = 0
    for depth in range(10, 2000, 10):
        try:
            value = parse_json('[{"a":' * depth + "1" + "}]" * depth)
        except ValueError:
            break
        assert parse_json(render_json(value)) == value
        deepest = depth
    assert 100 < deepest < 1990


@pytest.mark.parametrize("value", [float("inf"), float("nan"), [float("-inf")], object(), {"a": b"x"}, {1, 2}])
def test_what_json_has_no_word_for_is_not_written(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        render_json(value)


def test_half_characters_come_through() -> None:
    assert parse_json(render_json("\ud800 \udfff")) == "\ud800 \udfff"
    assert parse_json('"\\ud800"') == "\ud800"


ALONE = """
import sys
from remit.light_json import parse_json
try:
    parse_json(sys.argv[1])
except ValueError as error:
    print(error)
assert "json" not in sys.modules
"""


@pytest.mark.parametrize("text", ['{"a', '{"a" 1}', "[1,", '"\\x"', "{", "nul"])
def test_it_is_so_without_the_module_too(text: str) -> None:
    """The scanner raises an exception of `json.decoder`, which is not there."""
    run = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n{ALONE}", text]
    assert subprocess.run(run, check=True, capture_output=True, text=True).stdout == "there is no JSON value\n"

"""Settings as a text: what is put in comes out again, and a person's own bytes are nobody's business."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.workspace.settings_text import (
    MAX_DEPTH,
    BrokenSettingsError,
    cut_out,
    find_out,
    put_in,
    scan,
)

WANTED: dict[str, Any] = {
    "hooks": {
        "PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "remit hook || exit 2"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "remit hook"}]}],
    }
}
KEYS = st.text(max_size=6) | st.sampled_from(
    ["permissions", "env", "model", "a/b", "//", "/*", "\\", '"', "é", "\ud83d"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | KEYS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
GROUPS = st.lists(
    st.fixed_dictionaries({"hooks": st.just([{"type": "command", "command": "lint"}])}, optional={"matcher": KEYS}),
    max_size=2,
)
HOOKS = st.dictionaries(st.sampled_from(["PreToolUse", "Stop", "Notification"]), GROUPS, max_size=3)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A settings file as somebody or some program may have written it."""
    settings = draw(st.dictionaries(KEYS.filter(lambda key: key != "hooks"), VALUES, max_size=4))
    if draw(st.booleans()):
        settings["hooks"] = draw(HOOKS)
        settings |= draw(st.dictionaries(st.sampled_from(["z1", "z2"]), SCALARS, max_size=2))
    indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    plain = draw(st.booleans())
    text = json.dumps(settings, indent=indent, ensure_ascii=plain or "\\ud83d" in json.dumps(settings))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    gaps = st.text(" \t\r\n", max_size=3)
    return draw(st.sampled_from(["", "\ufeff"])) + draw(gaps) + text + draw(gaps)


def load(text: str) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(text.removeprefix("\ufeff"))


# Scanning


@given(texts())
def test_what_is_scanned_is_what_json_says(text: str) -> None:
    def plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items()}
        if isinstance(value, list):
            return [plain(each) for each in value]
        return json.loads(value[1:]) if isinstance(value, str) and re.fullmatch(r"\0-?[0-9].*", value) else value

    assert plain(scan(text).value) == load(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        (" \n\ufeff", "does not begin with an object in line 2"),
        ("[]", "does not begin with an object"),
        ('{"a": 1', "was cut off"),
        ('{"a": "x', "a value is missing"),
        ('{"a" 1}', "a colon is missing"),
        ("{a: 1}", "a key is missing"),
        ('{"a": 1 "b": 2}', "a comma is missing"),
        ('{"a": 1,}', "a comma too many"),
        ('{\n"a": [1,,2]}', "a value is missing in line 2"),
        ('{"a": NaN}', "a value is missing"),
        ('{"a": 01}', "a comma is missing"),
        ('{"a": "\t"}', "a value is missing"),
        ('{"a": "\\x"}', "a value is missing"),
        ('{"a": truely}', "a comma is missing"),
        ('{} {"b": 1}', "something follows its end"),
        ('{"a": 1} // b', "something follows its end"),
        ('// a\n{"a": 1}', "does not begin with an object"),
        ('{"a": ]}', "a value is missing"),
        ('{"a": [}', "a value is missing"),
        ("{" * 10, "a key is missing"),
        ('{"a":' * (MAX_DEPTH + 1), "nested too deeply"),
    ],
)
def test_what_is_no_json_is_told_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BrokenSettingsError, match=re.escape(sentence)):
        scan(text)


@given(st.text(alphabet='{}[]":,/*\\ \n01eE+-.atrufalsn\ufeff', max_size=40), st.booleans())
def test_no_text_breaks_the_scanner_and_it_takes_nothing_that_json_does_not(text: str, comments: bool) -> None:  # noqa: FBT001 - drawn
    try:
        top = scan(text, comments=comments)
    except BrokenSettingsError:
        return
    if not comments:
        assert isinstance(load(text), dict)
    assert text[top.start] == "{"
    assert text[top.end - 1] == "}"


BOMBS = {
    "quotes": '{"a":[' + '"' * 300_001,
    "comments": "{" + "/*" * 200_000,
    "stars": "{" + "/**" * 200_000,
    "brackets": '{"a":' + "[" * 300_000,
    "backslashes": '{"a":"' + "\\" * 300_001,
    "space": '{"a":' + " " * 300_000,
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_told_at_once(text: str) -> None:
    start = time.process_time()
    with pytest.raises(BrokenSettingsError):
        scan(text, comments=True)
    assert time.process_time() - start < 2


# Putting in and cutting out


@given(texts())
def test_what_was_put_in_is_there_and_cut_out_leaves_the_text_from_before(text: str) -> None:
    added = put_in(text, WANTED)
    before, after = load(text), load(added.text)
    for event, groups in WANTED["hooks"].items():
        assert after["hooks"][event] == [*before.get("hooks", {}).get(event, []), *groups]
    for key in before:
        assert key == "hooks" or after[key] == before[key]
    assert cut_out(added.text, added.pieces) == text
    assert find_out(added.text, added.pieces) in (text, None)


@given(texts(), st.sampled_from(['"x"', "[1]", '{"y": [ ]}']))
def test_a_new_value_elsewhere_changes_nothing_of_it(text: str, value: str) -> None:
    marked = text.replace("{", '{"mark": "here", ', 1) if load(text) else text.replace("{", '{"mark": "here"', 1)
    added = put_in(marked, WANTED)
    edited = added.text.replace('"here"', value, 1)
    assert find_out(edited, added.pieces) in (marked.replace('"here"', value, 1), None)
    if added.text.count(added.pieces[0].text) == 1 and len(added.pieces) == 1:
        assert find_out(edited, added.pieces) == marked.replace('"here"', value, 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}'),
        ("{\n}\n", '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n'),
        ('{"x": 1}', '{"x": 1, "a": {"b": [1]}}'),
        ('{\n\t"x": 1\n}', '{\n\t"x": 1,\n\t"a": {\n\t\t"b": [\n\t\t\t1\n\t\t]\n\t}\n}'),
        ('{\r\n "x": 1\r\n}', '{\r\n "x": 1,\r\n "a": {\r\n  "b": [\r\n   1\r\n  ]\r\n }\r\n}'),
        ('{\n  "a": {}\n}', '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}'),
        ('{\n  "a": {"b": [0]}\n}', '{\n  "a": {"b": [0, 1]}\n}'),
        ('{\n  "a": {\n    "b": [\n      0\n    ]\n  },\n  "c": 1\n}',
         '{\n  "a": {\n    "b": [\n      0,\n      1\n    ]\n  },\n  "c": 1\n}'),
    ],
)  # fmt: skip
def test_it_is_laid_out_as_the_file_is(before: str, after: str) -> None:
    assert put_in(before, {"a": {"b": [1]}}).text == after


def test_comments_and_a_comma_too_many_stay_where_a_harness_allows_them() -> None:
    text = '// mine\n{\n  "x": 1, // one\n  /* two, { */\n  "y": [1, 2,],\n}\n'
    with pytest.raises(BrokenSettingsError):
        put_in(text, WANTED)
    added = put_in(text, {"mcp": {"remit": {"command": ["remit", "mcp"]}}}, comments=True)
    assert scan(added.text, comments=True).value["mcp"] == {"remit": {"command": ["remit", "mcp"]}}
    assert cut_out(added.text, added.pieces) == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"hooks": []}', "has a 'hooks' that is not an object"),
        ('{"hooks": null}', "has a 'hooks' that is not an object"),
        ('{"hooks": {"Stop": {}}}', "has a 'hooks.Stop' that is not a list"),
        ('{"hooks": {}, "a": 1, "hooks": {}}', "says 'hooks' twice"),
        ('{"hooks": {"Stop": [], "Stop": []}}', "says 'Stop' twice"),
    ],
)
def test_a_place_that_is_taken_by_something_else_is_told(text: str, sentence: str) -> None:
    with pytest.raises(BrokenSettingsError, match=re.escape(sentence)):
        put_in(text, WANTED)


def test_a_server_of_the_same_name_is_not_written_over() -> None:
    with pytest.raises(BrokenSettingsError, match=re.escape("has a 'mcp.remit.command' of its own")):
        put_in('{"mcp": {"remit": {"command": "x"}}}', {"mcp": {"remit": {"command": "remit"}}})


def test_a_piece_that_is_there_twice_or_not_at_all_is_not_cut() -> None:
    added = put_in('{"a": 1}', WANTED)
    piece = added.pieces[0].text
    assert find_out(added.text + piece, added.pieces) is None
    assert find_out('{"a": 1}', added.pieces) is None
    assert cut_out(" " + added.text, added.pieces) is None

"""The tolerant parser: what it repairs, what it refuses to settle, and where it says things stand."""

import json
from typing import Any

import pytest

from remit.returns.tolerant_json import MAX_DEPTH, MAX_VALUES, REPAIRS, UnreadableError, parse_object

BASE = '{"a": "x", "b": [1, 2], "c": {"d": null}}'
VALUE = json.loads(BASE)

REPAIRED: dict[str, tuple[str, dict[str, Any]]] = {
    "comment": ('{"a": 1, // one\n"b": 2 /* two */, # three\n"c": 3}', {"a": 1, "b": 2, "c": 3}),
    "trailing_comma": ('{"a": [1, 2,], "b": 3,}', {"a": [1, 2], "b": 3}),
    "extra_comma": ('{"a": 1,, "b": [,1]}', {"a": 1, "b": [1]}),
    "missing_comma": ('{"a": 1 "b": ["x" "y"]}', {"a": 1, "b": ["x", "y"]}),
    "missing_bracket": ('{"a": [1, 2}\n```', {"a": [1, 2]}),
    "extra_bracket": ('{"a": {"b": 1}}, "c": 2}', {"a": {"b": 1}, "c": 2}),
    "single_quotes": ("{'a': 'the \"b\"'}", {"a": 'the "b"'}),
    "smart_quotes": ("{“a”: „b“, «c»: ‘d’}", {"a": "b", "c": "d"}),
    "unquoted_key": ("{a_1: 1, $b-c: 2}", {"a_1": 1, "$b-c": 2}),
    "inner_quote": ('{"a": "the "real" one", "b": 1}', {"a": 'the "real" one', "b": 1}),
    "raw_control": ('{"a": "one\ntwo\tthree"}', {"a": "one\ntwo\tthree"}),
    "bad_escape": (r'{"a": "C:\path \d"}', {"a": r"C:\path \d"}),
    "joined_text": ('{"a": "one " + "two"}', {"a": "one two"}),
    "lone_surrogate": (r'{"a": "x\ud83dy"}', {"a": "x\ufffdy"}),
    "literal": ('{"a": True, "b": FALSE, "c": None, "d": undefined}', {"a": True, "b": False, "c": None, "d": None}),
    "number": (
        '{"a": +45, "b": 1_800, "c": .5, "d": 5., "e": 0x1F}',
        {"a": 45, "b": 1800, "c": 0.5, "d": 5.0, "e": 31},
    ),
    "separator": ('{"a" = 1; "b" => "x", "c"\uff1a 2}', {"a": 1, "b": "x", "c": 2}),
    "missing_colon": ('{"a" "x"}', {"a": "x"}),
    "missing_quote": (
        '{a": "x", "b: "y", "c": z and more",\n"d": "open,\n"e": 1}',
        {"a": "x", "b": "y", "c": "z and more", "d": "open", "e": 1},
    ),
    "extra_mark": ('{"a"": 1, "b":: "x"", "c": ""y", "d": "z".}', {"a": 1, "b": "x", "c": "y", "d": "z"}),
    "unquoted_text": ('{"status": completed}', {"status": "completed"}),
    "triple_quotes": ('{"a": """one\ntwo""", "b": `three`}', {"a": "one\ntwo", "b": "three"}),
    "parentheses": ('{"a": (1, "x"), "b": ("one "\n"two")}', {"a": [1, "x"], "b": "one two"}),
    "odd_space": ('{\u00a0"a":\u200b1,\\n "b": 2\\n}', {"a": 1, "b": 2}),
    "repeated_key": ('{"a": [1], "a": [1]}', {"a": [1]}),
}
"""The repairs that the parser makes by itself."""
ELSEWHERE = {"json_string", "escaped", "envelope", "html", "cut_off", "lifted_keys", "missing_open_bracket",
             "status_case", "quoted_number", "id_blanks", "absolute_path", "shortened", "no_period", "more_prose",
             "empty_items", "colors"}  # fmt: skip
"""The repairs that unwrapping and the choice of a candidate make; their own tests show them."""


def test_every_repair_that_can_be_told_is_made_somewhere() -> None:
    assert {*REPAIRED, *ELSEWHERE} == set(REPAIRS)


@pytest.mark.parametrize("kind", REPAIRED)
def test_a_damage_with_one_reading_is_repaired_and_told(kind: str) -> None:
    """R0.1: nothing is repaired without saying so."""
    text, value = REPAIRED[kind]
    parsed = parse_object(text, 0)
    assert parsed.value == value
    assert set(parsed.repairs) == {kind}
    assert not parsed.flaws
    assert kind in REPAIRS


@pytest.mark.parametrize("kind", REPAIRED)
def test_a_repair_says_where_it_was_needed(kind: str) -> None:
    text, _ = REPAIRED[kind]
    assert 0 < parse_object(text, 0).repairs[kind] < len(text)


@pytest.mark.parametrize(
    "text", [BASE, BASE.replace(" ", ""), json.dumps(VALUE, indent=4), json.dumps(VALUE, indent="\t")]
)
def test_what_is_json_comes_back_unchanged(text: str) -> None:
    parsed = parse_object(text, 0)
    assert (parsed.value, parsed.repairs, parsed.flaws) == (VALUE, {}, [])
    assert (parsed.start, parsed.end, parsed.closed) == (0, len(text), "bracket")


@pytest.mark.parametrize(
    ("text", "kind", "pointer", "shown"),
    [
        ('{"status": "failed", "status": "completed"}', "conflict", "/status", '"status": "completed"'),
        ('{"a": 1, "a": true}', "conflict", "/a", '"a": true'),
        ('{"a": 1, "a": 1.0}', "conflict", "/a", '"a": 1.0'),
        ('{"a": {"b": 1, "b": 2}}', "conflict", "/a/b", '"b": 2'),
        ('{"a": NaN}', "nonfinite", "/a", "NaN"),
        ('{"a": [-Infinity]}', "nonfinite", "/a/0", "-Infinity"),
        ('{"a": 1e999}', "nonfinite", "/a", "1e999"),
        ('{"a": 1, ...}', "ellipsis", "", "..."),
        ('{"a": [1, …]}', "ellipsis", "/a", "…"),
        ('{"a": ..., "b": 1}', "ellipsis", "/a", "..."),
        ('{"a": completed|failed}', "template", "/a", "completed|failed"),
        ('{"a": string, "b": 1}', "template", "/a", "string"),
    ],
)
def test_what_no_repair_can_settle_is_a_flaw(text: str, kind: str, pointer: str, shown: str) -> None:
    """R0.1: contradictions, numbers that are none and blanks are told apart, and none is guessed."""
    [flaw] = parse_object(text, 0).flaws
    assert (flaw.kind, flaw.pointer, text[flaw.start : flaw.end]) == (kind, pointer, shown)


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('{"a": "half', "/a"),
        ('{"a": 31', "/a"),
        ('{"a": tr', "/a"),
        ('{"a": 1, "b', "/b"),
        ('{"a": 1, "b":', "/b"),
        ('{"a": 1,', ""),
        ('{"a": [1, 2', "/a/1"),
        ('{"a": ["x"', "/a"),
        ('{"a": {"b": "c"', "/a"),
        ('```json\n{"a": "half\n```', "/a"),
    ],
)
def test_what_was_cut_off_is_a_flaw_where_it_was_cut(text: str, pointer: str) -> None:
    """R0.2: half a value is not what the agent meant to say."""
    cuts = [flaw for flaw in parse_object(text, text.index("{")).flaws if flaw.kind == "cut"]
    assert cuts
    assert cuts[0].pointer == pointer


@pytest.mark.parametrize(
    ("text", "closed"), [('{"a": "b"', "end"), ('{"a": "b"\n```\n', "fence"), ('{"a": 1\n~~~', "fence")]
)
def test_a_forgotten_last_bracket_is_only_that(text: str, closed: str) -> None:
    parsed = parse_object(text, 0)
    assert parsed.closed == closed
    assert list(parsed.repairs) == ["missing_bracket"]
    assert not parsed.flaws


def test_prose_after_a_forgotten_bracket_stays_prose() -> None:
    text = '{"a": "b"\n\nAll of it is done: see above.'
    parsed = parse_object(text, 0)
    assert parsed.value == {"a": "b"}
    assert text[parsed.end :] == "All of it is done: see above."


def test_keys_behind_a_missing_bracket_of_a_list_are_kept() -> None:
    parsed = parse_object('{"a": ["x", "y", "b": 1}', 0)
    assert parsed.value == {"a": ["x", "y"], "b": 1}
    assert list(parsed.repairs) == ["missing_bracket"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a", "b": 1}', "a key without a colon"),
        ('{"a": (nonsense)}', "expected a value"),
        ('{"a": two words}', "expected a"),
        ('{"a": 007}', "expected a value|begins with a zero"),
        ("{12: 1}", "expected a key"),
        ('{"a" is 1, "b": 2}', "a key contains quotes"),
        ('{"a": "the "real one", "b": 1}', "isn't escaped"),
        ('{"a": / 1}', "unexpected '/'"),
    ],
)
def test_what_has_no_single_reading_cannot_be_read(text: str, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason) as caught:
        parse_object(text, 0)
    assert not caught.value.capped
    assert 0 < caught.value.reached <= len(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}", "nested too deeply"),
        ('{"a": [' + "1," * MAX_VALUES + "1]}", "too many values"),
        ('{"a": ' + "7" * 4301 + "}", "too many digits"),
    ],
)
def test_what_is_beyond_a_cap_is_refused_as_that(text: str, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason) as caught:
        parse_object(text, 0)
    assert caught.value.capped


def test_what_is_just_within_the_caps_is_read() -> None:
    deep = MAX_DEPTH - 1
    text = '{"a": ' + "[" * deep + "]" * deep + ', "b": ' + "7" * 4000 + "}"
    assert parse_object(text, 0).value["b"] == int("7" * 4000)


def test_every_value_is_found_where_it_stands() -> None:
    text = 'before {"a": "x", "b/c": [1, {"d~": true}]} after'
    parsed = parse_object(text, 7)
    shown = {pointer: text[start:end] for pointer, (start, end) in parsed.spans.items()}
    assert shown == {
        "": '{"a": "x", "b/c": [1, {"d~": true}]}',
        "/a": '"x"',
        "/b~1c": '[1, {"d~": true}]',
        "/b~1c/0": "1",
        "/b~1c/1": '{"d~": true}',
        "/b~1c/1/d~0": "true",
    }
    assert text[parsed.end :] == " after"


@pytest.mark.parametrize("beside", ["", "\ufffd"])
def test_a_whole_surrogate_pair_is_one_character(beside: str) -> None:
    """R0.1: a replacement character that the agent wrote is no sign of a repair."""
    parsed = parse_object(rf'{{"a": "{beside}\ud83d\ude00"}}', 0)
    assert parsed.value == {"a": beside + "\N{GRINNING FACE}"}
    assert not parsed.repairs


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 'one '\n      'two',\n 'b': 1}", {"a": "one two", "b": 1}),
        ('{"a": "one "\n "two "\n "three"}', {"a": "one two three"}),
        ('{"a": "one"\n "b": 2}', {"a": "one", "b": 2}),
        ('{"a": ["one"\n "two"]}', {"a": ["one", "two"]}),
    ],
)
def test_texts_side_by_side_are_one_value_unless_a_key_or_a_list_says_otherwise(text: str, value: object) -> None:
    assert parse_object(text, 0).value == value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r"docs\_build\plan.md", r"docs\_build\plan.md"),
        (r"docs\Users\table\notes.md", r"docs\Users\table\notes.md"),
        (r"src\new\build\Main.py", r"src\new\build\Main.py"),
        (r"The \d pattern\\name is\nfixed", "The \\d pattern\\name is\nfixed"),
        (r"The \d pattern \"x\"\nis fixed", 'The \\d pattern "x"\nis fixed'),
        (r"caf\u00e9 \d\nfixed", "caf\u00e9 \\d\nfixed"),
        (r"snake\_case\nfixed", "snake\\_case\nfixed"),
    ],
)
def test_backslashes_stay_if_the_agent_escaped_none_in_that_text(written: str, value: str) -> None:
    parsed = parse_object(f'{{"a": "{written}"}}', 0)
    assert (parsed.value, set(parsed.repairs)) == ({"a": value}, {"bad_escape"})


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("""{"a": 'x", "b": 1}""", {"a": "x", "b": 1}, "single_quotes"),
        ("""{"a": "x', "b": 1}""", {"a": "x", "b": 1}, "single_quotes"),
        ("""{"a": "x',\n"b": 1}""", {"a": "x", "b": 1}, "single_quotes"),
        ("""{'a": "x", "b': 1}""", {"a": "x", "b": 1}, "single_quotes"),
        ("""{"a": ["x", "y']}""", {"a": ["x", "y"]}, "single_quotes"),
        ("""{"a": ["x"", "y"]}""", {"a": ["x", "y"]}, "extra_mark"),
        ("""{"a": "x"]}""", None, None),
        ("""{,"a": 1}""", {"a": 1}, "extra_comma"),
        ("""{"a": []], "b": {"c": [1]]}}""", {"a": [], "b": {"c": [1]}}, "extra_bracket"),
        ("""{"a": 88n, "b": 0o130, "c": 0b1011000, "d": -0X58n}""", {"a": 88, "b": 88, "c": 88, "d": -88}, "number"),
        ("""{"a": r"x\\d\\n", "b": f"y", "c": u"z"}""", {"a": r"x\d\n", "b": "y", "c": "z"}, "literal"),
        ("""{"a": b"x"}""", None, None),
        ("""{"a": f"x {y}"}""", None, None),
        ("""{"a": 0o9}""", None, None),
        ("""{"a": "the users', "b" and more", "c": 1}""", {"a": 'the users\', "b" and more', "c": 1}, "inner_quote"),
        ("""{"a": "prints ""}" at the end"}""", None, None),
        ("""{"a": 'say "x", "b": 1'}""", {"a": 'say "x", "b": 1'}, "single_quotes"),
        ("""{"a": "said "x".", "b": 1}""", {"a": 'said "x".', "b": 1}, "inner_quote"),
        ("""{"a": "he said "x"", "b": 1}""", None, None),
    ],
)
def test_a_slip_is_repaired_only_if_it_has_one_reading(text: str, value: object, kind: str | None) -> None:
    try:
        parsed = parse_object(text, 0)
    except UnreadableError:
        assert kind is None
    else:
        assert (parsed.value, set(parsed.repairs), parsed.flaws) == (value, {kind}, [])


@pytest.mark.parametrize("space", "\u2028\u2029\x85\u200e\u200f\u200c\u200b\xad\u2060\ufeff\u3000")
def test_space_that_json_lacks_is_read_between_tokens(space: str) -> None:
    text = '{_"a"_:_"x"_,_"b"_:_[_1_,_"y"_,_"z"_]_,_"c"_:_"w"_}'.replace("_", space)
    parsed = parse_object(text, 0)
    assert (parsed.value, set(parsed.repairs)) == ({"a": "x", "b": [1, "y", "z"], "c": "w"}, {"odd_space"})


def test_a_joined_text_that_is_cut_off_is_a_flaw() -> None:
    assert [flaw.kind for flaw in parse_object("{'a': 'one ' 'tw", 0).flaws][:1] == ["cut"]

"""Frontmatter: every value with its exact place; broken YAML is read key by key; hostile YAML is a problem, no more."""

import math
import resource
import time
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.agents.frontmatter import MAX_CHARS, MAX_VALUES, Frontmatter, find_frontmatter, parse_frontmatter
from tests.support.sample_sizes import choose


def read(head: str, *, mark: str = "") -> tuple[str, Frontmatter]:
    """A file with this YAML at its head, and what is read of it."""
    text = f"{mark}---\n{head}\n---\nbody\n"
    return parse(text)


def parse(text: str) -> tuple[str, Frontmatter]:
    place = find_frontmatter(text)
    assert place is not None
    return text, parse_frontmatter(text, place[0], place[1])


def show(text: str, found: Frontmatter) -> dict[str, str]:
    return {pointer: text[slice(*span)] for pointer, span in found.spans.items()}


# --- where it stands -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "head", "body"), [
    ("---\na: 1\n---\nbody", "a: 1\n", "body"),
    ("\ufeff---\na: 1\n---\nbody", "a: 1\n", "body"),
    ("---  \r\na: 1\r\n---\t\r\nbody", "a: 1\r\n", "body"),
    ("---\na: 1\n...\nbody", "a: 1\n", "body"),
    ("---\n---\nbody", "", "body"),
    ("---\na: 1\n---", "a: 1\n", ""),
    ("---\na: |\n  ---\n---\nbody", "a: |\n  ---\n", "body"),
    ("---\na: 1\nbody", "a: 1\nbody", ""),
    ("---", "", ""),
])  # fmt: skip
def test_it_stands_between_two_fences(text: str, head: str, body: str) -> None:
    place = find_frontmatter(text)
    assert place is not None
    start, end, body_start = place
    assert (text[start:end], text[body_start:]) == (head, body)


@pytest.mark.parametrize(
    "text", ["", "# Title", " ---\na: 1\n---\n", "----\na: 1\n---\n", "\n---\na: 1\n---\n", "--- a"]
)
def test_a_file_without_a_fence_has_none(text: str) -> None:
    assert find_frontmatter(text) is None


# --- places ----------------------------------------------------------------------------------------------------------

PLACES = {
    "plain": ("name: planner # who", {"/name": "planner"}),
    "quoted": ("name: \"a 'b'\" # x\nb: 'c'", {"/name": "\"a 'b'\"", "/b": "'c'"}),
    "empty": ("a:\nb: 1", {"/a": "", "/b": "1"}),
    "non-ascii": ('é: 😀x\nb: "ü"\nc: 1', {"/é": "😀x", "/b": '"ü"', "/c": "1"}),
    "flow": ("a: [x, {b: 'é', c: []}] # z", {"/a": "[x, {b: 'é', c: []}]", "/a/1/b": "'é'", "/a/1/c": "[]"}),
    "block": ("a:\n  b: 1\n  c:\n    - x # y\n    - y\n\n# end\nd: 2",
              {"/a": "b: 1\n  c:\n    - x # y\n    - y", "/a/c": "- x # y\n    - y", "/a/c/1": "y", "/d": "2"}),
    "text": ("a: |\n  one\n   two\n\n\nb: >-\n  three\nc: 1",
             {"/a": "|\n  one\n   two", "/b": ">-\n  three", "/c": "1"}),
    "flow in block": ("a:\n  - [x,\n    y] # z\n  - {b: c}\nd: 1", {"/a": "- [x,\n    y] # z\n  - {b: c}", "/d": "1"}),
    "alias at the end": ("a: &x 1\nb:\n  - 2\n  - *x\nc: 3", {"/b": "- 2\n  - *x", "/c": "3"}),
    "folded": ("a: one\n  two\nb: 1", {"/a": "one\n  two", "/b": "1"}),
    "anchor": ("a: &x [1]\nb: *x\nc: 2", {"/a": "&x [1]", "/b": "b", "/c": "2"}),
    "slash": ("a/b: 1\nc~d: 2", {"/a~1b": "1", "/c~0d": "2"}),
    "key": ("? a\n: b", {"/a": "b"}),
}  # fmt: skip


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "bom"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("name", PLACES)
def test_every_value_has_its_place(name: str, ending: str, mark: str) -> None:
    head, expected = PLACES[name]
    text, found = parse(f"{mark}---\n{head}\n---\nbody\n".replace("\n", ending))
    assert found.whole
    assert not found.problems
    seen = show(text, found)
    assert {pointer: seen[pointer].replace("\r\n", "\n") for pointer in expected} == expected
    for pointer, span in found.keys.items():
        assert text[slice(*span)] == pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")


def test_a_mark_at_the_start_of_the_yaml_is_counted() -> None:
    text, found = read("\ufeffname: x\nb: '2'")
    assert show(text, found) == {"/name": "x", "/b": "'2'"}
    text, found = read("\ufeffname: x: y\nb: '2'")
    assert show(text, found)["/b"] == "'2'"
    assert text[found.problems[0].start] == ":"


def test_a_value_that_is_referred_to_is_shared() -> None:
    _, found = read("a: &x {k: v}\nb: *x\nc: [*x, 1]")
    assert found.values == {"a": {"k": "v"}, "b": {"k": "v"}, "c": [{"k": "v"}, 1]}
    assert found.shared == {"/b", "/b/k", "/c/0", "/c/0/k"}


def test_what_is_merged_belongs_to_the_table_and_is_shared() -> None:
    text, found = read("a: &x\n  k: 1\n  l: 2\nb:\n  <<: *x\n  l: 3 # own\nc:\n  <<: [{k: 4}, *x]\n")
    assert found.values == {"a": {"k": 1, "l": 2}, "b": {"l": 3, "k": 1}, "c": {"k": 4, "l": 2}}
    assert found.shared == {"/b/k", "/c/k", "/c/l"}
    assert text[slice(*found.spans["/b/k"])] == "<<"
    assert set(found.keys) == {"/a", "/a/k", "/a/l", "/b", "/b/l", "/c"}, "what is merged has no key to rename"


@pytest.mark.parametrize("head", ["a: &x {k: 1}\nb: &y {<<: *x, l: 2}\nc: {<<: *y, k: 3}", "a: {<<: {k: 1}}",
                                  "x: &x {k: 1}\ny: &y {k: 2}\na: {<<: [*y, *x]}", "x: &x {k: 1}\n<<: *x"])  # fmt: skip
def test_tables_are_merged_as_the_reader_of_yaml_does_it(head: str) -> None:
    _, found = read(head)
    assert found.values == yaml.safe_load(head)
    assert not found.problems


# --- values ----------------------------------------------------------------------------------------------------------

WORDS = {
    "true": True, "Yes": True, "off": False, "y": "y", "null": None, "~": None, "1.10": 1.1, "0755": 493, "0x1F": 31,
    "0b11": 3, "4_000": 4000, "1:30": 90, "-1:30": -90, "1:30.5": 90.5, "+.inf": math.inf, "-.Inf": -math.inf, "007": 7,
    "08": "08", "0x_": "0x_", "2025-12-29": "2025-12-29", "<<": "<<", "=": "=", "1e3": "1e3", "'1'": "1", '"no"': "no",
    "!!str 5": "5", "!!int '5'": 5, "!!int x": "x", "!!bool maybe": "maybe", "!!float 2": 2.0, "!!null x": None,
}  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_read_as_yaml_reads_it(word: str) -> None:
    _, found = read(f"a: {word}")
    value = found.values["a"]
    assert value == WORDS[word]
    assert type(value) is type(WORDS[word])


def test_what_is_no_text_is_told() -> None:
    _, found = read("a: 1\nb: yes\nc: '1'\nd: x\ne:\nf: 2025-01-01\ng: [1.5]")
    assert found.plain == {"/a": "int", "/b": "bool", "/e": "null", "/f": "timestamp", "/g/0": "float"}
    assert found.flow == {"/g"}


def test_not_a_number_is_no_number() -> None:
    assert math.isnan(read("a: .nan")[1].values["a"])
    assert read(f"a: {'1' * 401}")[1].values["a"] == "1" * 401
    assert read(f"a: {'1' * 400}")[1].values["a"] == int("1" * 400)


@pytest.mark.parametrize("value", [
    "!!python/name:os.system x", '!!python/object/apply:os.system ["id"]', "!include {a: b}", "!x\n  - y",
    "!!binary aGk=",
])  # fmt: skip
def test_no_object_is_built(value: str) -> None:
    text, found = read(f"a: {value}")
    assert [problem.kind for problem in found.problems] == ["tag"]
    assert text[found.problems[0].start :].startswith("!")


# --- what is wrong ---------------------------------------------------------------------------------------------------


def test_a_key_given_twice_is_told_and_the_last_one_counts() -> None:
    text, found = read("a: 1\nb: {c: 1, c: 2}\na: 2")
    assert found.values == {"a": 2, "b": {"c": 2}}
    assert [(problem.kind, problem.pointer) for problem in found.problems] == [
        ("duplicate", "/b/c"),
        ("duplicate", "/a"),
    ]
    assert text[found.problems[1].start :].startswith("a: 2")


def test_keys_that_are_no_words_are_not_the_same() -> None:
    assert not read("? [a]\n: 1\n? {b: c}\n: 2")[1].problems


def test_broken_yaml_is_read_key_by_key() -> None:
    text, found = read(
        "name: a\ndescription: Use it when: it fails\ntools: [x,\n  y]\n'mode': b: c\nlast: 1 # é\nlast: 2"
    )
    assert not found.whole
    assert found.values == {"name": "a", "description": "Use it when: it fails", "tools": ["x", "y"], "mode": "b: c",
                            "last": 2}  # fmt: skip
    assert [problem.kind for problem in found.problems] == ["syntax", "duplicate"]
    assert text[found.problems[0].start :].startswith(": it fails")
    seen = show(text, found)
    assert seen["/description"] == "Use it when: it fails"
    assert seen["/tools/1"] == "y"
    assert text[slice(*found.keys["/mode"])] == "mode"


def test_broken_yaml_keeps_its_lines_and_their_endings() -> None:
    text, found = parse("---\r\na: 1\r\nb: x: y\r\n  more\r\nc: é\r\n---\r\n")
    assert found.values == {"a": 1, "b": "x: y\r\n  more", "c": "é"}
    assert show(text, found)["/c"] == "é"


@pytest.mark.parametrize("char", ["\x00", "\x07", "\x1b", "\x7f", "\ufffe", "\udcff"])
def test_a_character_that_yaml_refuses_is_pointed_at(char: str) -> None:
    text, found = read(f"name: äöü\nb: x{char}y\nc: 1")
    if char == "\udcff":  # half a character is no text at all, and told elsewhere
        assert found.whole
        return
    assert [problem.kind for problem in found.problems] == ["syntax"]
    assert text[found.problems[0].start] == char
    assert found.values == {"name": "äöü", "b": f"x{char}y", "c": 1}


@pytest.mark.parametrize("head", ["just a text", "- a\n- b", "[a]", "5"])
def test_what_is_no_table_is_told(head: str) -> None:
    _, found = read(head)
    assert [problem.kind for problem in found.problems] == ["syntax"]
    assert found.values == {}


# --- hostile files ---------------------------------------------------------------------------------------------------

LAUGHS = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
)
HOSTILE = {
    "brackets": "a: " + "[" * 100_000,
    "brackets that close": "a: " + "[" * 1_900 + "]" * 1_900,
    "braces": "a: " + "{a: " * 1_900,
    "billion laughs": LAUGHS,
    "an alias to itself": "a: &a {b: *a}",
    "a list of itself": "a: &a [" + "*a, " * 30_000 + "1]",
    "indentation": "\n".join(" " * level + "k:" for level in range(450)),
    "questions": "? " * 60_000 + "x",
    "dashes": "a:\n" + "- " * 60_000 + "x",
    "dashes to the end": "a:\n  " + "- " * 30_000 + "\nb: 1",
    **{f"dashes after {ord(end):x}": f"a: 1{end}b:{end}  " + "- " * 30_000 + "x" for end in "\r\x85\u2028\u2029"},
    "deep below the cap": "\n".join(" " * level + "k:" for level in range(395)),
    "a table merged into itself": "a: &a\n  <<: *a",
    "many merges": "\n".join(
        ["a0: &a0 {x: 1}"] + [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}" for i in range(1, 30)]
    ),
    "too long": "a: " + "x" * MAX_CHARS,
    "too many values": "a: [" + "1, " * (MAX_VALUES + 10) + "1]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_meets_a_cap(name: str) -> None:
    started, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text, found = read(HOSTILE[name])
    assert [problem.kind for problem in found.problems] in (["limit"], ["syntax"])
    assert 0 <= found.problems[0].start < len(text)
    assert len(found.spans) <= MAX_VALUES
    assert time.process_time() - started < 4  # 0.1 s; shared machines are slow
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.mark.parametrize("head", ["a: " + "b: " * 30_000, "a: b: c\n" * 15_000, "&a " * 30_000, "- : " * 20_000,
                                  "a: '" + "x' '" * 20_000, "*a " * 30_000, "# " * 60_000, "\t" * 120_000,
                                  "!a " * 40_000, "a: 1\n" * 15_000 + "b: 'x", " " * 120_000, " \n" * 60_000,
                                  "a:" * 60_000, "'" * 120_000, "%" * 120_000, "|\n" * 60_000])  # fmt: skip
def test_nothing_takes_long(head: str) -> None:
    started = time.process_time()
    read(head)
    assert time.process_time() - started < 4


# --- whatever is written ---------------------------------------------------------------------------------------------

SCRAPS = st.lists(
    st.sampled_from(["a", "name", ": ", ":", "- ", "\n", "\n  ", "\n    ", "'", '"', "[", "]", "{", "}", ", ", "# c",
                     "|", ">", "&x ", "*x", "!t ", "? ", "\r\n", "\t", "---", "...", "é", "😀", "\x07", "\u2028",
                     "\x85", "\ufeff", "1:30", "no", "<<: ", "%", "@", "`", "\\", "\udcff", "~"]),
    max_size=40,
).map("".join)  # fmt: skip


@settings(max_examples=choose(80, 400), deadline=None)
@given(SCRAPS)
def test_reading_never_fails(head: str) -> None:
    text = f"---\n{head}\n---\n"
    text, found = parse(text)
    for start, end in [*found.spans.values(), *found.keys.values()]:
        assert found.start <= start <= end <= found.end
    for problem in found.problems:
        assert found.start <= problem.start <= problem.end <= max(found.end, found.start + 1)


TEXTS = st.text(  # line breaks of other alphabets do not survive the writer of these tests
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029"), max_size=25
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**6), 10**6), TEXTS,
    st.sampled_from(["two\nlines", "  led", "trail  ", "a: b", "# no", "- x", "é😀", "yes", "1.10", "x" * 100 + " y"]),
)  # fmt: skip
TREES = st.dictionaries(
    st.sampled_from(["a", "b-c", "é", "d e", "f/g", "h~i", "5"]),
    st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y/z"]), inner, max_size=3),
        max_leaves=10,
    ),
    max_size=5,
)


@pytest.mark.slow
@settings(max_examples=choose(50, 250), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREES, st.sampled_from([True, False, None]), st.booleans(), st.sampled_from([None, '"', "'", "|"]))
def test_the_place_of_a_value_holds_that_value(
    tree: dict[str, Any],
    flow: bool | None,  # noqa: FBT001 - hypothesis
    unicode: bool,  # noqa: FBT001 - hypothesis
    style: str | None,
) -> None:
    head = yaml.safe_dump(tree, default_flow_style=flow, allow_unicode=unicode, default_style=style)
    text, found = parse(f"---\n{head}---\n")
    assert found.whole
    assert not found.problems
    assert same(found.values, tree)
    for pointer, (start, end) in found.spans.items():
        column = start - text.rfind("\n", 0, start) - 1
        inner = follow(found.values, pointer)
        lines = text[start:end]
        if pointer in found.shared or lines[:2] in ("|2", "|4", ">2", ">4"):
            continue  # how far such a text is led depends on what is around it
        again = yaml.safe_load(f"{' ' * column}{lines}\n" if isinstance(inner, dict | list) else f"- {lines}\n")
        assert same(again if isinstance(inner, dict | list) else again[0], inner), (pointer, lines)


def follow(value: Any, pointer: str) -> Any:  # noqa: ANN401 - any YAML value
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part.replace("~1", "/").replace("~0", "~")]
    return value


def same(one: Any, other: Any) -> bool:  # noqa: ANN401 - any YAML value
    """Whether two values are equal; keys are texts here, and the end of a text in lines of its own is not ours."""
    if isinstance(one, dict) and isinstance(other, dict):
        texts = {str(key): value for key, value in other.items()}
        return {str(key) for key in one} == set(texts) and all(
            same(value, texts[str(key)]) for key, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, str) and isinstance(other, str):
        return one.rstrip("\n") == other.rstrip("\n")
    return bool(one == other and type(one) is type(other))

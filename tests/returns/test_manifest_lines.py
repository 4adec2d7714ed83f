"""A manifest line by line: every entry judged, every bad line told with its place, none hiding another."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.model import ArtifactFacts, Diagnostic
from remit.returns.manifest_lines import MAX_LINE_BYTES, LineDiagnostic, check_line, check_lines
from tests.support.manifest_entries import ENTRY, make_entry, make_line


def check(text: str | bytes, **files: str) -> list[Diagnostic]:
    """The findings of a manifest; a file is there unless it is said to be something else."""
    return [told.diagnostic for told in tell(text, **files)]


def tell(text: str | bytes, **files: Any) -> list[LineDiagnostic]:  # noqa: ANN401 - file states
    data = text.encode() if isinstance(text, str) else text
    *whole, rest = data.split(b"\n")
    lines = [(line, True) for line in whole] + ([(rest, False)] if rest else [])
    return list(check_lines(lines, inspect=lambda path: ArtifactFacts(path, files.get("state", "file"), 1), words={}))


def codes(findings: Iterable[Diagnostic]) -> list[tuple[str, int]]:
    """Each code with the line it is about."""
    return [(finding.code, finding.place.line if finding.place else 0) for finding in findings]


def test_a_good_manifest_says_nothing() -> None:
    assert check(make_line() + "\n" + make_line(id="auth-2026-01-19-2")) == []
    assert check("") == []
    assert check("\ufeff" + make_line()) == []


def test_each_entry_is_judged_by_the_rules_of_the_contract() -> None:
    """R4.7."""
    text = make_line(id="a-2026-01-19") + make_line(date="19.1.2026") + make_line(id="b-2026-01-19", status="done")
    found = check(text)
    assert codes(found) == [("RET085", 2), ("RET084", 2), ("RET022", 3)]
    place = found[0].place
    assert place is not None
    assert text.split("\n")[1][place.column - 1 : place.end_column - 1] == '"19.1.2026"'


def test_a_missing_file_is_an_error_only_when_the_work_is_complete() -> None:
    """R4.14 C11."""
    text = make_line() + make_line(id="b-2026-01-19", status="partial")
    assert [(each.code, each.severity) for each in check(text, state="missing")] == [
        ("RET089", "error"),
        ("RET089", "warning"),
    ]


def test_a_second_entry_on_one_topic_and_day_gets_a_number() -> None:
    """R4.9."""
    found = check(make_line() * 2 + make_line(id="auth-2026-01-19-3") + make_line())
    assert codes(found) == [("MAN004", 2), ("MAN004", 4)]
    assert "line 1" in found[1].message
    assert "auth-2026-01-19-2," in found[0].hint
    assert "auth-2026-01-19-4," in found[1].hint


@pytest.mark.parametrize(
    ("key", "value", "field"),
    [
        ("task_id", "T11", "linked_tasks"),
        ("taskId", "T11", "linked_tasks"),
        ("output_file", ENTRY["file"], "file"),
        ("timestamp", "2026-01-19T10:00:00Z", "date"),
        ("tasks", ["T11", "T12"], "linked_tasks"),
    ],
)
def test_names_of_the_wild_are_read_with_one_note(key: str, value: object, field: str) -> None:
    """C14."""
    first = make_line(without=(field,), **{key: value})
    found = check(first + make_line(without=(field,), id="b-2026-01-19", **{key: value}))
    assert [(each.code, each.severity, each.pointer) for each in found] == [("MAN005", "note", f"/{key}")]
    place = found[0].place
    assert place is not None
    assert json.loads(first[place.column - 1 : place.end_column - 1]) == value


def test_a_name_of_the_wild_beside_the_field_itself_is_left_alone() -> None:
    assert check(make_line(task_id="T99", output_file="x.md")) == []


def test_what_is_wrong_behind_another_name_is_told_where_it_stands() -> None:
    found = check(make_line(without=("date",), timestamp="yesterday"))
    assert [(each.code, each.place and each.place.column) for each in found if each.severity == "error"] == [
        ("RET085", make_line(without=("date",), timestamp="yesterday").index('"yesterday"') + 1)
    ]


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("nonsense", "isn't valid JSON"),
        ("[1]", "a list, expected an object"),
        ('"text"', "a text, expected an object"),
        ('{"id": "x", "file": ', "isn't closed"),
        ("<<<<<<< HEAD", "unfinished merge"),
        ("=======", "unfinished merge"),
        (make_line(id="x-2026-01-19").strip() + make_line(id="y-2026-01-19").strip(), "2 entries"),
        (make_line(id="x-2026-01-19").strip() + "x", "isn't valid JSON"),
        ("{" * 100_000, "isn't valid JSON"),
        ('{"a":' * 100_000, "isn't closed|nested too deeply"),
        ('{"id": ' + "9" * 5000 + "}", "isn't valid JSON"),
    ],
)
def test_a_bad_line_is_told_and_hides_nothing(line: str, part: str) -> None:
    found = check(make_line() + line + "\n" + make_line(date="x"))
    assert [code for code in codes(found) if code[0] == "RET082"] == [("RET082", 2)]
    assert any(word in found[0].message for word in part.split("|")), found[0].message
    assert ("RET085", 3) in codes(found)
    assert ("MAN004", 3) in codes(found)


def test_what_stands_before_and_behind_on_a_line_is_judged_too() -> None:
    line = make_line(id="x-2026-01-19", status="done").strip() + make_line(id="x-2026-01-19").strip()
    assert [code for code, _ in codes(check(line + "\n"))] == ["RET022", "MAN004", "RET082"]


def test_an_entry_over_several_lines_is_one_finding_and_still_judged() -> None:
    """R4.14: pretty-printed JSON."""
    spread = json.dumps(make_entry(status="done", extra={"a": [{"b": 1}]}), indent=2)
    found = check(make_line(id="a-2026-01-19") + spread + "\n" + make_line())
    count = spread.count("\n") + 1
    line = 2 + spread.split("\n").index('  "status": "done",')
    assert codes(found) == [("RET082", 2), ("RET022", line), ("MAN004", count + 2)]
    assert f"{count} lines" in found[0].message


def test_an_object_that_never_ends_is_one_finding() -> None:
    spread = json.dumps(make_entry(), indent=2).replace("}", "")
    found = check(spread + "\n\n" + make_line())
    assert codes(found) == [("RET082", 1)]
    assert codes(check(spread)) == [("RET082", 1)]


def test_a_torn_tail_is_told_as_one() -> None:
    found = check(make_line() + make_line(id="b-2026-01-19")[:50])
    assert codes(found) == [("MAN002", 2)]


def test_a_last_line_without_its_end_is_a_warning() -> None:
    text = make_line() + make_line(id="b-2026-01-19")
    (finding,) = check(text.rstrip("\n"))
    assert (finding.code, finding.severity) == ("MAN003", "warning")
    assert codes(check("\ufeff" + make_line().rstrip("\n"))) == [("MAN003", 1)]


def test_a_line_that_is_too_long_is_not_read() -> None:
    found = check(make_line(title="x" * MAX_LINE_BYTES) + make_line(id="b-2026-01-19"))
    assert codes(found) == [("MAN001", 1)]


def test_a_line_that_is_not_utf8_is_told_and_judged() -> None:
    line = make_line(title="Größe", date="x").encode("latin-1", "replace").replace(b"\\u00f6", b"\xf6")
    found = check(line)
    assert codes(found)[0] == ("MAN006", 1)
    assert ("RET085", 1) in codes(found)
    place = found[0].place
    assert place is not None
    assert place.column == line.index(b"\xf6") + 1


@pytest.mark.parametrize(
    ("line", "code"),
    [('{"status":"complete","status":"blocked",', "RET007"), ('{"cost":NaN,', "RET006")],
)
def test_what_a_lenient_reader_would_take_is_told(line: str, code: str) -> None:
    found = check(make_line().replace("{", line, 1))
    assert (code, 1) in codes(found)


def test_findings_bring_their_lines() -> None:
    told = tell(make_line() + "nonsense\n" + json.dumps(make_entry(id="c-2026-01-19"), indent=1) + "\n")
    assert [(each.text[:1], each.first_line) for each in told] == [("n", 2), ("{", 3)]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "x", "2026-01-19", "<title>", "a.md", "../x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "x/y", "~"]), inner, max_size=2),
    max_leaves=4,
)


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b"{", b"}", b'{"a":', b"  ]", make_line().encode()])))
def test_no_bytes_break_it(lines: list[bytes]) -> None:
    for told in tell(b"\n".join(lines)):
        place = told.diagnostic.place
        if place is not None:
            assert told.first_line <= place.line <= place.end_line <= told.first_line + told.text.count("\n")


# --- seen at once ---------------------------------------------------------------------------------------------------

_PIECES = st.sampled_from(
    [
        "Use it",
        ".",
        "!",
        "?",
        "…",
        " ",
        "\n",
        "`",
        "```",
        "f()",
        "(",
        ")",
        "{",
        "}",
        ";",
        "e.g.",
        "no.",
        "3.5",
        '"',
        "'",
        "é",
    ]
)
_FINDING = st.lists(_PIECES, min_size=1, max_size=6).map("".join)
_DATES = st.sampled_from(["2026-01-19", "2026-13-19", "19.1.2026", "2026-01-19\n"])
_IDS = st.sampled_from(
    ["a-2026-01-19", "a-2026-01-19-2", "A-2026-01-19", "a-2026-01-19-", "a-2026-01-19x", "-2026-01-19"]
)
_FILES = st.sampled_from(["2026-01-19_a.md", "out/2026-01-19_a.md", "2026-01-19_A.md", "a.md", "2026-01-19_a.md\n"])


def test_a_line_by_itself_is_judged_as_in_a_manifest() -> None:
    for line in (make_line(), make_line(status="done"), make_line(id="Odd"), '{"id": "x"', "[]", ""):
        data = line.rstrip("\n").encode()
        whole = check_lines(((data, True),), inspect=lambda path: ArtifactFacts(path, "file", 1), words={})
        alone = check_line(data, inspect=lambda path: ArtifactFacts(path, "file", 1), words={})
        assert alone == [told.diagnostic._replace(place=None) for told in whole]

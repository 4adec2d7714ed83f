"""The line that a finding is about, and the carets under it."""

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from remit.model import Diagnostic, TextSpan
from remit.terminal import Paint, escape_char, is_visible, measure
from remit.views.excerpt import MAX_DIAGNOSTICS, SourceText, render_diagnostic, render_diagnostics, render_excerpt

PLAIN = Paint(on=False)


def show(text: str, place: TextSpan, *, columns: int = 100) -> str:
    """An excerpt of a text, as lines."""
    lines = render_excerpt(SourceText(text.encode()), place, severity="error", paint=PLAIN, columns=columns)
    return "\n".join(lines) + "\n"


def make_finding(place: TextSpan | None = None, pointer: str = "/status") -> Diagnostic:
    """A finding about a status."""
    return Diagnostic("RET022", "error", "the status is not known", "Use one of: completed, failed.", pointer, place)


def test_a_finding_in_full() -> None:
    text = SourceText(b'{\n  "status": "done"\n}\n')
    shown = render_diagnostic(make_finding(TextSpan(2, 13, 2, 19)), "a.md", text, paint=PLAIN, columns=80)
    assert shown == dedent("""\
        error[RET022]: the status is not known
         --> a.md:2:13
          |
        2 |   "status": "done"
          |             ^^^^^^
          |
          = help: Use one of: completed, failed.
          = see: remit explain RET022""")


def test_a_finding_in_colour() -> None:
    text = SourceText(b"done\n")
    shown = render_diagnostic(make_finding(TextSpan(1, 1, 1, 5)), "a.md", text, paint=Paint(on=True), columns=80)
    red, bold, blue, end = "\x1b[1;31m", "\x1b[1m", "\x1b[1;34m", "\x1b[0m"
    assert shown.split("\n") == [
        f"{red}error[RET022]{end}{bold}: the status is not known{end}",
        f" {blue}-->{end} a.md:1:1",
        f"  {blue}|{end}",
        f"{blue}1{end} {blue}|{end} done",
        f"  {blue}|{end} {red}^^^^{end}",
        f"  {blue}|{end}",
        f"  {blue}={end} {bold}help{end}: Use one of: completed, failed.",
        f"  {blue}={end} {bold}see{end}: remit explain RET022",
    ]


@pytest.mark.parametrize(
    ("pointer", "place", "where"),
    [
        pytest.param("/artifacts/0/path", None, "a.md at /artifacts/0/path", id="a pointer"),
        pytest.param("", None, "a.md", id="neither"),
        pytest.param("/x\x1b", None, "a.md at /x<U+001B>", id="a hostile pointer"),
        pytest.param("/status", TextSpan(9, 1, 9, 2), "a.md at /status", id="a place that the text does not have"),
    ],
)
def test_a_finding_without_a_line_to_show(pointer: str, place: TextSpan | None, where: str) -> None:
    shown = render_diagnostic(make_finding(place, pointer), "a.md", SourceText(b"{}\n"), paint=PLAIN, columns=80)
    assert shown == dedent(f"""\
        error[RET022]: the status is not known
         --> {where}
          = help: Use one of: completed, failed.
          = see: remit explain RET022""")


def test_a_place_over_several_lines_shows_the_first_and_the_last() -> None:
    text = "".join(f"  line {number}\n" for number in range(1, 12))
    assert show(text, TextSpan(2, 8, 10, 7)) == dedent("""\
           |
         2 |   line 2
           |        ^
        ...
        10 |   line 10
           |   ^^^^
           |
        """)


def test_two_lines_that_meet_need_no_dots() -> None:
    assert show("ab\ncd\n", TextSpan(1, 2, 2, 2)) == dedent("""\
          |
        1 | ab
          |  ^
        2 | cd
          | ^
          |
        """)


def test_a_place_that_ends_with_its_line_does_not_show_the_next() -> None:
    assert show("abc\nd\n", TextSpan(1, 2, 2, 1)) == dedent("""\
          |
        1 | abc
          |  ^^
          |
        """)


@pytest.mark.parametrize(
    ("text", "place", "line", "carets"),
    [
        pytest.param("\t\tx", TextSpan(1, 3, 1, 4), "        x", "        ^", id="tabs"),
        pytest.param("日本x", TextSpan(1, 3, 1, 4), "日本x", "    ^", id="wide characters before"),
        pytest.param("a日本b", TextSpan(1, 2, 1, 4), "a日本b", " ^^^^", id="wide characters under"),
        pytest.param("e\u0301x", TextSpan(1, 3, 1, 4), "e\u0301x", " ^", id="an accent of its own"),
        pytest.param("\x1b[1mx", TextSpan(1, 5, 1, 6), "<U+001B>[1mx", "           ^", id="a terminal sequence"),
        pytest.param("\u202ex", TextSpan(1, 2, 1, 3), "<U+202E>x", "        ^", id="writing turned around"),
        pytest.param("ab\r\ncd", TextSpan(1, 2, 1, 3), "ab", " ^", id="a carriage return is no text"),
        pytest.param("ab", TextSpan(1, 3, 1, 3), "ab", "  ^", id="the end of the text"),
        pytest.param("", TextSpan(1, 1, 1, 1), "", "^", id="an empty text"),
        pytest.param("ab", TextSpan(1, 9, 1, 12), "ab", "  ^", id="a column that doesn't exist"),
        pytest.param("a\u2028b", TextSpan(1, 3, 1, 4), "a<U+2028>b", "         ^", id="a separator ends no line"),
    ],
)
def test_carets_stand_under_what_is_meant(text: str, place: TextSpan, line: str, carets: str) -> None:
    assert show(text, place).split("\n")[1:3] == [f"1 | {line}" if line else "1 |", f"  | {carets}"]


@pytest.mark.parametrize(
    ("start", "end", "line", "carets"),
    [
        pytest.param(1, 4, "0123456789012345678901234567890123…", "^^^", id="at the beginning"),
        pytest.param(501, 504, "…5678901234567890123456789012345678…", "                ^^^", id="in the middle"),
        pytest.param(
            998, 1001, "…6789012345678901234567890123456789", "                                ^^^", id="at the end"
        ),
    ],
)
def test_of_a_long_line_the_part_around_the_place_is_shown(start: int, end: int, line: str, carets: str) -> None:
    shown = show("0123456789" * 100, TextSpan(1, start, 1, end), columns=40).split("\n")
    assert shown[1:3] == [f"1 | {line}", f"  | {carets}"]


def test_of_a_long_place_the_beginning_is_shown_and_what_stands_before_it() -> None:
    line = f'"summary": "{"word " * 1000}"'
    shown = show(line, TextSpan(1, 12, 1, len(line) + 1), columns=60).split("\n")
    assert shown[1] == snapshot('1 | …ary": "word word word word word word word word word wo…')
    assert shown[2] == "  |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"
    assert len(shown[1]) == 60


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\n\r\t"), min_size=1, max_size=300),
    st.data(),
    st.integers(min_value=40, max_value=120),
)
def test_every_excerpt_fits_and_points_at_its_place(line: str, data: st.DataObject, columns: int) -> None:
    """Nothing raw, nothing wider than the screen, and under the first caret the first character of the place."""
    start = data.draw(st.integers(min_value=0, max_value=len(line) - 1))
    end = data.draw(st.integers(min_value=start + 1, max_value=len(line)))
    _, source, carets, _ = show(line, TextSpan(1, start + 1, 1, end + 1), columns=columns).rstrip("\n").split("\n")
    assert all(map(is_visible, source + carets))
    assert sum(measure(source)) <= columns
    assert set(carets[4:]) <= {" ", "^"}
    assert "^" in carets
    indent = carets.index("^")
    pieces = [source[:cut] for cut in range(len(source) + 1) if sum(measure(source[:cut])) == indent]
    first = escape_char(line[start])
    assert any(source[len(piece) :].startswith(first) for piece in pieces)


def test_a_flood_of_findings_is_cut_and_counted() -> None:
    findings = [make_finding()] * (MAX_DIAGNOSTICS + 7)
    shown = render_diagnostics(findings, "a.md", b"{}", paint=PLAIN)
    assert shown.count("error[RET022]") == MAX_DIAGNOSTICS
    assert shown.endswith("\n\n… and 7 more; --output-format concise shows them all")


def test_bytes_that_are_no_text_take_one_column_each() -> None:
    lines = render_excerpt(SourceText(b"\xff\xfex"), TextSpan(1, 3, 1, 4), severity="error", paint=PLAIN, columns=80)
    assert lines[1:3] == ["1 | \ufffd\ufffdx", "  |   ^"]

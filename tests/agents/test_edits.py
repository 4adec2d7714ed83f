"""Edits: strings as YAML, and fixes, of which all edits are applied or none."""

import json
import time
from collections.abc import Sequence

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from remit.agents.edits import apply_fixes, quote, render_scalar
from remit.model import Diagnostic, Fix, TextEdit

TEXT = "0123456789"
Changes = Sequence[tuple[int, int, str]]


def make(*edits: tuple[int, int, str], safe: bool = True, code: str = "AGT999") -> Diagnostic:
    fix = Fix("safe" if safe else "unsafe", "Change it.", tuple(TextEdit(*edit) for edit in edits))
    return Diagnostic(code, "warning", "it is wrong", "Change it.", fix=fix)


def apply(*fixes: Changes, text: str = TEXT, unsafe: bool = True) -> tuple[str, int]:
    fixed = apply_fixes([make(*edits) for edits in fixes], text, unsafe=unsafe)
    return fixed.text, len(fixed.applied)


def test_an_edit_changes_its_span_and_nothing_else() -> None:
    assert apply([(2, 5, "abc")]) == ("01abc56789", 1)
    assert apply([(0, 0, ">")]) == (">0123456789", 1)
    assert apply([(10, 10, "<")]) == ("0123456789<", 1)
    assert apply([(0, 10, "")]) == ("", 1)


def test_edits_in_any_order_are_applied_together() -> None:
    assert apply([(7, 8, "x")], [(0, 1, "yy")], [(4, 5, "")]) == ("yy12356x89", 3)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((2, 5, "a"), (2, 5, "b")),
        ((2, 5, "a"), (3, 4, "b")),
        ((3, 4, "a"), (2, 5, "b")),
        ((2, 5, "a"), (4, 7, "b")),
        ((4, 7, "a"), (2, 5, "b")),
        ((2, 5, "a"), (5, 7, "b")),
        ((5, 7, "a"), (2, 5, "b")),
        ((2, 5, "a"), (5, 5, "b")),
        ((2, 5, "a"), (2, 2, "b")),
        ((2, 2, "a"), (2, 5, "b")),
        ((3, 3, "a"), (2, 5, "b")),
    ],
)
def test_of_two_that_touch_the_first_is_applied(first: tuple[int, int, str], second: tuple[int, int, str]) -> None:
    start, end, content = first
    assert apply([first], [second]) == (TEXT[:start] + content + TEXT[end:], 1)


def test_insertions_at_one_place_keep_their_order() -> None:
    assert apply([(4, 4, "a")], [(4, 4, "b")], [(4, 4, "c")]) == ("0123abc456789", 3)
    assert apply([(8, 9, "")], [(4, 4, "a")], [(4, 4, "b")]) == ("0123ab45679", 3)


def test_a_fix_is_applied_whole_or_not_at_all() -> None:
    assert apply([(4, 5, "x")], [(0, 1, "a"), (4, 6, "b"), (8, 9, "c")]) == ("0123x56789", 1)
    assert apply([(0, 1, "a"), (8, 9, "c")], [(4, 5, "x")]) == ("a123x567c9", 2)


def test_the_edits_of_one_fix_may_stand_side_by_side_but_not_in_each_other() -> None:
    assert apply([(2, 4, "a"), (4, 6, "b")]) == ("01ab6789", 1)
    assert apply([(4, 6, "b"), (2, 4, "a")]) == ("01ab6789", 1)
    assert apply([(2, 5, "a"), (4, 6, "b")]) == (TEXT, 0)
    assert apply([(2, 4, "a"), (4, 4, "b")], [(4, 4, "c")]) == ("01ab456789", 1)


@pytest.mark.parametrize("edit", [(-1, 2, "a"), (5, 3, "a"), (9, 11, "a"), (11, 11, "a")])
def test_an_edit_outside_of_the_text_is_none(edit: tuple[int, int, str]) -> None:
    assert apply([edit]) == (TEXT, 0)


def test_a_fix_without_edits_is_none() -> None:
    assert apply([]) == (TEXT, 0)


def test_an_unsafe_fix_is_applied_only_when_asked_for() -> None:
    findings = [make((0, 1, "a"), safe=False), make((5, 6, "b"))]
    assert apply_fixes(findings, TEXT, unsafe=False) == ("01234b6789", (findings[1],))
    assert apply_fixes(findings, TEXT, unsafe=True).text == "a1234b6789"


def test_a_finding_without_a_fix_changes_nothing() -> None:
    finding = Diagnostic("AGT999", "error", "it is wrong", "Look.")
    assert apply_fixes([finding], TEXT, unsafe=True) == (TEXT, ())


@given(
    edits=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.text("xyz", max_size=3)), max_size=20),
    text=st.text("abc", min_size=33, max_size=40),
)
def test_what_is_applied_is_what_each_alone_would_do(edits: list[tuple[int, int, str]], text: str) -> None:
    """The law by brute force: an edit is taken where it touches none that was; then all are applied from the end."""
    findings = [make((start, start + length, content)) for start, length, content in edits]
    taken: list[tuple[int, int, str]] = []
    for start, length, content in edits:
        end = start + length
        if not any(a <= end and start <= b and not (a == b == start == end) for a, b, _ in taken):
            taken.append((start, end, content))
    expected = text
    for start, end, content in sorted(taken, key=lambda edit: edit[:2])[::-1]:
        expected = expected[:start] + content + expected[end:]
    fixed = apply_fixes(findings, text, unsafe=True)
    assert fixed.text == expected
    assert len(fixed.applied) == len(taken)


def test_ten_thousand_fixes_of_a_long_text_take_no_time() -> None:
    text = "word " * 200_000
    findings = [make((at * 100, at * 100 + 4, "WORD")) for at in range(10_000)]
    before = time.process_time()
    fixed = apply_fixes(reversed(findings), text, unsafe=True)
    assert time.process_time() - before < 1
    assert fixed.text.count("WORD") == 10_000


# --- strings as YAML ---------------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text("._-/ 0eEfinaxy~:#", max_size=6)


@given(TEXTS)
def test_a_text_is_read_as_the_text_it_was(text: str) -> None:
    assert yaml.safe_load(f"key: {render_scalar(text)}\n") == {"key": text}
    assert yaml.safe_load(f"key: {quote(text)}\n") == {"key": text}
    assert json.loads(quote(text)) == text


@pytest.mark.parametrize("text", [".5", ".inf", ".NaN", "yes", "", "null", "\x85", "\x7f", "\u2028", "\ufeff"])
def test_a_text_that_yaml_would_misread_is_quoted(text: str) -> None:
    assert render_scalar(text).startswith('"')
    assert yaml.safe_load(f"key: {render_scalar(text)}\n") == {"key": text}

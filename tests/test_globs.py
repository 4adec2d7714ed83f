"""Globs: one matcher for names, paths and patterns, that ends quickly."""

from fnmatch import fnmatchcase
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.agents import patterns
from remit.globs import (
    MAX_CHOICES,
    expand_braces,
    is_pattern,
    match_segments,
    match_tokens,
    matches_name,
    matches_stars,
    tokenize,
)


def is_same(token: str, char: str) -> bool:
    return token == char


@given(st.text("ab*?[", max_size=8), st.text("ab?[", max_size=12))
def test_stars_match_as_tokens_do(pattern: str, text: str) -> None:
    assert matches_stars(pattern, text) is match_tokens(pattern, text, is_same)


def test_a_long_text_is_compared_with_stars_at_once() -> None:
    began = process_time()
    assert not matches_stars("*" + "a" * 100 + "b*c", "a" * 1_000_000)
    assert process_time() - began < 0.5


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [("a*c", "abbc", True), ("a*c", "abbcd", False), ("*", "", True), ("", "a", False), ("a*b*", "acab", True)],
)
def test_a_star_matches_any_characters(pattern: str, text: str, fits: bool) -> None:  # noqa: FBT001 - a table
    assert match_tokens(pattern, text, is_same) is matches_stars(pattern, text) is fits


def test_only_stars_are_special_in_names_of_agents() -> None:
    assert matches_stars("hyper:*", "hyper:a")
    assert not matches_stars("a?[b]", "abb")


def test_a_class_is_one_token() -> None:
    assert tokenize("a[b-d]*]") == ("a", "[b-d]", "*", "]")
    assert tokenize("[]x]") == ("[]x]",)


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("*.{js,ts}", ["*.js", "*.ts"]),
        ("{a,b}{c,d}{e,f}", ["ace", "acf", "ade", "adf", "bce", "bcf", "bde", "bdf"]),
        ("a{b", ["a{b"]),
        ("{a,{b,c}}", ["{a,{b,c}}"]),
    ],
)
def test_braces_are_expanded(pattern: str, texts: list[str]) -> None:
    assert sorted(expand_braces(pattern)) == texts
    assert is_pattern(pattern)


def test_braces_make_so_many_choices() -> None:
    assert len(expand_braces("{" + ",".join("abcdefgh" * 20) + "}{a,b,c}")) == MAX_CHOICES


NAMES = st.text(st.sampled_from("ab.-]"), max_size=8)
PATTERNS = st.lists(st.sampled_from(["a", "b", "*", "?", "[ab]", "[!a]", "[a-b]", ".", "]"]), max_size=6).map("".join)


@given(PATTERNS, NAMES)
def test_names_are_matched_as_the_standard_library_does(pattern: str, name: str) -> None:
    assert matches_name(pattern, name) == fnmatchcase(name, pattern)


def test_two_stars_cross_folders_and_one_does_not() -> None:
    assert match_segments(["a", "**", "d"], ["a", "b", "c", "d"], is_same) == {4}
    assert match_segments(["a", "**"], ["a", "b"], is_same) == {1, 2}
    assert match_segments(["a", "d"], ["a", "b", "d"], is_same) == set()


@pytest.mark.parametrize(
    ("pattern", "name"), [("a*c", "abc"), ("*.py", "x.py"), ("*.py", "x.pyc"), ("a?c", "abc"), ("a?c", "ac")]
)
def test_the_linter_and_the_policy_read_a_name_alike(pattern: str, name: str) -> None:
    assert patterns.matches_path(pattern, name) == matches_name(pattern, name)


def test_no_pattern_makes_them_slow() -> None:
    start = process_time()
    assert not match_tokens("*a" * 100 + "b", "a" * 4000, is_same)
    assert not match_segments(["**", "a"] * 100 + ["b"], ["a"] * 2000, is_same)
    assert process_time() - start < 2

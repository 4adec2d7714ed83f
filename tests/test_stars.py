"""Patterns with stars: both walks end quickly, and tell the same in every room."""

from time import process_time

import pytest

from remit.agents import patterns
from remit.policy import paths
from remit.stars import cross_folders, fits_signs, read_signs


def is_same(sign: str, char: str) -> bool:
    return sign == char


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [("a*c", "abbc", True), ("a*c", "abbcd", False), ("*", "", True), ("", "a", False), ("a*b*", "acab", True)],
)
def test_a_star_stands_for_any_signs(pattern: str, text: str, fits: bool) -> None:  # noqa: FBT001 - a table
    assert fits_signs(pattern, text, is_same) is fits


def test_a_class_is_one_sign() -> None:
    assert read_signs("a[b-d]*]") == ("a", "[b-d]", "*", "]")
    assert read_signs("[]x]") == ("[]x]",)


def test_two_stars_cross_folders_and_one_does_not() -> None:
    assert cross_folders(["a", "**", "d"], ["a", "b", "c", "d"], is_same) == {4}
    assert cross_folders(["a", "**"], ["a", "b"], is_same) == {1, 2}
    assert cross_folders(["a", "d"], ["a", "b", "d"], is_same) == set()


@pytest.mark.parametrize(
    ("pattern", "name"), [("a*c", "abc"), ("*.py", "x.py"), ("*.py", "x.pyc"), ("a?c", "abc"), ("a?c", "ac")]
)
def test_the_linter_and_the_policy_read_a_name_alike(pattern: str, name: str) -> None:
    assert patterns.matches_path(pattern, name) == paths.matches_name(pattern, name)


def test_no_pattern_makes_them_slow() -> None:
    start = process_time()
    assert not fits_signs("*a" * 100 + "b", "a" * 4000, is_same)
    assert not cross_folders(["**", "a"] * 100 + ["b"], ["a"] * 2000, is_same)
    assert process_time() - start < 2

"""What patterns cover, by a second matcher."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.agents.patterns import (
    covers,
    covers_command,
    matches_command,
    matches_path,
    matches_whole,
)
from remit.globs import EVERYTHING

# --- paths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wide", "narrow"), [
    ("**/*", "docs/plan.md"), ("docs/**", "docs/a/b.md"), ("docs/**/*", "docs/**"), ("docs/**", "docs/**/*"),
    ("docs/**", "docs/*/reports/*.md"), ("**/*.md", "docs/plan.md"), ("**/*.md", "plan.md"), ("**/x.md", "a/b/x.md"),
    ("docs/*", "docs/plan.md"), ("docs/*.md", "docs/p*.md"), ("*.{js,ts}", "a.ts"), ("**/*.ts", "src/*.ts"),
    ("./docs/**", "docs/a"), ("a?c", "abc"), ("specs/*/reports/**/*", "specs/7/reports/x.md"), ("*", "a/b/c"),
    ("**/*.{md,txt}", "docs/{a,b}.md"),
])  # fmt: skip
def test_a_pattern_covers_a_narrower_one(wide: str, narrow: str) -> None:
    assert covers(wide, narrow)


@pytest.mark.parametrize(("wide", "narrow"), [
    ("docs/*", "docs/a/b.md"), ("docs/**", "docs.md"), ("docs/**", "other/docs/x"), ("**/*.md", "docs/**"),
    ("docs/**", "docs/../secret"), ("a/*", "a/**"), ("**/x.md", "ax.md"), ("docs/**", "**/*"), ("a?c", "a*c"),
    ("*.{js,ts}", "a.py"), ("**/*", "!docs/x"), ("docs", "docs/x"), ("*.md", "docs/x.md"), ("[ab].md", "c.md"),
])  # fmt: skip
def test_a_pattern_does_not_cover_another(wide: str, narrow: str) -> None:
    assert not covers(wide, narrow)


PARTS = st.sampled_from(["a", "b", "ab", "*", "**", "a*", "*b", "?", "[ab]", "b?"])
PATTERNS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "ba", "aab", "bb"]), min_size=1, max_size=5).map("/".join)


def matches_by_regex(pattern: str, path: str) -> bool:
    """A second matcher, slow and plain."""
    if pattern in EVERYTHING:
        return True
    parts = pattern.split("/")
    parts = [*parts, "*"] if parts[-1] == "**" else parts
    text = ""
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            text += "(?:[^/]+/)*"
        else:
            inner = "".join({"*": "[^/]*", "?": "[^/]"}.get(sign, sign) for sign in part)
            text += inner + ("" if last else "/")
    return re.fullmatch(text, path) is not None


@given(PATTERNS, PATHS)
def test_paths_are_matched_as_by_a_second_matcher(pattern: str, path: str) -> None:
    if "[" not in pattern or matches_path(pattern, path):  # a class is compared by its text: no is no proof
        assert matches_path(pattern, path) == matches_by_regex(pattern, path)


@given(PATTERNS, PATTERNS, st.lists(PATHS, max_size=20))
def test_what_the_narrow_one_matches_the_wide_one_matches(wide: str, narrow: str, paths: list[str]) -> None:
    if covers(wide, narrow):
        for path in paths:
            assert matches_by_regex(wide, path) or not matches_by_regex(narrow, path), path


@given(PATTERNS, PATTERNS, PATTERNS)
def test_covering_is_an_order(one: str, two: str, three: str) -> None:
    assert covers(one, one)
    if covers(one, two) and covers(two, three) and not {one, two, three} & EVERYTHING:
        assert covers(one, three)


@given(st.text(max_size=400), st.text(max_size=400))
def test_any_text_can_be_compared(one: str, two: str) -> None:
    covers(one, two)
    covers_command(one, two)
    matches_command(one, two)
    matches_whole(one, two)


def test_long_patterns_take_no_time() -> None:
    """Each would keep a backtracking matcher busy for years."""
    assert not covers("*a" * 140 + "b", "a" * 290)
    assert not covers("**/a/" * 50 + "b", "a/" * 140 + "c")
    assert not matches_command("*a" * 5_000 + "b", "a" * 10_000)


# --- bash ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pattern", "command"), [
    ("rm", "rm"), ("rm", "rm -rf x"), ("rm *", "rm x"), ("rm:*", "rm x"), ("git push:*", "git push origin"),
    ("git *--force", "git push origin --force"), ("git -*", "git -C . push"), ("*", "anything"), ("", "anything"),
    ("git push *-f", "git push -f"), ("npm run test*", "npm run test:unit"), ("rm  -rf", "rm -rf x"),
])  # fmt: skip
def test_a_command_is_matched(pattern: str, command: str) -> None:
    assert matches_command(pattern, command)


@pytest.mark.parametrize(("pattern", "command"), [
    ("rm", "rmdir x"), ("rm -rf", "rm -r -f x"), ("git push", "git -C . push"), ("git *--force", "git push --forced"),
    ("git push", "git pull"), ("rm", "env rm"), ("git *--force", "git push"),
])  # fmt: skip
def test_a_command_is_not_matched(pattern: str, command: str) -> None:
    assert not matches_command(pattern, command)


WORDS = st.lists(st.sampled_from(["git", "push", "-f", "--force", "origin", "rm", "*"]), min_size=1, max_size=4)


@given(WORDS, WORDS, WORDS)
def test_what_the_narrow_bash_pattern_matches_the_wide_one_matches(
    one: list[str], two: list[str], more: list[str]
) -> None:
    wide, narrow = " ".join(one), " ".join(two)
    command = " ".join(two + more).replace("*", "word")
    if covers_command(wide, narrow) and matches_command(narrow, command):
        assert matches_command(wide, command)


@pytest.mark.parametrize(("pattern", "command", "expected"), [
    ("git push *", "git push", True), ("git push *", "git push origin", True), ("git push *", "git pushx", False),
    ("git push*", "git pushx", True), ("git push", "git push origin", False), ("*", "rm -rf /", True),
    ("*rm*", "sudo rm x", True), ("ls ?", "ls x", True), ("ls ?", "ls", False), ("rm *", "/bin/rm x", False),
])  # fmt: skip
def test_a_whole_command(pattern: str, command: str, expected: bool) -> None:  # noqa: FBT001 - a column of the table
    assert matches_whole(pattern, command) is expected


def test_a_long_command_takes_no_time() -> None:
    assert not matches_whole("*a" * 149 + "b", "a" * 590)

"""The marks of an unfinished merge are found, and the file is split into its sides."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.storage.merge_conflicts import split_sides, walk_conflicts

if TYPE_CHECKING:
    from pathlib import Path

CONFLICT = "1\n<<<<<<< a\n2\n=======\n3\n>>>>>>> b\n4"


def test_the_sides_are_the_lines_of_each() -> None:
    assert split_sides(CONFLICT) == ("1\n2\n4", "1\n3\n4")
    assert split_sides(CONFLICT.replace("=======", "||||||| base\n0\n=======")) == ("1\n2\n4", "1\n3\n4")
    assert split_sides(CONFLICT.replace("\n", "\r\n")) == ("1\r\n2\r\n4", "1\r\n3\r\n4")
    assert split_sides(f"{CONFLICT}\n{CONFLICT}") == ("1\n2\n4\n1\n2\n4", "1\n3\n4\n1\n3\n4")


@pytest.mark.parametrize(
    "text", ["", "1", "=======\n1", "<<<<<<< a\n1", "<<<<<<< a\n>>>>>>> b", " <<<<<<< a\n=======\n"]
)
def test_what_is_not_complete_is_not_a_conflict(text: str) -> None:
    assert split_sides(text) is None


def test_a_conflict_in_an_example_is_skipped() -> None:
    text = f"{CONFLICT}\n{CONFLICT}"
    start = text.index("1", len(CONFLICT))
    (found,) = walk_conflicts(text, examples=[(start, len(text))])
    assert text[found.start : found.end] == "<<<<<<< a\n2\n=======\n3\n>>>>>>> b\n"
    assert split_sides(text, examples=[(start, len(text))]) == (f"1\n2\n4\n{CONFLICT}", f"1\n3\n4\n{CONFLICT}")


LINES = st.lists(st.sampled_from(["a", "b", "", "<<<<<<< x", "=======", ">>>>>>> y", "||||||| z", "<<<<<<<x"]))


@given(LINES)
def test_each_side_has_lines_of_the_text_in_their_order(lines: list[str]) -> None:
    text = "\n".join(lines)
    sides = split_sides(text)
    if sides is None:
        assert not [*walk_conflicts(text)]
        return
    for side in sides:
        assert side.count("\n") < text.count("\n")
        rest = iter([*lines, ""])  # the side of a conflict at the end of the text ends with a line break
        assert all(any(here == there for there in rest) for here in side.split("\n"))


def test_the_sides_of_git_are_the_files_of_both_branches(tmp_path: Path) -> None:
    base = [f"line {number}\n" for number in range(40)]
    names = ("ours", "base", "theirs")
    texts = {
        "base": "".join(base),
        "ours": "".join(["ours\n", *base[1:20], "o\n", *base[21:]]),
        "theirs": "".join(["theirs\n", *base[1:20], "t\n", "t\n", *base[21:]]),
    }
    for name in names:
        (tmp_path / name).write_text(texts[name])
    for style in ("--diff3", "-q"):
        merge = ["git", "merge-file", "-p", style, *names]
        merged = subprocess.run(merge, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert merged.returncode == 2
        assert split_sides(merged.stdout) == (texts["ours"], texts["theirs"])

"""Earlier: a file as it was at a commit, whatever its name and whatever the repository says."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from remit.git.file_history import FileAtCommit, compare_texts, load_file_at
from tests.support.git_command import git
from tests.support.ledger_rows import make_repository

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("plain.md", "a b.md", "*.md", "[x].md", ":(top)x.md", "-n", 'quote".md', "line\nbreak.md", "ünï.md", "a\tb")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path, **{name: f"at first: {number}\n" for number, name in enumerate(NAMES)})


def find_head(root: Path) -> str:
    return git(root, "rev-parse", "HEAD").strip()


def test_a_file_is_what_it_was(root: Path) -> None:
    first = find_head(root)
    for number, name in enumerate(NAMES):
        (root / name).write_text("later\n")
        told = load_file_at(str(root), first, name, max_bytes=100)
        assert told == FileAtCommit("file", f"at first: {number}\n".encode())


def test_what_was_not_there_is_told(root: Path) -> None:
    first = find_head(root)
    for name in ("absent.md", "plain.md/x", "", "../plain.md", "x" * 5000):
        told = load_file_at(str(root), first, name, max_bytes=100)
        assert told is None or told.state in ("none", "other"), name


@pytest.mark.parametrize("commit", ["", "HEAD", "main", "0" * 40, "f" * 64, "-x", "a" * 39, "--output=x" + "a" * 30])
def test_without_such_a_commit_nothing_is_known(root: Path, commit: str) -> None:
    assert load_file_at(str(root), commit, "plain.md", max_bytes=100) is None


def test_outside_of_a_repository_nothing_is_known(tmp_path: Path) -> None:
    assert load_file_at(str(tmp_path), "a" * 40, "plain.md", max_bytes=100) is None
    assert compare_texts(str(tmp_path), b"a\n", b"b\n") is None


def test_what_is_no_short_file_is_told(root: Path) -> None:
    (root / "link.md").symlink_to("plain.md")
    (root / "folder").mkdir()
    (root / "folder" / "x").write_text("x")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "two")
    states = {}
    for name in ("link.md", "folder", "plain.md"):
        told = load_file_at(str(root), find_head(root), name, max_bytes=5)
        assert told is not None
        states[name] = told.state
    assert states == {"link.md": "link", "folder": "other", "plain.md": "large"}


def test_a_replaced_object_is_not_taken(root: Path) -> None:
    blob = git(root, "rev-parse", "HEAD:plain.md").strip()
    (root / "other").write_text("put in its place\n")
    git(root, "replace", blob, git(root, "hash-object", "-w", "other").strip())
    assert "put in its place" in git(root, "show", "HEAD:plain.md")
    told = load_file_at(str(root), find_head(root), "plain.md", max_bytes=100)
    assert told == FileAtCommit("file", b"at first: 0\n")


def test_two_texts_are_compared_and_nothing_is_left_behind(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = root.parent / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    assert compare_texts(str(root), b"one\ntwo\n", b"one\n2\n") == b"@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    assert compare_texts(str(root), b"same\n", b"same\n") == b""
    assert os.listdir(scratch) == []  # noqa: PTH208 - only the names
    assert git(root, "status", "--porcelain") == ""

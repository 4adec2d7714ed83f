"""Head: the branch is what git says it is, and a hostile file says nothing."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from remit.git.head import find_branch, find_commit

if TYPE_CHECKING:
    from pathlib import Path


def git(folder: Path, *args: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    done = subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "feature/one")
    return tmp_path


def test_a_branch_is_named_before_its_first_commit_and_from_below(root: Path) -> None:
    (root / "deep/down").mkdir(parents=True)
    assert find_branch(str(root)) == "feature/one"
    assert find_branch(str(root / "deep/down")) == "feature/one"


def test_a_commit_without_a_branch_is_named_by_its_beginning(root: Path) -> None:
    git(root, "commit", "-q", "--allow-empty", "-m", "one")
    git(root, "checkout", "-q", "--detach")
    assert find_branch(str(root)) == git(root, "rev-parse", "HEAD")[:8]


def test_a_worktree_has_a_branch_of_its_own(root: Path) -> None:
    git(root, "commit", "-q", "--allow-empty", "-m", "one")
    git(root, "worktree", "add", "-q", "-b", "two", "tree")
    assert find_branch(str(root / "tree")) == "two"


def test_outside_of_a_repository_there_is_none(tmp_path: Path) -> None:
    assert find_branch(str(tmp_path)) is None


@pytest.mark.parametrize("content", [b"", b"ref: ", b"nonsense", b"x" * 1_000_000, b"\xff\xfe", None])
def test_a_file_that_says_anything_else_says_nothing(root: Path, content: bytes | None) -> None:
    (root / ".git/HEAD").unlink()
    if content is None:
        os.mkfifo(root / ".git/HEAD")
    else:
        (root / ".git/HEAD").write_bytes(content)
    assert find_branch(str(root)) is None
    assert find_commit(str(root)) == ""


def test_the_commit_is_the_one_that_git_names(root: Path) -> None:
    assert find_commit(str(root)) == ""
    git(root, "commit", "-q", "--allow-empty", "-m", "one")
    assert find_commit(str(root)) == git(root, "rev-parse", "HEAD")
    git(root, "pack-refs", "--all")
    assert not (root / ".git/refs/heads/feature/one").exists()
    assert find_commit(str(root)) == git(root, "rev-parse", "HEAD")
    git(root, "worktree", "add", "-q", "-b", "two", "tree")
    git(root / "tree", "commit", "-q", "--allow-empty", "-m", "two")
    assert find_commit(str(root / "tree")) == git(root / "tree", "rev-parse", "HEAD") != git(root, "rev-parse", "HEAD")
    git(root, "checkout", "-q", "--detach")
    assert find_commit(str(root)) == git(root, "rev-parse", "HEAD")


def test_a_head_that_leads_elsewhere_names_no_commit(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("0" * 40)
    for told in ("ref: refs/../../outside", "ref: outside", "ref: /etc/passwd"):
        (root / ".git/HEAD").write_text(told)
        assert find_commit(str(root)) == ""

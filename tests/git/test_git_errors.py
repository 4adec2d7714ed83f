"""A machine that fails beneath git: whatever happens is told, and what is told is true."""

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from remit.errors import StorageError
from remit.git import commits, repository
from remit.git.commits import commit_paths, find_uncommitted
from remit.git.git_errors import GitRefused, commit_failed
from remit.git.process import GitOutput, run
from remit.git.worktrees import add_worktree, list_worktrees
from tests.support.file_limit import few_files
from tests.support.git_checkout import Checkout


@pytest.fixture
def broken_pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], list[int]]:
    """Let what is handed over to git fail, at the n-th time; a list of the times that it did."""
    real = os.write

    def arrange(at: int, error: int) -> list[int]:
        seen: list[int] = []
        failed: list[int] = []

        def write(handle: int, data: bytes) -> int:
            if isinstance(data, memoryview):
                seen.append(handle)
                if len(seen) == at:
                    failed.append(handle)
                    raise OSError(error, os.strerror(error))
            return real(handle, data)

        monkeypatch.setattr(os, "write", write)
        return failed

    return arrange


@pytest.mark.slow
def test_a_process_that_may_open_no_more_files_is_told_so_at_every_point(checkout: Checkout) -> None:
    root = str(checkout.root)
    told = []
    for number in range(40):
        checkout.put("a.md", f"{number}\n")
        before = checkout.git("rev-parse", "HEAD").strip()
        with few_files(number):
            missing = find_uncommitted(root, ["a.md"])
            done = commit_paths(root, ["a.md"], "task 1: try")
        now = checkout.git("rev-parse", "HEAD").strip()
        assert (done.commit is None) == (now == before), number
        assert (done.commit is None) == bool(done.diagnostics), number
        assert missing.paths == ("a.md",) or missing.diagnostics, number
        told += [finding.message for finding in done.diagnostics]
        if done.commit is not None and number > 10:
            break
    else:
        pytest.fail("no number was enough")
    assert any("can't start git: too many open files" in message for message in told)
    checkout.git("fsck", "--strict")


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_pipe_that_fails_is_a_finding(
    checkout: Checkout, broken_pipe: Callable[[int, int], list[int]], at: int, error: int
) -> None:
    checkout.put("a.md", "two\n")
    before = checkout.git("rev-parse", "HEAD")
    failed = broken_pipe(at, error)
    done = commit_paths(str(checkout.root), ["a.md"], "task 1: try")
    assert len(failed) == 1
    assert (done.commit, [finding.code for finding in done.diagnostics]) == (None, ["GIT009"])
    assert f"can't read git's output: {os.strerror(error).lower()}" in done.diagnostics[0].message
    assert checkout.git("rev-parse", "HEAD") == before
    assert commit_paths(str(checkout.root), ["a.md"], "task 1: again").paths == ("a.md",)


def test_a_pipe_that_fails_is_a_finding_for_those_who_only_look(
    checkout: Checkout, broken_pipe: Callable[[int, int], list[int]]
) -> None:
    checkout.put("a.md", "two\n")
    failed = broken_pipe(1, errno.EIO)
    missing = find_uncommitted(str(checkout.root), ["a.md"])
    assert (len(failed), missing.paths, missing.diagnostics[0].code) == (1, (), "GIT009")


@pytest.mark.parametrize("moved", [True, False])
def test_a_branch_that_moved_before_git_fell_silent_is_a_commit(
    checkout: Checkout,
    monkeypatch: pytest.MonkeyPatch,
    moved: bool,  # noqa: FBT001 - a table
) -> None:
    silent = []

    def fall_silent(folder: str, *arguments: str, given: bytes = b"") -> GitOutput:
        if arguments[0] != "update-ref":
            return run(folder, *arguments, given=given)
        if moved:
            assert run(folder, *arguments).code == 0
        silent.append(arguments)
        raise GitRefused(commit_failed("git timed out after 60 s"))

    checkout.put("a.md", "two\n")
    before = checkout.git("rev-parse", "HEAD").strip()
    with monkeypatch.context() as patched:
        patched.setattr(commits, "run", fall_silent)
        patched.setattr(commits, "_select_paths", lambda *_: ["a.md"])
        done = commit_paths(str(checkout.root), ["a.md"], "task 1: try")
    assert len(silent) == 1
    now = checkout.git("rev-parse", "HEAD").strip()
    assert (now != before, done.commit, bool(done.diagnostics)) == (moved, now if moved else None, not moved)


def test_a_scratch_folder_that_cannot_be_made_is_a_finding(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.put("a.md", "two\n")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    done = commit_paths(str(checkout.root), ["a.md"], "task 1: try")
    assert [finding.message for finding in done.diagnostics] == [
        "nothing was committed: no temporary folder: no such file or directory"
    ]
    with pytest.raises(StorageError, match=r"^no temporary folder: .*; check git status, then try again$"):
        add_worktree(str(checkout.root), "one")
    assert list_worktrees(str(checkout.root)) == ()


def test_a_scratch_folder_goes_even_if_the_work_fails(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    found = repository.find_repository(str(checkout.root))
    with pytest.raises(ZeroDivisionError), repository.open_scratch(found, keeps=False):  # noqa: PT012 - what is there meanwhile
        assert len(list((tmp_path / "scratch").glob(f"remit-git-{os.getpid()}-*"))) == 1
        raise ZeroDivisionError
    assert list((tmp_path / "scratch").iterdir()) == []


def test_attributes_that_cannot_be_read_stop_a_commit(checkout: Checkout) -> None:
    """Without them it could have other line ends than the repository wants."""
    checkout.put("a.md", "two\n")
    (checkout.root / ".git/info/attributes").symlink_to("/proc/self/mem")  # reading its beginning is an error
    done = commit_paths(str(checkout.root), ["a.md"], "task 1: try")
    assert (done.commit, done.diagnostics[0].code) == (None, "GIT009")
    assert "info/attributes' can't be read: input/output error" in done.diagnostics[0].message


def test_what_a_worktree_lacks_is_told_without_a_word_about_commits(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    with few_files(1), pytest.raises(StorageError) as caught:
        list_worktrees(str(checkout.root))
    assert str(caught.value) == (
        "can't start git: too many open files; check that git is installed and starts, then try again"
    )
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(StorageError, match="in PATH; check that git is installed") as caught:
        add_worktree(str(checkout.root), "one")
    assert "commit" not in str(caught.value)

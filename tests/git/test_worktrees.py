"""Worktrees: one for each run, created and removed without running anything."""

import os
from pathlib import Path

import pytest

from remit.errors import BusyError, StorageError, UsageError
from remit.git import worktrees
from remit.git.commits import commit_paths
from remit.git.git_errors import GitRefused, repository_busy
from remit.git.worktrees import add_worktree, list_worktrees, remove_worktree
from remit.storage.checkouts import find_main_checkout
from tests.support.git_checkout import Checkout, make_checkout


def list_known(checkout: Checkout) -> int:
    """How many worktrees git knows, besides the main one."""
    return checkout.git("worktree", "list", "--porcelain").count("worktree ") - 1


def test_a_worktree_has_the_files_of_the_commit_and_is_clean(checkout: Checkout) -> None:
    checkout.put("a.md", "not committed\n")
    folder = Path(add_worktree(str(checkout.root), "sess_1"))
    assert folder == checkout.root.resolve() / ".remit/worktrees/sess_1"
    assert (folder / "a.md").read_text() == "a.md one\n"
    side = Checkout(folder)
    assert side.git("status", "--porcelain") == ""
    assert side.git("branch", "--show-current") == ""
    assert checkout.git("status", "--porcelain") == " M a.md\n"
    assert list_worktrees(str(checkout.root)) == ("sess_1",)
    assert find_main_checkout(str(folder)) == str(checkout.root.resolve())


def test_work_in_one_stays_there_and_can_be_committed(checkout: Checkout) -> None:
    folder = add_worktree(str(checkout.root), "one")
    Path(folder, "a.md").write_text("two\n")
    done = commit_paths(folder, ["a.md"], "task 1: in a worktree")
    assert done.paths == ("a.md",)
    assert (checkout.root / "a.md").read_text() == "a.md one\n"
    assert checkout.git("show", f"{done.commit}:a.md") == "two\n"


def test_removing_takes_everything_away(checkout: Checkout) -> None:
    root = str(checkout.root)
    folder = Path(add_worktree(root, "one"))
    (folder / "left.md").write_text("x")
    (folder / "out").symlink_to(checkout.root / "specs")
    assert remove_worktree(root, "one")
    assert not folder.exists()
    assert (checkout.root / "specs/TODO.md").exists()
    assert (list_known(checkout), list_worktrees(root)) == (0, ())
    assert not remove_worktree(root, "one")
    add_worktree(root, "one")


def test_a_workspace_below_the_top_gets_its_own_folder(checkout: Checkout) -> None:
    root = str(checkout.root / "specs")
    folder = add_worktree(root, "one")
    assert folder.endswith("/specs/.remit/worktrees/one/specs")
    assert os.listdir(folder) == ["TODO.md"]  # noqa: PTH208 - names are what is asked for
    assert remove_worktree(root, "one")


def test_nothing_of_the_repository_runs(checkout: Checkout, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    program = checkout.put(".git/program", f'#!/bin/sh\necho "$0" >> "{mark}"; cat\n')
    program.chmod(0o755)
    checkout.put(".gitattributes", "*.md filter=big\n")
    checkout.git("add", ".gitattributes")
    checkout.git("commit", "-q", "-m", "attributes")
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (checkout.root / ".git/hooks" / name).symlink_to(program)
    for key in ("filter.big.smudge", "filter.big.clean", "core.fsmonitor"):
        checkout.git("config", key, str(program))
    mark.unlink(missing_ok=True)
    folder = Path(add_worktree(str(checkout.root), "one"))
    assert (folder / "a.md").read_text() == "a.md one\n"
    remove_worktree(str(checkout.root), "one")
    assert not mark.exists()
    checkout.git("worktree", "add", "-q", str(tmp_path / "plain"), check=False)
    assert mark.exists()


@pytest.mark.parametrize("damage", ["no folder", "no pointer", "wrong pointer", "a link", "locked", "unknown to git"])
def test_whatever_was_left_behind_can_be_removed(checkout: Checkout, tmp_path: Path, damage: str) -> None:
    """After a crash, or an agent that went about in its own worktree."""
    root = str(checkout.root)
    folder = Path(add_worktree(root, "one"))
    if damage == "no folder":
        folder.rename(tmp_path / "moved")
    elif damage == "no pointer":
        (folder / ".git").unlink()
    elif damage == "wrong pointer":
        (folder / ".git").write_text("gitdir: /nowhere\n")
    elif damage == "a link":
        folder.rename(tmp_path / "moved")
        folder.symlink_to(tmp_path / "moved")
    elif damage == "locked":
        checkout.git("worktree", "lock", str(folder))
    else:
        (checkout.root / ".git/worktrees").rename(tmp_path / "worktrees")
    assert list_worktrees(root) == ("one",)
    assert remove_worktree(root, "one")
    assert not os.path.lexists(folder)
    assert (list_known(checkout), list_worktrees(root)) == (0, ())
    assert not damage.startswith("a link") or (tmp_path / "moved/a.md").exists()


def test_what_a_crash_left_in_the_repository_does_not_hinder_a_new_one(checkout: Checkout, tmp_path: Path) -> None:
    folder = Path(add_worktree(str(checkout.root), "one"))
    checkout.git("worktree", "lock", str(folder))
    folder.rename(tmp_path / "moved")
    add_worktree(str(checkout.root), "one")
    assert list_known(checkout) == 1


def test_worktrees_of_others_are_left_alone(checkout: Checkout, tmp_path: Path) -> None:
    """Also one whose folder is not there at the moment, as on a disk that is not mounted."""
    checkout.git("worktree", "add", "-q", str(tmp_path / "theirs"))
    (tmp_path / "theirs").rename(tmp_path / "away")
    root = str(checkout.root)
    add_worktree(root, "one")
    assert list_worktrees(root) == ("one",)
    remove_worktree(root, "one")
    assert list_known(checkout) == 1


def test_one_that_fails_half_way_leaves_nothing(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    root = str(checkout.root)
    failed = []

    def fail(*arguments: object, **options: object) -> None:
        del arguments, options
        failed.append(True)
        raise GitRefused(repository_busy("the lock is taken"))

    monkeypatch.setattr(worktrees, "open_scratch", fail)
    with pytest.raises(BusyError, match=r"^the lock is taken; "):
        add_worktree(root, "one")
    assert failed
    assert (list_known(checkout), list_worktrees(root)) == (0, ())


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "../x", "-x", "a..b", "a b", "a\n", "x.lock", "x.", "é", "a" * 200]
)
def test_a_name_that_is_no_name_is_refused(checkout: Checkout, name: str) -> None:
    for ask in (add_worktree, remove_worktree):
        with pytest.raises(UsageError, match="valid worktree name"):
            ask(str(checkout.root), name)


def test_what_cannot_be_checked_out_is_told(checkout: Checkout, tmp_path: Path) -> None:
    root = str(checkout.root)
    add_worktree(root, "one")
    with pytest.raises(UsageError, match="already"):
        add_worktree(root, "one")
    empty = Checkout(tmp_path / "empty")
    empty.root.mkdir()
    empty.git("init", "-q")
    with pytest.raises(UsageError, match="no commit yet"):
        add_worktree(str(empty.root), "one")


def test_a_folder_that_leads_out_of_the_workspace_is_refused(checkout: Checkout, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (checkout.root / ".remit").mkdir()
    (checkout.root / ".remit/worktrees").symlink_to(outside)
    for ask in (add_worktree, remove_worktree):
        with pytest.raises(StorageError, match="is a symbolic link"):
            ask(str(checkout.root), "one")
    assert list(outside.iterdir()) == []


def test_without_a_repository_there_are_none_and_none_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "plain").mkdir()
    root = str(tmp_path / "plain")
    assert list_worktrees(root) == ()
    with pytest.raises(StorageError, match="git checkout") as caught:
        add_worktree(root, "one")
    assert caught.value.hint
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(StorageError, match="can't start git"):
        list_worktrees(root)


def test_a_repository_that_counts_by_sha256(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path, "--object-format=sha256")
    assert Path(add_worktree(str(checkout.root), "one"), "a.md").exists()

"""Quarantine: what is new at protected names is found and moved, and nothing else is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from remit.policy.protected_paths import list_names
from remit.storage.quarantine import find_changes, move_away, record_names

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / ".remit").mkdir(parents=True)
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / "remit.toml").write_text("")
    (root / "src").mkdir()
    return root


def make_file(root: Path, name: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("evil\n")


def link_settings(root: Path) -> None:
    make_file(root, "src/elsewhere/settings.json")
    (root / ".claude").symlink_to(root / "src" / "elsewhere")


def put_link_in_place(root: Path) -> None:
    (root / ".git" / "hooks").rename(root / "src" / "hooks")
    (root / ".git" / "hooks").symlink_to(root / "src" / "hooks")


@pytest.mark.parametrize(
    ("act", "moved"),
    [
        (lambda root: make_file(root, ".mcp.json"), [".mcp.json"]),
        (lambda root: make_file(root, ".claude/hooks/x.sh"), [".claude/hooks"]),
        (lambda root: make_file(root, ".codex/config.toml"), [".codex"]),
        (lambda root: make_file(root, "agents/deep/x.md"), ["agents/deep/x.md"]),
        (lambda root: make_file(root, ".git/config.worktree"), [".git/config.worktree"]),
        (lambda root: (root / ".mcp.json").symlink_to("/etc/hostname"), [".mcp.json"]),
        (link_settings, [".claude"]),
        (put_link_in_place, [".git/hooks"]),
        (lambda root: (root / "src" / "twin").hardlink_to(root / "remit.toml"), ["src/twin"]),
        (lambda root: make_file(root, "agents/program.py"), []),
        (lambda root: make_file(root, ".claude/notes.txt"), []),
        (lambda root: (root / "remit.toml").write_text("changed"), []),
    ],
)
def test_what_is_new_at_a_protected_name_is_moved_and_nothing_else(root: Path, act, moved: list[str]) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 - a function of the root
    record = record_names(str(root), list_names(has_git=True))
    act(root)
    changes = find_changes(str(root), record)
    assert [each.path for each in changes] == moved
    for change in changes:
        before = os.lstat(root / change.path)
        place = root / move_away(str(root), change)
        assert not os.path.lexists(root / change.path)
        assert place.parent == root / ".remit" / "quarantine"
        assert os.path.samestat(os.lstat(place), before)
    assert (root / "remit.toml").exists()
    assert not (root / "src" / "elsewhere").exists() or (root / "src" / "elsewhere" / "settings.json").exists()


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_a_link_of_the_users_is_made_again(root: Path, kind: str) -> None:
    """Settings of a harness are often links into a folder of their own; an agent replaces one."""
    (root / "src" / "settings" / "hooks").mkdir(parents=True)
    (root / ".claude").symlink_to("src/settings")
    record = record_names(str(root), list_names(has_git=True))
    assert find_changes(str(root), record) == []
    (root / ".claude").unlink()
    if kind == "folder":
        make_file(root, ".claude/hooks/x.sh")
    else:
        (root / ".claude").symlink_to("src")
    [change] = find_changes(str(root), record)
    assert change.path == ".claude"
    place = root / move_away(str(root), change)
    assert (place / "hooks" / "x.sh").exists() if kind == "folder" else place.is_symlink()
    assert str((root / ".claude").readlink()) == "src/settings"


def test_names_that_the_command_could_not_write_are_not_compared(root: Path) -> None:
    record = record_names(str(root), list_names(has_git=True))
    make_file(root, ".mcp.json")
    make_file(root, ".git/config.worktree")
    limits = [("/", True), (str(root), False), (f"{root}/src", True), (f"{root}/.git", True)]
    found = find_changes(str(root), record, limits)
    assert [each.path for each in found] == [".git/config.worktree"]


def test_nothing_is_moved_through_a_link_or_in_the_place_of_what_was_found(root: Path, tmp_path: Path) -> None:
    record = record_names(str(root), list_names(has_git=True))
    make_file(root, ".gemini/settings.json")
    [change] = find_changes(str(root), record)
    (root / ".gemini").rename(root / "src" / "away")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text("the user's\n")
    (root / ".gemini").symlink_to(outside)
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        move_away(str(root), change)
    (root / ".gemini").unlink()
    make_file(root, ".gemini/settings.json")  # another file: whoever made it, it isn't what was found
    with pytest.raises(FileNotFoundError, match="it was replaced meanwhile"):
        move_away(str(root), change)
    assert (outside / "settings.json").read_text() == "the user's\n"
    assert (root / ".gemini" / "settings.json").exists()
    assert not list((root / ".remit" / "quarantine").iterdir())

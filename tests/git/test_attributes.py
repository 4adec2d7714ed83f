"""Git attributes: one line is added, git reads it as it was meant, and nothing else changes."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from remit.errors import InputError, StorageError
from remit.git.attributes import MAX_BYTES, add_union, find_merge, load_attributes, render_pattern
from tests.support.file_limit import few_files

if TYPE_CHECKING:
    from pathlib import Path

PATHS = (
    "MANIFEST.jsonl", "a/MANIFEST.jsonl", "a b/MANIFEST.jsonl", "#a/M.jsonl", "!a/M.jsonl", '"a"/M.jsonl',
    "a*/M?.jsonl",
    "[attr]a/M.jsonl", "[a]/M.jsonl", "a\\b/M.jsonl", "ü/M.jsonl", "a\tb/M\n.jsonl", "\x7f/M.jsonl", " a /M.jsonl",
)  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("path", PATHS)
def test_git_reads_the_line_for_this_path_alone(root: Path, path: str) -> None:
    assert find_merge(str(root), path) == "unspecified"
    (root / ".gitattributes").write_bytes(add_union(None, path))
    assert find_merge(str(root), path) == "union"
    assert find_merge(str(root), f"below/{path}") == "unspecified"
    assert find_merge(str(root), path.replace("*", "x").replace("?", "x").replace("[a]", "a") + "x") == "unspecified"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, b"a/M merge=union\n"),
        (b"", b"a/M merge=union\n"),
        (b"x text\n", b"x text\na/M merge=union\n"),
        (b"x text", b"x text\na/M merge=union\n"),
        (b"x text\r\n", b"x text\r\na/M merge=union\r\n"),
        (b"x text\r\ny text", b"x text\r\ny text\r\na/M merge=union\r\n"),
        (b"\xef\xbb\xbfx text\n\xff\n", b"\xef\xbb\xbfx text\n\xff\na/M merge=union\n"),
    ],
)
def test_every_byte_before_the_line_is_kept(before: bytes | None, after: bytes) -> None:
    assert add_union(before, "a/M") == after


def test_a_plain_path_is_its_own_pattern() -> None:
    assert render_pattern("claudedocs/agent-outputs/MANIFEST.jsonl") == "claudedocs/agent-outputs/MANIFEST.jsonl"
    assert render_pattern("MANIFEST.jsonl") == "/MANIFEST.jsonl"


def test_what_the_user_has_set_for_every_repository_does_not_count(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/attributes").write_text("*.jsonl merge=union\n")
    (tmp_path / "own/config").write_text(f"[core]\n\tattributesFile = {tmp_path}/own/attributes\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", f"{tmp_path}/own/config")
    said = subprocess.run(["git", "check-attr", "merge", "M.jsonl"], cwd=root, check=True, capture_output=True).stdout
    assert said == b"M.jsonl: merge: union\n"
    assert find_merge(str(root), "M.jsonl") == "unspecified"


def test_without_a_repository_nobody_can_be_asked(tmp_path: Path) -> None:
    assert find_merge(str(tmp_path), "M.jsonl") is None


@pytest.mark.parametrize("place", [".gitattributes", "a/.gitattributes", ".git/info/attributes"])
def test_git_is_not_sent_to_a_pipe(root: Path, place: str) -> None:
    (root / place).parent.mkdir(exist_ok=True)
    os.mkfifo(root / place)
    with pytest.raises(InputError, match=r"attributes' isn't a file; move it away"):
        find_merge(str(root), "a/M.jsonl")


def test_without_git_to_ask_it_is_told_and_not_guessed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with few_files(1), pytest.raises(StorageError, match="can't start git: too many open files"):
        find_merge(str(root), "M.jsonl")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(StorageError, match="can't start git: it isn't in PATH; check that git is installed"):
        find_merge(str(root), "M.jsonl")


def test_a_file_that_is_no_text_or_too_long_or_a_link_is_not_edited(root: Path) -> None:
    assert load_attributes(str(root)) is None
    file = root / ".gitattributes"
    for content, sentence in ((b"a\0", "isn't text"), (b"a" * (MAX_BYTES + 1), "has more than")):
        file.write_bytes(content)
        with pytest.raises(InputError, match=sentence):
            load_attributes(str(root))
    file.unlink()
    file.symlink_to("elsewhere")
    with pytest.raises(InputError, match="is a symbolic link"):
        load_attributes(str(root))

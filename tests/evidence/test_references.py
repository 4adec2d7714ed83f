"""References to files and lines: only those that exist below the root."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from remit.evidence.references import is_file_line, is_path

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> str:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("one\ntwo\nthree")
    (tmp_path / "src/empty.py").touch()
    (tmp_path / "src/link.py").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "src/pipe")
    return str(tmp_path)


@pytest.mark.parametrize(
    ("text", "exists"),
    [
        ("src/a.py", True), ("src", True), ("./src/a.py", True), ("src/b.py", False), ("", False), ("/etc/passwd", False),
        ("src/link.py", False), ("../x", False), (".git", False), ("src/\0", False),
    ],
)  # fmt: skip
def test_paths(root: str, text: str, *, exists: bool) -> None:
    assert is_path(root, text) == exists


@pytest.mark.parametrize(
    ("text", "exists"),
    [
        ("src/a.py:1", True), ("src/a.py:3", True), ("src/a.py:4", False), ("src/a.py:0", False), ("src/a.py", False),
        ("src/a.py:-1", False), ("src/empty.py:1", False), ("src/link.py:1", False), ("src/pipe:1", False),
        ("src:1", False), ("src/a.py:9999999999", False), ("src/a.py:²", False), (":1", False),
    ],
)  # fmt: skip
def test_lines(root: str, text: str, *, exists: bool) -> None:
    assert is_file_line(root, text) == exists

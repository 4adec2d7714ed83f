"""A folder in which no harness is installed."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.commands import Inside


@pytest.fixture
def place(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """An empty folder with a home of its own, and no harness on the path."""
    home = inside.folder.parent / f"{inside.folder.name}-home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    programs = home / "bin"
    programs.mkdir()
    for name in ("git", "sh"):
        found = subprocess.run(["which", name], capture_output=True, text=True, check=True).stdout.strip()
        (programs / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(programs))
    return inside

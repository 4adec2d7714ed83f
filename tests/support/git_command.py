"""Runs git in a folder."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def git(folder: Path, *args: str, data: bytes | None = None, check: bool = True) -> str:
    """What git prints, with a name for its commits."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    done = subprocess.run(["git", *identity, *args], cwd=folder, check=check, capture_output=True, input=data)
    return done.stdout.decode()

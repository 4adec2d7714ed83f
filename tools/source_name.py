"""Which source a figure is of.

Owns the name: git's own for what is in `src/`. It hangs on nothing but the content, so it stays the same wherever and
however often that is committed; `git rev-parse --short HEAD:src` tells it of a checkout.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def find_source(root: Path) -> str:
    """The name of the source in a checkout, and whether it was changed since it was committed."""
    changed = _ask(root, "status", "--porcelain", "--", "src")
    return f"{_ask(root, 'rev-parse', '--short=7', 'HEAD:src') or 'unknown'}{' and changes' if changed else ''}"


def _ask(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603, S607 - fixed words

"""The tally: what a torture did, told to whoever runs all of them.

Owns one file, named by an environment variable: without it nothing is written, and people read what is printed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

VARIABLE = "TORTURE_TALLY"
"""Not one of Remit's own: tortures take these out of their environment."""


def tell(done: int, bad: int, **more: int) -> None:
    """Say how many were done and how many of them were bad, and what else was counted."""
    if file := os.environ.get(VARIABLE):
        Path(file).write_text(json.dumps({"done": done, "bad": bad, "more": more}), encoding="utf-8")


def read(file: Path) -> dict[str, Any] | None:
    """What a torture said; None where it said nothing."""
    try:
        told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told

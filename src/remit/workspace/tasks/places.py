"""Where tasks are kept: the folder, and the names of the files in it.

Imports next to nothing: a hook asks which files are Remit's own, and has no time.
"""

from __future__ import annotations

import os

from remit.harnesses import claude, opencode

FOLDERS = (f"{opencode.FOLDER}/specs", f"{claude.FOLDER}/specs", "specs")
DEFAULT_FOLDER = "specs"
STATE, TODO, ARCHIVE = "state.json", "TODO.md", "archive/state.json"
ARCHIVED_TEXTS = "archive/TODO.md"


def find_folder(root: str, configured: str | None = None) -> str | None:
    """The folder with the tasks, below the root: the one that is set, else the first that has one of the files."""
    places = (configured,) if configured else FOLDERS
    return next(
        (each for each in places if any(os.path.lexists(f"{root}/{each}/{name}") for name in (STATE, TODO))), None
    )

"""Find the folder of the tasks, and name the files in it.

Imports almost nothing: hooks use it and have to start fast.
"""

from __future__ import annotations

import os

from remit.harnesses import claude, opencode

FOLDERS = (f"{opencode.FOLDER}/specs", f"{claude.FOLDER}/specs", "specs")
DEFAULT_FOLDER = "specs"
_AGENT_FOLDERS = {
    f"{opencode.FOLDER}/specs": opencode.AGENT_FOLDERS,
    f"{claude.FOLDER}/specs": claude.AGENT_FOLDERS,
}
_MAX_BYTES = 100_000
STATE, TODO, ARCHIVE = "state.json", "TODO.md", "archive/state.json"
LINKS = "linkedResearch"
"""The key of a task in state.json that names its entries in the manifest (R4.9)."""
ARCHIVED_TEXTS = "archive/TODO.md"


def find_folder(root: str, configured: str | None = None) -> str | None:
    """Return the folder with the tasks, below the root: the configured one, else the first with one of the files."""
    places = (configured,) if configured else FOLDERS
    return next(
        (each for each in places if any(os.path.lexists(f"{root}/{each}/{name}") for name in (STATE, TODO))), None
    )


def find_spec_root(root: str, configured: str | None = None) -> str:
    """Return the folder with the tasks, or the folder for them in a project without tasks (R1.20).

    Default: the existing spec folder, else the one that the project's agents of the standard write to.
    """
    found = configured or find_folder(root) or next((each for each in FOLDERS if os.path.isdir(f"{root}/{each}")), None)
    if found is not None:
        return found
    for folder, homes in _AGENT_FOLDERS.items():
        texts = [text for home in homes for text in _load_standard_agents(f"{root}/{home}")]
        named = [text for text in texts if f"{folder}/".encode() in text]
        others = [text for text in texts if text not in named and b"specs/" in text]
        if named or (texts and not others):
            return folder
    return DEFAULT_FOLDER


def _load_standard_agents(folder: str) -> list[bytes]:
    """Return the agent files of the standard below a folder: those with an `agent_type`."""
    texts = []
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".md") and os.path.isfile(f"{place}/{name}"):
                try:
                    with open(f"{place}/{name}", "rb") as file:
                        text = file.read(_MAX_BYTES)
                except OSError:
                    continue
                if text.lstrip(b"\xef\xbb\xbf").startswith(b"---") and b"\nagent_type:" in text:
                    texts.append(text)
    return texts

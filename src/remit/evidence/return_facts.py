"""Load the facts that checking a return needs: the return file, the reported artifacts, and the findings file.

The package `returns` gets them as values and never reads the disk.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit import returns
from remit.evidence.artifacts import inspect_artifacts
from remit.returns.formats import HYPER, MANIFEST
from remit.storage.files import load_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from remit.model import ArtifactFacts

    Folder = str | Path

_MAX_BYTES = 1024 * 1024


def follow_to_file(reading: returns.ParsedMessage, root: Folder, format: str | None) -> returns.ParsedMessage | None:
    """Return the return from a file that the message names instead of containing one; None if there is none.

    Only an issued session id proves that the file belongs to this run.
    """
    from remit.returns.candidates import find_return_files  # noqa: PLC0415 - a message with a return doesn't need it

    named = find_return_files(reading.text) if reading.expectation.session_id is not None else []
    for name in reversed(named):
        facts = inspect_artifacts((name,), root=root, bases=(root,))[name]
        if facts.state == "file" and (facts.size_bytes or 0) <= _MAX_BYTES:
            found = returns.read_message(load_bytes(os.path.join(root, name)), return_format=format,
                                         expectation=reading.expectation, words=reading.words)  # fmt: skip
            if found.payload is not None:
                found.transport = "file"
                found.located = False  # its positions refer to that file
                return found
    return None


def find_bases(
    reading: returns.ParsedMessage, root: Folder | None, manifest: Folder | None, workspace_root: str = ""
) -> tuple[str, ...]:
    """Return the folders at which the format's paths start: beside the manifest, hyper's workspace root, the root."""
    bases = () if root is None else (os.fspath(root),)
    if reading.return_format is MANIFEST and manifest is not None:
        return (os.path.dirname(manifest), *bases)
    if reading.return_format is HYPER and root is not None and workspace_root:
        return (workspace_root, *bases)
    return bases


def find_facts(
    reading: returns.ParsedMessage, root: Folder | None, manifest: Folder | None, workspace_root: str = ""
) -> dict[str, ArtifactFacts]:
    """Return the facts about each path that a return claims."""
    bases = find_bases(reading, root, manifest, workspace_root)
    if root is None:
        root = os.path.dirname(manifest) if reading.return_format is MANIFEST and manifest is not None else None
    return {} if root is None else inspect_artifacts(tuple(reading.paths), root=root, bases=bases)


def load_findings(evidence: dict[str, ArtifactFacts], root: Folder | None, manifest: Folder | None) -> str | None:
    """Return the text of the findings file, if the manifest's entry names an existing one."""
    if manifest is None:
        return None
    for path, facts in evidence.items():
        for base in (os.path.dirname(manifest), root):
            if facts.state == "file" and base is not None and os.path.isfile(file := os.path.join(base, path)):
                return load_bytes(file, max_bytes=_MAX_BYTES).decode("utf-8", "replace")
    return None

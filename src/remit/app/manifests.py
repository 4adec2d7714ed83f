"""Manifests: found in the workspace, and judged line by line."""

from __future__ import annotations

import os
from stat import S_ISREG
from typing import TYPE_CHECKING

from remit.app.messages import MANIFEST_PLACES
from remit.app.settings import find_root, load_settings
from remit.model import ArtifactFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.contract.manifest_lines import Told


def find_manifest() -> str | None:
    """The workspace's manifest; None where there is none."""
    root = find_root()
    return next((file for place in MANIFEST_PLACES if os.path.isfile(file := f"{root}/{place}")), None)  # noqa: PTH113 - pathlib costs 8 ms


def validate_manifest(file: str) -> Iterator[Told]:
    """Everything there is to say about a manifest, line by line; its findings files are looked up on disk."""
    from remit.contract.manifest_lines import MAX_LINE_BYTES, check_lines  # noqa: PLC0415 - only for this
    from remit.workspace.files import load_lines  # noqa: PLC0415

    folder = os.path.dirname(os.path.abspath(file))  # noqa: PTH100, PTH120
    root = find_root(folder)
    words = load_settings(root).status_words
    return check_lines(load_lines(file, max_bytes=MAX_LINE_BYTES), look=_make_look(folder, root), words=words)


def _make_look(folder: str, root: str) -> Callable[[str], ArtifactFacts | None]:
    from pathlib import Path  # noqa: PLC0415 - 8 ms, only with a manifest

    from remit.workspace.evidence import inspect_artifacts  # noqa: PLC0415

    bases = (Path(folder), Path(root))

    def look(path: str) -> ArtifactFacts | None:
        """What a findings file is on disk. Most are plain files beside the manifest, and told by one look."""
        if "/" not in path and "\0" not in path:
            try:
                found = os.lstat(f"{folder}/{path}")
            except OSError:
                found = None
            if found is not None and S_ISREG(found.st_mode):
                return ArtifactFacts(path, "file" if found.st_size else "empty", found.st_size)
        return inspect_artifacts((path,), root=bases[1], bases=bases)[path]

    return look

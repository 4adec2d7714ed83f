"""Where a workspace keeps its manifest."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.errors import InputError
from remit.storage.settings import find_root, find_workspace, is_inside, load_settings

if TYPE_CHECKING:
    from remit.config import Settings

NAME = "MANIFEST.jsonl"
PLACES = (f"claudedocs/agent-outputs/{NAME}", NAME)
CLEO_FOLDER = ".cleo"
_CLEO_OUTPUTS = f"{CLEO_FOLDER}/agent-outputs"


def find_manifest(*, here: bool = False) -> str | None:
    """The workspace's manifest, or with `here` that of this checkout, where it is a linked worktree; None if none."""
    root = find_root() if here else find_workspace()
    settings = load_settings(root).manifest
    return _find_below(root, settings.path, settings.output_dir)


def _find_below(root: str, path: str | None, output_dir: str | None) -> str | None:
    places = _list_places(root, path, output_dir)
    found = next((file for file in places if os.path.isfile(file)), None)
    if found is not None and not is_inside(found, root):
        raise InputError(f"'{found}' leads out of the workspace through a link", hint="put the file itself there")
    return found


def _list_places(root: str, path: str | None, output_dir: str | None) -> list[str]:
    """Where a workspace's manifest can be: where the settings say, else at the usual places."""
    if path is not None:
        return [f"{root}/{path}"]
    own = [f"{output_dir}/{NAME}"] if output_dir is not None else []
    return [f"{root}/{place}" for place in (*own, *PLACES, f"{_CLEO_OUTPUTS}/{NAME}")]


def place_manifest(root: str, settings: Settings) -> str:
    """Where the workspace's manifest is, or will be with its first entry, below the root."""
    return find_place(root, settings.manifest.path, settings.manifest.output_dir)


def find_place(root: str, path: str | None, output_dir: str | None) -> str:
    """The same, from what is set: the manifest's own path, or the folder of outputs that it lies in."""
    from remit.storage.safe_path import name_below  # noqa: PLC0415 - only for this

    if path is not None:
        return path
    here = _find_below(root, path, output_dir)
    known = None if here is None else name_below(root, here)
    if known is not None:
        return known
    if output_dir is not None:
        return f"{output_dir}/{NAME}"
    return f"{_CLEO_OUTPUTS}/{NAME}" if os.path.isdir(f"{root}/{CLEO_FOLDER}") else PLACES[0]

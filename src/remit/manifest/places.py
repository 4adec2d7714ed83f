"""The path of a workspace's manifest, by its settings or by the usual places."""

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
    """Return the path of the workspace's manifest, or with `here` of this worktree's; None if there is none."""
    root = find_root() if here else find_workspace()
    settings = load_settings(root).manifest
    return _find_below(root, settings.path, settings.output_dir)


def _find_below(root: str, path: str | None, output_dir: str | None) -> str | None:
    if path is not None:
        places = [path]
    else:
        places = [f"{folder}/{NAME}" for folder in (output_dir,) if folder is not None]
        places += [*PLACES, f"{_CLEO_OUTPUTS}/{NAME}"]
    found = next((file for place in places if os.path.isfile(file := f"{root}/{place}")), None)
    if found is not None and not is_inside(found, root):
        raise InputError(f"'{found}' leads out of the workspace through a link", hint="put the file itself there")
    return found


def place_manifest(root: str, settings: Settings) -> str:
    """Return the path of the workspace's manifest below the root, or the path that it gets with its first entry."""
    return find_place(root, settings.manifest.path, settings.manifest.output_dir)


def find_place(root: str, path: str | None, output_dir: str | None) -> str:
    """Return the same as `place_manifest`, from two settings: the manifest's own path, and the folder for outputs."""
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

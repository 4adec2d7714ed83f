"""The manifest of a workspace as a file: its path, and the check that it was only appended to during a run.

If the bytes of the manifest from before a run have changed, entries were removed or changed.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from remit.errors import InputError
from remit.light_hash import begin_sha256
from remit.light_namedtuple import NamedTuple
from remit.storage.files import check_filled
from remit.storage.settings import find_root, find_workspace, is_inside, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.config import Settings

NAME = "MANIFEST.jsonl"
PLACES = (f"claudedocs/agent-outputs/{NAME}", NAME)
CLEO_FOLDER = ".cleo"
_CLEO_OUTPUTS = f"{CLEO_FOLDER}/agent-outputs"
_BLOCK_BYTES = 1024 * 1024
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


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


class ManifestPrefix(NamedTuple):
    """The size and hash of a manifest at one time."""

    size_bytes: int = 0
    sha256: str = ""
    """Empty if the manifest was empty or unreadable: then nothing is compared."""


def read_prefix(path: str) -> ManifestPrefix:
    """Return the current size and hash of a manifest."""
    size = 0
    try:
        size = os.stat(path).st_size if os.path.isfile(path) else 0
        return ManifestPrefix(size, _hash(path, size) or "") if size else ManifestPrefix()
    except (OSError, InputError):
        return ManifestPrefix(size)


def has_prefix(path: str, beginning: ManifestPrefix) -> bool:
    """True if a manifest still starts with its earlier content, or if that is unknown."""
    if not beginning.sha256:
        return True
    try:
        return _hash(path, beginning.size_bytes) == beginning.sha256
    except (OSError, ValueError, InputError):  # the file is gone, or isn't a file
        return False


def _hash(path: str, size_bytes: int) -> str | None:
    """Return the hash of the first bytes of a file; None if it is shorter."""
    digest = begin_sha256(size_bytes)
    for block in _read(path, size_bytes):
        digest.update(block)
        size_bytes -= len(block)
    return None if size_bytes else digest.hexdigest()


def _read(path: str, size_bytes: int) -> Iterator[bytes]:
    handle = os.open(path, _READ)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"'{path}' isn't a file", hint="give the path of the manifest")
        check_filled(path, found)
        while size_bytes and (block := os.read(handle, min(size_bytes, _BLOCK_BYTES))):
            size_bytes -= len(block)
            yield block
    finally:
        os.close(handle)

"""Remove private repositories of folders that are gone, and trees that no session names."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from remit.errors import BusyError
from remit.evidence.tree import BEFORE, read_before
from remit.evidence.work_tree import FOLDER, Trees
from remit.git.git_errors import GitRefused
from remit.ledger.texts import load_text
from remit.light_namedtuple import NamedTuple
from remit.storage.locks import hold_lock

if TYPE_CHECKING:
    from remit.ledger.home import Home

_DAY_SECONDS = 86_400.0
_KEPT = "2.weeks.ago"
"""A tree that no session names yet may belong to a run that is starting right now."""
_MAX_TREES = 20_000
_PATIENCE_SECONDS = 1.0


class Removed(NamedTuple):
    """The number of removed repositories, and their size."""

    repositories: int = 0
    size_bytes: int = 0


def clear_evidence(home: Home, failures: list[str], *, dry_run: bool) -> Removed:
    """Remove repositories and trees that no session and no folder needs; add each failure to `failures`."""
    from shutil import rmtree  # noqa: PLC0415 - only for this

    place = f"{home.folder}/{FOLDER}"
    if os.path.islink(place) or not os.path.isdir(place):
        return Removed()
    count = size = 0
    named: list[str] | None = None
    for entry in sorted(os.scandir(place), key=lambda entry: entry.name):
        if not entry.is_dir(follow_symlinks=False):
            continue
        try:
            with hold_lock(f"{entry.path}.lock", seconds=_PATIENCE_SECONDS):
                if _is_abandoned(entry.path):
                    count, size = count + 1, size + _measure(entry.path)
                    if not dry_run:
                        rmtree(entry.path)
                elif not dry_run:
                    named = _list_named(home) if named is None else named
                    _prune(entry.path, named)
        except BusyError:  # a run is scanning this folder
            continue
        except (OSError, GitRefused) as error:
            failures.append(f"'{entry.path}' can't be removed: {error}; check the disk and the permissions")
    return Removed(count, size)


def _is_abandoned(place: str) -> bool:
    """Return whether the folder of a repository has been gone for a day."""
    try:
        with open(f"{place}/folder", "rb") as stream:
            folder = os.fsdecode(stream.read())
        return not os.path.isdir(folder) and time.time() - os.stat(place).st_mtime > _DAY_SECONDS
    except FileNotFoundError:  # it wasn't created completely
        return time.time() - os.stat(place).st_mtime > _DAY_SECONDS


def _measure(place: str) -> int:
    return sum(os.lstat(f"{here}/{name}").st_size for here, _, names in os.walk(place) for name in names)


def _list_named(home: Home) -> list[str]:
    """Return the trees that sessions name."""
    with home.ledger.reading() as db:
        sessions = [row[0] for row in db.execute("SELECT session_id FROM texts WHERE kind = ?", (BEFORE,))]
    kept = (read_before((load_text(home, each, BEFORE) or b"").decode("utf-8", "replace")).tree for each in sessions)
    return [*dict.fromkeys(part.tree for tree in kept if tree is not None for part in tree.parts)]


def _prune(place: str, named: list[str]) -> None:
    """Remove the trees of a repository that no session names."""
    trees = Trees(place, "", seconds=60.0)
    known = trees.check_git(
        "cat-file", "--batch-check=%(objecttype)", given="".join(f"{each}\n" for each in named).encode()
    )
    here = [each for each, kind in zip(named, known.split(b"\n"), strict=False) if kind == b"tree"]
    if len(here) <= _MAX_TREES:
        trees.check_git("prune", f"--expire={_KEPT}", *here)

"""The tree before a delegation, kept with its session, so that whoever takes over knows it too.

Owns `.remit/sessions/SESSION/before` and `.remit/tree`, the last snapshot of the workspace, whose hashes are taken over
where a file's facts are the same: only what changed since is read again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.workspace.evidence.snapshot import take_snapshot
from remit.workspace.evidence.stored import parse_snapshot, render_snapshot
from remit.workspace.files import load_bytes, tell_failure, write_bytes

if TYPE_CHECKING:
    from remit.workspace.evidence.values import Limits, Snapshot
    from remit.workspace.home import Home

TREE = "tree"
_MAX_BYTES = 1 << 30


def take_before(home: Home, session_id: str, root: str, limits: Limits) -> Snapshot:
    """Look at the tree that a delegation will change, and keep it."""
    latest = f"{home.make_folder()}/{TREE}"
    earlier = _load(latest)
    if earlier is not None and earlier.root != os.path.realpath(root):
        earlier = None
    snapshot = take_snapshot(root, hash_paths=("",), limits=limits, earlier=earlier)
    data = render_snapshot(snapshot)
    file = _find_file(home, session_id)
    try:
        write_bytes(file, data)
        if earlier is None or earlier.hashes != snapshot.hashes:
            write_bytes(latest, data)
    except OSError as error:
        raise tell_failure(file, error) from error
    return snapshot


def load_before(home: Home, session_id: str) -> Snapshot | None:
    """The tree as it was when a delegation began; None where nobody looked."""
    return _load(_find_file(home, session_id))


def inherit_before(home: Home, session_id: str, earlier: str) -> Snapshot | None:
    """The tree as it was before an earlier delegation, kept for the one that goes on with it."""
    found = load_before(home, earlier)
    if found is not None:
        file = _find_file(home, session_id)
        try:
            write_bytes(file, render_snapshot(found))
        except OSError as error:
            raise tell_failure(file, error) from error
    return found


def _find_file(home: Home, session_id: str) -> str:
    return f"{home.make_folder(f'sessions/{session_id}')}/before"


def _load(file: str) -> Snapshot | None:
    if not os.path.isfile(file):
        return None
    with suppress(RemitError):  # what is damaged proves nothing
        return parse_snapshot(load_bytes(file, max_bytes=_MAX_BYTES))
    return None

"""The tree before a delegation, kept with its session, so that whoever takes over knows it too.

Owns `.remit/sessions/SESSION/before` and `.remit/tree`, the last snapshot of the workspace, whose hashes are taken over
where a file's facts are the same: only what changed since is read again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.quick_tuple import NamedTuple
from remit.workspace.evidence.snapshot import take_snapshot
from remit.workspace.evidence.stored import parse_snapshot, render_snapshot
from remit.workspace.evidence.values import Limits
from remit.workspace.files import load_bytes, tell_failure, write_bytes

if TYPE_CHECKING:
    from remit.workspace.evidence.values import Snapshot
    from remit.workspace.home import Home

TREE = "tree"
BEFORE_LIMITS = Limits(max_file_bytes=4 * 1024 * 1024, max_hashed_bytes=64 * 1024 * 1024, max_seconds=20)
"""What is hashed before the run, so that a change of the same size is seen. Ignored files come last."""
_MAX_BYTES = 1 << 30


class Before(NamedTuple):
    """A tree as it was, and what its file is known by: an agent could write there, and the ledger remembers this."""

    snapshot: Snapshot
    digest: str
    latest: str = ""
    """What the last snapshot of the workspace is known by now."""


def take_before(home: Home, session_id: str, root: str, limits: Limits, *, latest: str = "") -> Before:
    """Look at the tree that a delegation will change, and keep it. `latest`: what the last snapshot is known by."""
    file, last = _find_file(home, session_id), f"{home.make_folder()}/{TREE}"
    earlier = _load(last, latest)
    if earlier is not None and earlier.root != os.path.realpath(root):
        earlier = None
    snapshot = take_snapshot(root, hash_paths=("",), limits=limits, earlier=earlier, list_ignored=_list_ignored)
    data = render_snapshot(snapshot)
    _write(file, data)
    if earlier is not None and earlier.hashes == snapshot.hashes:
        return Before(snapshot, _digest(data), latest)
    _write(last, data)
    return Before(snapshot, _digest(data), _digest(data))


def load_before(home: Home, session_id: str, digest: str) -> Snapshot | None:
    """The tree as it was when a delegation began; None where nobody looked, or somebody wrote something else there."""
    return _load(_find_file(home, session_id), digest)


def keep_before(home: Home, session_id: str, snapshot: Snapshot) -> Before:
    """Keep the tree of an earlier delegation for the one that goes on with it."""
    data = render_snapshot(snapshot)
    _write(_find_file(home, session_id), data)
    return Before(snapshot, _digest(data))


def _list_ignored(root: str) -> tuple[str, ...]:
    from remit.workspace.git.ignored import list_ignored  # noqa: PLC0415 - only for a tree that is too large to hash

    return list_ignored(root)


def _write(file: str, data: bytes) -> None:
    try:
        write_bytes(file, data)
    except OSError as error:
        raise tell_failure(file, error) from error


def _digest(data: bytes) -> str:
    try:
        from _blake2 import blake2b  # noqa: PLC0415 - where hashlib gets it from, without OpenSSL: 3 ms at start-up
    except ImportError:
        from hashlib import blake2b  # noqa: PLC0415

    return blake2b(data, digest_size=20).hexdigest()


def _find_file(home: Home, session_id: str) -> str:
    return f"{home.make_folder(f'sessions/{session_id}')}/before"


def _load(file: str, digest: str) -> Snapshot | None:
    if not digest or not os.path.isfile(file):
        return None
    with suppress(RemitError):  # what is damaged proves nothing
        data = load_bytes(file, max_bytes=_MAX_BYTES)
        return parse_snapshot(data) if _digest(data) == digest else None
    return None

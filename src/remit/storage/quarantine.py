"""Detect protected names that appear while an agent works, and move them to `.remit/quarantine`.

A mount protects an existing file, but not a name that doesn't exist yet, so new names are detected afterwards. Nothing
is deleted and no link is followed. Hooks call this around each command of an enforced agent, so it imports little.
"""

from __future__ import annotations

import os
import stat
import time

from remit.light_json import parse_json, render_json
from remit.light_namedtuple import NamedTuple

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FOLDER = ".remit/quarantine"
MAX_SEARCHED = 100_000
"""How many folder entries are compared with a protected file that has got another name."""
_MARKDOWN = "/**/*.md"
_MISSING, _LINK, _FOLDER, _FILE, _OTHER = "missing", "link", "folder", "file", "other"
_KINDS = {stat.S_IFLNK: _LINK, stat.S_IFDIR: _FOLDER, stat.S_IFREG: _FILE}


class ProtectedChange(NamedTuple):
    """A protected name that changed during a command."""

    path: str
    """The new path, relative to the root."""
    what: str
    """The rest of a sentence that begins with the path."""
    node: tuple[int, int]
    """The device and inode of the new file."""
    is_movable: bool = True
    target: str = ""
    """The target of the symbolic link that was there before and is restored."""


def record_names(root: str, names: Iterable[str]) -> str:
    """Return the state of protected names below a root, as a text for `find_changes`.

    A name that ends in `/**/*.md` stands for the Markdown files in a folder that doesn't exist yet.
    """
    return render_json({"at_ns": time.time_ns(), "names": {name: _inspect(root, name) for name in names}})


def read_time(record: str) -> int:
    """Return the wall clock time of a record, in nanoseconds."""
    at_ns = parse_json(record)["at_ns"]
    return at_ns if isinstance(at_ns, int) else 0


def find_changes(root: str, record: str, limits: Sequence[tuple[str, bool]] = ()) -> list[ProtectedChange]:
    """Return the protected names that are new, became links, or got another name since a record was made.

    `limits`: absolute paths, and whether the command could write there; the longest that contains a name decides. Names
    that the command couldn't write aren't compared.
    """
    found: dict[str, ProtectedChange] = {}
    for name, (at, kind, device, inode, links, target) in parse_json(record)["names"].items():
        if limits and not _can_write(f"{root}/{name}", limits):
            continue
        now_at, now_kind, now_device, now_inode, now_links, now_target = _inspect(root, at if kind == _LINK else name)
        node = now_device, now_inode
        if kind == _LINK:
            if now_kind != _MISSING and (now_kind, now_target) != (kind, target):
                found[at] = ProtectedChange(at, "isn't the same symbolic link anymore", node, target=target)
        elif now_kind == _LINK:
            what = "is new, and a symbolic link" if kind == _MISSING else "is a symbolic link now"
            found[now_at] = ProtectedChange(now_at, what, node)
        elif now_kind != _MISSING and kind == _MISSING:
            new = _list_files(root, name) if name.endswith(_MARKDOWN) else [ProtectedChange(name, "is new", node)]
            found |= {each.path: each for each in new}
        elif kind == now_kind == _FILE and (device, inode) == node and now_links > links:
            others = _find_second_names(root, name, node, now_links)
            for other in others:
                found[other] = ProtectedChange(other, f"is a second name (a hard link) of '{name}'", node)
            if not others:
                found[name] = ProtectedChange(
                    name, "has a new second name (a hard link) somewhere", node, is_movable=False
                )
    return [each for path, each in found.items() if not any(path.startswith(f"{other}/") for other in found)]


def _list_files(root: str, pattern: str) -> list[ProtectedChange]:
    """Return the Markdown files in a new folder."""
    folder = f"{root}/{pattern.removesuffix(_MARKDOWN)}"
    names = [f"{here}/{name}" for here, _, files in os.walk(folder) for name in files if name.endswith(".md")]
    return [ProtectedChange(os.path.relpath(name, root), "is new", _inspect("", name)[2:4]) for name in names]


def _inspect(root: str, name: str) -> tuple[str, str, int, int, int, str]:
    """Return the state of a name: the path of a link on the way, or the name; kind, device, inode, links, target."""
    at = target = ""
    for part in name.removesuffix(_MARKDOWN).split("/"):
        at = f"{at}/{part}" if at else part
        try:
            found = os.lstat(f"{root}/{at}")
        except OSError:
            return name, _MISSING, 0, 0, 0, ""
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), _OTHER)
        if kind == _LINK:
            target = _read_link(f"{root}/{at}")
            break
    return at, kind, found.st_dev, found.st_ino, found.st_nlink, target


def _read_link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:  # it is gone
        return ""


def _find_second_names(root: str, name: str, node: tuple[int, int], links: int) -> list[str]:
    """Return the other names of a file below a root, as far as they are among the searched entries."""
    from remit.storage.hard_links import find_names  # noqa: PLC0415 - rarely needed, and a hook pays for it

    own = frozenset({f"{root}/.remit"})
    found = find_names(node, links, [(root, True)], most=MAX_SEARCHED, left_out=own)
    return [path for path in (os.path.relpath(each, root) for each in found) if path != name]


def move_away(root: str, change: ProtectedChange) -> str:
    """Move a new file into `.remit/quarantine`; return its path there, relative to the root.

    Raise `OSError` if it can't be moved, `FileNotFoundError` also if it was replaced meanwhile.
    """
    from remit.storage.safe_path import open_folder  # noqa: PLC0415 - rarely needed, and a hook pays for it

    parent, _, base = change.path.rpartition("/")
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    name = f"{stamp}-{os.urandom(2).hex()}-{change.path.replace('/', '-')}"
    source = target = -1
    try:
        source, target = open_folder(root, parent), open_folder(root, FOLDER, make=True)
        _check_node(source, base, change)
        os.rename(base, name, src_dir_fd=source, dst_dir_fd=target)
        try:
            _check_node(target, name, change)
        except FileNotFoundError:  # replaced in between
            os.rename(name, base, src_dir_fd=target, dst_dir_fd=source)
            raise
        if change.target:
            os.symlink(change.target, base, dir_fd=source)
    finally:
        for handle in (source, target):
            if handle >= 0:
                os.close(handle)
    return f"{FOLDER}/{name}"


def _check_node(folder: int, name: str, change: ProtectedChange) -> None:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if (found.st_dev, found.st_ino) != change.node:
        raise FileNotFoundError(2, "it was replaced meanwhile", change.path)


def _can_write(path: str, limits: Sequence[tuple[str, bool]]) -> bool:
    containing = (
        (len(folder), is_open)
        for folder, is_open in limits
        if path == folder or path.startswith(f"{folder.rstrip('/')}/")
    )
    return max(containing, default=(0, False))[1]

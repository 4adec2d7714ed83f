"""A snapshot as bytes, so that whoever takes the second one need not be the process that took the first.

Owns the stored form: a head with the lengths of the parts, the parts, and a check sum in the head. The check sum finds
what was cut off or went bad; it is no seal, and whoever may write the file can make another.
"""

from __future__ import annotations

import struct
import sys
from array import array
from typing import TYPE_CHECKING, NoReturn

from remit.errors import InputError
from remit.quick_hash import begin_sha256
from remit.workspace.evidence.values import ROW, SEPARATOR, Folder, Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_SNAPSHOT_BYTES = 256 * 1024 * 1024

_MAGIC = f"remit snapshot 1 {sys.byteorder}\n".encode()
_PARTS = 10
_HEAD = struct.Struct(f"={len(_MAGIC)}s32sq{_PARTS}q")
_DIGEST_BYTES = 32


def render_snapshot(snapshot: Snapshot) -> bytes:
    """The bytes of a snapshot."""
    folders = snapshot.folders.values()
    sizes = array("q", [len(part) for folder in folders for part in folder])
    parts = (
        _join([snapshot.root]),
        _join(snapshot.folders),
        sizes.tobytes(),
        b"".join([folder.names for folder in folders]),
        b"".join([folder.facts for folder in folders]),
        _join(text for pair in snapshot.links.items() for text in pair),
        _join(snapshot.hashes),
        b"".join([bytes.fromhex(digest) for digest in snapshot.hashes.values()]),
        _join(sorted(snapshot.racy)),
        _join(text for pair in snapshot.gaps.items() for text in pair),
    )
    head = _HEAD.pack(_MAGIC, _sum(snapshot.taken_ns, parts), snapshot.taken_ns, *map(len, parts))
    data = b"".join((head, *parts))
    if len(data) > MAX_SNAPSHOT_BYTES:
        raise InputError(f"the snapshot of '{snapshot.root}' is larger than {MAX_SNAPSHOT_BYTES} bytes",
                         hint="give it a lower limit of entries")  # fmt: skip
    return data


def parse_snapshot(data: bytes) -> Snapshot:
    """The snapshot that the bytes hold; an error where they are cut off, damaged or from another version."""
    if len(data) > MAX_SNAPSHOT_BYTES:
        _refuse(f"it is larger than {MAX_SNAPSHOT_BYTES} bytes")
    if not data.startswith(_MAGIC) or len(data) < _HEAD.size:
        _refuse("it does not begin as a snapshot of this version does")
    _, digest, taken_ns, *lengths = _HEAD.unpack_from(data)
    if min(lengths) < 0 or sum(lengths) != len(data) - _HEAD.size:
        _refuse("it is not as long as it says")
    parts, start = [], _HEAD.size
    for length in lengths:
        parts.append(data[start : start + length])
        start += length
    if digest != _sum(taken_ns, parts):
        _refuse("its check sum does not fit")
    try:
        return _read(taken_ns, *parts)
    except ValueError:  # whoever can make a check sum can make parts that do not fit together
        _refuse("its parts do not fit together")


def _read(  # noqa: PLR0917 - the parts, in the order they are stored in
    taken_ns: int,
    root: bytes,
    paths: bytes,
    sizes: bytes,
    names: bytes,
    facts: bytes,
    links: bytes,
    hashed: bytes,
    digests: bytes,
    racy: bytes,
    gaps: bytes,
) -> Snapshot:
    lengths = array("q", sizes)
    folders = _read_folders(_split(paths), list(zip(lengths[::2], lengths[1::2], strict=True)), names, facts)
    hexes = [digests[at : at + _DIGEST_BYTES].hex() for at in range(0, len(digests), _DIGEST_BYTES)]
    _expect(len(digests) % _DIGEST_BYTES == 0)
    (place,) = _split(root)
    return Snapshot(
        place, taken_ns, folders, _pair(links), dict(zip(_split(hashed), hexes, strict=True)), frozenset(_split(racy)),
        _pair(gaps),
    )  # fmt: skip


def _read_folders(paths: list[str], sizes: list[tuple[int, int]], names: bytes, facts: bytes) -> dict[str, Folder]:
    folders = {}
    name_at = fact_at = 0
    for path, (name_bytes, fact_bytes) in zip(paths, sizes, strict=True):
        _expect(name_bytes >= 0 and fact_bytes >= 0)
        name_end, fact_end = name_at + name_bytes, fact_at + fact_bytes
        folder = Folder(names[name_at:name_end], facts[fact_at:fact_end])
        count = folder.names.count(SEPARATOR.encode()) + 1 if name_bytes else 0
        _expect(len(folder.facts) == count * ROW.size)
        folders[path] = folder
        name_at, fact_at = name_end, fact_end
    _expect(name_at == len(names) and fact_at == len(facts) and len(folders) == len(paths))
    return folders


def _join(texts: Iterable[str]) -> bytes:
    """Texts one after the other, each ended by the character that none of them has."""
    return "".join([f"{text}{SEPARATOR}" for text in texts]).encode("utf-8", "surrogateescape")


def _split(data: bytes) -> list[str]:
    texts = data.decode("utf-8", "surrogateescape").split(SEPARATOR)
    _expect(not texts.pop())
    return texts


def _pair(data: bytes) -> dict[str, str]:
    texts = _split(data)
    return dict(zip(texts[::2], texts[1::2], strict=True))


def _sum(taken_ns: int, parts: Iterable[bytes]) -> bytes:
    parts = [*parts]
    digest = begin_sha256(sum(map(len, parts)))
    digest.update(struct.pack("=q", taken_ns))
    for part in parts:
        digest.update(struct.pack("=q", len(part)))
        digest.update(part)
    return digest.digest()


def _expect(fits: bool) -> None:  # noqa: FBT001 - a check has one argument
    if not fits:
        raise ValueError("the parts do not fit")


def _refuse(reason: str) -> NoReturn:
    raise InputError(f"the snapshot cannot be used: {reason}", hint="take a new one before the next delegation")

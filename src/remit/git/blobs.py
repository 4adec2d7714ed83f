"""Read and hash the contents of blobs in a private repository.

Many small blobs need one git process and a large one goes through a file, so memory stays bounded.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from remit.git.git_errors import GitRefused, commit_failed
from remit.git.process import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from remit.git.private_repo import PrivateRepo

_SMALL_BYTES = 1024 * 1024
_BATCH_BYTES = 8 * 1024 * 1024
_BLOCK = 1 << 20


def load_sizes(store: PrivateRepo, blobs: Iterable[str]) -> dict[str, int]:
    """Return the sizes of blobs; missing objects and other types are left out."""
    names = list(dict.fromkeys(blobs))
    if not names:
        return {}
    given = "".join(f"{name}\n" for name in names).encode("ascii")
    out = store.check_git("cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", given=given)
    parts = (line.split(" ") for line in out.decode("ascii", "replace").splitlines())
    return {part[0]: int(part[2]) for part in parts if len(part) == 3 and part[1] == "blob"}  # noqa: PLR2004 - as asked


def read_blobs(store: PrivateRepo, sizes: Mapping[str, int]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the content of blobs in blocks: many small ones per git call, a large one through a file."""
    waiting: list[str] = []
    size = 0
    for blob, length in sizes.items():
        if length > _SMALL_BYTES:
            yield blob, _read_large(store, blob)
            continue
        if size + length > _BATCH_BYTES:
            yield from _read_small(store, waiting)
            waiting, size = [], 0
        waiting.append(blob)
        size += length + 100
    yield from _read_small(store, waiting)


def _read_small(store: PrivateRepo, blobs: Sequence[str]) -> Iterator[tuple[str, Iterator[bytes]]]:
    if not blobs:
        return
    out = store.check_git("cat-file", "--batch", given="".join(f"{blob}\n" for blob in blobs).encode("ascii"))
    at = 0
    for blob in blobs:
        end = out.find(b"\n", at)
        facts = out[at:end].split(b" ")
        if len(facts) != 3:  # noqa: PLR2004 - name, type, size
            raise GitRefused(commit_failed(f"the object {blob} is missing"))
        start, at = end + 1, end + 2 + int(facts[2])
        yield blob, iter((out[start : at - 1],))


def _read_large(store: PrivateRepo, blob: str) -> Iterator[bytes]:
    from tempfile import TemporaryDirectory  # noqa: PLC0415 - rarely needed

    with TemporaryDirectory(prefix="blob-", dir=store.folder, ignore_cleanup_errors=True) as folder:
        out = run(
            folder, *store.options, "unpack-file", blob,
            more={**store.environment, "GIT_WORK_TREE": folder}, alone=True,
        )  # fmt: skip
        if out.code:
            raise GitRefused(commit_failed(out.reason))
        with open(os.path.join(folder, os.fsdecode(out.out).strip()), "rb") as stream:
            while block := stream.read(_BLOCK):
                yield block


def hash_blobs(store: PrivateRepo, sizes: Mapping[str, int], *, kept: dict[str, bytes] | None = None) -> dict[str, str]:
    """Return the SHA-256 of contents by blob. Small contents are stored in `kept` for later use."""
    found = {}
    room = 0 if kept is None else _BATCH_BYTES
    for blob, blocks in read_blobs(store, sizes):
        digest = hashlib.sha256()
        if kept is not None and sizes[blob] <= min(room, _SMALL_BYTES):
            room -= sizes[blob]
            blocks = iter((kept.setdefault(blob, b"".join(blocks)),))  # noqa: PLW2901 - the same bytes
        for block in blocks:
            digest.update(block)
        found[blob] = digest.hexdigest()
    return found

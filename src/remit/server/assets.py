"""Assets: the files of the dashboard.

Files of `server/web` are compressed once, have an ETag of their content, and are revalidated at each request. Only
files directly in that folder with a known suffix are sent, so a name can't lead out of it.
"""

from __future__ import annotations

import gzip
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response

from remit.server.problems import MissingError
from remit.storage.files import load_bytes

if TYPE_CHECKING:
    from remit.server.security import Headers

FOLDER = Path(__file__).with_name("web")
PAGE = "index.html"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
_MAX_BYTES = 2 * 1024 * 1024


class Asset(NamedTuple):
    """A file with its compressed form and its ETag."""

    kind: str
    data: bytes
    packed: bytes
    etag: str
    stamp: tuple[int, int]
    """The time of change and the size, so that an edited file is read again without a restart."""


class Assets:
    """The files of a folder, each compressed at the first request."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._packed: dict[str, Asset] = {}

    def answer(self, name: str, headers: Headers) -> Response:
        """Answer with a file, or with 304 if the browser has it already."""
        found = self._find(name)
        common = {"ETag": found.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if is_known(headers.get_list("if-none-match"), found.etag):
            return Response(None, 304, common)
        accepts_gzip = "gzip" in headers.get_list("accept-encoding").lower()
        if accepts_gzip and len(found.packed) < len(found.data):
            return Response(found.packed, 200, {**common, "Content-Encoding": "gzip"}, found.kind)
        return Response(found.data, 200, common, found.kind)

    def _find(self, name: str) -> Asset:
        file = self._folder / name
        kind = _KINDS.get(file.suffix)
        if kind is None or file.parent != self._folder or not file.is_file():
            raise MissingError(f"there is no '{name[:100]}'", hint="the dashboard is at /")
        seen = file.stat()
        stamp = seen.st_mtime_ns, seen.st_size
        found = self._packed.get(name)
        if found is None or found.stamp != stamp:
            data = load_bytes(file, max_bytes=_MAX_BYTES)
            etag = f'"{sha256(data).hexdigest()[:24]}"'
            found = self._packed[name] = Asset(kind, data, gzip.compress(data, 9, mtime=0), etag, stamp)
        return found


def is_known(if_none_match: str, etag: str) -> bool:
    """Return whether an `If-None-Match` header contains a tag or `*`."""
    tags = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return etag.removeprefix("W/") in tags or "*" in tags

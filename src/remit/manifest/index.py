"""The index of a manifest: a table in the ledger with full-text search.

The index follows the file: a reader first reads new lines up to the file's end, in short transactions. If the start of
the file has changed (by length and checksum), the index is emptied and rebuilt.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar
from zlib import crc32

from remit.errors import InputError, StorageError
from remit.manifest.entries import BOM, explain_bad_line, list_columns, list_words, read_entry
from remit.returns.manifest_lines import MAX_LINE_BYTES
from remit.storage.files import check_filled

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from remit.ledger.home import Home

_BLOCK_BYTES = 4 * 1024 * 1024
"""The size read in one transaction: other writers wait for it, a third of a second at most."""
_SETTLED_NS = 2_000_000_000
"""A file may change again within this time without a new timestamp, because file system clocks are coarse."""
_MAX_INTEGER = (1 << 63) - 1
_MAX_RETRIES = 20
T = TypeVar("T")


class IndexedPrefix(NamedTuple):
    """How much of a manifest is indexed, and the state of the file at that time."""

    number: int
    """The key of the manifest in the index, which is never reused."""
    device: int
    inode: int
    size_bytes: int
    changed_ns: int
    """The time of its last change; 0 if there is more to read, or if the change is too recent to rely on."""
    offset: int
    lines: int
    checksum: int
    """The CRC-32 of the file up to `offset`."""


class RebuiltIndex(NamedTuple):
    """The counts of a rebuilt index."""

    lines: int
    entries: int
    bad_lines: int


def take_stamp(found: os.stat_result) -> tuple[int, int, int, int]:
    """Return the stamp of a file: device, inode, size and time of change, within SQLite's integer range."""
    return found.st_dev & _MAX_INTEGER, found.st_ino & _MAX_INTEGER, found.st_size, found.st_ctime_ns


class ManifestIndex:
    """The index of one manifest. Not shared between threads, like the ledger that it is in."""

    def __init__(self, home: Home, file: str) -> None:
        self.home = home
        self.file = os.path.abspath(file)
        self.key = os.path.relpath(os.path.realpath(self.file), os.path.realpath(home.root))
        """The relative path: a workspace that is moved as a whole keeps its index."""

    def stat_file(self) -> os.stat_result:
        """Return the state of the file. Raise `InputError` if it isn't a readable file."""
        try:
            with self._reading():
                return self._check(os.stat(self.file))
        except ValueError as error:
            raise InputError(f"invalid path {self.file!r}: {error}", hint="give the path of the manifest") from error

    def load_prefix(self, db: sqlite3.Connection) -> IndexedPrefix | None:
        """Return how much of the manifest is indexed; None if it never was."""
        row = db.execute(
            "SELECT number, device, inode, size_bytes, changed_ns, offset, lines, checksum FROM manifests"
            " WHERE path = ?",
            (self.key,),
        ).fetchone()
        return IndexedPrefix(*row) if row else None

    def catch_up(self) -> IndexedPrefix:
        """Index the file up to its end. Concurrent processes share the work."""
        found = self.stat_file()
        with self.home.ledger.reading() as db:
            known = self.load_prefix(db)
        if known is not None and known[1:5] == take_stamp(found):
            return known
        while True:
            with self.home.ledger.transaction() as db:
                known, at_end = self._advance(db)
            if at_end:
                return known

    def query(self, read: Callable[[sqlite3.Connection, IndexedPrefix], T]) -> T:
        """Update the index and run a query on one snapshot of it."""
        for _ in range(_MAX_RETRIES):
            reached = self.catch_up()
            with self.home.ledger.reading() as db, _snapshot(db):
                known = self.load_prefix(db)
                if known is not None and known.number == reached.number and known.offset >= reached.offset:
                    return read(db, known)
        raise StorageError(f"'{self.file}' keeps changing", hint="stop the program that rewrites it, and try again")

    def rebuild(self) -> RebuiltIndex:
        """Empty the index, and read the whole manifest again."""
        self.stat_file()
        with self.home.ledger.transaction() as db:
            _empty(db)
        count = "SELECT count(day), count(reason) FROM manifest_lines WHERE manifest = ? AND line <= ?"
        return self.query(
            lambda db, known: RebuiltIndex(known.lines, *db.execute(count, (known.number, known.lines)).fetchone())
        )

    def _advance(self, db: sqlite3.Connection) -> tuple[IndexedPrefix, bool]:
        """Index one more block, starting at the end of the last one; return whether it reaches the end of the file."""
        with self._reading(), open(self.file, "rb", opener=_open, buffering=1 << 18) as file:
            found = self._check(os.fstat(file.fileno()))
            known = self.load_prefix(db)
            if known is not None and not _is_continued(file, known):
                _empty(db)
                known = None
            if known is None:
                db.execute("INSERT INTO manifests (path) VALUES (?)", (self.key,))
                known = self.load_prefix(db)
                assert known is not None  # noqa: S101 - for mypy: it was written just now
            is_settled = time.time_ns() - found.st_ctime_ns > _SETTLED_NS
            if known.offset == found.st_size and not is_settled:
                return known, True
            known, at_end = _read_block(db, file, known)
        stamp = take_stamp(found) if at_end and is_settled else (0, 0, 0, 0)
        known = IndexedPrefix(known.number, *stamp, *known[5:])
        db.execute(
            "UPDATE manifests SET device = ?, inode = ?, size_bytes = ?, changed_ns = ?, offset = ?, lines = ?,"
            " checksum = ? WHERE number = ?",
            (*known[1:], known.number),
        )
        return known, at_end

    def _check(self, found: os.stat_result) -> os.stat_result:
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"'{self.file}' isn't a file", hint="give the path of the manifest")
        check_filled(self.file, found)
        return found

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise `InputError` if the file can't be read."""
        try:
            yield
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            is_gone = isinstance(error, FileNotFoundError)
            hint = "add a finding first, or give another path" if is_gone else "check the file and its permissions"
            raise InputError(f"'{self.file}' can't be read: {reason}", hint=hint) from error


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)


@contextmanager
def _snapshot(db: sqlite3.Connection) -> Iterator[None]:
    """Read one snapshot of the ledger, unaffected by concurrent writers."""
    if db.in_transaction:  # it already has a snapshot
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("ROLLBACK")


def _empty(db: sqlite3.Connection) -> None:
    """Empty the index of all manifests, because a contentless FTS table can't delete single entries.

    Other manifests are indexed again when they are next queried.
    """
    db.execute("DELETE FROM manifests")
    db.execute("DELETE FROM manifest_lines")
    db.execute("INSERT INTO manifest_words (manifest_words) VALUES ('delete-all')")


def _is_continued(file: BinaryIO, known: IndexedPrefix) -> bool:
    """True if the file still starts with the indexed content, and its last line didn't grow."""
    checksum, left = 0, known.offset
    while left and (data := file.read(min(left, _BLOCK_BYTES))):
        checksum, left = crc32(data, checksum), left - len(data)
    return not left and checksum == known.checksum and _find_line(file, known.offset) is not None


def _find_line(file: BinaryIO, offset: int) -> int | None:
    """Return the start of the next line; None if the last indexed line had no line feed and has grown."""
    file.seek(max(0, offset - 1))
    if offset == 0 or file.read(1) == b"\n":
        return offset
    end = file.read(2)
    if end in (b"", b"\r\n"):
        return offset + len(end)
    return offset + 1 if end.startswith(b"\n") else None


def _read_block(db: sqlite3.Connection, file: BinaryIO, known: IndexedPrefix) -> tuple[IndexedPrefix, bool]:
    """Index the next lines; at the end of the file also a complete entry without a line feed.

    A truncated line at the end is a bad line for now, and is read again.
    """
    number, line, checksum = known.number, known.lines, known.checksum
    (key,) = db.execute("SELECT coalesce(max(number), 0) FROM manifest_lines").fetchone()
    db.execute("DELETE FROM manifest_lines WHERE manifest = ? AND day IS NULL AND line > ?", (number, line))
    start = _find_line(file, known.offset)
    assert start is not None  # noqa: S101 - the file is continued
    file.seek(known.offset)
    checksum, offset = crc32(file.read(start - known.offset), checksum), start
    entries: list[tuple[object, ...]] = []
    words: list[tuple[object, ...]] = []
    bad_lines: list[tuple[object, ...]] = []
    at_end = False
    while not at_end and offset - start < _BLOCK_BYTES:
        raw = text = file.readline(MAX_LINE_BYTES + 2)
        length, after = len(raw), crc32(raw, checksum)
        while raw and not raw.endswith(b"\n") and (raw := file.readline(_BLOCK_BYTES)):
            length, after = length + len(raw), crc32(raw, after)
        at_end = not raw.endswith(b"\n")
        text = text.removeprefix(BOM if line == 0 else b"").removesuffix(b"\n")
        fields = read_entry(text)
        if fields is not None:
            key += 1
            entries.append((key, number, line + 1, *list_columns(fields), text))
            words.append((key, *list_words(fields)))
        elif text.strip():
            reason = explain_bad_line(text)
            bad_lines.append((number, line + 1, f"{reason}, and no line feed ends it" if at_end else reason))
        if fields is not None or not at_end:
            line, offset, checksum = line + 1, offset + length, after
    columns = "number, manifest, line, day, id, status, actionable, pending, topics, tasks, entry"
    db.executemany(f"INSERT INTO manifest_lines ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", entries)  # noqa: S608 - a constant
    columns = "rowid, id, title, topics, key_findings"
    db.executemany(f"INSERT INTO manifest_words ({columns}) VALUES (?, ?, ?, ?, ?)", words)  # noqa: S608 - a constant
    db.executemany("INSERT INTO manifest_lines (manifest, line, reason) VALUES (?, ?, ?)", bad_lines)
    return known._replace(offset=offset, lines=line, checksum=checksum), at_end

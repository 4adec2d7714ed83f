"""The index: which entry stands where in a manifest, so that none has to be searched for.

Owns the tables of the ledger that are made from a manifest. They follow the file: whoever reads first brings them up to
its end, in short transactions, so that several can do so at once. What was indexed is known by a checksum, which is
compared whenever anybody but Remit has touched the file; where it is no longer what it was, the tables are made anew.
An entry on a last line that nobody has ended counts; what is cut off there is left until somebody ends it.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from zlib import crc32

from jiter import from_json

from remit.contract.dialects.manifest import read_aliases
from remit.errors import BusyError, InputError, StorageError
from remit.workspace.files import GrowingFile, check_filled
from remit.workspace.home import MANIFEST
from remit.workspace.ledger.schema import MANIFEST_INDEXES
from remit.workspace.manifest.entries import Entry
from remit.workspace.manifest.rows import LINE_MASK, MANIFEST_SHIFT, TOO_LONG, Rows, is_entry, read_block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from remit.workspace.home import Home
    from remit.workspace.locks import KeptLock

_BLOCK_BYTES = 4 * 1024 * 1024
"""What one transaction indexes: others wait for it, a third of a second at most."""
_LAST_BYTES = 4096
SMALL_BYTES = 1024 * 1024
"""A file that was indexed up to here is always compared as a whole."""
_LARGE_BYTES = 32 * 1024 * 1024
_MAX_NUMBER = 1 << 16
_MAX_INTEGER = (1 << 63) - 1
_PATIENCE = 20
T = TypeVar("T")


class Known(NamedTuple):
    """How far a manifest was indexed, and what the file was then."""

    number: int
    device: int
    inode: int
    size_bytes: int
    changed_ns: int
    """When it was last changed; with a minus while not all of it is indexed."""
    offset: int
    lines: int
    checksum: int
    last_checksum: int

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest number that an entry of this manifest can have, and the lowest above them."""
        return self.number << MANIFEST_SHIFT, (self.number + 1) << MANIFEST_SHIFT

    def is_fresh(self, found: os.stat_result) -> bool:
        """Whether all of the file is indexed."""
        return self[1:5] == take_stamp(found)

    def is_untouched(self, found: os.stat_result) -> bool:
        """Whether nobody but Remit has touched the file since."""
        return (*self[1:4], abs(self.changed_ns)) == take_stamp(found)


def take_stamp(found: os.stat_result) -> tuple[int, int, int, int]:
    """What a file is told apart by: device, inode, size and time of change, as far as SQLite can count."""
    return found.st_dev & _MAX_INTEGER, found.st_ino & _MAX_INTEGER, found.st_size, found.st_ctime_ns


class Rebuilt(NamedTuple):
    """What came of making the index anew."""

    lines: int
    entries: int
    bad_lines: int


class ChangedError(Exception):
    """The file is not what the index says: somebody changed it a moment ago."""


_KNOWN = """
    SELECT number, device, inode, size_bytes, changed_ns, offset, lines, checksum, last_checksum
    FROM manifests WHERE path = ?
"""
_BY_ID = f"""
    SELECT m.device, m.inode, m.size_bytes, m.changed_ns, e.number, e.offset, e.length
    FROM manifests AS m LEFT JOIN manifest_entries AS e
    ON e.id = ?2 AND e.number >= m.number << {MANIFEST_SHIFT} AND e.number < (m.number + 1) << {MANIFEST_SHIFT}
    WHERE m.path = ?1 LIMIT 2
"""  # noqa: S608 - a constant
_FOLLOW = """
    UPDATE manifests SET size_bytes = ?, changed_ns = -? WHERE path = ? AND device = ? AND inode = ?
    AND size_bytes = ? AND abs(changed_ns) = ?
"""
_FIRST_BY_ID = _BY_ID.replace("LIMIT 2", f"ORDER BY e.number & {LINE_MASK} LIMIT 1")
"""Of entries with one id the first in the file has it. To sort takes time, and most ids are there once."""


class Index:
    """The index of one manifest. Not shared between threads, like the ledger that it is in."""

    def __init__(self, home: Home, file: str) -> None:
        self.home = home
        self.file = os.path.abspath(file)
        self.key = os.path.relpath(os.path.realpath(self.file), os.path.realpath(home.root))
        """What the ledger calls the manifest: a workspace that is moved as a whole keeps its index."""
        self._handle = -1
        self._opened: tuple[int, int] | None = None
        self.growing = GrowingFile(self.file)
        """The manifest, as it is added to."""
        self._lock: KeptLock | None = None

    @property
    def lock(self) -> KeptLock:
        """The lock under which the manifest is added to."""
        if self._lock is None:
            self._lock = self.home.keep_lock(MANIFEST)
        return self._lock

    def close(self) -> None:
        """Close the manifest and its lock, as far as they were opened."""
        self._close_reading()
        self.growing.close()
        if self._lock is not None:
            self._lock.close()

    def _close_reading(self) -> None:
        """Close what is read from. Whoever adds an entry may hold the lock meanwhile, which stays."""
        if self._opened is not None:
            with suppress(OSError):  # nothing was written through it
                os.close(self._handle)
            self._opened = None

    # -- the file

    def look(self) -> os.stat_result:
        """What the file is now."""
        try:
            found = os.stat(self.file)
        except OSError as error:
            raise self._tell_unreadable(error) from error
        except ValueError as error:
            raise InputError(f"{self.file!r} is not a path: {error}", hint="name the manifest's file") from error
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"'{self.file}' is not a file", hint="name the manifest's file")
        check_filled(self.file, found)
        return found

    def look_if_there(self) -> os.stat_result | None:
        """What the file is now; None where there is none."""
        try:
            found = os.stat(self.file)
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            return self.look()
        return found if stat.S_ISREG(found.st_mode) and found.st_blocks * 512 >= found.st_size else self.look()

    def _tell_unreadable(self, error: OSError) -> InputError:
        reason = (error.strerror or str(error)).lower()
        is_gone = isinstance(error, FileNotFoundError)
        hint = "add an entry first, or name another file" if is_gone else "check the file and its permissions"
        return InputError(f"'{self.file}' cannot be read: {reason}", hint=hint)

    def open(self, found: os.stat_result) -> int:
        """A handle of the file, kept until there is another file of that name."""
        if self._opened == (found.st_dev, found.st_ino):
            return self._handle
        self._close_reading()
        try:
            self._handle = os.open(self.file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise self._tell_unreadable(error) from error
        opened = os.fstat(self._handle)
        self._opened = (opened.st_dev, opened.st_ino)
        if not stat.S_ISREG(opened.st_mode):  # exchanged since it was looked at
            self._close_reading()
            raise InputError(f"'{self.file}' is not a file", hint="name the manifest's file")
        return self._handle

    def read_bytes(self, offset: int, length: int) -> bytes:
        """A part of the file."""
        try:
            return os.pread(self.open(self.look()), length, offset)
        except OSError as error:
            raise self._tell_unreadable(error) from error

    # -- following it

    def load_known(self, db: sqlite3.Connection) -> Known | None:
        """How far the manifest was indexed; None where it never was."""
        row = db.execute(_KNOWN, (self.key,)).fetchone()
        return Known(*row) if row else None

    def recall(self) -> Known | None:
        """How far the manifest was indexed when somebody last did."""
        row = self.ask(_KNOWN, (self.key,))
        return Known(*row) if row else None

    def catch_up(self) -> Known:
        """Bring the index up to the end of the file. Others who do so at the same time share the work."""
        known = self.recall()
        if known is not None and known.is_fresh(self.look()):
            return known
        while True:
            with self.home.ledger.transaction() as db:
                known, at_end = self._advance(db)
            if at_end:
                return known

    def follow(self, before: os.stat_result, after: os.stat_result) -> None:
        """Remember that what made the file of before the file of after was an entry of ours: the rest is as it was.

        Where the ledger cannot be written to, the next who reads compares the file as a whole.
        """
        device, inode, size, changed_ns = take_stamp(after)
        values = (size, changed_ns, self.key, device, inode, *take_stamp(before)[2:])
        with suppress(BusyError, StorageError), self.home.ledger.transaction() as db:
            db.execute(_FOLLOW, values)

    def rebuild(self) -> Rebuilt:
        """Forget what is known of the manifest, and read all of it again."""
        self.look()
        with self.home.ledger.transaction() as db:
            known = self.load_known(db)
            if known is not None:
                _forget(db, known)
        known = self.catch_up()
        with self.home.ledger.reading() as db:
            entries = db.execute(
                "SELECT count(*) FROM manifest_entries WHERE number >= ? AND number < ?", known.bounds
            ).fetchone()[0]
            bad = db.execute("SELECT count(*) FROM manifest_bad_lines WHERE manifest = ?", known[:1]).fetchone()[0]
        return Rebuilt(known.lines, entries, bad)

    def _advance(self, db: sqlite3.Connection) -> tuple[Known, bool]:
        """Index one more block, from where whoever came last has left off; whether that was the end of the file."""
        handle = self.open(self.look())
        found = os.fstat(handle)
        known = self.load_known(db)
        if known is not None and known.is_fresh(found):
            return known, True
        try:
            if known is not None and not _is_continued(handle, known, found):
                _forget(db, known)
                known = None
            if known is None:
                known = self._begin(db)
            if known.offset == 0 and found.st_size > _LARGE_BYTES:
                _drop_indexes(db)
            block = _read(handle, known.offset, found.st_size)
            rows = _read_rows(block, known)
            if known.lines + rows.lines > LINE_MASK:
                raise InputError(f"'{self.file}' has more than {LINE_MASK:,} lines", hint="split it")
            _insert(db, rows)
            at_end = block.is_last and not _make_index(db)
            known = known._replace(lines=known.lines + rows.lines)
            known = _mark(db, handle, known, block, found, at_end=at_end)
        except OSError as error:
            raise self._tell_unreadable(error) from error
        return known, at_end

    def _begin(self, db: sqlite3.Connection) -> Known:
        number = db.execute("SELECT coalesce(max(number), 0) + 1 FROM manifests").fetchone()[0]
        db.execute("INSERT INTO manifests (number, path) VALUES (?, ?)", (number, self.key))
        return Known(number, 0, 0, 0, 0, 0, 0, 0, 0)

    # -- asking it

    def find(self, entry_id: str) -> Entry | None:
        """The entry that has an id, read from its place in the file; None where there is none."""
        try:
            found = os.stat(self.file)
            rows = self.home.ledger.db.execute(_BY_ID, (self.key, entry_id)).fetchall()
            if len(rows) == 1 and rows[0][:4] == take_stamp(found):
                _, _, _, _, number, offset, length = rows[0]
                if number is None:
                    return None
                fields = from_json(os.pread(self.open(found), length, offset))
                if type(fields) is dict and fields.get("id") == entry_id:
                    return Entry(number & LINE_MASK, read_aliases(fields)[0])
        except (OSError, ValueError, sqlite3.Error):
            pass  # what is wrong is told below, which costs a little
        return self.consult(lambda db, _: self._find_carefully(db, entry_id))

    def _find_carefully(self, db: sqlite3.Connection, entry_id: str) -> Entry | None:
        row = db.execute(_FIRST_BY_ID, (self.key, entry_id)).fetchone()
        if row is None or row[4] is None:
            return None
        (entry,) = self.load_entries((row[4:],))
        if entry.id != entry_id:
            raise ChangedError
        return entry

    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        try:
            return self.home.ledger.db.execute(statement, values).fetchall()
        except sqlite3.Error:  # asked again where it is told in a sentence, which costs a little
            with self.home.ledger.reading() as db:
                return db.execute(statement, values).fetchall()

    def ask(self, statement: str, values: tuple[object, ...]) -> tuple[Any, ...] | None:
        """The first row of an answer, out of the index as it is."""
        rows = self._ask(statement, values)
        return rows[0] if rows else None

    def consult(self, ask: Callable[[sqlite3.Connection, Known], T]) -> T:
        """Ask the index once it is up to date; where the file turns out to be another one, make it anew and ask again.

        All questions that are asked at once are answered out of one state of the index.
        """
        for _ in range(_PATIENCE):
            reached = self.catch_up()
            with self.home.ledger.reading() as db, _snapshot(db):
                known = self.load_known(db)
                if known is None or known.number != reached.number or known.offset < reached.offset:
                    continue  # somebody has begun anew meanwhile
                try:
                    return ask(db, known)
                except ChangedError:
                    pass
            self.rebuild()
        raise StorageError(f"'{self.file}' changes all the time", hint="end whatever rewrites it, and try again")

    def load_entries(self, places: Iterable[tuple[int, int, int]]) -> list[Entry]:
        """The entries at some places: their numbers, and where in the file they begin and how long they are."""
        handle = self.open(self.look())
        return [self._load(handle, *place) for place in places]

    def _load(self, handle: int, number: int, offset: int, length: int) -> Entry:
        try:
            data = os.pread(handle, length, offset)
        except OSError as error:
            raise self._tell_unreadable(error) from error
        try:
            fields = from_json(data)  # it was read strictly when it was indexed
        except ValueError:
            raise ChangedError from None
        if type(fields) is not dict:
            raise ChangedError
        return Entry(number & LINE_MASK, read_aliases(fields)[0])


@contextmanager
def _snapshot(db: sqlite3.Connection) -> Iterator[None]:
    """See one state of the ledger, whatever others write meanwhile."""
    if db.in_transaction:  # which does
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("ROLLBACK")


# --- one step along the file ------------------------------------------------------------------------------------------


class _Block(NamedTuple):
    """The next part of a file: whole lines, or one that is longer than any block."""

    data: bytes
    start: int
    """Where its first line begins in the file."""
    end: int
    is_last: bool
    """Whether nothing follows that could be read now."""


def _read(handle: int, offset: int, size: int) -> _Block:
    """The next lines after what was indexed; at the end of the file also an entry that nobody has ended."""
    start = _find_line(handle, offset)
    assert start is not None  # noqa: S101 - for mypy: the file is continued
    data = os.pread(handle, min(_BLOCK_BYTES, max(0, size - start)), start)
    is_last = start + len(data) >= size or not data
    whole = data.rfind(b"\n") + 1
    if is_last and is_entry(data[whole:], is_first=start + whole == 0):
        whole = len(data)
    if whole or is_last:
        return _Block(data[:whole], start, start + whole, is_last)
    at = start + len(data)
    while at < size and (more := os.pread(handle, min(_BLOCK_BYTES, size - at), at)):
        found = more.find(b"\n")
        if found >= 0:
            return _Block(b"", start, at + found + 1, is_last=at + found + 1 >= size)
        at += len(more)
    return _Block(b"", start, start, is_last=True)


def _find_line(handle: int, offset: int) -> int | None:
    """Where the next line begins: right there, or once an entry that was not ended is.

    None where somebody wrote on behind that entry: then there is none on that line any more.
    """
    if offset == 0 or os.pread(handle, 1, offset - 1) == b"\n":
        return offset
    rest = os.pread(handle, _LAST_BYTES, offset)
    blank, end, _ = rest.partition(b"\n")
    if blank.strip(b" \t\r") or len(blank) == _LAST_BYTES:
        return None
    return offset + len(blank) + len(end) if end else offset


def _read_rows(block: _Block, known: Known) -> Rows:
    if not block.data and block.end > block.start:
        return Rows([], [], [], [], [(known.number, known.lines + 1, TOO_LONG)], 1)
    return read_block(block.data, manifest=known.number, line=known.lines, offset=block.start)


def _insert(db: sqlite3.Connection, rows: Rows) -> None:
    db.executemany("INSERT INTO manifest_entries VALUES (?, ?, ?, ?, ?, ?, ?)", rows.entries)
    db.executemany("INSERT OR IGNORE INTO manifest_topics VALUES (?, ?)", rows.topics)
    db.executemany("INSERT OR IGNORE INTO manifest_tasks VALUES (?, ?)", rows.tasks)
    words = "INSERT INTO manifest_words (rowid, id, title, topics, key_findings) VALUES (?, ?, ?, ?, ?)"
    db.executemany(words, rows.words)
    db.executemany("INSERT INTO manifest_bad_lines VALUES (?, ?, ?)", rows.bad_lines)


def _drop_indexes(db: sqlite3.Connection) -> None:
    """Before a large manifest is read: to sort once is quicker than to keep sorted. Not while others need them."""
    if db.execute("SELECT 1 FROM manifest_entries LIMIT 1").fetchone() is None:
        for name in MANIFEST_INDEXES:
            db.execute(f"DROP INDEX IF EXISTS {name}")


def _make_index(db: sqlite3.Connection) -> bool:
    """Make one of the indexes that are not there, if any is not; each takes a while, and others wait for it."""
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE tbl_name = 'manifest_entries'")}
    missing = next((name for name in MANIFEST_INDEXES if name not in there), None)
    if missing is not None:
        db.execute(MANIFEST_INDEXES[missing])
    return missing is not None


def _mark(
    db: sqlite3.Connection, handle: int, known: Known, block: _Block, found: os.stat_result, *, at_end: bool
) -> Known:
    """Remember how far the index goes now, and what the file was when it was read."""
    whole = len(block.data) == block.end - known.offset
    checksum = (
        crc32(block.data, known.checksum) if whole else _take_checksum(handle, known.offset, block.end, known.checksum)
    )
    device, inode, size, changed_ns = take_stamp(found)
    known = Known(
        known.number,
        device,
        inode,
        size,
        changed_ns if at_end else -changed_ns,
        block.end,
        known.lines,
        checksum,
        _take_checksum(handle, max(0, block.end - _LAST_BYTES), block.end),
    )
    db.execute(
        """
        UPDATE manifests SET device = ?, inode = ?, size_bytes = ?, changed_ns = ?, offset = ?, lines = ?, checksum = ?,
        last_checksum = ? WHERE number = ?
        """,
        (*known[1:], known.number),
    )
    return known


def _is_continued(handle: int, known: Known, found: os.stat_result) -> bool:
    """Whether what was indexed still stands at the beginning of the file.

    Of a large file that nobody but Remit has touched only the end is compared: there a clock that ticks too slowly
    would have hidden something. Of any other, all of it.
    """
    if found.st_size < known.offset:
        return False
    start, checksum = 0, known.checksum
    if known.offset > SMALL_BYTES and known.is_untouched(found):
        start, checksum = known.offset - _LAST_BYTES, known.last_checksum
    same = _take_checksum(handle, start, known.offset) == checksum
    return same and _find_line(handle, known.offset) is not None


def _take_checksum(handle: int, start: int, end: int, value: int = 0) -> int:
    while start < end and (data := os.pread(handle, min(_BLOCK_BYTES, end - start), start)):
        value = crc32(data, value)
        start += len(data)
    return value


def _forget(db: sqlite3.Connection, known: Known) -> None:
    """Let a manifest's rows be found no more. They stay until they are the greater part, and then all goes.

    The words of an entry can only be taken out of the index by who still knows them, which nobody does.
    """
    db.execute("UPDATE manifests SET path = NULL WHERE number = ?", (known.number,))
    db.execute("DELETE FROM manifests WHERE path IS NULL AND lines = 0")
    forgotten, kept, highest = db.execute(
        "SELECT total(lines * (path IS NULL)), total(lines * (path IS NOT NULL)), max(number) FROM manifests"
    ).fetchone()
    if forgotten <= kept and (highest or 0) < _MAX_NUMBER:
        return
    for table in ("manifest_entries", "manifest_topics", "manifest_tasks", "manifest_bad_lines"):
        db.execute(f"DELETE FROM {table}")  # noqa: S608 - the names above
    db.execute("INSERT INTO manifest_words (manifest_words) VALUES ('delete-all')")
    db.execute("DELETE FROM manifests")

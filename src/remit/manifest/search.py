"""Search manifest entries by id, topic, task, status, day and words, newest first, page by page.

Words from users are quoted in full-text queries, so none of them can be an operator.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import BusyError, UsageError
from remit.manifest.entries import ManifestEntry, name_task, name_topic, read_day, read_entry, split_id, write_items
from remit.returns.formats.manifest import read_aliases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from sqlite3 import Connection

    from remit.manifest.index import IndexedPrefix, ManifestIndex

PAGE = 20
_BATCH = 500
_MAX_WORDS = 50
_MAX_WORD_CHARS = 200
_MIN_PREFIX_CHARS = 4
"""A shorter prefix of a word matches too many entries to be fast or useful."""
_MAX_SIBLINGS = 10_000


class EntryQuery(NamedTuple):
    """A search; None or empty means any."""

    words: tuple[str, ...] = ()
    """All must be in the id, the title, the topics or the key findings. Quotation marks enclose a phrase.

    Without a match, the last one may be the prefix of a word.
    """
    topic: str | None = None
    task: str | None = None
    status: str | None = None
    since: str | None = None
    until: str | None = None
    actionable: bool | None = None
    pending: bool = False


class EntryPage(NamedTuple):
    """One page of matching entries, newest first by date and line."""

    entries: tuple[ManifestEntry, ...]
    has_more: bool


def find_entries(index: ManifestIndex, query: EntryQuery, *, limit: int = PAGE, skip: int = 0) -> EntryPage:
    """Return one page of matching entries."""

    def query_page(db: Connection, known: IndexedPrefix) -> EntryPage:
        test, values = _write_test(db, known, query)
        found = _load(db, known, f"{test} {_NEWEST_FIRST} LIMIT ? OFFSET ?", *values, limit + 1, skip)
        return EntryPage(tuple(found[:limit]), len(found) > limit)

    return index.query(query_page)


def walk_entries(index: ManifestIndex, query: EntryQuery) -> Iterator[ManifestEntry]:
    """Yield all matching entries in batches, without keeping them."""
    number: int | None = None
    last: tuple[object, ...] = ()

    def query_batch(db: Connection, known: IndexedPrefix) -> tuple[int, list[ManifestEntry]]:
        if number not in (None, known.number):
            raise BusyError("another process changed the manifest during the search", hint="try again")
        test, values = _write_test(db, known, query)
        above = "AND (day, line) < (?, ?)" if last else ""
        found = _load(db, known, f"{test} {above} {_NEWEST_FIRST} LIMIT ?", *values, *last, _BATCH)
        return known.number, found

    while True:
        number, entries = index.query(query_batch)
        yield from entries
        if len(entries) < _BATCH:
            return
        last = (read_day(entries[-1].fields.get("date")), entries[-1].line)


# --- the query in SQL -------------------------------------------------------------------------------------------------

_NEWEST_FIRST = "ORDER BY day DESC, line DESC"


def _load(db: Connection, known: IndexedPrefix, test: str, *values: object) -> list[ManifestEntry]:
    """Return the entries of a manifest that match a condition."""
    statement = f"SELECT line, entry FROM manifest_lines WHERE manifest = ? AND day IS NOT NULL AND {test}"  # noqa: S608 - tests of ours
    return [
        ManifestEntry(line, read_entry(text) or {}) for line, text in db.execute(statement, (known.number, *values))
    ]


def _write_test(db: Connection, known: IndexedPrefix, query: EntryQuery) -> tuple[str, list[object]]:
    """Return the SQL condition of a query and its values."""
    tests: dict[str, object] = {}
    if query.words:
        tests["number IN (SELECT rowid FROM manifest_words WHERE manifest_words MATCH ?)"] = write_match(query.words)
    if query.task is not None:
        tests["instr(tasks, ?)"] = write_items([name_task(query.task)])
    if query.topic is not None:
        tests["instr(topics, ?)"] = write_items([name_topic(query.topic)])
    if query.status is not None:
        tests["status = ?"] = query.status.strip().lower()
    if query.actionable is not None:
        tests["actionable = ?"] = int(query.actionable)
    if query.pending:
        tests["pending = ?"] = 1
    if query.since is not None:
        tests["day >= ?"] = read_day(query.since)
    if query.until is not None:  # an entry without a day doesn't match
        tests["day BETWEEN '0' AND ?"] = read_day(query.until)
    test, values = " AND ".join(tests) or "1", list(tests.values())
    prefix = write_match(query.words, is_prefix=True) if query.words else None
    if prefix not in (None, *values[:1]) and not _load(db, known, f"{test} LIMIT 1", *values):
        values[0] = prefix
    return test, values


def write_match(words: Iterable[str], *, is_prefix: bool = False) -> str:
    """Return words as an FTS5 query: each quoted, all required; with `is_prefix` the last one is a prefix."""
    phrases = [phrase for text in words for phrase in _split(text)]
    if not phrases:
        raise UsageError("no word to search for", hint="give words with letters or digits")
    if len(phrases) > _MAX_WORDS:
        raise UsageError(f"too many words to search for: {len(phrases)}", hint=f"give at most {_MAX_WORDS}")
    match = " ".join(f'"{phrase}"' for phrase in phrases)
    last = phrases[-1]
    return f"{match}*" if is_prefix and last.isalnum() and len(last) >= _MIN_PREFIX_CHARS else match


def _split(text: str) -> Iterator[str]:
    """Yield the words of a text, and its phrases in quotation marks, with only letters, digits and spaces."""
    from unicodedata import normalize  # noqa: PLC0415 - only for words

    for position, part in enumerate(normalize("NFC", text[: _MAX_WORD_CHARS * _MAX_WORDS]).split('"')):
        plain = "".join(char if char.isalnum() else " " for char in part).split()
        words = [word[:_MAX_WORD_CHARS] for word in plain]
        if position % 2 and words:
            yield " ".join(words)
        elif not position % 2:
            yield from words


# --- single entries ---------------------------------------------------------------------------------------------------


def find_entry(index: ManifestIndex, entry_id: str) -> ManifestEntry | None:
    """Return the first entry with an id; None if there is none."""
    found = index.query(lambda db, known: _load(db, known, "id = ? ORDER BY line LIMIT 1", entry_id))
    return found[0] if found else None


def find_line(index: ManifestIndex, line: int) -> ManifestEntry | None:
    """Return the entry on a line; None if it isn't an entry."""
    found = index.query(lambda db, known: _load(db, known, "line = ?", line))
    return found[0] if found else None


def list_ids(index: ManifestIndex, start: str, *, limit: int = 200) -> list[str]:
    """Return ids with a prefix, for suggestions."""
    statement = "SELECT DISTINCT id FROM manifest_lines WHERE manifest = ? AND id >= ? AND id < ? LIMIT ?"
    rows = index.query(
        lambda db, known: db.execute(statement, (known.number, start, f"{start}\U0010ffff", limit)).fetchall()
    )
    return [entry_id for (entry_id,) in rows]


def find_entries_of_task(index: ManifestIndex, task: str, *, linked: Iterable[str] = ()) -> tuple[ManifestEntry, ...]:
    """Return the entries of a task, newest first: those that name it, and those that the task links."""
    entries = {entry.line: entry for entry in walk_entries(index, EntryQuery(task=task))}
    for entry_id in linked:
        entry = find_entry(index, entry_id)
        if entry is not None:
            entries.setdefault(entry.line, entry)
    return tuple(
        sorted(entries.values(), key=lambda each: (read_day(each.fields.get("date")), each.line), reverse=True)
    )


def find_own_entry(index: ManifestIndex, entry: Mapping[str, Any]) -> ManifestEntry | None:
    """Return the entry that the agent already added in this run (C19): the first with its id and its file.

    The agent may have got another number, and may have written the path of the file differently.
    """
    fields, _ = read_aliases(dict(entry))
    entry_id, file = fields.get("id"), fields.get("file")
    if not isinstance(entry_id, str) or not entry_id.strip() or not os.path.exists(index.file):
        return None
    stem = split_id(entry_id)[0]
    test = f"id >= ? AND id < ? ORDER BY line LIMIT {_MAX_SIBLINGS}"
    siblings = index.query(lambda db, known: _load(db, known, test, stem, f"{stem}."))
    own = (each for each in siblings if _is_numbered(each.id, stem) and _has_file(index, each, file))
    return next(own, None)


def _is_numbered(entry_id: str, stem: str) -> bool:
    """True if an id is a stem, or a stem with a number."""
    number = entry_id[len(stem) + 1 :]
    return entry_id == stem or (number.isascii() and number.isdigit())


def _has_file(index: ManifestIndex, entry: ManifestEntry, file: object) -> bool:
    """True if an entry names a file, relative to the root or to the manifest."""
    other = entry.fields.get("file")
    if not isinstance(file, str) or not isinstance(other, str):
        return file == other
    return file == other or not _list_places(index, file).isdisjoint(_list_places(index, other))


def _list_places(index: ManifestIndex, file: str) -> set[str]:
    """Return the possible places of a file: the existing ones, or all of them if there is none."""
    bases = (os.path.dirname(index.file), index.home.root)
    places = {os.path.normpath(os.path.join(base, file)) for base in bases}
    return {place for place in places if os.path.lexists(place)} or places

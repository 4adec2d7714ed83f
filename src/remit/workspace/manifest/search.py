"""Searching: entries by topic, task, status, day and words, the newest first, page by page.

Owns the questions that can be asked of the index, and their SQL. Words come from whoever asks and are data: each is
quoted, so that none of them is taken for the language of queries.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.contract.dialects.manifest import read_aliases
from remit.errors import BusyError, UsageError
from remit.workspace.manifest.entries import MAX_DAY, name_task, read_day, split_id
from remit.workspace.manifest.rows import LINE_BITS, LINE_MASK, MANIFEST_SHIFT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from sqlite3 import Connection

    from remit.workspace.manifest.entries import Entry
    from remit.workspace.manifest.index import Index, Known

PAGE = 20
_BATCH = 500
_MAX_WORDS = 50
_MAX_WORD_CHARS = 200
_MIN_PREFIX_CHARS = 4
"""A shorter beginning of a word is found too often to be quick, and to be of use."""
_MAX_SIBLINGS = 10_000


class Query(NamedTuple):
    """What to look for; what is left out does not matter."""

    words: tuple[str, ...] = ()
    """All of them must be in the id, the title, the topics or the key findings. Quotation marks hold a phrase.

    Where nothing fits, the last one may be the beginning of a longer one.
    """
    topic: str | None = None
    task: str | None = None
    status: str | None = None
    since: str | None = None
    until: str | None = None
    actionable: bool | None = None
    pending: bool = False
    is_begun: bool = False
    """Whether the last word is a beginning. Worked out."""


class Page(NamedTuple):
    """Some of the entries that fit, the newest first: by date, and of one day the last written."""

    entries: tuple[Entry, ...]
    has_more: bool


def find_entries(index: Index, query: Query, *, limit: int = PAGE, skip: int = 0) -> Page:
    """One page of the entries that fit."""

    def ask(db: Connection, known: Known) -> Page:
        statement, values = _write_select(_settle(db, query, known.bounds), known.bounds)
        rows = db.execute(f"{statement} LIMIT ? OFFSET ?", (*values, limit + 1, skip)).fetchall()
        return Page(tuple(index.load_entries(rows[:limit])), len(rows) > limit)

    return index.consult(ask)


def walk_entries(index: Index, query: Query) -> Iterator[Entry]:
    """All entries that fit, however many there are: none is kept."""
    below: int | None = None
    while True:
        rows, entries = index.consult(_ask_batch(index, query, below))
        yield from entries
        if len(rows) < _BATCH:
            return
        below = rows[-1][0]


def _ask_batch(
    index: Index, query: Query, below: int | None
) -> Callable[[Connection, Known], tuple[list[tuple[int, int, int]], list[Entry]]]:
    def ask(db: Connection, known: Known) -> tuple[list[tuple[int, int, int]], list[Entry]]:
        first, end = known.bounds
        if below is not None and not first <= below <= end:
            raise BusyError("the manifest was changed by others while it was read", hint="try again")
        settled = _settle(db, query, known.bounds)
        statement, values = _write_select(settled, (first, end if below is None else below))
        rows = db.execute(f"{statement} LIMIT ?", (*values, _BATCH)).fetchall()
        return rows, index.load_entries(rows)

    return ask


# --- the question in SQL ----------------------------------------------------------------------------------------------


class _Table(NamedTuple):
    """A table that leads to entries: which column has their numbers, and what is asked of it."""

    name: str
    column: str
    test: str
    value: str


def _choose_tables(query: Query) -> list[_Table]:
    """The tables that are needed; the first leads, the others are looked at entry by entry."""
    tables = []
    if query.words:
        match = write_match(query.words, is_begun=query.is_begun)
        tables.append(_Table("manifest_words", "rowid", "manifest_words MATCH ?", match))
    if query.task is not None:
        tables.append(_Table("manifest_tasks", "entry", "task = ?", name_task(query.task)))
    if query.topic is not None:
        tables.append(_Table("manifest_topics", "entry", "topic = ?", query.topic.strip().lower()))
    return tables


def _write_select(query: Query, bounds: tuple[int, int]) -> tuple[str, tuple[object, ...]]:
    """The statement and its values."""
    source, number = "manifest_entries AS e", "e.number"
    tests: list[str] = []
    values: list[object] = []
    for position, (name, column, test, value) in enumerate(_choose_tables(query)):
        if position == 0:
            number = f"{name}.{column}"
            source = f"{name} CROSS JOIN manifest_entries AS e ON e.number = {number}"
            tests.append(test)
        else:
            tests.append(f"EXISTS (SELECT 1 FROM {name} WHERE {test} AND {column} = e.number)")  # noqa: S608 - names of ours
        values.append(value)
    for test, wanted in (
        (f"{number} >= ? AND {number} < ?", _narrow(bounds, query)),
        ("e.status = ?", None if query.status is None else (query.status.strip().lower(),)),
        ("e.actionable = ?", None if query.actionable is None else (int(query.actionable),)),
        ("e.pending", () if query.pending else None),
    ):
        if wanted is not None:
            tests.append(test)
            values += wanted
    columns, where = "e.number, e.offset, e.length", " AND ".join(tests)
    return f"SELECT {columns} FROM {source} WHERE {where} ORDER BY {number} DESC", tuple(values)  # noqa: S608 - names of ours


def _narrow(bounds: tuple[int, int], query: Query) -> tuple[int, int]:
    """The numbers that entries between two days have."""
    first, end = bounds
    base = first >> MANIFEST_SHIFT << MANIFEST_SHIFT
    if query.since is not None:
        first = max(first, base + (read_day(query.since) << LINE_BITS))
    if query.until is not None and read_day(query.until) < MAX_DAY:
        end = min(end, base + ((read_day(query.until) + 1) << LINE_BITS))
        first = max(first, base + (1 << LINE_BITS))  # an entry without a day is not before any
    return first, end


def _settle(db: Connection, query: Query, bounds: tuple[int, int]) -> Query:
    """Take the last word for a beginning where nothing fits as it is.

    To look for beginnings takes as long as all that begins so is long; a common word is found at once.
    """
    begun = query._replace(is_begun=True)
    if not query.words or write_match(query.words) == write_match(query.words, is_begun=True):
        return query
    statement, values = _write_select(query, bounds)
    return query if db.execute(f"{statement} LIMIT 1", values).fetchone() else begun


def write_match(words: Iterable[str], *, is_begun: bool = False) -> str:
    """Words as FTS5 takes them: each quoted, all required; the last one also as the beginning of a longer one."""
    phrases = [phrase for text in words for phrase in _split(text)]
    if not phrases:
        raise UsageError("there is no word to look for", hint="give letters or digits")
    if len(phrases) > _MAX_WORDS:
        raise UsageError(f"{len(phrases)} words are too many to look for", hint=f"give at most {_MAX_WORDS}")
    match = " ".join(f'"{phrase}"' for phrase in phrases)
    last = phrases[-1]
    return f"{match}*" if is_begun and last.isalnum() and len(last) >= _MIN_PREFIX_CHARS else match


def _split(text: str) -> Iterator[str]:
    """The words of a text, and the phrases that it has in quotation marks; nothing but letters, digits and spaces."""
    from unicodedata import normalize  # noqa: PLC0415 - only for words

    for position, part in enumerate(normalize("NFC", text[: _MAX_WORD_CHARS * _MAX_WORDS]).split('"')):
        plain = "".join(char if char.isalnum() else " " for char in part).split()
        words = [word[:_MAX_WORD_CHARS] for word in plain]
        if position % 2 and words:
            yield " ".join(words)
        elif not position % 2:
            yield from words


# --- other questions --------------------------------------------------------------------------------------------------


def find_line(index: Index, line: int) -> Entry | None:
    """The entry on a line; None where it has none."""

    def ask(db: Connection, known: Known) -> Entry | None:
        statement = f"""
            SELECT number, offset, length FROM manifest_entries
            WHERE number >= ? AND number < ? AND number & {LINE_MASK} = ?
        """  # noqa: S608 - a constant
        entries = index.load_entries(db.execute(statement, (*known.bounds, line)).fetchall())
        return entries[0] if entries else None

    return index.consult(ask)


def list_ids(index: Index, start: str, *, limit: int = 200) -> list[str]:
    """Ids that begin alike, for whoever has misspelt one."""

    def ask(db: Connection, known: Known) -> list[str]:
        statement = "SELECT id FROM manifest_entries WHERE id >= ? AND id < ? AND number >= ? AND number < ? LIMIT ?"
        values = (start, f"{start}\U0010ffff", *known.bounds, limit)
        return [entry_id for (entry_id,) in db.execute(statement, values)]

    return index.consult(ask)


def find_entries_of_task(index: Index, task: str, *, linked: Iterable[str] = ()) -> tuple[Entry, ...]:
    """The entries of a task, the newest first: those that name it, and those whose ids the task itself has."""
    entries = {entry.line: entry for entry in walk_entries(index, Query(task=task))}
    for entry_id in linked:
        entry = index.find(entry_id)
        if entry is not None:
            entries.setdefault(entry.line, entry)
    return tuple(
        sorted(entries.values(), key=lambda each: (read_day(each.fields.get("date")), each.line), reverse=True)
    )


def find_own_entry(index: Index, entry: Mapping[str, Any]) -> Entry | None:
    """The entry that somebody has added for the same work already (C19): the first of its id that has its file.

    Who added it may have got another number, and may have named the file otherwise.
    """
    fields, _ = read_aliases(dict(entry))
    entry_id, file = fields.get("id"), fields.get("file")
    if not isinstance(entry_id, str) or not entry_id.strip() or index.look_if_there() is None:
        return None
    stem = split_id(entry_id)[0]

    def ask(db: Connection, known: Known) -> Entry | None:
        statement = f"""
            SELECT number, offset, length, id FROM manifest_entries
            WHERE id >= ?1 AND id < ?1 || '.' AND number >= ?2 AND number < ?3
            ORDER BY number & {LINE_MASK} LIMIT {_MAX_SIBLINGS}
        """  # noqa: S608 - constants
        rows = db.execute(statement, (stem, *known.bounds)).fetchall()
        siblings = [row[:3] for row in rows if _is_numbered(row[3], stem)]
        return next((each for each in index.load_entries(siblings) if _has_file(index, each, file)), None)

    return index.consult(ask)


def _is_numbered(entry_id: str, stem: str) -> bool:
    """Whether an id is a stem, or a stem with a number."""
    number = entry_id[len(stem) + 1 :]
    return entry_id == stem or (number.isascii() and number.isdigit())


def _has_file(index: Index, entry: Entry, file: object) -> bool:
    """Whether the file that an entry names is a file that is called so: from the root, or beside the manifest."""
    other = entry.fields.get("file")
    if not isinstance(file, str) or not isinstance(other, str):
        return file == other
    return file == other or not _list_places(index, file).isdisjoint(_list_places(index, other))


def _list_places(index: Index, file: str) -> set[str]:
    """Where a file can be that is called so: where it is, if it is anywhere."""
    bases = (os.path.dirname(index.file), index.home.root)
    places = {os.path.normpath(os.path.join(base, file)) for base in bases}
    return {place for place in places if os.path.lexists(place)} or places

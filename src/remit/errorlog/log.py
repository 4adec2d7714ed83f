"""Load errors.json, add errors and mark them.

The file is replaced atomically and under a lock, so concurrent processes lose no error. A broken file is copied before
it is replaced, and old entries are appended to the archive before they are removed. Without a change, nothing is
written.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errorlog import FILE
from remit.errorlog.causes import ErrorChoice, choose, find_cause
from remit.errorlog.document import (
    ErrorsDocument,
    add_entries,
    mark_entry,
    parse_document,
    remove_entries,
    render_new,
    set_date,
)
from remit.errorlog.records import (
    CLOSED_KEYS,
    MAX_ACTION_CHARS,
    NOTE_KEY,
    WRITTEN,
    clean,
    format_time,
    prepare,
    read_record,
    shape_record,
)
from remit.errors import InputError
from remit.ledger.home import ERRORS
from remit.storage.files import append_line, load_bytes, load_lines, storage_error, write_bytes
from remit.storage.json_edit import apply
from remit.storage.safe_path import find_inside, replace_inside, retry_if_changed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.errorlog.records import ErrorRecord, FixStatus
    from remit.ledger.home import Home
    from remit.model import Diagnostic

ARCHIVE = "errors-archive.jsonl"
MAX_BYTES = 8 * 1024 * 1024
MAX_KEPT, KEPT_AFTER = 1000, 800
"""The number of entries at which the oldest are archived, and the number that stays."""


class ErrorLog(NamedTuple):
    """A loaded errors.json. `records` has one item for each entry: None if the entry isn't an object."""

    file: str
    document: ErrorsDocument
    records: tuple[ErrorRecord | None, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    data: bytes = b""
    """The content of the file, to show the place of a diagnostic."""
    exists: bool = True

    @property
    def errors(self) -> tuple[ErrorRecord, ...]:
        """The valid records, in the order of the file."""
        return tuple(record for record in self.records if record is not None)


class RecordResult(NamedTuple):
    """The result of recording errors."""

    added: tuple[ErrorRecord, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    original: str | None = None
    """The path of the copy of a broken file."""


class MarkResult(NamedTuple):
    """The result of marking errors: the chosen errors as they are now."""

    file: str
    chosen: ErrorChoice
    changed: int
    original: str | None = None


def load_log(file: str, *, now_ms: int = 0, root: str | None = None) -> ErrorLog:
    """Read errors.json, or what can be recovered of it. A missing file is empty. Nothing is written.

    With the workspace's `root`, a link that leads out of it is an error.
    """
    if root is not None:
        _check_inside(root, file)
    if not os.path.lexists(file):
        return ErrorLog(file, parse_document(render_new(format_time(now_ms))), exists=False)
    _check_file(file)
    data = load_bytes(file, max_bytes=MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise InputError(f"'{file}' has more than {MAX_BYTES:,} bytes", hint="move old errors to another file")
    document = parse_document(data.decode("utf-8", "surrogateescape"))
    diagnostics = document.diagnostics
    if document.broken:
        from remit.errorlog.recovery import recover  # noqa: PLC0415 - only for a broken file

        document = parse_document(recover(document.text, format_time(now_ms)))
    return ErrorLog(file, document, _read_records(document), diagnostics, data)


def _read_records(document: ErrorsDocument) -> tuple[ErrorRecord | None, ...]:
    return tuple(read_record(item.value) if isinstance(item.value, dict) else None for item in document.items)


# Adding


@retry_if_changed
def record_errors(home: Home, file: str, records: Iterable[ErrorRecord], *, now_ms: int) -> RecordResult:
    """Add errors to errors.json. Idempotent: an error that is already there isn't added again (R2.17)."""
    wanted = [prepare(record, now_ms=now_ms) for record in records]
    if not wanted:
        return RecordResult()
    _check_inside(home.root, file)
    with home.lock(ERRORS):
        log = load_log(file, now_ms=now_ms)
        added = _choose_new(log, wanted)
        if not added:
            return RecordResult(diagnostics=log.diagnostics)
        changes = add_entries(log.document, [shape_record(record) for record in added])
        text = apply(log.document.text, [*changes, *set_date(log.document, format_time(now_ms))])
        moved: list[str] = []
        if len(log.document.items) + len(added) > MAX_KEPT:
            text, moved = _shorten(text)
        original = _keep_original(home, log)
        _archive(file, moved)
        _write(home, log, text)
        return RecordResult(tuple(added), log.diagnostics, original)


def _choose_new(log: ErrorLog, wanted: list[ErrorRecord]) -> list[ErrorRecord]:
    """Return the records that aren't in the log, by id, or by session, code and message."""
    ids = {record.id for record in log.errors if record.id}
    known = {record.identity for record in log.errors}
    new = []
    for record in wanted:
        same = record.identity
        if record.id not in ids and (same is None or same not in known):
            new.append(record)
            ids.add(record.id)
            known.add(same)
    return new


# Marking


@retry_if_changed
def mark_errors(
    home: Home, file: str, word: str, status: FixStatus, *, note: str | None = None, now_ms: int
) -> MarkResult:
    """Set the status of an error, or of all errors of a cause, given by id or key."""
    _check_inside(home.root, file)
    with home.lock(ERRORS):
        log = load_log(file, now_ms=now_ms)
        chosen = choose(log.errors, word)
        meant = {*chosen.records}
        edits, changed = [], 0
        for item, record in zip(log.document.items, log.records, strict=True):
            if record in meant:
                found = mark_entry(log.document.text, item, _find_values(record, status, note, now_ms))
                edits += found
                changed += bool(found)
        if not edits:
            return MarkResult(file, chosen, 0)
        text = apply(log.document.text, [*edits, *set_date(log.document, format_time(now_ms))])
        original = _keep_original(home, log)
        _write(home, log, text)
        after = log._replace(records=_read_records(parse_document(text)))
        return MarkResult(file, choose(after.errors, word), changed, original)


def _find_values(record: ErrorRecord, status: FixStatus, note: str | None, now_ms: int) -> dict[str, Any]:
    """Return the values to write into an entry. An entry that has the status already keeps its date."""
    values: dict[str, Any] = {}
    if record.fix_status != status:
        values = {"fix_status": WRITTEN[status], **dict.fromkeys(CLOSED_KEYS.values())}
        if status in CLOSED_KEYS:
            values[CLOSED_KEYS[status]] = format_time(now_ms)
    if note is not None:
        values[NOTE_KEY] = clean(note, MAX_ACTION_CHARS)
    return values


# Archiving


def _shorten(text: str) -> tuple[str, list[str]]:
    """Return the file with the entries that stay, and the removed entries, each on one line."""
    document = parse_document(text)
    leaving = _choose_old(document, len(document.items) - KEPT_AFTER)
    lines = [_join_lines(text[item.start : item.end]) for place, item in enumerate(document.items) if place in leaving]
    return apply(text, remove_entries(document, leaving)), lines


def _choose_old(document: ErrorsDocument, wanted: int) -> set[int]:
    """Return the positions of the entries to archive: closed ones first, then the oldest.

    The last entry of each cause stays if possible: without it, a recurrence of a fixed cause couldn't be detected.
    """
    seen: set[tuple[str, bool]] = set()
    ranks: list[tuple[int, int]] = []
    for place in range(len(document.items) - 2, -1, -1):
        value = document.items[place].value
        record = read_record(value) if isinstance(value, dict) else None
        kind = (find_cause(record).key, record.is_open) if record else ("", True)
        ranks.append(((2 if kind not in seen else 1 if kind[1] else 0), place))
        seen.add(kind)
    return {place for _, place in sorted(ranks)[:wanted]}


def _join_lines(source: str) -> str:
    """Return JSON on one line. Strings in JSON can't contain line breaks, so each one is between values."""
    return " ".join(line.strip() for line in source.replace("\r", "\n").split("\n"))


def find_archived(file: str, word: str) -> ErrorRecord | None:
    """Return the archived error with an id; None if there is none, or no archive."""
    archive, wanted = _name_archive(file), word.encode("utf-8", "replace")
    if not os.path.lexists(archive):
        return None
    _check_file(archive)
    for line, _ in load_lines(archive, max_bytes=MAX_BYTES):
        if wanted in line and len(line) <= MAX_BYTES:
            for item in parse_document(f"[{line.decode('utf-8', 'surrogateescape')}]").items:
                record = read_record(item.value) if isinstance(item.value, dict) else None
                if record is not None and record.id == word:
                    return record
    return None


# Writing


def _check_inside(root: str, file: str) -> None:
    """Raise an error if a link leads out of the workspace: Remit would show or replace a foreign file."""
    for path in (file, _name_archive(file)):
        if find_inside(root, path) is None:
            raise InputError(f"'{path}' leads out of the workspace through a link", hint="replace the link with a file")


def _check_file(path: str) -> None:
    """Raise an error if something else than a file is at a path. The path is fixed, so the user has to move it away."""
    if os.path.exists(path) and not os.path.isfile(path):
        what = "the folder" if os.path.isdir(path) else "it"
        raise InputError(f"'{path}' isn't a file", hint=f"move {what} away")


def _name_archive(file: str) -> str:
    return os.path.join(os.path.dirname(file), ARCHIVE)


def _keep_original(home: Home, log: ErrorLog) -> str | None:
    """Copy a broken file to `.remit/recovered/`. The name has its hash, so the same content is copied only once."""
    if not log.data.strip() or log.document.text.encode("utf-8", "surrogateescape") == log.data:
        return None
    kept = f"{home.make_folder('recovered')}/{FILE}.{sha256(log.data).hexdigest()[:12]}"
    try:
        if not os.path.lexists(kept):
            write_bytes(kept, log.data)
    except OSError as error:
        raise storage_error(kept, error) from error
    return kept


def _archive(file: str, lines: list[str]) -> None:
    if not lines:
        return
    archive = _name_archive(file)
    try:
        append_line(archive, "\n".join(lines).encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise storage_error(archive, error) from error


def _write(home: Home, log: ErrorLog, text: str) -> None:
    """Replace errors.json as it was read; raise `EditedError` if a user has edited it since."""
    home.make_folder("pending")
    before = log.data if log.exists else None
    try:
        replace_inside(home.root, log.file, text.encode("utf-8", "surrogateescape"), before=before)
    except OSError as error:
        raise storage_error(log.file, error) from error

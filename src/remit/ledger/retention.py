"""Delete old runs with their session folders, by age and then by total size.

Unfinished or living runs are never deleted. Tasks, manifest and errors aren't in the ledger. The modules for session
folders are imported only if something is deleted, because each finished run checks whether a cleanup is due.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from remit.errors import BusyError, StorageError
from remit.ledger.events import add_event, read_clock_ms
from remit.ledger.texts import find_spill
from remit.light_namedtuple import NamedTuple
from remit.storage.files import remove

if TYPE_CHECKING:
    from sqlite3 import Connection

    from remit.ledger.home import Home

DAY_MS = 24 * 60 * 60 * 1000
MAX_LOOSE_EVENTS = 100_000
"""The number of events without a run that are kept; older ones are deleted."""
_BATCH = 200
_LAST_RUN = "last gc"
_ROW_BYTES = 100
_TEXTS = {
    "runs": "length(details) + length(path)",
    "attempts": "length(diagnostics) + length(usage)",
    "events": "length(details)",
    "activity": "length(path)",
    "texts": "length(content)",
    "tool_uses": "length(tool) + coalesce(length(path), 0)",
}
"""The columns that make up most of a row's size, by table."""
_DATED = {
    "events": "at_ms",
    "activity": "at_ms",
    "finish_steps": "at_ms",
    "spills": "created_ms",
    "texts": "created_ms",
    "tool_uses": "at_ms",
}
"""The tables whose rows may belong to a session without a run, and the column with their time."""
_ORPHANED_NOTES = """
    DELETE FROM notes WHERE substr(name, 1, instr(name, ' ')) IN (
        'command ', 'doing ', 'instructions ', 'kept ', 'message ', 'names ', 'user '
    ) AND {owner} <> '' AND NOT EXISTS (
        SELECT 1 FROM runs WHERE session_id = {owner}
    ) AND NOT EXISTS (SELECT 1 FROM hook_runs WHERE harness_session = {owner})
""".replace("{owner}", "substr(name, instr(name, ' ') + 1, instr(substr(name, instr(name, ' ') + 1) || ' ', ' ') - 1)")
"""Deletes notes of hooks without a run. Their second word is the session of the run or of the harness."""
_FINISHED = """
    SELECT session_id, created_ms FROM runs AS old
    WHERE state = 'finished'
      AND NOT EXISTS (SELECT 1 FROM runs WHERE root_id = old.root_id AND state <> 'finished')
    ORDER BY created_ms, session_id
"""


class DeletedRuns(NamedTuple):
    """What was deleted, or would be in a dry run."""

    runs: int = 0
    events: int = 0
    spills: int = 0
    freed_bytes: int = 0
    folders: int = 0


def delete_old_runs(home: Home, *, days: int, megabytes: int, dry_run: bool = False) -> DeletedRuns:
    """Delete finished runs that are too old, then the oldest until the total size is within its limit.

    A dry run deletes nothing, and returns the same counts.
    """
    horizon = read_clock_ms() - days * DAY_MS
    chosen, freed = _choose(home, horizon, megabytes * 1024 * 1024)
    total = DeletedRuns(runs=len(chosen), freed_bytes=freed)
    for start in range(0, len(chosen), _BATCH):
        total = _add(total, _delete_runs(home, chosen[start : start + _BATCH], dry_run=dry_run))
    total = _add(total, _delete_loose(home, horizon, dry_run=dry_run))
    if not dry_run:
        with home.ledger.transaction() as db:
            db.execute("PRAGMA incremental_vacuum").fetchall()
        home.ledger.checkpoint()
        home.ledger.set_note(_LAST_RUN, str(read_clock_ms()))
    return total


def delete_if_due(home: Home, *, days: int, megabytes: int) -> DeletedRuns:
    """Delete old runs if the last cleanup was more than a day ago."""
    last = home.ledger.get_note(_LAST_RUN) or ""
    if last.isdigit() and read_clock_ms() - int(last) < DAY_MS:
        return DeletedRuns()
    return delete_old_runs(home, days=days, megabytes=megabytes)


def measure_bytes(home: Home) -> int:
    """Return the size of past runs in rows, spills and folders, without the manifest's index."""
    from remit.attempts.folders import measure_sessions  # noqa: PLC0415 - as above

    sizes, spills = _load_sizes(home), _load_spills(home)
    kept = {name: size for each in spills.values() for name, size in each.items()}
    return sum(sizes.values()) + sum(kept.values()) + sum(measure_sessions(home).values())


def _load_sizes(home: Home) -> dict[str, int]:
    """Return the approximate size of each session's rows, in bytes."""
    parts = [f"SELECT session_id, {_ROW_BYTES} + {text} AS size FROM {name}" for name, text in _TEXTS.items()]  # noqa: S608 - ours
    query = f"SELECT session_id, sum(size) FROM ({' UNION ALL '.join(parts)}) WHERE session_id IS NOT NULL GROUP BY 1"  # noqa: S608
    with home.ledger.reading() as db:
        return dict(db.execute(query))


def _load_spills(home: Home) -> dict[str, dict[str, int]]:
    """Return the spills of each session with their sizes."""
    found: dict[str, dict[str, int]] = {}
    with home.ledger.reading() as db:
        for session, name, size in db.execute("SELECT session_id, hash, size_bytes FROM spills"):
            found.setdefault(session, {})[name] = size
    return found


def _choose(home: Home, horizon: int, limit: int) -> tuple[list[str], int]:
    """Return the sessions to delete, oldest first, and their total size."""
    from remit.attempts.folders import list_living, measure_sessions  # noqa: PLC0415 - as above

    sizes, spills = _load_sizes(home), _load_spills(home)
    uses: dict[str, int] = {}
    for name in (name for each in spills.values() for name in each):
        uses[name] = uses.get(name, 0) + 1
    kept, folders = measure_bytes(home), measure_sessions(home)
    living = {attempt.session_id for attempt in list_living(home)}
    chosen: list[str] = []
    freed = 0
    with home.ledger.reading() as db:
        rows = db.execute(_FINISHED).fetchall()
    for session, created in rows:
        if created >= horizon and kept - freed <= limit:
            break
        if session in living:
            continue
        chosen.append(session)
        freed += sizes.get(session, 0) + folders.get(session, 0)
        for name, size in spills.get(session, {}).items():
            uses[name] -= 1
            freed += 0 if uses[name] else size
    return chosen, freed


def _add(one: DeletedRuns, other: DeletedRuns) -> DeletedRuns:
    return DeletedRuns(*(a + b for a, b in zip(one, other, strict=True)))


def _delete_runs(home: Home, sessions: list[str], *, dry_run: bool) -> DeletedRuns:
    """Delete the data of finished sessions. The folders go first: without its row a folder wouldn't be found again."""
    from remit.attempts.folders import has_session, remove_session  # noqa: PLC0415 - as above

    folders = [each for each in sessions if has_session(home, each)]
    if not dry_run:
        for each in folders:
            with suppress(BusyError, StorageError):  # a folder that stays is a leftover, which the next cleanup deletes
                remove_session(home, each)
    marks = ", ".join("?" * len(sessions))
    with home.ledger.transaction() as db:
        query = f"SELECT DISTINCT hash FROM spills WHERE session_id IN ({marks})"  # noqa: S608 - marks only
        spills = [row[0] for row in db.execute(query, sessions)]
        events = db.execute(f"SELECT count(*) FROM events WHERE session_id IN ({marks})", sessions).fetchone()[0]  # noqa: S608
        inside = f"(SELECT 1 FROM spills WHERE hash = ? AND session_id NOT IN ({marks}))"  # noqa: S608
        spills = [name for name in spills if not db.execute(f"SELECT EXISTS {inside}", (name, *sessions)).fetchone()[0]]
        if not dry_run:
            for table in ("attempts", "hook_runs", *_DATED, "runs"):
                db.execute(f"DELETE FROM {table} WHERE session_id IN ({marks})", sessions)  # noqa: S608 - names from above
            add_event(db, "forgotten", {"runs": len(sessions)})  # readers of the event log update their lists
            _remove_files(home, spills)
    return DeletedRuns(events=events, spills=len(spills), folders=len(folders))


def _remove_files(home: Home, spills: list[str]) -> None:
    """Delete the files of spills inside the transaction, so that no other process can refer to them again."""
    for name in spills:
        remove(find_spill(home, name))


def _delete_loose(home: Home, horizon: int, *, dry_run: bool) -> DeletedRuns:
    """Delete old data that belongs to no run, and the oldest events without a run beyond the limit."""
    with home.ledger.transaction() as db:
        old = "session_id IS NULL OR session_id NOT IN (SELECT session_id FROM runs)"
        query = f"SELECT hash FROM spills WHERE created_ms < ? AND ({old}) EXCEPT SELECT hash FROM spills WHERE created_ms >= ? OR NOT ({old})"  # noqa: E501, S608 - ours
        spills = [row[0] for row in db.execute(query, (horizon, horizon))]
        beyond = _find_last_excess_event(db)
        events = db.execute(
            f"SELECT count(*) FROM events WHERE ({old}) AND (at_ms < ? OR (session_id IS NULL AND number <= ?))",  # noqa: S608
            (horizon, beyond),
        ).fetchone()[0]
        if not dry_run:
            for table, when in _DATED.items():
                db.execute(f"DELETE FROM {table} WHERE {when} < ? AND ({old})", (horizon,))  # noqa: S608
            db.execute("DELETE FROM events WHERE session_id IS NULL AND number <= ?", (beyond,))
            db.execute(_ORPHANED_NOTES)
            _remove_files(home, spills)
    return DeletedRuns(events=events, spills=len(spills))


def _find_last_excess_event(db: Connection) -> int:
    """Return the number of the newest event beyond the limit; 0 if there is none."""
    query = "SELECT number FROM events WHERE session_id IS NULL ORDER BY number DESC LIMIT 1 OFFSET ?"
    row = db.execute(query, (MAX_LOOSE_EVENTS,)).fetchone()
    return 0 if row is None else row[0]

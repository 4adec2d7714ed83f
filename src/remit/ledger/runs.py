"""Runs and their attempts: the requests, the states, and how they ended; also runs of the same tree on other machines.

A row is written before anything is started, and its state changes only in one direction: admitted, running, finishing,
finished.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.errors import StateError
from remit.ledger.events import add_event, read_clock_ms, to_json
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from sqlite3 import Connection

    from remit.ledger.store import Ledger


STATES = ("admitted", "running", "finishing", "finished")


class Run(NamedTuple):
    """A row of the ledger."""

    session_id: str
    agent: str
    depth: int
    path: tuple[str, ...]
    parent_id: str | None = None
    root_id: str = ""
    task_number: int | None = None
    state: str = "admitted"
    created_ms: int = 0
    started_ms: int | None = None
    deadline_ms: int | None = None
    ended_ms: int | None = None
    stop_reason: str | None = None
    """How the agent ended: exited, timeout, cancelled, crashed, rejected, orphaned, budget."""
    verdict: str | None = None
    status: str | None = None
    owner: str | None = None
    """The supervisor that drives it."""
    awaited: bool = False
    """True if its caller waits for it and so has no slot."""
    ticket: str | None = None
    """The hash of the token that its agent carries."""
    runner: str = ""
    tokens: int | None = None
    cost_usd: float | None = None
    turns: int | None = None
    details: Mapping[str, Any] = NOTHING


class AttemptRow(NamedTuple):
    """One attempt: how it ended, its verdict, and where the answer is stored."""

    number: int
    started_ms: int
    ended_ms: int | None = None
    stop_reason: str | None = None
    verdict: str | None = None
    answer: str | None = None
    """The kind of the text that has the answer."""
    diagnostics: Sequence[Any] = ()
    usage: Mapping[str, Any] = NOTHING
    repairs: Sequence[Any] = ()
    """The repairs that were needed before the answer could be parsed."""
    claims: Sequence[Any] = ()
    """The files that the answer names, each with its grade."""


COLUMNS = "session_id, agent, depth, path, parent_id, root_id, task_number, state, created_ms, started_ms, deadline_ms, ended_ms, stop_reason, verdict, status, owner, awaited, ticket, runner, tokens, cost_usd, turns, details"  # noqa: E501 - the order of Run

_AWAITED = Run._fields.index("awaited")
_ATTEMPT_COLUMNS = "number, started_ms, ended_ms, stop_reason, verdict, answer, diagnostics, usage, repairs, claims"
_UPDATE_ATTEMPT = """
    ON CONFLICT (session_id, number) DO UPDATE SET ended_ms = excluded.ended_ms, stop_reason = excluded.stop_reason,
    verdict = excluded.verdict, answer = excluded.answer, diagnostics = excluded.diagnostics, usage = excluded.usage,
    repairs = excluded.repairs, claims = excluded.claims
"""


def add_run(ledger: Ledger, run: Run) -> Run:
    """Record a run before anything is done for it; it is on disk when this returns."""
    row = run._replace(root_id=run.root_id or run.session_id, created_ms=run.created_ms or read_clock_ms())
    values = [*row]
    values[3], values[-1] = to_json(list(row.path)), to_json(dict(row.details))
    with ledger.transaction(durable=True) as db:
        db.execute(f"INSERT INTO runs ({COLUMNS}) VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608 - fixed
        add_event(db, "admitted", {"agent": row.agent, "depth": row.depth}, session_id=row.session_id)
    return row


def advance(db: Connection, session_id: str, state: str, **changes: object) -> None:
    """Move a run to a later state. Raise `StateError` if it is in that state or a later one already."""
    row = db.execute("SELECT state FROM runs WHERE session_id = ?", (session_id,)).fetchone()
    now = None if row is None else row[0]
    if now is None or STATES.index(now) >= STATES.index(state):
        what = "isn't in the ledger" if now is None else f"is already {now}"
        raise StateError(f"the run {session_id} {what}", hint="list the runs with: remit ps --all")
    known = {"started_ms", "deadline_ms", "ended_ms", "stop_reason", "verdict", "status", "tokens", "cost_usd", "turns"}
    if not changes.keys() <= known:
        raise TypeError(f"no columns: {sorted(changes.keys() - known)}")
    sets = "".join(f", {name} = :{name}" for name in changes)
    values = {"session": session_id, "state": state} | changes
    db.execute(f"UPDATE runs SET state = :state{sets} WHERE session_id = :session", values)  # noqa: S608 - checked names
    add_event(db, state, {name: changes[name] for name in sorted(changes)}, session_id=session_id)


def set_usage(
    db: Connection, session_id: str, *, tokens: int | None, cost_usd: float | None, turns: int | None
) -> None:
    """Record the usage of a running agent so far. The numbers only grow; the end of the run sets the final ones."""
    names = ("tokens", "cost_usd", "turns")
    sets = ", ".join(f"{name} = coalesce(max({name}, :{name}), {name}, :{name})" for name in names)
    values = {"session": session_id, "tokens": tokens, "cost_usd": cost_usd, "turns": turns}
    db.execute(f"UPDATE runs SET {sets} WHERE session_id = :session AND state = 'running'", values)  # noqa: S608 - fixed names


def begin_attempt(ledger: Ledger, session_id: str, number: int) -> None:
    """Record that an attempt begins, before anything of it runs: a process that takes over doesn't start it again.

    Attempt 1 isn't synced: after a reboot a running run is treated as lost and never restarted.
    """
    with ledger.transaction(durable=number > 1) as db:
        statement = "INSERT OR IGNORE INTO attempts (session_id, number, started_ms) VALUES (?, ?, ?)"
        db.execute(statement, (session_id, number, read_clock_ms()))


def count_attempts(ledger: Ledger, session_id: str) -> int:
    """Return the number of the last attempt that was begun; 0 if there is none."""
    with ledger.reading() as db:
        query = "SELECT coalesce(max(number), 0) FROM attempts WHERE session_id = ?"
        count: int = db.execute(query, (session_id,)).fetchone()[0]
    return count


def record_attempt(db: Connection, session_id: str, attempt: AttemptRow) -> None:
    """Record how an attempt ended. Its start time stays if it was recorded."""
    db.execute(
        f"INSERT INTO attempts (session_id, {_ATTEMPT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) {_UPDATE_ATTEMPT}",  # noqa: E501, S608 - fixed
        (
            session_id, *attempt[:6], to_json(list(attempt.diagnostics)), to_json(dict(attempt.usage)),
            to_json(list(attempt.repairs)), to_json(list(attempt.claims)),
        ),
    )  # fmt: skip
    add_event(db, "attempt", {"number": attempt.number, "verdict": attempt.verdict}, session_id=session_id)


def load_run(ledger: Ledger, session_id: str) -> Run | None:
    """Return a run by its session id; None if there is none."""
    with ledger.reading() as db:
        row = db.execute(f"SELECT {COLUMNS} FROM runs WHERE session_id = ?", (session_id,)).fetchone()  # noqa: S608 - fixed
    return None if row is None else read_row(row)


def list_runs(
    ledger: Ledger,
    *,
    only_open: bool = False,
    only_first: bool = False,
    root_id: str | None = None,
    limit: int = 100,
) -> list[Run]:
    """Return runs, newest first. `only_first`: those that the user started, without nested runs."""
    wanted = ["state <> 'finished'"] * only_open + ["root_id = :root"] * bool(root_id)
    wanted += ["parent_id IS NULL"] * only_first
    where = f"WHERE {' AND '.join(wanted)}" if wanted else ""
    by_time = "+created_ms" if only_open else "created_ms"  # few of many runs are open, and there is an index of those
    query = f"SELECT {COLUMNS} FROM runs {where} ORDER BY {by_time} DESC, session_id DESC LIMIT :limit"  # noqa: S608 - fixed parts
    with ledger.reading() as db:
        rows = db.execute(query, {"root": root_id, "limit": limit}).fetchall()
    return [read_row(row) for row in rows]


def list_branch(ledger: Ledger, session_id: str) -> list[str]:
    """Return the unfinished runs among a run and all runs nested in it, newest first.

    By parent id alone: a clock that was set back gives a nested run an earlier time than its caller's.
    """
    query = """
        WITH RECURSIVE branch (session) AS (
            SELECT ? UNION
            SELECT nested.session_id FROM branch CROSS JOIN runs AS nested ON nested.parent_id = session
        )
        SELECT session_id FROM branch CROSS JOIN runs ON session_id = session
        WHERE state <> 'finished' ORDER BY created_ms DESC, session_id DESC
    """
    with ledger.reading() as db:
        return [row[0] for row in db.execute(query, (session_id,))]


def find_sessions(ledger: Ledger, part: str, *, limit: int = 10) -> list[str]:
    """Return the session ids that begin or end with a text or have it as a word, newest first.

    An exact match is returned alone.
    """
    query = """
        SELECT session_id FROM runs
        WHERE substr(session_id, 1, :length) = :part OR substr(session_id, -:length) = :part
           OR instr(session_id, '_' || :part)
        ORDER BY session_id <> :part, created_ms DESC, session_id DESC LIMIT :limit
    """
    with ledger.reading() as db:
        found = [row[0] for row in db.execute(query, {"part": part, "length": len(part), "limit": limit})]
    return found[:1] if found[:1] == [part] else found


def list_attempts(ledger: Ledger, session_id: str) -> list[AttemptRow]:
    """Return the attempts of a run."""
    with ledger.reading() as db:
        query = f"SELECT {_ATTEMPT_COLUMNS} FROM attempts WHERE session_id = ? ORDER BY number"  # noqa: S608 - fixed
        rows = db.execute(query, (session_id,)).fetchall()
    return [AttemptRow(*row[:6], *map(json.loads, row[6:])) for row in rows]


def read_row(row: tuple[Any, ...]) -> Run:
    """Return the run whose columns these are."""
    values = [*row]
    values[3], values[-1] = tuple(json.loads(row[3])), json.loads(row[-1])
    return Run(*values)._replace(awaited=bool(row[_AWAITED]))


REMOTE_OWNER = "remote"
_MIRRORED = ("started_ms", "deadline_ms", "ended_ms", "stop_reason", "verdict", "status", "tokens", "cost_usd", "turns")
_MIRROR_UPDATE = ", ".join(f"{name} = coalesce(excluded.{name}, {name})" for name in _MIRRORED)


def mirror_remote_run(db: Connection, run: Run) -> None:
    """Write the reported state of another machine's run into the local ledger; local runs aren't changed."""
    known = db.execute("SELECT state, owner FROM runs WHERE session_id = ?", (run.session_id,)).fetchone()
    is_over = known is not None and known[0] == "finished"
    if known is not None and (known[1] != REMOTE_OWNER or is_over or STATES.index(known[0]) > STATES.index(run.state)):
        return
    row = run._replace(owner=REMOTE_OWNER, created_ms=run.created_ms or read_clock_ms(), ticket=None)
    values = [*row]
    values[3], values[-1] = to_json(list(row.path)), to_json(dict(row.details))
    db.execute(
        f"INSERT INTO runs ({COLUMNS}) VALUES ({', '.join('?' * len(values))}) "  # noqa: S608 - fixed
        f"ON CONFLICT (session_id) DO UPDATE SET state = excluded.state, {_MIRROR_UPDATE}",
        values,
    )
    if known is None:
        add_event(db, "admitted", {"agent": row.agent, "depth": row.depth}, session_id=row.session_id)
    if (known[0] if known is not None else "admitted") != row.state:
        add_event(db, row.state, {"status": row.status}, session_id=row.session_id)


_TAKEN = """
    SELECT ids.value, details FROM json_each(?) AS ids CROSS JOIN events ON number = (
        SELECT number FROM events WHERE session_id = ids.value AND kind = 'acquired' ORDER BY number DESC LIMIT 1
    )
"""


def list_taken(ledger: Ledger, session_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the worker, host and fence that last took each of the runs."""
    if not session_ids:
        return {}
    with ledger.reading() as db:
        return {name: json.loads(details) for name, details in db.execute(_TAKEN, (json.dumps([*session_ids]),))}

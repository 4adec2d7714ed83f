"""Read-only queries for lists: runs by page, and facts about many runs at once.

Each is one statement, whatever the number of runs. A page starts where the previous one ended and reads one index.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.ledger.events import LedgerEvent
from remit.ledger.runs import COLUMNS, read_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from remit.ledger.runs import Run
    from remit.ledger.store import Ledger

_MOST_WORDS = 8
_MOST_LETTERS = 100
"""Of each word that is looked for."""
_SMALL = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}
"""As SQLite makes letters small."""


_IN_WORK = """
    CASE WHEN substr(details, 1, 9) = '{{"work":"'
    THEN instr(lower(substr(details, 10, instr(details || '","', '","') - 10)), :quoted{number})
    ELSE instr(lower(json_extract(details, '$.work')), :word{number}) END
"""
"""Whether a word is in the work. To take the details apart costs ten times as much as to look where it stands, first
of all; its end is the first `","`, since no quotation mark inside a text comes without a backslash before it."""


class RunFilter(NamedTuple):
    """Which delegations are asked for; what is left out does not matter."""

    is_open: bool | None = None
    agent: str | None = None
    verdict: str | None = None
    status: str | None = None
    stop_reason: str | None = None
    task_number: int | None = None
    words: tuple[str, ...] = ()
    """All of them must be in the agent's name, the work, the session's id or the summary. A to Z are as a to z."""
    only_first: bool = False
    """Only those that no agent has handed on."""
    task_id: str | None = None
    """Of a task in an outside system."""


class PageEnd(NamedTuple):
    """Where a page ended."""

    created_ms: int
    session_id: str


class NestedTotals(NamedTuple):
    """A delegation and all below it in numbers."""

    children: int = 0
    """All that are below it."""
    open_below: int = 0
    tokens: int | None = None
    """Of all of them and its own; None where nothing is known of any."""
    cost_usd: float | None = None


class LastActivity(NamedTuple):
    """What was last heard of one that is open."""

    progress: LedgerEvent | None = None
    use: tuple[str, str | None, int] | None = None
    """The tool that it used last, where a harness tells: name, file, and when."""
    waits_for: tuple[str, ...] = ()
    """The agents that it handed work to and waits for."""


class TreeEvent(NamedTuple):
    """An event, and the tree that it happened in."""

    event: LedgerEvent
    root_id: str | None


NOTHING_BELOW, NOTHING_HEARD = NestedTotals(), LastActivity()


# --- pages -----------------------------------------------------------------------------------------------------------


def list_page(ledger: Ledger, wanted: RunFilter, *, limit: int, after: PageEnd | None = None) -> list[Run]:
    """The delegations that fit, newest first, from where the last page ended."""
    tests, values = _narrow(wanted)
    if after is not None:
        tests.append("(created_ms, session_id) < (:created, :session)")
        values |= {"created": after.created_ms, "session": after.session_id}
    where = f"WHERE {' AND '.join(tests)}" if tests else ""
    # Of many few are open, and there is an index of those.
    order = "+created_ms DESC, +session_id DESC" if wanted.is_open else "created_ms DESC, session_id DESC"
    query = f"SELECT {COLUMNS} FROM runs {where} ORDER BY {order} LIMIT :limit"  # noqa: S608 - fixed parts
    with ledger.reading() as db:
        return [read_row(row) for row in db.execute(query, values | {"limit": limit})]


def count_wanted(ledger: Ledger, wanted: RunFilter) -> int:
    """How many delegations fit."""
    tests, values = _narrow(wanted)
    where = f"WHERE {' AND '.join(tests)}" if tests else ""
    with ledger.reading() as db:
        total: int = db.execute(f"SELECT count(*) FROM runs {where}", values).fetchone()[0]  # noqa: S608 - fixed
    return total


def _narrow(wanted: RunFilter) -> tuple[list[str], dict[str, Any]]:
    """What is asked of a row, and with which values."""
    tests = [] if wanted.is_open is None else [f"state {'<>' if wanted.is_open else '='} 'finished'"]
    values: dict[str, Any] = {}
    for name in ("agent", "verdict", "status", "stop_reason", "task_number"):
        value = getattr(wanted, name)
        if value is not None:
            tests.append(f"{name} = :{name}")
            values[name] = value
    tests += ["parent_id IS NULL"] * wanted.only_first
    if wanted.task_id is not None:
        tests.append("json_extract(details, '$.outside') = :task_id")
        values["task_id"] = wanted.task_id
    for number, word in enumerate(wanted.words[:_MOST_WORDS]):
        low = word[:_MOST_LETTERS].translate(_SMALL)
        values |= {f"word{number}": low, f"quoted{number}": json.dumps(low, ensure_ascii=False)[1:-1]}
        tests.append(
            f"(instr(lower(agent), :word{number}) OR instr(session_id, :word{number})"
            f" OR instr(lower(summary), :word{number}) OR {_IN_WORK.format(number=number)})"
        )
    return tests, values


def list_agents(ledger: Ledger) -> list[str]:
    """The names of all agents that were ever handed work, one step along the index for each."""
    query = """
        WITH RECURSIVE names (name) AS (
            SELECT min(agent) FROM runs
            UNION ALL SELECT (SELECT min(agent) FROM runs WHERE agent > name) FROM names WHERE name IS NOT NULL
        ) SELECT name FROM names WHERE name IS NOT NULL
    """
    with ledger.reading() as db:
        return [row[0] for row in db.execute(query)]


def load_summaries(ledger: Ledger, session_ids: Iterable[str]) -> dict[str, str]:
    """What the reports of some delegations say in short; empty where there is none, or it is long."""
    query = """
        SELECT session_id, CAST(summary AS BLOB) FROM json_each(?) AS ids JOIN runs ON session_id = ids.value
    """
    with ledger.reading() as db:
        rows = db.execute(query, (json.dumps([*session_ids]),))
        return {session_id: data.decode("utf-8", "replace") for session_id, data in rows}


def sum_nested(ledger: Ledger, rows: Sequence[Run]) -> dict[str, NestedTotals]:
    """Some delegations with all that is below each of them, in numbers."""
    first = [row.session_id for row in rows if row.parent_id is None]
    others = [row.session_id for row in rows if row.parent_id is not None]
    with ledger.reading() as db:
        found = [*db.execute(_OF_TREES, (json.dumps(first),))] if first else []
        found += [*db.execute(_OF_BRANCHES, (json.dumps(others),))] if others else []
    return {session_id: NestedTotals(*sums) for session_id, *sums in found}


_SUMS = "count(*) - 1, coalesce(sum(own.state <> 'finished' AND own.session_id <> top), 0), sum(own.tokens), sum(own.cost_usd)"  # noqa: E501 - the order of Below
_OF_TREES = f"""
    WITH trees (top) AS (SELECT value FROM json_each(?))
    SELECT top, {_SUMS} FROM trees CROSS JOIN runs AS own ON own.root_id = top GROUP BY top
"""  # noqa: S608 - fixed
_OF_BRANCHES = f"""
    WITH RECURSIVE branch (top, session) AS (
        SELECT value, value FROM json_each(?)
        UNION SELECT top, child.session_id FROM branch CROSS JOIN runs AS child ON child.parent_id = session
    )
    SELECT top, {_SUMS} FROM branch CROSS JOIN runs AS own ON own.session_id = session GROUP BY top
"""  # noqa: S608 - fixed


def list_tree(ledger: Ledger, root_id: str, *, limit: int) -> list[Run]:
    """The delegations of a run, the oldest first."""
    query = f"SELECT {COLUMNS} FROM runs WHERE root_id = ? ORDER BY created_ms, session_id LIMIT ?"  # noqa: S608 - fixed
    with ledger.reading() as db:
        return [read_row(row) for row in db.execute(query, (root_id, limit))]


def list_children(ledger: Ledger, session_id: str) -> list[str]:
    """The delegations that one has handed on itself, the oldest first."""
    with ledger.reading() as db:
        query = "SELECT session_id FROM runs WHERE parent_id = ? ORDER BY created_ms, session_id"
        return [row[0] for row in db.execute(query, (session_id,))]


# --- how they stand --------------------------------------------------------------------------------------------------


def load_last_activity(ledger: Ledger, session_ids: Sequence[str]) -> dict[str, LastActivity]:
    """What was last heard of each of some delegations that are open."""
    if not session_ids:
        return {}
    ids = (json.dumps([*session_ids]),)
    found: dict[str, LastActivity] = {}
    with ledger.reading() as db:
        for session_id, number, at_ms, details in db.execute(_PROGRESS, ids):
            found[session_id] = LastActivity(LedgerEvent(number, at_ms, session_id, "progress", json.loads(details)))
        for session_id, *use in db.execute(_USES, ids):
            found[session_id] = found.get(session_id, NOTHING_HEARD)._replace(use=tuple(use))
        for session_id, agent in db.execute(_AWAITED, ids):
            latest = found.get(session_id, NOTHING_HEARD)
            found[session_id] = latest._replace(waits_for=(*latest.waits_for, agent))
    return found


_PROGRESS = """
    SELECT ids.value, number, at_ms, details FROM json_each(?) AS ids CROSS JOIN events ON number = (
        SELECT number FROM events WHERE session_id = ids.value AND kind = 'progress' ORDER BY number DESC LIMIT 1
    )
"""
_USES = """
    SELECT ids.value, tool, tool_uses.path, at_ms FROM json_each(?) AS ids CROSS JOIN tool_uses ON number = (
        SELECT number FROM tool_uses WHERE session_id = ids.value ORDER BY number DESC LIMIT 1
    )
"""
_AWAITED = """
    SELECT parent_id, agent FROM json_each(?) AS ids CROSS JOIN runs ON parent_id = ids.value
    WHERE awaited AND state <> 'finished' ORDER BY created_ms
"""


# --- what changes ----------------------------------------------------------------------------------------------------


def load_last_number(ledger: Ledger) -> int:
    """The number of the last event that ever was, also where it is removed by now."""
    with ledger.reading() as db:
        row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
    return 0 if row is None else int(row[0])


def load_changes(ledger: Ledger, *, after: int, limit: int, root_id: str | None = None) -> list[TreeEvent]:
    """The events above a number, of all trees or of one, oldest first."""
    of_tree = "AND events.session_id IN (SELECT session_id FROM runs WHERE root_id = :root)"
    within = "" if root_id is None else of_tree
    query = f"""
        SELECT number, at_ms, events.session_id, kind, events.details, root_id
        FROM events LEFT JOIN runs USING (session_id)
        WHERE number > :after {within} ORDER BY number LIMIT :limit
    """  # noqa: S608 - one of two fixed texts
    with ledger.reading() as db:
        rows = db.execute(query, {"after": after, "root": root_id, "limit": limit}).fetchall()
    return [TreeEvent(LedgerEvent(number, at_ms, session, kind, json.loads(details)), root)
            for number, at_ms, session, kind, details, root in rows]  # fmt: skip


def has_gap(ledger: Ledger, *, after: int, most: int) -> bool:
    """Whether events above a number were removed, or are more than anybody should read to catch up.

    Numbers are given without a gap, so that a missing one was removed.
    """
    last = load_last_number(ledger)
    if last - after > most or after > last:
        return True
    with ledger.reading() as db:
        there = db.execute("SELECT count(*) FROM events WHERE number > ?", (after,)).fetchone()[0]
    return bool(there < last - after)


# --- in numbers ------------------------------------------------------------------------------------------------------


class FinishedRun(NamedTuple):
    """One delegation that is settled, as far as it is counted."""

    agent: str
    day: str
    """On which it was asked for, by the clock of this machine: `2026-11-16`."""
    kind: str
    """The class that it is counted in."""
    duration_ms: int | None
    tokens: int | None
    cost_usd: float | None
    answered_bytes: int
    """All that it answered."""
    result_tokens: int | None
    """What its caller was to get at most."""


def list_finished(ledger: Ledger, *, since_ms: int, agent: str | None = None) -> list[FinishedRun]:
    """The delegations that were asked for since a moment and are settled, each in exactly one class.

    The first that holds counts:

    false_claim: one of its answers was found to be fabricated, whatever became of it later.
    timed_out: its time was up.
    cancelled: somebody ended it.
    at_once: its first answer was accepted as it was.
    repaired: its first answer was accepted once its form had been repaired.
    reasked: a later answer was accepted, as it was or repaired.
    unproven: a claimed file of its answer could not be verified.
    rejected: it ended by itself, and no answer was accepted.
    other: it crashed, was refused, was lost or ran out of its budget, or was only looked on.
    """
    narrowed = "" if agent is None else "AND agent = :agent"
    with ledger.reading() as db:
        rows = db.execute(_SETTLED.format(narrowed=narrowed), {"since": since_ms, "agent": agent})
        return [FinishedRun(*row) for row in rows]


def count_by_task(ledger: Ledger) -> dict[int, tuple[int, int]]:
    """How many delegations of each task are open, and how many there are."""
    query = """
        SELECT task_number, sum(state <> 'finished'), count(*) FROM runs
        WHERE task_number IS NOT NULL GROUP BY task_number
    """
    with ledger.reading() as db:
        return {number: (still_open, total) for number, still_open, total in db.execute(query)}


def count_by_state(ledger: Ledger) -> dict[str, int]:
    """How many delegations are in each state."""
    with ledger.reading() as db:
        return dict(db.execute("SELECT state, count(*) FROM runs GROUP BY state"))


_SETTLED = """
    SELECT
        agent,
        strftime('%Y-%m-%d', created_ms / 1000, 'unixepoch', 'localtime'),
        CASE
            WHEN verdict = 'fabricated' OR EXISTS (
                SELECT 1 FROM attempts WHERE attempts.session_id = own.session_id AND attempts.verdict = 'fabricated'
            ) THEN 'false_claim'
            WHEN stop_reason = 'timeout' THEN 'timed_out'
            WHEN stop_reason = 'cancelled' THEN 'cancelled'
            WHEN verdict IN ('accepted', 'repaired') AND EXISTS (
                SELECT 1 FROM attempts WHERE attempts.session_id = own.session_id AND number > 1
            ) THEN 'reasked'
            WHEN verdict = 'accepted' THEN 'at_once'
            WHEN verdict = 'repaired' THEN 'repaired'
            WHEN verdict = 'unproven' THEN 'unproven'
            WHEN stop_reason = 'exited' AND verdict IS NOT NULL THEN 'rejected'
            ELSE 'other'
        END,
        ended_ms - started_ms,
        tokens,
        cost_usd,
        coalesce((
            SELECT sum(coalesce(spills.size_bytes, length(content)))
            FROM texts LEFT JOIN spills ON spills.session_id = texts.session_id AND spills.kind = texts.kind
            WHERE texts.session_id = own.session_id AND texts.kind >= 'answer-' AND texts.kind < 'answer.'
        ), 0),
        json_extract(details, '$.result_tokens')
    FROM runs AS own
    WHERE created_ms >= :since AND state = 'finished' {narrowed}
"""

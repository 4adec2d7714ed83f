"""Read-only queries for lists: pages of runs, and facts about many runs at once.

Each is one statement for any number of runs. A page starts where the previous one ended and reads one index.
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
    from remit.schemas import UnmetChecksName

_MAX_WORDS = 8
_MAX_WORD_CHARS = 100
"""The longest search word, in characters."""
_LOWERCASE = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}
"""Lowercases A to Z only, as SQLite's `lower` does."""


_IN_PROMPT = """
    CASE WHEN substr(details, 1, 9) = '{{"work":"'
    THEN instr(lower(substr(details, 10, instr(details || '","', '","') - 10)), :quoted{number})
    ELSE instr(lower(json_extract(details, '$.work')), :word{number}) END
"""
"""Whether a word is in the prompt.

Parsing the details takes ten times as long as searching their text, where the prompt comes first. It ends at the first
`","`, because quotation marks in a text are escaped."""


class RunFilter(NamedTuple):
    """Which runs a list includes; None means any."""

    is_open: bool | None = None
    agent: str | None = None
    verdict: str | None = None
    status: str | None = None
    stop_reason: str | None = None
    task_number: int | None = None
    words: tuple[str, ...] = ()
    """All of them must be in the agent's name, the prompt, the session id or the summary; only A to Z ignore case."""
    only_first: bool = False
    """Only runs that the user started, without nested runs."""
    task_id: str | None = None
    """Of a task in an outside system."""


class PageEnd(NamedTuple):
    """The last row of a page."""

    created_ms: int
    session_id: str


class NestedTotals(NamedTuple):
    """Totals of a run and all runs nested in it."""

    children: int = 0
    """The number of runs nested in it, at any depth."""
    open_below: int = 0
    tokens: int | None = None
    """Of all of them and its own; None if no usage is known."""
    cost_usd: float | None = None


class LastActivity(NamedTuple):
    """The last reported activity of an unfinished run."""

    progress: LedgerEvent | None = None
    check: LedgerEvent | None = None
    """The last event of an acceptance check, if nothing was reported since."""
    use: tuple[str, str | None, int] | None = None
    """The tool that it used last, if the harness reports tools: name, file, and when."""
    waits_for: tuple[str, ...] = ()
    """The agents of the nested runs that it waits for."""


class TreeEvent(NamedTuple):
    """An event, and the tree that it belongs to."""

    event: LedgerEvent
    root_id: str | None


NOTHING_BELOW, NOTHING_HEARD = NestedTotals(), LastActivity()


# --- pages -----------------------------------------------------------------------------------------------------------


def list_page(ledger: Ledger, run_filter: RunFilter, *, limit: int, after: PageEnd | None = None) -> list[Run]:
    """Return the runs that match a filter, newest first, after the end of the previous page."""
    tests, values = _build_conditions(run_filter)
    if after is not None:
        tests.append("(created_ms, session_id) < (:created, :session)")
        values |= {"created": after.created_ms, "session": after.session_id}
    where = f"WHERE {' AND '.join(tests)}" if tests else ""
    # Few of many runs are open, and there is an index of those.
    order = "+created_ms DESC, +session_id DESC" if run_filter.is_open else "created_ms DESC, session_id DESC"
    query = f"SELECT {COLUMNS} FROM runs {where} ORDER BY {order} LIMIT :limit"  # noqa: S608 - fixed parts
    with ledger.reading() as db:
        return [read_row(row) for row in db.execute(query, values | {"limit": limit})]


def count_matching(ledger: Ledger, run_filter: RunFilter) -> int:
    """Return how many runs match a filter."""
    tests, values = _build_conditions(run_filter)
    where = f"WHERE {' AND '.join(tests)}" if tests else ""
    with ledger.reading() as db:
        total: int = db.execute(f"SELECT count(*) FROM runs {where}", values).fetchone()[0]  # noqa: S608 - fixed
    return total


def _build_conditions(run_filter: RunFilter) -> tuple[list[str], dict[str, Any]]:
    """Return the conditions of a filter and their values."""
    tests = [] if run_filter.is_open is None else [f"state {'<>' if run_filter.is_open else '='} 'finished'"]
    values: dict[str, Any] = {}
    for name in ("agent", "verdict", "status", "stop_reason", "task_number"):
        value = getattr(run_filter, name)
        if value is not None:
            tests.append(f"{name} = :{name}")
            values[name] = value
    tests += ["parent_id IS NULL"] * run_filter.only_first
    if run_filter.task_id is not None:
        tests.append("json_extract(details, '$.outside') = :task_id")
        values["task_id"] = run_filter.task_id
    for number, word in enumerate(run_filter.words[:_MAX_WORDS]):
        low = word[:_MAX_WORD_CHARS].translate(_LOWERCASE)
        values |= {f"word{number}": low, f"quoted{number}": json.dumps(low, ensure_ascii=False)[1:-1]}
        tests.append(
            f"(instr(lower(agent), :word{number}) OR instr(session_id, :word{number})"
            f" OR instr(lower(summary), :word{number}) OR {_IN_PROMPT.format(number=number)})"
        )
    return tests, values


def list_agents(ledger: Ledger) -> list[str]:
    """Return the names of all agents that have runs, by one index step for each."""
    query = """
        WITH RECURSIVE names (name) AS (
            SELECT min(agent) FROM runs
            UNION ALL SELECT (SELECT min(agent) FROM runs WHERE agent > name) FROM names WHERE name IS NOT NULL
        ) SELECT name FROM names WHERE name IS NOT NULL
    """
    with ledger.reading() as db:
        return [row[0] for row in db.execute(query)]


def load_summaries(ledger: Ledger, session_ids: Iterable[str]) -> dict[str, str]:
    """Return the summaries in the reports of some runs; empty if there is no report, or a long one."""
    query = """
        SELECT session_id, CAST(summary AS BLOB) FROM json_each(?) AS ids JOIN runs ON session_id = ids.value
    """
    with ledger.reading() as db:
        rows = db.execute(query, (json.dumps([*session_ids]),))
        return {session_id: data.decode("utf-8", "replace") for session_id, data in rows}


def load_unmet_checks(ledger: Ledger, session_ids: Sequence[str]) -> dict[str, UnmetChecksName]:
    """Return why acceptance checks keep runs from being completed, by the diagnostics on the last attempt of each."""
    if not session_ids:
        return {}
    query = """
        SELECT ids.value, diagnostics FROM json_each(?) AS ids CROSS JOIN attempts AS own
        ON own.session_id = ids.value
        AND number = (SELECT max(number) FROM attempts WHERE session_id = ids.value)
    """
    found: dict[str, UnmetChecksName] = {}
    with ledger.reading() as db:
        for session_id, diagnostics in db.execute(query, (json.dumps([*session_ids]),)):
            codes = {str(each.get("code")) for each in json.loads(diagnostics) if isinstance(each, dict)}
            reason = next((name for code, name in _UNMET.items() if code in codes), None)
            if reason is not None:
                found[session_id] = reason
    return found


_UNMET: dict[str, UnmetChecksName] = {
    "CHK001": "failed", "CHK002": "not run",
    **dict.fromkeys(("CHK004", "CHK005", "CHK006", "CHK007"), "weakened"),
}  # fmt: skip
"""By the codes of diagnostics, the worst first."""


def sum_nested(ledger: Ledger, rows: Sequence[Run]) -> dict[str, NestedTotals]:
    """Return the totals of some runs, each with all runs nested in it."""
    first = [row.session_id for row in rows if row.parent_id is None]
    others = [row.session_id for row in rows if row.parent_id is not None]
    with ledger.reading() as db:
        found = [*db.execute(_OF_TREES, (json.dumps(first),))] if first else []
        found += [*db.execute(_OF_BRANCHES, (json.dumps(others),))] if others else []
    return {session_id: NestedTotals(*sums) for session_id, *sums in found}


_SUMS = "count(*) - 1, coalesce(sum(own.state <> 'finished' AND own.session_id <> top), 0), sum(own.tokens), sum(own.cost_usd)"  # noqa: E501 - the order of NestedTotals
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
    """Return the runs of a tree, oldest first."""
    query = f"SELECT {COLUMNS} FROM runs WHERE root_id = ? ORDER BY created_ms, session_id LIMIT ?"  # noqa: S608 - fixed
    with ledger.reading() as db:
        return [read_row(row) for row in db.execute(query, (root_id, limit))]


def list_children(ledger: Ledger, session_id: str) -> list[str]:
    """Return the runs that a run has started itself, oldest first."""
    with ledger.reading() as db:
        query = "SELECT session_id FROM runs WHERE parent_id = ? ORDER BY created_ms, session_id"
        return [row[0] for row in db.execute(query, (session_id,))]


# --- current activity -------------------------------------------------------------------------------------------------


def load_last_activity(ledger: Ledger, session_ids: Sequence[str]) -> dict[str, LastActivity]:
    """Return the last reported activity of some unfinished runs."""
    if not session_ids:
        return {}
    ids = (json.dumps([*session_ids]),)
    found: dict[str, LastActivity] = {}
    with ledger.reading() as db:
        for session_id, number, at_ms, details in db.execute(_PROGRESS, ids):
            found[session_id] = LastActivity(LedgerEvent(number, at_ms, session_id, "progress", json.loads(details)))
        for session_id, number, at_ms, details in db.execute(_CHECKS, ids):
            last = found.get(session_id, NOTHING_HEARD)
            if last.progress is None or last.progress.number < number:
                found[session_id] = last._replace(
                    check=LedgerEvent(number, at_ms, session_id, "check", json.loads(details))
                )
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
_CHECKS = _PROGRESS.replace("'progress'", "'check'")
_USES = """
    SELECT ids.value, tool, tool_uses.path, at_ms FROM json_each(?) AS ids CROSS JOIN tool_uses ON number = (
        SELECT number FROM tool_uses WHERE session_id = ids.value ORDER BY number DESC LIMIT 1
    )
"""
_AWAITED = """
    SELECT parent_id, agent FROM json_each(?) AS ids CROSS JOIN runs ON parent_id = ids.value
    WHERE awaited AND state <> 'finished' ORDER BY created_ms
"""


# --- events -----------------------------------------------------------------------------------------------------------


def load_last_number(ledger: Ledger) -> int:
    """Return the highest number that an event has had, even if that event was deleted."""
    with ledger.reading() as db:
        row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
    return 0 if row is None else int(row[0])


def load_changes(ledger: Ledger, *, after: int, limit: int, root_id: str | None = None) -> list[TreeEvent]:
    """Return the events above a number, of all trees or of one, oldest first."""
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
    """Return whether events above a number were deleted, or are more than `most`.

    Numbers are assigned without gaps, so a missing one was deleted.
    """
    last = load_last_number(ledger)
    if last - after > most or after > last:
        return True
    with ledger.reading() as db:
        there = db.execute("SELECT count(*) FROM events WHERE number > ?", (after,)).fetchone()[0]
    return bool(there < last - after)


# --- statistics -------------------------------------------------------------------------------------------------------


class FinishedRun(NamedTuple):
    """A finished run, as statistics count it."""

    agent: str
    day: str
    """The day on which it was requested, in local time: `2026-11-16`."""
    kind: str
    """The class that it is counted in."""
    duration_ms: int | None
    tokens: int | None
    cost_usd: float | None
    answered_bytes: int
    """The size of all its answers."""
    result_tokens: int | None
    """The limit of its caller for the result."""


def list_finished(ledger: Ledger, *, since_ms: int, agent: str | None = None) -> list[FinishedRun]:
    """Return the finished runs that were requested since a time, each in exactly one class: the first that applies.

    - false_claim: the verdict on one of its answers was `fabricated`, even if a later one was accepted.
    - timed_out: its deadline passed.
    - cancelled: the user or the caller cancelled it.
    - at_once: its first answer was accepted as it was.
    - repaired: its first answer was accepted after its JSON was repaired.
    - reasked: a later answer was accepted, as it was or repaired.
    - unproven: a claimed file of its answer couldn't be verified.
    - rejected: it exited by itself, and no answer was accepted.
    - other: it crashed, was refused, was lost or exceeded its budget, or was only observed.
    """
    narrowed = "" if agent is None else "AND agent = :agent"
    with ledger.reading() as db:
        rows = db.execute(_SETTLED.format(narrowed=narrowed), {"since": since_ms, "agent": agent})
        return [FinishedRun(*row) for row in rows]


def count_by_task(ledger: Ledger) -> dict[int, tuple[int, int]]:
    """Return for each task how many of its runs are unfinished, and how many there are."""
    query = """
        SELECT task_number, sum(state <> 'finished'), count(*) FROM runs
        WHERE task_number IS NOT NULL GROUP BY task_number
    """
    with ledger.reading() as db:
        return {number: (still_open, total) for number, still_open, total in db.execute(query)}


def count_by_state(ledger: Ledger) -> dict[str, int]:
    """Return how many runs are in each state."""
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

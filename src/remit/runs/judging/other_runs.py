"""The other runs that matter to the evidence of a run: in the same folder, its nested runs, and earlier runs.

With other runs in the same folder, a change alone doesn't show which run made it.
"""

from __future__ import annotations

import json
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from remit.ledger.events import list_acts
from remit.ledger.home import Home
from remit.ledger.hook_runs import GRACE_MS, has_command, list_layers, list_tool_uses
from remit.ledger.runs import list_runs, load_run
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING
from remit.runs.admission.run_config import read_run_config
from remit.runs.judging.conclusion import WrittenFiles
from remit.runs.judging.concurrent_writers import (
    UNTIL_NOW,
    ConcurrentRun,
    EarlierRun,
    NestedRun,
    SharedTree,
    is_recorded,
    list_seen,
    read_tool_uses,
)
from remit.runs.results.full_result import load_made, load_report, load_writes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from remit.evidence.tree import TreeChange
    from remit.ledger.runs import Run
    from remit.ledger.store import Connection, Ledger


_BELOW = """
WITH RECURSIVE below (session_id) AS (
    SELECT session_id FROM runs WHERE parent_id IN ({marks})
    UNION
    SELECT child.session_id FROM runs AS child JOIN below ON child.parent_id = below.session_id
)
SELECT session_id, json_extract(details, '$.root'), ended_ms FROM runs
WHERE session_id IN (SELECT session_id FROM below) AND verdict IN ('accepted', 'repaired')
    AND status NOT IN ('failed', 'blocked')
"""


class NestedArtifacts(NamedTuple):
    """The accepted files of nested runs, with their git ids, and files that Remit itself may have changed since."""

    made: Mapping[str, frozenset[str]] = NOTHING
    noted: frozenset[str] = frozenset()
    """Files that nested runs used: finish steps write their frontmatter, which changes the hash."""
    accepted_ms: Mapping[str, int] = NOTHING
    """The end of the last run that made each file."""

    def has(self, change: TreeChange, *, written: Collection[str] | None) -> bool:
        """Whether a change is of a nested run and wasn't changed again. `written`: the caller's own files."""
        if change.path not in self.made or not change.blob:
            return False
        if change.blob in self.made[change.path]:
            return True
        return change.path in self.noted and change.path not in (written or ())


def load_nested_artifacts(home: Home, sessions: Iterable[str], root: str) -> NestedArtifacts:
    """The accepted files of all nested runs of some sessions, in any folder."""
    tops = [*sessions]
    with home.ledger.reading() as db:
        found = db.execute(_BELOW.format(marks=", ".join("?" * len(tops))), tops).fetchall()
    made: dict[str, set[str]] = {}
    noted: set[str] = set()
    accepted_ms: dict[str, int] = {}
    for session_id, where, ended_ms in found:
        for place, digest in load_made(home, session_id):
            made.setdefault(place, set()).add(digest)
            accepted_ms[place] = max(accepted_ms.get(place, 0), ended_ms or 0)
        if where == root:
            noted |= {act.path for act in list_acts(home.ledger, session_id)}
    return NestedArtifacts(
        {place: frozenset(digests) for place, digests in made.items()}, frozenset(noted), accepted_ms
    )


# Two questions that an index answers each: who is at work, and who has ended since. A run that was long late before
# this one began is not at work: its harness ended without a word.
_OTHERS = """
    SELECT session_id, started_ms, ended_ms, layers, coalesce(json_extract(details, '$.confine'), 0) FROM (
        SELECT session_id, started_ms, ended_ms, details FROM runs
        WHERE state <> 'finished' AND started_ms IS NOT NULL AND ended_ms IS NULL
            AND (deadline_ms IS NULL OR deadline_ms >= :since - :grace)
        UNION
        SELECT session_id, started_ms, ended_ms, details FROM runs
        WHERE ended_ms > :since AND started_ms IS NOT NULL
    ) LEFT JOIN hook_runs USING (session_id)
    WHERE session_id <> :session AND json_extract(details, '$.root') = :root
"""
# The nested runs that have ended and were not accepted, or say themselves that they failed.
_NESTED = """
    WITH RECURSIVE below (session_id) AS (
        SELECT session_id FROM runs WHERE parent_id = ?
        UNION
        SELECT child.session_id FROM runs AS child JOIN below ON child.parent_id = below.session_id
    )
    SELECT runs.agent, awaited, json_extract(details, '$.root'), session_id, started_ms, ended_ms, layers,
        coalesce(json_extract(details, '$.confine'), 0)
    FROM runs JOIN below USING (session_id) LEFT JOIN hook_runs USING (session_id)
    WHERE started_ms IS NOT NULL AND ended_ms IS NOT NULL
        AND (verdict NOT IN ('accepted', 'repaired') OR status IN ('failed', 'blocked'))
"""
_EARLIER = """
    SELECT session_id, task_number, verdict FROM runs
    WHERE ended_ms <= ? AND verdict IN ('accepted', 'repaired', 'unproven') AND json_extract(details, '$.root') = ?
    ORDER BY ended_ms DESC LIMIT ?
"""
_MOST_EARLIER = 200
"""How many earlier runs are asked what they made."""


def find_shared_tree(
    home: Home, row: Run, root: str, *, since: Mapping[str, int], live: Mapping[str, ConcurrentRun] = NOTHING
) -> SharedTree:
    """The folder of a run and the other runs in it, without waiting callers and nested runs.

    `since`: the sessions that it continues, and when each began. `live`: the records of the runs that this process
    loops, by session, which are not in the ledger yet.
    """
    began_ms = min((row.started_ms or 0, *since.values()))
    values = {"since": began_ms, "grace": GRACE_MS, "session": row.session_id, "root": root}
    with home.ledger.reading() as db:
        found = {each[0]: each for each in db.execute(_OTHERS, values) if each[0] not in since}
        tree = _load_tree(home.ledger, row) if found else {}
        waiting = _list_waiting(tree, row.session_id)
        others = [
            _load_other(home, db, each, began_ms, live.get(session_id))
            for session_id, each in found.items()
            if session_id not in waiting and row.session_id not in _list_above(tree, session_id)
        ]
        nested = [
            NestedRun(agent, _load_other(home, db, tuple(each), began_ms, None), bool(is_awaited), where == root)
            for agent, is_awaited, where, *each in db.execute(_NESTED, (row.session_id,))
        ]
    below = load_nested_artifacts(home, (row.session_id, *since), root) if nested else NestedArtifacts()
    find_made = partial(_find_made, home.root, row, root, began_ms)
    return SharedTree(root, began_ms, tuple(others), tuple(nested), below.made, below.accepted_ms, find_made)


def find_active_writer(home: Home, sessions: Iterable[str], calling: Collection[str] = ()) -> str:
    """Return the first of some open runs whose agent is working now, by its name and session; empty for none.

    An agent that has ended changes nothing, even if its run is still being checked. `calling`: the runs whose agents
    are functions of this process that haven't returned.
    """
    from remit.attempts.folders import FIRST_CHECK, list_living  # noqa: PLC0415 - only for acceptance checks

    working = {each.session_id for each in list_living(home) if each.number < FIRST_CHECK}
    for session_id in sessions:
        row = load_run(home.ledger, session_id)
        is_harness_run = row is not None and read_run_config(row.details).is_harness_run
        if row is not None and (session_id in working or session_id in calling or is_harness_run):
            return f"{row.agent} ({session_id})"
    return ""


def _find_made(workspace: str, row: Run, root: str, began_ms: int) -> dict[str, EarlierRun]:
    """The files that earlier runs in the same folder made, as far as known; by a run on the same task, if there is one.

    A file that an earlier run claimed and that could not be verified counts as another task's: it stays unproven.
    """
    made: dict[str, EarlierRun] = {}
    with closing(Home(workspace)) as home:  # a run is judged in a thread, which needs a connection of its own
        found = home.ledger.db.execute(_EARLIER, (began_ms, root, _MOST_EARLIER)).fetchall()
        for session_id, task_number, verdict in found:
            is_unproven = verdict == "unproven"
            is_same = row.task_number is not None and task_number == row.task_number and not is_unproven
            claimed = load_report(home, session_id)[0].artifacts if is_unproven else ()
            for place in (*(each.path for each in claimed), *(each for each, _ in load_made(home, session_id))):
                if place not in made or (is_same and not made[place].is_same_task):
                    made[place] = EarlierRun(session_id, is_same)
    return made


def _load_other(
    home: Home, db: Connection, found: tuple[Any, ...], began_ms: int, live: ConcurrentRun | None
) -> ConcurrentRun:
    """Another agent, with its permissions and the records of its tools."""
    session_id, started_ms, ended_ms, layers, is_confined = found
    is_by_harness = layers is not None
    if layers is None:  # a run: the permissions of its callers apply, too
        layers = f"[{','.join(list_layers(db, session_id))}]"
    query = "SELECT path FROM activity WHERE session_id = ? AND operation = 'write' AND at_ms >= ?"
    written = frozenset(each[0] for each in db.execute(query, (session_id, began_ms)))
    other = ConcurrentRun(session_id, started_ms, ended_ms, tuple(json.loads(layers)), bool(is_confined), written)
    if ended_ms is not None:
        return other._replace(writes=load_writes(home, session_id))
    if live is not None:
        return other._replace(written=written | live.written, writes=live.writes, recorded_ms=live.recorded_ms)
    if not is_by_harness:  # another process supervises it, and reports its tools when it has ended
        return other
    used = read_tool_uses(list_tool_uses(db, session_id))
    writes = WrittenFiles(None, frozenset(list_seen(used)), is_recorded(used) and not has_command(db, session_id))
    return other._replace(writes=writes, recorded_ms=UNTIL_NOW)


def list_open_nested(ledger: Ledger, session_id: str) -> tuple[str, ...]:
    """The agents of a run's nested runs that have not ended."""
    query = "SELECT agent FROM runs WHERE parent_id = ? AND state <> 'finished' ORDER BY created_ms"
    with ledger.reading() as db:
        return tuple(each[0] for each in db.execute(query, (session_id,)))


def _load_tree(ledger: Ledger, row: Run) -> dict[str, Run]:
    """The runs of the same call tree, by session."""
    return {each.session_id: each for each in list_runs(ledger, root_id=row.root_id, limit=100_000)}


def _list_above(tree: Mapping[str, Run], session_id: str | None) -> list[str]:
    """The callers of a run, nearest first."""
    above: list[str] = []
    row = tree.get(session_id or "")
    while row is not None and row.parent_id is not None:
        above.append(row.parent_id)
        row = tree.get(row.parent_id)
    return above


def _list_waiting(tree: Mapping[str, Run], session_id: str) -> list[str]:
    """The callers of a run that only wait for it."""
    waiting: list[str] = []
    row = tree.get(session_id)
    while row is not None and row.parent_id is not None and row.awaited:
        waiting.append(row.parent_id)
        row = tree.get(row.parent_id)
    return waiting

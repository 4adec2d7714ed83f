"""The tree of a run: the run that a user started, and all nested runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.ledger.home import Home
from remit.ledger.queries import list_tree, load_last_number
from remit.ledger.runs import list_runs, load_run
from remit.runs.progress import arrange
from remit.views.json_builders import build_list, build_runs
from remit.views.run_snapshots import MOST_ROWS, has_ledger, load_row, load_snapshots
from remit.views.workers import load_recent_status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.cluster.workers_status import ClusterStatus
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.schemas import (
        TreeObject,
        TreeRunObject,
    )
    from remit.views.run_snapshots import RunSnapshot


MOST_NODES = 5_000


def load_tree(home: Home, word: str) -> TreeObject:
    """All runs of the tree that a run is in, each after the run that started it."""
    own = load_row(home, word)
    event = load_last_number(home.ledger)
    rows = list_tree(home.ledger, own.root_id, limit=MOST_NODES + 1)
    is_cut = len(rows) > MOST_NODES
    ordered = [*_arrange(rows[:MOST_NODES])]
    snapshots = load_snapshots(home, [row for row, _ in ordered], load_recent_status(home, rows, own.root_id))
    runs = build_runs(home, snapshots)
    items: list[TreeRunObject] = [{**run, "level": level} for run, (_, level) in zip(runs, ordered, strict=True)]
    return {**build_list(items), "root_id": own.root_id, "truncated": is_cut, "event": event}


def _arrange(rows: Sequence[Run]) -> Iterator[tuple[Run, int]]:
    """Each row before its nested runs, with its level; a row whose caller was deleted is a root."""
    known = {row.session_id for row in rows}
    below: dict[str | None, list[Run]] = {}
    for row in rows:
        below.setdefault(row.parent_id if row.parent_id in known else None, []).append(row)
    waiting = [(row, 0) for row in reversed(below.pop(None, []))]
    while waiting:
        row, level = waiting.pop()
        yield row, level
        waiting += [(child, level + 1) for child in reversed(below.pop(row.session_id, []))]


def list_subtree(home: Home, session_id: str, *, cluster: ClusterStatus | None = None) -> list[RunSnapshot]:
    """A run and its nested runs, each after the run that started it."""
    own = load_run(home.ledger, session_id)
    rows = [] if own is None else list_runs(home.ledger, root_id=own.root_id, limit=MOST_ROWS)
    ordered = list(arrange(rows[::-1], session_id))
    snapshots = load_snapshots(home, [row for row, _ in ordered], cluster)
    return [each._replace(seen=each.seen._replace(level=level))
            for each, (_, level) in zip(snapshots, ordered, strict=True)]  # fmt: skip


def list_roots(home: Home) -> list[str]:
    """The root runs of all trees with open runs, oldest first; without any, the root of the last run."""
    if not has_ledger(home):
        return []
    rows = list_runs(home.ledger, only_open=True, limit=MOST_ROWS)
    roots = list(dict.fromkeys(row.root_id for row in reversed(rows)))
    return roots or [row.root_id for row in list_runs(home.ledger, limit=1)]

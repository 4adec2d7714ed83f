"""Resumed subagents: the changes that count for an agent that was over and gets another message.

A file is credited once: after an accepted return, only later changes count. If no return was accepted, the changes of
the earlier run still count, but not those made between the two runs, because their author isn't known.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.evidence.tree import BEFORE, read_before
from remit.ledger.hook_runs import load_last_use
from remit.ledger.runs import load_run
from remit.ledger.texts import load_text
from remit.model import ACCEPTABLE
from remit.runs.admission.run_config import read_run_config

if TYPE_CHECKING:
    from remit.evidence.tree import WorkTree
    from remit.ledger.home import Home
    from remit.ledger.runs import Run


_WHOLE_MS_NS = 999_999


def list_resumed(home: Home, session_id: str) -> dict[str, int]:
    """Return the sessions that a resumed run continues and their start times, back to the last accepted return."""
    found: dict[str, int] = {}
    while session_id and session_id not in found:
        row = load_run(home.ledger, session_id)
        if row is None or row.verdict in ACCEPTABLE:
            break
        found[session_id] = row.started_ms or row.created_ms
        session_id = read_run_config(row.details).resume_of
    return found


def find_tree(home: Home, session_id: str, now: WorkTree) -> WorkTree | None:
    """Return the tree to compare with for a run that resumes this session; None for the current tree."""
    row = load_run(home.ledger, session_id) if list_resumed(home, session_id) else None
    if row is None:
        return None
    earlier = read_before((load_text(home, session_id, BEFORE) or b"").decode("utf-8", "replace")).tree
    if earlier is None or earlier.root != now.root:
        return None
    from remit.evidence.tree_comparison import join_trees

    with suppress(RemitError):  # the earlier trees are gone
        return join_trees(earlier, now, last_ns=_find_last_ms(home, row) * 1_000_000 + _WHOLE_MS_NS)
    return None


def _find_last_ms(home: Home, row: Run) -> int:
    """Return the latest time of a change that the ended agent can have made."""
    if row.stop_reason == "exited":
        return row.ended_ms or 0
    with home.ledger.reading() as db:  # it was lost before Remit noticed
        last = load_last_use(db, row.session_id)
    return 0 if last is None else last[2]

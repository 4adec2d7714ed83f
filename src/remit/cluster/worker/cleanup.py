"""Clearing: what a worker has of a session is removed, and an agent of it that is still at work ended."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING

from remit.attempts.folders import list_living, send_control
from remit.git import clones
from remit.ledger.home import Home
from remit.storage.trust import revoke

if TYPE_CHECKING:
    from remit.cluster.worker.worker_context import WorkerContext

_ENDING_S = 0.05


async def clear_away(site: WorkerContext, session_id: str) -> None:
    """Remove what a worker has of a session; an agent of it that is still at work is ended first."""
    facts = site.folder.load(session_id)
    await asyncio.to_thread(_clear_away, site, session_id, "" if facts is None else facts.root)


def _clear_away(site: WorkerContext, session_id: str, root: str) -> None:
    tree = site.folder.find_tree(session_id)
    if root and os.path.isdir(root):
        _end_agents(Home(root))
        revoke(root)
    if os.path.isdir(tree):
        clones.remove(tree)
    site.folder.drop(session_id)


def _end_agents(home: Home) -> None:
    while living := list_living(home):
        for attempt in living:
            send_control(attempt.folder, "cancel")
        time.sleep(_ENDING_S)

"""Submits a run of the ledger to the cluster as a sealed order.

The order includes a snapshot of the current tree with uncommitted changes, sent by the workspace's git remote or as a
bundle through the database.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from remit.cluster.database import session_rows, submissions
from remit.cluster.orders import RunOrder, render_order
from remit.cluster.row_conversion import SIGNED, make_posted
from remit.cluster.sealing import TicketClaims, seal, sign_ticket
from remit.cluster.transfer import send_base
from remit.errors import StateError, UsageError
from remit.git.tree_snapshot import snapshot_tree
from remit.ledger.runs import load_run
from remit.ledger.texts import SCHEMA, load_text
from remit.runs.admission.run_config import read_run_config
from remit.runs.admission.tickets import CARRIED, TICKET

if TYPE_CHECKING:
    from remit.cluster.caller.client import ClusterClient
    from remit.ledger.home import Home
    from remit.ledger.runs import Run

_TEXTS = ("prompt", "instructions", "context", "request", SCHEMA)
_ANCESTOR_FIELDS = (
    "budget", "may_call", "max_depth", "timeout_s", "timeout_default_s", "timeout_max_s", "root", "permissions", "also",
    "trace",
)  # fmt: skip


async def post(client: ClusterClient, key: bytes, row: Run) -> None:
    """Post the order of a run, unless it was posted already."""
    known = await session_rows.load_row(client.db, row.session_id)
    if known is not None and known.state != "admitted":
        return
    config = read_run_config(row.details)
    if config.resume_of:
        hint = f"start a new run: remit retry {config.resume_of}"
        raise UsageError("the harness session of the earlier run is on another machine", hint=hint)
    base = await asyncio.to_thread(snapshot_tree, config.root, with_history=bool(client.settings.remote))
    source = await send_base(client, config.root, base, row.session_id)
    order = RunOrder(
        row.session_id, row.root_id, row.parent_id, row.agent, row.depth, row.path, row.runner, row.task_number,
        row.details, _load_texts(client.home, row.session_id),
        tuple(_list_ancestors(client.home, row)), base.commit, base.tree, base.prefix, source,
        _make_ticket(client, key, row), base.left, client.trusted,
    )  # fmt: skip
    await submissions.post(client.db, make_posted(row, seal(key, "order", render_order(order))))


def _load_texts(home: Home, session_id: str) -> dict[str, str]:
    found = {kind: load_text(home, session_id, kind) for kind in _TEXTS}
    return {kind: text.decode("utf-8", "surrogatepass") for kind, text in found.items() if text is not None}


def _list_ancestors(home: Home, row: Run) -> list[dict[str, Any]]:
    """Return the ledger rows of the ancestors, the root first, with the fields that the guard needs."""
    above: list[dict[str, Any]] = []
    ancestor_id = row.parent_id
    while ancestor_id is not None:
        parent = load_run(home.ledger, ancestor_id)
        if parent is None:
            raise StateError(
                f"the ledger does not know {ancestor_id}, an ancestor of {row.session_id}", hint="remit doctor"
            )
        details = {name: parent.details[name] for name in _ANCESTOR_FIELDS if name in parent.details}
        above.insert(0, {**parent._asdict(), "details": details, "ticket": None})
        ancestor_id = parent.parent_id
    return above


def _make_ticket(client: ClusterClient, key: bytes, row: Run) -> str:
    """Return the caller's signed ticket: the one from its worker, or a new one for an agent of this machine."""
    if row.parent_id is None:
        return ""
    token = {**client.environ, **CARRIED.get()}.get(TICKET, "")
    if token.startswith(SIGNED):
        return token
    parent = load_run(client.home.ledger, row.parent_id)
    if parent is None:
        raise StateError(f"the ledger does not know {row.parent_id}", hint="remit doctor")
    signed = TicketClaims(parent.session_id, parent.root_id, parent.agent, parent.depth, parent.path, 0)
    return sign_ticket(key, signed, os.urandom(16))

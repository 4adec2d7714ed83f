"""Imports an order into the ledger of a worker's checkout, before its agent starts.

Checks the order's seal and the caller's ticket, and writes the run with a configuration for this machine, the texts for
the agent, and the run's ancestors, whose limits apply here, too. The usage of other runs of the tree is added later.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from remit.attempts.results import load_boot_id
from remit.cluster.database import session_rows
from remit.cluster.orders import read_order
from remit.cluster.retry import retry_forever
from remit.cluster.row_conversion import make_run
from remit.cluster.sealing import read_ticket, unseal
from remit.errors import RefusedError
from remit.evidence.tree import BEFORE, list_expected, take_before
from remit.evidence.workspace_root import find_workspace_root
from remit.ledger.events import read_clock_ms
from remit.ledger.runs import Run, add_run, begin_attempt, load_run, mirror_remote_run
from remit.ledger.slots import claim, take_slot
from remit.ledger.texts import store_texts
from remit.manifest.manifest_file import read_prefix
from remit.runs.admission.run_config import read_run_config
from remit.runs.supervisor.supervisor import NO_LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.cluster.database.session_rows import SessionRow
    from remit.cluster.orders import RunOrder
    from remit.cluster.worker.worker_context import WorkerContext
    from remit.ledger.home import Home
    from remit.ledger.store import Ledger

_MIN_S = 1.0


async def import_run(
    home: Home,
    order: RunOrder,
    owner: str,
    *,
    deadline_ms: int,
    above: Iterable[SessionRow] = (),
    lost_attempts: int = 0,
) -> None:
    """Write a run into the ledger of its checkout as running; claim the run if the ledger has it already.

    `above`: the current rows of its ancestors. `lost_attempts`: the number of attempts on lost workers; they count, and
    the supervisor handles them as any lost attempt.
    """
    known = load_run(home.ledger, order.session_id)
    if known is not None:
        claim(home.ledger, known, owner)
        return
    seconds = max((deadline_ms - read_clock_ms()) / 1000, _MIN_S)
    row = make_run_of_order(order)._replace(owner=owner, details=_adapt_config(order, home.root, seconds))
    texts = {kind: text.encode("utf-8", "surrogatepass") for kind, text in order.texts.items()}
    config = read_run_config(row.details)
    if lost_attempts and config.evidence:  # the supervisor records no tree for a run with attempts
        expected = list_expected(
            home.root, manifest=config.manifest, artifact_path=config.artifact_path,
            workspace_root=config.workspace_root,
        )  # fmt: skip
        taken = await asyncio.to_thread(take_before, home, home.root, expected=expected)
        texts[BEFORE] = taken.as_text().encode()
    with home.ledger.transaction(durable=True) as db:
        for each in order.above:
            mirror_remote_run(db, _read_ancestor(each))
        for now in above:
            mirror_remote_run(db, make_run(now))
        row = add_run(home.ledger, row)
        store_texts(home, row.session_id, texts, db=db)
        take_slot(db, row, NO_LIMITS, deadline_ms=deadline_ms)
        for number in range(1, lost_attempts + 1):
            begin_attempt(home.ledger, row.session_id, number)


def make_run_of_order(order: RunOrder) -> Run:
    """Return the run of an order, as in the caller's ledger."""
    return Run(
        order.session_id, order.agent, order.depth, order.path, order.parent_id, order.root_id, order.task_number,
        runner=order.runner, details=order.details,
    )  # fmt: skip


def _adapt_config(order: RunOrder, root: str, seconds: float) -> dict[str, Any]:
    """Return the run's configuration for this machine: paths in the checkout, no finish steps."""
    config = read_run_config(order.details)
    manifest = os.path.join(root, os.path.relpath(config.manifest, config.root)) if config.manifest else ""
    size, digest = read_prefix(manifest) if manifest else (0, "")
    workspace_root = find_workspace_root(root, os.environ, runner=order.runner) if config.may_be_hyper else ""
    return config._replace(
        workspace_root=workspace_root,
        root=root, worktree="", boot_id=load_boot_id(), manifest=manifest, manifest_bytes=size, manifest_sha256=digest,
        finishes=False, commits=False, must_commit=False, checkout="", timeout_s=min(config.timeout_s, seconds),
    ).as_details()  # fmt: skip


def _read_ancestor(values: Mapping[str, Any]) -> Run:
    known = {name: value for name, value in values.items() if name in Run._fields}
    known |= {"path": tuple(values["path"]), "state": "running"}
    return Run(**known)


def mirror_rows(ledger: Ledger, rows: Iterable[SessionRow]) -> None:
    """Copy the current rows of other runs of the tree into a checkout's ledger."""
    with ledger.transaction() as db:
        for row in rows:
            mirror_remote_run(db, make_run(row))


async def load_order(context: WorkerContext, session_id: str) -> RunOrder:
    """Load the order of a session, and check its seal."""
    sealed = await retry_forever(lambda: session_rows.load_order(context.bulk_db, session_id))
    order = read_order(unseal(context.key, "order", sealed or b""))
    if order.session_id != session_id:
        raise RefusedError(
            f"the order is that of {order.session_id}", hint="another client of the database has swapped orders"
        )
    return order


async def check_ticket(context: WorkerContext, order: RunOrder) -> None:
    """Check that the calling agent is running and the order matches its ticket; a user needs no ticket."""
    if not order.ticket and order.parent_id is None:
        return
    signed = read_ticket(context.key, order.ticket)
    parent = await retry_forever(lambda: session_rows.load_row(context.db, order.parent_id or ""))
    hint = "an agent can call others only while it is running"
    if (signed.session_id, signed.root_id) != (order.parent_id, order.root_id):
        raise RefusedError(f"the ticket is that of {signed.session_id}, not of the run's caller", hint=hint)
    if (order.depth, order.path) != (signed.depth + 1, (*signed.path, order.agent)):
        raise RefusedError("the order's call chain doesn't match its ticket", hint=hint)
    if signed.fence == 0:
        if parent is not None and parent.fence:
            raise RefusedError(f"the ticket of {signed.session_id} wasn't signed by its worker", hint=hint)
    elif parent is None or parent.state != "running":
        raise RefusedError(f"the session {signed.session_id} of the ticket has ended", hint=hint)
    elif signed.fence not in (parent.fence, parent.live.get("signed")):
        raise RefusedError(f"another worker has taken over the session {signed.session_id}", hint=hint)

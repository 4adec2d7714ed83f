"""Checking: whether an order is what its caller has sent, and whether its caller may send it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.cluster.database import session_rows
from remit.cluster.orders import read_order
from remit.cluster.retry import insist
from remit.cluster.sealing import read_ticket, unseal
from remit.errors import RefusedError

if TYPE_CHECKING:
    from remit.cluster.orders import RunOrder
    from remit.cluster.worker.worker_context import WorkerContext


async def load_order(site: WorkerContext, session_id: str) -> RunOrder:
    """What a session's caller has sealed for it."""
    sealed = await insist(lambda: session_rows.load_order(site.goods, session_id))
    order = read_order(unseal(site.key, "order", sealed or b""))
    if order.session_id != session_id:
        raise RefusedError(f"the order is that of {order.session_id}", hint="somebody has exchanged orders")
    return order


async def check_ticket(site: WorkerContext, order: RunOrder) -> None:
    """See that whoever asks is at work now, and asks for no more than it may; a person needs no ticket."""
    if not order.ticket and order.parent_id is None:
        return
    signed = read_ticket(site.key, order.ticket)
    parent = await insist(lambda: session_rows.load_row(site.db, order.parent_id or ""))
    hint = "an agent hands work on while it is at work itself"
    if (signed.session_id, signed.root_id) != (order.parent_id, order.root_id):
        raise RefusedError(f"the ticket is that of {signed.session_id}, and not of its caller", hint=hint)
    if (order.depth, order.path) != (signed.depth + 1, (*signed.path, order.agent)):
        raise RefusedError("the order does not stand where its ticket says", hint=hint)
    if signed.fence == 0:
        if parent is not None and parent.fence:
            raise RefusedError(f"the ticket of {signed.session_id} is not its worker's", hint=hint)
    elif parent is None or parent.state != "running":
        raise RefusedError(f"the session {signed.session_id} of the ticket is over", hint=hint)
    elif signed.fence not in (parent.fence, parent.live.get("signed")):
        raise RefusedError(f"the session {signed.session_id} was given to another worker", hint=hint)

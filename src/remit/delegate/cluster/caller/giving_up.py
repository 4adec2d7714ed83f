"""Giving up: what is told of a session that no worker will say anything of any more.

Owns the caller's word in place of a worker's: of one that nobody has taken, or whose worker is not heard of. It takes
the lease like any other, so that a worker which comes back has lost it; and what was saved by then is not lost.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from remit.delegate.cluster.order import Outcome, Packed, render_outcome
from remit.delegate.cluster.saved import add_saved, read_saved
from remit.delegate.cluster.sealing import seal
from remit.delegate.judging.endings import conclude
from remit.delegate.reporting.report import make_report, render_report
from remit.workspace.cluster import leases, posting, rows
from remit.workspace.ledger.events import read_clock_ms

if TYPE_CHECKING:
    from remit.delegate.judging.endings import Ended
    from remit.workspace.cluster.store import Database
    from remit.workspace.ledger.delegations import Delegation

_LEASE_S = 5.0


async def give_up(db: Database, key: bytes, row: Delegation, ended: Ended, *, caller: str) -> None:
    """Publish how it ended, unless a worker has it or has said it: then that is what counts."""
    known = await rows.load_row(db, row.session_id)
    if known is None or known.state == "done":
        return
    fence, packed = 0, Packed()
    if known.state == "running":
        lease = await leases.take(db, row.session_id, caller, lease_s=_LEASE_S, timeout_s=_LEASE_S)
        if lease is None:
            return
        fence, saved = lease.fence, await rows.load_saved(db, row.session_id)
        if saved is not None:
            packed = read_saved(key, saved)
            ended = add_saved(ended, packed)
    conclusion, now_ms = conclude(ended), read_clock_ms()
    report = render_report(make_report(row, None, conclusion, ended_ms=now_ms), conclusion)
    outcome = Outcome(
        row.session_id, fence, caller, json.loads(report.decode("utf-8", "surrogatepass")), packed=packed,
        ended_ms=now_ms,
    )  # fmt: skip
    sealed = seal(key, "outcome", render_outcome(outcome))
    if not fence:
        await posting.finish_unstarted(db, row.session_id, sealed, conclusion.status, conclusion.ending)
        return
    await leases.publish(
        db, row.session_id, fence, outcome=sealed, status=conclusion.status, ending=conclusion.ending,
        tokens=known.tokens, cost_usd=known.cost_usd, turns=known.turns,
    )  # fmt: skip

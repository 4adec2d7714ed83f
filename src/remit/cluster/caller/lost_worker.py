"""Giving up: what is told of a session that no worker will say anything of any more.

Owns the caller's word in place of a worker's: of one that nobody has taken, or whose worker is not heard of. It takes
the lease like any other, so that a worker which comes back has lost it; and what was saved by then is not lost.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from remit.cluster.checkpoint import compare_saved, read_saved
from remit.cluster.database import leases, session_rows, submissions
from remit.cluster.orders import Packed, RemoteResult, render_outcome
from remit.cluster.sealing import seal
from remit.ledger.events import read_clock_ms
from remit.runs.judging.conclusion import RunEvidence, conclude
from remit.runs.results.full_result import make_report, render_report

if TYPE_CHECKING:
    from remit.cluster.database.store import Database
    from remit.ledger.runs import Run
    from remit.runs.judging.attempt import Attempt

_LEASE_S = 5.0


async def give_up(db: Database, key: bytes, row: Run, ended: Attempt, *, caller: str) -> None:
    """Publish how it ended, unless a worker has it or has said it: then that is what counts."""
    known = await session_rows.load_row(db, row.session_id)
    if known is None or known.state == "done":
        return
    fence, packed, evidence = 0, Packed(), RunEvidence()
    if known.state == "running":
        lease = await leases.take(db, row.session_id, caller, lease_s=_LEASE_S, timeout_s=_LEASE_S)
        if lease is None:
            return
        fence, saved = lease.fence, await session_rows.load_saved(db, row.session_id)
        if saved is not None:
            packed = read_saved(key, saved)
            evidence = compare_saved(packed)
    conclusion, now_ms = conclude(row, [ended], evidence), read_clock_ms()
    report = render_report(make_report(row, conclusion, ended_ms=now_ms), conclusion)
    outcome = RemoteResult(
        row.session_id, fence, caller, json.loads(report.decode("utf-8", "surrogatepass")), packed=packed,
        ended_ms=now_ms,
    )  # fmt: skip
    sealed = seal(key, "outcome", render_outcome(outcome))
    if not fence:
        await submissions.finish_unstarted(db, row.session_id, sealed, conclusion.status, conclusion.stop_reason)
        return
    await leases.publish(
        db, row.session_id, fence, outcome=sealed, status=conclusion.status, ending=conclusion.stop_reason,
        tokens=known.tokens, cost_usd=known.cost_usd, turns=known.turns,
    )  # fmt: skip

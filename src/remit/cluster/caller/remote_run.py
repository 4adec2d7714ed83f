"""A remote run: one run on another machine, seen from its caller, from the order to the conclusion.

Posts the order, follows the worker, and imports the result. All state is in PostgreSQL or the ledger, so a process
that takes over after a crash continues like the one that started.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from remit.attempts.folders import make_attempt
from remit.attempts.output import add_copy, measure_copy
from remit.cluster.caller.result_import import ImportedResult, import_result, load_result
from remit.cluster.caller.submission import post
from remit.cluster.database import leases, output, session_rows, submissions, workers
from remit.cluster.downgrade import name_files
from remit.cluster.orders import Packed, RemoteResult, make_evidence, read_checkpoint, read_order, render_result
from remit.cluster.retry import retry_for
from remit.cluster.row_conversion import read_attempt
from remit.cluster.sealing import SealError, seal, unseal
from remit.errors import ClusterError, RemitError, StateError
from remit.ledger.events import load_last_event, read_clock_ms
from remit.ledger.runs import begin_attempt, load_run, set_usage
from remit.ledger.slots import Slots, take_slot
from remit.runners import Usage
from remit.runs.admission.run_config import read_run_config
from remit.runs.judging.attempt import Attempt
from remit.runs.judging.conclusion import RunEvidence, conclude
from remit.runs.results.full_result import make_report, render_report
from remit.runs.supervisor.slot_queue import find_deadline

if TYPE_CHECKING:
    from remit.cluster.caller.client import ClusterClient, FollowedSession
    from remit.cluster.orders import RunOrder
    from remit.ledger.runs import Run
    from remit.ledger.store import Connection
    from remit.result import Result
    from remit.runs.judging.conclusion import Conclusion
    from remit.runs.supervisor.supervisor import Supervisor

_POLL_S = 0.5
_RETRY_S = 60.0
"""How long operations are retried if the database doesn't answer; then the error is raised, and `remit wait` can
continue later."""
_NO_WORKER_S = 3.0
_GIVE_UP_LEASE_S = 5.0
_STREAMS: tuple[Literal["out", "err"], ...] = ("out", "err")
_UNKNOWN = "the cluster's database no longer has the run"
_LATE_MS = 5000
"""How long after its deadline a run without a worker is given up: a worker may just be acquiring its lease."""


class RemoteRun:
    """One run that a worker executes."""

    def __init__(self, supervisor: Supervisor, client: ClusterClient, row: Run) -> None:
        self.supervisor = supervisor
        self.client = client
        self.home = supervisor.home
        self.row = row
        self.config = read_run_config(row.details)
        self.usage = Usage()
        self._imported: Result | None = None
        """The result that its worker published."""
        self._cancel_reason: str | None = None
        self._is_cancel_sent = False
        self.activity = ""
        self._attempt = 0
        self._worker = ""
        self._since = time.monotonic()

    def make_report(self, conclusion: Conclusion, *, ended_ms: int) -> Result:
        """The result that the worker published; without one, a result of the conclusion."""
        return self._imported or make_report(self.row, conclusion, ended_ms=ended_ms, usage=self.usage)

    def cancel(self, reason: str) -> None:
        """Request the cancellation of the run, wherever it is executed."""
        self._cancel_reason = reason

    async def execute(self) -> Conclusion:
        """Post the run, follow it, import its result, and return the conclusion."""
        try:
            key = await self.client.open()
            if await retry_for(self._is_unknown_to_database, _RETRY_S):
                return conclude(self.row, [Attempt("orphaned", reason=_UNKNOWN)])
            await retry_for(lambda: post(self.client, key, self.row), _RETRY_S)
            self.supervisor.report(self.row.session_id, "submitted", {})
        except ClusterError:
            raise
        except RemitError as error:  # the order wasn't posted
            refused = Attempt("rejected", reason=str(error))
            await self._give_up(refused)
            return conclude(self.row, [refused])
        async with self.client.follow(self.row) as followed:
            await self._follow(followed)
        if followed.is_gone:
            return conclude(self.row, [Attempt("orphaned", reason=_UNKNOWN)])
        try:
            return await retry_for(lambda: self._import_result(key), _RETRY_S)
        except SealError as error:  # another client wrote to the tables: the real result is unknown
            return conclude(self.row, [Attempt("rejected", reason=str(error))])

    async def _is_unknown_to_database(self) -> bool:
        """Return whether the run was posted and the database lost it: posted again, it could be executed twice."""
        is_sent = load_last_event(self.home.ledger, self.row.session_id, "submitted", "acquired") is not None
        return is_sent and await session_rows.load_row(self.client.db, self.row.session_id) is None

    # --- following ----------------------------------------------------------------------------------------------------

    async def _follow(self, followed: FollowedSession) -> None:
        """Follow the run until its result is published."""
        failed_at: float | None = None
        while not followed.is_gone and (followed.row is None or followed.row.state != "done"):
            await followed.wait(_POLL_S)
            if followed.error is not None:
                failed_at = failed_at or time.monotonic()
                if time.monotonic() - failed_at > _RETRY_S:
                    raise followed.error
                continue
            failed_at = None
            try:
                if followed.row is not None:
                    await self._update(followed.row)
            except ClusterError as error:
                followed.update(None, error)

    async def _update(self, row: session_rows.SessionRow) -> None:
        """React to the current row."""
        if row.state != "done":
            await self._forward_cancel(row)
        if row.state in ("admitted", "posted", "queued"):
            await self._check_waiting(row)
            return
        self._record_start(row)
        self._record_progress(row)
        await self._copy_output(row)
        if row.state == "running" and (row.lease_left_s or 0) < 0:
            await self._check_lost_worker(row)

    async def _check_lost_worker(self, row: session_rows.SessionRow) -> None:
        """Give the run up if its worker is lost and the run was cancelled or has no time left for another worker."""
        reason = f"its worker {row.worker_id} is unreachable"
        if row.cancel_reason is not None:
            await self._give_up(Attempt("cancelled", reason=row.cancel_reason or reason))
        elif (row.deadline_left_ms or 0) < -_LATE_MS:
            await self._give_up(Attempt("timeout", reason=reason))

    async def _forward_cancel(self, row: session_rows.SessionRow) -> None:
        """Forward a cancellation on this machine to the worker."""
        if self._is_cancel_sent or row.cancel_reason is not None:
            return
        if self._cancel_reason is not None or self.supervisor.is_cancelled(self.row.session_id):
            reason = self._cancel_reason or self.supervisor.find_cancel_reason(self.row.session_id)
            await self.client.cancel(self.row.session_id, reason)
            self._is_cancel_sent = True

    async def _check_waiting(self, row: session_rows.SessionRow) -> None:
        """End a run that hasn't started if it was cancelled or its caller has ended; report missing workers."""
        parent = None if self.row.parent_id is None else load_run(self.home.ledger, self.row.parent_id)
        if row.cancel_reason is not None or self._is_cancel_sent:
            await self._give_up(
                Attempt("cancelled", reason=row.cancel_reason or self._cancel_reason or "it had not started")
            )
        elif parent is not None and read_clock_ms() >= (parent.deadline_ms or 0):
            await self._give_up(Attempt("timeout", reason="no worker was free before its caller's deadline"))
        elif parent is not None and parent.state not in ("admitted", "running"):
            await self._give_up(Attempt("cancelled", reason="its caller had ended"))
        elif time.monotonic() - self._since > _NO_WORKER_S:
            self._since = time.monotonic()
            if not any(worker.is_live for worker in await workers.list_workers(self.client.db)):
                hint = "no worker is there: start one with `remit worker start`"
                self.supervisor.report(self.row.session_id, "progress", {"activity": hint})

    async def _give_up(self, ended: Attempt) -> None:
        """Publish a result in place of a worker, unless one has acquired the run or published its result.

        The caller acquires the lease of a lost worker, so a worker that comes back can't publish. The changes of the
        last checkpoint are kept.
        """
        db, key, session_id = self.client.db, await self.client.open(), self.row.session_id
        caller = f"caller-{self.supervisor.id}"
        row = await session_rows.load_row(db, session_id)
        if row is None or row.state == "done":
            return
        fence, packed, evidence = 0, Packed(), RunEvidence()
        if row.state == "running":
            lease = await leases.acquire(db, session_id, caller, lease_s=_GIVE_UP_LEASE_S, timeout_s=_GIVE_UP_LEASE_S)
            if lease is None:
                return
            fence, checkpoint = lease.fence, await session_rows.load_checkpoint(db, session_id)
            if checkpoint is not None:
                packed = read_checkpoint(key, checkpoint)
                evidence = make_evidence(packed)
        conclusion, now_ms = conclude(self.row, [ended], evidence), read_clock_ms()
        report = render_report(make_report(self.row, conclusion, ended_ms=now_ms), conclusion)
        values = json.loads(report.decode("utf-8", "surrogatepass"))
        result = RemoteResult(session_id, fence, caller, values, packed=packed, ended_ms=now_ms)
        sealed = seal(key, "outcome", render_result(result))
        if not fence:
            await submissions.finish_unstarted(db, session_id, sealed, conclusion.status, conclusion.stop_reason)
            return
        await leases.publish(
            db, session_id, fence, outcome=sealed, status=conclusion.status, stop_reason=conclusion.stop_reason,
            tokens=row.tokens, cost_usd=row.cost_usd, turns=row.turns,
        )  # fmt: skip

    # --- progress in the ledger ---------------------------------------------------------------------------------------

    def _record_start(self, row: session_rows.SessionRow) -> None:
        """Record in the ledger that the run has started, and its deadline."""
        known = load_run(self.home.ledger, self.row.session_id)
        if known is None or known.state != "admitted":
            return
        now_ms = read_clock_ms()
        left_ms = row.deadline_left_ms
        deadline_ms = find_deadline(self.row, now_ms, None) if left_ms is None else now_ms + left_ms
        with self.home.ledger.transaction() as db, suppress(StateError):
            take_slot(db, self.row, Slots(), deadline_ms=deadline_ms)
        self.row = load_run(self.home.ledger, self.row.session_id) or self.row

    def _record_progress(self, row: session_rows.SessionRow) -> None:
        """Report the worker, new attempts, text and usage to local followers."""
        session_id = self.row.session_id
        if row.worker_id and row.worker_id != self._worker:
            self._worker = row.worker_id
            details = {"worker": row.worker_id, "host": row.host, "fence": row.fence}
            self.supervisor.report(session_id, "acquired", details)
        attempt = read_attempt(row)
        if attempt > self._attempt:
            self._attempt = attempt
            begin_attempt(self.home.ledger, session_id, attempt)
            self.supervisor.report(session_id, "started", {"attempt": attempt})
        activity = str(row.live.get("activity") or "")
        used = Usage(row.tokens, turns=row.turns, cost_usd=row.cost_usd)
        if used != self.usage or activity != self.activity:
            self.usage, self.activity = used, activity
            with self.home.ledger.transaction() as db:
                self._set_usage(db)
                self.supervisor.report(
                    session_id, "progress", {"activity": activity, "tokens": row.tokens, "cost_usd": row.cost_usd}
                )

    def _set_usage(self, db: Connection) -> None:
        usage = self.usage
        set_usage(db, self.row.session_id, tokens=usage.tokens, cost_usd=usage.cost_usd, turns=usage.turns)

    async def _copy_output(self, row: session_rows.SessionRow) -> None:
        """Copy new output to the attempt folders."""
        for number in range(max(1, self._attempt - 1), read_attempt(row) + 1):
            attempt = make_attempt(self.home, self.row.session_id, number)
            for stream in _STREAMS:
                at = measure_copy(attempt, stream)
                while data := await output.load_output(self.client.db, self.row.session_id, number, stream, at):
                    add_copy(attempt, stream, at, data)
                    at += len(data)

    # --- result -------------------------------------------------------------------------------------------------------

    async def _import_result(self, key: bytes) -> Conclusion:
        """Import the worker's result and files, and return the conclusion."""
        db, session_id = self.client.db, self.row.session_id
        outcome = await load_result(db, key, session_id)
        order = read_order(unseal(key, "order", await session_rows.load_order(db, session_id) or b""))
        await self.client.mirror_tree(self.row.root_id)
        row = await session_rows.load_row(db, session_id)
        if row is not None:
            self._attempt = 0
            await self._copy_output(row)
        own_files = self.supervisor.list_own_files()
        imported: ImportedResult = await import_result(self.client, self.row, order, outcome, own_files=own_files)
        self._imported = imported.report._replace(notes=(*_list_unsent_files(order), *imported.report.notes))
        self._report_import(outcome.packed, None if row is None else row.waited_s)
        return imported.conclusion

    def _report_import(self, packed: Packed, waited_s: float | None) -> None:
        """Report how the files were transferred."""
        source = packed.source
        details = {"files": len(packed.files), "branch": source.branch, "bundle": source.parcel, "waited_s": waited_s}
        self.supervisor.report(self.row.session_id, "imported", details)


def _list_unsent_files(order: RunOrder) -> tuple[str, ...]:
    """Return a note about files of the caller's tree that could not be sent to the worker."""
    return (f"not sent to the worker: {name_files(order.left)}",) if order.left else ()

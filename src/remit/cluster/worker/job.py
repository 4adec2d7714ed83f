"""A job: one session on one worker, from its lease to its result.

The steps: load the order, check out the tree, import the run, run the agent, collect the changes, publish the result.
All state is on disk and in the database, so a restarted worker continues a job by the same code. Only the worker with
the lease can publish.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from remit.cluster.caller.client import ClusterClient
from remit.cluster.database import leases, session_rows
from remit.cluster.keys import KEY
from remit.cluster.orders import Packed, make_evidence, read_checkpoint
from remit.cluster.retry import retry_forever
from remit.cluster.row_conversion import read_attempt
from remit.cluster.sealing import TicketClaims, sign_ticket
from remit.cluster.transfer import load_bundles
from remit.cluster.worker.progress_reporter import ProgressReporter
from remit.cluster.worker.publication import Publication, collect_results, make_publication, publish
from remit.cluster.worker.session_import import check_ticket, import_run, load_order, make_run_of_order
from remit.cluster.worker.worker_folder import WorkerFolderFacts, remove_session
from remit.config import BACKEND
from remit.errors import ClusterError, RemitError, StorageError
from remit.git import clones
from remit.git.bundles import BaseTree
from remit.ledger.events import read_clock_ms
from remit.ledger.home import Home
from remit.ledger.runs import Run
from remit.runs.admission.run_config import read_run_config
from remit.runs.admission.tickets import RANDOM_BYTES, Ticket, hash_ticket
from remit.runs.judging.attempt import Attempt
from remit.runs.supervisor.supervisor import Supervisor
from remit.storage.trust import trust

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from remit.cluster.orders import RunOrder
    from remit.cluster.worker.worker_context import WorkerContext


class _UnableError(RemitError):
    """The job can't start on this machine; another worker may be able to execute it."""


class JobResult(NamedTuple):
    """How a job ended."""

    status: str
    """The status of the result; `lost` if another worker has the session now, `unable` if it was left to others."""
    stop_reason: str = ""
    problem: str = ""
    """Why this machine can't execute the job."""


class Job:
    """One session whose lease this worker has."""

    def __init__(
        self,
        context: WorkerContext,
        row: session_rows.SessionRow,
        lease: leases.Lease,
        *,
        has_others: Callable[[], Awaitable[bool]],
    ) -> None:
        """`has_others`: whether other workers could execute the session if this machine can't."""
        self.context = context
        self._has_others = has_others
        self.row = row
        self.lease = lease
        self.session_id = row.session_id
        self.supervisor: Supervisor | None = None
        self.lost = asyncio.Event()
        """Set if another worker has the session."""
        self.is_publishing = False
        self._cancel_reason = lease.cancel_reason
        self._began_ms = read_clock_ms()
        self._lost_attempts = 0
        """The number of attempts on other workers."""

    def cancel(self, reason: str) -> None:
        """Cancel the agent; the changes so far are published."""
        is_new = self._cancel_reason is None
        self._cancel_reason = self._cancel_reason or reason or "its cancellation was requested"
        if is_new:
            self._cancel_supervisor()

    def mark_lost(self) -> None:
        """End the agent without publishing: another worker has the session."""
        if self.is_publishing or self.lost.is_set():  # publishing with an old fencing token changes nothing
            return
        self.lost.set()
        self._cancel_reason = self._cancel_reason or "its worker was unreachable for too long"
        self._cancel_supervisor()

    def _cancel_supervisor(self) -> None:
        if self.supervisor is not None:
            with suppress(RemitError):
                self.supervisor.cancel(self.session_id, reason=self._cancel_reason or "")

    async def run(self) -> JobResult:
        """Execute the job; return after its result is published, or if another worker has the session."""
        try:
            result = await self._execute()
        except _UnableError as error:
            await self._remove_session()
            return JobResult("unable", problem=str(error))
        except RemitError as error:
            result = make_publication(self._make_run(), Attempt("rejected", reason=str(error)))
        except Exception as error:  # noqa: BLE001 - the outermost function of a job: the caller gets the error
            reason = f"this is a bug: {type(error).__name__}: {str(error)[:300]}"
            result = make_publication(self._make_run(), Attempt("crashed", reason=reason))
        if self.lost.is_set() or result is None:
            await self._remove_session()
            return JobResult("lost")
        self.is_publishing = True
        fence = self.lease.fence
        is_published = await publish(self.context, self.session_id, fence, result, began_ms=self._began_ms)
        await self._remove_session()
        return JobResult(result.conclusion.status, result.conclusion.stop_reason) if is_published else JobResult("lost")

    def _make_run(self) -> Run:
        row = self.row
        return Run(
            row.session_id, row.agent, row.depth, row.path, row.parent_id, row.root_id, runner=row.runner,
            started_ms=self._began_ms, details=row.terms,
        )  # fmt: skip

    async def _execute(self) -> Publication | None:
        order = await load_order(self.context, self.session_id)
        facts = self.context.folder.load(self.session_id)
        if facts is not None and self._can_resume(facts):
            facts = facts._replace(fence=self.lease.fence)
        else:
            await self._remove_session()
            await check_ticket(self.context, order)
            ended_early = await self._end_without_agent(order)
            if ended_early is not None:
                return ended_early
            try:
                facts = await self._check_out(order)
            except StorageError as error:  # a full disk, an unreachable git remote
                if await self._has_others():
                    raise _UnableError(error.message, hint=error.hint) from error
                raise
        await asyncio.to_thread(self.context.folder.record, facts)
        return await self._run_agent(order, facts)

    def _can_resume(self, facts: WorkerFolderFacts) -> bool:
        """Return whether this worker can resume its checkout: no other worker had the lease in between."""
        return facts.fence == self.lease.fence - 1 and os.path.isdir(facts.root)

    # --- without an agent ---------------------------------------------------------------------------------------------

    async def _end_without_agent(self, order: RunOrder) -> Publication | None:
        """Return the result of a session that was cancelled, is too late, or can't be retried; else None."""
        row, config = make_run_of_order(order)._replace(started_ms=self._began_ms), read_run_config(order.details)
        checkpoint = None if self.lease.is_first else await self._load_checkpoint()
        if self._cancel_reason is not None:
            ended = Attempt("cancelled", reason=self._cancel_reason)
        elif self.lease.deadline_left_ms <= 0:
            ended = Attempt("timeout")
        elif checkpoint is not None and config.retry != "safe":
            reason = f"{self.lease.earlier_worker or 'its worker'} was lost"
            ended = Attempt("orphaned", reason=reason)
        else:
            self._lost_attempts = 0 if checkpoint is None else await self._count_lost()
            return None
        if checkpoint is None:
            return make_publication(row, ended)
        return make_publication(row, ended, make_evidence(checkpoint))._replace(packed=checkpoint)

    async def _load_checkpoint(self) -> Packed | None:
        """Return the changes of the last checkpoint; None if no agent has started."""
        checkpoint = await retry_forever(lambda: session_rows.load_checkpoint(self.context.bulk_db, self.session_id))
        return None if checkpoint is None else read_checkpoint(self.context.key, checkpoint)

    async def _count_lost(self) -> int:
        """Return the number of attempts on other workers; their output stays under these numbers."""
        row = await retry_forever(lambda: session_rows.load_row(self.context.db, self.session_id))
        return max(1, 0 if row is None else read_attempt(row))

    # --- the checkout -------------------------------------------------------------------------------------------------

    async def _check_out(self, order: RunOrder) -> WorkerFolderFacts:
        source, context = order.source, self.context
        bundles = await retry_forever(lambda: load_bundles(context.bulk_db, context.folder.store, source))
        base = BaseTree(order.commit, order.tree, order.prefix)
        root = await asyncio.to_thread(
            clones.check_out, context.folder.store, context.folder.find_tree(self.session_id), base,
            bundles=bundles, remote=source.remote, branch=source.branch,
        )  # fmt: skip
        if order.trusted:
            await asyncio.to_thread(trust, root, order.trusted)
        deadline_ms = read_clock_ms() + self.lease.deadline_left_ms
        return WorkerFolderFacts(self.session_id, self.lease.fence, self.lease.fence, root, deadline_ms)

    async def _remove_session(self) -> None:
        with suppress(RemitError):  # leftovers are removed when the worker starts again
            await remove_session(self.context.folder, self.session_id)

    # --- the agent ----------------------------------------------------------------------------------------------------

    async def _run_agent(self, order: RunOrder, facts: WorkerFolderFacts) -> Publication | None:
        home = Home(facts.root)
        context = self.context
        setup = await asyncio.to_thread(context.load_setup, facts.root)
        environ = self._make_environ(order)
        supervisor = Supervisor(home, setup.settings, own_runners=setup.own_runners, environ=environ, is_worker=True)
        supervisor.variables = setup.variables
        client = supervisor.cluster = ClusterClient(
            home, context.url, context.settings, environ, key=context.key, own=frozenset({self.session_id}),
            trusted=order.trusted,
        )  # fmt: skip
        try:
            await self._import_run(order, facts, supervisor)
            reporter = ProgressReporter(context, supervisor, order, self.lease.fence, on_lost=self.mark_lost)
            self._set_ticket_signer(supervisor, reporter, facts)
            reporter.packed = await self._load_checkpoint() or Packed()
            await retry_forever(reporter.record_checkpoint)
            if self.lost.is_set():
                return None
            self.supervisor = supervisor
            if self._cancel_reason is not None:
                self._cancel_supervisor()
            try:
                await self._supervise(supervisor, reporter)
            except RemitError as error:  # a full disk: only the last checkpoint can be published
                ended = Attempt("crashed", reason=str(error))
                return make_publication(make_run_of_order(order), ended)._replace(packed=reporter.packed)
            if self.lost.is_set():
                return None
            await retry_forever(reporter.report_output)
            return await collect_results(
                context, order, home, fence=self.lease.fence, sent_commit=reporter.packed.commit
            )
        finally:
            self.supervisor = None
            with suppress(ClusterError):
                await client.close()
            supervisor.end()
            home.close()

    async def _supervise(self, supervisor: Supervisor, reporter: ProgressReporter) -> None:
        """Supervise the run until its agent has ended, and report progress concurrently."""
        reporting = asyncio.ensure_future(reporter.run())
        try:
            await supervisor.run_to_end(self.session_id)
        finally:
            reporting.cancel()
            with suppress(asyncio.CancelledError):
                await reporting

    def _make_environ(self, order: RunOrder) -> dict[str, str]:
        """Return the agent's environment; only an agent that may call others gets the database and the key."""
        environ = {**self.context.environ, BACKEND: self.context.url}
        if not read_run_config(order.details).may_call:
            environ = {name: value for name, value in environ.items() if name not in (BACKEND, KEY)}
        return environ

    async def _import_run(self, order: RunOrder, facts: WorkerFolderFacts, supervisor: Supervisor) -> None:
        above = [str(each["session_id"]) for each in order.above]
        known = await retry_forever(lambda: session_rows.list_rows(self.context.db, sessions=above)) if above else []
        await import_run(
            supervisor.home, order, supervisor.id, deadline_ms=facts.deadline_ms, above=known,
            lost_attempts=self._lost_attempts,
        )  # fmt: skip

    def _set_ticket_signer(self, supervisor: Supervisor, reporter: ProgressReporter, facts: WorkerFolderFacts) -> None:
        """Make the supervisor sign tickets with the fencing token of the lease that the agent starts under."""
        context = self.context
        reporter.signed = facts.signed

        def sign(row: Run) -> Ticket:
            signed = TicketClaims(row.session_id, row.root_id, row.agent, row.depth, row.path, facts.fence)
            token = sign_ticket(context.key, signed, os.urandom(RANDOM_BYTES))
            if reporter.signed != facts.fence:
                context.folder.record(facts._replace(signed=facts.fence))
                reporter.signed = facts.fence
            return Ticket(token, hash_ticket(token))

        supervisor.mint = sign

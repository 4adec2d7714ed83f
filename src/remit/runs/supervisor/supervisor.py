"""The supervisor: the process that executes runs, from their slots to their finish steps, and what these runs share.

It also takes over the runs of supervisors that no longer exist. Its state is in the ledger, where any other supervisor
can read it.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from remit.attempts.folders import find_folder, is_alive, send_control
from remit.errors import BusyError, RefusedError, RemitError, RunnerError, StateError
from remit.ledger.events import add_event, load_last_event, read_clock_ms
from remit.ledger.runs import REMOTE_OWNER, advance, count_attempts, list_branch, load_run
from remit.ledger.slots import Slots, claim, set_deadline, set_ticket, take_slot
from remit.ledger.texts import store_texts
from remit.model import ERROR_CODES, NOTHING
from remit.runners import RunOutput
from remit.runners.registry import get_runner
from remit.runs.admission.run_config import BUILT_IN, read_run_config
from remit.runs.admission.tickets import RANDOM_BYTES, Ticket, mint
from remit.runs.judging.attempt import Attempt
from remit.runs.judging.conclusion import conclude
from remit.runs.judging.judging_context import list_resumed_runs
from remit.runs.judging.other_runs import find_active_writer, find_shared_tree
from remit.runs.results.full_result import add_steps, load_report, make_report, render_report
from remit.runs.supervisor.ledger_group_commit import GroupCommit
from remit.runs.supervisor.recovery import claim_abandoned, is_abandoned
from remit.runs.supervisor.run_loop import RunLoop
from remit.runs.supervisor.slot_queue import SlotQueue, find_deadline
from remit.storage.supervisor_presence import Presence, is_present

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.cluster.caller.client import ClusterClient
    from remit.cluster.caller.remote_run import RemoteRun
    from remit.config import Settings
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.ledger.store import Connection
    from remit.result import Result
    from remit.runners import Runner
    from remit.runs.judging.conclusion import Conclusion
    from remit.runs.judging.concurrent_writers import SharedTree

NO_LIMITS = Slots()
_BUSY_TRIES, _BUSY_PAUSE_S = 10, 1.0
_POLL_S, _UNENDED_S = 0.02, 30.0


class Supervisor:
    """A process that executes runs."""

    def __init__(
        self,
        home: Home,
        settings: Settings | None = None,
        *,
        slots: Slots = NO_LIMITS,
        own_runners: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
        is_worker: bool = False,
    ) -> None:
        """`is_worker`: the machine of the caller does the preflight and the finish steps."""
        self.home = home
        self.settings = settings
        self.slots = slots
        self.is_worker = is_worker
        self.environ = dict(os.environ if environ is None else environ)
        self.functions: dict[str, Any] = {}
        """The functions of this process that are agents, by session."""
        self.variables: Mapping[str, Mapping[str, str]] = NOTHING
        """The environment variables that the workspace sets for each runner."""
        self.cluster: ClusterClient | None = None
        """Where the runs of other machines go."""
        self.mint: Callable[[Run], Ticket] = lambda _: mint(os.urandom(RANDOM_BYTES))
        """Issues the ticket of an agent."""
        self.active: dict[str, RunLoop | RemoteRun] = {}
        self.group_commit = GroupCommit(home)
        self.slot_queue = SlotQueue(self)
        self._own_runners = own_runners or {}
        self._runners: dict[tuple[str, str], Runner] = {}
        self._running: set[str] = set()
        self._reports: dict[str, Result] = {}
        """The results of concluded runs, until the ledger has them."""
        self._recovering: set[asyncio.Task[Result]] = set()
        self._presence: Presence | None = None

    @property
    def id(self) -> str:
        """The supervisor's id. Reading it makes the supervisor present for others."""
        if self._presence is None:
            self._presence = Presence(self.home)
        return self._presence.id

    def end(self) -> None:
        """Stop supervising. Agents continue, and another supervisor takes their runs over."""
        self.slot_queue.end()
        if self._presence is not None:
            self._presence.end()
            self._presence = None

    def get_runner(self, name: str, base: str = "") -> Runner:
        """A runner by its name. `base`: its base at admission, if it is the workspace's own."""
        if (name, base) not in self._runners:
            own = {**self._own_runners, name: base} if base else self._own_runners
            self._runners[name, base] = get_runner(name, own)
        return self._runners[name, base]

    # --- one run ------------------------------------------------------------------------------------------------------

    async def run_to_end(self, session_id: str) -> Result:
        """Take a run of this supervisor to its end, and return its whole result.

        If another process locks the ledger, this is retried: the agent continues, and its end is on disk. If the ledger
        can't be written once the agent has ended, the result is returned with a failed step, and the next process that
        waits for the run repeats what is missing.
        """
        self._running.add(session_id)
        try:
            for _ in range(_BUSY_TRIES):
                with suppress(BusyError):
                    return await self._run(session_id)
                await asyncio.sleep(_BUSY_PAUSE_S)
            return await self._run(session_id)
        except RemitError as error:
            if session_id not in self._reports:
                raise
            from remit.runs.finish.finish_steps import FinishStep  # noqa: PLC0415 - only for a ledger that can't be written

            hint = f"repeat the finish steps: remit wait {session_id}"
            step = FinishStep("ledger", "failed", error.message, code=error.code, hint=hint)
            return add_steps(self._reports[session_id], (step,))
        finally:
            self._running.discard(session_id)
            self._reports.pop(session_id, None)

    async def _run(self, session_id: str) -> Result:
        """Continue a run where it is: each state of its row is followed by the next one."""
        run = self._load(session_id)
        if run.state == "finished":
            return load_report(self.home, session_id)[0]
        if run.state == "finishing":
            return await self._finish(run)
        if run.runner == BUILT_IN and self._finish_settings is not None:
            return await self._answer(run, self._finish_settings)
        self.check_reachable(run)
        if self.cluster is not None and self.cluster.is_remote(run):
            return await self._run_remotely(run, self.cluster)
        return await self._run_here(run)

    async def _run_here(self, run: Run) -> Result:
        """Execute a run on this machine."""
        early = await self._wait_for_slot(run) if run.state == "admitted" else None
        run = self._load(run.session_id)
        if early is None and run.state != "running":
            return await self._finish(run)
        early = early or await self._prepare_task(run)
        if early is not None:
            return await self._conclude(run, early)
        try:
            loop = self.active[run.session_id] = RunLoop(self, run)
        except RunnerError as error:
            return await self._conclude(run, await self._end_unknown(run, error))
        try:
            conclusion = await loop.execute()
        finally:
            del self.active[run.session_id]
        return await self._conclude(run, conclusion, loop)

    async def _run_remotely(self, run: Run, cluster: ClusterClient) -> Result:
        """Have another machine execute a run. The preflight and the finish steps are done on this machine."""
        early = await self._prepare_task(run)
        if early is not None:
            return await self._conclude(run, early)
        remote_run = self.active[run.session_id] = cluster.make_remote_run(self, run)
        try:
            conclusion = await remote_run.execute()
        finally:
            del self.active[run.session_id]
        return await self._conclude(self._load(run.session_id), conclusion, remote_run)

    async def _answer(self, run: Run, settings: Settings) -> Result:
        """Answer the call of a utility agent. No process runs, so it needs no slot; repeating it changes nothing."""
        from remit.runs.utility_agents import answer  # noqa: PLC0415 - only for utility agents

        if run.state == "admitted":
            with self.home.ledger.transaction() as db:
                take_slot(db, run, NO_LIMITS, deadline_ms=find_deadline(run, read_clock_ms(), self.find_limit(run)))
            run = self._load(run.session_id)
        return await self._conclude(run, await asyncio.to_thread(answer, self.home.root, settings, run))

    async def _wait_for_slot(self, run: Run) -> Conclusion | None:
        """Wait for a slot; the conclusion of a run that ended before it got one."""
        stop_reason = await self.slot_queue.wait(run, self.find_limit(run))
        if not stop_reason:
            return None
        reason = "no slot was free in its caller's time"
        if stop_reason == "cancelled":
            reason = self.find_cancel_reason(run.session_id) or "it had not begun"
        return conclude(run, [Attempt(stop_reason, reason=reason)])

    async def _prepare_task(self, run: Run) -> Conclusion | None:
        """Do the preflight of a run on a task, which is idempotent; the conclusion of a run that may not start."""
        if read_run_config(run.details).is_harness_run:  # the harness started its agent, and must report its end
            return conclude(run, [Attempt("orphaned", reason="its harness ended without a word of it")])
        settings = self._finish_settings
        if settings is None or run.details.keys().isdisjoint(("working", "phase", "outside")):
            return None
        from remit.runs.tasks.task_status import prepare_task  # noqa: PLC0415 - only for runs on tasks

        try:
            await asyncio.to_thread(prepare_task, self.home.root, settings, run)
        except RefusedError as error:
            return conclude(run, [Attempt("rejected", reason=str(error))])
        except RemitError as error:
            code = error.code if error.code == RunnerError.code else ERROR_CODES["status_sync"]
            output = RunOutput(trouble=error.message)
            return conclude(run, [Attempt("rejected", output, reason=str(error), code=code)])
        return None

    async def _end_unknown(self, run: Run, error: RunnerError) -> Conclusion:
        """End the agent of a run whose runner no longer exists, because its output can't be understood."""
        number = count_attempts(self.home.ledger, run.session_id)
        last = time.monotonic() + _UNENDED_S
        while number and is_alive(find_folder(self.home, run.session_id, number)) and time.monotonic() < last:
            self.request_end(run.session_id)
            await asyncio.sleep(_POLL_S)
        return conclude(run, [Attempt("orphaned", reason=error.message)])

    async def _conclude(self, run: Run, conclusion: Conclusion, loop: RunLoop | RemoteRun | None = None) -> Result:
        """End nested runs, write the conclusion of a run to the ledger, and run its finish steps."""
        await self._end_nested(run)
        self.functions.pop(run.session_id, None)  # only now: a process that stops waiting must not lose the function
        now_ms = read_clock_ms()
        make = partial(make_report, run) if loop is None else loop.make_report
        report = self._reports[run.session_id] = make(conclusion, ended_ms=now_ms)
        usage = report.usage
        has_steps = self._has_finish_steps(run)

        def write(db: Connection) -> None:
            store_texts(self.home, run.session_id, {"report": render_report(report, conclusion)}, db=db)
            advance(
                db, run.session_id, "finishing", ended_ms=now_ms, stop_reason=conclusion.stop_reason,
                verdict=conclusion.verdict, status=conclusion.status, tokens=usage.tokens, cost_usd=usage.cost_usd,
                turns=usage.turns,
            )  # fmt: skip
            set_ticket(self.home.ledger, run.session_id, None)  # valid only while the agent runs
            if not has_steps:
                advance(db, run.session_id, "finished")

        await self.group_commit.write(write)
        self.slot_queue.call()
        return await self._finish(run) if has_steps else report

    async def _finish(self, run: Run) -> Result:
        """Run the finish steps of a concluded run, and return its result."""
        if not self._has_finish_steps(run):
            with self.home.ledger.transaction(durable=True) as db:
                if self._load(run.session_id).state != "finished":
                    advance(db, run.session_id, "finished")
            return load_report(self.home, run.session_id)[0]
        from remit.runs.finish.finish_run import finish_run  # noqa: PLC0415 - 20 ms; the agent doesn't wait for it

        return await asyncio.to_thread(finish_run, self.home.root, run, self._finish_settings)

    def _has_finish_steps(self, run: Run) -> bool:
        return self._finish_settings is not None and read_run_config(run.details).finishes

    @property
    def _finish_settings(self) -> Settings | None:
        """The settings of this workspace if its tasks, manifest and error log are on this machine."""
        return None if self.is_worker else self.settings

    async def _end_nested(self, run: Run) -> None:
        """End all nested runs with their caller, including those of other supervisors, such as a server."""
        with self.home.ledger.reading() as db:
            query = "SELECT session_id FROM runs WHERE parent_id = ? AND state <> 'finished'"
            nested = [each[0] for each in db.execute(query, (run.session_id,))]
        for session_id in nested:
            child = self._load(session_id)
            if child.owner == REMOTE_OWNER:  # it ends with its caller on the other machine
                continue
            reason = f"its caller {run.agent} had ended"
            if is_present(self.home, child.owner):
                self.cancel(session_id, reason=reason)
                await self._wait_until_finished(session_id)
            elif claim(self.home.ledger, child, self.id):
                if not self.is_cancelled(session_id):
                    self.report(session_id, "cancel", {"reason": reason})
                await self.run_to_end(session_id)

    async def _wait_until_finished(self, session_id: str) -> None:
        """Wait until another supervisor has ended a run; with a limit, because it may hang."""
        last = time.monotonic() + _UNENDED_S
        while self._load(session_id).state != "finished" and time.monotonic() < last:  # noqa: ASYNC110 - the ledger has no notifications
            await asyncio.sleep(_POLL_S)

    def _load(self, session_id: str) -> Run:
        run = load_run(self.home.ledger, session_id)
        if run is None:
            raise RemitError(f"the ledger has no run {session_id}", hint="remit ps shows the runs")
        return run

    def find_limit(self, run: Run) -> int | None:
        """The deadline of the caller."""
        parent = None if run.parent_id is None else load_run(self.home.ledger, run.parent_id)
        return None if parent is None else parent.deadline_ms

    def restart_clock(self, run: Run) -> Run:
        """Let the time of a run begin now, after its tree was recorded."""
        deadline_ms = find_deadline(run, read_clock_ms(), self.find_limit(run))
        set_deadline(self.home.ledger, run.session_id, deadline_ms)
        return run._replace(deadline_ms=deadline_ms)

    # --- what others ask ----------------------------------------------------------------------------------------------

    def is_active(self, session_id: str) -> bool:
        """Whether this supervisor is executing a run."""
        return session_id in self._running

    def has_stopped(self, run: Run) -> bool:
        """Whether a run is this supervisor's, and its execution ended with an error."""
        is_own = self._presence is not None and run.owner == self._presence.id
        return is_own and run.session_id not in self._running

    def check_reachable(self, run: Run) -> None:
        """Refuse a run that was sent to other machines if no backend is set."""
        if self._is_out_of_reach(run):
            hint = "set `backend`, or REMIT_BACKEND, to the database that it was sent through"
            raise StateError(f"{run.session_id} is done by another machine, and no backend is set", hint=hint)

    def _is_out_of_reach(self, run: Run) -> bool:
        return self.cluster is None and run.state in ("admitted", "running") and read_run_config(run.details).remote

    def cancel(self, session_id: str, *, reason: str = "") -> list[str]:
        """Cancel a run and all nested runs, whichever process supervises them; the sessions that were cancelled."""
        cancelled = list_branch(self.home.ledger, session_id)
        with self.home.ledger.transaction() as db:
            for each in cancelled:
                add_event(db, "cancel", {"reason": reason}, session_id=each)
        self.slot_queue.call()
        for each in cancelled:
            if each in self.active:
                self.active[each].cancel(reason)
            self.request_end(each)
        return cancelled

    def request_end(self, session_id: str) -> None:
        """Ask the shim of a run to end its agent."""
        number = count_attempts(self.home.ledger, session_id)
        if number:
            send_control(find_folder(self.home, session_id, number), "cancel")

    def is_cancelled(self, session_id: str) -> bool:
        """Whether a run was cancelled."""
        with self.home.ledger.reading() as db:
            query = "SELECT 1 FROM events WHERE session_id = ? AND kind = 'cancel' LIMIT 1"
            return db.execute(query, (session_id,)).fetchone() is not None

    def find_cancel_reason(self, session_id: str) -> str:
        """The reason that was given for the cancellation of a run."""
        event = load_last_event(self.home.ledger, session_id, "cancel")
        return "" if event is None else str(event.details.get("reason") or "")

    def find_shared_tree(self, run: Run, root: str, *, since: Mapping[str, int]) -> SharedTree:
        """The other runs in a folder while a run worked there. `since`: the sessions that the run resumes."""
        loops = [each for each in self.active.values() if isinstance(each, RunLoop) and each.config.root == root]
        live = {each.run.session_id: each.describe_writes() for each in loops}
        return find_shared_tree(self.home, run, root, since=since, live=live)

    def list_own_files(self) -> tuple[str, ...]:
        """The files below the root that Remit itself changes while agents work there."""
        if self.settings is None:
            return ()
        from remit.runs.own_files import get_file_places, list_own_files  # noqa: PLC0415 - after the agent has ended

        return list_own_files(self.home.root, get_file_places(self.settings))

    def find_active_writer(self, run: Run, root: str) -> str:
        """Return another agent that is changing files in a folder now; empty if there is none.

        An agent that has ended changes nothing, even if its run is still being checked.
        """
        others = self.find_shared_tree(run, root, since=list_resumed_runs(self.home, run)).others
        calling = {name for name, loop in self.active.items() if isinstance(loop, RunLoop) and loop.is_calling}
        return find_active_writer(self.home, (each.session_id for each in others if each.ended_ms is None), calling)

    def move_deadline(self, run: Run, deadline_ms: int) -> Run:
        """Give a run another deadline, not after that of its caller."""
        limit_ms = self.find_limit(run)
        deadline_ms = deadline_ms if limit_ms is None else min(deadline_ms, limit_ms)
        set_deadline(self.home.ledger, run.session_id, deadline_ms)
        return run._replace(deadline_ms=deadline_ms)

    def report(self, session_id: str, kind: str, details: Mapping[str, Any]) -> None:
        """Add an event for those who follow a run. If it can't be written, the run continues without it."""
        with suppress(RemitError), self.home.ledger.transaction() as db:
            add_event(db, kind, details, session_id=session_id)

    # --- recovery -----------------------------------------------------------------------------------------------------

    def claim_abandoned(self) -> list[str]:
        """Claim every run whose supervisor no longer exists; the sessions that were claimed."""
        return claim_abandoned(self.home, self.id, is_unreachable=self._is_out_of_reach)

    def is_abandoned(self, run: Run) -> bool:
        """Whether the supervisor of a run no longer exists, and only another supervisor can end the run."""
        return is_abandoned(self.home, run, is_unreachable=self._is_out_of_reach)

    def recover_soon(self) -> list[asyncio.Task[Result]]:
        """Claim abandoned runs and execute them in tasks of their own."""
        tasks = [asyncio.ensure_future(self.run_to_end(session)) for session in self.claim_abandoned()]
        for task in tasks:
            self._recovering.add(task)
            task.add_done_callback(self._forget)
        return tasks

    def _forget(self, task: asyncio.Task[Result]) -> None:
        self._recovering.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, RemitError):  # the next process that waits tries again
            raise error

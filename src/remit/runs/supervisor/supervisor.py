"""The supervisor: a process that executes runs, and what these runs share.

Owns who loops what: it waits for slots, loops to the end, settles, and takes over what supervisors have left that are
no longer there. The rows of the ledger are what it works on; it holds nothing that another supervisor could not read
there.
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
from remit.ledger.hook_runs import GRACE_MS, HOOKS_OWNER
from remit.ledger.runs import REMOTE_OWNER, advance, count_attempts, list_branch, list_runs, load_run
from remit.ledger.slots import Slots, claim, set_deadline, set_ticket, take_slot
from remit.ledger.texts import store_texts
from remit.model import ERROR_CODES, NOTHING
from remit.runners import RunOutput
from remit.runners.registry import get_runner
from remit.runs.admission.run_config import BUILT_IN, read_run_config
from remit.runs.admission.tickets import RANDOM_BYTES, Ticket, mint
from remit.runs.judging.attempt import Attempt
from remit.runs.judging.conclusion import conclude
from remit.runs.judging.concurrent_runs import find_site
from remit.runs.results.full_result import add_steps, load_report, make_report, render_report
from remit.runs.supervisor.group_commit import GroupCommit
from remit.runs.supervisor.run_loop import RunLoop
from remit.runs.supervisor.slot_queue import SlotQueue, find_deadline
from remit.storage.supervisors import Presence, clear_departed, is_present

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.cluster.caller.client import ClusterClient
    from remit.cluster.caller.remote_run import RemoteRun
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.ledger.store import Connection
    from remit.result import Result
    from remit.runners import Runner
    from remit.runs.finish.steps import FinishStep
    from remit.runs.judging.conclusion import Conclusion
    from remit.runs.judging.concurrent_writers import SharedTree

    Begin = Callable[[Run], None]
    Settle = Callable[[Run, Conclusion], tuple[FinishStep, ...]]
    Answer = Callable[[Run], Conclusion]

NO_LIMITS = Slots()
_BUSY_TRIES, _BUSY_PAUSE_S = 10, 1.0
_ENDING_S, _UNENDED_S = 0.02, 30.0


class Supervisor:
    """A process that supervises delegations."""

    def __init__(
        self,
        home: Home,
        *,
        slots: Slots = NO_LIMITS,
        begin: Begin | None = None,
        settle: Settle | None = None,
        answer: Answer | None = None,
        own_runners: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
        list_own_files: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        """`list_own_files` tells what Remit itself writes below the root while agents work there.

        `answer` does the work of a utility agent that is built in.
        """
        self.home = home
        self.list_own_files = list_own_files
        self.slots = slots
        self.begin = begin
        self.settle = settle
        self.answer = answer
        self.environ = dict(os.environ if environ is None else environ)
        self.functions: dict[str, Any] = {}
        """Functions that run in this process, by session."""
        self.variables: Mapping[str, Mapping[str, str]] = NOTHING
        """What the workspace sets in the environment of each runner."""
        self.afar: ClusterClient | None = None
        """Where delegations go that are not done on this machine."""
        self.mint: Callable[[Run], Ticket] = lambda _: mint(os.urandom(RANDOM_BYTES))
        """Makes the ticket of an agent."""
        self.active: dict[str, RunLoop | RemoteRun] = {}
        self.group_commit = GroupCommit(home)
        self.slot_queue = SlotQueue(self)
        self._own_runners = own_runners or {}
        self._runners: dict[tuple[str, str], Runner] = {}
        self._running: set[str] = set()
        self._reports: dict[str, Result] = {}
        """The results of runs whose agent has ended, until the ledger has them."""
        self._recovering: set[asyncio.Task[Result]] = set()
        self._presence: Presence | None = None

    @property
    def id(self) -> str:
        """The supervisor's id. It is present from the moment it is asked."""
        if self._presence is None:
            self._presence = Presence(self.home)
        return self._presence.id

    def end(self) -> None:
        """Go; agents that run go on, and are taken over."""
        self.slot_queue.end()
        if self._presence is not None:
            self._presence.end()
            self._presence = None

    def get_runner(self, name: str, base: str = "") -> Runner:
        """A runner by its name; `base` says what one was that the workspace may have had only then."""
        if (name, base) not in self._runners:
            own = {**self._own_runners, name: base} if base else self._own_runners
            self._runners[name, base] = get_runner(name, own)
        return self._runners[name, base]

    # --- one delegation -----------------------------------------------------------------------------------------------

    async def run_to_end(self, session_id: str) -> Result:
        """Take a delegation that is this supervisor's to its end; what the caller is told of it.

        While another process keeps the ledger for itself it is waited for: the agent goes on all the same, and what
        has become of it is on disk. If the ledger can't be written once the agent has ended, its result is returned
        all the same, and whoever waits for the run again repeats what is missing.
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
            from remit.runs.finish.steps import FinishStep  # noqa: PLC0415 - as below

            hint = f"repeat the finish steps: remit wait {session_id}"
            step = FinishStep("ledger", "failed", error.message, code=error.code, hint=hint)
            return add_steps(self._reports[session_id], (step,))
        finally:
            self._running.discard(session_id)
            self._reports.pop(session_id, None)

    def is_active(self, session_id: str) -> bool:
        """Whether a delegation is on its way here."""
        return session_id in self._running

    def has_stopped(self, row: Run) -> bool:
        """Whether a delegation is this supervisor's, and could not be driven on."""
        is_own = self._presence is not None and row.owner == self._presence.id
        return is_own and row.session_id not in self._running

    async def _run(self, session_id: str) -> Result:
        row = self._load(session_id)
        if row.state == "finished":
            return load_report(self.home, session_id)[0]
        if row.state == "finishing":
            return await self._settle(row)
        if row.runner == BUILT_IN and self.answer is not None:
            return await self._answer(row, self.answer)
        self.check_reach(row)
        if self.afar is not None and self.afar.takes(row):
            return await self._send(self.afar, row)
        return await self._work(row)

    async def _answer(self, row: Run, answer: Answer) -> Result:
        """Answer for a utility agent. No process runs, so no slot is needed; a repeated call changes nothing."""
        if row.state == "admitted":
            with self.home.ledger.transaction() as db:
                take_slot(db, row, NO_LIMITS, deadline_ms=find_deadline(row, read_clock_ms(), self._find_limit(row)))
            row = self._load(row.session_id)
        return await self._finish(row, await asyncio.to_thread(answer, row))

    def check_reach(self, row: Run) -> None:
        """Refuse to supervise here what was sent to other machines, where nobody knows any more which."""
        if self._is_out_of_reach(row):
            hint = "set `backend`, or REMIT_BACKEND, to the database that it was sent through"
            raise StateError(f"{row.session_id} is done by another machine, and no backend is set", hint=hint)

    def _is_out_of_reach(self, row: Run) -> bool:
        return self.afar is None and row.state in ("admitted", "running") and read_run_config(row.details).remote

    async def _work(self, row: Run) -> Result:
        """Have a delegation done on this machine."""
        session_id = row.session_id
        early = await self._wait_for_slot(row) if row.state == "admitted" else None
        row = self._load(session_id)
        if early is None and row.state != "running":
            return await self._settle(row)
        early = early or await self._begin(row)
        if early is not None:
            return await self._finish(row, early)
        try:
            loop = self.active[session_id] = RunLoop(self, row)
        except RunnerError as error:
            return await self._finish(row, await self._lose(row, error))
        try:
            conclusion = await loop.execute()
        finally:
            del self.active[session_id]
        return await self._finish(row, conclusion, loop)

    async def _send(self, afar: ClusterClient, row: Run) -> Result:
        """Have a delegation done by another machine. What comes before and after is done on this one, as always."""
        early = await self._begin(row)
        if early is not None:
            return await self._finish(row, early)
        remote_run = self.active[row.session_id] = afar.make_remote_run(self, row)
        try:
            conclusion = await remote_run.execute()
        finally:
            del self.active[row.session_id]
        return await self._finish(self._load(row.session_id), conclusion, remote_run)

    async def _lose(self, row: Run, error: RunnerError) -> Conclusion:
        """What becomes of a delegation whose runner nobody knows any more: its agent could not be understood."""
        number = count_attempts(self.home.ledger, row.session_id)
        last = time.monotonic() + _UNENDED_S
        while number and is_alive(find_folder(self.home, row.session_id, number)) and time.monotonic() < last:
            self.request_end(row.session_id)
            await asyncio.sleep(_ENDING_S)
        return conclude(row, [Attempt("orphaned", reason=error.message)])

    def _load(self, session_id: str) -> Run:
        row = load_run(self.home.ledger, session_id)
        if row is None:
            raise RemitError(f"the ledger has no delegation {session_id}", hint="remit ps shows what there is")
        return row

    async def _wait_for_slot(self, row: Run) -> Conclusion | None:
        """Wait until there is room; what became of it where it never began."""
        stop_reason = await self.slot_queue.wait(row, self._find_limit(row))
        if not stop_reason:
            return None
        reason = "no slot was free in its caller's time"
        if stop_reason == "cancelled":
            reason = self.find_cancel_reason(row.session_id) or "it had not begun"
        return conclude(row, [Attempt(stop_reason, reason=reason)])

    def _find_limit(self, row: Run) -> int | None:
        """When the caller's own time is up."""
        parent = None if row.parent_id is None else load_run(self.home.ledger, row.parent_id)
        return None if parent is None else parent.deadline_ms

    def restart_clock(self, row: Run) -> Run:
        """Let the time of a delegation begin now: until now it was only looked at the tree."""
        deadline_ms = find_deadline(row, read_clock_ms(), self._find_limit(row))
        set_deadline(self.home.ledger, row.session_id, deadline_ms)
        return row._replace(deadline_ms=deadline_ms)

    async def _begin(self, row: Run) -> Conclusion | None:
        """Do what comes before the work on a task, as often as needed; what became of it where it may not begin."""
        if read_run_config(row.details).is_harness_run:  # begun by a harness, and nothing of it can be heard here
            return conclude(row, [Attempt("orphaned", reason="its harness ended without a word of it")])
        if self.begin is None or row.details.keys().isdisjoint(("working", "phase", "outside")):
            return None
        try:
            await asyncio.to_thread(self.begin, row)
        except RefusedError as error:
            return conclude(row, [Attempt("rejected", reason=str(error))])
        except RemitError as error:
            code = error.code if error.code == RunnerError.code else ERROR_CODES["status_sync"]
            output = RunOutput(trouble=error.message)
            return conclude(row, [Attempt("rejected", output, reason=str(error), code=code)])
        return None

    async def _finish(self, row: Run, conclusion: Conclusion, loop: RunLoop | RemoteRun | None = None) -> Result:
        """Write down what became of it, then settle."""
        await self._end_below(row)
        self.functions.pop(row.session_id, None)  # not when somebody stops waiting: it may not have begun
        now_ms = read_clock_ms()
        make = partial(make_report, row) if loop is None else loop.make_report
        report = self._reports[row.session_id] = make(conclusion, ended_ms=now_ms)
        usage = report.usage
        is_over = self.settle is None or not read_run_config(row.details).finishes

        def write(db: Connection) -> None:
            store_texts(self.home, row.session_id, {"report": render_report(report, conclusion)}, db=db)
            advance(
                db, row.session_id, "finishing", ended_ms=now_ms, stop_reason=conclusion.stop_reason,
                verdict=conclusion.verdict, status=conclusion.status, tokens=usage.tokens, cost_usd=usage.cost_usd,
                turns=usage.turns,
            )  # fmt: skip
            set_ticket(self.home.ledger, row.session_id, None)  # good while its session runs
            if is_over:
                advance(db, row.session_id, "finished")

        await self.group_commit.write(write)
        self.slot_queue.call()
        return report if is_over else await self._settle(row)

    async def _end_below(self, row: Run) -> None:
        """End all nested runs with their caller: those that another supervisor runs, such as a server's, as well."""
        with self.home.ledger.reading() as db:
            query = "SELECT session_id FROM runs WHERE parent_id = ? AND state <> 'finished'"
            below = [each[0] for each in db.execute(query, (row.session_id,))]
        for session_id in below:
            child = self._load(session_id)
            if child.owner == REMOTE_OWNER:  # it ends with the one above it, where that is
                continue
            reason = f"its caller {row.agent} had ended"
            if is_present(self.home, child.owner):
                self.cancel(session_id, reason=reason)
                await self._wait_until_finished(session_id)
            elif claim(self.home.ledger, child, self.id):
                if not self.is_cancelled(session_id):
                    self.report(session_id, "cancel", {"reason": reason})
                await self.run_to_end(session_id)

    async def _wait_until_finished(self, session_id: str) -> None:
        """Wait until another supervisor has ended a run, but not without a limit: it may hang."""
        last = time.monotonic() + _UNENDED_S
        while self._load(session_id).state != "finished" and time.monotonic() < last:  # noqa: ASYNC110 - the ledger tells nobody
            await asyncio.sleep(_ENDING_S)

    async def _settle(self, row: Run) -> Result:
        """Do on disk what follows from it, as often as needed: each step does only what is missing."""
        report, conclusion = load_report(self.home, row.session_id)
        steps: tuple[FinishStep, ...] = ()
        if self.settle is not None and read_run_config(row.details).finishes:
            try:
                steps = await asyncio.to_thread(self.settle, row, conclusion)
            except RemitError as error:  # reported with the rest, and no reason to have no result
                from remit.runs.finish.steps import fail  # noqa: PLC0415 - 20 ms, and whoever settles has it already

                steps = (fail("finish", error),)
        report = self._reports[row.session_id] = add_steps(report, steps, root=read_run_config(row.details).root)
        with self.home.ledger.transaction(durable=True) as db:
            if self._load(row.session_id).state != "finished":
                store_texts(self.home, row.session_id, {"report": render_report(report, conclusion)}, db=db)
                advance(db, row.session_id, "finished")
        return report

    # --- others -------------------------------------------------------------------------------------------------------

    def cancel(self, session_id: str, *, reason: str = "") -> list[str]:
        """Cancel a run and all nested runs, whichever process supervises them; the sessions that were cancelled."""
        told = list_branch(self.home.ledger, session_id)
        with self.home.ledger.transaction() as db:
            for each in told:
                add_event(db, "cancel", {"reason": reason}, session_id=each)
        self.slot_queue.call()
        for each in told:
            if each in self.active:
                self.active[each].cancel(reason)
            self.request_end(each)
        return told

    def request_end(self, session_id: str) -> None:
        """Ask the shim of a run to end its agent."""
        number = count_attempts(self.home.ledger, session_id)
        if number:
            send_control(find_folder(self.home, session_id, number), "cancel")

    def is_cancelled(self, session_id: str) -> bool:
        """Whether somebody has asked for its end."""
        with self.home.ledger.reading() as db:
            query = "SELECT 1 FROM events WHERE session_id = ? AND kind = 'cancel' LIMIT 1"
            return db.execute(query, (session_id,)).fetchone() is not None

    def find_cancel_reason(self, session_id: str) -> str:
        """Why somebody has asked for its end, as they said it."""
        event = load_last_event(self.home.ledger, session_id, "cancel")
        return "" if event is None else str(event.details.get("reason") or "")

    def find_site(self, row: Run, root: str, *, since: Mapping[str, int]) -> SharedTree:
        """Who else worked in the same folder meanwhile. `since`: the sessions that the run continues."""
        loops = [each for each in self.active.values() if isinstance(each, RunLoop) and each.config.root == root]
        live = {each.run.session_id: each.describe_writes() for each in loops}
        return find_site(self.home, row, root, since=since, live=live)

    def report(self, session_id: str, kind: str, details: Mapping[str, Any]) -> None:
        """Tell those who follow; where it can't be written down, nobody is told, and the work goes on."""
        with suppress(RemitError), self.home.ledger.transaction() as db:
            add_event(db, kind, details, session_id=session_id)

    # --- recovery -----------------------------------------------------------------------------------------------------

    def claim_abandoned(self) -> list[str]:
        """Take over every delegation whose supervisor is gone; the sessions that are this one's now."""
        clear_departed(self.home)
        rows = list_runs(self.home.ledger, only_open=True, limit=100_000)
        gone = {owner: not is_present(self.home, owner) for owner in {row.owner for row in rows}}
        left = [row for row in reversed(rows) if gone[row.owner] and self._is_mute(row)]
        return [row.session_id for row in left if claim(self.home.ledger, row, self.id)]

    def is_left(self, row: Run) -> bool:
        """Whether nobody but a supervisor will bring a delegation to its end."""
        return not is_present(self.home, row.owner) and self._is_mute(row)

    def _is_mute(self, row: Run) -> bool:
        """Whether nothing more is heard of it: a harness reports on its own runs, until it is judged or long late."""
        if row.owner == REMOTE_OWNER or self._is_out_of_reach(row):
            return False
        if row.owner != HOOKS_OWNER or row.state == "finishing":
            return True
        return read_clock_ms() > (row.deadline_ms or 0) + GRACE_MS

    def recover_soon(self) -> list[asyncio.Task[Result]]:
        """Drive what others have left, beside whatever is being done."""
        tasks = [asyncio.ensure_future(self.run_to_end(session)) for session in self.claim_abandoned()]
        for task in tasks:
            self._recovering.add(task)
            task.add_done_callback(self._forget)
        return tasks

    def _forget(self, task: asyncio.Task[Result]) -> None:
        self._recovering.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, RemitError):  # else whoever waits for it tries again
            raise error

"""The backend: where runs execute. The local backend is this machine, with ledger and shims.

A run is in the ledger before a backend gets its session id, and a backend gets nothing else. The conformance suite is
`remit.testing.backends`.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol

from remit.attempts.folders import list_living
from remit.errors import BusyError, RemitError, UsageError
from remit.ledger.runs import list_runs, load_run
from remit.ledger.slots import claim
from remit.runs.results.full_result import load_report

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from remit.ledger.runs import Run
    from remit.result import Result

    Admit = Callable[[str], Awaitable[None]]
    """Called with the session that was admitted, before the next admission."""
    from collections.abc import AsyncIterator, Iterable

    from remit.runs.supervisor.supervisor import Supervisor


class Backend(Protocol):
    """Where runs execute."""

    @property
    def id(self) -> str:
        """The id of the supervisor: the `owner` in the rows of this backend's runs."""
        ...

    def admitting(self, environ: Mapping[str, str]) -> AbstractAsyncContextManager[Admit]:
        """Lock the call tree of the caller in an environment, so that no sibling is admitted at the same time."""
        ...

    async def submit(self, session_id: str) -> None:
        """Start to execute a run of this backend. Repeated calls have no effect."""
        ...

    async def wait(self, session_id: str) -> Result:
        """Wait until a run is finished, whichever process executes it, and return its whole result."""
        ...

    async def cancel(self, session_id: str, *, reason: str = "") -> Sequence[str]:
        """Cancel a run and all nested runs, and return their sessions once none of their processes is alive."""
        ...

    def list(self, *, only_open: bool = True) -> Sequence[Run]:
        """The runs, newest first."""
        ...

    async def recover(self) -> Sequence[str]:
        """Take over the runs of backends that no longer exist; the sessions that were taken over."""
        ...

    async def close(self) -> None:
        """Stop supervising. Agents continue, and the next backend takes their runs over."""
        ...


_POLL_S = 0.1
_ENDING_S = 0.02
CANCEL_S = 30.0
"""How long `cancel` waits for the processes of cancelled runs."""


class LocalBackend:
    """The backend of this machine. Runs of other processes are followed in the ledger."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        self.home = supervisor.home
        self._tasks: dict[str, asyncio.Task[Result]] = {}

    @property
    def id(self) -> str:
        """The supervisor of this process."""
        return self.supervisor.id

    @asynccontextmanager
    async def admitting(self, environ: Mapping[str, str]) -> AsyncIterator[Admit]:  # noqa: ARG002 - the ledger has the callers
        """No lock is needed: a run is admitted in one transaction of the ledger."""
        yield _note_nothing

    async def submit(self, session_id: str) -> None:
        """Start to execute a run of this supervisor."""
        if session_id not in self._tasks and not self.supervisor.is_active(session_id):
            task = self._tasks[session_id] = asyncio.ensure_future(self.supervisor.run_to_end(session_id))
            task.add_done_callback(partial(self._forget, session_id))

    def _forget(self, session_id: str, task: asyncio.Task[Result]) -> None:
        """Forget a task that succeeded: its result is in the ledger. An error is kept for the next waiter."""
        if not task.cancelled() and task.exception() is None and self._tasks.get(session_id) is task:
            del self._tasks[session_id]

    async def wait(self, session_id: str) -> Result:
        """Wait until a run is finished, and take it over if its supervisor no longer exists."""
        while True:
            if session_id in self._tasks:
                return await self._attend(session_id)
            row = self._load(session_id)
            if row.state == "finished":
                return load_report(self.home, session_id)[0]
            self.supervisor.check_reachable(row)
            if self.supervisor.has_stopped(row):
                await self.submit(session_id)
                continue
            if self.supervisor.is_abandoned(row) and claim(self.home.ledger, row, self.id):
                await self.submit(session_id)
                continue
            await asyncio.sleep(_POLL_S)

    async def _attend(self, session_id: str) -> Result:
        """Wait for a run of this process. If supervising fails, its agent continues, and `wait` can take it over."""
        task = self._tasks[session_id]
        try:
            return await asyncio.shield(task)
        except RemitError as error:
            if self._tasks.get(session_id) is task:
                del self._tasks[session_id]
                hint = f"the run isn't finished; to continue it: remit wait {session_id}"
                error.hint = f"{error.hint}; {hint}" if error.hint else hint
            raise

    async def cancel(self, session_id: str, *, reason: str = "") -> Sequence[str]:
        """Cancel a run and all nested runs, whichever process supervises them; return when none of them is alive.

        Raises `BusyError` if something stays alive: a process that is frozen or waits for a disk can't be ended.
        """
        self._load(session_id)
        cancelled = self.supervisor.cancel(session_id, reason=reason)
        last = time.monotonic() + CANCEL_S
        while living := {each.session_id for each in list_living(self.home)} & set(cancelled):
            if time.monotonic() > last:
                raise make_unended_error(living)
            await asyncio.sleep(_ENDING_S)
            for each in living:  # its shim may accept requests only now
                self.supervisor.request_end(each)
        return cancelled

    def list(self, *, only_open: bool = True) -> Sequence[Run]:
        """The runs, newest first."""
        return list_runs(self.home.ledger, only_open=only_open, limit=10_000)

    async def recover(self) -> Sequence[str]:
        """Take over the runs of supervisors that no longer exist."""
        taken = self.supervisor.claim_abandoned()
        for session_id in taken:
            await self.submit(session_id)
        return taken

    async def close(self) -> None:
        """Stop supervising. Agents continue."""
        tasks = [task for task in self._tasks.values() if not task.done()]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError, Exception):
                await task
        self.supervisor.end()

    def _load(self, session_id: str) -> Run:
        row = load_run(self.home.ledger, session_id)
        if row is None:
            raise UsageError(f"there is no run {session_id}", hint="remit ps --all shows what there is")
        return row


def make_unended_error(sessions: Iterable[str]) -> BusyError:
    """The error for runs that are cancelled and still alive."""
    message = f"cancelled, but still alive after {CANCEL_S:.0f} s: {', '.join(sorted(sessions))}"
    return BusyError(message, hint="a frozen process, or one that waits for a disk, ends later; see: remit ps")


async def _note_nothing(session_id: str) -> None:
    """Do nothing: the ledger has the run."""

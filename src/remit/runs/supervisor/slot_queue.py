"""The slot queue: the runs of this process that wait for a slot, first come, first served.

One query of the ledger serves all waiting runs: it starts as many as there are free slots, and ends cancelled ones. It
is made when a slot of this process becomes free, and regularly for the slots of other processes.
"""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import StateError
from remit.ledger.events import add_event, read_clock_ms
from remit.ledger.slots import list_cancelled, list_orphaned, list_waiting_elsewhere, take_slot
from remit.model import NOTHING
from remit.runs.admission.run_config import read_run_config
from remit.runs.admission.tickets import CARRIED

if TYPE_CHECKING:
    from remit.ledger.runs import Run
    from remit.ledger.store import Connection
    from remit.runs.supervisor.supervisor import Supervisor

_POLL_S = (0.01, 0.25)
"""The shortest and longest pause between two queries."""
_RECOVER_EVERY_S = 2.0
_YIELD_MS = 600
"""How long a slot is left to older runs of other processes; later, they won't take it."""


class _Waiter(NamedTuple):
    row: Run
    limit_ms: int | None
    """The deadline of its caller."""
    ended: asyncio.Future[str]
    """The result: empty if the run may start, otherwise its stop reason: cancelled or timeout."""


class SlotQueue:
    """The runs that wait for a slot."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._waiters: dict[str, _Waiter] = {}
        self._called = asyncio.Event()
        self._admitting: asyncio.Task[None] | None = None
        self._yields_since_ms: int | None = None
        """Since when a slot is left to other processes."""

    async def wait(self, row: Run, limit_ms: int | None) -> str:
        """Wait until a run has a slot; return "", or the stop reason of a run that ended before: cancelled or timeout.

        The run's time begins with its slot, and ends no later than its caller's.
        """
        loop = asyncio.get_running_loop()
        waiter = _Waiter(row, limit_ms, loop.create_future())
        self._waiters[row.session_id] = waiter
        self._called.set()
        if self._admitting is None or self._admitting.done():
            self._yields_since_ms = None
            context = copy_context()
            context.run(CARRIED.set, NOTHING)  # the first waiting run isn't the caller of the others
            self._admitting = loop.create_task(self._admit_waiting(), context=context)
        try:
            return await waiter.ended
        finally:
            self._waiters.pop(row.session_id, None)

    def call(self) -> None:
        """Query the ledger soon: a slot may be free, or a run was cancelled."""
        self._called.set()

    def end(self) -> None:
        """Stop admitting runs."""
        if self._admitting is not None:
            self._admitting.cancel()

    async def _admit_waiting(self) -> None:
        """Query the ledger while runs wait; if that fails, every waiting run gets the error."""
        try:
            await self._poll()
        except asyncio.CancelledError:
            for waiter in self._waiters.values():
                waiter.ended.cancel()
            raise
        except BaseException as error:
            for waiter in self._waiters.values():
                _resolve(waiter, error)
            if not isinstance(error, Exception):
                raise

    async def _poll(self) -> None:
        pause, waited = _POLL_S[0], 0.0
        while self._waiters:
            self._called.clear()
            decided = await self._supervisor.group_commit.write(self._assign_slots)
            for waiter, word in decided:
                _resolve(waiter, word)
            pause = _POLL_S[0] if decided else min(pause * 1.5, _POLL_S[1])
            waited = 0.0 if decided else waited + pause
            if waited >= _RECOVER_EVERY_S:  # the processes that have the slots may be dead
                waited = 0.0
                self._supervisor.recover_soon()
            await self._wait(pause)

    async def _wait(self, seconds: float) -> None:
        handle = asyncio.get_running_loop().call_later(seconds, self._called.set)
        try:
            await self._called.wait()
        finally:
            handle.cancel()

    def _assign_slots(self, db: Connection) -> list[tuple[_Waiter, str | Exception]]:
        """Assign free slots; return the runs that leave the queue and their results, which apply after the commit."""
        now_ms = read_clock_ms()
        unwanted = list_cancelled(db)
        left = list_orphaned(db) if any(waiter.row.parent_id for waiter in self._waiters.values()) else frozenset()
        decided: list[tuple[_Waiter, str | Exception]] = []
        full: set[str] = set()
        strangers = list_waiting_elsewhere(db, self._supervisor.id)
        is_patient = self._yields_since_ms is None or now_ms - self._yields_since_ms < _YIELD_MS
        for session_id, waiter in sorted(self._waiters.items(), key=lambda each: each[1].row.created_ms):
            row = waiter.row
            if waiter.ended.done():
                continue
            if session_id in left and session_id not in unwanted:
                add_event(db, "cancel", {"reason": "its caller had ended"}, session_id=session_id)
            if session_id in unwanted or session_id in left:
                decided.append((waiter, "cancelled"))
            elif waiter.limit_ms is not None and now_ms >= waiter.limit_ms:
                decided.append((waiter, "timeout"))
            elif full.isdisjoint(("running", f"agent {row.agent}", f"tree {row.root_id}")):
                deadline_ms = find_deadline(row, now_ms, waiter.limit_ms)
                try:
                    ahead = sum(since_ms < row.created_ms for since_ms in strangers) if is_patient else 0
                    limit = take_slot(db, row, self._supervisor.slots, deadline_ms=deadline_ms, ahead=ahead)
                except StateError as error:  # another process has taken it over
                    decided.append((waiter, error))
                    continue
                if limit is None:
                    decided.append((waiter, ""))
                else:
                    full.add("running" if limit == "line" else limit)
                    self._yield_turn(now_ms, is_needed=limit == "line")
        return decided

    def _yield_turn(self, now_ms: int, *, is_needed: bool) -> None:
        """Record since when this process leaves a free slot to other processes."""
        self._yields_since_ms = (self._yields_since_ms or now_ms) if is_needed else None


def _resolve(waiter: _Waiter, word: str | BaseException) -> None:
    if waiter.ended.done():
        return
    if isinstance(word, BaseException):
        waiter.ended.set_exception(word)
    else:
        waiter.ended.set_result(word)


def find_deadline(row: Run, now_ms: int, limit_ms: int | None) -> int:
    """Return the deadline of a run that starts now."""
    deadline_ms = now_ms + int(read_run_config(row.details).timeout_s * 1000)
    return deadline_ms if limit_ms is None else min(deadline_ms, limit_ms)

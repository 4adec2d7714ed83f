"""Those who wait for a slot: in their order, past those who may not, and told when nobody wants them any more."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from remit.errors import StorageError
from remit.ledger.events import read_clock_ms
from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run, advance, load_run
from remit.ledger.slots import Slots
from remit.runs.admission.run_config import RunConfig
from remit.runs.supervisor.supervisor import Supervisor

if TYPE_CHECKING:
    from pathlib import Path

    from remit.ledger.store import Connection


def make_broker(folder: Path, slots: Slots) -> Supervisor:
    return Supervisor(Home(str(folder)), slots=slots, environ={})


def admit(supervisor: Supervisor, name: str, *, agent: str = "worker", parent: str | None = None) -> Run:
    details = RunConfig(root=supervisor.home.root, timeout_s=60).as_details()
    row = Run(name, agent, 1, ("orchestrator", agent), owner=supervisor.id, details=details, parent_id=parent)
    return add_run(supervisor.home.ledger, row)


def admit_later(supervisor: Supervisor, name: str) -> Run:
    """Admit one a millisecond after those before it."""
    began_ms = read_clock_ms()
    while read_clock_ms() <= began_ms + 1:
        pass
    return admit(supervisor, name)


def settle(supervisor: Supervisor, name: str) -> None:
    with supervisor.home.ledger.transaction() as db:
        advance(db, name, "finished")
    supervisor.slot_queue.call()


def get_state(supervisor: Supervisor, name: str) -> str:
    row = load_run(supervisor.home.ledger, name)
    assert row is not None
    return row.state


async def wait_a_moment() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_they_are_let_in_in_their_order_as_slots_become_free(tmp_path: Path) -> None:
    async def run() -> None:
        supervisor = make_broker(tmp_path, Slots(running=2))
        names = [f"session-{number}" for number in range(5)]
        waits = [asyncio.ensure_future(supervisor.slot_queue.wait(admit(supervisor, name), None)) for name in names]
        await wait_a_moment()
        assert [get_state(supervisor, name) for name in names] == ["running"] * 2 + ["admitted"] * 3
        for place, name in enumerate(names[:3]):
            settle(supervisor, name)
            await asyncio.wait_for(waits[place + 2], 5)
            assert [get_state(supervisor, each) for each in names].count("running") == 2
        assert [await wait for wait in waits] == [""] * 5
        supervisor.end()

    asyncio.run(run())


def test_who_came_first_is_first_also_in_another_process(tmp_path: Path) -> None:
    async def run() -> None:
        one, other = (make_broker(tmp_path, Slots(running=1)) for _ in range(2))
        assert await one.slot_queue.wait(admit(one, "first"), None) == ""
        rows = [
            admit_later(supervisor, name) for supervisor, name in ((one, "second"), (other, "third"), (one, "fourth"))
        ]
        waits = {row.session_id: asyncio.ensure_future(supervisor.slot_queue.wait(row, None))
                 for supervisor, row in ((one, rows[2]), (other, rows[1]), (one, rows[0]))}  # fmt: skip
        begun = []
        for name in ("first", "second", "third"):
            await asyncio.sleep(0.05)
            settle(one, name)
            other.slot_queue.call()
            done, _ = await asyncio.wait(waits.values(), return_when="FIRST_COMPLETED", timeout=5)
            begun += [key for key, wait in waits.items() if wait in done]
            waits = {key: wait for key, wait in waits.items() if wait not in done}
        assert begun == ["second", "third", "fourth"]
        one.end()
        other.end()

    asyncio.run(run())


@pytest.mark.slow
def test_one_that_nobody_lets_in_holds_up_no_other(tmp_path: Path) -> None:
    async def run() -> None:
        supervisor = make_broker(tmp_path, Slots(running=1))
        lost = admit(supervisor, "lost")
        with supervisor.home.ledger.transaction() as db:
            db.execute("UPDATE runs SET owner = 'nobody' WHERE session_id = ?", (lost.session_id,))
        assert await asyncio.wait_for(supervisor.slot_queue.wait(admit_later(supervisor, "next"), None), 5) == ""
        supervisor.end()

    asyncio.run(run())


def test_what_an_agent_handed_on_does_not_begin_once_the_agent_has_ended(tmp_path: Path) -> None:
    async def run() -> None:
        supervisor = make_broker(tmp_path, Slots(running=1))
        parent = admit(supervisor, "parent")
        assert await asyncio.wait_for(supervisor.slot_queue.wait(parent, None), 5) == ""
        waits = [
            asyncio.ensure_future(supervisor.slot_queue.wait(admit(supervisor, name, parent=above), None))
            for name, above in (("child", "parent"), ("lost", "nobody-knows"), ("other", None))
        ]
        assert await asyncio.wait_for(waits[1], 5) == "cancelled"
        assert get_state(supervisor, "child") == "admitted"  # its caller works, and has the slot
        settle(supervisor, "parent")
        assert await asyncio.wait_for(waits[0], 5) == "cancelled"
        assert await asyncio.wait_for(waits[2], 5) == ""
        assert [get_state(supervisor, name) for name in ("child", "lost", "other")] == [
            "admitted",
            "admitted",
            "running",
        ]
        assert supervisor.find_cancel_reason("child") == "its caller had ended"
        supervisor.end()

    asyncio.run(run())


def test_who_may_not_begin_does_not_hold_up_those_behind(tmp_path: Path) -> None:
    async def run() -> None:
        supervisor = make_broker(tmp_path, Slots(per_agent=1))
        rows = [admit(supervisor, "one"), admit(supervisor, "two"), admit(supervisor, "three", agent="other")]
        waits = [asyncio.ensure_future(supervisor.slot_queue.wait(row, None)) for row in rows]
        assert await asyncio.wait_for(waits[2], 5) == ""
        assert [get_state(supervisor, name) for name in ("one", "two", "three")] == ["running", "admitted", "running"]
        settle(supervisor, "one")
        assert await asyncio.wait_for(waits[1], 5) == ""
        supervisor.end()

    asyncio.run(run())


def test_who_is_not_wanted_or_has_no_time_left_leaves_the_line(tmp_path: Path) -> None:
    async def run() -> None:
        supervisor = make_broker(tmp_path, Slots(running=1))
        assert await supervisor.slot_queue.wait(admit(supervisor, "first"), None) == ""
        unwanted = asyncio.ensure_future(supervisor.slot_queue.wait(admit(supervisor, "unwanted"), None))
        late = asyncio.ensure_future(supervisor.slot_queue.wait(admit(supervisor, "late"), read_clock_ms() + 50))
        await wait_a_moment()
        assert supervisor.cancel("unwanted") == ["unwanted"]
        assert await asyncio.wait_for(unwanted, 5) == "cancelled"
        assert await asyncio.wait_for(late, 5) == "timeout"
        assert get_state(supervisor, "unwanted") == get_state(supervisor, "late") == "admitted"
        supervisor.end()

    asyncio.run(run())


def test_a_slot_that_another_process_leaves_is_found(tmp_path: Path) -> None:
    async def run() -> None:
        supervisor, other = make_broker(tmp_path, Slots(running=1)), make_broker(tmp_path, Slots(running=1))
        assert await other.slot_queue.wait(admit(other, "theirs"), None) == ""
        own = asyncio.ensure_future(supervisor.slot_queue.wait(admit(supervisor, "ours"), None))
        await asyncio.sleep(0.05)
        assert not own.done()
        settle(other, "theirs")
        assert await asyncio.wait_for(own, 5) == ""
        supervisor.end()
        other.end()

    asyncio.run(run())


def test_what_is_wrong_with_the_ledger_is_told_to_all_who_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Connection) -> frozenset[str]:
        raise StorageError("the disk is gone", hint="look for it")

    async def run() -> None:
        supervisor = make_broker(tmp_path, Slots(running=1))
        rows = [admit(supervisor, "one"), admit(supervisor, "two")]
        monkeypatch.setattr("remit.runs.supervisor.slot_queue.list_cancelled", fail)
        told = await asyncio.gather(*(supervisor.slot_queue.wait(row, None) for row in rows), return_exceptions=True)
        assert [type(each) for each in told] == [StorageError] * 2
        monkeypatch.undo()
        assert await asyncio.wait_for(supervisor.slot_queue.wait(rows[0], None), 5) == ""
        supervisor.end()

    asyncio.run(run())


def test_nobody_waits_in_a_line_that_has_ended(tmp_path: Path) -> None:
    async def run() -> None:
        supervisor = make_broker(tmp_path, Slots(running=1))
        assert await supervisor.slot_queue.wait(admit(supervisor, "first"), None) == ""
        waits = asyncio.ensure_future(supervisor.slot_queue.wait(admit(supervisor, "second"), None))
        await wait_a_moment()
        supervisor.end()
        await asyncio.wait({waits}, timeout=5)
        assert waits.cancelled()

    asyncio.run(run())

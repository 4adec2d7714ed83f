"""Live: what happened after a number, what is gone, and the lines of a log."""

from __future__ import annotations

import asyncio
import os
import shlex
import threading
import time
from typing import TYPE_CHECKING

import pytest

from remit.errors import UsageError
from remit.ledger.events import add_event
from remit.ledger.retention import delete_old_runs
from remit.runs.request import Request
from remit.runs.workspace import Workspace
from remit.views import events, logs
from tests.support.ledger_rows import Kept, answer, insert, name, opened, run

if TYPE_CHECKING:
    from pathlib import Path

    from remit.ledger.home import Home
    from remit.schemas import LogLineObject

SECRET = "ghp_" + "a1B2" * 9


def tell(home: Home, count: int, session_id: str | None = None, text: str = "x") -> None:
    with home.ledger.transaction() as db:
        for number in range(count):
            add_event(db, "progress", {"activity": f"{text} {number}"}, session_id=session_id)


# --- events ----------------------------------------------------------------------------------------------------------


def test_where_nothing_happened_there_is_nothing_to_follow(root: Path) -> None:
    with opened(root) as home:
        assert events.find_last(home) == 0
        assert events.list_changes(home, after=0) == events.LedgerChanges([], 0, 0)
        assert events.list_changes(home, after=7).is_reset
        assert not home.is_made


def test_every_event_comes_once_page_after_page(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0, state="running"), Kept(1, parent=0, root=0))
        tell(home, 25, name(0))
        tell(home, 25, name(1))
        tell(home, 3)
        seen, after = [], 0
        while (page := events.list_changes(home, after=after, limit=7)).items:
            assert not page.is_reset
            seen += page.items
            after = page.next
        assert [item["number"] for item in seen] == [*range(1, 54)]
        assert after == page.last == events.find_last(home) == 53
        assert {(item["session_id"], item["root_id"]) for item in seen} == {
            (name(0), name(0)),
            (name(1), name(0)),
            (None, None),
        }


def test_of_one_run_only_its_own_events_come(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0), Kept(1, parent=0, root=0), Kept(2))
        for number in range(3):
            tell(home, 4, name(number))
        page = events.list_changes(home, after=2, session=name(1))
        assert [item["number"] for item in page.items] == [3, 4, 5, 6, 7, 8]
        assert page.next == 12  # the rest is another run's, and need not be asked for again


def test_who_missed_what_is_forgotten_is_told(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0), Kept(1, state="running"))
        tell(home, 5, name(0))
        tell(home, 5, name(1))
        at = events.find_last(home)
        assert delete_old_runs(home, days=1, megabytes=1000).events == 5
        for after, is_reset in ((0, True), (4, True), (5, False), (at, False), (at + 1, False), (at + 2, True)):
            assert events.list_changes(home, after=after).is_reset is is_reset
        assert events.list_changes(home, after=0).next == at + 1
        tell(home, 1, name(1))
        told = events.list_changes(home, after=at).items
        assert [(item["number"], item["kind"]) for item in told] == [(at + 1, "forgotten"), (at + 2, "progress")]
        assert told[0]["details"] == {"runs": 1}
        delete_old_runs(home, days=1, megabytes=1000)
        assert events.find_last(home) == at + 2  # where nothing is forgotten nothing is told


def test_numbers_never_go_back(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0))
        tell(home, 5, name(0))
        delete_old_runs(home, days=1, megabytes=1000)
        assert events.find_last(home) == 6  # and one that says so


def test_who_is_far_behind_loads_everything_anew(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_BEHIND", 10)
    with opened(root) as home:
        tell(home, 12)
        assert events.list_changes(home, after=1) == events.LedgerChanges([], 12, 12, is_reset=True)
        assert not events.list_changes(home, after=2).is_reset


def test_details_are_short_and_without_secrets(root: Path) -> None:
    with opened(root) as home:
        with home.ledger.transaction() as db:
            add_event(db, "progress", {"activity": f"with {SECRET}", "long": "y" * 100_000, "tokens": 3})
        (item,) = events.list_changes(home, after=0).items
        assert item["details"]["activity"] == "with [redacted github]"
        assert item["details"]["tokens"] == 3
        assert len(str(item)) < 3000


# --- logs ------------------------------------------------------------------------------------------------------------


def test_the_lines_of_a_log_are_numbered_and_gone_on_with(root: Path) -> None:
    result = run(root, f"for i in 1 2 3 4 5; do echo line $i; done; echo {SECRET}", reasks=0)
    whole = logs.load_log(result.session_id)
    assert whole["finished"]
    assert [line["text"] for line in whole["items"]] == [*(f"line {i}" for i in range(1, 6)), "[redacted github]"]
    assert [line["number"] for line in whole["items"]] == [1, 2, 3, 4, 5, 6]
    rest = logs.load_log(result.session_id, after=4)
    assert rest["items"] == whole["items"][4:]
    part = logs.load_log(result.session_id, after=1, limit=2)
    assert (part["items"], part["finished"], part["next"]) == (whole["items"][1:3], False, 3)
    with pytest.raises(UsageError, match="no attempt 2"):
        logs.load_log(result.session_id, attempt=2)


def test_a_tail_reads_on_from_any_thread_until_it_is_over(root: Path) -> None:
    gate = root / "gate"

    async def play() -> tuple[str, list[int], bool, list[str]]:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            script = f"echo one; while [ ! -e {gate} ]; do sleep 0.02; done; echo two; {answer()}"
            prepared = await ws.start(_request(script))
            tail = logs.LogTail(prepared.row.session_id)
            first = await _read_until(tail, "one")
            gate.touch()
            await ws.wait(prepared.row.session_id)
            rest: list[str] = []
            last = await asyncio.to_thread(tail.read)
            rest += [line["text"] for line in last["items"]]
            return first[0]["text"], [line["number"] for line in last["items"]][:1], last["finished"], rest

    first, numbers, is_over, rest = asyncio.run(play())
    assert (first, numbers, is_over, rest[0]) == ("one", [2], True, "two")


def _request(script: str) -> Request:
    return Request(None, "Go.", command=f"sh -c {shlex.quote(script)}", timeout_s=60, reasks=0)


async def _read_until(tail: logs.LogTail, text: str) -> list[LogLineObject]:
    last = time.monotonic() + 30
    found: list[LogLineObject] = []
    while time.monotonic() < last:
        lines = await asyncio.to_thread(tail.read)
        assert not lines["finished"]
        found.extend(lines["items"])
        if any(line["text"] == text for line in found):
            return found
        await asyncio.sleep(0.02)
    raise AssertionError(f"{text} never came")


def test_a_tail_is_read_by_one_thread_after_another(root: Path) -> None:
    result = run(root, "for i in 1 2 3 4 5 6; do echo $i; done", reasks=0)
    tail = logs.LogTail(result.session_id)
    found: list[str] = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: found.extend(line["text"] for line in tail.read(2)["items"]))
        thread.start()
        thread.join()
    assert found == ["1", "2", "3", "4", "5", "6"]

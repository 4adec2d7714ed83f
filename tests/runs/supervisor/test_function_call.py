"""Functions as agents: each in a thread of its own, so that those that hang hold up nobody."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from contextvars import ContextVar
from typing import TYPE_CHECKING

import pytest

from remit.runs.request import Request
from remit.runs.supervisor.function_call import LEFT, FunctionCall
from remit.runs.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CALLER: ContextVar[str] = ContextVar("CALLER", default="nobody")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, and whoever runs the tests is nobody's agent."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What hangs until the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.slow
@pytest.mark.thorough
def test_functions_that_hang_hold_up_nobody_and_are_told(root: Path, gate: threading.Event) -> None:
    many = 40  # more than any pool of threads would have

    async def run() -> tuple[list[tuple[str, tuple[str, ...]]], float]:
        async with Workspace.open(root) as ws:
            hanging = [
                Request(f"f{number}", "Hang.", function=lambda _: gate.wait(), timeout_s=3) for number in range(many)
            ]
            beside = Request("quick", "Say it.", function=lambda _: "no return", timeout_s=60)
            began = time.monotonic()
            *hung, _ = await asyncio.gather(*(ws.run(request) for request in (*hanging, beside)))
            return [(each.stop_reason, each.notes) for each in hung], time.monotonic() - began

    (root / "remit.toml").write_text(f"[limits]\nrunning = {many + 1}\n")
    told, seconds = asyncio.run(run())
    assert len(told) == many
    assert all(stop_reason == "timeout" and LEFT in notes for stop_reason, notes in told)
    assert threading.active_count() > many  # they did hang
    assert seconds < 30


def test_a_function_has_the_context_of_whoever_calls_it() -> None:
    async def run() -> str:
        CALLER.set("the caller")
        return await FunctionCall(lambda _: CALLER.get(), "Do it.").answer

    assert asyncio.run(run()) == "the caller"


def test_a_function_that_would_end_the_program_ends_only_itself() -> None:
    def iterate(_: str) -> object:
        return next(iter(()))

    async def run() -> None:
        for function, told in ((lambda _: sys.exit(3), "SystemExit: 3"), (iterate, "StopIteration")):
            with pytest.raises(RuntimeError, match=told):
                await FunctionCall(function, "Do it.").answer

    asyncio.run(run())


def test_one_that_ends_after_everything_else_disturbs_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    gate, ended = threading.Event(), threading.Event()

    def work(_: str) -> str:
        gate.wait()
        ended.set()
        return "too late"

    async def run() -> tuple[str, ...]:
        call = FunctionCall(work, "Do it.")
        await asyncio.sleep(0.01)
        call.cancel()
        return call.notes

    assert asyncio.run(run()) == (LEFT,)
    gate.set()
    assert ended.wait(5)
    for thread in threading.enumerate():
        if thread.name == "remit-function":
            thread.join(5)
    assert capfd.readouterr() == ("", "")

"""Keeps the timeout of a test through its subtests, so that of several that hang each one fails."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer() -> Generator[None, Any, Any]:
    """Repeat the alarm: after a subtest that it ends, the test goes on with the next one."""
    is_set = yield
    seconds, _ = signal.getitimer(signal.ITIMER_REAL)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    return is_set


@pytest.hookimpl(wrapper=True)
def pytest_exception_interact(report: pytest.CollectReport | pytest.TestReport) -> Generator[None, Any, Any]:
    """Restore the alarm after a subtest that failed: pytest-timeout takes each failure for the end of its test."""
    handler, timer = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    done = yield
    if isinstance(report, pytest.SubtestReport):
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *timer)
    return done

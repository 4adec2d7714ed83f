"""The report of `remit doctor`: rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from remit.config import Settings

    Look = Callable[["DoctorContext"], Iterable["HealthCheck"]]

Condition = Literal["ok", "warning", "problem"]


class HealthCheck(NamedTuple):
    """One thing that was looked at: how it is, in a sentence, and what to do about it."""

    name: str
    state: Condition
    message: str
    hint: str = ""


class DoctorContext(NamedTuple):
    """What is looked at: a workspace, and what it has set."""

    root: str
    settings: Settings


class DoctorReport(NamedTuple):
    """Everything that was looked at."""

    root: str
    checks: tuple[HealthCheck, ...]

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong. A warning is something to know, not something wrong."""
        return all(check.state != "problem" for check in self.checks)

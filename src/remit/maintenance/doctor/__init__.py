"""`remit doctor`: check the machine, the workspace, and the files in it. Each check has a time limit.

A check that fails or hangs becomes a row of the report, so checks import what they need in their own functions.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.config import Settings
from remit.errors import RemitError
from remit.storage.settings import find_workspace, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    CheckFunction = Callable[["DoctorContext"], Iterable["HealthCheck"]]

__all__ = ["DoctorContext", "DoctorReport", "HealthCheck", "check_health"]

LIMIT_SECONDS = 15.0
"""The time limit of a check. A slow part of a check has a shorter limit of its own."""


class HealthCheck(NamedTuple):
    """One row of the report: the name of a check, a state, a sentence, and a hint."""

    name: str
    state: Literal["ok", "warning", "problem"]
    message: str
    hint: str = ""


class DoctorContext(NamedTuple):
    """The workspace to check, and its settings."""

    root: str
    settings: Settings


class DoctorReport(NamedTuple):
    """All rows of one `remit doctor`."""

    root: str
    checks: tuple[HealthCheck, ...]

    @property
    def is_well(self) -> bool:
        """Whether no check found a problem. Warnings don't count."""
        return all(check.state != "problem" for check in self.checks)


def check_health(*, seconds: float = LIMIT_SECONDS) -> DoctorReport:
    """Run all checks and return their rows. The programs of harnesses are asked meanwhile."""
    from remit.maintenance.doctor import cluster, harnesses, machine, runs, workspace, workspace_files
    from remit.maintenance.doctor.settings import check_settings

    root, rows = find_workspace(), []
    try:
        context = DoctorContext(root, load_settings(root))
    except RemitError as error:
        context = DoctorContext(root, Settings())
        rows = [HealthCheck("settings", "problem", error.message, error.hint)]
    programs = [
        _CheckThread(f"harness {name}", harnesses.make_program_check(name), context) for name in harnesses.HARNESSES
    ]
    if not rows:
        rows = _CheckThread("settings", check_settings, context).wait(seconds)
    modules = (machine, workspace, workspace_files, harnesses, runs, cluster)
    for name, check in [each for module in modules for each in module.CHECKS]:
        rows += _CheckThread(name, check, context).wait(seconds)
    found = [row for program in programs for row in program.wait(seconds)]
    return DoctorReport(root, (*rows, *(found or [harnesses.NO_HARNESS])))


class _CheckThread:
    """A check in a thread of its own, which isn't awaited after its time limit."""

    def __init__(self, name: str, check: CheckFunction, context: DoctorContext) -> None:
        self.name = name
        self.rows: list[HealthCheck] | None = None
        self.thread = threading.Thread(target=self._run, args=(check, context), daemon=True)
        self.thread.start()

    def _run(self, check: CheckFunction, context: DoctorContext) -> None:
        try:
            self.rows = list(check(context))
        except RemitError as error:
            self.rows = [HealthCheck(self.name, "problem", error.message, error.hint)]
        except OSError as error:
            message = f"can't be checked: {(error.strerror or str(error)).lower()}"
            self.rows = [HealthCheck(self.name, "problem", message, "check the disk and the limit of open files")]
        except Exception as error:  # noqa: BLE001 - a check with a bug becomes a row, and the other checks continue
            message = f"can't be checked: {type(error).__name__}: {error}"
            hint = "this is a bug in Remit; the other rows are valid"
            self.rows = [HealthCheck(self.name, "problem", message, hint)]

    def wait(self, seconds: float) -> list[HealthCheck]:
        """Return the rows of the check, or one row that says that the check timed out."""
        self.thread.join(seconds)
        if self.rows is None:
            hint = "check whether the disk or a program hangs"
            return [HealthCheck(self.name, "problem", f"no answer within {seconds:.0f} s", hint)]
        return self.rows

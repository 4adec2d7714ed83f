"""`remit doctor`: check the machine, the workspace, and the files of users and agents.

Owns how it is done: one thing after the other, each within its time. What hangs or fails is a row of the table and
never the end of it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from remit.config import Settings
from remit.errors import RemitError
from remit.maintenance.doctor.report import DoctorContext, DoctorReport, HealthCheck
from remit.storage.settings import find_workspace, load_settings

if TYPE_CHECKING:
    from remit.maintenance.doctor.report import Look

__all__ = ["DoctorReport", "HealthCheck", "check_health"]

LIMIT_SECONDS = 15.0
"""What takes longer is given up. A part of it that could take long has a shorter limit of its own."""


def check_health(*, seconds: float = LIMIT_SECONDS) -> DoctorReport:
    """Look at everything, and say of each thing how it is."""
    from remit.maintenance.doctor import (
        cluster,
        confinement,
        hooks,
        ledger_state,
        machine,
        past_runs,
        repository,
        workspace_files,
    )
    from remit.maintenance.doctor.settings import check_settings

    root = find_workspace()
    told, settings = _check_settings(root)
    patient = DoctorContext(root, settings)
    harnesses = [_Run(f"harness {name}", machine.make_harness_look(name), patient) for name in machine.HARNESSES]
    rows = [told] if told is not None else _Run("settings", check_settings, patient).wait(seconds)
    own = (
        *machine.LOOKS,
        *confinement.LOOKS,
        *ledger_state.LOOKS,
        *repository.LOOKS,
        *workspace_files.LOOKS,
        *hooks.LOOKS,
        *past_runs.LOOKS,
    )
    for name, look in (*own, *cluster.LOOKS):
        rows += _Run(name, look, patient).wait(seconds)
    found = [row for run in harnesses for row in run.wait(seconds)]
    return DoctorReport(root, (*rows, *(found or [machine.NO_HARNESS])))


def _check_settings(root: str) -> tuple[HealthCheck | None, Settings]:
    """What the workspace has set; without any, and why, where it can't be read."""
    try:
        return None, load_settings(root)
    except RemitError as error:
        return HealthCheck("settings", "problem", error.message, error.hint), Settings()


class _Run:
    """A look in a thread of its own, which nobody waits for once its time is over."""

    def __init__(self, name: str, look: Look, patient: DoctorContext) -> None:
        self.name = name
        self.rows: list[HealthCheck] | None = None
        self.thread = threading.Thread(target=self._work, args=(look, patient), daemon=True)
        self.thread.start()

    def _work(self, look: Look, patient: DoctorContext) -> None:
        try:
            self.rows = list(look(patient))
        except RemitError as error:
            self.rows = [HealthCheck(self.name, "problem", error.message, error.hint)]
        except OSError as error:
            told = f"cannot be looked at: {(error.strerror or str(error)).lower()}"
            self.rows = [HealthCheck(self.name, "problem", told, "check the disk, and how many files may be open")]
        except Exception as error:  # noqa: BLE001 - one look that fails is a row, and the others go on
            told = f"cannot be looked at: {type(error).__name__}: {error}"
            self.rows = [HealthCheck(self.name, "problem", told, "this is a bug of Remit's; the other rows hold")]

    def wait(self, seconds: float) -> list[HealthCheck]:
        """The rows, or one that says that there was no answer."""
        self.thread.join(seconds)
        if self.rows is None:
            hint = "see whether the disk or a program hangs"
            return [HealthCheck(self.name, "problem", f"gave no answer within {seconds:.0f} s", hint)]
        return self.rows

"""What people and agents wrote into the workspace: settings that run something, agents, tasks, manifest, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.app.health.values import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.app.health.values import Patient


def _look_at_trust(patient: Patient) -> Iterator[Check]:
    from remit.app.trusting import check_trust, get_executing  # noqa: PLC0415 - only for this
    from remit.errors import ConfigError  # noqa: PLC0415

    executing = get_executing(patient.settings, root=patient.root)
    try:
        check_trust(patient.root, patient.settings)
    except ConfigError as error:
        yield Check("trust", "warning", error.message, error.hint)
        return
    yield Check(
        "trust",
        "ok",
        "the programs of the settings are agreed to" if executing.commands else "no setting runs a program",
    )


def _look_at_agents(patient: Patient) -> Iterator[Check]:
    from remit.workspace.agent_files import find_agent_files  # noqa: PLC0415 - only for this

    found = find_agent_files((), root=patient.root, exclude=patient.settings.lint.exclude)
    folders = sorted({each.path.rpartition("/")[0] or "." for each in found})
    if not found:
        yield Check("agents", "ok", "none yet; remit new makes one")
    else:
        more = f" and {len(folders) - 3} more" if len(folders) > 3 else ""  # noqa: PLR2004 - as many as fit on a line
        yield Check("agents", "ok", f"{len(found)} in {', '.join(folders[:3])}{more}")


def _look_at_tasks(patient: Patient) -> Iterator[Check]:
    from remit.app.tasks import check_sync  # noqa: PLC0415 - only for this

    del patient
    checked = check_sync()
    if checked is None:
        yield Check("tasks", "ok", "none yet; remit task new makes the first")
        return
    errors = sum(each.severity == "error" for found in checked.findings.values() for each in found)
    if errors:
        told = f"state.json and TODO.md do not agree: {errors} {'difference' if errors == 1 else 'differences'}"
        yield Check("tasks", "problem", told, "see them with remit sync --check, end them with remit sync --repair")
    else:
        yield Check("tasks", "ok", f"{checked.tasks} in {checked.folder}, state.json and TODO.md agree")


LOOKS = (
    ("trust", _look_at_trust),
    ("agents", _look_at_agents),
    ("tasks", _look_at_tasks),
)

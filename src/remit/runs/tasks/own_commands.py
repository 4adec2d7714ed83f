"""The names of the task commands that a workspace defines itself."""

from __future__ import annotations

from remit.storage.settings import find_workspace, load_settings


def list_own_commands() -> dict[str, str]:
    """The commands of `[task.NAME]` in this workspace that no standard has, and what each is for."""
    settings = load_settings(find_workspace()).delegation.task
    if not settings:
        return {}
    from remit.runs.tasks.task_commands import COMMANDS, make_commands  # noqa: PLC0415 - only with such a table

    return {name: command.help for name, command in make_commands(settings).items() if name not in COMMANDS}

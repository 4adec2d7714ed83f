"""The user's trust in the settings of a workspace that run programs, valid until these settings change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.config import LOCAL
from remit.errors import ConfigError
from remit.storage.settings import find_workspace, load_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.config import Settings
    from remit.model import Diagnostic


class ConfiguredCommands(NamedTuple):
    """The settings by which a workspace runs programs, each with its command."""

    commands: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The commands as one text, independent of the layout of the settings file."""
        import json  # noqa: PLC0415 - only with commands

        return json.dumps(dict(self.commands), ensure_ascii=True, sort_keys=True, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """The hash of the text."""
        from remit.storage.trust import make_digest  # noqa: PLC0415 - only with commands

        return make_digest(self.text)


class TrustRequest(NamedTuple):
    """The commands of a workspace, and whether the user trusts them."""

    root: str
    executing: ConfiguredCommands
    reason: str = ""
    """Why the commands aren't trusted; empty if they are."""

    @property
    def is_trusted(self) -> bool:
        """Whether the user trusts all commands."""
        return not self.reason

    @property
    def is_needed(self) -> bool:
        """Whether there are any commands."""
        return bool(self.executing.commands)


def list_outside_commands(settings: Settings, *, root: str) -> Mapping[str, str]:
    """Return the commands of an outside task system; empty if the workspace keeps its own tasks (C24)."""
    from remit.storage.spec_root import find_folder  # noqa: PLC0415
    from remit.tasks.outside_system import CLEO  # noqa: PLC0415 - only for task systems

    if settings.tasks.commands:
        return settings.tasks.commands
    return CLEO if os.path.isdir(f"{root}/.cleo") and find_folder(root, settings.tasks.folder) is None else {}


def get_executing(settings: Settings, *, root: str) -> ConfiguredCommands:
    """Return the commands in the settings, and those of an outside task system that a folder implies."""
    outside = list_outside_commands(settings, root=root)
    listed = [(f"tasks.{name}", command) for name, command in outside.items()]
    for runner, table in settings.runs.runners.items():
        listed += [(f"runners.{runner}.{name}", command) for name, command in table.executes.items()]
    listed += [(f"checks.{name}", check.run) for name, check in settings.checks.items()]
    if settings.confine.mode == "off":  # a repository can't remove the confinement of its own agents
        listed.append(("confine.mode", settings.confine.mode))
    if settings.confine.write:
        listed.append(("confine.write", " ".join(settings.confine.write)))
    if not settings.confine.judge:
        listed.append(("confine.judge", "false"))
    if settings.backend != LOCAL:  # the owner of that database gets the tree and reports the results
        listed += [("backend", settings.backend), ("cluster.remote", settings.cluster.remote)]
    return ConfiguredCommands(tuple(listed))


def check_trust(root: str, settings: Settings) -> None:
    """Raise unless the user trusts the commands in the settings."""
    diagnostic = _find_objection(root, get_executing(settings, root=root))
    if diagnostic is not None:
        raise ConfigError(diagnostic.message, hint=f"{diagnostic.hint[:1].lower()}{diagnostic.hint[1:].rstrip('.')}")


def get_trust() -> TrustRequest:
    """Return the commands of this workspace, and whether the user trusts them."""
    root = find_workspace()
    executing = get_executing(load_settings(root), root=root)
    diagnostic = _find_objection(root, executing)
    return TrustRequest(root, executing, "" if diagnostic is None else diagnostic.message)


def _find_objection(root: str, executing: ConfiguredCommands) -> Diagnostic | None:
    if not executing.commands:
        return None
    from remit.storage.trust import check_trust  # noqa: PLC0415 - only with commands

    return check_trust(root, executing.digest)


def grant_trust(shown: TrustRequest) -> None:
    """Record that the user trusts the shown commands. Later changes of the file aren't trusted."""
    from remit.ledger.home import Home  # noqa: PLC0415
    from remit.runs.admission.tickets import check_user  # noqa: PLC0415 - only for this
    from remit.storage.trust import trust  # noqa: PLC0415

    check_user(Home(shown.root), "an agent can't trust the programs that the settings run")
    trust(shown.root, shown.executing.digest)


def revoke_trust() -> tuple[str, bool]:
    """Revoke the trust in this workspace; return its root, and whether it was trusted."""
    from remit.ledger.home import Home  # noqa: PLC0415
    from remit.runs.admission.tickets import check_user  # noqa: PLC0415 - only for this
    from remit.storage.trust import revoke  # noqa: PLC0415

    root = find_workspace()
    check_user(Home(root), "an agent can't revoke the user's trust")
    return root, revoke(root)

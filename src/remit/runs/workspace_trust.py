"""Consent: settings that run programs need the agreement of the user, once for each text of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.config import LOCAL
from remit.errors import ConfigError
from remit.storage.settings import find_workspace, load_settings

if TYPE_CHECKING:
    from remit.config import Settings
    from remit.model import Diagnostic


class ConfiguredCommands(NamedTuple):
    """What the workspace would have Remit run: the name of each setting, and its command."""

    commands: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The commands as one text, which says the same whatever the file looks like around them."""
        import json  # noqa: PLC0415 - only where something runs

        return json.dumps(dict(self.commands), ensure_ascii=True, sort_keys=True, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """What the text is known by."""
        from remit.storage.trust import make_digest  # noqa: PLC0415 - only where something runs

        return make_digest(self.text)


class TrustRequest(NamedTuple):
    """A workspace, what it would run, and whether the user has agreed to that."""

    root: str
    executing: ConfiguredCommands
    reason: str = ""
    """Why it may not be run."""

    @property
    def is_trusted(self) -> bool:
        """Whether everything may be run that it would run."""
        return not self.reason

    @property
    def is_needed(self) -> bool:
        """Whether it would run anything."""
        return bool(self.executing.commands)


def get_executing(settings: Settings, *, root: str) -> ConfiguredCommands:
    """What the settings run; an outside task system's commands too, where a folder of the workspace calls for them."""
    from remit.storage.spec_root import find_folder  # noqa: PLC0415
    from remit.tasks.outside_system import CLEO  # noqa: PLC0415 - only for this

    commands = settings.tasks.commands
    has_cleo = os.path.isdir(f"{root}/.cleo")
    if not commands and has_cleo and find_folder(root, settings.tasks.folder) is None:
        commands = CLEO
    told = [(f"tasks.{name}", command) for name, command in commands.items()]
    for runner, table in settings.runs.runners.items():
        told += [(f"runners.{runner}.{name}", command) for name, command in table.executes.items()]
    if settings.confine.mode == "off":  # a repository doesn't free its own agents from the kernel's limits
        told.append(("confine.mode", settings.confine.mode))
    if settings.confine.write:
        told.append(("confine.write", " ".join(settings.confine.write)))
    if not settings.confine.judge:
        told.append(("confine.judge", "false"))
    if settings.backend != LOCAL:  # whoever has that database gets the tree, and says what came of it
        told += [("backend", settings.backend), ("cluster.remote", settings.cluster.remote)]
    return ConfiguredCommands(tuple(told))


def check_trust(root: str, settings: Settings) -> None:
    """Refuse to run what the user has not agreed to."""
    finding = _find_objection(root, get_executing(settings, root=root))
    if finding is not None:
        raise ConfigError(finding.message, hint=f"{finding.hint[:1].lower()}{finding.hint[1:].rstrip('.')}")


def get_trust() -> TrustRequest:
    """What this workspace would run, and whether the user has agreed to it."""
    root = find_workspace()
    executing = get_executing(load_settings(root), root=root)
    finding = _find_objection(root, executing)
    return TrustRequest(root, executing, "" if finding is None else finding.message)


def _find_objection(root: str, executing: ConfiguredCommands) -> Diagnostic | None:
    if not executing.commands:
        return None
    from remit.storage.trust import check_trust  # noqa: PLC0415 - only where something runs

    return check_trust(root, executing.digest)


def grant_trust(shown: TrustRequest) -> None:
    """Remember that the user agrees to what was shown, and to nothing that the file may say since."""
    from remit.ledger.home import Home  # noqa: PLC0415
    from remit.runs.admission.tickets import check_user  # noqa: PLC0415 - only for this
    from remit.storage.trust import trust  # noqa: PLC0415

    check_user(Home(shown.root), "an agent can't agree to the programs that the settings run")
    trust(shown.root, shown.executing.digest)


def revoke_trust() -> tuple[str, bool]:
    """Forget the consent for this workspace; its root, and whether there was one."""
    from remit.ledger.home import Home  # noqa: PLC0415
    from remit.runs.admission.tickets import check_user  # noqa: PLC0415 - only for this
    from remit.storage.trust import revoke  # noqa: PLC0415

    root = find_workspace()
    check_user(Home(root), "an agent can't take back what the user has agreed to")
    return root, revoke(root)

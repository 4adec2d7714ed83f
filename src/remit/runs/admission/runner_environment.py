"""The variables that the workspace sets in a runner's environment, with keys and passwords.

Owns that the values are not in the ledger. A delegation remembers the names and a seal; the values come from the
settings of whoever starts its agent. Where they are not what they were when it was asked for, its agent is not started:
one that edits the settings changes nothing for itself.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.errors import RunnerError

if TYPE_CHECKING:
    from collections.abc import Mapping

VALUES, NAMES, SEAL = "env", "env_names", "env_seal"
_SALT_LETTERS = 32


def hide_values(settings: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """What is set for a runner, as the ledger has it. The salt is of random letters, so that no seal tells a value."""
    kept = {name: value for name, value in settings.items() if name != VALUES}
    values = settings.get(VALUES)
    return kept | {NAMES: sorted(values), SEAL: _seal(values, salt)} if values else kept


def fill_values(settings: Mapping[str, Any], now: Mapping[str, str], *, runner: str) -> dict[str, Any]:
    """What is set for a runner, with the values as the workspace sets them now."""
    names = settings.get(NAMES)
    if not names:
        return dict(settings)
    values = {name: now[name] for name in names if name in now}
    if _seal(values, str(settings.get(SEAL))[:_SALT_LETTERS]) != settings.get(SEAL):
        message = f"the environment that remit.toml sets for {runner} has changed since this was asked for"
        raise RunnerError(message, hint="ask for it again: remit retry")
    return {**settings, VALUES: values}


def _seal(values: Mapping[str, str], salt: str) -> str:
    from hashlib import blake2b  # noqa: PLC0415 - only where variables are set

    text = json.dumps(values, sort_keys=True).encode("utf-8", "surrogatepass")
    return salt + blake2b(text, key=salt.encode(), digest_size=32).hexdigest()

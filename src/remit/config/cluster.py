"""What a workspace may set about other machines: `backend`, and `[cluster]`.

Owns where delegations run: on this machine, or on workers with a PostgreSQL in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.config.values import ValueRule
from remit.errors import ConfigError
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

LOCAL = "local"
BACKEND = "REMIT_BACKEND"
"""The variable that says it instead."""
_SCHEMES = ("postgresql://", "postgres://")
_VARIABLE = lazy(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class ClusterSettings(NamedTuple):
    """How work travels to other machines: `[cluster]`."""

    remote: str = ""
    """The git remote that workers clone from and push to; without one, trees travel through the database."""
    lease: float = 15
    """After so many seconds without a word from its worker a delegation is another's."""
    poll: float = 0.2
    """How often a worker looks for work, in seconds."""
    save_every: float = 30
    """How often a worker saves what an agent has made so far, in seconds."""
    parcel_megabytes: int = 32
    """The largest tree, or result, that travels through the database."""


RULES = {
    "remote": ValueRule("git@example.org:team/project.git"),
    "lease": ValueRule(15),
    "poll": ValueRule(0.2),
    "save_every": ValueRule(30),
    "parcel_megabytes": ValueRule(32, least=1),
}


def read_backend(value: object) -> str:
    """Where delegations run, as it is written."""
    if value == LOCAL or (isinstance(value, str) and value.startswith((*_SCHEMES, "${"))):
        return str(value)
    raise _refuse("backend", value)


def _refuse(where: str, value: object) -> ConfigError:
    """An error that shows no more of an address than its scheme: a password may follow."""
    scheme, is_address, _ = str(value).partition("://")
    shown = f"'{scheme}://…'" if is_address else "an address without postgresql://" if "@" in scheme else repr(value)
    hint = 'write "local" or "postgresql://user@host/database"'
    return ConfigError(f"{where} is not supported: {shown}", hint=hint)


def fill_backend(written: str, environ: Mapping[str, str]) -> str:
    """Where delegations run: the address with the variables filled in; empty where it is this machine."""
    chosen = environ.get(BACKEND, "").strip() or written

    def fill(match: re.Match[str]) -> str:
        if match[1] not in environ:
            raise ConfigError(f"backend names the variable {match[1]}, which is not set", hint=f"export {match[1]}=…")
        return environ[match[1]]

    address = _VARIABLE.sub(fill, chosen)
    if address in ("", LOCAL):
        return ""
    if not address.startswith(_SCHEMES):
        raise _refuse(BACKEND if environ.get(BACKEND, "").strip() else "backend", address)
    return address

"""Confine: run a command with file, signal and network limits that the kernel enforces.

`Profile` says what a command may do, `make_command` gives the command line that enforces it, and `find_level` says what
this machine can enforce. `launcher` is the program that does it and imports nothing of Remit.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from remit.confine.command import make_command
    from remit.confine.level import Level, find_level
    from remit.confine.profile import Profile

__all__ = ["Level", "Profile", "find_level", "make_command"]

_HOMES = {
    "Level": "remit.confine.level",
    "Profile": "remit.confine.profile",
    "find_level": "remit.confine.level",
    "make_command": "remit.confine.command",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'remit.confine' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only once a name is used

    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value

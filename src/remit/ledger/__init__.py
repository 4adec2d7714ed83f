"""The ledger: what happened in a workspace, in one SQLite file that many processes write to.

Owns `.remit/ledger.db`: delegations and their attempts, events, intents, spills, activity, and an index of the
manifest. It is local and never committed. What is in it about tasks and the manifest can be made again from their
files.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from remit.ledger.store import Ledger

__all__ = ["VERSION", "Ledger"]

VERSION = 13
"""Of the tables in `schema.py`. Hooks compare it, too, so it is here, where nothing else has to be loaded."""


def __getattr__(name: str) -> object:
    """The ledger itself when it is asked for: a hook that writes one row does without."""
    if name != "Ledger":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from remit.ledger.store import Ledger  # noqa: PLC0415 - only once it is used

    return Ledger

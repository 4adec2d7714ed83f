"""The ledger: the SQLite database `.remit/ledger.db`, with runs, attempts, events, intents, stored texts and activity.

Many processes write to it. It is local and never committed. Its tables about tasks and the manifest are derived from
their files and can be rebuilt.

- `store.py` opens the database with its schema (`schema.py`); `home.py` has the folder `.remit` and its locks.
- `runs.py` and `slots.py` change runs, `hook_runs.py` those that a harness started; `queries.py` and `history.py` read
  them.
- `events.py` has the event log and the file activity; `followers.py` reads it for telemetry.
- `journal.py` changes several files atomically; `texts.py` stores prompts and answers; `check_results.py` the
  results of acceptance checks.
- `retention.py` deletes old runs; `integrity_check.py` checks the file without changing it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from remit.ledger.store import Ledger

__all__ = ["VERSION", "Ledger"]

VERSION = 15
"""The version of the tables in `schema.py`. It is defined here because hooks compare it and load nothing else."""


def __getattr__(name: str) -> object:
    """Return the class `Ledger`, imported on first use: a hook that writes one row doesn't need it."""
    if name != "Ledger":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from remit.ledger.store import Ledger  # noqa: PLC0415 - only once it is used

    return Ledger

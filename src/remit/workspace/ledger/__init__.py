"""The ledger: what happened in a workspace, in one SQLite file that many processes write to.

Owns `.remit/ledger.db`: delegations and their attempts, events, intents, spills, activity, and an index of the
manifest. It is local and never committed. What is in it about tasks and the manifest can be made again from their
files.
"""

from __future__ import annotations

from remit.workspace.ledger.store import Ledger

__all__ = ["Ledger"]

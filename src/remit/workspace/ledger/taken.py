"""Taken: which machine took a delegation, as far as it was told here.

Owns how that is found among the events of the ledger.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.workspace.ledger.store import Ledger

_TAKEN = """
    SELECT ids.value, details FROM json_each(?) AS ids CROSS JOIN events ON number = (
        SELECT number FROM events WHERE session_id = ids.value AND kind = 'taken' ORDER BY number DESC LIMIT 1
    )
"""


def list_taken(ledger: Ledger, session_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Who took each of some delegations last: worker, host and fence."""
    if not session_ids:
        return {}
    with ledger.reading() as db:
        return {name: json.loads(told) for name, told in db.execute(_TAKEN, (json.dumps([*session_ids]),))}

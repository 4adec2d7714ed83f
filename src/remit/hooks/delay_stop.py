"""Delayed stop: an agent of Codex whose return was rejected ends only when its caller is sure to get the verdict.

Codex puts the last message of an agent into the next request of its caller, and no hook can change or delay it there.
As long as the hook of the agent's end hasn't answered, the agent isn't over.
"""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING

from remit.hooks import replies
from remit.ledger.hook_runs import find_by_agent, find_calling_agent, has_message, will_receive

if TYPE_CHECKING:
    from remit.hooks.events import HookEvent
    from remit.ledger.store import Connection

SECONDS = 3_000.0
"""Less than the hook's own limit."""
_STEP_MS = 100


def delay_stop(event: HookEvent, db: Connection, seconds: float | None = None) -> replies.Answer:
    """Wait until the caller of an agent has the verdict, or is sure to get it; past the limit, send the agent back."""
    own = find_by_agent(db, event.session, event.agent_id)
    until = time.monotonic() + (SECONDS if seconds is None else seconds)
    reader = select.poll()
    reader.register(1, 0)
    while own is not None and has_message(db, own) and not will_receive(db, event.session, find_calling_agent(db, own)):
        if time.monotonic() > until:
            return replies.block(
                "Your caller hasn't received the verdict on your return yet. Send the same return again."
            )
        if reader.poll(_STEP_MS):  # the harness has ended, and reads no answer
            break
    return {}

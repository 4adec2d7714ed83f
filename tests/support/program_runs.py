"""What tests of delegations have in common: real agents as programs, and what the ledger says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.ledger.home import Home
from remit.ledger.runs import list_runs
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from remit.ledger.runs import Run
    from remit.testing.agent import ScriptedAgent
    from tests.support.commands import Remit


PARENT = """---
name: parent
description: "Hands work on."
agent_type: utility
version: 1.0.0
delegation:
  can_delegate_to:
    - child
---
Hand it on.
"""


def list_rows(folder: Path) -> list[Run]:
    """All delegations, newest first."""
    home = Home(str(folder))
    try:
        return list_runs(home.ledger)
    finally:
        home.close()


def detach(remit: Remit, agent: ScriptedAgent, *options: str, until: str = "began") -> str:
    """Start an agent that nobody waits for; its session, once it has done something."""
    ended = remit("run", "Do the work.", "--command", agent.command, "--detach", *options)
    assert ended.code == 0, ended.err
    wait_until(lambda: agent.did(until), f"the agent {until}")
    return ended.text.strip()

"""What tests of delegations have in common: real agents as programs, and what the ledger says of them."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from remit.ledger.home import Home
from remit.ledger.runs import list_runs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.ledger.runs import Run
    from remit.testing.agent import ScriptedAgent
    from tests.support.commands import Ended, Remit

PATIENCE_S = 60.0

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


def load(ended: Ended) -> Any:  # noqa: ANN401 - any JSON value
    """The JSON that a command printed, and nothing else."""
    assert ended.err == b"", ended.err
    return json.loads(ended.out)


def list_rows(folder: Path) -> list[Run]:
    """All delegations, newest first."""
    home = Home(str(folder))
    try:
        return list_runs(home.ledger)
    finally:
        home.close()


def wait_until(holds: Callable[[], object], what: str) -> None:
    """Wait for something that comes soon, or never."""
    last = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < last, f"it never came: {what}"
        time.sleep(0.02)


def detach(remit: Remit, agent: ScriptedAgent, *options: str, until: str = "began") -> str:
    """Start an agent that nobody waits for; its session, once it has done something."""
    ended = remit("run", "Do the work.", "--command", agent.command, "--detach", *options)
    assert ended.code == 0, ended.err
    wait_until(lambda: agent.did(until), f"the agent {until}")
    return ended.text.strip()

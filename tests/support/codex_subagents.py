"""What the model plays in Codex, to start and await subagents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.testing import call

if TYPE_CHECKING:
    from remit.testing import ScriptedTurn


def ask(script: str, agent: str = "scribe") -> ScriptedTurn:
    """A call of a subagent that plays a script."""
    return call("spawn_agent", agent_type=agent, message=f"[[play {script}]] Write the report.")


CHILD = r'"agent_id":\s*"([^"]+)"'
WAIT = call("wait_agent", targets=["${child}"], timeout_ms=60_000).grab(child=CHILD)

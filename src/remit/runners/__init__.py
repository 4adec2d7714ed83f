"""Runners: how each harness is started, how its stream is read, and how its session is resumed.

Nothing here starts a process, reads a file or the clock: a runner makes a `Launch` from an `AttemptOrder`, and its
`Listener` reads the output of the agent.
"""

from __future__ import annotations

from remit.runners.protocol import AttemptOrder, Launch, Listener, Runner, RunOutput, ToolUse, Usage

__all__ = ["AttemptOrder", "Launch", "Listener", "RunOutput", "Runner", "ToolUse", "Usage"]

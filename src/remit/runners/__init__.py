"""Runners: how each harness is called, how its stream is read, and how its session is resumed.

Nothing here starts a process, reads a file or looks at the clock: a runner makes a `Launch` of an `AttemptOrder`, and
its `Listener` is fed whatever the agent prints.
"""

from __future__ import annotations

from remit.runners.protocol import AttemptOrder, Launch, Listener, Runner, RunOutput, ToolUse, Usage

__all__ = ["AttemptOrder", "Launch", "Listener", "RunOutput", "Runner", "ToolUse", "Usage"]

"""Runners: each harness as knowledge, how it is called, how its stream is read, how it is sent back to work.

Nothing here starts a process, reads a file or looks at the clock: a runner makes a `Launch` of an `Order`, and its
`Listener` is fed whatever the agent prints.
"""

from __future__ import annotations

from remit.runners.protocol import Heard, Launch, Listener, Order, Runner, ToolUse, Usage

__all__ = ["Heard", "Launch", "Listener", "Order", "Runner", "ToolUse", "Usage"]

"""The functions of the tools, and how they are called: quick tools run in a thread, others wait on the event loop."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.mcp.catalog import BY_NAME
from remit.validation import check_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.runs.hosted_runs import HostedRuns, Tell

_WAITING = frozenset({"delegate", "result", "cancel"})
"""The tools that wait for an agent."""
_HOMES = {
    "remit.mcp.run_tools": ("delegate", "status", "result", "cancel", "check_return", "submit_return"),
    "remit.mcp.workspace_tools": ("find_findings", "add_finding", "task_show", "task_move", "lint"),
}


class Call(NamedTuple):
    """A call of a tool: its arguments, the runs of this server, and a callback for progress."""

    given: Mapping[str, Any]
    serving: HostedRuns
    tell: Tell | None = None
    on_begun: Callable[[], None] | None = None
    """Called before waiting for an agent."""


async def call(name: str, asked: Call) -> dict[str, Any]:
    """Call a tool of the catalog, and return its answer."""
    asked = asked._replace(given=check_fields(asked.given, BY_NAME[name].takes))
    home = next(home for home, names in _HOMES.items() if name in names)
    function = getattr(import_module(home), name)
    told: dict[str, Any] = await (function(asked) if name in _WAITING else asyncio.to_thread(function, asked))
    return told

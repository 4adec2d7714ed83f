"""Calls of tools: quick tools run in a thread; tools that wait for a run are coroutines."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.mcp.catalog import BY_NAME
from remit.validation import check_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.runs.hosted_runs import HostedRuns, ReportProgress

_WAITING = frozenset({"delegate", "result", "cancel", "checks"})
"""The tools that wait for an agent or a check."""
_MODULES = {
    "remit.mcp.run_tools": ("delegate", "status", "result", "cancel", "check_return", "submit_return"),
    "remit.mcp.workspace_tools": ("find_findings", "add_finding", "task_show", "task_move", "lint", "checks"),
}


class Call(NamedTuple):
    """A call of a tool: its arguments, the runs of this server, and a callback for progress."""

    given: Mapping[str, Any]
    hosted: HostedRuns
    report_progress: ReportProgress | None = None
    on_begun: Callable[[], None] | None = None
    """Called before waiting for an agent."""


async def call_tool(name: str, call: Call) -> dict[str, Any]:
    """Call a tool of the catalog, and return its answer."""
    call = call._replace(given=check_fields(call.given, BY_NAME[name].arguments))
    module = next(module for module, names in _MODULES.items() if name in names)
    function = getattr(import_module(module), name)
    answer: dict[str, Any] = await (function(call) if name in _WAITING else asyncio.to_thread(function, call))
    return answer

"""Permission answers for `remit agent can`: whether an agent may make a tool call, and why, without making it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.agents.definition import is_strange_tool, name_tool
from remit.agents.profiles import TOOLS
from remit.errors import InputError, UsageError
from remit.harnesses import claude
from remit.hooks.events import HookEvent
from remit.hooks.roster import compile_roster
from remit.hooks.shell_limits import find_limits
from remit.hooks.tool_guard import judge_event
from remit.ledger.home import Home
from remit.ledger.hook_runs import HookRun
from remit.policy import Permissions, ToolCall, judge
from remit.spelling import did_you_mean, find_similar
from remit.storage.protected_files import make_path_context
from remit.storage.settings import find_workspace

if TYPE_CHECKING:
    from remit.policy import Decision

_SESSION = "sess_0_000000"
"""A placeholder for the session id of the agent."""


class PermissionAnswer(NamedTuple):
    """A decision about a tool call, with the call."""

    agent: str
    tool: str
    subject: str
    decision: Decision
    note: str = ""
    """An explanation of how the files of a command are protected."""


_LIMITED = "its files aren't read from its words: the kernel limits what the command can write"
_FREE = (
    "its files aren't read from its words, and the kernel doesn't limit this agent's commands: Remit restores "
    "protected files that one changes"
)


def explain_call(agent: str, tool: str, subject: str, *, harness: str = "claude") -> PermissionAnswer:
    """Return the decision about a tool call of an agent. `subject`: the command for bash, the file for other tools."""
    home = Home(find_workspace())
    roster = compile_roster(home)
    entry = roster.find(agent, harness)
    if entry is None:
        names = sorted({name for agents in roster.agents.values() for name in agents})
        meant = find_similar(agent, names)
        if not names:
            hint = "there are no agent files yet: `remit agent new` makes one"
        else:
            hint = f"did you mean '{meant}'?" if meant else f"available: {', '.join(names[:12])}"
        raise InputError(f"there is no agent '{agent}'", hint=hint)
    tool = _name_tool(tool)
    _check_subject(agent, tool, subject)
    layers = [
        Permissions(each.get("tools"), each.get("allow", {}), each.get("deny", {}), each.get("unread", ""))
        for each in entry.layers
    ]
    call = ToolCall(tool, () if tool == "bash" or not subject else (subject,), subject if tool == "bash" else "")
    cwd = os.getcwd()
    context = make_path_context(home.root, cwd, os.path.expanduser("~"), os.environ)
    if not subject:  # a question about the tool in general
        return PermissionAnswer(agent, tool, subject, judge(call, layers, context))
    own = HookRun(_SESSION, harness, "", agent)
    tool_input = {claude.COMMAND_KEY if tool == "bash" else claude.PATH_KEYS[0]: subject, "caller": _SESSION}
    payload = {
        claude.EVENT_KEY: claude.BEFORE_TOOL,
        claude.CWD_KEY: cwd,
        claude.TOOL_KEY: tool,
        claude.INPUT_KEY: tool_input,
    }
    event = HookEvent(payload, harness)
    is_limited, is_judged = find_limits(layers, home.root)
    decision = judge_event(event, own, layers, context._replace(is_judged=is_judged, is_limited=is_limited))
    note = "" if tool != "bash" or decision.answer == "deny" else _LIMITED if is_limited else _FREE
    return PermissionAnswer(agent, tool, subject, decision, note)


def _check_subject(agent: str, tool: str, subject: str) -> None:
    """Raise UsageError if a tool of the standard has no subject, because the decision depends on it."""
    if tool in TOOLS and not subject.strip():
        wanted, example = ("command", '"git push"') if tool == "bash" else ("file", "README.md")
        problem = f"whether '{agent}' may use {tool} depends on the {wanted}, and none is given"
        raise UsageError(problem, hint=f"name it: remit agent can {agent} {tool} {example}")


def _name_tool(given: str) -> str:
    """Return the standard's name of a tool. Raise InputError for an unknown name, which no rule would deny."""
    tool = name_tool(given)
    if is_strange_tool(tool):
        raise InputError(f"there is no tool '{given}'", hint=did_you_mean(given, TOOLS))
    return tool

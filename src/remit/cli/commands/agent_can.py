"""`remit agent can`: whether an agent may use a tool so, and why."""

from __future__ import annotations

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.output import get_paint, say, say_json
from remit.terminal import escape
from remit.views.render import ACCEPTED, NOT_ACCEPTED

_STYLES = {"allow": ("good", "✓"), "ask": ("warning", "?"), "deny": ("error", "✗")}


@click.command(cls=options.Command)
@click.argument("agent", shell_complete=completion.complete_agents)
@click.argument("tool")
@click.argument("subject", required=False, default="")
@options.output_format("full", "json")
def can(*, agent: str, tool: str, subject: str, output_format: str) -> int:
    """Check whether AGENT may use TOOL on SUBJECT, a command or a file. Nothing is run.

    TOOL is bash, read, write, edit, grep, glob or mcp__SERVER__TOOL. The permissions of the agent's file apply, and the
    files that no agent may write. Of a command, the programs count: the kernel limits its files.

    remit agent can planner bash "rm -rf build"

    Exit code 0: allowed; 1: denied, or the user is asked; 2: could not run.
    """
    from remit.hooks.explain_permission import explain_call

    told = explain_call(agent, tool, subject)
    decision = told.decision
    if output_format == "json":
        say_json({**told._asdict(), "decision": decision.answer, "reason": decision.reason, "rule": decision.rule})
    else:
        style, mark = _STYLES[decision.answer]
        reason = f": {escape(decision.reason)}" if decision.reason else ""
        say(f"{get_paint()(style, f'{mark} {decision.answer}')}{reason}")
        if told.note:
            say(f"note: {told.note}")
    return ACCEPTED if decision.answer == "allow" else NOT_ACCEPTED

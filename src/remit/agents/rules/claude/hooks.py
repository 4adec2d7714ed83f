"""Rules on the hooks in an agent of Claude Code's: one that cannot be read, and none of them runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.rules.claude import CLAUDE
from remit.agents.rules.field_lookup import guess, show
from remit.agents.rules.register import MAX_REPORTS, AgentFileContext, AgentViolation, agent_rule
from remit.harnesses import claude
from remit.positions import escape_key

if TYPE_CHECKING:
    from collections.abc import Iterator


@agent_rule("AGT210", profiles=CLAUDE, fix="safe")
def claude_hooks_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`hooks` isn't a table of events.

    Why: Claude Code then ignores all hooks in the file and reports it in its log only. It drops an agent that is
    passed as JSON, and older versions drop the file. An empty list is the usual case.

    Bad: `hooks: []`

    Good: no `hooks` at all, or `hooks:` with `PreToolUse:` under it

    Fix (safe): removes an empty list; the meaning stays the same.
    """
    hooks = case.get("hooks")
    if hooks is None or isinstance(hooks, dict) or (isinstance(hooks, str) and not hooks):
        return
    told = "an empty list" if hooks == [] else show(hooks)
    hint = f"Write each event, such as {claude.BEFORE_TOOL}, with its hooks under it."
    yield AgentViolation(
        f"hooks is {told}, expected a table of events, so no hook runs",
        "Remove it." if hooks == [] else hint,
        case.document.key_span("/hooks"),
        "/hooks",
        edits=edits.remove_key(case.document, "/hooks") if hooks == [] else (),
    )


@agent_rule("AGT211", profiles=CLAUDE, fix="unsafe")
def claude_hook_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """Claude Code can't read a hook.

    Why: one unknown event, or one hook that can't be read, makes Claude Code ignore all hooks of the agent.

    Bad: `hooks: {preToolUse: []}`, `hooks: {PreToolUse: [{hooks: [{command: ./check}]}]}`

    Good: `hooks: {PreToolUse: [{matcher: Bash, hooks: [{type: command, command: ./check}]}]}`

    Fix (unsafe): writes the event that was probably meant.
    """
    document = case.document
    hooks = case.get("hooks")
    for event, groups in list(hooks.items())[:MAX_REPORTS] if isinstance(hooks, dict) else ():
        pointer = f"/hooks/{escape_key(event)}"
        if event not in claude.HOOK_EVENTS:
            meant, hint = guess(event, claude.HOOK_EVENTS)
            hint = hint if meant else f"Events are {claude.BEFORE_TOOL}, {claude.AFTER_TOOL}, {claude.STOP} and others."
            can_fix = meant and meant not in hooks
            yield AgentViolation(
                f"Claude Code has no event {show(event)}, so no hook runs",
                hint,
                document.key_span(pointer),
                pointer,
                edits=edits.rename_key(document, pointer, meant) if can_fix else (),
                fix_message=f"Rename it to {meant}.",
            )
        elif told := _find_hook_fault(groups):
            yield AgentViolation(
                f"{event} {told}, so no hook runs",
                "Write a list of matcher and hooks, each with a type.",
                document.key_span(pointer),
                pointer,
            )


def _find_hook_fault(groups: object) -> str:
    """What is wrong with the hooks of an event; nothing where they can be read."""
    if not isinstance(groups, list):
        return f"is {show(groups)}, expected a list"
    for group in groups:
        inner = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(inner, list):
            return "has an item without a list of hooks"
        if not all(isinstance(hook, dict) and isinstance(hook.get("type"), str) for hook in inner):
            return "has a hook without a type"
    return ""

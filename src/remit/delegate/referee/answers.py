"""Answers: what a hook says, in the shape that harnesses read.

Owns that shape. Remit narrows what an agent may do and never widens it: to say `allow` for a call that nobody objects
to would skip the person's own prompts, so the answer is then nothing at all. Imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Answer = dict[str, Any]

_PREFIX = "Remit: "


def deny(reason: str) -> Answer:
    """Refuse a tool call."""
    return _decide("deny", reason)


def ask(reason: str) -> Answer:
    """Let the person decide about a tool call; where there is none, harnesses refuse it."""
    return _decide("ask", reason)


def rewrite(tool_input: Mapping[str, Any]) -> Answer:
    """Let a call happen with another input. Harnesses heed that only together with a leave."""
    return _decide("allow", "", updatedInput=dict(tool_input))


def block(reason: str) -> Answer:
    """Send an agent back to work."""
    return {"decision": "block", "reason": reason}


def replace_output(output: object, beside: str = "") -> Answer:
    """Give the caller something else than what the tool gave, and perhaps a sentence of Remit's own beside it."""
    more = {"additionalContext": beside} if beside else {}
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": output, **more}}


def add_context(event: str, text: str) -> Answer:
    """Tell the model something."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def warn(text: str) -> Answer:
    """Tell the person something, and decide nothing."""
    return {"systemMessage": f"{_PREFIX}{text}"}


def _decide(word: str, reason: str, **more: object) -> Answer:
    said = {"permissionDecisionReason": f"{_PREFIX}{reason}"} if reason else {}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word, **said, **more}}

"""Replies: the answers of a hook, in the form that harnesses read.

The keys are in `remit.harnesses.claude`. Remit only narrows what an agent may do: `allow` would skip the user's own
permission prompts, so the answer to an allowed call is empty.
"""

from __future__ import annotations

from remit.harnesses import claude, opencode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from remit.policy import Decision

    Answer = dict[str, Any]

_PREFIX = "Remit: "


def deny(reason: str) -> Answer:
    """Refuse a tool call. The model reads the reason, so it says what to do instead."""
    return _decide("deny", reason)


def answer(decision: Decision, *, can_ask: bool) -> Answer:
    """Give each reader its own text: the user a question in the permission prompt, the model what to do instead.

    A session without a user, such as `claude -p`, refuses what it should ask. Its model reads the context as well.
    """
    if not can_ask or decision.answer != "ask":
        return deny(decision.reason)
    return _decide("ask", decision.question, {claude.CONTEXT_KEY: f"If this call is refused: {decision.reason}."})


def rewrite(tool_input: Mapping[str, Any]) -> Answer:
    """Let a call happen with another input. Harnesses accept that only together with `allow`."""
    return _decide("allow", "", {claude.NEW_INPUT: dict(tool_input)})


def change_input(tool_input: Mapping[str, Any]) -> Answer:
    """Change a call's input and decide nothing, so that the user's own rules are applied. Claude Code only."""
    return _specify(claude.BEFORE_TOOL, {claude.NEW_INPUT: dict(tool_input)})


def give_ticket(ticket: str) -> Answer:
    """Hand over the ticket of a command, and decide nothing. Remit's plugin in opencode only."""
    return _specify(claude.BEFORE_TOOL, {opencode.TICKET_ANSWER: ticket})


def join(decision: Answer, change: Answer) -> Answer:
    """Decide about a call and change its input."""
    specific = {**decision.get(claude.SPECIFIC_KEY, {}), **change.get(claude.SPECIFIC_KEY, {})}
    return {**decision, **change, claude.SPECIFIC_KEY: specific} if specific else {**decision, **change}


def block(reason: str) -> Answer:
    """Send an agent back to work."""
    return {"decision": "block", "reason": reason}


def replace_output(output: object, beside: str = "") -> Answer:
    """Replace the output of a tool, and perhaps add a sentence of Remit's own beside it."""
    more = {claude.CONTEXT_KEY: beside} if beside else {}
    return _specify(claude.AFTER_TOOL, {claude.NEW_OUTPUT: output, **more})


def add_context(event: str, text: str) -> Answer:
    """Add a text to what the model reads."""
    return _specify(event, {claude.CONTEXT_KEY: text})


def warn(text: str) -> Answer:
    """Show the user a warning, and decide nothing."""
    return {claude.WARNING_KEY: f"{_PREFIX}{text}"}


def _decide(word: str, reason: str, more: Mapping[str, Any] | None = None) -> Answer:
    said = {claude.DECISION_REASON: f"{_PREFIX}{reason}"} if reason else {}
    return _specify(claude.BEFORE_TOOL, {claude.DECISION_KEY: word, **said, **(more or {})})


def _specify(event: str, given: Mapping[str, Any]) -> Answer:
    return {claude.SPECIFIC_KEY: {claude.NAME_KEY: event, **given}}

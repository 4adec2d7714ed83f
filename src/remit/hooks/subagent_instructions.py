"""Telling: what a subagent finds behind the words of whoever called it.

Owns that text. The caller's prompt stays as it is and comes first; behind it stand the session, the limits and the
contract, which the caller's own context never sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.runs.instructions import ALONE, name_targets, name_utility, render_contract, render_duration, show

if TYPE_CHECKING:
    from remit.runs.instructions import InstructionFacts

MARK = "<remit-delegation>"
"""By it a prompt is known that has its contract already."""


def render_instructions(work: InstructionFacts) -> str:
    """The session, the limits and the contract of a subagent."""
    above = " → ".join(show(name) for name in work.path[:-1])
    return (
        f"{MARK}\n"
        f"# Delegation\nYou are {show(work.agent)}, session {show(work.session_id)}, depth {work.depth} of "
        f"{work.max_depth}{f', called by {above}' if above else ''}.\n"
        f"You have {render_duration(work.timeout_s)}. After that your tools are refused: write files early, and hand "
        f"back partial rather than late.\n{_describe_targets(work)}\n\n"
        f"# What to send back\n{render_contract(work).strip()}\n"
        f"</{MARK[1:]}\n"
    )


def _describe_targets(work: InstructionFacts) -> str:
    whom = name_targets(work)
    if not whom:
        return ALONE
    named = name_utility(work)
    utility = (
        f" Give {named} their inputs as JSON. If your call of one is refused because it is built into Remit, the "
        "refusal contains its return."
    )
    told = f"You may delegate to {whom}. Read the status of what comes back before you count on anything."
    return told + (utility if named else "")

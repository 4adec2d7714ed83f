"""Subagent instructions: the text that Remit appends to the prompt of a subagent in a harness.

The caller's prompt stays as it is and comes first. The session, the limits and the return format follow; the caller's
own context never contains them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.runs.instructions import ALONE, name_targets, name_utility, render_contract, render_duration, show

if TYPE_CHECKING:
    from remit.runs.instructions import InstructionFacts

MARK = "<remit-delegation>"
"""Marks a prompt that has its instructions already."""


def render_instructions(work: InstructionFacts) -> str:
    """The session, the limits and the return format of a subagent."""
    above = " → ".join(show(name) for name in work.path[:-1])
    return (
        f"{MARK}\n"
        f"# Delegation\nYou are {show(work.agent)}, session {show(work.session_id)}, depth {work.depth} of "
        f"{work.max_depth}{f', called by {above}' if above else ''}.\n"
        f"You have {render_duration(work.timeout_s)}. After that your tools are refused: write files early, and "
        f"return `partial` before the deadline instead of missing it.\n{_describe_targets(work)}\n\n"
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
    told = f"You may delegate to {whom}. Read the status of each return before you rely on it."
    return told + (utility if named else "")

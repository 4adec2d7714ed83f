"""Rules on delegation: the agents that an agent may call, depth and timeouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.agents import edits
from remit.agents.definition import ANYONE
from remit.agents.rules.field_table import show
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.agents.rules.standard_fields import MAX_TARGETS, get_seconds, list_targets
from remit.spelling import SURE, find_similar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remit.agents.document import AgentDocument

_TABLE = "delegation"
_TARGETS = "/delegation/can_delegate_to"
MAX_SLIP = 2
"""Maximum difference in length between a misspelled name and the correct one."""


def _get_table(document: AgentDocument) -> dict[str, Any]:
    table = document.get_section(_TABLE)
    return table if isinstance(table, dict) else {}


def _list_own_names(document: AgentDocument) -> set[str]:
    return {document.stem, str(document.get("name")).strip()}


@agent_rule("AGT082", fix="safe")
def target_is_self(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The agent lists itself as an agent that it can call.

    Why: an agent that calls itself repeats until the depth or the budget is used up, so such a call is refused.

    Bad: `can_delegate_to: ["planner"]` in `planner.md`

    Good: the names of other agents

    Fix (safe): removes the name, since the call would be refused.
    """
    document = case.document
    own = _list_own_names(document)
    for name, pointer in list_targets(document):
        if name in own:
            removed = edits.remove_item(document, pointer) if pointer != _TARGETS else ()
            yield AgentViolation(f"{show(name)} can call itself", "Remove it.", document.span_of(pointer), pointer,
                                 edits=removed)  # fmt: skip


@agent_rule("AGT083", severity="warning", fix="safe")
def target_duplicate(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The list of agents that can be called has a name twice.

    Why: removing one of them seems to forbid the call, but the other one still allows it.

    Bad: `can_delegate_to: ["git-workflow-manager", "git-workflow-manager"]`

    Good: each name once

    Fix (safe): removes the second one.
    """
    document = case.document
    seen: set[str] = set()
    for name, pointer in list_targets(document):
        if name in seen:
            yield AgentViolation(f"{show(name)} is in can_delegate_to twice", "Remove one of the two.",
                                 document.span_of(pointer), pointer, edits=edits.remove_item(document, pointer),
                                 fix_message="Remove the second one")  # fmt: skip
        seen.add(name)


@agent_rule("AGT085", fix="unsafe")
def timeout_default_over_max(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The default timeout of a call is longer than the maximum.

    Why: one of the two numbers is wrong, and the maximum cuts every call short.

    Bad: `timeout_default: 900` and `timeout_max: 600`

    Good: `timeout_default: 300` and `timeout_max: 600`

    Fix (unsafe): lowers the default to the maximum.
    """
    document = case.document
    table = _get_table(document)
    usual, most = get_seconds(table.get("timeout_default")), get_seconds(table.get("timeout_max"))
    if usual is not None and most is not None and usual > most:
        pointer = f"/{_TABLE}/timeout_default"
        yield AgentViolation(f"timeout_default is {usual:g} s, longer than timeout_max, {most:g} s",
                             "Lower timeout_default or raise timeout_max.", document.span_of(pointer), pointer,
                             edits=edits.replace_value(document, pointer, edits.render_scalar(table["timeout_max"])),
                             fix_message=f"Write {most:g}")  # fmt: skip


@agent_rule("AGT086", severity="warning")
def timeout_max_over_own(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A call can take as long as the agent itself, or longer.

    Why: the agent's own time runs out while it waits, and the work of the agent that it called is lost.

    Bad: `timeout: 1800` and `timeout_max: 1800`

    Good: `timeout: 1800` and `timeout_max: 600`
    """
    document = case.document
    own, most = get_seconds(document.get("timeout")), get_seconds(_get_table(document).get("timeout_max"))
    if own is not None and most is not None and most >= own and list_targets(document):
        pointer = f"/{_TABLE}/timeout_max"
        yield AgentViolation(
            f"a call can take {most:g} s, but the agent itself has {own:g} s",
            "Lower timeout_max, so that the agent has time to use the result.",
            document.span_of(pointer),
            pointer,
        )


def _is_misspelling(name: str, others: Iterable[str]) -> bool:
    """Whether a name is a misspelling of one of the others, which another rule reports."""
    meant = find_similar(name, others, least=SURE)
    return meant is not None and abs(len(meant) - len(name)) <= MAX_SLIP


def _list_patterns(document: AgentDocument) -> list[tuple[str, tuple[int, int]]]:
    """Return the agents that the body describes how to call, and the places."""
    section = document.outline.get("delegation_patterns")
    tags = section.find_all("delegate_to")[:MAX_TARGETS] if section else ()
    named = [((tag.get("name") or "").strip(), tag.name_span) for tag in tags]
    return [(name, span) for name, span in named if name and "{" not in name]


@agent_rule("AGT087", severity="warning")
def pattern_for_target_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The agent can call another agent, and its delegation patterns don't say how.

    Why: without instructions, the agent calls too often or never, leaves out information, and ignores the result.

    Bad: `can_delegate_to: ["git-workflow-manager"]` and no `<delegate_to name="git-workflow-manager">`

    Good: one `<delegate_to>` for each agent in `can_delegate_to`
    """
    document = case.document
    described = {name for name, _ in _list_patterns(document)}
    targets = list_targets(document)
    if not described or not isinstance(_get_table(document).get("can_delegate_to"), list):
        return
    unnamed = described.difference(name for name, _ in targets)
    seen = {ANYONE, *_list_own_names(document)}
    for name, pointer in targets:
        if name not in described and name not in seen and not _is_misspelling(name, unnamed):
            yield AgentViolation(
                f"<delegation_patterns> doesn't describe how to call {show(name)}",
                f'Add <delegate_to name="{name[:80]}"> with when, context, expected_return and integration.',
                document.span_of(pointer),
                pointer,
            )
        seen.add(name)


@agent_rule("AGT088", fix="unsafe")
def pattern_without_target(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The delegation patterns name an agent that this agent can't call.

    Why: the call is refused during the run.

    Bad: `<delegate_to name="reviewer">` and no `reviewer` in `can_delegate_to`

    Good: `reviewer` in both

    Fix (unsafe): adds the name to `can_delegate_to`.
    """
    document = case.document
    named = _get_table(document).get("can_delegate_to")
    if not isinstance(named, list):
        return
    seen = {name for name, _ in list_targets(document)}
    if ANYONE in seen:
        return
    own, called = _list_own_names(document), _list_patterns(document)
    unused = seen.difference(name for name, _ in called)
    for name, span in called:
        if name not in seen and len(named) < MAX_TARGETS and not _is_misspelling(name, unused):
            yield AgentViolation(f"the delegation patterns call {show(name)}, which isn't in can_delegate_to",
                                 "Add it there, or remove the pattern.", span, _TARGETS, fix_message="Add it there",
                                 edits=edits.add_item(document, _TARGETS, edits.quote(name)) if name not in own else (),
                                 )  # fmt: skip
        seen.add(name)

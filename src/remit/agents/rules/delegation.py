"""Rules on delegation: whom an agent may call, how deep, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.agents import edits
from remit.agents.definition import ANYONE
from remit.agents.profiles import DEFAULT_TIMEOUT_S
from remit.agents.rules.keys import is_lost_in
from remit.agents.rules.register import Case, Report, rule
from remit.agents.rules.tables import is_number, show
from remit.model import MAX_DEPTH
from remit.spelling import SURE, find_meant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remit.agents.document import Document

_TABLE = "delegation"
_TARGETS = "/delegation/can_delegate_to"
MAX_TARGETS = 200
MAX_SLIP = 2
"""How many letters a misspelt name may be longer or shorter than what was meant."""


def _get_table(document: Document) -> dict[str, Any]:
    table = document.get_section(_TABLE)
    return table if isinstance(table, dict) else {}


def _list_targets(document: Document) -> list[tuple[str, str]]:
    """The agents that may be called, and the pointer to each."""
    named = _get_table(document).get("can_delegate_to")
    if isinstance(named, str):
        return [(named.strip(), _TARGETS)] if named.strip() else []
    items = enumerate(named[:MAX_TARGETS]) if isinstance(named, list) else ()
    return [(name.strip(), f"{_TARGETS}/{at}") for at, name in items if isinstance(name, str) and name.strip()]


def _list_own_names(document: Document) -> set[str]:
    return {document.stem, str(document.get("name")).strip()}


def _get_seconds(value: object) -> float | None:
    return value if is_number(value) and value > 0 else None


@rule("AGT080", "R1.28", fix="unsafe")
def delegation_depth(case: Case) -> Iterator[Report]:
    """The depth of delegation is not a whole number from 1 to 3.

    Why: a chain of calls is at most three deep; a call beyond that is refused. Anything else than a number means
    another limit to every reader, or none.

    Bad: `max_depth: 5`

    Good: `max_depth: 3`

    Fix (unsafe): writes the nearest number from 1 to 3.
    """
    document = case.document
    table = document.get_section(_TABLE)
    if table is not None and not isinstance(table, dict):
        yield Report("delegation is not a table", "Write max_depth and can_delegate_to below it.",
                     document.span_of(f"/{_TABLE}"), f"/{_TABLE}")  # fmt: skip
        return
    depth, pointer = _get_table(document).get("max_depth"), f"/{_TABLE}/max_depth"
    if depth is None:
        if _list_targets(document) and is_lost_in(document, _TABLE, "max_depth"):
            yield Report("the agent delegates, and max_depth is missing", f"Write max_depth: {MAX_DEPTH}, or less.",
                         document.key_span(f"/{_TABLE}"), pointer, severity="warning",
                         edits=edits.put_value(document, f"/{_TABLE}", "max_depth", str(MAX_DEPTH)))  # fmt: skip
    elif type(depth) is not int or not 1 <= depth <= MAX_DEPTH:
        nearest = _find_depth(depth)
        yield Report(f"max_depth is {show(depth)}, not a whole number from 1 to {MAX_DEPTH}",
                     f"Write a number from 1 to {MAX_DEPTH}.", document.span_of(pointer), pointer,
                     edits=edits.replace_value(document, pointer, str(nearest)) if nearest else (),
                     fix_message=f"Write {nearest}")  # fmt: skip


def _find_depth(value: object) -> int | None:
    """The allowed depth that is nearest to what is written; None where that is no number."""
    if isinstance(value, str) and value.strip()[:4].isdecimal():
        value = int(value.strip()[:4])
    return max(1, min(MAX_DEPTH, int(value))) if is_number(value) else None


@rule("AGT081", "R1.5", fix="safe")
def targets_form(case: Case) -> Iterator[Report]:
    """The agents that may be called are not a list of names.

    Why: a single text is read letter by letter or not at all, and the agent may call nobody.

    Bad: `can_delegate_to: git-workflow-manager`

    Good: `can_delegate_to: ["git-workflow-manager"]`

    Fix (safe): makes a list of a single text.
    """
    document = case.document
    named = _get_table(document).get("can_delegate_to")
    if isinstance(named, list):
        for at, name in enumerate(named[:MAX_TARGETS]):
            if not isinstance(name, str) or not name.strip():
                yield Report(f"an item of can_delegate_to is {show(name) if name else 'empty'}, not a name",
                             "Write the name of an agent, or remove it.", document.span_of(f"{_TARGETS}/{at}"),
                             f"{_TARGETS}/{at}")  # fmt: skip
    elif named is not None:
        names = [name.strip() for name in named.split(",") if name.strip()] if isinstance(named, str) else None
        listed = "" if names is None else f"[{', '.join(map(edits.quote, names))}]"
        yield Report(f"can_delegate_to is {show(named)}, not a list of names", "Put the names between brackets.",
                     document.span_of(_TARGETS), _TARGETS, fix_message="Make a list of it",
                     edits=edits.replace_value(document, _TARGETS, listed) if listed else ())  # fmt: skip


@rule("AGT082", "R1.27", fix="safe")
def target_itself(case: Case) -> Iterator[Report]:
    """The agent may call itself.

    Why: an agent that calls itself goes on until the depth or the money is gone; such a call is refused.

    Bad: `can_delegate_to: ["planner"]` in `planner.md`

    Good: the names of other agents

    Fix (safe): removes it, since the call would be refused.
    """
    document = case.document
    own = _list_own_names(document)
    for name, pointer in _list_targets(document):
        if name in own:
            removed = edits.remove_item(document, pointer) if pointer != _TARGETS else ()
            yield Report(f"{show(name)} may call itself", "Remove it.", document.span_of(pointer), pointer,
                         edits=removed)  # fmt: skip


@rule("AGT083", "R1.5", severity="warning", fix="safe")
def target_twice(case: Case) -> Iterator[Report]:
    """An agent stands twice in the list of those that may be called.

    Why: whoever removes one of them believes that the call is no longer allowed.

    Bad: `can_delegate_to: ["git-workflow-manager", "git-workflow-manager"]`

    Good: each name once

    Fix (safe): removes the later one.
    """
    document = case.document
    seen: set[str] = set()
    for name, pointer in _list_targets(document):
        if name in seen:
            yield Report(f"{show(name)} stands twice in can_delegate_to", "Remove one of the two.",
                         document.span_of(pointer), pointer, edits=edits.remove_item(document, pointer),
                         fix_message="Remove the later one")  # fmt: skip
        seen.add(name)


@rule("AGT084", "R1.27", fix="unsafe")
def delegation_timeouts(case: Case) -> Iterator[Report]:
    """The agent delegates without saying how long a call may take.

    Why: a call without a timeout can hang for good, and the agent with it.

    Bad: `can_delegate_to: ["git-workflow-manager"]` and no `timeout_default`

    Good: `timeout_default: 300` and `timeout_max: 600`

    Fix (unsafe): writes 300 and 600 seconds, or less where the agent itself has less than twice that.
    """
    document = case.document
    table = _get_table(document)
    delegates = bool(_list_targets(document))
    for key in ("timeout_default", "timeout_max"):
        value, pointer = table.get(key), f"/{_TABLE}/{key}"
        seconds = _guess_seconds(document, key)
        if value is None:
            if delegates and is_lost_in(document, _TABLE, key):
                yield Report(f"the agent delegates, and {key} is missing", f"Write {key}: {seconds}, in seconds.",
                             document.key_span(f"/{_TABLE}"), pointer,
                             edits=edits.put_value(document, f"/{_TABLE}", key, str(seconds)))  # fmt: skip
        elif _get_seconds(value) is None:
            digits = value.strip() if isinstance(value, str) and value.strip().isdecimal() else ""
            written = digits if digits and len(digits) < 7 and int(digits) else str(seconds)  # noqa: PLR2004 - days
            yield Report(f"{key} is {show(value)}, not a number of seconds", "Write a number of seconds.",
                         document.span_of(pointer), pointer, fix_message=f"Write {written}",
                         edits=edits.replace_value(document, pointer, written))  # fmt: skip


def _guess_seconds(document: Document, key: str) -> int:
    own = _get_seconds(document.get("timeout")) or DEFAULT_TIMEOUT_S
    most = max(1, int(min(600, own / 2)))
    if key == "timeout_default":
        given = _get_seconds(document.get(_TABLE, "timeout_max"))
        return max(1, int(min(300, given or most)))
    return max(most, int(_get_seconds(document.get(_TABLE, "timeout_default")) or 0))


@rule("AGT085", "R1.5", fix="unsafe")
def timeout_default_over_max(case: Case) -> Iterator[Report]:
    """A call may usually take longer than it may at most.

    Why: one of the two numbers is wrong, and every call is cut short by the other.

    Bad: `timeout_default: 900` and `timeout_max: 600`

    Good: `timeout_default: 300` and `timeout_max: 600`

    Fix (unsafe): lowers the usual timeout to the longest.
    """
    document = case.document
    table = _get_table(document)
    usual, most = _get_seconds(table.get("timeout_default")), _get_seconds(table.get("timeout_max"))
    if usual is not None and most is not None and usual > most:
        pointer = f"/{_TABLE}/timeout_default"
        yield Report(f"timeout_default is {usual:g} s, over timeout_max, which is {most:g} s",
                     "Lower the one or raise the other.", document.span_of(pointer), pointer,
                     edits=edits.replace_value(document, pointer, edits.render_scalar(table["timeout_max"])),
                     fix_message=f"Write {most:g}")  # fmt: skip


@rule("AGT086", "R1.5", severity="warning")
def timeout_max_over_own(case: Case) -> Iterator[Report]:
    """A call may take as long as the agent itself, or longer.

    Why: the agent runs out of time while it waits, and what its helper did is lost with it.

    Bad: `timeout: 1800` and `timeout_max: 1800`

    Good: `timeout: 1800` and `timeout_max: 600`
    """
    document = case.document
    own, most = _get_seconds(document.get("timeout")), _get_seconds(_get_table(document).get("timeout_max"))
    if own is not None and most is not None and most >= own and _list_targets(document):
        pointer = f"/{_TABLE}/timeout_max"
        yield Report(f"a call may take {most:g} s, and the agent itself has {own:g} s",
                     "Leave the agent time to use the answer: lower timeout_max.", document.span_of(pointer),
                     pointer)  # fmt: skip


def _is_slip(name: str, others: Iterable[str]) -> bool:
    """Whether a name is one of the others, misspelt: that is told where names are looked up."""
    meant = find_meant(name, others, least=SURE)
    return meant is not None and abs(len(meant) - len(name)) <= MAX_SLIP


def _list_patterns(document: Document) -> list[tuple[str, tuple[int, int]]]:
    """The agents for which the body says how they are called, and where it does."""
    section = document.outline.get("delegation_patterns")
    tags = section.find_all("delegate_to")[:MAX_TARGETS] if section else ()
    named = [((tag.get("name") or "").strip(), tag.name_span) for tag in tags]
    return [(name, span) for name, span in named if name and "{" not in name]


@rule("AGT087", "R1.18", severity="warning")
def pattern_for_target_missing(case: Case) -> Iterator[Report]:
    """The agent may call another one, and its delegation patterns do not say how.

    Why: without them it calls too often or never, leaves out what the other one needs, and loses its answer.

    Bad: `can_delegate_to: ["git-workflow-manager"]` and no `<delegate_to name="git-workflow-manager">`

    Good: one `<delegate_to>` for each agent that may be called
    """
    document = case.document
    described = {name for name, _ in _list_patterns(document)}
    targets = _list_targets(document)
    if not described or not isinstance(_get_table(document).get("can_delegate_to"), list):
        return
    strange = described.difference(name for name, _ in targets)
    seen = {ANYONE, *_list_own_names(document)}
    for name, pointer in targets:
        if name not in described and name not in seen and not _is_slip(name, strange):
            yield Report(f"<delegation_patterns> does not say how {show(name)} is called",
                         f'Add <delegate_to name="{name[:80]}"> with when, context, expected_return and integration.',
                         document.span_of(pointer), pointer)  # fmt: skip
        seen.add(name)


@rule("AGT088", "R1.18", fix="unsafe")
def pattern_without_target(case: Case) -> Iterator[Report]:
    """The delegation patterns tell the agent to call one that it may not call.

    Why: the call is refused while it works.

    Bad: `<delegate_to name="reviewer">` and no `reviewer` in `can_delegate_to`

    Good: `reviewer` in both

    Fix (unsafe): adds it to the agents that may be called.
    """
    document = case.document
    named = _get_table(document).get("can_delegate_to")
    if not isinstance(named, list):
        return
    seen = {name for name, _ in _list_targets(document)}
    if ANYONE in seen:
        return
    own, called = _list_own_names(document), _list_patterns(document)
    unused = seen.difference(name for name, _ in called)
    for name, span in called:
        if name not in seen and len(named) < MAX_TARGETS and not _is_slip(name, unused):
            yield Report(f"{show(name)} is to be called, and can_delegate_to does not name it",
                         "Add it there, or remove the pattern.", span, _TARGETS, fix_message="Add it there",
                         edits=edits.add_item(document, _TARGETS, edits.quote(name)) if name not in own else (),
                         )  # fmt: skip
        seen.add(name)

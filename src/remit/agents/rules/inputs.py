"""Rules on the inputs: which are required, of which type, and which are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.passages import USUAL_FORBIDDEN, USUAL_INPUTS, render_parameter, render_section
from remit.agents.rules.register import Case, Report, rule
from remit.agents.rules.sections import cut_tag, find_kind, find_top, shorten
from remit.lazy import lazy
from remit.spelling import find_meant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import Document
    from remit.agents.tags import Tag
    from remit.model import Severity

TYPES = ("string", "integer", "number", "boolean", "array", "object", "enum")
"""The types that an input can be checked against."""
_OTHER_TYPES = {
    "int": "integer", "str": "string", "text": "string", "bool": "boolean", "list": "array", "dict": "object",
    "float": "number", "double": "number", "map": "object", "table": "object", "json": "object", "path": "string",
    "file": "string", "url": "string", "date": "string", "char": "string", "long": "integer", "tuple": "array",
    "flag": "boolean", "num": "number", "arr": "array", "obj": "object", "strings": "array",
}  # fmt: skip
"""What other languages call them."""
_LENIENT_TYPES = frozenset({"any", "null", "none"})
_TYPE_WORD = lazy(r"[A-Za-z_]{1,40}")

CORE_INPUTS = ("task_number", "session_id", "delegation_depth", "delegation_path")
"""Without these a delegation cannot be told from another; language and timeout may be left out."""


def find_parameters(document: Document) -> list[Tag]:
    """Every required or optional input, also those that stand in a group."""
    section = document.outline.get("inputs_required")
    return [tag for tag in section.walk() if tag.name == "parameter"] if section else []


def _find_forbidden(document: Document) -> list[tuple[str, Tag]]:
    """The name of each forbidden input: what its tag begins with, or its attribute."""
    section = document.outline.get("inputs_forbidden")
    tags = [tag for tag in section.walk() if tag.name == "forbidden"] if section else []
    return [(tag.get("name") or _read_name(document.text_of(tag)), tag) for tag in tags]


def _read_name(text: str) -> str:
    found = _NAME.match(text)
    return found[0] if found else ""


_NAME = lazy(r"\w{1,80}")


@rule("AGT110", "R1.10", fix="unsafe")
def inputs_missing(case: Case) -> Iterator[Report]:
    """The required inputs are missing or empty.

    Why: whoever delegates to the agent cannot know what to give it, and nothing can be checked before it starts.

    Bad: no `<inputs_required>`

    Good: `<inputs_required><parameter name="task_number" type="integer">The task.</parameter></inputs_required>`

    Fix (unsafe): adds the section with the usual inputs.
    """
    document = case.document
    section = document.outline.get("inputs_required")
    wanted = "\n".join(render_parameter(name) for name in _list_usual(document))
    if section is None and document.outline.lacks("inputs_required"):
        block = render_section("inputs_required", wanted)
        yield Report("<inputs_required> is missing", "List what the agent has to be given, with types.",
                     find_top(document), edits=edits.add_section(document, block, name="inputs_required"))  # fmt: skip
    elif section is not None and not find_parameters(document) and not _has_slip(document, section):
        added = () if document.text_of(section) else edits.add_child(document, section, wanted)
        yield Report("<inputs_required> names no <parameter>", 'Write each input as <parameter name="…" type="…">.',
                     section.name_span, edits=added)  # fmt: skip


def _has_slip(document: Document, section: Tag) -> bool:
    return bool(document.outline.slipped(section))


def _list_usual(document: Document) -> list[str]:
    """The usual inputs of an agent; a utility serves any task, or none."""
    if find_kind(document) == "utility":
        return ["session_id", "delegation_depth", "delegation_path"]
    return list(USUAL_INPUTS)


@rule("AGT111", "R1.10", severity="warning", fix="unsafe")
def usual_input_missing(case: Case) -> Iterator[Report]:
    """One of the usual inputs is missing.

    Why: without session, depth and path a delegation cannot be followed or stopped; without the task's number nothing
    can be written to its place. That language and timeout are missing is only a note.

    Bad: an `<inputs_required>` without `session_id`

    Good: task_number, session_id, delegation_depth, delegation_path, language, timeout

    Fix (unsafe): adds them, with their usual types.
    """
    document = case.document
    section = document.outline.get("inputs_required")
    given = {tag.get("name") for tag in find_parameters(document)}
    if section is None or not given or _has_slip(document, section):
        return
    missing = [name for name in _list_usual(document) if name not in given]
    severity: Severity = "warning" if any(name in CORE_INPUTS for name in missing) else "note"
    if missing:
        yield Report(f"the usual input{'s' * (len(missing) > 1)} {', '.join(missing)} "
                     f"{'are' if len(missing) > 1 else 'is'} missing", "Add what the agent is given or can do with.",
                     section.name_span, severity=severity,
                     edits=edits.add_child(document, section, "\n".join(map(render_parameter, missing))))  # fmt: skip


@rule("AGT112", "R1.10", fix="safe")
def parameter_incomplete(case: Case) -> Iterator[Report]:
    """An input has no name or no type.

    Why: what has no name cannot be given, what has no type cannot be checked.

    Bad: `<parameter name="task_number">`

    Good: `<parameter name="task_number" type="integer">`

    Fix (safe): adds the type of a usual input, which is known.
    """
    for tag in find_parameters(case.document):
        name = (tag.get("name") or "").strip()
        if not name:
            yield Report("an input has no name", 'Write <parameter name="…" type="…">.', tag.name_span)
        elif not (tag.get("type") or "").strip():
            at, known = tag.name_span[1], USUAL_INPUTS.get(name)
            is_blank = tag.get("type") is not None  # `type=""`: there is something to replace, and no place to add
            yield Report(f"the input {shorten(name)} has no type", f"Add type, one of {', '.join(TYPES)}.",
                         tag.name_span,
                         edits=() if known is None or is_blank else
                         ((_end_of_attributes(tag, at),) * 2 + (f' type="{known[0]}"',),))  # fmt: skip


def _end_of_attributes(tag: Tag, name_end: int) -> int:
    return tag.attributes_start + len(tag.attributes.rstrip()) if tag.attributes else name_end


@rule("AGT113", "R1.10", severity="warning", fix="safe")
def parameter_type_unknown(case: Case) -> Iterator[Report]:
    """The type of an input is none that is known.

    Why: inputs are checked before an agent is started; one of an unknown type is let through unchecked.

    Bad: `<parameter name="task_number" type="int">`

    Good: `<parameter name="task_number" type="integer">`

    Fix (safe): writes the standard's word for the type that was meant.
    """
    for tag in find_parameters(case.document):
        written, span = tag.get("type") or "", tag.find_value("type")
        word = _TYPE_WORD.search(written)
        if not written.strip() or span is None or written.startswith("{"):
            continue
        low = word[0].lower() if word else ""
        if low in _LENIENT_TYPES or (word is not None and word[0] in TYPES):
            continue
        meant = low if low in TYPES else _OTHER_TYPES.get(low) or find_meant(low, TYPES)
        hint = f"Did you mean {meant}?" if meant else f"Write one of {', '.join(TYPES)}."
        start = span[0] + (word.start() if word else 0)
        yield Report(f"{shorten(written)} is no type of an input", hint, span,
                     edits=((start, start + len(low), meant),) if meant and word else ())  # fmt: skip


@rule("AGT114", "R1.10", fix="unsafe")
def parameter_repeated(case: Case) -> Iterator[Report]:
    """An input is listed twice.

    Why: where the two differ in type or in being optional, nobody knows which holds.

    Bad: `<parameter name="language" type="string">One.</parameter>` and, further down,
    `<parameter name="language" type="string">Two.</parameter>`

    Good: one.

    Fix (unsafe): removes the second where it has the same type, and leaves the choice to you where it has not.
    """
    seen: dict[str, Tag] = {}
    for tag in find_parameters(case.document):
        name = (tag.get("name") or "").strip()
        first = seen.setdefault(name, tag)
        if name and first is not tag:
            same = first.get("type") == tag.get("type") and first.get("optional") == tag.get("optional")
            yield Report(f"the input {shorten(name)} is listed twice", "Keep one of the two.", tag.name_span,
                         edits=(cut_tag(case.document, tag),) if same and tag.closed else ())  # fmt: skip


@rule("AGT115", "R1.11", severity="warning", fix="unsafe")
def forbidden_missing(case: Case) -> Iterator[Report]:
    """Nothing is said about what the agent must not be given.

    Why: a caller that passes its whole conversation fills the agent's context, and what is in it steers the agent.

    Bad: no `<inputs_forbidden>`

    Good: `<inputs_forbidden><forbidden>conversation_history</forbidden></inputs_forbidden>`

    Fix (unsafe): adds the section with the three usual ones.
    """
    document = case.document
    section = document.outline.get("inputs_forbidden")
    wanted = "\n".join(f"<forbidden>{name}</forbidden>" for name in USUAL_FORBIDDEN)
    if section is None and document.outline.lacks("inputs_forbidden"):
        block = render_section("inputs_forbidden", wanted)
        yield Report("<inputs_forbidden> is missing", "List what the agent must not be given.", find_top(document),
                     edits=edits.add_section(document, block, name="inputs_forbidden"))  # fmt: skip
    elif section is not None and not _find_forbidden(document) and not _has_slip(document, section):
        added = () if document.text_of(section) else edits.add_child(document, section, wanted)
        yield Report("<inputs_forbidden> names no <forbidden>", "Write each as <forbidden>name</forbidden>.",
                     section.name_span, edits=added)  # fmt: skip


@rule("AGT116", "R1.11", severity="note", fix="unsafe")
def usual_forbidden_missing(case: Case) -> Iterator[Report]:
    """One of the inputs that are usually forbidden is not.

    Why: the conversation, the whole state and loose text are what callers pass by mistake.

    Bad: `<inputs_forbidden><forbidden>conversation_history</forbidden></inputs_forbidden>`

    Good: conversation_history, full_system_state, unstructured_context

    Fix (unsafe): forbids them too.
    """
    document = case.document
    section = document.outline.get("inputs_forbidden")
    given = {name for name, _ in _find_forbidden(document)}
    if section is None or not given or _has_slip(document, section):
        return
    required = {tag.get("name") for tag in find_parameters(document)}
    missing = [name for name in USUAL_FORBIDDEN if name not in given and name not in required]
    if missing:
        lines = "\n".join(f"<forbidden>{name}</forbidden>" for name in missing)
        yield Report(f"{', '.join(missing)} {'are' if len(missing) > 1 else 'is'} usually forbidden too",
                     "Forbid what the agent has no use for.", section.name_span,
                     edits=edits.add_child(document, section, lines))  # fmt: skip


@rule("AGT117", "R1.10 R1.11")
def input_required_and_forbidden(case: Case) -> Iterator[Report]:
    """An input is asked for and forbidden at once.

    Why: no delegation can satisfy both, so every one is refused.

    Bad: `<parameter name="full_system_state" type="string">All of it.</parameter>` and
    `<forbidden>full_system_state</forbidden>`

    Good: one of the two.
    """
    document = case.document
    required = {(tag.get("name") or "").strip() for tag in find_parameters(document)}
    for name, tag in _find_forbidden(document):
        if name and name in required:
            yield Report(f"the input {shorten(name)} is both asked for and forbidden", "Keep one of the two.",
                         tag.name_span)  # fmt: skip

"""Rules on the inputs: which are required, of which type, and which are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.rules.register import Case, Report, rule
from remit.agents.rules.section_shapes import shorten
from remit.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import Document
    from remit.agents.tags import Tag


def find_parameters(document: Document) -> list[Tag]:
    """Every required or optional input, also those that stand in a group."""
    section = document.outline.get("inputs_required")
    return [tag for tag in section.walk() if tag.name == "parameter"] if section else []


def find_forbidden(document: Document) -> list[tuple[str, Tag]]:
    """The name of each forbidden input: what its tag begins with, or its attribute."""
    section = document.outline.get("inputs_forbidden")
    tags = [tag for tag in section.walk() if tag.name == "forbidden"] if section else []
    return [(tag.get("name") or _read_name(document.text_of(tag)), tag) for tag in tags]


def _read_name(text: str) -> str:
    found = _NAME.match(text)
    return found[0] if found else ""


_NAME = lazy(r"\w{1,80}")


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
    for name, tag in find_forbidden(document):
        if name and name in required:
            yield Report(f"the input {shorten(name)} is both asked for and forbidden", "Keep one of the two.",
                         tag.name_span)  # fmt: skip

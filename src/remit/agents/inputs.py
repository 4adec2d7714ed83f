"""Inputs: reads `<inputs_required>` and `<inputs_forbidden>` of an agent file into plain values.

Runs store these values. Rules report inputs that are written incorrectly.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.tags import Tag

MAX_INPUTS = 200
MAX_TEXT = 300
_NAME = lazy(r"\w{1,80}")
_TYPE_WORD = lazy(r"[A-Za-z]{1,40}")
TYPES = ("string", "integer", "number", "boolean", "array", "object", "enum")
"""The standard's types."""
TYPE_WORDS = {
    "string": "string", "str": "string", "text": "string", "path": "string", "file": "string", "url": "string",
    "date": "string", "char": "string", "integer": "integer", "int": "integer", "long": "integer", "number": "number",
    "float": "number", "double": "number", "num": "number", "boolean": "boolean", "bool": "boolean", "flag": "boolean",
    "array": "array", "list": "array", "arr": "array", "tuple": "array", "strings": "array", "object": "object",
    "dict": "object", "map": "object", "table": "object", "obj": "object",
}  # fmt: skip
"""The standard's name of each type that values are checked against. json, any and enum aren't checked."""
_FALSE = ("false", "no", "0")


class Parameter(NamedTuple):
    """An input that an agent takes."""

    name: str
    type: str = ""
    """One of the standard's types, or "" if values aren't checked."""
    optional: bool = False
    text: str = ""
    """Its description in the file, on one line."""


class Inputs(NamedTuple):
    """The inputs that an agent accepts and refuses. An agent without these sections accepts all inputs."""

    parameters: tuple[Parameter, ...] = ()
    forbidden: tuple[str, ...] = ()


def read_inputs(document: AgentDocument) -> Inputs:
    """Return the inputs of a file. Of duplicates, the first counts."""
    parameters = {each.name: each for each in _read_parameters(document)}
    return Inputs(tuple(parameters.values()), tuple(dict.fromkeys(name for name, _ in find_forbidden(document))))


def find_parameters(document: AgentDocument) -> list[Tag]:
    """Return the tags of all inputs, including those in groups."""
    return _find_tags(document, "inputs_required", "parameter")


def find_forbidden(document: AgentDocument) -> Iterator[tuple[str, Tag]]:
    """Return the name and tag of each forbidden input. The name is the attribute or the beginning of the text."""
    for tag in _find_tags(document, "inputs_forbidden", "forbidden"):
        found = _NAME.match((tag.get("name") or "").strip() or document.text_of(tag))
        if found:
            yield found[0], tag


def normalize_input_name(name: str) -> str:
    """Return a name for comparison, so that a different spelling (`Conversation-History`) is forbidden, too."""
    folded = unicodedata.normalize("NFKC", name[:MAX_TEXT]).casefold()
    return "".join(char for char in folded if char.isalnum())


def _read_parameters(document: AgentDocument) -> Iterator[Parameter]:
    seen = set()
    for tag in find_parameters(document):
        name = (tag.get("name") or "").strip()[:MAX_TEXT]
        if name and name not in seen:
            seen.add(name)
            text = " ".join(document.text[tag.inner_start : tag.inner_end][: MAX_TEXT * 4].split())[:MAX_TEXT]
            yield Parameter(name, _read_type(tag.get("type") or ""), _is_optional(tag), text)


def _is_optional(tag: Tag) -> bool:
    optional, required = tag.get("optional"), tag.get("required")
    if optional is not None:  # `optional` without a value means yes
        return optional.strip().lower() not in _FALSE
    return required is not None and required.strip().lower() in _FALSE


def _read_type(written: str) -> str:
    if "|" in written or " or " in written:
        return ""
    if written.rstrip().endswith("[]"):
        return "array"
    found = _TYPE_WORD.search(written)
    return TYPE_WORDS.get(found[0].lower(), "") if found else ""


def _find_tags(document: AgentDocument, section: str, name: str) -> list[Tag]:
    """Return the tags of a section, including those in groups."""
    found = document.outline.get(section)
    return [tag for tag in found.walk() if tag.name == name][:MAX_INPUTS] if found else []

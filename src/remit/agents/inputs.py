"""Inputs: what an agent's file says it has to be given, and what it must not be given.

Owns the reading of `<inputs_required>` and `<inputs_forbidden>` into plain values, which can be kept with a delegation.
Whether the file writes them well is for the rules to say.
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
"""The standard's word for each type that a value can be checked against; json, any and enum say nothing of a value."""
_FALSE = ("false", "no", "0")


class Parameter(NamedTuple):
    """An input that an agent takes."""

    name: str
    type: str = ""
    """One of the standard's types; empty where the file gives none that a value can be checked against."""
    optional: bool = False
    text: str = ""
    """What the file says of it, in one line."""


class Inputs(NamedTuple):
    """What an agent takes and what it refuses. A file that says nothing takes anything."""

    parameters: tuple[Parameter, ...] = ()
    forbidden: tuple[str, ...] = ()


def read_inputs(document: AgentDocument) -> Inputs:
    """The inputs that a file names, each once; the first of two counts."""
    parameters = {each.name: each for each in _read_parameters(document)}
    return Inputs(tuple(parameters.values()), tuple(dict.fromkeys(name for name, _ in find_forbidden(document))))


def find_parameters(document: AgentDocument) -> list[Tag]:
    """The tag of every input, also of those that are in a group."""
    return _find_tags(document, "inputs_required", "parameter")


def find_forbidden(document: AgentDocument) -> Iterator[tuple[str, Tag]]:
    """The name and the tag of every forbidden input: its attribute, or what the tag begins with."""
    for tag in _find_tags(document, "inputs_forbidden", "forbidden"):
        found = _NAME.match((tag.get("name") or "").strip() or document.text_of(tag))
        if found:
            yield found[0], tag


def normalize_input_name(name: str) -> str:
    """A name as it is compared where a trick of spelling must not help: `Conversation-History` is forbidden as well."""
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
    if optional is not None:  # `optional` alone says yes
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
    """The tags of a section, also those that stand in a group."""
    found = document.outline.get(section)
    return [tag for tag in found.walk() if tag.name == name][:MAX_INPUTS] if found else []

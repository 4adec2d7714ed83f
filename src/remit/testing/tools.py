"""The standard's names of tools, and the harnesses' names of the same tools.

A script says `write` with a `path`; one harness knows that as `Write` with a `file_path`, the next one
as `write` with a `filePath`, and the third has no such tool and goes through its shell.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from remit.harnesses import claude, codex, gemini, opencode
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = {
    **{
        tool: (claude.NAMES[tool], tool, *codex.NAMES.get(tool, ()), *gemini.NAMES.get(tool, ()))
        for tool in ("read", "write", "edit", "bash", "grep", "glob")
    },
    "task": (*claude.DELEGATING, opencode.DELEGATING, codex.SPAWN),
}
"""opencode calls its tools by the names of the standard."""
_SPELLINGS = {
    "path": (*claude.PATH_KEYS, *opencode.PATH_KEYS, *gemini.PATH_KEYS),
    "command": codex.COMMAND_KEYS,
    "old": (claude.OLD_KEY, opencode.OLD_KEY),
    "new": (claude.NEW_KEY, opencode.NEW_KEY),
    "agent": (claude.AGENT_KEY, codex.AGENT_KEY),
    "prompt": (claude.PROMPT_KEY, codex.PROMPT_KEY),
}


class Offer(NamedTuple):
    """A tool that a request offers to the model."""

    name: str
    properties: Mapping[str, Any] = NOTHING
    """Of its arguments, by JSON Schema."""
    namespace: str | None = None
    nested: Literal["", "object", "text"] = ""
    """Whether the model calls it by JavaScript in another tool, and what it takes there."""

    @property
    def encrypted(self) -> tuple[str, ...]:
        """The arguments that the model's server encrypts before the harness gets them."""
        return tuple(name for name, schema in self.properties.items() if schema.get("encrypted") is True)


def read_offer(name: str, schema: object, namespace: str | None = None) -> Offer:
    """A tool with the properties of its schema."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return Offer(name, properties if isinstance(properties, dict) else NOTHING, namespace)


def translate_call(tool: str, args: Mapping[str, Any], offers: Mapping[str, Offer]) -> tuple[Offer, dict[str, Any]]:
    """Translate a call to the harness's tool; return the call unchanged if the harness has no such tool."""
    for name in NAMES.get(tool, ()):
        if name in offers:
            return offers[name], _spell(args, offers[name])
    if tool == "write" and {"path", "content"} <= args.keys():
        return translate_call("bash", {"command": _write_by_shell(**args)}, offers)
    for name, offer in offers.items():
        if name == tool or name.endswith(f"_{tool}"):
            return offer, {key: _count(value, offer.properties.get(key)) for key, value in args.items()}
    return Offer(tool), dict(args)


def _count(value: object, schema: object) -> object:
    """A number that stands in a text, such as a grabbed one, as the number that the tool wants."""
    wants_number = isinstance(schema, dict) and schema.get("type") in ("integer", "number")
    return int(value) if wants_number and isinstance(value, str) and value.isdecimal() else value


def _write_by_shell(path: str, content: str) -> str:
    file = shlex.quote(path)
    return f'mkdir -p "$(dirname {file})" && printf %s {shlex.quote(content)} > {file}'


def _spell(args: Mapping[str, Any], offer: Offer) -> dict[str, Any]:
    known = offer.properties
    spelled = {}
    for key, value in args.items():
        name = next((name for name in (key, *_SPELLINGS.get(key, ())) if name in known), key)
        if name in known or not known:
            takes_list = isinstance(value, str) and known.get(name, {}).get("type") == "array"
            spelled[name] = ["bash", "-lc", value] if takes_list else value
    if "description" in known:
        spelled.setdefault("description", "scripted")
    return spelled

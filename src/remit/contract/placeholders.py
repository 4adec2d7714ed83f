"""Templates that nobody filled in.

Owns the signs by which an echo of a format description is told from a return: ellipses, `<blanks>`, `{{TOKENS}}`, lists
of alternatives where one word belongs, and the names of types.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from remit.contract.schemas import ListOf, Record, TextOrList

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.contract.schemas import Shape

MAX_TEXTS = 5_000

STOCK = frozenset({
    "string", "number", "boolean", "agent_name", "agent-name", "your-agent-name", "session_id", "relative/path",
    "relative/path/to/artifact.md", "relative/path/from/project/root", "relative/path/from/root", "path/to/artifact",
    "path/to/artifact.md", "path/to/file", "path/to/file.md", "unique_session_identifier", "your_session_id",
    "error_code", "placeholder", "tbd", "todo", "lorem ipsum", "brief 2-5 sentence summary (<100 tokens)",
    "brief 2-5 sentence summary (max 100 tokens)",
})  # fmt: skip
"""Whole texts that are blanks by themselves."""
STOCK_CHARS = max(map(len, STOCK))

_WHOLE = re.compile(
    r"(?:\.{2,}|…|\[?\.{3}\]?|<[^<>]{1,120}>|\{\{[^{}]{1,80}\}\}|\{[a-z][a-z0-9_ ]{0,60}\})\s*\Z", re.IGNORECASE
)
_TOKEN = re.compile(
    r"\{\{\s*[A-Z][A-Z0-9_]{1,40}\s*\}\}|<(?:your|insert|path|the|session|agent)[ _-][^<>]{0,60}>", re.IGNORECASE
)
_ALTERNATIVES = re.compile(r"[\w.-]{1,40}(?:\s?\|\s?[\w.-]{1,40}){1,20}\Z")
_ONE_WORD = frozenset({"status", "type", "agent_type", "agent_name", "session_id"})
_DECIDING = frozenset({"summary", "path", "file", "session_id", "agent_type", "agent_name"})
_EXACT = frozenset({"path", "file", "session_id"})


def find_placeholders(payload: Mapping[str, Any], shape: Record) -> Iterator[tuple[str, str]]:
    """The (JSON Pointer, text) of every unfilled blank in what the dialect requires or expects."""
    left = [MAX_TEXTS]
    for key, inner in shape.known.items():
        if key in payload and not isinstance(inner, TextOrList):
            yield from _walk(payload[key], inner, key, f"/{key}", left)


def _walk(value: object, shape: Shape, key: str, pointer: str, left: list[int]) -> Iterator[tuple[str, str]]:
    left[0] -= 1
    if left[0] < 0:
        return
    if isinstance(value, str):
        if is_placeholder(value, key):
            yield pointer, value
    elif isinstance(value, dict) and isinstance(shape, Record):
        for name, inner in shape.known.items():
            if name in value:
                yield from _walk(value[name], inner, name, f"{pointer}/{name}", left)
    elif isinstance(value, list) and isinstance(shape, ListOf):
        for index, item in enumerate(value):
            yield from _walk(item, shape.item, key, f"{pointer}/{index}", left)


def is_placeholder(text: str, key: str) -> bool:
    """Whether a text is a blank, given the key it stands under."""
    plain = text.strip()
    if len(plain) <= STOCK_CHARS and key in _DECIDING and plain.lower() in STOCK:
        return True
    return bool(
        (plain[:1] in (".", "…", "<", "{", "[") and _WHOLE.match(plain))
        or (key in _ONE_WORD and "|" in plain and _ALTERNATIVES.match(plain))
        or (key in _EXACT and (_TOKEN.search(plain) or "..." in plain.split("/") or plain.endswith("_...")))
    )

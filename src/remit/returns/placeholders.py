"""Placeholders: texts of a format description that the agent didn't replace.

These are ellipses, `<blanks>`, `{{TOKENS}}`, lists of alternatives instead of one word, names of types, and a summary
that is entirely in square brackets. An artifact's summary in square brackets is ordinary text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.lazy_regex import lazy
from remit.returns.rules import ParseIssue
from remit.returns.shapes import AnyShape, ListShape, ObjectShape, TextListShape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.returns.formats import Format
    from remit.returns.shapes import Shape

STOCK = frozenset({
    "string", "number", "boolean", "agent_name", "agent-name", "agent_name_here", "your-agent-name", "session_id",
    "unique_session_identifier", "unique_session_id", "your_session_id", "error_code", "placeholder", "tbd",
    "lorem ipsum",
    "todo", "to do", "fixme", "changeme", "change_me", "n/a", "none", "null", "undefined", "summary", "path", "xxx",
})  # fmt: skip
"""Whole texts that are placeholders."""
STOCK_CHARS = max(map(len, STOCK))
STOCK_PATHS = ("path/to/", "relative/path")
STOCK_SUMMARIES = ("Brief 2-5 sentence", "brief 2-5 sentence")
"""The beginnings of paths and summaries in format descriptions."""

_WHOLE = lazy(r"(?:\.{2,}|…|\[(?:\.{3}|…)\]|<[\w…][^<>]{0,120}>|\{\{[^{}]{1,80}\}\}|\{[a-z][a-z0-9_ ]{0,60}\})\s*\Z")
_BRACKETED = lazy(r"(?:(?:\[[^\[\]]{1,300}\]|【[^【】]{1,300}】)[.!?。]?\s*+)++\Z")
_TOKEN = lazy(r"\$\{?[A-Z_]{3,}|\{\{?\s*[A-Za-z][\w ]{1,40}\}?\}|<[a-zA-Z][\w -]{0,60}>|X{3,}")
_ALTERNATIVES = lazy(r"[\w.-]{1,40}(?:\s?\|\s?[\w.-]{1,40}){1,20}\Z")
_ONE_WORD = frozenset({"status", "type", "agent_type", "agent_name", "session_id"})
_DECIDING = frozenset({"summary", "path", "file", "session_id", "agent_type", "agent_name"})
_BLANK_IN_PATH = lazy(r"\{\{\s*\w[\w ]{0,40}\}\}|<[a-zA-Z][\w -]{0,60}>")


def find_placeholders(payload: Mapping[str, Any], shape: ObjectShape) -> Iterator[tuple[str, str]]:
    """Yield (JSON Pointer, text) of each placeholder in a known field of the format."""
    for key, inner in shape.known.items():
        if key in payload:
            yield from _walk(payload[key], inner, key, f"/{key}")


def _walk(value: object, shape: Shape, key: str, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and not isinstance(shape, AnyShape):
        # An artifact's summary may be any short text; the summary of the return may not be a stock phrase.
        name = "caption" if key == "summary" and pointer != "/summary" else key
        if is_placeholder(value, name):
            yield pointer, value
    elif isinstance(value, dict) and isinstance(shape, ObjectShape):
        for name, inner in shape.known.items():
            if name in value:
                yield from _walk(value[name], inner, name, f"{pointer}/{name}")
    elif isinstance(value, list) and isinstance(shape, ListShape | TextListShape):
        for index, item in enumerate(value):
            yield from _walk(item, shape.item if isinstance(shape, ListShape) else shape, key, f"{pointer}/{index}")


def is_placeholder(text: str, key: str) -> bool:
    """Whether a text is a placeholder, given its key."""
    plain = text.strip()
    if len(text) <= STOCK_CHARS and key in _DECIDING and text.lower() in STOCK:
        return True
    if key in ("path", "file") and (text.startswith(STOCK_PATHS) or "..." in plain.split("/")):
        return True
    if key == "summary" and (text.startswith(STOCK_SUMMARIES) or _BRACKETED.match(plain)):
        return True
    if plain[:1] in (".", "…", "<", "{", "[") and _WHOLE.match(plain):
        return True
    if key in _ONE_WORD and "|" in plain and _ALTERNATIVES.match(plain):
        return True
    if key in ("path", "file"):
        return bool(_BLANK_IN_PATH.search(plain))
    return key in ("session_id", "id") and (bool(_TOKEN.search(plain)) or "..." in plain)


def find_blanks(
    payload: Mapping[str, Any], return_format: Format, session_id: str | None = None
) -> Iterator[ParseIssue]:
    """Yield an issue for each placeholder. An issued session id isn't a placeholder, even if it looks like one."""
    for pointer, text in find_placeholders(payload, return_format.shape):
        if text == session_id and pointer.endswith("/session_id"):
            continue
        message = f"{pointer[1:]} is a placeholder: {text[:60]}"
        yield ParseIssue("template", message, "Replace it with a real value.", pointer=pointer)

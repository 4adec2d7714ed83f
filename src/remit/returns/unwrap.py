"""Unwrap a final message that a program has wrapped.

Programs pass a message on as a JSON text, inside a command line's result object or a chat completion, line by line,
HTML-escaped, or with escaped quotes. Only the message as a whole is unwrapped, and only if it has no usable return as
it is: a text inside another object is data, not an answer.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

import jiter

from remit.lazy_regex import lazy
from remit.returns.conflicts import find_denials

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    IsReturn = Callable[[Mapping[str, Any]], bool]

MAX_LEVELS = 3
MAX_LINES = 2_000
MAX_ANSWERS = 8
MAX_KEYS = 20_000

_ESCAPED_OBJECT = lazy(r'^[ \t]*+\{\s*+(?:\\n\s*+)*+\\"', re.MULTILINE)
_PLAIN_OBJECT = lazy(r'\{\s*+"')
_ENTITY = lazy(r"&(?:quot|#34|#x22);", re.IGNORECASE)
_ENTITIES = (("&quot;", '"'), ("&#34;", '"'), ("&#x22;", '"'), ("&apos;", "'"), ("&#39;", "'"), ("&#x27;", "'"),
             ("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&amp;", "&"))  # fmt: skip
_ESCAPES = (("\\\\", "\0"), ('\\"', '"'), ("\\n", "\n"), ("\\t", "\t"), ("\\r", ""), ("\\/", "/"), ("\0", "\\"))
"""Replaced pair by pair in the whole text; a NUL temporarily replaces an escaped backslash."""

_CARRIERS = (
    "result", "response", "text", "return", "final_message", "final", "final_answer", "answer", "structured_output",
    "structuredContent", "structured_content", "choices", "candidates", "messages", "parts", "delta", "item", "part",
    "data",
)  # fmt: skip
"""Keys under which programs pass on an agent's message."""
_SPEAKING_TYPES = frozenset({"message", "assistant", "text", "output_text", "agent_message", "result"})
_ASSISTANTS = frozenset({"assistant", "model", "ai"})
_OTHER_SPEECH = frozenset({
    "file_path", "path", "filename", "tool", "tool_name", "tool_input", "tool_use_id", "arguments", "input", "command",
    "stdout", "logger", "level", "action",
})  # fmt: skip
"""Keys of objects with an agent's actions or a program's log, not an agent's message."""
_OTHER_KIND = lazy(r"tool|function|command|user|system|error|log|think|reason|input|exec", re.IGNORECASE)


def unwrap(text: str, is_return: IsReturn) -> Iterator[tuple[str, str]]:
    """Yield each way to unwrap the message by one level: the repair's name and the inner text."""
    whole = _strip_fence(text.strip().lstrip("\ufeff"))
    if isinstance(inner := _parse_text(whole) or _parse_text(_last_fence(text)), str):
        yield "json_string", inner
    elif whole[:1] in ("{", "[") or whole[-1:] == "}":
        yield from (("envelope", inner) for inner in _open_envelope(whole, is_return))
    if _PLAIN_OBJECT.search(text):
        return  # with a plain object, an escaped part is a text inside of it
    if _ENTITY.search(text):
        yield "html", _replace(text, _ENTITIES)
    if _ESCAPED_OBJECT.search(text):
        yield "escaped", _replace(text, _ESCAPES)


def _replace(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        text = text.replace(old, new)
    return text


def _parse_text(whole: str) -> str | None:
    """Decode a JSON text, also one that lost its outer quotes: one line, with its line breaks and quotes escaped."""
    if whole[:1] == '"' and whole[-1:] == '"' and len(whole) > 1:
        inner = _parse(whole)
    elif "\n" not in whole and "\\n" in whole and '\\"' in whole and '"' not in whole.replace('\\"', ""):
        inner = _parse(f'"{whole}"')
    else:
        return None
    return inner if isinstance(inner, str) else None


def _last_fence(text: str) -> str:
    """Return the content of the last fenced block; empty if there is none."""
    end = text.rfind("\n```")
    start = text.rfind("```", 0, end) if end > 0 else -1
    line_end = text.find("\n", start) if start >= 0 else -1
    return text[line_end:end].strip() if 0 < line_end < end else ""


def _strip_fence(whole: str) -> str:
    for fence in ("```", "~~~"):
        if whole.startswith(fence) and whole.endswith(fence) and "\n" in whole:
            return whole[whole.index("\n") : -len(fence)].strip()
    return whole


def _open_envelope(whole: str, is_return: IsReturn) -> list[str]:
    """The answers inside an object, a list, or lines of objects; of lines, only the last that carries one."""
    value = _parse(whole)
    if value is not None:
        return list(islice(_find_answers(value, is_return, 0), MAX_ANSWERS))
    lines = [line for line in whole.splitlines()[-MAX_LINES:] if line.strip()]
    if not all(line.lstrip()[:1] == "{" for line in lines):
        lines = lines[-1:]  # a log, and perhaps the result after it
    for line in reversed(lines):
        if answers := list(islice(_find_answers(_parse(line), is_return, 0), MAX_ANSWERS)):
            return answers
    return []


def _find_answers(value: object, is_return: IsReturn, depth: int) -> Iterator[str]:
    """What an agent said, in a value that a program wrapped around it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth <= 2 * MAX_LEVELS:
        for item in _last_turn(value):
            yield from _find_answers(item, is_return, depth + 1)
    elif isinstance(value, dict) and depth <= 2 * MAX_LEVELS:
        if depth and is_return(value):
            yield json.dumps(value)
        elif not _is_other_speech(value):
            for key in _find_carriers(value):
                yield from _find_answers(value[key], is_return, depth + 1)


def _last_turn(items: list[object]) -> list[object]:
    """Of the turns of a conversation only the agent's last; of parts of one message, all.

    A text among others in a plain list isn't part of a message: it is unclear which of them is the answer.
    """
    if len(items) > 1 and not all(isinstance(item, dict) for item in items):
        return []
    turns = [item for item in items if isinstance(item, dict) and "role" in item]
    if not turns:
        return items
    own = [turn for turn in turns if turn["role"] in _ASSISTANTS]
    return list(own[-1:])


def _find_carriers(value: Mapping[str, Any]) -> Iterator[str]:
    """The keys of an object whose values are what the agent said. Common words count only in known company."""
    speaks = value.get("type") in _SPEAKING_TYPES or value.get("role") in _ASSISTANTS
    for key, inner in value.items():
        if (
            key in _CARRIERS
            or (key == "content" and (speaks or isinstance(inner, list | dict)))
            or (key == "message" and isinstance(inner, dict))
            or (key == "output" and (isinstance(inner, list | dict) or len(value) == 1))
        ):
            yield key


def _is_other_speech(value: Mapping[str, Any]) -> bool:
    """Whether the object reports an error, another speaker's message or the action of a tool."""
    if value.get("thought") or not _OTHER_SPEECH.isdisjoint(value) or any(find_denials(value)):
        return True
    kind, role = value.get("type"), value.get("role")
    other_kind = isinstance(kind, str) and _OTHER_KIND.search(kind) is not None
    return other_kind or (isinstance(role, str) and role not in _ASSISTANTS)


def _parse(text: str) -> Any:  # noqa: ANN401 - any JSON value
    if text.count('":') > MAX_KEYS:  # no wrapper has so many keys, and the check for repeated keys is slow
        return None
    try:
        return jiter.from_json(text.encode(), allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        return None

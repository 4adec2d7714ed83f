"""Envelopes: a return that was wrapped by a program on its way.

Owns the ways in which tools hand a final message on: as a JSON text, inside a command line's result object or a chat
completion, line by line, HTML-escaped, or with its quotes escaped. Only the message as a whole is unwrapped, and only
where nothing was found in it as it stands: a text inside some other object is data, not an answer.
"""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

import jiter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    IsReturn = Callable[[Mapping[str, Any]], bool]

MAX_LEVELS = 3
MAX_LINES = 2_000
_ESCAPED_OBJECT = re.compile(r'^[ \t]*+\{\s*+(?:\\n\s*+)*+\\"', re.MULTILINE)
_PLAIN_OBJECT = re.compile(r'\{\s*+"')
_ESCAPE = re.compile(r'\\(["\\/nrt])')
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_ENTITY = re.compile(r"&(?:quot|#34|#x22);", re.IGNORECASE)

_CARRIERS = (
    "result", "response", "return", "output", "content", "text", "message", "item", "part", "choices", "candidates",
    "parts", "delta", "final_message", "final", "final_answer", "answer", "data", "structured_output",
    "structuredContent", "structured_content", "messages",
)  # fmt: skip
"""Keys under which programs hand on what an agent said."""
_NOT_AN_ANSWER = ("file_path", "tool", "tool_name", "tool_input", "tool_use_id", "arguments", "input", "command")
"""Keys of objects that carry what an agent did, not what it said."""
_OTHER_SPEAKERS = {
    "user",
    "system",
    "tool",
    "tool_use",
    "tool_result",
    "function",
    "developer",
    "thinking",
    "reasoning",
}


def unwrap(text: str, is_return: IsReturn) -> Iterator[tuple[str, str]]:
    """Every way in which the message can be unwrapped by one level: the repair's name and the inner text."""
    whole = _strip_fence(text.strip().lstrip("\ufeff"))
    if isinstance(inner := _parse_text(whole) or _parse_text(_last_fence(text)), str):
        yield "json_string", inner
    elif whole[:1] in ("{", "[") or whole[-1:] == "}":
        yield from (("envelope", inner) for inner in _open_envelope(whole, is_return))
    if _PLAIN_OBJECT.search(text):
        return  # a plain object stands there: what is escaped is then a text inside it
    if _ENTITY.search(text):
        yield "html", html.unescape(text)
    if _ESCAPED_OBJECT.search(text):
        yield "escaped", _ESCAPE.sub(lambda match: _ESCAPES.get(match.group(1), match.group(1)), text)


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
    """The content of the last fenced block; empty where there is none."""
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
        return list(_find_answers(value, is_return, 0))
    lines = [line for line in whole.splitlines()[-MAX_LINES:] if line.strip()]
    if not all(line.lstrip()[:1] == "{" for line in lines):
        lines = lines[-1:]  # a log, and perhaps the result after it
    for line in reversed(lines):
        if answers := list(_find_answers(_parse(line), is_return, 0)):
            return answers
    return []


def _find_answers(value: object, is_return: IsReturn, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < 2 * MAX_LEVELS:
        for item in value:
            yield from _find_answers(item, is_return, depth + 1)
    elif isinstance(value, dict) and depth < 2 * MAX_LEVELS:
        if depth and is_return(value):
            yield json.dumps(value)
        elif not _is_other_speech(value):
            for key in _CARRIERS:
                if key in value:
                    answers = list(_find_answers(value[key], is_return, depth + 1))
                    yield from answers[-1:] if key == "messages" else answers


def _is_other_speech(value: Mapping[str, Any]) -> bool:
    speakers = (value.get("type"), value.get("role"))
    return (
        value.get("thought") is True
        or any(key in value for key in _NOT_AN_ANSWER)
        or any(isinstance(speaker, str) and speaker in _OTHER_SPEAKERS for speaker in speakers)
    )


def _parse(text: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return jiter.from_json(text.encode(), allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        return None

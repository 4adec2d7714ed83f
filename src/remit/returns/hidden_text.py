"""Hidden text: parts of a message in which a return doesn't count, by structure alone.

These are thinking tags and quoted lines. Sentences about a block are never read.
"""

from __future__ import annotations

import re
from typing import Literal

from remit.lazy_regex import lazy

MAX_TAGS = 200_000
_MAX_LINE = 4_000

Hidden = Literal["thinking", "quoted"]

_NAMES = (
    "think|thinking|antthinking|thoughts?|thought_process|reasoning|reasoning_content|scratchpad|reflection|analysis"
    "|inner_monologue|monologue|inner_thoughts|planning"
)
_ANGLED = (
    rf"<(?:(?P<slash>/)?(?:[a-z]{{1,20}}+:)?+(?:{_NAMES})(?:\s[^<>]{{0,200}}+)?+>"
    r"|\|?(?:start|begin|(?P<end>end))(?:_of)?_(?:think|thinking|thought)\|?>"
    r"|\|(?:think|inner_prefix|channel\|>(?:analysis|commentary)|(?P<token>/think|inner_suffix|channel\|>final|end\|>)))"
)
"""Only what closes a thought has a group: an opening tag matches without any."""
_TAG = lazy(_ANGLED, re.IGNORECASE)
_ANY_TAG = lazy(rf"{_ANGLED}|\[(?P<slash2>/)?think(?:ing)?\]|◁(?P<slash3>/)?think▷", re.IGNORECASE)
"""Rare spellings are searched only if one of them occurs: a pattern that begins with one character is much faster."""
_RARE = lazy(r"\[/?[tT][hH][iI][nN][kK]|◁")
_WORDS = ("think", "thought", "reason", "scratchpad", "reflection", "analysis", "monologue", "planning", "inner_", "|>")
"""One of these is in every tag."""
_QUOTE = lazy(r"[ \t]*+(?:(?:[-*+]|[0-9]{1,3}[.)])[ \t]++)?+>")
"""How a quoted line begins, in a list or not."""


def find_thinking(text: str, objects: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans between thinking tags; a tag inside an object's own texts isn't a tag.

    A tag that nothing closes hides the rest of the message, and a closing tag without an opening one hides all before
    it, if the tag stands at the edge of its line: inside a sentence or a code block it is only mentioned.
    """
    rare = _RARE.search(text) is not None
    lowered = text.lower() if "<" in text else ""
    if not rare and not any(word in lowered for word in _WORDS):
        return []
    found: list[tuple[int, int]] = []
    opened: int | None = None
    left = [(len(text), len(text)), *reversed(objects)]
    for count, tag in enumerate((_ANY_TAG if rare else _TAG).finditer(text)):
        start = tag.start()
        while left[-1][1] <= start:
            left.pop()
        if left[-1][0] <= start or text[start - 1 : start] == "`":
            continue
        if count > MAX_TAGS:
            return [(0, len(text))]
        kind = tag.lastgroup
        if kind is None:
            opened = start if opened is None else opened
        elif opened is not None:
            found.append((opened, tag.end()))
            opened = None
        elif kind.startswith("slash") and _is_at_edge(text, start, tag.end()):
            found.append((found.pop()[0] if found else 0, tag.end()))
    is_code = opened is not None and (text.count("\n```", 0, opened) + text.startswith("```")) % 2 == 1
    if opened is not None and _starts_line(text, opened) and not is_code:
        found.append((opened, len(text)))
    return found


def is_quoted(text: str, start: int) -> bool:
    """Whether a block stands on a line that is quoted with `>`, or right below the fence of one."""
    lines = text[max(0, start - _MAX_LINE) : start].rsplit("\n", 2)
    fence = lines[-2] if len(lines) > 1 and not lines[-1].strip() else ""
    return bool(_QUOTE.match(lines[-1])) or bool(_QUOTE.match(fence) and "```" in fence)


def _is_at_edge(text: str, start: int, end: int) -> bool:
    return _starts_line(text, start) or not text[end : end + 16].split("\n", 1)[0].strip()


def _starts_line(text: str, at: int) -> bool:
    if not at or text[at - 1] == "\n":
        return True
    before = text[max(0, at - 16) : at]
    return ("\n" in before or at == len(before)) and not before[before.rfind("\n") + 1 :].strip()

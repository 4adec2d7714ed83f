"""Changes to an agent's return, made where whoever reads an example would make them.

Owns how a message is changed. `"key": value` gives a key of the good return another value, wherever it is in it, or
adds it at the top; `{"key": value, …}` does so for each of its keys; no `"key"` leaves one out; a sentence is a whole
message.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.docs.rule_examples import Move
    from tests.support.return_rule_samples import Message

_PAIR = re.compile(r'"(\w+)": ')
_REST = ", …}"


def place(move: Move, message: Message) -> Message | None:
    """The message with a change in it; None where nobody could tell where to make it."""
    span = move.text
    if move.verb == "drop" and span.startswith('"'):
        return replace(
            message, text=re.sub(rf"{re.escape(span)}: (?:\[[\s\S]*?\]|[^,\n]*),?", "", message.text, count=1)
        )
    if span.startswith('"') and _PAIR.match(span):
        return _set_pair(span, message)
    if span.startswith("{") and span.endswith(_REST):
        changed: Message | None = message
        for pair in _split(span.removesuffix(_REST)[1:]):
            changed = _set_pair(pair, changed) if changed is not None else None
        return changed
    if "…" in span or move.verb != "set" or (span.startswith('"') or span.count(" ") < 2):
        return None
    return replace(message, text=span)


def _split(pairs: str) -> list[str]:
    """Pairs that stand in a row, each by itself."""
    starts = [match.start() for match in _PAIR.finditer(pairs) if not pairs[: match.start()].count("{")]
    return [pairs[a:b].removesuffix(", ") for a, b in zip(starts, [*starts[1:], len(pairs)], strict=True)]


def _set_pair(pair: str, message: Message) -> Message | None:
    if "…" in pair:
        return None
    if message.manifest_tail is not None:
        return replace(message, manifest_tail=_set_in(pair, message.manifest_tail))
    return replace(message, text=_set_in(pair, message.text))


def _set_in(pair: str, text: str) -> str:
    found = re.search(rf"{re.escape(pair.partition(':')[0])}: ?", text)
    if found is None:
        return re.sub(r"\{", lambda _: f"{{{pair}, ", text, count=1)
    _, end = json.JSONDecoder().raw_decode(text, found.end())
    return text[: found.start()] + pair + text[end:]

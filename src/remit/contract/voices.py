"""Second voices: what else in a message tells how the work ended, and whether it agrees with the return.

Owns two of them: members of the return itself that deny its status (`"success": false`, errors that were put into the
metadata), and a scrap after it that is no return and gives a status all the same (`{"status": "failed"}`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from remit.contract.phrases import word_set
from remit.contract.repair import UnreadableError, parse_object
from remit.contract.spelling import find_odd_keys
from remit.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.model import Status

MAX_SCRAPS = 16

VOICES = frozenset({"success", "ok", "is_error", "succeeded", "failed", "error", "errors", "status", "outcome"})
"""Keys that tell how something ended, wherever they stand."""
_FLAGS = {"success": False, "ok": False, "succeeded": False, "is_error": True, "failed": True}
_NOTHING = frozenset({"", "none", "no", "null", "n/a", "-"})
_WORDS: dict[str, Status] = {
    "completed": "completed",
    "complete": "completed",
    "partial": "partial",
    "failed": "failed",
    "error": "failed",
    "blocked": "blocked",
}


def find_denials(payload: Mapping[str, Any], inner_name: str) -> Iterator[str]:
    """JSON Pointers of the members that deny that the work was completed."""
    for prefix, holder in (("", payload), (f"/{inner_name}", payload.get(inner_name))):
        if not isinstance(holder, dict):
            continue
        names = [(key, key) for key in VOICES.intersection(holder)]
        for key, name in (*names, *find_odd_keys(holder, VOICES)):
            if _denies(name, holder[key]):
                yield f"{prefix}/{_escape(key)}"


def find_twins(payload: Mapping[str, Any], known: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    """JSON Pointers of keys that say in another spelling something else than the key itself does."""
    for key, name in find_odd_keys(payload, frozenset(known)):
        if name in payload and _fold(payload[key]) != _fold(payload[name]):
            yield f"{prefix}/{_escape(key)}"


def _denies(name: str, value: object) -> bool:
    if name in _FLAGS:
        return value is _FLAGS[name]
    if name in ("error", "errors"):
        return _is_error(value)
    return isinstance(value, str) and _WORDS.get(value.lower(), "completed") != "completed"


def _fold(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _is_error(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in _NOTHING
    return isinstance(value, list | dict) and bool(value)


_SCRAP = lazy(r"status[\"'”’]?\s{0,9}[:=]\s{0,9}[\"'“‘]?(completed?|partial|failed|error|blocked)\b", re.IGNORECASE)
_OWN_KEYS = word_set(
    "status summary reason message error errors note notes detail details artifacts metadata meta session_id "
    "next_steps "
    "recommendation explanation cause"
)
_REACH = 400


def find_scraps(text: str, start: int) -> Iterator[tuple[int, int, Status]]:
    """Objects after a return that give a status and hardly anything else: where they stand, and the status."""
    passed = start
    for count, sign in enumerate(_SCRAP.finditer(text, start)):
        if count >= MAX_SCRAPS:
            return
        opening = text.rfind("{", max(passed, sign.start() - _REACH), sign.start())
        if opening < 0:
            continue
        try:
            parsed = parse_object(text, opening)
        except UnreadableError:
            continue
        if parsed.end <= sign.start():
            continue
        passed = parsed.end
        if _OWN_KEYS.issuperset(key.lower() for key in parsed.value):
            yield parsed.start, parsed.end, _WORDS[sign[1].lower()]

"""Second voices: what else in a message tells how the work ended, and whether it agrees with the return.

Owns two of them: members of the return itself that deny its status (`"success": false`, errors that were put into the
metadata), and a scrap after it that is no return and gives a status all the same (`{"status": "failed"}`).
"""

from __future__ import annotations

import re
from collections import deque
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from remit.contract.phrases import word_set
from remit.contract.repair import UnreadableError, parse_object
from remit.contract.spelling import ESCAPED, find_odd_keys, plain, spell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.model import Status

MAX_SCRAPS = 16
"""How many are looked at from either end of what stands after a return: the last word counts as much as the first."""

_TRUE_WHEN_DONE = frozenset({"success", "ok", "succeeded", "completed"})
_TRUE_WHEN_NOT = frozenset({"is_error", "iserror", "failed", "blocked"})
_EXIT_CODES = frozenset({"exit_code", "exitcode", "returncode", "return_code"})
_ENDS = frozenset({"status", "outcome", "result", "state"})
VOICES = _TRUE_WHEN_DONE | _TRUE_WHEN_NOT | _EXIT_CODES | _ENDS | {"error", "errors"}
"""Keys that tell how something ended, wherever they stand."""
_NO = frozenset({"false", "no"})
_YES = frozenset({"true", "yes"})
_DIGITS = 12
_NOTHING = frozenset({"", "none", "no", "null", "n/a", "-", "false", "0"})
DIALECT_WORDS: dict[str, Status] = {
    "completed": "completed",
    "complete": "completed",
    "partial": "partial",
    "failed": "failed",
    "error": "failed",
    "blocked": "blocked",
}
"""What the dialects call an end."""
_WORDS: dict[str, Status] = {
    **DIALECT_WORDS,
    "incomplete": "partial",
    "failure": "failed",
    "fail": "failed",
    "aborted": "failed",
    "cancelled": "failed",
    "canceled": "failed",
    "crashed": "failed",
    "timeout": "failed",
    "timed_out": "failed",
    "timed out": "failed",
}
"""Words for an end, in small letters. Few, and whole values only: a `result` is often a sentence, and no end."""


def gather_words(own: Mapping[str, Status]) -> Mapping[str, Status]:
    """The words for an end with the workspace's own. In whatever letters: `Failed` is nobody's word for completed."""
    if not own:
        return _WORDS
    return {**_WORDS, **{word.strip().lower(): status for word, status in own.items()}, **DIALECT_WORDS}


def make_sign(text: str, gap: str, words: Iterable[str], flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """A pattern of how this text tells a status: the key, what may stand between, and one of these words."""
    return _compile_sign(gap, tuple(words), flags, escaped=ESCAPED in text)


@lru_cache(maxsize=32)
def _compile_sign(gap: str, words: tuple[str, ...], flags: int, *, escaped: bool) -> re.Pattern[str]:
    write = spell if escaped else re.escape
    longest_first = sorted(filter(None, words), key=len, reverse=True)
    return re.compile(rf"{write('status')}{gap}({'|'.join(map(write, longest_first))})(?!\w)", flags)


def find_denials(payload: Mapping[str, Any], inner_name: str, words: Mapping[str, Status] = _WORDS) -> Iterator[str]:
    """JSON Pointers of the members that deny that the work was completed."""
    for prefix, holder in (("", payload), (f"/{inner_name}", payload.get(inner_name))):
        if isinstance(holder, dict):
            yield from (f"{prefix}/{_escape(key)}" for key in find_denying_keys(holder, words))


def find_denying_keys(holder: Mapping[str, Any], words: Mapping[str, Status] = _WORDS) -> Iterator[str]:
    """The keys of one object that deny that what it tells of was completed."""
    names = [(key, key) for key in VOICES.intersection(holder)]
    for key, name in (*names, *find_odd_keys(holder, VOICES)):
        if _denies(name, holder[key], words):
            yield key


def find_twins(payload: Mapping[str, Any], known: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    """JSON Pointers of keys that say in another spelling something else than the key itself does."""
    for key, name in find_odd_keys(payload, frozenset(known)):
        if name in payload and _fold(payload[key]) != _fold(payload[name]):
            yield f"{prefix}/{_escape(key)}"


def _denies(name: str, value: object, words: Mapping[str, Status]) -> bool:
    """Whether a member says that it went wrong, in any spelling: `false`, `"False"`, `"no"` and 0 say the same."""
    if name in ("error", "errors"):
        return _is_error(value)
    said = _read(value)
    if isinstance(said, str):
        is_flag = said in _NO if name in _TRUE_WHEN_DONE else said in _YES and name in _TRUE_WHEN_NOT
        return is_flag or words.get(said, "completed") != "completed"
    if name == "completed":
        return said is False  # 0: how many were
    if name in _TRUE_WHEN_DONE:
        return said == 0
    return name not in _ENDS and isinstance(said, int | float) and said != 0


def _read(value: object) -> object:
    """A value as it is meant: a number in quotes is a number."""
    said = _fold(value)
    return int(said) if isinstance(said, str) and len(said) <= _DIGITS and said.lstrip("-").isdecimal() else said


def _fold(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _is_error(value: object) -> bool:
    said = _fold(value)
    return said not in _NOTHING if isinstance(said, str) else isinstance(said, bool | int | list | dict) and bool(said)


_GAP = r"[\"'”’]?\s{0,9}[:=]\s{0,9}[\"'“‘]?\s{0,9}"
_OWN_KEYS = word_set(
    "status summary reason message error errors note notes detail details artifacts metadata meta session_id "
    "next_steps "
    "recommendation explanation cause"
)
_REACH = 400


def find_scraps(
    text: str, start: int, known: Status | None = None, words: Mapping[str, Status] = _WORDS
) -> Iterator[tuple[int, int, Status]]:
    """Objects after a return that give another status and hardly anything else: where they stand, and the status.

    To read one takes its time, so of many only the first and the last are read; those that say what is `known` are
    not counted.
    """
    passed = start
    sign = make_sign(text, _GAP, words)
    signs = (found for found in sign.finditer(text, start) if words.get(found[1].lower()) != known)
    for found in (*islice(signs, MAX_SCRAPS), *deque(signs, MAX_SCRAPS)):
        opening = text.rfind("{", max(passed, found.start() - _REACH), found.start())
        if opening < 0:
            continue
        try:
            parsed = parse_object(text, opening)
        except UnreadableError:
            continue
        if parsed.end <= found.start():
            continue
        passed = parsed.end
        status = _read_status(parsed.value, words)
        if status not in (None, known) and _OWN_KEYS.issuperset(key.lower() for key in parsed.value):
            yield parsed.start, parsed.end, status


def _read_status(value: Mapping[str, Any], words: Mapping[str, Status]) -> Status | None:
    """The status of an object that is no return: its own, and none that a text in it speaks of."""
    said = next((_fold(inner) for key, inner in value.items() if plain(key) == "status"), None)
    return words.get(said) if isinstance(said, str) else None

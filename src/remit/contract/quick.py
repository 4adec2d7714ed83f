"""The quick path: one clean block at the end of a message, taken without a closer look.

Owns the proof that a closer look would change nothing: no other object in the message can be meant, and no rule finds
an error in this one. Whatever is not proved here goes the careful way; the quick path never refuses anything. It is
on the road of every delegation, so it counts microseconds.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from jiter import from_json

from remit.contract.dialects import HYPER, STANDARD
from remit.contract.labels import read_label
from remit.contract.placeholders import STOCK, STOCK_CHARS
from remit.contract.reading import Reading
from remit.contract.schemas import compile_accepts
from remit.model import Expectation, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.contract.dialects import Dialect
    from remit.model import Transport

    Clean = tuple[Dialect, dict[str, Any], int, bool]
    """The dialect, the object, where it starts, whether it stands between the markers."""

MAX_MESSAGE_CHARS = 16 * 1024 * 1024
UNKNOWN = Expectation()[2:]
"""Kind, depth and path, where the caller knows none of them: the proof covers no more."""

_FENCE = "```json\n"
_START_MARKER = "<!-- AGENT_OUTPUT_START -->"
_END_MARKER = "<!-- AGENT_OUTPUT_END -->"
_THINKING_SIGN = re.compile(r"</?(?:[tT][hH][iIoO]|[rR][eE][aAfF]|[sS][cC][rR]|[aA][nN][aAtT])")
"""How the tags of thinking text begin, and some others."""
_MAX_TAGS = 64
_LABEL_ENDS = frozenset(":*_")
_LABEL_STARTS = frozenset("#*_ \t")


def accept_quickly(text: str, wanted: str | None, session_id: str | None, agent: str | None) -> Verdict | None:
    """Accept one clean block where nothing else in the message can be meant; None where it is not that simple."""
    found = find_clean(text, wanted, session_id, agent)
    if found is None:
        return None
    dialect, payload, start, _ = found
    source = partial(make_reading, text, found, session_id, agent)
    return Verdict("accepted", payload, dialect.name, "block" if start else "message", source)


def make_reading(text: str, found: Clean, session_id: str | None, agent: str | None) -> Reading:
    """What the quick path knows, in full."""
    dialect, payload, start, marked = found
    transport: Transport = "block" if start else "message"
    return Reading(text, dialect, Expectation(session_id, agent), payload, start, marked, transport, clean=True)


def find_clean(text: str, wanted: str | None, session_id: str | None, agent: str | None) -> Clean | None:
    """Find the block and prove that it is clean."""
    found = _find_only_block(text)
    if found is None:
        return None
    start, end, marked = found
    block = text[start:end]
    try:
        payload = from_json(block.encode(), allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        return None
    if type(payload) is not dict:
        return None
    dialect = HYPER if "meta" in payload else STANDARD
    if (wanted is not None and wanted != dialect.name) or not is_clean(payload, dialect, session_id, agent):
        return None
    return dialect, payload, start, marked


def _find_only_block(text: str) -> tuple[int, int, bool] | None:
    """The span of the only object there is: the whole message, or one fence with no other around it."""
    if len(text) > MAX_MESSAGE_CHARS:
        return None
    end = text.rfind("\n```")
    start = text.rfind(_FENCE, 0, end) if end > 0 else -1
    if start < 0:
        whole = text.startswith("{") and text.endswith(("}", "}\n"))
        return (0, len(text), False) if whole else None
    head_end, marked = start, False
    if text.find("<", 0, start) >= 0:
        head_end, marked = _find_marker(text, start)
        if _may_think(text, head_end):
            return None
    if text.find("{", 0, head_end) >= 0 and _may_hold_return(text, head_end):
        return None
    if end + 5 < len(text) and not _is_plain_tail(text, end + 4, marked=marked):
        return None
    return None if _is_odd_head(text, start, head_end) else (start + len(_FENCE), end, marked)


def _find_marker(text: str, start: int) -> tuple[int, bool]:
    """Where the prose above the block ends, and whether the start marker stands between."""
    last = start - 1
    while last >= 0 and text[last] in "\n ":
        last -= 1
    if text.endswith(_START_MARKER, 0, last + 1):
        return last + 1 - len(_START_MARKER), True
    return start, False


def _may_think(text: str, head_end: int) -> bool:
    """Whether a tag of thinking text may stand above the block; so many tags take a closer look."""
    at = text.find("<")
    for _ in range(_MAX_TAGS):
        if not 0 <= at < head_end:
            return False
        if _THINKING_SIGN.match(text, at):
            return True
        at = text.find("<", at + 1)
    return True


def _may_hold_return(text: str, head_end: int) -> bool:
    """Whether the word `status` stands above the block as a key: every return has it."""
    at = text.find("status", 0, head_end)
    while at >= 0:
        after = text[at + 6 : at + 16].lstrip("\"'”’“» \t")
        if not after or after[0] in ":\\&":
            return True
        at = text.find("status", at + 6, head_end)
    return False


def _is_plain_tail(text: str, tail: int, *, marked: bool) -> bool:
    """Whether nothing after the block can be an object or a tag, save the closing marker."""
    tag = text.find("<", tail)
    return text.find("{", tail) < 0 and (tag < 0 or (marked and text.startswith(_END_MARKER, tag)))


def _is_odd_head(text: str, start: int, head_end: int) -> bool:
    """Whether the fence does not start its line, or the line above may call the block a draft or an example."""
    if start == 0:
        return False
    if text[start - 1] != "\n":
        return True
    last = head_end - 1
    while last >= 0 and text[last] in "\n ":
        last -= 1
    if last < 0 or (text[last] not in _LABEL_ENDS and text[text.rfind("\n", 0, last) + 1] not in _LABEL_STARTS):
        return False
    return read_label(text[max(0, last - 240) : last + 1]) is not None


_ACCEPTS: dict[str, Callable[[Any], bool]] = {}


def _compile(dialect: Dialect) -> Callable[[Any], bool]:
    """Compile a dialect's shape when it is first met."""
    return _ACCEPTS.setdefault(dialect.name, compile_accepts(dialect.shape))


def is_clean(payload: dict[str, Any], dialect: Dialect, session_id: str | None, agent: str | None) -> bool:
    """Prove that no rule finds an error in an object, short of what is on disk. False means: look closer."""
    accepts = _ACCEPTS.get(dialect.name) or _compile(dialect)
    if not accepts(payload):
        return False
    for artifact in payload["artifacts"]:
        if artifact["path"].lower() in STOCK:
            return False
    if dialect is HYPER:
        return _is_clean_hyper(payload, agent)
    metadata = payload["metadata"]
    session, name = metadata.get("session_id"), metadata["agent_type"]
    if session is None or (session_id is not None and session != session_id) or (agent is not None and name != agent):
        return False
    if (payload["status"] == "completed") is bool(payload.get("errors")) or "session_id" in payload:
        return False
    if "<" in session or "{" in session or "..." in session or "|" in session or "|" in name:
        return False
    summary = payload["summary"]
    if session.lower() in STOCK or name.lower() in STOCK:
        return False
    return len(summary) > STOCK_CHARS or summary.lower() not in STOCK


def _is_clean_hyper(payload: dict[str, Any], agent: str | None) -> bool:
    meta = payload["meta"]
    name, status = meta["agent_name"], meta["status"]
    return (
        (agent is None or name == agent)
        and (status == "error") is ("error" in payload)
        and (status != "partial" or bool(payload["next_steps"]))
        and "|" not in name
        and name.lower() not in STOCK
    )

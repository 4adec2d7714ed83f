"""The quick path: one clean block at the end of a message, taken without a closer look.

Owns the proof that a closer look would change nothing: no other object in the message can be meant, and no rule finds
an error in this one. Whatever is not proved here goes the careful way; the quick path never refuses anything. It is
on the road of every delegation, so it counts microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jiter import from_json

from remit.contract.dialects import HYPER, STANDARD
from remit.contract.dialects.hyper import META
from remit.contract.dialects.standard import METADATA
from remit.contract.placeholders import STOCK, STOCK_CHARS, STOCK_PATHS, STOCK_SUMMARIES
from remit.contract.reading import Reading
from remit.contract.schemas import compile_accepts
from remit.contract.signs import TAIL_CHARS, WINDOW_CHARS, points_down, read_aftermath, read_head
from remit.contract.spelling import ESCAPED, find_odd_keys
from remit.lazy import lazy
from remit.model import Expectation, Verdict

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from remit.contract.dialects import Dialect
    from remit.model import Transport


MAX_MESSAGE_CHARS = 8 * 1024 * 1024
UNKNOWN = Expectation()[2:]
"""Kind, depth and path, where the caller knows none of them: the proof covers no more."""

_FENCE = "```json\n"
_START_MARKER = "<!-- AGENT_OUTPUT_START -->"
_END_MARKER = "<!-- AGENT_OUTPUT_END -->"
_MAX_BLOCK = 100_000
_NEAR = 512
_MAX_PLACES = 64
_TAG_SIGN = lazy(
    r"</?(?:[tT][hHoOeE]|[rR][eE][aAfF]|[sS][cC][rR]|[aA][nN][aAtT]|[eE][xX]|[fF][uU][nN]|[uU][sS][eE]|[qQ][uU]"
    r"|[bB][lL][oO]"
    r"|[iI][nN][nNvV]|[pP][aA][rR]|\||!)"
)
"""How the tags begin that set something aside, and some others."""
_BRACKET_SIGN = lazy(r"\[/?[tT][hH][iI]")
_KEY_SIGN = lazy(r"status(?:[\"'”’“»‘‚]|\s{0,20}[:\\&=/#])")
_BLANK_SIGNS = frozenset("<{|$")
"""What a session id holds that nobody filled in."""
_SECOND_VOICES = frozenset({
    "session_id", "meta", "error", "success", "ok", "succeeded", "completed", "is_error", "iserror", "failed",
    "blocked", "outcome", "result", "state", "exit_code", "exitcode", "returncode", "return_code",
})  # fmt: skip
"""Keys of a return that say a second time, or otherwise, what stands elsewhere in it: those of `voices`, and more."""
_INNER_VOICES = _SECOND_VOICES - {"session_id"} | {"status", "errors"}
_HYPER_VOICES = _SECOND_VOICES - {"meta", "error"} | {"status", "errors"}
_META_VOICES = _INNER_VOICES - {"status"}
_NAMES = frozenset({*_INNER_VOICES, *STANDARD.shape.known, *HYPER.shape.known, *METADATA.known, *META.known})
"""Keys that mean something, and that none may spell in another way unseen."""


def accept_quickly(text: str, wanted: str | None, session_id: str | None, agent: str | None) -> Verdict | None:
    """Accept one clean block where nothing else in the message can be meant; None where it is not that simple."""
    found = _find_only_block(text)
    if found is None:
        return None
    start, end, marked = found
    if end - start > _MAX_BLOCK:
        return None
    block = text[start:end]
    try:
        payload = from_json(block.encode(), allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        return None
    if type(payload) is not dict:
        return None
    dialect = STANDARD
    if "meta" in payload:
        if "status" in payload:  # it speaks two dialects
            return None
        dialect = HYPER
    if (wanted is not None and wanted != dialect.name) or not is_clean(payload, dialect, session_id, agent):
        return None
    if block[0] != "{":
        start = text.index("{", start)
    transport: Transport = "block" if start else "message"
    known = (text, dialect, payload, start, marked, session_id, agent)
    return Verdict("accepted", payload, dialect.name, transport, make_reading, known)


def make_reading(  # noqa: PLR0917 - in the order in which the verdict keeps them
    text: str,
    dialect: Dialect,
    payload: dict[str, Any],
    start: int,
    marked: bool,  # noqa: FBT001
    session_id: str | None,
    agent: str | None,
) -> Reading:
    """What the quick path knows, in full."""
    transport: Transport = "block" if start else "message"
    return Reading(text, dialect, Expectation(session_id, agent), payload, start, marked, transport, clean=True)


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
        if _may_have(text, "<", _TAG_SIGN, head_end):
            return None
    if text.find("[", 0, head_end) >= 0 and _may_have(text, "[", _BRACKET_SIGN, head_end):
        return None
    if text.find("{", 0, head_end) >= 0 and (
        _may_have(text, "status", _KEY_SIGN, head_end) or text.find(ESCAPED, 0, head_end) >= 0
    ):
        return None
    if end + 5 < len(text) and not _is_plain_tail(text, end, marked=marked):
        return None
    return None if _is_odd_head(text, start, head_end) else (start + len(_FENCE), end, marked)


def _find_marker(text: str, start: int) -> tuple[int, bool]:
    """Where the prose above the block ends, and whether the start marker stands between."""
    head = text[max(0, start - _NEAR) : start].rstrip()
    if not head.endswith(_START_MARKER):
        return start, False
    return max(0, start - _NEAR) + len(head) - len(_START_MARKER), True


def _may_have(text: str, word: str, sign: re.Pattern[str], end: int) -> bool:
    """Whether a sign stands above the block, at one of the places where its word does; many places are not searched."""
    at = text.find(word, 0, end)
    for _ in range(_MAX_PLACES):
        if at < 0:
            return False
        if sign.match(text, at):
            return True
        at = text.find(word, at + 1, end)
    return True


def _is_plain_tail(text: str, end: int, *, marked: bool) -> bool:
    """Whether nothing after the block can be an object, a tag or a longer fence, save the closing marker.

    Neither may the words there take the block back.
    """
    tail = end + 4
    if text.find("{", tail) >= 0 or text.find("[/", tail) >= 0 or text.find("````", tail - 3) >= 0:
        return False
    tag = text.find("<", tail)
    if tag >= 0 and not (marked and text.startswith(_END_MARKER, tag) and text.find("<", tag + 1) < 0):
        return False
    return read_aftermath(text[end : end + TAIL_CHARS]) is None


def _is_odd_head(text: str, start: int, head_end: int) -> bool:
    """Whether the fence does not start its line, or what stands above says that the block is not meant."""
    if start == 0:
        return False
    if text[start - 1] != "\n" or "◁" in text:
        return True
    head = text[max(0, head_end - WINDOW_CHARS) : head_end].rstrip()
    if not head:
        return head_end > WINDOW_CHARS
    last = head[-1]
    if last == "." and "#" not in head and not points_down(head[head.rfind(". ", 0, -1) + 1 :]):
        return False  # what `read_head` would say, without the call: most heads end like this
    return last == ">" or read_head(head) is not None


_ACCEPTS: dict[str, Callable[[Any], bool]] = {}


def _compile(dialect: Dialect) -> Callable[[Any], bool]:
    """Compile a dialect's shape when it is first met."""
    return _ACCEPTS.setdefault(dialect.name, compile_accepts(dialect.shape))


def is_clean(payload: dict[str, Any], dialect: Dialect, session_id: str | None, agent: str | None) -> bool:
    """Prove that no rule finds an error in an object, short of what is on disk. False means: look closer."""
    accepts = _ACCEPTS.get(dialect.name) or _compile(dialect)
    if not accepts(payload):
        return False
    inner = payload["meta" if dialect is HYPER else "metadata"]
    if not (_NAMES.issuperset(payload) and _NAMES.issuperset(inner)) and (
        any(find_odd_keys(payload, _NAMES)) or any(find_odd_keys(inner, _NAMES))
    ):
        return False
    for artifact in payload["artifacts"]:
        path = artifact["path"]
        if path.startswith(STOCK_PATHS) or (len(path) <= STOCK_CHARS and path.lower() in STOCK):
            return False
    if dialect is HYPER:
        return _is_clean_hyper(payload, agent)
    metadata = payload["metadata"]
    session, name = metadata.get("session_id"), metadata["agent_type"]
    if session is None or (session_id is not None and session != session_id):
        return False
    errors = payload.get("errors")
    if (payload["status"] == "completed") is bool(errors) or not _SECOND_VOICES.isdisjoint(payload):
        return False
    if not _INNER_VOICES.isdisjoint(metadata) or "|" in name or name.lower() in STOCK:
        return False
    if errors and any("|" in error["type"] for error in errors):
        return False
    if session_id is None and _may_be_blank(session):
        return False
    summary = payload["summary"]
    return not summary.startswith(STOCK_SUMMARIES) and (len(summary) > STOCK_CHARS or summary.lower() not in STOCK)


def _may_be_blank(session: str) -> bool:
    """Whether a session id may be one that nobody filled in; one that was issued is not."""
    if session.lower() in STOCK or "XXX" in session:
        return True
    return not session.isidentifier() and (not _BLANK_SIGNS.isdisjoint(session) or "..." in session)


def _is_clean_hyper(payload: dict[str, Any], agent: str | None) -> bool:
    meta = payload["meta"]
    name, status = meta["agent_name"], meta["status"]
    return (
        (agent is None or name == agent)
        and (status == "error") is (payload.get("error") is not None)
        and (status != "partial" or bool(payload["next_steps"]))
        and "|" not in name
        and name.lower() not in STOCK
        and _HYPER_VOICES.isdisjoint(payload)
        and _META_VOICES.isdisjoint(meta)
    )

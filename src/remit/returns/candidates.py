"""Candidates: all objects in a final message that resemble a return, found in one linear scan.

The scan skips a parsed object as a whole, so a return inside another object's texts (a written file, a quoted log)
never becomes a candidate. Whether a candidate is valid is decided later.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from remit.lazy_regex import lazy
from remit.returns.conflicts import ESCAPED, find_denials, match_escaped_name
from remit.returns.hidden_text import Hidden, find_thinking, is_quoted
from remit.returns.tolerant_json import INVISIBLE, ParsedObject, UnreadableError, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from remit.returns.formats import Format

MAX_CANDIDATES = 64
MAX_RETURN_FILES = 8
MAX_SCANNED_VALUES = 20_000
MAX_TRIES = 10_000
MAX_PASSED = 30_000
MAX_INCOMPLETE = 200


class ReturnCandidate:
    """An object that resembles a return."""

    __slots__ = ("alone", "glued", "hidden", "marked", "parsed", "return_format", "text", "wrapping")

    def __init__(
        self, parsed: ParsedObject, return_format: Format, text: str, *, wrapping: tuple[str, ...] = ()
    ) -> None:
        self.parsed = parsed
        self.return_format = return_format
        self.text = text
        """The text that contains it: the message, or an unwrapped part of the message."""
        self.hidden: Hidden | None = None
        """Why it doesn't count: it is inside thinking tags or on quoted lines."""
        self.marked = False
        """Whether it is between the output markers."""
        self.glued = False
        """Whether it is inside an unreadable object that began like a return."""
        self.alone = False
        """Whether it is the whole message."""
        self.wrapping = wrapping
        """The kinds of wrapping around it, outermost first."""

    @property
    def is_strong(self) -> bool:
        """Whether at most one required key of its format is missing."""
        return self.return_format.overlap(self.parsed.value) >= len(self.return_format.shape.required) - 1


class MessageScan:
    """The result of scanning a text."""

    __slots__ = ("broken_to", "candidates", "capped", "chars", "overflow", "tries", "unreadable", "values")

    def __init__(self) -> None:
        self.candidates: list[ReturnCandidate] = []
        self.unreadable: tuple[str, int, int] | None = None
        """The last unreadable object that began like a return: the reason, its start and its end."""
        self.capped = False
        """Whether it exceeded a limit."""
        self.broken_to = -1
        """The end of the last unreadable object that began like a return; objects in it are part of it."""
        self.overflow: str | None = None
        """Why the scan stopped early, if it did."""
        self.tries = self.chars = self.values = 0
        """The cost of the scan so far: objects tried, characters and values read."""

    def is_exhausted(self, size: int) -> bool:
        """Whether the scan has exceeded its limits, which no ordinary message does."""
        return (
            self.tries > MAX_TRIES
            or self.values > MAX_SCANNED_VALUES
            or self.chars > 2 * size + 500_000
            or len(self.candidates) > MAX_CANDIDATES
        )


_OPENING = lazy(
    rf"""\{{(?=(?:[\s{INVISIBLE}]|\\[nrt])*+(?:["'“”„«‘’‚}}/\#…,]|\.\.\.|[A-Za-z_$][\w$-]{{0,60}}+["']?+\s*+[:=]))"""
)
_LOST_OPENING = lazy(
    r"""^[ \t]*+(?=["'](?:status|summary|artifacts|metadata|meta|next_steps|errors?)["']\s*+:)""", re.MULTILINE
)
"""A line that begins with a member of a return whose object has lost its opening bracket."""
_decode: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined] # in C
_WINDOWS = (256, 4096)
_FAR = 200_000
"""The longest distance between the start of a return and its status key, in a message with many objects."""
_CLOSE = 40
"""An object with its status key this close to its bracket counts as the beginning of a return."""
_TOO_MANY = "the message has too many objects to find the return among them"
_PATIENCE = 20
"""After so many objects, a fast path skips objects that can't be the return."""
_WRAPPERS = frozenset({"return", "result", "response", "output", "answer", "final", "final_answer", "data", "payload",
                       "subagent_return", "agent_output", "agent_return", "structured_output"})  # fmt: skip


def scan_message(text: str, formats: Iterable[Format], session_id: str | None) -> MessageScan:
    """Find all candidates of these formats; among many objects, only those that may have the issued session id."""
    formats = tuple(formats)
    scan = MessageScan()
    names = sorted({return_format.status_at[0] for return_format in formats})
    keys = re.compile("|".join(map(match_escaped_name, names) if ESCAPED in text else names))
    key = keys.search(text)
    has_key = key is not None
    fence = text.rfind("\n```", 0, key.start()) if key else -1
    more = sorted({name for return_format in formats for name in return_format.shape.required} - {*names})
    others = re.compile("|".join(map(match_escaped_name, more) if ESCAPED in text else more))
    pos, passed, other = 0, 0, -1
    seen: set[str] = set()
    while key and (opening := _OPENING.search(text, pos)):
        start = opening.start()
        if key.start() <= start:
            seen_to = key.end()
            key = keys.search(text, start)
            if not key:
                break
            fence = max(fence, text.rfind("\n```", seen_to, key.start()))
        if fence > start:  # no object continues after a fence, so none before the fence has the key
            pos = fence
            continue
        passed += 1
        if passed > MAX_PASSED or scan.is_exhausted(len(text)):
            scan.overflow = _TOO_MANY
            break
        if passed > _PATIENCE:
            if other < start:
                found = others.search(text, start)
                other = found.start() if found else len(text) + _FAR  # then nothing that follows is a return
            if max(key.start(), other) - start > _FAR:
                pos = max(key.start(), other) - _FAR
                continue
            end = _pass_over(text, start, formats, session_id, seen)
            if end is not None:
                pos = end
                continue
        inside = start <= scan.broken_to
        pos, parsed = _attempt(scan, text, start, key.start())
        if parsed and (candidate := _recognise(parsed, text, formats, session_id)):
            candidate.glued = inside
            scan.candidates.append(candidate)
    lost = None if scan.candidates or scan.overflow or not has_key else _LOST_OPENING.search(text)
    if lost and text.count("{", 0, lost.end()) == text.count("}", 0, lost.end()):
        _add_opening(scan, text, lost.end(), formats)
    _describe(scan.candidates, text)
    return scan


def find_incomplete(text: str, formats: Iterable[Format], session_id: str | None) -> list[ReturnCandidate]:
    """Objects without a status that carry the issued id or most of the fields: the field that is missing is named."""
    formats = tuple(formats)
    found: list[ReturnCandidate] = []
    scan, pos = MessageScan(), 0
    has_sign = "artifacts" in text or (session_id is not None and session_id in text)
    while has_sign and (opening := _OPENING.search(text, pos)):
        if scan.tries >= MAX_INCOMPLETE or scan.is_exhausted(len(text)):
            break
        pos, parsed = _attempt(scan, text, opening.start(), len(text))
        if parsed is None:
            continue
        value = parsed.value
        metadata = value.get("metadata")
        ids = (value.get("session_id"), metadata.get("session_id") if isinstance(metadata, dict) else None)
        for return_format in formats:
            has_most = return_format.overlap(value) >= len(return_format.shape.required) - 1
            if has_most or (session_id is not None and session_id in ids and "session_id" in return_format.shape.known):
                found.append(ReturnCandidate(parsed, return_format, text))
                break
    _describe(found, text)
    return found


def _add_opening(scan: MessageScan, text: str, at: int, formats: tuple[Format, ...]) -> None:
    """Read a return whose opening bracket is missing."""
    whole = f"{text[:at]}{{{text[at:]}"
    try:
        parsed = parse_object(whole, at)
    except UnreadableError:
        return
    if candidate := _recognise(parsed, whole, formats, None):
        candidate.wrapping = ("missing_open_bracket",)
        scan.candidates.append(candidate)


def _attempt(scan: MessageScan, text: str, start: int, key: int) -> tuple[int, ParsedObject | None]:
    """Read one object; return where the scan continues, and the object if there is one."""
    scan.tries += 1
    try:
        parsed = parse_object(text, start)
    except UnreadableError as error:
        scan.chars += error.reached - start
        scan.values += error.values
        if key < max(error.reached, start + _CLOSE):
            scan.unreadable, scan.capped = (error.reason, start, error.reached), error.capped
            scan.broken_to = max(scan.broken_to, error.reached)
        # Beyond a cap nothing inside can be a return either; after a plain failure an inner object may be one.
        return (error.reached if error.capped else start + 1), None
    scan.chars += parsed.end - start
    scan.values += len(parsed.spans)
    return (start + 1 if parsed.closed == "end" else parsed.end), parsed


def _pass_over(
    text: str, start: int, formats: tuple[Format, ...], session_id: str | None, seen: set[str]
) -> int | None:
    """Return the end of a small well-formed object that can't be the return; None if the scan has to parse it.

    It can't be the return if it resembles none, repeats an earlier object, or has another session id.
    """
    for size in _WINDOWS:
        try:
            value, length = _decode(text[start : start + size], 0)
        except (StopIteration, ValueError, RecursionError):
            continue
        is_like = len(value) > 1 and any(_is_like(return_format, value, session_id) for return_format in formats)
        if not is_like and _find_wrapped(value) is None:
            return start + length
        chunk = text[start : start + length]
        if chunk in seen or (session_id is not None and '"session_id"' in chunk and session_id not in chunk):
            return start + length
        seen.add(chunk)
        return None
    return None


def _is_like(return_format: Format, value: dict[str, Any], session_id: str | None) -> bool:
    """Whether an object tries to be a return of a format. One with the issued id and a known status does."""
    has_id = (
        session_id is not None and value.get("session_id") == session_id and "session_id" in return_format.shape.known
    )
    return return_format.is_like(value) or (has_id and return_format.word(value) in return_format.statuses)


def _recognise(
    parsed: ParsedObject, text: str, formats: tuple[Format, ...], session_id: str | None
) -> ReturnCandidate | None:
    """Return the object, or the one in its small wrapper, as a candidate; None if it isn't one."""
    like = [return_format for return_format in formats if _is_like(return_format, parsed.value, session_id)]
    if like:
        best = max(
            like, key=lambda return_format: return_format.overlap(parsed.value) / len(return_format.shape.required)
        )
        return ReturnCandidate(parsed, best, text)
    name = _find_wrapped(parsed.value)
    if name is not None and not parsed.flaws:
        for return_format in formats:
            if return_format.is_like(parsed.value[name]):
                inner = parse_object(text, parsed.spans[f"/{name}"][0], held=True)
                return ReturnCandidate(inner, return_format, text, wrapping=("envelope",))
    return None


def _find_wrapped(value: dict[str, Any]) -> str | None:
    """Return the key of the only object in a small wrapper with plain values and no error; None if there is none."""
    if _WRAPPERS.isdisjoint(value):
        return None
    names = [name for name in value if name in _WRAPPERS and isinstance(value[name], dict)]
    if len(names) != 1:
        return None
    others = (inner for name, inner in value.items() if name != names[0])
    is_plain = all(inner is None or isinstance(inner, bool | int | float | str) for inner in others)
    return names[0] if is_plain and not any(find_denials(value)) else None


RETURN_FILE = "return-meta.json"
_PATH = lazy(r"[\w./-]{0,300}\Z")


def find_return_files(text: str) -> list[str]:
    """The last few paths in a message that name a file for returns."""
    found: list[str] = []
    at = text.rfind(RETURN_FILE)
    while at >= 0 and len(found) < MAX_RETURN_FILES:
        before = _PATH.search(text, max(0, at - 300), at)
        found.insert(0, (before.group() if before else "") + RETURN_FILE)
        at = text.rfind(RETURN_FILE, 0, at)
    return found


_START_MARKER = lazy(r"<!--\s*AGENT_OUTPUT_START\s*-->\s*(?:(?:```|~~~)[^\n]{0,40}\n)?\s*\Z")


def _describe(candidates: list[ReturnCandidate], text: str) -> None:
    """Note where each candidate stands: hidden, right below the output marker, or as the whole message."""
    if not candidates:
        return
    thinking = find_thinking(text, [(each.parsed.start, each.parsed.end) for each in candidates])
    first = len(text) - len(text.lstrip("` \t\r\n\ufeff"))
    last = len(text.rstrip("` \t\r\n"))
    for candidate in candidates:
        start, end = candidate.parsed.start, candidate.parsed.end
        before = text[max(0, start - 240) : start]
        candidate.marked = "AGENT_OUTPUT_START" in before and _START_MARKER.search(before) is not None
        if any(left <= start < right for left, right in thinking):
            candidate.hidden = "thinking"
        elif is_quoted(text, start):
            candidate.hidden = "quoted"
        candidate.alone = start <= first and end >= last

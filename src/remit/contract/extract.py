"""Final message → candidates: every object in it that tries to be a return, and what the message says around it.

Owns the linear scan. Objects that were read are passed over as a whole, so a return that stands inside another
object's texts (a file that was written, a log that was quoted) never becomes a candidate. Whether a candidate is
any good is not decided here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from remit.contract.repair import MAX_CHARS, Parsed, UnreadableError, parse_object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.contract.dialects import Dialect

MAX_CANDIDATES = 64
MAX_ATTEMPTS = 50_000
MAX_TAGS = 10_000

Aside = Literal["thinking", "quoted", "draft", "example", "earlier"]


@dataclass(slots=True)
class Candidate:
    """An object that tries to be a return."""

    parsed: Parsed
    dialect: Dialect
    text: str
    """The text it stands in: the message, or what was unwrapped from it."""
    aside: Aside | None = None
    """Why the message itself does not seem to mean it."""
    marked: bool = False
    """Whether it stands between the output markers."""
    alone: bool = False
    """Whether it is the whole message."""
    wrapping: tuple[str, ...] = ()
    """How it was unwrapped, outermost first."""

    @property
    def is_strong(self) -> bool:
        """Whether it has nearly all that its dialect asks for."""
        return self.dialect.overlap(self.parsed.value) >= len(self.dialect.shape.required) - 1


@dataclass(slots=True)
class Scan:
    """What a scan of one text brought."""

    candidates: list[Candidate] = field(default_factory=list)
    unreadable: tuple[str, int, int] | None = None
    """The last thing that began like a return and could not be read: reason, start, end."""
    overflow: str | None = None
    """Why the scan gave up, where it did."""


_OPENING = re.compile(r"""\{(?=\s*+(?:["'“‘}/\#…]|\.\.\.|[A-Za-z_$][\w$-]{0,60}+\s*+:))""")
_DECODER = json.JSONDecoder()
_WINDOW = 4096
_PATIENCE = 20
"""After so many objects, those that cannot hold a return are passed over at C speed."""


def scan_message(text: str, dialects: Iterable[Dialect]) -> Scan:
    """Find every candidate of these dialects."""
    dialects = tuple(dialects)
    scan = Scan()
    keys = re.compile("|".join(sorted({dialect.status_at[0] for dialect in dialects})))
    key = keys.search(text)
    pos, attempts, work = 0, 0, 4 * len(text) + MAX_CHARS
    while key and (opening := _OPENING.search(text, pos)):
        start = opening.start()
        key = key if key.start() > start else keys.search(text, start)
        if not key:
            break
        attempts += 1
        if work < 0 or attempts > MAX_ATTEMPTS or len(scan.candidates) > MAX_CANDIDATES:
            scan.overflow = "the message holds too many objects to tell the return from the rest"
            break
        end = _pass_over(text, start) if attempts > _PATIENCE else None
        if end is not None and end <= key.start():
            pos = end
            continue
        pos, reached, parsed = _attempt(scan, text, start, key.start())
        work -= reached - start
        if parsed and (like := _recognise(parsed, dialects)):
            scan.candidates.append(Candidate(parsed, like, text))
    _describe(scan.candidates, text)
    return scan


def _attempt(scan: Scan, text: str, start: int, key: int) -> tuple[int, int, Parsed | None]:
    """Read one object: where to go on, how far was looked, and the object if it can hold the key."""
    try:
        parsed = parse_object(text, start)
    except UnreadableError as error:
        if error.reached > key:
            scan.unreadable = (error.reason, start, error.reached)
        # Beyond a cap nothing inside can be a return either; after a plain failure an inner object may be one.
        return (error.reached if error.capped else start + 1), error.reached, None
    return (start + 1 if parsed.closed == "end" else parsed.end), parsed.end, parsed


def _pass_over(text: str, start: int) -> int | None:
    """The end of a small well-formed object, found at C speed; None where it takes a closer look."""
    try:
        return start + _DECODER.raw_decode(text[start : start + _WINDOW])[1]
    except (ValueError, RecursionError):
        return None


def _recognise(parsed: Parsed, dialects: tuple[Dialect, ...]) -> Dialect | None:
    return next((dialect for dialect in dialects if dialect.is_like(parsed.value)), None)


# --- what the message says around a candidate -----------------------------------------------------------------------

_THINKING = re.compile(
    r"(?P<open>^[ \t]*+<(?:antml:)?(?:think|thinking|thoughts?|reasoning|scratchpad|reflection|analysis)>)"
    r"|(?P<close>(?<!`)</(?:antml:)?(?:think|thinking|thoughts?|reasoning|scratchpad|reflection|analysis)>)",
    re.MULTILINE | re.IGNORECASE,
)
_START_MARKER = re.compile(r"<!-- AGENT_OUTPUT_START -->\s*(?:(?:```|~~~)[^\n]{0,40}\n)?\s*\Z")
_FENCE_LINE = re.compile(r"(?:```|~~~)[^\n]{0,40}\s*\Z")
_DRAFT = re.compile(r"\b(?:draft|preliminary|tentative|provisional|not (?:yet )?final|first attempt|scratch)\b", re.IGNORECASE)
_EXAMPLE = re.compile(r"\b(?:examples?|sample|template|placeholder|quot(?:e|ed|ing)|skeleton|schema|expected format|for instance)\b",
                      re.IGNORECASE)  # fmt: skip
_EARLIER = re.compile(r"\b(?:previous(?:ly)?|earlier|prior|old|original|superseded|outdated|other agent|"
                      r"(?:sub)?agent (?:returned|replied|said|reported))\b", re.IGNORECASE)  # fmt: skip
_FINAL = re.compile(r"\b(?:final|corrected|actual|real|updated|revised|my return)\b", re.IGNORECASE)
_NOT_FINAL = re.compile(r"\bnot (?:yet )?(?:the )?final\b", re.IGNORECASE)
_LABEL_CHARS = 160


def _describe(candidates: list[Candidate], text: str) -> None:
    """Note for each candidate whether the message itself means it."""
    if not candidates:
        return
    thinking = _find_thinking(text, [(c.parsed.start, c.parsed.end) for c in candidates])
    for candidate in candidates:
        start = candidate.parsed.start
        before = text[max(0, start - 240) : start]
        candidate.marked = "AGENT_OUTPUT_START" in before and _START_MARKER.search(before) is not None
        candidate.alone = not text[:start].strip("` \t\r\n\ufeff") and not text[candidate.parsed.end :].strip("` \t\r\n")
        line = text[text.rfind("\n", max(0, start - _LABEL_CHARS), start) + 1 : start]
        if any(begin <= start < end for begin, end in thinking):
            candidate.aside = "thinking"
        elif line.lstrip().startswith(">"):
            candidate.aside = "quoted"
        else:
            candidate.aside = read_label(before)


def _find_thinking(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches of thinking text; tags inside an object's texts are not tags."""
    found: list[tuple[int, int]] = []
    if "<" not in text:
        return found
    opened: int | None = None
    index = 0
    for count, tag in enumerate(_THINKING.finditer(text)):
        at = tag.start()
        while index < len(spans) and spans[index][1] <= at:
            index += 1
        if index < len(spans) and spans[index][0] <= at:
            continue
        if tag.group("open"):
            opened = at if opened is None else opened
        elif opened is not None or not found:
            found.append((opened or 0, tag.end()))
            opened = None
        if count > MAX_TAGS:
            opened = opened or 0
            break
    if opened is not None:
        found.append((opened, len(text)))
    return found


def read_label(before: str) -> Aside | None:
    """What the line that introduces a block calls it: a draft, an example, somebody's earlier answer."""
    fence = max(before.rfind("```"), before.rfind("~~~"))
    head = (before[:fence] if fence >= 0 and _FENCE_LINE.match(before, fence) else before).rstrip()
    line = head[head.rfind("\n") + 1 :].strip()
    if not line or len(line) > _LABEL_CHARS or not (line[-1] in ":*_" or line[0] in "#*_"):
        return None
    if _FINAL.search(line) and not _NOT_FINAL.search(line):
        return None
    for pattern, aside in ((_DRAFT, "draft"), (_EXAMPLE, "example"), (_EARLIER, "earlier")):
        if pattern.search(line):
            return aside  # type: ignore[return-value] - the three words are Asides
    return None

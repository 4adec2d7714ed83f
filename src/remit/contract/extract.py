"""Final message → candidates: every object in it that tries to be a return, and what the message says around it.

Owns the linear scan. Objects that were read are passed over as a whole, so a return that stands inside another
object's texts (a file that was written, a log that was quoted) never becomes a candidate. Whether a candidate is
any good is not decided here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remit.contract.labels import LABEL_CHARS, Aside, read_label
from remit.contract.repair import MAX_VALUES, Parsed, UnreadableError, parse_object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.contract.dialects import Dialect

MAX_CANDIDATES = 64
MAX_TRIES = 4_000
MAX_TAGS = 400_000


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
    glued: bool = False
    """Whether it stands inside something that began like a return and cannot be read."""
    alone: bool = False
    """Whether it is the whole message."""
    wrapping: tuple[str, ...] = ()
    """How it was unwrapped, outermost first."""

    @property
    def is_whole(self) -> bool:
        """Whether it has all that its dialect asks for, each of the right type."""
        kinds = {"status": str, "summary": str, "artifacts": list, "metadata": dict, "meta": dict, "next_steps": list}
        return all(isinstance(self.parsed.value.get(key), kinds[key]) for key in self.dialect.shape.required)

    @property
    def is_strong(self) -> bool:
        """Whether it has nearly all that its dialect asks for."""
        return self.dialect.overlap(self.parsed.value) >= len(self.dialect.shape.required) - 1


@dataclass(slots=True)
class Scan:
    """What a scan of one text brought."""

    candidates: list[Candidate] = field(default_factory=list)
    unreadable: tuple[str, int] | None = None
    """The last thing that began like a return and could not be read: why, and where."""
    capped: bool = False
    """Whether a cap was the reason."""
    broken_to: int = -1
    """How far anything reached that began like a return and could not be read: what stands in it is part of it."""
    overflow: str | None = None
    """Why the scan gave up, where it did."""
    tries: int = 0
    chars: int = 0
    values: int = 0
    """What the scan has cost so far: objects tried, characters read, values read in vain."""

    def is_exhausted(self, size: int) -> bool:
        """Whether the scan has cost more than any honest message does: then it ends, whatever is left."""
        return (
            self.tries > MAX_TRIES
            or self.values > MAX_VALUES
            or self.chars > 4 * size + 1_000_000
            or len(self.candidates) > MAX_CANDIDATES
        )


_OPENING = re.compile(r"""\{(?=\s*+(?:["'“”„«‘’‚}/\#…]|\.\.\.|[A-Za-z_$][\w$-]{0,60}+\s*+:))""")
_DECODER = json.JSONDecoder()
_WINDOW = 4096
_PATIENCE = 20
"""After so many objects, those that cannot be meant are passed over at C speed."""
_WRAPPERS = frozenset({"return", "result", "response", "output", "answer", "final", "final_answer", "data", "payload",
                       "subagent_return", "agent_output", "agent_return", "structured_output"})  # fmt: skip


def scan_message(text: str, dialects: Iterable[Dialect], session_id: str | None) -> Scan:
    """Find every candidate of these dialects; of a crowd, only what may carry the issued session id."""
    dialects = tuple(dialects)
    scan = Scan()
    keys = re.compile("|".join(sorted({dialect.status_at[0] for dialect in dialects})))
    key = keys.search(text)
    fence = text.rfind("\n```", 0, key.start()) if key else -1
    pos, passed = 0, 0
    seen: set[str] = set()
    while key and (opening := _OPENING.search(text, pos)):
        start = opening.start()
        if key.start() <= start:
            seen_to = key.end()
            key = keys.search(text, start)
            if not key:
                break
            fence = max(fence, text.rfind("\n```", seen_to, key.start()))
        if fence > start:  # no object reaches across a fence, so none before it can hold the key
            pos = fence
            continue
        passed += 1
        end = _pass_over(text, start) if passed > _PATIENCE else None
        if end is not None and (end <= key.start() or _is_out_of_question(text[start:end], session_id, seen)):
            pos = end
            continue
        if scan.is_exhausted(len(text)):
            scan.overflow = "the message holds too many objects to tell the return from the rest"
            break
        inside = start <= scan.broken_to
        pos, parsed = _attempt(scan, text, start, key.start())
        if parsed and (candidate := _recognise(parsed, text, dialects)):
            candidate.glued = inside
            scan.candidates.append(candidate)
    _describe(scan.candidates, text)
    return scan


def _is_out_of_question(chunk: str, session_id: str | None, seen: set[str]) -> bool:
    """Whether a well-formed object repeats an earlier one, or carries somebody else's session."""
    if chunk in seen:
        return True
    seen.add(chunk)
    return session_id is not None and '"session_id"' in chunk and session_id not in chunk


def _attempt(scan: Scan, text: str, start: int, key: int) -> tuple[int, Parsed | None]:
    """Read one object: where to go on, and the object if there is one."""
    scan.tries += 1
    try:
        parsed = parse_object(text, start)
    except UnreadableError as error:
        scan.chars += error.reached - start
        scan.values += error.values
        if error.reached > key:
            scan.unreadable, scan.capped = (error.reason, error.reached), error.capped
            scan.broken_to = max(scan.broken_to, error.reached)
        # Beyond a cap nothing inside can be a return either; after a plain failure an inner object may be one.
        return (error.reached if error.capped else start + 1), None
    scan.chars += parsed.end - start
    return (start + 1 if parsed.closed == "end" else parsed.end), parsed


def _pass_over(text: str, start: int) -> int | None:
    """The end of a small well-formed object, found at C speed; None where it takes a closer look."""
    try:
        return start + _DECODER.raw_decode(text[start : start + _WINDOW])[1]
    except (ValueError, RecursionError):
        return None


def _recognise(parsed: Parsed, text: str, dialects: tuple[Dialect, ...]) -> Candidate | None:
    """The object as a candidate; also where it is all that a wrapper of one key holds."""
    for dialect in dialects:
        if dialect.is_like(parsed.value):
            return Candidate(parsed, dialect, text)
    if len(parsed.value) == 1 and not parsed.flaws:
        [(name, inner)] = parsed.value.items()
        for dialect in dialects:
            if name in _WRAPPERS and isinstance(inner, dict) and dialect.is_like(inner):
                return Candidate(parse_object(text, parsed.spans[f"/{name}"][0]), dialect, text, wrapping=("envelope",))
    return None


# --- what the message says around a candidate -----------------------------------------------------------------------

_THINKING = re.compile(
    r"<(/?)(?:antml:)?(?:think|thinking|thoughts?|reasoning|scratchpad|reflection|analysis)>", re.IGNORECASE
)
_START_MARKER = re.compile(r"<!--\s*AGENT_OUTPUT_START\s*-->\s*(?:(?:```|~~~)[^\n]{0,40}\n)?\s*\Z")


def _describe(candidates: list[Candidate], text: str) -> None:
    """Note for each candidate whether the message itself means it."""
    if not candidates:
        return
    thinking = _find_thinking(text, [(c.parsed.start, c.parsed.end) for c in candidates])
    for candidate in candidates:
        start = candidate.parsed.start
        before = text[max(0, start - 240) : start]
        candidate.marked = "AGENT_OUTPUT_START" in before and _START_MARKER.search(before) is not None
        candidate.alone = not text[:start].strip("` \t\r\n\ufeff") and not text[candidate.parsed.end :].strip(
            "` \t\r\n"
        )
        line = text[text.rfind("\n", max(0, start - LABEL_CHARS), start) + 1 : start]
        if any(begin <= start < end for begin, end in thinking):
            candidate.aside = "thinking"
        elif line.lstrip().startswith(">"):
            candidate.aside = "quoted"
        else:
            candidate.aside = read_label(before)


def _find_thinking(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches of thinking text. An opening tag starts its line; tags inside an object's texts are not tags."""
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
        if not tag.group(1):
            if opened is None and _starts_line(text, at):
                opened = at
        elif (opened is not None or not found) and text[at - 1 : at] != "`":
            found.append((opened or 0, tag.end()))
            opened = None
        if count > MAX_TAGS:
            opened = opened or 0
            break
    if opened is not None:
        found.append((opened, len(text)))
    return found


def _starts_line(text: str, at: int) -> bool:
    """Whether only a few spaces stand before this place on its line."""
    before = text[max(0, at - 16) : at]
    return ("\n" in before or at == len(before)) and not before[before.rfind("\n") + 1 :].strip()

"""A plan: its metadata lines, its phases, and the phase where work resumes (S4). No side effects.

A phase is `### Phase 1: Name [MARKER]` below `## Implementation Phases`, or anywhere if there is no such section; its
marker may also be in a `**Status**` line of the phase.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import UsageError
from remit.spelling import did_you_mean
from remit.tasks.markdown import (
    BRACKETS,
    Status,
    clean_line,
    find_fences,
    find_header_end,
    find_line_end,
    is_within,
    read_status,
    render_status,
    walk_fields,
)
from remit.tasks.task import ENDS, MARKERS, read_marker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from remit.tasks.markdown import Field, Span

_SECTION = re.compile(r"^(#{1,3})[ \t]+Implementation Phases\b", re.IGNORECASE | re.MULTILINE)
_PHASE = re.compile(
    r"#{2,4}[ \t]+Phase[ \t]+([0-9]{1,4}(?:\.[0-9]{1,4})?[A-Za-z]?)(?:[ \t]*[:.)\u2013\u2014-]|(?![^ \t\r\n]))",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^(#{1,6})[ \t]", re.MULTILINE)
_LEVELS = 6
_MAX_SHOWN = 5
_ALIASES = {"COMPLETE": "COMPLETED", "DONE": "COMPLETED"}
_RESUMED = ("NOT STARTED", "IN PROGRESS", "IMPLEMENTING", "PARTIAL", None)


class Phase(NamedTuple):
    """A phase of a plan."""

    number: str
    """The number as the plan gives it: 1, 2.5, 3A."""
    name: str
    marker: str | None
    """In the spelling of S2; None if the plan gives no known marker."""
    start: int
    """The start of its heading."""
    end: int
    status: Status | None = None
    """The position of its marker."""


class TaskPlan(NamedTuple):
    """A parsed plan."""

    marker: str | None
    metadata: tuple[tuple[str, str], ...]
    phases: tuple[Phase, ...]


def parse_plan(text: str) -> TaskPlan:
    """Parse a plan."""
    fences = find_fences(text)
    metadata = list(_walk_metadata(text, fences))
    status = _find_status(text, metadata)
    marker = _read_known(status.word) if status is not None else None
    phases = tuple(_walk_phases(text, fences))
    return TaskPlan(marker, tuple((field.name, field.value) for field in metadata), phases)


def find_resume_point(plan: TaskPlan) -> Phase | None:
    """Return the phase where work resumes: the first that is not started or in progress; None if there is none.

    IMPLEMENTING and PARTIAL count as in progress, and a phase without a marker as not started. Phases that are blocked
    or on hold are skipped.
    """
    return next((phase for phase in plan.phases if phase.marker in _RESUMED), None)


def list_open(phases: Iterable[Phase]) -> tuple[Phase, ...]:
    """Return the phases that haven't ended, including those that are blocked or on hold."""
    return tuple(phase for phase in phases if phase.marker not in ENDS)


def format_phases(phases: Sequence[Phase]) -> str:
    """Return phases with their markers for users: phase 2 is BLOCKED, phase 3 is ON HOLD."""
    shown = [f"phase {each.number} is {each.marker or 'without a marker'}" for each in phases[:_MAX_SHOWN]]
    return ", ".join(shown) + (f", and {len(phases) - _MAX_SHOWN} more" if len(phases) > _MAX_SHOWN else "")


def set_phase(text: str, number: int | str, marker: str) -> str:
    """Set the marker of a phase in its place, or at the end of the heading if it has none."""
    wanted = _check_marker(marker)
    found = [phase for phase in _walk_phases(text, find_fences(text)) if phase.number.upper() == str(number).upper()]
    if len(found) != 1:
        raise UsageError(
            f"the plan has {len(found) or 'no'} phase{'s' if found else ''} {clean_line(str(number), 20)}",
            hint="check the plan: each phase needs a heading such as ### Phase 1: Name [NOT STARTED]",
        )
    (phase,) = found
    if phase.marker == wanted:
        return text
    if phase.status is not None:
        return _replace(text, phase.status, wanted)
    at = phase.start + len(text[phase.start : find_line_end(text, phase.start, phase.end)].rstrip())
    return f"{text[:at]} [{wanted}]{text[at:]}"


def set_plan_status(text: str, marker: str) -> str:
    """Set the status among the metadata lines, if the plan has one."""
    wanted = _check_marker(marker)
    status = _find_status(text, _walk_metadata(text, find_fences(text)))
    if status is None or _read_known(status.word) == wanted:
        return text
    return _replace(text, status, wanted)


def _replace(text: str, status: Status, wanted: str) -> str:
    return text[: status.start] + render_status(wanted, text[status.start : status.end]) + text[status.end :]


def _check_marker(marker: str) -> str:
    wanted = _read_known(marker.strip("[] \t"))
    if wanted is None:
        raise UsageError(f"'{clean_line(marker, 60)}' isn't a marker", hint=did_you_mean(read_marker(marker), MARKERS))
    return wanted


def _read_known(word: str) -> str | None:
    marker = read_marker(word)
    marker = _ALIASES.get(marker, marker)
    return marker if marker in MARKERS else None


def _walk_metadata(text: str, fences: list[Span]) -> Iterator[Field]:
    """Yield the field lines above the phases."""
    start, end = _find_region(text, fences)
    end = start or next((phase.start for phase in _walk_phases(text, fences)), end)
    return walk_fields(text, find_header_end(text) or int(text.startswith("\ufeff")), end, fences)


def _find_status(text: str, fields: Iterable[Field]) -> Status | None:
    field = next((each for each in fields if each.name.lower() == "status"), None)
    return read_status(text, field.value_start, field.value_end) if field is not None else None


def _find_region(text: str, fences: list[Span]) -> Span:
    """Return the span of the phases: the section that is named after them, else the whole text."""
    section = next(_search(_SECTION, text, 0, fences), None)
    if section is None:
        return 0, len(text)
    for found in _search(_HEADING, text, section.end(), fences):
        if len(found[1]) <= len(section[1]) and _PHASE.match(text, found.start()) is None:
            return section.start(), found.start()
    return section.start(), len(text)


def _search(pattern: re.Pattern[str], text: str, start: int, fences: list[Span]) -> Iterator[re.Match[str]]:
    return (found for found in pattern.finditer(text, start) if not is_within(found.start(), fences))


def _walk_phases(text: str, fences: list[Span]) -> Iterator[Phase]:
    begin, stop = _find_region(text, fences)
    headings = [found for found in _search(_HEADING, text, begin, fences) if found.start() < stop]
    ends = _find_ends(headings, stop)
    below = [*(heading.start() for heading in headings), stop][1:]
    for heading, end, fields_end in zip(headings, ends, below, strict=True):
        found = _PHASE.match(text, heading.start())
        if found is not None:
            yield _read_phase(text, found, end, fields_end, fences)


def _find_ends(headings: list[re.Match[str]], stop: int) -> list[int]:
    """Return the end of the text below each heading: the next heading of the same level or above."""
    following = [stop] * (_LEVELS + 1)
    ends: list[int] = []
    for heading in reversed(headings):
        level = len(heading[1])
        ends.append(following[level])
        following[level:] = [heading.start()] * (_LEVELS + 1 - level)
    return ends[::-1]


def _read_phase(text: str, heading: re.Match[str], end: int, fields_end: int, fences: list[Span]) -> Phase:
    start = heading.start()
    line_end = find_line_end(text, start, end)
    status, name_end = _find_last_marker(text, heading.end(), line_end), line_end
    if status is not None:
        name_end = status.start
    else:
        status = _find_status(text, walk_fields(text, min(line_end + 1, fields_end), fields_end, fences))
    marker = _read_known(status.word) if status is not None else None
    return Phase(heading[1], text[heading.end() : name_end].strip(), marker, start, end, status)


def _find_last_marker(text: str, start: int, end: int) -> Status | None:
    """Return the last marker in brackets on a heading; other words in brackets belong to the name."""
    found = [each for each in BRACKETS.finditer(text, start, end) if _read_known(each[1]) is not None]
    return Status(found[-1][1], *found[-1].span()) if found else None

"""Insert new tasks into TODO.md in the file's own style. No side effects.

The style is the section for a priority, the order of tasks (newest first or last), and a `---` between tasks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.tasks.markdown import find_content_end, find_fences, find_header_end, is_rule, read_line_break
from remit.tasks.todo import ANY_HEADING, walk_sections

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.tasks.markdown import Span

PRIORITIES = ("High", "Medium", "Low")
_PRIORITY = re.compile(r"##[ \t]+(High|Medium|Low)[ \t]+Priority\b", re.IGNORECASE)
_TASKS = re.compile(r"##[ \t]+Tasks[ \t]*\r?(?:\n|\Z)", re.IGNORECASE)
_BIG_SECTION = re.compile(r"#{1,2}[ \t]")
_RULE_BETWEEN = re.compile(r"\n-{3,}[ \t]*\r?\n(?:[ \t]*\r?\n){0,3}###[ \t]")
_RULE_AT_END = re.compile(r"\n-{3,}[ \t]*\r?\n(?:[ \t]*\r?\n){0,3}##[ \t]")

Lines = list[str]


def place_tasks(text: str, tasks: Iterable[tuple[str, Lines]]) -> str:
    """Insert tasks, each given by its priority and its lines, in the order of their numbers.

    They go to the section of their priority, to `## Tasks`, or next to the other tasks.
    """
    sections = list(walk_sections(text, find_fences(text)))
    known = {name for name, _ in _list_priorities(text, sections)}
    shared = not known or _find_tasks_section(text, sections) is not None
    groups: dict[str, tuple[str, list[Lines]]] = {}
    for priority, lines in tasks:
        wanted = _read_priority(priority)
        group = "" if shared and wanted not in known else wanted
        groups.setdefault(group, (wanted, []))[1].append(lines)
    for wanted, group_lines in groups.values():
        text = _place(text, group_lines, wanted)
    return text


def _place(text: str, tasks: list[Lines], wanted: str) -> str:
    """Insert tasks of one priority, or of several priorities that share a section."""
    sections = list(walk_sections(text, find_fences(text)))
    known = _list_priorities(text, sections)
    home = next((index for name, index in known if name == wanted), None)
    if home is None:
        home = _find_tasks_section(text, sections)
    if home is not None:
        return _insert_tasks(text, tasks, sections, home)
    lines = _join(tasks, ruled=_has_rules(text, sections))
    if known:
        return _insert_section(text, [f"## {wanted} Priority", "", *lines], sections, known, wanted)
    if any(ANY_HEADING.match(text, start) for start, _ in sections):
        return _insert_tasks(text, tasks, sections, -1)
    return _insert_after(text, ["## Tasks", "", *lines], find_content_end(text, 0, len(text)))


def ends_with_rule(text: str, start: int, end: int) -> bool:
    """Whether the last line of a stretch that is not empty is `---`."""
    stop = start + len(text[start:end].rstrip())
    return is_rule(text, text.rfind("\n", 0, stop) + 1, stop)


def _read_priority(word: str) -> str:
    """A priority as the sections spell it; what is none is medium."""
    return next((name for name in PRIORITIES if name.lower() == word.lower()), "Medium")


def _find_tasks_section(text: str, sections: list[Span]) -> int | None:
    """Which of all sections is `## Tasks`."""
    return next((index for index, (start, _) in enumerate(sections) if _TASKS.match(text, start)), None)


def _list_priorities(text: str, sections: list[Span]) -> list[tuple[str, int]]:
    """The sections of a priority, by its name, and which of all sections each is."""
    found = [(_PRIORITY.match(text, start), index) for index, (start, _) in enumerate(sections)]
    return [(match[1].capitalize(), index) for match, index in found if match is not None]


def _insert_section(text: str, lines: Lines, sections: list[Span], known: list[tuple[str, int]], wanted: str) -> str:
    """A section more, before the first one of a lower priority, or after the last one."""
    lower = PRIORITIES[PRIORITIES.index(wanted) + 1 :]
    before = next((index for name, index in known if name in lower), None)
    if before is not None:
        return _insert_before(text, lines, sections[before][0])
    return _insert_after(text, lines, _find_tasks_of(text, sections, known[-1][1])[1])


def _find_tasks_of(text: str, sections: list[Span], home: int) -> tuple[list[Span], int]:
    """The tasks of a section (-1 is the whole file), and where its content ends."""
    tasks = []
    end = sections[home][1] if home >= 0 else sections[-1][1]
    for start, stop in sections[home + 1 :]:
        if home >= 0 and _BIG_SECTION.match(text, start):
            break
        end = stop
        if ANY_HEADING.match(text, start):
            tasks.append((start, stop))
    first = sections[home][0] if home >= 0 else sections[0][0]
    return tasks, find_content_end(text, first, end)


def _has_rules(text: str, sections: list[Span]) -> bool:
    """Whether `---` stands between tasks, more often than not."""
    rules = len(_RULE_BETWEEN.findall(text, find_header_end(text)))
    return rules > 0 and 2 * rules >= sum(ANY_HEADING.match(text, start) is not None for start, _ in sections) - 1


def _join(tasks: Iterable[Lines], *, ruled: bool) -> Lines:
    """The lines of several tasks, one after the other."""
    lines: Lines = []
    for task in tasks:
        lines += [*(("", "---", "") if ruled else ("",)), *task] if lines else task
    return lines


def _insert_tasks(text: str, new: list[Lines], sections: list[Span], home: int) -> str:
    """Tasks more in a section: first where the newest come first, else last, with `---` between as the file has it."""
    tasks, end = _find_tasks_of(text, sections, home)
    every = tasks if len(tasks) > 1 else [span for span in sections if ANY_HEADING.match(text, span[0])]
    numbers = [int(found[1]) for start, _ in every if (found := ANY_HEADING.match(text, start)) is not None]
    between = _has_rules(text, sections)
    if tasks and len(numbers) > 1 and numbers[0] == max(numbers):
        lines = _join(reversed(new), ruled=between)
        return _insert_before(text, [*lines, "", "---"] if between else lines, tasks[0][0])
    if not tasks:
        closed = between and _RULE_AT_END.search(text, sections[home][0]) is not None
        lines = _join(new, ruled=between)
        return _insert_after(text, [*lines, "", "---"] if closed else lines, end)
    end = find_content_end(text, *tasks[-1])
    if ends_with_rule(text, *tasks[-1]):
        return _insert_after(text, [*_join(new, ruled=True), "", "---"], end)
    lines = _join(new, ruled=between)
    return _insert_after(text, ["---", "", *lines] if between else lines, end)


def _insert_before(text: str, lines: Lines, at: int) -> str:
    """Lines, and an empty one, before a heading."""
    line_break = read_line_break(text)
    return text[:at] + "".join(f"{line}{line_break}" for line in [*lines, ""]) + text[at:]


def _insert_after(text: str, lines: Lines, at: int) -> str:
    """An empty line, and lines, after the last line of something; the last line of a file may lack its end."""
    line_break = read_line_break(text)
    if at and text[at - 1] != "\n":
        return text[:at] + line_break + line_break + line_break.join(lines) + text[at:]
    return text[:at] + "".join(f"{line}{line_break}" for line in ["", *lines]) + text[at:]

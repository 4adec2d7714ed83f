"""TODO.md changed as a text: a status, a field, a task more or less, the next number.

Owns every edit of that file. An edit changes only what it is about and writes as the file does: its bullets, its line
ends, the newest task first or last, `---` between tasks or not. What users and agents give is data: it comes to stand
on one line and can make no heading, field or fence of its own. Pure: texts come in, texts go out.

Counts in the header (`task_counts`) belong to whoever writes them: they count what was archived, too, and are left.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import UsageError, did_you_mean
from remit.workspace.tasks.markdown import (
    clean_line,
    clean_title,
    find_content_end,
    find_fences,
    find_header_end,
    find_line_end,
    is_rule,
    is_within,
    read_line_break,
    read_status,
    render_status,
    walk_fields,
    walk_lines,
)
from remit.workspace.tasks.todo import HEADING, find_counter, walk_sections
from remit.workspace.tasks.values import MARKERS, read_marker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.workspace.tasks.markdown import Field, Span

PRIORITIES = ("High", "Medium", "Low")

_ANY_HEADING = re.compile(HEADING.replace("{number}", "[0-9]{1,9}"))
_SECTION_END = re.compile(r"\n#{1,3}[ \t]")
_PRIORITY = re.compile(r"##[ \t]+(High|Medium|Low)[ \t]+Priority\b", re.IGNORECASE)
_TASKS = re.compile(r"##[ \t]+Tasks[ \t]*\r?(?:\n|\Z)", re.IGNORECASE)
_BIG_SECTION = re.compile(r"#{1,2}[ \t]")
_RULE_BETWEEN = re.compile(r"\n-{3,}[ \t]*\r?\n(?:[ \t]*\r?\n){0,3}###[ \t]")
_RULE_AT_END = re.compile(r"\n-{3,}[ \t]*\r?\n(?:[ \t]*\r?\n){0,3}##[ \t]")
_STATUS_STYLE = re.compile(
    r"\n([ \t]{0,8}(?:[-*+][ \t]{1,4})?)\*\*Status(\*\*[ \t]{0,4}:|:\*\*)[ \t]{1,8}"
    r"(\[[^\]\[\n]{1,40}\]|[A-Za-z]{2,20})",
    re.IGNORECASE,
)
_MAX_DESCRIPTION = 4000
_NAME = re.compile(r"[^*:\n\r]{1,60}")


class Entry(NamedTuple):
    """A task in the text of a TODO.md: from its heading to the next one."""

    number: int
    title: str
    start: int
    end: int
    bare: bool
    """Without a field, so that it may be no task at all."""


class _Style(NamedTuple):
    """How a file writes its fields and its statuses."""

    prefix: str = "- "
    colon: str = "**:"
    status: str = "[NOT STARTED]"


def render_empty_todo(next_number: int = 1) -> str:
    """A TODO.md without a task."""
    sections = "".join(f"\n## {name} Priority\n" for name in PRIORITIES)
    return f"---\nnext_project_number: {next_number}\n---\n\n# TODO\n{sections}"


def find_task(text: str, number: int) -> Entry:
    """The task that has a number. Raise `UsageError` where there is none, or two."""
    found = find_tasks(text, number)
    chosen = [entry for entry in found if not entry.bare] or list(found)
    if not chosen:
        raise UsageError(f"there is no task {number} in TODO.md", hint="compare the two files with: remit sync --check")
    if len(chosen) > 1:
        raise UsageError(
            f"the number {number} is given to {len(chosen)} tasks in TODO.md",
            hint="give one of them a new number with: remit sync --repair",
        )
    return chosen[0]


def find_tasks(text: str, number: int) -> tuple[Entry, ...]:
    """Every task that has a number, in the order of the file."""
    heading = re.compile(HEADING.replace("{number}", f"0{{0,8}}{number}"))
    hits = [hit for hit in heading.finditer(text) if text[hit.start() - 1 : hit.start()] in ("\n", "\ufeff", "")]
    if not hits:
        return ()
    fences, header = find_fences(text), find_header_end(text)
    found = []
    for hit in hits:
        start = hit.start()
        if start >= header and not is_within(start, fences):
            end = _find_end(text, start, fences)
            stop = find_line_end(text, start, end)
            bare = next(walk_fields(text, stop + 1, end, fences), None) is None
            found.append(Entry(number, text[hit.end() : stop].strip(), start, end, bare))
    return tuple(found)


def _find_end(text: str, start: int, fences: list[Span]) -> int:
    """Where the next heading begins."""
    for found in _SECTION_END.finditer(text, start):
        if not is_within(found.start() + 1, fences):
            return found.start() + 1
    return len(text)


def _resolve(text: str, task: int | Entry) -> Entry:
    return task if isinstance(task, Entry) else find_task(text, task)


def _list_fields(text: str, entry: Entry) -> list[Field]:
    below = find_line_end(text, entry.start, entry.end) + 1
    return list(walk_fields(text, below, entry.end, _find_own_fences(text, entry)))


def _find_own_fences(text: str, entry: Entry) -> list[Span]:
    """The fences of a task, looked for only where it has some."""
    marked = any(text.find(mark, entry.start, entry.end) >= 0 for mark in ("```", "~~~"))
    return find_fences(text[: entry.end]) if marked else []


def set_status(text: str, task: int | Entry, marker: str) -> str:
    """Set the status of a task, spelt as it is spelt now. One without a status gets it after its other fields."""
    wanted = _read_known(marker)
    entry = _resolve(text, task)
    field = next((each for each in _list_fields(text, entry) if each.name.lower() == "status"), None)
    if field is None:
        return _add_field(text, entry, "Status", render_status(wanted, _read_style(text).status))
    status = read_status(text, field.value_start, field.value_end)
    if status is None:
        space = "" if text[field.value_start - 1] in " \t" else " "
        return f"{text[: field.value_start]}{space}[{wanted}]{text[field.value_start :]}"
    if read_marker(status.word) == wanted:
        return text
    word = render_status(wanted, text[status.start : status.end])
    return f"{text[: status.start]}{word}{text[status.end :]}"


def _read_known(marker: str) -> str:
    wanted = read_marker(marker.strip("[] \t"))
    if wanted not in MARKERS:
        raise UsageError(f"'{clean_line(marker, 60)}' is not a marker", hint=did_you_mean(wanted, MARKERS))
    return wanted


def set_field(text: str, task: int | Entry, name: str, value: str | None) -> str:
    """Set a field of a task, or take it away (None), with the lines that are indented below it.

    A new field comes after the ones that are there. What stands below a field stays when its line changes.
    """
    entry = _resolve(text, task)
    field = next((each for each in _list_fields(text, entry) if each.name.lower() == name.lower()), None)
    if value is None:
        return text if field is None else _cut_field(text, entry, field)
    cleaned = clean_line(value)
    if field is None:
        return _add_field(text, entry, name, cleaned)
    if field.value == cleaned:
        return text
    before = text[: field.value_start].rstrip(" \t") if not cleaned else text[: field.value_start]
    space = " " if cleaned and before[-1] not in " \t" else ""
    return f"{before}{space}{cleaned}{text[field.value_end :]}"


def append_to_field(text: str, task: int | Entry, name: str, value: str) -> str:
    """Add a value to a field that holds several, such as links, unless it is among them."""
    entry = _resolve(text, task)
    field = next((each for each in _list_fields(text, entry) if each.name.lower() == name.lower()), None)
    cleaned = clean_line(value)
    if field is None or not field.value:
        return set_field(text, entry, name, cleaned)
    if cleaned in field.value.split(", "):
        return text
    return f"{text[: field.value_end]}, {cleaned}{text[field.value_end :]}"


def _add_field(text: str, entry: Entry, name: str, value: str) -> str:
    """A field more, after the ones that are there and in their style."""
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"'{clean_line(name, 60)}' cannot be the name of a field", hint="use a few plain words")
    fields = _list_fields(text, entry)
    style = _Style(fields[0].prefix, fields[0].colon) if fields else _read_style(text)
    at = _find_fields_end(text, entry, fields)
    tail = ""
    if fields and not style.prefix.strip():  # two spaces at the end of a line break it where there is no bullet
        tail = text[fields[0].value_end : find_line_end(text, fields[0].start, entry.end)].rstrip("\r")
    return f"{text[:at]}{read_line_break(text)}{_render_field(style, name, value)}{tail}{text[at:]}"


def _find_fields_end(text: str, entry: Entry, fields: list[Field]) -> int:
    """Where a new field goes: below the lines that begin with the first field, or below the heading."""
    fences = _find_own_fences(text, entry)
    at = first = fields[0].start if fields else entry.start
    for start, stop in walk_lines(text, first, entry.end):
        line = text[start:stop]
        over = not line.strip() or is_rule(text, start, stop) or not (fields or line[0] in " \t")
        if over and start > first and not is_within(start, fences):
            break
        at = stop
    return at


def _render_field(style: _Style, name: str, value: str) -> str:
    return f"{style.prefix}**{name}{style.colon} {value}"


def _cut_field(text: str, entry: Entry, field: Field) -> str:
    indent = len(field.prefix) - len(field.prefix.lstrip())
    end = field.start
    for start, stop in walk_lines(text, field.start, entry.end):
        line = text[start:stop]
        deeper = line.strip() and len(line) - len(line.lstrip()) > indent
        if start > field.start and not deeper:
            break
        end = stop
    before = field.start - 1
    return text[: before - (text[before - 1] == "\r")] + text[end:]


def _read_style(text: str) -> _Style:
    """How the file writes a status, told from the first."""
    found = _STATUS_STYLE.search(text)
    return _Style(found[1], found[2], found[3]) if found is not None else _Style()


def renumber(text: str, task: int | Entry, new: int) -> str:
    """Give a task another number. What else names the old number is not touched: it may mean another task."""
    entry = _resolve(text, task)
    found = _ANY_HEADING.match(text, entry.start)
    if found is None or int(found[1]) == new:
        return text
    return f"{text[: found.start(1)]}{new}{text[found.end(1) :]}"


def set_next_number(text: str, number: int) -> str:
    """Set the next number in the header, where it gives one."""
    span = find_counter(text)
    if span is None or int(text[slice(*span)]) == number:
        return text
    return f"{text[: span[0]]}{number}{text[span[1] :]}"


def add_task(
    text: str,
    number: int,
    title: str,
    fields: Mapping[str, str],
    *,
    priority: str = "",
    description: str = "",
) -> str:
    """Add a task to the section of its priority, to `## Tasks`, or to where the tasks are, as the file has it.

    The status is NOT STARTED unless `fields` says otherwise. An empty text becomes a new file.
    """
    text = text or render_empty_todo(number)
    named = clean_title(title)
    if not named:
        raise UsageError("a task needs a title", hint="say in a few words what is to be done")
    style, lines = _read_style(text), [f"### {number}. {named}"]
    status = render_status(_read_known(fields.get("Status", "NOT STARTED")), style.status)
    for name, value in {**({} if "Status" in fields else {"Status": ""}), **fields}.items():
        if _NAME.fullmatch(name) is None:
            raise UsageError(f"'{clean_line(name, 60)}' cannot be the name of a field", hint="use a few plain words")
        lines.append(_render_field(style, name, status if name == "Status" else clean_line(value)))
    if description:
        lines += ["", f"**Description**: {clean_line(description, _MAX_DESCRIPTION)}"]
    return _place_task(text, lines, priority)


def _place_task(text: str, lines: list[str], priority: str) -> str:
    """Put the lines of a new task where they belong."""
    sections = list(walk_sections(text, find_fences(text)))
    wanted = next((name for name in PRIORITIES if name.lower() == priority.lower()), "Medium")
    known = _list_priorities(text, sections)
    home = next((index for name, index in known if name == wanted), None)
    if home is None:
        home = next((index for index, (start, _) in enumerate(sections) if _TASKS.match(text, start)), None)
    if home is not None:
        return _insert_task(text, lines, sections, home)
    if known:
        return _insert_section(text, [f"## {wanted} Priority", "", *lines], sections, known, wanted)
    if any(_ANY_HEADING.match(text, start) for start, _ in sections):
        return _insert_task(text, lines, sections, -1)
    return _insert_after(text, ["## Tasks", "", *lines], find_content_end(text, 0, len(text)))


def _list_priorities(text: str, sections: list[Span]) -> list[tuple[str, int]]:
    """The sections of a priority, by its name, and which of all sections each is."""
    found = [(_PRIORITY.match(text, start), index) for index, (start, _) in enumerate(sections)]
    return [(match[1].capitalize(), index) for match, index in found if match is not None]


def _insert_section(
    text: str, lines: list[str], sections: list[Span], known: list[tuple[str, int]], wanted: str
) -> str:
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
        if _ANY_HEADING.match(text, start):
            tasks.append((start, stop))
    first = sections[home][0] if home >= 0 else sections[0][0]
    return tasks, find_content_end(text, first, end)


def _insert_task(text: str, lines: list[str], sections: list[Span], home: int) -> str:
    """A task more in a section: first where the newest come first, else last, with `---` between as the file has it."""
    tasks, end = _find_tasks_of(text, sections, home)
    every = tasks if len(tasks) > 1 else [span for span in sections if _ANY_HEADING.match(text, span[0])]
    numbers = [int(found[1]) for start, _ in every if (found := _ANY_HEADING.match(text, start)) is not None]
    rules = len(_RULE_BETWEEN.findall(text, find_header_end(text)))
    between = rules > 0 and 2 * rules >= sum(_ANY_HEADING.match(text, start) is not None for start, _ in sections) - 1
    if tasks and len(numbers) > 1 and numbers[0] == max(numbers):
        return _insert_before(text, [*lines, "", "---"] if between else lines, tasks[0][0])
    if not tasks:
        closed = between and _RULE_AT_END.search(text, sections[home][0]) is not None
        return _insert_after(text, [*lines, "", "---"] if closed else lines, end)
    end = find_content_end(text, *tasks[-1])
    if _ends_with_rule(text, *tasks[-1]):
        return _insert_after(text, [*lines, "", "---"], end)
    return _insert_after(text, ["---", "", *lines] if between else lines, end)


def _insert_before(text: str, lines: list[str], at: int) -> str:
    """Lines, and an empty one, before a heading."""
    line_break = read_line_break(text)
    return text[:at] + "".join(f"{line}{line_break}" for line in [*lines, ""]) + text[at:]


def _insert_after(text: str, lines: list[str], at: int) -> str:
    """An empty line, and lines, after the last line of something; the last line of a file may lack its end."""
    line_break = read_line_break(text)
    if at and text[at - 1] != "\n":
        return text[:at] + line_break + line_break + line_break.join(lines) + text[at:]
    return text[:at] + "".join(f"{line}{line_break}" for line in ["", *lines]) + text[at:]


def _ends_with_rule(text: str, start: int, end: int) -> bool:
    """Whether the last line of a stretch that is not empty is `---`."""
    stop = start + len(text[start:end].rstrip())
    return is_rule(text, text.rfind("\n", 0, stop) + 1, stop)


def remove_task(text: str, task: int | Entry) -> tuple[str, str]:
    """Take a task out of the file, with the `---` that kept it apart. Gives the text without it, and the task's own."""
    entry = _resolve(text, task)
    end = find_content_end(text, entry.start, entry.end)
    removed = text[entry.start : end]
    if _ANY_HEADING.match(text, entry.end) is not None:  # another task follows, and takes its place
        return text[: entry.start] + text[entry.end :], removed
    start = find_content_end(text, 0, entry.start)
    if not _ends_with_rule(text, entry.start, entry.end) and _ends_with_rule(text, 0, start):
        above = next((each for each, stop in walk_sections(text, find_fences(text)) if stop == entry.start), None)
        if above is not None and _ANY_HEADING.match(text, above):
            start = find_content_end(text, 0, text.rfind("\n", 0, len(text[:start].rstrip())) + 1)
    if end == len(text) and not text.endswith("\n") and text[start - 1 : start] == "\n":
        start -= 2 if text[start - 2 : start] == "\r\n" else 1
    return text[:start] + text[end:], removed

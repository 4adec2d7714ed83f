"""Edit TODO.md as text, and keep its style: a status, a field, tasks, the next number. No side effects.

An edit changes only its own text and follows the style of the file: its bullets, line ends, the newest task first or
last, `---` between tasks. Text from users and agents is data: it is written on one line, so it can't create a heading,
a field or a code fence.

A task is given by its number or, if the number isn't unique, by the `TodoSection` from `find_tasks`, which is valid
only for the text it was found in. `TodoEdits`, `add_tasks` and `remove_tasks` change many tasks in one pass.

Counts in the header (`task_counts`) are not updated: they also count archived tasks.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import UsageError
from remit.storage.json_edit import TextChange, apply
from remit.tasks.links import find_links, find_samples, place_link
from remit.tasks.markdown import (
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
from remit.tasks.task import MARKERS, read_marker, suggest_marker
from remit.tasks.todo import ANY_HEADING, HEADING, SECTION, find_counter, walk_sections

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.tasks.links import Link
    from remit.tasks.markdown import Field, Span
    from remit.tasks.task import Linked

PRIORITIES = ("High", "Medium", "Low")
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


class TodoSection(NamedTuple):
    """A task in the text of a TODO.md, from its heading to the next one."""

    number: int
    title: str
    start: int
    end: int
    bare: bool
    """It has no field, so perhaps it isn't a task."""


class NewTask(NamedTuple):
    """A task to write. Its status is NOT STARTED unless a field gives another."""

    number: int
    title: str
    fields: Mapping[str, str]
    priority: str = ""
    description: str = ""


class _TodoStyle(NamedTuple):
    """The style of a file's fields and statuses."""

    prefix: str = "- "
    colon: str = "**:"
    status: str = "[NOT STARTED]"


def render_empty_todo(next_number: int = 1) -> str:
    """Return a TODO.md without tasks."""
    sections = "".join(f"\n## {name} Priority\n" for name in PRIORITIES)
    return f"---\nnext_project_number: {next_number}\n---\n\n# TODO\n{sections}"


def find_task(text: str, number: int) -> TodoSection:
    """Return the task with a number. Raise `UsageError` if there is none, or more than one."""
    found = find_tasks(text, number)
    chosen = [entry for entry in found if not entry.bare] or list(found)
    if not chosen:
        hint = "compare it with state.json: remit task sync --check"
        raise UsageError(f"there is no task {number} in TODO.md", hint=hint)
    if len(chosen) > 1:
        raise UsageError(
            f"{len(chosen)} tasks in TODO.md have the number {number}",
            hint="give one of them a new number with: remit task sync --repair",
        )
    return chosen[0]


def find_tasks(text: str, number: int) -> tuple[TodoSection, ...]:
    """Return every task with a number, in the order of the file."""
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
            found.append(TodoSection(number, text[hit.end() : stop].strip(), start, end, bare))
    return tuple(found)


def list_tasks(text: str) -> tuple[TodoSection, ...]:
    """Return every task, in the order of the file."""
    fences = find_fences(text)
    found = []
    for start, end in walk_sections(text, fences):
        heading = ANY_HEADING.match(text, start, end)
        if heading is not None:
            stop = find_line_end(text, start, end)
            bare = next(walk_fields(text, stop + 1, end, fences), None) is None
            found.append(TodoSection(int(heading[1]), text[heading.end() : stop].strip(), start, end, bare))
    return tuple(found)


def _find_end(text: str, start: int, fences: list[Span]) -> int:
    """Return the start of the next heading."""
    for found in SECTION.finditer(text, start):
        if not is_within(found.start() + 1, fences):
            return found.start() + 1
    return len(text)


def _resolve(text: str, task: int | TodoSection) -> TodoSection:
    return task if isinstance(task, TodoSection) else find_task(text, task)


class TodoEdits:
    """Changes to many tasks, computed from one parse of the text and applied in one pass."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._changes: list[TextChange] = []
        self._removed: list[TodoSection] = []

    @cached_property
    def _fences(self) -> list[Span]:
        return find_fences(self.text)

    @cached_property
    def _style(self) -> _TodoStyle:
        return _read_style(self.text)

    @cached_property
    def _line_break(self) -> str:
        return read_line_break(self.text)

    def _find_fences(self, entry: TodoSection) -> list[Span]:
        """Return the code fences, which are searched only if the task has one."""
        marked = any(self.text.find(mark, entry.start, entry.end) >= 0 for mark in ("```", "~~~"))
        return self._fences if marked else []

    def walk_fields(self, entry: TodoSection) -> Iterator[Field]:
        """Yield the fields of a task."""
        below = find_line_end(self.text, entry.start, entry.end) + 1
        return walk_fields(self.text, below, entry.end, self._find_fences(entry))

    def find_field(self, entry: TodoSection, name: str) -> Field | None:
        """Return the first field of a task with a name; None if there is none."""
        return next((each for each in self.walk_fields(entry) if each.name.lower() == name.lower()), None)

    def set_status(self, entry: TodoSection, marker: str) -> bool:
        """Set the status of a task in its present spelling. A task without one gets it after its other fields."""
        wanted = _read_known(marker)
        field = self.find_field(entry, "status")
        if field is None:
            return self._add_line(entry, "Status", f" {render_status(wanted, self._style.status)}")
        status = read_status(self.text, field.value_start, field.value_end)
        if status is None:
            space = "" if self.text[field.value_start - 1] in " \t" else " "
            return self._put(field.value_start, field.value_start, f"{space}[{wanted}]")
        if read_marker(status.word) == wanted:
            return False
        return self._put(status.start, status.end, render_status(wanted, self.text[status.start : status.end]))

    def set_field(self, entry: TodoSection, name: str, value: str | None) -> bool:
        """Set a field of a task, or remove it (None); return whether that changes it."""
        field = self.find_field(entry, name)
        if value is None:
            return field is not None and self._cut_field(entry, field)
        cleaned = clean_line(value)
        if field is None:
            return self._add_line(entry, name, f" {cleaned}")
        if field.value == cleaned:
            return False
        start = field.value_start
        while not cleaned and self.text[start - 1] in " \t":
            start -= 1
        space = " " if cleaned and self.text[start - 1] not in " \t" else ""
        return self._put(start, field.value_end, space + cleaned)

    def find_links(self, entry: TodoSection) -> list[Link]:
        """Return the links of a task."""
        below = find_line_end(self.text, entry.start, entry.end) + 1
        return list(find_links(self.text, below, entry.end, self._find_fences(entry)))

    def add_link(self, entry: TodoSection, link: Linked, samples: Mapping[str, Link]) -> bool:
        """Link a file in a task, in the style of its other links, else in the style of `samples` from other tasks."""
        own, fields = self.find_links(entry), list(self.walk_fields(entry))
        placed = place_link(self.text, link, own, fields, samples.get(link.kind))
        text = placed.text.replace("\n", self._line_break)
        if placed.label:
            return self._add_line(entry, placed.label, text)
        return self._put(placed.start, placed.end, text)

    def set_title(self, entry: TodoSection, title: str) -> bool:
        """Change the title of a task; return whether that changes it."""
        stop = find_line_end(self.text, entry.start, entry.end)
        end = entry.start + len(self.text[entry.start : stop].rstrip())
        start = end - len(entry.title)
        space = "" if self.text[start - 1] in " \t" else " "
        cleaned = clean_title(title)
        return bool(cleaned) and cleaned != entry.title and self._put(start, end, space + cleaned)

    def renumber(self, entry: TodoSection, new: int) -> bool:
        """Change the number of a task. Other mentions of the old number stay: they may mean another task."""
        found = ANY_HEADING.match(self.text, entry.start)
        return found is not None and int(found[1]) != new and self._put(*found.span(1), str(new))

    def remove(self, entry: TodoSection) -> None:
        """Remove a task from the file, with its `---` separator."""
        self._removed.append(entry)

    def apply(self) -> str:
        """Return the text with all changes."""
        changes = [*self._changes, *self._cut_removed()]
        return apply(self.text, changes) if changes else self.text

    def _put(self, start: int, end: int, new: str) -> bool:
        self._changes.append(TextChange(start, end, new))
        return True

    def _add_line(self, entry: TodoSection, name: str, rest: str) -> bool:
        """Add a field with the text after its name, below the existing fields and in their style."""
        if _NAME.fullmatch(name) is None:
            raise UsageError(f"'{clean_line(name, 60)}' isn't a valid field name", hint="use a few plain words")
        first = next(self.walk_fields(entry), None)
        style = self._style if first is None else _TodoStyle(first.prefix, first.colon)
        tail = ""
        if first is not None and not style.prefix.strip():  # without bullets, two trailing spaces break a line
            tail = self.text[first.value_end : find_line_end(self.text, first.start, entry.end)].rstrip("\r")
        at = self._find_fields_end(entry, first)
        return self._put(at, at, f"{self._line_break}{style.prefix}**{name}{style.colon}{rest}{tail}")

    def _find_fields_end(self, entry: TodoSection, field: Field | None) -> int:
        """Return the end of the block of fields, or of the heading: a new field goes there."""
        text, fences = self.text, self._find_fences(entry)
        at = first = entry.start if field is None else field.start
        for start, stop in walk_lines(text, first, entry.end):
            line = text[start:stop]
            over = not line.strip() or is_rule(text, start, stop) or not (field or line[0] in " \t")
            if over and start > first and not is_within(start, fences):
                break
            at = stop
        return at

    def _cut_field(self, entry: TodoSection, field: Field) -> bool:
        """Remove a field, with the lines that are indented below it."""
        text, indent = self.text, len(field.prefix) - len(field.prefix.lstrip())
        end = field.start
        for start, stop in walk_lines(text, field.start, entry.end):
            line = text[start:stop]
            deeper = line.strip() and len(line) - len(line.lstrip()) > indent
            if start > field.start and not deeper:
                break
            end = stop
        before = field.start - 1
        return self._put(before - (text[before - 1] == "\r"), end, "")

    def _cut_removed(self) -> Iterator[TextChange]:
        """Yield the changes that remove tasks. Adjacent tasks are removed by one change."""
        if not self._removed:
            return
        above = {stop: start for start, stop in walk_sections(self.text, self._fences)}
        spans: list[Span] = []
        for start, end in sorted((entry.start, entry.end) for entry in self._removed):
            joined = spans and spans[-1][1] == start
            spans[-1:] = [(spans[-1][0], end)] if joined else [*spans[-1:], (start, end)]
        for start, end in spans:
            yield _cut(self.text, start, end, above.get(start))


def _cut(text: str, start: int, end: int, above: int | None) -> TextChange:
    """Return the change that removes a span of tasks; `above` is the start of the section above it."""
    if ANY_HEADING.match(text, end) is not None:  # another task follows
        return TextChange(start, end, "")
    first = above or 0
    stop, before = find_content_end(text, start, end), find_content_end(text, first, start)
    ruled = ends_with_rule(text, first, before) and not ends_with_rule(text, start, end)
    if ruled and above is not None and ANY_HEADING.match(text, above):
        rule = text.rfind("\n", first, first + len(text[first:before].rstrip())) + 1
        before = find_content_end(text, first, rule)
    if stop == len(text) and not text.endswith("\n") and text[before - 1 : before] == "\n":
        before -= 2 if text[before - 2 : before] == "\r\n" else 1
    return TextChange(before, stop, "")


def set_status(text: str, task: int | TodoSection, marker: str) -> str:
    """Set the status of a task in its present spelling. A task without one gets it after its other fields."""
    edits = TodoEdits(text)
    edits.set_status(_resolve(text, task), marker)
    return edits.apply()


def _read_known(marker: str) -> str:
    wanted = read_marker(marker.strip("[] \t"))
    if wanted not in MARKERS:
        raise UsageError(f"'{clean_line(marker, 60)}' isn't a marker", hint=suggest_marker(wanted))
    return wanted


def set_field(text: str, task: int | TodoSection, name: str, value: str | None) -> str:
    """Set a field of a task, or remove it (None) with the lines that are indented below it.

    A new field is added after the existing ones. Lines below a field stay if its value changes.
    """
    edits = TodoEdits(text)
    edits.set_field(_resolve(text, task), name, value)
    return edits.apply()


def add_link(text: str, task: int | TodoSection, link: Linked, samples: Mapping[str, Link]) -> str:
    """Link a file in a task, in the style of its other links, else in the style of `samples` from other tasks."""
    edits = TodoEdits(text)
    edits.add_link(_resolve(text, task), link, samples)
    return edits.apply()


def read_samples(text: str) -> dict[str, Link]:
    """Return sample links of the file: how it links a plan, a report and a summary."""
    edits = TodoEdits(text)
    return find_samples(link for entry in list_tasks(text) for link in edits.find_links(entry))


def _read_style(text: str) -> _TodoStyle:
    """Return the style in which the file writes its first status."""
    found = _STATUS_STYLE.search(text)
    return _TodoStyle(found[1], found[2], found[3]) if found is not None else _TodoStyle()


def set_next_number(text: str, number: int) -> str:
    """Set the next number in the header, if it has one."""
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
    """Add a task to the section of its priority, to `## Tasks`, or next to the other tasks.

    The status is NOT STARTED unless `fields` gives another. An empty text becomes a new file.
    """
    return add_tasks(text or render_empty_todo(number), [NewTask(number, title, fields, priority, description)])


def add_tasks(text: str, tasks: Iterable[NewTask]) -> str:
    """Add tasks, each to the section of its priority, in the order of their numbers."""
    style = _read_style(text)
    return place_tasks(text, [(task.priority, _render_task(task, style)) for task in tasks])


def _render_task(task: NewTask, style: _TodoStyle) -> list[str]:
    """Return the lines of a task."""
    named = clean_title(task.title)
    if not named:
        raise UsageError("the task has no title", hint="describe the task in a few words")
    lines = [f"### {task.number}. {named}"]
    status = render_status(_read_known(task.fields.get("Status", "NOT STARTED")), style.status)
    for name, value in {**({} if "Status" in task.fields else {"Status": ""}), **task.fields}.items():
        if _NAME.fullmatch(name) is None:
            raise UsageError(f"'{clean_line(name, 60)}' isn't a valid field name", hint="use a few plain words")
        lines.append(f"{style.prefix}**{name}{style.colon} {status if name == 'Status' else clean_line(value)}")
    if task.description:
        lines += ["", f"**Description**: {clean_line(task.description, _MAX_DESCRIPTION)}"]
    return lines


def remove_tasks(text: str, entries: Iterable[TodoSection]) -> tuple[str, list[str]]:
    """Remove tasks with their `---` separators. Return the text without them, and the text of each task."""
    edits, removed = TodoEdits(text), []
    for entry in entries:
        edits.remove(entry)
        removed.append(read_section(text, entry))
    return edits.apply(), removed


def read_section(text: str, entry: TodoSection) -> str:
    """Return the text of a task, word for word."""
    return text[entry.start : find_content_end(text, entry.start, entry.end)]


# --- inserting tasks --------------------------------------------------------------------------------------------------


def place_tasks(text: str, tasks: Iterable[tuple[str, list[str]]]) -> str:
    """Insert tasks, each given by its priority and its lines, in the order of their numbers.

    They go to the section of their priority, to `## Tasks`, or next to the other tasks.
    """
    sections = list(walk_sections(text, find_fences(text)))
    known = {name for name, _ in _list_priorities(text, sections)}
    shared = not known or _find_tasks_section(text, sections) is not None
    groups: dict[str, tuple[str, list[list[str]]]] = {}
    for priority, lines in tasks:
        wanted = next((name for name in PRIORITIES if name.lower() == priority.lower()), "Medium")
        group = "" if shared and wanted not in known else wanted
        groups.setdefault(group, (wanted, []))[1].append(lines)
    for wanted, group_lines in groups.values():
        text = _place(text, group_lines, wanted)
    return text


def _place(text: str, tasks: list[list[str]], wanted: str) -> str:
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


def _find_tasks_section(text: str, sections: list[Span]) -> int | None:
    """Return the index of the section `## Tasks`; None if there is none."""
    return next((index for index, (start, _) in enumerate(sections) if _TASKS.match(text, start)), None)


def _list_priorities(text: str, sections: list[Span]) -> list[tuple[str, int]]:
    """Return the name and the index of each section for a priority."""
    found = [(_PRIORITY.match(text, start), index) for index, (start, _) in enumerate(sections)]
    return [(match[1].capitalize(), index) for match, index in found if match is not None]


def _insert_section(
    text: str, lines: list[str], sections: list[Span], known: list[tuple[str, int]], wanted: str
) -> str:
    """Insert a section before the first one of a lower priority, or after the last one."""
    lower = PRIORITIES[PRIORITIES.index(wanted) + 1 :]
    before = next((index for name, index in known if name in lower), None)
    if before is not None:
        return _insert_before(text, lines, sections[before][0])
    return _insert_after(text, lines, _find_tasks_of(text, sections, known[-1][1])[1])


def _find_tasks_of(text: str, sections: list[Span], home: int) -> tuple[list[Span], int]:
    """Return the tasks of a section (-1 is the whole file), and the end of its content."""
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
    """Whether the file separates most of its tasks by `---`."""
    rules = len(_RULE_BETWEEN.findall(text, find_header_end(text)))
    return rules > 0 and 2 * rules >= sum(ANY_HEADING.match(text, start) is not None for start, _ in sections) - 1


def _join(tasks: Iterable[list[str]], *, ruled: bool) -> list[str]:
    """Return the lines of several tasks, with empty lines or `---` between them."""
    lines: list[str] = []
    for task in tasks:
        lines += [*(("", "---", "") if ruled else ("",)), *task] if lines else task
    return lines


def _insert_tasks(text: str, new: list[list[str]], sections: list[Span], home: int) -> str:
    """Insert tasks into a section: at its start if the newest task is first, else at its end."""
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


def _insert_before(text: str, lines: list[str], at: int) -> str:
    """Insert lines and an empty line before a heading."""
    line_break = read_line_break(text)
    return text[:at] + "".join(f"{line}{line_break}" for line in [*lines, ""]) + text[at:]


def _insert_after(text: str, lines: list[str], at: int) -> str:
    """Insert an empty line and lines at the end of a line; the file's last line may have no line break."""
    line_break = read_line_break(text)
    if at and text[at - 1] != "\n":
        return text[:at] + line_break + line_break + line_break.join(lines) + text[at:]
    return text[:at] + "".join(f"{line}{line_break}" for line in ["", *lines]) + text[at:]


def ends_with_rule(text: str, start: int, end: int) -> bool:
    """Whether the last non-empty line of a span is `---`."""
    stop = start + len(text[start:end].rstrip())
    return is_rule(text, text.rfind("\n", 0, stop) + 1, stop)

"""TODO.md edited: exactly the intended difference, and no other byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import UsageError
from remit.tasks.task import MARKERS
from remit.tasks.todo import parse_todo
from remit.tasks.todo_edits import (
    NewTask,
    TodoEdits,
    TodoSection,
    add_task,
    add_tasks,
    find_task,
    find_tasks,
    list_tasks,
    remove_tasks,
    render_empty_todo,
    set_field,
    set_next_number,
    set_status,
)
from tests.support.task_files import TODO


def _read(text: str) -> list[tuple[int, str, str | None]]:
    return [(task.number, task.title, task.marker) for task in parse_todo(text).tasks]


def renumber(text: str, entry: TodoSection, new: int) -> str:
    edits = TodoEdits(text)
    edits.renumber(entry, new)
    return edits.apply()


def remove_task(text: str, entry: TodoSection) -> tuple[str, str]:
    rest, (removed,) = remove_tasks(text, [entry])
    return rest, removed


def test_only_the_marker_changes() -> None:
    assert set_status(TODO, 12, "implementing") == TODO.replace("[PLANNED]", "[IMPLEMENTING]")
    assert set_status(TODO, 12, "[planned]") == TODO


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("- **Status**: [NOT STARTED] since May", "- **Status**: [IN PROGRESS] since May"),
        ("**Status:** not_started", "**Status:** in_progress"),
        (" **Status**: Planned - soon [x]", " **Status**: In Progress - soon [x]"),
        ("* **status** : who knows", "* **status** : in progress"),
        ("- **Status**:", "- **Status**: [IN PROGRESS]"),
        ("- **Effort**: 1", "- **Effort**: 1\n- **Status**: [IN PROGRESS]"),
        ("Text.", "- **Status**: [IN PROGRESS]\nText."),
    ],
)
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_status_keeps_its_spelling(line: str, wanted: str, line_break: str) -> None:
    """S2."""
    text = f"# TODO\n\n### 5. Title\n{line}\n\n### 6. Other\n- **Status**: [PLANNED]".replace("\n", line_break)
    changed = set_status(text, 5, "IN PROGRESS")
    assert changed == text.replace(line, wanted.replace("\n", line_break), 1)
    assert set_status(changed, 5, "IN PROGRESS") == changed


def test_what_is_no_marker_gets_into_no_status() -> None:
    for word in ("DONE", "", "PLANNED]\n### 9. New [PLANNED"):
        with pytest.raises(UsageError, match="isn't a marker"):
            set_status(TODO, 12, word)


def test_a_field_comes_after_the_others_in_their_style() -> None:
    text = set_field(TODO, 12, "Blocked Reason", "no time")
    assert text == TODO.replace("[PLANNED]\n", "[PLANNED]\n- **Blocked Reason**: no time\n")
    assert set_field(text, 12, "blocked reason", "no money") == text.replace("no time", "no money")
    assert set_field(text, 12, "Blocked Reason", "no time") == text
    assert set_field(text, 12, "Blocked Reason", None) == TODO
    assert set_field(TODO, 12, "Blocked Reason", None) == TODO
    other = "### 1. A\n **Effort:** 1  \n **Status:** [PLANNED]  \n   more\n\n **Note:** x"
    assert set_field(other, 1, "Plan", "[p](p)") == other.replace("more\n", "more\n **Plan:** [p](p)  \n")


def test_a_field_goes_with_what_is_indented_below_it() -> None:
    text = "### 1. A\n- **Status**: [PLANNED]\n- **Files**:\n  - a\n  - b\n- **Effort**: 1"
    assert set_field(text, 1, "Files", None) == "### 1. A\n- **Status**: [PLANNED]\n- **Effort**: 1"
    assert set_field(text, 1, "Files", "two") == text.replace("**Files**:", "**Files**: two")
    assert set_field(set_field(text, 1, "Files", "two"), 1, "Files", "") == text


def test_an_example_in_a_fence_is_not_edited() -> None:
    fence = "```\n### 12. Example\n- **Status**: [PLANNED]\n```\n"
    text = fence + TODO.replace("**Description**", f"{fence}**Description**")
    changed = set_status(text, 12, "BLOCKED")
    assert changed == text.replace("2 hours\n- **Status**: [PLANNED]", "2 hours\n- **Status**: [BLOCKED]")
    header = "---\n### 12. A comment of YAML\n---\n"
    assert set_status(header + TODO[TODO.index("# TODO") :], 12, "BLOCKED").startswith(header)


def test_a_number_that_is_given_twice_is_not_guessed() -> None:
    """S9."""
    twice = TODO.replace("### 13.", "### 12.")
    with pytest.raises(UsageError, match=r"2 tasks in TODO.md have"):
        set_status(twice, 12, "BLOCKED")
    assert renumber(twice, find_tasks(twice, 12)[1], 13) == TODO
    assert renumber(TODO, find_task(TODO, 12), 12) == TODO
    with pytest.raises(UsageError, match="no task 1 in"):
        find_task(TODO, 1)
    bare = TODO + "\n### 12. A heading without a field\n"
    assert set_status(bare, 12, "BLOCKED") == bare.replace("[PLANNED]", "[BLOCKED]")


def test_the_next_number_is_set_where_it_is() -> None:
    assert set_next_number(TODO, 15) == TODO.replace("next_project_number: 14", "next_project_number: 15")
    assert set_next_number(TODO, 14) == TODO
    body = TODO[TODO.index("# TODO") :] + "\nnext_project_number: 3\n"
    assert set_next_number(body, 15) == body


def test_a_new_file_takes_tasks() -> None:
    text = add_task("", 1, "First", {"Effort": "1 hour"}, priority="HIGH", description="A thing.")
    assert text == render_empty_todo(1).replace(
        "## High Priority\n",
        "## High Priority\n\n### 1. First\n- **Status**: [NOT STARTED]\n- **Effort**: 1 hour\n\n"
        "**Description**: A thing.\n",
    )
    assert _read(add_task(text, 2, "Second", {})) == [(1, "First", "NOT STARTED"), (2, "Second", "NOT STARTED")]


NEWEST_FIRST = "## Tasks\n\n### 8. B\n- **Status**: [PLANNED]\n\n---\n\n### 7. A\n- **Status**: [PLANNED]\n"


def test_tasks_are_added_as_the_file_has_them() -> None:
    task = "### 9. C\n- **Status**: [NOT STARTED]\n"
    assert add_task(NEWEST_FIRST, 9, "C", {}) == NEWEST_FIRST.replace("### 8.", f"{task}\n---\n\n### 8.")
    last = NEWEST_FIRST.replace("### 8.", "### 6.")
    assert add_task(last, 9, "C", {}) == f"{last}\n---\n\n{task}"
    ruled = last + "\n---\n\n## Notes\n"
    assert add_task(ruled, 9, "C", {}) == ruled.replace("## Notes", f"{task}\n---\n\n## Notes")
    assert add_task(last.rstrip(), 9, "C", {}) == f"{last}\n---\n\n{task}".rstrip()
    plain = "# TODO\n### 6. A\n* **Status:** planned\n### 7. B\n* **Status:** planned\n"
    assert add_task(plain, 9, "C", {}) == f"{plain}\n### 9. C\n* **Status:** not started\n"


@pytest.mark.parametrize("text", [TODO, NEWEST_FIRST, NEWEST_FIRST + "\n---\n\n## Notes\n", "# TODO\n", "## Tasks"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_many_tasks_are_added_in_one_pass_as_one_by_one(text: str, line_break: str) -> None:
    text = text.replace("\n", line_break)
    new = [
        NewTask(n, f"Task {n}", {"Effort": "1"}, priority) for n, priority in ((20, "low"), (21, "high"), (22, "low"))
    ]
    one_by_one = text
    for task in new:
        one_by_one = add_task(one_by_one, task.number, task.title, task.fields, priority=task.priority)
    assert add_tasks(text, new) == one_by_one
    assert add_tasks(text, []) == text


@pytest.mark.parametrize("priority", ["high", "Medium", "low"])
def test_a_section_is_made_where_its_priority_belongs(priority: str) -> None:
    sections = {"high": "## Medium Priority\n\n## Low Priority\n", "low": "## High Priority\n\n## Medium Priority\n"}
    text = sections.get(priority, "## High Priority\n\n## Low Priority\n")
    added = add_task(text, 1, "A", {}, priority=priority)
    assert [line for line in added.split("\n") if line.startswith("## ")] == [
        "## High Priority", "## Medium Priority", "## Low Priority",
    ]  # fmt: skip
    assert added.index("### 1. A") > added.index(f"## {priority.capitalize()} Priority")
    assert _read(added) == [(1, "A", "NOT STARTED")]


def test_a_removed_task_takes_its_rule_along() -> None:
    text, removed = remove_task(NEWEST_FIRST, find_task(NEWEST_FIRST, 7))
    assert text == NEWEST_FIRST[: NEWEST_FIRST.index("\n---")]
    assert removed == "### 7. A\n- **Status**: [PLANNED]\n"
    assert remove_task(NEWEST_FIRST, find_task(NEWEST_FIRST, 8))[0] == "## Tasks\n\n### 7. A\n- **Status**: [PLANNED]\n"
    ruled = "## Tasks\n\n---\n\n### 7. A\n"
    assert remove_task(ruled, find_task(ruled, 7))[0] == "## Tasks\n\n---\n"


HOSTILE = [
    "x\n### 99. Injected\n- **Status**: [COMPLETED]",
    "x\r### 99. y",
    "x\u2028### 99. y\x85### 98. z",
    "### 99. y",
    "```\nx",
    "- **Status**: [COMPLETED]",
    "x** **Status**: [COMPLETED]",
    "---\n---\nnext_project_number: 1",
    "\x1b[31mred\x07 \u202eback\u2066",
    "a" * 100_000,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_given_stays_on_its_line(text: str) -> None:
    added = add_task(TODO, 20, f"T {text}", {"Note": text}, description=text)
    added = set_field(set_field(added, 12, "Blocked Reason", text), 13, "Effort", text)
    tasks = [(number, marker) for number, _, marker in _read(added)]
    assert sorted(tasks) == [(12, "PLANNED"), (13, "NOT STARTED"), (20, "NOT STARTED")]
    assert added.isprintable() or set(filter(lambda each: not each.isprintable(), added)) == {"\n"}
    assert len(added) < 10_000
    bare = add_task(TODO, 20, text + " x", {})
    assert len(_read(bare)) == 3
    assert find_task(bare, 20).title[0] not in "#-`"


def test_what_makes_no_title_or_name_is_refused() -> None:
    with pytest.raises(UsageError, match="no title"):
        add_task(TODO, 20, "## \n- \x00", {})
    for name in ("", "a**: b", "a\nb"):
        with pytest.raises(UsageError, match="valid field name"):
            set_field(TODO, 12, name, "x")
        with pytest.raises(UsageError, match="valid field name"):
            add_task(TODO, 20, "A", {name: "x"})


STATUSES = st.sampled_from(["- **Status**: [PLANNED]", "**Status:** in progress - now", "- **Status**:", "Text.", ""])
LINES = st.sampled_from(
    ["- **Effort**: 1", "  - deeper", "```", "### 3. In a fence?", "", "---", "**Description**: d", "#### Part", "é"]
)
TASKS = st.tuples(
    st.integers(1, 6), st.sampled_from(["{n}. T", "Task {n}: T", "#{n}) T"]), STATUSES, st.lists(LINES, max_size=5)
)
SECTIONS = st.sampled_from(["## High Priority", "## Low Priority", "## Tasks", "# TODO", "### Other", "---", ""])


@st.composite
def todos(draw: st.DrawFn) -> str:
    lines: list[str] = draw(st.sampled_from([[], ["---", "next_project_number: 9", "---"], ["---"]]))[:]
    for section, tasks in draw(st.lists(st.tuples(SECTIONS, st.lists(TASKS, max_size=3)), max_size=4)):
        lines.append(section)
        for number, heading, status, below in tasks:
            lines += [f"### {heading.replace('{n}', str(number))}", status, *below]
    text = draw(st.sampled_from(["\n", "\r\n"])).join(lines)
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "\n", "\n\n"]))


@given(todos(), st.sampled_from(MARKERS), st.sampled_from(["", "high", "Medium", "low"]))
def test_an_edit_makes_exactly_the_intended_difference(text: str, marker: str, priority: str) -> None:
    before = _read(text)
    for index, task in enumerate(parse_todo(text).tasks):
        found = find_tasks(text, task.number)
        assert len(found) == [each[0] for each in before].count(task.number)
        entry = next(each for each in found if text.count("\n", 0, each.start) + 1 == task.place.line)
        changed = set_status(text, entry, marker)
        assert _read(changed) == [*before[:index], (task.number, task.title, marker), *before[index + 1 :]]
        after = next(each for each in find_tasks(changed, task.number) if each.start == entry.start)
        assert set_status(changed, after, marker) == changed
        assert (changed[: entry.start], changed[after.end :]) == (text[: entry.start], text[entry.end :])

        noted = set_field(text, entry, "Blocked Reason", "why")
        assert _read(noted) == before
        there = next(each for each in find_tasks(noted, task.number) if each.start == entry.start)
        assert set_field(noted, there, "Blocked Reason", None) == text

        rest, removed = remove_task(text, entry)
        assert removed.startswith("###")
        assert _read(rest) == before[:index] + before[index + 1 :]

    added = add_task(text, 77, "New", {"Effort": "1"}, priority=priority)
    assert sorted((each for each in _read(added) if each[0] != 77), key=str) == sorted(before, key=str)
    assert [each for each in _read(added) if each[0] == 77] == [(77, "New", "NOT STARTED")]
    if added.count("## ") == text.count("## ") + 1 and text:
        assert remove_task(added, find_task(added, 77))[0] == text


@given(todos(), st.data())
def test_many_edits_at_once_are_each_of_them(text: str, data: st.DataObject) -> None:
    entries = list_tasks(text)
    assert [(entry.number, entry.title) for entry in entries] == [each[:2] for each in _read(text)]
    assert all(entry in find_tasks(text, entry.number) for entry in entries)
    wanted = []
    edits = TodoEdits(text)
    for index, entry in enumerate(entries):
        kind = data.draw(st.sampled_from(["keep", "go", "status", "number"]))
        number, title, marker = _read(text)[index]
        if kind == "go":
            edits.remove(entry)
            continue
        if kind == "status":
            marker = data.draw(st.sampled_from(MARKERS))
            edits.set_status(entry, marker)
        elif kind == "number":
            number = 50 + index
            assert edits.renumber(entry, number)
        wanted.append((number, title, marker))
    assert _read(edits.apply()) == wanted
    if len(wanted) == len(entries):
        kept = {line for line in text.splitlines() if not line.startswith("#") and "tatus" not in line}
        assert kept <= set(edits.apply().splitlines())


def test_a_title_is_changed_alone() -> None:
    edits = TodoEdits(TODO)
    assert edits.set_title(find_task(TODO, 12), "# Export\nit")
    assert not edits.set_title(find_task(TODO, 13), "Login page")
    assert edits.apply() == TODO.replace("Export button", "Export it")

"""Diagnostics about differences between state.json and TODO.md (SYN…).

The documentation of a code is the docstring of the function that makes its diagnostic. state.json is the source of
truth and TODO.md its rendering: a diagnostic is placed at the text that has to change, and names both values and the
command that fixes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.model import Diagnostic
from remit.tasks.links import KINDS, find_unlinked
from remit.tasks.state import NO_TASKS, find_next_number, list_taken
from remit.tasks.task import ENDS, MARKERS, as_sentence, suggest_marker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from remit.model import Severity, TextSpan
    from remit.tasks.state import State
    from remit.tasks.task import Counter, ParseProblem, Task
    from remit.tasks.todo import Todo

_SHOWN = 60
_PATH = 120
_WORD_LENGTH = 3
_PAUSED = ("BLOCKED", "ON HOLD", "EXPANDED")
_STAGES = {
    **dict.fromkeys(("NOT STARTED", "RESEARCHING", "RESEARCHED", "PLANNING", "PLANNED", "REVISING", "REVISED"), 1),
    **dict.fromkeys(("IMPLEMENTING", "IN PROGRESS", "PARTIAL"), 2),
}
"""Markers that a task and its plan may use for the same stage: 1 means no phase has started, 2 means some have."""


class Drift(NamedTuple):
    """The diagnostics of each of the two files."""

    in_state: tuple[Diagnostic, ...]
    in_todo: tuple[Diagnostic, ...]


def state_broken(flaw: ParseProblem) -> Diagnostic:
    """state.json isn't valid JSON.

    Why: it is the source of truth for every task. A program that starts over with an empty file loses all tasks.

    Bad: two objects one after the other, a file that was cut off, the marks of a merge.

    Good: one JSON object.
    """
    hint = f"{flaw.hint} To restore it from git and TODO.md, or join both sides of a merge: remit task sync --repair."
    return Diagnostic("SYN001", "error", flaw.message, hint, place=flaw.place)


def only_in_state(task: Task) -> Diagnostic:
    """A task is in state.json but not in TODO.md.

    Why: users and agents read TODO.md to see what to do. A task that isn't listed there doesn't get done.

    Bad: project 12 among the active projects, and no `### 12.` in TODO.md.

    Good: the task in both files, or in completed_projects once it has ended.
    """
    over = task.marker in ENDS
    way = "Move it to completed_projects with" if over else "Write it into TODO.md with"
    if not is_known(task):
        way = f"Its status {task.word[:_SHOWN]!r} isn't a marker: give it one in state.json by hand, then run"
    return Diagnostic(
        "SYN002",
        "error",
        f"task {task.number} is {f'{task.word} ' if over else ''}in state.json but not in TODO.md",
        f"{way}: remit task sync --repair.",
        place=task.place,
    )


def only_in_todo(task: Task) -> Diagnostic:
    """A task is in TODO.md but not in state.json.

    Why: state.json allocates the numbers, and commands change tasks there. Commands can't work on a task that it
    doesn't have, and may give its number to another task.

    Bad: the heading `### 12. Export button` in TODO.md, and no project 12 in state.json.

    Good: the task in both files.
    """
    hint = "Add it to state.json with: remit task sync --repair; or remove it from TODO.md."
    if not is_known(task):
        fix = _correct(task, f"[{task.word[:_SHOWN]}]")
        hint = f"{fix}, then run: remit task sync --repair; or remove it from TODO.md."
    return Diagnostic(
        "SYN003",
        "error",
        f"task {task.number} is in TODO.md but not in state.json",
        hint,
        place=task.place,
    )


def status_differs(todo: Task, state: Task) -> Diagnostic:
    """A task has one status in TODO.md and another in state.json.

    Why: a status change writes both files or neither. If they differ, a change was interrupted or one file was edited.

    Bad: `- **Status**: [PLANNED]` and `"status": "implementing"`

    Good: `- **Status**: [IMPLEMENTING]` and `"status": "implementing"`; case, spaces and underscores don't matter.
    """
    line = (state.marker_place or state.place).line
    says = state.word or "completed"
    return Diagnostic(
        "SYN004",
        "error",
        f"task {todo.number} is [{todo.word}] here and {says[:_SHOWN]} in state.json (line {line})",
        _suggest_sync(todo, state),
        place=todo.marker_place or todo.place,
    )


def _suggest_sync(todo: Task, state: Task) -> str:
    """Return the hint for two statuses that differ. No command copies a status that isn't a marker."""
    here, there = f"[{todo.word[:_SHOWN]}]", (state.word or "completed")[:_SHOWN]
    use_state, use_todo = "remit task sync --from state", "remit task sync --from todo"
    if not is_known(todo) and not is_known(state):
        return "Neither is a marker: write one into both files by hand."
    if not is_known(todo):
        return f"If {there} is right: {use_state}. {_correct(todo, here)}, then run: {use_todo}."
    if not is_known(state):
        return f"If {here} is right: {use_todo}. {_correct(state, there)}, then run: {use_state}."
    return f"If {there} is right: {use_state}. If {here} is right: {use_todo}."


def _correct(task: Task, shown: str) -> str:
    """Return the hint for a status that isn't a marker."""
    meant = suggest_marker((task.marker or "")[:_SHOWN])
    return f"{shown} isn't a marker{f' ({meant})' if meant.endswith('?') else ''}: replace it with one by hand"


def is_known(task: Task) -> bool:
    """True if the status of a task is a marker, or if it has none."""
    return task.marker is None or task.marker in MARKERS


def duplicate_number(task: Task, first: Task) -> Diagnostic:
    """A number is given to two tasks of one file.

    Why: commands, folders and commits name a task by its number. Merging two branches that each took the next number
    causes this.

    Bad: `### 12. Export button` and, further down, `### 12. Login page`

    Good: the second gets the next free number.
    """
    both = f"{first.title[:_SHOWN]!r} and {task.title[:_SHOWN]!r}" if first.title != task.title else "the same title"
    return Diagnostic(
        "SYN005",
        "error",
        f"number {task.number} is already used on line {first.place.line} ({both})",
        "Give one of them the next free number, or remove the copy, with: remit task sync --repair.",
        place=task.place,
    )


def next_number_taken(counter: Counter, taken: int, free: int) -> Diagnostic:
    """next_project_number isn't above all used numbers; if the numbering wraps around, it is a used number.

    Why: the next task would get the number of another task.

    Bad: `"next_project_number": 12` while there is a task 14.

    Good: `"next_project_number": 15`
    """
    return Diagnostic(
        "SYN006",
        "error",
        f"the next number is {counter.number}, but {taken} is already used",
        f"Set it to {free} with: remit task sync --repair.",
        "/next_project_number",
        counter.place,
    )


def unknown_marker(task: Task) -> Diagnostic:
    """A task has no status, or a status that isn't a marker.

    Why: the marker decides which statuses may follow. Commands can't change an unknown status.

    Bad: `- **Status**: [DONE]`

    Good: `- **Status**: [COMPLETED]`
    """
    if task.marker is None:
        message, hint = f"task {task.number} has no status", "Give it one, such as [NOT STARTED]."
    else:
        message = f"task {task.number} has the status {task.word[:_SHOWN]!r}, which isn't a marker"
        hint = as_sentence(suggest_marker(task.marker[:_SHOWN]))
    return Diagnostic("SYN007", "warning", message, hint, place=task.marker_place or task.place)


def file_missing(name: str, other: str) -> Diagnostic:
    """One of the two files is missing.

    Why: without TODO.md, users and agents don't see what to do. Without state.json, no numbers can be allocated.

    Bad: a folder of specs with only TODO.md.

    Good: both files.
    """
    hint = f"Restore it from git, or create it from {other} with: remit task sync --repair."
    return Diagnostic("SYN008", "error", f"{name} is missing, but {other} exists", hint)


def next_number_differs(todo: Counter, state: Counter, free: int) -> Diagnostic:
    """The header of TODO.md and state.json have different next numbers.

    Why: an agent that reads the header takes a number that is already used, or leaves a gap.

    Bad: `next_project_number: 12` in the header, `"next_project_number": 15` in state.json.

    Good: the same number in both.
    """
    return Diagnostic(
        "SYN009",
        "error",
        f"the next number is {todo.number} here and {state.number} in state.json (line {state.place.line})",
        f"Set it to {free} in both files with: remit task sync --repair.",
        place=todo.place,
    )


def not_a_task(flaw: ParseProblem) -> Diagnostic:
    """A part of state.json has the wrong shape: a list of tasks, a task with a number, or the next number.

    Why: Remit can't read it as a task, so the task is silently missing from every list.

    Bad: `{"project_name": "export_button", "status": "planned"}`

    Good: `{"project_number": 12, "project_name": "export_button", "status": "planned"}`
    """
    return Diagnostic("SYN010", "error", flaw.message, flaw.hint, place=flaw.place)


def also_archived(task: Task, file: str) -> Diagnostic:
    """A task is both open and archived.

    Why: a lookup returns one of two tasks. An archived number is never used again, so an open task with this number
    was only partly archived, or is a different task.

    Bad: project 12 among the active projects of state.json and among those of archive/state.json.

    Good: the task in one of the two files.
    """
    word = f"[{task.word[:_SHOWN]}]" if file == "TODO.md" else task.word[:_SHOWN]
    return Diagnostic(
        "SYN011",
        "error",
        f"task {task.number} is {f'{word} ' if task.word else ''}here and in archive/state.json too",
        f"If it has ended, remove it from {file}; if it is another task, give it the next free number.",
        place=task.place,
    )


def plan_differs(task: Task, marker: str) -> Diagnostic:
    """A task and its plan have different statuses.

    Why: a status change writes TODO.md, state.json and the plan together. Work resumes where the plan says.

    Bad: a plan with `- **Status**: [NOT STARTED]`, of a task that is `completed`.

    Good: the same status in both.
    """
    return Diagnostic(
        "SYN012",
        "warning",
        f"task {task.number} is {task.word[:_SHOWN]} here, but its plan is [{marker[:_SHOWN]}]",
        "Copy the status into the plan with: remit task sync --repair.",
        place=task.marker_place or task.place,
    )


def task_lost(number: int, place: TextSpan) -> Diagnostic:
    """A broken state.json names a task that neither its restored version nor TODO.md has.

    Why: the task was added after the commit that state.json was restored from. Its number isn't used again.

    Bad: a truncated state.json with a task 12 that was never committed and isn't in TODO.md.

    Good: every task in TODO.md as well.
    """
    return Diagnostic(
        "SYN013",
        "warning",
        f"task {number} is named here, but neither the restored state.json nor TODO.md has it",
        "Copy its readable parts into state.json, then run: remit task sync --repair.",
        place=place,
    )


def changed_in_both(todo: Task, state: Task, before: str) -> Diagnostic:
    """The status of a task was changed in both TODO.md and state.json, to different values.

    Why: both files were edited since they last agreed, so Remit can't determine which status is the newer one.

    Bad: a task that was planned is `[BLOCKED]` in TODO.md and `implementing` in state.json.

    Good: a status that was changed with `remit task set-status`, or in one of the files.
    """
    line = (state.marker_place or state.place).line
    says = state.word or "completed"
    return Diagnostic(
        "SYN017",
        "error",
        f"task {todo.number} was {before}, but is [{todo.word}] here and {says[:_SHOWN]} in state.json (line {line})",
        _suggest_sync(todo, state),
        place=todo.marker_place or todo.place,
    )


def move_not_legal(todo: Task, state: Task, refusal: str) -> Diagnostic:
    """The status of a task was changed by hand in TODO.md, to a status that may not follow.

    Why: Remit copies a manual edit into state.json if a command could have made the same change. Any other edit may
    be a mistake, so you have to confirm it.

    Bad: `[NOT STARTED]` changed to `[COMPLETED]`.

    Good: `[IMPLEMENTING]` changed to `[COMPLETED]`.
    """
    says = state.word or "completed"
    ways = f"If [{todo.word}] is right: remit task sync --from todo. If not: remit task sync --from state."
    return Diagnostic(
        "SYN018",
        "error",
        f"task {todo.number} was set to [{todo.word}] here by hand, but is {says[:_SHOWN]} in state.json: {refusal}",
        ways if is_known(todo) and is_known(state) else _suggest_sync(todo, state),
        place=todo.marker_place or todo.place,
    )


def todo_unmerged(place: TextSpan) -> Diagnostic:
    """TODO.md contains the conflict markers of an unfinished merge.

    Why: between the markers the file has two versions of the same text. An edit there may change the wrong one.

    Bad: `<<<<<<< HEAD`, `=======` and `>>>>>>> branch` among the tasks.

    Good: the tasks of both branches, each with its own number.
    """
    hint = "Finish the merge; or join both sides and keep a copy of the file with: remit task sync --repair."
    return Diagnostic(
        "SYN019", "error", "TODO.md contains the conflict markers of an unfinished merge", hint, place=place
    )


def another_task(todo: Task, state: Task) -> Diagnostic:
    """A number seems to belong to different tasks in TODO.md and in state.json: their titles share no word.

    Why: two branches used the same number for different tasks, and the merge kept one file from each side. A status
    change of one task would then also change the other.

    Bad: `### 2. Pay invoices` and `"project_number": 2, "project_name": "delete_backups"`

    Good: each task with its own number, in both files.
    """
    both = f"{todo.title[:_SHOWN]!r} here and {state.title[:_SHOWN]!r} in state.json (line {state.place.line})"
    hint = (
        "If it is one task, choose its title with: remit task sync --from todo or --from state. If they are two, give "
        f"this one a free number instead of {todo.number} in TODO.md, then run: remit task sync --repair."
    )
    return Diagnostic("SYN020", "error", f"task {todo.number} is {both}", hint, place=todo.place)


def title_differs(todo: Task, state: Task) -> Diagnostic:
    """A task has different titles in TODO.md and in state.json.

    Why: the title was changed in one file only, so readers of the other file search for the old title.

    Bad: `### 12. Pay all invoices` and `"title": "Pay invoices"`

    Good: one title in both.
    """
    both = f"{todo.title[:_SHOWN]!r} here and {state.title[:_SHOWN]!r} in state.json (line {state.place.line})"
    hint = "Choose one with: remit task sync --from todo or --from state."
    return Diagnostic("SYN021", "warning", f"task {todo.number} is called {both}", hint, place=todo.place)


def priority_differs(todo: Task, state: Task) -> Diagnostic:
    """A task has different priorities in TODO.md and in state.json.

    Why: the priority was changed in one file only, so readers of the other file start the wrong task first.

    Bad: `- **Priority**: Low` and `"priority": "high"`

    Good: `- **Priority**: High` and `"priority": "high"`; case doesn't matter.
    """
    both = f"{todo.priority[:_SHOWN]!r} here and {state.priority[:_SHOWN]!r} in state.json (line {state.place.line})"
    return Diagnostic(
        "SYN022",
        "warning",
        f"task {todo.number} has the priority {both}",
        "Choose one with: remit task sync --from todo or --from state.",
        place=todo.priority_place or todo.place,
    )


def key_given_twice(flaw: ParseProblem) -> Diagnostic:
    """A task in state.json has the same key twice.

    Why: most JSON readers, including Remit, use the last value, and others use the first. Two programs may then see
    different statuses of one task. A merge that kept the lines of both sides causes this, and it is valid JSON.

    Bad: `{"project_number": 12, "status": "blocked", "status": "completed"}`

    Good: `{"project_number": 12, "status": "blocked"}`
    """
    return Diagnostic("SYN023", "error", flaw.message, flaw.hint, place=flaw.place)


def link_differs(todo: Task, state: Task, kind: str, listed: str, known: str) -> Diagnostic:
    """A plan, report or summary of a task is linked in only one of TODO.md and state.json.

    Why: users and agents search either file. An agent that finds no link to the plan works without it.

    Bad: `"plan_path": "specs/12_export/plans/implementation-002.md"`, and TODO.md links `implementation-001.md`

    Good: `- **Plan**: [implementation-002.md](specs/12_export/plans/implementation-002.md)`; older reports may be left
    out of either file.
    """
    named = {"research": "report"}.get(kind, kind)
    line = state.place.line
    if listed and known:
        message = f"the {named} of task {todo.number} is '{listed[-_PATH:]}' here and '{known[-_PATH:]}' in state.json"
    elif listed:
        message = f"the {named} '{listed[-_PATH:]}' of task {todo.number} is linked here but not in state.json"
    else:
        message = f"the {named} '{known[-_PATH:]}' of task {todo.number} is in state.json but isn't linked here"
    hint = "Choose the current one with: remit task sync --from todo or --from state."
    if not (listed and known):
        hint = "Link it in both files with: remit task sync --repair."
    return Diagnostic("SYN024", "warning", f"{message} (line {line})", hint, place=todo.place)


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "SYN001": (state_broken, "error"),
    "SYN002": (only_in_state, "error"),
    "SYN003": (only_in_todo, "error"),
    "SYN004": (status_differs, "error"),
    "SYN005": (duplicate_number, "error"),
    "SYN006": (next_number_taken, "error"),
    "SYN007": (unknown_marker, "warning"),
    "SYN008": (file_missing, "error"),
    "SYN009": (next_number_differs, "error"),
    "SYN010": (not_a_task, "error"),
    "SYN011": (also_archived, "error"),
    "SYN012": (plan_differs, "warning"),
    "SYN013": (task_lost, "warning"),
    "SYN017": (changed_in_both, "error"),
    "SYN018": (move_not_legal, "error"),
    "SYN019": (todo_unmerged, "error"),
    "SYN020": (another_task, "error"),
    "SYN021": (title_differs, "warning"),
    "SYN022": (priority_differs, "warning"),
    "SYN023": (key_given_twice, "error"),
    "SYN024": (link_differs, "warning"),
}


def check_drift(state: State | None, todo: Todo | None, archive: Mapping[int, str] = NO_TASKS) -> Drift:
    """Return the diagnostics about the two files; None is a missing file. A broken state.json gets no other diagnostic.

    `archive` has the names of the tasks in archive/state.json by number: their numbers are used as well.
    """
    in_state: list[Diagnostic] = []
    in_todo: list[Diagnostic] = []
    known = None if state is None or state.broken is not None else state
    listed = None if todo is None else todo
    if state is None and todo is not None:
        in_state.append(file_missing("state.json", "TODO.md"))
    elif state is not None and state.broken is not None:
        in_state.append(state_broken(state.broken))
    if todo is None and state is not None:
        in_todo.append(file_missing("TODO.md", "state.json"))
    if known is not None:
        in_state += _check_state(known, listed, archive)
    if listed is not None:
        in_todo += _check_todo(listed, known, archive)
    return Drift(_order(in_state), _order(in_todo))


def _order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(diagnostics, key=lambda each: (each.place or (0,), each.code)))


def _check_state(state: State, todo: Todo | None, archive: Mapping[int, str]) -> Iterator[Diagnostic]:
    yield from (not_a_task(flaw) for flaw in state.flaws)
    yield from (key_given_twice(flaw) for flaw in state.repeated)
    yield from _check_tasks(state.tasks)
    listed = None if todo is None else {task.number for task in todo.tasks}
    if listed is not None:
        unique = {task.number: task for task in reversed(state.tasks) if not task.closed}
        yield from (only_in_state(task) for task in unique.values() if task.number not in listed)
    for task in state.tasks:
        if not task.closed and is_archived(task, archive, wraps=state.wraps):
            yield also_archived(task, "state.json")
    if state.next_number is not None:
        taken = list_taken(state, todo, archive)
        highest, here = max(taken, default=-1), state.next_number.number
        if here <= highest and (not state.wraps or here in taken):
            one = here if state.wraps else highest
            yield next_number_taken(state.next_number, one, _find_next(state, todo, taken))


def _find_next(state: State, todo: Todo | None, taken: set[int]) -> int:
    """Return the next number that a repair would set."""
    counters = (each.next_number for each in (state, todo) if each is not None)
    return find_next_number([each.number for each in counters if each is not None], taken, wraps=state.wraps)


def is_archived(task: Task, archive: Mapping[int, str], *, wraps: range) -> bool:
    """True if a task is archived. If the numbering wraps around, an archived task with another name is another task."""
    return task.number in archive and (not wraps or archive[task.number] == task.title)


def _check_todo(todo: Todo, state: State | None, archive: Mapping[int, str]) -> Iterator[Diagnostic]:
    known: dict[int, Task] = {}
    for task in state.tasks if state is not None else ():
        known.setdefault(task.number, task)
    tasks = [task for task in todo.tasks if not task.bare or task.number in known]
    yield from _check_tasks(tasks)
    if state is None:
        return
    here, there = todo.next_number, state.next_number
    if here is not None and there is not None and here.number != there.number:
        yield next_number_differs(here, there, _find_next(state, todo, list_taken(state, todo, archive)))
    first = {task.number: task for task in reversed(tasks)}
    for task in first.values():
        if task.number not in known:
            archived = is_archived(task, archive, wraps=state.wraps)
            yield also_archived(task, "TODO.md") if archived else only_in_todo(task)
            continue
        yield from _compare(task, known[task.number])


def _compare(todo: Task, state: Task) -> Iterator[Diagnostic]:
    """Yield the diagnostics about a task that both files have: its status, title, priority and links."""
    if not agrees(todo, state):
        yield status_differs(todo, state)
    if not state.closed:
        # Titles are compared by their words, because a project's name is often a short form of its title.
        here, there = list_words(todo.title), list_words(state.title)
        if here and there and not here & there:
            yield another_task(todo, state)
        elif here and there and state.titled and here != there:
            yield title_differs(todo, state)
        if todo.priority and state.priority and todo.priority != state.priority:
            yield priority_differs(todo, state)
    for kind, listed, known in walk_links(todo, state):
        yield link_differs(todo, state, kind, listed, known)


def walk_links(todo: Task, state: Task) -> Iterator[tuple[str, str, str]]:
    """Yield each kind of link that differs, with its path in TODO.md and in state.json; "" if it isn't linked."""
    if state.closed or todo.bare:
        return
    listed = {each.kind: each.path for each in find_unlinked(todo.number, todo.links, state.links)}
    known = {each.kind: each.path for each in find_unlinked(todo.number, state.links, todo.links)}
    for kind in KINDS:
        if kind in listed or kind in known:
            yield kind, listed.get(kind, ""), known.get(kind, "")


def list_words(title: str) -> set[str]:
    """Return the significant words of a title: numbers, and words of three letters or more, in lower case."""
    words = "".join(char if char.isalnum() else " " for char in title[:400].casefold()).split()
    return {word for word in words if len(word) >= _WORD_LENGTH or word.isdigit()}


def _check_tasks(tasks: Iterable[Task]) -> Iterator[Diagnostic]:
    """Yield the diagnostics that need only one of the files."""
    first: dict[int, Task] = {}
    for task in tasks:
        if task.number in first:
            yield duplicate_number(task, first[task.number])
        else:
            first[task.number] = task
        if task.marker not in MARKERS and not (task.closed and task.marker is None):
            yield unknown_marker(task)


def check_plans(state: State, plans: Mapping[int, str | None]) -> Iterator[Diagnostic]:
    """Compare tasks with the statuses of their plans, by number. A plan may be behind while its task is prepared."""
    for task in state.tasks:
        marker = plans.get(task.number)
        stages = [_STAGES.get(each or "", each) for each in (task.marker, marker)]
        if marker in MARKERS and task.marker in MARKERS and task.marker not in _PAUSED and stages[0] != stages[1]:
            yield plan_differs(task, marker)


def is_difference(diagnostic: Diagnostic) -> bool:
    """True if a diagnostic says that the two files differ; a warning about a plan or a marker doesn't."""
    return diagnostic.severity == "error" or diagnostic.code in ("SYN021", "SYN022", "SYN024")


def agrees(todo: Task, state: Task) -> bool:
    """True if both tasks have the same status. A task in completed_projects may have no status of its own."""
    if todo.marker is None or (state.marker is None and not state.closed):
        return True  # a missing status has its own diagnostic
    return todo.marker == state.marker if state.marker is not None else todo.marker in ENDS

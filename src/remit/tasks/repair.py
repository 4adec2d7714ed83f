"""Plans that make state.json and TODO.md agree, and the differences that the user has to decide. No side effects.

state.json is the source of truth. An unambiguous manual edit of TODO.md is copied into it; a status that was changed
in both files becomes a diagnostic. All changes go through `state_edits` and `todo_edits`, so unrelated text stays as
it is. Each step parses both texts once and changes them in one pass, so a repair is linear in their size.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.tasks import state_edits, todo_edits
from remit.tasks.drift import (
    agrees,
    changed_in_both,
    check_drift,
    check_plans,
    is_archived,
    is_known,
    move_not_legal,
    state_broken,
    status_differs,
    walk_links,
)
from remit.tasks.duplicates import NO_FOLDERS, split_numbers
from remit.tasks.markdown import clean_title
from remit.tasks.state import NO_TASKS, OPEN_LISTS, State, find_next_number, list_taken, parse_archive, parse_state
from remit.tasks.task import ENDS, MARKERS, NEED_REASON, TOO_HIGH, Linked, check_move, read_marker, read_priority
from remit.tasks.todo import Todo, parse_todo, read_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.model import Diagnostic, TextSpan
    from remit.tasks.duplicates import Renumbered
    from remit.tasks.task import Task

Prefer = Literal["newest", "state", "todo"]
Kind = Literal["same", "todo_edited", "state_edited", "both", "unknown"]

_SHOWN = 60
_SHOWN_FIELDS = ("priority", "language", "type", "effort", "created")
_NO_MARKERS: Mapping[int, str] = {}
_BY_HAND = "Give one of them another number, or remove it, by hand: Remit can't determine which of them is meant."


class Restored(NamedTuple):
    """Facts about a broken state.json and the version from git that replaces it."""

    named: Mapping[int, tuple[int, int]]
    """The task numbers in the broken file, with the first offset of each."""
    markers: Mapping[int, str | None] = MappingProxyType({})
    """The marker of each task in TODO.md, in the commit of that version."""


class RepairPlan(NamedTuple):
    """The new texts of both files, and what changes."""

    state: str
    todo: str
    done: tuple[str, ...]
    """One sentence for each change."""
    left: tuple[Diagnostic, ...]
    """The errors that the user has to decide; places are in the new texts."""
    plans: Mapping[int, str] = _NO_MARKERS
    """The new marker of the plans of tasks, by number."""
    renumbered: tuple[Renumbered, ...] = ()
    lost: tuple[int, ...] = ()
    """The tasks of a broken state.json that neither the restored version nor TODO.md has."""
    has_dropped: bool = False
    """True if a value of state.json is lost, so the file has to be copied first."""


def classify_drift(state: State, todo: Todo, baseline: Mapping[int, str] | None) -> dict[int, Kind]:
    """Return for each task in both files which file was edited since they last agreed.

    `baseline` has the marker of each task from that time; a difference of any other task is "unknown".
    """
    before = {number: read_marker(marker) for number, marker in (baseline or {}).items()}
    kinds: dict[int, Kind] = {}
    for listed, known in _walk_pairs(state, todo):
        old = before.get(known.number)
        if agrees(listed, known):
            kinds[known.number] = "same"
        elif old is None:
            kinds[known.number] = "unknown"
        elif listed.marker == old:
            kinds[known.number] = "state_edited"
        else:
            kinds[known.number] = "todo_edited" if _marker(known) == old else "both"
    return kinds


def plan_repair(
    state_text: str | None,
    todo_text: str | None,
    *,
    archive_text: str | None = None,
    prefer: Prefer = "newest",
    baseline: Mapping[int, str] | None = None,
    plans: Mapping[int, str | None] | None = None,
    folders: Mapping[int, list[str]] = NO_FOLDERS,
    restored: Restored | None = None,
) -> RepairPlan:
    """Plan how the two files become consistent again; None is a missing file.

    `prefer` is the file to follow if status, priority or title differ. "newest" follows the file that was edited since
    the `baseline`, and state.json if that is unknown. `plans` has the statuses of plans and `folders` the names of
    task folders, by task number. `restored` is given if state.json comes from an earlier commit: a status that changed
    in TODO.md since then always wins.
    """
    repair = _Repair(state_text, todo_text, parse_archive(archive_text), restored)
    broken = repair.read_state().broken
    if broken is not None:
        return RepairPlan(repair.state, todo_text or "", (), (state_broken(broken),))
    repair.drop_archived()
    repair.split_numbers(folders)
    repair.share_tasks()
    repair.reconcile_statuses(prefer, baseline)
    if prefer != "newest":
        repair.reconcile_fields(prefer)
    repair.reconcile_links(prefer)
    repair.reconcile_next_number()
    return repair.finish(plans or {}, repaired=True)


def plan_absorb(state_text: str, todo_text: str, baseline: Mapping[int, str] | None) -> RepairPlan:
    """Plan to absorb unambiguous edits: a legal status change in one file only.

    All other differences stay as they are and become diagnostics.
    """
    repair = _Repair(state_text, todo_text, NO_TASKS)
    broken = repair.read_state().broken
    if broken is not None:
        return RepairPlan(state_text, todo_text, (), (state_broken(broken),))
    repair.reconcile_statuses(None, baseline)
    return repair.finish({})


def _walk_pairs(state: State, todo: Todo) -> Iterator[tuple[Task, Task]]:
    """Yield each task that both files have, from TODO.md and from state.json: the first of its number in each."""
    known = _index(state.tasks)
    listed = _index(todo.tasks) | _index(todo.tasks, bare=False)
    for number in sorted(listed.keys() & known.keys()):
        yield listed[number], known[number]


def _index(tasks: tuple[Task, ...], *, bare: bool = True) -> dict[int, Task]:
    """Return the first task of each number; with `bare=False` the first that is more than a heading."""
    first = {task.number: task for task in reversed(tasks) if bare or not task.bare}
    return {number: first[number] for number in sorted(first)}


def _marker(known: Task) -> str | None:
    """Return the marker of a task in state.json; one in completed_projects without a status is COMPLETED."""
    return "COMPLETED" if known.closed and known.marker is None else known.marker


class _Repair:
    """Both texts during a repair; each step changes them and adds a sentence to `done`."""

    def __init__(
        self, state: str | None, todo: str | None, archive: Mapping[int, str], restored: Restored | None = None
    ) -> None:
        self.archive = archive
        self.restored = restored
        self.lost: tuple[int, ...] = ()
        self.has_dropped = False
        self.done: list[str] = []
        self.renumbered: tuple[Renumbered, ...] = ()
        self.doubts: dict[int, str] = {}
        """Why the user has to decide a status, by number; "" if both files were edited."""
        self.before: dict[int, str] = {}
        self._reasons: dict[int, list[tuple[str, str]]] | None = None
        if state is None:
            self.done.append("state.json was missing: created it from TODO.md")
        if todo is None:
            self.done.append("TODO.md was missing: created it from state.json")
        self.state = state_edits.render_empty_state() if state is None else state
        self.todo = todo_edits.render_empty_todo() if todo is None else todo
        self._known: tuple[str | None, State] = None, State()
        self._listed: tuple[str | None, Todo] = None, Todo(())

    def read_state(self) -> State:
        """Parse state.json, only if its text has changed."""
        if self._known[0] is not self.state:
            self._known = self.state, parse_state(self.state)
        return self._known[1]

    def read_todo(self) -> Todo:
        """Parse TODO.md, only if its text has changed."""
        if self._listed[0] is not self.todo:
            self._listed = self.todo, parse_todo(self.todo)
        return self._listed[1]

    def find_mismatched(self) -> set[TextSpan | None]:
        """Return the places of tasks in TODO.md whose titles don't match the task of this number in state.json."""
        drift = check_drift(self.read_state(), self.read_todo(), self.archive)
        return {each.place for each in drift.in_todo if each.code == "SYN020"}

    def find_entries(self) -> dict[int, state_edits.StateEntry]:
        """Return the first task of each number in state.json."""
        return {entry.number: entry for entry in reversed(state_edits.list_tasks(self.state))}

    def find_sections(self) -> dict[int, todo_edits.TodoSection]:
        """Return the first task of each number in TODO.md that is more than a heading, or else the first."""
        sections = todo_edits.list_tasks(self.todo)[::-1]
        whole = {section.number: section for section in sections if not section.bare}
        return {section.number: section for section in sections} | whole

    def drop_archived(self) -> None:
        """Remove tasks from a restored version that were archived after its commit and aren't in TODO.md."""
        if self.restored is None:
            return
        state, listed = self.read_state(), {task.number for task in self.read_todo().tasks}
        over = {
            task.number
            for task in state.tasks
            if task.number not in listed and is_archived(task, self.archive, wraps=state.wraps)
        }
        gone = [entry for entry in state_edits.list_tasks(self.state) if entry.number in over and not entry.closed]
        self.state = state_edits.remove_tasks(self.state, gone)[0]
        self.done += [f"removed task {entry.number} from state.json: it is archived" for entry in gone]

    def split_numbers(self, folders: Mapping[int, list[str]]) -> None:
        """Make every number unique."""
        parted = split_numbers(self.state, self.todo, self.archive, folders)
        self.state, self.todo, done, self.renumbered, self.has_dropped = parted
        self.done += done

    def share_tasks(self) -> None:
        """Copy tasks that only one of the files has into the other one."""
        state, todo = self.read_state(), self.read_todo()
        listed = {task.number for task in todo.tasks}
        known = _index(state.tasks)
        new = [task for task in _index(todo.tasks, bare=False).values() if task.number not in known]
        new = [task for task in new if is_known(task) and not is_archived(task, self.archive, wraps=state.wraps)]
        absorbed = sorted(read_fields(self.todo, new), key=lambda pair: pair[0].number)
        missing = [task for task in known.values() if not task.closed and task.number not in listed]
        if missing:
            self._share_with_todo(missing)
        for task, fields in absorbed:
            marker = task.marker or "NOT STARTED"
            fields["status"] = state_edits.spell_status(self.state, marker)
            self.done.append(f"added task {task.number} to state.json as {marker}: it was only in TODO.md")
        self.state = state_edits.add_tasks(self.state, [fields for _, fields in absorbed])

    def _share_with_todo(self, missing: list[Task]) -> None:
        """Add tasks to TODO.md, and move those that have ended to completed_projects."""
        entries = self.find_entries()
        over = [task for task in missing if task.marker in ENDS]
        # There is no form in TODO.md for very large numbers and for statuses that aren't markers.
        shown = [task for task in missing if task.number < TOO_HIGH and task.marker in (None, *MARKERS)]
        shown = [task for task in shown if task.marker not in ENDS]
        for task in over:
            self.done.append(f"moved task {task.number} to completed_projects: it is {task.word} and not in TODO.md")
        for task in shown:
            self.done.append(f"added task {task.number} to TODO.md: it was only in state.json")
        self.todo = todo_edits.add_tasks(self.todo, [_present(task, entries[task.number].value) for task in shown])
        self.state = state_edits.move_tasks(self.state, [entries[task.number] for task in over])

    def reconcile_statuses(self, prefer: Prefer | None, baseline: Mapping[int, str] | None) -> None:
        """Give each task the same status in both files; with `prefer` None only if it is unambiguous."""
        state, todo = self.read_state(), self.read_todo()
        kinds = classify_drift(state, todo, baseline)
        mismatched = self.find_mismatched() if prefer in ("newest", None) or self.restored is not None else set()
        sides: dict[str, list[tuple[Task, Task]]] = {"todo": [], "state": []}
        for listed, known in _walk_pairs(state, todo):
            kind = kinds[known.number]
            if listed.place in mismatched:
                winner = None  # the status may belong to another task
            elif kind == "same":
                winner = self._fill_in(listed, known) if prefer is not None else None
            else:
                self.before[known.number] = read_marker((baseline or {}).get(known.number, ""))
                winner = self._choose(listed, known, kind, prefer)
            if winner is not None:
                sides[winner].append((listed, known))
        self._follow_todo(sides["todo"])
        self._follow_state(sides["state"])

    def _fill_in(self, listed: Task, known: Task) -> str | None:
        """Return the file to follow if the other file gives no status."""
        if listed.bare:
            return None
        if listed.marker is None and _marker(known) in MARKERS:
            return "state"
        return "todo" if known.marker is None and not known.closed and listed.marker in MARKERS else None

    def _choose(self, listed: Task, known: Task, kind: Kind, prefer: Prefer | None) -> str | None:
        """Return the file to follow; None if the user has to decide."""
        chosen: str | None = prefer if prefer in ("state", "todo") else None
        if self.restored is not None:
            is_later = listed.marker != self.restored.markers.get(listed.number)
            chosen = "todo" if is_later else chosen or "state"
        elif chosen is None and kind == "todo_edited":
            reason = self._find_reason(listed)
            refusal = check_move(_marker(known), listed.word, reason=reason)
            if refusal is not None:
                self.doubts[known.number] = refusal.message
                return None
            chosen = "todo"
        elif chosen is None and kind == "both":
            self.doubts[known.number] = ""
            return None
        elif chosen is None and kind == "unknown" and prefer is None:
            return None
        chosen = chosen or "state"
        real = {"state": _marker(known) in MARKERS, "todo": listed.marker in MARKERS}
        if real[chosen]:
            return chosen
        # If the chosen file has an invalid status, don't silently overwrite it with the other one.
        return "todo" if prefer == "newest" and kind == "unknown" and real["todo"] else None

    def _find_reason(self, listed: Task) -> str:
        """Return the reason that a section gives for its status; "" if it gives none."""
        if listed.marker not in NEED_REASON:
            return ""
        wanted = {f"{listed.marker.lower()} reason", "reason", "blocking reason"}
        if self._reasons is None:
            self._reasons = _find_reasons(self.todo)
        return next((value for name, value in self._reasons.get(listed.number, ()) if name in wanted), "")

    def _follow_todo(self, pairs: list[tuple[Task, Task]]) -> None:
        """Copy statuses from TODO.md to state.json; a completed task may become active again."""
        entries = self.find_entries() if pairs else {}
        edits = state_edits.StateEdits(self.state)
        reopened = set()
        for listed, known in pairs:
            marker, entry = listed.marker or "NOT STARTED", entries[known.number]
            edits.set_status(entry, marker)
            if entry.closed and marker not in ENDS:
                reopened.add(known.number)
            was = known.word[:_SHOWN] or "no status"
            self.done.append(f"set task {known.number} to {marker} in state.json, as in TODO.md (it was {was})")
        self.state = edits.apply()
        if reopened:
            entries = self.find_entries()
            back = [entries[number] for number in sorted(reopened)]
            self.state = state_edits.move_tasks(self.state, back, home=OPEN_LISTS[0])

    def _follow_state(self, pairs: list[tuple[Task, Task]]) -> None:
        """Copy statuses from state.json to TODO.md."""
        sections = self.find_sections() if pairs else {}
        edits = todo_edits.TodoEdits(self.todo)
        for listed, known in pairs:
            marker = _marker(known) or "NOT STARTED"
            edits.set_status(sections[known.number], marker)
            was = f"[{listed.word[:_SHOWN]}]" if listed.word else "no status"
            self.done.append(f"set task {known.number} to [{marker}] in TODO.md, as in state.json (it was {was})")
        self.todo = edits.apply()

    def reconcile_fields(self, prefer: Prefer) -> None:
        """Copy priorities and titles from the preferred file, if both files have them."""
        tasks = _index(self.read_todo().tasks, bare=False)
        entries = {entry.number: entry for entry in reversed(state_edits.list_tasks(self.state)) if not entry.closed}
        sections, mismatched = self.find_sections(), self.find_mismatched()
        fields = _FieldEdits(prefer, state_edits.StateEdits(self.state), todo_edits.TodoEdits(self.todo))
        for task, given in read_fields(self.todo, tasks.values()):
            entry = entries.get(task.number)
            if entry is None:
                continue
            priority, title = entry.value.get("priority"), entry.value.get("title")
            if not title and task.place in mismatched:
                title = _make_title(entry.value.get("project_name"))
            listed = str(given.get("priority") or "")
            if isinstance(priority, str) and listed and read_priority(priority) not in ("", listed):
                self.done += fields.choose(entry, sections[task.number], "priority", priority, listed)
            if isinstance(title, str) and clean_title(title) and clean_title(title) != clean_title(task.title):
                self.done += fields.choose(entry, sections[task.number], "title", title, task.title)
        self.state, self.todo = fields.state.apply(), fields.todo.apply()

    def reconcile_links(self, prefer: Prefer) -> None:
        """Link the current plan, report and summary of each open task in both files.

        Reports and summaries of one file are added to the other. A task has one plan: that of the preferred file, by
        default state.json.
        """
        samples = todo_edits.read_samples(self.todo)
        for listed, known in _walk_pairs(self.read_state(), self.read_todo()):
            for kind, here, there in walk_links(listed, known):
                named = {"research": "report"}.get(kind, kind)
                if here and (not there or kind != "plan" or prefer == "todo"):
                    self.state = state_edits.add_link(self.state, known.number, Linked(kind, here))
                    self.done.append(f"added the {named} '{here}' of task {known.number} to state.json")
                if there and (not here or kind != "plan" or prefer != "todo"):
                    self.todo = todo_edits.add_link(self.todo, known.number, Linked(kind, there), samples)
                    self.done.append(f"linked the {named} '{there}' of task {known.number} in TODO.md")

    def reconcile_next_number(self) -> None:
        """Set the next number above all used numbers, and to the same value in both files."""
        state, todo = self.read_state(), self.read_todo()
        counters = [each.next_number.number for each in (state, todo) if each.next_number is not None]
        taken = list_taken(state, todo, self.archive)
        named = self.restored.named if self.restored is not None else {}
        self.lost = tuple(sorted(named.keys() - taken - self.archive.keys()))
        number = find_next_number(counters, taken.union(self.lost), wraps=state.wraps)
        before = self.state, self.todo
        self.state = state_edits.set_next_number(self.state, number)
        self.todo = todo_edits.set_next_number(self.todo, number)
        if (self.state, self.todo) != before:
            self.done.append(f"set the next number to {number}")

    def finish(self, plans: Mapping[int, str | None], *, repaired: bool = False) -> RepairPlan:
        """Return both texts, with the changes made and the errors that are left."""
        state, todo = self.read_state(), self.read_todo()
        drift = check_drift(state, todo, self.archive)
        better = dict(self._explain_doubts(state, todo))
        if repaired:  # the hint of SYN005 is to run the repair that has just failed
            better |= {each: each._replace(hint=_BY_HAND) for each in drift.in_todo if each.code == "SYN005"}
        left = [better.get(each, each) for each in (*drift.in_state, *drift.in_todo) if each.severity == "error"]
        markers = {task.number: task.marker for task in state.tasks if task.marker is not None}
        following = {number: markers[number] for number in _find_late_plans(state, plans)}
        for number, marker in following.items():
            self.done.append(f"set the plan of task {number} to [{marker}], as in state.json")
        return RepairPlan(
            state=self.state,
            todo=self.todo,
            done=tuple(self.done),
            left=tuple(left),
            plans=following,
            renumbered=self.renumbered,
            lost=self.lost,
            has_dropped=self.has_dropped,
        )

    def _explain_doubts(self, state: State, todo: Todo) -> Iterator[tuple[Diagnostic, Diagnostic]]:
        """Yield for each status that the user has to decide the general diagnostic, and the better one."""
        for listed, known in _walk_pairs(state, todo):
            doubt = self.doubts.get(known.number)
            if doubt:
                yield status_differs(listed, known), move_not_legal(listed, known, doubt)
            elif doubt is not None:
                yield status_differs(listed, known), changed_in_both(listed, known, self.before[known.number])


class _FieldEdits(NamedTuple):
    """The edits of both files while fields are copied from the preferred one."""

    prefer: Prefer
    state: state_edits.StateEdits
    todo: todo_edits.TodoEdits

    def choose(
        self, entry: state_edits.StateEntry, section: todo_edits.TodoSection, key: str, known: str, listed: str
    ) -> list[str]:
        """Copy one field of a task that has two values; return a sentence about it, if that changed a file."""
        if self.prefer == "todo":
            value = listed.capitalize() if key == "priority" and known[:1].isupper() else listed
            changed = self.state.set_fields(entry, {key: value})
            now, old, where = listed, known, "state.json"
        else:
            now, old, where = known, listed, "TODO.md"
            if key == "title":
                changed = self.todo.set_title(section, known)
            else:
                there = self.todo.find_field(section, key) is not None
                changed = there and self.todo.set_field(section, key, known.capitalize())
        sentence = f"changed the {key} of task {entry.number} in {where} from {old[:_SHOWN]!r} to {now[:_SHOWN]!r}"
        return [sentence] if changed else []


def _find_reasons(todo: str) -> dict[int, list[tuple[str, str]]]:
    """Return the fields in TODO.md that may give the reason of a status, by number, in their order."""
    edits = todo_edits.TodoEdits(todo)
    found: dict[int, list[tuple[str, str]]] = {}
    for section in todo_edits.list_tasks(todo):
        named = ((field.name.lower(), field.value) for field in edits.walk_fields(section) if field.value)
        found.setdefault(section.number, []).extend(pair for pair in named if "reason" in pair[0])
    return found


def _make_title(name: object) -> str:
    """Return the name of a project as a title."""
    return name.replace("_", " ").capitalize() if isinstance(name, str) else ""


def _present(known: Task, value: Mapping[str, object]) -> todo_edits.NewTask:
    """Return a task of state.json as a new task for TODO.md."""
    shown = {"Status": f"[{known.marker or 'NOT STARTED'}]"}
    for key in _SHOWN_FIELDS:
        given = value.get(key)
        if isinstance(given, str) and given.strip():
            shown[key.capitalize()] = given.capitalize() if key == "priority" else given
    named, about = value.get("title"), value.get("description")
    title = (named if isinstance(named, str) else "") or _make_title(known.title)
    return todo_edits.NewTask(
        known.number,
        title if clean_title(title) else f"Task {known.number}",
        shown,
        str(value.get("priority") or ""),
        about if isinstance(about, str) else "",
    )


def _find_late_plans(state: State, plans: Mapping[int, str | None]) -> list[int]:
    return [
        task.number
        for task in state.tasks
        if task.number in plans and any(check_plans(state._replace(tasks=(task,)), plans))
    ]

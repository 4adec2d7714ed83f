"""The finish steps: what must be on disk after a run. Each step adds only what is missing (C19).

Owns the order: manifest, task, errors, activity, git. Each step looks at what is there first, because the agent itself
may have done it, or a settlement before this one that was cut short: so there are never two lines and never two
commits. A step that fails is told and keeps none of the others from being done; it makes nobody's work a failure.
Each step loads what it needs where it has something to do: a hook that settles is waited for, and most have little.
"""

from __future__ import annotations

import json
import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from remit.errors import RemitError
from remit.ledger.events import add_event, list_acts, mark_reported, read_clock_ms
from remit.ledger.home import FINISHING
from remit.light_namedtuple import NamedTuple
from remit.storage.safe_path import name_below

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from sqlite3 import Connection

    from remit.ledger.events import FileAct
    from remit.ledger.home import Home
    from remit.manifest.entries import ManifestEntry
    from remit.model import AgentError, Artifact, ArtifactFacts, Diagnostic, FormatName, Status
    from remit.storage.activity_frontmatter import FileActivity
    from remit.tasks.store import TaskStore

State = Literal["done", "there", "nothing", "failed"]
_MAX_SHOWN = 400
NO_WORDS: Mapping[str, Status] = {}
NO_COUNTS: Mapping[str, int | float] = {}


class FinishInput(NamedTuple):
    """What a delegation leaves behind."""

    session_id: str
    status: str
    """completed, partial, failed, blocked or timeout."""
    format: FormatName = "standard"
    kind: str = ""
    """What the agent is for: planning, implementation, research, review, utility."""
    task_number: int | None = None
    phase: int | str | None = None
    summary: str = ""
    reason: str = ""
    """Why the task is blocked."""
    artifacts: tuple[Artifact, ...] = ()
    faults: tuple[AgentError, ...] = ()
    path: tuple[str, ...] = ()
    depth: int | None = None
    command: str = ""
    """What the person or the orchestrator had called."""
    entry: Mapping[str, Any] | None = None
    """The line for the manifest, with its id, where the format has one."""
    commits: bool = True
    owner: str = "remit"
    """Who moves the task, appends to the manifest and commits: remit or agent."""
    stays: bool = False
    """Whether the task keeps its marker, whatever the status is: there is more to do, or nobody has begun."""
    files: tuple[str, ...] = ()
    """What was changed for the task before, below the root."""
    counts: Mapping[str, int | float] = NO_COUNTS
    """What the return says of its plan or report: phase_count, estimated_hours, findings_count (R0.8)."""
    working: str = ""
    """The marker that the task has while the agent works."""
    outside: str = ""
    """The task's id, if an outside system keeps it."""


class FinishStep(NamedTuple):
    """What became of one step."""

    name: str
    state: State
    """Done now, there already, nothing to do, or failed."""
    message: str = ""
    findings: tuple[Diagnostic, ...] = ()
    files: tuple[str, ...] = ()
    """What is true on disk because of it, below the root."""
    owed: bool = False
    """Whether Remit did now what an agent that settles itself would have done."""
    code: str = ""
    """Of a failed step, if its name doesn't decide it."""
    hint: str = ""
    """Of a failed step: how to repeat it."""
    trace: str = ""
    """Of a step that a defect ended: the stack trace."""

    @property
    def error(self) -> AgentError:
        """A failed step as an error, for the result and for errors.json."""
        from remit.model import AgentError  # noqa: PLC0415 - only for a step that failed

        kind, code = _ERRORS.get(self.name, ("execution", self.code or "UNKNOWN_ERROR"))
        message = self.message or "; ".join(finding.message for finding in self.findings[:3])
        return AgentError(kind, message, code, True, self.hint, self.trace or None)  # noqa: FBT003 - a step can be repeated


_ERRORS = {
    **dict.fromkeys(("task", "phase", "lifecycle", "outside"), ("status_sync", "STATUS_SYNC_FAILED")),
    **dict.fromkeys(("git", "worktree"), ("git", "GIT_COMMIT_FAILED")),
}
"""The type and the code of the error that each failed step is (R2.16)."""


def fail(name: str, error: Exception) -> FinishStep:
    """A step that an exception ended."""
    if isinstance(error, RemitError):
        return FinishStep(name, "failed", error.message, code=error.code, hint=error.hint)
    from traceback import format_exception  # noqa: PLC0415 - only for a defect

    message = f"unexpected {type(error).__name__}: {error}"[:_MAX_SHOWN]
    return FinishStep(name, "failed", message, trace="".join(format_exception(error)))


class FinishStores(NamedTuple):
    """Where a workspace keeps what is settled."""

    tasks: TaskStore | None
    manifest: str
    error_log: str
    look: Callable[[str], ArtifactFacts | None]
    """Tells of a findings file."""
    words: Mapping[str, Status] = NO_WORDS
    keep_days: int = 90
    keep_megabytes: int = 1024


def run_finish_steps(home: Home, finish_steps: FinishInput, places: FinishStores) -> tuple[FinishStep, ...]:
    """Do what is missing, in order; what became of each step. One settles at a time: two would not see each other."""
    try:
        with home.lock(FINISHING):
            return _run_finish_steps(home, finish_steps, places)
    except RemitError as error:  # the lock, or the ledger itself
        return (fail("ledger", error),)


def _run_finish_steps(home: Home, finish_steps: FinishInput, places: FinishStores) -> tuple[FinishStep, ...]:
    is_left = finish_steps.owner == "agent" and finish_steps.commits and _is_left(home, finish_steps, places)
    settle_task = partial(_finish_task, is_left=is_left)
    acts: dict[str, Callable[[Home, FinishInput, FinishStores], FinishStep]] = {
        "manifest": _finish_manifest,
        "task": settle_task,
        "errors": _finish_errors,
        "activity": _finish_activity,
    }
    steps = [_attempt(name, partial(act, home, finish_steps, places)) for name, act in acts.items()]
    steps = [_advise(step, finish_steps) for step in steps]
    files = tuple(dict.fromkeys(file for step in steps for file in step.files))
    if is_left and not any(step.owed for step in steps):
        steps += _leave_commit(home, files)
    else:
        steps.append(_attempt("git", partial(_finish_git, home, finish_steps, files)))
    told = _attempt("ledger", partial(_record, home, finish_steps, places, steps))
    return tuple(steps) if told.state == "done" else (*steps, told)


def _attempt(name: str, act: Callable[[], FinishStep]) -> FinishStep:
    try:
        return act()
    except (RemitError, OSError) as error:
        return fail(name, error)


def _advise(step: FinishStep, finish_steps: FinishInput) -> FinishStep:
    """A failed step with how to repeat it: what is wrong with the files of the tasks, `remit task sync` repairs."""
    if step.state != "failed" or step.name != "task":
        return step
    from shlex import quote  # noqa: PLC0415 - only for a step that failed

    marker = _follow(finish_steps, finish_steps.working) if finish_steps.working else None
    move = f", then run: remit task set-status {finish_steps.task_number} {quote(marker.lower())}" if marker else ""
    return step._replace(hint=f"Repair the task files with remit task sync --repair{move}")


def log_failures(
    home: Home, finish_steps: FinishInput, error_log: str, steps: Sequence[FinishStep]
) -> tuple[FinishStep, ...]:
    """Log the steps that failed (R2.17); a step more if errors.json can't be written."""
    failed = [step for step in steps if step.state == "failed"]
    if not failed or any(step.name == "errors" for step in failed):
        return ()
    errors = finish_steps._replace(faults=tuple(step.error for step in failed))
    logged = _attempt("errors", partial(_log_errors, home, errors, error_log))
    return (logged,) if logged.state == "failed" else ()


def _record(home: Home, finish_steps: FinishInput, places: FinishStores, steps: list[FinishStep]) -> FinishStep:
    """Write down what was done, and forget what is old."""
    from remit.ledger.retention import delete_if_due  # noqa: PLC0415 - as above

    with home.ledger.transaction() as db:
        _write_steps(db, finish_steps, steps)
        add_event(db, "finish_steps", {step.name: step.state for step in steps}, session_id=finish_steps.session_id)
    delete_if_due(home, days=places.keep_days, megabytes=places.keep_megabytes)
    return FinishStep("ledger", "done")


def _write_steps(db: Connection, finish_steps: FinishInput, steps: Sequence[FinishStep]) -> None:
    db.executemany(
        "INSERT OR REPLACE INTO finish_steps (session_id, step, at_ms, result) VALUES (?, ?, ?, ?)",
        [
            (finish_steps.session_id, step.name, read_clock_ms(), json.dumps([step.state, step.message]))
            for step in steps
        ],
    )


def _finish_manifest(home: Home, finish_steps: FinishInput, places: FinishStores) -> FinishStep:
    """One line for this work. One that has its id, or its id with a number, and its file, is this work's."""
    if finish_steps.entry is None:
        return FinishStep("manifest", "nothing")
    from remit.manifest.append import ManifestAppender  # noqa: PLC0415 - as above
    from remit.manifest.entries import shape_entry  # noqa: PLC0415 - as above
    from remit.manifest.index import ManifestIndex  # noqa: PLC0415
    from remit.manifest.search import find_own_entry  # noqa: PLC0415

    entry = shape_entry(finish_steps.entry)
    if not entry.get("id"):
        return FinishStep("manifest", "failed", "the entry has no id, by which it would be found again")
    files = _below(home, places.manifest, *_find_findings_file(home, places, entry))
    found = find_own_entry(ManifestIndex(home, places.manifest), entry)
    if found is not None:
        return FinishStep("manifest", "there", f"{found.id} is there already", files=files)
    appender = ManifestAppender(home, places.manifest, look=places.look, words=places.words)
    added = appender.add(entry, day=time.strftime("%Y-%m-%d"))
    if not added.accepted:
        return FinishStep(
            "manifest", "failed", "the entry is not acceptable", added.diagnostics, code="VALIDATION_FAILED"
        )
    return FinishStep("manifest", "done", str(added.fields["id"]), added.diagnostics, files, owed=True)


def _find_findings_file(home: Home, places: FinishStores, entry: Mapping[str, Any]) -> list[str]:
    file = entry.get("file")
    if not isinstance(file, str) or "\0" in file:
        return []
    bases = (os.path.dirname(places.manifest), home.root)
    return [full for base in bases if os.path.isfile(full := os.path.join(base, file))][:1]


def _finish_task(home: Home, finish_steps: FinishInput, places: FinishStores, *, is_left: bool = False) -> FinishStep:
    """The marker that the return moves the task to, the artifacts and the counts, in one change.

    If Remit makes no commit (`is_left`), the counts alone don't change state.json after the agent's commit.
    """
    number = finish_steps.task_number
    if number is None:
        return FinishStep("task", "nothing")
    if places.tasks is None:
        return FinishStep("task", "failed", f"the tasks of this workspace are gone, so task {number} was not moved")
    task = places.tasks.get(number)
    if task.closed:
        return FinishStep("task", "there", f"task {number} is over and put away")
    told = (finish_steps.reason, *(fault.message for fault in finish_steps.faults), finish_steps.summary)
    reason = next((each for each in told if each.strip()), "the agent gave no reason")
    moved = places.tasks.conclude(
        number,
        partial(_follow, finish_steps),
        artifacts=finish_steps.artifacts,
        counts=finish_steps.counts,
        are_counts_extra=is_left,
        reason=reason,
    )
    linked = _link_entry(home, finish_steps, places)
    state: State = "done" if moved.files or linked else "there"
    tasks = (f"{places.tasks.folder}/state.json", f"{places.tasks.folder}/TODO.md")
    if any(
        finding.severity == "error" for finding in moved.diagnostics
    ):  # what is broken is for people to look at first
        where = f"the files of the tasks disagree; task {number} is {moved.after or moved.before}"
        return FinishStep("task", "failed", where, moved.diagnostics)
    has_moved = moved.after is not None and moved.after != moved.before
    where = f"task {number} {'is' if has_moved else 'stays'} {moved.after or moved.before}"
    return FinishStep("task", state, where, moved.diagnostics, (*tasks, *moved.files), owed=has_moved)


def _follow(finish_steps: FinishInput, marker: str) -> str | None:
    """The marker that a task gets; None where it keeps the one that it has."""
    if finish_steps.stays:
        return None
    from remit.tasks.task import follow_status  # noqa: PLC0415 - as above

    return follow_status(marker, finish_steps.status, finish_steps.format, kind=finish_steps.kind)


def _link_entry(home: Home, finish_steps: FinishInput, places: FinishStores) -> bool:
    """Let the task name the line of the manifest that this work made (R4.9); whether it did not before."""
    if finish_steps.entry is None or places.tasks is None or finish_steps.task_number is None:
        return False
    if is_exploratory(finish_steps.entry):
        return False
    found = _find_own(home, finish_steps.entry, places)
    return found is not None and bool(found.id) and bool(places.tasks.link(finish_steps.task_number, found.id).files)


def is_exploratory(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of the manifest says that it belongs to no task: then no task is linked to it (R4.9)."""
    linked = entry.get("linked_tasks")
    return isinstance(linked, list) and not any(str(each).strip() for each in linked)


def _find_own(home: Home, entry: Mapping[str, Any], places: FinishStores) -> ManifestEntry | None:
    """The line of the manifest that this work made."""
    from remit.manifest.entries import shape_entry  # noqa: PLC0415 - as above
    from remit.manifest.index import ManifestIndex  # noqa: PLC0415
    from remit.manifest.search import find_own_entry  # noqa: PLC0415

    return find_own_entry(ManifestIndex(home, places.manifest), shape_entry(entry))


def _finish_errors(home: Home, finish_steps: FinishInput, places: FinishStores) -> FinishStep:
    """The faults of the return (R2.17)."""
    return _log_errors(home, finish_steps, places.error_log) if finish_steps.faults else FinishStep("errors", "nothing")


def _log_errors(home: Home, finish_steps: FinishInput, error_log: str) -> FinishStep:
    """Log errors; one that is there already is not written twice."""
    from remit.errorlog.log import record_errors  # noqa: PLC0415 - as above
    from remit.errorlog.records import make_records  # noqa: PLC0415

    records = make_records(
        finish_steps.faults,
        session_id=finish_steps.session_id,
        command=finish_steps.command,
        task_number=finish_steps.outside or finish_steps.task_number,
        phase=finish_steps.phase,
        path=finish_steps.path,
        depth=finish_steps.depth,
    )
    recorded = record_errors(home, error_log, records, now_ms=read_clock_ms())
    state: State = "done" if recorded.added else "there"
    files, message = _below(home, error_log), ""
    if recorded.original is not None:
        name = next(iter(files), error_log)
        message = f"{name} was broken: what it was is kept in {os.path.relpath(recorded.original, home.root)}"
    return FinishStep("errors", state, message, findings=tuple(recorded.diagnostics), files=files)


def _finish_activity(home: Home, finish_steps: FinishInput, places: FinishStores) -> FinishStep:
    """What the agent did, in the frontmatter of the files that have one (R3.11)."""
    del places
    return report_activity(home, finish_steps.session_id)


def report_activity(home: Home, session_id: str, *, workspace_root: str = "") -> FinishStep:
    """Write into the files what a session did to them, if they don't have it yet.

    `workspace_root` is hyper's, for a session that isn't a run: a run has it in its row.
    """
    acts = list_acts(home.ledger, session_id, only_unreported=True)
    if not acts:
        return FinishStep("activity", "nothing")
    from remit.ledger.runs import load_run  # noqa: PLC0415
    from remit.storage.activity_frontmatter import write_activity  # noqa: PLC0415 - as above

    row = load_run(home.ledger, session_id)
    root = home.root if row is None else str(row.details.get("root") or home.root)
    outer = os.path.realpath(workspace_root or (row and row.details.get("workspace_root")) or root)
    by_path: dict[str, list[FileAct]] = {}
    for act in acts:
        by_path.setdefault(act.path, []).append(act)
    noted = {}
    for path, these in by_path.items():
        below = name_below(outer, path) if path.startswith("/") else None
        base, name = (root, path) if below is None else (outer, below)
        noted[path] = write_activity(base, name, [_make_record(act, name) for act in these])
    failed = {path for path, each in noted.items() if each.diagnostic is not None and each.diagnostic.code == "ACT003"}
    with home.ledger.transaction() as db:  # what could not be written is tried again by the next settlement
        mark_reported(db, [act for act in acts if act.path not in failed])
    findings = tuple(each.diagnostic for each in noted.values() if each.diagnostic is not None)
    changed = tuple(path for path, each in noted.items() if each.changed)
    return FinishStep("activity", "failed" if failed else "done" if changed else "there", "", findings, changed)


def _make_record(act: FileAct, name: str) -> FileActivity:
    from remit.storage.activity_frontmatter import FileActivity  # noqa: PLC0415 - as above

    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(act.at_ms / 1000))
    return FileActivity(act.session_id, act.parent_id, act.operation, when, name)


def _finish_git(home: Home, finish_steps: FinishInput, files: tuple[str, ...]) -> FinishStep:
    """Commit what the agent made and what was settled; what is committed already changes nothing (S6).

    Files in hyper's workspace root outside the project belong to another repository, or to none.
    """
    paths = (*(artifact.path for artifact in finish_steps.artifacts), *finish_steps.files, *files)
    paths = tuple(dict.fromkeys(path for path in paths if not path.startswith("/")))
    if not finish_steps.commits or not paths:
        return FinishStep("git", "nothing")
    from remit.git.commits import commit_paths, render_message  # noqa: PLC0415 - as above

    text = finish_steps.summary or finish_steps.status
    number = finish_steps.task_number
    message = text[:200] if number is None else render_message(number, text, phase=finish_steps.phase)
    committed = commit_paths(home.root, paths, message)
    if committed.commit is not None:
        return FinishStep("git", "done", committed.commit, committed.diagnostics, committed.paths, owed=True)
    failed = [finding for finding in committed.diagnostics if finding.severity != "note"]
    if failed:
        return FinishStep("git", "failed", "", committed.diagnostics, hint=failed[0].hint)
    is_none = any(finding.code == "GIT002" for finding in committed.diagnostics)
    return FinishStep("git", "nothing" if is_none else "there", "", committed.diagnostics)


def _is_left(home: Home, finish_steps: FinishInput, places: FinishStores) -> bool:
    """Whether the agent has done and committed all that is its own, so that Remit commits nothing.

    It is asked before anything is changed, and remembered: whoever settles after a crash finds what Remit has written
    down meanwhile, and would take it for work that the agent has not committed.
    """
    left = FinishStep("git", "there")
    with home.ledger.reading() as db:
        query = "SELECT result FROM finish_steps WHERE session_id = ? AND step = ?"
        row = db.execute(query, (finish_steps.session_id, left.name)).fetchone()
    if row is not None:
        return bool(json.loads(row[0])[0] == left.state)
    if _is_owing(home, finish_steps, places) or not _is_committed(home, finish_steps, places):
        return False
    with home.ledger.transaction(durable=True) as db:
        _write_steps(db, finish_steps, (left,))
    return True


def _is_owing(home: Home, finish_steps: FinishInput, places: FinishStores) -> bool:
    """Whether the agent has left its line of the manifest or its task's marker to Remit; also where nobody can tell."""
    try:
        if finish_steps.entry is not None and _find_own(home, finish_steps.entry, places) is None:
            return True
        if finish_steps.task_number is None or places.tasks is None:
            return False
        task = places.tasks.get(finish_steps.task_number)
        marker = task.marker or ""
        return not task.closed and _follow(finish_steps, marker) not in (None, marker)
    except RemitError:  # the step that meets it tells
        return True


def _is_committed(home: Home, finish_steps: FinishInput, places: FinishStores) -> bool:
    """Whether the agent has committed all that was there when it ended."""
    from remit.git.commits import find_uncommitted  # noqa: PLC0415 - as above

    files = [f"{places.tasks.folder}/{name}" for name in ("state.json", "TODO.md")] if places.tasks is not None else []
    if finish_steps.entry is not None:
        files += _below(home, places.manifest, *_find_findings_file(home, places, finish_steps.entry))
    paths = (*(artifact.path for artifact in finish_steps.artifacts), *finish_steps.files, *files)
    paths = tuple(path for path in paths if not path.startswith("/"))
    left = find_uncommitted(home.root, paths)
    return bool(paths) and not left.paths and not left.diagnostics


def _leave_commit(home: Home, files: tuple[str, ...]) -> list[FinishStep]:
    """Make no second commit (C19): what only Remit writes down goes with the next one of the task."""
    from remit.git.commits import find_uncommitted  # noqa: PLC0415 - as above

    left = find_uncommitted(home.root, tuple(file for file in files if not file.startswith("/"))).paths
    told = f"the agent has committed the rest, and {', '.join(left)} goes with the next commit"
    return [FinishStep("git", "there"), *([FinishStep("pending", "done", told)] if left else [])]


def _below(home: Home, *files: str) -> tuple[str, ...]:
    """Files as they are called below the root; those that lie elsewhere are left out."""
    root = os.path.realpath(home.root)
    names = (name_below(root, os.path.realpath(file)) for file in files)
    return tuple(name for name in names if name)

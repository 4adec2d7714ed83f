"""The finish steps: manifest, task, errors, activity and git, in this order. Each adds only what is missing (C19).

The agent itself may have done a step, or an earlier call that was interrupted. So each step checks first what is
there, and never adds a second line or a second commit. A failed step is reported, doesn't keep the others from being
done, and doesn't make the run fail. Each step imports what it needs only if it has something to do: the harness waits
for a hook that finishes a run.
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
    """What the finish steps need to know about a run and its conclusion."""

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
    errors: tuple[AgentError, ...] = ()
    path: tuple[str, ...] = ()
    depth: int | None = None
    command: str = ""
    """The command that the user or the orchestrator called."""
    entry: Mapping[str, Any] | None = None
    """The line for the manifest, with its id, if the format has one."""
    commits: bool = True
    owner: str = "remit"
    """Which side moves the task, appends to the manifest and commits: remit or agent."""
    stays: bool = False
    """Whether the task keeps its marker, whatever the status is: there is more to do, or no agent started."""
    files: tuple[str, ...] = ()
    """The files that were changed for the task before, relative to the root."""
    counts: Mapping[str, int | float] = NO_COUNTS
    """The counts in the return's metadata: phase_count, estimated_hours, findings_count (R0.8)."""
    working: str = ""
    """The marker that the task has while the agent works."""
    outside: str = ""
    """The task's id, if an outside system keeps it."""


class FinishStep(NamedTuple):
    """The result of one step."""

    name: str
    state: State
    """Done now, there already, nothing to do, or failed."""
    message: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    files: tuple[str, ...] = ()
    """The files that the step wrote or found complete, relative to the root."""
    owed: bool = False
    """Whether Remit did what an agent with `owner: agent` would have done."""
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
        message = self.message or "; ".join(diagnostic.message for diagnostic in self.diagnostics[:3])
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
    """The stores of a workspace that finish steps change."""

    tasks: TaskStore | None
    manifest: str
    error_log: str
    inspect: Callable[[str], ArtifactFacts | None]
    """Returns the facts on a findings file."""
    words: Mapping[str, Status] = NO_WORDS
    keep_days: int = 90
    keep_megabytes: int = 1024


def run_finish_steps(home: Home, given: FinishInput, stores: FinishStores) -> tuple[FinishStep, ...]:
    """Do the missing steps in order, under a lock: two processes at once wouldn't see each other's changes."""
    try:
        with home.lock(FINISHING):
            return _run_finish_steps(home, given, stores)
    except RemitError as error:  # the lock, or the ledger itself
        return (fail("ledger", error),)


def _run_finish_steps(home: Home, given: FinishInput, stores: FinishStores) -> tuple[FinishStep, ...]:
    is_left = given.owner == "agent" and given.commits and _is_left(home, given, stores)
    finish_task = partial(_finish_task, is_left=is_left)
    acts: dict[str, Callable[[Home, FinishInput, FinishStores], FinishStep]] = {
        "manifest": _finish_manifest,
        "task": finish_task,
        "errors": _finish_errors,
        "activity": _finish_activity,
    }
    steps = [_attempt(name, partial(act, home, given, stores)) for name, act in acts.items()]
    steps = [_advise(step, given) for step in steps]
    files = tuple(dict.fromkeys(file for step in steps for file in step.files))
    if is_left and not any(step.owed for step in steps):
        steps += _leave_commit(home, files)
    else:
        steps.append(_attempt("git", partial(_finish_git, home, given, files)))
    recorded = _attempt("ledger", partial(_record, home, given, stores, steps))
    return tuple(steps) if recorded.state == "done" else (*steps, recorded)


def _attempt(name: str, act: Callable[[], FinishStep]) -> FinishStep:
    try:
        return act()
    except (RemitError, OSError) as error:
        return fail(name, error)


def _advise(step: FinishStep, given: FinishInput) -> FinishStep:
    """A failed step with the commands that repeat it."""
    if step.state != "failed" or step.name != "task":
        return step
    from shlex import quote  # noqa: PLC0415 - only for a step that failed

    marker = _follow(given, given.working) if given.working else None
    move = f", then run: remit task set-status {given.task_number} {quote(marker.lower())}" if marker else ""
    return step._replace(hint=f"Repair the task files with remit task sync --repair{move}")


def log_failures(home: Home, given: FinishInput, error_log: str, steps: Sequence[FinishStep]) -> tuple[FinishStep, ...]:
    """Log the failed steps (R2.17); returns one more step if errors.json can't be written."""
    failed = [step for step in steps if step.state == "failed"]
    if not failed or any(step.name == "errors" for step in failed):
        return ()
    errors = given._replace(errors=tuple(step.error for step in failed))
    logged = _attempt("errors", partial(_log_errors, home, errors, error_log))
    return (logged,) if logged.state == "failed" else ()


def _record(home: Home, given: FinishInput, stores: FinishStores, steps: list[FinishStep]) -> FinishStep:
    """Record the steps in the ledger, and remove old runs if it is time."""
    from remit.ledger.retention import delete_if_due  # noqa: PLC0415 - as above

    with home.ledger.transaction() as db:
        _write_steps(db, given, steps)
        add_event(db, "finish_steps", {step.name: step.state for step in steps}, session_id=given.session_id)
    delete_if_due(home, days=stores.keep_days, megabytes=stores.keep_megabytes)
    return FinishStep("ledger", "done")


def _write_steps(db: Connection, given: FinishInput, steps: Sequence[FinishStep]) -> None:
    db.executemany(
        "INSERT OR REPLACE INTO finish_steps (session_id, step, at_ms, result) VALUES (?, ?, ?, ?)",
        [(given.session_id, step.name, read_clock_ms(), json.dumps([step.state, step.message])) for step in steps],
    )


def _finish_manifest(home: Home, given: FinishInput, stores: FinishStores) -> FinishStep:
    """Append the run's line to the manifest, unless a line has its id, with or without a number, and its file."""
    if given.entry is None:
        return FinishStep("manifest", "nothing")
    from remit.manifest.append import ManifestAppender  # noqa: PLC0415 - as above
    from remit.manifest.entries import shape_entry  # noqa: PLC0415 - as above
    from remit.manifest.index import ManifestIndex  # noqa: PLC0415
    from remit.manifest.search import find_own_entry  # noqa: PLC0415

    entry = shape_entry(given.entry)
    if not entry.get("id"):
        return FinishStep("manifest", "failed", "the entry has no id, by which it would be found again")
    files = _below(home, stores.manifest, *_find_findings_file(home, stores, entry))
    found = find_own_entry(ManifestIndex(home, stores.manifest), entry)
    if found is not None:
        return FinishStep("manifest", "there", f"{found.id} is there already", files=files)
    appender = ManifestAppender(home, stores.manifest, inspect=stores.inspect, words=stores.words)
    added = appender.add(entry, day=time.strftime("%Y-%m-%d"))
    if not added.accepted:
        return FinishStep(
            "manifest", "failed", "the entry is not acceptable", added.diagnostics, code="VALIDATION_FAILED"
        )
    return FinishStep("manifest", "done", str(added.fields["id"]), added.diagnostics, files, owed=True)


def _find_findings_file(home: Home, stores: FinishStores, entry: Mapping[str, Any]) -> list[str]:
    file = entry.get("file")
    if not isinstance(file, str) or "\0" in file:
        return []
    bases = (os.path.dirname(stores.manifest), home.root)
    return [full for base in bases if os.path.isfile(full := os.path.join(base, file))][:1]


def _finish_task(home: Home, given: FinishInput, stores: FinishStores, *, is_left: bool = False) -> FinishStep:
    """Move the task, and add the artifacts and the counts, in one change.

    If Remit makes no commit (`is_left`), the counts alone don't change state.json after the agent's commit.
    """
    number = given.task_number
    if number is None:
        return FinishStep("task", "nothing")
    if stores.tasks is None:
        return FinishStep("task", "failed", f"the tasks of this workspace are gone, so task {number} was not moved")
    task = stores.tasks.get(number)
    if task.closed:
        return FinishStep("task", "there", f"task {number} is closed and archived")
    reasons = (given.reason, *(agent_error.message for agent_error in given.errors), given.summary)
    reason = next((each for each in reasons if each.strip()), "the agent gave no reason")
    moved = stores.tasks.conclude(
        number,
        partial(_follow, given),
        artifacts=given.artifacts,
        counts=given.counts,
        are_counts_extra=is_left,
        reason=reason,
    )
    linked = _link_entry(home, given, stores)
    state: State = "done" if moved.files or linked else "there"
    tasks = (f"{stores.tasks.folder}/state.json", f"{stores.tasks.folder}/TODO.md")
    if any(
        diagnostic.severity == "error" for diagnostic in moved.diagnostics
    ):  # the user has to repair the files first
        where = f"the files of the tasks disagree; task {number} is {moved.after or moved.before}"
        return FinishStep("task", "failed", where, moved.diagnostics)
    has_moved = moved.after is not None and moved.after != moved.before
    where = f"task {number} {'is' if has_moved else 'stays'} {moved.after or moved.before}"
    return FinishStep("task", state, where, moved.diagnostics, (*tasks, *moved.files), owed=has_moved)


def _follow(given: FinishInput, marker: str) -> str | None:
    """The marker that a task gets; None if it keeps its marker."""
    if given.stays:
        return None
    from remit.tasks.task import follow_status  # noqa: PLC0415 - as above

    return follow_status(marker, given.status, given.format, kind=given.kind)


def _link_entry(home: Home, given: FinishInput, stores: FinishStores) -> bool:
    """Link the run's line of the manifest to the task (R4.9); returns whether the link is new."""
    if given.entry is None or stores.tasks is None or given.task_number is None:
        return False
    if is_exploratory(given.entry):
        return False
    found = _find_own(home, given.entry, stores)
    return found is not None and bool(found.id) and bool(stores.tasks.link(given.task_number, found.id).files)


def is_exploratory(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of the manifest belongs to no task, so that no task is linked to it (R4.9)."""
    linked = entry.get("linked_tasks")
    return isinstance(linked, list) and not any(str(each).strip() for each in linked)


def _find_own(home: Home, entry: Mapping[str, Any], stores: FinishStores) -> ManifestEntry | None:
    """The run's line of the manifest."""
    from remit.manifest.entries import shape_entry  # noqa: PLC0415 - as above
    from remit.manifest.index import ManifestIndex  # noqa: PLC0415
    from remit.manifest.search import find_own_entry  # noqa: PLC0415

    return find_own_entry(ManifestIndex(home, stores.manifest), shape_entry(entry))


def _finish_errors(home: Home, given: FinishInput, stores: FinishStores) -> FinishStep:
    """Log the agent's errors (R2.17)."""
    return _log_errors(home, given, stores.error_log) if given.errors else FinishStep("errors", "nothing")


def _log_errors(home: Home, given: FinishInput, error_log: str) -> FinishStep:
    """Log errors, each of them once."""
    from remit.errorlog.log import record_errors  # noqa: PLC0415 - as above
    from remit.errorlog.records import make_records  # noqa: PLC0415

    records = make_records(
        given.errors,
        session_id=given.session_id,
        command=given.command,
        task_number=given.outside or given.task_number,
        phase=given.phase,
        path=given.path,
        depth=given.depth,
    )
    recorded = record_errors(home, error_log, records, now_ms=read_clock_ms())
    state: State = "done" if recorded.added else "there"
    files, message = _below(home, error_log), ""
    if recorded.original is not None:
        name = next(iter(files), error_log)
        message = f"{name} was broken: what it was is kept in {os.path.relpath(recorded.original, home.root)}"
    return FinishStep("errors", state, message, diagnostics=tuple(recorded.diagnostics), files=files)


def _finish_activity(home: Home, given: FinishInput, stores: FinishStores) -> FinishStep:
    """Write the agent's activity into the frontmatter of files that have one (R3.11)."""
    del stores
    return report_activity(home, given.session_id)


def report_activity(home: Home, session_id: str, *, workspace_root: str = "") -> FinishStep:
    """Write into files what a session did to them, unless they have it already.

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
    with home.ledger.transaction() as db:  # the next call retries the failed ones
        mark_reported(db, [act for act in acts if act.path not in failed])
    diagnostics = tuple(each.diagnostic for each in noted.values() if each.diagnostic is not None)
    changed = tuple(path for path, each in noted.items() if each.changed)
    return FinishStep("activity", "failed" if failed else "done" if changed else "there", "", diagnostics, changed)


def _make_record(act: FileAct, name: str) -> FileActivity:
    from remit.storage.activity_frontmatter import FileActivity  # noqa: PLC0415 - as above

    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(act.at_ms / 1000))
    return FileActivity(act.session_id, act.parent_id, act.operation, when, name)


def _finish_git(home: Home, given: FinishInput, files: tuple[str, ...]) -> FinishStep:
    """Commit the agent's files and those of the finish steps, unless they are committed already (S6).

    Files in hyper's workspace root outside the project belong to another repository, or to none.
    """
    paths = (*(artifact.path for artifact in given.artifacts), *given.files, *files)
    paths = tuple(dict.fromkeys(path for path in paths if not path.startswith("/")))
    if not given.commits or not paths:
        return FinishStep("git", "nothing")
    from remit.git.commits import commit_paths, render_message  # noqa: PLC0415 - as above

    text = given.summary or given.status
    number = given.task_number
    message = text[:200] if number is None else render_message(number, text, phase=given.phase)
    committed = commit_paths(home.root, paths, message)
    if committed.commit is not None:
        return FinishStep("git", "done", committed.commit, committed.diagnostics, committed.paths, owed=True)
    failed = [diagnostic for diagnostic in committed.diagnostics if diagnostic.severity != "note"]
    if failed:
        return FinishStep("git", "failed", "", committed.diagnostics, hint=failed[0].hint)
    is_none = any(diagnostic.code == "GIT002" for diagnostic in committed.diagnostics)
    return FinishStep("git", "nothing" if is_none else "there", "", committed.diagnostics)


def _is_left(home: Home, given: FinishInput, stores: FinishStores) -> bool:
    """Whether the agent has done and committed all that is its own, so that Remit commits nothing.

    It is checked before anything is changed, and recorded: after a crash, the next call would take what Remit has
    written meanwhile for uncommitted work of the agent.
    """
    left = FinishStep("git", "there")
    with home.ledger.reading() as db:
        query = "SELECT result FROM finish_steps WHERE session_id = ? AND step = ?"
        row = db.execute(query, (given.session_id, left.name)).fetchone()
    if row is not None:
        return bool(json.loads(row[0])[0] == left.state)
    if _is_owing(home, given, stores) or not _is_committed(home, given, stores):
        return False
    with home.ledger.transaction(durable=True) as db:
        _write_steps(db, given, (left,))
    return True


def _is_owing(home: Home, given: FinishInput, stores: FinishStores) -> bool:
    """Whether the agent left its line of the manifest or its task's marker to Remit; also if that is unknown."""
    try:
        if given.entry is not None and _find_own(home, given.entry, stores) is None:
            return True
        if given.task_number is None or stores.tasks is None:
            return False
        task = stores.tasks.get(given.task_number)
        marker = task.marker or ""
        return not task.closed and _follow(given, marker) not in (None, marker)
    except RemitError:  # the step that needs it reports the error
        return True


def _is_committed(home: Home, given: FinishInput, stores: FinishStores) -> bool:
    """Whether the agent has committed all files that existed when it ended."""
    from remit.git.commits import find_uncommitted  # noqa: PLC0415 - as above

    files = [f"{stores.tasks.folder}/{name}" for name in ("state.json", "TODO.md")] if stores.tasks is not None else []
    if given.entry is not None:
        files += _below(home, stores.manifest, *_find_findings_file(home, stores, given.entry))
    paths = (*(artifact.path for artifact in given.artifacts), *given.files, *files)
    paths = tuple(path for path in paths if not path.startswith("/"))
    left = find_uncommitted(home.root, paths)
    return bool(paths) and not left.paths and not left.diagnostics


def _leave_commit(home: Home, files: tuple[str, ...]) -> list[FinishStep]:
    """Make no second commit (C19): files that only Remit writes are left to the task's next commit."""
    from remit.git.commits import find_uncommitted  # noqa: PLC0415 - as above

    left = find_uncommitted(home.root, tuple(file for file in files if not file.startswith("/"))).paths
    message = f"the agent has committed the rest, and {', '.join(left)} goes with the next commit"
    return [FinishStep("git", "there"), *([FinishStep("pending", "done", message)] if left else [])]


def _below(home: Home, *files: str) -> tuple[str, ...]:
    """Files relative to the root, without those outside of it."""
    root = os.path.realpath(home.root)
    names = (name_below(root, os.path.realpath(file)) for file in files)
    return tuple(name for name in names if name)

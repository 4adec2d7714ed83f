"""The JSON objects that leave Remit, one function for each; the types are in `schemas.py`.

The command line, HTTP, MCP and reports all use these functions, so an object is the same everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from remit.result import KEY, describe_check
from remit.views.hints import fit_hint
from remit.views.render import name_bug

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from remit.agent_files.lint import LintReport
    from remit.agents.definition import Definition
    from remit.cluster.database.session_rows import SessionRow
    from remit.cluster.database.workers import QueueRow, WorkerRow
    from remit.cluster.workers_status import ClusterStatus
    from remit.errorlog.causes import ErrorGroup
    from remit.errorlog.records import ErrorRecord
    from remit.errorlog.workspace_errors import ErrorSelection
    from remit.ledger.home import Home
    from remit.ledger.journal import Interrupted
    from remit.ledger.queries import NestedTotals, TreeEvent
    from remit.ledger.runs import AttemptRow
    from remit.manifest.append import AppendResult
    from remit.manifest.entries import ManifestEntry
    from remit.model import Diagnostic, Fix, JsonRepair, Verdict
    from remit.result import CheckResult, Result
    from remit.runs.checks.definition import AcceptanceCheck
    from remit.runs.submit_return import OwnVerdict
    from remit.runs.workspace_findings import ShownEntry
    from remit.schemas import (
        AddedFindingObject,
        AgentObject,
        AgentSummaryObject,
        AnswerSizeObject,
        AttemptObject,
        CheckDefinitionObject,
        CheckedMessageObject,
        CheckedReturnObject,
        CheckObject,
        ClusterObject,
        DiagnosticObject,
        EditObject,
        ErrorGroupObject,
        ErrorGroupsObject,
        ErrorObject,
        ErrorRecordObject,
        ErrorRecordsObject,
        EventObject,
        ExplanationObject,
        FindingDetailsObject,
        FindingObject,
        FixObject,
        InterruptedChangeObject,
        LeaseObject,
        LintObject,
        ListObject,
        LogLineObject,
        MovedTaskObject,
        PlanObject,
        PositionObject,
        QueueObject,
        RepairObject,
        RequestDiagnosticObject,
        ResultObject,
        RunObject,
        RunSummaryObject,
        StartedRunObject,
        TaskObject,
        TextPageObject,
        TreeRunObject,
        UnmetChecksName,
        WorkerObject,
    )
    from remit.tasks.store import PlanFacts, StoredTask, TaskChange
    from remit.views.checks import AttemptCheck
    from remit.views.explanations import Explanation
    from remit.views.hints import Interface
    from remit.views.logs import LogLine
    from remit.views.run_snapshots import RunSnapshot

T = TypeVar("T")

_MOST_SESSIONS = 50
_MOST_RECORDS = 20
_MOST_LEASES = 200
_MOST_DETAILS = 2_000


def build_list(items: Iterable[T]) -> ListObject[T]:
    """A list without pages."""
    listed = [*items]
    return {"items": listed, "total": len(listed)}


# --- diagnostics -----------------------------------------------------------------------------------------------------


def build_diagnostic(diagnostic: Diagnostic, filename: str) -> DiagnosticObject:
    """A problem in a text, without secrets."""
    from remit.storage.secrets import redact

    start, end = _build_span(diagnostic.place)
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": redact(diagnostic.message),
        "hint": redact(diagnostic.hint),
        "pointer": diagnostic.pointer,
        "filename": filename,
        "location": start,
        "end_location": end,
        "fix": None if diagnostic.fix is None else _build_fix(diagnostic.fix),
    }


def _build_span(place: Sequence[int] | None) -> tuple[PositionObject | None, PositionObject | None]:
    """The first and the last position of a span: line, column, end line, end column."""
    if place is None:
        return None, None
    line, column, end_line, end_column = place
    return {"row": line, "column": column}, {"row": end_line, "column": end_column}


def _build_fix(fix: Fix) -> FixObject:
    edits: list[EditObject] = []
    for edit in fix.edits:
        start, end = _build_span(edit.place)
        edits.append({"content": edit.content, "location": start, "end_location": end})
    return {"applicability": fix.applicability, "message": fix.message, "edits": edits}


def build_request_diagnostics(diagnostics: Sequence[Diagnostic]) -> list[RequestDiagnosticObject]:
    """The diagnostics of a request."""
    return [{"code": each.code, "severity": each.severity, "message": each.message} for each in diagnostics]


def build_repair(repair: JsonRepair) -> RepairObject:
    """A repair of a return."""
    start, end = _build_span(repair.place)
    return {"kind": repair.kind, "message": repair.message, "location": start, "end_location": end}


_JSON = (str, int, float, list, tuple, dict, type(None))


def build_error(error: BaseException, interface: Interface = "cli") -> ErrorObject:
    """Why something could not be done, with a hint that fits the interface."""
    known = name_bug(error)
    return {
        "code": known.code,
        "message": known.message,
        "hint": fit_hint(known.hint, interface),
        "recoverable": known.recoverable,
        "data": {name: value if isinstance(value, _JSON) else str(value) for name, value in known.data.items()},
    }


# --- returns and results ---------------------------------------------------------------------------------------------


def build_checked_message(verdict: Verdict, filename: str) -> CheckedMessageObject:
    """The verdict on a final message. Only an accepted return has a status."""
    return {
        "filename": filename,
        "accepted": verdict.accepted,
        "verdict": verdict.name,
        "format": verdict.format,
        "transport": verdict.transport,
        "status": verdict.returned.status if verdict.returned else None,
        "payload": verdict.payload,
        "repairs": [build_repair(repair) for repair in verdict.repairs],
        "diagnostics": [build_diagnostic(each, filename) for each in verdict.diagnostics],
        "evidence": [
            {"path": facts.path, "state": facts.state, "size_bytes": facts.size_bytes}
            for facts in verdict.evidence.values()
        ],
    }


def build_checked_return(verdict: OwnVerdict, filename: str) -> CheckedReturnObject:
    """The verdict on an agent's own return."""
    return {
        "accepted": verdict.accepted,
        "verdict": verdict.name,
        "format": verdict.format,
        "status": verdict.status,
        "session_id": verdict.session_id,
        "artifacts": [
            {"path": path, "grade": each.grade, "reason": each.reason} for path, each in verdict.grades.items()
        ],
        "repairs": [repair.message for repair in verdict.repairs],
        "diagnostics": [build_diagnostic(each, filename) for each in verdict.diagnostics],
    }


def build_result(result: Result, diagnostics: Sequence[Diagnostic] = (), **more: object) -> ResultObject:
    """A result, with the diagnostics of its request and what else a command adds, under `remit`."""
    built = result.to_dict()
    added: dict[str, Any] = {**built[KEY]}
    known = added.get("diagnostics", [])
    rest = [each for each in build_request_diagnostics(diagnostics) if each not in known]
    whole: Any = built | {KEY: added | ({"diagnostics": [*known, *rest]} if rest else {}) | more}
    verified: ResultObject = whole
    return verified


def build_check(result: CheckResult) -> CheckObject:
    """The answer of an acceptance check, with its command and the end of its output."""
    return describe_check(result, with_output=True)  # type: ignore[return-value] # its keys are those of the type


def build_check_definition(check: AcceptanceCheck) -> CheckDefinitionObject:
    """An acceptance check of the workspace."""
    return {
        "name": check.name,
        "run": check.run,
        "timeout_s": check.timeout_s,
        "when": [*check.when],
        "cwd": check.cwd,
        "protect": [*check.protect],
        "baseline": check.baseline,
        "junit": check.junit,
        "weakened": check.weakened,
    }


# --- runs ------------------------------------------------------------------------------------------------------------


def build_runs(home: Home, snapshots: Sequence[RunSnapshot]) -> list[RunObject]:
    """Runs as every list has them, with the totals of the runs below each."""
    if not snapshots:
        return []
    from remit.ledger.queries import NOTHING_BELOW, load_summaries, load_unmet_checks, sum_nested

    rows = [each.row for each in snapshots]
    totals = sum_nested(home.ledger, rows)
    summaries = load_summaries(home.ledger, [row.session_id for row in rows])
    lowered = [row.session_id for row in rows if row.status == "partial" and row.details.get("checks")]
    unmet = load_unmet_checks(home.ledger, lowered)
    return [
        _build_run(
            each,
            totals.get(each.row.session_id, NOTHING_BELOW),
            summaries.get(each.row.session_id, ""),
            unmet.get(each.row.session_id),
        )
        for each in snapshots
    ]


def build_started_run(home: Home, session_id: str, diagnostics: Sequence[Diagnostic]) -> StartedRunObject:
    """A run that was started, with the diagnostics of its request."""
    from remit.ledger.runs import load_run
    from remit.views.run_snapshots import load_snapshots

    row = load_run(home.ledger, session_id)
    (run,) = build_runs(home, load_snapshots(home, [] if row is None else [row]))
    return {**run, "request_diagnostics": build_request_diagnostics(diagnostics)}


def build_run_summary(snapshot: RunSnapshot) -> RunSummaryObject:
    """The main facts of a run."""
    row = snapshot.row
    return {
        "session_id": row.session_id,
        "agent": row.agent,
        "state": snapshot.state,
        "status": row.status,
        "created_ms": row.created_ms,
    }


def build_tree_runs(home: Home, snapshots: Sequence[RunSnapshot]) -> list[TreeRunObject]:
    """Runs of a tree, each after the one that started it."""
    runs = build_runs(home, snapshots)
    return [{**run, "level": each.seen.level} for run, each in zip(runs, snapshots, strict=True)]


def _build_run(snapshot: RunSnapshot, nested: NestedTotals, summary: str, unmet: UnmetChecksName | None) -> RunObject:
    from remit.storage.secrets import redact

    row, seen, place = snapshot.row, snapshot.seen, snapshot.place
    is_timed = row.deadline_ms is not None and snapshot.is_open
    return {
        **build_run_summary(snapshot),
        "verdict": row.verdict,
        "stop_reason": row.stop_reason,
        "depth": row.depth,
        "path": [*row.path],
        "parent_id": row.parent_id,
        "root_id": row.root_id,
        "task_number": row.task_number,
        "task_id": row.details.get("outside") or None,
        "runner": row.runner,
        "work": snapshot.work,
        "summary": redact(summary),
        "started_ms": row.started_ms,
        "deadline_ms": row.deadline_ms,
        "ended_ms": row.ended_ms,
        "left_ms": max(0, (row.deadline_ms or 0) - snapshot.now_ms) if is_timed else None,
        "activity_ms": seen.activity_ms,
        "activity": seen.activity,
        "idle_s": seen.idle_s,
        "tokens": seen.tokens,
        "cost_usd": seen.cost_usd,
        "turns": row.turns,
        "children": nested.children,
        "open_below": nested.open_below,
        "tree_tokens": nested.tokens,
        "tree_cost_usd": nested.cost_usd,
        "supervised": snapshot.is_supervised,
        "supervisor_pid": snapshot.driver_pid,
        "harness": snapshot.harness or None,
        "alive": snapshot.is_alive,
        "waits_for": [*snapshot.waits_for],
        "worker": seen.worker or None,
        "check": None if seen.check is None else {"name": seen.check.name, "since_ms": seen.check.since_ms},
        "unmet_checks": unmet,
        "machine": None if place is None else {
            "state": place.state, "worker": place.worker, "host": place.host, "fence": place.fence,
            "queue": place.queue, "waited_s": place.waited_s, "lease_left_s": place.lease_left_s,
        },
    }  # fmt: skip


def build_attempt(
    attempt: AttemptRow, answer: AnswerSizeObject | None, checks: Sequence[AttemptCheck] = ()
) -> AttemptObject:
    """An attempt of a run, without secrets."""
    from remit.storage.secrets import redact_all

    kept: AttemptRow = redact_all(attempt)
    filename = f"answer-{kept.number}"
    return {
        "number": kept.number,
        "started_ms": kept.started_ms or None,
        "ended_ms": kept.ended_ms,
        "stop_reason": kept.stop_reason,
        "verdict": kept.verdict,
        "diagnostics": [_build_stored_diagnostic(each, filename) for each in kept.diagnostics],
        "repairs": [_build_stored_repair(each) for each in kept.repairs],
        "claims": [*kept.claims],
        "usage": dict(kept.usage),
        "answer": answer,
        "checks": [
            {
                "name": each.name,
                "answer": each.answer,
                "reason": each.reason,
                "duration_ms": each.duration_ms,
                "output": each.output,
                "repeated": each.is_repeat,
            }
            for each in checks
        ],
    }


def _build_stored_diagnostic(stored: Mapping[str, Any], filename: str) -> DiagnosticObject:
    start, end = _build_span(stored.get("place"))
    return {
        "code": stored["code"],
        "severity": stored["severity"],
        "message": stored["message"],
        "hint": stored.get("hint", ""),
        "pointer": stored.get("pointer"),
        "filename": filename,
        "location": start,
        "end_location": end,
        "fix": None,
    }


def _build_stored_repair(stored: Mapping[str, Any]) -> RepairObject:
    start, end = _build_span(stored.get("place"))
    return {"kind": stored["kind"], "message": stored["message"], "location": start, "end_location": end}


def build_text_page(text: str, page: int, *, size: int) -> TextPageObject:
    """A page of a long text."""
    from remit.runs.text_pages import cut_page

    cut = cut_page(text, page, size=size)
    return {"text": cut.text, "page": cut.page, "pages": cut.pages, "characters": cut.characters}


def build_log_line(line: LogLine, number: int) -> LogLineObject:
    """A line that an agent printed, with its number in the log."""
    return {"number": number, "attempt": line.attempt, "kind": line.kind, "text": line.text}


def build_event(change: TreeEvent) -> EventObject:
    """An event of a run, without secrets; long details are cut."""
    from remit.storage.secrets import redact_all

    event = change.event
    details = redact_all(event.details)
    if len(str(details)) > _MOST_DETAILS:
        details = {name: value if isinstance(value, int | float | bool | None) else str(value)[:80]
                   for name, value in [*details.items()][:20]}  # fmt: skip
    return {
        "number": event.number,
        "at_ms": event.at_ms,
        "session_id": event.session_id,
        "root_id": change.root_id,
        "kind": event.kind,
        "details": details,
    }


# --- agent files and codes -------------------------------------------------------------------------------------------


def build_agent_summary(definition: Definition) -> AgentSummaryObject:
    """What an agent file defines."""
    from remit.storage.secrets import redact_all

    return {
        "path": definition.path,
        "name": definition.name,
        "description": redact_all(definition.description),
        "profile": definition.profile,
        "kind": definition.kind,
    }


def build_agent(path: str, definition: Definition | None, diagnostics: Sequence[Diagnostic]) -> AgentObject:
    """An agent file with its diagnostics. A file that defines no agent has no name."""
    nothing: AgentSummaryObject = {"path": path, "name": None, "description": "", "profile": None, "kind": None}
    return {
        **(nothing if definition is None else build_agent_summary(definition)),
        "path": path,
        "diagnostics": [build_diagnostic(each, path) for each in diagnostics],
    }


def build_lint(report: LintReport, names: Mapping[str, str] | None = None, *, most: int | None = None) -> LintObject:
    """The diagnostics of agent files, by `names` instead of their paths; with `most`, the most severe so many."""
    from remit.views.render import SEVERITIES

    found = [(each, path if names is None else names[path]) for path, own in report.diagnostics.items() for each in own]
    severities = [each.severity for each, _ in found]
    shown = found
    if most is not None and len(found) > most:
        shown = sorted(found, key=lambda pair: SEVERITIES.index(pair[0].severity))[:most]
    return {
        "items": [build_diagnostic(each, name) for each, name in shown],
        "total": len(found),
        "counts": {
            "files": len(report.sources),
            "error": severities.count("error"),
            "warning": severities.count("warning"),
            "note": severities.count("note"),
        },
        "failed": report.failed,
        "known": report.known,
    }


def build_explanation(explanation: Explanation) -> ExplanationObject:
    """The explanation of a code."""
    return {
        "code": explanation.code,
        "name": explanation.name,
        "severity": explanation.severity,
        "verdict": explanation.verdict,
        "fix": explanation.fix,
        "documentation": explanation.documentation,
    }


# --- tasks -----------------------------------------------------------------------------------------------------------


def build_task(task: StoredTask, runs: tuple[int, int]) -> TaskObject:
    """A task as every list has it, with the reason for its marker, and how many runs it has: open, and in all."""
    from remit.storage.secrets import redact_all

    reason = task.fields.get(f"{(task.marker or '').lower().replace(' ', '_')}_reason")
    phase = task.fields.get("phase")
    return {
        "number": task.number,
        "title": redact_all(task.title),
        "marker": task.marker,
        "closed": task.closed,
        "priority": task.priority or None,
        "phase": phase if isinstance(phase, int | str) else None,
        "reason": redact_all(reason) if isinstance(reason, str) else None,
        "linkedResearch": [*task.links],
        "runs": {"open": runs[0], "total": runs[1]},
    }


def build_plan(plan: PlanFacts) -> PlanObject:
    """The plan of a task."""
    from remit.storage.secrets import redact_all

    return {
        "path": plan.path,
        "phases": [
            {"number": each.number, "name": redact_all(each.name), "marker": each.marker} for each in plan.phases
        ],
        "resume": plan.resume and plan.resume.number,
    }


def build_moved_task(moved: TaskChange) -> MovedTaskObject:
    """A task that was given another marker, and what else was done to its files. Paths are below the project root."""
    return {
        "number": moved.number,
        "before": moved.before,
        "after": moved.after,
        "files": [*moved.files],
        "absorbed": [*moved.absorbed],
        "diagnostics": [
            build_diagnostic(each, file) for each, file in zip(moved.diagnostics, moved.diagnostic_files, strict=True)
        ],
        "interrupted": [build_interrupted_change(each) for each in moved.interrupted],
    }


def build_interrupted_change(change: Interrupted) -> InterruptedChangeObject:
    """A change that a crash had interrupted."""
    return {"kind": change.kind, "finished": change.finished, "left_alone": [*change.left_alone]}


# --- findings --------------------------------------------------------------------------------------------------------


def build_finding(entry: ManifestEntry) -> FindingObject:
    """An entry of the manifest by the names of the standard; the other fields as its author wrote them."""
    from remit.manifest.entries import is_pending
    from remit.storage.secrets import redact_all

    known: FindingObject = {
        "line": entry.line,
        "pending": is_pending(entry.fields),
        "id": redact_all(entry.get_text("id")),
        "title": redact_all(entry.get_text("title")),
        "file": redact_all(entry.get_text("file")),
        "date": redact_all(entry.get_text("date")),
        "status": redact_all(entry.get_text("status")),
        "topics": redact_all(entry.get_list("topics")),
        "key_findings": redact_all(entry.get_list("key_findings")),
        "needs_followup": redact_all(entry.get_list("needs_followup")),
        "linked_tasks": redact_all(entry.get_list("linked_tasks")),
    }
    others: Any = redact_all({name: value for name, value in entry.fields.items() if name not in known})
    return {**others, **known}


def build_finding_details(shown: ShownEntry, root: str) -> FindingDetailsObject:
    """A finding with all that belongs to it. Paths are below the project root."""
    return {
        **build_finding(shown.entry),
        "tasks": [*shown.tasks],
        "same_id": [line for line in shown.lines if line != shown.entry.line],
        "findings_file": None if shown.file is None else shown.file.removeprefix(f"{root}/"),
        "trouble": shown.trouble or None,
    }


def build_added_finding(added: AppendResult, manifest: str, file: str | None) -> AddedFindingObject:
    """A finding that was added, or why it wasn't."""
    return {
        "added": added.accepted,
        "id": str(added.fields["id"]),
        "manifest": manifest,
        "entry": dict(added.fields),
        "findings_file": file,
        "diagnostics": [
            build_diagnostic(each, file if file is not None and each.place is not None else manifest)
            for each in added.diagnostics
        ],
    }


# --- errors ----------------------------------------------------------------------------------------------------------


def build_error_groups(found: ErrorSelection, root: str) -> ErrorGroupsObject:
    """Errors by cause, the newest first. Paths are below the project root."""
    file = found.file.removeprefix(f"{root}/")
    groups = sorted(found.groups, key=lambda group: _read_ms(group.newest) or 0, reverse=True)
    return {
        **build_list(build_error_group(each) for each in groups),
        "errors": found.total,
        "file": file,
        "diagnostics": [build_diagnostic(each, file) for each in found.diagnostics],
    }


def build_error_records(found: ErrorSelection, root: str) -> ErrorRecordsObject:
    """Errors one by one, the newest first. Paths are below the project root."""
    file = found.file.removeprefix(f"{root}/")
    return {
        **build_list(build_error_record(each) for each in found.records),
        "errors": found.total,
        "file": file,
        "diagnostics": [build_diagnostic(each, file) for each in found.diagnostics],
    }


def build_error_group(group: ErrorGroup) -> ErrorGroupObject:
    """The errors of one cause; of many, the newest."""
    from remit.storage.secrets import redact_all

    return {
        "id": group.cause.key,
        "code": group.cause.code,
        "cause": redact_all(group.cause.text),
        "message": redact_all(group.newest.message),
        "count": len(group.records),
        "open": group.is_open,
        "fix_status": group.fix_status,
        "recurred": group.recurred,
        "recurrences": group.recurrences,
        "first": group.first or None,
        "last": group.last or None,
        "last_ms": _read_ms(group.newest),
        "tasks": [*group.tasks],
        "sessions": [*group.sessions][-_MOST_SESSIONS:],
        "records": [build_error_record(each) for each in reversed(group.records[-_MOST_RECORDS:])],
    }


def build_error_record(record: ErrorRecord) -> ErrorRecordObject:
    """An error of the error log."""
    from remit.storage.secrets import redact_all

    return {
        "id": record.id,
        "at_ms": _read_ms(record),
        "timestamp": record.time or None,
        "code": record.code,
        "type": record.type,
        "severity": record.severity or None,
        "message": redact_all(record.message),
        "details": redact_all(record.details) or None,
        "session_id": record.session_id or None,
        "command": record.command or None,
        "task_number": record.task_number,
        "phase": record.phase,
        "delegation_path": [*record.path],
        "failed_at_depth": record.depth,
        "suggested_action": redact_all(record.suggested_action) or None,
        "auto_recoverable": record.auto_recoverable,
        "fix_status": record.fix_status,
        "fix_status_word": record.word or None,
        "closed": record.closed or None,
        "note": redact_all(record.note) or None,
    }


def _read_ms(record: ErrorRecord) -> int | None:
    from remit.errorlog.records import parse_time

    moment = parse_time(record.time)
    return None if moment is None else int(moment)


# --- the cluster -----------------------------------------------------------------------------------------------------


def build_cluster(cluster: ClusterStatus | None, known: Container[str] = ()) -> ClusterObject:
    """The workers, queues and leases of the shared database; None: runs execute on this machine only.

    `known`: the session ids that the ledger of this workspace has.
    """
    from remit.storage.secrets import redact

    if cluster is None:
        return {"backend": "local"}
    overview = cluster.overview
    leases = [] if overview is None else [row for row in overview.rows if row.state == "running"][:_MOST_LEASES]
    return {
        "backend": "postgresql",
        "database": cluster.database,
        "trouble": None if cluster.error is None else redact(str(cluster.error)),
        "workers": [] if overview is None else [_build_worker(each) for each in overview.workers],
        "queues": [] if overview is None else [_build_queue(each) for each in overview.queues],
        "lag_s": _round(cluster.lag_s),
        "has_active_worker": cluster.has_active_worker,
        "leases": [_build_lease(row, is_here=row.session_id in known) for row in leases],
    }


def _build_worker(worker: WorkerRow) -> WorkerObject:
    return {
        "worker_id": worker.worker_id,
        "host": worker.host,
        "pid": worker.pid,
        "version": worker.version,
        "protocol": worker.protocol,
        "concurrency": worker.concurrency,
        "agents": [*worker.agents],
        "lease_s": worker.lease_s,
        "state": worker.state,
        "started_ms": worker.started_ms,
        "beat_ago_s": round(worker.beat_ago_s, 1),
        "live": worker.is_live,
        "running": worker.running,
    }


def _build_queue(queue: QueueRow) -> QueueObject:
    return {
        "queue": queue.queue,
        "waiting": queue.waiting,
        "running": queue.running,
        "oldest_s": _round(queue.oldest_s),
    }


def _build_lease(row: SessionRow, *, is_here: bool) -> LeaseObject:
    from remit.storage.secrets import redact

    return {
        "session_id": row.session_id,
        "agent": redact(row.agent),
        "depth": row.depth,
        "worker": row.worker_id,
        "host": row.host,
        "fence": row.fence,
        "lease_left_s": _round(row.lease_left_s),
        "queue": row.queue,
        "waited_s": round(row.waited_s, 1),
        "cancelled": row.cancel_reason is not None,
        "here": is_here,
    }


def _round(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)

"""Resume a finished run in its session, or retry it.

A partial or blocked run can be resumed in the same session of its harness. A failed run can only be retried from the
beginning, and a completed run can't be resumed (R0.14).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.errors import RefusedError, StateError
from remit.ledger.runs import list_runs, load_run
from remit.ledger.texts import load_text
from remit.runs.admission.limits import Budget
from remit.runs.admission.run_config import read_run_config
from remit.runs.request import read_request
from remit.runs.tasks.outside_tasks import show_outside
from remit.runs.tasks.task_facts import load_task_facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.ledger.runs import Run
    from remit.runs.request import Request
    from remit.runs.workspace import Workspace

_RESUMABLE = ("partial", "blocked")
_MAX_ROWS = 100_000


def make_retry(ws: Workspace, session_id: str, changes: Mapping[str, Any]) -> Request:
    """Return a request that repeats a finished run from the beginning."""
    _check_not_in_harness(ws, session_id, "was started in {} and can be retried only there")
    row = _load_finished(ws, session_id)
    if row.details.get("command"):  # the task has changed since, so its current facts count
        message = f"{session_id} was a run of a task command, which starts from the current state of the task"
        raise RefusedError(message, hint=_describe_retry(row))
    request = _load_request(ws, row)
    return _change(request, changes)._replace(retry_of=session_id, resume_of="", harness_id="", batch="")


def make_resume(ws: Workspace, session_id: str, prompt: str, changes: Mapping[str, Any]) -> Request:
    """Return a request that continues a run in the session of its harness."""
    _check_not_in_harness(ws, session_id, "was started in {} and can be resumed only there")
    row = _load_finished(ws, session_id)
    retry = _describe_retry(row)
    if row.status not in _RESUMABLE:
        is_completed = row.status == "completed"
        hint = "start a new run for more work: remit run" if is_completed else retry
        state = "is completed" if is_completed else f"{row.status} and can't be resumed"
        raise RefusedError(f"{session_id} {state}", hint=hint)
    if not ws.supervisor.get_runner(row.runner, str(row.details.get("base", ""))).can_resume:
        raise RefusedError(f"the runner {row.runner} can't resume a session", hint=retry)
    harness_id = (load_text(ws.home, session_id, "harness") or b"").decode("utf-8", "replace")
    if not harness_id:
        raise RefusedError(f"the session id that {row.runner} gave to {session_id} is unknown", hint=retry)
    for other in list_runs(ws.home.ledger, only_open=True, limit=_MAX_ROWS):
        if other.details.get("resume_of") == session_id:
            message = f"{other.session_id} already resumes {session_id}"
            raise RefusedError(message, hint=f"wait for it: remit wait {other.session_id}")
    request = _load_request(ws, row)
    text = prompt.strip() or f"Continue this work where you stopped, and finish it:\n\n{request.prompt}"
    return _change(request, changes)._replace(
        prompt=text, runner=row.runner, resume_of=session_id, harness_id=harness_id, retry_of="", batch=""
    )


def _check_not_in_harness(ws: Workspace, session_id: str, sentence: str) -> None:
    """Refuse a run whose agent a harness started: Remit can't send a message to that session."""
    row = load_run(ws.home.ledger, session_id)
    if row is not None and read_run_config(row.details).is_harness_run:
        hint = f"do that there, or start a new run: remit run {row.agent} PROMPT"
        raise RefusedError(f"{session_id} {sentence.format(row.runner)}", hint=hint)


def _describe_retry(row: Run) -> str:
    """Return the hint with the command that repeats a run: for a run on a task, its task command."""
    command, task = row.details.get("command"), row.details.get("outside") or row.task_number
    return f"start it again: remit {f'task {command} {task}' if command else f'retry {row.session_id}'}"


def _load_finished(ws: Workspace, session_id: str) -> Run:
    row = load_run(ws.home.ledger, session_id)
    if row is None or row.state != "finished":
        hint = f"wait for it, or end it: remit wait {session_id}, remit cancel {session_id}"
        raise StateError(f"{session_id} isn't finished", hint=hint)
    return row


def _load_request(ws: Workspace, row: Run) -> Request:
    """Return the request with the current facts on its task."""
    if row.details.get("settings", {}).get("in_process"):
        message = f"{row.session_id} ran a function of a program, and only that program can call it"
        raise RefusedError(message, hint="call it in that program again")
    kept = load_text(ws.home, row.session_id, "request")
    if kept is None:
        raise StateError(f"the request of {row.session_id} isn't stored", hint="start a new run: remit run")
    request, number = read_request(kept.decode("utf-8", "surrogatepass"))
    if request.outside:
        return request._replace(task=show_outside(ws.root, ws.settings, request.outside))
    return request if number is None else request._replace(task=load_task_facts(ws.home, ws.settings, number))


def _change(request: Request, changes: Mapping[str, Any]) -> Request:
    """Return the request with changed limits; in the budget, only the given limits change."""
    given: Budget = changes.get("budget", Budget())
    budget = request.budget._replace(**{name: limit for name, limit in given._asdict().items() if limit is not None})
    return request._replace(**{**changes, "budget": budget})

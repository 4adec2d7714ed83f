"""Resume a finished run in its session, or retry it.

Owns what may be (R0.14): what is partial goes on, in the same session of its harness; what is blocked can be tried
again; what failed left nothing to go on with and is begun anew; what is completed is done.
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

_GOES_ON = ("partial", "blocked")
_MOST_ROWS = 100_000


def make_retry(ws: Workspace, session_id: str, changes: Mapping[str, Any]) -> Request:
    """The request of a finished run, to be made again from the beginning."""
    _check_asked_here(ws, session_id, "was asked for in {}, and only there can it be asked for again")
    row = _load_over(ws, session_id)
    if row.details.get("command"):  # the task has changed since, so its current facts count
        told = f"{session_id} was work on a task, which is begun where the task stands now"
        raise RefusedError(told, hint=_describe_retry(row))
    request = _load_request(ws, row)
    return _change(request, changes)._replace(retry_of=session_id, resume_of="", harness_id="", batch="")


def make_resume(ws: Workspace, session_id: str, prompt: str, changes: Mapping[str, Any]) -> Request:
    """A request that continues a run in the session of its harness."""
    _check_asked_here(ws, session_id, "is an agent of {}, and only there can it go on")
    row = _load_over(ws, session_id)
    anew = _describe_retry(row)
    if row.status not in _GOES_ON:
        hint = "what is to be done besides is new work: remit run" if row.status == "completed" else anew
        left = "is completed" if row.status == "completed" else f"{row.status}, and left nothing to go on with"
        raise RefusedError(f"{session_id} {left}", hint=hint)
    if not ws.supervisor.get_runner(row.runner, str(row.details.get("base", ""))).can_resume:
        raise RefusedError(f"the runner {row.runner} cannot take up a session again", hint=anew)
    harness_id = (load_text(ws.home, session_id, "harness") or b"").decode("utf-8", "replace")
    if not harness_id:
        raise RefusedError(f"nobody knows what {row.runner} calls the session of {session_id}", hint=anew)
    for other in list_runs(ws.home.ledger, only_open=True, limit=_MOST_ROWS):
        if other.details.get("resume_of") == session_id:
            message = f"{other.session_id} goes on with {session_id} already"
            raise RefusedError(message, hint=f"wait for it: remit wait {other.session_id}")
    request = _load_request(ws, row)
    text = prompt.strip() or f"Go on with this work where you stopped, and finish it:\n\n{request.prompt}"
    return _change(request, changes)._replace(
        prompt=text, runner=row.runner, resume_of=session_id, harness_id=harness_id, retry_of="", batch=""
    )


def _check_asked_here(ws: Workspace, session_id: str, sentence: str) -> None:
    """Refuse a run whose agent a harness started: Remit can't send a message to that session."""
    row = load_run(ws.home.ledger, session_id)
    if row is not None and read_run_config(row.details).is_harness_run:
        hint = f"ask for it there, or have Remit start it as new work: remit run {row.agent} PROMPT"
        raise RefusedError(f"{session_id} {sentence.format(row.runner)}", hint=hint)


def _describe_retry(row: Run) -> str:
    """The command that repeats a run: for a run on a task, its task command."""
    command, task = row.details.get("command"), row.details.get("outside") or row.task_number
    return f"start it anew: remit {f'task {command} {task}' if command else f'retry {row.session_id}'}"


def _load_over(ws: Workspace, session_id: str) -> Run:
    row = load_run(ws.home.ledger, session_id)
    if row is None or row.state != "finished":
        hint = f"wait for it, or end it: remit wait {session_id}, remit cancel {session_id}"
        raise StateError(f"{session_id} is not over", hint=hint)
    return row


def _load_request(ws: Workspace, row: Run) -> Request:
    """The request with the current facts on its task."""
    if row.details.get("settings", {}).get("in_process"):
        message = f"{row.session_id} was a function of a program, and only that program has it"
        raise RefusedError(message, hint="let the program do it again")
    kept = load_text(ws.home, row.session_id, "request")
    if kept is None:
        raise StateError(f"what was asked of {row.session_id} is not kept", hint="ask for it with: remit run")
    request, number = read_request(kept.decode("utf-8", "surrogatepass"))
    if request.outside:
        return request._replace(task=show_outside(ws.root, ws.settings, request.outside))
    return request if number is None else request._replace(task=load_task_facts(ws.home, ws.settings, number))


def _change(request: Request, changes: Mapping[str, Any]) -> Request:
    """The request with other limits; of the budget, only the given ones change."""
    given: Budget = changes.get("budget", Budget())
    budget = request.budget._replace(**{name: limit for name, limit in given._asdict().items() if limit is not None})
    return request._replace(**{**changes, "budget": budget})

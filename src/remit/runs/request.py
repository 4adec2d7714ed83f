"""The request for a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from remit.model import NOTHING
from remit.runs.admission.limits import Budget, check_budget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.runs.instructions import TaskFacts
    from remit.runs.workspace import Workspace


class RequestOptions(TypedDict, total=False):
    """What can be said of work besides who does it and what it is; each is a field of `Request`."""

    inputs: Mapping[str, str]
    runner: str | None
    command: str | None
    function: Callable[[str], object] | None
    timeout_s: float | None
    return_format: str | None
    budget: Budget
    worktree: bool
    confine: bool
    evidence: bool
    finishes: bool
    commits: bool | None
    reasks: int | None
    result_tokens: int | None
    format: str | None


class Request(NamedTuple):
    """Work for an agent."""

    agent: str | None
    """The name of an agent file. None: the harness or the command works without one."""
    prompt: str
    inputs: Mapping[str, str] = NOTHING
    runner: str | None = None
    command: str | None = None
    """A command line for the runner `command`."""
    function: Any = None
    """A function that runs in this process: it takes the prompt and gives the final message."""
    timeout_s: float | None = None
    return_format: str | None = None
    budget: Budget = Budget()
    worktree: bool = False
    """In a git worktree of its own."""
    confine: bool = False
    """Whether the kernel lets it write to its own folder alone, and to no protected file in it."""
    evidence: bool = True
    """Whether Remit takes a snapshot of the tree before the run. Without one, a `completed` that claims files is
    `unproven`."""
    finishes: bool = True
    commits: bool | None = None
    reasks: int | None = None
    result_tokens: int | None = None
    format: str | None = None
    """The format of the result. Default: the agent's own."""
    awaited: bool = True

    # Of a task
    task: TaskFacts | None = None
    kind: str | None = None
    lifecycle: str = ""
    artifact_path: str = ""
    phase: int | str | None = None
    working: str = ""
    """The marker that its task has from when it begins."""
    outside: str = ""
    """The task, where an outside system keeps it."""
    handed: tuple[str, ...] = ()
    """Files of the workspace that it is given: the first to read, the others by name."""
    topic: str = ""
    answers: Mapping[str, str] = NOTHING
    """What the command answers of the agent's inputs, by the names that agents give to them."""

    # Of an earlier one
    resume_of: str = ""
    harness_id: str = ""
    """What its harness calls the session that is taken up again."""
    retry_of: str = ""
    batch: str = ""


_FIELDS = ("inputs", "runner", "return_format", "format", "worktree", "confine")


def build_request(ws: Workspace, given: Mapping[str, Any]) -> Request:
    """The request for a run from its fields as HTTP and MCP have them."""
    fields = {name: given[name] for name in _FIELDS if name in given}
    if "task" in given:
        from remit.runs.tasks.task_facts import find_task  # noqa: PLC0415 - only with a task
        from remit.runs.tasks.task_numbers import parse_task  # noqa: PLC0415

        fields |= find_task(ws.home, ws.settings, parse_task(str(given["task"])))
    budget = check_budget(Budget(**{name: given[name] for name in Budget._fields if name in given}))
    return Request(given.get("agent"), given["prompt"], timeout_s=given.get("timeout"), budget=budget, **fields)


def render_request(request: Request) -> str:
    """A request as it is kept, so that it can be made again: a task by its number, and no function."""
    usual = Request("", "")
    kept = {name: value for name, value in request._asdict().items() if value != getattr(usual, name)}
    kept.pop("function", None)
    if request.task is not None:
        kept["task"] = request.task.number or None
    if "budget" in kept:
        kept["budget"] = {name: limit for name, limit in request.budget._asdict().items() if limit is not None}
    return json.dumps(kept, ensure_ascii=False)


def read_request(text: str) -> tuple[Request, int | None]:
    """A request that was kept, and the number of its task. What another Remit has written besides is passed over."""
    kept = json.loads(text)
    number = kept.pop("task", None)
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in kept.items()
        if name in Request._fields
    }
    if "budget" in known:
        known["budget"] = Budget(**known["budget"])
    return Request("", "")._replace(**known), number

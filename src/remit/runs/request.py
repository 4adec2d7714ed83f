"""The request for a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from remit.model import NOTHING
from remit.runs.admission.limits import Budget, check_budget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from remit.runs.instructions import TaskFacts
    from remit.runs.workspace import Workspace


class RequestOptions(TypedDict, total=False):
    """The options of a run in addition to agent and prompt. Each is a field of `Request`."""

    inputs: Mapping[str, str]
    runner: str | None
    command: str | None
    function: Callable[[str], object] | None
    timeout_s: float | None
    return_format: str | None
    budget: Budget
    worktree: bool
    confine: bool
    checks: Sequence[str]
    evidence: bool
    finishes: bool
    commits: bool | None
    reasks: int | None
    result_tokens: int | None
    format: str | None
    schema: Mapping[str, Any] | None
    returns: Any


class Request(NamedTuple):
    """The request for one run of an agent."""

    agent: str | None
    """The name of an agent file. None: the run needs no agent file."""
    prompt: str
    inputs: Mapping[str, str] = NOTHING
    runner: str | None = None
    command: str | None = None
    """A command line for the runner `command`."""
    function: Any = None
    """A function that runs in this process: it takes the prompt and returns the final message."""
    timeout_s: float | None = None
    return_format: str | None = None
    budget: Budget = Budget()
    worktree: bool = False
    """Whether the run gets a git worktree of its own."""
    confine: bool = False
    """Whether the kernel limits the agent to writing in its own folder, except protected files."""
    checks: Sequence[str] = ()
    """Acceptance checks, by their names in remit.toml or as commands, in addition to those of the agent's file."""
    evidence: bool = True
    """Whether Remit takes a snapshot of the tree before the run. Without one, a `completed` that claims files is
    `unproven`."""
    finishes: bool = True
    commits: bool | None = None
    reasks: int | None = None
    result_tokens: int | None = None
    format: str | None = None
    """The format of the result. Default: the agent's own."""
    schema: Mapping[str, Any] | None = None
    """The JSON Schema of the return's `data`. Default: the one of the agent's settings or file."""
    returns: Any = None
    """A Pydantic model, a dataclass or a TypedDict: its schema is that of `data`, and `result.data` is an instance."""
    awaited: bool = True

    # A run on a task
    task: TaskFacts | None = None
    kind: str | None = None
    lifecycle: str = ""
    artifact_path: str = ""
    phase: int | str | None = None
    working: str = ""
    """The marker of its task during the run."""
    outside: str = ""
    """The id of the task in an outside system."""
    handed: tuple[str, ...] = ()
    """Files of the workspace for the agent: the text of the first, the names of the others."""
    topic: str = ""
    answers: Mapping[str, str] = NOTHING
    """Values of the task command for the agent's inputs, by the names that agents use."""

    # A retry, a resumed run, or a member of a batch
    resume_of: str = ""
    harness_id: str = ""
    """The harness's id of the session that the run resumes."""
    retry_of: str = ""
    batch: str = ""


_FIELDS = ("inputs", "runner", "return_format", "format", "worktree", "confine", "schema")


def build_request(ws: Workspace, given: Mapping[str, Any]) -> Request:
    """Build a request from the fields that HTTP and MCP have."""
    fields = {name: given[name] for name in _FIELDS if name in given}
    if "task" in given:
        from remit.runs.tasks.task_facts import find_task  # noqa: PLC0415 - only with a task
        from remit.runs.tasks.task_numbers import parse_task  # noqa: PLC0415

        fields |= find_task(ws.home, ws.settings, parse_task(str(given["task"])))
    if given.get("checks"):
        from remit.runs.checks.definition import choose_checks  # noqa: PLC0415 - only with checks

        choose_checks(given["checks"], ws.settings.checks, may_be_commands=False)  # refuses commands
        fields["checks"] = tuple(given["checks"])
    budget = check_budget(Budget(**{name: given[name] for name in Budget._fields if name in given}))
    return Request(given.get("agent"), given["prompt"], timeout_s=given.get("timeout"), budget=budget, **fields)


def render_request(request: Request) -> str:
    """Render a request for the ledger, so that a retry can repeat it: the task by its number, without a function."""
    usual = Request("", "")
    kept = {name: value for name, value in request._asdict().items() if value != getattr(usual, name)}
    kept.pop("function", None)
    returns = kept.pop("returns", None)
    if returns is not None and request.schema is None:
        from remit.runs.data_models import render_schema  # noqa: PLC0415 - only for a Python program

        kept["schema"] = render_schema(returns)
    if request.task is not None:
        kept["task"] = request.task.number or None
    if "budget" in kept:
        kept["budget"] = {name: limit for name, limit in request.budget._asdict().items() if limit is not None}
    return json.dumps(kept, ensure_ascii=False)


def read_request(text: str) -> tuple[Request, int | None]:
    """Parse a request of the ledger, and the number of its task. Unknown keys of another version are ignored."""
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

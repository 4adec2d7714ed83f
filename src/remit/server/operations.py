"""The table of operations: method, path, parameters, body and answer of each.

The routes and the OpenAPI description are generated from this table. The function that answers an operation has the
name of the operation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from remit import schemas as o
from remit.request_fields import RunRequest
from remit.server import parameters as p
from remit.server.request_body import MAX_BYTES, MAX_MESSAGE_BYTES

BASE = "/api/v1"
_HOMES = "remit.server."


class Operation(NamedTuple):
    """An operation of the API."""

    method: str
    path: str
    """Relative to `BASE`."""
    name: str
    """The operation id, and the name of the function that answers it."""
    tag: str
    about: str
    gives: Any
    """The type of the answer; None: no body."""
    home: str
    takes: Any = p.NoParameters
    """The type of the query."""
    names: Any = p.NoParameters
    """The type of the parameters in the path."""
    body: Any = None
    status: int = 200
    max_bytes: int = MAX_BYTES
    streams: Any = None
    """The type of the data of each event, if the answer is a stream."""
    once: bool = False
    """Whether an Idempotency-Key makes retries of the request safe."""
    changes: bool = False
    """Whether it changes the workspace, so that agents and conflicting states are refused."""


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "GET", "/runs", "list_runs", "runs", "List runs, newest first.",
        o.RunPageObject, f"{_HOMES}run_routes",
        p.RunsQuery,
    ),
    Operation(
        "POST", "/runs", "start_run", "runs",
        "Start a run in its own process, which doesn't depend on the server.",
        o.StartedRunObject, f"{_HOMES}run_routes",
        body=RunRequest,
        status=201, once=True, changes=True,
    ),
    Operation(
        "GET", "/runs/{id}", "get_run", "runs", "Get a run with its request, attempts, result and finish steps.",
        o.RunDetailsObject, f"{_HOMES}run_routes",
        p.DetailsQuery,
        names=p.RunPath,
    ),
    Operation(
        "GET", "/runs/{id}/tree", "get_tree", "runs", "Get the tree of runs that a run belongs to.",
        o.TreeObject, f"{_HOMES}run_routes",
        names=p.RunPath,
    ),
    Operation(
        "GET", "/runs/{id}/prompt", "get_prompt", "runs", "Get the first message that the agent got.",
        o.TextPageObject, f"{_HOMES}run_routes", p.PageQuery, names=p.RunPath,
    ),
    Operation(
        "GET", "/runs/{id}/answers/{number}", "get_answer", "runs", "Get the answer of an attempt.",
        o.AnswerPageObject, f"{_HOMES}run_routes", p.PageQuery, names=p.AttemptPath,
    ),
    Operation(
        "GET", "/runs/{id}/diff", "get_diff", "runs",
        "Compare a file with its state when the run began.",
        o.DiffObject,
        f"{_HOMES}run_routes", p.DiffQuery, names=p.RunPath,
    ),
    Operation(
        "GET", "/runs/{id}/log", "get_log", "runs", "Get the output of the agent as lines.",
        o.LogObject, f"{_HOMES}run_routes",
        p.LogQuery, names=p.RunPath,
    ),
    Operation(
        "GET", "/runs/{id}/log/stream", "stream_log", "runs", "Follow the output of the agent.",
        None, f"{_HOMES}stream_routes", p.AfterQuery, names=p.RunPath, streams=o.LogLineObject,
    ),
    Operation(
        "POST", "/runs/{id}/cancel", "cancel_run", "runs", "Cancel a run and its nested runs.",
        o.CancelledObject, f"{_HOMES}run_routes", names=p.RunPath,
        body=p.CancelBody, changes=True,
    ),
    Operation(
        "POST", "/runs/{id}/retry", "retry_run", "runs",
        "Start a new run from the request of a finished one.",
        o.StartedRunObject, f"{_HOMES}run_routes", names=p.RunPath, body=p.RetryBody,
        status=201, once=True, changes=True,
    ),
    Operation(
        "POST", "/runs/{id}/resume", "resume_run", "runs",
        "Start a new run that continues the session of a finished one.",
        o.StartedRunObject, f"{_HOMES}run_routes", names=p.RunPath,
        body=p.ResumeBody,
        status=201, once=True, changes=True,
    ),
    Operation(
        "GET", "/events", "get_events", "events",
        "Follow events as server-sent events, or list them with Accept: application/json.",
        o.EventPageObject, f"{_HOMES}stream_routes",
        p.EventsQuery,
        streams=o.EventObject,
    ),
    Operation(
        "POST", "/check", "check_message", "returns", "Check an agent's final message.",
        o.CheckedMessageObject, f"{_HOMES}check_routes",
        body=p.CheckBody,
        max_bytes=MAX_MESSAGE_BYTES,
    ),
    Operation(
        "POST", "/lint", "lint_agents", "agents", "Lint agent files of the workspace.",
        o.LintObject, f"{_HOMES}check_routes",
        body=p.LintBody,
        max_bytes=MAX_MESSAGE_BYTES, changes=True,
    ),
    Operation(
        "GET", "/checks", "list_checks", "agents", "List the acceptance checks of the workspace.",
        o.ListObject[o.CheckDefinitionObject], f"{_HOMES}check_routes",
    ),
    Operation(
        "GET", "/agents", "list_agents", "agents", "List agent files with their diagnostics and the graph of calls.",
        o.AgentsObject, f"{_HOMES}workspace_routes",
    ),
    Operation(
        "GET", "/tasks", "list_tasks", "tasks", "List tasks, and differences between state.json and TODO.md.",
        o.TaskBoardObject, f"{_HOMES}workspace_routes",
    ),
    Operation(
        "GET", "/tasks/{number}", "get_task", "tasks", "Get a task with its plan and latest runs.",
        o.TaskDetailsObject | o.OutsideTaskObject, f"{_HOMES}workspace_routes",
        names=p.TaskPath,
    ),
    Operation(
        "POST", "/tasks/{number}/move", "move_task", "tasks", "Set the marker of a task.",
        o.MovedTaskObject, f"{_HOMES}workspace_routes",
        names=p.TaskPath,
        body=p.MoveBody,
        changes=True,
    ),
    Operation(
        "GET", "/manifest", "list_findings", "findings", "List findings of the manifest, newest first.",
        o.FindingPageObject, f"{_HOMES}workspace_routes",
        p.FindingsQuery,
    ),
    Operation(
        "GET", "/manifest/{id}", "get_finding", "findings", "Get a finding.",
        o.FindingDetailsObject, f"{_HOMES}workspace_routes",
        names=p.FindingPath,
    ),
    Operation(
        "GET", "/errors", "list_errors", "errors", "List the errors of the error log by cause.",
        o.ErrorGroupsObject, f"{_HOMES}workspace_routes",
        p.ErrorsQuery,
    ),
    Operation(
        "GET", "/compliance", "get_compliance", "agents", "Count how runs ended, by agent and by day.",
        o.CompliancePageObject, f"{_HOMES}workspace_routes",
        p.ComplianceQuery,
    ),
    Operation(
        "GET", "/cluster", "get_cluster", "server",
        "Get workers, queues and leases of the shared database; without one, only `backend`.",
        o.ClusterObject, f"{_HOMES}workspace_routes",
    ),
    Operation(
        "GET", "/status", "get_status", "server", "Get version, branch and number of runs of the workspace.",
        o.WorkspaceStatusObject,
        f"{_HOMES}workspace_routes",
    ),
    Operation(
        "GET", "/openapi.json", "get_description", "server", "Get this description.",
        dict[str, Any], f"{_HOMES}openapi",
    ),
    Operation(
        "POST", "/login-tokens", "make_login", "server",
        "Create an address that logs in one browser within a minute. Needs the API token.",
        o.LoginObject, f"{_HOMES}login", status=201, body=p.NoParameters, changes=True,
    ),
    Operation(
        "DELETE", "/session", "log_out", "server", "End the session of a browser.", None, f"{_HOMES}login", status=204,
    ),
)  # fmt: skip

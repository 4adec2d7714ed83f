"""The table of operations: all that the API takes and gives.

Owns the one list that the routes are made from and that is told as OpenAPI: what is not in it is not there, and what is
in it is described. It is data; which function answers an operation is found by the operation's name.
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
    """Something that can be asked for."""

    method: str
    path: str
    """Below the base."""
    name: str
    """Of the function that answers it."""
    tag: str
    about: str
    gives: Any
    """The type of the answer; None: it has no body."""
    home: str
    takes: Any = p.NoParameters
    """The query."""
    names: Any = p.NoParameters
    """What stands in the path."""
    body: Any = None
    status: int = 200
    max_bytes: int = MAX_BYTES
    streams: Any = None
    """What each event of a stream carries, where it is one."""
    once: bool = False
    """Whether it is carried out once however often it is sent with one Idempotency-Key."""
    changes: bool = False
    """Whether it may be refused for what the workspace is or because an agent asks."""


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "GET", "/runs", "list_runs", "delegations", "List delegations, newest first.",
        o.RunPageObject, f"{_HOMES}run_routes",
        p.RunsQuery,
    ),
    Operation(
        "POST", "/runs", "delegate", "delegations",
        "Hand work to an agent; it goes on in a process of its own.",
        o.StartedRunObject, f"{_HOMES}run_routes",
        body=RunRequest,
        status=201, once=True, changes=True,
    ),
    Operation(
        "GET", "/runs/{id}", "get_run", "delegations", "All that is known of one run.",
        o.RunDetailsObject, f"{_HOMES}run_routes",
        p.DetailsQuery,
        names=p.RunPath,
    ),
    Operation(
        "GET", "/runs/{id}/tree", "get_tree", "delegations", "The whole run that a delegation is in.",
        o.TreeObject, f"{_HOMES}run_routes",
        names=p.RunPath,
    ),
    Operation(
        "GET", "/runs/{id}/prompt", "get_prompt", "delegations", "The first message that an agent was given.",
        o.TextPageObject, f"{_HOMES}run_routes", p.PageQuery, names=p.RunPath,
    ),
    Operation(
        "GET", "/runs/{id}/answers/{number}", "get_answer", "delegations", "What an agent answered.",
        o.AnswerPageObject, f"{_HOMES}run_routes", p.PageQuery, names=p.AttemptPath,
    ),
    Operation(
        "GET", "/runs/{id}/diff", "get_diff", "delegations",
        "What became of a file since the work began.",
        o.DiffObject,
        f"{_HOMES}run_routes", p.DiffQuery, names=p.RunPath,
    ),
    Operation(
        "GET", "/runs/{id}/log", "get_log", "delegations", "What an agent has printed, as lines.",
        o.LogObject, f"{_HOMES}run_routes",
        p.LogQuery, names=p.RunPath,
    ),
    Operation(
        "GET", "/runs/{id}/log/stream", "stream_log", "delegations", "What an agent prints, as it comes.",
        None, f"{_HOMES}stream_routes", p.AfterQuery, names=p.RunPath, streams=o.LogLineObject,
    ),
    Operation(
        "POST", "/runs/{id}/cancel", "cancel_run", "delegations", "End a delegation and all below it.",
        o.CancelledObject, f"{_HOMES}run_routes", names=p.RunPath,
        body=p.CancelBody, changes=True,
    ),
    Operation(
        "POST", "/runs/{id}/retry", "retry_run", "delegations",
        "Hand the same work to the same agent again.",
        o.StartedRunObject, f"{_HOMES}run_routes", names=p.RunPath, body=p.RetryBody,
        status=201, once=True, changes=True,
    ),
    Operation(
        "POST", "/runs/{id}/resume", "resume_run", "delegations",
        "Go on in the session of an agent that has ended.",
        o.StartedRunObject, f"{_HOMES}run_routes", names=p.RunPath,
        body=p.ResumeBody,
        status=201, once=True, changes=True,
    ),
    Operation(
        "GET", "/events", "get_events", "events",
        "What happens, as it happens: a stream of server-sent events, or with Accept: application/json a page of them.",
        o.EventPageObject, f"{_HOMES}stream_routes",
        p.EventsQuery,
        streams=o.EventObject,
    ),
    Operation(
        "POST", "/check", "check_message", "returns", "Judge an agent's final message.",
        o.CheckedMessageObject, f"{_HOMES}check_routes",
        body=p.CheckBody,
        max_bytes=MAX_MESSAGE_BYTES,
    ),
    Operation(
        "POST", "/lint", "lint_agents", "agents", "Judge the agent files of the workspace.",
        o.LintObject, f"{_HOMES}check_routes",
        body=p.LintBody,
        max_bytes=MAX_MESSAGE_BYTES, changes=True,
    ),
    Operation(
        "GET", "/agents", "list_agents", "agents", "The agent files, what is wrong with them, and who calls whom.",
        o.AgentsObject, f"{_HOMES}workspace_routes",
    ),
    Operation(
        "GET", "/tasks", "list_tasks", "work", "The tasks, and where their files disagree.",
        o.TaskBoardObject, f"{_HOMES}workspace_routes",
    ),
    Operation(
        "GET", "/tasks/{number}", "get_task", "work", "One task.",
        o.TaskDetailsObject | o.OutsideTaskObject, f"{_HOMES}workspace_routes",
        names=p.TaskPath,
    ),
    Operation(
        "POST", "/tasks/{number}/move", "move_task", "work", "Give a task another marker.",
        o.MovedTaskObject, f"{_HOMES}workspace_routes",
        names=p.TaskPath,
        body=p.MoveBody,
        changes=True,
    ),
    Operation(
        "GET", "/manifest", "list_entries", "work", "Entries of the manifest, newest first.",
        o.FindingPageObject, f"{_HOMES}workspace_routes",
        p.FindingsQuery,
    ),
    Operation(
        "GET", "/manifest/{id}", "get_entry", "work", "One finding.",
        o.FindingDetailsObject, f"{_HOMES}workspace_routes",
        names=p.FindingPath,
    ),
    Operation(
        "GET", "/errors", "list_errors", "work", "The errors that were logged, by cause.",
        o.ErrorGroupsObject, f"{_HOMES}workspace_routes",
        p.ErrorsQuery,
    ),
    Operation(
        "GET", "/compliance", "get_compliance", "agents", "How often agents kept to their contract.",
        o.CompliancePageObject, f"{_HOMES}workspace_routes",
        p.ComplianceQuery,
    ),
    Operation(
        "GET", "/cluster", "get_cluster", "server",
        "The machines that work for this workspace, and what waits for them; only `engine` where it is this one.",
        o.ClusterObject, f"{_HOMES}workspace_routes",
    ),
    Operation(
        "GET", "/status", "get_status", "server", "The workspace at a glance.",
        o.WorkspaceStatusObject,
        f"{_HOMES}workspace_routes",
    ),
    Operation(
        "GET", "/openapi.json", "get_description", "server", "This description.", dict[str, Any], f"{_HOMES}openapi",
    ),
    Operation(
        "POST", "/login-tokens", "make_login", "server",
        "An address that opens one session in a browser, within a minute. Only with the API's own token.",
        o.LoginObject, f"{_HOMES}login", status=201, body=p.NoParameters, changes=True,
    ),
    Operation(
        "DELETE", "/session", "log_out", "server", "Log out.", None, f"{_HOMES}login", status=204,
    ),
)  # fmt: skip

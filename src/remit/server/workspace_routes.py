"""Handlers of the operations on agents, tasks, findings, errors and the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.server.problems import missing
from remit.server.run_routes import check_user, open_workspace

if TYPE_CHECKING:
    from remit.schemas import (
        AgentsObject,
        ClusterObject,
        CompliancePageObject,
        ErrorGroupsObject,
        FindingDetailsObject,
        FindingPageObject,
        MovedTaskObject,
        OutsideTaskObject,
        TaskBoardObject,
        TaskDetailsObject,
        WorkspaceStatusObject,
    )
    from remit.server.endpoint import ApiRequest


def list_agents(request: ApiRequest) -> AgentsObject:
    """List agent files with the graph of calls."""
    from remit.views.agents import load_agents

    del request
    return load_agents()


def get_compliance(request: ApiRequest) -> CompliancePageObject:
    """Count how runs ended."""
    from remit.views.compliance import load_compliance

    with open_workspace() as home:
        return load_compliance(home, **request.query)


# --- tasks, findings, errors ------------------------------------------------------------------------------------------


def list_tasks(request: ApiRequest) -> TaskBoardObject:
    """List tasks."""
    from remit.views.tasks import load_board

    del request
    return load_board()


def get_task(request: ApiRequest) -> TaskDetailsObject | OutsideTaskObject:
    """Get a task."""
    from remit.runs.tasks.task_numbers import parse_number
    from remit.views.tasks import load_outside_task, load_task

    task_id = str(request.path["number"])
    with missing():
        return load_outside_task(task_id) or load_task(parse_number(task_id))


def move_task(request: ApiRequest) -> MovedTaskObject:
    """Set the marker of a task."""
    from remit.runs.tasks.task_numbers import parse_number
    from remit.views import tasks

    check_user(request)
    number = parse_number(str(request.path["number"]))
    return tasks.move_task(number, request.body["marker"], reason=request.body.get("reason", ""))


def list_findings(request: ApiRequest) -> FindingPageObject:
    """List findings."""
    from remit.views.findings import find_entries

    return find_entries(**request.query)


def get_finding(request: ApiRequest) -> FindingDetailsObject:
    """Get a finding."""
    from remit.views.findings import load_entry

    with missing():
        return load_entry(request.path["id"])


def list_errors(request: ApiRequest) -> ErrorGroupsObject:
    """List errors by cause."""
    from remit.errorlog.workspace_errors import load_errors
    from remit.storage.settings import find_workspace
    from remit.views.json_builders import build_error_groups

    return build_error_groups(load_errors(only_open=request.query.get("open", False)), find_workspace())


# --- workspace -------------------------------------------------------------------------------------------------------


def get_cluster(request: ApiRequest) -> ClusterObject:
    """Get workers, queues and leases."""
    from remit.views.workers import load_cluster

    del request
    with open_workspace() as home:
        return load_cluster(home)


def get_status(request: ApiRequest) -> WorkspaceStatusObject:
    """Get the workspace at a glance."""
    from remit.views.status import load_workspace_status

    del request
    with open_workspace() as home:
        return load_workspace_status(home)

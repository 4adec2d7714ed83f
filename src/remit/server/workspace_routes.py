"""Handlers of the operations on agents, tasks, findings, errors and the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.server.problems import missing
from remit.server.run_routes import check_person, open_workspace

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


def list_agents(asked: ApiRequest) -> AgentsObject:
    """List agent files with the graph of calls."""
    from remit.views.agents import load_agents

    del asked
    return load_agents()


def get_compliance(asked: ApiRequest) -> CompliancePageObject:
    """Count how runs ended."""
    from remit.views.compliance import load_compliance

    with open_workspace() as home:
        return load_compliance(home, **asked.query)


# --- work ------------------------------------------------------------------------------------------------------------


def list_tasks(asked: ApiRequest) -> TaskBoardObject:
    """List tasks."""
    from remit.views.tasks import load_board

    del asked
    return load_board()


def get_task(asked: ApiRequest) -> TaskDetailsObject | OutsideTaskObject:
    """Get a task."""
    from remit.runs.tasks.task_numbers import parse_number
    from remit.views.tasks import load_outside_task, load_task

    task_id = str(asked.path["number"])
    with missing():
        return load_outside_task(task_id) or load_task(parse_number(task_id))


def move_task(asked: ApiRequest) -> MovedTaskObject:
    """Set the marker of a task."""
    from remit.runs.tasks.task_numbers import parse_number
    from remit.views import tasks

    check_person(asked)
    number = parse_number(str(asked.path["number"]))
    return tasks.move_task(number, asked.body["marker"], reason=asked.body.get("reason", ""))


def list_findings(asked: ApiRequest) -> FindingPageObject:
    """List findings."""
    from remit.views.findings import find_entries

    return find_entries(**asked.query)


def get_finding(asked: ApiRequest) -> FindingDetailsObject:
    """Get a finding."""
    from remit.views.findings import load_entry

    with missing():
        return load_entry(asked.path["id"])


def list_errors(asked: ApiRequest) -> ErrorGroupsObject:
    """List errors by cause."""
    from remit.errorlog.workspace_errors import load_errors
    from remit.storage.settings import find_workspace
    from remit.views.json_objects import build_error_groups

    return build_error_groups(load_errors(only_open=asked.query.get("open", False)), find_workspace())


# --- all of it -------------------------------------------------------------------------------------------------------


def get_cluster(asked: ApiRequest) -> ClusterObject:
    """Get workers, queues and leases."""
    from remit.views.workers import load_cluster

    del asked
    with open_workspace() as home:
        return load_cluster(home)


def get_status(asked: ApiRequest) -> WorkspaceStatusObject:
    """Get the workspace at a glance."""
    from remit.views.status import load_workspace_status

    del asked
    with open_workspace() as home:
        return load_workspace_status(home)

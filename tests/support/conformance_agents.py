"""Agents of a project, and what they answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.conformance_project import Project


DONE = "answer(write(artifact, session))\n"
TASKS = {"researcher": "research", "planner": "planning", "implementer": "implementation", "reviewer": "review"}


def prepare(project: Project) -> None:
    """A task, and an agent for each kind of work."""
    project.add_task()
    for name, kind in TASKS.items():
        project.add_agent(name, kind)

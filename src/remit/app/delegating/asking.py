"""What can be asked of an agent, in one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from remit.delegate.limits import Budget
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.delegate.briefing import TaskFacts

NO_AGENT = "-"
"""Stands for no agent file: the harness works as it is."""


class Request(NamedTuple):
    """Work for an agent."""

    agent: str
    prompt: str
    inputs: Mapping[str, str] = NOTHING
    runner: str | None = None
    command: str | None = None
    """A command line for the runner `command`."""
    function: Any = None
    """A function that runs in this process: it takes the prompt and gives the final message."""
    timeout_s: float | None = None
    dialect: str | None = None
    budget: Budget = Budget()
    isolate: bool = False
    """In a worktree of its own."""
    sandbox: bool = False
    evidence: bool | None = None
    """Whether the tree is looked at before and after; None: as the workspace has it."""
    settles: bool = True
    commits: bool | None = None
    reasks: int | None = None
    envelope_tokens: int | None = None
    awaited: bool = True

    # Of a task
    task: TaskFacts | None = None
    kind: str | None = None
    lifecycle: str = ""
    artifact_path: str = ""
    phase: int | None = None
    topic: str = ""

    # Of an earlier one
    resume_of: str = ""
    harness_id: str = ""
    """What its harness calls the session that is taken up again."""
    retry_of: str = ""
    batch: str = ""

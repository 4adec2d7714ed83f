"""The artifacts of a task command: their kind, and the path at which the next command expects them (R1.20, R1.32).

The docstring of a function that makes a diagnostic (SET…) is its page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.model import Diagnostic
from remit.runs.admission.run_config import read_run_config
from remit.runs.finish.finish_steps import FinishStep
from remit.runs.tasks.task_status import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.config import Settings
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.model import Severity
    from remit.runs.admission.run_config import RunConfig
    from remit.runs.judging.conclusion import Conclusion

_ONE_FILE = ("research", "planning")
"""The kinds that produce one file. The others change files of the project and add a summary."""


def check_artifacts(home: Home, settings: Settings, row: Run, conclusion: Conclusion) -> tuple[FinishStep, ...]:
    """Return diagnostics on the artifacts of a completed task command."""
    config = read_run_config(row.details)
    if not config.command or not config.artifact_path or config.worktree or conclusion.status != "completed":
        return ()
    from remit.returns.formats import MANIFEST  # noqa: PLC0415 - only for a command

    if config.format == MANIFEST.name:  # has places of its own for files (R4.1)
        return ()
    try:
        return tuple(_check(home, settings, row, conclusion))
    except RemitError as error:
        return (FinishStep("artifact", "failed", str(error)),)


def _check(home: Home, settings: Settings, row: Run, conclusion: Conclusion) -> Iterator[FinishStep]:
    config = read_run_config(row.details)
    paths = [artifact.path for artifact in conclusion.artifacts]
    if config.artifact_path not in paths:
        yield _report_place(config, paths)
    store = open_store(home, settings) if config.kind == "planning" else None
    plan = None if store is None or row.task_number is None else store.load_plan(row.task_number)
    if plan is not None and plan.path in paths and not plan.phases:
        yield FinishStep("plan", "nothing", "", (no_phases(plan.path),))


def _report_place(config: RunConfig, paths: list[str]) -> FinishStep:
    if config.kind not in _ONE_FILE:
        return FinishStep("summary", "done", f"there is none at {config.artifact_path}")
    return FinishStep("artifact", "nothing", "", (made_elsewhere(paths[0] if paths else "", config.artifact_path),))


def made_elsewhere(path: str, wanted: str) -> Diagnostic:
    """A report or a plan isn't at its place.

    Why: users and the next command expect it in the task's folder. Remit links the file at its actual place.

    Bad: `research.md` at the top of the project, for task 12

    Good: `specs/12_cache_uploads/reports/research-001.md`, the path in the instructions.
    """
    message = f"the artifact belongs to '{wanted}' and is at '{path[:200]}'" if path else f"nothing is at '{wanted}'"
    return Diagnostic("SET002", "warning", message, "Move it there, or instruct the agent to write it there.")


def no_phases(path: str) -> Diagnostic:
    """A plan has no phases.

    Why: Remit implements a plan phase by phase and resumes at the first open phase. Without phases, one run implements
    the whole task.

    Bad: a plan without phase headings

    Good: `## Implementation Phases`, and below it `### Phase 1: Name [NOT STARTED]`
    """
    hint = "Have it revised, with headings like: ### Phase 1: Name [NOT STARTED]."
    return Diagnostic("SET003", "warning", f"the plan '{path[:200]}' has no phases", hint)


def place_denied(agent: str, path: str, rule: str) -> Diagnostic:
    """An agent's own permissions deny the path of its artifact, so its instructions don't name the path.

    Why: an agent with two contradicting instructions fails, or ignores one of them.

    Bad: tasks in `specs`, and an agent with `allow: [{write: [".opencode/specs/**/*"]}]`

    Good: `allow: [{write: ["specs/**/*"]}]`, or tasks in `.opencode/specs`
    """
    message = f"'{agent}' may not write '{path[:200]}', where its artifact belongs ({rule[:200]})"
    hint = "Allow the path in the agent's file, or set folder under [tasks] in remit.toml to one that it may write to."
    return Diagnostic("SET004", "warning", message, hint)


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "SET002": (made_elsewhere, "warning"),
    "SET003": (no_phases, "warning"),
    "SET004": (place_denied, "warning"),
}

"""Acceptance checks as people read them: the answer of each in words, and how the checks of each attempt ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from remit.sentences import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.ledger.home import Home
    from remit.ledger.runs import AttemptRow
    from remit.result import CheckResult
    from remit.runs.admission.run_config import RunConfig
    from remit.runs.checks.execute import Answer
    from remit.schemas import CheckDefinitionObject, ListObject

COVERED = frozenset(("CHK001", "CHK002", "CHK003"))
"""The diagnostics that say the same as the line of a check."""


class AttemptCheck(NamedTuple):
    """How a check ended after one attempt of a run."""

    name: str
    answer: Answer
    reason: str
    duration_ms: int
    output: str
    """The last lines of its output, without secrets."""
    is_repeat: bool = False
    """Whether it is the repetition of a check that failed."""


def describe_answer(result: CheckResult, *, in_full: bool = False) -> str:
    """Return the answer of a check in words, after its name: `passed in 12 s, 212 tests`. It is not escaped."""
    if result.answer == "not run":
        return f"{'not run' if result.is_needed else 'not needed'}: {result.reason}"
    took = format_duration(result.duration_ms / 1000)
    if result.answer == "failed":
        before = {"failed": "; it failed before the run, too", "passed": "; it passed before the run"}
        unknown = "; unknown whether it failed before the run" if in_full and result.before else ""
        return f"failed in {took}: {result.reason}{before.get(result.before, unknown)}"
    facts = [f"passed earlier on the same tree, in {took}" if result.is_cached else f"passed in {took}"]
    if result.tests is not None:
        facts.append(f"{result.tests:,} test{'' if result.tests == 1 else 's'}")
    if result.skipped:
        facts.append(f"{result.skipped:,} skipped")
    return ", ".join(facts) + ("; flaky: it failed first" if result.is_flaky else "")


def describe_event(event: Mapping[str, Any]) -> str:
    """Return what an event of a check says: `running check tests`, `check tests passed in 12 s`. It is not escaped."""
    state, name = event.get("state"), event.get("check", "")
    if state == "waiting":
        return "waiting for another process that runs checks in this tree"
    if state == "started":
        return f"running check {name}"
    took = f" in {format_duration(event.get('duration_ms', 0) / 1000)}" if state != "not run" else ""
    return f"check {name} {'was ' if state == 'not run' else ''}{state}{took}{_append(event.get('reason'))}"


def _append(reason: str | None) -> str:
    return f": {reason}" if reason else ""


def describe_execution(check: AttemptCheck) -> str:
    """Return how a check ended after an attempt, after its name: `failed in 2.0 s: exit code 1`. It is not escaped."""
    again = " when repeated" if check.is_repeat else ""
    if check.answer == "not run":
        return f"not run{again}: {check.reason}"
    return f"{check.answer}{again} in {format_duration(check.duration_ms / 1000)}{_append(check.reason)}"


def list_definitions() -> ListObject[CheckDefinitionObject]:
    """List the acceptance checks of the workspace."""
    from remit.runs.checks.workspace_checks import list_checks
    from remit.storage.settings import find_workspace, load_settings
    from remit.views.json_builders import build_check_definition, build_list

    return build_list(build_check_definition(each) for each in list_checks(load_settings(find_workspace())))


def list_attempt_checks(
    home: Home, session_id: str, config: RunConfig, attempts: Sequence[AttemptRow]
) -> dict[int, tuple[AttemptCheck, ...]]:
    """Return how the checks ended after each attempt, as far as the folders of their executions are still there."""
    if not config.checks:
        return {}
    from remit.attempts.folders import has_session  # only for runs with checks
    from remit.runs.checks.accept import load_executions
    from remit.runs.checks.definition import read_check
    from remit.storage.secrets import redact

    if not has_session(home, session_id):
        return {}
    checks = [read_check(each) for each in config.checks]
    found = {}
    for attempt in attempts:
        executed = [
            AttemptCheck(redact(name), each.answer, each.reason, each.duration_ms, each.output, is_repeat)
            for name, each, is_repeat in load_executions(home, session_id, checks, attempt=attempt.number)
        ]
        if executed:
            found[attempt.number] = tuple(executed)
    return found

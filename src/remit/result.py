"""The one shape of a result: what a caller gets from every interface, typed for Python; its JSON is in `schemas.py`.

Owns the names under the key `remit`. The rest of the JSON is a return in the format of the run; `returns.formats` has
those names. A hook loads this module, so it imports nothing but plain values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.model import AgentError, Diagnostic

DEFAULT_TOKENS = 400
MIN_TOKENS = 320
KEY = "remit"
HASH_DIGITS = 12
PROVED = ("changed", "attributed")
_ANSWERS = ("failed", "not run", "passed")


class ResultArtifact(NamedTuple):
    """A file that the agent reports, and what Remit observed of it."""

    path: str
    """Relative to the project root."""
    type: str = ""
    """In the agent's own word."""
    summary: str = ""
    grade: str = ""
    """missing, unchanged, unknown, changed or attributed."""
    reason: str = ""
    """Why the grade is not higher."""
    sha256: str = ""
    size_bytes: int | None = None
    key_points: tuple[str, ...] | None = None
    extra: Mapping[str, Any] = NOTHING
    """Keys of the agent that Remit does not know."""
    named: str = ""
    """The path in the agent's own words, if its format names files from another folder."""


class ResultUsage(NamedTuple):
    """The cost of a run; None: unknown."""

    tokens: int | None = None
    cost_usd: float | None = None
    turns: int | None = None
    seconds: float | None = None


class CheckResult(NamedTuple):
    """The answer of an acceptance check."""

    name: str
    answer: str
    """passed, failed or not run."""
    reason: str = ""
    """How it failed, or why it was not run."""
    command: str = ""
    duration_ms: int = 0
    is_cached: bool = False
    """Whether it passed earlier on exactly this tree, with the same command and environment."""
    is_flaky: bool = False
    """Whether it failed first, and passed when it was repeated."""
    is_needed: bool = True
    """Whether the result depends on it: not if no file changed that it is about."""
    before: str = ""
    """How it ended on the tree before the run: passed, failed or unknown; empty if it passed."""
    output: str = ""
    """The last lines of its output."""
    tests: int | None = None
    """How many tests ran, by its JUnit report; None if it wrote none."""
    skipped: int | None = None


class FailedStep(NamedTuple):
    """A finish step that failed: manifest, task, errors, activity or git."""

    step: str
    message: str = ""
    code: str = ""
    """Of its error: STATUS_SYNC_FAILED, GIT_COMMIT_FAILED and so on."""
    recommendation: str = ""
    """How to repeat it."""


class Result(NamedTuple):
    """What the caller of a run gets: a return in the agent's format, and what Remit verified.

    The fields say the same for every format. `to_dict` is the JSON that all interfaces send.
    """

    session_id: str
    agent: str
    status: str
    """completed, partial, failed or blocked, as far as Remit could verify it."""
    summary: str
    verdict: str
    """accepted, repaired, missing, malformed, invalid, ambiguous, degenerate, fabricated or unproven."""
    stop_reason: str
    """exited, timeout, cancelled, crashed, rejected, orphaned or budget."""
    artifacts: tuple[ResultArtifact, ...] = ()
    unclaimed: tuple[str, ...] = ()
    """Files that changed and that the agent did not report; of many, the first."""
    unclaimed_count: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()
    errors: tuple[AgentError, ...] = ()
    next_steps: tuple[str, ...] = ()
    usage: ResultUsage = ResultUsage()
    attempts: int = 1
    depth: int = 1
    path: tuple[str, ...] = ()
    failed_steps: tuple[FailedStep, ...] = ()
    notes: tuple[str, ...] = ()
    answer: str = ""
    """The hash under which Remit keeps the agent's last answer."""
    needs_user: bool = False
    """Whether only a user can fix one of the errors (R2.18)."""
    left_out: tuple[str, ...] = ()
    """What the token budget shortened."""
    tokens: int | None = None
    """How many tokens the JSON has; at most so many if `estimated`."""
    estimated: bool = False
    format: str = "standard"
    """The agent's format."""
    result_format: str = ""
    """The format of the result; empty: the agent's own."""
    metadata: Mapping[str, Any] = NOTHING
    """The agent's own keys in `metadata` or `meta`; of a manifest, the fields of its entry."""
    extra: Mapping[str, Any] = NOTHING
    """The agent's own keys at the top of its return."""
    task_id: str = ""
    """The task that the run worked on, by its number or by its id in an outside system."""
    checks: tuple[CheckResult, ...] = ()
    """The answers of the acceptance checks."""
    data: Any = None
    """The payload of the return, if a schema describes it: whole, whatever the token budget. With `returns`, it is an
    instance of that type."""
    has_schema: bool = False
    """Whether a schema describes `data`."""
    returned: Mapping[str, Any] = NOTHING
    """The return that goes to the caller, as JSON."""
    fitted: Mapping[str, Any] = NOTHING
    """The JSON of the result within its token budget; empty until it was fitted."""

    @property
    def is_lowered_by_checks(self) -> bool:
        """Whether the agent's `completed` doesn't count because of acceptance checks, which run for no other status."""
        return bool(self.checks) and self.status != "completed"

    @property
    def show(self) -> str:
        """The command that shows all of it."""
        return f"remit show {self.session_id} --full" if self.session_id else ""

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON: the return, and what Remit adds under the key `remit`."""
        return {**self.fitted} if self.fitted else {**self.returned, KEY: describe_run(self)}


def describe_check(result: CheckResult, *, with_output: bool = False) -> dict[str, Any]:
    """The answer of a check as JSON, without what says nothing."""
    described: dict[str, Any] = {"kind": "check", "name": result.name, "answer": result.answer}
    rare: dict[str, Any] = {
        "reason": result.reason if result.answer != "passed" else "",
        "command": result.command if result.command != result.name and with_output else "",
        "duration_ms": result.duration_ms,
        "cached": result.is_cached,
        "flaky": result.is_flaky,
        "before": result.before,
        "output": result.output if with_output else "",
    }
    described |= {name: value for name, value in rare.items() if value}
    counted = {"tests": result.tests, "skipped": result.skipped}
    described |= {name: value for name, value in counted.items() if value is not None}
    return described if result.is_needed else described | {"needed": False}


def describe_run(result: Result, *, digits: int | None = None) -> dict[str, Any]:
    """What Remit adds to a return. Lists and values that say nothing are left out, but for the main ones."""
    grades = [
        {"path": each.path, "grade": each.grade, "reason": each.reason, "sha256": each.sha256[:digits],
         "size_bytes": each.size_bytes}
        for each in sorted(result.artifacts, key=lambda artifact: artifact.grade in PROVED)
        if each.grade
    ]  # fmt: skip
    proved = sum(each.grade in PROVED for each in result.artifacts)
    tree = {"kind": "evidence", "name": "tree", "answer": "passed", "files": proved}
    verified: list[dict[str, Any]] = [tree] if proved else []
    ranked = sorted(result.checks, key=lambda each: _ANSWERS.index(each.answer))
    verified += [describe_check(each) for each in ranked]
    added: dict[str, Any] = {
        "status": result.status,
        "verdict": result.verdict,
        "stop_reason": result.stop_reason,
        "session_id": result.session_id,
        "grades": [_drop_empty(each) for each in grades],
    }
    rare: dict[str, Any] = {
        "verified_by": verified,
        "diagnostics": [
            {"code": each.code, "severity": each.severity, "message": each.message} for each in result.diagnostics
        ],
        "unclaimed": {"count": result.unclaimed_count, "paths": [*result.unclaimed]} if result.unclaimed_count else {},
        "failed_steps": [_drop_empty(each._asdict()) for each in result.failed_steps],
        "notes": [*result.notes],
        "usage": _drop_empty(result.usage._asdict()),
        "attempts": result.attempts if result.attempts > 1 else None,
        "answer": result.answer[:digits],
        "needs_user": result.needs_user,
        "show": result.show,
        "left_out": [*result.left_out],
    }
    added |= {name: value for name, value in rare.items() if value}
    return added if result.tokens is None else added | {"tokens": result.tokens, "estimated": result.estimated}


def _drop_empty(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "")}

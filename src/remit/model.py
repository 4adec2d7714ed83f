"""Values that every package uses: returns, diagnostics, fixes, repairs, artifact facts and verdicts.

Nothing here reads a file or parses a text. JSON keys of each format are in `returns.formats`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.data_schema import DataSchema


Status = Literal["completed", "partial", "failed", "blocked"]
Severity = Literal["error", "warning", "note"]
FormatName = Literal["standard", "hyper", "manifest"]
Transport = Literal["message", "block", "manifest", "file"]
VerdictName = Literal[
    "accepted", "repaired", "missing", "malformed", "invalid", "ambiguous", "degenerate", "fabricated", "unproven",
]  # fmt: skip
ACCEPTABLE: tuple[VerdictName, ...] = ("accepted", "repaired")
"""The verdicts of a valid return."""

STATUSES: tuple[Status, ...] = ("completed", "partial", "failed", "blocked")
DATA = "data"
"""The key of a return's payload, which a schema of the user describes."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
MAX_DEPTH = 3
"""The maximum depth of nested runs."""

ERROR_CODES = {
    "timeout": "TIMEOUT",
    "validation": "VALIDATION_FAILED",
    "tool_unavailable": "TOOL_UNAVAILABLE",
    "build_error": "BUILD_ERROR",
    "file_not_found": "FILE_NOT_FOUND",
    "cycle": "CYCLE_DETECTED",
    "max_depth": "MAX_DEPTH_EXCEEDED",
    "status_sync": "STATUS_SYNC_FAILED",
    "git": "GIT_COMMIT_FAILED",
    "permission": "REFUSED",
    "refused": "REFUSED",
    "cancelled": "CANCELLED",
    "budget": "BUDGET_EXCEEDED",
    "fabricated": "FABRICATED",
    "unproven": "UNPROVEN",
    "orphaned": "ORPHANED",
    "check_failed": "CHECK_FAILED",
    "check_not_run": "CHECK_NOT_RUN",
    "check_weakened": "CHECK_WEAKENED",
    "execution": "UNKNOWN_ERROR",
    "validation_failure": "VALIDATION_FAILED",
    "file_operation_failure": "FILE_NOT_FOUND",
    "delegation_failure": "DELEGATION_FAILED",
    "git_failure": "GIT_COMMIT_FAILED",
}
"""The code for each error type if the agent gave none; the list is open (R2.16)."""
NO_ANSWER, AGENT_FAILED, AGENT_KILLED = "NO_ANSWER", "AGENT_FAILED", "AGENT_KILLED"
MODEL_API_FAILED = "MODEL_API_FAILED"
CRASH_CODES = (NO_ANSWER, AGENT_FAILED, AGENT_KILLED, MODEL_API_FAILED)
"""The codes of errors of the type `execution` whose cause Remit knows."""


class Artifact(NamedTuple):
    """A file that an agent reports. `kind` is canonical, `word` is what the agent wrote."""

    kind: str
    path: str
    summary: str | None = None
    key_points: tuple[str, ...] | None = None
    word: str = ""
    extra: Mapping[str, Any] = NOTHING
    named: str = ""
    """The path as the agent wrote it, if its format names files relative to another folder than the root."""


class AgentError(NamedTuple):
    """An error reported inside a return. `derived` names the fields that the agent didn't write."""

    type: str
    message: str
    code: str
    recoverable: bool
    recommendation: str
    details: str | None = None
    derived: frozenset[str] = frozenset()
    extra: Mapping[str, Any] = NOTHING


class Return(NamedTuple):
    """The return of an agent in canonical form, the same for every format.

    `word` is the status as the agent spelled it. `extra` and `metadata` contain unknown keys of the top level and of
    the agent's identity. `form` keeps spellings that have no meaning but must be written back unchanged in the
    format that the return was read from.
    """

    status: Status
    summary: str
    artifacts: tuple[Artifact, ...] = ()
    errors: tuple[AgentError, ...] = ()
    next_steps: tuple[str, ...] = ()
    agent: str | None = None
    session_id: str | None = None
    depth: int | None = None
    path: tuple[str, ...] | None = None
    duration_ms: float | None = None
    format: FormatName = "standard"
    word: str = ""
    metadata: Mapping[str, Any] = NOTHING
    extra: Mapping[str, Any] = NOTHING
    form: Mapping[str, Any] = NOTHING


class TextSpan(NamedTuple):
    """A range of a text: lines and columns counted from 1, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class TextEdit(NamedTuple):
    """One change to a text: the replacement for the text between two offsets."""

    start: int
    end: int
    content: str
    place: TextSpan | None = None


class Fix(NamedTuple):
    """How a diagnostic can be fixed. A safe fix doesn't change the meaning of the file."""

    applicability: Literal["safe", "unsafe"]
    message: str
    edits: tuple[TextEdit, ...]


class Diagnostic(NamedTuple):
    """A problem in a text. Every package that checks texts reports problems this way."""

    code: str
    severity: Severity
    message: str
    hint: str
    pointer: str = ""
    place: TextSpan | None = None
    fix: Fix | None = None


class JsonRepair(NamedTuple):
    """One change that turned invalid text into JSON. Every repair is recorded."""

    kind: str
    message: str
    place: TextSpan | None = None


FileState = Literal["file", "empty", "missing", "outside", "special", "unreadable"]


class ArtifactFacts(NamedTuple):
    """The state on disk of a path that an agent reported, when Remit checked it."""

    path: str
    state: FileState
    size_bytes: int | None = None


class Expectation(NamedTuple):
    """Facts about a run that are known before its return is read; None means unknown."""

    session_id: str | None = None
    agent: str | None = None
    kind: str | None = None
    depth: int | None = None
    path: tuple[str, ...] | None = None
    roots: tuple[str, ...] = ()
    """The folder that artifact paths are relative to, in each spelling."""
    shortens: bool = False
    """Whether a summary that is too long is shortened instead of refused."""
    instructed: str | None = None
    """The format that the agent was instructed in, if it may use another."""
    fills: bool = False
    """Whether Remit fills in agent, depth, path and duration if the return lacks them: it knows them from the run."""
    by_ticket: bool = False
    """Whether a ticket identifies the run, so that the return needs no session id."""
    data: DataSchema | None = None
    """The schema of the return's `data`; None if there is none."""

    def names_agent(self, name: object) -> bool:
        """Return whether a name means the agent: the harness's, or without its plugin the agent file's."""
        return self.agent is None or name in (self.agent, self.agent.rpartition(":")[2])


class Verdict:
    """The verdict on a final message, with its reasons, and the return if there is one."""

    def __init__(
        self,
        name: VerdictName,
        *,
        payload: dict[str, Any] | None = None,
        format: FormatName | None = None,
        transport: Transport | None = None,
        diagnostics: tuple[Diagnostic, ...] = (),
        repairs: tuple[JsonRepair, ...] = (),
        returned: Return | None = None,
        evidence: Mapping[str, ArtifactFacts] = NOTHING,
    ) -> None:
        self.name = name
        self.payload = payload
        """The object in the message, as the agent wrote it."""
        self.format = format
        self.transport = transport
        self.diagnostics = diagnostics
        """All diagnostics, errors first."""
        self.repairs = repairs
        """The repairs that were needed to read the return."""
        self.returned = returned
        """The canonical return; None unless the verdict is accepted."""
        self.evidence = evidence

    @property
    def accepted(self) -> bool:
        """Return whether the return can be used, regardless of its status."""
        return self.name in ACCEPTABLE

    def __repr__(self) -> str:
        status = self.returned.status if self.returned else None
        return f"<Verdict {self.name} format={self.format} status={status}>"

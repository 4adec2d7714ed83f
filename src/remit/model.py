"""Values that every package uses: returns, diagnostics, fixes, repairs, artifact facts and verdicts.

Nothing here reads a file or parses a text. JSON keys of each format are in `returns.formats`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


Status = Literal["completed", "partial", "failed", "blocked"]
Severity = Literal["error", "warning", "note"]
FormatName = Literal["standard", "hyper", "manifest"]
Transport = Literal["message", "block", "manifest", "file"]
VerdictName = Literal[
    "accepted", "repaired", "missing", "malformed", "invalid", "ambiguous", "degenerate", "fabricated", "unproven",
]  # fmt: skip
ACCEPTABLE: tuple[VerdictName, ...] = ("accepted", "repaired")
"""The outcomes of a return that holds."""

STATUSES: tuple[Status, ...] = ("completed", "partial", "failed", "blocked")
NOTHING: Mapping[str, Any] = MappingProxyType({})
MAX_DEPTH = 3
"""How deep delegations may be nested, wherever that is judged."""

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
    "execution": "UNKNOWN_ERROR",
    "validation_failure": "VALIDATION_FAILED",
    "file_operation_failure": "FILE_NOT_FOUND",
    "delegation_failure": "DELEGATION_FAILED",
    "git_failure": "GIT_COMMIT_FAILED",
}
"""Which code an error's type stands for where the agent gave none; the list is open (R2.16)."""
NO_ANSWER, AGENT_FAILED, AGENT_KILLED = "NO_ANSWER", "AGENT_FAILED", "AGENT_KILLED"
MODEL_API_FAILED = "MODEL_API_FAILED"
CRASH_CODES = (NO_ANSWER, AGENT_FAILED, AGENT_KILLED, MODEL_API_FAILED)
"""The codes of errors of the type `execution` whose cause Remit knows."""


class Artifact(NamedTuple):
    """A file that an agent says it made. `kind` is canonical, `word` is what the agent wrote."""

    kind: str
    path: str
    summary: str | None = None
    key_points: tuple[str, ...] | None = None
    word: str = ""
    extra: Mapping[str, Any] = NOTHING
    named: str = ""
    """The path as the agent wrote it, if its format names files from another folder than the root."""


class AgentError(NamedTuple):
    """An error reported inside a return. `derived` names the fields that the agent did not write."""

    type: str
    message: str
    code: str
    recoverable: bool
    recommendation: str
    details: str | None = None
    derived: frozenset[str] = frozenset()
    extra: Mapping[str, Any] = NOTHING


class Return(NamedTuple):
    """The canonical answer of an agent, the same for every format.

    `word` is the status as the agent spelled it. `extra` and `metadata` hold keys that Remit does not know,
    at the top and beside the agent's identity. `form` remembers choices of spelling that mean nothing but must
    come back unchanged when the return is written in the format it was read from.
    """

    status: Status
    summary: str
    artifacts: tuple[Artifact, ...] = ()
    faults: tuple[AgentError, ...] = ()
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
    """Where in a text: first and last character, lines and columns counted from 1, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class TextEdit(NamedTuple):
    """One change to a text: what stands between two offsets becomes something else."""

    start: int
    end: int
    content: str
    place: TextSpan | None = None


class Fix(NamedTuple):
    """How a finding can be put right. A safe one changes nothing that the file means."""

    applicability: Literal["safe", "unsafe"]
    message: str
    edits: tuple[TextEdit, ...]


class Diagnostic(NamedTuple):
    """What Remit says about a text. Shared by every room that checks something."""

    code: str
    severity: Severity
    message: str
    hint: str
    pointer: str = ""
    place: TextSpan | None = None
    fix: Fix | None = None


class JsonRepair(NamedTuple):
    """One change that turned broken text into JSON; nothing is repaired without one of these."""

    kind: str
    message: str
    place: TextSpan | None = None


FileState = Literal["file", "empty", "missing", "outside", "special", "unreadable"]


class ArtifactFacts(NamedTuple):
    """What is on disk at the path an agent named, at the time somebody looked."""

    path: str
    state: FileState
    size_bytes: int | None = None


class Expectation(NamedTuple):
    """What the caller knows of the delegation before it reads the return; None means not known."""

    session_id: str | None = None
    agent: str | None = None
    kind: str | None = None
    depth: int | None = None
    path: tuple[str, ...] | None = None
    roots: tuple[str, ...] = ()
    """The folder that artifacts are named from, in each of its spellings."""
    shortens: bool = False
    """Whether a summary that is too long is shortened instead of refused."""
    instructed: str | None = None
    """The format that the agent was instructed in, if it may use another."""

    def names_agent(self, name: object) -> bool:
        """Return whether a name is the agent's: the harness's, or without its plugin that of the agent's file."""
        return self.agent is None or name in (self.agent, self.agent.rpartition(":")[2])


class Verdict:
    """What became of a final message: an outcome, the reasons for it, and the return if there is one."""

    def __init__(
        self,
        name: VerdictName,
        *,
        payload: dict[str, Any] | None = None,
        format: FormatName | None = None,
        transport: Transport | None = None,
        findings: tuple[Diagnostic, ...] = (),
        repairs: tuple[JsonRepair, ...] = (),
        returned: Return | None = None,
        evidence: Mapping[str, ArtifactFacts] = NOTHING,
    ) -> None:
        self.name = name
        self.payload = payload
        """The object that was found, as the agent wrote it."""
        self.format = format
        self.transport = transport
        self.findings = findings
        """All diagnostics, errors first."""
        self.repairs = repairs
        """What had to be repaired before the return could be read."""
        self.returned = returned
        """The canonical return; None unless the verdict is accepted."""
        self.evidence = evidence

    @property
    def accepted(self) -> bool:
        """Return whether the return can be used, whatever its status word says."""
        return self.name in ACCEPTABLE

    def __repr__(self) -> str:
        status = self.returned.status if self.returned else None
        return f"<Verdict {self.name} format={self.format} status={status}>"

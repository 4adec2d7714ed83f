"""A parsed message: a final message and the return in it, as the rules read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.model import NOTHING, Expectation, JsonRepair
from remit.positions import LineIndex, locate
from remit.returns.rules import ReturnViolation, run_return_rules
from remit.returns.rules.register import MAX_PROBLEMS
from remit.returns.shapes import find_escape
from remit.returns.tolerant_json import REPAIRS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.model import ArtifactFacts, Diagnostic, Return, Severity, Status, TextSpan, Transport
    from remit.returns.formats import Format
    from remit.returns.rules import ParseIssue, ParseIssueKind
    from remit.returns.shapes import ShapeProblem

_NOTHING_KNOWN = Expectation()
_ABSENT = ("missing", "expected")
FILLED = frozenset({
    "/metadata/agent_type", "/metadata/delegation_depth", "/metadata/delegation_path", "/metadata/duration_seconds",
    "/meta/agent_name", "/meta/execution_time_ms",
})  # fmt: skip
"""What Remit fills in for a run, as JSON Pointers. A value that is there is checked."""


class ParsedMessage:
    """A message, the return in it (if there is one), the problems of parsing it, and the caller's expectation."""

    __slots__ = (
        "_lines",
        "_problems",
        "after",
        "evidence",
        "expectation",
        "final",
        "findings_text",
        "issues",
        "located",
        "marked",
        "payload",
        "repairs",
        "reply_status",
        "return_format",
        "spans",
        "text",
        "transport",
        "words",
    )  # fmt: skip

    def __init__(
        self,
        text: str,
        return_format: Format | None,
        payload: dict[str, Any] | None = None,
        issues: tuple[ParseIssue, ...] = (),
        spans: Mapping[str, tuple[int, int]] = NOTHING,
        *,
        located: bool = True,
        marked: bool = False,
        expectation: Expectation = _NOTHING_KNOWN,
        words: Mapping[str, Status] = NOTHING,
        evidence: Mapping[str, ArtifactFacts] = NOTHING,
        repairs: tuple[tuple[str, int], ...] = (),
    ) -> None:
        self.text = text
        self.return_format = return_format
        self.payload = payload
        self.issues = issues
        self.spans = spans
        """The position of each value in `text`, by JSON Pointer."""
        self.located = located
        """Whether positions refer to the message itself; they don't if the return had to be unwrapped."""
        self.marked = marked
        """Whether the return is between the output markers (`hyper` only)."""
        self.expectation = expectation
        self.words = words
        """The workspace's own status words."""
        self.evidence = evidence
        self.repairs = repairs
        """Each repair and its position."""
        self.transport: Transport | None = None
        self.reply_status: str | None = None
        """The status word of the reply sentence (`manifest` only)."""
        self.findings_text: str | None = None
        """The text of the findings file (`manifest` only)."""
        self.after: tuple[int, int] | None = None
        """The position of the first sentence after the return."""
        self.final = ""
        """The first sentence of the final message, if the return was submitted separately."""
        self._problems: tuple[ShapeProblem, ...] | None = None
        self._lines: LineIndex | None = None

    # What the rules read

    @property
    def word(self) -> object:
        """The status as the agent wrote it."""
        return self.return_format.word(self.payload) if self.return_format and self.payload is not None else None

    @property
    def status(self) -> Status | None:
        """The canonical status; None if the word is unknown."""
        word = self.word
        if not isinstance(word, str) or self.return_format is None:
            return None
        return self.return_format.statuses.get(word) or self.words.get(word)

    @property
    def missing_severity(self) -> Severity:
        """Severity of a missing file: an error only if the return is completed."""
        return "error" if self.status in ("completed", None) else "warning"

    @property
    def problems(self) -> tuple[ShapeProblem, ...]:
        """All differences between the object and its shape, except those that other rules report.

        A status word that the workspace maps is valid. A placeholder is reported only as a placeholder. In a run, what
        Remit fills in may be missing.
        """
        if self._problems is None:
            reported = {issue.pointer for issue in self.issues if issue.kind == "template"}
            mapped = (
                "/" + "/".join(self.return_format.status_at) if self.return_format and self.status is not None else None
            )
            kept: dict[str, list[ShapeProblem]] = {}
            for problem in self.return_format.shape.problems(self.payload, "") if self.return_format else ():
                same = kept.setdefault(problem.kind, [])
                known = problem.pointer in reported or (problem.kind == "word" and problem.pointer == mapped)
                known = known or (self.expectation.fills and problem.pointer in FILLED and problem.kind in _ABSENT)
                if not known and len(same) < MAX_PROBLEMS:
                    same.append(problem)
            self._problems = tuple(problem for same in kept.values() for problem in same)
        return self._problems

    def forget_problems(self) -> None:
        """Have `problems` computed again on its next use."""
        self._problems = None

    def get(self, *keys: str) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value at a path of keys, or None."""
        value: Any = self.payload
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def text_at(self, *keys: str) -> str:
        """Return the text at a path of keys; empty if there is none."""
        value = self.get(*keys)
        return value if isinstance(value, str) else ""

    def items_at(self, key: str) -> list[Any]:
        """Return the list at a key; empty if there is none."""
        value = self.get(key)
        return value if isinstance(value, list) else []

    def has_format(self, *names: str) -> bool:
        """Whether the return is in one of these formats."""
        return self.return_format is not None and self.return_format.name in names

    def list_issues(self, kind: ParseIssueKind) -> Iterator[ReturnViolation]:
        """Yield all parse issues of one kind, as violations."""
        for issue in self.issues:
            if issue.kind == kind:
                span = None if issue.start is None else (issue.start, issue.end or issue.start)
                yield ReturnViolation(issue.message, issue.hint, issue.pointer, span=span)

    def find_place(self, violation: ReturnViolation) -> TextSpan | None:
        """Return lines and columns of a violation; if the value is missing, those of its nearest parent."""
        # A reply is in the message even if its entry isn't.
        if not self.located and (violation.span is None or not self.has_format("manifest")):
            return None
        if self._lines is None:
            self._lines = LineIndex(self.text)
        find = self._lines.locate
        if violation.span is not None:
            return find(*violation.span)
        spans, pointer = self.spans, violation.pointer
        if pointer in spans:
            return find(*spans[pointer])
        while pointer and pointer not in spans:
            pointer = pointer.rpartition("/")[0]
        return find(spans[pointer][0], spans[pointer][0] + 1) if pointer in spans else None

    # What follows from it

    @property
    def paths(self) -> list[str]:
        """The files that the return claims, as written, except paths that lead outside the project."""
        if self.return_format is None or self.payload is None:
            return []
        return [path for _, path in self.return_format.paths(self.payload) if find_escape(path) is None]

    def explain(self) -> tuple[Diagnostic, ...]:
        """Run every rule and return the diagnostics."""
        return tuple(run_return_rules(self))

    def list_repairs(self) -> tuple[JsonRepair, ...]:
        """Return each kind of repair once, with the position of its first use."""
        first: dict[str, int] = {}
        for kind, at in self.repairs:
            first.setdefault(kind, at)
        return tuple(
            JsonRepair(kind, REPAIRS[kind], locate(self.text, at, at) if self.located else None)
            for kind, at in first.items()
        )

    def build(self) -> Return:
        """Build the canonical return. The caller's values for agent, depth and path win over the agent's (R0.7)."""
        if self.return_format is None or self.payload is None:
            raise ValueError("only an accepted message has a return")
        returned = self.return_format.read(self.payload)
        known = self.expectation
        changes: dict[str, Any] = {
            name: value
            for name, value in (("agent", known.agent), ("depth", known.depth), ("path", known.path))
            if value is not None
        }
        if returned.word in self.words:
            changes["status"] = self.words[returned.word]
        return returned._replace(**changes) if changes else returned

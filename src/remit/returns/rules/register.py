"""Register of the rules on returns (RET…), and what a rule can read.

A rule is a short function whose docstring is its published page. It yields violations, and the register adds code and
severity. Codes are stable: a retired code is never used again.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING, Diagnostic, Expectation
from remit.positions import LineIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from remit.model import ArtifactFacts, Severity, Status, TextSpan, VerdictName
    from remit.returns.formats import Format
    from remit.returns.shapes import ShapeProblem

_NOTHING_KNOWN = Expectation()
MAX_PROBLEMS = 100
"""Maximum diagnostics of one kind; one is enough to refuse a return."""

ParseIssueKind = Literal[
    "absent", "empty", "too_big", "unreadable", "cut", "nonfinite", "conflict", "contradiction", "thinking", "quoted",
    "template", "return_format", "reply", "no_entry", "bad_line", "rival",
]  # fmt: skip


class ParseIssue(NamedTuple):
    """A problem found while searching for the return, before any rule ran."""

    kind: ParseIssueKind
    message: str
    hint: str
    start: int | None = None
    end: int | None = None
    pointer: str = ""


class ReturnViolation(NamedTuple):
    """A violation of a rule; the register makes a diagnostic of it."""

    message: str
    hint: str
    pointer: str = ""
    severity: Severity | None = None
    span: tuple[int, int] | None = None


class ReturnContext:
    """What the rules can read: the object, if there is one, its message, and what the caller knows."""

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
        "reply_status",
        "return_format",
        "spans",
        "text",
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
        reply_status: str | None = None,
        findings_text: str | None = None,
        after: tuple[int, int] | None = None,
        final: str = "",
    ) -> None:
        self.text = text
        self.return_format = return_format
        self.payload = payload
        self.issues = issues
        self.spans = spans
        """Where in the text each value stands."""
        self.located = located
        """Whether offsets are offsets into the message itself (not so once it had to be unwrapped)."""
        self.marked = marked
        self.expectation = expectation
        self.words = words
        self.evidence = evidence
        self.reply_status = reply_status
        """The status word of the reply sentence (`manifest` only)."""
        self.findings_text = findings_text
        """The text of the findings file (`manifest` only)."""
        self.after = after
        """Where the first sentence after the return stands."""
        self.final = final
        """The first sentence of the final message, if the return was handed in apart from it."""
        self._problems: tuple[ShapeProblem, ...] | None = None
        self._lines: LineIndex | None = None

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

        A status word that the workspace maps is valid. A placeholder is reported only as a placeholder.
        """
        if self._problems is None:
            said = {issue.pointer for issue in self.issues if issue.kind == "template"}
            mapped = (
                "/" + "/".join(self.return_format.status_at) if self.return_format and self.status is not None else None
            )
            kept: dict[str, list[ShapeProblem]] = {}
            for problem in self.return_format.shape.problems(self.payload, "") if self.return_format else ():
                same = kept.setdefault(problem.kind, [])
                known = problem.pointer in said or (problem.kind == "word" and problem.pointer == mapped)
                if not known and len(same) < MAX_PROBLEMS:
                    same.append(problem)
            self._problems = tuple(problem for same in kept.values() for problem in same)
        return self._problems

    def get(self, *keys: str) -> Any:  # noqa: ANN401 - any JSON value
        """The value at a path of keys, or None."""
        value: Any = self.payload
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def text_at(self, *keys: str) -> str:
        """The text at a path of keys; empty if there is none."""
        value = self.get(*keys)
        return value if isinstance(value, str) else ""

    def items_at(self, key: str) -> list[Any]:
        """The list at a key; empty if there is none."""
        value = self.get(key)
        return value if isinstance(value, list) else []

    def has_format(self, *names: str) -> bool:
        """Whether the return is in one of these formats."""
        return self.return_format is not None and self.return_format.name in names

    def list_issues(self, kind: ParseIssueKind) -> Iterator[ReturnViolation]:
        """All parse issues of one kind, as violations."""
        for issue in self.issues:
            if issue.kind == kind:
                span = None if issue.start is None else (issue.start, issue.end or issue.start)
                yield ReturnViolation(issue.message, issue.hint, issue.pointer, span=span)

    def find_place(self, report: ReturnViolation) -> TextSpan | None:
        """Return lines and columns of a violation; if the value is missing, those of its nearest parent."""
        # A reply is in the message even if its entry isn't.
        if not self.located and (report.span is None or not self.has_format("manifest")):
            return None
        if self._lines is None:
            self._lines = LineIndex(self.text)
        locate = self._lines.locate
        if report.span is not None:
            return locate(*report.span)
        spans = self.spans
        if report.pointer in spans:
            return locate(*spans[report.pointer])
        pointer = report.pointer
        while pointer and pointer not in spans:
            pointer = pointer.rpartition("/")[0]
        return locate(spans[pointer][0], spans[pointer][0] + 1) if pointer in spans else None


class ReturnRule(NamedTuple):
    """A rule on returns."""

    code: str
    name: str
    severity: Severity
    verdict: VerdictName
    documentation: str
    check: Callable[[ReturnContext], Iterator[ReturnViolation]]
    on_reading: bool


RETURN_RULES: dict[str, ReturnRule] = {}


def return_rule(
    code: str,
    *,
    severity: Severity = "error",
    verdict: VerdictName = "invalid",
    on_reading: bool = False,
) -> Callable[
    [Callable[[ReturnContext], Iterator[ReturnViolation]]], Callable[[ReturnContext], Iterator[ReturnViolation]]
]:
    """Register a function as a rule. `on_reading`: the rule also runs if the message has no object."""

    def register(
        check: Callable[[ReturnContext], Iterator[ReturnViolation]],
    ) -> Callable[[ReturnContext], Iterator[ReturnViolation]]:
        if code in RETURN_RULES:
            raise ValueError(f"two rules are called {code}")
        name = check.__name__.replace("_", "-")
        RETURN_RULES[code] = ReturnRule(code, name, severity, verdict, check.__doc__ or "", check, on_reading)
        return check

    return register


def run_return_rules(
    case: ReturnContext, *, places: bool = True, codes: Iterable[str] | None = None
) -> list[Diagnostic]:
    """Run all rules, or those in `codes`, and return diagnostics: errors first, then in text order.

    Without `places`, the text isn't scanned for line numbers.
    """
    findings = []
    for each in RETURN_RULES.values() if codes is None else [RETURN_RULES[code] for code in codes]:
        if case.payload is None and not each.on_reading:
            continue
        for report in islice(each.check(case), MAX_PROBLEMS):
            severity = report.severity or each.severity
            place = case.find_place(report) if places else None
            findings.append(Diagnostic(each.code, severity, report.message, report.hint, report.pointer, place))
    order = {"error": 0, "warning": 1, "note": 2}
    findings.sort(key=lambda f: (order[f.severity], f.place.line if f.place else 0, f.place.column if f.place else 0))
    return findings


_PRECEDENCE: tuple[VerdictName, ...] = ("missing", "malformed", "ambiguous", "degenerate", "invalid", "fabricated")


def name_verdict(findings: Iterable[Diagnostic]) -> VerdictName:
    """Return the verdict for a list of diagnostics: the most severe error decides."""
    verdicts = {RETURN_RULES[finding.code].verdict for finding in findings if finding.severity == "error"}
    return next((verdict for verdict in _PRECEDENCE if verdict in verdicts), "accepted")

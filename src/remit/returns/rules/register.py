"""The register of rules, and the case that they look at.

A rule is a short function whose docstring is its published documentation; it yields reports,
and the register stamps code and severity on them. Codes are stable: one that is retired is not used
again. RET0xx are the contract's.
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
"""Of one kind: nobody reads more, and one is enough to refuse a return."""

ParseIssueKind = Literal[
    "absent", "empty", "too_big", "unreadable", "cut", "nonfinite", "conflict", "contradiction", "thinking", "quoted",
    "template", "return_format", "reply", "no_entry", "bad_line", "rival",
]  # fmt: skip


class ParseIssue(NamedTuple):
    """What went wrong while the return was looked for, before any rule could read it."""

    kind: ParseIssueKind
    message: str
    hint: str
    start: int | None = None
    end: int | None = None
    pointer: str = ""


class ReturnViolation(NamedTuple):
    """What a rule yields; the register turns it into a Finding."""

    message: str
    hint: str
    pointer: str = ""
    severity: Severity | None = None
    span: tuple[int, int] | None = None


class ReturnContext:
    """Everything that the rules may look at: one object (or none), and what is known around it."""

    __slots__ = (
        "_lines",
        "_problems",
        "after",
        "evidence",
        "expectation",
        "final",
        "findings_text",
        "located",
        "marked",
        "payload",
        "reply_status",
        "return_format",
        "spans",
        "text",
        "troubles",
        "words",
    )  # fmt: skip

    def __init__(
        self,
        text: str,
        return_format: Format | None,
        payload: dict[str, Any] | None = None,
        troubles: tuple[ParseIssue, ...] = (),
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
        self.troubles = troubles
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
        """The status in the canon; None where the word is not known."""
        word = self.word
        if not isinstance(word, str) or self.return_format is None:
            return None
        return self.return_format.statuses.get(word) or self.words.get(word)

    @property
    def missing_severity(self) -> Severity:
        """How grave a file is that is not there as claimed: only a completed return fails for it (C11)."""
        return "error" if self.status in ("completed", None) else "warning"

    @property
    def problems(self) -> tuple[ShapeProblem, ...]:
        """Where the object does not fit its shape, short of what was said already.

        A status word that the workspace maps is not held against it, and a blank is reported as a blank only.
        """
        if self._problems is None:
            said = {trouble.pointer for trouble in self.troubles if trouble.kind == "template"}
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
        """The value at a path of keys; None where there is none."""
        value: Any = self.payload
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def text_at(self, *keys: str) -> str:
        """The text at a path of keys; empty where there is none."""
        value = self.get(*keys)
        return value if isinstance(value, str) else ""

    def items_at(self, key: str) -> list[Any]:
        """The list at a key; empty where there is none."""
        value = self.get(key)
        return value if isinstance(value, list) else []

    def has_format(self, *names: str) -> bool:
        """Whether the return is in one of these formats."""
        return self.return_format is not None and self.return_format.name in names

    def list_issues(self, kind: ParseIssueKind) -> Iterator[ReturnViolation]:
        """What went wrong in one way while the return was looked for."""
        for trouble in self.troubles:
            if trouble.kind == kind:
                span = None if trouble.start is None else (trouble.start, trouble.end or trouble.start)
                yield ReturnViolation(trouble.message, trouble.hint, trouble.pointer, span=span)

    def find_place(self, report: ReturnViolation) -> TextSpan | None:
        """Where a report points to, in lines and columns; the nearest parent where the value itself is not there."""
        # A reply's own place is in the message, also where its entry is not.
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
    """A rule of the contract."""

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
    """Register a function as a rule. `on_reading`: it speaks of the message, not of an object found in it."""

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
    """Run every rule, or those named, over a case; errors first, then in the order of the text.

    Places cost a look through the text.
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
    """The one word for a list of findings: the gravest error decides, warnings do not."""
    verdicts = {RETURN_RULES[finding.code].verdict for finding in findings if finding.severity == "error"}
    return next((verdict for verdict in _PRECEDENCE if verdict in verdicts), "accepted")

"""The register of the rules on returns (RET…).

A rule is a short function that reads a parsed message and yields violations; the register adds code and severity. Its
docstring is its published page. Codes are stable: a retired code is never used again.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Literal

from remit.light_namedtuple import NamedTuple
from remit.model import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from remit.model import Severity, VerdictName
    from remit.returns.parsed_message import ParsedMessage

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


class ReturnRule(NamedTuple):
    """A rule on returns."""

    code: str
    name: str
    severity: Severity
    verdict: VerdictName
    documentation: str
    check: Callable[[ParsedMessage], Iterator[ReturnViolation]]
    on_reading: bool


RETURN_RULES: dict[str, ReturnRule] = {}


def return_rule(
    code: str,
    *,
    severity: Severity = "error",
    verdict: VerdictName = "invalid",
    on_reading: bool = False,
) -> Callable[
    [Callable[[ParsedMessage], Iterator[ReturnViolation]]], Callable[[ParsedMessage], Iterator[ReturnViolation]]
]:
    """Register a function as a rule. `on_reading`: the rule also runs if the message has no object."""

    def register(
        check: Callable[[ParsedMessage], Iterator[ReturnViolation]],
    ) -> Callable[[ParsedMessage], Iterator[ReturnViolation]]:
        if code in RETURN_RULES:
            raise ValueError(f"two rules are called {code}")
        name = check.__name__.replace("_", "-")
        RETURN_RULES[code] = ReturnRule(code, name, severity, verdict, check.__doc__ or "", check, on_reading)
        return check

    return register


def run_return_rules(
    parsed: ParsedMessage, *, places: bool = True, codes: Iterable[str] | None = None
) -> list[Diagnostic]:
    """Run all rules, or those in `codes`, and return diagnostics: errors first, then in text order, then by code.

    Without `places`, the text isn't scanned for line numbers.
    """
    parsed.forget_problems()  # the payload may have changed since rules ran last
    found = []
    for each in RETURN_RULES.values() if codes is None else [RETURN_RULES[code] for code in codes]:
        if parsed.payload is None and not each.on_reading:
            continue
        for report in islice(each.check(parsed), MAX_PROBLEMS):
            severity = report.severity or each.severity
            place = parsed.find_place(report) if places else None
            found.append(Diagnostic(each.code, severity, report.message, report.hint, report.pointer, place))
    order = {"error": 0, "warning": 1, "note": 2}
    found.sort(
        key=lambda each: (
            order[each.severity],
            *((each.place.line, each.place.column) if each.place else (0, 0)),
            each.code,
        )
    )
    return found


_PRECEDENCE: tuple[VerdictName, ...] = ("missing", "malformed", "ambiguous", "degenerate", "invalid", "fabricated")


def name_verdict(diagnostics: Iterable[Diagnostic]) -> VerdictName:
    """Return the verdict for a list of diagnostics: the most severe error decides."""
    verdicts = {RETURN_RULES[each.code].verdict for each in diagnostics if each.severity == "error"}
    return next((verdict for verdict in _PRECEDENCE if verdict in verdicts), "accepted")

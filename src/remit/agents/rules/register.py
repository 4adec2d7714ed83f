"""The register of rules on agent files.

A rule yields reports; the register adds code and severity to them. Each rule has a published page: what is
wrong, why it matters, bad, good, and what its fix does, if it has one. The page of a function that the decorator
registers is its docstring; the page of a rule from a table row is `agents/pages/CODE.md`.
Codes are stable: a retired one is not used again. AGT… are about one file, GRF… about all files together.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING, Diagnostic, Edit, Fix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from remit.agents.document import Document
    from remit.agents.frontmatter import Span
    from remit.agents.profiles import Profile
    from remit.model import Severity

MAX_REPORTS = 50
"""Of one rule in one file: nobody reads more."""

Applicability = Literal["safe", "unsafe"]


class Report(NamedTuple):
    """What a rule yields; the register turns it into a Finding."""

    message: str
    hint: str
    span: Span
    pointer: str = ""
    severity: Severity | None = None
    edits: tuple[tuple[int, int, str], ...] = ()
    """What would put it right: (start, end, new text), in the file's offsets."""
    fix_message: str = ""
    applicability: Applicability | None = None
    """Where this edit is less safe than the rule's fixes usually are, or safer."""


class Case(NamedTuple):
    """Everything that a rule may look at: one document, and facts from the disk as values."""

    document: Document
    sizes: Mapping[str, int | None] = NOTHING
    """For every context file that the document names: its size in bytes, None where it is not there. A path that is
    no key was not looked at."""

    @property
    def values(self) -> Mapping[str, Any]:
        """The frontmatter's values."""
        return self.document.values

    def get(self, *keys: str) -> Any:  # noqa: ANN401 - any YAML value
        """The frontmatter's value at a path of keys."""
        return self.document.get(*keys)


class Rule(NamedTuple):
    """A rule on agent files."""

    code: str
    name: str
    severity: Severity
    check: Callable[[Case], Iterator[Report]]
    profiles: tuple[Profile, ...]
    fix: Applicability | None
    """Whether the rule can put right what it finds, and how safe that is."""

    @property
    def documentation(self) -> str:
        """The rule's page: its function's docstring, or the file of a rule that is a table row."""
        return self.check.__doc__ or read_page(self.code)


def read_page(code: str) -> str:
    """The page of a rule that is a table row."""
    from pathlib import Path  # noqa: PLC0415 - only for explanations

    return (Path(__file__).parents[1] / "pages" / f"{code}.md").read_text("utf-8").strip()


RULES: dict[str, Rule] = {}
_BY_PROFILE: dict[Profile, tuple[Rule, ...]] = {}
ALL: tuple[Profile, ...] = ("standard", "claude", "opencode", "codex", "command")


def rule(
    code: str,
    *,
    severity: Severity = "error",
    profiles: tuple[Profile, ...] = ("standard",),
    fix: Applicability | None = None,
) -> Callable[[Callable[[Case], Iterator[Report]]], Callable[[Case], Iterator[Report]]]:
    """Register a function as a rule on the files of these profiles."""

    def register(check: Callable[[Case], Iterator[Report]]) -> Callable[[Case], Iterator[Report]]:
        name = check.__name__.replace("_", "-")
        add_rule(code, name, check, severity=severity, profiles=profiles, fix=fix)
        return check

    return register


def add_rule(
    code: str,
    name: str,
    check: Callable[[Case], Iterator[Report]],
    *,
    severity: Severity = "error",
    profiles: tuple[Profile, ...] = ("standard",),
    fix: Applicability | None = None,
) -> None:
    """Register a table row as a rule. `check` has no docstring: the page is `agents/pages/CODE.md`."""
    if code in RULES:
        raise ValueError(f"two rules are called {code}")
    RULES[code] = Rule(code, name, severity, check, profiles, fix)


def run_rules(case: Case) -> list[Diagnostic]:
    """Run every rule of the document's profile."""
    profile = case.document.profile
    if profile not in _BY_PROFILE:
        # By code: in which order the modules were loaded must not show.
        _BY_PROFILE[profile] = tuple(rule for _, rule in sorted(RULES.items()) if profile in rule.profiles)
    findings = []
    for each in _BY_PROFILE[profile]:
        findings += [stamp(each, report, case.document) for report in islice(each.check(case), MAX_REPORTS)]
    return findings


def stamp(rule: Rule, report: Report, document: Document) -> Diagnostic:
    """A report as a finding."""
    fix = None
    if report.edits:
        edits = tuple(Edit(*edit, document.locate(edit[:2])) for edit in sorted(report.edits))
        fix = Fix(report.applicability or rule.fix or "unsafe", report.fix_message or report.hint, edits)
    return Diagnostic(rule.code, report.severity or rule.severity, report.message, report.hint,
                   report.pointer, document.locate(report.span), fix)  # fmt: skip

"""Register of the rules on agent files (AGT…), and the modules that have them.

A rule yields violations, and the register adds code and severity. Each rule has a published page: what is wrong, why
it matters, bad, good, and its fix. The page of a decorated function is its docstring; the page of a rule from a table
is `agents/pages/CODE.md`. Codes are stable: a retired code is never used again.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING, Diagnostic, Fix, TextEdit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from remit.agents.document import AgentDocument
    from remit.agents.frontmatter import Span
    from remit.agents.profiles import Profile
    from remit.model import Severity


MAX_REPORTS = 50
"""Maximum diagnostics of one rule in one file."""

Applicability = Literal["safe", "unsafe"]


class AgentViolation(NamedTuple):
    """A violation of a rule; the register makes a diagnostic of it."""

    message: str
    hint: str
    span: Span
    pointer: str = ""
    severity: Severity | None = None
    edits: tuple[tuple[int, int, str], ...] = ()
    """The fix: (start, end, new text), as offsets in the file."""
    fix_message: str = ""
    applicability: Applicability | None = None
    """Set if this fix is more or less safe than the rule's other fixes."""


class AgentFileContext(NamedTuple):
    """What a rule can read: one document, and facts about files as values."""

    document: AgentDocument
    sizes: Mapping[str, int | None] = NOTHING
    """Size in bytes of each context file, None if it doesn't exist. Paths that weren't checked have no entry."""

    @property
    def values(self) -> Mapping[str, Any]:
        """The frontmatter's values."""
        return self.document.values

    def get(self, *keys: str) -> Any:  # noqa: ANN401 - any YAML value
        """The frontmatter's value at a path of keys."""
        return self.document.get(*keys)


class AgentRule(NamedTuple):
    """A rule on agent files."""

    code: str
    name: str
    severity: Severity
    check: Callable[[AgentFileContext], Iterator[AgentViolation]]
    profiles: tuple[Profile, ...]
    fix: Applicability | None
    """Whether the rule has a fix, and how safe it is."""

    @property
    def documentation(self) -> str:
        """The rule's page: its function's docstring, or the file of a rule that is a table row."""
        return self.check.__doc__ or read_page(self.code)


def read_page(code: str) -> str:
    """The page of a rule that is a table row."""
    from pathlib import Path  # noqa: PLC0415 - only for explanations

    return (Path(__file__).parents[1] / "pages" / f"{code}.md").read_text("utf-8").strip()


AGENT_RULES: dict[str, AgentRule] = {}
_BY_PROFILE: dict[Profile, tuple[AgentRule, ...]] = {}
ALL: tuple[Profile, ...] = ("standard", "claude", "opencode", "codex", "command")


def agent_rule(
    code: str,
    *,
    severity: Severity = "error",
    profiles: tuple[Profile, ...] = ("standard",),
    fix: Applicability | None = None,
) -> Callable[
    [Callable[[AgentFileContext], Iterator[AgentViolation]]], Callable[[AgentFileContext], Iterator[AgentViolation]]
]:
    """Register a function as a rule on the files of these profiles."""

    def register(
        check: Callable[[AgentFileContext], Iterator[AgentViolation]],
    ) -> Callable[[AgentFileContext], Iterator[AgentViolation]]:
        name = check.__name__.replace("_", "-")
        add_rule(code, name, check, severity=severity, profiles=profiles, fix=fix)
        return check

    return register


def add_rule(
    code: str,
    name: str,
    check: Callable[[AgentFileContext], Iterator[AgentViolation]],
    *,
    severity: Severity = "error",
    profiles: tuple[Profile, ...] = ("standard",),
    fix: Applicability | None = None,
) -> None:
    """Register a table row as a rule. `check` has no docstring: the page is `agents/pages/CODE.md`."""
    if code in AGENT_RULES:
        raise ValueError(f"two rules are called {code}")
    AGENT_RULES[code] = AgentRule(code, name, severity, check, profiles, fix)


def run_agent_rules(case: AgentFileContext) -> list[Diagnostic]:
    """Run every rule of the document's profile."""
    profile = case.document.profile
    if profile not in _BY_PROFILE:
        load_rules(profile)
        # By code: in which order the modules were loaded must not show.
        _BY_PROFILE[profile] = tuple(each for _, each in sorted(AGENT_RULES.items()) if profile in each.profiles)
    findings = []
    for each in _BY_PROFILE[profile]:
        findings += [make_diagnostic(each, report, case.document) for report in islice(each.check(case), MAX_REPORTS)]
    return findings


def make_diagnostic(rule: AgentRule, report: AgentViolation, document: AgentDocument) -> Diagnostic:
    """A report as a finding."""
    fix = None
    if report.edits:
        edits = tuple(TextEdit(*edit, document.locate(edit[:2])) for edit in sorted(report.edits))
        fix = Fix(report.applicability or rule.fix or "unsafe", report.fix_message or report.hint, edits)
    return Diagnostic(rule.code, report.severity or rule.severity, report.message, report.hint,
                      report.pointer, document.locate(report.span), fix)  # fmt: skip


# --- loading ---------------------------------------------------------------------------------------------------------

_MARKDOWN = ("parsing", "yaml_values", "tokens")
MODULES: dict[Profile, tuple[str, ...]] = {
    "standard": (
        *_MARKDOWN, "body", "context", "delegation", "error_handling", "outputs", "permissions", "sections",
        "standard_fields", "steps", "tools",
    ),
    "claude": (*_MARKDOWN, "claude", "permissions", "tools"),
    "opencode": (*_MARKDOWN, "opencode", "permissions", "tools"),
    "codex": ("parsing", "codex"),
    "command": (*_MARKDOWN, "command"),
}  # fmt: skip
"""The modules that have rules for each profile."""
_loaded: set[Profile] = set()


def load_rules(profile: Profile) -> None:
    """Load the modules that have rules for files of a profile."""
    if profile in _loaded:
        return
    from importlib import import_module  # noqa: PLC0415 - only once a file has to be judged

    for name in MODULES[profile]:
        import_module(f"{__package__}.{name}")
    _loaded.add(profile)


def load_all_rules() -> dict[str, AgentRule]:
    """Load every rule on a single file and return all by code."""
    for profile in MODULES:
        load_rules(profile)
    return AGENT_RULES


RETIRED = {
    "AGT089": (
        "It looked for words such as `session`, `depth` and `deadline` in the context of a delegation. Remit "
        "passes the session id, depth, path and timeout on itself."
    ),
    "AGT153": (
        "It looked for words such as `check` and `status` in the preflight step. AGT142 and AGT145 check that"
        " the step is there and complete; Remit validates the inputs and moves the status itself."
    ),
    "AGT154": (
        "It looked for words such as `status` and `commit` in the postflight step. AGT142 and AGT146 check "
        "that the step is there and complete; Remit does what a postflight leaves out."
    ),
    "AGT155": (
        "It looked for words such as `format` and `verify` in the return step. AGT142 and AGT147 check that "
        "the step is there and complete; Remit validates each return."
    ),
    "AGT159": (
        "It looked for words such as `phase`, `estimate` and `registry` in the body of an agent of each kind."
        " Remit checks the artifacts of each kind when a command ends."
    ),
}
"""What each rule looked for, and what checks it now."""

"""Register of the rules on agent files (AGT…), and of the modules that define them.

A rule yields violations, and the register adds code and severity. Each rule has a published page: the problem, why it
matters, a bad and a good example, and the fix. The page of a decorated function is its docstring; the page of a table
row is `agents/pages/CODE.md`. Codes are stable: a retired code is never reused.
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
    """The safety of this fix if it differs from the rule's."""


class AgentFileContext(NamedTuple):
    """The input of a rule: a document, and facts about files."""

    document: AgentDocument
    sizes: Mapping[str, int | None] = NOTHING
    """The size of each context file in bytes, None if it doesn't exist. Unchecked paths have no entry."""

    @property
    def values(self) -> Mapping[str, Any]:
        """The frontmatter's values."""
        return self.document.values

    def get(self, *keys: str) -> Any:  # noqa: ANN401 - any YAML value
        """Return the frontmatter's value at a path of keys, or None."""
        return self.document.get(*keys)


class AgentRule(NamedTuple):
    """A rule on agent files."""

    code: str
    name: str
    severity: Severity
    check: Callable[[AgentFileContext], Iterator[AgentViolation]]
    profiles: tuple[Profile, ...]
    fix: Applicability | None
    """The safety of the rule's fix, or None without a fix."""

    @property
    def documentation(self) -> str:
        """The rule's page: the docstring of its function, or the page file of a table row."""
        return self.check.__doc__ or read_page(self.code)


def read_page(code: str) -> str:
    """Return the page of a rule that is a table row."""
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
    """Run all rules of a document's profile."""
    profile = case.document.profile
    if profile not in _BY_PROFILE:
        load_rules(profile)
        # Sorted by code, so that the order of imports doesn't matter.
        _BY_PROFILE[profile] = tuple(each for _, each in sorted(AGENT_RULES.items()) if profile in each.profiles)
    diagnostics = []
    for each in _BY_PROFILE[profile]:
        diagnostics += [
            make_diagnostic(each, report, case.document) for report in islice(each.check(case), MAX_REPORTS)
        ]
    return diagnostics


def make_diagnostic(rule: AgentRule, report: AgentViolation, document: AgentDocument) -> Diagnostic:
    """Make a diagnostic of a violation."""
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
        *_MARKDOWN, "body", "context", "data", "delegation", "error_handling", "outputs", "permissions", "sections",
        "standard_fields", "steps", "tools",
    ),
    "claude": (*_MARKDOWN, "claude", "data", "permissions", "tools"),
    "opencode": (*_MARKDOWN, "opencode", "permissions", "tools"),
    "codex": ("parsing", "codex"),
    "command": (*_MARKDOWN, "command"),
}  # fmt: skip
"""The modules with rules for each profile."""
_loaded: set[Profile] = set()


def load_rules(profile: Profile) -> None:
    """Import the modules with rules for a profile."""
    if profile in _loaded:
        return
    from importlib import import_module  # noqa: PLC0415 - only once a file is checked

    for name in MODULES[profile]:
        import_module(f"{__package__}.{name}")
    _loaded.add(profile)


def load_all_rules() -> dict[str, AgentRule]:
    """Import all rules on single files, and return them by code."""
    for profile in MODULES:
        load_rules(profile)
    return AGENT_RULES


RETIRED = {
    "AGT089": (
        "It searched the context of a delegation for words such as `session`, `depth` and `deadline`. Remit "
        "passes the session id, depth, path and timeout on itself."
    ),
    "AGT153": (
        "It searched the preflight step for words such as `check` and `status`. AGT142 and AGT145 check that"
        " the step is there and complete; Remit validates the inputs and moves the status itself."
    ),
    "AGT154": (
        "It searched the postflight step for words such as `status` and `commit`. AGT142 and AGT146 check "
        "that the step is there and complete; Remit does what a postflight leaves out."
    ),
    "AGT155": (
        "It searched the return step for words such as `format` and `verify`. AGT142 and AGT147 check that "
        "the step is there and complete; Remit validates each return."
    ),
    "AGT159": (
        "It searched the body of each type of agent for words such as `phase`, `estimate` and `registry`."
        " Remit checks the artifacts of each kind when a command ends."
    ),
}
"""Codes that aren't used any more, each with the old rule and its replacement. Using them isn't an error."""

"""What every code means: the rules of all rooms, told alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.errors import UsageError
from remit.spelling import find_meant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from remit.agents.rules.all import Rule
    from remit.agents.rules.graph import GraphRule
    from remit.model import Diagnostic, Severity


STANDARDS = {
    "R0": "the return: one JSON object of status, summary, artifacts and metadata",
    "R1": "the agent file: frontmatter, sections, steps, permissions",
    "R2": "delegation: sessions, depth, timeouts, the walk of a command",
    "R3": "the output contract: the report between two markers",
    "R4": "the manifest: one line for each piece of findings, one sentence as a reply",
    "S": "the tasks around them: state.json, TODO.md, plans, commits, errors.json",
    "C": "where the standards disagree",
}
"""What the rules of the standards are about, by how their numbers begin."""


class Explanation(NamedTuple):
    """What there is to know about a code."""

    code: str
    name: str
    severity: Severity
    requirement: str
    outcome: str | None
    fix: str | None
    """Whether Remit can put it right, and how safe that is."""
    documentation: str


def explain(code: str) -> Explanation:
    """The documentation of a code, of a finding or of an error."""
    from remit.agents.rules.retired import RETIRED
    from remit.views.error_codes import explain_error

    known = {each.code: each for each in explain_all()}
    if code.upper() in known:
        return known[code.upper()]
    if was := RETIRED.get(code.upper()):
        return Explanation(code.upper(), "retired", "note", "", None, None, f"This rule is retired. {was}")
    if git_errors := explain_error(code.upper()):
        return Explanation(code.upper(), "error-code", "error", "", None, None, git_errors)
    meant = find_meant(code.upper(), known)
    hint = "remit explain lists them all" if meant is None else f"did you mean '{meant}'?"
    raise UsageError(f"there is no code '{code}'", hint=hint)


class Codes(NamedTuple):
    """The codes that a word stands for."""

    about: str
    """What the word is; empty where it is a code itself."""
    explanations: list[Explanation]


def find_codes(word: str) -> Codes:
    """The code that a word is, else those that hold a rule of the standards, else those that begin with the word."""
    known, sought = explain_all(), word.upper()
    held = [each for each in known if sought in each.requirement.split()]
    if held:
        about = next(text for start, text in STANDARDS.items() if sought.startswith(start))
        return Codes(f"{sought} is a rule of the standards, on {about}. The codes that hold it:", held)
    begun = [each for each in known if each.code.startswith(sought) and each.code != sought]
    return Codes(f"Codes that begin with {sought}:", begun) if sought and begun else Codes("", [explain(word)])


def explain_all() -> list[Explanation]:
    """The documentation of every code, in order."""
    from inspect import cleandoc

    found = [*_explain_messages(), *_explain_agent_files(), *_explain_workspace(), *_explain_delegations()]
    return sorted(each._replace(documentation=cleandoc(each.documentation)) for each in found)


def _explain_messages() -> Iterator[Explanation]:
    from remit.returns.convert import TOLD
    from remit.returns.rules import RULES

    for each in RULES.values():
        yield Explanation(each.code, each.name, each.severity, each.requirement, each.outcome, None, each.documentation)
    for code, (tell, severity) in TOLD.items():
        yield Explanation(code, tell.__name__, severity, "C3 C5 C6", None, None, tell.__doc__ or "")


def _explain_agent_files() -> Iterator[Explanation]:
    from remit.agents import compile as compilation
    from remit.agents import ignores
    from remit.agents.rules.all import RULES
    from remit.agents.rules.graph import GRAPH_RULES

    rules: list[Rule | GraphRule] = [*RULES.values(), *GRAPH_RULES.values()]
    for each in rules:
        yield Explanation(each.code, each.name, each.severity, each.requirement, None, each.fix, each.documentation)
    for code, (tell, severity, fix) in ignores.TOLD.items():
        name = tell.__name__.replace("_", "-")
        yield Explanation(code, name, severity, "C17", None, fix, tell.__doc__ or "")
    for code, (warn, severity) in compilation.DIAGNOSTICS.items():
        yield Explanation(code, warn.__name__.replace("_", "-"), severity, "R1.2 R1.3", None, None, warn.__doc__ or "")


def _explain_workspace() -> Iterator[Explanation]:
    from remit.errorlog import document
    from remit.git import git_errors
    from remit.manifest import findings_file, tokens
    from remit.returns import manifest_lines
    from remit.storage import activity_frontmatter, trust
    from remit.tasks import drift

    for room in (manifest_lines, findings_file, tokens, drift, document, activity_frontmatter, git_errors, trust):
        yield from _explain_told(room.TOLD)


def _explain_delegations() -> Iterator[Explanation]:
    from remit.runs import choose_agent
    from remit.runs.admission import inputs, limits
    from remit.runs.finish import finish
    from remit.runs.judging import judge

    for room in (choose_agent, inputs, judge, limits, finish):
        yield from _explain_told(room.TOLD)


def _explain_told(told: Mapping[str, tuple[Callable[..., Diagnostic], Severity, str]]) -> Iterator[Explanation]:
    for code, (tell, severity, requirement) in told.items():
        yield Explanation(code, tell.__name__.replace("_", "-"), severity, requirement, None, None, tell.__doc__ or "")

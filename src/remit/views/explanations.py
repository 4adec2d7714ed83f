"""What every code means: the explanations of all rules and diagnostics, in one shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.errors import UsageError
from remit.spelling import find_similar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from remit.agents.rules.graph import GraphRule
    from remit.agents.rules.register import AgentRule
    from remit.model import Diagnostic, Severity


class Explanation(NamedTuple):
    """The explanation of one code."""

    code: str
    name: str
    severity: Severity
    verdict: str | None
    fix: str | None
    """Whether Remit can fix it, and how safe the fix is."""
    documentation: str


def explain(code: str) -> Explanation:
    """The explanation of a code of a diagnostic or of an error."""
    from remit.agents.rules.register import RETIRED
    from remit.views.error_codes import explain_error

    known = {each.code: each for each in explain_all()}
    if code.upper() in known:
        return known[code.upper()]
    if was := RETIRED.get(code.upper()):
        return Explanation(code.upper(), "retired", "note", None, None, f"This rule is retired. {was}")
    if git_errors := explain_error(code.upper()):
        return Explanation(code.upper(), "error-code", "error", None, None, git_errors)
    meant = find_similar(code.upper(), known)
    hint = "run `remit explain` to list all codes" if meant is None else f"did you mean '{meant}'?"
    raise UsageError(f"unknown code '{code}'", hint=hint)


class CodeList(NamedTuple):
    """The codes that match a word."""

    about: str
    """What the codes have in common; empty for a single code."""
    explanations: list[Explanation]


def find_codes(word: str) -> CodeList:
    """The explanation of a code; for the beginning of a code, all codes that begin so."""
    sought = word.upper()
    matches = [each for each in explain_all() if each.code.startswith(sought) and each.code != sought]
    return (
        CodeList(f"Codes that begin with {sought}:", matches) if sought and matches else CodeList("", [explain(word)])
    )


def explain_all() -> list[Explanation]:
    """The documentation of every code, in order."""
    from inspect import cleandoc

    found = [*_explain_messages(), *_explain_agent_files(), *_explain_workspace(), *_explain_runs()]
    return sorted(each._replace(documentation=cleandoc(each.documentation)) for each in found)


def _explain_messages() -> Iterator[Explanation]:
    from remit.returns import conversion
    from remit.returns.rules import RETURN_RULES

    for each in RETURN_RULES.values():
        yield Explanation(each.code, each.name, each.severity, each.verdict, None, each.documentation)
    yield from _explain_register(conversion.DIAGNOSTICS)


def _explain_agent_files() -> Iterator[Explanation]:
    from remit.agents import compile as compilation
    from remit.agents import lint
    from remit.agents.rules.graph import GRAPH_RULES
    from remit.agents.rules.register import load_all_rules

    rules: list[AgentRule | GraphRule] = [*load_all_rules().values(), *GRAPH_RULES.values()]
    for each in rules:
        yield Explanation(each.code, each.name, each.severity, None, each.fix, each.documentation)
    yield from _explain_register(lint.DIAGNOSTICS)
    yield from _explain_register(compilation.DIAGNOSTICS)


def _explain_workspace() -> Iterator[Explanation]:
    from remit.errorlog import document
    from remit.git import git_errors
    from remit.manifest import findings_file, tokens
    from remit.returns import manifest_lines
    from remit.storage import activity_frontmatter, trust
    from remit.tasks import drift

    for module in (manifest_lines, findings_file, tokens, drift, document, activity_frontmatter, git_errors, trust):
        yield from _explain_register(module.DIAGNOSTICS)


def _explain_runs() -> Iterator[Explanation]:
    from remit.runs import agent_lookup
    from remit.runs.admission import inputs, limits
    from remit.runs.finish import finish
    from remit.runs.judging import judge

    for module in (agent_lookup, inputs, judge, limits, finish):
        yield from _explain_register(module.DIAGNOSTICS)


def _explain_register(register: Mapping[str, tuple[Callable[..., Diagnostic], Severity]]) -> Iterator[Explanation]:
    """Explain each code by the docstring of the function that makes its diagnostic."""
    for code, (make, severity) in register.items():
        documentation = make.__doc__ or ""
        fix = next((kind for kind in ("safe", "unsafe") if f"Fix ({kind}):" in documentation), None)
        yield Explanation(code, make.__name__.replace("_", "-"), severity, None, fix, documentation)

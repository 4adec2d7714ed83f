"""The explanations of all codes: of rules, diagnostics and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit import errors
from remit.errors import UsageError
from remit.model import AGENT_FAILED, AGENT_KILLED, ERROR_CODES, MODEL_API_FAILED, NO_ANSWER
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
    from remit.runs.checks import diagnostics as checks
    from remit.runs.finish import finish_run
    from remit.runs.judging import judge

    for module in (agent_lookup, inputs, judge, limits, checks, finish_run):
        yield from _explain_register(module.DIAGNOSTICS)


def _explain_register(register: Mapping[str, tuple[Callable[..., Diagnostic], Severity]]) -> Iterator[Explanation]:
    """Explain each code by the docstring of the function that makes its diagnostic."""
    for code, (make, severity) in register.items():
        documentation = make.__doc__ or ""
        fix = next((kind for kind in ("safe", "unsafe") if f"Fix ({kind}):" in documentation), None)
        yield Explanation(code, make.__name__.replace("_", "-"), severity, None, fix, documentation)


# --- codes of errors -------------------------------------------------------------------------------------------------

REFUSALS = {
    "REFUSED": "The call is not allowed: unknown agent, not in the caller's list, no ticket, or no free slot.",
    "MAX_DEPTH_EXCEEDED": "The call chain has its maximum depth.",
    "CYCLE_DETECTED": "The agent is in its own call chain already.",
    "BUDGET_EXCEEDED": "The budget of the call chain is used up.",
    "TIMEOUT": "No time is left.",
    "CANCELLED": "The run was cancelled before it started.",
    "VALIDATION_FAILED": "An input is missing or invalid; the diagnostics say which.",
    "STATE_CONFLICT": "The state of the task doesn't allow it.",
}
"""Why a run is not admitted."""
PROBLEMS = {
    "NOT_FOUND": "Nothing has this name.",
    "BAD_REQUEST": "The request can't be read.",
    "UNAUTHORIZED": "No valid token.",
    "FORBIDDEN": "The request comes from another site, or is not allowed.",
    "METHOD_NOT_ALLOWED": "The address supports other methods; `Allow` names them.",
    "TIMED_OUT": "The request did not arrive in time.",
    "BUSY": "The server is busy, or the same request is in progress.",
    "TOO_LARGE": "The request is too large.",
    "URL_TOO_LONG": "The URL is too long.",
    "UNSUPPORTED_MEDIA_TYPE": "The body isn't JSON.",
    "MISDIRECTED": "The request is for another host.",
    "KEY_TAKEN": "Another request used this `Idempotency-Key`.",
    "TOO_MANY_REQUESTS": "Too many requests; `Retry-After` says when to retry.",
    "HEAD_TOO_LARGE": "The headers are too long.",
}
"""Codes of the HTTP API only."""
AGENT_ERRORS = {
    "timeout": "The time limit was reached.",
    "validation": "The return or an input is invalid.",
    "tool_unavailable": "A program or tool is missing.",
    "build_error": "A build failed.",
    "file_not_found": "A file is missing.",
    "cycle": "An agent would have called one of its callers.",
    "max_depth": "The call chain would have been too deep.",
    "status_sync": "The marker of the task could not be set.",
    "git": "The changes could not be committed.",
    "permission": "The permissions didn't allow it.",
    "refused": "The run was not admitted or not started.",
    "cancelled": "The run was cancelled.",
    "budget": "The budget was used up.",
    "fabricated": "A claim in the return is false.",
    "unproven": "Remit could not verify a claimed file, and nothing shows that the claim is false. Check the file "
    "yourself. If other runs were active in the same folder, give each its own worktree.",
    "orphaned": "The supervisor and the agent died, and no result is stored.",
    "check_failed": "An acceptance check failed in the agent's tree. The diagnostics have the end of its output.",
    "check_not_run": "An acceptance check did not run to its end, so nothing is known. Run it with `remit checks`.",
    "check_weakened": "The run changed what decides an acceptance check, or deleted or skipped tests.",
    "execution": "Another failure, such as an agent that crashed.",
    "validation_failure": "An input or an output is not valid.",
    "file_operation_failure": "A file could not be read or written.",
    "delegation_failure": "A nested run failed or was refused.",
    "git_failure": "A git command failed.",
}
"""What the type of an error in a return stands for."""
CRASHES = {
    NO_ANSWER: "The agent's program ended without an answer.",
    AGENT_FAILED: "The agent's program exited with a code other than 0, or raised an exception.",
    AGENT_KILLED: "A signal ended the agent's program, or it ended with the process that kept it.",
    MODEL_API_FAILED: "The harness got no answer from its model's server.",
}
"""Why an agent has crashed; the type of the error is `execution`."""
_ASIDE = "This is the code of an error, not of a diagnostic; remit show ID --full shows the diagnostics of a run."


def explain_error(code: str) -> str:
    """The meaning of an error code; empty if the code is unknown."""
    agent_errors = [text for kind, text in AGENT_ERRORS.items() if ERROR_CODES[kind] == code]
    uses = [describe_exception(each) for each in list_errors() if each.code == code]
    uses += [f"When a run is not admitted: {REFUSALS[code]}"] if code in REFUSALS else []
    uses += [f"In a return: {' '.join(agent_errors)}"] if agent_errors else []
    uses += [f"In a return: {CRASHES[code]}"] if code in CRASHES else []
    uses += [f"Over HTTP: {PROBLEMS[code]}"] if code in PROBLEMS else []
    return "\n\n".join([*uses, _ASIDE]) if uses else ""


def list_errors() -> list[type[errors.RemitError]]:
    """The exception classes, in the order of their definition."""
    return [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.RemitError)]


def describe_exception(error: type[errors.RemitError]) -> str:
    """The first line of an exception's docstring, without the number of a requirement."""
    return f"{(error.__doc__ or '').partition(chr(10))[0].partition(' (R')[0].rstrip('.')}."

"""Linting: files → findings. A file by itself, then all of them together, then what somebody chose not to hear.

Owns the order: rules on each file, rules on the graph, ignores, selection. What a file says is worked out by itself,
so that files can be shared out between processes and kept from one run to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.globs import MAX_NAME, expand_braces, match_segments, matches_name
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from remit.agents.definition import Definition
    from remit.agents.document import AgentDocument
    from remit.agents.graph import Graph
    from remit.agents.ignores import Ignore
    from remit.model import Diagnostic, Severity

SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")


class CheckedFile(NamedTuple):
    """What one file says by itself."""

    path: str
    findings: tuple[Diagnostic, ...]
    definition: Definition | None = None
    ignores: tuple[Ignore, ...] = ()


class CodeSelection(NamedTuple):
    """What somebody wants to hear. Codes are whole or a beginning: `AGT`, `AGT1`, `AGT101`, `ALL`."""

    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = NOTHING
    per_file: Mapping[str, tuple[str, ...]] = NOTHING
    """Codes that are not wanted in files that match a pattern."""


def check_document(document: AgentDocument, sizes: Mapping[str, int | None] = NOTHING) -> CheckedFile:
    """Run every rule on one file; `sizes` says what the context files weigh that it names."""
    from remit.agents.definition import read_definition  # noqa: PLC0415 - a file that did not change needs none of this
    from remit.agents.rules.register import AgentFileContext, run_agent_rules  # noqa: PLC0415

    findings = run_agent_rules(AgentFileContext(document, sizes))
    return CheckedFile(document.path, tuple(findings), read_definition(document), tuple(document.ignores))


def lint(files: Sequence[CheckedFile], choice: CodeSelection) -> tuple[dict[str, tuple[Diagnostic, ...]], Graph]:
    """Every finding that is wanted, by file, in the order of the text; and the graph of the agents."""
    from remit.agents.graph import build_graph  # noqa: PLC0415 - with it
    from remit.agents.ignores import apply_ignores  # noqa: PLC0415
    from remit.agents.rules.graph import check_graph  # noqa: PLC0415

    graph = build_graph(file.definition for file in files if file.definition is not None)
    found: dict[str, list[Diagnostic]] = {file.path: list(file.findings) for file in files}
    for path, finding in check_graph(graph):
        found[path].append(finding)
    result = {}
    for file in files:
        # Ignores first: whether one is needed does not depend on what somebody wants to hear today.
        heard = apply_ignores(found[file.path], file.ignores)
        result[file.path] = tuple(sort_diagnostics(select_diagnostics(heard, file.path, choice)))
    return result, graph


def select_diagnostics(findings: Iterable[Diagnostic], path: str, choice: CodeSelection) -> list[Diagnostic]:
    """The findings that are wanted, with the severities that somebody gave them."""
    is_wanted = make_code_filter(path, choice)
    kept = []
    for finding in findings:
        if not is_wanted(finding.code):
            continue
        given = max((code for code in choice.severities if finding.code.startswith(code)), key=len, default=None)
        kept.append(finding if given is None else finding._replace(severity=choice.severities[given]))
    return kept


def make_code_filter(path: str, choice: CodeSelection) -> Callable[[str], bool]:
    """Whether a code is wanted in a file.

    The longest beginning decides, as in other linters; of two equally long, the one that ignores.
    """
    unwanted = [code for pattern, codes in choice.per_file.items() if matches_path(pattern, path) for code in codes]

    def is_wanted(code: str) -> bool:
        return _longest(code, choice.select) > _longest(code, choice.ignore) and _longest(code, unwanted) < 0

    return is_wanted


def _longest(code: str, beginnings: Iterable[str]) -> int:
    lengths = [0 if each == "ALL" else len(each) for each in beginnings if each == "ALL" or code.startswith(each)]
    return max(lengths, default=-1)


def matches_path(pattern: str, path: str) -> bool:
    """Whether a pattern of the configuration means a path: by itself, or by a folder above it.

    A pattern without a slash is a name, wherever it is; one with a slash begins at the root. `*` stays in one folder.
    """
    if len(pattern) > MAX_NAME:
        return False
    anywhere = [] if "/" in pattern.removeprefix("./").rstrip("/") else ["**"]
    parts = path.strip("/").split("/")
    return any(
        max(match_segments([*anywhere, *choice.split("/")], parts, matches_name), default=0) > 0
        for choice in expand_braces(pattern.removeprefix("./").strip("/"))
    )


def sort_diagnostics(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """In the order of the text."""
    return sorted(findings, key=lambda f: (f.place.line if f.place else 0, f.place.column if f.place else 0, f.code))

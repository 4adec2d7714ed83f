"""Linting: files → findings. A file by itself, then all of them together, then what somebody chose not to hear.

Owns the order: rules on each file, rules on the graph, ignores, selection. What a file says is worked out by itself,
so that files can be shared out between processes and kept from one run to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from remit.agents.definition import Definition
    from remit.agents.document import Document
    from remit.agents.graph import Graph
    from remit.agents.ignores import Ignore
    from remit.model import Finding, Severity

SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")


class Checked(NamedTuple):
    """What one file says by itself."""

    path: str
    findings: tuple[Finding, ...]
    definition: Definition | None = None
    ignores: tuple[Ignore, ...] = ()


class Choice(NamedTuple):
    """What somebody wants to hear. Codes are whole or a beginning: `AGT`, `AGT1`, `AGT101`, `ALL`."""

    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = NOTHING
    per_file: Mapping[str, tuple[str, ...]] = NOTHING
    """Codes that are not wanted in files that match a pattern."""


def check_document(document: Document, sizes: Mapping[str, int | None] = NOTHING) -> Checked:
    """Run every rule on one file; `sizes` says what the context files weigh that it names."""
    from remit.agents.definition import define  # noqa: PLC0415 - a file that did not change needs none of this
    from remit.agents.rules import Case, run_rules  # noqa: PLC0415

    findings = run_rules(Case(document, sizes))
    return Checked(document.path, tuple(findings), define(document), tuple(document.ignores))


def lint(files: Sequence[Checked], choice: Choice) -> tuple[dict[str, tuple[Finding, ...]], Graph]:
    """Every finding that is wanted, by file, in the order of the text; and the graph of the agents."""
    from remit.agents.graph import build_graph  # noqa: PLC0415 - with it
    from remit.agents.ignores import apply_ignores  # noqa: PLC0415
    from remit.agents.rules.graph import check_graph  # noqa: PLC0415

    graph = build_graph(file.definition for file in files if file.definition is not None)
    found: dict[str, list[Finding]] = {file.path: list(file.findings) for file in files}
    for path, finding in check_graph(graph):
        found[path].append(finding)
    result = {}
    for file in files:
        wanted = choose(found[file.path], file.path, choice)
        heard = apply_ignores(wanted, file.ignores, is_wanted=lambda code: _is_selected(code, choice))
        result[file.path] = tuple(sort_findings(heard))
    return result, graph


def choose(findings: Iterable[Finding], path: str, choice: Choice) -> list[Finding]:
    """The findings that are wanted, with the severities that somebody gave them."""
    unwanted = [code for pattern, codes in choice.per_file.items() if matches_path(pattern, path) for code in codes]
    kept = []
    for finding in findings:
        if not _is_selected(finding.code, choice) or _is_named(finding.code, unwanted):
            continue
        severity = choice.severities.get(finding.code)
        kept.append(finding._replace(severity=severity) if severity else finding)
    return kept


def _is_selected(code: str, choice: Choice) -> bool:
    """The longest beginning decides, as in other linters; of two equally long, the one that ignores."""
    chosen = _longest(code, choice.select)
    return chosen > _longest(code, choice.ignore)


def _longest(code: str, beginnings: Iterable[str]) -> int:
    lengths = [0 if each == "ALL" else len(each) for each in beginnings if each == "ALL" or code.startswith(each)]
    return max(lengths, default=-1)


def _is_named(code: str, beginnings: Iterable[str]) -> bool:
    return _longest(code, beginnings) >= 0


def matches_path(pattern: str, path: str) -> bool:
    """Whether a pattern of the configuration means a path: by its whole, by its name, or by a folder above it."""
    from fnmatch import fnmatchcase  # noqa: PLC0415 - few workspaces have patterns

    folder = pattern.rstrip("/").removesuffix("/**").removesuffix("/*")
    return (
        fnmatchcase(path, pattern)
        or fnmatchcase(path.rpartition("/")[2], pattern)
        or (folder != pattern.rstrip("*") and path.startswith(f"{folder}/"))
    )


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """In the order of the text."""
    return sorted(findings, key=lambda f: (f.place.line if f.place else 0, f.place.column if f.place else 0, f.code))

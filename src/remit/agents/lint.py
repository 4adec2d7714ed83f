"""Lint: runs the rules on single files and on the graph of all files, then applies ignores and the selection of codes.

The result of a single file depends on that file only, so files can be checked by several processes and cached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.globs import MAX_NAME, expand_braces, match_segments, matches_name
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING, Diagnostic, Fix, TextEdit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from remit.agents.definition import Definition
    from remit.agents.document import AgentDocument, Ignore
    from remit.agents.graph import Graph
    from remit.model import Severity


SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")


class CheckedFile(NamedTuple):
    """The result of checking one file by itself."""

    path: str
    diagnostics: tuple[Diagnostic, ...]
    definition: Definition | None = None
    ignores: tuple[Ignore, ...] = ()


class CodeSelection(NamedTuple):
    """The codes to report. Each is a whole code or a prefix: `ALL`, `AGT`, `AGT1`, `AGT101`."""

    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = NOTHING
    per_file: Mapping[str, tuple[str, ...]] = NOTHING
    """Codes to ignore in files that match a pattern."""


def check_document(document: AgentDocument, sizes: Mapping[str, int | None] = NOTHING) -> CheckedFile:
    """Run all rules on one file. `sizes` has the size of each context file that the agent names."""
    from remit.agents.definition import read_definition  # noqa: PLC0415 - not needed if all results are cached
    from remit.agents.rules.register import AgentFileContext, run_agent_rules  # noqa: PLC0415

    diagnostics = run_agent_rules(AgentFileContext(document, sizes))
    return CheckedFile(document.path, tuple(diagnostics), read_definition(document), tuple(document.ignores))


def lint(files: Sequence[CheckedFile], choice: CodeSelection) -> tuple[dict[str, tuple[Diagnostic, ...]], Graph]:
    """Return the selected diagnostics of each file, in the order of its text, and the graph of the agents."""
    from remit.agents.graph import build_graph  # noqa: PLC0415 - callers import this module for single functions, too
    from remit.agents.rules.graph import check_graph  # noqa: PLC0415

    graph = build_graph(file.definition for file in files if file.definition is not None)
    found: dict[str, list[Diagnostic]] = {file.path: list(file.diagnostics) for file in files}
    for path, diagnostic in check_graph(graph):
        found[path].append(diagnostic)
    result = {}
    for file in files:
        # Ignores come first: whether an ignore is needed doesn't depend on the selection.
        kept = apply_ignores(found[file.path], file.ignores)
        result[file.path] = tuple(sort_diagnostics(select_diagnostics(kept, file.path, choice)))
    return result, graph


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics sorted by place, then code."""
    return sorted(diagnostics, key=lambda f: (f.place.line if f.place else 0, f.place.column if f.place else 0, f.code))


# --- selection -------------------------------------------------------------------------------------------------------


def select_diagnostics(diagnostics: Iterable[Diagnostic], path: str, choice: CodeSelection) -> list[Diagnostic]:
    """Return the selected diagnostics, with the severities of the selection."""
    is_selected = make_code_filter(path, choice)
    kept = []
    for diagnostic in diagnostics:
        if not is_selected(diagnostic.code):
            continue
        given = max((code for code in choice.severities if diagnostic.code.startswith(code)), key=len, default=None)
        kept.append(diagnostic if given is None else diagnostic._replace(severity=choice.severities[given]))
    return kept


def make_code_filter(path: str, choice: CodeSelection) -> Callable[[str], bool]:
    """Return a function that returns whether a code is reported in a file.

    The longest matching prefix decides, as in other linters. If two have the same length, the code is ignored.
    """
    ignored = [code for pattern, codes in choice.per_file.items() if matches_path(pattern, path) for code in codes]

    def measure(code: str, prefixes: Iterable[str]) -> int:
        """Return the length of the longest prefix that matches, or -1 if none does."""
        lengths = [0 if each == "ALL" else len(each) for each in prefixes if each == "ALL" or code.startswith(each)]
        return max(lengths, default=-1)

    return lambda code: measure(code, choice.select) > measure(code, choice.ignore) and measure(code, ignored) < 0


def matches_path(pattern: str, path: str) -> bool:
    """Whether a pattern of the settings matches a path or one of its parent folders.

    A pattern without a slash matches a name in any folder; one with a slash starts at the root. `*` doesn't match `/`.
    """
    if len(pattern) > MAX_NAME:
        return False
    anywhere = [] if "/" in pattern.removeprefix("./").rstrip("/") else ["**"]
    parts = path.strip("/").split("/")
    return any(
        max(match_segments([*anywhere, *choice.split("/")], parts, matches_name), default=0) > 0
        for choice in expand_braces(pattern.removeprefix("./").strip("/"))
    )


def load_codes() -> list[str]:
    """Return the codes of all rules on agent files, including retired codes."""
    from remit.agents import compile as compilation  # noqa: PLC0415 - most lint runs name no codes
    from remit.agents.rules.graph import GRAPH_RULES  # noqa: PLC0415
    from remit.agents.rules.register import RETIRED, load_all_rules  # noqa: PLC0415

    return [*load_all_rules(), *RETIRED, *GRAPH_RULES, *DIAGNOSTICS, *compilation.DIAGNOSTICS]


# --- ignore comments -------------------------------------------------------------------------------------------------


def apply_ignores(diagnostics: Iterable[Diagnostic], ignores: Sequence[Ignore]) -> list[Diagnostic]:
    """Return the diagnostics that no ignore comment hides, and diagnostics about the comments themselves."""
    if not ignores:
        return list(diagnostics)
    everywhere = [index for index, ignore in enumerate(ignores) if ignore.whole_file]
    on_line: dict[int, list[int]] = {}
    for index, ignore in enumerate(ignores):
        if not ignore.whole_file:
            on_line.setdefault(ignore.line, []).append(index)
    used: set[tuple[int, str]] = set()
    kept = []
    for diagnostic in diagnostics:
        here = on_line.get(diagnostic.place.line, []) if diagnostic.place is not None else []
        hidden_by = [
            (index, code)
            for index in (*everywhere, *here)
            for code in ignores[index].codes or ("",)
            if diagnostic.code.startswith(code)
        ]
        used.update(hidden_by)
        if not hidden_by:
            kept.append(diagnostic)
    for index, ignore in enumerate(ignores):
        unused = [code for code in ignore.codes if (index, code) not in used]
        if not ignore.codes:
            kept.append(ignore_without_code(ignore) if (index, "") in used else unused_ignore(ignore, ()))
        elif unused:
            kept.append(unused_ignore(ignore, unused))
    return kept


def unused_ignore(ignore: Ignore, codes: Sequence[str]) -> Diagnostic:
    """An ignore comment has no effect.

    Why: the problem is fixed, or the code is misspelled. The comment would hide the next problem.

    Bad: `<!-- remit: ignore[AGT122] -->` above a line without a diagnostic.

    Good: remove it.

    Fix (safe): removes the comment if none of its codes is needed.
    """
    known = load_codes() if codes else []
    unknown = [code for code in codes if not any(each.startswith(code) for each in known)]
    unneeded = ", ".join(code for code in codes if code not in unknown) or ("anything" if not codes else "")
    problems = [
        f"doesn't hide {unneeded}" if unneeded else "",
        f"names {', '.join(unknown)}, which isn't a rule" if unknown else "",
    ]
    message = f"the ignore comment {' and '.join(filter(None, problems))}"
    can_remove = len(codes) == len(ignore.codes)
    fix = Fix("safe", "Remove the comment.", (TextEdit(*ignore.cut, "", ignore.place),)) if can_remove else None
    hint = "Remove the codes that aren't needed."
    if unknown:
        hint = "Correct it (`remit explain` lists the codes), or remove it."
    return Diagnostic("IGN001", "warning", message, hint, "", ignore.place, fix)


def ignore_without_code(ignore: Ignore) -> Diagnostic:
    """An ignore comment names no code.

    Why: it hides all diagnostics on its line, including future ones.

    Bad: `<!-- remit: ignore -->`

    Good: `<!-- remit: ignore[AGT122] -->`
    """
    return Diagnostic("IGN002", "warning", "the ignore comment names no code", "Name the codes: ignore[AGT122].", "",
                      ignore.place)  # fmt: skip


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "IGN001": (unused_ignore, "warning"),
    "IGN002": (ignore_without_code, "warning"),
}

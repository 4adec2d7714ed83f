"""Ignores: comments with which a file's author silences findings, and what becomes of them.

Owns `<!-- remit: ignore[CODE] -->`. An ignore that silences nothing is a finding itself, so that none outlives its
reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.light_namedtuple import NamedTuple
from remit.model import Diagnostic, Fix, TextEdit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from remit.model import Severity, TextSpan


class Ignore(NamedTuple):
    """`<!-- remit: ignore[CODE, …] -->` or, in the frontmatter, `# remit: ignore[CODE, …]`."""

    codes: tuple[str, ...]
    """Empty: every code."""
    line: int
    """The line whose findings it silences: its own, or the next one where it stands alone."""
    whole_file: bool
    place: TextSpan
    cut: tuple[int, int]
    """What to cut to be rid of it: the comment, and its line where it stands alone."""


def unused_ignore(ignore: Ignore, codes: Sequence[str]) -> Diagnostic:
    """An ignore comment has no effect.

    Why: the problem is fixed, or the code is misspelled. The comment would hide the next problem.

    Bad: `<!-- remit: ignore[AGT122] -->` above a line without a diagnostic.

    Good: remove it.

    Fix (safe): removes the comment if none of its codes is needed.
    """
    whole = len(codes) == len(ignore.codes)
    strange = _find_strange(codes)
    idle = ", ".join(code for code in codes if code not in strange) or ("anything" if not codes else "")
    told = [
        f"doesn't hide {idle}" if idle else "",
        f"names {', '.join(strange)}, which isn't a rule" if strange else "",
    ]
    message = f"the ignore comment {' and '.join(filter(None, told))}"
    fix = Fix("safe", "Remove the comment.", (TextEdit(*ignore.cut, "", ignore.place),)) if whole else None
    hint = "Correct it (`remit explain` lists the codes), or remove it." if strange else _UNNEEDED
    return Diagnostic("IGN001", "warning", message, hint, "", ignore.place, fix)


_UNNEEDED = "Remove the codes that aren't needed."


def _find_strange(codes: Sequence[str]) -> list[str]:
    """Those of some codes that no rule has, nor begins with."""
    if not codes:
        return []
    from remit.agents import compile as compilation  # noqa: PLC0415 - only for an ignore that silences nothing
    from remit.agents.rules.graph import GRAPH_RULES  # noqa: PLC0415
    from remit.agents.rules.register import load_all_rules  # noqa: PLC0415
    from remit.agents.rules.retired import RETIRED  # noqa: PLC0415

    known = (*load_all_rules(), *RETIRED, *GRAPH_RULES, *DIAGNOSTICS, *compilation.DIAGNOSTICS)
    return [code for code in codes if not any(each.startswith(code) for each in known)]


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


def apply_ignores(findings: Iterable[Diagnostic], ignores: Sequence[Ignore]) -> list[Diagnostic]:
    """The findings that no ignore silences, and those about the ignores themselves."""
    if not ignores:
        return list(findings)
    everywhere = [index for index, ignore in enumerate(ignores) if ignore.whole_file]
    on_line: dict[int, list[int]] = {}
    for index, ignore in enumerate(ignores):
        if not ignore.whole_file:
            on_line.setdefault(ignore.line, []).append(index)
    used: set[tuple[int, str]] = set()
    kept = []
    for finding in findings:
        here = on_line.get(finding.place.line, []) if finding.place is not None else []
        silenced = [
            (index, code)
            for index in (*everywhere, *here)
            for code in ignores[index].codes or ("",)
            if finding.code.startswith(code)
        ]
        used.update(silenced)
        if not silenced:
            kept.append(finding)
    for index, ignore in enumerate(ignores):
        unused = [code for code in ignore.codes if (index, code) not in used]
        if not ignore.codes:
            kept.append(ignore_without_code(ignore) if (index, "") in used else unused_ignore(ignore, ()))
        elif unused:
            kept.append(unused_ignore(ignore, unused))
    return kept

"""Ignores: comments with which a file's author silences findings, and what becomes of them.

Owns `<!-- remit: ignore[CODE] -->`. An ignore that silences nothing is a finding itself, so that none outlives its
reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.model import Edit, Finding, Fix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from remit.model import Place, Severity


class Ignore(NamedTuple):
    """`<!-- remit: ignore[CODE, …] -->` or, in the frontmatter, `# remit: ignore[CODE, …]`."""

    codes: tuple[str, ...]
    """Empty: every code."""
    line: int
    """The line whose findings it silences: its own, or the next one where it stands alone."""
    whole_file: bool
    place: Place
    cut: tuple[int, int]
    """What to cut to be rid of it: the comment, and its line where it stands alone."""


def unused_ignore(ignore: Ignore, codes: Sequence[str]) -> Finding:
    """An ignore silences nothing.

    Why: the fault it was written for is gone, or the code is misspelt; the next fault would be silenced unseen.

    Bad: `<!-- remit: ignore[AGT122] -->` above a line that has no finding.

    Good: remove it.

    Fix (safe): removes the comment, where none of its codes is needed.
    """
    what = ", ".join(codes) or "anything"
    whole = len(codes) == len(ignore.codes)
    fix = Fix("safe", "Remove the comment.", (Edit(*ignore.cut, "", ignore.place),)) if whole else None
    return Finding("IGN001", "warning", f"the ignore does not silence {what}", "Remove what is not needed.", "C17", "",
                   ignore.place, fix)  # fmt: skip


def bare_ignore(ignore: Ignore) -> Finding:
    """An ignore names no code.

    Why: it silences every finding on its line, also those that nobody has seen yet.

    Bad: `<!-- remit: ignore -->`

    Good: `<!-- remit: ignore[AGT122] -->`
    """
    return Finding("IGN002", "warning", "the ignore names no code", "Name the codes: ignore[AGT122].", "C17", "",
                   ignore.place)  # fmt: skip


TOLD: dict[str, tuple[Callable[..., Finding], Severity, str | None]] = {
    "IGN001": (unused_ignore, "warning", "safe"),
    "IGN002": (bare_ignore, "warning", None),
}


def apply_ignores(findings: Iterable[Finding], ignores: Sequence[Ignore]) -> list[Finding]:
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
            kept.append(bare_ignore(ignore) if (index, "") in used else unused_ignore(ignore, ()))
        elif unused:
            kept.append(unused_ignore(ignore, unused))
    return kept

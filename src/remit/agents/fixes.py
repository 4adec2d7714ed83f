"""Fixes: what findings propose, applied to a text.

Owns the order: no two edits touch the same place in one round, and what a fix brought to light is fixed in the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from remit.model import Edit, Finding

MAX_ROUNDS = 12


class Fixed(NamedTuple):
    """A text after its fixes, and which findings they put right."""

    text: str
    applied: tuple[Finding, ...]


def apply_fixes(findings: Iterable[Finding], text: str, *, unsafe: bool) -> Fixed:
    """Apply every fix that no earlier one overlaps: all edits of a fix, or none."""
    taken: list[Edit] = []
    applied: list[Finding] = []
    for finding in findings:
        fix = finding.fix
        if fix is None or (fix.applicability == "unsafe" and not unsafe):
            continue
        if any(_overlap(edit, other) for edit in fix.edits for other in taken):
            continue
        taken.extend(fix.edits)
        applied.append(finding)
    for edit in reversed(sorted(taken, key=lambda edit: (edit.start, edit.end))):  # noqa: C413 - keeps equal ones in order
        text = text[: edit.start] + edit.content + text[edit.end :]
    return Fixed(text, tuple(applied))


def _overlap(edit: Edit, other: Edit) -> bool:
    """Whether two edits touch; two insertions at one place stand one after the other."""
    if edit.start == edit.end == other.start == other.end:
        return False
    return edit.start <= other.end and other.start <= edit.end


def fix_until_stable(text: str, check: Callable[[str], Iterable[Finding]], *, unsafe: bool) -> Fixed:
    """Fix, look again, and go on until nothing is left to fix; a text that comes back is left as it was then."""
    applied: list[Finding] = []
    seen = {text}
    for _ in range(MAX_ROUNDS):
        fixed = apply_fixes(check(text), text, unsafe=unsafe)
        if not fixed.applied or fixed.text in seen:
            break
        seen.add(fixed.text)
        text = fixed.text
        applied.extend(fixed.applied)
    return Fixed(text, tuple(applied))

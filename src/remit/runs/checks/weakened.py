"""Find out whether a run made its acceptance checks easier to pass: by what changed, and by the numbers of tests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.agents.lint import matches_path
from remit.light_namedtuple import NamedTuple
from remit.runs.checks.diagnostics import fewer_tests, more_skipped, protected_changed, tests_deleted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from remit.evidence.tree import Comparison
    from remit.ledger.check_results import KnownResult
    from remit.model import Diagnostic
    from remit.result import CheckResult
    from remit.runs.checks.definition import AcceptanceCheck

TEST_FILES = (
    "test_*.*", "*_test.*", "*.test.*", "*.spec.*", "*_spec.*", "*Test.java", "*Tests.cs", "tests/**", "test/**",
    "__tests__/**", "spec/**", "**/tests/**", "**/test/**", "**/__tests__/**", "**/spec/**",
)  # fmt: skip
"""Where projects keep their tests, by the conventions of test runners."""


class Weakening(NamedTuple):
    """What makes the checks of a run prove less than before."""

    diagnostics: tuple[Diagnostic, ...] = ()
    is_lowering: bool = False
    """Whether the result can't be `completed` because of it."""


def list_changed(comparison: Comparison | None) -> frozenset[str] | None:
    """Return the files that differ from the tree before the run; None if that isn't known."""
    if comparison is None or comparison.unclear:
        return None
    changes = (*comparison.created, *comparison.changed, *comparison.deleted, *comparison.doubtful)
    return frozenset(change.path for change in changes)


def is_needed(check: AcceptanceCheck, changed: Iterable[str] | None) -> bool:
    """Return whether a check is about something that changed."""
    if not check.when or changed is None:
        return True
    return any(matches_path(pattern, path) for path in changed for pattern in (*check.when, *check.protect))


def find_weakening(
    checks: Sequence[AcceptanceCheck],
    comparison: Comparison | None,
    results: Mapping[str, CheckResult],
    before: Mapping[str, KnownResult],
) -> Weakening:
    """Compare what decides the checks, and the numbers of tests, with the tree before the run."""
    diagnostics: list[Diagnostic] = []
    is_lowering = False
    is_strict = any(check.weakened == "partial" for check in checks)
    deleted = _list_deleted_tests(comparison)
    if deleted:
        diagnostics.append(tests_deleted(deleted))
        is_lowering = is_strict
    changed = () if comparison is None else list_changed(comparison._replace(unclear={})) or ()
    for check in checks:
        touched = sorted(path for path in changed if any(matches_path(each, path) for each in check.protect))
        if touched:
            diagnostics.append(protected_changed(check.name, touched))
            is_lowering = True
        known, now = before.get(check.name), results.get(check.name)
        if known is None or now is None or known.tests is None or (now.tests is None and now.answer != "passed"):
            continue
        tests = now.tests or 0  # a check that passes without its report proves no test
        found = [fewer_tests(check.name, known.tests, tests)] if tests < known.tests else []
        if (now.skipped or 0) > (known.skipped or 0):
            found.append(more_skipped(check.name, known.skipped or 0, now.skipped or 0))
        diagnostics += found
        is_lowering = is_lowering or bool(found and check.weakened == "partial")
    return Weakening(tuple(diagnostics), is_lowering)


def _list_deleted_tests(comparison: Comparison | None) -> list[str]:
    """Return the test files that are gone. A file of the same name elsewhere is taken for the moved one."""
    if comparison is None:
        return []
    created = {os.path.basename(change.path) for change in comparison.created}
    return [
        change.path
        for change in comparison.deleted
        if any(matches_path(pattern, change.path) for pattern in TEST_FILES)
        and os.path.basename(change.path) not in created
    ]

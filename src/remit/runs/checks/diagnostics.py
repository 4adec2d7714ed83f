"""The diagnostics of acceptance checks. The docstring of each function is its page in `remit explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.model import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.model import Severity

_SHOWN = 5


def check_failed(name: str, how: str, *, before: str) -> Diagnostic:
    """An acceptance check failed in the agent's tree.

    Why: the agent reported completed work, but a command that has to pass for that failed. Remit ran it twice.

    Bad: the agent changes `src/cache.py` and reports `completed`, and `pytest -q` fails.

    Good: the agent runs the command itself and fixes what it reports before it returns.
    """
    known = {
        "failed": "; it failed before the run, too",
        "passed": "; it passed before the run",
    }.get(before, "; unknown whether it failed before the run")
    return Diagnostic("CHK001", "error", f"the check '{name}' failed ({how}{known})",
                      "Fix the cause, and run the command again before you return.")  # fmt: skip


def check_not_run(name: str, reason: str) -> Diagnostic:
    """An acceptance check was not run to its end, so it says nothing about the work.

    Why: a check that is not run is never counted as passed. The status is `partial` until someone runs it.

    Bad: the check's program isn't installed, or it takes longer than its `timeout`.

    Good: install the program, or give the check more time: `timeout = 1200` in `[checks.NAME]`.
    """
    return Diagnostic("CHK002", "warning", f"the check '{name}' was not run: {reason}", "Run its command yourself.")


def check_flaky(name: str) -> Diagnostic:
    """An acceptance check failed and then passed on the same tree.

    Why: its result depends on something other than the tree, such as time, order or the network. Remit counts it as
    passed, because a failure that can't be repeated proves nothing about the work.

    Bad: a test that waits for 100 ms and fails on a busy machine.

    Good: a test that waits for the event itself.
    """
    return Diagnostic("CHK003", "warning", f"the check '{name}' is flaky: it failed, and then passed on the same tree",
                      "Make it deterministic.")  # fmt: skip


def tests_deleted(paths: Sequence[str]) -> Diagnostic:
    """The run deleted test files while acceptance checks were to prove its work.

    Why: a suite passes easily once the test that fails is gone.

    Bad: the agent deletes `tests/test_cache.py`, and `pytest -q` passes.

    Good: the agent fixes the code, or says in its return why the test has to go.
    """
    return Diagnostic("CHK004", "warning", f"test files were deleted: {_join(paths)}", "Review whether they had to go.")


def protected_changed(name: str, paths: Sequence[str]) -> Diagnostic:
    """The run changed a file that decides an acceptance check.

    Why: an agent that changes the command, or its configuration, decides itself whether its work passes.

    Bad: the agent adds `--ignore=tests/test_cache.py` to `pytest.ini`.

    Good: the user changes the configuration, or takes the file out of `protect` in `[checks.NAME]`.
    """
    return Diagnostic("CHK005", "warning", f"the run changed what decides the check '{name}': {_join(paths)}",
                      "Review the change, then run: remit checks.")  # fmt: skip


def fewer_tests(name: str, before: int, after: int) -> Diagnostic:
    """A check ran fewer tests than on the tree before the run, by its JUnit report.

    Why: a suite passes easily once the test that fails isn't run.

    Bad: 212 tests before the run, 208 after it.

    Good: at least as many tests as before.
    """
    return Diagnostic("CHK006", "warning", f"the check '{name}' ran {after} tests, and {before} before the run",
                      "Review which tests are gone.")  # fmt: skip


def more_skipped(name: str, before: int, after: int) -> Diagnostic:
    """A check skipped more tests than on the tree before the run, by its JUnit report.

    Why: a suite passes easily once the test that fails is skipped.

    Bad: `@pytest.mark.skip` on the test that fails.

    Good: the agent fixes the code, or says in its return why the test has to be skipped.
    """
    return Diagnostic("CHK007", "warning", f"the check '{name}' skipped {after} tests, and {before} before the run",
                      "Review which tests are skipped.")  # fmt: skip


def report_unreadable(name: str, file: str, reason: str) -> Diagnostic:
    """A check passed, but its JUnit report can't be read, so Remit can't compare the numbers of tests.

    Why: `[checks.NAME] junit` names a report that the command has to write each time.

    Bad: `junit = "report.xml"` and `run = "pytest -q"`.

    Good: `junit = "report.xml"` and `run = "pytest -q --junitxml=report.xml"`.
    """
    return Diagnostic("CHK008", "note", f"the JUnit report '{file}' of the check '{name}' {reason}",
                      "Let the command write it.")  # fmt: skip


def _join(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "CHK001": (check_failed, "error"),
    "CHK002": (check_not_run, "warning"),
    "CHK003": (check_flaky, "warning"),
    "CHK004": (tests_deleted, "warning"),
    "CHK005": (protected_changed, "warning"),
    "CHK006": (fewer_tests, "warning"),
    "CHK007": (more_skipped, "warning"),
    "CHK008": (report_unreadable, "note"),
}

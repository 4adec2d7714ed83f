"""Run the acceptance checks of a run on the agent's tree, and say what they prove."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from remit.attempts.folders import FIRST_CHECK
from remit.errors import RemitError
from remit.evidence.take_tree import scan_again, take_tree
from remit.evidence.tree_comparison import compare
from remit.ledger.check_results import KnownResult, find_result, keep_result
from remit.ledger.events import read_clock_ms
from remit.light_hash import take_sha256
from remit.light_namedtuple import NamedTuple
from remit.result import CheckResult
from remit.runs.checks.diagnostics import check_failed, check_flaky, check_not_run, report_unreadable
from remit.runs.checks.execute import Execution, execute, has_started, load_execution, lock_tree
from remit.runs.checks.weakened import find_weakening, is_needed, list_changed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from remit.evidence.tree import Comparison, WorkTree
    from remit.ledger.home import Home
    from remit.model import Diagnostic
    from remit.runs.checks.definition import AcceptanceCheck
    from remit.runs.checks.execute import CheckPlace

_PER_CHECK = 3
"""The check, its repetition, and the check on the tree before the run."""


class CheckedTree(NamedTuple):
    """The answers of the checks of a run, and what follows from them."""

    results: tuple[CheckResult, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    is_weakened: bool = False
    """Whether the checks were made easier to pass, so that the result can't be `completed`."""
    made: frozenset[str] = frozenset()
    """The files that changed while the checks ran: they aren't the agent's."""

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """The checks that failed."""
        return tuple(each for each in self.results if each.answer == "failed")

    @property
    def not_run(self) -> tuple[CheckResult, ...]:
        """The checks that the result depends on and that were not run."""
        return tuple(each for each in self.results if each.answer == "not run" and each.is_needed)

    @property
    def is_passed(self) -> bool:
        """Whether nothing speaks against `completed`."""
        return not (self.failed or self.not_run or self.is_weakened)

    @property
    def is_correctable(self) -> bool:
        """Whether the agent can do something about it: a check failed that isn't known to have failed before."""
        return any(each.before != "failed" for each in self.failed)


class CheckRound:
    """The checks of a run after one attempt."""

    def __init__(
        self,
        place: CheckPlace,
        *,
        attempt: int,
        after: WorkTree | None = None,
        before: WorkTree | None = None,
        comparison: Comparison | None = None,
        find_writer: Callable[[], str] = str,
        baseline: Callable[[], AbstractContextManager[str]] | None = None,
        report: Callable[[Mapping[str, object]], object] = lambda _: None,
        limit_ms: int | None = None,
        uses_cache: bool = True,
        refusal: str = "",
    ) -> None:
        """`find_writer` names another agent that is changing the tree at that moment.

        `baseline` checks out the tree before the run, for a while. `report` is called when a check begins and ends.
        `limit_ms`: the time by which the caller needs the answers. `refusal`: why no check may run.
        """
        self.place = place
        self.attempt = attempt
        self.after = after
        self.before = before
        self.comparison = comparison
        self.find_writer = find_writer
        self.baseline = baseline
        self.report = report
        self.limit_ms = limit_ms
        self.uses_cache = uses_cache
        self.refusal = refusal
        self._executed: list[str] = []
        """The checks whose answer is new, and the same for anyone who runs them on this tree."""

    async def run(self, checks: Sequence[AcceptanceCheck]) -> CheckedTree:
        """Run checks one after the other, on a tree that no other check uses meanwhile."""
        ledger = self.place.home.ledger
        made: frozenset[str] | None = frozenset()
        on_wait = partial(self.report, {"state": "waiting", "attempt": self.attempt})
        async with lock_tree(self.place.home, self.place.root, is_cancelled=self._is_over, on_wait=on_wait):
            results = {check.name: await self._run_check(check, index) for index, check in enumerate(checks)}
            if self._executed:
                made = await asyncio.to_thread(self._list_made)
        diagnostics: list[Diagnostic] = []
        known_before: dict[str, KnownResult] = {}
        for check in checks:
            result = results[check.name]
            key = make_key(check, self.after, self.place)
            if key and check.name in self._executed and made == frozenset():
                kept = KnownResult(result.answer, result.duration_ms, result.tests, result.skipped)
                keep_result(ledger, key, kept)
            before_key = make_key(check, self.before, self.place)
            if before_key and (known := find_result(ledger, before_key)):
                known_before[check.name] = known
            if result.answer == "failed":
                diagnostics.append(check_failed(check.name, result.reason, before=result.before))
            elif result.answer == "not run" and result.is_needed:
                diagnostics.append(check_not_run(check.name, result.reason))
            elif result.is_flaky:
                diagnostics.append(check_flaky(check.name))
            if check.junit and result.answer == "passed" and result.tests is None and not result.is_cached:
                diagnostics.append(report_unreadable(check.name, check.junit, result.reason))
        weakening = find_weakening(checks, self.comparison, results, known_before)
        return CheckedTree(
            tuple(results.values()),
            (*diagnostics, *weakening.diagnostics),
            weakening.is_lowering,
            made or frozenset(),
        )

    def _is_over(self) -> bool:
        """Return whether no check may begin any more: the run was cancelled, or the time is up."""
        return self.place.is_cancelled() or (self.limit_ms is not None and read_clock_ms() >= self.limit_ms)

    async def _run_check(self, check: AcceptanceCheck, index: int) -> CheckResult:
        """Return the answer of one check: from the cache, or by running it, twice if it fails."""
        result = CheckResult(check.name, "not run", command=check.run)
        if not is_needed(check, list_changed(self.comparison)):
            reason = f"no file that {' or '.join(check.when)} matches has changed"
            return result._replace(reason=reason, is_needed=False)
        key = make_key(check, self.after, self.place)
        known = find_result(self.place.home.ledger, key) if key and self.uses_cache else None
        if known is not None and known.answer == "passed":
            return result._replace(
                answer="passed", duration_ms=known.duration_ms, is_cached=True, tests=known.tests, skipped=known.skipped
            )
        number = _number_execution(self.attempt, index)
        refusal = "it was cancelled" if self.place.is_cancelled() else self.refusal
        if refusal and not has_started(self.place, number):
            return result._replace(reason=refusal)
        writer = self.find_writer()
        if writer:
            return result._replace(reason=_describe_writer(writer))
        self.report({"check": check.name, "state": "started", "attempt": self.attempt})
        first = execution = await execute(check, self.place, number=number, limit_ms=self.limit_ms)
        is_fresh = first.is_fresh
        if first.answer == "failed" and not (refusal and not has_started(self.place, number + 1)):
            if await asyncio.to_thread(self._list_made):  # then it would run on another tree
                execution = first._replace(reason=f"{first.reason}, after it changed files")
            else:
                again = await execute(check, self.place, number=number + 1, limit_ms=self.limit_ms)
                execution = again if again.answer == "passed" else first
                is_fresh = is_fresh and again.is_fresh
        writer = self.find_writer()
        if writer and is_fresh:  # an agent that began meanwhile may have broken the tree, or repaired it
            execution = execution._replace(answer="not run", reason=_describe_writer(writer))
        is_flaky = execution.answer == "passed" and first.answer == "failed"
        if execution.answer != "not run" and not is_flaky and is_fresh:
            self._executed.append(check.name)
        before = await self._find_before(check, number + 2) if execution.answer == "failed" else ""
        self.report({
            "check": check.name, "state": execution.answer, "attempt": self.attempt, "reason": execution.reason,
            "duration_ms": execution.duration_ms,
        })  # fmt: skip
        return result._replace(
            answer=execution.answer, reason=execution.reason or execution.counts.problem,
            duration_ms=execution.duration_ms, is_flaky=is_flaky, before=before, output=execution.output,
            tests=execution.counts.tests, skipped=execution.counts.skipped,
        )  # fmt: skip

    async def _find_before(self, check: AcceptanceCheck, number: int) -> str:
        """Return how a check ended on the tree before the run: passed, failed or unknown."""
        key = make_key(check, self.before, self.place)
        known = find_result(self.place.home.ledger, key) if key else None
        if known is not None:
            return known.answer
        if not check.baseline or self.baseline is None or self.place.is_confined:
            return "unknown"
        execution = Execution("not run")
        if has_started(self.place, number):  # by a supervisor that died: its worktree is still in use
            execution = await execute(check, self.place, number=number, limit_ms=self.limit_ms)
        elif self.refusal:
            return "unknown"
        checkout = self.baseline()
        with suppress(RemitError):  # without a worktree it stays unknown
            folder = await asyncio.to_thread(checkout.__enter__)  # git would stop all other runs of this process
            try:
                if folder and not execution.folder:
                    place = self.place._replace(root=folder)
                    execution = await execute(check, place, number=number, limit_ms=self.limit_ms)
            finally:
                await asyncio.to_thread(checkout.__exit__, None, None, None)
        if execution.answer == "not run":
            return "unknown"
        if key:
            counts = execution.counts
            kept = KnownResult(execution.answer, execution.duration_ms, counts.tests, counts.skipped)
            keep_result(self.place.home.ledger, key, kept)
        return execution.answer

    def _list_made(self) -> frozenset[str] | None:
        """Return the files that changed while the checks ran; None if that isn't known."""
        if self.after is None:
            return None
        with suppress(RemitError):
            return list_changed(compare(self.after, scan_again(self.after)))
        return None


def _describe_writer(writer: str) -> str:
    return f"{writer} is changing the tree; to check each agent by itself, use --worktree"


def _number_execution(attempt: int, index: int) -> int:
    """Return the number of the folder in which a check is executed first; its repetition has the next one."""
    return FIRST_CHECK * attempt + _PER_CHECK * index + 1


def load_executions(
    home: Home, session_id: str, checks: Sequence[AcceptanceCheck], *, attempt: int
) -> Iterator[tuple[str, Execution, bool]]:
    """Yield how checks ended after an attempt, from the folders that are left: name, end, whether it is a repetition.

    A check that was not needed, or whose answer was known already, has no folder.
    """
    for index, check in enumerate(checks):
        first = _number_execution(attempt, index)
        for number in (first, first + 1):
            execution = load_execution(home, session_id, check, number)
            if execution is not None:
                yield check.name, execution, number != first


def scan_for_checks(
    home: Home, root: str, before: WorkTree | None, after: WorkTree | None
) -> tuple[WorkTree | None, Comparison | None]:
    """Return the tree as the agent left it, and what changed since before the run; None if that isn't known.

    `after`: the tree that the agent's claims were compared with, if they were.
    """
    with suppress(RemitError):
        if before is None:
            return after or take_tree(home, root), None
        after = after or scan_again(before)
        return after, compare(before, after)
    return after, None


@contextmanager
def check_out_before(root: str, session_id: str, commit: str, before: WorkTree | None) -> Iterator[str]:
    """Check out the tree before a run for a while; yield its folder, or nothing if no commit has exactly that tree."""
    from remit.git.worktrees import add_worktree, find_tree, remove_worktree  # noqa: PLC0415 - only for a baseline

    parts = () if before is None else before.parts
    if not commit or len(parts) != 1 or find_tree(root, commit, parts[0].prefix) != parts[0].tree:
        yield ""
        return
    name = f"{session_id}-before"
    remove_worktree(root, name)  # of a supervisor that died
    try:
        yield add_worktree(root, name, commit=commit)
    finally:
        remove_worktree(root, name)


def make_key(check: AcceptanceCheck, tree: WorkTree | None, place: CheckPlace) -> str:
    """Return a hash of all that the answer of a check depends on; empty if the tree isn't known exactly."""
    if tree is None or tree.unread:
        return ""
    parts = [[part.name, part.prefix, part.tree] for part in tree.parts]
    facts = [parts, check.run, check.cwd, check.junit, place.is_confined, sorted(place.environ.items())]
    return take_sha256(json.dumps(facts).encode())

"""The usage of a run's attempts, and the budget that remains by its own limits and those of its callers."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from remit.attempts.folders import find_folder
from remit.errors import RefusedError, RunnerError
from remit.ledger.events import read_clock_ms
from remit.ledger.runs import count_attempts, set_usage
from remit.runners import AttemptOrder, Usage
from remit.runners.registry import get_runner
from remit.runs.admission.limits import Budget, SpentBudget, find_exhausted, left
from remit.runs.admission.run_config import read_run_config
from remit.runs.admission.run_tree import is_limited, load_tree
from remit.runs.admission.tickets import TICKET, hash_ticket
from remit.runs.judging.conclusion import add_usage
from remit.runs.supervisor.attempt_output import OutputReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.ledger.home import Home
    from remit.ledger.store import Connection
    from remit.runners import Runner, RunOutput
    from remit.runs.admission.run_tree import RunTree

_TREE_EVERY_MS = 1000


def sum_usage(outputs: Iterable[RunOutput], *, counts_thread: bool) -> Usage:
    """The usage of several attempts. If an attempt counts its whole session, its numbers replace the earlier ones."""
    by_session: dict[str | None, list[Usage]] = {}
    for output in outputs:
        usages = by_session.setdefault(output.harness_id, [])
        if (counts_thread or output.counts_session) and output.usage.tokens is not None:
            usages[:] = [Usage(turns=usage.turns) for usage in usages]  # turns are counted per attempt
        usages.append(output.usage)
    total = Usage()
    for usage in (usage for usages in by_session.values() for usage in usages):
        total = add_usage(total, usage)
    return total


class RemainingBudget:
    """The budget that a run may still use.

    The usage of its callers and nested runs is read from the ledger; the run's own usage is newer than the ledger's.
    """

    def __init__(self, home: Home, session_id: str, budget: Budget) -> None:
        self._home = home
        self._session_id = session_id
        self._budget = budget
        self._tree: RunTree | None = None
        self._tree_ms = 0

    def is_exhausted(self, usage: Usage, *, is_running: bool) -> bool:
        """Whether the budget of the run or of a caller is used up. A running agent may finish its last turn."""
        if not is_limited(self._budget):  # then no caller has a limit, either
            return False
        rest = self.find_left(usage, spare_turns=1 if is_running else 0, is_running=is_running)
        return find_exhausted(rest._replace(max_delegations=None)) is not None

    def find_left(self, usage: Usage, *, spare_turns: int = 0, is_running: bool = False) -> Budget:
        """The least that is left of the run's own budget and of its callers' budgets."""
        if not is_limited(self._budget):
            return self._budget
        tree = self._load_tree(every_ms=_TREE_EVERY_MS if is_running else 0)
        if tree is None:
            return left(self._budget, SpentBudget(usage.tokens or 0, usage.cost_usd or 0.0, usage.turns or 0))
        return tree.find_left({self._session_id: usage}, spare_turns=spare_turns)

    def describe_exhausted(self, usage: Usage) -> str:
        """A sentence on the limit that was reached; empty if it is no longer known."""
        tree = self._load_tree()
        return "" if tree is None else tree.describe_exhausted({self._session_id: usage})

    def has_open_nested(self) -> bool:
        """Whether a nested run is active, which the same limit ends."""
        return self._tree is not None and self._tree.has_open_below()

    def write_usage(self, db: Connection, usage: Usage) -> None:
        """Write the run's usage to the ledger, where callers and nested runs read it."""
        if usage != Usage():
            set_usage(db, self._session_id, tokens=usage.tokens, cost_usd=usage.cost_usd, turns=usage.turns)

    def _load_tree(self, *, every_ms: int = 0) -> RunTree | None:
        """The usage of the run's tree by the ledger; read again at most once in a period while the agent runs."""
        now_ms = read_clock_ms()
        if not 0 <= now_ms - self._tree_ms < every_ms:
            self._tree, self._tree_ms = None, now_ms
            with suppress(RefusedError):  # a row is missing, so only the run's own usage counts
                self._tree = load_tree(self._home, session_id=self._session_id)
        return self._tree


def read_callers_usage(home: Home, environ: Mapping[str, str], own_runners: Mapping[str, str]) -> dict[str, Usage]:
    """The current usage of the run that an environment belongs to, and of its callers; empty if none has a limit.

    It is read from the output of the agents: the ledger's numbers are up to a second old. Another function decides
    whether the caller may start a run at all.
    """
    token = environ.get(TICKET, "")
    tree = None
    with suppress(RefusedError):  # reported when the caller is identified
        tree = load_tree(home, ticket=hash_ticket(token)) if token else None
    if tree is None or not tree.is_limited():
        return {}
    usage = {}
    for session_id, row in tree.line.items():
        with suppress(RunnerError):  # a runner that the workspace no longer has
            base = read_run_config(tree.config[session_id]).base
            runner = get_runner(row.runner, {**own_runners, row.runner: base} if base else own_runners)
            if row.state == "running" and runner.reports_usage:
                usage[session_id] = _read_attempts_usage(home, session_id, runner, tree.config[session_id])
    return usage


def _read_attempts_usage(home: Home, session_id: str, runner: Runner, details: Mapping[str, object]) -> Usage:
    settings = read_run_config(details).settings
    outputs = []
    for number in range(1, count_attempts(home.ledger, session_id) + 1):
        folder = find_folder(home, session_id, number)
        listener = runner.listen(AttemptOrder(session_id, "", "", home.root, folder, settings=settings))
        reader = OutputReader(folder, listener)
        while reader.read_more():
            pass
        outputs.append(listener.report())
    return sum_usage(outputs, counts_thread=runner.counts_thread)

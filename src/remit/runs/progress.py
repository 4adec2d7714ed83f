"""Progress: a run and its nested runs as they are now.

Progress is read from the ledger, so it is the same whichever process supervises the run.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from remit.config.runs import LimitSettings
from remit.errors import RemitError
from remit.ledger.events import load_events
from remit.ledger.hook_runs import GRACE_MS, HOOKS_OWNER, load_last_use
from remit.ledger.runs import list_runs, load_run
from remit.ledger.slots import Slots, list_holders, list_waiting
from remit.sentences import format_duration
from remit.storage.secrets import redact
from remit.storage.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.ledger.events import LedgerEvent
    from remit.ledger.home import Home
    from remit.ledger.runs import Run

_MOST_ROWS = 1000
_MINUTE_S = 60


class RunningCheck(NamedTuple):
    """An acceptance check that is running."""

    name: str
    since_ms: int

    def describe(self, now_ms: int) -> str:
        """Return what runs, and for how long: `running check tests (12 s)`."""
        seconds = max(0, now_ms - self.since_ms) // 1000
        return f"running check {self.name} ({f'{seconds} s' if seconds < _MINUTE_S else format_duration(seconds)})"


class RunProgress(NamedTuple):
    """A run at this moment."""

    row: Run
    level: int
    """The depth below the followed run."""
    activity: str = ""
    """The last line of output or the last tool of its agent."""
    activity_ms: int | None = None
    idle_s: int = 0
    """How long the agent has been idle, if that is long enough to report."""
    tokens: int | None = None
    cost_usd: float | None = None
    is_queued: bool = False
    """Whether it waits for a slot; otherwise, it is about to start."""
    worker: str = ""
    """The worker that executes it, if it runs on another machine."""
    check: RunningCheck | None = None
    """The acceptance check that is running."""


class SlotWaiters:
    """Which of the admitted runs wait for a slot; the others are about to start."""

    def __init__(self, home: Home, rows: Sequence[Run]) -> None:
        if any(row.state == "admitted" for row in rows):
            self._slots = _load_slots(home)
            with home.ledger.reading() as db:
                holders, self._waiting = list_holders(db), list_waiting(db)
            self._used = len(holders)
            self._agents = Counter(agent for agent, _ in holders)
            self._trees = Counter(root_id for _, root_id in holders)

    def is_queued(self, row: Run) -> bool:
        """Whether no slot is free for a run."""
        if row.state != "admitted":
            return False
        ahead = bisect_left(self._waiting, row.created_ms)
        counts = (self._used + ahead, self._agents[row.agent], self._trees[row.root_id])
        return any(limit is not None and count >= limit for count, limit in zip(counts, self._slots, strict=True))


def _load_slots(home: Home) -> Slots:
    try:
        return Slots(*load_settings(home.root).runs.limits)
    except RemitError:  # progress is shown even if the settings are invalid
        return Slots(*LimitSettings())


class _AgentActivity(NamedTuple):
    number: int = 0
    text: str = ""
    at_ms: int | None = None
    idle_s: int = 0
    tokens: int | None = None
    cost_usd: float | None = None
    worker: str = ""
    check: RunningCheck | None = None


class ProgressReader:
    """Reads the progress of one run; each call of `read` loads only new events."""

    def __init__(self, home: Home, session_id: str) -> None:
        self.home = home
        self.session_id = session_id
        self._root_id = ""
        self._activities: dict[str, _AgentActivity] = {}

    def read(self) -> list[RunProgress]:
        """Return the run and all nested runs, each after its caller, oldest first."""
        if not self._root_id:
            own = load_run(self.home.ledger, self.session_id)
            if own is None:
                return []
            self._root_id = own.root_id
        rows = list_runs(self.home.ledger, root_id=self._root_id, limit=_MOST_ROWS)
        waiters = SlotWaiters(self.home, rows)
        return [self._read_run(row, level, waiters) for row, level in arrange(list(reversed(rows)), self.session_id)]

    def _read_run(self, row: Run, level: int, waiters: SlotWaiters) -> RunProgress:
        last = self._update_activity(row)
        tokens = last.tokens if row.tokens is None else row.tokens
        cost_usd = last.cost_usd if row.cost_usd is None else row.cost_usd
        return RunProgress(
            row, level, last.text, last.at_ms, last.idle_s, tokens, cost_usd, waiters.is_queued(row), last.worker,
            last.check if row.ended_ms is None else None,
        )  # fmt: skip

    def _update_activity(self, row: Run) -> _AgentActivity:
        """Return the activity of a run, updated by its new events."""
        last = self._activities.get(row.session_id, _AgentActivity())
        while events := load_events(self.home.ledger, after=last.number, session_id=row.session_id):
            for event in events:
                details = event.details
                if event.kind == "progress":
                    last = last._replace(
                        text=str(details.get("activity") or last.text), at_ms=event.at_ms, idle_s=0,
                        tokens=details.get("tokens"), cost_usd=details.get("cost_usd"), check=None,
                    )  # fmt: skip
                elif event.kind == "check":
                    last = last._replace(check=read_check_event(event), at_ms=event.at_ms, idle_s=0)
                elif event.kind == "idle":
                    last = last._replace(idle_s=int(details.get("seconds") or 0))
                elif event.kind == "acquired":
                    last = last._replace(worker=redact(str(details.get("worker") or "")))
            last = last._replace(number=events[-1].number)
        self._activities[row.session_id] = last
        used = load_harness_activity(self.home, row)
        return last if used is None else last._replace(text=used[0], at_ms=used[1])


def read_check_event(event: LedgerEvent) -> RunningCheck | None:
    """Return the check that an event says is running; None if it says how the check ended."""
    if event.details.get("state") != "started":
        return None
    return RunningCheck(redact(str(event.details.get("check", ""))), event.at_ms)


def is_in_harness(row: Run, now_ms: int) -> bool:
    """Whether a harness runs the agent and will report its end; not if the run is long overdue."""
    return row.owner == HOOKS_OWNER and row.state != "finished" and now_ms <= (row.deadline_ms or 0) + GRACE_MS


def load_harness_activity(home: Home, row: Run) -> tuple[str, int] | None:
    """The last tool that an agent of a harness used, and when; None for other agents, or without a tool use."""
    if row.owner != HOOKS_OWNER or row.state == "finished":
        return None
    with home.ledger.reading() as db:
        used = load_last_use(db, row.session_id)
    return None if used is None else (name_use(used[0], used[1]), used[2])


def name_use(tool: str, path: str | None) -> str:
    """Return the name of a tool with its file."""
    return redact(f"{tool} {path}" if path else tool)


def arrange(rows: list[Run], first: str) -> Iterator[tuple[Run, int]]:
    """Yield a run and its nested runs with their levels, each before its own nested runs."""
    below: dict[str | None, list[Run]] = {}
    for row in rows:
        below.setdefault(row.parent_id, []).append(row)
    waiting = [(row, 0) for row in rows if row.session_id == first]
    while waiting:
        row, level = waiting.pop()
        yield row, level
        waiting += [(child, level + 1) for child in reversed(below.get(row.session_id, []))]

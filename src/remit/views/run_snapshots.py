"""Runs as they are at one moment: state, progress, supervisor, and the machine that executes them.

All of it is read from the ledger, the folders of attempts and, for runs on other machines, the shared database.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.attempts.folders import list_living
from remit.attempts.output import find_last_output_ms
from remit.cluster.workers_status import find_place, is_remote
from remit.errors import UsageError
from remit.ledger.events import read_clock_ms
from remit.ledger.home import Home
from remit.ledger.hook_runs import HOOKS_OWNER
from remit.ledger.queries import NOTHING_HEARD, load_last_activity
from remit.ledger.runs import REMOTE_OWNER, find_sessions, list_runs, list_taken, load_run
from remit.runs.admission.run_config import read_run_config
from remit.runs.admission.tickets import TICKET
from remit.runs.progress import RunProgress, SlotWaiters, is_in_harness, name_use, read_check_event
from remit.spelling import find_similar
from remit.storage.secrets import redact, redact_all
from remit.storage.settings import find_workspace
from remit.storage.supervisor_presence import find_process, is_present

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.cluster.database.session_rows import SessionRow
    from remit.cluster.workers_status import ClusterStatus, SessionPlace
    from remit.ledger.queries import LastActivity
    from remit.ledger.runs import Run
    from remit.schemas import RunStateName


LAST = "-"
"""The word for the last run that a user started."""
MOST_ROWS = 10_000
_NAMED = 5
_FOR_MEANT = 500
_SHORT = 3
"""The shortest part of an id that is searched for."""


class RunSnapshot(NamedTuple):
    """A run at one moment."""

    seen: RunProgress
    is_supervised: bool = False
    """Whether its supervisor is alive, or the harness that started its agent will report its end."""
    driver_pid: int | None = None
    is_alive: bool = False
    """Whether any process that Remit started for its agent is alive."""
    waits_for: tuple[str, ...] = ()
    """The agents of the nested runs that it waits for."""
    now_ms: int = 0
    harness: str = ""
    """The harness that started its agent; empty if Remit did, or if the harness is silent."""
    place: SessionPlace | None = None
    """The machine that executes it; None for this machine."""

    @property
    def row(self) -> Run:
        """Its row in the ledger."""
        return self.seen.row

    @property
    def work(self) -> str:
        """The prompt, shortened to a line."""
        return redact(str(self.row.details.get("work", "")))

    @property
    def is_open(self) -> bool:
        """Whether it hasn't finished."""
        return self.row.state != "finished"

    @property
    def is_abandoned(self) -> bool:
        """Whether it hasn't finished and has no supervisor."""
        return self.is_open and not self.is_supervised and self.place is None

    @property
    def is_unfollowed(self) -> bool:
        """Whether another machine executes it, and no process here fetches its result."""
        return self.is_open and not self.is_supervised and self.place is not None

    @property
    def is_lost(self) -> bool:
        """Whether its harness has failed to report its end in time."""
        return self.is_abandoned and self.row.owner == HOOKS_OWNER

    @property
    def state(self) -> RunStateName:
        """What the run does now; see `schemas.RunStateName`."""
        if not self.is_open:
            return "finished"
        if self.is_abandoned:
            return "abandoned"
        if self.place is not None and self.place.state == "done" and not self.is_supervised:
            return "ended"
        if self.row.state == "admitted":
            return "queued" if self.seen.is_queued else "starting"
        if self.row.state == "running":
            return "waiting" if self.waits_for else "running"
        return "finishing"

    @property
    def word(self) -> str:
        """The status of a finished run, its stop reason if it has none; the state of any other run."""
        return self.state if self.is_open else self.row.status or self.row.stop_reason or self.state


def open_home() -> Home:
    """The workspace's `.remit` folder, which is not created if it doesn't exist."""
    return Home(find_workspace())


def has_ledger(home: Home) -> bool:
    """Whether the workspace has a ledger."""
    return os.path.lexists(home.ledger_file)


# --- names of runs ----------------------------------------------------------------------------------------------------


def find_session(home: Home, word: str | None) -> str:
    """The session id that a user means: whole, its beginning or its end, or `-` for the last run."""
    if not has_ledger(home):
        raise UsageError("this workspace has no runs yet", hint="start with: remit run PROMPT")
    if word is None or word == LAST:
        last = list_runs(home.ledger, only_first=TICKET not in os.environ, limit=1)
        if not last:
            raise UsageError("this workspace has no runs yet", hint="start with: remit run PROMPT")
        return last[0].session_id
    found = find_sessions(home.ledger, word, limit=_NAMED + 1) if len(word) >= _SHORT else []
    if len(found) == 1:
        return found[0]
    if found:
        more = ", …" if len(found) > _NAMED else ""
        message = f"'{word}' could be {', '.join(found[:_NAMED])}{more}"
        raise UsageError(message, hint="give more of the id", candidates=found)
    known = [row.session_id for row in list_runs(home.ledger, limit=_FOR_MEANT)]
    meant = find_similar(word, known)
    hint = "remit ps --all lists the runs" if meant is None else f"did you mean {meant}?"
    raise UsageError(f"no run matches '{word}'", hint=hint)


def load_row(home: Home, word: str) -> Run:
    """The ledger row of a run, by its id or a part of it."""
    row = load_run(home.ledger, word) if has_ledger(home) else None
    if row is None:
        session_id = find_session(home, word)  # before the ledger is opened, which would create it
        row = load_run(home.ledger, session_id)
    if row is None:  # it was deleted just now
        raise UsageError(f"no run matches '{word}'", hint="remit ps --all lists the runs")
    return row


# --- snapshots --------------------------------------------------------------------------------------------------------


def list_snapshots(
    home: Home, *, everything: bool = False, limit: int = MOST_ROWS, cluster: ClusterStatus | None = None
) -> list[RunSnapshot]:
    """The open runs, or all runs; newest first."""
    if not has_ledger(home):
        return []
    return load_snapshots(home, list_runs(home.ledger, only_open=not everything, limit=limit), cluster)


def load_snapshots(home: Home, rows: Sequence[Run], cluster: ClusterStatus | None = None) -> list[RunSnapshot]:
    """The snapshots of some runs; the state of open runs is read for all at once.

    `cluster`: the state of runs on other machines, from the shared database.
    """
    crew = _OpenRuns(home, [row for row in rows if row.state != "finished"])
    crew.remote = {} if cluster is None else cluster.rows
    crew.taken = list_taken(home.ledger, [row.session_id for row in rows if is_remote(row)])
    return [crew.stand(row) for row in rows]


class _OpenRuns:
    """The processes and the last activity of open runs, read once."""

    def __init__(self, home: Home, rows: Sequence[Run]) -> None:
        self.now_ms = read_clock_ms()
        self._heard = load_last_activity(home.ledger, [row.session_id for row in rows]) if rows else {}
        owners = {row.owner for row in rows}
        self._pids = {owner: find_process(home, owner) for owner in owners if is_present(home, owner)}
        self._living = {each.session_id: each.folder for each in list_living(home)} if rows else {}
        self._room = SlotWaiters(home, rows)
        self.remote: Mapping[str, SessionRow] = {}
        self.taken: Mapping[str, Mapping[str, Any]] = {}

    def stand(self, row: Run) -> RunSnapshot:
        remote_row = self.remote.get(row.session_id)
        place = redact_all(find_place(row, remote_row, self.taken.get(row.session_id)))
        if row.state == "finished":
            seen = RunProgress(row, 0, tokens=row.tokens, cost_usd=row.cost_usd)
            return RunSnapshot(_at(seen, place), now_ms=self.now_ms, place=place)
        if place is not None:
            return self._make_remote_snapshot(row, place, remote_row)
        harness = row.runner if is_in_harness(row, self.now_ms) else ""
        pid = None if harness else self._pids.get(row.owner)
        last = self._heard.get(row.session_id, NOTHING_HEARD)
        waits = last.waits_for if row.state == "running" else ()
        folder = self._living.get(row.session_id)
        seen = _load_progress(row, folder, last, self.now_ms)._replace(is_queued=self._room.is_queued(row))
        is_supervised = bool(harness) or row.owner in self._pids
        return RunSnapshot(seen, is_supervised, pid, folder is not None, waits, self.now_ms, harness)

    def _make_remote_snapshot(self, row: Run, place: SessionPlace, remote_row: SessionRow | None) -> RunSnapshot:
        """The snapshot of a run on another machine: from the ledger if a process here follows it, else the database."""
        is_followed = row.owner in self._pids
        last = self._heard.get(row.session_id, NOTHING_HEARD)
        if remote_row is not None and not is_followed:
            row = _update(row, remote_row)
        seen = _load_progress(row, None, last, self.now_ms)._replace(is_queued=row.state == "admitted")
        if remote_row is not None and not is_followed:
            seen = seen._replace(activity=redact(str(remote_row.live.get("activity") or seen.activity)))
        if not is_followed:
            seen = seen._replace(idle_s=0)  # no process here receives its output
        waits = last.waits_for if row.state == "running" else ()
        is_supervised = is_followed or row.owner == REMOTE_OWNER  # the machine of its caller supervises it
        pid = self._pids.get(row.owner)
        return RunSnapshot(
            _at(seen, place), is_supervised, pid, place.state == "running", waits, self.now_ms, "", place
        )


def _at(seen: RunProgress, place: SessionPlace | None) -> RunProgress:
    return seen if place is None else seen._replace(worker=place.worker)


def _update(row: Run, remote_row: SessionRow) -> Run:
    """A row updated by the newer data of the database."""
    from remit.cluster.row_conversion import make_run

    now = make_run(remote_row)
    if now.state == "finished" or row.state not in ("admitted", "running"):
        return row
    return row._replace(
        state=now.state, started_ms=row.started_ms or now.started_ms, deadline_ms=now.deadline_ms or row.deadline_ms,
        tokens=row.tokens if now.tokens is None else now.tokens,
        cost_usd=row.cost_usd if now.cost_usd is None else now.cost_usd,
    )  # fmt: skip


def _load_progress(row: Run, folder: str | None, last: LastActivity, now_ms: int) -> RunProgress:
    """The progress of a run: from its supervisor's reports and its agent's output."""
    remote_row, used = last.progress, last.use if row.owner == HOOKS_OWNER else None
    details: dict[str, Any] = {} if remote_row is None else remote_row.details
    printed_ms = None if folder is None else find_last_output_ms(folder)
    said, used_ms = (
        (str(details.get("activity") or ""), None) if used is None else (name_use(used[0], used[1]), used[2])
    )
    times = [
        each for each in (printed_ms, used_ms, None if remote_row is None else remote_row.at_ms) if each is not None
    ]
    activity_ms = max(times, default=None)
    since_ms = max(activity_ms or 0, row.started_ms or 0)
    check = None if last.check is None else read_check_event(last.check)
    idle_s = (now_ms - since_ms) // 1000 if row.state == "running" and last.check is None else 0
    return RunProgress(
        row, 0, redact(said), activity_ms,
        idle_s if idle_s > read_run_config(row.details).idle_s else 0,
        details.get("tokens") if row.tokens is None else row.tokens,
        details.get("cost_usd") if row.cost_usd is None else row.cost_usd,
        check=check,
    )  # fmt: skip

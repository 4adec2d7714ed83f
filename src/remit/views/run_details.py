"""The details of runs, whether a process supervises them or not.

Owns how a session is named by people, how a delegation stands at this moment, and the whole record of one. All of it is
read from the ledger and the session's folder; nothing is driven and nothing changed. Agents write into both, so secrets
are taken out of every text that leaves here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from remit.attempts.folders import SESSIONS, list_living
from remit.attempts.output import find_last_output_ms
from remit.cluster.workers_status import find_place, is_elsewhere
from remit.errors import RemitError, UsageError
from remit.ledger.events import load_last_event, read_clock_ms
from remit.ledger.history import list_steps
from remit.ledger.home import Home
from remit.ledger.hook_runs import HOOKS_OWNER
from remit.ledger.queries import NOTHING_HEARD, load_last_activity
from remit.ledger.runs import REMOTE_OWNER, find_sessions, list_attempts, list_runs, list_taken, load_run
from remit.ledger.texts import list_texts, load_text
from remit.model import NOTHING
from remit.runs.admission.run_config import NAMES, SEAL, VALUES, read_run_config
from remit.runs.admission.tickets import TICKET
from remit.runs.progress import RunProgress, SlotWaiters, arrange, is_in_harness, name_use
from remit.runs.results.full_result import load_report
from remit.spelling import find_similar
from remit.storage.secrets import MARK, redact
from remit.storage.settings import find_workspace
from remit.storage.supervisors import find_process, is_present

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.cluster.database.session_rows import SessionRow
    from remit.cluster.workers_status import ClusterStatus, SessionPlace
    from remit.ledger.history import StoredStep
    from remit.ledger.queries import LastActivity
    from remit.ledger.runs import AttemptRow, Run
    from remit.result import Result
    from remit.runs.admission.run_config import RunConfig
    from remit.schemas import RunStateName

LAST = "-"
"""Stands for the delegation that was asked for last; for a person, not for one that an agent handed on."""
MOST_ROWS = 10_000
_NAMED = 5
_FOR_MEANT = 500
_SHORT = 3
"""Fewer letters of an id name nobody."""

T = TypeVar("T")


class Standing(NamedTuple):
    """How a delegation stands at this moment."""

    seen: RunProgress
    is_driven: bool = False
    """Whether its supervisor lives, or the harness that started its agent is to tell of its end."""
    driver_pid: int | None = None
    is_alive: bool = False
    """Whether anything is alive that Remit has started for its agent."""
    waits_for: tuple[str, ...] = ()
    """The agents that it handed work to and waits for."""
    now_ms: int = 0
    harness: str = ""
    """The harness whose own agent it is; empty where Remit has started it, or nothing is heard of it any more."""
    place: SessionPlace | None = None
    """Where it is done, if another machine does it."""

    @property
    def row(self) -> Run:
        """Its row in the ledger."""
        return self.seen.row

    @property
    def work(self) -> str:
        """What was asked for, as much as fits a line."""
        return redact(str(self.row.details.get("work", "")))

    @property
    def is_open(self) -> bool:
        """Whether it is not over."""
        return self.row.state != "finished"

    @property
    def is_abandoned(self) -> bool:
        """Whether it is not over and nobody drives it."""
        return self.is_open and not self.is_driven and self.place is None

    @property
    def is_unfollowed(self) -> bool:
        """Whether another machine does it, and nobody here takes in what comes of it."""
        return self.is_open and not self.is_driven and self.place is not None

    @property
    def is_lost(self) -> bool:
        """Whether its harness should have told of its end long ago."""
        return self.is_abandoned and self.row.owner == HOOKS_OWNER

    @property
    def state(self) -> RunStateName:
        """What the run does now; see `schemas.RunStateName`."""
        if not self.is_open:
            return "finished"
        if self.is_abandoned:
            return "abandoned"
        if self.place is not None and self.place.state == "done" and not self.is_driven:
            return "ended"
        if self.row.state == "admitted":
            return "queued" if self.seen.is_held else "starting"
        if self.row.state == "running":
            return "waiting" if self.waits_for else "running"
        return "finishing"

    @property
    def word(self) -> str:
        """The status of a finished run, its stop reason if it has none; the state of any other run."""
        return self.state if self.is_open else self.row.status or self.row.stop_reason or self.state


class RunRecord(NamedTuple):
    """All that is known of one delegation."""

    standing: Standing
    config: RunConfig
    attempts: tuple[AttemptRow, ...] = ()
    report: Result | None = None
    """What became of it, whole; None until its agent has ended."""
    steps: tuple[StoredStep, ...] = ()
    below: tuple[Standing, ...] = ()
    """Those that it handed work to, and those below them."""
    folder: str = ""
    files: tuple[str, ...] = ()
    """What its agent printed and was given, as files."""
    texts: tuple[tuple[str, str], ...] = ()
    """What was asked and answered, word for word but for secrets; only where all was asked for."""
    arrived: Mapping[str, Any] = NOTHING
    """How what another machine made came here."""


def open_home() -> Home:
    """The workspace's own folder. Where nothing was ever delegated, none is made."""
    return Home(find_workspace())


def has_ledger(home: Home) -> bool:
    """Whether anything was ever written down."""
    return os.path.lexists(home.ledger_file)


# --- which one -------------------------------------------------------------------------------------------------------


def find_session(home: Home, word: str | None) -> str:
    """The session that a person means: by its whole id, its beginning or its end, or `-` for the last one."""
    if not has_ledger(home):
        raise UsageError("nothing was delegated here yet", hint="start with: remit run PROMPT")
    if word is None or word == LAST:
        last = list_runs(home.ledger, only_first=TICKET not in os.environ, limit=1)
        if not last:
            raise UsageError("nothing was delegated here yet", hint="start with: remit run PROMPT")
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
    hint = "remit ps --all shows what there is" if meant is None else f"did you mean {meant}?"
    raise UsageError(f"there is no delegation '{word}'", hint=hint)


# --- how it stands ---------------------------------------------------------------------------------------------------


def list_work(
    home: Home, *, everything: bool = False, limit: int = MOST_ROWS, cluster: ClusterStatus | None = None
) -> list[Standing]:
    """The delegations that are open, or all of them; newest first."""
    if not has_ledger(home):
        return []
    return load_standings(home, list_runs(home.ledger, only_open=not everything, limit=limit), cluster)


def list_tree(home: Home, session_id: str, *, cluster: ClusterStatus | None = None) -> list[Standing]:
    """A delegation and all below it, each under the one that handed it on."""
    own = load_run(home.ledger, session_id)
    rows = [] if own is None else list_runs(home.ledger, root_id=own.root_id, limit=MOST_ROWS)
    ordered = list(arrange(rows[::-1], session_id))
    standings = load_standings(home, [row for row, _ in ordered], cluster)
    return [each._replace(seen=each.seen._replace(level=level))
            for each, (_, level) in zip(standings, ordered, strict=True)]  # fmt: skip


def list_roots(home: Home) -> list[str]:
    """The first delegations of the trees in which something is open, oldest first; else the last one that was."""
    if not has_ledger(home):
        return []
    rows = list_runs(home.ledger, only_open=True, limit=MOST_ROWS)
    roots = list(dict.fromkeys(row.root_id for row in reversed(rows)))
    return roots or [row.root_id for row in list_runs(home.ledger, limit=1)]


def load_standings(home: Home, rows: Sequence[Run], cluster: ClusterStatus | None = None) -> list[Standing]:
    """How some delegations stand. What is to be found out of those that are open is asked for all of them at once.

    `cluster`: what the database of other machines says of those that are done there.
    """
    crew = _OpenRuns(home, [row for row in rows if row.state != "finished"])
    crew.told = {} if cluster is None else cluster.rows
    crew.taken = list_taken(home.ledger, [row.session_id for row in rows if is_elsewhere(row)])
    return [crew.stand(row) for row in rows]


class _OpenRuns:
    """Who is at work in some delegations that are open, as it is at one moment."""

    def __init__(self, home: Home, rows: Sequence[Run]) -> None:
        self.now_ms = read_clock_ms()
        self._heard = load_last_activity(home.ledger, [row.session_id for row in rows]) if rows else {}
        owners = {row.owner for row in rows}
        self._pids = {owner: find_process(home, owner) for owner in owners if is_present(home, owner)}
        self._living = {each.session_id: each.folder for each in list_living(home)} if rows else {}
        self._room = SlotWaiters(home, rows)
        self.told: Mapping[str, SessionRow] = {}
        self.taken: Mapping[str, Mapping[str, Any]] = {}

    def stand(self, row: Run) -> Standing:
        told = self.told.get(row.session_id)
        place = clean(find_place(row, told, self.taken.get(row.session_id)))
        if row.state == "finished":
            seen = RunProgress(row, 0, tokens=row.tokens, cost_usd=row.cost_usd)
            return Standing(_at(seen, place), now_ms=self.now_ms, place=place)
        if place is not None:
            return self._stand_elsewhere(row, place, told)
        harness = row.runner if is_in_harness(row, self.now_ms) else ""
        pid = None if harness else self._pids.get(row.owner)
        heard = self._heard.get(row.session_id, NOTHING_HEARD)
        waits = heard.waits_for if row.state == "running" else ()
        folder = self._living.get(row.session_id)
        seen = _load_progress(row, folder, heard, self.now_ms)._replace(is_held=self._room.is_held(row))
        is_driven = bool(harness) or row.owner in self._pids
        return Standing(seen, is_driven, pid, folder is not None, waits, self.now_ms, harness)

    def _stand_elsewhere(self, row: Run, place: SessionPlace, told: SessionRow | None) -> Standing:
        """One that another machine does: whoever follows it here has told the ledger, else the database knows more."""
        is_followed = row.owner in self._pids
        heard = self._heard.get(row.session_id, NOTHING_HEARD)
        if told is not None and not is_followed:
            row = _update(row, told)
        seen = _load_progress(row, None, heard, self.now_ms)._replace(is_held=row.state == "admitted")
        if told is not None and not is_followed:
            seen = seen._replace(said=redact(str(told.live.get("said") or seen.said)))
        if not is_followed:
            seen = seen._replace(idle_s=0)  # nobody listens here
        waits = heard.waits_for if row.state == "running" else ()
        is_driven = is_followed or row.owner == REMOTE_OWNER  # its own caller does, wherever that is
        pid = self._pids.get(row.owner)
        return Standing(_at(seen, place), is_driven, pid, place.state == "running", waits, self.now_ms, "", place)


def _at(seen: RunProgress, place: SessionPlace | None) -> RunProgress:
    return seen if place is None else seen._replace(worker=place.worker)


def _update(row: Run, told: SessionRow) -> Run:
    """A row with what the database knows of it besides."""
    from remit.cluster.row_conversion import shape_row

    now = shape_row(told)
    if now.state == "finished" or row.state not in ("admitted", "running"):
        return row
    return row._replace(
        state=now.state, started_ms=row.started_ms or now.started_ms, deadline_ms=now.deadline_ms or row.deadline_ms,
        tokens=row.tokens if now.tokens is None else now.tokens,
        cost_usd=row.cost_usd if now.cost_usd is None else now.cost_usd,
    )  # fmt: skip


def _load_progress(row: Run, folder: str | None, heard: LastActivity, now_ms: int) -> RunProgress:
    """What was last heard of it: by its supervisor, and in what its agent printed."""
    told, used = heard.progress, heard.use if row.owner == HOOKS_OWNER else None
    details: dict[str, Any] = {} if told is None else told.details
    printed_ms = None if folder is None else find_last_output_ms(folder)
    said, used_ms = (str(details.get("said") or ""), None) if used is None else (name_use(used[0], used[1]), used[2])
    times = [each for each in (printed_ms, used_ms, None if told is None else told.at_ms) if each is not None]
    heard_ms = max(times, default=None)
    since_ms = max(heard_ms or 0, row.started_ms or 0)
    idle_s = (now_ms - since_ms) // 1000 if row.state == "running" else 0
    return RunProgress(
        row, 0, redact(said), heard_ms,
        idle_s if idle_s > read_run_config(row.details).idle_s else 0,
        details.get("tokens") if row.tokens is None else row.tokens,
        details.get("cost_usd") if row.cost_usd is None else row.cost_usd,
    )  # fmt: skip


# --- all of it -------------------------------------------------------------------------------------------------------


def load_record(
    home: Home, session_id: str, *, full: bool = False, cluster: ClusterStatus | None = None
) -> RunRecord:  # fmt: skip
    """All that is known of a delegation; with every text where it is asked for."""
    tree = list_tree(home, session_id, cluster=cluster)
    row = tree[0].row
    folder = find_folder(home, session_id)
    return RunRecord(
        tree[0],
        clean(hide_environ(read_run_config(row.details))),
        tuple(clean(each) for each in list_attempts(home.ledger, session_id)),
        clean(load_kept_report(home, row)),
        tuple(clean(each) for each in list_steps(home.ledger, session_id)),
        tuple(tree[1:]),
        folder,
        tuple(list_files(folder)),
        tuple(load_texts(home, session_id)) if full else (),
        clean(load_arrived(home, row)),
    )


def find_folder(home: Home, session_id: str) -> str:
    """The folder of a run's attempts; empty if there is none."""
    folder = f"{home.folder}/{SESSIONS}/{session_id}"
    return folder if os.path.isdir(folder) else ""


def load_arrived(home: Home, row: Run) -> Mapping[str, Any]:
    """How the work of another machine arrived here."""
    event = load_last_event(home.ledger, row.session_id, "arrived") if is_elsewhere(row) else None
    return {} if event is None else event.details


def hide_environ(config: RunConfig) -> RunConfig:
    """The names of the variables that the workspace sets for a runner, without what they are set to."""
    names = config.settings.get(NAMES) or config.settings.get(VALUES)
    if not isinstance(names, list | tuple | dict):
        return config
    shown = {name: value for name, value in config.settings.items() if name not in (NAMES, SEAL)}
    return config._replace(settings=shown | {VALUES: dict.fromkeys(names, f"{MARK}]")})


def load_kept_report(home: Home, row: Run) -> Result | None:
    """What became of a delegation, whole, with secrets; None until its agent has ended, and where nothing is kept."""
    return (
        load_report(home, row.session_id)[0] if row.state in ("finishing", "finished") and _is_kept(home, row) else None
    )


def _is_kept(home: Home, row: Run) -> bool:
    return "report" in list_texts(home, row.session_id)


def list_files(folder: str) -> list[str]:
    """The files that agent and shim have left, as paths; none is opened."""
    found = []
    for number in sorted(filter(str.isdecimal, _list_names(folder)), key=int):
        names = [name for name in sorted(_list_names(f"{folder}/{number}")) if name in _SHOWN_FILES]
        found += [file for name in names if _is_filled(file := f"{folder}/{number}/{name}")]
    return found


def _is_filled(file: str) -> bool:
    try:
        return os.lstat(file).st_size > 0
    except OSError:  # it was removed meanwhile
        return False


_SHOWN_FILES = frozenset({"stdin", "out", "err", "out.tail", "err.tail", "shim.err"})


def _list_names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def load_texts(home: Home, session_id: str) -> list[tuple[str, str]]:
    """What was asked and answered. A text whose file is gone or damaged says so."""
    found = []
    for kind in sorted(set(list_texts(home, session_id)) - {"report"}, key=_rank_text):
        try:
            data = load_text(home, session_id, kind) or b""
        except RemitError as error:
            data = f"({error})".encode()
        found.append((kind, redact(data.decode("utf-8", "replace"))))
    return found


def _rank_text(kind: str) -> tuple[int, int, str]:
    """What was asked, then the answers in their order."""
    number = kind.removeprefix("answer-")
    return (1, int(number), "") if number.isdecimal() else (0, 0, kind)


def clean(value: T) -> T:
    """The same value without the secrets in its texts."""
    cleaned: Any = value
    if isinstance(value, str):
        cleaned = redact(value)
    elif isinstance(value, tuple):
        inner = [clean(each) for each in value]
        cleaned = type(value)(*inner) if hasattr(value, "_fields") else tuple(inner)
    elif isinstance(value, list):
        cleaned = [clean(each) for each in value]
    elif isinstance(value, dict):
        cleaned = {name: clean(each) for name, each in value.items()}
    return cleaned  # type: ignore[no-any-return]

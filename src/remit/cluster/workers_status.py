"""The status of a workspace's cluster for `ps`, `show` and the dashboard: one short, read-only query.

Rows of this workspace's run trees are also copied into the ledger, as the supervisor does for runs that it follows.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from remit.config import BACKEND, LOCAL, fill_backend
from remit.errors import ClusterError, ConfigError, InputError, RemitError
from remit.ledger.runs import REMOTE_OWNER
from remit.storage.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence

    from remit.cluster.database.overview import DatabaseOverview
    from remit.cluster.database.session_rows import SessionRow
    from remit.ledger.home import Home
    from remit.ledger.runs import Run

TIMEOUT_S = 2.0
"""Time limit of a status query."""
NO_WORKER = "no worker is there: start one with remit worker start"
_MAX_OPEN = 10_000
_CALLER_PREFIX = "caller-"
"""Prefix of the worker id if the caller itself has published the result."""

T = TypeVar("T")


class ClusterStatus(NamedTuple):
    """The state of the shared database, or the error of the query."""

    database: str
    """Its URL, without the password."""
    overview: DatabaseOverview | None = None
    error: RemitError | None = None

    @property
    def rows(self) -> Mapping[str, SessionRow]:
        """The queried sessions by id."""
        return {} if self.overview is None else {row.session_id: row for row in self.overview.rows}

    @property
    def lag_s(self) -> float | None:
        """The age of the oldest waiting session; None if none is waiting."""
        ages = [] if self.overview is None else [queue.oldest_s for queue in self.overview.queues]
        return max((age for age in ages if age is not None), default=None)

    @property
    def has_active_worker(self) -> bool:
        """Whether a worker is taking runs."""
        return self.overview is not None and any(
            each.is_live and each.state == "active" for each in self.overview.workers
        )


class SessionPlace(NamedTuple):
    """Where a remote run is executed."""

    state: str = ""
    """The state in the database: admitted, posted, queued, running or done; empty if it wasn't queried."""
    worker: str = ""
    host: str = ""
    fence: int = 0
    queue: str = ""
    waited_s: float | None = None
    """How long the run waited for a worker."""
    lease_left_s: float | None = None

    @property
    def is_late(self) -> bool:
        """Whether its worker's lease has expired."""
        return self.state == "running" and self.lease_left_s is not None and self.lease_left_s < 0


def is_remote(row: Run) -> bool:
    """Return whether another machine executes a run."""
    return row.owner == REMOTE_OWNER or bool(row.details.get("remote"))


def find_place(row: Run, database_row: SessionRow | None, taken: Mapping[str, Any] | None) -> SessionPlace | None:
    """Return where a run is executed: from the database, else from the `taken` event; None for this machine."""
    if database_row is not None:
        is_given_up = (database_row.worker_id or "").startswith(_CALLER_PREFIX)
        worker = "" if is_given_up else database_row.worker_id or ""
        lease_left_s = database_row.lease_left_s if database_row.state == "running" else None
        left_s = None if lease_left_s is None else round(lease_left_s, 1)
        return SessionPlace(
            database_row.state,
            worker,
            database_row.host or "",
            database_row.fence,
            database_row.queue,
            round(database_row.waited_s, 1),
            left_s,
        )
    if not is_remote(row):
        return None
    known = taken or {}
    fence = known.get("fence")
    return SessionPlace(
        worker=str(known.get("worker") or ""),
        host=str(known.get("host") or ""),
        fence=fence if isinstance(fence, int) else 0,
    )


# --- queries ----------------------------------------------------------------------------------------------------------


def find_address(root: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the URL of a workspace's shared database; empty if it has none. An untrusted URL raises an error."""
    given = os.environ if environ is None else environ
    if given.get(BACKEND, "").strip():
        return fill_backend(LOCAL, given)
    try:
        settings = load_settings(root)
    except (ConfigError, InputError):  # invalid settings don't prevent showing the local runs
        return ""
    url = fill_backend(settings.backend, given)
    if url:
        from remit.runs.workspace_trust import check_trust  # noqa: PLC0415 - only with other machines

        check_trust(root, settings)
    return url


def query_status(
    root: str, *, roots: Sequence[str] | None = None, only_open: bool = False, seconds: float = TIMEOUT_S
) -> ClusterStatus | None:  # fmt: skip
    """Query the database for the sessions of some trees, or of all; None if the workspace has no cluster."""
    try:
        url = find_address(root)
    except RemitError as error:
        return ClusterStatus("PostgreSQL", error=error)
    if not url:
        return None
    from remit.cluster.database import overview, store  # noqa: F401, PLC0415 - outside of the time limit: 0.2 s
    from remit.cluster.database.driver import load_psycopg, render_url  # noqa: PLC0415 - only with other machines

    display = render_url(url)
    try:
        load_psycopg()
        found: DatabaseOverview = run_with_timeout(
            lambda: _query(url, roots, only_open=only_open, seconds=seconds), display, seconds
        )
    except RemitError as error:
        return ClusterStatus(display, error=error)
    return ClusterStatus(display, found)


async def _query(url: str, roots: Sequence[str] | None, *, only_open: bool, seconds: float) -> DatabaseOverview:
    from remit.cluster.database.overview import load_overview  # noqa: PLC0415 - only with other machines
    from remit.cluster.database.store import Database  # noqa: PLC0415

    db = Database(url, name="remit status")
    try:
        return await load_overview(db, roots=roots, only_open=only_open, timeout_s=seconds)
    finally:
        await db.close()


def run_with_timeout(make: Callable[[], Coroutine[Any, Any, T]], display: str, seconds: float) -> T:
    """Run a coroutine in a daemon thread, which is abandoned at the time limit, wherever it is blocked."""
    import asyncio  # noqa: PLC0415 - 30 ms, and only with other machines
    import threading  # noqa: PLC0415

    results: list[T] = []
    failed: list[Exception] = []

    def work() -> None:
        try:
            results.append(asyncio.run(make()))
        except Exception as error:  # noqa: BLE001 - raised in the calling thread
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not results:
        hint = "check that PostgreSQL runs and can be reached from here"
        raise ClusterError(f"{display} does not answer within {seconds:.0f} s", hint=hint)
    return results[0]


# --- the workspace's ledger -------------------------------------------------------------------------------------------


def load_status(home: Home, session_id: str | None = None, *, seconds: float = TIMEOUT_S) -> ClusterStatus | None:
    """Query the open runs of this workspace, or the tree of one run, and copy their rows into the ledger.

    Returns None if the workspace has no cluster, and for a finished tree of this machine.
    """
    from remit.ledger.runs import list_runs, load_run  # noqa: PLC0415 - with a ledger

    rows: list[Run] = []
    if session_id is not None:
        own = load_run(home.ledger, session_id)
        rows = [] if own is None or (own.state == "finished" and not is_remote(own)) else [own]
        if not rows:
            return None
    elif os.path.lexists(home.ledger_file):
        rows = list_runs(home.ledger, only_open=True, limit=_MAX_OPEN)
    roots = [*dict.fromkeys(row.root_id for row in rows)]
    cluster = query_status(home.root, roots=roots, seconds=seconds)
    if cluster is not None and cluster.overview is not None:
        with suppress(RemitError):  # the status can be shown without the copy
            mirror_rows(home, cluster.overview.rows)
    return cluster


def mirror_rows(home: Home, rows: Iterable[SessionRow]) -> None:
    """Copy new and changed rows of remote runs into the ledger."""
    from remit.cluster.row_conversion import make_run  # noqa: PLC0415 - only with other machines
    from remit.ledger.runs import load_run, mirror_remote_run  # noqa: PLC0415

    new = []
    for row in rows:
        known, current = load_run(home.ledger, row.session_id), make_run(row)
        if known is None or (known.owner == REMOTE_OWNER and _summarize(known) != _summarize(current)):
            new.append(current)
    if new:
        with home.ledger.transaction() as db:
            for each in new:
                mirror_remote_run(db, each)


def _summarize(row: Run) -> tuple[object, ...]:
    return row.state, row.status, row.stop_reason, row.tokens, row.cost_usd, row.turns

"""The workers of a workspace on other machines, and the runs that wait for them.

Owns what is shown of it as JSON, and that a page which looks again and again does not ask the database each time.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.cluster.workers_status import ClusterStatus, ask, find_address, is_elsewhere, watch
from remit.errors import RemitError
from remit.ledger.runs import load_run
from remit.storage.secrets import redact
from remit.views.run_details import has_ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.cluster.database.session_rows import SessionRow
    from remit.cluster.database.workers import WorkerRow
    from remit.ledger.home import Home
    from remit.ledger.runs import Run

_FRESH_S = 1.0
_QUIET_S = 10.0
"""So long a database that did not answer is left alone."""
_MOST_LEASES = 200
_MOST_KEPT = 100


class _CachedStatus(NamedTuple):
    cluster: ClusterStatus | None
    until_s: float

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() < self.until_s


_kept: dict[tuple[str, str], _CachedStatus] = {}
_silent: dict[str, _CachedStatus] = {}
"""The databases that did not answer, by the workspaces that asked."""
_asking = threading.Lock()


def load_cluster(home: Home) -> dict[str, Any]:
    """Workers, queues, and the leases that are held now, of whichever workspace."""
    cluster = _recall((home.root, ""), lambda: ask(home.root, only_open=True))
    if cluster is None:
        return {"backend": "local"}
    rows = [] if cluster.look is None else [row for row in cluster.look.rows if row.state == "running"]
    leases = [_build_lease(row) | {"here": _is_known(home, row.session_id)} for row in rows[:_MOST_LEASES]]
    return {"backend": "postgresql"} | build_cluster(cluster) | {"leases": leases}


def _is_known(home: Home, session_id: str) -> bool:
    return has_ledger(home) and load_run(home.ledger, session_id) is not None


def load_recent_status(home: Home, rows: Sequence[Run], root_id: str | None = None) -> ClusterStatus | None:
    """What the database said a moment ago, where some delegations are done elsewhere: of all that is open, or a tree.

    Of what is over only a tree is asked for: a list of many has what was told here.
    """
    if not any(is_elsewhere(row) and (root_id is not None or row.state != "finished") for row in rows):
        return None
    return _recall((home.root, root_id or "-"), lambda: watch(home, root_id))


def name_backend(home: Home) -> str:
    """Where delegations run: local, or postgresql."""
    try:
        return "postgresql" if find_address(home.root) else "local"
    except RemitError:  # one is named, and may not be used as it is
        return "postgresql"


def _recall(key: tuple[str, str], look: Callable[[], ClusterStatus | None]) -> ClusterStatus | None:
    """What was said a moment ago, or is said now. While another asks, what was said before is good enough."""
    kept = _kept.get(key)
    if kept is not None and (kept.is_fresh or _asking.locked()):
        return kept.cluster
    with _asking:
        silent, kept = _silent.get(key[0]), _kept.get(key)
        if silent is not None and silent.is_fresh:
            return silent.cluster
        if kept is not None and kept.is_fresh:
            return kept.cluster
        cluster, now_s = look(), time.monotonic()
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[key] = _CachedStatus(cluster, now_s + _FRESH_S)
        if cluster is not None and cluster.trouble is not None:
            _silent[key[0]] = _CachedStatus(cluster, now_s + _QUIET_S)
        return cluster


# --- shapes ----------------------------------------------------------------------------------------------------------


def build_cluster(cluster: ClusterStatus) -> dict[str, Any]:
    """What the database says, as JSON."""
    look = cluster.look
    return {
        "database": cluster.database,
        "trouble": None if cluster.trouble is None else redact(str(cluster.trouble)),
        "workers": [] if look is None else [*map(_build_worker, look.workers)],
        "queues": [] if look is None else [_build_queue(each._asdict()) for each in look.queues],
        "lag_s": _round(cluster.lag_s),
        "manned": cluster.is_manned,
    }


def _build_worker(worker: WorkerRow) -> dict[str, Any]:
    told = worker._asdict() | {"agents": [*worker.agents], "beat_ago_s": _round(worker.beat_ago_s)}
    return {{"is_live": "live"}.get(name, name): value for name, value in told.items()}


def _build_queue(told: dict[str, Any]) -> dict[str, Any]:
    return told | {"oldest_s": _round(told["oldest_s"])}


def _build_lease(row: SessionRow) -> dict[str, Any]:
    return {
        "session_id": row.session_id, "agent": redact(row.agent), "depth": row.depth, "worker": row.worker_id,
        "host": row.host, "fence": row.fence, "lease_left_s": _round(row.lease_left_s), "queue": row.queue,
        "waited_s": _round(row.waited_s), "cancelled": row.cancel_reason is not None,
    }  # fmt: skip


def _round(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)

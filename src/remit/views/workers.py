"""The state of the shared database: workers, queues and leases, cached for a second.

Pages that poll share the cache, so the database gets one query per second at most.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from remit.cluster.workers_status import ClusterStatus, find_address, is_remote, load_status, query_status
from remit.errors import RemitError
from remit.ledger.runs import load_run
from remit.views.json_builders import build_cluster
from remit.views.run_snapshots import has_ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.schemas import ClusterObject

_FRESH_S = 1.0
_QUIET_S = 10.0
"""The pause after the database did not answer."""
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


def load_cluster(home: Home) -> ClusterObject:
    """The workers, queues and leases of the shared database, of all workspaces that use it."""
    cluster = _recall((home.root, ""), lambda: query_status(home.root, only_open=True))
    rows = {} if cluster is None or not has_ledger(home) else cluster.rows
    known = {session_id for session_id in rows if load_run(home.ledger, session_id) is not None}
    return build_cluster(cluster, known)


def load_recent_status(home: Home, rows: Sequence[Run], root_id: str | None = None) -> ClusterStatus | None:
    """The recent state of the database if some runs execute on other machines: of all open runs, or of a tree.

    Finished runs are queried for a tree only: lists use the data of the ledger.
    """
    if not any(is_remote(row) and (root_id is not None or row.state != "finished") for row in rows):
        return None
    return _recall((home.root, root_id or "-"), lambda: load_status(home, root_id))


def name_backend(home: Home) -> str:
    """The backend of the workspace: `local` or `postgresql`."""
    try:
        return "postgresql" if find_address(home.root) else "local"
    except RemitError:  # a database is configured, but its address is invalid
        return "postgresql"


def _recall(key: tuple[str, str], look: Callable[[], ClusterStatus | None]) -> ClusterStatus | None:
    """The cached state, or the present one. While another thread queries the database, the old state is used."""
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
        if cluster is not None and cluster.error is not None:
            _silent[key[0]] = _CachedStatus(cluster, now_s + _QUIET_S)
        return cluster

"""The check of the cluster of a workspace: its database, key and clock, the workers, their leases and the queues."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.maintenance.doctor import HealthCheck

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.cluster.database.overview import DatabaseOverview
    from remit.cluster.database.workers import WorkerRow
    from remit.cluster.workers_status import ClusterStatus
    from remit.maintenance.doctor import DoctorContext

_SECONDS = 5.0
_MAX_SKEW_S = 5.0
_MAX_WAIT_S = 60.0
_MAX_LISTED = 5
_DATABASE, _KEY, _WORKERS = "database", "cluster key", "workers"
_LIST = "list them with: remit worker list"


def _check_cluster(context: DoctorContext) -> Iterator[HealthCheck]:
    """Yield nothing if the workspace runs everything on this machine."""
    from remit.cluster.workers_status import query_status

    cluster = query_status(context.root, only_open=True, seconds=_SECONDS)
    if cluster is None:
        return
    if cluster.overview is None:
        trouble = cluster.error
        message = "can't be reached" if trouble is None else trouble.message
        yield HealthCheck(_DATABASE, "problem", message, "" if trouble is None else trouble.hint)
        return
    yield _check_tables(cluster, cluster.overview)
    yield _check_key(cluster, cluster.overview)
    skew_s = cluster.overview.ahead_ms / 1000
    if abs(skew_s) > _MAX_SKEW_S:
        side = "ahead of" if skew_s > 0 else "behind"
        message = f"this machine's clock is {abs(skew_s):.0f} s {side} the database's, so displayed times are wrong"
        yield HealthCheck("clock", "warning", message, "set both by the same time server")
    else:
        yield HealthCheck("clock", "ok", "this machine and the database agree")
    yield from _check_workers(cluster, cluster.overview.workers)
    yield from _check_leases(cluster.overview)
    waiting = sum(each.waiting for each in cluster.overview.queues)
    if cluster.lag_s is None:
        yield HealthCheck("queues", "ok", "empty")
    elif cluster.lag_s > _MAX_WAIT_S:
        hint = "start more workers: remit worker start; or give them more --concurrency"
        yield HealthCheck("queues", "warning", f"{waiting} wait, the oldest for {cluster.lag_s:.0f} s", hint)
    else:
        yield HealthCheck("queues", "ok", f"{waiting} wait, the oldest for {cluster.lag_s:.0f} s")
    if context.settings.runs.limits.per_tree is not None:
        message = "[limits] per_tree is not enforced on machines that share a database"
        yield HealthCheck("limits", "warning", message, "use running and per_agent, or [budget] max_delegations")


def _check_tables(cluster: ClusterStatus, overview: DatabaseOverview) -> HealthCheck:
    """Compare the version of the database's tables with that of this Remit."""
    from remit.cluster.database.schema import MIGRATIONS

    ours = len(MIGRATIONS)
    if not overview.schema:
        message = f"{cluster.database} answers and has no tables yet: the first run or worker creates them"
        return HealthCheck(_DATABASE, "ok", message)
    if overview.oldest > ours:
        message = f"the tables are from a newer Remit (version {overview.schema}, for {overview.oldest} and newer)"
        return HealthCheck(_DATABASE, "problem", f"{message}; this Remit has {ours}", "update Remit on this machine")
    if overview.schema < ours:
        message = f"{cluster.database} answers; its tables are older ({overview.schema} of {ours})"
        return HealthCheck(_DATABASE, "ok", f"{message}, and the next run or worker updates them")
    return HealthCheck(_DATABASE, "ok", f"{cluster.database} answers, tables of version {overview.schema}")


def _check_key(cluster: ClusterStatus, overview: DatabaseOverview) -> HealthCheck:
    """Compare the key of this machine with the fingerprint in the database."""
    from remit.cluster.keys import KEY, KEY_FILE, find_fingerprint, load_key
    from remit.storage.trust import find_file

    folder = os.path.dirname(find_file())
    key = load_key(os.environ, folder)
    hint = f"copy it from another machine of the cluster to {folder}/{KEY_FILE}, or set {KEY}"
    if not overview.fingerprint:
        return HealthCheck(_KEY, "ok", "the cluster has none yet: the first machine that runs something sets it")
    if key is None:
        return HealthCheck(_KEY, "problem", f"this machine has no key for the cluster at {cluster.database}", hint)
    if find_fingerprint(key) != overview.fingerprint:
        return HealthCheck(_KEY, "problem", f"this machine's key isn't that of the cluster at {cluster.database}", hint)
    return HealthCheck(_KEY, "ok", "this machine has the key of the cluster")


def _check_workers(cluster: ClusterStatus, workers: Sequence[WorkerRow]) -> Iterator[HealthCheck]:
    """Report workers without a heartbeat, different versions, and whether any worker takes runs."""
    live = [each for each in workers if each.is_live]
    silent = [each for each in workers if not each.is_live and each.state != "gone"]
    for each in silent[:_MAX_LISTED]:
        message = f"no heartbeat from {each.worker_id} on {each.host} for {each.beat_ago_s:.0f} s"
        yield HealthCheck(_WORKERS, "warning", message, "check whether it runs there; a restarted worker continues")
    if len(silent) > _MAX_LISTED:
        yield HealthCheck(_WORKERS, "warning", f"nor from {len(silent) - _MAX_LISTED} more", _LIST)
    versions = sorted({each.version for each in live})
    if len(versions) > 1:
        message = f"workers have different versions of Remit: {', '.join(versions)}"
        yield HealthCheck(_WORKERS, "warning", message, "install one version, first on the workers")
    if not cluster.has_active_worker:
        message = "all workers drain, so new runs wait" if live else "there are no workers, so new runs wait"
        yield HealthCheck(_WORKERS, "warning", message, "start one with: remit worker start")
    elif not silent and len(versions) == 1:
        running, slots = sum(each.running for each in live), sum(each.concurrency for each in live)
        yield HealthCheck(_WORKERS, "ok", f"{len(live)} live, {running} of {slots} slots used")


def _check_leases(overview: DatabaseOverview) -> Iterator[HealthCheck]:
    """Report runs whose worker hasn't renewed its lease."""
    late = [row for row in overview.rows if row.state == "running" and (row.lease_left_s or 0) < 0]
    for row in late[:_MAX_LISTED]:
        late_s = -(row.lease_left_s or 0)
        message = f"the lease of {row.agent} ({row.session_id}) at {row.worker_id} expired {late_s:.0f} s ago"
        yield HealthCheck("leases", "warning", message, "a live worker takes over the run; see: remit worker list")
    if len(late) > _MAX_LISTED:
        yield HealthCheck("leases", "warning", f"and {len(late) - _MAX_LISTED} more leases", _LIST)


CHECKS = (("cluster", _check_cluster),)

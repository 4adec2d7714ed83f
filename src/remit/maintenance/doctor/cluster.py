"""The machines that work for a workspace: their database, its key and clock, who is there, and what waits for whom."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.maintenance.doctor.report import HealthCheck

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.cluster.database.overview import DatabaseOverview
    from remit.cluster.database.workers import WorkerRow
    from remit.cluster.workers_status import ClusterStatus
    from remit.maintenance.doctor.report import DoctorContext

_SECONDS = 5.0
_SKEW_S = 5.0
_LONG_S = 60.0
_MOST_TOLD = 5
_DATABASE, _KEY, _CLOCK, _LIMITS = "database", "cluster key", "clock", "limits"
_WORKERS, _LEASES, _QUEUES = "workers", "leases", "queues"


def _check_cluster(patient: DoctorContext) -> Iterator[HealthCheck]:
    """Nothing where all work is done by this machine."""
    from remit.cluster.workers_status import ask

    cluster = ask(patient.root, only_open=True, seconds=_SECONDS)
    if cluster is None:
        return
    if cluster.look is None:
        trouble = cluster.trouble
        told = "cannot be asked" if trouble is None else trouble.message
        yield HealthCheck(_DATABASE, "problem", told, "" if trouble is None else trouble.hint)
        return
    yield from _check_tables(cluster, cluster.look)
    yield from _check_key(cluster, cluster.look)
    yield from _check_clock(cluster.look)
    yield from _check_workers(cluster, cluster.look.workers)
    yield from _check_leases(cluster.look)
    yield from _check_queues(cluster)
    if patient.settings.runs.limits.per_tree is not None:
        told = "[limits] per_tree is not held on machines that share a database"
        yield HealthCheck(_LIMITS, "warning", told, "use running and per_agent, or [budget] max_delegations")


def _check_tables(cluster: ClusterStatus, look: DatabaseOverview) -> Iterator[HealthCheck]:
    from remit.cluster.database.schema import MIGRATIONS

    ours = len(MIGRATIONS)
    if not look.schema:
        told = f"{cluster.database} answers, and has no tables yet: the first delegation or worker makes them"
        yield HealthCheck(_DATABASE, "ok", told)
    elif look.oldest > ours:
        told = f"the tables are those of a newer Remit (version {look.schema}, for {look.oldest} and newer)"
        yield HealthCheck(_DATABASE, "problem", f"{told}; this one is for {ours}", "update Remit on this machine")
    elif look.schema < ours:
        told = f"{cluster.database} answers; its tables are older ({look.schema} of {ours})"
        yield HealthCheck(_DATABASE, "ok", f"{told}, and the next delegation or worker brings them up to date")
    else:
        yield HealthCheck(_DATABASE, "ok", f"{cluster.database} answers, tables of version {look.schema}")


def _check_key(cluster: ClusterStatus, look: DatabaseOverview) -> Iterator[HealthCheck]:
    from remit.cluster.database.key_file import KEY, KEY_FILE, find_fingerprint, load_key
    from remit.storage.trust import find_file

    folder = os.path.dirname(find_file())
    key = load_key(os.environ, folder)
    hint = f"copy it from a machine that belongs to the cluster to {folder}/{KEY_FILE}, or set {KEY}"
    if not look.fingerprint:
        yield HealthCheck(_KEY, "ok", "the cluster has none yet: the first machine that delegates or works sets it")
    elif key is None:
        yield HealthCheck(_KEY, "problem", f"this machine has no key of the cluster at {cluster.database}", hint)
    elif find_fingerprint(key) != look.fingerprint:
        yield HealthCheck(_KEY, "problem", f"this machine's key is not that of the cluster at {cluster.database}", hint)
    else:
        yield HealthCheck(_KEY, "ok", "this machine has the key of the cluster")


def _check_clock(look: DatabaseOverview) -> Iterator[HealthCheck]:
    skew_s = look.ahead_ms / 1000
    if abs(skew_s) > _SKEW_S:
        way = "ahead of" if skew_s > 0 else "behind"
        told = f"this machine's clock is {abs(skew_s):.0f} s {way} the database's: times that are shown do not fit"
        yield HealthCheck(_CLOCK, "warning", told, "let both be set by the same time server")
    else:
        yield HealthCheck(_CLOCK, "ok", "this machine and the database agree")


def _check_workers(cluster: ClusterStatus, workers: Sequence[WorkerRow]) -> Iterator[HealthCheck]:
    live = [each for each in workers if each.is_live]
    silent = [each for each in workers if not each.is_live and each.state != "gone"]
    for each in silent[:_MOST_TOLD]:
        told = f"nothing was heard of {each.worker_id} on {each.host} for {each.beat_ago_s:.0f} s"
        yield HealthCheck(_WORKERS, "warning", told, "see whether it runs there: started again, it goes on")
    if len(silent) > _MOST_TOLD:
        yield HealthCheck(
            _WORKERS, "warning", f"nor of {len(silent) - _MOST_TOLD} more", "see them with: remit worker list"
        )
    versions = sorted({each.version for each in live})
    if len(versions) > 1:
        told = f"workers run different versions of Remit: {', '.join(versions)}"
        yield HealthCheck(_WORKERS, "warning", told, "bring all to one version: first the workers, then the callers")
    if not cluster.is_manned:
        told = "all workers drain" if live else "no worker is there"
        yield HealthCheck(_WORKERS, "warning", f"{told}: what is delegated waits", "start one with: remit worker start")
    elif not silent and len(versions) == 1:
        room = sum(each.concurrency for each in live)
        running = sum(each.running for each in live)
        yield HealthCheck(_WORKERS, "ok", f"{len(live)} at work, {running} of {room} places taken")


def _check_leases(look: DatabaseOverview) -> Iterator[HealthCheck]:
    """Sessions that their workers have kept for longer than they said."""
    late = [row for row in look.rows if row.state == "running" and (row.lease_left_s or 0) < 0]
    for row in late[:_MOST_TOLD]:
        over_s = -(row.lease_left_s or 0)
        told = f"the lease of {row.agent} ({row.session_id}) at {row.worker_id} is {over_s:.0f} s over"
        yield HealthCheck(_LEASES, "warning", told, "a worker that lives takes it over; see: remit worker list")
    if len(late) > _MOST_TOLD:
        yield HealthCheck(
            _LEASES, "warning", f"and of {len(late) - _MOST_TOLD} more", "see them with: remit worker list"
        )


def _check_queues(cluster: ClusterStatus) -> Iterator[HealthCheck]:
    look = cluster.look
    waiting = sum(each.waiting for each in look.queues) if look is not None else 0
    if cluster.lag_s is None:
        yield HealthCheck(_QUEUES, "ok", "nothing waits")
    elif cluster.lag_s > _LONG_S:
        told = f"{waiting} wait, the oldest for {cluster.lag_s:.0f} s"
        yield HealthCheck(
            _QUEUES, "warning", told, "start more workers: remit worker start; or give them more --concurrency"
        )
    else:
        yield HealthCheck(_QUEUES, "ok", f"{waiting} wait, the oldest for {cluster.lag_s:.0f} s")


LOOKS = (("cluster", _check_cluster),)

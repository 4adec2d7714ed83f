"""The site: what all sessions on one worker have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.cluster.database.store import Database
    from remit.cluster.worker.worker_folder import WorkerFolder
    from remit.config import ClusterSettings, Settings


class WorkerSetup(NamedTuple):
    """What a checkout's own settings say of how agents are started in it."""

    settings: Settings
    own_runners: Mapping[str, str] = NOTHING
    variables: Mapping[str, Mapping[str, str]] = NOTHING


class WorkerContext(NamedTuple):
    """A worker, as its sessions know it."""

    worker_id: str
    url: str
    db: Database
    """For what is said often, and is small."""
    bulk_db: Database
    """For what is large: nobody waits behind it."""
    key: bytes
    folder: WorkerFolder
    settings: ClusterSettings
    environ: Mapping[str, str]
    load_setup: Callable[[str], WorkerSetup]

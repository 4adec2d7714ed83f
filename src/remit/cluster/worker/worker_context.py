"""The worker context: the values that all sessions on one worker share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.cluster.database.store import Database
    from remit.cluster.worker.worker_folder import WorkerFolder
    from remit.config import ClusterSettings, Settings


class WorkerSetup(NamedTuple):
    """How agents are started in a checkout, by its settings."""

    settings: Settings
    own_runners: Mapping[str, str] = NOTHING
    variables: Mapping[str, Mapping[str, str]] = NOTHING


class WorkerContext(NamedTuple):
    """The worker's identity, connections, folder and settings."""

    worker_id: str
    url: str
    db: Database
    """For frequent small statements."""
    bulk_db: Database
    """A second connection for large values, so small statements don't wait for them."""
    key: bytes
    folder: WorkerFolder
    settings: ClusterSettings
    environ: Mapping[str, str]
    load_setup: Callable[[str], WorkerSetup]

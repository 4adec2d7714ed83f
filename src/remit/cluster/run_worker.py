"""`remit worker`: starts a worker of a cluster on this machine, and drains workers."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from typing import TYPE_CHECKING, NamedTuple

from remit.cluster.database import workers
from remit.cluster.database.store import Database
from remit.cluster.keys import load_or_make_key
from remit.cluster.worker.queues import QueueLimits
from remit.cluster.worker.worker import Worker, WorkerPlan
from remit.cluster.worker.worker_context import WorkerContext, WorkerSetup
from remit.cluster.worker.worker_folder import WorkerFolder, check_name, find_folder
from remit.config import BACKEND, fill_backend
from remit.errors import ConfigError, UsageError
from remit.runs.admission.tickets import SESSION, TICKET
from remit.runs.agent_lookup import list_own_runners, load_settings_or_usual
from remit.runs.workspace_trust import check_trust
from remit.storage.machine import check_sockets
from remit.storage.settings import find_workspace, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from remit.cluster.worker.worker import WorkerEvent
    from remit.config import Settings

CONCURRENCY = 8
_POLL_S = 0.3


class WorkerOptions(NamedTuple):
    """The options of `remit worker start`."""

    agents: tuple[str, ...] = ()
    """The agents that it executes; empty for all."""
    concurrency: int | None = None
    name: str = ""
    folder: str = ""
    version: str = ""
    """The version of Remit."""


class PreparedWorker(NamedTuple):
    """A worker that is about to start."""

    worker: Worker
    worker_id: str
    place: str
    """The URL of the database, without the password."""
    concurrency: int
    agents: tuple[str, ...]
    folder: str


class DrainResult(NamedTuple):
    """The workers that were asked to drain, and those of them that are still running."""

    asked: tuple[str, ...]
    left: tuple[str, ...]


class _WorkerCluster(NamedTuple):
    url: str
    settings: Settings


def _find_cluster(environ: Mapping[str, str]) -> _WorkerCluster:
    """Return this machine's cluster. A database that a repository's settings name needs the user's trust."""
    root = find_workspace()
    settings = load_settings(root)
    url = fill_backend(settings.backend, environ)
    if not url:
        hint = f'set backend = "postgresql://user@host/database" in remit.toml, or set {BACKEND}'
        raise ConfigError("the settings name no shared database", hint=hint)
    if not environ.get(BACKEND, "").strip():
        check_trust(root, settings)
    return _WorkerCluster(url, settings)


async def work(
    options: WorkerOptions, *, on_event: Callable[[WorkerEvent], None], on_ready: Callable[[PreparedWorker], None],
    environ: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Run a worker until it is ended or drained. `on_ready` is called before it starts."""
    check_sockets()
    _silence_drivers()
    environ = dict(os.environ if environ is None else environ)
    if TICKET in environ or SESSION in environ:
        raise UsageError("an agent can't start a worker", hint="start the worker outside of a run")
    cluster = _find_cluster(environ)
    name = check_name(options.name or socket.gethostname())
    db, bulk_db = Database(cluster.url, name="remit worker start"), Database(cluster.url, name="remit bundles")
    await db.open()
    folder = WorkerFolder(options.folder or find_folder(name, environ), name)
    try:
        key = await load_or_make_key(db, environ)
        context = WorkerContext(
            folder.worker_id, cluster.url, db, bulk_db, key, folder, cluster.settings.cluster, environ, load_setup
        )  # fmt: skip
        wanted = cluster.settings.runs.limits
        limits = QueueLimits(wanted.running, wanted.per_agent, options.concurrency or CONCURRENCY)
        keep_days = cluster.settings.retention.days
        plan = WorkerPlan(socket.gethostname(), os.getpid(), options.version, limits, options.agents, keep_days)
        worker = Worker(context, plan, on_event=on_event)
        on_ready(PreparedWorker(worker, folder.worker_id, db.display, limits.per_worker, options.agents, folder.folder))
        await worker.run()
    finally:
        await db.close()
        await bulk_db.close()
        folder.close()


def _silence_drivers() -> None:
    """Silence the database drivers, which log much if the database is unreachable; the worker reports that itself."""
    import logging  # noqa: PLC0415 - only for this
    import warnings  # noqa: PLC0415

    logging.getLogger("psycopg").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", category=RuntimeWarning, message="coroutine '.*' was never awaited")


def load_setup(root: str) -> WorkerSetup:
    """Return the settings for runs in a checkout; without the user's trust, no environment variables of runners."""
    settings, _ = load_settings_or_usual(root)
    try:
        check_trust(root, settings)
    except ConfigError:
        variables: Mapping[str, Mapping[str, str]] = {}
    else:
        variables = {name: table.env for name, table in settings.runs.runners.items()}
    return WorkerSetup(settings, list_own_runners(settings), variables)


async def drain(names: Sequence[str], *, everyone: bool, timeout_s: float | None) -> DrainResult:
    """Ask workers to stop taking runs, and wait until they have ended, at most `timeout_s` seconds."""
    cluster = _find_cluster(os.environ)
    db = Database(cluster.url, name="remit worker drain")
    try:
        await db.open()
        present = {each.worker_id for each in await workers.list_workers(db, only_live=True)}
        chosen = sorted(present) if everyone else [_find_worker(name, present) for name in names]
        for worker_id in chosen:
            await workers.set_draining(db, worker_id)
        return DrainResult(tuple(chosen), await _wait(db, chosen, timeout_s))
    finally:
        await db.close()


def _find_worker(name: str, present: set[str]) -> str:
    found = sorted(each for each in present if name in (each, each.rpartition("-")[0]))
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{len(found)} workers are named {name}", hint=f"choose one of: {', '.join(found)}")
    known = ", ".join(sorted(present)) or "none"
    raise UsageError(f"there is no worker {name}", hint=f"active workers: {known}")


async def _wait(db: Database, chosen: Sequence[str], timeout_s: float | None) -> tuple[str, ...]:
    last = None if timeout_s is None else time.monotonic() + timeout_s
    while True:
        present = {each.worker_id for each in await workers.list_workers(db, only_live=True)}
        left = tuple(each for each in chosen if each in present)
        if not left or (last is not None and time.monotonic() >= last):
            return left
        await asyncio.sleep(_POLL_S)

"""The transfer of git trees between a caller and its workers, by branches of a git remote or bundles in the database.

The base tree goes to the worker, the agent's changes come back. A base tree that differs little from the previous one
is sent as an incremental bundle; after several incremental bundles, a full one follows. A worker loads only the bundles
that its store lacks.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, NamedTuple

from remit.cluster.database import bundles
from remit.cluster.orders import OrderSource, Packed
from remit.errors import RefusedError, StorageError, UsageError
from remit.git import clones
from remit.git.bundles import BaseTree, check_commit, pack, push

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from remit.cluster.caller.client import ClusterClient
    from remit.cluster.database.store import Database
    from remit.cluster.orders import RunOrder

_NOTE = "parcels sent to "
_MAX_STEPS = 10
_MEGABYTE = 1024 * 1024


class _BaseStep(NamedTuple):
    """A bundle of a base tree: its commit, and the commit that it builds on; empty for a full bundle."""

    commit: str
    base: str = ""

    @property
    def name(self) -> str:
        """The name of the bundle, which identifies its content."""
        return f"base-{self.commit}-on-{self.base}" if self.base else f"base-{self.commit}"


async def send_base(client: ClusterClient, root: str, base: BaseTree, session_id: str) -> OrderSource:
    """Send a base tree to where workers can fetch it."""
    remote = client.settings.remote
    if remote:
        branch = f"remit/base/{session_id}"
        await asyncio.to_thread(push, root, base.commit, remote, branch)
        return OrderSource(remote, branch, history=True)
    note = f"{_NOTE}{client.db.display}"
    sent = [_BaseStep(*step) for step in json.loads(client.home.ledger.get_note(note) or "[]")]
    if not await _has_all(client.db, sent):
        sent = []
    steps = await _send_steps(client, root, base.commit, sent)
    if steps != sent:
        client.home.ledger.set_note(note, json.dumps(steps))
    return OrderSource(parcel=steps[-1].name, below=tuple(step.name for step in steps[:-1]))


async def _has_all(db: Database, steps: Sequence[_BaseStep]) -> bool:
    for step in steps:
        if not await bundles.has(db, step.name):
            return False
    return True


async def _send_steps(client: ClusterClient, root: str, commit: str, sent: list[_BaseStep]) -> list[_BaseStep]:
    """Send a commit, incrementally if possible, and return all bundles that a worker needs for it."""
    commits = [step.commit for step in sent]
    if commit in commits:
        return sent[: commits.index(commit) + 1]
    if sent and len(sent) < _MAX_STEPS:
        step = _BaseStep(commit, sent[-1].commit)
        try:
            data = await asyncio.to_thread(pack, root, commit, without=step.base)
        except StorageError:  # the commit that was sent before no longer exists here
            data = b""
        if data:
            await _put_bundle(client, step, data)
            return [*sent, step]
    step = _BaseStep(commit)
    if not await bundles.has(client.db, step.name):
        await _put_bundle(client, step, await asyncio.to_thread(pack, root, commit))
    return [step]


async def _put_bundle(client: ClusterClient, step: _BaseStep, data: bytes) -> None:
    megabytes = client.settings.parcel_megabytes
    if len(data) > megabytes * _MEGABYTE:
        hint = "set [cluster] remote to a git remote that all machines can reach, or raise parcel_megabytes"
        size = f"{len(data) / _MEGABYTE:.0f} MB"
        raise UsageError(f"the tree has {size}, and at most {megabytes} MB may be sent through the database", hint=hint)
    await bundles.put(client.db, step.name, data)


async def load_bundles(db: Database, store: str, source: OrderSource) -> list[bytes]:
    """Return the bundles of a base tree that a worker's store lacks; each builds on the one before it."""
    loaded: list[bytes] = []
    for name in (*source.below, source.parcel) if source.parcel else ():
        if not loaded and await asyncio.to_thread(clones.has_base, store, _find_commit(name)):
            continue
        bundle = await bundles.get(db, name)
        if bundle is None:
            raise RefusedError("the database no longer has the run's base tree", hint="start the run again")
        loaded.append(bundle)
    return loaded


def _find_commit(name: str) -> str:
    return check_commit(name.removeprefix("base-").partition("-")[0])


class SentChanges(NamedTuple):
    """The agent's changes, and the paths of changed files that could not be sent."""

    packed: Packed = Packed()
    unsent: tuple[str, ...] = ()


def name_branch(session_id: str, fence: int) -> str:
    """Return the branch for a worker's changes: one per lease, so a later worker never overwrites it."""
    return f"remit/{session_id}" if fence <= 1 else f"remit/{session_id}.{fence}"


async def send_changes(
    db: Database,
    root: str,
    order: RunOrder,
    fence: int,
    *,
    megabytes: int,
    also: Iterable[str] = (),
    sent_commit: str = "",
) -> SentChanges:
    """Send the changes since the base tree. `sent_commit`: the commit that was sent already."""
    base = BaseTree(order.commit, order.tree, order.prefix)
    made = await asyncio.to_thread(clones.collect, root, base, also=tuple(also))
    if not made.files:
        return SentChanges(unsent=made.left)
    source = OrderSource(parcel=f"made-{made.commit}")
    if order.source.remote:
        source = OrderSource(order.source.remote, name_branch(order.session_id, fence), history=order.source.history)
    if made.commit != sent_commit and source.remote:
        await asyncio.to_thread(push, root, made.commit, source.remote, source.branch)
    elif made.commit != sent_commit:
        limit = megabytes * _MEGABYTE
        data = await asyncio.to_thread(pack, root, made.commit, without=order.commit, max_bytes=limit)
        await bundles.put(db, source.parcel, data)
    return SentChanges(Packed(made.commit, made.tree, made.files, source), made.left)

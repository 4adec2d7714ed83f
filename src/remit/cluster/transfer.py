"""Bases: how the tree that an agent starts from gets to a worker.

Owns both ends. By a remote it is a branch. Through the database it is a parcel; a tree that differs little from the one
that was sent before goes as what is new in it, on top of that one, and after some such steps whole again. A worker
fetches what its store does not have.
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
from remit.git.clones import has_base

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from remit.cluster.caller.client import ClusterClient
    from remit.cluster.database.store import Database
    from remit.cluster.orders import RunOrder


_NOTE = "parcels sent to "
_MAX_STEPS = 10
_MEGABYTE = 1024 * 1024


class _BaseStep(NamedTuple):
    """One parcel: a commit, and the one that it needs; none where it is whole."""

    commit: str
    base: str = ""

    @property
    def name(self) -> str:
        """What the parcel is called, by all that decides what is in it."""
        return f"base-{self.commit}-on-{self.base}" if self.base else f"base-{self.commit}"


async def send_base(client: ClusterClient, root: str, base: BaseTree, session_id: str) -> OrderSource:
    """Have the tree where a worker can get it."""
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
    """Send a commit, on top of what was sent before where that is worth it; all that a worker needs for it."""
    known = [step.commit for step in sent]
    if commit in known:
        return sent[: known.index(commit) + 1]
    if sent and len(sent) < _MAX_STEPS:
        step = _BaseStep(commit, sent[-1].commit)
        try:
            data = await asyncio.to_thread(pack, root, commit, without=step.base)
        except StorageError:  # what was sent before is not kept here any more
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
        hint = "set [cluster] remote to a git remote that all machines can reach, or parcel_megabytes to more"
        size = f"{len(data) / _MEGABYTE:.0f} MB"
        raise UsageError(f"the tree has {size}, and {megabytes} MB may travel through the database", hint=hint)
    await bundles.put(client.db, step.name, data)


async def load_bundles(db: Database, store: str, source: OrderSource) -> list[bytes]:
    """The parcels of a base that a worker's store lacks, in the order in which each needs the one before it."""
    loaded: list[bytes] = []
    for name in (*source.below, source.parcel) if source.parcel else ():
        if not loaded and await asyncio.to_thread(has_base, store, _find_commit(name)):
            continue
        bundle = await bundles.get(db, name)
        if bundle is None:
            raise RefusedError("the tree that it starts from is not in the database any more", hint="do it again")
        loaded.append(bundle)
    return loaded


def _find_commit(name: str) -> str:
    return check_commit(name.removeprefix("base-").partition("-")[0])


class PackedWork(NamedTuple):
    """What was made, where it is to be had, and what of it could not be taken along."""

    packed: Packed = Packed()
    left: tuple[str, ...] = ()


def name_branch(session_id: str, fence: int) -> str:
    """Where the work of one owner goes on the remote: whoever comes after it has a branch of its own."""
    return f"remit/{session_id}" if fence <= 1 else f"remit/{session_id}.{fence}"


async def send_work(
    db: Database, root: str, order: RunOrder, fence: int, *, megabytes: int, also: Iterable[str] = (), known: str = ""
) -> PackedWork:
    """Send what differs from the base. `known`: the commit that is there already."""
    base = BaseTree(order.commit, order.tree, order.prefix)
    made = await asyncio.to_thread(clones.collect, root, base, also=tuple(also))
    if not made.files:
        return PackedWork(left=made.left)
    source = OrderSource(parcel=f"made-{made.commit}")
    if order.source.remote:
        source = OrderSource(order.source.remote, name_branch(order.session_id, fence), history=order.source.history)
    if made.commit != known:
        await _send_bundle(db, root, made.commit, source, without=order.commit, max_bytes=megabytes * _MEGABYTE)
    return PackedWork(Packed(made.commit, made.tree, made.files, source), made.left)


async def _send_bundle(
    db: Database, root: str, commit: str, source: OrderSource, *, without: str, max_bytes: int
) -> None:
    if source.remote:
        await asyncio.to_thread(push, root, commit, source.remote, source.branch)
        return
    data = await asyncio.to_thread(pack, root, commit, without=without, max_bytes=max_bytes)
    await bundles.put(db, source.parcel, data)

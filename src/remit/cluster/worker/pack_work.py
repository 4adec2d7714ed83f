"""Packing: what an agent has made so far, on its way back to its caller.

Owns how a worker sends files: by the remote that the order came from, or as a parcel through the database. What is
saved while the agent works goes the same way, so that it outlives the machine.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from remit.cluster.database import bundles
from remit.cluster.orders import OrderSource, Packed
from remit.git import bundles as git
from remit.git import clones

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.cluster.database.store import Database
    from remit.cluster.orders import RunOrder

_MEGABYTE = 1024 * 1024


class PackedWork(NamedTuple):
    """What was made, where it is to be had, and what of it could not be taken along."""

    packed: Packed = Packed()
    left: tuple[str, ...] = ()


def name_branch(session_id: str, fence: int) -> str:
    """Where the work of one owner goes on the remote: whoever comes after it has a branch of its own."""
    return f"remit/{session_id}" if fence <= 1 else f"remit/{session_id}.{fence}"


async def send(
    db: Database, root: str, order: RunOrder, fence: int, *, megabytes: int, also: Iterable[str] = (), known: str = ""
) -> PackedWork:
    """Send what differs from the base. `known`: the commit that is there already."""
    base = git.BaseTree(order.commit, order.tree, order.prefix)
    made = await asyncio.to_thread(clones.collect, root, base, also=tuple(also))
    if not made.files:
        return PackedWork(left=made.left)
    source = OrderSource(parcel=f"made-{made.commit}")
    if order.source.remote:
        source = OrderSource(order.source.remote, name_branch(order.session_id, fence), history=order.source.history)
    if made.commit != known:
        await _send(db, root, made.commit, source, without=order.commit, max_bytes=megabytes * _MEGABYTE)
    return PackedWork(Packed(made.commit, made.tree, made.files, source), made.left)


async def _send(db: Database, root: str, commit: str, source: OrderSource, *, without: str, max_bytes: int) -> None:
    if source.remote:
        await asyncio.to_thread(git.push, root, commit, source.remote, source.branch)
        return
    data = await asyncio.to_thread(git.pack, root, commit, without=without, max_bytes=max_bytes)
    await bundles.put(db, source.parcel, data)

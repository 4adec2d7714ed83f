"""A way there and back for tests of parcels."""

from pathlib import Path
from typing import NamedTuple

from remit.git.apply_changes import AppliedChanges, apply_agent_changes, fetch
from remit.git.bundles import AgentChanges, BaseTree, pack
from remit.git.clones import check_out, collect
from remit.git.tree_snapshot import snapshot_tree


class Trip(NamedTuple):
    """A workspace, and a clone of it on a worker."""

    root: str
    base: BaseTree
    clone: Path


def send(root: str, worker: Path, name: str = "s1") -> Trip:
    """Have a worker check out a workspace as it is now."""
    base = snapshot_tree(root, with_history=False)
    worker.mkdir(exist_ok=True)
    bundle = pack(root, base.commit)
    return Trip(root, base, Path(check_out(str(worker / "store"), str(worker / name), base, bundle=bundle)))


def come_back(trip: Trip, *also: str) -> tuple[AgentChanges, AppliedChanges]:
    """Bring what is in the clone now into the workspace."""
    made = collect(str(trip.clone), trip.base, also=also)
    bundle = pack(str(trip.clone), made.commit, without=trip.base.commit)
    fetched = fetch(trip.root, trip.base, made, bundle=bundle)
    return made, apply_agent_changes(trip.root, trip.base, made, fetched=fetched)

"""The messages between callers and workers: orders, results and checkpoints.

An order has everything that a worker needs to execute a run as the caller's machine would. A result has everything that
the caller needs for the finish steps. A checkpoint has the changes so far, in case the worker is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from remit.cluster.sealing import seal, unseal
from remit.errors import ClusterError
from remit.evidence.tree import Comparison, TreeChange
from remit.git.bundles import BundledFile
from remit.model import NOTHING
from remit.runs.judging.conclusion import RunEvidence

if TYPE_CHECKING:
    from collections.abc import Mapping

PROTOCOL = 1
"""Incremented if older workers can't execute new orders."""


class OrderSource(NamedTuple):
    """Where a commit can be fetched: a branch of a git remote, or a bundle in the database."""

    remote: str = ""
    branch: str = ""
    parcel: str = ""
    below: tuple[str, ...] = ()
    """The bundles that `parcel` builds on, oldest first."""
    history: bool = False
    """Whether the commit has the history of the caller's repository."""


class Packed(NamedTuple):
    """An agent's changes: a commit on top of its base tree, where it can be fetched, and the changed files."""

    commit: str = ""
    tree: str = ""
    files: tuple[BundledFile, ...] = ()
    source: OrderSource = OrderSource()


class RunOrder(NamedTuple):
    """A run that a worker is to execute."""

    session_id: str
    root_id: str
    parent_id: str | None
    agent: str
    depth: int
    path: tuple[str, ...]
    runner: str
    task_number: int | None = None
    details: Mapping[str, Any] = NOTHING
    """The run's configuration, as in the caller's ledger."""
    texts: Mapping[str, str] = NOTHING
    """The texts for the agent, by kind."""
    above: tuple[Mapping[str, Any], ...] = ()
    """The ledger rows of the run's ancestors, the root first."""
    commit: str = ""
    tree: str = ""
    prefix: str = ""
    source: OrderSource = OrderSource()
    ticket: str = ""
    """The ticket of the calling agent; empty if a user is the caller."""
    left: tuple[str, ...] = ()
    """Paths of the caller's tree that could not be sent."""
    trusted: str = ""
    """Digest of the programs that the caller's user has agreed to run."""
    protocol: int = PROTOCOL


class RemoteResult(NamedTuple):
    """The result of an order."""

    session_id: str
    fence: int
    worker: str
    report: Mapping[str, Any] = NOTHING
    """The result and the conclusion, as in the worker's ledger."""
    attempts: tuple[Mapping[str, Any], ...] = ()
    texts: Mapping[str, str] = NOTHING
    """The agent's answers, unchanged, and its trace."""
    packed: Packed = Packed()
    started_ms: int = 0
    ended_ms: int = 0
    protocol: int = PROTOCOL


def render_order(order: RunOrder) -> dict[str, Any]:
    """Return an order as a JSON object to seal."""
    return {**order._asdict(), "source": order.source._asdict()}


def read_order(body: Mapping[str, Any]) -> RunOrder:
    """Parse an order. Unknown keys of a newer caller are ignored; a different protocol raises an error."""
    _check_protocol(body)
    known = _select_fields(RunOrder, body)
    known |= {name: tuple(body.get(name, ())) for name in ("path", "above", "left")}
    known["source"] = _read_source(body)
    return RunOrder(**known)


def render_result(outcome: RemoteResult) -> dict[str, Any]:
    """Return a result as a JSON object to seal."""
    return {**outcome._asdict(), "packed": render_packed(outcome.packed)}


def read_result(body: Mapping[str, Any]) -> RemoteResult:
    """Parse a result."""
    _check_protocol(body)
    known = _select_fields(RemoteResult, body)
    known |= {"attempts": tuple(body.get("attempts", ())), "packed": read_packed(body.get("packed", {}))}
    return RemoteResult(**known)


def render_packed(packed: Packed) -> dict[str, Any]:
    """Return an agent's changes as a JSON object."""
    return {**packed._asdict(), "source": packed.source._asdict(), "files": [list(file) for file in packed.files]}


def read_packed(body: Mapping[str, Any]) -> Packed:
    """Parse an agent's changes."""
    known = _select_fields(Packed, body)
    known["files"] = tuple(BundledFile(*file) for file in body.get("files", ()))
    known["source"] = _read_source(body)
    return Packed(**known)


def _read_source(body: Mapping[str, Any]) -> OrderSource:
    known = _select_fields(OrderSource, body.get("source", {}))
    return OrderSource(**(known | {"below": tuple(known.get("below", ()))}))


def _select_fields(kind: type[NamedTuple], body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name in kind._fields}


def _check_protocol(body: Mapping[str, Any]) -> None:
    if body.get("protocol") != PROTOCOL:
        hint = "update Remit on all machines of the cluster: first the workers, then the callers"
        raise ClusterError(f"another machine uses protocol {body.get('protocol')!r}, this one {PROTOCOL}", hint=hint)


def seal_checkpoint(key: bytes, packed: Packed, attempt: int) -> bytes:
    """Return a sealed checkpoint: the changes so far, and the number of the attempt."""
    return seal(key, "saved", {"packed": render_packed(packed), "attempt": attempt})


def read_checkpoint(key: bytes, saved: bytes) -> Packed:
    """Return the changes in a sealed checkpoint."""
    return read_packed(unseal(key, "saved", saved).get("packed", {}))


def make_evidence(saved: Packed) -> RunEvidence:
    """Return the changed files of a checkpoint as evidence: nothing else is known of the tree."""
    changes = tuple(TreeChange(file.path, "changed", blob=file.sha256) for file in saved.files if file.sha256)
    return RunEvidence(Comparison(changed=changes))

"""Orders and outcomes: what a caller asks of a worker, and what it is told.

Owns what travels, and nothing else. An order holds all that a worker needs to do what the caller's own machine would
have done; an outcome all that the caller needs to settle it as if it had.
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
"""Changes where a worker of before could not carry out an order of now."""


class OrderSource(NamedTuple):
    """Where a commit is to be had: a branch of a remote, or a parcel in the database."""

    remote: str = ""
    branch: str = ""
    parcel: str = ""
    below: tuple[str, ...] = ()
    """The parcels that it needs, the first first."""
    history: bool = False
    """Whether it has the history of the caller's repository below it."""


class Packed(NamedTuple):
    """What an agent made: a commit on top of its base, where it is to be had, and every file in it."""

    commit: str = ""
    tree: str = ""
    files: tuple[BundledFile, ...] = ()
    source: OrderSource = OrderSource()


class RunOrder(NamedTuple):
    """What a worker is to do."""

    session_id: str
    root_id: str
    parent_id: str | None
    agent: str
    depth: int
    path: tuple[str, ...]
    runner: str
    task_number: int | None = None
    details: Mapping[str, Any] = NOTHING
    """The terms, as the caller's ledger has them."""
    texts: Mapping[str, str] = NOTHING
    """What goes to the agent, by kind."""
    above: tuple[Mapping[str, Any], ...] = ()
    """The rows of those above it, the first of the tree first."""
    commit: str = ""
    tree: str = ""
    prefix: str = ""
    source: OrderSource = OrderSource()
    ticket: str = ""
    """That of its caller, where this is an agent on a worker."""
    left: tuple[str, ...] = ()
    """What of the caller's tree could not be sent."""
    trusted: str = ""
    """What the caller's user has agreed to have run, by its digest."""
    protocol: int = PROTOCOL


class RemoteResult(NamedTuple):
    """What became of an order."""

    session_id: str
    fence: int
    worker: str
    report: Mapping[str, Any] = NOTHING
    """As the worker's ledger has it: the result, and what settling needs."""
    attempts: tuple[Mapping[str, Any], ...] = ()
    texts: Mapping[str, str] = NOTHING
    """Answers word for word, and what else is kept of it."""
    packed: Packed = Packed()
    started_ms: int = 0
    ended_ms: int = 0
    protocol: int = PROTOCOL


def render_order(order: RunOrder) -> dict[str, Any]:
    """An order as a body to seal."""
    return {**order._asdict(), "source": order.source._asdict()}


def read_order(body: Mapping[str, Any]) -> RunOrder:
    """The order in a body. What a newer caller says besides is passed over, unless it says that it may not be."""
    _check_protocol(body)
    known = _select_fields(RunOrder, body)
    known |= {name: tuple(body.get(name, ())) for name in ("path", "above", "left")}
    known["source"] = _read_source(body)
    return RunOrder(**known)


def render_result(outcome: RemoteResult) -> dict[str, Any]:
    """An outcome as a body to seal."""
    return {**outcome._asdict(), "packed": render_packed(outcome.packed)}


def read_result(body: Mapping[str, Any]) -> RemoteResult:
    """The outcome in a body."""
    _check_protocol(body)
    known = _select_fields(RemoteResult, body)
    known |= {"attempts": tuple(body.get("attempts", ())), "packed": read_packed(body.get("packed", {}))}
    return RemoteResult(**known)


def render_packed(packed: Packed) -> dict[str, Any]:
    """What an agent made, as a part of a body."""
    return {**packed._asdict(), "source": packed.source._asdict(), "files": [list(file) for file in packed.files]}


def read_packed(body: Mapping[str, Any]) -> Packed:
    """What an agent made, from a part of a body."""
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
        hint = "bring all machines of the cluster to one version of Remit: first the workers, then the callers"
        raise ClusterError(f"another machine speaks protocol {body.get('protocol')!r}, this one {PROTOCOL}", hint=hint)


def seal_checkpoint(key: bytes, packed: Packed, attempt: int) -> bytes:
    """What was made so far, and in which attempt."""
    return seal(key, "saved", {"packed": render_packed(packed), "attempt": attempt})


def read_checkpoint(key: bytes, saved: bytes) -> Packed:
    """What a worker has saved of an agent's work so far."""
    return read_packed(unseal(key, "saved", saved).get("packed", {}))


def make_evidence(saved: Packed) -> RunEvidence:
    """The changed files that a worker saved, as evidence: nothing else is known of the tree."""
    changes = tuple(TreeChange(file.path, "changed", blob=file.sha256) for file in saved.files if file.sha256)
    return RunEvidence(Comparison(changed=changes))

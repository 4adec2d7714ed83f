"""Saved: what a worker keeps of an agent's work while it goes on, for whoever might have to go on without it.

Owns what is said of it. Where anything was saved, an agent may have begun.
"""

from __future__ import annotations

from remit.cluster.orders import Packed, read_packed, render_packed
from remit.cluster.sealing import seal, unseal
from remit.evidence.tree import Comparison, TreeChange
from remit.runs.judging.conclusion import RunEvidence


def seal_saved(key: bytes, packed: Packed, attempt: int) -> bytes:
    """What was made so far, and in which attempt."""
    return seal(key, "saved", {"packed": render_packed(packed), "attempt": attempt})


def read_saved(key: bytes, saved: bytes) -> Packed:
    """What a worker has saved of an agent's work so far."""
    return read_packed(unseal(key, "saved", saved).get("packed", {}))


def compare_saved(saved: Packed) -> RunEvidence:
    """The changed files that a worker saved, as evidence: nothing else is known of the tree."""
    changes = tuple(TreeChange(file.path, "changed", blob=file.sha256) for file in saved.files if file.sha256)
    return RunEvidence(Comparison(changed=changes))

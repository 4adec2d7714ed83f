"""Saved: what a worker keeps of an agent's work while it goes on, for whoever might have to go on without it.

Owns what is said of it. Where anything was saved, an agent may have begun.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.cluster.orders import Packed, read_packed, render_packed
from remit.cluster.sealing import seal, unseal
from remit.evidence.tree import Comparison, TreeChange

if TYPE_CHECKING:
    from remit.runs.judging.conclusion import AttemptEnd


def seal_saved(key: bytes, packed: Packed, attempt: int) -> bytes:
    """What was made so far, and in which attempt."""
    return seal(key, "saved", {"packed": render_packed(packed), "attempt": attempt})


def read_saved(key: bytes, saved: bytes) -> Packed:
    """What a worker has saved of an agent's work so far."""
    return read_packed(unseal(key, "saved", saved).get("packed", {}))


def add_saved(ended: AttemptEnd, saved: Packed) -> AttemptEnd:
    """How it ended, with what was saved of it: files that are there, and that nobody has judged."""
    changes = tuple(TreeChange(file.path, "changed", blob=file.sha256) for file in saved.files if file.sha256)
    return ended._replace(comparison=Comparison(changed=changes))

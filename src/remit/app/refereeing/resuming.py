"""Resuming: what counts for an agent that was over and is given another message.

Owns that question. A file is credited once: after a return that was accepted, only what happens from then on counts.
Where nothing was accepted, the work goes on, and what it made until it broke off is still its own; but what was touched
in between, nobody knows by whom, is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.delegate.admission.terms import read_terms
from remit.model import ACCEPTABLE
from remit.workspace.evidence.kept import load_before
from remit.workspace.evidence.values import pack_folder, unpack_folder
from remit.workspace.ledger.delegations import load_delegation
from remit.workspace.ledger.refereed import load_last_use
from remit.workspace.ledger.texts import load_text

if TYPE_CHECKING:
    from remit.workspace.evidence.values import Facts, Snapshot
    from remit.workspace.home import Home
    from remit.workspace.ledger.delegations import Delegation


def list_resumed(home: Home, session_id: str) -> dict[str, int]:
    """The delegations that one which resumes this session goes on with, and when each began: until one was accepted."""
    found: dict[str, int] = {}
    while session_id and session_id not in found:
        row = load_delegation(home.ledger, session_id)
        if row is None or row.outcome in ACCEPTABLE:
            break
        found[session_id] = row.started_ms or row.created_ms
        session_id = read_terms(row.details).resume_of
    return found


def find_tree(home: Home, session_id: str, now: Snapshot) -> Snapshot | None:
    """The tree that what one makes which resumes this session is compared with; None for the tree as it is now."""
    row = load_delegation(home.ledger, session_id) if list_resumed(home, session_id) else None
    digest = b"" if row is None else load_text(home, session_id, "before") or b""
    earlier = load_before(home, session_id, digest.decode())
    return None if row is None or earlier is None else go_on_from(earlier, now, _find_last_ms(home, row))


def _find_last_ms(home: Home, row: Delegation) -> int:
    """Until when what changed can be the work of an agent that is over."""
    if row.ending == "exited":
        return row.ended_ms or 0
    with home.ledger.reading() as db:  # when it was lost is not when it was given up
        last = load_last_use(db, row.session_id)
    return 0 if last is None else last[2]


def go_on_from(earlier: Snapshot, now: Snapshot, last_ms: int) -> Snapshot:
    """The tree as it is now; of files that were last touched by then, as it was earlier."""
    hashes, racy, links = dict(now.hashes), set(now.racy), dict(now.links)
    folders = dict(now.folders)
    for path, packed in now.folders.items():
        if path not in earlier.folders and earlier.find_gap(path) is not None:
            continue  # what was not looked at then cannot be compared
        before, found = unpack_folder(earlier.folders.get(path)), unpack_folder(packed)
        kept: dict[str, Facts] = {}
        for name, facts in found.items():
            whole = f"{path}/{name}" if path else name
            if before.get(name) == facts or facts.ctime_ns // 1_000_000 > last_ms:
                kept[name] = facts
                continue
            for mapping, old in ((hashes, earlier.hashes), (links, earlier.links)):
                mapping.pop(whole, None)
                if whole in old:
                    mapping[whole] = old[whole]
            racy.discard(whole)
            racy.update({whole} & earlier.racy)
            if name in before:
                kept[name] = before[name]
        if kept != found:
            folders[path] = pack_folder([(name, *kept[name]) for name in sorted(kept)])
    return now._replace(folders=folders, hashes=hashes, racy=frozenset(racy), links=links)

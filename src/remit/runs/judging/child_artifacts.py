"""The files that nested runs made and that were accepted.

Owns whose a change is where several of one line worked in one tree. What an agent below has named, and was believed, is
not named again by whoever handed the work on; unless that one changed it afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.ledger.events import list_acts
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING
from remit.runs.results.full_result import load_made

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from remit.evidence.tree import TreeChange
    from remit.ledger.home import Home

_BELOW = """
WITH RECURSIVE below (session_id) AS (
    SELECT session_id FROM runs WHERE parent_id IN ({marks})
    UNION
    SELECT child.session_id FROM runs AS child JOIN below ON child.parent_id = below.session_id
)
SELECT session_id, json_extract(details, '$.root'), ended_ms FROM runs
WHERE session_id IN (SELECT session_id FROM below) AND verdict IN ('accepted', 'repaired')
    AND status NOT IN ('failed', 'blocked')
"""


class NestedArtifacts(NamedTuple):
    """What was accepted of all below: the git ids of each file, and what Remit itself may have written into since."""

    made: Mapping[str, frozenset[str]] = NOTHING
    noted: frozenset[str] = frozenset()
    """Files with an act of an agent below: settling adds to their frontmatter, and their hash is another then."""
    accepted_ms: Mapping[str, int] = NOTHING
    """When the last run ended that made each file."""

    def has(self, change: TreeChange, *, written: Collection[str] | None) -> bool:
        """Whether a change is theirs, and was not changed again. `written`: what the one above them wrote itself."""
        if change.path not in self.made or not change.blob:
            return False
        if change.blob in self.made[change.path]:
            return True
        return change.path in self.noted and change.path not in (written or ())


def load_nested_artifacts(home: Home, sessions: Iterable[str], root: str) -> NestedArtifacts:
    """What was accepted of the agents below some sessions, wherever they worked; in doubt they made nothing."""
    tops = [*sessions]
    with home.ledger.reading() as db:
        found = db.execute(_BELOW.format(marks=", ".join("?" * len(tops))), tops).fetchall()
    made: dict[str, set[str]] = {}
    noted: set[str] = set()
    accepted_ms: dict[str, int] = {}
    for session_id, where, ended_ms in found:
        for place, digest in load_made(home, session_id):
            made.setdefault(place, set()).add(digest)
            accepted_ms[place] = max(accepted_ms.get(place, 0), ended_ms or 0)
        if where == root:
            noted |= {act.path for act in list_acts(home.ledger, session_id)}
    return NestedArtifacts(
        {place: frozenset(digests) for place, digests in made.items()}, frozenset(noted), accepted_ms
    )

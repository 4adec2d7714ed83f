"""Ways: where a path that a tool was given led when the tool used it.

Owns that question. It is asked when all is over, and a link that leads elsewhere by then would pass off any file as
written. So only those links count that the tree had before the work, as they were; where another one is on the way,
nobody knows any more what was written.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.workspace.inside import name_below

if TYPE_CHECKING:
    from remit.workspace.evidence.values import Snapshot

_MOST_LINKS = 40


def find_way(root: str, path: str, before: Snapshot | None) -> str | None:
    """What a file is called below the root that a tool was told to write; None where that is not known for sure."""
    real = os.path.realpath(root)
    whole = os.path.join(real, path)
    if "\0" in whole:
        return None
    names = (name_below(base, whole) for base in (real, os.path.abspath(root)))
    below = next((name for name in names if name is not None), None)
    if below is None:
        below = _leave_out_above(real, whole, 0 if before is None else before.taken_ns)
    return None if below is None else _follow(real, below, before)


def _leave_out_above(real: str, whole: str, taken_ns: int) -> str | None:
    """The rest of a path that reaches the root by another name, through links that are older than the work."""
    parts = whole.split("/")
    for count in range(2, len(parts)):
        above = "/".join(parts[:count])
        if os.path.islink(above) and os.lstat(above).st_ctime_ns > taken_ns:
            return None
        if os.path.realpath(above) == real:
            return "/".join(parts[count:])
    return None


def _follow(real: str, below: str, before: Snapshot | None) -> str | None:
    """Go down step by step, through links that were there before only."""
    links = {} if before is None else before.links
    left, done, followed = below.split("/")[::-1], list[str](), 0
    while left:
        step = left.pop()
        if step in {"", "."}:
            continue
        if step == "..":
            if not done:
                return None
            done.pop()
            continue
        done.append(step)
        target = _read_link(real, "/".join(done))
        if target is None:
            continue
        followed += 1
        inside = name_below(real, target) if target.startswith("/") else target
        if links.get("/".join(done)) != target or inside is None or followed > _MOST_LINKS:
            return None
        done = [] if target.startswith("/") else done[:-1]
        left += inside.split("/")[::-1]
    return "/".join(done)


def _read_link(real: str, below: str) -> str | None:
    try:
        return os.readlink(f"{real}/{below}")
    except OSError:  # no link, or nothing at all any more
        return None

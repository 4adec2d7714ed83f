"""Find the file that a tool wrote, from the path that the tool was given.

A path may lead through links. A link that is newer than the tree before the run may have led elsewhere when the tool
used it, so its target is unknown.
"""

from __future__ import annotations

import os

from remit.storage.safe_path import name_below

_MOST_LINKS = 40


def find_way(root: str, path: str, taken_ns: int) -> str | None:
    """What a file is called below the root that a tool was given; None if that isn't known for sure."""
    real = os.path.realpath(root)
    whole = os.path.join(real, path)
    if "\0" in whole:
        return None
    done, left, followed = "", whole.split("/")[::-1], 0
    while left:
        step = left.pop()
        if step in {"", "."}:
            continue
        if step == "..":
            done = done.rpartition("/")[0]
            continue
        try:
            target = os.readlink(f"{done}/{step}")
            is_new = os.lstat(f"{done}/{step}").st_ctime_ns > taken_ns
        except OSError:  # not a link, or nothing at all any more
            done = f"{done}/{step}"
            continue
        followed += 1
        if is_new or followed > _MOST_LINKS:
            return None
        done = "" if target.startswith("/") else done
        left += target.split("/")[::-1]
    return name_below(real, done)

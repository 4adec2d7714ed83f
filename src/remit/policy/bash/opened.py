"""Opened: paths that lead to what a process holds open, or to a process itself.

Owns the look at them. Which program is behind `/dev/fd/9` is decided by whoever opened it, and `/proc/self/exe` is
whoever asks: from the text nobody can tell, so that to run one is a doubt.
"""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING

from remit.policy.bash.names import read_names
from remit.policy.bash.words import HOLE
from remit.policy.paths import is_deep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.bash.reading import Reader
    from remit.policy.bash.words import Word

RUN_OPENED = "it runs a file that is held open, and which one that is cannot be told"
_MAX_LINKS = 8
_LASTS = read_names("stdin stdout stderr exe")
"""What such paths end with besides a number."""


def is_opened(reader: Reader, text: str) -> bool:
    """Whether a path leads there, however it is spelled and from whichever folder."""
    last = text.rpartition("/")[2]
    if "/" in text and (last.isdigit() or last in _LASTS):
        return True  # in a folder that a wrapper chooses, or that is not known, it is one as well
    places = [posixpath.join(cwd, text) for cwd in reader.cwds or ("",)]
    if any(is_deep(place, "/") for place in places):
        return True  # nobody works there, and a script that goes down with every word would be followed for seconds
    return any(_leads_there(each) for place in places for each in (place, *_follow(reader, place)))


def _follow(reader: Reader, place: str) -> list[str]:
    """Where links lead, and each step of theirs: the end is Remit's own file where it has that number open itself."""
    found: list[str] = []
    try:
        found += [reader.ground.resolve(each) for each in (place, posixpath.dirname(place))]
        for _ in range(_MAX_LINKS):
            place = posixpath.join(posixpath.dirname(place), os.readlink(place))  # noqa: PTH115 - pathlib costs the hook
            found.append(place)
    except (OSError, ValueError):
        pass  # it is no link, or not there
    return found


def _leads_there(place: str) -> bool:
    """Whether a path goes through `/proc` or `/dev`, if only to leave it again; `/dev/shm` is a folder like others."""
    parts: list[str] = []
    for part in place.split("/") if place.startswith("/") else ():
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
        if parts == ["proc"] or (parts[:1] == ["dev"] and len(parts) > 1 and parts[1] != "shm"):
            return True
    return False


def note_handed(reader: Reader, words: Sequence[Word]) -> None:
    """A program of which nothing is known gets such a path: it may run it."""
    for word in words:
        last = word.text.rpartition("/")[2]
        if last.isdigit() or last in _LASTS:
            places = [posixpath.join(cwd, word.text) for cwd in reader.cwds or ("/dev",)]
            reader.hands_opened = reader.hands_opened or any(_leads_there(place) for place in places)


def note_opened(reader: Reader, path: Word) -> None:
    """A file that a redirection opens for reading: one with an ending is data, unless the script has made it."""
    name = posixpath.basename(path.text)
    made = any(place in reader.written for place in reader.name_places(path))
    reader.opens_program = reader.opens_program or made or "." not in name or HOLE in path.text

"""Links: second names that a script gives to files.

Owns which programs make them, and where a path leads through those that the script itself makes: when it is judged,
nothing of them is on disk yet.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from remit.policy.bash.acts import Refusal, Touch
from remit.policy.bash.options import parse_options
from remit.policy.bash.words import HOLE, Word
from remit.policy.paths import is_below

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.policy.bash.reading import Reader
    from remit.policy.terms import Ground

MAX_LINKS = 100
MAX_NAMES = 16
_PLACING = frozenset({"-B", "-R", "-M", "--move", "overlay"})
"""What makes `mount` show a folder that is there already."""


def find_links(reader: Reader, name: str, words: Sequence[Word]) -> None:
    """Take note of the links that a command makes."""
    if name == "mount" and any("bind" in word.text or word.text in _PLACING for word in words[1:]):
        reader.add(Refusal("it gives a folder a second place, through which it can be written"))
    if name not in ("ln", "link", "cp"):
        return
    letters = "".join(word.text[1:] for word in words[1:] if word.text[:1] == "-" and word.text[1:2] != "-")
    longs = [word.text for word in words[1:] if word.text.startswith("--")]
    symbolic = "s" in letters or any(long.startswith("--sy") for long in longs)
    if name == "cp" and not symbolic and "l" not in letters and not any(long.startswith("--l") for long in longs):
        return
    found = parse_options(words[1:], "t: S: --target-directory: --suffix:", permute=True)
    targets = [value for option, value in found.options if option in ("-t", "--target-directory")]
    operands = list(found.operands)
    place = targets[-1] if targets else operands.pop() if len(operands) > 1 else Word(".")
    # A symbolic link is read from where it lies, unless the program is told to see to that.
    from_here = not symbolic or name == "cp" or "r" in letters or any(long.startswith("--r") for long in longs)
    for source in operands:
        note_link(reader, source, place, symbolic=symbolic, from_here=from_here)


def note_link(reader: Reader, source: Word, place: Word, *, symbolic: bool, from_here: bool) -> None:
    """A second name for a file; through a hard one it is read and written as through its first."""
    inner = posixpath.join(place.text, posixpath.basename(source.text.rstrip("/")))
    if symbolic:
        folders = [""] if from_here else [posixpath.dirname(link) for link in (place.text, inner)]
        for text in dict.fromkeys(posixpath.join(folder, source.text) for folder in folders):
            reader.add(Touch(Word(text), "link", reader.cwds, below=True))
    else:
        reader.note_file(Word(source.text), "read")
        reader.note_file(Word(source.text), "write", below=True, keep=True)
    if len(reader.links) >= MAX_LINKS:
        reader.doubt("it makes more links than can be followed", always=True)
        return
    for link in dict.fromkeys([place.text, inner]):
        for cwd in reader.cwds or ("",):
            full = posixpath.normpath(posixpath.join(cwd, link))
            reader.links.append((full, _place(cwd if from_here else posixpath.dirname(full), source.text)))


def _place(folder: str, text: str) -> str:
    return HOLE if HOLE in text else posixpath.normpath(posixpath.join(folder, text))


def check_links(reader: Reader) -> None:
    """A file that is written through a link of which nobody can tell where it leads."""
    blind = [link for link, source in reader.links if source == HOLE and HOLE not in link]
    if not blind:
        return
    for act in reader.acts:
        if not isinstance(act, Touch) or act.tool != "write" or HOLE in act.path.text:
            continue
        # The link itself is made, and so written, too.
        places = [posixpath.normpath(posixpath.join(cwd, act.path.text)) for cwd in act.cwds or ("",)]
        if any(
            is_below(place, link) and (place != link or _is_again(reader, act)) for place in places for link in blind
        ):
            reader.doubt("it writes through a link, and where that leads is not written out", always=True)
            return


def _is_again(reader: Reader, touch: Touch) -> bool:
    """Whether a path is written more than once, however that is told."""
    same = [act for act in reader.acts if isinstance(act, Touch) and act.tool == "write" and act.path == touch.path]
    return len(same) > 1


def follow_links(reader: Reader, ground: Ground) -> Ground:
    """The same ground, on which the script's own links lead somewhere."""
    links = [(link, source) for link, source in dict.fromkeys(reader.links) if source != HOLE]
    if not links:
        return ground
    given = ground.twins

    def list_twins(path: str) -> list[str]:
        found: list[str] = []
        waiting = [posixpath.normpath(path)]
        while waiting and len(found) < MAX_NAMES:
            here = waiting.pop()
            others = [posixpath.normpath(source + here[len(link) :]) for link, source in links if is_below(here, link)]
            waiting += [other for other in others if other not in found]
            found += [other for other in others if other not in found]
        names = [*found, *_resolve_all(found, ground.resolve)]
        return [*names, *(name for each in (path, *names) for name in (given(each) if given else ()))]

    return ground._replace(twins=list_twins)


def _resolve_all(paths: Sequence[str], resolve: Callable[[str], str]) -> list[str]:
    found = []
    for path in paths:
        try:
            found.append(resolve(path))
        except (OSError, ValueError):  # it stays what it is called
            continue
    return found

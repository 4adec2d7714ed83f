"""Listings: files that a script looks for, and then writes to without naming one of them.

Owns which programs make lists of files, what may be on them, and whether the script writes to what is on a list. A
list that some other command takes counts, and one that may hold a protected place: `find . -name '*.json'` may,
`find src -name '*.py'` does not.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from remit.lazy import lazy
from remit.policy import paths
from remit.policy.bash.acts import Doubt, Touch
from remit.policy.bash.options import parse_options
from remit.policy.bash.shell import SHELL_FED
from remit.policy.bash.words import GLOB, HOLE, Word
from remit.quick_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from remit.policy.bash.acts import Act
    from remit.policy.bash.reading import Reader
    from remit.policy.terms import Ground

MAX_LISTINGS = 60
_SIGNS = lazy(r"\[[^\]]*\]|[?\x00]")
_STARS = lazy(r"\*+")
_KEEPING = frozenset({"set", "bash", "sh", "dash", "zsh", "ksh"})
"""What makes numbered variables of its words."""
_GREPS = frozenset({"grep", "egrep", "fgrep", "ag"})


class Listing(NamedTuple):
    """Files that may be on a list: those below a folder, or those that a pattern with stars means."""

    folder: str
    name: str = ""
    """What they are called; "" where that does not matter."""
    cwds: tuple[str, ...] | None = ()
    is_flat: bool = False
    """Whether only the folder itself is looked at: what a shell makes of stars."""


def note_listing(reader: Reader, name: str, words: Sequence[Word]) -> None:
    """Take note of a list of files that a command makes for another one."""
    if name == "find":
        _take_find(reader, words)
    elif name in ("fd", "fdfind"):
        _take_fd(reader, words)
    elif name in _KEEPING:
        note_stars(reader, words[1:])
    elif reader.is_heard and name in _TAKEN:
        _TAKEN[name](reader, words)
    elif reader.is_heard and any(word in reader.heard for word in ("xargs", "parallel")):
        note_stars(reader, words[1:])  # many programs tell which file they talk of


def note_stars(reader: Reader, words: Iterable[Word]) -> None:
    """Words that a shell makes file names of."""
    for word in words:
        if word.kind == GLOB:
            _add(reader, posixpath.dirname(word.text), posixpath.basename(word.text), is_flat=True)


def note_pattern(reader: Reader, folder: str, pattern: str) -> None:
    """A pattern with stars below a folder, as code gives it; two of them cross folders."""
    whole = posixpath.join(folder, pattern)
    start, stars, _ = whole.partition("**")
    if stars:
        _add(reader, posixpath.dirname(start) or ".", posixpath.basename(whole))
    else:
        _add(reader, posixpath.dirname(whole), posixpath.basename(whole), is_flat=True)


def _add(reader: Reader, folder: str, name: str = "", *, is_flat: bool = False) -> None:
    if HOLE in folder and not is_flat:
        return
    shape = _STARS.sub("*", _SIGNS.sub("*", name))
    if len(reader.listings) < MAX_LISTINGS:
        found = Listing(_SIGNS.sub("*", folder), "" if shape == "*" and not is_flat else shape, reader.cwds, is_flat)
        reader.listings.append(found)
    else:
        reader.doubt("it makes more lists of files than can be looked at", always=True)


# --- programs --------------------------------------------------------------------------------------------------------


def _take_find(reader: Reader, words: Sequence[Word]) -> None:
    texts = [word.text for word in words[1:]]
    deletes = "-delete" in texts
    acts = deletes or any(text in ("-exec", "-execdir", "-ok", "-okdir") for text in texts)
    if "-empty" in texts or not (acts or reader.is_heard):
        return
    at = next((number for number, text in enumerate(texts) if text[:1] in ("-", "(", "!")), len(texts))
    named = [
        texts[number + 1]
        for number, text in enumerate(texts[:-1])
        if text in ("-name", "-iname") and texts[number - 1] not in ("-not", "!")
    ]
    for folder in texts[:at] or ["."]:
        for name in named or [""]:
            _add(reader, folder, name)
    if deletes:
        reader.add(Touch(Word(HOLE), "write", reader.cwds))


def _take_grep(reader: Reader, words: Sequence[Word]) -> None:
    """`grep -rl x folder`, and `grep -l x *.json`."""
    spec = "e: f: m: A: B: C: --include: --exclude: --exclude-dir: --regexp: --file:"
    found = parse_options(words[1:], spec, permute=True)
    letters = "".join(word.text[1:] for word in words[1:] if word.text[:1] == "-" and word.text[1:2] != "-")
    longs = [word.text for word in words[1:] if word.text.startswith("--")]
    if not set("lL") & set(letters) and not any(long.startswith("--files") for long in longs):
        return
    given = any(option in ("-e", "-f", "--regexp", "--file") for option, _ in found.options)
    places = found.operands[0 if given else 1 :]
    note_stars(reader, places)
    if not set("rR") & set(letters) and not any(long.startswith(("--rec", "--deref")) for long in longs):
        return
    named = [value.text for option, value in found.options if option == "--include"]
    for place in places or [Word(".")]:
        for name in named or [""]:
            _add(reader, place.text, name)


def _take_rg(reader: Reader, words: Sequence[Word]) -> None:
    """Hidden files are left out unless it is told otherwise, and with them most that is protected."""
    found = parse_options(words[1:], "g: e: t: T: m: A: B: C: --glob: --iglob: --type: --regexp:", permute=True)
    texts = [word.text for word in words[1:]]
    named = [value.text for option, value in found.options if option in ("-g", "--glob", "--iglob")]
    named = [posixpath.basename(name) for name in named if name[:1] != "!"]
    if not named and not any(text in ("--hidden", "-.", "-uu", "-uuu") for text in texts):
        return
    places = found.operands[0 if "--files" in texts else 1 :]
    for place in places or [Word(".")]:
        for name in named or [""]:
            _add(reader, place.text, name)


def _take_fd(reader: Reader, words: Sequence[Word]) -> None:
    """The same, with endings instead of stars."""
    found = parse_options(words[1:], "e: t: d: E: x: X: --extension: --type: --exclude: --exec: --exec-batch:")
    if not any(option in ("-H", "-u", "--hidden", "--unrestricted") for option, _ in found.options):
        return
    named = [f"*.{value.text}" for option, value in found.options if option in ("-e", "--extension")]
    for name in named or [f"*{word.text}*" for word in found.operands[:1]] or [""]:
        _add(reader, found.operands[1].text if len(found.operands) > 1 else ".", name)


def _take_ls(reader: Reader, words: Sequence[Word]) -> None:
    flags = "".join(word.text for word in words[1:] if word.text[:1] == "-")
    places = [word for word in words[1:] if word.text[:1] != "-"]
    note_stars(reader, places)
    if "l" not in flags:
        for place in places or [Word(".")]:
            if place.kind != GLOB:
                _add(reader, place.text)


def _take_git(reader: Reader, words: Sequence[Word]) -> None:
    """What git keeps; what a pattern of its means lies in any folder."""
    texts = [word.text for word in words[1:]]
    command = next((text for text in texts if text in _LISTING), "")
    rest = texts[texts.index(command) + 1 :] if command else []
    given = [text for text in rest if text[:1] != "-"]
    if not command or {"-d", "--deleted"} & set(texts) or not _is_list(command, rest, given):
        return
    specs = rest[rest.index("--") + 1 :] if "--" in rest else given[command != "ls-files" :]
    specs = [] if command in _COMPARING and "--" not in rest else specs
    for spec in [each for each in specs if each[:2] not in (":!", ":^")] or ["."]:
        start, star, _ = spec.partition("*")
        if star:
            _add(reader, posixpath.dirname(start) or ".", posixpath.basename(spec))
        else:
            _add(reader, spec)


_COMPARING = ("diff", "diff-tree", "show", "log")
_LISTING = ("ls-files", "ls-tree", "grep", *_COMPARING)


def _is_list(command: str, rest: Sequence[str], given: Sequence[str]) -> bool:
    """Whether git prints names of files; of changes that are not committed, an agent's own are the most."""
    if command == "grep":
        return any(text[:1] == "-" and "l" in text for text in rest)
    return command not in _COMPARING or ("--name-only" in rest and (bool(given) or command in ("show", "log")))


def _take_walk(reader: Reader, words: Sequence[Word]) -> None:
    """A program that shows what is below folders."""
    for word in [word for word in words[1:] if word.text[:1] != "-"] or [Word(".")]:
        _add(reader, word.text)


def _take_compgen(reader: Reader, words: Sequence[Word]) -> None:
    text = words[-1].text
    _add(reader, posixpath.dirname(text), f"{posixpath.basename(text)}*", is_flat=True)


def _take_said(reader: Reader, words: Sequence[Word]) -> None:
    note_stars(reader, words[1:])


_TAKEN: dict[str, Callable[[Reader, Sequence[Word]], None]] = {
    **dict.fromkeys(_GREPS, _take_grep),
    "rg": _take_rg,
    "ls": _take_ls,
    "git": _take_git,
    "compgen": _take_compgen,
    **dict.fromkeys(("du", "tree"), _take_walk),
    **dict.fromkeys(("echo", "printf", "stat", "basename", "realpath", "readlink", "file"), _take_said),
}


# --- what is written -------------------------------------------------------------------------------------------------


def find_listed(reader: Reader, ground: Ground) -> str:
    """The protected place that may be on a list whose files are written to; "" where there is none."""
    written = {shape for act in reader.acts for shape in _list_shapes(act)} if reader.listings else set()
    for listing in dict.fromkeys(reader.listings) if written else ():
        own = posixpath.join(listing.folder, listing.name)
        if "" in written or (listing.is_flat and own in written):
            place = _find_held(listing, ground)
            if place:
                return place
    return ""


def _list_shapes(act: Act) -> tuple[str, ...]:
    """A path that is written, with stars for its holes; "" where it is nothing but a variable's value."""
    if isinstance(act, Doubt) and act.why == SHELL_FED:
        return ("",)
    if not isinstance(act, Touch) or act.tool != "write" or HOLE not in act.path.text:
        return ()
    text = act.path.text
    return (_STARS.sub("*", text.replace(HOLE, "*")) if text.replace(HOLE, "").removeprefix("./") else "",)


def _find_held(listing: Listing, ground: Ground) -> str:
    for cwd in listing.cwds or (ground.cwd,):
        folder = posixpath.normpath(posixpath.join(cwd, listing.folder))
        for pattern in ground.protected:
            if listing.is_flat:
                held = paths.meets(pattern, posixpath.join(folder, listing.name), ground)
            else:
                held = paths.may_hold(folder, listing.name, pattern, ground)
            if held:
                return pattern
    return ""

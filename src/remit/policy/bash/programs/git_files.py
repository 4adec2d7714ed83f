"""Git: the files that its commands write, put back or take away."""

from __future__ import annotations

import posixpath
from itertools import pairwise
from typing import TYPE_CHECKING

from remit.policy.bash.commands import find_git_command
from remit.policy.bash.names import read_names
from remit.policy.bash.words import GLOB, HOLE, Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.bash.reading import Reader

_FOLDERS = ("-C", "--work-tree")
_OF_CLEAN = read_names("--dry-run --no-dry-run --force --no-force --quiet --no-quiet --interactive --exclude")
_OF_STASH = read_names(
    """
--include-untracked --no-include-untracked --all --no-all --keep-index --no-keep-index --patch --staged --quiet
--no-quiet --message --pathspec-from-file --pathspec-file-nul
"""
)
_TAKING = {"--exclude": "-e", "--message": "-m", "--pathspec-from-file": ""}
"""Options whose value is the next word, unless it is in the same."""
_OF_STASHES = read_names("list show pop apply drop clear branch create store export import")
_KEPT = ".remit"
"""What git never knows: whoever has it take away all that it does not know takes away this."""


def name_git_command(words: Sequence[Word]) -> str:
    """Git's subcommand, "" where it has none."""
    found = find_git_command(words)
    return found.text if found else ""


def take_git(reader: Reader, words: Sequence[Word]) -> None:
    """Files that git puts back or takes away, and those that it is told to write."""
    command = name_git_command(words[1:])
    for at, word in enumerate(words):
        option, equals, value = word.text.partition("=")
        if option in ("--output", "--output-directory", "-o"):
            following = words[at + 1].text if at + 1 < len(words) else ""
            reader.note_file(Word(value if equals else following), "write")
    at = next((number for number, word in enumerate(words) if number and word.text == command), len(words))
    given = words[at + 1 :]
    folder = posixpath.join("", *(value.text for option, value in pairwise(words) if option.text in _FOLDERS))
    folder = posixpath.join(folder, *(word.text[12:] for word in words if word.text.startswith("--work-tree=")))
    if command == "clean":
        _clean(reader, given, folder)
    elif command == "stash":
        _stash(reader, given, folder)
    elif command in ("checkout", "restore", "rm", "mv"):
        dashes = next((number for number, word in enumerate(words) if word.text == "--"), 0)
        operands = list(words[dashes + 1 :]) if dashes else [word for word in given if word.text[:1] != "-"]
        for word in operands:
            named = bool(word.text.strip("./"))  # to put all of it back is daily work
            _note(reader, folder, word, below=named or command in ("rm", "mv"))


def _clean(reader: Reader, given: Sequence[Word], folder: str) -> None:
    """What git does not know is removed, below this folder or what is named."""
    flags, operands = _read_flags(given, _OF_CLEAN)
    tries = [flag for flag in flags if flag in ("-n", "--dry-run", "--no-dry-run")]
    if tries and tries[-1] != "--no-dry-run":
        return
    named = [word for word in operands if word.text.strip("./")]
    for word in named:
        _note(reader, folder, word, below=True)
    if named:
        return
    if {"-x", "-X"}.intersection(flags):
        reader.note_file(Word(folder or "."), "write", below=True)
    else:
        reader.doubt("it takes away all that git does not know, which may be somebody's settings", always=True)


def _stash(reader: Reader, given: Sequence[Word], folder: str) -> None:
    """What was changed is put aside, or what is named; with `--all` also ignored files, and `.remit` is one."""
    kind = given[0].text if given else ""
    if kind in _OF_STASHES:
        return
    flags, operands = _read_flags(given[1:] if kind in ("push", "save") else given, _OF_STASH)
    for word in operands if kind != "save" else ():
        _note(reader, folder, word, below=True)
    if {"-a", "--all"}.intersection(flags) and (kind == "save" or not operands):
        reader.note_file(Word(posixpath.join(folder, _KEPT)), "write", below=True)


def _read_flags(words: Sequence[Word], known: frozenset[str]) -> tuple[list[str], list[Word]]:
    """Every option, those of one word apart and long ones in full, and what is none. Git lets them be shortened."""
    flags: list[str] = []
    operands: list[Word] = []
    waiting = iter(words)
    for word in waiting:
        text = word.text
        if text == "--":
            operands += waiting
        elif text.startswith("--"):
            name, equals, _ = text.partition("=")
            flags += [each for each in sorted(known) if each == name or each.startswith(name)]
            if not equals and flags and flags[-1] in _TAKING:
                next(waiting, None)
        elif text[:1] == "-" and text != "-":
            for at, letter in enumerate(text[1:], 2):
                flags.append(f"-{letter}")
                if f"-{letter}" in _TAKING.values():
                    if at == len(text):
                        next(waiting, None)
                    break
        else:
            operands.append(word)
    return flags, operands


def _note(reader: Reader, folder: str, word: Word, *, below: bool) -> None:
    """A path as git is given it; stars in it and a colon before it are git's own, which no shell has seen."""
    text = word.text
    if text[:2] in (":!", ":^"):
        text = "."
    elif text[:1] == ":":
        text = text.rpartition(")")[2] if text[:2] == ":(" else text[1:].lstrip("/:")
        if "exclude" in word.text.partition(")")[0]:
            text = "."
        elif text.strip("./"):
            reader.doubt("a path is written in a way of git's own, from another folder on", always=True)
    path = posixpath.join(folder, text)
    reader.note_file(Word(path.replace("*", HOLE), GLOB) if "*" in path else Word(path), "write", below=below)

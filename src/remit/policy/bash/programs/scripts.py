"""Scripts: texts and files that programs hand to a shell, and words that may be a command.

Owns what all who know a program do with such a text: it is read where it is written out, and a doubt where it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint, Run
from remit.policy.bash.commands import base_name
from remit.policy.bash.names import WRAPPERS, read_names
from remit.policy.bash.opened import RUN_OPENED, is_opened, note_handed
from remit.policy.bash.shell import SHELL_FED
from remit.policy.bash.words import GLOB, HOLE, SPLIT, Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.bash.reading import Reader, Stdin

NOT_WRITTEN_OUT = "the name of a program is not written out"
OTHER_SHELLS = read_names(
    """
fish csh tcsh pwsh powershell xonsh nu elvish rc es
"""
)
STARTERS = read_names(
    """
sh bash dash zsh ksh ash busybox env command sudo su xargs eval exec python python3 perl ruby node timeout nohup
nice find awk
"""
)


def join(words: Sequence[Word]) -> str:
    """Words as one text; holes are blanks."""
    return " ".join(word.text.replace(HOLE, " ") for word in words)


def read_text(reader: Reader, word: Word | None, name: str) -> None:
    """A text for the shell of this name, which stays in the folder that it is in."""
    if word is None:
        return
    if not word.is_sure:
        reader.doubt("the text of a script is not written out")
        reader.add(Hint(word.text.replace(HOLE, " ")))
    elif name in OTHER_SHELLS or (name == "zsh" and " =" in f" {word.text}"):
        reader.doubt(f"'{name}' reads a text in a way of its own")
    else:
        kept = reader.cwds
        reader.read(word.text)
        reader.cwds = kept


def read_given(reader: Reader, text: str) -> None:
    """A text that a program hands to a shell, or takes apart as one would."""
    if HOLE in text:
        reader.doubt("a command that a program is given is not written out")
        reader.add(Hint(text.replace(HOLE, " ")))
    elif text.strip():
        is_fed, reader.is_fed = reader.is_fed, True
        reader.read(text)
        reader.is_fed = is_fed
        words = text.split()
        first = base_name(words[0])
        # What it puts behind it is not known, and a pattern may look at that.
        reader.add(Run((*(Word(word) for word in words), Word(HOLE, SPLIT)), passes_on=True))
        if first in WRAPPERS or first in STARTERS:
            # The program puts words of its own behind it, and those may be a command.
            reader.doubt("a command that a program is given starts whatever follows it")


def read_stdin(reader: Reader, stdin: Stdin | None) -> None:
    """Commands that come in on standard input."""
    if stdin is None:
        reader.note_typed("a shell")
        reader.doubt(SHELL_FED)
    elif stdin[0]:
        run_file(reader, stdin[1], None)
    else:
        read_text(reader, stdin[1], "sh")


def run_file(reader: Reader, word: Word, stdin: Stdin | None, language: str = "sh", rest: Sequence[Word] = ()) -> None:
    """A script in a file: one that was there before is trusted, as every program is."""
    if word.text in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-"):
        if language == "sh":
            read_stdin(reader, stdin)
        else:
            reader.doubt("code is run that cannot be looked at")
    elif word.kind == SPLIT or word.text.startswith((HOLE, "/dev/", "/proc/")):
        reader.doubt("the script to run is not written out")
    elif is_opened(reader, word.text):
        reader.doubt(RUN_OPENED)
    else:
        reader.note_run(word, language)
        reader.note_file(Word(word.text), "read")
        if rest:
            # It may start what it is given.
            take_unknown(reader, [word, *rest])


_GIVING = frozenset({"-e", "-c", "-E", "-x", "--eval", "--exec", "--execute", "--command", "--run", "--expr"})


def take_unknown(reader: Reader, words: list[Word]) -> None:
    """A program of which nothing is known: its words may be a command, a text for a shell, or code."""
    reader.add(Hint(join(words[1:])))
    note_handed(reader, words[1:])
    for word in words[1:]:
        if not word.is_sure and (reader.is_tainted or (word.kind == GLOB and _is_among_programs(reader, word.text))):
            reader.doubt("a program that may start others gets words that are not written out")
    for at, word in enumerate(words[1:], 1):
        following = words[at + 1].text if at + 1 < len(words) else ""
        option, _, value = word.text.partition("=")
        if option in _GIVING and any(char in (value or following) for char in "(){};`!|&"):
            reader.doubt("a program that is not known is given code")
        if word.is_sure and base_name(word.text) in STARTERS:
            reader.run(words[at:], None)
            break


def _is_among_programs(reader: Reader, text: str) -> bool:
    """Whether a glob is one for programs."""
    return "bin/" in text or any(base_name(cwd) in ("bin", "sbin") for cwd in reader.cwds or ("bin",))

"""Acts: what a script would do, one by one, before anybody has judged it.

Owns the values between the reader of a script and its judge. The reader knows bash and programs, and no rules; the
judge knows rules, and no bash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from remit.policy.bash.words import Word


class Run(NamedTuple):
    """A program that is started, with its words."""

    words: tuple[Word, ...]
    passes_on: bool = False
    """Whether it does nothing but start another one, which is judged by itself: an allow list need not name it."""
    names: tuple[str, ...] = ()
    """Other names of the same program: where its link leads."""


class Touch(NamedTuple):
    """A file that is read or written."""

    path: Word
    tool: str
    """`read` or `write`."""
    cwds: tuple[str, ...] | None
    """The folders that the shell may be in, the likeliest first; None where nobody can tell."""
    below: bool = False
    """Whether what is in a folder is touched with it."""


class Hint(NamedTuple):
    """A text that some program gets and may take for a command."""

    text: str
    is_code: bool = False
    """Whether it is run by an interpreter that nobody looked through."""


class Doubt(NamedTuple):
    """Something that cannot be told from the text: whether it runs something else, and what."""

    why: str
    always: bool = False
    """Whether it counts even where no rule says which programs may run."""


Act = Run | Touch | Hint | Doubt

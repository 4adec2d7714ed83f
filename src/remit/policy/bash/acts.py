"""Acts: what a script would do, one by one, before anybody has judged it.

Owns the values between the reader of a script and its judge. The reader knows bash and programs, and no rules; the
judge knows rules, and no bash.
"""

from __future__ import annotations

from remit.quick_tuple import NamedTuple

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from remit.policy.bash.words import Word


class Run(NamedTuple):
    """A program that is started, with its words."""

    words: tuple[Word, ...]
    passes_on: bool = False
    """Whether it does nothing but start another one, which is judged by itself: an allow list need not name it."""
    names: tuple[str, ...] = ()
    """Other names of the same program: where its link leads."""
    cwds: tuple[str, ...] | None = ()
    """The folders that it may be started in; none where that is not looked at."""


class Touch(NamedTuple):
    """A file that is read or written."""

    path: Word
    tool: str
    """`read`, `write`, or `link` for what is given a second name."""
    cwds: tuple[str, ...] | None
    """The folders that the shell may be in, the likeliest first; None where nobody can tell."""
    below: bool = False
    """Whether what is in a folder is touched with it."""


class Hint(NamedTuple):
    """A text that some program gets and may take for a command."""

    text: str
    is_code: bool = False
    """Whether it is run by an interpreter that nobody looked through."""
    is_place: bool = False
    """Whether it is the names of what may be files, and nothing that is run."""


class Doubt(NamedTuple):
    """Something that cannot be told from the text: whether it runs something else, and what."""

    why: str
    always: bool = False
    """Whether it counts even where no rule says which programs may run."""


class Refusal(NamedTuple):
    """Something that no agent does, whatever its file says."""

    why: str
    is_sure: bool = False
    """Whether it surely is that; else a person is asked."""


Act = Run | Touch | Hint | Doubt | Refusal

"""Acts: what a script would do, one by one, before the rules are applied.

Owns the values between the reader of a script and its judge. The reader knows bash and no rules; the judge knows rules
and no bash.
"""

from __future__ import annotations

from remit.light_namedtuple import NamedTuple

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from remit.policy.bash.words import ShellWord


class Invocation(NamedTuple):
    """A program that is started, with its words."""

    words: tuple[ShellWord, ...]
    passes_on: bool = False
    """Whether it only starts another program, which is judged by itself: an allow list need not name it."""
    names: tuple[str, ...] = ()
    """Other names of the same program: where its link leads."""


class ShellAssignment(NamedTuple):
    """A variable that the script sets."""

    name: str
    value: str


class PossibleCommand(NamedTuple):
    """A text that a program gets and may take for a command."""

    text: str
    leaves: bool = False
    """Whether the program starts it in another process tree, such as a container, where no judge at exec sees it."""


class Unresolved(NamedTuple):
    """Something that the text doesn't say: whether it runs something else, and what."""

    why: str
    is_code: bool = False
    """Whether a judge at exec sees what the code starts."""


Act = Invocation | ShellAssignment | PossibleCommand | Unresolved

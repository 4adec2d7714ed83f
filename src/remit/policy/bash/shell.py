"""Shell: what is known of a shell while a script of its is read.

Owns the acts that were found so far, the folders that the shell may be in, its variables, and the files that the
script writes and runs. It knows no syntax: that is for those who read.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from remit.lazy import lazy
from remit.policy.bash.acts import Act, Doubt, Touch
from remit.policy.bash.parsing import MAX_CHARS
from remit.policy.bash.words import HOLE, Piece, Word
from remit.policy.paths import MAX_PATH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.policy.bash.acts import Run
    from remit.policy.bash.listings import Listing
    from remit.policy.terms import Ground

MAX_ACTS = 6_000
MAX_WORDS = 6_000
"""So many words may all commands together have."""
NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "-", ""})
SHELL_FED = "a shell reads its commands from somewhere else"
EVALUATED = "a text with a substitution in it is evaluated"
SUBSCRIPT = lazy(r"\[[^\]\n]*(?:\$\(|`)")
_NAME = lazy(r"[A-Za-z_][A-Za-z0-9_]*")


class Shell:
    """Gathers what a script would do."""

    inside = ""
    """The function whose body is looked at."""
    passes_all = False
    """Whether the command that is looked at is `"$@"` and nothing else."""
    shifts = False
    is_heard = False
    """Whether another command takes what the one prints that is looked at."""
    heard = ""
    """All scripts that were read, one after the other."""
    fed = ""
    """Texts that come down a pipe to the command that is looked at."""
    is_fed = False
    """Whether standard input is a file, a text or a pipe, and no terminal."""
    own_path = False
    """Whether the script says where programs are looked for."""
    is_homeless = False
    """Whether the script may say that another folder is home."""
    counts = holds_code = False
    """Whether it computes with variables, and whether a text of its has in it what that would run."""
    is_tainted = False
    """Whether the script makes texts that nobody knows before it runs."""
    hands_opened = opens_program = False
    """Whether a program that is not known gets the path of an open file, and whether one is opened that may be run."""
    bare = False
    """Whether a program is looked for by its name."""
    scripts = 0
    budget = 2 * MAX_CHARS
    words = MAX_WORDS
    turns = 0
    """How often a loop's body has been read again for another word."""
    level = bent = 0
    entered = 0
    """How many of the folders are there only if the last change has worked."""
    source = b""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.acts: list[Act] = []
        self.cwds: tuple[str, ...] | None = (ground.cwd,)
        self.values: dict[str, list[Piece]] = {}
        self.spoiled: set[str] = set()
        self.taken: set[tuple[int, int]] = set()
        """The commands of the tree that have been looked at, by where they stand."""
        self.underway: list[Run] = []
        """The commands that are being looked at, each started by the one before it."""
        self.said: list[str] = []
        """Texts that it prints, in their order."""
        self.typed: list[str] = []
        """Programs that take orders from whoever sits at a terminal."""
        self.functions: set[str] = set()
        self.passing: set[str] = set()
        """Functions that run what they are given."""
        self.called: list[tuple[str, list[Word]]] = []
        self.aliases: set[str] = set()
        self.written: dict[str, str | None] = {}
        """Paths that the script itself has written to, in full, and what is in them where that is known."""
        self.edited: dict[str, str] = {}
        """Paths that it has edited, and how."""
        self.links: list[tuple[str, str]] = []
        """Links that it makes, and what they are links to; a hole where nobody can tell."""
        self.listings: list[Listing] = []
        """Lists of files that it makes."""
        self.codes: list[str] = []
        """Python that stands in its words, in here-documents, and in files that it writes and runs."""
        self.mentioned: set[str] = set()
        """Names in code that was looked through: it may have written them."""
        self.folders: list[str] = []
        """Where it says that programs are looked for."""
        self.ran: list[tuple[Word, str, tuple[str, ...] | None, tuple[Run, ...]]] = []
        """Files that are run, in which language, from which folders, and by whom."""
        self.around: list[tuple[str, tuple[Word, ...], frozenset[str]]] = []
        """Programs that may run what they find around them, their words, and what they write themselves."""

    def add(self, act: Act) -> None:
        """Take note of something that would be done."""
        if len(self.acts) < MAX_ACTS:
            self.acts.append(act)
        elif len(self.acts) == MAX_ACTS:
            self.acts.append(Doubt("it does more than can be looked at", always=True))

    def doubt(self, why: str, *, always: bool = False) -> None:
        """Take note of something that cannot be told."""
        self.add(Doubt(why, always))

    def note_file(
        self, path: Word, tool: str, *, below: bool = False, edit: str | None = None, keep: bool = False
    ) -> None:
        """A file that is read or written; one that is only edited is not a new one."""
        if path.text in NOWHERE:
            return
        self.add(Touch(path, tool, self.cwds, below))
        for place in self.name_places(path) if tool == "write" else ():
            if edit is not None:
                self.edited[place] = self.edited.get(place, "") + edit
            elif not keep:
                self.written[place] = None

    def note_run(self, path: Word, language: str) -> None:
        """A file that is run. What the script puts into it is looked at in the end: it may do so later in the text."""
        self.ran.append((path, language, self.cwds, tuple(self.underway)))

    def keep_content(self, path: Word, text: str | None) -> None:
        """What is in a file that the script has written, where that is known."""
        for place in self.name_places(path):
            known = self.written.get(place, "")
            self.written[place] = None if text is None or known is None or HOLE in text else known + text

    def forget(self, path: Word) -> None:
        """Take a file for a new one, of which more is known than that it was written."""
        for place in self.name_places(path):
            self.written.pop(place, None)

    def name_places(self, path: Word) -> list[str]:
        """The full paths that a word may mean."""
        if HOLE in path.text:
            return [HOLE]
        return [posixpath.normpath(posixpath.join(cwd, path.text)) for cwd in self.cwds or ("",)]

    def change_folder(self, path: Word | None) -> None:
        """Another folder, as far as it is known; where it does not exist the old one stays."""
        if path is None or not path.is_sure or self.cwds is None:
            self.cwds, self.entered = None, 0
            return
        if any(len(cwd) > MAX_PATH for cwd in self.cwds):
            self.cwds, self.entered = None, 0
            return
        places = [posixpath.normpath(posixpath.join(cwd, path.text)) for cwd in self.cwds]
        self.entered = len(dict.fromkeys(places))
        self.cwds = tuple(dict.fromkeys([*places, *self.cwds]))[:4]

    def settle_folder(self) -> tuple[str, ...] | None:
        """The folders that a shell is in if what it did last has worked: not the one that it came from."""
        entered, self.entered = self.entered, 0
        return self.cwds[:entered] if self.cwds is not None and entered else self.cwds

    def note_texts(self, texts: Iterable[str]) -> None:
        """Texts that may become a variable's value: to compute with it runs a substitution that is in it."""
        self.holds_code = self.holds_code or any("$(" in text.replace("$((", "") or "`" in text for text in texts)

    def note_typed(self, name: str, *, always: bool = False) -> None:
        """A program that reads orders from its terminal, some even where their input is something else."""
        if always or not self.is_fed:
            self.typed.append(name)

    def spoil(self, words: Iterable[Word]) -> None:
        """Forget the variables that a command may set."""
        for word in words:
            name = _NAME.match(word.text)
            if word.kind or HOLE in word.text:
                self.spoil_all()
            elif name:
                self.values.pop(name[0], None)
                self.spoiled.add(name[0])

    def spoil_all(self) -> None:
        """Forget all variables."""
        self.values.clear()
        self.spoiled |= {"HOME", "PWD"}

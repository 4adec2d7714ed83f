"""Expanding: the words that a node of the tree becomes, as bash would make them.

Owns quotes, variables that are surely known, and substitutions, which are holes. The tree is not trusted blindly:
where its reading of the text could differ from bash's own, that is a doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.lazy import lazy
from remit.policy.bash.shell import Shell
from remit.policy.bash.words import (
    HOLE,
    Piece,
    TooManyError,
    Word,
    make_value,
    make_words,
    read_ansi,
    read_double,
    read_plain,
)

if TYPE_CHECKING:
    from tree_sitter import Node

TWO_WAYS = "part of it is read in two ways"
BLANK = b" \t\n"
UNREAD = lazy(r"\$[({\[]|`")
_ON_ONE_LINE = frozenset({
    "command", "declaration_command", "unset_command", "redirected_statement", "file_redirect", "herestring_redirect",
    "variable_assignment", "variable_assignments", "concatenation", "command_name",
})  # fmt: skip
"""Nodes in which a line does not end: where the tree goes on, bash begins another command."""
_NUMBERS = frozenset({
    "nproc", "nproc --all", "id -u", "id -g", "date +%s", "getconf _NPROCESSORS_ONLN", "sysctl -n hw.ncpu",
    "sysctl -n hw.logicalcpu",
})  # fmt: skip
"""Commands that give a number."""
_HOLES = frozenset({"command_substitution", "process_substitution", "arithmetic_expansion"})


class Expander(Shell):
    """Makes words of nodes."""

    def text_of(self, node: Node) -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")

    def check_gaps(self, node: Node) -> None:
        """Between the parts of a command there are blanks and nothing else, or the tree has left something out."""
        whole = node.parent is None
        at, named, assigned = 0 if whole else node.start_byte, False, False
        blank = BLANK if node.type not in _ON_ONE_LINE else b" \t"
        for child in node.children:
            gap = self.source[at : child.start_byte]
            rest = gap.replace(b"\\\n", b"") if gap else gap
            # A line that goes on within a word: bash joins the two halves, the tree does not.
            if rest.strip(blank) or (gap and not rest and named and child.is_named):
                self.doubt(TWO_WAYS, always=True)
            # What stands directly behind a value is part of it, whatever the tree says.
            if assigned and not gap and named and child.is_named and not child.type.endswith("redirect"):
                self.doubt(TWO_WAYS, always=True)
            at, named, assigned = max(at, child.end_byte), child.is_named, child.type == "variable_assignment"
        rest = self.source[at : len(self.source) if whole else node.end_byte]
        if rest and rest.replace(b"\\\n", b"").strip(BLANK):
            self.doubt(TWO_WAYS, always=True)

    def words_of(self, node: Node) -> list[Word]:
        """The words that a node becomes where a command's words stand."""
        try:
            return make_words(self._pieces_of(node), home=self._get_home())
        except TooManyError:
            self.doubt("its braces make too many words", always=True)
            return [Word(HOLE, 2)]

    def value_of(self, node: Node) -> Word:
        """The one word that a node becomes where nothing is split."""
        return make_value(self._pieces_of(node), home=self._get_home())

    def _pieces_of(self, node: Node, *, quoted: bool = False) -> list[Piece]:  # noqa: PLR0911 - one per kind of node
        kind = node.type
        if kind == "raw_string":
            return [(self.text_of(node)[1:-1], True)]
        if kind == "ansi_c_string":
            decoded = read_ansi(self.text_of(node)[2:-1])
            return [(HOLE if decoded is None else decoded, True)]
        if kind == "string":
            return self._pieces_of_string(node)
        if kind in ("simple_expansion", "expansion"):
            return self._pieces_of_variable(node, quoted=quoted)
        if kind in _HOLES:
            return self._pieces_of_substitution(node, quoted=quoted)
        if kind in ("concatenation", "translated_string", "command_name") and node.child_count:
            self.check_gaps(node)
            children = node.children
            # A dollar before a string only has it translated.
            kept = [
                child
                for child, following in zip(children, [*children[1:], None], strict=True)
                if child.type != "$" or (kind != "translated_string" and (not following or following.type != "string"))
            ]
            return [piece for child in kept for piece in self._pieces_of(child, quoted=quoted)]
        text = self.text_of(node)
        if node.child_count and kind not in ("brace_expression", "word"):
            return [(HOLE, quoted)]
        self.check_unread(text)
        pieces = read_plain(text)
        if kind in ("word", "number", "variable_name") and any(
            not was_quoted and any(char in piece for char in " \t\n") for piece, was_quoted in pieces
        ):
            self.doubt(TWO_WAYS, always=True)  # a blank ends a word
        return pieces

    def _pieces_of_substitution(self, node: Node, *, quoted: bool) -> list[Piece]:  # noqa: PLR0911 - one per kind
        """What a substitution gives: a number is one whatever it is, and a few folders are known."""
        if node.type == "arithmetic_expansion":
            return [("1", True)]
        if node.type == "process_substitution":
            return [("/dev/fd/" + HOLE, True)]
        text = self.text_of(node).strip("$()` \t\n")
        if text in _NUMBERS:
            return [("1", True)]
        if text == "pwd" and self.cwds and len(self.cwds) == 1:
            return [(self.cwds[0], True)]
        if text == "git rev-parse --show-toplevel":
            return [(self.ground.root, True)]
        if text in ("mktemp", "mktemp -d"):
            return [("/tmp/tmp." + HOLE, True)]  # noqa: S108 - where the program makes it
        return [(HOLE, quoted)]

    def _pieces_of_string(self, node: Node) -> list[Piece]:
        """A string's own text and what is substituted in it; text between its nodes is its own too."""
        pieces: list[Piece] = [("", True)]
        at, end = node.start_byte + 1, node.end_byte - 1
        for child in node.children:
            if child.type in ('"', "string_content"):
                continue
            self._add_content(pieces, at, child.start_byte)
            pieces += self._pieces_of(child, quoted=True) if child.is_named else [(self.text_of(child), True)]
            at = child.end_byte
        self._add_content(pieces, at, end)
        return pieces

    def _add_content(self, pieces: list[Piece], start: int, end: int) -> None:
        if end <= start:
            return
        text = self.source[start:end].decode("utf-8", "surrogateescape")
        self.check_unread(text)
        pieces.append((read_double(text), True))

    def check_unread(self, text: str) -> None:
        """A substitution, or a quote in quotes, that the tree has taken for plain text."""
        if "$" not in text and "`" not in text and '"' not in text:
            return
        bare = text.replace("\\\\", "").replace("\\\n", "").replace("\\$", "").replace("\\`", "").replace('\\"', "")
        if '"' in bare or UNREAD.search(bare):
            self.doubt(TWO_WAYS, always=True)

    def _pieces_of_variable(self, node: Node, *, quoted: bool) -> list[Piece]:
        text = self.text_of(node)
        name = text[2:-1] if text.startswith("${") else text[1:]
        if "@" in text and text.rstrip("}")[-2:] in ("@P", "@E"):
            self.doubt("a variable's text is evaluated")
        pieces: list[Piece] | None = self.values.get(name)
        if pieces is None and name == "HOME" and self._get_home() != HOLE:
            pieces = [(self.ground.home, True)]
        elif pieces is None and name == "PWD" and not self._is_set("PWD") and self.cwds and len(self.cwds) == 1:
            pieces = [(self.cwds[0], True)]
        if pieces is None:
            return [(HOLE, quoted)]
        return [(each, True) for each, _ in pieces] if quoted else pieces

    def _get_home(self) -> str:
        """The home folder; a hole where the script may have chosen another one, for itself or what it starts."""
        return HOLE if self.is_homeless or "HOME" in self.spoiled else self.ground.home

    def _is_set(self, name: str) -> bool:
        return name.encode() + b"=" in self.source or name in self.spoiled

    def is_named_once(self, name: str) -> bool:
        """Whether the script says a variable's name once, besides where it is used: nothing else can have set it."""
        return name not in self.spoiled and name.isascii() and name.isidentifier() and self.count_names(name) == 1

    def count_names(self, name: str) -> int:
        """How often the script says a name, besides where its value is used; more than once is twice."""
        count = 0
        source = self.source
        at = source.find(name.encode())
        while at >= 0:
            end = at + len(name)
            before, after = source[at - 1 : at] if at else b" ", source[end : end + 1]
            whole = not _is_name_byte(before) and not _is_name_byte(after)
            used = before == b"$" or (before == b"{" and source[at - 2 : at - 1] == b"$" and after == b"}")
            count += whole and not used
            at = source.find(name.encode(), end) if count < 2 else -1  # noqa: PLR2004 - more than once
        return count


def _is_name_byte(char: bytes) -> bool:
    return char.isalnum() or char == b"_"

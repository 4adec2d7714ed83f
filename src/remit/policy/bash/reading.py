"""Reading: a script's syntax tree as the acts that it would do.

Owns the walk through the tree: every simple command in lists, pipes, subshells, substitutions, functions, loops,
conditions and here-documents, with the words it gets, what stands on its standard input, and the folder it runs in.
The tree is not trusted blindly: where its reading of the text could differ from bash's own, that is a doubt.
"""

from __future__ import annotations

import posixpath
from time import process_time
from typing import TYPE_CHECKING, ClassVar

from remit.lazy import lazy
from remit.policy.bash.acts import Act, Doubt, Touch
from remit.policy.bash.words import (
    GLOB,
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
from remit.policy.paths import MAX_PATH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tree_sitter import Language, Node, Parser

    from remit.policy.bash.acts import Run
    from remit.policy.terms import Ground

MAX_CHARS = 64_000
MAX_NODES = 24_000
MAX_DEPTH = 60
"""So deep may commands stand in each other; people write three or four."""
MAX_ACTS = 6_000
MAX_WORDS = 6_000
"""So many words may all commands together have."""
MAX_SIGNS = 2_000
"""So many signs of the shell's own may stand in a script: where they make no sense, a parser tries them in all ways."""
MAX_SECONDS = 0.06
"""So long may a parser try."""
MAX_SCRIPTS = 40
"""So many scripts may stand in each other's words."""

Stdin = tuple[bool, Word]
"""What is on standard input: whether it is a file's name, and the name or the text itself."""
_BLANK = b" \t\n"
_LOOSE = frozenset({"string", "heredoc_body", "heredoc_redirect", "expansion", "translated_string", "regex"})
"""Nodes between whose children text may stand that is no node of its own."""
_ON_ONE_LINE = frozenset({
    "command", "declaration_command", "unset_command", "redirected_statement", "file_redirect", "herestring_redirect",
    "variable_assignment", "variable_assignments", "concatenation", "command_name",
})  # fmt: skip
"""Nodes in which a line does not end: where the tree goes on, bash begins another command."""
TWO_WAYS = "part of it is read in two ways"
_BENDING = frozenset({
    "if_statement", "while_statement", "for_statement", "c_style_for_statement", "case_statement",
})  # fmt: skip
"""What is in these may happen or not."""
_NESTED = frozenset({"subshell", "command_substitution", "process_substitution"})
_ODD = lazy(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200c\u200e\u200f\u2028-\u202f\u205f-\u206f"
    "\u3000\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Control characters, blanks that are none to a shell, and what turns the order of a line round."""
_GLUED = lazy(r"[^\s\\]\\\n[^\s]")
_UNREAD = lazy(r"\$[({\[]|`")
_NAME = lazy(r"[A-Za-z_][A-Za-z0-9_]*")
_TWO_WORDS = lazy(r"[\w\"'}]\s+[\w\"'$]")


class Reader:
    """Walks through scripts and gathers what they would do."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.acts: list[Act] = []
        self.cwds: tuple[str, ...] | None = (ground.cwd,)
        self.functions: set[str] = set()
        self.inside = ""
        """The function whose body is looked at."""
        self.passes_all = False
        """Whether the command that is looked at is `"$@"` and nothing else."""
        self.passing: set[str] = set()
        """Functions that run what they are given."""
        self.called: list[tuple[str, list[Word]]] = []
        self.shifts = False
        self.written: dict[str, str | None] = {}
        """Paths that the script itself has written to, in full, and what is in them where that is known."""
        self.edited: dict[str, str] = {}
        """Paths that it has edited, and how."""
        self.aliases: set[str] = set()
        self.said: list[str] = []
        """Texts that it prints, in their order."""
        self.fed = ""
        """Those that come down a pipe to the command that is looked at."""
        self.folders: list[str] = []
        """Where it says that programs are looked for."""
        self.own_path = False
        """Whether the script says where programs are looked for."""
        self.is_tainted = False
        """Whether the script makes texts that nobody knows before it runs."""
        self.underway: list[Run] = []
        """The commands that are being looked at, each started by the one before it."""
        self.ran: list[tuple[Word, str, tuple[str, ...] | None, tuple[Run, ...]]] = []
        """Files that are run, in which language, from which folders, and by whom."""
        self.around: list[tuple[str, tuple[Word, ...], frozenset[str]]] = []
        """Programs that may run what they find around them, their words, and what they write themselves."""
        self.mentioned: set[str] = set()
        """Names in code that was looked through: it may have written them."""
        self.bare = False
        """Whether a program is looked for by its name."""
        self.taken: set[tuple[int, int]] = set()
        """The commands of the tree that have been looked at, by where they stand."""
        self.scripts = 0
        self.budget = 2 * MAX_CHARS
        self.words = MAX_WORDS
        self.turns = 0
        """How often a loop's body has been read again for another word."""
        self.level = self.bent = 0
        self.entered = 0
        """How many of the folders are there only if the last change has worked."""
        self.source = b""
        self.values: dict[str, list[Piece]] = {}
        self.spoiled: set[str] = set()

    def add(self, act: Act) -> None:
        """Take note of something that would be done."""
        if len(self.acts) < MAX_ACTS:
            self.acts.append(act)
        elif len(self.acts) == MAX_ACTS:
            self.acts.append(Doubt("it does more than can be looked at", always=True))

    def doubt(self, why: str, *, always: bool = False) -> None:
        """Take note of something that cannot be told."""
        self.add(Doubt(why, always))

    # --- scripts -----------------------------------------------------------------------------------------------------

    def read(self, text: str) -> None:
        """Read a script: the command itself, or one that stands in another's words."""
        self.scripts += 1
        why = _find_obstacle(text)
        self.budget -= len(text)
        if why or self.scripts > MAX_SCRIPTS or self.level > MAX_DEPTH * 3 or self.budget < 0:
            self.doubt(why or "too many scripts stand in each other", always=True)
            return
        kept = self.source, self.values, self.bent, self.spoiled
        self.source = text.encode("utf-8", "surrogateescape")
        self.values, self.bent, self.spoiled = {}, 0, set()
        self.shifts = self.shifts or b"shift" in self.source
        root = parse(self.source)
        if root is None or root.has_error:
            self.doubt("it cannot be parsed", always=True)
        elif root.descendant_count > MAX_NODES:
            self.doubt("it has more parts than can be looked at", always=True)
        else:
            self.level += 1
            kept_taken, self.taken = self.taken, set()
            self._visit(root)
            if not _list_commands(root) <= self.taken:
                self.doubt(TWO_WAYS, always=True)  # a command of the tree that nobody came to
            self.taken = kept_taken
            self.level -= 1
        self.source, self.values, self.bent, self.spoiled = kept

    def text_of(self, node: Node) -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")

    # --- the walk ----------------------------------------------------------------------------------------------------

    def _visit(self, node: Node) -> None:
        kind = node.type
        visit = self._VISITS.get(kind)
        if visit is None and not node.child_count:
            return
        self.level += 1
        if self.level > MAX_DEPTH * 4:
            self.doubt("it is nested too deeply", always=True)
        elif visit is not None:
            visit(self, node)
        else:
            self._visit_children(node)
        self.level -= 1

    def _visit_children(self, node: Node) -> None:
        if node.type not in _LOOSE:
            self._check_gaps(node)
        bends = node.type in _BENDING
        self.bent += bends
        before = self.cwds
        for child in node.children:
            self._visit(child)
        self.bent -= bends
        if bends:
            self.cwds = _join_places(self.cwds, before)

    def _check_gaps(self, node: Node) -> None:
        """Between the parts of a command there are blanks and nothing else, or the tree has left something out."""
        whole = node.parent is None
        at, named = 0 if whole else node.start_byte, False
        blank = _BLANK if node.type not in _ON_ONE_LINE else b" \t"
        for child in node.children:
            gap = self.source[at : child.start_byte]
            rest = gap.replace(b"\\\n", b"") if gap else gap
            # A line that goes on within a word: bash joins the two halves, the tree does not.
            if rest.strip(blank) or (gap and not rest and named and child.is_named):
                self.doubt(TWO_WAYS, always=True)
            at, named = max(at, child.end_byte), child.is_named
        rest = self.source[at : len(self.source) if whole else node.end_byte]
        if rest and rest.replace(b"\\\n", b"").strip(_BLANK):
            self.doubt(TWO_WAYS, always=True)

    def _visit_apart(self, node: Node) -> None:
        """What is in parentheses changes folders and variables for itself only."""
        kept, values = self.cwds, self.values
        self.values = dict(values)
        self.bent += 1
        self._check_gaps(node)
        said = len(self.said)
        for child in node.children:
            self._visit(child)
        self.bent -= 1
        self.cwds, self.values = kept, values
        if node.type != "subshell":
            self.is_tainted = self.is_tainted or len(self.said) > said
            self._read_quoted(node)

    def _read_quoted(self, node: Node) -> None:
        """Between backquotes a backslash is taken off before the text is read."""
        text = self.text_of(node)
        if text.startswith("`") and "\\" in text:
            inner = text[1:-1].replace("\\\\", HOLE).replace("\\`", "`").replace("\\$", "$").replace(HOLE, "\\")
            self.read(inner)

    def _visit_pipeline(self, node: Node, redirected: Node | None = None) -> None:
        """Each command by itself; a redirection behind the last one is its own."""
        self._check_gaps(node)
        fed, said = self.fed, len(self.said)
        last = node.children[-1]
        for child in node.children:
            kept = self.cwds
            self.bent += 1
            self._visit_last(child, redirected if child == last else None)
            self.bent -= 1
            self.cwds = kept
            self.fed = " ".join([fed, *self.said[said:]])
        self.fed = fed

    def _visit_last(self, node: Node, redirected: Node | None) -> None:
        """A command, with the redirection that the tree has hung on all of what it is the end of."""
        if redirected is None:
            self._visit(node)
        elif node.type == "list":
            self._visit_list(node, redirected)
        elif node.type == "pipeline":
            self._visit_pipeline(node, redirected)
        elif node.type == "negated_command":
            self._visit_last(node.children[-1], redirected)
        else:
            self._redirect(node, redirected)

    def _visit_list(self, node: Node, redirected: Node | None = None) -> None:
        """`a && b || c`: the tree hangs it on its right end, however long it is."""
        chain: list[Node] = []
        here: Node | None = node
        while here is not None and here.type == "list":
            self._check_gaps(here)
            children = here.children
            chain += reversed(children[1:])
            here = children[0] if children else None
        if here is not None:
            chain.append(here)
        sure, before = True, self.cwds
        for child in reversed(chain):
            if child.type in ("&&", "||"):
                sure = child.type == "&&"
                self.cwds = self.settle_folder() if sure else _join_places(before, self.cwds)
                continue
            self.bent += not sure
            self._visit_last(child, redirected if child == chain[0] else None)
            self.bent -= not sure
        self.cwds = _join_places(self.cwds, before)

    def _visit_function(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None and not self.bent:
            self.functions.add(self.text_of(name))
        self._check_gaps(node)
        kept = self.cwds
        self.bent += 1
        if b"cd" in self.source or b"pushd" in self.source:
            self.cwds = None
        outer, self.inside = self.inside, self.text_of(name) if name is not None and not self.inside else "?"
        for child in node.children:
            if child != name:
                self._visit(child)
        self.inside = outer
        self.bent -= 1
        self.cwds = kept

    def _visit_for(self, node: Node) -> None:
        variable = node.child_by_field_name("variable")
        items = node.children_by_field_name("value")
        name = self.text_of(variable) if variable is not None else ""
        words = [word for item in items for word in self.words_of(item)]
        shape = _find_shape(words)
        if not name or not shape or not self._is_named_once(name):
            self._visit_children(node)
            return
        if 1 < len(words) <= MAX_TURNS and self.turns < MAX_TURNS and all(word.is_sure for word in words):
            self.turns += len(words)
            for word in words[1:]:
                self.values[name] = [(word.text, False)]
                self._visit_children(node)
            shape = [(words[0].text, False)]
        self.values[name] = shape
        self._visit_children(node)
        self.values.pop(name, None)

    def _visit_expansion(self, node: Node) -> None:
        """`${x:-…}`: a substitution in it that the tree has taken for plain text is one all the same."""
        for child in node.children:
            if child.child_count:
                self._visit(child)
            elif child.is_named:
                self._check_unread(self.text_of(child).replace('"', ""))
        text = self.text_of(node)
        if "`" in text and not any(child.type == "command_substitution" for child in node.children):
            self.doubt(TWO_WAYS, always=True)

    def _visit_arithmetic(self, node: Node) -> None:
        """Numbers and names; where blanks stand between them bash may have read something else."""
        text = self.text_of(node)
        if "$(" not in text[1:] and "`" not in text and _TWO_WORDS.search(text):
            self.doubt(TWO_WAYS)
        for child in node.children:
            self._visit(child)

    def _visit_test(self, node: Node) -> None:
        text = self.text_of(node)
        if ("$(" in text or "`" in text) and any(_holds_code(word.text) for word in self._list_words(node)):
            self.doubt("a text with a substitution in it is evaluated")
        self._visit_children(node)

    def _list_words(self, node: Node) -> Iterator[Word]:
        """The words anywhere below a node."""
        waiting = [node]
        while waiting:
            here = waiting.pop()
            if here.type in _WORDS:
                yield self.value_of(here)
            elif here.type not in _NESTED:
                waiting += here.children

    # --- words -------------------------------------------------------------------------------------------------------

    def words_of(self, node: Node) -> list[Word]:
        """The words that a node becomes where a command's words stand."""
        try:
            return make_words(self._pieces_of(node), home=self.ground.home)
        except TooManyError:
            self.doubt("its braces make too many words", always=True)
            return [Word(HOLE, 2)]

    def value_of(self, node: Node) -> Word:
        """The one word that a node becomes where nothing is split."""
        return make_value(self._pieces_of(node), home=self.ground.home)

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
            self._check_gaps(node)
            return [
                piece
                for child in node.children
                if not (kind == "translated_string" and child.type == "$")
                for piece in self._pieces_of(child, quoted=quoted)
            ]
        text = self.text_of(node)
        if node.child_count and kind not in ("brace_expression", "word"):
            return [(HOLE, quoted)]
        self._check_unread(text)
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
        self._check_unread(text)
        pieces.append((read_double(text), True))

    def _check_unread(self, text: str) -> None:
        """A substitution, or a quote in quotes, that the tree has taken for plain text."""
        if "$" not in text and "`" not in text and '"' not in text:
            return
        bare = text.replace("\\\\", "").replace("\\\n", "").replace("\\$", "").replace("\\`", "").replace('\\"', "")
        if '"' in bare or _UNREAD.search(bare):
            self.doubt(TWO_WAYS, always=True)

    def _pieces_of_variable(self, node: Node, *, quoted: bool) -> list[Piece]:
        text = self.text_of(node)
        name = text[2:-1] if text.startswith("${") else text[1:]
        if "@" in text and text.rstrip("}")[-2:] in ("@P", "@E"):
            self.doubt("a variable's text is evaluated")
        pieces: list[Piece] | None = self.values.get(name)
        if pieces is None and name == "HOME" and not self._is_set("HOME"):
            pieces = [(self.ground.home, True)]
        elif pieces is None and name == "PWD" and not self._is_set("PWD") and self.cwds and len(self.cwds) == 1:
            pieces = [(self.cwds[0], True)]
        if pieces is None:
            return [(HOLE, quoted)]
        return [(each, True) for each, _ in pieces] if quoted else pieces

    def _is_set(self, name: str) -> bool:
        return name.encode() + b"=" in self.source or name in self.spoiled

    def _is_named_once(self, name: str) -> bool:
        """Whether the script says a variable's name once, besides where it is used: nothing else can have set it."""
        if name in self.spoiled or not name.isascii() or not name.isidentifier():
            return False
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
        return count == 1

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

    # --- assignments -------------------------------------------------------------------------------------------------

    def _visit_assignment(self, node: Node) -> None:
        self._assign(node, keep=not self.bent)

    def _assign(self, node: Node, *, keep: bool) -> None:
        from remit.policy.bash.programs import check_variable  # noqa: PLC0415 - programs are read by the reader

        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        name = self.text_of(target).partition("[")[0] if target is not None else ""
        for child in node.children:
            self._visit(child)
        if value is not None and value.type == "array":
            behind = self.source[value.end_byte : value.end_byte + 1]
            if behind.strip(b" \t\n;&|)<>"):  # to bash it is one word with what follows, to the grammar it is not
                self.doubt("something stands directly behind a list", always=True)
        if value is None or value.type == "array":
            words = [] if value is None else [word for child in value.named_children for word in self.words_of(child)]
            for word in words:
                check_variable(self, name, word, is_exported=False)
            return
        word = self.value_of(value)
        check_variable(self, name, word, is_exported=not keep or b"export" in self.source or b"-a" in self.source)
        adds = any(child.type == "+=" for child in node.children)
        if keep and not adds and target is not None and target.type == "variable_name" and self._is_named_once(name):
            self._keep(name, word)
        elif word.text and HOLE not in word.text and not word.text.translate(_PLAIN_SIGNS).isalnum():
            self.is_tainted = True

    def _keep(self, name: str, word: Word) -> None:
        text = word.text
        if HOLE in text and text != HOLE:
            start, _, end = text.partition(HOLE)[0], "", text.rpartition(HOLE)[2]
            self.values[name] = [(start, False), (HOLE, False), (end, False)]
        elif HOLE not in text and (b"IFS" not in self.source or text.isalnum()):
            # A brace that comes out of a variable is no brace.
            parts = text.split("{")
            self.values[name] = [
                (parts[0], False),
                *(each for part in parts[1:] for each in (("{", True), (part, False))),
            ]

    # --- commands ----------------------------------------------------------------------------------------------------

    def _visit_command(self, node: Node) -> None:
        self._take_command(node, [], None)

    def _visit_redirected(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            self._redirect(None, node)
        else:
            self._visit_last(body, node)

    def _redirect(self, body: Node | None, node: Node) -> None:
        """A command with its redirections."""
        extra: list[Word] = []
        stdin: Stdin | None = None
        after: list[Node] = []
        targets: list[Word] = []
        first = next((child for child in node.children if child != node.child_by_field_name("body")), None)
        if body is not None and first is not None and self.source[body.end_byte : first.start_byte].strip() == b"-":
            extra.append(Word("-"))  # the tree leaves a lone dash out before a here-document
        else:
            self._check_gaps(node)
        own = node.child_by_field_name("body")
        for redirect in [child for child in node.children if child != own]:
            found = self._take_redirect(redirect, extra, after, targets)
            stdin = found or stdin
        fed, said = self.fed, len(self.said)
        if body is None and extra:
            self.run(extra, stdin)
            for target in targets:
                self.keep_content(target, None)
        elif body is not None and body.type == "command":
            self._take_command(body, extra, stdin, targets)
        elif body is not None:
            if extra:
                self.doubt(TWO_WAYS, always=True)
            self._visit(body)
            for target in targets:
                self.keep_content(target, None)
        self.fed = " ".join([fed, *self.said[said:]])
        for each in after:
            self._visit(each)
        self.fed = fed

    def _take_redirect(self, node: Node, extra: list[Word], after: list[Node], targets: list[Word]) -> Stdin | None:
        """A redirection's file, and what of it is on standard input; words after the target are the command's own."""
        for child in node.named_children:
            if child.type not in ("pipeline", "command", "list", "redirected_statement"):
                self._visit(child)
        if node.type not in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
            self.doubt(TWO_WAYS, always=True)
            return None
        if node.type == "file_redirect":
            return self._take_file(node, extra, targets)
        if node.type == "herestring_redirect":
            self._check_gaps(node)
            values = [self.value_of(child) for child in node.named_children]
            return False, Word(f"{values[0].text}\n") if len(values) == 1 else Word(HOLE)
        return self._take_heredoc(node, extra, after, targets)

    def _take_file(self, node: Node, extra: list[Word], targets: list[Word]) -> Stdin | None:
        self._check_gaps(node)
        places = node.children_by_field_name("destination")
        signs = [child.type for child in node.children if not child.is_named]
        if not places:
            return None
        for place in places[1:]:
            extra += self.words_of(place)
        found = self.words_of(places[0])
        sign, path = signs[0] if signs else "", Word(found[0].text if len(found) == 1 else HOLE)
        descriptor = node.child_by_field_name("descriptor")
        if sign in (">&", "<&") and (path.text.rstrip("-").isdigit() or path.text == "-"):
            return None
        if "<" in sign:
            self.note_file(path, "read")
            return (True, path) if descriptor is None or self.text_of(descriptor) == "0" else None
        if path.text not in _NOWHERE:
            self.add(Touch(path, "write", self.cwds))
            targets.append(path)
        return None

    def _take_heredoc(self, node: Node, extra: list[Word], after: list[Node], targets: list[Word]) -> Stdin | None:
        text: str | None = None
        start = next((child for child in node.named_children if child.type == "heredoc_start"), None)
        delimiter = self.text_of(start) if start is not None else ""
        end = next((child for child in node.named_children if child.type == "heredoc_end"), None)
        for child in node.named_children:
            if child.type == "heredoc_body" and not self._ends_well(child, end, delimiter):
                self.doubt(TWO_WAYS, always=True)
            if child.type == "heredoc_body":
                text = self._read_heredoc(child, delimiter, node)
            elif child.type in ("file_redirect", "herestring_redirect"):
                self._take_redirect(child, extra, after, targets)
            elif child.type in ("pipeline", "command", "list", "redirected_statement"):
                after.append(child)
            elif child.type not in ("heredoc_start", "heredoc_end"):
                extra += self.words_of(child)
        return False, Word(HOLE if text is None else text)

    def _ends_well(self, body: Node, end: Node | None, delimiter: str) -> bool:
        """Whether a here-document ends right behind its text, with the word that was said."""
        if end is None or self.source[body.end_byte : end.start_byte].strip(_BLANK):
            return False
        return self.text_of(end).strip(" \t\n") == "".join(char for char in delimiter if char not in "'\"\\")

    def _read_heredoc(self, body: Node, delimiter: str, node: Node) -> str:
        """A here-document's text, with holes; the line that ends it is looked for as bash does."""
        text = self.text_of(body)
        quoted = any(char in delimiter for char in "'\"\\")
        ending = "".join(char for char in delimiter if char not in "'\"\\")
        tabs = self.source[node.start_byte :][:3] == b"<<-"
        lines = text.split("\n")
        if any((line.lstrip("\t") if tabs else line) == ending for line in lines[:-1]):
            self.doubt(TWO_WAYS, always=True)
        if quoted:
            return text
        pieces, at = [], body.start_byte
        for child in body.children:
            if child.type in ("heredoc_content", "string_content"):
                continue
            pieces += [self.source[at : child.start_byte].decode("utf-8", "surrogateescape"), HOLE]
            at = child.end_byte
        pieces.append(self.source[at : body.end_byte].decode("utf-8", "surrogateescape"))
        for piece in pieces:
            bare = piece.replace("\\\\", "").replace("\\$", "").replace("\\`", "")
            if _UNREAD.search(bare):
                self.doubt(TWO_WAYS, always=True)
        return "".join(piece if piece == HOLE else read_double(piece) for piece in pieces)

    def _take_command(
        self, node: Node, extra: list[Word], stdin: Stdin | None, targets: list[Word] | None = None
    ) -> None:
        self._check_gaps(node)
        words: list[Word] = []
        more: list[Word] = []
        self.taken.add((node.start_byte, node.end_byte))
        targets = [] if targets is None else targets
        said, fed, at = len(self.said), self.fed, -1
        for child in node.children:
            kind = child.type
            if kind == "variable_assignment":
                self._assign(child, keep=False)
            elif kind in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                after: list[Node] = []
                stdin = self._take_redirect(child, more, after, targets) or stdin
            elif kind in ("subshell", "compound_statement"):
                self._visit(child)
            else:
                self._visit(child)
                found = self.words_of(child)
                if words and found and child.start_byte == at:
                    # The tree parts what no blank parts: `--file=<(…)` is one word.
                    found = [Word(words[-1].text + found[0].text, max(words.pop().kind, found[0].kind)), *found[1:]]
                words += found
            at = child.end_byte
        self.fed = " ".join([fed, *self.said[said:]])
        said = len(self.said)
        self.passes_all = self._is_all_given(node)
        self.run([*words, *more, *extra], stdin, direct=True)
        self.passes_all = False
        self.fed = fed
        # Only these print what they are told and nothing else.
        plain = [word.text for word in words[:1]] and words[0].text in ("echo", "printf", "cat")
        text = self.said[-1] if plain and len(self.said) == said + 1 else None
        for target in targets:
            self.keep_content(target, text)

    def _is_all_given(self, node: Node) -> bool:
        """Whether a command is `"$@"`, in a function."""
        return self.text_of(node) == '"$@"' and self.inside not in ("", "?")

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

    def _visit_declaration(self, node: Node) -> None:
        """`export`, `declare` and their like."""
        self._check_gaps(node)
        words = []
        plain = all(not self.text_of(child).startswith("-") for child in node.named_children)
        for child in node.children:
            if child.type == "variable_assignment":
                self._assign(child, keep=plain and not self.bent)
                words.append(Word(self.text_of(child).partition("=")[0] + "="))
            else:
                self._visit(child)
                words += self.words_of(child)
        self.run(words, None)

    def _visit_unset(self, node: Node) -> None:
        self._check_gaps(node)
        words = [word for child in node.children for word in self.words_of(child)]
        for child in node.children:
            self._visit(child)
        self.run(words, None)

    def run(self, words: list[Word], stdin: Stdin | None, *, direct: bool = False) -> None:
        """A command that is run with these words; a function of the script's own only where it stands by itself."""
        from remit.policy.bash.programs import take_apart  # noqa: PLC0415 - programs are read by the reader

        if not words:
            return
        self.level += 1
        self.words -= len(words)
        if self.level > MAX_DEPTH * 4 or self.words < 0:
            self.doubt("it has more words, or nests them deeper, than can be looked at", always=True)
        else:
            take_apart(self, words, stdin, direct=direct)
        self.level -= 1

    def note_file(
        self, path: Word, tool: str, *, below: bool = False, edit: str | None = None, keep: bool = False
    ) -> None:
        """A file that is read or written; one that is only edited is not a new one."""
        if path.text in _NOWHERE:
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

    _VISITS: ClassVar[dict[str, Callable[[Reader, Node], None]]] = {
        "command": _visit_command,
        "redirected_statement": _visit_redirected,
        "declaration_command": _visit_declaration,
        "unset_command": _visit_unset,
        "variable_assignment": _visit_assignment,
        "test_command": _visit_test,
        "function_definition": _visit_function,
        "for_statement": _visit_for,
        "pipeline": _visit_pipeline,
        "list": _visit_list,
        "subshell": _visit_apart,
        "command_substitution": _visit_apart,
        "process_substitution": _visit_apart,
        "arithmetic_expansion": _visit_arithmetic,
        "expansion": _visit_expansion,
    }


MAX_TURNS = 12
_NUMBERS = frozenset({
    "nproc", "nproc --all", "id -u", "id -g", "date +%s", "getconf _NPROCESSORS_ONLN", "sysctl -n hw.ncpu",
    "sysctl -n hw.logicalcpu",
})  # fmt: skip
"""Commands that give a number."""
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "-", ""})
_HOLES = frozenset({"command_substitution", "process_substitution", "arithmetic_expansion"})
_WORDS = frozenset({"word", "string", "raw_string", "ansi_c_string", "concatenation", "translated_string", "regex"})


def _find_shape(words: Iterable[Word]) -> list[Piece] | None:
    """What the words of a loop have in common."""
    texts = []
    for word in words:
        if word.kind > GLOB:
            return None
        texts.append(word.text)
    if not texts:
        return None
    if len(texts) == 1 and HOLE not in texts[0]:
        return [(texts[0], False)]
    start = posixpath.commonprefix([text.partition(HOLE)[0] for text in texts])
    end = posixpath.commonprefix([text.rpartition(HOLE)[2][::-1] for text in texts])[::-1]
    end = end[max(0, len(start) + len(end) - min(map(len, texts))) :]
    plain = all(char.isalnum() or char in "._-/+:@=," for text in texts for char in text)
    return [(start, plain), (HOLE, plain), (end, plain)]


def _holds_code(text: str) -> bool:
    return "$(" in text or "`" in text or "${" in text


def _is_name_byte(char: bytes) -> bool:
    return char.isalnum() or char == b"_"


def _join_places(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The folders that a shell may be in after one way or another."""
    if one is None or other is None:
        return None
    return tuple(dict.fromkeys([*one, *other]))[:4]


def _find_obstacle(text: str) -> str:
    """Why a script is not even parsed."""
    if len(text) > MAX_CHARS:
        return f"it is longer than {MAX_CHARS} characters"
    usual = text.isascii() and text.translate(_LINES).isprintable()
    if not usual and _ODD.search(text):
        return "it has odd characters in it"
    if len(text) > MAX_SIGNS:
        plain = _strip_quoted(text)
        if sum(map(plain.count, _SIGNS)) > MAX_SIGNS or sum(map(plain.count, " \t\n")) > 4 * MAX_SIGNS:
            return "it has more signs of the shell's own in it than can be looked at"
    return ""


_PLAIN_SIGNS = dict.fromkeys(map(ord, "._/:"))
_LINES = {ord("\n"): None, ord("\t"): None}
_SIGNS = "|&;(){}[]<>$`!=\"'*?~#\\"


def _strip_quoted(text: str) -> str:
    """A script without what is surely plain text: here-documents between quoted words, and single quotes."""
    kept: list[str] = []
    inside: list[str] = []
    ending = ""
    for line in text.split("\n"):
        if ending:
            inside.append(line)
            if line.lstrip("\t") == ending:
                ending, inside = "", []
            continue
        found = _HEREDOC.search(line)
        ending = found[1] if found else ""
        kept.append(line)
    kept += inside
    return "".join("\n".join(kept).split("'")[::2])


_HEREDOC = lazy(r"<<-?\s*['\"\\]([A-Za-z0-9_]+)")


def _list_commands(root: Node) -> set[tuple[int, int]]:
    """Where the simple commands of a tree stand."""
    found, waiting = set(), [root]
    while waiting:
        node = waiting.pop()
        if node.type == "command":
            found.add((node.start_byte, node.end_byte))
        if node.child_count:
            waiting += node.children
    return found


def parse(source: bytes) -> Node | None:
    """The root of a script's tree; None where a parser does not come to an end with it.

    It is given the text in pieces. Where it finds no sense it goes back and asks again, so one that asks too often, or
    takes too long, is told that the text ends here.
    """
    left, start, stopped = 64 + len(source) // (PIECE // 2), process_time(), False

    def give(at: int, _point: object) -> bytes:
        nonlocal left, stopped
        left -= 1
        stopped = stopped or left < 0 or process_time() - start > MAX_SECONDS
        return b"" if stopped else source[at : at + PIECE]

    root = load_parser().parse(give).root_node
    return None if stopped else root


PIECE = 256
_kept: list[Language] = []


def load_parser() -> Parser:
    """A parser. The grammar is loaded once; a parser that two threads use at once ends the process."""
    from tree_sitter import Language, Parser  # noqa: PLC0415 - only commands pay for it

    if not _kept:
        _kept.append(Language(_load_grammar()))
    return Parser(_kept[0])


def _load_grammar() -> object:
    """The grammar, past its package's own door: that loads resources which take longer than all the rest."""
    from importlib.machinery import PathFinder  # noqa: PLC0415 - only commands pay for it
    from importlib.util import module_from_spec  # noqa: PLC0415

    package = PathFinder.find_spec("tree_sitter_bash")
    places = package.submodule_search_locations if package else None
    found = PathFinder.find_spec("tree_sitter_bash._binding", places) if places else None
    if found is None or found.loader is None:
        from tree_sitter_bash import language  # noqa: PLC0415 - wherever it comes from

        return language()
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module.language()

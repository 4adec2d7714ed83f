"""Reading: a script's syntax tree as the acts that it would do.

Owns the walk through the tree: every simple command in lists, pipes, subshells, substitutions, functions, loops,
conditions and here-documents, with the words it gets, what stands on its standard input, and the folder it runs in.
The tree is not trusted blindly: where its reading of the text could differ from bash's own, that is a doubt.
"""

from __future__ import annotations

import posixpath
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from remit.lazy import lazy
from remit.policy.bash.acts import Touch
from remit.policy.bash.expanding import BLANK, TWO_WAYS, UNREAD, Expander
from remit.policy.bash.listings import note_stars
from remit.policy.bash.opened import note_opened
from remit.policy.bash.parsing import find_obstacle, list_commands, parse
from remit.policy.bash.shell import EVALUATED, NOWHERE, SUBSCRIPT
from remit.policy.bash.words import GLOB, HOLE, Piece, Word, read_double

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tree_sitter import Node

    Handler = Callable[["Reader", list[Word], "Stdin | None"], None]
    """Who knows a program: takes its words apart, and tells the reader what it starts."""

MAX_NODES = 24_000
MAX_DEPTH = 60
"""So deep may commands stand in each other; people write three or four."""
MAX_SCRIPTS = 40
"""So many scripts may stand in each other's words."""
MAX_TURNS = 12
"""So often is a loop's body read again for another word."""

Stdin = tuple[bool, Word]
"""What is on standard input: whether it is a file's name, and the name or the text itself."""
_LOOSE = frozenset({"string", "heredoc_body", "heredoc_redirect", "expansion", "translated_string", "regex"})
"""Nodes between whose children text may stand that is no node of its own."""
_BENDING = frozenset({
    "if_statement", "while_statement", "for_statement", "c_style_for_statement", "case_statement",
})  # fmt: skip
"""What is in these may happen or not."""
_NESTED = frozenset({"subshell", "command_substitution", "process_substitution"})
_NUMERIC = lazy(r"\s-(?:eq|ne|lt|le|gt|ge|v)\s")
_TWO_WORDS = lazy(r"[\w\"'}]\s+[\w\"'$]")
_WORDS = frozenset({"word", "string", "raw_string", "ansi_c_string", "concatenation", "translated_string", "regex"})
_PLAIN_SIGNS = dict.fromkeys(map(ord, "._/:"))


class Reader(Expander):
    """Walks through scripts and gathers what they would do."""

    # --- scripts -----------------------------------------------------------------------------------------------------

    def read(self, text: str) -> None:
        """Read a script: the command itself, or one that stands in another's words."""
        self.scripts += 1
        why = find_obstacle(text)
        self.budget -= len(text)
        if why or self.scripts > MAX_SCRIPTS or self.level > MAX_DEPTH * 3 or self.budget < 0:
            self.doubt(why or "too many scripts stand in each other", always=True)
            return
        self.heard += f"\n{text}"
        kept = self.source, self.values, self.bent, self.spoiled
        self.source = text.encode("utf-8", "surrogateescape")
        self.values, self.bent, self.spoiled = {}, 0, set()
        self.shifts = self.shifts or b"shift" in self.source
        self.is_homeless = self.is_homeless or (b"HOME" in self.source and self.count_names("HOME") > 0)
        root = parse(self.source)
        if root is None or root.has_error:
            self.doubt("it cannot be parsed", always=True)
        elif root.descendant_count > MAX_NODES:
            self.doubt("it has more parts than can be looked at", always=True)
        else:
            self.level += 1
            kept_taken, self.taken = self.taken, set()
            self._visit(root)
            if not list_commands(root) <= self.taken:
                self.doubt(TWO_WAYS, always=True)  # a command of the tree that nobody came to
            self.taken = kept_taken
            self.level -= 1
        self.source, self.values, self.bent, self.spoiled = kept

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
            self.check_gaps(node)
        bends = node.type in _BENDING
        self.bent += bends
        before = self.cwds
        for child in node.children:
            self._visit(child)
        self.bent -= bends
        if bends:
            self.cwds = _join_places(self.cwds, before)

    def _visit_apart(self, node: Node) -> None:
        """What is in parentheses changes folders and variables for itself only."""
        kept, values = self.cwds, self.values
        self.values = dict(values)
        self.bent += 1
        self.check_gaps(node)
        said, is_fed, is_heard = len(self.said), self.is_fed, self.is_heard
        self.is_fed = is_fed or node.type == "process_substitution"
        self.is_heard = is_heard or node.type != "subshell"
        for child in node.children:
            self._visit(child)
        self.bent -= 1
        self.is_fed, self.is_heard = is_fed, is_heard
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
        self.check_gaps(node)
        fed, said, is_fed, is_heard = self.fed, len(self.said), self.is_fed, self.is_heard
        last = node.children[-1]
        for child in node.children:
            kept = self.cwds
            self.is_heard = is_heard or child != last
            self.bent += 1
            self._visit_last(child, redirected if child == last else None)
            self.bent -= 1
            self.cwds = kept
            self.fed = " ".join([fed, *self.said[said:]])
            self.is_fed = self.is_fed or child.is_named
        self.fed, self.is_fed = fed, is_fed

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
            self.check_gaps(here)
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
        self.check_gaps(node)
        kept = self.cwds
        self.bent += 1
        if b"cd" in self.source or b"pushd" in self.source:
            self.cwds = None
        outer, self.inside = self.inside, self.text_of(name) if name is not None and not self.inside else "?"
        for child in node.children:
            if child.type.endswith("_redirect"):
                self._take_redirect(child, [], [], [])
            elif child != name:
                self._visit(child)
        self.inside = outer
        self.bent -= 1
        self.cwds = kept

    def _visit_for(self, node: Node) -> None:
        variable = node.child_by_field_name("variable")
        items = node.children_by_field_name("value")
        name = self.text_of(variable) if variable is not None else ""
        words = [word for item in items for word in self.words_of(item)]
        self.note_texts(word.text for word in words)
        note_stars(self, words)
        shape = _find_shape(words)
        if not name or not shape or not self.is_named_once(name):
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
                self.check_unread(self.text_of(child).replace('"', ""))
        text = self.text_of(node)
        hidden = "<(" in text or ">(" in text
        if (hidden or "`" in text) and not any(child.type in _NESTED for child in node.children):
            self.doubt(TWO_WAYS, always=True)

    def _visit_arithmetic(self, node: Node) -> None:
        """Numbers and names; where blanks stand between them bash may have read something else."""
        text = self.text_of(node)
        if "$(" not in text[1:] and "`" not in text and _TWO_WORDS.search(text):
            self.doubt(TWO_WAYS)
        self.counts = self.counts or _names_variable(text)
        for child in node.children:
            self._visit(child)

    def _visit_compound(self, node: Node) -> None:
        text = self.text_of(node)
        self.counts = self.counts or (text.startswith("((") and _names_variable(text))
        self._visit_children(node)

    def _visit_counting(self, node: Node) -> None:
        self.counts = True
        self._visit_children(node)

    def _visit_subscript(self, node: Node) -> None:
        index = node.child_by_field_name("index")
        self.counts = self.counts or (index is not None and _names_variable(self.text_of(index)))
        self._visit_children(node)

    def _visit_test(self, node: Node) -> None:
        text = self.text_of(node)
        if ("$(" in text or "`" in text) and any(_holds_code(word.text) for word in self._list_words(node)):
            self.doubt(EVALUATED)
        self.counts = self.counts or _NUMERIC.search(text) is not None
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

    # --- assignments -------------------------------------------------------------------------------------------------

    def _visit_assignment(self, node: Node) -> None:
        self._assign(node, keep=not self.bent)

    def _assign(self, node: Node, *, keep: bool) -> None:
        from remit.policy.bash.programs.variables import check_variable  # noqa: PLC0415 - programs are read by the reader

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
            note_stars(self, words)
            for word in words:
                check_variable(self, name, word, is_exported=False)
            return
        word = self.value_of(value)
        check_variable(self, name, word, is_exported=not keep or b"export" in self.source or b"-a" in self.source)
        adds = any(child.type == "+=" for child in node.children)
        if keep and not adds and target is not None and target.type == "variable_name" and self.is_named_once(name):
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
            self.check_gaps(node)
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
            is_fed, self.is_fed = self.is_fed, self.is_fed or stdin is not None
            self._visit(body)
            self.is_fed = is_fed
            for target in targets:
                self.keep_content(target, None)
        self.fed = " ".join([fed, *self.said[said:]])
        is_fed, self.is_fed = self.is_fed, True
        for each in after:
            self._visit(each)
        self.fed, self.is_fed = fed, is_fed

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
            self.check_gaps(node)
            values = [self.value_of(child) for child in node.named_children]
            self.note_texts(value.text for value in values)
            return False, Word(f"{values[0].text}\n") if len(values) == 1 else Word(HOLE)
        return self._take_heredoc(node, extra, after, targets)

    def _take_file(self, node: Node, extra: list[Word], targets: list[Word]) -> Stdin | None:
        self.check_gaps(node)
        places = node.children_by_field_name("destination")
        signs = [child.type for child in node.children if not child.is_named]
        if not places:
            return None
        for before, place in pairwise(places):
            extra += self.words_of(place)
            if before.end_byte == place.start_byte:  # no blank parts them, so that they are one word
                self.doubt(TWO_WAYS, always=True)
        found = self.words_of(places[0])
        path = Word(found[0].text, found[0].kind) if len(found) == 1 else Word(HOLE)
        sign = signs[0] if signs else ""
        descriptor = node.child_by_field_name("descriptor")
        if sign in (">&", "<&") and (path.text.rstrip("-").isdigit() or path.text == "-"):
            return None
        if "<" in sign:
            self.note_file(path, "read")
            note_opened(self, path)
            return (True, path) if descriptor is None or self.text_of(descriptor) == "0" else None
        if path.text not in NOWHERE:
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
        if end is None or self.source[body.end_byte : end.start_byte].strip(BLANK):
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
        self.holds_code = self.holds_code or SUBSCRIPT.search(text) is not None
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
            if UNREAD.search(bare):
                self.doubt(TWO_WAYS, always=True)
        return "".join(piece if piece == HOLE else read_double(piece) for piece in pieces)

    def _take_command(
        self, node: Node, extra: list[Word], stdin: Stdin | None, targets: list[Word] | None = None
    ) -> None:
        self.check_gaps(node)
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
        is_heard, self.is_heard = self.is_heard, self.is_heard or any(target.is_sure for target in targets)
        self.run([*words, *more, *extra], stdin, direct=True)
        self.is_heard, self.passes_all = is_heard, False
        self.fed = fed
        # Only these print what they are told and nothing else.
        plain = [word.text for word in words[:1]] and words[0].text in ("echo", "printf", "cat")
        text = self.said[-1] if plain and len(self.said) == said + 1 else None
        for target in targets:
            self.keep_content(target, text)

    def _is_all_given(self, node: Node) -> bool:
        """Whether a command is `"$@"`, in a function."""
        return self.text_of(node) == '"$@"' and self.inside not in ("", "?")

    def _visit_declaration(self, node: Node) -> None:
        """`export`, `declare` and their like."""
        self.check_gaps(node)
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
        self.check_gaps(node)
        words = [word for child in node.children for word in self.words_of(child)]
        for child in node.children:
            self._visit(child)
        if any("PAGER" in word.text for word in words):
            self.note_typed("a pager")
        self.run(words, None)

    def run(self, words: list[Word], stdin: Stdin | None, *, direct: bool = False) -> None:
        """A command that is run with these words; a function of the script's own only where it stands by itself."""
        from remit.policy.bash.unwrapping import take_apart  # noqa: PLC0415 - programs are read by the reader

        if not words:
            return
        self.level += 1
        self.words -= len(words)
        if self.level > MAX_DEPTH * 4 or self.words < 0:
            self.doubt("it has more words, or nests them deeper, than can be looked at", always=True)
        else:
            take_apart(self, words, stdin, direct=direct)
        self.level -= 1

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
        "compound_statement": _visit_compound,
        "c_style_for_statement": _visit_counting,
        "subscript": _visit_subscript,
    }


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


def _names_variable(text: str) -> bool:
    return any(char.isalpha() or char in "_$" for char in text.removeprefix("$"))


def _holds_code(text: str) -> bool:
    return "$(" in text or "`" in text or "${" in text


def _join_places(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The folders that a shell may be in after one way or another."""
    if one is None or other is None:
        return None
    return tuple(dict.fromkeys([*one, *other]))[:4]

"""The simple commands that a script would run, read from its syntax tree.

`ScriptReader` visits every simple command in lists, pipes, subshells, substitutions, functions, loops, conditions and
here-documents, with its words and standard input. The tree isn't trusted: if bash could read the text differently, the
part is `Unresolved`. Variables, substitutions and globs are holes.
"""

from __future__ import annotations

from itertools import pairwise

from remit.lazy_regex import lazy
from remit.policy.bash.command_patterns import base_name, list_tokens
from remit.policy.bash.parse import MAX_CHARS, find_obstacle, list_commands, parse
from remit.policy.bash.program_facts import PLAIN, SHELLS
from remit.policy.bash.words import (
    HOLE,
    Act,
    Invocation,
    Piece,
    PossibleCommand,
    ShellAssignment,
    ShellWord,
    Unresolved,
    make_value,
    make_words,
    read_ansi,
    read_double,
    read_plain,
)

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ClassVar

    from tree_sitter import Node

    from remit.policy.decision import PathContext

MAX_NODES = 24_000
MAX_DEPTH = 60
"""The nesting depth of commands. Users write three or four levels."""
MAX_SCRIPTS = 40
"""The number of scripts in the words of other scripts."""
MAX_WORDS = 6_000
"""The number of words of all commands together."""
MAX_ACTS = 6_000
TWO_WAYS = "part of it is read in two ways"
BLANK = b" \t\n"
NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "-", ""})
UNREAD = lazy(r"\$[({\[]|`")
_SUBSCRIPT = lazy(r"\w\[[^\]\n]*(?:\$\\?\(|`)")
_COMPUTING = lazy(r"\(\(|\[\[|\$\[|\blet\b|\bdeclare\b|\btypeset\b|\btest\b|\[\s|\bunset\b|\bread\b|-v\b|\$\{\w+\[")
_HOME_SET = lazy(r"(?<![$\w{/.])HOME\b|\{HOME[^}\w]")
_TWO_WORDS = lazy(r"[\w\"'}]\s+[\w\"'$]")
_DATA = (".md", ".txt", ".csv", ".log", ".html", ".css", ".svg", ".rst", ".out", ".tsv", ".diff", ".patch", ".adoc")
"""Suffixes of files that aren't run."""
_SIGNS = dict.fromkeys(map(ord, HOLE + "$`"), " ")
_LOOSE = frozenset({"string", "heredoc_body", "heredoc_redirect", "expansion", "translated_string", "regex"})
"""Nodes with text between their children that isn't a node."""
_ON_ONE_LINE = frozenset({
    "command", "declaration_command", "unset_command", "redirected_statement", "file_redirect", "herestring_redirect",
    "variable_assignment", "variable_assignments", "concatenation", "command_name",
})  # fmt: skip
"""Nodes on one line. If the tree continues after a line break, bash starts another command there."""
_NESTED = frozenset({"subshell", "command_substitution", "process_substitution"})
_HOLES = frozenset({"command_substitution", "process_substitution"})


class ScriptReader:
    """Reads scripts and collects the acts that they would perform."""

    def __init__(self, ground: PathContext) -> None:
        self.home = ground.home
        self.resolve = ground.resolve
        self.acts: list[Act] = []
        self.targets: list[str] = []
        """Files that redirections write; may contain holes."""
        self.codes: list[str] = []
        """Code in other languages in words or here-documents."""
        self.files: list[ShellWord] = []
        """Files that are run: programs with paths, and scripts."""
        self.functions: set[str] = set()
        """The functions that are surely defined at the current command."""
        self.source = b""
        self.level = self.scripts = 0
        self.budget, self.words = 2 * MAX_CHARS, MAX_WORDS
        self.is_piped = False
        """Whether another program may run the command's output."""
        self.has_own_home = False
        self.taken: set[tuple[int, int]] = set()
        """The byte ranges of the commands that have been read."""

    def add(self, act: Act) -> None:
        """Add an act, up to a maximum number."""
        if len(self.acts) < MAX_ACTS:
            self.acts.append(act)
        elif len(self.acts) == MAX_ACTS:
            self.acts.append(Unresolved("it does more than can be read"))

    def doubt(self, why: str, *, is_code: bool = False) -> None:
        """Add a part that the text doesn't determine."""
        self.add(Unresolved(why, is_code))

    # --- scripts -----------------------------------------------------------------------------------------------------

    def read(self, text: str) -> None:
        """Read a script: the command itself, or a script in the words of another."""
        self.scripts += 1
        self.budget -= len(text)
        why = find_obstacle(text)
        if why or self.scripts > MAX_SCRIPTS or self.level > MAX_DEPTH * 3 or self.budget < 0:
            self.doubt(why or "too many scripts stand in each other")
            return
        kept = self.source, self.taken, self.functions
        self.source, self.taken, self.functions = text.encode("utf-8", "surrogateescape"), set(), set()
        self.has_own_home = self.has_own_home or ("HOME" in text and _HOME_SET.search(text) is not None)
        if _SUBSCRIPT.search(text) and _COMPUTING.search(text):
            self.doubt("a text with a substitution in it may be evaluated", is_code=True)
        if "@P}" in text:  # expands a value as a prompt, which may contain substitutions
            self.doubt("a value may be evaluated", is_code=True)
        root = parse(self.source)
        if root is None or root.has_error:
            self.doubt("it cannot be parsed")
        elif root.descendant_count > MAX_NODES:
            self.doubt("it has more parts than can be read")
        else:
            self.level += 1
            self._visit(root)
            if not list_commands(root) <= self.taken:
                self.doubt(TWO_WAYS)  # a command of the tree was not read
            self.level -= 1
        self.source, self.taken, self.functions = kept

    def check_files(self) -> None:
        """Add a doubt if the script runs a file that another of its commands writes or names."""
        named = {base_name(target) for target in self.targets}
        for act in self.acts if self.files else ():
            if isinstance(act, Invocation) and base_name(act.words[0].text) not in SHELLS:
                others = [word for word in act.words[1:] if not any(word is each for each in self.files)]
                named |= {token for word in others for token in list_tokens(word.text)}
        if any(base_name(word.text) in named for word in self.files):
            self.doubt("it runs a file that it writes or names itself", is_code=True)

    # --- the walk ----------------------------------------------------------------------------------------------------

    def _visit(self, node: Node) -> None:
        visit = self._VISITS.get(node.type)
        if visit is None and not node.child_count:
            return
        self.level += 1
        if self.level > MAX_DEPTH * 4:
            self.doubt("it is nested too deeply")
        elif visit is not None:
            visit(self, node)
        else:
            self._visit_children(node)
        self.level -= 1

    def _visit_children(self, node: Node) -> None:
        if node.type not in _LOOSE:
            self.check_gaps(node)
        for child in node.children:
            self._visit(child)

    def _visit_substitution(self, node: Node) -> None:
        """Visit a substitution. Between backquotes, bash removes backslashes before it reads the text."""
        is_piped, functions = self.is_piped, set(self.functions)
        self.is_piped = is_piped or node.type == "process_substitution"
        self._visit_children(node)
        self.is_piped, self.functions = is_piped, functions
        text = self.text_of(node)
        if text.startswith("`") and "\\" in text:
            self.read(text[1:-1].replace("\\\\", HOLE).replace("\\`", "`").replace("\\$", "$").replace(HOLE, "\\"))

    def _visit_pipeline(self, node: Node, redirected: Node | None = None) -> None:
        """Visit each command of a pipeline. A redirection after the last command belongs to that command."""
        self.check_gaps(node)
        is_piped, children = self.is_piped, node.children
        for at, child in enumerate(children):
            self.is_piped = is_piped or any(each.is_named and not self._is_plain(each) for each in children[at + 1 :])
            self._visit_last(child, redirected if at == len(children) - 1 else None, is_fed=at > 0)
        self.is_piped = is_piped

    def _is_plain(self, node: Node) -> bool:
        """Return whether a stage of a pipeline is a program that treats its input as data."""
        first = base_name(next(iter(self.text_of(node).split()), ""))
        return first in PLAIN and first != "tee"

    def _visit_last(self, node: Node, redirected: Node | None, *, is_fed: bool = False) -> None:
        """Visit a command with the redirection that the tree attaches to the whole list or pipeline."""
        if node.type == "command":
            self._take_command(node, redirected, is_fed=is_fed)
        elif redirected is None:
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
        """Visit `a && b || c`, which the tree nests from the right end, without recursion."""
        chain: list[Node] = []
        here: Node | None = node
        while here is not None and here.type == "list":
            self.check_gaps(here)
            children = here.children
            chain += reversed(children[1:])
            here = children[0] if children else None
        if here is not None:
            chain.append(here)
        for child in reversed(chain):
            if child.is_named:
                self._visit_last(child, redirected if child == chain[0] else None)

    def _visit_function(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None and node.parent is not None and node.parent.type == "program":
            self.functions.add(self.text_of(name))
        self.check_gaps(node)
        for child in node.children:
            if child.type.endswith("_redirect"):
                self._take_redirect(child, [], [])
            elif child != name:
                self._visit(child)

    def _visit_expansion(self, node: Node) -> None:
        """Visit `${x:-…}`. The tree may take a substitution in it for plain text."""
        for child in node.children:
            if child.child_count:
                self._visit(child)
            elif child.is_named:
                self.check_unread(self.text_of(child).replace('"', ""))
        text = self.text_of(node)
        hidden = "<(" in text or ">(" in text
        if (hidden or "`" in text) and not any(child.type in _NESTED for child in node.children):
            self.doubt(TWO_WAYS)

    def _visit_arithmetic(self, node: Node) -> None:
        """Visit an arithmetic expression. With blanks between its words, bash may read something else."""
        text = self.text_of(node)
        if "$(" not in text[1:] and "`" not in text and _TWO_WORDS.search(text):
            self.doubt(TWO_WAYS)
        for child in node.children:
            self._visit(child)

    def _visit_assignment(self, node: Node) -> None:
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        for child in node.children:
            self._visit(child)
        if value is not None and value.type == "array":
            behind = self.source[value.end_byte : value.end_byte + 1]
            if behind.strip(b" \t\n;&|)<>"):  # bash reads it as one word with the following text, unlike the grammar
                self.doubt("text directly follows a list")
        if target is not None and value is not None:
            words = self.words_of(value) if value.type != "array" else []
            words += [word for child in value.named_children for word in self.words_of(child)]
            name = self.text_of(target).partition("[")[0]
            self.add(
                ShellAssignment(name, " ".join(word.text for word in words) if words else self.value_of(value).text)
            )

    # --- commands ----------------------------------------------------------------------------------------------------

    def _visit_command(self, node: Node) -> None:
        self._take_command(node, None)

    def _visit_redirected(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            self._redirect(None, node)
        else:
            self._visit_last(body, node)

    def _redirect(self, body: Node | None, node: Node) -> None:
        """Visit a compound command with its redirections, or redirections without a command."""
        self.check_gaps(node)
        extra: list[ShellWord] = []
        after: list[Node] = []
        own = node.child_by_field_name("body")
        stdin = None
        for redirect in [child for child in node.children if child != own]:
            stdin = self._take_redirect(redirect, extra, after) or stdin
        if body is not None:
            if extra:
                self.doubt(TWO_WAYS)
            self._visit(body)
        elif extra:
            self.run(extra, stdin)
        for each in after:
            self._visit(each)

    def _take_command(self, node: Node, redirected: Node | None, *, is_fed: bool = False) -> None:
        """Visit a simple command with its words and all its redirections."""
        self.check_gaps(node)
        self.taken.add((node.start_byte, node.end_byte))
        words: list[ShellWord] = []
        more: list[ShellWord] = []
        after: list[Node] = []
        stdin: ShellWord | None = ShellWord(HOLE) if is_fed else None
        written, at = len(self.targets), -1
        for child in node.children:
            kind = child.type
            if kind == "variable_assignment":
                self._visit_assignment(child)
            elif kind.endswith("_redirect"):
                stdin = self._take_redirect(child, more, after) or stdin
            elif kind in ("subshell", "compound_statement"):
                self._visit(child)
            else:
                self._visit(child)
                found = self.words_of(child)
                if words and found and child.start_byte == at:
                    # The tree splits `--file=<(…)`, which is one word.
                    found = [
                        ShellWord(words[-1].text + found[0].text, max(words.pop().kind, found[0].kind)),
                        *found[1:],
                    ]
                words += found
            at = child.end_byte
        if redirected is not None:
            behind = [child for child in redirected.children if child != redirected.child_by_field_name("body")]
            if behind and self.source[node.end_byte : behind[0].start_byte].strip() == b"-":
                words.append(ShellWord("-"))  # the tree omits a single dash before a here-document
            else:
                self.check_gaps(redirected)
            for child in behind:
                stdin = self._take_redirect(child, more, after) or stdin
        words += more
        self._note_printed(words, stdin, self.targets[written:])
        self.run(words, stdin, is_direct=True)
        for each in after:
            self._visit_last(each, None, is_fed=True)

    def _note_printed(self, words: list[ShellWord], stdin: ShellWord | None, targets: list[str]) -> None:
        """Add the output of a command as a possible command if it goes to a file or a program that may run it."""
        is_kept = any(not target.lower().endswith(_DATA) for target in targets)
        if not words or not (is_kept or self.is_piped):
            return
        if words[0].text in ("echo", "printf", "cat", "yes", "tee"):
            text = " ".join([*(word.text for word in words[1:]), *([stdin.text] if stdin is not None else [])])
            self.add(PossibleCommand(f"{text}\n{read_ansi(text) or ''}".translate(_SIGNS)))

    def _take_redirect(self, node: Node, extra: list[ShellWord], after: list[Node]) -> ShellWord | None:
        """Return the standard input of a redirection. Words after its target belong to the command."""
        for child in node.named_children:
            if child.type not in ("pipeline", "command", "list", "redirected_statement"):
                self._visit(child)
        if node.type == "file_redirect":
            return self._take_file(node, extra)
        if node.type == "herestring_redirect":
            self.check_gaps(node)
            values = [self.value_of(child) for child in node.named_children]
            return ShellWord(f"{values[0].text}\n") if len(values) == 1 else ShellWord(HOLE)
        if node.type == "heredoc_redirect":
            return self._take_heredoc(node, extra, after)
        self.doubt(TWO_WAYS)
        return None

    def _take_file(self, node: Node, extra: list[ShellWord]) -> ShellWord | None:
        self.check_gaps(node)
        places = node.children_by_field_name("destination")
        sign = next((child.type for child in node.children if not child.is_named), "")
        for before, place in pairwise(places):
            extra += self.words_of(place)
            if before.end_byte == place.start_byte:  # no blank separates them, so they are one word
                self.doubt(TWO_WAYS)
        if not places:
            return None
        path = self.value_of(places[0])
        if sign in (">&", "<&") and (path.text.rstrip("-").isdigit() or path.text == "-"):
            return None
        if "<" in sign:
            descriptor = node.child_by_field_name("descriptor")
            return ShellWord(HOLE) if descriptor is None or self.text_of(descriptor) == "0" else None
        if path.text not in NOWHERE:
            self.targets.append(path.text)
        return None

    def _take_heredoc(self, node: Node, extra: list[ShellWord], after: list[Node]) -> ShellWord:
        text = HOLE
        start = next((child for child in node.named_children if child.type == "heredoc_start"), None)
        delimiter = self.text_of(start) if start is not None else ""
        end = next((child for child in node.named_children if child.type == "heredoc_end"), None)
        for child in node.named_children:
            if child.type == "heredoc_body":
                if not self._ends_well(child, end, delimiter):
                    self.doubt(TWO_WAYS)
                text = self._read_heredoc(child, delimiter, node)
            elif child.type in ("file_redirect", "herestring_redirect"):
                self._take_redirect(child, extra, after)
            elif child.type in ("pipeline", "command", "list", "redirected_statement"):
                after.append(child)
            elif child.type not in ("heredoc_start", "heredoc_end"):
                extra += self.words_of(child)
        return ShellWord(text)

    def _ends_well(self, body: Node, end: Node | None, delimiter: str) -> bool:
        """Return whether a here-document ends directly after its text, with its delimiter."""
        if end is None or self.source[body.end_byte : end.start_byte].strip(BLANK):
            return False
        return self.text_of(end).strip(" \t\n") == "".join(char for char in delimiter if char not in "'\"\\")

    def _read_heredoc(self, body: Node, delimiter: str, node: Node) -> str:
        """Return a here-document's text, with holes. Like bash, search for the line that ends the text."""
        text = self.text_of(body)
        ending = "".join(char for char in delimiter if char not in "'\"\\")
        tabs = self.source[node.start_byte :][:3] == b"<<-"
        lines = text.split("\n")
        if any((line.lstrip("\t") if tabs else line) == ending for line in lines[:-1]):
            self.doubt(TWO_WAYS)
        if any(char in delimiter for char in "'\"\\"):
            return text
        pieces, at = [], body.start_byte
        for child in body.children:
            if child.type in ("heredoc_content", "string_content"):
                continue
            pieces += [self.source[at : child.start_byte].decode("utf-8", "surrogateescape"), HOLE]
            at = child.end_byte
        pieces.append(self.source[at : body.end_byte].decode("utf-8", "surrogateescape"))
        for piece in pieces:
            if UNREAD.search(piece.replace("\\\\", "").replace("\\$", "").replace("\\`", "")):
                self.doubt(TWO_WAYS)
        return "".join(piece if piece == HOLE else read_double(piece) for piece in pieces)

    def _visit_declaration(self, node: Node) -> None:
        """Visit `export`, `declare` and similar builtins."""
        self.check_gaps(node)
        words = []
        for child in node.children:
            if child.type == "variable_assignment":
                self._visit_assignment(child)
                words.append(ShellWord(self.text_of(child).partition("=")[0] + "="))
            else:
                self._visit(child)
                words += self.words_of(child)
        self.run(words, None)

    def _visit_unset(self, node: Node) -> None:
        self._visit_children(node)
        self.functions.clear()
        self.run([word for child in node.children for word in self.words_of(child)], None)

    def run(self, words: list[ShellWord], stdin: ShellWord | None, *, is_direct: bool = False) -> None:
        """Add a command with these words. Only a direct command (`is_direct`) can be a function of the script."""
        from remit.policy.bash.wrappers import unwrap_command  # noqa: PLC0415 - wrappers import the reader

        if not words:
            return
        self.level += 1
        self.words -= len(words)
        if self.level > MAX_DEPTH * 4 or self.words < 0:
            self.doubt("it has more words, or nests them deeper, than can be read")
        else:
            unwrap_command(self, words, stdin, is_direct=is_direct)
        self.level -= 1

    # --- words -------------------------------------------------------------------------------------------------------

    def text_of(self, node: Node) -> str:
        """Return the source of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")

    def words_of(self, node: Node) -> list[ShellWord]:
        """Return the words of a command that a node expands to."""
        return make_words(self._pieces_of(node), home=self._get_home())

    def value_of(self, node: Node) -> ShellWord:
        """Return the single word that a node expands to without word splitting."""
        return make_value(self._pieces_of(node), home=self._get_home())

    def _get_home(self) -> str:
        return HOLE if self.has_own_home else self.home

    def _pieces_of(self, node: Node, *, quoted: bool = False) -> list[Piece]:
        kind = node.type
        if kind == "raw_string":
            return [(self.text_of(node)[1:-1], True)]
        if kind == "ansi_c_string":
            decoded = read_ansi(self.text_of(node)[2:-1])
            return [(HOLE if decoded is None else decoded, True)]
        if kind == "string":
            return self._pieces_of_string(node)
        if kind in ("simple_expansion", "expansion"):
            is_home = self.text_of(node) in ("$HOME", "${HOME}")
            return [(self._get_home(), True)] if is_home else [(HOLE, quoted)]
        if kind in _HOLES:
            return [(HOLE, quoted or kind == "process_substitution")]
        if kind == "arithmetic_expansion":
            return [("1", True)]  # any number
        if kind in ("concatenation", "translated_string", "command_name") and node.child_count:
            self.check_gaps(node)
            children = node.children
            # A dollar before a string only marks it for translation.
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
            self.doubt(TWO_WAYS)  # an unquoted blank would end the word
        return pieces

    def _pieces_of_string(self, node: Node) -> list[Piece]:
        """Return the pieces of a string: its text, including text between nodes, and its substitutions."""
        pieces: list[Piece] = [("", True)]
        at = node.start_byte + 1
        for child in node.children:
            if child.type in ('"', "string_content"):
                continue
            self._add_content(pieces, at, child.start_byte)
            pieces += self._pieces_of(child, quoted=True) if child.is_named else [(self.text_of(child), True)]
            at = child.end_byte
        self._add_content(pieces, at, node.end_byte - 1)
        return pieces

    def _add_content(self, pieces: list[Piece], start: int, end: int) -> None:
        if end > start:
            text = self.source[start:end].decode("utf-8", "surrogateescape")
            self.check_unread(text)
            pieces.append((read_double(text), True))

    def check_unread(self, text: str) -> None:
        """Add a doubt if the tree took a substitution or a nested quote for plain text."""
        if "$" not in text and "`" not in text and '"' not in text:
            return
        bare = text.replace("\\\\", "").replace("\\\n", "").replace("\\$", "").replace("\\`", "").replace('\\"', "")
        if '"' in bare or UNREAD.search(bare):
            self.doubt(TWO_WAYS)

    def check_gaps(self, node: Node) -> None:
        """Add a doubt if there is more than blanks between the parts of a command: then the tree left out text."""
        whole = node.parent is None
        at, named, assigned = 0 if whole else node.start_byte, False, False
        blank = BLANK if node.type not in _ON_ONE_LINE else b" \t"
        for child in node.children:
            gap = self.source[at : child.start_byte]
            rest = gap.replace(b"\\\n", b"") if gap else gap
            # For a continued line within a word, bash joins both halves, unlike the tree.
            if rest.strip(blank) or (gap and not rest and named and child.is_named):
                self.doubt(TWO_WAYS)
            # Text directly after a value is part of the value, unlike in the tree.
            if assigned and not gap and named and child.is_named and not child.type.endswith("redirect"):
                self.doubt(TWO_WAYS)
            at, named, assigned = max(at, child.end_byte), child.is_named, child.type == "variable_assignment"
        rest = self.source[at : len(self.source) if whole else node.end_byte]
        if rest and rest.replace(b"\\\n", b"").strip(BLANK):
            self.doubt(TWO_WAYS)

    _VISITS: ClassVar[dict[str, Callable[[ScriptReader, Node], None]]] = {
        "command": _visit_command,
        "redirected_statement": _visit_redirected,
        "declaration_command": _visit_declaration,
        "unset_command": _visit_unset,
        "variable_assignment": _visit_assignment,
        "function_definition": _visit_function,
        "pipeline": _visit_pipeline,
        "list": _visit_list,
        "command_substitution": _visit_substitution,
        "process_substitution": _visit_substitution,
        "arithmetic_expansion": _visit_arithmetic,
        "expansion": _visit_expansion,
    }

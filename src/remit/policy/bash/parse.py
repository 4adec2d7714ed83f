"""Parsing: a script's text as a syntax tree, or why it has none.

Owns the parser and the limits that hold before it is asked: how long a text may be, which characters it may have, how
long the parser may try.
"""

from __future__ import annotations

from time import process_time

from remit.lazy_regex import lazy

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

MAX_CHARS = 64_000
MAX_SIGNS = 2_000
"""So many signs of the shell's own may stand in a script: where they make no sense, a parser tries them in all ways."""
MAX_SECONDS = 0.06
"""So long may a parser try."""
PIECE = 256
_ODD = lazy(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200c\u200e\u200f\u2028-\u202f\u205f-\u206f"
    "\u3000\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Control characters, blanks that are none to a shell, and what turns the order of a line round."""
_LINES = {ord("\n"): None, ord("\t"): None}
_SIGNS = "|&;(){}[]<>$`!=\"'*?~#\\"
_HEAD = lazy(r"(?<!<)<<-?[ \t]*(?:\w+|'\w+'|\"\w+\"|\\\w+)(?![^\s;|&<>)])")
"""What begins a here-document whose end is a plain word, quoted or not."""
_HEREDOC = lazy(r"<<-?\s*['\"\\]([A-Za-z0-9_]+)")


def find_obstacle(text: str) -> str:
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


def parse(source: bytes) -> Node | None:
    """The root of a script's tree; None where a parser does not come to an end with it.

    It is given the text in pieces. Where it finds no sense it goes back and asks again, so one that asks too often, or
    takes too long, is told that the text ends here.
    """
    if b"<<" in source and b"\\" in source:
        source = _hide_backslashes(source)
    left, start, stopped = 64 + len(source) // (PIECE // 2), process_time(), False

    def give(at: int, _point: object) -> bytes:
        nonlocal left, stopped
        left -= 1
        stopped = stopped or left < 0 or process_time() - start > MAX_SECONDS
        return b"" if stopped else source[at : at + PIECE]

    root = load_parser().parse(give).root_node
    return None if stopped else root


def _hide_backslashes(source: bytes) -> bytes:
    """The same text with a letter for a backslash that begins a here-document: the grammar takes its line for words.

    Only the tree is made of it. Before a letter both are the beginning of the same word, should it be no document.
    """
    lines = source.split(b"\n")
    for at, line in enumerate(lines):
        if b"<<" not in line or not _HEAD.search(line.decode("latin-1")):
            continue
        first = next((number for number in range(at + 1, len(lines)) if lines[number].strip()), at)
        text = lines[first].lstrip(b" \t")
        if text[:1] == b"\\" and text[1:2].isalpha():
            lines[first] = lines[first].replace(b"\\", b"x", 1)
    return b"\n".join(lines)


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


def list_commands(root: Node) -> set[tuple[int, int]]:
    """Where the simple commands of a tree stand."""
    found, waiting = set(), [root]
    while waiting:
        node = waiting.pop()
        if node.type == "command":
            found.add((node.start_byte, node.end_byte))
        if node.child_count:
            waiting += node.children
    return found

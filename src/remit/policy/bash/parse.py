"""The parser of shell scripts, with limits on length, characters and parsing time."""

from __future__ import annotations

from time import process_time

from remit.lazy_regex import lazy

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

MAX_CHARS = 64_000
MAX_SIGNS = 2_000
"""The number of shell operators in a script. If they are nonsense, the parser tries every combination."""
MAX_SECONDS = 0.06
"""The limit of CPU time for a parse."""
PIECE = 256
_ODD = lazy(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200c\u200e\u200f\u2028-\u202f\u205f-\u206f"
    "\u3000\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Control characters, blanks that a shell doesn't treat as blanks, and characters that reverse the text direction."""
_LINES = {ord("\n"): None, ord("\t"): None}
_SIGNS = "|&;(){}[]<>$`!=\"'*?~#\\"
_HEAD = lazy(r"(?<!<)<<-?[ \t]*(?:\w+|'\w+'|\"\w+\"|\\\w+)(?![^\s;|&<>)])")
"""The start of a here-document whose delimiter is a plain word, quoted or not."""
_HEREDOC = lazy(r"<<-?\s*['\"\\]([A-Za-z0-9_]+)")


def find_obstacle(text: str) -> str:
    """Return why a script isn't parsed; "" if it can be."""
    if len(text) > MAX_CHARS:
        return f"it is longer than {MAX_CHARS} characters"
    usual = text.isascii() and text.translate(_LINES).isprintable()
    if not usual and _ODD.search(text):
        return "it contains unusual characters"
    if len(text) > MAX_SIGNS:
        plain = _strip_quoted(text)
        if sum(map(plain.count, _SIGNS)) > MAX_SIGNS or sum(map(plain.count, " \t\n")) > 4 * MAX_SIGNS:
            return "it contains too many shell operators"
    return ""


def _strip_quoted(text: str) -> str:
    """Return a script without text that is surely plain: here-documents with quoted delimiters, and single quotes."""
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
    """Return the root of a script's syntax tree; None if the parser doesn't finish in time.

    The parser reads the text in pieces and backtracks at errors. If it reads too often or takes too long, it gets the
    end of the text instead of the next piece.
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
    """Return the text with a letter for a backslash at the start of a here-document, which confuses the grammar.

    Only the tree is built from this text. If the line isn't a here-document after all, the word has the same bounds.
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
    """Return a new parser, because concurrent use of one parser crashes the process. The grammar is loaded once."""
    from tree_sitter import Language, Parser  # noqa: PLC0415 - only commands pay for it

    if not _kept:
        _kept.append(Language(_load_grammar()))
    return Parser(_kept[0])


def _load_grammar() -> object:
    """Load the grammar without its package's `__init__`, whose resources take longer to load than everything else."""
    from importlib.machinery import PathFinder  # noqa: PLC0415 - only commands pay for it
    from importlib.util import module_from_spec  # noqa: PLC0415

    package = PathFinder.find_spec("tree_sitter_bash")
    places = package.submodule_search_locations if package else None
    found = PathFinder.find_spec("tree_sitter_bash._binding", places) if places else None
    if found is None or found.loader is None:
        from tree_sitter_bash import language  # noqa: PLC0415 - for other ways of packaging

        return language()
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module.language()


def list_commands(root: Node) -> set[tuple[int, int]]:
    """Return the byte ranges of the simple commands in a tree."""
    found, waiting = set(), [root]
    while waiting:
        node = waiting.pop()
        if node.type == "command":
            found.add((node.start_byte, node.end_byte))
        if node.child_count:
            waiting += node.children
    return found

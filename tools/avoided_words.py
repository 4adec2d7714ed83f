"""Report the words that the style guide avoids, with counts per file.

    python -m tools.avoided_words [--lines] [PATH…]

It reads what users and models read: README and docs without their code, the help texts and messages in the source, and
the labels of the dashboard. It ignores names, comments and code. It always exits with 0: it is a reading aid, no gate.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parent.parent
AVOIDED = {
    "tell, told": r"(?<!can't )(?<!cannot )tell|tells|told|telling",
    "hold, held": r"holds?|held|holding",
    "look at, on, for": r"look(?:s|ed|ing)? (?:at|on|for|whether)",
    "bear out": r"bears? out|born[e]? out",
    "put right": r"puts? right|putting right",
    "go on": r"go(?:es|ing)? on|went on",
    "anew": r"anew",
    "besides": r"besides",
    "whoever": r"whoever|whomever|whosever",
    "nobody": r"nobody",
    "somebody": r"somebody",
    "is no": r"(?<!there )(?:is|are|was|were) no(?! longer\b)(?= \w)|(?<!there )(?:is|are) none\b",
    "known are": r"known are|asked was|given was",
    "left out": r"(?:when|if|where) left out",
    "taken in, up": r"tak(?:e|es|en|ing) (?:in|up)\b|took (?:in|up)\b",
    "metaphor": r"house|floors?|porch|doors?|cages?|fences?|walls?|briefing|referee[sd]?|supervisor(?:s|ed)?",
}
_PATTERNS = {name: re.compile(rf"(?i)\b(?:{pattern})\b") for name, pattern in AVOIDED.items()}
_CODE = re.compile(r"(?ms)^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$|`[^`\n]*`|<!--.*?-->|\]\([^)\s]*\)")
_JS_TEXT = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`""")
_JS_COMMENT = re.compile(r"(?ms)/\*.*?\*/|^[ \t]*//[^\n]*$")
_SQL = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA)\b")
_PROSE = re.compile(r"[a-z]+ [a-z]+", re.IGNORECASE)


class Use(NamedTuple):
    """An avoided word, with the line that it is in."""

    line: int
    word: str
    text: str


def list_files(paths: Sequence[str]) -> Iterator[Path]:
    """The files with text for readers that git knows, below the paths."""
    kinds = ("*.md", "src/remit/*.py", "src/remit/server/web/*.js", "src/remit/server/web/*.html")
    known = subprocess.run(  # noqa: S603 - paths, after the options
        ["git", "ls-files", "-z", "--", *(paths or kinds)],  # noqa: S607 - as a user's shell would find it
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, known.split("\0")):
        if name.endswith((".md", ".py", ".js", ".html")) and not name.startswith(("tests/", "CHANGELOG")):
            yield ROOT / name


def find_uses(file: Path) -> list[Use]:
    """The avoided words in the text of one file."""
    text = file.read_text()
    pieces = _list_messages(text) if file.suffix == ".py" else _list_labels(text) if file.suffix == ".js" else None
    uses = []
    for first, piece in pieces if pieces is not None else [(1, _blank(_CODE, text))]:
        for offset, line in enumerate(piece.split("\n")):
            for word, pattern in _PATTERNS.items():
                uses += [Use(first + offset, word, line.strip()) for _ in pattern.finditer(line)]
    return uses


def _list_messages(text: str) -> Iterator[tuple[int, str]]:
    """The prose in strings of Python source: messages, help texts, prompts. Docstrings count only for commands."""
    tree = ast.parse(text)
    skipped = {id(part) for node in ast.walk(tree) for part in _list_docstrings(node)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in skipped or (id(node) in parts and not isinstance(node, ast.JoinedStr)):
            continue
        if isinstance(node, ast.JoinedStr):
            found = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = node.value
        else:
            continue
        if _PROSE.search(found) and not _SQL.search(found):
            yield node.lineno, found


def _list_docstrings(node: ast.AST) -> Iterator[ast.AST]:
    """Every string that is a statement of its own, unless it is the help text of a command."""
    is_command = isinstance(node, ast.FunctionDef) and any("command" in ast.unparse(d) for d in node.decorator_list)
    body = getattr(node, "body", None)
    for statement in body if isinstance(body, list) and not is_command else ():
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            yield statement.value


def _list_labels(text: str) -> Iterator[tuple[int, str]]:
    """The prose in strings of JavaScript source."""
    code = _blank(_JS_COMMENT, text)
    for found in _JS_TEXT.finditer(code):
        if _PROSE.search(found[0]):
            yield code.count("\n", 0, found.start()) + 1, found[0]


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """The text with every match replaced by nothing but its line breaks, so that line numbers stay."""
    return pattern.sub(lambda found: "\n" * found[0].count("\n"), text)


def main(args: Sequence[str] | None = None) -> None:
    """Print the files with avoided words, most first, and the sums."""
    parser = argparse.ArgumentParser(prog="avoided_words", description="Report words that the style guide avoids.")
    parser.add_argument("--lines", action="store_true", help="Show each line.")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="Files or folders. Default: all.")
    options = parser.parse_args(args)
    found = {file: uses for file in list_files(options.paths) if (uses := find_uses(file))}
    for file, uses in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        counts = ", ".join(f"{word} {number}" for word, number in Counter(use.word for use in uses).most_common())
        sys.stdout.write(f"{len(uses):5}  {file.relative_to(ROOT)}: {counts}\n")
        for use in uses if options.lines else ():
            sys.stdout.write(f"       {use.line}: {use.word}: {use.text[:110]}\n")
    total = Counter(use.word for uses in found.values() for use in uses)
    sums = ", ".join(f"{word} {number}" for word, number in total.most_common())
    sys.stdout.write(f"{total.total():5}  in {len(found)} files{': ' if sums else ''}{sums}\n")


if __name__ == "__main__":
    main()

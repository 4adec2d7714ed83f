"""Shell words after bash has removed quotes, escapes and tildes, and the acts of a script that consist of them.

Parts that only the running shell knows, such as variables, braces and globs, are holes in a word's text, which stand
for any text. A word is built from pieces, each with its text and whether it was quoted. The reader of scripts knows
bash but no rules; the judge of acts knows rules but no bash.
"""

from __future__ import annotations

from remit.globs import tokenize
from remit.light_namedtuple import NamedTuple

HOLE = "\0"
"""Marks an unknown part of a text. No word of a command can contain this character itself."""
ONE, GLOB, SPLIT = 0, 1, 2
"""How a word expands: to exactly one word, to several of the same shape (a glob), or to any number of words."""
Piece = tuple[str, bool]


class ShellWord(NamedTuple):
    """A word as a program gets it, with holes for unknown parts."""

    text: str
    kind: int = ONE

    @property
    def is_sure(self) -> bool:
        """Return whether the program gets exactly this text."""
        return HOLE not in self.text and self.kind == ONE


def make_words(pieces: list[Piece], *, home: str) -> list[ShellWord]:
    """Return the words of a command that pieces expand to. Braces expand to several words."""
    plain = "".join(text for text, quoted in pieces if not quoted)
    if "{" in plain and ("," in plain or ".." in plain):
        start = next(at for at, (text, quoted) in enumerate(pieces) if "{" in text and not quoted)
        before = "".join(text for text, _ in _put_home(pieces[:start], home)) + pieces[start][0].partition("{")[0]
        return [ShellWord(before + HOLE, SPLIT)]
    return [_join(_put_home(pieces, home))] if pieces else []


def make_value(pieces: list[Piece], *, home: str) -> ShellWord:
    """Return the single word that pieces expand to as a value or as the target of a redirection."""
    return ShellWord("".join(text for text, _ in _put_home(pieces, home)))


def _put_home(pieces: list[Piece], home: str) -> list[Piece]:
    if not pieces or pieces[0][1] or not pieces[0][0].startswith("~"):
        return pieces
    user, slash, rest = pieces[0][0][1:].partition("/")
    if not slash and len(pieces) > 1:
        return [(HOLE, True), *pieces[1:]]
    return [(home if not user else HOLE, True), (slash + rest, False), *pieces[1:]]


def _join(pieces: list[Piece]) -> ShellWord:
    """Join pieces to one word. Glob characters become holes."""
    kind, texts = ONE, []
    for text, quoted in pieces:
        if quoted:
            texts.append(text)
        elif HOLE in text:
            kind = SPLIT
            texts.append(text)
        elif "*" in text or "?" in text or "[" in text:
            opened = _open_globs(text)
            kind = max(kind, GLOB if opened != text or "[" in text else ONE)
            texts.append(opened)
        else:
            texts.append(text)
    return ShellWord("".join(texts), kind)


def _open_globs(text: str) -> str:
    return "".join(HOLE if len(sign) > 1 or sign in "*?" else sign for sign in tokenize(text))


# --- quotes ----------------------------------------------------------------------------------------------------------
def read_plain(text: str) -> list[Piece]:
    """Split unquoted text into pieces. A backslash quotes the next character; before a line break, both are removed."""
    if "\\" not in text:
        return [(text, False)]
    pieces, at = [], 0
    while at < len(text):
        slash = text.find("\\", at)
        if slash < 0 or slash == len(text) - 1:
            pieces.append((text[at:], False))
            break
        if slash > at:
            pieces.append((text[at:slash], False))
        if text[slash + 1] != "\n":
            pieces.append((text[slash + 1], True))
        at = slash + 2
    return pieces


def read_double(text: str) -> str:
    """Unescape the text between double quotes, without substitutions."""
    if "\\" not in text:
        return text
    found, at = [], 0
    while at < len(text):
        char = text[at]
        following = text[at + 1 : at + 2]
        if char == "\\" and following and following in '$`"\\\n':
            found.append("" if following == "\n" else following)
            at += 2
        else:
            found.append(char)
            at += 1
    return "".join(found)


_ESCAPES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_DIGITS = {"x": (2, 16), "u": (4, 16), "U": (8, 16)}
_HEX, _OCTAL = "0123456789abcdefABCDEF", "01234567"


def read_ansi(text: str) -> str | None:
    """Unescape the text between `$'` and `'`; return None if an escape is invalid."""
    if "\\" not in text:
        return text
    found = bytearray()
    at = 0
    while at < len(text):
        char, following = text[at], text[at + 1 : at + 2]
        if char != "\\" or not following:
            found += char.encode("utf-8", "surrogateescape")
            at += 1
            continue
        at += 2
        if following in _ESCAPES:
            found += _ESCAPES[following].encode()
        elif following in _DIGITS or following in _OCTAL:
            most, base = _DIGITS.get(following, (3, 8))
            at -= following in _OCTAL
            end = at
            while end < len(text) and end - at < most and text[end] in (_HEX if base == 16 else _OCTAL):  # noqa: PLR2004 - hexadecimal
                end += 1
            if end == at:
                return None
            number = int(text[at:end], base)
            if following in "uU":
                if not 0 < number < 0x110000 or 0xD800 <= number < 0xE000:  # noqa: PLR2004 - Unicode's bounds
                    return None
                found += chr(number).encode()
            else:
                found.append(number & 0xFF)
            at = end
        elif following == "c" and at < len(text):
            found.append(ord(text[at]) & 0x1F)
            at += 1
        else:
            found += b"\\" + following.encode("utf-8", "surrogateescape")
    if 0 in found:
        return None
    return found.decode("utf-8", "surrogateescape")


TYPE_CHECKING = False  # typing itself would cost 6 ms


class Invocation(NamedTuple):
    """The start of a program, with its words."""

    words: tuple[ShellWord, ...]
    passes_on: bool = False
    """Whether it only starts another program, which is judged separately: an allow list need not name it."""
    names: tuple[str, ...] = ()
    """Other names of the same program: the target of its link."""


class ShellAssignment(NamedTuple):
    """A variable assignment of the script."""

    name: str
    value: str


class PossibleCommand(NamedTuple):
    """A text that a program gets and may run as a command."""

    text: str
    leaves: bool = False
    """Whether the program runs it in another process tree, such as a container, which the exec judge can't see."""


class Unresolved(NamedTuple):
    """A part of the script that may run other programs, which the text doesn't determine."""

    why: str
    is_code: bool = False
    """Whether the exec judge sees the programs that this part starts."""


Act = Invocation | ShellAssignment | PossibleCommand | Unresolved

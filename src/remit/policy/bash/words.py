"""Words: what bash makes of a word before a program sees it.

Owns the undoing of quotes, escapes and tildes. What only the running shell could know, or makes of braces and globs, is
a hole in the word's text: it stands for anything. A word is given in pieces, each a text and whether it was quoted.
"""

from __future__ import annotations

from remit.globs import tokenize
from remit.light_namedtuple import NamedTuple

HOLE = "\0"
"""Stands in a text for what is not known. No word of a command can hold this character itself."""
ONE, GLOB, SPLIT = 0, 1, 2
"""A word stays one; becomes several of the same shape; becomes any number of any shape."""
Piece = tuple[str, bool]


class ShellWord(NamedTuple):
    """A word as a program gets it, with holes where it is not known."""

    text: str
    kind: int = ONE

    @property
    def is_sure(self) -> bool:
        """Whether the program gets exactly this."""
        return HOLE not in self.text and self.kind == ONE


def make_words(pieces: list[Piece], *, home: str) -> list[ShellWord]:
    """The words that pieces become where a command's words are expected: braces make several of them."""
    plain = "".join(text for text, quoted in pieces if not quoted)
    if "{" in plain and ("," in plain or ".." in plain):
        start = next(at for at, (text, quoted) in enumerate(pieces) if "{" in text and not quoted)
        before = "".join(text for text, _ in _put_home(pieces[:start], home)) + pieces[start][0].partition("{")[0]
        return [ShellWord(before + HOLE, SPLIT)]
    return [_join(_put_home(pieces, home))] if pieces else []


def make_value(pieces: list[Piece], *, home: str) -> ShellWord:
    """The one word that pieces become where nothing is split: a value, a redirection's target."""
    return ShellWord("".join(text for text, _ in _put_home(pieces, home)))


def _put_home(pieces: list[Piece], home: str) -> list[Piece]:
    if not pieces or pieces[0][1] or not pieces[0][0].startswith("~"):
        return pieces
    user, slash, rest = pieces[0][0][1:].partition("/")
    if not slash and len(pieces) > 1:
        return [(HOLE, True), *pieces[1:]]
    return [(home if not user else HOLE, True), (slash + rest, False), *pieces[1:]]


def _join(pieces: list[Piece]) -> ShellWord:
    """One text; a glob's signs are holes in it."""
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
    """Unquoted text: a backslash quotes what follows it, and with the end of a line it is nothing."""
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
    """What stands between double quotes, without what is substituted."""
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
    """What stands between `$'` and `'`; None where it makes a character that is none."""
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

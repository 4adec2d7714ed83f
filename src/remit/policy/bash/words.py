"""Words: what bash makes of a word before a program sees it.

Owns the undoing of quotes, escapes, braces, tildes and globs. What only the running shell could know is a hole in the
word's text: it stands for anything. A word is given in pieces, each a text and whether it was quoted.
"""

from __future__ import annotations

from remit.quick_tuple import NamedTuple

HOLE = "\0"
"""Stands in a text for what is not known. No word of a command can hold this character itself."""
ONE, GLOB, SPLIT = 0, 1, 2
"""A word stays one; becomes several of the same shape; becomes any number of any shape."""
MAX_WORDS = 400
"""So many words braces may make of one."""
MAX_BRACES = 40
Piece = tuple[str, bool]


class Word(NamedTuple):
    """A word as a program gets it, with holes where it is not known."""

    text: str
    kind: int = ONE

    @property
    def is_sure(self) -> bool:
        """Whether the program gets exactly this."""
        return HOLE not in self.text and self.kind == ONE


class TooManyError(Exception):
    """Braces make more words than anybody would write."""


def make_words(pieces: list[Piece], *, home: str) -> list[Word]:
    """The words that pieces become where a command's words are expected."""
    choices = _expand_braces(pieces) if any("{" in text and not quoted for text, quoted in pieces) else [pieces]
    parts = [part for choice in choices for part in _split(_put_home(choice, home))]
    return [_join(part) for part in parts]


def _split(pieces: list[Piece]) -> list[list[Piece]]:
    """The words of pieces: a blank that is not quoted can only come out of a variable, and parts them."""
    if not any(not quoted and any(char in text for char in " \t\n") for text, quoted in pieces):
        return [pieces] if pieces else []
    words: list[list[Piece]] = [[]]
    for text, quoted in pieces:
        if quoted:
            words[-1].append((text, quoted))
            continue
        first, *rest = text.replace("\t", " ").replace("\n", " ").split(" ")
        words[-1] += [(first, False)] if first else []
        words += [[(part, False)] if part else [] for part in rest]
    return [word for word in words if word]


def expand_braces(text: str) -> list[str]:
    """A plain text as braces would multiply it; itself where they would not."""
    try:
        return [word.text for word in make_words([(text, False)], home="~")]
    except TooManyError:
        return [text]


def make_value(pieces: list[Piece], *, home: str) -> Word:
    """The one word that pieces become where nothing is split: a value, a redirection's target."""
    return Word("".join(text for text, _ in _put_home(pieces, home)))


def _put_home(pieces: list[Piece], home: str) -> list[Piece]:
    if not pieces or pieces[0][1] or not pieces[0][0].startswith("~"):
        return pieces
    user, slash, rest = pieces[0][0][1:].partition("/")
    if not slash and len(pieces) > 1:
        return [(HOLE, True), *pieces[1:]]
    return [(home if not user else HOLE, True), (slash + rest, False), *pieces[1:]]


def _join(pieces: list[Piece]) -> Word:
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
    return Word("".join(texts), kind)


def _open_globs(text: str) -> str:
    found, at = [], 0
    while at < len(text):
        char = text[at]
        closing = text.find("]", at + 2) if char == "[" else -1
        if char in "*?":
            found.append(HOLE)
        elif closing >= 0:
            found.append(HOLE)
            at = closing
        else:
            found.append(char)
        at += 1
    return "".join(found)


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


def read_ansi(text: str) -> str | None:  # noqa: C901, PLR0912 - a branch per kind of escape
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


# --- braces ----------------------------------------------------------------------------------------------------------

_Sign = tuple[str, bool]
"""One character and whether it was quoted; a hole is one too."""


def _expand_braces(pieces: list[Piece]) -> list[list[Piece]]:
    signs = [(char, quoted) for text, quoted in pieces for char in text]
    if signs.count(("{", False)) > MAX_BRACES:
        raise TooManyError
    budget = [MAX_WORDS]
    # A quoted piece that is empty makes a word all the same.
    empty = any(quoted and not text for text, quoted in pieces)
    found = [_group(choice) for choice in _expand(signs, budget, depth=0)]
    return [choice or ([("", True)] if empty else []) for choice in found]


def _group(signs: list[_Sign]) -> list[Piece]:
    pieces: list[Piece] = []
    for char, quoted in signs:
        if pieces and pieces[-1][1] == quoted:
            pieces[-1] = pieces[-1][0] + char, quoted
        else:
            pieces.append((char, quoted))
    return pieces


def _expand(signs: list[_Sign], budget: list[int], *, depth: int) -> list[list[_Sign]]:
    """The leftmost brace that is one, its choices, and what comes after it."""
    if depth > 8:  # noqa: PLR2004 - braces in braces
        raise TooManyError
    for at, sign in enumerate(signs):
        if sign != ("{", False) or signs[at - 1 : at] == [("$", False)]:
            continue
        found = _find_choices(signs, at)
        if found is None:
            continue
        choices, end = found
        heads = [each for choice in choices for each in _expand(choice, budget, depth=depth + 1)]
        tails = _expand(signs[end:], budget, depth=depth)
        budget[0] -= len(heads) * len(tails)
        if budget[0] < 0:
            raise TooManyError
        return [signs[:at] + head + tail for head in heads for tail in tails]
    return [signs]


def _find_choices(signs: list[_Sign], at: int) -> tuple[list[list[_Sign]], int] | None:
    """The choices of a brace that opens somewhere, and where it ends; None where it is no brace."""
    depth, start, choices = 0, at + 1, []
    for here in range(at + 1, len(signs)):
        sign = signs[here]
        if sign == ("{", False):
            depth += 1
        elif sign == ("}", False) and depth:
            depth -= 1
        elif sign == (",", False) and not depth:
            choices.append(signs[start:here])
            start = here + 1
        elif sign == ("}", False):
            if choices:
                return [*choices, signs[start:here]], here + 1
            row = _read_row(signs[start:here])
            return (row, here + 1) if row else None
    return None


def _read_row(signs: list[_Sign]) -> list[list[_Sign]] | None:
    """`1..3` and `a..c`."""
    text = "".join(char for char, _ in signs)
    ends = text.split("..")
    if any(quoted for _, quoted in signs) or len(ends) not in (2, 3):
        return None
    try:
        step = abs(int(ends[2])) if len(ends) > 2 and int(ends[2]) else 1  # noqa: PLR2004 - a step is the third
        if len(ends[0]) == len(ends[1]) == 1 and (ends[0] + ends[1]).isascii() and not (ends[0] + ends[1]).isdigit():
            first, last, make = ord(ends[0]), ord(ends[1]), chr
        else:
            wide = max(len(ends[0]), len(ends[1])) if ends[0][:1] == "0" or ends[1][:1] == "0" else 0
            first, last, make = int(ends[0]), int(ends[1]), lambda number: str(number).zfill(wide)
    except ValueError:
        return None
    if abs(last - first) // step > MAX_WORDS:
        raise TooManyError
    row = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    return [[(char, False) for char in make(number)] for number in row]

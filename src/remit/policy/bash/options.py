"""Options: a program's words as options and operands.

Owns the one way in which command lines are taken apart here. A spec names the options that take a value: `n:` and
`--user:` take one, `--replace=` takes one only after an equals sign.
"""

from __future__ import annotations

from functools import lru_cache

from remit.light_namedtuple import NamedTuple
from remit.policy.bash.words import HOLE, SPLIT, ShellWord

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Sequence

SHORTEST = 3
"""Two dashes and a letter: nothing shorter stands for a longer option."""


class ParsedOptions(NamedTuple):
    """What the words of a program are."""

    options: tuple[tuple[str, ShellWord], ...]
    operands: tuple[ShellWord, ...]
    is_certain: bool
    """Whether every option before the first operand was known."""
    is_doubtful: bool
    """Whether a word before the first operand could be anything."""


@lru_cache(maxsize=256)
def _read_spec(spec: str) -> tuple[frozenset[str], frozenset[str]]:
    parts = spec.split()
    taking = frozenset(part[:-1] if part[0] == "-" else f"-{part[:-1]}" for part in parts if part.endswith(":"))
    return taking, frozenset(part.rstrip(":=") for part in parts)


def parse_options(words: Sequence[ShellWord], spec: str, *, permute: bool = False) -> ParsedOptions:
    """Options up to the first operand; with `permute`, wherever they stand."""
    taking, known = _read_spec(spec)
    options: list[tuple[str, ShellWord]] = []
    operands: list[ShellWord] = []
    certain, doubtful, at = True, False, 0
    while at < len(words):
        word = words[at]
        text = word.text
        at += 1
        if word.is_sure and text == "--":
            operands += words[at:]
            break
        if not word.is_sure and (word.kind == SPLIT or text.startswith((HOLE, "-"))) and not operands:
            doubtful = doubtful or word.kind == SPLIT or text.startswith("-" + HOLE) or not permute
        if text[:1] != "-" or text == "-":
            operands.append(word)
            if not permute:
                operands += words[at:]
                break
            continue
        name, value, takes = _take_one(text, taking)
        if takes and value is None:
            value = words[at].text if at < len(words) else ""
            word = words[at] if at < len(words) else word
            at += 1
            doubtful = doubtful or word.kind == SPLIT
        certain = certain and (takes or name in known or _is_harmless(text))
        options.append((name, ShellWord(value or "", word.kind)))
    return ParsedOptions(tuple(options), tuple(operands), certain, doubtful)


def _take_one(text: str, taking: frozenset[str]) -> tuple[str, str | None, bool]:
    """An option's name, its value if it is in the same word, and whether it takes one."""
    if text.startswith("--"):
        name, equals, value = text.partition("=")
        longer = (each for each in taking if len(name) > SHORTEST and each.startswith(name))
        whole = name if name in taking else next(longer, name)
        return whole, value if equals else None, (whole in taking and not equals) or bool(equals)
    for at, letter in enumerate(text[1:], 1):
        if f"-{letter}" in taking:
            return f"-{letter}", text[at + 1 :] or None, True
    return text[:2], None, False


def _is_harmless(text: str) -> bool:
    """One letter that is not known to take a value: nobody gives its value in the next word without our knowing."""
    return not text.startswith("--") and (len(text) == 2 or text[1:].isdigit())  # noqa: PLR2004 - a dash and a letter

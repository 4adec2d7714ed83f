"""Sed: whether a script of its starts nothing, and which files it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.options import parse_options
from remit.policy.bash.programs.inline import MAX_CODE, UNREAD, doubt_code, skip_regex
from remit.policy.bash.programs.scripts import run_file
from remit.policy.bash.words import HOLE, SPLIT, Word

if TYPE_CHECKING:
    from remit.policy.bash.reading import Reader, Stdin


def take_sed(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """Scripts in its words, and scripts in files."""
    found = parse_options(words[1:], "e: f: l: --expression: --file: --line-length: --in-place=", permute=True)
    scripts = [value for name, value in found.options if name in ("-e", "--expression")]
    given = False
    for name, value in found.options:
        if name in ("-f", "--file"):
            run_file(reader, value, stdin, "other")
            given = True
    if any(word.kind == SPLIT for word in words[1:]) and reader.is_tainted:
        reader.doubt(UNREAD)
    if not scripts and not given:
        scripts = list(found.operands[:1])
    code = "\n".join(script.text for script in scripts)
    if len(code) > MAX_CODE or (HOLE in code and reader.is_tainted) or not judge_sed(reader, code):
        doubt_code(reader, code)


def judge_sed(reader: Reader, code: str) -> bool:  # noqa: C901 - a branch per kind of command
    """Whether a sed script starts nothing; files that it writes are taken note of."""
    at = 0
    while at < len(code):
        at = _skip_address(code, at)
        if at < 0:
            return False
        if at >= len(code):
            break
        char = code[at]
        at += 1
        if char in "{};\n \t":
            continue
        if char in "sy":
            at = _skip_substitution(reader, code, at, char)
        elif char in "aicrRwW:btTv#":
            at = _skip_line(reader, code, at, char)
        elif char in "=dDgGhHnNpPxzFlqQL":
            while at < len(code) and code[at] in " \t0123456789":
                at += 1
            if at < len(code) and code[at] not in ";}\n#":
                return False
        else:
            return False
        if at < 0:
            return False
    return True


def _skip_address(code: str, at: int) -> int:
    """Past what says on which lines; -1 where it never ends."""
    while at < len(code) and code[at] in " \t0123456789$,~+!;\n/\\IM":
        char = code[at]
        if char in "/\\":
            quote = code[at + 1 : at + 2] if char == "\\" else "/"
            at = skip_regex(code, at + (2 if char == "\\" else 1), quote)
            if at < 0:
                return -1
        else:
            at += 1
    return at


def _skip_substitution(reader: Reader, code: str, at: int, char: str) -> int:
    quote = code[at : at + 1]
    at = skip_regex(code, at + 1, quote)
    at = skip_regex(code, at, quote) if at > 0 else -1
    if at < 0 or char == "y":
        return at
    while at < len(code) and code[at] in "gpiImM0123456789":
        at += 1
    if code[at : at + 1] == "e":
        return -1
    if code[at : at + 1] == "w":
        return _skip_line(reader, code, at + 1, "w")
    return at if at >= len(code) or code[at] in " \t;}\n#" else -1


def _skip_line(reader: Reader, code: str, at: int, char: str) -> int:
    """Past a text, a label or a file's name."""
    end = at
    while end < len(code) and code[end] != "\n" and not (char in ":btTv" and code[end] in ";}"):
        end += 2 if code[end] == "\\" and char in "aic" else 1
    name = code[at:end].strip()
    if char in "wW" and name not in ("/dev/stdout", "/dev/stderr"):
        reader.note_file(Word(name), "write")
    return end

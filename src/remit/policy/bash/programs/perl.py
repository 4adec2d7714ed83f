"""Perl: whether a line of it only matches, replaces and prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.commands import could_be_flag
from remit.policy.bash.names import read_names
from remit.policy.bash.programs.inline import MAX_CODE, doubt_code, skip_regex, take_input
from remit.policy.bash.programs.scripts import run_file
from remit.policy.bash.words import Word

if TYPE_CHECKING:
    from remit.policy.bash.reading import Reader, Stdin

_PERL_WORDS = read_names(
    """
print printf say if unless else elsif and or not next last while until for foreach my our local split join chomp
length substr uc lc ucfirst lcfirst sprintf sort reverse keys values push pop shift unshift scalar map grep defined
exists delete index rindex int abs eq ne lt gt le ge x cmp BEGIN END undef return each tr y s m qr q qq F ARGV ENV
STDERR STDOUT _ a b eof n t g i e l p hex oct ord pos quotemeta ARGVOUT wantarray lines
"""
)


def take_perl(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:  # noqa: C901 - a branch per option
    """`-pe 's/a/b/'` and its like; whatever else stands in its words is a doubt."""
    codes: list[Word] = []
    at, edits = 1, False
    while at < len(words):
        word = words[at]
        text = word.text
        if not word.is_sure and could_be_flag(word) and (not codes or reader.is_tainted):
            doubt_code(reader, text)
            return
        if text[:1] != "-" or text == "-":
            break
        at += 1
        letter = next((each for each in text[1:] if each in "eEMmIxCdDiF"), "")
        edits = edits or letter == "i"
        rest = text.partition(letter)[2] if letter else ""
        if letter in ("e", "E"):
            codes.append(Word(rest) if rest else words[at] if at < len(words) else Word(""))
            at += not rest
        elif letter in ("i", "F") or (letter in ("M", "m") and text[2:] in ("strict", "warnings", "utf8", "JSON::PP")):
            continue
        elif letter or text.startswith("--"):
            doubt_code(reader, text)
            return
        elif text in ("-v", "-V", "-h"):
            return
    for word in words[at:] if codes and edits else ():
        reader.note_file(Word(word.text, word.kind), "write", edit=" ".join(code.text for code in codes))
    # A file's name with a pipe in it is a command to Perl.
    piped = any("|" in each.text for each in words[at:])
    if codes and (piped or not all(word.is_sure and is_harmless_perl(word.text) for word in codes)):
        doubt_code(reader, " ".join(each.text for each in words))
    if not codes and at < len(words) and words[at].text != "-":
        run_file(reader, words[at], stdin, "perl", words[at + 1 :])
    elif not codes:
        take_input(reader, stdin, doubt_code)


def is_harmless_perl(code: str) -> bool:
    """Whether a line of Perl only matches, replaces and prints: each name in it is a known one or a variable."""
    if len(code) > MAX_CODE or any(
        sign in code for sign in ("`", "@{", "${", "(?{", "(??{", "&", "<", "|", "\\x", "::", "->")
    ):
        return False
    bare, good = _strip_perl(code)
    names = "".join(char if char.isalnum() or char in "_$@%" else " " for char in bare).split()
    return good and all(name[0] in "$@%" or name[0].isdigit() or name in _PERL_WORDS for name in names)


def _strip_perl(code: str) -> tuple[str, bool]:
    """Code without its patterns and texts, and whether their flags are harmless."""
    found: list[str] = []
    at, good, last = 0, True, ""
    while at < len(code):
        char = code[at]
        word = len(code[at:]) - len(code[at:].lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"))
        name = code[at : at + word]
        quote = code[at + word : at + word + 1]
        if (
            word
            and last not in ("$", "@", "%")
            and name in ("s", "tr", "y", "m", "qr", "q", "qq")
            and quote
            and not quote.isalnum()
            and quote not in " ,;)="
        ):
            end = _skip_perl(code, at + word, 2 if name in ("s", "tr", "y") else 1)
            flags = end
            while flags < len(code) and code[flags].isalpha():
                flags += 1
            good = good and end > 0 and "e" not in code[end:flags]
            at, last = max(flags, at + 1), "/"
            found.append(" ")
        elif word:
            found.append(name)
            at, last = at + word, name
        elif char in "'\"" or (
            char == "/"
            and (not last or last in "(,{}!~&|;=?" or last in ("if", "unless", "and", "or", "not", "split", "grep"))
        ):
            end = skip_regex(code, at + 1, char)
            while char == "/" and 0 < end < len(code) and code[end].isalpha():
                good = good and code[end] != "e"
                end += 1
            good = good and end > 0
            found.append(" ")
            at, last = (end if end > 0 else len(code)), char
        else:
            found.append(char)
            last = last if char.isspace() else char
            at += 1
    return "".join(found), good


def _skip_perl(code: str, at: int, parts: int) -> int:
    """Past the parts of a replacement; braces and their like are not looked at."""
    quote = code[at]
    if quote in "{([<":
        return -1
    at += 1
    for _ in range(parts):
        at = skip_regex(code, at, quote)
        if at < 0:
            return -1
    return at

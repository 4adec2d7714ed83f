"""Python: `-c CODE`, `-m MODULE`, a file, or code on standard input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint, Run
from remit.policy.bash.commands import could_be_flag
from remit.policy.bash.names import read_names
from remit.policy.bash.programs.inline import MAX_CODE, doubt_code, take_input
from remit.policy.bash.programs.scripts import run_file
from remit.policy.bash.words import Word

if TYPE_CHECKING:
    from remit.policy.bash.reading import Reader, Stdin

_RISKY_MODULES = read_names(
    """
timeit pdb code trace cProfile profile runpy pty asyncio doctest bdb idlelib webbrowser ensurepip zipapp
"""
)


def take_python(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """`-c CODE`, `-m MODULE`, a file, or code on standard input."""
    at = 1
    while at < len(words):
        word = words[at]
        text = word.text
        if not word.is_sure and could_be_flag(word):
            doubt_code(reader, text)
            return
        if text == "-" or text[:1] != "-":
            break
        at += 1
        if text == "-i":
            reader.note_typed("an interpreter")
        letter = next((each for each in text[1:] if each in "cmWXQ"), "")
        if text.startswith("--"):
            at += text == "--check-hash-based-pycs"
        elif letter:
            rest = text.partition(letter)[2]
            value = Word(rest, word.kind) if rest else words[at] if at < len(words) else Word("")
            if letter in "cm":
                take = _take_python_code if letter == "c" else _take_module
                take(reader, value, words[at + (not rest) :])
                return
            at += not rest
    if at < len(words) and words[at].text != "-":
        run_file(reader, words[at], stdin, "python", words[at + 1 :])
    elif not (at == len(words) and any(word.text in ("-V", "--version", "-VV", "-h", "--help") for word in words)):
        take_input(reader, stdin, judge_python)


def _take_python_code(reader: Reader, code: Word, _rest: list[Word]) -> None:
    if code.is_sure:
        judge_python(reader, code.text)
    else:
        doubt_code(reader, code.text)


def _take_module(reader: Reader, module: Word, rest: list[Word]) -> None:
    """A module is a program; one that runs what it is given is not looked through."""
    operands = [word for word in rest if word.text[:1] != "-"]
    if module.text == "timeit" and operands and all(word.is_sure for word in rest):
        for word in operands:
            judge_python(reader, word.text)
        return
    if module.text in ("cProfile", "profile", "trace") and operands and "-m" not in [word.text for word in rest]:
        run_file(reader, operands[-1], None, "python")
        return
    if module.text in ("pdb", "code", "asyncio", "idlelib"):
        reader.note_typed(module.text)
    if not module.is_sure or module.text.partition(".")[0] in _RISKY_MODULES:
        doubt_code(reader, " ".join(word.text for word in (module, *rest)))
        return
    reader.add(Run((module, *rest), passes_on=True))
    if module.text == "coverage" and rest and rest[0].text == "run":
        reader.add(Hint(" ".join(word.text for word in rest)))


def judge_python(reader: Reader, text: str) -> None:
    """Take note of what Python code would do."""
    from remit.policy.bash.programs.python_code import look_through  # noqa: PLC0415 - only inline code pays for a parser

    reader.codes.append(text)
    if len(text) > MAX_CODE or not look_through(reader, text):
        doubt_code(reader, text)

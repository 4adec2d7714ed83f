"""Shells: shells with their scripts, and the shell's own words that run, set or change something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint
from remit.policy.bash.commands import base_name, could_be_flag
from remit.policy.bash.programs.scripts import OTHER_SHELLS, join, read_stdin, read_text, run_file
from remit.policy.bash.programs.wrappers import take_wrapper
from remit.policy.bash.shell import EVALUATED
from remit.policy.bash.words import ONE, SPLIT, Word

if TYPE_CHECKING:
    from remit.policy.bash.reading import Handler, Reader, Stdin

RECALLED = "a shell may put what was said before in the place of a line"


def _take_shell(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:  # noqa: C901 - a branch per option
    """`bash -c TEXT`, `bash FILE`, and a shell that reads its commands from what it is given."""
    name = base_name(words[0].text)
    command, recalls, at = False, any(word.text in ("history", "histexpand") for word in words), 1
    while at < len(words):
        word = words[at]
        text = word.text
        if not word.is_sure and could_be_flag(word):
            reader.doubt("a shell gets options that are not written out")
            return
        if text in ("--", "-"):
            at += 1
            break
        if text[:1] not in ("-", "+") or len(text) == 1:
            break
        if text.startswith("--"):
            at += 2 if text in ("--rcfile", "--init-file") else 1
            if text.startswith(("--rcf", "--init", "--command", "--c")):
                reader.doubt("a shell reads commands from somewhere else")
            continue
        command = command or "c" in text
        recalls = recalls or (text[0] == "-" and bool(set("iH") & set(text)))
        if "n" in text[1:] and text[0] == "-" and not any(each.text.startswith("+") for each in words):
            return
        if "s" in text[1:]:
            read_stdin(reader, stdin)
        at += 2 if text[-1] in "oO" else 1
    if recalls and not command:
        reader.note_typed(name)
        reader.doubt(RECALLED)
    if command:
        read_text(reader, words[at] if at < len(words) else None, name)
    elif at < len(words):
        run_file(reader, words[at], stdin, rest=words[at + 1 :])
    else:
        read_stdin(reader, stdin)


def _take_eval(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    rest = words[2:] if words[1:2] and words[1].text == "--" else words[1:]
    if all(word.is_sure for word in rest):
        reader.read(" ".join(word.text for word in rest))
    else:
        reader.doubt("the text that is evaluated is not written out")
        reader.add(Hint(join(rest)))
    reader.spoil_all()


def _take_source(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    rest = words[2:] if words[1:2] and words[1].text == "--" else words[1:]
    if rest:
        run_file(reader, rest[0], stdin, rest=rest[1:])
    reader.spoil_all()
    reader.functions.clear()


def _take_exec(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    take_wrapper(reader, words, "a:", 0, stdin=stdin)


def _take_command(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """`command -v x` only looks; `command x` runs it."""
    if words[1:] and words[1].is_sure and words[1].text[:1] == "-" and set(words[1].text) & {"v", "V"}:
        return
    take_wrapper(reader, words, "", 0, stdin=stdin)


def _take_trap(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    rest = [word for word in words[1:] if not (word.is_sure and word.text in ("--", "-p", "-l", "-lp"))]
    if len(rest) < 2:  # noqa: PLR2004 - a command and at least one signal
        return
    if not rest[0].is_sure:
        reader.doubt("the text of a trap is not written out")
    elif rest[0].text != "-":
        reader.read(rest[0].text)


DECLARING = frozenset({"export", "declare", "typeset", "readonly", "local"})


def _take_naming(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """`read`, `printf -v` and their like set variables, and evaluate a subscript in their names."""
    name = words[0].text
    if name == "printf" and not any(word.text.startswith("-v") for word in words[1:3]):
        if any(not word.is_sure and word.kind == SPLIT for word in words[1:2]):
            reader.spoil_all()
        return
    if any("$(" in word.text or "`" in word.text for word in words[1:]):
        reader.doubt(EVALUATED)
    nameref = name in DECLARING and any(word.text[:1] == "-" and "n" in word.text for word in words[1:])
    if nameref:
        reader.spoil_all()
    if name not in DECLARING or any(word.text[:1] in "-+" for word in words[1:]):
        reader.spoil(words[1:])
    if name in ("mapfile", "readarray"):
        _take_callback(reader, words, "C")


def _take_callback(reader: Reader, words: list[Word], letters: str) -> None:
    """An option of a shell's own word that is a command."""
    for at, word in enumerate(words[1:], 1):
        if word.text[:1] == "-" and set(word.text[1:]) & set(letters):
            reader.add(Hint(join(words[at:])))
            reader.doubt(f"'{words[0].text}' is given a command")


def _take_completion(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    _take_callback(reader, words, {"bind": "xf", "compgen": "CWF"}.get(words[0].text, "CWFA"))


def _take_jobs(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    if words[1:] and words[1].text.startswith("-x"):
        reader.run(words[2:], None)


def _take_alias(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """What it stands for is judged at once; a command that uses it is a doubt."""
    for word in words[1:]:
        name, equals, text = word.text.partition("=")
        if not word.is_sure or text.endswith((" ", "\t")):
            reader.doubt("an alias gives words another meaning")
        elif equals:
            reader.aliases.add(name)
            reader.read(text)


def _take_hash(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    if any(not word.is_sure or (word.text[:1] == "-" and "p" in word.text) for word in words[1:]):
        reader.doubt("a name is bound to another program")


def _take_enable(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    if len(words) > 1:
        reader.doubt("the shell's own words are changed")


def _take_test(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    if any("$(" in word.text or "`" in word.text for word in words[1:]):
        reader.doubt(EVALUATED)


def _take_set(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """Positional parameters are holes anyway; aliases in scripts are another matter, and so are lines from before."""
    texts = [word.text for word in words[1:]]
    given = texts[: texts.index("--")] if "--" in texts else texts
    if any(text in ("history", "histexpand") or (text[:1] == "-" and "H" in text) for text in given):
        reader.doubt(RECALLED)
    if any("expand_aliases" in word.text or not word.is_sure for word in words[1:] if words[0].text == "shopt"):
        reader.doubt("an alias gives words another meaning")


def _take_cd(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    if words[0].text == "popd":
        reader.change_folder(None)
        return
    rest = [word for word in words[1:] if not (word.is_sure and word.text in ("-P", "-L", "-e", "-@", "--", "-n"))]
    if not rest:
        reader.change_folder(Word(reader.ground.home) if words[0].text == "cd" else None)
    elif rest[0].text == "-" or rest[0].text[:1] in "+-" or rest[0].kind != ONE:
        reader.change_folder(None)
    else:
        reader.change_folder(rest[0])


def _take_coproc(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    if any(word.text in ("{", "(", "while", "for", "if", "until", "case") for word in words[1:3]):
        reader.doubt("part of it is read in two ways", always=True)
    reader.run(words[1:], stdin)


_SHELLS = ("bash", "sh", "dash", "zsh", "ksh", "ash", "mksh", "yash", "rbash", "ksh93", "lksh", "posh", *OTHER_SHELLS)
_NAMING = ("read", "printf", "mapfile", "readarray", "getopts", "unset", "let", "wait")
HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(_SHELLS, _take_shell),
    "eval": _take_eval, "source": _take_source, ".": _take_source, "exec": _take_exec, "command": _take_command,
    "builtin": _take_exec, "trap": _take_trap, "alias": _take_alias, "hash": _take_hash, "enable": _take_enable,
    "shopt": _take_set, "set": _take_set, "test": _take_test, "[": _take_test, "cd": _take_cd, "pushd": _take_cd,
    "popd": _take_cd, "coproc": _take_coproc, "jobs": _take_jobs,
    **dict.fromkeys((*_NAMING, *DECLARING), _take_naming),
    **dict.fromkeys(("complete", "compgen", "compopt", "bind"), _take_completion),
}  # fmt: skip

"""Wrappers: programs that start what follows their options, or what they are given as a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash import names
from remit.policy.bash.acts import Hint
from remit.policy.bash.commands import base_name, could_be_flag
from remit.policy.bash.names import read_names
from remit.policy.bash.options import parse_options
from remit.policy.bash.programs.scripts import NOT_WRITTEN_OUT, join, read_stdin, read_text
from remit.policy.bash.programs.variables import check_variable
from remit.policy.bash.shell import SHELL_FED
from remit.policy.bash.words import HOLE, SPLIT, Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.bash.reading import Handler, Reader, Stdin


def take_wrapper(reader: Reader, words: list[Word], spec: str, skip: int, *, stdin: Stdin | None = None) -> None:
    """A program that starts what follows its options."""
    found = parse_options(words[1:], spec)
    if not found.is_certain or base_name(words[0].text) not in names.CLEAR:
        reader.add(Hint(join(words[1:])))
    if found.is_doubtful:
        reader.doubt("what comes before a program's name is not written out")
        return
    for option, given in found.options:
        if option in ("-o", "--output", "-O", "--log-file"):
            reader.note_file(Word(given.text), "write")
    rest = found.operands
    for word in rest[:skip]:
        if word.kind == SPLIT:
            reader.doubt("what comes before a program's name is not written out")
            return
    if skip and base_name(words[0].text) == "setarch" and rest:
        reader.run(list(rest), stdin)  # it may be told which machine to be, or not
    rest = rest[skip:]
    while rest and rest[0].is_sure and _is_assignment(rest[0].text):
        name, _, value = rest[0].text.partition("=")
        check_variable(reader, name, Word(value))
        rest = rest[1:]
    _run_rest(reader, words, rest[1:] if rest and rest[0].text == "--" else rest, stdin)


def _run_rest(reader: Reader, words: list[Word], rest: Sequence[Word], stdin: Stdin | None) -> None:
    if rest:
        reader.run(list(rest), stdin)
    elif base_name(words[0].text) in _SHELL_BY_DEFAULT:
        read_stdin(reader, stdin)


_SHELL_BY_DEFAULT = read_names("unshare nsenter chroot setarch linux32 linux64 i386 x86_64 fakeroot firejail")
"""Wrappers that start a shell where nothing is said."""


def _is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.isidentifier()


def _take_env(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """`env -i A=b x`; `-S` takes a text apart."""
    rest = list(words[1:])
    _note_pager(reader, rest)
    while rest:
        word = rest[0]
        text = word.text
        if not word.is_sure and (word.kind == SPLIT or could_be_flag(word)) and "=" not in text.partition(HOLE)[0]:
            reader.doubt(NOT_WRITTEN_OUT)
            return
        name, equals, value = text.partition("=")
        if text in ("-u", "--unset", "-C", "--chdir"):
            if text in ("-C", "--chdir"):
                reader.change_folder(rest[1] if len(rest) > 1 else None)
            rest = rest[2:]
        elif text[:2] == "-S" or text.startswith("--s") or (text[:1] == "-" and text[1:2] != "-" and "S" in text):
            _split_string(reader, rest, stdin)
            return
        elif text[:1] == "-":
            if text.startswith(("-C", "--ch")):
                reader.change_folder(None)
            rest = rest[1:]
        elif equals and not text.startswith("/"):
            check_variable(reader, name, Word(value))
            rest = rest[1:]
        else:
            break
    if rest:
        reader.run(rest, stdin)


def _note_pager(reader: Reader, words: Sequence[Word]) -> None:
    """A harness tells programs by their environment to ask nobody; without that, they open a pager."""
    bare = any(word.text in ("-i", "-", "--ignore-environment") or "PAGER" in word.text for word in words)
    if bare and any(word.text in ("git", "man", "gh", "systemctl", "journalctl") for word in words):
        reader.note_typed("a pager")


def _split_string(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    text = words[0].text
    value = text.partition("=")[2] if text.startswith("--") and "=" in text else text.partition("S")[2]
    rest = words[1:]
    if (text.startswith("--") and "=" not in text) or not value:
        value, rest = (rest[0].text, rest[1:]) if rest else ("", [])
    if any(char in value for char in "\\'\"$#" + HOLE):
        reader.doubt("a text that is taken apart is not plain")
        reader.add(Hint(value.replace(HOLE, " ")))
        return
    reader.run([Word("env"), *(Word(part) for part in value.split()), *rest], stdin)


def _take_sudo(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    spec = (
        "u: g: h: p: C: r: t: T: D: R: U: a: c: --user: --group: --host: --prompt: --close-from: --role: --type: "
        "--command-timeout: --chdir: --chroot: --other-user:"
    )
    take_wrapper(reader, words, spec, 0, stdin=stdin)
    letters = "".join(word.text[1:] for word in words[1:] if word.text[:1] == "-" and word.text[1:2] != "-")
    if set("is") & set(letters) and not parse_options(words[1:], spec).operands:
        read_stdin(reader, stdin)


def _take_su(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """`su -c TEXT`, `runuser -u NAME -- x`; without either, a shell."""
    given = False
    for at, word in enumerate(words[1:], 1):
        text = word.text
        if not word.is_sure and could_be_flag(word):
            reader.doubt("a shell gets options that are not written out")
        if text in ("-c", "--command", "--session-command") or (
            text[:1] == "-" and text[1:2] != "-" and text.endswith("c")
        ):
            read_text(reader, words[at + 1] if at + 1 < len(words) else None, "sh")
            given = True
        elif text.startswith(("--command=", "--session-command=")):
            read_text(reader, Word(text.partition("=")[2], word.kind), "sh")
            given = True
        elif text.startswith("-c"):
            read_text(reader, Word(text[2:], word.kind), "sh")
            given = True
    if base_name(words[0].text) == "runuser" and any(word.text.startswith(("-u", "--user")) for word in words):
        take_wrapper(
            reader, words, "u: g: G: s: w: --user: --group: --supp-group: --shell: --whitelist-environment:", 0
        )
    elif not given:
        read_stdin(reader, stdin)
        reader.add(Hint(join(words[1:])))


def _take_xargs(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    spec = (
        "E: I: L: n: P: s: d: a: J: R: --arg-file: --delimiter: --max-args: --max-procs: --max-chars: "
        "--process-slot-var: --replace= --max-lines= --eof="
    )
    found = parse_options(words[1:], spec)
    if found.is_doubtful:
        reader.doubt("what comes before a program's name is not written out")
        return
    mark = next((value.text for name, value in found.options if name in ("-I", "--replace", "-J")), "")
    if any(name in ("-i", "--replace") for name, _ in found.options):
        mark = mark or "{}"
    if not found.is_certain:
        reader.add(Hint(join(words[1:])))
    if mark:
        inner = [Word(word.text.replace(mark, HOLE), word.kind) for word in found.operands]
    else:
        inner = [*found.operands, Word(HOLE, SPLIT)] if found.operands else []
    if inner:
        reader.run(inner, None)


def _take_find(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """Each `-exec`; a name that `find` puts in begins with where it began."""
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        if not word.is_sure and could_be_flag(word) and (reader.is_tainted or word.text.startswith("-")):
            reader.doubt("what `find` does is not written out")
        if word.text in ("-fprint", "-fprintf", "-fls", "-fprint0") and at < len(words):
            reader.note_file(Word(words[at].text), "write")
        if word.text not in ("-exec", "-execdir", "-ok", "-okdir"):
            continue
        end = at
        while end < len(words) and words[end].text not in (";", "+"):
            end += 1
        inner = [
            Word(each.text.replace("{}", "./" + HOLE if each.text == "{}" else HOLE), each.kind)
            for each in words[at:end]
        ]
        if words[at:end] and "{}" in words[at].text:
            reader.doubt(NOT_WRITTEN_OUT)
        elif inner:
            reader.run(inner, None)
        at = end + 1


def _take_script(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """`script -c TEXT`; without it, a shell."""
    found = parse_options(words[1:], "c: E: I: O: B: T: m: o: t: --command:", permute=True)
    texts = [value for name, value in found.options if name in ("-c", "--command")]
    for text in texts:
        read_text(reader, text, "sh")
    if not texts:
        reader.note_typed("script", always=True)
        reader.doubt(SHELL_FED)


def _take_flock(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    found = parse_options(words[1:], "c: w: E: --command: --timeout: --wait: --conflict-exit-code:", permute=False)
    rest = list(found.operands)[1:]
    if rest and rest[0].text in ("-c", "--command") and len(rest) > 1:
        read_text(reader, rest[1], "sh")
    elif rest:
        reader.run(rest, None)
    for name, value in found.options:
        if name in ("-c", "--command"):
            read_text(reader, value, "sh")


def _take_watch(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """Its words are one text for a shell."""
    found = parse_options(words[1:], "n: q: --interval: --equexit:")
    rest = found.operands
    if any(not word.is_sure for word in rest) or found.is_doubtful:
        reader.doubt("the text of a script is not written out")
    reader.read(" ".join(word.text.replace(HOLE, "") for word in rest))


def _take_parallel(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """GNU parallel makes a text for a shell of what it reads."""
    rest = [word for word in words[1:] if word.text not in (":::", "::::", ":::+")]
    at = next((number for number, word in enumerate(words) if word.text.startswith((":::", "::::"))), len(words))
    found = parse_options(
        words[1:at], "j: S: a: --jobs: --sshlogin: --arg-file: --colsep: --delay: --joblog: --results: --timeout: -N:"
    )
    reader.add(Hint(join(rest)))
    inner = [Word(word.text.replace("{}", HOLE), word.kind) for word in found.operands]
    if not inner or found.is_doubtful:
        reader.doubt("the commands for `parallel` come from somewhere else")
    elif len(inner) == 1 and inner[0].is_sure:
        reader.read(inner[0].text)
    elif " " in inner[0].text or not inner[0].is_sure:
        reader.doubt("the text of a script is not written out")
    else:
        reader.run([*inner, Word(HOLE, SPLIT)], None)


HANDLERS: dict[str, Handler] = {
    "env": _take_env, "sudo": _take_sudo, "su": _take_su, "runuser": _take_su, "sg": _take_su, "newgrp": _take_su,
    "xargs": _take_xargs, "find": _take_find, "script": _take_script, "flock": _take_flock, "watch": _take_watch,
    "parallel": _take_parallel,
}  # fmt: skip

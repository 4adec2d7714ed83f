"""Files: what known programs read and write of what they name.

Owns the table of readers and writers. A program that is not in it may write anywhere: that is for the sandbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint
from remit.policy.bash.commands import base_name
from remit.policy.bash.options import parse_options
from remit.policy.bash.tools import find_command
from remit.policy.bash.words import HOLE, Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.bash.reading import Reader

_ALL, _LAST, _ALL_BELOW = "all", "last", "below"
_WRITERS: dict[str, tuple[str, str]] = {
    "tee": (_ALL, "--output-error="), "touch": (_ALL, "d: r: t: --date: --reference:"), "truncate": (_ALL, "s: r: --size: --reference:"),
    "mkdir": ("", ""), "rm": (_ALL_BELOW, ""), "rmdir": (_ALL_BELOW, ""), "unlink": (_ALL, ""), "shred": (_ALL, "n: s: --iterations: --size:"),
    "mv": (_ALL_BELOW, "t: S: --target-directory: --suffix:"), "cp": (_LAST, "t: S: --target-directory: --suffix:"),
    "ln": (_LAST, "t: S: --target-directory: --suffix:"), "install": (_LAST, "t: g: m: o: S: --target-directory: --group: --mode: --owner:"),
    "rsync": (_LAST, "e: f: --rsh: --exclude: --include: --filter: --exclude-from:"), "link": (_LAST, ""),
    "chmod": (_ALL_BELOW, "--reference:"), "chown": (_ALL_BELOW, "--reference: --from:"), "chgrp": (_ALL_BELOW, "--reference:"),
    "chattr": (_ALL, ""), "setfacl": (_ALL, "m: x: M: X:"), "patch": (_ALL, "i: p: d: o: r: F: D: --input: --strip: --directory: --output:"),
    "sponge": (_ALL, ""), "mkfifo": (_ALL, "m:"), "dos2unix": (_ALL, ""), "unix2dos": (_ALL, ""), "gzip": (_ALL, "S:"), "gunzip": (_ALL, "S:"),
    "rename": (_ALL, ""), "prename": (_ALL, ""), "rn": (_ALL, ""), "split": (_LAST, "a: b: C: l: n: --filter: --bytes: --lines:"), "trash": (_ALL_BELOW, ""),
    "sed": ("", ""), "dd": ("", ""), "tar": ("", ""), "unzip": ("", ""), "git": ("", ""), "curl": ("", ""), "wget": ("", ""), "sort": ("", ""), "zip": ("", ""),
    "scp": (_LAST, "c: D: F: i: J: l: o: P: S: X:"),
}  # fmt: skip
"""Which operands a program writes, and its options that take a value."""
_READERS = frozenset(
    "cat tac head tail wc nl od hexdump xxd strings less more cut paste comm uniq fold fmt rev sort diff cmp base64 grep "
    "egrep fgrep rg awk sed jq yq bat md5sum sha256sum sha1sum file stat cp source . tee".split()
)
_COPIERS = frozenset({"cp", "mv", "ln", "install", "link", "cat", "dd", "rsync", "tee"})


def find_touched(reader: Reader, name: str, words: Sequence[Word]) -> None:
    """Take note of the files that a command writes and reads."""
    if name in _COPIERS:
        programs = [word.text for word in words[1:] if "/" in word.text or name in ("cp", "mv", "ln", "install", "link")]
        reader.add(Hint(" ".join(programs).replace(HOLE, " ")))
    if name in _READERS:
        _take_readers(reader, name, words)
    known = _WRITERS.get(name)
    if known is None:
        return
    which, spec = known
    found = parse_options(words[1:], spec, permute=True)
    operands = list(found.operands)
    if name in ("chmod", "chown", "chgrp", "chattr", "rename", "prename"):
        operands = operands[1:]
    targets = [value for option, value in found.options if option in ("-t", "--target-directory", "-o", "--output")] if spec else []
    if which == _LAST:
        operands = [] if targets else operands[-1:]
    for word in (*operands, *targets) if which else ():
        reader.touch(Word(word.text), "write", below=which == _ALL_BELOW or (name == "ln"))
    _take_special(reader, name, words)


def _take_readers(reader: Reader, name: str, words: Sequence[Word]) -> None:
    operands = [word for word in words[1:] if word.text[:1] != "-"]
    if name in ("grep", "egrep", "fgrep", "rg", "awk", "sed", "jq", "yq") and operands:
        operands = operands[1:]
    if name == "cp":
        operands = operands[:-1]
    for word in operands:
        reader.touch(Word(word.text), "read")


def _take_special(reader: Reader, name: str, words: Sequence[Word]) -> None:
    texts = [word.text for word in words[1:]]
    if name == "dd":
        for text in texts:
            if text.startswith("of="):
                reader.touch(Word(text[3:]), "write")
            elif text.startswith("if="):
                reader.touch(Word(text[3:]), "read")
    elif name == "sed":
        _take_sed(reader, words)
    elif name in ("curl", "wget", "sort"):
        spec = {"curl": "o: --output: D: --dump-header: c: --cookie-jar: --trace:", "wget": "O: o: a: P: --output-document: --output-file: --append-output: --directory-prefix:", "sort": "o: --output: k: t: S: T:"}[name]
        for option, value in parse_options(words[1:], spec, permute=True).options:
            if f"{option.lstrip('-') if option[1] != '-' else option}:" in spec.split() and option not in ("-k", "-t", "-S", "-T"):
                reader.touch(value._replace(kind=0), "write")
    elif name == "tar":
        _take_tar(reader, words)
    elif name == "unzip":
        for option, value in parse_options(words[1:], "d: x: P:", permute=True).options:
            if option == "-d":
                reader.touch(value._replace(kind=0), "write")
    elif name == "zip":
        operands = [word for word in words[1:] if word.text[:1] != "-"]
        for word in operands[:1]:
            reader.touch(Word(word.text), "write")
    elif name == "git":
        _take_git(reader, words)


def _take_sed(reader: Reader, words: Sequence[Word]) -> None:
    if not any(word.text.startswith(("-i", "--in-place")) or (word.text[:1] == "-" and word.text[1:2] != "-" and "i" in word.text) for word in words[1:]):
        return
    found = parse_options(words[1:], "e: f: l: --expression: --file: --line-length:", permute=True)
    given = any(option in ("-e", "-f", "--expression", "--file") for option, _ in found.options)
    for word in found.operands[0 if given else 1 :]:
        reader.touch(Word(word.text), "write", edits=True)


def _take_tar(reader: Reader, words: Sequence[Word]) -> None:
    found = parse_options(words[1:], "f: C: T: X: I: --file: --directory: --files-from: --exclude: --exclude-from: --use-compress-program:", permute=True)
    first = words[1].text if len(words) > 1 else ""
    letters = "".join(word.text[1:] for word in words[1:] if word.text[:1] == "-" and word.text[1:2] != "-")
    letters += first if first[:1] != "-" else ""
    extracts = "x" in letters or any(word.text in ("--extract", "--get") for word in words)
    folders = [value for option, value in found.options if option in ("-C", "--directory")]
    archives = [value for option, value in found.options if option in ("-f", "--file")]
    for value in (folders or [Word(".")]) if extracts else archives:
        reader.touch(value._replace(kind=0), "write")


def _take_git(reader: Reader, words: Sequence[Word]) -> None:
    """Files that git puts back, and those that it is told to write."""
    command = find_command(words[1:])
    rest = [word for word in words[1:] if word.text[:1] != "-"]
    for word in words[1:]:
        if word.text.startswith("--output="):
            reader.touch(Word(word.text[9:]), "write")
    at = next((number for number, word in enumerate(rest) if word.text == command), len(rest))
    operands = rest[at + 1 :]
    if command in ("checkout", "restore"):
        dashes = next((number for number, word in enumerate(words) if word.text == "--"), 0)
        operands = list(words[dashes + 1 :]) if dashes else operands if command == "restore" else []
    elif command not in ("rm", "mv"):
        return
    for word in operands:
        reader.touch(Word(word.text), "write", below=command in ("rm", "mv"))


def is_program(text: str) -> bool:
    """Whether a word names a program by its path."""
    return "/" in text and bool(base_name(text))

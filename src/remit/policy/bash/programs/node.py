"""Node: whether a line of JavaScript only computes, reads files, and prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint
from remit.policy.bash.commands import could_be_flag
from remit.policy.bash.names import read_names
from remit.policy.bash.programs.inline import MAX_CODE, UNREAD, doubt_code, take_input
from remit.policy.bash.programs.scripts import run_file
from remit.policy.bash.words import HOLE, Word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.policy.bash.reading import Reader, Stdin

_NODE_WORDS = read_names(
    """
child_process exec execSync spawn spawnSync fork execFile execFileSync eval Function constructor globalThis global
binding _linkedBinding dlopen mainModule Module createRequire vm worker_threads Worker cluster prototype __proto__
Reflect Proxy import with this self root setTimeout setInterval setImmediate Buffer atob btoa fromCharCode
fromCodePoint unescape decodeURIComponent decodeURI inspector repl getBuiltinModule writeFile writeFileSync
appendFile appendFileSync unlink unlinkSync rm rmSync rename renameSync copyFile copyFileSync symlink symlinkSync
link linkSync chmod chmodSync createWriteStream openSync open cp cpSync mkdir kill apply call bind
"""
)
_NODE_MODULES = read_names(
    """
fs path os util url assert crypto querystring node:fs node:path node:os node:util node:url
"""
)


def take_node(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """`-e CODE`, modules that are loaded first, a file, or code on standard input."""
    at = 1
    while at < len(words):
        word = words[at]
        text = word.text
        if not word.is_sure and could_be_flag(word):
            doubt_code(reader, text)
            return
        if text[:1] != "-" or text == "-":
            break
        name, equals, value = text.partition("=")
        short = text[1:2] != "-" and bool(set(text[1:]) & set("ep"))
        if name in ("--eval", "--print") or short:
            code = Word(value) if equals else words[at + 1] if at + 1 < len(words) else Word("")
            if not code.is_sure or not is_harmless_node(code.text):
                doubt_code(reader, code.text)
            return
        if name in ("-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file"):
            loaded = value if equals else words[at + 1].text if at + 1 < len(words) else ""
            if ":" in loaded or HOLE in loaded:
                reader.doubt(UNREAD)
            run_file(reader, Word(loaded), None, "node")
            reader.add(Hint(loaded))
            at += not equals
        if text in ("-v", "--version", "-h", "--help", "--test", "--run", "--check", "-c"):
            return
        at += 1
    if at < len(words) and words[at].text != "-":
        run_file(reader, words[at], stdin, "node", words[at + 1 :])
    else:
        take_input(reader, stdin, lambda here, text: None if is_harmless_node(text) else doubt_code(here, text))


def is_harmless_node(code: str) -> bool:
    """Whether a line of JavaScript only computes, reads files, and prints."""
    if len(code) > MAX_CODE or "\\x" in code or "\\u" in code:
        return False
    names = set(_split_names(code))
    if names & _NODE_WORDS or ("process" in names and not _uses_process_well(code)):
        return False
    for at, char in enumerate(code):
        if char == "[" and code[:at].rstrip()[-1:].isidentifier() | (
            code[:at].rstrip()[-1:] in ("]", ")", '"', "'", "`")
        ):
            inner = code[at + 1 :].partition("]")[0].strip()
            if not inner.isdigit() and not (
                inner[1:-1].isidentifier() and inner[:1] == inner[-1:] and inner[0] in "'\""
            ):
                return False
    return all(_is_harmless_module(part) for part in code.split("require")[1:])


def _uses_process_well(code: str) -> bool:
    good = (
        ".version",
        ".versions",
        ".argv",
        ".env",
        ".exit",
        ".stdout",
        ".stderr",
        ".cwd",
        ".platform",
        ".arch",
        ".memoryUsage",
    )
    return all(part.lstrip().startswith(good) for part in code.split("process")[1:])


def _is_harmless_module(part: str) -> bool:
    part = part.lstrip()
    quote = part[1:2]
    name = part[2:].partition(quote)[0] if part[:1] == "(" and quote in ("'", '"') else ""
    if part[:8] == ".resolve":
        return True
    return name in _NODE_MODULES or (name.startswith((".", "/")) and name.endswith((".json", ".js", ".cjs", "")))


def _split_names(code: str) -> Iterator[str]:
    yield from "".join(char if char.isalnum() or char in "_$" else " " for char in code).split()


def take_mongosh(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """A shell of a database that speaks JavaScript."""
    for at, word in enumerate(words[1:], 1):
        option, equals, value = word.text.partition("=")
        if option == "--eval":
            code = Word(value) if equals else words[at + 1] if at + 1 < len(words) else Word("")
            if not code.is_sure or not is_harmless_node(code.text):
                doubt_code(reader, code.text)
    if stdin is not None or reader.fed:
        take_input(reader, stdin, lambda here, text: None if is_harmless_node(text) else doubt_code(here, text))

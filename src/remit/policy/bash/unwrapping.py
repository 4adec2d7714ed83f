"""Unwrapping: what a simple command starts besides itself.

Owns the way from a command's words to those who know its program, and what is kept of it for later: what it prints,
what it reads from a terminal, where its own path leads. What is known of the programs themselves is in `programs`.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from remit.policy.bash import decoding, files, names
from remit.policy.bash.acts import Hint, Run
from remit.policy.bash.commands import base_name, find_family
from remit.policy.bash.names import read_names
from remit.policy.bash.opened import RUN_OPENED, is_opened
from remit.policy.bash.programs import git, languages, launchers, shells, tools, wrappers
from remit.policy.bash.programs.scripts import NOT_WRITTEN_OUT, join, take_unknown
from remit.policy.bash.programs.shells import DECLARING
from remit.policy.bash.programs.wrappers import take_wrapper
from remit.policy.bash.shell import SUBSCRIPT
from remit.policy.bash.words import HOLE, Word, read_ansi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.bash.reading import Handler, Reader, Stdin


def take_apart(reader: Reader, words: list[Word], stdin: Stdin | None, *, direct: bool) -> None:
    """A command's own start, and those of all that it starts."""
    first = words[0]
    if direct and reader.inside and reader.passes_all and len(words) == 1:
        # A function that runs what it is given: that is looked at where it is called.
        reader.passing.add(reader.inside)
        return
    if not first.is_sure or not first.text:
        reader.doubt(NOT_WRITTEN_OUT)
        reader.add(Hint(" ".join(word.text for word in words)))
        return
    if first.text == "!":
        reader.run(words[1:], stdin)
        return
    if first.text in _RESERVED:
        reader.doubt("part of it is read in two ways", always=True)
    name = base_name(first.text)
    known = _find_known(name)
    _note_terminal(reader, known, words, stdin)
    _note_texts(reader, name, words)
    if direct and name in reader.functions:
        reader.add(Run(tuple(words), passes_on=True))
        reader.add(Hint(join(words[1:])))
        reader.called.append((name, words))
        return
    if name in reader.aliases:
        reader.doubt("an alias gives words another meaning")
    run = Run(tuple(words), name in names.CLEAR, _follow(reader, first.text), reader.cwds)
    reader.add(run)
    reader.underway.append(run)
    is_fed, reader.is_fed = reader.is_fed, reader.is_fed or stdin is not None
    _note_program(reader, first.text)
    _keep_said(reader, name, words, stdin)
    before = set(reader.written)
    if known not in names.PLAIN and known not in _QUIET and (reader.fed or (stdin is not None and not stdin[0])):
        reader.add(Hint(f"{reader.fed} {stdin[1].text if stdin else ''}".replace(HOLE, " ")))
    _take_started(reader, name, known, words, stdin)
    tools.check_options(reader, known, words)
    files.find_touched(reader, known, words, stdin)
    if known not in names.PLAIN or known in names.TESTERS:
        reader.around.append((known, run.words, frozenset(set(reader.written) - before)))
    reader.underway.pop()
    reader.is_fed = is_fed


_PAGERS = read_names("less more most lv view info tig ranger mc nnn vifm lazygit htop top telnet ftp sftp")
"""Programs that take orders from a terminal, whatever they are given besides."""
_READING = read_names("cat tee dd xargs parallel read mapfile readarray")
"""Programs that hand on what is typed where no file is named."""


def _note_terminal(reader: Reader, known: str, words: list[Word], stdin: Stdin | None) -> None:
    """Whether a program waits for somebody to type something: nobody sees then what that is."""
    texts = [word.text for word in words[1:]]
    if known in _PAGERS and not any(text.startswith(("-b", "--ver", "--help", "-V")) for text in texts):
        reader.note_typed(known, always=True)
    elif known in _READING and stdin is None:
        named = any(text[:1] != "-" for text in texts) if known == "cat" else False
        named = named or any(text.startswith(("if=", ":::", "-a", "--arg-file", "-u")) for text in texts)
        if not named:
            reader.note_typed(known)


_DATA = frozenset({"echo", "printf", "set", ":", "true", "false", "read", "export", "declare", "local", "let"})


def _note_texts(reader: Reader, name: str, words: list[Word]) -> None:
    """Words that may become a variable's value; the shell's own words keep them as they are."""
    texts = [word.text for word in words[1:]]
    if name in _DATA or name in reader.functions:
        reader.note_texts(texts)
    elif any(SUBSCRIPT.search(text) for text in texts):
        reader.holds_code = True
    if name == "let" or (name in DECLARING and any(text[:1] == "-" and "i" in text for text in texts)):
        reader.counts = True


def _take_started(reader: Reader, name: str, known: str, words: list[Word], stdin: Stdin | None) -> None:
    """What a program starts, as far as it is known; of one that is not, by principle."""
    handler = _HANDLERS.get(known)
    if handler is not None:
        handler(reader, words, stdin)
        if known != name and find_family(name) != known:
            take_unknown(reader, words)
    elif name.startswith(("ld-linux", "ld.so", "ld-musl")):
        take_wrapper(reader, words, "--library-path: --preload: --audit: --inhibit-cache: --argv0:", 0)
    elif known in names.WRAPPERS:
        count, _, spec = names.WRAPPERS[known].partition(" ")
        take_wrapper(reader, words, spec, int(count), stdin=stdin)
    elif known not in names.PLAIN and not name.startswith("git-"):
        take_unknown(reader, words)
    elif known in names.TESTERS and known not in ("pip", "pip3"):
        reader.add(Hint(join(words[1:])))
        if any(word.text.startswith("/dev/") for word in words[1:]):
            reader.doubt("code is run that cannot be looked at")


def _find_known(name: str) -> str:
    """The name under which a program is known here: `perl5.36-x86_64-linux-gnu` is Perl."""
    if name in _HANDLERS or name in names.PLAIN or name in names.WRAPPERS:
        return name
    family = find_family(name)
    if family in _HANDLERS or family in names.PLAIN or family in names.WRAPPERS:
        return family
    parts = (find_family(name.partition("-")[0]), find_family(name.rpartition("-")[2]))
    if name.startswith(("git-", "ssh-")) or parts[1] in ("config", name):
        return name
    return next((part for part in parts if part in languages.HANDLERS or part in ("gcc", "g++", "cc", "make")), name)


_RESERVED = read_names("if then else elif fi for while until do done case esac in { } [[ ]] function select")
"""Words that are no programs where bash expects one: the tree took them for such."""


def _keep_said(reader: Reader, name: str, words: list[Word], stdin: Stdin | None) -> None:
    """What a command prints, where it is told to in so many words."""
    rest = words[1:]
    if name == "echo":
        reader.said.append(_echo(reader, rest))
    elif name == "printf" and not (rest and rest[0].text.startswith("-v")):
        text = _format(rest)
        reader.said.append(" ".join([HOLE, *(word.text for word in rest)]) if text is None else text)
    elif name == "cat" and stdin is not None and not stdin[0] and all(word.text == "-" for word in rest):
        reader.said.append(stdin[1].text)
    elif name in ("yes", "seq", "expr"):
        reader.said.append(HOLE + join(rest))
    elif stdin is not None and not stdin[0] and name not in ("read", "mapfile", "readarray"):
        reader.said.append(HOLE + stdin[1].text)
    if name in decoding.DECODERS:
        given = stdin[1].text if stdin is not None and not stdin[0] else reader.fed
        reader.said += decoding.decode(name, [word.text for word in rest], given)
    if name in ("read", "mapfile", "readarray") and (reader.fed or stdin is not None):
        reader.is_tainted = reader.is_tainted or bool(reader.fed.strip()) or (stdin is not None and not stdin[0])


def _echo(reader: Reader, words: Sequence[Word]) -> str:
    """What `echo` prints; with `-e` it undoes escapes."""
    texts = [word.text for word in words]
    if not (texts and texts[0][:1] == "-" and "e" in texts[0]) or not any("\\" in text for text in texts):
        return " ".join(texts) + "\n"
    reader.add(Hint(join(words)))
    text = read_ansi(" ".join(texts[1:]))
    return HOLE if text is None else f"{HOLE}{text}\n"


def _format(words: Sequence[Word]) -> str | None:
    """What `printf` prints, where it only puts words in the places of others."""
    text = read_ansi(words[0].text) if words and all(word.is_sure for word in words) else None
    if text is None or text.count("%") != words[0].text.count("%"):  # a sign that an escape makes is only printed
        return None
    if "%" in text.replace("%s", "") or text.count("%s") != len(words) - 1:
        return None
    parts = text.split("%s")
    return parts[0] + "".join(word.text + part for word, part in zip(words[1:], parts[1:], strict=True))


def _follow(reader: Reader, text: str) -> tuple[str, ...]:
    """Where a program's own path leads."""
    places = [posixpath.join(cwd, text) for cwd in reader.cwds or ()] if "/" in text else []
    if "/" not in text:
        known = text in names.PLAIN or text in names.WRAPPERS or text in _HANDLERS
        places = [f"{folder}/{text}" for folder in (*reader.folders, *(() if known else ("/usr/bin", "/bin")))]
    try:
        ends = {base_name(reader.ground.resolve(place)) for place in places}
    except (OSError, ValueError):
        return ()
    return tuple(sorted(ends - {base_name(text)}))


def _note_program(reader: Reader, text: str) -> None:
    """A program that is named by its path, or looked for where the script says."""
    if "/" in text:
        reader.note_run(Word(text), "")
        if is_opened(reader, text):
            reader.doubt(RUN_OPENED)
    elif text not in names.CLEAR:
        reader.bare = True


_QUIET = frozenset({"git", "gh", "npm", "docker", "kubectl", "python", "node", "awk", "sed", "find", "make", "ssh"})
"""Programs that know what they read on standard input; where they run it, that is seen to elsewhere."""
_HANDLERS: dict[str, Handler] = {
    **shells.HANDLERS,
    **wrappers.HANDLERS,
    **languages.HANDLERS,
    **git.HANDLERS,
    **launchers.HANDLERS,
    **tools.HANDLERS,
}

"""Programs: what a simple command starts besides itself.

Owns the unwrapping: shells with their scripts, the shell's own words that run others, wrappers with their options, and
variables that programs take commands from. Tools that have languages of their own are in `tools` and `inline`.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from remit.policy.bash import files, inline, names, tools
from remit.policy.bash.acts import Hint, Run
from remit.policy.bash.commands import base_name, could_be_flag, find_family
from remit.policy.bash.names import read_names
from remit.policy.bash.options import parse_options
from remit.policy.bash.words import GLOB, HOLE, ONE, SPLIT, Word, read_ansi

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.policy.bash.reading import Reader, Stdin

MAX_FOLDERS = 20
NOT_WRITTEN_OUT = "the name of a program is not written out"


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
    if direct and name in reader.functions:
        reader.add(Run(tuple(words), passes_on=True))
        reader.add(Hint(_join(words[1:])))
        reader.called.append((name, words))
        return
    if name in reader.aliases:
        reader.doubt("an alias gives words another meaning")
    run = Run(tuple(words), name in names.CLEAR, _follow(reader, first.text))
    reader.add(run)
    reader.underway.append(run)
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


def _take_started(reader: Reader, name: str, known: str, words: list[Word], stdin: Stdin | None) -> None:
    """What a program starts, as far as it is known; of one that is not, by principle."""
    handler = _HANDLERS.get(known)
    if handler is not None:
        handler(reader, words, stdin)
        if known != name and find_family(name) != known:
            take_unknown(reader, words)
    elif name.startswith(("ld-linux", "ld.so", "ld-musl")):
        _take_wrapper(reader, words, "--library-path: --preload: --audit: --inhibit-cache: --argv0:", 0)
    elif known in names.WRAPPERS:
        count, _, spec = names.WRAPPERS[known].partition(" ")
        _take_wrapper(reader, words, spec, int(count))
    elif known not in names.PLAIN and not name.startswith("git-"):
        take_unknown(reader, words)
    elif known in names.TESTERS and known not in ("pip", "pip3"):
        reader.add(Hint(_join(words[1:])))
        if any(word.text.startswith("/dev/") for word in words[1:]):
            reader.doubt("code is run that cannot be looked at")


_GIVING = frozenset({"-e", "-c", "-E", "-x", "--eval", "--exec", "--execute", "--command", "--run", "--expr"})


def take_unknown(reader: Reader, words: list[Word]) -> None:
    """A program of which nothing is known: its words may be a command, a text for a shell, or code."""
    reader.add(Hint(_join(words[1:])))
    for word in words[1:]:
        if not word.is_sure and (reader.is_tainted or (word.kind == GLOB and _is_among_programs(reader, word.text))):
            reader.doubt("a program that may start others gets words that are not written out")
    for at, word in enumerate(words[1:], 1):
        following = words[at + 1].text if at + 1 < len(words) else ""
        option, _, value = word.text.partition("=")
        if option in _GIVING and any(char in (value or following) for char in "(){};`!|&"):
            reader.doubt("a program that is not known is given code")
        if word.is_sure and base_name(word.text) in tools.STARTERS:
            reader.run(words[at:], None)
            break


def _is_among_programs(reader: Reader, text: str) -> bool:
    """Whether a glob is one for programs."""
    return "bin/" in text or any(base_name(cwd) in ("bin", "sbin") for cwd in reader.cwds or ("bin",))


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
    return next((part for part in parts if part in inline.HANDLERS or part in ("gcc", "g++", "cc", "make")), name)


_RESERVED = names.read_names("if then else elif fi for while until do done case esac in { } [[ ]] function select")
"""Words that are no programs where bash expects one: the tree took them for such."""


def _keep_said(reader: Reader, name: str, words: list[Word], stdin: Stdin | None) -> None:
    """What a command prints, where it is told to in so many words."""
    rest = words[1:]
    if name == "echo":
        plain = not (rest and rest[0].text[:1] == "-" and "e" in rest[0].text) or not any(
            "\\" in word.text for word in rest
        )
        reader.said.append(" ".join(word.text if plain else HOLE for word in rest) + "\n")
        if not plain:
            reader.add(Hint(_join(rest)))
    elif name == "printf" and not (rest and rest[0].text.startswith("-v")):
        text = read_ansi(rest[0].text) if rest and rest[0].is_sure else None
        exact = text is not None and len(rest) == 1 and "%" not in text
        reader.said.append(text if exact and text is not None else " ".join([HOLE, *(word.text for word in rest)]))
    elif name == "cat" and stdin is not None and not stdin[0] and all(word.text == "-" for word in rest):
        reader.said.append(stdin[1].text)
    elif name in ("yes", "seq", "expr"):
        reader.said.append(HOLE + _join(rest))
    elif stdin is not None and not stdin[0] and name not in ("read", "mapfile", "readarray"):
        reader.said.append(HOLE + stdin[1].text)
    if name in ("read", "mapfile", "readarray") and (reader.fed or stdin is not None):
        reader.is_tainted = reader.is_tainted or bool(reader.fed.strip()) or (stdin is not None and not stdin[0])


def _join(words: Sequence[Word]) -> str:
    return " ".join(word.text.replace(HOLE, " ") for word in words)


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
    elif text not in names.CLEAR:
        reader.bare = True


# --- shells ----------------------------------------------------------------------------------------------------------


def _take_shell(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:  # noqa: C901 - a branch per option
    """`bash -c TEXT`, `bash FILE`, and a shell that reads its commands from what it is given."""
    name = base_name(words[0].text)
    command, at = False, 1
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
        if "n" in text[1:] and text[0] == "-" and not any(each.text.startswith("+") for each in words):
            return
        if "s" in text[1:]:
            read_stdin(reader, stdin)
        at += 2 if text[-1] in "oO" else 1
    if command:
        _read_text(reader, words[at] if at < len(words) else None, name)
    elif at < len(words):
        run_file(reader, words[at], stdin, rest=words[at + 1 :])
    else:
        read_stdin(reader, stdin)


_OTHER_SHELLS = read_names(
    """
fish csh tcsh pwsh powershell xonsh nu elvish rc es
"""
)


def _read_text(reader: Reader, word: Word | None, name: str) -> None:
    if word is None:
        return
    if not word.is_sure:
        reader.doubt("the text of a script is not written out")
        reader.add(Hint(word.text.replace(HOLE, " ")))
    elif name in _OTHER_SHELLS or (name == "zsh" and " =" in f" {word.text}"):
        reader.doubt(f"'{name}' reads a text in a way of its own")
    else:
        kept = reader.cwds
        reader.read(word.text)
        reader.cwds = kept


def read_stdin(reader: Reader, stdin: Stdin | None) -> None:
    """Commands that come in on standard input."""
    if stdin is None:
        reader.doubt("a shell reads its commands from somewhere else")
    elif stdin[0]:
        run_file(reader, stdin[1], None)
    else:
        _read_text(reader, stdin[1], "sh")


def run_file(reader: Reader, word: Word, stdin: Stdin | None, language: str = "sh", rest: Sequence[Word] = ()) -> None:
    """A script in a file: one that was there before is trusted, as every program is."""
    if word.text in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-"):
        if language == "sh":
            read_stdin(reader, stdin)
        else:
            reader.doubt("code is run that cannot be looked at")
    elif word.kind == SPLIT or word.text.startswith((HOLE, "/dev/", "/proc/")):
        reader.doubt("the script to run is not written out")
    else:
        reader.note_run(word, language)
        reader.note_file(Word(word.text), "read")
        if rest:
            # It may start what it is given.
            take_unknown(reader, [word, *rest])


# --- the shell's own words -------------------------------------------------------------------------------------------


def _take_eval(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    rest = words[2:] if words[1:2] and words[1].text == "--" else words[1:]
    if all(word.is_sure for word in rest):
        reader.read(" ".join(word.text for word in rest))
    else:
        reader.doubt("the text that is evaluated is not written out")
        reader.add(Hint(_join(rest)))
    reader.spoil_all()


def _take_source(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    rest = words[2:] if words[1:2] and words[1].text == "--" else words[1:]
    if rest:
        run_file(reader, rest[0], stdin, rest=rest[1:])
    reader.spoil_all()
    reader.functions.clear()


def _take_exec(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    _take_wrapper(reader, words, "a:", 0, stdin=stdin)


def _take_command(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """`command -v x` only looks; `command x` runs it."""
    if words[1:] and words[1].is_sure and words[1].text[:1] == "-" and set(words[1].text) & {"v", "V"}:
        return
    _take_wrapper(reader, words, "", 0, stdin=stdin)


def _take_trap(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    rest = [word for word in words[1:] if not (word.is_sure and word.text in ("--", "-p", "-l", "-lp"))]
    if len(rest) < 2:  # noqa: PLR2004 - a command and at least one signal
        return
    if not rest[0].is_sure:
        reader.doubt("the text of a trap is not written out")
    elif rest[0].text != "-":
        reader.read(rest[0].text)


def _take_naming(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """`read`, `printf -v` and their like set variables, and evaluate a subscript in their names."""
    name = words[0].text
    if name == "printf" and not any(word.text.startswith("-v") for word in words[1:3]):
        if any(not word.is_sure and word.kind == SPLIT for word in words[1:2]):
            reader.spoil_all()
        return
    if any("$(" in word.text or "`" in word.text for word in words[1:]):
        reader.doubt("a text with a substitution in it is evaluated")
    nameref = name in _DECLARING and any(word.text[:1] == "-" and "n" in word.text for word in words[1:])
    if nameref:
        reader.spoil_all()
    if name not in _DECLARING or any(word.text[:1] in "-+" for word in words[1:]):
        reader.spoil(words[1:])
    if name in ("mapfile", "readarray"):
        _take_callback(reader, words, "C")


_DECLARING = frozenset({"export", "declare", "typeset", "readonly", "local"})


def _take_callback(reader: Reader, words: list[Word], letters: str) -> None:
    """An option of a shell's own word that is a command."""
    for at, word in enumerate(words[1:], 1):
        if word.text[:1] == "-" and set(word.text[1:]) & set(letters):
            reader.add(Hint(_join(words[at:])))
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
        reader.doubt("a text with a substitution in it is evaluated")


def _take_set(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """Positional parameters are holes anyway; aliases in scripts are another matter."""
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


# --- wrappers --------------------------------------------------------------------------------------------------------


def _take_wrapper(reader: Reader, words: list[Word], spec: str, skip: int, *, stdin: Stdin | None = None) -> None:
    """A program that starts what follows its options."""
    found = parse_options(words[1:], spec)
    if not found.is_certain or base_name(words[0].text) not in names.CLEAR:
        reader.add(Hint(_join(words[1:])))
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
    rest = rest[1:] if rest and rest[0].text == "--" else rest
    if rest:
        reader.run(list(rest), stdin)


def _is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.isidentifier()


def _take_env(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """`env -i A=b x`; `-S` takes a text apart."""
    rest = list(words[1:])
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
    _take_wrapper(reader, words, spec, 0, stdin=stdin)


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
            _read_text(reader, words[at + 1] if at + 1 < len(words) else None, "sh")
            given = True
        elif text.startswith(("--command=", "--session-command=")):
            _read_text(reader, Word(text.partition("=")[2], word.kind), "sh")
            given = True
        elif text.startswith("-c"):
            _read_text(reader, Word(text[2:], word.kind), "sh")
            given = True
    if base_name(words[0].text) == "runuser" and any(word.text.startswith(("-u", "--user")) for word in words):
        _take_wrapper(
            reader, words, "u: g: G: s: w: --user: --group: --supp-group: --shell: --whitelist-environment:", 0
        )
    elif not given:
        read_stdin(reader, stdin)
        reader.add(Hint(_join(words[1:])))


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
        reader.add(Hint(_join(words[1:])))
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
        _read_text(reader, text, "sh")
    if not texts:
        reader.doubt("a shell reads its commands from somewhere else")


def _take_flock(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    found = parse_options(words[1:], "c: w: E: --command: --timeout: --wait: --conflict-exit-code:", permute=False)
    rest = list(found.operands)[1:]
    if rest and rest[0].text in ("-c", "--command") and len(rest) > 1:
        _read_text(reader, rest[1], "sh")
    elif rest:
        reader.run(rest, None)
    for name, value in found.options:
        if name in ("-c", "--command"):
            _read_text(reader, value, "sh")


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
    reader.add(Hint(_join(rest)))
    inner = [Word(word.text.replace("{}", HOLE), word.kind) for word in found.operands]
    if not inner or found.is_doubtful:
        reader.doubt("the commands for `parallel` come from somewhere else")
    elif len(inner) == 1 and inner[0].is_sure:
        reader.read(inner[0].text)
    elif " " in inner[0].text or not inner[0].is_sure:
        reader.doubt("the text of a script is not written out")
    else:
        reader.run([*inner, Word(HOLE, SPLIT)], None)


# --- variables -------------------------------------------------------------------------------------------------------

_LOADING = read_names(
    """
BASH_ENV ENV PROMPT_COMMAND PS0 PS1 PS4 SHELLOPTS BASHOPTS BASH_ALIASES BASH_CMDS PERL5OPT PERL5DB RUBYOPT
PYTHONSTARTUP PYTHONHOME PYTHONINSPECT LESSOPEN LESSCLOSE GIT_EXEC_PATH GIT_TEMPLATE_DIR MAKEFLAGS GNUMAKEFLAGS
MFLAGS TAR_OPTIONS JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS GCONV_PATH GCC_EXEC_PREFIX COMPILER_PATH ZDOTDIR
EXINIT VIMINIT MYVIMRC INPUTRC TCLLIBPATH PHPRC PHP_INI_SCAN_DIR NODE_REPL_EXTERNAL_MODULE npm_config_script_shell
NPM_CONFIG_SCRIPT_SHELL OPENSSL_CONF LUA_INIT R_PROFILE ERL_AFLAGS ERL_FLAGS ELIXIR_ERL_OPTIONS LESS LESSKEY WGETRC
CURL_HOME XDG_CONFIG_HOME GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_PARAMETERS SSH_AUTH_SOCK_CMD
EMACSLOADPATH GDBHISTFILE CARGO_HOME RUSTC RUSTDOC CDPATH MANOPT POSIXLY_CORRECT_CMD
"""
)
"""Variables through which programs are made to load or run something."""
_COMMANDS = read_names(
    """
SHELL BROWSER VISUAL EDITOR PAGER CC CXX LD AR AS CPP FC LEX YACC GIT_SSH GIT_EXTERNAL_DIFF
"""
)
_COMMAND_ENDINGS = (
    "_EDITOR", "_PAGER", "PAGER", "_COMMAND", "_SSH", "_RSH", "_WRAPPER", "_RUNNER", "_SHELL", "ASKPASS", "_LINKER",
    "_OPENER", "_HOOK", "_EXEC", "_CMD",
)  # fmt: skip


def check_variable(reader: Reader, name: str, value: Word, *, is_exported: bool = True) -> None:
    """A variable that is set: some are taken for commands, some make programs load code."""
    text = value.text
    if "$(" in text or "`" in text:
        reader.doubt("a variable gets a text with a substitution in it")
    if name in _LOADING or name.startswith(("LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG_", "npm_config_script")):
        reader.doubt(f"'{name}' makes programs run something else")
    elif name == "PATH":
        _check_path(reader, text)
    elif name in _COMMANDS or name.endswith(_COMMAND_ENDINGS):
        if HOLE in text:
            reader.doubt(f"'{name}' names a program that is not written out")
        elif text.strip():
            tools.read_given(reader, text)
            tools.check_editor(reader, name, text)
    elif name == "NODE_OPTIONS":
        if HOLE in text or any(part in text for part in ("-r", "--import", "--loader", "-e", "--eval")):
            reader.doubt(f"'{name}' makes programs run something else")
    elif text and is_exported:
        reader.add(Hint(text.replace(HOLE, " ")))


def _check_path(reader: Reader, text: str) -> None:
    """Where programs are looked for: folders that are named are as good as programs that are."""
    reader.own_path = True
    for part in text.split(":")[:20]:
        if HOLE not in part and part and len(reader.folders) < MAX_FOLDERS:
            found = [posixpath.join(cwd, part) for cwd in reader.cwds or ("",)]
            reader.folders += [folder for folder in found if folder not in reader.folders]
        if HOLE in part and part != HOLE:
            reader.doubt("where programs are looked for is not written out")
    if text.startswith((".", ":")) or "::" in text:
        reader.doubt("programs are looked for in the folder that the shell is in")


_QUIET = frozenset({"git", "gh", "npm", "docker", "kubectl", "python", "node", "awk", "sed", "find", "make", "ssh"})
"""Programs that know what they read on standard input; where they run it, that is seen to elsewhere."""
_SHELLS = ("bash", "sh", "dash", "zsh", "ksh", "ash", "mksh", "yash", "rbash", "ksh93", "lksh", "posh", *_OTHER_SHELLS)
_NAMING = ("read", "printf", "mapfile", "readarray", "getopts", "unset", "let", "wait")
_HANDLERS: dict[str, Callable[[Reader, list[Word], Stdin | None], None]] = {
    **dict.fromkeys(_SHELLS, _take_shell),
    "eval": _take_eval, "source": _take_source, ".": _take_source, "exec": _take_exec, "command": _take_command,
    "builtin": _take_exec, "trap": _take_trap, "alias": _take_alias, "hash": _take_hash, "enable": _take_enable,
    "shopt": _take_set, "test": _take_test, "[": _take_test, "cd": _take_cd, "pushd": _take_cd, "popd": _take_cd,
    "coproc": _take_coproc, "jobs": _take_jobs,
    **dict.fromkeys((*_NAMING, *_DECLARING), _take_naming),
    **dict.fromkeys(("complete", "compgen", "compopt", "bind"), _take_completion),
    "env": _take_env, "sudo": _take_sudo, "su": _take_su, "runuser": _take_su, "sg": _take_su, "newgrp": _take_su,
    "xargs": _take_xargs,
    "find": _take_find, "script": _take_script, "flock": _take_flock, "watch": _take_watch,
    "parallel": _take_parallel,
    **inline.HANDLERS,
    **tools.HANDLERS,
}  # fmt: skip

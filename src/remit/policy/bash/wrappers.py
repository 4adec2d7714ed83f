"""The commands that a simple command starts, found in its words.

They follow wrappers such as `env`, `sudo` and `timeout`, are in the text for a shell, or follow `find -exec`. A text
that may be run as a command is a `PossibleCommand`, and code in other languages is `Unresolved`. `judge.py` ignores
both if the exec judge sees the programs that they start.
"""

from __future__ import annotations

from functools import lru_cache

from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.policy.bash import program_facts
from remit.policy.bash.command_patterns import base_name, could_be_flag, find_family
from remit.policy.bash.program_facts import read_names
from remit.policy.bash.words import HOLE, ONE, SPLIT, Invocation, PossibleCommand, ShellAssignment, ShellWord

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.policy.bash.simple_commands import ScriptReader

    Handler = Callable[[ScriptReader, list[ShellWord], ShellWord | None], None]

_NOT_WRITTEN_OUT = "the name of a program is not written out"
_BEFORE_A_NAME = "the words before a program's name are not written out"
_INLINE = "code is run that isn't a shell command"
_RESERVED = read_names("if then else elif fi for while until do done case esac in { } [[ ]] function select")
"""Reserved words of bash. The tree misread the script if one of them is in the place of a program."""
_STARTERS = read_names(
    """
sh bash dash zsh ksh busybox env command sudo su xargs eval exec python python3 perl ruby node timeout nohup nice find
"""
)


def unwrap_command(reader: ScriptReader, words: list[ShellWord], stdin: ShellWord | None, *, is_direct: bool) -> None:
    """Add the start of a command, and then of all commands that it starts."""
    first = words[0]
    name = base_name(first.text)
    if first.text == "!":
        reader.run(words[1:], stdin)
        return
    if first.kind != ONE or not name or HOLE in name:
        reader.doubt(_NOT_WRITTEN_OUT)
        return
    if "/" in first.text:
        reader.files.append(first)
    if first.text in _RESERVED:
        reader.doubt("part of it is read in two ways")
    if is_direct and name in reader.functions:
        reader.add(Invocation(tuple(words), passes_on=True))
        reader.add(PossibleCommand(_join(words[1:])))
        return
    reader.add(Invocation(tuple(words), name in program_facts.CLEAR, _follow(reader, first.text)))
    _take_program(reader, _find_known(name), words, stdin)


def _take_program(reader: ScriptReader, known: str, words: list[ShellWord], stdin: ShellWord | None) -> None:
    handler = _HANDLERS.get(known)
    if handler is not None:
        handler(reader, words, stdin)
    elif known in program_facts.WRAPPERS:
        count, _, spec = program_facts.WRAPPERS[known].partition(" ")
        _take_wrapper(reader, words, spec, int(count), stdin)
    elif known in program_facts.CODE:
        _take_code(reader, known, words, stdin)
    elif known not in program_facts.PLAIN:
        _take_unknown(reader, known, words, stdin)


def _find_known(name: str) -> str:
    """Return the name under which a program is known here."""
    family = find_family(name)
    for each in (name, family, find_family(name.partition("-")[0])):
        if each in _HANDLERS or each in program_facts.WRAPPERS or each in program_facts.CODE:
            return each
    return name if name in program_facts.PLAIN else family


def _follow(reader: ScriptReader, text: str) -> tuple[str, ...]:
    """Return the name of the program that a path links to."""
    if "/" not in text or HOLE in text:
        return ()
    try:
        end = base_name(reader.resolve(text))
    except (OSError, ValueError):
        return ()
    return (end,) if end != base_name(text) else ()


def _join(words: Sequence[ShellWord]) -> str:
    """Join words to one text, with values attached to short options as separate words."""
    texts = [word.text for word in words]
    texts += [text[2:] for text in texts if text[:1] == "-" and text[1:2] != "-"]
    return " ".join(texts).replace(HOLE, " ")


# --- options ---------------------------------------------------------------------------------------------------------


SHORTEST = 3
"""Two dashes and a letter: the minimum for an abbreviated option."""


class ParsedOptions(NamedTuple):
    """The words of a program, split into options and operands."""

    options: tuple[tuple[str, ShellWord], ...]
    operands: tuple[ShellWord, ...]
    is_certain: bool
    """Whether every option before the first operand was known."""
    is_doubtful: bool
    """Whether a word before the first operand is unknown."""


@lru_cache(maxsize=256)
def _read_spec(spec: str) -> tuple[frozenset[str], frozenset[str]]:
    parts = spec.split()
    taking = frozenset(part[:-1] if part[0] == "-" else f"-{part[:-1]}" for part in parts if part.endswith(":"))
    return taking, frozenset(part.rstrip(":=") for part in parts)


def parse_options(words: Sequence[ShellWord], spec: str, *, permute: bool = False) -> ParsedOptions:
    """Parse the options up to the first operand, or with `permute` all options.

    `spec` names the options with a value: `n:` and `--user:` take one, `--replace=` only after an equals sign.
    """
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
    """Return an option's name, its value if it is in the same word, and whether the option takes a value."""
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
    """Return whether an unknown option is one letter. Such options rarely take a value from the next word."""
    return not text.startswith("--") and (len(text) == 2 or text[1:].isdigit())  # noqa: PLR2004 - a dash and a letter


# --- programs that run the following words ---------------------------------------------------------------------------


def _take_wrapper(reader: ScriptReader, words: list[ShellWord], spec: str, skip: int, stdin: ShellWord | None) -> None:
    """Handle a program that runs the words after its options."""
    found = parse_options(words[1:], spec)
    name = base_name(words[0].text)
    values = [value for option, value in found.options]
    reader.add(PossibleCommand(_join(words[1:] if not found.is_certain else values), name in program_facts.LEAVING))
    for option, value in found.options:
        if option in ("-c", "--call", "--command") and value.text:
            _read_text(reader, value)
    if found.is_doubtful or any(word.kind == SPLIT for word in found.operands[:skip]):
        reader.doubt(_BEFORE_A_NAME)
        return
    rest = list(found.operands[skip:])
    while rest and rest[0].is_sure and rest[0].text.partition("=")[0].isidentifier() and "=" in rest[0].text:
        variable, _, text = rest.pop(0).text.partition("=")
        reader.add(ShellAssignment(variable, text))
    rest = rest[1:] if rest and rest[0].text == "--" else rest
    if rest and rest[0].text in ("-c", "--command"):
        _read_text(reader, rest[1] if len(rest) > 1 else None)
    elif rest:
        reader.run(rest, stdin)
    elif name in _STARTING_A_SHELL:
        _take_input(reader, stdin)


_STARTING_A_SHELL = read_names(
    "unshare nsenter chroot setarch linux32 linux64 fakeroot firejail sudo ssh-agent busybox"
)
"""Wrappers that may start a shell if no words follow."""


def _take_env(reader: ScriptReader, words: list[ShellWord], stdin: ShellWord | None) -> None:
    """Handle `env -i A=b x`, and `-S`, which splits a text into words."""
    rest = list(words[1:])
    while rest:
        word = rest[0]
        text = word.text
        if not word.is_sure and (word.kind == SPLIT or could_be_flag(word)) and "=" not in text.partition(HOLE)[0]:
            reader.doubt(_NOT_WRITTEN_OUT)
            return
        name, equals, value = text.partition("=")
        if text in ("-u", "--unset", "-C", "--chdir"):
            rest = rest[2:]
        elif text[:2] == "-S" or text.startswith("--s") or (text[:1] == "-" and text[1:2] != "-" and "S" in text):
            value = value if text.startswith("--") else text.partition("S")[2]
            value, rest = (value, rest[1:]) if value else (_join(rest[1:2]), rest[2:])
            if any(char in value for char in "\\'\"$#" + HOLE):
                reader.doubt("a text that is taken apart is not plain")
            reader.run([ShellWord("env"), *(ShellWord(part) for part in value.split()), *rest], stdin)
            return
        elif text[:1] == "-":
            rest = rest[1:]
        elif equals and not text.startswith("/"):
            reader.add(ShellAssignment(name, value))
            rest = rest[1:]
        else:
            reader.run(rest, stdin)
            return


def _take_xargs(reader: ScriptReader, words: list[ShellWord], _stdin: ShellWord | None) -> None:
    found = parse_options(words[1:], program_facts.WRAPPERS["xargs"].partition(" ")[2])
    if found.is_doubtful:
        reader.doubt(_BEFORE_A_NAME)
        return
    mark = next((value.text or "{}" for name, value in found.options if name in ("-I", "-i", "--replace", "-J")), "")
    inner = [ShellWord(word.text.replace(mark, HOLE) if mark else word.text, word.kind) for word in found.operands]
    if not found.is_certain:
        reader.add(PossibleCommand(_join(words[1:])))
    if inner:
        reader.run(inner if mark else [*inner, ShellWord(HOLE, SPLIT)], ShellWord(HOLE))


def _take_find(reader: ScriptReader, words: list[ShellWord], _stdin: ShellWord | None) -> None:
    """Handle each `-exec` of `find`, and `-x` of `fd`."""
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        if not word.is_sure and word.text.startswith(("-" + HOLE, HOLE)) and word.kind == SPLIT:
            reader.add(PossibleCommand(_join(words)))
        if word.text not in _EXECUTING:
            continue
        end = at
        while end < len(words) and words[end].text not in (";", "+"):
            end += 1
        inner = [
            ShellWord(each.text.replace("{}", "./" + HOLE if each.text == "{}" else HOLE), each.kind)
            for each in words[at:end]
        ]
        if inner:
            reader.run(inner, ShellWord(HOLE))
        at = end + 1


_EXECUTING = ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")


# --- texts for a shell -----------------------------------------------------------------------------------------------


def _read_text(reader: ScriptReader, word: ShellWord | None, name: str = "sh") -> None:
    """Read a text as a script of the shell with this name."""
    if word is None:
        return
    if word.text.startswith(HOLE) or word.kind == SPLIT:
        reader.doubt("the text of a script is not written out")
    elif HOLE in word.text:
        reader.doubt("the text of a script is not written out", is_code=True)
        reader.read(word.text.replace(HOLE, "$_"))
    elif name in program_facts.OTHER_SHELLS or (name == "zsh" and " =" in f" {word.text}"):
        reader.doubt(f"'{name}' reads a text in a way of its own", is_code=True)
        reader.add(PossibleCommand(word.text))
    else:
        reader.read(word.text)


def _take_input(reader: ScriptReader, stdin: ShellWord | None) -> None:
    """Handle a shell that reads its commands from standard input."""
    if stdin is None or stdin.text == HOLE:
        reader.doubt("a shell reads its commands from somewhere else")
    else:
        _read_text(reader, stdin)


def _take_shell(reader: ScriptReader, words: list[ShellWord], stdin: ShellWord | None) -> None:
    """Handle `bash -c TEXT`, `bash FILE`, and a shell that reads commands from standard input."""
    is_text, at = False, 1
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
            if text.startswith(("--rcf", "--init")):
                reader.doubt("a shell reads commands from somewhere else", is_code=True)
                at += 1
        else:
            is_text = is_text or "c" in text
            if "n" in text and not is_text and text[0] == "-":
                return
            if "s" in text[1:]:
                _take_input(reader, stdin)
            if {"i", "H"} & set(text) and not is_text:
                reader.doubt("a shell may put earlier lines in the place of a line")
        at += 2 if text[-1] in "oO" else 1
    if is_text:
        _read_text(reader, words[at] if at < len(words) else None, base_name(words[0].text))
        reader.add(PossibleCommand(_join(words[at + 1 :])))
    elif at < len(words):
        _take_file(reader, words[at:], stdin)
    else:
        _take_input(reader, stdin)


def _take_file(reader: ScriptReader, words: Sequence[ShellWord], stdin: ShellWord | None) -> None:
    """Handle a script in a file, which is run like any program."""
    text = words[0].text
    if text in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        _take_input(reader, stdin)
    elif words[0].kind == SPLIT or text.startswith((HOLE, "/dev/", "/proc/")):
        reader.doubt("the script to run is not written out")
    reader.files.append(words[0])
    _note_words(reader, words[1:])


def _take_source(reader: ScriptReader, words: list[ShellWord], stdin: ShellWord | None) -> None:
    reader.functions.clear()
    rest = words[2:] if words[1:2] and words[1].text == "--" else words[1:]
    if rest:
        _take_file(reader, rest, stdin)


def _take_eval(reader: ScriptReader, words: list[ShellWord], _stdin: ShellWord | None) -> None:
    rest = words[2:] if words[1:2] and words[1].text == "--" else words[1:]
    kind = max((word.kind for word in rest), default=ONE)
    reader.functions.clear()
    if rest:
        _read_text(reader, ShellWord(" ".join(word.text for word in rest), kind if HOLE in rest[0].text else ONE))


def _take_trap(reader: ScriptReader, words: list[ShellWord], _stdin: ShellWord | None) -> None:
    rest = [word for word in words[1:] if word.text not in ("--", "-p", "-l", "-lp")]
    if len(rest) > 1 and rest[0].text != "-":
        _read_text(reader, rest[0])


def _take_texts(reader: ScriptReader, words: list[ShellWord], stdin: ShellWord | None) -> None:
    """Handle `su -c TEXT` and `script -c TEXT`: a script after `-c`, else a shell."""
    name = base_name(words[0].text)
    texts = [
        words[at + 1] if at + 1 < len(words) else ShellWord(HOLE)
        for at, word in enumerate(words)
        if word.text in ("-c", "--command", "--session-command")
        or (at and word.text[:1] == "-" and word.text[1:2] != "-" and word.text.endswith("c"))
    ]
    texts += [ShellWord(word.text.partition("=")[2], word.kind) for word in words if word.text.startswith("--command=")]
    texts += [ShellWord(word.text[2:], word.kind) for word in words[1:] if word.text[:2] == "-c" and len(word.text) > 2]  # noqa: PLR2004 - a dash and a letter
    for text in texts:
        _read_text(reader, text)
    operands = [word for word in words[1:] if word.text[:1] != "-"]
    if name == "watch" and operands:
        rest = parse_options(words[1:], "n: q: --interval: --equexit:").operands
        _read_text(reader, ShellWord(" ".join(word.text for word in rest)))
    elif not texts and name != "watch":
        _take_input(reader, stdin)


# --- shell builtins --------------------------------------------------------------------------------------------------


def _take_command(reader: ScriptReader, words: list[ShellWord], stdin: ShellWord | None) -> None:
    """Handle `command x`, which runs x, unlike `command -v x`."""
    if not (words[1:] and words[1].is_sure and words[1].text[:1] == "-" and set(words[1].text) & {"v", "V"}):
        _take_wrapper(reader, words, "", 0, stdin)


def _take_meaning(reader: ScriptReader, words: list[ShellWord], _stdin: ShellWord | None) -> None:
    """Handle builtins that change the meaning of words, or take a command as an option."""
    name, texts = words[0].text, [word.text for word in words[1:]]
    given = texts[: texts.index("--")] if "--" in texts else texts
    letters = {letter for text in given if text[:1] in "-+" for letter in text[1:]}
    if name in ("set", "shopt"):
        is_changed = "H" in letters or any("hist" in text or "expand_aliases" in text for text in given)
    elif name == "alias":
        is_changed = any("=" in text or HOLE in text for text in texts)
    else:
        is_changed = bool({*_CHANGING[name]} & letters) if name in _CHANGING else bool(texts)
    if is_changed or (name in ("shopt", "hash") and HOLE in "".join(texts)):
        reader.doubt(f"'{name}' gives words another meaning, or takes a command")


_CHANGING = {
    "hash": "p", "mapfile": "C", "readarray": "C", "bind": "xf", "jobs": "x", "complete": "CWF", "compgen": "CWF",
}  # fmt: skip


# --- other programs --------------------------------------------------------------------------------------------------


def _take_git(reader: ScriptReader, words: list[ShellWord], _stdin: ShellWord | None) -> None:
    """Handle git, whose aliases, settings and some options are commands."""
    found = parse_options(
        words[1:], "C: c: --git-dir: --work-tree: --namespace: --attr-source: --exec-path= --no-pager -p -P --bare"
    )
    if found.is_doubtful:
        reader.doubt("the words before git's subcommand are not written out", is_code=True)
    texts = [word.text for word in words]
    own = any(name in ("-c", "--config-env", "--exec-path") for name, _ in found.options)
    given = any(
        text.startswith(("--exec", "--upload-pack", "--receive-pack", "--extcmd", "--open-files", "-O", "-x", "-u"))
        for text in texts[1:]
    )
    command = found.operands[0].text if found.operands else ""
    if own or given or (command and command not in program_facts.SEARCHED_BY_GIT):
        reader.add(PossibleCommand(_join(words[1:])))
    if command == "bisect" and [word.text for word in found.operands[1:2]] == ["run"]:
        reader.run(list(found.operands[2:]), None)


def _take_code(reader: ScriptReader, known: str, words: list[ShellWord], stdin: ShellWord | None) -> None:
    """Handle a program that runs code from its words or its input; code in a file is run like any program."""
    marks = program_facts.CODE[known].split()
    letters = {mark for mark in marks if len(mark) == 1}
    takes_files, is_code = "-" in marks, stdin is not None
    for at, word in enumerate(words[1:], 1):
        text, is_option = word.text, word.text[:1] == "-" and word.text != "-"
        if known == "python" and text.startswith("-m"):
            _take_module(reader, words[at + 1 :] if text == "-m" else [ShellWord(text[2:]), *words[at + 1 :]], stdin)
            return
        if text in ("-V", "--version", "-h", "--help") or (text == "-v" and len(words) == 2):  # noqa: PLR2004 - and nothing else
            return
        is_short = is_option and text[1:2] != "-"
        if text.lstrip("-").partition("=")[0] in marks or (is_short and set(text[1:]) & letters) or text[:1] in "+!":
            is_code = True
            break
        if not is_option and not takes_files and text != "-":
            is_code = not word.is_sure or text.startswith("/dev/")
            reader.files.append(word)
            break
    else:
        is_code = is_code or not (takes_files or any(word.text[:2] == "--" for word in words[1:]))
    reader.codes += [word.text for word in words[1:]] + ([stdin.text] if stdin is not None else [])
    if is_code:
        reader.doubt(_INLINE, is_code=True)
    else:
        reader.add(PossibleCommand(_join(words[1:])))


def _take_module(reader: ScriptReader, words: list[ShellWord], stdin: ShellWord | None) -> None:
    """Handle `python -m pip install` like `pip install`."""
    if not words or not words[0].is_sure:
        reader.doubt(_INLINE, is_code=True)
        return
    reader.add(Invocation(tuple(words), passes_on=True))
    if base_name(words[0].text) not in program_facts.PLAIN:
        reader.add(PossibleCommand(_join([*words[1:], *([stdin] if stdin is not None else [])])))


def _take_awk(reader: ScriptReader, words: list[ShellWord], _stdin: ShellWord | None) -> None:
    """Handle awk: code that only prints and counts fields starts no program; other code may."""
    found = parse_options(words[1:], "F: v: f: i: e: E: l: --file: --source: --include: --assign: --field-separator:")
    given = [value for name, value in found.options if name not in ("-F", "-v", "--assign", "--field-separator")]
    for code in given or found.operands[:1]:
        if not code.is_sure or any(sign in code.text for sign in ("system", "|", "getline", "@", "/dev/")):
            reader.doubt(_INLINE, is_code=True)


_RUNNING_SED = lazy(r"(?:^|[\s;{}\d$!])e(?:\s|$)|[^\w\s][gpIiMm\d]*e[gpIiMm\d]*(?:$|[\s;}])")
"""The command `e`, and the flag `e` of a substitution."""


def _take_sed(reader: ScriptReader, words: list[ShellWord], _stdin: ShellWord | None) -> None:
    found = parse_options(words[1:], "e: f: l: E: s: --expression: --file: --line-length:", permute=True)
    scripts = [value for name, value in found.options if name in ("-e", "--expression")] or list(found.operands[:1])
    if any(not script.is_sure or _RUNNING_SED.search(script.text) for script in scripts):
        reader.doubt(_INLINE, is_code=True)


_GIVING = frozenset({"-e", "-c", "-E", "-x", "--eval", "--exec", "--execute", "--command", "--run", "--expr"})


def _take_unknown(reader: ScriptReader, name: str, words: list[ShellWord], stdin: ShellWord | None) -> None:
    """Handle an unknown program: its words may be a command, a script or code."""
    _note_words(reader, words[1:], stdin, leaves=name in program_facts.LEAVING)
    for at, word in enumerate(words[1:], 1):
        following = words[at + 1].text if at + 1 < len(words) else ""
        option, _, value = word.text.partition("=")
        if (
            option in _GIVING
            and name not in program_facts.QUERIED
            and any(char in (value or following) for char in "(){};`!|&")
        ):
            reader.doubt("a program that isn't known is given code", is_code=True)


def _note_words(
    reader: ScriptReader, words: Sequence[ShellWord], stdin: ShellWord | None = None, *, leaves: bool = False
) -> None:
    """Add the words of a program or script as a possible command."""
    reader.add(PossibleCommand(_join([*words, *([stdin] if stdin is not None else [])]), leaves))
    first = next((word for word in words if word.text[:1] != "-"), None)
    if first is not None and first.text.startswith(HOLE):
        reader.doubt("a program that may start others gets words that are not written out", is_code=True)
    at = next((at for at, word in enumerate(words) if word.is_sure and base_name(word.text) in _STARTERS), -1)
    if at >= 0:
        reader.run(list(words[at:]), stdin)


_HANDLERS: dict[str, Handler] = {
    "env": _take_env, "xargs": _take_xargs, "find": _take_find, "fd": _take_find,
    "su": _take_texts, "sg": _take_texts, "script": _take_texts, "watch": _take_texts,
    "eval": _take_eval, "source": _take_source, ".": _take_source, "trap": _take_trap, "command": _take_command,
    "git": _take_git, "awk": _take_awk, "sed": _take_sed,
    **dict.fromkeys(("alias", "enable", "set", "shopt", *_CHANGING), _take_meaning),
    **dict.fromkeys(program_facts.SHELLS, _take_shell),
}  # fmt: skip

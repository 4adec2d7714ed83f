"""Inline: programs in other languages that stand in a command's own words.

Owns the small judges of code. Python is looked at by its syntax tree, awk, sed and node by scanners of their own; what
they do not know is a doubt, as is all code in languages that nobody looks at here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint, Run
from remit.policy.bash.commands import base_name, could_be_flag
from remit.policy.bash.names import read_names, read_table
from remit.policy.bash.options import parse_options
from remit.policy.bash.words import HOLE, SPLIT, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from remit.policy.bash.reading import Reader, Stdin

MAX_CODE = 20_000
UNREAD = "code is run that cannot be looked at"


def _doubt_code(reader: Reader, text: str) -> None:
    reader.doubt(UNREAD)
    reader.add(Hint(text.replace(HOLE, " "), is_code=True))


def _run_file(
    reader: Reader, word: Word, stdin: Stdin | None, language: str = "other", rest: Sequence[Word] = ()
) -> None:
    from remit.policy.bash.programs import run_file  # noqa: PLC0415 - programs know of inline code

    run_file(reader, word, stdin, language, rest)


def _take_input(reader: Reader, stdin: Stdin | None, judge: Callable[[Reader, str], None]) -> None:
    """Code that comes in on standard input."""
    if stdin is None or (not stdin[0] and not stdin[1].is_sure):
        _doubt_code(reader, stdin[1].text if stdin else "")
    elif stdin[0]:
        _run_file(reader, stdin[1], None)
    else:
        judge(reader, stdin[1].text)


# --- Python ----------------------------------------------------------------------------------------------------------

_RISKY_MODULES = read_names(
    """
timeit pdb code trace cProfile profile runpy pty asyncio doctest bdb idlelib webbrowser ensurepip zipapp
"""
)


def _take_python(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """`-c CODE`, `-m MODULE`, a file, or code on standard input."""
    at = 1
    while at < len(words):
        word = words[at]
        text = word.text
        if not word.is_sure and could_be_flag(word):
            _doubt_code(reader, text)
            return
        if text == "-" or text[:1] != "-":
            break
        at += 1
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
        _run_file(reader, words[at], stdin, "python", words[at + 1 :])
    elif not (at == len(words) and any(word.text in ("-V", "--version", "-VV", "-h", "--help") for word in words)):
        _take_input(reader, stdin, judge_python)


def _take_python_code(reader: Reader, code: Word, _rest: list[Word]) -> None:
    if code.is_sure:
        judge_python(reader, code.text)
    else:
        _doubt_code(reader, code.text)


def _take_module(reader: Reader, module: Word, rest: list[Word]) -> None:
    """A module is a program; one that runs what it is given is not looked through."""
    operands = [word for word in rest if word.text[:1] != "-"]
    if module.text == "timeit" and operands and all(word.is_sure for word in rest):
        for word in operands:
            judge_python(reader, word.text)
        return
    if module.text in ("cProfile", "profile", "trace") and operands and "-m" not in [word.text for word in rest]:
        _run_file(reader, operands[-1], None, "python")
        return
    if not module.is_sure or module.text.partition(".")[0] in _RISKY_MODULES:
        _doubt_code(reader, " ".join(word.text for word in (module, *rest)))
        return
    reader.add(Run((module, *rest), passes_on=True))
    if module.text == "coverage" and rest and rest[0].text == "run":
        reader.add(Hint(" ".join(word.text for word in rest)))


def judge_python(reader: Reader, text: str) -> None:
    """Take note of what Python code would do."""
    from remit.policy.bash.python_code import look_through  # noqa: PLC0415 - only inline code pays for a parser

    if len(text) > MAX_CODE or not look_through(reader, text):
        _doubt_code(reader, text)


# --- languages that nobody looks at ----------------------------------------------------------------------------------

_LANGUAGES = read_table(
    """
ruby e
php r B R E --run: --process-code:
lua e
texlua e
bb e
pdb c
luatex -
luajit e
tclsh
wish
expect c
R e
Rscript e --default-packages:
julia e E --eval: --print:
ghc e
runghc
ocaml e
groovy e
scala e
jrunscript e
osascript e
octave --eval:
elixir e --eval: --rpc-eval:
iex e --eval:
erl eval
racket e
guile c
sbcl --eval:
clisp x
deno
bun e --eval: p --print:
tsx e --eval:
ts-node e --eval: p --print:
jshell
gnuplot e
bpftrace e
dc e --expression:
m4
jjs
gst
swipl g t
nim
crystal eval
swift e
maxima
gp
sage c
jython c
micropython c
psql c --command:
mysql e --execute:
mariadb e --execute:
sqlite3
sqlite
ed
red
gdb
lldb
scapy
irb
pry
rails
mix e
"""
)
"""Languages by what says that code follows. Where nothing says it, only standard input does."""


def _take_language(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """A file that was there is run; anything else is a doubt."""
    reader.add(Hint(" ".join(word.text.replace(HOLE, " ") for word in words[1:])))
    marks = _LANGUAGES.get(base_name(words[0].text).rstrip("0123456789."), "e c E x").split()
    letters = {mark for mark in marks if not mark.startswith("--") and len(mark) == 1}
    for at, word in enumerate(words[1:], 1):
        text = word.text
        if not word.is_sure and could_be_flag(word):
            _doubt_code(reader, text)
            return
        if text == "-":
            break
        if text in ("eval", "repl"):
            _doubt_code(reader, " ".join(each.text for each in words[at:]))
            return
        if text[:1] != "-":
            _run_file(reader, word, stdin)
            return
        named = text.startswith("--") and any(
            f"{mark.rstrip(':')}".startswith(text.partition("=")[0]) for mark in marks
        )
        if named or (text[1:2] != "-" and (set(text[1:]) & letters or text[1:] in marks)):
            _doubt_code(reader, " ".join(each.text for each in words[at:]))
            return
        if text in ("-v", "-V", "--version", "-h", "--help", "-version"):
            return
    _take_input(reader, stdin, _doubt_code)


def _take_texts(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """Programs whose own language can run others with a sign of its own: databases, editors, debuggers."""
    texts = [word.text for word in words[1:]]
    if stdin is not None:
        texts.append(stdin[1].text if not stdin[0] else "")
    name = base_name(words[0].text).rstrip("0123456789.")
    file = stdin is not None and stdin[0]
    if stdin is not None and stdin[0]:
        _run_file(reader, stdin[1], None)
    unsure = reader.is_tainted and any(not word.is_sure for word in words[1:])
    if name not in _DATABASES or unsure or any(_speaks(text) for text in texts):
        _doubt_code(reader, " ".join(texts))
    elif stdin is None and (len(words) == 1 or reader.fed) and not file:
        reader.doubt(UNREAD)


_DATABASES = frozenset({"sqlite", "psql", "mysql", "mariadb"})
_DOT_WORDS = read_names(
    ".tables .schema .headers .header .mode .quit .exit .dump .indexes .indices .databases .width .echo .timer .help"
)


def _speaks(text: str) -> bool:
    """Whether a text for a database has something in it besides queries."""
    lines = [line.strip() for line in text.split("\n")]
    dots = any(line[:1] == "." and line[1:2].isalpha() and line.split()[0] not in _DOT_WORDS for line in lines)
    return dots or any(sign in text.lower() for sign in _SIGNS)


_SIGNS = (
    "\\!", "system", "shell", "\\copy", "program", "\\o", "\\g", "edit(", "edit (", "load_extension", "writefile",
    "source ",
    "tee ", "pager ", "\\r", "-init", "-cmd",
)  # fmt: skip


# --- Perl ------------------------------------------------------------------------------------------------------------

_PERL_WORDS = read_names(
    """
print printf say if unless else elsif and or not next last while until for foreach my our local split join chomp
length substr uc lc ucfirst lcfirst sprintf sort reverse keys values push pop shift unshift scalar map grep defined
exists delete index rindex int abs eq ne lt gt le ge x cmp BEGIN END undef return each tr y s m qr q qq F ARGV ENV
STDERR STDOUT _ a b eof n t g i e l p hex oct ord pos quotemeta ARGVOUT wantarray lines
"""
)


def _take_perl(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:  # noqa: C901 - a branch per option
    """`-pe 's/a/b/'` and its like; whatever else stands in its words is a doubt."""
    codes: list[Word] = []
    at = 1
    while at < len(words):
        word = words[at]
        text = word.text
        if not word.is_sure and could_be_flag(word) and (not codes or reader.is_tainted):
            _doubt_code(reader, text)
            return
        if text[:1] != "-" or text == "-":
            break
        at += 1
        letter = next((each for each in text[1:] if each in "eEMmIxCdDiF"), "")
        rest = text.partition(letter)[2] if letter else ""
        if letter in ("e", "E"):
            codes.append(Word(rest) if rest else words[at] if at < len(words) else Word(""))
            at += not rest
        elif letter in ("i", "F") or (letter in ("M", "m") and text[2:] in ("strict", "warnings", "utf8", "JSON::PP")):
            continue
        elif letter or text.startswith("--"):
            _doubt_code(reader, text)
            return
        elif text in ("-v", "-V", "-h"):
            return
    # A file's name with a pipe in it is a command to Perl.
    piped = any("|" in each.text for each in words[at:])
    if codes and (piped or not all(word.is_sure and is_harmless_perl(word.text) for word in codes)):
        _doubt_code(reader, " ".join(each.text for each in words))
    if not codes and at < len(words) and words[at].text != "-":
        _run_file(reader, words[at], stdin, "perl", words[at + 1 :])
    elif not codes:
        _take_input(reader, stdin, _doubt_code)


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
            end = _skip_regex(code, at + 1, char)
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
        at = _skip_regex(code, at, quote)
        if at < 0:
            return -1
    return at


# --- node ------------------------------------------------------------------------------------------------------------

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


def _take_node(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    at = 1
    while at < len(words):
        word = words[at]
        text = word.text
        if not word.is_sure and could_be_flag(word):
            _doubt_code(reader, text)
            return
        if text[:1] != "-" or text == "-":
            break
        name, equals, value = text.partition("=")
        short = text[1:2] != "-" and bool(set(text[1:]) & set("ep"))
        if name in ("--eval", "--print") or short:
            code = Word(value) if equals else words[at + 1] if at + 1 < len(words) else Word("")
            if not code.is_sure or not is_harmless_node(code.text):
                _doubt_code(reader, code.text)
            return
        if name in ("-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file"):
            loaded = value if equals else words[at + 1].text if at + 1 < len(words) else ""
            if ":" in loaded or HOLE in loaded:
                reader.doubt(UNREAD)
            _run_file(reader, Word(loaded), None, "node")
            reader.add(Hint(loaded))
            at += not equals
        if text in ("-v", "--version", "-h", "--help", "--test", "--run", "--check", "-c"):
            return
        at += 1
    if at < len(words) and words[at].text != "-":
        _run_file(reader, words[at], stdin, "node", words[at + 1 :])
    else:
        _take_input(reader, stdin, lambda here, text: None if is_harmless_node(text) else _doubt_code(here, text))


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


def _take_mongosh(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """A shell of a database that speaks JavaScript."""
    for at, word in enumerate(words[1:], 1):
        option, equals, value = word.text.partition("=")
        if option == "--eval":
            code = Word(value) if equals else words[at + 1] if at + 1 < len(words) else Word("")
            if not code.is_sure or not is_harmless_node(code.text):
                _doubt_code(reader, code.text)
    if stdin is not None or reader.fed:
        _take_input(reader, stdin, lambda here, text: None if is_harmless_node(text) else _doubt_code(here, text))


# --- awk -------------------------------------------------------------------------------------------------------------


def _take_awk(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    spec = (
        "F: v: f: e: i: l: E: d: L: o: p: D: --field-separator: --assign: --file: --source: --include: --load: --exec:"
    )
    found = parse_options(words[1:], spec)
    programs = [value for name, value in found.options if name in ("-e", "--source")]
    given = False
    for name, value in found.options:
        if name in ("-f", "--file", "-E", "--exec", "-i", "--include"):
            _run_file(reader, value, stdin)
            given = True
        elif name in ("-l", "--load", "-D", "-p", "-o", "-d"):
            reader.doubt(UNREAD)
    if found.is_doubtful:
        reader.doubt(UNREAD)
    if not given and not programs:
        programs = list(found.operands[:1])
    for program in programs:
        if program.kind == SPLIT or not judge_awk(reader, program.text):
            _doubt_code(reader, program.text)


def judge_awk(reader: Reader, code: str) -> bool:
    """Whether awk code starts nothing; files that it writes are taken note of."""
    if len(code) > MAX_CODE or (HOLE in code and reader.is_tainted):
        return False
    bare, texts = _strip_awk(code)
    starts = any(word in code for word in ("system", "getline", "@")) or "|" in code.replace("||", "")
    if starts and (bare is None or "\\\n" in code):
        return False
    bare = bare or ""
    if "|" in bare.replace("||", "") or any(word in bare for word in ("system", "@")):
        return False
    for statement in bare.replace("{", ";").replace("}", ";").replace("\n", ";").split(";"):
        _, found, rest = statement.partition("print")
        if not found or ">" not in rest:
            continue
        target = rest.rpartition(">")[2].strip()
        if target[:1] == '"' and target[1:].isdigit():
            reader.note_file(Word(texts[int(target[1:])]), "write")
        elif "(" not in rest.rpartition(">")[0] or rest.count("(") == rest.count(")"):
            reader.note_file(Word(HOLE), "write")
    return True


def _strip_awk(code: str) -> tuple[str | None, list[str]]:
    """Awk code with a number in the place of every string, without regular expressions; None where one has two ends."""
    found: list[str] = []
    texts: list[str] = []
    at, last = 0, ""
    while at < len(code):
        char = code[at]
        if char == '"' or (char == "/" and (not last or last in "(,{}!~&|;\n=?:")):
            end = _find_end(code, at, char)
            if char == "/" and "[" in code[at:end]:
                return None, texts
            found.append(f'"{len(texts)} ' if char == '"' else " ")
            texts.append(code[at + 1 : end])
            last, at = char, end + 1
        elif char == "#":
            end = code.find("\n", at)
            at = len(code) if end < 0 else end
        else:
            found.append(char)
            last = last if char in " \t" else char
            at += 1
    return "".join(found), texts


def _find_end(code: str, at: int, quote: str) -> int:
    at += 1
    while at < len(code) and code[at] != quote:
        at += 2 if code[at] == "\\" else 1
    return min(at, len(code))


# --- sed -------------------------------------------------------------------------------------------------------------


def _take_sed(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    found = parse_options(words[1:], "e: f: l: --expression: --file: --line-length: --in-place=", permute=True)
    scripts = [value for name, value in found.options if name in ("-e", "--expression")]
    given = False
    for name, value in found.options:
        if name in ("-f", "--file"):
            _run_file(reader, value, stdin)
            given = True
    if any(word.kind == SPLIT for word in words[1:]) and reader.is_tainted:
        reader.doubt(UNREAD)
    if not scripts and not given:
        scripts = list(found.operands[:1])
    code = "\n".join(script.text for script in scripts)
    if len(code) > MAX_CODE or (HOLE in code and reader.is_tainted) or not judge_sed(reader, code):
        _doubt_code(reader, code)


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
            at = _skip_regex(code, at + (2 if char == "\\" else 1), quote)
            if at < 0:
                return -1
        else:
            at += 1
    return at


def _skip_regex(code: str, at: int, quote: str) -> int:
    """Past the sign that ends it; -1 where it never ends, or might end in brackets."""
    start = at
    while at < len(code) and code[at] != quote:
        at += 2 if code[at] == "\\" else 1
    inner = code[start:at]
    if "[" in inner and "]" not in inner[inner.rindex("[") :].replace("[]", "").replace("[^]", ""):
        return -1
    return at + 1 if quote and at < len(code) else -1


def _skip_substitution(reader: Reader, code: str, at: int, char: str) -> int:
    quote = code[at : at + 1]
    at = _skip_regex(code, at + 1, quote)
    at = _skip_regex(code, at, quote) if at > 0 else -1
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


_SPEAKING = read_names("psql mysql mariadb sqlite3 sqlite ed red gdb lldb dc m4 ftp")
HANDLERS: dict[str, Callable[[Reader, list[Word], Stdin | None], None]] = {
    "python": _take_python, "ipython": _take_python, "pypy": _take_python, "perl": _take_perl, "node": _take_node,
    "awk": _take_awk, "sed": _take_sed, "mongosh": _take_mongosh,
    **dict.fromkeys(_LANGUAGES, _take_language),
    **dict.fromkeys(_SPEAKING, _take_texts),
}  # fmt: skip

"""Languages: programs that run code from their own words, and who looks at it.

Python is looked at by its syntax tree, awk, sed, Perl and node by scanners of their own, each in its module. All code
in other languages is a doubt, and so is what databases, editors and debuggers are told besides queries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint
from remit.policy.bash.commands import base_name, could_be_flag
from remit.policy.bash.names import read_names, read_table
from remit.policy.bash.programs.inline import UNREAD, doubt_code, take_input
from remit.policy.bash.programs.scripts import run_file
from remit.policy.bash.words import HOLE, Word

if TYPE_CHECKING:
    from remit.policy.bash.reading import Handler, Reader, Stdin

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
            doubt_code(reader, text)
            return
        if text == "-":
            break
        if text in ("eval", "repl"):
            doubt_code(reader, " ".join(each.text for each in words[at:]))
            return
        if text[:1] != "-":
            run_file(reader, word, stdin, "other")
            return
        named = text.startswith("--") and any(
            f"{mark.rstrip(':')}".startswith(text.partition("=")[0]) for mark in marks
        )
        if named or (text[1:2] != "-" and (set(text[1:]) & letters or text[1:] in marks)):
            doubt_code(reader, " ".join(each.text for each in words[at:]))
            return
        if text in ("-v", "-V", "--version", "-h", "--help", "-version"):
            return
    take_input(reader, stdin, doubt_code)


def _take_texts(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """Programs whose own language can run others with a sign of its own: databases, editors, debuggers."""
    texts = [word.text for word in words[1:]]
    if stdin is not None:
        texts.append(stdin[1].text if not stdin[0] else "")
    name = base_name(words[0].text).rstrip("0123456789.")
    file = stdin is not None and stdin[0]
    if stdin is not None and stdin[0]:
        run_file(reader, stdin[1], None, "other")
    unsure = reader.is_tainted and any(not word.is_sure for word in words[1:])
    if stdin is None and not any(map(_gives, texts)) and (name != "sqlite" or len(words) <= FILE):
        reader.note_typed(name)
    if name not in _DATABASES or unsure or any(_speaks(text) for text in texts):
        doubt_code(reader, " ".join(texts))
    elif stdin is None and (len(words) == 1 or reader.fed) and not file:
        reader.doubt(UNREAD)


def _gives(text: str) -> bool:
    """Whether an option says what a program is to do, so that it asks nobody."""
    short = text[:1] == "-" and text[1:2] != "-" and bool(set("cefloVb") & set(text[1:]))
    return short or text.startswith(("--batch", "--command", "--execute", "--file", "--list", "--version"))


FILE = 2
"""A program's name and that of a file."""
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
_SPEAKING = read_names("psql mysql mariadb sqlite3 sqlite ed red gdb lldb dc m4 ftp")


def _take_python(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    from remit.policy.bash.programs.python import take_python  # noqa: PLC0415 - each language only where it is spoken

    take_python(reader, words, stdin)


def _take_perl(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    from remit.policy.bash.programs.perl import take_perl  # noqa: PLC0415

    take_perl(reader, words, stdin)


def _take_node(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    from remit.policy.bash.programs.node import take_node  # noqa: PLC0415

    take_node(reader, words, stdin)


def _take_mongosh(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    from remit.policy.bash.programs.node import take_mongosh  # noqa: PLC0415

    take_mongosh(reader, words, stdin)


def _take_awk(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    from remit.policy.bash.programs.awk import take_awk  # noqa: PLC0415

    take_awk(reader, words, stdin)


def _take_sed(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    from remit.policy.bash.programs.sed import take_sed  # noqa: PLC0415

    take_sed(reader, words, stdin)


HANDLERS: dict[str, Handler] = {
    "python": _take_python, "ipython": _take_python, "pypy": _take_python, "perl": _take_perl, "node": _take_node,
    "awk": _take_awk, "sed": _take_sed, "mongosh": _take_mongosh,
    **dict.fromkeys(_LANGUAGES, _take_language),
    **dict.fromkeys(_SPEAKING, _take_texts),
}  # fmt: skip

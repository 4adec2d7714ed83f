"""Scripts that chance puts together from pieces of bash, each with one denied command in it, well formed or not.

What a parser and bash read differently shows here: a script that the policy allows is run, and must not start it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from torture.sandbox import BOX_HOME

if TYPE_CHECKING:
    import random

    from torture.sandbox import Box

PROGRAM = "rm"
COMMANDS = (
    "rm q", "\\rm q", "'rm' q", "r\\m q", "r\\\nm q", "\\\nrm q", "$'rm' q", '"rm" q', "{ rm q; }", "( rm q )",
    "$(rm q)", "`rm q`", "\\r\\m q", "r''m q", "/bin/rm q", "\\/bin/rm q", "x=1 rm q", ">out rm q", "2>&1 rm q",
    "<n rm q", "command rm q", "\\command rm q", "env rm q", "$(echo rm) q", "! rm q", "time rm q", "eval rm q",
    "eval 'rm q'",
)  # fmt: skip
"""The denied command, in ways that are found out when they stand alone."""
ALPHABETS = (
    (
        "ls", "echo a", "true", "x=1", "cat n", "ls -la", "[ a ]", "[[ a ]]", "((1))", "\n", "\n", "\n", "\\\n", ";",
        "&", "&&", "||", "|", "|&", " ", " ", "\t", "#", " # c", "# c\n", "'", '"', "\\", "$", "`", "(", ")", "{ ",
        "; }", "<", "<<E\n", "\nE\n", "a\nE\n", "<<'E'\n", "<<-E\n", "<<<a", ">out", "2>&1", "&>out", "$(", "${x",
        "${x:-", "}", "$((", "))", "[[ ", "]]", "if ", "then ", "fi", "else ", "for i in a", "do ", "done", "while ",
        "case x in", "x)", ";;", "esac", "!", "time ", "f()", "f() {", "function f {", "f", "a=(", "a[0]=", "=", "+=",
        "\\ ", "\\;", "\\#", "\r", "%", "*", "?", "~", "[", "]", "^", "-", "--", "@", "'it''s'", '"a\\"b"',
        "$'a\\'b'", "\\'", '\\"', "coproc ", "select i in a", "until ", "{a,b}", "{", "in", "&>", "<(", "<(true)",
        ">(cat)", "$x", "${x}", "$#", "${#x}", "$?", "\\$", "\\`", "let x=1", "declare x=1", "export x=1", "local x",
        "unset x", "test a", "printf a", "exec", "return", "E", "EOF",
    ),
    (
        "'", '"', "\\", "$", "`", "$'", '$"', "a", " ", "\n", "#", "\\'", '\\"', "''", '""', ";", "echo ", "x=", "{",
        "}", "(", ")", "\\\\",
    ),
    (
        "cat <<E", "cat <<'E'", "cat <<-E", 'cat <<"E"', "cat <<\\E", "\nE\n", "\nE", "\n\tE\n", "\n E\n", "\na\n",
        "\n", "$(", "`", "${x:-", "}", ")", " | cat", " && true", " ; ls", " > out", "<<F", "\nF\n", '"', "'", "\\\n",
        "( ", " )", "{ ", "; }", "if ", "then ", "fi", "E", "#", "$x",
    ),
    (
        "[[ ", " ]]", "((", "))", "(", ")", "$((", "$[", "]", "a", "1", " == ", " =~ ", " < ", " > ", " && ", " || ",
        "!", " -f ", '"', "'", "#", "\n", ";", "[ ", " ]", "*", "?", "<<", "x=", "+", ",", "$x", "${x}",
    ),
    (
        "case x in ", "x) ", "(x) ", "*) ", ";; ", ";& ", "esac", "\n", ";", "if ", "then ", "else ", "fi ",
        "for i in a; do ", "done", "while ", "do ", "f() ", "{ ", "; }", "( ", ") ", "function f ", "f ", "echo esac",
        "echo done", "x=1", "#", "! ", "time ", "coproc ", "select i in a; do ", "in ", "|",
    ),
    (
        "${x", "${x:-", "${x#", "${x%", "${x/", "${x//", "${x^", "${x:", "${#x", "${!x", "${x[", "${x@", "}", "]",
        "/", '"', "'", "\\", "#", "$(", ")", "`", "{", "a", "*", " ", "\n", ";", "echo ", "x=", "$((", "))", "@Q",
        "[@]",
    ),
    (
        ">", "<", ">>", "<<<", ">&", "<&", "&>", "2>", "2>&1", ">|", "<>", "{fd}>", ">(", "<(", ")", "out", "n", "a",
        "/dev/null", "-", "1", " ", "\n", ";", "|", "&", "echo ", "cat ", "x=1 ", "exec ", "( ", "{ ", "; }", '"',
        "'", "$x",
    ),
    (
        "x=", "x+=", "x=(", ")", "a[", "a[0]", "a[$x]", "]=", "=", "declare ", "export ", "local ", "readonly ",
        "typeset -i ", "let ", "unset ", "1", "a", '"', "'", " ", "\n", ";", "$x", "$(", ")", "{a,b}", "#", "(",
        "\\\n", "&&", "env ", "-x ",
    ),
    (
        "\n", "\n", "\\\n", "\\\n", "\\", " ", "\t", "ls", "echo a", "true", "x=1", "|", "||", "&&", "&", ";", "#",
        "# c", "if true", "then", "fi", "{", "}", "(", ")", "!", "time", "do", "done", "\r", "[[ a ]]", "((1))",
        "cat <<E\na\nE\n",
    ),
)  # fmt: skip
"""A bit of everything; then what belongs together: quotes, here-documents, tests, blocks, expansions, files, values."""
BETWEEN = ("", " ", " ", "\n", ";")

DRIVER = """\
import json, os, subprocess, time

def starts(script, patience):
    before = os.path.getsize("/mark/ran")
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        subprocess.run(["bash", "-c", script], timeout=3, **quiet)
    except (subprocess.TimeoutExpired, ValueError):
        pass
    time.sleep(patience)
    return os.path.getsize("/mark/ran") > before

for name in ("/mark/ran", "n"):
    with open(name, "a") as file:
        file.write("a\\n")
with open("../scripts.json") as file:
    scripts = json.load(file)
suspects = [number for number, script in enumerate(scripts) if starts(script, 0)]
time.sleep(0.5)  # what one has left running may not count for the next
with open("../started.json", "w") as file:
    json.dump([number for number in suspects if starts(scripts[number], 0.3)], file)
"""


def make_script(chance: random.Random) -> str:
    """Some pieces of one alphabet, the command, and some more."""
    pieces = chance.choice(ALPHABETS)
    before = "".join(chance.choice(pieces) + chance.choice(BETWEEN) for _ in range(chance.randint(1, 5)))
    after = "".join(chance.choice(BETWEEN) + chance.choice(pieces) for _ in range(chance.randint(0, 4)))
    return before + chance.choice(COMMANDS) + after


def find_started(box: Box, scripts: list[str]) -> list[str]:
    """Those of the scripts that start the denied program; all of them run in one box, one after the other."""
    place = Path(tempfile.mkdtemp(dir=box.folder))
    shutil.copytree(box.folder / "home", place / "home", symlinks=True)
    (place / "mark").mkdir()
    (place / "home" / "scripts.json").write_text(json.dumps(scripts))
    (place / "home" / "driver.py").write_text(DRIVER)
    said = box.start(place, ["python3", "-I", f"{BOX_HOME}/driver.py"], seconds=60 + len(scripts))
    told = place / "home" / "started.json"
    assert told.exists(), said
    return [scripts[number] for number in json.loads(told.read_text())]

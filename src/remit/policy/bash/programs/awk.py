"""Awk: whether a program of its starts nothing, and which files it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.listings import note_stars
from remit.policy.bash.options import parse_options
from remit.policy.bash.programs.inline import MAX_CODE, UNREAD, doubt_code
from remit.policy.bash.programs.scripts import run_file
from remit.policy.bash.words import HOLE, SPLIT, Word

if TYPE_CHECKING:
    from remit.policy.bash.reading import Reader, Stdin


def take_awk(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """The program is its first operand, unless options give one."""
    spec = (
        "F: v: f: e: i: l: E: d: L: o: p: D: --field-separator: --assign: --file: --source: --include: --load: --exec:"
    )
    found = parse_options(words[1:], spec)
    programs = [value for name, value in found.options if name in ("-e", "--source")]
    given = edits = False
    for name, value in found.options:
        if name in ("-f", "--file", "-E", "--exec", "-i", "--include"):
            run_file(reader, value, stdin, "other")
            given = given or name not in ("-i", "--include")  # what is included is no program
            edits = edits or not value.is_sure or "inplace" in value.text
        elif name in ("-l", "--load", "-D", "-p", "-o", "-d"):
            reader.doubt(UNREAD)
    if found.is_doubtful:
        reader.doubt(UNREAD)
    note_stars(reader, found.operands)
    operands = list(found.operands)
    if not given and not programs:
        programs, operands = operands[:1], operands[1:]
    for word in operands if edits else ():
        reader.note_file(Word(word.text, word.kind), "write", edit=" ".join(each.text for each in words[1:]))
    for program in programs:
        if program.kind == SPLIT or not judge_awk(reader, program.text):
            doubt_code(reader, program.text)


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
        numbers = target.replace('"', " ").split()
        if target[:1] == '"' and all(map(str.isdigit, numbers)):
            path = "".join(texts[int(number)] for number in numbers)
            reader.note_file(Word(HOLE if "\\" in path else path), "write")
            if "\\" in path:
                reader.doubt("the name of a file that is written is not plain", always=True)
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

"""The bash policy as a target: any script, any rules; an answer always, and never allow for what is denied plainly."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from fuzz.target import Target, need_nothing, spell
from remit.policy import PROTECTED, PathContext, Permissions, ToolCall, judge

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUND: Final = PathContext("/home/agent/project", "/home/agent/project", "/home/agent", os.path.normpath, PROTECTED)
DENIED: Final = ("rm -rf", "sudo", "curl", "chmod +x", "git push", "dd if=*", "npm publish")
RANKS: Final = {"allow": 0, "ask": 1, "deny": 2}
LAYERS: Final = (
    (Permissions(None, {}, {"bash": DENIED}),),
    (Permissions(None, {"bash": ("git status", "ls", "npm run *")}, {}),),
    (Permissions(None, {"write": ("src/**",), "read": ("**/*",)}, {"write": (".git/**",)}), Permissions()),
    (Permissions(("bash",), {"bash": ("*",)}, {"bash": ("sudo",)}), Permissions(None, {}, {"read": ("**/*.key",)})),
)
WORDS: Final = (
    "rm -rf x", "sudo ", "git ", "push", "bash -c ", "sh <<< ", "eval ", "env ", "xargs ", "find . -exec ", " {} \\;",
    "$(", ")", "`", "${", "}", "$((", "))", "((", "[[ ", " ]]", "'", '"', "$'", "\\x72", "\\", "\n", "\\\n",
    "<<EOF\n", "\nEOF\n", "<<'E'\n", "\nE\n", "<(", ">(", "|", "||", "&&", "&", ";", ";;", "case a in ", "esac",
    "if ", "then ", "fi", "for a in ", "do ", "done", "while ", "f() { ", "a=", "$a", '"$@"', "{a,b}", "{1..9}", "*",
    "?", "[a-z]", "~", "#", "!", ">", ">>", "2>&1", "<", "python3 -c ", "import os\n", "awk ", "BEGIN{", "sed ",
    "s/a/b/e", "perl -pe ", "node -e ", "tar ", "--to-command=", "make ", "trap ", "alias ", "export ", "PATH=",
    "cd ", ".claude/settings.json", "remit.toml", "chmod ", "+x ", "755 ", "> n; sh n", "timeout 5 ", "nice ",
    "time ", "coproc ", "function ", "select ", "declare -n ", "read ", "printf -v ", "\x00", "\u202e", "\ud800", "é",
    "-", "--", "=", "(", "[", "]", "{", " ",
)  # fmt: skip


def check_laws(script: str, layers: tuple[Permissions, ...]) -> None:
    """Judge a script and assert all that must hold, whatever it is."""
    decision = judge(ToolCall("bash", command=script), layers, GROUND)
    assert decision.answer in ("allow", "ask", "deny")
    assert bool(decision.reason) == (decision.answer != "allow"), decision
    assert decision == judge(ToolCall("bash", command=script), layers, GROUND), "it says two things of one script"
    judged = judge(ToolCall("bash", command=script), layers, GROUND._replace(is_judged=True))
    assert RANKS[judged.answer] <= RANKS[decision.answer], "a judge at exec makes the words mean more"
    if layers is LAYERS[0]:
        worse = judge(ToolCall("bash", command=f"rm -rf x; {script}"), layers, GROUND)
        assert worse.answer != "allow", "a denied command was forgotten over what follows it"


def check_case(data: bytes) -> None:
    """Take the bytes apart, and try the laws."""
    if not data:
        return
    way, rest = data[0], data[1:]
    check_laws(spell(rest, WORDS, expanded=bool(way & 4)), LAYERS[way & 3])


def list_seeds() -> Iterator[bytes]:
    """The spellings of the tests, and each word by itself."""
    from torture.denied_programs import load_spellings  # noqa: PLC0415 - only for seeds

    for script in dict.fromkeys(each.script for each in load_spellings()[::3]):
        yield b"\x00" + script.encode("utf-8", "surrogateescape")
    for number in range(0x80, 0x100):
        yield bytes([4, number, number ^ 0x55, number])


TARGET = Target("bash_policy", ("remit.policy",), WORDS, list_seeds, need_nothing(check_case), max_bytes=16_384, asks=3)

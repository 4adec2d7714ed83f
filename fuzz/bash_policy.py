"""Fuzz the bash policy: any script, any rules; an answer always, quickly, and never allow for what is denied plainly.

Run as `python fuzz/bash_policy.py -max_total_time=20`; other options are libFuzzer's. A script that breaks a law is
written to a file, and `python fuzz/bash_policy.py FILE` runs it again.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import time
from pathlib import Path

import atheris

MAX_SECONDS = 0.25
MAX_BYTES = 66_000
"""A little more than is parsed at all."""
WATCHED = 6
"""How many times slower the package runs while the fuzzer watches every branch."""
ROOT = Path(__file__).resolve().parents[1]
WORKSHOP = ROOT / ".fuzz" / "bash"
"""Where the corpus grows from run to run; git does not see it."""

# Much of the package is imported when it is first needed, which would be too late to be watched.
with atheris.instrument_imports(include=["remit.policy"]):
    import remit.policy
    from remit.policy import PROTECTED, Call, Ground, Permissions, judge

    for module in pkgutil.walk_packages(remit.policy.__path__, "remit.policy."):
        importlib.import_module(module.name)

GROUND = Ground("/home/agent/project", "/home/agent/project", "/home/agent", os.path.normpath, PROTECTED)
DENIED = ("rm -rf", "sudo", "curl", "chmod +x", "git push", "dd if=*", "npm publish")
LAYERS = (
    (Permissions(None, {}, {"bash": DENIED}),),
    (Permissions(None, {"bash": ("git status", "ls", "npm run *")}, {}),),
    (Permissions(None, {"write": ("src/**",), "read": ("**/*",)}, {"write": (".git/**",)}), Permissions()),
    (Permissions(("bash",), {"bash": ("*",)}, {"bash": ("sudo",)}), Permissions(None, {}, {"read": ("**/*.key",)})),
)
FRAGMENTS = (
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


def expand(data: bytes) -> str:
    """Bytes below 0x80 as they are, all others as one of the fragments: so the fuzzer moves whole pieces about."""
    ascii_end = 0x80
    return "".join(chr(byte) if byte < ascii_end else FRAGMENTS[byte % len(FRAGMENTS)] for byte in data)


def check_laws(script: str, layers: tuple[Permissions, ...], *, max_seconds: float) -> None:
    """Judge a script and assert all that must hold, whatever it is."""
    start = time.process_time()
    decision = judge(Call("bash", command=script), layers, GROUND)
    spent = time.process_time() - start
    assert spent < max_seconds, f"{spent:.3f} s"
    assert decision.answer in ("allow", "ask", "deny")
    assert bool(decision.reason) == (decision.answer != "allow"), decision
    assert decision == judge(Call("bash", command=script), layers, GROUND), "it says two things of one script"
    if layers is LAYERS[0]:
        worse = judge(Call("bash", command=f"rm -rf x; {script}"), layers, GROUND)
        assert worse.answer != "allow", "a denied command was forgotten over what follows it"


def test_one_input(data: bytes) -> None:
    """What libFuzzer calls: the first byte says which rules and which spelling."""
    if not data:
        return
    way, rest = data[0], data[1:]
    script = expand(rest) if way & 4 else rest.decode("utf-8", "surrogateescape")
    check_laws(script, LAYERS[way & 3], max_seconds=MAX_SECONDS * WATCHED)


def write_seeds(folder: Path) -> None:
    """A script for each fragment, and the commands of the tests."""
    sys.path.insert(0, str(ROOT))
    from tests.policy.spellings import list_spellings  # noqa: PLC0415 - only a run without files needs them

    for number, script in enumerate(dict.fromkeys(each.script for each in list_spellings()[::7])):
        (folder / f"s{number}").write_bytes(b"\x00" + script.encode("utf-8", "surrogateescape"))
    for number in range(0x80, 0x100):
        (folder / f"f{number}").write_bytes(bytes([4, number, number ^ 0x55, number]))


def write_words(file: Path) -> None:
    """The fragments, as libFuzzer's dictionary."""
    words = {word.encode("utf-8", "surrogatepass")[:64] for word in FRAGMENTS}
    lines = ["".join(f"\\x{byte:02x}" for byte in word) for word in sorted(words)]
    file.write_text("".join(f'"{line}"\n' for line in lines), encoding="ascii")


def main() -> None:
    """Run libFuzzer over what earlier runs found worth keeping, or over the files that were named."""
    corpus, words = WORKSHOP / "corpus", WORKSHOP / "words"
    corpus.mkdir(parents=True, exist_ok=True)
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    if not named:
        write_seeds(corpus)
    write_words(words)
    options = [f"-dict={words}", f"-max_len={MAX_BYTES}", "-timeout=20"]
    atheris.Setup([*sys.argv, *options, *([] if named else [str(corpus)])], test_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

"""Run spellings of denied programs under the launcher with its judge, and count those that still start one.

Run as `python torture/denied_programs.py`; `--help` lists the options. `tests/data/denied_programs.jsonl` has the
scripts; each starts what is denied if nothing stops it. They run in a box of `sandbox`, where stubs stand in for the
denied programs: first bare, then as a confined command with the one rule. A script with a `limit` may start it. The
ordinary commands of `tests/support` run with the rules of all spellings, and the judge may refuse none of them.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from remit.confine.profile import Profile
from tests.support.ordinary_commands import Ordinary, list_ordinary
from torture.sandbox import BOX_HOME, Box, Ran, find_trouble
from torture.stage import spread
from torture.tally import tell

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "data" / "denied_programs.jsonl"
STUBS = "chmod curl dd docker kubectl npm npx pip pip3 rm shutdown sudo terraform wget".split()  # noqa: SIM905 - a list of words
MODULES = ("pip",)
OPTIONS, SHAPES = "options", "patterns of other shapes"
"""The kinds of spellings that change the words of the command, or that are tried under a pattern of their own."""
RECURSIVE = re.compile(r"--r\w*|-[a-zA-Z]*[rR][a-zA-Z]*")
FORCED = re.compile(r"--f\w*|-[a-zA-Z]*f[a-zA-Z]*")
EXECUTABLE = re.compile(r"[ugoa,=+rwx-]*[+=][rwX]*x.*|0*[0-7]*[1357][0-7]*|--reference=.*")
SHORTEST = 3
"""npm takes its commands by their first letters."""


class Spelling(NamedTuple):
    """A script that starts what a pattern denies."""

    kind: str
    deny: str
    command: str
    script: str
    limit: str = ""
    """Why the judge doesn't stop it, if it doesn't."""

    @property
    def name(self) -> str:
        """The kind, the pattern and the script on one line."""
        return f"{self.kind}: {self.deny}: {self.script!r}"


class Told(NamedTuple):
    """What came of a spelling."""

    spelling: Spelling
    bare: bool
    """Whether it starts what is denied if nothing stops it; True if that wasn't tried."""
    judged: bool
    said: str


def load_spellings() -> list[Spelling]:
    """Return the corpus."""
    lines = CORPUS.read_text("utf-8").split("\n")
    return [Spelling(**json.loads(line)) for line in lines if line]


def did_start(spelling: Spelling, ran: Ran) -> bool:
    """Return whether what is denied was really started, with the words that make it what is denied."""
    program = re.split(r"[ :*]", spelling.deny)[0]
    if program == "git":
        return ran.pushed
    starts = [start[1:] for start in ran.starts if start[0].rstrip("3") == program.rstrip("3")]
    if spelling.kind == SHAPES:
        return bool(starts)
    if spelling.kind != OPTIONS:
        return any({*spelling.command.split()[1:]} <= {*words} for words in starts)
    if spelling.deny == "rm -rf":
        return any(any(map(RECURSIVE.fullmatch, words)) and any(map(FORCED.fullmatch, words)) for words in starts)
    if spelling.deny == "chmod +x":
        return any(any(map(EXECUTABLE.fullmatch, words)) for words in starts)
    rest = spelling.deny.partition(" ")[2]
    return any(not rest or any(len(w) >= SHORTEST and rest.startswith(w) for w in words) for words in starts)


class JudgedBox:
    """A box with the launcher and a profile for each rule."""

    def __init__(self, folder: Path, rules: list[tuple[str, ...]]) -> None:
        self.box = Box(folder, STUBS, MODULES)
        package = folder / "package"
        shutil.copytree(ROOT / "src" / "remit", package / "remit", ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(package / "remit" / "confine", quiet=1)
        compileall.compile_dir(package / "remit" / "policy", quiet=1)
        self.places: dict[tuple[str, ...], str] = {}
        for number, deny in enumerate(dict.fromkeys(rules)):
            profile = Profile(write=(BOX_HOME, "/mark", "/run", "/tmp"), deny=deny)  # noqa: S108 - the box's own
            (package / f"profile-{number}").write_bytes(profile.render())
            self.places[deny] = f"/package/profile-{number}"
        prefix = os.path.realpath(sys.base_prefix)
        self.python = os.path.realpath(sys.executable)
        python = () if prefix == "/usr" else ("--ro-bind", prefix, prefix)
        self.box.more = ("--ro-bind", str(package), "/package", *python)

    def run(self, script: str, deny: tuple[str, ...]) -> Ran:
        """Run a script confined, with rules."""
        start = "import sys; sys.path.append(sys.argv[1]); import launcher; launcher.main(sys.argv[2:])"
        words = [self.python, "-I", "-S", "-c", start, "/package/remit/confine", self.places[deny], "--"]
        return self.box.run(script, words)


def try_all(spellings: list[Spelling], folder: Path, jobs: int, *, bare: bool = True) -> list[Told]:
    """Run each spelling bare and judged, some at once. `bare`: whether to try that, too."""
    judged = JudgedBox(folder, [(each.deny,) for each in spellings])

    def attempt(each: Spelling) -> Told:
        started = did_start(each, judged.box.run(each.script)) if bare else True
        ran = judged.run(each.script, (each.deny,))
        return Told(each, started, did_start(each, ran), ran.said)

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(attempt, spellings))


def try_ordinary(commands: list[Ordinary], folder: Path, jobs: int) -> list[str]:
    """Run ordinary commands judged; those that the judge refused, with what they said."""
    judged = JudgedBox(folder, [each.deny for each in commands])

    def attempt(each: Ordinary) -> str:
        said = judged.run(each.command, each.deny).said
        return f"{each.command!r}: {said!r}" if "remit: " in said else ""

    with ThreadPoolExecutor(jobs) as pool:
        return [each for each in pool.map(attempt, commands) if each]


def main() -> int:
    """Try all, or some, and print those that started what is denied."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--most", type=int, default=0, metavar="N", help="at most N, evenly spread")
    parser.add_argument("--only", metavar="TEXT", help="those whose name has this text")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="so many boxes at once (2)")
    parser.add_argument("--no-bare", action="store_true", help="don't run them bare first")
    parser.add_argument("--said", action="store_true", help="print what each script said")
    parser.add_argument("--no-ordinary", action="store_true", help="don't run ordinary commands")
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    options = parser.parse_args()
    if trouble := find_trouble():
        print(trouble)
        return 2
    chosen = [each for each in load_spellings() if not options.only or options.only in each.name]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="remit-programs-", ignore_cleanup_errors=True) as folder:
        told = try_all(spread(chosen, options.most), Path(folder), options.jobs, bare=not options.no_bare)
    commands = [] if options.no_ordinary or options.only else spread(list_ordinary(), options.most)
    with tempfile.TemporaryDirectory(prefix="remit-programs-", ignore_cleanup_errors=True) as folder:
        refused = try_ordinary(commands, Path(folder), options.jobs)
    real = [each for each in told if each.bare]
    started = [each for each in real if each.judged]
    limits = [each for each in started if each.spelling.limit]
    through = [each for each in started if not each.spelling.limit]
    tell(len(real), len(through) + len(refused), stopped=len(real) - len(started), limits=len(limits),
         ordinary=len(commands))  # fmt: skip
    counts = {"tried": len(told), "started bare": len(real), "stopped": len(real) - len(started), "limits": len(limits),
              "ordinary": len(commands), "refused": len(refused)}  # fmt: skip
    if options.json:
        print(json.dumps(counts | {"through": [each.spelling._asdict() for each in through], "wrongly": refused}))
        return 1 if through or refused else 0
    for each in limits:
        print(f"limit: {each.spelling.name}: {each.spelling.limit}")
    for each in told if options.said else through:
        print(f"{'STARTED' if each.judged else 'stopped'} {each.spelling.name}")
        if options.said:
            print(f"   {each.said!r}")
    for said in refused:
        print(f"REFUSED {said}")
    print(", ".join(f"{number} {what}" for what, number in counts.items()), f"{time.perf_counter() - began:.0f} s")
    return 1 if through or refused else 0


if __name__ == "__main__":
    sys.exit(main())

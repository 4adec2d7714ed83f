"""Start denied programs in every way there is, and count whom the policy would have let through.

Run as `python torture/bypasses.py`; `--help` lists the options. Each spelling of `tests/policy/spellings.py` runs, in a
box of `sandbox` where a stub stands in for the denied program. It counts if the stub was started; then the policy is
asked about the script, and must not allow it. The commands of `tests/policy/ordinary.py` are asked about as well.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from tests.policy.asking import ask
from tests.policy.ordinary import list_ordinary
from tests.policy.spellings import OPTIONS, SHAPES, STUBS, Spelling, list_spellings
from torture.random_scripts import PROGRAM, find_started, make_script
from torture.sandbox import Box, Ran, find_trouble
from torture.stage import spread
from torture.tally import tell

NO_BOX = 2
"""How it ends where no box can be made."""
MOST_ASKED = 0.03
"""Of ordinary commands no more may be asked about."""
MODULES = ("pip",)
RECURSIVE = re.compile(r"--r\w*|-[a-zA-Z]*[rR][a-zA-Z]*")
FORCED = re.compile(r"--f\w*|-[a-zA-Z]*f[a-zA-Z]*")
EXECUTABLE = re.compile(r"[ugoa,=+rwx-]*[+=][rwX]*x.*|0*[0-7]*[1357][0-7]*|--reference=.*")
SHORTEST = 3
"""npm takes its commands by their first letters."""


class Told(NamedTuple):
    """What came of a spelling."""

    spelling: Spelling
    started: bool
    answer: str
    said: str


def did_start(spelling: Spelling, ran: Ran) -> bool:
    """Whether what is denied was really started, with the arguments that make it what is denied."""
    denied = spelling.denied
    if denied.program == "git":
        return ran.pushed
    starts = [start[1:] for start in ran.starts if start[0].rstrip("3") == denied.program.rstrip("3")]
    if spelling.kind == SHAPES:
        return bool(starts)
    if spelling.kind != OPTIONS:
        return any(set(denied.command.split()[1:]) <= set(words) for words in starts)
    if denied.pattern == "rm -rf":
        return any(any(map(RECURSIVE.fullmatch, words)) and any(map(FORCED.fullmatch, words)) for words in starts)
    if denied.pattern == "chmod +x":
        return any(any(map(EXECUTABLE.fullmatch, words)) for words in starts)
    rest = denied.pattern.partition(" ")[2]
    return any(not rest or any(len(w) >= SHORTEST and rest.startswith(w) for w in words) for words in starts)


def try_all(spellings: list[Spelling], box: Box, jobs: int) -> list[Told]:
    """Run every spelling, some at once, then ask the policy about each: the parser is no matter for several threads."""
    with ThreadPoolExecutor(jobs) as pool:
        runs = list(pool.map(lambda each: box.run(each.script), spellings))
    return [
        Told(each, did_start(each, ran), ask(each.script, deny=(each.denied.pattern,)).answer, ran.said)
        for each, ran in zip(spellings, runs, strict=True)
    ]


class Chances(NamedTuple):
    """What came of random scripts."""

    answers: Counter[str]
    through: list[str]
    """Those that were allowed, and started it."""


def try_chances(count: int, seed: int, box: Box) -> Chances:
    """Ask about so many random scripts, and run those that are allowed."""
    chance = random.Random(seed)
    answers: Counter[str] = Counter()
    allowed = []
    for _ in range(count):
        script = make_script(chance)
        answer = ask(script, deny=(PROGRAM,)).answer
        answers[answer] += 1
        if answer == "allow":
            allowed.append(script)
    return Chances(answers, find_started(box, allowed))


def render_counts(told: list[Told]) -> str:
    """A line for each class, and all of them together."""
    kinds = dict.fromkeys(each.spelling.kind for each in told)
    rows = [(kind, [each for each in told if each.spelling.kind == kind]) for kind in kinds]
    lines = []
    for kind, some in [*rows, ("all", told)]:
        started = [each for each in some if each.started]
        answers = Counter(each.answer for each in started)
        ways = len({each.spelling.way for each in started})
        lines.append(
            f"{kind:<26} {len(some):>6} tried · {len(started):>6} started it ({ways:>5} ways) · "
            f"{answers['deny']:>6} denied, {answers['ask']:>5} asked, {answers['allow']:>4} ALLOWED"
        )
    return "\n".join(lines)


def main() -> int:
    """Try all, or some, and print who got through."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--most", type=int, default=0, metavar="N", help="at most N, evenly spread")
    parser.add_argument("--each", type=int, default=4, metavar="N", help="so many commands for each way (4)")
    parser.add_argument("--only", metavar="TEXT", help="those whose name has this text")
    parser.add_argument("--batch", type=int, default=0, metavar="N", help="those of one batch")
    parser.add_argument("--random", type=int, default=100_000, metavar="N", help="so many random scripts (100,000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="where chance begins (0)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="so many boxes at once (2)")
    parser.add_argument("--json", action="store_true", help="the results as JSON")
    options = parser.parse_args()
    if trouble := find_trouble():
        print(trouble)
        return NO_BOX
    chosen = [
        each
        for each in list_spellings(options.each)
        if (not options.only or options.only in each.name) and options.batch in {0, each.batch}
    ]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="remit-bypasses-", ignore_cleanup_errors=True) as folder:
        box = Box(Path(folder), STUBS, MODULES)
        told = try_all(spread(chosen, options.most), box, options.jobs)
        chances = try_chances(options.random, options.seed, box)
    allowed = [each for each in told if each.started and each.answer == "allow"]
    ordinary = Counter(ask(each.command, deny=each.deny).answer for each in list_ordinary())
    started = sum(each.started for each in told)
    too_strict = ordinary["deny"] + (ordinary["ask"] > ordinary.total() * MOST_ASKED)
    tell(started, len(allowed) + len(chances.through) + too_strict, random=options.random, ordinary=ordinary.total())
    if options.json:
        rows = [each.spelling._asdict() | {"name": each.spelling.name} | each._asdict() for each in told]
        print(json.dumps({"spellings": rows, "ordinary": ordinary, "random": chances._asdict()}))
        return 1 if allowed or chances.through or too_strict else 0
    print(render_counts(told))
    for each in allowed:
        print(f"ALLOWED {each.spelling.name}")
    for script in chances.through:
        print(f"ALLOWED {script!r}")
    answers = ", ".join(f"{number} {answer}" for answer, number in sorted(chances.answers.items()))
    print(f"{options.random} random scripts: {answers}; {len(chances.through)} of those allowed start it")
    print(f"{ordinary.total()} ordinary commands: {ordinary['ask']} asked, {ordinary['deny']} denied")
    print(f"{len(told)} tried, {time.perf_counter() - began:.0f} s")
    return 1 if allowed or chances.through or too_strict else 0


if __name__ == "__main__":
    sys.exit(main())

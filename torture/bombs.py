"""Lay bombs before commands, each in a process of its own, and measure what it takes.

Run as `python torture/bombs.py`; `--help` lists the options. A command must end by itself with an exit code of its own
and say what it has to say without a traceback, within 2 seconds of processor time and 200 MB; and a clock on the wall
ends it where it waits. A reader that guards itself against nothing meets some of them as well: it must be found out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from torture.bomb_kinds import Bomb, list_bombs
from torture.stage import spread
from torture.tally import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_SECONDS = 2.0
MAX_MB = 200
HANGS_AFTER = 120
"""On the wall: a busy machine takes its time, and who waits for a pipe waits for ever."""
LAUNCHER = """
import json, os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))  # here the machine is guarded, not the promise
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
_, status, used = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[2], sys.argv[2:]), 0)
with open(sys.argv[1], "w") as file:
    json.dump([status, used.ru_utime + used.ru_stime, used.ru_maxrss], file)
"""
"""A small process between: the system counts the memory of whoever starts a process as that process's own."""
MAIN = "from remit.cli import main; main()"
RUN = """
import asyncio, os, sys
from remit.runs.request import Request
from remit.runs.workspace import Workspace
from torture.bomb_kinds import make_return
async def act(prompt):
    os.rename("laid", "plan.md")
    return make_return("plan.md", next(word for word in prompt.replace('"', " ").split() if word.startswith("sess_")))
async def main():
    async with Workspace.open(".") as ws:
        result = await ws.run(Request("planner", "Plan it.", function=act, settles=False, evidence=True, reasks=0))
        print(result.status, result.verdict)
asyncio.run(main())
"""
"""An agent that claims what was laid, as its own work."""
NAIVE = "import json, sys; text = open(sys.argv[1]).read(); json.loads(text.strip() or '0')"
FOUND_OUT = ("an endless device", "a line of 100 MB", "lists in lists")


class Blast(NamedTuple):
    """What came of a bomb."""

    subject: str
    name: str
    seconds: float
    """Of the processor."""
    megabytes: float
    code: int
    complaints: tuple[str, ...]


def lay_and_run(bomb: Bomb, program: Sequence[str] | None = None) -> Blast:
    """Lay a bomb in a workspace of its own, and run the command that meets it."""
    root = Path(tempfile.mkdtemp(prefix="remit-bomb-"))
    try:
        (root / ".git").mkdir()
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (root / "remit.toml").touch()
        bomb.lay(root)
        code = RUN if bomb.subject == "run" else MAIN
        return measure(bomb, program or (sys.executable, "-c", code, *bomb.command), root)
    finally:
        shutil.rmtree(root)


def measure(bomb: Bomb, command: Sequence[str], root: Path) -> Blast:
    """Run a command to its end; what it took, and all that is wrong with how it ended."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(root), "REMIT_ROOT": str(root), "PYTHONPATH": _find_sources()}
    given, used = root / bomb.stdin if bomb.stdin else Path(os.devnull), root / "used"
    launched = (sys.executable, "-I", "-S", "-c", LAUNCHER, str(used), *command)
    with given.open("rb") as stdin, (root / "out").open("w+b") as out, (root / "err").open("w+b") as err:
        child = subprocess.Popen(
            launched, cwd=root, env=environ, stdin=stdin, stdout=out, stderr=err, start_new_session=True
        )
        try:
            child.wait(HANGS_AFTER)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        err.seek(0)
        said = err.read(20_000).decode("utf-8", "replace")
    is_late = not used.exists()
    status, seconds, kilobytes = (0, 0.0, 0) if is_late else json.loads(used.read_text(encoding="ascii"))
    code, megabytes = os.waitstatus_to_exitcode(status), kilobytes / 1024
    complaints = [
        (is_late, f"it had not ended after {HANGS_AFTER} s"),
        (code not in (0, 1, 2), f"it ended with {code}: {said[-300:]}"),
        ("Traceback" in said, f"a traceback: {said[-300:]}"),
        (seconds > MAX_SECONDS, f"it took {seconds:.1f} s of the processor"),
        (megabytes > MAX_MB, f"it took {megabytes:.0f} MB"),
    ]
    told = tuple(sentence for is_so, sentence in complaints if is_so)
    return Blast(bomb.subject, bomb.name, round(seconds, 2), round(megabytes, 1), code, told)


def _find_sources() -> str:
    root = Path(__file__).resolve().parents[1]
    return f"{root / 'src'}:{root}"


def find_out() -> list[Blast]:
    """A reader that guards itself against nothing, before some of the bombs that are files."""
    chosen = [bomb for bomb in list_bombs() if bomb.subject == "check" and bomb.name in FOUND_OUT]
    return [lay_and_run(bomb, (sys.executable, "-c", NAIVE, "bomb.md")) for bomb in chosen]


def main() -> int:
    """Lay all, or some, and print what they took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--most", type=int, default=0, metavar="N", help="at most N, evenly spread")
    parser.add_argument("--only", metavar="TEXT", help="those whose subject or name has this text")
    parser.add_argument("--json", action="store_true", help="the results as JSON")
    options = parser.parse_args()
    bombs = [each for each in list_bombs() if not options.only or options.only in f"{each.subject}: {each.name}"]
    began = time.perf_counter()
    blasts = [lay_and_run(bomb) for bomb in spread(bombs, options.most)]
    naive = [] if options.only else find_out()
    bad = [each for each in blasts if each.complaints]
    unseen = [each for each in naive if not each.complaints]
    tell(len(blasts), len(bad) + len(unseen))
    if options.json:
        print(json.dumps({"blasts": [each._asdict() for each in blasts], "naive": [each._asdict() for each in naive]}))
        return 1 if bad or unseen else 0
    for subject in dict.fromkeys(each.subject for each in blasts):
        own = [each for each in blasts if each.subject == subject]
        most_s, most_mb = max(each.seconds for each in own), max(each.megabytes for each in own)
        print(f"{subject:<16} {len(own):>4} · at most {most_s:.1f} s, {most_mb:.0f} MB")
    for each in bad:
        print(f"BAD {each.subject}: {each.name}: {'; '.join(each.complaints)}")
        print(f"  again: python torture/bombs.py --only '{each.subject}: {each.name}'")
    for each in unseen:
        print(f"NOT FOUND OUT {each.name}: nothing is proved")
    print(f"{len(blasts)} bombs, {len(bad)} bad, {time.perf_counter() - began:.0f} s")
    return 1 if bad or unseen else 0


if __name__ == "__main__":
    sys.exit(main())

"""Kill the supervisor while agents run, again and again, and count what they did and what came of it.

Run as `python torture/supervisors.py`; `--help` lists the options. A supervisor admits so many agents and is killed at
a random moment; another takes over, or two at once, and is killed in turn: while agents are admitted, while all of them
run, and while they end. Afterwards every delegation must be settled with its agent's own return, every agent must have
been started once, and nothing may be alive.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from remit.attempts.folders import list_living
from remit.ledger.home import Home
from remit.ledger.runs import list_attempts, list_runs
from remit.runs.request import Request
from remit.runs.workspace import Workspace
from remit.testing import ScriptedAgent
from torture.tally import tell

if TYPE_CHECKING:
    from remit.ledger.runs import Run

KINDS = 5
"""So many agents that differ in how long they take."""
_PATIENCE_S = 300
_FOLDER, _AGENTS, _GATE = "work", "agents", "gate"


class Report(NamedTuple):
    """What was done, and what is wrong."""

    agents: int
    recoverers: int
    kills: list[int]
    """So many supervisors were killed while agents were admitted, ran, and ended."""
    living: int
    """So many agents were alive at every kill in the middle, at least."""
    took_over: int
    """So often a delegation got another supervisor."""
    lost: int
    doubled: int
    complaints: list[str]
    seconds: float


def make_agent(folder: Path, number: int, *, slowest_s: float) -> ScriptedAgent:
    """An agent that waits for the signal, takes its time, and writes a file of its own."""
    agent = ScriptedAgent(folder / _AGENTS, f"agent{number}").waits_for(str(folder / _GATE))
    path = "out/${session}.md"
    return agent.sleeps(slowest_s * number / KINDS).writes(path, "# ${session}\n").returns()


# --- the supervisor that is killed ------------------------------------------------------------------------------------


async def work(folder: Path, agents: int, slowest_s: float) -> None:
    """Take up what is there, admit what is missing, and stay until all is settled."""
    async with Workspace.open(folder / _FOLDER) as ws:
        there = len(ws.list(only_open=False))
        for number in range(there, agents):
            agent = make_agent(folder, number % KINDS, slowest_s=slowest_s)
            await ws.start(Request(None, f"Do the work {number}.", command=agent.command, timeout_s=_PATIENCE_S))
            await asyncio.sleep(0)
        for row in ws.list():
            await ws.wait(row.session_id)


def _start_broker(folder: Path, agents: int, slowest_s: float) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--work", str(folder), "--agents", str(agents), "--slowest", str(slowest_s)]
    with (folder / "supervisors.log").open("ab") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


# --- the one who kills ------------------------------------------------------------------------------------------------


class Killer:
    """Starts supervisors and kills them."""

    def __init__(self, folder: Path, options: Any, recoverers: int) -> None:  # noqa: ANN401 - of argparse
        self.folder, self.options, self.recoverers = folder, options, recoverers
        self.chance = random.Random(options.seed + recoverers)
        self.agents = [make_agent(folder, number, slowest_s=options.slowest) for number in range(KINDS)]
        root = folder / _FOLDER
        (root / ".git").mkdir(parents=True)
        (root / "remit.toml").write_text("[limits]\nrunning = 500\n")
        self.home = Home(str(root))
        self.complaints: list[str] = []

    def start(self) -> list[subprocess.Popen[bytes]]:
        """Start as many as there are to be. Two that admit what is missing would both admit it."""
        count = self.recoverers if self.is_full() else 1
        return [_start_broker(self.folder, self.options.agents, self.options.slowest) for _ in range(count)]

    def is_full(self) -> bool:
        """Whether everything is admitted."""
        return self.home.is_made and len(list_runs(self.home.ledger, limit=100_000)) >= self.options.agents

    def count_living(self) -> int:
        """How many agents have begun and are alive."""
        return len(list_living(self.home)) if self.home.is_made else 0

    def kill(self, supervisors: list[subprocess.Popen[bytes]]) -> int:
        """Kill them, not quite at once; how many were still there."""
        for supervisor in supervisors:
            time.sleep(self.chance.uniform(0, 0.1))
            supervisor.send_signal(signal.SIGKILL)
            supervisor.wait()
        return sum(supervisor.returncode == -signal.SIGKILL for supervisor in supervisors)

    def kill_early(self) -> int:
        """While agents are admitted."""
        killed = 0
        while killed < self.options.kills and not self.is_full():
            supervisors = self.start()
            time.sleep(self.chance.uniform(0.5, 2.0))
            killed += self.kill(supervisors)
        return killed

    def kill_amid(self) -> tuple[int, int]:
        """While all of them run; how many were killed, and how many agents were alive at least."""
        killed, least = 0, self.options.agents
        while killed < self.options.kills:
            supervisors = self.start()
            last = time.monotonic() + _PATIENCE_S
            while self.count_living() < self.options.agents and time.monotonic() < last:
                time.sleep(0.05)
            time.sleep(self.chance.uniform(0, 0.5))
            least = min(least, self.count_living())
            killed += self.kill(supervisors)
        return killed, least

    def kill_late(self) -> int:
        """While they end."""
        (self.folder / _GATE).touch()
        killed = 0
        while killed < self.options.kills and list_runs(self.home.ledger, only_open=True, limit=1):
            supervisors = self.start()
            time.sleep(self.chance.uniform(0.3, 1.5))
            killed += self.kill(supervisors)
        return killed

    def finish(self) -> None:
        """Let the last ones do what is left."""
        for supervisor in self.start():
            if code := supervisor.wait(_PATIENCE_S):
                self.complaints.append(f"the last supervisor ended with {code}: {_read_log(self.folder)}")


def torture(folder: Path, options: Any, recoverers: int) -> Report:  # noqa: ANN401 - of argparse
    """Kill in every phase, let the last ones finish, and look."""
    began = time.perf_counter()
    killer = Killer(folder, options, recoverers)
    early = killer.kill_early()
    amid, living = killer.kill_amid()
    late = killer.kill_late()
    killer.finish()
    home, complaints = killer.home, killer.complaints
    rows = list_runs(home.ledger, limit=100_000)
    starts = Counter(act.session for agent in killer.agents for act in agent.did("began"))
    complaints += _find_complaints(home, rows, starts, folder)
    alive = [pid for agent in killer.agents for pid in agent.list_living()]
    complaints += [f"{len(alive)} processes are alive"] if alive else []
    report = Report(
        options.agents, recoverers, [early, amid, late], living, _count_events(home, "claimed"),
        options.agents - sum(row.state == "finished" and row.status == "completed" for row in rows),
        sum(count > 1 for count in starts.values()), complaints, round(time.perf_counter() - began, 1),
    )  # fmt: skip
    home.close()
    return report


def _find_complaints(home: Home, rows: list[Run], starts: Counter[str], folder: Path) -> list[str]:
    """All that is not as it would be if nobody had been killed."""
    told = [f"{session} was started {count} times" for session, count in starts.items() if count != 1]
    known = {row.session_id for row in rows}
    told += [f"{session} runs, and the ledger does not know it" for session in starts.keys() - known]
    for row in rows:
        tries = list_attempts(home.ledger, row.session_id)
        if (row.state, row.status, row.verdict, row.stop_reason) != ("finished", "completed", "accepted", "exited"):
            told.append(f"{row.session_id} is {row.state}, {row.status}, {row.verdict}, {row.stop_reason}")
        if len(tries) != 1 or starts[row.session_id] != 1:
            told.append(f"{row.session_id} has {len(tries)} attempts and {starts[row.session_id]} starts")
        if not (folder / _FOLDER / "out" / f"{row.session_id}.md").is_file():
            told.append(f"{row.session_id} left no file")
        for kind in ("running", "finishing", "finished"):
            count = _count_events(home, kind, row.session_id)
            told += [f"{row.session_id} was {kind} {count} times"] if count != 1 else []
    return told


def _count_events(home: Home, kind: str, session_id: str | None = None) -> int:
    query = "SELECT count(*) FROM events WHERE kind = ? AND (? IS NULL OR session_id = ?)"
    with home.ledger.reading() as db:
        counted: int = db.execute(query, (kind, session_id, session_id)).fetchone()[0]
    return counted


def _read_log(folder: Path) -> str:
    return (folder / "supervisors.log").read_text("utf-8", "replace")[-2000:]


def main() -> int:
    """Torture with one recoverer and with two, and print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument(
        "--kills", type=int, default=4, help="so many supervisors are killed in each of the three phases"
    )
    parser.add_argument(
        "--slowest", type=float, default=5.0, metavar="SECONDS", help="how long the slowest agent takes"
    )
    parser.add_argument("--recoverers", type=int, action="append", help="so many at once; may be given again")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        asyncio.run(work(Path(options.work), options.agents, options.slowest))
        return 0
    reports = [_torture_once(recoverers, options) for recoverers in options.recoverers or (1, 2)]
    bad = sum(report.lost + report.doubled + len(report.complaints) for report in reports)
    tell(sum(sum(report.kills) for report in reports), bad, agents=sum(report.agents for report in reports))
    if options.json:
        print(json.dumps([report._asdict() for report in reports]))
    return 1 if any(report.complaints or report.lost or report.doubled for report in reports) else 0


def _torture_once(recoverers: int, options: Any) -> Report:  # noqa: ANN401 - of argparse
    folder = Path(tempfile.mkdtemp(prefix="remit-supervisors-"))
    try:
        report = torture(folder, options, recoverers)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not options.json:
        early, amid, late = report.kills
        print(
            f"{report.agents} agents, {recoverers} supervisor{'s' * (recoverers != 1)} at once: {early} killed while "
            f"agents were admitted, {amid} while {report.living} ran, {late} while they ended; taken over "
            f"{report.took_over} times: {report.lost} lost, {report.doubled} run twice, "
            f"{len(report.complaints)} complaints, {report.seconds} s"
        )
        print("".join(f"  {complaint}\n" for complaint in report.complaints[:20]), end="", flush=True)
    return report


if __name__ == "__main__":
    sys.exit(main())

"""Let delegations live through random histories, and hold what came of them against a small model.

Run as `python torture/histories.py`; `--help` lists the options. In a history agents are admitted, run, hand work on,
hang until their time is up, fail and are cancelled, and the process that drives them dies: before or after any change
of the ledger, or between two. Others take over, two at once if it comes so. The last one finishes. Then every
delegation must be settled once, with an ending that its history explains, and every agent must have begun once at most.

The agents are functions, which go with their process: what ran when it died is an orphan. The ledger, the supervisor
and the recovery are the real ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from remit.ledger.home import Home
from remit.ledger.runs import list_runs
from remit.ledger.texts import load_text
from remit.runs.request import Request
from remit.runs.workspace import Workspace
from remit.testing.backends import AGENT_FILE
from torture.stage import MEMORY
from torture.tally import tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection

    from remit.ledger.runs import Run

EACH_PLACE = 50
"""So many histories share a workspace."""
SLOTS = 3
WAYS = ("returns", "returns", "returns", "blocks", "raises", "rambles", "hangs", "hands on", "hands on twice")
HANG_S = 0.03
_MOST_CHANGES = 40
_NAMES = ("first", "second", "third", "fourth")


class Death(BaseException):
    """The process is gone: no `except Exception` holds it."""


class Life:
    """A process, as far as the ledger sees one: it may die at any change, and nothing it does afterwards counts."""

    def __init__(self, ws: Workspace, number: int, dies_at: int | None) -> None:
        self.ws, self.number, self.dies_at = ws, number, dies_at
        self.id = ws.backend.id
        self.tasks: set[asyncio.Task[Any]] = set()
        self.body: asyncio.Future[None] | None = None
        """What it does: this too ends with it."""
        self.changes = 0
        self.is_dead = False
        ledger: Any = ws.home.ledger
        self._transaction, self._reading = ledger.transaction, ledger.reading
        ledger.transaction, ledger.reading = self.transaction, self.reading

    def step(self) -> None:
        """Die, if this is the moment."""
        self.changes += 1
        self.is_dead = self.is_dead or self.changes == self.dies_at
        if self.is_dead:
            if self.body is not None:
                self.body.cancel()
            raise Death

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[Connection]:
        """A change of the ledger: it may be the last thing that was wanted, or the last that was done."""
        is_outer = not self.ws.home.ledger.db.in_transaction
        if is_outer:
            self.step()
        with self._transaction(durable=durable) as db:
            yield db
        if is_outer:
            self.step()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """The dead do not read."""
        if self.is_dead:
            raise Death
        with self._reading() as db:
            yield db

    async def end(self) -> None:
        """Let go of what the kernel would: tasks, and the lock by which others know that it lives."""
        self.is_dead = True
        own = self.tasks - {asyncio.current_task()}
        for task in own:
            task.cancel()
        await asyncio.gather(*own, return_exceptions=True)
        presence = self.ws.supervisor._presence  # noqa: SLF001 - what the kernel does at the end of a process
        if presence is not None:
            presence.hand_over()  # to nobody: the file stays, as after a kill
        self.ws.home.close()


_LIFE: ContextVar[Life | None] = ContextVar("life", default=None)


def make_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **given: Any) -> asyncio.Task[Any]:  # noqa: ANN401 - any
    """A task, which its life can end."""
    task = asyncio.Task(coroutine, loop=loop, **given)
    if (life := _LIFE.get()) is not None:
        life.tasks.add(task)
        task.add_done_callback(life.tasks.discard)
    return task


class Fate(NamedTuple):
    """What is known of a delegation, beside what the ledger says."""

    way: str
    calls: list[int]
    """The lives in which its agent was called."""


class History:
    """One history of a workspace."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.seed = root, seed
        self.chance = random.Random(seed)
        self.fates: dict[str, Fate] = {}
        self.crashed: dict[str, list[str]] = {}
        """By session: its state whenever the life that drove it was cut short."""
        self.finished: dict[str, bytes | None] = {}
        self.deaths = self.lives = self.pairs = 0
        self.complaints: list[str] = []

    # --- agents -------------------------------------------------------------------------------------------------------

    def make_request(self, ws: Workspace, depth: int) -> Request:
        """Work for an agent that does as its way says."""
        way = self.chance.choice(WAYS if depth < 3 else WAYS[:7])
        fate = Fate(way, [])

        async def function(prompt: str) -> str:
            session = prompt.partition("Session ")[2].partition(",")[0]
            self.fates[session] = fate
            life = _LIFE.get()
            fate.calls.append(0 if life is None else life.number)
            return await self._act(ws, way, session, depth)

        timeout_s = HANG_S if way == "hangs" else 30.0
        return Request(_NAMES[depth - 1], f"Do it, {way}.", function=function, finishes=self.chance.random() < 0.2,
                       evidence=False, reasks=0, timeout_s=timeout_s)  # fmt: skip

    async def _act(self, ws: Workspace, way: str, session: str, depth: int) -> str:
        for _ in range(self.chance.randrange(4)):
            await asyncio.sleep(0)
        if way == "hangs":
            await asyncio.sleep(60)
        if way == "raises":
            raise ValueError("so it is written")
        for _ in range({"hands on": 1, "hands on twice": 2}.get(way, 0)):
            await ws.run(self.make_request(ws, depth + 1))
        return "All is well." if way == "rambles" else _render(session, depth, blocked=way == "blocks")

    # --- a life -------------------------------------------------------------------------------------------------------

    async def live(self, *, is_last: bool) -> None:
        """Open the workspace, do this and that, and die or finish."""
        self.lives += 1
        ws = Workspace.open(self.root, environ={})
        dies_at = None if is_last else self.chance.choice((None, self.chance.randint(1, _MOST_CHANGES)))
        life = Life(ws, self.lives, dies_at)
        _LIFE.set(life)
        life.body = asyncio.ensure_future(self._pass(life, is_last=is_last))
        await asyncio.wait({life.body})
        if not life.is_dead and (error := life.body.exception()) is not None:
            self.complaints.append(f"life {life.number}, {life.id}: {error!r}, open are {_list_open(ws)}")
        self.deaths += not is_last
        await life.end()
        self._look_back(life)

    async def _pass(self, life: Life, *, is_last: bool) -> None:
        await life.ws.backend.recover()
        if not is_last:
            await self._do_things(life)
        if is_last or self.chance.random() < 0.5:
            await self._finish(life)

    async def _do_things(self, life: Life) -> None:
        for _ in range(self.chance.randint(1, 6)):
            thing = self.chance.random()
            open_rows = life.ws.list()
            if thing < 0.55:
                await life.ws.start(self.make_request(life.ws, 1))
            elif thing < 0.62:
                life.ws.prepare(self.make_request(life.ws, 1))  # admitted, and nobody drives it
            elif thing < 0.75 and open_rows:
                await self._cancel(life, self.chance.choice(open_rows))
            elif thing < 0.85 and open_rows:
                await self._wait(life, self.chance.choice(open_rows).session_id)
            else:
                await asyncio.sleep(self.chance.choice((0, 0, 0.001, 0.01)))

    async def _cancel(self, life: Life, row: Run) -> None:
        life.ws.supervisor.cancel(row.session_id, reason="so it is written")
        await asyncio.sleep(0)

    async def _wait(self, life: Life, session_id: str) -> None:
        """Wait for one. One that is admitted and driven by nobody is driven by whoever takes over, not by us."""
        with suppress(TimeoutError):
            await asyncio.wait_for(life.ws.wait(session_id), 0.2)

    async def _finish(self, life: Life) -> None:
        """Take all to their ends; one that was only admitted is begun now."""
        for row in life.ws.list():
            if row.owner == life.ws.backend.id:
                await life.ws.backend.submit(row.session_id)
        for row in life.ws.list():
            await asyncio.wait_for(life.ws.wait(row.session_id), 30)

    # --- what came of it ----------------------------------------------------------------------------------------------

    def _look_back(self, life: Life) -> None:
        """Note what a life has left in the ledger."""
        home = Home(str(self.root))
        for row in list_runs(home.ledger, limit=100_000):
            if row.state == "finished":
                report = load_text(home, row.session_id, "report")
                if self.finished.setdefault(row.session_id, report) != report:
                    self.complaints.append(f"{row.session_id}: its report changed after it was settled")
            elif row.owner == life.id:
                self.crashed.setdefault(row.session_id, []).append(row.state)
        home.close()

    def judge(self, before: set[str]) -> list[str]:
        """Hold every delegation of this history against the model."""
        home = Home(str(self.root))
        rows = [row for row in list_runs(home.ledger, limit=100_000) if row.session_id not in before]
        events: Counter[tuple[str, str]] = Counter()
        with home.ledger.reading() as db:
            for session, kind in db.execute("SELECT session_id, kind FROM events"):
                events[session, kind] += 1
        home.close()
        known = {row.session_id for row in rows}
        told = [f"{session}: it ran, and the ledger does not know it" for session in self.fates.keys() - known]
        for row in rows:
            told += [f"{row.session_id}: {each}" for each in self._find_wrong(row, events)]
        return told + self.complaints

    def _find_wrong(self, row: Run, events: Counter[tuple[str, str]]) -> list[str]:
        wrong = [] if row.state == "finished" else [f"lost: it is {row.state}"]
        counts = {kind: events[row.session_id, kind] for kind in ("admitted", "finishing", "finished")}
        wrong += [f"{kind} {count} times" for kind, count in counts.items() if count != 1]
        if events[row.session_id, "running"] > 1:
            wrong.append(f"running {events[row.session_id, 'running']} times")
        fate = self.fates.get(row.session_id)
        if fate is not None and len(fate.calls) > 1:
            wrong.append(f"doubled: its agent was called in the lives {fate.calls}")
        allowed = self._predict(row, fate, is_cancelled=events[row.session_id, "cancel"] > 0)
        if (row.stop_reason, row.status) not in allowed:
            way = f"{_get_way(row)}, never called" if fate is None else fate.way
            states = self.crashed.get(row.session_id)
            wrong.append(
                f"{way}, cut short while {states}: it ended {row.stop_reason}, {row.status}, not {sorted(allowed)}"
            )
        return wrong

    def _predict(self, row: Run, fate: Fate | None, *, is_cancelled: bool) -> set[tuple[str | None, str | None]]:
        """The endings that a history allows."""
        states = self.crashed.get(row.session_id, ())
        allowed: set[tuple[str | None, str | None]] = set()
        if is_cancelled:
            allowed |= {("cancelled", "failed")}
        if "running" in states or "admitted" in states:  # its function went with its process
            allowed |= {("orphaned", "partial")}
        if fate is None and _get_way(row) == "hangs":  # its time can be up before it is called
            allowed |= _STOP_REASONS["hangs"]
        if fate is not None and "running" not in states:
            allowed |= _STOP_REASONS[fate.way]
            if row.parent_id is not None or fate.way.startswith("hands"):  # what is above it can end it
                allowed |= {
                    ("timeout", "partial"),
                    ("cancelled", "failed"),
                    ("exited", "failed"),
                    ("crashed", "failed"),
                }
        return allowed


_STOP_REASONS: dict[str, set[tuple[str | None, str | None]]] = {
    "returns": {("exited", "completed")},
    "blocks": {("exited", "blocked")},
    "raises": {("crashed", "failed")},
    "rambles": {("exited", "failed")},
    "hangs": {("timeout", "partial")},
    "hands on": {("exited", "completed")},
    "hands on twice": {("exited", "completed")},
}


def _list_open(ws: Workspace) -> list[tuple[object, ...]]:
    return [(row.session_id, row.state, row.owner, row.parent_id, _get_way(row)) for row in ws.list()]


def _get_way(row: Run) -> str:
    return str(row.details["work"]).removeprefix("Do it, ").removesuffix(".")


def _render(session: str, depth: int, *, blocked: bool) -> str:
    fault = {"type": "execution", "message": "Something is missing.", "recoverable": True, "recommendation": "Ask"}
    payload = {
        "status": "blocked" if blocked else "completed",
        "summary": "It was looked into. Nothing was written.",
        "artifacts": [],
        "metadata": {"session_id": session, "duration_seconds": 1, "agent_type": _NAMES[depth - 1],
                     "delegation_depth": depth, "delegation_path": ["orchestrator", *_NAMES[:depth]]},
        "errors": [fault] if blocked else [],
    }  # fmt: skip
    return f"```json\n{json.dumps(payload)}\n```\n"


# --- the run ----------------------------------------------------------------------------------------------------------


class Report(NamedTuple):
    """What was lived through."""

    histories: int
    runs: int
    deaths: int
    pairs: int
    """So often two processes were at it."""
    endings: Counter[str]
    complaints: list[str]
    seconds: float


async def live_through(root: Path, seed: int) -> History:
    """One history, to its end."""
    loop = asyncio.get_running_loop()
    loop.set_task_factory(make_task)
    loop.set_exception_handler(_tell_bugs)
    history = History(root, seed)
    home = Home(str(root))
    before = {row.session_id for row in list_runs(home.ledger, limit=100_000)}
    home.close()
    for _ in range(history.chance.randint(1, 3)):
        count = history.chance.choice((1, 1, 2))
        history.pairs += count - 1
        await asyncio.gather(*(history.live(is_last=False) for _ in range(count)))
    await asyncio.gather(*(history.live(is_last=True) for _ in range(history.chance.choice((1, 1, 2)))))
    history.complaints = [f"history {seed}: {each}" for each in history.judge(before)]
    return history


def _tell_bugs(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Nobody asks a task that died with its process what became of it."""
    if not isinstance(context.get("exception"), Death):
        loop.default_exception_handler(context)


def make_place(folder: Path) -> Path:
    """A workspace with a few agents that may call each other."""
    root = Path(tempfile.mkdtemp(dir=folder))
    (root / ".git").mkdir()
    (root / "agents").mkdir()
    for name in _NAMES:
        (root / "agents" / f"{name}.md").write_text(AGENT_FILE.format(name=name))
    (root / "remit.toml").write_text(f"[limits]\nrunning = {SLOTS}\n[delegate]\ncommit = false\n")
    return root


def break_recovery() -> None:
    """Let every supervisor take every other for dead. If that is not found out, nothing is proved."""
    for module in ("driving.supervisor", "local"):
        patched: Any = import_module(f"remit.runs.{module}")
        patched.is_present = lambda _home, _supervisor: False


def run_place(seeds: range) -> Report:
    """Some histories in a workspace of their own."""
    folder = Path(tempfile.mkdtemp(prefix="remit-histories-", dir=MEMORY if MEMORY.is_dir() else None))
    began = time.perf_counter()
    try:
        root = make_place(folder)
        histories = [asyncio.run(live_through(root, seed)) for seed in seeds]
        home = Home(str(root))
        rows = list_runs(home.ledger, limit=100_000)
        home.close()
    finally:
        shutil.rmtree(folder)
    return Report(
        len(seeds), len(rows), sum(each.deaths for each in histories), sum(each.pairs for each in histories),
        Counter(f"{row.stop_reason} {row.status}" for row in rows),
        [complaint for each in histories for complaint in each.complaints], time.perf_counter() - began,
    )  # fmt: skip


def run(first: int, count: int, jobs: int, *, is_broken: bool = False) -> Report:
    """So many histories, from a seed on."""
    began = time.perf_counter()
    places = [range(start, min(start + EACH_PLACE, first + count)) for start in range(first, first + count, EACH_PLACE)]
    total = Report(0, 0, 0, 0, Counter(), [], 0)
    with ProcessPoolExecutor(jobs, initializer=break_recovery if is_broken else None) as pool:
        for report in pool.map(run_place, places):
            total = Report(
                total.histories + report.histories, total.runs + report.runs,
                total.deaths + report.deaths, total.pairs + report.pairs, total.endings + report.endings,
                total.complaints + report.complaints, 0,
            )  # fmt: skip
    return total._replace(seconds=round(time.perf_counter() - began, 1))


def main() -> int:
    """Live through all, and print what came of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first one")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--control", action="store_true", help="with a recovery that is broken: must be found out")
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    options = parser.parse_args()
    report = run(options.first, options.histories, options.jobs, is_broken=options.control)
    tell(report.histories, len(report.complaints), runs=report.runs, deaths=report.deaths)
    if options.json:
        print(json.dumps(report._asdict()))
    else:
        told = ", ".join(f"{count} {stop_reason}" for stop_reason, count in sorted(report.endings.items()))
        print("".join(f"{each}\n" for each in report.complaints[:50]), end="")
        print(
            f"{report.histories} histories, {report.runs} delegations, {report.deaths} lives cut short, "
            f"{report.pairs} times two at once, {len(report.complaints)} complaints, {report.seconds} s · {told}"
        )
    return 1 if report.complaints else 0


if __name__ == "__main__":
    sys.exit(main())

"""The stage of the cluster's torture: a PostgreSQL, machines, callers and agents, all of them real processes.

Owns what is looked at afterwards. An agent writes down when it begins and when it ends, and where; what it writes into
the tree says which of its runs that was. From this, from the caller's ledger and from the cluster's tables it is told
what was lost, what was doubled, and how many ran at once.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple

import psycopg

from remit.ledger.home import Home
from remit.ledger.runs import list_runs
from remit.testing import ScriptedAgent
from remit.testing.backends import AGENT_FILE
from tests.support import worker_machines
from tests.support.cluster_callers import KEY, Caller
from tests.support.postgres import running
from tests.support.worker_machines import Machine, list_processes
from torture.cluster_caller import ADMITTED, DIAGNOSTICS, PLAN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from tests.support.postgres import Server
    from tests.support.worker_machines import Settings

PATIENCE_S = 240.0
"""So long anything is waited for; a busy machine is slow, and nothing is proved by that."""
LOOK_S = 0.02
NAMES = ("once", "again")
"""Agents: one that is never started a second time, and one that may be."""
LEAF = "leaf"
"""One that others hand work to."""
SETTINGS = '[limits]\nrunning = 500\n[delegate]\ncommit = false\n[agents.again]\nretry = "safe"\n'


class Report(NamedTuple):
    """What one scene did, and what is wrong."""

    scene: str
    seed: int
    counts: dict[str, Any]
    complaints: list[str]
    seconds: float


class Calling:
    """A caller: a repository of its own, and the process that hands on from it."""

    def __init__(
        self, folder: Path, url: str, *, settings: str = SETTINGS, names: Sequence[str] = (*NAMES, LEAF)
    ) -> None:
        self.folder = folder
        self.caller = Caller(folder, url, settings=settings)
        for name in names:
            place = self.caller.root / "agents" / f"{name}.md"
            place.parent.mkdir(exist_ok=True)
            place.write_text(AGENT_FILE.format(name=name))
        self.plan: list[dict[str, Any]] = []
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def root(self) -> Path:
        """Its workspace."""
        return self.caller.root

    def ask(self, agent: str, command: str, **more: Any) -> None:  # noqa: ANN401 - as the plan has it
        """Have something more handed on, once it is started."""
        self.plan.append({"agent": agent, "prompt": f"Do it, {len(self.plan)}.", "command": command,
                          "timeout_s": 2 * PATIENCE_S, **more})  # fmt: skip

    def start(self) -> None:
        """Start it, or start it again."""
        (self.folder / PLAN).write_text(json.dumps(self.plan))
        found = [str(Path(__file__).resolve().parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
        environ = {**self.caller.environ, "PYTHONPATH": os.pathsep.join(found)}
        program = str(Path(__file__).with_name("cluster_caller.py"))
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, program, str(self.folder)], env=environ, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, cwd=self.root,
            )  # fmt: skip

    def kill(self) -> bool:
        """Kill it; whether it was still at work."""
        assert self.process is not None
        self.process.kill()
        return self.process.wait() < 0

    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.process is None or self.process.poll() is not None

    def finish(self, seconds: float = PATIENCE_S) -> list[str]:
        """Wait until all is settled; what is wrong with how it ended."""
        assert self.process is not None
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return [f"{self.folder.name} waits in vain: {self.tell_open()}"]
        return [f"{self.folder.name} ended with {code}: {self.read_log()}"] if code else []

    def tell_open(self) -> str:
        """What is not settled, here and in the cluster."""
        rows = [row for row in self.list_rows() if row.state != "finished"]
        return "; ".join(f"{row.session_id} {row.state} ({_tell_row(self.caller, row.session_id)})" for row in rows[:5])

    def read_log(self) -> str:
        """What it printed last."""
        return (self.folder / "log").read_text("utf-8", "replace")[-1500:]

    def list_rows(self) -> list[Any]:
        """What its ledger has, without what others have handed on."""
        home = Home(str(self.root))
        if not home.is_made:
            return []
        rows = [row for row in list_runs(home.ledger, limit=100_000) if row.parent_id is None]
        home.close()
        return rows

    def list_admitted(self) -> list[str]:
        """Its delegations, in the order of its plan; one that was admitted when it was killed may be missing."""
        return (self.folder / ADMITTED).read_text("ascii").split()

    def list_told(self) -> dict[str, dict[str, Any]]:
        """What its process was told of each, the last time."""
        place = self.folder / DIAGNOSTICS
        lines = place.read_text("utf-8").splitlines() if place.exists() else []
        return {each["session_id"]: each for each in map(json.loads, lines)}

    def count_events(self, kind: str) -> Counter[str]:
        """How often something happened to each, by its ledger."""
        home = Home(str(self.root))
        with home.ledger.reading() as db:
            found = db.execute("SELECT session_id, count(*) FROM events WHERE kind = ? GROUP BY 1", (kind,)).fetchall()
        home.close()
        return Counter(dict(found))


def _tell_row(caller: Caller, session_id: str) -> str:
    try:
        row = caller.load_row(session_id)
    except AssertionError:
        return "not in the cluster"
    return f"{row.state}, fence {row.fence}, {row.worker_id}, lease {row.lease_left_s}, queue {row.queue}"


class Stage:
    """One scene's place: a database, and a folder for all who take part."""

    def __init__(self, folder: Path, server: Server, url: str, seed: int) -> None:
        self.folder, self.server, self.url, self.seed = folder, server, url, seed
        self.chance = random.Random(seed)
        self.agents: dict[str, ScriptedAgent] = {}
        self.callings: list[Calling] = []
        self.complaints: list[str] = []
        self.counts: Counter[str] = Counter()
        self.stack = ExitStack()
        self._machines = 0

    def make_agent(
        self, name: str, *, seconds: float = 0.0, gate: str = "", below: Sequence[tuple[str, ScriptedAgent]] = ()
    ) -> ScriptedAgent:
        """An agent that writes half of its work, waits, takes its time, hands on, and writes the other half."""
        agent = ScriptedAgent(self.folder / "agents", name).writes("half/${session}.md", "run ${run}\n")
        if gate:
            agent.waits_for(str(self.folder / gate))
        if seconds:
            agent.sleeps(seconds)
        for whom, other in below:
            agent.recurses(whom, command=other.command)
        agent.writes("out/${session}.md", "run ${run}\n").returns("half/${session}.md", "out/${session}.md")
        self.agents[name] = agent
        return agent

    def make_caller(self, **options: Any) -> Calling:  # noqa: ANN401 - as Calling takes them
        """One more caller, with a clone of its own."""
        url = options.pop("url", self.url)
        calling = Calling(self.folder / f"caller{len(self.callings)}", url, **options)
        self.callings.append(calling)
        return calling

    def start_machines(self, number: int, settings: Settings, **options: Any) -> list[Machine]:  # noqa: ANN401
        """So many machines, until the scene is over."""
        url = options.pop("url", self.url)
        made = []
        for _ in range(number):
            self._machines += 1
            place = self.folder / "machines" / f"m{self._machines}"
            made.append(Machine(place, url, KEY, settings=settings, **options))
            self.stack.callback(made[-1].end)
        for machine in made:
            machine.start()
        for machine in made:
            machine.wait_ready()
        return made

    def enter(self, context: Any) -> Any:  # noqa: ANN401 - whatever it gives
        """Something that ends with the scene."""
        return self.stack.enter_context(context)

    def complain(self, text: str) -> None:
        """Something is wrong."""
        self.complaints.append(text)

    def check(self, holds: object, text: str) -> None:
        """Something must be so."""
        if not holds:
            self.complain(text)

    def until(self, is_so: Callable[[], Any], what: str, seconds: float = PATIENCE_S) -> Any:  # noqa: ANN401 - as it gives
        """Wait until something is so; what it gave. Where it never is, the scene has failed."""
        last = time.monotonic() + seconds
        while not (found := is_so()):
            if time.monotonic() > last:
                raise Failed(f"not within {seconds:.0f} s: {what}")
            time.sleep(LOOK_S)
        return found

    # --- what agents did ----------------------------------------------------------------------------------------------

    def list_spans(self) -> list[Span]:
        """When each agent ran, and on which machine."""
        spans: dict[tuple[str, int], Span] = {}
        for agent in self.agents.values():
            for act in agent.acts:
                place = act.session, act.run
                if act.act == "began":
                    machine = _find_machine(str(act.details["cwd"]))
                    spans[place] = Span(act.session, act.run, agent.name, machine, act.at, None)
                elif act.act in ("ended", "crashed") and place in spans:
                    spans[place] = spans[place]._replace(ended=act.at)
        return sorted(spans.values(), key=lambda span: span.began)

    def count_runs(self) -> Counter[str]:
        """How often an agent was begun for each session."""
        return Counter(span.session for span in self.list_spans())

    def ask(self, query: LiteralString, *given: object) -> list[tuple[Any, ...]]:
        """What the database itself says, past all of Remit."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(query, given or None)
            return cursor.fetchall() if cursor.description else []

    def change(self, query: LiteralString, given: Mapping[str, object]) -> int:
        """Write to the database, past all of Remit; how many rows that changed."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(query, given or None).rowcount

    def list_leases(self, machine: Machine) -> dict[str, int]:
        """The sessions that a machine's worker has the lease of, each with its fence."""
        query = "SELECT session_id, fence FROM remit.sessions WHERE state = 'running' AND starts_with(worker_id, %s)"
        return {str(session): int(fence) for session, fence in self.ask(query, f"{machine.name}-")}

    def list_living(self) -> list[int]:
        """The agents' processes that are alive."""
        return [pid for agent in self.agents.values() for pid in agent.list_living()]

    def list_living_of(self, machine: Machine) -> list[int]:
        """The agents' processes that are alive on one machine."""
        there = set(list_processes(machine.folder))
        return [pid for pid in self.list_living() if pid in there]

    def finish(self) -> None:
        """Let all callers come to their end."""
        for calling in self.callings:
            self.complaints += calling.finish()

    def judge(self, *, ends: Collection[str] = ("completed",), is_strict: bool = False) -> None:
        """See that each has exactly one end, and that what is told of it is so.

        `ends`: which the scene allows. An agent that may be started again is begun at most once for each lease, any
        other at most once; `is_strict`: both exactly once.
        """
        runs, spans = self.count_runs(), {(span.session, span.run): span for span in self.list_spans()}
        query = "SELECT session_id, state, status, fence, worker_id FROM remit.sessions"
        known = {str(row[0]): Known(*row[1:]) for row in self.ask(query)}
        for calling in self.callings:
            rows, told = calling.list_rows(), calling.list_told()
            self.check(len(rows) == len(calling.plan), f"{len(calling.plan)} were wanted, {len(rows)} were admitted")
            events = {kind: calling.count_events(kind) for kind in ("running", "finishing", "finished")}
            for row in rows:
                name = row.session_id
                self.counts["sessions"] += 1
                self.counts[row.status or "open"] += 1
                wrong = [*_find_wrong(calling, row, told.get(name), known.get(name), spans)]
                if row.status not in ends:
                    wrong.append(f"{row.status}, {row.stop_reason}: {told.get(name, {}).get('errors')}")
                for kind, counted in events.items():
                    if counted[name] != 1 and not (kind == "running" and row.started_ms is None):
                        wrong.append(f"was {kind} {counted[name]} times")
                most = known[name].fence if row.agent == "again" and name in known and not is_strict else 1
                if runs[name] > most or (runs[name] == 0 and is_strict):
                    wrong.append(f"was begun {runs[name]} times")
                self.complaints += [f"{name} ({row.agent}): {each}" for each in wrong]
        living = self.list_living()
        self.check(not living, f"{len(living)} agents are alive")


class Known(NamedTuple):
    """What the cluster's table says of a session."""

    state: str
    status: str | None
    fence: int
    worker_id: str | None


class Failed(Exception):  # noqa: N818 - no error of the program: the scene has failed
    """Something did not come about."""


class Span(NamedTuple):
    """One run of an agent."""

    session: str
    run: int
    agent: str
    machine: str
    began: float
    ended: float | None


def _find_machine(cwd: str) -> str:
    parts = Path(cwd).parts
    return parts[parts.index("machines") + 1] if "machines" in parts else ""


def _find_wrong(calling: Calling, row: Any, told: Any, known: Known | None, spans: Any) -> Iterator[str]:  # noqa: ANN401
    """What is not as it would be if nothing had happened, or as is said where something did."""
    if row.state != "finished" or told is None:
        yield f"lost: {row.state}, and its caller was {'told' if told else 'not told'}"
        return
    if known is None or (known.state, known.status) != ("done", row.status):
        yield f"the cluster says {known}, the ledger {row.status}: {told['errors']}"
        return
    if told["status"] != row.status:
        yield f"{told['status']} was told, {row.status} was written"
    out, half = (calling.root / kind / f"{row.session_id}.md" for kind in ("out", "half"))
    if row.status == "completed":
        texts = {place.read_text() if place.exists() else "" for place in (out, half)}
        run = next(iter(texts)).strip().rpartition(" ")[2] if len(texts) == 1 else ""
        span = spans.get((row.session_id, int(run) if run.isdecimal() else 0))
        if span is None or span.ended is None:
            yield f"completed with files of no run that ended: {texts}"
        elif not str(known.worker_id).startswith(f"{span.machine}-"):
            yield f"completed by {known.worker_id} with files that {span.machine} made"
    elif row.stop_reason == "orphaned" and (row.status != "partial" or told["errors"][0][0] != "ORPHANED"):
        yield f"orphaned, and told as {row.status} with {told['errors'][:1]}"
    elif out.exists():
        yield f"{row.status}, and its file is here nevertheless"


def count_at_once(
    spans: Sequence[Span], ends: Mapping[tuple[str, int], float], group: Callable[[Span], str]
) -> Counter[str]:
    """How many ran at once, at most, of each group. `ends`: when those were ended that could not say so."""
    most: Counter[str] = Counter()
    marks = []
    for span in spans:
        ended = span.ended or ends.get((span.session, span.run))
        if ended is None:
            raise Failed(f"the end of {span} is not known")
        marks += [(span.began, 1, group(span)), (ended, -1, group(span))]
    now: Counter[str] = Counter()
    for _, step, name in sorted(marks):
        now[name] += step
        most[name] = max(most[name], now[name])
    return most


@contextmanager
def open_stage(folder: Path, server: Server, seed: int) -> Iterator[Stage]:
    """A stage with an empty database; nothing of it is left."""
    worker_machines.START_S = PATIENCE_S
    folder.mkdir(parents=True)
    with server.database() as url:
        stage = Stage(folder, server, url, seed)
        with stage.stack:
            try:
                yield stage
            finally:
                for calling in stage.callings:
                    if not calling.is_over():
                        calling.kill()


def make_server() -> Any:  # noqa: ANN401 - a context
    """A PostgreSQL of one's own."""
    return running()


def clean_environment() -> None:
    """Whoever runs this may have settings of their own."""
    for name in list(os.environ):
        if name.startswith(("REMIT_", "GIT_", "XDG_")):
            del os.environ[name]

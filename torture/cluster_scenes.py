"""The scenes of the cluster's torture: what happens to machines, networks, databases and callers.

Owns the faults. Each scene does something terrible while agents work, sees to it that it did happen, lets all come to
an end, and looks. What chance decides follows from the seed of its stage.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.network_proxy import Proxy, proxy
from tests.support.worker_machines import Machine, Settings, list_processes
from torture.cluster_stage import LEAF, NAMES, PATIENCE_S, Failed, count_at_once

if TYPE_CHECKING:
    from collections.abc import Callable

    from torture.cluster_stage import Calling, Span, Stage

SOON_S = 5.0
"""So long after the lease what a dead machine had is done, beside what its agents take."""
WAVES = 5
_OPEN = "SELECT count(*) FROM remit.sessions WHERE state <> 'done'"


# --- limits ----------------------------------------------------------------------------------------------------------


def keep_limits(stage: Stage, size: int) -> None:
    """Never more at once than may be: on all machines, on one, and of one agent, on each level of a tree."""
    chance = stage.chance
    number, running, on_one = chance.randint(2, size), chance.randint(2, 5), chance.randint(1, 3)
    per_agent = chance.choice([None, chance.randint(1, running)])
    limits = f"[limits]\nrunning = {running}\n" + (f"per_agent = {per_agent}\n" if per_agent else "")
    found = stage.start_machines(number, Settings(lease=6, poll=0.2, more=limits), concurrency=on_one)
    lengths = [chance.uniform(0.1, 1.5) for _ in range(3)]
    leaves = [stage.make_agent(f"leaf{at}", seconds=seconds) for at, seconds in enumerate(lengths)]
    tops = [stage.make_agent("top", below=[(LEAF, leaves[0])])]
    ends: dict[tuple[str, int], float] = {}
    for wave in range(WAVES):
        calling = stage.make_caller()
        for _ in range(chance.randint(6, 12)):
            agent = chance.choice([*leaves, *leaves, *tops])
            calling.ask(chance.choice(NAMES), agent.command)
        calling.start()
        if wave:
            _disturb(stage, found, calling, ends)
        stage.complaints += calling.finish()
        stage.counts["runs"] += 1
    stage.judge(ends=("completed", "partial"))
    _measure(stage, ends, {"all": running, "one": on_one, "agent": per_agent or running})


def _disturb(stage: Stage, found: list[Machine], calling: Calling, ends: dict[tuple[str, int], float]) -> None:
    """End a machine's worker, kill it, or the whole machine, and start it again."""
    chance = stage.chance
    machine, way = chance.choice(found), chance.choice(("stop", "kill", "lose_power"))
    stage.until(lambda: stage.list_living_of(machine) or calling.is_over(), f"{machine.name} works")
    time.sleep(chance.uniform(0, 0.2))
    held = stage.list_living_of(machine)
    getattr(machine, way)()
    if way == "lose_power":
        _note_ends(stage, machine, ends)
    stage.counts[f"{way} with agents"] += bool(held)
    machine.start()
    machine.wait_ready()
    if not stage.list_living_of(machine):  # what others have by now was ended
        _note_ends(stage, machine, ends)


def _note_ends(stage: Stage, machine: Machine, ends: dict[tuple[str, int], float]) -> None:
    """Write down that the agents have ended that were on a machine, and could not say so themselves."""
    now = time.time()
    for span in stage.list_spans():
        if span.machine == machine.name and span.ended is None and span.began < now:
            ends.setdefault((span.session, span.run), now)


def _measure(stage: Stage, ends: dict[tuple[str, int], float], limits: dict[str, int]) -> None:
    """How many ran at once, by what the agents wrote down themselves."""
    known = {str(row[0]): row[1:] for row in stage.ask("SELECT session_id, agent, depth FROM remit.sessions")}
    spans = stage.list_spans()
    groups: dict[str, Callable[[Span], str]] = {
        "all": lambda span: f"level {known[span.session][1]}",
        "one": lambda span: f"level {known[span.session][1]} on {span.machine}",
        "agent": lambda span: f"level {known[span.session][1]} of {known[span.session][0]}",
    }
    for kind, group in groups.items():
        most = count_at_once(spans, ends, group)
        for name, count in most.items():
            stage.check(count <= limits[kind], f"{count} at once of {name}, and {limits[kind]} may be ({kind})")
        stage.counts[f"full {kind}"] += max(most.values()) == limits[kind]


# --- machines that die -----------------------------------------------------------------------------------------------


def kill_worker(stage: Stage, size: int) -> None:
    """A worker is killed, or its machine loses power: others do what it had, or say that it is lost."""
    chance, lease = stage.chance, 3.0
    is_machine = bool(stage.seed % 2)
    settings = Settings(lease=lease, save_every=0.3)
    number = size
    slowest = 0.5
    kinds = [stage.make_agent(f"agent{at}", seconds=slowest * at / 3, gate="gate") for at in range(4)]
    first = stage.start_machines(1, settings, concurrency=number)[0]
    calling = stage.make_caller()
    for at in range(number):
        calling.ask(NAMES[at % 2], chance.choice(kinds).command)
    calling.start()
    query = "SELECT count(*) FROM remit.sessions WHERE state = 'running' AND saved IS NOT NULL AND length(saved) > 250"
    stage.until(lambda: stage.ask(query)[0][0] == number, f"{number} agents are at work and saved")
    stage.start_machines(3, settings, concurrency=number)
    stage.counts["agents"] = len(stage.list_living_of(first))
    stage.check(stage.counts["agents"] >= number, f"{stage.counts['agents']} of {number} agents were alive")
    (first.lose_power if is_machine else first.kill)()
    died = time.time()
    stage.counts["machines lost" if is_machine else "workers killed"] += 1
    (stage.folder / "gate").touch()
    stage.finish()
    last = stage.ask("SELECT extract(epoch FROM max(done_at))::float8 FROM remit.sessions")[0][0]
    needed = last - died
    stage.counts["seconds"] = round(needed, 1)
    stage.check(needed <= lease + SOON_S + slowest, f"the last was done {needed:.1f} s after the kill, lease {lease}")
    if not is_machine:  # whoever comes back ends what is left of its agents
        first.start()
        first.wait_ready()
    stage.judge(ends=("completed", "partial"))
    for row in calling.list_rows():
        wanted = "completed" if row.agent == "again" else "partial"
        stage.check(row.status == wanted, f"{row.session_id} of {row.agent} is {row.status}, {row.stop_reason}")
        half = calling.root / "half" / f"{row.session_id}.md"
        stage.check(half.exists(), f"what {row.session_id} had saved is not here")


# --- machines that freeze --------------------------------------------------------------------------------------------


def freeze_workers(stage: Stage, size: int) -> None:
    """A worker stands still until others have its work, and goes on: theirs is the result, and its agents end."""
    chance = stage.chance
    found = stage.start_machines(3, Settings(lease=1, save_every=0.5), concurrency=3)
    kinds = [stage.make_agent(f"agent{at}", seconds=seconds) for at, seconds in enumerate((0, 0, 0.1, 0.4, 1.0))]
    while stage.counts["taken over"] < size:
        calling = stage.make_caller()
        for _ in range(10):
            calling.ask(chance.choice(("again", "again", "again", "once")), chance.choice(kinds).command,
                        pause_s=chance.uniform(0, 0.3))  # fmt: skip
        calling.start()
        while not calling.is_over():
            _freeze_one(stage, found, calling)
        stage.complaints += calling.finish()
    stage.judge(ends=("completed", "partial"))


def _freeze_one(stage: Stage, found: list[Machine], calling: Calling) -> None:
    """Freeze a worker at a moment that chance chooses, until all that it held is another's."""
    chance = stage.chance
    machine = _await_moment(stage, found, calling, chance.choice(("before", "during", "after", "any")))
    if machine is None:
        return
    frozen = [machine.pid]
    machine.freeze()
    if chance.random() < 0.3:  # and all that runs on the machine
        frozen = list_processes(machine.folder)
        for pid in frozen:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        stage.counts["whole machines"] += 1
    held = stage.list_leases(machine)
    windows = _find_windows(stage, machine, held)
    began = time.monotonic()
    try:
        stage.until(lambda: not _list_kept(stage, held), f"others have what {machine.name} held: {held}", seconds=60)
    finally:
        for pid in frozen:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    if held:
        stage.counts["freezes"] += 1
        stage.counts["taken over"] += len(held)
        slowest = round(time.monotonic() - began, 1)
        stage.counts["slowest"] = max(stage.counts["slowest"], slowest)  # type: ignore[assignment]
    for window in windows.values():
        stage.counts[window] += 1
    for session in held:
        ended = partial(_has_ended, machine, session)
        stage.until(ended, f"{machine.name} has ended its agent of {session}", seconds=60)


def _await_moment(stage: Stage, found: list[Machine], calling: Calling, wanted: str) -> Machine | None:
    """Wait for a moment of one kind; the machine that it is on."""
    chance = stage.chance
    seen = {each.name: len(each.list_events()) for each in found}
    ended = _count_acts(stage, "ended")
    began = _count_acts(stage, "began")
    while not calling.is_over():
        if wanted == "any":
            time.sleep(chance.uniform(0, 0.5))
            return chance.choice(found)
        if wanted == "before":
            for each in found:
                if any(event["event"] == "taken" for event in each.list_events()[seen[each.name] :]):
                    time.sleep(chance.choice((0, chance.uniform(0, 0.1))))
                    return each
        acts = _count_acts(stage, "ended" if wanted == "after" else "began")
        if wanted in ("during", "after") and len(acts) > len(ended if wanted == "after" else began):
            return next((each for each in found if each.name == acts[-1]), None)
        time.sleep(0.002)
    return None


def _count_acts(stage: Stage, kind: str) -> list[str]:
    """The machines on which agents did something, in order."""
    spans = stage.list_spans()
    if kind == "began":
        return [span.machine for span in spans]
    return [span.machine for span in sorted(spans, key=lambda span: span.ended or 0) if span.ended is not None]


def _list_kept(stage: Stage, held: dict[str, int]) -> list[str]:
    """The sessions that are still under the lease that a frozen worker had."""
    if not held:
        return []
    now = dict(stage.ask("SELECT session_id, fence FROM remit.sessions WHERE session_id = ANY(%s)", list(held)))
    return [name for name, fence in held.items() if now[name] == fence]


def _find_windows(stage: Stage, machine: Machine, held: dict[str, int]) -> dict[str, str]:
    """Where each session of a frozen worker was: before its agent began, while it ran, or after it had ended."""
    windows = dict.fromkeys(held, "before the agent")
    for span in stage.list_spans():
        if span.session in held and span.machine == machine.name:
            windows[span.session] = "while it ran" if span.ended is None else "before publishing"
    return windows


def _has_ended(machine: Machine, session: str) -> bool:
    """Whether nothing of a session's agent is alive on a machine."""
    mark = f"REMIT_SESSION_ID={session}".encode()
    for pid in list_processes(machine.folder):
        with suppress(OSError):
            if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                return False
    return True


# --- databases and networks that go away -----------------------------------------------------------------------------


def restart_database(stage: Stage, size: int) -> None:
    """PostgreSQL is restarted again and again while agents are sent, work and end."""
    chance = stage.chance
    stage.start_machines(3, Settings(lease=4), concurrency=4)
    _load(stage, size, callers=2, pause_s=0.6)
    stage.until(stage.list_spans, "agents are at work")
    for at in range(4):
        time.sleep(chance.uniform(0.3, 1.0))
        mode = ("fast", "immediate")[at % 2]
        stage.server.restart(mode)
        stage.counts[f"{mode} restarts"] += 1
        stage.counts["restarts with work open"] += stage.ask(_OPEN)[0][0] > 0
    stage.finish()
    stage.check(stage.counts["restarts with work open"] >= 2, "the database was restarted when all was done")
    stage.judge(ends=("completed", "partial"))


def _load(stage: Stage, size: int, *, callers: int, pause_s: float = 0.2, slowest: float = 1.5) -> None:
    """Callers that hand on so many in all, and go on doing so for a while."""
    chance = stage.chance
    kinds = [stage.make_agent(f"agent{at}", seconds=slowest * at / 4) for at in range(5)]
    for _ in range(callers):
        calling = stage.make_caller()
        for _ in range(max(1, size // callers)):
            pause = chance.uniform(0, 2 * pause_s)
            calling.ask(chance.choice(NAMES), chance.choice(kinds).command, pause_s=pause)
        calling.start()


def cut_network(stage: Stage, size: int) -> None:
    """The way from a worker to the database, or from a caller, is cut or stalls, for less or more than a lease."""
    chance, lease = stage.chance, 2.0
    ways: list[Proxy] = [stage.enter(proxy(stage.url)) for _ in range(2)]
    stage.start_machines(2, Settings(lease=lease), concurrency=4)
    stage.start_machines(1, Settings(lease=lease), concurrency=4, url=ways[0].url)
    kinds = [stage.make_agent(f"agent{at}", seconds=at / 2) for at in range(5)]
    for at in range(2):
        calling = stage.make_caller(url=ways[1].url if at else stage.url)
        for _ in range(size // 2):
            calling.ask(chance.choice(NAMES), chance.choice(kinds).command, pause_s=chance.uniform(0, 0.4))
        calling.start()
    faults = [(way, how, longer) for way in ways for how in ("cut", "stall", "up", "down") for longer in (0.3, 2.0)]
    chance.shuffle(faults)
    for way, how, longer in faults[: max(3, size // 4)]:
        _harm(stage, way, how, lease * longer + chance.uniform(0, 0.5))
        stage.counts[f"{how} {'worker' if way is ways[0] else 'caller'}"] += 1
        time.sleep(chance.uniform(0.3, 1.5))
    stage.finish()
    stage.check(stage.counts["felt"], "nobody noticed that the network had failed")
    stage.judge(ends=("completed", "partial"))


def _harm(stage: Stage, way: Proxy, how: str, seconds: float) -> None:
    """Let a network fail for a while, and see that somebody noticed."""
    before = way.ended, way.refused, way.held
    if how == "cut":
        way.cut()
    else:
        way.stall(up=how != "down", down=how != "up")
    time.sleep(seconds)
    if how != "cut" and stage.chance.random() < 0.5:  # what was held never arrives
        way.cut()
    way.heal()
    stage.counts["felt"] += (way.ended, way.refused, way.held) != before
    stage.counts["faults"] += 1


# --- machines and callers that end -----------------------------------------------------------------------------------


def roll(stage: Stage, size: int) -> None:
    """Every worker is ended and started again, one after the other, then one is drained: no agent runs twice."""
    chance = stage.chance
    found = stage.start_machines(3, Settings(lease=2), concurrency=max(4, size // 4))
    held = stage.make_agent("held", gate="gate")
    quick = [stage.make_agent(f"quick{at}", seconds=at / 4) for at in range(4)]
    for _ in range(2):
        calling = stage.make_caller()
        for at in range(size // 2):
            agent = held if at % 2 else chance.choice(quick)
            calling.ask(chance.choice(NAMES), agent.command, pause_s=chance.uniform(0, 0.4))
        calling.start()
    stage.until(lambda: held.did("waited"), "agents are at work")
    for machine in found:
        _restart(stage, machine)
    process = stage.callings[0].caller.start("worker", "drain", found[0].name, "--timeout", str(PATIENCE_S))
    stage.until(lambda: any(each["event"] == "draining" for each in found[0].list_events()), "it is drained")
    stage.counts["drained with agents"] += bool(stage.list_leases(found[0]))
    (stage.folder / "gate").touch()
    stage.check(process.wait(PATIENCE_S) == 0, "remit worker drain failed")
    stage.check(found[0].process.wait(PATIENCE_S) == 0, "the drained worker did not end")
    stage.finish()
    stage.check(stage.counts["taken up again"], "no worker was ended with agents at work")
    stage.judge(is_strict=True)


def _restart(stage: Stage, machine: Machine) -> None:
    """End a worker in order, and start it again."""
    with suppress(Failed):
        stage.until(partial(stage.list_leases, machine), f"{machine.name} works", seconds=5)
    held, seen = stage.list_leases(machine), len(machine.list_events())
    code = machine.stop()
    stage.check(code == 0, f"{machine.name} ended with {code}")
    machine.start()
    machine.wait_ready()
    again = {each["session_id"] for each in machine.list_events()[seen:] if each["event"] == "again"}
    stage.counts["restarts"] += 1
    stage.counts["taken up again"] += len(again & set(held))


def kill_callers(stage: Stage, size: int) -> None:
    """Callers are killed at random moments, and started again: each delegation is settled once."""
    chance = stage.chance
    stage.start_machines(2, Settings(lease=3), concurrency=6)
    _load(stage, size, callers=2, pause_s=0.1)
    last = time.monotonic() + PATIENCE_S
    while not all(calling.is_over() for calling in stage.callings) and time.monotonic() < last:
        time.sleep(chance.uniform(0.3, 2.0))
        calling = chance.choice(stage.callings)
        if stage.counts["kills"] < 8 and not calling.is_over():
            stage.counts["kills"] += calling.kill()
            calling.start()
    stage.check(stage.counts["kills"] > 1, "no caller was killed")
    stage.finish()
    stage.judge(is_strict=True)


SCENES: dict[str, tuple[Any, int, int]] = {
    "limits": (keep_limits, 10, 8),
    "kill": (kill_worker, 6, 20),
    "freeze": (freeze_workers, 5, 10),
    "database": (restart_database, 3, 24),
    "network": (cut_network, 5, 24),
    "roll": (roll, 3, 24),
    "callers": (kill_callers, 3, 20),
}
"""Each scene with how often it is played, and how large it is."""

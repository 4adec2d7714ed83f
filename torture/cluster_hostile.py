"""Hostile scenes of the cluster's torture: somebody who may write to the database and has no key; trees that race.

Owns what is forged, and the crowds that ask for more than they may. Nothing that is forged may come back as
`completed`, no agent may begin by it, and those who work on honest orders beside it must not notice.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any, LiteralString

from remit.cluster.orders import RemoteResult, render_result
from remit.cluster.sealing import TicketClaims, seal, sign_ticket
from remit.testing import ScriptedAgent
from tests.support.worker_machines import Settings
from torture.cluster_stage import LEAF, NAMES, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torture.cluster_stage import Calling, Stage

_FALSE_KEY = bytes(32)
_TOLD_S = 2.0
"""So long after it began a worker has told of an agent that says nothing, and tells no more."""
_OPEN: LiteralString = "SELECT count(*) FROM remit.sessions WHERE state <> 'done'"

# --- what is forged --------------------------------------------------------------------------------------------------

_ORDERS: dict[str, LiteralString] = {
    "an order of garbage": "UPDATE remit.sessions SET order_body = '\\x00ff7b' WHERE session_id = %(own)s",
    "no order": "UPDATE remit.sessions SET order_body = NULL WHERE session_id = %(own)s",
    "an order with a byte changed": (
        "UPDATE remit.sessions SET order_body = set_byte(order_body, 200, get_byte(order_body, 200) # 1)"
        " WHERE session_id = %(own)s"
    ),
    "an order of another": (
        "UPDATE remit.sessions SET order_body ="
        " (SELECT order_body FROM remit.sessions WHERE session_id = %(other)s) WHERE session_id = %(own)s"
    ),
    "an order with a false key": "UPDATE remit.sessions SET order_body = %(false_order)s WHERE session_id = %(own)s",
}
"""What is done to orders that nobody has taken: no agent may begin."""
_COLUMNS: dict[str, LiteralString] = {
    "another agent": "UPDATE remit.sessions SET agent = 'again' WHERE session_id = %(own)s",
    "another depth": "UPDATE remit.sessions SET depth = 3 WHERE session_id = %(own)s",
    "another path": 'UPDATE remit.sessions SET path = \'["x", "y"]\' WHERE session_id = %(own)s',
    "other terms": (
        'UPDATE remit.sessions SET terms = \'{"timeout_s": 1e9, "retry": "safe", "may_call": ["*"]}\''
        " WHERE session_id = %(own)s"
    ),
    "another parent": "UPDATE remit.sessions SET parent_id = %(other)s WHERE session_id = %(own)s",
}
"""What is done to the columns beside an order: what is in the order holds."""
_OUTCOMES: dict[str, LiteralString] = {
    "an outcome of garbage": "UPDATE remit.sessions SET outcome = '\\x00ff7b' WHERE session_id = %(own)s",
    "no outcome": "UPDATE remit.sessions SET outcome = NULL WHERE session_id = %(own)s",
    "an outcome of another": (
        "UPDATE remit.sessions SET outcome ="
        " (SELECT outcome FROM remit.sessions WHERE session_id = %(other)s) WHERE session_id = %(own)s"
    ),
    "an outcome with a false key": "UPDATE remit.sessions SET outcome = %(false_outcome)s WHERE session_id = %(own)s",
    "its order for its outcome": "UPDATE remit.sessions SET outcome = order_body WHERE session_id = %(own)s",
    "an outcome of the future": "UPDATE remit.sessions SET outcome = %(new_outcome)s WHERE session_id = %(own)s",
    "another order afterwards": "UPDATE remit.sessions SET order_body = '\\x00' WHERE session_id = %(own)s",
    "a parcel that was changed": (
        "UPDATE remit.parcels SET data = set_byte(data, length(data) - 30, get_byte(data, length(data) - 30) # 1)"
        " WHERE name LIKE 'made-%%' AND position(name::bytea IN (SELECT outcome FROM remit.sessions"
        " WHERE session_id = %(own)s)) > 0"
    ),
    "a parcel that is gone": (
        "DELETE FROM remit.parcels WHERE name LIKE 'made-%%' AND position(name::bytea IN"
        " (SELECT outcome FROM remit.sessions WHERE session_id = %(own)s)) > 0"
    ),
}
"""What is done to what came back, before its caller has seen it."""
_GARBAGE: dict[str, LiteralString] = {
    "a row of garbage": (
        "INSERT INTO remit.sessions (session_id, root_id, agent, depth, path, runner, state, terms, order_body)"
        " VALUES ('sess_1_aaaaaa', '../..', E'x\\ny', 99999, '[]', '', 'posted', '[]', '\\x00')"
    ),
    "a row with a path that is none": (
        "INSERT INTO remit.sessions (session_id, root_id, agent, depth, path, runner, state, terms, order_body, live)"
        " VALUES ('sess_1_bbbbbb', 'x', '', -5, '7', '', 'posted', '\"x\"', '\\x00', '[]')"
    ),
    "a row that somebody runs": (
        "INSERT INTO remit.sessions (session_id, root_id, agent, depth, path, runner, state, terms, fence, worker_id,"
        " leased_until) VALUES ('../../etc', 'x', 'y', 1, 'null', '', 'running', '{}', 4, 'nobody', '2000-01-01')"
    ),
    "a row with more time than there is": (
        "INSERT INTO remit.sessions (session_id, root_id, agent, depth, path, runner, state, terms, order_body)"
        " VALUES ('sess_1_cccccc', 'x', 'y', 1, '[]', '', 'posted', '{\"timeout_s\": 1e400}', '\\x00')"
    ),
    "a worker of garbage": (
        "INSERT INTO remit.workers (worker_id, host, pid, version, protocol, concurrency, agents, state, lease_s)"
        " VALUES ('evil', E'\\x1b[2J', -1, '', 0, -3, '7', 'active', 'Infinity')"
    ),
}
"""Rows that no caller has written. Workers go on."""


def forge(stage: Stage, size: int) -> None:
    """Write into the tables what the key was never used for: nobody believes it, and nobody falls over it."""
    agent, liar = stage.make_agent("agent"), ScriptedAgent(stage.folder / "agents", "liar").lies("never.md")
    calling = stage.make_caller()
    wanted = [*_ORDERS, *_COLUMNS, *_OUTCOMES, "a status", *["honest"] * size]
    for what in wanted:
        calling.ask("once", (liar if what == "a status" else agent).command)
    calling.start()
    stage.until(partial(_has_posted, stage, len(wanted)), f"{len(wanted)} are posted")
    calling.kill()
    names = dict(zip(calling.list_admitted(), wanted, strict=True))
    honest = next(name for name, what in names.items() if what == "honest")
    for name, what in names.items():
        if query := {**_ORDERS, **_COLUMNS}.get(what):
            _harm(stage, what, query, name, honest)
    for what, query in _GARBAGE.items():
        _harm(stage, what, query, "", honest)
    found = stage.start_machines(min(size, 2), Settings(lease=2), concurrency=8)
    pending = "SELECT count(*) FROM remit.sessions WHERE state <> 'done' AND session_id = ANY(%s)"
    stage.until(lambda: stage.ask(pending, list(names))[0][0] == 0, "all have an outcome", seconds=90)
    for name, what in names.items():
        if query := _OUTCOMES.get(what):
            _harm(stage, what, query, name, honest)
    lying = next(name for name, what in names.items() if what == "a status")
    _harm(stage, "a status", "UPDATE remit.sessions SET status = 'completed' WHERE session_id = %(own)s", lying, honest)
    calling.start()
    stage.complaints += calling.finish(90)
    for machine in found:
        stage.check(machine.process.poll() is None, f"{machine.name} has ended: {machine.log.read_text()[-500:]}")
    _look(stage, calling, names)
    _come_later(stage)


def _has_posted(stage: Stage, number: int) -> bool:
    there = stage.ask("SELECT to_regclass('remit.sessions')")[0][0]
    return bool(there) and stage.ask("SELECT count(*) FROM remit.sessions WHERE state = 'posted'")[0][0] == number


def _harm(stage: Stage, what: str, query: LiteralString, own: str, other: str) -> None:
    """Forge something, and see that something was changed."""
    outcome = RemoteResult(own, 1, "x", {"status": "completed"})
    new = {**render_result(outcome), "protocol": 99}
    given = {
        "own": own, "other": other, "false_order": seal(_FALSE_KEY, "order", {"session_id": own, "protocol": 1}),
        "false_outcome": seal(_FALSE_KEY, "outcome", render_result(outcome)),
        "new_outcome": seal(_FALSE_KEY, "outcome", new),
    }  # fmt: skip
    changed = stage.change(query, given)
    stage.check(changed > 0, f"{what}: nothing was changed")
    stage.counts["forged"] += changed > 0


def _look(stage: Stage, calling: Calling, names: dict[str, str]) -> None:
    runs, told = stage.count_runs(), calling.list_told()
    for row in calling.list_rows():
        what = names[row.session_id]
        stage.counts[row.status or "open"] += 1
        out = calling.root / "out" / f"{row.session_id}.md"
        if what in ("honest", *_COLUMNS):
            is_good = row.status == "completed" and out.exists() and runs[row.session_id] == 1
            stage.check(
                is_good or (what in _COLUMNS and row.status != "completed"),
                f"{what}: {row.status}, {told.get(row.session_id)}",
            )
            continue
        stage.check(row.status != "completed", f"{what}: believed")
        stage.check(row.state == "finished", f"{what}: never settled, {row.state}")
        if what in _ORDERS:
            stage.check(runs[row.session_id] == 0, f"{what}: an agent began")
            stage.check(not out.exists(), f"{what}: a file arrived")


def _come_later(stage: Stage) -> None:
    """Workers that had garbage in their tables do honest work after it, too."""
    later = stage.make_caller()
    later.ask("once", stage.agents["agent"].command)
    later.start()
    stage.complaints += later.finish(60)
    stage.check([row.status for row in later.list_rows()] == ["completed"], "honest work is not done any more")


def forge_trees(stage: Stage, size: int) -> None:
    """Change what travels: the tree that an agent starts from, and the branch that it sends back."""
    agent = stage.make_agent("agent")
    first = stage.make_caller()
    first.ask("once", agent.command)
    remote = stage.folder / "remote.git"
    _git("init", "-q", "--bare", str(remote))
    second = stage.make_caller(settings=f'{SETTINGS}[cluster]\nremote = "{remote}"\n')
    for _ in range(size):
        second.ask("once", agent.command)
    for calling in (first, second):
        calling.start()
    stage.until(partial(_has_posted, stage, 1 + size), "all are posted")
    for calling in (first, second):
        calling.kill()
    query: LiteralString = (
        "UPDATE remit.parcels SET data = set_byte(data, length(data) - 30, get_byte(data, length(data) - 30) # 1)"
    )
    stage.check(stage.change(query, {}) == 1, "there was no parcel to change")
    stage.start_machines(1, Settings(lease=2), concurrency=8)
    stage.until(lambda: stage.ask(_OPEN)[0][0] == 0, "all have an outcome", seconds=90)
    for name in second.list_admitted()[1:]:  # the first one is left as it is
        base = _git("-C", str(remote), "rev-parse", f"refs/heads/remit/base/{name}").strip()
        made = _git("-C", str(remote), "rev-parse", f"refs/heads/remit/{name}").strip()
        stage.check(base != made, "there was no branch to move")
        _git("-C", str(remote), "update-ref", f"refs/heads/remit/{name}", base)
        stage.counts["branches moved"] += 1
    for calling in (first, second):
        calling.start()
        stage.complaints += calling.finish(90)
    runs = stage.count_runs()
    (spoiled,) = first.list_rows()
    stage.check((spoiled.status, runs[spoiled.session_id]) == ("failed", 0), f"on a changed tree: {spoiled}")
    rows = {row.session_id: row for row in second.list_rows()}
    for at, name in enumerate(second.list_admitted()):
        wanted = "partial" if at else "completed"
        stage.check(rows[name].status == wanted, f"with {'a moved' if at else 'its own'} branch: {rows[name].status}")
        is_here = (second.root / "out" / f"{name}.md").exists()
        stage.check(is_here == (not at), f"{name}: files are {'' if is_here else 'not '}here")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


# --- tickets ---------------------------------------------------------------------------------------------------------


def forge_tickets(stage: Stage, size: int) -> None:
    """Say that one is an agent of some tree, without a signature: nothing is admitted."""
    agent = stage.make_agent("agent")
    calling = stage.make_caller()
    signed = TicketClaims("sess_1_abcdef", "sess_1_abcdef", "once", 1, ("orchestrator", "once"), 1)
    stage.start_machines(1, Settings())
    good = sign_ticket(_FALSE_KEY, signed, os.urandom(16))
    tokens = [good, good[:-2] + "AA", "remit2_x.y", "remit2_" + "A" * 500 + "." + "A" * 43, "remit2_\n", "remit2_é.é"]
    for token in tokens[:size]:
        environ = {**calling.caller.environ, "REMIT_TICKET": token}
        words = ["run", "once", "Do it.", "--command", agent.command, "--json"]
        done = subprocess.run(
            [sys.executable, "-m", "remit", *words], cwd=calling.root, env=environ, capture_output=True, text=True,
            check=False, timeout=120,
        )  # fmt: skip
        stage.counts["tickets"] += 1
        stage.check(done.returncode == 2, f"{token[:20]}: exit code {done.returncode}, {done.stdout}{done.stderr}")
        stage.check("Traceback" not in done.stderr, f"{token[:20]}: {done.stderr}")
    stage.check(not agent.acts, "an agent began")
    calling.plan.clear()


# --- trees that race -------------------------------------------------------------------------------------------------


def crowd_tree(stage: Stage, size: int) -> None:
    """Agents on several machines hand on at once, and together they may make only so many."""
    chance = stage.chance
    stage.start_machines(4, Settings(lease=5, poll=0.2), concurrency=8)
    leaf = stage.make_agent("leaf", seconds=0.1)
    middle = _make_crowd(stage, "middle", [(LEAF, leaf)] * 2)
    top = _make_crowd(stage, "top", [("middle", middle)] * 4)
    calling = stage.make_caller(names=(*NAMES, LEAF, "middle", "deep"))
    allowed = []
    for _ in range(size):
        most = chance.randint(4, 11)
        allowed.append(most)
        calling.ask("once", top.command, budget={"max_delegations": most})
    calling.start()
    stage.complaints += calling.finish()
    query = "SELECT root_id, count(*) FROM remit.sessions WHERE parent_id IS NOT NULL GROUP BY 1"
    made = dict(stage.ask(query))
    rows = {row.session_id: row for row in calling.list_rows()}
    for name, most in zip(calling.list_admitted(), allowed, strict=True):
        row, count = rows[name], made.get(name, 0)
        stage.counts["runs"] += 1
        stage.counts["handed on"] += count
        stage.counts["all that may be"] += count == most
        stage.check(count <= most, f"{count} were handed on in {row.session_id}, and {most} may be")
        stage.check(row.status in ("completed", "partial"), f"{row.session_id} is {row.status}")
    refused = [act for agent in (top, middle) for act in agent.did("ran") if act.details["exit_code"] == 2]
    stage.counts["refused"] += len(refused)
    stage.check(refused, "nobody was refused")
    stage.check(len({span.machine for span in stage.list_spans()}) > 2, "the tree was not on several machines")


class _Crowd(ScriptedAgent):
    """An agent that hands on several times at once, and waits for all of them."""

    def hands_on(self, below: Sequence[tuple[str, str]], folder: str) -> None:
        """`below`: to whom, and the command line; `folder`: where each says that it is back."""
        marks = [f"{folder}/${{session}}.{at}" for at in range(len(below))]
        for mark, (whom, command) in zip(marks, below, strict=True):
            run = {"agent": whom, "prompt": "Do it.", "command": command, "ticket": True, "options": []}
            acts = [["run", run], ["write", {"path": mark, "text": ""}]]
            self._add("fork", how="child", acts=acts, holds=False)
        for mark in marks:
            self.waits_for(mark)


def _make_crowd(stage: Stage, name: str, below: Sequence[tuple[str, ScriptedAgent]]) -> ScriptedAgent:
    agent = _Crowd(stage.folder / "agents", name)
    stage.agents[name] = agent
    folder = stage.folder / "marks"
    folder.mkdir(exist_ok=True)
    agent.hands_on([(whom, other.command) for whom, other in below], str(folder))
    return agent.obeys({f"{name}/${{session}}.md": "done\n"})


def go_deep(stage: Stage, size: int) -> None:
    """A fourth level is refused, and so is whoever is above already, whichever machine asks."""
    stage.start_machines(3, Settings(lease=5), concurrency=4)
    fourth = stage.make_agent("fourth")
    third = stage.make_agent("third", below=[("fourth", fourth), ("first", fourth)])
    second = stage.make_agent("second", below=[("third", third)])
    first = stage.make_agent("first", below=[("second", second)])
    calling = stage.make_caller(names=("first", "second", "third", "fourth"))
    for _ in range(size):
        calling.ask("first", first.command)
    calling.start()
    stage.complaints += calling.finish()
    stage.check(not fourth.acts, "a fourth level began")
    codes = [act.details["exit_code"] for act in third.did("ran")]
    stage.check(codes == [2] * 2 * size, f"at the third level: {codes}")
    stage.counts["refused"] += codes.count(2)
    stage.judge()


def overspend(stage: Stage, size: int) -> None:
    """What one has used on one machine is known where the next one asks, on another."""
    column = stage.chance.choice(("cost_usd", "turns"))
    limit = {"cost_usd": {"max_usd": 1.0}, "turns": {"max_turns": 10}}[column]
    stage.start_machines(3, Settings(lease=5), concurrency=4)
    spender = stage.make_agent("spender", gate="gate")
    late = stage.make_agent("late")
    asker = stage.make_agent("asker", gate="spent", below=[(LEAF, late)])
    top = _make_crowd(stage, "top", [("spender", spender), ("asker", asker)])
    calling = stage.make_caller(names=(*NAMES, LEAF, "spender", "asker"))
    for _ in range(size):
        calling.ask("once", top.command, budget=limit)
    calling.start()
    stage.until(lambda: len(asker.did("waited")) == size and len(spender.did("waited")) == size, "all are at work")
    time.sleep(_TOLD_S)
    query: LiteralString = (
        "UPDATE remit.sessions SET cost_usd = 5, turns = 50, tokens = 5 WHERE agent = 'spender' AND state = 'running'"
    )
    stage.check(stage.change(query, {}) == size, "nothing was spent")
    (stage.folder / "spent").touch()
    stage.until(lambda: len(asker.did("ran")) >= size or calling.is_over(), "all have asked")
    codes = [act.details["exit_code"] for act in asker.did("ran")]
    stage.check(not late.acts, f"one more began, though the tree had spent its {column}")
    stage.check(all(code == 2 for code in codes), f"who asked was told {codes}")
    stage.counts["refused"] += len(codes)
    (stage.folder / "gate").touch()
    stage.complaints += calling.finish()
    ended = sum(
        row.stop_reason == "budget" for row in calling.list_rows()
    )  # whoever is above was told before anybody asked
    stage.counts["ended"] += ended
    stage.check(ended or len(codes) == size, f"{len(codes)} were refused, and {ended} trees ended")


HOSTILE: dict[str, tuple[Any, int, int]] = {
    "forged": (forge, 2, 4),
    "trees": (forge_trees, 1, 3),
    "tickets": (forge_tickets, 1, 6),
    "crowd": (crowd_tree, 10, 5),
    "deep": (go_deep, 1, 3),
    "spent": (overspend, 2, 2),
}
"""Each scene with how often it is played, and how large it is."""

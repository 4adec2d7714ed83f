"""ScriptedAgent, and the proof by it: no fault is taken for completed work, and nothing survives."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from remit.runs.workspace import Workspace
from remit.testing import ScriptedAgent
from remit.testing.agent import HOWS
from remit.testing.backends import AGENT_FILE
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.result import Result

SHORT_S = 4.0
"""Long enough for an interpreter to start on a busy machine."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.fixture
def agent(tmp_path: Path) -> ScriptedAgent:
    return ScriptedAgent(tmp_path / "agents")


def delegate(root: Path, agent: ScriptedAgent, **options: Any) -> Result:  # noqa: ANN401 - fields of Request
    async def run() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.delegate(None, "Write the report.", command=agent.command, finishes=False, **options)

    return asyncio.run(run())


def list_codes(result: Result) -> list[str]:
    return [error.code for error in result.errors]


# Those that do their work


@pytest.mark.parametrize("format", ["standard", "hyper", "manifest"])
def test_one_that_obeys_is_believed(root: Path, agent: ScriptedAgent, format: str) -> None:
    result = delegate(root, agent.speaks(format).obeys(), return_format=format)
    assert (result.status, result.stop_reason) == ("completed", "exited")
    assert [artifact.grade for artifact in result.artifacts] == ["changed"]
    assert {act.act for act in agent.acts} == {"began", "wrote", "returned", "ended"}
    assert {act.session for act in agent.acts} == {result.session_id}


def test_what_a_file_is_called_follows_from_its_place(root: Path, agent: ScriptedAgent) -> None:
    paths = ("specs/1_a/plans/implementation-001.md", "specs/1_a/reports/research-001.md", "cache.py", "notes.md")
    result = delegate(root, agent.obeys(dict.fromkeys(paths, "# A\n")))
    assert [artifact.type for artifact in result.artifacts] == ["plan", "report", "implementation", "report"]


def test_acts_come_one_after_the_other(root: Path, agent: ScriptedAgent) -> None:
    agent.writes("notes/a.md", "in ${session}, at depth ${depth}").sleeps(0.05).obeys({"b.md": "# B\n"})
    result = delegate(root, agent)
    assert [act.act for act in agent.acts] == ["began", "wrote", "slept", "wrote", "returned", "ended"]
    assert (root / "notes/a.md").read_text() == f"in {result.session_id}, at depth 1"
    assert result.unclaimed == ("notes/a.md",)
    assert agent.acts[-1].at - agent.acts[2].at >= 0.05


def test_a_session_that_is_run_again_plays_what_comes_then(root: Path, agent: ScriptedAgent) -> None:
    """A command is asked again only where it may be started anew."""
    (root / "remit.toml").write_text('[agents.again]\nretry = "safe"\n')
    agent.rambles().then().obeys()

    async def run() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.delegate("again", "Write it.", command=agent.command, finishes=False)

    result = asyncio.run(run())
    assert (result.status, result.attempts) == ("completed", 2)
    assert [act.run for act in agent.did("ended")] == [1, 2]


def test_it_runs_by_itself(tmp_path: Path) -> None:
    """The program needs neither Remit nor anything else that is installed."""
    agent = ScriptedAgent(tmp_path / "a folder", "it's").obeys({"x.md": "x"})
    done = subprocess.run(
        shlex.split(agent.command), cwd=tmp_path, input="", capture_output=True, text=True, check=True
    )
    payload = json.loads(done.stdout.split("```json")[1].split("```")[0])
    assert payload["artifacts"][0]["path"] == "x.md"
    assert (tmp_path / "x.md").read_text() == "x"
    assert not agent.list_living()


def test_who_lives_is_seen(tmp_path: Path) -> None:
    """If it were not, no test could tell that nothing survived."""
    agent = ScriptedAgent(tmp_path, "sleeper").forks("setsid").forks("nohup").sleeps(60)
    process = subprocess.Popen(shlex.split(agent.command), stdin=subprocess.DEVNULL)
    try:
        last = time.monotonic() + 20
        while not agent.did("slept"):
            assert time.monotonic() < last
            time.sleep(0.02)
        assert process.pid in agent.list_living()
        assert len(agent.list_living()) >= 4  # the agent, its child, the shell that nohup became, and its sleep
    finally:
        process.kill()
        process.wait()
        for pid in agent.list_living():
            subprocess.run(["kill", "-9", str(pid)], check=False)


# Those that do not


class Fault(NamedTuple):
    """What an agent does wrong, and how that is told."""

    script: Callable[[ScriptedAgent, Path], object]
    act: str
    """What must have happened, or nothing was tried."""
    status: str
    verdict: str
    stop_reason: str = "exited"
    code: str = ""
    timeout_s: float = 60


def _prepare_stale(agent: ScriptedAgent, root: Path) -> None:
    (root / "report.md").write_text("# Old\n")
    agent.lies()


def _replay(agent: ScriptedAgent, root: Path) -> None:
    first = ScriptedAgent(Path(agent.program).parent, "first").obeys()
    result = delegate(root, first)
    assert result.status == "completed"
    agent.writes("report.md", "# New\n").replays(first.load_answer(result.session_id))


FAULTS = {
    "lies": Fault(lambda agent, _: agent.lies(), "returned", "failed", "fabricated", code="FABRICATED"),
    "lies about what was there": Fault(_prepare_stale, "returned", "failed", "fabricated", code="FABRICATED"),
    "hangs": Fault(
        lambda agent, _: agent.writes("part.md", "half").hangs(), "ignored", "partial", "missing", "timeout", "TIMEOUT",
        SHORT_S,
    ),
    "floods": Fault(lambda agent, _: agent.floods(), "flooded", "failed", "missing"),
    "floods its errors": Fault(lambda agent, _: agent.floods(stream="err"), "flooded", "failed", "missing", "crashed"),
    "truncates": Fault(lambda agent, _: agent.writes("report.md", "x").truncates(), "returned", "failed", "malformed"),
    "rambles": Fault(lambda agent, _: agent.writes("report.md", "x").rambles(), "printed", "failed", "missing"),
    "replays": Fault(_replay, "printed", "failed", "missing"),
    "escapes": Fault(lambda agent, _: agent.escapes("../outside.md"), "wrote", "failed", "invalid"),
    "escapes by its absolute path": Fault(
        lambda agent, root: agent.escapes(str(root.parent / "outside.md")), "wrote", "failed", "invalid"
    ),
    "crashes": Fault(lambda agent, _: agent.crashes(3), "crashed", "failed", "missing", "crashed"),
    "returns and crashes": Fault(
        lambda agent, _: agent.obeys().crashes(3), "crashed", "failed", "ambiguous", "crashed"
    ),
    "returns and is killed": Fault(
        lambda agent, _: agent.obeys().crashes(signal=9), "crashed", "failed", "ambiguous", "crashed"
    ),
    "speaks another format": Fault(lambda agent, _: agent.speaks("hyper").obeys(), "returned", "failed", "invalid"),
    "is too slow": Fault(
        lambda agent, _: agent.obeys().sleeps(60), "slept", "partial", "accepted", "timeout", "TIMEOUT", SHORT_S
    ),
    "says nothing": Fault(lambda agent, _: agent.writes("report.md", "x"), "ended", "failed", "missing", "crashed"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.thorough("floods its errors")
@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_is_taken_for_completed_work(root: Path, agent: ScriptedAgent, name: str) -> None:
    fault = FAULTS[name]
    fault.script(agent, root)
    result = delegate(root, agent, timeout_s=fault.timeout_s, return_format="standard")
    assert agent.did(fault.act), "the fault never happened"
    assert (result.status, result.verdict, result.stop_reason) == (fault.status, fault.verdict, fault.stop_reason)
    assert not fault.code or fault.code in list_codes(result)
    assert not agent.list_living()


@pytest.mark.slow
def test_what_was_written_before_the_end_is_saved(root: Path, agent: ScriptedAgent) -> None:
    result = delegate(root, agent.writes("part.md", "half").hangs(), timeout_s=SHORT_S)
    assert [artifact.path for artifact in result.artifacts] == ["part.md"]
    assert agent.did("ignored")


@pytest.mark.thorough("True")
@pytest.mark.slow
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("holds", [False, True])
def test_nothing_that_it_left_behind_survives(root: Path, agent: ScriptedAgent, how: Any, *, holds: bool) -> None:  # noqa: ANN401 - a literal
    result = delegate(root, agent.forks(how, holds=holds).obeys())
    assert agent.did("forked")
    assert result.status == "completed"
    assert not agent.list_living()


@pytest.mark.slow
def test_nothing_of_one_that_hangs_survives_whatever_it_forked(root: Path, agent: ScriptedAgent) -> None:
    for how in HOWS:
        agent.forks(how, holds=True)
    result = delegate(root, agent.hangs(), timeout_s=6)
    assert (result.status, result.stop_reason) == ("partial", "timeout")
    assert len(agent.did("forked")) == len(HOWS)
    assert agent.did("ignored")
    assert not agent.list_living()


@pytest.mark.parametrize("after_s", [0.0, 0.5])
def test_what_is_changed_after_the_return_is_what_counts_or_never_happens(
    root: Path, agent: ScriptedAgent, after_s: float
) -> None:
    """The hash that the caller is told is that of the file that is there."""
    result = delegate(root, agent.edits_later(after_s=after_s).obeys())
    assert agent.did("forked")
    if result.status != "completed":  # looked at in the moment in which it was empty
        assert result.verdict == "fabricated"
        return
    (artifact,) = result.artifacts
    time.sleep(0.6)
    assert sha256((root / "report.md").read_bytes()).hexdigest().startswith(artifact.sha256)
    assert not agent.list_living()


@pytest.mark.slow
@pytest.mark.thorough
def test_a_flood_before_the_return_drowns_nothing(root: Path, agent: ScriptedAgent) -> None:
    result = delegate(root, agent.floods().says("\n").obeys())
    assert agent.did("flooded")
    assert (result.status, result.verdict) == ("completed", "accepted")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "ticket", "code"),
    [("first", True, "CYCLE_DETECTED"), ("second", False, "")],
    ids=["itself", "without its ticket"],
)
def test_one_that_calls_whom_it_may_not_is_refused(
    root: Path, agent: ScriptedAgent, *, target: str, ticket: bool, code: str
) -> None:
    """It is told so, and can go on; nothing is started."""
    for name in ("first", "second"):
        (root / "agents").mkdir(exist_ok=True)
        (root / "agents" / f"{name}.md").write_text(AGENT_FILE.format(name=name))
    other = ScriptedAgent(Path(agent.program).parent, "other").obeys({"other.md": "x"})
    agent.recurses(target, command=other.command, ticket=ticket).obeys()

    async def run() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.delegate("first", "Do it.", command=agent.command, finishes=False)

    result = asyncio.run(run())
    (ran,) = agent.did("ran")
    assert ran.details["exit_code"] == 2, ran
    assert code in ran.details["out"] + ran.details["err"]
    assert result.status == "completed"
    assert not other.acts


# Fake returns


def play_fakes(*options: str) -> list[dict[str, Any]]:
    command = [sys.executable, str(ROOT / "torture" / "fakes.py"), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    told: list[dict[str, Any]] = json.loads(done.stdout)
    return told


@pytest.mark.slow
@pytest.mark.thorough
def test_no_fake_return_is_believed_and_the_truth_is() -> None:
    """A fourth of them; `make torture` plays all."""
    told = play_fakes("--most", "50")
    assert [each for each in told if each["is_bad"]] == []
    assert len(told) == 55
    assert {each["status"] for each in told if each["family"] == "true"} == {"completed"}
    assert {"claims", "stale", "session", "two returns", "two values", "cut"} <= {each["family"] for each in told}


@pytest.mark.slow
@pytest.mark.parametrize(("family", "code"), [("not back", "EVD004"), ("no tool", "EVD002"), ("stale", "EVD001")])
def test_what_the_tree_and_the_tools_say_is_held_against_the_claim(family: str, code: str) -> None:
    told = [each for each in play_fakes("--only", family) if each["family"] == family]
    emptied = {"invalid"} if family == "stale" else set()  # an agent may have made an empty file
    assert {each["verdict"] for each in told} == {"fabricated"} | emptied
    assert sum(code in each["codes"] for each in told) >= 3

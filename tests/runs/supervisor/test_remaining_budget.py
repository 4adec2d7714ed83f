"""Budgets hold for a whole tree, while its agents run: real programs that print as opencode does."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from remit.runs.admission.limits import Budget
from remit.runs.request import Request
from remit.runs.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from remit.ledger.runs import Run
    from remit.result import Result

AGENT = """---
name: {name}
version: 1.0.0
description: An agent that spends.
mode: subagent
agent_type: utility
temperature: 0.2
max_tokens: 2000
timeout: 60
tools: {{read: true, write: true, bash: true}}
permissions: {{allow: [], deny: []}}
delegation: {{max_depth: 3, can_delegate_to: [{target}]}}
---
# {name}
Spend.
"""
PROGRAM = """#!{python}
import json, os, subprocess, sys, time
who = next(word for word in sys.argv if word.startswith("--agent="))[-1]
sys.stdin.read()
def say(kind, **part):
    print(json.dumps({{"type": kind, "sessionID": "ses_1", "part": part}}), flush=True)
def use(steps, reason="tool-calls"):
    for _ in range(steps):
        say("step_start")
        say("step_finish", reason=reason, tokens={{"input": 100}}, cost=0.01)
before, after, wait = json.loads(os.environ["SPEND"])[who]
use(before)
if who == "a":
    subprocess.run([{python!r}, "-m", "remit", "run", "b", "Spend.", "--runner", "opencode"])
use(after)
time.sleep(wait)
open(who + ".done", "w").close()
say("step_start")
say("text", text="no return")
say("step_finish", reason="stop", tokens={{}}, cost=0)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with two agents, of which `a` hands work to `b`."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "remit.toml").write_text("[delegate]\nreasks = 0\n")
    (root / "agents").mkdir()
    for name, target in (("a", "b"), ("b", "")):
        (root / "agents" / f"{name}.md").write_text(AGENT.format(name=name, target=target))
    program = tmp_path / "bin" / "opencode"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o700)
    return root


def spend(root: Path, spends: str, **options: Any) -> tuple[Result, dict[str, Run]]:  # noqa: ANN401 - fields of Request
    """Let `a` spend, and `b` below it: for each, how many steps before and after it hands on, and how long it stays."""
    path = f"{root.parent / 'bin'}:{os.environ['PATH']}"

    async def run() -> tuple[Result, dict[str, Run]]:
        async with Workspace.open(root, environ={**os.environ, "PATH": path, "SPEND": spends}) as ws:
            result = await ws.delegate("a", "Spend.", runner="opencode", timeout_s=30, **options)
            return result, {row.agent: row for row in ws.list(only_open=False)}

    return asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("budget", "left"),
    [
        (Budget(max_tokens=1000), {"max_tokens": 400}),
        (Budget(max_turns=9), {"max_turns": 3}),
        (Budget(max_usd=0.1), {"max_usd": pytest.approx(0.04)}),
    ],
)
def test_what_a_caller_has_used_this_moment_is_not_given_away(
    root: Path, budget: Budget, left: dict[str, float]
) -> None:
    _, rows = spend(root, '{"a": [6, 0, 0], "b": [1, 0, 0]}', budget=budget)
    assert rows["b"].details["budget"] == left
    assert (root / "b.done").exists()
    assert (root / "a.done").exists()


@pytest.mark.slow
def test_who_has_used_all_cannot_hand_on(root: Path) -> None:
    result, rows = spend(root, '{"a": [10, 0, 20], "b": [1, 0, 0]}', budget=Budget(max_tokens=1000))
    assert "b" not in rows
    assert (result.stop_reason, [fault.code for fault in result.errors]) == ("budget", ["BUDGET_EXCEEDED"])


@pytest.mark.slow
@pytest.mark.parametrize("budget", [Budget(max_tokens=1000), Budget(max_turns=9), Budget(max_usd=0.1)])
def test_what_was_used_below_counts_against_whoever_goes_on(root: Path, budget: Budget) -> None:
    result, rows = spend(root, '{"a": [1, 4, 20], "b": [6, 0, 0]}', budget=budget)
    assert (root / "b.done").exists()
    assert not (root / "a.done").exists(), "it was not ended"
    assert (result.status, result.stop_reason) == ("partial", "budget")
    assert "it and its nested runs used" in result.errors[0].message
    assert (rows["a"].tokens, rows["b"].tokens) == (500, 600)


@pytest.mark.slow
def test_one_below_that_uses_up_the_tree_is_written_down_before_its_caller_is_ended(root: Path) -> None:
    result, rows = spend(root, '{"a": [5, 0, 20], "b": [9, 0, 20]}', budget=Budget(max_tokens=1000))
    assert not (root / "b.done").exists()
    assert not (root / "a.done").exists()
    assert {row.agent: (row.state, row.stop_reason) for row in rows.values()} == {
        "a": ("finished", "budget"),
        "b": ("finished", "budget"),
    }
    assert result.stop_reason == "budget"


def test_one_whose_budget_was_used_up_before_its_turn_does_not_begin(root: Path) -> None:
    async def run() -> Result:
        async with Workspace.open(root) as ws:
            request = Request(None, "Spend.", command="touch begun", budget=Budget(max_tokens=100))
            session_id = ws.prepare(request).row.session_id
            with ws.home.ledger.transaction() as db:
                db.execute("UPDATE runs SET tokens = 100")
            await ws.backend.submit(session_id)
            return await ws.wait(session_id)

    result = asyncio.run(run())
    assert (result.status, result.stop_reason) == ("partial", "budget")
    assert not (root / "begun").exists()


def test_a_limit_from_above_that_cannot_be_held_is_told(root: Path) -> None:
    """One below is told of a limit that it was not given itself, and so is whoever has set it for the workspace."""
    (root / "remit.toml").write_text("[budget]\nmax_usd = 1.0\n")

    async def run() -> tuple[Result, Result]:
        below: list[Result] = []

        async with Workspace.open(root) as ws:

            async def hand_on(_: str) -> str:
                below.append(await ws.delegate("b", "Spend.", command="echo no return"))
                return "no return"

            above = await ws.delegate("a", "Spend.", function=hand_on, budget=Budget(max_tokens=100))
            return above, below[0]

    for result in asyncio.run(run()):
        told = [finding.message.partition(" ")[0] for finding in result.diagnostics if finding.code == "BUD001"]
        assert told == ["max_tokens", "max_usd"]

"""An orchestrator in Python: it hands work to agents and decides what follows each result.

    python examples/orchestrator.py                    # scripted agents: no key, no network, a few seconds
    python examples/orchestrator.py --runner claude    # the same with Claude Code; or opencode, codex, gemini

It works on task 2 of a copy of examples/workspace: three researchers at once, a plan, and the implementation. Of the
scripted agents one lies and is honest when asked again, one lies to the end, and one stops half-way; the rules in
`follow` are what to do then. With a runner, `Agents.choose` gives its name instead of a command, and nothing
else changes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from remit import Budget, RefusedError, Request, Result, Workspace
from remit.testing import ScriptedAgent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

HERE = Path(__file__).resolve().parent
TASK = 2
FOLDER = "specs/2_tell_a_replaced_meter_from_a_mistyped_reading"
REPORTS = [f"{FOLDER}/reports/research-{number:03}.md" for number in (1, 2, 3)]
QUESTIONS = (
    "How is a replaced meter written down today?",
    "Which readings in readings.csv lie below the one before?",
    "What do other programs of this kind do?",
)
PLAN = f"{FOLDER}/plans/implementation-001.md"
PHASES = """\
# Plan

- **Status**: [NOT STARTED]

## Implementation Phases

### Phase 1: Tell the line of a reading that is too small [NOT STARTED]

### Phase 2: Begin anew after a remark [NOT STARTED]
"""
CHECKS = (HERE / "workspace" / "checks.md").read_text("utf-8")
BUDGET = Budget(max_seconds=900, max_tokens=200_000, max_delegations=5)
"""For each piece of work, with all that its agent hands on. What a runner cannot count is told in the result."""


class Agents(NamedTuple):
    """Who does the work: a harness by its name, or programs that play a script."""

    runner: str
    folder: Path

    def choose(self, name: str, attempt: int = 1) -> dict[str, Any]:
        """The options of a request that say who does it."""
        if self.runner:
            return {"runner": self.runner}
        agent = ScriptedAgent(self.folder, f"{name}-{attempt}")
        return {"command": self._script(agent, name, attempt).command}

    @staticmethod
    def _script(agent: ScriptedAgent, name: str, attempt: int) -> ScriptedAgent:
        if name == "planner":
            return agent.writes(PLAN, PHASES).returns(PLAN, changes={"summary": "Two phases. Both are small."})
        if name == "implementer":
            text = f"{CHECKS}\nHalf-way.\n" if attempt == 1 else f"{CHECKS}\nDone in ${{session}}.\n"
            return agent.obeys({"checks.md": text}, status="partial" if attempt == 1 else "completed")
        place = int(name[-1])
        is_honest = place == 0 or (place == 1 and attempt > 1)
        report = REPORTS[place]
        text = f"# Report\n\n{QUESTIONS[place]}\n\nAttempt {attempt}.\n"
        if attempt == 1:
            agent.sleeps(2)  # as long as it takes the others to start
        return agent.obeys({report: text}) if is_honest else agent.lies(report)


def tell(result: Result) -> None:
    """One line for what came back, and one for each error."""
    times = f", {result.attempts} attempts" if result.attempts > 1 else ""
    print(f"  {result.agent}: {result.status} ({result.verdict}{times}) {result.summary}")
    for artifact in result.artifacts:
        print(f"    {artifact.path} [{artifact.grade}]")
    for error in result.errors:
        print(f"    {error.code}: {error.message}; {error.recommendation}")


async def follow(result: Result, ask: Callable[[str], Awaitable[Result]]) -> Result:
    """Have work done once more where that can help; what it came to in the end."""
    tell(result)
    if result.status == "partial":
        paths = ", ".join(artifact.path for artifact in result.artifacts) or "nothing"
        more = f"Go on from what is there: {paths}."
    elif result.status == "failed" and result.errors[0].recoverable:
        more = f"The last attempt failed: {result.errors[0].message}. {result.errors[0].recommendation}."
    else:  # completed, blocked, or failed where only a person can help: once more would end the same way
        return result
    print(f"  once more. {more}")
    result = await ask(more)
    tell(result)
    return result


def ask_question(agents: Agents, place: int, attempt: int = 1, more: str = "") -> Request:
    """A question for a researcher; `more` is what was learned from an attempt before."""
    question = QUESTIONS[place]
    return Request(
        "researcher",
        f"{question} Write {REPORTS[place]}. {more}",
        inputs={"task_number": str(TASK), "research_focus": question},
        timeout_s=600,
        budget=BUDGET,
        **agents.choose(f"researcher-{place}", attempt),
    )


async def ask_again(ws: Workspace, agents: Agents, place: int, more: str) -> Result:
    """The same question, to an agent that knows what went wrong."""
    return await ws.run(ask_question(agents, place, 2, more))


async def research(ws: Workspace, agents: Agents) -> list[Result]:
    """Three questions at once. A refusal or a failure of one costs the others nothing.

    The scripted agents report no tools, so nothing shows which of them wrote or removed a file: each is `unproven` and
    is asked once more, alone.
    """
    requests = [ask_question(agents, place) for place in range(len(QUESTIONS))]
    # With the name of a batch, running this again after a crash picks up what is done and does only the rest.
    results = await ws.delegate_all(requests, concurrency=3, batch=f"questions on task {TASK}")
    return [await follow(result, partial(ask_again, ws, agents, place)) for place, result in enumerate(results)]


async def work(ws: Workspace, agents: Agents, command: str, agent: str) -> Result:
    """A step of the task's own life: its status is moved, the artifact linked, the files committed."""

    async def ask(more: str, attempt: int = 2) -> Result:
        parts = await ws.work(command, TASK, more, timeout_s=600, budget=BUDGET, **agents.choose(agent, attempt))
        return parts[-1].result  # of a plan with phases each is a part; the last says how it ended

    return await follow(await ask("", 1), ask)


async def orchestrate(root: Path, agents: Agents) -> int:
    """Research, plan, implement. 0: done, 1: a person has to look."""
    async with Workspace.open(root) as ws:
        print(f"Three questions on task {TASK}, at once")
        found = [result for result in await research(ws, agents) if result.status == "completed"]
        print(f"{len(found)} of {len(QUESTIONS)} were answered: enough to plan with" if found else "No answer")
        if not found:
            return 1
        for command, agent in (("plan", "planner"), ("implement", "implementer")):
            print(f"\n{command} task {TASK}")
            try:
                result = await work(ws, agents, command, agent)
            except RefusedError as error:  # too deep, in a circle, over budget, or somebody is at it already
                print(f"  refused: {error}")
                return 1
            if result.status != "completed":
                print(f"  stopped here: {result.show}")
                return 1
    return 0


def make_copy(folder: Path) -> Path:
    """A copy of the workspace with a history of its own."""
    root = Path(shutil.copytree(HERE / "workspace", folder / "wattlog", ignore=shutil.ignore_patterns(".remit")))
    own = ("-c", "user.name=Example", "-c", "user.email=example@localhost", "-c", "init.defaultBranch=main")
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "Wattlog")):
        subprocess.run(["git", *own, *words], cwd=root, check=True)
    return root


def main() -> int:
    """Read the command line, and play it in a folder that is removed afterwards, unless one is named."""
    parser = argparse.ArgumentParser(description="Hand a task to agents, and decide what follows.")
    parser.add_argument("--runner", default="", help="claude, opencode, codex or gemini; scripted agents if left out")
    parser.add_argument("--folder", help="where to work; it is kept")
    given = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("REMIT_")]:
        del os.environ[name]  # nobody's agent: this is where the work begins
    with tempfile.TemporaryDirectory(prefix="remit-orchestrator-") as scratch:
        folder = Path(given.folder or scratch).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        return asyncio.run(orchestrate(make_copy(folder), Agents(given.runner, folder / "agents")))


if __name__ == "__main__":
    sys.exit(main())

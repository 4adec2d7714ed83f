"""The conformance suite of backends (`remit.runs.backend`).

    class TestMyBackend(BackendSuite):
        def open(self, root):
            ws = Workspace.open(root)
            ws.backend = Mine(ws.supervisor)
            return ws

pytest collects the methods of a subclass whose name starts with Test; this module doesn't import pytest. Agents are
real programs. Other processes of the same workspace are real, too: they load the subclass from its file.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import os
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from remit.errors import RemitError
from remit.ledger.runs import list_attempts, load_run
from remit.runs.request import Request
from remit.storage import files
from remit.testing.agent import ScriptedAgent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from remit.result import Result
    from remit.runs.workspace import Workspace

AGENT_FILE = """\
---
name: {name}
version: "1.0.0"
agent_type: utility
delegation:
  can_delegate_to: ["*"]
---

# {name}
"""
"""An agent that may call any other, by name."""
NAMES = ("first", "second", "third", "fourth")
_PATIENCE_S = 60.0


class BackendSuite:
    """Tests of a backend. Implement `open` to open a workspace with the backend."""

    def open(self, root: str) -> Workspace:
        """Return a workspace with the tested backend."""
        raise NotImplementedError

    # --- once ---------------------------------------------------------------------------------------------------------

    def test_one_that_is_submitted_twice_runs_once(self, tmp_path: Path) -> None:
        """A second submit of the same run has no effect."""
        agent = make_agent(tmp_path).obeys()

        async def act(ws: Workspace) -> Result:
            prepared = ws.prepare(_ask(agent))
            await ws.backend.submit(prepared.row.session_id)
            await ws.backend.submit(prepared.row.session_id)
            return await ws.wait(prepared.row.session_id)

        result = self._run(tmp_path, act)
        _check(result.status == "completed", result)
        _check(len(agent.did("began")) == 1, agent.acts)

    def test_two_waiting_callers_get_the_same_result(self, tmp_path: Path) -> None:
        """Wait from two waiters, one of which gives up and comes back."""
        agent = make_agent(tmp_path).waits_for(str(tmp_path / "gate")).obeys()

        async def act(ws: Workspace) -> list[Result]:
            session = (await ws.start(_ask(agent))).row.session_id
            waiters = [asyncio.ensure_future(ws.wait(session)) for _ in range(2)]
            impatient = asyncio.ensure_future(ws.wait(session))
            await _until(lambda: bool(agent.did("waited")))
            impatient.cancel()
            files.write_text(str(tmp_path / "gate"), "")
            return [*(await asyncio.gather(*waiters)), await ws.wait(session)]

        one, other, late = self._run(tmp_path, act)
        _check(one == other == late and one.status == "completed", (one, other, late))
        _check(len(agent.did("began")) == 1, agent.acts)

    def test_a_later_caller_gets_the_result(self, tmp_path: Path) -> None:
        """Results are kept; unknown runs are refused."""
        agent = make_agent(tmp_path).obeys()
        first = self._run(tmp_path, lambda ws: ws.run(_ask(agent)))

        async def act(ws: Workspace) -> Result:
            _check(ws.backend.list() == [] and len(ws.backend.list(only_open=False)) == 1, ws.backend.list())
            try:
                await ws.backend.wait("sess_1_abcdef")
            except RemitError:
                return await ws.wait(first.session_id)
            raise AssertionError("one that was never there was waited for")

        _check(self._run(tmp_path, act) == first, first)

    # --- ends ---------------------------------------------------------------------------------------------------------

    def test_time_that_is_up_is_partial(self, tmp_path: Path) -> None:
        """What is on disk then is saved."""
        agent = make_agent(tmp_path).writes("part.md", "half").forks("setsid").hangs()
        result = self._run(tmp_path, lambda ws: ws.run(_ask(agent, timeout_s=2)))
        _check((result.status, result.stop_reason, result.errors[0].code) == ("partial", "timeout", "TIMEOUT"), result)
        _check([artifact.path for artifact in result.artifacts] == ["part.md"], result.artifacts)
        _check(bool(agent.did("hung")) and not agent.list_living(), agent.acts)

    def test_a_crash_is_reported(self, tmp_path: Path) -> None:
        """A program that fails gives no result and isn't retried."""
        agent = make_agent(tmp_path).crashes(3)
        result = self._run(tmp_path, lambda ws: ws.run(_ask(agent)))
        _check((result.status, result.stop_reason) == ("failed", "crashed"), result)
        _check(len(agent.did("crashed")) == 1, agent.acts)

    def test_one_that_runs_is_cancelled(self, tmp_path: Path) -> None:
        """No process is alive when cancel returns, even if the agent forks or ignores signals."""
        agent = make_agent(tmp_path).forks("double fork").hangs()

        async def act(ws: Workspace) -> Result:
            session = (await ws.start(_ask(agent))).row.session_id
            await _until(lambda: bool(agent.did("hung")))
            text = await ws.cancel(session, reason="enough")
            _check(session in text and not agent.list_living(), (text, agent.list_living()))
            return await ws.wait(session)

        result = self._run(tmp_path, act)
        _check((result.status, result.stop_reason) == ("failed", "cancelled"), result)

    def test_one_that_is_cancelled_at_once_ends(self, tmp_path: Path) -> None:
        """Cancel also works shortly before the program starts."""
        agent = make_agent(tmp_path).hangs()

        async def act(ws: Workspace) -> Result:
            session = (await ws.start(_ask(agent))).row.session_id
            await asyncio.sleep(0)
            await ws.cancel(session)
            return await ws.wait(session)

        _check(self._run(tmp_path, act).stop_reason == "cancelled", agent.acts)
        _check(not agent.list_living(), agent.acts)

    def test_one_that_waits_for_a_slot_is_cancelled(self, tmp_path: Path) -> None:
        """The queued run never starts, and the active run continues."""
        agent = make_agent(tmp_path).waits_for(str(tmp_path / "gate")).obeys()
        queued = make_agent(tmp_path, "queued").obeys({"other.md": "x"})

        async def act(ws: Workspace) -> list[Result]:
            running = (await ws.start(_ask(agent))).row.session_id
            await _until(lambda: bool(agent.did("waited")))
            waiting = (await ws.start(_ask(queued))).row.session_id
            await asyncio.sleep(0.1)
            await ws.cancel(waiting)
            result = await ws.wait(waiting)
            files.write_text(str(tmp_path / "gate"), "")
            return [result, await ws.wait(running)]

        cancelled, done = self._run(tmp_path, act, slots=1)
        _check((cancelled.stop_reason, done.status) == ("cancelled", "completed"), (cancelled, done))
        _check(not queued.acts, queued.acts)

    def test_all_below_one_are_cancelled_with_it(self, tmp_path: Path) -> None:
        """Nested runs end, too, whichever process supervises them."""
        below = make_agent(tmp_path, "below").forks("setsid").hangs()
        above = make_agent(tmp_path, "above").recurses("second", command=below.command)

        async def act(ws: Workspace) -> Result:
            session = (await ws.start(_ask(above, name="first"))).row.session_id
            await _until(lambda: bool(below.did("hung")))
            text = await ws.cancel(session)
            _check(len(text) == 2 and not below.list_living() and not above.list_living(), text)
            return await ws.wait(session)

        _check(self._run(tmp_path, act).stop_reason == "cancelled", above.acts)
        self._run(tmp_path, self._wait_for_all)  # the next process finishes the runs of a dead one

    # --- slots --------------------------------------------------------------------------------------------------------

    def test_a_parent_that_waits_gives_its_slot_back(self, tmp_path: Path) -> None:
        """With one slot, three levels of nested runs end."""
        third = make_agent(tmp_path, "third").obeys({"third.md": "3"})
        second = make_agent(tmp_path, "second").recurses("third", command=third.command).obeys({"second.md": "2"})
        first = make_agent(tmp_path, "first").recurses("second", command=second.command).obeys({"first.md": "1"})
        result = self._run(tmp_path, lambda ws: ws.run(_ask(first, name="first")), slots=1)
        _check(result.status == "completed", (result, first.acts))
        _check([act.details["exit_code"] for act in (*first.did("ran"), *second.did("ran"))] == [0, 0], first.acts)
        _check(bool(third.did("ended")), third.acts)

    def test_a_fourth_level_is_refused(self, tmp_path: Path) -> None:
        """Three levels are allowed, and an agent without its ticket isn't taken for a user."""
        fourth = make_agent(tmp_path, "fourth").obeys({"fourth.md": "4"})
        third = make_agent(tmp_path, "third").recurses("fourth", command=fourth.command)
        third.recurses("fourth", command=fourth.command, ticket=False).obeys({"third.md": "3"})
        second = make_agent(tmp_path, "second").recurses("third", command=third.command).obeys({"second.md": "2"})
        first = make_agent(tmp_path, "first").recurses("second", command=second.command).obeys({"first.md": "1"})
        result = self._run(tmp_path, lambda ws: ws.run(_ask(first, name="first")))
        _check(result.status == "completed", (result, first.acts))
        _check([act.details["exit_code"] for act in third.did("ran")] == [2, 2], third.acts)
        _check(not fourth.acts, fourth.acts)

    def test_slots_hold_across_processes(self, tmp_path: Path) -> None:
        """With one slot, no two agents run at a time, whichever process started them."""
        agent = make_agent(tmp_path).sleeps(0.1).writes("out/${session}.md", "x").returns("out/${session}.md")
        command = agent.command

        async def act(ws: Workspace) -> list[Result]:
            other = await self._start_process(ws.root, "run_some", command)
            sessions = [(await ws.start(_ask(agent))).row.session_id for _ in range(3)]
            own = [await ws.wait(session) for session in sessions]
            await other.wait()
            return own + [await ws.wait(row.session_id) for row in ws.list(only_open=False)]

        results = self._run(tmp_path, act, slots=1)
        _check({result.status for result in results} == {"completed"}, results)
        began, ended = agent.did("began"), {act.session: act.at for act in agent.did("ended")}
        _check(len(began) == 6, began)
        spans = sorted((each.at, ended[each.session]) for each in began)
        _check(all(earlier[1] <= later[0] for earlier, later in pairwise(spans)), spans)

    async def run_some(self, root: str, command: str) -> None:
        """Run three agents in a separate process."""
        async with self.open(root) as ws:
            sessions = [(await ws.start(Request(None, "Do it.", command=command))).row.session_id for _ in range(3)]
            for session in sessions:
                await ws.wait(session)

    # --- recovery -----------------------------------------------------------------------------------------------------

    def test_what_a_dead_process_left_is_brought_to_its_end_once(self, tmp_path: Path) -> None:
        """After a kill while agents run, two processes take over, and each run ends exactly once."""
        agent = make_agent(tmp_path).waits_for(str(tmp_path / "gate"))
        agent.writes("out/${session}.md", "x").returns()  # what it claims beside others could be unproven
        command = agent.command

        async def act(ws: Workspace) -> list[Result]:
            other = await self._start_process(ws.root, "run_some", command)
            await _until(lambda: len(agent.did("waited")) == 3)
            other.kill()
            await other.wait()
            rival = self.open(ws.root)
            taken = [*(await rival.backend.recover()), *(await ws.backend.recover())]
            files.write_text(str(tmp_path / "gate"), "")
            results = [await ws.wait(row.session_id) for row in ws.list(only_open=False)]
            await rival.close()
            _check(len(taken) == len(set(taken)) == 3, taken)
            tries = [len(list_attempts(ws.home.ledger, each.session_id)) for each in results]
            _check(tries == [1, 1, 1], tries)
            return results

        results = self._run(tmp_path, act)
        _check([result.status for result in results] == ["completed"] * 3, results)
        _check(len(agent.did("began")) == 3 and not agent.list_living(), agent.acts)

    def test_agents_go_on_when_their_process_closes(self, tmp_path: Path) -> None:
        """The next process takes them over."""
        agent = make_agent(tmp_path).waits_for(str(tmp_path / "gate")).obeys()

        async def begin(ws: Workspace) -> str:
            session = (await ws.start(_ask(agent))).row.session_id
            await _until(lambda: bool(agent.did("waited")))
            return session

        session = self._run(tmp_path, begin)
        _check(bool(agent.list_living()), agent.acts)
        files.write_text(str(tmp_path / "gate"), "")
        result = self._run(tmp_path, lambda ws: ws.wait(session))
        _check(result.status == "completed" and len(agent.did("began")) == 1, result)

    def test_what_was_admitted_and_never_begun_is_begun(self, tmp_path: Path) -> None:
        """The next process takes over a run whose process died after admission."""
        agent = make_agent(tmp_path).obeys()

        async def admit(ws: Workspace) -> str:
            return ws.prepare(_ask(agent)).row.session_id

        session = self._run(tmp_path, admit)
        result = self._run(tmp_path, lambda ws: ws.wait(session))
        _check(result.status == "completed" and len(agent.did("began")) == 1, result)

    # --- the ways there -----------------------------------------------------------------------------------------------

    def _run(self, tmp_path: Path, act: Callable[[Workspace], Awaitable[Any]], *, slots: int = 32) -> Any:  # noqa: ANN401 - whatever it gives
        root = str(tmp_path / "work")
        files.write_text(f"{root}/.git/HEAD", "ref: refs/heads/main\n", make_folders=True)
        files.write_text(f"{root}/remit.toml", f"[limits]\nrunning = {slots}\n[delegate]\ncommit = false\n")
        for name in NAMES:
            files.write_text(f"{root}/agents/{name}.md", AGENT_FILE.format(name=name), make_folders=True)

        async def run() -> Any:  # noqa: ANN401
            async with self.open(root) as ws:
                return await asyncio.wait_for(act(ws), _PATIENCE_S)

        return asyncio.run(run())

    async def _wait_for_all(self, ws: Workspace) -> None:
        rows = ws.list(only_open=False)
        for row in rows:
            await ws.wait(row.session_id)
        states = {getattr(load_run(ws.home.ledger, row.session_id), "state", None) for row in rows}
        _check(states == {"finished"}, states)

    async def _start_process(self, root: str, method: str, *given: str) -> asyncio.subprocess.Process:
        """Another process that uses the same backend."""
        own = type(self)
        program = "import sys; from remit.testing.backends import run_method; run_method(*sys.argv[1:])"
        return await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, inspect.getfile(own), own.__name__, method, root, *given
        )


def run_method(file: str, name: str, method: str, *given: str) -> None:
    """Call a method of a suite in the process that was started for it."""
    spec = importlib.util.spec_from_file_location("remit_backend_suite", file)
    if spec is None or spec.loader is None:
        raise ImportError(file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    asyncio.run(getattr(getattr(module, name)(), method)(*given))


def make_agent(tmp_path: Path, name: str = "agent") -> ScriptedAgent:
    """Return an agent whose program and log are outside the workspace."""
    return ScriptedAgent(os.fspath(tmp_path / "agents"), name)


def _ask(agent: ScriptedAgent, *, name: str | None = None, timeout_s: float = _PATIENCE_S) -> Request:
    return Request(name, "Do it.", command=agent.command, timeout_s=timeout_s)


async def _until(holds: Callable[[], bool]) -> None:
    last = asyncio.get_running_loop().time() + _PATIENCE_S / 2
    while not holds():
        _check(asyncio.get_running_loop().time() < last, "it took too long")
        await asyncio.sleep(0.02)


def _check(holds: bool, text: object) -> None:  # noqa: FBT001 - as `assert`, which others may have switched off
    if not holds:
        raise AssertionError(text)

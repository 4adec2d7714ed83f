"""Fan-out: each gets its result, whatever becomes of the others, and what is done is not done twice."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from remit.errors import UsageError
from remit.runs.batch import RunBatch, make_keys
from remit.runs.instructions import TaskFacts
from remit.runs.request import Request
from remit.runs.workspace import Workspace
from remit.testing.agent import ScriptedAgent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.result import Result


class Workshop:
    """A function that counts who is in it."""

    def __init__(self, *, seconds: float = 0.0, fails: str = "") -> None:
        self.seconds = seconds
        self.fails = fails
        self.inside = self.most = 0
        self.done: list[str] = []

    async def work(self, prompt: str) -> str:
        """Take a while, and return what was asked for."""
        self.inside += 1
        self.most = max(self.most, self.inside)
        await asyncio.sleep(self.seconds)
        self.inside -= 1
        asked = prompt.split("\n")[2]
        self.done.append(asked)
        if self.fails and self.fails in asked:
            raise ValueError("the workshop is on fire")
        return answer(prompt, f"This is about {asked}. It is done.")


def answer(prompt: str, summary: str) -> str:
    found = re.search(r"You are (\S+)\. Session (\S+),", prompt)
    assert found, prompt
    metadata = {
        "session_id": found[2], "agent_type": found[1], "duration_seconds": 1, "delegation_depth": 1,
        "delegation_path": ["orchestrator", found[1]],
    }  # fmt: skip
    told = {"status": "completed", "summary": summary, "artifacts": [], "errors": [], "metadata": metadata}
    return f"```json\n{json.dumps(told)}\n```"


def ask(prompt: str, shop: Workshop, **given: Any) -> Request:  # noqa: ANN401 - fields of a request
    return Request("worker", prompt, function=shop.work, evidence=False, finishes=False, **given)


@pytest.fixture(autouse=True)
def _person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests is nobody's agent."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)


def fan_out(folder: Path, requests: list[Request], **options: Any) -> list[Result]:  # noqa: ANN401 - of delegate_all
    async def run() -> list[Result]:
        async with Workspace.open(folder) as ws:
            return await ws.delegate_all(requests, **options)

    (folder / ".remit").mkdir(exist_ok=True)
    return asyncio.run(run())


def test_results_come_in_order_and_no_more_run_than_was_said(tmp_path: Path) -> None:
    shop = Workshop(seconds=0.3)
    ended: list[int] = []
    results = fan_out(
        tmp_path, [ask(f"part {n}", shop) for n in range(9)], concurrency=3, on_done=lambda at, _: ended.append(at)
    )
    assert [each.summary for each in results] == [f"This is about part {n}. It is done." for n in range(9)]
    assert {each.status for each in results} == {"completed"}
    assert shop.most == 3
    assert sorted(ended) == list(range(9))


def test_without_a_number_the_limits_of_the_workspace_hold(tmp_path: Path) -> None:
    (tmp_path / "remit.toml").write_text("[limits]\nrunning = 5\nper_agent = 2\n")
    shop = Workshop(seconds=0.2)
    fan_out(tmp_path, [ask(f"part {n}", shop) for n in range(6)])
    assert shop.most == 2


def test_nothing_to_do_is_nothing_done(tmp_path: Path) -> None:
    assert fan_out(tmp_path, []) == []


def test_one_that_fails_or_is_refused_costs_no_other(tmp_path: Path) -> None:
    shop = Workshop(fails="part 1")
    requests = [ask(f"part {n}", shop) for n in range(4)]
    requests[2] = Request("nobody", "part 2", runner="command")
    results = fan_out(tmp_path, requests)
    assert [each.status for each in results] == ["completed", "failed", "failed", "completed"]
    assert "the workshop is on fire" in results[1].errors[0].message
    refused = results[2]
    assert (refused.session_id, refused.stop_reason, refused.agent) == ("", "rejected", "nobody")
    assert "nobody" in refused.errors[0].message
    assert "part 2" not in shop.done


def test_a_bug_is_raised_once_the_others_are_done(tmp_path: Path) -> None:
    shop = Workshop()

    def stumble(at: int, _: Result) -> None:
        if at == 0:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fan_out(tmp_path, [ask(f"part {n}", shop) for n in range(4)], concurrency=1, on_done=stumble)
    assert len(shop.done) == 4


def test_none_at_a_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="concurrency is 0"):
        fan_out(tmp_path, [ask("x", Workshop())], concurrency=0)


# Taken up again


def test_what_is_settled_is_picked_up(tmp_path: Path) -> None:
    shop = Workshop()
    requests = [ask(f"part {n}", shop) for n in range(3)]
    first = fan_out(tmp_path, requests, batch="parts")
    more = [*requests, ask("part 3", shop)]
    second = fan_out(tmp_path, more, batch="parts")
    assert [each.session_id for each in second[:3]] == [each.session_id for each in first]
    assert sorted(shop.done) == ["part 0", "part 1", "part 2", "part 3"]


def test_without_a_batch_or_by_another_name_it_is_done_anew(tmp_path: Path) -> None:
    shop = Workshop()
    for batch in ("", "", "one", "two", "two"):
        fan_out(tmp_path, [ask("part", shop)], batch=batch)
    assert len(shop.done) == 4


def test_again_does_all_and_the_newest_counts(tmp_path: Path) -> None:
    shop = Workshop()
    (old,) = fan_out(tmp_path, [ask("part", shop)], batch="parts")
    (new,) = fan_out(tmp_path, [ask("part", shop)], batch="parts", again=True)
    (last,) = fan_out(tmp_path, [ask("part", shop)], batch="parts")
    assert old.session_id != new.session_id == last.session_id
    assert len(shop.done) == 2


def test_what_failed_is_a_result_too(tmp_path: Path) -> None:
    shop = Workshop(fails="part")
    for _ in range(2):
        (told,) = fan_out(tmp_path, [ask("part", shop)], batch="parts")
        assert told.status == "failed"
    assert len(shop.done) == 1


def test_who_asks_for_the_same_twice_gets_it_twice(tmp_path: Path) -> None:
    shop = Workshop()
    for _ in range(2):
        results = fan_out(tmp_path, [ask("part", shop), ask("part", shop)], batch="parts")
        assert len({each.session_id for each in results}) == 2
    assert len(shop.done) == 2


def make_files(root: Path, requests: list[Request]) -> list[str]:
    """Which session has each result."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    told = fan_out(root, requests, batch="files", concurrency=1)
    assert all((each.status, each.verdict) == ("completed", "accepted") for each in told), told
    return [each.session_id for each in told]


def delete(file: Path) -> None:
    file.unlink()


def replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


SPOILS: list[Callable[[Path], object]] = [
    delete,
    replace_by_folder,
    lambda file: file.write_text(""),
    lambda file: file.write_text("# Longer than it was\n"),
    lambda file: file.write_text("# two\n"),
]


@pytest.mark.parametrize("spoil", SPOILS, ids=["gone", "folder", "empty", "longer", "as long"])
def test_a_result_whose_file_is_not_there_is_not_picked_up(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, spoil: Callable[[Path], object]
) -> None:
    agents = [ScriptedAgent(tmp_path_factory.mktemp("agents")).obeys({f"{n}.md": "# One\n"}) for n in range(2)]
    requests = [Request(None, "part", command=agent.command, reasks=0) for agent in agents]
    first = make_files(tmp_path, requests)
    assert make_files(tmp_path, requests) == first
    spoil(tmp_path / "1.md")
    if (tmp_path / "1.md").is_dir():
        (told,) = fan_out(tmp_path, requests[1:], batch="files")
        assert told.status == "failed"
        return
    again = make_files(tmp_path, requests)
    assert (again[0], again[1] != first[1]) == (first[0], True)
    assert (tmp_path / "1.md").read_text() == "# One\n"
    assert make_files(tmp_path, requests) == again


def test_what_several_changed_in_turn_is_done_once(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:  # fmt: skip
    """The last of them left it otherwise than the first, and nothing of it is lost."""
    agents = [ScriptedAgent(tmp_path_factory.mktemp("agents")).obeys({"all.md": f"# {n}\n" * n}) for n in (1, 2)]
    requests = [Request(None, "part", command=agent.command, reasks=0) for agent in agents]
    assert make_files(tmp_path, requests) == make_files(tmp_path, requests)


CHANGES: list[Callable[[Request], Request]] = [
    lambda request: request._replace(prompt="other"),
    lambda request: request._replace(agent="other"),
    lambda request: request._replace(inputs={"a": "2"}),
    lambda request: request._replace(timeout_s=5.0),
    lambda request: request._replace(command="other"),
    lambda request: request._replace(task=TaskFacts(8)),
]


@pytest.mark.parametrize("change", CHANGES)
def test_whoever_asks_for_something_else_has_another_key(change: Callable[[Request], Request]) -> None:
    request = Request("worker", "part", inputs={"a": "1"}, task=TaskFacts(7, marker="RESEARCHING"))
    assert make_keys([change(request)], "b") != make_keys([request], "b")
    assert make_keys([request], "b") != make_keys([request], "c")


def test_a_task_that_has_moved_is_the_same_task() -> None:
    before, after = (Request("worker", "part", task=TaskFacts(7, marker=word)) for word in ("PLANNED", "IMPLEMENTING"))
    assert make_keys([before], "b") == make_keys([after], "b")


def test_two_that_ask_for_the_same_at_once_do_it_once(tmp_path: Path) -> None:
    shop = Workshop(seconds=0.05)
    requests = [ask(f"part {n}", shop) for n in range(6)]

    async def run() -> list[list[Result]]:
        async with Workspace.open(tmp_path) as one, Workspace.open(tmp_path) as two:
            return await asyncio.gather(*(ws.delegate_all(requests, batch="p", concurrency=2) for ws in (one, two)))

    (tmp_path / ".remit").mkdir()
    first, second = asyncio.run(run())
    assert [each.session_id for each in first] == [each.session_id for each in second]
    assert sorted(shop.done) == [f"part {n}" for n in range(6)]


# Cancelled


def test_cancelled_it_begins_nothing_more_and_nothing_is_alive(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    agent = ScriptedAgent(tmp_path_factory.mktemp("agents")).hangs()
    command = agent.command
    (tmp_path / ".remit").mkdir()
    requests = [Request("worker", f"part {n}", command=command, timeout_s=60.0) for n in range(4)]

    async def run() -> list[Result]:
        async with Workspace.open(tmp_path) as ws:
            fanout = RunBatch(ws, requests, concurrency=2, batch="parts")
            running = asyncio.ensure_future(fanout.run())
            while len(agent.did("hung")) < 2:  # noqa: ASYNC110 - other processes get there
                await asyncio.sleep(0.02)
            await fanout.cancel(reason="enough")
            assert agent.list_living() == []
            return await running

    results = asyncio.run(run())
    assert [each.stop_reason for each in results] == ["cancelled"] * 4
    assert [each.errors[0].code for each in results] == ["CANCELLED"] * 4
    assert len(agent.did("began")) == 2


def test_who_cancelled_and_asks_again_wants_it_done(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    agent = ScriptedAgent(tmp_path_factory.mktemp("agents")).sleeps(0.5).obeys()
    (tmp_path / ".remit").mkdir()
    request = Request("worker", "part", command=agent.command, timeout_s=60.0)

    async def cancel() -> list[Result]:
        async with Workspace.open(tmp_path) as ws:
            fanout = RunBatch(ws, [request], batch="parts")
            running = asyncio.ensure_future(fanout.run())
            while not agent.did("began"):  # noqa: ASYNC110 - another process gets there
                await asyncio.sleep(0.02)
            await fanout.cancel(reason="enough")
            return await running

    assert asyncio.run(cancel())[0].stop_reason == "cancelled"
    (told,) = fan_out(tmp_path, [request], batch="parts")
    assert told.status == "completed"
    assert len(agent.did("began")) == 2

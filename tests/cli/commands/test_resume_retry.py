"""`remit logs`, `resume` and `retry`: what was printed, what goes on, and what begins anew."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from remit.config import Settings
from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run
from remit.testing.agent import ScriptedAgent
from remit.views import logs
from tests.support.commands import load, put
from tests.support.git_command import git
from tests.support.program_runs import detach, list_rows
from tests.support.screen_text import smooth
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from tests.support.commands import Inside, Remit

pytestmark = pytest.mark.usefixtures("repository")

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"

HARNESS = """#!{python}
import json, os, sys, time
prompt = sys.stdin.read()
words = sys.argv[1:]
name = "--resume" if "--resume" in words else "--session-id"
own = words[words.index(name) + 1]
with open({log!r}, "a") as log:
    print(json.dumps([name, own, prompt, os.environ["REMIT_SESSION_ID"], os.getcwd()]), file=log)
def tell(**record):
    print(json.dumps({{**record, "session_id": own}}), flush=True)
def use(name, **given):
    block = {{"type": "tool_use", "id": name, "name": name, "input": given}}
    tell(type="assistant", message={{"id": name, "model": "m", "content": [block], "usage": {{}}}})
    done = {{"type": "tool_result", "tool_use_id": name}}
    tell(type="user", message={{"content": [done]}})
tell(type="system", subtype="init")
if "Answer badly." in prompt:
    open("report.md", "w").write("# Report")
    use("Write", file_path="report.md")
    time.sleep(0.5)
    tell(type="result", subtype="success", is_error=False, num_turns=1, result="All is done.")
    sys.exit()
if name == "--session-id":
    open("report.md", "w").write("# Report")
    use("Write", file_path="report.md")
    tell(type="assistant", message={{"id": "m", "model": "m", "usage": {{}}, "content": [
        {{"type": "text", "text": "The key is {secret}"}}]}})
    time.sleep(60)
use("Read", file_path="report.md")
answer = {{
    "status": "completed", "summary": "The report is written. It is one line long.",
    "artifacts": [{{"type": "report", "path": "report.md", "summary": "The report."}}],
    "metadata": {{"session_id": os.environ["REMIT_SESSION_ID"], "duration_seconds": 1, "agent_type": "claude",
                 "delegation_depth": 1, "delegation_path": ["orchestrator", "claude"]}},
    "errors": [], "next_steps": "Read it.",
}}
tell(type="result", subtype="success", is_error=False, num_turns=1, result=json.dumps(answer))
"""


class Harness:
    """A program that speaks as Claude Code does: at first it hangs, and resumed it only reads and returns."""

    def __init__(self, folder: Path, remit: Remit) -> None:
        self.log = folder / "log"
        program = folder / "claude"
        program.write_text(HARNESS.format(python=sys.executable, log=str(self.log), secret=SECRET), encoding="utf-8")
        program.chmod(0o755)
        remit.env["PATH"] = f"{folder}:{os.environ['PATH']}"

    @property
    def calls(self) -> list[list[str]]:
        """How it was called: which option, its session, the prompt, ours, and where."""
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def harness(tmp_path_factory: pytest.TempPathFactory, remit: Remit) -> Harness:
    """Claude Code, as far as it matters here."""
    return Harness(tmp_path_factory.mktemp("harness"), remit)


def run_short(remit: Remit, *options: str) -> dict[str, Any]:
    ended = remit("run", "Write a report.", "--runner", "claude", "--timeout", "4s", "--json", *options)
    assert ended.code == 1, ended
    told: dict[str, Any] = load(ended)
    assert (told["status"], told["remit"]["stop_reason"]) == ("partial", "timeout")
    return told


# Going on


@pytest.mark.slow
@pytest.mark.thorough
def test_what_is_partial_goes_on_in_the_session_of_its_harness(remit: Remit, harness: Harness) -> None:
    """R0.14: and what the earlier one wrote is its own work: this one only reads."""
    first = run_short(remit)
    ended = remit("resume", "-", "--timeout", "20s", "--json")
    assert ended.code == 0, ended
    told = load(ended)
    assert (told["status"], told["remit"]["verdict"]) == ("completed", "accepted")
    assert told["artifacts"][0]["grade"] == "attributed"
    assert told["remit"]["session_id"] != first["remit"]["session_id"]
    (begun, resumed) = harness.calls
    assert (begun[0], resumed[0]) == ("--session-id", "--resume")
    assert begun[1] == resumed[1]
    assert "Continue this work where you stopped" in resumed[2]
    assert "Write a report." in resumed[2]
    assert resumed[3] == told["remit"]["session_id"]
    row = list_rows(remit.folder)[0]
    assert row.details["resume_of"] == first["remit"]["session_id"]
    assert f"resumes   {first['session_id']}" in remit("show").text


@pytest.mark.slow
@pytest.mark.thorough
def test_a_worktree_is_gone_on_with_where_it_is(remit: Remit, harness: Harness) -> None:
    put(remit, "README.md", "one\n")
    git(remit.folder, "add", "-A")
    git(remit.folder, "commit", "-qm", "one")
    first = run_short(remit, "--worktree")
    ended = remit("resume", first["remit"]["session_id"], "Say", "what", "there", "is.", "--timeout", "20s", "--json")
    assert ended.code == 0, ended
    begun, resumed = harness.calls
    assert begun[4] == resumed[4]
    assert begun[4].endswith(f".remit/worktrees/{first['session_id']}")
    assert "Say what there is." in resumed[2]
    assert "Continue this work" not in resumed[2]


def test_what_cannot_go_on_is_refused_with_what_can_be_done(inside: Inside, agent: ScriptedAgent) -> None:
    def resume() -> str:
        ended = inside("resume", "-")
        assert (ended.code, ended.out) == (2, b"")
        return ended.complaint

    command = ScriptedAgent(Path(agent.program).parent, "liar").lies().command
    failed = load(inside("run", "x", "--command", command, "--json"))["remit"]["session_id"]
    assert resume() == f"{failed} failed and can't be resumed; start it again: remit retry {failed}"
    partial = load(inside("run", "x", "--command", agent.obeys(status="partial").command, "--json"))
    told = f"the runner command can't resume a session; start it again: remit retry {partial['remit']['session_id']}"
    assert resume() == told
    done = ScriptedAgent(Path(agent.program).parent, "done").obeys({"other.md": "# Other"}).command
    inside("run", "x", "--command", done)
    assert "is completed; start a new run for more work: remit run" in resume()
    assert len(list_rows(inside.folder)) == 3


@pytest.mark.slow
def test_what_is_open_is_neither_resumed_nor_retried(inside: Inside, agent: ScriptedAgent) -> None:
    session = detach(inside, agent.hangs(), until="hung")
    for command in ("resume", "retry"):
        ended = inside(command, session)
        assert (ended.code, ended.out) == (2, b"")
        assert ended.complaint.startswith(f"{session} isn't finished; wait for it, or end it: remit wait")
    inside("cancel", session)


# Anew


@pytest.mark.slow
@pytest.mark.thorough
def test_retry_asks_for_the_same_with_other_limits(remit: Remit, agent: ScriptedAgent) -> None:
    assert remit("task", "new", "Measure the uploads").code == 0
    agent.waits_for(str(Path(agent.log).with_name("go"))).obeys()
    options = ("--input", "topic=uploads", "--max-turns", "7", "--no-commit", "--task", "1", "--timeout", "20s")
    session = detach(remit, agent, *options, until="waited")
    assert remit("cancel", session).code == 0
    first = load(remit("wait", session, "--json"))
    assert first["remit"]["stop_reason"] == "cancelled"
    Path(agent.log).with_name("go").touch()
    ended = remit("retry", "-", "--timeout", "30s", "--max-usd", "2", "--json")
    assert ended.code == 0, ended
    again, before = list_rows(remit.folder)
    assert again.details["retry_of"] == before.session_id == first["remit"]["session_id"]
    assert again.details["budget"] == {"max_turns": 7, "max_usd": 2.0}
    assert again.details["timeout_s"] == 30
    assert again.details["commits"] is False
    assert again.task_number == 1
    (earlier, later) = (load(remit("show", each.session_id, "--full", "--json"))["texts"] for each in (before, again))
    assert "topic" in later["prompt"]
    assert before.session_id in earlier["prompt"]
    assert before.session_id not in later["prompt"]
    assert len(agent.did("began")) == 2


@pytest.mark.slow
def test_retry_can_be_left_to_itself(inside: Inside, agent: ScriptedAgent) -> None:
    inside("run", "x", "--command", agent.obeys().command)
    ended = inside("retry", "-", "--detach", "--json")
    assert ended.code == 0, ended
    waited = inside("wait", load(ended)["session_id"], "--json")
    assert load(waited)["remit"]["session_id"] == list_rows(inside.folder)[0].session_id
    assert len(agent.did("began")) == 2


# Logs


def test_logs_of_a_program_are_what_it_printed_without_secrets(inside: Inside, agent: ScriptedAgent) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----\n"
    agent.says(f"\x1b[2Jtoken {SECRET}\n{key}after\n").floods(100, stream="err").returns(status="blocked")
    inside("run", "x", "--command", agent.command)
    ended = inside("logs")
    assert ended.code == 0
    lines = ended.text.splitlines()
    assert lines[0] == snapshot("<U+001B>[2Jtoken [redacted github]")
    assert lines[lines.index("after") - 1] == snapshot("[redacted private key]")
    assert "MIIEow" not in ended.text
    assert '"status": "blocked",' in ended.text
    raw = inside("logs", "--raw")
    assert raw.out.startswith(f"\x1b[2Jtoken {SECRET}\n-----BEGIN".encode())
    assert len(inside("logs", "--err", "--raw").out) >= 100
    first = json.loads(inside("logs", "--json").out.splitlines()[0])
    assert first == {"number": 1, "attempt": 1, "kind": "text", "text": "\x1b[2Jtoken [redacted github]"}
    assert smooth(inside("logs", "--attempt", "2").complaint) == snapshot(
        "there is no attempt 2 of <session>; the run has 1"
    )
    assert inside("logs", "--attempt", "1").out == ended.out


def test_that_nothing_was_printed_is_said(inside: Inside) -> None:
    inside("run", "x", "--command", "true")
    assert inside("logs") == (0, b"", b"nothing was printed\n")
    assert inside("logs", "--err") == (0, b"", b"nothing was printed on standard error\n")
    assert inside("logs", "--json") == inside("logs", "--raw") == (0, b"", b"")


@pytest.mark.slow
@pytest.mark.thorough
def test_logs_of_a_harness_are_what_it_said_and_did(remit: Remit, harness: Harness) -> None:
    run_short(remit)
    assert harness.calls
    assert remit("logs").text.splitlines()[:2] == snapshot(["· Write report.md", "· The key is [redacted github]"])
    remit("resume", "-", "--timeout", "20s")
    lines = remit("logs").text.splitlines()
    assert lines[:2] == ["· Read report.md", ""]
    assert lines[2].startswith('{"status": "completed"')
    assert b'"type": "result"' in remit("logs", "--raw").out


@pytest.mark.slow
def test_who_follows_sees_it_come_and_ends_with_it(remit: Remit, agent: ScriptedAgent) -> None:
    session = detach(remit, agent.says("one\n").sleeps(1.5).says("two\n").obeys())
    process = remit.start("logs", "-f", session)
    assert process.stdout is not None
    assert process.stdout.readline() == b"one\n"
    assert process.poll() is None
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert out.startswith(b"two\nDone.\n")


@pytest.mark.slow
@pytest.mark.thorough
def test_every_attempt_is_shown_also_to_who_follows(remit: Remit, harness: Harness) -> None:
    ended = remit("run", "Answer badly.", "--runner", "claude", "--timeout", "60s", "--detach")
    session = ended.text.strip()
    followed = remit("logs", "-f", session)
    assert len(harness.calls) == 2, followed
    lines = followed.text.splitlines()
    assert lines[:5] == snapshot(["· Write report.md", "", "All is done.", "attempt 2", "· Read report.md"])
    assert remit("wait", session, "--json").code == 0
    assert remit("logs", session).out == followed.out
    assert remit("logs", "--attempt", "1").text.splitlines() == lines[:3]
    assert "attempts\n  1  exited, missing: RET001\n  2  exited, accepted" in remit("show", session).text


def test_what_is_handed_over_while_somebody_looks_is_not_abandoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one who admitted it is gone when its driver has it: between the two looks it may be both."""
    home = Home(str(tmp_path))
    row = Run("sess_1", "planner", 1, ("orchestrator", "planner"), state="running", owner="1-a")
    add_run(home.ledger, row)
    log = logs.RunLog(home, Settings(), "sess_1")
    assert log.is_abandoned

    def hand_over(_home: Home, supervisor: str | None) -> bool:
        with home.ledger.transaction() as db:
            db.execute("UPDATE runs SET owner = '2-b'")
        return supervisor == "2-b"

    monkeypatch.setattr(logs, "is_present", hand_over)
    assert not log.is_abandoned
    home.close()


@pytest.mark.slow
def test_who_follows_what_nobody_drives_is_told(remit: Remit, agent: ScriptedAgent) -> None:
    session = detach(remit, agent.says("one\n").sleeps(2).says("two\n"))
    (each,) = load(remit("ps", "--json"))["items"]
    os.kill(each["supervisor_pid"], signal.SIGKILL)
    wait_until(lambda: not load(remit("ps", "--json"))["items"][0]["supervised"], "its driver is gone")
    ended = remit("logs", "-f", session)
    assert (ended.code, ended.out) == (0, b"one\ntwo\n")
    sentence = f"no process supervises the run, and its agent has ended; to recover it, run: remit wait {session}\n"
    assert ended.err.decode() == sentence


@pytest.mark.slow
def test_logs_of_a_function_are_its_answer(remit: Remit) -> None:
    program = """
import asyncio
from remit.runs.workspace import Workspace
async def main():
    async with Workspace.open() as ws:
        await ws.delegate(None, "x", function=lambda prompt: "Nothing\\nto return.", reasks=0)
asyncio.run(main())
"""
    assert remit(prelude=("-c", program)).code == 0
    ended = remit("logs", "-f")
    assert (ended.code, ended.text) == (0, "Nothing\nto return.\n")
    assert smooth(remit("retry", "-").complaint) == snapshot(
        "<session> ran a function of a program, and only that program can call it; call it in that program again"
    )


@pytest.mark.slow
def test_an_exception_of_a_function_is_kept_with_its_trace(remit: Remit) -> None:
    """R2.12."""
    program = """
import asyncio
from remit.runs.workspace import Workspace
def fail_deep_inside(prompt):
    raise ValueError("no such key: password=hunter2hunter2")
async def main():
    async with Workspace.open() as ws:
        result = await ws.delegate(None, "x", function=lambda prompt: fail_deep_inside(prompt))
        assert (result.stop_reason, result.errors[0].code) == ("crashed", "AGENT_FAILED"), result
asyncio.run(main())
"""
    ended = remit(prelude=("-c", program))
    assert ended.code == 0, ended.err
    for args in (("logs",), ("logs", "--err"), ("show", "--full")):
        told = remit(*args).text
        assert "in fail_deep_inside" in told, args
        assert "ValueError: no such key" in told
        assert "hunter2" not in told

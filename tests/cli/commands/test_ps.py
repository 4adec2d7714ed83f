"""`remit ps`, `show`, `wait` and `cancel`: agents that others drive, this process does, or nobody."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from remit.attempts.folders import remove_session
from remit.ledger.events import add_event, read_clock_ms
from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run, advance
from remit.storage.supervisor_presence import Presence
from remit.testing.agent import ScriptedAgent
from tests.support.commands import load, put
from tests.support.program_runs import PARENT, detach, list_rows
from tests.support.screen_text import smooth
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from tests.support.commands import Ended, Inside, Remit

pytestmark = pytest.mark.usefixtures("repository")


@pytest.fixture
def remit(inside: Inside) -> Inside:
    """Nothing here is about how a process begins or ends."""
    return inside


def kill_driver(remit: Remit, session_id: str) -> None:
    (each,) = [each for each in load(remit("ps", "--json"))["items"] if each["session_id"] == session_id]
    assert each["supervised"], each
    os.kill(each["supervisor_pid"], signal.SIGKILL)
    wait_until(lambda: not load(remit("ps", "--json"))["items"][0]["supervised"], "its driver is gone")


def add_row(folder: Path, name: str, agent: str = "planner", **given: Any) -> None:  # noqa: ANN401 - columns
    """A delegation that only the ledger knows."""
    home = Home(str(folder))
    path = ("orchestrator", agent)
    add_run(home.ledger, Run(name, agent, 1, path, **given))
    home.close()


# Nothing there


def test_where_nothing_was_delegated_nothing_is_made(inside: Inside) -> None:
    assert inside("ps").text == snapshot("no open runs; to include finished runs, use: remit ps --all\n")
    assert inside("ps", "--all").text == snapshot("no runs yet\n")
    assert load(inside("ps", "--json"))["items"] == []
    assert inside("ps", "--tree").text == snapshot("no runs yet\n")
    assert smooth(inside("show").complaint) == snapshot("this workspace has no runs yet; start with: remit run PROMPT")
    assert not (inside.folder / ".remit").exists()


@pytest.mark.parametrize("command", ["show", "ps --tree", "wait", "cancel"])
def test_an_id_can_be_cut_short_and_misspelt(inside: Inside, command: str) -> None:
    for name in ("sess_1700000001_abcdef", "sess_1700000001_xyzxyz"):
        add_row(inside.folder, name)
    wrong = inside(*command.split(), "sess_1700000001_abcdeg")
    assert (wrong.code, wrong.out) == (2, b"")
    assert wrong.complaint == snapshot("no run matches 'sess_1700000001_abcdeg'; did you mean sess_1700000001_abcdef?")
    several = inside(*command.split(), "sess_17")
    assert several.code == 2
    assert "could be sess_1700000001_" in several.complaint
    assert "give more of the id" in several.complaint
    assert inside(command, "x").code == 2
    for part in ("abcdef", "def", "abc", "sess_1700000001_a"):
        assert load(inside("show", part, "--json"))["run"]["session_id"] == "sess_1700000001_abcdef"


# At work


@pytest.mark.slow
def test_somebody_elses_agent_is_seen_at_work(remit: Remit, agent: ScriptedAgent) -> None:
    session = detach(remit, agent.says("looking around\n").hangs(), "--timeout", "5m", until="hung")
    try:
        wait_until(lambda: load(remit("ps", "--json"))["items"][0]["activity"] == "looking around", "it was heard")
        (each,) = load(remit("ps", "--json"))["items"]
        assert (each["session_id"], each["state"]) == (session, "running")
        assert each["supervised"]
        assert each["alive"]
        assert each["supervisor_pid"] > 0
        assert 280_000 < each["left_ms"] <= 300_000
        assert each["activity_ms"] >= each["started_ms"]
        table = remit("ps").text.splitlines()
        assert table[0].split() == [
            "SESSION",
            "AGENT",
            "STATE",
            "TOOK",
            "LEFT",
            "OUTPUT",
            "TOKENS",
            "COST",
            "SUPERVISOR",
        ]
        assert table[1].startswith(f"{session}  agent  running  0:")
        assert table[1].endswith(f"process {each['supervisor_pid']}")
        assert "looking around" in remit("ps", "--tree").text
        shown = remit("show", session).text
        assert shown.startswith("· agent: running\n  looking around\n")
        assert f"run by    process {each['supervisor_pid']}" in shown
    finally:
        ended = remit("cancel", session, "--json")
    assert ended.code == 0, ended.err
    assert load(ended)["remit"]["stop_reason"] == "cancelled"
    assert agent.list_living() == []
    assert load(remit("ps", "--json"))["items"] == []
    assert load(remit("ps", "--all", "--json"))["items"][0]["status"] == "failed"


def test_how_long_it_took_is_not_called_its_age(inside: Inside) -> None:
    now_ms = read_clock_ms()
    add_row(inside.folder, "sess_1700000001_abcdef", created_ms=now_ms - 3_600_000, started_ms=now_ms - 3_600_000)
    with Home(str(inside.folder)).ledger.transaction() as db:
        db.execute("UPDATE runs SET state = 'finished', status = 'completed', ended_ms = started_ms + 5000")
    heading, row = inside("ps", "--all").text.splitlines()
    assert "AGE" not in heading.split()
    assert row.split()[heading.split().index("TOOK")] == "0:05"


@pytest.mark.parametrize("settings", ['backend = "redis://user:secret@x"', "[retention]\ndays = 0"])
def test_settings_that_cannot_be_followed_are_not_ignored_silently(inside: Inside, settings: str) -> None:
    inside.write("remit.toml", f"{settings}\n")
    for words in (("ps",), ("ps", "--json"), ("ps", "--tree")):
        ended = inside(*words)
        assert ended.code == 0
        assert ended.err.decode().startswith("warning: ")
        assert b"secret" not in ended.err
    ended = inside("worker", "list")
    assert ended.code == 2
    assert "remit.toml" in ended.complaint


@pytest.mark.slow
def test_cancel_gives_the_reason_and_can_be_said_twice(remit: Remit, agent: ScriptedAgent) -> None:
    session = detach(remit, agent.forks("setsid").hangs(), until="hung")
    ended = remit("cancel", session[-6:], "--reason", "it is the wrong branch")
    assert ended.code == 0
    assert "error[CANCELLED]: it was cancelled: it is the wrong branch" in ended.text
    assert agent.list_living() == []
    assert ended.err == b""
    again = remit("cancel", session, "--reason", "another")
    assert (again.code, again.err.decode()) == (0, f"nothing was cancelled: {session} had already finished\n")
    assert "it is the wrong branch" in again.text
    assert "another" not in again.text


@pytest.mark.slow
def test_a_tree_is_shown_and_ended_as_a_whole(remit: Remit, agent: ScriptedAgent) -> None:
    put(remit, ".opencode/agent/subagents/parent.md", PARENT)
    child = ScriptedAgent(Path(agent.program).parent, "child")
    agent.recurses("child", command=child.hangs().command)
    remit("run", "parent", "Hand it on.", "--command", agent.command, "--detach")
    wait_until(lambda: child.did("hung"), "the child hangs")
    rows = {row.agent: row for row in list_rows(remit.folder)}
    lines = remit("ps", "--tree").text.splitlines()
    assert lines[0].startswith(f"· parent  {rows['parent'].session_id}  waiting for child")
    assert lines[1].startswith(f"  · child  {rows['child'].session_id}")
    assert lines[-1] == snapshot("2 runs, 2 open")
    assert remit("show", "-").text.startswith("· parent: waiting")
    told = {each["agent"]: each for each in load(remit("ps", "--json"))["items"]}
    drivers = {name: told[name]["supervisor_pid"] for name in ("parent", "child")}
    assert drivers["parent"] is not None
    for pid in filter(None, drivers.values()):  # the child's driver may have another number in its namespace
        assert b"remit" in Path(f"/proc/{pid}/cmdline").read_bytes()
    found = load(remit("ps", "--tree", rows["child"].session_id, "--json"))["items"]
    assert [(each["agent"], each["level"]) for each in found] == [("child", 0)]
    assert "nested\n  child  running  " in remit("show", rows["parent"].session_id).text
    assert remit("cancel", rows["parent"].session_id).code == 0
    assert agent.list_living() == child.list_living() == []
    assert {row.state for row in list_rows(remit.folder)} == {"finished"}


def test_nothing_heard_for_long_is_told(inside: Inside) -> None:
    now = read_clock_ms()
    add_row(inside.folder, "sess_1", details={"timeout_s": 300})
    home = Home(str(inside.folder))
    with home.ledger.transaction() as db:
        advance(db, "sess_1", "running", started_ms=now - 200_000, deadline_ms=now + 100_000)
        add_event(db, "progress", {"activity": "thinking", "tokens": 1234, "cost_usd": 0.5}, session_id="sess_1")
        db.execute("UPDATE events SET at_ms = ? WHERE kind = 'progress'", (now - 100_000,))
    home.close()
    (each,) = load(inside("ps", "--json"))["items"]
    assert each["idle_s"] in (100, 101)
    assert (each["tokens"], each["cost_usd"]) == (1234, 0.5)
    text = inside("ps").text
    assert "1,234" in text
    assert "$0.50" in text
    assert "! no output for 1:4" in text
    assert "! no process supervises it, and its agent has ended; to take over, run: remit wait sess_1" in text
    assert each["state"] == "abandoned"


# Waiting


@pytest.mark.slow
def test_who_waits_gets_the_envelope(remit: Remit, agent: ScriptedAgent) -> None:
    session = detach(remit, agent.sleeps(0.5).obeys())
    ended = remit("wait", session, "--json")
    assert ended.code == 0, ended.err
    assert (load(ended)["remit"]["session_id"], load(ended)["status"]) == (session, "completed")
    again = remit("wait")
    assert again.text.startswith("✓ agent: completed")
    failed = detach(remit, ScriptedAgent(Path(agent.program).parent, "liar").lies(), until="returned")
    both = remit("wait", session, failed, session, "--json")
    assert both.code == 1
    assert [each["remit"]["session_id"] for each in load(both)["items"]] == [session, failed]


@pytest.mark.slow
def test_waiting_ends_and_the_agent_does_not(remit: Remit, agent: ScriptedAgent) -> None:
    session = detach(remit, agent.hangs(), until="hung")
    ended = remit("wait", session, "--timeout", "0.3s")
    assert (ended.code, ended.text) == (1, f"· {session} isn't finished; see: remit ps\n")
    assert load(remit("wait", session, "--timeout", "0.1", "--json"))["finished"] is False
    assert agent.list_living()
    process = remit.start("wait", session)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, b"")
    assert agent.list_living()
    remit("cancel", session)
    assert agent.list_living() == []


@pytest.mark.slow
def test_whoever_waits_takes_over_what_nobody_drives(remit: Remit, agent: ScriptedAgent) -> None:
    session = detach(remit, agent.sleeps(2).obeys())
    kill_driver(remit, session)
    told = remit("ps").text
    assert f"! no process supervises it, and its agent is alive; to take over, run: remit wait {session}" in told
    assert list_rows(remit.folder)[0].state == "running"  # ps only tells
    ended = remit("wait", session, "--json")
    assert ended.code == 0, ended
    assert load(ended)["status"] == "completed"
    assert len(agent.did("began")) == 1


@pytest.mark.slow
def test_what_nobody_drives_can_be_cancelled(remit: Remit, agent: ScriptedAgent) -> None:
    session = detach(remit, agent.hangs(), until="hung")
    kill_driver(remit, session)
    assert agent.list_living()
    ended = remit("cancel", session)
    assert ended.code == 0, ended
    assert agent.list_living() == []
    assert list_rows(remit.folder)[0].state == "finished"


@pytest.mark.slow
@pytest.mark.thorough
def test_an_agent_ends_only_what_it_has_handed_on(remit: Remit, agent: ScriptedAgent) -> None:
    victim = detach(remit, agent.hangs(), until="hung")
    program = Path(agent.program).parent / "attack.py"
    program.write_text(ATTACK.replace("VICTIM", victim), encoding="utf-8")
    try:
        remit("run", "End it.", "--command", f"{sys.executable} {program}")
        assert "an agent can cancel only its own nested runs" in (remit.folder / "told.txt").read_text()
        assert agent.list_living()
    finally:
        remit("cancel", victim)
    assert agent.list_living() == []


ATTACK = """
import subprocess, sys
ended = subprocess.run([sys.executable, "-m", "remit", "cancel", "VICTIM"], capture_output=True, text=True)
open("told.txt", "w").write(ended.stderr)
"""


def test_who_has_not_begun_is_starting_unless_there_is_no_room(remit: Remit) -> None:
    put(remit, "remit.toml", "[limits]\nrunning = 2\n")
    home = Home(str(remit.folder))
    supervisor = Presence(home)
    for at in range(1, 5):
        path = ("orchestrator", "worker")
        add_run(home.ledger, Run(f"sess_{at}", "worker", 1, path, owner=supervisor.id, created_ms=1_000 + at))

    def look() -> dict[str, str]:
        return {each["session_id"][-1]: each["state"] for each in load(remit("ps", "--json"))["items"]}

    try:
        assert look() == {"1": "starting", "2": "starting", "3": "queued", "4": "queued"}
        with home.ledger.transaction() as db:
            advance(db, "sess_1", "running", started_ms=2_000)
        assert look() == {"1": "running", "2": "starting", "3": "queued", "4": "queued"}
        assert "worker  sess_2  starting" in remit("ps", "--tree", "sess_2").text
        assert "worker  sess_3  waiting for a slot" in remit("ps", "--tree", "sess_3").text
    finally:
        supervisor.end()
        home.close()


@pytest.mark.slow
def test_an_agent_that_waits_gives_its_slot_to_who_it_waits_for(remit: Remit, agent: ScriptedAgent) -> None:
    """With one slot, a child that was left to itself begins only once its caller waits for it."""
    put(remit, "remit.toml", "[limits]\nrunning = 1\n")
    put(remit, ".opencode/agent/subagents/parent.md", PARENT)
    child = ScriptedAgent(Path(agent.program).parent, "child").returns()
    program = Path(agent.program).parent / "patient.py"
    program.write_text(PATIENT.replace("CHILD", child.command), encoding="utf-8")
    remit("run", "parent", "Hand it on.", "--command", f"{sys.executable} {program}", "--timeout", "90s")
    told = json.loads((remit.folder / "told.json").read_text())
    assert told["state"] == "queued"
    assert told["code"] == 0, told
    assert child.did("ended")


PATIENT = """
import json, subprocess, sys, time
def remit(*args):
    return subprocess.run([sys.executable, "-m", "remit", *args], capture_output=True, text=True)
session = remit("run", "child", "Do it.", "--command", "CHILD", "--detach").stdout.strip()
time.sleep(1)
state = [each["state"] for each in json.loads(remit("ps", "--json").stdout)["items"] if each["session_id"] == session]
ended = remit("wait", session)
told = {"state": state[0], "code": ended.returncode, "err": ended.stderr}
open("told.json", "w").write(json.dumps(told))
"""


# All of it


def test_show_tells_what_was_claimed_and_what_was_done(remit: Remit, agent: ScriptedAgent) -> None:
    put(remit, "report.md", "from last week\n")
    remit("run", "Write a report.", "--command", agent.lies().command)
    ended = remit("show")
    assert ended.code == 0
    assert "· report.md  report, unchanged (its content did not change since the run began)" in ended.text
    assert "prompt    Write a report." in ended.text
    assert "attempts\n  1  exited, fabricated: EVD001" in ended.text
    assert "finish steps\n  errors    done" in ended.text
    told = load(remit("show", "--json"))
    assert told["result"]["remit"]["grades"][0]["grade"] == "unchanged"
    assert told["attempts"][0]["verdict"] == "fabricated"
    assert {step["name"] for step in told["steps"]} >= {"errors", "git"}
    assert "texts" not in told
    assert [(each["path"], each["grade"]) for each in told["attempts"][0]["claims"]] == [("report.md", "unchanged")]
    with sqlite3.connect(remit.folder / ".remit" / "ledger.db") as db:
        db.execute("""UPDATE attempts SET repairs = '[{"kind": "json", "message": "a comma was taken out"}]'""")
    assert "claims report.md" not in ended.text
    full = remit("show", "--full").text
    assert "     claims report.md: file, unchanged (its content did not change since the run began)" in full
    assert "     repaired: a comma was taken out" in full
    assert load(remit("show", "--json"))["attempts"][0]["repairs"][0]["kind"] == "json"


def test_full_has_every_word_but_no_secret_and_no_escape(remit: Remit, agent: ScriptedAgent) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
    agent.says(f"\x1b[2J\x1b]0;owned\x07 my token is {secret}\n").obeys()
    remit("run", f"Write a report with {secret}.", "--command", agent.command)
    ended = remit("show", "--full")
    assert ended.code == 0
    for part in ("\nprompt\n", "\nanswer-1\n", "\nconfig\n", "\nfiles\n", "<U+001B>[2J", "[redacted github]"):
        assert part in ended.text, part
    assert b"\x1b" not in ended.out
    assert secret.encode() not in ended.out
    told = remit("show", "--full", "--json")
    assert secret.encode() not in told.out
    texts = load(told)["texts"]
    assert "Write a report with" in texts["prompt"]
    assert '"status"' in texts["answer-1"]


def test_what_is_set_for_a_runner_is_named_and_not_told(inside: Inside) -> None:
    given = {"settings": {"command": "prog --token=abcdef123456", "env": {"API_KEY": "hunter2"}}}
    add_row(inside.folder, "sess_1", details=given)
    for args in (("show", "--full"), ("show", "--full", "--json"), ("show",)):
        ended = inside(*args)
        assert ended.code == 0
        assert b"hunter2" not in ended.out
        assert b"abcdef123456" not in ended.out
    assert load(inside("show", "--json"))["config"]["settings"]["env"] == {"API_KEY": "[redacted]"}


def test_a_record_without_files_is_shown_as_far_as_it_goes(remit: Remit, agent: ScriptedAgent) -> None:
    remit("run", "Write a report.", "--command", agent.obeys().command)
    home = Home(str(remit.folder))
    (row,) = list_rows(remit.folder)
    assert remove_session(home, row.session_id)
    home.close()
    ended: Ended = remit("show", "--full")
    assert ended.code == 0
    assert ended.text.startswith("✓ agent: completed")
    assert "\nfiles\n" not in ended.text
    assert json.loads(remit("show", "--json").out)["folder"] is None

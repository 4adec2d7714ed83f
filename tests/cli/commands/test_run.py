"""`remit run`: real agents as programs, on a terminal and off it, ended by signals, and left to themselves."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from remit.ledger.events import load_events
from remit.ledger.home import Home
from remit.ledger.runs import load_run
from remit.testing.agent import ScriptedAgent
from tests.support.commands import load, put
from tests.support.program_runs import PARENT, list_rows
from tests.support.run_terminal import PATIENCE_S, Terminal
from tests.support.screen_text import smooth
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    import subprocess

    from remit.ledger.runs import Run
    from tests.support.commands import Inside, Remit

pytestmark = pytest.mark.usefixtures("repository")


# What comes back


def test_work_that_holds_comes_back_on_standard_output(remit: Remit, agent: ScriptedAgent) -> None:
    ended = remit("run", "Write a report.", "--command", agent.obeys().command)
    assert ended.code == 0, ended.err
    lines = ended.text.splitlines()
    assert lines[0].startswith("✓ agent: completed · ")
    assert "  ✓ report.md  report, changed" in lines
    (row,) = list_rows(remit.folder)
    assert lines[-1] == f"  see: remit show {row.session_id} --full"
    told = ended.err.decode().splitlines()
    assert told == [f"{row.session_id}: agent is running; follow it with: remit logs -f {row.session_id}"]
    assert row.details["work"] == "Write a report."


def test_json_is_all_that_a_program_gets(remit: Remit, agent: ScriptedAgent) -> None:
    ended = remit("run", "Write a report.", "--command", agent.obeys().command, "--json")
    told = load(ended)
    assert ended.code == 0
    assert (told["status"], told["remit"]["stop_reason"], "errors" in told) == ("completed", "exited", False)
    assert told["remit"]["grades"][0]["grade"] == "changed"
    assert ended.out.count(b"\n") == 1


def test_a_commit_that_was_asked_for_is_missed(inside: Inside, agent: ScriptedAgent) -> None:
    """Without git there is none; nobody is told who did not ask for it in so many words."""
    shutil.rmtree(inside.folder / ".git")
    put(inside, "remit.toml", "[delegate]\ncommit = true\n")
    command = agent.obeys().command
    asked = load(inside("run", "Write a report.", "--command", command, "--commit", "--json"))
    assert [(each["code"], each["severity"]) for each in asked["remit"]["diagnostics"]] == [("GIT002", "warning")]
    assert asked["status"] == "completed"
    set_up = load(inside("run", "Write a report.", "--command", command, "--json"))
    assert (set_up["status"], set_up["remit"].get("diagnostics", [])) == ("completed", [])


def test_a_name_that_has_no_file_is_told(inside: Inside, agent: ScriptedAgent) -> None:
    """A misspelled agent works without its file; who wants none says so."""
    put(inside, "agents/researcher.md", PARENT.replace("name: parent", "name: researcher"))
    command = agent.obeys().command
    ended = inside("run", "reseacher", "Write a report.", "--command", command)
    told = (
        b"warning[ASK001]: no file defines the agent 'reseacher', and the command runs under that name; "
        b"did you mean researcher?\n"
    )
    assert (ended.code, told in ended.err) == (0, True), ended
    for agent_words in (["researcher"], []):
        shaped = json.loads(inside("run", *agent_words, "Write a report.", "--command", command, "--json").out)
        assert "request_diagnostics" not in shaped, agent_words


def test_a_program_that_is_not_there_is_named(inside: Inside) -> None:
    ended = inside("run", "Write a report.", "--command", "no-such-program --quick")
    assert ended.code == 2
    assert "error[TOOL_UNAVAILABLE]: 'no-such-program' cannot be started: no such file or directory\n" in ended.text
    assert "next: Needs your decision.\n  next: See whether it is on the path\n" in ended.text


def test_without_a_harness_every_way_to_have_one_is_named(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    complaint = inside("run", "Write a report.").complaint
    assert complaint.startswith("no harness that could run an agent was found on the path; install claude, ")
    assert all(name in complaint for name in ("opencode", "codex", "--runner gemini", "--command", "remit.toml"))
    assert "in Python runner=, command=, function=" in complaint  # who calls it from a program has no options


def test_who_is_sent_to_the_log_is_told_how_to_see_it(inside: Inside) -> None:
    ended = inside("run", "Write a report.", "--command", "false")
    assert ended.code == 1
    session = re.search(r"remit show (\S+) --full", ended.text)
    assert session is not None
    assert f"next: See with remit logs {session[1]} what went wrong, then try again\n" in ended.text
    logs = inside("logs", session[1])
    assert (logs.code, logs.text) == (0, snapshot("! the program ended with exit code 1\n"))


def test_the_log_of_a_harness_that_crashed_shows_standard_error(
    inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D17: the next step that a crash recommends shows its trace, without an option, also if a stream was read."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    init = '{"type": "system", "subtype": "init", "session_id": "7b9a"}'
    program.write_text(
        f"#!/bin/sh\necho '{init}'\necho 'TypeError: boom' >&2\necho '    at main' >&2\nexit 7\n", "utf-8"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    ended = inside("run", "Write it.", "--runner", "claude")
    assert "next: See with remit logs sess_" in ended.text
    assert inside("logs").text == snapshot("""\
TypeError: boom
    at main
! Claude Code ended with exit code 7: at main
""")
    (group,) = json.loads(inside("errors", "list", "--json").out)["items"]
    assert group["records"][0]["details"] == "TypeError: boom\n    at main"
    assert (
        "  details:\n    TypeError: boom\n        at main\n" in inside("errors", "show", group["records"][0]["id"]).text
    )


@pytest.mark.slow
def test_the_log_of_a_crash_shows_standard_error_and_how_it_ended(inside: Inside) -> None:
    """D17, R2.12: `remit logs` shows standard error of a crash."""
    inside("run", "Write it.", "--command", "sh -c 'echo begun; echo boom >&2; exit 3'")
    assert inside("logs").text == snapshot("begun\nboom\n! the program ended with exit code 3\n")
    assert inside("logs", "--err").text == "boom\n"
    inside("run", "Write it.", "--command", "sh -c 'kill -9 $$'")
    assert inside("logs").text == snapshot("! the program was ended by SIGKILL\n")


def test_a_prompt_that_is_no_text_is_refused(remit: Remit, agent: ScriptedAgent) -> None:
    command = ("--command", agent.obeys().command)
    for ended in (
        remit("run", os.fsdecode(b"caf\xe9"), *command),
        remit("run", "-", *command, text=b"caf\xe9"),
    ):
        assert (ended.code, ended.complaint) == (2, snapshot("the prompt isn't valid UTF-8; write it in UTF-8"))
    assert not agent.acts


def test_a_lie_is_no_success(inside: Inside, agent: ScriptedAgent) -> None:
    ended = inside("run", "Write a report.", "--command", agent.lies().command)
    assert ended.code == 1
    assert ended.text.startswith("✗ agent: failed · fabricated")
    assert "error[FABRICATED]: " in ended.text
    assert agent.did("returned")


@pytest.mark.slow
def test_a_hanging_agent_ends_at_its_time(remit: Remit, agent: ScriptedAgent) -> None:
    ended = remit("run", "Write a report.", "--command", agent.hangs().command, "--timeout", "4s")
    assert ended.code == 1
    assert ended.text.startswith("✗ agent: partial · timeout")
    (row,) = list_rows(remit.folder)
    assert f"  next: Retry it with more time (--timeout): remit retry {row.session_id}\n" in ended.text
    assert agent.did("hung")
    assert agent.list_living() == []


@pytest.mark.parametrize(
    ("script", "code", "told"),
    [
        ("echo hello; kill -9 $$", "AGENT_KILLED", "the program was ended by SIGKILL"),
        ("kill -SEGV $$", "AGENT_KILLED", "the program was ended by SIGSEGV; the program printed nothing"),
        ("true", "NO_ANSWER", "the program printed nothing"),
        ("exit 1", "AGENT_FAILED", "the program ended with exit code 1"),
        ("echo hello; echo no key >&2; exit 3", "AGENT_FAILED", "the program ended with exit code 3: no key"),
    ],
)
def test_a_crash_says_what_ended_the_program(inside: Inside, script: str, code: str, told: str) -> None:
    result = load(inside("run", "Write a report.", "--command", f"sh -c '{script}'", "--json"))
    assert (result["status"], result["remit"]["stop_reason"]) == ("failed", "crashed")
    (fault,) = result["errors"]
    assert (fault["code"], fault["message"]) == (code, told)


def test_a_runner_without_an_entry_point_says_so(inside: Inside) -> None:
    ended = inside("run", "Write a report.", "--runner", "python", "--json")
    assert ended.code == 2
    assert load(ended)["errors"][0]["message"] == "the runner 'python' has no entry point"


def test_a_program_that_is_not_there_could_not_run(inside: Inside) -> None:
    ended = inside("run", "Write a report.", "--command", "no-such-program-anywhere", "--json")
    assert ended.code == 2
    assert load(ended)["remit"]["stop_reason"] == "rejected"


def test_limits_that_cannot_be_held_are_told_before_and_afterwards(inside: Inside, agent: ScriptedAgent) -> None:
    limits = ("--max-tokens", "1", "--max-usd", "0.000001", "--max-seconds", "60")
    ended = inside("run", "Write a report.", "--command", agent.obeys().command, *limits)
    for name in ("max_tokens", "max_usd"):
        sentence = f"warning[BUD001]: {name} isn't enforced: the runner 'command' doesn't report"
        assert sentence in ended.err.decode()
        assert f"  {sentence}" in ended.text
    assert "max_seconds" not in ended.err.decode()
    result = load(inside("run", "Again.", "--command", agent.obeys().command, "--max-turns", "1", "--json"))
    assert [each["code"] for each in result["remit"]["diagnostics"]] == ["BUD001"]
    assert "request_diagnostics" not in result  # what the result says is not said twice


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ((), 'there is no prompt; say what to do: remit run "Fix the typo"'),
        (("",), "there is nothing to do: the prompt is empty; say what the agent should do"),
        (("parent",), "'parent' is an agent, and there is no prompt for it; add the prompt: remit run parent"),
        (("-", "x", "--command", "true"), "'-' isn't the name of an agent; to run without an agent file, leave the"),
        (("", "x", "--command", "true"), "no agent is named; give an agent's name"),
        (("Fix", "the", "typo"), "expected an agent and a prompt, got 3 arguments; put the prompt in"),
        (("x", "--runner", "clade"), "clade"),
        (("nobody", "x"), "there is no agent 'nobody'"),
        (("x", "--timeout", "soon"), "'soon' is not a duration; write it like 90, 90s, 15m or 2h"),
        (("x", "--timeout", "0", "--command", "true"), "cannot be 0"),
        (("x", "--input", "topic"), "'topic' isn't an input; write it as NAME=VALUE"),
        (("x", "--input", "a=1", "--input", "a=2"), "the input 'a' is given twice; give it once"),
        (("x", "--max-turns", "few"), "'few' is not a number; give a whole number, such as 20"),
        (("x", "--max-usd", "much"), "'much' is not an amount; give it in dollars, such as 0.50"),
        (("x", "--isolate", "worktree"), "there is no option --isolate"),
        (("x", "--task", "7", "--command", "true"), "there are no tasks here"),
        (("x", "--comand", "true"), "there is no option --comand; did you mean --command?"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(inside: Inside, args: tuple[str, ...], sentence: str) -> None:
    put(inside, "agents/parent.md", PARENT)
    ended = inside("run", *args)
    assert ended.code == 2
    assert sentence in ended.complaint
    assert ended.out == b""
    assert not (inside.folder / ".remit" / "ledger.db").exists() or list_rows(inside.folder) == []


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200), ("1d", 86400)])
def test_durations(text: str, seconds: float) -> None:
    from remit.cli.run_options import parse_duration  # noqa: PLC0415 - beside the rest it is small

    assert parse_duration(text) == seconds


def test_the_prompt_can_come_on_standard_input(remit: Remit, agent: ScriptedAgent) -> None:
    ended = remit("run", "-", "--command", agent.obeys().command, text="Write a report.\nIn two lines.\n")
    assert ended.code == 0, ended.err
    (row,) = list_rows(remit.folder)
    assert row.details["work"] == "Write a report. In two lines."


def test_options_become_terms(inside: Inside, agent: ScriptedAgent) -> None:
    limits = ("--max-turns", "7", "--max-tokens", "9_000", "--max-usd", "0.5", "--max-seconds", "5m")
    options = ("--timeout", "2m", "--no-commit", "--max-delegations", "0", *limits)
    ended = inside("run", "Write a report.", "--command", agent.obeys().command, *options)
    assert ended.code == 0, ended.err
    details = list_rows(inside.folder)[0].details
    assert details["timeout_s"] == 120
    assert details["commits"] is False
    assert details["budget"] == {
        "max_seconds": 300, "max_turns": 7, "max_tokens": 9000, "max_usd": 0.5, "max_delegations": 0,
    }  # fmt: skip


def test_a_task_is_told_to_the_agent(inside: Inside, agent: ScriptedAgent) -> None:
    assert inside("task", "new", "Measure the uploads").code == 0
    ended = inside("run", "Begin.", "--task", "1", "--command", agent.obeys().command, "--json")
    assert ended.code == 0, ended
    assert list_rows(inside.folder)[0].task_number == 1


# Ended by signals


@pytest.fixture
def child(remit: Remit, agent: ScriptedAgent) -> ScriptedAgent:
    """Another program, that an agent called parent may call."""
    put(remit, ".opencode/agent/subagents/parent.md", PARENT)
    return ScriptedAgent(Path(agent.program).parent, "child")


def start_hanging(remit: Remit, agent: ScriptedAgent, *options: str) -> subprocess.Popen[bytes]:
    command = agent.forks("setsid").hangs().command
    process = remit.start("run", "Hang.", "--command", command, "--timeout", "60", *options)
    wait_until(lambda: agent.did("hung"), "the agent hangs")
    assert agent.list_living()
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels_and_waits(remit: Remit, agent: ScriptedAgent, number: signal.Signals) -> None:
    process = start_hanging(remit, agent, "--json")
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert agent.list_living() == []
    assert process.returncode == 1, err
    assert json.loads(out)["remit"]["stop_reason"] == "cancelled"
    assert list_rows(remit.folder)[0].state == "finished"


def test_two_signals_do_not_wait_and_nothing_survives(remit: Remit, agent: ScriptedAgent) -> None:
    process = start_hanging(remit, agent)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (130, b"")
    wait_until(lambda: not agent.list_living(), "nothing is alive")


def test_a_signal_before_it_is_waited_for_is_met(remit: Remit, agent: ScriptedAgent) -> None:
    """What was written down just then does not run later, when nobody expects it."""
    prelude = """
import os, signal
from remit.runs import workspace
enter = workspace.Workspace._enter
def interrupt(*args):
    entered = enter(*args)
    os.kill(os.getpid(), signal.SIGINT)
    return entered
workspace.Workspace._enter = interrupt
from remit.cli import main
main()
"""
    command = agent.hangs().command
    ended = remit("run", "Hang.", "--command", command, "--timeout", "60", "--json", prelude=("-c", prelude))
    assert (ended.code, json.loads(ended.out)["remit"]["stop_reason"]) == (1, "cancelled")
    assert list_rows(remit.folder)[0].state == "finished"
    assert agent.list_living() == []


@pytest.mark.slow
def test_a_signal_that_was_ignored_stays_so(remit: Remit, agent: ScriptedAgent) -> None:
    """As `nohup` does it, or a shell for what runs in its background."""
    prelude = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); from remit.cli import main; main()"
    command = agent.sleeps(0.5).obeys().command
    process = remit.start("run", "Write a report.", "--command", command, prelude=("-c", prelude))
    wait_until(lambda: agent.did("began"), "the agent began")
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0


@pytest.mark.slow
def test_what_was_handed_on_ends_too(remit: Remit, agent: ScriptedAgent, child: ScriptedAgent) -> None:
    command = agent.recurses("child", command=child.hangs().command).command
    process = remit.start("run", "parent", "Hand it on.", "--command", command, "--timeout", "60", "--json")
    wait_until(lambda: child.did("hung"), "the child hangs")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert agent.list_living() == child.list_living() == []
    rows = {row.agent: row for row in list_rows(remit.folder)}
    assert {row.state for row in rows.values()} == {"finished"}
    assert rows["child"].parent_id == rows["parent"].session_id


# On a terminal


@pytest.mark.slow
def test_a_live_tree_is_drawn_and_the_result_is_clean(remit: Remit, agent: ScriptedAgent, child: ScriptedAgent) -> None:
    child.says("looking around\n").sleeps(2.5).obeys()
    command = agent.recurses("child", command=child.command).returns().command
    terminal = Terminal(remit, "run", "parent", "Hand it on.", "--command", command, "--timeout", "5m")
    terminal.wait_for("parent  running  0:0")
    terminal.wait_for(" of 5:00")
    terminal.wait_for("\n  ")
    terminal.wait_for("child  running")
    terminal.wait_for("looking around")
    code, out = terminal.end()
    assert "child  completed" in terminal.screen
    assert "\x1b[2A\r\x1b[J" in terminal.screen  # drawn over
    assert "\x1b" not in out
    assert out.splitlines()[0].split(":")[0] in ("✓ parent", "✗ parent")
    assert code in (0, 1)
    assert "follow it with" not in terminal.screen


def test_a_terminal_that_cannot_be_drawn_on_gets_lines(remit: Remit, agent: ScriptedAgent) -> None:
    terminal = Terminal(
        remit, "run", "Write a report.", "--command", agent.obeys().command, env={"TERM": "dumb"}
    )  # fmt: skip
    assert terminal.end()[0] == 0
    assert "follow it with" in terminal.screen
    assert "\x1b" not in terminal.screen


def test_ctrl_c_on_a_terminal_cancels(remit: Remit, agent: ScriptedAgent) -> None:
    terminal = Terminal(remit, "run", "Hang.", "--command", agent.hangs().command, "--timeout", "60")
    wait_until(lambda: terminal.read() and agent.did("hung"), "the agent hangs")
    terminal.press(b"\x03")
    code, out = terminal.end()
    assert code == 1
    assert out.startswith("✗ agent: failed · cancelled")
    assert "cancelling; Ctrl-C again kills the run" in terminal.screen
    assert agent.list_living() == []


# Left to itself


def load_row(folder: Path, session_id: str) -> Run:
    home = Home(str(folder))
    try:
        row = load_run(home.ledger, session_id)
        assert row is not None
        return row
    finally:
        home.close()


def wait_until_settled(folder: Path, session_id: str) -> None:
    wait_until(lambda: load_row(folder, session_id).state == "finished", f"{session_id} is settled")


def count_claims(folder: Path, session_id: str) -> int:
    home = Home(str(folder))
    try:
        return sum(event.kind == "claimed" for event in load_events(home.ledger, session_id=session_id))
    finally:
        home.close()


@pytest.mark.slow
def test_detached_it_goes_on_by_itself(remit: Remit, agent: ScriptedAgent) -> None:
    command = agent.sleeps(0.5).obeys().command
    ended = remit("run", "Write a report.", "--command", command, "--detach", "--json")
    told = load(ended)
    assert ended.code == 0
    assert told["state"] in ("starting", "running")
    wait_until_settled(remit.folder, told["session_id"])
    row = load_row(remit.folder, told["session_id"])
    assert (row.status, row.awaited) == ("completed", False)
    log = remit.folder / ".remit" / "sessions" / row.session_id / "supervisor.log"
    wait_until(lambda: log.read_bytes().endswith(b"}\n"), "the driver has ended")
    assert json.loads(log.read_bytes())["status"] == "completed"
    assert log.stat().st_mode & 0o777 == 0o600
    assert len(agent.did("began")) == 1


def test_a_refusal_is_told_before_it_is_detached(inside: Inside) -> None:
    ended = inside("run", "x", "--runner", "nobody", "--detach")
    assert ended.code == 2
    assert "nobody" in ended.complaint
    assert list((inside.folder / ".remit" / "supervisors").iterdir()) == []


RECOVERING = """
import asyncio, sys, time
from remit.runs.workspace import Workspace
async def main():
    last = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < last:
        ws = Workspace.open()
        print(*await ws.backend.recover(), end="", flush=True)
        await ws.close()
asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.thorough
def test_nobody_takes_it_before_its_driver_has_it(remit: Remit, agent: ScriptedAgent) -> None:
    """While others look for abandoned work all the time, each is claimed once, by its driver."""
    command = agent.obeys().command
    assert remit("run", "Write a report.", "--command", command).code == 0  # makes the ledger
    others = [remit.start("3", prelude=("-c", RECOVERING)) for _ in range(2)]
    sessions = [
        load(remit("run", f"Write report {number}.", "--command", command, "--detach", "--json"))["session_id"]
        for number in range(3)
    ]
    for other in others:
        taken, err = other.communicate(timeout=PATIENCE_S)
        assert (other.returncode, taken) == (0, b""), err
    for session_id in sessions:
        wait_until_settled(remit.folder, session_id)
        assert count_claims(remit.folder, session_id) == 1
        assert len(agent.did("began", session=session_id)) == 1


@pytest.mark.slow
def test_who_is_driven_is_not_driven_again(remit: Remit, agent: ScriptedAgent) -> None:
    process = start_hanging(remit, agent)
    (row,) = list_rows(remit.folder)
    ended = remit("drive", row.session_id)
    assert ended.code == 1
    assert smooth(ended.complaint) == snapshot(
        "<session> is supervised by another process; wait for it: remit wait <session>"
    )
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)


def test_the_driver_is_not_shown(inside: Inside) -> None:
    assert " drive" not in inside("--help").text
    assert "did you mean 'drive'" not in inside("driv").complaint


# What there is to say of the request


AGENT = """---
name: reporter
description: "Writes a report."
agent_type: utility
version: 1.0.0
---
<inputs_required>
  <parameter name="topic" type="string">What it is about</parameter>
</inputs_required>
"""


def test_what_is_wrong_with_the_request_is_told_aside(inside: Inside, agent: ScriptedAgent) -> None:
    put(inside, ".opencode/agent/subagents/reporter.md", AGENT)
    command = agent.obeys().command
    ended = inside("run", "reporter", "Write.", "--input", "topic=seas", "--input", "colour=red", "--command", command)
    assert b"warning[INP003]: the agent has no input 'colour'" in ended.err, ended.err
    told = load(
        inside(
            "run",
            "reporter",
            "Write.",
            "--input",
            "topic=seas",
            "--input",
            "colour=red",
            "--command",
            command,
            "--json",
        )
    )
    assert [each["code"] for each in told["remit"]["diagnostics"]] == ["INP003"]


def test_an_input_that_is_missing_is_a_refusal(inside: Inside) -> None:
    put(inside, ".opencode/agent/subagents/reporter.md", AGENT)
    ended = inside("run", "reporter", "Write.", "--command", "true")
    assert ended.code == 2
    assert "topic" in ended.complaint


@pytest.mark.parametrize(("wanted", "key"), [("hyper", "meta"), ("manifest", "key_findings"), ("standard", "metadata")])
def test_the_format_of_the_result_can_be_chosen(inside: Inside, agent: ScriptedAgent, wanted: str, key: str) -> None:
    """D4: `--format` chooses the format of the result, whatever the agent returns."""
    command = agent.obeys().command
    ended = inside("run", "Write a report.", "--command", command, "--format", wanted, "--json")
    result = json.loads(ended.out)
    assert (ended.code, key in result, result["remit"]["status"]) == (0, True, "completed")

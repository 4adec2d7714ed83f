"""`remit run --each`: real agents for each line of a file, killed, taken up again, and asked for twice at once."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from tests.support.program_runs import list_rows
from tests.support.run_terminal import PATIENCE_S, Terminal
from tests.support.screen_text import smooth
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from remit.testing.agent import ScriptedAgent
    from tests.support.commands import Ended, Remit

THREE = '"Write one."\n\n{"prompt": "Write two.", "inputs": {"a": "b"}}\n"Write three."\n'


@pytest.fixture(autouse=True)
def _workspace(remit: Remit, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
        remit.env.pop(name, None)
    (remit.folder / ".remit").mkdir()


def load_lines(ended: Ended) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ended.out.splitlines()]


@pytest.mark.slow
def test_each_line_has_its_result_in_order(remit: Remit, agent: ScriptedAgent) -> None:
    file = remit.write("prompts.jsonl", THREE)
    command = agent.returns().command
    ended = remit("run", "--each", file, "--command", command, "--concurrency", "2")
    assert ended.code == 0, ended
    lines = ended.text.splitlines()
    assert [line[0] for line in lines if "completed · " in line] == ["1", "3", "4"]
    assert lines[-1] == snapshot("3 runs: 3 completed")
    assert ended.err == b"3 runs; follow them with: remit ps\n"
    works = [row.details["work"] for row in reversed(list_rows(remit.folder))]
    assert works == ["Write one.", "Write two.", "Write three."]


@pytest.mark.slow
def test_json_is_a_line_for_each_and_the_file_can_be_piped_in(remit: Remit, agent: ScriptedAgent) -> None:
    ended = remit("run", "--each", "-", "--command", agent.returns().command, "--json", text=THREE)
    told = load_lines(ended)
    assert (ended.code, ended.err) == (0, b"")
    assert sorted(each["remit"]["line"] for each in told) == [1, 3, 4]
    assert {each["status"] for each in told} == {"completed"}


def test_one_that_is_refused_costs_no_other(remit: Remit, agent: ScriptedAgent) -> None:
    text = '"fine"\n{"prompt": "not fine", "return_format": "latin"}\n"fine too"\n'
    ended = remit("run", "--each", "-", "--command", agent.returns().command, "--json", text=text)
    told = {each["remit"]["line"]: each for each in load_lines(ended)}
    assert ended.code == 1
    assert [told[line]["status"] for line in (1, 2, 3)] == ["completed", "failed", "completed"]
    assert (told[2]["remit"]["stop_reason"], told[2]["remit"]["session_id"]) == ("rejected", "")
    assert "show" not in told[2]["remit"]


def test_bad_lines_are_refused_before_anything_starts(remit: Remit, agent: ScriptedAgent) -> None:
    ended = remit("run", "--each", "-", "--command", agent.returns().command, text='"fine"\n{"promt": "x"}\nbad\n')
    assert ended.code == 2
    assert smooth(ended.complaint) == snapshot(
        '\'<stdin>\' can\'t be used: line 2: unknown key \'promt\'; did you mean \'prompt\'?; line 3: it isn\'t valid JSON; write each line as "PROMPT" or {"prompt": "…", "inputs": {"NAME": "VALUE"}}'
    )
    assert agent.acts == ()


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("a", "Do it.", "--each", "p"), "expected an agent and no prompt with --each, got 2 arguments"),
        (("--each", "p", "--detach"), "can't combine --each with --detach"),
        (("Do it.", "--again"), "--concurrency and --again need --each"),
        (("--each", "nowhere.jsonl"), "'nowhere.jsonl' can't be read"),
    ],
)
def test_what_does_not_go_together(remit: Remit, args: tuple[str, ...], sentence: str) -> None:
    ended = remit("run", *args, "--command", "true")
    assert ended.code == 2
    assert sentence in ended.complaint


@pytest.mark.slow
@pytest.mark.thorough
def test_killed_and_run_again_nothing_is_lost_or_done_twice(remit: Remit, agent: ScriptedAgent) -> None:
    file = remit.write("prompts.jsonl", "".join(f'"Write {n}."\n' for n in range(4)))
    command = agent.sleeps(1).returns().command
    args = ("run", "--each", file, "--command", command, "--concurrency", "2", "--timeout", "60")
    process = remit.start(*args)
    wait_until(lambda: len(agent.did("ended")) >= 2 and len(agent.did("began")) > 2, "some are done, and some at work")
    process.kill()
    process.communicate()
    begun = {act.session for act in agent.did("began")}
    assert len(begun) < 4 or len(agent.did("ended")) < 4  # it was in the middle of it
    ended = remit(*args, "--json")
    told = load_lines(ended)
    assert ended.code == 0, ended
    assert sorted(each["remit"]["line"] for each in told) == [1, 2, 3, 4]
    assert begun <= {each["remit"]["session_id"] for each in told}
    assert len(agent.did("began")) == 4
    third = remit(*args)
    assert b"4 of 4 were already completed; --again runs them again" in third.err
    assert len(agent.did("began")) == 4
    assert remit(*args, "--again").code == 0
    assert len(agent.did("began")) == 8


@pytest.mark.slow
def test_two_at_once_do_each_line_once(remit: Remit, agent: ScriptedAgent) -> None:
    file = remit.write("prompts.jsonl", "".join(f'"Write {n}."\n' for n in range(4)))
    command = agent.sleeps(0.3).obeys({"${session}.md": "# ${session}\n"}).command
    args = ("run", "--each", file, "--command", command, "--concurrency", "1", "--json")
    both = [remit.start(*args) for _ in range(2)]
    told = []
    for process in both:
        out, err = process.communicate(timeout=2 * PATIENCE_S)
        assert (process.returncode, err) == (0, b"")
        told.append({line["remit"]["line"]: line["remit"]["session_id"] for line in map(json.loads, out.splitlines())})
    assert told[0] == told[1]
    assert len(agent.did("began")) == 4


def test_a_signal_ends_what_runs_and_begins_nothing_more(remit: Remit, agent: ScriptedAgent) -> None:
    file = remit.write("prompts.jsonl", THREE)
    command = agent.hangs().command
    args = ("run", "--each", file, "--command", command, "--concurrency", "1", "--timeout", "60")
    process = remit.start(*args)
    wait_until(lambda: agent.did("hung"), "the first hangs")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert agent.list_living() == []
    assert len(agent.did("began")) == 1
    assert out.decode().splitlines()[-1] == snapshot("3 runs: 3 failed")
    assert b"cancelling; Ctrl-C again kills the run" in err


@pytest.mark.slow
def test_a_bar_on_a_terminal(remit: Remit, agent: ScriptedAgent) -> None:
    file = remit.write("prompts.jsonl", THREE)
    command = agent.sleeps(0.3).obeys({"${session}.md": "# ${session}\n"}).command
    terminal = Terminal(remit, "run", "--each", file, "--command", command, "--concurrency", "1")
    terminal.wait_for("[------------------------] 0 of 3  1 running  0:0")
    terminal.wait_for("[########----------------] 1 of 3")
    code, out = terminal.end()
    assert code == 0
    assert out.splitlines()[-1] == snapshot("3 runs: 3 completed")

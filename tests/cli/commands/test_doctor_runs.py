"""`remit doctor` on runs: hangs, loops, wrong limits and failing returns, named from the ledger (R2.19)."""

from __future__ import annotations

import json
import os
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from remit.attempts.folders import list_living
from remit.ledger.events import read_clock_ms
from remit.ledger.home import Home
from remit.ledger.runs import AttemptRow, Run, add_run, advance, record_attempt
from remit.maintenance.doctor.runs import find_usual, suggest_limit
from tests.support.commands import load, put
from tests.support.program_runs import PARENT, detach, list_rows
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from remit.testing.agent import ScriptedAgent
    from tests.support.commands import Ended, Inside, Remit

pytestmark = pytest.mark.usefixtures("repository")

ROWS = ("runs", "hangs", "abandoned", "loops", "limits", "returns", "idle tasks")


@pytest.fixture
def remit(inside: Inside) -> Inside:
    """Nothing here is about how a process begins or ends."""
    return inside


def read(ended: Ended) -> dict[str, list[tuple[str, str, str]]]:
    """The rows about runs: state, message, hint."""
    rows: dict[str, list[tuple[str, str, str]]] = {}
    for check in json.loads(ended.out)["checks"]:
        if check["name"] in ROWS:
            rows.setdefault(check["name"], []).append((check["state"], check["message"], check["hint"]))
    return rows


def add(inside: Inside, name: str, agent: str = "planner", **given: Any) -> None:  # noqa: ANN401 - columns
    """A delegation that runs, or has ended; times are seconds ago."""
    now = read_clock_ms()
    ended: dict[str, Any] = {key: given.pop(key) for key in ("stop_reason", "verdict", "status") if key in given}
    started, left, took = given.pop("started", 10), given.pop("left", 1000), given.pop("took", None)
    attempts = given.pop("attempts", ())
    home = Home(str(inside.folder))
    add_run(home.ledger, Run(name, agent, 1, ("orchestrator", agent), **given))
    with home.ledger.transaction() as db:
        begun = now - int(started * 1000)
        advance(db, name, "running", started_ms=begun, deadline_ms=now + left * 1000)
        for number, codes in enumerate(attempts, 1):
            findings = [{"code": code, "severity": "error", "message": "x"} for code in codes]
            record_attempt(db, name, AttemptRow(number, begun, now, "exited", "invalid", None, findings))
        if took is not None:
            advance(db, name, "finished", ended_ms=begun + int(took * 1000), **ended)
    home.close()


def test_nothing_delegated_is_nothing_to_tell(inside: Inside) -> None:
    assert read(inside("doctor", "--json")) == {}
    add(inside, "sess_1", took=5, stop_reason="exited", verdict="accepted", status="completed")
    told = ("ok", "none open, and no repeated failures", "")
    assert read(inside("doctor", "--json")) == {"runs": [told]}


@pytest.mark.conforms("002-42")
def test_hangs_are_told_with_the_command_that_ends_them(inside: Inside) -> None:
    add(inside, "sess_late", started=100, left=-30, details={"timeout_s": 70})
    add(inside, "sess_idle", started=500, left=500, details={"timeout_s": 1000})
    add(inside, "sess_near", started=50, left=3, details={"timeout_s": 53})
    add(inside, "sess_fine", started=10, left=3590)
    ended = inside("doctor", "--json")
    assert ended.code == 1, "one is a problem"
    hangs = {hint: (state, re.sub(r"\b\d+ s\b", "N s", message)) for state, message, hint in read(ended)["hangs"]}
    assert hangs == {
        "end it: remit wait sess_late": ("problem", "planner (sess_late) is N s past its deadline"),
        "see what it does: remit logs -f sess_idle; end it: remit cancel sess_idle":
            ("warning", "no output from planner (sess_idle) for 8 min, with 8 min left"),
        "at the deadline its result is partial; continue with remit resume sess_near --timeout TIME":
            ("warning", "planner (sess_near) has N s left of N s"),
    }  # fmt: skip
    assert len(read(ended)["abandoned"]) == 4


@pytest.mark.slow
def test_what_nobody_drives_is_told(remit: Remit, agent: ScriptedAgent) -> None:
    session = detach(remit, agent.hangs(), until="hung")
    assert read(remit("doctor", "--json")) == {"runs": [("ok", "1 open, none hangs", "")]}
    (each,) = load(remit("ps", "--json"))["items"]
    os.kill(each["supervisor_pid"], signal.SIGKILL)
    wait_until(lambda: not load(remit("ps", "--json"))["items"][0]["supervised"], "its driver is gone")
    told = ("warning", f"agent ({session}) has no supervisor, and its agent is alive")
    assert read(remit("doctor", "--json"))["abandoned"] == [(*told, f"take over: remit wait {session}")]
    assert remit("cancel", session).code == 0
    assert "abandoned" not in read(remit("doctor", "--json"))


@pytest.mark.slow
def test_an_agent_that_outlives_its_delegation_is_told_and_ended(remit: Remit, agent: ScriptedAgent) -> None:
    """As after a ledger that was put back from a backup."""
    session = detach(remit, agent.hangs(), until="hung")
    (each,) = load(remit("ps", "--json"))["items"]
    os.kill(each["supervisor_pid"], signal.SIGKILL)
    home = Home(str(remit.folder))
    with home.ledger.transaction() as db:
        db.execute("UPDATE runs SET state = 'finished'")
    assert list_living(home)
    ended = remit("doctor", "--json")
    assert ended.code == 1
    told = f"the agent of {session} is alive, but its run is finished"
    assert read(ended)["abandoned"] == [("problem", told, f"end it: remit cancel {session}")]
    remit("cancel", session)
    assert list_living(home) == []
    assert agent.list_living() == []
    home.close()


@pytest.mark.conforms("002-43")
@pytest.mark.slow
def test_an_agent_that_runs_in_a_circle_is_told(remit: Remit, agent: ScriptedAgent) -> None:
    put(remit, ".opencode/agent/subagents/parent.md", PARENT.replace("- child", "- parent"))
    for _ in range(3):
        agent.recurses("parent")
    remit("run", "parent", "Do it.", "--command", agent.returns(status="blocked").command)
    assert [each.details["exit_code"] for each in agent.did("ran")] == [2, 2, 2]
    assert len(list_rows(remit.folder)) == 1
    (told,) = read(remit("doctor", "--json"))["loops"]
    assert told[1] == snapshot("parent tried to call parent 3 times and was refused as a cycle")
    assert "can_delegate_to" in told[2]


def test_the_same_asked_over_and_over_is_told(inside: Inside) -> None:
    add(inside, "sess_root", took=9, stop_reason="exited", verdict="accepted", status="completed")
    for number in range(6):
        add(
            inside, f"sess_{number}", "helper", parent_id="sess_root", root_id="sess_root", took=1, stop_reason="exited",
            verdict="accepted", status="completed", details={"work": "Look again." if number < 5 else "Other."},
        )  # fmt: skip
    told = "helper was called 5 times for the same in one tree: Look again."
    hint = "see the callers: remit ps --tree sess_root; limit it with --max-delegations"
    assert read(inside("doctor", "--json"))["loops"] == [("warning", told, hint)]


@pytest.mark.conforms("002-44")
def test_limits_that_do_not_fit_are_told_with_better_ones(inside: Inside) -> None:
    """R2.6."""
    fine = {"verdict": "accepted", "status": "completed", "stop_reason": "exited"}
    late = {"verdict": "missing", "status": "partial", "stop_reason": "timeout"}
    for number in range(6):
        add(inside, f"sess_l{number}", "late", took=100, details={"timeout_s": 100}, **(late if number < 2 else fine))
        add(inside, f"sess_q{number}", "quick", took=20 + number, details={"timeout_s": 3600.0}, **fine)
        add(inside, f"sess_f{number}", "fits", took=200, details={"timeout_s": 500}, **fine)
        add(
            inside,
            f"sess_c{number}",
            "cancelled",
            took=1,
            details={"timeout_s": 500},
            **fine | {"stop_reason": "cancelled"},
        )
    assert read(inside("doctor", "--json"))["limits"] == [
        ("warning", "late reached its limit of 100 s in 2 of 6 runs",
         'set timeout = 200 under [agents."late"] in remit.toml'),
        ("warning", "quick may take 60 min, but 19 of 20 runs take 25 s: a hang is noticed late",
         'set timeout = 60 under [agents."quick"] in remit.toml'),
    ]  # fmt: skip
    put(inside, "remit.toml", '[agents."late"]\ntimeout = 200\n')
    assert read(inside("doctor", "--json"))["limits"], "the advice can be followed, and looks at the latest limit"


@pytest.mark.parametrize(("usual", "limit"), [(1, 60), (40, 80), (41, 90), (300, 600), (301, 660), (3000, 6000)])
def test_a_suggested_limit_is_round(usual: float, limit: int) -> None:
    assert suggest_limit(usual) == limit


def test_the_usual_time_leaves_out_one_of_twenty() -> None:
    assert find_usual([1.0] * 19 + [100.0]) == 1.0
    assert find_usual([1.0] * 18 + [90.0, 100.0]) == 90.0
    assert find_usual([7.0]) == 7.0


@pytest.mark.conforms("002-46")
def test_returns_that_fail_are_told_with_what_to_change(inside: Inside) -> None:
    for number in range(4):
        verdict = "fabricated" if number == 0 else "invalid" if number < 3 else "accepted"
        codes = (("RET011", "RET020"), ("RET011",))
        add(inside, f"sess_w{number}", "wrong", took=50, stop_reason="exited", verdict=verdict, attempts=codes,
            details={"timeout_s": 100})  # fmt: skip
        add(inside, f"sess_a{number}", "asked", took=50, stop_reason="exited", verdict="accepted",
            attempts=(("RET001",), ()), details={"timeout_s": 100})  # fmt: skip
        add(inside, f"sess_g{number}", "good", took=50, stop_reason="exited", verdict="accepted", attempts=((),),
            details={"timeout_s": 100})  # fmt: skip
    assert read(inside("doctor", "--json"))["returns"] == [
        ("warning", "4 of 4 returns of asked were accepted only after a retry; most often RET001",
         "each retry costs money; what to change: remit explain RET001"),
        ("warning", "3 of 4 returns of wrong were rejected (invalid, fabricated); most often RET011, RET020",
         "see: remit show sess_w0; what to change: remit explain RET011"),
    ]  # fmt: skip


def test_a_task_that_nobody_works_on_is_told(inside: Inside) -> None:
    for title in ("One", "Two", "Three"):
        assert inside("task", "new", title).code == 0
    for number in ("1", "2", "3"):
        assert inside("task", "set-status", number, "RESEARCHING").code == 0
    add(inside, "sess_1", task_number=1, took=5, stop_reason="exited", verdict="accepted", status="failed")
    add(inside, "sess_2", task_number=2)
    rows = read(inside("doctor", "--json"))
    told = ("warning", "task 1 is RESEARCHING, but no run is open for it", "continue: remit task research 1")
    assert rows["idle tasks"] == [told]

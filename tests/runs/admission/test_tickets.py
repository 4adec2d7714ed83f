"""Tickets: who asks is looked up, never believed."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from inline_snapshot import snapshot

from remit.attempts.folders import LIVING, make_attempt
from remit.attempts.output import read_out
from remit.attempts.results import load_result
from remit.attempts.start import ShimOrder, start_shim
from remit.errors import RefusedError
from remit.ledger.events import read_clock_ms
from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run, advance
from remit.runs.admission.guard import Caller, admit
from remit.runs.admission.limits import Budget
from remit.runs.admission.tickets import Ticket, find_caller, hash_ticket, mint

NOW_MS = 1_700_000_000_000
HOUR_MS = 3_600_000


def mint_for(session_id: str) -> Ticket:
    """A ticket that is always the same for a session."""
    return mint(session_id.encode().ljust(32, b"."))


def add(home: Home, session_id: str, parent: Run | None = None, **given: Any) -> Run:  # noqa: ANN401
    """A session that runs, below another or on its own, with a ticket."""
    config: dict[str, Any] = {name: given.pop(name) for name in ("may_call", "max_depth", "budget") if name in given}
    agent = given.pop("agent", session_id)
    row = Run(
        session_id,
        agent,
        parent.depth + 1 if parent else 1,
        (*(parent.path if parent else ("orchestrator",)), agent),
        parent_id=parent.session_id if parent else None,
        root_id=parent.root_id if parent else session_id,
        deadline_ms=NOW_MS + HOUR_MS,
        ticket=mint_for(session_id).hash,
        details=config,
    )
    row = add_run(home.ledger, row._replace(**given))
    with home.ledger.transaction() as db:
        advance(db, session_id, "running", started_ms=NOW_MS)
    return row


def find(home: Home, session_id: str, *, now_ms: int = NOW_MS, **environ: str) -> Caller:
    """The caller that a session's own environment leads to."""
    shown = {"REMIT_TICKET": mint_for(session_id).token, "REMIT_SESSION_ID": session_id} | environ
    caller = find_caller(home, shown, now_ms=now_ms)
    assert caller is not None
    return caller


def get_refusal(home: Home, environ: dict[str, str], *, now_ms: int = NOW_MS) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        find_caller(home, environ, now_ms=now_ms)
    assert caught.value.hint
    for token in re.findall("remit1_[^ ]{8,}", environ.get("REMIT_TICKET", "")):
        assert token not in str(caught.value)
    return caught.value


# --- the token -------------------------------------------------------------------------------------------------------


def test_a_token_is_made_of_32_bytes() -> None:
    token, kept = mint(bytes(range(32)))
    assert token == "remit1_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"  # noqa: S105 - of no secret bytes
    assert kept == hash_ticket(token)
    assert re.fullmatch("[0-9a-f]{64}", kept)
    assert mint(b"\xff" * 32).token == "remit1_" + "_" * 42 + "8"
    with pytest.raises(ValueError, match="32"):
        mint(b"short")


def test_only_the_hash_is_in_the_ledger(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    add(home, "s1")
    home.ledger.checkpoint()
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("ledger.db*"))
    assert mint_for("s1").hash.encode() in kept
    assert mint_for("s1").token.encode() not in kept


# --- a person --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("environ", [{}, {"REMIT_TICKET": "", "REMIT_SESSION_ID": ""}, {"REMIT_ROOT": "/"}])
def test_without_ticket_and_session_it_is_a_person(tmp_path: Path, environ: dict[str, str]) -> None:
    home = Home(str(tmp_path))
    assert find_caller(home, environ, now_ms=NOW_MS) is None
    assert not home.is_made
    add(home, "s1")
    assert find_caller(home, environ, now_ms=NOW_MS) is None


# --- an agent --------------------------------------------------------------------------------------------------------


def test_a_ticket_leads_to_what_the_ledger_knows(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    root = add(home, "s1", agent="a")
    add(home, "s2", root, agent="b", may_call=["c", "d"], deadline_ms=NOW_MS + 5000)
    assert find(home, "s2") == Caller(
        session_id="s2",
        root_id="s1",
        agent="b",
        depth=2,
        path=("orchestrator", "a", "b"),
        deadline_ms=NOW_MS + 5000,
        may_call=("c", "d"),
        max_depth=3,
        left=Budget(),
    )
    only_ticket = find_caller(home, {"REMIT_TICKET": mint_for("s2").token}, now_ms=NOW_MS)
    assert only_ticket == find(home, "s2")


def test_a_ticket_is_good_for_any_number_of_children(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    root = add(home, "s1", may_call=["*"])
    for number in range(5):
        caller = find(home, "s1")
        admitted = admit(f"c{number}", caller, session_id=f"c{number}", now_ms=NOW_MS, timeout_s=60.0)
        assert admitted.parent_id == "s1"
        add(home, f"c{number}", root)


def test_it_is_good_before_the_ledger_says_that_it_runs(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    row = Run("s1", "a", 1, ("orchestrator", "a"), deadline_ms=NOW_MS + 1000, ticket=mint_for("s1").hash)
    add_run(home.ledger, row)
    assert find(home, "s1").agent == "a"


@pytest.mark.parametrize("may_call", [None, "abc", {"a": 1}, 7, []])
def test_who_is_given_no_list_may_call_nobody(tmp_path: Path, may_call: object) -> None:
    home = Home(str(tmp_path))
    add(home, "s1", may_call=may_call)
    assert find(home, "s1").may_call == ()


def test_the_least_depth_on_the_way_holds(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    root = add(home, "s1", max_depth=2)
    add(home, "s2", root, max_depth=3)
    assert find(home, "s2").max_depth == 2
    add(home, "t1", max_depth=9)
    assert find(home, "t1").max_depth == 3
    add(home, "u1", max_depth=True)
    assert find(home, "u1").max_depth == 3


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "remit1_",
        "remit2_" + "A" * 43,
        "remit1_" + "A" * 42,
        "remit1_" + "A" * 44,
        "remit1_" + "A" * 42 + "=",
        "remit1_" + "A" * 43 + "\n",
        "remit1_" + "é" * 43,
        "\udcff" * 50,
        "A" * 1_000_000,
    ],
    ids=lambda token: ascii(token[:12]),
)
def test_what_is_no_ticket_is_refused(tmp_path: Path, token: str) -> None:
    home = Home(str(tmp_path))
    add(home, "s1")
    assert get_refusal(home, {"REMIT_TICKET": token}).message == snapshot("REMIT_TICKET is not a ticket")


def test_a_forged_ticket_is_refused(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    forged = {"REMIT_TICKET": mint(b"0" * 32).token}
    assert "doesn't have this ticket" in get_refusal(home, forged).message
    assert not home.is_made
    add(home, "s1")
    assert "doesn't have this ticket" in get_refusal(home, forged | {"REMIT_SESSION_ID": "s1"}).message


def test_the_hash_is_no_ticket(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    add(home, "s1")
    assert get_refusal(home, {"REMIT_TICKET": mint_for("s1").hash}).code == "REFUSED"


def test_a_ticket_of_another_workspace_is_refused(tmp_path: Path) -> None:
    home, other = Home(str(tmp_path / "one")), Home(str(tmp_path / "other"))
    for each in (home, other):
        (tmp_path / each.root).mkdir()
    add(home, "s1")
    add(other, "s2")
    assert "doesn't have" in get_refusal(other, {"REMIT_TICKET": mint_for("s1").token}).message


@pytest.mark.parametrize("state", ["finishing", "finished"])
def test_a_ticket_ends_with_its_session(tmp_path: Path, state: str) -> None:
    home = Home(str(tmp_path))
    add(home, "s1")
    assert find(home, "s1").agent == "s1"
    with home.ledger.transaction() as db:
        advance(db, "s1", state)
    refusal = get_refusal(home, {"REMIT_TICKET": mint_for("s1").token})
    assert (refusal.code, refusal.message) == ("REFUSED", snapshot("the session s1 of this ticket is finished"))


@pytest.mark.parametrize("late_ms", [0, 1, HOUR_MS])
def test_a_ticket_ends_with_its_deadline(tmp_path: Path, late_ms: int) -> None:
    home = Home(str(tmp_path))
    add(home, "s1")
    deadline_ms = NOW_MS + HOUR_MS
    assert find(home, "s1", now_ms=deadline_ms - 1).agent == "s1"
    assert get_refusal(home, {"REMIT_TICKET": mint_for("s1").token}, now_ms=deadline_ms + late_ms).code == "TIMEOUT"


def test_a_session_without_a_deadline_is_none(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    add(home, "s1", deadline_ms=None)
    assert get_refusal(home, {"REMIT_TICKET": mint_for("s1").token}).code == "TIMEOUT"


def test_the_session_has_to_be_the_tickets(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    root = add(home, "s1")
    add(home, "s2", root)
    message = get_refusal(home, {"REMIT_TICKET": mint_for("s2").token, "REMIT_SESSION_ID": "s1"}).message
    assert message == "REMIT_SESSION_ID is 's1', and the ticket is that of s2"


def test_a_session_without_its_ticket_is_refused(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    add(home, "s1")
    refusal = get_refusal(home, {"REMIT_SESSION_ID": "s1"})
    assert refusal.message == snapshot("REMIT_SESSION_ID is set, but REMIT_TICKET isn't")
    assert "unset REMIT_SESSION_ID" in refusal.hint


def test_a_line_with_a_gap_is_refused(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    root = add(home, "s1")
    middle = add(home, "s2", root)
    add(home, "s3", middle)
    assert find(home, "s3").depth == 3
    with home.ledger.transaction() as db:
        assert db.execute("DELETE FROM runs WHERE session_id = 's2'").rowcount == 1
    assert "an ancestor of s3" in get_refusal(home, {"REMIT_TICKET": mint_for("s3").token}).message


def test_a_line_that_ends_elsewhere_than_at_its_root_is_refused(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    add(home, "s1", root_id="s0")
    assert "an ancestor of s1" in get_refusal(home, {"REMIT_TICKET": mint_for("s1").token}).message


def test_a_line_that_goes_in_a_circle_is_refused(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    root = add(home, "s1")
    add(home, "s2", root)
    with home.ledger.transaction() as db:
        db.execute("UPDATE runs SET parent_id = 's2' WHERE session_id = 's1'")
    assert "an ancestor of s2" in get_refusal(home, {"REMIT_TICKET": mint_for("s2").token}).message


@pytest.mark.parametrize("budget", [{"max_usd": "much"}, {"max_tokens": -1}, {"max_usd": float("inf")}, [1], "none"])
def test_a_budget_that_cannot_be_read_is_not_taken_for_none(tmp_path: Path, budget: object) -> None:
    home = Home(str(tmp_path))
    root = add(home, "s1", budget=budget)
    add(home, "s2", root)
    for session_id in ("s1", "s2"):
        assert "budget of s1" in get_refusal(home, {"REMIT_TICKET": mint_for(session_id).token}).message


# --- what is left ----------------------------------------------------------------------------------------------------


def test_a_session_has_left_what_it_and_those_below_it_have_not_used(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    root = add(home, "s1", budget=Budget(60, 20, 1000, 1.0, 10)._asdict(), tokens=100, cost_usd=0.125, turns=3)
    child = add(home, "s2", root, tokens=200, cost_usd=0.25, turns=4)
    add(home, "s3", child, tokens=50, cost_usd=0.125, turns=1)
    assert find(home, "s1").left == Budget(60, 12, 650, 0.5, 8)


def test_the_roots_budget_holds_for_the_whole_tree(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    root = add(home, "s1", budget={"max_tokens": 1000, "max_delegations": 4}, tokens=100)
    child = add(home, "s2", root, budget={"max_tokens": 800, "max_usd": 2.0}, tokens=100, cost_usd=0.5)
    assert find(home, "s2").left == Budget(max_tokens=700, max_usd=1.5, max_delegations=3)
    add(home, "s3", root, tokens=650, cost_usd=1.0)
    assert find(home, "s2").left == Budget(max_tokens=150, max_usd=1.5, max_delegations=2)
    add(home, "s4", child, tokens=100, cost_usd=1.0)
    assert find(home, "s2").left == Budget(max_tokens=50, max_usd=0.5, max_delegations=1)
    assert find(home, "s4").left == Budget(max_tokens=50, max_usd=0.5, max_delegations=1)
    assert find(home, "s1").left == Budget(max_tokens=50, max_delegations=1)


def test_what_others_use_is_not_taken_from_it(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    root = add(home, "s1")
    add(home, "s2", root, budget={"max_tokens": 100, "max_delegations": 2})
    sibling = add(home, "s3", root, tokens=99)
    add(home, "s4", sibling, tokens=99)
    add(home, "t1", tokens=99)
    assert find(home, "s2").left == Budget(max_tokens=100, max_delegations=2)


def test_what_those_who_are_over_have_used_counts(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    root = add(home, "s1", budget={"max_usd": 1.0, "max_delegations": 1})
    add(home, "s2", root)
    with home.ledger.transaction() as db:
        advance(db, "s2", "finished", tokens=5, cost_usd=1.5, turns=2)
    caller = find(home, "s1")
    assert caller.left == Budget(max_usd=0.0, max_delegations=0)
    with pytest.raises(RefusedError) as caught:
        admit("b", caller._replace(may_call=("*",)), session_id="s3", now_ms=NOW_MS, timeout_s=60.0)
    assert caught.value.code == "BUDGET_EXCEEDED"


def test_a_tree_of_a_thousand_is_asked_for_in_one_query(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    root = add(home, "s1", budget={"max_delegations": 5000, "max_tokens": 10_000})
    query = """INSERT INTO runs (session_id, parent_id, root_id, agent, depth, path, state, created_ms, tokens)
        VALUES (?, 's1', 's1', 'x', 2, '["orchestrator", "s1", "x"]', 'finished', 0, 1)"""
    with home.ledger.transaction() as db:
        db.executemany(query, [(f"c{number}",) for number in range(1000)])
    asked: list[str] = []
    home.ledger.db.set_trace_callback(asked.append)
    assert find(home, root.session_id).left == Budget(max_tokens=9000, max_delegations=4000)
    home.ledger.db.set_trace_callback(None)
    assert len([query for query in asked if "FROM runs" in query]) == 1
    plan = str(home.ledger.db.execute(f"EXPLAIN QUERY PLAN {asked[0]}").fetchall())
    assert "SCAN delegations" not in plan


# --- from within a session -------------------------------------------------------------------------------------------

ASKING = """
import os, sys
from remit.runs.admission.tickets import find_caller
from remit.errors import RefusedError
from remit.ledger.home import Home
try:
    caller = find_caller(Home(sys.argv[1]), os.environ, now_ms=int(sys.argv[2]))
except RefusedError as error:
    print(error.code, error.message)
else:
    print("a person" if caller is None else f"{caller.session_id} at depth {caller.depth}")
"""
HIDING = """
import os, subprocess, sys
for name in ("REMIT_TICKET", "REMIT_SESSION_ID"):
    del os.environ[name]
print(subprocess.run(sys.argv[1:], capture_output=True, text=True, start_new_session=True).stdout, end="")
"""


def run_within(home: Home, argv: tuple[str, ...], *, contain: Literal["namespace", "subreaper"]) -> str:
    """What a program prints that runs as the agent of the session s1."""
    attempt = make_attempt(home, "s1", 1)
    environ = {**os.environ, "REMIT_TICKET": mint_for("s1").token, "REMIT_SESSION_ID": "s1"}
    deadline_ms = read_clock_ms() + 30_000
    order = ShimOrder(argv, home.root, deadline_ms, environ, contain=contain)
    started = start_shim(home, attempt, order)
    started.process.wait(30)
    result = load_result(attempt.folder)
    assert result is not None
    assert (result.stop_reason, result.exit_code) == ("exited", 0)
    if result.contained != contain:
        pytest.skip(f"this machine contains agents by {result.contained}, not by {contain}")
    return read_out(attempt.folder, 0, 1000).decode()


@pytest.mark.parametrize("contain", ["namespace", "subreaper"])
def test_an_agent_that_hides_its_ticket_is_not_taken_for_a_person(
    tmp_path: Path, contain: Literal["namespace", "subreaper"]
) -> None:
    home = Home(str(tmp_path))
    add(home, "s1")
    asking = (sys.executable, "-c", ASKING, home.root, str(NOW_MS))
    hidden = run_within(home, (sys.executable, "-c", HIDING, *asking), contain=contain)
    assert hidden == "REFUSED this process belongs to s1 and has no ticket\n"
    outside = subprocess.run(asking, capture_output=True, text=True, check=True).stdout
    assert outside == "a person\n"


def test_an_agent_that_shows_its_ticket_is_known(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    add(home, "s1")
    asking = (sys.executable, "-c", ASKING, home.root, str(NOW_MS))
    assert run_within(home, asking, contain="namespace") == "s1 at depth 1\n"


def test_a_person_is_not_asked_again_while_agents_start(tmp_path: Path) -> None:
    """A session that has not yet told its processes could be anybody's; who was outside before is so now."""
    home, other = Home(str(tmp_path)), Home(f"{tmp_path}/.")
    assert find_caller(home, {}, now_ms=NOW_MS) is None
    attempt = make_attempt(home, "s1", 1)
    (Path(home.make_folder(LIVING)) / "s1.1").touch()
    handle = os.open(attempt.folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert "belongs to s1" in get_refusal(other, {}).message
        assert find_caller(home, {}, now_ms=NOW_MS) is None
    finally:
        os.close(handle)

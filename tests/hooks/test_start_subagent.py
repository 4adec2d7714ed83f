"""Admitted agents get a session, instructions and a place in the limits; refused agents get only the reason."""

from pathlib import Path
from typing import Any

import pytest

from remit.ledger.events import read_clock_ms
from remit.runs.admission.tickets import hash_ticket, mint
from tests.support.hook_session import Refused, Stage, add_agent


def set_up(root: Path, settings: str) -> None:
    (root / "remit.toml").write_text(settings)


def test_an_agent_is_minted_and_finds_its_contract_behind_its_prompt(stage: Stage) -> None:
    child = stage.call("planner", "Make the plan.  ", description="a plan")
    row = child.row
    assert (row.agent, row.depth, row.path, row.state) == ("planner", 1, ("orchestrator", "planner"), "running")
    assert (row.parent_id, row.root_id, row.runner, row.owner) == (None, row.session_id, "claude", "hooks")
    assert row.details["is_harness_run"] is True
    said = child.answer["hookSpecificOutput"]
    assert said["permissionDecision"] == "allow"  # else the harness does not heed the other input
    assert said["updatedInput"].keys() == {"subagent_type", "prompt", "description", "run_in_background"}
    assert said["updatedInput"]["run_in_background"] is False  # only what the caller waits for can be replaced
    assert child.told.startswith("Make the plan.\n\n<remit-delegation>\n")
    assert child.session_id == row.session_id
    assert "You may delegate to reviewer, writer." in child.told


@pytest.mark.parametrize("asked", [True, False])
def test_what_a_call_says_of_the_background_is_left(stage: Stage, *, asked: bool) -> None:
    child = stage.call("planner", run_in_background=asked)
    assert child.answer["hookSpecificOutput"]["updatedInput"]["run_in_background"] is asked


def test_what_the_caller_says_of_itself_counts_for_nothing(stage: Stage) -> None:
    child = stage.call("planner", '{"session_id": "sess_1_aaaaaa", "delegation_depth": 3, "path": ["x"]}')
    assert child.row.depth == 1
    assert child.row.session_id != "sess_1_aaaaaa"


@pytest.mark.parametrize("agent", ["general-purpose", "Explore", ""])
def test_a_built_in_agent_is_only_looked_on(stage: Stage, agent: str) -> None:
    child = stage.call(agent)
    assert child.answer == {}
    assert child.row.agent == (agent or "general-purpose")
    child.start()
    assert child.stop("Whatever.") == {}
    assert child.respond("Whatever.") == {}
    row = child.row
    assert (row.state, row.stop_reason, row.status, row.verdict) == ("finished", "exited", None, None)


def test_all_may_be_held(stage: Stage, root: Path) -> None:
    set_up(root, '[hooks]\nenforce = "all"\n')
    child = stage.call("Explore")
    assert child.session_id == child.row.session_id
    child.start()
    assert child.stop("Whatever.")["decision"] == "block"


def test_nobody_may_be_held(stage: Stage, root: Path) -> None:
    set_up(root, '[hooks]\nenforce = "none"\n')
    assert stage.call("planner").answer == {}
    assert len(stage.rows()) == 1


def test_one_that_has_no_file_may_be_held_by_its_name(stage: Stage, root: Path) -> None:
    set_up(root, '[hooks]\nalso_enforce = ["Explore"]\nobserve = ["planner"]\n')
    assert stage.call("Explore").session_id == stage.rows()[0].session_id
    assert stage.call("planner").answer == {}


def test_what_is_set_is_read_anew_when_it_changes(stage: Stage, root: Path) -> None:
    assert stage.call("newcomer").answer == {}
    add_agent(root, "newcomer")
    assert stage.call("newcomer").answer != {}
    (root / ".opencode/agent/subagents/newcomer.md").unlink()
    assert stage.call("newcomer").answer == {}


@pytest.mark.parametrize(
    "name", ["Planner", "PLANNER", "plan ner", "plan-ner", "plan_ner", "\uff50lanner", "plan\u2014ner"]
)
def test_a_name_that_claude_code_takes_for_another_is_that_one(stage: Stage, name: str) -> None:
    child = stage.call(name)
    assert child.row.agent == "planner"
    assert child.session_id == child.row.session_id
    child.agent = "planner"  # so the harness calls it from then on
    child.start()
    assert child.stop("Done.")["decision"] == "block"
    with pytest.raises(Refused, match="cycle"):
        stage.call("Planner", by=child)


def test_what_is_set_for_a_name_is_set_for_its_spellings(stage: Stage, root: Path) -> None:
    set_up(root, '[hooks]\nalso_enforce = ["Explore"]\nobserve = ["planner"]\n')
    assert stage.call("explore").answer != {}
    assert stage.call("Planner").answer == {}


def test_only_the_keys_that_the_harness_reads_count(root: Path) -> None:
    stage = Stage(root, "codex", quick=True)
    call = stage.event("PreToolUse", tool_name="spawn_agent", tool_use_id="c")
    call["tool_input"] = {"agent_type": "planner", "message": "Go.", "subagent_type": "Explore", "prompt": "Look."}
    given = stage.send(call)["hookSpecificOutput"]["updatedInput"]
    assert "<remit-delegation>" in given["message"]
    assert given["prompt"] == "Look."
    assert stage.rows()[0].agent == "planner"


@pytest.mark.parametrize("tool", ["multi_agent_v1spawn_agent", "multi_agent_v1.spawn_agent", "spawn_agent"])
def test_the_tool_is_known_by_its_other_names(root: Path, tool: str) -> None:
    stage = Stage(root, "codex", quick=True)
    call = stage.event("PreToolUse", tool_name=tool, tool_use_id="c")
    assert "updatedInput" in str(stage.send({**call, "tool_input": {"agent_type": "planner", "message": "Go."}}))


@pytest.mark.parametrize("given", [{"isolation": "worktree"}, {"isolation": "remote"}, {"cwd": "/"}, {"cwd": "sub"}])
def test_one_whose_work_could_not_be_seen_is_refused(stage: Stage, given: dict[str, Any]) -> None:
    """Else it would be told that it has made up what it made elsewhere."""
    with pytest.raises(Refused, match="remit run planner --worktree"):
        stage.call("planner", "Go.", **given)
    assert stage.call("Explore", "Go.", **given).answer == {}  # who is only looked on may work where it wants
    assert stage.call("planner", cwd=str(stage.root), isolation=None).answer != {}


@pytest.mark.parametrize("is_compiled", [False, True])
def test_nor_one_whose_file_has_it_work_elsewhere(stage: Stage, root: Path, *, is_compiled: bool) -> None:
    name = "planner" if is_compiled else "lister"
    file = root / ".claude" / "agents" / f"{name}.md"
    file.parent.mkdir(parents=True)
    text = f"---\nname: {name}\ndescription: Does its part\n{{}}---\nDo it.\n"
    file.write_text(text.format("isolation: worktree\n"))
    with pytest.raises(Refused, match="remove `isolation: worktree` from its file"):
        stage.call(name)
    file.write_text(text.format(""))
    assert "Delegation" in stage.call(name).told


def chain(stage: Stage, *agents: str) -> Any:  # noqa: ANN401 - a Child, or None
    """Agents, each of which calls the next one."""
    child = None
    for agent in agents:
        child = stage.call(agent, by=child)
        child.start()
    return child


def test_a_child_of_a_child_knows_who_called_it(stage: Stage) -> None:
    planner = chain(stage, "planner")
    reviewer = stage.call("reviewer", by=planner)
    row = reviewer.row
    assert (row.depth, row.path) == (2, ("orchestrator", "planner", "reviewer"))
    assert (row.parent_id, row.root_id) == (planner.session_id, planner.session_id)
    assert "depth 2 of 3, called by orchestrator → planner" in reviewer.told
    assert row.awaited is True


def refuse(stage: Stage, agent: str, *, by: Any = None, env: dict[str, str] | None = None) -> str:  # noqa: ANN401
    """Why an agent is not let in; nothing is left of it but an event of whoever asked."""
    before = stage.rows()
    with pytest.raises(Refused) as caught:
        stage.call(agent, by=by, env=env)
    assert stage.rows() == before
    assert stage.ask("SELECT count(*) FROM hook_runs") == [(len(before),)]
    if by is not None and by.row.state == "running" and (by.row.deadline_ms or 0) > read_clock_ms():
        assert stage.kinds(by.row.session_id)[-1] == "refused"
    return str(caught.value)


def test_a_fourth_level_is_refused(stage: Stage) -> None:
    tester_caller = chain(stage, "planner", "reviewer", "writer")
    reason = refuse(stage, "tester", by=tester_caller)
    assert reason.startswith("Remit: orchestrator → planner → reviewer → writer → tester would be depth 4")
    assert "do the work yourself" in reason


def test_a_fourth_level_is_refused_below_observed_agents_too(stage: Stage) -> None:
    third = chain(stage, "Explore", "general-purpose", "writer")
    assert third.row.depth == 3
    assert "depth 4" in refuse(stage, "tester", by=third)


def test_a_circle_is_refused(stage: Stage) -> None:
    reviewer = chain(stage, "planner", "reviewer")
    assert "planner → reviewer → planner is a cycle" in refuse(stage, "planner", by=reviewer)


def test_whom_the_file_does_not_name_is_refused(stage: Stage) -> None:
    planner = chain(stage, "planner")
    assert "'planner' may not call 'tester'; it may call: reviewer, writer" in refuse(stage, "tester", by=planner)


@pytest.mark.parametrize(
    ("limits", "agents", "asked", "what"),
    [
        ("per_agent = 1", ["planner"], "planner", "agent planner"),
        ("running = 2", ["planner", "writer"], "tester", "running"),
    ],
)
def test_a_limit_for_those_at_work_is_held(  # noqa: PLR0917 - a table
    stage: Stage, root: Path, limits: str, agents: list[str], asked: str, what: str
) -> None:
    set_up(root, f"[limits]\n{limits}\n")
    first, *_ = [stage.call(agent) for agent in agents]
    assert f"the limit for {what} is reached" in refuse(stage, asked)
    first.start()
    for _ in range(3):
        first.stop("Nothing.")
    first.hand_over("Nothing.")
    stage.call(asked)  # there is room again


def test_a_limit_for_a_tree_is_held(stage: Stage, root: Path) -> None:
    set_up(root, "[limits]\nper_tree = 2\n")
    planner = chain(stage, "planner")
    stage.call("reviewer", by=planner, run_in_background=True)
    stage.call("tester")  # of another tree
    stage.call("reviewer", by=planner)  # for which the planner waits, and holds no place meanwhile
    assert "the limit for tree" in refuse(stage, "writer", by=planner)


def test_a_budget_of_delegations_is_held(stage: Stage, root: Path) -> None:
    set_up(root, "[budget]\nmax_delegations = 1\n")
    planner = chain(stage, "planner")
    stage.call("reviewer", by=planner)
    assert "delegation" in refuse(stage, "writer", by=planner)


def test_tokens_that_the_harness_tells_are_counted(stage: Stage, root: Path) -> None:
    set_up(root, "[budget]\nmax_tokens = 1000\n")
    planner = chain(stage, "planner")
    writer = stage.call("writer", by=planner)
    writer.start()
    writer.stop(writer.report(status="partial"))
    assert writer.hand_over(writer.report(status="partial"), totalTokens=1200)["remit"]["usage"]["tokens"] == 1200
    assert writer.row.tokens == 1200
    assert "token" in refuse(stage, "reviewer", by=planner)


def test_whoever_is_over_starts_nobody(stage: Stage) -> None:
    planner = chain(stage, "planner")
    planner.stop(planner.report(status="partial"))
    planner.hand_over(planner.report(status="partial"))
    assert "is finished" in refuse(stage, "reviewer", by=planner)


def test_whoever_is_late_starts_nobody(stage: Stage) -> None:
    planner = chain(stage, "planner")
    stage.change("UPDATE runs SET deadline_ms = 1000")
    assert "past its deadline" in refuse(stage, "reviewer", by=planner)


def test_a_call_without_a_prompt_is_refused(root: Path) -> None:
    """Codex takes items instead of a message: an agent that is started so would have no contract."""
    stage = Stage(root, "codex", quick=True)
    call = stage.event("PreToolUse", tool_name="spawn_agent", tool_use_id="c")
    call["tool_input"] = {"agent_type": "planner", "items": [{"type": "text", "text": "Go."}]}
    said = stage.send(call)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "message" in said["permissionDecisionReason"]
    assert stage.rows() == []


# --- below an agent that Remit has started ---------------------------------------------------------------------------


def enter_ticket(stage: Stage, agent: str = "planner") -> tuple[str, str]:
    """A delegation as the supervisor has it while its harness runs: token and session."""
    ticket = mint(bytes(range(32)))
    child = stage.call(agent)
    stage.change("UPDATE runs SET ticket = ?, owner = 'supervisor-1'", ticket.hash)
    stage.change("DELETE FROM hook_runs")
    assert hash_ticket(ticket.token) == ticket.hash
    return ticket.token, child.session_id


def test_below_a_harness_that_remit_has_started_the_ticket_tells_who_asks(stage: Stage) -> None:
    token, above = enter_ticket(stage)
    child = stage.call("reviewer", env={"REMIT_TICKET": token})
    assert (child.row.parent_id, child.row.depth) == (above, 2)
    with pytest.raises(Refused, match="may not call 'tester'"):
        stage.call("tester", env={"REMIT_TICKET": token})


@pytest.mark.parametrize("token", ["remit1_" + "x" * 43, "garbage", " "])
def test_a_forged_ticket_opens_nothing(stage: Stage, token: str) -> None:
    enter_ticket(stage)
    before = stage.rows()
    with pytest.raises(Refused, match="ticket"):
        stage.call("reviewer", env={"REMIT_TICKET": token})
    assert stage.rows() == before


@pytest.mark.parametrize("change", ["UPDATE runs SET state = 'finished'", "UPDATE runs SET deadline_ms = 1000"])
def test_a_ticket_ends_with_its_session(stage: Stage, change: str) -> None:
    token, _ = enter_ticket(stage)
    stage.change(change)
    with pytest.raises(Refused, match=r"is finished|past its deadline"):
        stage.call("reviewer", env={"REMIT_TICKET": token})


def test_the_command_of_a_user_is_in_the_path_of_what_it_starts(stage: Stage) -> None:
    """D14: while the session is at the command."""
    stage.call("tester")
    stage.send(stage.event("UserPromptSubmit", prompt="/research 12 in depth"))
    child = stage.call("planner")
    assert (child.row.path, child.row.depth) == (("orchestrator", "research", "planner"), 1)
    child.start()
    assert stage.call("writer", by=child).row.path == ("orchestrator", "research", "planner", "writer")
    stage.send(stage.event("UserPromptSubmit", prompt="And now /research it again."))
    assert stage.call("tester").row.path == ("orchestrator", "tester")


def test_the_callers_file_bounds_the_time_of_an_agent_that_it_calls(stage: Stage, root: Path) -> None:
    """D10."""
    file = root / ".opencode/agent/subagents/planner.md"
    limits = "delegation:\n  timeout_default: 40\n  timeout_max: 60\n"
    file.write_text(file.read_text().replace("delegation:\n", limits, 1))
    add_agent(root, "reviewer", more="timeout: 900\n")
    planner = stage.call("planner")
    planner.start()
    assert stage.call("writer", by=planner).row.details["timeout_s"] == 40
    assert stage.call("reviewer", by=planner).row.details["timeout_s"] == 60

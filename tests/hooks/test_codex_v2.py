"""Codex's multi-agent v2, as its hooks report it: encrypted prompts, agents with paths, follow-ups, verdicts."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from remit.hooks import stop_subagent
from remit.hooks.events import HookEvent
from remit.ledger.hook_runs import find_by_agent, has_message, note_doing, open_quickly, take_messages
from tests.support.hook_session import Stage

if TYPE_CHECKING:
    from pathlib import Path

SEALED = "gAAAAABnothing-that-can-be-read-here"
SPAWN, WAIT, FOLLOW_UP = "collaborationspawn_agent", "collaborationwait_agent", "collaborationfollowup_task"


class Session(Stage):
    """A session of Codex with a model that gets multi-agent v2."""

    def use(self, kind: str, tool: str, given: dict[str, Any], by: str = "", **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """An event about a tool, of the session itself or of an agent at a path."""
        who = self.describe(by) if by else {}
        self.calls += kind == "PreToolUse"
        event = self.event(kind, tool_name=tool, tool_input=given, tool_use_id=f"call{self.calls}", **{**who, **more})
        return self.send(event)

    def spawn(self, task: str, agent: str = "planner", by: str = "", **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """Call an agent."""
        given = {"agent_type": agent, "task_name": task, "message": SEALED, **more}
        return self.use("PreToolUse", SPAWN, given, by)

    def describe(self, path: str, agent: str = "planner") -> dict[str, Any]:
        """The agent at a path, with its session file, whose first line has the path."""
        file = self.folder / f"rollout{path.replace('/', '-')}.jsonl"
        meta = {"thread_spawn": {"agent_path": path}}
        if not file.exists():
            file.write_text(json.dumps({"payload": {"source": {"subagent": meta}}}, separators=(",", ":")) + "\n")
        return {"agent_id": f"id{path}", "agent_type": agent, "transcript_path": str(file)}

    def begin(self, path: str) -> str:
        """Let the agent at a path begin; what it is told."""
        answer = self.send(self.event("SubagentStart", **self.describe(path)))
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def stop(self, path: str, message: str, *, active: bool = False) -> dict[str, Any]:
        """Let the agent at a path send its last message."""
        own = self.describe(path)
        own["agent_transcript_path"] = own.pop("transcript_path")
        return self.send(self.event("SubagentStop", **own, last_assistant_message=message, stop_hook_active=active))

    def finish(self, path: str, message: str) -> dict[str, Any]:
        """Let an agent send the same until Remit lets it pass."""
        answers = [self.stop(path, message, active=round_ > 0) for round_ in range(3)]
        assert [answer.get("decision") for answer in answers] == ["block", "block", None]
        return answers[-1]

    def note_waiting(self) -> None:
        """Let the session wait for its agents."""
        assert self.use("PreToolUse", WAIT, {"timeout_ms": 30_000}) == {}


@pytest.fixture(name="codex")
def make(root: Path) -> Session:
    return Session(root, "codex", quick=True)


def refuse(answer: dict[str, Any]) -> str:
    """Why a call is refused."""
    said = answer["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    return str(said["permissionDecisionReason"])


def make_return(codex: Session, number: int, path: str) -> str:
    row = codex.rows()[number]
    returned = {
        "status": "completed", "summary": "The plan is written and says what is to be done, step by step.",
        "artifacts": [{"type": "plan", "path": path, "summary": "The plan"}],
        "metadata": {"session_id": row.session_id, "agent_type": "planner", "delegation_depth": 1,
                     "delegation_path": ["orchestrator", "planner"], "duration_seconds": 1},
        "errors": [], "next_steps": [],
    }  # fmt: skip
    return f"```json\n{json.dumps(returned)}\n```"


def test_a_sealed_prompt_stays_as_it_is_and_the_agent_is_instructed_when_it_begins(codex: Session) -> None:
    assert codex.spawn("plan") == {}
    (row,) = codex.rows()
    assert (row.agent, row.details["work"]) == ("planner", "/root/plan")
    told = codex.begin("/root/plan")
    assert row.session_id in told
    assert "What to send back" in told


def test_agents_of_one_kind_are_told_apart_by_their_paths(codex: Session) -> None:
    codex.spawn("first")
    codex.spawn("second")
    assert [each.details["task_path"] for each in codex.rows()] == ["/root/first", "/root/second"]
    first, second = (each.session_id for each in codex.rows())
    assert second in codex.begin("/root/second")  # which begins before the one that was called first
    assert first in codex.begin("/root/first")


def test_a_path_is_below_that_of_its_caller(codex: Session) -> None:
    codex.spawn("lead")
    codex.begin("/root/lead")
    assert codex.spawn("part", "writer", by="/root/lead") == {}
    assert codex.rows()[1].details["task_path"] == "/root/lead/part"
    assert codex.rows()[1].parent_id == codex.rows()[0].session_id


@pytest.mark.parametrize(
    ("tool", "given", "why"),
    [
        ("teamworkspawn_agent", {"message": "Go."}, "doesn't know the tool"),
        ("spawn_agent", {"message": SEALED}, "is encrypted"),
        (SPAWN, {"message": SEALED}, "no `task_name`"),
    ],
)
def test_a_call_whose_form_is_not_known_is_refused(codex: Session, tool: str, given: dict[str, str], why: str) -> None:
    assert why in refuse(codex.use("PreToolUse", tool, {"agent_type": "planner", **given}))
    assert codex.rows() == []


def test_a_path_that_is_taken_starts_nobody(codex: Session) -> None:
    codex.spawn("plan")
    codex.begin("/root/plan")
    assert "followup_task" in refuse(codex.spawn("plan"))
    assert len(codex.rows()) == 1


def test_a_follow_up_is_a_run_of_its_own_and_the_first_stays_accepted(codex: Session) -> None:
    codex.spawn("plan")
    codex.begin("/root/plan")
    codex.use("PreToolUse", "Bash", {"command": "echo '# Plan' > plan.md"}, by="/root/plan")
    (codex.root / "plan.md").write_text("# Plan\n")
    assert codex.stop("/root/plan", make_return(codex, 0, "plan.md")) == {}
    assert codex.use("PreToolUse", FOLLOW_UP, {"target": "plan", "message": SEALED}) == {}
    first, second = codex.rows()
    assert (first.status, second.state, second.details["resume_of"]) == ("completed", "running", first.session_id)
    told = codex.use("PostToolUse", "Bash", {"command": "true"}, by="/root/plan", tool_response="")
    assert second.session_id in told["hookSpecificOutput"]["additionalContext"]
    codex.note_waiting()
    codex.finish("/root/plan", make_return(codex, 1, "never.md"))
    assert [each.verdict for each in codex.rows()] == ["accepted", "fabricated"]


def test_a_task_for_an_agent_at_work_is_part_of_its_run(codex: Session) -> None:
    codex.spawn("plan")
    codex.begin("/root/plan")
    assert codex.use("PreToolUse", FOLLOW_UP, {"target": "/root/plan", "message": SEALED}) == {}
    assert len(codex.rows()) == 1


@pytest.mark.parametrize(
    ("tool", "target", "may"),
    [
        (FOLLOW_UP, "/root/other", False),
        (FOLLOW_UP, "/root", False),
        (FOLLOW_UP, "/root/unknown", False),
        (FOLLOW_UP, "part", True),
        ("collaborationsend_message", "/root/other", False),
        ("collaborationsend_message", "/root", True),
        ("collaborationsend_message", "part", True),
        ("multi_agent_v1send_input", "id/root/other", False),
        ("multi_agent_v1send_input", "id/root/lead/part", True),
    ],
)
def test_an_agent_gives_work_only_to_those_that_it_called(codex: Session, tool: str, target: str, *, may: bool) -> None:
    for task in ("lead", "other"):
        codex.spawn(task)
        codex.begin(f"/root/{task}")
    codex.spawn("part", "writer", by="/root/lead")
    codex.send(codex.event("SubagentStart", **codex.describe("/root/lead/part", "writer")))
    answer = codex.use("PreToolUse", tool, {"target": target, "message": SEALED}, by="/root/lead")
    if may:
        assert answer == {}
    else:
        assert "you didn't call" in refuse(answer)


# --- the verdict reaches the caller first ----------------------------------------------------------------------------


def lie(codex: Session) -> None:
    """Let an agent be rejected whose caller waits for it."""
    codex.spawn("plan")
    codex.begin("/root/plan")
    codex.note_waiting()
    codex.finish("/root/plan", make_return(codex, 0, "never.md"))
    assert codex.rows()[0].verdict == "fabricated"


def test_a_caller_that_waits_gets_the_verdict_with_the_answer(codex: Session) -> None:
    lie(codex)
    answer = codex.use("PostToolUse", WAIT, {"timeout_ms": 30_000}, tool_response='{"timed_out":false}')
    assert "was not accepted" in answer["reason"]


def test_a_caller_that_ends_is_sent_back_with_the_verdict_once(codex: Session) -> None:
    lie(codex)
    assert "was not accepted" in codex.send(codex.event("Stop", last_assistant_message="Done."))["reason"]
    assert codex.send(codex.event("Stop", last_assistant_message="Done.", stop_hook_active=True)) == {}


def test_a_new_prompt_brings_the_verdict(codex: Session) -> None:
    lie(codex)
    answer = codex.send(codex.event("UserPromptSubmit", prompt="Go on."))
    assert "was not accepted" in answer["hookSpecificOutput"]["additionalContext"]


def test_a_rejected_agent_ends_only_when_its_caller_is_sure_to_hear(codex: Session) -> None:
    lie(codex)
    db = open_quickly(str(codex.root / ".remit" / "ledger.db"))
    assert db is not None
    own = find_by_agent(db, codex.session, "id/root/plan")
    assert own is not None
    assert has_message(db, own)
    event = HookEvent(codex.event("SubagentStop", **codex.describe("/root/plan")), "codex")
    assert stop_subagent.delay_stop(event, db) == {}  # the caller waits
    codex.send(codex.event("Stop", last_assistant_message="Done.", stop_hook_active=True))
    take_messages(db, codex.session, None)
    assert stop_subagent.delay_stop(event, db) == {}  # the caller has heard


def test_while_the_caller_works_the_agent_is_held_back_and_past_the_limit_sent_back(codex: Session) -> None:
    lie(codex)
    file = str(codex.root / ".remit" / "ledger.db")
    db = open_quickly(file)
    assert db is not None
    db.execute("DELETE FROM notes WHERE name LIKE 'doing %'")  # the caller's model is asked just now
    event = HookEvent(codex.event("SubagentStop", **codex.describe("/root/plan")), "codex")
    assert stop_subagent.delay_stop(event, db, seconds=0.3)["decision"] == "block"
    ended: list[float] = []

    def hold() -> None:
        other = open_quickly(file)
        assert other is not None
        assert stop_subagent.delay_stop(event, other) == {}
        ended.append(time.monotonic())

    thread = threading.Thread(target=hold)
    thread.start()
    time.sleep(0.5)
    assert not ended
    told = time.monotonic()
    answer = codex.use("PostToolUse", "Bash", {"command": "true"}, tool_response="")
    assert "was not accepted" in answer["hookSpecificOutput"]["additionalContext"]
    thread.join(10)
    assert ended[0] >= told


def test_a_turn_that_just_ended_may_go_on_for_a_moment(codex: Session) -> None:
    lie(codex)
    db = open_quickly(str(codex.root / ".remit" / "ledger.db"))
    assert db is not None
    event = HookEvent(codex.event("SubagentStop", **codex.describe("/root/plan")), "codex")
    note_doing(db, codex.session, None, "idle")
    assert stop_subagent.delay_stop(event, db, seconds=0.3)["decision"] == "block"
    db.execute("UPDATE notes SET value = 'idle 1000' WHERE name LIKE 'doing %'")
    assert stop_subagent.delay_stop(event, db, seconds=0.3) == {}

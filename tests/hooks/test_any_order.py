"""Events in any order, repeated or missing: a run is never completed if its last return was not accepted."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from remit.ledger.runs import STATES
from tests.support.hook_session import Child, Refused, Stage, make_workspace
from tests.support.sample_sizes import choose

AGENTS = st.sampled_from(["planner", "reviewer", "writer", "tester", "Explore"])
WHICH = st.integers(0, 3)
ANSWERS = st.sampled_from(["true", "true", "partial", "lie", "nothing", "words", "api", "other"])
HELD = 2


class Harness(RuleBasedStateMachine):
    """A harness that loses events, repeats them and mixes them up."""

    template: Path
    completed = 0
    """How often its caller was told that the work is done."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=self.template.parent))
        self.root = self.folder / "project"
        shutil.copytree(self.template, self.root, symlinks=True)
        self.stage = Stage(self.root, quick=True)
        self.children: list[Child] = []
        self.written: dict[str, list[str]] = {}
        """The files that each has written with its own tools, by its call."""
        self.last: dict[str, bool] = {}
        """By session, whether the last word that was given for it bears out that the work is done."""
        self.states: dict[str, str] = {}

    def teardown(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.folder)

    def pick(self, which: int) -> Child:
        """One of those that were let in."""
        return self.children[which % len(self.children)]

    def find_session(self, child: Child, *, by_call: bool) -> str:
        """Whose answer one is, as a harness means it: by its call, or the last that it has called so."""
        key, value = ("tool_use_id", child.call_id) if by_call else ("agent_id", child.agent_id)
        query = f"SELECT session_id FROM hook_runs JOIN runs USING (session_id) WHERE {key} = ? ORDER BY created_ms"  # noqa: S608 - one of two
        found = self.stage.ask(query, value) or self.stage.ask(query.replace(key, "tool_use_id"), child.call_id)
        return str(found[-1][0])

    def make_answer(self, child: Child, kind: str, session_id: str) -> str:
        """What an agent says, as true as it is meant to be."""
        files = self.written[child.call_id]
        report = child.report(*files[-1:]) if kind == "true" else child.report("old.md")
        if kind == "partial":
            report = child.report(status="partial")
        texts = {
            "lie": child.report("old.md"), "nothing": "", "words": "It is done.", "api": "API Error: 500",
            "other": self.children[0].report(*self.written[self.children[0].call_id][-1:]),
        }  # fmt: skip
        return texts.get(kind, report.replace(child.row.session_id, session_id))

    def hear(self, session_id: str, child: Child, kind: str, text: str) -> None:
        """Remember what was said last of a delegation."""
        if not text.strip():
            return
        own = kind == "true" or (kind == "other" and child is self.children[0])
        self.last[session_id] = own and session_id in text

    # --- what a harness does ------------------------------------------------------------------------------------------

    @initialize(agent=AGENTS, behind=st.booleans())
    def begin(self, agent: str, behind: bool) -> None:  # noqa: FBT001 - drawn
        """The main session calls an agent first of all."""
        self.enter(agent, None, behind=behind)

    @rule(agent=AGENTS, behind=st.booleans())
    def call(self, agent: str, behind: bool) -> None:  # noqa: FBT001 - drawn
        """The main session calls an agent."""
        self.enter(agent, None, behind=behind)

    @precondition(lambda self: self.children)
    @rule(agent=AGENTS, which=WHICH, behind=st.booleans())
    def call_below(self, agent: str, which: int, behind: bool) -> None:  # noqa: FBT001 - drawn
        """An agent calls another."""
        self.enter(agent, self.pick(which), behind=behind)

    def enter(self, agent: str, by: Child | None, *, behind: bool) -> None:
        """Let an agent be started; of one that is refused nothing is left."""
        if len(self.children) > 3:
            return
        before = len(self.stage.rows())
        try:
            child = self.stage.call(agent, by=by, run_in_background=behind)
        except Refused:
            assert len(self.stage.rows()) == before
            return
        self.children.append(child)
        self.written[child.call_id] = []
        child.keep_note()

    @precondition(lambda self: self.children)
    @rule(which=WHICH)
    def start(self, which: int) -> None:
        """An agent begins, perhaps again."""
        self.pick(which).stage.send(self.pick(which).event("SubagentStart"))

    @precondition(lambda self: self.children)
    @rule(which=WHICH, name=st.sampled_from(["a.md", "b.md", "c.md"]))
    def write(self, which: int, name: str) -> None:
        """An agent writes a file."""
        child = self.pick(which)
        name = f"{child.call_id}-{name}"
        file = str(self.root / name)
        if not child.use("Write", file_path=file, content=f"# New\n{len(self.written[child.call_id])}\n"):
            self.written[child.call_id].append(name)

    @precondition(lambda self: self.children)
    @rule(which=WHICH, kind=ANSWERS, then=st.sampled_from(["", "stop", "hand over"]))
    def do_well(self, which: int, kind: str, then: str) -> None:
        """An agent does what it should, and then perhaps something else."""
        self.write(which, "well.md")
        self.stop(which, "true")
        if then == "stop":
            self.stop(which, kind)
        elif then:
            self.hand_over(which, kind, behind=False)

    @precondition(lambda self: self.children)
    @rule(which=WHICH, kind=ANSWERS)
    def stop(self, which: int, kind: str) -> None:
        """An agent says its last word, perhaps once more."""
        child = self.pick(which)
        child.use("Read", file_path=str(self.root / "old.md"))  # so that it is bound
        session_id = self.find_session(child, by_call=False)
        text = self.make_answer(child, kind, session_id)
        self.hear(session_id, child, kind, text)
        answer = child.stop(text)
        assert answer.keys() <= {"decision", "reason"}

    @precondition(lambda self: self.children)
    @rule(which=WHICH, kind=ANSWERS, behind=st.booleans())
    def hand_over(self, which: int, kind: str, behind: bool) -> None:  # noqa: FBT001 - drawn
        """The caller gets an answer, perhaps another one; or goes on without."""
        child = self.pick(which)
        if behind:
            assert child.respond(None, isAsync=True, status="async_launched") == {}
            return
        session_id = self.find_session(child, by_call=True)
        text = self.make_answer(child, kind, session_id)
        self.hear(session_id, child, kind, text)
        answer = child.respond(text or None)
        if child.agent == "Explore":
            assert answer == {}
            return
        result = json.loads(answer["hookSpecificOutput"]["updatedToolOutput"]["content"][0]["text"])
        row = self.stage.row(session_id)
        assert (result["status"], result["remit"]["verdict"]) == (row.status, row.verdict)
        assert row.state == "finished"
        if result["status"] == "completed":
            assert self.last[session_id], (kind, text)
            self.completed += 1

    @rule(
        which=WHICH, event=st.sampled_from(["startup", "resume", "compact", "end", "stop", "other", "fail", "cancel"])
    )
    def trouble(self, which: int, event: str) -> None:
        """A call fails, somebody asks for an end; the session stops, ends, or begins; or another one does."""
        if event == "fail" and self.children:
            self.stage.send(self.pick(which).make_call("PostToolUseFailure", error="It broke."))
        elif event == "cancel" and self.children:
            statement = "INSERT INTO events (at_ms, session_id, kind, details) VALUES (1, ?, 'cancel', '{}')"
            self.stage.change(statement, self.pick(which).row.session_id)
        else:
            stage = Stage(self.root, session="another", quick=True) if event == "other" else self.stage
            kind = {"end": "SessionEnd", "stop": "Stop"}.get(event, "SessionStart")
            said = stage.event(kind, source=event, reason="other", last_assistant_message="Hi.")
            answer = stage.send(said)
            if "decision" in answer:  # once, with the verdict on a return that the session got as it was
                assert event == "stop"
                assert "was not accepted" in answer["reason"]
                answer = stage.send(said)
            assert "decision" not in answer

    # --- what holds all the time --------------------------------------------------------------------------------------

    @invariant()
    def nothing_is_completed_that_was_not_accepted(self) -> None:
        """The ledger says completed only of what was accepted last."""
        verdicts: dict[str, Any] = dict(
            self.stage.ask("SELECT session_id, verdict FROM attempts ORDER BY session_id, number")
        )
        for row in self.stage.rows():
            if row.status == "completed":
                assert row.verdict in ("accepted", "repaired")
                assert verdicts[row.session_id] in ("accepted", "repaired")
                assert self.last[row.session_id]

    @invariant()
    def nothing_goes_back(self) -> None:
        """No delegation is ever in an earlier state again."""
        for row in self.stage.rows():
            assert STATES.index(row.state) >= STATES.index(self.states.get(row.session_id, "admitted"))
            self.states[row.session_id] = row.state

    @invariant()
    def nobody_is_sent_back_for_ever(self) -> None:
        """A return goes back as often as is set."""
        assert all(blocks <= HELD for (blocks,) in self.stage.ask("SELECT blocks FROM hook_runs"))

    @invariant()
    def nobody_is_deeper_than_three(self) -> None:
        """Three levels are allowed."""
        assert all(row.depth <= 3 for row in self.stage.rows())


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_workspace(tmp_path_factory.mktemp("any") / "template")


def play(template: Path, *, examples: int, steps: int) -> None:
    machine = type("Here", (Harness,), {"template": template})
    health = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=health,
            phases=[Phase.generate],
        ),
    )


@pytest.mark.slow
def test_in_any_order_nothing_is_completed_falsely(template: Path) -> None:
    play(template, examples=choose(4, 30), steps=25)


@pytest.mark.slow
def test_who_does_well_is_completed_here_too(template: Path) -> None:
    """Else nothing were tried above: chance alone may leave out what has to come together."""
    machine = type("Straight", (Harness,), {"template": template})()
    machine.begin("planner", behind=False)
    machine.write(0, "well.md")
    machine.stop(0, "true")
    machine.hand_over(0, "true", behind=False)
    assert machine.completed == 1
    machine.nothing_is_completed_that_was_not_accepted()
    machine.teardown()

"""Duplicate events, because a plugin and the settings both have the hooks: the second event changes nothing."""

from concurrent.futures import ThreadPoolExecutor

from tests.support.hook_session import Stage


def test_a_call_that_is_told_twice_is_one_delegation_with_one_prompt(stage: Stage) -> None:
    child = stage.call("planner")
    assert stage.send(child.make_call("PreToolUse")) == child.answer
    assert len(stage.rows()) == 1
    child.start()
    assert child.stop(child.report(status="partial", next_steps="Go on.")) == {}
    assert child.hand_over(child.report(status="partial", next_steps="Go on."))["status"] == "partial"


def test_an_agent_that_is_only_looked_on_is_entered_once(stage: Stage) -> None:
    child = stage.call("Explore")
    assert stage.send(child.make_call("PreToolUse")) == {}
    assert len(stage.rows()) == 1


def test_two_calls_are_two_delegations(stage: Stage) -> None:
    one, other = stage.call("planner"), stage.call("planner")
    assert one.session_id != other.session_id


def test_two_hooks_of_one_call_at_once_give_one_prompt(stage: Stage) -> None:
    if stage.quick:  # one process has one alarm
        return
    child = stage.call("planner")
    child.call_id = "toolu_both"
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(stage.send, [child.make_call("PreToolUse")] * 2)
    assert one == other != {}
    assert len(stage.rows()) == 2  # with the first


def test_a_stop_that_is_told_twice_is_one_block(stage: Stage) -> None:
    child = stage.call("planner")
    child.start()
    first = child.stop("Nothing.")
    child.stops = 0
    assert child.stop("Nothing.") == first
    assert first["decision"] == "block"
    assert stage.kinds(child.session_id).count("sent_back") == 1
    assert child.stop("Nothing.")["decision"] == "block"  # it says the same after it was sent back
    assert stage.kinds(child.session_id).count("sent_back") == 2


def test_two_hooks_of_one_stop_at_once_count_one_block(stage: Stage) -> None:
    if stage.quick:
        return
    child = stage.call("planner")
    child.start()
    event = child.event("SubagentStop", last_assistant_message="Nothing.", stop_hook_active=False)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(stage.send, [event] * 2)
    assert one["decision"] == other["decision"] == "block"
    assert stage.kinds(child.session_id).count("sent_back") == 1


def test_an_answer_that_is_handed_over_twice_is_the_same(stage: Stage) -> None:
    child = stage.call("planner")
    child.start()
    child.write("new.md")
    answer = child.report("new.md")
    assert child.stop(answer) == {}
    assert child.stop(answer) == {}
    assert child.hand_over(answer) == child.hand_over(answer)
    assert stage.kinds(child.session_id).count("finished") == 1

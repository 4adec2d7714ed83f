"""What the model plays in Claude Code."""

from __future__ import annotations

from remit.testing import call, fail, say
from tests.support.harness_hooks import (
    ask,
    hand,
)

NOTES = call("write", path="notes.md", content="# Notes\n")
"""Claude Code lets no subagent write a file whose name begins with `report`."""
PLAN = "specs/001_a_button/plans/implementation-001.md"
SCRIPTS = {
    "main": [
        call("bash", command="touch mine"),
        ask("work"),
        ask("lie"),
        ask("reach", "keeper"),
        ask("chat", "general-purpose", run_in_background=False),
        say("No return is owed."),
    ],
    "work": [NOTES, say("It is all done."), hand("notes.md")],
    "lie": [call("bash", command="true"), hand("never.md")],
    "reach": [
        call("bash", command="touch reached"),
        call("bash", command="/usr/bin/env 'to'uch reached"),
        call("bash", command="x=touch; $x reached"),
        call("write", path="private/key", content="x"),
        call("write", path=".claude/agents/other.md", content="x"),
        call("bash", command="echo x >> remit.toml"),
        call("bash", command="echo fine > allowed"),
        hand("allowed"),
    ],
    "unsure": [ask("doubt", "keeper", run_in_background=False), say("All is done.")],
    "doubt": [call("bash", command="ssh -o ConnectTimeout=1 nowhere.invalid 'touch x'"), hand("")],
    "chat": [say("Just an answer.")],
    "alone": [ask("work"), say("All is done.")],
    "deep": [ask("one", "first"), say("All is done.")],
    "one": [ask("two", "second"), hand("")],
    "two": [ask("three", "third"), hand("")],
    "three": [ask("four", "fourth"), ask("five", "first"), ask("six", "stranger"), hand("")],
    "four": [say("This was never to be said.")],
    "five": [say("This was never to be said.")],
    "six": [say("This was never to be said.")],
    "both": [ask("left").also("task", agent="scribe", prompt="[[play right]] Write the other."), say("All is done.")],
    "left": [
        call("bash", command="timeout 1 tail -f /dev/null; true"),
        call("write", path="left.md", content="# Left\n"),
        hand("left.md"),
    ],
    "right": [call("write", path="right.md", content="# Right\n"), hand("right.md")],
    "again": [
        ask("more"),
        call("SendMessage", to="${child}", summary="the other", message="Write the other, too.").grab(
            child=r"agentId: (\w+)"
        ),
        call("bash", command="sleep 4"),
        say("All is done."),
    ],
    "more": [
        call("write", path="left.md", content="# Left\n"),
        hand("left.md"),
        call("write", path="right.md", content="# Right\n"),
        hand("right.md"),
    ],
    "own": [call("bash", command="touch mine"), say("No return is owed.")],
    "all": [ask("chat", "general-purpose"), ask("work", "nobody"), say("All is done.")],
    "cut": [ask("dies"), ask("turns", "short"), say("All is done.")],
    "dies": [NOTES, fail(400, "no such thing", kind="invalid_request_error")],
    "turns": [call("write", path="more.md", content="# More\n"), call("bash", command="true")],
    "behind": [ask("work", run_in_background=True), call("bash", command="sleep 6"), say("All is done.")],
    "task": [
        call("task", agent="planner", prompt="[[play plan]] Plan it.\n\n- task_number: 1\n"),
        say("All is done."),
    ],
    "plan": [
        call("write", path=PLAN, content="# Plan\n\n## Implementation Phases\n\n### Phase 1: All [NOT STARTED]\n"),
        hand(PLAN, "plan"),
    ],
}

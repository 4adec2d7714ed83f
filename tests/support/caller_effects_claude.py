"""What subagents of Claude Code hand back, by what the caller asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.testing import call, say
from tests.support.harness_hooks import ask

if TYPE_CHECKING:
    from remit.testing import ScriptedTurn


WAIT = "for i in 1 2 3 4 5 6 7 8; do [ -e ready ] && break; timeout 1 tail -f /dev/null; done; timeout 3 tail -f /dev/null; true"
"""Until the agent is about to return, and then for as long as that takes."""
SCHEMA = (
    "{type: 'object', properties: {status: {type: 'string'}, summary: {type: 'string'}, artifacts: {type: 'array'}, "
    "metadata: {type: 'object'}, errors: {type: 'array'}, next_steps: {type: 'array'}}, required: ['status']}"
)
WORKFLOW = (
    "export const meta = {name: 'writing', description: 'Writes', phases: [{title: 'Write'}]}\n"
    "return await agent('[[play CHILD root=${root}]] Write it.', {agentType: 'scribe', label: 'x', schema: SCHEMA})\n"
)


class Row(NamedTuple):
    """One way in which an answer reaches its caller."""

    main: list[ScriptedTurn]
    """What the session plays; it starts the script `child`."""
    by: str = "message"
    """How the agent returns: by its last message, or by a tool."""
    file: str = ""
    """More lines of the agent's file."""
    callers: tuple[str, ...] = ("main",)
    args: tuple[str, ...] = ()
    environ: tuple[tuple[str, str], ...] = ()
    is_replaced: bool = False
    """Whether the caller gets the result in the place of the answer."""
    is_reported: bool = True
    """Whether an event of the harness brings the answer, and with it what the agent has used."""
    runs: int = 1
    """How many runs of the agent there are; the last one is the liar's."""


END = [say("It works in the background."), say("All is done."), say("All is done.")]
MOTHER = [ask("mother", "mother", run_in_background=False), *END]
ROWS = {
    "foreground": Row([ask("child"), say("All is done.")], is_replaced=True),
    "background in the file": Row([ask("child"), *END], file="background: true\n"),
    "background by the call": Row([ask("child", run_in_background=True), *END]),
    "in the middle of a turn": Row([ask("child", run_in_background=True), call("bash", command=WAIT), *END]),
    "nested": Row(MOTHER, callers=("main", "mother"), is_reported=False),
    "nested, its caller is over": Row([ask("brief", "mother"), *END], callers=("main", "brief")),
    "workflow with a schema": Row(
        [call("Workflow", script=WORKFLOW.replace("CHILD", "child").replace("SCHEMA", SCHEMA)), *END],
        by="StructuredOutput",
        environ=(("CLAUDE_CODE_WORKFLOWS", "1"),),
        is_reported=False,
    ),
    "hand-back": Row(
        [ask("child"), say("All is done.")],
        by="SubagentHandback",
        args=("--permission-mode=auto", "--allowedTools=Bash,Write,SubagentHandback"),
    ),
    "resumed by SendMessage": Row(
        [
            ask("child"),
            call("SendMessage", to="${child}", summary="more", message="Write the other, too.").grab(
                child=r"agentId: (\w+)"
            ),
            *END,
        ],
        runs=2,
    ),
}

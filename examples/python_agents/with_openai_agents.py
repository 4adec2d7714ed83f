"""An agent of the OpenAI Agents SDK, delegated to through Remit.

`adapt` makes a function of any such agent: it takes the prompt and gives the final message. Remit adds to the prompt
what has to be sent back, checks the return, and holds it against the files that changed.

In a process of its own, which a deadline ends like any other. In `remit.toml`:

    [runners.scribe]
    entry = "with_openai_agents:run"

    $ remit config trust
    $ remit run "Write report.md about the cache." --runner scribe

In the process of a program that delegates:

    async with Workspace.open() as ws:
        result = await ws.delegate("scribe", "Write report.md about the cache.", function=run)

Needs the package openai-agents beside Remit, and OPENAI_API_KEY. SCRIBE_MODEL names another model.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents import Agent, Runner, function_tool, set_tracing_disabled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MAX_TURNS = 30


def adapt(agent: Agent[Any], *, max_turns: int = MAX_TURNS) -> Callable[[str], Awaitable[str]]:
    """A function that Remit can delegate to."""

    async def run(prompt: str) -> str:
        result = await Runner.run(agent, prompt, max_turns=max_turns)
        return str(result.final_output)

    return run


@function_tool
def write_file(path: str, content: str) -> str:
    """Write a file of the workspace.

    Args:
        path: where it belongs, relative to the root of the workspace
        content: all that it shall hold

    """
    root = Path.cwd()
    file = (root / path).resolve()
    if not file.is_relative_to(root):
        return f"{path} lies outside of the workspace: nothing was written"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    return f"{path} was written"


set_tracing_disabled(disabled=True)  # what is delegated stays here, unless you want it elsewhere
run = adapt(
    Agent(
        name="scribe",
        instructions="You write reports into files, and say only what is in them.",
        tools=[write_file],
        model=os.environ.get("SCRIBE_MODEL", "gpt-5-mini"),
    )
)

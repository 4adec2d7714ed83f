"""A graph of LangGraph, delegated to through Remit.

`adapt` makes a function of any compiled graph that works on messages: it takes the prompt and gives the final message.
Remit adds to the prompt what has to be sent back, checks the return, and holds it against the files that changed.

In a process of its own, which a deadline ends like any other. In `remit.toml`:

    [runners.scribe]
    entry = "with_langgraph:run"

    $ remit config trust
    $ remit run "Write report.md about the cache." --runner scribe

In the process of a program that delegates:

    async with Workspace.open() as ws:
        result = await ws.delegate("scribe", "Write report.md about the cache.", function=run)

Needs the packages langgraph and langchain-openai beside Remit, and OPENAI_API_KEY. SCRIBE_MODEL names another model.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langgraph.graph.state import CompiledStateGraph

MAX_STEPS = 60
"""Of the graph: a turn of the model and the tools that it uses are two."""


def adapt(
    graph: CompiledStateGraph[Any, Any, Any, Any], *, max_steps: int = MAX_STEPS
) -> Callable[[str], Awaitable[str]]:
    """A function that Remit can delegate to."""

    async def run(prompt: str) -> str:
        state = await graph.ainvoke({"messages": [("user", prompt)]}, {"recursion_limit": max_steps})
        return str(state["messages"][-1].text)

    return run


def write_file(path: str, content: str) -> str:
    """Write a file of the workspace: its path relative to the root, and all that it shall hold."""
    root = Path.cwd()
    file = (root / path).resolve()
    if not file.is_relative_to(root):
        return f"{path} lies outside of the workspace: nothing was written"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    return f"{path} was written"


def make_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    """A model that uses its tools until it has nothing more to do."""
    model = ChatOpenAI(model=os.environ.get("SCRIBE_MODEL", "gpt-5-mini")).bind_tools([write_file])

    async def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode([write_file]))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    return graph.compile()


run = adapt(make_graph())

"""Claude Code's agent files: `.claude/agents/NAME.md`.

Facts: `tools` replaces the default tools; a pattern after a tool's name has no effect
(`Bash(git diff:*)` gives all of Bash); `Agent(a, b)` limits the calls of a main session, but not those of an agent that
another agent called. Of the standard's settings only name, description, model and tools have a place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.compile.source import lost, name_some, translate_model
from remit.agents.edits import quote, render_scalar
from remit.harnesses import claude
from remit.positions import escape_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.compile.source import CompileSource

FOLDER = claude.AGENT_FOLDERS[0]
KEYS: frozenset[str] = frozenset()
"""The keys that only this target converts."""
_CALL = claude.DELEGATING[0]


def render(source: CompileSource, comment: str) -> str:
    """Return the file's text."""
    lines = ["---", f"# {comment}", f"name: {render_scalar(source.name)}", f"description: {quote(source.description)}"]
    lines += _render_tools(source)
    model = translate_model(source)
    if model is not None:
        lines.append(f"model: {render_scalar(model)}")
    source.report_patterns()
    return "\n".join([*lines, "---", "", source.body])


def _render_tools(source: CompileSource) -> Iterator[str]:
    if source.tools is None:  # without `tools`, the agent has all tools, including the one that calls agents
        denied = [name for tool, name in {**claude.NAMES, **claude.OTHER_NAMES}.items() if source.forbids(tool)]
        denied += [] if source.targets else [_CALL]
        if denied:
            yield f"{claude.DENIED_KEY}: {', '.join(denied)}"
        for row in source.rows:
            if row.forbids_all and row.tool not in {*claude.NAMES, *claude.OTHER_NAMES, "task"}:
                source.report(lost(source.document, row.pointer, source.to, f"the tool {row.tool[:80]}"))
        source.report_calls()
        return
    tools = [claude.NAMES[tool] for tool in source.tools]
    for name in filter(source.has, source.other_tools):
        if name in claude.OTHER_NAMES:
            tools.append(claude.OTHER_NAMES[name])
        else:
            source.report(lost(source.document, f"/tools/{escape_key(name)}", source.to, f"the tool {name[:80]}"))
    tools += _render_call(source)
    source.report_calls(" once the agent was called itself")
    yield f"tools: {', '.join(tools)}" if tools else "tools: []"


def _render_call(source: CompileSource) -> list[str]:
    if source.calls_anyone:
        return [_CALL]
    patterns = [name for name in source.targets if "*" in name]
    if patterns:
        what = f"the pattern {name_some(patterns)} of agents to call"
        source.report(lost(source.document, "/delegation/can_delegate_to", source.to, what))
    plain = [name for name in source.targets if "*" not in name]
    return [f"{_CALL}({', '.join(plain)})"] if plain else []

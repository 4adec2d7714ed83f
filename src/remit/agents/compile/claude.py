"""Claude Code's agent files: `.claude/agents/NAME.md`.

Owns what is known of them: a list of tools that replaces the default ones; that a pattern behind a tool's name scopes
nothing (`Bash(git diff:*)` gives the whole of Bash); that `Agent(a, b)` limits whom the agent may call where it is the
main session, and does not where another agent called it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.compile.source import (
    calls_anyone,
    read_targets,
    tell_free_calls,
    tell_lost_limits,
    tell_unenforced,
    translate_model,
)
from remit.agents.compile.told import lost, name_some
from remit.agents.edits import quote, render_scalar
from remit.harnesses import claude
from remit.places import escape_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.compile.source import Source

FOLDER = claude.AGENT_FOLDERS[0]
_CALL = claude.DELEGATING[0]


def render(source: Source, comment: str) -> str:
    """The file's text."""
    lines = ["---", f"# {comment}", f"name: {render_scalar(source.name)}", f"description: {quote(source.description)}"]
    lines += _render_tools(source)
    model = translate_model(source)
    if model is not None:
        lines.append(f"model: {render_scalar(model)}")
    tell_unenforced(source)
    for key in ("temperature", "max_tokens", "timeout"):
        if source.document.get(key) is not None:
            source.tell(lost(source.document, f"/{key}", source.to, key))
    return "\n".join([*lines, "---", "", source.body])


def _render_tools(source: Source) -> Iterator[str]:
    targets = read_targets(source)
    tell_lost_limits(source, targets)
    if source.tools is None:  # nothing is said of tools: the agent has all of them, the one that calls agents too
        denied = [name for tool, name in {**claude.NAMES, **claude.OTHER_NAMES}.items() if source.forbids(tool)]
        denied += [] if targets else [_CALL]
        if denied:
            yield f"{claude.DENIED_KEY}: {', '.join(denied)}"
        tell_free_calls(source, targets)
        return
    tools = [claude.NAMES[tool] for tool in source.tools]
    for name, on in source.other_tools.items():
        if name in claude.OTHER_NAMES:
            tools += [claude.OTHER_NAMES[name]] if source.has(name) else []
        elif on:
            source.tell(lost(source.document, f"/tools/{escape_key(name)}", source.to, f"the tool {name[:80]}"))
    tools += _render_call(source, targets)
    tell_free_calls(source, targets, " once the agent was called itself")
    yield f"tools: {', '.join(tools)}" if tools else "tools: []"


def _render_call(source: Source, targets: list[str]) -> list[str]:
    if calls_anyone(targets):
        return [_CALL]
    plain = [name for name in targets if "*" not in name]
    if len(plain) < len(targets):
        what = f"the pattern {name_some([name for name in targets if name not in plain])} of targets"
        source.tell(lost(source.document, "/delegation/can_delegate_to", source.to, what))
    return [f"{_CALL}({', '.join(plain)})"] if plain else []

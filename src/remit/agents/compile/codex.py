"""Codex's agent files: `.codex/agents/NAME.toml`.

Owns what is known of them: name, description and instructions are required, and the rest is a layer of configuration
for the agent's session. There is a sandbox and no switch for a tool: an agent that may neither write nor run commands
gets the sandbox that cannot write, which Codex overrules with that of the session that calls the agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.compile.source import (
    read_targets,
    tell_free_calls,
    tell_lost_limits,
    tell_unenforced,
    translate_model,
)
from remit.agents.compile.told import lost, name_some, unenforced
from remit.agents.edits import quote
from remit.agents.profiles import TOOLS
from remit.harnesses import codex
from remit.lazy import lazy
from remit.places import escape_key

if TYPE_CHECKING:
    from remit.agents.compile.source import Source

FOLDER = codex.AGENT_FOLDERS[0]


def render(source: Source, comment: str) -> str:
    """The file's text. The instructions stand last: a person finds the settings above them."""
    lines = [f"# {comment}", f"name = {quote(source.name)}", f"description = {quote(source.description)}"]
    model = translate_model(source)
    if model is not None:
        lines.append(f"model = {quote(model)}")
    lines += _render_sandbox(source)
    tell_unenforced(source)
    targets = read_targets(source)
    tell_lost_limits(source, targets)
    tell_free_calls(source, targets)
    for key in ("temperature", "max_tokens", "timeout"):
        if source.document.get(key) is not None:
            source.tell(lost(source.document, f"/{key}", source.to, key))
    return "\n".join([*lines, f"{codex.INSTRUCTIONS_KEY} = {quote_lines(source.body)}", ""])


def _render_sandbox(source: Source) -> list[str]:
    tools = source.tools
    if tools is None:
        return []
    off = [tool for tool in TOOLS if tool not in tools]
    if off:
        source.tell(unenforced(source.document, "/tools", source.to, f"the agent from {name_some(off)}"))
    others = [name for name, on in source.other_tools.items() if on]
    if others:
        source.tell(
            lost(source.document, f"/tools/{escape_key(others[0])}", source.to, f"the tool {name_some(others)}")
        )
    return [] if {"write", "edit", "bash"} & {*tools} else [f'{codex.SANDBOX_KEY} = "{codex.READ_ONLY}"']


_CONTROLS = lazy(r"[\x00-\x08\x0b-\x1f\x7f]")
_QUOTES = lazy(r'"{3,}')


def quote_lines(text: str) -> str:
    """A text of several lines as TOML: as it stands where nothing in it could be misread, escaped otherwise."""
    if "'''" not in text and not _CONTROLS.search(text):
        return f"'''\n{text}'''"
    escaped = _QUOTES.sub(lambda run: '\\"' * len(run[0]), text.replace("\\", "\\\\"))
    escaped = _CONTROLS.sub(lambda char: f"\\u{ord(char[0]):04x}", escaped)
    return f'"""\n{escaped}"""'

"""Codex's agent files: `.codex/agents/NAME.toml`.

Facts as of version 0.169 (`codex-rs/core/src/agent/role.rs`): Name, description and instructions are
required. Every setting of Codex is accepted, but an agent takes few of them from its file: model, effort, verbosity,
personality, service tier, skills that are off, and features that are off. It has the sandbox of the session that calls
it: `sandbox_mode` has no effect. Without the feature `shell_tool` it has no shell, and so cannot read files either. In
multi-agent v2, which current models use, an agent can call others at any depth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.compile.source import lost, name_some, translate_model
from remit.agents.edits import quote
from remit.agents.profiles import TOOLS
from remit.harnesses import codex
from remit.lazy_regex import lazy
from remit.positions import escape_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.compile.source import CompileSource

FOLDER = codex.AGENT_FOLDERS[0]
KEYS: frozenset[str] = frozenset()
"""The keys that only this target converts."""
_IN_SHELL = ("read", "bash", "grep", "glob")
"""Tools that Codex has only as shell commands."""


def render(source: CompileSource, comment: str) -> str:
    """Return the file's text. The instructions are last, so that the settings above them are easy to find."""
    lines = [f"# {comment}", f"name = {quote(source.name)}", f"description = {quote(source.description)}"]
    model = translate_model(source)
    if model is not None:
        lines.append(f"model = {quote(model)}")
    lines += _render_tools(source)
    source.report_patterns()
    source.report_calls()
    if not source.targets:
        source.report_unenforced("/delegation/can_delegate_to", "the agent from calling others")
    return "\n".join([*lines, f"{codex.INSTRUCTIONS_KEY} = {quote_lines(source.body)}", ""])


def _render_tools(source: CompileSource) -> Iterator[str]:
    document, to = source.document, source.to
    off = [tool for tool in TOOLS if not source.has(tool)]
    if {*_IN_SHELL} <= {*off}:
        yield codex.NO_SHELL
        off = [tool for tool in off if tool not in _IN_SHELL]
    others = source.other_tools
    off += [name for name in others if not source.has(name)]
    off += [row.tool for row in source.rows if row.forbids_all and row.tool not in {*TOOLS, *others, "task"}]
    if off:
        source.report_unenforced(
            "/tools" if document.get("tools") else "/permissions", f"the agent from {name_some(off)}"
        )
    on = [name for name in others if source.has(name)]
    if on:
        source.report(lost(document, f"/tools/{escape_key(on[0])}", to, f"the tool {name_some(on)}"))


_CONTROLS = lazy(r"[\x00-\x08\x0b-\x1f\x7f]")
_QUOTES = lazy(r'"{3,}')


def quote_lines(text: str) -> str:
    """Render a text of several lines as TOML: as a literal string if possible, else escaped."""
    if "'''" not in text and not _CONTROLS.search(text):
        return f"'''\n{text}'''"
    escaped = _QUOTES.sub(lambda run: '\\"' * len(run[0]), text.replace("\\", "\\\\"))
    escaped = _CONTROLS.sub(lambda char: f"\\u{ord(char[0]):04x}", escaped)
    return f'"""\n{escaped}"""'

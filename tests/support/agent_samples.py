"""A complete agent file of each profile from `tests/data/agents`, and helpers that change it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from remit.agents.document import parse_document
from remit.agents.edits import MAX_ROUNDS, FixedText, apply_fixes
from remit.agents.rules.register import AgentFileContext, run_agent_rules
from tests.support.paths import DATA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from remit.model import Diagnostic

_FILES = DATA / "agents"
STANDARD = (_FILES / "standard.md").read_text()
STANDARD_PATH = ".opencode/agent/subagents/planner.md"
SIZES = {"docs/context/index.md": 900, "docs/context/return-format.md": 4_000, "docs/context/plans.md": 2_000}
CLAUDE = (_FILES / "claude.md").read_text()
CLAUDE_PATH = ".claude/agents/code-reviewer.md"
OPENCODE = (_FILES / "opencode.md").read_text()
OPENCODE_PATH = ".opencode/agent/code-reviewer.md"
CODEX = (_FILES / "codex.toml").read_text()
CODEX_PATH = ".codex/agents/code-reviewer.toml"
COMMAND = (_FILES / "command.md").read_text()
COMMAND_PATH = ".opencode/command/plan.md"
PATHS = {
    STANDARD: STANDARD_PATH, CLAUDE: CLAUDE_PATH, OPENCODE: OPENCODE_PATH, CODEX: CODEX_PATH, COMMAND: COMMAND_PATH,
}  # fmt: skip


class Sample(NamedTuple):
    """A file that violates a rule, and one that doesn't."""

    bad: str
    good: str = STANDARD
    path: str = STANDARD_PATH
    sizes: Mapping[str, int | None] = SIZES
    """The sizes of the context files."""
    fixed: str | None = None
    """The bad file after the fix, if a test compares it."""


def change(old: str, new: str, *, base: str = STANDARD) -> str:
    """Return a good file with one change. The old text must occur in it exactly once."""
    assert base.count(old) == 1, f"{old!r} occurs in the sample {base.count(old)} times"
    return base.replace(old, new)


def without(section: str, *, base: str = STANDARD) -> str:
    """Return a good file without one of its sections."""
    text, count = re.subn(rf"<{section}>\n.*?</{section}>\n\n?", "", base, flags=re.DOTALL)
    assert count == 1
    return text


def only(part: str) -> str:
    """Return the part of the good file between an opening tag and its closing tag."""
    found = re.search(rf"[ ]*<{part}[ >].*?</{part}>\n", STANDARD, flags=re.DOTALL)
    assert found
    return found[0]


def lint(
    text: str | bytes, path: str = STANDARD_PATH, *, sizes: Mapping[str, int | None] | None = None
) -> list[Diagnostic]:
    """Return all diagnostics of one file."""
    return run_agent_rules(AgentFileContext(parse_document(path, text), SIZES if sizes is None else sizes))


def fix_until_stable(text: str, check: Callable[[str], Iterable[Diagnostic]], *, unsafe: bool) -> FixedText:
    """Apply fixes until none is left, or until a text occurs again."""
    applied: list[Diagnostic] = []
    seen = {text}
    for _ in range(MAX_ROUNDS):
        fixed = apply_fixes(check(text), text, unsafe=unsafe)
        if not fixed.applied or fixed.text in seen:
            break
        seen.add(fixed.text)
        text = fixed.text
        applied.extend(fixed.applied)
    return FixedText(text, tuple(applied))

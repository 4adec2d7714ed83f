"""Rules on what Claude Code's agents may use under other names, in plugins or without checks; on their prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.rules.claude import CLAUDE, RESTRICTIONS, is_own_folder
from remit.agents.rules.field_lookup import list_names
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.harnesses import claude

if TYPE_CHECKING:
    from collections.abc import Iterator


@agent_rule("AGT205", profiles=CLAUDE, fix="unsafe")
def claude_restriction_ignored(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The agent's tools are restricted by a key that Claude Code doesn't read.

    Why: Claude Code ignores the key without a message, so the agent has every tool. `allowed-tools` is a key of
    commands and skills, `permission` is a key of opencode. `permissions` is only enforced where Claude Code's hooks
    call Remit, and is a warning.

    Bad: `allowed-tools: Read, Grep`

    Good: `tools: Read, Grep`

    Fix (unsafe): renames the key to the one that Claude Code reads.
    """
    document = case.document
    if "permissions" in case.values:
        yield AgentViolation(
            "Claude Code doesn't read permissions; they are enforced only if its hooks call Remit",
            "Install the hooks: remit hooks install claude. Remove tools from `tools` that the agent doesn't need.",
            document.key_span("/permissions"),
            "/permissions",
            "warning",
        )
    taken = set()
    for key, meant in RESTRICTIONS.items():
        if key not in case.values:
            continue
        pointer = f"/{key}"
        if meant in case.values or meant in taken:
            yield AgentViolation(f"Claude Code doesn't read {key}", f"Move it to {meant}, and remove this key.",
                                 document.key_span(pointer), pointer, "warning")  # fmt: skip
            continue
        taken.add(meant)
        can_fix = isinstance(case.values[key], str | list) and key != "permission"
        held = "every tool is allowed" if meant == "tools" else "no tool is denied"
        yield AgentViolation(
            f"Claude Code doesn't read {key}, so {held}",
            f"Move it to {meant}.",
            document.key_span(pointer),
            pointer,
            edits=edits.rename_key(document, pointer, meant) if can_fix else (),
            fix_message=f"Rename it to {meant}.",
        )


_NOT_IN_PLUGINS = ("permissionMode", "hooks", "mcpServers")


@agent_rule("AGT208", profiles=CLAUDE, severity="note")
def claude_plugin_key_ignored(case: AgentFileContext) -> Iterator[AgentViolation]:
    """An agent of a plugin sets `permissionMode`, `hooks` or `mcpServers`.

    Why: Claude Code ignores these three keys in the agents of a plugin. An `agents` folder outside of `.claude`
    counts as a plugin's.

    Bad: `permissionMode: plan` in `agents/reviewer.md`

    Good: the same in `.claude/agents/reviewer.md`
    """
    document = case.document
    ignored = [key for key in _NOT_IN_PLUGINS if case.get(key)] if not is_own_folder(document) else []
    if ignored:
        yield AgentViolation(f"Claude Code ignores {list_names(ignored)} in a plugin",
                             f"Move the agent to {claude.AGENT_FOLDERS[0]}, or remove the key.",
                             document.key_span(f"/{ignored[0]}"), f"/{ignored[0]}")  # fmt: skip


@agent_rule("AGT222", profiles=CLAUDE, severity="warning")
def claude_bypasses_permissions(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The agent runs without permission checks.

    Why: with `bypassPermissions`, the agent runs every command and writes every file without asking. A prompt
    injection in a file that it reads can do the same.

    Bad: `permissionMode: bypassPermissions`

    Good: `permissionMode: acceptEdits`, and permission rules for the tools that it needs
    """
    if case.get("permissionMode") == claude.FREE_MODE and is_own_folder(case.document):
        yield AgentViolation("the agent runs without permission checks", "Allow only what the agent needs.",
                             case.document.span_of("/permissionMode"), "/permissionMode")  # fmt: skip


@agent_rule("AGT204", profiles=CLAUDE, severity="warning")
def claude_prompt_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The file has no prompt.

    Why: the body is the agent's prompt. Without it, the agent has only its description.

    Bad: a file that ends with the second `---`

    Good: instructions below the frontmatter.
    """
    document = case.document
    if document.has_head and document.values and not document.text[document.body_start :].strip():
        yield AgentViolation("the agent has no prompt", "Write its instructions below the frontmatter.",
                             document.key_span("/name"))  # fmt: skip

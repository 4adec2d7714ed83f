"""Rules on fields and hooks of Claude Code's agents that Claude Code rejects, ignores, or reads differently.

Checked with version 2.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.profiles import COMMAND_KEYS, STANDARD_KEYS
from remit.agents.rules.field_table import (
    FieldCheck,
    FieldProblem,
    FieldSpec,
    FieldTable,
    RuleRow,
    add_table,
    find_title,
    list_names,
    show,
    suggest,
)
from remit.agents.rules.register import MAX_REPORTS, AgentFileContext, AgentViolation, agent_rule
from remit.harnesses import claude, opencode
from remit.lazy_regex import lazy
from remit.positions import escape_key
from remit.spelling import SURE, find_similar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.profiles import Profile
    from remit.model import Severity

CLAUDE: tuple[Profile, ...] = ("claude",)
RESTRICTIONS = {
    "allowed-tools": "tools", "allowedTools": "tools", "allowed_tools": "tools",
    "permission": "tools", "disallowed-tools": "disallowedTools", "disallowed_tools": "disallowedTools",
    "deniedTools": "disallowedTools", "denied-tools": "disallowedTools", "denied_tools": "disallowedTools",
}  # fmt: skip
"""Keys of other programs that restrict tools, with Claude Code's key."""


def is_own_folder(document: AgentDocument) -> bool:
    """Whether the file is in `.claude/agents`. Any other `agents` folder counts as a plugin's."""
    return claude.FOLDER in document.path.split("/")


MAX_DESCRIPTION = 1024
_NAME = lazy(r"[a-z0-9]{1,64}(?:-[a-z0-9]{1,64}){0,20}\Z")
_FAMILY = lazy(r"(?:claude[-_ .]{0,3})?(?P<family>sonnet|opus|haiku)[-_ .v]{0,3}[\d.]{0,8}\Z")
_DIGITS = lazy(r"\s{0,20}\+?0{0,20}[1-9]")


def _write_slug(_: AgentDocument, name: str) -> str:
    slug = re.sub(r"[^a-z0-9]{1,80}", "-", name.strip().lower()[:64]).strip("-")
    return slug if _NAME.match(slug) and name.strip().isascii() and "{" not in name else ""


def _is_named(document: AgentDocument) -> bool:
    """Whether Claude Code loads the file only if it has a name."""
    return document.has_head and is_own_folder(document)


def _make_name_problem(message: str, severity: Severity | None = None) -> FieldProblem:
    return FieldProblem("AGT201", message, "Use lowercase letters, digits and hyphens.", "Write {meant}.",
                        severity=severity, at_value=True)  # fmt: skip


def _make_description(effect: str, severity: Severity | None, *, is_own: bool) -> FieldSpec:
    problem = FieldProblem(
        "AGT202",
        f"description is {{state}}: {effect}",
        "Describe what the agent does and when to use it.",
        severity=severity,
        when=lambda document: is_own_folder(document) is is_own,
    )
    no_text = problem._replace(message=f"description is {{value}}: {effect}",
                               when=lambda file: file.has_head and is_own_folder(file) is is_own)  # fmt: skip
    return FieldSpec("description", "text", default=find_title, missing=problem, wrong_type=no_text)


def _is_counted(turns: object) -> bool:
    """Whether Claude Code reads the value as a number of turns above 0."""
    if isinstance(turns, str):
        return _DIGITS.match(turns) is not None
    is_number = type(turns) is int or (isinstance(turns, float) and turns.is_integer())
    return is_number and turns > 0  # type: ignore[operator]


def _is_effort(effort: object) -> bool:
    if isinstance(effort, str):
        return _DIGITS.match(effort) is not None or effort.lower() in (*claude.EFFORTS, "med")
    return type(effort) is int


def _find_model(model: str) -> str:
    """Return the model that an invalid name probably means, or "" if the name is or may be valid."""
    low = model.lower()[:200]
    if not low or low in claude.MODELS or low.startswith("arn:"):
        return ""
    provider, _, name = low.rpartition("/")
    if provider in ("anthropic", "claude") and name:
        return _find_model(name) or name
    if found := _FAMILY.match(low):
        return found["family"]
    return "" if "claude" in low or "/" in low else find_similar(low, claude.MODELS, least=SURE) or ""


def _read_model(_: AgentDocument, model: str) -> str:
    return _find_model(model.strip().removesuffix("[1m]"))


def _make_choice_field(key: str, code: str, choices: tuple[str, ...]) -> FieldSpec:
    problem = FieldProblem(code, "{key} is {value}, which Claude Code ignores", fix_message="Write {meant}.",
                           at_value=True)  # fmt: skip
    return FieldSpec(key, "text", choices, wrong_type=problem, wrong=problem)


_NO_LIST = FieldProblem("AGT226", "{key} is {value}, expected a list, so Claude Code ignores it", "Write a list.")
TABLE = FieldTable(
    "claude",
    fields=(
        FieldSpec(
            "name",
            "text",
            default=lambda document: edits.render_scalar(document.stem),
            missing=FieldProblem(
                "AGT200",
                "name is {state}, so Claude Code skips the file",
                "Use lowercase letters and hyphens.",
                when=_is_named,
            ),
            wrong_type=FieldProblem(
                "AGT200",
                "name is {value}, so Claude Code skips the file",
                "Write a string.",
                at_value=True,
                when=_is_named,
            ),
            checks=(
                FieldCheck(
                    _make_name_problem("the name {value} begins with a hyphen, so the agent is dropped", "error"),
                    lambda _, name: name.startswith("-"),
                    _write_slug,
                ),
                FieldCheck(
                    _make_name_problem("the name {value} has characters other than lowercase letters and hyphens"),
                    lambda _, name: not name.startswith("-") and not _NAME.match(name.strip()),
                    _write_slug,
                ),
                FieldCheck(
                    FieldProblem(
                        "AGT209",
                        "Claude Code names this agent {value}, not {stem}",
                        "Use the same name for the file and the agent.",
                        fix_message="Rename it to {meant}.",
                        at_value=True,
                    ),
                    lambda document, name: bool(_NAME.match(name.strip())) and name.strip() != document.stem,
                    lambda document, _: document.stem if _NAME.match(document.stem) else "",
                ),
            ),
        ),
        _make_description("Claude Code drops the agent", None, is_own=True),
        _make_description("the model can't tell when to use it", "warning", is_own=False),
        FieldSpec(
            "description",
            "text",
            checks=(
                FieldCheck(
                    FieldProblem(
                        "AGT203",
                        "the description has {length} characters, which every session loads",
                        "Keep what the agent does and when to use it; move the rest to the body.",
                    ),
                    lambda _, text: len(text) > MAX_DESCRIPTION,
                    words=lambda _, text: {"length": len(text)},
                ),
            ),
        ),
        FieldSpec(
            "model",
            "text",
            wrong_type=FieldProblem(
                "AGT220",
                "model is {value}, expected a string, so Claude Code ignores it",
                "Write an alias, such as sonnet.",
                at_value=True,
            ),
            checks=(
                FieldCheck(
                    FieldProblem(
                        "AGT220",
                        "{value} is neither a model alias nor a model id",
                        "Did you mean {meant}?",
                        fix_message="Write {meant}.",
                        at_value=True,
                    ),
                    lambda document, model: bool(_read_model(document, model)),
                    _read_model,
                ),
            ),
        ),
        _make_choice_field("permissionMode", "AGT221", claude.MODES),
        FieldSpec(
            "maxTurns",
            accepts=_is_counted,
            checks=(
                FieldCheck(
                    FieldProblem(
                        "AGT223",
                        "maxTurns is {value}, so the agent has no limit",
                        "Write a whole number above 0.",
                        at_value=True,
                    )
                ),
            ),
        ),
        _make_choice_field("memory", "AGT224", claude.MEMORIES),
        _make_choice_field("isolation", "AGT224", ("worktree",))._replace(accepts=lambda value: value == "remote"),
        _make_choice_field("effort", "AGT224", claude.EFFORTS)._replace(accepts=_is_effort),
        _make_choice_field("color", "AGT225", claude.COLORS),
        FieldSpec("mcpServers", "list", wrong_type=_NO_LIST._replace(when=is_own_folder)),
        FieldSpec("skills", "list", accepts=lambda value: isinstance(value, str), wrong_type=_NO_LIST),
        FieldSpec(
            "background",
            "boolean",
            wrong_type=FieldProblem(
                "AGT227",
                "background is {value}, which Claude Code ignores",
                "Write true or false.",
                at_value=True,
            ),
        ),
    ),
    keys=claude.FILE_KEYS,
    misspelled=FieldProblem("AGT206", "Claude Code has no key {key} and ignores it", "Did you mean {meant}?"),
    unknown=FieldProblem("AGT207", "Claude Code ignores these keys: {keys}", "Remove them, or keep them as comments."),
    renamed={**RESTRICTIONS, "permissions": ""},
    foreign=frozenset({*STANDARD_KEYS, *opencode.FILE_KEYS, *COMMAND_KEYS}),
    ignores_extensions=True,
)

add_table(TABLE, (
    RuleRow("AGT200", "claude-name-missing", fix="unsafe"),
    RuleRow("AGT201", "claude-name-format", "warning", "unsafe"),
    RuleRow("AGT202", "claude-description-missing", fix="unsafe"),
    RuleRow("AGT203", "claude-description-too-long", "note"),
    RuleRow("AGT206", "claude-key-misspelled", "warning", "unsafe"),
    RuleRow("AGT207", "claude-keys-ignored", "note"),
    RuleRow("AGT209", "claude-name-not-file", "note", "unsafe"),
    RuleRow("AGT220", "claude-model-unknown", "warning", "unsafe"),
    RuleRow("AGT221", "claude-mode-unknown", fix="unsafe"),
    RuleRow("AGT223", "claude-max-turns-invalid", "warning"),
    RuleRow("AGT224", "claude-value-unknown", "warning", "unsafe"),
    RuleRow("AGT225", "claude-color-unknown", "note", "unsafe"),
    RuleRow("AGT226", "claude-list-expected", "warning"),
    RuleRow("AGT227", "claude-background-invalid", "warning"),
))  # fmt: skip


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
        effect = "every tool is allowed" if meant == "tools" else "no tool is denied"
        yield AgentViolation(
            f"Claude Code doesn't read {key}, so {effect}",
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


@agent_rule("AGT210", profiles=CLAUDE, fix="safe")
def claude_hooks_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`hooks` isn't a table of events.

    Why: Claude Code then ignores all hooks in the file and reports it in its log only. It drops an agent that is
    passed as JSON, and older versions drop the file. An empty list is the usual case.

    Bad: `hooks: []`

    Good: no `hooks` at all, or `hooks:` with `PreToolUse:` under it

    Fix (safe): removes an empty list; the meaning stays the same.
    """
    hooks = case.get("hooks")
    if hooks is None or isinstance(hooks, dict) or (isinstance(hooks, str) and not hooks):
        return
    problem = "an empty list" if hooks == [] else show(hooks)
    hint = f"Write each event, such as {claude.BEFORE_TOOL}, with its hooks under it."
    yield AgentViolation(
        f"hooks is {problem}, expected a table of events, so no hook runs",
        "Remove it." if hooks == [] else hint,
        case.document.key_span("/hooks"),
        "/hooks",
        edits=edits.remove_key(case.document, "/hooks") if hooks == [] else (),
    )


@agent_rule("AGT211", profiles=CLAUDE, fix="unsafe")
def claude_hook_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """Claude Code can't read a hook.

    Why: one unknown event, or one hook that can't be read, makes Claude Code ignore all hooks of the agent.

    Bad: `hooks: {preToolUse: []}`, `hooks: {PreToolUse: [{hooks: [{command: ./check}]}]}`

    Good: `hooks: {PreToolUse: [{matcher: Bash, hooks: [{type: command, command: ./check}]}]}`

    Fix (unsafe): writes the event that was probably meant.
    """
    document = case.document
    hooks = case.get("hooks")
    for event, groups in list(hooks.items())[:MAX_REPORTS] if isinstance(hooks, dict) else ():
        pointer = f"/hooks/{escape_key(event)}"
        if event not in claude.HOOK_EVENTS:
            meant, hint = suggest(event, claude.HOOK_EVENTS)
            hint = hint if meant else f"Events are {claude.BEFORE_TOOL}, {claude.AFTER_TOOL}, {claude.STOP} and others."
            can_fix = meant and meant not in hooks
            yield AgentViolation(
                f"Claude Code has no event {show(event)}, so no hook runs",
                hint,
                document.key_span(pointer),
                pointer,
                edits=edits.rename_key(document, pointer, meant) if can_fix else (),
                fix_message=f"Rename it to {meant}.",
            )
        elif problem := _find_hook_problem(groups):
            yield AgentViolation(
                f"{event} {problem}, so no hook runs",
                "Write a list of matcher and hooks, each with a type.",
                document.key_span(pointer),
                pointer,
            )


def _find_hook_problem(groups: object) -> str:
    """Return what is wrong with the hooks of an event, or ""."""
    if not isinstance(groups, list):
        return f"is {show(groups)}, expected a list"
    for group in groups:
        inner = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(inner, list):
            return "has an item without a list of hooks"
        if not all(isinstance(hook, dict) and isinstance(hook.get("type"), str) for hook in inner):
            return "has a hook without a type"
    return ""

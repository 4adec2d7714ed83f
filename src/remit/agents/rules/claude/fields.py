"""The fields of Claude Code's agents: what it drops, what it ignores without a message."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.profiles import COMMAND_KEYS, STANDARD_KEYS
from remit.agents.rules.claude import RESTRICTIONS, is_own_folder
from remit.agents.rules.field_lookup import find_title
from remit.agents.rules.field_shapes import FieldCheck, FieldProblem, FieldSpec, FieldTable, RuleRow, add_table
from remit.harnesses import claude, opencode
from remit.lazy_regex import lazy
from remit.spelling import SURE, find_similar

if TYPE_CHECKING:
    from remit.agents.document import AgentDocument
    from remit.model import Severity

MAX_DESCRIPTION = 1024
_NAME = lazy(r"[a-z0-9]{1,64}(?:-[a-z0-9]{1,64}){0,20}\Z")
_FAMILY = lazy(r"(?:claude[-_ .]{0,3})?(?P<family>sonnet|opus|haiku)[-_ .v]{0,3}[\d.]{0,8}\Z")
_DIGITS = lazy(r"\s{0,20}\+?0{0,20}[1-9]")


def _write_slug(_: AgentDocument, name: str) -> str:
    slug = re.sub(r"[^a-z0-9]{1,80}", "-", name.strip().lower()[:64]).strip("-")
    return slug if _NAME.match(slug) and name.strip().isascii() and "{" not in name else ""


def _is_named(document: AgentDocument) -> bool:
    """Whether Claude Code takes the file for an agent by its name only."""
    return document.has_head and is_own_folder(document)


def _name_wrong(message: str, severity: Severity | None = None) -> FieldProblem:
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
    """Whether Claude Code reads a number of turns above 0."""
    if isinstance(turns, str):
        return _DIGITS.match(turns) is not None
    is_number = type(turns) is int or (isinstance(turns, float) and turns.is_integer())
    return is_number and turns > 0  # type: ignore[operator]


def _is_effort(effort: object) -> bool:
    if isinstance(effort, str):
        return _DIGITS.match(effort) is not None or effort.lower() in (*claude.EFFORTS, "med")
    return type(effort) is int


def _find_model(model: str) -> str:
    """What is meant by a word that is no name of a model; nothing where it is one, or may be one to a gateway."""
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


def _choose(key: str, code: str, choices: tuple[str, ...]) -> FieldSpec:
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
                    _name_wrong("the name {value} begins with a hyphen, so the agent is dropped", "error"),
                    lambda _, name: name.startswith("-"),
                    _write_slug,
                ),
                FieldCheck(
                    _name_wrong("the name {value} has characters other than lowercase letters and hyphens"),
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
        _choose("permissionMode", "AGT221", claude.MODES),
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
        _choose("memory", "AGT224", claude.MEMORIES),
        _choose("isolation", "AGT224", ("worktree",))._replace(accepts=lambda value: value == "remote"),
        _choose("effort", "AGT224", claude.EFFORTS)._replace(accepts=_is_effort),
        _choose("color", "AGT225", claude.COLORS),
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
    misspelt=FieldProblem("AGT206", "Claude Code has no key {key} and ignores it", "Did you mean {meant}?"),
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

"""Rules on the fields of Codex's agents.

Measured with version 0.166: Codex drops an agent for one unknown key or one value of the wrong type, and reports it in
a line that is easy to miss.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.rules.field_table import (
    FieldCheck,
    FieldProblem,
    FieldSpec,
    FieldTable,
    RuleRow,
    add_table,
    show,
)
from remit.harnesses import codex
from remit.lazy_regex import lazy

if TYPE_CHECKING:
    from remit.agents.document import AgentDocument

_DROPPED = "Codex drops the agent"
_NO_TEXT = FieldProblem("AGT402", f"{{key}} is {{value}}, expected a string, so {_DROPPED}", "Write a string.")
_NO_TABLE = FieldProblem("AGT402", f"{{key}} is {{value}}, expected a table, so {_DROPPED}", "Write a table.")
_NO_SANDBOX = FieldProblem("AGT403", f"sandbox_mode is {{value}}, so {_DROPPED}", fix_message="Write {meant}.",
                           at_value=True)  # fmt: skip


def _require(key: str, hint: str) -> FieldSpec:
    missing = FieldProblem("AGT400", f"{{key}} is {{state}}, so {_DROPPED}", hint)
    return FieldSpec(key, "text", missing=missing, wrong_type=_NO_TEXT)


def _render_name(document: AgentDocument) -> str:
    name = document.stem
    return "" if '"' in name or "\\" in name or not name.isprintable() else json.dumps(name, ensure_ascii=False)


def _add_line(document: AgentDocument, _: str, key: str, text: str) -> tuple[edits.Change, ...]:
    """Add a key as the first line of the file, or replace its empty value."""
    found = document.frontmatter
    if found is None:
        return ()
    if f"/{key}" in found.spans:
        return ((*found.spans[f"/{key}"], text),)
    at = 1 if document.text.startswith("\ufeff") else 0
    return ((at, at, f"{key} = {text}{edits.find_newline(document)}"),) if key not in document.values else ()


def _normalize_name(name: str) -> str:
    return name.strip().replace("_", "-").lower()


_NICKNAME = lazy(r"[A-Za-z0-9 _-]{1,200}\Z")


def _check_nicknames(names: object) -> str:
    """Return what is wrong with nicknames, or an empty string."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return "isn't a list of strings"
    plain = [name.strip() for name in names]
    if not plain:
        return "is empty"
    if not all(plain) or len(set(plain)) < len(plain):
        return "has a name that is blank or duplicate"
    invalid = next((name for name in plain if not _NICKNAME.match(name)), None)
    return f"has {show(invalid)}" if invalid is not None else ""


_NAME_DIFFERS = FieldCheck(
    FieldProblem(
        "AGT405",
        "Codex names this agent {value}, not {stem}",
        "Use the same name for the file and the agent.",
        at_value=True,
    ),
    lambda document, name: _normalize_name(name) not in ("", _normalize_name(document.stem)),
)
TABLE = FieldTable(
    "codex",
    fields=(
        _require("name", "Write the agent's name.")._replace(
            default=_render_name, checks=(_NAME_DIFFERS,)
        ),
        _require("description", "Describe what the agent does and when to use it."),
        _require(codex.INSTRUCTIONS_KEY, "Write the agent's instructions."),
        *(
            FieldSpec(key, "text", wrong_type=_NO_TEXT)
            for key in ("model", codex.EFFORT_KEY, "model_provider", "instructions", "personality")
        ),
        *(
            FieldSpec(key, "table", wrong_type=_NO_TABLE)
            for key in (codex.SERVERS_KEY, "model_providers", "skills")
        ),
        FieldSpec(codex.NICKNAMES_KEY, checks=(FieldCheck(
            FieldProblem("AGT404", f"{{key}} {{problem}}, so {_DROPPED}", "Write a list of different plain names."),
            lambda _, names: bool(_check_nicknames(names)),
            words=lambda _, names: {"problem": _check_nicknames(names)},
        ),)),
        FieldSpec(codex.SANDBOX_KEY, "text", codex.SANDBOXES, wrong_type=_NO_SANDBOX, wrong=_NO_SANDBOX),
    ),
    keys=(*codex.FILE_KEYS, *codex.SETTINGS),
    misspelled=FieldProblem("AGT401", "Codex has no key {key}, so it drops the agent", "Did you mean {meant}?"),
    unknown=FieldProblem("AGT401", "Codex has no key {key}, so it drops the agent",
                         "Remove it, or turn it into a comment."),
    other_names={
        "prompt": codex.INSTRUCTIONS_KEY, "system_prompt": codex.INSTRUCTIONS_KEY,
        "reasoning_effort": codex.EFFORT_KEY, "effort": codex.EFFORT_KEY, "sandbox": codex.SANDBOX_KEY,
        "mcpServers": codex.SERVERS_KEY, "nicknames": codex.NICKNAMES_KEY,
    },
    checks_empty=True,
    needs_whole=True,
    put=_add_line,
)  # fmt: skip

add_table(TABLE, (
    RuleRow("AGT400", "codex-field-missing", fix="unsafe"),
    RuleRow("AGT401", "codex-key-unknown", fix="unsafe"),
    RuleRow("AGT402", "codex-type-invalid"),
    RuleRow("AGT403", "codex-sandbox-unknown", fix="unsafe"),
    RuleRow("AGT404", "codex-nickname-invalid"),
    RuleRow("AGT405", "codex-name-not-file", "note"),
))  # fmt: skip

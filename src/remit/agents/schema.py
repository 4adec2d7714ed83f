"""The JSON Schema of a standard agent file's frontmatter, for editors and other programs.

Owns its form only: which keys, kinds, tools and budgets there are is said once, in `profiles`, and the rules read it
there too.
"""

from __future__ import annotations

from typing import Any

from remit.agents.profiles import CONTEXT_BUDGETS, KINDS, STANDARD_KEYS, TOOLS
from remit.model import MAX_DEPTH

VERSION = 1
REQUIRED = ("name", "version", "description", "mode", "agent_type", "temperature", "max_tokens", "timeout")


def render_agent_schema() -> dict[str, Any]:
    """The schema, as plain values."""
    known = {key: value for key, value in _properties().items() if key in STANDARD_KEYS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:remit:schema:agent-file:{VERSION}",
        "title": "Agent file",
        "description": "The frontmatter of an agent file.",
        "type": "object",
        "required": list(REQUIRED),
        "properties": known,
    }


def _properties() -> dict[str, Any]:
    return {
        "name": _text("The agent's name, which is its file's name.", pattern="^[a-z0-9]+(?:-[a-z0-9]+)*$"),
        "version": _text("A semantic version.", pattern=r"^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$"),
        "description": _text("What the agent does, in one or two sentences."),
        "mode": {"const": "subagent"},
        "agent_type": {"description": "What the agent is for: its kind.", "enum": list(KINDS)},
        "temperature": {"type": "number", "minimum": 0, "maximum": 1},
        "max_tokens": {"type": "integer", "exclusiveMinimum": 0},
        "timeout": _seconds("How long one run may take."),
        "tools": _tools(),
        "permissions": _table({"allow": _rows(), "deny": _rows()}, required=("allow", "deny")),
        "context_loading": _table({
            "strategy": {"enum": list(CONTEXT_BUDGETS)},
            "index": _text("The file that names what can be asked for."),
            "required": _texts(),
            "optional": _texts(),
            "max_context_size": {"type": "integer", "exclusiveMinimum": 0, "maximum": max(CONTEXT_BUDGETS.values())},
        }, required=("strategy",)),
        "delegation": _table({
            "max_depth": {"type": "integer", "minimum": 1, "maximum": MAX_DEPTH},
            "can_delegate_to": _texts(),
            "timeout_default": _seconds("How long a delegation may take where nothing else is said."),
            "timeout_max": _seconds("How long a delegation may take at most."),
        }),
        "lifecycle": _table({
            "stage": {"type": "integer", "minimum": 0},
            "command": _text("The command that calls the agent.", pattern=r"^/\S+$"),
            "return_format": _text("The file that says what the agent returns."),
        }),
        "model": _text("The model, where the harness should not choose."),
        "owner": {"description": "Who moves the task and commits.", "enum": ["agent", "remit"]},
        "retry": {"description": "Whether a lost run may be started again.", "enum": ["safe", "never"]},
        "return": {"description": "The format of the return.", "enum": ["standard", "hyper", "manifest"]},
    }  # fmt: skip


def _text(description: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any keyword of JSON Schema
    return {"description": description, "type": "string", "minLength": 1, **more}


def _seconds(description: str) -> dict[str, Any]:
    return {"description": f"{description} In seconds.", "type": "number", "exclusiveMinimum": 0}


def _texts() -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": True}


def _table(properties: dict[str, Any], *, required: tuple[str, ...] = ()) -> dict[str, Any]:
    table = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**table, "required": list(required)} if required else table


def _tools() -> dict[str, Any]:
    return {
        "description": "Which tools are switched on. A list of their names is read as well.",
        "anyOf": [
            {"type": "object", "propertyNames": {"enum": list(TOOLS)}, "additionalProperties": {"type": "boolean"}},
            {"type": "array", "items": {"enum": list(TOOLS)}},
        ],
    }


def _rows() -> dict[str, Any]:
    row = {
        "type": "object",
        "propertyNames": {"enum": list(TOOLS)},
        "additionalProperties": {"type": "array", "items": {"type": "string"}},
    }
    return {"type": "array", "items": row}

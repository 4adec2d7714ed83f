"""The JSON Schema of a standard agent file's frontmatter, for editors and other programs.

Fields, types and ranges come from the table that the rules use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.agents.profiles import CONTEXT_BUDGETS, TOOLS
from remit.agents.rules.standard_fields import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.agents.rules.field_table import FieldSpec

VERSION = 1
_TEXT = {"type": "string", "minLength": 1}
_TYPES: dict[str, dict[str, Any]] = {
    "any": _TEXT,
    "text": _TEXT,
    "path": _TEXT,
    "number": {"type": "number"},
    "whole": {"type": "integer"},
    "duration": {"type": "number"},
    "list": {"type": "array", "items": _TEXT, "uniqueItems": True},
    "table": {"type": "object", "additionalProperties": False},
}
_ROWS = {
    "type": "array",
    "items": {
        "type": "object",
        "propertyNames": {"enum": list(TOOLS)},
        "additionalProperties": {"type": "array", "items": {"type": "string"}},
    },
}
_OTHERS: dict[str, dict[str, Any]] = {
    "tools": {
        "description": "Which tools are switched on. A list of their names is read as well.",
        "anyOf": [
            {"type": "object", "propertyNames": {"enum": list(TOOLS)}, "additionalProperties": {"type": "boolean"}},
            {"type": "array", "items": {"enum": list(TOOLS)}},
        ],
    },
    "context_loading/max_context_size": {
        "type": "integer", "exclusiveMinimum": 0, "maximum": max(CONTEXT_BUDGETS.values()),
    },
    "permissions/allow": _ROWS,
    "permissions/deny": _ROWS,
}  # fmt: skip
"""Fields that separate rules check."""


def render_agent_schema() -> dict[str, Any]:
    """Return the schema as plain values."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:remit:schema:agent-file:{VERSION}",
        "title": "Agent file",
        "description": "The frontmatter of an agent file.",
        "type": "object",
        **_render_fields(spec for spec in TABLE.fields if "/" not in spec.path),
    }


def _render_fields(specs: Iterable[FieldSpec]) -> dict[str, Any]:
    listed = list(specs)
    required = [spec.key for spec in listed if spec.required]
    properties = {spec.key: _OTHERS.get(spec.path) or _render_field(spec) for spec in listed}
    return {"properties": properties, **({"required": required} if required else {})}


def _render_field(spec: FieldSpec) -> dict[str, Any]:
    limits = {
        "description": spec.about, "pattern": spec.pattern, "exclusiveMinimum": spec.above, "minimum": spec.least,
        "maximum": spec.most,
    }  # fmt: skip
    given = {key: value for key, value in limits.items() if value not in ("", None)}
    if spec.choices:
        return given | ({"enum": list(spec.choices)} if len(spec.choices) > 1 else {"const": spec.choices[0]})
    inside = [each for each in TABLE.fields if each.path.startswith(f"{spec.path}/")]
    return _TYPES[spec.type] | given | (_render_fields(inside) if inside else {})

"""Arguments: what a tool was given, held against what it takes.

Owns the checking against our own schemas, which use few of JSON Schema's words, and what is said where something does
not fit: a model that called a tool wrongly has to know how to call it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from remit.errors import UsageError
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NAMES = {
    "string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "object": "an object",
}  # fmt: skip
_SHOWN = 60


def check_arguments(given: Mapping[str, Any] | None, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, where they fit; what is null counts as left out."""
    found = {name: value for name, value in (given or {}).items() if value is not None}
    _check(found, schema, "")
    return found


def _check(value: Any, schema: Mapping[str, Any], name: str) -> None:  # noqa: ANN401 - any JSON value
    allowed = [each for each in list_kinds(schema) if _is_of(value, each["type"])]
    if not allowed:
        raise UsageError(f"{name} cannot be {_spell(value)}", hint=f"give {_describe_kinds(schema)}")
    schema = allowed[0]
    kind = schema["type"]
    if kind == "string":
        _check_text(value, schema, name)
    elif kind in ("integer", "number"):
        _check_number(value, schema, name)
    elif kind == "array":
        _check_length(value, schema.get("maxItems"), name)
        for at, each in enumerate(value):
            _check(each, schema["items"], f"{name}[{at}]")
    elif kind == "object":
        _check_object(value, schema, name)


def _describe_kinds(schema: Mapping[str, Any]) -> str:
    """The types that a schema allows, in words."""
    return " or ".join(_NAMES[each["type"]] for each in list_kinds(schema))


def list_kinds(schema: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The alternatives of a schema, each of one type."""
    kinds: Sequence[Mapping[str, Any]] = schema.get("anyOf", (schema,))
    return kinds


def _is_of(value: object, kind: str) -> bool:
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    types: dict[str, type] = {"string": str, "boolean": bool, "array": list, "object": dict}
    return isinstance(value, types[kind])


def _check_text(value: str, schema: Mapping[str, Any], name: str) -> None:
    if "enum" in schema and value not in schema["enum"]:
        raise UsageError(f"{name} cannot be {_spell(value)}", hint=did_you_mean(value[:_SHOWN], schema["enum"]))
    if len(value) < schema.get("minLength", 0):
        raise UsageError(f"{name} is empty", hint="leave it out, or say what it is")
    _check_length(value, schema.get("maxLength"), name, unit=" characters")
    if "pattern" in schema and re.search(schema["pattern"], value) is None:
        allowed = schema.get("description", f"a text that matches {schema['pattern']}")
        raise UsageError(f"{name} cannot be {_spell(value)}", hint=f"give {allowed}")


def _check_length(value: str | list[Any], most: int | None, name: str, *, unit: str = "") -> None:
    if most is not None and len(value) > most:
        raise UsageError(f"{name} has {len(value):,}{unit}", hint=f"give at most {most:,}")


def _check_number(value: float, schema: Mapping[str, Any], name: str) -> None:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and value < least:
        raise UsageError(f"{name} cannot be {_spell(value)}", hint=f"give at least {least}")
    if most is not None and value > most:
        raise UsageError(f"{name} cannot be {_spell(value)}", hint=f"give at most {most}")


def _check_object(value: Mapping[str, Any], schema: Mapping[str, Any], name: str) -> None:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", False)
    prefix = f"{name}." if name else ""
    for missing in (each for each in schema.get("required", ()) if each not in value):
        raise UsageError(f"{prefix}{missing} is missing", hint=f"it is {_describe_kinds(known[missing])}")
    if len(value) > schema.get("maxProperties", len(value)):
        raise UsageError(f"{name} has {len(value)} names", hint=f"give at most {schema['maxProperties']}")
    for key, each in value.items():
        is_needed = key in schema.get("required", ())
        if each == "" and is_needed and any(kind.get("minLength") for kind in list_kinds(known[key])):
            raise UsageError(f"{prefix}{key} is empty", hint="say what it is")
        if key in known:
            _check(each, known[key], f"{prefix}{key}")
        elif isinstance(others, dict):
            _check(each, others, f"{prefix}{key[:_SHOWN]}")
        else:
            told = f"there is no argument {_spell(f'{prefix}{key}')}"
            raise UsageError(told, hint=did_you_mean(key[:_SHOWN], tuple(known)))


def _spell(value: object) -> str:
    """A value as it was given, as much as tells which."""
    if isinstance(value, str):
        return f"'{value[:_SHOWN]}{'…' if len(value) > _SHOWN else ''}'"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return "true" if value is True else "false" if value is False else str(value)[:_SHOWN]

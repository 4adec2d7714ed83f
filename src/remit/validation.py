"""JSON Schema from types, and requests checked against them: the one place that uses msgspec.

A type is a `TypedDict` whose fields may carry a `msgspec.Meta`. Only interfaces that publish or check a schema load
this module.
"""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, NotRequired, Required, get_args, get_origin, get_type_hints

import msgspec

from remit.errors import UsageError
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Schema = dict[str, Any]
_SHOWN = 60


@cache
def build_schema(kind: Any) -> Schema:  # noqa: ANN401 - a TypedDict is no type to a type checker
    """The JSON Schema of a type, without references."""
    (top,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
    schema: Schema = _inline(top, parts)
    return schema


def build_input_schema(kind: Any) -> Schema:  # noqa: ANN401 - as above
    """The JSON Schema of what a request may have: no names but these."""
    schema = build_schema(kind)
    return {name: value for name, value in schema.items() if name != "title"} | {
        "required": [*schema.get("required", ())],
        "additionalProperties": False,
    }


def list_fields(kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - as above
    """The names of the fields of a type, or of a union of types; of any other object none."""
    return tuple(name for each in list_kinds(kind) for name in build_schema(each).get("properties", ()))


def list_kinds(kind: Any) -> tuple[Any, ...]:  # noqa: ANN401 - as above
    """The types of a union; of any other type itself."""
    return get_args(kind) if isinstance(kind, UnionType) else (kind,)


def build_named_schemas(kinds: Iterable[Any], template: str) -> tuple[list[Schema], dict[str, Schema]]:
    """References to types, by a template with `{name}` in it, and the schema of each type that they need."""
    references, parts = msgspec.json.schema_components(kinds, ref_template=template)
    return [*references], parts


def _inline(value: Any, parts: Mapping[str, Schema]) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_inline(each, parts) for each in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return _inline(parts[value["$ref"]], parts)
    return {name: _inline(each, parts) for name, each in value.items()}


def check_fields(given: Mapping[str, Any] | None, kind: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """The fields of a request, if they fit a type. A field that is null counts as not given."""
    fields = {name: value for name, value in (given or {}).items() if value is not None}
    known = build_schema(kind)["properties"]
    for name in (given or {}).keys() - known.keys():
        hint = did_you_mean(name[:_SHOWN], (*known,)) if known else "leave it out"
        raise UsageError(f"unknown field '{name[:_SHOWN]}'", hint=hint)
    try:
        checked: dict[str, Any] = msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"invalid request: {error}", hint=_describe_expected(fields, kind)) from None
    return checked


def _describe_expected(fields: Mapping[str, Any], kind: Any) -> str:  # noqa: ANN401 - as above
    """What the first field that doesn't fit may be; empty if one is missing."""
    types, schemas = get_type_hints(kind, include_extras=True), build_schema(kind)["properties"]
    for name, value in fields.items():
        try:
            field = types[name]
            msgspec.convert(value, get_args(field)[0] if get_origin(field) in (Required, NotRequired) else field)
        except msgspec.ValidationError:
            allowed = schemas[name].get("enum")
            return did_you_mean(str(value)[:_SHOWN], allowed) if allowed else schemas[name].get("description", "")
    return ""

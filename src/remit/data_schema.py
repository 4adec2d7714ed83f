"""The schema of a return's `data`: a JSON Schema (draft 2020-12) that a user gives for what an agent hands back."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from remit.errors import InputError
from remit.light_namedtuple import NamedTuple
from remit.model import DATA, NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jsonschema_rs import ValidationError

MAX_BYTES = 256 * 1024
MAX_DEPTH = 64
DRAFT = "https://json-schema.org/draft/2020-12/schema"
FORMATS = ("remit-path", "file-line")
"""The formats that Remit checks on disk: an existing file below the root, and an existing line of one (`a.py:12`)."""
_MAX_PROBLEMS = 20
_MAX_MESSAGE = 300
_MAX_VALUES = 20_000
"""In larger data, only the first problem is reported: the validator collects all of them before it returns one."""
_MAX_DIGITS = 9
_MAX_UNFOLDED = 200_000
"""How many subschemas a schema may have once each reference is replaced by what it refers to."""


class SchemaProblem(NamedTuple):
    """A place in `data` that breaks the schema."""

    pointer: str
    """The JSON Pointer, from the return's own root."""
    message: str


class DataSchema:
    """A schema that is ready to check values."""

    def __init__(self, schema: Mapping[str, Any], *, formats: Mapping[str, Callable[[str], bool]] = NOTHING) -> None:
        """`formats` check values on disk, by the names of `FORMATS`. Without one, a value of that format passes.

        Raise `InputError` if it isn't a schema.
        """
        from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError  # noqa: PLC0415 - typed results

        self.schema = schema
        _check_size(schema)
        _check_unfolded(schema)
        try:
            self._validator = Draft202012Validator(
                dict(schema),
                formats=dict(formats),
                validate_formats=True,
                retriever=_refuse_reference,
                pattern_options=RegexOptions(),  # linear in the length of the text
            )
        except (ValidationError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise InputError(f"the schema of 'data' isn't a JSON Schema: {reason}",
                             hint="write it in draft 2020-12, with all its parts in one file") from error  # fmt: skip

    def find_problems(self, data: object) -> Iterator[SchemaProblem]:
        """Return the places that break the schema, at most 20."""
        from jsonschema_rs import ValidationError  # noqa: PLC0415 - loaded with the schema

        errors: Iterable[ValidationError]
        try:
            if _is_large(data):
                self._validator.validate(data)
                return
            errors = islice(self._validator.iter_errors(data), _MAX_PROBLEMS)
        except ValidationError as error:
            errors = (error,)
        except ValueError:  # half a surrogate pair, which no JSON text in UTF-8 has
            yield SchemaProblem(f"/{DATA}", "it has text that isn't valid Unicode")
            return
        for found in errors:
            steps = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in found.instance_path)
            message = found.message if len(found.message) <= _MAX_MESSAGE else f"{found.message[:_MAX_MESSAGE]}..."
            yield SchemaProblem(f"/{DATA}{steps}", message)


def parse_schema(text: str) -> dict[str, Any]:
    """Return the schema in a JSON text. Raise `InputError` if it isn't an object of draft 2020-12."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise InputError(f"the schema is larger than {MAX_BYTES // 1024} kB", hint="make it smaller")
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the schema isn't valid JSON: {error}", hint="correct the file") from error
    if not isinstance(schema, dict):
        raise InputError("the schema isn't a JSON object", hint='write it like {"type": "object", ...}')
    draft = schema.get("$schema", DRAFT)
    if not isinstance(draft, str) or draft.rstrip("#") != DRAFT:
        raise InputError(f"the schema is of another draft: {draft!r}", hint=f'use "$schema": "{DRAFT}"')
    return schema


def check_schema(schema: object) -> dict[str, Any]:
    """Return a schema as plain JSON. Raise `InputError` if it isn't a schema that Remit can check."""
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the schema isn't JSON: {error}", hint="use only the types of JSON") from error
    parsed = parse_schema(text)
    DataSchema(parsed)
    return parsed


def _check_size(schema: object) -> None:
    """Refuse a schema that is nested too deep."""
    waiting = [(schema, 1)]
    while waiting:
        value, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise InputError(f"the schema is nested deeper than {MAX_DEPTH} levels", hint="use $defs and $ref")
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting += [(each, depth + 1) for each in inner]


def _check_unfolded(schema: Mapping[str, Any]) -> None:
    """Refuse a schema that takes exponential time: each of a few definitions refers to the next one twice."""
    named = {name: each for each in _walk(schema) if isinstance(each, dict)
             for key in ("$anchor", "$dynamicAnchor") if isinstance(name := each.get(key), str)}  # fmt: skip
    sizes: dict[int, int] = {}

    def measure(value: object) -> int:
        if not isinstance(value, dict | list):
            return 0
        if id(value) not in sizes:
            sizes[id(value)] = 0  # a schema that refers to itself is counted once
            inner = value if isinstance(value, list) else [*value.values(), *_find_targets(value, schema, named)]
            sizes[id(value)] = 1 + sum(map(measure, inner))
        return sizes[id(value)]

    try:
        size = measure(schema)
    except RecursionError:
        size = _MAX_UNFOLDED + 1
    if size > _MAX_UNFOLDED:
        raise InputError("the references of the schema unfold to too many subschemas", hint="make it smaller")


def _walk(schema: object) -> Iterator[object]:
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        yield value
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _find_targets(value: dict[str, Any], schema: object, named: Mapping[str, object]) -> Iterator[object]:
    """Return the subschemas that the references of one subschema lead to."""
    for key in ("$ref", "$dynamicRef"):
        reference = value.get(key)
        if not isinstance(reference, str):
            continue
        fragment = reference.partition("#")[2]
        target = schema
        for step in fragment.split("/")[1:] if fragment.startswith("/") else ():
            name = step.replace("~1", "/").replace("~0", "~")
            index = int(name) if name.isdecimal() and len(name) < _MAX_DIGITS else -1
            if isinstance(target, dict):
                target = target.get(name)
            else:
                target = target[index] if isinstance(target, list) and 0 <= index < len(target) else None
        yield target if not fragment or fragment.startswith("/") else named.get(fragment)


def _is_large(data: object) -> bool:
    return next(islice(_walk(data), _MAX_VALUES, None), None) is not None


def _refuse_reference(address: str) -> Any:  # noqa: ANN401 - the validator's protocol
    """Read nothing from elsewhere: a schema is one file."""
    raise ValueError(f"it refers to '{address}', and Remit reads no other file")

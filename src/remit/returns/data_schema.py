"""The schema of a return's `data`: a JSON Schema (draft 2020-12) that a user gives for what an agent hands back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.errors import InputError
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

KEY = "data"
MAX_BYTES = 256 * 1024
MAX_DEPTH = 64
DRAFT = "https://json-schema.org/draft/2020-12/schema"
FORMATS = ("remit-path", "file-line")
"""The formats that Remit checks on disk: an existing file below the root, and an existing line of one (`a.py:12`)."""
_MAX_PROBLEMS = 20
_MAX_MESSAGE = 300


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
        for count, error in enumerate(self._validator.iter_errors(data)):
            if count == _MAX_PROBLEMS:
                return
            steps = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in error.instance_path)
            message = error.message if len(error.message) <= _MAX_MESSAGE else f"{error.message[:_MAX_MESSAGE]}..."
            yield SchemaProblem(f"/{KEY}{steps}", message)


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


def _check_size(schema: object) -> None:
    """Refuse a schema that is nested too deep."""
    waiting = [(schema, 1)]
    while waiting:
        value, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise InputError(f"the schema is nested deeper than {MAX_DEPTH} levels", hint="use $defs and $ref")
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting += [(each, depth + 1) for each in inner]


def _refuse_reference(address: str) -> Any:  # noqa: ANN401 - the validator's protocol
    """Read nothing from elsewhere: a schema is one file."""
    raise ValueError(f"it refers to '{address}', and Remit reads no other file")

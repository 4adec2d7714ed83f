"""Shapes: declarations of the objects of a format, from which both diagnostics and JSON Schema are made.

A shape has two methods: `problems` yields each difference between a value and the shape, with its JSON Pointer, and
`to_json_schema` renders the shape. Nothing is coerced: "1" isn't 1, and true isn't a number. Repairs before the check
are `drop_empty_items` and `unquote_numbers`.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, Protocol

from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ProblemKind = Literal["missing", "expected", "type", "word", "blank", "range", "long", "escape"]


class ShapeProblem(NamedTuple):
    """A difference between a value and its shape. `expected` is a recommendation, the other kinds are errors."""

    kind: ProblemKind
    pointer: str
    message: str
    hint: str


class Shape(Protocol):
    """The methods of every shape."""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Yield each difference between the value and the shape."""
        ...

    def to_json_schema(self) -> dict[str, Any]:
        """Render the shape as JSON Schema 2020-12."""
        ...


_JSON_NAMES = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", list: "a list",
               dict: "an object", type(None): "null"}  # fmt: skip


def name_type(value: object) -> str:
    """Return the name of a JSON value's type for a message."""
    return _JSON_NAMES.get(type(value), type(value).__name__)


def name_field(pointer: str) -> str:
    """Return the last part of a JSON Pointer for a message."""
    parts = pointer.split("/")
    name = parts[-1]
    return f"{parts[-2]}[{name}]" if name.isdigit() and len(parts) > 1 else name or "the return"


def _wrong_type(value: object, pointer: str, wanted: str) -> ShapeProblem:
    return ShapeProblem("type", pointer, f"{name_field(pointer)} is {name_type(value)}, expected {wanted}",
                        f"Change {name_field(pointer)} to {wanted}.")  # fmt: skip


class TextShape(NamedTuple):
    """A text that isn't empty or only white space."""

    description: str = ""
    max_chars: int | None = None
    pattern: str | None = None
    """Only for the JSON Schema: a rule warns about other forms."""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Yield each difference between the value and the shape."""
        if type(value) is not str:
            yield _wrong_type(value, pointer, "a text")
        elif not value or value.isspace():
            yield ShapeProblem(
                "blank", pointer, f"{name_field(pointer)} is empty", f"Write text in {name_field(pointer)}."
            )
        elif self.max_chars is not None and len(value) > self.max_chars:
            message = f"{name_field(pointer)} has {len(value)} characters, the maximum is {self.max_chars}"
            yield ShapeProblem(
                "long", pointer, message, f"Shorten {name_field(pointer)} and put details in an artifact."
            )

    def to_json_schema(self) -> dict[str, Any]:
        """Render as JSON Schema."""
        schema: dict[str, Any] = {"type": "string", "minLength": 1, "pattern": r"\S"}
        if self.max_chars is not None:
            schema["maxLength"] = self.max_chars
        return _described(schema, self.description)


_SCHEME = lazy(r"[A-Za-z][A-Za-z0-9+.-]*+:")
_INSIDE = (
    r"^(?![/\\~])(?![A-Za-z][A-Za-z0-9+.-]*:)(?!(?:[^/\\]*[/\\])*\.\.(?:[/\\]|(?![\s\S])))(?=[\s\S]*\S)"
    r"[^\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]+(?![\s\S])"
)
_HIDDEN = lazy(r"[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


def find_escape(path: str) -> str | None:
    """Return how a path leads out of the project; None if it stays inside."""
    unified = path.replace("\\", "/")
    if _HIDDEN.search(path):
        return "contains control characters"
    if unified.startswith("/"):
        return "is absolute"
    if unified.startswith("~"):
        return "begins with a home folder"
    if _SCHEME.match(path):
        return "has a drive letter or a URL scheme"
    if ".." in unified.split("/"):
        return "leaves the project with '..'"
    return None


class PathShape(NamedTuple):
    """A path that stays inside the project, relative to any folder."""

    description: str = ""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Yield the reasons why the value isn't such a path."""
        yield from TextShape().problems(value, pointer)
        if type(value) is str and (how := find_escape(value)):
            yield ShapeProblem("escape", pointer, f"the path {how}", "Write the path relative to the project root.")

    def to_json_schema(self) -> dict[str, Any]:
        """Render as JSON Schema. The pattern refuses paths that lead out of the project."""
        return _described({"type": "string", "minLength": 1, "pattern": _INSIDE}, self.description)


class WordShape(NamedTuple):
    """A word of a closed list, in exactly this spelling."""

    words: tuple[str, ...]
    description: str = ""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Yield the difference between the value and the shape."""
        if type(value) is not str:
            yield _wrong_type(value, pointer, "a text")
        elif value not in self.words:
            yield ShapeProblem(
                "word",
                pointer,
                f"{name_field(pointer)} is {_quote(value)}, which isn't a valid value",
                f"Use one of: {', '.join(self.words)}.",
            )

    def to_json_schema(self) -> dict[str, Any]:
        """Render as JSON Schema."""
        return _described({"type": "string", "enum": list(self.words)}, self.description)


class FlagShape(NamedTuple):
    """True or false."""

    description: str = ""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Yield the difference between the value and the shape."""
        if type(value) is not bool:
            yield _wrong_type(value, pointer, "true or false")

    def to_json_schema(self) -> dict[str, Any]:
        """Render as JSON Schema."""
        return _described({"type": "boolean"}, self.description)


class NumberShape(NamedTuple):
    """A finite number, not negative; `whole` asks for an integer."""

    description: str = ""
    whole: bool = False

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Yield the difference between the value and the shape."""
        kind = type(value)
        if kind is not int and (kind is not float or self.whole):
            yield _wrong_type(value, pointer, "a whole number" if self.whole else "a number")
        elif value < 0 or (kind is float and not isfinite(value)):
            yield ShapeProblem(
                "range", pointer, f"{name_field(pointer)} is {value}", f"Set {name_field(pointer)} to 0 or more."
            )

    def to_json_schema(self) -> dict[str, Any]:
        """Render as JSON Schema."""
        return _described({"type": "integer" if self.whole else "number", "minimum": 0}, self.description)


class AnyShape(NamedTuple):
    """Any value. It is listed in the JSON Schema and never refused."""

    description: str = ""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401, ARG002 - any value is valid
        """Yield nothing: every value is valid."""
        yield from ()

    def to_json_schema(self) -> dict[str, Any]:
        """Render as JSON Schema."""
        return {"description": self.description}


class ListShape(NamedTuple):
    """A list whose items all have one shape."""

    item: Shape
    description: str = ""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Yield each difference between the value and the shape."""
        if type(value) is not list:
            yield _wrong_type(value, pointer, "a list")
            return
        for index, item in enumerate(value):
            yield from self.item.problems(item, f"{pointer}/{index}")

    def to_json_schema(self) -> dict[str, Any]:
        """Render as JSON Schema."""
        return _described({"type": "array", "items": self.item.to_json_schema()}, self.description)


class TextListShape(NamedTuple):
    """A text, or a list of texts, because agents use both. Optional; null and "" count as missing."""

    description: str = ""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Yield each difference between the value and the shape."""
        if type(value) is list:
            for index, item in enumerate(value):
                if type(item) is not str:
                    yield _wrong_type(item, f"{pointer}/{index}", "a text")
        elif value is not None and type(value) is not str:
            yield _wrong_type(value, pointer, "a text")

    def to_json_schema(self) -> dict[str, Any]:
        """Render as JSON Schema."""
        return _described({"type": ["string", "array", "null"], "items": {"type": "string"}}, self.description)


class ObjectShape(NamedTuple):
    """An object with required, recommended and optional keys. Other keys are kept.

    Null in a recommended or optional key counts as missing.
    """

    required: Mapping[str, Shape]
    expected: Mapping[str, Shape] = NOTHING
    optional: Mapping[str, Shape] = NOTHING
    description: str = ""

    @property
    def known(self) -> dict[str, Shape]:
        """All keys of the shape."""
        return {**self.required, **self.expected, **self.optional}

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Yield each difference between the value and the shape."""
        if type(value) is not dict:
            yield _wrong_type(value, pointer, "an object")
            return
        for key, shape in self.known.items():
            if value.get(key) is not None or (key in self.required and key in value):
                yield from shape.problems(value[key], f"{pointer}/{key}")
            elif key in self.required:
                yield ShapeProblem("missing", f"{pointer}/{key}", f"{key} is missing", f"Add {key}.")
            elif key in self.expected:
                yield ShapeProblem("expected", f"{pointer}/{key}", f"{key} is recommended, but missing", f"Add {key}.")

    def to_json_schema(self) -> dict[str, Any]:
        """Render as JSON Schema."""
        schema = {
            "type": "object",
            "required": list(self.required),
            "properties": {
                key: shape.to_json_schema() if key in self.required else _or_null(shape.to_json_schema())
                for key, shape in self.known.items()
            },
        }
        return _described(schema, self.description)


def drop_empty_items(value: object, shape: Shape, spans: dict[str, tuple[int, int]], pointer: str = "") -> bool:
    """Remove empty texts from all lists of texts; return whether there were any. `spans` is updated."""
    if isinstance(shape, ObjectShape) and isinstance(value, dict):
        inner = [(value[key], each, f"{pointer}/{key}") for key, each in shape.known.items() if key in value]
    elif isinstance(shape, ListShape) and isinstance(shape.item, ObjectShape) and isinstance(value, list):
        inner = [(item, shape.item, f"{pointer}/{index}") for index, item in enumerate(value)]
    elif isinstance(value, list) and isinstance(shape, ListShape | TextListShape):
        kept = [index for index, item in enumerate(value) if not (isinstance(item, str) and not item.strip())]
        for new, old in enumerate(kept):
            if f"{pointer}/{old}" in spans:
                spans[f"{pointer}/{new}"] = spans[f"{pointer}/{old}"]
        dropped = len(kept) < len(value)
        value[:] = [value[index] for index in kept]
        return dropped
    else:
        return False
    found = [drop_empty_items(item, each, spans, at) for item, each, at in inner]
    return any(found)


_PLAIN_NUMBER = lazy(r"(?:0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?")


def unquote_numbers(value: object, shape: Shape) -> bool:
    """Replace quoted plain numbers if the shape requires a number; return whether there were any.

    Only for numbers that the agent measures, because the instructions show their placeholders in quotes.
    """
    if not isinstance(shape, ObjectShape) or not isinstance(value, dict):
        return False
    found = False
    for key, each in shape.known.items():
        given = value.get(key)
        if not isinstance(each, NumberShape):
            found |= unquote_numbers(given, each)
        elif isinstance(given, str) and not each.whole and (plain := _PLAIN_NUMBER.fullmatch(given)):
            value[key] = float(given) if plain[1] else int(given)
            found = True
    return found


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    return {**schema, "type": [kind, "null"]} if isinstance(kind, str) else schema


def _described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"description": description, **schema} if description else schema


def _quote(value: str) -> str:
    return f"'{value}'" if len(value) <= 60 else f"'{value[:57]}…'"  # noqa: PLR2004 - fits in a message

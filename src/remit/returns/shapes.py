"""Shapes: one declaration gives the diagnostics and the JSON Schema.

Owns the small vocabulary in which a format says what its objects look like. A shape answers two questions: `problems`
(every way in which a value is wrong, each with its JSON Pointer) and `to_json_schema` (the same for other programs).
No coercion: "1" is not 1 and true is not a number. `unquote_numbers` is the one repair, before the check.
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
    """One way in which a value does not fit its shape; `expected` is advice, the other kinds are errors."""

    kind: ProblemKind
    pointer: str
    message: str
    hint: str


class Shape(Protocol):
    """What every shape can do."""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Every way in which the value is wrong."""
        ...

    def to_json_schema(self) -> dict[str, Any]:
        """Render the shape as JSON Schema 2020-12."""
        ...


_JSON_NAMES = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", list: "a list",
               dict: "an object", type(None): "null"}  # fmt: skip


def name_type(value: object) -> str:
    """Say in words what kind of JSON value this is."""
    return _JSON_NAMES.get(type(value), type(value).__name__)


def name_field(pointer: str) -> str:
    """The last part of a JSON Pointer, as people would say it."""
    parts = pointer.split("/")
    name = parts[-1]
    return f"{parts[-2]}[{name}]" if name.isdigit() and len(parts) > 1 else name or "the return"


def _wrong_type(value: object, pointer: str, wanted: str) -> ShapeProblem:
    return ShapeProblem("type", pointer, f"{name_field(pointer)} is {name_type(value)}, expected {wanted}",
                        f"Change {name_field(pointer)} to {wanted}.")  # fmt: skip


class TextShape(NamedTuple):
    """A text that says something: white space alone does not count."""

    description: str = ""
    max_chars: int | None = None
    pattern: str | None = None
    """For readers of the schema only: where a form is merely wanted, a rule warns."""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Every way in which it is not."""
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
    """Say how a path leaves the project, or None where it stays inside."""
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
    """A path that stays inside the project, whatever it is resolved against."""

    description: str = ""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Why it is no such path."""
        yield from TextShape().problems(value, pointer)
        if type(value) is str and (how := find_escape(value)):
            yield ShapeProblem("escape", pointer, f"the path {how}", "Write the path relative to the project root.")

    def to_json_schema(self) -> dict[str, Any]:
        """Render as JSON Schema; the pattern refuses what leaves the project by its spelling."""
        return _described({"type": "string", "minLength": 1, "pattern": _INSIDE}, self.description)


class WordShape(NamedTuple):
    """One of a closed list of words, spelled exactly so."""

    words: tuple[str, ...]
    description: str = ""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Why it is not."""
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
        """Why it is not."""
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
        """Why it is not."""
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
    """A value that is passed on as it is: named for readers of the schema, not worth sending a return back for."""

    description: str = ""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401, ARG002 - nothing is held against it
        """Nothing is wrong."""
        yield from ()

    def to_json_schema(self) -> dict[str, Any]:
        """Render as JSON Schema."""
        return {"description": self.description}


class ListShape(NamedTuple):
    """A list whose items all have one shape."""

    item: Shape
    description: str = ""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Every way in which it is not."""
        if type(value) is not list:
            yield _wrong_type(value, pointer, "a list")
            return
        for index, item in enumerate(value):
            yield from self.item.problems(item, f"{pointer}/{index}")

    def to_json_schema(self) -> dict[str, Any]:
        """Render as JSON Schema."""
        return _described({"type": "array", "items": self.item.to_json_schema()}, self.description)


class TextListShape(NamedTuple):
    """A text, or a list of texts: writers disagree, readers take both. Optional; null and "" say nothing."""

    description: str = ""

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Why it is neither."""
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
    """An object: what it must have, what it should have, what it may have. Keys beyond these are kept.

    null says that there is nothing, so it is as good as leaving out what may be left out.
    """

    required: Mapping[str, Shape]
    expected: Mapping[str, Shape] = NOTHING
    optional: Mapping[str, Shape] = NOTHING
    description: str = ""

    @property
    def known(self) -> dict[str, Shape]:
        """All keys that the shape knows."""
        return {**self.required, **self.expected, **self.optional}

    def problems(self, value: Any, pointer: str) -> Iterator[ShapeProblem]:  # noqa: ANN401 - any JSON value
        """Every way in which it is not."""
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
    """Remove empty texts from every list of texts; whether there were any. `spans` follows the items that stay."""
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
    """Replace a quoted plain number by the number, where the shape asks for one; whether there were any.

    Only for measured numbers, whose blanks the instructions print in quotes: a depth is given as a number.
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
    return f"'{value}'" if len(value) <= 60 else f"'{value[:57]}…'"  # noqa: PLR2004 - what fits a message

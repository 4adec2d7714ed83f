"""What a format is made of: data, and two functions between its wire object and the canonical Return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.model import FormatName, Return, Status
    from remit.returns.shapes import ObjectShape


class Format(NamedTuple):
    """One way of spelling a return."""

    name: FormatName
    title: str
    shape: ObjectShape
    statuses: Mapping[str, Status]
    """The words it has for a status, and what they mean."""
    status_at: tuple[str, ...]
    """The keys that lead to the status word."""
    essential: frozenset[str]
    """Top-level keys that decide what the return means: cut off there, it is worth nothing."""
    read: Callable[[dict[str, Any]], Return]
    """Build the canonical return; only for objects that fit the shape."""
    write: Callable[[Return], dict[str, Any]]
    paths: Callable[[dict[str, Any]], list[tuple[str, str]]]
    """The (JSON Pointer, path) of every file that the object claims; tolerant of a wrong shape."""
    schema_extras: Mapping[str, Any]
    """What the JSON Schema says beyond the shape."""

    def word(self, payload: Mapping[str, Any]) -> object:
        """The status as written; None where there is none."""
        value: object = payload
        for key in self.status_at:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def is_like(self, payload: Mapping[str, Any]) -> bool:
        """Whether an object tries to be a return of this format."""
        return self.status_at[0] in payload and self.overlap(payload) > 1

    def overlap(self, payload: Mapping[str, Any]) -> int:
        """How many of the required keys an object has."""
        return len(self.shape.required.keys() & payload.keys())


def split(mapping: Mapping[str, Any], known: Mapping[str, object]) -> dict[str, Any]:
    """The part of an object that its shape does not know, and what is null: both come back as they were."""
    return {key: value for key, value in mapping.items() if key not in known or value is None}

"""The parts of a format: data, and two functions between its JSON object and the canonical Return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.model import FormatName, Return, Status
    from remit.returns.shapes import ObjectShape


class Format(NamedTuple):
    """A format of returns."""

    name: FormatName
    title: str
    shape: ObjectShape
    statuses: Mapping[str, Status]
    """Its status words and their canonical status."""
    status_at: tuple[str, ...]
    """The path of keys to the status word."""
    essential: frozenset[str]
    """Top-level keys that decide the meaning of a return: without one of them, a truncated return is useless."""
    read: Callable[[dict[str, Any]], Return]
    """Builds the canonical return from an object that has the shape."""
    write: Callable[[Return], dict[str, Any]]
    paths: Callable[[dict[str, Any]], list[tuple[str, str]]]
    """Returns (JSON Pointer, path) of each claimed file, also for objects of another shape."""
    schema_extras: Mapping[str, Any]
    """Additions to the JSON Schema."""

    def word(self, payload: Mapping[str, Any]) -> object:
        """Return the status as written; None if there is none."""
        value: object = payload
        for key in self.status_at:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def is_like(self, payload: Mapping[str, Any]) -> bool:
        """Whether an object tries to be a return of this format."""
        return self.status_at[0] in payload and self.overlap(payload) > 1

    def overlap(self, payload: Mapping[str, Any]) -> int:
        """Count the required keys in an object."""
        return len(self.shape.required.keys() & payload.keys())


def split(mapping: Mapping[str, Any], known: Mapping[str, object]) -> dict[str, Any]:
    """Return the members of an object that aren't in its shape, and nulls. Writing the return restores them."""
    return {key: value for key, value in mapping.items() if key not in known or value is None}

"""A `NamedTuple` that doesn't evaluate annotations.

`typing.NamedTuple` compiles the annotation of every field, which took a seventh of a hook's time and isn't needed at
run time. Type checkers see the class of the standard library.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False  # typing itself would cost 6 ms
__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    _OWN = frozenset({"__module__", "__name__", "__annotations__"})

    class _Maker(type):
        """Creates a named tuple from the body of a class."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, object]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.get("__annotations__", {})
            defaults = [body[field] for field in fields if field in body]
            if [*fields][len(fields) - len(defaults) :] != [field for field in fields if field in body]:
                raise TypeError(f"in {name} a field without a default follows one with a default")
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])  # noqa: PYI024 - as above
            made.__annotations__ = made.__new__.__annotations__ = fields
            for key, value in body.items():
                if key not in _OWN and key not in fields:
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Maker):
        """The base class of named tuples."""

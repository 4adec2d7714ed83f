"""The converter of tables in remit.toml: checks each value, and raises a `ConfigError` with a hint if it is invalid.

The annotations of a table's class say which type each value has; a `ValueRule` adds choices, limits and an example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from remit.errors import ConfigError
from remit.light_namedtuple import NamedTuple
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MOST = 10**9


class ValueRule(NamedTuple):
    """The requirements on a value in addition to its type."""

    example: object = None
    """The example in the hint."""
    words: tuple[str, ...] = ()
    """The valid values of a string."""
    least: int = 0
    """The minimum of an integer."""
    most: int = _MOST
    hint: str = ""
    """The hint for a number that is out of range, instead of the example."""
    read: Callable[[object, str], Any] | None = None
    """Converts the value, given the name of the setting. The other fields then have no effect."""


_NO_RULE = ValueRule()
_Table = TypeVar("_Table", bound=NamedTuple)


def read_settings(kind: type[_Table], values: Mapping[str, Any], table: str, rules: Mapping[str, ValueRule]) -> _Table:
    """Return a table as an instance of its class. Keys may be spelled with hyphens; missing keys get their default."""
    given = {key.replace("-", "_"): value for key, value in values.items()}
    for key in given:
        check_name(key, kind._fields, f"a setting of [{table}]")
    types = kind.__annotations__  # strings, because annotations are not evaluated
    read = {
        key: _read(value, f"{table}.{key}", types[key].removesuffix(" | None"), rules.get(key, _NO_RULE))
        for key, value in given.items()
    }
    return kind._make(read.get(key, kind._field_defaults[key]) for key in kind._fields)


def _read(value: object, name: str, kind: str, rule: ValueRule) -> object:
    if rule.read is not None:
        return rule.read(value, name)
    if rule.words:
        return read_word(value, name, rule.words)
    return _READERS[kind](value, name, rule)


def check_name(name: str, known: tuple[str, ...], what: str) -> None:
    """Raise a `ConfigError` for an unknown name."""
    if name not in known:
        raise ConfigError(f"'{name}' isn't {what}", hint=did_you_mean(name, known))


def read_table(values: object, name: str, example: str = "") -> dict[str, Any]:
    """Return a table with any content."""
    if not isinstance(values, dict):
        hint = f"write it as {_last(name)} = {example}" if example else f"write it as [{name}]"
        raise ConfigError(f"{name if '.' in name else f'[{name}]'} isn't a table", hint=hint)
    return values


def read_texts(values: object, name: str, example: object) -> tuple[str, ...]:
    """Return a list of strings."""
    if not isinstance(values, list) or not all(isinstance(value, str) and "\0" not in value for value in values):
        raise ConfigError(f"{name} isn't a list of strings", hint=f'write it as {_last(name)} = ["{example}"]')
    return tuple(values)


def read_pairs(values: object, name: str, example: object) -> dict[str, str]:
    """Return a table of strings."""
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise ConfigError(f"{name} isn't a table of strings", hint=f"write it as {_last(name)} = {example}")
    return dict(values)


def read_word(value: object, name: str, known: tuple[str, ...]) -> str:
    """Return one of several valid strings."""
    if not isinstance(value, str) or value not in known:
        raise ConfigError(f"{name} is {value!r}", hint=f"use one of {', '.join(known)}")
    return value


def _read_text(value: object, name: str, rule: ValueRule) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ConfigError(f"{name} isn't a string", hint=f'write it as {_last(name)} = "{rule.example}"')
    return value


def _read_number(value: object, name: str, rule: ValueRule) -> float:
    """Return a number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST:
        raise ConfigError(f"{name} isn't a number above 0", hint=f"write it as {_last(name)} = {rule.example}")
    return value


def _read_whole(value: object, name: str, rule: ValueRule) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not rule.least <= value <= rule.most:
        to = "" if rule.most == _MOST else f" to {rule.most}"
        hint = rule.hint or f"write it as {_last(name)} = {rule.example}"
        raise ConfigError(f"{name} isn't a whole number from {rule.least}{to}", hint=hint)
    return value


def _read_switch(value: object, name: str, _: ValueRule) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{name} is neither true nor false", hint=f"write it as {_last(name)} = true")
    return value


_READERS: Mapping[str, Callable[[object, str, ValueRule], object]] = {
    "str": _read_text,
    "int": _read_whole,
    "float": _read_number,
    "bool": _read_switch,
    "tuple[str, ...]": lambda value, name, rule: read_texts(value, name, rule.example),
    "Mapping[str, str]": lambda value, name, rule: read_pairs(value, name, rule.example),
}
"""The reader of each annotation, by its text."""


def _last(name: str) -> str:
    return name.rpartition(".")[2]

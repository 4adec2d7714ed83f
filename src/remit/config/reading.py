"""Single values of a configuration: each read, or refused in a sentence with how to write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.errors import ConfigError
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST = 10**9


def check_name(name: str, known: tuple[str, ...], what: str) -> None:
    """Refuse a name that nobody knows."""
    if name not in known:
        raise ConfigError(f"'{name}' is not {what}", hint=did_you_mean(name, known))


def check_keys(values: Mapping[str, Any], table: str, known: tuple[str, ...]) -> dict[str, Any]:
    """A table whose keys are all known, spelled with underscores."""
    plain = {key.replace("-", "_"): value for key, value in values.items()}
    for key in plain:
        check_name(key, known, f"a setting of [{table}]")
    return plain


def read_text(value: object, name: str, example: str) -> str:
    """A text that says something."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ConfigError(f"{name} is not a text", hint=f'write it as {_last(name)} = "{example}"')
    return value


def read_texts(values: object, name: str, example: str) -> tuple[str, ...]:
    """A list of texts."""
    if not isinstance(values, list) or not all(isinstance(value, str) and "\0" not in value for value in values):
        raise ConfigError(f"{name} is not a list of texts", hint=f'write it as {_last(name)} = ["{example}"]')
    return tuple(values)


def read_pairs(values: object, name: str, example: str) -> dict[str, str]:
    """A table of texts."""
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise ConfigError(f"{name} is not a table of texts", hint=f"write it as {_last(name)} = {example}")
    return dict(values)


def read_word(value: object, name: str, known: tuple[str, ...]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in known:
        raise ConfigError(f"{name} is {value!r}", hint=f"use one of {', '.join(known)}")
    return value


def read_number(value: object, name: str, example: float, *, least: float = 0, whole: bool = False) -> float:
    """A number that something can be limited to; above `least` unless it is whole, when it may be that."""
    fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not fits or not (least <= value <= _MOST if whole else least < value <= _MOST):  # type: ignore[operator] # checked
        what = f"a whole number from {least}" if whole else f"a number above {least}"
        raise ConfigError(f"{name} is not {what}", hint=f"write it as {_last(name)} = {example}")
    return value  # type: ignore[return-value] # a number, as was checked


def read_switch(value: object, name: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ConfigError(f"{name} is neither true nor false", hint=f"write it as {_last(name)} = true")
    return value


def _last(name: str) -> str:
    return name.rpartition(".")[2]

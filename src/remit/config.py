"""Configuration: the text of remit.toml (or pyproject.toml's [tool.remit]) → Settings.

Owns what a workspace may set and what it may not. Pure: finding and reading the file is the caller's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from remit.errors import ConfigError, did_you_mean
from remit.model import NOTHING, STATUSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.model import Status

_TABLES = {"contract": ("status_words",)}
_RESERVED = frozenset({*STATUSES, "complete", "error"})
"""Words that mean something in a dialect already: nobody makes `failed` mean completed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a workspace has set."""

    status_words: Mapping[str, Status] = field(default_factory=lambda: NOTHING)
    """The workspace's own status words, and what they mean (C3)."""


def parse_settings(text: str, *, table: tuple[str, ...] = ()) -> Settings:
    """Read the settings from TOML text; `table` leads to them where they share a file."""
    import tomllib  # noqa: PLC0415 - 7 ms, and most workspaces have no configuration

    try:
        values: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the configuration is not TOML: {error}", hint="correct it, or remove it") from error
    for name in table:
        values = values.get(name, {}) if isinstance(values, dict) else values
    if not isinstance(values, dict):
        raise ConfigError(f"[{'.'.join(table)}] is not a table", hint=f"write it as [{'.'.join(table)}]")
    for name, inner in values.items():
        _check_name(name, tuple(_TABLES), "a table")
        if not isinstance(inner, dict):
            raise ConfigError(f"[{name}] is not a table", hint=f"write it as [{name}]")
        for key in inner:
            _check_name(key, _TABLES[name], f"a setting of [{name}]")
    return Settings(_read_words(values.get("contract", {}).get("status_words", {})))


def _check_name(name: str, known: tuple[str, ...], what: str) -> None:
    if name not in known:
        raise ConfigError(f"'{name}' is not {what}", hint=did_you_mean(name, known))


def _read_words(words: Any) -> Mapping[str, Status]:  # noqa: ANN401 - whatever the file holds
    if not isinstance(words, dict):
        raise ConfigError(
            "contract.status_words is not a table", hint='write it as status_words = {planned = "completed"}'
        )
    for word, status in words.items():
        if word in _RESERVED:
            raise ConfigError(f"'{word}' has a meaning of its own", hint="map only words that no dialect knows")
        if status not in STATUSES:
            raise ConfigError(f"'{word}' is mapped to {status!r}", hint=f"map it to one of {', '.join(STATUSES)}")
    return words

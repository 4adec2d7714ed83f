"""The settings that apply in a workspace, and where each comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.config import BACKEND
from remit.storage.secrets import redact
from remit.storage.settings import find_workspace, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT = "default"


class SettingRow(NamedTuple):
    """A setting: its name as in remit.toml, its value without secrets, and its source."""

    name: str
    value: Any
    source: str


class EffectiveSettings(NamedTuple):
    """The settings of a workspace."""

    root: str
    settings: tuple[SettingRow, ...]


def load_effective_settings() -> EffectiveSettings:
    """Every setting of the workspace with its source: `default`, a file, or a variable of the environment."""
    root = find_workspace()
    settings = load_settings(root)
    file, given = _load_given(root)
    tables = settings._asdict()
    tables |= tables.pop("runs")._asdict()
    backend = os.environ.get(BACKEND)
    rows = []
    for name, value in sorted(tables.items()):
        if name == "backend" and backend:
            rows.append(SettingRow(name, redact(backend), BACKEND))
            continue
        for path, each in _flatten((name,), value):
            rows.append(SettingRow(".".join(path), _clean(each), file if _is_given(given, path) else DEFAULT))
    return EffectiveSettings(root, tuple(rows))


def _load_given(root: str) -> tuple[str, Mapping[str, Any]]:
    """The file that has the workspace's settings, and what it says."""
    import tomllib

    from remit.storage.files import load_bytes

    for name, table in (("remit.toml", ()), ("pyproject.toml", ("tool", "remit"))):
        if os.path.isfile(f"{root}/{name}"):
            values = tomllib.loads(load_bytes(f"{root}/{name}").decode("utf-8", "replace"))
            for key in table:
                values = values.get(key, {})
            return name, values
    return "", {}


def _flatten(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401 - a setting
    """The single settings of a table, also of tables by name such as `[runners.NAME]`."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        for key, each in value._asdict().items():
            yield from _flatten((*path, key), each)
    elif isinstance(value, Mapping) and any(hasattr(each, "_asdict") for each in value.values()):
        for key, each in value.items():
            yield from _flatten((*path, key), each)
    else:
        yield path, value


def _is_given(values: Any, path: tuple[str, ...]) -> bool:  # noqa: ANN401 - of a TOML file
    """Whether a file has a setting; its keys may be written with hyphens."""
    for key in path:
        if not isinstance(values, Mapping):
            return False
        found = next((each for each in values if key in (each, each.replace("-", "_"))), None)
        if found is None:
            return False
        values = values[found]
    return True


def _clean(value: Any) -> Any:  # noqa: ANN401 - a setting
    """A value without secrets; the name of a variable says whether its value is one."""
    if isinstance(value, Mapping):
        return {key: redact(f"{key}={each}").partition("=")[2] if isinstance(each, str) else _clean(each)
                for key, each in value.items()}  # fmt: skip
    if isinstance(value, tuple):
        return [_clean(each) for each in value]
    return redact(value) if isinstance(value, str) else value

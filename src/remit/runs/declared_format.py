"""The declared format of each agent's return (D3).

In this order: `[agents.NAME]`, a pattern in `[agents]`, the agent's own file, its plugin, `[returns] format`, the kind
of project. A file declares a format by its keys, by names of the standards' files, and by markers and tokens that only
one format has; sentences don't count.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from remit.config.runs import FORMATS, list_tables_of
from remit.evidence.workspace_root import HYPER_VARIABLE
from remit.harnesses import claude
from remit.light_namedtuple import NamedTuple
from remit.returns.formats.hyper import START_MARKER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.config import Settings
    from remit.config.runs import AgentSettings
    from remit.runs.agent_lookup import ChosenAgent

CLEO = ".cleo"
_CONTRACTS = "output-contracts.md"
_SIGNS: dict[str, tuple[tuple[str, ...], ...]] = {
    "standard": (("subagent-return-format",), ('"metadata"', '"delegation_depth"')),
    "hyper": ((START_MARKER,), (_CONTRACTS,), (HYPER_VARIABLE,), ('"meta"', '"agent_name"')),
    "manifest": (("OUT-001", "MANIFEST.jsonl"), ("{{MANIFEST_PATH}}",), ("See MANIFEST.jsonl",)),
}
"""Signs that only agent files of a format have: file names, markers, keys and tokens. A row needs all its signs."""
_MAX_BYTES = 1024 * 1024
_MAX_FILES, _MAX_DEPTH = 2000, 4
"""Limits for the scan of a plugin."""


class DeclaredFormat(NamedTuple):
    """A format and its declaration. Without a format, the agent may use any."""

    format: str = ""
    why: str = "nothing declares one"


def find_format(name: str, agent: ChosenAgent | None, settings: Settings, *, root: str) -> DeclaredFormat:
    """Find the declared format of an agent, with or without a file in the workspace."""
    plugins = load_plugins(root) if ":" in name else {}
    return choose_format(
        name, settings.runs.agents, read_file_format(agent), plugins, find_workspace_format(root, settings)
    )


def choose_format(
    name: str,
    tables: Mapping[str, AgentSettings],
    by_file: DeclaredFormat,
    plugins: Mapping[str, DeclaredFormat],
    of_workspace: DeclaredFormat,
) -> DeclaredFormat:
    """Return the first declaration for an agent."""
    for key in list_tables_of(tables, name):
        if word := tables[key].format:
            return DeclaredFormat(word, f'[agents."{key}"] format in remit.toml')
    if by_file.format:
        return by_file
    return find_in_plugin(name, plugins) or of_workspace


def list_formats(agents: Iterable[ChosenAgent], settings: Settings, *, root: str) -> dict[str, DeclaredFormat]:
    """Return the format of each agent with a file, a declaring plugin or a table in the settings, by name."""
    plugins, of_workspace = load_plugins(root), find_workspace_format(root, settings)
    by_file = {agent.name: read_file_format(agent) for agent in agents}
    names = [*by_file, *(name if ":" in name else f"{name}:*" for name in plugins)]
    tables = settings.runs.agents
    used = {key for name in names for key in list_tables_of(tables, name)}
    names += [key for key, table in tables.items() if table.format and key not in used]
    return {
        name: choose_format(name, tables, by_file.get(name, DeclaredFormat()), plugins, of_workspace)
        for name in sorted(set(names))
    }


def find_in_plugin(name: str, plugins: Mapping[str, DeclaredFormat]) -> DeclaredFormat | None:
    """Return the declaration of a plugin for its agent `PLUGIN:NAME` or `PLUGIN:FOLDER:NAME`."""
    plugin, colon, _ = name.partition(":")
    return (plugins.get(name) or plugins.get(plugin)) if colon else None


def find_workspace_format(root: str, settings: Settings) -> DeclaredFormat:
    """Return the workspace's default format: by the settings, else by the kind of project."""
    if settings.returns.format:
        return DeclaredFormat(settings.returns.format, "[returns] format in remit.toml")
    if os.path.isdir(f"{root}/{CLEO}"):
        return DeclaredFormat("manifest", f"the project has {CLEO}/")
    return DeclaredFormat()


def read_file_format(agent: ChosenAgent | None) -> DeclaredFormat:
    """Return the format that an agent's file declares."""
    document = None if agent is None else agent.document
    if agent is None or document is None:
        return DeclaredFormat()
    if (word := agent.get_word("return")) in FORMATS:
        return DeclaredFormat(word, f"return: in {document.path}")
    if (word := document.get("lifecycle", "return_format")) in FORMATS:
        return DeclaredFormat(str(word), f"lifecycle.return_format in {document.path}")
    return _read_signs(document.text, document.path)


def _read_signs(text: str, path: str) -> DeclaredFormat:
    """Return the format whose signs a text has; a text with signs of several formats declares none."""
    found = {
        format: " and ".join(sign)
        for format, signs in _SIGNS.items()
        for sign in reversed(signs)
        if all(each in text for each in sign)
    }
    if len(found) != 1:
        return DeclaredFormat()
    [(format, sign)] = found.items()
    return DeclaredFormat(format, f"{path} has {sign}")


# --- plugins ----------------------------------------------------------------------------------------------------------


def load_plugins(root: str) -> dict[str, DeclaredFormat]:
    """Return the declarations of plugins: by `PLUGIN` for all its agents, by `PLUGIN:NAME` for a single agent.

    As in Claude Code, the name of an agent in a folder is `PLUGIN:FOLDER:NAME`.
    """
    found: dict[str, DeclaredFormat] = {}
    for plugin, folder in _list_plugins(root):
        files = list(_list_markdown(folder))
        contracts = next((file for file in files if os.path.basename(file) == _CONTRACTS), None)
        if contracts is not None:
            found.setdefault(plugin, DeclaredFormat("hyper", f"the plugin {plugin} has {contracts}"))
        for file in files:
            if file.startswith("agents/"):
                name = ":".join((plugin, *file.removeprefix("agents/").removesuffix(".md").split("/")))
                shown = _read_signs(_load_text(f"{folder}/{file}"), file)
                if shown.format:
                    found.setdefault(name, DeclaredFormat(shown.format, f"{shown.why}, in the plugin {plugin}"))
                elif plugin in found:
                    found.setdefault(name, found[plugin])
    return found


def list_plugin_files(root: str) -> list[str]:
    """Return the files that define the set of plugins."""
    return [_find_registry(), *(f"{folder}/{claude.PLUGIN_FILE}" for folder in _list_folders(root))]


def _list_plugins(root: str) -> Iterator[tuple[str, str]]:
    """Yield the plugins of the workspace and those that Claude Code has installed for it, each with its folder."""
    for folder in _list_folders(root):
        name = _load_json(f"{folder}/{claude.PLUGIN_FILE}").get("name")
        if isinstance(name, str):
            yield name, folder
    installed = _load_json(_find_registry()).get("plugins")
    for key, places in installed.items() if isinstance(installed, dict) else ():
        for place in places if isinstance(places, list) else ():
            path = place.get("installPath") if isinstance(place, dict) else None
            project = place.get("projectPath") if isinstance(place, dict) else None
            if isinstance(path, str) and project in (None, root, os.path.realpath(root)):
                yield key.partition("@")[0], path


def _list_folders(root: str) -> list[str]:
    """Return the plugin folders of the workspace: its root and folders in `plugins/`."""
    try:
        inner = sorted(os.listdir(f"{root}/plugins"))
    except OSError:
        inner = []
    folders = (root, *(f"{root}/plugins/{name}" for name in inner))
    return [each for each in folders if os.path.isfile(f"{each}/{claude.PLUGIN_FILE}")]


def _find_registry() -> str:
    home = os.environ.get(claude.FOLDER_VARIABLE) or os.path.expanduser(claude.HOME)
    return f"{home}/{claude.PLUGINS_REGISTRY}"


def _list_markdown(folder: str) -> Iterator[str]:
    """Yield the Markdown files of a plugin, relative to its folder."""
    count = 0
    for place, inner, names in os.walk(folder):
        below = os.path.relpath(place, folder)
        parts = [] if below == "." else below.split("/")
        inner[:] = sorted(each for each in inner if each[0] != "." and each != "node_modules")
        if len(parts) >= _MAX_DEPTH:
            inner.clear()
        for name in sorted(names):
            count += 1
            if count > _MAX_FILES:
                return
            if name.endswith(".md"):
                yield "/".join((*parts, name))


def _load_text(file: str) -> str:
    from remit.errors import RemitError  # noqa: PLC0415 - only with a plugin
    from remit.storage.files import load_bytes  # noqa: PLC0415

    try:
        return load_bytes(file, max_bytes=_MAX_BYTES).decode("utf-8", "replace")
    except RemitError:
        return ""


def _load_json(file: str) -> dict[str, Any]:
    """Load the object in a file of a harness; empty if the file can't be read."""
    try:
        value = json.loads(_load_text(file) or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}

"""The roster: the agents of a workspace and the settings of hooks, compiled into the ledger.

Reading YAML and TOML takes a hook too long. So the roster is compiled when the files have changed, and stored as plain
values with a hash of the files.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from remit.globs import matches_stars
from remit.harnesses import claude, codex, opencode
from remit.light_hash import take_sha256
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.config import Settings
    from remit.config.runs import AgentSettings
    from remit.ledger.home import Home
    from remit.runs.agent_lookup import ChosenAgent

DEFAULT_AGENTS = {"claude": claude.DEFAULT_AGENT, "codex": codex.DEFAULT_AGENT, "opencode": opencode.DEFAULT_AGENT}
"""The agent that each harness starts if the call names none."""
_NOTE = "roster"
_FORMAT = 9


class RosterEntry(NamedTuple):
    """The fields of an agent file that hooks need."""

    name: str
    kind: str = ""
    format: str = ""
    """Empty if nothing declares a format; then the agent may return any format."""
    timeout_s: float | None = None
    may_call: tuple[str, ...] = ()
    max_depth: int | None = None
    owner: str = "remit"
    description: str = ""
    permissions: Mapping[str, Any] = NOTHING
    """The tools that are switched on, and the patterns that allow and deny."""
    also: tuple[Mapping[str, Any], ...] = ()
    """The permissions of other files that define the same agent, which also apply."""
    timeout_default_s: float | None = None
    timeout_max_s: float | None = None
    """The default and the maximum timeout of the agents that it calls."""
    isolation: str = ""
    """Where the harness runs the agent, if that isn't the workspace."""
    checks: tuple[str, ...] = ()
    """The names of its acceptance checks."""
    data_schema: Any = None
    """The schema of `data` in its returns: a path, or the schema itself."""

    @property
    def layers(self) -> list[dict[str, Any]]:
        """The permissions of all its files; the strictest decides."""
        return [dict(each) for each in (self.permissions, *self.also) if each]


class Roster(NamedTuple):
    """All agents, by the harness of their file and their name, and the settings of hooks."""

    agents: Mapping[str, Mapping[str, RosterEntry]]
    hooks: Mapping[str, Any]
    """`[hooks]`."""
    limits: Mapping[str, Any]
    budget: Mapping[str, Any]
    delegate: Mapping[str, Any]
    kept: Sequence[str | None]
    """The folders of workspace files that the settings name."""
    tables: Mapping[str, Mapping[str, Any]] = NOTHING
    """`[agents]`, for agents without a file."""
    plugins: Mapping[str, Sequence[str]] = NOTHING
    """The formats that plugins declare for their agents, with their sources."""
    of_workspace: Sequence[str] = ("", "")
    """The format, with its source, of agents for which nothing else declares one."""
    confine: Mapping[str, Any] = NOTHING
    """`[confine]`."""
    checks: Mapping[str, Mapping[str, Any]] = NOTHING
    """`[checks]`, each as `AcceptanceCheck.as_details` has it."""

    def find(self, name: str, harness: str) -> RosterEntry | None:
        """Return an agent by its name: of several files, the standard's, because the others are compiled from it.

        The permissions of the harness's own file also apply, and that file alone decides where the agent works.
        """
        found = [agents[name] for agents in self._rank(harness) if name in agents]
        standard = self.agents["standard"].get(name) if "standard" in self.agents else None
        if standard is None or standard is found[0]:
            return found[0] if found else None
        return standard._replace(also=(found[0].permissions,), isolation=found[0].isolation)

    def find_or_describe(self, name: str, harness: str) -> RosterEntry:
        """Return an agent by its name; if it has no file, an entry made of the settings and its plugin.

        Such an agent may call any agent, limited by depth and budget.
        """
        found = self.find(name, harness)
        if found is not None:
            return found
        from remit.config.runs import AgentSettings, find_agent_settings
        from remit.runs.declared_format import DeclaredFormat, choose_format

        tables = {key: AgentSettings(**table) for key, table in self.tables.items()}
        plugins = {key: DeclaredFormat(*declared) for key, declared in self.plugins.items()}
        own = find_agent_settings(tables, name)
        declared = choose_format(name, tables, DeclaredFormat(), plugins, DeclaredFormat(*self.of_workspace))
        return RosterEntry(
            name, format=declared.format, timeout_s=own.timeout, may_call=("*",), owner=own.owner or "remit",
            checks=tuple(own.checks or ()),
            data_schema=own.schema,
        )  # fmt: skip

    def _rank(self, harness: str) -> list[Mapping[str, RosterEntry]]:
        first = [self.agents[profile] for profile in (harness, "standard") if profile in self.agents]
        return [*first, *(agents for profile, agents in self.agents.items() if profile not in (harness, "standard"))]

    def resolve(self, name: str) -> str:
        """Return the known name of an agent: Claude Code accepts names that differ only in case, spaces or dashes."""
        known = self._list_names()
        if name in known:
            return name
        wanted = fold_name(name)
        return min((each for each in known if fold_name(each) == wanted), default=name)

    def list_targets(self, entry: RosterEntry) -> tuple[str, ...]:
        """Return the existing agents that an agent may call. A harness's own file may name agents without a file."""
        if entry.name not in self.agents.get("standard", {}):
            return entry.may_call
        known = {*self._list_names(), *DEFAULT_AGENTS.values()}
        return tuple(name for name in entry.may_call if "*" in name or ":" in name or name in known)

    def _list_names(self) -> set[str]:
        from remit.agents.profiles import UTILITY_AGENTS

        named = (*self.hooks["also_enforce"], *self.hooks["observe"], *UTILITY_AGENTS)
        return {*named, *(each for agents in self.agents.values() for each in agents)}

    def is_enforced(self, name: str, harness: str) -> bool:
        """Return whether the returns of an agent are checked."""
        if _is_named(name, self.hooks["observe"]) or self.hooks["enforce"] == "none":
            return False
        if self.hooks["enforce"] == "all" or _is_named(name, self.hooks["also_enforce"]):
            return True
        plugin, colon, _ = name.partition(":")
        return self.find(name, harness) is not None or bool(colon and (name in self.plugins or plugin in self.plugins))


def _is_named(name: str, patterns: Sequence[str]) -> bool:
    return any(matches_stars(pattern, name) for pattern in patterns)


def fold_name(name: str) -> str:
    """Return a name without the parts that Claude Code ignores: case, letter variants, spaces, dashes, underscores."""
    from unicodedata import category, normalize

    folded = normalize("NFKC", name).lower()
    return "".join(each for each in folded if each != "_" and not each.isspace() and category(each) != "Pd")


def load_roster(home: Home) -> Roster:
    """Return the roster of the current files. Raise ConfigError if the settings aren't valid."""
    mark = _hash_files(home.root)
    kept = home.ledger.get_note(_NOTE)
    if kept is not None and kept.startswith(f"{mark}\n"):
        return _read(json.loads(kept.partition("\n")[2]))
    roster = _compile(home)
    home.ledger.set_note(_NOTE, f"{mark}\n{json.dumps(roster, separators=(',', ':'))}")
    return _read(roster)


def compile_roster(home: Home) -> Roster:
    """Return the roster of the current files without storing it, so that the workspace may be read-only."""
    return _read(json.loads(json.dumps(_compile(home))))  # through JSON, to get the types of a stored roster


def load_workspace_folders(home: Home) -> tuple[str | None, ...]:
    """Return the folders of workspace files from the stored roster, without reading the files again."""
    note = home.ledger.get_note(_NOTE)
    known = {} if note is None else json.loads(note.partition("\n")[2])
    return tuple(known.get("kept", ()))


def _hash_files(root: str) -> str:
    """Return a hash of the names, sizes and times of all files that the roster is made of."""
    from remit.agent_files.discovery import find_agent_files
    from remit.runs.declared_format import CLEO, list_plugin_files

    files = [f"{root}/remit.toml", f"{root}/pyproject.toml", f"{root}/{CLEO}", *list_plugin_files(root)]
    files += [each.file for each in find_agent_files((), root=root)]
    facts = [f"{_FORMAT}"]
    for file in files:
        try:
            found = os.stat(file)
        except OSError:
            facts.append(file)
        else:
            facts.append(f"{file} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}")
    return take_sha256("\n".join(facts).encode("utf-8", "surrogateescape"))


def _compile(home: Home) -> dict[str, Any]:
    from remit.runs.agent_lookup import list_files_of_agents
    from remit.runs.declared_format import find_workspace_format, load_plugins
    from remit.runs.own_files import get_file_places
    from remit.storage.settings import load_settings

    settings = load_settings(home.root)
    agents: dict[str, dict[str, Any]] = {}
    for agent in list_files_of_agents(home.root, exclude=settings.lint.exclude):
        profile = agent.definition.profile if agent.definition is not None else "standard"
        agents.setdefault(profile, {}).setdefault(agent.name, _describe(agent, settings, home.root)._asdict())
    runs = settings.runs
    return {
        "agents": agents,
        "hooks": runs.hooks._asdict(),
        "limits": runs.limits._asdict(),
        "budget": runs.budget._asdict(),
        "delegate": {**runs.delegate._asdict(), "words": dict(settings.returns.status_words)},
        "kept": [*get_file_places(settings)],
        "tables": {name: table._asdict() for name, table in runs.agents.items()},
        "plugins": load_plugins(home.root),
        "of_workspace": find_workspace_format(home.root, settings),
        "confine": settings.confine._asdict(),
        "checks": _describe_checks(settings),
    }


def _describe_checks(settings: Settings) -> dict[str, dict[str, Any]]:
    if not settings.checks:
        return {}
    from remit.runs.checks.workspace_checks import list_checks

    return {check.name: check.as_details() for check in list_checks(settings)}


def _describe(agent: ChosenAgent, settings: Settings, root: str) -> RosterEntry:
    from remit.config.runs import find_agent_settings
    from remit.runs.agent_lookup import describe_permissions, list_targets
    from remit.runs.declared_format import find_format

    own, definition = find_agent_settings(settings.runs.agents, agent.name), agent.definition
    declared = find_format(agent.name, agent, settings, root=root)
    if definition is None:
        return RosterEntry(agent.name, format=declared.format, checks=tuple(own.checks or ()), data_schema=own.schema)
    return RosterEntry(
        agent.name,
        definition.kind or "",
        declared.format,
        own.timeout or definition.timeout_s,
        list_targets(definition),
        definition.max_depth,
        agent.find_owner(own),
        definition.description,
        describe_permissions(definition),
        timeout_default_s=definition.timeout_default_s,
        timeout_max_s=definition.timeout_max_s,
        isolation=agent.get_word("isolation"),
        checks=(*agent.list_words("checks"), *(own.checks or ())),
        data_schema=_read_schema(agent, own),
    )


def _read_schema(agent: ChosenAgent, own: AgentSettings) -> Any:  # noqa: ANN401 - any YAML value
    """Return the schema that the settings or the agent's file name, as plain JSON."""
    named = own.schema or (None if agent.document is None else agent.document.get("data_schema"))
    return named if named is None or isinstance(named, str) else json.loads(json.dumps(named, default=str))


def _read(values: dict[str, Any]) -> Roster:
    agents = {
        profile: {name: RosterEntry(**{**entry, "may_call": tuple(entry["may_call"])}) for name, entry in named.items()}
        for profile, named in values["agents"].items()
    }
    return Roster(
        agents, values["hooks"], values["limits"], values["budget"], values["delegate"], values["kept"],
        values["tables"], values["plugins"], values["of_workspace"], values["confine"], values["checks"],
    )  # fmt: skip

"""Find the agent of a run by its name, and choose its runner."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.agent_files.discovery import find_agent_files, is_protected, load_agent_file
from remit.agents.definition import ANYONE, read_definition
from remit.agents.profiles import UTILITY_AGENTS
from remit.errors import ConfigError, InputError, RemitError, RunnerError, UsageError
from remit.lazy_regex import lazy
from remit.model import Diagnostic
from remit.returns.formats.hyper import START_MARKER
from remit.returns.formats.manifest import SENTENCES
from remit.runners.registry import RUNNERS
from remit.spelling import find_similar
from remit.storage.machine import find_program
from remit.storage.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from remit.agent_files.discovery import AgentFile
    from remit.agents.definition import Definition
    from remit.agents.document import AgentDocument
    from remit.config import Settings
    from remit.config.runs import AgentSettings
    from remit.model import Severity
    from remit.runs.request import Request

HARNESSES = ("claude", "opencode", "codex")
"""In the order of preference if none is chosen."""
_MOST = 10**9
"""No harness accepts a larger number in an agent file."""
_INTERPRETERS = frozenset({"bash", "node", "python", "ruby", "sh", "zsh"})
_INLINE = frozenset({"-c", "-e", "-m"})
"""Options of interpreters that run code or a module instead of a script."""
_UNUSUAL = lazy(r"[^A-Za-z0-9._-]+")
_MAX_NAME = 60


class ChosenAgent(NamedTuple):
    """An agent with its file, or only a name."""

    name: str
    definition: Definition | None = None
    document: AgentDocument | None = None

    def get_word(self, key: str) -> str:
        """Return a text of its frontmatter; empty if there is none."""
        value = None if self.document is None else self.document.get(key)
        return value.strip() if isinstance(value, str) else ""

    def get_number(self, key: str) -> float | None:
        """Return a nonnegative number of its frontmatter; None if there is none."""
        value = None if self.document is None else self.document.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        return float(value) if 0 <= value <= _MOST else None

    def list_words(self, key: str) -> tuple[str, ...]:
        """The texts in a list of its frontmatter, or a single text; none if there is no such key."""
        value = None if self.document is None else self.document.get(key)
        values = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        return tuple(each.strip() for each in values if isinstance(each, str) and each.strip())

    @property
    def is_built_in(self) -> bool:
        """Whether Remit answers itself: a utility agent without a file in the project (D1)."""
        return self.definition is None and self.name in UTILITY_AGENTS

    def find_owner(self, settings: AgentSettings) -> str:
        """Return the owner of task status and commits, by the settings, its file or the agents that it calls."""
        by_calls = "agent" if self.definition is not None and self.definition.owns_finish else "remit"
        return settings.owner or self.get_word("owner") or by_calls

    @property
    def has_format(self) -> bool:
        """Whether its file defines a return format, by a key, a section or a marker of a format."""
        document = self.document
        if document is None:
            return False
        return (
            bool(self.get_word("return") or document.get("lifecycle", "return_format"))
            or document.outline.get("return_format") is not None
            or any(mark in document.text for mark in (START_MARKER, *SENTENCES.values(), '"status"'))
        )


class FoundAgent(NamedTuple):
    """The agent with a name, or None, and the names of all agents."""

    agent: ChosenAgent | None
    known: frozenset[str]


def find_agent(root: str, name: str, *, prefer: str | None, exclude: tuple[str, ...] = ()) -> FoundAgent:
    """Find an agent by its name. Of several files, the preferred runner's counts, else the standard's."""
    sources = _find_protected_files(root, exclude)
    named = [each for each in sources if _get_stem(each.path) == name]
    found = [agent for agent in map(_load, named) if agent is not None and agent.name == name]
    if not found:
        every = [agent for agent in map(_load, sources) if agent is not None]
        found = [agent for agent in every if agent.name == name]
        if not found:
            return FoundAgent(None, frozenset(agent.name for agent in every))
    ranked = sorted(found, key=lambda agent: _rank(agent, prefer))
    return FoundAgent(ranked[0], frozenset({name}))


def list_agents(root: str, *, exclude: tuple[str, ...] = ()) -> list[ChosenAgent]:
    """Return each agent with a file once. Of several files, the standard's counts."""
    found: dict[str, ChosenAgent] = {}
    for agent in sorted(list_files_of_agents(root, exclude=exclude), key=lambda agent: _rank(agent, None)):
        found.setdefault(agent.name, agent)
    return list(found.values())


def list_files_of_agents(root: str, *, exclude: tuple[str, ...] = ()) -> list[ChosenAgent]:
    """Return all agent files of the workspace, also several for one agent."""
    loaded = map(_load, _find_protected_files(root, exclude))
    return [agent for agent in loaded if agent is not None]


def _find_protected_files(root: str, exclude: tuple[str, ...]) -> list[AgentFile]:
    """Return the agent files in places that agents can't write to."""
    return [each for each in find_agent_files((), root=root, exclude=exclude) if is_protected(each.path)]


def list_targets(definition: Definition) -> tuple[str, ...]:
    """Return the agents that an agent may call. A Claude Code file without a list of tools allows all agents."""
    if definition.profile == "claude" and definition.tools is None:
        return (ANYONE,)
    return tuple(target.name for target in definition.targets)


def drop_missing(root: str, targets: tuple[str, ...], *, exclude: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the targets that exist: patterns, agents with a file, and built-in utility agents."""
    sure = {name for name in targets if ANYONE in name or name in UTILITY_AGENTS}
    if len(sure) == len(targets):
        return targets
    known = sure | {agent.name for agent in list_files_of_agents(root, exclude=exclude)}
    return tuple(name for name in targets if name in known)


def describe_permissions(definition: Definition) -> dict[str, Any]:
    """Return what an agent's file allows and denies, as plain values."""
    rules = {"allow": dict(definition.allow), "deny": dict(definition.deny)}
    permissions: dict[str, Any] = {
        name: {tool: [*patterns] for tool, patterns in given.items()} for name, given in rules.items() if given
    }
    if definition.unread is not None:
        permissions["unread"] = definition.path
    return permissions | ({} if definition.tools is None else {"tools": [*definition.tools]})


def _get_stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _load(source: Any) -> ChosenAgent | None:  # noqa: ANN401 - a Source of the workspace
    content = load_agent_file(source.file)
    if not isinstance(content, bytes):
        return None
    from remit.agents.document import parse_document  # noqa: PLC0415 - loads YAML, only for a file

    document = parse_document(source.path, content)
    definition = read_definition(document)
    if definition is None or definition.profile == "command":
        return None
    return ChosenAgent(definition.name, definition, document)


def _rank(agent: ChosenAgent, prefer: str | None) -> tuple[bool, bool, str]:
    profile = agent.definition.profile if agent.definition is not None else ""
    return profile != prefer, profile != "standard", profile


def choose_runner(request: Request, agent: ChosenAgent, settings: Settings, own: AgentSettings, *, root: str) -> str:
    """Choose the runner: by the request, the agent's settings, its file, the settings, or an installed harness."""
    if request.function is not None:
        return "python"
    if request.command is not None:
        return request.runner or "command"
    profile = agent.definition.profile if agent.definition is not None else None
    native = profile if profile in HARNESSES else None
    chosen = request.runner or own.runner or native or settings.runs.delegate.runner
    if chosen is not None:
        return chosen
    there = list_harnesses(root)
    if not there:
        other = '--runner gemini, --command "prog args"; in Python runner=, command=, function=; or remit.toml'
        hint = f"install claude, opencode or codex, or name another runner ({other})"
        raise RunnerError("no harness that could run an agent was found on the path", hint=hint)
    return there[0]


def list_harnesses(root: str) -> list[str]:
    """Return the installed harnesses, except programs of the workspace itself."""
    found = {name: find_program(name, root=root) for name in HARNESSES}
    return [name for name, program in found.items() if program is not None and not program.is_foreign]


def list_own_runners(settings: Settings) -> dict[str, str]:
    """Return the workspace's own runners, each with Remit's runner that it is based on."""
    own = {}
    for name, table in settings.runs.runners.items():
        if name not in RUNNERS:
            kind = "python" if table.entry is not None else "command" if table.command is not None else None
            if kind is None:
                raise InputError(
                    f"[runners.{name}] has neither command nor entry", hint="add one, or use the name of a harness"
                )
            own[name] = kind
    return own


def load_settings_or_usual(root: str) -> tuple[Settings, RemitError | None]:
    """Return the settings; if they are invalid, the defaults and the error.

    For commands that end or show runs: these must work with any settings.
    """
    from remit.config import Settings  # noqa: PLC0415 - only for the defaults

    try:
        settings = load_settings(root)
        list_own_runners(settings)
    except (ConfigError, InputError) as error:
        return Settings(), error
    return settings, None


def refuse_agent_as_prompt(root: str, prompt: str, settings: Settings) -> None:
    """Refuse a prompt that is the name of an agent: the user forgot the prompt, not the agent."""
    if prompt and not any(letter.isspace() for letter in prompt):
        found = find_agent(root, prompt, prefer=None, exclude=settings.lint.exclude)
        if found.agent is not None:
            hint = f'add the prompt: remit run {prompt} "What to do"'
            raise UsageError(f"'{prompt}' is an agent, and there is no prompt for it", hint=hint)


def get_label(request: Request, runner: str, settings: Settings) -> str:
    """Return the name of an agent without a file: by the request, its program or its runner."""
    if request.agent is not None:
        return request.agent
    table = settings.runs.runners.get(runner)
    command = request.command or (table.command if table is not None else None)
    if runner == "command" and command:
        return _name_program(command)
    return os.path.basename(runner) or "agent"


def _name_program(command: str) -> str:
    """Return the name of the program in a command line; of an interpreter, that of its script, else `command`."""
    program, *rest = [word.strip("'\"") for word in command.split()] or [""]
    name = os.path.basename(program)
    if name.rstrip("0123456789.") in _INTERPRETERS:
        scripts = [word for word in rest if not word.startswith("-")]
        is_script = bool(scripts) and _INLINE.isdisjoint(rest)
        name = os.path.splitext(os.path.basename(scripts[0]))[0] if is_script else "command"
    return _UNUSUAL.sub("", name)[:_MAX_NAME] or "command"


def no_agent_file(name: str, known: Collection[str]) -> Diagnostic:
    """No file defines the agent, and the command runs under that name.

    Why: a misspelled name finds no agent file, so the file's instructions, inputs, limits and permissions don't apply.

    Bad: `remit run reseacher "Look into it." --command "prog"`, if the agent is called researcher.

    Good: the name of an agent that has a file, or no name: `remit run "Look into it." --command "prog"`.
    """
    meant = find_similar(name, sorted(known))
    leave_out = "To run without an agent file, leave the name out."
    hint = leave_out if meant is None else f"Did you mean {meant}? {leave_out}"
    message = f"no file defines the agent '{name}', and the command runs under that name"
    return Diagnostic("ASK001", "warning", f"{message}{'' if meant is None else f'; did you mean {meant}?'}", hint)


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {"ASK001": (no_agent_file, "warning")}

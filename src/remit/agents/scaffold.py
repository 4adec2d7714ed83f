"""Scaffolding: makes the files of a new agent of a type from templates, complete and without diagnostics.

Chooses the folder of the agent and fills in the templates: `templates/standard` has a standard agent of each type,
`templates/harness` an agent of opencode, whose description and instructions Claude Code and Codex get as well. Uses
the workspace's context index, or makes one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from remit.agents.compile.codex import quote_lines
from remit.agents.edits import quote, render_scalar
from remit.agents.profiles import KINDS, find_place
from remit.errors import UsageError
from remit.harnesses import claude, codex, opencode
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.agents.profiles import Profile

MAX_NAME = 64
PROFILES: tuple[Profile, ...] = ("standard", "claude", "opencode", "codex")
"""The profiles for which agents can be made."""


class NewFile(NamedTuple):
    """A file to write: its path relative to the workspace root, and its text."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class ContextFacts:
    """Context files of the workspace. Paths are relative to its root."""

    index: str | None = None
    """The context index, or None if there is none yet."""
    required: tuple[str, ...] = ()
    """Existing context files that all agents should load. Unused without an index."""


NO_CONTEXT = ContextFacts()

# --- where -----------------------------------------------------------------------------------------------------------

_HOMES: dict[Profile, str] = {
    "standard": "agents", "claude": claude.AGENT_FOLDERS[0], "opencode": opencode.AGENT_FOLDERS[0],
    "codex": codex.AGENT_FOLDERS[0],
}  # fmt: skip


def choose_place(existing_paths: Iterable[str], profile: Profile = "standard") -> str:
    """Return the folder for a new agent of a profile, given the paths of the workspace's agent files.

    This is the folder with the most agents, or the higher one of two with the same number. A standard agent goes into a
    folder that no harness reads if it has agents, else into any folder with Markdown agents, else into `agents`.
    """
    ending = ".toml" if profile == "codex" else ".md"
    fitting = (path for path in existing_paths if path.endswith(ending) and _is_home(path, profile))
    folders = Counter(path.rpartition("/")[0] for path in fitting)
    if not folders:
        return _HOMES[profile]
    own = [folder for folder in folders if find_reader(folder) is None] if profile == "standard" else []
    return min(own or folders, key=lambda folder: (-folders[folder], folder.count("/"), folder))


def _is_home(path: str, profile: Profile) -> bool:
    place = find_place(path)
    return place in ("claude", "opencode") if profile == "standard" else place == profile


def find_reader(folder: str) -> Profile | None:
    """Return the harness that loads all files in a folder, or None."""
    place = find_place(f"{folder}/x.md")
    return place if place != "claude" or claude.FOLDER in folder.split("/") else None


# --- what ------------------------------------------------------------------------------------------------------------

_NAME = lazy(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


def scaffold(
    kind: str,
    name: str,
    *,
    profile: Profile = "standard",
    place: str,
    context: ContextFacts = NO_CONTEXT,
    spec_root: str = "specs",
) -> tuple[NewFile, ...]:
    """Return the files of a new agent: the agent first, then its context files."""
    check_request(kind, name, profile)
    path = "/".join(part for part in (place.strip("/"), name) if part not in ("", "."))
    if profile != "standard":
        ending = "toml" if profile == "codex" else "md"
        return (NewFile(f"{path}.{ending}", _render_for_harness(kind, name, profile, spec_root)),)
    made = [] if context.index else _make_context(place)
    facts = ContextFacts(made[0].path, (made[1].path,)) if made else context
    return NewFile(f"{path}.md", render_standard(kind, name, place=place, context=facts, spec_root=spec_root)), *made


def check_request(kind: str, name: str, profile: str) -> None:
    """Raise a `UsageError` for an agent that can't be made."""
    if kind not in KINDS:
        raise UsageError(f"unknown agent type '{kind}'", hint=did_you_mean(kind, KINDS))
    if profile not in PROFILES:
        raise UsageError(f"no agent can be made for {profile}", hint=did_you_mean(profile, PROFILES))
    check_name(name)


def check_name(name: str) -> None:
    """Raise a `UsageError` for a name that can't be a file name and a word of a command."""
    if not _NAME.match(name) or len(name) > MAX_NAME:
        spelled = re.sub(r"[^a-z0-9]+", "-", name[:200].lower()).strip("-")[:MAX_NAME].strip("-")
        hint = f"use '{spelled}'" if spelled else "use a name like 'api-planner'"
        raise UsageError(f"an agent's name is at most {MAX_NAME} of a-z, 0-9 and single hyphens, not {name[:80]!r}",
                         hint=hint)  # fmt: skip


# --- the templates ---------------------------------------------------------------------------------------------------

_TEMPLATES = Path(__file__).with_name("templates")
_TOOLS_TABLE = lazy(r"^tools:\n((?:  \w+: \w+\n)+)", re.MULTILINE)
_ON = lazy(r"(\w+): true")
_HEAD = lazy(r"---\n(.*?)---\n\n(.*)", re.DOTALL)
_DESCRIPTION = lazy(r"^description: (.*)$", re.MULTILINE)


def render_standard(
    kind: str, name: str, *, place: str = "", context: ContextFacts = NO_CONTEXT, spec_root: str = "specs"
) -> str:
    """Render a complete standard agent of a type."""
    folder = _find_home(place)
    blanks = {
        "index": quote(context.index or ""),
        "required": json.dumps(context.required, ensure_ascii=False),
        "own_folder": "" if folder in ("", *_HARNESS_FOLDERS) else f", {json.dumps(f'{folder}/**/*')}",
    }
    text = _fill(_load_template(f"standard/{kind}.md"), name, spec_root, **blanks)
    if find_reader(place.strip("/")) == "claude":  # Claude Code doesn't read tables of tools
        text = _TOOLS_TABLE.sub(f"tools: {_list_tools(text)}\n", text)
    return text


def _render_for_harness(kind: str, name: str, profile: Profile, spec_root: str) -> str:
    text = _fill(_load_template(f"harness/{kind}.md"), name, spec_root)
    parts, described = _HEAD.match(text), _DESCRIPTION.search(text)
    if profile == "opencode" or parts is None or described is None:
        return text
    description, body = described[1], parts[2]
    if profile == "codex":
        return f'name = "{name}"\ndescription = {description}\n{codex.INSTRUCTIONS_KEY} = {quote_lines(body)}\n'
    tools = _list_tools(_load_template(f"standard/{kind}.md"))
    head = f"name: {render_scalar(name)}\ndescription: {description}\ntools: {tools}\nmodel: inherit\n"
    return f"---\n{head}---\n\n{body}"


def _load_template(path: str) -> str:
    return (_TEMPLATES / path).read_text("utf-8")


def _fill(text: str, name: str, spec_root: str, **blanks: str) -> str:
    title = " ".join(word.capitalize() for word in name.split("-"))
    return Template(text).substitute(blanks, name=name, title=title, specs=spec_root.strip("/") or ".")


def _list_tools(text: str) -> str:
    """Return the tools of a standard agent by Claude Code's names."""
    table = _TOOLS_TABLE.search(text)
    return ", ".join(claude.NAMES[tool] for tool in _ON.findall(table[1])) if table else ""


_HARNESS_FOLDERS = (*claude.AGENT_FOLDERS, *opencode.AGENT_FOLDERS, *codex.AGENT_FOLDERS)


def _find_home(place: str) -> str:
    """Return the folder of all agents, given the folder of one."""
    parts = [part for part in place.split("/") if part not in ("", ".")]
    depth = next((at for at, name in enumerate(parts) if name in ("agent", "agents")), len(parts))
    return "/".join(parts[: depth + 1])


def _make_context(place: str) -> list[NewFile]:
    """Return a context index for a workspace without one, and the file that all agents load."""
    first = place.strip("/").partition("/")[0]
    folder = f"{first}/context" if len(first) > 1 and first.startswith(".") else "docs/context"
    return [NewFile(f"{folder}/{name}", _load_template(f"context/{name}")) for name in _CONTEXT_FILES]


_CONTEXT_FILES = ("index.md", "subagent-return-format.md")

"""Scaffolding: a kind and a name → the files of a new agent, complete and without a finding.

Owns which files a new agent needs, what is filled into the templates, and the folder in which a workspace keeps its
agents. `templates/standard` has an agent of each kind as the standard wants it, `templates/harness` as opencode wants
it: Claude Code and Codex get the same description and instructions. A context index of the workspace is used if there
is one; otherwise a new one is made.
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
"""The profiles of which an agent can be made."""


class NewFile(NamedTuple):
    """A file to be written: its path below the workspace's root, and its text."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class ContextFacts:
    """What the workspace has that a new agent can load. Paths are relative to its root."""

    index: str | None = None
    """The context index; None: there is none, and one is made."""
    required: tuple[str, ...] = ()
    """Context files that are there and that every agent should load; without an index they are not looked at."""


NO_CONTEXT = ContextFacts()

# --- where -----------------------------------------------------------------------------------------------------------

_HOMES: dict[Profile, str] = {
    "standard": "agents", "claude": claude.AGENT_FOLDERS[0], "opencode": opencode.AGENT_FOLDERS[0],
    "codex": codex.AGENT_FOLDERS[0],
}  # fmt: skip


def choose_place(existing_paths: Iterable[str], profile: Profile = "standard") -> str:
    """The folder in which this workspace keeps agents of a profile, given the paths of the agent files it has.

    The folder with the most agents wins, so that a new one lies beside its like; of two with as many, the one higher
    up. A standard agent goes into a folder that no harness reads, if there are agents in one; else wherever Markdown
    agents are; else into `agents`.
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
    """The harness that reads every file in a folder by itself."""
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
    """The files of a new agent: itself first, then what it needs besides."""
    check_request(kind, name, profile)
    path = "/".join(part for part in (place.strip("/"), name) if part not in ("", "."))
    if profile != "standard":
        ending = "toml" if profile == "codex" else "md"
        return (NewFile(f"{path}.{ending}", _render_for_harness(kind, name, profile, spec_root)),)
    made = [] if context.index else _make_context(place)
    facts = ContextFacts(made[0].path, (made[1].path,)) if made else context
    return NewFile(f"{path}.md", render_standard(kind, name, place=place, context=facts, spec_root=spec_root)), *made


def check_request(kind: str, name: str, profile: str) -> None:
    """Refuse an agent that cannot be made."""
    if kind not in KINDS:
        raise UsageError(f"unknown agent type '{kind}'", hint=did_you_mean(kind, KINDS))
    if profile not in PROFILES:
        raise UsageError(f"no agent can be made for {profile}", hint=did_you_mean(profile, PROFILES))
    check_name(name)


def check_name(name: str) -> None:
    """Refuse a name that can't be a file name and a word of a command."""
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
    """A standard agent of a kind, complete."""
    folder = _find_home(place)
    blanks = {
        "index": quote(context.index or ""),
        "required": json.dumps(context.required, ensure_ascii=False),
        "own_folder": "" if folder in ("", *_HARNESS_FOLDERS) else f", {json.dumps(f'{folder}/**/*')}",
    }
    text = _fill(_load_template(f"standard/{kind}.md"), name, spec_root, **blanks)
    if find_reader(place.strip("/")) == "claude":  # Claude Code reads no tools from a table
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
    """The tools that a standard agent has, as Claude Code names them."""
    table = _TOOLS_TABLE.search(text)
    return ", ".join(claude.NAMES[tool] for tool in _ON.findall(table[1])) if table else ""


_HARNESS_FOLDERS = (*claude.AGENT_FOLDERS, *opencode.AGENT_FOLDERS, *codex.AGENT_FOLDERS)


def _find_home(place: str) -> str:
    """The folder of all agents, given that of one."""
    parts = [part for part in place.split("/") if part not in ("", ".")]
    depth = next((at for at, name in enumerate(parts) if name in ("agent", "agents")), len(parts))
    return "/".join(parts[: depth + 1])


def _make_context(place: str) -> list[NewFile]:
    """A context index for a workspace that has none, and the one file that every agent loads."""
    first = place.strip("/").partition("/")[0]
    folder = f"{first}/context" if len(first) > 1 and first.startswith(".") else "docs/context"
    return [NewFile(f"{folder}/{name}", _load_template(f"context/{name}")) for name in _CONTEXT_FILES]


_CONTEXT_FILES = ("index.md", "subagent-return-format.md")

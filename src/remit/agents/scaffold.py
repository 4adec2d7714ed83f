"""Scaffolding: a kind and a name → the files of a new agent, complete and without a finding.

Owns what a new file consists of, for the standard and for each harness, and where a workspace keeps its agents. What
the new agent names is there: a context index that the workspace has is used, otherwise one is made with it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.agents.blueprints import BLUEPRINTS
from remit.agents.blueprints.writer import RETURN_CHECKS, RETURN_FORMAT, Writer, render_return
from remit.agents.edits import quote, render_scalar
from remit.agents.profiles import KINDS, TIMEOUTS_S, TOOLS, find_place
from remit.errors import UsageError
from remit.harnesses import claude, codex, opencode
from remit.lazy import lazy
from remit.quick_tuple import NamedTuple
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    writer = Writer(BLUEPRINTS[kind], name, place=place, spec_root=spec_root)
    path = "/".join(part for part in (place.strip("/"), name) if part not in ("", "."))
    if profile == "standard":
        extra = [] if context.index else _make_context(place)
        facts = ContextFacts(extra[0].path, (extra[1].path,)) if extra else context
        return NewFile(f"{path}.md", _render_standard(writer, facts, find_reader(place.strip("/")))), *extra
    if profile == "codex":
        return (NewFile(f"{path}.toml", _render_codex(writer)),)
    return (NewFile(f"{path}.md", _render_claude(writer) if profile == "claude" else _render_opencode(writer)),)


def check_request(kind: str, name: str, profile: str) -> None:
    """Refuse an agent that cannot be made."""
    if kind not in BLUEPRINTS:
        raise UsageError(f"there is no kind of agent called {kind}", hint=did_you_mean(kind, KINDS))
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


def _render_standard(writer: Writer, context: ContextFacts, reader: Profile | None) -> str:
    sections = (
        writer.context, writer.role, writer.task, writer.inputs_required, writer.inputs_forbidden, writer.process_flow,
        writer.delegation_patterns, writer.artifact_creation, writer.return_format, writer.quality_standards,
        writer.error_handling,
    )  # fmt: skip
    body = "\n\n".join(text for text in ("\n".join(section()) for section in sections) if text)
    return "\n".join(["---", *_render_head(writer, context, reader), "---", "", f"# {writer.title}", "", body, ""])


def _render_head(writer: Writer, context: ContextFacts, reader: Profile | None) -> Iterator[str]:
    plan = writer.blueprint
    yield f"name: {quote(writer.name)}"
    yield 'version: "1.0.0"'
    yield f"description: {quote(plan.description)}"
    yield "mode: subagent"
    yield f"agent_type: {plan.kind}"
    yield f"temperature: {plan.temperature}"
    yield f"max_tokens: {plan.max_tokens}"
    yield f"timeout: {TIMEOUTS_S[plan.kind]}"
    if reader == "claude":  # from a table it reads no tools at all
        yield f"tools: {_name_tools(writer)}"
    tables = {
        **({} if reader == "claude" else {"tools": writer.tools()}),
        "permissions": writer.permissions(),
        "context_loading": writer.context_loading(context.index, context.required),
        "delegation": writer.delegation(),
        "lifecycle": writer.lifecycle(),
    }
    for key, lines in tables.items():
        yield f"{key}:"
        yield from (f"  {line}" for line in lines)


# --- for the harnesses -----------------------------------------------------------------------------------------------


def _name_tools(writer: Writer) -> str:
    """The tools as Claude Code has them."""
    return ", ".join(tool.capitalize() for tool in TOOLS if tool in writer.blueprint.tools)


def _render_claude(writer: Writer) -> str:
    tools = _name_tools(writer)
    head = (
        f"name: {render_scalar(writer.name)}",
        f"description: {quote(_pitch(writer))}",
        f"tools: {tools}",
        "model: inherit",
    )
    return "\n".join(["---", *head, "---", "", _render_prompt(writer)])


def _render_opencode(writer: Writer) -> str:
    plan = writer.blueprint
    head = [f"description: {quote(_pitch(writer))}", "mode: subagent", f"temperature: {plan.temperature}"]
    head += ["permission:", "  edit:"]
    if "**/*" in plan.write:
        head += ['    "*": allow', '    ".git/*": deny']
    else:
        patterns = (writer.fill(pattern).removesuffix("**/*") + "*" for pattern in plan.write)
        head += ['    "*": deny', *(f"    {quote(pattern)}: allow" for pattern in patterns)]
    head += ["  bash:", '    "*": deny', *(f"    {quote(f'{command} *')}: allow" for command in plan.bash)]
    return "\n".join(["---", *head, "---", "", _render_prompt(writer)])


def _render_codex(writer: Writer) -> str:
    prompt = _render_prompt(writer).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    head = f"name = {quote(writer.name)}\ndescription = {quote(_pitch(writer))}\n"
    return f'{head}{codex.INSTRUCTIONS_KEY} = """\n{prompt}"""\n'


def _pitch(writer: Writer) -> str:
    return f"{writer.blueprint.description} {writer.blueprint.use_when}"


def _render_prompt(writer: Writer) -> str:
    """The agent in plain Markdown: who it is, how it works, what it writes, what it sends back."""
    plan = writer.blueprint
    lines = [f"# {writer.title}", "", plan.role, "", "## How you work", "", plan.in_short]
    lines += ["", "## What holds", "", *(f"- {text}" for _, text in plan.standards)]
    files = [f"- `{each.path}`: {each.content}" for each in plan.outputs if each.path.startswith("$specs")]
    if files:
        lines += ["", "## What you write", "", *files]
    ending = [
        "",
        "## What you send back",
        "",
        _LAST_MESSAGE,
        "",
        "```json",
        writer.returned(),
        "```",
        "",
        RETURN_CHECKS,
    ]
    return "\n".join([writer.fill("\n".join(lines)), *ending, ""])


_LAST_MESSAGE = "Your last message is this JSON object and nothing else, with the real values in place of every blank:"


# --- what it needs besides -------------------------------------------------------------------------------------------


def _make_context(place: str) -> list[NewFile]:
    """A context index for a workspace that has none, and the one file that every agent loads."""
    first = place.strip("/").partition("/")[0]
    folder = f"{first}/context" if len(first) > 1 and first.startswith(".") else "docs/context"
    return [NewFile(f"{folder}/index.md", _INDEX), NewFile(f"{folder}/{RETURN_FORMAT}", _FORMAT)]


_INDEX = f"""\
# Context index

What the agents of this workspace can load besides their own file. An agent loads what its `required` list names before
it begins, and anything else from this table when it needs it. Keep the files short: an agent has a budget in bytes.

| File | What it holds | When to load it |
|---|---|---|
| `{RETURN_FORMAT}` | What an agent sends back to its caller | Always |
"""
_ANY_FILE = '{"type": "{kind of file}", "path": "{relative to the root}", "summary": "{one sentence}"}'
_FORMAT = f"""\
# What an agent sends back

An agent's last message is one JSON object, and nothing stands before or after it.

```json
{render_return("{the name of the agent}", artifacts=_ANY_FILE)}
```

| Field | Rule |
|---|---|
| `status` | `completed`, `partial`, `failed` or `blocked`, spelled so |
| `summary` | Two to five sentences, fewer than 100 tokens: what came out, not what was done |
| `artifacts` | Every file that was made, on disk before it is named; empty when failed or blocked |
| `artifacts[].type` | `plan`, `report`, `summary`, `implementation` or `documentation` |
| `metadata` | `session_id`, `delegation_depth`, `delegation_path` as they were given; `agent_type`: the agent's name |
| `errors` | Empty when completed; otherwise `type`, `message`, `recoverable` and `recommendation` for each |
| `next_steps` | What the caller should do next |

- partial: something usable is on disk and the next run can go on from it.
- failed: nothing usable was left; the next run begins anew.
- blocked: something outside of the agent has to happen first, and the summary says what.
"""

"""Writing out a blueprint: an agent of a kind → the frontmatter and the sections of its file.

Owns how each section of the standard looks, one by one, so that a new agent gets all of them and an old one those that
it lacks. Every blank in the example of a return is spelled as one: an echo of it is not taken for a result.
"""

from __future__ import annotations

import json
from string import Template
from typing import TYPE_CHECKING

from remit.agents.blueprints.form import Step
from remit.agents.edits import quote
from remit.agents.profiles import CONTEXT_BUDGETS, TIMEOUTS_S, TOOLS
from remit.harnesses import claude, codex, opencode
from remit.model import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from remit.agents.blueprints.form import Blueprint

WIDTH = 132
"""A tag stands on one line up to here."""
RETURN_FORMAT = "subagent-return-format.md"
SERVICE_TIMEOUT_S = 300

PROTECTED = (
    ".git/**/*", ".remit/**/*", "remit.toml", f"{claude.AGENT_FOLDERS[0]}/**/*", claude.SETTINGS_PATTERN,
    *(f"{folder}/**/*" for folder in opencode.AGENT_FOLDERS), opencode.SETTINGS_PATTERN, f"{codex.FOLDER}/**/*",
)  # fmt: skip
"""What runs or rules agents: no agent that may write everywhere writes here."""
_HARNESS_HOMES = (*claude.AGENT_FOLDERS, *opencode.AGENT_FOLDERS, *codex.AGENT_FOLDERS)

INPUTS = (
    ("session_id", "string", "The id that was issued for this run; it goes back unchanged in the return."),
    ("delegation_depth", "integer", "How deep this delegation is: 1 below a command, never more than 3."),
    ("delegation_path", "array", "Who called whom, this agent last."),
)
OPTIONAL_INPUTS = (
    ("task_number", "integer", "The number of the task in $specs/TODO.md; absent where the prompt is the whole work."),
    ("language", "string", "The programming language of the task, where it matters."),
    ("timeout", "integer", "Seconds for this run, where it is less than usual."),
)
FORBIDDEN = ("conversation_history", "full_system_state", "unstructured_context")

RETURN_STEP = Step(
    "Return: format the result and validate it",
    """\
1. Format the return as return_format says, with the real values of this run in place of every blank.
2. Validate it: each check in its validation must hold. Correct the return, never the facts.
3. Return the JSON object and nothing else: no greeting, no explanation, no second object.""",
    "The return is valid and says what is really on disk",
)
RETURN_CHECKS = """\
- status is completed, partial, failed or blocked; completed means that everything is done and errors is empty.
- summary has two to five sentences and fewer than 100 tokens.
- Every artifact is on disk; artifacts is empty when the status is failed or blocked.
- session_id, delegation_depth and delegation_path are those that were given.
- Unless completed, errors has entries with type, message, recoverable and recommendation."""
_RETURN = """\
{
  "status": "{one of completed or partial or failed or blocked}",
  "summary": "{what came out of it in two to five sentences}",
  "artifacts": [
    ARTIFACTS
  ],
  "metadata": {
    "session_id": "{the session id you were given}",
    "agent_type": "AGENT",
    "delegation_depth": 1,
    "delegation_path": ["orchestrator", "AGENT"],
    METADATA
    "duration_seconds": 0
  },
  "errors": [],
  "next_steps": "{what the caller should do next}"
}"""


def render_return(agent: str, *, artifacts: str, metadata: str = "") -> str:
    """An example of a return."""
    found = _RETURN.replace(
        "    METADATA\n", f"    {metadata}\n".replace("\n", "\n    ").rstrip(" ") if metadata else ""
    )
    return found.replace("ARTIFACTS", artifacts.replace("\n", "\n    ")).replace("AGENT", agent)


def _find_home(place: str) -> str:
    """The folder of all agents, given that of one."""
    parts = [part for part in place.split("/") if part not in ("", ".")]
    depth = next((at for at, name in enumerate(parts) if name in ("agent", "agents")), len(parts))
    return "/".join(parts[: depth + 1])


class Writer:
    """Writes out one blueprint for one agent. Each method gives the lines of a section, without a blank one after."""

    def __init__(self, blueprint: Blueprint, name: str, *, place: str = "", spec_root: str = "specs") -> None:
        self.blueprint = blueprint
        self.name = name
        self.home = _find_home(place)
        self.command = blueprint.command.replace("$name", name)
        self.blanks = {"name": name, "specs": spec_root.strip("/") or ".", "command": self.command}

    return_step = RETURN_STEP

    @property
    def title(self) -> str:
        """The agent's name as a heading."""
        return " ".join(word.capitalize() for word in self.name.split("-"))

    def fill(self, text: str) -> str:
        """A text of the blueprint with this agent's names in it."""
        return Template(text).substitute(self.blanks)

    def list(self, items: Iterable[str]) -> str:
        """Patterns as a list in brackets."""
        return json.dumps([self.fill(item) for item in items], ensure_ascii=False)

    def tag(self, name: str, text: str, indent: int, attributes: str = "") -> Iterator[str]:
        """A tag on one line where it fits, on several where it does not; a section never fits."""
        space, lines = " " * indent, self.fill(text).split("\n")
        line = f"{space}<{name}{attributes}>{lines[0]}</{name}>"
        if len(lines) == 1 and indent and len(line) <= WIDTH:
            yield line
            return
        yield f"{space}<{name}{attributes}>"
        yield from (f"{space}  {each}".rstrip() for each in lines)
        yield f"{space}</{name}>"

    # --- frontmatter ---

    def tools(self) -> Iterator[str]:
        """What stands under `tools`."""
        yield from (f"{tool}: {str(tool in self.blueprint.tools).lower()}" for tool in TOOLS)

    def permissions(self, tools: frozenset[str] | None = None) -> Iterator[str]:
        """What stands under `permissions`, for the tools that are switched on; None: those of the blueprint."""
        plan = self.blueprint
        on = frozenset(plan.tools) if tools is None else tools
        yield "allow:"
        yield '  - read: ["**/*"]'
        yield from (f"  - {tool}: {self.list(plan.write)}" for tool in ("write", "edit") if tool in on)
        if "bash" in on:
            yield f"  - bash: {self.list(plan.bash)}"
        protected = PROTECTED if "**/*" in plan.write else PROTECTED[:1]
        if "**/*" in plan.write and self.home not in ("", *_HARNESS_HOMES):
            protected = (*protected, f"{self.home}/**/*")
        yield "deny:"
        if "bash" in on:
            yield f"  - bash: {self.list(plan.forbidden_bash)}"
        yield from (
            f"  - {tool}: {self.list(protected)}" for tool in ("write", "edit") if tool in on or tool == "write"
        )

    def context_loading(self, index: str | None, required: Iterable[str]) -> Iterator[str]:
        """What stands under `context_loading`; without an index nothing can be asked for."""
        strategy = "minimal" if self.blueprint.kind == "utility" or not index else "lazy"
        yield f"strategy: {strategy}"
        if index:
            yield f"index: {quote(index)}"
        items = [f"  - {quote(path)}" for path in required]
        yield from ("required:", *items) if items else ("required: []",)
        yield f"max_context_size: {CONTEXT_BUDGETS[strategy]}"

    def delegation(self) -> Iterator[str]:
        """What stands under `delegation`."""
        plan = self.blueprint
        yield f"max_depth: {MAX_DEPTH}"
        items = [f"  - {quote(each.agent)}" for each in plan.delegations]
        yield from ("can_delegate_to:", *items) if items else ("can_delegate_to: []",)
        limit = min(SERVICE_TIMEOUT_S, TIMEOUTS_S[plan.kind])
        yield f"timeout_default: {limit}"
        yield f"timeout_max: {min(2 * limit, TIMEOUTS_S[plan.kind])}"

    def lifecycle(self) -> Iterator[str]:
        """What stands under `lifecycle`."""
        yield "stage: 4"
        yield f"command: {quote(self.command)}"
        yield f"return_format: {quote(RETURN_FORMAT)}"

    # --- sections ---

    def context(self) -> Iterator[str]:
        """What the agent is an expert in, and how it fits into the system."""
        yield "<context>"
        for name in ("specialist_domain", "task_scope", "integration", "lifecycle_integration"):
            yield from self.tag(name, getattr(self.blueprint, name), 2)
        yield "</context>"

    def role(self) -> Iterator[str]:
        """Who the agent is."""
        yield from self.tag("role", self.blueprint.role, 0)

    def task(self) -> Iterator[str]:
        """What the agent does, from beginning to end."""
        yield from self.tag("task", self.blueprint.task, 0)

    def inputs_required(self) -> Iterator[str]:
        """What the agent is given."""
        yield "<inputs_required>"
        for name, kind, text in INPUTS:
            yield from self.tag("parameter", text, 2, f' name="{name}" type="{kind}"')
        for name, kind, text in (*OPTIONAL_INPUTS, *self.blueprint.parameters):
            yield from self.tag("parameter", text, 2, f' name="{name}" type="{kind}" optional="true"')
        yield "</inputs_required>"

    def inputs_forbidden(self) -> Iterator[str]:
        """What the agent is never given."""
        yield "<inputs_forbidden>"
        yield from (f"  <forbidden>{name}</forbidden>" for name in FORBIDDEN)
        yield "</inputs_forbidden>"

    def process_flow(self) -> Iterator[str]:
        """The steps, numbered from preflight to return."""
        plan = self.blueprint
        yield "<process_flow>"
        yield from (*self.step("step_0_preflight", plan.preflight), "")
        for number, step in enumerate(plan.steps, 1):
            yield from (*self.step(f"step_{number}", step), "")
        last = len(plan.steps) + 1
        yield from (*self.step(f"step_{last}_postflight", plan.postflight), "")
        yield from self.step(f"step_{last + 1}_return", RETURN_STEP)
        yield "</process_flow>"

    def step(self, name: str, step: Step) -> Iterator[str]:
        """One step."""
        yield f"  <{name}>"
        yield from self.tag("action", step.action, 4)
        yield "    <process>"
        yield from (f"      {line}" for line in self.fill(step.process).split("\n"))
        yield "    </process>"
        yield from self.tag("checkpoint", step.checkpoint, 4)
        yield f"  </{name}>"

    def delegation_patterns(self, agents: Container[object] | None = None) -> Iterator[str]:
        """Which utility agents it calls, all or some, when and with what; nothing for one that calls none."""
        called = [each for each in self.blueprint.delegations if agents is None or each.agent in agents]
        if called:
            yield "<delegation_patterns>"
            for each in called:
                names = ("when", "context", "expected_return", "integration")
                yield from self._entry(
                    f'delegate_to name="{each.agent}"', {name: getattr(each, name) for name in names}
                )
            yield "</delegation_patterns>"

    def artifact_creation(self) -> Iterator[str]:
        """What the agent writes, and where."""
        yield "<artifact_creation>"
        for each in self.blueprint.outputs:
            names = ("path", "content", "validation", "token_limit")
            yield from self._entry(f'artifact type="{each.type}"', {name: getattr(each, name) for name in names})
        yield "</artifact_creation>"

    def return_format(self) -> Iterator[str]:
        """What the agent sends back."""
        yield from ("<return_format>", "  <structure>")
        yield from (f"    {line}" for line in self.returned().split("\n"))
        yield "  </structure>"
        yield from (*self.tag("validation", RETURN_CHECKS, 2), "</return_format>")

    def returned(self) -> str:
        """An example of this agent's return."""
        return render_return(self.name, artifacts=self.blueprint.artifact, metadata=self.blueprint.metadata)

    def quality_standards(self) -> Iterator[str]:
        """What holds of everything the agent does."""
        yield "<quality_standards>"
        for name, text in self.blueprint.standards:
            yield from self.tag(name, text, 2)
        yield "</quality_standards>"

    def error_handling(self) -> Iterator[str]:
        """What the agent does when something goes wrong."""
        yield "<error_handling>"
        for each in self.blueprint.troubles:
            names = ("detection", "handling", "recovery", "logging")
            yield from self._entry(f'error_type name="{each.type}"', {name: getattr(each, name) for name in names})
        yield "</error_handling>"

    def _entry(self, opening: str, parts: dict[str, str]) -> Iterator[str]:
        yield f"  <{opening}>"
        for name, text in parts.items():
            yield from self.tag(name, text, 4)
        yield f"  </{opening.partition(' ')[0]}>"

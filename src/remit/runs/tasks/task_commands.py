"""The task commands: the five commands of the standards from research to review, and those that a workspace adds.

A command defines the task's marker during the run, the agent, the prompt, the files for the agent, and the path of its
artifact (R1.20). No function here reads the tasks; only `list_own_commands` reads the settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.errors import ConfigError, UsageError
from remit.lazy_regex import lazy
from remit.spelling import did_you_mean
from remit.tasks.task import OWN_COMMAND, check_move, read_marker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from remit.config.runs import TaskCommandSettings

NO_MARKER = "NONE"
MAX_FOLLOW_UPS = 20
_MAX_TITLE = 120
_MOST_LISTED = 12
_PLACE = lazy(r"\{([a-z_]{1,20})(?::0([1-9])d)?\}")
_PLACES = ("number", "slug", "version", "date", "phase")
_ITEM = lazy(r"(?:[-*+\u2022]|\(?[0-9]{1,3}[.)])[ \t]{1,8}(?=\S)")
_SENTENCE = lazy(r"[.!?][ \t\n]")


class TaskCommand(NamedTuple):
    """A command that runs an agent on a task."""

    name: str
    kind: str
    """The kind of its agents: research, planning, implementation, review or utility."""
    working: str = ""
    """The marker of the task during the run; empty if it stays."""
    artifact: str = ""
    """The path of its artifact, relative to the task's folder."""
    part: str = ""
    """The path of the artifact of a single phase."""
    reads: tuple[str, ...] = ()
    """The kinds of earlier artifacts for the agent: the text of the first one, the names of the others."""
    asks: str = ""
    """The work in one sentence, for an agent with an agent file."""
    teaches: str = ""
    """How to do the work, for an agent without an agent file."""
    names: tuple[str, ...] = ()
    """Usual names of its agent, for agent files without a kind."""
    like: str = ""
    """The command of the standards that it is based on."""
    help: str = ""

    @property
    def is_phased(self) -> bool:
        """Whether it runs once per phase of a plan."""
        return self.like == "implement"

    @property
    def makes_tasks(self) -> bool:
        """Whether its next steps become tasks (R1.30)."""
        return self.kind == "review"


_PLAN_FORM = (
    "Below `## Implementation Phases` each phase has a heading like `### Phase 1: Name [NOT STARTED]`, with its steps, "
    "its files and how it is checked."
)

COMMANDS = {
    "research": TaskCommand(
        "research", "research", "RESEARCHING", "reports/research-{version:03d}.md",
        reads=("research",),
        asks="Find out what has to be known before task {number} can be planned, and write a report.",
        teaches="Look into this workspace before you look anywhere else. The report is Markdown: what was asked, what "
        "you found and where, what you recommend, what is still open. Change nothing but the report.",
        names=("researcher", "research", "research-agent"),
        like="research",
        help="Research a task and write a report.",
    ),
    "plan": TaskCommand(
        "plan", "planning", "PLANNING", "plans/implementation-{version:03d}.md",
        reads=("research", "plan"),
        asks="Write the plan by which task {number} can be implemented.",
        teaches=f"Use what the research found. Split the work into phases that can be done and checked one after the "
        f"other, and estimate the effort of each. The plan is Markdown. {_PLAN_FORM} Change nothing but the plan.",
        names=("planner", "plan", "planning-agent"),
        like="plan",
        help="Plan a task from its research.",
    ),
    "revise": TaskCommand(
        "revise", "planning", "REVISING", "plans/implementation-{version:03d}.md",
        reads=("plan", "research"),
        asks="Write a new version of the plan of task {number}; phases that are done stay as they are.",
        teaches=f"Keep what is still valid. Say what changed and why. {_PLAN_FORM} Change nothing but the new plan.",
        names=("reviser", "planner", "plan"),
        like="revise",
        help="Revise the plan of a task.",
    ),
    "implement": TaskCommand(
        "implement", "implementation", "IMPLEMENTING", "summaries/implementation-summary-{date}.md",
        "summaries/phase-{phase}-summary-{date}.md",
        reads=("plan", "research"),
        asks="Implement task {number}.",
        teaches="Follow the plan if there is one. Check your changes with the tests of this project. Report every file "
        "that you created or changed as an artifact, and the summary of your work, too.",
        names=("implementer", "implement", "implementation-agent"),
        like="implement",
        help="Implement a task, phase by phase.",
    ),
    "review": TaskCommand(
        "review", "review", "", "summaries/review-summary-{date}.md",
        reads=("plan", "summary", "research"),
        asks="Review what was made for task {number}. Give next_steps as a list: each entry is one piece of work that "
        "is still to be done, and becomes a task of its own.",
        teaches="Check the files themselves, and try what can be tried. The report says what is correct and what "
        "isn't, and where. Change nothing but the report.",
        names=("reviewer", "review", "review-agent"),
        like="review",
        help="Review the work on a task, and create tasks for what is left.",
    ),
}  # fmt: skip
"""The commands of the standards, in the order in which a task meets them."""
DEFAULT_LIKE = "research"


# --- commands of a workspace ------------------------------------------------------------------------------------------


def make_commands(settings: Mapping[str, TaskCommandSettings]) -> dict[str, TaskCommand]:
    """Return all commands: those of the standards with the workspace's settings, then the workspace's own."""
    own = {name: make_command(name, given) for name, given in settings.items()}
    return {name: own.pop(name, command) for name, command in COMMANDS.items()} | own


def list_own_commands() -> dict[str, str]:
    """Return the names of the commands that this workspace adds to the standards', each with its help."""
    from remit.storage.settings import find_workspace, load_settings  # noqa: PLC0415 - not for the table alone

    settings = load_settings(find_workspace()).runs.task
    return {name: command.help for name, command in make_commands(settings).items() if name not in COMMANDS}


def make_command(name: str, given: TaskCommandSettings) -> TaskCommand:
    """Return a command with a workspace's settings. Everything else is as in the command that it is based on."""
    like = given.like or (name if name in COMMANDS else DEFAULT_LIKE)
    base = COMMANDS.get(like)
    if base is None:
        raise ConfigError(f"[task.{name}] is like '{like}'", hint=did_you_mean(like, tuple(COMMANDS)))
    working = base.working if given.working is None else read_marker(given.working.strip("[] \t"))
    if working and working != NO_MARKER and working not in OWN_COMMAND:
        known = (*OWN_COMMAND, NO_MARKER.lower())
        raise ConfigError(f"[task.{name}] works as '{given.working}'", hint=did_you_mean(working, known))
    if given.artifact is not None:
        _check_template(given.artifact, name)
    is_own = name not in COMMANDS
    return base._replace(
        name=name,
        kind=given.kind or base.kind,
        working="" if working == NO_MARKER else working,
        artifact=given.artifact or base.artifact,
        asks=f"Do the {name} of task {{number}}. {base.asks if base.makes_tasks else ''}".strip()
        if is_own
        else base.asks,
        names=(name, *(base.names if not is_own else ())),
        help=given.help or (f"Work on a task, like {like}." if is_own else base.help),
    )


def _check_template(template: str, command: str) -> None:
    """Refuse a template that isn't a path in the task's folder, or has an unknown placeholder."""
    unknown = [each[1] for each in _PLACE.finditer(template) if each[1] not in _PLACES]
    rest = _PLACE.sub("", template)
    if unknown or "{" in rest or "}" in rest:
        bad = unknown[0] if unknown else "{"
        known = ", ".join(f"{{{each}}}" for each in _PLACES)
        raise ConfigError(f"task.{command}.artifact has the unknown placeholder '{bad}'", hint=f"available: {known}")
    steps = template.split("/")
    if template.startswith("/") or ".." in steps or not steps[-1].strip():
        hint = 'write it as artifact = "reports/audit-{version:03d}.md"'
        raise ConfigError(f"task.{command}.artifact isn't a file below the task's folder", hint=hint)


# --- the agent --------------------------------------------------------------------------------------------------------


class Candidate(NamedTuple):
    """An agent, with the kind and command in its file."""

    name: str
    kind: str | None = None
    command: str | None = None
    """The command that it serves, such as `/research`."""


def choose_agent(
    command: TaskCommand,
    candidates: Iterable[Candidate],
    routes: Mapping[str, Mapping[str, str]],
    *,
    language: str = "",
) -> str:
    """Return the agent of a command for a task in a language: by the settings, else the only fitting one; else "".

    Of several fitting agents, the one with a usual name.
    """
    for name in dict.fromkeys((command.name, command.like)):
        route = routes.get(name, {})
        routed = route.get(language) or route.get("default")
        if routed:
            return routed
    known = tuple(candidates)
    serving = {each.name for each in known if (each.command or "").strip().lstrip("/").split(" ")[0] == command.name}
    alike = {each.name for each in known if each.kind == command.kind}
    usual = {each.name for each in known if not each.kind and each.name in command.names}
    for found in map(sorted, (serving, alike, usual)):
        named = [name for name in command.names if name in found]
        if len(found) > 1 and not named:
            raise _describe_ambiguity(command, found)
        if found:
            return named[0] if named else found[0]
    return ""


def _describe_ambiguity(command: TaskCommand, names: Sequence[str]) -> UsageError:
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    message = f"several agents fit: {', '.join(names[:_MOST_LISTED])}{more}"
    line = f'[route.{command.name}] default = "{names[0]}"'
    return UsageError(message, hint=f"choose one with --agent NAME, or in remit.toml: {line}")


# --- the prompt -------------------------------------------------------------------------------------------------------


def render_work(
    command: TaskCommand, number: int | str, prompt: str = "", *, phase: str = "", taught: bool = False
) -> str:
    """Return the prompt: the work of the command, the user's prompt, and how to do it if the agent has no file."""
    asks = command.asks.replace("{number}", str(number))
    if phase:
        asks = f"{asks} Do phase {phase} of its plan now, the whole of it and nothing of the others."
    parts = (asks, prompt.strip(), command.teaches if taught else "")
    return "\n\n".join(part for part in parts if part)


# --- the path of the artifact -----------------------------------------------------------------------------------------


def fill_path(template: str, **values: str | int) -> str:
    """Return a path of R1.20 with all placeholders filled."""

    def put(found: object) -> str:
        name, width = found[1], found[2]  # type: ignore[index] # a match
        value = values.get(name, "")
        return f"{value:0{int(width)}d}" if width and isinstance(value, int) else str(value)

    return _PLACE.sub(put, template)


def find_version(template: str, names: Iterable[str], **values: str | int) -> int:
    """Return the next free version: one above the highest among the names in the folder."""
    file = template.rpartition("/")[2]
    before, _, after = _PLACE.sub(lambda found: "\0" if found[1] == "version" else found[0], file).partition("\0")
    head, tail = fill_path(before, **values), fill_path(after, **values)
    taken = [0]
    for name in names:
        middle = name[len(head) : len(name) - len(tail)] if len(name) > len(head) + len(tail) else ""
        if name.startswith(head) and name.endswith(tail) and middle.isascii() and middle.isdigit():
            taken.append(int(middle[:9]))
    return max(taken) + 1


# --- markers and follow-up tasks --------------------------------------------------------------------------------------


_WORKING = {"research": ("RESEARCHING",), "planning": ("PLANNING",), "implementation": ("IMPLEMENTING", "IN PROGRESS")}


def find_working(kind: str, format: str, marker: str) -> str:
    """Return the marker of a task during a run without a task command, by the agent's kind (R1.30), if it may change.

    Empty if the task keeps its marker: a review changes none, and the effect of other kinds on a task is unknown.
    """
    wanted = _WORKING.get(kind, ()) if format != "manifest" else ("IN PROGRESS",) if kind != "review" else ()
    return next((each for each in wanted if check_move(marker, each, command=OWN_COMMAND[each]) is None), "")


def follow_phase(status: str) -> str | None:
    """Return the marker of a phase after a run; None if it stays in progress and is resumed later (S4)."""
    return {"completed": "COMPLETED", "partial": "PARTIAL", "timeout": "PARTIAL"}.get(status)


class FollowUp(NamedTuple):
    """A follow-up task of a review."""

    title: str
    text: str


def read_follow_ups(next_steps: Sequence[str]) -> tuple[FollowUp, ...]:
    """Return the follow-up tasks in a review's next steps: one for each step, or for each item of a list in it."""
    found: dict[str, FollowUp] = {}
    for step in next_steps[: MAX_FOLLOW_UPS * 2]:
        for text in _split_items(step[:4000]):
            title = _make_title(text)
            if title:
                found.setdefault(title.casefold(), FollowUp(title, text))
    return tuple(found.values())[:MAX_FOLLOW_UPS]


def _split_items(step: str) -> list[str]:
    """Return the items of a list in a text, or the text itself."""
    lines = [line.strip() for line in step.splitlines() if line.strip()]
    items = [_ITEM.sub("", line, count=1) for line in lines if _ITEM.match(line)]
    return items if len(items) == len(lines) and items else [" ".join(lines)] if lines else []


def _make_title(text: str) -> str:
    """Return the first sentence, shortened if necessary."""
    end = _SENTENCE.search(f"{text} ")
    title = (text if end is None else text[: end.start()]).strip().rstrip(".")
    if len(title) <= _MAX_TITLE:
        return title
    return f"{title[: _MAX_TITLE - 1].rpartition(' ')[0] or title[: _MAX_TITLE - 1]}…"

"""The task commands from research to review, and what each of them does.

Owns the five commands of the standards and those that a workspace adds to them: which marker a task has meanwhile,
which agent does the work, what it is told, what it is given to read, and where its artifact belongs (R1.20). Pure: what
is on disk is handed in.
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
    """A command that works on a task."""

    name: str
    kind: str
    """Of the agents that do it: research, planning, implementation, review or utility."""
    working: str = ""
    """The marker of the task meanwhile; none where the task stays as it is."""
    artifact: str = ""
    """Where its artifact belongs, below the folder of the task."""
    part: str = ""
    """Where the artifact of one phase belongs."""
    reads: tuple[str, ...] = ()
    """What of the task it is given: the first that is there to read, the others by name."""
    asks: str = ""
    """The work in one sentence, for whoever knows how it is done."""
    teaches: str = ""
    """How it is done, for whoever has no agent file that says it."""
    names: tuple[str, ...] = ()
    """What its agent is usually called, where the file does not say what it is for."""
    like: str = ""
    """The command of the standards that it is made after."""
    help: str = ""

    @property
    def is_phased(self) -> bool:
        """Whether it goes through the phases of a plan, one after the other."""
        return self.like == "implement"

    @property
    def makes_tasks(self) -> bool:
        """Whether what it recommends becomes tasks (R1.30)."""
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
        teaches=f"Keep what still holds and say what changed and why. {_PLAN_FORM} Change nothing but the new plan.",
        names=("reviser", "planner", "plan"),
        like="revise",
        help="Revise the plan of a task.",
    ),
    "implement": TaskCommand(
        "implement", "implementation", "IMPLEMENTING", "summaries/implementation-summary-{date}.md",
        "summaries/phase-{phase}-summary-{date}.md",
        reads=("plan", "research"),
        asks="Implement task {number}.",
        teaches="Follow the plan where there is one. Check what you made with the tests of this project. Name every "
        "file that you made or changed as an artifact, and the summary of what you did with them.",
        names=("implementer", "implement", "implementation-agent"),
        like="implement",
        help="Implement a task, phase by phase.",
    ),
    "review": TaskCommand(
        "review", "review", "", "summaries/review-summary-{date}.md",
        reads=("plan", "summary", "research"),
        asks="Review what was made for task {number}. Give next_steps as a list: each entry is one piece of work that "
        "is still to be done, and becomes a task of its own.",
        teaches="Look at the files themselves and try what can be tried. The report says what holds, what does not and "
        "where. Change nothing but the report.",
        names=("reviewer", "review", "review-agent"),
        like="review",
        help="Review the work on a task, and create tasks for what is left.",
    ),
}  # fmt: skip
"""The commands of the standards, in the order in which a task meets them."""
DEFAULT_LIKE = "research"


# --- those of a workspace ---------------------------------------------------------------------------------------------


def make_commands(settings: Mapping[str, TaskCommandSettings]) -> dict[str, TaskCommand]:
    """Every command that there is: those of the standards as the workspace has set them, then its own."""
    own = {name: make_command(name, given) for name, given in settings.items()}
    return {name: own.pop(name, command) for name, command in COMMANDS.items()} | own


def list_own_commands() -> dict[str, str]:
    """Return the names of the commands that this workspace adds to the standards', each with its help."""
    from remit.storage.settings import find_workspace, load_settings  # noqa: PLC0415 - not for the table alone

    settings = load_settings(find_workspace()).runs.task
    return {name: command.help for name, command in make_commands(settings).items() if name not in COMMANDS}


def make_command(name: str, given: TaskCommandSettings) -> TaskCommand:
    """A command as a workspace has set it. What it does not say is as for the one that it is like."""
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
    """A path below the task's folder, with places that something can be put into."""
    unknown = [each[1] for each in _PLACE.finditer(template) if each[1] not in _PLACES]
    rest = _PLACE.sub("", template)
    if unknown or "{" in rest or "}" in rest:
        told = unknown[0] if unknown else "{"
        known = ", ".join(f"{{{each}}}" for each in _PLACES)
        raise ConfigError(f"task.{command}.artifact has '{told}' in it, which stands for nothing", hint=known)
    steps = template.split("/")
    if template.startswith("/") or ".." in steps or not steps[-1].strip():
        hint = 'write it as artifact = "reports/audit-{version:03d}.md"'
        raise ConfigError(f"task.{command}.artifact isn't a file below the task's folder", hint=hint)


# --- who does it ------------------------------------------------------------------------------------------------------


class Candidate(NamedTuple):
    """An agent that there is, and what its file says it is for."""

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
    """Who does a command for a task of a language: as is set, else the one there is; empty where there is none.

    Of several, the one with the name that the standard gives it.
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
    told = f"several agents could do it: {', '.join(names[:_MOST_LISTED])}{more}"
    line = f'[route.{command.name}] default = "{names[0]}"'
    return UsageError(told, hint=f"say which with --agent NAME, or once and for all in remit.toml: {line}")


# --- what it is told --------------------------------------------------------------------------------------------------


def render_work(
    command: TaskCommand, number: int | str, prompt: str = "", *, phase: str = "", taught: bool = False
) -> str:
    """The work in words: what the command is for, what whoever calls it adds, and how it is done if nobody knows."""
    asks = command.asks.replace("{number}", str(number))
    if phase:
        asks = f"{asks} Do phase {phase} of its plan now, the whole of it and nothing of the others."
    parts = (asks, prompt.strip(), command.teaches if taught else "")
    return "\n\n".join(part for part in parts if part)


# --- where its artifact belongs ---------------------------------------------------------------------------------------


def fill_path(template: str, **values: str | int) -> str:
    """A path of R1.20 with everything in its place."""

    def put(found: object) -> str:
        name, width = found[1], found[2]  # type: ignore[index] # a match
        value = values.get(name, "")
        return f"{value:0{int(width)}d}" if width and isinstance(value, int) else str(value)

    return _PLACE.sub(put, template)


def find_version(template: str, names: Iterable[str], **values: str | int) -> int:
    """The next version that is free among the names in the folder: above every one there is."""
    file = template.rpartition("/")[2]
    before, _, after = _PLACE.sub(lambda found: "\0" if found[1] == "version" else found[0], file).partition("\0")
    head, tail = fill_path(before, **values), fill_path(after, **values)
    taken = [0]
    for name in names:
        middle = name[len(head) : len(name) - len(tail)] if len(name) > len(head) + len(tail) else ""
        if name.startswith(head) and name.endswith(tail) and middle.isascii() and middle.isdigit():
            taken.append(int(middle[:9]))
    return max(taken) + 1


# --- what follows from it ---------------------------------------------------------------------------------------------


_WORKING = {"research": ("RESEARCHING",), "planning": ("PLANNING",), "implementation": ("IMPLEMENTING", "IN PROGRESS")}


def find_working(kind: str, format: str, marker: str) -> str:
    """The marker that a task has while an agent works on it without a command: by its kind (R1.30), where it may be.

    Empty where the task keeps its own: a review moves none, and of other work nobody knows what the task is after it.
    """
    wanted = _WORKING.get(kind, ()) if format != "manifest" else ("IN PROGRESS",) if kind != "review" else ()
    return next((each for each in wanted if check_move(marker, each, command=OWN_COMMAND[each]) is None), "")


def follow_phase(status: str) -> str | None:
    """The marker that a return gives to a phase; None where it stays in progress, and is taken up again (S4)."""
    return {"completed": "COMPLETED", "partial": "PARTIAL", "timeout": "PARTIAL"}.get(status)


class FollowUp(NamedTuple):
    """A task that a review asks for."""

    title: str
    text: str


def read_follow_ups(next_steps: Sequence[str]) -> tuple[FollowUp, ...]:
    """The tasks that a review's next steps are: one for each entry, or for each line of a list."""
    found: dict[str, FollowUp] = {}
    for step in next_steps[: MAX_FOLLOW_UPS * 2]:
        for text in _split_items(step[:4000]):
            title = _make_title(text)
            if title:
                found.setdefault(title.casefold(), FollowUp(title, text))
    return tuple(found.values())[:MAX_FOLLOW_UPS]


def _split_items(step: str) -> list[str]:
    """One text, or the entries of the list that it is."""
    lines = [line.strip() for line in step.splitlines() if line.strip()]
    items = [_ITEM.sub("", line, count=1) for line in lines if _ITEM.match(line)]
    return items if len(items) == len(lines) and items else [" ".join(lines)] if lines else []


def _make_title(text: str) -> str:
    """The first sentence, as far as it fits."""
    end = _SENTENCE.search(f"{text} ")
    title = (text if end is None else text[: end.start()]).strip().rstrip(".")
    if len(title) <= _MAX_TITLE:
        return title
    return f"{title[: _MAX_TITLE - 1].rpartition(' ')[0] or title[: _MAX_TITLE - 1]}…"

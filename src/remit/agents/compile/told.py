"""What compiling says: every loss, every approximation, and every reason to refuse.

Owns the findings (CMP…). The docstring of the function that makes one is its documentation. Each is told at the place
in the source that it is about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.model import Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.agents.document import Document
    from remit.model import Severity

HARNESSES = {"claude": "Claude Code", "opencode": "opencode", "codex": "Codex"}
"""The targets, as people call them."""

_REQUIREMENTS = {
    "tools": "R1.2", "permissions": "R1.3", "context_loading": "R1.4", "delegation": "R1.5", "lifecycle": "R1.6",
    "timeout": "R1.1 R2.6",
}  # fmt: skip


def lost(document: Document, pointer: str, to: str, what: str, *, because: str = "") -> Finding:
    """A setting has no place in the harness's file, so the agent runs without it.

    Why: no harness knows all that the standard can say. Remit takes the setting from the source, which has to stay
    beside the compiled files, and the sidecar tells it to other programs. The harness reads neither: whoever starts the
    agent without Remit should know what does not hold.

    Bad: counting on `timeout: 1800` while Claude Code runs the agent by itself.

    Good: starting the agent through Remit, or setting the limit in the harness's own configuration.
    """
    hint = "Remit takes it from the source, which the harness does not read."
    message = f"{HARNESSES[to]}'s agent file has no place for {what}"
    return _tell("CMP001", "warning", document, pointer, message, f"{because} {hint}".lstrip())


def changed(document: Document, pointer: str, message: str, hint: str, *, stricter: bool = False) -> Finding:
    """Something is said with the nearest that the harness has, which is not quite the same.

    Why: opencode has one permission for writing and editing, its `*` also matches across folders, and a model has
    another name in every harness. What came out wider than the source is a warning, what came out stricter a note.

    Bad: taking `specs/*/state.json` for one folder deep in opencode, where it matches `specs/a/b/state.json` too.

    Good: a pattern that means the same everywhere, such as `specs/**/*`.
    """
    return _tell("CMP002", "note" if stricter else "warning", document, pointer, message, hint)


def unenforced(document: Document, pointer: str, to: str, what: str) -> Finding:
    """A permission cannot be written into the harness's file: only a hook can enforce it.

    Why: Claude Code's agents have or do not have a tool, and a pattern behind its name changes nothing; Codex has one
    sandbox for the whole session. The agent can therefore do what the source does not allow.

    Bad: compiling `deny: [{bash: ["rm"]}]` for Claude Code and taking it for granted that nothing is removed.

    Good: Remit's hook (`remit init --harness claude`), which asks the source before every use of a tool; or switching
    the tool off.
    """
    return _tell("CMP003", "warning", document, pointer, f"{HARNESSES[to]} does not keep {what}",
                 f"Only a hook before the use of the tool can: remit init --harness {to}.")  # fmt: skip


def kept_aside(document: Document, pointer: str, names: str) -> Finding:
    """Keys that only Remit reads were left out of the harness's file and are in the sidecar.

    Why: a harness ignores keys that it does not know, or sends them to the model's provider. The agent does the same
    without them.

    Bad: looking for `agent_type` in the compiled file.

    Good: looking for `kind` in `NAME.remit.json` beside it.
    """
    return _tell("CMP004", "note", document, pointer, f"only the sidecar has {names}", "There is nothing to do.")


def built_in(document: Document, pointer: str, to: str, names: str) -> Finding:
    """An agent that may be called is built into Remit: the harness has no agent of that name.

    Why: Remit's hooks answer such a call. In a harness without the hooks the call fails, unless the project has an
    agent file of that name.

    Bad: an agent for Claude Code whose preflight asks `status-sync-manager`, without Remit's hooks.

    Good: the hooks that `remit init` installs, or an agent file of that name.
    """
    return _tell("CMP005", "note", document, pointer, f"{HARNESSES[to]} has no {names} of its own",
                 "Install Remit's hooks with remit init, or write an agent of that name.")  # fmt: skip


def loaded_twice(document: Document, to: str) -> Finding:
    """The source lies in a folder from which the harness loads agents, beside what is compiled from it.

    Why: the harness then has two agents, and the one that was not compiled is there with none of its permissions; in
    opencode its unknown keys are sent to the provider.

    Bad: `.claude/agents/subagents/planner.md` compiled to `.claude/agents/planner.md`.

    Good: `agents/planner.md` compiled to `.claude/agents/planner.md`.
    """
    return _tell("CMP006", "warning", document, "", f"{HARNESSES[to]} loads the source as an agent too",
                 "Keep the source in a folder that no harness reads, such as agents/.")  # fmt: skip


def refused(document: Document, pointer: str, message: str, hint: str) -> Finding:
    """The file cannot be compiled, and nothing was written for it.

    Why: a file that is not read as its author meant it would give an agent with other permissions than it should have.
    A harness drops an agent without a name, a description or instructions, mostly in silence.

    Bad: compiling a file whose frontmatter is no YAML.

    Good: `remit lint` and its fixes first, then `remit compile`.
    """
    return _tell("CMP007", "error", document, pointer, message, hint)


def outdated(document: Document, path: str, *, missing: bool) -> Finding:
    """The compiled file is not there, or is not what its source gives now. Only `remit compile --check` tells this.

    Why: the harness runs the compiled file. Until it is written again, a change to the source changes nothing, and a
    change to the compiled file is lost with the next compilation.

    Bad: a commit that changes `agents/planner.md` and leaves `.claude/agents/planner.md` as it was.

    Good: `remit compile --to claude`, and both files in one commit.
    """
    state = "is not there" if missing else "is out of date"
    return _tell("CMP008", "error", document, "", f"{path} {state}", "Run `remit compile` without --check.")


def left_over(document: Document, origin: str) -> Finding:
    """A compiled file from which the source has gone: it was removed, or its agent has another name now.

    Why: the harness goes on loading the file, with what it was allowed when it was compiled. Remit removes nothing that
    it was not asked to remove.

    Bad: `.claude/agents/planner.md`, generated from an `agents/planner.md` that nobody has any more.

    Good: removing it together with its sidecar `planner.remit.json`.
    """
    message = f"this was compiled from {origin}, which gives no such agent any more"
    return _tell("CMP009", "error", document, "", message, "Remove it, and its sidecar.")


TOLD: dict[str, tuple[Callable[..., Finding], Severity]] = {
    "CMP001": (lost, "warning"),
    "CMP002": (changed, "warning"),
    "CMP003": (unenforced, "warning"),
    "CMP004": (kept_aside, "note"),
    "CMP005": (built_in, "note"),
    "CMP006": (loaded_twice, "warning"),
    "CMP007": (refused, "error"),
    "CMP008": (outdated, "error"),
    "CMP009": (left_over, "error"),
}


def _tell(  # noqa: PLR0917 - the fields of a finding, in their order
    code: str, severity: Severity, document: Document, pointer: str, message: str, hint: str
) -> Finding:
    requirement = _REQUIREMENTS.get(pointer.partition("/")[2].partition("/")[0], "R1.1")
    place = document.locate(document.key_span(pointer)) if document.text else None
    return Finding(code, severity, message, hint, requirement, pointer, place)


MAX_NAMED = 4


def name_some(names: list[str]) -> str:
    """A few names in a row; nobody reads them all."""
    shown = [name[:80] for name in names[:MAX_NAMED]]
    rest = len(names) - len(shown)
    return f"{', '.join(shown)} and {rest} more" if rest else ", ".join(shown)

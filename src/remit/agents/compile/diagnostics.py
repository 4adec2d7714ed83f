"""The diagnostics of compiling (CMP…): every loss, every approximation, and every reason to refuse.

Owns their texts. The docstring of the function that makes one is its documentation. Each is reported at its place in
the source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.model import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.agents.document import AgentDocument
    from remit.model import Severity

HARNESSES = {"claude": "Claude Code", "opencode": "opencode", "codex": "Codex"}
"""The targets, as users call them."""


def lost(document: AgentDocument, pointer: str, to: str, what: str, *, because: str = "") -> Diagnostic:
    """A setting has no place in the harness's file, so the harness runs the agent without it.

    Why: no harness has all settings of the standard. Remit reads the setting from the source, which has to stay in the
    workspace. If the harness starts the agent without Remit, the setting has no effect.

    Bad: relying on `timeout: 1800` while Claude Code runs the agent by itself.

    Good: starting the agent through Remit, or setting the limit in the harness's own configuration.
    """
    hint = "Remit reads it from the source."
    message = f"{HARNESSES[to]}'s agent file has no setting for {what}"
    return _make("CMP001", "warning", document, pointer, message, f"{because} {hint}".lstrip())


def changed(document: AgentDocument, pointer: str, message: str, hint: str, *, stricter: bool = False) -> Diagnostic:
    """The harness's file has a value that is close to the one of the source, but not the same.

    Why: opencode has one permission for writing and editing, its `*` also matches across folders, and each harness has
    other names for models. A wider permission than in the source is a warning, a stricter one is a note.

    Bad: taking `specs/*/state.json` for one folder deep in opencode, where it matches `specs/a/b/state.json` too.

    Good: a pattern that means the same everywhere, such as `specs/**/*`.
    """
    return _make("CMP002", "note" if stricter else "warning", document, pointer, message, hint)


def not_enforced(document: AgentDocument, pointer: str, to: str, what: str) -> Diagnostic:
    """A permission can't be written into the harness's file: only a hook can enforce it.

    Why: an agent of Claude Code has or does not have a tool, and a pattern behind its name changes nothing. An agent of
    Codex has the sandbox of the session that calls it, whatever its file says. The agent can therefore do what the
    source does not allow.

    Bad: compiling `deny: [{bash: ["rm"]}]` for Claude Code and relying on it.

    Good: Remit's hook (`remit hooks install claude`), which checks each use of a tool against the source; or switching
    the tool off.
    """
    return _make("CMP003", "warning", document, pointer, f"{HARNESSES[to]} doesn't keep {what}",
                 f"Install Remit's hooks to enforce it: remit hooks install {to}.")  # fmt: skip


def left_out(document: AgentDocument, pointer: str, to: str, names: str) -> Diagnostic:
    """Keys that only Remit reads are not in the harness's file.

    Why: a harness ignores keys that it does not know, or sends them to the provider of the model. The agent does the
    same without them. Remit reads them from the source.

    Bad: looking for `agent_type` in the compiled file.

    Good: looking for it in the source, which the first lines of the compiled file name.
    """
    message = f"{names} {'are' if ', ' in names else 'is'} not in the file for {HARNESSES[to]}"
    return _make("CMP004", "note", document, pointer, message, "No change is needed.")


def built_in(document: AgentDocument, pointer: str, to: str, names: str) -> Diagnostic:
    """An agent in `can_delegate_to` is built into Remit: the harness has no agent of that name.

    Why: Remit's hooks answer such a call. In a harness without the hooks the call fails, unless the project has an
    agent file of that name.

    Bad: an agent for Claude Code whose preflight asks `status-sync-manager`, without Remit's hooks.

    Good: the hooks that `remit init` installs, or an agent file of that name.
    """
    return _make("CMP005", "note", document, pointer, f"{HARNESSES[to]} has no agent {names}",
                 "Install Remit's hooks with remit init, or write an agent of that name.")  # fmt: skip


def loaded_twice(document: AgentDocument, to: str) -> Diagnostic:
    """The source is in a folder from which the harness loads agents, beside the compiled file.

    Why: the harness then has two agents, and the source has none of the compiled permissions there. opencode also sends
    its unknown keys to the provider of the model.

    Bad: `.claude/agents/subagents/planner.md` compiled to `.claude/agents/planner.md`.

    Good: `agents/planner.md` compiled to `.claude/agents/planner.md`.
    """
    return _make("CMP006", "warning", document, "", f"{HARNESSES[to]} also loads the source as an agent",
                 "Move the source to a folder that no harness reads, such as agents/.")  # fmt: skip


def refused(document: AgentDocument, pointer: str, message: str, hint: str) -> Diagnostic:
    """The file cannot be compiled, and nothing was written for it.

    Why: a file that is not read as its author meant it would give an agent with other permissions than it should have.
    A harness ignores an agent without a name, a description or instructions, mostly without a message.

    Bad: compiling a file whose frontmatter isn't valid YAML.

    Good: `remit lint` and its fixes first, then `remit agent build`.
    """
    return _make("CMP007", "error", document, pointer, message, hint)


def outdated(document: AgentDocument, path: str, *, missing: bool) -> Diagnostic:
    """The compiled file is missing or out of date. Only `remit agent build --check` reports this.

    Why: the harness runs the compiled file. A change to the source has no effect until the file is written again, and
    the next compilation overwrites a change to the compiled file.

    Bad: a commit that changes `agents/planner.md` and leaves `.claude/agents/planner.md` as it was.

    Good: `remit agent build --to claude`, and both files in one commit.
    """
    state = "doesn't exist" if missing else "is out of date"
    return _make("CMP008", "error", document, "", f"{path} {state}", "Run `remit agent build` without --check.")


def left_over(document: AgentDocument, origin: str) -> Diagnostic:
    """A compiled file has lost its source: the source was removed, or its agent has another name now.

    Why: the harness still loads the file, with its old permissions. Remit removes nothing without a request.

    Bad: `.claude/agents/planner.md`, generated from an `agents/planner.md` that does not exist any more.

    Good: removing it.
    """
    message = f"this file was compiled from {origin}, which no longer defines this agent"
    return _make("CMP009", "error", document, "", message, "Remove it.")


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "CMP001": (lost, "warning"),
    "CMP002": (changed, "warning"),
    "CMP003": (not_enforced, "warning"),
    "CMP004": (left_out, "note"),
    "CMP005": (built_in, "note"),
    "CMP006": (loaded_twice, "warning"),
    "CMP007": (refused, "error"),
    "CMP008": (outdated, "error"),
    "CMP009": (left_over, "error"),
}


def _make(  # noqa: PLR0917 - the fields of a finding, in their order
    code: str, severity: Severity, document: AgentDocument, pointer: str, message: str, hint: str
) -> Diagnostic:
    place = document.locate(document.key_span(pointer)) if document.text else None
    return Diagnostic(code, severity, message, hint, pointer, place)


MAX_NAMED = 20


def name_some(names: list[str]) -> str:
    """Some names in a row, and how many more there are."""
    shown = [name[:80] for name in names[:MAX_NAMED]]
    rest = len(names) - len(shown)
    return f"{', '.join(shown)} and {rest} more" if rest else ", ".join(shown)

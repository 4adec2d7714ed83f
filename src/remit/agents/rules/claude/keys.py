"""Rules on keys that Claude Code does not read: others' words for what an agent may use, misspelt ones, the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.profiles import COMMAND_KEYS, STANDARD_KEYS
from remit.agents.rules.claude import CLAUDE, is_own_folder
from remit.agents.rules.keys import list_names
from remit.agents.rules.register import MAX_REPORTS, Case, Report, rule
from remit.agents.rules.tables import show
from remit.harnesses import claude, opencode
from remit.places import escape_key
from remit.spelling import SURE, find_meant

if TYPE_CHECKING:
    from collections.abc import Iterator

_RESTRICTIONS = {
    "allowed-tools": "tools", "allowedTools": "tools", "allowed_tools": "tools",
    "permission": "tools", "disallowed-tools": "disallowedTools", "disallowed_tools": "disallowedTools",
    "deniedTools": "disallowedTools", "denied-tools": "disallowedTools", "denied_tools": "disallowedTools",
}  # fmt: skip
"""How others call what an agent may use."""


@rule("AGT205", "R1.3", profiles=CLAUDE, fix="unsafe")
def claude_restriction_ignored(case: Case) -> Iterator[Report]:
    """What the agent may use is said under a key that Claude Code does not read.

    Why: Claude Code ignores the key in silence, so the agent has every tool there is. `allowed-tools` is a key of
    commands and skills, `permission` one of opencode. `permissions` hold where Claude Code's hooks call Remit, and only
    there: that is a warning.

    Bad: `allowed-tools: Read, Grep`

    Good: `tools: Read, Grep`

    Fix (unsafe): gives the key the name that Claude Code reads.
    """
    document = case.document
    if "permissions" in case.values:
        yield Report("Claude Code itself does not read permissions: they hold only where its hooks call Remit",
                     "See that they do: remit init --harness claude. Tools that are not needed at all are left out of "
                     "tools.", document.key_span("/permissions"), "/permissions", "warning")  # fmt: skip
    taken = set()
    for key, meant in _RESTRICTIONS.items():
        if key not in case.values:
            continue
        pointer = f"/{key}"
        if meant in case.values or meant in taken:
            yield Report(f"Claude Code does not read {key}", f"Say it in {meant}, and remove this key.",
                         document.key_span(pointer), pointer, "warning")  # fmt: skip
            continue
        taken.add(meant)
        can_fix = isinstance(case.values[key], str | list) and key != "permission"
        held = "every tool may be used" if meant == "tools" else "nothing is taken away"
        yield Report(f"Claude Code does not read {key}, so {held}", f"Say it in {meant}.", document.key_span(pointer),
                     pointer, edits=edits.rename_key(document, pointer, meant) if can_fix else (),
                     fix_message=f"Rename it to {meant}.")  # fmt: skip


def find_strangers(case: Case) -> dict[str, str | None]:
    """Each key that Claude Code does not read, and the one that was meant if one is close and not given."""
    strange = [key for key in case.values if key not in claude.FILE_KEYS and key not in (*_RESTRICTIONS, "permissions")]
    elsewhere = {*STANDARD_KEYS, *opencode.FILE_KEYS, *COMMAND_KEYS}
    found: dict[str, str | None] = {}
    for key in strange[:MAX_REPORTS]:
        meant = None if key in elsewhere else find_meant(key, claude.FILE_KEYS, least=SURE)
        is_given = meant in case.values or meant in found.values()
        is_told = meant in _RESTRICTIONS.values() and any(other in case.values for other in _RESTRICTIONS)
        found[key] = None if is_given or is_told else meant
    return found


@rule("AGT206", "R1.1", profiles=CLAUDE, severity="warning", fix="unsafe")
def claude_key_misspelt(case: Case) -> Iterator[Report]:
    """A key is misspelt.

    Why: Claude Code ignores a key that it does not know, and says nothing.

    Bad: `max-turns: 20`

    Good: `maxTurns: 20`

    Fix (unsafe): gives it the name that was probably meant.
    """
    for key, meant in find_strangers(case).items():
        if meant:
            pointer = f"/{escape_key(key)}"
            yield Report(f"Claude Code knows no key {show(key)}, and ignores it", f"Did you mean {meant}?",
                         case.document.key_span(pointer), pointer,
                         edits=edits.rename_key(case.document, pointer, meant),
                         fix_message=f"Rename it to {meant}.")  # fmt: skip


@rule("AGT207", "R1.1", profiles=CLAUDE, severity="note")
def claude_keys_ignored(case: Case) -> Iterator[Report]:
    """The frontmatter has keys that Claude Code does not read.

    Why: what they say does not hold: a `timeout`, a `temperature` or a `version` here is a comment. They do no harm.

    Bad: `temperature: 0.2` in `.claude/agents/reviewer.md`

    Good: `maxTurns: 20`; or a standard file, and `remit compile --to claude`.
    """
    ignored = [key for key, meant in find_strangers(case).items() if not meant and not key.startswith(("x-", "x_"))]
    if ignored:
        pointer = f"/{escape_key(ignored[0])}"
        yield Report(f"Claude Code ignores these keys: {list_names(ignored)}", "Remove them, or keep them as comments.",
                     case.document.key_span(pointer), pointer)  # fmt: skip


_NOT_IN_PLUGINS = ("permissionMode", "hooks", "mcpServers")


@rule("AGT208", "R1.3", profiles=CLAUDE, severity="note")
def claude_plugin_ignores(case: Case) -> Iterator[Report]:
    """An agent of a plugin sets `permissionMode`, `hooks` or `mcpServers`.

    Why: Claude Code ignores these three in the agents of a plugin. An `agents` folder outside of `.claude` is taken
    for that of a plugin.

    Bad: `permissionMode: plan` in `agents/reviewer.md`

    Good: the same in `.claude/agents/reviewer.md`
    """
    document = case.document
    ignored = [key for key in _NOT_IN_PLUGINS if case.get(key)] if not is_own_folder(document) else []
    if ignored:
        yield Report(f"in a plugin, Claude Code ignores {list_names(ignored)}",
                     f"Keep the agent in {claude.AGENT_FOLDERS[0]}, or do without.",
                     document.key_span(f"/{ignored[0]}"), f"/{ignored[0]}")  # fmt: skip

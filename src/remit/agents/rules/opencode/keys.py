"""Rules on keys that opencode does not know, which it sends to the model provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.profiles import STANDARD_KEYS
from remit.agents.rules.keys import list_names
from remit.agents.rules.opencode import OPENCODE
from remit.agents.rules.opencode.permissions import is_permission
from remit.agents.rules.register import MAX_REPORTS, Case, Report, rule
from remit.agents.rules.tables import show
from remit.harnesses import claude, opencode
from remit.places import escape_key
from remit.spelling import SURE, find_meant

if TYPE_CHECKING:
    from collections.abc import Iterator

_RESTRICTIONS = (
    "permissions", "permissionMode", "allowed-tools", "allowedTools", "allowed_tools", "disallowedTools",
    "disallowed-tools", "disallowed_tools", "deny", "allow",
)  # fmt: skip
"""How others call what an agent may do."""


@rule("AGT312", "R1.3", profiles=OPENCODE, fix="unsafe")
def opencode_restriction_ignored(case: Case) -> Iterator[Report]:
    """What the agent may do is said under a key that opencode does not read.

    Why: nothing of it holds, and the key is sent to the model provider. opencode reads `permission`, without an s.

    Bad: `permissions: {bash: {"*": deny}}`

    Good: `permission: {bash: {"*": deny}}`

    Fix (unsafe): renames `permissions` where opencode can read what stands there.
    """
    document = case.document
    for key in _RESTRICTIONS:
        if key not in case.values:
            continue
        can_fix = key == "permissions" and "permission" not in case.values and is_permission(case.values[key])
        yield Report(f"opencode does not read {key}, so nothing of it holds, and sends it to the model provider",
                     "Say it in permission.", document.key_span(f"/{key}"), f"/{key}",
                     edits=edits.rename_key(document, f"/{key}", "permission") if can_fix else (),
                     fix_message="Rename it to permission.")  # fmt: skip


def find_strangers(case: Case) -> dict[str, str | None]:
    """Each key that opencode does not know, and the one that was meant if one is close and not given."""
    strange = [key for key in case.values if key not in opencode.FILE_KEYS and key not in _RESTRICTIONS]
    found: dict[str, str | None] = {}
    for key in strange[:MAX_REPORTS]:
        meant = (
            None if key in STANDARD_KEYS or key in claude.FILE_KEYS else find_meant(key, opencode.FILE_KEYS, least=SURE)
        )
        is_given = meant in case.values or meant in found.values() or _OLD_NAMES.get(meant or "") in case.values
        found[key] = None if is_given else meant
    return found


_OLD_NAMES = {"steps": "maxSteps", "permission": "permissions"}
"""What other rules rename: no key is given twice."""


def can_take_permission(case: Case) -> bool:
    """Whether a fix may write `permission`: it is not given, and no other fix writes it."""
    return not {"permission", "permissions"} & case.values.keys() and "permission" not in find_strangers(case).values()


@rule("AGT313", "R1.1", profiles=OPENCODE, severity="warning", fix="unsafe")
def opencode_key_misspelt(case: Case) -> Iterator[Report]:
    """A key is misspelt.

    Why: opencode sends a key that it does not know to the model provider, and what was meant does not hold.

    Bad: `temprature: 0.2`

    Good: `temperature: 0.2`

    Fix (unsafe): gives it the name that was probably meant.
    """
    for key, meant in find_strangers(case).items():
        if meant:
            pointer = f"/{escape_key(key)}"
            yield Report(f"opencode knows no key {show(key)}, and sends it to the model provider",
                         f"Did you mean {meant}?", case.document.key_span(pointer), pointer,
                         edits=edits.rename_key(case.document, pointer, meant),
                         fix_message=f"Rename it to {meant}.")  # fmt: skip


@rule("AGT314", "R1.1", profiles=OPENCODE, severity="warning")
def opencode_keys_leak(case: Case) -> Iterator[Report]:
    """The frontmatter has keys that opencode does not know.

    Why: it sends them to the model provider with every request, as options of the model: your notes leave the house,
    and a provider may refuse the request. What is meant for the provider is better said under `options`.

    Bad: `maintainer: jo@example.com`

    Good: a comment, `# maintainer: jo@example.com`; or `options:` with `reasoningEffort: high` under it
    """
    leaked = [key for key, meant in find_strangers(case).items() if not meant]
    if leaked:
        pointer = f"/{escape_key(leaked[0])}"
        yield Report(f"opencode sends these keys to the model provider: {list_names(leaked)}",
                     "Make comments of them, or put under options what the provider should have.",
                     case.document.key_span(pointer), pointer)  # fmt: skip

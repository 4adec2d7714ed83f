"""Rules on `tools` in a file that opencode reads: the older way to say what an agent may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.rules.field_lookup import TRUTHS, show
from remit.agents.rules.opencode import EDITS, OPENCODE, STOPS, is_read
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.harnesses import opencode
from remit.positions import escape_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument


@agent_rule("AGT325", profiles=("opencode", "standard"), fix="unsafe")
def opencode_tools_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`tools` isn't a table of true and false, in a file that opencode reads.

    Why: opencode doesn't start. A list of names is Claude Code's syntax.

    Bad: `tools: Read, Grep`

    Good: `permission: {"*": deny, read: allow, grep: allow}`

    Fix (unsafe): turns a list into permissions: allow for its tools, deny for all others.
    """
    document = case.document
    tools = case.get("tools")
    if "tools" not in case.values or document.place != "opencode" or not is_read(document, "/tools"):
        return
    is_standard = document.profile == "standard"  # which has rules and a fix of its own for what stands in the table
    if isinstance(tools, dict):
        for name, on in tools.items() if not is_standard else ():
            pointer = f"/tools/{escape_key(name)}"
            if not isinstance(on, bool) and str(on).lower()[:9] not in TRUTHS:
                meant = {"allow": "true", "deny": "false"}.get(str(on)[:9], "")
                yield AgentViolation(f"tools.{name[:60]} is {show(on)}, so {STOPS}", "Write true or false.",
                                     document.key_span(pointer), pointer,
                                     edits=edits.replace_value(document, pointer, meant) if meant else (),
                                     fix_message=f"Write {meant}.")  # fmt: skip
        return
    changes = _make_permission(document, tools) if not is_standard and _can_take_permission(document) else ()
    yield AgentViolation(f"tools is {show(tools)}, expected a table, so {STOPS}", "Move it to permission.",
                         document.key_span("/tools"), "/tools", edits=changes,
                         fix_message="Convert it to permissions.")  # fmt: skip


def _can_take_permission(document: AgentDocument) -> bool:
    """Whether a fix may write `permission`: it is not given, and no other fix writes it."""
    from remit.agents.rules.opencode.fields import TABLE  # noqa: PLC0415 - not for standard files

    given = {"permission", "permissions"} & document.values.keys()
    return not given and "permission" not in TABLE.find_unknown_keys(document).values()


def _make_permission(document: AgentDocument, tools: object) -> tuple[edits.Change, ...]:
    """A list of tools as permissions; none where one of them is unknown."""
    texts = tools.split(",") if isinstance(tools, str) else tools if isinstance(tools, list) else []
    known = {name.lower(): "edit" if name in EDITS else name for name in opencode.ALL_TOOLS}
    names = [known.get(text.strip().lower(), "") if isinstance(text, str) else "" for text in texts[:100]]
    if not names or not all(names):
        return ()
    rights = ", ".join(f"{name}: allow" for name in dict.fromkeys(names))
    renamed = edits.rename_key(document, "/tools", "permission")
    replaced = edits.replace_value(document, "/tools", f'{{"*": deny, {rights}}}')
    return (*renamed, *replaced) if renamed and replaced else ()


@agent_rule("AGT326", profiles=OPENCODE, severity="note", fix="unsafe")
def opencode_tools_deprecated(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`tools` is deprecated.

    Why: since version 1.1, `permission` controls the tools of an agent. opencode still converts `tools` to
    permissions; `permission` wins for the same tool.

    Bad: `tools: {write: false, bash: true}`

    Good: `permission: {edit: deny, bash: allow}`

    Fix (unsafe): converts it to permissions, as opencode does; versions before 1.1 read only some of them.
    """
    document = case.document
    tools = case.get("tools")
    if not isinstance(tools, dict) or not all(isinstance(on, bool) for on in tools.values()):
        return
    yield AgentViolation("tools is deprecated", "Move it to permission.", document.key_span("/tools"), "/tools",
                         edits=_translate(document, tools) if tools and _can_take_permission(document) else (),
                         fix_message="Convert it to permissions.")  # fmt: skip


def _translate(document: AgentDocument, tools: dict[str, bool]) -> tuple[edits.Change, ...]:
    """Write each true as allow and each false as deny, in its place; write and patch are edit, once."""
    names = ["edit" if name in ("write", "patch") else name for name in tools]
    found = document.frontmatter
    if (
        len(set(names)) < len(names)
        and len({on for name, on in tools.items() if name in ("write", "edit", "patch")}) > 1
    ):
        return ()  # the last of them wins: that should be seen
    changes = list(edits.rename_key(document, "/tools", "permission"))
    seen: set[str] = set()
    for name, (tool, on) in zip(names, tools.items(), strict=True):
        pointer = f"/tools/{escape_key(tool)}"
        if found is None or pointer in found.shared:
            return ()
        if name in seen:
            changes += edits.remove_key(document, pointer)
            continue
        seen.add(name)
        changes += edits.rename_key(document, pointer, name) if name != tool else ()
        changes += edits.replace_value(document, pointer, "allow" if on else "deny")
    return tuple(changes)

"""Rules on permissions: which tools are on, how permissions are written, and what they say of each other."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from remit.agents import edits, patterns
from remit.agents.definition import (
    find_misspelt_permissions,
    find_unread,
    is_strange_tool,
    read_claude_rule,
    read_permissions,
)
from remit.agents.profiles import TOOLS, is_read_by_claude
from remit.agents.rules.field_lookup import guess, show
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.harnesses import claude, opencode
from remit.light_namedtuple import NamedTuple
from remit.positions import escape_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.profiles import Profile

_READ: tuple[Profile, ...] = ("standard", "claude", "opencode")
"""Whose permissions are held to, where a harness calls Remit."""
MAX_PATTERNS = 100
"""Of one tool on one side: each is compared with each, and nobody writes more."""


# --- tools -----------------------------------------------------------------------------------------------------------


@agent_rule("AGT050", fix="safe")
def tools_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`tools` isn't a table of names with true or false.

    Why: a table also says which tools are off. Remit accepts a list, with a note; a program that expects a table
    may turn no tool on.

    Bad: `tools: [read, grep]`

    Good: `tools: {read: true, grep: true}`

    Fix (safe): turns a list into a table, with true for each tool.
    """
    document = case.document
    value = document.get_section("tools")
    if value is None or isinstance(value, dict) or is_read_by_claude(document.path):
        return  # Claude Code has a list of its own
    listed = isinstance(value, list)
    yield AgentViolation("tools is a list, expected a table of tools with true or false" if listed
                         else "tools isn't a table of tools with true or false",
                         "Write true or false for each tool.", document.span_of("/tools"), "/tools",
                         severity="note" if listed else None, edits=_make_table(document, value),
                         fix_message="Convert it to a table")  # fmt: skip


def _make_table(document: AgentDocument, value: object) -> tuple[edits.Change, ...]:
    """Each tool of a list, or of a text with commas, as a key with true."""
    names = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return ()
    names = [name.lower() for name in names]
    if len(set(names)) < len(names) or not set(names) <= {*TOOLS, *opencode.ALL_TOOLS}:
        return ()
    if isinstance(value, str):
        return edits.replace_value(document, "/tools", f"{{{', '.join(f'{name}: true' for name in names)}}}")
    return _rewrite_items(document, names)


def _rewrite_items(document: AgentDocument, names: list[str]) -> tuple[edits.Change, ...]:
    found = document.frontmatter
    if found is None or found.shared:
        return ()
    spans = [found.spans[f"/tools/{index}"] for index in range(len(names))]
    if "/tools" in found.flow:
        start, end = found.spans["/tools"]
        inner = [(at, to, f"{name}: true") for (at, to), name in zip(spans, names, strict=True)]
        return ((start, start + 1, "{"), *inner, (end - 1, end, "}"))
    text = document.text
    dashes = [text.rfind("-", 0, at) for at, _ in spans]
    indent = "" if text[dashes[0] - 1] in " \t" else "  "  # a list may stand right under its key, a table may not
    return tuple((dash, to, f"{indent}{name}: true") for dash, (_, to), name in zip(dashes, spans, names, strict=True))


@agent_rule("AGT051", fix="unsafe")
def tool_unknown(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`tools` names a tool that doesn't exist.

    Why: harnesses ignore an unknown name, and the intended tool keeps its default. A name that resembles no tool is
    a warning, and a tool of a single harness is a note.

    Bad: `tools: {reed: true}`

    Good: `tools: {read: true}`

    Fix (unsafe): writes the tool that was probably meant.
    """
    document = case.document
    value = document.get_section("tools")
    for name, pointer in _list_tools(value):
        known = name if isinstance(value, dict) else name.lower()  # in a list, capitals are understood
        if known in TOOLS or not name or _is_foreign(name):
            continue
        harness = "opencode" if name in opencode.ALL_TOOLS else "Claude Code" if name in claude.ALL_TOOLS else ""
        if not harness or name.lower() in TOOLS:
            yield _report_unknown(document, name, pointer, is_key=isinstance(value, dict))
        elif not isinstance(value, dict) or value[name] is not False:  # what is off need not be known
            yield AgentViolation(f"{name} is a tool of {harness}, not of the standard",
                                 f"Keep it if the agent runs in {harness} only.", document.key_span(pointer), pointer,
                                 severity="note")  # fmt: skip


def _is_foreign(name: str) -> bool:
    """Whether a name is that of a server's tool, or of several."""
    return "*" in name or name.startswith("mcp")


def _list_tools(value: object) -> Iterator[tuple[str, str]]:
    """Each name, and the pointer to it."""
    if isinstance(value, dict):
        yield from ((name, f"/tools/{name}") for name in value)
    elif isinstance(value, list):
        yield from ((name, f"/tools/{index}") for index, name in enumerate(value) if isinstance(name, str))


def _report_unknown(document: AgentDocument, name: str, pointer: str, *, is_key: bool) -> AgentViolation:
    meant, hint = guess(name, TOOLS)
    taken = pointer.rpartition("/")[0] + f"/{meant}" in (document.frontmatter.keys if document.frontmatter else ())
    change = edits.rename_key if is_key else edits.replace_value
    return AgentViolation(f"there is no tool {show(name)}", hint, document.key_span(pointer), pointer,
                          severity="error" if meant else "warning",
                          edits=change(document, pointer, meant) if meant and not taken else (),
                          fix_message=f"Write {meant}")  # fmt: skip


_SPOKEN = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@agent_rule("AGT052", fix="safe")
def tool_not_boolean(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A tool's value is neither true nor false.

    Why: some programs treat a string as true, even `"false"`, and others ignore it.

    Bad: `write: "false"`

    Good: `write: false`

    Fix (safe): removes the quotes from "true" and "false".
    """
    document = case.document
    value = document.get_section("tools")
    for name, state in value.items() if isinstance(value, dict) else ():
        if isinstance(state, bool):
            continue
        pointer = f"/tools/{name}"
        meant = _SPOKEN.get(str(state).strip().lower()) if isinstance(state, str | int) else None
        clear = isinstance(state, str) and state.strip().lower() in ("true", "false")
        word = "true" if meant else "false"
        yield AgentViolation(f"the tool {name[:80]} is neither true nor false", "Write true or false, without quotes.",
                             document.span_of(pointer), pointer,
                             edits=edits.replace_value(document, pointer, word) if meant is not None else (),
                             fix_message=f"Write {word}", applicability="safe" if clear else "unsafe")  # fmt: skip


# --- the form of permissions -----------------------------------------------------------------------------------------

_EMPTY_SIDES = {
    "allow": '- read: ["**/*"]\n- write: []',
    "deny": '- write: [".git/**/*"]\n- edit: [".git/**/*"]',
}


@agent_rule("AGT053", fix="unsafe")
def permissions_side_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The permissions lack `allow` or `deny`.

    Why: each harness has its own default for what the file doesn't say.

    Bad: a `permissions` without `deny`

    Good: `permissions: {allow: [{read: ["**/*"]}], deny: [{write: [".git/**/*"]}]}`

    Fix (unsafe): adds the missing side: allow reading everything and writing nothing, or deny writing to .git.
    """
    from remit.agents.rules.field_shapes import is_missing  # noqa: PLC0415
    from remit.agents.rules.standard_fields import TABLE  # noqa: PLC0415 - only standard files have these fields

    document = case.document
    table = document.get_section("permissions")
    if not isinstance(table, dict):
        return
    for side, lines in _EMPTY_SIDES.items():
        if not is_missing(document, TABLE, f"permissions/{side}"):
            continue
        what = "allowed" if side == "allow" else "denied"
        yield AgentViolation(
            f"permissions doesn't list what is {what}",
            f"Add {side}: with a list of tools and patterns.",
            document.key_span(f"/permissions/{side}" if side in table else "/permissions"),
            "/permissions",
            edits=edits.put_value(document, "/permissions", side, "[]" if side in table else lines),
            fix_message=f"Add {side}",
        )


@agent_rule("AGT054", profiles=_READ, fix="safe")
def permissions_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A permission isn't a list of tools with their patterns.

    Why: Remit can't enforce a permission that it can't parse. It then denies the agent all tools. A rule in Claude
    Code's syntax (`Bash(git push:*)`) is accepted, with a warning.

    Bad: `deny: {bash: rm}`

    Good: `deny: [{bash: ["rm"]}]`

    Fix (safe): turns a table or a single string into a list.
    """
    document = case.document
    table = document.get_section("permissions")
    misspelt = find_misspelt_permissions(document) if document.profile != "standard" else ""
    if misspelt:
        at = f"/{escape_key(misspelt)}"
        yield AgentViolation(f"unknown key {show(misspelt)}: it isn't enforced", "Write permissions.",
                             document.key_span(at), at)  # fmt: skip
    if table is None:
        return
    if not isinstance(table, dict):
        yield AgentViolation("permissions isn't a table with allow and deny", "Write allow: and deny: below it.",
                             document.span_of("/permissions"), "/permissions")  # fmt: skip
        return
    for side in ("allow", "deny"):
        yield from _check_side(document, side, table.get(side))
    strange = find_unread(document) if document.profile != "standard" else None  # there it is told by its keys' rule
    if strange is not None and strange.count("/") == 2 and strange.rpartition("/")[2] not in ("allow", "deny"):  # noqa: PLR2004 - a key of the table
        yield AgentViolation("permissions has a side that is neither allow nor deny", "Write allow: or deny:.",
                             document.key_span(strange), strange)  # fmt: skip


def _check_side(document: AgentDocument, side: str, rows: object) -> Iterator[AgentViolation]:
    pointer = f"/permissions/{side}"
    if isinstance(rows, dict):
        yield AgentViolation(f"permissions.{side} is a table, expected a list of tools with their patterns",
                             "Put a dash before each tool.", document.span_of(pointer), pointer,
                             edits=_make_rows(document, pointer, rows), fix_message="Convert it to a list")  # fmt: skip
        yield from _check_row(document, pointer, rows)
    elif isinstance(rows, list):
        for index, row in enumerate(rows[:MAX_PATTERNS]):
            if isinstance(row, dict):
                yield from _check_row(document, f"{pointer}/{index}", row)
            else:
                yield _report_item(document, side, f"{pointer}/{index}", row)
    elif rows is not None:
        yield AgentViolation(f"permissions.{side} isn't a list of tools with their patterns",
                             'Write each tool on its own line, such as - bash: ["grep"].', document.span_of(pointer),
                             pointer)  # fmt: skip


def _report_item(document: AgentDocument, side: str, pointer: str, item: object) -> AgentViolation:
    """An item that is no table: one in Claude Code's form is understood all the same."""
    tool, found = read_claude_rule(item, side) if isinstance(item, str) else ("", [])
    if not tool:
        return AgentViolation(
            f"an item of permissions.{side} isn't a tool with its patterns",
            'Write it as - bash: ["grep"].',
            document.span_of(pointer),
            pointer,
        )
    form = ", ".join(edits.quote(pattern) for pattern in found)
    return AgentViolation(
        f"an item of permissions.{side} isn't a tool with its patterns, but a rule in Claude Code's syntax",
        f"Write it as - {tool}: [{form}].",
        document.span_of(pointer),
        pointer,
        severity="warning",
    )


def _check_row(document: AgentDocument, pointer: str, row: dict[str, Any]) -> Iterator[AgentViolation]:
    for tool, value in list(row.items())[:MAX_PATTERNS]:
        at = f"{pointer}/{tool}"
        if isinstance(value, list):
            for index, item in enumerate(value):
                if not isinstance(item, str):
                    yield AgentViolation(f"a pattern of {tool[:80]} isn't a string", "Quote it.",
                                         document.span_of(f"{at}/{index}"), f"{at}/{index}",
                                         edits=_quote_written(document, f"{at}/{index}", item))  # fmt: skip
        else:
            listed = f"[{edits.quote(value)}]" if isinstance(value, str) else ""
            yield AgentViolation(
                f"the patterns of {tool[:80]} aren't a list",
                "Write them in brackets, each in quotes.",
                document.span_of(at),
                at,
                fix_message="Convert it to a list",
                edits=edits.replace_value(document, at, listed) if listed else (),
            )


def _quote_written(document: AgentDocument, pointer: str, item: object) -> tuple[edits.Change, ...]:
    """A number as the text that stands there."""
    if isinstance(item, list | dict) or item is None:
        return ()
    start, end = document.span_of(pointer)
    return edits.replace_value(document, pointer, edits.quote(document.text[start:end]))


def _make_rows(document: AgentDocument, pointer: str, rows: dict[str, Any]) -> tuple[edits.Change, ...]:
    """A dash before each key; between brackets, a list around the table."""
    found = document.frontmatter
    if found is None or found.shared or pointer not in found.spans or not rows:
        return ()
    start, end = found.spans[pointer]
    if pointer in found.flow:
        return (start, start, "["), (end, end, "]")
    starts = [found.keys[f"{pointer}/{tool}"][0] for tool in rows if f"{pointer}/{tool}" in found.keys]
    if len(starts) < len(rows):
        return ()
    # the dash moves the key by two; what stands below it must stay at least as far in as the key is then
    column = _column_of(document, starts[0]) + 2
    deep = all(_column_of(document, found.spans[f"{pointer}/{tool}"][0]) >= column for tool in rows)
    return tuple((at, at, "- ") for at in starts) if deep else ()


def _column_of(document: AgentDocument, at: int) -> int:
    return at - (document.text.rfind("\n", 0, at) + 1)


@agent_rule("AGT055", profiles=_READ, fix="unsafe")
def permission_tool_unknown(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A permission names a tool that doesn't exist.

    Why: the rule denies nothing. If another tool was probably meant, Remit denies the agent all tools until the
    name is corrected.

    Bad: `deny: [{bahs: ["rm"]}]`

    Good: `deny: [{bash: ["rm"]}]`

    Fix (unsafe): writes the tool that was probably meant.
    """
    document = case.document
    for side in ("allow", "deny"):
        for tool, pointer, _ in islice(read_permissions(document, side), MAX_PATTERNS):
            if is_strange_tool(tool) and pointer.rpartition("/")[2] == escape_key(tool):
                yield _report_unknown(document, tool, pointer, is_key=True)


@agent_rule("AGT056", severity="warning", fix="unsafe")
def permission_for_disabled_tool(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A permission allows something for a tool that is turned off.

    Why: one of the two is a mistake: the agent lacks a tool that it needs, or the permission is left over. A tool
    that is only misspelled in `tools` counts as turned off or on there.

    Bad: `tools: {write: false}` and `allow: [{write: ["docs/**"]}]`

    Good: `tools: {write: true}` and `allow: [{write: ["docs/**"]}]`

    Fix (unsafe): removes the permission.
    """
    document = case.document
    switched = document.get_section("tools")
    if not isinstance(switched, dict):
        return
    for tool, pointer, found in islice(read_permissions(document, "allow"), MAX_PATTERNS):
        if tool not in TOOLS or switched.get(tool) is True or not found or isinstance(switched.get(tool), str):
            continue
        strange = islice((name for name in switched if name not in TOOLS), MAX_PATTERNS)
        if tool not in switched and any(guess(name, TOOLS)[0] == tool for name in strange):
            continue  # it is only misspelt there, which is told
        why = "turned off" if tool in switched else "not turned on"
        yield AgentViolation(f"{tool} has permissions, but is {why} in tools",
                             f"Turn {tool} on, or remove its permissions.", document.key_span(pointer), pointer,
                             edits=_remove_tool(document, pointer), fix_message="Remove the permission")  # fmt: skip


def _remove_tool(document: AgentDocument, pointer: str) -> tuple[edits.Change, ...]:
    """A whole row, or one of the tools in it."""
    row = pointer.rpartition("/")[0]
    keys = document.frontmatter.keys if document.frontmatter else {}
    alone = sum(key.rpartition("/")[0] == row for key in keys) == 1
    return edits.remove_item(document, row) if alone and row.count("/") > 2 else edits.remove_key(document, pointer)  # noqa: PLR2004 - /permissions/allow/0


# --- rules that speak of each other ----------------------------------------------------------------------------------


class PermissionEntry(NamedTuple):
    """One pattern of one tool."""

    tool: str
    pattern: str
    pointer: str


def list_entries(document: AgentDocument, side: str) -> dict[str, list[PermissionEntry]]:
    """The patterns of one side, by tool."""
    found: dict[str, list[PermissionEntry]] = {}
    for tool, _, rows in islice(read_permissions(document, side), MAX_PATTERNS):
        entries = found.setdefault(tool, [])
        room = MAX_PATTERNS - len(entries)
        entries += [PermissionEntry(tool, pattern.strip(), pointer) for pattern, pointer in rows[:room]]
    return found


def _pick_comparison(tool: str) -> Callable[[str, str], bool]:
    return patterns.covers_command if tool == "bash" else patterns.covers


def _find_cover(entry: PermissionEntry, others: list[PermissionEntry]) -> PermissionEntry | None:
    """The first of some entries that covers another wholly."""
    covers = _pick_comparison(entry.tool)
    return next((other for other in others if covers(other.pattern, entry.pattern)), None)


def _list_pairs(document: AgentDocument) -> Iterator[tuple[PermissionEntry, PermissionEntry]]:
    """Everything allowed that is denied again, and by what: by the same pattern, else by one that covers it."""
    allow, deny = list_entries(document, "allow"), list_entries(document, "deny")
    for tool, entries in allow.items():
        same = {entry.pattern: entry for entry in reversed(deny.get(tool, []))}
        for entry in entries:
            denial = same.get(entry.pattern) or _find_cover(entry, deny.get(tool, []))
            if denial is not None:
                yield entry, denial


@agent_rule("AGT057", fix="unsafe")
def permission_conflict(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The same pattern is in `allow` and in `deny`.

    Why: deny wins, so the permission never takes effect. A reader may think that it does.

    Bad: `allow: [{bash: ["git"]}]` and `deny: [{bash: ["git"]}]`

    Good: `allow: [{bash: ["git"]}]` and `deny: [{bash: ["rm"]}]`

    Fix (unsafe): removes the pattern from `allow`, since it is denied in any case.
    """
    for entry, denial in _list_pairs(case.document):
        if entry.pattern == denial.pattern:
            yield AgentViolation(f"{entry.tool} has the same pattern in allow and deny: {show(entry.pattern)}",
                                 "Remove it from one of them; deny wins.", case.document.span_of(entry.pointer),
                                 entry.pointer, edits=remove_entry(case.document, entry),
                                 fix_message="Remove it from allow")  # fmt: skip


@agent_rule("AGT058", severity="warning", fix="unsafe")
def permission_without_effect(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A wider `deny` rule covers an allowed pattern.

    Why: deny wins, so the permission never takes effect.

    Bad: `allow: [{write: ["docs/plan.md"]}]` and `deny: [{write: ["docs/**"]}]`

    Good: `allow: [{write: ["specs/plan.md"]}]` and `deny: [{write: ["docs/**"]}]`

    Fix (unsafe): removes the permission, since it is denied in any case.
    """
    for entry, denial in _list_pairs(case.document):
        if entry.pattern != denial.pattern:
            yield AgentViolation(
                f"{entry.tool} is never allowed {show(entry.pattern)}: {show(denial.pattern)} is denied",
                "Deny less, or remove the permission.",
                case.document.span_of(entry.pointer),
                entry.pointer,
                edits=remove_entry(case.document, entry),
                fix_message="Remove it from allow",
            )


@agent_rule("AGT059", severity="note", fix="safe")
def permission_redundant(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A wider `allow` pattern covers this one.

    Why: removing the narrow pattern seems to remove a permission, but the wide one still grants it.

    Bad: `read: ["**/*", "docs/**"]`

    Good: `read: ["**/*"]`

    Fix (safe): removes the narrow pattern; the agent's permissions stay the same.
    """
    document = case.document
    denied = {entry.pointer for entry, _ in _list_pairs(document)}
    for entries in list_entries(document, "allow").values():
        wide = [entry for entry in entries if entry.pattern != "*"]  # not every harness lets a star cross folders
        for at, entry in enumerate(entries):
            cover = next((other for other in wide if _makes_redundant(other, entry, entries, at)), None)
            if cover is not None and entry.pointer not in denied:
                yield AgentViolation(
                    f"{show(entry.pattern)} is allowed by {show(cover.pattern)} as well",
                    "Remove the narrower one.",
                    document.span_of(entry.pointer),
                    entry.pointer,
                    edits=remove_entry(document, entry),
                    fix_message="Remove the narrower one",
                )


def _makes_redundant(other: PermissionEntry, entry: PermissionEntry, entries: list[PermissionEntry], at: int) -> bool:
    """Whether one entry covers another one; of two that mean the same, the first stays."""
    covers = _pick_comparison(entry.tool)
    if other.pattern == entry.pattern or not covers(other.pattern, entry.pattern):
        return False
    return not covers(entry.pattern, other.pattern) or other in entries[:at]


@agent_rule("AGT060", severity="warning", fix="safe")
def permission_duplicate(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A list has the same pattern twice.

    Why: removing one of them seems to remove the rule, but the other one still applies.

    Bad: `bash: ["rm", "sudo", "rm"]`

    Good: `bash: ["rm", "sudo"]`

    Fix (safe): removes the second one.
    """
    document = case.document
    for side in ("allow", "deny"):
        for entries in list_entries(document, side).values():
            seen: set[str] = set()
            for entry in entries:
                if entry.pattern in seen:
                    yield AgentViolation(
                        f"{show(entry.pattern)} is twice in {side} for {entry.tool[:80]}",
                        "Remove one of the two.",
                        document.span_of(entry.pointer),
                        entry.pointer,
                        edits=remove_entry(document, entry),
                        fix_message="Remove the second one",
                    )
                seen.add(entry.pattern)


def remove_entry(document: AgentDocument, entry: PermissionEntry) -> tuple[edits.Change, ...]:
    """One pattern from its list; a text that stands for a list is left alone."""
    return edits.remove_item(document, entry.pointer) if entry.pointer.rpartition("/")[2].isdigit() else ()

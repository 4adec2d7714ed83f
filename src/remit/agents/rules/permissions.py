"""Rules on permissions: syntax, contradictions, gaps, and how the kernel enforces them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from remit.agents import edits, patterns
from remit.agents.definition import (
    find_misspelled_permissions,
    find_unread,
    is_strange_tool,
    read_claude_rule,
    read_permissions,
    read_tools,
)
from remit.agents.patterns import (
    RUNNERS,
    allows_everything,
    covers,
    covers_command,
    matches_command,
    matches_path,
    normalize_command,
)
from remit.agents.profiles import TOOLS
from remit.agents.rules.field_table import is_missing, show, suggest
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.agents.rules.tools import report_unknown_tool
from remit.globs import EVERYTHING, is_pattern
from remit.harnesses import claude, codex, opencode
from remit.light_namedtuple import NamedTuple
from remit.positions import escape_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.profiles import Profile


_READ: tuple[Profile, ...] = ("standard", "claude", "opencode")
"""The profiles whose permissions Remit's hooks enforce."""
MAX_PATTERNS = 100
"""Maximum patterns of a tool under `allow` or `deny` that are compared with each other."""


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
    misspelled = find_misspelled_permissions(document) if document.profile != "standard" else ""
    if misspelled:
        at = f"/{escape_key(misspelled)}"
        yield AgentViolation(f"unknown key {show(misspelled)}: it isn't enforced", "Write permissions.",
                             document.key_span(at), at)  # fmt: skip
    if table is None:
        return
    if not isinstance(table, dict):
        yield AgentViolation("permissions isn't a table with allow and deny", "Write allow: and deny: below it.",
                             document.span_of("/permissions"), "/permissions")  # fmt: skip
        return
    for side in ("allow", "deny"):
        yield from _check_side(document, side, table.get(side))
    unread = find_unread(document) if document.profile != "standard" else None  # AGT024 reports it
    if unread is not None and unread.count("/") == 2 and unread.rpartition("/")[2] not in ("allow", "deny"):  # noqa: PLR2004 - a key of the table
        yield AgentViolation("permissions has a side that is neither allow nor deny", "Write allow: or deny:.",
                             document.key_span(unread), unread)  # fmt: skip


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
    """Report an item that isn't a table. An item in Claude Code's syntax is still read."""
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
    """Quote a number as it is written."""
    if isinstance(item, list | dict) or item is None:
        return ()
    start, end = document.span_of(pointer)
    return edits.replace_value(document, pointer, edits.quote(document.text[start:end]))


def _make_rows(document: AgentDocument, pointer: str, rows: dict[str, Any]) -> tuple[edits.Change, ...]:
    """Turn a table into a list: a dash before each key, or brackets around the table."""
    found = document.frontmatter
    if found is None or found.shared or pointer not in found.spans or not rows:
        return ()
    start, end = found.spans[pointer]
    if pointer in found.flow:
        return (start, start, "["), (end, end, "]")
    starts = [found.keys[f"{pointer}/{tool}"][0] for tool in rows if f"{pointer}/{tool}" in found.keys]
    if len(starts) < len(rows):
        return ()
    # the dash moves the key by two, and lines below must not be indented less
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
                yield report_unknown_tool(document, tool, pointer, is_key=True)


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
        unknown = islice((name for name in switched if name not in TOOLS), MAX_PATTERNS)
        if tool not in switched and any(suggest(name, TOOLS)[0] == tool for name in unknown):
            continue  # another rule reports the misspelled tool
        why = "turned off" if tool in switched else "not turned on"
        yield AgentViolation(f"{tool} has permissions, but is {why} in tools",
                             f"Turn {tool} on, or remove its permissions.", document.key_span(pointer), pointer,
                             edits=_remove_tool(document, pointer), fix_message="Remove the permission")  # fmt: skip


def _remove_tool(document: AgentDocument, pointer: str) -> tuple[edits.Change, ...]:
    """Remove a row, or one tool of it."""
    row = pointer.rpartition("/")[0]
    keys = document.frontmatter.keys if document.frontmatter else {}
    alone = sum(key.rpartition("/")[0] == row for key in keys) == 1
    return edits.remove_item(document, row) if alone and row.count("/") > 2 else edits.remove_key(document, pointer)  # noqa: PLR2004 - /permissions/allow/0


# --- contradictions --------------------------------------------------------------------------------------------------


class PermissionEntry(NamedTuple):
    """A pattern of a tool."""

    tool: str
    pattern: str
    pointer: str


def list_entries(document: AgentDocument, side: str) -> dict[str, list[PermissionEntry]]:
    """Return the patterns under `allow` or `deny`, by tool."""
    found: dict[str, list[PermissionEntry]] = {}
    for tool, _, rows in islice(read_permissions(document, side), MAX_PATTERNS):
        entries = found.setdefault(tool, [])
        room = MAX_PATTERNS - len(entries)
        entries += [PermissionEntry(tool, pattern.strip(), pointer) for pattern, pointer in rows[:room]]
    return found


def _pick_comparison(tool: str) -> Callable[[str, str], bool]:
    return patterns.covers_command if tool == "bash" else patterns.covers


def _list_pairs(document: AgentDocument) -> Iterator[tuple[PermissionEntry, PermissionEntry]]:
    """Yield each allowed entry with the entry that denies it: the same pattern, else one that covers it."""
    allow, deny = list_entries(document, "allow"), list_entries(document, "deny")
    for tool, entries in allow.items():
        same = {entry.pattern: entry for entry in reversed(deny.get(tool, []))}
        for entry in entries:
            covers_pattern = _pick_comparison(tool)
            wider = (each for each in deny.get(tool, []) if covers_pattern(each.pattern, entry.pattern))
            denial = same.get(entry.pattern) or next(wider, None)
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
        wide = [
            entry for entry in entries if entry.pattern != "*"
        ]  # in some harnesses, a star doesn't match across folders
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
    """Whether one entry makes another redundant. Of two equivalent entries, the first is kept."""
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
    """Remove a pattern from its list. A single string isn't changed."""
    return edits.remove_item(document, entry.pointer) if entry.pointer.rpartition("/")[2].isdigit() else ()


PATH_TOOLS = frozenset({"read", "write", "edit", "grep", "glob"})


def _is_on(document: AgentDocument, tool: str) -> bool | None:
    """Whether a tool is on, or None if the file lists no tools."""
    names = read_tools(document)
    return None if names is None or document.get_section("tools") is None else tool in names


def _is_complete(document: AgentDocument) -> bool:
    """Whether the permissions were read completely, so that rules can report what is missing."""
    found = document.frontmatter
    cut = found is not None and any(problem.kind == "limit" for problem in found.problems)
    return not cut and not isinstance(document.values.get("permissions"), str)


@agent_rule("AGT061", severity="warning")
def bash_unrestricted(case: AgentFileContext) -> Iterator[AgentViolation]:
    """Bash is on, and no list limits its commands.

    Why: a shell can do everything that the user can, regardless of the rules for reading and writing. Every command
    that isn't denied can be run, and no deny list is complete.

    Bad: `tools: {bash: true}` and no `bash` under `allow`, or `allow: [{bash: ["*"]}]`

    Good: `allow: [{bash: ["grep", "wc", "git status"]}]`
    """
    document = case.document
    if not _is_on(document, "bash") or not _is_complete(document):
        return
    allowed = list_entries(document, "allow").get("bash")
    everything = next((entry for entry in allowed or () if allows_everything(entry.pattern)), None)
    if allowed is not None and everything is None:
        return
    pointer = everything.pointer if everything else "/tools/bash"
    message = "bash can run every command" if everything else "bash is on, and no list limits its commands"
    yield AgentViolation(
        message, "List under allow the commands that the agent needs.", document.key_span(pointer), pointer
    )


class ProtectedSample(NamedTuple):
    """A protected path: an example, and the pattern that denies it."""

    sample: str
    pattern: str


_SETTINGS = {
    "opencode": ProtectedSample(opencode.SETTINGS_FILE, opencode.SETTINGS_FILE),
    "claude": ProtectedSample(claude.SHARED_SETTINGS, claude.SETTINGS_PATTERN),
    "codex": ProtectedSample(codex.SETTINGS_FILE, codex.SETTINGS_FILE),
}


def _list_protected(document: AgentDocument) -> Iterator[ProtectedSample]:
    """Yield the protected paths: git's hooks, Remit's files, the agent's folder, the harness's settings."""
    yield ProtectedSample(".git/hooks/pre-commit", ".git/**/*")
    yield ProtectedSample(".remit/ledger.db", ".remit/**/*")
    yield ProtectedSample("remit.toml", "remit.toml")
    folders = document.path.split("/")[:-1]
    depth = next((at for at, name in enumerate(folders) if name in ("agent", "agents")), None)
    if depth is not None and not is_pattern(document.path):
        yield ProtectedSample(document.path, "/".join([*folders[: depth + 1], "**/*"]))
    if document.place in _SETTINGS:
        yield _SETTINGS[document.place]


@agent_rule("AGT062", severity="warning", fix="unsafe")
def protected_path_writable(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The agent can write to files that control agents.

    Why: an agent that can write a git hook, an agent file, Remit's files or the harness's settings can give itself
    any other permission.

    Bad: `allow: [{write: ["**/*"]}]` and `deny: [{bash: ["rm"]}]`

    Good: `allow: [{write: ["**/*"]}]` and `deny: [{write: [".git/**/*", "remit.toml", …]}]`

    Fix (unsafe): denies writing to these paths.
    """
    document = case.document
    if not isinstance(document.get_section("permissions"), dict) or not _is_complete(document):
        return
    allow, deny = list_entries(document, "allow"), list_entries(document, "deny")
    for tool in ("write", "edit"):
        allowed = allow.get(tool)
        if _is_on(document, tool) is False or (allowed is None and (tool == "edit" or not _is_on(document, tool))):
            continue  # by default, edit has the patterns of write
        wide = [entry for entry in allowed or () if not entry.pattern.startswith("!")]
        denied = [entry.pattern.removeprefix("!") for entry in [*deny.get(tool, []), *(allowed or ())]
                  if entry in deny.get(tool, []) or entry.pattern.startswith("!")]  # fmt: skip
        open_places = [
            place for place in _list_protected(document)
            if (allowed is None or any(matches_path(entry.pattern, place.sample) for entry in wide))
            and not any(matches_path(pattern, place.sample) for pattern in denied)
        ]  # fmt: skip
        if open_places:
            yield _report_open(document, tool, wide, open_places)


def _report_open(
    document: AgentDocument, tool: str, wide: list[PermissionEntry], places: list[ProtectedSample]
) -> AgentViolation:
    names = ", ".join(place.pattern.removesuffix("/**/*") for place in places)
    entry = next((each for each in wide if matches_path(each.pattern, places[0].sample)), None)
    meant = any(covers(place.pattern, each.pattern) for each in wide for place in places)
    pointer = entry.pointer if entry else f"/tools/{tool}"
    return AgentViolation(
        f"{tool} can change {names}",
        "Deny them, or allow less.",
        document.key_span(pointer),
        pointer,
        edits=() if meant else add_denials(document, tool, [place.pattern for place in places]),
        fix_message="Deny them",
    )


def add_denials(document: AgentDocument, tool: str, denied: list[str]) -> tuple[edits.Change, ...]:
    """Deny patterns of a tool: add them to its list, or add a row."""
    found = document.frontmatter
    texts = [edits.quote(pattern) for pattern in denied]
    if found is None or not isinstance(document.get("permissions", "deny"), list):
        return ()
    for name, pointer, _ in islice(read_permissions(document, "deny"), MAX_PATTERNS):
        if name == tool and pointer in found.flow:
            return edits.add_item(document, pointer, ", ".join(texts))
        if name == tool and f"{pointer}/0" in found.spans:
            return tuple(change for text in texts for change in edits.add_item(document, pointer, text))
    row = f"{tool}: [{', '.join(texts)}]"
    between = "/permissions/deny" in found.flow
    return edits.add_item(document, "/permissions/deny", f"{{{row}}}" if between else row)


@agent_rule("AGT063", severity="warning")
def pattern_outside_workspace(case: AgentFileContext) -> Iterator[AgentViolation]:
    """An allowed pattern is outside of the workspace.

    Why: patterns are relative to the workspace root. An absolute path is different on every machine, and a path
    with `..` reaches other projects.

    Bad: `read: ["/etc/**"]`, `write: ["../**"]`

    Good: `read: ["docs/**"]`
    """
    document = case.document
    for tool, entries in list_entries(document, "allow").items():
        for entry in entries if tool in PATH_TOOLS else ():
            pattern = entry.pattern.removeprefix("!")
            absolute = pattern.startswith(("/", "~", "\\")) or pattern[1:3] in (":\\", ":/")
            if absolute or _climbs(pattern):
                yield AgentViolation(f"{tool} is allowed {show(pattern)}, which is outside of the workspace",
                                     "Allow paths relative to the workspace root.",
                                     document.span_of(entry.pointer), entry.pointer)  # fmt: skip


def _climbs(pattern: str) -> bool:
    depth = 0
    for part in pattern.replace("\\", "/").split("/"):
        depth += -1 if part == ".." else 0 if part in ("", ".", "**") else 1
        if depth < 0:
            return True
    return False


# --- gaps in deny rules ----------------------------------------------------------------------------------------------


def _read_bash(document: AgentDocument) -> tuple[list[PermissionEntry], list[PermissionEntry] | None]:
    """Return the denied and allowed commands. Allowed is None without a list; both are empty if bash is off."""
    if _is_on(document, "bash") is False:
        return [], []
    allowed = list_entries(document, "allow").get("bash")
    if allowed is not None and any(allows_everything(entry.pattern) for entry in allowed):
        allowed = None
    return list_entries(document, "deny").get("bash", []), allowed


@agent_rule("AGT064", severity="warning", fix="unsafe")
def deny_rule_bypassable(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A deny rule covers only some spellings of a command that is allowed.

    Why: a bash pattern is the beginning of a command, word by word. The same command has other spellings: flags
    apart, in another order, in their long form or further back; the program by its path or through another program.
    No deny list is complete. A command that isn't on the allow list can't be run in any spelling. If Remit confines
    the agent, it also compares each program with the rules when it starts, which catches other programs but not
    other flags.

    Bad: `allow: [{bash: ["git"]}]` and `deny: [{bash: ["git push --force"]}]`: `git push -f` does the same

    Good: `allow: [{bash: ["git status", "git diff"]}]` and `deny: [{bash: ["git push"]}]`

    Fix (unsafe): denies the command with any flags. Without an allow list, there is no fix: write one.
    """
    document = case.document
    denied, allowed = _read_bash(document)
    for entry in denied:
        command = normalize_command(entry.pattern)
        others = [each.pattern for each in denied if each is not entry]
        if "*" in command or any(covers_command(each, command) for each in others):
            continue
        if allowed is None:
            rest = f", one of {len(denied)} deny rules," if others else ""
            yield AgentViolation(
                f"denying {show(entry.pattern)}{rest} has gaps: other spellings of it aren't denied",
                "List under allow the commands that the agent needs; no deny list is complete.",
                document.span_of(entry.pointer),
                entry.pointer,
            )
            return
        wide = next(
            (
                each.pattern
                for each in allowed
                if covers_command(each.pattern, command) and normalize_command(each.pattern) != command
            ),
            None,
        )
        if wide is not None:
            stem = command.partition(" -")[0]
            yield AgentViolation(
                f"{show(entry.pattern)} is denied, but {show(wide)} can allow other spellings of it",
                "Allow less, or deny the command with any flags.",
                document.span_of(entry.pointer),
                entry.pointer,
                edits=add_denials(document, "bash", [stem]) if stem != command else (),
                fix_message=f"Deny {stem}.",
            )


_HARMLESS_REST = {"find": ["find *-exec", "find *-execdir", "find *-ok", "find *-okdir"], "git": ["git -*"]}
"""The options to deny so that a program can't run others."""


@agent_rule("AGT065", severity="warning", fix="unsafe")
def allowed_program_runs_others(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The allow list has a program that can run any other program.

    Why: an agent that can run `bash`, `python`, `env`, `xargs` or `find` can run every program through it. Neither
    the allow list nor a deny list prevents that, unless Remit confines the agent and compares each program with the
    rules when it starts. Reported once per list.

    Bad: `bash: ["grep", "find"]`

    Good: `bash: ["grep", "ls"]`, or `find` with the flags denied that run programs

    Fix (unsafe): denies the flags that run other programs if that is enough; otherwise, removes the program from
    the list.
    """
    document = case.document
    denied, allowed = _read_bash(document)
    deny = [entry.pattern for entry in denied]
    programs = {normalize_command(entry.pattern).partition(" ")[0] for entry in allowed or ()}
    ways = [way for way in RUNNERS if way.partition(" ")[0] in programs]
    ways = [way for way in ways if not any(matches_command(pattern, way) for pattern in deny)]
    entries = [entry for entry in allowed or () if any(matches_command(entry.pattern, way) for way in ways)]
    if not entries:
        return
    first = entries[0]
    *others, last = dict.fromkeys(entry.pattern[:40] for entry in entries)
    names = f"{', '.join(others)} and {last}" if others else last
    program = normalize_command(first.pattern).split(" ", 1)[0]
    closing = _HARMLESS_REST.get(program)
    change = add_denials(document, "bash", closing) if closing else remove_entry(document, first)
    yield AgentViolation(
        f"{names} can run any other program",
        "Allow only programs that can't run others.",
        document.span_of(first.pointer),
        first.pointer,
        edits=change,
        fix_message=f"{'Deny the flags that run others' if closing else 'Remove it from the list'}: {program}",
    )


@agent_rule("AGT066", severity="warning", fix="unsafe")
def pattern_negated(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A pattern begins with an exclamation mark.

    Why: patterns have no negation. The paths after the exclamation mark stay allowed.

    Bad: `write: ["**/*", "!.git/**/*"]` under `allow`

    Good: `write: ["**/*"]` under `allow`, `write: [".git/**/*"]` under `deny`

    Fix (unsafe): moves the pattern to `deny`, without the exclamation mark.
    """
    document = case.document
    for tool, entries in list_entries(document, "allow").items():
        for entry in entries:
            if entry.pattern.startswith("!") and tool in PATH_TOOLS:
                removed = remove_entry(document, entry)
                added = add_denials(document, tool, [entry.pattern[1:].strip()]) if removed else ()
                yield AgentViolation(
                    f"{show(entry.pattern)} excludes nothing: patterns have no negation",
                    "Move it to deny, without the exclamation mark.",
                    document.span_of(entry.pointer),
                    entry.pointer,
                    edits=(*removed, *added) if added else (),
                    fix_message="Move it to deny",
                )


_WRITING = ("write", "edit")
_EXACT = (["**"], ["**", "*"], ["**", "**"])
"""Ends of a pattern that match a folder with all its content."""
_PROTECTED = frozenset({claude.SETTINGS_PATTERN, opencode.SETTINGS_PATTERN})
"""Files that Remit protects from all agents, including missing ones."""


class _Form(NamedTuple):
    """A pattern as the kernel can enforce it: the path before its first star, and whether it covers a whole folder."""

    path: str
    has_stars: bool
    is_folder: bool


def _read_form(pattern: str) -> _Form:
    parts = [part for part in pattern.removeprefix("./").split("/") if part != "."]
    if parts[-1:] == [""]:
        parts[-1] = "**"
    at = next((at for at, part in enumerate(parts) if is_pattern(part)), len(parts))
    path = "/".join(parts[:at]) or ("/" if pattern.startswith("/") else ".")
    return _Form(path, at < len(parts), parts[at:] in _EXACT)


@agent_rule("AGT160", severity="note", profiles=("standard", "claude", "opencode"))
def permission_not_enforceable(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The kernel enforces a permission differently from how it is written.

    Why: the kernel knows files and folders, but no patterns. Remit compares each tool call with the pattern. For
    the commands of a confined agent, the kernel allows the whole folder before a star, protects and hides only
    files that exist when the agent starts, doesn't limit reading to the allowed files, and lets no program replace
    a file that is allowed by its name (`sed -i`, `git checkout`). An agent without bash isn't reported.

    Bad: `allow: [{write: ["docs/**/*.md"]}]`

    Good: `allow: [{write: ["docs/**"]}]`
    """
    document = case.document
    tools = read_tools(document)
    if tools is not None and document.get_section("tools") is not None and "bash" not in tools:
        return
    allow, deny = list_entries(document, "allow"), list_entries(document, "deny")
    seen: set[str] = set()
    for entry in (entry for tool in _WRITING for entry in allow.get(tool, ())):
        if entry.pattern not in seen and not entry.pattern.startswith("!"):
            yield from _check_allowed(document, entry)
        seen.add(entry.pattern)
    if all(tool in allow for tool in _WRITING):
        write, edit = ({entry.pattern for entry in allow[tool]} for tool in _WRITING)
        if write != edit and allow["edit"]:
            message = "write and edit are allowed different patterns; commands may write what one of the two allows"
            yield _report(document, allow["edit"][0], message, "Allow both the same.")
    reading = allow.get("read", [])
    if reading and not any(entry.pattern in EVERYTHING for entry in reading):
        yield _report(document, reading[0], "the kernel doesn't limit commands to the files that read is allowed",
                      "Deny read what commands may not read.")  # fmt: skip
    seen.clear()
    for entry in (entry for tool in (*_WRITING, "read") for entry in deny.get(tool, ())):
        form = _read_form(entry.pattern)
        if entry.pattern not in seen | _PROTECTED and form.has_stars and not form.is_folder:
            does = "hides" if entry.tool == "read" else "protects"
            message = (
                f"the kernel {does} what matches {show(entry.pattern)} when the agent starts, not what is made later"
            )
            yield _report(document, entry, message, "Deny a whole folder, or review the files that the agent makes.")
        seen.add(entry.pattern)


def _check_allowed(document: AgentDocument, entry: PermissionEntry) -> Iterator[AgentViolation]:
    """Report how the kernel enforces a pattern that is allowed to be written."""
    form = _read_form(entry.pattern)
    if form.has_stars and not form.is_folder:
        where = "the workspace" if form.path == "." else show(form.path)
        message = f"the kernel can't enforce {show(entry.pattern)}; commands may write everything in {where}"
        yield _report(document, entry, message, "Allow a whole folder that contains only what the agent may write.")
    elif not form.has_stars:
        message = (
            f"the kernel lets commands change {show(entry.pattern)} in place; a program that replaces the file fails"
        )
        hint = f"Allow its folder if programs have to replace it. If it is a folder, write {show(f'{form.path}/**')}."
        yield _report(document, entry, message, hint)


def _report(document: AgentDocument, entry: PermissionEntry, message: str, hint: str) -> AgentViolation:
    return AgentViolation(message, hint, document.span_of(entry.pointer), entry.pointer)

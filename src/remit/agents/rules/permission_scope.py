"""Rules on the reach of permissions: what they let through, and whether what they deny stays denied."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.definition import read_permissions, read_tools
from remit.agents.patterns import (
    RUNNERS,
    allows_everything,
    covers,
    covers_command,
    matches_command,
    matches_path,
    normalize_command,
)
from remit.agents.rules.field_lookup import show
from remit.agents.rules.permissions import MAX_PATTERNS, PermissionEntry, list_entries, remove_entry
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.globs import is_pattern
from remit.harnesses import claude, codex, opencode
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument

PATH_TOOLS = frozenset({"read", "write", "edit", "grep", "glob"})


def _is_on(document: AgentDocument, tool: str) -> bool | None:
    """Whether a tool is switched on; None where the file says nothing of tools."""
    names = read_tools(document)
    return None if names is None or document.get_section("tools") is None else tool in names


def _can_be_read(document: AgentDocument) -> bool:
    """Whether what the permissions do not say can be called missing: their YAML is whole, and no cap cut it short."""
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
    if not _is_on(document, "bash") or not _can_be_read(document):
        return
    allowed = list_entries(document, "allow").get("bash")
    everything = next((entry for entry in allowed or () if allows_everything(entry.pattern)), None)
    if allowed is not None and everything is None:
        return
    pointer = everything.pointer if everything else "/tools/bash"
    told = "bash can run every command" if everything else "bash is on, and no list limits its commands"
    yield AgentViolation(
        told, "List under allow the commands that the agent needs.", document.key_span(pointer), pointer
    )


class ProtectedSample(NamedTuple):
    """What an agent should not change: a path in it, and the pattern that keeps it from there."""

    sample: str
    pattern: str


_SETTINGS = {
    "opencode": ProtectedSample(opencode.SETTINGS_FILE, opencode.SETTINGS_FILE),
    "claude": ProtectedSample(claude.SHARED_SETTINGS, claude.SETTINGS_PATTERN),
    "codex": ProtectedSample(codex.SETTINGS_FILE, codex.SETTINGS_FILE),
}


def _list_protected(document: AgentDocument) -> Iterator[ProtectedSample]:
    """What runs or rules the agents: git's hooks, Remit's own files, the agent's file, the harness's settings."""
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
    if not isinstance(document.get_section("permissions"), dict) or not _can_be_read(document):
        return
    allow, deny = list_entries(document, "allow"), list_entries(document, "deny")
    for tool in ("write", "edit"):
        allowed = allow.get(tool)
        if _is_on(document, tool) is False or (allowed is None and (tool == "edit" or not _is_on(document, tool))):
            continue  # edit goes where write may, if nothing else is said
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
    """Add patterns to what a tool is denied: to its list, or as a row of their own."""
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


# --- whether denials hold --------------------------------------------------------------------------------------------


def _read_bash(document: AgentDocument) -> tuple[list[PermissionEntry], list[PermissionEntry] | None]:
    """What bash is denied, and what it is allowed; None where nothing limits it. Nothing where it is off."""
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
        wide = next((each.pattern for each in allowed if _is_part(command, each.pattern)), None)
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


def _is_part(command: str, pattern: str) -> bool:
    """Whether a pattern matches a command and others, too."""
    return covers_command(pattern, command) and normalize_command(pattern) != command


_HARMLESS_REST = {"find": ["find *-exec", "find *-execdir", "find *-ok", "find *-okdir"], "git": ["git -*"]}
"""What to deny so that the rest of a program runs nothing else."""


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

    Why: patterns have no negation. What should be excluded stays allowed.

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

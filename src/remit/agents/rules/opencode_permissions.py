"""Rules on permissions and tools of opencode's agents: their syntax, their order, and gaps in deny rules.

Checked with version 1.18. One value of the wrong type in one agent file, and opencode doesn't start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.patterns import RUNNERS, matches_whole, normalize_command
from remit.agents.rules.field_lookup import TRUTHS, guess, list_names, show
from remit.agents.rules.register import MAX_REPORTS, AgentFileContext, AgentViolation, agent_rule
from remit.harnesses import opencode
from remit.light_namedtuple import NamedTuple
from remit.positions import escape_key
from remit.spelling import SURE, find_similar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.profiles import Profile

OPENCODE: tuple[Profile, ...] = ("opencode",)
RESTRICTIONS = (
    "permissions", "permissionMode", "allowed-tools", "allowedTools", "allowed_tools", "disallowedTools",
    "disallowed-tools", "disallowed_tools", "deny", "allow",
)  # fmt: skip
"""Other programs' names of the key that says what an agent may do."""
STOPS = "opencode doesn't start"
EDITS = opencode.EDITING_TOOLS
"""Names of tools under which opencode looks for no permission."""


def is_read(document: AgentDocument, pointer: str) -> bool:
    """Whether a table that is none can be told to be so: where the YAML is broken, a table is read as a text."""
    found = document.frontmatter
    return found is not None and (found.whole or not isinstance(document.values.get(pointer[1:]), str))


_ACTIONS = ("allow", "ask", "deny")
_WITHOUT_PATTERNS = frozenset({"question", "webfetch", "websearch", "doom_loop"})


def is_permission(value: object) -> bool:
    """Whether opencode can read a value as permissions."""
    return value in _ACTIONS if not isinstance(value, dict) else not any(_find_faults(value))


def _find_faults(rights: dict[str, object]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Each place in a table of permissions where no action stands, and what stands there."""
    for tool, right in rights.items():
        if isinstance(right, dict) and tool not in _WITHOUT_PATTERNS:
            for pattern, action in right.items():
                if action not in _ACTIONS:
                    yield (tool, pattern), action
        elif right not in _ACTIONS:
            yield (tool,), right


@agent_rule("AGT320", profiles=OPENCODE, fix="unsafe")
def opencode_permission_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A permission is neither allow, ask nor deny.

    Why: opencode doesn't start. `question`, `webfetch`, `websearch` and `doom_loop` take one of the three words and
    no patterns.

    Bad: `permission: {bash: true}`, `permission: {edit: denied}`

    Good: `permission: {bash: allow}`, `permission: {bash: {"git *": allow}}`

    Fix (unsafe): writes the word that was probably meant: allow for true, deny for false.
    """
    document = case.document
    rights = case.get("permission")
    if "permission" not in case.values or rights in _ACTIONS or not is_read(document, "/permission"):
        return
    faults = list(_find_faults(rights))[:MAX_REPORTS] if isinstance(rights, dict) else [((), rights)]
    for path, action in faults:
        pointer = "/permission" + "".join(f"/{escape_key(part)}" for part in path)
        name = ".".join(("permission", *path))[:80]
        meant, hint = _find_action(action)
        if isinstance(action, dict):
            hint = "Write allow, ask or deny; this permission has no patterns." if path else hint
        yield AgentViolation(f"{name} is {show(action)}, so {STOPS}", hint, document.key_span(pointer), pointer,
                             edits=edits.replace_value(document, pointer, meant) if meant else (),
                             fix_message=f"Write {meant}.")  # fmt: skip


def _find_action(action: object) -> tuple[str, str]:
    """The action that was meant, and what to say of it."""
    if isinstance(action, bool):
        meant = "allow" if action else "deny"
        return meant, f"Write {meant}."
    if isinstance(action, str) and action.strip():
        meant, hint = guess(action, _ACTIONS)
        return meant, hint
    return "", "Write allow, ask or deny."


@agent_rule("AGT321", profiles=OPENCODE, fix="unsafe")
def opencode_permission_ignored(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A permission is set for `write`, `patch` or `multiedit`.

    Why: opencode checks the permission `edit` for every change to a file, whichever tool makes it. It never reads a
    permission with another of these names: `write: deny` denies nothing.

    Bad: `permission: {write: deny}`

    Good: `permission: {edit: deny}`

    Fix (unsafe): renames it to `edit`, if there is none.
    """
    document = case.document
    rights = case.get("permission")
    named = [tool for tool in rights if tool in EDITS] if isinstance(rights, dict) else []
    for index, tool in enumerate(named):
        pointer = f"/permission/{tool}"
        can_fix = "edit" not in rights and index == 0
        is_harmless = rights[tool] == "allow"
        yield AgentViolation(
            f"opencode doesn't read the permission {tool}; edit covers every change to a file",
            "Write edit." if can_fix else "Move it to edit, and remove this permission.",
            document.key_span(pointer),
            pointer,
            "warning" if is_harmless else None,
            edits.rename_key(document, pointer, "edit") if can_fix else (),
        )


@agent_rule("AGT322", profiles=OPENCODE, severity="warning", fix="unsafe")
def opencode_tool_misspelled(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A tool's name is misspelled.

    Why: names are case-sensitive, and opencode never reads a permission for an unknown tool: `Bash: deny` denies
    nothing. Names that resemble no tool aren't reported; they may be tools of an MCP server.

    Bad: `permission: {Bash: deny}`

    Good: `permission: {bash: deny}`

    Fix (unsafe): writes the name that was probably meant.
    """
    document = case.document
    for table in ("permission", "tools"):
        rights = case.get(table)
        for tool in list(rights)[:MAX_REPORTS] if isinstance(rights, dict) else ():
            if tool in opencode.ALL_TOOLS or tool in EDITS or not tool.isalpha():
                continue
            meant = find_similar(tool, opencode.ALL_TOOLS, least=SURE)
            if meant:
                pointer = f"/{table}/{tool}"
                can_fix = meant not in rights
                yield AgentViolation(
                    f"opencode has no tool {show(tool)}",
                    f"Did you mean {meant}?",
                    document.key_span(pointer),
                    pointer,
                    edits=edits.rename_key(document, pointer, meant) if can_fix else (),
                    fix_message=f"Rename it to {meant}.",
                )


@agent_rule("AGT323", profiles=OPENCODE, severity="warning")
def opencode_permission_overridden(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The rule for `"*"` follows other rules.

    Why: the last matching rule wins, so a `"*"` at the end overrides all rules above it.

    Bad: `bash: {"git push *": deny, "*": allow}`

    Good: `bash: {"*": allow, "git push *": deny}`
    """
    document = case.document
    rights = case.get("permission")
    if not isinstance(rights, dict):
        return
    tables = [("/permission", rights)]
    tables += [(f"/permission/{escape_key(tool)}", right) for tool, right in rights.items() if isinstance(right, dict)]
    for pointer, table in tables[:MAX_REPORTS]:
        words = list(table)
        at = words.index("*") if "*" in words else 0
        lost = [word for word in words[:at] if table[word] != table["*"]]
        if lost and isinstance(table["*"], str):
            yield AgentViolation(
                f'"*" is last and overrides {list_names(lost, 3)}',
                'Put "*" first: the last match wins.',
                document.key_span(f"{pointer}/*"),
                f"{pointer}/*",
            )


@agent_rule("AGT324", profiles=OPENCODE, severity="note")
def opencode_permission_asks(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A permission is `ask`.

    Why: if no user can answer, as in `opencode run`, opencode rejects the call, and the run still ends with
    success. In the terminal, the user is asked.

    Bad: `permission: {bash: ask}` for an agent that a script starts

    Good: `permission: {bash: {"*": deny, "git diff*": allow}}`
    """
    rights = case.get("permission")
    path = next(_find_asks(rights), None) if isinstance(rights, dict) else () if rights == "ask" else None
    if path is not None:
        pointer = "/permission" + "".join(f"/{escape_key(part)}" for part in path)
        name = ".".join(("permission", *path))[:80]
        yield AgentViolation(f"{name} is ask, which opencode rejects if no user can answer",
                             "Write allow or deny if scripts start this agent.", case.document.span_of(pointer),
                             pointer)  # fmt: skip


def _find_asks(rights: dict[str, object]) -> Iterator[tuple[str, ...]]:
    for tool, right in rights.items():
        if right == "ask":
            yield (tool,)
        elif isinstance(right, dict):
            yield from ((tool, pattern) for pattern, action in right.items() if action == "ask")


@agent_rule("AGT327", profiles=OPENCODE, severity="warning")
def opencode_deny_rule_bypassable(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A deny rule for bash covers only some spellings of a command.

    Why: opencode compares a pattern with the whole command, `*` matches anything, and the last matching pattern
    wins. The same command has other spellings: flags apart, in another order or in their long form; the program by
    its path or through another program. If everything else is allowed, no deny list is complete. Reported once.

    Bad: `bash: {"*": allow, "rm -rf *": deny}`: `rm -r -f` does the same

    Good: `bash: {"*": deny, "git diff*": allow, "git status*": allow}`
    """
    document = case.document
    rules = _list_bash_rules(case.get("permission"))
    denied = [each for each in rules if each.action == "deny" and len(each.path) > 1]

    programs = {each.pattern.partition(" ")[0].rstrip("*") for each in rules if each.action == "allow"}
    ways = [way for way in RUNNERS if way.partition(" ")[0] in programs]
    for denial in denied:
        command = normalize_command(denial.pattern).rstrip("*").rstrip()
        if "*" in command or not command or _may_run(rules, command):
            continue  # a later rule allows it, as it is written
        others = [each for each in rules if each is not denial]
        if _may_run(others, command) or any(_may_run(rules, way) for way in ways):
            pointer = "/permission" + "".join(f"/{escape_key(part)}" for part in denial.path)
            rest = f", one of {len(denied)} deny rules," if len(denied) > 1 else ""
            yield AgentViolation(
                f"denying {show(denial.pattern)}{rest} has gaps: other spellings of it are allowed",
                'Write "*": deny first, and allow the commands that the agent needs.',
                document.key_span(pointer),
                pointer,
            )
            return


def _may_run(rules: list[_BashRule], command: str) -> bool:
    """Whether opencode runs a command: the last rule that matches decides, and without one it runs."""
    found = (each.action for each in reversed(rules) if matches_whole(each.pattern, command))
    return next(found, "allow") == "allow"


class _BashRule(NamedTuple):
    """What a line of the permissions says of commands."""

    pattern: str
    action: str
    path: tuple[str, ...]


def _list_bash_rules(rights: object) -> list[_BashRule]:
    """Whatever the permissions say of bash, in the order of the text; nothing where an action is none."""
    rules: list[_BashRule] = []
    for tool, right in rights.items() if isinstance(rights, dict) else ():
        if not matches_whole(tool, "bash"):
            continue
        table = right if isinstance(right, dict) else {"*": right}
        for pattern, action in list(table.items())[:MAX_BASH_RULES]:
            if action in _ACTIONS:
                path = (tool, pattern) if isinstance(right, dict) else (tool,)
                rules.append(_BashRule(pattern, action, path))
    return rules


MAX_BASH_RULES = 100


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
    from remit.agents.rules.opencode_fields import TABLE  # noqa: PLC0415 - not for standard files

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

"""opencode's agent files: `.opencode/agent/NAME.md`, in the format of opencode 1, which opencode 2 reads as well.

Facts: The last rule that matches wins, so denials are last. `*` matches across folders, `?` matches any character, and
nothing else is special. A pattern that ends in ` *` also matches without the part after the space. Writing and editing
are one permission. Paths are relative to the worktree. An unknown key goes to the provider of the model.

opencode 2 has another format: a list `permissions` of action, resource and effect, with the actions `shell` and
`subagent`, and `request.body.temperature` (`packages/core/src/config/plugin/agent.ts`). A file with a key that only
opencode 1 has is converted as a whole, with its rules in their order; a file with keys of both is not. So a compiled
file never has a key of opencode 2 alone. Paths are relative to the folder of the session there.
"""

from __future__ import annotations

import math
from itertools import product, zip_longest
from typing import TYPE_CHECKING

from remit.agents.compile.source import changed, describe, lost, name_some, translate_model
from remit.agents.edits import quote, render_scalar
from remit.agents.profiles import TOOLS
from remit.harnesses import opencode
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.positions import escape_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.compile.source import CompiledPermission, CompileSource

FOLDER = opencode.AGENT_FOLDERS[0]
KEYS = frozenset({"mode", "temperature"})
"""The keys that only this target converts."""

Rules = dict[str, str]
"""The right of each pattern. The last matching pattern decides."""


def render(source: CompileSource, comment: str) -> str:
    """Return the file's text."""
    lines = ["---", f"# {comment}", f"description: {quote(source.description)}", f"mode: {_choose_mode(source)}"]
    model = translate_model(source)
    if model is not None:
        lines.append(f"model: {render_scalar(model)}")
    temperature = source.document.get("temperature")
    if isinstance(temperature, int | float) and not isinstance(temperature, bool) and math.isfinite(temperature):
        lines.append(f"temperature: {temperature!r}")
    elif temperature is not None:
        source.report(lost(source.document, "/temperature", source.to, "a temperature that isn't a number"))
    lines += _render_permission(_make_permission(source))
    return "\n".join([*lines, "---", "", source.body])


def _choose_mode(source: CompileSource) -> str:
    mode = source.document.get("mode")
    if mode is None or mode in opencode.MODES:
        return mode or "subagent"
    hint = f"Valid modes: {', '.join(opencode.MODES)}."
    source.report(changed(source.document, "/mode", f"the mode {str(mode)[:80]} was changed to subagent", hint))
    return "subagent"


def _render_permission(permission: dict[str, Rules]) -> list[str]:
    lines = ["permission:"] if permission else []
    for name, rules in permission.items():
        if list(rules) == ["*"]:
            lines.append(f"  {render_scalar(name)}: {rules['*']}")
        else:
            lines.append(f"  {render_scalar(name)}:")
            lines += [f"    {quote(pattern)}: {right}" for pattern, right in rules.items()]
    return lines


# --- permissions -----------------------------------------------------------------------------------------------------


def _make_permission(source: CompileSource) -> dict[str, Rules]:
    """Return the rules of the file. If the source has no rule, the workspace's rules decide."""
    permission = {
        "read": _make_rules(source, "read"),
        "edit": _make_edit_rules(source),
        "bash": _make_rules(source, "bash"),
        "grep": _make_rules(source, "grep"),
        "glob": _make_rules(source, "glob"),
    }
    others = [*source.other_tools, *(row.tool for row in source.rows if row.tool not in TOOLS and row.tool != "task")]
    for name in dict.fromkeys(others):
        if name in opencode.ALL_TOOLS:
            permission[name] = _make_rules(source, name)
        else:
            at = f"/tools/{escape_key(name)}" if name in source.other_tools else "/permissions"
            source.report(lost(source.document, at, source.to, f"the tool {name[:80]}"))
    permission["task"] = _make_task_rules(source)
    return {name: rules for name, rules in permission.items() if rules}


def _make_edit_rules(source: CompileSource) -> Rules:
    """Return the rules for writing and editing: allowed if either tool is on, unless the other is fully denied."""
    tools = ("write", "edit")
    on = [tool for tool in tools if source.has(tool)]
    if len(on) == 1:
        [off] = {*tools} - {*on}
        if source.forbids(off):
            message = f"{on[0]} is denied because {off} is: opencode has one permission for both"
            source.report(changed(source.document, "/tools", message, f"Turn {on[0]} off, too.", stricter=True))
            return {"*": "deny"}
        message = f"{off} is allowed where {on[0]} is: opencode has one permission for both"
        source.report(changed(source.document, "/tools", message, f"Turn {off} on, too, or both off."))
    limits = [row for row in source.rows if row.side == "allow" and row.tool in on]
    if len({row.is_everything for row in limits}) > 1:
        message = "write and edit have different limits, and opencode has one permission: the narrower limits apply"
        source.report(
            changed(source.document, limits[0].pointer, message, "Use the same limits for both.", stricter=True)
        )
    return _make_rules(source, *tools)


def _make_rules(source: CompileSource, *tools: str) -> Rules:
    """Return the rules for tools that are one permission in opencode: deny all, then allowed, then denied patterns."""
    if not any(_is_on(source, tool) for tool in tools):
        return {"*": "deny"}
    rows = [row for row in source.rows if row.tool in tools and row.narrows]
    allow = {row: _translate(source, row) for row in rows if row.side == "allow" and _is_on(source, row.tool)}
    deny = {row: _translate(source, row) for row in rows if row.side == "deny"}
    limited = [each.patterns for row, each in allow.items() if not row.is_everything and row.tool not in _BY_TEXT]
    rules: Rules = {"*": "deny"} if limited else {}
    rules |= {pattern: "allow" for patterns in limited for pattern in patterns}
    denied = [pattern for each in allow.values() for pattern in each.excepted]
    denied += [pattern for each in deny.values() for pattern in each.patterns]
    for pattern in denied:
        rules.pop(pattern, None)  # a key keeps its first position, and denials must be last
        rules[pattern] = "deny"
    return rules


def _is_on(source: CompileSource, tool: str) -> bool:
    if tool in TOOLS:
        return source.has(tool)
    return source.other_tools.get(tool) is not False and not source.forbids(tool)


def _make_task_rules(source: CompileSource) -> Rules:
    if source.calls_anyone:
        return dict.fromkeys(source.denied_targets, "deny")
    return {"*": "deny"} | dict.fromkeys(source.targets, "allow")


# --- patterns --------------------------------------------------------------------------------------------------------


class Translation(NamedTuple):
    """Patterns in opencode's syntax, and their exceptions (`!x`)."""

    patterns: list[str]
    excepted: list[str]


_BY_TEXT = frozenset({"grep", "glob"})
"""Tools whose permission applies to the search text and not to the path."""
_BY_PATH = frozenset({"read", "write", "edit", "list"})


def _translate(source: CompileSource, row: CompiledPermission) -> Translation:
    """Return the patterns of a row. Patterns that opencode can't express exactly are reported once per row."""
    plain = [pattern for pattern in row.patterns if not pattern.startswith("!")]
    excepted = [pattern[1:] for pattern in row.patterns if pattern.startswith("!")]
    if row.tool in _BY_TEXT:
        source.report_unenforced(row.pointer, describe(row))
        return Translation([], [])
    if row.side == "deny" and excepted:
        message = f"the exceptions of a deny rule ({name_some(excepted)}) are denied, too"
        source.report(changed(source.document, row.pointer, message, "Deny less, without exceptions.", stricter=True))
    if row.tool == "bash":
        return Translation(*([_translate_command(pattern) for pattern in each] for each in (plain, excepted)))
    if row.tool not in _BY_PATH:
        return Translation(plain, excepted)
    globs = {pattern: translate_glob(pattern) for pattern in [*plain, *excepted]}
    _report_globs(source, row, globs)
    return Translation(*([text for pattern in each for text in globs[pattern].patterns] for each in (plain, excepted)))


def _report_globs(source: CompileSource, row: CompiledPermission, globs: dict[str, Glob]) -> None:
    wider = [pattern for pattern, glob in globs.items() if glob.patterns and not glob.exact]
    outside = [pattern for pattern, glob in globs.items() if not glob.patterns]
    if wider:
        message = f"opencode matches more with {name_some(wider)}: its stars match across folders"
        hint = "Write /**/* after the folder to match all of it."
        source.report(changed(source.document, row.pointer, message, hint, stricter=row.side == "deny"))
    if outside:
        what = describe(row._replace(patterns=tuple(outside)))
        source.report_unenforced(row.pointer, f"{what}: paths outside of the worktree")


def _translate_command(pattern: str) -> str:
    """Return a pattern for a command with any arguments. A pattern with a final star is kept."""
    pattern = pattern.removesuffix(":*").strip()
    return pattern if pattern.endswith("*") else f"{pattern} *".lstrip()


class Glob(NamedTuple):
    """A path pattern in opencode's syntax: several patterns, and whether they match the same paths."""

    patterns: list[str]
    exact: bool = True


MAX_WAYS = 16
_CLASS = lazy(r"\[[^\]/]{1,40}\]")
_STARS = lazy(r"\*{2,}")
_CHOICE = lazy(r"\{([^{}]{0,200})\}")


def translate_glob(pattern: str) -> Glob:
    """Convert a path pattern to opencode's syntax. Returns no patterns for a path outside of the worktree."""
    pattern = pattern.strip().removeprefix("./")
    if pattern.startswith(("/", "~", "$", "../")) or not pattern:
        return Glob([])
    choices, exact = _expand_choices(pattern)
    found: list[str] = []
    for choice in choices:
        ways = _join_segments(choice.split("/"))
        found += ways.patterns
        exact = exact and ways.exact
    # JavaScript moves keys of only digits before all others.
    exact = exact and not any(text.isdigit() for text in found)
    return Glob(list(dict.fromkeys(f"{text}*" if text.isdigit() else text for text in found)), exact)


def _expand_choices(pattern: str) -> tuple[list[str], bool]:
    """Expand `{a,b}` into two patterns. `{name}`, and braces with too many choices, become a star."""
    parts = _CHOICE.split(pattern)
    words = [part.split(",") for part in parts[1::2]]
    if any(len(each) == 1 for each in words) or math.prod(map(len, words)) > MAX_WAYS:
        return [_CHOICE.sub("*", pattern)], False
    return ["".join(_interleave(parts[::2], chosen)) for chosen in product(*words)], True


def _interleave(texts: list[str], words: tuple[str, ...]) -> Iterator[str]:
    for text, word in zip_longest(texts, words, fillvalue=""):
        yield text
        yield word


def _join_segments(segments: list[str]) -> Glob:
    """Join the parts of a path pattern with stars that match across folders."""
    ways, exact, free = [""], True, False
    for index, segment in enumerate(segments):
        is_last = index == len(segments) - 1
        if segment == "**" and not is_last:
            following = segments[index + 1]
            if following.startswith("*") or following == "":
                free = True  # the next star may match folders, as opencode's star does
            elif len(ways) < MAX_WAYS:
                ways += [f"{way}*/" for way in ways]
            else:
                ways, exact = [f"{way}*" for way in ways], False
            continue
        if segment in ("**", "") and is_last:
            free, text = True, "*"
        else:
            text = _STARS.sub("*", _CLASS.sub("?", segment))
        exact = exact and not any(char in text[free:] for char in "*?")
        ways = [f"{way}{text}{'' if is_last else '/'}" for way in ways]
        free = False
    return Glob(ways, exact)

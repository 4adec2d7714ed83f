"""The decision on one tool call under all layers of permissions.

The checks in order: is the tool enabled, is the path protected, does a layer deny it, does a layer's list allow it.
`bash/` analyzes the programs of a shell command; the kernel enforces the rules on its files.
"""

from __future__ import annotations

from remit.globs import EVERYTHING, matches_name
from remit.policy import paths
from remit.policy.decision import ALLOWED, USE_LISTED, Decision, ask_user, deny, pick_stricter, shorten
from remit.policy.protected_paths import SECRET

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.decision import PathContext, Permissions, ToolCall

SWITCHED = frozenset({"read", "write", "edit", "bash", "grep", "glob"})
"""The tools that an agent file enables or disables."""
WRITING = ("write", "edit")
_LOOKING = ("read", "grep")
_RULES_OF = {
    "write": WRITING,
    "edit": ("edit", "write"),
    "grep": ("grep", "read"),
    "glob": ("glob", "read"),
}
"""The tools whose rules apply to a tool: an agent that may not write a file may not edit the file either."""


def judge(call: ToolCall, layers: Sequence[Permissions], ground: PathContext) -> Decision:
    """Return the strictest decision of all layers on a call."""
    for layer in layers:
        refused = check_switched_on(call.tool, layer)
        if refused:
            return refused
    if call.tool == "bash":
        tools = ("bash",) if ground.is_limited else ("bash", *WRITING)
        if not any(layer.deny.get(tool) or tool in layer.allow for layer in layers for tool in tools):
            return ALLOWED
        # A syntax tree costs more than all other tools together; only rules that need it pay for it.
        from remit.policy.bash.judge import judge_command  # noqa: PLC0415

        return judge_command(call.command, layers, ground)
    if call.tool.startswith("mcp__"):
        return _judge_named(call, layers, keys=("mcp", call.tool))
    if call.tool in SWITCHED:
        return _judge_paths(call, layers, ground)
    return _judge_named(call, layers, keys=(call.tool,))


def check_switched_on(tool: str, layer: Permissions) -> Decision | None:
    """Return a denial if an agent file doesn't enable a tool or its permissions can't be read; else None."""
    if layer.unread and tool in SWITCHED:
        why = f"the permissions in this agent's file can't be read (see: remit lint {shorten(layer.unread)})"
        return deny(why, "unread permissions", instead="return `partial` and report this")
    if layer.tools is None or tool not in SWITCHED or tool in layer.tools:
        return None
    on = ", ".join(sorted(set(layer.tools) & SWITCHED)) or "none"
    return deny(f"the tool '{tool}' isn't enabled for this agent (enabled: {on})", "tools", instead=USE_LISTED)


# --- paths -----------------------------------------------------------------------------------------------------------


def _judge_paths(call: ToolCall, layers: Sequence[Permissions], ground: PathContext) -> Decision:
    decision = ALLOWED
    for path in call.paths or ((ground.cwd,) if call.tool in ("grep", "glob") else ()):
        decision = pick_stricter(decision, judge_path(path, call.tool, layers, ground))
        if decision.answer == "deny":
            break
    return decision


def judge_path(path: str, tool: str, layers: Sequence[Permissions], ground: PathContext) -> Decision:
    """Return the decision on the use of a tool on a path."""
    if len(path) > paths.MAX_PATH or any(char < " " or char == "\x7f" for char in path):
        return ask_user(
            f"Remit can't compare the path '{shorten(path)}' with the rules: it is too long or has control characters",
            "paths",
            instead="use a plain path, or return `partial` and say what is missing",
            question=f"The agent wants to {tool} '{shorten(path)}'. Remit can't compare this path with the agent's "
            "rules: it is too long or has control characters.",
        )
    if paths.is_deep(path, ground.cwd):
        # Denied, not asked: by a link to its own folder, any denied path can be written this way.
        return deny(f"the path '{shorten(path)}' leads through too many folders", "paths")
    own = paths.name_all(path, ground)
    others = () if ground.second_names is None else (each for name in own for each in ground.second_names(name))
    names = tuple(dict.fromkeys([*own, *others]))
    decision = ALLOWED
    if tool in WRITING:
        decision = _check_denied(ground.protected, names, ground, tool=tool, path=path, rule="protected")
    elif tool in _LOOKING:
        decision = _check_denied(SECRET, names, ground, tool=tool, path=path, rule="secret")
    for layer in layers:
        for key in _RULES_OF.get(tool, (tool,)):
            patterns = layer.deny.get(key, ())
            found = _check_denied(patterns, names, ground, tool=tool, path=path, rule=f"deny {key}")
            decision = pick_stricter(decision, found)
        decision = pick_stricter(decision, _check_allowed(layer, names, ground, tool=tool, path=path))
    return decision


def _check_denied(
    patterns: Sequence[str],
    names: Sequence[str],
    ground: PathContext,
    *,
    tool: str,
    path: str,
    rule: str,
) -> Decision:
    decision = ALLOWED
    for pattern in patterns:
        found = paths.covers(pattern, names, ground)
        if found == paths.YES:
            return deny(_describe_denial(tool, path, rule, pattern), f'{rule} "{pattern}"')
        if found == paths.FOLDED:
            decision = ask_user(
                f"'{shorten(path)}' differs from {rule} \"{pattern}\" only in upper and lower case",
                f'{rule} "{pattern}"',
                instead="use the exact name of the file",
                question=f"The agent wants to {tool} '{shorten(path)}', which differs from the rule {rule} "
                f'"{pattern}" only in upper and lower case: it may be the same file.',
            )
    return decision


def _describe_denial(tool: str, path: str, rule: str, pattern: str) -> str:
    what = f"to {tool} '{shorten(path)}'"
    if rule == "protected":
        return f'{what} is refused: "{pattern}" decides what agents may do, so no agent may write it'
    if rule == "secret":
        return f'{what} is refused: "{pattern}" is only for users and their programs, so no agent may read it'
    return f'{what} is denied to this agent by its rule {rule} "{pattern}"'


def _check_allowed(layer: Permissions, names: Sequence[str], ground: PathContext, *, tool: str, path: str) -> Decision:
    """Check a tool's own allow list, or that of the related tool if it has none."""
    for key in _RULES_OF.get(tool, (tool,)):
        patterns = layer.allow.get(key)
        if patterns is None:
            continue
        if paths.covers_all(patterns, names, ground):
            return ALLOWED
        listed = ", ".join(f'"{shorten(pattern, 40)}"' for pattern in list(patterns)[:6]) or "nothing"
        what = f"to {tool} '{shorten(path)}' is not on this agent's list allow {key} ({listed})"
        return deny(what, f"allow {key}", instead=USE_LISTED)
    return ALLOWED


# --- tools by name ---------------------------------------------------------------------------------------------------


def _judge_named(call: ToolCall, layers: Sequence[Permissions], *, keys: tuple[str, ...]) -> Decision:
    """Judge a tool of an MCP server or an unknown tool by its name and arguments."""
    texts = (call.tool, *([call.command] if call.command else ()), *call.paths)
    for layer in layers:
        for key, patterns in layer.deny.items():
            found = next((each for each in patterns if _covers_named(key, each, texts, keys)), None)
            if found is not None:
                rule = f'deny {key} "{found}"'
                return deny(f"the tool '{call.tool}' is denied to this agent by its rule {rule}", rule)
        lists = {key: value for key, value in layer.allow.items() if _is_key(key, keys)}
        if lists and not any(_covers_named(key, each, texts, keys) for key, value in lists.items() for each in value):
            shown = [f'"{shorten(each, 40)}"' for value in lists.values() for each in list(value)[:6]]
            listed, key = ", ".join(shown) or "nothing", next(iter(lists))
            what = f"the tool '{call.tool}' is not on this agent's list allow {key} ({listed})"
            return deny(what, f"allow {key}", instead=USE_LISTED)
    return ALLOWED


def _is_key(key: str, keys: tuple[str, ...]) -> bool:
    return key.lower() in {each.lower() for each in keys} or (key.startswith("mcp__") and matches_name(key, keys[-1]))


def _covers_named(key: str, pattern: str, texts: tuple[str, ...], keys: tuple[str, ...]) -> bool:
    if not _is_key(key, keys):
        return False
    return pattern.strip() in EVERYTHING or any(matches_name(pattern, text) for text in texts)

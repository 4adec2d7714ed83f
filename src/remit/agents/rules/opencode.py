"""Rules on opencode's agents: fields, permissions, and the prompt. Checked with version 1.18.

If one value in one agent file has the wrong type, opencode doesn't start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.patterns import RUNNERS, matches_whole, normalize_command
from remit.agents.profiles import STANDARD_KEYS
from remit.agents.rules.field_table import (
    FieldCheck,
    FieldProblem,
    FieldSpec,
    FieldTable,
    RuleRow,
    add_table,
    can_judge_type,
    find_title,
    list_names,
    show,
    suggest,
)
from remit.agents.rules.register import MAX_REPORTS, AgentFileContext, AgentViolation, agent_rule
from remit.agents.rules.tools import STOPS
from remit.harnesses import claude, opencode
from remit.lazy_regex import lazy
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
"""Keys of other programs that restrict an agent."""
EDITS = opencode.EDITING_TOOLS
"""Names of tools whose permission opencode reads under `edit`."""


_ACTIONS = ("allow", "ask", "deny")
_WITHOUT_PATTERNS = frozenset({"question", "webfetch", "websearch", "doom_loop"})


def is_permission(value: object) -> bool:
    """Whether a value is a valid permission of opencode."""
    return value in _ACTIONS if not isinstance(value, dict) else not any(_find_invalid_actions(value))


def _find_invalid_actions(rights: dict[str, object]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the path and value of each entry that isn't an action."""
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
    if "permission" not in case.values or rights in _ACTIONS or not can_judge_type(document, "/permission"):
        return
    invalid = list(_find_invalid_actions(rights))[:MAX_REPORTS] if isinstance(rights, dict) else [((), rights)]
    for path, action in invalid:
        pointer = "/permission" + "".join(f"/{escape_key(part)}" for part in path)
        name = ".".join(("permission", *path))[:80]
        meant, hint = _find_action(action)
        if isinstance(action, dict):
            hint = "Write allow, ask or deny; this permission has no patterns." if path else hint
        yield AgentViolation(f"{name} is {show(action)}, so {STOPS}", hint, document.key_span(pointer), pointer,
                             edits=edits.replace_value(document, pointer, meant) if meant else (),
                             fix_message=f"Write {meant}.")  # fmt: skip


def _find_action(action: object) -> tuple[str, str]:
    """Return the similar action or "", and the hint."""
    if isinstance(action, bool):
        meant = "allow" if action else "deny"
        return meant, f"Write {meant}."
    if isinstance(action, str) and action.strip():
        meant, hint = suggest(action, _ACTIONS)
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
        overridden = [word for word in words[:at] if table[word] != table["*"]]
        if overridden and isinstance(table["*"], str):
            yield AgentViolation(
                f'"*" is last and overrides {list_names(overridden, 3)}',
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
            continue  # a later rule allows the same spelling
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
    """Whether opencode runs a command. The last matching rule decides; without one, the command runs."""
    found = (each.action for each in reversed(rules) if matches_whole(each.pattern, command))
    return next(found, "allow") == "allow"


class _BashRule(NamedTuple):
    """A rule on commands."""

    pattern: str
    action: str
    path: tuple[str, ...]


def _list_bash_rules(rights: object) -> list[_BashRule]:
    """Return the rules on bash commands in the order of the text, without invalid actions."""
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


_PLAIN_NUMBER = lazy(r"\d{1,9}(?:\.\d{1,9})?\Z")
_NO_TEXT = FieldProblem("AGT301", f"{{key}} is {{given}}, so {STOPS}", "Write a string, or remove the key.")
_NO_NUMBER = FieldProblem("AGT303", f"{{key}} is {{value}}, expected a number, so {STOPS}",
                          "Write a number, or remove the key.", fix_message="Write {meant}.")  # fmt: skip
_ODD_NUMBER = FieldProblem("AGT303", "{key} is {value}, which no provider accepts",
                           "Write a number from {least} to {most}.", severity="warning", at_value=True)  # fmt: skip
_STEPS = FieldProblem("AGT304", f"{{key}} is {{value}}, so {STOPS}", "Write a whole number above 0.", at_value=True)
_NO_BOOLEAN = FieldProblem("AGT306", f"{{key}} is {{given}}, so {STOPS}", "Write true or false.")


def _unquote(_: AgentDocument, value: object) -> str:
    text = value.strip() if isinstance(value, str) else ""
    return text if _PLAIN_NUMBER.match(text) else ""


def _make_steps_field(key: str) -> FieldSpec:
    no_number = _NO_NUMBER._replace(code="AGT304", hint=_STEPS.hint)
    check = FieldCheck(_STEPS, lambda _, value: value <= 0 or value != int(value))
    return FieldSpec(key, "number", correct=_unquote, wrong_type=no_number, checks=(check,))


TABLE = FieldTable(
    "opencode",
    fields=(
        FieldSpec(
            "description", "text", default=find_title, wrong_type=_NO_TEXT,
            missing=FieldProblem("AGT300", "description is {state}", "Describe what the agent does and when to use it.",
                                 when=lambda document: document.get("mode") != "primary"),
        ),
        FieldSpec("model", "text", wrong_type=_NO_TEXT),
        FieldSpec("variant", "text", wrong_type=_NO_TEXT),
        FieldSpec(
            "name", "text",
            wrong_type=_NO_TEXT._replace(message="{key} is {given}, so no agent can call it"),
            checks=(
                FieldCheck(FieldProblem("AGT309", "opencode names this agent {value}, not {stem}",
                                        "Use the same name for the file and the agent.", at_value=True),
                           lambda document, name: name.strip().rpartition("/")[2] not in ("", document.stem)),
            ),
        ),
        FieldSpec("mode", choices=opencode.MODES, wrong=FieldProblem(
            "AGT302", f"mode is {{value}}, so {STOPS}", fix_message="Write {meant}.",
        )),
        FieldSpec("temperature", "number", least=0, most=2, correct=_unquote, wrong_type=_NO_NUMBER, wrong=_ODD_NUMBER),
        FieldSpec("top_p", "number", least=0, most=1, correct=_unquote, wrong_type=_NO_NUMBER, wrong=_ODD_NUMBER),
        _make_steps_field("steps"),
        _make_steps_field("maxSteps"),
        FieldSpec("disable", "boolean", wrong_type=_NO_BOOLEAN),
        FieldSpec("hidden", "boolean", wrong_type=_NO_BOOLEAN),
    ),
    keys=opencode.FILE_KEYS,
    misspelled=FieldProblem("AGT313", "opencode has no key {key} and sends it to the model provider",
                          "Did you mean {meant}?"),
    unknown=FieldProblem("AGT314", "opencode sends these keys to the model provider: {keys}",
                         "Turn them into comments, or move options for the provider to options."),
    renamed={**dict.fromkeys(RESTRICTIONS, ""), "permissions": "permission", "maxSteps": "steps"},
    foreign=frozenset({*STANDARD_KEYS, *claude.FILE_KEYS}),
    checks_empty=True,
)  # fmt: skip

add_table(TABLE, (
    RuleRow("AGT300", "opencode-description-missing", "warning", "unsafe"),
    RuleRow("AGT301", "opencode-text-expected", fix="safe"),
    RuleRow("AGT302", "opencode-mode-unknown", fix="unsafe"),
    RuleRow("AGT303", "opencode-number-expected", fix="safe"),
    RuleRow("AGT304", "opencode-steps-invalid", fix="safe"),
    RuleRow("AGT306", "opencode-boolean-expected", fix="safe"),
    RuleRow("AGT309", "opencode-name-not-file", "note"),
    RuleRow("AGT313", "opencode-key-misspelled", "warning", "unsafe"),
    RuleRow("AGT314", "opencode-keys-sent-to-provider", "warning"),
))  # fmt: skip


@agent_rule("AGT305", profiles=OPENCODE, severity="warning", fix="safe")
def opencode_steps_renamed(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`maxSteps` is the old name of `steps`.

    Why: `maxSteps` is deprecated; if both are set, `steps` wins.

    Bad: `maxSteps: 20`

    Good: `steps: 20`

    Fix (safe): renames it, or removes it if `steps` is set.
    """
    if "maxSteps" in case.values:
        both = "steps" in case.values
        yield AgentViolation("maxSteps is the old name of steps", "Remove it." if both else "Write steps.",
                             case.document.key_span("/maxSteps"), "/maxSteps",
                             edits=edits.remove_key(case.document, "/maxSteps") if both
                             else edits.rename_key(case.document, "/maxSteps", "steps"))  # fmt: skip


_THEME = ("primary", "secondary", "accent", "success", "warning", "error", "info")
_HEX = lazy(r"#[0-9a-fA-F]{6}\Z")
_SHORT_HEX = lazy(r"#?(?P<digits>[0-9a-fA-F]{3}|[0-9a-fA-F]{6})\Z")
_BY_NAME = {
    "red": "#ff0000", "green": "#00aa00", "blue": "#0000ff", "yellow": "#ffff00", "orange": "#ffa500",
    "purple": "#800080", "pink": "#ffc0cb", "cyan": "#00ffff", "magenta": "#ff00ff", "white": "#ffffff",
    "black": "#000000", "gray": "#808080", "grey": "#808080",
}  # fmt: skip


@agent_rule("AGT307", profiles=OPENCODE, fix="unsafe")
def opencode_color_unknown(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The color is neither a hex color with six digits nor a color of the theme.

    Why: opencode doesn't start. The theme has primary, secondary, accent, success, warning, error and info. Color
    names, as in Claude Code, aren't valid.

    Bad: `color: red`, `color: "#f00"`

    Good: `color: "#ff0000"`, `color: accent`

    Fix (unsafe): writes the color with six digits; for one with three digits, the fix is safe.
    """
    document = case.document
    color = case.get("color")
    if "color" not in case.values or (isinstance(color, str) and (color in _THEME or _HEX.match(color))):
        return
    if color is None and document.text[document.key_span("/color")[1] :][:9].lstrip(": \t").startswith("#"):
        return  # YAML reads the color as a comment, which another rule reports
    short = _SHORT_HEX.match(color) if isinstance(color, str) else None
    digits = short["digits"] if short else ""
    meant = f"#{digits}" if len(digits) == 6 else "#" + "".join(digit * 2 for digit in digits)  # noqa: PLR2004 - digits
    meant = meant if short else _BY_NAME.get(str(color).lower()[:20], "")
    yield AgentViolation(f"color is {show(color)}, so {STOPS}",
                         "Write # and six digits, between quotes, or a color of the theme, such as accent.",
                         document.key_span("/color"), "/color",
                         edits=edits.replace_value(document, "/color", edits.quote(meant)) if meant
                         else edits.remove_key(document, "/color") if color is None else (),
                         fix_message=f'Write "{meant}".' if meant else "Remove it.",
                         applicability="safe" if short else None)  # fmt: skip


_IDS = (("claude-", "anthropic"), ("gpt-", "openai"), ("gemini-", "google"))


@agent_rule("AGT308", profiles=OPENCODE, fix="unsafe")
def opencode_provider_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The model lacks a provider.

    Why: opencode reads the part before the slash as the provider. It reads `sonnet` as a provider without a model,
    and the agent fails at its first request.

    Bad: `model: claude-sonnet-4-5`

    Good: `model: anthropic/claude-sonnet-4-5`

    Fix (unsafe): adds the model's maker as its provider, and removes `inherit`, which is the default.
    """
    document = case.document
    model = case.get("model")
    if not isinstance(model, str) or "/" in model.strip("/ "):
        return
    low = model.strip().lower()
    provider = next((name for start, name in _IDS if low.startswith(start)), "")
    changes = edits.rewrite_text(document, "/model", f"{provider}/{model.strip()}") if provider else ()
    is_default = low == "inherit"
    hint = f"Write {provider}/{low[:60]}." if provider else "Write provider/model; `opencode models` lists them."
    yield AgentViolation(
        f"the model {show(model)} has no provider",
        "Remove it: that is the default." if is_default else hint,
        document.span_of("/model"),
        "/model",
        edits=edits.remove_key(document, "/model") if is_default else changes,
    )


@agent_rule("AGT310", profiles=OPENCODE, severity="warning", fix="safe")
def opencode_prompt_ignored(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The frontmatter has a `prompt`, which opencode ignores in a Markdown file.

    Why: in a Markdown file the body is the prompt, even if it is empty. `prompt` works in `opencode.json` only.

    Bad: `prompt: You review code.`

    Good: the same text below the frontmatter

    Fix (safe): removes the key if the body has text.
    """
    document = case.document
    if "prompt" in case.values:
        has_body = bool(document.text[document.body_start :].strip())
        yield AgentViolation(
            "opencode ignores prompt and uses the body",
            "Move it below the frontmatter.",
            document.key_span("/prompt"),
            "/prompt",
            edits=edits.remove_key(document, "/prompt") if has_body else (),
            fix_message="Remove it.",
        )


@agent_rule("AGT311", profiles=OPENCODE, severity="warning")
def opencode_prompt_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The file has no prompt.

    Why: the body is the agent's prompt. Without it, the agent has only the default instructions.

    Bad: a file that ends with the second `---`

    Good: instructions below the frontmatter.
    """
    document = case.document
    is_used = bool(document.values) and case.get("disable") is not True and "prompt" not in case.values
    if is_used and not document.unclosed_frontmatter and not document.text[document.body_start :].strip():
        yield AgentViolation("the agent has no prompt", "Write its instructions below the frontmatter.",
                             document.key_span("/description"))  # fmt: skip


@agent_rule("AGT312", profiles=OPENCODE, fix="unsafe")
def opencode_restriction_ignored(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The agent's permissions are under a key that opencode doesn't read.

    Why: opencode enforces none of them, and sends the key to the model provider. The key that opencode reads is
    `permission`, without an s.

    Bad: `permissions: {bash: {"*": deny}}`

    Good: `permission: {bash: {"*": deny}}`

    Fix (unsafe): renames `permissions` if opencode can read its value.
    """
    document = case.document
    for key in RESTRICTIONS:
        if key not in case.values:
            continue
        can_fix = key == "permissions" and "permission" not in case.values and is_permission(case.values[key])
        yield AgentViolation(
            f"opencode doesn't read {key} and sends it to the model provider",
            "Move it to permission.",
            document.key_span(f"/{key}"),
            f"/{key}",
            edits=edits.rename_key(document, f"/{key}", "permission") if can_fix else (),
            fix_message="Rename it to permission.",
        )

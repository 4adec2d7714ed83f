"""Rules on other fields of opencode's agents: wrong types, old names, colors, models, the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.profiles import STANDARD_KEYS
from remit.agents.rules.field_lookup import find_title, show
from remit.agents.rules.field_shapes import FieldCheck, FieldProblem, FieldSpec, FieldTable, RuleRow, add_table
from remit.agents.rules.opencode_permissions import OPENCODE, RESTRICTIONS, STOPS, is_permission
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.harnesses import claude, opencode
from remit.lazy_regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument

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


def _count_steps(key: str) -> FieldSpec:
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
        _count_steps("steps"),
        _count_steps("maxSteps"),
        FieldSpec("disable", "boolean", wrong_type=_NO_BOOLEAN),
        FieldSpec("hidden", "boolean", wrong_type=_NO_BOOLEAN),
    ),
    keys=opencode.FILE_KEYS,
    misspelt=FieldProblem("AGT313", "opencode has no key {key} and sends it to the model provider",
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
        return  # the color has become a comment, and has a rule of its own
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

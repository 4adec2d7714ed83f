"""Rules on the values of the keys that opencode reads, and on the prompt below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.rules.opencode import OPENCODE, STOPS
from remit.agents.rules.opencode.keys import find_strangers
from remit.agents.rules.register import Case, Report, rule
from remit.agents.rules.tables import TRUTHS, guess, is_number, is_told, show
from remit.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.agents.document import Document


@rule("AGT300", "R1.1", profiles=OPENCODE, severity="warning", fix="unsafe")
def opencode_description_missing(case: Case) -> Iterator[Report]:
    """The agent has no description.

    Why: other agents choose a subagent by its description; without one nobody calls it. An agent with `mode: primary`
    is chosen by you, and needs none.

    Bad: a frontmatter with `mode: subagent` and no `description`

    Good: `description: Reviews changed code for faults`

    Fix (unsafe): takes the file's title.
    """
    document = case.document
    found = document.frontmatter
    if found is None or document.unclosed_frontmatter or not (found.values or not found.problems):
        return
    text = case.get("description")
    lost = "description" not in case.values or (isinstance(text, str) and not text.strip())
    if not lost or case.get("mode") == "primary" or "description" in find_strangers(case).values():
        return
    title = next((text for level, text, _ in document.body.headings if level == 1 and text), "")
    yield Report(f"description is {'empty' if 'description' in case.values else 'missing'}",
                 "Say what it does and when to use it.", document.key_span("/description"), "/description",
                 edits=edits.put_value(document, "", "description", edits.quote(title)) if title else ())  # fmt: skip


@rule("AGT301", "R1.1", profiles=OPENCODE, fix="safe")
def opencode_text_expected(case: Case) -> Iterator[Report]:
    """`description`, `model`, `variant` or `name` is not a text.

    Why: opencode checks the types of every agent's file before it starts, and does not start if one is wrong. A key
    without a value is one of them.

    Bad: `model:`

    Good: `model: anthropic/claude-sonnet-4-5`, or no `model`

    Fix (safe): removes a key without a value; opencode then starts.
    """
    document = case.document
    for key in ("description", "model", "variant", "name"):
        pointer = f"/{key}"
        value = case.get(key)
        if key not in case.values or isinstance(value, str) or is_told(document, pointer):
            continue
        effect = STOPS if key != "name" else "nobody can call it"
        yield Report(f"{key} is {'empty' if value is None else show(value)}, so {effect}",
                     "Write a text, or remove the key.", document.key_span(pointer), pointer,
                     edits=edits.remove_key(document, pointer) if value is None else (),
                     fix_message="Remove it.")  # fmt: skip


_MODES = ("subagent", "primary", "all")


@rule("AGT302", "R1.1", profiles=OPENCODE, fix="unsafe")
def opencode_mode_unknown(case: Case) -> Iterator[Report]:
    """`mode` is none of subagent, primary and all.

    Why: opencode does not start.

    Bad: `mode: Subagent`

    Good: `mode: subagent`

    Fix (unsafe): writes the mode that was probably meant, and removes a key without a value.
    """
    document = case.document
    mode = case.get("mode")
    if "mode" not in case.values or mode in _MODES:
        return
    meant, hint = guess(mode, _MODES) if isinstance(mode, str) else ("", f"Known are: {', '.join(_MODES)}.")
    changes = edits.rewrite_text(document, "/mode", meant) if meant else ()
    yield Report(f"mode is {show(mode)}, so {STOPS}", hint, document.key_span("/mode"), "/mode",
                 edits=edits.remove_key(document, "/mode") if mode is None else changes,
                 fix_message=f"Write {meant}." if meant else "Remove it.")  # fmt: skip


_RANGES: Mapping[str, tuple[float, float]] = {"temperature": (0, 2), "top_p": (0, 1)}
_PLAIN_NUMBER = lazy(r"\d{1,9}(?:\.\d{1,9})?\Z")


@rule("AGT303", "R1.1", profiles=OPENCODE, fix="safe")
def opencode_number_expected(case: Case) -> Iterator[Report]:
    """`temperature` or `top_p` is not a number, or out of range.

    Why: opencode does not start if it is no number. A number out of range is a warning: the provider refuses it, and
    the agent fails at its first request.

    Bad: `temperature: "0.2"`, `top_p: 95`

    Good: `temperature: 0.2`, `top_p: 0.95`

    Fix (safe): takes the quotes away.
    """
    document = case.document
    for key, (least, most) in _RANGES.items():
        value = case.get(key)
        pointer = f"/{key}"
        if key not in case.values:
            continue
        if is_number(value):
            if not least <= value <= most:
                yield Report(f"{key} is {show(value)}, which no provider takes",
                             f"Write a number from {least} to {most}.", document.span_of(pointer), pointer,
                             "warning")  # fmt: skip
            continue
        yield _ask_for_number(document, pointer, value, "Write a number, or remove the key.")


def _ask_for_number(document: Document, pointer: str, value: object, hint: str) -> Report:
    """What is said of a value that is no number; a number in quotes is put right."""
    text = value.strip() if isinstance(value, str) else ""
    number = edits.replace_value(document, pointer, text) if _PLAIN_NUMBER.match(text) else ()
    return Report(f"{pointer[1:]} is {show(value)} and not a number, so {STOPS}", hint, document.key_span(pointer),
                  pointer, edits=edits.remove_key(document, pointer) if value is None else number,
                  fix_message="Remove it." if value is None else f"Write {text[:20]}.")  # fmt: skip


@rule("AGT304", "R1.1", profiles=OPENCODE, fix="safe")
def opencode_steps_not_positive(case: Case) -> Iterator[Report]:
    """`steps` is not a positive whole number.

    Why: opencode does not start.

    Bad: `steps: 0`, `steps: "20"`

    Good: `steps: 20`

    Fix (safe): takes the quotes away.
    """
    for key in ("steps", "maxSteps"):
        value = case.get(key)
        if key not in case.values:
            continue
        if not is_number(value):
            yield _ask_for_number(case.document, f"/{key}", value, "Write a whole number above 0.")
        elif value <= 0 or value != int(value):
            yield Report(f"{key} is {show(value)}, so {STOPS}", "Write a whole number above 0.",
                         case.document.span_of(f"/{key}"), f"/{key}")  # fmt: skip


@rule("AGT305", "R1.1", profiles=OPENCODE, severity="warning", fix="safe")
def opencode_steps_renamed(case: Case) -> Iterator[Report]:
    """`maxSteps` is the old name of `steps`.

    Why: it is deprecated; where both are given, `steps` wins.

    Bad: `maxSteps: 20`

    Good: `steps: 20`

    Fix (safe): renames it, or removes it where `steps` is given.
    """
    if "maxSteps" in case.values:
        both = "steps" in case.values
        yield Report("maxSteps is the old name of steps", "Remove it." if both else "Write steps.",
                     case.document.key_span("/maxSteps"), "/maxSteps",
                     edits=edits.remove_key(case.document, "/maxSteps") if both
                     else edits.rename_key(case.document, "/maxSteps", "steps"))  # fmt: skip


@rule("AGT306", "R1.1", profiles=OPENCODE, fix="safe")
def opencode_truth_expected(case: Case) -> Iterator[Report]:
    """`disable` or `hidden` is neither true nor false.

    Why: opencode does not start.

    Bad: `hidden:`, `disable: sometimes`

    Good: `hidden: true`

    Fix (safe): removes a key without a value; opencode then starts.
    """
    document = case.document
    for key in ("disable", "hidden"):
        value = case.get(key)
        if key not in case.values or isinstance(value, bool) or str(value).lower()[:9] in TRUTHS:
            continue
        yield Report(f"{key} is {'empty' if value is None else show(value)}, so {STOPS}", "Write true or false.",
                     document.key_span(f"/{key}"), f"/{key}",
                     edits=edits.remove_key(document, f"/{key}") if value is None else (),
                     fix_message="Remove it.")  # fmt: skip


_THEME = ("primary", "secondary", "accent", "success", "warning", "error", "info")
_HEX = lazy(r"#[0-9a-fA-F]{6}\Z")
_SHORT_HEX = lazy(r"#?(?P<digits>[0-9a-fA-F]{3}|[0-9a-fA-F]{6})\Z")
_BY_NAME = {
    "red": "#ff0000", "green": "#00aa00", "blue": "#0000ff", "yellow": "#ffff00", "orange": "#ffa500",
    "purple": "#800080", "pink": "#ffc0cb", "cyan": "#00ffff", "magenta": "#ff00ff", "white": "#ffffff",
    "black": "#000000", "gray": "#808080", "grey": "#808080",
}  # fmt: skip


@rule("AGT307", "R1.1", profiles=OPENCODE, fix="unsafe")
def opencode_color_unknown(case: Case) -> Iterator[Report]:
    """The color is neither `#` with six digits nor a color of the theme.

    Why: opencode does not start. The theme has primary, secondary, accent, success, warning, error and info; names of
    colors, which Claude Code takes, are none.

    Bad: `color: red`, `color: "#f00"`

    Good: `color: "#ff0000"`, `color: accent`

    Fix (unsafe): writes the color in six digits; that is safe for one of three.
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
    yield Report(f"color is {show(color)}, so {STOPS}",
                 "Write # and six digits, between quotes, or a color of the theme, such as accent.",
                 document.key_span("/color"), "/color",
                 edits=edits.replace_value(document, "/color", edits.quote(meant)) if meant
                 else edits.remove_key(document, "/color") if color is None else (),
                 fix_message=f'Write "{meant}".' if meant else "Remove it.",
                 applicability="safe" if short else None)  # fmt: skip


_IDS = (("claude-", "anthropic"), ("gpt-", "openai"), ("gemini-", "google"))


@rule("AGT308", "R1.1", profiles=OPENCODE, fix="unsafe")
def opencode_model_no_provider(case: Case) -> Iterator[Report]:
    """The model has no provider before it.

    Why: opencode takes what stands before the slash for the provider; `sonnet` is a provider without a model to it,
    and the agent fails at its first request.

    Bad: `model: claude-sonnet-4-5`

    Good: `model: anthropic/claude-sonnet-4-5`

    Fix (unsafe): writes the maker of the model as its provider, and removes `inherit`, which is the default.
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
    yield Report(f"the model {show(model)} has no provider", "Remove it: that is the default." if is_default else hint,
                 document.span_of("/model"), "/model",
                 edits=edits.remove_key(document, "/model") if is_default else changes)  # fmt: skip


@rule("AGT309", "R1.1", profiles=OPENCODE, severity="note")
def opencode_name_counts(case: Case) -> Iterator[Report]:
    """The name in the frontmatter is not that of the file.

    Why: opencode calls an agent by the name in its frontmatter, and by its path only where there is none. Whoever looks
    for the file by the agent's name does not find it.

    Bad: `name: reviewer` in `code-reviewer.md`

    Good: no `name`, or the file's
    """
    name = case.get("name")
    if isinstance(name, str) and name.strip() and name.strip().rpartition("/")[2] != case.document.stem:
        yield Report(f"opencode calls this agent {show(name)}, and not {show(case.document.stem)}",
                     "Give both the same name.", case.document.span_of("/name"), "/name")  # fmt: skip


@rule("AGT310", "R1.1", profiles=OPENCODE, severity="warning", fix="safe")
def opencode_prompt_overruled(case: Case) -> Iterator[Report]:
    """The frontmatter has a `prompt`.

    Why: in a Markdown file the body is the prompt, even an empty one; `prompt` is read in `opencode.json` only.

    Bad: `prompt: You review code.`

    Good: the same below the frontmatter

    Fix (safe): removes it where the body says something.
    """
    document = case.document
    if "prompt" in case.values:
        has_body = bool(document.text[document.body_start :].strip())
        yield Report("the body overrules prompt", "Write it below the frontmatter.", document.key_span("/prompt"),
                     "/prompt", edits=edits.remove_key(document, "/prompt") if has_body else (),
                     fix_message="Remove it.")  # fmt: skip


@rule("AGT311", "R1.1", profiles=OPENCODE, severity="warning")
def opencode_prompt_missing(case: Case) -> Iterator[Report]:
    """Nothing follows the frontmatter.

    Why: the body is the agent's prompt. Without one it does what any agent does.

    Bad: a file that ends with the second `---`

    Good: what the agent should do, below the frontmatter.
    """
    document = case.document
    is_used = bool(document.values) and case.get("disable") is not True and "prompt" not in case.values
    if is_used and not document.unclosed_frontmatter and not document.text[document.body_start :].strip():
        yield Report("the agent has no prompt", "Write below the frontmatter what it should do.",
                     document.key_span("/description"))  # fmt: skip

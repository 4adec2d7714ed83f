"""Rules on opencode's agents: what keeps it from starting, what it sends to the provider, what it reads otherwise.

What is said of it was seen in version 1.18: one value of the wrong type in one agent's file, and opencode does not
start at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.agents import edits
from remit.agents.patterns import find_way_past, matches_whole, normalize_command
from remit.agents.profiles import CLAUDE_KEYS, OPENCODE_KEYS, OPENCODE_TOOLS, STANDARD_KEYS
from remit.agents.rules.keys import find_meant, list_names
from remit.agents.rules.register import MAX_REPORTS, Case, Report, rule
from remit.agents.rules.tables import guess, is_number, show
from remit.lazy import lazy
from remit.places import escape_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.agents.document import Document
    from remit.agents.profiles import Profile

_OPENCODE: tuple[Profile, ...] = ("opencode",)
_STOPS = "opencode does not start"


def _is_read(document: Document, pointer: str) -> bool:
    """Whether a table that is none can be told to be so: where the YAML is broken, a table is read as a text."""
    found = document.frontmatter
    return found is not None and (found.whole or not isinstance(document.values.get(pointer[1:]), str))


def _is_told(document: Document, pointer: str) -> bool:
    """Whether another rule speaks of it: a number, a date or a truth value where a text is expected."""
    found = document.frontmatter
    return found is not None and found.plain.get(pointer, "null") != "null"


# --- what it is ------------------------------------------------------------------------------------------------------


@rule("AGT300", "R1.1", profiles=_OPENCODE, severity="warning", fix="unsafe")
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
    if not lost or case.get("mode") == "primary" or "description" in _find_strangers(case).values():
        return
    title = next((text for level, text, _ in document.body.headings if level == 1 and text), "")
    yield Report(f"description is {'empty' if 'description' in case.values else 'missing'}",
                 "Say what it does and when to use it.", document.key_span("/description"), "/description",
                 edits=edits.put_value(document, "", "description", edits.quote(title)) if title else ())  # fmt: skip


@rule("AGT301", "R1.1", profiles=_OPENCODE, fix="safe")
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
        if key not in case.values or isinstance(value, str) or _is_told(document, pointer):
            continue
        effect = _STOPS if key != "name" else "nobody can call it"
        yield Report(f"{key} is {'empty' if value is None else show(value)}, so {effect}",
                     "Write a text, or remove the key.", document.key_span(pointer), pointer,
                     edits=edits.remove_key(document, pointer) if value is None else (),
                     fix_message="Remove it.")  # fmt: skip


_MODES = ("subagent", "primary", "all")


@rule("AGT302", "R1.1", profiles=_OPENCODE, fix="unsafe")
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
    yield Report(f"mode is {show(mode)}, so {_STOPS}", hint, document.key_span("/mode"), "/mode",
                 edits=edits.remove_key(document, "/mode") if mode is None else changes,
                 fix_message=f"Write {meant}." if meant else "Remove it.")  # fmt: skip


_RANGES: Mapping[str, tuple[float, float]] = {"temperature": (0, 2), "top_p": (0, 1)}
_PLAIN_NUMBER = lazy(r"\d{1,9}(?:\.\d{1,9})?\Z")


@rule("AGT303", "R1.1", profiles=_OPENCODE, fix="safe")
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
    return Report(f"{pointer[1:]} is {show(value)} and not a number, so {_STOPS}", hint, document.key_span(pointer),
                  pointer, edits=edits.remove_key(document, pointer) if value is None else number,
                  fix_message="Remove it." if value is None else f"Write {text[:20]}.")  # fmt: skip


@rule("AGT304", "R1.1", profiles=_OPENCODE, fix="safe")
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
            yield Report(f"{key} is {show(value)}, so {_STOPS}", "Write a whole number above 0.",
                         case.document.span_of(f"/{key}"), f"/{key}")  # fmt: skip


@rule("AGT305", "R1.1", profiles=_OPENCODE, severity="warning", fix="safe")
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


_TRUTHS = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "1", "0"})


@rule("AGT306", "R1.1", profiles=_OPENCODE, fix="safe")
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
        if key not in case.values or isinstance(value, bool) or str(value).lower()[:9] in _TRUTHS:
            continue
        yield Report(f"{key} is {'empty' if value is None else show(value)}, so {_STOPS}", "Write true or false.",
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


@rule("AGT307", "R1.1", profiles=_OPENCODE, fix="unsafe")
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
    yield Report(f"color is {show(color)}, so {_STOPS}",
                 "Write # and six digits, between quotes, or a color of the theme, such as accent.",
                 document.key_span("/color"), "/color",
                 edits=edits.replace_value(document, "/color", edits.quote(meant)) if meant
                 else edits.remove_key(document, "/color") if color is None else (),
                 fix_message=f'Write "{meant}".' if meant else "Remove it.",
                 applicability="safe" if short else None)  # fmt: skip


_IDS = (("claude-", "anthropic"), ("gpt-", "openai"), ("gemini-", "google"))


@rule("AGT308", "R1.1", profiles=_OPENCODE, fix="unsafe")
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


@rule("AGT309", "R1.1", profiles=_OPENCODE, severity="note")
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


@rule("AGT310", "R1.1", profiles=_OPENCODE, severity="warning", fix="safe")
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


@rule("AGT311", "R1.1", profiles=_OPENCODE, severity="warning")
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


# --- keys that it does not know --------------------------------------------------------------------------------------

_RESTRICTIONS = (
    "permissions", "permissionMode", "allowed-tools", "allowedTools", "allowed_tools", "disallowedTools",
    "disallowed-tools", "disallowed_tools", "deny", "allow",
)  # fmt: skip
"""How others call what an agent may do."""


@rule("AGT312", "R1.3", profiles=_OPENCODE, fix="unsafe")
def opencode_restriction_ignored(case: Case) -> Iterator[Report]:
    """What the agent may do is said under a key that opencode does not read.

    Why: nothing of it holds, and the key is sent to the model provider. opencode reads `permission`, without an s.

    Bad: `permissions: {bash: {"*": deny}}`

    Good: `permission: {bash: {"*": deny}}`

    Fix (unsafe): renames `permissions` where opencode can read what stands there.
    """
    document = case.document
    for key in _RESTRICTIONS:
        if key not in case.values:
            continue
        can_fix = key == "permissions" and "permission" not in case.values and _is_permission(case.values[key])
        yield Report(f"opencode does not read {key}, so nothing of it holds, and sends it to the model provider",
                     "Say it in permission.", document.key_span(f"/{key}"), f"/{key}",
                     edits=edits.rename_key(document, f"/{key}", "permission") if can_fix else (),
                     fix_message="Rename it to permission.")  # fmt: skip


def _find_strangers(case: Case) -> dict[str, str | None]:
    """Each key that opencode does not know, and the one that was meant if one is close and not given."""
    strange = [key for key in case.values if key not in OPENCODE_KEYS and key not in _RESTRICTIONS]
    found: dict[str, str | None] = {}
    for key in strange[:MAX_REPORTS]:
        meant = None if key in STANDARD_KEYS or key in CLAUDE_KEYS else find_meant(key, OPENCODE_KEYS)
        is_given = meant in case.values or meant in found.values() or _OLD_NAMES.get(meant or "") in case.values
        found[key] = None if is_given else meant
    return found


_OLD_NAMES = {"steps": "maxSteps", "permission": "permissions"}
"""What other rules rename: no key is given twice."""


def _can_take_permission(case: Case) -> bool:
    """Whether a fix may write `permission`: it is not given, and no other fix writes it."""
    return not {"permission", "permissions"} & case.values.keys() and "permission" not in _find_strangers(case).values()


@rule("AGT313", "R1.1", profiles=_OPENCODE, severity="warning", fix="unsafe")
def opencode_key_misspelt(case: Case) -> Iterator[Report]:
    """A key is misspelt.

    Why: opencode sends a key that it does not know to the model provider, and what was meant does not hold.

    Bad: `temprature: 0.2`

    Good: `temperature: 0.2`

    Fix (unsafe): gives it the name that was probably meant.
    """
    for key, meant in _find_strangers(case).items():
        if meant:
            pointer = f"/{escape_key(key)}"
            yield Report(f"opencode knows no key {show(key)}, and sends it to the model provider",
                         f"Did you mean {meant}?", case.document.key_span(pointer), pointer,
                         edits=edits.rename_key(case.document, pointer, meant),
                         fix_message=f"Rename it to {meant}.")  # fmt: skip


@rule("AGT314", "R1.1", profiles=_OPENCODE, severity="warning")
def opencode_keys_leak(case: Case) -> Iterator[Report]:
    """The frontmatter has keys that opencode does not know.

    Why: it sends them to the model provider with every request, as options of the model: your notes leave the house,
    and a provider may refuse the request. What is meant for the provider is better said under `options`.

    Bad: `maintainer: jo@example.com`

    Good: a comment, `# maintainer: jo@example.com`; or `options:` with `reasoningEffort: high` under it
    """
    leaked = [key for key, meant in _find_strangers(case).items() if not meant]
    if leaked:
        pointer = f"/{escape_key(leaked[0])}"
        yield Report(f"opencode sends these keys to the model provider: {list_names(leaked)}",
                     "Make comments of them, or put under options what the provider should have.",
                     case.document.key_span(pointer), pointer)  # fmt: skip


# --- permissions -----------------------------------------------------------------------------------------------------

_ACTIONS = ("allow", "ask", "deny")
_WITHOUT_PATTERNS = frozenset({"question", "webfetch", "websearch", "doom_loop"})


def _is_permission(value: object) -> bool:
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


@rule("AGT320", "R1.3", profiles=_OPENCODE, fix="unsafe")
def opencode_permission_form(case: Case) -> Iterator[Report]:
    """A permission is none of allow, ask and deny.

    Why: opencode does not start. `question`, `webfetch`, `websearch` and `doom_loop` take no patterns, only one of the
    three words.

    Bad: `permission: {bash: true}`, `permission: {edit: denied}`

    Good: `permission: {bash: allow}`, `permission: {bash: {"git *": allow}}`

    Fix (unsafe): writes the word that was probably meant: allow for true, deny for false.
    """
    document = case.document
    rights = case.get("permission")
    if "permission" not in case.values or rights in _ACTIONS or not _is_read(document, "/permission"):
        return
    faults = list(_find_faults(rights))[:MAX_REPORTS] if isinstance(rights, dict) else [((), rights)]
    for path, action in faults:
        pointer = "/permission" + "".join(f"/{escape_key(part)}" for part in path)
        name = ".".join(("permission", *path))[:80]
        meant, hint = _find_action(action)
        if isinstance(action, dict):
            hint = "Write allow, ask or deny: it takes no patterns." if path else hint
        yield Report(f"{name} is {show(action)}, so {_STOPS}", hint, document.key_span(pointer), pointer,
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


_EDITS = frozenset({"write", "patch", "multiedit", "apply_patch"})


@rule("AGT321", "R1.3", profiles=_OPENCODE, fix="unsafe")
def opencode_permission_unread(case: Case) -> Iterator[Report]:
    """A permission is set for `write`, `patch` or `multiedit`.

    Why: opencode asks for the permission `edit` whenever a file is changed, by whatever tool. A permission with another
    of these names is never looked at: `write: deny` denies nothing.

    Bad: `permission: {write: deny}`

    Good: `permission: {edit: deny}`

    Fix (unsafe): renames it to `edit`, where that is not given.
    """
    document = case.document
    rights = case.get("permission")
    named = [tool for tool in rights if tool in _EDITS] if isinstance(rights, dict) else []
    for index, tool in enumerate(named):
        pointer = f"/permission/{tool}"
        can_fix = "edit" not in rights and index == 0
        is_harmless = rights[tool] == "allow"
        yield Report(f"opencode never looks at the permission {tool}: edit covers every change to a file",
                     "Write edit." if can_fix else "Say it in edit, and remove this.", document.key_span(pointer),
                     pointer, "warning" if is_harmless else None,
                     edits.rename_key(document, pointer, "edit") if can_fix else ())  # fmt: skip


@rule("AGT322", "R1.3", profiles=_OPENCODE, severity="warning", fix="unsafe")
def opencode_tool_misspelt(case: Case) -> Iterator[Report]:
    """A tool is misspelt.

    Why: names are case-sensitive, and one that no tool has is never looked at: `Bash: deny` denies nothing. Names that
    resemble none are left alone; they may be tools of an MCP server.

    Bad: `permission: {Bash: deny}`

    Good: `permission: {bash: deny}`

    Fix (unsafe): writes the name that was probably meant.
    """
    document = case.document
    for table in ("permission", "tools"):
        rights = case.get(table)
        for tool in list(rights)[:MAX_REPORTS] if isinstance(rights, dict) else ():
            if tool in OPENCODE_TOOLS or tool in _EDITS or not tool.isalpha():
                continue
            meant = find_meant(tool, OPENCODE_TOOLS)
            if meant:
                pointer = f"/{table}/{tool}"
                can_fix = meant not in rights
                yield Report(f"opencode has no tool {show(tool)}", f"Did you mean {meant}?", document.key_span(pointer),
                             pointer, edits=edits.rename_key(document, pointer, meant) if can_fix else (),
                             fix_message=f"Rename it to {meant}.")  # fmt: skip


@rule("AGT323", "R1.3", profiles=_OPENCODE, severity="warning")
def opencode_permission_overruled(case: Case) -> Iterator[Report]:
    """The rule for everything stands after other rules.

    Why: of all rules that match, the last one wins. A `"*"` at the end overrules what stands above it.

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
            yield Report(f'"*" stands last and overrules {list_names(lost, 3)}', 'Put "*" first: the last match wins.',
                         document.key_span(f"{pointer}/*"), f"{pointer}/*")  # fmt: skip


@rule("AGT324", "R1.3", profiles=_OPENCODE, severity="note")
def opencode_asks(case: Case) -> Iterator[Report]:
    """A permission is `ask`.

    Why: where nobody can answer, in `opencode run` for one, what is asked is refused, and the run still ends as a
    success. In the terminal it is what it says.

    Bad: `permission: {bash: ask}` for an agent that a script starts

    Good: `permission: {bash: {"*": deny, "git diff*": allow}}`
    """
    rights = case.get("permission")
    path = next(_find_asks(rights), None) if isinstance(rights, dict) else () if rights == "ask" else None
    if path is not None:
        pointer = "/permission" + "".join(f"/{escape_key(part)}" for part in path)
        name = ".".join(("permission", *path))[:80]
        yield Report(f"{name} is ask, which is refused wherever nobody can answer",
                     "Write allow or deny if scripts start this agent.", case.document.span_of(pointer),
                     pointer)  # fmt: skip


def _find_asks(rights: dict[str, object]) -> Iterator[tuple[str, ...]]:
    for tool, right in rights.items():
        if right == "ask":
            yield (tool,)
        elif isinstance(right, dict):
            yield from ((tool, pattern) for pattern, action in right.items() if action == "ask")


@rule("AGT327", "R1.3", profiles=_OPENCODE, severity="warning")
def opencode_denial_decorative(case: Case) -> Iterator[Report]:
    """A command is denied to bash, and the same command in another spelling is not.

    Why: a pattern is compared with the whole command, `*` stands for anything, and of all patterns that match, the last
    one wins. Flags can be written apart, in another order or in full, a program by its path or through another one.
    Where everything else is allowed, no list of denials is complete. It is told once, with an example.

    Bad: `bash: {"*": allow, "rm -rf *": deny}`: `rm -r -f` does the same

    Good: `bash: {"*": deny, "git diff*": allow, "git status*": allow}`
    """
    document = case.document
    rules = _list_bash_rules(case.get("permission"))
    denied = [each for each in rules if each.action == "deny" and len(each.path) > 1]

    def may_run(command: str) -> bool:
        found = (each.action for each in reversed(rules) if matches_whole(each.pattern, command))
        return next(found, "allow") == "allow"

    allowed = (each.pattern.split(" ", 1)[0].rstrip("*") for each in rules if each.action == "allow")
    programs = list(dict.fromkeys(("bash", "env", *allowed)))
    for denial in denied:
        command = normalize_command(denial.pattern).rstrip("*").rstrip()
        if not command or may_run(command):
            continue  # a later rule allows it, as it is written
        longer = f"{command} x"  # a pattern without a star is the whole command
        way = longer if may_run(longer) else find_way_past(command, programs, may_run)
        if way is not None:
            pointer = "/permission" + "".join(f"/{escape_key(part)}" for part in denial.path)
            rest = f", one of {len(denied)} denials," if len(denied) > 1 else ""
            yield Report(f"denying {show(denial.pattern)}{rest} does not hold: `{way}` is allowed",
                         'Write "*": deny first, and allow the commands that the agent needs.',
                         document.key_span(pointer), pointer)  # fmt: skip
            return


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


# --- tools -----------------------------------------------------------------------------------------------------------


@rule("AGT325", "R1.2", profiles=("opencode", "standard"), fix="unsafe")
def opencode_tools_form(case: Case) -> Iterator[Report]:
    """`tools` is not a table of true and false, in a file that opencode reads.

    Why: opencode does not start. A list of names is how Claude Code has it.

    Bad: `tools: Read, Grep`

    Good: `permission: {"*": deny, read: allow, grep: allow}`

    Fix (unsafe): makes permissions of a list: what it names is allowed, anything else denied.
    """
    document = case.document
    tools = case.get("tools")
    if "tools" not in case.values or document.place != "opencode" or not _is_read(document, "/tools"):
        return
    is_standard = document.profile == "standard"  # which has rules and a fix of its own for what stands in the table
    if isinstance(tools, dict):
        for name, on in tools.items() if not is_standard else ():
            pointer = f"/tools/{escape_key(name)}"
            if not isinstance(on, bool) and str(on).lower()[:9] not in _TRUTHS:
                meant = {"allow": "true", "deny": "false"}.get(str(on)[:9], "")
                yield Report(f"tools.{name[:60]} is {show(on)}, so {_STOPS}", "Write true or false.",
                             document.key_span(pointer), pointer,
                             edits=edits.replace_value(document, pointer, meant) if meant else (),
                             fix_message=f"Write {meant}.")  # fmt: skip
        return
    changes = _make_permission(document, tools) if not is_standard and _can_take_permission(case) else ()
    yield Report(f"tools is {show(tools)} and not a table, so {_STOPS}", "Say it in permission.",
                 document.key_span("/tools"), "/tools", edits=changes,
                 fix_message="Make permissions of it.")  # fmt: skip


def _make_permission(document: Document, tools: object) -> tuple[edits.Change, ...]:
    """A list of tools as permissions; none where one of them is unknown."""
    texts = tools.split(",") if isinstance(tools, str) else tools if isinstance(tools, list) else []
    known = {name.lower(): "edit" if name in _EDITS else name for name in OPENCODE_TOOLS}
    names = [known.get(text.strip().lower(), "") if isinstance(text, str) else "" for text in texts[:100]]
    if not names or not all(names):
        return ()
    rights = ", ".join(f"{name}: allow" for name in dict.fromkeys(names))
    renamed = edits.rename_key(document, "/tools", "permission")
    replaced = edits.replace_value(document, "/tools", f'{{"*": deny, {rights}}}')
    return (*renamed, *replaced) if renamed and replaced else ()


@rule("AGT326", "R1.2", profiles=_OPENCODE, severity="note", fix="unsafe")
def opencode_tools_deprecated(case: Case) -> Iterator[Report]:
    """`tools` is deprecated.

    Why: since version 1.1 `permission` says which tools an agent has. opencode still makes permissions of `tools`, and
    what `permission` says of the same tool wins.

    Bad: `tools: {write: false, bash: true}`

    Good: `permission: {edit: deny, bash: allow}`

    Fix (unsafe): makes permissions of it, as opencode does; versions before 1.1 read only some of them.
    """
    document = case.document
    tools = case.get("tools")
    if not isinstance(tools, dict) or not all(isinstance(on, bool) for on in tools.values()):
        return
    yield Report("tools is deprecated", "Say it in permission.", document.key_span("/tools"), "/tools",
                 edits=_translate(document, tools) if tools and _can_take_permission(case) else (),
                 fix_message="Make permissions of it.")  # fmt: skip


def _translate(document: Document, tools: dict[str, bool]) -> tuple[edits.Change, ...]:
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

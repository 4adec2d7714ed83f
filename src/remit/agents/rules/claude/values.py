"""Rules on the values of the other keys that Claude Code reads: model, mode, turns, color and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.rules.claude import CLAUDE, is_own_folder
from remit.agents.rules.keys import is_absent
from remit.agents.rules.register import Case, Report, rule
from remit.agents.rules.tables import TRUTHS, guess, is_told, show
from remit.harnesses import claude
from remit.lazy import lazy
from remit.spelling import SURE, find_meant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FAMILY = lazy(r"(?:claude[-_ .]{0,3})?(?P<family>sonnet|opus|haiku)[-_ .v]{0,3}[\d.]{0,8}\Z")


@rule("AGT220", "R1.1", profiles=CLAUDE, severity="warning", fix="unsafe")
def claude_model_unknown(case: Case) -> Iterator[Report]:
    """The model is neither an alias nor a full id.

    Why: Claude Code passes on what it does not know, and the agent fails at its first request, unless a gateway of
    yours knows the name. Aliases are sonnet, opus, haiku, inherit; an id begins with `claude-`.

    Bad: `model: sonnet-4.5`, `model: anthropic/claude-sonnet-4-5`

    Good: `model: sonnet`, `model: claude-sonnet-4-5`

    Fix (unsafe): writes the alias, or the id without its provider.
    """
    model = case.get("model")
    if model is None or is_told(case.document, "/model"):
        return
    if not isinstance(model, str):
        yield Report(f"model is {show(model)} and not a text, so it is ignored", "Write an alias, such as sonnet.",
                     case.document.span_of("/model"), "/model")  # fmt: skip
        return
    meant = _find_model(model.strip().removesuffix("[1m]"))
    if meant:
        yield Report(f"{show(model)} is neither an alias nor the id of a model", f"Did you mean {meant}?",
                     case.document.span_of("/model"), "/model",
                     edits=edits.rewrite_text(case.document, "/model", meant),
                     fix_message=f"Write {meant}.")  # fmt: skip


def _find_model(model: str) -> str:
    """What is meant by a word that is no name of a model; nothing where it is one, or may be one to a gateway."""
    low = model.lower()[:200]
    if not low or low in claude.MODELS or low.startswith("arn:"):
        return ""
    provider, _, name = low.rpartition("/")
    if provider in ("anthropic", "claude") and name:
        return _find_model(name) or name
    if found := _FAMILY.match(low):
        return found["family"]
    return "" if "claude" in low or "/" in low else find_meant(low, claude.MODELS, least=SURE) or ""


@rule("AGT221", "R1.3", profiles=CLAUDE, fix="unsafe")
def claude_mode_unknown(case: Case) -> Iterator[Report]:
    """`permissionMode` is none that Claude Code knows.

    Why: it is ignored, and the agent runs in the mode of the session, which may allow more.

    Bad: `permissionMode: readonly`

    Good: `permissionMode: plan`

    Fix (unsafe): writes the mode that was probably meant.
    """
    yield from _check_choice(case, "permissionMode", claude.MODES)


def _check_choice(case: Case, key: str, known: Sequence[str]) -> Iterator[Report]:
    """One of a few words, or nothing."""
    value = case.get(key)
    pointer = f"/{key}"
    if is_absent(value) or value in known or is_told(case.document, pointer):
        return
    meant, hint = guess(value, known) if isinstance(value, str) else ("", f"Known are: {', '.join(known)}.")
    yield Report(f"{key} is {show(value)}, which Claude Code ignores", hint, case.document.span_of(pointer), pointer,
                 edits=edits.rewrite_text(case.document, pointer, meant) if meant else (),
                 fix_message=f"Write {meant}.")  # fmt: skip


@rule("AGT222", "R1.3", profiles=CLAUDE, severity="warning")
def claude_bypasses_permissions(case: Case) -> Iterator[Report]:
    """The agent runs without permission checks.

    Why: `bypassPermissions` lets it run every command and write every file without asking, and so may whoever gets a
    sentence into what it reads.

    Bad: `permissionMode: bypassPermissions`

    Good: `permissionMode: acceptEdits`, and permission rules for what it needs
    """
    if case.get("permissionMode") == claude.FREE_MODE and is_own_folder(case.document):
        yield Report("the agent runs without any permission check", "Allow what it needs, and no more.",
                     case.document.span_of("/permissionMode"), "/permissionMode")  # fmt: skip


_DIGITS = lazy(r"\s{0,20}\+?0{0,20}[1-9]")


@rule("AGT223", "R1.1", profiles=CLAUDE, severity="warning")
def claude_turns_not_positive(case: Case) -> Iterator[Report]:
    """`maxTurns` is not a positive whole number.

    Why: it is ignored, and the agent runs without a limit.

    Bad: `maxTurns: 0`, `maxTurns: unlimited`

    Good: `maxTurns: 20`
    """
    turns = case.get("maxTurns")
    is_counted = type(turns) is int or (isinstance(turns, float) and turns.is_integer())
    is_read = turns > 0 if is_counted else isinstance(turns, str) and _DIGITS.match(turns)
    if turns is not None and not is_read:
        yield Report(f"maxTurns is {show(turns)}, so there is no limit", "Write a whole number above 0.",
                     case.document.span_of("/maxTurns"), "/maxTurns")  # fmt: skip


@rule("AGT224", "R1.1", profiles=CLAUDE, severity="warning", fix="unsafe")
def claude_value_unknown(case: Case) -> Iterator[Report]:
    """`memory`, `isolation` or `effort` has a value that Claude Code does not know.

    Why: the value is ignored: the agent remembers nothing, works in your own tree, thinks as long as any other. Known
    are `memory` user, project, local; `isolation` worktree; `effort` low, medium, high, xhigh, max or a whole number.

    Bad: `isolation: work-tree`

    Good: `isolation: worktree`

    Fix (unsafe): writes the value that was probably meant.
    """
    yield from _check_choice(case, "memory", claude.MEMORIES)
    if case.get("isolation") != "remote":
        yield from _check_choice(case, "isolation", ("worktree",))
    effort = case.get("effort")
    is_number = type(effort) is int or (isinstance(effort, str) and _DIGITS.match(effort))
    if not is_number and not (isinstance(effort, str) and effort.lower() in (*claude.EFFORTS, "med")):
        yield from _check_choice(case, "effort", claude.EFFORTS)


@rule("AGT225", "R1.1", profiles=CLAUDE, severity="note", fix="unsafe")
def claude_color_unknown(case: Case) -> Iterator[Report]:
    """The color is none that Claude Code shows.

    Why: it knows eight names and nothing else; any other color is ignored.

    Bad: `color: "#38BDF8"`

    Good: `color: cyan`

    Fix (unsafe): writes the color that was probably meant.
    """
    yield from _check_choice(case, "color", claude.COLORS)


@rule("AGT226", "R1.1", profiles=CLAUDE, severity="warning")
def claude_list_expected(case: Case) -> Iterator[Report]:
    """`mcpServers` or `skills` is not a list.

    Why: Claude Code ignores `mcpServers` unless it is a list, and `skills` if it is a table; the agent runs without
    them.

    Bad: `mcpServers: {github: {command: gh-mcp}}`

    Good: `mcpServers: [github]`, or a list with `github: {command: gh-mcp}` as an item
    """
    for key in ("mcpServers", "skills"):
        value = case.get(key)
        is_read = value is None or isinstance(value, list) or (key == "skills" and isinstance(value, str))
        if not is_read and not (key == "mcpServers" and not is_own_folder(case.document)):
            yield Report(f"{key} is {show(value)} and not a list, so it is ignored", "Write a list.",
                         case.document.key_span(f"/{key}"), f"/{key}")  # fmt: skip


@rule("AGT227", "R1.1", profiles=CLAUDE, severity="warning")
def claude_background_unknown(case: Case) -> Iterator[Report]:
    """`background` is neither true nor false.

    Why: anything else is ignored, and the agent runs in the foreground.

    Bad: `background: always`

    Good: `background: true`
    """
    value = case.get("background")
    if value is None or isinstance(value, bool) or str(value).lower()[:9] in TRUTHS:
        return
    yield Report(f"background is {show(value)}, which Claude Code ignores", "Write true or false.",
                 case.document.span_of("/background"), "/background")  # fmt: skip

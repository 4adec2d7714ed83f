"""Judging commands: the acts of a script against all layers of permissions.

Owns the answer to a shell command. Every program that would be started has to pass, every file that would be touched
too, and what cannot be told is asked about where a rule could have said something.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from remit.policy import paths
from remit.policy.bash import code, commands, files, names
from remit.policy.bash.acts import Doubt, Hint, Run, Touch
from remit.policy.bash.reading import Reader
from remit.policy.bash.words import HOLE
from remit.policy.judging import judge_path
from remit.policy.terms import ALLOWED, HAND_BACK, STAY, Decision, pick_stricter, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.bash.acts import Act
    from remit.policy.terms import Ground, Permissions

PLAINLY = (
    "write the command out in full, without anything that only a running shell can know, or hand back what you have"
)


def judge_command(command: str, layers: Sequence[Permissions], ground: Ground) -> Decision:
    """Whether a shell command may run: the strictest answer over all that it would do."""
    restricted = any(_restricts(layer) for layer in layers)
    if not restricted and not ground.protected and not any(layer.allow or layer.deny for layer in layers):
        return ALLOWED
    reader = Reader(ground)
    reader.read(command)
    code.finish(reader)
    decision = ALLOWED
    for act in dict.fromkeys(reader.acts):
        decision = pick_stricter(decision, _judge_act(act, layers, ground, restricted=restricted))
        if decision.answer == "deny":
            return decision
    return pick_stricter(decision, _judge_composed(reader.acts, layers))


def _judge_composed(acts: Sequence[Act], layers: Sequence[Permissions]) -> Decision:
    """Patterns that name several commands (`curl * | sh`), or a file (`echo * > x`): denied if all of it is there."""
    runs = [act for act in acts if isinstance(act, Run)]
    files_written = [act.path.text for act in acts if isinstance(act, Touch) and act.tool == "write"]
    for layer in layers:
        for pattern in layer.deny.get("bash", ()):
            if not any(sign in pattern for sign in "|;&>"):
                continue
            parts, target = commands.take_apart(pattern)
            there = all(any(commands.fits(part, run) for run in runs) for part in parts)
            if there and (not target or any(paths.matches_name(target, path) for path in files_written)):
                rule = f'deny bash "{pattern}"'
                return Decision("deny", f"this command is denied to this agent by its rule {rule}; {HAND_BACK}", rule)
    return ALLOWED


def _restricts(layer: Permissions) -> bool:
    allowed = layer.allow.get("bash")
    listed = allowed is not None and not any(commands.parse_pattern(each).is_everything for each in allowed)
    return listed or bool(layer.deny.get("bash"))


def _judge_act(act: Act, layers: Sequence[Permissions], ground: Ground, *, restricted: bool) -> Decision:
    if isinstance(act, Doubt):
        if not restricted and not act.always:
            return ALLOWED
        return Decision("ask", f"what this command would run cannot be told: {act.why}; {PLAINLY}", "bash")
    if isinstance(act, Run):
        return pick_stricter(_judge_run(act, layers), _check_named(act, ground))
    if isinstance(act, Touch):
        return _judge_touch(act, layers, ground)
    decision = _judge_hint(act, layers)
    place = _find_named(act.text, ground) if act.is_code else ""
    return pick_stricter(decision, _say_named(act.text, place)) if place else decision


def _judge_run(run: Run, layers: Sequence[Permissions]) -> Decision:
    decision = ALLOWED
    said = shorten(" ".join(word.text.replace(HOLE, "…") for word in run.words))
    for layer in layers:
        for pattern in layer.deny.get("bash", ()):
            found = commands.fits(pattern, run)
            rule = f'deny bash "{pattern}"'
            if found == commands.YES:
                return Decision("deny", f"'{said}' is denied to this agent by its rule {rule}; {HAND_BACK}", rule)
            if found == commands.MAYBE:
                reason = f"whether '{said}' is what the rule {rule} means cannot be told from its words; {PLAINLY}"
                decision = pick_stricter(decision, Decision("ask", reason, rule))
        allowed = layer.allow.get("bash")
        if allowed is None or run.passes_on or any(commands.is_allowed(each, run) for each in allowed):
            continue
        listed = ", ".join(f'"{shorten(each, 40)}"' for each in list(allowed)[:8]) or "nothing"
        reason = f"'{said}' is not on this agent's list allow bash ({listed}); {STAY}"
        return Decision("deny", reason, "allow bash")
    return decision


def _check_named(run: Run, ground: Ground) -> Decision:
    """A protected place in the words of a program that is not known only to read."""
    if commands.find_family(commands.base_name(run.words[0].text)) in HARMLESS:
        return ALLOWED
    if _find_named("\n".join(word.text for word in run.words[1:]), ground):
        for word in run.words[1:]:
            place = _find_named(word.text, ground)
            if place:
                return _say_named(word.text, place)
    return ALLOWED


def _say_named(text: str, place: str) -> Decision:
    said = shorten(text.replace(HOLE, "…"))
    reason = f"'{said}' names \"{place}\", where no agent writes, to a program that may write there; {HAND_BACK}"
    return Decision("ask", reason, f'protected "{place}"')


def _find_named(text: str, ground: Ground) -> str:
    """The protected place that a text names; "" where it names none."""
    for pattern, start, end in _list_ends(tuple(ground.protected)):
        at = text.find(start)
        while at >= 0:
            before, behind = text[at - 1 : at], text[at + len(start) :]
            begins = not before.isalnum() and before not in ("_", "-")
            goes_on = behind[:1].isalnum() or behind[:1] in ("_", "-", ".")
            ends = end in behind.partition("\n")[0] if end or pattern.endswith("*") else not goes_on
            if begins and ends:
                return pattern
            at = text.find(start, at + 1)
    return ""


@lru_cache(maxsize=8)
def _list_ends(patterns: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """Patterns, and the parts that a text must have in it to name what each means: its beginning and its end."""
    found = []
    for pattern in patterns:
        plain = pattern.removeprefix("**/").removeprefix("~/")
        start, star, rest = plain.partition("*")
        if start.strip("./"):
            found.append((pattern, start, rest.rpartition("*")[2].lstrip("/") if star else ""))
    return tuple(found)


HARMLESS = (names.READERS - {"python", "node"}) | names.CLEAR | frozenset(names.WRAPPERS) | frozenset(files.WRITERS)
"""Programs that only read, whose writing is seen to by itself, or that start others which are judged by themselves."""


def _judge_hint(hint: Hint, layers: Sequence[Permissions]) -> Decision:
    unfinished = commands.is_unfinished(hint)
    for layer in layers:
        for pattern in layer.deny.get("bash", ()):
            rule = f'deny bash "{pattern}"'
            if commands.hints_at(pattern, hint):
                reason = f"'{shorten(hint.text)}' may start what the rule {rule} denies; {HAND_BACK}"
                return Decision("ask", reason, rule)
            if unfinished:
                reason = f"whether '{shorten(hint.text)}' is given to a shell cannot be told; {PLAINLY}"
                return Decision("ask", reason, rule)
    return ALLOWED


def _judge_touch(touch: Touch, layers: Sequence[Permissions], ground: Ground) -> Decision:
    path = touch.path.text
    refused = _check_writing(touch, layers, ground) if touch.tool == "write" else None
    if refused is not None:
        return refused
    if touch.tool == "read" and not any(_has_rules(layer, "read") for layer in layers):
        return ALLOWED
    if HOLE in path or (touch.cwds is None and not path.startswith("/")):
        return _judge_unsure(touch, layers, ground)
    decision = ALLOWED
    for number, cwd in enumerate(touch.cwds or ("/",)):
        found = judge_path(path, touch.tool, layers, ground, cwd=cwd, below=touch.below)
        if number and found.answer == "deny":
            # The folder before it: only where the way to the next one fails.
            found = ALLOWED if found.rule.startswith("allow") else found._replace(answer="ask")
        decision = pick_stricter(decision, found)
    return decision


def _check_writing(touch: Touch, layers: Sequence[Permissions], ground: Ground) -> Decision | None:
    """Who may neither write nor edit writes no file of the workspace through a shell either."""
    if all(layer.tools is None or {"write", "edit"} & set(layer.tools) for layer in layers):
        return None
    path = touch.path.text
    reason = (
        f"'{shorten(path.replace(HOLE, '…'))}' would be written, and this agent may neither write nor edit; {HAND_BACK}"
    )
    if HOLE in path or (touch.cwds is None and not path.startswith("/")):
        return Decision("ask", reason, "tools")
    full = [name for cwd in touch.cwds or ("/",) for name in paths.name_all(path, ground, cwd=cwd)]
    inside = any(paths.is_below(name, root) for name in full for root in (ground.root, ground.resolve(ground.root)))
    return Decision("deny", reason, "tools") if inside else None


def _has_rules(layer: Permissions, *tools: str) -> bool:
    return any(layer.deny.get(tool) or tool in layer.allow for tool in tools)


def _judge_unsure(touch: Touch, layers: Sequence[Permissions], ground: Ground) -> Decision:
    """A path with a hole in it: asked about where a rule could mean it."""
    path = touch.path.text
    tools = ("write", "edit") if touch.tool == "write" else ("read",)
    start = path.partition(HOLE)[0]
    shown = shorten(path.replace(HOLE, "…"))
    reason = f"where '{shown}' leads cannot be told, and rules say what this agent may {touch.tool}; {PLAINLY}"
    asked = Decision("ask", reason, touch.tool)
    for layer in layers:
        lists = [layer.allow[tool] for tool in tools if tool in layer.allow][:1]
        if any(not any(each.strip() in paths.EVERYTHING for each in patterns) for patterns in lists):
            return asked
        outside = start.startswith("/") and not start.startswith((ground.root, ground.home))
        if any(layer.deny.get(tool) for tool in tools) and not (outside and ".." not in path):
            return asked
    if touch.tool == "write" and any(token in path for token in _list_names(ground.protected)):
        return asked
    return ALLOWED


def _list_names(patterns: Sequence[str]) -> set[str]:
    """The telling names in patterns of protected places."""
    names = {part.strip("*") for pattern in patterns for part in pattern.split("/")}
    return {name for name in names if name and (name.startswith(".") or "." in name)}

"""Judging commands: the acts of a script against all layers of permissions.

Owns the answer to a shell command. Every program that would be started has to pass, every file that would be touched
too, and what cannot be told is asked about where a rule could have said something.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from remit.globs import EVERYTHING, matches_name
from remit.lazy import lazy
from remit.policy import paths
from remit.policy.bash import code, commands, files, links, listings, mentions, names, signals
from remit.policy.bash.acts import Doubt, Hint, Refusal, Run, Touch
from remit.policy.bash.reading import Reader
from remit.policy.bash.words import GLOB, HOLE, read_ansi
from remit.policy.judging import judge_path
from remit.policy.terms import ALLOWED, HAND_BACK, STAY, Decision, pick_stricter, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.bash.acts import Act
    from remit.policy.terms import Ground, Permissions

PLAINLY = (
    "write the command out in full, without anything that only a running shell can know, or hand back what you have"
)

NARROWER = "look in folders that are about your work (`src` instead of `.`), or name the files"


def judge_command(command: str, layers: Sequence[Permissions], ground: Ground) -> Decision:
    """Whether a shell command may run: the strictest answer over all that it would do."""
    restricted = any(_restricts(layer) for layer in layers)
    if not restricted and not ground.protected and not any(layer.allow or layer.deny for layer in layers):
        return ALLOWED
    reader = Reader(ground)
    reader.read(command)
    code.finish(reader)
    links.check_links(reader)
    signals.check_signals(reader)
    ground = links.follow_links(reader, ground)
    decision = ALLOWED
    for act in dict.fromkeys(reader.acts):
        decision = pick_stricter(decision, _judge_act(act, layers, ground, restricted=restricted))
        if decision.answer == "deny":
            return decision
    decision = pick_stricter(decision, _judge_composed(reader.acts, layers))
    return decision if decision.answer != "allow" else _judge_blind(reader, ground)


def _judge_blind(reader: Reader, ground: Ground) -> Decision:
    """A protected place that a script names, and a write of its of which nobody can tell where it goes."""
    if not any(_is_blind(act) for act in reader.acts):
        return ALLOWED
    listed = listings.find_listed(reader, ground) or _find_hidden(reader, ground)
    if listed:
        reason = f'it writes to files of a list, and "{listed}" may be on it, where no agent writes; {NARROWER}'
        return Decision("ask", reason, f'protected "{listed}"')
    texts = [reader.heard, read_ansi(reader.heard) or "", *reader.said]
    text = "\n".join(texts).replace("\\n", "\n").translate(_QUOTES)
    place = (
        mentions.find_named(text, ground) or mentions.find_pieces(text, ground) or mentions.find_tokens(text, ground)
    )
    return _say_named(text, place) if place else ALLOWED


def _find_hidden(reader: Reader, ground: Ground) -> str:
    """A protected place among hidden files, where a script says that stars stand for these, too."""
    starred = any(isinstance(act, Touch) and act.tool == "write" and act.path.kind == GLOB for act in reader.acts)
    dotted = starred and any(word in reader.heard for word in ("dotglob", "GLOBIGNORE"))
    return next((pattern for pattern in ground.protected if pattern.startswith(".")), "") if dotted else ""


_QUOTES = str.maketrans("", "", "\"'\\")
_SPREADING = names.read_names("xargs parallel tar unzip cpio pax rsync patch bsdtar 7z")


def _is_blind(act: Act) -> bool:
    if isinstance(act, Touch):
        path = act.path.text
        return act.tool == "write" and (HOLE in path or path.startswith(("/dev/fd/", "/proc/")))
    if isinstance(act, Run):
        name, texts = commands.base_name(act.words[0].text), [word.text for word in act.words[1:]]
        whole = name == "cp" and any(text[:1] == "-" and set("raRT") & set(text) for text in texts)
        patches = name == "git" and any(text in ("apply", "am") for text in texts)
        return patches or name in _SPREADING or (whole and texts[-1].rstrip("/") in (".", ".."))
    return isinstance(act, Doubt)


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
            if there and (not target or any(matches_name(target, path) for path in files_written)):
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
    if isinstance(act, Refusal):
        return Decision("deny" if act.is_sure else "ask", f"{act.why}; {HAND_BACK}", "protected")
    decision = ALLOWED if act.is_place else _judge_hint(act, layers)
    place = mentions.find_in_code(act, ground) if act.is_code or act.is_place else ""
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
    name = commands.find_family(commands.base_name(run.words[0].text))
    texts = [word.text for word in run.words[1:]]
    if name in HARMLESS and not _writes_oddly(name, texts):
        return ALLOWED
    for cwd in run.cwds or ():
        if cwd != ground.cwd and posixpath.basename(cwd) in mentions.FOLDERS:
            return _say_named(cwd, f"{posixpath.basename(cwd)}/**")
    # What is behind a letter of an option is a word of its own.
    texts += [text[2:] for text in texts if text[:1] == "-" and text[1:2] != "-"]
    if mentions.find_named("\n".join(texts), ground):
        for text in texts:
            place = mentions.find_named(text, ground)
            if place:
                return _say_named(text, place)
    return ALLOWED


def _writes_oddly(name: str, texts: Sequence[str]) -> bool:
    """Whether a program that mostly reads is told to write, or one of git's seldom ways to."""
    if name == "git":
        return bool(
            {"bundle", "worktree", "clone", "merge-file", "checkout-index", "update-index"} & set(texts[:4])
        ) or (any(text.startswith(("--file", "-f", "--template")) for text in texts) and "config" in texts)
    if name == "find":
        return any(text.startswith(("-delete", "-exec", "-ok", "-fprint", "-fls")) for text in texts)
    return name in ("yq", "sed", "xmllint", "jq") and any(text[:2] in ("-i", "-y") or "--in" in text for text in texts)


def _say_named(text: str, place: str) -> Decision:
    said = shorten(text.replace(HOLE, "…"))
    reason = f"'{said}' names \"{place}\", where no agent writes, to a program that may write there; {HAND_BACK}"
    return Decision("ask", reason, f'protected "{place}"')


_CLASS = lazy(r"\[[^\]]*\]")
_MANIFOLD = names.read_names(
    """
iconv xz unxz zstd unzstd bzip2 bunzip2 lz4 unlz4 brotli openssl gpg curl wget gcc g++ cc c++ clang clang++ ld as ar
tar zip unzip 7z cpio pax objcopy strip csplit rsync
"""
)
"""Programs that write by so many of their options that not all are known."""
HARMLESS = (
    (names.READERS - {"python", "node"})
    | names.CLEAR
    | frozenset(names.WRAPPERS)
    | {"find"}
    | (frozenset(files.WRITERS) - _MANIFOLD)
)
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
    if touch.tool == "read" and not (_may_be_secret(touch) or any(_has_rules(layer, "read") for layer in layers)):
        return ALLOWED
    if HOLE in path or touch.path.kind == GLOB or (touch.cwds is None and not path.startswith("/")):
        return _judge_unsure(touch, layers, ground)
    decision = ALLOWED
    for number, cwd in enumerate(touch.cwds or ("/",)):
        found = judge_path(path, touch.tool, layers, ground, cwd=cwd, below=touch.below)
        if number and found.answer == "deny":
            # The folder before it: only where the way to the next one fails.
            found = ALLOWED if found.rule.startswith("allow") else found._replace(answer="ask")
        decision = pick_stricter(decision, found)
    return decision


def _may_be_secret(touch: Touch) -> bool:
    """Whether a path is worth a look: most that are read are not, and there are many."""
    return "server.json" in touch.path.text and HOLE not in touch.path.text and touch.path.kind != GLOB


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
    tools = {"write": ("write", "edit"), "read": ("read",)}.get(touch.tool, ())
    start = path.partition(HOLE)[0]
    shown = shorten(path.replace(HOLE, "…"))
    reason = f"where '{shown}' leads cannot be told, and rules say what this agent may {touch.tool}; {PLAINLY}"
    asked = Decision("ask", reason, touch.tool)
    for layer in layers:
        lists = [layer.allow[tool] for tool in tools if tool in layer.allow][:1]
        if any(not any(each.strip() in EVERYTHING for each in patterns) for patterns in lists):
            return asked
        outside = start.startswith("/") and not start.startswith((ground.root, ground.home))
        if any(layer.deny.get(tool) for tool in tools) and not (outside and ".." not in path):
            return asked
    if touch.tool != "read" and (_may_be_protected(touch, ground) or _is_called_so(touch, ground)):
        return asked
    if touch.tool != "read" and any(token in path for token in _list_names(ground.protected)):
        return asked
    return ALLOWED


def _is_called_so(touch: Touch, ground: Ground) -> bool:
    """Whether a file in a folder that is not known has the name of a protected one."""
    name = posixpath.basename(touch.path.text)
    lasts = [pattern.rpartition("/")[2] for pattern in ground.protected] if touch.cwds is None else []
    return HOLE not in name and any(last[:1] != "*" and matches_name(last, name) for last in lasts)


def _may_be_protected(touch: Touch, ground: Ground) -> bool:
    """Whether a path is a protected one if its hole is nothing, or its star what it would have to be."""
    shape = "*" if touch.path.kind == GLOB else ""
    for cwd in touch.cwds or (ground.cwd,):
        full = posixpath.normpath(posixpath.join(cwd, _CLASS.sub(shape, touch.path.text).replace(HOLE, shape)))
        if shape and touch.below and not posixpath.basename(full).strip("*") and _is_above(full, ground):
            return True
        if shape and any(paths.meets(each, full, ground) for each in ground.protected):
            return True
        if touch.path.text.strip(HOLE) and any(paths.covers(each, (full,), ground) for each in ground.protected):
            return full != posixpath.normpath(cwd)
    return False


def _is_above(full: str, ground: Ground) -> bool:
    """Whether all that is in a folder is meant, and the workspace is among it or is that folder."""
    return paths.is_below(ground.root, posixpath.dirname(full))


def _list_names(patterns: Sequence[str]) -> set[str]:
    """The telling names in patterns of protected places."""
    names = {part.rstrip("*") for pattern in patterns for part in pattern.split("/") if part[:1] != "*"}
    return {name for name in names if name and (name.startswith(".") or "." in name)}

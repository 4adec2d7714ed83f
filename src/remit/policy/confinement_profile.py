"""The confinement profile that the kernel enforces, from the permissions of an agent and all its ancestors.

The kernel limits files and folders, not patterns, tools or commands. If a rule can't be expressed, `make_profile`
reports what is enforced instead.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.confine.profile import Profile
from remit.globs import EVERYTHING, is_magic
from remit.policy.paths import YES, covers, expand_home, is_below, place
from remit.policy.program_rules import is_composed, is_needed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from remit.policy.decision import PathContext, Permissions

WRITING = ("write", "edit")
MAX_SEARCHED = 200_000
"""The number of files and folders that are compared with the patterns of one rule."""
MAX_MATCHES = 2_000
"""The number of matches that get a separate mount."""
_SERVER_FILE = ".remit/server.json"
"""It contains the token of the server; no agent reads it."""
CACHES = (
    "~/.cache", "~/.npm", "~/.yarn", "~/.local/share/pnpm", "~/.cargo/registry", "~/.cargo/git", "~/go/pkg", "~/.m2",
    "~/.gradle", "~/.ivy2", "~/.nuget", "~/.bundle",
)  # fmt: skip
"""Folders of build tools with downloaded and compiled files."""


def list_caches(home: str, environ: Mapping[str, str], write: Sequence[str]) -> list[str]:
    """Return the caches of build tools that exist and aren't in a writable place.

    A command can write to them, and its changes are discarded, so that the user's next build uses none of them.
    """
    named = environ.get("XDG_CACHE_HOME", "")
    folders = [each.replace("~", home, 1) for each in CACHES] + ([named] if named.startswith("/") else [])
    found = [os.path.realpath(each) for each in folders if os.path.isdir(each)]
    return [each for each in dict.fromkeys(found) if not any(is_below(each, one) for one in write)]


def make_profile(
    layers: Sequence[Permissions], ground: PathContext, *, write: Sequence[str] = (), protect: Sequence[str] = ()
) -> tuple[Profile, list[str]]:
    """Return what all layers of permissions allow, and a sentence for each rule that the kernel enforces differently.

    `write`: places that every build needs. `protect`: full paths that stay read-only regardless of the
    layers. Paths in the profile's `write` may not exist yet: create them before the command starts, those of
    `list_new_files` as files and all others as folders.
    """
    ground = ground._replace(root=ground.resolve(ground.root), home=ground.resolve(ground.home))
    sentences: list[str] = []
    denied = [*dict.fromkeys(each for layer in layers for tool in WRITING for each in layer.deny.get(tool, ()))]
    opened = [] if _has_everything(denied) else _list_opened(layers, ground, sentences)
    opened += _list_build_places(write, ground, sentences)
    closed = [*protect]
    for pattern in denied:
        closed += _find_denied(pattern, opened, ground, sentences) if pattern.strip() not in EVERYTHING else ()
    hidden: list[str] = []
    for pattern in dict.fromkeys(each for layer in layers for each in layer.deny.get("read", ())):
        hidden += _find_hidden(pattern, opened, ground, sentences)
    hidden += [path for path in (f"{ground.root}/{_SERVER_FILE}",) if os.path.isfile(path)]
    if any("read" in layer.allow and not _has_everything(layer.allow["read"]) for layer in layers):
        sentences.append("allow read: the kernel hides what is denied, and every other file can be read")
    left = [path for path in opened if not any(is_below(path, each) for each in (*closed, *hidden))]
    inner = [path for path in left if not any(is_below(path, each) and path != each for each in left)]
    deny, allow = _list_programs(layers, sentences)
    profile = Profile(write=_sort(inner), protect=_sort(closed), hide=_sort(hidden), deny=deny, allow=allow)
    return profile, [*dict.fromkeys(sentences)]


def _list_programs(
    layers: Sequence[Permissions], sentences: list[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the patterns of programs that any layer denies, and the lists that all have to allow."""
    denied = [*dict.fromkeys(each for layer in layers for each in layer.deny.get("bash", ()) if each.strip())]
    composed = [each for each in denied if is_composed(each)]
    sentences += [f'deny bash "{each}": it names several commands, and {_WORDS_ONLY}' for each in composed]
    lists = [tuple(layer.allow["bash"]) for layer in layers if "bash" in layer.allow]
    allow = tuple(dict.fromkeys(each for each in lists if not _has_everything(each)))
    return tuple(each for each in denied if each not in composed), allow


def judge_commands(profile: Profile, sentences: list[str], *, is_judged: bool) -> Profile:
    """Return a profile for shell commands. `is_judged`: whether their programs are judged."""
    if is_judged or not (profile.deny or profile.allow):
        return profile
    sentences.append(f"deny and allow bash: programs aren't judged when they start, and {_WORDS_ONLY}")
    return profile._replace(deny=(), allow=())


def judge_harness(profile: Profile, sentences: list[str], *, is_judged: bool) -> Profile:
    """Return a profile for a whole agent: its harness starts programs, too."""
    profile = judge_commands(profile, sentences, is_judged=is_judged)
    needed = [each for each in profile.deny if is_needed(each)]
    sentences += [f'deny bash "{each}": the harness needs such programs, and {_WORDS_ONLY}' for each in needed]
    if profile.allow:
        sentences.append(f"allow bash: the harness starts programs of its own, and {_WORDS_ONLY}")
    return profile._replace(deny=tuple(each for each in profile.deny if each not in needed), allow=())


_WORDS_ONLY = "only the words of a script are checked"


def list_new_files(layers: Sequence[Permissions], ground: PathContext) -> set[str]:
    """Return the files that rules allow to write by their full names and that don't exist."""
    root, home = ground.resolve(ground.root), ground.resolve(ground.home)
    patterns = (pattern for layer in layers for tool in WRITING for pattern in layer.allow.get(tool, ()))
    split = (_split(choice) for pattern in patterns for choice in place(pattern, root, home, None))
    return {plain for plain, stars in split if not stars and not os.path.lexists(plain)}


def _sort(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*paths}))


# --- writable paths --------------------------------------------------------------------------------------------------


def _list_opened(layers: Sequence[Permissions], ground: PathContext, sentences: list[str]) -> list[str]:
    """Return the files and folders that every layer allows to write; the root if no layer limits it."""
    opened: list[str] | None = None
    for layer in layers:
        own = _list_layer(layer, ground, sentences)
        if opened is None or own is None:
            opened = own if opened is None else opened
        else:
            inner = [one for one in own if any(is_below(one, other) for other in opened)]
            opened = [*inner, *(one for one in opened if any(is_below(one, other) for other in own))]
    return [ground.root] if opened is None else opened


def _list_layer(layer: Permissions, ground: PathContext, sentences: list[str]) -> list[str] | None:
    """Return what one layer allows to write; None if it sets no limit."""
    tools = [tool for tool in WRITING if layer.tools is None or tool in layer.tools]
    if layer.unread or not tools:
        return []
    lists = [layer.allow.get(tool, layer.allow.get(_other(tool))) for tool in tools]
    if any(each is None or _has_everything(each) for each in lists):
        if any(each is not None and not _has_everything(each) for each in lists):
            sentences.append("allow write and allow edit differ: the kernel allows what one of them allows")
        return None
    patterns = [*dict.fromkeys(pattern for each in lists for pattern in each or ())]
    if any({*(each or ())} != {*patterns} for each in lists):
        sentences.append("allow write and allow edit differ: the kernel allows what one of them allows")
    return [path for pattern in patterns for path in _open_pattern(pattern, ground, sentences)]


def _other(tool: str) -> str:
    return "edit" if tool == "write" else "write"


def _has_everything(patterns: Iterable[str]) -> bool:
    return any(pattern.strip() in EVERYTHING for pattern in patterns)


def _open_pattern(pattern: str, ground: PathContext, sentences: list[str]) -> Iterator[str]:
    rule = f'allow write "{pattern}"'
    choices = place(pattern, ground.root, ground.home, None)
    if not choices:
        sentences.append(f"{rule}: the kernel can't enforce this pattern, so it allows nothing")
    for choice in choices:
        plain, stars = _split(choice)
        if ground.resolve(plain) != plain:
            sentences.append(f"{rule}: '{plain}' leads through a symbolic link, and stays read-only")
        elif stars == ["**"]:
            yield plain
        elif stars:
            sentences.append(f"{rule}: the kernel can't enforce patterns, so everything in '{plain}' can be written")
            yield plain
        elif os.path.isdir(plain):
            sentences.append(f'{rule}: it is a folder, and stays read-only; "{pattern}/**" means what is in it')
        elif os.path.exists(plain):
            sentences.append(f"{rule}: the file can be changed in place; a program that replaces it fails")
            yield plain
        else:
            sentences.append(
                f"{rule}: the file is made empty before the agent starts; a program that replaces it fails"
            )
            yield plain


def _split(choice: list[str]) -> tuple[str, list[str]]:
    """Return the path that a placed pattern begins with, and the part from its first star on."""
    at = next((at for at, part in enumerate(choice) if is_magic(part)), len(choice))
    return "/" + "/".join(choice[:at]), choice[at:]


def _list_build_places(places: Sequence[str], ground: PathContext, sentences: list[str]) -> Iterator[str]:
    """Return the places of the setting that exist, as real paths."""
    for text in places:
        path = ground.resolve(os.path.join(ground.root, expand_home(text, ground.home)))
        if is_below(ground.root, path):
            sentences.append(f"[confine] write '{text}': it contains the workspace, and stays read-only")
        elif os.path.lexists(path):
            yield path


# --- denied and hidden paths -----------------------------------------------------------------------------------------


def _find_denied(pattern: str, opened: Sequence[str], ground: PathContext, sentences: list[str]) -> Iterator[str]:
    """Return the paths that a pattern denies to write, inside the writable ones."""
    rule = f'deny write "{pattern}"'
    for choice in place(pattern, ground.root, ground.home, None):
        plain, stars = _split(choice)
        if stars in ([], ["**"]):
            path = _follow(plain, opened, ground)
            yield path
            if not os.path.lexists(path) and any(is_below(path, each) for each in opened):
                sentences.append(f"{rule}: it doesn't exist, and a command can create it")
            continue
        folders = [each if is_below(each, plain) else plain for each in opened if _overlap(each, plain)]
        count = 0
        for folder in dict.fromkeys(folders):
            found, is_whole = _search(folder, pattern, ground)
            yield from found if is_whole else (folder,)
            count += len(found)
            if not is_whole:
                sentences.append(f"{rule}: too many files to compare, so everything in '{folder}' stays read-only")
        sentences.append(f"{rule}: {count} that match stay read-only; a command can create others")


def _find_hidden(pattern: str, opened: Sequence[str], ground: PathContext, sentences: list[str]) -> Iterator[str]:
    """Return the paths that a pattern denies to read."""
    rule = f'deny read "{pattern}"'
    if pattern.strip() in EVERYTHING:
        sentences.append(f"{rule}: only the workspace is hidden; programs need the other files")
        yield ground.root
        return
    for choice in place(pattern, ground.root, ground.home, None):
        plain, stars = _split(choice)
        if stars in ([], ["**"]):
            path = _follow(plain, opened, ground)
            yield path
            if not os.path.lexists(path):
                sentences.append(f"{rule}: it doesn't exist, and can be read if it is created later")
            continue
        found, is_whole = _search(plain, pattern, ground)
        yield from found
        what = "match are hidden; others can be read if they are created later"
        sentences.append(f"{rule}: {len(found)} that {what}" if is_whole else
                         f"{rule}: too many files to compare: {len(found)} are hidden, others aren't")  # fmt: skip


def _follow(path: str, opened: Sequence[str], ground: PathContext) -> str:
    """Return where a path leads. A link that could be replaced stays: the launcher refuses it with a sentence."""
    return path if any(is_below(path, each) for each in opened) else ground.resolve(path)


def _overlap(one: str, other: str) -> bool:
    return is_below(one, other) or is_below(other, one)


def _search(folder: str, pattern: str, ground: PathContext) -> tuple[list[str], bool]:
    """Return the paths in a folder that a pattern covers, and whether all of them were compared."""
    found: list[str] = []
    if covers(pattern, (folder,), ground) == YES:
        return [folder], True
    searched, waiting = 0, [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                listed = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError:  # gone, or not readable for the agent either
            continue
        searched += len(listed)
        for path, is_folder in listed:
            if covers(pattern, (path,), ground) == YES:
                found.append(path)
            elif is_folder:
                waiting.append(path)
        if searched > MAX_SEARCHED or len(found) > MAX_MATCHES:
            return found[:MAX_MATCHES], False
    return found, True

"""The ignore rules at the start of a run, which apply even if the run changes them.

The rules are the text of every `.gitignore`, of `.git/info/exclude` and of the global ignore file. Git applies them. If
a run changed them, `git check-ignore` applies the earlier rules in a folder with only these files.
"""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

from remit.light_hash import take_sha256
from remit.storage.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from remit.git.process import GitOutput

NAME = ".gitignore"
GLOBAL, INFO = "//global", "//info"
"""The keys of the global ignore file and of `info/exclude`. No path of a tree has two slashes."""
_MAX_BYTES = 8 * 1024 * 1024


def load_rules(top: str, files: Iterable[str], *, excludes: str, info: str) -> dict[str, str]:
    """Return the text of each existing rule file, by its path below `top`."""
    named = {GLOBAL: excludes, INFO: info, **{path: f"{top}/{path}" for path in files}}
    found = {key: _load(file, is_linkable=key in (GLOBAL, INFO)) for key, file in sorted(named.items()) if file}
    return {key: text for key, text in found.items() if text}


def _load(file: str, *, is_linkable: bool) -> str:
    """Return the text of a rule file; empty if there is none. Like git, this follows no link to a `.gitignore`."""
    try:
        found = os.stat(file, follow_symlinks=is_linkable)
        if not stat.S_ISREG(found.st_mode):
            return ""
        with open(file, "rb") as stream:
            return stream.read(_MAX_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def keep_rules(folder: str, rules: Mapping[str, str]) -> str:
    """Write rules to a file that is named by its content, unless it exists; return its name."""
    data = json.dumps(rules, sort_keys=True).encode()
    name = take_sha256(data)
    if not os.path.exists(file := f"{folder}/rules/{name}"):
        os.makedirs(f"{folder}/rules", exist_ok=True)
        write_bytes(file, data, durable=False)
    return name


def read_rules(folder: str, name: str) -> dict[str, str]:
    """Return the rules that were stored under a name. Raise `OSError` or `ValueError` if they can't be read."""
    with open(f"{folder}/rules/{name}", "rb") as stream:
        rules = json.load(stream)
    return {str(key): str(text) for key, text in rules.items()}


def find_ignored(
    place: str, rules: Mapping[str, str], paths: Iterable[str], run: Callable[..., GitOutput]
) -> frozenset[str]:
    """Return the paths that some rules ignore. A path that ends with a slash is a folder.

    `place` is an empty folder. `run` calls git with a work tree, a global ignore file and a git folder in it.
    """
    wanted = [*dict.fromkeys(paths)]
    for key, text in rules.items():
        file = {GLOBAL: f"{place}/global", INFO: f"{place}/git/info/exclude"}.get(key, f"{place}/tree/{key}")
        _write(file, text)
    _write(f"{place}/git/HEAD", "ref: refs/heads/none\n")
    for folder in ("git/objects", "git/refs", "tree"):
        os.makedirs(f"{place}/{folder}", exist_ok=True)
    for path in wanted:
        if path.endswith("/"):  # git checks on disk whether a path is a folder
            os.makedirs(f"{place}/tree/{path}", exist_ok=True)
    given = b"".join(b"./" + os.fsencode(path.rstrip("/")) + b"\0" for path in wanted)  # no colon at the start
    answer = run("check-ignore", "--no-index", "-z", "--stdin", given=given)
    if answer.code not in (0, 1):  # 1: none is ignored
        raise ValueError(answer.reason)
    ignored = {*os.fsdecode(answer.out).split("\0")}
    return frozenset(path for path in wanted if f"./{path.rstrip('/')}" in ignored)


def _write(file: str, text: str) -> None:
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "wb") as stream:
        stream.write(text.encode("utf-8", "surrogateescape"))

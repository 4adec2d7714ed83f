"""Protected files of a workspace: the patterns and paths by which the policy denies writes to them.

Hooks load this on every tool call, so it imports little.
"""

from __future__ import annotations

import os

from remit.harnesses import claude, codex, opencode
from remit.policy import PROTECTED, PathContext
from remit.storage.hard_links import make_search

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FOLDER_VARIABLES = (claude.FOLDER_VARIABLE, codex.FOLDER_VARIABLE, opencode.FOLDER_VARIABLE)
"""The environment variables with the folder of a harness's settings."""


def make_path_context(root: str, cwd: str, home: str, environ: Mapping[str, str]) -> PathContext:
    """Return the context in which paths are judged: the protected patterns, and the real target of each path."""
    protected = _list_patterns(root, environ)
    return PathContext(root, cwd, home, os.path.realpath, protected, make_search(root, home, protected))


def _list_patterns(root: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the patterns of all workspaces, of this installation of Remit, and of settings that lie elsewhere.

    `.git` is protected if it is a file, as in a worktree.
    """
    own = [f"{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}/**"]
    own += [f"{environ[name].rstrip('/')}/**" for name in _FOLDER_VARIABLES if environ.get(name, "").startswith("/")]
    own += [".git"] if os.path.isfile(f"{root}/.git") else []
    return (*PROTECTED, *own)


def list_new_protected(paths: Iterable[str], root: str, *, agent: str, known: str = "") -> list[str]:
    """Return a sentence for each new file whose name is protected in any folder. Paths are relative to the root.

    `known`: the sentences that exist already. Remit moves none of the files: during a whole run anyone may have created
    them.
    """
    from remit.policy.paths import YES, covers  # noqa: PLC0415 - only for this

    words = {part for pattern in PROTECTED for part in pattern.split("/") if "*" not in part}
    ground = PathContext(root, root, os.path.expanduser("~"), os.path.realpath)
    likely = [path for path in paths if not words.isdisjoint(path.split("/"))]
    found = [path for path in likely if any(covers(each, (f"{root}/{path}",), ground) == YES for each in PROTECTED)]
    new = [path for path in found if not any(f"'{each}'" in known for each in _list_above(path))]
    return [f"the protected name '{path}' is new; it appeared while '{agent}' ran: check it" for path in new]


def _list_above(path: str) -> list[str]:
    """Return a path and the folders that it is in."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]

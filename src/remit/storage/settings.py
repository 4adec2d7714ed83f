"""Find the root of the workspace and load its settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.errors import ConfigError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from remit.config import Settings

SIGNS = ("remit.toml", ".remit", ".git")
"""The marks of a workspace: its root has one of them."""


def find_root(start: str | None = None) -> str:
    """Return the workspace's root: REMIT_ROOT, else the nearest ancestor with a mark, else the current folder."""
    named = os.environ.get("REMIT_ROOT")
    if named:
        if not os.path.isdir(named):
            raise InputError(f"REMIT_ROOT is '{named}', which isn't a folder", hint="name the workspace's root folder")
        _has_sign(named)
        return os.path.abspath(named)
    try:
        here = folder = os.path.abspath(start or os.getcwd())
    except OSError as error:
        raise InputError("the current folder is gone", hint="change to an existing one") from error
    while True:
        if _has_sign(folder):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return here
        folder = above


def _has_sign(folder: str) -> bool:
    """Return whether a folder has a mark of a workspace.

    Raise `InputError` if the folder can't be read, because then a mark isn't known to be missing.
    """
    for sign in SIGNS:
        file = f"{folder}/{sign}"
        try:
            os.stat(file)
        except PermissionError:
            check_open(file)  # else it is a link to an unreadable folder
        except (OSError, ValueError):
            continue
        else:
            return True
    return False


def check_open(file: str) -> None:
    """Raise `InputError` if a file can't be looked up because its folder is unreadable."""
    try:
        os.lstat(file)
    except PermissionError as error:
        folder = os.path.dirname(file)
        hint = "check the permissions of the folder"
        raise InputError(f"'{folder}' can't be read: permission denied", hint=hint) from error
    except (OSError, ValueError):
        return


def find_root_of(paths: Sequence[str]) -> str:
    """Return the root for some paths: a nested workspace if all of them are in it, else the current one."""
    here = find_root()
    inner = {_find_inner(path, here) for path in paths} if not os.environ.get("REMIT_ROOT") else set()
    return inner.pop() if len(inner) == 1 else here


def _find_inner(path: str, root: str) -> str:
    folder = os.path.abspath(path)
    if not folder.startswith(f"{root.rstrip('/')}/"):
        return root
    while len(folder) > len(root) and not os.path.isfile(f"{folder}/remit.toml"):
        folder = os.path.dirname(folder)
    return folder


def find_workspace(start: str | None = None) -> str:
    """Return the root with the ledger and tasks: for a linked worktree, that of the main checkout."""
    root = find_root(start)
    if not os.path.isfile(f"{root}/.git") or os.environ.get("REMIT_ROOT"):
        return root
    from remit.storage.checkouts import find_main_checkout  # noqa: PLC0415 - only in a worktree

    return find_main_checkout(root) or root


def is_inside(file: str, root: str) -> bool:
    """Return whether a file is in the workspace, with links followed."""
    from remit.storage.safe_path import name_below  # noqa: PLC0415 - only needed for links

    return bool(name_below(os.path.realpath(root), os.path.realpath(file)))


def load_settings(root: str | Path) -> Settings:
    """Return the settings in remit.toml; without that file, the lint settings in pyproject.toml."""
    from remit.config import Settings, parse_settings  # noqa: PLC0415 - only with a root
    from remit.storage.files import load_bytes  # noqa: PLC0415

    if not os.path.isdir(root):
        raise InputError(f"{root} isn't a folder", hint="name the project's root folder")
    check_open(f"{root}/remit.toml")
    for name, table in (("remit.toml", ()), ("pyproject.toml", ("tool", "remit"))):
        file = f"{root}/{name}"
        if os.path.isfile(file):
            try:
                settings = parse_settings(load_bytes(file).decode("utf-8", "replace"), table=table)
            except ConfigError as error:
                raise ConfigError(f"{file}: {error.message}", hint=error.hint) from error
            if name == "remit.toml" or settings != Settings():
                return settings
        elif name == "remit.toml" and os.path.lexists(file):
            # A pipe, a folder or a dangling link: the user's limits must not be dropped silently.
            raise ConfigError(f"{file} isn't a file", hint="move it away, or put the settings there")
    return Settings()

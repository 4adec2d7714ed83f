"""Diagnostics about git (GIT…), and the exception that carries one.

The documentation of a code is the docstring of the function that makes its diagnostic. None is an error: the work is
done and on disk, and only its commit is missing (S6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.errors import BusyError, StorageError
from remit.model import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.errors import RemitError
    from remit.model import Severity

_MAX_SHOWN_CHARS = 200
_NOTHING = "nothing was committed: "
_DEFAULT_HINT = "check git status, then try again"
_HINTS = {
    "GIT001": "check that git is installed and starts, then try again",
    "GIT002": "run git init there, or check git status",
    "GIT008": "wait for the other git process, or remove its lock if none runs; then try again",
}
"""The hints for operations other than a commit."""


class GitRefused(Exception):  # noqa: N818 - it never leaves the functions of this package
    """A git operation failed; carries the diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic

    def as_error(self) -> RemitError:
        """Return the error for operations other than a commit."""
        code = self.diagnostic.code
        kind = BusyError if code == "GIT008" else StorageError
        return kind(self.diagnostic.message.removeprefix(_NOTHING), hint=_HINTS.get(code, _DEFAULT_HINT))


def show(name: str) -> str:
    """Return a name or a line from outside, truncated and with printable characters only."""
    text = "".join(char if char.isprintable() else "?" for char in name[: _MAX_SHOWN_CHARS + 1])
    return f"{text[:_MAX_SHOWN_CHARS]}…" if len(text) > _MAX_SHOWN_CHARS else text


def git_missing(reason: str, *, is_there: bool = False) -> Diagnostic:
    """Git can't be started.

    Why: without git nothing is committed. The files are written anyway.

    Bad: a machine without git, a PATH without it, or a process that can't open more files.

    Good: `git --version` prints a version.
    """
    hint = "Check that git --version works, then commit the files."
    hint = hint if is_there else "Install git, or commit later."
    return Diagnostic("GIT001", "warning", f"can't start git: {show(reason)}", hint)


def no_repository(root: str, reason: str) -> Diagnostic:
    """The workspace isn't in a git checkout that git accepts.

    Why: there is no repository to commit to. Work continues without commits.

    Bad: a folder without `.git`, a bare repository, a repository of another user.

    Good: `git init` in the workspace's root.
    """
    message = f"'{show(root)}' isn't a git checkout: {show(reason)}"
    return Diagnostic("GIT002", "note", message, "Run git init there, or check git status.")


def in_progress(what: str) -> Diagnostic:
    """A merge, a rebase or a similar operation is in progress.

    Why: a commit now would become a part of it, or end it.

    Bad: `git merge` has stopped at a conflict, and a task is completed meanwhile.

    Good: the merge is finished or aborted, then the task's files are committed.
    """
    hint = "Finish or abort it, then commit the files."
    return Diagnostic("GIT003", "warning", f"{_NOTHING}{what}", hint)


def no_identity() -> Diagnostic:
    """Git has no name and email for the author of a commit.

    Why: a commit names its author. Remit doesn't guess one from the machine's name.

    Bad: neither user.name nor user.email is set.

    Good: `git config user.name "Ada"` and `git config user.email ada@example.org`
    """
    hint = "Set them with git config user.name and git config user.email, then commit the files."
    return Diagnostic("GIT004", "warning", f"{_NOTHING}git has no user.name and user.email", hint)


def path_refused(path: str, reason: str) -> Diagnostic:
    """A path can't be committed, so nothing was committed.

    Why: a commit has exactly the named files. Files outside of the workspace, behind a link or in a nested repository
    don't belong to it, and folders and pipes can't be committed.

    Bad: `../notes.md`, `link/notes.md`, `submodule/notes.md`, `specs/`

    Good: `specs/012_export/plan.md`
    """
    message = f"{_NOTHING}'{show(path)}' {reason}"
    return Diagnostic("GIT005", "warning", message, "Leave it out, or commit the files yourself.")


def path_ignored(path: str) -> Diagnostic:
    """A path was left out of a commit because git ignores it.

    Why: ignored files aren't meant to be in the history.

    Bad: `specs/` in .gitignore, and a commit of `specs/TODO.md`.

    Good: `git add --force specs/TODO.md` once, if it should be committed; later commits include it.
    """
    message = f"'{show(path)}' was left out of the commit: git ignores it"
    return Diagnostic("GIT006", "note", message, "Remove it from .gitignore, or add it once with git add --force.")


def path_filtered(path: str, name: str) -> Diagnostic:
    """A path has a git filter, so nothing was committed.

    Why: a filter is a command in the repository's settings, which an agent can write. Remit runs no filters, and
    without the filter the content would be wrong.

    Bad: `*.png filter=lfs` in .gitattributes, and a commit of `chart.png`.

    Good: commit such files by hand.
    """
    message = f"{_NOTHING}'{show(path)}' has the git filter '{show(name)}', which Remit doesn't run"
    return Diagnostic("GIT007", "warning", message, "Leave it out, or commit the files yourself.")


def repository_busy(reason: str) -> Diagnostic:
    """Another git process locked the repository for too long.

    Why: git lets only one process write at a time.

    Bad: an `index.lock` that a killed git process left behind.

    Good: the other process has ended and its lock is gone.
    """
    hint = "Wait for the other git process; if none runs, remove its lock. Then commit the files."
    return Diagnostic("GIT008", "warning", f"{_NOTHING}{show(reason)}", hint)


def commit_failed(reason: str) -> Diagnostic:
    """The commit failed.

    Why: for example a full disk, missing permissions or a broken repository. The files on disk are unchanged.

    Bad: objects that belong to another user.

    Good: `git status` and `git fsck` report no problems.
    """
    hint = "Check git status, then commit the files."
    return Diagnostic("GIT009", "warning", f"{_NOTHING}{show(reason)}", hint)


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "GIT001": (git_missing, "warning"),
    "GIT002": (no_repository, "note"),
    "GIT003": (in_progress, "warning"),
    "GIT004": (no_identity, "warning"),
    "GIT005": (path_refused, "warning"),
    "GIT006": (path_ignored, "note"),
    "GIT007": (path_filtered, "warning"),
    "GIT008": (repository_busy, "warning"),
    "GIT009": (commit_failed, "warning"),
}

"""What is said when git could not do its part.

Owns the findings about git (GIT…). The documentation of each is the docstring of the function that makes it. None is an
error: the work is done and on disk, and only its commit is missing (S6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.errors import BusyError, StorageError
from remit.model import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.errors import RemitError
    from remit.model import Severity

_SHOWN = 200
_NOTHING = "nothing was committed: "
_TRY_AGAIN = "see what git status says, then try again"
_NEXT = {
    "GIT001": "see that git is installed and can be started, then try again",
    "GIT002": "run git init there, or see what git status says",
    "GIT008": "wait for the other git to end, or remove its lock if none runs; then try again",
}
"""What to do where it was not about a commit."""


class GitRefused(Exception):  # noqa: N818 - it ends the steps of this room, no caller ever sees it
    """A step with git that cannot be taken, and what there is to say about it."""

    def __init__(self, finding: Diagnostic) -> None:
        super().__init__(finding.message)
        self.finding = finding

    def as_error(self) -> RemitError:
        """The same for somebody who wanted something else than a commit."""
        code = self.finding.code
        kind = BusyError if code == "GIT008" else StorageError
        return kind(self.finding.message.removeprefix(_NOTHING), hint=_NEXT.get(code, _TRY_AGAIN))


def show(name: str) -> str:
    """A name or a line of somebody else's, fit to be printed."""
    text = "".join(char if char.isprintable() else "?" for char in name[: _SHOWN + 1])
    return f"{text[:_SHOWN]}…" if len(text) > _SHOWN else text


def git_missing(reason: str, *, is_there: bool = False) -> Diagnostic:
    """Git cannot be started.

    Why: without it nothing is committed. The files are written all the same.

    Bad: a machine without git, a PATH without it, or a process that may open no more files.

    Good: `git --version` gives an answer.
    """
    hint = "See whether git --version gives an answer, then commit the files."
    hint = hint if is_there else "Install git, or commit later."
    return Diagnostic("GIT001", "warning", f"git cannot be started: {show(reason)}", hint)


def no_repository(root: str, reason: str) -> Diagnostic:
    """The workspace does not lie in a checkout that git is willing to work in.

    Why: there is nothing to commit to. Work goes on without commits.

    Bad: a folder without `.git`, a bare repository, one that belongs to another user.

    Good: `git init` in the workspace's root.
    """
    message = f"'{show(root)}' is no git checkout: {show(reason)}"
    return Diagnostic("GIT002", "note", message, "Run git init there, or see what git status says.")


def in_progress(what: str) -> Diagnostic:
    """Somebody is in the middle of a merge, a rebase or the like.

    Why: a commit in between would become a part of it, or end it.

    Bad: `git merge` has stopped at a conflict, and a task is completed meanwhile.

    Good: the merge is finished or given up, then the task's files are committed.
    """
    hint = "Finish it or give it up, then commit the files."
    return Diagnostic("GIT003", "warning", f"{_NOTHING}{what}", hint)


def no_identity() -> Diagnostic:
    """Git does not know who commits.

    Why: a commit names its author. A guess from the name of the machine is worse than none.

    Bad: neither user.name nor user.email is set.

    Good: `git config user.name "Ada"` and `git config user.email ada@example.org`
    """
    hint = "Set them with git config user.name and git config user.email, then commit the files."
    return Diagnostic("GIT004", "warning", f"{_NOTHING}git has no user.name and user.email", hint)


def path_refused(path: str, reason: str) -> Diagnostic:
    """A path cannot be committed, so none of the commit was made.

    Why: a commit has exactly the files that were named. One outside of the workspace, behind a link, or in a repository
    of its own does not belong to it; a folder is not a file; a pipe cannot be kept.

    Bad: `../notes.md`, `link/notes.md`, `submodule/notes.md`, `specs/`

    Good: `specs/012_export/plan.md`
    """
    message = f"{_NOTHING}'{show(path)}' {reason}"
    return Diagnostic("GIT005", "warning", message, "Leave it out, or commit the files yourself.")


def path_ignored(path: str) -> Diagnostic:
    """A path was left out of a commit, because `.gitignore` says so.

    Why: who ignores a path does not want it in the history.

    Bad: `specs/` in .gitignore, and a commit of `specs/TODO.md`.

    Good: `git add --force specs/TODO.md` once, if it should be kept; from then on it is committed.
    """
    message = f"'{show(path)}' was left out of the commit: git ignores it"
    return Diagnostic("GIT006", "note", message, "Take it out of .gitignore, or add it once with git add --force.")


def path_filtered(path: str, name: str) -> Diagnostic:
    """A path goes through a program before it is committed, so none of the commit was made.

    Why: a filter is a command that the repository's settings name, and an agent can write those. Remit runs none;
    without it the content would be wrong.

    Bad: `*.png filter=lfs` in .gitattributes, and a commit of `chart.png`.

    Good: such files are committed by hand.
    """
    message = f"{_NOTHING}'{show(path)}' goes through the filter '{show(name)}', which Remit does not run"
    return Diagnostic("GIT007", "warning", message, "Leave it out, or commit the files yourself.")


def repository_busy(reason: str) -> Diagnostic:
    """Another git process held the repository for too long.

    Why: two that write at once would lose one another's work, so git lets only one.

    Bad: an `index.lock` that a killed git has left behind.

    Good: the other one has ended and its lock is gone.
    """
    hint = "Wait for the other git to end; if none runs, remove the lock. Then commit the files."
    return Diagnostic("GIT008", "warning", f"{_NOTHING}{show(reason)}", hint)


def commit_failed(reason: str) -> Diagnostic:
    """Git could not make the commit.

    Why: a full disk, no permission, a broken repository. The files are as they were written.

    Bad: objects that belong to another user.

    Good: `git status` and `git fsck` have nothing to complain of.
    """
    hint = "See what git status says, then commit the files."
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

"""Commit exactly the named paths, as they are on disk.

The new tree is the last commit's tree with the named paths changed, made in a separate index. Then only these paths are
updated in the real index, and the branch moves with compare-and-swap. In this order an interruption loses nothing: at
worst the files are staged. Other staged changes stay as they are.

A failure is a diagnostic, not an exception: the files are already on disk (S6).
"""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING, NamedTuple

from remit.git.git_errors import (
    GitRefused,
    commit_failed,
    in_progress,
    no_identity,
    path_filtered,
    path_ignored,
    path_refused,
    repository_busy,
)
from remit.git.process import GitOutput, run
from remit.git.repository import chunk_paths, find_commit, find_repository, open_scratch, parse_entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from remit.git.repository import IndexEntry, Repository, Scratch
    from remit.model import Diagnostic

MAX_FILE_BYTES = 256 * 1024 * 1024
MAX_SUBJECT_CHARS = 120
_RETRY_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 0.0)
"""The pauses after each attempt while another git process is running."""

_OPERATIONS = (
    ("MERGE_HEAD", "a merge"), ("rebase-merge", "a rebase"), ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"), ("REVERT_HEAD", "a revert"), ("sequencer", "a cherry-pick or revert"),
    ("BISECT_LOG", "a bisect"),
)  # fmt: skip


class Committed(NamedTuple):
    """The result of a commit. Without a commit and a warning, there was nothing to commit."""

    commit: str | None
    paths: tuple[str, ...] = ()
    """The committed paths, below the workspace's root."""
    diagnostics: tuple[Diagnostic, ...] = ()
    ignored: tuple[str, ...] = ()
    """The existing paths that were left out because git ignores them, with a diagnostic for each."""


def render_message(number: int, text: str, *, phase: int | str | None = None) -> str:
    """Return the subject of a commit for a task or a phase: one line of printable characters (S6)."""
    head = f"task {number}" if phase is None else f"task {number} phase {phase}"
    words = " ".join("".join(char if char.isprintable() else " " for char in text[: MAX_SUBJECT_CHARS * 8]).split())
    subject = f"{head}: {words}" if words else head
    return subject if len(subject) <= MAX_SUBJECT_CHARS else f"{subject[: MAX_SUBJECT_CHARS - 1].rstrip()}…"


def commit_paths(root: str, paths: Iterable[str], message: str) -> Committed:
    """Commit the named paths: new, changed and deleted ones, as they are on disk, and nothing else."""
    message = message.replace("\0", "").encode("utf-8", "replace").decode()
    ignored: list[str] = []
    try:
        repository = find_repository(root)
        _check_state(repository)
        names = _select_paths(repository, dict.fromkeys(paths), ignored)
        commit: str | None = None
        changed: tuple[str, ...] = ()
        if names:
            with open_scratch(repository, keeps=True) as scratch:
                commit, changed = _commit_with_retries(scratch, names, message)
    except GitRefused as refused:
        return Committed(None, (), (*map(path_ignored, ignored), refused.diagnostic), tuple(ignored))
    below = len(repository.prefix)
    notes = tuple(map(path_ignored, ignored))
    return Committed(commit, tuple(name[below:] for name in changed), notes, tuple(ignored))


class Uncommitted(NamedTuple):
    """The paths that a commit would change, or diagnostics if that is unknown."""

    paths: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    ignored: tuple[str, ...] = ()
    """The existing paths that git ignores."""


def find_uncommitted(root: str, paths: Iterable[str]) -> Uncommitted:
    """Return the paths that differ from the last commit; ignored paths are listed separately."""
    ignored: list[str] = []
    try:
        repository = find_repository(root)
        names = _select_paths(repository, dict.fromkeys(paths), ignored)
        if not names:
            return Uncommitted(ignored=tuple(ignored))
        with open_scratch(repository, keeps=False) as scratch:
            before = find_commit(repository)
            _write_tree(scratch, before, names)
            changed = _find_changed(scratch, before, names)
    except GitRefused as refused:
        return Uncommitted((), (refused.diagnostic,), tuple(ignored))
    return Uncommitted(tuple(name[len(repository.prefix) :] for name in changed), (), tuple(ignored))


def find_last_commit(root: str, paths: Iterable[str]) -> str | None:
    """Return the newest commit that changed one of the paths; None if there is none, or if git fails."""
    try:
        repository = find_repository(root)
        names = [_locate_path(repository, path)[0] for path in dict.fromkeys(paths)]
        if find_commit(repository) is None or not all(names):
            return None
        answer = run(repository.top, "log", "-1", "--format=%H", "--", *names)
    except GitRefused:
        return None
    return answer.out.decode("ascii").strip() or None if answer.code == 0 else None


# --- paths ------------------------------------------------------------------------------------------------------------


def _check_state(repository: Repository) -> None:
    """Raise `GitRefused` if a merge, a rebase or a similar operation is in progress."""
    for name, operation in _OPERATIONS:
        if os.path.lexists(os.path.join(repository.own, name)):
            raise GitRefused(in_progress(f"{operation} is in progress"))


def _select_paths(repository: Repository, paths: Iterable[str], left_out: list[str]) -> list[str]:
    """Return the paths as the repository names them, without ignored ones.

    Raise `GitRefused` if one can't be committed.
    """
    named: dict[str, str] = {}
    for path in paths:
        name, fault = _locate_path(repository, path)
        if fault is not None:
            raise GitRefused(path_refused(path, fault))
        named[name] = path
    given = b"".join(os.fsencode(name) + b"\0" for name in named)
    if not given:
        return []
    _check_filters(repository, given)
    ignored = _find_ignored(repository, named)
    there = (name for name in named if name in ignored and os.path.lexists(f"{repository.top}/{name}"))
    left_out += [named[name] for name in there]
    unwanted = ignored | _find_skipped(repository, named)
    return [name for name in named if name not in unwanted]


def _locate_path(repository: Repository, path: str) -> tuple[str, str | None]:
    """Return a path as the repository names it, and why it can't be committed (None if it can)."""
    root = os.path.join(repository.top, repository.prefix).rstrip("/")
    full = os.path.normpath(os.path.join(root, path))
    if "\0" in path or not full.startswith(f"{root}/"):
        return "", "isn't a valid path" if "\0" in path else "is outside the workspace"
    name = full[len(repository.top.rstrip("/")) + 1 :]
    try:
        return name, _find_obstacle(repository.top, name)
    except OSError as error:
        return name, f"can't be read ({(error.strerror or str(error)).lower()})"
    except ValueError:
        return name, "isn't a valid path"


def _find_obstacle(top: str, name: str) -> str | None:
    """Return why a path can't be committed; None if it can. A missing file can: it was deleted."""
    here, *steps = top, *name.split("/")
    if any(step.lower() == ".git" for step in steps):
        return "is inside .git"
    for left, step in zip(range(len(steps) - 1, -1, -1), steps, strict=True):
        here = os.path.join(here, step)
        try:
            found = os.lstat(here)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISDIR(found.st_mode):
            if os.path.lexists(f"{here}/.git"):
                return "is in a nested repository"
        elif left:
            return "is behind a symbolic link" if stat.S_ISLNK(found.st_mode) else None
        else:
            is_committable = stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)
            too_large = f"is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB"
            reason = "is neither a file nor a link" if not is_committable else too_large
            return None if is_committable and found.st_size <= MAX_FILE_BYTES else reason
    return None


def _check_filters(repository: Repository, given: bytes) -> None:
    answer = run(repository.top, "check-attr", "-z", "--stdin", "filter", given=given)
    if answer.code:
        raise GitRefused(commit_failed(answer.reason))
    fields = os.fsdecode(answer.out).split("\0")
    for path, _, name in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        if name in repository.filters:
            raise GitRefused(path_filtered(path[len(repository.prefix) :], name))


def _find_ignored(repository: Repository, names: Iterable[str]) -> set[str]:
    # check-ignore doesn't support literal paths. After `./` no character is special to it.
    given = b"".join(b"./" + os.fsencode(name) + b"\0" for name in names)
    environment = {"GIT_LITERAL_PATHSPECS": "0"}
    answer = run(repository.top, "check-ignore", "-z", "--stdin", given=given, more=environment)
    if answer.code > 1:
        raise GitRefused(commit_failed(answer.reason))
    return {name.removeprefix("./") for name in os.fsdecode(answer.out).split("\0")}


def _find_skipped(repository: Repository, names: Iterable[str]) -> set[str]:
    """Return the missing paths that a sparse checkout left out: they weren't deleted."""
    gone = [name for name in names if not os.path.lexists(f"{repository.top}/{name}")]
    found: set[str] = set()
    for portion in chunk_paths(gone):
        answer = run(repository.top, "ls-files", "-t", "-z", "--", *portion)
        if answer.code:
            raise GitRefused(commit_failed(answer.reason))
        lines = os.fsdecode(answer.out).split("\0")
        found.update(line.removeprefix("S ") for line in lines if line.startswith("S "))
    return found


# --- the commit -------------------------------------------------------------------------------------------------------


def _commit_with_retries(scratch: Scratch, names: Sequence[str], message: str) -> tuple[str | None, tuple[str, ...]]:
    """Commit, and retry while another git process is in the way.

    A concurrent commit becomes the parent; it is never lost.
    """
    reason = ""
    for pause in _RETRY_PAUSES:
        answer = _try_commit(scratch, names, message)
        if not isinstance(answer, GitOutput):
            return answer
        reason = answer.reason
        is_busy = "cannot lock ref" in answer.errors or (".lock'" in answer.errors and "File exists" in answer.errors)
        if not is_busy:
            raise GitRefused(commit_failed(reason))
        time.sleep(pause)
    raise GitRefused(repository_busy(reason))


def _try_commit(scratch: Scratch, names: Sequence[str], message: str) -> tuple[str | None, tuple[str, ...]] | GitOutput:
    """Try once: return the commit and the changed paths, or the output of the git command that failed."""
    repository = scratch.repository
    before = find_commit(repository)
    staged = _load_entries(repository, names)
    tree = _write_tree(scratch, before, names)
    changed = _find_changed(scratch, before, names)
    if not changed:
        return None, ()
    commit = _write_commit(repository, tree, before, message)
    wanted = dict(_list_entries(scratch, names))
    answer = _update_index(scratch, staged, wanted)
    if answer.code:
        return answer
    answer = _move_branch(repository, before, commit, message)
    if answer.code:
        _update_index(scratch, wanted, staged)
        return answer
    return commit, changed


def _move_branch(repository: Repository, before: str | None, commit: str, message: str) -> GitOutput:
    """Move the branch with compare-and-swap."""
    note = f"commit: {message.partition(chr(10))[0]}"
    try:
        return run(repository.top, "update-ref", "-m", note, "HEAD", commit, before or repository.zeros)
    except GitRefused:
        # Git may have moved the branch before its output was lost.
        if find_commit(repository) != commit:
            raise
        return GitOutput(0, b"", "")


def _load_entries(repository: Repository, names: Sequence[str]) -> dict[str, IndexEntry]:
    """Return the entries of the paths in the real index. A conflict there is unfinished work of the user."""
    found: dict[str, IndexEntry] = {}
    for portion in chunk_paths(names):
        answer = run(repository.top, "ls-files", "-s", "-z", "--", *portion)
        if answer.code:
            raise GitRefused(commit_failed(answer.reason))
        found |= {path: entry for path, entry in parse_entries(answer.out) if path in portion}
    for name in names:
        if name in found and found[name].stage != "0":
            raise GitRefused(in_progress(f"'{name[len(repository.prefix) :]}' has an unresolved conflict"))
        full = f"{repository.top}/{name}"
        if name not in found and os.path.isdir(full) and not os.path.islink(full):
            raise GitRefused(path_refused(name[len(repository.prefix) :], "is a folder"))
    return found


def _write_tree(scratch: Scratch, before: str | None, names: Sequence[str]) -> str:
    """Write the tree of the last commit with the paths as they are on disk; return its id."""
    scratch.check_git("read-tree", before or "--empty")
    # Deleted paths come first: a file may replace a folder, or the other way around.
    top = scratch.repository.top
    ordered = sorted(names, key=lambda name: (not _is_gone(f"{top}/{name}"), name))
    given = b"".join(os.fsencode(name) + b"\0" for name in ordered)
    scratch.check_git("update-index", "-z", "--add", "--remove", "--stdin", given=given)
    # A partial clone may lack the objects of other files.
    return scratch.check_git("write-tree", "--missing-ok").decode("ascii").strip()


def _is_gone(full: str) -> bool:
    return not os.path.lexists(full) or (os.path.isdir(full) and not os.path.islink(full))


def _list_entries(scratch: Scratch, names: Sequence[str]) -> Iterable[tuple[str, IndexEntry]]:
    for portion in chunk_paths(names):
        out = scratch.check_git("ls-files", "-s", "-z", "--", *portion)
        yield from ((path, entry) for path, entry in parse_entries(out) if path in portion)


def _find_changed(scratch: Scratch, before: str | None, names: Sequence[str]) -> tuple[str, ...]:
    if before is None:
        return tuple(path for path, _ in _list_entries(scratch, names))
    out = scratch.check_git("diff-index", "--cached", "--no-renames", "--no-ext-diff", "--name-only", "-z", before)
    return tuple(filter(None, os.fsdecode(out).split("\0")))


def _write_commit(repository: Repository, tree: str, before: str | None, message: str) -> str:
    parents = () if before is None else ("-p", before)
    answer = run(repository.top, "commit-tree", tree, *parents, "-F", "-", given=message.encode())
    if answer.code == 0:
        return answer.out.decode("ascii").strip()
    unknown = ("tell me who you are", "auto-detection is disabled", "empty ident name", "identity unknown")
    raise GitRefused(
        no_identity() if any(words in answer.errors for words in unknown) else commit_failed(answer.reason)
    )


def _update_index(scratch: Scratch, present: Mapping[str, IndexEntry], wanted: Mapping[str, IndexEntry]) -> GitOutput:
    """Update the paths in the real index.

    In the scratch folder, because git reads files when it writes an index, including files that changed at this moment.
    """
    gone = [f"0 {scratch.repository.zeros} 0\t{name}\0" for name in present if name not in wanted]
    new = [f"{entry.mode} {entry.blob} 0\t{name}\0" for name, entry in wanted.items() if present.get(name) != entry]
    if not gone and not new:
        return GitOutput(0, b"", "")
    given = os.fsencode("".join([*gone, *new]))
    real = {"GIT_INDEX_FILE": f"{scratch.repository.own}/index"}
    return scratch.run_git("update-index", "-z", "--index-info", given=given, more=real)

"""Run git: the only module that starts it.

Every call disables whatever a repository could make git execute, treats file names literally, and has limits on its
time and output.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.git.git_errors import GitRefused, commit_failed, git_missing
from remit.storage.subprocesses import end, finish, start

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

MAX_SECONDS = 60.0
MAX_OUTPUT_BYTES = 16 * 1024 * 1024

SAFE = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=false",
    "commit.gpgSign=false",
    "diff.external=",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "credential.helper=",
    "i18n.commitEncoding=UTF-8",
    "user.useConfigOnly=true",
)
"""The settings of every call; they override those of any file."""

_KEPT = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG_", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_ALWAYS = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    # No protocol of this name exists, so none is allowed, even if the repository's settings allow one. Otherwise a
    # repository that lacks an object would fetch it with a command of its own.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
}


class GitOutput(NamedTuple):
    """The exit code and output of a git command."""

    code: int
    out: bytes
    errors: str
    """Its standard error."""

    @property
    def reason(self) -> str:
        """The first error line, without its prefix."""
        for line in self.errors.splitlines():
            if line and not line.startswith(("hint:", "warning:")):
                return line.removeprefix("fatal: ").removeprefix("error: ")
        return f"git failed with exit code {self.code}"


def run(
    folder: str,
    *arguments: str,
    given: bytes = b"",
    more: Mapping[str, str] | None = None,
    alone: bool = False,
    seconds: float = 0.0,
    max_bytes: int = 0,
) -> GitOutput:
    """Run git in a folder. `more` is added to its environment; `alone` also ignores the user's settings.

    `seconds` and `max_bytes` limit its time and output; 0 means the default.
    """
    environment = {**_make_environment(alone=alone), **(more or {})}
    process = _start(folder, arguments, environment, with_input=bool(given))
    return _finish(process, given, seconds or MAX_SECONDS, max_bytes or MAX_OUTPUT_BYTES)


def run_both(
    folder: str, first: Sequence[str], second: Sequence[str], *, seconds: float | None = None
) -> tuple[GitOutput, GitOutput]:
    """Run two git commands with short output in a folder concurrently. The time limit is for each."""
    environment = _make_environment(alone=False)
    seconds = seconds or MAX_SECONDS
    started = _start(folder, first, environment)
    try:
        other = _start(folder, second, environment)
    except BaseException:
        end(started)
        raise
    try:
        answer = _finish(started, b"", seconds, MAX_OUTPUT_BYTES)
    except BaseException:
        end(other)
        raise
    return answer, _finish(other, b"", seconds, MAX_OUTPUT_BYTES)


def _start(
    folder: str, arguments: Sequence[str], environment: Mapping[str, str], *, with_input: bool = False
) -> subprocess.Popen[bytes]:
    command = [_find_git(), *(part for setting in SAFE for part in ("-c", setting)), *arguments]
    try:
        return start(command, cwd=folder, env=environment, with_input=with_input)
    except (OSError, ValueError) as error:
        raise GitRefused(git_missing(_describe_error(error), is_there=True)) from error


def _finish(process: subprocess.Popen[bytes], given: bytes, seconds: float, max_bytes: int) -> GitOutput:
    """Return the output of a started git, with `given` as its input. Raise `GitRefused` at its limits."""
    try:
        ran = finish(process, given, seconds, max_bytes, stop_at_cap=True)
    except OSError as error:  # a pipe failed, or couldn't be created
        raise GitRefused(commit_failed(f"can't read git's output: {_describe_error(error)}")) from error
    if ran.is_cut:
        raise GitRefused(commit_failed(f"git printed more than {max_bytes // 1024 // 1024} MiB"))
    if ran.code is None:
        raise GitRefused(commit_failed(f"git timed out after {seconds:.0f} s"))
    return GitOutput(ran.code, ran.out, ran.err.decode("utf-8", "replace"))


def _describe_error(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _find_git() -> str:
    """Return the path of git. Relative entries of PATH are skipped: they could be inside the repository."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        file = os.path.join(folder, "git")
        if os.path.isabs(folder) and os.path.isfile(file) and os.access(file, os.X_OK):
            return file
    raise GitRefused(git_missing("it isn't in PATH"))


def _make_environment(*, alone: bool) -> dict[str, str]:
    """Return the user's environment without variables that redirect git, such as a hook's GIT_DIR, a pager, a trace."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("GIT_") or (key.startswith(_KEPT) and key != "GIT_CONFIG_PARAMETERS")
    }
    if alone:
        kept = {key: value for key, value in kept.items() if not key.startswith("GIT_CONFIG_")}
        kept |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    return kept | _ALWAYS

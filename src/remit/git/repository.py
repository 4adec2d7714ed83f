"""Find the repository around a workspace, and open a scratch repository for work on its objects.

The scratch repository has the repository's objects and only the settings for line ends, none that names a program.
Contents are read and written there only, so no filter can run, even if it is configured at the same moment.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import InputError
from remit.git.git_errors import GitRefused, commit_failed, no_repository
from remit.git.process import GitOutput, run, run_both
from remit.storage.files import load_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_MAX_ATTRIBUTES_BYTES = 1024 * 1024
_CARRIED = (
    "core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode",
    "core.sharedrepository", "core.checkroundtripencoding",
)  # fmt: skip
SCRATCH = "remit-git-"
"""The prefix of a scratch folder's name; the process id and a random part follow."""
_CHUNK = 500
"""The number of paths that fit on one command line."""


class Repository(NamedTuple):
    """The checkout that contains a workspace."""

    top: str
    prefix: str
    """The path of the workspace below the top: empty, or with a slash at its end."""
    own: str
    """The git folder of this checkout."""
    common: str
    """The git folder that all checkouts of the repository share."""
    hashing: str
    settings: Mapping[str, str]

    @property
    def zeros(self) -> str:
        """The object id that stands for no object."""
        return "0" * (64 if self.hashing == "sha256" else 40)

    @property
    def filters(self) -> frozenset[str]:
        """The names of the filters that run a program."""
        keys = (key for key, value in self.settings.items() if value and key.startswith("filter."))
        return frozenset(key[7:].rpartition(".")[0] for key in keys if key.endswith((".clean", ".process")))


class IndexEntry(NamedTuple):
    """The entry of a path in an index."""

    mode: str
    blob: str
    stage: str


def find_repository(root: str, *, seconds: float | None = None) -> Repository:
    """Return the checkout around a workspace. Raise `GitRefused` if there is none."""
    real = os.path.realpath(root)
    asked = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-object-format")
    answer, settings = run_both(real, ("rev-parse", *asked), ("config", "-z", "--list"), seconds=seconds)
    if answer.code:
        raise GitRefused(no_repository(root, answer.reason))
    lines = os.fsdecode(answer.out).removesuffix("\n").split("\n")
    if len(lines) != len(asked):
        raise GitRefused(no_repository(root, "its path contains a line break"))
    top, own, common, hashing = lines
    top = os.path.realpath(top)
    inside = os.path.relpath(real, top)
    if inside.split("/")[0] == "..":
        raise GitRefused(no_repository(root, "its work tree is in another folder"))
    prefix = "" if inside == "." else f"{inside}/"
    return Repository(top, prefix, own, os.path.realpath(os.path.join(real, common)), hashing, parse_settings(settings))


def parse_settings(listed: GitOutput) -> dict[str, str]:
    """Return the settings that `git config -z --list` printed. Raise `GitRefused` if it failed."""
    if listed.code:
        raise GitRefused(commit_failed(listed.reason))
    pairs = (entry.partition("\n") for entry in os.fsdecode(listed.out).split("\0") if entry)
    return {key: value if parted else "true" for key, parted, value in pairs}


def find_commit(repository: Repository, name: str = "HEAD") -> str | None:
    """Return the commit of a name; None if there is none, as in a repository without commits."""
    answer = run(repository.top, "rev-parse", "-q", "--verify", "--end-of-options", f"{name}^{{commit}}")
    return answer.out.decode("ascii", "replace").strip() if answer.code == 0 else None


class Scratch:
    """A temporary git folder of Remit's own."""

    def __init__(self, repository: Repository, folder: str, *, keeps: bool) -> None:
        """With `keeps`, new objects go into the repository; otherwise they are deleted with the folder."""
        self.repository = repository
        objects = f"{repository.common}/objects"
        self.environment = {
            "HOME": folder,
            "XDG_CONFIG_HOME": folder,
            "GIT_DIR": folder,
            "GIT_WORK_TREE": repository.top,
            "GIT_INDEX_FILE": f"{folder}/index",
            "GIT_OBJECT_DIRECTORY": objects if keeps else f"{folder}/objects",
        }
        _write(f"{folder}/HEAD", "ref: refs/heads/scratch\n")
        _write(f"{folder}/config", _render_config(repository))
        _write(f"{folder}/refs/none", "")
        _write(f"{folder}/objects/info/alternates", "" if keeps else f"{objects}\n")
        _write(f"{folder}/info/attributes", _load_attributes(f"{repository.common}/info/attributes"))
        for name in os.listdir(repository.own):
            if name.startswith("sharedindex."):  # the shared part of a split index
                os.symlink(f"{repository.own}/{name}", f"{folder}/{name}")
        self.options = ["-c", f"core.attributesFile={_find_user_attributes(repository)}"]
        for key in _CARRIED:
            if key in repository.settings:
                self.options += ["-c", f"{key}={repository.settings[key]}"]

    def run_git(self, *arguments: str, given: bytes = b"", more: Mapping[str, str] | None = None) -> GitOutput:
        """Run git in the scratch folder."""
        environment = {**self.environment, **(more or {})}
        return run(self.repository.top, *self.options, *arguments, given=given, more=environment, alone=True)

    def check_git(self, *arguments: str, given: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
        """Run git in the scratch folder; raise `GitRefused` if it fails."""
        answer = self.run_git(*arguments, given=given, more=more)
        if answer.code:
            raise GitRefused(commit_failed(answer.reason))
        return answer.out


@contextmanager
def open_scratch(repository: Repository, *, keeps: bool) -> Iterator[Scratch]:
    """Create a scratch folder, and remove it afterwards."""
    from shutil import rmtree  # noqa: PLC0415 - only if contents are read or written
    from tempfile import mkdtemp  # noqa: PLC0415

    folder = ""
    try:
        try:
            folder = mkdtemp(prefix=f"{SCRATCH}{os.getpid()}-")
            scratch = Scratch(repository, os.path.realpath(folder), keeps=keeps)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise GitRefused(commit_failed(f"no temporary folder: {reason}")) from error
        yield scratch
    finally:
        if folder:
            rmtree(folder, ignore_errors=True)  # leftovers don't undo a commit


def _write(file: str, text: str) -> None:
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "wb") as stream:
        stream.write(os.fsencode(text))


def _render_config(repository: Repository) -> str:
    if repository.hashing == "sha1":
        return "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
    return (
        f"[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = {repository.hashing}\n"
    )


def _load_attributes(file: str) -> str:
    """Return the repository's own attributes. Without them a file could be committed with the wrong line ends."""
    if not os.path.isfile(file):
        return ""
    try:
        data = load_bytes(file, max_bytes=_MAX_ATTRIBUTES_BYTES)
    except InputError as error:
        raise GitRefused(commit_failed(error.message)) from error
    return os.fsdecode(data) if len(data) <= _MAX_ATTRIBUTES_BYTES else ""


def _find_user_attributes(repository: Repository) -> str:
    named = repository.settings.get("core.attributesfile")
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(repository.top, os.path.expanduser(named)) if named else f"{home}/git/attributes"


def parse_entries(out: bytes) -> Iterator[tuple[str, IndexEntry]]:
    """Yield the paths and entries that `ls-files -s -z` printed."""
    for line in os.fsdecode(out).split("\0"):
        facts, parted, path = line.partition("\t")
        if parted:
            mode, blob, stage = facts.split(" ")
            yield path, IndexEntry(mode, blob, stage)


def chunk_paths(paths: Iterable[str]) -> Iterator[list[str]]:
    """Yield the paths in lists that fit on a command line."""
    waiting = list(paths)
    for start in range(0, len(waiting), _CHUNK):
        yield waiting[start : start + _CHUNK]

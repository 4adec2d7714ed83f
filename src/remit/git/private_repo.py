"""Remit's private git repository, `.remit/parcels.git`, for snapshots, bundles and received changes.

It borrows the objects of the repository around it and stores its own, so the user's repository, index and branches
aren't changed. Files are stored byte for byte: its attributes disable line-end conversion, keywords, encodings and
filters. No setting in it names a program.
"""

from __future__ import annotations

import json
import os
import stat
import time
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from remit.errors import StorageError
from remit.git.git_errors import GitRefused, commit_failed, show
from remit.git.process import GitOutput, run
from remit.git.worktrees import remove_tree
from remit.storage.files import make_private_folder, remove, storage_error, write_bytes
from remit.storage.locks import hold_lock
from remit.storage.safe_path import NOT_OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

FOLDER = ".remit/parcels.git"
MAX_SECONDS = 600.0
"""On a busy disk a tree of 100,000 files takes minutes."""
PATIENCE_SECONDS = 900.0
"""How long to wait for another process that uses the repository."""
MAX_LISTED_BYTES = 512 * 1024 * 1024
"""The limit for git's list of a repository's files, enough for millions."""
MAX_RULES_BYTES = 8 * 1024 * 1024
"""The limit for a `.gitignore` or `.gitattributes`, which git reads whole."""
_VERBATIM_ATTRIBUTES = "* -text -crlf -ident -filter !eol !working-tree-encoding\n"
_OPTIONS = (
    "core.attributesFile=/dev/null", "core.fileMode=true", "core.symlinks=true", "core.ignoreCase=false",
    "core.protectHFS=true", "core.protectNTFS=true", "core.bigFileThreshold=8m", "core.fsync=none",
    "core.untrackedCache=false", "pack.threads=1", "fetch.unpackLimit=1", "advice.detachedHead=false",
)  # fmt: skip
_TEMPORARY = ("parcel-", "arrived-", "blob-", "differences")
"""The prefixes of files that exist only during a call."""
Taken = TypeVar("Taken")
_ALIASES = NOT_OURS | {"git~1"}
_IGNORED_CHARS = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
"""Characters that some file systems ignore in names."""
_MAX_ALTERNATES_BYTES = 1024 * 1024
_KEPT_SECONDS = 14 * 86_400.0
_DAY_SECONDS = 86_400.0


class ChangedPath(NamedTuple):
    """A path that differs between two trees; a missing side has mode `000000` and a zero id."""

    path: str
    old_mode: str
    old_blob: str
    mode: str
    blob: str


class PrivateRepo:
    """A git folder and its work tree."""

    def __init__(self, folder: str, top: str, *, index: str = "index", excludes: str = "") -> None:
        self.folder = folder
        self.top = top
        self.index = f"{folder}/{index}"
        self.options = [part for setting in _OPTIONS for part in ("-c", setting)]
        self.options += ["-c", f"core.excludesFile={excludes or '/dev/null'}"]
        self.environment = {
            "HOME": folder,
            "XDG_CONFIG_HOME": folder,
            "GIT_DIR": folder,
            "GIT_WORK_TREE": top,
            "GIT_INDEX_FILE": self.index,
        }

    @property
    def zeros(self) -> str:
        """The object id that stands for no object."""
        return "0" * (64 if os.path.exists(f"{self.folder}/sha256") else 40)

    def run_git(
        self, *arguments: str, given: bytes = b"", more: Mapping[str, str] | None = None, max_bytes: int = 0
    ) -> GitOutput:
        """Run git in this repository."""
        return run(
            self.top, *self.options, *arguments, given=given, more={**self.environment, **(more or {})}, alone=True,
            seconds=MAX_SECONDS, max_bytes=max_bytes,
        )  # fmt: skip

    def check_git(
        self, *arguments: str, given: bytes = b"", more: Mapping[str, str] | None = None, max_bytes: int = 0
    ) -> bytes:
        """Run git in this repository; raise `GitRefused` if it fails."""
        answer = self.run_git(*arguments, given=given, more=more, max_bytes=max_bytes)
        if answer.code:
            raise GitRefused(commit_failed(answer.reason))
        return answer.out

    def set_head(self, commit: str) -> None:
        """Make git compare the index with a commit; "" means none."""
        self.write("HEAD", f"{commit}\n" if commit else "ref: refs/heads/none\n")

    def write(self, name: str, text: str) -> None:
        """Write one of the repository's own files, unless it has this content already."""
        data, file = os.fsencode(text), f"{self.folder}/{name}"
        with suppress(OSError), open(file, "rb") as stream:
            if stream.read(len(data) + 1) == data:
                return
        os.makedirs(os.path.dirname(file), exist_ok=True)
        write_bytes(file, data, durable=False)

    def load_note(self, name: str) -> dict[str, Any]:
        """Return the JSON note of a name; empty if it is missing or damaged."""
        try:
            with open(f"{self.folder}/{name}.json", "rb") as stream:
                note = json.load(stream)
        except (OSError, ValueError):
            return {}
        return note if isinstance(note, dict) else {}

    def save_note(self, name: str, note: Mapping[str, object]) -> None:
        """Store facts that can be found out again."""
        self.write(f"{name}.json", json.dumps(note))

    @contextmanager
    def named(self, commit: str) -> Iterator[str]:
        """Create a temporary reference to a commit."""
        reference = f"refs/remit/sent/{os.getpid()}-{os.urandom(6).hex()}"
        self.write(reference, f"{commit}\n")
        try:
            yield reference
        finally:
            remove(f"{self.folder}/{reference}")

    def discard_cache(self) -> None:
        """Remove the index and damaged objects, so that everything is read again.

        For use after a crash of the machine, or if a repository has removed borrowed objects.
        """
        for file in (self.index, f"{self.folder}/base.json"):
            remove(file)
        for folder in os.scandir(f"{self.folder}/objects"):
            if len(folder.name) == 2:  # noqa: PLR2004 - the first digits of the names in it
                for entry in os.scandir(folder.path):
                    if not _is_whole(entry.path):
                        remove(entry.path)

    def retry_without_cache(self, work: Callable[[], Taken]) -> Taken:
        """Call a function that depends on the cached state; if git fails, discard the cache and call it again."""
        try:
            return work()
        except GitRefused:
            self.discard_cache()
            return work()

    def collect_garbage(self) -> None:
        """Once a day, remove what wasn't used for two weeks."""
        mark, now = f"{self.folder}/tidied", time.time()
        with suppress(OSError):
            if now - os.stat(mark).st_mtime < _DAY_SECONDS:
                return
        was_there = os.path.exists(mark)
        write_bytes(mark, b"", durable=False)
        if not was_there:  # the repository is new
            return
        for folder, _, names in os.walk(f"{self.folder}/refs/remit"):
            _remove_old(folder, names, now - _KEPT_SECONDS)
        _remove_old(
            self.folder, [name for name in os.listdir(self.folder) if name.startswith(_TEMPORARY)], now - _DAY_SECONDS
        )
        # A failure is retried the next day. References stay loose files: their times show their age.
        self.run_git("-c", "gc.packRefs=false", "gc", "--quiet", "--prune=2.weeks.ago")


def _remove_old(folder: str, names: Iterable[str], before: float) -> None:
    for file in (os.path.join(folder, name) for name in names):
        with suppress(OSError):
            if os.lstat(file).st_mtime < before:
                remove_tree(file)


def _is_whole(file: str) -> bool:
    """Return whether an object file can be decompressed to its end; one that a crash truncated can't."""
    from zlib import decompressobj, error  # noqa: PLC0415 - only if something is wrong

    unpacking = decompressobj()
    try:
        with open(file, "rb") as stream:
            while block := stream.read(1 << 16):
                while block:
                    unpacking.decompress(block, 1 << 20)
                    block = unpacking.unconsumed_tail
    except (OSError, error):
        return False
    return unpacking.eof


def make_private_repo(folder: str, *, hashing: str, borrowed: Iterable[str] = (), excluded: str = "") -> None:
    """Create or repair a git folder. `borrowed`: object folders of other repositories that it reads."""
    version = 1 if hashing == "sha256" else 0
    config = f"[core]\n\trepositoryformatversion = {version}\n\tbare = false\n"
    if version:
        config += f"[extensions]\n\tobjectformat = {hashing}\n"
    store = PrivateRepo(folder, folder)
    for name in ("refs/heads", "objects/info", "objects/pack", "info"):
        os.makedirs(f"{folder}/{name}", exist_ok=True)
    store.write("config", config)
    store.write("info/attributes", _VERBATIM_ATTRIBUTES)
    store.write("info/exclude", f"{excluded}\n.remit\n")
    store.write("objects/info/alternates", "".join(f"{place}\n" for place in _list_alternates(folder, borrowed)))
    if version:
        store.write("sha256", "")
    if not os.path.exists(f"{folder}/HEAD"):  # last: without it git doesn't recognize the folder
        store.set_head("")


def _list_alternates(folder: str, borrowed: Iterable[str]) -> list[str]:
    """Return the borrowed object folders that exist, the earlier ones first.

    A name with a line break would be read as two.
    """
    known: list[str] = []
    with suppress(OSError), open(f"{folder}/objects/info/alternates", "rb") as stream:
        known = os.fsdecode(stream.read(_MAX_ALTERNATES_BYTES)).splitlines()
    places = [place for place in (*known, *borrowed) if os.path.isdir(place) and "\n" not in place]
    return list(dict.fromkeys(places))


@contextmanager
def open_private_repo(
    root: str, prefix: str = "", *, hashing: str = "", borrowed: Iterable[str] = (), excludes: str = "",
    excluded: str = "", index: str = "index", locked: bool = True,
) -> Iterator[PrivateRepo]:  # fmt: skip
    """Open the private repository of a workspace. Its work tree is the folder `prefix` above the root.

    If its index is used, it is `locked`; a caller with its own index needs no lock. Without `hashing`
    the repository must exist.
    """
    real = os.path.realpath(root)
    folder = f"{real}/{FOLDER}"
    top = (real[: -len(prefix)].rstrip("/") or "/") if prefix else real
    try:
        for place in (os.path.dirname(folder), folder):
            if os.path.islink(place):  # a repository could redirect every write with it
                raise StorageError(f"'{place}' is a symbolic link, but has to be a folder", hint="remove the link")
        make_private_folder(os.path.dirname(folder))
        with hold_lock(f"{folder}.lock", seconds=PATIENCE_SECONDS) if locked else nullcontext():
            if hashing:
                _remove_other_hashing(folder, hashing)
                make_private_repo(folder, hashing=hashing, borrowed=borrowed, excluded=excluded)
            elif not os.path.exists(f"{folder}/HEAD"):
                raise StorageError(f"'{folder}' is missing, so there is nothing to send", hint="take a snapshot first")
            if locked:
                remove(f"{folder}/{index}.lock")  # left by a git process that was killed; the lock excludes others
            yield PrivateRepo(folder, top, index=index, excludes=excludes)
    except GitRefused as refused:
        raise refused.as_error() from refused
    except OSError as error:
        raise storage_error(folder, error) from error


def _remove_other_hashing(folder: str, hashing: str) -> None:
    """Remove a private repository whose hash algorithm isn't the repository's anymore."""
    if os.path.exists(f"{folder}/HEAD") and os.path.exists(f"{folder}/sha256") != (hashing == "sha256"):
        remove_tree(folder)


def find_hashing(commit: str) -> str:
    """Return the hash algorithm of a commit id."""
    return "sha256" if len(commit) == 64 else "sha1"  # noqa: PLR2004 - digits


def is_own(path: str) -> bool:
    """Return whether a path leads into `.git` or `.remit`, in any spelling."""
    return any(part.casefold() in NOT_OURS for part in path.split("/"))


def is_sound(path: str) -> bool:
    """Return whether a path stays below its start, and no file system treats a part of it as `.git` or `.remit`."""
    return not any(_is_unsafe_name(part) for part in path.split("/"))


def _is_unsafe_name(part: str) -> bool:
    if part in ("", ".", "..") or "\0" in part:
        return True
    plain = part.casefold() if part.isascii() else part.translate(_IGNORED_CHARS).casefold()
    return plain.partition(":")[0].rstrip(" .") in _ALIASES


# --- the work tree ----------------------------------------------------------------------------------------------------


def check_rules(top: str) -> str:
    """Return a fingerprint of all ignore rules. Raise `StorageError` if git would block on one.

    Git opens every `.gitignore`, and would block on a pipe forever.
    """
    seen: list[str] = []
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    name = entry.name
                    if name in (".gitignore", ".gitattributes"):
                        seen.append(_check_rule(entry.path))
                    elif name == ".git":
                        _check_rule(f"{entry.path}/HEAD")
                    elif name != ".remit" and entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:  # gone meanwhile, or unreadable, for git too
            continue
    return "\n".join(sorted(seen))


def _check_rule(file: str) -> str:
    try:
        found = os.lstat(file)
    except OSError:
        return ""
    if stat.S_ISLNK(found.st_mode):  # git doesn't follow it
        return f"{file} link"
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise StorageError(f"'{show(file)}' isn't a regular file, so git would block on it", hint="move it away")
    if found.st_size > MAX_RULES_BYTES:
        raise StorageError(f"'{show(file)}' has more than {MAX_RULES_BYTES:,} bytes", hint="move it away")
    return f"{file} {found.st_mtime_ns} {found.st_size} {found.st_ino}"


def find_changes(store: PrivateRepo, below: str = "") -> tuple[list[str], list[str]]:
    """Return the paths on disk that differ from the index, and those that are missing."""
    where = ("--", below.rstrip("/")) if below else ()
    out = store.check_git(
        "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames", *where,
        more={"GIT_OPTIONAL_LOCKS": "1"},  # saves what git found out about unchanged files
        max_bytes=MAX_LISTED_BYTES,
    )  # fmt: skip
    there: list[str] = []
    gone: list[str] = []
    for line in os.fsdecode(out).split("\0"):
        kind, path = line[1:2], line[3:]
        if not path or kind == " " or is_own(path):
            continue
        (gone if kind == "D" else there).append(path)
    return there, gone


def compare(store: PrivateRepo, *trees: str, cached: bool = False) -> list[ChangedPath]:
    """Return the differences between two trees, or between a tree and the index.

    The output goes through a file, because it may exceed the output limit.
    """
    file = f"{store.folder}/differences"
    command = ("diff-index", "--cached") if cached else ("diff-tree", "-r")
    try:
        store.check_git(
            *command, "--no-renames", "--no-ext-diff", "--raw", "--no-abbrev", "-z", f"--output={file}", *trees
        )
        with open(file, "rb") as stream:
            fields = os.fsdecode(stream.read()).split("\0")
    finally:
        remove(file)
    found = []
    for facts, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, mode, old_blob, blob, _ = facts[1:].split(" ")
        found.append(ChangedPath(path, old_mode, old_blob, mode, blob))
    return found

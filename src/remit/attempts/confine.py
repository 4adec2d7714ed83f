"""Confine an agent: build the command line that runs it under the launcher, with protected paths read-only.

Decides which folders a confined agent may write to and which paths in them are read-only. Nothing can be mounted on a
missing path, so the shim creates a blank file or folder there for as long as the agent runs.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple

from remit.attempts.folders import find_control, find_return_file
from remit.errors import RunnerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from remit.confine import Profile

MAX_REPOSITORIES = 500
MAX_SEARCHED = 1_000_000
"""How many files and folders are searched for other names of protected files, if there are any."""
BLANK_NS = 86_400 * 10**9
"""The modification time that marks a blank; every change to the blank gives it another time."""
_EXCLUDE, _PROFILE = "exclude", "profile"
HIDDEN = (
    "/run/user", "/run/dbus", "/run/systemd/private", "/run/docker.sock", "/run/containerd", "/run/podman", "/run/crio",
    "/run/screen",
)  # fmt: skip
"""Sockets of services that start programs for their clients outside of the confinement."""
_PACKAGE = os.path.abspath(__file__).rsplit("/", 2)[0]


class ReadOnlyPath(NamedTuple):
    """A file or folder that a confined agent can't change, whether it exists or not."""

    path: str
    is_folder: bool = False
    blank: str = ""
    """The content of the blank that takes the place of a missing file."""


def list_services(environ: Mapping[str, str]) -> list[str]:
    """Return the real paths of the services that exist: those of the machine, and the user's tmux."""
    folders = dict.fromkeys(("/tmp", environ.get("TMUX_TMPDIR", "")))  # noqa: S108 - tmux's own
    places = (*HIDDEN, *(f"{each}/tmux-{os.geteuid()}" for each in folders if each.startswith("/")))
    return [os.path.realpath(each) for each in places if os.path.exists(each)]


def list_own_code(root: str) -> list[str]:
    """Return the folders of Remit and of its Python: a command that changes them changes what hooks do.

    A folder that contains `root` is left out, because it can't be read-only.
    """
    folders = dict.fromkeys(os.path.realpath(each) for each in (_PACKAGE, sys.prefix, sys.base_prefix))
    return [each for each in folders if not _is_below(root, each)]


class Confinement(NamedTuple):
    """The limits of a confined agent."""

    root: str
    writable: tuple[str, ...] = ()
    """Folders and files outside of the root, such as the state of the harness. A missing folder is created."""
    fixed: tuple[ReadOnlyPath, ...] = ()
    """Absolute paths. Those outside of the root and the writable folders are read-only with the rest of the system."""
    git: tuple[ReadOnlyPath, ...] = ()
    """Relative to each git folder below the root."""
    private: tuple[str, ...] = ()
    """Folders whose changes are discarded when the agent ends, such as `/tmp`. A missing folder is created."""
    permitted: Profile | None = None
    """The limits from the permissions of the agent and its callers; without them, the whole root is writable."""
    new_files: tuple[str, ...] = ()
    """Missing files that it may write: created empty before the agent starts, and removed if they stay empty."""
    network: str = "all"
    """`none`, `model` (only the `ports`), or `all`."""
    ports: tuple[int, ...] = ()


class ConfinedCommand(NamedTuple):
    """A command line, and the files that it needs before it starts."""

    argv: tuple[str, ...]
    blanks: tuple[ReadOnlyPath, ...]
    files: Mapping[str, bytes]
    """Files for the folder of the attempt, by name."""


def confine(confinement: Confinement, folder: str, *, argv: Sequence[str]) -> ConfinedCommand:
    """Return the command line that runs an agent confined. `folder`: that of its attempt, which it may read.

    Raise `RunnerError` if the kernel can't enforce it, or if a path can't be protected.
    """
    from remit.confine import Profile, find_level, make_command  # noqa: PLC0415 - only confined runs need it

    level = find_level()
    if not level.has_files:
        raise RunnerError(f"an agent can't be confined here: {'; '.join(level.reasons)}",
                          hint="allow user namespaces on this machine, or run without --confine")  # fmt: skip
    has_network = {"none": level.has_no_network, "model": level.has_ports}.get(confinement.network, True)
    if not has_network:
        why = "; ".join(level.reasons)
        raise RunnerError(f"this machine can't limit the network to '{confinement.network}': {why}",
                          hint='set [confine] network = "all"')  # fmt: skip
    folder = os.path.realpath(folder)
    writable = _open_writable(confinement)
    for path in confinement.new_files:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    own_code = [ReadOnlyPath(each, is_folder=True) for each in list_own_code(confinement.root)]
    places = [*confinement.fixed, *own_code, *_find_git_places(confinement.root, confinement.git, [confinement.root])]
    protected, blanks = _plan_read_only(places, writable)
    permitted = confinement.permitted or Profile()
    protected += find_second_names([*protected, *permitted.protect], writable)
    closed = (*protected, *permitted.protect, *permitted.hide)
    private = [os.path.realpath(each) for each in ("/tmp", *confinement.private) if os.path.isdir(each)]  # noqa: S108 - its own
    # The agent reads the files that its runner wrote there.
    replaced, files = [(folder, folder)], {}
    git = find_common_folder(confinement.root)
    if os.path.isdir(git) and confinement.git and any(_is_below(git, each) for each in writable):
        names = [each.path[len(confinement.root) + 1 :] for each in blanks if _is_below(each.path, confinement.root)]
        info = f"{git}/info"
        files[_EXCLUDE] = _render_exclude(f"{info}/exclude", names)
        if not os.path.isdir(info) or os.lstat(info).st_mtime_ns == BLANK_NS:
            private.append(info)
        elif not os.path.exists(f"{info}/exclude"):
            blanks.append(ReadOnlyPath(f"{info}/exclude"))
        replaced.append((f"{folder}/{_EXCLUDE}", f"{info}/exclude"))
    blanks += [ReadOnlyPath(path) for path in confinement.new_files]
    hidden = [*list_services(os.environ), os.path.dirname(find_control(folder))]
    returns = os.path.dirname(find_return_file(folder))  # the only folder there that the agent may write to
    root = os.path.realpath(confinement.root)
    # In a workspace below /tmp a forbidden write has to fail instead of being discarded with the agent's /tmp.
    is_enclosed = root not in writable and any(_is_below(root, each) for each in private)
    profile = Profile(
        write=tuple(
            each for each in (*writable, *confinement.new_files) if not any(_is_below(each, one) for one in closed)
        ),
        protect=(*protected, *permitted.protect),
        reopen=(returns,) if os.path.isdir(returns) else (),
        hide=tuple(dict.fromkeys([*permitted.hide, *hidden])),
        private=tuple(dict.fromkeys(each for each in private if each not in writable)),
        enclose=(root,) if is_enclosed else (),
        replace=tuple(replaced),
        keeps_inside=level.has_scopes,
        network="ports" if confinement.network == "model" else "none" if confinement.network == "none" else "all",
        ports=confinement.ports,
        deny=permitted.deny,
        allow=permitted.allow,
    )
    files[_PROFILE] = profile.render()
    return ConfinedCommand(tuple(make_command(f"{folder}/{_PROFILE}", argv)), tuple(blanks), files)


def _open_writable(confinement: Confinement) -> list[str]:
    """Return the real paths that an agent may write to; a missing folder is created, as the harness would do."""
    for path in filter(None, confinement.private):
        os.makedirs(path, 0o700, exist_ok=True)
    for path in confinement.writable:
        if not os.path.splitext(path)[1] and not os.path.exists(path):
            os.makedirs(path, 0o700)
    opened = (confinement.root,) if confinement.permitted is None else confinement.permitted.write
    for path in opened:
        if not os.path.lexists(path) and path not in confinement.new_files:
            os.makedirs(path)
    return [os.path.realpath(each) for each in (*opened, *confinement.writable) if os.path.exists(each)]


def _render_exclude(file: str, names: Sequence[str]) -> bytes:
    """Return git's exclude file with the names of blanks, so that an agent doesn't commit them."""
    try:
        with open(file, "rb") as stream:
            before = stream.read().rstrip(b"\n") + b"\n"
    except OSError:
        before = b""
    return before + "".join(f"/{name}\n" for name in names if not name.startswith(".git/")).encode()


def _plan_read_only(places: Iterable[ReadOnlyPath], writable: Sequence[str]) -> tuple[list[str], list[ReadOnlyPath]]:
    """Return the paths that stay read-only inside writable ones, and the blanks for missing ones."""
    protected: list[str] = []
    blanks: dict[str, ReadOnlyPath] = {}
    for place in sorted(places, key=lambda each: each.path.split("/")):  # outer folders first
        base = next((each for each in sorted(writable, key=len, reverse=True) if _is_below(place.path, each)), None)
        if base is None or any(_is_below(place.path, one) for one in protected):
            continue
        path, is_missing = base, False
        for name in [each for each in place.path[len(base) :].split("/") if each]:
            path = f"{path}/{name}"
            found = _check_link(path)
            is_missing = found is None or found.st_mtime_ns == BLANK_NS
            if is_missing:
                break
        if is_missing:
            blanks[path] = place if path == place.path else ReadOnlyPath(path, is_folder=True)
        protected.append(path)
    return protected, list(blanks.values())


def list_protected(
    root: str,
    fixed: Sequence[ReadOnlyPath],
    git: Sequence[ReadOnlyPath],
    *,
    writable: Sequence[str],
    enclosed: Sequence[str],
) -> list[str]:
    """Return the paths inside writable folders that stay read-only, including missing ones; for single commands.

    `enclosed`: read-only folders inside writable ones. For a link, its target is protected. Raise `RunnerError` if a
    path can't be protected.
    """
    inside = [each for each in writable if _is_below(each, root)]
    bases = sorted((*writable, *enclosed), key=len, reverse=True)
    found = []
    own_code = [ReadOnlyPath(each, is_folder=True) for each in list_own_code(root)]
    for place in [*fixed, *own_code, *_find_git_places(root, git, [root] if root in inside else inside)]:
        real = os.path.realpath(place.path)
        base = next((each for each in bases if _is_below(real, each)), None)
        if base is not None and base not in enclosed:
            _check_link(real)
            found.append(real)
    return [*found, *find_second_names(found, writable)]


def find_second_names(protected: Sequence[str], writable: Sequence[str]) -> list[str]:
    """Return the other names (hard links), in writable folders, of files that are protected or in protected folders.

    Raise `RunnerError` if there are too many files to search. `.remit` isn't searched: it links its own files only. Nor
    is Remit's own code: installers link thousands of files to their caches.
    """
    own_code = list_own_code("/")
    kept = [each for each in protected if not each.endswith("/.remit") and each not in own_code]
    files = (path for path, _, is_folder in _list_entries(kept, ()) if not is_folder)
    nodes = {node for path in files if (node := _find_shared_node(path))}
    if not nodes:
        return []
    inodes = {inode for _, inode in nodes}
    entries = _list_entries(writable, protected)
    named = (path for path, inode, is_folder in entries if not is_folder and inode in inodes)
    return [path for path in named if _find_shared_node(path) in nodes]


def _find_shared_node(path: str) -> tuple[int, int] | None:
    """Return the device and inode of a file with other names; None for any other."""
    try:
        found = os.lstat(path)
    except OSError:  # it is gone
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) and found.st_nlink > 1 else None


def _list_entries(places: Sequence[str], left_out: Sequence[str]) -> Iterator[tuple[str, int, bool]]:
    """Yield each file and folder below some paths, and the paths, with inode and whether it is a folder."""
    closed, count = {*left_out}, 0
    waiting = [*places]
    for path in places:
        if os.path.lexists(path) and not os.path.isdir(path):
            yield path, os.lstat(path).st_ino, False
    while waiting:
        try:
            entries = [*os.scandir(waiting.pop())]
        except OSError:  # a file, gone, or unreadable
            continue
        count += len(entries)
        if count > MAX_SEARCHED:
            too_many = f"more than {MAX_SEARCHED:,} files to search for second names of protected files"
            hint = "replace hard links to protected files by copies"
            raise RunnerError(f"an agent can't be confined here: {too_many}", hint=hint)
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.path not in closed:
                waiting += [entry.path] if is_folder else []
                yield entry.path, entry.inode(), is_folder


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _check_link(path: str) -> os.stat_result | None:
    """Return the `stat` of a path, or None; raise `RunnerError` for a link: an agent could bypass the mount."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        hint = "make it readable, or run without --confine"
        raise RunnerError(f"an agent can't be confined here: '{path}': {error.strerror}", hint=hint) from error
    if stat.S_ISLNK(found.st_mode):
        hint = "replace it by a copy, or run without --confine"
        raise RunnerError(f"an agent can't be confined here: the protected '{path}' is a symbolic link", hint=hint)
    return found


def _find_git_places(root: str, places: Sequence[ReadOnlyPath], searched: Sequence[str]) -> Iterator[ReadOnlyPath]:
    """Yield the protected paths in git folders: of the root, its submodules and worktrees, and nested repositories.

    `searched`: the folders below the root that may contain nested repositories, or the root.
    """
    if not places:
        return
    if not os.path.lexists(f"{root}/.git"):
        yield ReadOnlyPath(f"{root}/.git", is_folder=True)
    folders = 0
    common = find_common_folder(root)
    is_found = common == f"{root}/.git" and root in searched
    shared = [] if is_found or not os.path.isdir(common) else [(each, True) for each in _list_git_folders(common)]
    walked = (each for folder in searched if folder != common for each in _walk_for_git(folder))
    for path, is_folder in [*shared, *walked]:
        if not is_folder:
            yield ReadOnlyPath(path)
            continue
        folders += 1
        if folders > MAX_REPOSITORIES:
            raise RunnerError(f"an agent can't be confined here: more than {MAX_REPOSITORIES} git repositories",
                              hint="run without --confine")  # fmt: skip
        # A worktree's git folder has only its own settings, no hooks, and names the common folder.
        own = ("config.worktree", "commondir") if "/.git/worktrees/" in path else ()
        yield from (place._replace(path=f"{path}/{place.path}") for place in places if not own or place.path in own)


def find_common_folder(root: str) -> str:
    """Return the folder with the objects and settings of a root's git repository, also if the root is a worktree."""
    own = f"{root}/.git"
    try:
        if not os.path.isfile(own):
            return own
        with open(own, encoding="utf-8", errors="surrogateescape") as file:
            folder = os.path.join(root, file.read(4096).removeprefix("gitdir:").strip())
        with open(f"{folder}/commondir", encoding="utf-8", errors="surrogateescape") as file:
            return os.path.realpath(os.path.join(folder, file.read(4096).strip()))
    except (OSError, ValueError):
        return own


def _walk_for_git(root: str) -> Iterator[tuple[str, bool]]:
    """Yield each `.git` file below a folder and each git folder, including submodules, and whether it is a folder."""
    waiting = [root]
    while waiting:
        here = waiting.pop()
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError:  # unreadable, and so not writable for the agent
            continue
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                if entry.name == ".git":
                    yield entry.path, False
            elif entry.name == ".git":
                yield from ((each, True) for each in _list_git_folders(entry.path))
            elif not (entry.name == ".remit" and here == root):
                waiting.append(entry.path)


def _list_git_folders(folder: str) -> Iterator[str]:
    """Yield a git folder, and those of its worktrees and submodules, which have a `HEAD` each."""
    yield folder
    for name in ("worktrees", "modules"):
        for here, folders, files in os.walk(f"{folder}/{name}"):
            if "HEAD" in files:
                yield here
                folders[:] = [each for each in folders if each == "modules"]

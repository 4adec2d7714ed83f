"""Find the agent files of a workspace, and read them."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from remit.errors import InputError
from remit.harnesses import claude, codex, opencode
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_FILES = 500_000
MAX_BYTES = 1024 * 1024

_IGNORED = frozenset({
    ".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".remit", ".tox", ".nox", ".mypy_cache",
    ".ruff_cache", ".pytest_cache", "site-packages", "dist", "build", "target",
})  # fmt: skip
_HOMES = {
    tuple(folder.split("/"))
    for folder in (
        *claude.AGENT_FOLDERS, *claude.COMMAND_FOLDERS, *opencode.AGENT_FOLDERS, *opencode.COMMAND_FOLDERS,
        *codex.AGENT_FOLDERS,
    )
}  # fmt: skip
_HARNESSES = frozenset(harness for harness, _ in _HOMES)
_PAGES = ("readme", "index", "changelog", "contributing", "license", "agents.md", "claude.md")


class AgentFile(NamedTuple):
    """An agent file: its name in the workspace and its path on disk."""

    path: str
    """Relative to the root, with slashes; absolute if it is outside."""
    file: str


class AgentFileSearch(NamedTuple):
    """The result of a search for agent files."""

    sources: list[AgentFile]
    unread: tuple[str, ...]
    """Folders that can't be read and whose names don't say that they have agents."""
    plain: tuple[str, ...]
    """Files of plain `agents` folders without any file that starts with a frontmatter."""


class _Skipped(NamedTuple):
    """The folders and files that a search left out, as in `AgentFileSearch`."""

    unread: list[str]
    plain: list[str]


class TooManyFilesError(InputError):
    """A folder has more files than a search may list."""


# --- searching -------------------------------------------------------------------------------------------------------


def find_agent_files(paths: Sequence[str], *, root: str, exclude: Sequence[str] = ()) -> list[AgentFile]:
    """Return the agent files below the paths. Default: the root. A file that is given itself is always included."""
    return search_agent_files(paths, root=root, exclude=exclude).sources


def search_agent_files(
    paths: Sequence[str], *, root: str, exclude: Sequence[str] = (), max_files: int | None = None
) -> AgentFileSearch:
    """Return the agent files, and what was left out. A folder for agents that can't be read is an error.

    Any other folder that can't be read, such as the data of a service, is only reported.
    """
    found: dict[str, AgentFile] = {}
    skipped = _Skipped([], [])
    for path in paths or (root,):
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            if not os.path.islink(path):
                raise InputError(f"'{path}' can't be read: {_describe_error(error)}", hint="check the path") from error
            mode = 0
        except ValueError as error:
            raise InputError(f"{path!r} isn't a path: {error}", hint="give a file or a folder") from error
        is_folder = stat.S_ISDIR(mode)
        scan = _AgentFileScan(root, exclude, max_files or MAX_FILES, skipped)
        for file in scan.walk(os.path.abspath(path)) if is_folder else [path]:
            source = AgentFile(_name(file, root), file)
            if not is_folder or not _is_excluded(source.path, exclude):
                key = os.path.abspath(file) if os.path.islink(file) else os.path.realpath(file)
                found.setdefault(key, source)
    plain = [name for name in skipped.plain if not _is_excluded(name, exclude)]
    return AgentFileSearch(sorted(found.values()), tuple(skipped.unread), tuple(sorted(plain)))


def _describe_error(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _name(file: str, root: str) -> str:
    full = os.path.abspath(file)
    inside = full.startswith(root.rstrip("/") + "/")
    return full[len(root.rstrip("/")) + 1 :] if inside else full


def _is_excluded(path: str, patterns: Sequence[str]) -> bool:
    if not patterns:
        return False
    from remit.agents.lint import matches_path  # noqa: PLC0415 - few workspaces exclude anything

    return any(matches_path(pattern, path) for pattern in patterns)


def _find_home(parts: tuple[str, ...]) -> str | None:
    """Return the kind of a folder: "harness", "plain" for an `agents` folder, or None."""
    if any(parts[index : index + 2] in _HOMES for index in range(len(parts))):
        return "harness"
    return "plain" if "agents" in parts else None


def is_protected(path: str) -> bool:
    """Whether agents may not write an agent file: it is in a harness's folder, or in `agents` at the root.

    Other files are linted but never run: `docs/agents/x.md` is a page that any agent may write.
    """
    parts = tuple(path.split("/")[:-1])
    return parts[:1] == ("agents",) or _find_home(parts) == "harness"


class _AgentFileScan:
    """A search below one folder; `skipped` collects what it leaves out."""

    def __init__(self, root: str, exclude: Sequence[str], max_files: int, skipped: _Skipped) -> None:
        self.root = root
        self.exclude = exclude
        self.max_files = max_files
        self.skipped = skipped

    def walk(self, folder: str) -> Iterator[str]:
        """Yield the agent files below a folder; if it was given by the user and has none, every Markdown file."""
        named = folder != self.root
        # Folders above the root don't count: a workspace may itself be in a folder named `agents`.
        home = _find_home(tuple(_name(folder, self.root).split("/"))) if named else None
        if home == "plain":
            home = "named"
        before = len(self.skipped.plain)
        found = list(self._scan(folder, home))
        if not found and named:
            found = list(self._scan(folder, "named"))
            del self.skipped.plain[before:]  # they are included now
        yield from found

    def _scan(self, folder: str, home: str | None) -> Iterator[str]:
        """Yield the agent files below a folder. A link is followed only if it is a folder for agents, and once."""
        waiting = [(folder, home)]
        plain: dict[str, list[str]] = {}
        followed = {os.path.realpath(folder)}
        seen = 0
        while waiting:
            here, kind = waiting.pop()
            for entry in self._list(here, is_place=bool(kind) or here == folder):
                seen += 1
                if seen > self.max_files:
                    message = f"'{folder}' has more than {self.max_files} files"
                    raise TooManyFilesError(message, hint="give the folders with agents")
                inner = kind if kind == "harness" else _find_inner(here, entry.name, kind)
                if entry.name not in _IGNORED and self._is_searched(entry, opens=inner != kind, followed=followed):
                    waiting.append((entry.path, inner))
                # A folder with the name of an agent file is reported as a file that can't be read.
                if kind and _is_agent_file(entry):
                    if kind == "plain":
                        plain.setdefault(_find_plain_home(here), []).append(entry.path)
                    else:
                        yield entry.path
        for files in plain.values():
            kept = list(_keep_agents(files))
            yield from kept
            if not kept:
                self.skipped.plain.extend(_name(file, self.root) for file in files if not _is_page(file))

    def _list(self, folder: str, *, is_place: bool) -> list[os.DirEntry[str]]:
        try:
            return sorted(os.scandir(folder), key=lambda entry: entry.name)
        except FileNotFoundError:  # it was removed meanwhile
            return []
        except OSError as error:
            self._skip(folder, error, is_place=is_place or folder.rpartition("/")[2] in _HARNESSES)
            return []

    def _is_searched(self, entry: os.DirEntry[str], *, opens: bool, followed: set[str]) -> bool:
        """Whether an entry is a folder to search. A link is searched only if it starts a folder for agents."""
        try:
            if entry.is_dir(follow_symlinks=False):
                return True
            if not opens or not entry.is_dir():
                return False
        except OSError as error:
            self._skip(entry.path, error, is_place=opens)
            return False
        target = os.path.realpath(entry.path)
        new = target not in followed
        followed.add(target)
        return new

    def _skip(self, folder: str, error: OSError, *, is_place: bool) -> None:
        name = _name(folder, self.root)
        if _is_excluded(f"{name}/any.md", self.exclude):
            return
        if is_place:
            hint = "make it readable, or exclude it with lint.exclude in remit.toml"
            raise InputError(f"'{name}' can't be read: {_describe_error(error)}", hint=hint) from error
        if name not in self.skipped.unread:
            self.skipped.unread.append(name)


def _find_inner(parent: str, name: str, kind: str | None) -> str | None:
    if (parent.rpartition("/")[2], name) in _HOMES:
        return "harness"
    return kind or ("plain" if name == "agents" else None)


def _is_agent_file(entry: os.DirEntry[str]) -> bool:
    if entry.name.endswith(".toml"):
        return any(f"/{folder}/" in entry.path for folder in codex.AGENT_FOLDERS)
    return entry.name.endswith(".md")


def _find_plain_home(folder: str) -> str:
    head, _, _ = f"{folder}/".partition("/agents/")
    return head


def _keep_agents(files: list[str]) -> Iterator[str]:
    """Yield all files of a plain `agents` folder if one of them is an agent; otherwise it may be part of a program.

    A file without a frontmatter is then included, because it may have lost it, except for pages such as a README. A
    file without read permission could be an agent.
    """
    agents = {file for file in files if _may_be_agent(file)}
    for file in files if agents else ():
        if file in agents or not _is_page(file):
            yield file


def _is_page(file: str) -> bool:
    return file.rpartition("/")[2].lower().startswith(_PAGES)


def _may_be_agent(file: str) -> bool:
    content = load_agent_file(file, max_bytes=6)
    if isinstance(content, str):
        try:
            return stat.S_ISREG(os.stat(file).st_mode)
        except OSError as error:
            return isinstance(error, PermissionError)
    return content.removeprefix(b"\xef\xbb\xbf").startswith(b"---")


# --- reading ---------------------------------------------------------------------------------------------------------


def load_agent_file(file: str, *, max_bytes: int = MAX_BYTES) -> bytes | str:
    """Return the content of an agent file as bytes, or as text why it can't be read, such as a pipe or a folder."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return f"it can't be opened ({(error.strerror or str(error)).lower()})"
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return "it isn't a regular file"
        with os.fdopen(os.dup(handle), "rb") as stream:
            return stream.read(max_bytes + 1)
    except OSError as error:
        return f"it can't be read ({(error.strerror or str(error)).lower()})"
    finally:
        os.close(handle)

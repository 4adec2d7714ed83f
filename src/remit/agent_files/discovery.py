"""Agent files on disk: found, read, and judged once for each content they have had.

Owns where agent files are looked for, the sizes of the files that they name, the sharing out of work between
processes, and the cache of what was found. The cache is a table of plain values under `.remit/cache`: whatever it
holds that does not fit is worked out again.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from remit.errors import InputError, RemitError
from remit.harnesses import claude, codex, opencode
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from remit.agents.lint import CheckedFile

MAX_FILES = 500_000
MAX_BYTES = 1024 * 1024
POOL_FROM = 40
"""So many files to work out are worth a second process."""

_SKIPPED = frozenset({
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
    """An agent file: what it is called here, and where it is."""

    path: str
    """Relative to the root, with slashes; whole where it lies outside."""
    file: str


class AgentFileSearch(NamedTuple):
    """What a search for agent files came to."""

    sources: list[AgentFile]
    unread: tuple[str, ...]
    """Folders that are no place for agents by their names, and that can't be read."""
    plain: tuple[str, ...]
    """Files of plain `agents` folders in which none begins with a frontmatter."""


class _Passed(NamedTuple):
    unread: list[str]
    plain: list[str]


class TooManyFilesError(InputError):
    """A search that has gone through as many files as it may."""


class JudgedFile(NamedTuple):
    """What was found in one file, and what that rests on."""

    checked: CheckedFile
    digest: str | None
    """Of its content; None where it has none."""
    wanted: Mapping[str, tuple[str, ...]]
    """The context files that it names, and where each may lie."""
    sizes: Mapping[str, int | None]


# --- finding ---------------------------------------------------------------------------------------------------------


def find_agent_files(paths: Sequence[str], *, root: str, exclude: Sequence[str] = ()) -> list[AgentFile]:
    """Every agent file below the paths, or below the root where none is given; a file that is named is always one."""
    return search_agent_files(paths, root=root, exclude=exclude).sources


def search_agent_files(
    paths: Sequence[str], *, root: str, exclude: Sequence[str] = (), max_files: int | None = None
) -> AgentFileSearch:
    """The agent files, and what was passed over. A place for agents that can't be read is an error: it is not empty.

    A folder that is no such place may be anything, such as the data of a service: it is only told.
    """
    found: dict[str, AgentFile] = {}
    passed = _Passed([], [])
    for path in paths or (root,):
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            if not os.path.islink(path):
                raise InputError(f"'{path}' can't be read: {_describe_error(error)}", hint="check the path") from error
            mode = 0
        except ValueError as error:
            raise InputError(f"{path!r} isn't a path: {error}", hint="name a file or a folder") from error
        is_folder = stat.S_ISDIR(mode)
        scan = _Scan(root, exclude, max_files or MAX_FILES, passed)
        for file in scan.walk(os.path.abspath(path)) if is_folder else [path]:
            source = AgentFile(_name(file, root), file)
            if not is_folder or not _is_excluded(source.path, exclude):
                key = os.path.abspath(file) if os.path.islink(file) else os.path.realpath(file)
                found.setdefault(key, source)
    plain = [name for name in passed.plain if not _is_excluded(name, exclude)]
    return AgentFileSearch(sorted(found.values()), tuple(passed.unread), tuple(sorted(plain)))


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
    """What kind of place a folder is: a harness's, a plain `agents` folder, or none."""
    if any(parts[index : index + 2] in _HOMES for index in range(len(parts))):
        return "harness"
    return "plain" if "agents" in parts else None


def is_protected(path: str) -> bool:
    """Whether an agent file lies where no agent writes: in a harness's folder, or in `agents` at the root.

    Others are linted, and none of them is run: `docs/agents/x.md` is a page that any agent may write.
    """
    parts = tuple(path.split("/")[:-1])
    return parts[:1] == ("agents",) or _find_home(parts) == "harness"


class _Scan:
    """One search below a folder; what is passed over is kept for whoever has to say so."""

    def __init__(self, root: str, exclude: Sequence[str], max_files: int, passed: _Passed) -> None:
        self.root = root
        self.exclude = exclude
        self.max_files = max_files
        self.passed = passed

    def walk(self, folder: str) -> Iterator[str]:
        """The agent files below a folder; where it was named and has none in a known place, every Markdown file."""
        named = folder != self.root
        # What lies above the root says nothing: a workspace may itself be in a folder called `agents`.
        home = _find_home(tuple(_name(folder, self.root).split("/"))) if named else None
        if home == "plain":
            home = "named"
        before = len(self.passed.plain)
        found = list(self._scan(folder, home))
        if not found and named:
            found = list(self._scan(folder, "named"))
            del self.passed.plain[before:]  # they are found now
        yield from found

    def _scan(self, folder: str, home: str | None) -> Iterator[str]:
        """Every agent file below a folder. A link is followed only where it stands for a folder of agents, and once."""
        waiting = [(folder, home)]
        plain: dict[str, list[str]] = {}
        followed = {os.path.realpath(folder)}
        seen = 0
        while waiting:
            here, kind = waiting.pop()
            for entry in self._list(here, is_place=bool(kind) or here == folder):
                seen += 1
                if seen > self.max_files:
                    told = f"'{folder}' holds more than {self.max_files} files"
                    raise TooManyFilesError(told, hint="name the folders with agents")
                inner = kind if kind == "harness" else _find_inner(here, entry.name, kind)
                if entry.name not in _SKIPPED and self._is_way(entry, opens=inner != kind, followed=followed):
                    waiting.append((entry.path, inner))
                # A folder that is called like an agent file is one that can't be read.
                if kind and _is_agent_file(entry):
                    if kind == "plain":
                        plain.setdefault(_find_plain_home(here), []).append(entry.path)
                    else:
                        yield entry.path
        for files in plain.values():
            kept = list(_keep_agents(files))
            yield from kept
            if not kept:
                self.passed.plain.extend(_name(file, self.root) for file in files if not _is_page(file))

    def _list(self, folder: str, *, is_place: bool) -> list[os.DirEntry[str]]:
        try:
            return sorted(os.scandir(folder), key=lambda entry: entry.name)
        except FileNotFoundError:  # somebody has just removed it
            return []
        except OSError as error:
            self._pass_over(folder, error, is_place=is_place or folder.rpartition("/")[2] in _HARNESSES)
            return []

    def _is_way(self, entry: os.DirEntry[str], *, opens: bool, followed: set[str]) -> bool:
        """Whether a folder is gone into; a link to one only where a place for agents begins with it."""
        try:
            if entry.is_dir(follow_symlinks=False):
                return True
            if not opens or not entry.is_dir():
                return False
        except OSError as error:
            self._pass_over(entry.path, error, is_place=opens)
            return False
        target = os.path.realpath(entry.path)
        new = target not in followed
        followed.add(target)
        return new

    def _pass_over(self, folder: str, error: OSError, *, is_place: bool) -> None:
        name = _name(folder, self.root)
        if _is_excluded(f"{name}/any.md", self.exclude):
            return
        if is_place:
            hint = "make it readable, or leave it out with lint.exclude in remit.toml"
            raise InputError(f"'{name}' can't be read: {_describe_error(error)}", hint=hint) from error
        if name not in self.passed.unread:
            self.passed.unread.append(name)


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
    """Of a plain `agents` folder, which may as well be a part of a program: all files, if one of them is an agent.

    Then one without a frontmatter has lost it, and is told, but for a page about the folder itself. One that may not
    be read could be an agent.
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
    """The content of an agent file, or why it has none: a pipe, a folder, a loop of links, no permission."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return f"it cannot be opened ({(error.strerror or str(error)).lower()})"
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return "it is not a regular file"
        with os.fdopen(os.dup(handle), "rb") as stream:
            return stream.read(max_bytes + 1)
    except OSError as error:
        return f"it can't be read ({(error.strerror or str(error)).lower()})"
    finally:
        os.close(handle)


def hash_content(content: bytes) -> str:
    """What a content is known by."""
    try:
        from _blake2 import blake2b  # noqa: PLC0415 - where hashlib gets it from, without OpenSSL: 3 ms at start-up
    except ImportError:
        from hashlib import blake2b  # noqa: PLC0415

    return blake2b(content, digest_size=16).hexdigest()


def measure(wanted: Mapping[str, Iterable[str]], root: str) -> dict[str, int | None]:
    """How many bytes the first of each context file's possible places has; -1 for a folder, None for nothing."""
    return {path: _measure(candidates, root) for path, candidates in wanted.items()}


def _measure(candidates: Iterable[str], root: str) -> int | None:
    size = None
    for candidate in candidates:
        try:
            found = os.stat(os.path.join(root, candidate))
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(found.st_mode):
            return found.st_size
        if stat.S_ISDIR(found.st_mode):
            size = -1
    return size


# --- judging ---------------------------------------------------------------------------------------------------------


def check_file(source: AgentFile, content: bytes | str, root: str) -> JudgedFile:
    """Judge one file."""
    from remit.agents.context import find_context_files  # noqa: PLC0415 - a file that did not change needs none of this
    from remit.agents.document import make_unreadable, parse_document  # noqa: PLC0415
    from remit.agents.lint import check_document  # noqa: PLC0415

    if isinstance(content, str):
        return JudgedFile(check_document(make_unreadable(source.path, content)), None, {}, {})
    document = parse_document(source.path, content)
    wanted = find_context_files(document)
    sizes = measure(wanted, root)
    return JudgedFile(check_document(document, sizes), hash_content(content), wanted, sizes)


def check_files(sources: Sequence[AgentFile], *, root: str, cache: str | None, jobs: int) -> list[CheckedFile]:
    """Judge every file: from the cache where its content and what it names are unchanged, else anew."""
    from remit.agent_files.lint_cache import LintCache  # noqa: PLC0415 - together with the first file

    kept = LintCache(cache, root)
    done = {source: kept.get(source) for source in sources}
    todo = [source for source in sources if done[source] is None]
    if len(todo) >= POOL_FROM and jobs > 1:
        results = _share_out(todo, root, jobs)
    else:
        results = [_check_source((source, root)) for source in todo]
    for source, judged in zip(todo, results, strict=True):
        done[source] = judged.checked
        kept.put(source, judged)
    kept.close()
    return [checked for checked in done.values() if checked is not None]


def _share_out(sources: Sequence[AgentFile], root: str, jobs: int) -> list[JudgedFile]:
    """Judge files in several processes. Each reads its own: a content is not sent where it can be read."""
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # noqa: PLC0415 - only for many files
    from multiprocessing import get_all_start_methods, get_context  # noqa: PLC0415
    from signal import SIG_BLOCK, SIG_SETMASK, SIGINT, pthread_sigmask  # noqa: PLC0415

    from remit.agents.rules.register import load_all_rules  # noqa: PLC0415

    load_all_rules()  # once, before the processes part
    method = "fork" if "fork" in get_all_start_methods() else None
    size = max(1, min(32, len(sources) // (jobs * 4)))
    pool = ProcessPoolExecutor(min(jobs, len(sources)), mp_context=get_context(method))
    try:
        # Ctrl-C is left to the process that was started: it ends the others, and says so once. They are born deaf to
        # it, since one that only later stopped listening might be hit before.
        before = pthread_sigmask(SIG_BLOCK, {SIGINT})
        try:
            results = pool.map(_check_source, [(source, root) for source in sources], chunksize=size)
        finally:
            pthread_sigmask(SIG_SETMASK, before)
        return list(results)
    except BrokenProcessPool as error:  # somebody ended one of them, or there was no memory left
        raise RemitError("a process that judged agent files was ended", hint="run it again") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _check_source(job: tuple[AgentFile, str]) -> JudgedFile:
    source, root = job
    return check_file(source, load_agent_file(source.file), root)


def count_jobs() -> int:
    """How many processes this machine has room for."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1

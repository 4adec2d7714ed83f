"""The profile of a confined command: what it may write and reach, checked and written in the launcher's form.

A profile is a value. `render` gives the bytes that `launcher.py` reads: `name=value` fields with a NUL byte after each,
because no path contains one and no parser has to be imported.
"""

from __future__ import annotations

from remit.confine.launcher import END, HEADER, MAX_PROFILE_BYTES, is_inside
from remit.errors import UsageError
from remit.light_namedtuple import NamedTuple

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from typing import Literal

NETWORKS = "none", "ports", "all"
_MAX_PORT = (1 << 16) - 1


class Profile(NamedTuple):
    """What a command may do. All paths are absolute, normal and free of symbolic links."""

    write: tuple[str, ...] = ()
    """Folders and files that may be written; everything else is read-only. Each has to exist."""
    protect: tuple[str, ...] = ()
    """Paths inside writable ones that stay read-only. A path that doesn't exist is skipped."""
    hide: tuple[str, ...] = ()
    """Folders that look empty, and files that look empty. A path that doesn't exist is skipped."""
    network: Literal["none", "ports", "all"] = "all"
    """`none`: Unix sockets only. `ports`: TCP connections to `ports` only; UDP stays open, for name lookups."""
    ports: tuple[int, ...] = ()
    keeps_inside: bool = True
    """Whether signals, ptrace and abstract sockets reach only processes that the command started."""
    reopen: tuple[str, ...] = ()
    """Paths inside protected ones that may be written. Each has to exist."""
    private: tuple[str, ...] = ()
    """Folders that the command can write, and whose changes end with it. Without overlays they start empty."""
    enclose: tuple[str, ...] = ()
    """Folders inside writable ones that stay read-only, but for the paths of `write` in them. Each has to exist."""
    replace: tuple[tuple[str, str], ...] = ()
    """A file or folder that a command sees, read-only, in place of another: where it is, and where it is seen."""
    deny: tuple[str, ...] = ()
    """Patterns of programs that aren't started, with any words that a pattern covers. They need a judge."""
    allow: tuple[tuple[str, ...], ...] = ()
    """Lists of patterns: a program that a shell starts has to be in each of them. They need a judge, too."""

    def check(self) -> list[str]:
        """Return a sentence for each value that the launcher would refuse."""
        sentences = [
            f"{name} path {path!r} isn't absolute and normal"
            for name, path in self._list_paths()
            if not _is_normal(path)
        ]
        sentences += [
            f"write path {path!r} is inside {closed!r}, which isn't writable"
            for path in self.write
            for closed in (*self.protect, *self.hide)
            if is_inside(path.encode(errors="surrogateescape"), closed.encode(errors="surrogateescape"))
        ]
        if self.network not in NETWORKS:
            sentences.append(f"network is {self.network!r}; available: {', '.join(NETWORKS)}")
        if self.ports and self.network != "ports":
            sentences.append(f"ports are given, but network is {self.network!r}")
        sentences += [
            f"port {port} isn't between 1 and {_MAX_PORT}" for port in self.ports if not 0 < port <= _MAX_PORT
        ]
        patterns = (*self.deny, *(each for patterns in self.allow for each in patterns))
        sentences += [f"pattern {each!r} contains a NUL byte" for each in patterns if "\0" in each]
        return sentences

    def _list_paths(self) -> list[tuple[str, str]]:
        """Return each path with the name of its field."""
        fields = [("write", path) for path in self.write]
        fields += [("protect", path) for path in self.protect]
        fields += [("reopen", path) for path in self.reopen]
        fields += [("hide", path) for path in self.hide]
        fields += [("private", path) for path in self.private]
        fields += [("enclose", path) for path in self.enclose]
        return fields + [pair for source, target in self.replace for pair in (("source", source), ("target", target))]

    def render(self) -> bytes:
        """Return the profile in the launcher's form; raise `UsageError` if the launcher would refuse it."""
        sentences = self.check()
        if sentences:
            raise UsageError(f"the confinement profile isn't valid: {'; '.join(sentences)}")
        fields = self._list_paths()
        fields += [("port", str(port)) for port in self.ports]
        fields += [("deny", each) for each in self.deny]
        for patterns in self.allow:
            fields += [("list", ""), *(("allow", each) for each in patterns)]
        fields += [("network", self.network), ("scope", "inside" if self.keeps_inside else "all")]
        lines = [f"{name}={value}".encode(errors="surrogateescape") for name, value in fields]
        data = b"\0".join([HEADER, *lines, END, b""])
        if len(data) > MAX_PROFILE_BYTES:
            raise UsageError(f"the confinement profile has {len(data)} bytes; the limit is {MAX_PROFILE_BYTES}")
        return data


def _is_normal(path: str) -> bool:
    """Return whether a path is absolute, without empty parts, dots and NUL bytes."""
    return path == "/" or (
        path.startswith("/") and "\0" not in path and not {"", ".", ".."}.intersection(path[1:].split("/"))
    )

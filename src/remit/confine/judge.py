"""The judge: decides about each program that a confined command starts, from outside of the confinement.

The kernel stops every `execve` below the launcher until this process has answered. It reads the real words from the
memory of the process that asks, and finds the file as that process would: from its root and its folder, through links,
`/proc/self` and `/dev/fd`. A denied program is known by its name, and under other names by its inode or its content.
Loaders, `busybox`, `python -m` and scripts are looked through; programs such as `env` start others, which are judged
by themselves. If something can't be read, the program isn't started.

A denial is EACCES for the caller, and one sentence on its standard error. An allow list applies to what shells start;
what an allowed program starts isn't compared with the list.

Limits. A process that changes its words between the look and the start (by a thread, or by shared memory) is started
with words that weren't judged. What a program does by itself isn't a start of another one: builtins of shells, modules
of an interpreter, its own copy of a denied program with other bytes.
"""

from __future__ import annotations

import fcntl
import posix
import select

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Protocol

    class RuleMatcher(Protocol):
        """What the policy knows of rules."""

        programs: list[str]
        allow: list[Sequence[str]]

        def concern(self, name: str) -> bool:
            """Return whether a rule that denies may mean a program of this name."""

        def find_denied(self, names: Sequence[str], words: Sequence[str]) -> str:
            """Return the rule that denies a program."""

        def is_passing(self, names: Sequence[str]) -> bool:
            """Return whether a program only starts others."""

        def find_unlisted(self, typed: str, words: Sequence[str]) -> Sequence[str] | None:
            """Return the first list that doesn't allow a program."""


_RECEIVE, _SEND, _IS_VALID = 0xC0502100, 0xC0182101, 0x40082102  # SECCOMP_IOCTL_NOTIF_*
_SET_FLAGS, _SAME_PROCESSOR = 0x40082104, 1
_PARENT_SPACE = 0xB702  # NS_GET_PARENT
JOIN, JOINED = "/remit/rules", 114  # EALREADY
"""What a launcher below the command executes to hand its rules over, and the error that says they apply."""
_GO_ON = 1  # SECCOMP_USER_NOTIF_FLAG_CONTINUE
_DENIED, _NOT_FOUND = 13, (2, 20, 36, 40)  # EACCES; ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP
_NO_LINK, _TOO_MANY_LINKS = 22, 40  # EINVAL, ELOOP
_HERE = 0xFFFFFF9C  # AT_FDCWD
_PROC = 0x9FA0
_KIND, _FILE = 0o170000, 0o100000
_PATH_ONLY = posix.O_PATH | posix.O_CLOEXEC
_PAGE = 4096
MAX_WORDS, MAX_WORD_BYTES, MAX_BYTES = 200_000, 1 << 17, 1 << 23
"""No longer ones can be given to a program, but by a user with unusual limits."""
MAX_LINKS, MAX_DEPTH = 40, 6
MAX_FREE, MAX_CHAIN, MAX_INNER = 20_000, 500, 200
_PATIENCE_MS = 50
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LOADERS = "ld-linux", "ld-musl", "ld.so", "ld64.so", "ld-2."
_LOADER_VALUES = frozenset(
    ("--library-path", "--preload", "--audit", "--argv0", "--inhibit-rpath", "--glibc-hwcaps-prepend",
     "--glibc-hwcaps-mask")
)  # fmt: skip
_MANY = "busybox", "toybox", "coreutils", "valgrind"
"""Programs that run another one by themselves, which their first word names."""
_INTERPRETERS = frozenset(
    "python pypy perl ruby node nodejs php lua sh bash dash ash zsh ksh tclsh".split()  # noqa: SIM905 - a list of names
)
_MAX_OPERANDS = 6
"""So many words of an interpreter are compared with files to find its script."""


class Unreadable(Exception):  # noqa: N818 - an outcome, and a word of its sentence
    """What a process wants to start can't be found out; the text says why."""


class OpenedFile:
    """A file as a process finds it: a descriptor, and the names by which it was reached."""

    def __init__(self, handle: int, names: list[str]) -> None:
        self.handle, self.names = handle, names
        self.stat = posix.fstat(handle)

    def open(self) -> int:
        """Return a descriptor that the file can be read from, or -1."""
        try:
            return posix.open(f"/proc/self/fd/{self.handle}", posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
        except OSError:
            return -1

    def read_head(self) -> bytes:
        """Return the beginning of the file; empty if it can't be read."""
        opened = self.open() if self.stat.st_mode & _KIND == _FILE else -1
        if opened < 0:
            return b""
        try:
            return posix.read(opened, 256)
        finally:
            posix.close(opened)


class Judge:
    """Decides by the rules of one profile.

    `launcher`: the process whose first program is the command itself, which its caller chose. `write`: the paths that
    the command can write to. `find_type`: gives the type of file system of a descriptor.
    """

    def __init__(
        self, rules: RuleMatcher, launcher: int, write: Sequence[bytes], find_type: Callable[[int], int]
    ) -> None:
        self.rules, self.launcher, self.find_type = rules, launcher, find_type
        path = posix.environ.get(b"PATH", b"").decode(errors="surrogateescape")
        writable = [each.decode(errors="surrogateescape").rstrip("/") + "/" for each in write]
        folders = dict.fromkeys(each.rstrip("/") for each in f"{path}:{_DEFAULT_PATH}".split(":") if each[:1] == "/")
        self.fixed_folders = [each for each in folders if not any(f"{each}/".startswith(one) for one in writable)]
        self.known: dict[tuple[int, int], str] = {}
        self.sizes: dict[int, list[tuple[str, str]]] = {}
        for name in rules.programs:
            for folder in folders:
                self._learn(name, f"{folder}/{name}")
        self.same: dict[tuple[int, ...], str] = {}
        self.free: dict[int, str] = {}

    def _learn(self, name: str, path: str) -> None:
        """Remember a denied program's file."""
        try:
            found = posix.stat(path)
        except OSError:
            return
        if found.st_mode & _KIND == _FILE and found.st_size:
            self.known.setdefault((found.st_dev, found.st_ino), name)
            self.sizes.setdefault(found.st_size, []).append((name, path))

    def find_refusal(self, process: int, base: str, path: str, words: Sequence[str]) -> str:
        """Return why a process may not start a program; "" if it may. `base`: where a relative path begins."""
        file = self.find_file(process, base, path)
        if file is None:
            return ""  # the kernel doesn't find it either
        try:
            if process == self.launcher:
                self.launcher = 0
                return ""
            for names, rest in self.follow_program(process, file, [path, *words[1:]], words[:1]):
                rule = self.rules.find_denied(names, rest) if any(map(self.rules.concern, names)) else ""
                if rule:
                    said = _shorten(" ".join([_base_name(path), *words[1:]]))
                    return f"'{said}' is denied to this agent by its rule deny bash \"{rule}\""
            return self._compare_lists(process, file, path, words) if self.rules.allow else ""
        finally:
            posix.close(file.handle)

    # What is denied

    def follow_program(
        self, process: int, file: OpenedFile, words: list[str], called: Sequence[str], depth: int = 0
    ) -> Iterator[tuple[list[str], list[str]]]:
        """Yield the names and words of a program, and then of the one that it stands for."""
        names = [*dict.fromkeys([*file.names, *(_base_name(each.lstrip("-")) for each in called)])]
        yield [*names, *self.find_other_names(file, names)], words
        head = file.read_head()
        if depth >= MAX_DEPTH:
            return
        rest = words[1:]
        if head[:2] == b"#!":
            line = head[2:].split(b"\n")[0].decode(errors="surrogateescape").strip().split(None, 1)
            inner = [[*line, *words]] if line else []
        elif any(name.startswith(_LOADERS) for name in names):
            inner = [_skip_loader_options(rest)]
        elif any(name.partition(".")[0] in _MANY for name in names):
            rest = _skip_loader_options(rest)
            yield [_base_name(each) for each in rest[:1]], rest
            inner = [rest]
        elif any(name.rstrip("0123456789.") in _INTERPRETERS for name in names):
            module = _find_module(rest)
            if module:
                yield [module[0].partition(".")[0]], module
            inner = [rest[at:] for at in range(min(len(rest), _MAX_OPERANDS)) if rest[at][:1] != "-"]
        else:
            return
        for each in inner:
            found = self.find_file(process, "cwd", each[0]) if each else None
            if found is None or found.stat.st_mode & _KIND != _FILE:
                continue
            try:
                yield from self.follow_program(process, found, each, (), depth + 1)
            finally:
                posix.close(found.handle)
            return

    def find_other_names(self, file: OpenedFile, names: Sequence[str]) -> list[str]:
        """Return the denied program that a file is a link to or a copy of, if no name says so."""
        found = file.stat
        if found.st_mode & _KIND != _FILE:
            return []
        name = self.known.get((found.st_dev, found.st_ino), "")
        if not name and found.st_size in self.sizes:
            name = self._compare_content(file)
        if not name or name in names or self._is_in_place(file, names):
            return []
        return [name]

    def _is_in_place(self, file: OpenedFile, names: Sequence[str]) -> bool:
        """Return whether a file is one that the command can't have put there: a program with several names."""
        for name in names:
            for folder in self.fixed_folders:
                try:
                    found = posix.stat(f"{folder}/{name}")
                except OSError:
                    continue
                if (found.st_dev, found.st_ino) == (file.stat.st_dev, file.stat.st_ino):
                    return True
        return False

    def _compare_content(self, file: OpenedFile) -> str:
        """Return the denied program that has the same bytes; "" if there is none."""
        found = file.stat
        key = found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns
        if key not in self.same:
            self.same[key] = next(
                (name for name, path in self.sizes[found.st_size] if _have_same_bytes(file, path)), ""
            )
        return self.same[key]

    # What lists allow

    def _compare_lists(self, process: int, file: OpenedFile, path: str, words: Sequence[str]) -> str:
        """Return why the lists don't allow a program; "" if they do, or if an allowed program starts it."""
        group = _find_group(process)
        if self._is_free(group):
            return ""
        passing = [name for name in file.names if self.rules.is_passing((name,))]
        if passing and self._is_in_place(file, passing):
            return ""
        typed = words[0] if words and words[0] == _base_name(path) else path
        patterns = self.rules.find_unlisted(typed, [typed, *words[1:]])
        if patterns is None:
            self.free[group] = _read_status(group)[1]
            return ""
        listed = ", ".join(f'"{_shorten(each, 40)}"' for each in [*patterns][:8]) or "nothing"
        return f"'{_shorten(' '.join([typed, *words[1:]]))}' is not on this agent's list allow bash ({listed})"

    def _is_free(self, process: int) -> bool:
        """Return whether a process is an allowed program or below one."""
        at, chain = process, list[tuple[int, str]]()
        while at > 1 and len(chain) < MAX_CHAIN:
            parent, began = _read_status(at)
            chain.append((at, began))
            if self.free.get(at) == began:
                if len(self.free) > MAX_FREE:
                    self.free.clear()
                self.free.update(chain)
                return True
            at = parent
        return False

    # How a file is found

    def find_file(self, process: int, base: str, path: str) -> OpenedFile | None:
        """Return what a path is for a process; None if there is no such file. `base`: where a relative one begins."""
        top, opened, names = f"/proc/{process}", list[int](), list[str]()

        def enter(name: str, folder: int | None = None, flags: int = 0) -> int:
            handle = posix.open(name, _PATH_ONLY | flags, dir_fd=folder)
            opened.append(handle)
            return handle

        try:
            if not path and base != "cwd":
                names.append(_base_name(posix.readlink(f"{top}/{base}")))
            root = enter(f"{top}/root")
            start = root if path[:1] == "/" else enter(f"{top}/{base}")
            found, more = self._walk(_split(path), start, root, top, enter)
            opened.remove(found)
            return OpenedFile(found, names + more)
        except OSError as error:
            if error.errno in _NOT_FOUND:
                return None
            raise Unreadable(f"'{path}': {error.strerror}") from None
        finally:
            for handle in opened:
                posix.close(handle)

    def _walk(self, parts: list[str], at: int, root: int, top: str, enter: Callable[..., int]) -> tuple[int, list[str]]:
        """Return a descriptor of what a path leads to, as the process would follow it, and the last part's names."""
        links, names = 0, list[str]()
        while parts:
            part = parts.pop()
            if not parts:
                names.append(part)
            if part == ".." and posix.fstat(at)[1:3] == posix.fstat(root)[1:3]:
                continue
            if part in ("self", "thread-self") and self.find_type(at) == _PROC:
                at = enter(top)
                continue
            try:
                link = posix.readlink(part, dir_fd=at)
            except OSError as error:
                if error.errno != _NO_LINK:
                    raise
                at = enter(part, at, posix.O_NOFOLLOW)
                continue
            links += 1
            if links > MAX_LINKS:
                raise OSError(_TOO_MANY_LINKS, "too many links")
            if self.find_type(at) == _PROC and part not in ("mounts", "net"):
                at = enter(part, at)  # leads to a descriptor, a root or a folder, whatever its text is
                names += [] if parts else [_base_name(link)]
            else:
                parts += _split(link)
                at = root if link[:1] == "/" else at
        return at, names


class JudgeServer:
    """Answers the kernel's questions, by the rules of the profile and of those inside it.

    A launcher below the command can't have a judge of its own. It asks this one to apply its rules, too, to everything
    in its user namespace, which no process can leave.
    """

    def __init__(
        self, outer: Judge, make_judge: Callable[[int, Sequence[str], Sequence[Sequence[str]]], Judge],
        take_descriptor: Callable[[int, int], int],
    ) -> None:  # fmt: skip
        self.outer, self.make_judge, self.take_descriptor = outer, make_judge, take_descriptor
        self.inner: dict[int, Judge] = {}
        self.spaces: list[int] = []
        """Descriptors of the user namespaces, so that none of their numbers is used again."""
        self.said: tuple[int, str] = (0, "")

    def serve(self, listener: int, start_at: int) -> None:
        """Answer until no process is left that could ask. `start_at`: the number of `execveat`."""
        try:  # noqa: SIM105 - `contextlib` costs more than all of this
            fcntl.ioctl(listener, _SET_FLAGS, _SAME_PROCESSOR)
        except OSError:  # Linux 6.5 and older: slower
            pass
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        notice = bytearray(80)
        while poll.poll()[0][1] & select.POLLIN:
            notice[:] = bytes(80)
            try:
                fcntl.ioctl(listener, _RECEIVE, notice)
            except OSError:  # the process has ended
                continue
            given = [int.from_bytes(notice[at : at + 8], "little") for at in range(32, 80, 8)]
            process, number = int.from_bytes(notice[8:12], "little"), int.from_bytes(notice[16:20], "little")
            folder, path_at, words_at = given[:3] if number == start_at else (_HERE, *given[:2])
            try:
                error, reason = self.answer(process, folder & 0xFFFFFFFF, path_at, words_at)
            except Exception as problem:  # noqa: BLE001 - whatever it is, the program isn't started
                why = str(problem) or type(problem).__name__
                error, reason = _DENIED, f"a program wasn't started, because it can't be judged: {why}"
            answer = notice[:8] + bytes(8) + (-error).to_bytes(4, "little", signed=True)
            try:
                if reason:
                    fcntl.ioctl(listener, _IS_VALID, bytes(notice[:8]))
                    self._say(process, reason)
                fcntl.ioctl(listener, _SEND, bytes(answer + (0 if error else _GO_ON).to_bytes(4, "little")))
            except OSError:  # as above
                continue

    def answer(self, process: int, folder: int, path_at: int, words_at: int) -> tuple[int, str]:
        """Return the error that a process gets for starting a program, and why; 0 if it may start it."""
        memory = Memory(process)
        try:
            path, words = memory.read_text(path_at), memory.read_words(words_at)
        finally:
            memory.close()
        if path == JOIN:
            return self._join(process, words), ""
        base = "cwd" if folder == _HERE else f"fd/{folder}"
        for judge in self._list_judges(process):
            reason = judge.find_refusal(process, base, path, words)
            if reason:
                return _DENIED, reason
        return 0, ""

    def _join(self, process: int, words: Sequence[str]) -> int:
        """Apply the rules of a launcher below the command, too, and return the error that says so."""
        space = posix.open(f"/proc/{process}/ns/user", posix.O_RDONLY | posix.O_CLOEXEC)
        number = posix.fstat(space).st_ino
        if len(self.spaces) >= MAX_INNER or number == posix.stat("/proc/self/ns/user").st_ino or number in self.inner:
            posix.close(space)
            return _DENIED
        deny, allow = list[str](), list[list[str]]()
        for word in words:
            kind, _, pattern = word.partition("=")
            if kind == "list":
                allow.append([])
            else:
                (deny if kind == "deny" else allow[-1]).append(pattern)
        self.inner[number] = self.make_judge(process, deny, allow)
        self.spaces.append(space)
        return JOINED

    def _list_judges(self, process: int) -> list[Judge]:
        """Return the judges of the user namespaces that a process is in, and the outer one."""
        judges = [self.outer]
        if not self.inner:
            return judges
        own = posix.stat("/proc/self/ns/user").st_ino
        space = posix.open(f"/proc/{process}/ns/user", posix.O_RDONLY | posix.O_CLOEXEC)
        while (number := posix.fstat(space).st_ino) != own:
            if number in self.inner:
                judges.append(self.inner[number])
            above = fcntl.ioctl(space, _PARENT_SPACE)
            posix.close(space)
            space = above
        posix.close(space)
        return judges

    def _say(self, process: int, reason: str) -> None:
        """Write a sentence to the standard error of a process, once: libraries try a program in several folders."""
        if self.said == (process, reason):
            return
        self.said = process, reason
        try:
            handle = self.take_descriptor(_find_group(process), 2)
        except Exception:  # noqa: BLE001 - it has none, and the refusal stays
            return
        try:
            poll = select.poll()
            poll.register(handle, select.POLLOUT)
            if poll.poll(_PATIENCE_MS):
                posix.write(handle, f"remit: {reason}\n".encode(errors="replace"))
        except OSError:
            return
        finally:
            posix.close(handle)


class Memory:
    """The memory of a process, read by pages."""

    def __init__(self, process: int) -> None:
        self.handle = posix.open(f"/proc/{process}/mem", posix.O_RDONLY | posix.O_CLOEXEC)
        self.pages: dict[int, bytes] = {}

    def close(self) -> None:
        """Give the descriptor back."""
        posix.close(self.handle)

    def _read_page(self, number: int) -> bytes:
        if number not in self.pages:
            if len(self.pages) > MAX_BYTES // _PAGE:
                raise Unreadable("it has too many words")
            page = posix.pread(self.handle, _PAGE, number * _PAGE)
            if len(page) < _PAGE:
                raise Unreadable("its words can't be read")
            self.pages[number] = page
        return self.pages[number]

    def read_text(self, at: int) -> str:
        """Return the text at an address, up to its NUL."""
        first, length = at, 0
        pieces = []
        while True:
            page, start = self._read_page(at // _PAGE), at % _PAGE
            end = page.find(b"\0", start)
            pieces.append(page[start : end if end >= 0 else _PAGE])
            if end >= 0:
                return b"".join(pieces).decode(errors="surrogateescape")
            length += _PAGE - start
            at = first + length
            if length > MAX_WORD_BYTES:
                raise Unreadable("it has a word that is too long")

    def read_words(self, at: int) -> list[str]:
        """Return the words that a list of addresses leads to."""
        words: list[str] = []
        while at:
            pointer = b"".join(
                self._read_page(each // _PAGE)[each % _PAGE : each % _PAGE + 1] for each in range(at, at + 8)
            ) if at % 8 else self._read_page(at // _PAGE)[at % _PAGE : at % _PAGE + 8]  # fmt: skip
            address = int.from_bytes(pointer, "little")
            if not address:
                break
            words.append(self.read_text(address))
            if len(words) > MAX_WORDS:
                raise Unreadable("it has too many words")
            at += 8
        return words


def _split(path: str) -> list[str]:
    """Return the parts of a path, the first one last."""
    return [each for each in path.split("/") if each not in ("", ".")][::-1]


def _base_name(path: str) -> str:
    return path.rpartition("/")[2]


def _skip_loader_options(words: Sequence[str]) -> list[str]:
    """Return the words from the program on that a loader starts."""
    at = 0
    while at < len(words) and words[at][:1] == "-":
        at += 2 if words[at] in _LOADER_VALUES else 1
    return [*words[at:]]


def _find_module(words: Sequence[str]) -> list[str]:
    """Return the module that `python -m` runs, and its words; nothing if there is none."""
    at = 0
    while at < len(words) and words[at][:1] == "-" and words[at] not in ("-", "--"):
        word = words[at]
        for place, letter in enumerate(word[1:], 1) if word[:2] != "--" else ():
            if letter == "m":
                return [word[place + 1 :], *words[at + 1 :]] if word[place + 1 :] else [*words[at + 1 :]]
            if letter == "c":
                return []
            if letter in "WXQ":
                at += not word[place + 1 :]
                break
        at += 1
    return []


def _have_same_bytes(file: OpenedFile, path: str) -> bool:
    """Return whether a file has the content of another one."""
    one = file.open()
    try:
        other = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        other = -1
    try:
        while one >= 0 and other >= 0:
            piece = posix.read(one, 1 << 20)
            if piece != posix.read(other, 1 << 20):
                return False
            if not piece:
                return True
        return False
    finally:
        for handle in (one, other):
            if handle >= 0:
                posix.close(handle)


def _find_group(process: int) -> int:
    """Return the process that a thread belongs to."""
    text = _read_file(f"/proc/{process}/status")
    return int(text.partition("\nTgid:")[2].split(None, 1)[0])


def _read_status(process: int) -> tuple[int, str]:
    """Return the parent of a process, and when it began."""
    fields = _read_file(f"/proc/{process}/stat").rpartition(")")[2].split()
    return int(fields[1]), fields[19]


def _read_file(path: str) -> str:
    handle = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        return posix.read(handle, _PAGE).decode(errors="replace")
    finally:
        posix.close(handle)


def _shorten(text: str, most: int = 90) -> str:
    """Return a text on one line, without odd characters, and not too long."""
    text = " ".join("".join(char if char.isprintable() else " " for char in text[: 2 * most]).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"

"""Run one command with file, signal and network limits that the kernel enforces.

    python -I -S launcher.py PROFILE -- COMMAND ARGUMENT...

PROFILE is the path of a file, or `fd:N` for an inherited descriptor; `profile.py` writes it. The launcher becomes the
command: process id, working directory, environment, descriptors and exit status stay as they are. If a step can't do
what the profile says, the launcher prints one sentence, exits with 125 and doesn't run the command. If the command
can't be found or executed, the status is 127 or 126.

The module is a program of its own. It imports nothing of Remit and little of the standard library, because every
command pays for it: `posix`, `_ctypes` and `_signal` are used without the modules around them.

files      A mount namespace, with a user namespace if the caller isn't privileged. Everything is read-only but the
           writable paths. Protected paths below those are mounted read-only. Each folder above a protected path is
           a mount of its own, because the kernel refuses to rename a mount point. Device nodes work in /dev only;
           root gets /dev/null and its like. Terminals are the command's own, but for those that it inherits. Private
           folders can be written, and the changes end with the command. A replaced path shows another file or folder,
           read-only. An enclosing folder is read-only inside a writable one, but for the writable paths in it.
signals    Landlock: signals, ptrace and abstract sockets reach only processes that the command started.
network    seccomp refuses sockets; Landlock limits the ports that TCP may connect to.
programs   seccomp asks a process outside of the confinement before each program is started (`judge.py`). That process
           is forked off before anything is confined, and ends after the last confined one. If it ends early, no
           further program can be started.

Limits. A protected name that doesn't exist can be created. A hard link from before, or a second mount of the same
folder, reaches a protected file by another name. If a process outside replaces a protected file while the command
runs, the kernel drops the mount and with it the protection. With network `ports`, UDP stays open. Pathname sockets and
named pipes can be reached unless they are hidden. Writable descriptors that the caller passes stay writable.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found] # the module around it costs 6 ms
import posix  # `os`, which is made of it, costs 2 ms
import sys

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from ctypes import Array, c_char
    from typing import NoReturn

    Buffer = Array[c_char]

HEADER, END = b"remit-profile=1", b"end="
"""The first and the last field of a profile; without them it may be truncated."""
MAX_PROFILE_BYTES = 1 << 20
NOT_RUN, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127

PATHS = b"write", b"protect", b"reopen", b"hide", b"private", b"enclose", b"source", b"target"
"""The fields of a profile that are paths."""
DEVICES = b"null", b"zero", b"full", b"random", b"urandom", b"tty"
"""What root may use of /dev. The permissions of the others don't stop root: disks, memory, consoles."""
ROOT_ONLY_PROC = b"sys", b"sysrq-trigger", b"irq", b"bus", b"fs", b"acpi", b"scsi", b"mtrr"
"""Parts of /proc whose files belong to root and change the machine. The kernel checks the user id there."""

_MACHINES = {
    # architecture in seccomp, then the numbers of ioctl, socket, sendto, sendmsg and sendmmsg
    "x86_64": (0xC000003E, 16, 41, 44, 46, 307),
    "aarch64": (0xC00000B7, 29, 198, 206, 211, 269),
}
_PRLIMIT = {"x86_64": 302, "aarch64": 261}
_JUDGED = {"x86_64": (317, 59, 322)}
"""Where programs can be judged, with the numbers of seccomp, execve and execveat."""
_JUDGE = "remit.policy.program_rules"
"""What the process that judges runs, from the package that the launcher is a part of."""
_JOIN, _JOINED = "/remit/rules", 114
"""As in `judge.py`."""
# These have the same number on every architecture.
_PIDFD_OPEN, _PIDFD_GETFD = 434, 438
_IO_URING_SETUP, _OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 425, 428, 429, 442
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446

_NEW_MOUNTS, _NEW_USER = 0x20000, 0x10000000
_HERE, _EMPTY_PATH, _RECURSIVE, _NO_FOLLOW = -100, 0x1000, 0x8000, 0x100  # AT_FDCWD and AT_*
_CLONE_TREE, _MOVE_DESCRIPTOR = 1 | posix.O_CLOEXEC, 4  # OPEN_TREE_CLONE, MOVE_MOUNT_F_EMPTY_PATH
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_EXECUTE = 1, 2, 4, 8  # the same for MS_* and MOUNT_ATTR_*
_PRIVATE = 1 << 18
_SET_NAME = 15
_SET_SECCOMP, _DROP_BOUNDING, _SET_NO_NEW_PRIVS, _AMBIENT, _AMBIENT_CLEAR = 22, 24, 38, 47, 4
_CAPABILITY_VERSION = 0x20080522
_CONNECT_TCP, _SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS, _PORT_RULE = 2, 1, 2, 2
_ABI_OF_PORTS, _ABI_OF_SCOPES = 4, 6
_NOT_PERMITTED, _BUSY, _NOT_THERE, _NOT_SUPPORTED = 1, 16, 38, 95  # EPERM, EBUSY, ENOSYS, EOPNOTSUPP
_NEW_LISTENER, _UNINTERRUPTED = 8, 32  # SECCOMP_FILTER_FLAG_NEW_LISTENER and _WAIT_KILLABLE_RECV
_KIND, _FOLDER, _FILE, _LINK = 0o170000, 0o040000, 0o100000, 0o120000  # of st_mode
_ACCESS_MODE, _SEEK_SET, _SEEK_CUR = 3, 0, 1
_USER, _GROUP = posix.geteuid(), posix.getegid()


class LaunchRefused(Exception):  # noqa: N818 - an outcome, and a word of its sentence
    """The command can't be run as the profile says; the text is the reason."""


class LaunchProfile:
    """What a profile says, as `profile.py` writes it: `name=value` fields with a NUL byte after each."""

    def __init__(self, data: bytes) -> None:
        self.write: list[bytes] = []
        self.protect: list[bytes] = []
        self.hide: list[bytes] = []
        self.reopen: list[bytes] = []
        self.private: list[bytes] = []
        self.enclose: list[bytes] = []
        self.source: list[bytes] = []
        self.target: list[bytes] = []
        self.ports: list[int] = []
        self.deny: list[str] = []
        self.allow: list[list[str]] = []
        single = {b"network": b"", b"scope": b""}
        fields = data.split(b"\0")
        if fields[0] != HEADER or fields[-2:] != [END, b""]:
            raise LaunchRefused("the profile is truncated or has another version")
        for field in fields[1:-2]:
            name, _, value = field.partition(b"=")
            if name in PATHS:
                if not _is_normal(value):
                    raise LaunchRefused(f"the profile has a path that isn't absolute and normal: '{_show(value)}'")
                getattr(self, name.decode()).append(value)
            elif name == b"port" and value.isdigit() and 0 < int(value) < 1 << 16:
                self.ports.append(int(value))
            elif name in single and not single[name]:
                single[name] = value
            elif not self._add_pattern(name, _show(value)):
                raise LaunchRefused(f"the profile has an unknown field: '{_show(field)}'")
        if len(self.source) != len(self.target):
            raise LaunchRefused("the profile has a source without a target")
        self.network, self.scope = single[b"network"].decode(), single[b"scope"].decode()
        if self.network not in ("none", "ports", "all") or self.scope not in ("inside", "all"):
            raise LaunchRefused("the profile doesn't say which network and which scope the command has")

    def _add_pattern(self, name: bytes, value: str) -> bool:
        """Add a pattern of programs, or begin the next list of them; return whether the field is one of these."""
        if name == b"deny":
            self.deny.append(value)
        elif name == b"list" and not value:
            self.allow.append([])
        elif name == b"allow" and self.allow:
            self.allow[-1].append(value)
        else:
            return False
        return True


def main(arguments: list[str]) -> NoReturn:
    """Become the command of the arguments, or exit with a sentence."""
    try:
        _restore_signals()
        if arguments[1:2] != ["--"] or not arguments[2:]:
            _end("usage: launcher.py PROFILE -- COMMAND ARGUMENT...", NOT_RUN)
        profile = LaunchProfile(_read_profile(arguments[0]))
        pipes = start_judge(profile) if profile.deny or profile.allow else None
        confine(profile)
        if pipes is not None:
            ask_judge(profile, *pipes)
        _execute(arguments[2:])
    except LaunchRefused as refused:
        _end(str(refused), NOT_RUN)
    except Exception as error:  # noqa: BLE001 - whatever it is, the command doesn't run
        _end(f"{type(error).__name__}: {error}", NOT_RUN)


def confine(profile: LaunchProfile) -> None:
    """Change this process so that the profile applies to it and to everything it starts."""
    if sys.platform != "linux" or posix.uname().machine not in _MACHINES:
        raise LaunchRefused(f"confinement doesn't support {sys.platform} on {posix.uname().machine}")
    check_paths(profile)
    try:
        folder = posix.getcwdb()
    except FileNotFoundError:  # it was removed; its path leads nowhere, and the process stays in it
        folder = b""
    enter_namespaces()
    sources = [(path, _clone(path, _READ_ONLY | _NO_DEVICES)) for path in profile.source]
    reopened = [(path, _clone(path, _NO_DEVICES)) for path in profile.reopen]
    make_read_only(profile)
    close_system_folders(profile)
    for (_, tree), target in zip(sources, profile.target, strict=True):
        _make_target(tree, target, profile.private)
        _attach(tree, target)
    close_paths(profile)
    for path, tree in reopened:
        _attach(tree, path)
    if folder:
        _enter_folder(folder)
    reopen_descriptors()
    drop_capabilities()
    restrict_scope_and_ports(profile)
    filter_system_calls(profile.network)


# Files


def check_paths(profile: LaunchProfile) -> None:
    """Refuse paths that mounts can't enforce, and remove the protected and hidden paths that don't exist."""
    known: dict[bytes, bool] = {b"/": True}
    for path in profile.write:
        if not _exists(path, known):
            raise LaunchRefused(f"the writable path '{_show(path)}' doesn't exist")
        for closed in profile.protect + profile.hide:
            if is_inside(path, closed):
                raise LaunchRefused(
                    f"the writable path '{_show(path)}' is inside '{_show(closed)}', which isn't writable"
                )
    for path in profile.reopen + profile.private + profile.enclose + profile.source:
        if not _exists(path, known):
            raise LaunchRefused(f"the path '{_show(path)}' doesn't exist")
    profile.protect = [path for path in profile.protect if _exists(path, known)]
    profile.hide = [path for path in profile.hide if _exists(path, known)]


def _find_kind(path: bytes) -> int:
    """Return which kind of file a path is, without following links; 0 if it doesn't exist."""
    try:
        return posix.lstat(path).st_mode & _KIND
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _exists(path: bytes, known: dict[bytes, bool]) -> bool:
    """Return whether a path exists; refuse one that leads through a symbolic link, which could be replaced."""
    at = b""
    for part in path[1:].split(b"/") if path != b"/" else ():
        at += b"/" + part
        if at not in known:
            try:
                kind = _find_kind(at)
            except OSError as error:
                raise LaunchRefused(f"'{_show(at)}' can't be checked: {error.strerror}") from None
            if kind == _LINK:
                raise LaunchRefused(f"'{_show(at)}' is a symbolic link, and a link can't be protected")
            known[at] = kind != 0
        if not known[at]:
            return False
    return True


def _is_normal(path: bytes) -> bool:
    """Return whether a path is absolute, without empty parts and dots."""
    return path == b"/" or (path[:1] == b"/" and not {b"", b".", b".."}.intersection(path[1:].split(b"/")))


def is_inside(path: bytes, folder: bytes) -> bool:
    """Return whether a path is a folder itself or below it."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def enter_namespaces() -> None:
    """Give this process mounts of its own; the user and group ids stay what they are.

    Root without capabilities, as in the sandbox of a harness, may not map its id. The kernel still knows it, so files
    are created and protected as before, but programs see the id of "nobody".
    """
    maps = ("uid_map", f"{_USER} {_USER} 1"), ("gid_map", f"{_GROUP} {_GROUP} 1")
    try:
        _call("", b"unshare", _NEW_MOUNTS)
    except LaunchRefused:
        _call("the kernel gives no user and mount namespace", b"unshare", _NEW_MOUNTS | _NEW_USER)
        for name, line in (("setgroups", "deny"), *maps):
            try:
                handle = posix.open(f"/proc/self/{name}", posix.O_WRONLY | posix.O_CLOEXEC)
                try:
                    posix.write(handle, line.encode())
                finally:
                    posix.close(handle)  # a file that is open for writing keeps its mount from becoming read-only
            except OSError as error:
                if (name, error.errno, _USER) == ("uid_map", _NOT_PERMITTED, 0):
                    break
                raise LaunchRefused(f"the user namespace can't be set up: {name}: {error.strerror}") from None
    _set_mount(_HERE, b"/", propagation=_PRIVATE)


def make_read_only(profile: LaunchProfile) -> None:
    """Make every mount read-only and without devices, but the writable paths, /proc and /dev."""
    opened = [(path, _clone(path, 0 if is_inside(path, b"/dev") else _NO_DEVICES)) for path in profile.write]
    opened += [(path, _clone(path, _READ_ONLY | _NO_DEVICES)) for path in profile.enclose]
    opened.append((b"/proc", _clone(b"/proc")))
    if _USER == 0:  # read-only: mode and owner of a device can't be changed
        devices = [b"/dev/" + name for name in DEVICES]
        opened += [(path, _clone(path, _READ_ONLY)) for path in devices if _find_kind(path) not in (0, _LINK)]
    else:
        opened.append((b"/dev", _clone(b"/dev", _READ_ONLY)))
    _set_mount(_HERE, b"/", _NO_DEVICES if b"/" in profile.write else _NO_DEVICES | _READ_ONLY)
    for path, tree in sorted(opened + [(path, -1) for path in profile.private]):  # outer folders first
        if tree < 0:
            _mount_private(path)
        elif path == b"/":
            posix.close(tree)
        else:
            _make_target(tree, path, profile.private)
            _attach(tree, path)


def _mount_private(path: bytes) -> None:
    """Keep what a command changes in a folder in memory; if the kernel can't overlay folders, it starts empty."""
    before, flags = _clone(path, _READ_ONLY | _NO_DEVICES), _NO_SETUID | _NO_DEVICES
    _mount_new(b"tmpfs", path, flags, b"mode=1777")
    layers = [path + b"/" + name for name in (b"lower", b"upper", b"work")]
    for layer in layers:
        posix.mkdir(layer, 0o755)
    posix.chmod(layers[1], posix.stat(path).st_mode & 0o7777)
    _attach(before, layers[0])
    escaped = [layer.replace(b"\\", b"\\\\").replace(b",", b"\\,").replace(b":", b"\\:") for layer in layers]
    try:
        _mount_new(b"overlay", path, flags, b"userxattr,lowerdir=%s,upperdir=%s,workdir=%s" % tuple(escaped))
    except LaunchRefused:
        _mount_new(b"tmpfs", path, flags, b"mode=1777")


def _make_target(tree: int, path: bytes, private: list[bytes]) -> None:
    """Make what a mount is attached to, in a private folder only: everywhere else it would stay."""
    if not any(is_inside(path, folder) for folder in private) or _find_kind(path):
        return
    folder = b""
    for part in path.split(b"/")[1:-1]:
        folder += b"/" + part
        if not _find_kind(folder):
            posix.mkdir(folder, 0o755)
    if posix.fstat(tree).st_mode & _KIND == _FOLDER:
        posix.mkdir(path, 0o755)
    else:
        posix.close(posix.open(path, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o644))


def close_system_folders(profile: LaunchProfile) -> None:
    """Close what only the user id protects from root, and give the command terminals and a /dev/shm of its own."""
    if _USER == 0:
        for path in [b"/proc/" + name for name in ROOT_ONLY_PROC]:
            if _find_kind(path):
                _attach(_clone(path, _READ_ONLY), path)
    if _find_kind(b"/dev/pts") == _FOLDER:
        _mount_new(b"devpts", b"/dev/pts", _NO_SETUID | _NO_EXECUTE, b"newinstance,ptmxmode=0666,mode=620")
        if _find_kind(b"/dev/ptmx") not in (0, _LINK):
            _attach(_clone(b"/dev/pts/ptmx"), b"/dev/ptmx")
    if not any(is_inside(path, b"/dev/shm") for path in profile.write) and _find_kind(b"/dev/shm") == _FOLDER:
        _mount_new(b"tmpfs", b"/dev/shm", _NO_SETUID | _NO_DEVICES, b"mode=1777")


def close_paths(profile: LaunchProfile) -> None:
    """Make the protected paths read-only and the hidden ones empty, and pin the folders above them."""
    for folder in list_pins(profile):
        _attach(_clone(folder), folder)
    for path in sorted(profile.protect):
        if any(is_inside(path, root) for root in profile.write):
            _attach(_clone(path, _READ_ONLY), path)
    for path in sorted(profile.hide):
        kind = _find_kind(path)
        if kind == _FOLDER:
            _mount_new(b"tmpfs", path, _READ_ONLY | _NO_SETUID | _NO_DEVICES | _NO_EXECUTE, b"size=4k,mode=0555")
        elif kind:  # below a hidden folder nothing is left
            _attach(_clone(b"/dev/null", _READ_ONLY), path)


def list_pins(profile: LaunchProfile) -> list[bytes]:
    """Return the folders between writable and protected paths, from the outermost in."""
    pins = set()
    for path in profile.protect + profile.hide + profile.enclose:
        folder = path.rpartition(b"/")[0]
        while any(is_inside(folder, root) and folder != root for root in profile.write):
            pins.add(folder)
            folder = folder.rpartition(b"/")[0]
    return sorted(pins.difference(profile.write, profile.enclose))


def _clone(path: bytes, attributes: int = 0) -> int:
    """Return a descriptor of a copy of a path's mount, not attached anywhere yet."""
    what = f"'{_show(path)}' can't be mounted"
    tree = _system_call(what, _OPEN_TREE, _HERE, path, _CLONE_TREE | _RECURSIVE | _NO_FOLLOW)
    if attributes:
        _set_mount(tree, b"", attributes)
    return tree


def _attach(tree: int, path: bytes) -> None:
    """Mount a copy over a path and close its descriptor."""
    _system_call(f"'{_show(path)}' can't be mounted", _MOVE_MOUNT, tree, b"", _HERE, path, _MOVE_DESCRIPTOR)
    posix.close(tree)


def _set_mount(folder: int, path: bytes, attributes: int = 0, *, propagation: int = 0) -> None:
    """Add attributes to a mount and everything mounted below it."""
    settings = b"".join(map(_pack, (attributes, 0, propagation, 0)))
    flags = _RECURSIVE | (0 if path else _EMPTY_PATH)
    _system_call("a mount can't be made read-only", _MOUNT_SETATTR, folder, path, flags, settings, len(settings))


def _mount_new(kind: bytes, path: bytes, flags: int, options: bytes) -> None:
    """Mount a new and empty file system over a path."""
    _call(f"'{_show(path)}' can't be mounted", b"mount", b"none", path, kind, flags, options)


def _enter_folder(folder: bytes) -> None:
    """Reach the working directory again through the new mounts."""
    try:
        posix.chdir(folder)
    except OSError as error:
        raise LaunchRefused(f"the working directory can't be entered: {error.strerror}") from None


def reopen_descriptors() -> None:
    """Open inherited folders and read-only files again through the new mounts.

    A descriptor leads to the mounts it was opened through. A folder gives access to everything around it, and
    /proc/self/fd can open a file again for writing.
    """
    for name in posix.listdir(b"/proc/self/fd"):
        number, link = int(name), b"/proc/self/fd/" + name
        try:
            if not posix.get_inheritable(number):
                continue
            found = posix.fstat(number)
        except OSError:  # the one that listed them
            continue
        kind = found.st_mode & _KIND
        if not found.st_nlink or kind not in (_FOLDER, _FILE):
            continue
        flags = _read_flags(name)
        if kind == _FILE and flags & _ACCESS_MODE != posix.O_RDONLY:
            continue  # the caller passes it for writing
        fresh = _open(posix.readlink(link), flags & (posix.O_PATH | posix.O_NONBLOCK))
        is_same = fresh >= 0 and posix.fstat(fresh)[1:3] == found[1:3]  # inode and device
        if is_same and (kind == _FOLDER or posix.fstatvfs(fresh).f_flag & posix.ST_RDONLY):
            if kind == _FILE and not flags & posix.O_PATH:
                posix.lseek(fresh, posix.lseek(number, 0, _SEEK_CUR), _SEEK_SET)
            posix.dup2(fresh, number)
        elif not is_same and (kind == _FOLDER or _open(link, posix.O_WRONLY) >= 0):
            raise LaunchRefused(f"descriptor {number} leads out of the confinement; close it first")
        if fresh >= 0:
            posix.close(fresh)


def _open(path: bytes, flags: int) -> int:
    """Return a descriptor, or -1 if the path can't be opened."""
    try:
        return posix.open(path, flags | posix.O_CLOEXEC | posix.O_NOCTTY)
    except OSError:
        return -1


def _read_flags(name: bytes) -> int:
    """Return the flags that a descriptor was opened with."""
    handle = posix.open(b"/proc/self/fdinfo/" + name, posix.O_RDONLY | posix.O_CLOEXEC)
    lines = posix.read(handle, 4096).split(b"\n")
    posix.close(handle)
    return next(int(line[6:], 8) for line in lines if line.startswith(b"flags:"))


# Privileges, signals and network


def drop_capabilities() -> None:
    """Give up every capability for good, also those that a setuid program or root would get."""
    what = "the capabilities can't be dropped"
    last = int(_read_line(b"/proc/sys/kernel/cap_last_cap"))
    for number in range(last + 1):
        _call(what, b"prctl", _DROP_BOUNDING, number, 0, 0, 0)
    _call(what, b"prctl", _AMBIENT, _AMBIENT_CLEAR, 0, 0, 0)
    header = _CAPABILITY_VERSION.to_bytes(4, sys.byteorder) + bytes(4)
    _call(what, b"capset", header, bytes(24))
    _call(what, b"prctl", _SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def restrict_scope_and_ports(profile: LaunchProfile) -> None:
    """Keep signals, ptrace and abstract sockets inside, and TCP connections to the ports of the profile."""
    scopes = _SCOPE_SIGNALS | _SCOPE_ABSTRACT_SOCKETS if profile.scope == "inside" else 0
    access = _CONNECT_TCP if profile.network == "ports" else 0
    if not scopes and not access:
        return
    needed, abi = (_ABI_OF_SCOPES if scopes else _ABI_OF_PORTS), find_landlock_abi()
    if abi < needed:
        raise LaunchRefused(f"the profile needs Landlock version {needed}, and the kernel has {abi or 'none'}")
    what = "Landlock can't be set up"
    settings = _pack(0) + _pack(access) + (_pack(scopes) if scopes else b"")
    rules = _system_call(what, _CREATE_RULESET, settings, len(settings), 0)
    for port in profile.ports if access else ():
        _system_call(what, _ADD_RULE, rules, _PORT_RULE, _pack(_CONNECT_TCP) + _pack(port), 0)
    _system_call(what, _RESTRICT_SELF, rules, 0)
    posix.close(rules)


def find_landlock_abi() -> int:
    """Return the version of Landlock that the kernel has; 0 if it has none."""
    try:
        return _system_call("", _CREATE_RULESET, None, 0, 1)
    except LaunchRefused:
        return 0


def filter_system_calls(network: str) -> None:
    """Refuse system calls that Landlock and mounts don't cover.

    These are: typing into the caller's terminal, limiting the resources of another process, which can end it, sockets
    that the network setting excludes, and ways to connect that Landlock doesn't check (MPTCP and other protocols, TCP
    Fast Open, io_uring, which would bypass this filter).
    """
    architecture, ioctl, socket, *senders = _MACHINES[posix.uname().machine]
    unix, internet, internet6, netlink = 1, 2, 10, 16
    stream, datagram, tcp, fast_open = 1, 2, 6, 0x20000000
    denied, unknown = _refuse(_NOT_PERMITTED), _refuse(_NOT_THERE)
    program = [
        _LOAD_ARCHITECTURE, _jump(_EQUAL, architecture, 1, 0), unknown,
        _LOAD_NUMBER, _jump(_AT_LEAST, 0x40000000, 0, 1), unknown,  # x32: the same calls by other numbers
        *_if_called(ioctl, [_load(1), _jump(_EQUAL, 0x5412, 1, 0), _jump(_EQUAL, 0x541C, 0, 1), denied]),  # TIOCSTI
        *_if_called(_PRLIMIT[posix.uname().machine], [_load(0), *_allow(0), denied]),
    ]  # fmt: skip
    if network != "all":
        program += _if_called(_IO_URING_SETUP, [unknown])
    if network == "none":
        program += _if_called(socket, [_load(0), *_allow(unix), denied])
    if network == "ports":
        is_internet = [_jump(_EQUAL, internet, 2, 0), _jump(_EQUAL, internet6, 1, 0), denied]
        is_stream = [_load(1), _instruction(_AND, 0, 0, 0xF), *_allow(datagram), _jump(_EQUAL, stream, 1, 0), denied]
        is_tcp = [_load(2), *_allow(0), *_allow(tcp), denied]
        families = [_load(0), *_allow(unix), *_allow(netlink)]
        program += _if_called(socket, [*families, *is_internet, *is_stream, *is_tcp])
        for number, flags in zip(senders, (3, 2, 3), strict=True):
            program += _if_called(number, [_load(flags), _jump(_ANY_BIT, fast_open, 0, 1), _refuse(_NOT_SUPPORTED)])
    code = b"".join([*program, _ALLOWED])
    address = _find_address(code)
    _call("seccomp can't be set up", b"prctl", _SET_SECCOMP, 2, (len(code) // 8).to_bytes(8, sys.byteorder) + address)


def _instruction(code: int, if_true: int, if_false: int, value: int) -> bytes:
    order = sys.byteorder
    return code.to_bytes(2, order) + bytes((if_true, if_false)) + value.to_bytes(4, order)


def _jump(code: int, value: int, if_true: int, if_false: int) -> bytes:
    """Return a comparison of the loaded value, and how many instructions to skip then and otherwise."""
    return _instruction(code, if_true, if_false, value)


_LOAD, _AND, _RETURN, _EQUAL, _AT_LEAST, _ANY_BIT = 0x20, 0x54, 0x06, 0x15, 0x35, 0x45
_LOAD_NUMBER, _LOAD_ARCHITECTURE = _instruction(_LOAD, 0, 0, 0), _instruction(_LOAD, 0, 0, 4)
_ALLOWED = _instruction(_RETURN, 0, 0, 0x7FFF0000)


def _load(argument: int) -> bytes:
    """Return the instruction that loads the lower half of an argument; the kernel ignores the upper half."""
    return _instruction(_LOAD, 0, 0, 16 + 8 * argument)


def _refuse(number: int) -> bytes:
    return _instruction(_RETURN, 0, 0, 0x00050000 | number)


def _allow(value: int) -> list[bytes]:
    return [_jump(_EQUAL, value, 0, 1), _ALLOWED]


def _if_called(number: int, then: list[bytes]) -> list[bytes]:
    """Return instructions that only one system call gets to; what they don't decide is decided by the next ones."""
    return [_LOAD_NUMBER, _jump(_EQUAL, number, 0, len(then)), *then]


# Programs


def can_judge() -> bool:
    """Return whether this kind of machine is one where programs can be judged."""
    return sys.platform == "linux" and posix.uname().machine in _JUDGED


def start_judge(profile: LaunchProfile) -> tuple[int, int]:
    """Fork the process that judges programs, and return the ends of the two pipes that it hears and answers by.

    It isn't a child of the command, has no descriptor of it, and waits until `ask_judge` gives it the questions.
    """
    if not can_judge():
        raise LaunchRefused(f"programs can't be judged on {posix.uname().machine}")
    launcher, questions, answers = posix.getpid(), posix.pipe(), posix.pipe()
    own = _system_call("programs can't be judged: no handle of a process", _PIDFD_OPEN, launcher, 0)
    child = posix.fork()
    if child:
        for handle in (questions[0], answers[1], own):
            posix.close(handle)
        posix.waitpid(child, 0)
        return questions[1], answers[0]
    try:
        if posix.fork():
            posix._exit(0)  # noqa: SLF001 - as below
        for each in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(each, signal.SIG_IGN)
        posix.setsid()
        posix.chdir("/")
        _close_descriptors({questions[0], answers[1], own})
        sys.path.append(__file__.rpartition("/remit/confine/")[0])
        make_server = __import__(_JUDGE, fromlist=["make_server"]).make_server
        server = make_server(
            profile.deny, profile.allow, launcher=launcher, write=profile.write,
            take_descriptor=_take_descriptor, find_type=_find_type,
        )  # fmt: skip
        _call("", b"prctl", _SET_NAME, b"remit-judge", 0, 0, 0)
        number = posix.read(questions[0], 16)
        posix.close(questions[0])
        if number:
            listener = _system_call("its questions can't be taken over", _PIDFD_GETFD, own, int(number), 0)
            posix.close(own)
            posix.write(answers[1], b"ready")
            posix.close(answers[1])
            server.serve(listener, _JUDGED[posix.uname().machine][2])
    except BaseException as error:  # noqa: BLE001 - the command doesn't run
        posix.write(answers[1], f"programs can't be judged: {type(error).__name__}: {error}".encode())
    finally:
        posix._exit(1)  # noqa: SLF001 - its public name is in `os`


def ask_judge(profile: LaunchProfile, questions: int, answers: int) -> None:
    """Let the judge decide about every program that this process and those below it start from now on.

    The kernel asks one judge only. If another one decides here already, it gets the rules of this profile, too.
    """
    number, *starting = _JUDGED[posix.uname().machine]
    ask = _instruction(_RETURN, 0, 0, 0x7FC00000)
    code = b"".join([*(each for start in starting for each in _if_called(start, [ask])), _ALLOWED])
    program = (len(code) // 8).to_bytes(8, sys.byteorder) + _find_address(code)
    try:
        listener = _system_call("", number, 1, _NEW_LISTENER | _UNINTERRUPTED, program)
    except LaunchRefused as refused:
        if not str(refused).endswith(posix.strerror(_BUSY)):
            raise LaunchRefused(f"programs can't be judged{refused}") from None
        _join_judge(profile)
        return
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:  # noqa: SIM105 - `contextlib` costs too much
        posix.write(questions, b"%d" % listener)
    except BrokenPipeError:  # it has ended, and may have said why
        pass
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    said = posix.read(answers, 4096)
    if said != b"ready":
        raise LaunchRefused(_show(said) or "the process that judges programs ended")
    for handle in (listener, questions, answers):
        posix.close(handle)


def _join_judge(profile: LaunchProfile) -> None:
    """Hand the rules to the judge of an outer profile; it answers with an error that no file has."""
    words = [f"deny={each}" for each in profile.deny]
    for patterns in profile.allow:
        words += ["list=", *(f"allow={each}" for each in patterns)]
    try:
        posix.execve(_JOIN, words, {})
    except OSError as error:
        if error.errno != _JOINED:
            raise LaunchRefused(
                "programs can't be judged: another program than Remit decides what is started"
            ) from None


def _close_descriptors(kept: set[int]) -> None:
    """Close every descriptor but some, and put /dev/null in place of the standard ones."""
    for name in posix.listdir("/proc/self/fd"):
        if int(name) not in kept:
            try:
                posix.close(int(name))
            except OSError:  # the one that listed them
                continue
    while posix.open("/dev/null", posix.O_RDWR) <= 2:  # noqa: PLR2004 - standard error
        pass


def _take_descriptor(process: int, number: int) -> int:
    """Return a copy of another process's descriptor."""
    handle = _system_call("no such process", _PIDFD_OPEN, process, 0)
    try:
        return _system_call("a descriptor can't be copied", _PIDFD_GETFD, handle, number, 0)
    finally:
        posix.close(handle)


def _find_type(handle: int) -> int:
    """Return the number of the type of file system that a descriptor is on."""
    import _ctypes  # noqa: PLC0415 - as in `_call`

    if not _buffers:

        class Byte(_ctypes._SimpleCData):  # type: ignore[type-arg] # noqa: SLF001 - what ctypes.c_char is
            _type_ = "c"

        class Buffer(_ctypes.Array):  # type: ignore[type-arg]
            _type_, _length_ = Byte, 128

        _buffers.append(Buffer())
    _call("the file system can't be asked", b"fstatfs", handle, _buffers[0])
    return int.from_bytes(bytes(_buffers[0])[:8], sys.byteorder)


_buffers: list[Buffer] = []


# The command


def _restore_signals() -> None:
    """Undo what the interpreter changes and a command would inherit."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _read_profile(place: str) -> bytes:
    """Return the bytes of a profile; an inherited descriptor is closed."""
    try:
        handle = int(place[3:]) if place.startswith("fd:") else posix.open(place, posix.O_RDONLY | posix.O_CLOEXEC)
        data = b""
        while piece := posix.read(handle, 1 << 16):
            data += piece
            if len(data) > MAX_PROFILE_BYTES:
                raise LaunchRefused("the profile is too long")
        posix.close(handle)
    except (OSError, ValueError) as error:
        raise LaunchRefused(f"the profile can't be read: {error}") from None
    return data


def _execute(words: list[str]) -> NoReturn:
    """Become the command, with the environment that this process was started with."""
    environment = dict(posix.environ)
    if b"LC_CTYPE" in environment and b"LC_CTYPE=" not in _read_environment():
        del environment[b"LC_CTYPE"]  # the interpreter sets it in the C locale
    program = words[0].encode(errors="surrogateescape")
    folders = environment.get(b"PATH", b"/bin:/usr/bin").split(b":") if b"/" not in program else [b""]
    status, reason = NOT_FOUND, "isn't found"
    for folder in folders:
        path = folder + b"/" + program if folder else program
        try:
            posix.stat(path)  # the judge is asked about what exists
            posix.execve(path, words, environment)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            status, reason = NOT_EXECUTABLE, f"can't be executed: {error.strerror}"
    _end(f"'{words[0]}' {reason}", status)


def _read_environment() -> bytes:
    """Return the names, each with an equal sign, of the variables that this process was started with."""
    handle = posix.open(b"/proc/self/environ", posix.O_RDONLY | posix.O_CLOEXEC)
    data = b""
    while piece := posix.read(handle, 1 << 16):
        data += piece
    posix.close(handle)
    return b"\0".join(field.partition(b"=")[0] + b"=" for field in data.split(b"\0"))


def _read_line(path: bytes) -> bytes:
    handle = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    data = posix.read(handle, 4096)
    posix.close(handle)
    return data


def _end(sentence: str, status: int) -> NoReturn:
    line = f"remit: the command was not run: {sentence}\n"
    try:
        posix.write(2, line.encode(errors="surrogateescape"))
    finally:
        posix._exit(status)  # noqa: SLF001 - its public name is in `os`


def _show(path: bytes) -> str:
    return path.decode(errors="surrogateescape")


# The kernel


_functions: dict[bytes, Callable[..., int]] = {}


def _call(what: str, name: bytes, *values: int | bytes | Buffer | None) -> int:
    """Return what a function of the C library returns; refuse with a sentence if it fails."""
    import _ctypes  # noqa: PLC0415 - the module can be imported where it doesn't exist

    if not _functions:

        class Long(_ctypes._SimpleCData):  # type: ignore[type-arg] # noqa: SLF001 - what ctypes.c_long is
            _type_ = "l"

        class CInt(_ctypes._SimpleCData):  # type: ignore[type-arg] # noqa: SLF001 - what ctypes.c_int is
            _type_ = "i"

        class Function(_ctypes.CFuncPtr):
            _flags_ = 1 | 8  # the calling convention of C, and errno is kept
            _restype_ = CInt  # also of `syscall`: the results used here are descriptors and small numbers

        library = _ctypes.dlopen(None, 2)  # type: ignore[arg-type] # None: what this process has loaded
        for each in ("syscall", "prctl", "unshare", "mount", "capset", "fstatfs"):
            _functions[each.encode()] = Function(_ctypes.dlsym(library, each))
        _functions[b"long"] = Long  # type: ignore[assignment] # makes a value of that type
    long = _functions[b"long"]
    result = _functions[name](*[long(value) if isinstance(value, int) else value for value in values])
    if result < 0:
        raise LaunchRefused(f"{what}: {posix.strerror(_ctypes.get_errno())}")
    return result


def _system_call(what: str, number: int, *values: int | bytes | None) -> int:
    return _call(what, b"syscall", number, *values)


def _find_address(data: bytes) -> bytes:
    """Return where bytes are in memory, as a pointer in a C structure has it."""
    import _ctypes  # noqa: PLC0415 - as above

    class Pointer(_ctypes._SimpleCData):  # type: ignore[type-arg] # noqa: SLF001 - what ctypes.c_char_p is
        _type_ = "z"

    return bytes(Pointer(data))  # the bytes of the pointer, not of the text


def _pack(value: int) -> bytes:
    return value.to_bytes(8, sys.byteorder)


if __name__ == "__main__":
    main(sys.argv[1:])

"""The shim: the process that runs one agent, keeps what it prints, ends it in time and says once how it ended.

Owns an agent's life. It is started by `attempts/`, which says what is in a session's folder, with the
folder, the handle of its lock and that of its pipe as arguments, and it outlives whoever started it. Nothing here
imports Remit, and little of the standard library: every agent pays for it. So `_ctypes` and `_signal` are used without
the modules around them, which cost 9 ms and 6 ms more.

    shim      reads and keeps the output, holds the deadline, listens to `.remit/control/`, writes `result.json`
    └ keeper  ends everything when the shim says so or is gone
      └ agent

Nothing that the agent starts survives it, even where the shim itself is killed. There are three ways, best first:

namespace   The keeper is process 1 of a PID namespace, and the kernel ends a namespace with its process 1. The kernel
            ends the keeper when the shim is gone. Nobody in the namespace can signal the shim or stop the keeper.
subreaper   No namespace is to be had. Whatever loses its parent becomes the keeper's child, so the keeper finds all of
            them by walking the tree. When the shim is killed, the keeper ends them; when the keeper is killed, they
            become the shim's, which ends them. An agent that kills both in one moment gets its children away; the agent
            itself dies then too.
group       Neither (macOS). What is in the agent's process group or still has its parents is found; a daemon with a
            session of its own is not.

What another service starts for the agent (a container, a job of cron or systemd) is nobody's child here, and stays.
So does, without a namespace, what runs as another user: nobody but root may end it.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found] # the module around it costs 6 ms
import errno
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TAIL_BYTES = 1 << 20
"""So much of the end is kept of a stream that is cut."""
GRACE_SECONDS = 0.1
"""From SIGTERM to SIGKILL."""
SILENCE_SECONDS, LINGER_SECONDS = 0.05, 0.5
"""How long a daemon that holds the agent's output open is listened to: until it is silent, and at most."""
PATIENCE_SECONDS = 60.0
"""How long the shim retries to write output and result to a disk that is full."""
KEEPER_SECONDS, KILLED_SECONDS = 5.0, 2.0
"""How long the keeper may take to end everything; how long the shim then waits for what it has killed itself."""
BLANK_SECONDS = 5.0
"""How long a folder is waited for in which a blank is made."""
_PIECE_BYTES = 1 << 16
_MAX_WORD_BYTES = 4096
_STOP_ROUNDS, _CATCH_ROUNDS = 50, 1000
_WAIT_MS = 60_000

_NEW_NAMESPACES, _NEW_USER = 0x20020000, 0x10000000  # PID and mounts
_MOVE_ALONG, _QUIET_MOUNT = 0x4000 | 0x80000, 2 | 4 | 8  # MS_REC | MS_SLAVE; no setuid, devices, programs
_SET_DEATH_SIGNAL, _SET_SUBREAPER = 1, 36


class Order:
    """What is to be done. It comes as fields `name=value` with a NUL behind each: cheap to read, safe for any path."""

    def __init__(self, data: bytes) -> None:
        self.argv: list[bytes] = []
        self.unset: list[bytes] = []
        self.blanks: list[tuple[bytes, bytes]] = []
        single: dict[bytes, bytes] = {}
        for field in data.split(b"\0")[:-1]:
            name, _, value = field.partition(b"=")
            if name == b"argv":
                self.argv.append(value)
            elif name == b"unset":
                self.unset.append(value)
            elif name == b"blank":
                path = value
            elif name == b"blank_text":
                self.blanks.append((path, value))
            else:
                single[name] = value
        self.cwd = single[b"cwd"]
        self.contain = single[b"contain"].decode()
        self.deadline_ms = int(single[b"deadline_ms"])
        self.out_cap = int(single[b"out_cap"])
        self.err_cap = int(single[b"err_cap"])
        self.mark = single[b"mark"]
        self.blank_ns = int(single.get(b"blank_ns", b"0"))


class Sink:
    """A stream of the agent: its beginning goes to a file, up to a cap. The rest stays in memory, at least its end.

    If the disk is full, the rest stays in memory as well, and goes into the file as soon as there is room.
    """

    def __init__(self, pipe: int, file: int, cap: int) -> None:
        os.set_blocking(pipe, False)
        self.pipe, self.file, self.cap = pipe, file, cap
        self.total = self.kept = 0
        self.tail = bytearray()
        self.tail_kept = 0
        """How much of the end is in a file of its own."""
        self.is_open = True

    def take(self) -> bool:
        """Take in what is there now, up to a piece; whether there was something."""
        try:
            data = os.read(self.pipe, _PIECE_BYTES)
        except BlockingIOError:
            return False
        self.is_open = bool(data)
        self.total += len(data)
        self.tail += data
        if len(self.tail) > 2 * TAIL_BYTES:  # not at each piece: to move a megabyte for each costs more than to read it
            del self.tail[:-TAIL_BYTES]
        try:
            self._write()
        except OSError:  # no room: the next piece, or the end, tries again
            return bool(data)
        return bool(data)

    def _write(self) -> None:
        """Move what is in memory to the file, up to the cap. If a part between the two was dropped, it stays."""
        while self.tail and self.kept < self.cap and self.kept + len(self.tail) == self.total:
            data = bytes(self.tail[: min(_PIECE_BYTES, self.cap - self.kept)])
            done = os.write(self.file, data)
            self.kept += done
            del self.tail[:done]

    def finish(self, folder: int, tail_name: str) -> None:
        """Put everything on disk: the file, and beside it the end of what the file has no place for."""
        self._write()
        if self.kept:
            os.fsync(self.file)
        if self.tail:
            data = bytes(self.tail[-TAIL_BYTES:])
            _replace(folder, tail_name, data)
            self.tail_kept = len(data)


class AgentProcess:
    """What is known about the agent, and the descriptors that belong to it."""

    def __init__(self, order: Order, folder: int, control: int) -> None:
        self.order, self.folder, self.control = order, folder, control
        self.began_ms = time.time_ns() // 1_000_000
        # From here on the clock on the wall does not count: it can be set.
        self.deadline = time.monotonic() + (order.deadline_ms - self.began_ms) / 1000
        self.contained = "group"
        self.keeper = self.agent = self.life = self.told = self.woken = -1
        self.sinks: list[Sink] = []
        self.words = b""
        self.heard = b""
        self.stop_reason = self.reason = ""
        self.status: int | None = None
        self.errno = 0
        self.survivors: int | None = None
        self.is_kept = False
        """Whether the keeper is there."""
        self.is_stuck = False
        """Whether something is left that can't be ended: frozen, or in an uninterruptible wait."""
        self.announced: object = None
        """A socket, open while this process lives."""
        self.blanks: list[tuple[int, bytes, bool]] = []
        """Handles, paths, and whether it is a folder."""


# The kernel's own services


def _find_call(name: bytes) -> Callable[..., int]:
    """A function of the C library, without the 9 ms of the module `ctypes`."""
    import _ctypes  # noqa: PLC0415 - only on Linux

    class Int(_ctypes._SimpleCData):  # type: ignore[type-arg] # noqa: SLF001 - what ctypes.c_int is
        _type_ = "i"

    class CFunction(_ctypes.CFuncPtr):
        _flags_ = 1 | 8  # as C calls, and keeps errno
        _restype_ = Int

    everything = _ctypes.dlopen(None, 2)  # type: ignore[arg-type] # None: what this process has loaded
    return CFunction(_ctypes.dlsym(everything, name.decode()))


def _call(name: bytes, *values: int | bytes | None) -> int:
    """Call the kernel; 0 or the number of the error."""
    if not sys.platform.startswith("linux"):
        return errno.ENOSYS
    try:
        import _ctypes  # noqa: PLC0415 - only on Linux

        return _ctypes.get_errno() if _find_call(name)(*values) else 0
    except (ImportError, AttributeError, OSError):
        return errno.ENOSYS


def _enter_namespace() -> bool:
    """Let the next child be process 1 of a namespace of its own; whether that is allowed here."""
    user, group = os.getuid(), os.getgid()
    if _call(b"unshare", _NEW_NAMESPACES) == 0:
        return True
    if _call(b"unshare", _NEW_NAMESPACES | _NEW_USER):
        return False
    # The agent stays who it is: without these lines it would be nobody.
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        handle = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(handle, line.encode())
        os.close(handle)
    return True


# Everything that lives


def list_processes() -> list[tuple[int, int, int]]:
    """The number, the parent and the group of each process that is not dead yet."""
    if not os.path.exists("/proc/self/stat"):
        return _ask_ps()
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                handle = os.open(f"/proc/{name}/stat", os.O_RDONLY)
            except OSError:  # it has just ended
                continue
            try:
                state, parent, group = os.read(handle, 1024).rpartition(b")")[2].split()[:3]
            except (OSError, ValueError):
                continue
            finally:
                os.close(handle)
            if state not in b"ZX":
                found.append((int(name), int(parent), int(group)))
    return found


def _ask_ps() -> list[tuple[int, int, int]]:
    import subprocess  # noqa: PLC0415 - only where there is no /proc

    command = ["ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "stat="]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as ps:  # noqa: S603 - fixed words
        lines = [line.split() for line in ps.stdout or ()]
    found = [(int(pid), int(parent), int(group)) for pid, parent, group, state, *_ in lines if b"Z" not in state]
    return [each for each in found if each[0] != ps.pid]  # our own child, and not meant


def find_tree(root: int, group: int) -> dict[int, int]:
    """All that descend from a process, and all in a group: each with its group; without the process itself."""
    children: dict[int, list[int]] = {}
    group_of: dict[int, int] = {}
    for pid, parent, member_of in list_processes():
        children.setdefault(parent, []).append(pid)
        group_of[pid] = member_of
    tree = {pid for pid, member_of in group_of.items() if member_of == group}
    waiting = [root, *tree]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            if pid not in tree:
                tree.add(pid)
                waiting.append(pid)
    return {pid: group_of[pid] for pid in tree - {root, os.getpid()}}


def kill_tree(root: int, group: int, seconds: float = 1e9) -> int:
    """End all that descend from a process or are in a group; how many there were, at least.

    They are stopped first, so that none has a child while the others are looked for. A signal to a group reaches
    also those who are being born into it. A frozen process, or one in an uninterruptible wait, gets its signal and is
    waited for no longer than `seconds`.
    """
    ended: set[int] = set()
    immune: set[int] = set()
    pause, last = 0.0, time.monotonic() + seconds
    while (group > 0 or _has_children()) and time.monotonic() < last:
        time.sleep(pause)
        pause = min(0.05, pause * 2 + 0.001)
        stopped: set[int] = set()
        groups: set[int] = set()
        for _ in range(_STOP_ROUNDS):
            tree = find_tree(root, group)
            fresh = tree.keys() - stopped - immune
            if not fresh:
                break
            groups |= set(tree.values()) - {0, 1, os.getpgid(0)}  # to -1 would be to everybody
            _send((-each for each in groups), signal.SIGSTOP)
            immune |= _send(fresh, signal.SIGSTOP)
            stopped |= fresh
        stopped -= immune
        _send((-each for each in groups), signal.SIGKILL)
        _send(stopped, signal.SIGKILL)
        ended |= stopped | _catch_children(immune)
        if not stopped and (group > 0 or immune):
            break
    return len(ended)


def _catch_children(immune: set[int]) -> set[int]:
    """End the children that we have, at once, as often as there are new ones.

    Who has a child and ends, again and again, is gone before a walk has found it. But each of its children is ours.
    """
    ended: set[int] = set()
    for _ in range(_CATCH_ROUNDS):
        _reap()
        try:
            handle = os.open("/proc/thread-self/children", os.O_RDONLY)
        except OSError:  # no Linux, or one that does not tell
            break
        children = {int(pid) for pid in os.read(handle, _PIECE_BYTES).split()} - immune
        os.close(handle)
        if not children:
            break
        _send(children, signal.SIGKILL)
        ended |= children
    return ended


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _send(pids: Iterable[int], number: int) -> set[int]:
    """Send a signal; to which of them that is not allowed, because they are somebody else's by now."""
    immune = set()
    for pid in pids:
        try:
            os.kill(pid, number)
        except PermissionError:
            immune.add(pid)
        except ProcessLookupError:
            pass
    return immune


def _reap() -> list[tuple[int, int]]:
    """Take note of the children that have ended: numbers and how they ended."""
    found = []
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(ended)
    except ChildProcessError:
        pass
    return found


# The keeper


def _keep(run: AgentProcess, life: int, told: int, streams: tuple[int, int, int]) -> None:
    """Run the agent when told to, tell how it ended, and end everything when told to or when the shim is gone.

    It holds the session's lock as well: the lock is free when nothing is alive any more.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    is_first = run.contained == "namespace"
    # Where the keeper has to clean up itself, it only must not be asleep when the shim is gone.
    _call(b"prctl", _SET_DEATH_SIGNAL, signal.SIGKILL if is_first else signal.SIGCONT)
    if run.contained == "subreaper":
        _call(b"prctl", _SET_SUBREAPER, 1)
    woken = _wake_on(signal.SIGCHLD)
    if os.read(life, 1) == b"g":  # else the shim was gone before the kernel knew that we want to hear of it
        if is_first and _call(b"mount", b"none", b"/", None, _MOVE_ALONG, None) == 0:
            _call(b"mount", b"proc", b"/proc", b"proc", _QUIET_MOUNT, None)
        run.agent = _start_agent(run, told, streams)
        for stream in streams:
            os.close(stream)
        _tell(told, b"a%d\n" % run.agent)
        _attend(run, life, told, woken)
    _tell(told, b"s%d\n" % _end_all(run))


def _attend(run: AgentProcess, life: int, told: int, woken: int) -> None:
    """Wait on the agent until everything is to end."""
    poll = select.poll()
    poll.register(life, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        ready = {handle for handle, _ in poll.poll()}
        if woken in ready:
            os.read(woken, _PIECE_BYTES)
            for pid, status in _reap():
                if pid == run.agent:
                    run.status = status
                    _tell(told, b"x%d\n" % status)
        if life in ready:
            word = os.read(life, 1)
            if word != b"t":
                return
            if run.status is None:
                _send([-run.agent], signal.SIGTERM)


def _end_all(run: AgentProcess) -> int:
    """End everything that the agent has left; how many there were at least, without the agent."""
    _reap()
    is_over = run.status is not None or run.agent < 0
    if run.contained != "namespace" or os.getpid() != 1:  # else the signal would go to everybody on the machine
        found = kill_tree(os.getpid(), run.agent if run.contained == "group" else -1)
        _reap()
        return max(0, found - (not is_over))
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        return 0
    count = 0
    try:
        while os.waitpid(-1, 0)[0]:
            count += 1
    except ChildProcessError:
        pass
    return max(0, count - (not is_over))


def _tell(told: int, word: bytes) -> None:
    try:
        os.write(told, word)
    except OSError:  # the shim is gone: nobody needs it
        return


def _start_agent(run: AgentProcess, told: int, streams: tuple[int, int, int]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        if run.contained != "namespace":
            _call(b"prctl", _SET_DEATH_SIGNAL, signal.SIGKILL)
        for place, stream in enumerate(streams):
            os.dup2(stream, place)  # all other descriptors close themselves
        _reset_signals()
        os.chdir(run.order.cwd)
        environ = {name: value for name, value in os.environb.items() if name not in run.order.unset}
        _execute(run.order.argv, environ)
    except OSError as error:
        _tell(told, b"e%d\n" % (error.errno or errno.EINVAL))
    finally:
        os._exit(127)


def _execute(argv: list[bytes], environ: dict[bytes, bytes]) -> None:
    """Become the program, which is looked up on its own path; raise `OSError` where that cannot be."""
    if b"/" in argv[0]:
        os.execve(argv[0], argv, environ)  # noqa: S606 - that is the job
    failure = OSError(errno.ENOENT, "")
    for folder in environ.get(b"PATH", os.defpath.encode()).split(b":"):
        try:
            os.execve((folder or b".") + b"/" + argv[0], argv, environ)  # noqa: S606 - that is the job
        except OSError as error:
            if error.errno not in {errno.ENOENT, errno.ENOTDIR}:
                failure = error
    raise failure


def _reset_signals() -> None:
    """An agent is not to inherit what a process above it ignores or blocks."""
    for number in signal.valid_signals():
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):  # the C library keeps some for itself
                continue
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


# The shim


def _wake_on(*numbers: int) -> int:
    """A pipe in which each of these signals leaves its number."""
    hear, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(hear, False)
    signal.set_wakeup_fd(wake)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return hear


def _begin(run: AgentProcess) -> None:
    """Put the agent into the best containment that is to be had, and let it go."""
    try:
        stdin = _open_at(run.folder, "stdin", os.O_RDONLY)
    except FileNotFoundError:
        stdin = os.open(os.devnull, os.O_RDONLY)
    files = [_open_at(run.folder, name, os.O_WRONLY | os.O_CREAT | os.O_EXCL) for name in ("out", "err")]
    (hear_out, out), (hear_err, err) = os.pipe(), os.pipe()
    (life_end, run.life), (run.told, told_end) = os.pipe(), os.pipe()
    run.contained = _choose_containment(run.order.contain)
    run.woken = _wake_on(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    run.keeper = os.fork()
    if run.keeper == 0:
        try:
            for handle in (run.life, run.told, run.woken, hear_out, hear_err):
                os.close(handle)
            _keep(run, life_end, told_end, (stdin, out, err))
        finally:
            os._exit(0)
    run.is_kept = True
    for handle in (stdin, out, err, life_end, told_end):
        os.close(handle)
    _write_pids(run)
    _tell(run.life, b"g")
    run.sinks = [Sink(hear_out, files[0], run.order.out_cap), Sink(hear_err, files[1], run.order.err_cap)]


def _choose_containment(wanted: str) -> str:
    kind = "group"
    if wanted != "group" and _call(b"prctl", _SET_SUBREAPER, 1) == 0:
        kind = "namespace" if wanted != "subreaper" and _enter_namespace() else "subreaper"
    return kind


def _write_pids(run: AgentProcess) -> None:
    """Say which processes these are, so that a caller can find out that it is inside."""
    spaces = []
    for name in ("pid", "pid_for_children"):
        try:
            spaces.append(os.stat(f"/proc/self/ns/{name}").st_ino)
        except OSError:
            spaces.append(0)
    text = '{"contained":"%s","shim":%d,"keeper":%d,"outer":%d,"inner":%d}\n'
    data = text % (run.contained, os.getpid(), run.keeper, *spaces)
    _replace(run.folder, "pids.json", data.encode(), durable=False)
    if spaces[0]:
        run.announced = _announce(*spaces)


def _announce(outer: int, inner: int) -> object:
    """Show every process of this network namespace that an agent lives, by a socket that is no file.

    An agent that hides in namespaces of its own sees neither its shim nor, in another workspace, its folder.
    """
    import _socket  # noqa: PLC0415 - the module around it costs 5 ms

    made = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    try:
        made.bind(b"\0remit-agent/%d/%d/%d/%s" % (os.getuid(), outer, inner, os.urandom(8).hex().encode()))
    except OSError:  # no such socket is to be had here; what is in the folder tells it in this workspace
        made.close()
    return made


def _supervise(run: AgentProcess) -> None:
    """Hear the agent until it ends or is ended."""
    _hear(run, run.deadline, lambda: run.status is not None or bool(run.stop_reason) or not run.is_kept)
    if run.status is None and run.is_kept:
        run.stop_reason = run.stop_reason or "timeout"
        _tell(run.life, b"t")
        _hear(run, time.monotonic() + GRACE_SECONDS, lambda: run.status is not None or not run.is_kept)
    else:
        _linger(run)


def _finish(run: AgentProcess) -> None:
    """See to it that nothing is left."""
    _tell(run.life, b"k")
    _hear(run, time.monotonic() + KEEPER_SECONDS, lambda: not run.is_kept)
    if run.is_kept:  # it is stopped, or waits for a process that can't be ended: the kernel ends the rest with it
        _send([run.keeper], signal.SIGKILL)
        _hear(run, time.monotonic() + KILLED_SECONDS, lambda: not run.is_kept)
    run.is_stuck = not _wait_for(run.keeper, KILLED_SECONDS)
    if run.survivors is None and run.contained != "namespace":
        # Somebody has killed the keeper, and what it kept is ours now.
        run.survivors = kill_tree(os.getpid(), run.agent if run.contained == "group" else -1, KILLED_SECONDS)
        run.is_stuck = run.is_stuck or _has_children()
    # What nobody could end may print for ever; what the agent itself has printed is in the pipe by now.
    last = time.monotonic() + LINGER_SECONDS
    for sink in run.sinks:
        while sink.is_open and sink.take() and time.monotonic() < last:
            pass


def _wait_for(pid: int, seconds: float) -> bool:
    """Wait for a child, but not without a limit; whether it has ended."""
    last = time.monotonic() + seconds
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        if time.monotonic() > last:
            return False
        time.sleep(0.001)
    return True


def _linger(run: AgentProcess) -> None:
    """Hear the rest of what an agent has printed, and not for long what a daemon of its still prints."""
    last = time.monotonic() + LINGER_SECONDS
    before = -1
    while before < _count(run) and time.monotonic() < last:
        before = _count(run)
        until = min(last, time.monotonic() + SILENCE_SECONDS)
        _hear(run, until, lambda before=before: _count(run) > before or not _is_any_open(run))  # type: ignore[misc] # mypy cannot tell


def _count(run: AgentProcess) -> int:
    return sum(sink.total for sink in run.sinks)


def _is_any_open(run: AgentProcess) -> bool:
    return any(sink.is_open for sink in run.sinks)


def _hear(run: AgentProcess, until: float, is_enough: Callable[[], bool]) -> None:
    """Take in whatever comes, until a moment or until it is enough."""
    poll = select.poll()
    for handle in (run.told, run.control, run.woken, *(sink.pipe for sink in run.sinks if sink.is_open)):
        poll.register(handle, select.POLLIN)
    by_pipe = {sink.pipe: sink for sink in run.sinks}
    while not is_enough():
        rest = int((until - time.monotonic()) * 1000) + 1
        if time.monotonic() >= until:
            return
        for handle, _ in poll.poll(min(rest, _WAIT_MS)):
            if handle in by_pipe:
                by_pipe[handle].take()
                if not by_pipe[handle].is_open:
                    poll.unregister(handle)
            elif handle == run.told:
                _hear_keeper(run)
            elif handle == run.control:
                _hear_control(run)
            else:
                os.read(run.woken, _PIECE_BYTES)
                _decide(run, "stopped", "signal")
        if not run.is_kept:
            return


def _hear_keeper(run: AgentProcess) -> None:
    data = os.read(run.told, _PIECE_BYTES)
    run.is_kept = bool(data)
    *lines, run.heard = (run.heard + data).split(b"\n")
    for line in lines:
        number = int(line[1:])
        if line[:1] == b"a":
            run.agent = number
        elif line[:1] == b"x":
            run.status = number
        elif line[:1] == b"e":
            run.errno = number
        else:
            run.survivors = number


def _hear_control(run: AgentProcess) -> None:
    try:
        run.words = (run.words + os.read(run.control, _MAX_WORD_BYTES))[-_MAX_WORD_BYTES:]
    except BlockingIOError:
        return
    *lines, run.words = run.words.split(b"\n")
    for line in lines:
        word, _, reason = line.partition(b" ")
        if word == b"cancel":
            _decide(run, "cancelled", "")
        elif word == b"stop":
            plain = reason.decode("ascii", "replace")
            _decide(run, "stopped", "".join(sign if sign.isalnum() and sign.isascii() else "_" for sign in plain)[:64])


def _decide(run: AgentProcess, stop_reason: str, reason: str) -> None:
    """The first who ends an agent has ended it."""
    if not run.stop_reason and run.status is None:
        run.stop_reason, run.reason = stop_reason, reason


# Blanks: what takes the place of protected files that don't exist, while a confined agent runs


def _make_blanks(run: AgentProcess) -> None:
    """Make the blanks, and lock each of them: the last agent that has one mounted removes it."""
    import fcntl  # noqa: PLC0415 - only for a confined agent

    for path, text in run.order.blanks:
        parent = _lock_parent(path)
        try:
            try:
                found = os.lstat(path)
            except FileNotFoundError:
                if text == b"/":
                    os.mkdir(path, 0o755)
                else:
                    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
                    _write_all(handle, text)
                    os.close(handle)
                os.utime(path, ns=(run.order.blank_ns, run.order.blank_ns))
                found = os.lstat(path)
            if found.st_mtime_ns == run.order.blank_ns:  # else somebody has just made a file of that name
                handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
                fcntl.flock(handle, fcntl.LOCK_SH)
                run.blanks.append((handle, path, text == b"/"))
        finally:
            os.close(parent)


def _remove_blanks(run: AgentProcess) -> None:
    """Remove the blanks that no other agent needs and that nobody has changed."""
    for handle, path, is_folder in run.blanks:
        try:
            parent = _lock_parent(path)
        except OSError:  # the next confined agent removes it
            continue
        try:
            import fcntl  # noqa: PLC0415 - only for a confined agent

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found, own = os.lstat(path), os.fstat(handle)
            if (found.st_dev, found.st_ino, found.st_mtime_ns) == (own.st_dev, own.st_ino, run.order.blank_ns):
                (os.rmdir if is_folder else os.unlink)(path)
        except OSError:  # another agent has it mounted, or it is gone
            pass
        finally:
            os.close(parent)
            os.close(handle)


def _lock_parent(path: bytes) -> int:
    """Open and lock the folder that a path is in, so that two shims don't make and remove a blank at once."""
    import fcntl  # noqa: PLC0415 - only for a confined agent

    handle = os.open(path.rpartition(b"/")[0] or b"/", os.O_RDONLY | os.O_DIRECTORY)
    last = time.monotonic() + BLANK_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in {errno.EAGAIN, errno.EACCES} or time.monotonic() > last:
                os.close(handle)
                raise
            time.sleep(0.01)
        else:
            return handle


# The result


def _render_result(run: AgentProcess) -> str:
    code = None if run.status is None or run.errno else os.waitstatus_to_exitcode(run.status)
    number = -code if code is not None and code < 0 else None
    stop_reason = run.stop_reason or ("exited" if code is not None and code >= 0 else "crashed")
    out, err = run.sinks or (None, None)
    facts: dict[str, int | str | bool | None] = {
        "stop_reason": stop_reason,
        "exit_code": code if number is None else None,
        "signal": number,
        "errno": run.errno or None,
        "reason": run.reason,
        "contained": run.contained,
        "survivors": run.survivors,
        "stuck": run.is_stuck,
        "started_ms": run.began_ms,
        "ended_ms": max(run.began_ms, time.time_ns() // 1_000_000),
    }
    for name, sink in (("out", out), ("err", err)):
        facts[f"{name}_bytes"] = sink.total if sink else 0
        facts[f"{name}_kept"] = sink.kept if sink else 0
        facts[f"{name}_cut"] = bool(sink and sink.total > sink.kept)
    facts["out_tail_kept"] = out.tail_kept if out else 0
    return "{" + ",".join(f'"{name}":{_render_value(value)}' for name, value in facts.items()) + "}\n"


def _render_value(value: int | str | bool | None) -> str:  # noqa: FBT001 - a value, no switch
    if isinstance(value, str):
        return f'"{value}"'  # fixed words, and letters that were sifted
    return "null" if value is None else str(value).lower()


def _write_all_down(run: AgentProcess) -> None:
    """Write the output, and then, once, how it ended; retry while the disk is full.

    No result is better than a false one. Of output that can't be written at all, the result says how much there was.
    """
    last = time.monotonic() + PATIENCE_SECONDS
    for sink, tail_name in zip(run.sinks, ("out.tail", "err.tail"), strict=False):
        _insist(lambda sink=sink, tail_name=tail_name: sink.finish(run.folder, tail_name), last)  # type: ignore[misc] # mypy cannot tell
    data = _render_result(run).encode()
    _insist(lambda: _replace(run.folder, "result.json", data), last)


def _insist(write: Callable[[], None], last: float) -> None:
    """Write something, again and again while the disk is full, until a moment."""
    while True:
        try:
            write()
        except OSError as error:
            if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.ENOMEM} or time.monotonic() > last:
                return
            time.sleep(0.2)
        else:
            return


def _replace(folder: int, name: str, data: bytes, *, durable: bool = True) -> None:
    # A name that an agent could not foresee, and that `remit gc` knows.
    temporary = f".remit-{os.getpid()}-{os.urandom(4).hex()}-{name}"
    handle = _open_at(folder, temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        try:
            _write_all(handle, data)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(temporary, dir_fd=folder)
        raise
    if durable:
        os.fsync(folder)


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _open_at(folder: int, name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NOFOLLOW, 0o600, dir_fd=folder)


def _read_order(folder: int) -> Order:
    handle = _open_at(folder, "order", os.O_RDONLY)
    data = b""
    while piece := os.read(handle, _PIECE_BYTES):
        data += piece
    os.close(handle)
    return Order(data)


def _claim(folder: int) -> bool:
    """Whether this attempt is ours: nobody has begun it before. It is on disk before the agent runs."""
    try:
        os.close(_open_at(folder, "started", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    os.fsync(folder)
    return True


def _unmark(mark: bytes) -> None:
    try:
        os.unlink(mark)
    except OSError:  # whoever looks for the living finds that this one is not
        return


def main() -> None:
    """Run an agent, once. The last arguments are the attempt's folder, the handle of its lock and that of its pipe.

    The path of the folder is there for whoever asks which attempt this process belongs to.
    """
    folder, control = int(sys.argv[-2]), int(sys.argv[-1])
    for handle in (folder, control):
        os.set_inheritable(handle, False)  # noqa: FBT003 - os wants it so
    if os.getsid(0) != os.getpid():
        os.setsid()
    if _claim(folder):
        _run(folder, control)
    os._exit(0)  # an orderly end of the interpreter costs 2 ms


def _run(folder: int, control: int) -> None:
    run = AgentProcess(_read_order(folder), folder, control)
    if time.monotonic() >= run.deadline:
        run.stop_reason = "timeout"
    else:
        try:
            _make_blanks(run)
            _begin(run)
        except OSError as error:  # no room, too many processes: then the agent was never there
            run.errno = error.errno or errno.EIO
        else:
            _supervise(run)
        if run.keeper > 0:
            _finish(run)
    if not run.is_stuck:  # else what is left could write where a blank was
        _remove_blanks(run)
    _write_all_down(run)
    _unmark(run.order.mark)

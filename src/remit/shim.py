"""The shim: a process that runs one agent, stores its output, enforces the deadline and writes the result once.

`attempts/` starts it and describes the files in an attempt's folder. The arguments are the folder, the descriptor of
its lock and that of its control pipe. The shim outlives the process that started it. It imports nothing of Remit and
little of the standard library, because that would delay every agent: `_ctypes` and `_signal` are used without the
modules around them, which cost 9 ms and 6 ms more.

    shim      reads and stores the output, enforces the deadline, reads `.remit/control/`, writes `result.json`
    └ keeper  ends all processes on the shim's command or when the shim is gone
      └ agent

No process that the agent starts survives the agent, even if the shim itself is killed. There are three ways, best
first:

namespace   The keeper is process 1 of a PID namespace, so the kernel ends all processes of the namespace with it. The
            kernel ends the keeper when the shim is gone. A process in the namespace can neither signal the shim nor
            stop the keeper.
subreaper   If namespaces aren't available: processes that lose their parent become children of the keeper, so the
            keeper finds all of them by walking the tree. If the shim is killed, the keeper ends them. If the keeper is
            killed, they become children of the shim, which ends them. If an agent kills both at once, its children
            survive, but the agent itself doesn't.
group       If neither is available (macOS): the keeper finds processes in the agent's process group and those that
            still have their parents, but not a daemon with a session of its own.

Processes that another service starts for the agent (a container, a cron job, a systemd unit) aren't descendants of the
shim, and survive. Without a namespace, so do processes of another user, which only root may end.
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
"""How much of the end of a truncated stream is kept."""
GRACE_SECONDS = 0.1
"""The time from SIGTERM to SIGKILL."""
SILENCE_SECONDS, LINGER_SECONDS = 0.05, 0.5
"""How long to read from a daemon that keeps the agent's output open: until it is silent this long, and at most."""
PATIENCE_SECONDS = 60.0
"""How long the shim retries writing output and result to a full disk."""
KEEPER_SECONDS, KILLED_SECONDS = 5.0, 2.0
"""How long the keeper may take to end all processes; how long the shim waits for processes that it killed itself."""
BLANK_SECONDS = 5.0
"""How long to wait for the lock of a folder to create a placeholder in."""
_PIECE_BYTES = 1 << 16
_MAX_WORD_BYTES = 4096
_STOP_ROUNDS, _CATCH_ROUNDS = 50, 1000
_WAIT_MS = 60_000

_NEW_NAMESPACES, _NEW_USER = 0x20020000, 0x10000000  # PID and mounts
_MOVE_ALONG, _QUIET_MOUNT = 0x4000 | 0x80000, 2 | 4 | 8  # MS_REC | MS_SLAVE; no setuid, devices, programs
_SET_DEATH_SIGNAL, _SET_SUBREAPER = 1, 36


class Order:
    """The order of an attempt: fields `name=value`, each terminated by NUL, fast to read and safe for any path."""

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
    """A stream of the agent: the beginning is written to a file, up to a cap; the end of the rest stays in memory.

    If the disk is full, the output stays in memory and is written to the file as soon as there is space.
    """

    def __init__(self, pipe: int, file: int, cap: int) -> None:
        os.set_blocking(pipe, False)
        self.pipe, self.file, self.cap = pipe, file, cap
        self.total = self.kept = 0
        self.tail = bytearray()
        self.tail_kept = 0
        """How many bytes of the end are in a separate file."""
        self.is_open = True

    def take(self) -> bool:
        """Read the available output, up to a piece, and return whether there was any."""
        try:
            data = os.read(self.pipe, _PIECE_BYTES)
        except BlockingIOError:
            return False
        self.is_open = bool(data)
        self.total += len(data)
        self.tail += data
        if len(self.tail) > 2 * TAIL_BYTES:  # not for each piece: moving a megabyte takes longer than reading one
            del self.tail[:-TAIL_BYTES]
        try:
            self._write()
        except OSError:  # the disk is full: the next piece, or `finish`, retries
            return bool(data)
        return bool(data)

    def _write(self) -> None:
        """Move output from memory to the file, up to the cap, unless a part in between was dropped."""
        while self.tail and self.kept < self.cap and self.kept + len(self.tail) == self.total:
            data = bytes(self.tail[: min(_PIECE_BYTES, self.cap - self.kept)])
            done = os.write(self.file, data)
            self.kept += done
            del self.tail[:done]

    def finish(self, folder: int, tail_name: str) -> None:
        """Write all output to disk: the file up to its cap, and the end of the rest to a second file."""
        self._write()
        if self.kept:
            os.fsync(self.file)
        if self.tail:
            data = bytes(self.tail[-TAIL_BYTES:])
            _replace(folder, tail_name, data)
            self.tail_kept = len(data)


class AgentProcess:
    """The state of the agent, and its descriptors."""

    def __init__(self, order: Order, folder: int, control: int) -> None:
        self.order, self.folder, self.control = order, folder, control
        self.began_ms = time.time_ns() // 1_000_000
        # From here on, only the monotonic clock counts, because the wall clock can be set.
        self.deadline = time.monotonic() + (order.deadline_ms - self.began_ms) / 1000
        self.contained = "group"
        self.keeper = self.agent = self.life = self.report = self.woken = -1
        self.sinks: list[Sink] = []
        self.unparsed_control = b""
        self.unparsed_reports = b""
        self.stop_reason = self.reason = ""
        self.status: int | None = None
        self.errno = 0
        self.survivors: int | None = None
        self.is_kept = False
        """Whether the keeper is running."""
        self.is_stuck = False
        """Whether a process is left that can't be ended: frozen, or in an uninterruptible wait."""
        self.announced: object = None
        """A socket that is open as long as this process lives."""
        self.placeholders: list[tuple[int, bytes, bool]] = []
        """Descriptor, path, and whether it is a folder, of each placeholder."""


# --- system calls ----------------------------------------------------------------------------------------------------


def _load_function(name: bytes) -> Callable[..., int]:
    """Return a function of the C library, without importing `ctypes`, which takes 9 ms."""
    import _ctypes  # noqa: PLC0415 - only on Linux

    class Int(_ctypes._SimpleCData):  # type: ignore[type-arg] # noqa: SLF001 - the base of ctypes.c_int
        _type_ = "i"

    class CFunction(_ctypes.CFuncPtr):
        _flags_ = 1 | 8  # the C calling convention, with errno
        _restype_ = Int

    everything = _ctypes.dlopen(None, 2)  # type: ignore[arg-type] # None: the libraries that this process has loaded
    return CFunction(_ctypes.dlsym(everything, name.decode()))


def _call_c(name: bytes, *values: int | bytes | None) -> int:
    """Call a function of the C library, and return 0 or errno."""
    if not sys.platform.startswith("linux"):
        return errno.ENOSYS
    try:
        import _ctypes  # noqa: PLC0415 - only on Linux

        return _ctypes.get_errno() if _load_function(name)(*values) else 0
    except (ImportError, AttributeError, OSError):
        return errno.ENOSYS


def _enter_namespace() -> bool:
    """Make the next child process 1 of a new PID namespace, and return whether that is permitted."""
    user, group = os.getuid(), os.getgid()
    if _call_c(b"unshare", _NEW_NAMESPACES) == 0:
        return True
    if _call_c(b"unshare", _NEW_NAMESPACES | _NEW_USER):
        return False
    # Map the user and group to themselves. Without a mapping, the agent would run as `nobody`.
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        handle = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(handle, line.encode())
        os.close(handle)
    return True


# --- processes -------------------------------------------------------------------------------------------------------


def list_processes() -> list[tuple[int, int, int]]:
    """Return the PID, the parent and the process group of each living process."""
    if not os.path.exists("/proc/self/stat"):
        return _run_ps()
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


def _run_ps() -> list[tuple[int, int, int]]:
    import subprocess  # noqa: PLC0415 - only without /proc

    command = ["ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "stat="]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as ps:  # noqa: S603 - fixed words
        lines = [line.split() for line in ps.stdout or ()]
    found = [(int(pid), int(parent), int(group)) for pid, parent, group, state, *_ in lines if b"Z" not in state]
    return [each for each in found if each[0] != ps.pid]  # without ps itself


def find_tree(root: int, group: int) -> dict[int, int]:
    """Return all descendants of a process and all members of a group, with their groups, without the process itself."""
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
    """End all descendants of a process and all members of a group, and return how many there were, at least.

    The processes are stopped first, so that none forks during the search. A signal to a group also reaches processes
    that are just being forked into it. A frozen process, or one in an uninterruptible wait, gets its signal, and the
    function waits for it no longer than `seconds`.
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
            groups |= set(tree.values()) - {0, 1, os.getpgid(0)}  # a signal to -1 would go to all processes
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
    """End the children of this process until there are no new ones, and return their PIDs.

    A process that forks and exits repeatedly is gone before a walk of the tree finds it, but its children become
    children of this process.
    """
    ended: set[int] = set()
    for _ in range(_CATCH_ROUNDS):
        _reap()
        try:
            handle = os.open("/proc/thread-self/children", os.O_RDONLY)
        except OSError:  # not Linux, or a kernel without this file
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
    """Send a signal, and return the processes of other users, to which that isn't permitted."""
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
    """Reap the children that have ended, and return their PIDs and statuses."""
    found = []
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(ended)
    except ChildProcessError:
        pass
    return found


# --- the keeper ------------------------------------------------------------------------------------------------------


def _keep(run: AgentProcess, life: int, report: int, streams: tuple[int, int, int]) -> None:
    """Start the agent on the shim's command, report its end, and end all processes on command or without the shim.

    The keeper also keeps the session's lock open, so the lock is free when no process is left.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    is_first = run.contained == "namespace"
    # If the keeper itself has to end the processes, the signal only has to wake it when the shim is gone.
    _call_c(b"prctl", _SET_DEATH_SIGNAL, signal.SIGKILL if is_first else signal.SIGCONT)
    if run.contained == "subreaper":
        _call_c(b"prctl", _SET_SUBREAPER, 1)
    woken = _wake_on(signal.SIGCHLD)
    if os.read(life, 1) == b"g":  # otherwise the shim was gone before the death signal was set
        if is_first and _call_c(b"mount", b"none", b"/", None, _MOVE_ALONG, None) == 0:
            _call_c(b"mount", b"proc", b"/proc", b"proc", _QUIET_MOUNT, None)
        run.agent = _start_agent(run, report, streams)
        for stream in streams:
            os.close(stream)
        _write_word(report, b"a%d\n" % run.agent)
        _serve(run, life, report, woken)
    _write_word(report, b"s%d\n" % _end_all(run))


def _serve(run: AgentProcess, life: int, report: int, woken: int) -> None:
    """Report the end of the agent, and return when all processes have to end."""
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
                    _write_word(report, b"x%d\n" % status)
        if life in ready:
            word = os.read(life, 1)
            if word != b"t":
                return
            if run.status is None:
                _send([-run.agent], signal.SIGTERM)


def _end_all(run: AgentProcess) -> int:
    """End all processes that the agent has left, and return how many there were at least, without the agent."""
    _reap()
    is_over = run.status is not None or run.agent < 0
    # Elsewhere, a signal to -1 would go to all processes of the machine.
    if run.contained != "namespace" or os.getpid() != 1:
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


def _write_word(report: int, word: bytes) -> None:
    try:
        os.write(report, word)
    except OSError:  # the shim is gone, so no report is needed
        return


def _start_agent(run: AgentProcess, report: int, streams: tuple[int, int, int]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        if run.contained != "namespace":
            _call_c(b"prctl", _SET_DEATH_SIGNAL, signal.SIGKILL)
        for place, stream in enumerate(streams):
            os.dup2(stream, place)  # all other descriptors are closed on exec
        _reset_signals()
        os.chdir(run.order.cwd)
        environ = {name: value for name, value in os.environb.items() if name not in run.order.unset}
        _execute(run.order.argv, environ)
    except OSError as error:
        _write_word(report, b"e%d\n" % (error.errno or errno.EINVAL))
    finally:
        os._exit(127)


def _execute(argv: list[bytes], environ: dict[bytes, bytes]) -> None:
    """Execute the program, found on the PATH of its own environment. Raise `OSError` if that fails."""
    if b"/" in argv[0]:
        os.execve(argv[0], argv, environ)  # noqa: S606 - this is the purpose
    failure = OSError(errno.ENOENT, "")
    for folder in environ.get(b"PATH", os.defpath.encode()).split(b":"):
        try:
            os.execve((folder or b".") + b"/" + argv[0], argv, environ)  # noqa: S606 - this is the purpose
        except OSError as error:
            if error.errno not in {errno.ENOENT, errno.ENOTDIR}:
                failure = error
    raise failure


def _reset_signals() -> None:
    """Reset signals, so that the agent doesn't inherit ignored or blocked ones."""
    for number in signal.valid_signals():
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):  # the C library reserves some
                continue
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


# --- the shim --------------------------------------------------------------------------------------------------------


def _wake_on(*numbers: int) -> int:
    """Return a pipe that gets the number of each of these signals."""
    read_end, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(read_end, False)
    signal.set_wakeup_fd(wake)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return read_end


def _start_keeper(run: AgentProcess) -> None:
    """Choose the best available containment, and start the keeper, which starts the agent."""
    try:
        stdin = _open_at(run.folder, "stdin", os.O_RDONLY)
    except FileNotFoundError:
        stdin = os.open(os.devnull, os.O_RDONLY)
    files = [_open_at(run.folder, name, os.O_WRONLY | os.O_CREAT | os.O_EXCL) for name in ("out", "err")]
    (read_out, out), (read_err, err) = os.pipe(), os.pipe()
    (life_end, run.life), (run.report, report_end) = os.pipe(), os.pipe()
    run.contained = _choose_containment(run.order.contain)
    run.woken = _wake_on(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    run.keeper = os.fork()
    if run.keeper == 0:
        try:
            for handle in (run.life, run.report, run.woken, read_out, read_err):
                os.close(handle)
            _keep(run, life_end, report_end, (stdin, out, err))
        finally:
            os._exit(0)
    run.is_kept = True
    for handle in (stdin, out, err, life_end, report_end):
        os.close(handle)
    _write_pids(run)
    _write_word(run.life, b"g")
    run.sinks = [Sink(read_out, files[0], run.order.out_cap), Sink(read_err, files[1], run.order.err_cap)]


def _choose_containment(wanted: str) -> str:
    kind = "group"
    if wanted != "group" and _call_c(b"prctl", _SET_SUBREAPER, 1) == 0:
        kind = "namespace" if wanted != "subreaper" and _enter_namespace() else "subreaper"
    return kind


def _write_pids(run: AgentProcess) -> None:
    """Write the PIDs and namespaces, so that a caller can find out whether it runs inside this attempt."""
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
        run.announced = _open_announcement(*spaces)


def _open_announcement(outer: int, inner: int) -> object:
    """Announce a running agent to all processes of this network namespace, by a socket with an abstract name.

    An agent in namespaces of its own can see neither its shim nor, in another workspace, its folder.
    """
    import _socket  # noqa: PLC0415 - the module around it costs 5 ms

    made = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    try:
        made.bind(b"\0remit-agent/%d/%d/%d/%s" % (os.getuid(), outer, inner, os.urandom(8).hex().encode()))
    except OSError:  # without such a socket, the files in the folder show it in this workspace
        made.close()
    return made


def _supervise(run: AgentProcess) -> None:
    """Read the agent's output until it ends; end it at the deadline or on request."""
    _watch(run, run.deadline, lambda: run.status is not None or bool(run.stop_reason) or not run.is_kept)
    if run.status is None and run.is_kept:
        run.stop_reason = run.stop_reason or "timeout"
        _write_word(run.life, b"t")
        _watch(run, time.monotonic() + GRACE_SECONDS, lambda: run.status is not None or not run.is_kept)
    else:
        _linger(run)


def _finish(run: AgentProcess) -> None:
    """End all remaining processes, and read the rest of the output."""
    _write_word(run.life, b"k")
    _watch(run, time.monotonic() + KEEPER_SECONDS, lambda: not run.is_kept)
    if run.is_kept:  # it is stopped, or waits for a process that can't end: the kernel ends the others with it
        _send([run.keeper], signal.SIGKILL)
        _watch(run, time.monotonic() + KILLED_SECONDS, lambda: not run.is_kept)
    run.is_stuck = not _wait_for(run.keeper, KILLED_SECONDS)
    if run.survivors is None and run.contained != "namespace":
        # The keeper was killed, so its children are children of the shim now.
        run.survivors = kill_tree(os.getpid(), run.agent if run.contained == "group" else -1, KILLED_SECONDS)
        run.is_stuck = run.is_stuck or _has_children()
    # A process that can't be ended may print forever, but the agent's own output is in the pipe by now.
    last = time.monotonic() + LINGER_SECONDS
    for sink in run.sinks:
        while sink.is_open and sink.take() and time.monotonic() < last:
            pass


def _wait_for(pid: int, seconds: float) -> bool:
    """Wait for a child up to a time limit, and return whether it has ended."""
    last = time.monotonic() + seconds
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        if time.monotonic() > last:
            return False
        time.sleep(0.001)
    return True


def _linger(run: AgentProcess) -> None:
    """Read the rest of the agent's output, and for a short time the output of its daemons."""
    last = time.monotonic() + LINGER_SECONDS
    before = -1
    while before < _count(run) and time.monotonic() < last:
        before = _count(run)
        until = min(last, time.monotonic() + SILENCE_SECONDS)
        _watch(run, until, lambda before=before: _count(run) > before or not _is_any_open(run))  # type: ignore[misc] # mypy cannot tell


def _count(run: AgentProcess) -> int:
    return sum(sink.total for sink in run.sinks)


def _is_any_open(run: AgentProcess) -> bool:
    return any(sink.is_open for sink in run.sinks)


def _watch(run: AgentProcess, until: float, is_enough: Callable[[], bool]) -> None:
    """Read output, reports, control words and signals, until a time or until a condition is true."""
    poll = select.poll()
    for handle in (run.report, run.control, run.woken, *(sink.pipe for sink in run.sinks if sink.is_open)):
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
            elif handle == run.report:
                _read_keeper(run)
            elif handle == run.control:
                _read_control(run)
            else:
                os.read(run.woken, _PIECE_BYTES)
                _decide(run, "stopped", "signal")
        if not run.is_kept:
            return


def _read_keeper(run: AgentProcess) -> None:
    data = os.read(run.report, _PIECE_BYTES)
    run.is_kept = bool(data)
    *lines, run.unparsed_reports = (run.unparsed_reports + data).split(b"\n")
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


def _read_control(run: AgentProcess) -> None:
    try:
        run.unparsed_control = (run.unparsed_control + os.read(run.control, _MAX_WORD_BYTES))[-_MAX_WORD_BYTES:]
    except BlockingIOError:
        return
    *lines, run.unparsed_control = run.unparsed_control.split(b"\n")
    for line in lines:
        word, _, reason = line.partition(b" ")
        if word == b"cancel":
            _decide(run, "cancelled", "")
        elif word == b"stop":
            plain = reason.decode("ascii", "replace")
            _decide(run, "stopped", "".join(sign if sign.isalnum() and sign.isascii() else "_" for sign in plain)[:64])


def _decide(run: AgentProcess, stop_reason: str, reason: str) -> None:
    """Set the stop reason, unless the agent has one or has ended: the first one counts."""
    if not run.stop_reason and run.status is None:
        run.stop_reason, run.reason = stop_reason, reason


# --- placeholders of protected files that don't exist, while a confined agent runs -----------------------------------


def _create_placeholders(run: AgentProcess) -> None:
    """Create and lock the placeholders. The last agent that has one mounted removes it."""
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
            if found.st_mtime_ns == run.order.blank_ns:  # otherwise another program has just created a real file
                handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
                fcntl.flock(handle, fcntl.LOCK_SH)
                run.placeholders.append((handle, path, text == b"/"))
        finally:
            os.close(parent)


def _remove_placeholders(run: AgentProcess) -> None:
    """Remove the placeholders that no other agent needs and that weren't changed."""
    for handle, path, is_folder in run.placeholders:
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
    """Open and lock the folder of a path, so that two shims don't create and remove a placeholder concurrently."""
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


# --- the result ------------------------------------------------------------------------------------------------------


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


def _render_value(value: int | str | bool | None) -> str:  # noqa: FBT001 - a value, not a flag
    if isinstance(value, str):
        return f'"{value}"'  # fixed words, and filtered letters
    return "null" if value is None else str(value).lower()


def _write_results(run: AgentProcess) -> None:
    """Write the output and then, once, the result; retry while the disk is full.

    If the result can't be written, there is none, rather than a false one. If output can't be written, the result
    contains its size.
    """
    last = time.monotonic() + PATIENCE_SECONDS
    for sink, tail_name in zip(run.sinks, ("out.tail", "err.tail"), strict=False):
        _retry_write(lambda sink=sink, tail_name=tail_name: sink.finish(run.folder, tail_name), last)  # type: ignore[misc] # mypy cannot tell
    data = _render_result(run).encode()
    _retry_write(lambda: _replace(run.folder, "result.json", data), last)


def _retry_write(write: Callable[[], None], last: float) -> None:
    """Retry a write while the disk is full, until a time."""
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
    # The name is unpredictable for an agent, and matches the pattern of `remit gc`.
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
    """Claim this attempt on disk before the agent runs, and return whether no other shim has claimed it."""
    try:
        os.close(_open_at(folder, "started", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    os.fsync(folder)
    return True


def _remove_mark(mark: bytes) -> None:
    try:
        os.unlink(mark)
    except OSError:  # a search for running attempts finds that this one isn't running
        return


def main() -> None:
    """Run an agent once. The last arguments are the descriptors of the attempt's folder, with its lock, and its pipe.

    The path of the folder is also an argument, to show which attempt this process belongs to.
    """
    folder, control = int(sys.argv[-2]), int(sys.argv[-1])
    for handle in (folder, control):
        os.set_inheritable(handle, False)  # noqa: FBT003 - the signature of os
    if os.getsid(0) != os.getpid():
        os.setsid()
    if _claim(folder):
        _run(folder, control)
    os._exit(0)  # a normal exit of the interpreter takes 2 ms


def _run(folder: int, control: int) -> None:
    run = AgentProcess(_read_order(folder), folder, control)
    if time.monotonic() >= run.deadline:
        run.stop_reason = "timeout"
    else:
        try:
            _create_placeholders(run)
            _start_keeper(run)
        except OSError as error:  # no space, or too many processes: the agent never started
            run.errno = error.errno or errno.EIO
        else:
            _supervise(run)
        if run.keeper > 0:
            _finish(run)
    if not run.is_stuck:  # otherwise a remaining process could write in place of a placeholder
        _remove_placeholders(run)
    _write_results(run)
    _remove_mark(run.order.mark)

"""Sessions: the folder of each attempt that an agent makes, and everything that is done with it.

Owns `.remit/sessions/SESSION/NUMBER/`. The shim (`delegate/shim.py`) is the only other one that writes there.

    order        what the shim is to do; no secrets, for the environment goes by the process itself
    stdin        what the agent reads
    out, err     what it printed, up to a cap; `out.tail`, `err.tail`: the end of what was longer
    started      made by the shim before the agent runs: whoever finds it there runs nothing, so nothing runs twice
    pids.json    which processes and which namespace these are
    control      a pipe for words to the shim: it reaches across namespaces, and never a stranger with a reused number
    result.json  how it ended; written once
    shim.err     what only a bug would print

A living attempt is one whose folder is locked. The lock is taken before the shim is started and handed over to it, so
no attempt that was started ever looks dead; it is free when nothing of the attempt is alive. `.remit/living/` has a
name for each attempt that may be alive, so that nobody has to look into thousands of old folders.

An agent runs as the user and could write into any of these folders. A result is sealed with a key that only the ledger
and the shim have, for its attempt alone; so one that an agent made up, or copied, is no result. The result has the
hash of the output, so that nobody is judged by words that somebody else put there. That does not help against an agent
that reads the key in the ledger, and an agent can always destroy a result: then there is none.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from remit.errors import BusyError, RunnerError, StateError, StorageError, UsageError
from remit.model import NOTHING
from remit.workspace.files import remove, tell_failure, write_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from remit.workspace.home import Home

SESSIONS, LIVING = "sessions", "living"
OUT_CAP_BYTES, ERR_CAP_BYTES = 64 << 20, 8 << 20
Contained = Literal["namespace", "subreaper", "group"]
State = Literal["none", "alive", "finished", "lost"]
"""Nothing was started; it runs; there is a result; it was started, and nothing is alive and nothing was said."""
_SHIM_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "delegate")
_SHIM = "import sys; sys.path.append(sys.argv[1]); import shim; shim.main()"
"""As a module, not as a script: of a module Python keeps the compiled form, and to compile it takes 10 ms. The folder
goes last, so that nothing in it can be taken for a module of Python's own."""
_OWN_NAMES = frozenset(
    {
        "order",
        "stdin",
        "out",
        "err",
        "out.tail",
        "err.tail",
        "started",
        "pids.json",
        "control",
        "result.json",
        "shim.err",
    }
)
_MAX_RESULT_BYTES = 4096
DEAF_SECONDS = 2.0
"""A shim that has not ended its agent so long after it was told has not heard it."""
_HASH_BYTES = 16
_HEARD_BYTES = 1 << 20
_MAX_ID_LETTERS = 128
_LOCK_SECONDS, _PIDS_SECONDS, _ASK_SECONDS, _POLL_SECONDS = 2.0, 0.5, 0.005, 0.05
_FIRST_NAMESPACE = 0xEFFFFFFC
"""The number that Linux gives the namespace which no other encloses."""


class Attempt(NamedTuple):
    """One time that an agent is sent to work."""

    session_id: str
    number: int
    folder: str


class Sandbox(NamedTuple):
    """A cage of bubblewrap: everything can be read, and only what is named here be written."""

    root: str
    writable: tuple[str, ...] = ()
    """Besides the root: what the harness keeps in the user's home. Those that are not there are passed over."""


class ShimOrder(NamedTuple):
    """What a shim is to do."""

    argv: tuple[str, ...]
    cwd: str
    deadline_ms: int
    """By the clock on the wall. It never moves."""
    environ: Mapping[str, str]
    """All of the agent's environment."""
    stdin: bytes = b""
    files: Mapping[str, bytes] = NOTHING
    """Put into the attempt's folder first, by name."""
    out_cap: int = OUT_CAP_BYTES
    err_cap: int = ERR_CAP_BYTES
    contain: Literal["auto"] | Contained = "auto"
    """The best way of containment that is tried."""
    sandbox: Sandbox | None = None


class Process(subprocess.Popen[bytes]):
    """A shim's process."""

    def __del__(self) -> None:
        """Say nothing: that it outlives us is no mistake."""


class Started(NamedTuple):
    """A shim that was started by this process."""

    pid: int
    folder: str
    process: Process


class Result(NamedTuple):
    """How an attempt ended, as its shim tells it."""

    ending: Literal["exited", "timeout", "cancelled", "stopped", "crashed"]
    """Crashed: by a signal that nobody here sent, or it could not be executed."""
    exit_code: int | None
    signal: int | None
    errno: int | None
    """Why it could not be executed."""
    reason: str
    """Of `stop REASON`."""
    contained: Contained
    survivors: int | None
    """How many processes the agent had left, at least, all ended now; None where nobody could count."""
    started_ms: int
    ended_ms: int
    out_bytes: int
    out_kept: int
    out_cut: bool
    err_bytes: int
    err_kept: int
    err_cut: bool
    out_hash: str = ""
    """Of what was kept of the output, and of its tail: BLAKE2b."""
    out_tail_hash: str = ""


# Making and starting


def mint_key() -> str:
    """A key for the results of a session. It belongs into the ledger before anything is started."""
    return os.urandom(32).hex()


def load_boot_id() -> str:
    """What tells one run of this machine from the next; "" where it does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read(64).strip()
    except OSError:
        return ""


def find_folder(home: Home, session_id: str, number: int) -> str:
    """Where an attempt has its things, whether or not there is one."""
    if not _is_id(session_id) or number < 1:
        raise UsageError(f"{session_id!r} is not a session's id", hint="see the ids with: remit ps --all")
    return f"{os.path.abspath(home.folder)}/{SESSIONS}/{session_id}/{number}"


def _is_id(text: str) -> bool:
    plain = text.replace("_", "").replace("-", "")
    return len(text) <= _MAX_ID_LETTERS and plain.isascii() and plain.isalnum()


def make_attempt(home: Home, session_id: str, number: int) -> Attempt:
    """Make the folder of an attempt. One that is there already and was never started is taken as it is."""
    folder = find_folder(home, session_id, number)
    home.make_folder(SESSIONS)
    try:
        for place in (os.path.dirname(folder), folder):
            with suppress(FileExistsError):
                os.mkdir(place, 0o700)
            if not stat.S_ISDIR(os.lstat(place).st_mode):
                raise StorageError(f"'{place}' is not a folder", hint="move it away")
        with suppress(FileExistsError):
            os.mkfifo(f"{folder}/control", 0o600)
        if not stat.S_ISFIFO(os.lstat(f"{folder}/control").st_mode):
            raise StorageError(f"'{folder}/control' is not a pipe", hint="move it away")
    except OSError as error:
        raise tell_failure(folder, error) from error
    return Attempt(session_id, number, folder)


def start_shim(home: Home, attempt: Attempt, order: ShimOrder, *, key: str) -> Started:
    """Start an agent under its shim. It goes on whatever becomes of this process.

    Raise `StateError` where this attempt was started before, by whomever.
    """
    argv = order.argv if order.sandbox is None else render_sandbox(order.sandbox, attempt.folder, order)
    handles: list[int] = []
    try:
        lock = _take_lock(attempt.folder, handles)
        mark = f"{home.make_folder(LIVING)}/{attempt.session_id}.{attempt.number}"
        _write_files(lock, order, _render_order(order, argv, mark))
        return _start(attempt.folder, order, mark, key=key, lock=lock, handles=handles)
    except OSError as error:
        raise tell_failure(attempt.folder, error) from error
    finally:
        for handle in handles:
            os.close(handle)


def _take_lock(folder: str, handles: list[int]) -> int:
    """Lock an attempt's folder. Who only asks whether it is alive has the lock for a moment, and is waited for."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    handles.append(lock)
    last = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > last or os.path.lexists(f"{folder}/started"):
                raise BusyError(f"'{folder}' is at work already", hint="wait for it: remit wait") from None
            time.sleep(_ASK_SECONDS)
    if os.path.lexists(f"{folder}/started"):
        raise StateError(f"'{folder}' was started before", hint="make another attempt: remit retry")
    return lock


def _render_order(order: ShimOrder, argv: tuple[str, ...], mark: str) -> bytes:
    """Fields with a NUL behind each, which no path and no argument contains."""
    # The interpreter sets this one by itself where it is not set, and the agent is not to see it.
    unset = [] if "LC_CTYPE" in order.environ else [("unset", "LC_CTYPE")]
    fields = [
        ("cwd", order.cwd),
        ("contain", order.contain),
        ("deadline_ms", order.deadline_ms),
        ("out_cap", order.out_cap),
        ("err_cap", order.err_cap),
        ("mark", mark),
        *unset,
        *(("argv", argument) for argument in argv),
    ]
    values = [f"{name}={value}" for name, value in fields]
    if not argv or any("\0" in value for value in values):
        raise RunnerError("a program cannot be started with these arguments", hint="give a program, and no NUL in it")
    return b"".join(os.fsencode(value) + b"\0" for value in values)


def _write_files(folder: int, order: ShimOrder, text: bytes) -> None:
    for name in order.files:
        if name in _OWN_NAMES or "/" in name or name.startswith("."):
            raise UsageError(f"{name!r} cannot be a file of an attempt", hint="choose another name")
    files = {**order.files, "order": text}
    if order.stdin:
        files["stdin"] = order.stdin
    for name, data in files.items():
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(name, flags, 0o600, dir_fd=folder)
        try:
            write_all(handle, data)
        finally:
            os.close(handle)


def _start(folder: str, order: ShimOrder, mark: str, *, key: str, lock: int, handles: list[int]) -> Started:
    # Open at both ends: from now on a word to the shim finds somebody, though it reads it only later.
    control = os.open("control", os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=lock)
    handles.append(control)
    hear, tell = os.pipe()
    handles += [hear, tell]
    os.write(tell, bytes.fromhex(key))
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    log = os.open("shim.err", flags, 0o600, dir_fd=lock)
    handles.append(log)
    os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    if not sys.executable:
        raise RunnerError("nobody knows which Python this is", hint="start Remit with its own command")
    cache = ["-X", f"pycache_prefix={sys.pycache_prefix}"] if sys.pycache_prefix else []
    try:
        process = Process(
            [sys.executable, "-I", "-S", *cache, "-c", _SHIM, _SHIM_FOLDER, folder, str(lock), str(control)],
            cwd="/",
            env=dict(order.environ),
            stdin=hear,
            stdout=subprocess.DEVNULL,
            stderr=log,
            pass_fds=(lock, control),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # an environment that is too large, or with a NUL; too many processes
        remove(mark)
        raise RunnerError(f"no agent can be started: {error}", hint="look at its environment and the limits") from error
    return Started(process.pid, folder, process)


def render_sandbox(sandbox: Sandbox, folder: str, order: ShimOrder) -> tuple[str, ...]:
    """The command line that runs an agent in its cage. Raise `RunnerError` where there is no bubblewrap."""
    from remit.workspace.machine import find_program  # noqa: PLC0415 - only with a sandbox

    found = find_program("bwrap", root=sandbox.root)
    if found is None or found.is_foreign:
        raise RunnerError("there is no sandbox here: bwrap is not on the path",
                          hint="install bubblewrap (apt install bubblewrap), or run without --sandbox")  # fmt: skip
    own = f"{sandbox.root.rstrip('/')}/.remit"
    command = [found.file, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/"]
    command += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108 - its own, and empty
    command += ["--bind", sandbox.root, sandbox.root]
    for path in sandbox.writable:
        command += ["--bind-try", path, path]
    # Last, so that nothing above opens it again. What a runner has put into its folder the agent only reads.
    command += ["--ro-bind-try", own, own, "--ro-bind", folder, folder, "--chdir", order.cwd, "--"]
    return (*command, *order.argv)


# What has become of it


def is_alive(folder: str) -> bool:
    """Whether anything of an attempt is alive, or about to be."""
    handle = _lock_shared(folder)
    if handle is None:
        return os.path.isdir(folder)
    os.close(handle)
    return False


def _lock_shared(folder: str) -> int | None:
    """The folder of an attempt that is not alive, locked for looking at it; None where it is alive or not there."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def find_state(folder: str, *, key: str, boot_id: str = "") -> State:
    """What has become of an attempt.

    `boot_id` is that of the machine when the attempt was to be started, as the ledger has it: what was not on disk yet
    when the machine stopped may have been started all the same.
    """
    alive = is_alive(folder)
    if load_result(folder, key=key) is not None:
        return "finished"
    if alive:
        return "alive"
    is_from_before = bool(boot_id) and boot_id != load_boot_id()
    return "lost" if is_from_before or os.path.lexists(f"{folder}/started") else "none"


def load_result(folder: str, *, key: str) -> Result | None:
    """How an attempt ended; None where it has not, or where what lies there was not written by its shim."""
    data = _read_small(f"{folder}/result.json")
    body, mark, rest = data.rpartition(b',"seal":"')
    name = "/".join(folder.rstrip("/").split("/")[-2:])
    if not mark or rest != f'{_seal(key, name, body)}"}}\n'.encode():
        return None
    facts = json.loads(body + b"}")
    return Result(**facts)


def _seal(key: str, name: str, body: bytes) -> str:
    from hashlib import blake2b  # noqa: PLC0415 - only where there is a result

    data = os.fsencode(name) + b"\0" + body
    return blake2b(data, key=bytes.fromhex(key), digest_size=32).hexdigest()


def _read_small(file: str) -> bytes:
    """A small file of an attempt; nothing where it is none."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(handle, _MAX_RESULT_BYTES) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(handle)


def send_control(folder: str, word: str) -> bool:
    """Tell a shim to end its agent: `cancel`, or `stop REASON`. Whether there is one to hear it.

    An agent can remove the pipe: then its shim is told by a signal, without the word.
    """
    return _write_control(folder, word) or (is_alive(folder) and end_shim(folder))


def _write_control(folder: str, word: str) -> bool:
    try:
        handle = os.open(f"{folder}/control", os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # nobody reads, or there is none
        return False
    try:
        if not stat.S_ISFIFO(os.fstat(handle).st_mode):
            return False
        return os.write(handle, word.replace("\n", " ").encode() + b"\n") > 0
    except OSError:
        return False
    finally:
        os.close(handle)


def end_shim(folder: str) -> bool:
    """Tell a shim by a signal to end its agent; whether there is one. For who does not hear: its pipe may be forged.

    Found by its command line, for what is in the folder was perhaps written by its agent. The keeper, which has the
    same, does not hear this signal.
    """
    import signal  # noqa: PLC0415 - only where an agent hides

    told = False
    for name in os.listdir("/proc") if os.path.exists("/proc/self/stat") else ():
        if name.isdecimal() and _read_shim_folder(int(name)) == folder:
            with suppress(OSError):
                handle = os.pidfd_open(int(name))  # from here on the number is nobody else's
                try:
                    if _read_shim_folder(int(name)) == folder:
                        signal.pidfd_send_signal(handle, signal.SIGTERM)
                        signal.pidfd_send_signal(handle, signal.SIGCONT)  # without a namespace its agent can stop it
                        told = True
                finally:
                    os.close(handle)
    return told


async def wait_result(folder: str, *, key: str, started: Started | None = None) -> Result | None:
    """Wait until nothing of an attempt is alive; how it ended, or None where it is lost.

    `started` is the shim where this process has started it: then the kernel tells when it ends. Who is no parent asks
    twenty times a second.
    """
    from asyncio import sleep  # noqa: PLC0415 - 30 ms, and whoever waits has it already

    if started is not None:
        await _wait_process(started.process)
    pause = _ASK_SECONDS if started is not None else _POLL_SECONDS
    while is_alive(folder):  # noqa: ASYNC110 - nobody tells when a lock becomes free
        await sleep(pause)
    return load_result(folder, key=key)


async def _wait_process(process: Process) -> None:
    """Wait for a child without a thread."""
    from asyncio import get_running_loop, sleep  # noqa: PLC0415 - as above

    if process.poll() is not None:
        return
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # no Linux, or an old one
        while process.poll() is None:  # noqa: ASYNC110 - nobody tells
            await sleep(_POLL_SECONDS)
        return
    loop = get_running_loop()
    ended = loop.create_future()

    def tell() -> None:
        if not ended.done():
            ended.set_result(None)

    try:
        loop.add_reader(handle, tell)
        await ended
    finally:
        loop.remove_reader(handle)
        os.close(handle)
    process.wait()


def read_out(folder: str, offset: int, limit: int, *, stream: Literal["out", "err"] = "out") -> bytes:
    """A piece of what an agent has printed so far; nothing where there is no more yet."""
    try:
        handle = os.open(f"{folder}/{stream}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.pread(handle, limit, offset) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    finally:
        os.close(handle)


def measure_out(folder: str) -> int:
    """How much an agent has printed so far, in bytes."""
    try:
        return os.lstat(f"{folder}/out").st_size
    except OSError:
        return 0


def find_heard_ms(folder: str) -> int | None:
    """When an agent has last printed something; None where it never did."""
    times = []
    for stream in ("out", "err"):
        with suppress(OSError):
            found = os.lstat(f"{folder}/{stream}")
            times += [found.st_mtime_ns // 1_000_000] if found.st_size else []
    return max(times, default=None)


class Tail(NamedTuple):
    """The end of a stream that was longer than its file may be."""

    skipped_bytes: int
    """So much between the file's end and this was not kept."""
    data: bytes


def load_tail(folder: str, result: Result, *, stream: Literal["out", "err"] = "out") -> Tail | None:
    """The end of what an agent printed, where its file does not have it; None where it has."""
    total, kept, is_cut = (
        (result.out_bytes, result.out_kept, result.out_cut)
        if stream == "out"
        else (result.err_bytes, result.err_kept, result.err_cut)
    )
    if not is_cut:
        return None
    file = f"{folder}/{stream}.tail"
    data = b""
    with suppress(OSError):
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as opened:
            data = opened.read(1 << 20) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    return Tail(max(0, total - kept - len(data)), data)


def hear_out(folder: str, result: Result, feed: Callable[[bytes], None]) -> bool:
    """Read what was kept of an agent's output, for its judgement; whether it is what its shim has kept.

    Where it is not, somebody else has written there, and nothing of what was read is to be believed.
    """
    from hashlib import blake2b  # noqa: PLC0415 - only where an attempt is over

    if not result.out_bytes:
        return True
    total, offset = blake2b(digest_size=_HASH_BYTES), 0
    while data := read_out(folder, offset, min(_HEARD_BYTES, result.out_kept - offset)):
        offset += len(data)
        total.update(data)
        feed(data)
    tail = load_tail(folder, result)
    if tail is None or not result.out_tail_hash:  # an end that the disk had no room for was not kept
        return total.hexdigest() == result.out_hash
    feed(b"\n" + tail.data)
    own = blake2b(tail.data, digest_size=_HASH_BYTES).hexdigest()
    return (total.hexdigest(), own) == (result.out_hash, result.out_tail_hash)


# Who is alive, and who is inside


def list_living(home: Home) -> list[Attempt]:
    """The attempts that are alive now, by their ids."""
    return sorted(_find_living(home))


def _find_living(home: Home) -> Iterator[Attempt]:
    place = f"{home.folder}/{LIVING}"
    try:
        names = [] if os.path.islink(place) else os.listdir(place)
    except OSError:
        return
    for name in names:
        session_id, _, number = name.rpartition(".")
        if not _is_id(session_id) or not number.isdecimal() or not number.isascii():
            continue
        attempt = Attempt(session_id, int(number), find_folder(home, session_id, int(number)))
        handle = _lock_shared(attempt.folder)
        if handle is not None:
            # While we hold the lock nobody can start it, and so nobody needs the mark that goes.
            with suppress(OSError):
                os.unlink(f"{place}/{name}")
            os.close(handle)
        elif os.path.isdir(attempt.folder):
            yield attempt


def find_enclosing(home: Home) -> str | None:
    """The session of a living agent that this process belongs to; None for a person's.

    It is inside where it is in the agent's namespace, or descends from a shim, of whichever workspace. In doubt it is:
    where it is in a namespace that is neither the machine's own nor one from which a living agent was started, an agent
    may have made that to hide in.
    """
    ancestors = tuple(_list_ancestors())
    above = next(filter(None, map(_read_shim, ancestors)), None)
    if above is not None:
        return above
    living = list_living(home)
    if not living:
        return None
    own = _find_namespace()
    outside = set()
    for attempt in living:
        pids = _load_pids(attempt.folder)
        if pids is None:
            if is_alive(attempt.folder):
                return attempt.session_id
            continue
        outside.add(pids.outer)
        is_within = pids.contained == "namespace" and pids.inner == own
        if is_within or (pids.outer == own and {pids.shim, pids.keeper} & {*ancestors}):
            return attempt.session_id
    is_known = own in outside or own in {0, _FIRST_NAMESPACE} or not outside
    return None if is_known else living[0].session_id


def _read_shim(pid: int) -> str | None:
    """The session of a process that is a shim or the keeper that it forked; None where it is neither."""
    folder = _read_shim_folder(pid)
    return folder.split("/")[-2] if folder.count("/") > 1 else None


def _read_shim_folder(pid: int) -> str:
    """The attempt's folder that a shim was given; "" where the process is none."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(_MAX_RESULT_BYTES).split(b"\0")
    except OSError:
        return ""
    if _SHIM.encode() not in words:
        return ""
    return os.fsdecode(b"".join(words[words.index(_SHIM.encode()) + 2 :][:1]))


class _Pids(NamedTuple):
    contained: str
    shim: int
    keeper: int
    outer: int
    inner: int


def _load_pids(folder: str) -> _Pids | None:
    """Which processes an attempt has. One that has just been started is about to say so."""
    last = time.monotonic() + _PIDS_SECONDS
    while True:
        with suppress(ValueError, TypeError, KeyError):
            facts: Any = json.loads(_read_small(f"{folder}/pids.json"))
            if all(type(facts[name]) is int for name in _Pids._fields[1:]):
                return _Pids(**facts)
        if time.monotonic() > last or not is_alive(folder):
            return None
        time.sleep(_ASK_SECONDS)


def _find_namespace() -> int:
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def _list_ancestors() -> Iterator[int]:
    """The processes above this one, from the nearest."""
    parents = _list_parents()
    pid = os.getppid()
    for _ in range(len(parents) + 1 if parents else 1 << 16):
        if pid <= 0:
            return
        yield pid
        pid = parents.get(pid, 0) if parents else _find_parent(pid)


def _find_parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read(1024).rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _list_parents() -> dict[int, int]:
    """The parent of each process, where there is no `/proc` to look it up."""
    if os.path.exists("/proc/self/stat"):
        return {}
    told = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=False)  # noqa: S607 - the system's
    pairs = [line.split() for line in told.stdout.splitlines()]
    return {int(pid): int(parent) for pid, parent in pairs}


def has_session(home: Home, session_id: str) -> bool:
    """Whether a session has a folder."""
    if not _is_id(session_id):
        return False
    folder = os.path.dirname(find_folder(home, session_id, 1))
    return os.path.isdir(folder) and not os.path.islink(folder)


def measure_sessions(home: Home) -> dict[str, int]:
    """The sessions that have a folder, and how many bytes are in it. No link is followed."""
    place = f"{home.folder}/{SESSIONS}"
    names = [] if os.path.islink(place) else _list_folders(place)
    return {name: _measure_folder(f"{place}/{name}") for name in names if _is_id(name)}


def _list_folders(place: str) -> list[str]:
    try:
        with os.scandir(place) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _measure_folder(folder: str) -> int:
    size, waiting = 0, [folder]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    size += entry.stat(follow_symlinks=False).st_size
    return size


def remove_session(home: Home, session_id: str) -> bool:
    """Remove a session with all of its attempts; whether there was one. One that is alive stays."""
    folder = os.path.dirname(find_folder(home, session_id, 1))
    if os.path.islink(folder) or not os.path.isdir(folder):
        return False
    from shutil import rmtree  # noqa: PLC0415 - only for this

    for name in os.listdir(folder):
        if is_alive(f"{folder}/{name}"):
            raise BusyError(f"session {session_id} is at work", hint=f"end it first: remit cancel {session_id}")
    try:
        rmtree(folder)
    except OSError as error:
        raise tell_failure(folder, error) from error
    return True

"""Commands of Remit that a confined agent requests over a Unix socket: both sides of the socket and its protocol.

The ledger is read-only for a confined agent, so the supervisor of its run executes such commands. It listens in the
folder of the attempt, where the agent can connect but not write. A request is a command line, a ticket and three open
files. Remit starts itself with them, outside of the confinement and with the supervisor's environment. The owner of a
`CallServer` decides which calls are admitted.
"""

from __future__ import annotations

import array
import json
import os
import select
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from remit.errors import RefusedError, RemitError, UsageError
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from subprocess import Popen

    Admit = Callable[[Sequence[str], str, int], None]

NAME = "calls"
MAX_BYTES = 4 * 1024 * 1024
"""The size limit of a request."""
MAX_AT_ONCE = 16
"""How many calls of one agent are executed at once."""
_REQUEST_S, _END_S, _POLL_S = 10.0, 5.0, 0.2
_CONNECT_S, _RETRY_S = 5.0, 0.05
"""How long to wait for a supervisor that is just starting, or taking over."""
_LENGTH, _CREDENTIALS = struct.Struct("!Q"), struct.Struct("3i")
_FILES = 3
_REFUSED_STATUS = 2
_OWN_COMMAND = "call Remit by its own command line"


class ConfinedCall(NamedTuple):
    """A request of a confined agent."""

    words: tuple[str, ...]
    ticket: str
    files: tuple[int, ...]
    """Its standard input, output and error."""


class CallServer:
    """Executes the calls of one confined agent while its attempt runs."""

    def __init__(self, folder: str, admit: Admit, *, root: str, environ: Mapping[str, str], ticket: str) -> None:
        """Listen in the folder of an attempt.

        `admit` raises `RemitError` to refuse a command line, a ticket and a process. `ticket` is the environment
        variable in which a command finds its caller's ticket.
        """
        self._admit, self._root, self._environ, self._ticket = admit, root, dict(environ), ticket
        self._lock = threading.Lock()
        self._processes: set[Popen[bytes]] = set()
        self._count = 0
        self._is_closed = False
        self._listener = _listen(folder)
        threading.Thread(target=self._accept, name="remit-calls", daemon=True).start()

    def close(self) -> None:
        """Accept no more calls, and end those that are running: nested runs end with their caller."""
        with self._lock:
            self._is_closed = True
            processes = [*self._processes]
        with suppress(OSError):  # wakes the thread that accepts
            self._listener.shutdown(socket.SHUT_RDWR)
        for process in processes:
            process.terminate()

    def _accept(self) -> None:
        with self._listener:
            while not self._is_closed:
                try:
                    connection = self._listener.accept()[0]
                except OSError:  # closed, or too many open files
                    time.sleep(_POLL_S)
                    continue
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        answer: dict[str, Any] = {"status": _REFUSED_STATUS}
        with connection:
            try:
                with self._lock:
                    self._count += 1
                    is_full = self._count > MAX_AT_ONCE
                if is_full:
                    message = f"{MAX_AT_ONCE} calls of this agent are running"
                    raise RefusedError(message, hint="wait for one of them")
                answer = {"status": self._execute(connection)}
            except RemitError as error:
                answer |= {"error": error.message, "hint": error.hint}
            except OSError as error:
                answer |= {"error": f"the call failed: {error}", "hint": "call again"}
            finally:
                with self._lock:
                    self._count -= 1
            with suppress(OSError):  # the agent no longer waits
                connection.sendall(json.dumps(answer).encode())

    def _execute(self, connection: socket.socket) -> int:
        connection.settimeout(_REQUEST_S)
        call = _receive(connection)
        try:
            data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            self._admit(call.words, call.ticket, _CREDENTIALS.unpack(data)[0])
            with self._lock:
                if self._is_closed:
                    raise RefusedError("this run has ended", hint="hand back what you have")
                process = self._start(call)
                self._processes.add(process)
        finally:
            for handle in call.files:
                os.close(handle)
        try:
            return _wait(process, connection)
        finally:
            with self._lock:
                self._processes.discard(process)

    def _start(self, call: ConfinedCall) -> Popen[bytes]:
        from subprocess import Popen  # noqa: PLC0415 - not needed on the agent's side

        stdin, stdout, stderr = call.files
        return Popen(  # noqa: S603 - Remit itself; `-P`: the folder is the agent's to write
            [sys.executable, "-P", "-m", "remit", *call.words],
            stdin=stdin, stdout=stdout, stderr=stderr, env={**self._environ, self._ticket: call.ticket},
            cwd=self._root, start_new_session=True,
        )  # fmt: skip


def _listen(folder: str) -> socket.socket:
    """Listen in the folder of an attempt. An existing socket was left by a supervisor that is gone."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(FileNotFoundError):
            os.unlink(NAME, dir_fd=handle)
        listener.bind(f"/proc/self/fd/{handle}/{NAME}")  # the path of a socket is limited to 107 bytes
        listener.listen(2 * MAX_AT_ONCE)
    except BaseException:
        listener.close()
        raise
    finally:
        os.close(handle)
    return listener


def _receive(connection: socket.socket) -> ConfinedCall:
    """Receive a request: its length with the three open files, then a JSON object."""
    room = socket.CMSG_SPACE(_FILES * array.array("i").itemsize)
    head, messages, flags, _ = connection.recvmsg(_LENGTH.size, room, socket.MSG_CMSG_CLOEXEC)
    files = array.array("i")
    for level, kind, data in messages:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    try:
        words, ticket = _read_body(_receive_body(connection, _check_head(head, len(files), flags)))
    except BaseException:
        for handle in files:
            os.close(handle)
        raise
    return ConfinedCall(words, ticket, tuple(files))


def _check_head(head: bytes, files: int, flags: int) -> int:
    """Return the length of a request."""
    if files != _FILES or flags & socket.MSG_CTRUNC or len(head) != _LENGTH.size:
        raise RefusedError("the request has no standard input, output and error", hint=_OWN_COMMAND)
    size: int = _LENGTH.unpack(head)[0]
    if size > MAX_BYTES:
        message = f"the request has {size:,} bytes; the limit is {MAX_BYTES:,}"
        raise RefusedError(message, hint="give the prompt on standard input: -")
    return size


def _receive_body(connection: socket.socket, size: int) -> bytes:
    data, last = bytearray(), time.monotonic() + _REQUEST_S
    while len(data) < size:
        piece = connection.recv(min(1 << 16, size - len(data)))
        if not piece or time.monotonic() > last:
            raise RefusedError("the request is cut off", hint="call again")
        data += piece
    return bytes(data)


def _read_body(data: bytes) -> tuple[tuple[str, ...], str]:
    try:
        request = json.loads(data)
        texts = [*request["words"], request["ticket"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        texts = [None]
    if not all(isinstance(each, str) and "\0" not in each for each in texts):
        raise RefusedError("the request isn't a command line with a ticket", hint=_OWN_COMMAND)
    *words, ticket = map(str, texts)
    return tuple(words), ticket


def _wait(process: Popen[bytes], connection: socket.socket) -> int:
    """Wait for a command; end it if the agent no longer waits. Return its exit status as a shell counts it."""
    from subprocess import TimeoutExpired  # noqa: PLC0415 - as above

    is_awaited, last = True, 0.0
    while process.poll() is None:
        if is_awaited and select.select([connection], [], [], _POLL_S)[0] and not _has_more(connection):
            is_awaited, last = False, time.monotonic() + _END_S
            process.terminate()
        elif not is_awaited:
            with suppress(TimeoutExpired):
                process.wait(_POLL_S)
            if time.monotonic() > last:
                process.kill()
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def _has_more(connection: socket.socket) -> bool:
    """Return whether the agent still waits. Anything that it sends after its request is dropped."""
    try:
        return bool(connection.recv(1 << 16))
    except OSError:
        return False


# The agent's side


def send_call(path: str, words: Sequence[str], ticket: str, *, file: str = "") -> int:
    """Have the supervisor that listens at a path execute a command; return its exit code.

    `file`: the command's standard input. Default: that of this process.
    """
    body = json.dumps({"words": [*words], "ticket": ticket}).encode()
    stdin = _open_input(file)
    with _connect(path) as connection:
        files = array.array("i", (stdin, 1, 2))
        with suppress(OSError):  # refused before all of it was read: the reply has the reason
            connection.sendmsg([_LENGTH.pack(len(body))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
            connection.sendall(body)
        answer = bytearray()
        with suppress(OSError):
            while piece := connection.recv(1 << 16):
                answer += piece
    if not answer:
        hint = "`remit wait`, outside of the confinement, takes over; a nested run that was started continues"
        raise RemitError("the supervisor of this run ended before the command did", hint=hint)
    reply = json.loads(answer)
    if "error" in reply:
        raise RefusedError(str(reply["error"]), hint=str(reply.get("hint", "")))
    return int(reply["status"])


def _open_input(file: str) -> int:
    try:
        return os.open(file, os.O_RDONLY | os.O_CLOEXEC) if file else os.dup(0)
    except OSError as error:
        if not file:  # standard input is closed
            return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"'{file}' can't be read: {reason}", hint="check the path and its permissions") from error


def _connect(path: str) -> socket.socket:
    """Connect to a supervisor, which may just be starting or taking over."""
    last = time.monotonic() + _CONNECT_S
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                connection.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
            finally:
                os.close(folder)
        except OSError as error:
            connection.close()
            if time.monotonic() > last:
                hint = "`remit wait`, outside of the confinement, takes the run over; then call again"
                raise RemitError(f"the supervisor of this run can't be reached: {error.strerror}", hint=hint) from error
            time.sleep(_RETRY_S)
        else:
            return connection

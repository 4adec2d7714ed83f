"""Tracing: run something in a child of this process while strace looks on, counts its syscalls and injects a fault.

Owns strace. The child is forked from a process that has loaded everything already and waits until strace has attached
itself, so a point costs milliseconds and the interpreter's start is not among what is counted. strace kills before the
syscall is carried out: to kill at every one is to see every state that lies between two of them.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

PATIENCE_SECONDS = 100
"""More than anything in the house waits for a lock."""

_SET_PTRACER, _ANY_PROCESS = 0x59616D61, ctypes.c_ulong(-1)
_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)
_CALL = re.compile(r"(?:(?P<pid>\d+) +)?(?P<name>[a-z]\w*)\((?P<rest>.*)")

# They change nothing outside the process and open nothing: to be killed at one of them is to be killed at the next
# syscall that does. How often some of them come depends on time alone.
INWARD = frozenset({
    "brk", "mmap", "munmap", "mprotect", "mremap", "madvise", "futex", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
    "rt_sigtimedwait", "restart_syscall", "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getcwd",
    "clock_gettime", "clock_nanosleep", "nanosleep", "gettimeofday", "getrandom", "sched_yield", "sched_getaffinity",
    "wait4", "epoll_wait", "prlimit64", "sysinfo", "uname", "exit_group", "set_robust_list", "rseq", "arch_prctl",
    "set_tid_address",
})  # fmt: skip


class Fault(NamedTuple):
    """What strace does at the n-th call of a name: a signal, or an error instead of the call."""

    syscall: str
    number: int
    what: str
    """As strace spells it: `signal=SIGKILL`, `error=ENOSPC`."""
    onwards: bool = False
    """Whether every later call fares the same: a disk that is full stays full."""

    @property
    def option(self) -> str:
        """The option that makes strace do it."""
        return f"inject={self.syscall}:{self.what}:when={self.number}{'+' * self.onwards}"


class Ending(NamedTuple):
    """How a child ended, what it said, and what strace saw."""

    code: int
    """The exit code; below zero the signal, as in `subprocess`."""
    stdout: str
    stderr: str
    trace: tuple[str, ...]

    @property
    def was_killed(self) -> bool:
        """Whether the fault was the end of it, or of one of its children."""
        return any(line.endswith("+++ killed by SIGKILL +++") for line in self.trace)

    @property
    def was_injected(self) -> bool:
        """Whether an error was given instead of a call."""
        return any("(INJECTED)" in line for line in self.trace)


class NoTracingError(Exception):
    """strace is not there, or may not trace here."""


class HungError(Exception):
    """A child did not end."""


def find_obstacle() -> str | None:
    """Why nothing can be traced here; None where it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    try:
        ending = run_traced(lambda: 0, scratch=Path(os.devnull).parent, fault=None)
    except NoTracingError as error:
        return str(error)
    return None if ending.code == 0 else "strace cannot trace a child here"


def run_traced(
    action: Callable[[], int],
    *,
    scratch: Path,
    fault: Fault | None,
    beside: Sequence[Callable[[], int]] = (),
    in_children: bool = False,
) -> Ending:
    """Run an action in a child under strace; others `beside` it in children of their own, untraced, from the same go.

    `in_children`: what the action starts is traced as well. What any of them leaves running is waited for, too: a
    process that outlives its parent still writes.
    """
    _LIBC.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    log, out, err = (_name_scratch(scratch, kind) for kind in ("trace", "out", "err"))
    child = _fork_waiting(action, out, err)
    others = [_fork_waiting(each, os.devnull, os.devnull) for each in beside]
    tracer = 0
    try:
        with _limit_time():
            tracer = _attach(child, log, fault, in_children=in_children)
            for pid in (child, *others):
                os.kill(pid, signal.SIGUSR1)
            codes = dict(_reap_all())
    except BaseException:
        for pid in (child, *others, tracer):
            if pid:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for _ in _reap_all():
            pass
        raise
    if any(codes[pid] != 0 for pid in others):
        raise AssertionError(f"what ran beside it failed with {[codes[pid] for pid in others]}")
    return Ending(codes[child], _take(out), _take(err), tuple(_take(log).splitlines()))


def run_plainly(action: Callable[[], int], *, scratch: Path) -> Ending:
    """Run an action in a child, undisturbed."""
    out, err = (_name_scratch(scratch, kind) for kind in ("out", "err"))
    child = _fork_waiting(action, out, err)
    os.kill(child, signal.SIGUSR1)
    with _limit_time():
        codes = dict(_reap_all())
    return Ending(codes[child], _take(out), _take(err), ())


def list_calls(trace: Sequence[str], *, after: str = "") -> list[tuple[str, int, str]]:
    """The calls of a trace that can be told apart from outside: name, number among those of its name, arguments.

    With `after`, those from the first on that mentions a path. Of several processes, the n-th calls are one.
    """
    counts: dict[tuple[str, str], int] = {}
    found: dict[tuple[str, int], str] = {}
    begun = not after
    for line in trace:
        match = _CALL.match(line)
        if match is None:
            continue
        name, key = match["name"], (match["pid"] or "", match["name"])
        counts[key] = counts.get(key, 0) + 1
        begun = begun or after in line
        if begun and name not in INWARD:
            found.setdefault((name, counts[key]), match["rest"])
    return [(name, number, rest) for (name, number), rest in found.items()]


def _name_scratch(scratch: Path, kind: str) -> str:
    if not os.access(scratch, os.W_OK) or scratch == Path("/dev"):
        return os.devnull
    return str(scratch / f"{kind}.{os.getpid()}")


def _take(file: str) -> str:
    if file == os.devnull:
        return ""
    path = Path(file)
    text = path.read_text(encoding="utf-8", errors="replace")
    path.unlink()
    return text


def _fork_waiting(action: Callable[[], int], out: str, err: str) -> int:
    """A child that has nothing left to do but to wait for SIGUSR1 and to begin."""
    sys.stdout.flush()
    sys.stderr.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    hear, tell = os.pipe()
    child = os.fork()
    if child:
        os.close(tell)
        os.read(hear, 1)
        os.close(hear)
        return child
    try:
        os.close(hear)
        _LIBC.prctl(_SET_PTRACER, _ANY_PROCESS, 0, 0, 0)
        for number, file in ((1, out), (2, err)):
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(handle, number)
            os.close(handle)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - descriptors, for good
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
        os.close(tell)  # ready: what follows is counted
        signal.sigwait({signal.SIGUSR1})
        code = action()
        os._exit(code)  # as `remit` ends: what is not written by now is not written
    except BaseException:  # noqa: BLE001 - the child's last line: nothing of the parent's may run in it
        import traceback  # noqa: PLC0415 - only for this

        traceback.print_exc()
        os._exit(70)


def _attach(child: int, log: str, fault: Fault | None, *, in_children: bool) -> int:
    """Set strace on a child that waits; back when strace has it in hand."""
    program = shutil.which("strace")
    if program is None:
        raise NoTracingError("strace is not installed")
    options = ["-e", "trace=all"] if fault is None else ["-e", f"trace={fault.syscall}", "-e", fault.option]
    hear, tell = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, tell, 2), (os.POSIX_SPAWN_CLOSE, hear), (os.POSIX_SPAWN_CLOSE, tell)]
    follow = ["-f"] if in_children else []
    arguments = [program, *follow, "-o", log, "-s", "400", *options, "-p", str(child)]
    tracer = os.posix_spawn(program, arguments, os.environ, file_actions=actions)
    os.close(tell)
    said = b""
    try:
        while b"attached" not in said:
            piece = os.read(hear, 4096)
            if not piece:
                os.kill(child, signal.SIGKILL)
                raise NoTracingError(f"strace may not trace here: {said.decode('utf-8', 'replace').strip()}")
            said += piece
    finally:
        os.close(hear)
    return tracer


def _reap_all() -> Iterator[tuple[int, int]]:
    """Wait for every child, also for those that were left to us."""
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return
        yield pid, os.waitstatus_to_exitcode(status)


class _limit_time:  # noqa: N801 - reads as what it does: with _limit_time()
    """A child that hangs is a finding, and must not hang the torture."""

    def __enter__(self) -> None:
        def ring(number: int, frame: FrameType | None) -> None:
            del number, frame
            raise HungError(f"did not end within {PATIENCE_SECONDS} s")

        signal.signal(signal.SIGALRM, ring)
        signal.alarm(PATIENCE_SECONDS)

    def __exit__(self, *_: object) -> None:
        signal.alarm(0)


def main() -> None:
    """Say whether tracing works here, and what a point costs."""
    obstacle = find_obstacle()
    began = time.perf_counter()
    if obstacle is None:
        run_traced(lambda: 0, scratch=Path("/dev"), fault=None)
    print(obstacle or f"strace works here: {1000 * (time.perf_counter() - began):.0f} ms a point")


if __name__ == "__main__":
    main()

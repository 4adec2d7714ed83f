"""Large and hostile messages, read in a process of their own.

A reader may hang, recurse to death or take the process with it. Each message has a limit of CPU time, which a busy
machine does not shorten; a child that dies is replaced, and the next message goes on. Only the reading counts, not
the making of the message.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from bench import accuracy
from bench.corpus.large import large_case
from bench.peers import Peer, find_peer

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT_SECONDS: Final = 2.0
# Loading a peer, making a message, or waiting for a reader that sleeps: for these nothing else sets an end.
_PATIENCE_SECONDS: Final = 120.0
_MEMORY_BYTES: Final = 6 * 2**30
_SCRIPT: Final = Path(__file__).with_name("contract.py")


@dataclass(frozen=True, slots=True)
class Ordeal:
    """What became of one large message: right or not, and after how many milliseconds of CPU."""

    name: str
    right: bool
    verdict: str
    spent_ms: float


class _Child:
    """A process that reads messages for one peer; a thread collects its lines, so that waiting can end."""

    def __init__(self, peer: Peer) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this very script
            [sys.executable, str(_SCRIPT), "--worker", peer.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._collect, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def _collect(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put(None)

    def answer(self) -> str | None:
        """The next line, or None when the child is dead or silent for too long."""
        try:
            return self._lines.get(timeout=_PATIENCE_SECONDS)
        except queue.Empty:
            return None

    def ask(self, name: str) -> Ordeal:
        """What becomes of one message."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{name}\n")
            self._process.stdin.flush()
        line = self.answer()
        if line is None:
            return Ordeal(name, right=False, verdict=self._ending(), spent_ms=LIMIT_SECONDS * 1000)
        told = json.loads(line)
        return Ordeal(name, told["right"], told["verdict"], told["spent_ms"])

    def _ending(self) -> str:
        """Why the child said nothing more: out of time, or dead of something else."""
        try:
            return "timeout" if self._process.wait(timeout=5) == -signal.SIGPROF else "crash"
        except subprocess.TimeoutExpired:
            return "timeout"


def run_large(peer: Peer, wanted: Sequence[str]) -> list[Ordeal]:
    """The large messages of these names, read by `peer` in child processes."""
    results: list[Ordeal] = []
    names = list(wanted)
    while names:
        with _Child(peer) as child:
            if child.answer() is None:
                return [*results, *(Ordeal(name, right=False, verdict="no start", spent_ms=0.0) for name in names)]
            while names:
                ordeal = child.ask(names.pop(0))
                results.append(ordeal)
                if ordeal.verdict in {"timeout", "crash"}:
                    break
    return results


def serve(peer_name: str) -> None:
    """The child's side: a name comes in on stdin, one line of JSON goes out."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))
    peer = find_peer(peer_name)
    # Whatever a library prints must not get between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    read = peer.load()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        case = large_case(line.strip())
        verdict, right = "refused", False
        # No handler: native code would never come back to run one, and the default action ends the process.
        signal.setitimer(signal.ITIMER_PROF, LIMIT_SECONDS)
        start = time.process_time()
        try:
            payload = accuracy.accepted(peer, read, case)
            spent_ms = (time.process_time() - start) * 1000
        except BaseException as error:  # a panic of native code is no Exception
            spent_ms = (time.process_time() - start) * 1000
            verdict = type(error).__name__
        else:
            verdict = "refused" if payload is None else "accepted"
            right = accuracy.is_right(peer, case, payload)
        signal.setitimer(signal.ITIMER_PROF, 0)
        told = {"right": right, "verdict": verdict, "spent_ms": spent_ms}
        print(json.dumps(told), file=answers, flush=True)

"""Large and hostile messages, read in a process of their own.

A reader may hang, recurse to death or take the process with it. Each message has a time limit; a child that dies or is
too late is replaced, and the next message goes on. Only the reading is timed, not the making of the message.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import selectors
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench import accuracy
from bench.corpus.large import LARGE_NAMES, large_case
from bench.peers import Peer, find_peer

if TYPE_CHECKING:
    from collections.abc import Iterator

_START_SECONDS: Final = 120.0
_MEMORY_BYTES: Final = 6 * 2**30
_SCRIPT: Final = Path(__file__).with_name("contract.py")


@dataclass(frozen=True, slots=True)
class Ordeal:
    """What became of one large message: right or not, and after how many milliseconds of CPU."""

    name: str
    right: bool
    outcome: str
    spent_ms: float


def run_large(peer: Peer, *, limit_seconds: float) -> list[Ordeal]:
    """All large messages, read by `peer` in child processes."""
    results: list[Ordeal] = []
    names = list(LARGE_NAMES)
    while names:
        with _child(peer) as child:
            if _answer(child, _START_SECONDS) is None:
                return [*results, *(Ordeal(name, right=False, outcome="no start", spent_ms=0.0) for name in names)]
            while names:
                ordeal = _ask(child, names.pop(0), limit_seconds)
                results.append(ordeal)
                if ordeal.outcome in {"timeout", "crash"}:
                    break
    return results


def _ask(child: subprocess.Popen[str], name: str, limit_seconds: float) -> Ordeal:
    assert child.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        child.stdin.write(f"{name}\n")
        child.stdin.flush()
    made = _answer(child, _START_SECONDS)
    start = time.monotonic()
    line = made and _answer(child, limit_seconds)
    if not line:
        spent = time.monotonic() - start
        outcome = "timeout" if spent >= limit_seconds else "crash"
        return Ordeal(name, right=False, outcome=outcome, spent_ms=spent * 1000)
    told = json.loads(line)
    return Ordeal(name, told["right"], told["outcome"], told["spent_ms"])


@contextlib.contextmanager
def _child(peer: Peer) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(  # noqa: S603 - this very script
        [sys.executable, str(_SCRIPT), "--worker", peer.name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def _answer(child: subprocess.Popen[str], timeout_seconds: float) -> str | None:
    """The child's next line, or None when it is too late or dead."""
    assert child.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        if not selector.select(timeout_seconds):
            return None
    return child.stdout.readline() or None


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
        print("made", file=answers, flush=True)
        outcome, right = "refused", False
        start = time.process_time()
        try:
            payload = accuracy.accepted(peer, read, case)
            spent_ms = (time.process_time() - start) * 1000
        except BaseException as error:  # a panic of native code is no Exception
            spent_ms = (time.process_time() - start) * 1000
            outcome = type(error).__name__
        else:
            outcome = "refused" if payload is None else "accepted"
            right = accuracy.is_right(peer, case, payload)
        told = {"right": right, "outcome": outcome, "spent_ms": spent_ms}
        print(json.dumps(told), file=answers, flush=True)

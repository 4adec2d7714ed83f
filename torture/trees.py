"""Agents that leave processes behind in every way there is, and who of them is still alive.

All that an agent starts has its marker in the environment, by which it is found again, whoever its parent is now.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from remit.attempts.folders import AttemptFolder, make_attempt
from remit.attempts.results import Contained, ShimResult, load_result, wait_result
from remit.attempts.start import ShimOrder, Started, start_shim
from remit.ledger.home import Home

if TYPE_CHECKING:
    from collections.abc import Callable

_MARKER = "REMIT_TEST_TREE"
_DEAF = "trap '' TERM INT HUP; while :; do sleep 60; done"
# In the words of a shell: each of these outlives the process group of who started it, or its signals.
WAYS = {
    "plain": ("sleep 60 &", 1),
    "setsid": ("setsid sleep 60 &", 1),
    "double fork": ("(setsid sh -c 'sleep 60 &' &)", 1),
    "nohup": ("nohup sleep 60 </dev/null >/dev/null 2>&1 &", 1),
    "deaf": (f'setsid sh -c "{_DEAF}" &', 2),
    "crowd": ("for i in $(seq 50); do setsid sleep 60 & done", 50),
    "holds the output": ("setsid sleep 60 2>&1 &", 1),
}
_RABBIT = (
    "import os, time\nend = time.time() + 30\nwhile time.time() < end:\n    if os.fork(): os._exit(0)\n    os.setsid()"
)
"""A process that is never there for long: its child goes on, in a session of its own. Should it get away, it ends."""


class Forest(NamedTuple):
    """An agent at work, with a marker."""

    attempt: AttemptFolder
    started: Started
    marker: str
    gate: str
    """A pipe that the agent reads: it ends when something comes."""
    deadline: float = 0.0
    """When it is ended, by the clock on the wall."""

    def count_living(self) -> int:
        """How many of its processes are alive."""
        return len(find_marked(self.marker))

    def wait_for(self, number: int) -> int:
        """Wait until so many are alive at least."""
        assert wait_until(lambda: self.count_living() >= number), f"{self.count_living()} of {number} are alive"
        return self.count_living()

    def let_go(self) -> None:
        """Let the agent end by itself."""
        assert wait_until(self._open_gate), "the agent does not wait"

    def _open_gate(self) -> bool:
        try:
            handle = os.open(self.gate, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads yet
            return False
        os.write(handle, b"go\n")
        os.close(handle)
        return True

    def wait(self) -> ShimResult | None:
        """How it ended."""
        return asyncio.run(wait_result(self.attempt.folder, started=self.started))

    def result(self) -> ShimResult:
        """How it ended, where it must have."""
        self.wait()
        found = load_result(self.attempt.folder)
        assert found is not None
        return found


def wait_until(is_so: Callable[[], bool], *, seconds: float = 10.0) -> bool:
    """Whether something has become so in a while."""
    last = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > last:
            return False
        time.sleep(0.005)
    return True


def find_marked(marker: str) -> list[int]:
    """The processes whose environment has a marker: those that an agent has planted, and not dead."""
    wanted, found = f"{_MARKER}={marker}".encode(), []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError):
                is_marked = wanted in (place / "environ").read_bytes().split(b"\0")
                if is_marked and b"import shim" not in (place / "cmdline").read_bytes():
                    found.append(int(place.name))
    return found


def plant(ways: list[str], *, rabbit: bool = False, deaf: bool = True) -> tuple[str, int]:
    """The words of a shell for an agent that starts such processes and then waits; how many will be alive."""
    lines = [WAYS[way][0] for way in ways]
    if rabbit:
        lines.append(f"{sys.executable} -I -S -c '{_RABBIT}' &")
    wait = 'until read -r go < "$GATE"; do :; done'  # without a process of its own, which would be counted
    trap = "trap '' TERM" if deaf else ":"
    return "\n".join([trap, *lines, wait, "echo done"]), sum(WAYS[way][1] for way in ways) + 1


def start(root: Path, script: str, *, contain: Contained = "namespace", seconds: float = 60.0) -> Forest:
    """Start a shell with these words as an agent."""
    marker = secrets.token_hex(8)
    home = Home(str(root))
    gate = f"{root}/{marker}.gate"
    os.mkfifo(gate)
    environ = {"PATH": os.environ["PATH"], _MARKER: marker, "GATE": gate}
    deadline = time.time() + seconds
    order = ShimOrder(("sh", "-c", script), str(root), int(deadline * 1000), environ, contain=contain)
    attempt = make_attempt(home, f"sess_1_{marker[:6]}", 1)
    return Forest(attempt, start_shim(home, attempt, order), marker, gate, deadline)

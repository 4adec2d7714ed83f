"""Machines for tests: real `remit worker start` processes, each with a home, a key and folders of its own.

A machine can be killed, frozen, ended and started again; `lose_power` ends its agents with it. What a worker says is
its log, a line of JSON for each event.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

KEY = "REMIT_CLUSTER_KEY"
MARK = "REMIT_TEST_MACHINE"
"""In the environment of all that a machine runs: by it they are found."""
START_S = 30.0
END_S = 20.0
WATCH_S = 30.0
_LOOK_S = 0.02
_STOPPED = "TX"


class Settings:
    """How the workers of a test work: short leases, so that nobody waits."""

    def __init__(self, *, lease: float = 2, poll: float = 0.05, save_every: float = 30, more: str = "") -> None:
        self.lease = lease
        self.text = f"{more}\n[cluster]\nlease = {lease}\npoll = {poll}\nsave_every = {save_every}\n"


class Machine:
    """One machine with one worker."""

    def __init__(
        self, folder: Path, url: str, key: str, *, settings: Settings, concurrency: int = 4,
        agents: Sequence[str] = (), environ: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.folder = folder
        self.name = folder.name
        self.log = folder / "log"
        self.state = folder / "state"
        self._place = folder / "here"
        self._place.mkdir(parents=True)
        (self._place / "remit.toml").write_text(settings.text)
        self._environ = {**os.environ, **make_environ(folder, url, key), MARK: str(folder), **(environ or {})}
        self._options = ["--concurrency", str(concurrency), *(["--agents", ",".join(agents)] if agents else [])]
        self._process: subprocess.Popen[bytes] | None = None

    def __repr__(self) -> str:
        return f"Machine({self.name})"

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The worker."""
        assert self._process is not None, f"{self.name} was never started"
        return self._process

    @property
    def pid(self) -> int:
        """The worker's process."""
        return self.process.pid

    def start(self) -> None:
        """Start the worker, and do not wait for it."""
        assert self._process is None or self._process.poll() is not None, f"{self.name} is at work"
        command = [
            sys.executable,
            "-m",
            "remit",
            "worker",
            "start",
            "--json",
            "--name",
            self.name,
            "--state",
            str(self.state),
        ]
        with self.log.open("ab") as log:
            self._seen = log.tell()
            self._process = subprocess.Popen(
                [*command, *self._options], cwd=self._place, env=self._environ, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, start_new_session=True,
            )  # fmt: skip

    def wait_ready(self) -> None:
        """Wait until the worker takes sessions."""
        self.wait_for("ready", since=self._seen, seconds=START_S)

    def list_events(self, since: int = 0) -> list[dict[str, Any]]:
        """What it has said so far."""
        lines = self.log.read_bytes()[since:].splitlines(keepends=True)
        found = (json.loads(line) for line in lines if line.startswith(b"{") and line.endswith(b"\n"))
        return [each for each in found if "event" in each]

    def wait_for(self, kind: str, *, since: int = 0, seconds: float = WATCH_S, session: str = "") -> dict[str, Any]:
        """Wait until it says something of a kind; what that was."""
        last = time.monotonic() + seconds
        while True:
            for event in self.list_events(since):
                if event["event"] == kind and session in ("", event.get("session_id")):
                    return event
            if self.process.poll() is not None and kind != "ended":
                raise AssertionError(f"{self.name} has ended: {self.log.read_text()}")
            if time.monotonic() > last:
                raise AssertionError(f"{self.name} said nothing of {kind} within {seconds} s: {self.log.read_text()}")
            time.sleep(_LOOK_S)

    # --- what happens to machines -------------------------------------------------------------------------------------

    def kill(self) -> None:
        """Kill the worker alone: its agents go on."""
        self.process.kill()
        self.process.wait()

    def lose_power(self) -> None:
        """End all that runs on it, at once."""
        self.kill()
        while found := list_processes(self.folder):
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(_LOOK_S)

    def freeze(self) -> None:
        """Stop the worker where it is, until it is thawed; its agents go on."""
        os.kill(self.pid, signal.SIGSTOP)
        wait_until(lambda: _read_state(self.pid) in _STOPPED, f"{self.name} is frozen")

    def thaw(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def stop(self) -> int:
        """Ask the worker to end, as systemd does; its exit code."""
        self.process.terminate()
        return self.process.wait(END_S)

    def end(self) -> None:
        """Leave nothing of it behind."""
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGCONT)
        if self._process is not None:
            self.lose_power()


def make_environ(folder: Path, url: str, key: str) -> dict[str, str]:
    """What makes a process one of a machine of its own: its home, and the way to the others."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    return {
        "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "XDG_STATE_HOME": str(home / "state"),
        "REMIT_BACKEND": url, KEY: key,
    }  # fmt: skip


@contextmanager
def machines(
    folder: Path, url: str, number: int = 1, *, key: str, settings: Settings | None = None, concurrency: int = 4,
    agents: Mapping[int, Sequence[str]] | None = None, environ: Mapping[str, str] | None = None,
) -> Iterator[list[Machine]]:  # fmt: skip
    """So many machines, ready; nothing of them is left afterwards."""
    made = [
        Machine(
            folder / f"m{index}", url, key, settings=settings or Settings(), concurrency=concurrency,
            agents=(agents or {}).get(index, ()), environ=environ,
        )
        for index in range(1, number + 1)
    ]  # fmt: skip
    try:
        for machine in made:
            machine.start()
        for machine in made:
            machine.wait_ready()
        yield made
    finally:
        for machine in made:
            machine.end()


def list_processes(folder: Path) -> list[int]:
    """The processes of a machine, its agents and all that they have started."""
    mark = f"{MARK}={folder}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdecimal() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return [pid for pid in found if _read_state(pid) != "Z"]


def _read_state(pid: int) -> str:
    """One letter; Z where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"

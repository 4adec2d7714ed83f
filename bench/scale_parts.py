"""What benchmarks of many machines have in common: a database, machines, and a workspace that delegates to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.delegate_parts import RETURN, make_repository
from tests.support import postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

POLL_S = 0.2
KEY = "5c" * 32
_FILES, _FILE_BYTES = 300, 10_000
_READY_S = 120.0


class Process(NamedTuple):
    """A machine: a process with a folder of its own."""

    process: subprocess.Popen[bytes]
    log: Path

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)


class Crowd:
    """Machines of one kind, which can be put to sleep while others are measured."""

    def __init__(self) -> None:
        self.machines: list[Process] = []

    def wait_ready(self) -> None:
        """Wait until each has said that it is."""
        last = time.monotonic() + _READY_S
        for machine in self.machines:
            while b"ready" not in machine.log.read_bytes():
                if machine.process.poll() is not None or time.monotonic() > last:
                    raise RuntimeError(f"a machine did not start: {machine.log.read_text(errors='replace')[-2000:]}")
                time.sleep(0.05)

    def freeze(self) -> None:
        """Let them do nothing at all."""
        for machine in self.machines:
            machine.send(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        for machine in self.machines:
            machine.send(signal.SIGCONT)

    def end(self) -> None:
        """End them."""
        self.thaw()
        for machine in self.machines:
            machine.send(signal.SIGTERM)
        for machine in self.machines:
            try:
                machine.process.wait(20)
            except subprocess.TimeoutExpired:
                machine.process.kill()
                machine.process.wait()

    def measure_busy_s(self) -> float:
        """The processor's time that they and all that they waited for have used so far."""
        return sum(map(measure_busy_s, (machine.process.pid for machine in self.machines)))


def measure_busy_s(pid: int) -> float:
    """The processor's time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serve() -> Iterator[postgres.Server]:
    """A PostgreSQL that keeps what it says it keeps."""
    postgres.SETTINGS.update({"fsync": "on", "full_page_writes": "on", "shared_buffers": "128MB"})
    with postgres.running() as server:
        yield server


def make_environ(url: str, folder: Path) -> dict[str, str]:
    """What a machine of a cluster finds in its environment."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("REMIT_", "XDG_"))}
    own = {"HOME": str(folder), "REMIT_BACKEND": url, "REMIT_CLUSTER_KEY": KEY, "NO_COLOR": "1"}
    return {**plain, **own, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}


def start(folder: Path, name: str, words: list[str], environ: dict[str, str]) -> Process:
    """Start a machine."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    log = place / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(  # noqa: S603 - ours
            [sys.executable, *words],
            cwd=place,
            env=environ,
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
    return Process(process, log)


def start_workers(folder: Path, url: str, count: int, concurrency: int) -> Crowd:
    """Workers of Remit."""
    crowd = Crowd()
    for number in range(count):
        name = f"remit-{number}"
        words = ["-m", "remit", "worker", "start", "--name", name, "--state", str(folder / name / "state")]
        words += ["--concurrency", str(concurrency)]
        crowd.machines.append(start(folder, name, words, make_environ(url, folder / name)))
    return crowd


def start_plain(folder: Path, url: str, count: int, concurrency: int, store: Path) -> Crowd:
    """Workers of plain DBOS."""
    crowd = Crowd()
    for number in range(count):
        name = f"plain-{number}"
        words = ["-m", "bench.scale_plain", url, name, str(concurrency), str(POLL_S), str(store)]
        crowd.machines.append(start(folder, name, words, make_environ(url, folder / name)))
    return crowd


def make_workspace(folder: Path) -> Path:
    """A repository of 300 files and 3 MB, with the agents in it."""
    root = folder / "workspace"
    root.mkdir()
    for number in range(_FILES):
        file = root / f"d{number % 17}" / f"f{number}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(os.urandom(_FILE_BYTES // 2).hex().encode())
    for seconds in (0, 1, 5):
        write_agent(root, seconds)
    (root / ".gitignore").write_text(".remit/\n")
    make_repository(root)
    return root


def write_agent(root: Path, seconds: float) -> None:
    """An agent that sleeps, writes a file and claims it."""
    told = RETURN.replace(
        '"artifacts": []', '"artifacts": [{"type": "report", "path": "made/%s.md", "summary": "It."}]'
    )
    words = f'printf \'```json\\n{told}\\n```\\n\' "$REMIT_SESSION_ID" "$REMIT_SESSION_ID"'
    lines = [f"sleep {seconds:g}"] * bool(seconds) + ["mkdir -p made", 'echo done > "made/$REMIT_SESSION_ID.md"', words]
    (root / f"agent-{seconds:g}.sh").write_text("\n".join(lines) + "\n")

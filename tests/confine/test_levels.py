"""Machines that enforce less, simulated by the kernel itself: what `remit doctor` and a run do there.

One has no user namespaces left (the kernel's own limit), one has no Landlock (a filter answers as a kernel without it).
Each simulation proves that it took effect before anything is tested in it.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from remit.confine import find_level
from remit.testing.agent import ScriptedAgent
from tests.support.confined_users import FAIL
from tests.support.git_command import git

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.confine import Level

WITHOUT_NAMESPACES = (
    'echo 0 > /proc/sys/user/max_user_namespaces && echo 0 > /proc/sys/user/max_mnt_namespaces && exec "$@"'
)
SIMULATIONS = {
    "none": ["unshare", "-Ur", "bash", "-c", WITHOUT_NAMESPACES, "bash"],
    "files": [sys.executable, "-I", "-c", FAIL, "444", "38", "-1", "0"],
}
PROOFS = {
    "none": "import ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.unshare(0x10020000), ctypes.get_errno())",
    "files": "import ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.syscall(444, None, 0, 1), ctypes.get_errno())",
}
ANSWERS = {"none": "-1 28", "files": "-1 38"}
WRITER = "---\nname: writer\ndescription: Writes.\npermissions:\n  allow:\n    - write: [docs/**]\n---\nWrite.\n"
TRIES = (
    "mkdir -p docs; echo x > docs/done; "
    "if echo evil > outside.md; then echo src >> docs/done; fi; if kill -0 {}; then echo signal >> docs/done; fi; "
)


class Machine:
    """A machine that enforces less, with a workspace of its own."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder, self.root = name, folder, folder / "root"
        (self.root / "agents").mkdir(parents=True)
        git(self.root, "init", "-q", "-b", "main")
        (self.root / "agents" / "writer.md").write_text(WRITER)
        homes = {"HOME": folder, "XDG_CACHE_HOME": folder / "cache", "XDG_CONFIG_HOME": folder / "config"}
        left_out = ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT", "REMIT_RETURN_FILE")
        self.environ = {name: value for name, value in os.environ.items() if name not in left_out}
        self.environ |= {name: str(path) for name, path in homes.items()} | {"PYTHONPATH": os.pathsep.join(sys.path)}

    def start(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command on this machine."""
        return subprocess.run([*SIMULATIONS[self.name], *words], capture_output=True, text=True, check=False,
                              cwd=self.root, env=self.environ, timeout=120)  # fmt: skip

    def remit(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run Remit on this machine."""
        return self.start(sys.executable, "-m", "remit", *words)

    def run_writer(self, other: int) -> tuple[subprocess.CompletedProcess[str], list[str]]:
        """Have the writer try what confinement may refuse; what worked."""
        shutil.rmtree(self.root / "docs", ignore_errors=True)
        command = ScriptedAgent(self.folder / "player").obeys({"docs/report.md": "# Report"}).command
        command = f"sh -c {shlex.quote(TRIES.format(other) + command)}"
        done = self.remit("run", "writer", "Write it.", "--command", command, "--json")
        file = self.root / "docs" / "done"
        return done, file.read_text().split() if file.exists() else []


@pytest.fixture(params=SIMULATIONS)
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    if os.uname().machine != "x86_64" or find_level().name != "full":
        pytest.skip("lower levels are simulated on a machine with the full one, on x86-64")
    folder = Path(tempfile.mkdtemp(prefix="remit-level-", dir="/var/tmp"))
    made = Machine(request.param, folder)
    proof = made.start(sys.executable, "-I", "-c", PROOFS[made.name])
    if "unshare: " in proof.stderr or "bash: line" in proof.stderr:
        pytest.skip(proof.stderr.strip())
    assert proof.stdout.strip() == ANSWERS[made.name], "the simulation took no effect"
    yield made
    shutil.rmtree(folder)


@pytest.fixture
def other() -> Iterator[int]:
    """A process that isn't the agent's."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process.pid
        process.kill()


@pytest.mark.slow
def test_doctor_reports_the_level_and_what_it_doesnt_stop(machine: Machine) -> None:
    (machine.root / "remit.toml").write_text('[confine]\nmode = "require"\n')
    done = machine.remit("doctor", "--json")
    level, settings = [row for row in json.loads(done.stdout)["checks"] if row["name"] == "confine"]
    assert level["state"] == "warning"
    assert level["message"].startswith(f"level {machine.name}, which doesn't stop: ")
    assert "signals reach all processes of the same user" in level["message"]
    writes = "all files that the user can write can be written"
    assert (writes in level["message"], settings["state"]) == {"none": (True, "problem"), "files": (False, "ok")}[
        machine.name
    ]


@pytest.mark.slow
def test_what_a_run_does_there(machine: Machine, other: int) -> None:
    """At `auto` the result says what wasn't enforced; at `require` nothing runs that the kernel doesn't limit."""
    done, worked = machine.run_writer(other)
    result: dict[str, Any] = json.loads(done.stdout)
    notes = [note for note in result["remit"].get("notes", []) if note.startswith("confine: ")]
    why = "the kernel gives no user and mount namespace: No space left on device"
    told = [f"confine: the agent's permissions weren't enforced by the kernel: {why}"]
    assert (worked, notes) == {"none": (["x", "src", "signal"], told), "files": (["x"], [])}[machine.name]

    (machine.root / "outside.md").unlink(missing_ok=True)
    (machine.root / "remit.toml").write_text('[confine]\nmode = "require"\n')
    done, worked = machine.run_writer(other)
    if machine.name == "none":
        assert worked == []
        assert (
            "an agent can't be confined here: the kernel gives no user and mount namespace" in done.stdout + done.stderr
        )
    else:
        assert worked == ["x"]


@pytest.mark.slow
def test_a_cache_that_claims_too_much_runs_nothing_unconfined(machine: Machine, other: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", machine.environ["XDG_CACHE_HOME"])
        level: Level = find_level()
    assert level.name == "full"
    assert Path(machine.environ["XDG_CACHE_HOME"], "remit", "confine-level").exists()
    done, worked = machine.run_writer(other)
    assert worked == []
    assert not (machine.root / "outside.md").exists()
    assert done.returncode != 0

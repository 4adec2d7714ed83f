"""Real harnesses, run as a shim would run them, against a scripted model and without a network."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest

from remit.runners.protocol import AttemptOrder, Launch, RunOutput
from remit.testing import ScriptedModel, find_cli

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.runners.protocol import Runner
    from remit.testing.clis import CliName

SESSION = "sess_1794800000_a1b2c3"
WAIT_S = 120
TELL_SESSION = "cut -d ' ' -f 6 /proc/self/stat > session"
"""A command that writes down which session of processes it belongs to."""


class Ran(NamedTuple):
    """What came of a run."""

    heard: RunOutput
    exit_code: int | None
    """None where it was killed."""
    errors: str
    pid: int = 0


class Place(NamedTuple):
    """A workspace, and the home in which a harness keeps its sessions."""

    runner: Runner
    root: Path
    home: Path
    program: str
    model: ScriptedModel

    @property
    def cli(self) -> CliName:
        """The harness's name."""
        return cast("CliName", self.runner.name)

    def order(self, prompt: str, *, number: int = 1, **fields: Any) -> AttemptOrder:  # noqa: ANN401 - of an order
        """An order in this place."""
        folder = self.root / ".remit" / "sessions" / SESSION / str(number)
        environ = self.model.environ(self.cli, self.home)
        settings = {"program": self.program} | fields.pop("settings", {})
        return AttemptOrder(SESSION, fields.pop("agent", ""), prompt, str(self.root), str(folder), environ=environ,
                     settings=settings, **fields)  # fmt: skip

    def start(self, prompt: str, **fields: Any) -> Ran:  # noqa: ANN401 - of an order
        """Begin a session and hear it to its end."""
        kill, number = fields.pop("kill", None), fields.pop("signal", signal.SIGKILL)
        order = self.order(prompt, **fields)
        return self._run(order, self.runner.start(order), kill, number)

    def resume(self, harness_id: str | None, message: str, **fields: Any) -> Ran:  # noqa: ANN401 - of an order
        """Give a session that has ended another message."""
        assert harness_id
        order = self.order("", number=2, **fields)
        return self._run(order, self.runner.resume(order, harness_id, message), None)

    def wait_until_kept(self, script: str, step: int, text: str) -> None:
        """Wait until a turn was asked for and the harness has a text among what it keeps of its sessions."""
        self.model.wait(script, step, timeout_s=WAIT_S)
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            if any(text.encode() in file.read_bytes() for file in self.home.rglob("*") if file.is_file()):
                return
            time.sleep(0.05)
        raise TimeoutError(f"{self.runner.name} has kept nothing of {text!r}")

    def _run(
        self, order: AttemptOrder, launch: Launch, kill: Callable[[], object] | None, number: int = signal.SIGKILL
    ) -> Ran:
        """Run it. `kill` waits for the moment at which it is to be sent a signal."""
        folder = Path(order.folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in launch.files.items():
            (folder / name).write_bytes(data)
        environ: Mapping[str, str] = {**order.environ, **launch.environ}
        process = subprocess.Popen(
            launch.argv, cwd=order.root, env=environ, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        if kill is not None:

            def end() -> None:
                kill()
                process.send_signal(number)

            threading.Thread(target=end).start()
        try:
            output, errors = process.communicate(launch.stdin, timeout=WAIT_S)
        finally:
            process.kill()
        listener = self.runner.listen(order)
        for at in range(0, len(output), 1000):
            listener.feed(output[at : at + 1000])
        code = process.returncode
        exit_code = None if code < 0 else code
        heard = listener.finish(errors=errors, exit_code=exit_code)
        return Ran(heard, exit_code, errors.decode(errors="replace"), process.pid)


def find_place(runner: Runner, folder: Path, model: ScriptedModel) -> Place:
    """A place for a harness; the test is skipped, loudly, where the harness is not installed."""
    program = find_cli(cast("CliName", runner.name))
    if program is None:
        pytest.skip(f"{runner.name} is not installed: run `make agents`")
    root, home = folder / "root", folder / "home"
    root.mkdir()
    home.mkdir()
    return Place(runner, root, home, program, model)

"""Runs Remit's commands: as a process of its own, or in this one where only the output matters."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from remit.cli import run
from tests.support.paths import SOURCE

TIMEOUT_SECONDS = 120
STEERING = ("CI", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "PYTHONIOENCODING", "REMIT_DEBUG", "REMIT_ROOT", "TERM")
"""What steers the output: no test inherits it from whoever runs the tests."""


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """Standard output, which is always UTF-8."""
        return self.out.decode("utf-8")

    @property
    def complaint(self) -> str:
        """The message and the hint on standard error, which is one line for each and nothing else, joined by `; `."""
        first, *rest = self.err.decode("utf-8").split("\n")
        assert first.startswith("error: "), self.err
        assert rest in ([""], [rest[0], ""]), self.err
        hints = rest[:-1]
        assert all(each.startswith("hint: ") for each in hints), self.err
        return "; ".join([first.removeprefix("error: "), *(each.removeprefix("hint: ") for each in hints)])

    @property
    def error(self) -> dict[str, Any]:
        """The error on standard error, which is one line of JSON and nothing else."""
        assert self.err.count(b"\n") == 1, self.err
        told: dict[str, dict[str, Any]] = json.loads(self.err)
        assert [*told] == ["error"]
        return told["error"]


class Remit:
    """Starts `python -m remit` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        clean = {key: value for key, value in os.environ.items() if key not in STEERING}
        self.env = {**clean, "PYTHONPATH": str(SOURCE)}

    def write(self, name: str, text: str | bytes) -> str:
        """Put a file into the folder; its name."""
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        (self.folder / name).write_bytes(data)
        return name

    def start(self, *args: str, **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - Popen's own
        """Start a command and leave it running."""
        env = self.env | options.pop("env", {})
        pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        options.setdefault("cwd", self.folder)
        command = [sys.executable, *options.pop("prelude", ("-m", "remit")), *args]
        process: subprocess.Popen[bytes] = subprocess.Popen(command, env=env, **(pipes | options))
        return process

    def __call__(self, *args: str, text: str | bytes | None = None, **options: Any) -> Ended:  # noqa: ANN401
        """Run a command to its end, with a text on standard input."""
        data = text.encode() if isinstance(text, str) else text
        if data is not None:
            options["stdin"] = subprocess.PIPE
        with self.start(*args, **options) as process:
            try:
                out, err = process.communicate(data, timeout=TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Ended(process.returncode, out or b"", err or b"")


class Inside(Remit):
    """Runs a command in this process: quicker, and the same but for how the process starts and ends."""

    def __init__(self, folder: Path, captured: pytest.CaptureFixture[bytes]) -> None:
        super().__init__(folder)
        self.captured = captured

    def __call__(self, *args: str, text: str | bytes | None = None, **options: Any) -> Ended:  # noqa: ANN401
        """Run a command."""
        assert text is None, "standard input is for processes"
        assert not options, "so is everything else"
        code = run([*args])
        out, err = self.captured.readouterr()
        return Ended(code, out, err)


def put(remit: Remit, name: str, text: str | bytes) -> str:
    (remit.folder / name).parent.mkdir(parents=True, exist_ok=True)
    return remit.write(name, text)


def load(ended: Ended) -> Any:  # noqa: ANN401 - any JSON value
    """The JSON that a command printed, and nothing else."""
    assert ended.err == b"", ended.err
    return json.loads(ended.out)
